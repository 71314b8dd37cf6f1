#!/usr/bin/env python3
"""What one feature map takes with scikit-learn: features, fit, validation; seconds and accuracy.

usage: tests/gold/peers.py imdb aclImdb [BINS]
       tests/gold/peers.py cifar cifar10.h5 [cholesky|lsqr] [FEATURES] [SEED]

imdb: the official directory; 1- to 3-grams hashed into BINS (2^20) bins, binary, naive-Bayes weights
with alpha = 1, logistic regression with C = 1 by liblinear; validation on every other test review.
cifar: a file packed by weft; standardised pixels, FEATURES (10,000) cosines of a Gaussian kernel with
gamma = 5e-4, ridge regression with alpha = 1/2 on targets -1 and 1. OPENBLAS_NUM_THREADS sets the threads.
Needs python3-sklearn, python3-h5py.
"""
import os
import sys
import time
from pathlib import Path

for name in ("OPENBLAS_CORETYPE", "OPENBLAS_L2_SIZE"):  # the CPU as it is
    os.environ.pop(name, None)

import h5py
import numpy as np
from scipy import sparse
from sklearn.feature_extraction.text import HashingVectorizer
from sklearn.linear_model import LogisticRegression, Ridge

clock = [time.perf_counter()]


def lap():
    """Seconds since the last lap."""
    clock.append(time.perf_counter())
    return clock[-1] - clock[-2]


def reviews(root, part, step=1):
    text, label = [], []
    for positive, kind in enumerate(("neg", "pos")):
        for path in sorted(Path(root, part, kind).glob("*.txt"))[::step]:
            text.append(path.read_text(encoding="utf-8"))
            label.append(positive)
    return text, np.array(label)


def imdb(root, bins=1 << 20):
    (text, y), (other, truth) = reviews(root, "train"), reviews(root, "test", 2)
    lap()
    count = HashingVectorizer(ngram_range=(1, 3), n_features=int(bins), binary=True, norm=None,
                              alternate_sign=False)
    x = count.transform(text)
    mass = [1.0 + np.asarray(x[y == k].sum(0)).ravel() for k in (1, 0)]
    weigh = sparse.diags(np.log(mass[0] / mass[0].sum()) - np.log(mass[1] / mass[1].sum()))
    x = x @ weigh
    features = lap()
    model = LogisticRegression(C=1.0, solver="liblinear").fit(x, y)
    fit = lap()
    right = model.score(count.transform(other) @ weigh, truth)
    return features, fit, lap(), right


def cifar(path, solver="cholesky", width=10000, seed=0):
    with h5py.File(path) as file:
        (x, y), (v, truth) = ((file[p + "/x"][:].astype(np.float32) / 255, file[p + "/label"][:])
                              for p in ("train", "valid"))
    width, rng = int(width), np.random.default_rng(int(seed))
    mean, spread = x.mean(0), x.std(0)
    matrix = rng.standard_normal((x.shape[1], width), dtype=np.float32) * np.float32(np.sqrt(2 * 5e-4))
    offset = rng.uniform(0, 2 * np.pi, width).astype(np.float32)

    def cosines(rows):
        z = (rows - mean) / spread @ matrix
        z += offset
        np.cos(z, out=z)
        z *= np.float32(np.sqrt(2 / width))
        return z

    lap()
    f = cosines(x)
    features = lap()
    model = Ridge(alpha=0.5, solver=solver, copy_X=False)
    model.fit(f, 2 * np.eye(y.max() + 1, dtype=np.float32)[y] - 1)
    fit = lap()
    right = (model.predict(cosines(v)).argmax(1) == truth).mean()
    return features, fit, lap(), right


if __name__ == "__main__":
    if len(sys.argv) < 3 or sys.argv[1] not in ("imdb", "cifar"):
        sys.exit(__doc__)
    took = {"imdb": imdb, "cifar": cifar}[sys.argv[1]](*sys.argv[2:])
    print("features %.1f s, fit %.1f s, validation %.1f s, in all %.1f s, " % (*took[:3], sum(took[:3]))
          + "validation accuracy %.2f %%" % (100 * took[3]))
