#!/usr/bin/env python3
"""Makes txtcnn.txt: loss and gradients of PyTorch, in double precision, for the network over sentences of
tests/t_txtcnn.c on the words, vectors, labels, weights of samples and weights that both make by hashed() of net.py.
A case is a line

    options words-of-the-longest vocabulary classes samples loss

and lines of tensors as in net.txt. The network is the usual one: sentences padded with zeros, convolutions, a maximum
over time; windows that hold no word are masked. Run in the top directory; needs numpy and torch."""
import numpy as np
import torch
import torch.nn.functional as F

SIZE = 7
CASES = (
    ("-", 9, 30, 2, 6),
    ("head=softmax", 9, 30, 2, 6),
    ("channels=nonstatic&f1=5&f2=4&f3=3&k1=1", 9, 30, 3, 6),
    ("channels=multi&f1=5&f2=40&f3=3&k3=12", 9, 300, 2, 20),
    ("channels=multi&f1=5&f2=4&f3=3&hidden=6&activation=elu", 12, 50, 4, 10),
    ("groups=5&f1=5&f2=4&f3=3&f4=6&f5=2&activation=tanh&bias=no&channels=nonstatic", 12, 50, 2, 10),
    ("groups=1&f1=33&k1=2&hidden=40&head=softmax", 30, 500, 2, 40),
)
F_DEFAULT, K_DEFAULT = 100, (3, 4, 5, 3, 4, 5, 3, 4, 5, 3)


def hashed(group, n):
    """32 bits of each of 0 .. n-1."""
    low = np.uint64(0xffffffff)
    x = (np.arange(n, dtype=np.uint64) + np.uint64(group << 26)) * np.uint64(2654435761) & low
    x ^= x >> np.uint64(15)
    x = x * np.uint64(2246822519) & low
    return x ^ x >> np.uint64(13)


def unit(group, n):
    return (hashed(group, n) >> np.uint64(8)).astype(float) / 2 ** 24


ACT = {"relu": F.relu, "elu": F.elu, "tanh": torch.tanh, "sigmoid": torch.sigmoid, "selu": F.selu}

with open("tests/gold/txtcnn.txt", "w") as file:
    for options, d, words, classes, n in CASES:
        o = dict(x.split("=") for x in options.split("&") if "=" in x)
        groups = int(o.get("groups", 3))
        f = [int(o.get(f"f{i + 1}", F_DEFAULT)) for i in range(groups)]
        k = [int(o.get(f"k{i + 1}", K_DEFAULT[i])) for i in range(groups)]
        hidden, channels = int(o.get("hidden", 0)), o.get("channels", "static")
        bias = o.get("bias", "yes") == "yes"
        outputs = 1 if classes == 2 and o.get("head") != "softmax" else classes
        shapes = [(f"conv{i + 1}.weight", (k[i], f[i], SIZE)) for i in range(groups)]
        shapes += [(f"conv{i + 1}.bias", (f[i],)) for i in range(groups) if bias]
        wide = sum(f)
        if hidden:
            shapes += [("fc1.weight", (hidden, wide)), ("fc1.bias", (hidden,))]
        last = "fc2" if hidden else "fc1"
        shapes += [(f"{last}.weight", (outputs, hidden or wide)), (f"{last}.bias", (outputs,))]
        if channels != "static":
            shapes += [("embed.weight", (words + 1, SIZE))]
        w = {name: torch.tensor(unit(20 + i, int(np.prod(s))).reshape(s) - 0.5, requires_grad=True)
             for i, (name, s) in enumerate(shapes)}
        fixed = torch.tensor((unit(9, words * SIZE).astype(np.float32) - np.float32(0.5)).astype(float))
        fixed = fixed.reshape(words, SIZE)
        length = [1 + i * (d - 1) if i < 2 else 1 + int(hashed(8, n)[i] % np.uint64(d)) for i in range(n)]
        tokens = (hashed(7, n * d) % np.uint64(words)).astype(np.int64).reshape(n, d)
        margin = max(k) - 1
        held = torch.zeros(n, margin + d + margin, dtype=torch.bool)
        rows = []
        for i in range(n):
            held[i, margin:margin + length[i]] = True
            t = torch.tensor(tokens[i, :length[i]])
            x = fixed[t] if channels == "static" else w["embed.weight"][t + 1]
            x = x + fixed[t] if channels == "multi" else x
            rows.append(F.pad(x, (0, 0, margin, margin + d - length[i])))
        x = torch.stack(rows)
        pooled = []
        for i in range(groups):
            kernel = w[f"conv{i + 1}.weight"].permute(1, 2, 0)
            u = F.conv1d(x.transpose(1, 2), kernel, w[f"conv{i + 1}.bias"] if bias else None)
            a = ACT[o.get("activation", "relu")](u)
            some = held.unfold(1, k[i], 1).any(2)
            a = a.masked_fill(~some[:, None, :], -np.inf)
            pooled.append(a.max(2).values)
        a = torch.cat(pooled, 1)
        if hidden:
            a = F.relu(F.linear(a, w["fc1.weight"], w["fc1.bias"]))
        z = F.linear(a, w[f"{last}.weight"], w[f"{last}.bias"])
        y = torch.tensor((hashed(2, n) % np.uint64(classes)).astype(np.int64))
        if outputs == 1:
            each = F.binary_cross_entropy_with_logits(z[:, 0], y.double(), reduction="none")
        else:
            each = F.cross_entropy(z, y, reduction="none")
        (each * torch.tensor(0.5 + unit(10, n))).mean().backward()
        print(options, d, words, classes, n, f"{each.mean().item():.12e}", file=file)
        for name, tensor in w.items():
            g = tensor.grad.numpy().ravel()
            h = hashed(0, g.size)
            sums = [(g * (1 - 2.0 * ((h >> np.uint64(8 + j)) & np.uint64(1)).astype(float))).sum() for j in range(16)]
            print(name, f"{np.linalg.norm(g):.12e}", " ".join(f"{s:.9e}" for s in sums), file=file)
