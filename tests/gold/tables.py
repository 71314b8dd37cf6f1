#!/usr/bin/env python3
"""Tables of other people by weft and by scikit-learn: errors, seconds and their differences.

usage: tests/gold/tables.py --make DIR          CSV files of the tables of scikit-learn, and of mlbench, kernlab
                                                (R) and ISLP (pip install --no-deps ISLP) where these are installed
       tests/gold/tables.py WEFT DIR [--out FILE.tsv] [--seeds 0,1] [--tables A,B] [--rows MOST] [--folds K]
                            [--input FILE.ini] [--cache DIR] [section.key=value ...]
       tests/gold/tables.py WEFT DIR --raw [--half 0|1] [--out FILE.tsv] [--tables A,B] [--rows MOST]

Each DIR/NAME.csv has its label in the last column: a class, or a number to predict. For each seed it is packed by
    weft pack dense NAME.csv valid=0.2 test=0.3 seed=SEED
weft searches by its plan for these data, or by FILE.ini, and scores its winner on the test part.
scikit-learn has the train and valid parts, standardised: logistic regression, an RBF SVM, kernel ridge, a forest
and gradient boosting (of numbers the regressions of these kinds), each with a usual grid; the method of the lowest
error in 5-fold cross-validation is fitted to all of them and scored on the same test part.
Both run on one core; seconds are of processor time. The error of a class is 0 or 1, of a number its squared error over the training variance.

--raw         tables as people have them, with texts, gaps and rare classes: three quarters of the rows, drawn once,
              go to `pack dense`, `tune --data` and, without labels, the others to `predict`, as they are; scikit-learn
              fills gaps by medians, takes levels as columns (trees: as numbers) and picks logistic or ridge regression,
              an SVM or boosting by 5-fold cross-validation. A label of more than 20 different numbers is a number.
              Rows without a label, classes of fewer than 8 rows, and texts that differ in more than 3 of 10 rows are
              left out for both; tables of fewer than 80 rows then, too. Seconds of weft are of the three commands.
--half 0|1    every table whose name's MD5 is even, or odd: one half to decide by, the other to be looked at once
--folds K     for decisions, a comparison that leaves the test parts alone: the train and valid rows are dealt to K
              folds; each is scored once, after a search on the others, packed with valid=0.2
--cache DIR   scikit-learn's results by the data they are of (default /tmp/weft-tables)
FILE.tsv      a line for each table and seed, or fold; what it has is not computed again
Needs scikit-learn, pandas and h5py.
"""
import argparse
import hashlib
import importlib.util
import json
import math
import os
import resource
import subprocess
import sys
import tempfile
import time
import warnings
from pathlib import Path

for name in ("OPENBLAS_NUM_THREADS", "OMP_NUM_THREADS"):
    os.environ[name] = "1"
sys.path.insert(0, str(Path(__file__).resolve().parents[2] / "analysis"))

import h5py
import numpy as np
import pandas as pd
from sklearn import datasets
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.compose import ColumnTransformer
from sklearn.ensemble import (HistGradientBoostingClassifier, HistGradientBoostingRegressor, RandomForestClassifier,
                              RandomForestRegressor)
from sklearn.impute import SimpleImputer
from sklearn.kernel_ridge import KernelRidge
from sklearn.linear_model import LogisticRegression, Ridge, RidgeCV
from sklearn.model_selection import GridSearchCV, KFold, StratifiedKFold, cross_val_score, train_test_split
from sklearn.pipeline import Pipeline
from sklearn.preprocessing import OneHotEncoder, OrdinalEncoder, StandardScaler
from sklearn.svm import SVC, SVR

from stats import by_samples

warnings.filterwarnings("ignore")
SEARCHED = 3000  # rows that grids are searched on where there are half as many again
METHODS = "linear svm kernel forest boosting".split()
COLUMNS = "table seed rows columns classes weft weft_seconds picked error seconds difference half".split() + METHODS

# ---- tables -------------------------------------------------------------------------------

R_TABLES = {
    "mlbench": "Glass Type Ionosphere Class PimaIndiansDiabetes2 diabetes Satellite classes Sonar Class Soybean Class "
               "Vehicle Class Vowel Class HouseVotes84 Class Zoo type DNA Class BostonHousing medv",
    "kernlab": "spam type musk Class promotergene Class income INCOME",
}
R_SAVE = """
args <- commandArgs(TRUE)
room <- new.env()
data(list = args[2], package = args[1], envir = room)
table <- get(args[2], room)
table <- table[!is.na(table[[args[3]]]), ]
for (name in names(table)) if (!is.numeric(table[[name]])) table[[name]] <- gsub(",", " ", table[[name]])
write.csv(table[c(setdiff(names(table), args[3]), args[3])], args[4], row.names = FALSE, na = "")
"""
ISLP_TABLES = ("Default default OJ Purchase Caravan Purchase Carseats Sales College Private Credit Balance "
               "Auto mpg Bikeshare bikers Hitters Salary Wage wage")
NUMBERS = {"bikeshare", "credit", "diabetes"}  # whose labels are whole numbers, but no classes
LEFT_OUT = {"wage": ["logwage"], "bikeshare": ["casual", "registered"], "auto": ["name"]}  # that tell the label


def pairs(text):
    words = text.split()
    return zip(words[::2], words[1::2])


def write(path, names, rows):
    path.write_text("\n".join([",".join(names), *(",".join(row) for row in rows)]) + "\n")


def make(folder):
    """The tables of packages, as CSV files with the label last."""
    import csv

    folder.mkdir(parents=True, exist_ok=True)
    for name in "iris", "wine", "breast_cancer", "digits", "diabetes":
        bunch = getattr(datasets, "load_" + name)()
        label = np.array(bunch.target_names)[bunch.target] if "target_names" in bunch else bunch.target
        rows = ([*(f"{v:.9g}" for v in row), str(y)] for row, y in zip(bunch.data, label))
        write(folder / f"{name}.csv", [*bunch.feature_names, "label"], rows)
    for package, tables in R_TABLES.items():
        for name, label in pairs(tables):
            out = folder / f"{name.lower()}.csv"
            try:
                subprocess.run(["Rscript", "-e", R_SAVE, package, name, label, out], check=True, capture_output=True)
            except (FileNotFoundError, subprocess.CalledProcessError):
                print(f"{package} has not been found: {name} is left out (r-cran-{package})", file=sys.stderr)
    spec = importlib.util.find_spec("ISLP")
    for name, label in pairs(ISLP_TABLES) if spec else ():
        with open(Path(spec.submodule_search_locations[0], "data", f"{name}.csv"), encoding="utf-8") as file:
            rows = [row for row in csv.DictReader(file) if row[label] not in ("", "NA")]
        names = [n for n in rows[0] if n and n != label and n not in LEFT_OUT.get(name.lower(), [])] + [label]
        write(folder / f"{name.lower()}.csv", names, ([row[n].replace(",", " ") for n in names] for row in rows))


class Rows:
    """What a packed file holds: rows to fit, and rows to score."""

    def __init__(self, path):
        with h5py.File(path) as file:
            self.numbers = "target" in file["test"]
            y = "target" if self.numbers else "label"
            parts = [file["train"], file["valid"]]
            self.x = np.concatenate([p["x"][:] for p in parts]).astype(float)
            self.y = np.concatenate([p[y][:] for p in parts]).reshape(len(self.x))
            self.x_test, self.y_test = file["test/x"][:].astype(float), file["test"][y][:].reshape(-1)
            self.classes = 0 if self.numbers else len(file["class"])
            self.variance = float(np.var(self.y)) if self.numbers else 1.0

    def wrong(self, said):
        """The error of each test row."""
        return (said - self.y_test) ** 2 / self.variance if self.numbers else (said != self.y_test).astype(float)

    def key(self):
        digest = hashlib.sha256()
        for part in self.x, self.y, self.x_test, self.y_test:
            digest.update(np.ascontiguousarray(part).tobytes())
        return digest.hexdigest()[:20]


# ---- scikit-learn -------------------------------------------------------------------------


class KernelClassifier(BaseEstimator, ClassifierMixin):
    """Kernel ridge regression on +1 for a row's class and -1 for the others."""

    def __init__(self, alpha=1.0, gamma=0.1):
        self.alpha = alpha
        self.gamma = gamma

    def fit(self, x, y):
        self.classes_, place = np.unique(y, return_inverse=True)
        self.ridge_ = KernelRidge(kernel="rbf", alpha=self.alpha, gamma=self.gamma)
        self.ridge_.fit(x, 2.0 * np.eye(len(self.classes_))[place] - 1)
        return self

    def predict(self, x):
        return self.classes_[self.ridge_.predict(x).argmax(axis=1)]


def candidates(columns, numbers):
    """Each method with its grid."""
    widths = [f / columns for f in (0.1, 0.3, 1, 3)]
    penalties = [0.01, 0.1, 1, 10, 100]
    forest, boosting = {"max_features": ["sqrt", 0.5]}, {"learning_rate": [0.05, 0.1]}
    kernel = {"alpha": [0.01, 0.1, 1, 10], "gamma": widths}
    svm = {"C": [0.1, 1, 10, 100], "gamma": widths}
    if numbers:
        return {"linear": (Ridge(), {"alpha": penalties}), "svm": (SVR(), svm),
                "kernel": (KernelRidge(kernel="rbf"), kernel),
                "forest": (RandomForestRegressor(300, random_state=0), forest),
                "boosting": (HistGradientBoostingRegressor(random_state=0), boosting)}
    return {"linear": (LogisticRegression(max_iter=500), {"C": penalties}), "svm": (SVC(), svm),
            "kernel": (KernelClassifier(), kernel),
            "forest": (RandomForestClassifier(300, random_state=0), forest),
            "boosting": (HistGradientBoostingClassifier(random_state=0), boosting)}


def fit(name, rows):
    """A method by its cross-validated setting: its error there, that of each test row, seconds."""
    model, grid = candidates(rows.x.shape[1], rows.numbers)[name]
    start = time.process_time()
    n = SEARCHED if len(rows.x) > 1.5 * SEARCHED else len(rows.x)
    x, y, shift = rows.x[:n], rows.y[:n], 0.0
    if rows.numbers:
        shift = rows.y.mean()
        y = y - shift
        folds = KFold(5, shuffle=True, random_state=0)
    else:
        folds = StratifiedKFold(5, shuffle=True, random_state=0)
    search = GridSearchCV(Pipeline([("scale", StandardScaler()), ("model", model)]),
                          {f"model__{k}": v for k, v in grid.items()}, cv=folds, refit=False,
                          scoring="neg_mean_squared_error" if rows.numbers else "accuracy").fit(x, y)
    best = Pipeline([("scale", StandardScaler()), ("model", model)]).set_params(**search.best_params_)
    said = best.fit(rows.x, rows.y - shift if rows.numbers else rows.y).predict(rows.x_test)
    error = -search.best_score_ / rows.variance if rows.numbers else 1 - search.best_score_
    return {"cv": float(error), "wrong": rows.wrong(said + shift if rows.numbers else said).tolist(),
            "seconds": time.process_time() - start, "setting": search.best_params_}


def peers(rows, cache):
    """The results of all methods, from the cache or computed now."""
    path = cache / f"{rows.key()}.json"
    found = json.loads(path.read_text()) if path.exists() else {}
    for name in METHODS:
        if name not in found:
            found[name] = fit(name, rows)
            cache.mkdir(parents=True, exist_ok=True)
            path.write_text(json.dumps(found))
    return found


# ---- weft ---------------------------------------------------------------------------------


def call(*words):
    words = [str(w) for w in words]
    done = subprocess.run(words, capture_output=True, text=True)
    if done.returncode:
        sys.exit(f"{' '.join(words)}: status {done.returncode}\n{done.stderr[-2000:]}")


def search(args, packed, folder):
    """weft's error of each test row, and its seconds."""
    run, said = folder / "run.h5", folder / "said.h5"
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    how = [args.input, f"run.data={packed}"] if args.input else ["--data", packed]
    call(args.weft, "tune", *how, *args.settings, "-o", run, "--force")
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    seconds = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
    call(args.weft, "predict", run, packed, "-o", said, "--force")
    with h5py.File(said) as file:
        return file["test/value" if "value" in file["test"] else "test/class"][:].reshape(-1), seconds


def pack(args, source, out, *options):
    call(args.weft, "pack", "dense", source, *options, "-o", out, "--force")


def cut(args, source, seed, folder):
    """The packed file of each split, with its name."""
    packed = folder / "packed.h5"
    options = ["valid=0.2", "test=0.3", f"seed={seed}", *["target=regression"] * (source.stem in NUMBERS)]
    if not args.folds:
        pack(args, source, packed, *options)
        yield f"{seed}", packed
        return
    whole = folder / "whole.h5"
    pack(args, source, whole, *options)
    rows = Rows(whole)
    kind = KFold if rows.numbers else StratifiedKFold
    names = [f"x{j}" for j in range(rows.x.shape[1])] + ["label"]
    label = [repr(float(y)) if rows.numbers else f"c{y}" for y in rows.y]
    lines = [[*(f"{v:.9g}" for v in x), y] for x, y in zip(rows.x, label)]
    folds = kind(args.folds, shuffle=True, random_state=seed).split(rows.x, rows.y)
    for k, (inside, outside) in enumerate(folds):
        write(folder / "in.csv", names, (lines[i] for i in inside))
        write(folder / "out.csv", names, (lines[i] for i in outside))
        pack(args, folder / "in.csv", packed, "valid=0.2", f"test_file={folder / 'out.csv'}", "label=label",
             f"seed={seed}", *(["target=regression"] if rows.numbers else ["target=classes"]))
        yield f"{seed}/{k}", packed


# ---- tables as they are -------------------------------------------------------------------


def raw_rows(path):
    """The rows, their label, and whether it is a number; None: the table is too small."""
    rows = pd.read_csv(path, low_memory=False)
    label = rows.columns[-1]
    rows = rows[rows[label].notna()]
    number = pd.api.types.is_numeric_dtype(rows[label]) and rows[label].nunique() > 20
    if not number:
        rows = rows[rows.groupby(rows[label].astype(str))[label].transform("size") >= 8]
    left_out = [c for c in rows.columns[:-1] if c.startswith("Unnamed") or rows[c].isna().all()
                or (not pd.api.types.is_numeric_dtype(rows[c]) and rows[c].nunique() > 0.3 * len(rows))]
    rows = rows.drop(columns=left_out)
    if rows.shape[1] < 3 or len(rows) < 80 or rows[label].nunique() < 2:
        return None
    return rows, label, number


def raw_methods(x, number):
    """Each method with its grid, for columns of numbers and texts."""
    numbers = [c for c in x if pd.api.types.is_numeric_dtype(x[c]) and x[c].dtype != bool]
    texts = [c for c in x if c not in numbers]
    scaled = ("number", Pipeline([("fill", SimpleImputer(strategy="median")), ("scale", StandardScaler())]), numbers)
    coded = ColumnTransformer([scaled, ("level", OneHotEncoder(handle_unknown="ignore", min_frequency=2), texts)])
    code = OrdinalEncoder(handle_unknown="use_encoded_value", unknown_value=-1)
    ranked = ColumnTransformer([("number", "passthrough", numbers), ("level", code, texts)])
    penalties, few = {"model__C": [0.01, 0.1, 1, 10, 100]}, {"model__C": [0.1, 1, 10, 100]}
    kinds = {"linear": (coded, RidgeCV(np.logspace(-3, 3, 13)), {}) if number else
             (coded, LogisticRegression(max_iter=500), penalties),
             "svm": (coded, SVR() if number else SVC(), few),
             "boosting": (ranked, (HistGradientBoostingRegressor if number else HistGradientBoostingClassifier)(
                 random_state=0), {})}
    for name, (columns, model, grid) in kinds.items():
        line = Pipeline([("columns", columns), ("model", model)])
        yield name, GridSearchCV(line, grid, cv=3) if grid else line, texts


def raw_peers(train, new, label, number):
    """What each method says of the new rows, its error in cross-validation, seconds."""
    start = time.process_time()
    x, y = train.drop(columns=label), train[label] if number else train[label].astype(str)
    said, cv = {}, {}
    for name, model, texts in raw_methods(x, number):
        x, rows = x.astype({c: str for c in texts}), new.astype({c: str for c in texts})
        try:
            score = cross_val_score(model, x, y, cv=5, scoring="neg_mean_squared_error" if number else "accuracy")
            said[name], cv[name] = model.fit(x, y).predict(rows), -score.mean()
        except ValueError:
            pass
    return said, {m: v for m, v in cv.items() if np.isfinite(v)}, time.process_time() - start


def raw_weft(weft, train, new, label, number, folder):
    """What weft says of the new rows, and its seconds; or why it says nothing."""
    train.to_csv(folder / "train.csv", index=False)
    new.to_csv(folder / "new.csv", index=False)
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    for words in (["pack", "dense", folder / "train.csv", f"label={label}", "-o", folder / "t.h5",
                   f"target={'regression' if number else 'classes'}"],
                  ["tune", "--data", folder / "t.h5", "-o", folder / "r.h5"],
                  ["predict", folder / "r.h5", folder / "new.csv", "-o", folder / "said.csv"]):
        done = subprocess.run([weft, *map(str, words), "--force"], capture_output=True, text=True)
        if done.returncode:
            return None, ([x for x in done.stderr.splitlines() if x.startswith("weft:")] or ["no message"])[0]
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    said = pd.read_csv(folder / "said.csv", dtype=str, keep_default_na=False).iloc[:, 1].to_numpy()
    return said, after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime


def raw_compare(args, path, folder):
    """The line of a table; None: it is too small, or a program gave no result."""
    found = raw_rows(path)
    if not found:
        return None
    rows, label, number = found
    train, test = train_test_split(rows, test_size=0.25, random_state=1, stratify=None if number else rows[label].astype(str))
    new, true = test.drop(columns=label), test[label].to_numpy()
    said, cv, seconds = raw_peers(train, new, label, number)
    mine, mine_seconds = raw_weft(args.weft, train, new, label, number, folder)
    if mine is None or not cv:
        print(f"{path.stem}: {mine_seconds if mine is None else 'scikit-learn gives none'}", file=sys.stderr)
        return None

    def wrong(said):
        return (said.astype(float) - true) ** 2 / np.var(true) if number else (said.astype(str) != true.astype(str)).astype(float)

    picked = min(cv, key=cv.get)
    gap = by_samples((100 * (wrong(mine) - wrong(said[picked]))).tolist())
    values = [path.stem, "1", len(rows), rows.shape[1] - 1, 0 if number else rows[label].nunique(),
              f"{100 * wrong(mine).mean():.2f}", f"{mine_seconds:.1f}", picked, f"{100 * wrong(said[picked]).mean():.2f}",
              f"{seconds:.1f}", f"{gap.mean:.2f}", f"{gap.half:.2f}"]
    return "\t".join(map(str, values + [f"{100 * wrong(said[m]).mean():.2f}" if m in said else "nan" for m in METHODS]))


def raw_summary(lines):
    """Means over tables of classes and of numbers, of which a difference counts as 100 points at most."""
    rows = [dict(zip(COLUMNS, line.split("\t"))) for line in lines]
    for kind in "classes", "numbers":
        some = [r for r in rows if (r["classes"] == "0") == (kind == "numbers")]
        if len(some) < 2:
            continue
        mine, theirs = (np.clip([float(r[k]) for r in some], 0, 200) for k in ("weft", "error"))
        gap = by_samples(np.clip(mine - theirs, -100, 100).tolist())
        seconds = [sum(float(r[k]) for r in some) for k in ("weft_seconds", "seconds")]
        print(f"{kind}, {len(some)} tables: weft {mine.mean():.2f} %, scikit-learn {theirs.mean():.2f} %, difference "
              f"{gap.mean:.2f} +- {gap.half:.2f}, ahead in {(mine < theirs - .5).sum()}, behind in "
              f"{(mine > theirs + .5).sum()}; processor time {seconds[0]:.0f}, {seconds[1]:.0f} s")


# ---- comparison ---------------------------------------------------------------------------


def compare(args, name, seed, packed, folder):
    """The line of one split."""
    rows = Rows(packed)
    found = peers(rows, args.cache)
    said, seconds = search(args, packed, folder)
    picked = min(METHODS, key=lambda m: found[m]["cv"])
    mine, theirs = rows.wrong(said), np.array(found[picked]["wrong"])
    gap = by_samples((100 * (mine - theirs)).tolist())
    values = [name, seed, len(rows.x) + len(rows.x_test), rows.x.shape[1], rows.classes, f"{100 * mine.mean():.2f}",
              f"{seconds:.1f}", picked, f"{100 * theirs.mean():.2f}",
              f"{sum(found[m]['seconds'] for m in METHODS):.1f}", f"{gap.mean:.2f}", f"{gap.half:.2f}"]
    values += [f"{100 * np.mean(found[m]['wrong']):.2f}" for m in METHODS]
    return "\t".join(map(str, values))


def summary(lines):
    """Means over tables: of each table its mean over seeds or folds."""
    by_table = {}
    for line in lines:
        row = dict(zip(COLUMNS, line.split("\t")))
        by_table.setdefault(row["table"], []).append(row)

    def means(key):
        return [np.mean([float(r[key]) for r in rows]) for rows in by_table.values()]

    gap = by_samples(means("difference"))
    print(f"{len(lines)} splits of {len(by_table)} tables; mean over tables: weft {np.mean(means('weft')):.2f} %, "
          f"picked by cross-validation {np.mean(means('error')):.2f} %, difference {gap.mean:.2f} +- {gap.half:.2f}; "
          f"seconds {np.sum(means('weft_seconds')):.0f}, {np.sum(means('seconds')):.0f}")
    print("methods: " + ", ".join(f"{m} {np.mean(means(m)):.2f} %" for m in METHODS))
    for table, rows in by_table.items():
        difference = np.mean([float(r["difference"]) for r in rows])
        half = math.sqrt(sum(float(r["half"]) ** 2 for r in rows)) / len(rows)
        if difference - half > 0 and difference > 2:
            print(f"{table}: worse by {difference:.2f} +- {half:.2f} points")


def save(out, lines):
    if out:
        out.write_text("\n".join(["\t".join(COLUMNS), *lines]) + "\n")


def compare_raw(args, names, lines, done, out):
    with tempfile.TemporaryDirectory() as folder:
        for name in names:
            line = None if (name, "1") in done else raw_compare(args, args.dir / f"{name}.csv", Path(folder))
            if line:
                lines.append(line)
                print(line, flush=True)
                save(out, lines)
    raw_summary(lines)


def parse():
    parser = argparse.ArgumentParser(usage=__doc__.partition("\n\n")[2], add_help=False)
    parser.add_argument("weft")
    parser.add_argument("dir", type=Path)
    parser.add_argument("settings", nargs="*")
    for option in "out", "input", "tables":
        parser.add_argument(f"--{option}")
    parser.add_argument("--seeds", default="0,1")
    parser.add_argument("--rows", type=int, default=10**9)
    parser.add_argument("--folds", type=int, default=0)
    parser.add_argument("--raw", action="store_true")
    parser.add_argument("--half", type=int)
    parser.add_argument("--cache", type=Path, default=Path(tempfile.gettempdir(), "weft-tables"))
    return parser.parse_intermixed_args()


def main():
    if sys.argv[1:2] == ["--make"]:
        make(Path(sys.argv[2]))
        return
    args = parse()
    out = Path(args.out) if args.out else None
    lines = out.read_text().splitlines()[1:] if out and out.exists() else []
    done = {tuple(line.split("\t")[:2]) for line in lines}
    print("\t".join(COLUMNS), flush=True)
    for line in lines:
        print(line)
    names = args.tables.split(",") if args.tables else sorted(p.stem for p in args.dir.glob("*.csv"))
    if args.half is not None:
        names = [n for n in names if int(hashlib.md5(n.encode()).hexdigest(), 16) % 2 == args.half]
    size = {name: (args.dir / f"{name}.csv").read_bytes().count(b"\n") for name in names}
    if args.raw:
        compare_raw(args, [n for n in sorted(names, key=size.get) if size[n] <= args.rows], lines, done, out)
        return
    with tempfile.TemporaryDirectory() as folder:
        for seed in map(int, args.seeds.split(",")):
            for name in sorted((n for n in names if size[n] <= args.rows), key=size.get):
                for split, packed in cut(args, args.dir / f"{name}.csv", seed, Path(folder)):
                    if (name, split) in done:
                        continue
                    lines.append(compare(args, name, split, packed, Path(folder)))
                    print(lines[-1], flush=True)
                    save(out, lines)
    if lines:
        summary(lines)


main()
