#!/usr/bin/env python3
"""Compares what Optuna, TensorBoard and MLflow read of a run that analysis/export.py wrote with `weft report` and
with h5py. usage: exported.py WEFT RUN.h5 OPTUNA TENSORBOARD MLFLOW; prints each difference; status 1 if there is any."""
import json
import math
import os
import shutil
import subprocess
import sys

import h5py
import numpy as np

os.environ["MLFLOW_ALLOW_FILE_STORE"] = "true"
differences = []


def same(what, have, want):
    if not (have == want or (isinstance(want, float) and have is not None and math.isclose(have, want, rel_tol=1e-15))):
        differences.append(f"{what} is {have}, not {want}")


def steps_of(f, trial):
    """{resource: loss} after each job of a trial, and {round: {name: number}}."""
    e = {k: f["events"][k][:] for k in ("trial", "resource", "loss")}
    own = {round(r): x for t, r, x in zip(*e.values()) if t == trial and math.isfinite(x)}
    rounds = {}
    for i in np.flatnonzero(f["rounds/trial"][:] == trial) if "rounds" in f else ():
        rounds[int(f["rounds/unit"][i])] = {k: f["rounds"][k][i] for k in f["rounds"] if k not in ("job", "trial", "unit")}
    return own, rounds


def measured(f, row):
    """What a trial has by its last job, without what was not measured."""
    names = [line.split("\t")[0] for line in f["events"].attrs["metrics"].splitlines()] + \
        ["printed." * (k in {*f["events"], "state"}) + k for k in f["events"].attrs["printed"].splitlines()]
    return {k: row[k] for k in names if row[k] is not None}


def read_optuna(path):
    import optuna
    from optuna.storages.journal import JournalFileBackend
    return optuna.load_study(study_name=None, storage=optuna.storages.JournalStorage(JournalFileBackend(path)))


def check_optuna(path, f, rows, axes):
    import optuna
    study = read_optuna(path)
    state = {"finished": "COMPLETE", "stopped": "PRUNED", "failed": "FAIL", "running": "RUNNING"}
    same("Optuna: number of trials", len(study.trials), len(rows))
    for trial, row in zip(study.trials, rows):
        at = f"Optuna: trial {row['trial']}"
        same(f"{at}: state", trial.state.name, state[row["state"]])
        same(f"{at}: params", trial.params, {k: row[k] for k in axes if row[k] is not None})
        same(f"{at}: value", trial.value, row["loss"] if row["state"] in ("finished", "stopped") else None)
        same(f"{at}: intermediate values", trial.intermediate_values, steps_of(f, row["trial"])[0])
        same(f"{at}: attributes", {k: v for k, v in trial.user_attrs.items() if not k.startswith("weft.")}, measured(f, row))
        for name, x in trial.params.items():
            if not trial.distributions[name]._contains(trial.distributions[name].to_internal_repr(x)):
                differences.append(f"{at}: {name} = {x} is not in {trial.distributions[name]}")
        if row["state"] != "running":
            same(f"{at}: seconds", (trial.datetime_complete - trial.datetime_start).total_seconds() > 0, True)
    finished = [row["loss"] for row in rows if row["state"] == "finished"]
    if not finished:
        return
    same("Optuna: best value", study.best_value, min(finished))
    shares = optuna.importance.get_param_importances(study)
    same("Optuna: importances of", bool(shares) and set(shares) <= set(axes), True)
    same("Optuna: sum of importances", math.isclose(sum(shares.values()), 1) or not any(shares.values()), True)
    optuna.logging.set_verbosity(optuna.logging.ERROR)
    study = read_optuna(shutil.copy(path, path + ".more"))
    study.optimize(lambda trial: sum(isinstance(trial._suggest(k, d), str) for k, d in
                                     study.best_trial.distributions.items()), n_trials=1)
    same("Optuna goes on: trials", len(study.trials), len(rows) + 1)


def check_tensorboard(path, f, rows, axes):
    from tensorboard.backend.event_processing.event_accumulator import EventAccumulator
    from tensorboard.plugins.hparams import plugin_data_pb2
    same("TensorBoard: directories", sorted(os.listdir(path)), sorted(f"trial-{row['trial']}" for row in rows))
    for row in rows:
        at = f"TensorBoard: trial {row['trial']}"
        events = EventAccumulator(f"{path}/trial-{row['trial']}").Reload()
        own, rounds = steps_of(f, row["trial"])
        def scalars(tag):
            return {e.step: e.value for e in events.Scalars(tag)} if tag in events.Tags()["scalars"] else {}
        same(f"{at}: loss", scalars("loss"), {k: float(np.float32(v)) for k, v in own.items()})
        for name in next(iter(rounds.values()), ()):
            want = {k: float(np.float32(v[name])) for k, v in rounds.items() if math.isfinite(v[name])}
            same(f"{at}: {name}", scalars(f"round/{name}"), want)
        for name, x in measured(f, row).items():
            same(f"{at}: {name}", scalars(name).get(round(row["resource"])), float(np.float32(x)))
        info = {}
        for part in ("start", "end"):
            content = events.SummaryMetadata(f"_hparams_/session_{part}_info").plugin_data.content
            info[part] = plugin_data_pb2.HParamsPluginData.FromString(content)
        have = {k: getattr(v, v.WhichOneof("kind")) for k, v in info["start"].session_start_info.hparams.items()}
        same(f"{at}: configuration", have, {k: row[k] for k in axes if row[k] is not None})
        same(f"{at}: status", info["end"].session_end_info.status, {"failed": 2, "running": 3}.get(row["state"], 1))


def check_mlflow(path, name, f, rows, axes):
    from mlflow.tracking import MlflowClient
    client = MlflowClient(tracking_uri="file://" + os.path.abspath(path))
    experiment = client.get_experiment_by_name(name)
    same("MLflow: task", experiment.tags["weft.task"], f.attrs["task"])
    runs = {run.info.run_name: run for run in client.search_runs([experiment.experiment_id], max_results=1000)}
    same("MLflow: number of runs", len(runs), len(rows))
    for row in rows:
        at, run = f"MLflow: trial {row['trial']}", runs[f"trial-{row['trial']}"]
        same(f"{at}: status", run.info.status, {"failed": "FAILED", "running": "RUNNING"}.get(row["state"], "FINISHED"))
        same(f"{at}: state", run.data.tags["weft.state"], row["state"])
        same(f"{at}: params", run.data.params, {k: str(row[k]) for k in axes if row[k] is not None})
        own, rounds = steps_of(f, row["trial"])
        metrics = measured(f, row) | ({"loss": row["loss"]} if row["loss"] is not None else {})
        same(f"{at}: metrics", {k: v for k, v in run.data.metrics.items() if not k.startswith("round/")}, metrics)
        history = client.get_metric_history(run.info.run_id, "loss") if own else []
        same(f"{at}: loss", {m.step: m.value for m in history}, own)
        for column in next(iter(rounds.values()), ()):
            want = {k: v[column] for k, v in rounds.items() if math.isfinite(v[column])}
            history = client.get_metric_history(run.info.run_id, f"round/{column}") if want else []
            same(f"{at}: {column}", {m.step: m.value for m in history}, want)
    if any(row["state"] == "finished" for row in rows):
        best = client.search_runs([experiment.experiment_id], "tags.`weft.state` = 'finished'", order_by=["metrics.loss"])[0]
        same("MLflow: best", best.data.metrics["loss"], min(r["loss"] for r in rows if r["state"] == "finished"))


def main():
    weft, path, optuna, tensorboard, mlflow = sys.argv[1:]
    rows = json.loads(subprocess.run([weft, "report", path, "--trials", "--json"], check=True, capture_output=True,
                                     text=True).stdout)
    file = path
    if not os.path.exists(path):
        file = path + ".now"
        subprocess.run([weft, "report", path, "-o", file, "--force"], check=True)
    with h5py.File(file) as f:
        axes = [t.decode() for t in f["configs/axis"][:]]
        check_tensorboard(tensorboard, f, rows, axes)
        check_mlflow(mlflow, os.path.splitext(os.path.basename(path))[0], f, rows, axes)
        check_optuna(optuna, f, rows, axes)
    print("\n".join(differences))
    return bool(differences)


if __name__ == "__main__":
    sys.exit(main())
