"""FedAvg of softmax regression on clients of unequal size, as a Python user would write it:
the peer of weft's unequal clients in jobs/small.sh.

usage: python3 jobs/unequal.py FILE.h5 BATCH COHORT ROUNDS       (a packed federation; needs numpy, h5py)

Clients of a round are ordered by their number of steps and trained in groups of equal size, all
clients of a group in one product, batches padded with rows of weight 0. Every size of a group is
tried, 1 being a loop over clients; what each takes is printed. Rate 0.03, one epoch, plain mean,
one thread, no scores.
"""
import os
import sys
import time

os.environ["OPENBLAS_NUM_THREADS"] = "1"
import h5py
import numpy as np

RATE = np.float32(0.03)
path, batch, cohort, rounds = sys.argv[1], *map(int, sys.argv[2:5])
with h5py.File(path) as f:
    x, label = f["x"][:], f["label"][:]
    first, count = f["client/first"][:-1], f["client/count"][:, 0]
d, classes = x.shape[1], int(label.max()) + 1
one_hot = np.eye(classes, dtype=np.float32)


def change(ids, orders, w0, b0):
    """The sum of the changes of clients that are trained together."""
    w, b = np.repeat(w0[None], len(ids), 0), np.repeat(b0[None, None], len(ids), 0)
    longest = max(len(o) for o in orders)
    for at in range(0, longest, batch):
        rows = np.zeros((len(ids), min(batch, longest - at)), np.int64)
        weight = np.zeros(rows.shape, np.float32)
        for i, o in enumerate(orders):
            part = o[at:at + batch]
            rows[i, :len(part)] = part
            weight[i, :len(part)] = RATE / max(len(part), 1)
        xb = x[rows]
        z = xb @ w + b
        z -= z.max(-1, keepdims=True)
        np.exp(z, out=z)
        z /= z.sum(-1, keepdims=True)
        z -= one_hot[label[rows]]
        z *= weight[:, :, None]
        w -= np.swapaxes(xb, -1, -2) @ z
        b -= z.sum(-2, keepdims=True)
    return w.sum(0) - len(ids) * w0, b.sum(0)[0] - len(ids) * b0


def train(size):
    """Weights after all rounds, and seconds of a client."""
    rng = np.random.default_rng(1)
    w, b = np.zeros((d, classes), np.float32), np.zeros(classes, np.float32)
    begin = time.process_time()
    for _ in range(rounds):
        ids = rng.choice(len(count), cohort, replace=False)
        orders = [first[i] + rng.permutation(count[i]) for i in ids]
        by_steps = np.argsort([-len(o) for o in orders], kind="stable")
        dw, db = np.zeros_like(w), np.zeros_like(b)
        for at in range(0, cohort, size):
            group = by_steps[at:at + size]
            gw, gb = change(ids[group], [orders[i] for i in group], w, b)
            dw += gw
            db += gb
        w, b = w + dw / cohort, b + db / cohort
    return w, (time.process_time() - begin) / rounds / cohort


loop = None
for size in (1, 5, 10, 20, cohort):
    w, seconds = train(size)
    loop = w if loop is None else loop
    assert np.abs(w - loop).max() < 1e-4 * np.abs(loop).max(), "groups train other weights"
    print(f"numpy, unequal, {size} together: {1e6 * seconds:.2f} us a client", flush=True)
