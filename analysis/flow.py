#!/usr/bin/env python3
"""Risks of gradient flow, gradient descent and ridge regression, exactly, and a search on them.

usage: analysis/flow.py RUN.h5 [-o FILE.png]

RUN.h5 is a run of task flow (inputs/flow.ini). Lines are gradient flow and ridge regression of
its problem, against time t = 1 / lambda and against the norm of their coefficients, the root of
E|b|^2; points are the jobs of the search. Their losses are computed here again from spectrum,
signal and noise in the run file, and a difference is reported.
"""

import argparse
import sys

import numpy as np
from matplotlib import pyplot as plt

import runs

COLOUR = {"flow": runs.BLUE, "descent": runs.GREEN, "ridge": runs.RED}
MARK = {"flow": "o", "descent": "^", "ridge": "s"}


class Problem:
    """Spectrum s, signal c and noise sigma^2 / n of a run."""

    def __init__(self, path, run):
        import h5py
        with h5py.File(path, "r") as f:
            self.s, self.c, noise = (f[f"winner/state/{k}"][:].astype(float)
                                     for k in ("spectrum", "signal", "noise"))
        self.noise = noise[0]
        self.predicts = run.ini.get("flow", "loss", fallback="") == "prediction"

    def gain(self, method, step, lam, features, r):
        """Of each direction, after r units of training from 0."""
        x = step * (self.s + lam)
        with np.errstate(all="ignore"):
            left = {"flow": np.exp(-r * x), "descent": (1 - x) ** np.floor(r),
                    "ridge": 0 * x}[method]
            g = np.where(self.s > 0, (1 - left) * self.s / (self.s + lam), 0)
        if features > 0:
            g[int(features):] = 0
        return g

    def risk(self, g):
        with np.errstate(all="ignore"):
            noise = np.where(self.s > 0, self.noise * g ** 2 / self.s, 0)
            terms = self.c * (1 - g) ** 2 + noise
            return np.sum(terms * self.s) if self.predicts else np.sum(terms)

    def norm(self, g):
        with np.errstate(all="ignore"):
            return np.sqrt(np.sum(g ** 2 * (self.c + np.where(self.s > 0, self.noise / self.s, 0))))


def jobs_of(run):
    """(method, step, lambda, features, resource, loss) of every job."""
    fixed = {"method": "descent", "step": "1", "lambda": "0", "features": "0"}
    for key in fixed:
        fixed[key] = run.ini.get("flow", key, fallback=fixed[key])
    config = dict(zip(run.arm["job"], run.arm["config"]))
    for job, r, loss in zip(run.event["job"], run.event["resource"], run.event["valid_loss"]):
        own = dict(fixed)
        for word in run.config[int(config[job])].split():
            key, value = word.split("=")
            own[key.rsplit(".", 1)[-1]] = value
        yield (own["method"], *(float(own[k]) for k in ("step", "lambda", "features")), r, loss)


def check(problem, jobs):
    """Jobs whose loss is not that of the formula; trials that copied others may differ."""
    off = 0
    for method, step, lam, features, r, loss in jobs:
        exact = problem.risk(problem.gain(method, step, lam, features, r))
        off += bool(np.isfinite(loss) and abs(loss - exact) > 1e-4 * abs(exact))
    print(f"{len(jobs)} jobs, {off} of which differ from the formula here")


def draw(axes, problem, jobs, optimum):
    time = np.logspace(-1.5, 3.5, 400)
    for method in ("flow", "ridge"):
        g = [problem.gain(method, t, 1 / t if method == "ridge" else 0, 0, 1) for t in time]
        risk = [problem.risk(x) for x in g]
        label = "gradient flow" if method == "flow" else r"ridge, $\lambda = 1/t$"
        axes[0].plot(time, risk, color=COLOUR[method], lw=1.5, label=label)
        axes[1].plot([problem.norm(x) for x in g], risk, color=COLOUR[method], lw=1.5)
    low = np.inf
    for method, mark in MARK.items():
        mine = [j for j in jobs if j[0] == method and np.isfinite(j[5])]
        if not mine:
            continue
        g = [problem.gain(*j[:5]) for j in mine]
        t = [1 / max(j[2], 1e-9) if method == "ridge" else j[1] * j[4] for j in mine]
        loss = [j[5] for j in mine]
        low = min(low, min(loss))
        for ax, x in zip(axes, (t, [problem.norm(x) for x in g])):
            ax.plot(x, loss, mark, color=COLOUR[method], ms=3, alpha=0.5, mew=0,
                    label=f"jobs: {method}")
    for ax in axes:
        ax.set_ylim(0.97 * optimum, 2.2 * optimum)
        ax.axhline(optimum, color=runs.GREY, lw=0.8, ls="--", label="optimum of the space")
        ax.set_ylabel("prediction risk" if problem.predicts else "estimation risk")
    axes[0].set_xscale("log")
    axes[0].set_xlim(time[0], time[-1])
    axes[0].set_xlabel(r"time $t$ = units $\times$ step, or $1/\lambda$")
    norms = [problem.norm(problem.gain("flow", t, 0, 0, 1)) for t in time]
    axes[1].set_xlim(0, 1.05 * max(norms))
    axes[1].set_xlabel(r"norm of the coefficients, $(E|b|^2)^{1/2}$")
    axes[0].legend(fontsize=8, loc="upper left")
    return low


def main():
    args = argparse.ArgumentParser(description=__doc__,
                                   formatter_class=argparse.RawDescriptionHelpFormatter)
    args.add_argument("run", metavar="RUN.h5")
    args.add_argument("-o", metavar="FILE", help="picture, .png or .pdf; default RUN-flow.png")
    args = args.parse_args()
    run = runs.load([args.run])[0]
    if run.attr["task"] != "flow":
        sys.exit(f"{args.run}: a run of task {run.attr['task']}, not flow")
    problem, jobs = Problem(args.run, run), list(jobs_of(run))
    check(problem, jobs)
    fig, axes = plt.subplots(1, 2, figsize=(9, 3.8))
    optimum = float(run.attr["optimum"])
    best = draw(axes, problem, jobs, optimum)
    fig.suptitle(f"{run.tuner}: {len(jobs)} jobs, best {best:.4f}, optimum {optimum:.4f}, winner "
                 f"{float(run.winner['valid_loss']):.4f}", x=0.01, ha="left", fontsize=10)
    out = args.o or args.run.rsplit(".h5", 1)[0] + "-flow.png"
    fig.savefig(out)
    print(out)


if __name__ == "__main__":
    main()
