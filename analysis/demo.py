#!/usr/bin/env python3
"""The pictures of `make demo`, with a sentence under each.

usage: analysis/demo.py PREFIX

Reads the runs PREFIX-NAME.h5 that `make demo` made, writes PREFIX-maps.png and
PREFIX-federation.png, and prints their sentences and the digests of one search by 1 and 2 ranks.

Maps: validation error against seconds. A dot is a fit of one map by the full sweep; its line is the
lowest error after so many fits, in expectation over the orders of the maps. The other line is the
mean error of the maps in play after each shared fit, the star the pick, fitted alone.
Federation: test errors of ten seeds, PREFIX-METHOD-SEED.h5, for the same number of rounds.
"""

import glob
import math
import sys
import textwrap

import numpy as np
from matplotlib import pyplot as plt
from matplotlib.ticker import FixedLocator, FuncFormatter

import runs
import stats


def read(prefix, *names):
    return runs.load([f"{prefix}-{name}.h5" for name in names])


def ends(run):
    """Seconds from the start of the search to the end of each job, in the order of run.event."""
    end = dict(zip(run.timeline["job"], run.timeline["ended"]))
    return np.array([end[job] for job in run.event["job"]])


def expected_lowest(error):
    """Means over all orders of these numbers of the lowest among the first 1, 2 ... of them."""
    n, error = len(error), np.sort(error)
    return [sum(math.comb(n - 1 - i, first - 1) * e for i, e in enumerate(error)) / math.comb(n, first)
            for first in range(1, n + 1)]


def draw_maps(ax, shared, sweep, title):
    """Returns what the sentence says: rank of the pick among the maps of the sweep, share of time."""
    error, end = 100 * sweep.event["valid_error"], ends(sweep)
    ax.plot(end, error, "o", color=runs.GREY, ms=3, label="full sweep: a map, fitted alone")
    ax.plot(np.arange(1, len(error) + 1) * end.max() / len(error), expected_lowest(error),
            color=runs.BLACK, lw=1.8, label="full sweep: lowest so far, expected")
    rounds = shared.event["k"] > 1
    x, y = ends(shared)[rounds], 100 * shared.event["valid_error"][rounds]
    ax.plot(x, y, "o-", color=runs.BLUE, ms=4, lw=1.8,
            label="weight-sharing: mean of maps in play, half as many each fit")
    pick = 100 - shared.accuracy("valid")
    ax.plot(ends(shared).max(), pick, "*", color=runs.RED, ms=13, zorder=4,
            label="weight-sharing: the pick, fitted alone")
    ax.set_yscale("log")
    ax.yaxis.set_major_locator(FixedLocator([1, 2, 5, 10, 20, 50, 100]))
    ax.yaxis.set_major_formatter(FuncFormatter(lambda v, _: f"{v:g}"))
    ax.minorticks_off()
    ax.set_xlim(left=0)
    ax.set_xlabel("seconds")
    ax.set_title(title)
    own = error[list(sweep.arm["config"]).index(int(shared.winner["id"]))]
    return int(np.sum(error < own)) + 1, ends(shared).max() / end.max(), int(rounds.sum())


def maps(prefix):
    fig, axes = plt.subplots(1, 2, figsize=(10, 4.8), constrained_layout=False)
    said = []
    for ax, data in zip(axes, ("documents", "images")):
        rank, share, fits = draw_maps(ax, *read(prefix, f"{data}-shared", f"{data}-sweep"), data)
        said.append(f"number {rank} of {data} in {100 * share:.0f} %")
    axes[0].set_ylabel("validation error (%)")
    fig.legend(*axes[0].get_legend_handles_labels(), loc="upper center", ncol=2, fontsize=9)
    fig.subplots_adjust(left=0.07, right=0.99, bottom=0.18, top=0.82, wspace=0.12)
    return fig, f"Of 64 maps, {fits} shared fits and a refit find {' and '.join(said)} of the sweep's time."


METHODS = {"defaults": "the defaults", "average": "the same with momentum and average",
           "random": "best of five random settings", "fedex": "FedEx in successive halving",
           "one": "one training that finds its rate"}


def federation(prefix):
    """A dot is the test error of a seed; the bar a mean over seeds with its 95 % interval."""
    error = {name: {} for name in METHODS}
    for name in METHODS:
        for path in glob.glob(f"{glob.escape(prefix)}-{name}-*.h5"):
            seed = path[len(f"{prefix}-{name}-"):-3]
            error[name][seed] = 100 - runs.load([path])[0].accuracy("test")
    seeds = sorted(set.intersection(*(set(of) for of in error.values())))
    if len(seeds) < 2:
        sys.exit(f"{prefix}: there are no two seeds of each of {', '.join(METHODS)}")
    fig, ax = plt.subplots(figsize=(7, 4.4))
    chance = 100 * (1 - 1 / runs.load([path])[0].classes)
    spread = np.linspace(-0.2, 0.2, len(seeds))
    for y, (name, colour) in enumerate(zip(METHODS, (runs.BLACK, runs.GREEN, runs.ORANGE, runs.BLUE, runs.RED))):
        x = [error[name][seed] for seed in seeds]
        mean = stats.by_samples(x)
        ax.plot(x, y + spread, "o", ms=4, color=colour, alpha=0.5)
        ax.errorbar(mean.mean, y, xerr=mean.half, fmt="|", ms=22, color=colour, capsize=4, lw=1.8)
    ax.axvline(chance, color=runs.GREY, ls=":", lw=1.5)
    ax.set_yticks(range(len(METHODS)), METHODS.values())
    ax.invert_yaxis()
    ax.set_xlim(left=0)
    ax.set_xlabel("test error of the server's weights (%); dotted: chance")
    plain = np.mean([error["defaults"][seed] for seed in seeds])
    return fig, (f"Each method has the same rounds. "
                 f"The defaults end at {plain:.1f} % errors (mean of {len(seeds)} seeds); "
                 f"one training that finds its rate first, with momentum and average, has "
                 f"{told(error, seeds, 'defaults')}; beside the default rate with these {told(error, seeds, 'average')}.")


def told(error, seeds, other):
    """How far schedule one is from another method, paired by seed."""
    gain = stats.by_samples([error["one"][seed] - error[other][seed] for seed in seeds])
    return (f"{abs(gain.mean):.1f} +- {gain.half:.1f} points {'less' if gain.mean < 0 else 'more'}"
            f"{'' if abs(gain.mean) > gain.half else ' (not resolved)'}")


def save(drawn, path):
    fig, sentence = drawn
    fig.supxlabel(textwrap.fill(sentence, int(12.5 * fig.get_figwidth())), fontsize=10)
    fig.savefig(path)
    print(f"{path}\n  {sentence}")


def same_digest(prefix):
    both = read(prefix, "documents-rank", "documents-shared")
    for run in both:
        ranks = int(run.attr["ranks"])
        print(f"  {ranks} rank{'s' * (ranks > 1)}: digest {run.attr['digest']}, "
              f"{run.attr['search_seconds']:.2f} s")
    if both[0].attr["digest"] != both[1].attr["digest"]:
        sys.exit("the digests differ")


def main():
    if len(sys.argv) != 2 or sys.argv[1].startswith("-"):
        sys.exit(__doc__)
    prefix = sys.argv[1]
    save(maps(prefix), f"{prefix}-maps.png")
    save(federation(prefix), f"{prefix}-federation.png")
    print("The same search of documents by 1 and 2 ranks, to the bit:")
    same_digest(prefix)


if __name__ == "__main__":
    main()
