#!/usr/bin/env python3
"""Searches that were trained in earnest, by seed: jobs/trained.sh's runs.

usage: analysis/trained.py DIR/TUNER-SEED.h5 ... [-o FILE.tsv]

For each tuner the lowest validation error of any job by half and by all of its epochs, and the
test error of the winner, in percent: means over seeds with 95 % intervals of Student's t; beside
them the differences from the first of random, asha, kde, pbt that is there, seed by seed. The
file has a row for each run.
"""

import argparse
import sys

import h5py
import numpy as np

import stats
import tables

NAMES = {"random": "random search", "asha": "ASHA", "kde": "ASHA with `kde`, BOHB's sampler",
         "pbt": "PBT"}
COLUMNS = ("epochs", "half", "all", "test")


def read(path):
    """Epochs trained, and the three errors in percent."""
    with h5py.File(path, "r") as f:
        e = {k: f["events"][k][:] for k in ("job", "cost", "valid_error")}
        end = dict(zip(f["timeline/job"][:], f["timeline/end"][:]))
        test = f["winner"].attrs["test_error"]
    order = sorted(range(len(e["job"])), key=lambda i: end[e["job"][i]])
    spent = np.cumsum(e["cost"][order])
    error = np.fmin(np.nan_to_num(e["valid_error"][order], nan=1), 1)
    half = min(error[spent <= spent[-1] / 2], default=1)
    return spent[-1], 100 * half, 100 * min(error), 100 * test


def spread(x):
    """Mean and half its 95 % interval, as text."""
    interval = stats.by_samples(x)
    return f"{interval.mean:.1f} +- {interval.half:.1f}"


def main():
    args = argparse.ArgumentParser(description=__doc__,
                                   formatter_class=argparse.RawDescriptionHelpFormatter)
    args.add_argument("runs", metavar="RUN.h5", nargs="+")
    args.add_argument("-o", metavar="FILE.tsv", default="analysis/trained.tsv")
    args = args.parse_args()
    found = {}
    for path in args.runs:
        tuner, seed = tables.parts_of_name(path, r"(\w+)-(\d+)", "TUNER-SEED")
        if tuner not in NAMES:
            sys.exit(f"{path}: not named TUNER-SEED.h5, TUNER one of {', '.join(NAMES)}")
        with tables.reading(path):
            found.setdefault(tuner, {})[int(seed)] = read(path)
    tuners = [t for t in NAMES if t in found]
    with tables.replace(args.o) as f:
        print("tuner", "seed", *COLUMNS, sep="\t", file=f)
        for tuner in tuners:
            for seed, row in sorted(found[tuner].items()):
                print(tuner, seed, *(f"{x:.4g}" for x in row), sep="\t", file=f)
    first = found[tuners[0]]
    print("| | seeds | error %, half of the epochs | all | test | all, less "
          f"{NAMES[tuners[0]]} | test, less it |\n|---|---|---|---|---|---|---|")
    for tuner in tuners:
        rows = found[tuner]
        both = sorted(set(rows) & set(first))
        cells = [NAMES[tuner], len(rows), *(spread([r[i] for r in rows.values()]) for i in (1, 2, 3))]
        cells += [spread([rows[s][i] - first[s][i] for s in both]) if tuner != tuners[0] and both
                  else "" for i in (2, 3)]
        print("|", " | ".join(map(str, cells)), "|")


if __name__ == "__main__":
    main()
