"""Table of weft's samplers beside other programs on functions whose least value is known:
medians of the regret after 100 trials, how often weft's run is the worse one of a pair, and
the two-sided Mann-Whitney p of it. Use: python3 analysis/samplers.py [analysis/samplers.tsv]
Lines of the file are printed by build/opt/tests/b_regret and tests/gold/samplers.py; the time
of a proposal is nan where it was not measured as processor time."""
import math
import statistics
import sys
from collections import defaultdict

PAIRS = (("weft-tpe", "optuna"), ("weft-hyperopt", "hyperopt"), ("weft-kde", "bohb"), ("weft-forest", "smac"))


def mann_whitney(x, y):
    """p, and the share of pairs in which x is larger."""
    n, m = len(x), len(y)
    u = sum((a > b) + (a == b) / 2 for a in x for b in y)
    z = max(abs(u - n * m / 2) - 0.5, 0) / math.sqrt(n * m * (n + m + 1) / 12)
    return math.erfc(z / math.sqrt(2)), u / (n * m)


def main():
    regret, ms = defaultdict(list), defaultdict(list)
    functions = []
    for line in open(sys.argv[1] if len(sys.argv) > 1 else "analysis/samplers.tsv"):
        name, _, function, workers, _, _, _, last, each = line.split()
        regret[name, function, workers].append(float(last))
        ms[name, function, workers].append(float(each))
        if (function, workers) not in functions:
            functions.append((function, workers))
    print("| function | workers | weft | other | regret, weft | regret, other | worse | p | ms a trial, weft | ms a trial, other |")
    print("|---|---|---|---|---|---|---|---|---|---|")
    for own, other in PAIRS:
        for f in functions:
            x, y = regret[(own, *f)], regret[(other, *f)]
            if not x or not y:
                continue
            p, worse = mann_whitney(x, y)
            known = [v for v in ms[(other, *f)] if v == v]
            print("| %s | %s | %s | %s | %.3g | %.3g | %.2f | %.2g | %.2f | %s |" % (
                *f, own, other, statistics.median(x), statistics.median(y), worse, p,
                statistics.median(ms[(own, *f)]), "%.0f" % statistics.median(known) if known else "-"))


if __name__ == "__main__":
    main()
