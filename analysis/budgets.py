#!/usr/bin/env python3
"""Schedules with and without FedEx on equal budgets, side by side, with 95 % intervals.

usage: analysis/budgets.py [RUN.h5 ...] [-d DIR]

Adds the runs (of jobs/budgets.sh) to the table DIR/budgets.tsv (DIR: analysis), a line for each
schedule, mixing and seed, in place of earlier ones, and writes DIR/budgets.md from it:

    rounds          of all trials together
    gigabytes       sent up and down by all devices
    device_hours    that devices computed: their energy over device.power
    makespan        virtual seconds until run.workers workers (or as many as a schedule that
                    waits asks for) had done all jobs
    errors          of the winner, in percent, of the server's weights and after local training

Differences are paired by seed, in points of accuracy: above 0, the first is better.
"""

import argparse
import os
import sys

import numpy as np

import claims
import runs
import stats
import tables

KEY = ["schedule", "mixing", "seed"]
COSTS = ["rounds", "gigabytes", "device_hours", "makespan"]
COLUMNS = KEY + COSTS + claims.SCORES + ["settings", "digest"]
SCHEDULES = ["random", "sha", "asha", "hyperband", "pbt"]
LEFT_OUT = {"run", "space", "server", "client", "fedex", *SCHEDULES}
HEAD = ["| first | second | score | seeds | gain | +- | better / worse / equal | verdict |",
        "|---|---|---|---|---|---|---|---|"]


def row_of(run):
    power = run.setting("device", "power")
    costs = [len(run.rounds["job"]), run.rounds["bytes"].sum() / 1e9,
             run.rounds["energy"].sum() / power / 3600 if power > 0 else np.nan,
             run.busy["makespan"]]
    row = {"schedule": run.tuner, "mixing": run.mixing, "seed": run.seed,
           "settings": claims.settings_of(run, LEFT_OUT), "digest": run.attr["digest"]}
    row.update({k: f"{float(x):.6g}" for k, x in zip(COSTS, costs)})
    row.update({k: claims.method_row(run)[k] for k in claims.SCORES})
    return row


def column(rows, kind, name):
    """{seed: number} of a schedule with its mixing."""
    return {int(r["seed"]): float(r[name]) for r in rows
            if (r["schedule"], r["mixing"]) == kind and r[name] != "nan"}


def means(rows, kinds):
    lines = ["| schedule | mixing | seeds | rounds | GB | device hours | makespan, s | "
             + " | ".join(s.replace("_", ", ") for s in claims.SCORES) + " |",
             "|---" * (7 + len(claims.SCORES)) + "|"]
    for kind in kinds:
        own = [list(column(rows, kind, c).values()) for c in COSTS]
        costs = [f"{stats.mean_of(x):.{d}f}" if x else "" for x, d in zip(own, (0, 2, 2, 0))]
        right = [stats.text([100 - x for x in column(rows, kind, s).values()], 1)
                 for s in claims.SCORES]
        seeds = len(column(rows, kind, "rounds"))
        lines.append("| " + " | ".join([*kind, str(seeds), *costs, *right]) + " |")
    return lines


def difference(rows, first, second, score):
    a, b = column(rows, first, score), column(rows, second, score)
    gains = [b[seed] - a[seed] for seed in sorted(a.keys() & b.keys())]  # of errors
    if len(gains) < 2:
        return []
    i = stats.by_samples(gains)
    names = [f"{schedule}{'' if mixing == 'none' else ', ' + mixing}" for schedule, mixing in
             (first, second)]
    return [f"| {names[0]} | {names[1]} | {score.replace('_', ', ')} | {i.n} | {i.mean:+.2f} "
            f"| {i.half:.2f} | {claims.better_worse_equal(gains)} | {stats.verdict(i)} |"]


def pairs_of(kinds):
    """With FedEx against without, then every schedule against random search."""
    return ([((s, "fedex"), (s, "none")) for s in SCHEDULES
             if (s, "fedex") in kinds and (s, "none") in kinds]
            + [(k, ("random", "none")) for k in kinds
               if k[0] != "random" and ("random", "none") in kinds])


def report(rows):
    kinds = [(s, m) for s in SCHEDULES for m in ("none", "fedex")
             if column(rows, (s, m), "rounds")]
    lines = ["# Equal budgets", "", "From budgets.tsv by analysis/budgets.py, runs by "
             "jobs/budgets.sh: accuracy in percent, means over seeds with 95 % intervals; "
             "rounds, bytes and device time are of the whole search.", "", *means(rows, kinds)]
    gains = [line for pair in pairs_of(kinds) for score in ("test_personal", "test_global")
             for line in difference(rows, *pair, score)]
    if gains:
        lines += ["", "Differences, paired by seed:", "", *HEAD, *gains]
    return "\n".join(lines) + "\n"


def main():
    args = argparse.ArgumentParser(description=__doc__,
                                   formatter_class=argparse.RawDescriptionHelpFormatter)
    args.add_argument("run", nargs="*", metavar="RUN.h5")
    args.add_argument("-d", metavar="DIR", default="analysis", help="of the table (analysis)")
    args = args.parse_args()
    new = [r for r in runs.of_task(runs.load(args.run), "fed") if not r.unfinished]
    rows = claims.merge(os.path.join(args.d, "budgets.tsv"), KEY, COLUMNS,
                        [row_of(r) for r in new])
    if not rows:
        sys.exit(f"no runs given, and no table in {args.d}")
    text = report(rows)
    with tables.replace(os.path.join(args.d, "budgets.md")) as f:
        f.write(text)
    print(text, end="")


if __name__ == "__main__":
    main()
