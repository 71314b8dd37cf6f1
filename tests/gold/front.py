#!/usr/bin/env python3
"""Makes front.txt: fronts, order and volume of the points of tests/t_front.c (made), by another way
than src/space/front.c: fronts by peeling off what nothing left dominates, the epsilon-net by a matrix
of distances, the volume by inclusion and exclusion over a grid of all coordinates. A line for each of
2, 3 and 4 objectives: the order of the points, then `|`, the first 6 that motpe takes, `|`, the volume.
Run in the top directory; needs NumPy."""
import itertools

import numpy as np

N = 24


def made(m):
    i, k = np.arange(N)[:, None], np.arange(m)[None, :]
    return ((i * i * 7 + i * (3 + 5 * k) + k) % 17) / 4.0 + (i + k) % 3


def excess():
    i = np.arange(N)
    return np.where(i % 7 == 3, (i % 4) / 2.0, np.where(i == 11, np.inf, 0.0))


def fronts(x):
    left, out = list(range(len(x))), []
    while left:
        own = x[left]
        beaten = [(np.all(own <= own[a], axis=1) & np.any(own < own[a], axis=1)).any() for a in range(len(left))]
        out.append([p for p, b in zip(left, beaten) if not b])
        left = [p for p, b in zip(left, beaten) if b]
    return out


def net(x):
    span = np.ptp(x, axis=0)
    by = (x[:, None] - x[None]) * (1 / np.where(span > 0, span, np.inf))  # equal distances stay equal
    d = (by * by).sum(axis=2)
    order = [int(np.argmin(x[:, 0]))]
    while len(order) < len(x):
        near = d[:, order].min(axis=1)
        near[order] = -1
        order.append(int(np.argmax(near)))
    return order


def volume(x, reference):
    x = x[np.all(x < reference, axis=1)]
    if not len(x):
        return 0.0
    cuts = [np.unique(np.append(x[:, k], reference[k])) for k in range(x.shape[1])]
    sides = [np.diff(c) for c in cuts]
    total = 0.0
    for corner in itertools.product(*(range(len(s)) for s in sides)):
        low = np.array([cuts[k][c] for k, c in enumerate(corner)])
        if (x <= low).all(axis=1).any():
            total += np.prod([sides[k][c] for k, c in enumerate(corner)])
    return total


with open("tests/gold/front.txt", "w") as out:
    for m in 2, 3, 4:
        x, e = made(m), excess()
        order, groups = [], []
        for level in np.unique(e):
            ids = np.flatnonzero(e == level)
            for f in fronts(x[ids]) if np.isfinite(level) else [list(range(len(ids)))]:
                groups.append(ids[f])
                order += list(ids[f][net(x[ids[f]])] if np.isfinite(level) else ids[f])
        finite = x[np.isfinite(e)]
        reference = finite.min(axis=0) + 1.1 * np.ptp(finite, axis=0)
        chosen = []
        for g in groups:
            if len(chosen) + len(g) <= 6:
                chosen += list(g)
                continue
            own = []
            while len(chosen) + len(own) < 6:
                gain = [volume(x[own + [p]], reference) if p not in own else -1 for p in g]
                own.append(g[int(np.argmax(np.round(gain, 9)))])
            chosen += own
            break
        print(*order, "|", *chosen, "|", f"{volume(x[e == 0], np.full(m, 6.0)):.15g}", file=out)
