#!/usr/bin/env python3
"""What a step of a network costs on one rank, on two, and with PyTorch: the table of jobs/steps.sh,
with 95 % intervals over its turns.
Use: python3 analysis/steps.py [analysis/steps.tsv]
A line of the file: network, ranks or "torch", turn, samples of a step, milliseconds of a step."""
import sys
from collections import defaultdict

import stats


def interval(values):
    if len(values) < 2:
        return f"{values[0]:.3g}"
    found = stats.by_samples(values)
    return f"{found.mean:.3g} +- {found.half:.2g}"


def main():
    ms, size = defaultdict(dict), {}
    with open(sys.argv[1] if len(sys.argv) > 1 else "analysis/steps.tsv", encoding="ascii") as lines:
        for line in lines:
            network, ranks, turn, samples, each = line.split()
            ms[network, ranks][turn] = float(each)
            size[network] = float(samples)
    print("| network | on | a step, ms | samples/s | of one rank's time, by turn | mean |")
    print("|---|---|---|---|---|---|")
    for (network, ranks), turns in ms.items():
        one = ms[network, "1"]
        ratios = [one[turn] / each for turn, each in turns.items() if turn in one and ranks != "1"]
        on = {"torch": "PyTorch, one core", "1": "one rank"}.get(ranks, f"{ranks} ranks")
        each = list(turns.values())
        print(f"| {network} | {on} | {interval(each)} | {1e3 * size[network] * len(each) / sum(each):.0f} "
              f"| {', '.join(f'{r:.2f}' for r in ratios)} | {interval(ratios) if ratios else ''} |")


if __name__ == "__main__":
    main()
