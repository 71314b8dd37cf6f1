#!/usr/bin/env python3
"""Ways of federated learning and tuning side by side: accuracy by rounds, bytes and virtual time,
and a table of final scores.

usage: analysis/federated.py RUN.h5 ... -o PREFIX [--level NAME=PERCENT]

The runs are of task fed, by several methods, with one seed or more each. Methods are told apart by
every option that differs, seed and names of files aside. Writes PREFIX.png, PREFIX.pdf, and
PREFIX.csv with a line a method: seeds, rounds of all arms and of the winner, what these took, then
means of the winner's accuracy (%) on validation and test, by the server's weights (global) and after
local training (personal), each with half its 95 % interval over seeds.

A panel for the rounds of the winner's arm, its bytes, and its virtual hours where devices have
speeds. Lines are the server's weights on the clients drawn for evaluation (fed.eval_every) where all
runs have these; else means over the last 20 cohorts, lines after local training, dashes by the
server's weights. A last panel, of searches: the arm with the best score so far by the rounds of all
arms. Lines are means over seeds, bands their 95 % intervals. --level draws a dotted line, such as
the accuracy of a bigram predictor.
"""

import argparse
import csv
import sys

import numpy as np
from matplotlib import pyplot as plt

import runs
import stats
import tables

WINDOW = 20  # cohorts that a point is the mean of
POINTS = 400  # of a mean line
SCORES = {"valid_global": "valid_error", "valid_personal": "valid_personal_error",
          "test_global": "test_error", "test_personal": "test_personal_error"}
SPENT = {"GB": ("bytes", 1e9), "virtual hours": ("seconds", 3600), "kJ": ("energy", 1000)}


def running_mean(x):
    """Means of the last WINDOW numbers, fewer at the start; NaN counts as missing."""
    known = ~np.isnan(x)
    total = np.cumsum(np.where(known, x, 0))
    count = np.cumsum(known).astype(float)
    total[WINDOW:] -= total[:-WINDOW].copy()
    count[WINDOW:] -= count[:-WINDOW].copy()
    return np.where(count > 0, total / np.maximum(count, 1), np.nan)


def columns_of(all_runs):
    """(column of the lines, column of the dashes or None): evaluations where all runs have them."""
    known = {k for k in ("valid_error", "after_error", "before_error")
             if all(np.isfinite(winners_rows(r)[k]).any() for r in all_runs)}
    if "valid_error" in known:
        return "valid_error", None
    return ("after_error", "before_error") if "after_error" in known else ("before_error", None)


def winners_rows(run):
    """The columns of the rounds of the winner's trial."""
    mine = run.rounds["trial"] == run.winner["trial"]
    return {k: v[mine] for k, v in run.rounds.items()}


def spent_by(rows, unit):
    """What the rounds up to each have taken."""
    column, scale = SPENT[unit]
    return np.cumsum(rows[column]) / scale


def winners_arm(run, column, unit=None):
    """(rounds, or what they took; accuracy) of the winner's trial, in percent."""
    rows = winners_rows(run)
    error = rows[column] if column == "valid_error" else running_mean(rows[column])
    return spent_by(rows, unit) if unit else rows["unit"], 100 * (1 - error)


def best_so_far(run):
    """(rounds of all arms, accuracy of the best arm told so far), a step a job."""
    last, best = {}, []
    for trial, loss, error in zip(*(run.event[k] for k in ("trial", "loss", "valid_error"))):
        last[trial] = loss, error
        best.append(100 * (1 - min(last.values())[1]))
    return np.cumsum(run.event["rounds"]), np.array(best)


def half_of(y):
    """Half the 95 % interval of the means over the first axis; 0 of one."""
    n = len(y)
    return stats.t_quantile(n - 1) * np.std(y, axis=0, ddof=1) / np.sqrt(n) if n > 1 else 0 * y[0]


def on_grid(curves, steps):
    """Curves (x, y) on one grid: mean and half its interval, where all are known."""
    low, top = max(c[0].min() for c in curves), min(c[0].max() for c in curves)
    whole = steps or all(np.array_equal(c[0], curves[0][0]) for c in curves)
    x = (np.unique(np.concatenate([c[0] for c in curves])) if whole else np.linspace(low, top, POINTS))
    x = x[(x >= low) & (x <= top)]
    if steps:
        y = np.array([c[1][np.searchsorted(c[0], x, side="right") - 1] for c in curves])
    else:
        y = np.array([np.interp(x, *c) for c in curves])
    return x, np.mean(y, axis=0), half_of(y)


def draw(ax, curves, method, style="-", steps=False):
    curves = [(x[~np.isnan(y)], y[~np.isnan(y)]) for x, y in curves]
    curves = [c for c in curves if len(c[0])]
    if not curves:
        return
    x, mean, half = on_grid(curves, steps)
    ax.plot(x, mean, style, color=method.colour, lw=1.8 if style == "-" else 1,
            marker="o" if len(x) == 1 else None, label=method.label if style == "-" else None,
            drawstyle="steps-post" if steps else "default")
    if style == "-":
        ax.fill_between(x, mean - half, mean + half, color=method.colour, alpha=0.15, lw=0,
                        step="post" if steps else None)


def panels_of(all_runs):
    """(what a panel's x is, its label): rounds, what was spent in all runs, and rounds of searches."""
    units = [u for u in ("GB", "virtual hours") if all(r.rounds[SPENT[u][0]].sum() > 0 for r in all_runs)]
    panels = [(None, "rounds")] + [(u, u) for u in units]
    if any(len(r.event["job"]) > 1 for r in all_runs):
        panels = [(u, f"{label} of the winner's arm") for u, label in panels]
        panels.append(("all", "rounds of all arms"))
    return panels


def picture(methods, all_runs, level, prefix):
    panels, (line, dash) = panels_of(all_runs), columns_of(all_runs)
    fig, axes = plt.subplots(1, len(panels), figsize=(max(4.8, 3.9 * len(panels)), 4.4), sharey=True,
                             squeeze=False)
    axes = axes[0]
    for ax, (unit, label) in zip(axes, panels):
        for method in methods:
            if unit == "all":
                draw(ax, [best_so_far(r) for r in method.runs if len(r.event["job"])], method, steps=True)
                continue
            draw(ax, [winners_arm(r, line, unit) for r in method.runs], method)
            if dash:
                draw(ax, [winners_arm(r, dash, unit) for r in method.runs], method, "--")
        ax.set_xlabel(label)
        ax.set_ylim(bottom=max(0, ax.get_ylim()[0]))
        if level:
            ax.axhline(level[1], color=runs.GREY, ls=":", lw=1.5)
    axes[0].set_ylabel("validation accuracy (%)")
    if level:
        axes[0].annotate(level[0], (1, level[1]), xycoords=("axes fraction", "data"), ha="right",
                         va="bottom", fontsize=8)
    lines, names = axes[0].get_legend_handles_labels()
    if dash:
        lines.append(plt.Line2D([], [], color=runs.GREY, ls="--", lw=1))
        names.append("server's weights, before local training")
    axes[0].legend(lines, names, loc="best", fontsize=8)
    for kind in ("png", "pdf"):
        fig.savefig(f"{prefix}.{kind}", metadata={"CreationDate": None} if kind == "pdf" else None)


def row_of(method):
    group = method.runs
    rows = [winners_rows(r) for r in group]
    row = {"method": method.label, "seeds": len(group),
           "rounds": np.mean([len(r.rounds["job"]) for r in group]),
           "winner_rounds": np.mean([len(r["job"]) for r in rows]),
           "seconds": np.mean([r.attr["search_seconds"] for r in group])}
    row |= {unit.replace(" ", "_"): np.mean([spent_by(r, unit)[-1] for r in rows]) for unit in SPENT}
    for name, key in SCORES.items():
        v = 100 * (1 - np.array([float(r.winner.get(key, "nan")) for r in group]))
        row[name] = np.mean(v)
        row[name + "_half"] = float(half_of(v))
    return row


def table(methods, prefix):
    rows = [row_of(method) for method in methods]
    with tables.replace(prefix + ".csv", newline="") as f:
        out = csv.DictWriter(f, rows[0].keys(), lineterminator="\n")
        out.writeheader()
        for row in rows:
            out.writerow({k: f"{v:.2f}" if isinstance(v, float) else v for k, v in row.items()})


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
    methods = runs.methods_of(all_runs)
    picture(methods, all_runs, level, args.o)
    table(methods, args.o)
    print(f"{len(all_runs)} runs, {len(methods)} methods: {args.o}.png .pdf .csv")


if __name__ == "__main__":
    main()
