#!/usr/bin/env python3
"""Random Fourier features with ridge regression (the plan of `weft tune --data`, without
folds and refit) beside scikit-learn's KernelRidge and RidgeCV: R2 on test rows and processor seconds,
over splits of a table.

    analysis/regression.py WEFT FILE.csv LABEL [key=value ...]     a table, with options of its packing
    analysis/regression.py WEFT friedman1 y                        scikit-learn's, 2,000 rows

The rows of each split are those that `weft pack` makes by its seed, as features that it makes.
KernelRidge is fitted for 100 pairs of gamma and alpha on the training rows, and the best on the
validation rows is taken, as weft's search takes its best of 32; RidgeCV has the training and the
validation rows. All are on one core."""
import os
import re
import subprocess
import sys
import tempfile
import time

for name in "OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS":
    os.environ[name] = "1"
import h5py
import numpy as np
from sklearn.datasets import make_friedman1
from sklearn.kernel_ridge import KernelRidge
from sklearn.linear_model import RidgeCV
from sklearn.metrics import r2_score
from sklearn.preprocessing import StandardScaler

import stats

SPLITS = 5


def run(*words):
    """What a command prints, and its processor seconds."""
    start = os.times()
    done = subprocess.run(words, capture_output=True, text=True)
    if done.returncode:
        sys.exit(done.stderr)
    end = os.times()
    return done.stdout, end.children_user + end.children_system - start.children_user - start.children_system


def friedman(path):
    x, y = make_friedman1(2000, noise=1, random_state=0)
    np.savetxt(path, np.column_stack([x, y]), delimiter=",", fmt="%.6f", comments="",
               header=",".join([f"x{i}" for i in range(x.shape[1])] + ["y"]))


def kernel_ridge(part):
    """R2 on the test rows of the pair that is best on the validation rows."""
    scaler = StandardScaler().fit(part["train"][0])
    x = {p: scaler.transform(rows) for p, (rows, _) in part.items()}
    y = {p: target for p, (_, target) in part.items()}
    mean = y["train"].mean()
    best = (-np.inf, None)
    for gamma in np.logspace(-3, 0, 10):
        for alpha in np.logspace(-4, 2, 10):
            model = KernelRidge(kernel="rbf", gamma=gamma, alpha=alpha).fit(x["train"], y["train"] - mean)
            best = max(best, (r2_score(y["valid"], mean + model.predict(x["valid"])), (gamma, alpha)))
    gamma, alpha = best[1]
    model = KernelRidge(kernel="rbf", gamma=gamma, alpha=alpha).fit(x["train"], y["train"] - mean)
    return r2_score(y["test"], mean + model.predict(x["test"]))


def ridge(part):
    x, y = (np.concatenate([part[p][k] for p in ("train", "valid")]) for k in (0, 1))
    scaler = StandardScaler().fit(x)
    model = RidgeCV(alphas=np.logspace(-4, 4, 33)).fit(scaler.transform(x), y)
    return r2_score(part["test"][1], model.predict(scaler.transform(part["test"][0])))


def main():
    if len(sys.argv) < 4:
        sys.exit(__doc__)
    weft, table, label, *options = sys.argv[1:]
    found = {name: ([], []) for name in ("weft", "KernelRidge", "RidgeCV")}
    with tempfile.TemporaryDirectory() as own:
        data, result = f"{own}/data.h5", f"{own}/run.h5"
        if table == "friedman1":
            table = f"{own}/friedman1.csv"
            friedman(table)
        for seed in range(SPLITS):
            run(weft, "pack", "dense", table, f"label={label}", "target=regression", "valid=0.2", "test=0.2", f"seed={seed}",
                *options, "-o", data, "--force")
            _, seconds = run(weft, "tune", "--data", data, f"run.seed={seed + 1}", "fmap.folds=0",
                             "run.refit=no", "-o", result, "--force")
            said, _ = run(weft, "eval", result, data)
            found["weft"][0].append(float(re.search(r"^test .* (\S+)$", said.split("RMSE")[1], re.M)[1]))
            found["weft"][1].append(seconds)
            with h5py.File(data) as f:
                part = {p: (f[p + "/x"][:].astype(float), f[p + "/target"][:, 0]) for p in ("train", "valid", "test")}
            for name, fit in ("KernelRidge", kernel_ridge), ("RidgeCV", ridge):
                start = time.process_time()
                found[name][0].append(fit(part))
                found[name][1].append(time.process_time() - start)
    rows, columns = part["train"][0].shape
    print(f"{sys.argv[2]}: {rows} training rows, {columns} features, {SPLITS} splits")
    for name, (r2, seconds) in found.items():
        print(f"{name:12} R2 {np.mean(r2):.3f} +- {stats.by_samples(r2).half:.3f}   {np.mean(seconds):.2f} s")
    less = np.subtract(found["weft"][0], found["KernelRidge"][0])
    print(f"weft less KernelRidge: {less.mean():.3f} +- {stats.by_samples(list(less)).half:.3f}")


main()
