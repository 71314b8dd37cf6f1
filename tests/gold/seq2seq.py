#!/usr/bin/env python3
"""Makes seq2seq.txt: loss and gradient of PyTorch's encoder and decoder with attention on the problem
of tests/t_seq2seq.c, for each pair of feed, tied a line: feed, tied, the summed loss, wrong words,
words, then the gradient of the mean over sentences, with label smoothing 0.1, in weft's order.
Then a line by whose weights of encoder and decoder are generated from embeddings of two numbers of three
languages, from the second to the third, for tests/t_context.c: the gradient of W, then of the embeddings.
Run in the top directory; needs torch. Numbers are computed in double."""
import torch
from torch import nn

SOURCE, TARGET, HIDDEN, LAYERS, SENTENCES, SMOOTHING = 13, 11, 6, 2, 5, 0.1
BEGIN, END = 1, 2
torch.set_default_dtype(torch.float64)


class Seq2Seq(nn.Module):
    def __init__(self, feed, tied):
        super().__init__()
        size = HIDDEN if tied else 5
        self.feed = feed
        self.source = nn.Embedding(SOURCE, size)
        self.encoder = nn.LSTM(size, HIDDEN // 2, LAYERS, bidirectional=True)
        self.target = nn.Embedding(TARGET, size)
        self.decoder = nn.ModuleList(nn.LSTMCell(HIDDEN if l else size + HIDDEN * feed, HIDDEN)
                                     for l in range(LAYERS))
        self.attention = nn.Linear(HIDDEN, HIDDEN, bias=False)
        self.combine = nn.Linear(2 * HIDDEN, HIDDEN, bias=False)
        self.output = nn.Linear(HIDDEN, TARGET)
        if tied:
            self.output.weight = self.target.weight

    def weights(self):
        """Parameters in weft's order; of the two biases of a layer the first."""
        yield self.source.weight
        for l in range(LAYERS):
            for d in "", "_reverse":
                yield from (getattr(self.encoder, f"{k}_l{l}{d}") for k in ("weight_ih", "weight_hh", "bias_ih"))
        yield self.target.weight
        for cell in self.decoder:
            yield from (cell.weight_ih, cell.weight_hh, cell.bias_ih)
        yield from (self.attention.weight, self.combine.weight)
        if self.output.weight is not self.target.weight:
            yield self.output.weight
        yield self.output.bias

    def forward(self, source, target):
        """Logits of one sentence: source [S], target [T] without its end."""
        e, (y, c) = self.encoder(self.source(source))
        state = [(torch.cat((y[2 * l], y[2 * l + 1])), torch.cat((c[2 * l], c[2 * l + 1]))) for l in range(LAYERS)]
        out, logits = torch.zeros(HIDDEN), []
        for word in [BEGIN] + target.tolist():
            x = self.target(torch.tensor(word))
            x = torch.cat((x, out)) if self.feed else x
            for l, cell in enumerate(self.decoder):
                state[l] = cell(x, state[l])
                x = state[l][0]
            context = torch.softmax(e @ self.attention(x), 0) @ e
            out = torch.tanh(self.combine(torch.cat((context, x))))
            logits.append(self.output(out))
        return torch.stack(logits)


def values(at, shape):
    """The rule for the weights from number `at` on."""
    i = torch.arange(at, at + shape.numel())
    return (((i * i * 7 + i * 31) % 101 - 50) / 128.0).reshape(shape)


def losses(model):
    """The smoothed loss of all sentences, their summed loss, wrong words, words."""
    loss = plain = wrong = count = 0
    for i in range(SENTENCES):
        source, target = sentence(i, SOURCE, 2), sentence(i, TARGET, 3)
        z, goal = model(source, target), torch.cat((target, torch.tensor([END])))
        loss += nn.functional.cross_entropy(z, goal, label_smoothing=SMOOTHING, reduction="sum") / SENTENCES
        plain += nn.functional.cross_entropy(z, goal, reduction="sum").item()
        wrong += (z.argmax(1) != goal).sum().item()
        count += len(goal)
    return loss, plain, wrong, count


def sentence(i, words, factor):
    n = 1 + (i * 5 + factor) % 6
    return torch.tensor([1 + (i * 3 + t * t * factor + t) % (words - 1) for t in range(n)])


def line(head, gradients, out):
    print(*head, *(f"{g:.8e}" for t in gradients for g in t.reshape(-1)), file=out)


with open("tests/gold/seq2seq.txt", "w") as out:
    for feed in 0, 1:
        for tied in 0, 1:
            model, at = Seq2Seq(feed, tied), 0
            for name, p in model.named_parameters():
                if "bias_hh" in name:
                    p.data.zero_()
            for p in model.weights():
                p.data = values(at, p.shape)
                at += p.numel()
            loss, plain, wrong, count = losses(model)
            loss.backward()
            line((feed, tied, f"{plain:.12g}", wrong, count), (p.grad for p in model.weights()), out)

    model, at, columns, theta = Seq2Seq(0, 0), 0, [], []
    names = {id(p): name for name, p in model.named_parameters()}
    for p in model.weights():
        copies = 1 if names[id(p)].split(".")[0] in ("source", "target", "output") else 2
        columns.append(values(at, torch.Size((copies, *p.shape))).requires_grad_())
        at += copies * p.numel()
    embeddings = values(at, torch.Size((3, 2))).requires_grad_()
    for name, p in model.named_parameters():
        if "bias_hh" in name:
            p.data.zero_()
    for p, w in zip(model.weights(), columns):
        l = embeddings[1 if names[id(p)].startswith("encoder") else 2]
        theta.append(w[0] if len(w) == 1 else l[0] * w[0] + l[1] * w[1])
        p.data = theta[-1].detach().clone()
    loss, plain, wrong, count = losses(model)
    loss.backward()
    torch.autograd.backward(theta, [p.grad for p in model.weights()])
    line((0, 0, f"{plain:.12g}", wrong, count), (p.grad for p in (*columns, embeddings)), out)
