"""Run files of weft in Python: the class that all scripts read them by, and `weft.read`, which makes
pandas frames of them. Needs NumPy and h5py, and read pandas."""

import configparser
import os
import re
import subprocess
import tempfile

import numpy as np

# Options that name a run and do not say what it does.
NAMES = {("run", k) for k in ("seed", "output", "data", "teams", "checkpoint", "memory", "time_limit",
                              "disk", "watchdog")}


OWN = ("run", "config", "jobs", "state", "excess", "front")  # columns of `weft report --trials` that the file lacks


def text(x):
    return x.decode() if isinstance(x, bytes) else str(x)


def number(value):
    """A number as an input file has it: 16384, 1e-5 or 2^14."""
    base, _, power = value.partition("^")
    return float(base) ** float(power) if power else float(base)


def report(*arguments, command="report"):
    """What `weft report`, or another command, prints of a run. ValueError, of one line, where it fails."""
    from weft_search import Error, program
    env = dict(os.environ, OPENBLAS_NUM_THREADS="1")
    try:
        done = subprocess.run([program(), command, *arguments], env=env, capture_output=True, text=True)
    except Error as e:
        raise ValueError(e) from None
    if done.returncode:
        raise ValueError((done.stderr.strip().splitlines() or [f"weft {command} failed"])[-1])
    return done.stdout


class Run:
    """One run file: attributes of the file and of the winner, tables as dicts of columns. Of a
    run that is not finished, as far as it is: `unfinished` says where it stands, and there is
    no winner. Needs h5py."""

    def __init__(self, path):
        self.path = path
        if os.path.exists(path) or not os.path.exists(os.path.splitext(path)[0] + ".d/journal"):
            self.read(path)
            return
        from weft_search import temporary
        with tempfile.TemporaryDirectory(prefix=temporary()) as place:
            report(path, "-o", place + "/now.h5")  # what it has by now, which its journals hold
            self.read(place + "/now.h5")

    def read(self, path):
        import h5py
        with h5py.File(path, "r") as f:
            if not text(f.attrs.get("format", "")).startswith("weft run"):
                raise ValueError("not a run file of weft")
            self.attr = {k: text(v) if isinstance(v, (bytes, str)) else v
                         for k, v in f.attrs.items()}
            self.event = {k: f["events"][k][:] for k in f["events"]}
            self.arm = {k: f["arms"][k][:] for k in f["arms"]}
            self.config = dict(zip(f["configs/id"][:].tolist(),
                                   [text(t) for t in f["configs/text"][:]]))
            # The axes: {name: "real", "integer", "boolean" or the words of a choice, "nb|sif"}.
            self.axis = dict(zip((text(t) for t in f["configs/axis"][:]),
                                 (text(t) for t in f.get("configs/type", ()))))
            self.value = f["configs/value"][:]
            self.metrics = [line.split("\t") for line in text(f["events"].attrs["metrics"]).splitlines()]
            self.objectives = {k: f["objectives"][k][:] for k in f.get("objectives", ())}
            self.rounds = {k: f["rounds"][k][:] for k in f.get("rounds", ())}
            self.mix = {k: f["mix"][k][:] for k in f.get("mix", ())}
            self.clients = {k: f["clients"][k][:] for k in f.get("clients", ())}
            self.scored = text(f["clients"].attrs.get("error_column", "")) if self.clients else ""
            self.timeline = {k: f["timeline"][k][:] for k in f.get("timeline", ())}
            self.printed = {self.unlike(k): f["metrics"][k][:] for k in f.get("metrics", ())}
            self.busy = dict(f["timeline"].attrs) if "timeline" in f else {}
            self.winner = {k: text(v) if isinstance(v, (bytes, str)) else v
                           for k, v in f["winner"].attrs.items()} if "winner" in f else {}
            tensors = [text(t) for t in f["winner/tensors"][:]] if "winner/tensors" in f else []
            # What servers and clients of a federation keep stands behind the network, whose last
            # tensor is the bias of its classes.
            tensors = [t for t in tensors if t != "server.state"]
            self.classes = f["winner/state"][tensors[-1]].size if tensors else 0
        self.unfinished = self.attr.get("unfinished", "")
        if self.unfinished:
            self.winner = self.best_so_far()
        self.tuner = self.attr["tuner"]
        self.mixing = self.attr["mixing"]
        self.seed = int(self.attr["seed"])
        self.ini = configparser.ConfigParser(interpolation=None, strict=False,
                                             inline_comment_prefixes=(";", "#"))
        self.ini.optionxform = str
        self.ini.read_string(self.attr["config"])

    def unlike(self, name):
        """The column of a number that programs printed, which leaves the names of a run's own columns to these."""
        return "printed." * (name in OWN or any(name in x for x in (self.event, self.timeline, self.axis))) + name

    def best_so_far(self):
        """In the place of a winner: the trial and the likeliest configuration of the best job; of a
        run without a job that is done the trial that trains."""
        if "best_job" not in self.attr:
            if not self.rounds:
                return {}
            return {"job": int(self.rounds["job"][-1]), "trial": int(self.rounds["trial"][-1]),
                    "id": min(self.config), "text": self.config[min(self.config)]}
        job = int(self.attr["best_job"])
        mine = np.flatnonzero(self.arm["job"] == job)
        arm = mine[np.argmax(self.arm["after"][mine])]
        config = int(self.arm["config"][arm])
        return {"job": job, "trial": int(self.event["trial"][self.event["job"] == job][0]),
                "id": config, "text": self.config[config]}

    def setting(self, section, key):
        """A number of the configuration, NaN where it is not set."""
        value = self.ini.get(section, key, fallback=None)
        return float("nan") if value is None else number(value)

    def accuracy(self, part):
        """Of the winner, in percent; NaN where it was not scored."""
        return 100 * (1 - float(self.winner.get(part + "_error", "nan")))

    def method(self):
        """How settings were found, a key of METHODS or the tuner's name."""
        if self.tuner == "random" and not any(self.config.values()):
            return "single"
        if self.tuner == "random" and self.ini.get("space", "source", fallback="") == "list":
            return "list"
        if self.mixing == "none":
            return self.tuner
        if self.tuner == "ws_one":
            return self.mixing
        once = self.tuner == "sha" and self.setting("sha", "eliminations") == 0
        return f"{self.mixing}-{'random' if once else self.tuner}"

    def settings(self):
        """{"section.key": value} of what the input file says of the method and its data."""
        own = {f"{s}.{k}": v for s in self.ini.sections() for k, v in self.ini[s].items()
               if (s, k) not in NAMES}
        return own | {"data": self.attr.get("data_digest", "")}

    def refitted(self):
        """Whether the winner had a fit of its own, or was scored with the shared weights."""
        return self.ini.get(self.tuner, "refit", fallback="yes") in ("yes", "true", "on", "1")

    def alone(self):
        """{configuration: validation accuracy in percent} of those that had a job of their own."""
        single = self.event["job"][(self.event["k"] == 1)]
        mask = np.isin(self.arm["job"], single)
        return {int(c): 100 * (1 - e)
                for c, e in zip(self.arm["config"][mask], self.arm["error"][mask])}


# ---- trials ------------------------------------------------------------------------------

def typed(kind, x):
    """A value of an axis; None where the axis does not exist."""
    if np.isnan(x):
        return None
    if kind in ("real", "integer", "boolean"):
        return {"real": float, "integer": int, "boolean": bool}[kind](x)
    return choices(kind)[int(x)]


def choices(kind):
    """The words of a choice, as numbers where all are."""
    words = kind.split("|")
    try:
        return [float(word) for word in words]
    except ValueError:
        return words


def likeliest(run):
    """The likeliest configuration after each job, of equally likely ones the best: {job: id}."""
    arm = {k: run.arm[k] for k in ("job", "config", "after", "score", "loss")}
    worst = {k: np.where(np.isfinite(arm[k]), arm[k], np.inf) for k in ("score", "loss")}
    order = np.lexsort((worst["loss"], worst["score"], -arm["after"], arm["job"]))
    job, first = np.unique(arm["job"][order], return_index=True)
    return dict(zip(job.tolist(), arm["config"][order][first].tolist()))


def jobs_by_trial(run):
    """{trial: places of its jobs in /events, in their order}."""
    order = np.lexsort((run.event["job"], run.event["trial"]))
    trial, first = np.unique(run.event["trial"][order], return_index=True)
    return dict(zip(trial.tolist(), np.split(order, first[1:])))


def trials(run):
    """A dict for each trial, as `weft report --trials` has it; losses that are not finite are so here, too."""
    if len(run.axis) < run.value.shape[1] or "last" not in run.event:
        raise ValueError("written by an older version of weft, without the types of its axes")
    e, config = run.event, likeliest(run)
    value = dict(zip(run.config, run.value))
    measured = {name: e[name] for name, *_ in run.metrics} | run.printed
    rows, most = [], max(e["resource"], default=0)
    won = None if run.unfinished else run.winner.get("trial")
    for trial, jobs in jobs_by_trial(run).items():
        at = jobs[-1]
        own = config.get(int(e["job"][at]))
        state = "failed" if not np.isfinite(e["loss"][at]) else "finished" if e["last"][at] else \
            "running" if run.unfinished else "finished" if trial == won or e["resource"][at] >= most else "stopped"
        row = {"trial": trial, "config": own, "jobs": len(jobs), "job": int(e["job"][at]), "state": state,
               "resource": float(e["resource"][at]), "loss": float(e["loss"][at]),
               "seconds": sum(e["seconds"][jobs].tolist())}
        row |= {name: float(column[at]) for name, column in measured.items()}
        row |= {name: None if own is None else typed(kind, value[own][a])
                for a, (name, kind) in enumerate(run.axis.items())}
        rows.append(row)
    return rows


def range_of(run, name):
    """(low, high, whether logarithmic) of an axis as the input file has it; None: it has values, or is of a list."""
    section, _, key = name.partition(".")
    line = run.ini.get(section, key, fallback="").partition(" when ")[0]
    found = re.fullmatch(r"\s*(log\s+)?(\S+)\s*\.\.\s*(\S+)\s*", line)
    return (number(found[2]), number(found[3]), bool(found[1])) if found else None


def mixture_of(run, trial):
    """Rounds, configurations and p[round][configuration] of a trial of a run that has /mix."""
    mine = run.rounds["trial"] == trial
    job = run.rounds["job"][mine][-1]
    row = list(dict.fromkeys([*run.event["job"], *run.rounds["job"]])).index(job)
    ids = run.mix["config"][row]
    known = ids >= 0
    return run.rounds["unit"][mine], ids[known], run.mix["p"][mine][:, known]


# ---- frames ------------------------------------------------------------------------------

def trial_frame(run):
    import pandas
    frame = pandas.DataFrame(trials(run))
    for name, column in run.objectives.items():  # with those, `excess` of limits and whether it is on the front
        value = dict(zip(run.event["job"].tolist(), column))
        frame[name] = [bool(value[job]) if name == "front" else float(value[job]) for job in frame["job"]]
    dtype = {"config": "Int64", "state": pandas.CategoricalDtype(["finished", "stopped", "failed", "running"])}
    for name, kind in run.axis.items():
        words = () if kind in ("real", "integer", "boolean") else choices(kind)
        dtype[name] = {"integer": "Int64", "boolean": "boolean"}.get(kind, "float64")
        if words and isinstance(words[0], str):
            dtype[name] = pandas.CategoricalDtype(words)
    return frame.astype({name: of for name, of in dtype.items() if name in frame})


def plain(columns):
    """A frame of a table of the file, whose texts are decoded."""
    import pandas
    return pandas.DataFrame({k: [text(x) for x in v] if v.dtype == object else v for k, v in columns.items()})


class Frames:
    """What read returns: pandas frames, and the attributes of the file."""

    def __init__(self, run):
        self.attrs = run.attr
        self.trials = trial_frame(run)
        self.front = self.trials[:0]
        if "front" in self.trials:
            self.front = self.trials[self.trials["front"]].sort_values("loss", ignore_index=True)
        self.jobs = plain(run.event | run.printed | {k: v for k, v in run.timeline.items() if k not in run.event})
        names = [name for name, *_ in run.metrics]
        self.curves = self.jobs.sort_values(["trial", "resource", "job"])[
            ["trial", "resource", "loss", *names, *run.printed]].reset_index(drop=True)
        self.rounds = plain(run.rounds)
        if "step" in self.rounds:
            self.curves = self.reported()
        self.clients = plain(run.clients)

    def reported(self):
        """The curves, with what programs reported before the ends of their jobs."""
        import pandas
        more = self.rounds.rename(columns={"step": "resource"})[["job", "trial", "resource", "loss"]]
        more = more[more["job"].duplicated(keep="last")].drop(columns="job")
        return pandas.concat([self.curves, more]).sort_values(["trial", "resource"], kind="stable", ignore_index=True)

    def __repr__(self):
        return f"weft run, {self.attrs['task']} by {self.attrs['tuner']}: trials, front, jobs, curves, rounds, clients"


def read(path):
    """The run RUN.h5, finished or not, as pandas frames: `trials` has a row a trial, with a column for each option
    that varies, of its type; `jobs` a row a job; `curves` score and metrics of trials by resource, with the reports of programs; `rounds` a row a
    round or epoch; `front` the trials of the front, of a run with objectives; `clients` the scores of the winner client by client. `attrs` are the attributes of the file. What
    a run does not have is an empty frame. Needs h5py and pandas."""
    return Frames(Run(path))
