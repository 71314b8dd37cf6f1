"""Tables of results that grow run by run, and how files of results are read and written."""

import contextlib
import os
import re
import sys


@contextlib.contextmanager
def replace(path, **how):
    """A file to write in the place of that one, which stays as it is until all is written."""
    part = path + ".part"
    try:
        with open(part, "w", encoding="utf-8", **how) as f:
            yield f
        os.replace(part, path)
    except OSError as why:
        sys.exit(f"{path}: {why.strerror or why}")
    finally:
        if os.path.exists(part):
            os.remove(part)


@contextlib.contextmanager
def reading(path):
    """Ends the script with one line where a file does not hold what is read from it."""
    try:
        yield
    except (OSError, KeyError, ValueError, IndexError) as why:
        what = why.args[0] if isinstance(why, KeyError) and why.args else why
        sys.exit(f"{path}: not a run that this script reads: {what}")


def parts_of_name(path, pattern, form):
    """What the groups of the pattern are in the name of a file without .h5, which is like `form`."""
    name = re.fullmatch(pattern + r"\.h5", os.path.basename(path))
    if not name:
        sys.exit(f"{path}: not named {form}.h5")
    return list(name.groups())


def lines_of(paths, line_of):
    """What line_of(path) is for each run file."""
    lines = []
    for path in paths:
        with reading(path):
            lines.append(line_of(path))
    return lines


def files_in(folder, pattern):
    """The files of a directory whose names are like the pattern, in order."""
    if not os.path.isdir(folder):
        sys.exit(f"{folder} is not a directory; expected one that holds runs, {pattern}")
    return sorted(os.path.join(folder, name) for name in os.listdir(folder)
                  if re.fullmatch(pattern.replace("*", ".*").replace(".h5", r"\.h5"), name))


def place(row):
    """The first three columns say what a line is of; those that are numbers are in their order."""
    return tuple(int(x) if x.isdigit() else x for x in row[:3])


def merge(path, head, new):
    """The lines of a tab-separated table with new ones added or put in the place of those of the
    same kind, in order; written if any are new. Lines are lists of texts, without the head."""
    rows = []
    if os.path.exists(path):
        with open(path, encoding="utf-8") as f:
            rows = [line.rstrip("\n").split("\t") for line in f][1:]
    elif not new:
        sys.exit(f"{path} does not exist; give run files")
    for row in rows:
        if len(row) != len(head):
            sys.exit(f"{path}: a line has {len(row)} columns instead of {len(head)}: {' '.join(row)}")
    lines = {place(row): row for row in rows + new}
    rows = [lines[key] for key in sorted(lines)]
    if new:
        with replace(path) as f:
            for row in [head] + rows:
                print(*row, sep="\t", file=f)
    return rows
