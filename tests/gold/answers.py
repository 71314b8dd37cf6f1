#!/usr/bin/env python3
"""Makes answers.txt: least squares with a penalty on the weights, none on the intercept, by the
normal equations, of the data of tests/t_answers.c (made): without and with weights of rows. One
line a target: weights, intercept. Then logistic regression by liblinear, with a penalty on the
intercept, too, of two classes with class_weight="balanced". Run in the top directory; needs
scikit-learn."""
import numpy as np
from sklearn.linear_model import LogisticRegression

n, d, targets, alpha = 300, 12, 3, 0.5
i, k = np.arange(n)[:, None], np.arange(d)[None, :]
x = ((i * i * (k + 3) + 17 * i * (k + 1) + 7 * k * k) % 1009 - 300) / 256
j = np.arange(targets)[None, :]
y = ((i * i * (j + 5) + 13 * i * (j + 2)) % 211 - 90) / 64 + x[:, :1] * (j + 1) - x[:, 1:2] / 2
i = np.arange(n)
weight = (i * i + i // 3) % 4
with open("tests/gold/answers.txt", "w") as out:
    for w in np.ones(n), weight / weight.mean():
        ones = np.hstack([x, np.ones((n, 1))])
        penalty = alpha * np.diag([1.0] * d + [0.0])
        fit = np.linalg.solve(ones.T @ (w[:, None] * ones) + penalty, ones.T @ (w[:, None] * y))
        for column in fit.T:
            print(*(f"{v:.10f}" for v in column), file=out)
    fit = LogisticRegression(C=0.3, solver="liblinear", class_weight="balanced", tol=1e-10, max_iter=100000)
    fit.fit(x, y[:, 0] > 2)
    print(*(f"{v:.10f}" for v in (*fit.coef_[0], fit.intercept_[0])), file=out)
