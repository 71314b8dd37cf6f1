#!/usr/bin/env python3
"""How do time and memory grow with each size that a user can raise?

usage: jobs/growth.py TABLE.tsv [--only SIZE ...] [--repeats 3] [--weft build/opt/weft]

Runs one command for each value of a size, over three decades, all else fixed, on one rank and on
data that `weft pack synthetic` makes, and appends to the table: size, value, repeat, processor
seconds of all its threads, seconds of them in the kernel, most resident memory in MB, and the MB
that it wrote under its name. Rows that are there are not repeated. The picture, and the slopes with
their intervals, are made by analysis/growth.py.
"""

import argparse
import os
import subprocess
import sys
import tempfile

COLUMNS = ("size", "value", "repeat", "seconds", "system", "memory_mb", "file_mb")
DECADES = (10, 100, 1000, 10000)
ONE = ["run.tuner=random", "space.configs=1", "run.test=no"]
FED = ["run.task=fed", *ONE, "fed.model=linear", "fed.cohort=16", "fed.eval_clients=16",
       "fed.test_clients=16", "random.resource=20"]
MAPS = ["run.task=fmap", *ONE, "fmap.feature=rff", "fmap.model=ridge", "rff.features=100"]
FLOW = ["run.task=flow", "run.test=no", "flow.p=20", "flow.n=1000", "flow.method=descent",
        "flow.step=log 1e-3 .. 1.9", "flow.seconds=0.875", "flow.spread=0.3"]
ASHA = [*FLOW, "run.tuner=asha", "asha.trials=0", "asha.min_resource=1", "asha.max_resource=4",
        "asha.reduction=2"]


def federation(**sizes):
    return ["synthetic", "federated=generated", *(f"{k}={v}" for k, v in sizes.items())]


def images(**sizes):
    return ["synthetic", "images", *(f"{k}={v}" for k, v in sizes.items())]


# size: its values, how data of a value is packed, what is tuned.
TUNED = {
    "clients": ((1000, 10000, 100000, 1000000), lambda v: federation(clients=v), lambda v: FED),
    "clients that keep state": ((1000, 10000, 100000, 1000000),
                                lambda v: federation(clients=v),
                                lambda v: [*FED, "fed.algorithm=scaffold"]),
    "samples of a client": (DECADES, lambda v: federation(clients=100, samples=v, spread=0),
                            lambda v: FED),
    "cohort": ((1, 10, 100, 1000), lambda v: federation(clients=1000),
               lambda v: [*FED, f"fed.cohort={v}"]),
    "rounds": (DECADES, lambda v: federation(clients=1000),
               lambda v: [*FED, f"random.resource={v}"]),
    "weights of a model": (DECADES, lambda v: federation(clients=100),
                           lambda v: [*FED, "fed.model=mlp", f"mlp.hidden={v // 10}"]),
    "rows": ((1000, 10000, 100000, 1000000), lambda v: images(rows=v, d=64), lambda v: MAPS),
    "columns": ((16, 144, 1600, 16384), lambda v: images(rows=4000, d=v), lambda v: MAPS),
    "features of a map": (DECADES, lambda v: images(rows=4000, d=64),
                          lambda v: [*MAPS, f"rff.features={v}"]),
    "maps": ((1, 10, 100, 1000), lambda v: images(rows=4000, d=64),
             lambda v: [*MAPS, "rff.gamma=log 1e-4 .. 1", f"space.configs={v}"]),
    "classes": ((2, 5, 20, 100), lambda v: images(rows=20000, d=64, classes=v), lambda v: MAPS),
    "documents": ((1000, 10000, 100000), lambda v: ["synthetic", "documents", f"rows={v}"],
                  lambda v: ["run.task=fmap", *ONE, "fmap.feature=ngram", "fmap.model=logistic"]),
    **{f"trials by {sampler}": (values, None, lambda v, sampler=sampler: [
        *FLOW, "run.tuner=random", f"run.sampler={sampler}", f"space.configs={v}"])
       for sampler, values in (("tpe", DECADES), ("kde", DECADES), ("forest", DECADES[:3]),
                               ("gp", DECADES[:3]))},
    "jobs of asha": ((100, 1000, 10000, 100000), None,
                     lambda v: [*ASHA, "run.workers=100", f"asha.jobs={v}"]),
    "workers of asha": ((16, 160, 1600, 16000), None,
                        lambda v: [*ASHA, f"run.workers={v}", "asha.jobs=20000"]),
}
# size: its values, and the command on the run of so many jobs of asha.
READ = {
    "report of a run, jobs": lambda weft, run: [weft, "report", run],
    "trials in CSV, jobs": lambda weft, run: [weft, "report", run, "--trials", "--csv"],
    "importance, jobs": lambda weft, run: [weft, "report", run, "--importance"],
    "resume of a complete run, jobs": lambda weft, run: [weft, "resume", run],
}


def measure(command, settings=()):
    """Processor seconds, those in the kernel, MB: of a command that must succeed."""
    env = dict(os.environ, OPENBLAS_NUM_THREADS="1", OMP_NUM_THREADS="1")
    with tempfile.TemporaryFile("w+") as log:
        child = subprocess.Popen([*command, *settings], env=env, stdout=log, stderr=log)
        _, status, used = os.wait4(child.pid, 0)
        child.returncode = os.waitstatus_to_exitcode(status)
        if child.returncode:
            log.seek(0)
            sys.exit(f"{' '.join(command)}: {log.read().strip().splitlines()[-1]}")
    return used.ru_utime + used.ru_stime, used.ru_stime, used.ru_maxrss / 1024


class Study:
    def __init__(self, args, scratch):
        self.args, self.scratch, self.runs = args, scratch, {}
        self.ini = f"{scratch}/growth.ini"
        with open(self.ini, "w") as f:
            f.write("[run]\nseed = 1\n")
        if not os.path.exists(args.table):
            with open(args.table, "w") as f:
                f.write("\t".join(COLUMNS) + "\n")
        with open(args.table) as f:
            self.done = {tuple(line.split("\t")[:3]) for line in f}

    def write(self, size, value, repeat, used, path):
        with open(self.args.table, "a") as f:
            mb = os.path.getsize(path) / 1e6
            numbers = "\t".join(f"{x:.4g}" for x in (*used, mb))
            f.write(f"{size}\t{value}\t{repeat}\t{numbers}\n")
        print(size, value, *(f"{x:.3g}" for x in used), flush=True)

    def left(self, size, value):
        return [r for r in range(self.args.repeats)
                if (size, str(value), str(r)) not in self.done]

    def tuned(self, size):
        """Packs and tunes; packing is a row of its own."""
        values, pack, settings = TUNED[size]
        for value in values:
            repeats = self.left(size, value)
            data, run = f"{self.scratch}/data.h5", f"{self.scratch}/run.h5"
            if not repeats:
                continue
            own = [f"{k}={v}" for k, v in dict(s.split("=", 1) for s in settings(value)).items()]
            if pack:
                measure([self.args.weft, "pack", *pack(value), "-o", data, "--force"])
                own.append(f"run.data={data}")
            for repeat in repeats:
                command = [self.args.weft, "tune", self.ini, *own, "-o", run, "--force"]
                self.write(size, value, repeat, measure(command), run)

    def read(self, size):
        """Commands on runs that exist; a run is made once for all of them."""
        values, _, settings = TUNED["jobs of asha"]
        for value in values:
            repeats = self.left(size, value)
            if not repeats:
                continue
            run = self.runs.setdefault(value, f"{self.scratch}/jobs-{value}.h5")
            if not os.path.exists(run):
                measure([self.args.weft, "tune", self.ini, *settings(value), "-o", run])
            for repeat in repeats:
                self.write(size, value, repeat, measure(READ[size](self.args.weft, run)), run)


def main():
    args = argparse.ArgumentParser(description=__doc__,
                                   formatter_class=argparse.RawDescriptionHelpFormatter)
    args.add_argument("table", metavar="TABLE.tsv")
    args.add_argument("--only", nargs="+", default=[*TUNED, *READ], metavar="SIZE",
                      choices=[*TUNED, *READ])
    args.add_argument("--repeats", type=int, default=3)
    args.add_argument("--weft", default="build/opt/weft")
    args = args.parse_args()
    with tempfile.TemporaryDirectory() as scratch:
        study = Study(args, scratch)
        for size in args.only:
            (study.tuned if size in TUNED else study.read)(size)


if __name__ == "__main__":
    main()
