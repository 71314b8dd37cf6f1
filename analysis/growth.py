#!/usr/bin/env python3
"""How processor time, memory and files grow with each size: slopes in a table, and a picture.

usage: analysis/growth.py TABLE.tsv [-o FILE.png]

The table is that of jobs/growth.py. A slope is that of the logarithms between the last two values
of a size, repeat by repeat, with its 95 % interval by Student's t: 1 is time in proportion, 2 its
square; below 1 something else still costs more. Only what rose by a quarter has one.
"""

import argparse
import math
from collections import defaultdict

from matplotlib import pyplot as plt

import runs
import stats
import tables

MEASURES = {"seconds": runs.BLUE, "memory_mb": runs.ORANGE, "file_mb": runs.GREEN}
LEAST = 1.25  # a rise that is told


def read(path):
    """{size: {value: {measure: numbers of the repeats}}}."""
    found = defaultdict(lambda: defaultdict(lambda: defaultdict(list)))
    with tables.reading(path), open(path) as f:
        names = f.readline().rstrip("\n").split("\t")
        for line in f:
            row = dict(zip(names, line.rstrip("\n").split("\t")))
            for measure in MEASURES:
                found[row["size"]][int(row["value"])][measure].append(float(row[measure]))
    return found


def slope(by_value, measure):
    """Interval of the slope of the last step, or None where there is no rise."""
    before, last = sorted(by_value)[-2:]
    low, high = by_value[before][measure], by_value[last][measure]
    if stats.mean_of(high) < LEAST * stats.mean_of(low):
        return None
    step = math.log(last / before)
    return stats.by_samples([math.log(b / a) / step for a, b in zip(low, high)])


def cell(interval):
    if interval is None:
        return "level"
    half = f" +- {interval.half:.2f}" if math.isfinite(interval.half) else ""
    return f"{interval.mean:.2f}{half}"


def show(found):
    print("| size | values | seconds | slope | MB | slope | file, MB | slope |")
    print("|---|---|---|---|---|---|---|---|")
    for size, by_value in found.items():
        values = sorted(by_value)
        cells = []
        for measure in MEASURES:
            ends = (stats.mean_of(by_value[v][measure]) for v in (values[0], values[-1]))
            cells += [" to ".join(f"{x:.3g}" for x in ends), cell(slope(by_value, measure))]
        print(f"| {size} | {values[0]:,} to {values[-1]:,} | {' | '.join(cells)} |")


def draw(found, path):
    columns = 5
    rows = math.ceil(len(found) / columns)
    fig, axes = plt.subplots(rows, columns, figsize=(2.6 * columns, 2.1 * rows), squeeze=False)
    for ax in axes.flat[len(found):]:
        ax.set_axis_off()
    for ax, (size, by_value) in zip(axes.flat, found.items()):
        values = sorted(by_value)
        for measure, colour in MEASURES.items():
            ax.plot(values, [stats.mean_of(by_value[v][measure]) for v in values], "o-",
                    color=colour, markersize=3, label=measure.replace("_mb", ", MB"))
            for repeat in zip(*(by_value[v][measure] for v in values)):
                ax.plot(values, repeat, ".", color=colour, markersize=2)
        ax.set(xscale="log", yscale="log", title=size)
    axes[0][0].legend(fontsize=7)
    fig.savefig(path)


def main():
    args = argparse.ArgumentParser(description=__doc__,
                                   formatter_class=argparse.RawDescriptionHelpFormatter)
    args.add_argument("table", metavar="TABLE.tsv")
    args.add_argument("-o", dest="picture", default="growth.png", metavar="FILE.png")
    args = args.parse_args()
    found = read(args.table)
    show(found)
    draw(found, args.picture)


if __name__ == "__main__":
    main()
