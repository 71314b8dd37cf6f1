"""A network by PyTorch on 20 clients, trained in weft's rounds:

   weft tune inputs/worker.ini worker.run='python3 inputs/clients-torch.py'

Its samples are drawn here; yours are wherever you have them. Several ranks of a node share its
GPUs, if there are any."""
import torch
import weft

CLIENTS, TRAIN, VALID, D, CLASSES = 20, 40, 10, 8, 4
gpus = torch.cuda.device_count()
device = torch.device(f"cuda:{weft.local_rank() % gpus}" if gpus else "cpu")
torch.use_deterministic_algorithms(True)
truth = torch.randn(D, CLASSES, generator=torch.Generator().manual_seed(1))
model = torch.nn.Sequential(torch.nn.Linear(D, 16), torch.nn.ReLU(), torch.nn.Linear(16, CLASSES)).to(device)
loss_of = torch.nn.functional.cross_entropy


def samples(client, part):
    generator = torch.Generator().manual_seed(100 + client)
    x = torch.randn(TRAIN + VALID, D, generator=generator)
    noise = torch.rand(TRAIN + VALID, CLASSES, generator=generator)
    y = (x @ truth - torch.log(-torch.log(noise))).argmax(1)
    own = slice(0, TRAIN) if part == "train" else slice(TRAIN, None)
    return x[own].to(device), y[own].to(device)


@torch.no_grad()
def score(x, y):
    z = model(x)
    return loss_of(z, y).item(), (z.argmax(1) != y).sum().item(), len(y)


def turn(t):
    model.load_state_dict({name: torch.tensor(array) for name, array in t.weights.items()})
    before = score(*samples(t.client, t.part)) if t.before else None
    for name, tensor in model.named_parameters():
        tensor.requires_grad_(name in t.tensors)
    x, y = samples(t.client, "train")
    optimizer = torch.optim.SGD(model.parameters(), lr=t.options.lr, momentum=t.options.momentum)
    for epoch in range(t.options.epochs if t.train and t.tensors else 0):
        for batch in t.batches(epoch):
            at = torch.tensor(batch)
            optimizer.zero_grad()
            loss_of(model(x[at]), y[at]).backward()
            optimizer.step()
    after = score(*samples(t.client, t.part)) if t.after else None
    weights = {name: tensor.cpu().numpy() for name, tensor in model.state_dict().items()}
    return t.answer(weights=weights, steps=TRAIN * t.options.epochs, before=before, after=after)


def initial(seed):
    torch.manual_seed(seed)
    for layer in model:
        if hasattr(layer, "reset_parameters"):
            layer.reset_parameters()
    return {name: tensor.cpu().numpy().copy() for name, tensor in model.state_dict().items()}


weft.serve(turn, weights=initial, train=[TRAIN] * CLIENTS, valid=[VALID] * CLIENTS, classes=CLASSES, orders=True,
           knows=["tensors"])
