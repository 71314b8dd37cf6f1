"""weft's samplers beside other programs on functions whose least value is known: how often weft's
median regret after 100 trials is the smaller one, and a table of all comparisons: medians, the share
of pairs of runs in which weft's is worse, and the two-sided Mann-Whitney p of it.
Use: python3 analysis/samplers.py [analysis/samplers.tsv] > analysis/samplers.md
     python3 analysis/samplers.py --curves TABLE: mean regrets of the winners of searches on learning
curves, milliseconds a trial, and what mobster has less than each, by seeds, with 95 % intervals
Lines of the file are printed by build/opt/tests/b_regret and tests/gold/samplers.py."""
import math
import os
import statistics
import sys
from collections import defaultdict

import stats

PAIRS = (("weft-tpe", "optuna"), ("weft-hyperopt", "hyperopt"), ("weft-kde", "bohb"), ("weft-forest", "smac"),
         ("weft-forest", "mipego"))
# Gaussian processes, of few seeds: no part of the level
BESIDE = (("weft-forest", "smac-gp"), ("weft-gp", "optuna-gp"), ("weft-gp", "smac-gp"), ("weft-gp", "hebo"),
          ("weft-gp", "botorch"))
INTRODUCTION = """# Samplers beside other programs

Written by `analysis/samplers.py` from [%s](%s); [README.md](README.md) says how the runs were made.
"""
LEVEL = 0.01  # of significance, over the number of comparisons
SOME = 8
CHANCE = 0.05  # of each comparison of Gaussian processes, however many there are


def mann_whitney(x, y):
    """p, and the share of pairs in which x is larger."""
    n, m = len(x), len(y)
    u = sum((a > b) + (a == b) / 2 for a in x for b in y)
    z = max(abs(u - n * m / 2) - 0.5, 0) / math.sqrt(n * m * (n + m + 1) / 12)
    return math.erfc(z / math.sqrt(2)), u / (n * m)


def could_tell(x, y):
    """Whether so many runs can differ by less than chance: if all of the one are below the other's."""
    return mann_whitney([0] * len(x), [1] * len(y))[0] < CHANCE


def comparisons(lines, pairs):
    """[(weft, other, workers, function, (regrets of weft, of the other), (ms a trial of both))]"""
    runs, functions = defaultdict(list), []
    for line in lines:
        name, _, function, workers, _, _, _, regret, ms = line.split()
        runs[name, function, int(workers)].append((float(regret), float(ms)))
        if function not in functions:
            functions.append(function)
    for own, other in pairs:
        for workers in sorted({key[2] for key in runs}):
            for function in functions:
                both = [runs.get((name, function, workers)) for name in (own, other)]
                if all(both):
                    regrets, ms = zip(*(zip(*r) for r in both))
                    yield own, other, workers, function, regrets, ms


def median_ms(ms):
    return f"{float(f'{statistics.median(ms):.2g}'):g}"


def row(found):
    own, other, workers, function, regrets, ms = found
    p, worse = mann_whitney(*regrets)
    medians = [statistics.median(r) for r in regrets]
    line = (f"| {own} | {other} | {workers} | {function} | {medians[0]:.3g} | {medians[1]:.3g} | {worse:.2f} "
            f"| {p:.2g} | {median_ms(ms[0])} | {median_ms(ms[1])} |")
    return medians[0] < medians[1], p, worse, line


def print_processes(found):
    summary, table, behind = defaultdict(list), [], set()
    for each in found:
        smaller, p, worse, line = row(each)
        summary[each[:2]].append((smaller, p < CHANCE, worse))
        if each[0] == "weft-gp" and p < CHANCE and worse > 0.5:
            behind.add(each[3])
        table.append(line.replace(f"| {each[3]} |", f"| {each[3]} ({len(each[4][0])}, {len(each[4][1])}) |"))
    print("\nGaussian processes, seeds of each in brackets. Worse: the share of pairs of runs in which weft's regret "
          f"is larger; its mean over functions with a 95 % interval of {SOME} functions or more:\n")
    print(f"| weft | other | functions | median smaller | worse | better, p < {CHANCE} | worse, p < {CHANCE} |")
    print("|---|---|---|---|---|---|---|")
    for (own, other), rows in summary.items():
        share, n = [r[2] for r in rows], len(rows)
        about = f" +- {2 * statistics.stdev(share) / math.sqrt(n):.2f}" if n >= SOME else ""
        print(f"| {own} | {other} | {n} | {sum(r[0] for r in rows)} | {statistics.mean(share):.2f}{about} "
              f"| {sum(r[1] and r[2] < 0.5 for r in rows)} | {sum(r[1] and r[2] > 0.5 for r in rows)} |")
    told = {each[3] for each in found if each[0] == "weft-gp" and could_tell(*each[4])}
    print(f"\nweft-gp is behind one of them, p < {CHANCE}, on {len(behind)} of the {len(told)} functions on which there "
          f"are seeds enough to tell{': ' + ', '.join(sorted(behind)) if behind else ''}.\n")
    print("| weft | other | workers | function | regret, weft | other | worse | p | ms a trial, weft | other |")
    print("|---|---|---|---|---|---|---|---|---|---|")
    print("\n".join(table))


def print_curves(path):
    runs, names, functions = defaultdict(dict), [], []
    with open(path, encoding="ascii") as lines:
        for line in lines:
            name, _, function, _, seed, _, _, regret, ms = line.split()
            runs[name, function][seed] = (float(regret), float(ms))
            names += [name] * (name not in names)
            functions += [function] * (function not in functions)
    print("| | " + " | ".join(functions) + " |")
    print("|---" * (len(functions) + 1) + "|")
    for name in names:
        cells = []
        for function in functions:
            own, best = runs[name, function], runs["asha-mobster", function]
            if not own:
                cells.append("-")
                continue
            cell = f"{stats.mean_of([r for r, _ in own.values()]):.3g} ({len(own)}; {median_ms([m for _, m in own.values()])} ms)"
            both = [own[s][0] - best[s][0] for s in own if s in best]
            if name != "asha-mobster" and len(both) > 1:
                less = stats.by_samples(both)
                cell += f", {less.mean:+.3g} +- {less.half:.2g}" + " *" * (abs(less.mean) > less.half)
            cells.append(cell)
        print(f"| {name} | " + " | ".join(cells) + " |")


def main():
    if sys.argv[1:2] == ["--curves"]:
        print_curves(sys.argv[2])
        return
    path = sys.argv[1] if len(sys.argv) > 1 else "analysis/samplers.tsv"
    with open(path, encoding="ascii") as lines:
        lines = list(lines)
    found = list(comparisons(lines, PAIRS))
    level = LEVEL / max(len(found), 1)
    table, summary = [], defaultdict(list)
    for each in found:
        smaller, p, worse, line = row(each)
        summary[each[:3]].append((smaller, p < level, worse, each[3]))
        table.append(line)
    print(INTRODUCTION % (2 * (os.path.basename(path),)))
    print("| weft | other | workers | functions | median smaller | significantly better | significantly worse | worst |")
    print("|---|---|---|---|---|---|---|---|")
    for (own, other, workers), rows in summary.items():
        worst = max(rows, key=lambda r: r[2])
        print(f"| {own} | {other} | {workers} | {len(rows)} | {sum(r[0] for r in rows)} "
              f"| {sum(r[1] and r[2] < 0.5 for r in rows)} | {sum(r[1] and r[2] > 0.5 for r in rows)} "
              f"| {worst[3]}, {worst[2]:.2f} |")
    print(f"\nSignificant: p below {LEVEL} / {max(len(found), 1)}.\n")
    print("| weft | other | workers | function | regret, weft | other | worse | p | ms a trial, weft | other |")
    print("|---|---|---|---|---|---|---|---|---|---|")
    print("\n".join(table))
    others = list(comparisons(lines, BESIDE))
    if others:
        print_processes(others)


if __name__ == "__main__":
    main()
