#!/usr/bin/env python3
"""Checks a page of analysis/page.py, for t_page.sh.

usage: page.py data PAGE.html RUN.h5          what is embedded is what the run file has, read here by h5py alone
       page.py act PAGE.html OUT.html SCRIPT  the page with a script behind it that acts as a person does
       page.py drawn DOM.html RUN.h5          what a browser has drawn is what the run file has: marks are read back
                                              into numbers by the ticks of their axes
       page.py told DOM.html NAME             what that script left in the attribute data-NAME of body
"""

import html.parser
import json
import math
import re
import sys

import numpy as np


def embedded(path):
    with open(path, encoding="utf-8") as f:
        page = f.read()
    found = re.findall(r'<script type="application/json" id="data">(.*?)</script>', page, re.S)
    assert len(found) == 1 and not re.search("[<>&]", found[0])
    assert not re.search(r"(src|href)\s*=\s*[\"']?(https?:)?//", page.replace(found[0], ""))
    return json.loads(found[0])


class File:
    """The tables of a run file."""

    def __init__(self, path):
        import h5py
        with h5py.File(path) as f:
            self.event = {k: f["events"][k][:] for k in f["events"]}
            self.arm = {k: f["arms"][k][:] for k in f["arms"]}
            self.rounds = {k: f["rounds"][k][:] for k in f.get("rounds", ())}
            self.timeline = {k: f["timeline"][k][:] for k in f["timeline"]}
            self.value, self.ids = f["configs/value"][:], f["configs/id"][:]
            self.axes = [t.decode() for t in f["configs/axis"][:]]
            self.kinds = [t.decode() for t in f["configs/type"][:]]
            self.mix = {k: f["mix"][k][:] for k in f.get("mix", ())}
            self.winner = dict(f["winner"].attrs) if "winner" in f else {}
        e = self.event
        self.trials = sorted(set(e["trial"].tolist()))
        self.last = {t: max(np.flatnonzero(e["trial"] == t), key=lambda i: e["job"][i]) for t in self.trials}

    def config(self, trial):
        """The likeliest configuration after its last job, of equally likely ones the best."""
        mine = np.flatnonzero(self.arm["job"] == self.event["job"][self.last[trial]])
        best = min(mine, key=lambda i: (-self.arm["after"][i], self.arm["score"][i], self.arm["loss"][i]))
        return self.arm["config"][best]


def near(a, b, part=6e-6):
    """Equal up to six digits; None is what is not finite."""
    if a is None or not math.isfinite(b):
        return a is None and not math.isfinite(b)
    return abs(a - b) <= part * max(abs(a), abs(b)) + 1e-300


def same(what, ours, theirs, **how):
    assert len(ours) == len(theirs) and all(near(a, float(b), **how) for a, b in zip(ours, theirs)), what


def data(page, path):
    (run,), f = embedded(page), File(path)
    assert run["path"] == path
    e = f.event
    if run["word"] == "configuration":
        last = {c: i for i, c in enumerate(f.arm["config"].tolist())}
        assert run["id"] == sorted(f.ids.tolist()) and run["id"][run["winner"]["row"]] == f.winner["id"]
        same("score", run["columns"]["loss"], [f.arm["score"][last[c]] for c in run["id"]])
        alone = set(f.arm["config"][np.isin(f.arm["job"], e["job"][e["k"] == 1])].tolist())
        assert {c for c, s in zip(run["id"], run["state"]) if s == "finished"} == alone and alone
        (mix,) = run["mixtures"].values()
        job = e["job"][e["k"] > 1]
        for c, line in zip(mix["id"], mix["p"]):
            p = {j: a for j, k, a in zip(f.arm["job"], f.arm["config"], f.arm["after"]) if k == c}
            same("mixture", line, [p.get(j, 0) for j in job], part=6e-3)
        config = run["id"]
    else:
        assert run["id"] == f.trials
        at = [f.last[t] for t in f.trials]
        for name in ("loss", "resource"):
            same(name, run["columns"][name], e[name][at])
        same("jobs", run["columns"]["jobs"], [np.sum(e["trial"] == t) for t in f.trials])
        assert [s == "failed" for s in run["state"]] == [not np.isfinite(e["loss"][i]) for i in at]
        assert run["winner"]["row"] < 0 or not f.winner or run["id"][run["winner"]["row"]] == f.winner["trial"]
        config = [f.config(t) for t in f.trials]
    names = sorted((k for k in f.winner if k.startswith(("test_", "valid_")) and np.isfinite(f.winner[k])),
                   key=lambda k: (k.startswith("valid"), k.partition("_")[2] not in ("error", "loss"), k))
    assert [name for name, _ in run["winner"]["scores"]] == [k.replace("_", " ", 1) for k in names]
    same("scores", [s for _, s in run["winner"]["scores"]], [f.winner[k] for k in names])
    assert [a["name"] for a in run["axes"]] == f.axes
    for k, axis in enumerate(run["axes"]):
        value = [f.value[f.ids == c][0, k] for c in config]
        same(axis["name"], axis["value"], value, part=0)
        assert (axis["words"] is None) == (f.kinds[k] in ("real", "integer"))
        assert axis["words"] in (None, ["no", "yes"], f.kinds[k].split("|"))
    same("jobs", run["jobs"]["loss"], e["loss"])
    for k in ("worker", "start", "end", "team", "began", "ended"):
        same(k, run["jobs"][k], f.timeline[k])
    if run["word"] == "trial":
        assert [run["id"][r] for r in run["jobs"]["row"]] == e["trial"].tolist()
        order = np.lexsort((e["job"], e["resource"], e["trial"]))
        group = run["curves"][0]
        assert [run["id"][r] for r in group["row"]] == e["trial"][order].tolist()
        same("curves", group["x"], e["resource"][order])
        same("curves", next(iter(group["y"].values())), e["loss"][order])
    for group in run["curves"][1:]:
        r, points = f.rounds, {}
        for i in np.argsort(r["job"], kind="stable"):  # the n-th epoch of a fold, or the round
            own = points.setdefault((r["trial"][i], r["fold"][i] if "fold" in r else 0), {})
            own[len(own) + 1 if "fold" in r else r["unit"][i]] = i
        for name, y in group["y"].items():
            for row, x, value in zip(group["row"], group["x"], y):
                all_of_it = [r[name][own[x]] for (t, _), own in points.items() if t == run["id"][row] and x in own]
                finite = [v for v in all_of_it if math.isfinite(v)]
                assert near(value, np.mean(finite) if finite else math.nan), (name, row, x)
        assert len(group["row"]) == len({(t, x) for (t, _), own in points.items() for x in own})
    if f.mix and run["word"] == "trial":
        assert sorted(run["id"][int(k)] for k in run["mixtures"]) == sorted(set(f.rounds["trial"].tolist()))
        for row, mix in run["mixtures"].items():
            mine = f.rounds["trial"] == run["id"][int(row)]
            same("rounds", mix["x"], f.rounds["unit"][mine])
            arms = f.arm["job"] == f.rounds["job"][mine][-1]
            ids = f.arm["config"][arms].tolist()
            assert mix["of"] == len(ids) and sorted(mix["id"]) == sorted(ids)
            same("the end", [mix["p"][mix["id"].index(c)][-1] for c in ids], f.arm["after"][arms], part=6e-3)
            for c, line in zip(mix["id"], mix["p"]):
                same("mixture", line, f.mix["p"][mine][:, ids.index(c)], part=6e-3)
    print("data", len(run["id"]))


# ---- what was drawn ---------------------------------------------------------------------------

class Dom(html.parser.HTMLParser):
    """Pictures by their label: paths as (class, d), texts as (x, y, anchor, text); counts of all elements."""

    def __init__(self, path):
        super().__init__()
        self.svg, self.at, self.tags, self.body, self.text, self.rows, self.stack = {}, None, {}, {}, "", [], []
        with open(path, encoding="utf-8") as f:
            self.feed(f.read())

    def handle_starttag(self, tag, attrs):
        own = dict(attrs)
        self.tags[tag] = self.tags.get(tag, 0) + 1
        if tag == "body":
            self.body = own
        if tag == "svg" and "aria-label" in own:
            self.at = self.svg[own["aria-label"]] = {"path": [], "text": [], "box": own["viewbox"]}
        if self.at is not None and tag == "path":
            self.at["path"].append((own.get("class", ""), own.get("d", "")))
        if self.at is not None and tag == "text" and own.get("class") != "tag":
            self.at["text"].append([float(own["x"]), float(own["y"]), own.get("text-anchor"), ""])
        if tag == "tr":
            self.rows.append([])
        if tag == "td" and self.rows:
            self.rows[-1].append("")
        self.text = tag if own.get("class") != "tag" else ""

    def handle_endtag(self, tag):
        if tag == "svg":
            self.at = None
        self.text = ""

    def handle_data(self, text):
        if self.text == "text" and self.at:
            self.at["text"][-1][3] += text
        if self.text == "td" and self.rows and self.rows[-1]:
            self.rows[-1][-1] += text


def starts(svg, cls):
    """The first points of all subpaths of a class."""
    return [(float(x), float(y)) for c, d in svg["path"] if cls in c.split()
            for x, y in re.findall(r"M(-?[\d.e]+) (-?[\d.e]+)", d)]


def ruler(svg, across):
    """Numbers of an axis by place: from its ticks, of which the title says whether they are logarithmic."""
    low = max(y for _, y, anchor, _ in svg["text"] if anchor == "middle")
    if across:
        ticks = [(x, t) for x, y, anchor, t in svg["text"] if anchor == "middle" and y == low - 16]
        log = "(log)" in next(t for _, y, anchor, t in svg["text"] if y == low)
    else:
        ticks = [(y - 4, t) for _, y, anchor, t in svg["text"] if anchor == "end" and "finite" not in t]
        log = "(log)" in next(t for x, _, anchor, t in svg["text"] if x == 4)
    (a, s), (b, t) = ticks[0], ticks[-1]
    law = np.log10 if log else float
    assert len(ticks) > 1
    for place, word in ticks:  # all ticks lie on one law
        assert abs(law(float(s)) + (law(float(t)) - law(float(s))) * (place - a) / (b - a) - law(float(word))) < 0.02 * abs(law(float(t)) - law(float(s)))
    step = abs((law(float(t)) - law(float(s))) / (b - a))
    return lambda v: law(float(s)) + (law(float(t)) - law(float(s))) * (v - a) / (b - a), law, step


def agree(what, drawn, values, law, step):
    """Places that were read back are the numbers, in any order, up to a few tenths of a point."""
    ours, theirs = sorted(drawn), sorted(map(law, values))
    assert len(ours) == len(theirs), (what, len(ours), len(theirs))
    assert all(abs(a - b) <= 0.6 * step + 1e-9 for a, b in zip(ours, theirs)), (what, ours[:5], theirs[:5])


def drawn(dom, path):
    d, f = Dom(dom), File(path)
    assert not {"b2", "img", "i"} & set(d.tags), d.tags
    assert d.tags["script"] == 2, d.tags
    e, loss = f.event, {t: f.event["loss"][f.last[t]] for t in f.trials}
    value = {t: f.value[f.ids == f.config(t)][0] for t in f.trials}
    for k, axis in enumerate(f.axes):
        svg = d.svg[axis]
        has = [t for t in f.trials if math.isfinite(value[t][k])]
        points = starts(svg, "pt")
        assert len(points) == len(has), (axis, len(points), len(has))
        failed = starts(svg, "failed")
        assert len(failed) == sum(not math.isfinite(loss[t]) for t in has)
        back, law, step = ruler(svg, False)
        good = [p for p in points if p not in failed]
        agree(axis, [back(y) for _, y in good], [loss[t] for t in has if math.isfinite(loss[t])], law, step)
        if f.kinds[k] in ("real", "integer"):
            back, law, step = ruler(svg, True)
            agree(axis, [back(x + 3 * ((x, y) in failed)) for x, y in points], [value[t][k] for t in has], law, step)
    lines = starts(d.svg["parallel coordinates"], "pc")
    assert len(lines) == len(f.trials), len(lines)
    best = d.svg["best so far"]
    back, law, step = ruler(best, False)
    jobs = starts(best, "job")
    assert len(jobs) == len(e["job"])
    good = e["loss"][np.isfinite(e["loss"])]
    agree("best so far", [back(y) for _, y in jobs][:len(good)], good, law, step)
    bars = [re.findall(r"M(-?[\d.]+) (-?[\d.]+)H(-?[\d.]+)", p) for c, p in d.svg["timeline"]["path"] if c == "bar"]
    bars = sorted((float(a), float(y), float(b)) for part in bars for a, y, b in part)
    back, law, step = ruler(d.svg["timeline"], True)
    agree("starts", [back(a) for a, _, _ in bars], f.timeline["start"], law, step)
    agree("ends", [back(b + 0.7) for _, _, b in bars], f.timeline["end"], law, 3 * step)
    if "curves" in d.svg:
        ends = starts(d.svg["curves"], "pt")
        assert len(ends) == len(f.trials), len(ends)
        back, law, step = ruler(d.svg["curves"], True)
        agree("resource", [back(x) for x, _ in ends if (x, _) not in starts(d.svg["curves"], "failed")],
              [e["resource"][f.last[t]] for t in f.trials if math.isfinite(loss[t])], law, step)
    rows = [r for r in d.rows if r and re.fullmatch(r"(\u2605 )?\d+", r[0])]
    order = sorted(f.trials, key=lambda t: (not math.isfinite(loss[t]), loss[t] if math.isfinite(loss[t]) else 0, t))
    assert [int(r[0].strip("\u2605 ")) for r in rows] == order[:100], rows[:3]
    print("drawn", len(lines))


def main():
    mode, path, *rest = sys.argv[1:]
    if mode == "act":
        with open(path, encoding="utf-8") as f:
            head, tail = f.read().rsplit("</body>", 1)
        with open(rest[0], "w", encoding="utf-8") as f:
            f.write(f"{head}<script>{rest[1]}</script></body>{tail}")
    elif mode == "told":
        print(Dom(path).body.get(f"data-{rest[0]}"))
    else:
        {"data": data, "drawn": drawn}[mode](path, *rest)


if __name__ == "__main__":
    main()
