"""Run files of weft, as the scripts here see them, and the look that their figures share."""

import os
import re
import sys

import matplotlib

import tables

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "python"))
from weft_read import Run, mixture_of, number, report, text  # noqa: E402,F401 what scripts find here

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

matplotlib.rcParams.update({
    "font.size": 10, "axes.spines.top": False, "axes.spines.right": False,
    "axes.titlesize": 10, "axes.titlelocation": "left", "figure.constrained_layout.use": True,
    "savefig.dpi": 160, "legend.frameon": False, "svg.fonttype": "none", "pdf.fonttype": 42})


def write_table(columns, rows, path):
    """Rows, dicts in the order of the columns, as tab-separated text; reals with four digits."""
    with tables.replace(path) as out:
        print(*columns, sep="\t", file=out)
        for row in rows:
            print(*(f"{v:.4g}" if isinstance(v, float) else v for v in row.values()), sep="\t",
                  file=out)


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
