"""The functions of tests/functions.h, tests/functions_more.h and tests/functions_curves.h in Python,
less their least values, for tests/gold/samplers.py."""
import math

import numpy as np

A6 = np.array([[10, 3, 17, 3.5, 1.7, 8], [.05, 10, 17, .1, 8, 14], [3, 3.5, 1.7, 10, 17, 8], [17, 8, .05, 10, .1, 14]])
P6 = np.array([[.1312, .1696, .5569, .0124, .8283, .5886], [.2329, .4135, .8307, .3736, .1004, .9991],
               [.2348, .1451, .3522, .2883, .3047, .6650], [.4047, .8828, .8732, .5743, .1091, .0381]])
A3 = np.array([[3, 10, 30], [.1, 10, 35], [3, 10, 30], [.1, 10, 35]])
P3 = np.array([[.3689, .1170, .2673], [.4699, .4387, .7470], [.1091, .8732, .5547], [.0381, .5743, .8828]])
ALPHA = np.array([1, 1.2, 3, 3.2])


def branin(v):
    a = v[1] - 5.1 / (4 * math.pi ** 2) * v[0] ** 2 + 5 / math.pi * v[0] - 6
    return a * a + 10 * (1 - 1 / (8 * math.pi)) * math.cos(v[0]) + 10 - 0.39788735772973816


def hartmann3(v):
    return 3.862779787332660 - float(ALPHA @ np.exp(-(A3 * (np.array(v) - P3) ** 2).sum(1)))


def hartmann6(v):
    return 3.322368011415515 - float(ALPHA @ np.exp(-(A6 * (np.array(v) - P6) ** 2).sum(1)))


def ackley5(v):
    v = np.array(v)
    return 20 + math.e - 20 * math.exp(-.2 * math.sqrt((v * v).mean())) - math.exp(np.cos(2 * math.pi * v).mean())


def rosenbrock4(v):
    x = [v[0], v[2], v[1], v[3]]
    return sum(100 * (x[j + 1] - x[j] ** 2) ** 2 + (1 - x[j]) ** 2 for j in range(3))


def levy5(v):
    w = 1 + (np.array(v) - 1) / 4
    inner = ((w[:4] - 1) ** 2 * (1 + 10 * np.sin(math.pi * w[:4] + 1) ** 2)).sum()
    return float(math.sin(math.pi * w[0]) ** 2 + inner + (w[4] - 1) ** 2 * (1 + math.sin(2 * math.pi * w[4]) ** 2))


def styblinski4(v):
    v = np.array(v)
    return float((v ** 4 - 16 * v * v + 5 * v).sum() / 2) + 4 * 39.16616570377142


def text(v):
    c, tol = math.log10(v[0]), math.log10(v[1])
    fit = .002 * (c - 1) ** 2 if v[6] else .01 + .003 * c * c
    return (.03 * (v[2] - 1) + .02 * abs(v[2] + v[3] - 2) + [.02, .01, 0][v[4]] + .005 * v[5] + fit + .002 * (tol + 5))


def tree(v):
    if v[4] == 0:
        return .15 + (v[0] - .3) ** 2
    if v[4] == 2:
        return .1 + .01 * abs(v[3] - 13)
    return .25 * (math.log10(v[1]) + 2.5) ** 2 + (v[2] - .7) ** 2


def mixed8(v):
    s = (v[0] - .3) ** 2 + (v[1] - .6) ** 2 + .1 * (math.log10(v[2]) + 3) ** 2 + .1 * (math.log10(v[3]) + 1) ** 2
    s += 4e-4 * (v[4] - 40) ** 2 + .02 * abs(v[5] - 7)
    return s + (0 if v[6] else .2) + [.3, 0, .2, .5][v[7]] + .5 * (v[0] - .3) * (v[4] - 40) / 50


def rastrigin6(v):
    return 60 + sum(x * x - 10 * math.cos(2 * math.pi * x) for x in v)


def griewank8(v):
    return 1 + sum(x * x for x in v) / 4000 - math.prod(math.cos(x / math.sqrt(j + 1)) for j, x in enumerate(v))


def michalewicz5(v):
    return 4.687658179 - sum(math.sin(x) * math.sin((j + 1) * x * x / math.pi) ** 20 for j, x in enumerate(v))


def camel6(v):
    x, y = v
    a = x * x
    return (4 - 2.1 * a + a * a / 3) * a + x * y + (4 * y * y - 4) * y * y + 1.0316284534898774


def goldprice(v):
    x, y = v
    a, b = x + y + 1, 2 * x - 3 * y
    return ((1 + a * a * (19 - 14 * x + 3 * x * x - 14 * y + 6 * x * y + 3 * y * y)) *
            (30 + b * b * (18 - 32 * x + 12 * x * x + 48 * y - 36 * x * y + 27 * y * y))) - 3


def schwefel4(v):
    return 418.9828872724339 * 4 - sum(x * math.sin(math.sqrt(abs(x))) for x in v)


def sphere20(v):
    return sum((x - 3 * math.sin(j + 1)) ** 2 for j, x in enumerate(v))


def ridge6(v):
    return 20 * sum((v[j] - v[j - 1]) ** 2 for j in range(1, 6)) + 4 * (sum(v) / 6 - .7) ** 2


def hashed(j, a, b):
    k = a * 31 + b * 17 + j * 101 + 7
    return (k * k * 2654435761 % 4294967296) / 4294967296


def cat6(v):
    return sum(hashed(j, v[j], 0) + hashed(j + 6, v[j], v[(j + 1) % 6]) for j in range(6)) - 2.12940804194659


def int5(v):
    a, b, d, e = (v[0] - 14) / 20, (v[1] - 33) / 100, (v[3] + 7) / 20, (v[4] - 700) / 1000
    return a * a + 2 * b * b + .1 * abs(v[2] - 4) + d * d + (.05 if (v[3] + 10) % 3 else 0) + e * e + .5 * a * e


def diverge4(v):
    u = [math.log10(x) for x in v]
    if u[0] > -3 and u[1] > -3:
        return math.inf
    if u[2] > -2:
        return 1
    return min(1, .1 * (u[0] + 3.5) ** 2 + .1 * (u[1] + 2.2) ** 2 + .2 * (u[2] + 4) ** 2 + .05 * (u[3] + 1) ** 2)


def tree3(v):
    if v[6] == 0:
        if v[7] == 0:
            return .2 + (v[0] - .3) ** 2
        return .15 * (math.log10(v[1]) + 2) ** 2 + .02 * abs(v[5] - 7)
    if v[6] == 2:
        return .12 + .3 * (v[4] - .6) ** 2
    if v[8] == 0:
        return .1 + .5 * (v[2] - .8) ** 2
    return [.4, .3, .05, .35][v[9]] + (2 * (v[3] - .2) ** 2 if v[9] == 2 else 0)


def steps5(v):
    return sum(math.floor(8 * abs(x - c)) / 8 for x, c in zip(v, (.2, .45, .6, .8, .35)))


def corner5(v):
    a, b, c, d, e = 1 - v[0], v[1], 1 - v[2], (math.log10(v[3]) + 4) / 4, (50 - v[4]) / 50
    return a + b + c + d + e + 2 * a * b


def heavy4(v):
    return 4 * ((v[0] - .3) ** 2 + (v[1] - .7) ** 2 + (v[2] - .5) ** 2) + .2 * v[3]


def net6(v):
    e, w, n = math.log10(v[0] / (1 - v[1])) + 2 + .1 * (v[4] - 3), math.log10(v[2]) + 4, math.log2(v[3]) - 8
    return .2 * e * e + .0125 * n * n + .03 * abs(v[4] - 3) + [.05, 0, .1][v[5]] + .01 * w * w


def arms16(v):
    return hashed(2, v[1], 0) + (v[0] - hashed(3, v[1], 1)) ** 2 - 0.0073746005073189735


def forrester1(v):
    return (6 * v[0] - 2) ** 2 * math.sin(12 * v[0] - 4) + 6.020740055767083


LONGEST = 81


def left_of(r):
    return 1 - (r - 1) / (LONGEST - 1)


def mfh(v, r, bias):
    a, p, f = (A3, P3, hartmann3) if len(v) == 3 else (A6, P6, hartmann6)
    return f(v) + bias * left_of(r) ** 2 * float(np.exp(-(a * (np.array(v) - p) ** 2).sum(1)).sum())


def power3(v, r):
    u, x, w = math.log10(v[0]) / 4 + 1, v[1], math.log2(v[2]) / 6 - .5
    if u > .9:
        return math.inf
    a = .5 * (u - .4) ** 2 + .3 * (x - .6) ** 2 + .1 * (u - .4) * (x - .6) + .2 * (w - .7) ** 2
    c = .15 + .9 * u
    return a + .6 * (r ** -c - LONGEST ** -c)


def falling(a, speed, r):
    end = math.exp(-speed)
    return a + (.8 - a) * (math.exp(-speed * r / LONGEST) - end) / (1 - end) - .1


def slow3(v, r):
    return falling(.1 + (v[0] - .2) ** 2 + .5 * (v[1] - .7) ** 2 + .2 * math.sin(3 * (v[2] - .5)) ** 2, 1 + 20 * v[0], r)


def chance8(v, r):
    return falling(.1 + .7 * (1 - math.exp(-mixed8(v))), 3 + 9 * v[1], r)


# (low, high, kind): real, log, int; or the number of levels; then (axis, its level) where the
# axis exists only there.
U = (0., 1., "real")
FUNCTIONS = {
    "rastrigin6": (rastrigin6, [(-5.12, 5.12, "real")] * 6, 0),
    "griewank8": (griewank8, [(-600., 600., "real")] * 8, 0),
    "michalewicz5": (michalewicz5, [(0., 3.14159265358979, "real")] * 5, 0),
    "camel6": (camel6, [(-3., 3., "real"), (-2., 2., "real")], 0),
    "goldprice": (goldprice, [(-2., 2., "real")] * 2, 0),
    "schwefel4": (schwefel4, [(-500., 500., "real")] * 4, 0),
    "sphere20": (sphere20, [(-5., 5., "real")] * 20, 0),
    "ridge6": (ridge6, [U] * 6, 0),
    "cat6": (cat6, [4, 5, 6, 7, 8, 4], 0),
    "int5": (int5, [(1, 20, "int"), (0, 100, "int"), (1, 5, "int"), (-10, 10, "int"), (0, 1000, "int")], 0),
    "diverge4": (diverge4, [(1e-6, 1., "log")] * 4, 0),
    "tree3": (tree3, [(*U, 7, 0), (1e-4, 1., "log", 7, 1), (*U, 8, 0), (*U, 9, 2), (*U, 6, 2), (1, 20, "int", 7, 1),
                      3, (0, 1, "cat", 6, 0), (0, 1, "cat", 6, 1), (0, 3, "cat", 8, 1)], 0),
    "steps5": (steps5, [U] * 5, 0),
    "corner5": (corner5, [U, U, U, (1e-4, 1., "log"), (1, 50, "int")], 0),
    "heavy4": (heavy4, [U, U, U, 3], 1),
    "net6": (net6, [(1e-5, 1., "log"), (0., .99, "real"), (1e-7, .1, "log"), (8, 1024, "logint"), (1, 8, "int"), 3], 0),
    "arms16": (arms16, [U, 16], 0),
    "forrester1": (forrester1, [U], 0),
    "branin": (branin, [(-5., 10., "real"), (0., 15., "real")], 0),
    "hartmann3": (hartmann3, [U] * 3, 0),
    "hartmann6": (hartmann6, [U] * 6, 0),
    "ackley5": (ackley5, [(-32.768, 32.768, "real")] * 5, 0),
    "rosenbrock4": (rosenbrock4, [(-5., 10., "real")] * 2 + [(-5, 10, "int")] * 2, 0),
    "text": (text, [(1e-5, 1e5, "log"), (1e-5, 1e-3, "log"), (1, 3, "int"), (0, 2, "int"), 3, 2, 2], 0),
    "flat": (tree, [U, (1e-4, 1., "log"), U, (1, 20, "int"), 3], 0),
    "tree": (tree, [(*U, 4, 0), (1e-4, 1., "log", 4, 1), (*U, 4, 1), (1, 20, "int", 4, 2), 3], 0),
    "levy5": (levy5, [(-10., 10., "real")] * 5, 0),
    "styblinski4": (styblinski4, [(-5., 5., "real")] * 4, 0),
    "mixed8": (mixed8, [U, U, (1e-6, 1., "log"), (1e-4, 10., "log"), (1, 100, "int"), (1, 12, "int"), 2, 4], 0),
    "noisy": (branin, [(-5., 10., "real"), (0., 15., "real")], 5),
}
# Learning curves: function of the values and the resource, axes, deviation of noise, 1 if it fades.
CURVES = {
    "mfh3": (lambda v, r: mfh(v, r, 1), [U] * 3, .2, 1),
    "mfh6": (lambda v, r: mfh(v, r, 1), [U] * 6, .2, 1),
    "mfh6bad": (lambda v, r: mfh(v, r, 2), [U] * 6, .4, 1),
    "power3": (power3, [(1e-4, 1., "log"), U, (8, 512, "logint")], .01, 0),
    "slow3": (slow3, [U] * 3, .01, 0),
    "chance8": (chance8, FUNCTIONS["mixed8"][1], .01, 0),
}
