#!/usr/bin/env python3
"""Makes compress.txt: numbers rounded at random, the largest, and count sketches, by NumPy from the papers that
src/task/fed/compress.h cites, with the random numbers of include/weft/base/random.h, for tests/t_compress_rounds.c.
A line has what it is, two options, and the numbers. Run in the top directory; needs numpy."""
import math

import numpy as np

SEED, COMPRESS, N, FIRST = 3, 23, 90, 5
LAST = (1 << 64) - 1


def words(a, b, c):
    """Philox4x64-10 with counter (a, b, c, 0); numpy counts before it draws."""
    counter = (a + (b << 64) + (c << 128) - 1) % (1 << 256)
    bits = np.random.Philox(counter=np.array([counter >> 64 * i & LAST for i in range(4)], np.uint64),
                            key=np.array([SEED, COMPRESS], np.uint64))
    return [int(w) for w in bits.random_raw(4)]


def half(w, i):
    return w[i // 2] >> 32 * (i % 2) & 0xffffffff


x = np.array([((i * 37) % 101 - 50) / 16 for i in range(N)])  # some are equal but for their signs


def quantized(bits):
    """Of round 2, client 7; x are the numbers FIRST .. of a change."""
    most, levels = abs(x).max(), 2 ** (bits - 1) - 1
    u = np.array([half(words(2, 7, (FIRST + i) // 8), (FIRST + i) % 8) / 2 ** 32 for i in range(N)])
    return np.sign(x) * np.floor(abs(x) / most * levels + u) / levels * most


def largest(x, k):
    order = sorted(range(N), key=lambda i: (-abs(x[i]), i))[:k]
    sent = np.zeros(N)
    sent[order] = x[order]
    return sent


class Sketch:
    def __init__(self, rows, columns):
        draws = [words(LAST, 0, FIRST + i) for i in range(N)]
        self.at = np.array([[(half(w, r) >> 1) * columns >> 31 for w in draws] for r in range(rows)])
        self.sign = np.array([[1 - 2 * (half(w, r) & 1) for w in draws] for r in range(rows)])
        self.shape = rows, columns

    def of(self, x):
        cells = np.zeros(self.shape)
        for r, row in enumerate(cells):
            np.add.at(row, self.at[r], self.sign[r] * x)
        return cells

    def read(self, cells):
        return np.median([self.sign[r] * row[self.at[r]] for r, row in enumerate(cells)], axis=0)


with open("tests/gold/compress.txt", "w") as out:
    def tell(what, a, b, numbers):
        print(what, a, b, *(f"{v:.9g}" for v in np.ravel(numbers)), file=out)

    for bits in (2, 3, 8, 17):
        tell("quantize", bits, 0, quantized(bits))
    for k in (1, 2, 5, 44, 45, 89, 90):
        tell("largest", k, 0, largest(x, k))
    for rows, columns in ((1, 40), (2, 7), (5, 30), (7, 64)):
        sketch, error = Sketch(rows, columns), 0
        tell("sketch", rows, columns, sketch.of(x))
        tell("read", rows, columns, sketch.read(sketch.of(x)))
        for turn in range(3):  # FetchSGD: what it takes of x each time
            error = error + sketch.of(x)
            taken = largest(np.round(sketch.read(error), 12), 4)
            error = error - sketch.of(taken)
            tell("taken", rows, columns, taken)
