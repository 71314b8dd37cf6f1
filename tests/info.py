#!/usr/bin/env python3
"""Compares `weft info` of packed files and exported winners with what h5py reads from them:
every number, computed here a second time. usage: info.py WEFT FILE.h5 ...; prints each
difference; status 1 if there is any."""
import difflib
import math
import subprocess
import sys

import h5py
import numpy as np

PARTS = "train", "valid", "test"
ATTRIBUTES = "form reader source options partition split generator digest".split()
TOKENS = "remove", "split", "treebank", "kim"


def clients(f):
    """Samples [client][part], and the training samples [client][class], of a file's clients."""
    n, classes = f.attrs.get("clients", f.attrs.get("owners")), len(f["class"])
    if "owner" in f["train"]:
        size = np.stack([np.bincount(f[p]["owner"], minlength=n) for p in PARTS], 1)
        label = [f["train/label"][:][f["train/owner"][:] == c] for c in range(n)]
    else:
        size, first = f["client/count"][:], f["client/first"][:]
        label = [f["label"][first[c]:first[c] + size[c, 0]] for c in range(n)]
    return size, np.stack([np.bincount(x, minlength=classes) for x in label])


def image(a):
    return f"image of {a['channels']} x {a['height']} x {a['width']}"


def size_line(name, size):
    ordered = np.sort(size)
    quantiles = [ordered[max(math.ceil(q * len(size)), 1) - 1] for q in (0, 0.1, 0.5, 0.9, 1)]
    return f"{name} {size.sum()} {size.mean():.2f} {size.std():.2f} {' '.join(map(str, quantiles))}"


def client_lines(f):
    size, count = clients(f)
    a, n = f.attrs, len(size)
    yield f"clients {n}"
    yield f"sample {image(a) if 'channels' in a else 'document'}, {len(f['class'])} classes"
    yield "client's samples sum mean std min 10 % 50 % 90 % max"
    for i, part in enumerate(PARTS):
        yield size_line(part, size[:, i])
    yield size_line("all", size.sum(1))
    share = count.sum(0) / count.sum()
    has = (count > 0).sum(1)
    distance = [abs(c / c.sum() - share).sum() / 2 if c.sum() else 0 for c in count]
    some = (has > 0).sum()
    yield (f"distance {sum(distance) / some:.3f} between the classes of a client and all, total variation, 0 to 1; "
           f"{has.sum() / some:.1f} classes a client: means of {some} clients")


def sentence_lines(f):
    """Of sentences in several languages: their numbers, pieces, and the pairs of directions."""
    names = [x.decode() for x in f["language"]]
    joint = f.attrs["joint"]
    yield "lines " + ", ".join(f"{len(f['line'][p])} {p}" for p in PARTS)
    yield (f"pieces {'of all languages together' if joint else 'by language'}; tokens are pieces, "
           "distinct are different references of the test")
    yield "language train valid test pieces tokens mean longest"
    for name in names:
        own = [f[p][name] for p in PARTS]
        length = np.concatenate([np.diff(x["offset"]) for x in own])
        pieces = len(f["vocab"]["joint" if joint else name]["text_offset"]) - 1
        yield (f"{name} {' '.join(str(len(x['row'])) for x in own)} {pieces} {length.sum()} "
               f"{length.mean():.1f} {length.max()}")
    yield "direction train valid test distinct"
    for source, target in f["direction"]:
        both = [set(f[p][names[source]]["row"]) & set(f[p][names[target]]["row"]) for p in PARTS]
        test = f["test"][names[target]]
        text, offset = test["text"][:].tobytes(), test["text_offset"][:]
        distinct = {text[offset[i]:offset[i + 1]] for i, row in enumerate(test["row"]) if row in both[2]}
        yield f"{names[source]}-{names[target]} {' '.join(str(len(x)) for x in both)} {len(distinct)}"


def table(f):
    """A line for each column of a table."""
    if "table" not in f:
        return
    yield "column kind distinct missing range becomes"
    kinds = "number category label group client dropped".split()
    level = [x.decode() for x in f["table/level"]]
    for name, (fill, low, high), (kind, distinct, missing, marks, levels) in zip(
            f["table/name"], f["table/real"], f["table/whole"]):
        line = f"{name.decode()} {kinds[kind]} {distinct}{'+' if distinct == 1000 else ''} {missing}"
        if kind == 0:
            line += f" {low:.6g} .. {high:.6g} itself" + (f", {fill:.6g} where missing" if missing else "")
            line += ", and a mark" if marks else ""
        if kind == 1:
            line += f" {', '.join(level[:levels])} {levels} levels{' and a mark where missing' if marks else ''}"
        level = level[levels:]
        yield line


def row_lines(f):
    a = f.attrs
    if "clients" in a or "owners" in a:
        yield from client_lines(f)
    else:
        yield f"sample {image(a) if 'channels' in a else str(a['columns']) + ' numbers'}"
    yield from table(f)
    count = np.stack([f[p]["count"] for p in PARTS], 1)
    yield "class train valid test"
    for name, row in zip(f["class"], count):
        yield f"{name.decode()} {' '.join(map(str, row))}"
    yield f"all {' '.join(map(str, count.sum(0)))}"
    if "vocab" in f:
        yield "tokens train valid test distinct"
        for t in TOKENS:
            yield f"{t} {' '.join(str(len(f[p][t]['token'])) for p in PARTS)} {len(f['vocab'][t]['hash'])}"


def data_lines(f):
    a = f.attrs
    for name in ATTRIBUTES:
        if name in a:
            yield f"{name} {a[name]}"
    yield from sentence_lines(f) if "language" in f else row_lines(f)
    for i, line in enumerate(f["source"][:8]):
        yield f"{'' if i else 'files '}{line.decode()}"
    if len(f["source"]) > 8:
        yield f"... {len(f['source']) - 8} more"


def winner_lines(f):
    for name in "run", "version", "tuner", "digest":
        yield f"{name} {f.attrs[name]}"
    yield f"winner {f['winner'].attrs['text']}"
    for i, name in enumerate(x.decode() for x in f["winner/tensors"]):
        shape = f["winner/state"][name].shape
        yield f"{'' if i else 'tensors '}{name} ({' x '.join(map(str, shape))})"
    yield f"config {f['winner'].attrs['config']}"


def main():
    weft, paths = sys.argv[1], sys.argv[2:]
    bad = 0
    for path in paths:
        f = h5py.File(path)
        lines = winner_lines(f) if f.attrs["format"].startswith("weft winner") else data_lines(f)
        want = [f"file {path}", f"format {f.attrs['format']}", *lines]
        have = subprocess.run([weft, "info", path], check=True, capture_output=True, text=True).stdout
        want, have = ([" ".join(x.split()) for x in t.splitlines() if x.strip()] for t in ("\n".join(want), have))
        for line in difflib.unified_diff(want, have, "expected", "info", n=0, lineterm=""):
            print(f"{path}: {line}")
            bad = 1
    return bad


if __name__ == "__main__":
    sys.exit(main())
