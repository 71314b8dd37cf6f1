#!/usr/bin/env python3
"""Makes measure.txt: scikit-learn's measures of the predictions of tests/t_measure.c (made),
without and with weights of rows. A line each: balanced error, macro F1, AUC (one against the rest)
of three classes, AUC of two, R2 of two targets. Two more lines: balanced error, F1, AUC and R2 where
scores tie, class 2 is predicted but not there, class 3 neither, and a target is constant. Run in the
top directory; needs scikit-learn."""
import numpy as np
from sklearn.metrics import balanced_accuracy_score, f1_score, r2_score, roc_auc_score

n = 97
i, k = np.arange(n)[:, None], np.arange(3)[None, :]
label = (i[:, 0] * i[:, 0] + i[:, 0] // 3) % 5 % 3
score = 1 + (i * 7 + k * 13) % 11 + 3 * (label[:, None] == k)
score = score / score.sum(axis=1, keepdims=True)
target = ((i * i + 5 * k) % 23 / 8)[:, :2]
said = target + ((i * 5 + 3 * k) % 7 / 9)[:, :2] - 0.3
two = (label > 0).astype(int)
weight = 1 + i[:, 0] % 4 / 2
here = label % 2
rare = np.where(np.arange(4) < 3, (i * 7 + np.arange(4) * 13) % 5 + 2 * (here[:, None] == np.arange(4)), -1)
level = np.hstack([target[:, :1], np.full((n, 1), 3.0)])
with open("tests/gold/measure.txt", "w") as out:
    for w in None, weight:
        print(*(f"{v:.15g}" for v in (
            1 - balanced_accuracy_score(label, score.argmax(axis=1), sample_weight=w),
            f1_score(label, score.argmax(axis=1), average="macro", sample_weight=w),
            np.mean([roc_auc_score(label == c, score[:, c], sample_weight=w) for c in range(3)]),
            roc_auc_score(two, score[:, 1], sample_weight=w),
            r2_score(target, said, sample_weight=w))), file=out)
    for w in None, weight:
        print(*(f"{v:.15g}" for v in (
            1 - balanced_accuracy_score(here, rare.argmax(axis=1), sample_weight=w),
            f1_score(here, rare.argmax(axis=1), average="macro", sample_weight=w),
            np.mean([roc_auc_score(here == c, rare[:, c], sample_weight=w) for c in (0, 1)]),
            r2_score(target[:, 0], said[:, 0], sample_weight=w))), file=out)
