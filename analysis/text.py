#!/usr/bin/env python3
"""tpe beside random search in the space of text representations (jobs/text.sh): errors of the
best of 30 trials on development and test documents, with 95 % intervals over the seeds, and the
difference of the two with its interval, seed by seed; then the share of right answers on test
documents, of the winner as searched and fitted again to nearly all training documents (tpe_all),
beside that of the settings that the authors of the space report, and their figure.

usage: analysis/text.py [RUN.h5 ...] [-o analysis/text.tsv]
Run files are named TASK-SAMPLER-SEED.h5. The table gets a line for each; lines of runs that are
not given stay. Needs h5py.
"""
import argparse
from collections import defaultdict

import stats
import tables

HEAD = ["task", "sampler", "seed", "trials", "valid_error", "test_error", "winner"]
# Accuracies that Yogatama, Kong and Smith (EMNLP 2015) report; of 20 Newsgroups very likely on
# shuffled documents.
REPORTED = {"religion-shuffled": "86.3", "graphics-shuffled": "92.1", "science-shuffled": "95.82",
            "sst-binary": "82.43", "imdb": "90.85"}
METHODS = ("tpe", "tpe_all", "space", "space_all", "published")


def line_of(path):
    import h5py  # only to read run files

    task, sampler, seed = tables.parts_of_name(path, r"(.+)-(\w+)-(\d+)", "TASK-SAMPLER-SEED")
    with h5py.File(path, "r") as f:
        w = f["winner"].attrs
        return [task, sampler, seed, str(len(f["events/job"])), "%.6g" % (100 * w["valid_error"]),
                "%.6g" % (100 * w["test_error"]), str(w["text"])]


def cell(x):
    return stats.text(x, 2)


def print_right(error):
    """Test accuracies of every method, over its own seeds."""
    print("\n| task | tpe, right on test (seeds) | fitted to all | random | fitted to all | "
          "published settings | reported |")
    print("|---|---|---|---|---|---|---|")
    for task in sorted({task for task, _ in error}):
        row = []
        for method in METHODS:
            right = [100 - test for _, test in error[task, method].values()]
            row.append(f"{cell(right)} ({len(right)})" if right else "")
        print("|", task, "|", " | ".join(row), "|", REPORTED.get(task, ""), "|")


def main():
    parse = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parse.add_argument("run", nargs="*")
    parse.add_argument("-o", "--output", default="analysis/text.tsv")
    given = parse.parse_args()
    error = defaultdict(dict)
    for task, sampler, seed, _, valid, test, _ in tables.merge(given.output, HEAD, tables.lines_of(given.run, line_of)):
        error[task, sampler][seed] = (float(valid), float(test))
    print("| task | seeds | dev error, tpe | random | random - tpe | test error, tpe | random | random - tpe |")
    print("|---|---|---|---|---|---|---|---|")
    for task in sorted({task for task, _ in error}):
        tpe, space = error[task, "tpe"], error[task, "space"]
        seeds = sorted(set(tpe) & set(space))
        if not seeds:
            continue
        row = []
        for part in range(2):
            x, y = [tpe[s][part] for s in seeds], [space[s][part] for s in seeds]
            row += [cell(x), cell(y), cell([b - a for a, b in zip(x, y)])]
        print("|", task, "|", len(seeds), "|", " | ".join(row), "|")
    print_right(error)


if __name__ == "__main__":
    main()
