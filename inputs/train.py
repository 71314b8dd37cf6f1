"""A program that inputs/serve.ini tunes: logistic regression by gradient descent, in plain Python.
It is started once and does trial after trial; yours may use any library."""
import math
import random
import weft


def samples(n, rng):
    """Points of two classes that a circle divides, by x, y, x^2, y^2 and 1."""
    points = [(rng.uniform(-1, 1), rng.uniform(-1, 1)) for _ in range(n)]
    return [((x, y, x * x, y * y, 1.0), 1 if x * x + y * y < 0.6 else -1) for x, y in points]


TRAIN, VALID = samples(200, random.Random(1)), samples(100, random.Random(2))


def score(w, data):
    """Mean loss, and the share of wrong answers."""
    margins = [label * sum(a * b for a, b in zip(w, x)) for x, label in data]
    return (sum(math.log1p(math.exp(-max(m, -500.0))) for m in margins) / len(data),
            sum(m <= 0 for m in margins) / len(data))


def train(trial):
    rate, momentum, decay = trial["rate"], trial["momentum"], trial["decay"]
    w, v = trial.state or ([0.0] * 5, [0.0] * 5)  # of a trial that was saved, or afresh
    for epoch in range(trial.done, 1000):  # weft stops it before
        random.shuffle(order := TRAIN[:])  # by the trial's own random numbers
        for x, label in order:
            share = -label / (1 + math.exp(min(500.0, label * sum(a * b for a, b in zip(w, x)))))
            v = [momentum * b - rate * (share * a + decay * c) for a, b, c in zip(x, v, w)]
            w = [a + b for a, b in zip(w, v)]
        loss, error = score(w, VALID)
        weft.report(loss, epoch + 1, state=(w, v), error=error, train_loss=score(w, TRAIN)[0])


weft.program(train)
