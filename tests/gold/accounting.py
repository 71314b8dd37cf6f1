#!/usr/bin/env python3
"""Writes tests/gold/accounting.tsv: what releases cost by another accountant.

usage: tests/gold/accounting.py > tests/gold/accounting.tsv
needs: dp-accounting 0.5 or later, mpmath of PyPI. A line: sampling, share, noise, times, steps between
restarts of a tree, delta, epsilon by Renyi divergences, epsilon by the privacy loss distribution (of
Poisson sampling; else 0).
Settings are drawn by a fixed seed; those that cost more than 100 are left out.
Three things of the other are made exact, as they move epsilon by up to 0.02 here: its series for
fractional orders takes binomials without their sign; differences that it needs without replacement
cancel; a divergence that rounding makes negative gives epsilon 0 (such settings are left out).
"""
import random

import mpmath
import numpy as np
from dp_accounting import dp_event as event
from dp_accounting.pld import PLDAccountant
from dp_accounting.privacy_accountant import NeighboringRelation as Relation
from dp_accounting.rdp import RdpAccountant, rdp_privacy_accountant

CLIENTS = 1_000_000
WANTED = {"poisson": 140, "fixed": 40, "tree": 20}


def log_moment(share, noise, order):
    """log E (1 - q + q r)^order under N(0, noise^2), by a sum of 40,001 terms."""
    z = np.linspace(-12 * noise, order + 12 * noise, 40_001)
    ratio = (2 * z - 1) / (2 * noise**2)
    value = np.where(ratio > 0, ratio + np.log(share + (1 - share) * np.exp(-np.maximum(ratio, 0))),
                     np.log1p(share * np.expm1(np.minimum(ratio, 0))))
    log_term = order * value - z**2 / (2 * noise**2)
    most = log_term.max()
    return most + np.log(np.exp(log_term - most).sum() * (z[1] - z[0]) / noise / np.sqrt(2 * np.pi))


def log_differences(log_value, count):
    """Logarithms of the first differences of orders 1, 2 .. of 1, exp(f(0)), exp(f(1)) .., as their signs."""
    mpmath.mp.dps = 400
    rest = [mpmath.mpf(1)] + [mpmath.exp(log_value(mpmath.mpf(i))) for i in range(count + 2)]
    out = []
    for _ in range(count + 2):
        rest = [b - a for a, b in zip(rest, rest[1:])]
        out.append(rest[0])
    return [float(mpmath.log(abs(x))) if x else -np.inf for x in out], [x > 0 for x in out]


rdp_privacy_accountant._compute_log_a_frac = log_moment
rdp_privacy_accountant._get_forward_diffs = log_differences


def made(sampling, share, noise, times, steps):
    gauss = event.GaussianDpEvent(noise)
    if sampling == "fixed":
        one, relation = event.SampledWithoutReplacementDpEvent(CLIENTS, round(share * CLIENTS), gauss), Relation.REPLACE_ONE
    elif sampling == "tree":
        one, relation = event.SingleEpochTreeAggregationDpEvent(noise, steps), Relation.REPLACE_SPECIAL
    else:
        one, relation = event.PoissonSampledDpEvent(share, gauss), Relation.ADD_OR_REMOVE_ONE
    return event.SelfComposedDpEvent(one, times), relation


def main():
    draw = random.Random(20)
    print("#sampling\tshare\tnoise\ttimes\tsteps\tdelta\trenyi\tloss")
    for kind, count in WANTED.items():
        while count:
            share = 1 if kind == "tree" else draw.choice([1, 0.5]) if draw.random() < 0.1 else \
                round(10 ** draw.uniform(-4, -0.5), 6)
            noise = round(10 ** draw.uniform(-0.3, 1.2), 3)
            times = round(10 ** draw.uniform(0, 1 if kind == "tree" else 4))
            steps = round(10 ** draw.uniform(0, 4)) if kind == "tree" else 0
            delta = 10 ** -draw.randint(3, 9)
            one, relation = made(kind, share, noise, times, steps)
            renyi = RdpAccountant(neighboring_relation=relation).compose(one).get_epsilon(delta)
            if renyi > 100:
                continue
            loss = PLDAccountant(relation).compose(one).get_epsilon(delta) if kind == "poisson" else 0
            if renyi < loss:
                continue
            count -= 1
            print(f"{kind}\t{share}\t{noise}\t{times}\t{steps}\t{delta:g}\t{renyi:.6f}\t{loss:.6f}", flush=True)


main()
