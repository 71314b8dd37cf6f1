#!/usr/bin/env python3
"""Best error so far against virtual time, on stored learning curves, for 1 to 100 workers.

usage: analysis/replays.py DIR [-o FILE.png] [--table FILE.tsv] [--real REAL.h5]

DIR holds the runs of jobs/replays.py. Jobs of schedules that wait are put on workers here, and a
schedule that ended is followed by the next one. The table has, for every method and number of
workers, the mean over seeds of the lowest error that any job had by certain times, with 95 %
intervals of Student's t, and the median time to an error of at most 0.77 with 95 % intervals by
order statistics; speed-ups over one worker are geometric means of ratios, seed by seed. Last
comes ASHA with one worker less SHA, on the same 81 configurations. With --real it says whether a
search that was trained in earnest told the losses that the table has.
"""

import argparse
import math
import sys
from collections import defaultdict

import h5py
import numpy as np
from matplotlib import pyplot as plt

import runs
import stats
import tables
import workers as plan

NAMES = {"random": ("random search", runs.BLACK), "sha": ("SHA", runs.GREEN),
         "hyperband": ("Hyperband", runs.ORANGE), "asha": ("ASHA", runs.BLUE),
         "bohb": ("ASHA with kde (BOHB's sampler)", runs.RED),
         "kdeband": ("Hyperband with kde (BOHB)", runs.SKY)}
WORKERS = (1, 5, 25, 100)
TARGET, BUDGET = 0.77, 378
TABLE = "analysis/curves-cifar10.tsv"


def told(paths, method, workers):
    """[(virtual end, error)] of the jobs of a search and of those that follow it."""
    out, spent = [], 0.0
    for path in paths:
        e, end = plan.read(path)
        if method in plan.WAIT:
            end = plan.put_on(e, workers)
        out += [(spent + end[j], x) for j, x in zip(e["job"], e["valid_loss"])]
        spent = max(t for t, _ in out)
    return sorted(out)


def collect(folder):
    """{method: {workers: {seed: [(end, error)]}}}"""
    paths = defaultdict(list)
    for path in tables.files_in(folder, "*-*-*-*.h5"):
        method, w, seed, again = tables.parts_of_name(path, r"(\w+)-(\d+)-(\d+)-(\d+)",
                                                      "METHOD-WORKERS-SEED-PART")
        paths[method, int(w), int(seed)].append((int(again), path))
    found = defaultdict(lambda: defaultdict(dict))
    for (method, w, seed), own in paths.items():
        for many in WORKERS if method in plan.WAIT else (w,):
            found[method][many][seed] = told([p for _, p in sorted(own)], method, many)
    return found


def best_by(ended, time):
    """Lowest error by a time, at most that of guessing."""
    return min([0.9] + [x for t, x in ended if t <= time])


def time_to(ended, target):
    return min((t for t, x in ended if x <= target), default=math.inf)


def mean(x):
    """Mean and half its 95 % interval."""
    i = stats.by_samples(list(x))
    return i.mean, i.half


def times_of(workers):
    """A quarter, half and all of the budget, divided by the workers, but a training at least."""
    return [max(BUDGET * f / workers, 9) for f in (0.25, 0.5, 1)]


def table(found):
    rows = ["method\tworkers\tseeds\ttime\terror\thalf\ttime\terror\thalf\ttime\terror\thalf"
            "\tfound\ttime to 0.77\tlow\thigh\tspeed-up\tlow\thigh\tpairs"]
    for method in NAMES:
        slow = {s: time_to(e, TARGET) for s, e in found[method][1].items()}
        for w in WORKERS:
            own = found[method][w]
            if not own:
                continue
            cells = [method, w, len(own)]
            for time in times_of(w):
                cells += [f"{time:.4g}", *(f"{v:.4f}" for v in mean(
                    [best_by(e, time) for e in own.values()]))]
            fast = {s: time_to(e, TARGET) for s, e in own.items()}
            ratio = plan.speed_up(slow, fast)
            cells += [sum(map(math.isfinite, fast.values())),
                      *(f"{v:.4g}" for v in plan.median(fast.values())),
                      *(f"{v:.3g}" for v in ratio[:3]), ratio[3]]
            rows.append("\t".join(map(str, cells)))
    return rows


def same(found):
    """ASHA with one worker less SHA, by seed: final error and virtual time of all jobs."""
    pairs = [(found["asha81"][1][s], found["sha81"][1][s]) for s in found["sha81"][1]
             if s in found["asha81"][1]]
    error = [best_by(a, math.inf) - best_by(b, math.inf) for a, b in pairs]
    time = [a[-1][0] / b[-1][0] for a, b in pairs]
    return ("ASHA less SHA, 81 configurations, one worker, {} seeds: error {:+.4f} +- {:.4f}, equal "
            "in {}; time {:.2f} +- {:.2f} times".format(len(pairs), *mean(error),
                                                        sum(x == 0 for x in error), *mean(time)))


def real(path):
    """How many jobs of a trained search have the error that the table has."""
    stored = {}
    with open(TABLE, encoding="ascii") as f:
        next(f)
        for line in f:
            config, resource, loss = line.split("\t")[:3]
            stored[int(config), int(resource)] = float(loss)
    with h5py.File(path, "r") as f:
        e = {k: f["events"][k][:] for k in ("trial", "resource", "valid_error")}
        end = f["timeline/end"][:].max()
    total, equal = {}, 0
    for trial, resource, error in zip(e["trial"], e["resource"], e["valid_error"]):
        total[trial] = max(resource, total.get(trial, 0))
        there = stored[int(trial), round(resource)]
        equal += abs(there - error) < 1e-6 or (math.isinf(there) and not math.isfinite(error))
    return (f"{path}: {equal} of {len(e['trial'])} jobs have the error of the table; best "
            f"{np.nanmin(e['valid_error']):.3f}, {len(total)} trials, {sum(total.values()):.0f} "
            f"epochs, {end:.0f} of virtual time")


def draw(found, axes):
    for w, ax in zip(WORKERS, axes):
        grid = np.geomspace(1, BUDGET, 120) if w == 1 else np.geomspace(1, max(BUDGET / w * 2, 40), 120)
        for method, (label, colour) in NAMES.items():
            own = found[method][w]
            if not own:
                continue
            x = np.array([[best_by(e, t) for t in grid] for e in own.values()])
            half = np.array([stats.by_samples(list(errors)).half for errors in x.T])
            ax.plot(grid, x.mean(axis=0), color=colour, lw=1.4, label=label)
            ax.fill_between(grid, x.mean(axis=0) - half, x.mean(axis=0) + half, color=colour,
                            alpha=0.15, lw=0)
        ax.set_xscale("log")
        ax.set_title(f"{w} worker{'s' if w > 1 else ''}")
        ax.set_xlabel("virtual time, epochs")
    axes[0].set_ylabel("lowest validation error so far")
    axes[0].legend(fontsize=7)


def main():
    args = argparse.ArgumentParser(description=__doc__,
                                   formatter_class=argparse.RawDescriptionHelpFormatter)
    args.add_argument("dir", metavar="DIR")
    args.add_argument("-o", metavar="FILE", default="analysis/replays.png")
    args.add_argument("--table", metavar="FILE", default="analysis/replays.tsv")
    args.add_argument("--real", metavar="REAL.h5")
    args = args.parse_args()
    found = collect(args.dir)
    if not found:
        sys.exit(f"{args.dir}: there are no runs of jobs/replays.py")
    for seed in found["sha"][1]:
        found["sha81"][1][seed] = told([f"{args.dir}/sha-1-{seed}-0.h5"], "sha", 1)
    rows = table(found)
    with tables.replace(args.table) as f:
        f.write("\n".join(rows) + "\n")
    print("\n".join(rows))
    print(same(found))
    if args.real:
        print(real(args.real))
    fig, axes = plt.subplots(1, len(WORKERS), figsize=(11, 3.2), sharey=True)
    draw(found, axes)
    fig.savefig(args.o)
    print(args.o)


if __name__ == "__main__":
    main()
