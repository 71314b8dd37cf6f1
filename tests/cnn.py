"""A convolutional network by PyTorch as a worker, for the clients of packed images.

usage: cnn.py PACKED.h5
"""
import sys

import h5py
import torch
import weft

torch.set_num_threads(1)
torch.use_deterministic_algorithms(True)
data = h5py.File(sys.argv[1])
first, count, label = data["client/first"][:], data["client/count"][:].astype(int), data["label"][:].astype(int)
channels, height, width = (int(data.attrs[k]) for k in ("channels", "height", "width"))
classes = int(data.attrs["classes"])
model = torch.nn.Sequential(
    torch.nn.Conv2d(channels, 8, 5, stride=2, padding=2), torch.nn.ReLU(), torch.nn.MaxPool2d(2),
    torch.nn.Conv2d(8, 16, 3, padding=1), torch.nn.ReLU(), torch.nn.MaxPool2d(2),
    torch.nn.Flatten(), torch.nn.Linear(16 * (height // 8) * (width // 8), classes))
loss_of = torch.nn.functional.cross_entropy


def samples(client, part):
    p = weft.PARTS.index(part)
    at = first[client] + count[client, :p].sum()
    end = at + count[client, p]
    x = torch.tensor(data["x"][at:end]).reshape(-1, channels, height, width)
    return x.float() / 255, torch.tensor(label[at:end])


@torch.no_grad()
def score(x, y):
    z = model(x)
    return loss_of(z, y).item(), int((z.argmax(1) != y).sum()), len(y)


def turn(t):
    model.load_state_dict({name: torch.tensor(array) for name, array in t.weights.items()})
    x, y = samples(t.client, t.part)
    at = t.spread(len(y))
    x, y = x[at], y[at]
    before = score(x, y) if t.before else None
    if t.train:
        own, labels = samples(t.client, "train")
        sgd = torch.optim.SGD(model.parameters(), lr=t.options.lr, momentum=t.options.momentum)
        for epoch in range(t.options.epochs):
            for batch in t.batches(epoch):
                sgd.zero_grad()
                loss_of(model(own[batch]), labels[batch]).backward()
                sgd.step()
    return t.answer(weights={name: tensor.numpy() for name, tensor in model.state_dict().items()},
                    steps=t.samples * t.options.epochs, before=before, after=score(x, y) if t.after else None)


def initial(seed):
    torch.manual_seed(seed)
    for layer in model:
        if hasattr(layer, "reset_parameters"):
            layer.reset_parameters()
    return {name: tensor.numpy() for name, tensor in model.state_dict().items()}


weft.serve(turn, weights=initial, train=count[:, 0], valid=count[:, 1], test=count[:, 2], classes=classes,
           orders=True)
