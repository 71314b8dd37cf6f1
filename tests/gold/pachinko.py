#!/usr/bin/env python3
"""Makes pachinko.txt: pachinko allocation (Reddi et al., "Adaptive federated optimization", ICLR 2021, appendix F)
by NumPy's random numbers, of 100 classes in 20 groups of 5 with 400 rows each, to 500 clients of 80 rows, with alpha
0.1 over groups and beta 10 within one; one client after the other draws all of its rows; for tests/t_skew.c. A line
for each number, the mean over clients, with its mean and deviation over 20 seeds: groups a client, classes a client,
sum of squares of a client's shares of groups, and of classes; and the sum of squares of classes' shares within the
group of which a client has most. Needs numpy."""
import os

import numpy as np

GROUPS, EACH, ROWS, CLIENTS, DRAWS, ALPHA, BETA, SEEDS = 20, 5, 400, 500, 80, 0.1, 10, 20


def pick(rng, p):
    return int(np.searchsorted(np.cumsum(p) / p.sum(), rng.random(), side="right"))


def allocate(rng):
    root = rng.dirichlet([ALPHA] * GROUPS, CLIENTS)
    leaf = rng.dirichlet([BETA] * EACH, (CLIENTS, GROUPS))
    left = np.full((GROUPS, EACH), ROWS)
    count = np.zeros((CLIENTS, GROUPS, EACH), int)
    for client in np.repeat(np.arange(CLIENTS), DRAWS):
        p = root[client] * (left.sum(axis=1) > 0)
        if not p.sum() > 0:  # shares so small that they are 0 in doubles
            p = (left.sum(axis=1) > 0) * 1.0
        group = pick(rng, p)
        kind = pick(rng, leaf[client, group] * (left[group] > 0))
        left[group, kind] -= 1
        count[client, group, kind] += 1
    return count


def measure(count):
    groups = count.sum(axis=2)
    main = groups.argmax(axis=1)
    own = count[np.arange(CLIENTS), main]
    return [(groups > 0).sum(axis=1).mean(), (count > 0).sum(axis=(1, 2)).mean(),
            ((groups / DRAWS) ** 2).sum(axis=1).mean(), ((count / DRAWS) ** 2).sum(axis=(1, 2)).mean(),
            ((own / own.sum(axis=1, keepdims=True)) ** 2).sum(axis=1).mean()]


with open(os.path.join(os.path.dirname(os.path.abspath(__file__)), "pachinko.txt"), "w") as out:
    found = np.array([measure(allocate(np.random.default_rng(seed))) for seed in range(SEEDS)])
    for name, value in zip(("groups", "classes", "group_squares", "class_squares", "within_squares"), found.T):
        print(name, f"{value.mean():.6g} {value.std(ddof=1):.6g}", file=out)
