"""Tables of results that grow run by run."""

import os


def place(row):
    """The first three columns say what a line is of; those that are numbers are in their order."""
    return tuple(int(x) if x.isdigit() else x for x in row[:3])


def merge(path, head, new):
    """The lines of a tab-separated table with new ones added or put in the place of those of the
    same kind, in order; written if any are new. Lines are lists of texts, without the head."""
    rows = []
    if os.path.exists(path):
        with open(path) as f:
            rows = [line.rstrip("\n").split("\t") for line in f][1:]
    lines = {place(row): row for row in rows + new}
    rows = [lines[key] for key in sorted(lines)]
    if new:
        with open(path, "w") as f:
            for row in [head] + rows:
                print(*row, sep="\t", file=f)
    return rows
