"""Run files of weft, as the scripts here see them, and the look that their figures share."""

import configparser
import os
import re
import subprocess
import sys
import tempfile

import h5py
import matplotlib
import numpy as np

import tables

matplotlib.use("Agg")

# Okabe and Ito's colours, told apart by people who confuse red and green.
BLACK, ORANGE, SKY, GREEN, BLUE, RED = (
    "#000000", "#e69f00", "#56b4e9", "#009e73", "#0072b2", "#d55e00")
GREY = "#b8b8b8"
CYCLE = (BLUE, ORANGE, GREEN, RED, SKY, BLACK, "#cc79a7", "#f0e442")
TUNERS = {  # name: (what it is called, colour, marker)
    "random": ("full sweep", BLACK, "s"),
    "ws_sha": ("weight-sharing, successive halving", BLUE, "o"),
    "ws_eg": ("weight-sharing, exponentiated gradient", RED, "^"),
}
METHODS = {  # of tuning in rounds, by Run.method: (what it is called, colour, marker)
    "single": ("FedAvg", BLACK, "s"),
    "list": ("FedAvg, settings by hand", BLACK, "s"),
    "random": ("random search", ORANGE, "D"),
    "fedex-random": ("FedEx in random search", SKY, "v"),
    "sha": ("successive halving", GREEN, "^"),
    "fedex-sha": ("FedEx in successive halving", BLUE, "o"),
    "mw": ("multiplicative weights", RED, "P"),
}

# Options that name a run and do not say what it does.
NAMES = {("run", k) for k in ("seed", "output", "data", "teams", "checkpoint", "memory", "time_limit",
                              "disk", "watchdog")}

matplotlib.rcParams.update({
    "font.size": 10, "axes.spines.top": False, "axes.spines.right": False,
    "axes.titlesize": 10, "axes.titlelocation": "left", "figure.constrained_layout.use": True,
    "savefig.dpi": 160, "legend.frameon": False, "svg.fonttype": "none", "pdf.fonttype": 42})


def text(x):
    return x.decode() if isinstance(x, bytes) else str(x)


def number(value):
    """A number as an input file has it: 16384, 1e-5 or 2^14."""
    base, _, power = value.partition("^")
    return float(base) ** float(power) if power else float(base)


def write_table(columns, rows, path):
    """Rows, dicts in the order of the columns, as tab-separated text; reals with four digits."""
    with tables.replace(path) as out:
        print(*columns, sep="\t", file=out)
        for row in rows:
            print(*(f"{v:.4g}" if isinstance(v, float) else v for v in row.values()), sep="\t",
                  file=out)


def snapshot(path, out):
    """Writes what an unfinished run has by now, which its journals hold, as a run file."""
    weft = os.environ.get("WEFT", "build/opt/weft")
    env = dict(os.environ, OPENBLAS_NUM_THREADS="1")
    done = subprocess.run([weft, "report", path, "-o", out], env=env, capture_output=True, text=True)
    if done.returncode:
        raise ValueError((done.stderr.strip().splitlines() or ["weft report failed"])[-1])


class Run:
    """One run file: attributes of the file and of the winner, tables as dicts of columns. Of a
    run that is not finished, as far as it is: `unfinished` says where it stands, and there is
    no winner."""

    def __init__(self, path):
        self.path = path
        if os.path.exists(path) or not os.path.exists(os.path.splitext(path)[0] + ".d/journal"):
            self.read(path)
            return
        with tempfile.TemporaryDirectory() as place:
            snapshot(path, place + "/now.h5")
            self.read(place + "/now.h5")

    def read(self, path):
        with h5py.File(path, "r") as f:
            if not text(f.attrs.get("format", "")).startswith("weft run"):
                raise ValueError("not a run file of weft")
            self.attr = {k: text(v) if isinstance(v, (bytes, str)) else v
                         for k, v in f.attrs.items()}
            self.event = {k: f["events"][k][:] for k in f["events"]}
            self.arm = {k: f["arms"][k][:] for k in f["arms"]}
            self.config = dict(zip(f["configs/id"][:].tolist(),
                                   [text(t) for t in f["configs/text"][:]]))
            self.rounds = {k: f["rounds"][k][:] for k in f.get("rounds", ())}
            self.mix = {k: f["mix"][k][:] for k in f.get("mix", ())}
            self.clients = {k: f["clients"][k][:] for k in f.get("clients", ())}
            self.scored = text(f["clients"].attrs.get("error_column", "")) if self.clients else ""
            self.timeline = {k: f["timeline"][k][:] for k in f.get("timeline", ())}
            self.busy = dict(f["timeline"].attrs) if "timeline" in f else {}
            self.winner = {k: text(v) if isinstance(v, (bytes, str)) else v
                           for k, v in f["winner"].attrs.items()} if "winner" in f else {}
            tensors = [text(t) for t in f["winner/tensors"][:]] if "winner/tensors" in f else []
            # What servers and clients of a federation keep stands behind the network, whose last
            # tensor is the bias of its classes.
            tensors = [t for t in tensors if t not in ("server.state", "clients.state")]
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


def load(paths, won=True):
    """The runs of these files; ends the script with one line where one cannot be read, or, if
    `won`, has no winner."""
    runs = []
    for path in paths:
        try:
            runs.append(Run(path))
            if won and not runs[-1].winner:
                sys.exit(f"{path}: no winner: {runs[-1].attr.get('no_winner', 'it has none')}")
            if runs[-1].unfinished:
                print(f"{path} is unfinished: {runs[-1].unfinished}", file=sys.stderr)
        except (OSError, KeyError, ValueError) as why:
            sys.exit(f"{path}: {why}")
    return runs


def of_task(runs, task):
    """Ends the script with one line where one of the runs is of another task."""
    for run in runs:
        if run.attr["task"] != task:
            sys.exit(f"{run.path}: a run of task {run.attr['task']}, not {task}; analysis/run.py draws it")
    return runs


def name_of(tuner):
    return TUNERS.get(tuner, (tuner, GREEN, "D"))


def method_of(method):
    return METHODS.get(method, (method, RED, "X"))


class Method:
    """Runs that differ in nothing but their seed, and names of files."""

    def __init__(self, of, label, colour):
        self.runs, self.label, self.colour = of, label, colour


def methods_of(runs):
    """The methods of these runs, in the order of METHODS; each label tells how settings were found,
    and the options in which it differs from others that are alike in that. Ends the script where a
    method has two runs of one seed, over which a mean would mean nothing."""
    groups = {}
    for run in runs:
        groups.setdefault((run.method(), tuple(sorted(run.settings().items()))), []).append(run)
    known = list(METHODS)
    order = sorted(groups, key=lambda g: known.index(g[0]) if g[0] in known else len(known))
    out, used = [], set()
    for key in order:
        alike = [dict(g[1]) for g in order if g[0] == key[0]]
        own = dict(key[1])
        single = key[0] == "single"  # named by its algorithm
        differ = [k for k in own if any(other.get(k) != own[k] for other in alike)
                  and not (single and k == "fed.algorithm")]
        told = ", ".join(f"{k}={own[k]}" if k != "data" else
                         os.path.basename(groups[key][0].attr["data"]) for k in differ)
        for i, run in enumerate(groups[key]):
            for other in groups[key][:i]:
                if other.seed == run.seed:
                    sys.exit(f"{other.path} and {run.path} are both by {method_of(key[0])[0]} with seed "
                             f"{run.seed}; give one of them")
        name, colour, _ = method_of(key[0])
        name = own.get("fed.algorithm", name).replace("fedavg", name) if single else name
        colour = colour if colour not in used else next((c for c in CYCLE if c not in used), GREY)
        used.add(colour)
        out.append(Method(groups[key], f"{name}: {told}" if told else name, colour))
    return out


def short(config):
    """Its numbers to four digits, its options without their section where they have but one."""
    names = re.compile(r"(\w+)\.(?=\w+=)")
    if len(set(names.findall(config))) == 1:
        config = names.sub("", config)
    return re.sub(r"[0-9.]{6,}(e[-+]?[0-9]+)?", lambda m: f"{float(m[0]):.4g}", config)
