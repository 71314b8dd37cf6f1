#!/usr/bin/env python3
"""Makes descend.txt: steps of torch.optim.Adam and Adadelta in double on the weights and gradients of
tests/t_descend.c (start, gradient_at), the rate by schedules of torch. One line a step: name, step, weights. Run in the
top directory; needs PyTorch."""
import math

import torch

N, STEPS = 7, 6
CASES = {  # optimizer, its numbers, rate of a step by the step's
    "adam": ("Adam", dict(lr=0.05, betas=(0.9, 0.99), eps=1e-3), None),
    "adam-decay": ("Adam", dict(lr=0.05, betas=(0.8, 0.999), eps=1e-6, weight_decay=0.1), None),
    "adadelta": ("Adadelta", dict(lr=1, rho=0.95, eps=1e-6), None),
    "adadelta-decay": ("Adadelta", dict(lr=0.5, rho=0.9, eps=1e-3, weight_decay=0.1), None),
    "momentum": ("SGD", dict(lr=0.1, momentum=0.9, weight_decay=0.05), None),
    "exponential": ("SGD", dict(lr=0.1), lambda s: 0.9 ** s),
    "inverse": ("SGD", dict(lr=0.1), lambda s: 1 / (1 + 0.1 * s)),
    "linear": ("SGD", dict(lr=0.1), lambda s: max(1 - s / 4, 0)),
    "cosine": ("SGD", dict(lr=0.1), lambda s: (1 + math.cos(math.pi * min(s / 4, 1))) / 2),
    "step": ("SGD", dict(lr=0.1), lambda s: 0.1 ** min(math.floor(3 * s / 4), 2)),
}


def gradient(w, step):
    """Of sum_i (i + 1) w_i^4 / 8 + (i - 3 + step) w_i / 4."""
    i = torch.arange(N, dtype=torch.float64)
    return (i + 1) * w**3 / 2 + (i - 3 + step) / 4


with open("tests/gold/descend.txt", "w") as out:
    for name, (kind, numbers, rate) in CASES.items():
        w = torch.nn.Parameter((torch.arange(N, dtype=torch.float64) - 3) / 4)
        steps = getattr(torch.optim, kind)([w], **numbers)
        turn = torch.optim.lr_scheduler.LambdaLR(steps, rate or (lambda s: 1))
        for step in range(STEPS):
            w.grad = gradient(w.detach(), step)
            steps.step()
            turn.step()
            print(name, step, *(f"{v:.12f}" for v in w.tolist()), file=out)
