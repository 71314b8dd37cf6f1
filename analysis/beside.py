#!/usr/bin/env python3
"""Methods beside one that costs nothing, paired by seed, as jobs/one.sh and jobs/rounds.sh make them.

usage: analysis/beside.py [--baseline NAME] [--target PERCENT] [--eval F.h5] [-o PICTURE] DIR ...

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

With --eval, errors are those of the test rows of F.h5 by `weft eval`: private runs' own have noise.

With -o, of one DIR whose runs have fed.eval_every: the validation error by turns, bytes and virtual
hours, means over seeds with 95 % intervals.
"""

import argparse
import glob
import math
import os
import re
import sys

import numpy as np
from matplotlib import pyplot as plt
from matplotlib.ticker import NullFormatter

import federated
import runs
import stats

NAME = re.compile(r"(.+)-(\d+)\.h5")
ORDER = ("defaults", "average", "momentum", "fedexp", "fedhyper", "deltasgd", "rates", "random", "sha", "hyperband", "asha", "pbt",
         "fedex-sha", "fedex-pbt", "fedpop", "fedex", "one-last", "one", "one-fedex", "oracle",
         "settings")


def worst_tenth(run):
    """Mean error in percent of the tenth of clients with the largest errors; NaN where none are told."""
    error = np.sort(run.clients.get(run.scored, np.empty(0)).astype(float))
    error = error[np.isfinite(error)]
    return 100 * np.mean(error[-max(1, len(error) // 10):]) if len(error) else math.nan


def spent(run):
    """{what: how much of it up to each round}"""
    rounds = run.rounds
    return {"turns": np.cumsum(sum(rounds[k].astype(float) for k in ("clients", "diverged", "dropped", "surplus"))),
            "MB": np.cumsum(rounds["bytes"]) / 1e6, "virtual hours": np.cumsum(rounds["seconds"]) / 3600}


def scored(run, data):
    """The error of the winner on the test part of a packed file, in percent."""
    line = next(line for line in runs.report(run.path, data, command="eval").splitlines() if line.startswith("test "))
    return float(line.split()[3])


def measure(run, target, data):
    """What the table tells of a run, by column."""
    rounds = run.rounds
    turns, sent, hours = spent(run).values()
    error = scored(run, data) if data else 100 * run.winner.get("test_personal_error", run.winner["test_error"])
    out = {"error": error,
           "worst tenth": worst_tenth(run), "epsilon": float(run.attr.get("privacy_epsilon", math.nan)),
           "rounds": int(run.attr["rounds"]), "turns": turns[-1], "hours": hours[-1] or math.nan,
           "MB": sent[-1], "seconds": float(run.attr["search_seconds"])}
    if target is not None:
        there = np.flatnonzero(100 * rounds["valid_error"] <= target)
        out["turns to it"], out["hours to it"] = (turns[there[0]], hours[there[0]]) if len(there) else (math.nan, math.nan)
    return out


def read(folder, baseline):
    """{method: {seed: run}}, in the order of the table"""
    found = {}
    for path in sorted(glob.glob(os.path.join(glob.escape(folder), "*.h5"))):
        name = NAME.fullmatch(os.path.basename(path))
        if name:
            found.setdefault(name[1], {})[int(name[2])] = runs.load([path])[0]
    if baseline not in found:
        sys.exit(f"{folder}: no runs {baseline}-SEED.h5; jobs/one.sh and jobs/rounds.sh make runs, --baseline names another")
    return {n: found[n] for n in [n for n in ORDER if n in found] + sorted(set(found) - set(ORDER))}


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


def picture(found, path):
    """Validation errors by what was spent up to them, where anything was."""
    known = {name: {seed: np.isfinite(run.rounds["valid_error"]) for seed, run in own.items()} for name, own in found.items()}
    if any(k.sum() < 2 for own in known.values() for k in own.values()):
        sys.exit(f"{path}: a curve needs evaluations during the training; give fed.eval_every")
    units = [u for u in ("turns", "MB", "virtual hours") if all(spent(r)[u][-1] > 0 for own in found.values() for r in own.values())]
    if not units:
        sys.exit(f"{path}: nothing is told of what was spent")
    fig, axes = plt.subplots(1, len(units), figsize=(4.2 * len(units) + 1.5, 4), sharey=True, squeeze=False)
    for ax, unit in zip(axes[0], units):
        for i, (name, own) in enumerate(found.items()):
            curves = [(spent(r)[unit][known[name][s]], 100 * r.rounds["valid_error"][known[name][s]]) for s, r in own.items()]
            x, mean, half = federated.on_grid(curves, False)
            colour = runs.CYCLE[i % len(runs.CYCLE)]
            ax.plot(x, mean, color=colour, label=name)
            ax.fill_between(x, mean - half, mean + half, color=colour, alpha=0.15, lw=0)
        ax.set_xlabel(unit)
        ax.set_xscale("log")
        ax.xaxis.set_minor_formatter(NullFormatter())
    axes[0][0].set_ylabel("validation error (%)")
    axes[0][-1].legend(loc="upper left", bbox_to_anchor=(1, 1))
    fig.savefig(path, dpi=100)


def main():
    args = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    args.add_argument("folder", nargs="+", metavar="DIR")
    args.add_argument("--baseline", metavar="NAME", default="defaults")
    args.add_argument("--target", metavar="PERCENT", type=float)
    args.add_argument("--eval", metavar="F.h5")
    args.add_argument("-o", metavar="PICTURE", help="OUT.png, .pdf or .svg")
    args = args.parse_args()
    if args.o and len(args.folder) > 1:
        sys.exit(f"-o {args.o}: a picture is of one directory")
    for folder in args.folder:
        all_runs = read(folder, args.baseline)
        if args.o:
            picture(all_runs, args.o)
        found = {name: {seed: measure(run, args.target, args.eval) for seed, run in own.items()} for name, own in all_runs.items()}
        rows = [row(found, name, args.baseline) for name in found]
        columns = [k for k in rows[0] if any(r[k] != "" for r in rows)]
        print(f"\n{folder}\n\n| " + " | ".join(columns) + " |\n" + "|---" * len(columns) + "|")
        for cells in rows:
            print("| " + " | ".join(str(cells[k]) for k in columns) + " |")


if __name__ == "__main__":
    main()
