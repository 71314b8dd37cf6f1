#!/usr/bin/env python3
"""Makes synthetic_leaf.tsv: the synthetic federation of LEAF (1000 clients, 5 classes, 60
dimensions, one cluster, seed 931231), from numpy's legacy RandomState. One line for every 20th
client, whose draws come after those of all before it: its samples, those of each class, its first
and its last number, as LEAF's program draws them; analysis/leaf_synthetic.py has the same.
Run in the top directory; needs numpy."""
import numpy as np

clients, classes, d, clusters, seed = 1000, 5, 60, 1, 931231
rng = np.random.RandomState(seed)
size = np.minimum(rng.lognormal(3, 2, clients).astype(int) + 5, 1000)
rng.seed(seed)
q = rng.normal(0, 1, (d + 1, classes, clusters))
sigma = np.diag([float(j) ** -1.2 for j in range(1, d + 1)])
means = [rng.normal(rng.normal(0, 1), 1, clusters) for _ in range(clusters)]
with open("tests/gold/synthetic_leaf.tsv", "w") as out:
    for client, n in enumerate(size):
        cluster = rng.choice(clusters, p=[1 / clusters] * clusters)
        v = rng.normal(rng.normal(0, 1), 1, d)
        x = rng.multivariate_normal(v, sigma, n)
        w = q @ rng.normal(means[cluster], 0.1, clusters)
        logit = np.hstack([np.ones((n, 1)), x]) @ w + rng.normal(0, 0.1, (n, classes))
        # as released: each class is normalised over the samples
        label = np.argmax(np.exp(logit) / np.exp(logit).sum(axis=0), axis=1)
        count = np.bincount(label, minlength=classes)
        if client % 20 == 19:
            print(n, *count, float(x[0, 0]), float(x[-1, -1]), sep="\t", file=out)
