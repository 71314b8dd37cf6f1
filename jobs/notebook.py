#!/usr/bin/env python3
"""How many trials a second weft.minimize does, and Optuna and Rustuna where they are installed, one after the other.

usage: PYTHONPATH=python jobs/notebook.py [REPEATS [TRIALS]]

The objective takes 1 ms, asleep, on two workers: processes of weft, with its journal, and threads of
the others, with their studies in memory. Then what one ask and tell take, of an objective that takes no time.
Medians, and all repeats.
"""
import importlib.util
import statistics
import sys
import threading
import time

import weft

SPACE = {"x": (0.0, 1.0), "y": (0.0, 1.0)}


def value(x, y, seconds=1e-3):
    if seconds:
        time.sleep(seconds)
    return (x - 0.3) ** 2 + y


def suggested(t):
    return value(t.suggest_float("x", 0, 1), t.suggest_float("y", 0, 1))


def by_weft(sampler, trials):
    weft.minimize(lambda t: value(**t.values), SPACE, sampler=sampler, trials=trials, workers=2)


def by_optuna(sampler, trials):
    import optuna
    optuna.logging.set_verbosity(optuna.logging.WARNING)
    samplers = {"space": optuna.samplers.RandomSampler, "tpe": optuna.samplers.TPESampler}
    study = optuna.create_study(sampler=samplers[sampler](seed=1))
    study.optimize(suggested, trials, n_jobs=2)


def by_rustuna(sampler, trials):
    import rustuna
    samplers = {"space": rustuna.samplers.RandomSampler, "tpe": rustuna.samplers.TPESampler}
    study = rustuna.create_study(sampler=samplers[sampler](seed=1))
    threads = [threading.Thread(target=study.optimize, args=(suggested, (trials + i) // 2)) for i in range(2)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()


def one_by_one(tuner, trials):
    """Microseconds of an ask and a tell."""
    with weft.Search({"parameters": SPACE}, {"run.tuner": tuner, "space.configs": trials}) as s:
        begun, jobs = time.perf_counter(), 0
        while t := s.ask():
            s.tell(t, value(**t.values, seconds=0))
            jobs += 1
        return 1e6 * (time.perf_counter() - begun) / jobs


def timed(what, sampler, trials):
    begun = time.perf_counter()
    what(sampler, trials)
    return trials / (time.perf_counter() - begun)


def show(what, unit, numbers):
    print(f"{what:24} {statistics.median(numbers):7.0f} {unit}  ({', '.join(f'{x:.0f}' for x in numbers)})", flush=True)


repeats, trials = (int(x) for x in (sys.argv[1:] + ["3", "1000"][len(sys.argv) - 1:])[:2])
others = {"optuna": by_optuna, "rustuna": by_rustuna}
programs = {"weft": by_weft} | {name: by for name, by in others.items() if importlib.util.find_spec(name)}
for sampler in ("space", "tpe"):
    rates = {name: [] for name in programs}
    for _ in range(repeats):
        for name, program in programs.items():
            rates[name].append(timed(program, sampler, trials))
    for name in programs:
        show(f"{name}, {sampler}", "trials/s", rates[name])
for tuner in ("random", "asha"):
    show(f"ask and tell, {tuner}", "us", [one_by_one(tuner, trials) for _ in range(repeats)])
