#!/usr/bin/env python3
"""What `weft predict` tells, by h5py and NumPy alone: of a winner that `weft export` wrote (rff, nystrom, ngram; linear, mlp, cnn; of
a federation by the server's weights) and rows of a CSV file with names, or texts, one a line or in columns as in training.
Use: python3 analysis/predict.py WINNER.h5 ROWS >CLASSES.csv"""
import csv
import io
import os
import re
import sys

import h5py
import numpy as np

import models
import written

MARKS = {"point": ".", "comma": ",", "semicolon": ";", "tab": "\t", "pipe": "|", "blank": " ", "quote": "'"}
GAPS = ["", "?", "na", "n/a", "#n/a", "nan", "null", "none", "-", ".", "-nan", "nil", "nat", "\\n", "<na>"]
WORDS = ["missing", "unknown", "unk", "n.a.", "n.a", "n/d", "nd", "n.d.", "no data", "nodata", "not available", "not known",
         "unbekannt", "not applicable", "k.a.", "(null)", "undefined", "--", "---", "..", "...", "*", "**", ":", "??", "#nv"]
ERROR = r"#[A-Z/0]+[!?]|\.[A-Za-z_]"  # of a spreadsheet, .a of Stata; these and words are gaps among numbers

WINDOWS = {c: bytes([c]).decode("cp1252") for c in range(0x80, 0xa0) if c not in (0x81, 0x8d, 0x8f, 0x90, 0x9d)}


def ranks(x, quantile):
    """The places 0 .. 1 of numbers among the quantiles of their column, of equal quantiles the middle."""
    place = np.linspace(0, 1, len(quantile))
    middle = (np.interp(x, quantile, place) - np.interp(-x, -quantile[::-1], -place[::-1])) / 2
    return np.where(x <= quantile[0], 0, np.where(x >= quantile[-1], 1, middle))


def number(cell, how):
    """The number in a cell of that notation, NaN where there is none."""
    decimal, group = MARKS[how.get("decimal", "point")], MARKS.get(how.get("thousands"))
    if group and re.match(rf"[-+]?[1-9]\d{{0,2}}([{group}]\d{{3}})+(?![\d{group}])", cell):
        cell = cell.replace(group, "")
    if decimal != ".":
        cell = cell.replace(".", "?").replace(decimal, ".")
    if re.fullmatch(r"[-+]?0x([0-9a-f]+\.?[0-9a-f]*|\.[0-9a-f]+)(p[-+]?\d{1,3})?", cell, re.A | re.I):
        x = float.fromhex(cell)
    elif re.fullmatch(r"[-+]?(\d+\.?\d*|\.\d+)([ed][-+]?\d+)?", cell, re.A | re.I):
        x = float(cell.lower().replace("d", "e"))
    else:
        return np.nan
    return x if abs(x) <= float(np.finfo(np.float32).max) else np.nan


def opened(path, encoding=None):
    """The text of a file; a line that is not UTF-8 is Windows-1252, as `weft pack` takes it. Its lines keep their ends."""
    with open(path, "rb") as file:
        lines = file.read().removeprefix(b"\xef\xbb\xbf").split(b"\n")
    if lines[0][:2] in (b"\xff\xfe", b"\xfe\xff"):
        sys.exit(f"{path} is text in UTF-16 where text in UTF-8 is expected; convert it by iconv -f UTF-16 -t UTF-8")
    return io.StringIO("\n".join(decoded(line, encoding) for line in lines), newline="")


def decoded(line, encoding):
    """A line of bytes; bytes that Windows-1252 lacks are control characters, as in Latin-1."""
    if encoding not in ("latin1", "cp1252"):
        try:
            return line.decode("utf-8")
        except UnicodeDecodeError:
            encoding = "cp1252"
    text = line.decode("latin1")
    return text if encoding == "latin1" else text.translate(WINDOWS)


def filled(lines, head, **how):
    """The rows of a CSV file, the first with names if it has a head. A blank line is a row where there is one column."""
    rows = list(csv.reader(lines, **how))
    while head and rows and not "".join(rows[0]).strip():
        rows.pop(0)
    single = all(len(row) < 2 for row in rows)
    return [row or [""] for row in rows if single or len(row) > 1 or "".join(row).strip()]


def cells(path, how, names):
    """Names of the columns, those given where a file has none, and the texts of its rows."""
    lines = [line for line in opened(path) if not line.lstrip(" \t").startswith(how.get("comment", "\0"))]
    named = re.fullmatch(r'("?)sep=(.)\1\r?\n', lines[0]) if lines else None  # Excel's first line
    lines = lines[1:] if named else lines
    marks, first = ";\t|" if "decimal" in how else ";\t|,", next(filter(str.strip, lines), "")
    mark = max(marks, key=first.count) if set(marks) & set(first) else " " if len(first.split()) > 1 else ";"
    mark = MARKS.get(how.get("separator"), named[2] if named else mark)
    lines = [" ".join(line.split()) for line in lines] if mark == " " else lines
    bare = how.get("header") == "no" or names == [str(i + 1) for i in range(len(names))]
    rows = filled(lines, not bare, delimiter=mark)
    if bare or not rows:
        return names, rows[rows[:1] == [names]:]
    return [name.strip() or f"column {j}" for j, name in enumerate(rows.pop(0), 1)], rows


def notation(w):
    """The options by which new rows are read, as those were that the winner was trained on."""
    return dict(line.split("=", 1) for line in w.attrs.get("notation", "").splitlines())


def columns(path, how):
    """The texts in the named columns of a file, one a row."""
    mark = {"comma": ",", "semicolon": ";"}.get(how.get("separator"), "\t")
    if "text" not in how:
        sys.exit(f"{path}: texts were columns without names in training; `weft predict` reads such")
    lines = list(opened(path, how.get("encoding")))
    names = how["text"].split(",")
    headed = how.get("header") == "yes" or not all(name.isdigit() for name in names)
    rows = filled(lines, headed, delimiter=mark, quoting=csv.QUOTE_NONE if mark == "\t" else 0)
    if not rows[headed:]:
        sys.exit(f"{path} has no rows")
    if headed:
        head = rows.pop(0)
        if set(names) - set(head):
            sys.exit(f"{path} has no column '{min(set(names) - set(head))}' in its first line")
        names = [head.index(name) + 1 for name in names]
    return [" ".join(filter(None, (row[int(i) - 1] for i in names))) for row in rows]


def lines(w, path):
    """The lines of a file of texts, which only a line feed ends; or its columns, as in training."""
    how = notation(w)
    if {"text", "client"} & set(how) or how.get("separator") in ("comma", "semicolon"):
        return columns(path, how)
    text = opened(path, how.get("encoding")).read()
    text = text if "\n" in text else text.replace("\r", "\n")
    return [line.removesuffix("\r") for line in text.removesuffix("\n").split("\n")]


def table(w, path):
    """The features of rows, scaled as the winner's."""
    names, level, x = list(w["table/name"].asstr()), list(w["table/level"].asstr()), []
    how = notation(w)
    head, rows = cells(path, how, names)
    if not rows:
        sys.exit(f"{path} has no rows")
    if head is names and len(rows[0]) < len(names):  # as the label lacks
        head = [name for name, kind in zip(names, w["table/whole"][:, 0]) if kind not in (2, 6)]
    head = head[:-1] if head[-1] == f"column {len(head)}" != names[-1] else head  # lines end in a separator
    for row, cell in enumerate(rows, 1):
        if len(cell) != len(head) and cell[len(head):] != [""]:
            sys.exit(f"{path}: row {row} has {len(cell)} columns where {len(head)} are expected")
    gaps = GAPS + how.get("gaps", "").lower().split(",")
    codes = [number(gap, {}) for gap in gaps if number(gap, {}) == number(gap, {})]
    forms = w["table/written"].asstr() if "table/written" in w else [""] * len(names)
    for j, (name, form, (kind, _, _, marks, levels), (fill, _, _)) in enumerate(zip(names, forms, w["table/whole"], w["table/real"])):
        if kind not in (0, 1, 8) or marks + levels + (kind == 0) == 0:
            continue
        if head.count(name) <= names[:j].count(name):
            sys.exit(f"{path} has no column '{name}' in its first line")
        if head.count(name) > names.count(name):
            sys.exit(f"{path}: several columns are named '{name}'")
        i = [i for i, own in enumerate(head) if own == name][names[:j].count(name)]
        known = set(level[:levels]) if kind == 1 else ()  # blanks that are quoted belong to a level
        column = [row[i] if row[i] in known else row[i].strip() for row in rows]
        values = [written.read(cell, form, number) if form else number(cell, how) for cell in column]
        unit = form.split(" ", 2)[-1] if kind == 0 else ""
        bare = sum(value == value and "%" not in cell for cell, value in zip(column, values)) if unit.startswith("%") else 0
        if bare:
            print(f"{path}: column '{name}' has {bare} numbers without the % that it has in training; they count as hundredths, too",
                  file=sys.stderr)
        gap = [cell.lower() in gaps or value in codes or (kind != 1 and (cell.lower() in WORDS or bool(re.fullmatch(ERROR, cell))))
               for cell, value in zip(column, values)]
        values = [fill if g else value for g, value in zip(gap, values)]
        for row, (cell, value) in enumerate(zip(column, values), 1):
            if kind != 1 and value != value:
                sys.exit(f"{path}: row {row}, column '{name}' is '{cell}' where a number is expected, "
                         + (f"written as in training ({form})" if form else "with a decimal " + how.get("decimal", "point")))
        new = [cell for cell, g in zip(column, gap) if kind == 1 and not g and cell not in known]
        if new and how.get("alike") == "one":
            sys.exit(f"{path}: column '{name}' has '{new[0]:.40}', which may be a level in another spelling (alike = one); "
                     "`weft predict` reads such")
        if new:
            print(f"{path}: column '{name}' has levels that training rows have not, such as '{new[0]:.40}', in {len(new)} of {len(rows)} "
                  "rows; they count as none", file=sys.stderr)
        if any(gap) and not marks:
            print(f"{path}: column '{name}' is missing in {sum(gap)} of {len(rows)} rows, in training rows never; "
                  + ("they count as none of its levels" if kind == 1 else "their median stands for it"), file=sys.stderr)
        x += [values] if kind == 0 else []
        for own in level[:levels]:
            x += [[cell == own and not g for cell, g in zip(column, gap)] if kind == 1 else
                  [written.part(own, value, form) * (not g or own in ("seconds", "year")) for value, g in zip(values, gap)]]
        x += [gap] * marks
        level = level[levels:]
    x = np.array(x, float).T
    x = np.where(abs(x) < 2**24, x.astype(np.float32), x) / (255 if w.attrs["form"] == "bytes" else 1)
    if "quantile" in w:
        x = np.transpose([ranks(column, own) for column, own in zip(x.T, w["quantile"])])
    return ((x - w["shift"]) / w["scale"] if "shift" in w else x).astype(np.float32)


def predict(w, path):
    """The score of each class, or the value of each target, of each row, and what it is."""
    o = dict(line.split(" = ", 1) for line in w.attrs["options"].splitlines())
    if o.get("context.form", "auto") not in ("auto", "one", "universal"):
        sys.exit(f"{path}: the winner has weights by client (context.form = {o['context.form']}), which `weft predict` tells")
    maps, texts = o["run.task"] == "fmap", o["run.task"] == "fmap" and o["fmap.feature"] == "ngram"
    rows = lines(w, path) if texts else table(w, path)
    if not texts and (told := models.beyond(w, o, rows)):
        print(f"{path}: {told}", file=sys.stderr)
    s = (models.maps if maps else models.network)(w, o, rows)
    if "target" in w:
        return w["target/shift"] + w["target/scale"] * s, "value"
    return s, "score" if maps and o["fmap.model"] != "logistic" else "p"


def opened_winner(path):
    """The file of a winner that `weft export` wrote."""
    try:
        winner = h5py.File(path)
    except OSError as e:
        sys.exit(f"{path}: {os.strerror(e.errno) if e.errno else 'no HDF5 file; expected a winner that `weft export` wrote'}")
    if "winner" not in winner or "options" not in winner["winner"].attrs:
        sys.exit(f"{path} is no winner that `weft export` wrote" + "; `weft export` makes one of a run file" * ("winner" in winner))
    return winner


if __name__ == "__main__":
    if len(sys.argv) != 3:
        sys.exit(__doc__)
    try:
        with opened_winner(sys.argv[1]) as winner:
            names, (scores, what) = list(winner["winner/class"].asstr()), predict(winner["winner"], sys.argv[2])
    except OSError as e:
        sys.exit(f"{sys.argv[2]}: {e.strerror or e}")
    to = csv.writer(sys.stdout, lineterminator="\n")
    to.writerow(["row"] + ["class"] * (what != "value") + [f"{what} {name}" for name in names])
    for row, score in enumerate(scores, 1):
        to.writerow([row] + [names[score.argmax()]] * (what != "value") + [repr(float(number)).removesuffix(".0") for number in score])
