#!/usr/bin/env python3
"""Weight-sharing beside searches by whole fits for the same processor time (jobs/equal.py).

usage: analysis/equal.py [DIR] [-o analysis/equal] [--maps 64] [--sweep RUN.h5 ...]

With DIR, which holds the runs, writes PREFIX.tsv: a line for every trial that lowered the error
of its search, with the processor seconds of the search until then and until its end. A job has
the share of the process's processor seconds that it has of its real ones, so that other programs
on the cores do not matter. Without DIR that table is read. Then PREFIX.png, means with their
intervals and thin lines of single searches, and tables: the error of the best trial so far at
multiples of the time that ws_sha takes with so many maps, and the difference from ws_sha, seed by
seed; the multiple at which a search is as good as ws_sha; ws_sha over other numbers of maps, each
beside the searches that have had its time; and halving over rows beside ws_sha. Errors in percent, with 95 % intervals over the
seeds; in brackets how many seeds, where searches of the others ended before.

With --sweep, full sweeps of the maps of ws_sha, run.tuner=random with the same seeds, their errors
are written to PREFIX-sweeps.tsv; it gives the error of random search after so many fits, exactly in
expectation over the orders of the maps (a dashed line).
"""

import argparse
import csv
import math
import os
import statistics
import sys
from collections import defaultdict

import stats
import tables

HEAD = ["method", "maps", "seed", "cost", "total", "valid_error", "test_error", "config"]
RATIOS = (0.5, 1, 2, 4, 8, 16)
FITS = ("random", "tpe", "kde")
FITS_OF_SWEEPS = (2, 5, 10, 15, 20, 40)


def lines_of(path):
    """The lines of a run file METHOD-MAPS-SEED.h5."""
    import h5py  # only to read run files
    import numpy as np

    method, maps, seed = tables.parts_of_name(path, r"(\w+)-(\d+)-(\d+)", "METHOD-MAPS-SEED")
    with open(path[:-3] + ".seconds", encoding="ascii") as f:
        processor, real = map(float, f.read().split())
    with tables.reading(path), h5py.File(path) as f:
        error, spent = f["events/valid_error"][:], np.cumsum(f["events/seconds"][:])
        config, best = f["arms/config"][:], dict(f["winner"].attrs)
    share = processor / real
    total = share * spent[-1]
    if method not in FITS:
        return [[method, maps, seed, total, total, 100 * float(best["valid_error"]),
                 100 * float(best["test_error"]), int(best["id"])]]
    lines, least = [], math.inf
    for e, s, c in zip(error, spent, config):
        if e < least:
            alone = f"{os.path.dirname(path)}/alone/{method}-{maps}-{seed}-{c}.h5"
            with tables.reading(alone), h5py.File(alone) as f:
                test = float(f["winner"].attrs["test_error"])
            lines.append([method, maps, seed, share * s, total, 100 * float(e), 100 * test, int(c)])
            least = e
    return lines


def sweeps_of(paths):
    """Lines of the validation errors of all maps of full sweeps."""
    import h5py  # only to read run files

    rows = []
    for run in paths:
        with tables.reading(run), h5py.File(run) as f:
            rows += [(int(f.attrs["seed"]), int(c), 100 * float(e))
                     for c, e in zip(f["arms/config"][:], f["arms/error"][:])]
    return [[seed, config, f"{error:.6g}"] for seed, config, error in sorted(rows)]


def expected_least(x, m):
    """Mean of the least of m of these numbers over all ways to choose m of them."""
    n, total = len(x), math.comb(len(x), m)
    return math.fsum(e * math.comb(n - 1 - i, m - 1) / total for i, e in enumerate(sorted(x)))


def read_sweeps(path):
    """{seed: errors of all maps}, empty without such a table"""
    error = defaultdict(list)
    if os.path.exists(path):
        with open(path, encoding="ascii") as f:
            for row in csv.DictReader(f, delimiter="\t"):
                error[int(row["seed"])].append(float(row["valid_error"]))
    return error


def table_of_sweeps(one, error):
    seeds = sorted(set(one) & set(error))
    most = min(len(error[s]) for s in seeds)
    print(f"\nrandom search in expectation, {len(seeds)} seeds\n\n| fits | validation | less ws_sha |")
    print("|---|---|---|")
    for m in sorted({m for m in FITS_OF_SWEEPS if m < most} | {most}):
        mean = [expected_least(error[s], m) for s in seeds]
        less = [e - one[s]["valid_error"] for e, s in zip(mean, seeds)]
        print("|", m, "|", cell(mean), "|", cell(less), "|")


def collect(folder):
    """The lines of the table of all runs in a directory."""
    lines = []
    for run in tables.files_in(folder, "*-*-*.h5"):
        missing = [x for x in (run[:-3] + ".seconds",) if not os.path.exists(x)]
        if missing:
            print(f"{run} is not complete: there is no {missing[0]}", file=sys.stderr)
            continue
        lines += lines_of(run)
    lines.sort(key=lambda line: (line[0], int(line[1]), int(line[2]), line[3]))
    return [[f"{x:.6g}" if isinstance(x, float) else str(x) for x in line] for line in lines]


def stored(path):
    """The lines of a table."""
    with tables.reading(path), open(path, encoding="ascii") as f:
        return [[row[k] for k in HEAD] for row in csv.DictReader(f, delimiter="\t")]


def write(head, lines, path):
    with tables.replace(path) as f:
        for line in [head, *lines]:
            print(*line, sep="\t", file=f)


def group(lines):
    """({maps: {seed: trial of ws_sha}}, the same of halving over rows, {method: {seed: [trial]}}); of
    the searches of a method and seed the longest."""
    shared, rows, fits, length = defaultdict(dict), defaultdict(dict), defaultdict(dict), {}
    for line in lines:
        row = dict(zip(HEAD, line))
        method, maps, seed = row["method"], int(row["maps"]), int(row["seed"])
        trial = {k: float(row[k]) for k in ("maps", *HEAD[3:7])}
        if method in ("ws_sha", "rows"):
            (shared if method == "ws_sha" else rows)[maps][seed] = trial
            continue
        if maps > length.get((method, seed), 0):
            fits[method][seed] = []
            length[method, seed] = maps
        if maps == length[method, seed]:
            fits[method][seed].append(trial)
    return shared, rows, fits


def best_by(trials, time):
    """The best trial that ended by then; None: there is none yet, or the search was shorter."""
    if trials[0]["total"] < time:
        return None
    return ([t for t in trials if t["cost"] <= time] or [None])[-1]


def cell(x, seeds=0):
    """Mean and interval; how many seeds these are, if fewer than so many."""
    if not x:
        return ""
    return stats.text(x, 2) + (f" ({len(x)})" if len(x) < seeds else "")


def at_ratios(one, own, key):
    """[(errors of a method, the same less those of ws_sha)] for each ratio, over the seeds whose
    search was long enough."""
    out = []
    for ratio in RATIOS:
        found = {s: best_by(own[s], ratio * one[s]["cost"]) for s in sorted(set(one) & set(own))}
        pairs = [(t[key], t[key] - one[s][key]) for s, t in found.items() if t]
        out.append(([e for e, _ in pairs], [d for _, d in pairs]))
    return out


def table_of_ratios(shared, fits, maps):
    one = shared[maps]
    cost = [t["cost"] for t in one.values()]
    print(f"ws_sha, {maps} maps, {len(one)} seeds: {cell(cost)} s, error {cell([t['valid_error'] for t in one.values()])}"
          f" on validation, {cell([t['test_error'] for t in one.values()])} on test\n")
    print("| times its seconds |", " | ".join(f"{r:g}" for r in RATIOS), "|")
    print("|---" * (len(RATIOS) + 1) + "|")
    for key, part in (("valid_error", "validation"), ("test_error", "test")):
        for method in FITS:
            both = at_ratios(one, fits[method], key)
            print(f"| {method}, {part} |", " | ".join(cell(x, len(one)) for x, _ in both), "|")
            print("| less ws_sha |", " | ".join(cell(x, len(one)) for _, x in both), "|")
    print()


def catches_up(one, trials):
    """The multiple of its time at which a search is as good as ws_sha; inf: not in its length."""
    return min((t["cost"] / one["cost"] for t in trials if t["valid_error"] <= one["valid_error"]),
               default=math.inf)


def table_of_maps(shared, fits, maps):
    for method in FITS:
        seeds = sorted(set(shared[maps]) & set(fits[method]))
        if seeds:
            times = [catches_up(shared[maps][s], fits[method][s]) for s in seeds]
            ends = [fits[method][s][0]["total"] / shared[maps][s]["cost"] for s in seeds]
            print(f"{method} is as good on validation after {statistics.median(times):.3g} times the seconds in "
                  f"the median ({min(times):.3g} to {max(times):.3g}; searches end after {min(ends):.3g} or more)")
    print("\n| maps | seeds | seconds | validation | test |", " | ".join(f"{m} less ws_sha, validation | test" for m in FITS), "|")
    print("|---" * (5 + 2 * len(FITS)) + "|")
    for n in sorted(shared):
        own = shared[n].values()
        row = [n, len(own), *(cell([t[k] for t in own]) for k in ("cost", "valid_error", "test_error"))]
        for method in FITS:
            for key in ("valid_error", "test_error"):
                row.append(cell(at_ratios(shared[n], fits[method], key)[RATIOS.index(1)][1], len(own)))
        print("|", " | ".join(map(str, row)), "|")


def table_of_rows(one, rows):
    """Halving over rows beside a search of ws_sha."""
    print("\n| halving over rows, maps | seeds | seconds of ws_sha's | validation | less ws_sha | test | less ws_sha |\n"
          "|---|---|---|---|---|---|---|")
    for n, own in sorted(rows.items()):
        seeds = sorted(set(one) & set(own))
        row = [n, len(seeds), cell([own[s]["cost"] / one[s]["cost"] for s in seeds])]
        for key in ("valid_error", "test_error"):
            row += [cell([own[s][key] for s in seeds]), cell([own[s][key] - one[s][key] for s in seeds])]
        print("|", " | ".join(map(str, row)), "|")


def mean_curve(own, grid):
    """[(time, mean, half)] where every seed has a trial."""
    points = []
    for time in grid:
        found = [best_by(trials, time) for trials in own.values()]
        if found and None not in found:
            i = stats.by_samples([t["valid_error"] for t in found])
            points.append((time, i.mean, i.half if math.isfinite(i.half) else 0))
    return points


def draw_expected(ax, own, error, colour):
    """Random search in expectation over full sweeps, by the mean time of a fit of random search."""
    if not own or not error:
        return
    fit = stats.mean_of([t[0]["total"] / t[0]["maps"] for t in own.values()])
    many = range(2, 1 + min(len(x) for x in error.values()))
    ax.plot([m * fit for m in many],
            [stats.mean_of([expected_least(x, m) for x in error.values()]) for m in many],
            "--", color=colour, lw=1.4, label=f"random search, expected ({len(error)} seeds)")


def draw(shared, fits, error, path):
    import runs
    from matplotlib import pyplot as plt

    looks = {"random": ("random search", runs.ORANGE), "tpe": ("tpe", runs.GREEN),
             "kde": ("kde (BOHB's sampler)", runs.RED)}
    grid = [0.5 * 1.03 ** i for i in range(250)]
    fig, ax = plt.subplots(figsize=(6.4, 4.2))
    for method in FITS:
        points = mean_curve(fits[method], grid)
        if points:
            x, y, half = map(list, zip(*points))
            label, colour = looks[method]
            ax.plot(x, y, color=colour, lw=1.8, label=f"{label} ({len(fits[method])})")
            ax.fill_between(x, [a - b for a, b in zip(y, half)], [a + b for a, b in zip(y, half)],
                            color=colour, alpha=0.15, lw=0)
        for trials in fits[method].values():
            ax.step([t["cost"] for t in trials] + [trials[0]["total"]],
                    [t["valid_error"] for t in trials] + [trials[-1]["valid_error"]], where="post",
                    color=looks[method][1], lw=0.6, alpha=0.5)
    draw_expected(ax, fits["random"], error, runs.BLACK)
    for n in sorted(shared):
        i = stats.by_samples([t["valid_error"] for t in shared[n].values()])
        x = stats.mean_of([t["cost"] for t in shared[n].values()])
        ax.errorbar(x, i.mean, i.half if math.isfinite(i.half) else 0, fmt="o", color=runs.BLUE, capsize=3, zorder=3,
                    label="ws_sha, by number of maps (seeds)" if n == min(shared) else None)
        ax.annotate(f"{n} ({i.n})", (x, i.mean), (5, 5), textcoords="offset points", color=runs.BLUE)
    least = min(t["valid_error"] for own in (*shared.values(), *(
        {s: x[-1] for s, x in fits[m].items()} for m in FITS)) for t in own.values())
    ax.set_ylim(least - 0.3, least + 5)
    ax.set_xscale("log")
    ax.set_xlim(left=1)
    ax.set_xlabel("processor seconds of the search")
    ax.set_ylabel("validation error of the best so far (%)")
    ax.legend()
    fig.savefig(path)


def main():
    args = argparse.ArgumentParser(description=__doc__,
                                   formatter_class=argparse.RawDescriptionHelpFormatter)
    args.add_argument("dir", nargs="?", metavar="DIR")
    args.add_argument("-o", default="analysis/equal", metavar="PREFIX")
    args.add_argument("--maps", type=int, default=64, help="ws_sha over so many is the unit of time")
    args.add_argument("--sweep", nargs="+", default=[], metavar="RUN.h5")
    args = args.parse_args()
    sweeps = sweeps_of(args.sweep)
    lines = collect(args.dir) if args.dir else stored(args.o + ".tsv")
    shared, rows, fits = group(lines)
    if not shared[args.maps]:
        sys.exit(f"{args.dir or args.o + '.tsv'}: no run of ws_sha over {args.maps} maps")
    if sweeps:
        write(["seed", "map", "valid_error"], sweeps, args.o + "-sweeps.tsv")
    if args.dir:
        write(HEAD, lines, args.o + ".tsv")
    table_of_ratios(shared, fits, args.maps)
    table_of_maps(shared, fits, args.maps)
    if rows:
        table_of_rows(shared[args.maps], rows)
    error = read_sweeps(args.o + "-sweeps.tsv")
    if error:
        table_of_sweeps(shared[args.maps], error)
    draw(shared, fits, error, args.o + ".png")


if __name__ == "__main__":
    main()
