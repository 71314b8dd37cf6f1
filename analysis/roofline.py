#!/usr/bin/env python3
"""Roofline of the kernels: rates by tests/b_math.c against operations per byte of memory.

usage: make build/opt/tests/b_math && build/opt/tests/b_math | analysis/roofline.py -o NAME

A kernel whose operands all came from memory could not be faster than the lower of two roofs: the
rate at which registers are multiplied and added (peak), and the memory's (stream) times its
operations per byte. Bytes are those of operands and result, each once; sums of bytes as integers
do more operations per cycle than the peak, which is of floats. Writes NAME.tsv and NAME.png.
Above the memory's roof is what the caches hold.
"""

import argparse
import csv
import sys

import numpy as np
from matplotlib import pyplot as plt

import runs

# Bytes of operands and result of a call, by the numbers of its size; operations come from its rate.
BYTES = {
    "sgemm": lambda n: 12 * n * n,
    "project bytes": lambda n, k, m: n * k + k * m + 4 * n * m,
    "project floats": lambda n, k, m: 4 * (n * k + k * m + n * m),
    "times": lambda n, d, c: n * d + 4 * c * (d + n),
    "trans": lambda n, d, c: n * d + 4 * c * (d + n),
    "normal": lambda n, d, c: n * d + 8 * c * d,
    "fwht": lambda n, d: 8 * n * d,
    "panels": lambda n, k, m: 4 * (n * k + k * m + n * m),
    "outer": lambda n, k, m: 4 * (n * k + n * m + k * m),
}
COLUMNS = ("kernel", "size", "gigaops", "ops_per_byte", "roof", "share")


def points(lines):
    """Kernels with their intensities and roofs; and the two roofs."""
    peak = next(float(r["rate"]) for r in lines if r["name"] == "peak")
    stream = next(float(r["rate"]) for r in lines if r["name"] == "stream")
    found = []
    for r in lines:
        if r["name"] not in BYTES:
            continue
        size = [int(v) for v in r["size"].split("^")[0].split("x")]
        rate = float(r["rate"])
        intensity = rate * 1e9 * float(r["seconds"]) / BYTES[r["name"]](*size)
        roof = min(peak, stream * intensity)
        found.append(dict(zip(COLUMNS, (r["name"], r["size"], rate, intensity, roof, rate / roof))))
    return found, peak, stream


def draw(found, peak, stream, path):
    fig, ax = plt.subplots(figsize=(6, 4))
    x = np.geomspace(min(p["ops_per_byte"] for p in found) / 2,
                     max(p["ops_per_byte"] for p in found) * 2)
    ax.plot(x, np.minimum(peak, stream * x), color=runs.BLACK,
            label=f"peak {peak:.0f} G/s, memory {stream:.0f} GB/s")
    names = dict.fromkeys(p["kernel"] for p in found)
    for i, name in enumerate(names):
        some = [p for p in found if p["kernel"] == name]
        ax.plot([p["ops_per_byte"] for p in some], [p["gigaops"] for p in some], linestyle="",
                marker="osv^DPX*<>"[i], label=name)
    ax.set(xscale="log", yscale="log", xlabel="operations per byte", ylabel="G operations/s")
    ax.legend(fontsize=8)
    fig.savefig(path)


def main():
    args = argparse.ArgumentParser(description=__doc__,
                                   formatter_class=argparse.RawDescriptionHelpFormatter)
    args.add_argument("-o", dest="name", required=True, metavar="NAME")
    args = args.parse_args()
    found, peak, stream = points(list(csv.DictReader(sys.stdin)))
    runs.write_table(COLUMNS, found, args.name + ".tsv")
    draw(found, peak, stream, args.name + ".png")


if __name__ == "__main__":
    main()
