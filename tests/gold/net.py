#!/usr/bin/env python3
"""Makes net.txt: loss and gradients of PyTorch, in double precision, for the networks of tests/t_net.c on the
rows, labels and weights that both make by hash(). A case is a line

    net options channels height width classes samples loss

and a line for each tensor: its name, the norm of its gradient and 16 sums of the gradient's entries under signs, by
which an error e of the gradient shows: the mean of its squared sums is about |e|^2. Run in the top directory; needs
numpy and torch."""
import numpy as np
import torch
import torch.nn.functional as F

CASES = (
    ("linear", "-", 1, 28, 28, 10, 10),
    ("mlp", "hidden=200", 1, 28, 28, 10, 10),
    ("mlp", "hidden=70,33,5", 1, 4, 5, 7, 3),
    ("cnn", "arch=leaf", 1, 12, 12, 62, 2),
    ("cnn", "arch=leaf", 3, 9, 6, 5, 3),
    ("cnn", "arch=femnist", 1, 12, 12, 62, 2),
    ("cnn", "arch=femnist", 2, 7, 10, 5, 3),
    ("cnn", "arch=cifar", 3, 32, 32, 10, 4),
    ("cnn", "arch=cifar", 1, 11, 17, 3, 5),
    ("cnn", "arch=convnet", 3, 32, 32, 10, 4),
    ("cnn", "arch=convnet&scale=2&power=1.5", 2, 9, 14, 3, 5),
)


def hashed(group, n):
    """32 bits of each of 0 .. n-1."""
    low = np.uint64(0xffffffff)
    x = (np.arange(n, dtype=np.uint64) + np.uint64(group << 26)) * np.uint64(2654435761) & low
    x ^= x >> np.uint64(15)
    x = x * np.uint64(2246822519) & low
    return x ^ x >> np.uint64(13)


def unit(group, n):
    return (hashed(group, n) >> np.uint64(8)).astype(float) / 2 ** 24


class Weights:
    """Hands out weights in weft's order of tensors, and keeps them with the way to weft's order of entries."""

    def __init__(self):
        self.kept = []

    def take(self, name, fan_in, shape, order):
        scale = 2.0 ** (2 + np.floor(0.3 - np.log2(fan_in) / 2))
        w = (unit(3 + len(self.kept), int(np.prod(shape))) - 0.5) * scale
        w = torch.tensor(w.reshape(shape), requires_grad=True)
        self.kept.append((name, w))
        return w.permute(order)

    def conv(self, x, number, k, out, pad):
        c = x.shape[1]
        w = self.take(f"conv{number}.weight", c * k * k, (out, k, k, c), (0, 3, 2, 1))
        return F.relu(F.conv2d(x, w, self.take(f"conv{number}.bias", c * k * k, (out,), (0,)), padding=pad))

    def fc(self, x, number, out):
        shape = [out] + [x.shape[i] for i in (2, 3, 1)] if x.dim() == 4 else (out, x.shape[1])
        fan_in = int(np.prod(shape[1:]))
        w = self.take(f"fc{number}.weight", fan_in, shape, (0, 3, 1, 2) if x.dim() == 4 else (0, 1))
        return F.linear(x.flatten(1), w.flatten(1), self.take(f"fc{number}.bias", fan_in, (out,), (0,)))


def normalised(x, scale, power):
    """cuda-convnet's rnorm of size 3: places outside count as 0, so that all means are over 9."""
    squares = F.avg_pool2d(x * x, 3, stride=1, padding=1, count_include_pad=True)
    return x / (1 + scale * squares) ** power


def convnet(options, x, classes, w):
    """Its three convolutions, with pooling of 3 x 3 places at every second one, fewer at the edges."""
    given = dict(v.split("=") for v in options.split("&"))
    scale, power = float(given.get("scale", 5e-5)), float(given.get("power", 0.75))
    x = normalised(F.max_pool2d(w.conv(x, 1, 5, 32, 2), 3, 2, ceil_mode=True), scale, power)
    x = normalised(F.avg_pool2d(w.conv(x, 2, 5, 32, 2), 3, 2, ceil_mode=True), scale, power)
    x = F.avg_pool2d(w.conv(x, 3, 5, 64, 2), 3, 2, ceil_mode=True)
    return w.fc(x, 1, classes)


def scores(net, options, x, classes, w):
    if net != "cnn":
        widths = [int(v) for v in options.split("=")[1].split(",")] if net == "mlp" else []
        x = x.flatten(1)
        for i, width in enumerate(widths):
            x = F.relu(w.fc(x, i + 1, width))
        return w.fc(x, len(widths) + 1, classes)
    if options.startswith("arch=convnet"):
        return convnet(options, x, classes, w)
    if options == "arch=leaf":
        x = F.max_pool2d(w.conv(x, 1, 5, 32, 2), 2)
        x = F.max_pool2d(w.conv(x, 2, 5, 64, 2), 2)
        width = 2048
    elif options == "arch=femnist":
        x = w.conv(x, 1, 3, 32, 0)
        x = F.max_pool2d(w.conv(x, 2, 3, 64, 0), 2)
        width = 1024
    else:
        for i, out in enumerate((32, 64, 64)):
            x = F.max_pool2d(w.conv(x, i + 1, 3, out, 1), 2)
        width = 64
    return w.fc(F.relu(w.fc(x, 1, width)), 2, classes)


with open("tests/gold/net.txt", "w") as file:
    for net, options, channels, height, width, classes, n in CASES:
        x = torch.tensor(unit(1, n * channels * height * width).reshape(n, channels, height, width))
        y = torch.tensor((hashed(2, n) % np.uint64(classes)).astype(np.int64))
        w = Weights()
        loss = F.cross_entropy(scores(net, options, x, classes, w), y)
        loss.backward()
        print(net, options, channels, height, width, classes, n, f"{loss.item():.12e}", file=file)
        for name, tensor in w.kept:
            g = tensor.grad.numpy().ravel()
            h = hashed(0, g.size)
            sums = [(g * (1 - 2.0 * ((h >> np.uint64(8 + j)) & np.uint64(1)).astype(float))).sum() for j in range(16)]
            print(name, f"{np.linalg.norm(g):.12e}", " ".join(f"{s:.9e}" for s in sums), file=file)
