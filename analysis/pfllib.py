#!/usr/bin/env python3
"""The federation of inputs/personal-cifar.ini by PFLlib's servers and clients, on one core.

usage: analysis/pfllib.py PFLLIB DATA.h5 ALGORITHM SEED [ROUNDS [RATE [UNITS]]]        needs torch, h5py, numpy

PFLLIB is a checkout of github.com/TsingZ0/PFLlib, DATA.h5 labelled rows that `weft pack` divided among
clients, ALGORITHM fedavg, ditto, fedrep or scaffold. The same clients, a perceptron (of 100 units), 20
clients a round, batches of 20, rate 0.01, Ditto's pull 1, one pass of own models or layers and one of the
others; 100 rounds. Clients' samples stay in memory, which PFLlib reads from files in every round, and its AUC, of
scikit-learn, is left out. Prints the test accuracy (%) before the first and after the last round, of own
models where the algorithm has them, and the processor seconds of all rounds without evaluations.
"""

import argparse
import sys
import time
import types

import h5py
import numpy as np
import torch


def stand_in():
    """What PFLlib imports for its AUC and pictures."""
    for name, has in (("sklearn", {}), ("sklearn.metrics", {"roc_auc_score": lambda *a, **k: 0.0}),
                      ("sklearn.preprocessing", {"label_binarize": lambda y, classes: y[:, None]}),
                      ("matplotlib", {}), ("matplotlib.pyplot", {})):
        module = sys.modules[name] = types.ModuleType(name)
        module.__dict__.update(has)
        parent, _, child = name.rpartition(".")
        if parent:
            setattr(sys.modules[parent], child, module)


def read(path):
    """[client][part]: rows and labels; parts are train, valid, test."""
    with h5py.File(path) as f:
        x, label = f["x"][:], f["label"][:]
        first, count = f["client/first"][:], f["client/count"][:]
    clients = []
    for c in range(len(count)):
        parts, at = [], first[c]
        for n in count[c]:
            rows = torch.from_numpy(x[at:at + n]).float() / (255 if x.dtype == np.uint8 else 1)
            parts.append(list(zip(rows, torch.from_numpy(label[at:at + n]).long())))
            at += n
        clients.append(parts)
    return clients


class Perceptron(torch.nn.Module):
    """PFLlib's DNN: its last layer is `fc`."""

    def __init__(self, inputs, units, classes):
        super().__init__()
        self.fc1 = torch.nn.Linear(inputs, units)
        self.fc = torch.nn.Linear(units, classes)

    def forward(self, x):
        return self.fc(torch.relu(self.fc1(x)))


class Split(torch.nn.Module):
    def __init__(self, base, head):
        super().__init__()
        self.base, self.head = base, head

    def forward(self, x):
        return self.head(self.base(x))


def settings(model, clients, rounds, rate):
    return argparse.Namespace(
        model=model, device="cpu", dataset="packed", num_classes=10, global_rounds=rounds - 1, local_epochs=1,
        batch_size=20, local_learning_rate=rate, num_clients=len(clients), join_ratio=20 / len(clients),
        random_join_ratio=False, few_shot=0, algorithm="it", time_select=False, goal="test",
        time_threthold=1e9, save_folder_name="items", top_cnt=100, auto_break=False, eval_gap=10**9,
        client_drop_rate=0, train_slow_rate=0, send_slow_rate=0, dlg_eval=False, dlg_gap=1,
        batch_num_per_client=1, num_new_clients=0, fine_tuning_epoch_new=0, learning_rate_decay=False,
        learning_rate_decay_gamma=1, mu=1.0, plocal_epochs=1, server_learning_rate=1.0)


def main():
    if not 5 <= len(sys.argv) <= 8:
        sys.exit(__doc__)
    torch.set_num_threads(1)
    stand_in()
    sys.path.insert(0, f"{sys.argv[1]}/system")
    name, seed = sys.argv[3], int(sys.argv[4])
    given = sys.argv[5:] + ["100", "0.01", "100"][len(sys.argv) - 5:]
    rounds, rate, units = int(given[0]), float(given[1]), int(given[2])
    clients = read(sys.argv[2])
    from flcore.clients import clientbase
    from flcore.servers import serverbase
    from flcore.servers.serveravg import FedAvg
    from flcore.servers.serverditto import Ditto
    from flcore.servers.serverrep import FedRep
    from flcore.servers.serverscaffold import SCAFFOLD
    def data(dataset, c, is_train=True, few_shot=0):
        return clients[c][0 if is_train else 2]
    clientbase.read_client_data = serverbase.read_client_data = data
    np.random.seed(seed)
    torch.manual_seed(seed)
    net = Perceptron(len(clients[0][0][0][0]), units, 10)
    if name == "fedrep":
        base = torch.nn.Sequential(net.fc1, torch.nn.ReLU())
        net = Split(base, net.fc)
    kind = {"fedavg": FedAvg, "ditto": Ditto, "fedrep": FedRep, "scaffold": SCAFFOLD}[name]
    server = kind(settings(net, clients, rounds, rate), 0)
    torch.manual_seed(seed)  # a client sets it
    server.save_results = server.save_global_model = lambda: None
    spent = [0.0]

    def scores():
        """Accuracy, whose seconds do not count."""
        start = time.process_time()
        personal = name == "ditto"
        _, n, right, _ = server.test_metrics_personalized() if personal else server.test_metrics()
        spent[0] += time.process_time() - start
        return 100 * sum(right) / sum(n)

    def evaluate(*_):
        pass
    server.rs_test_acc = [0]
    server.evaluate = server.evaluate_personalized = evaluate
    server.send_models()
    before = scores()
    start = time.process_time()
    spent[0] = 0.0
    server.train()
    seconds = time.process_time() - start - spent[0]
    server.send_models()
    print(f"PFLlib {name} seed {seed}: {rounds} rounds, accuracy {before:.2f} -> {scores():.2f} %, {seconds:.2f} s of processor time")


if __name__ == "__main__":
    main()
