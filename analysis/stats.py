"""Means with their 95 % intervals, paired differences, and what it would take to decide.

Student's t with the interval of a mean by samples, or by clusters of samples that are not
independent of each other (arms of one seed meet the same cohorts): the cluster-robust variance

    G / (G - 1)  sum_g (sum_{i in g} (x_i - mean))^2 / n^2      with G - 1 degrees of freedom,

which for clusters of one size is the interval of the clusters' means (Liang and Zeger,
Biometrika 1986; G / (G - 1) is the usual correction for few clusters). Needs Python alone.
"""

import math
from collections import namedtuple

LEVEL = 0.95
NORMAL = 1.95996  # the quantile that Student's come down to
MARGIN = 1.0  # points; a difference whose interval lies within it is no difference that matters

# mean; half: half the width of its interval; deviation: of a sample, or of a cluster of mean
# size; n: independent samples or clusters
Interval = namedtuple("Interval", "mean half deviation n")


def t_inside(t, dof):
    """P(|T| <= t) for whole degrees of freedom (Abramowitz and Stegun, 26.7.3 and 26.7.4)."""
    angle = math.atan2(t, math.sqrt(dof))
    cos2 = math.cos(angle) ** 2
    odd = dof % 2
    term = total = math.cos(angle) if odd else 1.0
    if dof == 1:
        return 2 * angle / math.pi
    for i in range(2 + odd, dof - 1, 2):
        term *= cos2 * (i - 1) / i
        total += term
    return 2 / math.pi * (angle + math.sin(angle) * total) if odd else math.sin(angle) * total


def t_quantile(dof, level=LEVEL):
    """The t that |T| stays within with probability `level`."""
    low, high = 0.0, 2.0
    while t_inside(high, dof) < level:
        low, high = high, 2 * high
    for _ in range(60):
        middle = (low + high) / 2
        low, high = (middle, high) if t_inside(middle, dof) < level else (low, middle)
    return (low + high) / 2


def mean_of(x):
    return math.fsum(x) / len(x)


def by_clusters(x, cluster):
    """Interval of the mean of x, whose samples are independent only between clusters."""
    names = sorted(set(cluster))
    n, g = len(x), len(names)
    if n == 0:
        return Interval(math.nan, math.inf, math.nan, 0)
    mean = mean_of(x)
    if g < 2:
        return Interval(mean, math.inf, math.nan, g)
    sums = {name: [] for name in names}
    for value, name in zip(x, cluster):
        sums[name].append(value - mean)
    square = math.fsum(math.fsum(s) ** 2 for s in sums.values())
    error = math.sqrt(g / (g - 1) * square) / n
    return Interval(mean, t_quantile(g - 1) * error, error * math.sqrt(g), g)


def by_samples(x):
    """Interval of the mean of x, whose samples are all independent."""
    return by_clusters(x, range(len(x)))


def text(x, digits, sign=""):
    """The mean of x +- half of its interval, which a single sample does not have."""
    i = by_samples(x)
    half = f" +- {i.half:.{digits}f}" if math.isfinite(i.half) else ""
    return f"{i.mean:{sign}.{digits}f}{half}"


def needed(deviation, margin=MARGIN):
    """How many samples of this deviation give a half-width of at most `margin`."""
    if not math.isfinite(deviation):
        return math.inf
    n = max(2, math.ceil((NORMAL * deviation / margin) ** 2))
    while t_quantile(n - 1) * deviation / math.sqrt(n) > margin:
        n += 1
    return n


def verdict(gain, margin=MARGIN):
    """What the interval of a gain says: a difference of which more than 0 is better."""
    low, high = gain.mean - gain.half, gain.mean + gain.half
    inside = -margin <= low and high <= margin
    side = "better" if low > 0 else "worse" if high < 0 else ""
    if side:
        return f"{side}, by at most {margin:g}" if inside else side
    return f"within +-{margin:g}" if inside else "not resolved"


def wins(x):
    """How many gains are above 0, below it, and 0."""
    return sum(v > 0 for v in x), sum(v < 0 for v in x), sum(v == 0 for v in x)
