"""A worker that does the arithmetic of weft's linear model: usage linear.py PACKED.h5 [WORD ...]

The words, of tensors, anchor and drift, are those that it knows."""
import sys

import h5py
import numpy as np
import weft

data = h5py.File(sys.argv[1])
first, count = data["client/first"][:], data["client/count"][:].astype(np.int64)
x, y = data["x"][:], data["label"][:].astype(int)
classes = int(y.max()) + 1


def part(t, name):
    p = weft.PARTS.index(name)
    at = first[t.client] + count[t.client, :p].sum()
    return x[at:at + count[t.client, p]], y[at:at + count[t.client, p]]


def softmax(w, x):
    z = x @ w["fc1.weight"].T + w["fc1.bias"]
    e = np.exp(z - z.max(1, keepdims=True))
    return e / e.sum(1, keepdims=True)


def score(t, w):
    x, y = part(t, t.part)
    at = t.spread(len(y))
    p = softmax(w, x[at])
    return -np.log(p[np.arange(len(at)), y[at]]).mean(), (p.argmax(1) != y[at]).sum(), len(at)


def turn(t):
    w = {k: v.copy() for k, v in t.weights.items()}
    lr, mu = np.float32(t.options.lr), np.float32(t.options.mu)
    before = score(t, w) if t.before else None
    x, y = part(t, "train")
    lost = []
    for epoch in range(t.options.epochs if t.train else 0):
        for at in t.batches(epoch):
            g = softmax(w, x[at])
            lost += list(-np.log(g[np.arange(len(at)), y[at]]))
            g[np.arange(len(at)), y[at]] -= 1
            g /= np.float32(len(at))
            slope = {"fc1.weight": g.T @ x[at], "fc1.bias": g.sum(0)}
            for k in t.tensors:
                more = t.drift[k] if t.drift else 0
                w[k] -= lr * (slope[k] + more + mu * (w[k] - t.anchor[k]))
    return t.answer(weights=w, steps=t.samples * t.options.epochs, before=before,
                    train_loss=np.mean(lost) if lost else None, after=score(t, w) if t.after else None)


weft.serve(turn, weights={"fc1.weight": np.zeros((classes, x.shape[1])), "fc1.bias": np.zeros(classes)},
           train=count[:, 0], valid=count[:, 1], test=count[:, 2], classes=classes, orders=True,
           knows=sys.argv[2:])
