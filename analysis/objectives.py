#!/usr/bin/env python3
"""Two objectives: the volume that 100 trials of weft, and of Optuna where it is installed, dominate on
two problems with known fronts. ZDT1 with 5 variables (Zitzler, Deb, Thiele 2000), volume up to (1.1, 5), at
most 5.1667; Branin-Currin up to (18, 6), at most 59.36 (Belakaria, Deshwal, Doppa 2019; botorch).
asha has the resource of 100 full trials, of 9 units each; with d units the second objective is
(1 + (9 - d) / 9) times what it is, and what counts are trials that had all nine.

    python3 analysis/objectives.py 20 >analysis/objectives.tsv      20 seeds; or `20 Optuna`: of these alone
"""
import math
import os
import sys
import time

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "python"))
import weft

TRIALS, FULL = 100, 9


def zdt1(x):
    g = 1 + 9 * sum(x[1:]) / (len(x) - 1)
    return x[0], g * (1 - math.sqrt(x[0] / g))


def branin_currin(x):
    u, v = 15 * x[0] - 5, 15 * x[1]
    branin = (v - 5.1 / (4 * math.pi ** 2) * u * u + 5 / math.pi * u - 6) ** 2 + 10 * (1 - 1 / (8 * math.pi)) * math.cos(u) + 10
    poly = (2300 * x[0] ** 3 + 1900 * x[0] ** 2 + 2092 * x[0] + 60) / (100 * x[0] ** 3 + 500 * x[0] ** 2 + 4 * x[0] + 20)
    return branin, (1 - math.exp(-0.5 / x[1]) if x[1] > 0 else 1) * poly


PROBLEMS = {"zdt1": (zdt1, 5, (1.1, 5.0), 1.1 * 5 - 1 / 3), "branin-currin": (branin_currin, 2, (18.0, 6.0), 59.36)}


def volume(points, reference):
    """Of what the points dominate, up to the reference."""
    total, low = 0.0, reference[1]
    for a, b in sorted(p for p in points if p[0] < reference[0] and p[1] < reference[1]):
        total += (reference[0] - a) * max(low - b, 0)
        low = min(low, b)
    return total


def by_weft(problem, dim, seed, **how):
    points = []

    def f(t):
        first, second = problem([t.values[f"x{i}"] for i in range(dim)])
        if t.total == FULL or how.get("tuner") != "asha":
            points.append((first, second))
        return first, second * (1 + (FULL - t.total) / FULL if how.get("tuner") == "asha" else 1)

    weft.minimize(f, {f"x{i}": (0.0, 1.0) for i in range(dim)}, seed=seed, objectives=["loss", "second"], **how)
    return points


def by_asha(problem, dim, seed, **how):
    return by_weft(problem, dim, seed, tuner="asha", settings={
        "run.workers": 1, "asha.trials": 0, "asha.budget": TRIALS * FULL, "asha.reduction": 3, "asha.max_resource": FULL}, **how)


def by_optuna(problem, dim, seed, sampler):
    import optuna
    optuna.logging.set_verbosity(optuna.logging.ERROR)
    study = optuna.create_study(directions=["minimize"] * 2, sampler=getattr(optuna.samplers, sampler)(seed=seed))
    study.optimize(lambda t: problem([t.suggest_float(f"x{i}", 0, 1) for i in range(dim)]), n_trials=TRIALS)
    return [tuple(t.values) for t in study.trials]


one = {"run.workers": 1}
METHODS = {
    "weft random": lambda *p: by_weft(*p, trials=TRIALS, settings=one),
    "weft tpe": lambda *p: by_weft(*p, trials=TRIALS, sampler="tpe", settings=one),
    "weft tpe, joint": lambda *p: by_weft(*p, trials=TRIALS, sampler="tpe", settings=one | {"tpe.form": "joint"}),
    "weft gp": lambda *p: by_weft(*p, trials=TRIALS, sampler="gp", settings=one),
    "weft asha": by_asha,
    "weft asha, tpe": lambda *p: by_asha(*p, sampler="tpe"),
    "Optuna TPESampler": lambda *p: by_optuna(*p, "TPESampler"),
    "Optuna GPSampler": lambda *p: by_optuna(*p, "GPSampler"),
    "Optuna NSGAIISampler": lambda *p: by_optuna(*p, "NSGAIISampler"),
}


def main():
    seeds = int(sys.argv[1])
    print("problem\tmethod\tseeds\tshare\t+-\tseconds")
    for name, (problem, dim, reference, most) in PROBLEMS.items():
        for method, points in METHODS.items():
            if len(sys.argv) > 2 and sys.argv[2] not in method:
                continue
            share, begun = [], time.perf_counter()
            try:
                for seed in range(1, seeds + 1):
                    share.append(volume(points(problem, dim, seed), reference) / most)
            except ImportError:
                continue
            mean = sum(share) / seeds
            half = 1.96 * math.sqrt(sum((s - mean) ** 2 for s in share) / max(seeds - 1, 1) / seeds)
            seconds = (time.perf_counter() - begun) / seeds
            print(f"{name}\t{method}\t{seeds}\t{mean:.4f}\t{half:.4f}\t{seconds:.2f}", flush=True)


if __name__ == "__main__":
    main()
