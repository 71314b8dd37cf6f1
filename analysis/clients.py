#!/usr/bin/env python3
"""Scores client by client: which method serves whom?

usage: analysis/clients.py RUN.h5 ... -o PREFIX [--local RUN.h5 ...]

The runs are of task fed on the same clients. Methods are told apart by fed.algorithm, and clients by
their numbers; several seeds of a method are averaged client by client. Prints and writes PREFIX.csv
with a line a method: seeds, the mean error (%) by samples with half its 95 % interval over seeds, the
deciles of clients, the mean of the worst tenth, the standard deviation over clients and, where --local
names runs of clients that train alone, the share of clients that do worse by the method than alone.
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
    """Algorithm, {client: error %}, mean error % by samples."""
    run = runs.Run(path)
    if not run.clients:
        sys.exit(f"{path} has no scores of clients: it is no federation, or its winner was not scored")
    algorithm = run.ini.get("fed", "algorithm", fallback="fedavg")
    error = 100 * run.clients[run.scored]
    return algorithm, dict(zip(run.clients["number"], error)), np.average(error, weights=run.clients["count"])


def together(paths):
    """{algorithm: (clients' mean errors over seeds, means by samples of the seeds)}."""
    found = {}
    for path in paths:
        algorithm, error, mean = read(path)
        found.setdefault(algorithm, []).append((error, mean))
    result = {}
    for algorithm, seeds in found.items():
        shared = set.intersection(*(set(error) for error, _ in seeds))
        error = {c: np.mean([e[c] for e, _ in seeds]) for c in sorted(shared)}
        result[algorithm] = error, [mean for _, mean in seeds]
    return result


def row_of(algorithm, error, means, alone):
    x = np.sort(list(error.values()))
    tenth = -(-len(x) // 10)
    spread = stats.by_samples(means) if len(means) > 1 else None
    row = {"algorithm": algorithm, "seeds": len(means), "error": np.mean(means),
           "half": spread.half if spread else np.nan}
    row |= {f"decile {10 * k}": np.quantile(x, k / 10) for k in range(1, 10)}
    row |= {"worst tenth": x[-tenth:].mean(), "deviation": x.std()}
    if alone:
        row["worse than alone"] = 100 * np.mean([error[c] > alone[c] for c in error if c in alone])
    return row


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("runs", nargs="+")
    parser.add_argument("-o", dest="prefix", required=True)
    parser.add_argument("--local", nargs="+", default=[])
    args = parser.parse_args()
    found = together(args.runs)
    alone = next(iter(together(args.local).values()))[0] if args.local else None
    rows = [row_of(name, error, means, alone) for name, (error, means) in found.items()]
    rows.sort(key=lambda row: row["error"])
    with open(args.prefix + ".csv", "w", newline="", encoding="utf-8") as f:
        table = csv.DictWriter(f, rows[0])
        table.writeheader()
        table.writerows(rows)
    for row in rows:
        last = f", worse than alone {row['worse than alone']:.0f} %" if alone else ""
        print(f"{row['algorithm']:10s} {row['seeds']} seeds  error {row['error']:.2f} +- {row['half']:.2f} %, "
              f"median {row['decile 50']:.1f}, worst tenth {row['worst tenth']:.1f}{last}")
        error = np.sort(list(found[row["algorithm"]][0].values()))
        plt.plot(np.linspace(0, 100, len(error)), error, label=row["algorithm"])
    plt.title("Each line: the clients of one method, from best served to worst")
    plt.xlabel("clients (%)")
    plt.ylabel("test error (%)")
    plt.legend(fontsize=8)
    plt.savefig(args.prefix + ".png", dpi=120)


if __name__ == "__main__":
    main()
