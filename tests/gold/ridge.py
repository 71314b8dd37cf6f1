#!/usr/bin/env python3
"""Makes ridge.txt: scikit-learn's Ridge on the data of tests/t_ridge.c (problem_new).
One line a class: weights, intercept. Run in the top directory; needs numpy, scikit-learn."""
import numpy as np
from sklearn.linear_model import Ridge

n, d, classes = 1000, 20, 4
i, k = np.arange(n)[:, None], np.arange(d)[None, :]
x = ((i * i * (k + 3) + 17 * i * (k + 1) + 7 * k * k) % 1009 - 300) / 256
i = np.arange(n)
label = (i * i * 5 + i * 3 + i // 7) % 11 % classes
target = np.where(label[:, None] == np.arange(classes), 1.0, -1.0)
fit = Ridge(alpha=0.5, solver="cholesky").fit(x, target)
with open("tests/gold/ridge.txt", "w") as out:
    for w, b in zip(fit.coef_, fit.intercept_):
        print(*(f"{v:.10f}" for v in (*w, b)), file=out)
