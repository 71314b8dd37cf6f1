#!/usr/bin/env python3
"""A run for other programs: its trials with configuration, scores and states, and what was measured after each
of their jobs and rounds.

usage: analysis/export.py RUN.h5 --optuna STUDY.log | --tensorboard DIR | --mlflow DIR

--optuna writes a journal, which Optuna's JournalStorage reads (and `optuna-dashboard STUDY.log` shows): trials that
were stopped early are pruned ones. --tensorboard writes a directory of events for each trial, with scalars by
resource and the configuration for the tab HParams. --mlflow adds an experiment to the file store DIR, with a run
for each trial. None of these programs is needed here. A run that goes on, or was stopped, is written as far as it is.
"""

import argparse
import datetime
import hashlib
import json
import math
import os
import struct
import sys

import tables

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "python"))
from weft_read import Run, choices, jobs_by_trial, range_of, trials  # noqa: E402


class Trial:
    """A trial for other programs: name, what weft says of it (`row`), its options (`params`), and `points`, (step,
    {name: number}, second since 1970) after each of its jobs, then each of its rounds."""

    def __init__(self, run, row, jobs, rounds):
        self.row = row
        self.params = {name: row[name] for name in run.axis if row[name] is not None}
        names = ["loss"] + [name for name, *_ in run.metrics]
        table = {name: run.event[name] for name in names} | run.printed
        ended = run.began + run.timeline["ended"]
        self.began = float(run.began + run.timeline["began"][jobs[0]])
        self.ended = float(ended[jobs[-1]])
        self.steps = [(round(float(run.event["resource"][i])), finite({k: v[i] for k, v in table.items()}),
                       float(ended[i])) for i in jobs]
        self.rounds = [(int(run.rounds["unit"][i]), finite({f"round/{k}": run.rounds[k][i] for k in run.round_names}),
                        self.ended) for i in rounds]
        self.points = self.steps + self.rounds


def finite(values):
    return {k: float(v) for k, v in values.items() if math.isfinite(v)}


def all_trials(run):
    """Sets run.began, the second at which the search began, too."""
    started = datetime.datetime.fromisoformat(run.attr["started"].replace("Z", "+00:00"))
    run.began = started.timestamp() + float(run.attr.get("setup_seconds", 0))
    run.round_names = [k for k in run.rounds if k not in ("job", "trial", "unit")]
    rounds = {}
    for i, trial in enumerate(run.rounds.get("trial", ())):
        rounds.setdefault(int(trial), []).append(i)
    jobs = jobs_by_trial(run)
    return [Trial(run, row, jobs[row["trial"]], rounds.get(row["trial"], ())) for row in trials(run)]


def name_of(run):
    return os.path.splitext(os.path.basename(run.path))[0]


def facts(run):
    """What is told of the run as a whole."""
    keys = ("task", "tuner", "sampler", "mixing", "seed", "version", "digest", "data", "unfinished")
    return {f"weft.{k}": str(run.attr[k]) for k in keys if str(run.attr.get(k, ""))}


def write(path, content):
    os.makedirs(os.path.dirname(path), exist_ok=True)
    with open(path, "wb" if isinstance(content, bytes) else "w", **({} if isinstance(content, bytes) else
                                                                    {"encoding": "utf-8"})) as f:
        f.write(content)


# ---- Optuna ------------------------------------------------------------------------------

CREATE_STUDY, SET_STUDY_USER_ATTR, CREATE_TRIAL = 0, 2, 4  # operations of its journal
MINIMIZE = 1
STATES = {"running": 0, "finished": 1, "stopped": 2, "failed": 3}  # running, complete, pruned, failed


def distribution(run, name, seen):
    """The axis as Optuna has it."""
    kind, bounds = run.axis[name], range_of(run, name)
    if kind == "boolean":
        return {"name": "CategoricalDistribution", "attributes": {"choices": [False, True]}}
    if kind not in ("real", "integer"):
        return {"name": "CategoricalDistribution", "attributes": {"choices": choices(kind)}}
    if not bounds:
        return {"name": "CategoricalDistribution", "attributes": {"choices": sorted(seen)}}
    low, high, log = bounds
    if kind == "integer":
        return {"name": "IntDistribution", "attributes": {"log": log, "step": 1, "low": int(low), "high": int(high)}}
    return {"name": "FloatDistribution", "attributes": {"step": None, "low": low, "high": high, "log": log}}


def optuna(run, path):
    """A journal: a line of JSON for each operation."""
    all_of_it = all_trials(run)
    axes = {name: distribution(run, name, {t.params[name] for t in all_of_it if name in t.params}) for name in run.axis}
    lines = [{"op_code": CREATE_STUDY, "study_name": name_of(run), "directions": [MINIMIZE]}]
    lines += [{"op_code": SET_STUDY_USER_ATTR, "study_id": 0, "user_attr": {k: v}} for k, v in facts(run).items()]
    for trial in all_of_it:
        values = {}
        for name, x in trial.params.items():
            of = axes[name]["attributes"].get("choices")
            values[name] = of.index(x) if of else x
        done = trial.row["state"] != "running"
        told = trial.row["state"] in ("finished", "stopped")
        loss = trial.row["loss"]
        if not run.unfinished and trial.row["trial"] == run.winner.get("trial"):  # perhaps by a job before its last
            loss = float(run.event["loss"][run.event["job"] == run.winner["job"]][0])
        stamp = [datetime.datetime.fromtimestamp(t, datetime.timezone.utc).isoformat(timespec="microseconds")
                 for t in (trial.began, trial.ended)]
        attrs = {f"weft.{k}": trial.row[k] for k in ("trial", "config", "job", "state", "resource", "seconds")}
        lines.append({
            "op_code": CREATE_TRIAL, "study_id": 0, "state": STATES[trial.row["state"]],
            "value": loss if told else None, "values": None, "datetime_start": stamp[0],
            **({"datetime_complete": stamp[1]} if done else {}),
            "params": values, "system_attrs": {},
            "distributions": {name: json.dumps(axes[name]) for name in values},
            "user_attrs": attrs | {k: v for k, v in trial.steps[-1][1].items() if k != "loss"},
            "intermediate_values": {str(step): point["loss"] for step, point, _ in trial.steps if "loss" in point}})
    with tables.replace(path) as out:
        for line in lines:
            print(json.dumps(line | {"worker_id": "weft"}, allow_nan=False), file=out)


# ---- TensorBoard -------------------------------------------------------------------------

def crc_table():
    """Of CRC-32C, Castagnoli's polynomial, bits reversed."""
    table = []
    for n in range(256):
        for _ in range(8):
            n = n >> 1 ^ (0x82f63b78 if n & 1 else 0)
        table.append(n)
    return table


CRC = crc_table()


def masked_crc(data):
    """The checksum of a TFRecord: that of the bytes, rotated by 15 and shifted by a constant."""
    crc = 0xffffffff
    for byte in data:
        crc = CRC[(crc ^ byte) & 255] ^ crc >> 8
    crc ^= 0xffffffff
    return (((crc >> 15 | crc << 17) & 0xffffffff) + 0xa282ead8) & 0xffffffff


def record(data):
    length = struct.pack("<Q", len(data))
    return length + struct.pack("<I", masked_crc(length)) + data + struct.pack("<I", masked_crc(data))


def varint(n):
    out = b""
    while n > 127:
        out += bytes([n & 127 | 128])
        n >>= 7
    return out + bytes([n])


def message(*fields):
    """A protocol buffer: each field is (number, value), an int, a double as float, bytes or a text."""
    out = b""
    for at, x in fields:
        if isinstance(x, bool) or isinstance(x, int):
            out += varint(at << 3) + varint(int(x))
        elif isinstance(x, float):
            out += varint(at << 3 | 1) + struct.pack("<d", x)
        else:
            data = x.encode() if isinstance(x, str) else x
            out += varint(at << 3 | 2) + varint(len(data)) + data
    return out


def event(second, step, values):
    """At a step, the values of a summary, which are packed."""
    return record(message((1, second), (2, step), (5, message(*((1, v) for v in values)))))


def scalar(tag, x):
    return message((1, tag)) + varint(2 << 3 | 5) + struct.pack("<f", x)


def hparams(tag, *fields):
    """A summary of the plug-in hparams, with no tensor of its own."""
    empty = message((1, 1), (2, b""))  # of floats, without any
    return message((1, tag), (8, empty), (9, message((1, message((1, "hparams"), (2, message(*fields)))))))


def hparam(x):
    """A value of google.protobuf.Struct."""
    return message((4, x)) if isinstance(x, bool) else message((3, x)) if isinstance(x, str) else message((2, float(x)))


def tensorboard(run, place):
    """A directory for each trial, with one file of events."""
    if os.path.isdir(place) and os.listdir(place):
        raise ValueError("is not empty; name a new directory")
    for trial in all_trials(run):
        name = f"trial-{trial.row['trial']}"
        start = message(*((1, message((1, k), (2, hparam(x)))) for k, x in trial.params.items()), (4, name),
                        (5, trial.began))
        status = {"failed": 2, "running": 3}.get(trial.row["state"], 1)
        out = record(message((1, trial.began), (3, "brain.Event:2")))
        out += event(trial.began, 0, [hparams("_hparams_/session_start_info", (3, start))])
        for step, point, second in trial.points:
            out += event(second, step, [scalar(tag, x) for tag, x in point.items()])
        end = message((1, status), (2, trial.ended))
        out += event(trial.ended, 0, [hparams("_hparams_/session_end_info", (4, end))])
        write(f"{place}/{name}/events.out.tfevents.{int(trial.began)}.weft", out)


# ---- MLflow ------------------------------------------------------------------------------

FINISHED, FAILED, RUNNING = 3, 4, 1  # its statuses


def yaml(values):
    """A flat file of YAML: numbers, and texts as JSON writes them."""
    return "".join(f"{k}: {json.dumps(v)}\n" for k, v in values.items())


def mlflow(run, place):
    """An experiment of a file store: meta.yaml, and a directory for each run."""
    all_of_it = all_trials(run)
    identity = f"{run.attr['started']} {run.attr['config']}"
    name = name_of(run)
    number_of = str(int(hashlib.sha256(identity.encode()).hexdigest()[:15], 16))
    home = f"{place}/{number_of}"
    if os.path.exists(home):
        raise ValueError(f"has this run already, as experiment {number_of}; remove {home}, or name another directory")
    for other in os.listdir(place) if os.path.isdir(place) else ():
        meta = f"{place}/{other}/meta.yaml"
        if os.path.exists(meta) and f"name: {json.dumps(name)}\n" in open(meta, encoding="utf-8").read():
            raise ValueError(f"has an experiment {name}; name another directory, or rename the run file")
    now = int(1000 * run.began)
    where = "file://" + os.path.abspath(home)
    for trial in all_of_it:
        own = hashlib.sha256(f"{identity} {trial.row['trial']}".encode()).hexdigest()[:32]
        at, label = f"{home}/{own}", f"trial-{trial.row['trial']}"
        done = trial.row["state"] != "running"
        write(f"{at}/meta.yaml", yaml({
            "artifact_uri": f"{where}/{own}/artifacts", "end_time": int(1000 * trial.ended) if done else None,
            "entry_point_name": "", "experiment_id": number_of, "lifecycle_stage": "active", "run_id": own,
            "run_name": label, "run_uuid": own, "source_name": "", "source_type": 4, "source_version": "",
            "start_time": int(1000 * trial.began), "deleted_time": None,
            "status": {"failed": FAILED, "running": RUNNING}.get(trial.row["state"], FINISHED), "tags": [],
            "user_id": "weft"}))
        for part in ("metrics", "params", "tags", "artifacts"):
            os.makedirs(f"{at}/{part}", exist_ok=True)
        for key, x in trial.params.items():
            write(f"{at}/params/{key}", str(x))
        history = {}
        for step, point, second in trial.points:
            for key, x in point.items():
                history.setdefault(key, []).append(f"{int(1000 * second)} {x!r} {step}\n")
        for key, lines in history.items():
            write(f"{at}/metrics/{key}", "".join(lines))
        tags = {"mlflow.runName": label, "weft.state": trial.row["state"], "weft.trial": str(trial.row["trial"])}
        for key, x in tags.items():
            write(f"{at}/tags/{key}", x)
    for key, x in facts(run).items():
        write(f"{home}/tags/{key}", x)
    write(f"{home}/meta.yaml", yaml({  # last: without it there is no experiment
        "artifact_location": where, "creation_time": now, "experiment_id": number_of, "last_update_time": now,
        "lifecycle_stage": "active", "name": name}))


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("run", metavar="RUN.h5")
    form = parser.add_mutually_exclusive_group(required=True)
    form.add_argument("--optuna", metavar="STUDY.log")
    form.add_argument("--tensorboard", metavar="DIR")
    form.add_argument("--mlflow", metavar="DIR")
    args = parser.parse_args()
    try:
        run = Run(args.run)
    except (OSError, KeyError, ValueError) as why:
        sys.exit(f"{args.run}: {why}")
    for write_to, path in ((optuna, args.optuna), (tensorboard, args.tensorboard), (mlflow, args.mlflow)):
        if not path:
            continue
        try:
            write_to(run, path)
        except ValueError as why:
            sys.exit(f"{path}: {why}" if "older version" not in str(why) else f"{args.run}: {why}")
        except OSError as why:
            sys.exit(f"{path}: {why.strerror or why}")
    if run.unfinished:
        print(f"{args.run} is unfinished: {run.unfinished}", file=sys.stderr)


if __name__ == "__main__":
    main()
