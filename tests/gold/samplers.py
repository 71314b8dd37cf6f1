"""Searches by other programs on the functions of tests/functions.h, for comparison.

Set up:  bash tests/gold/venv.sh V
Use:     V/bin/python tests/gold/samplers.py SAMPLER[,..] WORKERS FUNCTION[,..] SEEDS [FIRST] >> FILE

Samplers: optuna (independent, its default form until 4), optuna-joint (multivariate), hyperopt, smac
(random forest), smac-gp (Gaussian process); by V/optuna-gp/bin/python optuna-gp (Optuna's Gaussian
process), hebo, and botorch (the loop of its tutorial with qLogEI, 10 initial points of Sobol);
by V/bohb/bin/python bohb (HpBandSter's generator of configurations, at one budget), and by
V/mipego/bin/python mipego (bayes-optim, the package that followed MIP-EGO's own). Seeds from FIRST on,
1000 where it is not given. WORKERS trials are asked for, then all of them are told; Optuna has its
constant liar for those in flight, mipego proposes a whole batch by as many cooled criteria, the others
are told nothing of them. A line a run: sampler, version, function, workers, seed, regret of what looked
best after 25, 50, 100 trials, and milliseconds of processor time of a proposal. On the learning curves
of tests/functions_curves.h (dehb by V/dehb/bin/python and mobster, Syne Tune's, by
V/mobster/bin/python) the regrets are those after a quarter, a half and all of the resource of FULL full
trainings, else 6, in virtual time with WORKERS at a time, and what would win is the best of the most
resource; DEHB begins every evaluation anew and pays for all of it, MOBSTER continues trials and pays
for what is added. What is in the file already is not done again: FILE in the environment names it.
These programs are no part of weft, which needs none of them.
"""
import contextlib
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

from functions import CURVES, FUNCTIONS, LONGEST, left_of

TRIALS = 100


def levels(a):
    """Levels of a category, else 0."""
    return a if isinstance(a, int) else a[1] + 1 if a[2] == "cat" else 0


def parent(a):
    """The axis and its level with which this one exists; None: with all."""
    return a[3:] if not isinstance(a, int) and len(a) > 3 else None


def in_order(axes):
    """Numbers of the axes, each after the one that it depends on."""
    depth = []
    for a in axes:
        n = 0
        while parent(a):
            a, n = axes[parent(a)[0]], n + 1
        depth.append(n)
    return sorted(range(len(axes)), key=lambda j: (depth[j], not levels(axes[j])))


def typed(v, axes):
    whole = [levels(a) or a[2] in ("int", "logint") for a in axes]
    return [int(x) if w and x == x else float(x) for x, w in zip(v, whole)]


class Optuna:
    def __init__(self, axes, seed, workers, joint=False, gp=False):
        import optuna
        optuna.logging.set_verbosity(optuna.logging.ERROR)
        self.version, self.axes = optuna.__version__, axes
        sampler = optuna.samplers.TPESampler(seed=seed, multivariate=joint, constant_liar=workers > 1)
        if gp:
            sampler = optuna.samplers.GPSampler(seed=seed)
        self.study = optuna.create_study(sampler=sampler)

    def ask(self):
        t, v = self.study.ask(), [math.nan] * len(self.axes)
        for j in in_order(self.axes):
            a, name = self.axes[j], "x%d" % j
            if parent(a) and v[a[3]] != a[4]:
                continue
            elif levels(a):
                v[j] = t.suggest_categorical(name, list(range(levels(a))))
            elif a[2] in ("int", "logint"):
                v[j] = t.suggest_int(name, a[0], a[1], log=a[2] == "logint")
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
            if levels(a):
                return hp.choice(name, [[of(*sub) for sub in below if parent(sub[1]) == (j, c)] for c in range(levels(a))])
            if a[2] == "logint":
                return hp.qloguniform(name, math.log(a[0] - .5), math.log(a[1] + .5), 1)
            if a[2] == "int":
                return hp.uniformint(name, a[0], a[1])
            if a[2] == "log":
                return hp.loguniform(name, math.log(a[0]), math.log(a[1]))
            return hp.uniform(name, a[0], a[1])

        every = list(enumerate(axes))
        below = [(j, a) for j, a in every if parent(a)]
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
        v = typed([x[0] for x in v], self.axes)
        return ids[0], [min(max(x, a[0]), a[1]) if parent(a) is None and not levels(a) and a[2] == "logint" else x
                        for x, a in zip(v, self.axes)]

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
        if levels(a):
            add(C.CategoricalHyperparameter(name, list(range(levels(a)))))
        elif a[2] in ("int", "logint"):
            add(C.UniformIntegerHyperparameter(name, a[0], a[1], log=a[2] == "logint"))
        else:
            add(C.UniformFloatHyperparameter(name, a[0], a[1], log=a[2] == "log"))
    for j, a in enumerate(axes):
        if parent(a):
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
        self.seen = []
        self.smac = facade(scenario, lambda c, seed=0: 0, overwrite=True, logging_level=False, **more)

    def ask(self):
        info = self.smac.ask()
        return info, values_of(info.config, self.axes)

    def tell(self, info, v, loss):
        from smac.runhistory.dataclasses import TrialValue
        if math.isinf(loss):  # it has no infinite costs: the worst finite one until now
            loss = max(self.seen, default=1)
        else:
            self.seen.append(loss)
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
        if levels(a):
            return b.Discrete([str(c) for c in range(levels(a))], name)
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
            if parent(a) and v[a[3]] != a[4]:
                v[j] = math.nan
        return x, typed(v, self.axes)

    def tell(self, x, v, loss):
        self.told.append((x, loss))


def existing(v, axes):
    """Typed values, nan on axes that do not exist with the others."""
    for j in in_order(axes):
        if parent(axes[j]) and v[axes[j][3]] != axes[j][4]:
            v[j] = math.nan
    return typed(v, axes)


class Hebo:
    """It has no conditional axes: it sees values that the function does not."""

    def __init__(self, axes, seed, workers):
        import torch
        from hebo.design_space.design_space import DesignSpace
        from hebo.optimizers.hebo import HEBO
        self.version, self.axes = importlib.metadata.version("hebo"), axes
        np.random.seed(seed)
        torch.manual_seed(seed)
        self.hebo = HEBO(DesignSpace().parse([self.axis("x%d" % j, a) for j, a in enumerate(axes)]), scramble_seed=seed)

    @staticmethod
    def axis(name, a):
        if levels(a):
            return {"name": name, "type": "cat", "categories": list(range(levels(a)))}
        kind = {"int": "int", "log": "pow", "logint": "pow_int"}.get(a[2], "num")
        return {"name": name, "type": kind, "lb": a[0], "ub": a[1]}

    def ask(self):
        rows = self.hebo.suggest(n_suggestions=1)
        return rows, existing([float(rows["x%d" % j].iloc[0]) for j in range(len(self.axes))], self.axes)

    def tell(self, rows, v, loss):
        self.hebo.observe(rows, np.array([[loss]]))


class Botorch:
    """Numbers are positions in 0 .. 1, categories numbers of 0 .. 1 for each level of which the largest
    counts. Axes that do not exist are in the middle, infinite losses the worst finite one."""

    INITIAL = 10

    def __init__(self, axes, seed, workers):
        import torch
        self.version, self.axes, self.torch = importlib.metadata.version("botorch"), axes, torch
        torch.manual_seed(seed)
        self.width = [levels(a) or 1 for a in axes]
        self.drawn = torch.quasirandom.SobolEngine(sum(self.width), scramble=True, seed=seed)
        self.x, self.y = [], []

    def place(self, v):
        u = []
        for x, a, n in zip(v, self.axes, self.width):
            if x != x:
                u += [.5] * n
            elif n > 1:
                u += [float(x == c) for c in range(n)]
            elif a[2] in ("log", "logint"):
                u.append(math.log(x / a[0]) / math.log(a[1] / a[0]))
            else:
                u.append((x - a[0]) / (a[1] - a[0]))
        return u

    def values(self, u):
        v, at = [], 0
        for a, n in zip(self.axes, self.width):
            part, at = u[at:at + n], at + n
            if n > 1:
                x = max(range(n), key=lambda c: part[c])
            elif a[2] in ("log", "logint"):
                x = min(max(a[0] * (a[1] / a[0]) ** part[0], a[0]), a[1])
            else:
                x = a[0] + (a[1] - a[0]) * part[0]
            v.append(round(x) if n == 1 and a[2] in ("int", "logint") else x)
        return existing(v, self.axes)

    def ask(self):
        if len(self.y) < self.INITIAL:
            return None, self.values(self.drawn.draw(1)[0].tolist())
        from botorch.acquisition.logei import qLogExpectedImprovement
        from botorch.fit import fit_gpytorch_mll
        from botorch.models import SingleTaskGP
        from botorch.models.transforms import Standardize
        from botorch.optim import optimize_acqf
        from gpytorch.mlls import ExactMarginalLogLikelihood
        torch = self.torch
        x = torch.tensor(self.x, dtype=torch.double)
        finite = [y for y in self.y if math.isfinite(y)] or [0]
        y = -torch.tensor([[min(y, max(finite))] for y in self.y], dtype=torch.double)
        model = SingleTaskGP(x, y, outcome_transform=Standardize(1))
        fit_gpytorch_mll(ExactMarginalLogLikelihood(model.likelihood, model))
        bounds = torch.stack([torch.zeros(x.shape[1]), torch.ones(x.shape[1])]).double()
        u, _ = optimize_acqf(qLogExpectedImprovement(model, y.max()), bounds, q=1, num_restarts=10, raw_samples=512)
        return None, self.values(u[0].tolist())

    def tell(self, _, v, loss):
        self.x.append(self.place(v))
        self.y.append(loss)


class Dehb:
    """Its asynchronous brackets by its defaults, eta 3."""

    def __init__(self, axes, seed, workers):
        import dehb
        self.version, self.axes = importlib.metadata.version("dehb"), axes
        where = "/tmp/weft-dehb-%d" % os.getpid()
        self.model = dehb.DEHB(f=None, cs=config_space(axes, seed), min_fidelity=1, max_fidelity=LONGEST, eta=3,
                               seed=seed, n_workers=1, output_path=where, save_freq="end", log_level="ERROR")

    def ask(self):
        info = self.model.ask()
        return info, values_of(info["config"], self.axes), int(round(info["fidelity"])), int(round(info["fidelity"]))

    def tell(self, info, v, r, loss):
        self.model.tell(info, {"fitness": min(loss, 1e3), "cost": float(r)})


class Mobster:
    """Syne Tune's MOBSTER by its defaults, with rungs of promotion, eta 3."""

    def __init__(self, axes, seed, workers):
        with contextlib.redirect_stdout(sys.stderr):  # it prints what is not installed
            import syne_tune.config_space as c
            from syne_tune.backend.trial_status import Trial
            from syne_tune.optimizer.baselines import MOBSTER
        self.version, self.axes, self.trial = importlib.metadata.version("syne-tune"), axes, Trial
        space = {"x%d" % j: self.axis(c, a) for j, a in enumerate(axes)}
        self.model = MOBSTER(dict(space, epochs=LONGEST), metric="loss", mode="min", resource_attr="epoch",
                             max_resource_attr="epochs", grace_period=1, reduction_factor=3, type="promotion",
                             random_seed=seed, search_options={"debug_log": False})
        self.begun, self.at, self.count = {}, {}, 0

    @staticmethod
    def axis(c, a):
        if levels(a):
            return c.choice([str(i) for i in range(levels(a))])
        if a[2] in ("int", "logint"):
            return (c.lograndint if a[2] == "logint" else c.randint)(a[0], a[1])
        return (c.loguniform if a[2] == "log" else c.uniform)(a[0], a[1])

    def ask(self):
        import datetime
        got = self.model.suggest(self.count)
        if got.spawn_new_trial_id:
            trial = self.trial(self.count, got.config, datetime.datetime.now())
            self.begun[self.count], self.at[self.count] = trial, 0
            self.count += 1
            self.model.on_trial_add(trial)
        else:
            trial = self.begun[got.checkpoint_trial_id]
            if got.config is not None:
                trial.config = got.config
        until = 1  # the next rung
        while until <= self.at[trial.trial_id]:
            until *= 3
        v = typed([float(trial.config["x%d" % j]) for j in range(len(self.axes))], self.axes)
        return trial, v, until, until - self.at[trial.trial_id]

    def tell(self, trial, v, r, loss):
        result = {"loss": min(loss, 1e3), "epoch": r}
        for e in range(self.at[trial.trial_id] + 1, r + 1):  # it wants every epoch; the rung's decides
            said = self.model.on_trial_result(trial, dict(result, epoch=e))
            if said != "CONTINUE":
                break
        self.at[trial.trial_id] = r
        if r >= LONGEST:
            self.model.on_trial_complete(trial, result)
        elif said == "STOP":
            self.model.on_trial_remove(trial)


SAMPLERS = {
    "optuna": Optuna,
    "optuna-joint": lambda a, s, w: Optuna(a, s, w, True),
    "optuna-gp": lambda a, s, w: Optuna(a, s, w, gp=True),
    "hyperopt": Hyperopt,
    "bohb": Bohb,
    "smac": Smac,
    "hebo": Hebo,
    "botorch": Botorch,
    "smac-gp": lambda a, s, w: Smac(a, s, w, False),
    "mipego": Mipego,
    "dehb": Dehb,
    "mobster": Mobster,
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


def play_curve(sampler, name, workers, seed):
    f, axes, noise, fades = CURVES[name]
    random.seed(seed)
    rng = np.random.default_rng(seed + 7)
    s = SAMPLERS[sampler](axes, seed, workers)
    full, regrets, flying, spent, now, most, asked, seconds = LONGEST * int(os.environ.get("FULL", 6)), [], [], 0, 0, 0, 0, 0
    best = worth = math.inf
    while len(regrets) < 4:
        start = time.process_time()
        while len(flying) < workers:
            token, v, r, more = s.ask()
            flying.append((now + more, asked, token, v, r, more))
            asked += 1
        seconds += time.process_time() - start
        flying.sort(key=lambda job: job[:2])
        now, _, token, v, r, more = flying.pop(0)
        seen = f(v, r) + noise * (left_of(r) if fades else 1) * rng.standard_normal()
        start = time.process_time()
        s.tell(token, v, r, seen)
        seconds += time.process_time() - start
        spent += more
        if r > most or (r == most and seen < best):
            most, best, worth = r, seen, f(v, LONGEST)
        while len(regrets) < 4 and spent >= full * (len(regrets) + 1) / 4:
            regrets.append(worth)
    return s.version, (regrets[0], regrets[1], regrets[3]), 1000 * seconds / asked


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
                if name in CURVES:
                    version, regrets, ms = play_curve(sampler, name, int(workers), seed)
                else:
                    version, c, seconds = play(sampler, name, int(workers), seed)
                    regrets, ms = [c[i] for i in (24, 49, 99)], 1000 * seconds / TRIALS
                print(sampler, version, name, workers, seed, *("%.6g" % r for r in regrets), "%.3f" % ms, sep="\t",
                      flush=True)


if __name__ == "__main__":
    main()
