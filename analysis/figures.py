#!/usr/bin/env python3
"""The paper's two figures: validation accuracy and search time against the number of features.

usage: analysis/figures.py RUN.h5 ... -o PREFIX --x features|bins
       analysis/figures.py PREFIX-runs.tsv -o PREFIX --x features|bins

Writes PREFIX.png, PREFIX.pdf, the plotted points PREFIX.tsv (mean, standard deviation, least
and greatest over seeds) and one line a run, PREFIX-runs.tsv, from which the figure can be drawn
again. Lines are means over seeds, bands one standard deviation, dots single runs. Search time
includes the fit of the winner.
"""

import argparse
import csv
import sys

import numpy as np
from matplotlib import pyplot as plt
from matplotlib.ticker import FixedLocator, FuncFormatter, LogLocator, NullLocator

import runs
import tables

AXES = {"features": ("rff", "features", "random Fourier features"),
        "bins": ("ngram", "bins", "bins of the bag of n-grams")}
WHAT = {"valid": "validation accuracy (%)", "test": "test accuracy (%)", "seconds": "search time (s)"}


def rows_of(paths, axis):
    """One dict a run: x, tuner, seed, valid, test, seconds."""
    if len(paths) == 1 and paths[0].endswith(".tsv"):
        with open(paths[0], newline="") as f:
            return [{k: v if k == "tuner" else float(v) for k, v in row.items()}
                    for row in csv.DictReader(f, delimiter="\t")]
    section, key, _ = AXES[axis]
    return [{"x": run.setting(section, key), "tuner": run.tuner, "seed": run.seed,
             "valid": round(run.accuracy("valid"), 6), "test": round(run.accuracy("test"), 6),
             "seconds": round(float(run.attr["search_seconds"]), 4)} for run in runs.load(paths)]


def points_of(rows):
    """One dict a point: x, tuner, number of seeds, and moments of each quantity."""
    points = []
    for tuner, x in sorted({(r["tuner"], r["x"]) for r in rows}):
        some = [r for r in rows if (r["tuner"], r["x"]) == (tuner, x)]
        point = {"tuner": tuner, "x": x, "seeds": len(some)}
        for what in WHAT:
            v = np.array([r[what] for r in some])
            spread = np.std(v, ddof=1) if len(v) > 1 else 0.0
            point.update({what + "_mean": np.mean(v), what + "_sd": spread,
                          what + "_min": np.min(v), what + "_max": np.max(v)})
        points.append(point)
    return points


def write_table(path, rows):
    with tables.replace(path, newline="") as f:
        out = csv.DictWriter(f, rows[0].keys(), delimiter="\t", lineterminator="\n")
        out.writeheader()
        for row in rows:
            out.writerow({k: f"{v:.10g}" if isinstance(v, float) and not v.is_integer()
                          else f"{v:.0f}" if isinstance(v, float) else v for k, v in row.items()})


def draw_panel(ax, rows, points, what):
    known = list(runs.TUNERS)
    tuners = sorted({p["tuner"] for p in points},
                    key=lambda t: known.index(t) if t in known else len(known))
    for shift, tuner in enumerate(tuners):
        label, colour, marker = runs.name_of(tuner)
        mine = [p for p in points if p["tuner"] == tuner]
        x = np.array([p["x"] for p in mine])
        mean = np.array([p[what + "_mean"] for p in mine])
        sd = np.array([p[what + "_sd"] for p in mine])
        ax.fill_between(x, np.maximum(mean - sd, mean / 10), mean + sd, color=colour, alpha=0.15,
                        lw=0)
        ax.plot(x, mean, marker + "-", color=colour, lw=1.8, ms=6, label=label, zorder=3)
        aside = 1.03 ** (shift - (len(tuners) - 1) / 2)  # so that dots do not hide each other
        ax.plot([r["x"] * aside for r in rows if r["tuner"] == tuner],
                [r[what] for r in rows if r["tuner"] == tuner],
                ".", color=colour, ms=4, alpha=0.35, mew=0, zorder=2)
    ax.set_ylabel(WHAT[what])


def power_or_number(x, _):
    power = np.log2(x)
    return f"$2^{{{power:.0f}}}$" if x > 9999 and power == round(power) else f"{x:,.0f}"


def label_x(ax, points, axis):
    ax.set_xscale("log")
    ax.xaxis.set_major_locator(FixedLocator(sorted({p["x"] for p in points})))
    ax.xaxis.set_minor_locator(NullLocator())
    ax.xaxis.set_major_formatter(FuncFormatter(power_or_number))
    ax.set_xlabel(AXES[axis][2])


def main():
    args = argparse.ArgumentParser(description=__doc__,
                                   formatter_class=argparse.RawDescriptionHelpFormatter)
    args.add_argument("run", nargs="+", metavar="RUN.h5")
    args.add_argument("-o", metavar="PREFIX", required=True)
    args.add_argument("--x", choices=AXES, required=True, help="what varies between the runs")
    args = args.parse_args()
    rows = rows_of(args.run, args.x)
    if any(np.isnan(r["x"]) for r in rows):
        sys.exit(f"some runs do not set {'.'.join(AXES[args.x][:2])}; is --x right?")
    rows.sort(key=lambda r: (r["tuner"], r["x"], r["seed"]))
    points = points_of(rows)
    fig, (left, right) = plt.subplots(1, 2, figsize=(9.6, 4.0), constrained_layout=False)
    draw_panel(left, rows, points, "valid")
    draw_panel(right, rows, points, "seconds")
    right.set_yscale("log")
    right.yaxis.set_major_locator(LogLocator(subs=(1, 2, 5)))
    right.yaxis.set_major_formatter(FuncFormatter(lambda y, _: f"{y:g}"))
    right.yaxis.set_minor_locator(NullLocator())
    for ax in (left, right):
        label_x(ax, points, args.x)
    fig.legend(*left.get_legend_handles_labels(), loc="upper center", ncol=3, fontsize=9)
    fig.subplots_adjust(left=0.07, right=0.99, bottom=0.13, top=0.9, wspace=0.2)
    for kind in ("png", "pdf"):
        fig.savefig(f"{args.o}.{kind}", metadata={"CreationDate": None} if kind == "pdf" else None)
    write_table(args.o + ".tsv", points)
    write_table(args.o + "-runs.tsv", rows)
    print(f"{len(rows)} runs, {len(points)} points: {args.o}.png .pdf .tsv, {args.o}-runs.tsv")


if __name__ == "__main__":
    main()
