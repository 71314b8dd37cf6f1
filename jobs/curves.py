#!/usr/bin/env python3
"""Packs a reduced CIFAR-10 for inputs/cifar10-convnet.ini: images of 16 x 16 and few of them.

usage: jobs/curves.py CIFAR-DIR OUT.h5 [--train 500] [--valid 500] [--test 2000] [--weft build/opt/weft]

CIFAR-DIR is the unpacked binary archive, cifar-10-batches-bin. The first images of its training
and test batches are taken; each pixel becomes the mean of 2 x 2, less the mean over these
images, as cuda-convnet has it, in units of 64.
"""

import argparse
import os
import subprocess
import sys
import tempfile

import numpy as np

SIDE, CLASSES = 32, 10


def read(path):
    rows = np.fromfile(path, dtype=np.uint8).reshape(-1, 1 + 3 * SIDE * SIDE)
    return rows[:, 1:].reshape(-1, 3, SIDE, SIDE), rows[:, 0]


def first(directory, names, n):
    """The first n images of these files, reduced, and their labels."""
    parts = [read(os.path.join(directory, name + ".bin")) for name in names]
    images = np.concatenate([x for x, _ in parts])[:n]
    if len(images) < n:
        sys.exit(f"{directory} has {len(images)} images of {', '.join(names)}, not {n}")
    labels = np.concatenate([y for _, y in parts])[:n]
    four = images.reshape(n, 3, SIDE // 2, 2, SIDE // 2, 2)
    return four.mean(axis=(3, 5)), labels


def write(path, x):
    """IDX: two zero bytes, the type (bytes or floats), the number of sides, the sides."""
    kind = 8 if x.dtype == np.uint8 else 13
    with open(path, "wb") as f:
        f.write(bytes([0, 0, kind, x.ndim]) + np.array(x.shape, ">i4").tobytes() + x.tobytes())


def main():
    args = argparse.ArgumentParser(description=__doc__,
                                   formatter_class=argparse.RawDescriptionHelpFormatter)
    args.add_argument("dir", metavar="CIFAR-DIR")
    args.add_argument("out", metavar="OUT.h5")
    args.add_argument("--train", type=int, default=500)
    args.add_argument("--valid", type=int, default=500)
    args.add_argument("--test", type=int, default=2000)
    args.add_argument("--weft", default="build/opt/weft")
    args = args.parse_args()
    batches = [f"data_batch_{i}" for i in range(1, 6)]
    n = args.train + args.valid
    parts = {"train": first(args.dir, batches, n), "test": first(args.dir, ["test_batch"], args.test)}
    middle = parts["train"][0].mean(axis=0)
    with tempfile.TemporaryDirectory() as place:
        for name, (images, labels) in parts.items():
            write(f"{place}/{name}-images-idx4-ubyte", ((images - middle) / 64).astype(">f4"))
            write(f"{place}/{name}-labels-idx1-ubyte", labels)
        done = subprocess.run([args.weft, "pack", "idx", place, f"valid={args.valid / n!r}",
                               "-o", args.out])
    sys.exit(done.returncode)


if __name__ == "__main__":
    main()
