#!/usr/bin/env python3
"""A picture of a mixture: the probability of every configuration, round by round.

usage: analysis/mixture.py RUN.h5 [--trial N] [-o FILE.png]

Shows the winner's trial, or trial N. Above, layers as thick as the probabilities, the four
likeliest at the end in colour; below, how many configurations are in play: exp(entropy).
"""

import argparse
import sys

import numpy as np
from matplotlib import pyplot as plt
from matplotlib.ticker import FuncFormatter, NullLocator

import runs

COLOURS = (runs.BLUE, runs.ORANGE, runs.GREEN, runs.RED)


def distinct(configs):
    """Configurations without what all of them have in common."""
    words = [runs.short(c).split() for c in configs]
    return [" ".join(w for w in own if not all(w in other for other in words)) or " ".join(own)
            for own in words]


def draw_layers(ax, run, x, ids, p):
    """The likeliest at the end lie below."""
    order = np.argsort(-p[-1], kind="stable")
    colours = [COLOURS[i] if i < len(COLOURS) else "#ececec" if i % 2 else "#dcdcdc"
               for i in range(len(ids))]
    labels = distinct([f"{run.config.get(int(ids[i]), ids[i])}" for i in order[:len(COLOURS)]])
    layers = ax.stackplot(x, p[:, order].T, colors=colours, lw=0)
    for layer, label in zip(layers, labels):
        if label:
            layer.set_label(label)
    ax.set_xlim(x[0], x[-1])
    ax.set_ylim(0, 1)
    ax.set_ylabel("probability")
    ax.legend(loc="lower left", bbox_to_anchor=(0, 1.0), fontsize=7, handlelength=1,
              borderaxespad=0.2)


def draw_entropy(ax, x, p):
    with np.errstate(divide="ignore", invalid="ignore"):
        entropy = -np.nansum(np.where(p > 0, p * np.log(p), 0), axis=1)
    ax.plot(x, np.exp(entropy), color=runs.BLACK, lw=1.2)
    ax.set_yscale("log")
    ax.set_ylim(0.9, 1.1 * p.shape[1])
    ax.set_yticks([v for v in (1, 2, 5, 10, 20, 50, 100, 200, 500, 1000) if v <= p.shape[1]])
    ax.yaxis.set_major_formatter(FuncFormatter(lambda v, _: f"{v:g}"))
    ax.yaxis.set_minor_locator(NullLocator())
    ax.set_ylabel("configurations\nin play")
    ax.set_xlabel("round")


def main():
    args = argparse.ArgumentParser(description=__doc__,
                                   formatter_class=argparse.RawDescriptionHelpFormatter)
    args.add_argument("run", metavar="RUN.h5")
    args.add_argument("--trial", type=int, help="default: the winner's")
    args.add_argument("-o", metavar="FILE", help="picture, .png or .pdf; default RUN-mixture.png")
    args = args.parse_args()
    run = runs.load([args.run])[0]
    if not run.mix:
        sys.exit(f"{args.run}: no mixture was moved by rounds in it")
    trial = int(run.winner["trial"]) if args.trial is None else args.trial
    if trial not in run.rounds["trial"]:
        sys.exit(f"{run.path}: there is no trial {trial}; it has "
                 f"{', '.join(map(str, np.unique(run.rounds['trial'])))}")
    x, ids, p = runs.mixture_of(run, trial)
    fig, (top, bottom) = plt.subplots(2, 1, figsize=(8, 5.4), sharex=True,
                                      gridspec_kw={"height_ratios": [3, 1]})
    draw_layers(top, run, x, ids, p)
    draw_entropy(bottom, x, p)
    fig.suptitle(f"{runs.method_of(run.method())[0]}, trial {trial}: {len(ids)} configurations, "
                 f"{len(x)} rounds", x=0.01, ha="left", fontsize=10)
    out = args.o or args.run.rsplit(".h5", 1)[0] + "-mixture.png"
    fig.savefig(out)
    print(out)


if __name__ == "__main__":
    main()
