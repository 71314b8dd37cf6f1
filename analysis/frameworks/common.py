"""What every program of the table has alike: the packed clients, the network, a client's epoch, marks of rounds, the
test error. An adapter is a script on_NAME.py; its settings are JSON in $SPEC, it writes what it measured to $TOLD.
"""
import json
import os
import time

import numpy as np
import torch

from processes import processors

SPEC = json.loads(os.environ["SPEC"])
PART, ROUNDS, COHORT, BATCH, RATE = (SPEC[k] for k in ("part", "rounds", "cohort", "batch", "rate"))
torch.set_num_threads(SPEC.get("threads", 1))
stamps, cores = [], []


# samples as bytes, not read before they are used; labels; first sample of a client, and how many of each part
ROWS, LABELS, FIRST, COUNT = (np.load(f"{SPEC['data']}/{name}.npy", mmap_mode="r")
                              for name in ("x", "y", "first", "count"))
CLIENTS = len(COUNT)


def samples(client, part=0):
    """Pixels of 0 to 1 and labels; part 0: train, 2: test."""
    at = FIRST[client] + COUNT[client, :part].sum()
    end = at + COUNT[client, part]
    x = torch.from_numpy(np.array(ROWS[at:end])).float() / 255
    return x.reshape(-1, 3, 32, 32), torch.from_numpy(np.array(LABELS[at:end]))


def network(seed=1):
    """Networks of weft: mlp.hidden = 100, or cnn.arch = cifar."""
    torch.manual_seed(seed)
    nn = torch.nn
    if SPEC["net"] == "mlp":
        return nn.Sequential(nn.Flatten(), nn.Linear(3072, 100), nn.ReLU(), nn.Linear(100, 10))
    return nn.Sequential(
        nn.Conv2d(3, 32, 3, padding=1), nn.ReLU(), nn.MaxPool2d(2),
        nn.Conv2d(32, 64, 3, padding=1), nn.ReLU(), nn.MaxPool2d(2),
        nn.Conv2d(64, 64, 3, padding=1), nn.ReLU(), nn.MaxPool2d(2),
        nn.Flatten(), nn.Linear(1024, 64), nn.ReLU(), nn.Linear(64, 10))


def train(model, client):
    """An epoch of SGD over a client's samples in random order."""
    x, y = samples(client)
    sgd = torch.optim.SGD(model.parameters(), lr=RATE, momentum=SPEC["momentum"])
    for at in torch.randperm(len(y)).split(BATCH):
        sgd.zero_grad()
        torch.nn.functional.cross_entropy(model(x[at]), y[at]).backward()
        sgd.step()
    return len(y)


def mark():
    """At the end of each round."""
    if len(stamps) == 1:
        cores.append(processors())
    stamps.append(time.perf_counter())
    if len(stamps) == ROUNDS:
        cores.append(processors())


@torch.no_grad()
def tell(model, **more):
    """Test error in % over all clients, and when rounds ended; more: epsilon."""
    used = (cores[-1] - cores[0]) / (ROUNDS - 2)
    more.update(seconds=np.diff(stamps).tolist(), used=used)
    if SPEC["test"]:
        wrong = 0
        for client in range(CLIENTS):
            x, y = samples(client, 2)
            wrong += int((model(x).argmax(1) != y).sum())
        more["error"] = 100 * wrong / float(COUNT[:, 2].sum())
    with open(os.environ["TOLD"], "w") as f:
        json.dump(more, f)
