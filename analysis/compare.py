#!/usr/bin/env python3
"""How good is the map that weight-sharing picks, measured by the sweep of the same maps?

usage: analysis/compare.py RUN.h5|TABLE.tsv ... [-o TABLE.tsv]

The runs hold sweeps (tuner random), searches, and fits of picked maps alone (random.only);
each search is set against the sweep of the same data, settings, seed and configurations.
Both maps are judged by a fit of their own that began from nothing: the pick, too, by its fit
in the sweep, not by the search's refit, which began from shared weights and may end a little
above or below. The table has for each search:
    data         name of the data file
    features     D, of random Fourier features only
    scale        natural, of n-grams only; runs of older versions may have log2
    tuner, validation (auto, split or full), switch (maps fitted on their own), seed
    maps         how many the sweep has
    best, picked           validation accuracy (%) of the sweep's best map and of the pick
    best_test, picked_test their test accuracy; the pick's by the run of that map alone, empty
                           where there is none and the pick is not the best
    gap, test_gap          best - picked, in points
    rank         of the pick in the sweep by validation, 1 = best; equals share the best rank
    refit, refit_test      accuracy of the search's own refit
    faster       how many times longer the sweep took
    seconds      of the search
Lines of tables that are given are kept, those of runs replace them. Then, for each kind of
search, means over the seeds with their 95 % intervals are printed, and whether the mean rank
is within the best tenth of the maps: yes or no where the interval says so.
"""

import argparse
import csv
import math
import os
import sys

import runs
import stats
import tables

KIND = ["data", "features", "scale", "tuner", "validation", "switch"]
NUMBERS = ["best", "best_test", "picked", "picked_test", "gap", "test_gap", "refit",
           "refit_test", "faster", "seconds"]
COLUMNS = KIND + ["seed", "maps", "best", "best_test", "picked", "picked_test", "gap", "test_gap",
                  "rank", "refit", "refit_test", "faster", "seconds"]
LATER = {"seconds"}  # columns that older tables lack


# ---- from run files to lines of the table -----------------------------------------------


def settings(run):
    """What a sweep, a search and a fit of one map must share: all but how the search is done."""
    search = {"run", "space", "random", "ws_sha", "ws_eg"}
    shared = {("fmap", "validation"), ("fmap", "slack")}
    return run.attr["data_digest"], run.seed, tuple(sorted(
        (s, k, v) for s in run.ini.sections() if s not in search
        for k, v in run.ini.items(s) if (s, k) not in shared))


def identity(run):
    """The settings, and the maps themselves."""
    return settings(run), tuple(sorted((i, runs.short(t)) for i, t in run.config.items()))


def of_one(run):
    """The map that a run fitted alone, None for other runs."""
    only = run.setting("random", "only") if run.tuner == "random" else -1
    return int(only) if only >= 0 else None


def one_identity(run, config):
    return settings(run), config, runs.short(run.config[config])


def compare(search, sweep, ones):
    """A line of the table; ones: {one_identity: fit of that map alone}."""
    alone, pick = sweep.alone(), int(search.winner["id"])
    best = int(sweep.winner["id"])
    row = {"maps": len(alone), "seed": search.seed, "tuner": search.tuner,
           "validation": search.ini.get("fmap", "validation", fallback="split"),
           "switch": search.ini.get(search.tuner, "switch", fallback="1"),
           "data": os.path.basename(search.ini.get("run", "data")).removesuffix(".h5"),
           "features": "", "scale": ""}
    if search.ini.get("fmap", "feature", fallback="") == "rff":
        row["features"] = f"{search.setting('rff', 'features'):.0f}"
    if search.ini.get("fmap", "feature", fallback="") == "ngram":
        row["scale"] = search.ini.get("ngram", "nb_scale", fallback="natural")
    fit = sweep if alone[pick] == alone[best] else ones.get(one_identity(search, pick))
    if fit and abs(fit.accuracy("valid") - alone[pick]) > 1e-9:
        sys.exit(f"{fit.path}: its fit of map {pick} is not the sweep's, {sweep.path}")
    row.update({"best": alone[best], "best_test": sweep.accuracy("test"),
                "picked": alone[pick], "picked_test": fit.accuracy("test") if fit else math.nan,
                "gap": alone[best] - alone[pick],
                "rank": 1 + sum(a > alone[pick] for a in alone.values()),
                "refit": search.accuracy("valid"), "refit_test": search.accuracy("test"),
                "faster": sweep.attr["search_seconds"] / search.attr["search_seconds"]})
    row["seconds"] = float(search.attr["search_seconds"])
    row["test_gap"] = row["best_test"] - row["picked_test"]
    return row


def rows_of(paths):
    """Lines of all searches whose sweep is there."""
    every = runs.of_task(runs.load(paths), "fmap")
    ones = {one_identity(r, of_one(r)): r for r in every if of_one(r) is not None}
    sweeps = {identity(r): r for r in every if r.tuner == "random" and of_one(r) is None}
    rows = []
    for r in every:
        if r.tuner == "random":
            continue
        if identity(r) in sweeps:
            rows.append(compare(r, sweeps[identity(r)], ones))
        else:
            print(f"{r.path}: no sweep of the same data, settings, seed and maps",
                  file=sys.stderr)
    return rows


# ---- the table --------------------------------------------------------------------------


def read(path):
    """Lines of a table that this script wrote."""
    with open(path, newline="") as f:
        rows = list(csv.DictReader(f, delimiter="\t"))
    for row in rows:
        if not set(COLUMNS) - set(KIND) - LATER <= row.keys():
            sys.exit(f"{path}: expected the columns {' '.join(COLUMNS)}")
        row.update({k: float(row[k]) if row.get(k) else math.nan for k in NUMBERS})
        row.update({k: int(row[k]) for k in ("seed", "maps", "rank")})
        row.update({k: row.get(k, "") for k in KIND})
    return rows


def cell(value):
    if not isinstance(value, float):
        return value
    return "" if math.isnan(value) else f"{value:.3f}"


def write(rows, out):
    columns = [c for c in COLUMNS
               if c not in ("data", "features", "scale") or any(r[c] for r in rows)]
    table = csv.DictWriter(out, columns, delimiter="\t", lineterminator="\n",
                           extrasaction="ignore")
    table.writeheader()
    for row in rows:
        table.writerow({k: cell(v) for k, v in row.items()})


def mean(rows, key, digits=2):
    """Mean and interval of a column, and of how many searches where some lack it."""
    x = [float(r[key]) for r in rows if not math.isnan(r[key])]
    if not x:
        return "-"
    return stats.text(x, digits) + (f" (of {len(x)})" if len(x) < len(rows) else "")


def in_best_tenth(rows):
    """Whether the mean rank, as a share of the maps, is at most a tenth."""
    share = stats.by_samples([r["rank"] / r["maps"] for r in rows])
    if share.mean + share.half <= 0.1:
        return "yes"
    return "no" if share.mean - share.half > 0.1 else "not resolved"


def summarise(rows):
    print("| search | seeds | mean gap | greatest | mean rank | top tenth | test, pick "
          "| test gap | test, refit | faster |")
    print("|---" * 10 + "|")
    kinds = []
    for r in rows:
        if [r[k] for k in KIND] not in kinds:
            kinds.append([r[k] for k in KIND])
    for kind in kinds:
        some = [r for r in rows if [r[k] for k in KIND] == kind]
        what = f"{kind[3]}, {kind[4]}, switch {kind[5]}"
        what = f"{kind[0]}: {what}" if len({r["data"] for r in rows}) > 1 else what
        what += f", {kind[2]}" if kind[2] not in ("", "natural") else ""
        what += f", D = {kind[1]}" if kind[1] else ""
        print(f"| {what} | {len(some)} | {mean(some, 'gap')} | {max(r['gap'] for r in some):.2f} "
              f"| {mean(some, 'rank', 1)} of {some[0]['maps']} | {in_best_tenth(some)} "
              f"| {mean(some, 'picked_test')} | {mean(some, 'test_gap')} "
              f"| {mean(some, 'refit_test')} | {mean(some, 'faster', 1)} |")


def main():
    args = argparse.ArgumentParser(description=__doc__,
                                   formatter_class=argparse.RawDescriptionHelpFormatter)
    args.add_argument("run", nargs="+", metavar="RUN.h5|TABLE.tsv")
    args.add_argument("-o", metavar="TABLE.tsv", help="TAB separated; default: the terminal")
    args = args.parse_args()
    old = [p for p in args.run if p.endswith(".tsv")]
    lines = [row for p in old for row in read(p)]
    lines += rows_of([p for p in args.run if p not in old])
    by_key = {tuple(str(r[k]) for k in KIND + ["seed"]): r for r in lines}
    rows = sorted(by_key.values(), key=lambda r: [
        r["data"], int(r["features"] or 0), r["scale"], r["tuner"], r["validation"],
        r["switch"], r["seed"]])
    if not rows:
        sys.exit("nothing to compare: give sweeps (run.tuner=random) and searches of the same maps")
    if args.o:
        with tables.replace(args.o, newline="") as out:
            write(rows, out)
    else:
        write(rows, sys.stdout)
        print()
    summarise(rows)


if __name__ == "__main__":
    main()
