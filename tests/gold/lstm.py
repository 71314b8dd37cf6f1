#!/usr/bin/env python3
"""Makes lstm.txt: loss and gradient of PyTorch's LSTM on the problem of tests/t_lstm.c.
For every = 0 and 1 a line: every, loss, wrong, then the gradient, in weft's order of tensors.
Run in the top directory; needs torch. Numbers are computed in double."""
import torch
from torch import nn

SYMBOLS, EMBEDDING, HIDDEN, STEPS, BATCH = 11, 3, 9, 7, 5
torch.set_default_dtype(torch.float64)


class CharLSTM(nn.Module):
    def __init__(self):
        super().__init__()
        self.embed = nn.Embedding(SYMBOLS, EMBEDDING)
        self.lstm = nn.LSTM(EMBEDDING, HIDDEN, num_layers=2, batch_first=True)
        self.dense = nn.Linear(HIDDEN, SYMBOLS)


model = CharLSTM()
at = 0
for tensor in model.parameters():
    i = torch.arange(at, at + tensor.numel())
    tensor.data = (((i * i * 7 + i * 31) % 101 - 50) / 128.0).reshape(tensor.shape)
    at += tensor.numel()
i, t = torch.arange(BATCH)[:, None], torch.arange(STEPS + 1)[None, :]
text = (i * i * 3 + t * t * 5 + i * t + 1) % SYMBOLS

with open("tests/gold/lstm.txt", "w") as out:
    for every in 0, 1:
        y = model.lstm(model.embed(text[:, :-1]))[0]
        y, target = (y, text[:, 1:]) if every else (y[:, -1:], text[:, -1:])
        z = model.dense(y).reshape(-1, SYMBOLS)
        target = target.reshape(-1)
        loss = nn.functional.cross_entropy(z, target)
        model.zero_grad()
        loss.backward()
        print(every, f"{loss.item():.12g}", (z.argmax(1) != target).sum().item(),
              *(f"{g:.8e}" for p in model.parameters() for g in p.grad.reshape(-1)), file=out)
