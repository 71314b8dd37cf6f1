#!/usr/bin/env python3
"""Compares `weft report` with what h5py reads from run files, and the columns of these with
each other: every number of the text, the CSV and the JSON, computed here a second time.
usage: report.py WEFT RUN.h5 ... [UNFINISHED.h5: ...]; of one that is not finished, trials alone;
prints each difference; status 1 if there is any."""
import configparser
import csv
import difflib
import functools
import io
import json
import math
import subprocess
import sys

import h5py
import numpy as np

sys.path.insert(0, "analysis")
import stats

FACTS = "task tuner sampler mixing data data_digest seed configs rounds jobs ranks teams " \
    "timeline@most_teams starts hosts version compiler real kernel blas started optimum " \
    "setup_seconds search_seconds refit_seconds test_seconds seconds timeline@workers " \
    "timeline@overhead timeline@makespan timeline@utilisation timeline@team_utilisation " \
    "winner@trial winner@id winner@text winner@measure no_winner " \
    "clients@worst_error clients@median_error clients@best_error clients@std_error " \
    "winner/kept@rows winner/kept@numbers winner/kept@bytes unfinished digest".split()
NAMES = {"winner/kept@rows": "kept_clients", "winner/kept@numbers": "kept_numbers", "winner/kept@bytes": "kept_bytes",
         "winner@trial": "winner_trial", "winner@id": "winner_config", "winner@text": "winner",
         "winner@measure": "measure",
         **{f"clients@{name}_error": f"clients_{name}_error" for name in "worst median best std".split()}}
TIMES = {"compute": "s", "wait": "s", "comm": "s", "io": "s", "bytes": "GB", "memory": "GB"}
PARTS = "train", "valid", "test"
SPENT = {"bytes": "GB", "s": "virtual hours", "J": "kJ"}
ASIDE = {f"run.{k}" for k in "seed output data memory disk time_limit checkpoint watchdog teams".split()}
differences = []


def differs(path, what):
    differences.append(f"{path}: {what}")


class Run:
    """What is read of a run file."""

    def __init__(self, path):
        self.path, self.f = path, h5py.File(path)
        self.events, self.arms, self.rounds, self.timeline = (
            {name: column[:] for name, column in self.f[group].items()} if group in self.f else {}
            for group in ("events", "arms", "rounds", "timeline"))
        self.metrics = table(self.f["events"].attrs["metrics"])
        self.columns = table(self.f["rounds"].attrs["columns"]) if self.rounds else []
        self.scores = table(self.f["winner"].attrs["scores"]) if "winner" in self.f else []
        self.text = {i: t.decode() for i, t in zip(self.f["configs/id"][:], self.f["configs/text"][:])}
        self.times = {name: self.f["times"][name][:] for name in TIMES if "times" in self.f}

    def fact(self, key):
        group, _, name = key.rpartition("@")
        x = self.f[group or "/"].attrs.get(name) if not group or group in self.f else None
        return x.item() if isinstance(x, np.generic) else x

    def score(self, part, name):
        return self.f["winner"].attrs.get(f"{part}_{name}", math.nan)


def table(text):
    """Metrics as (name, unit, title)."""
    return [line.split("\t")[:3] for line in text.splitlines()]


# ---- the columns of a file ---------------------------------------------------------------

def check_file(run):
    e, a, r, t = run.events, run.arms, run.rounds, run.timeline
    first = e[run.metrics[0][0]]
    optimum = run.fact("optimum")
    same = functools.partial(np.allclose, rtol=1e-12, atol=1e-12, equal_nan=True)
    lasted = t["end"] - t["start"]
    cost = e["cost"] + run.fact("timeline@overhead")
    total = {}
    for job, parent, rounds in zip(e["job"], t["parent"], e["rounds"]):
        total[job] = total.get(parent, 0) + rounds
    def of_arms(what):
        scored = a["count"] > 0
        of = [scored & (a["job"] == job) for job in e["job"]]
        return np.array([np.average(a[what][own], weights=a["count"][own]) for own in of])
    before = {job: a["after"][a["job"] == job] for job in e["job"]}
    winner = run.f["winner"].attrs
    checks = {
        "regret is the first metric less the optimum":
            same(e["regret"], first - (math.nan if optimum is None else optimum))
            and (optimum is None or e["regret"].min() >= 0),
        "virtual times are costs": same(lasted, cost),
        "real times are seconds": same(t["ended"] - t["began"], e["seconds"]),
        "makespan": same(run.fact("timeline@makespan"), t["end"].max()),
        "utilisation": same(run.fact("timeline@utilisation"),
                            e["cost"].sum() / run.fact("timeline@workers") / t["end"].max()),
        "team utilisation":
            same(run.fact("timeline@team_utilisation"),
                 e["seconds"].sum() / run.fact("teams") / run.fact("search_seconds")),
        "seconds in all":
            same(run.fact("seconds"), sum(run.fact(k + "_seconds") for k in ("setup", "search", "test"))),
        "a number of arms and jobs": run.fact("jobs") == len(e["job"]) and (e["alive"] <= e["k"]).all(),
        "wrong answers are counted": same(np.round(a["error"] * a["count"]), a["error"] * a["count"]),
        "probabilities": all(same(a[p][a["job"] == job].sum(), 1) for p in ("p", "after") for job in e["job"]),
        "a mixture goes on from that after its last job":
            all(same(a["p"][a["job"] == job], before[parent])
                for job, parent, k, alive in zip(e["job"], t["parent"], e["k"], e["alive"])
                if parent >= 0 and alive == k == len(before[parent])),
        "winner": winner["trial"] == e["trial"][e["job"] == winner["job"]][0]
                  and winner["text"] == run.text[winner["id"]],
    }
    if "winner/kept" in run.f:
        kept = run.f["winner/kept"]
        rows, each = kept["row"].shape
        checks["size of what clients keep"] = rows == len(kept["client"]) == run.fact("winner/kept@rows") \
            and each == run.fact("winner/kept@numbers") \
            and run.fact("winner/kept@bytes") == rows * (24 + -(-each * kept["row"].dtype.itemsize // 8) * 8)
    for name, x in run.times.items():
        least, mean, most = x[:3]
        ranks = run.fact("ranks")
        checks["spread of " + name] = least <= mean <= most and (ranks > 2 or same(mean, (least + most) / 2))
    if run.fact("ranks") == 1:
        checks["one rank computes and waits for nobody"] = \
            run.times["compute"][1] > run.times["wait"][1] + run.times["comm"][1]
    if not r:
        checks |= {f"the {what} of a job is that of its arms": same(of_arms(what), e["valid_" + what])
                   for what in ("loss", "error") if "valid_" + what in e}
    if r:
        of = {job: r["job"] == job for job in e["job"]}
        last = np.array([np.flatnonzero(of[job])[-1] for job in e["job"]])
        checks |= {
            "resources are rounds": same(e["resource"], [total[job] for job in e["job"]]),
            "rounds of jobs": same(e["rounds"], [of[job].sum() for job in e["job"]]),
            "costs are virtual seconds": same(e["cost"], [r["seconds"][of[job]].sum() for job in e["job"]]),
            "rounds take most of a job's time":
                all(r["wall"][of[job]].sum() <= s for job, s in zip(e["job"], e["seconds"])),
            "times of rounds": (r["compute"] + r["wait"] + r["comm"] <= r["wall"] + 1e-6).all(),
            "teams of one rank compute and wait for nobody":
                run.fact("ranks") > run.fact("teams") or (r["compute"].min() > 0 == (r["wait"] + r["comm"]).max()),
            "mixtures after the last round": "mix" not in run.f or all(
                same(a["after"][a["job"] == job], run.f["mix/p"][last[i]][:np.sum(a["job"] == job)])
                for i, job in enumerate(e["job"])),
            "scores of arms": all(
                (of_arms(what)[i] >= min(r["after_" + what][of[job]]) - 1e-9)
                and (of_arms(what)[i] <= max(r["after_" + what][of[job]]) + 1e-9)
                for what in ("loss", "error") for i, job in enumerate(e["job"])),
            "a pool of one round": "pool = 1\n" not in run.fact("config") or all(
                same(e[job], r[column][last]) for job, column in
                (("personal_loss", "after_loss"), ("global_loss", "before_loss"), ("valid_error", "after_error"),
                 ("personal_error", "after_error"), ("global_error", "before_error"), ("valid_loss", "after_loss"))),
        }
    for what, good in checks.items():
        if not good:
            differs(run.path, "in the file: " + what)


# ---- JSON and CSV ------------------------------------------------------------------------

def plain(x):
    """A number of JSON, or None."""
    return None if x is None or not np.isfinite(x) else x.item()


def as_json(run, settings):
    out = {"run": run.path, "settings": settings}
    out |= {NAMES.get(key, key.split("@")[-1]): run.fact(key) for key in FACTS}
    out |= {f"{part}_{name}": plain(np.float64(run.score(part, name))) for part in PARTS for name, *_ in run.scores}
    if "winner/confusion" in run.f:
        out["classes"] = [name.decode() for name in run.f["winner/class"][:]]
        out["confusion"] = run.f["winner/confusion"][:].tolist()
    out["times"] = {name: list(x[:3]) for name, x in run.times.items()}
    names = ["job", "trial", "rounds", "resource", "loss", "bound", "seconds"] + [m[0] for m in run.metrics]
    out["jobs_done"] = [{n: plain(run.events[n][i]) for n in names} for i in range(len(run.events["job"]))]
    names = ["job", "config", "text", "p", "after", "loss", "error", "count"]
    arms = run.arms | {"text": [run.text[i] for i in run.arms["config"]]}
    out["arms"] = [{n: arms[n][i] if n == "text" else plain(arms[n][i]) for n in names}
                   for i in range(len(arms["job"]))]
    return out


def check_csv(runs, lines):
    rows = list(csv.DictReader(io.StringIO(lines)))
    if len(rows) != len(runs):
        differs("CSV", f"{len(rows)} rows of {len(runs)} runs")
    for run, settings, row in zip(runs, told_by(runs), rows):
        want = as_json(run, settings)
        del want["jobs_done"], want["arms"]
        want.pop("classes", None)
        want["confusion"] = ";".join(" ".join(f"{x:.17g}" for x in row) for row in want.get("confusion", ())) or None
        for name, x in want.pop("times").items():
            want |= {f"{name}_{k}": float(v) for k, v in zip(("min", "mean", "max"), x)}
        for name in row.keys() | want.keys():
            have, x = row.get(name), want.get(name)
            if not (have == x if isinstance(x, str) else have == "" if x is None else have and float(have) == x):
                differs(run.path, f"CSV: {name} is {have}, not {x}")


# ---- trials ------------------------------------------------------------------------------

def typed(kind, x):
    """A value of an axis."""
    if math.isnan(x):
        return None
    if kind in ("real", "integer", "boolean"):
        return {"real": float, "integer": int, "boolean": bool}[kind](x)
    words = kind.split("|")
    try:
        return [float(word) for word in words][int(x)]
    except ValueError:
        return words[int(x)]


def trials_of(run):
    """Rows of --trials, as JSON has them."""
    e, a, f = run.events, run.arms, run.f["configs"]
    names = [t.decode() for t in f["axis"][:]]
    kinds = [t.decode() for t in f["type"][:]]
    values = dict(zip(f["id"][:].tolist(), f["value"][:].reshape(len(f["id"]), -1)))
    rows = []
    for trial in np.unique(e["trial"]):
        own = np.flatnonzero(e["trial"] == trial)
        i = own[np.argmax(e["job"][own])]
        arms = np.flatnonzero(a["job"] == e["job"][i])
        arm = min(arms, key=lambda j: (-a["after"][j], *rank(a["score"][j], a["loss"][j])))
        config = a["config"][arm].item()
        whole = "unfinished" not in run.f.attrs
        won = whole and "winner" in run.f and run.f["winner"].attrs["trial"] == trial
        full = e["last"][i] or won or (whole and e["resource"][i] == max(e["resource"]))
        state = "failed" if not math.isfinite(e["loss"][i]) else "finished" if full else "stopped" if whole else "running"
        row = {"run": run.path, "trial": trial.item(), "config": config, "jobs": len(own), "job": e["job"][i].item(),
               "state": state, "resource": e["resource"][i].item(), "loss": plain(e["loss"][i]),
               "seconds": functools.reduce(lambda x, y: x + y, e["seconds"][own].tolist())}
        row |= {name: plain(e[name][i]) for name, *_ in run.metrics}
        printed = run.f["events"].attrs["printed"].splitlines()
        row |= {name: plain(run.f["metrics"][name][i]) for name in printed}
        row |= {name: typed(kind, x) for name, kind, x in zip(names, kinds, values[config])}
        # as people write it: numbers with as many digits as it takes
        text = dict(item.split("=", 1) for item in run.text[config].split())
        for name, kind in zip(names, kinds):
            shown = "-" if row[name] is None else str(row[name]).lower() if kind == "boolean" else row[name]
            if not (text[name] == shown if isinstance(shown, str) else float(text[name]) == shown):
                differs(run.path, f"configuration {config}: {name} is {row[name]}, as text {text[name]}")
        rows.append(row)
    return rows


def check_trials(paths, report, files):
    """Every number of --trials of the runs, whose tables are in `files`: an unfinished one has a file beside it."""
    want = []
    for path, file in zip(paths, files):
        want += [row | {"run": path} for row in trials_of(file)]
    columns = list(dict.fromkeys(name for row in want for name in row))
    if any(set(f.f.get("metrics", ())) != set(f.f["events"].attrs["printed"].splitlines()) for f in files):
        differs("trials", "names of /metrics")
    have = json.loads(report(*paths, "--trials", "--json"))
    table = list(csv.DictReader(io.StringIO(report(*paths, "--trials", "--csv"))))
    if len(have) != len(want) or len(table) != len(want):
        differs("trials", f"{len(have)} objects and {len(table)} lines of {len(want)} trials")
    for row, line, real in zip(have, table, want):
        if sorted(row) != sorted(columns) or sorted(line) != sorted(columns):
            differs(real["run"], f"columns of trials {list(row)}, {list(line)}, not {columns}")
            break
        for name in columns:
            x = real.get(name)
            if row[name] != x or type(row[name]) is not type(x):
                differs(real["run"], f"trial {real['trial']}: {name} is {row[name]}, not {x}")
            told = line[name]
            if isinstance(x, bool):
                told = {"true": True, "false": False}.get(told)
            elif isinstance(x, (int, float)):
                told = type(x)(told)
            elif x is None:
                told = None if told in ("", "inf") else told
            if told != x:
                differs(real["run"], f"trial {real['trial']}: {name} is {line[name]} in CSV, not {x}")


# ---- text --------------------------------------------------------------------------------

def loss(x, decimals=5):
    if math.isnan(x):
        return "-"
    plain_size = x == 0 or 1e-3 <= abs(x) < 1e6
    return f"{x:.{decimals}f}" if plain_size else f"{x:.{decimals - 1}g}"


def brief(text):
    out = []
    for item in text.split():
        name, _, x = item.partition("=")
        try:
            short = f"{name}={float(x):.4g}"
        except ValueError:
            short = item
        out.append(min(short, item, key=len))
    return " ".join(out)


def score_line(run, part):
    shown = []
    for name, _, title in run.scores:
        x = run.score(part, name)
        if title and not math.isnan(x):
            shown.append(f"{title[:-1]}{100 * x:.3f} %" if title.endswith("%") else f"{title} {loss(x, 6)}")
    return [f"{part} {' '.join(shown)}"] if shown else []


def guess_line(run):
    """Of a winner whose classes are right no more often than by guesses."""
    if "winner/confusion" not in run.f:
        return []
    m = run.f["winner/confusion"][:]
    own = m.sum(axis=1)
    n, right = own[own > 0], np.diag(m)[own > 0]
    guess = 1 / max(len(n), 1)
    chance = 1.96 * np.sqrt(guess * (1 - guess) * np.sum(1 / n)) / max(len(n), 1)
    if len(n) < 2 or np.mean(right / n) > guess + min(chance, 0.02):
        return []
    return [f"guesses its balanced error of {100 * (1 - np.mean(right / n)):.1f} % is not better than that of guesses, "
            f"{100 * (1 - guess):.1f} %"]


def confusion(run):
    """The matrix of the test part, from which follow the balanced error and F1."""
    if "winner/confusion" not in run.f:
        return []
    m = run.f["winner/confusion"][:]
    own, said, right = m.sum(1), m.sum(0), m.diagonal()
    with np.errstate(invalid="ignore"):
        want = {"balanced": np.nanmean(1 - right / own), "f1": np.nanmean(2 * right / (own + said))}
    for name, x in want.items():
        if abs(run.score("test", name) - x) > 1e-12:
            differs(run.path, f"test_{name} is {run.score('test', name)}, by the confusion matrix {x}")
    names = [name.decode() for name in run.f["winner/class"][:]]
    if len(names) > 12:
        return []
    lines = ["class the class that is predicted of rows of the test part", " ".join(names)]
    return lines + [" ".join([name] + [f"{x:.10g}" for x in row]) for name, row in zip(names, m)]


def rank(loss, tie):
    """Equal losses are decided by the second number, as space.h has it."""
    if not math.isfinite(loss):
        return math.inf, math.inf
    return loss, math.inf if math.isnan(tie) else tie


def better(e, i, k):
    """Of jobs i and k: -1 if i is better, as run.h has it."""
    if (e["wins"][i] > 0) != (e["wins"][k] > 0):
        return -1 if e["wins"][i] > 0 else 1
    if e["wins"][i] == 0:
        return k - i
    a, b = ((not math.isfinite(e["loss"][j]), -e["resource"][j],
             *rank(e["loss"][j], e["valid_loss"][j]), j) for j in (i, k))
    if 2 in (e["wins"][i], e["wins"][k]):
        a, b = a[:1] + a[2:], b[:1] + b[2:]
    return -1 if a < b else 1


def trials(run):
    e, a = run.events, run.arms
    order = sorted(range(len(e["job"])), key=functools.cmp_to_key(lambda i, k: better(e, i, k)))
    best = list({e["trial"][i]: i for i in reversed(order)}.values())
    best.sort(key=order.index)
    shown = [m for m in run.metrics if m[2]]
    lines = [f"best trial job resource score +- {' '.join(m[2] for m in shown)} seconds p likeliest configuration"]
    for place, i in enumerate(best[:5]):
        own = np.flatnonzero(a["job"] == e["job"][i])
        arm = min(own, key=lambda j: (-a["after"][j], *rank(a["score"][j], a["loss"][j])))
        cells = [f"{100 * e[n][i]:.2f}" if t.endswith("%") else f"{e[n][i]:.5g}" for n, _, t in shown]
        lines.append(f"{place + 1} {e['trial'][i]} {e['job'][i]} {e['resource'][i]:g} {loss(e['loss'][i])} "
                     f"{loss(e['bound'][i])} {' '.join(cells).replace('nan', '-')} {e['seconds'][i]:.2f} "
                     f"{a['after'][arm]:.3f} {brief(run.text[a['config'][arm]])}")
    return lines


def lower_line(run):
    """The lowest score of another trial that is below the winner's, and why it did not win."""
    e = run.events
    won = min(range(len(e["job"])), key=functools.cmp_to_key(lambda i, k: better(e, i, k)))
    lower = [i for i in range(len(e["job"])) if e["loss"][i] < e["loss"][won] and e["trial"][i] != e["trial"][won]]
    if not lower:
        return []
    i = min(lower, key=lambda i: e["loss"][i])
    if e["wins"][i] == 0:
        why = f"it was left behind by tuner {run.fact('tuner')}, which chooses among the trials that it kept to the end"
    else:
        why = f"it was trained for {e['resource'][i]:g} where the winner was for {e['resource'][won]:g}, and those " \
              "trained longest come first"
    return [f"lower trial {e['trial'][i]} has the score {loss(e['loss'][i])}, below the winner's {loss(e['loss'][won])}, but {why}"]


def client_line(run):
    if "clients" not in run.f:
        return []
    x = np.sort(100 * run.f["clients"][run.fact("clients@error_column")][:])
    tenth = -(-len(x) // 10)
    return [f"clients error of the best tenth {x[:tenth].mean():.3f} %, median {np.median(x):.3f} %, "
            f"worst tenth {x[-tenth:].mean():.3f} %; standard deviation {x.std():.3f} points"]


def kept_line(run):
    if "winner/kept" not in run.f:
        return []
    rows, numbers, size = (run.fact(f"winner/kept@{key}") for key in ("rows", "numbers", "bytes"))
    return [f"kept {numbers} numbers of each of {rows} clients, {size / 1e6:.4g} MB on disk"]


def ranking(run):
    e, a = run.events, run.arms
    single = np.sum(a["p"] >= 1) > 1
    last = {}
    for i in range(len(a["job"])):
        if (a["p"][i] >= 1) == single and a["p"][i] > 0 and a["count"][i] > 0:
            last[a["config"][i]] = i
    won = run.fact("winner@id")
    if single:
        at = {job: i for i, job in enumerate(e["job"])}
        order = sorted(last.values(),
                       key=functools.cmp_to_key(lambda i, k: better(e, at[a["job"][i]], at[a["job"][k]])))
    else:
        order = sorted(last.values(), key=lambda i: (a["config"][i] != won, -a["job"][i],
                                                     *rank(a["score"][i], a["loss"][i]), i))
    if len(order) < 2:
        return []
    own = np.any((a["score"] != a["loss"]) & (a["score"] != a["error"]) & ~np.isnan(a["score"]))
    lines = [f"best config job p samples loss error % {'score ' * bool(own)}configuration"]
    for place, i in enumerate(order[:5]):
        error = "-" if math.isnan(a["error"][i]) else f"{100 * a['error'][i]:.3f}"
        lines.append(f"{place + 1} {a['config'][i]} {a['job'][i]} {a['p'][i]:.4f} {a['count'][i]:.0f} "
                     f"{loss(a['loss'][i])} {error} {loss(a['score'][i]) + ' ' if own else ''}{brief(run.text[a['config'][i]])}")
    return lines


def times(run):
    fact = run.fact
    refit = fact("refit_seconds")
    without = f" ({fact('search_seconds') - refit:.2f} without the refit)" if refit > 0 else ""
    lines = [f"seconds: set-up {fact('setup_seconds'):.2f}, search {fact('search_seconds'):.2f}{without}, "
             f"test {fact('test_seconds'):.2f}; in all {fact('seconds'):.2f}",
             f"where min mean max over {fact('ranks')} ranks"]
    for name, unit in TIMES.items():
        x = run.times[name][:3] / (1e9 if unit == "GB" else 1)
        lines.append(f"{name} {x[0]:.3f} {x[1]:.3f} {x[2]:.3f} {unit}")
    teams = fact("teams")
    return lines + [f"workers {fact('timeline@workers')} simulated for {fact('timeline@makespan'):.6g} virtual "
                    f"seconds, {100 * fact('timeline@utilisation'):.1f} % busy; {teams} team{'s'[:teams > 1]} of "
                    f"ranks, {100 * fact('timeline@team_utilisation'):.1f} % busy"]


def spent(run, unit):
    """What the rounds took of it."""
    return sum(run.rounds[n].sum() for n, u, _ in run.columns if u == unit) / {"bytes": 1e9, "s": 3600, "J": 1000}[unit]


def settings(run):
    """The options of an input file, without those that tell nothing of the method."""
    ini = configparser.ConfigParser(interpolation=None)
    ini.optionxform = str
    ini.read_string(run.fact("config"))
    out = {f"{s}.{k}": v for s in ini.sections() for k, v in ini[s].items() if f"{s}.{k}" not in ASIDE}
    return out | ({"run.data": run.fact("data_digest")} if run.fact("data") else {})


def methods(runs):
    """(number of each run, lines of the table) of runs of one task, by texts: defaults are not known here."""
    own = [settings(run) for run in runs]
    keys = [k for k in dict.fromkeys(k for s in own for k in s) if len({s.get(k) for s in own}) > 1]
    texts = [" ".join(f"{k}={run.fact('data') if k == 'run.data' else s[k]}" for k in keys if k in s)
             for run, s in zip(runs, own)]
    return [list(dict.fromkeys(texts)).index(t) for t in texts], list(dict.fromkeys(texts))


def told_by(runs):
    """The settings of each run; of several tasks none."""
    if len({run.fact("task") for run in runs}) > 1:
        return [""] * len(runs)
    number, texts = methods(runs)
    return [texts[m] for m in number]


def mean(x):
    x = [v for v in x if not math.isnan(v)]
    i = stats.by_samples(x)
    return lambda digits: "-" if not x else f"{i.mean:.{digits}f}" + (
        f" +- {i.half:.{digits}f}" if len(x) > 1 else "")


def method_table(runs, shown):
    number, texts = methods(runs)
    units = [u for u in SPENT if any(spent(run, u) > 0 for run in runs)]
    lines = [" ".join(["method seeds"] + [f"{p} {s[2]}" for p, s in shown] + [SPENT[u] for u in units] +
                      ["settings that differ; means with 95 % intervals over seeds"])]
    for m, text in enumerate(texts):
        group = list({run.fact("seed"): run for run, k in reversed(list(zip(runs, number))) if k == m}.values())
        cells = [f"{m + 1} {len(group)}"]
        for p, (name, _, title) in shown:
            share = title.endswith("%")
            cells.append(mean([(100 if share else 1) * run.score(p, name) for run in group])(2 if share else 5))
        cells += [mean([spent(run, u) for run in group])(3) for u in units]
        lines.append(" ".join(cells + [text or "-"]))
    return number, lines


def rounds(run):
    r = run.rounds
    if not r:
        return []
    wall, *parts = (r[n].sum() for n in ("wall", "compute", "wait", "comm"))
    compute, wait, comm = (100 * x / wall for x in parts)
    counts = [f"{r[n].sum():.0f} {title}" for n, unit, title in run.columns if unit == "count" and title]
    counts += [f"{spent(run, unit):.4g} {title}" for unit, title in SPENT.items() if spent(run, unit) > 0]
    return [f"rounds {len(r['job'])} in {wall:.2f} s: {compute:.1f} % computing, {wait:.1f} % waiting, "
            f"{comm:.1f} % in collectives", "in these " + ", ".join(counts)]


def as_text(run):
    fact = run.fact
    beside = "".join(f", {k} {fact(k)}" for k, usual in (("sampler", "space"), ("mixing", "none")) if fact(k) != usual)
    trial = f"trial {fact('winner@trial')}, configuration " if run.rounds else ""
    lines = [f"run {run.path}",
             f"task {fact('task')}, tuner {fact('tuner')}{beside}, seed {fact('seed')}, {fact('configs')} "
             f"configurations, {fact('jobs')} jobs"]
    if fact("data"):
        lines.append(f"data {fact('data')} ({fact('data_digest')})")
    lines += [f"ranks {fact('ranks')} on {fact('hosts')}; OpenBLAS {fact('blas')}, kernel {fact('kernel')}, weft "
              f"{fact('version')}, {fact('real')}",
              f"winner {trial}{fact('winner@id')}: {fact('winner@text') or 'the settings of the input file'}"]
    lines += score_line(run, "valid") + score_line(run, "test") + client_line(run) + kept_line(run)
    if fact("optimum") is not None:
        regret = run.score("valid", run.scores[0][0]) - fact("optimum")
        lines.append(f"optimum {fact('optimum'):.8g} in the space: regret of the winner {regret:.3g}")
    lines += lower_line(run) + guess_line(run)
    lines += confusion(run) + (trials(run) if run.rounds else ranking(run))
    return lines + times(run) + rounds(run) + [f"digest {fact('digest')}"]


def comparison(runs):
    scores = list(dict.fromkeys(tuple(s) for run in runs for s in run.scores))
    shown = [(p, s) for p in PARTS for s in scores if any(not math.isnan(run.score(p, s[0])) for run in runs)]
    if any(s[2].endswith("%") for _, s in shown):
        shown = [(p, s) for p, s in shown if s[2].endswith("%")]
    head = "run task tuner sampler mixing seed configs jobs ranks".split()
    number, table = method_table(runs, shown) if len({run.fact("task") for run in runs}) == 1 else ([], [])
    lines = [" ".join(head[:1] + ["method"] * bool(number) + head[1:] + [f"{p} {s[2]}" for p, s in shown]
                      + ["search s all s winner digest"])]
    for i, run in enumerate(runs):
        cells = [run.path] + [str(k + 1) for k in number[i:i + 1]] + [str(run.fact(k)) for k in head[1:]]
        for p, (name, _, title) in shown:
            x = run.score(p, name)
            cells.append("-" if math.isnan(x) else f"{100 * x:.2f}" if title.endswith("%") else f"{x:.5f}")
        cells += [f"{run.fact('search_seconds'):.2f}", f"{run.fact('seconds'):.2f}", brief(run.fact("winner@text")),
                  run.fact("digest")]
        lines.append(" ".join(cells))
    return lines + table


def level(run):
    """(results, resource): of the largest resource that 30 results have, or else of the one that has most."""
    e, a = run.events, run.arms
    resource, count = dict(zip(e["job"], e["resource"])), {}
    single = {job for job, k in zip(*np.unique(a["job"], return_counts=True)) if k == 1}
    for job, p, samples in zip(a["job"], a["p"], a["count"]):
        if job in single or p > 0 and samples > 0:
            count[resource[job]] = count.get(resource[job], 0) + 1
    enough = [r for r, n in count.items() if n >= 30] or [r for r, n in count.items() if n == max(count.values())]
    return count[max(enough)], max(enough)


def matters(run, line, rows):
    """Whether that is the line of the axis that matters; rows: of --importance --csv."""
    n, resource = level(run)
    of = f"{n} results at resource {resource:g}"
    own = [[f"{float(row[k]):.2f}" for k in ("share", "low", "high")] for row in rows[:2]]
    first = rows[0]
    two = [f"{row['axis']} has {x[0]} of the variance of the loss ({x[1]} to {x[2]})" for row, x in zip(rows, own)]
    x = own[0]
    return (int(first["results"]), float(first["resource"])) == (n, resource) and line in (
        f"matters {x[0]} of the variance of the loss is {first['axis']} ({x[1]} to {x[2]} over trees; {of})",
        f"matters {', '.join(two)}; {of}")


def check_matters(run, text, table):
    """Takes the line out of the text, if the forest explains anything, and compares it."""
    lines = text.splitlines(keepends=True)
    found = [line for line in lines if line.startswith("matters")]
    rows = list(csv.DictReader(io.StringIO(table)))
    axes = sum(row["share"] != "" and row["with"] == "" for row in rows)
    tells = axes > 1 and level(run)[0] >= 20 and float(rows[0]["explained"]) >= .1
    if len(found) != tells or tells and not matters(run, " ".join(found[0].split()), rows):
        differs(run.path, f"axis that matters: {found}")
    return "".join(line for line in lines if line not in found)


def check_text(path, have, want):
    have = [" ".join(line.split()) for line in have.splitlines() if line.strip()]
    want = [" ".join(line.split()) for line in want]
    for line in difflib.unified_diff(want, have, "expected", "report", n=0, lineterm=""):
        differs(path, line)


def main():
    weft, paths = sys.argv[1], sys.argv[2:]
    unfinished = [path.removesuffix(":") for path in paths if path.endswith(":")]
    paths = [path for path in paths if not path.endswith(":")]

    def report(*arguments):
        return subprocess.run([weft, "report", *arguments], check=True, capture_output=True, text=True).stdout
    runs = [Run(path) for path in paths]
    for run in runs:
        check_file(run)
        text = check_matters(run, report(run.path), report(run.path, "--importance", "--csv"))
        check_text(run.path, text, as_text(run))
    objects = json.loads(report(*paths, "--json"))
    if len(objects) != len(runs):
        differs("JSON", f"{len(objects)} objects of {len(runs)} runs")
    for have, run, settings in zip(objects, runs, told_by(runs)):
        want = as_json(run, settings)
        for name in have.keys() | want.keys():
            if have.get(name) != want.get(name):
                differs(run.path, f"JSON: {name} is {have.get(name)}, not {want.get(name)}")
    check_csv(runs, report(*paths, "--csv"))
    check_trials(paths, report, runs)
    for path in unfinished:
        report(path, "-o", path + ".now")
        check_trials([path], report, [Run(path + ".now")])
    check_text("all runs", report(*paths), comparison(runs))
    print("\n".join(differences))
    return bool(differences)


if __name__ == "__main__":
    sys.exit(main())
