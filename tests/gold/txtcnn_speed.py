#!/usr/bin/env python3
"""What a training step of Kim's network over sentences takes with PyTorch: one-dimensional
convolutions over batches that are padded to their longest sentence, one thread.

usage: tests/gold/txtcnn_speed.py [static|nonstatic|multi ...] [--dir rt-polaritydata] [--steps 20]

Sentences have the lengths of the files in --dir (rt-polarity.pos, rt-polarity.neg), without it 4 to
37 words, 20.5 on average, and words drawn at random. 100 filters each of 3, 4 and 5 words, vectors
of 300 numbers, steps of 50 sentences by Adadelta, dropout 0.5, rows of the last layer no longer than
3. multi: the sum of fixed and trained vectors, which one set of filters sees. Prints the middle of
three measurements, processor time. inputs/mr-cnn.ini trains the same network. Needs torch.
"""
import argparse
import statistics
import time

import torch
import torch.nn.functional as F
from torch import nn

WORDS, DIM, FILTERS, WIDTHS, BATCH, NORM = 18765, 300, 100, (3, 4, 5), 50, 3
KINDS = ("static", "nonstatic", "multi")


class Net(nn.Module):
    def __init__(self, kind):
        super().__init__()
        fixed, trained = kind != "nonstatic", kind != "static"
        self.fixed = nn.Embedding(WORDS + 1, DIM, padding_idx=0).requires_grad_(False) if fixed else None
        self.trained = nn.Embedding(WORDS + 1, DIM, padding_idx=0) if trained else None
        self.convs = nn.ModuleList(nn.Conv1d(DIM, FILTERS, k, padding=k - 1) for k in WIDTHS)
        self.last = nn.Linear(FILTERS * len(WIDTHS), 1)

    def forward(self, words):
        x = sum(e(words) for e in (self.fixed, self.trained) if e is not None).transpose(1, 2)
        pooled = torch.cat([F.relu(c(x)).amax(2) for c in self.convs], 1)
        return self.last(F.dropout(pooled, 0.5, self.training))[:, 0]


def lengths_of(directory):
    if not directory:
        return [4 + i % 34 for i in range(10662)]
    lines = []
    for end in ("pos", "neg"):
        with open("%s/rt-polarity.%s" % (directory, end), encoding="latin-1") as f:
            lines += [max(len(line.split()), 1) for line in f]
    return lines


def batches(lengths, steps):
    """Padded words [BATCH][longest] and classes of so many steps; 0 pads."""
    for _ in range(steps):
        n = [lengths[i] for i in torch.randint(len(lengths), (BATCH,)).tolist()]
        words = torch.randint(1, WORDS + 1, (BATCH, max(n)))
        words[torch.arange(max(n)) >= torch.tensor(n)[:, None]] = 0
        yield words, torch.randint(2, (BATCH,)).float()


def seconds(net, step, lengths, steps):
    start = time.process_time()
    for words, classes in batches(lengths, steps):
        step.zero_grad()
        F.binary_cross_entropy_with_logits(net(words), classes).backward()
        step.step()
        with torch.no_grad():
            net.last.weight.copy_(torch.renorm(net.last.weight, 2, 0, NORM))
    return (time.process_time() - start) / steps


def main():
    parse = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parse.add_argument("kind", nargs="*", default=KINDS, help="static, nonstatic, multi")
    parse.add_argument("--dir", help="rt-polarity.pos and .neg, for their lengths")
    parse.add_argument("--steps", type=int, default=20, help="of a measurement")
    given = parse.parse_args()
    torch.set_num_threads(1)
    torch.manual_seed(1)
    lengths = lengths_of(given.dir)
    for kind in given.kind:
        if kind not in KINDS:
            parse.error("no kind %s: %s" % (kind, ", ".join(KINDS)))
        net = Net(kind)
        step = torch.optim.Adadelta([p for p in net.parameters() if p.requires_grad], lr=1, rho=0.95, eps=1e-6)
        seconds(net, step, lengths, 3)
        each = statistics.median(seconds(net, step, lengths, given.steps) for _ in range(3))
        print("%s: %.1f ms a step, %.0f sentences/s, torch %s" % (kind, 1e3 * each, BATCH / each, torch.__version__))


if __name__ == "__main__":
    main()
