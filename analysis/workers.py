#!/usr/bin/env python3
"""Virtual time to the first configuration within 1 % of the best, against workers.

usage: analysis/workers.py DIR [-o FILE.png] [--table FILE.tsv]

DIR holds the runs of jobs/workers.py. Times are those of /timeline, and for schedules that wait,
whose jobs are the same for any number of workers, those of their jobs put on workers in the order
in which they are asked: a rung begins when the one before is complete. A search that ended before
it found such a configuration is followed by the next one. Medians over seeds with 95 % intervals
by order statistics; speed-ups over one worker are geometric means of ratios seed by seed, with
95 % intervals of Student's t. Seeds that never found one count as the worst.
"""

import argparse
import heapq
import math
import sys
from collections import defaultdict

import h5py
import numpy as np
from matplotlib import pyplot as plt

import runs
import stats
import tables

WAIT = ("random", "sha", "hyperband")
NAMES = {"random": ("random search", runs.BLACK, "s"), "sha": ("SHA", runs.GREEN, "^"),
         "hyperband": ("Hyperband", runs.ORANGE, "D"), "asha": ("ASHA", runs.BLUE, "o"),
         "pbt": ("PBT", runs.RED, "P")}
WITHIN = 1.01
WORKERS = (1, 25, 500)


def read(path):
    with tables.reading(path), h5py.File(path, "r") as f:
        e = {k: f["events"][k][:] for k in ("job", "trial", "round", "resource", "cost",
                                            "valid_loss")}
        line = {k: f["timeline"][k][:] for k in ("job", "end")}
        return e, dict(zip(line["job"], line["end"]))


def rungs_of(e):
    """(bracket, rung) of every job: brackets differ in the resource of a trial's first job."""
    first = {t: r for t, k, r in zip(e["trial"], e["round"], e["resource"]) if k == 0}
    order = sorted(set(first.values()))
    return [(order.index(first[t]), int(k)) for t, k in zip(e["trial"], e["round"])]


def put_on(e, workers):
    """End of every job of a schedule that waits, on so many workers: a free one takes the first
    job whose rung may begin, brackets in turn."""
    queue, left, open_ = defaultdict(list), defaultdict(int), []
    rung = rungs_of(e)
    for i in sorted(range(len(rung)), key=lambda i: e["job"][i]):
        queue[rung[i]].append(i)
        left[rung[i]] += 1
    for q in queue.values():
        q.reverse()
    order, end, now, free = sorted(queue), {}, 0.0, workers
    while len(end) < len(rung):
        for key in order:
            ready = key[1] == 0 or left[key[0], key[1] - 1] == 0
            while free and ready and queue[key]:
                i = queue[key].pop()
                heapq.heappush(open_, (now + e["cost"][i], int(e["job"][i]), i))
                free -= 1
        now, _, i = heapq.heappop(open_)
        end[int(e["job"][i])] = now
        left[rung[i]] -= 1
        free += 1
    return end


def time_of(paths, method, workers, target):
    """Until the first configuration that is good; infinite where there is none. Jobs in all."""
    spent, jobs = 0.0, 0
    for path in paths:
        e, end = read(path)
        if method in WAIT:
            end = put_on(e, workers)
        good = [end[j] for j, x in zip(e["job"], e["valid_loss"]) if x <= target]
        if good:
            return spent + min(good), jobs + sum(t <= min(good) for t in end.values())
        spent += max(end.values())
        jobs += len(end)
    return math.inf, jobs


def collect(folder):
    """{method: {workers: [time of seed 1, 2 ...]}}, jobs likewise."""
    paths = defaultdict(list)
    runs_there, goal = tables.files_in(folder, "*-*-*-*.h5"), f"{folder}/optimum.h5"
    with tables.reading(goal), h5py.File(goal, "r") as f:
        target = WITHIN * float(f.attrs["optimum"])
    for path in runs_there:
        method, workers, seed, again = tables.parts_of_name(path, r"(\w+)-(\d+)-(\d+)-(\d+)",
                                                            "METHOD-WORKERS-SEED-PART")
        paths[method, int(workers), int(seed)].append((int(again), path))
    times, jobs = (defaultdict(lambda: defaultdict(dict)) for _ in range(2))
    for (method, workers, seed), own in paths.items():
        own = [p for _, p in sorted(own)]
        for w in WORKERS if method in WAIT else (workers,):
            times[method][w][seed], jobs[method][w][seed] = time_of(own, method, w,
                                                                     target)
    return times, jobs


def median(x):
    """Median and its 95 % interval by order statistics (binomial)."""
    x, n = sorted(x), len(x)
    tail, k = 0.0, 0
    while tail + math.comb(n, k) / 2 ** n <= 0.025:
        tail += math.comb(n, k) / 2 ** n
        k += 1
    low, high = (x[k - 1], x[n - k]) if k else (x[0], x[-1])
    return float(np.median(x)) if math.isfinite(x[n // 2]) else x[n // 2], low, high


def speed_up(slow, fast):
    """Geometric mean of the ratios, seed by seed, and its 95 % interval."""
    both = [s for s in slow if s in fast and math.isfinite(slow[s]) and math.isfinite(fast[s])]
    if len(both) < 2:
        return math.nan, math.nan, math.nan, len(both)
    i = stats.by_samples([math.log(slow[s] / fast[s]) for s in both])
    return (*(math.exp(i.mean + k * i.half) for k in (0, -1, 1)), len(both))


def table(times, jobs):
    rows = ["schedule\tworkers\tseeds\tfound\ttime\tlow\thigh\tjobs\tspeed-up\tlow\thigh\tpairs"]
    for method in NAMES:
        for w in WORKERS:
            own = times[method].get(w)
            if not own:
                continue
            found = sum(map(math.isfinite, own.values()))
            ratio = speed_up(times[method][1], own)
            cells = [method, w, len(own), found, *(f"{v:.4g}" for v in median(own.values())),
                     f"{np.median(list(jobs[method][w].values())):.0f}",
                     *(f"{v:.3g}" for v in ratio[:3]), ratio[3]]
            rows.append("\t".join(map(str, cells)))
    return rows


def draw(times, ax):
    for i, (method, (label, colour, mark)) in enumerate(NAMES.items()):
        own = times[method]
        at = [w for w in WORKERS if own.get(w)]
        mid = np.array([median(own[w].values()) for w in at]).reshape(-1, 3)
        shown = np.isfinite(mid[:, 0])
        x = np.array(at)[shown] * 1.04 ** (i - 2)
        mid = mid[shown]
        top = np.where(np.isfinite(mid[:, 2]), mid[:, 2], mid[:, 0] * 30)
        ax.errorbar(x, mid[:, 0], [mid[:, 0] - mid[:, 1], top - mid[:, 0]], color=colour,
                    marker=mark, ms=5, lw=1.4, capsize=2, label=label)
    ax.set_xscale("log")
    ax.set_yscale("log")
    ax.set_xticks(WORKERS, [str(w) for w in WORKERS])
    ax.minorticks_off()
    ax.set_xlabel("workers")
    ax.set_ylabel("virtual seconds to within 1 % of the best")
    ax.legend(fontsize=8)


def main():
    args = argparse.ArgumentParser(description=__doc__,
                                   formatter_class=argparse.RawDescriptionHelpFormatter)
    args.add_argument("dir", metavar="DIR")
    args.add_argument("-o", metavar="FILE", default="analysis/workers.png")
    args.add_argument("--table", metavar="FILE", default="analysis/workers.tsv")
    args = args.parse_args()
    times, jobs = collect(args.dir)
    if not times:
        sys.exit(f"{args.dir}: there are no runs of jobs/workers.py")
    rows = table(times, jobs)
    with tables.replace(args.table) as f:
        f.write("\n".join(rows) + "\n")
    print("\n".join(rows))
    fig, ax = plt.subplots(figsize=(5.6, 4))
    draw(times, ax)
    fig.savefig(args.o)
    print(args.o)


if __name__ == "__main__":
    main()
