#!/usr/bin/env python3
"""A picture of which axes of a search the loss depends on, and how.

usage: analysis/axes.py RUN.h5 [-o FILE.svg]

Of `weft report RUN.h5 --importance --csv`: the shares of axes and of the strongest pairs, and of the six axes that have
most the mean loss over all other axes by value. Bars and bands are from 0.05 to 0.95 over the trees of the forest.
"""

import argparse
import csv
import subprocess
import sys

from matplotlib import pyplot as plt
from matplotlib.ticker import FuncFormatter

import runs
from weft_search import Error, program

CURVES, PAIRS = 6, 5


def table_of(path):
    """What weft says of the run: rows of shares, of axes then pairs, and {axis: rows by value}."""
    done = subprocess.run([program(), "report", path, "--importance", "--csv"], capture_output=True, text=True)
    if done.returncode:
        sys.exit((done.stderr.strip().splitlines() or ["weft report failed"])[-1])
    rows = list(csv.DictReader(done.stdout.splitlines()))
    shares = [row for row in rows if row["share"]]
    if not shares:
        sys.exit(f"{path}: nothing to draw: fewer than 20 results, no axes, or all losses equal")
    return shares, {row["axis"]: [r for r in rows if r["axis"] == row["axis"] and not r["share"]] for row in shares
                    if not row["with"]}


def numbers(rows, *names):
    return [[float(row[name]) for row in rows] for name in names]


def draw_shares(ax, shares, short):
    shown = [row for row in shares if not row["with"]][:2 * CURVES] + [row for row in shares if row["with"]][:PAIRS]
    share, low, high = numbers(shown, "share", "low", "high")
    at = range(len(shown))
    ax.barh(at, share, color=[runs.SKY if row["with"] else runs.BLUE for row in shown])
    ax.hlines(at, low, high, color=runs.BLACK, lw=1)
    names = [short(row["axis"]) + (f"\nwith {short(row['with'])}" if row["with"] else "") for row in shown]
    ax.set_yticks(at, names, fontsize=8)
    ax.invert_yaxis()
    ax.set_xlim(left=0)
    ax.set_xlabel("share of the variance of the loss")


def draw_curve(ax, rows, logarithmic):
    loss, low, high = numbers(rows, "loss", "loss_low", "loss_high")
    values = [row["value"] for row in rows]
    try:
        x = [float(value) for value in values]
    except ValueError:
        x = range(len(values))
        ax.set_xticks(x, values, rotation=0 if len("".join(values)) < 24 else 45, fontsize=8)
        ax.vlines(x, low, high, color=runs.BLUE, lw=1)
        ax.plot(x, loss, "o", color=runs.BLUE, ms=4)
    else:
        ax.fill_between(x, low, high, color=runs.BLUE, alpha=0.2, lw=0)
        ax.plot(x, loss, "o-" if len(x) < 30 else "-", color=runs.BLUE, ms=4)
        if logarithmic:
            ax.set_xscale("log")
            ax.xaxis.set_major_formatter(FuncFormatter(lambda v, _: f"{v:g}"))


def main():
    args = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    args.add_argument("run", metavar="RUN.h5")
    args.add_argument("-o", metavar="FILE", help="picture, .svg, .png or .pdf; default RUN-axes.svg")
    args = args.parse_args()
    run = runs.load([args.run], won=False)[0]
    try:
        shares, curves = table_of(args.run)
    except Error as why:
        sys.exit(str(why))
    few = list(curves.items())[:CURVES]
    columns = min(len(few), 3)
    fig = plt.figure(figsize=(4.4 + 2.8 * columns, 3.4 if len(few) <= 3 else 5.6))
    left, right = fig.subfigures(1, 2, width_ratios=[4.4, 2.8 * columns])
    alike = len({name.partition(".")[0] for name in curves}) == 1

    def short(name):
        return name.partition(".")[2] if alike else name
    draw_shares(left.subplots(), shares, short)
    axes = right.subplots((len(few) + 2) // 3, columns, sharey=True, squeeze=False).ravel()
    for ax, (name, rows) in zip(axes, few):
        section, _, key = name.partition(".")
        ax.set_xlabel(short(name))
        draw_curve(ax, rows, run.ini.get(section, key, fallback="").startswith("log "))
    for ax in axes[len(few):]:
        ax.remove()
    axes[0].set_ylabel("mean loss over the other axes")
    first = shares[0]
    fig.suptitle(f"{first['results']} results at resource {float(first['resource']):g}"
                 + (f"; {first['failed']} failed, and count as the worst other" if int(first["failed"]) else "")
                 + f"; a forest explains {float(first['explained']):.2f} of the variance of others",
                 x=0.01, ha="left", fontsize=10)
    out = args.o or args.run.rsplit(".h5", 1)[0] + "-axes.svg"
    fig.savefig(out)
    print(out)


if __name__ == "__main__":
    main()
