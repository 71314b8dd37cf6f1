#!/usr/bin/env python3
"""Methods beside one that costs nothing, paired by seed, as jobs/one.sh and jobs/rounds.sh make them.

usage: analysis/beside.py [--baseline NAME] [--target PERCENT] DIR ...

Prints a table for each DIR, of its runs METHOD-SEED.h5: the test error of the server's weights in
percent, mean over seeds; how much it is less than that of the baseline (`defaults`), paired by seed;
both with half a 95 % interval; the worst seed; in how many seeds it is behind the baseline; the share
of the baseline's gap to `oracle` that is closed in the mean; rounds; turns, of clients that were
started; virtual hours, where devices take time; millions of bytes; seconds. Of runs with
fed.score_weights = personal errors are those after local training. Where there are scores of single
clients, the mean error of the worst tenth of them; of private runs, what they cost in epsilon.

With --target, for runs with fed.eval_every: in how many seeds the validation error came down to
PERCENT, and the turns and virtual hours to the first evaluation where it had; of these the ratio to
the baseline's, paired by seed, as a geometric mean with its interval. A seed in which it did not is
left out of the means, which flatters the method; the column `reached` tells.
"""

import argparse
import glob
import math
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


def worst_tenth(run):
    """Mean error in percent of the tenth of clients with the largest errors; NaN where none are told."""
    error = np.sort(run.clients.get(run.scored, np.empty(0)).astype(float))
    error = error[np.isfinite(error)]
    return 100 * np.mean(error[-max(1, len(error) // 10):]) if len(error) else math.nan


def measure(run, target):
    """What the table tells of a run, by column."""
    rounds = run.rounds
    turns = np.cumsum(sum(rounds[k].astype(float) for k in ("clients", "diverged", "dropped", "surplus")))
    hours = np.cumsum(rounds["seconds"]) / 3600
    out = {"error": 100 * run.winner.get("test_personal_error", run.winner["test_error"]),
           "worst tenth": worst_tenth(run), "epsilon": float(run.attr.get("privacy_epsilon", math.nan)),
           "rounds": int(run.attr["rounds"]), "turns": turns[-1], "hours": hours[-1] or math.nan,
           "MB": sum(rounds["bytes"]) / 1e6, "seconds": float(run.attr["search_seconds"])}
    if target is not None:
        there = np.flatnonzero(100 * rounds["valid_error"] <= target)
        out["turns to it"], out["hours to it"] = (turns[there[0]], hours[there[0]]) if len(there) else (math.nan, math.nan)
    return out


def read(folder, baseline, target):
    """{method: {seed: what was measured}}"""
    found = {}
    for path in sorted(glob.glob(os.path.join(glob.escape(folder), "*.h5"))):
        name = NAME.fullmatch(os.path.basename(path))
        if name:
            found.setdefault(name[1], {})[int(name[2])] = measure(runs.load([path])[0], target)
    if baseline not in found:
        sys.exit(f"{folder}: no runs {baseline}-SEED.h5; jobs/one.sh and jobs/rounds.sh make runs, --baseline names another")
    return found


def paired(own, plain, column):
    """Pairs of a column, of seeds that both have."""
    both = ((own[s][column], plain[s][column]) for s in own if s in plain)
    return [(a, b) for a, b in both if math.isfinite(a) and math.isfinite(b)]


def ratio(pairs):
    """Geometric mean of a / b with its 95 % interval."""
    i = stats.by_samples([math.log(a / b) for a, b in pairs])
    inside = f" ({math.exp(i.mean - i.half):.2f} to {math.exp(i.mean + i.half):.2f})" if math.isfinite(i.half) else ""
    return f"{math.exp(i.mean):.2f}{inside}" if pairs else ""


def row(found, name, baseline):
    """The cells of a method, by column; those that say nothing are empty."""
    own, plain = found[name], found[baseline]
    column = {k: [m[k] for m in own.values()] for k in next(iter(own.values()))}
    less = [a - b for a, b in paired(own, plain, "error")] if name != baseline else []
    cells = {"method": name, "seeds": len(own), "error %": stats.text(column["error"], 2),
             f"less {baseline}": stats.text(less, 2, "+") if less else "", "worst": f"{max(column['error']):.2f}",
             "behind": sum(x > 0 for x in less) if less else ""}
    gap = [b - a for a, b in paired(found.get("oracle", {}), plain, "error")]
    cells["of the gap"] = f"{-100 * np.mean(less) / np.mean(gap):.0f} %" if gap and np.mean(gap) > 0 and less else ""
    known = {k: [x for x in v if math.isfinite(x)] for k, v in column.items()}
    for k in ("worst tenth", "epsilon"):
        cells[k] = stats.text(known[k], 2) if known[k] else ""
    for k, form in (("rounds", ".0f"), ("turns", ".0f"), ("hours", ".3g"), ("MB", ".0f"), ("seconds", ".2f")):
        cells[k] = f"{np.mean(known[k]):{form}}" if known[k] else ""
    if "turns to it" in column:
        cells["reached"] = len(known["turns to it"])
    for k in ("turns to it", "hours to it"):
        if k in column:
            cells[k] = f"{np.mean(known[k]):.4g}" if known[k] else ""
            cells[f"{k}, ratio"] = ratio(paired(own, plain, k)) if name != baseline else ""
    return cells


def main():
    args = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    args.add_argument("folder", nargs="+", metavar="DIR")
    args.add_argument("--baseline", metavar="NAME", default="defaults")
    args.add_argument("--target", metavar="PERCENT", type=float)
    args = args.parse_args()
    for folder in args.folder:
        found = read(folder, args.baseline, args.target)
        names = [n for n in ORDER if n in found] + sorted(set(found) - set(ORDER))
        rows = [row(found, name, args.baseline) for name in names]
        columns = [k for k in rows[0] if any(r[k] != "" for r in rows)]
        print(f"\n{folder}\n\n| " + " | ".join(columns) + " |\n" + "|---" * len(columns) + "|")
        for cells in rows:
            print("| " + " | ".join(str(cells[k]) for k in columns) + " |")


if __name__ == "__main__":
    main()
