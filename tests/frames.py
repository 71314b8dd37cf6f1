#!/usr/bin/env python3
"""Compares the frames of weft.read with what h5py reads from run files, and with `weft report --trials`.
usage: frames.py WEFT RUN.h5 ... [UNFINISHED.h5: ...]; prints each difference; status 1 if there is any."""
import json
import os
import subprocess
import sys

import h5py
import numpy as np
import pandas

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "python"))
import weft
import weft_read  # noqa: F401 what weft.read imports

differences = []


def same(x, y):
    return x == y or (isinstance(x, float) and isinstance(y, float) and np.isnan(x) and np.isnan(y))


def compare(path, frame, group, of):
    """Each column of a group of the file is one of the frame, in the same order of rows."""
    for name in group:
        have = frame[name].tolist()
        want = [x.decode() if isinstance(x, bytes) else x for x in group[name][:].tolist()]
        if len(have) != len(want) or not all(map(same, have, want)):
            differences.append(f"{path}: {of}: {name} is {have[:3]} ..., not {want[:3]} ...")


def check(program, path, file):
    frames = weft.read(path)
    with h5py.File(file) as f:
        compare(path, frames.jobs, f["events"], "jobs")
        taken = {*f["events"], "state"}  # names of a run's own columns, which a program's numbers leave to it
        compare(path, frames.jobs, {"printed." * (k in taken) + k: x for k, x in f.get("metrics", {}).items()}, "jobs")
        compare(path, frames.jobs, {k: f["timeline"][k] for k in ("worker", "start", "end", "team")}, "jobs")
        compare(path, frames.rounds, f.get("rounds", {}), "rounds")
        compare(path, frames.clients, f.get("clients", {}), "clients")
        if frames.attrs["digest" if "digest" in f.attrs else "task"] not in f.attrs.values():
            differences.append(f"{path}: attributes")
        points = [f["events/" + k][:].tolist() for k in ("trial", "resource", "loss")]
        if "rounds/step" in f:  # reports of programs, of which the last ones of jobs are these
            job = f["rounds/job"][:]
            middle = np.append(job[1:] == job[:-1], False)
            points = [x + f["rounds/" + k][:][middle].tolist() for x, k in zip(points, ("trial", "step", "loss"))]
        curve = sorted(zip(*points))
        if curve != sorted(zip(*(frames.curves[k].tolist() for k in ("trial", "resource", "loss")))):
            differences.append(f"{path}: curves")
        kinds = dict(zip((t.decode() for t in f["configs/axis"][:]), (t.decode() for t in f["configs/type"][:])))
    told = json.loads(subprocess.run([program, "report", path, "--trials", "--json"], check=True, capture_output=True,
                                     text=True).stdout)
    rows = frames.trials.astype(object).where(frames.trials.notna(), None).to_dict("records")
    for row, want in zip(rows, told, strict=True):
        del want["run"]
        if row.keys() != want.keys():
            differences.append(f"{path}: columns {sorted(row.keys() ^ want.keys())} are of one table")
        for name, x in want.items():
            have = None if isinstance(row[name], float) and not np.isfinite(row[name]) else row[name]
            if have != x and not (name == "seconds" and np.isclose(have, x, rtol=1e-14)):
                differences.append(f"{path}: trial {want['trial']}: {name} is {have}, not {x}")
    for name, kind in kinds.items():
        dtype = frames.trials[name].dtype
        want = {"real": "float64", "integer": "Int64", "boolean": "boolean"}.get(kind)
        if not (dtype == want if want else dtype == "float64" or list(dtype.categories) == kind.split("|")):
            differences.append(f"{path}: {name} is of type {dtype}, and {kind} in the file")
    if not isinstance(frames.trials["state"].dtype, pandas.CategoricalDtype):
        differences.append(f"{path}: states are no categories")


def main():
    program = sys.argv[1]
    for path in sys.argv[2:]:
        name = path.removesuffix(":")
        file = name
        if path != name:
            file = name + ".now"
            subprocess.run([program, "report", name, "-o", file, "--force"], check=True)
        check(program, name, file)
    print("\n".join(differences))
    return bool(differences)


if __name__ == "__main__":
    sys.exit(main())
