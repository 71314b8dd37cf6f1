"""Values of Gaussian processes and of expected improvement by other programs.

Use: python3 tests/gold/gauss.py > tests/gold/gauss.txt     (numpy, scipy, scikit-learn, mpmath)

Axes 0 and 1 are numbers, axis 2 a number that points may lack, axis 3 a category of three levels or
none. scikit-learn's Matern kernel sees numbers as they are and a category by indicators of its levels
and of none, each 1 / sqrt 2; a number that a point lacks is its middle, and sqrt 3 / 2 on an axis of
its own. Lines: "fit" log lengths, log signal, log noise, -log p(y | theta); "ask" mean and variance
at a point without noise; "gain" z, log E max(z - Z, 0), its derivative. Lines "curve" and "at" are
the same of learning curves, by the covariance that gauss.h states, E exp(-rate u) by quadrature over
the rate's Gamma distribution; theta has log shape, log scale, log own, log common and tie, too.
"""
import math

import mpmath
import numpy as np
from scipy.integrate import quad
from scipy.linalg import cho_factor, cho_solve
from scipy.stats import gamma
from sklearn.gaussian_process import GaussianProcessRegressor
from sklearn.gaussian_process.kernels import ConstantKernel, Matern, WhiteKernel

N, ASKED = 23, 5
CURVES = ((-1, 0.3, -0.5, 0.2, 0.4, -5, 0.3, -1.5, -0.8, 0.1, 0.6), (0.5, -1.2, 1, -0.3, -0.7, -2, -0.4, 0.5, 0.7, -1, -0.3))
RESOURCES = (1 / 9, 1 / 3, 1)
THETAS = ((-1, 0.3, -0.5, 0.2, 0.4, -5), (0.5, -1.2, 1, -0.3, -0.7, -2))


def point(i):
    """As gauss_point of tests/t_gauss.c."""
    x = [math.fmod(0.37 + 0.618033988749895 * i, 1), math.fmod(0.11 + 0.7548776662466927 * i, 1),
         math.fmod(0.59 + 0.5698402909980532 * i, 1), i % 4]
    return [x[0], x[1], None if i % 5 == 2 else x[2], None if x[3] == 3 else x[3]]


def value(i):
    x = point(i)
    return math.sin(5 * x[0]) + x[1] ** 2 - (x[2] or 0) + (0.3, -0.2, 0.5, 0)[i % 4] * x[0]


def seen(x):
    """The point as scikit-learn sees it."""
    levels = [math.sqrt(0.5) * (x[3] == k) for k in (0, 1, 2, None)]
    return [x[0], x[1], 0.5 if x[2] is None else x[2], math.sqrt(0.75) * (x[2] is None)] + levels


def length_of(theta):
    return np.exp([theta[0], theta[1], theta[2], theta[2]] + 4 * [theta[3]])


def curves(x, asked):
    """Evidence and predictions of the same points with resources."""
    r = np.array([RESOURCES[i % 3] for i in range(N)])
    y = np.array([value(i) + 0.5 * math.exp(-3 * r[i]) for i in range(N)])
    later = np.array([(0.05, 1 / 3, 1, 1, 2)[i] for i in range(ASKED)])
    for theta in CURVES:
        shape, scale, own, common = np.exp(theta[6:10])
        tie, decay = theta[10], {}

        def kappa(u):
            if u not in decay:
                rate = gamma(shape, scale=1 / scale)
                near = rate.ppf(0.5)  # the density of a shape below 1 has a pole at 0: in powers of the rate
                inner = quad(lambda s: math.exp(-u * s ** (1 / shape)) * math.exp(-scale * s ** (1 / shape)),
                             0, near ** shape, epsabs=1e-14, epsrel=1e-13)[0]
                inner *= scale ** shape / math.gamma(shape + 1)
                outer = quad(lambda s: math.exp(-u * s) * rate.pdf(s), near, math.inf, epsabs=1e-14, epsrel=1e-13)[0]
                decay[u] = inner + outer
            return decay[u]

        def covariance(a, b, ra, rb):
            both = np.array([[kappa(p + q) for q in rb] for p in ra])
            one, two = np.array([[kappa(p)] for p in ra]), np.array([kappa(q) for q in rb])
            matern = math.exp(theta[4]) * Matern(length_of(theta), nu=2.5)(a, b)
            return matern * (1 - tie * (one + two) + (tie ** 2 + own) * both) + common * both

        noisy = covariance(x, x, r, r) + math.exp(theta[5]) * np.eye(N)
        factor = cho_factor(noisy)
        weight = cho_solve(factor, y)
        print("curve", *theta, "%.15g" % (y @ weight / 2 + np.log(np.diag(factor[0])).sum() + N / 2 * math.log(2 * math.pi)))
        k = covariance(asked, x, later, r)
        variance = np.diag(covariance(asked, asked, later, later)) - (k * cho_solve(factor, k.T).T).sum(1)
        for m, v in zip(k @ weight, variance):
            print("at", "%.15g %.15g" % (m, v))


def main():
    x, y = np.array([seen(point(i)) for i in range(N)]), np.array([value(i) for i in range(N)])
    asked = np.array([seen(point(i + 100)) for i in range(ASKED)])
    for theta in THETAS:
        kernel = ConstantKernel(math.exp(theta[4])) * Matern(length_of(theta), nu=2.5) + WhiteKernel(math.exp(theta[5]))
        process = GaussianProcessRegressor(kernel, optimizer=None, alpha=1e-300).fit(x, y)
        print("fit", *theta, "%.15g" % -process.log_marginal_likelihood_value_)
        mean, sd = process.predict(asked, return_std=True)
        for m, s in zip(mean, sd):
            print("ask", "%.15g %.15g" % (m, s * s - math.exp(theta[5])))
    mpmath.mp.dps = 60
    for z in (-1e4, -300, -50, -9, -4.01, -3.99, -2, -0.5, 0, 0.7, 3, 12):
        z = mpmath.mpf(z)
        below, density = mpmath.erfc(-z / mpmath.sqrt(2)) / 2, mpmath.exp(-z * z / 2) / mpmath.sqrt(2 * mpmath.pi)
        with mpmath.workdps(60 + int(abs(z) ** 2 / 2)if abs(z) < 100 else 80):
            gain = density + z * below
        if abs(z) >= 40:  # the terms cancel: by the asymptotic series
            t = -z
            gain = density / t ** 2 * sum((-1) ** k * mpmath.fac2(2 * k + 1) / t ** (2 * k) for k in range(12))
        print("gain", "%.17g" % float(z), mpmath.nstr(mpmath.log(gain), 17), mpmath.nstr(below / gain, 17))
    curves(x, asked)


if __name__ == "__main__":
    main()
