#!/usr/bin/env python3
"""BLEU and chrF by direction of runs that translate, a row for each form of weights; with several
seeds means and half the width of 95 % intervals, and below them differences from the first form,
paired by seed.

usage: analysis/translate.py RUN.h5 ...     run files of jobs/translate.sh, or any of sgd.model = seq2seq
"""
import re
import sys

import h5py
from stats import by_samples


def read(path):
    """The form of weights, the seed, and {direction: (BLEU, chrF)} with their means as "mean"."""
    with h5py.File(path) as run:
        config, group = run["winner"].attrs["config"], run["directions"]
        names = [name.decode() for name in group["name"]]
        scores = {name: (b, c) for name, b, c in zip(names, group["bleu"], group["chrf"])}
    form = re.search(r"^form = (\w+)", config, re.M)
    seed = re.search(r"^seed = (\d+)", config, re.M)
    scores["mean"] = tuple(sum(s[k] for s in scores.values()) / len(names) for k in (0, 1))
    return form.group(1) if form else "generated", int(seed.group(1)) if seed else 1, scores


def told(values):
    """Mean +- half the width of its interval."""
    interval = by_samples(values)
    return f"{interval.mean:.2f} +- {interval.half:.2f}" if len(values) > 1 else f"{interval.mean:.2f}"


def main(paths):
    runs = {}
    for path in paths:
        form, seed, scores = read(path)
        runs.setdefault(form, {})[seed] = scores
    first = next(iter(runs))
    for k, measure in enumerate(("BLEU", "chrF")):
        columns = list(next(iter(runs[first].values())))
        print("\t".join([measure] + columns))
        for form, by_seed in runs.items():
            print("\t".join([form] + [told([s[c][k] for s in by_seed.values()]) for c in columns]))
        for form, by_seed in list(runs.items())[1:]:
            both = sorted(set(by_seed) & set(runs[first]))
            if both:
                print("\t".join([f"{form} - {first}"] + [
                    told([by_seed[s][c][k] - runs[first][s][c][k] for s in both]) for c in columns]))


if __name__ == "__main__":
    if len(sys.argv) < 2 or sys.argv[1].startswith("-"):
        sys.exit(__doc__)
    main(sys.argv[1:])
