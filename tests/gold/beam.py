#!/usr/bin/env python3
"""Makes beam.txt: translations by a plain beam search of the network of tests/t_seq2seq.c, written
here once more, without weft or PyTorch. A line for each setting: feed, beam, penalty, then the words
of each sentence, their number first. Words 3 and 7 are equal in all, so that translations tie, of
which the first counts. Run in the top directory; needs NumPy."""
import numpy as np

SOURCE, TARGET, HIDDEN, SIZE, LAYERS, SENTENCES, LONGEST = 13, 11, 6, 5, 2, 30, 16
BEGIN, END, SCALE = 1, 2, 5
MARGIN = 1e-5  # of the scores of any two translations that are told apart


def sigmoid(x):
    return 1 / (1 + np.exp(-x))


def lstm(cell, x, y, c):
    """One step by weights [4 h][in], [4 h][h] and biases, gates in PyTorch's order."""
    i, f, g, o = np.split(cell[0] @ x + cell[1] @ y + cell[2], 4)
    c = sigmoid(f) * c + sigmoid(i) * np.tanh(g)
    return sigmoid(o) * np.tanh(c), c


class Network:
    def __init__(self, feed):
        self.feed, self.at, h = feed, 0, HIDDEN
        self.source = self.take(SOURCE, SIZE)
        self.encoder = [[self.cell(HIDDEN if l else SIZE, h // 2) for _ in range(2)] for l in range(LAYERS)]
        self.target = self.take(TARGET, SIZE)
        self.decoder = [self.cell(HIDDEN if l else SIZE + feed * h, h) for l in range(LAYERS)]
        self.attention, self.combine = self.take(h, h), self.take(h, 2 * h)
        self.output, self.bias = self.take(TARGET, h), self.take(TARGET)
        self.output[7], self.bias[7] = self.output[3], self.bias[3]
        self.target[7] = self.target[3]

    def take(self, *shape):
        """The rule for the next weights."""
        i = self.at + np.arange(np.prod(shape))
        self.at += len(i)
        return SCALE * (((i * i * 7 + i * 31) % 101 - 50) / 128).reshape(shape)

    def cell(self, size, h):
        return self.take(4 * h, size), self.take(4 * h, h), self.take(4 * h)

    def encode(self, source):
        x, self.state = [self.source[word] for word in source], []
        for forward, backward in self.encoder:
            ways = []
            for cell, order in (forward, range(len(x))), (backward, range(len(x))[::-1]):
                y, c, out = np.zeros(HIDDEN // 2), np.zeros(HIDDEN // 2), [None] * len(x)
                for t in order:
                    y, c = lstm(cell, x[t], y, c)
                    out[t] = y
                ways.append((out, y, c))
            self.state.append(tuple(np.concatenate((ways[0][k], ways[1][k])) for k in (1, 2)))
            x = [np.concatenate(pair) for pair in zip(ways[0][0], ways[1][0])]
        self.memory = np.array(x)

    def step(self, state, word):
        """Log probabilities of the next word; the state after it."""
        cells, fed = state
        x, after = np.concatenate((self.target[word], fed)) if self.feed else self.target[word], []
        for cell, (y, c) in zip(self.decoder, cells):
            after.append(lstm(cell, x, y, c))
            x = after[-1][0]
        score = self.memory @ (self.attention @ x)
        weight = np.exp(score - score.max())
        context = weight @ self.memory / weight.sum()
        out = np.tanh(self.combine @ np.concatenate((context, x)))
        z = (self.output * out).sum(1) + self.bias  # equal rows have equal bits
        return z - z.max() - np.log(np.exp(z - z.max()).sum()), (after, out)


def told_apart(scores):
    gaps = -np.diff(scores)
    assert all(gap == 0 or gap > MARGIN for gap in gaps), gaps.min()


def search(network, source, beam, penalty):
    network.encode(source)
    live, ended = [(0.0, [], (network.state, np.zeros(HIDDEN)))], []
    most = min(2 * len(source) + 10, LONGEST)
    by_length = lambda score, words: score / ((5 + len(words) + 1) / 6) ** penalty
    for t in range(most + 1):
        after = [network.step(state, words[-1] if words else BEGIN) for _, words, state in live]
        best = [(score + told[w], words, w, state)
                for (score, words, _), (told, state) in zip(live, after) for w in range(TARGET)]
        best.sort(key=lambda x: -x[0])
        told_apart([x[0] for x in best[:2 * beam + 1]])
        ended += [(by_length(score, words), words) for score, words, w, _ in best[:beam] if w == END]
        if t == most and not ended:
            ended.append((by_length(live[0][0], live[0][1]), live[0][1]))
        if len(ended) >= beam:
            break
        live = [(score, words + [w], state) for score, words, w, state in best[:2 * beam] if w != END][:beam]
    told_apart(sorted((x for x, _ in ended), reverse=True))
    return max(ended, key=lambda x: x[0])[1]


def sentence(i, words, factor):
    n = 1 + (i * 5 + factor) % 6
    return [1 + (i * 3 + t * t * factor + t) % (words - 1) for t in range(n)]


with open("tests/gold/beam.txt", "w") as out:
    for feed in 0, 1:
        network = Network(feed)
        for beam in 1, 2, 3, 5:
            for penalty in (0, 0.7, 2.5) if beam > 1 else (0,):
                said = [search(network, sentence(i, SOURCE, 2), beam, penalty) for i in range(SENTENCES)]
                print(feed, beam, penalty, *(x for words in said for x in (len(words), *words)), file=out)
