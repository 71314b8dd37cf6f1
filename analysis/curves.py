#!/usr/bin/env python3
"""Learning curves of a run as a table that task replay reads.

usage: analysis/curves.py RUN.h5 [-o TABLE.tsv]

RUN.h5 is a run of task sgd with run.tuner = random, so that every configuration has one job with
a row for each epoch, and sgd.keep = last. The loss of the table is what was scored, sgd.score; of
equal ones, as error rates have, a replay takes the earlier trial, and a search that trains the one
of the lower loss. A configuration that diverged keeps its last score, as
in task sgd; one without any has inf. The values of a configuration stand in its first line.
"""

import argparse
import sys

import h5py
import numpy as np

import runs
import tables


def curve(score):
    """Scores after each epoch, those that are missing as the last one before."""
    last, out = float("inf"), []
    for x in score:
        last = last if np.isnan(x) else float(x)
        out.append(last)
    return out


def main():
    args = argparse.ArgumentParser(description=__doc__,
                                   formatter_class=argparse.RawDescriptionHelpFormatter)
    args.add_argument("run", metavar="RUN.h5")
    args.add_argument("-o", metavar="TABLE.tsv", default="analysis/curves.tsv")
    args = args.parse_args()
    with tables.reading(args.run), h5py.File(args.run, "r") as f:
        ids = f["configs/id"][:]
        values = [dict(v.split("=", 1) for v in runs.text(t).split()) for t in f["configs/text"][:]]
        trial, job = f["rounds/trial"][:], f["rounds/job"][:]
        scored = "loss" if "score = loss" in runs.text(f.attrs["config"]) else "error"
        score, loss = f[f"rounds/valid_{scored}"][:], f["events/loss"][:]
        of_job = f["events/trial"][:]
    names = list(values[0])
    if len(set(of_job)) != len(of_job):
        sys.exit(f"{args.run}: a configuration has several jobs; run.tuner = random has one")
    with tables.replace(args.o) as out:
        print("config", "resource", "loss", *(n.split(".")[1] for n in names), sep="\t", file=out)
        for i in np.argsort(ids):
            mine = np.flatnonzero(trial == ids[i])
            scores = curve(score[mine[np.argsort(job[mine], kind="stable")]])
            if scores[-1] != loss[of_job == ids[i]][0]:
                sys.exit(f"{args.run}: the last epoch of {ids[i]} is not its score; sgd.keep = last")
            for epoch, x in enumerate(scores, 1):
                own = [f"{float(values[i][n]):.6g}" if epoch == 1 else "" for n in names]
                print(ids[i], epoch, f"{x:.9g}", *own, sep="\t", file=out)
    print(f"{args.o}: {len(ids)} configurations")


if __name__ == "__main__":
    main()
