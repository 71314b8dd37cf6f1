"""FedScale (PyPI): an aggregator and two executors, which talk by gRPC; its asynchronous aggregator for fedbuff."""
import csv
import importlib.machinery
import os
import pickle
import random
import sys
import time
from unittest import mock

import pair

RANK = pair.fork(3)  # before PyTorch

import torch  # noqa: E402
from common import (BATCH, CLIENTS, COHORT, COUNT, FIRST, LABELS, PART, RATE, ROUNDS, ROWS, SPEC,  # noqa: E402
                    mark, network, tell)

os.chdir(SPEC["tmp"])
AT = [(c, i) for c in range(CLIENTS) for i in range(FIRST[c], FIRST[c] + COUNT[c, 0])]
draw = random.Random(1)
if RANK == 0:
    with open("map.csv.new", "w") as f:
        csv.writer(f).writerows([("client", "sample", "name", "label")] + [(c, i, i, 0) for c, i in AT])
    with open("devices", "wb") as f:
        pickle.dump({c: {"computation": draw.lognormvariate(0, SPEC["sigma"]), "communication": 1e9}
                     for c in range(CLIENTS)}, f)
    os.rename("map.csv.new", "map.csv")
sys.argv = (f"x --engine pytorch --use_cuda False --this_rank {RANK} --ps_port {os.environ['MASTER_PORT']} "
            f"--num_executors 2 --executor_configs 127.0.0.1:[2] --num_participants {COHORT} --overcommitment 1 --rounds {ROUNDS + 1} "
            f"--local_steps {COUNT[0, 0] // BATCH} --batch_size {BATCH} --learning_rate {RATE} --decay_factor 1 "
            f"--eval_interval 1000000 --num_loaders 0 --filter_less 1 --data_map_file map.csv --log_path . "
            f"--max_concurrency {SPEC['concurrency']} --max_staleness {SPEC['max_staleness']} "
            + ("--device_conf_file devices" if PART == "fedbuff" else "")).split()
for name in ("", ".keras", ".keras.models", ".keras.layers", ".keras.losses"):
    name = "tensorflow" + name
    sys.modules[name] = mock.MagicMock(__spec__=importlib.machinery.ModuleSpec(name, None))  # of its other engine
from fedscale.cloud.aggregation import aggregator, async_aggregator  # noqa: E402
from fedscale.cloud.execution import executor, torch_client  # noqa: E402


class Rows:
    def __init__(self, at):
        self.at, self.targets = at, LABELS[at]

    def __len__(self):
        return len(self.at)

    def __getitem__(self, i):
        return torch.from_numpy(ROWS[self.at[i]].astype("f4")).reshape(3, 32, 32) / 255, int(self.targets[i])


def sgd(self, model, conf):  # its own has a weight decay
    return torch.optim.SGD(model.parameters(), lr=conf.learning_rate, momentum=SPEC["momentum"])


for module in (aggregator, async_aggregator, executor):
    module.init_model = network
executor.init_dataset = lambda: (Rows([i for _, i in AT]), Rows([i for _, i in AT[:2 * BATCH]]))
torch_client.TorchClient.get_optimizer = sgd
if RANK:
    time.sleep(3 * (RANK - 1))  # two that register at once would begin two rounds
    executor.Executor(executor.parser.args).run()
    sys.exit()
Server = async_aggregator.AsyncAggregator if PART == "fedbuff" else aggregator.Aggregator
ended = Server.round_completion_handler


def ends(self):
    if self.round:
        mark()
    ended(self)


Server.round_completion_handler = ends
server = Server(aggregator.parser.args)
server.run()
tell(server.model_wrapper.get_model())
