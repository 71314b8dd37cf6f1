"""A search from Python: asha tunes a small logistic regression, trained here. In a notebook it is the
same, cell by cell. With an argument RUN.h5 the run is kept, and goes on after a kill.

usage: PYTHONPATH=python python3 inputs/notebook.py [RUN.h5]"""
import math
import os
import random
import sys

import weft

draw = random.Random(1)
rows = [[draw.gauss(0, 1) for _ in range(4)] for _ in range(150)]
labels = [draw.random() < 1 / (1 + math.exp(x[1] - 3 * x[0])) for x in rows]
kept = {}  # weights and speeds by trial and epochs


def loss(t):
    """Trains for t.resource epochs more, or for all of them where the weights are lost."""
    w, speed = kept.get((t.parent, t.done), ([0.0] * 4, [0.0] * 4))
    epochs = t.resource if (t.parent, t.done) in kept else t.total
    for _ in range(int(epochs)):
        for x, y in zip(rows[:100], labels):
            slope = 1 / (1 + math.exp(-max(-30, min(30, sum(map(float.__mul__, w, x)))))) - y
            speed = [t.values["momentum"] * v - t.values["rate"] * slope * z for v, z in zip(speed, x)]
            w = [a + v for a, v in zip(w, speed)]
    kept[t.trial, t.total] = w, speed
    margins = [(2 * y - 1) * sum(map(float.__mul__, w, x)) for x, y in zip(rows[100:], labels[100:])]
    return {"loss": sum(math.log1p(math.exp(-max(m, -30))) for m in margins) / 50,
            "error": sum(m <= 0 for m in margins) / 50}


run = sys.argv[1] if len(sys.argv) > 1 else None
space = {"rate": (1e-4, 1.0, "log"), "momentum": (0.0, 0.95)}
if run and os.path.exists(run[:-3] + ".d"):
    best = weft.minimize(loss, run)
else:
    best = weft.minimize(loss, space, tuner="asha", trials=20, output=run, settings={"asha.max_resource": 9})
print(f"loss {best.loss:.4f} after {best.total:g} epochs: {best.values}")
