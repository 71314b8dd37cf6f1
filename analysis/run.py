#!/usr/bin/env python3
"""A picture of one run: scores and probabilities of every map over the rounds.

usage: analysis/run.py RUN.h5 [--timeline] [-o FILE.png]

A sweep is shown as its maps in order of validation error. With --timeline, of any run: which
simulated worker had which job in virtual time, and which team of ranks in real time.
"""

import argparse
import textwrap
import sys

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
    ax.plot(at + 1, error[at], "*", color=runs.RED, ms=13, label=f"winner, map {alone[at][0]}")
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
        f"{teams} team{'s' * (teams > 1)} of ranks{f', {most} at most' * (most > teams)}, {100 * busy['team_utilisation']:.1f} % busy"))


def save_timeline(run, args):
    if not run.timeline:
        sys.exit(f"{args.run} has no /timeline: an older weft wrote it")
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
    run = runs.load([args.run])[0]
    if args.timeline:
        return save_timeline(run, args)
    if run.rounds:
        sys.exit(f"{args.run}: its jobs are made of rounds; analysis/federated.py and "
                 "analysis/mixture.py draw those")
    shared = [int(j) for j, k in zip(run.event["job"], run.event["k"]) if k > 1]
    tall = max(5.2, 1.2 + 0.1 * min(len(run.config), 80))
    fig = plt.figure(figsize=(10, tall) if shared else (6.4, 4.2))
    if shared:
        draw_rounds(run, fig, shared)
    else:
        draw_sweep(run, fig)
    test = run.accuracy("test")
    scores = f"validation {run.accuracy('valid'):.2f} %" + (
        f", test {test:.2f} %" if np.isfinite(test) else "")
    fig.suptitle(f"{'unfinished: ' if run.unfinished else ''}{runs.name_of(run.tuner)[0]}, {len(run.config)} maps, "
                 f"{run.attr['search_seconds']:.3g} s; accuracy: {scores}\n"
                 f"{textwrap.fill(runs.short(run.winner['text']), 130 if shared else 84)}", x=0.01, ha="left", fontsize=10)
    out = args.o or args.run.rsplit(".h5", 1)[0] + ".png"
    fig.savefig(out)
    print(out)
    return None


if __name__ == "__main__":
    main()
