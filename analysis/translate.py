#!/usr/bin/env python3
"""BLEU and chrF by direction of runs that translate, a row for each form of weights; with several
seeds means and half the width of 95 % intervals, and below them differences from the first form,
paired by seed. Results of other directions are tables of their own; those of several directories
have the directory before their names. Or a picture of how far the
languages' embeddings are from each other.

usage: analysis/translate.py FILE ...     run files of jobs/translate.sh, or any of sgd.model = seq2seq,
                                          and what `weft eval` printed, as NAME-SEED.txt
       analysis/translate.py --picture OUT.png RUN.h5 ...   runs with context.form = generated: cosine
                                          distances, means over the runs, and each one's nearest
"""
import os
import re
import sys

import h5py
from stats import text


def read_run(run):
    """The form of weights, the seed, and {direction: (BLEU, chrF)}."""
    config, group = run["winner"].attrs["config"], run["directions"]
    names = [name.decode() for name in group["name"]]
    scores = {name: (b, c) for name, b, c in zip(names, group["bleu"], group["chrf"])}
    form = re.search(r"^form = (\w+)", config, re.M)
    seed = re.search(r"^seed = (\d+)", config, re.M)
    label = form.group(1) if form else "generated"
    if re.search(r"^train = embeddings", config, re.M):
        data = re.search(r"^data = (.*)", config, re.M).group(1)
        label = os.path.splitext(os.path.basename(data))[0]
    return label, int(seed.group(1)) if seed else 1, scores


def read_printed(path):
    """The same of what `weft eval` printed: lines DIRECTION, sentences, BLEU, chrF."""
    label, seed = re.fullmatch(r"(.*?)-?(\d*)\.txt", os.path.basename(path)).groups()
    with open(path, encoding="utf-8") as lines:
        found = [re.fullmatch(r"(\S+-\S+) +\d+ +(\S+) +(\S+)", line.rstrip()) for line in lines]
    return label, int(seed or 1), {f.group(1): (float(f.group(2)), float(f.group(3))) for f in found if f}


def read(path):
    if path.endswith(".txt"):
        label, seed, scores = read_printed(path)
    else:
        with h5py.File(path) as run:
            label, seed, scores = read_run(run)
    if not scores:
        sys.exit(f"{path}: no scores by direction")
    scores["mean"] = tuple(sum(s[k] for s in scores.values()) / len(scores) for k in (0, 1))
    return label, seed, scores


def told(values):
    """Mean +- half the width of its interval."""
    return text(values, 2)


def print_table(columns, runs):
    first = next(iter(runs))
    for k, measure in enumerate(("BLEU", "chrF")):
        print("\t".join([measure] + list(columns)))
        for form, by_seed in runs.items():
            print("\t".join([form] + [told([s[c][k] for s in by_seed.values()]) for c in columns]))
        for form, by_seed in list(runs.items())[1:]:
            both = sorted(set(by_seed) & set(runs[first]))
            if both:
                print("\t".join([f"{form} - {first}"] + [
                    told([by_seed[s][c][k] - runs[first][s][c][k] for s in both]) for c in columns]))


def distances(path):
    """Languages, and 1 - cos of the angle between the embeddings of each two."""
    import numpy as np

    with h5py.File(path) as run:
        if "embeddings" not in run["winner/state"]:
            sys.exit(f"{path}: its weights are not generated: it has no embeddings")
        names = [name.decode() for name in run["winner/class"]][:-1]
        rows = run["winner/state/embeddings"][:].astype(float)
    rows /= np.linalg.norm(rows, axis=1, keepdims=True)
    return names, 1 - rows @ rows.T


def draw(out, paths):
    import matplotlib

    matplotlib.use("Agg")
    from matplotlib import pyplot as plt

    read = [distances(path) for path in paths]
    names = read[0][0]
    if any(other != names for other, _ in read):
        sys.exit("the runs have different languages")
    mean = sum(one for _, one in read) / len(read)
    for i, name in enumerate(names):
        nearest = min((j for j in range(len(names)) if j != i), key=lambda j: mean[i, j])
        votes = sum(min((j for j in range(len(names)) if j != i), key=lambda j: one[i, j]) == nearest for _, one in read)
        print(f"{name}\tnearest\t{names[nearest]}\t{mean[i, nearest]:.3f}\tin {votes} of {len(read)} runs")
    fig, ax = plt.subplots(figsize=(0.55 * len(names) + 2, 0.55 * len(names) + 1.4))
    image = ax.imshow(mean, cmap="viridis_r", vmin=0, vmax=max(2 * 0.5, mean.max()))
    for i in range(len(names)):
        for j in range(len(names)):
            if i != j:
                ax.text(j, i, f"{mean[i, j]:.2f}", ha="center", va="center", fontsize=8,
                        color="white" if mean[i, j] > mean.max() / 2 else "black")
    ax.set_xticks(range(len(names)), names)
    ax.set_yticks(range(len(names)), names)
    ax.set_title(f"cosine distances of embeddings, {len(read)} run{'s' if len(read) > 1 else ''}", fontsize=9)
    fig.colorbar(image, shrink=0.8)
    fig.tight_layout()
    fig.savefig(out, dpi=120)


def main(paths):
    tables = {}
    several = len({os.path.dirname(path) for path in paths}) > 1
    for path in paths:
        label, seed, scores = read(path)
        if several:
            label = f"{os.path.basename(os.path.dirname(path))}/{label}"
        tables.setdefault(tuple(scores), {}).setdefault(label, {})[seed] = scores
    for n, (columns, runs) in enumerate(tables.items()):
        if n:
            print()
        print_table(columns, runs)


if __name__ == "__main__":
    if len(sys.argv) > 3 and sys.argv[1] == "--picture":
        draw(sys.argv[2], sys.argv[3:])
    elif len(sys.argv) < 2 or sys.argv[1].startswith("-"):
        sys.exit(__doc__)
    else:
        main(sys.argv[1:])
