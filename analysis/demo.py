#!/usr/bin/env python3
"""The pictures of `make demo`, with a sentence under each.

usage: analysis/demo.py PREFIX

Reads the runs PREFIX-NAME.h5 that `make demo` made, writes PREFIX-maps.png and
PREFIX-federation.png, and prints their sentences and the digests of one search by 1 and 2 ranks.

Maps: validation error against seconds; ten seeds, of other maps each. A dot is a fit of one map by the
full sweep of the first seed; the black line is the lowest error of a sweep after so many fits, in
expectation over the orders of its maps, mean of the sweeps. The other line is the mean error of the
maps in play after each shared fit of the first seed, a star the pick of a seed, by its fit in the sweep.
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


def by_seed(prefix, name):
    """{seed: run} of PREFIX-NAME-SEED.h5"""
    paths = glob.glob(f"{glob.escape(prefix)}-{name}-*.h5")
    return {int(path[path.rindex("-") + 1:-3]): runs.load([path])[0] for path in paths}


def ends(run):
    """Seconds from the start of the search to the end of each job, in the order of run.event."""
    end = dict(zip(run.timeline["job"], run.timeline["ended"]))
    return np.array([end[job] for job in run.event["job"]])


def expected_lowest(error):
    """Means over all orders of these numbers of the lowest among the first 1, 2 ... of them."""
    n, error = len(error), np.sort(error)
    return [sum(math.comb(n - 1 - i, first - 1) * e for i, e in enumerate(error)) / math.comb(n, first)
            for first in range(1, n + 1)]


def draw_maps(ax, shared, sweeps, data):
    """Returns what the sentence says of these searches, each beside the sweep of its maps."""
    error = [100 * sweep.event["valid_error"] for sweep in sweeps]
    lowest = [expected_lowest(x) for x in error]
    each = [ends(sweep).max() / len(x) for sweep, x in zip(sweeps, error)]
    ax.plot(ends(sweeps[0]), error[0], "o", color=runs.GREY, ms=3, label="full sweep: a map, fitted alone")
    ax.plot(np.arange(1, len(error[0]) + 1) * np.mean(each), np.mean(lowest, axis=0), color=runs.BLACK, lw=1.8,
            label="full sweep: lowest so far, expected")
    first = shared[0]
    rounds = first.event["k"] > 1
    ax.plot(ends(first)[rounds], 100 * first.event["valid_error"][rounds], "o-", color=runs.BLUE, ms=4, lw=1.8,
            label="weight-sharing: mean of maps in play, half as many each fit")
    took = [ends(run).max() for run in shared]
    picks = [x[list(sweep.arm["config"]).index(int(run.winner["id"]))] for run, sweep, x in zip(shared, sweeps, error)]
    ax.plot(took, picks, "*", color=runs.RED, ms=11, alpha=0.6, zorder=4, label="weight-sharing: the picks of ten seeds")
    ax.set_yscale("log")
    ax.yaxis.set_major_locator(FixedLocator([1, 2, 5, 10, 20, 50, 100]))
    ax.yaxis.set_major_formatter(FuncFormatter(lambda v, _: f"{v:g}"))
    ax.minorticks_off()
    ax.set_xlim(left=0)
    ax.set_xlabel("seconds")
    ax.set_title(data)
    ranks = [int(np.sum(x < pick)) + 1 for x, pick in zip(error, picks)]
    random = [low[max(0, min(int(t / fit), len(low)) - 1)] for low, t, fit in zip(lowest, took, each)]
    share = np.mean(took) / np.mean([ends(sweep).max() for sweep in sweeps])
    return (f"{data}: number {stats.text(ranks, 1)}, in {100 * share:.0f} % of the sweep's time; "
            f"beside what random search expects in as much, {difference(np.subtract(picks, random))}")


def difference(less):
    """A mean difference of percents, with half of its 95 % interval."""
    gain = stats.by_samples(less)
    return (f"{abs(gain.mean):.1f} +- {gain.half:.1f} points {'less' if gain.mean < 0 else 'more'}"
            f"{'' if abs(gain.mean) > gain.half else ' (not resolved)'}")


def maps(prefix):
    fig, axes = plt.subplots(1, 2, figsize=(10, 4.8), constrained_layout=False)
    said = []
    for ax, data in zip(axes, ("documents", "images")):
        shared, sweep = (by_seed(prefix, f"{data}-{name}") for name in ("shared", "sweep"))
        seeds = sorted(set(shared) & set(sweep))
        if len(seeds) < 2:
            sys.exit(f"{prefix}: there are no two seeds of {data}-shared and {data}-sweep")
        said.append(draw_maps(ax, [shared[s] for s in seeds], [sweep[s] for s in seeds], data))
    axes[0].set_ylabel("validation error (%)")
    fig.legend(*axes[0].get_legend_handles_labels(), loc="upper center", ncol=2, fontsize=9)
    fig.subplots_adjust(left=0.07, right=0.99, bottom=0.2, top=0.82, wspace=0.12)
    return fig, f"What shared fits and one of a single map find among 64, mean of {len(seeds)} seeds: {'; '.join(said)}."


METHODS = {"defaults": "the defaults", "average": "the same with momentum and average",
           "random": "best of five random settings", "fedex": "FedEx in successive halving",
           "one": "one training that finds its rate"}


def federation(prefix):
    """A dot is the test error of a seed; the bar a mean over seeds with its 95 % interval."""
    found = {name: by_seed(prefix, name) for name in METHODS}
    error = {name: {seed: 100 - run.accuracy("test") for seed, run in of.items()} for name, of in found.items()}
    seeds = sorted(set.intersection(*(set(of) for of in error.values())))
    if len(seeds) < 2:
        sys.exit(f"{prefix}: there are no two seeds of each of {', '.join(METHODS)}")
    fig, ax = plt.subplots(figsize=(7, 4.4))
    chance = 100 * (1 - 1 / found["one"][seeds[0]].classes)
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
    less = {other: difference([error["one"][seed] - error[other][seed] for seed in seeds])
            for other in ("defaults", "average")}
    return fig, (f"Each method has the same rounds. "
                 f"The defaults end at {plain:.1f} % errors (mean of {len(seeds)} seeds); "
                 f"one training that finds its rate first, with momentum and average, has "
                 f"{less['defaults']}; beside the default rate with these {less['average']}.")


def save(drawn, path):
    fig, sentence = drawn
    fig.supxlabel(textwrap.fill(sentence, int(12.5 * fig.get_figwidth())), fontsize=10)
    fig.savefig(path)
    print(f"{path}\n  {sentence}")


def same_digest(prefix):
    both = read(prefix, "documents-rank", "documents-shared-1")
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
