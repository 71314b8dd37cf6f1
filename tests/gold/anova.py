#!/usr/bin/env python3
"""Makes anova.txt, which tests/t_anova.c compares with: of Optuna's FanovaImportanceEvaluator the
shares of three numbers, alone and in pairs, in the variance of each of three functions on 120
points, mean and standard deviation over 8 forests; then of PedAnovaImportanceEvaluator the
divergences of a number, an integer, a choice, a number with few values in the good ones and a
number that only half of the points have. Run in the top directory; pip install optuna==5.0.0 scikit-learn."""
import itertools
import math
import warnings

import numpy as np
import optuna
from optuna.distributions import CategoricalDistribution, FloatDistribution, IntDistribution
from optuna.importance import PedAnovaImportanceEvaluator
from optuna.importance._fanova._fanova import _Fanova

warnings.simplefilter("ignore")
optuna.logging.set_verbosity(optuna.logging.ERROR)
N, FORESTS = 120, 8


def points(n, dim):
    return np.modf((np.arange(n)[:, None] + 1) * np.sqrt([2, 3, 5, 7, 11][:dim]))[0]


def shares(x, y):
    """[number or pair][forest]"""
    out = []
    for seed in range(FORESTS):
        f = _Fanova(n_trees=64, max_depth=64, min_samples_split=2, min_samples_leaf=1, seed=seed)
        f.fit(x, y, np.array([[0., 1.]] * 3), [np.array([i]) for i in range(3)])
        one = [f.get_importance(a)[0] for a in range(3)]
        two = []
        for a, b in itertools.combinations(range(3), 2):
            part = []
            for i, tree in enumerate(f._trees[:12]):
                both = tree.get_marginal_variance(np.array([a, b]))
                part.append(max(0, both - f._variances[a][i] - f._variances[b][i]) / tree.variance)
            two.append(np.mean(part))
        out.append(one + two)
    return np.array(out).T


with open("tests/gold/anova.txt", "w") as out:
    x = points(N, 3)
    for y in (3 * x[:, 0] + 2 * x[:, 1], x[:, 0] * x[:, 1], (x[:, 0] - .5) * (x[:, 2] > .3) + .2 * x[:, 1]):
        for row in shares(x, y):
            print("%.4f %.4f" % (row.mean(), row.std()), file=out)
    u = points(200, 5)
    good = (u[:, 0] - .3) ** 2 + .2 * (u[:, 1] - .8) ** 2 + .1 * (np.floor(4 * u[:, 2]) == 2) + .05 * u[:, 3]
    study = optuna.create_study()
    of = {"real": FloatDistribution(0, 1), "whole": IntDistribution(0, 9), "word": CategoricalDistribution("abcd"),
          "last": FloatDistribution(0, 1), "half": FloatDistribution(0, 1)}
    for row, loss in zip(u, good):
        values = {"real": row[0], "whole": int(10 * row[1]), "word": "abcd"[int(4 * row[2])], "last": row[3]}
        if row[4] < .5:
            values["half"] = 2 * row[4]
        study.add_trial(optuna.trial.create_trial(params=values, value=loss, distributions={k: of[k] for k in values}))
    top = math.ceil(.1 * len(good)) / len(good)
    found = PedAnovaImportanceEvaluator(target_quantile=.1).evaluate(study)
    for name in of:
        print("%.10g" % (found[name] / top ** 2), file=out)
