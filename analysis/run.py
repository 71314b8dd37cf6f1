#!/usr/bin/env python3
"""A picture of one run.

usage: analysis/run.py RUN.h5 [--timeline] [-o FILE.png]

Of federations: accuracy of every trial after each round, by the server's weights and after local
training where clients scored these, and the clients of its rounds. Of feature maps: scores and probabilities of every map over the rounds; a sweep is shown as its maps
in order of validation error. Of networks on one data set: loss and error of every trial after each
epoch, means over folds. Of programs, and of what else has neither: the score of every trial after
each of its jobs. Beside these the lowest score so far, job by job in the order in which they ended.
With --timeline, of any run: which simulated worker had which job in virtual time, and which team of
ranks in real time.
"""

import argparse
import textwrap
import sys
from collections import defaultdict

import numpy as np
from matplotlib import pyplot as plt
from matplotlib.colors import LogNorm
from matplotlib.ticker import FuncFormatter, LogLocator, MaxNLocator

import runs


def grid_of(run, jobs, column):
    """[map][job] of one column of the arms, NaN where a map took no part."""
    ids = sorted(run.config)
    row = {c: i for i, c in enumerate(ids)}
    col = {j: i for i, j in enumerate(jobs)}
    grid = np.full((len(ids), len(jobs)), np.nan)
    for job, config, value in zip(run.arm["job"], run.arm["config"], run.arm[column]):
        if job in col:
            grid[row[config], col[job]] = value
    return ids, grid


def draw_errors(ax, run, jobs, ids, error, winner):
    """Dots as large as the number of samples that they are means of."""
    x = np.arange(1, len(jobs) + 1)
    count = grid_of(run, jobs, "count")[1]
    size = 40 * np.sqrt(count / np.nanmax(count))
    for i, line in enumerate(error):
        if ids[i] != winner:
            ax.plot(x, 100 * line, "-", color=runs.GREY, lw=0.5, alpha=0.6)
            ax.scatter(x, 100 * line, size[i], color=runs.GREY, lw=0)
    mine = error[ids.index(winner)]
    ax.plot(x, 100 * mine, "o-", color=runs.BLUE, ms=5, lw=2, zorder=3,
            label=f"winner, map {winner}")
    mean = [run.event["valid_error"][run.event["job"] == j][0] for j in jobs]
    ax.plot(x, 100 * np.array(mean), "--", color=runs.BLACK, lw=1.2, label="mean of the mixture")
    alone = run.alone()
    at = len(jobs) + 1
    ax.plot([at] * len(alone), [100 - a for a in alone.values()], "o", color=runs.GREY, ms=5)
    if winner in alone:
        ax.plot(at, 100 - alone[winner], "*", color=runs.RED, ms=12, zorder=4,
                label="winner, fitted alone" if run.refitted() else "winner, shared weights")
    ax.set_ylabel("validation error (%)")
    ax.set_title("error of each map with the shared weights")
    ax.legend(loc="best", fontsize=8)
    label_rounds(ax, x, alone)


def label_rounds(ax, x, alone):
    ax.set_xlabel("round")
    ticks, names = list(x), [str(i) for i in x]
    if len(ticks) > 12:
        ticks = [t for t in MaxNLocator(8, integer=True).tick_values(1, len(x)) if 1 <= t <= len(x)]
        names = [f"{t:.0f}" for t in ticks]
    if alone:
        ticks, names = ticks + [len(x) + 1], names + ["final"]
    ax.set_xticks(ticks)
    ax.set_xticklabels(names)
    ax.set_xlim(0.5, len(x) + 0.5 + bool(alone))


def draw_probabilities(ax, fig, jobs, ids, p, error, winner):
    """Maps from top to bottom: those that lasted longest, then those that erred least."""
    lasted = np.sum(p > 0, axis=1)
    final = np.array([r[r > 0][-1] if (r > 0).any() else 0 for r in np.nan_to_num(p)])
    last = np.array([r[~np.isnan(r)][-1] if (~np.isnan(r)).any() else 1 for r in error])
    order = sorted(range(len(ids)), key=lambda i: (ids[i] != winner, -lasted[i], -final[i],
                                                   last[i]))
    shown = np.where(p > 0, p, np.nan)[order]
    least = max(np.nanmin(shown), 1e-4)
    top = max(np.nanmax(shown), 1.01 * least)
    image = ax.imshow(shown, aspect="auto", cmap="cividis_r", interpolation="nearest",
                      norm=LogNorm(least, top), extent=(0.5, len(jobs) + 0.5, len(ids), 0))
    bar = fig.colorbar(image, ax=ax, pad=0.02, format=FuncFormatter(lambda v, _: f"{v:g}"))
    bar.locator = LogLocator(subs=(1, 2, 5) if top < 300 * least else (1,))
    bar.minorticks_off()
    bar.update_ticks()
    bar.set_label("probability")
    bar.outline.set_visible(False)
    if len(ids) <= 80:
        ax.set_yticks(np.arange(len(ids)) + 0.5)
        ax.set_yticklabels([str(ids[i]) for i in order], fontsize=min(9, 370 / len(ids)))
        ax.tick_params(axis="y", length=0, pad=1)
        ax.get_yticklabels()[0].set_color(runs.BLUE)
        ax.get_yticklabels()[0].set_fontweight("bold")
        ax.set_ylabel("map")
    else:
        ax.set_yticks([])
        ax.set_ylabel(f"{len(ids)} maps, the winner on top")
    ax.set_title("probability of each map")
    label_rounds(ax, np.arange(1, len(jobs) + 1), {})
    for side in ax.spines.values():
        side.set_visible(False)


def draw_sweep(run, fig):
    ax = fig.add_subplot()
    alone = sorted(run.alone().items(), key=lambda item: (-item[1], item[0]))
    error = np.array([100 - accuracy for _, accuracy in alone])
    ax.plot(np.arange(1, len(error) + 1), error, "o", color=runs.GREY, ms=5)
    at = [config for config, _ in alone].index(int(run.winner["id"]))
    ax.plot(at + 1, error[at], "*", color=runs.RED, ms=13, label=f"winner by {run.ini.get('fmap', 'score', fallback='accuracy')}, map {alone[at][0]}")
    ax.set_xlabel("maps in order of validation error")
    ax.set_ylabel("validation error (%)")
    ax.set_xlim(0, len(error) + 1)
    ax.xaxis.set_major_locator(MaxNLocator(integer=True))
    ax.legend(loc="best")


def draw_rounds(run, fig, jobs):
    left, right = fig.subplots(1, 2, gridspec_kw={"width_ratios": [1.1, 1]})
    winner = int(run.winner["id"])
    ids, p = grid_of(run, jobs, "p")
    _, error = grid_of(run, jobs, "error")
    draw_errors(left, run, jobs, ids, error, winner)
    draw_probabilities(right, fig, jobs, ids, p, error, winner)


def after_epochs(run, column):
    """{trial: (epochs, means over folds)} after every epoch; numbers that are missing are skipped."""
    found = defaultdict(lambda: defaultdict(list))
    done = defaultdict(int)
    for i in np.argsort(run.rounds["job"], kind="stable"):
        trial = int(run.rounds["trial"][i])
        at = trial, int(run.rounds["fold"][i])
        done[at] += 1
        if np.isfinite(run.rounds[column][i]):
            found[trial][done[at]].append(run.rounds[column][i])
    return {trial: (sorted(own), [np.mean(own[e]) for e in sorted(own)])
            for trial, own in found.items()}


def after_jobs(run):
    """{trial: (resource in all, score)} after every job; failed ones are skipped."""
    found = defaultdict(lambda: ([], []))
    for i in np.argsort(run.event["job"]):
        if np.isfinite(run.event["loss"][i]):
            x, y = found[int(run.event["trial"][i])]
            x.append(run.event["resource"][i])
            y.append(run.event["loss"][i])
    return found


def wide(y):
    """Whether numbers are better shown on a logarithmic axis."""
    y = np.array(y)
    return len(y) > 1 and y.min() > 0 and y.max() > 12 * y.min()


def draw_trials(ax, curves, winner, x_label, title, rungs=False):
    """A line a trial, a point where that has but one number; that of the winner on top. rungs: the
    numbers are far apart in x."""
    for trial, (x, y) in curves.items():
        mine = trial == winner
        ax.plot(x, y, "o-" if len(x) < 30 else "-", color=runs.BLUE if mine else runs.GREY,
                ms=4 if mine else 2.5, lw=2 if mine else 0.8, alpha=1 if mine else 0.7,
                zorder=3 if mine else 2, label=f"winner, trial {trial}" if mine else None)
    if wide([v for _, y in curves.values() for v in y]):
        ax.set_yscale("log")
    if wide([v for x, _ in curves.values() for v in (x[0], x[-1])] if rungs else []):
        ax.set_xscale("log", base=2)
        ax.xaxis.set_major_formatter(FuncFormatter(lambda v, _: f"{v:g}"))
    else:
        ax.xaxis.set_major_locator(MaxNLocator(8, integer=True))
    ax.set_xlabel(x_label)
    ax.set_title(title)
    if winner in curves:
        ax.legend(loc="best", fontsize=8)


def draw_best(ax, run):
    """Scores of jobs in the order of their virtual ends, and the lowest so far."""
    job, loss = run.event["job"], run.event["loss"]
    end = dict(zip(run.timeline.get("job", ()), run.timeline.get("end", ())))
    loss = loss[sorted(range(len(job)), key=lambda i: (end.get(job[i], 0), job[i]))]
    x, good = np.arange(1, len(loss) + 1), np.isfinite(loss)
    best = np.minimum.accumulate(np.where(good, loss, np.inf))
    ax.plot(x[good], loss[good], "o", color=runs.GREY, ms=3)
    ax.step(x[np.isfinite(best)], best[np.isfinite(best)], where="post", color=runs.RED, lw=1.8,
            label="lowest so far")
    if wide(loss[good]):
        ax.set_yscale("log")
    ax.set_xlim(0.5, len(loss) + 0.5)
    ax.xaxis.set_major_locator(MaxNLocator(8, integer=True))
    ax.set_xlabel("jobs that have ended")
    ax.set_title("score" + (f", of {len(loss) - good.sum()} of {len(loss)} jobs infinite"
                            if not good.all() else " of every job"))
    ax.legend(loc="best", fontsize=8)


def draw_search(run):
    """A figure of a search whose trials are trained one by one."""
    winner = int(run.winner["trial"])
    epochs = "fold" in run.rounds
    several = len(run.event["job"]) > 1
    panels = (2 if epochs else 1) + several
    fig = plt.figure(figsize=(max(4 * panels, 6.4), 4.2))
    axes = fig.subplots(1, panels, squeeze=False)[0]
    if epochs:
        loss, error = (after_epochs(run, k) for k in ("valid_loss", "valid_error"))
        percent = {t: (x, 100 * np.array(y)) for t, (x, y) in error.items()}
        draw_trials(axes[0], loss, winner, "epochs of the trial", "validation loss")
        draw_trials(axes[1], percent, winner, "epochs of the trial", "validation error (%)")
    else:
        draw_trials(axes[0], after_jobs(run), winner, "resource of the trial", "score of every trial",
                    rungs=True)
    if several:
        draw_best(axes[-1], run)
    return fig


CURVES = (  # of federations: (column of rounds, what it is)
    ("valid_error", "server's weights, clients drawn for evaluation"),
    ("before_error", "server's weights, each round's clients"),
    ("after_error", "after local training, each round's clients"))


def after_rounds(run, column):
    """{trial: (rounds, numbers of that column)}; numbers that are missing are skipped."""
    good = np.isfinite(run.rounds[column])
    mine = {int(t): good & (run.rounds["trial"] == t) for t in np.unique(run.rounds["trial"])}
    return {t: (run.rounds["unit"][m], run.rounds[column][m]) for t, m in mine.items() if m.any()}


def draw_clients(ax, run, winner):
    """How many clients of each round were averaged, and how many lost."""
    mine = run.rounds["trial"] == winner
    x = run.rounds["unit"][mine]
    for (column, label), colour in zip((("clients", "averaged"), ("dropped", "lost"),
                                        ("surplus", "surplus"), ("diverged", "diverged")),
                                       (runs.BLUE, runs.RED, runs.GREY, runs.ORANGE)):
        if column not in run.rounds or (column != "clients" and not run.rounds[column][mine].any()):
            continue
        ax.plot(x, run.rounds[column][mine], color=colour, lw=1.2, label=label)
    ax.set_ylim(bottom=0)
    ax.set_xlabel("rounds of the trial")
    ax.set_title(f"clients of each round, trial {winner}")
    ax.legend(loc="best", fontsize=8)


def draw_federation(run):
    """A figure of a federation, in rounds."""
    winner = int(run.winner["trial"])
    curves = [(after_rounds(run, column), title) for column, title in CURVES]
    curves = [c for c in curves if c[0]]
    several = len(run.event["job"]) > 1
    panels = len(curves) + 1 + several
    fig = plt.figure(figsize=(max(3.6 * panels, 6.4), 4.2))
    axes = fig.subplots(1, panels, squeeze=False)[0]
    for ax, (curve, title) in zip(axes, curves):
        percent = {t: (x, 100 * (1 - np.array(y))) for t, (x, y) in curve.items()}
        draw_trials(ax, percent, winner, "rounds of the trial", title)
        ax.set_yscale("linear")
    axes[0].set_ylabel("validation accuracy (%)")
    draw_clients(axes[len(curves)], run, winner)
    if several:
        draw_best(axes[-1], run)
    return fig


def draw_maps(run):
    """A figure of feature maps."""
    shared = [int(j) for j, k in zip(run.event["job"], run.event["k"]) if k > 1]
    tall = max(5.2, 1.2 + 0.1 * min(len(run.config), 80))
    fig = plt.figure(figsize=(10, tall) if shared else (6.4, 4.2))
    if shared:
        draw_rounds(run, fig, shared)
    else:
        draw_sweep(run, fig)
    return fig


def headline(run, what):
    """How the search was done, and what came of it."""
    scores = [f"{name} {run.accuracy(part):.2f} %" for name, part in
              (("validation", "valid"), ("test", "test")) if np.isfinite(run.accuracy(part))]
    if scores:
        result = f"accuracy: {', '.join(scores)}"
    else:
        result = f"lowest score {np.min(run.event['loss']):.6g}" if len(run.event["loss"]) else "no job is done yet"
    return (f"{'unfinished: ' if run.unfinished else ''}{what}, "
            f"{run.attr['search_seconds']:.3g} s; {result}")


def draw_lanes(ax, lane, start, end, trial):
    """A bar a job in the lane of who had it; neighbouring trials differ in colour."""
    lanes = int(lane.max()) + 1
    tall = ax.get_window_extent().height * 72 / ax.figure.dpi
    colour = plt.get_cmap("cividis")((trial * 0.618034) % 1)
    ax.hlines(lane, start, end, colors=colour, lw=max(0.8 * tall / (lanes + 1), 0.3),
              capstyle="butt")
    ax.set_ylim(lanes - 0.5, -0.5)
    ax.set_xlim(0, end.max() or 1)
    ax.yaxis.set_major_locator(MaxNLocator(integer=True, min_n_ticks=1))
    if lanes == 1:
        ax.set_yticks([0])


def draw_timeline(run, fig):
    """Bars are jobs, coloured by trial; what is white was idle."""
    t, busy = run.timeline, run.busy
    workers, teams = int(busy["workers"]), int(run.attr["teams"])
    most = max(teams, int(busy.get("most_teams", 0)))
    upper, lower = fig.subplots(2, 1, gridspec_kw={"height_ratios": [
        min(workers, 40) + 4, min(most, 40) + 4]})
    draw_lanes(upper, t["worker"], t["start"], t["end"], t["trial"])
    draw_lanes(lower, t["team"], t["began"], t["ended"], t["trial"])
    upper.set(ylabel="simulated worker", xlabel="virtual time (s)", title=(
        f"{workers} simulated worker{'s' * (workers > 1)}, {100 * busy['utilisation']:.1f} % busy"))
    lower.set(ylabel="team", xlabel="real time since the search began (s)", title=(
        f"{teams} team{'s' * (teams > 1)} of ranks{f', {most} at most' * (most > teams)}, "
        + (f"{busy['team_utilisation']:.1f} jobs at once" if run.attr["task"] == "ask" else
           f"{100 * busy['team_utilisation']:.1f} % busy")))


def save_timeline(run, args):
    if not run.timeline:
        sys.exit(f"{args.run} has no /timeline: an older weft wrote it")
    if not len(run.timeline["job"]):
        sys.exit(f"{args.run}: no job is done yet")
    fig = plt.figure(figsize=(10, min(12, 3.6 + 0.12 * int(run.busy["workers"]))))
    draw_timeline(run, fig)
    fig.suptitle(f"{'unfinished: ' if run.unfinished else ''}{run.attr['task']}, {run.tuner}, {len(run.timeline['job'])} jobs of "
                 f"{len(set(run.timeline['trial']))} trials", x=0.01, ha="left", fontsize=10)
    out = args.o or args.run.rsplit(".h5", 1)[0] + "-timeline.png"
    fig.savefig(out)
    print(out)


def main():
    args = argparse.ArgumentParser(description=__doc__,
                                   formatter_class=argparse.RawDescriptionHelpFormatter)
    args.add_argument("run", metavar="RUN.h5")
    args.add_argument("--timeline", action="store_true", help="who had which job, and when")
    args.add_argument("-o", metavar="FILE", help="picture, .png or .pdf; default RUN.png")
    args = args.parse_args()
    run = runs.load([args.run], not args.timeline)[0]
    if args.timeline:
        return save_timeline(run, args)
    if run.attr["task"] == "fed":
        trials = len(set(run.rounds["trial"]))
        fig, what = draw_federation(run), (f"{runs.method_of(run.method())[0]}, {len(run.rounds['job'])} rounds"
                                           f" of {trials} trial{'s' * (trials > 1)}")
    elif run.attr["task"] == "fmap":
        sampler = run.attr.get("sampler", "space")
        how = runs.name_of(run.tuner)[0] if sampler == "space" else f"{run.tuner}, sampler {sampler}"
        fig, what = draw_maps(run), f"{how}, {len(run.config)} maps"
    else:
        jobs, trials = len(run.event["job"]), len(set(run.event["trial"]))
        fig, what = draw_search(run), (f"{run.attr['task']}, {run.tuner}, sampler {run.attr.get('sampler', 'space')}, "
                                       f"{jobs} job{'s' * (jobs > 1)} of {trials} trial{'s' * (trials > 1)}")
    wide_text = textwrap.fill(runs.short(run.winner["text"]), int(13 * fig.get_figwidth()))
    fig.suptitle(f"{headline(run, what)}\n{wide_text}", x=0.01, ha="left", fontsize=10)
    out = args.o or args.run.rsplit(".h5", 1)[0] + ".png"
    fig.savefig(out)
    print(out)
    return None


if __name__ == "__main__":
    main()
