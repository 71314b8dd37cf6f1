#!/usr/bin/env python3
"""Ways of federated tuning side by side: accuracy by rounds, and a table of final scores.

usage: analysis/federated.py RUN.h5 ... -o PREFIX [--level NAME=PERCENT]

The runs are of one task, by several tuners, with one seed or more each. Writes PREFIX.png,
PREFIX.pdf, and PREFIX.csv with a line a method: seeds, rounds of all arms and of the winner,
then mean and standard deviation over seeds of the winner's accuracy (%) on validation and test,
by the server's weights (global) and after local training (personal).

Left: the winner's arm by its own rounds, means over the last 20 cohorts; lines after local
training, dashes by the server's weights. Right: the arm with the best score so far by the rounds of
all arms. Lines are means over seeds, bands one standard deviation. --level draws a
dotted line, such as the accuracy of a bigram predictor.
"""

import argparse
import csv
import sys

import numpy as np
from matplotlib import pyplot as plt

import runs
import tables

WINDOW = 20  # cohorts that a point of the left panel is the mean of
SCORES = {"valid_global": "valid_error", "valid_personal": "valid_personal_error",
          "test_global": "test_error", "test_personal": "test_personal_error"}


def running_mean(x):
    """Means of the last WINDOW numbers, fewer at the start; NaN counts as missing."""
    known = ~np.isnan(x)
    total = np.cumsum(np.where(known, x, 0))
    count = np.cumsum(known).astype(float)
    total[WINDOW:] -= total[:-WINDOW].copy()
    count[WINDOW:] -= count[:-WINDOW].copy()
    return np.where(count > 0, total / np.maximum(count, 1), np.nan)


def winners_arm(run, column):
    """(round, accuracy) of the winner's trial, in percent."""
    mine = run.rounds["trial"] == run.winner["trial"]
    return run.rounds["unit"][mine], 100 * (1 - running_mean(run.rounds[column][mine]))


def best_so_far(run):
    """(rounds of all arms, accuracy of the best arm told so far), a step a job."""
    last, best = {}, []
    for trial, loss, error in zip(*(run.event[k] for k in ("trial", "loss", "valid_error"))):
        last[trial] = loss, error
        best.append(100 * (1 - min(last.values())[1]))
    return np.cumsum(run.event["rounds"]), np.array(best)


def on_grid(curves, steps):
    """Curves (x, y) on one grid of whole x: mean, standard deviation, where all are known."""
    top = min(c[0].max() for c in curves)
    x = np.arange(max(c[0].min() for c in curves), top + 1)
    if steps:
        y = np.array([c[1][np.searchsorted(c[0], x, side="right") - 1] for c in curves])
    else:
        y = np.array([np.interp(x, *c) for c in curves])
    sd = np.std(y, axis=0, ddof=1) if len(curves) > 1 else np.zeros(len(x))
    return x, np.mean(y, axis=0), sd


def draw(ax, curves, method, style="-", steps=False):
    curves = [(x[~np.isnan(y)], y[~np.isnan(y)]) for x, y in curves]
    curves = [c for c in curves if len(c[0])]
    if not curves:
        return
    label, colour, _ = runs.method_of(method)
    x, mean, sd = on_grid(curves, steps)
    ax.plot(x, mean, style, color=colour, lw=1.8 if style == "-" else 1,
            marker="o" if len(x) == 1 else None,
            label=label if style == "-" else None, drawstyle="steps-post" if steps else "default")
    if style == "-":
        ax.fill_between(x, mean - sd, mean + sd, color=colour, alpha=0.15, lw=0,
                        step="post" if steps else None)


def picture(groups, level, prefix):
    fig, (left, right) = plt.subplots(1, 2, figsize=(9.6, 4.4), sharey=True,
                                      constrained_layout=False)
    for method, group in groups.items():
        draw(left, [winners_arm(r, "after_error") for r in group], method)
        draw(left, [winners_arm(r, "before_error") for r in group], method, "--")
        draw(right, [best_so_far(r) for r in group], method, steps=True)
    left.set_ylabel("validation accuracy (%)")
    left.set_xlabel("rounds of the winner's arm")
    right.set_xlabel("rounds of all arms")
    for ax in (left, right):
        ax.set_ylim(bottom=max(0, ax.get_ylim()[0]))
        if level:
            ax.axhline(level[1], color=runs.GREY, ls=":", lw=1.5)
    if level:
        left.annotate(level[0], (1, level[1]), xycoords=("axes fraction", "data"), ha="right",
                      va="bottom", fontsize=8)
    lines, names = right.get_legend_handles_labels()
    lines.append(plt.Line2D([], [], color=runs.GREY, ls="--", lw=1))
    names.append("server's weights, before local training")
    fig.legend(lines, names, loc="upper center", ncol=3, fontsize=9)
    fig.subplots_adjust(left=0.07, right=0.99, bottom=0.12, top=0.86, wspace=0.06)
    for kind in ("png", "pdf"):
        fig.savefig(f"{prefix}.{kind}", metadata={"CreationDate": None} if kind == "pdf" else None)


def row_of(method, group):
    row = {"method": runs.method_of(method)[0], "seeds": len(group),
           "rounds": np.mean([np.sum(r.event["rounds"]) for r in group]),
           "winner_rounds": np.mean([np.sum(r.rounds["trial"] == r.winner["trial"])
                                     for r in group]),
           "seconds": np.mean([r.attr["search_seconds"] for r in group])}
    for name, key in SCORES.items():
        v = 100 * (1 - np.array([float(r.winner.get(key, "nan")) for r in group]))
        row[name] = np.mean(v)
        row[name + "_sd"] = np.std(v, ddof=1) if len(v) > 1 else 0.0
    return row


def table(groups, prefix):
    rows = [row_of(method, group) for method, group in groups.items()]
    with tables.replace(prefix + ".csv", newline="") as f:
        out = csv.DictWriter(f, rows[0].keys(), lineterminator="\n")
        out.writeheader()
        for row in rows:
            out.writerow({k: f"{v:.2f}" if isinstance(v, float) else v for k, v in row.items()})


def unlike(a, b):
    """Options, seed and files aside, in which two runs of one method differ."""
    keys = {(s, k) for r in (a, b) for s in r.ini.sections() for k in r.ini[s]}
    return sorted(f"{s}.{k}" for s, k in keys if (s, k) not in runs.NAMES
                  and a.ini.get(s, k, fallback=None) != b.ini.get(s, k, fallback=None))


def check_group(group):
    """Ends the script where a mean over these runs would mean nothing."""
    for i, b in enumerate(group):
        for a in group[:i]:
            both = f"{a.path} and {b.path} are both by {runs.method_of(a.method())[0]}"
            if a.seed == b.seed:
                sys.exit(f"{both} with seed {a.seed}; give one of them")
            if unlike(a, b):
                sys.exit(f"{both} but differ in {', '.join(unlike(a, b)[:4])}; "
                         "draw them apart")


def main():
    args = argparse.ArgumentParser(description=__doc__,
                                   formatter_class=argparse.RawDescriptionHelpFormatter)
    args.add_argument("run", nargs="+", metavar="RUN.h5")
    args.add_argument("-o", metavar="PREFIX", required=True)
    args.add_argument("--level", metavar="NAME=PERCENT", help="an accuracy to compare with")
    args = args.parse_args()
    name, _, percent = (args.level or "").rpartition("=")
    try:
        level = (name, float(percent)) if args.level else None
    except ValueError:
        sys.exit(f"--level {args.level}: expected a name, = and a number, as bigram=27.5")
    all_runs = runs.of_task(runs.load(args.run), "fed")
    methods = {r.method() for r in all_runs}
    order = [m for m in runs.METHODS if m in methods] + sorted(methods - set(runs.METHODS))
    groups = {m: [r for r in all_runs if r.method() == m] for m in order}
    for group in groups.values():
        check_group(group)
    picture(groups, level, args.o)
    table(groups, args.o)
    print(f"{len(all_runs)} runs, {len(groups)} methods: {args.o}.png .pdf .csv")


if __name__ == "__main__":
    main()
