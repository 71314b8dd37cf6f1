#!/usr/bin/env python3
"""Makes personal.txt: what a federation of one client has after some rounds by PyTorch's gradients, in double
precision, for tests/t_algorithm.c: of the generator b, W (column by column) and v, each by the gradient of the loss at
b + W v; of APFL the server's weights y, the client's v and its share a, v and a by the gradient at a v + (1 - a) y.
The samples and the first v are those of tests/toy.h and src/algorithm/cpg.c, made by the same random numbers. A line is
a name and its numbers. Run in the top directory; needs numpy and torch."""
import math

import numpy as np
import torch
import torch.nn.functional as F

D, C, N, SIZE, ROUNDS = 5, 3, 20, 3, 4
TEST, CLIENT = 18, 17  # purposes of random numbers, rng.h
torch.set_default_dtype(torch.float64)


def words(seed, purpose, a, b, c):
    """Philox4x64-10 with counter (a, b, c, 0); numpy counts before it draws."""
    counter = (a + (b << 64) + (c << 128) - 1) % (1 << 256)
    bits = np.random.Philox(counter=np.array([counter >> 64 * i & (1 << 64) - 1 for i in range(4)], np.uint64),
                            key=np.array([seed, purpose], np.uint64))
    return [int(w) for w in bits.random_raw(4)]


def normal(w):
    """The first of weft_rng_normal."""
    unit = [(x >> 11) * 2.0 ** -53 for x in w]
    return math.sqrt(-2 * math.log(1 - unit[0])) * math.cos(2 * math.pi * unit[1])


def samples():
    x, label = np.zeros((N, D)), np.zeros(N, int)
    for i in range(N):
        label[i] = words(5, TEST, i, 99, 0)[0] % C
        for d in range(D):
            x[i, d] = np.float32(normal(words(5, TEST, i, d, 0)) + (1.5 if d == label[i] else 0))
    return torch.tensor(x), torch.tensor(label)


X, LABEL = samples()


def loss(w):
    """Softmax regression by the flat weights: W[C][D], then b[C]."""
    return F.cross_entropy(X @ w[:C * D].reshape(C, D).T + w[C * D:], LABEL)


def step(value, rates, *of):
    """Each of the tensors less its rate times its gradient."""
    return [(t - r * g).detach().requires_grad_() for t, r, g in zip(of, rates, torch.autograd.grad(value, of))]


def line(name, x):
    print(name, " ".join(f"{v:.12g}" for v in x.detach().reshape(-1).tolist()))


def generator(lr=0.3, lr_w=2.0, lr_v=3.0):
    b = torch.zeros(C * (D + 1), requires_grad=True)
    w = torch.zeros(SIZE, C * (D + 1), requires_grad=True)  # the first weights are 0, and so is their spread
    v = torch.tensor([normal(words(3, CLIENT, 0, 1 << 62, m)) / math.sqrt(SIZE) for m in range(SIZE)], requires_grad=True)
    for _ in range(ROUNDS):
        b, w, v = step(loss(b + v @ w), (lr, lr * lr_w, lr * lr_v), b, w, v)
    for name, x in (("cpg.b", b), ("cpg.W", w), ("cpg.v", v)):
        line(name, x)


def apfl(lr=0.3, rate=0.1, epochs=2):
    y = torch.zeros(C * (D + 1), requires_grad=True)
    v = torch.zeros(C * (D + 1), requires_grad=True)
    a = torch.tensor(0.5, requires_grad=True)
    for _ in range(ROUNDS * epochs):
        v, a = step(loss(a * v + (1 - a) * y), (lr, rate), v, a)
        y, = step(loss(y), (lr,), y)
    for name, x in (("apfl.y", y), ("apfl.v", v), ("apfl.a", a)):
        line(name, x)


generator()
apfl()
