#!/usr/bin/env python3
"""Searches over the stored curves of analysis/curves-cifar10.tsv: 1, 5, 25 and 100 simulated
workers, many seeds.

usage: jobs/replays.py DIR [--seeds 20] [--first 1] [--weft build/opt/weft] [--method NAME ...]

Every search has the resource of 42 trainings to the end, 378 epochs; a schedule that ends before
begins anew, with another seed. Jobs of schedules that wait (random, sha, hyperband) are the same
for any number of workers: they are run once, and analysis/replays.py puts them on workers. A
configuration is drawn from the ranges of inputs/cifar10-convnet.ini and stands for the nearest of
the table. Runs that are there are not repeated.
"""

import argparse
import os

from workers import tune

TABLE = "analysis/curves-cifar10.tsv"
WORKERS = (1, 5, 25, 100)
R, ETA, BUDGET = 9, 3, 378
COLUMNS = {"scale": "log 5e-6 .. 5", "power": "0.01 .. 3", "lr": "log 5e-5 .. 5",
           "l2_1": "log 5e-5 .. 5", "l2_2": "log 5e-5 .. 5", "l2_3": "log 5e-5 .. 5",
           "l2_4": "log 5e-3 .. 500", "reductions": "0 .. 3", "batch": "log 8 .. 64"}
ASHA = ["run.tuner=asha", f"asha.reduction={ETA}", f"asha.max_resource={R}"]
METHODS = {  # name: (settings, runs, workers)
    "random": ([f"run.tuner=random", f"random.resource={R}", f"space.configs={BUDGET // R}"],
               1, WORKERS[:1]),
    "sha": (["run.tuner=sha", "sha.rungs=geometric", f"sha.reduction={ETA}",
             f"sha.max_resource={R}", "space.configs=81"], 2, WORKERS[:1]),
    "hyperband": (["run.tuner=hyperband", f"hyperband.reduction={ETA}",
                   f"hyperband.max_resource={R}"], 6, WORKERS[:1]),
    "asha": ([*ASHA, "asha.trials=0", f"asha.budget={BUDGET}"], 1, WORKERS),
    "bohb": ([*ASHA, "asha.trials=0", f"asha.budget={BUDGET}", "run.sampler=kde"], 1, WORKERS),
    "kdeband": (["run.tuner=hyperband", f"hyperband.reduction={ETA}", f"hyperband.max_resource={R}",
                 "hyperband.repeats=6", "run.sampler=kde"], 1, WORKERS),
    "asha81": ([*ASHA, "asha.trials=81"], 1, WORKERS[:1]),  # the configurations of the first sha
}
INPUT = f"""[run]
task = replay
[replay]
table = {TABLE}
[columns]
""" + "\n".join(f"{k} = {v}" for k, v in COLUMNS.items()) + "\n"


def main():
    args = argparse.ArgumentParser(description=__doc__,
                                   formatter_class=argparse.RawDescriptionHelpFormatter)
    args.add_argument("dir", metavar="DIR")
    args.add_argument("--seeds", type=int, default=20)
    args.add_argument("--first", type=int, default=1, metavar="SEED")
    args.add_argument("--weft", default="build/opt/weft")
    args.add_argument("--method", nargs="+", default=list(METHODS), choices=list(METHODS))
    args = args.parse_args()
    os.makedirs(args.dir, exist_ok=True)
    ini = f"{args.dir}/replay.ini"
    with open(ini, "w", encoding="ascii") as f:
        f.write(INPUT)
    for method in args.method:
        settings, most, workers = METHODS[method]
        for seed in range(args.first, args.seeds + 1):
            for w in workers:
                for again in range(most):
                    tune(args.weft, ini, f"{args.dir}/{method}-{w}-{seed}-{again}.h5", *settings,
                         f"run.workers={w}", f"run.seed={seed + 1000 * again}")
        print(f"{method}: done", flush=True)


if __name__ == "__main__":
    main()
