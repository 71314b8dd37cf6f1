#!/usr/bin/env python3
"""MiP-EGO (forest) beside tpe and random search on Kim's network over sentences (jobs/mipego.sh).

usage: analysis/mipego.py [DIR] [-d analysis]

DIR has the searches, SAMPLER-SEED.h5, in folds/ their winners and Kim's configuration on all
folds, in replays/ searches on the table of configurations, SAMPLER-WORKERS-SEED.h5. What is
there is added to three tables: mipego.tsv, every configuration that was trained, which task
replay reads; mipego-folds.tsv; mipego-replays.tsv. Then the comparisons are printed, and the
lowest errors so far are drawn: mipego.png. Intervals are 95 %, over seeds, by Student's t.
Random search is asked for all its trials at once: here they are put on as many workers as the
other samplers have. Beside the curve of trained searches over trials is one over epochs on as many
workers. Needs h5py and matplotlib.
"""
import argparse
import os
import sys
from collections import defaultdict

import stats
import tables

NAMES = {"forest": "forest (MiP-EGO)", "tpe": "tpe", "space": "random search"}
FOLDS = ["sampler", "seed", "dev_error", "fold_error", "fold_half", "epochs"]
REPLAYS = ["sampler", "workers", "seed", "end", "error"]
WORKERS = 5  # of the searches that train
AT = (10, 20, 40)  # trials after which errors are compared
GUESS = 0.5  # error of guessing, where nothing is told yet


def trained(path):
    """A line for each configuration of a search: what task replay needs, with the error on the
    development part as loss, then its values."""
    import h5py  # only to read run files

    name = "-".join(tables.parts_of_name(path, r"(\w+)-(\d+)", "SAMPLER-SEED"))
    with h5py.File(path, "r") as f:
        e = {k: f["events"][k][:] for k in ("job", "trial", "valid_error", "fold_error", "epochs")}
        values = [dict(v.split("=", 1) for v in t.decode().split()) for t in f["configs/text"][:]]
        of = dict(zip(f["configs/id"][:], values))
        lines = []
        for i in sorted(range(len(e["job"])), key=lambda i: e["job"][i]):
            row = {"config": "%s-%d" % (name, e["job"][i]), "resource": "1", "loss": "%.6g" % e["valid_error"][i],
                   "fold_error": "%.6g" % e["fold_error"][i], "epochs": "%g" % e["epochs"][i]}
            own = of[e["trial"][i]]
            row.update((k.split(".")[1], short(v)) for k, v in own.items())
            lines.append(row)
        return lines


def short(value):
    try:
        return "%.6g" % float(value)
    except ValueError:
        return value


def on_folds(path):
    import h5py

    sampler, seed = tables.parts_of_name(path, r"(\w+)-(\d+)", "SAMPLER-SEED")
    with h5py.File(path, "r") as f:
        e = f["events"]
        return {"sampler": sampler, "seed": seed, "dev_error": "%.6g" % e["valid_error"][-1],
                "fold_error": "%.6g" % e["fold_error"][-1], "fold_half": "%.6g" % e["fold_half"][-1],
                "epochs": "%.6g" % e["epochs"][-1]}


def replayed(path):
    """The trials of a search on the table that lowered the error, in order of virtual time."""
    import workers as plan

    sampler, w, seed = tables.parts_of_name(path, r"(\w+)-(\d+)-(\d+)", "SAMPLER-WORKERS-SEED")
    e, end = plan.read(path)
    if sampler == "space":
        end = plan.put_on(e, int(w))
    lines, least = [], float("inf")
    last = max(end.values())
    for time, error in sorted((end[j], x) for j, x in zip(e["job"], e["valid_loss"])):
        if error < least or time == last:
            least = min(least, error)
            lines.append({"sampler": sampler, "workers": w, "seed": seed, "end": "%g" % time,
                          "error": "%.6g" % least})
    return lines


def on_workers(trials):
    """The steps (time, least error so far) of [(error, epochs)], in the order in which they were
    asked for, on WORKERS workers when an epoch takes one unit of time: a trial begins when any
    worker is free, as in searches with sgd.patience, where they cost the epochs that they train."""
    end, steps, least = [], [], GUESS
    for _, epochs in trials:
        begin = sorted(end)[-WORKERS] if len(end) >= WORKERS else 0
        end.append(begin + epochs)
    for time, error in sorted(zip(end, (error for error, _ in trials))):
        least = min(least, error)
        steps.append((time, least))
    return steps


def merge(table, new, keys, head):
    """Rows of the table, those with the keys of new ones replaced by these; written if any are."""
    rows = []
    if os.path.exists(table):
        with open(table, encoding="ascii") as f:
            names = f.readline().rstrip("\n").split("\t")
            rows = [dict(zip(names, line.rstrip("\n").split("\t"))) for line in f]
    there = {keys(row) for row in new}
    rows = sorted([row for row in rows if keys(row) not in there] + new, key=keys)
    if new:
        with tables.replace(table) as f:
            head = head or list(new[0])
            for row in [dict(zip(head, head))] + rows:
                print(*(row[k] for k in head), sep="\t", file=f)
    return rows


def search_of(row):
    sampler, seed, _ = row["config"].rsplit("-", 2)
    return sampler, int(seed)


def seed_of(row):
    return row["sampler"], int(row.get("workers", 0)), int(row["seed"])


def so_far(errors):
    least, out = GUESS, []
    for x in errors:
        least = min(least, x)
        out.append(least)
    return out


def percent(x):
    """The mean of shares in percent, with its interval where there are several."""
    i = stats.by_samples(x)
    return "%.1f +- %.1f" % (100 * i.mean, 100 * i.half) if i.n > 1 else "%.1f" % (100 * i.mean)


def differences(a, b):
    """The mean of a less b over the seeds that both have, and what its interval says."""
    seeds = sorted(set(a) & set(b))
    i = stats.by_samples([100 * (a[s] - b[s]) for s in seeds])
    if i.n < 2:
        return "%+.1f" % i.mean
    return "%+.1f +- %.1f (%s)" % (i.mean, i.half, stats.verdict(i._replace(mean=-i.mean)))


def say_searches(curves, held):
    print("| sampler | seeds |", " | ".join("dev error %%, %d trials" % n for n in AT),
          "| less random search | held-out error % of the winner |")
    print("|---|---|" + "---|" * (len(AT) + 2))
    for sampler, name in NAMES.items():
        own = curves[sampler]
        if not own:
            continue
        cells = [percent([c[min(n, len(c)) - 1] for c in own.values()]) for n in AT]
        last, other = ({s: c[-1] for s, c in x.items()} for x in (own, curves["space"]))
        less = differences(last, other) if sampler != "space" and set(last) & set(other) else ""
        print("|", name, "|", len(own), "|", " | ".join(cells), "|", less, "|",
              percent(list(held[sampler].values())), "|")


def say_folds(rows):
    error = defaultdict(dict)
    for row in rows:
        error[row["sampler"]][row["seed"]] = float(row["fold_error"])
    print("\n| configuration | seeds | held-out error %, ten folds | less Kim's |\n|---|---|---|---|")
    for sampler, name in {"kim": "Kim's", **NAMES}.items():
        own = error[sampler]
        if own:
            less = differences(own, error["kim"]) if sampler != "kim" and set(own) & set(error["kim"]) else ""
            print("|", name, "|", len(own), "|", percent(list(own.values())), "|", less, "|")


def best_by(steps, time):
    return min([GUESS] + [x for t, x in steps if t <= time])


def say_times(found):
    """found: {(sampler, workers): {seed: steps}}."""
    print("\n| sampler | workers | seeds | error %, quarter of random search's time | half | all |"
          " virtual time of all trials, epochs | less random search, at half |\n|---|---|---|---|---|---|---|---|")
    for w in sorted({w for _, w in found}):
        if ("space", w) not in found:
            continue
        end = stats.mean_of([s[-1][0] for s in found["space", w].values()])
        for sampler, name in NAMES.items():
            own = found.get((sampler, w))
            if not own:
                continue
            cells = [percent([best_by(s, end * part) for s in own.values()])
                     for part in (0.25, 0.5, 1)]
            half, other = ({s: best_by(x, end / 2) for s, x in y.items()} for y in (own, found["space", w]))
            less = differences(half, other) if sampler != "space" else ""
            spent = stats.mean_of([s[-1][0] for s in own.values()])
            print("|", name, "|", w, "|", len(own), "|", " | ".join(cells), "| %.0f |" % spent, less, "|")


def band(ax, x, curves, sampler):
    """The mean of curves [seeds][x] with its interval."""
    import runs

    colour = {"forest": runs.BLUE, "tpe": runs.RED, "space": runs.BLACK}[sampler]
    at = [stats.by_samples([100 * c[i] for c in curves]) for i in range(len(x))]
    ax.plot(x, [i.mean for i in at], color=colour, lw=1.4, label=NAMES[sampler])
    if len(curves) > 1:
        ax.fill_between(x, [i.mean - i.half for i in at], [i.mean + i.half for i in at],
                        color=colour, alpha=0.15, lw=0)


def over_time(ax, own, sampler):
    """The least error so far of searches {seed: steps} at each hundredth of the longest one."""
    end = max(s[-1][0] for s in own.values())
    x = [end * i / 100 for i in range(2, 101)]
    band(ax, x, [[best_by(s, t) for t in x] for s in own.values()], sampler)


def draw(curves, timed, found, path):
    import runs
    from matplotlib import pyplot as plt

    each = sorted({w for _, w in found})
    fig, axes = plt.subplots(1, 2 + len(each), figsize=(6.4 + 2.8 * len(each), 3.2), squeeze=False)
    first, second, axes = axes[0][0], axes[0][1], axes[0][2:]
    for sampler in NAMES:
        own = list(curves[sampler].values())
        if own:
            n = min(map(len, own))
            band(first, range(1, n + 1), own, sampler)
            over_time(second, timed[sampler], sampler)
    second.set(title="trained, %d workers" % WORKERS, xlabel="virtual time, epochs")
    first.set(title="trained, %d workers" % WORKERS, xlabel="trials",
              ylabel="lowest development error so far, %")
    first.legend(fontsize=7)
    for w, ax in zip(each, axes):
        for sampler in NAMES:
            own = found.get((sampler, w))
            if own:
                over_time(ax, own, sampler)
        ax.set(title="on the table, %d worker%s" % (w, "s" * (w > 1)), xlabel="virtual time, epochs")
    fig.savefig(path)


def main():
    parse = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parse.add_argument("dir", nargs="?")
    parse.add_argument("-d", "--tables", default="analysis")
    given = parse.parse_args()

    def files(part):
        folder = os.path.join(given.dir or "", part)
        there = given.dir and (not part or os.path.isdir(folder))
        return tables.files_in(folder, "*-*.h5") if there else []

    own = [row for run in tables.lines_of(files(""), trained) for row in run]
    on_all = tables.lines_of(files("folds"), on_folds)
    again = [row for run in tables.lines_of(files("replays"), replayed) for row in run]
    if given.dir and not own + on_all + again:
        sys.exit(f"{given.dir}: there are no runs of jobs/mipego.sh")
    rows = merge(given.tables + "/mipego.tsv", own, search_of, None)
    folds = merge(given.tables + "/mipego-folds.tsv", on_all, seed_of, FOLDS)
    steps = merge(given.tables + "/mipego-replays.tsv", again, seed_of, REPLAYS)
    if not rows:
        sys.exit(f"no runs given, and no table mipego.tsv in {given.tables}")
    losses, curves, timed = defaultdict(list), defaultdict(dict), defaultdict(dict)
    for row in rows:
        losses[search_of(row)].append((float(row["loss"]), float(row["fold_error"]), float(row["epochs"])))
    held = defaultdict(dict)
    for (sampler, seed), own in losses.items():
        curves[sampler][seed] = so_far([loss for loss, _, _ in own])
        timed[sampler][seed] = on_workers([(loss, epochs) for loss, _, epochs in own])
        held[sampler][seed] = min(own, key=lambda x: x[0])[1]
    found = defaultdict(lambda: defaultdict(list))
    for row in steps:
        found[row["sampler"], int(row["workers"])][row["seed"]].append((float(row["end"]), float(row["error"])))
    say_searches(curves, held)
    if folds:
        say_folds(folds)
    say_times({(sampler, WORKERS): own for sampler, own in timed.items()})
    if found:
        say_times(dict(found))
    draw(curves, timed, dict(found), given.tables + "/mipego.png")


if __name__ == "__main__":
    main()
