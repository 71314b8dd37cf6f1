#!/usr/bin/env python3
"""Runs as one page: a file of HTML that needs no server, no network and no package to be looked at.

usage: analysis/page.py RUN.h5 [RUN.h5 ...] -o OUT.html

Curves of trials by resource, best so far, parallel coordinates, the loss against each other objective and axis, the
importance of axes (where `weft report --importance` tells it), mixtures over rounds, who did which job when, and a
table of trials with filter and order. A click on a trial marks it in all of them and beside others that are marked;
ranges are dragged on the parallel axes. Of searches by weight-sharing the configurations take the place of trials. A
run that goes on, or was stopped, is shown as far as it is. Needs h5py alone.

The pictures are drawn by the script in page.html, not by plotly: that would be a package that clusters lack, and 4 MB
in each file, and has neither marks through all pictures nor a table. So the file is as large as its numbers.
"""

import argparse
import csv
import io
import json
import math
import os
import sys

import numpy as np

import tables

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "python"))
from weft_read import Run, mixture_of, range_of, report, trials  # noqa: E402

MOST_NUMBERS = 400000  # of curves by rounds, and of mixtures: rounds are left out beyond it
MOST_SHOWN = 64        # configurations of a mixture, the likeliest
MOST_ROUNDS = 120      # of a mixture
UNITS = {"fed": "rounds", "sgd": "epochs"}


def short(values):
    """Six digits; None for what is not finite."""
    return [None if not math.isfinite(v) else int(v) if v == int(v) and abs(v) < 1e15 else float(f"{v:.6g}")
            for v in np.asarray(values, float).tolist()]


def exact(values):
    return [v if math.isfinite(v) else None for v in np.asarray(values, float).tolist()]


def changes(values):
    """Whether a column says something: it has finite numbers that differ."""
    good = np.asarray(values, float)
    good = good[np.isfinite(good)]
    return len(good) > 0 and bool((good != good[0]).any())


def unit_of(run):
    if run.attr["task"] == "fmap":
        return run.ini.get("fmap", "resource", fallback="fits")
    if run.attr["task"] == "fed" and run.ini.get("fed", "aggregation", fallback="") == "buffered":
        return "steps of the server"
    return UNITS.get(run.attr["task"], "")


def facts(run):
    keys = ("task", "tuner", "sampler", "mixing", "seed", "data", "started", "version", "digest")
    told = [[k, str(run.attr[k])] for k in keys if str(run.attr.get(k, "")) not in ("", "none")]
    return told + [["seconds", f"{float(run.attr.get('seconds', run.attr['search_seconds'])):.4g}"]]


def score_order(item):
    """Of the test part first, loss and error before others."""
    part, _, name = item[0].partition("_")
    return part, name not in ("loss", "error"), name


def winner_of(run, row, shared):
    """The place of the winner (of an unfinished run of the best so far) among the rows, and its scores."""
    scores = [[k.replace("_", " ", 1), short([v])[0]] for k, v in sorted(run.winner.items(), key=score_order)
              if k.startswith(("test_", "valid_")) and np.isscalar(v) and not isinstance(v, str)]
    return {"row": row.get(run.winner.get("id" if shared else "trial"), -1), "text": run.winner.get("text", ""),
            "scores": [s for s in scores if s[1] is not None], "none": run.attr.get("no_winner", "")}


def loss_name(run):
    """(what the loss of a job is called, metrics that are another thing)."""
    loss, other, name = run.event["loss"], [], "loss"
    for metric, *_ in run.metrics:
        if np.array_equal(run.event[metric], loss, equal_nan=True):
            name = f"loss ({metric})"
        elif np.isfinite(run.event[metric]).any():
            other.append(metric)
    return name, other + list(run.printed)


# ---- rows: trials, or configurations that share weights -------------------------------------

def axis_columns(run, value_of):
    """The axes with a value a row, by its configuration; choices by their place, None where the axis does not exist."""
    out = []
    for a, (name, kind) in enumerate(run.axis.items()):
        words = ["no", "yes"] if kind == "boolean" else None if kind in ("real", "integer") else \
            [str(w) for w in kind.split("|")]
        span = range_of(run, name) if words is None else None
        column = [None if v is None or not math.isfinite(v[a]) else int(v[a]) if words or kind == "integer" else float(v[a])
                  for v in value_of]
        out.append({"name": name, "words": words, "log": bool(span and span[2]),
                    "low": span and span[0], "high": span and span[1], "value": column})
    return out


def of_trials(run, metrics):
    rows = trials(run)
    value = dict(zip(run.config, run.value))
    columns = {"loss": exact([r["loss"] for r in rows])}
    columns |= {k: short([r[k] for r in rows]) for k in ("resource", "jobs", "seconds", *metrics)}
    job = {j: i for i, j in enumerate(run.event["job"].tolist())}
    columns |= {k: short([v[job[r["job"]]] for r in rows]) for k, v in run.objectives.items() if k not in ("loss", "front")}
    return ([r["trial"] for r in rows], [r["state"] for r in rows], columns,
            axis_columns(run, [value.get(r["config"]) for r in rows]))


def of_configurations(run):
    """Rows of a search in which configurations share weights: scores by their last job."""
    ids, arm = sorted(run.config), run.arm
    at = {c: i for i, c in enumerate(arm["config"].tolist())}
    last = [at.get(c) for c in ids]
    score = np.array([np.nan if i is None else arm["score"][i] for i in last])
    alone = run.event["job"][run.event["k"] == 1]
    ended = alone if len(alone) else run.event["job"][-1:]
    state = ["stopped" if i is None or arm["job"][i] not in ended or not arm["after"][i] else
             "failed" if not np.isfinite(s) else "running" if run.unfinished else "finished" for i, s in zip(last, score)]
    jobs = np.bincount([c for c in arm["config"].tolist()], minlength=max(ids, default=0) + 1)
    value = dict(zip(run.config, run.value))
    return ids, state, {"loss": exact(score), "jobs": short(jobs[ids])}, axis_columns(run, [value[c] for c in ids])


def front_of(run):
    """Names of the objectives beside the loss, and the rows of the trials of the front."""
    if "front" not in run.objectives:
        return None
    on = dict(zip(run.event["job"].tolist(), run.objectives["front"].tolist()))
    return {"names": [k for k in run.objectives if k not in ("loss", "front", "excess")],
            "rows": [i for i, r in enumerate(trials(run)) if on[r["job"]]]}


# ---- curves -----------------------------------------------------------------------------------

def job_curves(run, jobs, row, name, metrics):
    """Points of trials after each of their jobs."""
    unit = unit_of(run)
    ok = [i for i in jobs if row.get(int(run.event["trial"][i]), -1) >= 0]
    y = {name: short(run.event["loss"][ok])}
    y |= {m: short((run.event | run.printed)[m][ok]) for m in metrics}
    return {"x_name": "resource of the trial" + (f" ({unit})" if unit else ""), "jobs": True,
            "row": [row[int(t)] for t in run.event["trial"][ok]], "x": short(run.event["resource"][ok]), "y": y}


def round_curves(run, row):
    """Means over folds after each round or epoch, or what programs reported by step. Rounds in between are left out
    where there are too many numbers."""
    r = run.rounds
    skip = ("job", "trial", "unit", "fold", "step", "wall", "compute", "wait", "comm")
    names = [k for k in r if k not in skip and r[k].dtype.kind in "fiu" and changes(r[k])]
    if not names or not len(r["trial"]):
        return None
    x = r["step"] if "step" in r else r["unit"]
    fold = r.get("fold", np.zeros(len(x)))
    if fold.any():  # epochs are counted for each fold
        order = np.lexsort((r["unit"], r["job"], fold, r["trial"]))
        new = np.flatnonzero(np.r_[True, (np.diff(fold[order]) != 0) | (np.diff(r["trial"][order]) != 0)])
        x = np.empty(len(order), int)
        x[order] = np.arange(len(order)) - np.repeat(new, np.diff(np.r_[new, len(order)])) + 1
    key, inverse = np.unique(np.stack([r["trial"], x]), axis=1, return_inverse=True)
    every = math.ceil(key.shape[1] * len(names) / MOST_NUMBERS)
    ends = np.r_[np.diff(key[0]) != 0, True]
    kept = np.flatnonzero(np.isin(key[0], list(row)) & (ends | (np.arange(len(ends)) % every == 0)))
    y = {}
    for name in names:
        good = np.isfinite(r[name])
        count = np.bincount(inverse.ravel()[good], minlength=key.shape[1])
        total = np.bincount(inverse.ravel()[good], r[name][good], key.shape[1])
        with np.errstate(invalid="ignore", divide="ignore"):
            y[name] = short((total / count)[kept])
    what = "step that was reported" if "step" in r else f"{unit_of(run) or 'rounds'} of the trial"
    return {"x_name": what, "row": [row[int(t)] for t in key[0][kept]], "x": short(key[1][kept]), "y": y,
            "note": f"one of {every} {unit_of(run) or 'rounds'} is shown" if every > 1 else ""}


def shared_curves(run, row):
    """Scores of configurations with the shared weights, round by round; jobs of their own come behind these."""
    place, k = {}, dict(zip(run.event["job"].tolist(), run.event["k"].tolist()))
    for job in sorted(k):
        if k[job] > 1:
            place[job] = len(place) + 1
    order = np.lexsort((run.arm["job"], run.arm["config"]))
    x = [place.get(j, len(place) + 1) for j in run.arm["job"][order].tolist()]
    alone = any(n == 1 for n in k.values())
    return {"x_name": "round of the shared weights" + (f"; {len(place) + 1}: fitted alone" if alone else ""),
            "row": [row[c] for c in run.arm["config"][order].tolist()], "x": x,
            "y": {"loss": short(run.arm["score"][order])}}


# ---- mixtures ---------------------------------------------------------------------------------

def mixture(run, name, x, ids, p, row):
    """Rounds by configurations, the likeliest at the end first; some of each where there are many."""
    order = np.argsort(-np.nan_to_num(p[-1]), kind="stable")[:MOST_SHOWN]
    rounds = np.unique(np.linspace(0, len(x) - 1, min(len(x), MOST_ROUNDS)).round().astype(int))
    return {"name": name, "x": short(x[rounds]), "rows": [row.get(int(c), -1) for c in ids[order]], "of": len(ids),
            "id": ids[order].tolist(), "text": [run.config.get(int(c), "") for c in ids[order]],
            "p": [[None if v is None else float(f"{v:.3g}") for v in short(p[rounds, c])] for c in order]}


def mixtures_of(run, row, shared):
    """{row of the trial, or -1: mixture}, the winner's first, as many as there is room for."""
    if shared:
        job = np.array([j for j, k in zip(run.event["job"], run.event["k"]) if k > 1])
        ids = np.array(sorted(run.config))
        p = np.zeros((len(job), len(ids)))
        place = {j: i for i, j in enumerate(job.tolist())}
        for j, c, after in zip(run.arm["job"].tolist(), run.arm["config"].tolist(), run.arm["after"].tolist()):
            if j in place:
                p[place[j], np.searchsorted(ids, c)] = after
        return {-1: mixture(run, "after each round of the shared weights", np.arange(1, len(job) + 1), ids, p, row)} \
            if len(job) else {}
    found, room = {}, MOST_NUMBERS
    best = run.winner.get("trial")
    for trial in sorted(set(run.rounds["trial"].tolist()) if run.mix else (), key=lambda t: (t != best, t)):
        if trial not in row or room < 0:
            continue
        x, ids, p = mixture_of(run, trial)
        found[row[trial]] = mixture(run, f"of trial {trial}", x, ids, p, {})
        room -= sum(map(len, found[row[trial]]["p"]))
    return found


# ---- the page ---------------------------------------------------------------------------------

def importance_of(path):
    """What `weft report --importance` says of a run: the verdict, shares of axes and of two together, and the mean loss
    by value; nothing where it has no such option."""
    try:
        lines = list(csv.DictReader(io.StringIO(report("--importance", "--csv", path))))
        verdict = [line.split(None, 1)[1] for line in report("--importance", path).splitlines() if line.startswith("matters ")]
        shares = [{"axis": r["axis"] + (f" with {r['with']}" if r["with"] else ""),
                   **{k: short([float(r[k])])[0] for k in ("share", "low", "high")}} for r in lines if r["share"]]
        means = {}
        for r in lines:
            if r.get("value"):
                means.setdefault(r["axis"], []).append([r["value"], *short([float(r[k]) for k in ("loss", "loss_low", "loss_high")])])
    except (ValueError, KeyError):
        return None
    return {"verdict": "".join(verdict), "shares": shares, "means": means}


def busy_of(run):
    """What is said of the workers in virtual time, and of the teams in real time."""
    if not run.busy:
        return ["", ""]
    workers, teams = int(run.busy["workers"]), int(run.attr["teams"])
    rate = run.busy["team_utilisation"]
    return [f"{workers} simulated worker{'s' * (workers > 1)}, {100 * run.busy['utilisation']:.1f} % busy",
            f"{teams} team{'s' * (teams > 1)} of ranks, " + (f"{rate:.1f} jobs at once" if run.attr["task"] == "ask" else
                                                             f"{100 * rate:.1f} % busy")]


def told(run):
    """All that the page shows of a run."""
    shared = run.tuner.startswith("ws_") and bool((run.event["k"] > 1).any())
    name, metrics = loss_name(run)
    ids, state, columns, axes = of_configurations(run) if shared else of_trials(run, metrics)
    row = {c: i for i, c in enumerate(ids)}
    e, t = run.event, run.timeline
    jobs = np.lexsort((e["job"], e["resource"], e["trial"]))
    curves = [shared_curves(run, row)] if shared else [job_curves(run, jobs, row, name, metrics), round_curves(run, row)]
    job_row = [row.get(int(trial), -1) for trial in e["trial"]]
    if shared:
        own = dict(zip(run.arm["job"].tolist(), run.arm["config"].tolist()))
        job_row = [row[own[j]] if k == 1 else -1 for j, k in zip(e["job"].tolist(), e["k"].tolist())]
    return {"name": os.path.splitext(os.path.basename(run.path))[0], "path": run.path, "facts": facts(run),
            "unfinished": run.unfinished, "word": "configuration" if shared else "trial", "loss": name,
            "unit": unit_of(run), "winner": winner_of(run, row, shared), "id": ids, "state": state, "columns": columns,
            "axes": axes, "curves": [c for c in curves if c], "mixtures": mixtures_of(run, row, shared),
            "importance": importance_of(run.path), "front": front_of(run), "busy": busy_of(run),
            "jobs": {"row": job_row, "job": e["job"].tolist(), "loss": short(e["loss"]), "k": e["k"].tolist(),
                     **{k: short(t[k]) for k in ("worker", "start", "end", "team", "began", "ended") if k in t}}}


def embedded(data):
    """JSON that ends no script and starts no tag, whatever texts are in it."""
    line = json.dumps(data, separators=(",", ":"), allow_nan=False)
    return line.replace("<", "\\u003c").replace(">", "\\u003e").replace("&", "\\u0026")


def main():
    args = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    args.add_argument("runs", metavar="RUN.h5", nargs="+")
    args.add_argument("-o", metavar="OUT.html", required=True)
    args = args.parse_args()
    if os.path.exists(args.o) and not args.o.endswith((".html", ".htm")):
        sys.exit(f"{args.o} exists and is not named .html: choose another name")
    runs = []
    for path in args.runs:
        try:
            runs.append(told(Run(path)))
        except (OSError, KeyError, ValueError, ImportError) as why:
            sys.exit(f"{path}: {why}")
    with open(os.path.join(os.path.dirname(os.path.abspath(__file__)), "page.html"), encoding="utf-8") as f:
        head, tail = f.read().split("@DATA@")
    with tables.replace(args.o) as out:
        out.write(head + embedded(runs) + tail)
    print(args.o)


if __name__ == "__main__":
    main()
