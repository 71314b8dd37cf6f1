#!/usr/bin/env python3
"""Weight-sharing beside searches by whole fits and halving over rows, for the same processor time:
which finds the better feature map?

usage: jobs/equal.py DATA.h5 DIR [--seeds 10] [--first 1] [--weft build/opt/weft] [--input FILE.ini]
                     [--maps 16 64 256 1024] [--method ws_sha random tpe kde rows] [--trials 160]
                     [--set section.key=value ...]

Searches of inputs/imdb64.ini, each on one core: ws_sha over so many maps; rows, successive halving of
as many, which are fitted to few training rows first; random search, tpe and kde (BOHB's sampler), one
whole fit a trial, each proposal with all results before it. Every trial of these three that
lowers its search's error is then fitted once more, by itself, for its error on the test part; one
whose validation error is not that of the search ends the script. Runs that are there are not
repeated, and one that was interrupted begins anew, for its time is what is compared: beside each
run file is one with the processor and real seconds of the process. analysis/equal.py DIR makes
tables and figure. Needs h5py.
"""

import argparse
import os
import subprocess
import sys
import time

import h5py
import numpy as np

SAMPLER = {"random": "space", "tpe": "tpe", "kde": "kde"}
HALVING = {"ws_sha": ["run.tuner=ws_sha"], "rows": ["run.tuner=sha", "sha.rungs=geometric", "fmap.resource=rows"]}


def tune(args, path, *settings):
    """Runs once, on one core, and notes how long it took; what went wrong ends the script."""
    seconds = path[:-3] + ".seconds"
    if os.path.exists(path) and os.path.exists(seconds):
        return
    env = dict(os.environ, OPENBLAS_NUM_THREADS="1")
    start = time.monotonic()
    weft = subprocess.Popen(
        [args.weft, "tune", args.input, f"run.data={args.data}", *settings, *args.set, "-o", path,
         "--force"], env=env, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True)
    said = weft.stderr.read()
    _, status, used = os.wait4(weft.pid, 0)
    weft.returncode = status
    if status:
        sys.exit(f"{path}: {(said.strip().splitlines() or ['killed'])[-1]}")
    with open(seconds, "w", encoding="ascii") as f:
        print(f"{used.ru_utime + used.ru_stime:.3f} {time.monotonic() - start:.3f}", file=f)


def write_list(configs, path):
    """The configurations of a search, in the order of their numbers, as a list of maps."""
    rows = [dict(pair.split("=", 1) for pair in text.split()) for text in configs]
    with open(path, "w", encoding="ascii") as f:
        print(*rows[0], sep="\t", file=f)
        for row in rows:
            print(*row.values(), sep="\t", file=f)


def improvements(path):
    """(numbers and errors of the trials that lowered the error, all configurations in order)"""
    with h5py.File(path) as f:
        error, order = f["events/valid_error"][:], np.argsort(f["configs/id"][:])
        texts = [f["configs/text"][int(i)].decode() for i in order]
        config = f["arms/config"][:]  # one to a trial
    before = np.minimum.accumulate(np.concatenate([[np.inf], error[:-1]]))
    return [(int(c), float(e)) for c, e, b in zip(config, error, before) if e < b], texts


def test(args, name, seed):
    """Errors on the test part of the trials that lowered the error of a search."""
    better, texts = improvements(f"{args.dir}/{name}.h5")
    write_list(texts, f"{args.dir}/{name}.tsv")
    for config, error in better:
        path = f"{args.dir}/alone/{name}-{config}.h5"
        tune(args, path, "run.tuner=random", "space.source=list", f"space.file={args.dir}/{name}.tsv",
             f"space.configs={len(texts)}", f"random.only={config}", f"run.seed={seed}",
             "run.test=yes")
        with h5py.File(path) as f:
            alone = float(f["winner"].attrs["valid_error"])
        if alone != error:
            sys.exit(f"{path}: validation error {alone}, in the search it was {error}")


def main():
    args = argparse.ArgumentParser(description=__doc__,
                                   formatter_class=argparse.RawDescriptionHelpFormatter)
    args.add_argument("data", metavar="DATA.h5")
    args.add_argument("dir", metavar="DIR")
    args.add_argument("--seeds", type=int, default=10)
    args.add_argument("--first", type=int, default=1, metavar="SEED")
    args.add_argument("--weft", default="build/opt/weft")
    args.add_argument("--input", default="inputs/imdb64.ini", metavar="FILE.ini")
    args.add_argument("--maps", type=int, nargs="+", default=[16, 64, 256, 1024])
    args.add_argument("--method", nargs="+", default=["ws_sha", *SAMPLER],
                      choices=[*HALVING, *SAMPLER])
    args.add_argument("--trials", type=int, default=160)
    args.add_argument("--set", nargs="+", default=[], metavar="section.key=value")
    args = args.parse_args()
    os.makedirs(f"{args.dir}/alone", exist_ok=True)
    for seed in range(args.first, args.seeds + 1):
        for method in args.method:
            for n in args.maps if method in HALVING else [args.trials]:
                name = f"{method}-{n}-{seed}"
                how = ([*HALVING[method], "run.test=yes"] if method in HALVING else
                       ["run.tuner=random", f"run.sampler={SAMPLER[method]}", "run.workers=1",
                        "run.test=no"])
                tune(args, f"{args.dir}/{name}.h5", *how, f"space.configs={n}", f"run.seed={seed}")
                if method in SAMPLER:
                    test(args, name, seed)
        print(f"seed {seed}: done", flush=True)


if __name__ == "__main__":
    main()
