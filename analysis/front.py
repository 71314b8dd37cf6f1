#!/usr/bin/env python3
"""Runs with several objectives: their fronts, and the volume that these dominate trial by trial.

usage: analysis/front.py RUN.h5 ... [-o FILE.png]

Left the last results of all trials by the first two objectives, those beyond limits as crosses, and the
front of each run. Right the volume of the first two objectives up to the worst of all trials of all runs
that are within the limits; runs of one method that differ by their seeds are one line, their mean with its
95 % interval (1.96 standard errors)."""
import argparse

import numpy as np
from matplotlib import pyplot as plt

import runs


def last_jobs(run):
    """Places in /events of the last job of each trial, in the order of these jobs."""
    last = dict(zip(run.event["trial"].tolist(), range(len(run.event["trial"]))))
    return np.array(sorted(last.values()))


def names_of(run):
    """The first two objectives, and their signs."""
    names = [name.strip() for name in run.ini.get("run", "objectives", fallback="").split(",")]
    return [name.strip("-") for name in names[:2]], np.array([1 - 2 * name.startswith("-") for name in names[:2]])


def volumes(x, within, worst):
    """After each trial, of two objectives to be minimised."""
    out, front = [], []
    for point, good in zip(x, within):
        if good and (point < worst).all() and not any((p <= point).all() for p in front):
            front = sorted([p for p in front if not (point <= p).all()] + [point], key=lambda p: p[0])
        ends = [p[1] for p in front]
        out.append(sum((worst[0] - p[0]) * (high - p[1]) for p, high in zip(front, [worst[1], *ends])))
    return np.array(out)


def main():
    p = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    p.add_argument("runs", nargs="+")
    p.add_argument("-o", "--output", default="front.png")
    args = p.parse_args()
    all_runs = [runs.Run(path) for path in args.runs]
    for run in all_runs:
        if "front" not in run.objectives:
            raise SystemExit(f"{run.path}: a run without run.objectives has no front")
    names, sign = names_of(all_runs[0])
    figure, (left, right) = plt.subplots(1, 2, figsize=(10, 4))
    found = []
    for run in all_runs:
        last = last_jobs(run)
        x = np.stack([run.objectives[name.replace("/", ".")][last] for name in names], axis=1) * sign
        found.append((run, x, run.objectives["excess"][last] <= 0, run.objectives["front"][last] > 0))
    worst = np.max([x[within].max(axis=0) for _, x, within, _ in found if within.any()], axis=0)
    methods = {}
    for run, x, within, front in found:
        label = f"{run.method()}, {run.attr['sampler']}"
        color = f"C{list(methods).index(label) if label in methods else len(methods)}"
        lines = methods.setdefault(label, [])
        lines.append(volumes(x, within, worst))
        left.plot(*(x[within] * sign).T, ".", color=color, alpha=0.3)
        left.plot(*(x[~within & np.isfinite(x).all(axis=1)] * sign).T, "x", color=runs.GREY, ms=4)
        order = np.argsort(x[:, 0])
        left.plot(*(x[order][front[order]] * sign).T, "o-", color=color, ms=4, lw=1,
                  label=label if len(lines) == 1 else None)
    for i, (label, lines) in enumerate(methods.items()):
        y = np.array([line[:min(map(len, lines))] for line in lines])
        at, mean = np.arange(1, y.shape[1] + 1), y.mean(axis=0)
        half = 1.96 * y.std(axis=0, ddof=1) / np.sqrt(len(y)) if len(y) > 1 else 0 * mean
        right.plot(at, mean, color=f"C{i}", label=f"{label}: {len(y)} run{'s' * (len(y) > 1)}")
        right.fill_between(at, mean - half, mean + half, color=f"C{i}", alpha=0.2, lw=0)
    left.set(xlabel=names[0], ylabel=names[1])
    right.set(xlabel="trials", ylabel=f"volume up to {' '.join(f'{w:.4g}' for w in worst * sign)}")
    left.legend(fontsize=8)
    right.legend(fontsize=8)
    figure.savefig(args.output, dpi=120)


if __name__ == "__main__":
    main()
