#!/usr/bin/env python3
"""The network over sentences in cross-validation (jobs/cnn.sh): accuracy on what the folds hold
out, with its 95 % interval: over the seeds where all their folds are there, else over the folds.

usage: analysis/cnn.py [RUN.h5 ...] [-o analysis/cnn.tsv]
Run files are named KIND-SEED-FOLD.h5. The table gets a line for each; lines of runs that are not
given stay. Needs h5py.
"""
import argparse
from collections import defaultdict

import stats
import tables

HEAD = ["kind", "seed", "fold", "valid_error", "fold_error", "best_epoch", "epochs", "seconds"]
FOLDS = 10


def line_of(path):
    import h5py  # only to read run files

    name = tables.parts_of_name(path, r"(.+)-(\d+)-(\d+)", "KIND-SEED-FOLD")
    with h5py.File(path, "r") as f:
        last = {key: f["events"][key][-1] for key in HEAD[3:-1]}
        percent = ["%.6g" % (100 * last[key]) for key in HEAD[3:5]]
        return name + percent + ["%g" % last["best_epoch"], "%g" % last["epochs"],
                                 "%.4g" % f.attrs["search_seconds"]]


def main():
    parse = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parse.add_argument("run", nargs="*")
    parse.add_argument("-o", "--output", default="analysis/cnn.tsv")
    given = parse.parse_args()
    right = defaultdict(lambda: defaultdict(list))
    seconds = defaultdict(float)
    for kind, seed, _, _, error, _, _, spent in tables.merge(given.output, HEAD, tables.lines_of(given.run, line_of)):
        right[kind][seed].append(100 - float(error))
        seconds[kind] += float(spent)
    print("| vectors | seeds | folds | right, % | seconds |")
    print("|---|---|---|---|---|")
    for kind, seeds in right.items():
        whole = [sum(x) / FOLDS for x in seeds.values() if len(x) == FOLDS]
        folds = [x for seed in seeds.values() for x in seed]
        of = stats.by_samples(whole if len(whole) == len(seeds) > 1 else folds)
        print("| %s | %d | %d | %.2f +- %.2f | %.0f |" %
              (kind, len(seeds), len(folds), of.mean, of.half, seconds[kind]))


if __name__ == "__main__":
    main()
