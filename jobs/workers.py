#!/usr/bin/env python3
"""How long do 1, 25 and 500 simulated workers need to find a configuration near the best one?

usage: jobs/workers.py DIR [--seeds 20] [--weft build/opt/weft] [--method NAME ...]

Runs inputs/flow-workers.ini by each schedule until a configuration comes within 1 % of the
optimum of the space; a schedule that ends before begins anew, with another seed. Jobs of
schedules that wait (random, sha, hyperband) are the same for any number of workers: they are
run once, and analysis/workers.py puts them on workers. Runs that are there are not repeated.
"""

import argparse
import os
import subprocess
import sys

import h5py

INPUT = "inputs/flow-workers.ini"
WORKERS = (1, 25, 500)
WITHIN = 1.01
R, ETA = 64, 4
METHODS = {  # name: (settings, restarts at most)
    "random": (["run.tuner=random", "space.configs=8000"], 4),
    "sha": (["run.tuner=sha", "sha.rungs=geometric", f"sha.reduction={ETA}",
             f"sha.max_resource={R}", "space.configs=1024"], 30),
    "hyperband": (["run.tuner=hyperband", f"hyperband.reduction={ETA}",
                   f"hyperband.max_resource={R}"], 200),
    "asha": (["run.tuner=asha", f"asha.reduction={ETA}", f"asha.max_resource={R}",
              "asha.trials=0", "asha.jobs=60000"], 1),
    "pbt": (["run.tuner=pbt", "pbt.population=25", "pbt.interval=8",
             f"pbt.max_resource={R}"], 100),
}
WAIT = ("random", "sha", "hyperband")  # the same jobs for any number of workers


def tune(weft, ini, path, *settings):
    """Runs once; what went wrong ends the script."""
    if os.path.exists(path):
        return
    env = dict(os.environ, OPENBLAS_NUM_THREADS="1")
    done = subprocess.run([weft, "tune", ini, *settings, "-o", path, "--force"], env=env,
                          stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True)
    if done.returncode:
        sys.exit(f"{path}: {done.stderr.strip().splitlines()[-1]}")


def found(path, target):
    with h5py.File(path, "r") as f:
        return bool((f["events/valid_loss"][:] <= target).any())


def search(args, method, workers, seed, target):
    """A search and its restarts."""
    settings, max_searches = METHODS[method]
    for again in range(max_searches):
        path = f"{args.dir}/{method}-{workers}-{seed}-{again}.h5"
        own = [*settings, f"run.workers={workers}", f"run.seed={seed + 1000 * again}"]
        if method not in WAIT:
            own.append(f"run.target={target!r}")
        tune(args.weft, INPUT, path, *own)
        if found(path, target):
            return


def main():
    args = argparse.ArgumentParser(description=__doc__,
                                   formatter_class=argparse.RawDescriptionHelpFormatter)
    args.add_argument("dir", metavar="DIR")
    args.add_argument("--seeds", type=int, default=20)
    args.add_argument("--weft", default="build/opt/weft")
    args.add_argument("--method", nargs="+", default=list(METHODS), choices=list(METHODS))
    args = args.parse_args()
    os.makedirs(args.dir, exist_ok=True)
    path = f"{args.dir}/optimum.h5"
    tune(args.weft, INPUT, path, "run.tuner=random", "space.configs=1")
    with h5py.File(path, "r") as f:
        target = WITHIN * float(f.attrs["optimum"])
    for method in args.method:
        for seed in range(1, args.seeds + 1):
            for workers in WORKERS[:1] if method in WAIT else WORKERS:
                search(args, method, workers, seed, target)
        print(f"{method}: done", flush=True)


if __name__ == "__main__":
    main()
