#!/usr/bin/env python3
"""Makes quantile.txt: what scikit-learn's QuantileTransformer makes of the rows of tests/t_ranks.c
(made): of 1500 and of 40 training rows, a line for each of 50 other rows. Run in the top directory;
needs scikit-learn."""
import numpy as np
from sklearn.preprocessing import QuantileTransformer


def rows(n, first):
    i = np.arange(first, first + n)
    return np.stack([(i * i * 7 + i * 3) % 997 / 8, i * 5 % 7, i % 50 // 49, np.full(n, 4.0)], axis=1)


with open("tests/gold/quantile.txt", "w") as out:
    for n in 1500, 40:
        fit = QuantileTransformer(n_quantiles=min(n, 1000), subsample=None).fit(rows(n, 0))
        other = rows(50, 5000) * 1.01 - 0.3
        other[::3] = rows(17, 90)
        for row in fit.transform(other):
            print(*(f"{x:.12g}" for x in row), file=out)
