"""Softmax regression by NumPy on 20 clients: a model of your own, trained in weft's rounds by
inputs/worker.ini. Its samples are drawn here; yours are wherever you have them."""
import numpy as np
import weft

CLIENTS, SAMPLES, D, CLASSES = 20, 50, 8, 4
truth = np.random.default_rng(1).normal(size=(D, CLASSES))


def samples(client, part):
    """x and labels of a client, the first 40 of which are for training."""
    rng = np.random.default_rng((2, client))
    x = rng.normal(size=(SAMPLES, D)).astype(np.float32)
    y = (x @ truth + rng.gumbel(size=(SAMPLES, CLASSES))).argmax(1)
    return (x[:40], y[:40]) if part == "train" else (x[40:], y[40:])


def softmax(w, x):
    z = x @ w["weight"].T + w["bias"]
    e = np.exp(z - z.max(1, keepdims=True))
    return e / e.sum(1, keepdims=True)


def score(w, x, y):
    p = softmax(w, x)
    return -np.log(p[np.arange(len(y)), y] + 1e-30).mean(), (p.argmax(1) != y).sum(), len(y)


def turn(t):
    w = {name: array.copy() for name, array in t.weights.items()}
    before = score(w, *samples(t.client, t.part)) if t.before else None
    x, y = samples(t.client, "train")
    rng = np.random.default_rng(t.seed)
    for _ in range(t.options.epochs if t.train else 0):
        for batch in np.split(rng.permutation(len(y)), range(t.options.batch, len(y), t.options.batch)):
            gradient = (softmax(w, x[batch]) - np.eye(CLASSES)[y[batch]]) / len(batch)
            slope = {"weight": gradient.T @ x[batch], "bias": gradient.sum(0)}
            for name in t.tensors:
                w[name] -= t.options.lr * slope[name]
    after = score(w, *samples(t.client, t.part)) if t.after else None
    return t.answer(weights=w, steps=len(y) * t.options.epochs, before=before, after=after)


weft.serve(turn, weights={"weight": np.zeros((CLASSES, D)), "bias": np.zeros(CLASSES)},
           train=[40] * CLIENTS, valid=[10] * CLIENTS, classes=CLASSES, knows=["tensors"])
