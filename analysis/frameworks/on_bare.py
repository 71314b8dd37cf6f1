"""Rounds by PyTorch alone: two processes, each has half of a cohort, and all_reduce."""
import random

import pair

RANK = pair.fork(2)  # before PyTorch

import torch  # noqa: E402
import torch.distributed as dist  # noqa: E402
from common import CLIENTS, COHORT, COUNT, PART, ROUNDS, SPEC, mark, network, tell, train  # noqa: E402

dist.init_process_group("gloo")
draw = random.Random(1)  # alike in both processes


def flat(model):
    return torch.nn.utils.parameters_to_vector(model.parameters()).detach()


def load(model, weights):
    torch.nn.utils.vector_to_parameters(weights.clone(), model.parameters())


def change(model, weights, client):
    load(model, weights)
    train(model, client)
    by = flat(model) - weights
    if PART == "dp":
        by *= min(1.0, SPEC["clip"] / by.norm().item())
    return by


def cohorts():
    """Of each round the clients, which version of the weights each began with, and the weight of its change."""
    speeds = [draw.lognormvariate(0, SPEC["sigma"]) for _ in range(CLIENTS)]
    busy, now = {}, 0.0
    for version in range(ROUNDS):
        if PART != "fedbuff":
            yield [(c, version, COUNT[c, 0] if PART == "fedavg" else 1) for c in draw.sample(range(CLIENTS), COHORT)]
            continue
        done = []
        while len(done) < COHORT:
            while len(busy) < SPEC["concurrency"]:
                client = draw.choice([c for c in range(CLIENTS) if c not in busy])
                busy[client] = (now + COUNT[client, 0] / speeds[client], version)
            client = min(busy, key=busy.get)
            now, begun = busy.pop(client)
            done.append((client, begun, (1 + version - begun) ** -0.5 * COUNT[client, 0]))
        yield done


model = network()
versions = [flat(model)]
for cohort in cohorts():
    total = torch.zeros_like(versions[-1])
    for client, begun, weight in cohort[RANK::2]:
        total += weight * change(model, versions[begun], client)
    dist.all_reduce(total)
    if PART == "dp":  # the same noise in both
        torch.manual_seed(1000 + len(versions))
        total += SPEC["noise"] * SPEC["clip"] * torch.randn(len(total))
        torch.manual_seed(2 * len(versions) + RANK)
    versions.append(versions[-1] + total / (sum(w for _, _, w in cohort)))
    if PART != "fedbuff":
        versions[-2] = None
    mark()
if RANK == 0:
    load(model, versions[-1])
    tell(model)
