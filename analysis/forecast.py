#!/usr/bin/env python3
"""Forecast of many ranks by simulation: efficiency, and where the time goes.

usage: analysis/forecast.py STUDY-PLATFORM-RANKS.txt ... -o NAME

Files are those of tests/sim/forecast.sh: what a run would have written, as text. Of federated rounds
the efficiency on P ranks is the work of the mean rank over the time of a round: the seconds that
training took, the same on any number of ranks, over P times the time of the round. Of asynchronous
tuning it is the share of the teams' time in jobs, of searches of feature maps the time on one rank
over P times that on P. Overhead is what ranks compute beside training;
wire is what a rank hands to collectives in a round over the model's 8 bytes a weight: an all-reduce
sends at least 2 (P - 1) / P times the bytes that it is handed. Rows for 4,096 and 16,384 ranks are
computed: the largest load by dealing the same roles (largest first), everything else on the line
through the two largest simulated counts against log2 of the ranks, or against the ranks themselves
where that is larger. Rows of asynchronous tuning for 512 and 4,096 teams are computed: that of the largest
simulated count, and for each result of another team what a leader spends on it. Writes NAME.tsv and NAME.png, and prints the table.
"""

import argparse
import heapq
import math
import os
import re
import sys
from collections import defaultdict

import numpy as np
from matplotlib import pyplot as plt

import runs

STUDIES = {"check": (runs.GREY, "x"), "long": (runs.BLUE, "o"), "short": (runs.GREEN, "^"), "whole": (runs.BLACK, "s"),
           "most": (runs.SKY, "d"), "async": (runs.RED, "P"), "async1s": (runs.ORANGE, "D"), "async100ms": (runs.BLUE, "v"), "maps": (runs.GREEN, "*")}
COLUMNS = ("study", "platform", "ranks", "seconds", "efficiency", "waiting", "overhead", "comm",
           "wire", "how")
MODEL = 817872  # weights of tests/sim/federated.ini
MEAN = 1  # of what /times tells over ranks
BEYOND = (4096, 16384)
CAP = {"long": 2000, "short": 20, "whole": 0, "most": 30000}  # windows of a role
ASYNC = {"async": 8, "async1s": 0.8, "async100ms": 0.08}  # seconds of a job, on average
TEAMS = (512, 4096)
# Seconds that a leader spends on a result of another team: of async100ms on 64 ranks in two nodes,
# the overhead beyond that of 16 ranks in one.
RESULT = 22e-6


def read(path):
    """{name: [number, ...]} of a simulated run."""
    found = {}
    with open(path, encoding="ascii", errors="replace") as lines:
        for line in lines:
            name, *values = line.split()
            try:
                found[name] = [float(v) for v in values]
            except ValueError:
                continue
    return found


def rounds(run, study, platform, ranks):
    """All rounds but the first one, in which collectives are set up; the model is sent once more."""
    wall, compute, waited, comm = (np.mean(run[f"/rounds/{k}"][1:])
                                   for k in ("wall", "compute", "wait", "comm"))
    count = len(run["/rounds/wall"])
    train = np.mean(run["/sim/charged"][1:count]) / ranks
    wire = (run["/times/bytes"][MEAN] / MODEL - 4) / 8 / count if ranks > 1 else math.nan
    return dict(zip(COLUMNS, (study, platform, ranks, wall, train / wall, waited / wall,
                              max(compute - train, 0) / wall, comm / wall, wire, "simulated")))


def tuning(run, study, platform, ranks):
    wall = run["/@search_seconds"][0]
    train = sum(run["/sim/charged"]) / ranks
    wait, comm, compute = (run[f"/times/{k}"][MEAN] for k in ("wait", "comm", "compute"))
    return dict(zip(COLUMNS, (study, platform, ranks, wall, train / wall, wait / wall,
                              (compute - train) / wall, comm / wall, math.nan, "simulated")))


def maps(run, study, platform, ranks):
    wall = run["/@search_seconds"][0]
    wait, comm = (run[f"/times/{k}"][MEAN] for k in ("wait", "comm"))
    return dict(zip(COLUMNS, (study, platform, ranks, wall, math.nan, wait / wall, math.nan,
                              comm / wall, math.nan, "simulated")))


def against_one(rows):
    """Efficiency of searches of feature maps: they compute less on many ranks, which keep more products."""
    for platform in {r["platform"] for r in rows}:
        some = [r for r in rows if (r["study"], r["platform"]) == ("maps", platform)]
        one = [r["seconds"] for r in some if r["ranks"] == 1]
        for r in some:
            r["efficiency"] = one[0] / (r["ranks"] * r["seconds"]) if one else math.nan


def sizes():
    here = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "jobs", "sim", "shakespeare.txt")
    with open(here, encoding="ascii") as lines:
        next(lines)
        return np.array([[int(v) for v in line.split()] for line in lines])


def balance(ranks, cap, cost, draws=4):
    """Mean load over the largest, and the mean, of 10 roles a rank dealt the largest first."""
    rng = np.random.default_rng(1)
    shares, loads = [], []
    for _ in range(draws):
        train, valid = SIZES[rng.integers(len(SIZES), size=10 * ranks)].T
        train = np.minimum(train, cap) if cap else train
        work = np.sort(cost[0] + cost[1] * train + cost[2] * np.minimum(valid, 50))[::-1]
        heap = [0.0] * ranks
        for w in work:
            heapq.heapreplace(heap, heap[0] + w)
        loads.append(work.sum() / ranks)
        shares.append(loads[-1] / max(heap))
    return np.mean(shares), np.mean(loads)


def beyond(rows, cost):
    """Rows for more ranks than are simulated."""
    found = []
    for study, platform in sorted({(r["study"], r["platform"]) for r in rows if r["study"] in CAP}):
        known = sorted((r for r in rows if (r["study"], r["platform"]) == (study, platform)),
                       key=lambda r: r["ranks"])[-2:]
        if len(known) < 2 or known[0]["ranks"] < 16:
            continue
        rest = [(r["overhead"] + r["comm"]) * r["seconds"] for r in known]
        for ranks in BEYOND:
            steps = math.log2(ranks / known[1]["ranks"]) / math.log2(
                known[1]["ranks"] / known[0]["ranks"])
            grown = (ranks - known[1]["ranks"]) / (known[1]["ranks"] - known[0]["ranks"])
            slope = rest[1] - rest[0]
            more = max(rest[1] + slope * steps, rest[1] + slope * grown)
            share, load = balance(ranks, CAP[study], cost)
            wall = load / share + more
            found.append(dict(zip(COLUMNS, (
                study, platform, ranks, wall, load / wall,
                (load / share - load) / wall, math.nan, more / wall,
                1 + (known[1]["wire"] - 1) * ranks / known[1]["ranks"],
                "computed"))))
    return found


def many_teams(rows):
    """Rows for more teams than are simulated."""
    found = []
    for study, platform in sorted({(r["study"], r["platform"]) for r in rows if r["study"] in ASYNC}):
        known = max((r for r in rows if (r["study"], r["platform"]) == (study, platform)), key=lambda r: r["ranks"])
        for ranks in TEAMS:
            more = RESULT * (ranks - known["ranks"]) / ASYNC[study]
            wall = known["seconds"] * (1 + more * known["efficiency"])
            found.append(dict(zip(COLUMNS, (
                study, platform, ranks, wall, known["efficiency"] * known["seconds"] / wall,
                known["waiting"] * known["seconds"] / wall, math.nan, math.nan, math.nan, "computed"))))
    return found


def show(rows):
    print("| study | platform | ranks | seconds | efficiency | waiting | overhead | comm | wire |")
    print("|---|---|---|---|---|---|---|---|---|")
    for r in rows:
        cells = [f"{100 * r[k]:.1f} %" if not math.isnan(r[k]) else ""
                 for k in ("waiting", "overhead", "comm")]
        wire = f"{r['wire']:.3f}" if not math.isnan(r["wire"]) else ""
        print(f"| {r['study']} | {r['platform']} | {r['ranks']:,}"
              f"{'' if r['how'] == 'simulated' else ' (computed)'} | {r['seconds']:.4g} | "
              f"{r['efficiency']:.3f} | {' | '.join(cells)} | {wire} |")


def draw(rows, path):
    platforms = sorted({r["platform"] for r in rows})
    fig, axes = plt.subplots(1, len(platforms), figsize=(4.2 * len(platforms), 3.4),
                             squeeze=False, sharey=True)
    for ax, platform in zip(axes[0], platforms):
        for study, (color, marker) in STUDIES.items():
            some = [r for r in rows if (r["study"], r["platform"]) == (study, platform)]
            if some:
                ax.plot([r["ranks"] for r in some], [r["efficiency"] for r in some], color=color,
                        marker=marker, label=study)
        ax.axhline(1, color=runs.GREY, linewidth=0.8, zorder=0)
        ax.set(xscale="log", xlabel="ranks", title=platform, ylim=(0, None))
        ticks = sorted({r["ranks"] for r in rows})[::2]
        ax.set_xticks(ticks, [f"{t:,}" for t in ticks])
        ax.minorticks_off()
    axes[0][0].set_ylabel("efficiency")
    axes[0][-1].legend()
    fig.savefig(path)


def collect(paths):
    rows = []
    for path in paths:
        name = re.fullmatch(r"(\w+)-(\w+)-(\d+)\.txt", os.path.basename(path))
        if not name:
            sys.exit(f"{path} is not named STUDY-PLATFORM-RANKS.txt, as tests/sim/forecast.sh does")
        study, platform, ranks = name[1], name[2], int(name[3])
        run = read(path)
        if study in (*CAP, "check"):
            rows.append(rounds(run, study, platform, ranks))
        elif study == "maps":
            rows.append(maps(run, study, platform, ranks))
        else:
            rows.append(tuning(run, study, platform, ranks))
    against_one(rows)
    return rows


def main():
    args = argparse.ArgumentParser(description=__doc__,
                                   formatter_class=argparse.RawDescriptionHelpFormatter)
    args.add_argument("runs", nargs="+", metavar="STUDY-PLATFORM-RANKS.txt")
    args.add_argument("-o", dest="name", required=True, metavar="NAME")
    args = args.parse_args()
    cost = [float(v) for v in os.environ.get("COST", "0 0.0047 0.0016").split()]
    rows = collect(args.runs)
    rows += beyond(rows, cost) + many_teams(rows)
    order = list(STUDIES)
    rows.sort(key=lambda r: (order.index(r["study"]), r["platform"], r["ranks"]))
    runs.write_table(COLUMNS, rows, args.name + ".tsv")
    draw(rows, args.name + ".png")
    show(rows)


SIZES = sizes()

if __name__ == "__main__":
    main()
