#!/usr/bin/env python3
"""The shares of axes in the variance of the losses of one run, by weft and by Optuna's
FanovaImportanceEvaluator on the same trials: mean and standard deviation over ten seeds of its forest.
Optuna's shares are over the values as they are: it gets the logarithms of logarithmic axes, as weft
takes them. The run must have no axis with a condition, and no failed trial, which Optuna leaves out.

usage: tests/gold/importance.py RUN.h5, with weft in $WEFT or build/opt/weft; pip install optuna==5.0.0 scikit-learn
The run of analysis/README.md:
    weft pack synthetic images rows=2000 -o outputs/rows.h5
    weft tune inputs/table-network.ini run.data=outputs/rows.h5 run.tuner=random run.sampler=space \\
        random.resource=4 space.configs=200 sgd.folds=0 sgd.score=loss "train.momentum=0 .. 0.99" -o outputs/axes.h5
"""
import csv
import math
import os
import subprocess
import sys
import warnings

import optuna
from optuna.distributions import CategoricalDistribution, FloatDistribution

warnings.simplefilter("ignore")
optuna.logging.set_verbosity(optuna.logging.ERROR)


def report(*arguments):
    out = subprocess.run([os.environ.get("WEFT", "build/opt/weft"), "report", sys.argv[1], *arguments, "--csv"],
                         check=True, capture_output=True, text=True).stdout
    return list(csv.DictReader(out.splitlines()))


def axis_of(values):
    """Distribution and scale of an axis, by the values at which weft tells its curve: words, a few numbers, each of
    which has an interval of one length, or 50 places at equal distances, or at equal distances of their logarithms."""
    try:
        x = [float(v) for v in values]
    except ValueError:
        return CategoricalDistribution(values), str
    if len(x) < 50:
        return FloatDistribution(0, len(x)), lambda v: values.index(v) + 0.5
    scale = float if math.isclose(x[1] - x[0], x[-1] - x[-2], rel_tol=1e-6) else lambda v: math.log(float(v))
    return FloatDistribution(scale(values[0]), scale(values[-1])), scale


table, trials = report("--importance"), report("--trials")
share = {row["axis"]: row for row in table if row["share"] and not row["with"]}
axes = {a: axis_of([row["value"] for row in table if row["axis"] == a and not row["share"]]) for a in share}
study = optuna.create_study()
for row in trials:
    study.add_trial(optuna.trial.create_trial(
        params={a: scale(row[a]) for a, (_, scale) in axes.items()}, value=float(row["loss"]),
        distributions={a: distribution for a, (distribution, _) in axes.items()}))
peer = [optuna.importance.FanovaImportanceEvaluator(seed=seed).evaluate(study) for seed in range(10)]
print(f"{'axis':24}{'weft':>7}{'from':>7}{'to':>7}{'Optuna':>9}{'sd':>7}")
for a, row in share.items():
    x = [p[a] for p in peer]
    mean = sum(x) / len(x)
    print(f"{a:24}" + "".join(f"{float(row[k]):7.3f}" for k in ("share", "low", "high"))
          + f"{mean:9.3f}{math.sqrt(sum((v - mean) ** 2 for v in x) / (len(x) - 1)):7.3f}")
