#!/usr/bin/env python3
"""How good is the map that weight-sharing picks, measured by the sweep of the same maps?

usage: analysis/compare.py RUN.h5 ... [-o FILE.tsv]

The runs hold sweeps (tuner random) and searches; each search is set against the sweep of the
same data, settings, seed and configurations. The table has for each search:
    features    D, of random Fourier features only
    tuner, validation (split or full), switch (maps fitted on their own), seed
    sweep_best  validation accuracy of the sweep's best map (%)
    picked      validation accuracy of the search's winner as the search reports it (%)
    gap         sweep_best - picked, in points
    rank        of the picked map in the sweep, 1 = best; equals share the best rank
Then, for each kind of search, means over the seeds are printed, the greatest gap, the rank as a
share of the maps (top), and how many times longer the sweep took.
"""

import argparse
import csv
import sys

import numpy as np

import runs

KIND = ["features", "tuner", "validation", "switch"]
COLUMNS = KIND + ["seed", "sweep_best", "picked", "gap", "rank"]


def identity(run):
    """What a sweep and a search must share: all settings but how the search is done."""
    search = {"run", "space", "random", "ws_sha", "ws_eg"}
    shared = {("fmap", "validation"), ("fmap", "slack")}
    settings = tuple(sorted((s, k, v) for s in run.ini.sections() if s not in search
                            for k, v in run.ini.items(s) if (s, k) not in shared))
    maps = tuple(sorted((i, runs.short(text)) for i, text in run.config.items()))
    return run.attr["data_digest"], run.seed, settings, maps


def compare(search, sweep):
    alone = sweep.alone()
    of_pick = alone[int(search.winner["id"])]
    rank = 1 + sum(a > of_pick for a in alone.values())
    best, picked = max(alone.values()), search.accuracy("valid")
    faster = sweep.attr["search_seconds"] / search.attr["search_seconds"]
    features = search.setting("rff", "features")
    return {"features": 0 if np.isnan(features) else int(features), "tuner": search.tuner,
            "validation": search.ini.get("fmap", "validation", fallback="split"),
            "switch": int(runs.number(search.ini.get(search.tuner, "switch", fallback="1"))),
            "seed": search.seed, "sweep_best": best, "picked": picked, "gap": best - picked,
            "rank": rank, "top": 100 * rank / len(alone), "faster": faster}


def write(rows, out):
    columns = [c for c in COLUMNS if c != "features" or rows[0]["features"]]
    table = csv.DictWriter(out, columns, delimiter="\t", lineterminator="\n",
                           extrasaction="ignore")
    table.writeheader()
    for row in rows:
        table.writerow({k: f"{v:.3f}" if isinstance(v, float) else v for k, v in row.items()})


def summarise(rows):
    for kind in sorted({tuple(r[k] for k in KIND) for r in rows}):
        some = [r for r in rows if tuple(r[k] for k in KIND) == kind]
        what = f"{kind[1]}, {kind[2]}, switch {kind[3]}"
        if kind[0]:
            what = f"D = {kind[0]}, {what}"
        mean = {k: np.mean([r[k] for r in some]) for k in ("gap", "rank", "top", "faster")}
        print(f"# {what}: {len(some)} searches, mean gap {mean['gap']:.2f} points (most "
              f"{max(r['gap'] for r in some):.2f}), mean rank {mean['rank']:.1f}, top "
              f"{mean['top']:.1f} %, {mean['faster']:.1f} times faster")


def main():
    args = argparse.ArgumentParser(description=__doc__,
                                   formatter_class=argparse.RawDescriptionHelpFormatter)
    args.add_argument("run", nargs="+", metavar="RUN.h5")
    args.add_argument("-o", metavar="FILE", help="table, TAB separated; default: the terminal")
    args = args.parse_args()
    all_runs = runs.load(args.run)
    sweeps = {identity(r): r for r in all_runs if r.tuner == "random"}
    searches = [r for r in all_runs if r.tuner != "random"]
    rows = [compare(r, sweeps[identity(r)]) for r in searches if identity(r) in sweeps]
    for r in searches:
        if identity(r) not in sweeps:
            print(f"{r.path}: no sweep of the same data, settings, seed and maps",
                  file=sys.stderr)
    if not rows:
        sys.exit("nothing to compare: give sweeps (run.tuner=random) and searches of the same maps")
    rows.sort(key=lambda r: [r[k] for k in KIND + ["seed"]])
    if args.o:
        with open(args.o, "w", newline="") as out:
            write(rows, out)
    else:
        write(rows, sys.stdout)
    summarise(rows)


if __name__ == "__main__":
    main()
