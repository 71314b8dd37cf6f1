#!/usr/bin/env python3
"""FedAvg of a perceptron of 200 and 200 units by NumPy, on the clients of a file packed by weft.

usage: tests/gold/fedavg_numpy.py FILE.h5 torch|glorot SEED ...

50 rounds of 10 clients, 5 epochs in batches of 10, rate 0.1, clients weighted by their rows; prints the
share of wrong answers (%) on all test rows for each seed. Initial weights are uniform in 1 / sqrt(inputs)
as PyTorch's and weft's are (torch), or by Glorot and Bengio with biases 0 (glorot). The same by weft:
  weft pack idx DIR -o FILE.h5 valid=0.05 test=0.2 clients=100 partition=shards shards=2
  weft tune INPUT.ini run.task=fed run.tuner=random run.data=FILE.h5 fed.model=mlp mlp.hidden=200,200
      fed.score_weights=global client.lr=0.1 client.epochs=5 random.resource=50 run.seed=SEED
"""
import os
import sys

os.environ["OPENBLAS_NUM_THREADS"] = "1"

import h5py
import numpy as np

ROUNDS, COHORT, EPOCHS, BATCH, RATE = 50, 10, 5, 10, np.float32(0.1)
HIDDEN = 200, 200


def read(path):
    """Rows, labels, and by client the places of its training and test rows."""
    with h5py.File(path) as f:
        x, label = f["x"][:].astype(np.float32) / 255, f["label"][:]
        first, (train, valid, _) = f["client/first"][:], f["client/count"][:].T
    own = [np.arange(a, a + n) for a, n in zip(first, train)]
    test = [np.arange(a + n + m, b) for a, n, m, b in zip(first, train, valid, first[1:])]
    return x, label, own, np.concatenate(test)


def begin(sizes, how, rng):
    layers = []
    for a, b in zip(sizes, sizes[1:]):
        bound = 1 / np.sqrt(a) if how == "torch" else np.sqrt(6 / (a + b))
        bias = rng.uniform(-bound, bound, b) if how == "torch" else np.zeros(b)
        layers.append([rng.uniform(-bound, bound, (a, b)).astype(np.float32), bias.astype(np.float32)])
    return layers


def forward(layers, x):
    """The inputs of every layer, then the outputs."""
    h = [x]
    for i, (w, b) in enumerate(layers):
        z = h[-1] @ w + b
        h.append(np.maximum(z, 0) if i + 1 < len(layers) else z)
    return h


def step(layers, x, label):
    h = forward(layers, x)
    z = np.exp(h[-1] - h[-1].max(1, keepdims=True))
    z /= z.sum(1, keepdims=True)
    z[np.arange(len(label)), label] -= 1
    z /= len(label)
    for i in reversed(range(len(layers))):
        w, b = layers[i]
        gw, gb = h[i].T @ z, z.sum(0)
        if i > 0:
            z = (z @ w.T) * (h[i] > 0)
        w -= RATE * gw
        b -= RATE * gb


def local(layers, x, label, rows, rng):
    layers = [[w.copy(), b.copy()] for w, b in layers]
    for _ in range(EPOCHS):
        order = rng.permutation(rows)
        for at in range(0, len(order), BATCH):
            step(layers, x[order[at:at + BATCH]], label[order[at:at + BATCH]])
    return layers


def main():
    path, how, *seeds = sys.argv[1:]
    x, label, own, test = read(path)
    sizes = x.shape[1], *HIDDEN, int(label.max()) + 1
    for seed in seeds:
        rng = np.random.default_rng(int(seed))
        layers = begin(sizes, how, rng)
        for _ in range(ROUNDS):
            ids = rng.choice(len(own), COHORT, replace=False)
            new = [local(layers, x, label, own[c], rng) for c in ids]
            weight = np.array([len(own[c]) for c in ids], np.float32)
            weight /= weight.sum()
            layers = [[sum(a * n[i][j] for a, n in zip(weight, new)) for j in (0, 1)] for i in range(len(layers))]
        wrong = forward(layers, x[test])[-1].argmax(1) != label[test]
        print(seed, f"{100 * np.mean(wrong):.2f}", flush=True)


if __name__ == "__main__":
    main()
