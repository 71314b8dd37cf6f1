#!/usr/bin/env python3
"""Scores client by client: which method serves whom?

usage: analysis/clients.py RUN.h5 ... -o PREFIX [--local RUN.h5 ...] [--than METHOD]

The runs are of task fed on the same clients. Methods are told apart by fed.algorithm, by whether the
server's weights were scored (`, server`) and whether they were begun with (`, after`), and clients by
their numbers; several seeds of a method are averaged client by client. Prints and writes PREFIX.csv
with a line a method: seeds, the mean error (%) by samples with half its 95 % interval over seeds, the
deciles of clients, the mean of the worst tenth, the standard deviation over clients, the mean over
seeds of each seed's worst tenth, and, where --local names runs of clients that train alone, the share
of clients that do worse by the method than alone; with --than mean and worst tenth less those of
METHOD, paired by seed.
PREFIX.png: the sorted errors of clients, a line a method.
"""

import argparse
import csv
import sys

import numpy as np
from matplotlib import pyplot as plt

import runs
import stats


def read(path):
    """Method, seed, {client: error %}, mean error % by samples."""
    run = runs.Run(path)
    if not run.clients:
        sys.exit(f"{path} has no scores of clients: it is no federation, or its winner was not scored")
    method = run.ini.get("fed", "algorithm", fallback="fedavg")
    if run.ini.get("fed", "score_weights", fallback="personal") == "global":
        method += ", server"
    if run.ini.get("run", "start", fallback=""):
        method += ", after"
    error = 100 * run.clients[run.scored]
    mean = np.average(error, weights=run.clients["count"])
    return method, run.seed, dict(zip(run.clients["number"], error)), mean


def worst_tenth(error):
    x = np.sort(list(error))
    return x[-(-(-len(x) // 10)):].mean()


def together(paths):
    """{method: (clients' mean errors over seeds, {seed: (mean by samples, worst tenth)})}."""
    found = {}
    for path in paths:
        method, seed, error, mean = read(path)
        found.setdefault(method, []).append((error, seed, mean))
    result = {}
    for method, seeds in found.items():
        shared = set.intersection(*(set(error) for error, _, _ in seeds))
        error = {c: np.mean([e[c] for e, _, _ in seeds]) for c in sorted(shared)}
        result[method] = error, {seed: (mean, worst_tenth(e.values())) for e, seed, mean in seeds}
    return result


def interval(x):
    """Mean and half of its 95 % interval over seeds."""
    x = list(x)
    return np.mean(x), stats.by_samples(x).half if len(x) > 1 else np.nan


def row_of(method, found, alone, than):
    error, seeds = found[method]
    x = np.sort(list(error.values()))
    mean, half = interval(m for m, _ in seeds.values())
    row = {"method": method, "seeds": len(seeds), "error": mean, "half": half}
    row |= {f"decile {10 * k}": np.quantile(x, k / 10) for k in range(1, 10)}
    row |= {"worst tenth": worst_tenth(x), "deviation": x.std()}
    row["worst by seed"], row["its half"] = interval(w for _, w in seeds.values())
    if alone:
        row["worse than alone"] = 100 * np.mean([error[c] > alone[c] for c in error if c in alone])
    if than:
        both = sorted(set(seeds) & set(found[than][1]))
        for i, name in enumerate(("less", "worst less")):
            less = interval([seeds[s][i] - found[than][1][s][i] for s in both] or [np.nan])
            row[name], row[f"{name}, half"] = less
    return row


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("runs", nargs="+")
    parser.add_argument("-o", dest="prefix", required=True)
    parser.add_argument("--local", nargs="+", default=[])
    parser.add_argument("--than")
    args = parser.parse_args()
    found = together(args.runs)
    if args.than and args.than not in found:
        sys.exit(f"--than {args.than}: no run of it; there are {', '.join(found)}")
    alone = next(iter(together(args.local).values()))[0] if args.local else None
    rows = [row_of(method, found, alone, args.than) for method in found]
    rows.sort(key=lambda row: row["error"])
    with open(args.prefix + ".csv", "w", newline="", encoding="utf-8") as f:
        table = csv.DictWriter(f, rows[0])
        table.writeheader()
        table.writerows(rows)
    for row in rows:
        last = f", worse than alone {row['worse than alone']:.0f} %" if alone else ""
        if args.than:
            last += (f"; less {args.than}'s {row['less']:+.2f} +- {row['less, half']:.2f}, "
                     f"worst {row['worst less']:+.2f} +- {row['worst less, half']:.2f}")
        print(f"{row['method']:14s} {row['seeds']} seeds  error {row['error']:.2f} +- {row['half']:.2f} %, "
              f"median {row['decile 50']:.1f}, worst tenth {row['worst by seed']:.1f} +- {row['its half']:.1f}{last}")
        error = np.sort(list(found[row["method"]][0].values()))
        plt.plot(np.linspace(0, 100, len(error)), error, label=row["method"])
    plt.title("Each line: the clients of one method, from best served to worst")
    plt.xlabel("clients (%)")
    plt.ylabel("test error (%)")
    plt.legend(fontsize=8)
    plt.savefig(args.prefix + ".png", dpi=120)


if __name__ == "__main__":
    main()
