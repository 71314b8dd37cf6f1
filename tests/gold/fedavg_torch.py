#!/usr/bin/env python3
"""The same rounds of FedAvg by PyTorch: cohorts, initial weights, batches and validation samples
are those of a run of weft, the network and its gradients are PyTorch's.

usage: fedavg_torch.py DATA.h5 RUN.h5 [ROUNDS]        needs torch, h5py, numpy

RUN.h5 is a run of one configuration on a federation of text (fed.model = lstm, two biases, no
dropout, fed.score_both = yes, no replacement, server sgd without momentum). Prints for every round
the share of wrong answers of the cohort before and after local training, by weft and by
PyTorch, and at the end the largest and mean differences in points.
"""

import configparser
import sys

import h5py
import numpy as np
import torch

COHORT, BATCH, WEIGHTS = 12, 13, 11  # purposes of random numbers, rng.h


def philox(seed, purpose, a, b, c):
    """Four words of Philox4x64-10 with counter (a, b, c, 0)."""
    counter = (a + (b << 64) + (c << 128) - 1) % (1 << 256)  # numpy counts before it draws
    words = [(counter >> (64 * i)) & (2**64 - 1) for i in range(4)]
    bits = np.random.Philox(counter=np.array(words, np.uint64),
                            key=np.array([seed, purpose], np.uint64))
    return bits.random_raw(4)


def units(words):
    return (words >> np.uint64(11)).astype(np.float64) * 2.0**-53


def draw(seed, purpose, a, b, n, take, quarter):
    """The first `take` of a shuffle of 0 .. n-1; quarter(i): third counter and word of step i."""
    order = np.arange(n)
    for i in range(take):
        key, word = quarter(i)
        if word == 0 or i == 0:
            r = philox(seed, purpose, *key)
        j = i + int(units(r)[word] * (n - i))
        order[i], order[j] = order[j], order[i]
    return order[:take]


class Net(torch.nn.Module):
    def __init__(self, symbols, embedding, hidden, layers, every):
        super().__init__()
        self.embed = torch.nn.Embedding(symbols, embedding)
        self.lstm = torch.nn.LSTM(embedding, hidden, layers, batch_first=True)
        self.dense = torch.nn.Linear(hidden, symbols)
        self.every = every

    def forward(self, x):
        h = self.lstm(self.embed(x))[0]
        return self.dense(h if self.every else h[:, -1])


def initial(net, seed):
    """Weights as weft draws them."""
    most = 1 / np.sqrt(net.lstm.hidden_size)
    for k, p in enumerate(net.parameters()):
        n = p.numel()
        u = units(np.concatenate([philox(seed, WEIGHTS, k, i, 0) for i in range((n + 3) // 4)]))
        if k == 0:  # the embedding is normal: Box-Muller
            radius, angle = np.sqrt(-2 * np.log(1 - u[0::2])), 2 * np.pi * u[1::2]
            u = np.stack([radius * np.cos(angle), radius * np.sin(angle)], 1).ravel()
        else:
            u = most * (2 * u - 1)
        p.data = torch.tensor(u[:n].astype(np.float32)).reshape(p.shape)


class Federation:
    def __init__(self, path):
        f = h5py.File(path)
        self.text, self.first, self.count = f["text"][:], f["client/first"][:], f["client/count"][:]
        self.stride, self.d, self.gap = (int(f.attrs[k]) for k in ("stride", "columns", "gap"))
        self.symbols = int(f.attrs["symbols"])

    def windows(self, client, part):
        train, valid, _ = (int(x) for x in self.count[client])
        start = (0, train + self.gap, train + valid + 2 * self.gap)[part]
        at = self.first[client] + (start + np.arange(self.count[client][part])) * self.stride
        return torch.tensor(self.text[at[:, None] + np.arange(self.d + 1)].astype(np.int64))


def loss_of(net, w):
    if net.every:
        z, y = net(w[:, :-1]).reshape(-1, net.embed.num_embeddings), w[:, 1:].reshape(-1)
    else:
        z, y = net(w[:, :-1]), w[:, -1]
    return torch.nn.functional.cross_entropy(z, y), (z.argmax(1) != y).sum().item(), len(y)


def score(net, w):
    wrong = count = 0
    with torch.no_grad():
        for i in range(0, len(w), 64):
            _, bad, n = loss_of(net, w[i:i + 64])
            wrong, count = wrong + bad, count + n
    return wrong, count


def main():
    data, run = Federation(sys.argv[1]), h5py.File(sys.argv[2])
    conf = configparser.ConfigParser()
    conf.read_string(run["winner"].attrs["config"])
    fed, client, lstm = conf["fed"], conf["client"], conf["lstm"] if "lstm" in conf else {}
    seed, cohort = int(conf["run"].get("seed", 1)), int(fed.get("cohort", 10))
    cap, most = int(fed.get("max_valid", 0)), int(client.get("max_samples", 0))
    batch, epochs = int(float(client.get("batch", 10))), int(float(client.get("epochs", 1)))
    net = Net(data.symbols, int(lstm.get("embedding", 8)), int(lstm.get("hidden", 256)),
              int(lstm.get("layers", 2)), fed.get("target", "last") == "all")
    initial(net, seed)
    torch.set_num_threads(1)
    before, after = run["rounds/before_error"][:], run["rounds/after_error"][:]
    rounds = min(int(sys.argv[3]) if len(sys.argv) > 3 else len(before), len(before))
    apart = []
    print("round  before: weft   torch   after: weft   torch  (% wrong)")
    for r in range(rounds):
        drawn = draw(seed, COHORT, r, 0, len(data.count), cohort,
                     lambda i: ((r, i, 0), 0))
        base = [p.detach().clone() for p in net.parameters()]
        mean, weight, seen = [torch.zeros_like(p, dtype=torch.float64) for p in base], 0, np.zeros(3)
        for c in map(int, drawn):
            for p, w in zip(net.parameters(), base):
                p.data = w.clone()
            train, valid = data.windows(c, 0), data.windows(c, 1)
            n = len(valid) if cap == 0 else min(cap, len(valid))
            valid = valid[[int(i * len(valid) / n) for i in range(n)]]
            seen[0] += score(net, valid)[0]
            sgd = torch.optim.SGD(net.parameters(), lr=float(client.get("lr", 0.1)),
                                  momentum=float(client.get("momentum", 0)),
                                  weight_decay=float(client.get("weight_decay", 0)))
            take = len(train) if most == 0 else min(most, len(train))
            for e in range(epochs):
                order = draw(seed, BATCH, r, c, len(train), take,
                             lambda i: ((r, c, (e << 40) | (i // 4)), i % 4))
                for i in range(0, take, batch):
                    sgd.zero_grad()
                    loss_of(net, train[order[i:i + batch]])[0].backward()
                    sgd.step()
            bad, n = score(net, valid)
            seen[1:] += bad, n
            for m, p, w in zip(mean, net.parameters(), base):
                m += take * (p.detach() - w).double()
            weight += take
        for p, m, w in zip(net.parameters(), mean, base):
            p.data = (w.double() + m / weight).float()
        mine = 100 * seen[:2] / seen[2]
        apart.append(np.abs(mine - 100 * np.array([before[r], after[r]])))
        print(f"{r:5d} {100 * before[r]:13.3f} {mine[0]:7.3f} {100 * after[r]:13.3f} {mine[1]:7.3f}",
              flush=True)
    apart = np.array(apart)
    print(f"difference in points: largest {apart.max():.3f}, mean {apart.mean():.4f}, "
          f"of the last ten rounds {apart[-10:].mean():.4f}")


if __name__ == "__main__":
    main()
