#!/usr/bin/env python3
"""Seconds of a search over a scikit-learn model by weft, as a program that is kept, and by Optuna: the same
model, trials, rungs and processes, one after the other, with a seed for each repeat.

usage: jobs/programs.py [REPEATS [TRIALS [PROCESSES ...]]]       (6 repeats of 12 trials by 1 and 2 processes)

The model is a perceptron on the digits of scikit-learn, its space and rungs those of inputs/serve.ini: tpe
proposes, and at 1, 3 and 9 of 27 epochs a trial goes on that is among the best third so far. Optuna has its
TPESampler and its SuccessiveHalvingPruner; its study is in memory, or a journal in a file where there are several
processes. Seconds are those of the whole programs, imports and the run file included; "beside epochs" is what is
left of them without training and scoring, in each of the processes; "for equal epochs" is computed, for the mean
number of epochs of the two programs. Needs scikit-learn and Optuna in the Python that runs it; weft in $WEFT or
build/opt/weft.
"""
import os
import subprocess
import sys
import tempfile
import time

HERE = os.path.dirname(os.path.abspath(__file__))
TOP, EPOCHS, REDUCTION = os.path.dirname(HERE), 27, 3


# ---- the model, in both programs ----

def epochs_of(rate, momentum, decay, seed):
    """Trains a model; yields the share of wrong answers after each epoch, which is noted in a file with its seconds."""
    from sklearn.datasets import load_digits
    from sklearn.neural_network import MLPClassifier
    x, y = load_digits(return_X_y=True)
    x, train = x / 16, 1200
    model = MLPClassifier((400,), solver="sgd", batch_size=10, learning_rate_init=rate, momentum=momentum,
                          alpha=decay, random_state=seed)
    with open(os.environ["EPOCHS_TO"], "a") as told:
        for _ in range(EPOCHS):
            begun = time.perf_counter()
            model.partial_fit(x[:train], y[:train], classes=range(10))
            error = 1 - model.score(x[train:], y[train:])
            print(error, time.perf_counter() - begun, file=told, flush=True)
            yield error


def by_weft():
    """The program that weft starts."""
    import weft

    def train(trial):
        for step, error in enumerate(epochs_of(**trial.values, seed=trial.seed), 1):
            weft.report(error, step, error=error)

    weft.program(train)


def by_optuna(seed, trials, storage):
    """One of the processes of a study."""
    import optuna
    optuna.logging.set_verbosity(optuna.logging.ERROR)

    def objective(trial):
        values = {"rate": trial.suggest_float("rate", 1e-3, 1, log=True),
                  "momentum": trial.suggest_float("momentum", 0, 0.95),
                  "decay": trial.suggest_categorical("decay", [0, 1e-4, 1e-2])}
        for step, error in enumerate(epochs_of(**values, seed=trial.number), 1):
            trial.report(error, step)
            if step < EPOCHS and trial.should_prune():
                raise optuna.TrialPruned
        return error

    backend = optuna.storages.journal.JournalFileBackend(storage) if storage else None
    study = optuna.create_study(study_name="digits", load_if_exists=True,
                                storage=optuna.storages.JournalStorage(backend) if backend else None,
                                sampler=optuna.samplers.TPESampler(seed=int(seed)),
                                pruner=optuna.pruners.SuccessiveHalvingPruner(1, REDUCTION, 0))
    study.optimize(objective, int(trials), catch=ValueError)  # of a model that diverged


# ---- measuring ----

def commands(program, seed, trials, processes, directory):
    own = [sys.executable, os.path.abspath(__file__)]
    if program == "optuna":
        storage = os.path.join(directory, "journal") if processes > 1 else ""
        shares = [(trials + i) // processes for i in range(processes)]
        return [own + ["--optuna", str(processes * seed + i), str(n), storage] for i, n in enumerate(shares)]
    launch = ["mpirun", "-n", str(processes)] if processes > 1 else []
    return [launch + [os.environ.get("WEFT", os.path.join(TOP, "build/opt/weft")), "tune",
                      os.path.join(TOP, "inputs/serve.ini"), f"command.run=exec {own[0]} {own[1]} --weft",
                      f"run.seed={seed}", f"run.teams={processes}", f"run.workers={processes}",
                      f"space.configs={trials}", "-o", os.path.join(directory, "run.h5")]]


def run(program, seed, trials, processes):
    """What was measured, by names."""
    with tempfile.TemporaryDirectory() as directory:
        told, log = os.path.join(directory, "told"), os.path.join(directory, "log")
        env = dict(os.environ, EPOCHS_TO=told, OMP_NUM_THREADS="1", OPENBLAS_NUM_THREADS="1")
        with open(log, "w") as out:
            begun = time.perf_counter()
            started = [subprocess.Popen(command, stdout=out, stderr=out, env=env)
                       for command in commands(program, seed, trials, processes, directory)]
            failed = [p for p in started if p.wait()]
            seconds = time.perf_counter() - begun
        if failed:
            sys.exit(f"{program}:\n{open(log).read()[-3000:]}")
        with open(told) as f:
            epochs = [[float(x) for x in line.split()] for line in f]
        return {"seconds": seconds, "epochs": len(epochs), "lowest error, %": 100 * min(epochs)[0],
                "s an epoch": seconds / len(epochs),
                "s beside epochs": seconds - sum(took for _, took in epochs) / processes}


def show(what, values):
    mean, half, *_ = stats.by_samples(values)
    print(f"  {what:24} {mean:8.4g} +- {half:.2g}   ({' '.join(f'{v:.3g}' for v in values)})", flush=True)


def measure(repeats, trials, processes):
    found = {"weft": [], "optuna": []}
    for seed in range(1, repeats + 1):
        for program in list(found)[::(-1)**seed]:
            found[program].append(run(program, seed, trials, processes))
    for weft, optuna in zip(*found.values()):  # had both trained as many epochs
        epochs = (weft["epochs"] + optuna["epochs"]) / 2
        for row in (weft, optuna):
            trained = row["seconds"] - row["s beside epochs"]
            row["s for equal epochs"] = row["s beside epochs"] + trained * epochs / row["epochs"]
    print(f"{trials} trials by {processes} process{'es' * (processes > 1)}, means of {repeats} repeats +- half a 95 % interval:")
    for name in found["weft"][0]:
        weft, optuna = ([row[name] for row in found[program]] for program in found)
        show(f"weft, {name}", weft)
        show(f"optuna, {name}", optuna)
        if name.startswith("s"):
            show("  weft / optuna", [a / b for a, b in zip(weft, optuna)])
        else:
            show("  weft - optuna", [a - b for a, b in zip(weft, optuna)])


if __name__ == "__main__":
    if sys.argv[1:2] == ["--weft"]:
        by_weft()
    elif sys.argv[1:2] == ["--optuna"]:
        by_optuna(*sys.argv[2:])
    else:
        sys.path.insert(0, os.path.join(TOP, "analysis"))
        import stats
        given = [int(x) for x in sys.argv[1:]]
        for processes in given[2:] or (1, 2):
            measure(*(given[:2] + [6, 12][len(given[:2]):]), processes)
