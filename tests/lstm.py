"""The character LSTM by PyTorch as a worker: network, initial weights and windows are weft's.

usage: lstm.py PACKED.h5 HIDDEN        every character of a window is predicted
"""
import os
import sys

import torch
import weft

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "gold"))
from fedavg_torch import Federation, Net, initial, loss_of  # noqa: E402

torch.set_num_threads(int(os.environ["OMP_NUM_THREADS"]))
torch.use_deterministic_algorithms(True)
data = Federation(sys.argv[1])
model = Net(data.symbols, 8, int(sys.argv[2]), 2, True)


@torch.no_grad()
def score(windows):
    told = [loss_of(model, windows[i:i + 64]) for i in range(0, len(windows), 64)]
    count = sum(n for _, _, n in told)
    return sum(loss.item() * n for loss, _, n in told) / count, sum(wrong for _, wrong, _ in told), count


def turn(t):
    model.load_state_dict({name: torch.tensor(array) for name, array in t.weights.items()})
    scored = data.windows(t.client, weft.PARTS.index(t.part))
    scored = scored[t.spread(len(scored))]
    before = score(scored) if t.before else None
    train = data.windows(t.client, 0)
    sgd = torch.optim.SGD(model.parameters(), lr=t.options.lr, momentum=t.options.momentum)
    for epoch in range(t.options.epochs if t.train else 0):
        for batch in t.batches(epoch):
            sgd.zero_grad()
            loss_of(model, train[batch])[0].backward()
            sgd.step()
    return t.answer(weights={name: tensor.numpy() for name, tensor in model.state_dict().items()},
                    steps=t.samples * t.options.epochs, before=before, after=score(scored) if t.after else None)


def first(seed):
    initial(model, seed)
    return {name: tensor.numpy() for name, tensor in model.state_dict().items()}


weft.serve(turn, weights=first, train=data.count[:, 0], valid=data.count[:, 1], test=data.count[:, 2],
           classes=data.symbols, orders=True)
