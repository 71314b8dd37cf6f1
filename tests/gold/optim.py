#!/usr/bin/env python3
"""Makes optim.txt: steps of torch.optim.SGD in double on the weights and gradients of
tests/t_optim.c (start, gradient_at). One line a step: name, step, norm of the gradient before
clipping, weights. Run in the top directory; needs PyTorch."""
import torch

N, STEPS = 7, 5
CASES = {  # lr, momentum, weight decay, mu, clip
    "plain": (0.1, 0, 0, 0, 0),
    "momentum": (0.1, 0.9, 0, 0, 0),
    "decay": (0.1, 0.9, 0.05, 0, 0),
    "clip": (0.1, 0.9, 0.05, 0, 2.3),  # bites at some steps
    "prox": (0.1, 0, 0, 0.7, 0),
    "all": (0.1, 0.5, 0.05, 0.7, 0.8),
}


def gradient(w, step):
    """Of sum_i (i + 1) w_i^4 / 8 + (i - 3 + step) w_i / 4."""
    i = torch.arange(N, dtype=torch.float64)
    return (i + 1) * w**3 / 2 + (i - 3 + step) / 4


with open("tests/gold/optim.txt", "w") as out:
    for name, (lr, momentum, decay, mu, clip) in CASES.items():
        start = (torch.arange(N, dtype=torch.float64) - 3) / 4
        w = torch.nn.Parameter(start.clone())
        sgd = torch.optim.SGD([w], lr=lr, momentum=momentum, weight_decay=decay)
        for step in range(STEPS):
            sgd.zero_grad()
            w.grad = gradient(w.detach(), step) + mu * (w.detach() - start)
            most = clip if clip > 0 else float("inf")
            norm = float(torch.nn.utils.clip_grad_norm_([w], most))
            sgd.step()
            print(name, step, *(f"{v:.12f}" for v in [norm, *w.tolist()]), file=out)
