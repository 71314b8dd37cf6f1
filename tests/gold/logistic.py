#!/usr/bin/env python3
"""Makes logistic.txt: objectives of liblinear, by way of scikit-learn, on the data of
tests/t_logistic.c (rows_new). One line a problem: loss (l1: logistic loss, L1 penalty), columns, classes, C,
sum of the objectives of all outputs. Run in the top directory; needs numpy, scipy, scikit-learn."""
import numpy as np
from scipy.sparse import csr_matrix
from sklearn.linear_model import LogisticRegression
from sklearn.svm import LinearSVC

n = 1500


def rows(d):
    at, value, first = [], [], [0]
    for i in range(n):
        k = 0 if i % 50 == 7 else 5 + i * 7 % 23
        t = np.arange(k)
        column = np.unique((i * i * 7 + t * t * 13 + 31 * i * t + 5 * t) % d)
        at += column.tolist()
        value += (((i * 3 + column * 5) % 17 + 1) / 8 * (4 if i % 5 == 2 else 1)).tolist()
        first.append(len(at))
    return csr_matrix((value, at, first), shape=(n, d))


def label(x, classes):
    i = np.arange(n)
    return ((i * i * 5 + i * 3 + i // 7) % 11 * (x.getnnz(axis=1) % 3 + 1) // 3) % 7 % classes


def objective(loss, c, x, y):
    if loss == "l1":
        fit = LogisticRegression(C=c, solver="liblinear", l1_ratio=1, tol=1e-6, max_iter=20000).fit(x, y > 0)
        lost = np.logaddexp(0, -y * (x @ fit.coef_[0] + fit.intercept_[0])).sum()
        return abs(fit.coef_).sum() + abs(fit.intercept_[0]) + c * lost
    if loss == "logistic":
        fit = LogisticRegression(C=c, solver="liblinear", tol=1e-10, max_iter=100000).fit(x, y > 0)
    else:
        fit = LinearSVC(C=c, loss="hinge" if loss == "hinge" else "squared_hinge", dual=True, tol=1e-9,
                        max_iter=10000000).fit(x, y > 0)
    m = y * (x @ fit.coef_[0] + fit.intercept_[0])
    short = np.maximum(1 - m, 0)
    lost = {"logistic": np.logaddexp(0, -m), "hinge": short, "squared": short ** 2}[loss].sum()
    return 0.5 * (fit.coef_ ** 2).sum() + 0.5 * fit.intercept_[0] ** 2 + c * lost


with open("tests/gold/logistic.txt", "w") as out:
    for loss, d, classes, c in (
            ("logistic", 400, 2, 1.0), ("logistic", 400, 2, 0.01), ("logistic", 6000, 2, 1.0), ("logistic", 6000, 4, 1.0),
            ("hinge", 400, 2, 0.01), ("hinge", 6000, 2, 1.0), ("hinge", 400, 3, 0.01),
            ("squared", 400, 2, 1.0), ("squared", 6000, 2, 1.0),
            ("l1", 400, 2, 1.0), ("l1", 400, 2, 0.01), ("l1", 400, 3, 1.0), ("l1", 6000, 2, 1.0),
            ("l1", 6000, 4, 1.0), ("l1", 6000, 2, 30.0)):
        x = rows(d)
        y = label(x, classes)
        ones = [1] if classes == 2 else range(classes)
        sum_of = sum(objective(loss, c, x, np.where(y == k, 1.0, -1.0)) for k in ones)
        print(loss, d, classes, c, f"{sum_of:.8f}", file=out)
