#!/usr/bin/env python3
"""Rounds of the released FedEx (class FedEx of hyper.py, github.com/mkhodak/FedEx, commit
150fac0) on made-up scores: tests/gold/fedex.txt. Needs numpy, scipy.

    tests/gold/fedex.py DIRECTORY_OF_HYPER_PY >tests/gold/fedex.txt

A case is a line: schedule, 1 for differences, discount, eta (0: automatic), cut-off, rounds,
clients, blocks, sizes of the blocks. Then, for each round, a line a client: an entry of each
block, score before, score after, weight; and a line of log-probabilities."""
import sys
from types import ModuleType

import numpy as np

for name in ("torch", "tensorboardX"):  # hyper.py imports them for other classes
    module = ModuleType(name)
    module.optim = module.SummaryWriter = None
    sys.modules.setdefault(name, module)
sys.path.insert(0, sys.argv[1])
from hyper import FedEx

ROUNDS, CLIENTS = 6, 5
SCHEDULES = ("constant", "auto", "adaptive", "aggressive", "scale")


class Server:
    """Scores are noise; the entries that clients draw are written down."""

    def __init__(self, seed):
        self.noise = np.random.RandomState(seed)

    def communication_round(self, get_config):
        self.configs = [get_config() for _ in range(CLIENTS)]
        self.before, self.after = self.noise.uniform(size=(2, CLIENTS))
        self.weight = self.noise.randint(1, 100, CLIENTS)
        return self.before, self.after, self.weight


def play(seed, sched, sizes, diff, discount, eta):
    np.random.seed(seed)
    server = Server(seed)
    configs = {"%02d" % b: list(range(n)) for b, n in enumerate(sizes)}
    if len(sizes) == 1:
        configs = configs["00"]
    fedex = FedEx(server, configs, eta or "auto", sched, 0, discount, diff)
    print(sched, int(diff), discount, eta, ROUNDS, CLIENTS, len(sizes), *sizes)
    for _ in range(ROUNDS):
        fedex.step()
        for j, c in enumerate(server.configs):
            entries = [c[key] for key in sorted(c)] if len(sizes) > 1 else [c]
            print(*entries, *("%.17g" % x for x in (server.before[j], server.after[j],
                                                    server.weight[j] / server.weight.sum())))
        print(*("%.17g" % x for z in fedex._z for x in z))


for i, sched in enumerate(SCHEDULES):
    play(10 * i, sched, [4], False, 0.5, 0)
    play(10 * i + 1, sched, [7], True, 0, 0.3)
    play(10 * i + 2, sched, [3, 5, 2], False, 1, 0)
