#!/usr/bin/env python3
"""PyTorch's time of a gradient of the translation network of tests/b_seq2seq.c, on one thread: nn.LSTM on
packed source sentences, padded targets sorted into one batch, attention by products of batches. Prints
hidden,words,seconds,words a second; processor time, the best of several."""
import time

import torch
from torch import nn
from torch.nn.utils.rnn import pack_padded_sequence, pad_packed_sequence, pad_sequence

BATCH, LONGEST = 64, 30
torch.set_num_threads(1)


class Seq2Seq(nn.Module):
    def __init__(self, hidden, words):
        super().__init__()
        self.source, self.target = nn.Embedding(words, hidden), nn.Embedding(words, hidden)
        self.encoder = nn.LSTM(hidden, hidden // 2, 2, bidirectional=True, batch_first=True)
        self.decoder = nn.LSTM(hidden, hidden, 2, batch_first=True)
        self.attention = nn.Linear(hidden, hidden, bias=False)
        self.combine = nn.Linear(2 * hidden, hidden, bias=False)
        self.output = nn.Linear(hidden, words)

    def forward(self, source, lengths, target):
        packed = pack_padded_sequence(self.source(source), lengths, batch_first=True, enforce_sorted=False)
        e, (y, c) = self.encoder(packed)
        e, _ = pad_packed_sequence(e, batch_first=True)
        state = tuple(torch.stack([torch.cat((s[2 * l], s[2 * l + 1]), 1) for l in range(2)]) for s in (y, c))
        h, _ = self.decoder(self.target(target), state)
        score = self.attention(h) @ e.transpose(1, 2)
        score = score.masked_fill(torch.arange(e.shape[1])[None, None] >= lengths[:, None, None], -1e30)
        context = torch.softmax(score, 2) @ e
        return self.output(torch.tanh(self.combine(torch.cat((context, h), 2))))


def sentence(i, words):
    return torch.tensor([1 + (i * 31 + t * 17) % (words - 1) for t in range(5 + i * 7 % (LONGEST - 4))])


for hidden, words in (128, 2000), (256, 5000):
    model = Seq2Seq(hidden, words)
    sources = [sentence(i, words) for i in range(BATCH)]
    targets = [sentence(i + 3, words) for i in range(BATCH)]
    lengths = torch.tensor([len(s) for s in sources])
    source = pad_sequence(sources, batch_first=True)
    shifted = pad_sequence([torch.cat((torch.tensor([1]), t)) for t in targets], batch_first=True)
    goal = pad_sequence([torch.cat((t, torch.tensor([2]))) for t in targets], batch_first=True, padding_value=-1)
    best, end = 1e9, time.time() + 5
    while time.time() < end:
        start = time.process_time()
        model.zero_grad()
        z = model(source, lengths, shifted)
        used = goal.reshape(-1) >= 0
        loss = nn.functional.cross_entropy(z.reshape(-1, words)[used], goal.reshape(-1)[used], reduction="sum") / BATCH
        loss.backward()
        best = min(best, time.process_time() - start)
    total = sum(map(len, sources)) + sum(map(len, targets)) + BATCH
    print(f"{hidden},{words},{best:.4f},{total / best:.0f}")
