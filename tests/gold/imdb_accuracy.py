#!/usr/bin/env python3
"""scikit-learn's validation accuracy on the tokens and the split of a packed IMDB file.

usage: tests/gold/imdb_accuracy.py imdb.h5          needs python3-sklearn, python3-h5py

Order 1..3, lower case, punctuation removed, binary, naive Bayes (natural log over features seen,
alpha = 1), 2^20 bins by another hash than weft's, liblinear with C = 1. To be compared with

    weft tune inputs/imdb64.ini run.tuner=random space.configs=1 ngram.tokenizer=remove
        ngram.stop=no ngram.lower=yes ngram.order=3 ngram.binary=yes ngram.weights=nb
        ngram.alpha=1 ngram.normalize=none run.test=no
"""
import sys

import h5py
import numpy as np
from scipy import sparse
from sklearn.linear_model import LogisticRegression

BINS = 1 << 20


def rows(file, part):
    """Binary counts [documents][BINS] and labels of a part."""
    offset, word = file[part + "/remove/offset"][:], file["vocab/remove/lower"][:][file[part + "/remove/token"][:]]
    document, at = np.repeat(np.arange(len(offset) - 1), np.diff(offset)), np.arange(len(word))
    row, column = [], []
    for order in (1, 2, 3):
        mixed = np.zeros(len(word), np.uint64)
        for j in range(order):
            mixed = (mixed * np.uint64(0x9E3779B97F4A7C15)) ^ np.roll(word, -j)
            mixed = (mixed ^ (mixed >> np.uint64(29))) * np.uint64(0xBF58476D1CE4E5B9)
        whole = at + order <= offset[document + 1]
        row.append(document[whole])
        column.append(((mixed >> np.uint64(32)) % np.uint64(BINS)).astype(np.int64)[whole])
    row, column = np.concatenate(row), np.concatenate(column)
    x = sparse.csr_matrix((np.ones(len(row), np.float32), (row, column)), (len(offset) - 1, BINS))
    x.sum_duplicates()
    x.data[:] = 1
    return x, file[part + "/label"][:]


def main():
    with h5py.File(sys.argv[1]) as file:
        x, y = rows(file, "train")
        v, truth = rows(file, "valid")
    seen = np.asarray(x.sum(0)).ravel() > 0
    p, q = (1.0 + np.asarray(x[y == k].sum(0)).ravel()[seen] for k in (1, 0))
    ratio = np.zeros(BINS, np.float32)
    ratio[seen] = np.log((p / p.sum()) / (q / q.sum()))
    weigh = sparse.diags(ratio)
    fit = LogisticRegression(C=1.0, solver="liblinear").fit(x @ weigh, y)
    print(f"validation accuracy {100 * (fit.predict(v @ weigh) == truth).mean():.2f} %")


if __name__ == "__main__":
    main()
