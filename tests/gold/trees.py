"""Prints the mean squared errors that tests/t_forest.c compares with: of scikit-learn's random
forest on Friedman's first function with five numbers of use and five of none, 300 points to
learn from and 300 to be scored, mean and standard deviation over 20 seeds.
pip install scikit-learn. Use: python3 tests/gold/trees.py"""
import numpy as np
from sklearn.ensemble import RandomForestRegressor

primes = np.array([2, 3, 5, 7, 11, 13, 17, 19, 23, 29])
x = np.modf((np.arange(600)[:, None] + 1) * np.sqrt(primes))[0]
y = 10 * np.sin(np.pi * x[:, 0] * x[:, 1]) + 20 * (x[:, 2] - .5) ** 2 + 10 * x[:, 3] + 5 * x[:, 4]
errors, spreads = [], []
for seed in range(20):
    # its leaves count points, weft's draws
    f = RandomForestRegressor(110, max_features=9, min_samples_leaf=1, min_samples_split=3, random_state=seed)
    f.fit(x[:300], y[:300])
    each = np.array([t.predict(x[300:]) for t in f.estimators_])
    errors.append(((each.mean(0) - y[300:]) ** 2).mean())
    spreads.append(each.var(0, ddof=1).mean())
print("error %.4f +- %.4f" % (np.mean(errors), np.std(errors)))
print("variance of trees %.4f +- %.4f" % (np.mean(spreads), np.std(spreads)))
