#!/usr/bin/env python3
"""Strong and weak scaling: seconds, efficiency and where the time goes, against ranks.

usage: analysis/scaling.py RUN.h5 ... -o NAME

Runs are those of jobs/scaling.sh, STUDY-KIND-RANKS-REPEAT.h5. Of a study's smallest count of
ranks b, with time T_b, the efficiency on P ranks is b T_b / (P T_P) where the work is fixed
(strong), T_b / T_P where it grows with the ranks (weak); T is the time of the search. Means are
geometric, with 95 % intervals of Student's t over repeats, each against the same repeat on b
ranks. Compute, wait, comm and io (journals, states, checkpoints) are shares of a rank's time, means
over ranks and repeats; imbalance is the compute time of the busiest rank over the mean, at the
repeat where that is largest, with the ranks that computed least and most. Writes NAME.tsv and
NAME.png, and prints the table. Runs of one study that differ in what they found although the work was the same are
refused: a time of another result is none.
"""

import argparse
import math
import os
import re
import sys
from collections import defaultdict

import h5py
import numpy as np
from matplotlib import pyplot as plt

import runs
import stats

KINDS = ("strong", "weak")
LOOKS = {"maps": (runs.BLUE, "o"), "sweep": (runs.BLACK, "s"), "fit": (runs.SKY, "v"),
         "federated": (runs.GREEN, "^"), "async": (runs.RED, "P"),
         **{f"cohort{10 ** i}": (runs.ORANGE, str(i)) for i in range(1, 5)}}
COLUMNS = ("study", "kind", "ranks", "repeats", "seconds", "seconds_half", "efficiency",
           "efficiency_low", "efficiency_high", "compute", "wait", "comm", "io", "imbalance",
           "least_rank", "most_rank", "memory_gb", "sent_gb")
SHARES = ("compute", "wait", "comm", "io")

# What a quantity of /times tells over ranks: its extremes, its mean, and the ranks of the extremes.
MEAN, MAX, MIN_RANK, MAX_RANK = 1, 2, 3, 4


def read(path):
    """Times of one run: seconds of the search, and the spread over ranks of the rest."""
    with h5py.File(path, "r") as f:
        row = {name: f["times"][name][:] for name in (*SHARES, "bytes", "memory")}
        row["seconds"] = float(f.attrs["search_seconds"])
        row["digest"] = runs.text(f.attrs["digest"])
        return row


def collect(paths):
    """{(study, kind): {ranks: {repeat: times}}}."""
    found = defaultdict(lambda: defaultdict(dict))
    for path in paths:
        name = re.fullmatch(r"(\w+)-(strong|weak)-(\d+)-(\d+)\.h5", os.path.basename(path))
        if not name:
            sys.exit(f"{path} is not named STUDY-KIND-RANKS-REPEAT.h5, as jobs/scaling.sh does")
        study, kind, ranks, repeat = name.groups()
        found[study, kind][int(ranks)][int(repeat)] = read(path)
    return found


def check(study, kind, by_ranks):
    """The same work has the same result."""
    for ranks, repeats in by_ranks.items():
        groups = by_ranks.values() if kind == "strong" else [repeats]
        if len({row["digest"] for group in groups for row in group.values()}) > 1:
            sys.exit(f"{study}, {kind}, {ranks} ranks: runs of the same work differ in digest")


def interval(values):
    """Geometric mean and 95 % interval."""
    i = stats.by_samples([math.log(v) for v in values])
    ends = (math.exp(i.mean - i.half), math.exp(i.mean + i.half)) if math.isfinite(i.half) else (
        math.nan, math.nan)
    return (math.exp(i.mean), *ends)


def line(study, kind, ranks, repeats, base, base_ranks):
    rows = list(repeats.values())
    work = ranks / base_ranks if kind == "strong" else 1
    ratio = [base[r]["seconds"] / (work * row["seconds"]) for r, row in repeats.items()
             if r in base]
    seconds = stats.by_samples([row["seconds"] for row in rows])
    spent = {k: stats.mean_of([row[k][MEAN] for row in rows]) for k in SHARES}
    uneven = max(rows, key=lambda row: row["compute"][MAX] / row["compute"][MEAN])["compute"]
    total = sum(spent.values())
    return dict(zip(COLUMNS, (
        study, kind, ranks, len(rows), seconds.mean,
        seconds.half if math.isfinite(seconds.half) else math.nan,
        *(interval(ratio) if ratio else (math.nan,) * 3),
        *(spent[k] / total for k in SHARES), uneven[MAX] / uneven[MEAN],
        int(uneven[MIN_RANK]), int(uneven[MAX_RANK]),
        max(row["memory"][MAX] for row in rows) / 1e9,
        max(row["bytes"][MAX] for row in rows) / 1e9)))


def table(found):
    lines = []
    for (study, kind), by_ranks in sorted(found.items(), key=lambda e: (e[0][1], e[0][0])):
        check(study, kind, by_ranks)
        least = min(by_ranks)
        for ranks in sorted(by_ranks):
            lines.append(line(study, kind, ranks, by_ranks[ranks], by_ranks[least], least))
    return lines


def show(lines):
    print("| study | kind | ranks | seconds | efficiency (95 %) | compute | wait | comm | io "
          "| imbalance (least and most busy rank) |")
    print("|---|---|---|---|---|---|---|---|---|---|")
    for r in lines:
        half = "" if math.isnan(r["seconds_half"]) else f" +- {r['seconds_half']:.2g}"
        span = "" if math.isnan(r["efficiency_low"]) else (
            f" ({r['efficiency_low']:.2f} to {r['efficiency_high']:.2f})")
        print(f"| {r['study']} | {r['kind']} | {r['ranks']} | {r['seconds']:.3g}{half} | "
              f"{r['efficiency']:.2f}{span} | "
              + "".join(f"{100 * r[k]:.0f} % | " for k in SHARES)
              + f"{r['imbalance']:.2f} ({r['least_rank']}, {r['most_rank']}) |")


def draw(lines, path):
    kinds = [k for k in KINDS if any(r["kind"] == k for r in lines)]
    fig, axes = plt.subplots(1, len(kinds), figsize=(4.2 * len(kinds), 3.4), squeeze=False,
                             sharey=True)
    for ax, kind in zip(axes[0], kinds):
        for study in sorted({r["study"] for r in lines}):
            rows = [r for r in lines if r["kind"] == kind and r["study"] == study]
            color, marker = LOOKS.get(study, (runs.ORANGE, "D"))
            ends = np.array([[r["efficiency"] - r["efficiency_low"] for r in rows],
                             [r["efficiency_high"] - r["efficiency"] for r in rows]])
            ax.errorbar([r["ranks"] for r in rows], [r["efficiency"] for r in rows],
                        yerr=np.nan_to_num(ends), color=color, marker=marker, capsize=2,
                        label=study)
        ax.axhline(1, color=runs.GREY, linewidth=0.8, zorder=0)
        ax.set(xscale="log", xlabel="ranks", title=f"{kind} scaling", ylim=(0, None))
        ticks = sorted({r["ranks"] for r in lines})
        ax.set_xticks(ticks, [str(t) for t in ticks])
        ax.minorticks_off()
    axes[0][0].set_ylabel("efficiency")
    axes[0][-1].legend()
    fig.savefig(path)


def main():
    args = argparse.ArgumentParser(description=__doc__,
                                   formatter_class=argparse.RawDescriptionHelpFormatter)
    args.add_argument("runs", nargs="+", metavar="RUN.h5")
    args.add_argument("-o", dest="name", required=True, metavar="NAME")
    args = args.parse_args()
    lines = table(collect(args.runs))
    runs.write_table(COLUMNS, lines, args.name + ".tsv")
    draw(lines, args.name + ".png")
    show(lines)


if __name__ == "__main__":
    main()
