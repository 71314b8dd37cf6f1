#!/usr/bin/env python3
"""Rounds of the same model on the same clients by weft and by others, in turn.

usage: frameworks.py CASE REPEATS [PROGRAM ...]      CASE: softmax, light or lstm; PROGRAM: bare, pfl, flower
       frameworks.py table PART NET F.h5 REPEATS OUT.tsv [PROGRAM ...]
           PART: fedavg, fedbuff or dp; NET: mlp or cnn; PROGRAM: weft, bare, pfl, flower, flute, fedscale
Needs torch, numpy, h5py, flwr[simulation] and pfl (PyPI) in the Python that runs it; weft in $WEFT or build/opt/weft.

The first is of weft's worker, a bare loop, pfl-research and Flower's simulation with one PyTorch model: seconds of a
round, processor seconds, and their ratios to weft's.
All programs have one process that trains, one thread each. A client scores the weights received on a
validation sample, trains one epoch, and its weights are averaged by numbers of samples. Seconds are those from
the end of the first round to that of the last, processor seconds those of all processes of the program; of
weft also the share of them that its worker spends on the model, in scores, steps and copies of weights.

The second is of weft's own network beside PyTorch's in five programs, on two cores, with images of CIFAR-10 that
`weft pack` divided (weft pack cifar cifar-10-batches-bin clients=500 partition=iid -o F.h5), and adds rows to OUT.tsv:
frameworks/table.py, and frameworks/on_NAME.py for each program. $FLUTE is a checkout of FLUTE, $FLUTE_PYTHON a Python
with what it needs, $FEDSCALE_PYTHON one with fedscale (PyPI) and tensorboard, both with torch.
"""
import ctypes
import os
import signal
import statistics
import subprocess
import sys
import tempfile
import time

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.append(os.path.join(HERE, "frameworks"))
from processes import processors  # noqa: E402

# clients, clients a round, training samples, batch, rounds; Flower does a twentieth of them, four at least
CASES = {"softmax": (1000, 10, 60, 10, 200),
         "light": (1000, 100, 3, 3, 60),
         "lstm": (100, 10, 20, 10, 24)}
PROGRAMS = ("bare", "pfl", "flower")
RATE, VALID = 0.03, 1
work = None


# ---- the model and its clients, in all programs ----

def setting(name):
    """Model, the function client -> (x, y), and the function that does the work of a client's turn."""
    import torch
    torch.set_num_threads(1)
    clients, cohort, train, batch, _ = CASES[name]
    torch.manual_seed(1)

    class CharLSTM(torch.nn.Module):
        def __init__(self):
            super().__init__()
            self.embed = torch.nn.Embedding(80, 8)
            self.lstm = torch.nn.LSTM(8, 64, num_layers=2, batch_first=True)
            self.dense = torch.nn.Linear(64, 80)

        def forward(self, x):
            return self.dense(self.lstm(self.embed(x))[0][:, -1])

    n = train + VALID
    if name == "lstm":
        model = CharLSTM()
        x, y = torch.randint(0, 80, (clients, n, 80)), torch.randint(0, 80, (clients, n))
    else:
        model = torch.nn.Linear(784 if name == "softmax" else 20, 10)
        x, y = torch.randn(clients, n, model.in_features), torch.randint(0, 10, (clients, n))
    loss_of = torch.nn.functional.cross_entropy

    def score(model, client):
        with torch.no_grad():
            z = model(x[client, train:])
            own = y[client, train:]
            return loss_of(z, own).item(), int((z.argmax(1) != own).sum()), VALID

    def train_on(model, client, order=None):
        sgd = torch.optim.SGD(model.parameters(), lr=RATE, foreach=False)
        order = torch.randperm(train) if order is None else torch.from_numpy(order)
        for i in range(0, train, batch):
            at = order[i:i + batch]
            sgd.zero_grad()
            loss_of(model(x[client][at]), y[client][at]).backward()
            sgd.step()

    return model, x, y, score, train_on


# ---- time ----

marks = []


def mark():
    """At the end of the first round, and of the last."""
    marks.append((time.perf_counter(), processors()))


def tell(rounds, work=0.0):
    (begun, had), (ended, has) = marks
    with open(os.environ["MEASURED_TO"], "w") as f:
        print((ended - begun) / rounds, (has - had) / rounds, work / (has - had), file=f)


# ---- a program each ----

def worker(name):
    import weft
    clients, _, train, _, rounds = CASES[name]
    model, _, _, score, train_on = setting(name)
    state = model.state_dict()  # shares the parameters' memory
    own = {k: p.numpy() for k, p in state.items()}

    work = 0.0

    def turn(t):
        nonlocal work
        if (t.round, len(marks)) in ((1, 0), (-1, 1)):
            mark()
            if len(marks) == 2:
                tell(rounds - 1, work)
            work = 0.0
        begun = time.process_time()
        for k, array in t.weights.items():
            own[k][...] = array
        before = score(model, t.client) if t.before else None
        if t.train:
            train_on(model, t.client, t.order(0))
        after = score(model, t.client) if t.after else None
        work += time.process_time() - begun
        return t.answer(weights=own, steps=train, before=before, after=after)

    weft.serve(turn, weights=own, train=[train] * clients, valid=[VALID] * clients, classes=80,
               orders=True)


def bare(name, rounds):
    import torch
    clients, cohort = CASES[name][:2]
    model, _, _, score, train_on = setting(name)
    server = {k: p.clone() for k, p in model.state_dict().items()}
    for r in range(rounds):
        total = {k: torch.zeros_like(p) for k, p in server.items()}
        for client in torch.randperm(clients)[:cohort].tolist():
            model.load_state_dict(server)
            score(model, client)
            train_on(model, client)
            for k, p in model.state_dict().items():
                total[k] += p / cohort
        server = total
        if r in (0, rounds - 1):
            mark()
    tell(rounds - 1)


def pfl(name, rounds):
    os.environ["PFL_PYTORCH_DEVICE"] = "cpu"
    import numpy as np
    import torch
    from pfl.aggregate.simulate import SimulatedBackend
    from pfl.algorithm.base import NNAlgorithmParams
    from pfl.algorithm.federated_averaging import FederatedAveraging
    from pfl.callback.base import TrainingProcessCallback
    from pfl.data.dataset import Dataset
    from pfl.data.federated_dataset import FederatedDataset
    from pfl.hyperparam import NNEvalHyperParams, NNTrainHyperParams
    from pfl.metrics import Metrics, Weighted
    from pfl.model.pytorch import PyTorchModel
    clients, cohort, train, batch, _ = CASES[name]
    net, x, y, score, _ = setting(name)

    def loss(self, x, y, eval=False):
        return torch.nn.functional.cross_entropy(self(x), y)

    def metrics(self, x, y, eval=False):
        return {"samples": Weighted(0.0, len(y))}

    type(net).loss, type(net).metrics = loss, metrics

    def client(c):
        c = int(c)
        score(net, c)  # of the weights received
        return Dataset((x[c, :train], y[c, :train]), user_id=str(c))

    class Ends(TrainingProcessCallback):
        def after_central_iteration(self, aggregate_metrics, model, *, central_iteration):
            if central_iteration in (1, rounds):
                mark()
            return False, Metrics()

    data = FederatedDataset(client, lambda: np.random.randint(clients))
    model = PyTorchModel(net, lambda p, lr: torch.optim.SGD(p, lr=lr, foreach=False),
                         torch.optim.SGD(net.parameters(), lr=1.0))
    algorithm = FederatedAveraging()
    algorithm._current_central_iteration = 1  # its first iteration would evaluate
    algorithm.run(NNAlgorithmParams(central_num_iterations=rounds + 1, evaluation_frequency=10**9,
                                    train_cohort_size=cohort, val_cohort_size=0),
                  SimulatedBackend(data, data), model,
                  NNTrainHyperParams(local_num_epochs=1, local_learning_rate=RATE, local_batch_size=batch),
                  NNEvalHyperParams(local_batch_size=None), callbacks=[Ends()], send_metrics_to_platform=False)
    tell(rounds - 1)


def flower(name, rounds):
    os.environ["FLWR_TELEMETRY_ENABLED"] = "0"
    os.environ["RAY_USAGE_STATS_ENABLED"] = "0"
    from flwr.app import ArrayRecord, Message, MetricRecord, RecordDict
    from flwr.clientapp import ClientApp
    from flwr.serverapp import ServerApp
    from flwr.serverapp.strategy import FedAvg
    from flwr.simulation import run_simulation
    clients, cohort, train = CASES[name][:3]
    client_app, server_app = ClientApp(), ServerApp()

    @client_app.train()
    def train_client(message, context):
        sys.path.insert(0, HERE)
        import frameworks
        if not frameworks.work:  # once in the process that trains; this function is sent with each message
            frameworks.work = frameworks.setting(name)
        sys.path.pop(0)
        model, _, _, score, train_on = frameworks.work
        client = context.node_config["partition-id"]
        model.load_state_dict(message.content["arrays"].to_torch_state_dict())
        loss, _, _ = score(model, client)
        train_on(model, client)
        return Message(content=RecordDict({"arrays": ArrayRecord(model.state_dict()),
                                           "metrics": MetricRecord({"num-examples": train, "loss": loss})}),
                       reply_to=message)

    class Timed(FedAvg):
        def aggregate_train(self, server_round, replies):
            out = super().aggregate_train(server_round, replies)
            if server_round in (1, rounds):
                mark()
            return out

    @server_app.main()
    def main(grid, context):
        strategy = Timed(fraction_train=cohort / clients, fraction_evaluate=0.0, min_train_nodes=cohort,
                         min_available_nodes=clients)
        strategy.start(grid=grid, initial_arrays=ArrayRecord(setting(name)[0].state_dict()), num_rounds=rounds)

    run_simulation(server_app=server_app, client_app=client_app, num_supernodes=clients,
                   backend_config={"client_resources": {"num_cpus": 1, "num_gpus": 0.0},
                                   "init_args": {"num_cpus": 1, "include_dashboard": False}})
    tell(rounds - 1)


# ---- measuring ----

def command(program, name, rounds, out):
    if program != "weft":
        return [sys.executable, __file__, "--run", program, name, str(rounds)]
    cohort = CASES[name][1]
    return [os.environ.get("WEFT", "build/opt/weft"), "tune", os.path.join(HERE, "..", "inputs", "worker.ini"),
            "run.tuner=random", "run.mixing=none", "space.configs=1", f"random.resource={rounds}",
            "client.lr=0.03", "client.batch=10", "client.epochs=1", f"fed.cohort={cohort}", "fed.score=loss",
            "fed.score_weights=global", "fed.select=pooled", "fed.eval_clients=-1", "fed.test_clients=1",
            f"worker.run=exec {sys.executable} {os.path.abspath(__file__)} --run worker {name}", "-o", out, "--force"]


def run(program, name, rounds):
    """Seconds and processor seconds of a round."""
    with tempfile.TemporaryDirectory() as tmp:
        told, log = os.path.join(tmp, "told"), os.path.join(tmp, "log")
        with open(log, "w") as out:
            done = subprocess.run(command(program, name, rounds, os.path.join(tmp, "run.h5")), stdout=out,
                                  stderr=subprocess.STDOUT,
                                  env=dict(os.environ, OMP_NUM_THREADS="1", MEASURED_BY=str(os.getpid()), MEASURED_TO=told))
            end_orphans()
        if done.returncode or not os.path.exists(told):
            sys.exit(f"{program}:\n{open(log).read()[-3000:]}")
        return tuple(map(float, open(told).read().split()))


def end_orphans():
    """Waits for processes that a program left to end."""
    until = time.time() + 20
    while True:
        try:
            pid, _ = os.waitpid(-1, os.WNOHANG)
        except ChildProcessError:
            return
        if pid == 0:
            time.sleep(0.05)
        if pid == 0 and time.time() > until:
            own = os.getpid()
            for entry in filter(str.isdigit, os.listdir("/proc")):
                try:
                    with open(f"/proc/{entry}/stat") as f:
                        parent = int(f.read().rsplit(")", 1)[1].split()[1])
                    if parent == own:
                        os.kill(int(entry), signal.SIGKILL)
                except OSError:
                    pass


def show(label, values):
    n = len(values)
    mean = statistics.mean(values)
    t = {2: 12.7, 3: 4.30, 4: 3.18, 5: 2.78, 6: 2.57, 7: 2.45, 8: 2.36}.get(n, 2.0 if n > 1 else 0)
    half = t * statistics.stdev(values) / n**0.5 if n > 1 else float("nan")
    print(f"{label:28s} {mean:10.4g} +- {half:.2g}   ({' '.join(f'{v:.4g}' for v in values)})")


def adopt_orphans():
    ctypes.CDLL(None).prctl(36, 1, 0, 0, 0)  # PR_SET_CHILD_SUBREAPER: orphans become this program's


def measure(name, repeats, programs):
    adopt_orphans()
    clients, cohort, _, _, rounds = CASES[name]
    wall = {p: [] for p in programs}
    cpu = {p: [] for p in programs}
    shares = []
    for i in range(repeats):
        for p in programs[i % len(programs):] + programs[:i % len(programs)]:
            seconds, used, share = run(p, name, max(4, rounds // 20) if p == "flower" else rounds)
            wall[p].append(seconds)
            cpu[p].append(used)
            if p == "weft":
                shares.append(share)
            print(f"# {i} {p}: {1e3 * wall[p][-1]:.3f} ms a round, {1e3 * cpu[p][-1]:.3f} ms of processors", flush=True)
    print(f"{name}: {cohort} of {clients} clients a round; means of {repeats} repeats, +- half a 95 % interval")
    for p in programs:
        show(f"{p}, rounds/s", [1 / x for x in wall[p]])
        show(f"{p}, processor ms a round", [1e3 * x for x in cpu[p]])
    show("weft, share of the model", shares)
    for p in programs[1:]:
        show(f"{p} / weft, time", [x / w for x, w in zip(wall[p], wall["weft"])])
        show(f"{p} / weft, processor time", [x / w for x, w in zip(cpu[p], cpu["weft"])])


if __name__ == "__main__":
    if sys.argv[1:2] == ["--run"]:
        program, args = sys.argv[2], sys.argv[3:]
        worker(*args) if program == "worker" else globals()[program](args[0], int(args[1]))
    elif len(sys.argv) > 5 and sys.argv[1] == "table":
        sys.path.insert(0, os.path.join(HERE, "frameworks"))
        import table
        adopt_orphans()
        table.measure(*sys.argv[2:5], int(sys.argv[5]), sys.argv[7:], sys.argv[6], end_orphans)
    elif len(sys.argv) < 3 or sys.argv[1] not in CASES:
        sys.exit(__doc__)
    else:
        measure(sys.argv[1], int(sys.argv[2]), ["weft"] + (sys.argv[3:] or list(PROGRAMS)))
