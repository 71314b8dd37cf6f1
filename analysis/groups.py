#!/usr/bin/env python3
"""Do embeddings of clients find hidden groups? Makes clients of four groups, each with a linear rule
of its own that no client tells, trains the contextual parameter generator, and compares the clusters
of the embeddings with the groups; FedAvg and local training for comparison.

usage: analysis/groups.py DIR [SEED ...]
       analysis/groups.py DIR --new [SEED ...]

Prints for each seed the adjusted Rand index (1: the same groups, 0: by chance; Hubert and Arabie,
Journal of Classification 1985) and test errors; writes DIR/groups.png of the first seed: the two
main components of the embeddings, coloured by group. With --new a quarter of the clients is kept out
of training, and then adapts in 1, 5 or 20 passes over few or many samples: the embedding alone by the
generator, all weights by FedAvg. Needs h5py, numpy, matplotlib; WEFT=PROGRAM.
"""

import json
import os
import subprocess
import sys

import h5py
import numpy as np
from matplotlib import pyplot as plt

GROUPS, CLIENTS, SAMPLES, NUMBERS, CLASSES = 4, 80, 60, 10, 4
WEFT = os.environ.get("WEFT", "build/opt/weft")
SETTINGS = ["[run]", "task = fed", "tuner = random", "test = yes", "[space]", "configs = 1", "[random]",
            "resource = 300", "[fed]", "model = linear", "cohort = 20", "[client]", "lr = 0.1", "batch = 10",
            "epochs = 2"]
OWN = {"cpg": ["cpg.generate=all", "cpg.size=4", "cpg.lr=1", "cpg.lr_embedding=1", "cpg.spread=1"],
       "fedavg": [], "local": []}


def make_clients(directory, seed, samples=SAMPLES):
    """LEAF's JSON; the group of each client."""
    rng = np.random.default_rng(seed)
    rules = rng.normal(size=(GROUPS, CLASSES, NUMBERS))
    groups = rng.permutation(np.arange(CLIENTS) % GROUPS)
    data = {}
    for client, group in enumerate(groups):
        x = rng.normal(size=(samples, NUMBERS))
        data[f"client{client:03d}"] = {"x": x.tolist(), "y": (x @ rules[group].T).argmax(1).tolist()}
    os.makedirs(directory, exist_ok=True)
    with open(f"{directory}/all.json", "w", encoding="utf-8") as f:
        json.dump({"users": list(data), "num_samples": [samples] * CLIENTS, "user_data": data}, f)
    return groups


def weft(*arguments):
    subprocess.run([WEFT, *arguments], check=True, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)


def clusters(x, k, rng, starts=20):
    """k-means by Lloyd, the best of several starts."""
    best = np.inf, None
    for _ in range(starts):
        centres = x[rng.choice(len(x), k, replace=False)]
        for _ in range(100):
            label = ((x[:, None] - centres) ** 2).sum(2).argmin(1)
            centres = np.array([x[label == j].mean(0) if (label == j).any() else x[rng.integers(len(x))]
                                for j in range(k)])
        spread = ((x - centres[label]) ** 2).sum()
        if spread < best[0]:
            best = spread, label
    return best[1]


def rand_index(a, b):
    """The adjusted Rand index of two divisions."""
    table = np.zeros((a.max() + 1, b.max() + 1))
    np.add.at(table, (a, b), 1)
    pairs = lambda n: (n * (n - 1) / 2).sum()
    both, rows, columns = pairs(table), pairs(table.sum(1)), pairs(table.sum(0))
    expected = rows * columns / pairs(np.array([len(a)]))
    return (both - expected) / ((rows + columns) / 2 - expected)


def draw(embedding, known, index, path):
    centred = embedding - embedding.mean(0)
    main = centred @ np.linalg.svd(centred, full_matrices=False)[2][:2].T
    for group in range(GROUPS):
        plt.scatter(*main[groups == group].T, label=f"group {group}", s=18)
    plt.title(f"Embeddings of {CLIENTS} clients, adjusted Rand index {index:.2f}")
    plt.xlabel("first main component")
    plt.ylabel("second")
    plt.legend()
    plt.savefig(path, dpi=120)
    plt.close()


def pack(place, seed, samples=SAMPLES):
    """Makes the clients; returns their groups."""
    groups = make_clients(f"{place}/json", seed, samples)
    with open(f"{place}/in.ini", "w", encoding="utf-8") as f:
        f.write("\n".join([*SETTINGS, ""]))
    weft("pack", "leaf", f"{place}/json", "test=0.2", "valid=0.2", "-o", f"{place}/clients.h5", "--force")
    return groups


def train(place, name, seed, *options):
    """The run file of an algorithm."""
    run = f"{place}/{name}.h5"
    weft("tune", f"{place}/in.ini", f"run.data={place}/clients.h5", f"run.seed={seed}", f"fed.algorithm={name}",
         *OWN[name], *options, "-o", run, "--force")
    return run


def unseen(directory, seeds):
    print("test error % of new clients: means over seeds, and their standard errors")
    print("samples passes  " + "  ".join(f"{name:>12s}" for name in ("cpg", "fedavg")))
    for samples in 20, 60, 200:
        for passes in 1, 5, 20:
            error = {"cpg": [], "fedavg": []}
            for seed in seeds:
                place = f"{directory}/{samples}-{seed}"
                if not os.path.exists(f"{place}/clients.h5"):
                    pack(place, seed, samples)
                for name, found in error.items():
                    with h5py.File(train(place, name, seed, "fed.new_clients=0.25",
                                         f"fed.new_epochs={passes}")) as f:
                        found.append(100 * f["winner"].attrs["test_adapted_error"])
            cells = (f"{np.mean(x):5.1f} +- {np.std(x, ddof=1) / len(x) ** 0.5:3.1f}" for x in error.values())
            print(f"{samples:7d} {passes:6d}  " + "  ".join(cells))


def main(directory, seeds):
    print("seed  index  test error %: " + "  ".join(OWN))
    for seed in seeds:
        place = f"{directory}/{seed}"
        groups = pack(place, seed)
        error = {}
        for name in OWN:
            with h5py.File(train(place, name, seed)) as f:
                error[name] = 100 * f["winner"].attrs["test_personal_error"]
                if name == "cpg":
                    embedding = f["winner/kept/row"][:, 1:]  # behind the number of turns
                    known = groups[f["winner/kept/client"][:]]
        index = rand_index(known, clusters(embedding, GROUPS, np.random.default_rng(seed)))
        print(f"{seed:4d}  {index:5.2f}  " + "  ".join(f"{error[name]:.1f}" for name in OWN))
        if seed == seeds[0]:
            draw(embedding, known, index, f"{directory}/groups.png")


if __name__ == "__main__":
    if len(sys.argv) < 2:
        sys.exit(__doc__)
    of_new = "--new" in sys.argv
    chosen = [int(s) for s in sys.argv[2:] if s != "--new"] or [1, 2, 3]
    (unseen if of_new else main)(sys.argv[1], chosen)
