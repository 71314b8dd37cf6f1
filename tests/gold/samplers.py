"""Searches by other programs on the functions of tests/functions.h, for comparison.

Set up:  bash tests/gold/venv.sh V
Use:     V/bin/python tests/gold/samplers.py SAMPLER[,..] WORKERS FUNCTION[,..] SEEDS [FIRST] >> FILE

Samplers: optuna (independent, its default form until 4), optuna-joint (multivariate), hyperopt,
smac (random forest), smac-gp (Gaussian process); by V/bohb/bin/python bohb (HpBandSter's generator
of configurations, at one budget), and by V/mipego/bin/python mipego (bayes-optim, the package that
followed MIP-EGO's own). Seeds from FIRST on, 1000 where it is not given. WORKERS trials are asked
for, then all of them are told; Optuna has its constant liar for those in flight, mipego proposes a
whole batch by as many cooled criteria, the others are told nothing of them. A line a run: sampler,
version, function, workers, seed, regret of what looked best after 25, 50, 100 trials, and
milliseconds of processor time of a proposal. What is in the file already is not done again: FILE in
the environment names it. These programs are no part of weft, which needs none of them.
"""
import importlib.metadata
import logging
import math
import os
import random
import sys
import time
import warnings

warnings.filterwarnings("ignore")
logging.disable(logging.WARNING)
import numpy as np

TRIALS = 100

# (low, high, kind): real, log, int; or the number of levels; then (axis, its level) where the
# axis exists only there.
A6 = np.array([[10, 3, 17, 3.5, 1.7, 8], [.05, 10, 17, .1, 8, 14], [3, 3.5, 1.7, 10, 17, 8], [17, 8, .05, 10, .1, 14]])
P6 = np.array([[.1312, .1696, .5569, .0124, .8283, .5886], [.2329, .4135, .8307, .3736, .1004, .9991],
               [.2348, .1451, .3522, .2883, .3047, .6650], [.4047, .8828, .8732, .5743, .1091, .0381]])
A3 = np.array([[3, 10, 30], [.1, 10, 35], [3, 10, 30], [.1, 10, 35]])
P3 = np.array([[.3689, .1170, .2673], [.4699, .4387, .7470], [.1091, .8732, .5547], [.0381, .5743, .8828]])
ALPHA = np.array([1, 1.2, 3, 3.2])


def branin(v):
    a = v[1] - 5.1 / (4 * math.pi ** 2) * v[0] ** 2 + 5 / math.pi * v[0] - 6
    return a * a + 10 * (1 - 1 / (8 * math.pi)) * math.cos(v[0]) + 10 - 0.39788735772973816


def hartmann3(v):
    return 3.862779787332660 - float(ALPHA @ np.exp(-(A3 * (np.array(v) - P3) ** 2).sum(1)))


def hartmann6(v):
    return 3.322368011415515 - float(ALPHA @ np.exp(-(A6 * (np.array(v) - P6) ** 2).sum(1)))


def ackley5(v):
    v = np.array(v)
    return 20 + math.e - 20 * math.exp(-.2 * math.sqrt((v * v).mean())) - math.exp(np.cos(2 * math.pi * v).mean())


def rosenbrock4(v):
    x = [v[0], v[2], v[1], v[3]]
    return sum(100 * (x[j + 1] - x[j] ** 2) ** 2 + (1 - x[j]) ** 2 for j in range(3))


def levy5(v):
    w = 1 + (np.array(v) - 1) / 4
    inner = ((w[:4] - 1) ** 2 * (1 + 10 * np.sin(math.pi * w[:4] + 1) ** 2)).sum()
    return float(math.sin(math.pi * w[0]) ** 2 + inner + (w[4] - 1) ** 2 * (1 + math.sin(2 * math.pi * w[4]) ** 2))


def styblinski4(v):
    v = np.array(v)
    return float((v ** 4 - 16 * v * v + 5 * v).sum() / 2) + 4 * 39.16616570377142


def text(v):
    c, tol = math.log10(v[0]), math.log10(v[1])
    fit = .002 * (c - 1) ** 2 if v[6] else .01 + .003 * c * c
    return (.03 * (v[2] - 1) + .02 * abs(v[2] + v[3] - 2) + [.02, .01, 0][v[4]] + .005 * v[5] + fit + .002 * (tol + 5))


def tree(v):
    if v[4] == 0:
        return .15 + (v[0] - .3) ** 2
    if v[4] == 2:
        return .1 + .01 * abs(v[3] - 13)
    return .25 * (math.log10(v[1]) + 2.5) ** 2 + (v[2] - .7) ** 2


def mixed8(v):
    s = (v[0] - .3) ** 2 + (v[1] - .6) ** 2 + .1 * (math.log10(v[2]) + 3) ** 2 + .1 * (math.log10(v[3]) + 1) ** 2
    s += 4e-4 * (v[4] - 40) ** 2 + .02 * abs(v[5] - 7)
    return s + (0 if v[6] else .2) + [.3, 0, .2, .5][v[7]] + .5 * (v[0] - .3) * (v[4] - 40) / 50


U = (0., 1., "real")
FUNCTIONS = {
    "branin": (branin, [(-5., 10., "real"), (0., 15., "real")], 0),
    "hartmann3": (hartmann3, [U] * 3, 0),
    "hartmann6": (hartmann6, [U] * 6, 0),
    "ackley5": (ackley5, [(-32.768, 32.768, "real")] * 5, 0),
    "rosenbrock4": (rosenbrock4, [(-5., 10., "real")] * 2 + [(-5, 10, "int")] * 2, 0),
    "text": (text, [(1e-5, 1e5, "log"), (1e-5, 1e-3, "log"), (1, 3, "int"), (0, 2, "int"), 3, 2, 2], 0),
    "flat": (tree, [U, (1e-4, 1., "log"), U, (1, 20, "int"), 3], 0),
    "tree": (tree, [(*U, 4, 0), (1e-4, 1., "log", 4, 1), (*U, 4, 1), (1, 20, "int", 4, 2), 3], 0),
    "levy5": (levy5, [(-10., 10., "real")] * 5, 0),
    "styblinski4": (styblinski4, [(-5., 5., "real")] * 4, 0),
    "mixed8": (mixed8, [U, U, (1e-6, 1., "log"), (1e-4, 10., "log"), (1, 100, "int"), (1, 12, "int"), 2, 4], 0),
    "noisy": (branin, [(-5., 10., "real"), (0., 15., "real")], 5),
}


def typed(v, axes):
    whole = [isinstance(a, int) or a[2] == "int" for a in axes]
    return [int(x) if w and x == x else float(x) for x, w in zip(v, whole)]


class Optuna:
    def __init__(self, axes, seed, workers, joint=False):
        import optuna
        optuna.logging.set_verbosity(optuna.logging.ERROR)
        self.version, self.axes = optuna.__version__, axes
        sampler = optuna.samplers.TPESampler(seed=seed, multivariate=joint, constant_liar=workers > 1)
        self.study = optuna.create_study(sampler=sampler)

    def ask(self):
        t, v = self.study.ask(), [math.nan] * len(self.axes)
        for j, a in sorted(enumerate(self.axes), key=lambda item: not isinstance(item[1], int)):
            name = "x%d" % j
            if isinstance(a, int):
                v[j] = t.suggest_categorical(name, list(range(a)))
            elif len(a) > 3 and v[a[3]] != a[4]:
                continue
            elif a[2] == "int":
                v[j] = t.suggest_int(name, a[0], a[1])
            else:
                v[j] = t.suggest_float(name, a[0], a[1], log=a[2] == "log")
        return t, v

    def tell(self, t, v, loss):
        self.study.tell(t, loss)


class Hyperopt:
    def __init__(self, axes, seed, workers):
        import hyperopt
        from hyperopt import hp
        self.h, self.version, self.axes = hyperopt, hyperopt.__version__, axes
        self.rng = np.random.default_rng(seed)

        def of(j, a):
            name = "x%d" % j
            if isinstance(a, int):
                return hp.choice(name, [[of(*sub) for sub in below if sub[1][3:] == (j, c)] for c in range(a)])
            if a[2] == "int":
                return hp.uniformint(name, a[0], a[1])
            if a[2] == "log":
                return hp.loguniform(name, math.log(a[0]), math.log(a[1]))
            return hp.uniform(name, a[0], a[1])

        every = list(enumerate(axes))
        below = [(j, a) for j, a in every if not isinstance(a, int) and len(a) > 3]
        space = [of(*item) for item in every if item not in below]
        self.domain = hyperopt.Domain(None, space, pass_expr_memo_ctrl=False)
        self.domain.fn = lambda x: 0
        self.trials = hyperopt.Trials()

    def ask(self):
        h, t = self.h, self.trials
        ids = t.new_trial_ids(1)
        t.refresh()
        docs = h.tpe.suggest(ids, self.domain, t, int(self.rng.integers(2 ** 31 - 1)))
        t.insert_trial_docs(docs)
        t.refresh()
        values = docs[0]["misc"]["vals"]
        v = [list(values["x%d" % j]) or [math.nan] for j in range(len(self.axes))]
        return ids[0], typed([x[0] for x in v], self.axes)

    def tell(self, i, v, loss):
        for d in self.trials._dynamic_trials:
            if d["tid"] == i:
                d["state"], d["result"] = self.h.JOB_STATE_DONE, {"loss": loss, "status": "ok"}
        self.trials.refresh()


def config_space(axes, seed):
    import ConfigSpace as C
    cs = C.ConfigurationSpace(seed=seed)
    add = getattr(cs, "add", None) or cs.add_hyperparameter
    when = getattr(cs, "add", None) or cs.add_condition
    for j, a in enumerate(axes):
        name = "x%d" % j
        if isinstance(a, int):
            add(C.CategoricalHyperparameter(name, list(range(a))))
        elif a[2] == "int":
            add(C.UniformIntegerHyperparameter(name, a[0], a[1]))
        else:
            add(C.UniformFloatHyperparameter(name, a[0], a[1], log=a[2] == "log"))
    for j, a in enumerate(axes):
        if not isinstance(a, int) and len(a) > 3:
            when(C.EqualsCondition(cs["x%d" % j], cs["x%d" % a[3]], a[4]))
    return cs


def values_of(config, axes):
    return typed([dict(config).get("x%d" % j, math.nan) for j in range(len(axes))], axes)


class Bohb:
    """HpBandSter's own generator of configurations, all at one budget."""

    def __init__(self, axes, seed, workers):
        from hpbandster.core.dispatcher import Job
        from hpbandster.optimizers.config_generators.bohb import BOHB
        self.version, self.axes, self.job = importlib.metadata.version("hpbandster"), axes, Job
        np.random.seed(seed)
        self.model = BOHB(config_space(axes, seed))

    def ask(self):
        config, _ = self.model.get_config(1)
        return config, values_of(config, self.axes)

    def tell(self, config, v, loss):
        job = self.job(None, config=config, budget=1)
        job.result = {"loss": loss}
        self.model.new_result(job)


class Smac:
    def __init__(self, axes, seed, workers, forest=True):
        import smac
        from smac import BlackBoxFacade, HyperparameterOptimizationFacade, Scenario
        self.version, self.axes = importlib.metadata.version("smac"), axes
        facade = HyperparameterOptimizationFacade if forest else BlackBoxFacade
        where = "/tmp/weft-smac-%d" % os.getpid()
        scenario = Scenario(config_space(axes, seed), deterministic=True, n_trials=TRIALS, seed=seed, output_directory=where)
        more = {"intensifier": facade.get_intensifier(scenario, max_config_calls=1)} if forest else {}
        self.smac = facade(scenario, lambda c, seed=0: 0, overwrite=True, logging_level=False, **more)

    def ask(self):
        info = self.smac.ask()
        return info, values_of(info.config, self.axes)

    def tell(self, info, v, loss):
        from smac.runhistory.dataclasses import TrialValue
        self.smac.tell(info, TrialValue(cost=loss, time=1))


class Mipego:
    """A forest by its defaults with expected improvement; batches by MGFI. A design of 5 points an
    axis, whole batches. It has no conditional axes: it sees values that the function does not."""

    seeded = np.random.seed

    def __init__(self, axes, seed, workers):
        import bayes_optim as b
        self.version, self.axes, self.workers = importlib.metadata.version("bayes-optim"), axes, workers
        # Its spaces and inner optimisers restart NumPy's generator at one fixed state again and
        # again, so that points "at random" repeat and it gives up: it is seeded once.
        Mipego.seeded(seed)
        np.random.seed = lambda *_: None
        space = b.SearchSpace([self.axis(b, "x%d" % j, a) for j, a in enumerate(axes)])
        batch = {"n_point": workers} if workers > 1 else {}
        self.model = (b.ParallelBO if workers > 1 else b.BO)(
            search_space=space, obj_fun=None, model=b.RandomForest(levels=space.levels), max_FEs=TRIALS,
            DoE_size=-(-5 * len(axes) // workers) * workers, **batch)
        self.queue, self.told = [], []

    @staticmethod
    def axis(b, name, a):
        if isinstance(a, int):
            return b.Discrete([str(c) for c in range(a)], name)
        if a[2] == "int":
            return b.Integer([a[0], a[1]], name)
        return b.Real([a[0], a[1]], name, scale="log" if a[2] == "log" else "linear")

    def ask(self):
        if not self.queue:
            if self.told:
                self.model.tell(*zip(*self.told))
                self.told = []
            self.queue = self.model.ask()
        x = self.queue.pop(0)
        v = [float(c) for c in x]
        for j, a in enumerate(self.axes):
            if not isinstance(a, int) and len(a) > 3 and v[a[3]] != a[4]:
                v[j] = math.nan
        return x, typed(v, self.axes)

    def tell(self, x, v, loss):
        self.told.append((x, loss))


SAMPLERS = {
    "optuna": Optuna,
    "optuna-joint": lambda a, s, w: Optuna(a, s, w, True),
    "hyperopt": Hyperopt,
    "bohb": Bohb,
    "smac": Smac,
    "smac-gp": lambda a, s, w: Smac(a, s, w, False),
    "mipego": Mipego,
}


def play(sampler, name, workers, seed):
    f, axes, noise = FUNCTIONS[name]
    random.seed(seed)
    rng = np.random.default_rng(seed + 7)
    s = SAMPLERS[sampler](axes, seed, workers)
    best, worth, curve, seconds = math.inf, math.inf, [], 0
    while len(curve) < TRIALS:
        start = time.process_time()
        asked = [s.ask() for _ in range(min(workers, TRIALS - len(curve)))]
        seconds += time.process_time() - start
        for token, v in asked:
            value = f(v)
            seen = value + noise * rng.standard_normal()
            start = time.process_time()
            s.tell(token, v, seen)
            seconds += time.process_time() - start
            if seen < best:
                best, worth = seen, value
            curve.append(worth)
    return s.version, curve, seconds


def main():
    samplers, workers, names, seeds = sys.argv[1:5]
    first = int(sys.argv[5]) if len(sys.argv) > 5 else 1000
    done = set()
    if "FILE" in os.environ and os.path.exists(os.environ["FILE"]):
        done = {tuple(line.split("\t")[i] for i in (0, 2, 3, 4)) for line in open(os.environ["FILE"])}
    for name in names.split(",") if names != "all" else FUNCTIONS:
        for sampler in samplers.split(","):
            for seed in range(first, first + int(seeds)):
                if (sampler, name, workers, str(seed)) in done:
                    continue
                version, c, seconds = play(sampler, name, int(workers), seed)
                print(sampler, version, name, workers, seed, *("%.6g" % c[i] for i in (24, 49, 99)),
                      "%.3f" % (1000 * seconds / TRIALS), sep="\t", flush=True)


if __name__ == "__main__":
    main()
