#!/usr/bin/env python3
"""What `weft pack dense` makes of a table, computed here a second time from what the cells of the
table mean. usage: prepared.py WEFT DIRECTORY <CASES, a line each: STATEMENT: options. Prints TAP."""
import csv
import subprocess
import sys

import h5py
import numpy as np

ROWS, SPLIT = 150, 7  # SPLIT: purpose of the random numbers that rows are shuffled by
PARTS = "train", "valid", "test"
KINDS = "number category label group client dropped target weight".split()
MARKS = {"none": "", "comma": ",", "point": ".", "blank": " ", "semicolon": ";", "tab": "\t", "pipe": "|"}
GAPS = ["", "NA", "n/a", "?", "-", "nan", "NULL", "None", "."]
COLUMNS = "far colour age t mixed late site tie pay only y code u count size".split()
TEXTS = "colour mixed only site y code".split()


# ---- the table ----

def meaning(name, i):
    """What the cell of row i means; None: it is missing. Later rows have greater numbers and
    other levels, those from ROWS on are new ones to be scored."""
    return {
        "age": None if i % 9 == 4 else i * 37 % 60 + i // 4,
        "size": None if i % 7 == 2 else i * 53 % 101 / 8 - 2.5 + i,
        "late": None if i >= ROWS - 20 and i % 2 else i * 29 % 83 / 4,
        "tie": None if i % 5 == 1 else (7, 3, 5, 3, 5, 7)[i % 6],
        "pay": (-1) ** i * (i * 7919 % 3000 * 1000 + 250.25 * (i % 3)),
        "far": 1.7e9 + 1000 * (i * 67 % 151) + i % 4 / 4,
        "count": i * 11 % 7 / 2,
        "t": 1.7e9 + 10 * (i * 89 % 149) + 0.125,
        "u": None if i >= ROWS and i % 6 == 1 else (i * 71 % 139 - 60) / 1024 + i / 100,
        "colour": (None, "red", "dark, blue", 'so "red"', "Red")[i * 3 % 5],
        "mixed": ("5", "k1", "10", "k2", None, "k1", "k3")[i % 7],
        "code": ("10", "007", "9", "7", "100")[i * 3 % 5],
        "only": "new" if i >= ROWS - 9 else "old" if i % 3 else "own",
        "site": f"S{i * i % 11}",
        "y": ("no", "yes", "may be")[(i * i + i // 7) % 3],
    }[name]


def notation(o):
    mark = {key: MARKS[o.get(key, default)] for key, default in (("separator", "comma"), ("decimal", "point"), ("thousands", "none"))}
    return {**mark, "gaps": GAPS + [gap for gap in o.get("gaps", "").split(",") if gap]}


def spelt(x, i, how):
    """A cell as people write it, numbers in several ways."""
    if x is None or isinstance(x, str):
        return how["gaps"][i % len(how["gaps"])] if x is None else x
    text = next(t for t in (("{:.4f}", "{:+.13e}", "{!r}")[i % 3].format(x), repr(x)) if float(t) == x)
    whole, point, rest = text.partition(".")
    if how["thousands"] and "e" not in text and len(whole) > 3:
        whole = f"{int(whole):,}".replace(",", how["thousands"])
    return whole + (point and how["decimal"]) + rest


def write(path, names, rows, how):
    """A CSV file. Every third line has all cells in quotation marks, every third one blanks around numbers."""
    with open(path, "w", newline="") as file:
        for line, i in enumerate([None, *rows]):
            cells = names if i is None else [spelt(meaning(name, i), i + len(name), how) for name in names]
            if line % 3 == 2 and not how["thousands"]:
                cells = [cell if name in TEXTS else f" {cell} " for cell, name in zip(cells, names)]
            csv.writer(file, delimiter=how["separator"], lineterminator="\n", quoting=csv.QUOTE_ALL if line % 3 == 1 else 0).writerow(cells)


# ---- parts ----

def shuffled(n, o):
    key = np.random.Philox(key=[int(o.get("seed", 0)), SPLIT], counter=2**256 - 1).random_raw(4 * n)[::4]
    return sorted(range(n), key=lambda i: (key[i], i))


def share(n, part):
    return int(n * part + 0.5)


def cut(order, valid, test):
    first, second = len(order) - valid - test, len(order) - test
    return [order[:first], order[first:second], order[second:]]


def by_class(order, of):
    """Row k of the m of a class is (k + 1/2) / m of the way."""
    rows = {}
    for i in order:
        rows.setdefault(of(i), []).append(i)
    way = {i: (k + 0.5) / len(own) for own in rows.values() for k, i in enumerate(own)}
    return sorted(order, key=way.get)


def by_groups(n, of, shares, o):
    """Groups in random order: the test, then the valid part, takes one if it comes nearer to its share."""
    names, part = list(dict.fromkeys(map(of, range(n)))), {}
    left = [0, shares[0] * n, shares[1] * n]
    for g in shuffled(len(names), o):
        size = sum(of(i) == names[g] for i in range(n))
        p = 2 if left[2] > size / 2 else 1 if left[1] > size / 2 else 0
        part[names[g]] = p
        left[p] -= size
    return [[i for i in shuffled(n, o) if part[of(i)] == p] for p in range(3)]


def divide(n, ends, role, o):
    """The rows of each part, by clients: those of the first file by the shares, others as their files say."""
    shares = [0 if ends[p] > ends[p - 1] else float(o.get(PARTS[p], 0.1)) for p in (1, 2)]
    how, order, label = o.get("shares", "chance"), shuffled(n, o), lambda i: meaning("y", i)
    more = [[], list(range(n, ends[1])), list(range(ends[1], ends[2]))]
    if "client" in role:
        own = lambda i: meaning(role["client"], i)
        order = shuffled(ends[2], o) if how != "end" else list(range(ends[2]))
        order = by_class(order, lambda i: (own(i), label(i))) if how == "class" else order
        parts = {}
        for client in dict.fromkeys(map(own, range(ends[2]))):
            rows = [i for i in order if i < n and own(i) == client]
            valid = max(min(share(len(rows), shares[0]), len(rows) - 1), 0)
            test = max(min(share(len(rows), shares[1]), len(rows) - 1 - valid), 0)
            files = [[i for i in order if i in rest and own(i) == client] for rest in more]
            parts[client] = [a + b for a, b in zip(cut(rows, valid, test), files)]
        return parts
    if "group" in role:
        parts = by_groups(n, lambda i: meaning(role["group"], i), shares, o)
    elif how == "end":
        part = {}
        for name in set(map(label, range(n))):
            rows = [i for i in range(n) if label(i) == name]
            for p, own in enumerate(cut(rows, *(share(len(rows), s) for s in shares))):
                part.update(dict.fromkeys(own, p))
        parts = [[i for i in order if part[i] == p] for p in range(3)]
    else:
        parts = cut(by_class(order, label) if how == "class" else order, *(share(n, s) for s in shares))
    return {None: [a + b for a, b in zip(parts, more)]}


# ---- columns ----

def number(name, i):
    x = meaning(name, i)
    return float(x) if x is not None else np.nan


def in_order(levels):
    """Numbers by value, then texts."""
    value = lambda x: float(x) if x.replace(".", "").isdigit() else np.inf
    return sorted(levels, key=lambda x: (value(x), x))


def column(name, kind, train, rows, o):
    """What the file has to say of a column, and what fills its gaps."""
    c = {"name": name, "kind": kind, "missing": 0, "marks": 0, "levels": [], "real": [0.0, 0.0, 0.0], "distinct": 0}
    if kind in ("number", "category"):
        c["missing"] = sum(meaning(name, i) is None for i in rows)
        c["marks"] = int(any(meaning(name, i) is None for i in train))
    if kind == "category":
        c["levels"] = in_order({meaning(name, i) for i in train} - {None})
    if kind in ("number", "target", "weight"):
        x = np.array([number(name, i) for i in rows])
        c["real"] = [0.0, np.nanmin(x), np.nanmax(x)]
        c["distinct"] = len(set(x[x == x]))
    elif kind != "dropped":
        c["distinct"] = len({meaning(name, i) for i in rows} - {None})
    if kind == "number":
        own = [number(name, i) for i in train if meaning(name, i) is not None]
        c["real"][0] = np.median(own)
    return c


def features(c, i):
    name, x = c["name"], meaning(c["name"], i)
    marks = [float(x is None)] * c["marks"]
    if c["kind"] == "number":
        return [c["real"][0] if x is None else float(x)] + marks
    return [float(x == level) for level in c["levels"]] + marks


def feature_names(c):
    return [c["name"]] * (c["kind"] == "number") + [f"{c['name']}={level}" for level in c["levels"]] + [f"{c['name']} is missing"] * c["marks"]


def equal(what, got, want):
    got, want = np.asarray(got), np.asarray(want)
    assert got.shape == want.shape, (what, got.shape, want.shape)
    assert (got == want).all(), (what, np.argwhere(got != want)[:3].tolist(), got[got != want][:3], want[got != want][:3])


def near(what, got, want):
    assert np.allclose(got, want, 1e-12, 0), (what, got[:9], want[:9])


def check_rows(file, x, rows, columns, whole=True):
    """Rows as 32-bit floats; those of numbers far from 0 for their spread are shifted and scaled to -1 .. 1."""
    want = np.array([[v for c in columns for v in features(c, i)] for i in rows]).reshape(len(rows), -1)
    far = np.array([n in ("far", "t") for c in columns for n in feature_names(c)])
    assert ("shift" in file) == far.any()
    if "shift" in file:
        shift, scale = file["shift"][:], file["scale"][:]
        equal("columns that are shifted", (shift != 0) | (scale != 1), far)
        want = (want - shift) / scale
        most = abs(want).max(0, initial=0)[far]
        assert not whole or ((most <= 1) & (most > 0.4)).all(), most
    equal("rows", x, want.astype(np.float32))


def check_table(file, columns):
    equal("names", file["table/name"].asstr()[:], [c["name"] for c in columns])
    equal("levels", file["table/level"].asstr()[:], [level for c in columns for level in c["levels"]])
    equal("reals", file["table/real"][:], [c["real"] for c in columns])
    for c, got in zip(columns, file["table/whole"][:]):
        equal(c["name"], got, [KINDS.index(c["kind"]), c["distinct"], c["missing"], c["marks"], len(c["levels"])])
    equal("features", file["column"].asstr()[:], [n for c in columns for n in feature_names(c)])


def check_answers(file, part, rows, train, role):
    """Targets and their measure, or classes; weights and groups."""
    if role["target"]:
        x, of = (np.array([[number(name, i) for name in role["target"]] for i in own]) for own in (rows, train))
        equal("targets", file[part + "/target"][:], x)
        near("shift", file["target/shift"][:], of.mean(0))
        near("scale", file["target/scale"][:], of.std(0))
        equal("names of targets", file["class"].asstr()[:], role["target"])
        assert "label" not in file[part]
    else:
        names = in_order({meaning(role["label"], i) for i in range(ROWS)})
        label = [names.index(meaning(role["label"], i)) for i in rows]
        equal("classes", file["class"].asstr()[:], names)
        equal("labels", file[part + "/label"][:], label)
        equal("counts", file[part + "/count"][:], np.bincount(label, minlength=len(names)))
    if "weight" in role:
        near("weights", file[part + "/weight"][:], [number(role["weight"], i) / np.mean([number(role["weight"], k) for k in train]) for i in rows])
    if "group" in role:
        names = list(dict.fromkeys(meaning(role["group"], i) for i in range(ROWS)))
        equal("groups", file[part + "/group"][:], [names.index(meaning(role["group"], i)) for i in rows])
    assert ("weight" in file[part], "group" in file[part]) == ("weight" in role, "group" in role)


def check_clients(file, parts, role, columns):
    rows = [i for own in parts.values() for part in own for i in part]
    count = [[len(part) for part in own] for own in parts.values()]
    names = in_order({meaning(role["label"], i) for i in range(ROWS)})
    equal("clients", file["client/name"].asstr()[:], list(parts))
    equal("counts", file["client/count"][:], count)
    equal("firsts", file["client/first"][:], np.cumsum([0] + [sum(c) for c in count]))
    equal("labels", file["label"][:], [names.index(meaning(role["label"], i)) for i in rows])
    check_rows(file, file["x"][:], rows, columns)


# ---- a case ----

def kinds_of(o):
    """The kind of each column, and the columns of each role."""
    kind, labels = {}, o["label"].split(",")
    many = len(labels) > 1 or o.get("target") == "regression"
    for name in COLUMNS:
        kind[name] = "category" if name in o.get("categories", "colour,mixed,only,site,y").split(",") else "number"
    for name in labels:
        kind[name] = "target" if many else "label"
    for name in o["drop"].split(",") if "drop" in o else []:
        kind[name] = "dropped"
    role = {"label": labels[0], "target": [name for name in COLUMNS if name in labels] if many else []}
    for key in {"group", "client", "weight"} & set(o):
        kind[o[key]] = key
        role[key] = o[key]
    return kind, role


def check_scored(weft, directory, kind, role, columns, o, bare):
    """New rows, columns in another order, packed like the table; bare: without what is to be predicted."""
    rows, packed = list(range(ROWS, ROWS + 40)), f"{directory}/scored.h5"
    names = [name for name in COLUMNS[::-1] if not (bare and kind[name] in ("label", "target", "weight", "client", "dropped"))]
    write(f"{directory}/new.csv", names, rows, notation(o))
    run(weft, "pack", "dense", f"{directory}/new.csv", f"like={directory}/t.h5", "-o", packed, "--force")
    with h5py.File(packed) as file, h5py.File(f"{directory}/t.h5") as learnt:
        if "client" in role:
            own = (lambda i: "") if bare else (lambda i: meaning(role["client"], i))
            rows = [i for client in dict.fromkeys(map(own, rows)) for i in rows if own(i) == client]
            equal("places", file["test/row"][:], np.array(rows) - ROWS)
            equal("clients", file["client/name"].asstr()[:], list(dict.fromkeys(map(own, rows))))
        x, label = (file["x"], file["label"]) if "client" in role else (file["test/x"], file["test"].get("label"))
        check_rows(file, x[:], rows, columns, whole=False)
        equal("whether labels lack", "unlabelled" in file.attrs, bool(bare) or "u" in role["target"])
        if role["target"]:
            shift = learnt["target/shift"][:]
            want = np.array([[number(name, i) for name in role["target"]] for i in rows])
            if not bare:
                equal("targets", file["test/target"][:], np.where(np.isnan(want), shift, want))
            equal("measure", [file["target/shift"][:], file["target/scale"][:]], [shift, learnt["target/scale"][:]])
        elif not bare:
            names = list(learnt["class"].asstr())
            equal("labels", label[:], [names.index(meaning(role["label"], i)) for i in rows])
        if "weight" in role and not bare:
            own = np.array([number(role["weight"], i) for i in rows])
            near("weights", file["test/weight"][:], own / own.mean())
        assert ("weight" in file["test"]) == ("weight" in role and not bare)


def run(*command):
    done = subprocess.run(command, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr


def check(weft, directory, o):
    """Packs the table, and new rows like it, by options o, and compares what is written."""
    o = {"label": "y"} | dict(o)
    tested = ROWS - 40 * ("test_file" in o)
    ends = [tested - 20 * ("valid_file" in o), tested, ROWS]  # rows up to the end of each file
    kind, role = kinds_of(o)
    table, packed = f"{directory}/t.csv", f"{directory}/t.h5"
    write(table, COLUMNS, range(ends[0]), notation(o))
    for p, key in (1, "valid_file"), (2, "test_file"):
        if key in o:
            o[key] = f"{directory}/{key}.csv"
            write(o[key], COLUMNS[::-1], range(ends[p - 1], ends[p]), notation(o))
    run(weft, "pack", "dense", table, "-o", packed, "--force", *(f"{key}={value}" for key, value in o.items()))
    parts = divide(ends[0], ends, role, o)
    train = [i for own in parts.values() for i in own[0]]
    columns = [column(name, kind[name], train, range(ROWS), o) for name in COLUMNS]
    with h5py.File(packed) as file:
        check_table(file, columns)
        if "client" in role:
            check_clients(file, parts, role, columns)
        for part, rows in zip(PARTS, parts[None] if "client" not in role else []):
            check_rows(file, file[part + "/x"][:], rows, columns)
            check_answers(file, part, rows, train, role)
    for bare in 0, 1:
        check_scored(weft, directory, kind, role, columns, o, bare)


if __name__ == "__main__":
    count = 0
    for count, line in enumerate(sys.stdin, 1):
        statement, _, options = line.strip().partition(":")
        try:
            check(*sys.argv[1:], [o.split("=", 1) for o in options.split()])
            print(f"ok {count} - {statement}")
        except AssertionError as error:
            print(f"not ok {count} - {statement}\n# {str(error)!r}")
    print(f"1..{count}")
