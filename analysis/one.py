#!/usr/bin/env python3
"""Ways to spend the same rounds beside the defaults, as jobs/one.sh makes them.

usage: analysis/one.py DIR ...

Prints a table for each DIR, of its runs METHOD-SEED.h5: the test error of the server's weights in
percent, mean over seeds; how much it is less than that of `defaults`, paired by seed; both with half
a 95 % interval; the worst seed; in how many seeds it is behind the defaults; the share of the
defaults' gap to `oracle` that is closed in the mean; rounds; millions of bytes sent; seconds. Of runs
with fed.score_weights = personal the errors are those after local training.
"""

import glob
import os
import re
import sys

import numpy as np

import runs
import stats

NAME = re.compile(r"(.+)-(\d+)\.h5")
ORDER = ("defaults", "average", "momentum", "fedexp", "deltasgd", "rates", "random", "sha", "hyperband", "asha", "pbt",
         "fedex-sha", "fedex-pbt", "fedex", "one-last", "one", "one-fedex", "oracle",
         "settings")


def read(folder):
    """{method: {seed: (error, rounds, megabytes, seconds)}}"""
    found = {}
    for path in sorted(glob.glob(os.path.join(glob.escape(folder), "*.h5"))):
        name = NAME.fullmatch(os.path.basename(path))
        if name:
            run = runs.load([path])[0]
            error = 100 * run.winner.get("test_personal_error", run.winner["test_error"])
            found.setdefault(name[1], {})[int(name[2])] = (
                error, int(run.attr["rounds"]), sum(run.rounds["bytes"]) / 1e6, float(run.attr["search_seconds"]))
    if "defaults" not in found:
        sys.exit(f"{folder}: no runs defaults-SEED.h5; jobs/one.sh makes them")
    return found


def row(name, found, gap):
    own, plain = found[name], found["defaults"]
    error, rounds, sent, seconds = np.array(list(own.values())).T
    less = [own[seed][0] - plain[seed][0] for seed in own if seed in plain]
    beside = name != "defaults"
    cells = [name, len(own), stats.text(error, 2), stats.text(less, 2, "+") if beside else "", f"{max(error):.2f}",
             sum(x > 0 for x in less) if beside else "",
             f"{-100 * np.mean(less) / gap:.0f} %" if gap > 0 and beside else "",
             f"{np.mean(rounds):.0f}", f"{np.mean(sent):.0f}", f"{np.mean(seconds):.2f}"]
    return "| " + " | ".join(str(cell) for cell in cells) + " |"


def gap_of(found):
    both = set(found["defaults"]) & set(found.get("oracle", {}))
    return np.mean([found["defaults"][s][0] - found["oracle"][s][0] for s in both]) if both else 0.0


def main():
    if len(sys.argv) < 2 or sys.argv[1] in ("-h", "--help"):
        sys.exit(__doc__)
    for folder in sys.argv[1:]:
        found = read(folder)
        gap = gap_of(found)
        print(f"\n{folder}\n\n| method | seeds | error % | less the defaults | worst | behind | of the gap | rounds "
              "| MB | seconds |\n|---|---|---|---|---|---|---|---|---|---|")
        names = [n for n in ORDER if n in found] + sorted(set(found) - set(ORDER))
        for name in names:
            print(row(name, found, gap))


if __name__ == "__main__":
    main()
