#!/usr/bin/env python3
"""Makes rounds.txt: rounds of federated training by NumPy in double precision, written from the papers that
src/algorithm/*.c cite and from the options' help, for tests/t_fed_rounds.c. Samples are those of tests/toy.h, random
numbers those of include/weft/base/random.h. Each case has its input file and what weft must find: after all jobs the state x,
what clients keep behind the number of their turns, the columns of rounds, results, scores, predictions.
Run in the top directory; needs numpy and scipy."""
import math

import numpy as np
from scipy.stats import t as student

SEED, D, C, HIDDEN, EVALUATION = 3, 5, 3, 4, 1 << 53
COUNT = [(12, 4, 3), (7, 3, 2), (16, 5, 2), (0, 2, 2), (9, 0, 3), (5, 2, 0), (23, 6, 4), (1, 1, 1)]
WEIGHTS, COHORT, BATCH, PICK, DEVICE, CLIENT, TEST = 11, 12, 13, 14, 16, 17, 18
TRAIN, VALID, TESTED = range(3)
TENSOR = {"fc1.weight": (0, 20), "fc1.bias": (20, 24), "fc2.weight": (24, 36), "fc2.bias": (36, 39)}
N = 39
WORST = 2 * math.log(C)
FLOPS = 2 * 2 * D * HIDDEN + 3 * 2 * HIDDEN * C  # of a sample's gradient; inputs need none
DEFAULT = {
    "fed": dict(algorithm="fedavg", cohort=10, average="weighted", score="error", score_weights="personal",
                select="pooled", pool=10, score_both="no", max_valid=0, eval_clients=-1, eval_every=0, test_clients=0,
                new_clients=0, new_epochs=1),
    "client": dict(lr=0.1, momentum=0, weight_decay=0, mu=0, clip=0, batch=10, epochs=1, max_samples=0, max_change=16),
    "server": dict(lr=1, momentum=0, decay=0),
    "device": dict(speed="constant", sample_seconds=0, flops=0, up=0, down=0, latency=0, availability=1, dropout=0,
                   power=0, byte_energy=0, deadline=0, over=1),
    "ditto": {"lambda": 1, "lr": 0, "epochs": 0}, "fedper": dict(own="last"), "fedrep": dict(own="last", epochs=1),
    "feddyn": dict(alpha=0.1), "deltasgd": dict(gamma=2, delta=0.1), "fedexp": dict(eps=0.001),
    "fedhyper": dict(gamma=3),
    "apfl": dict(share=0.5, rate=0.01),
    "knn": {"k": 10, "lambda": 0.5, "sigma": 1},
    "cpg": dict(generate="last", size=8, lr=1, lr_embedding=1, spread=0.1, bias="yes", embedding="learnt")}


# ---- random numbers and samples ----

def words(purpose, a, b, c, seed=SEED):
    """Philox4x64-10 with counter (a, b, c, 0); numpy counts before it draws."""
    counter = (a + (b << 64) + (c << 128) - 1) % (1 << 256)
    bits = np.random.Philox(counter=np.array([counter >> 64 * i & (1 << 64) - 1 for i in range(4)], np.uint64),
                            key=np.array([seed, purpose], np.uint64))
    return [int(w) for w in bits.random_raw(4)]


def unit(word):
    return (word >> 11) * 2.0 ** -53


def normal(w):
    return math.sqrt(-2 * math.log(1 - unit(w[0]))) * math.cos(2 * math.pi * unit(w[1]))


def make_samples():
    i, x, label = 0, [], []
    for c, count in enumerate(COUNT):
        x.append([])
        label.append([])
        for _ in range(sum(count)):
            label[c].append(words(TEST, i, 99, 0, 5)[0] % C)
            x[c].append([float(np.float32(normal(words(TEST, i, d, 0, 5)) + (1.5 if d == label[c][-1] else 0)
                                          + 0.1 * (c % 4))) for d in range(D)])
            i += 1
    return [np.array(rows).reshape(-1, D) for rows in x], [np.array(row, int) for row in label]


X, LABEL = make_samples()


def part(c, which):
    at = sum(COUNT[c][:which])
    return X[c][at:at + COUNT[c][which]], LABEL[c][at:at + COUNT[c][which]]


def shuffled(round_, client, epoch, n, take):
    order = list(range(n))
    for i in range(take):
        j = i + int(unit(words(BATCH, round_, client, (epoch << 40) + i // 4)[i % 4]) * (n - i))
        order[i], order[j] = order[j], order[i]
    return order[:take]


def drawn(group, round_, m):
    place = list(range(len(group)))
    for i in range(m):
        j = i + int(unit(words(COHORT, round_, i, 0)[0]) * (len(group) - i))
        place[i], place[j] = place[j], place[i]
    return [group[p] for p in place[:m]]


# ---- a perceptron ----

def first_weights():
    w = np.zeros(N)
    for i, (at, end) in enumerate(TENSOR.values()):
        bound = 1 / math.sqrt(D if i < 2 else HIDDEN)
        for e in range(end - at):
            w[at + e] = np.float32(bound * (2 * unit(words(WEIGHTS, i, e // 4, 0)[e % 4]) - 1))
    return w


def hidden(w, x):
    return np.maximum(x @ w[:20].reshape(HIDDEN, D).T + w[20:24], 0)


def probable(w, x):
    z = hidden(w, x) @ w[24:36].reshape(C, HIDDEN).T + w[36:]
    z = np.exp(z - z.max(axis=1, keepdims=True))
    return z / z.sum(axis=1, keepdims=True)


def losses(p, label):
    return -np.log(p[np.arange(len(label)), label]).sum()


def gradient(w, x, label):
    """Of the mean loss, and the sum of losses."""
    h, p = hidden(w, x), probable(w, x)
    loss = losses(p, label)
    p[np.arange(len(label)), label] -= 1
    p /= len(label)
    back = (p @ w[24:36].reshape(C, HIDDEN)) * (h > 0)
    return np.concatenate([(back.T @ x).ravel(), back.sum(axis=0), (p.T @ h).ravel(), p.sum(axis=0)]), loss


def clipped(g, most):
    return g * min(1, most / (np.linalg.norm(g) + 1e-6)) if most else g


def chosen(names):
    """Which numbers of a model these tensors are."""
    names = "fc2.weight,fc2.bias" if names == "last" else ",".join(TENSOR) if names == "all" else names
    mask = np.zeros(N, bool)
    for name in names.split(","):
        if name != "none":
            mask[slice(*TENSOR[name])] = True
    return mask


# ---- a client ----

class Client:
    """One that takes part, with the options that it drew."""

    def __init__(self, fed, number, conf, round_):
        self.fed, self.number, self.round = fed, number, round_
        self.o = {section: dict(keys) for section, keys in fed.o.items()}
        if fed.axis:
            self.o[fed.axis[0]][fed.axis[1]] = conf
        self.client = self.o["client"]
        self.own = self.o.get(fed.name, {})
        self.x, self.label = part(number, TRAIN)
        n, most = len(self.x), self.client["max_samples"]
        self.n = min(n, most) if most else n
        self.weight = 0 if self.n == 0 else 1 if fed.plain else self.n
        self.steps_of_course = self.client["epochs"] * -(-self.n // self.client["batch"])
        self.turns, self.kept = fed.kept.get(number, (0, None))
        if self.kept is None:
            self.kept = fed.first(self)
        self.kept = self.kept.copy()
        self.steps = self.train_loss = self.train_count = 0
        self.diverged = self.late = self.lost = self.count = 0
        self.loss, self.wrong, self.weighed = [0, 0], [0, 0], [0, 0]

    def epochs_charged(self):
        """Passes over its samples that its device makes."""
        epochs = self.client["epochs"]
        if self.fed.name == "ditto":
            return epochs + (self.own["epochs"] or epochs)
        if self.fed.name == "apfl":
            return 2 * epochs
        return epochs + (self.own["epochs"] if self.fed.name == "fedrep" and self.fed.mask.any() else 0)

    def train(self, w, anchor, drift=0, held=None, **changed):
        """SGD as torch.optim.SGD makes it; numbers that are held stay. With `blend`, a vector and a share, these are
        changed beside each step, as APFL does it."""
        o = {**self.client, **changed}
        w, velocity, losses, last = w.copy(), np.zeros(N), self.train_count == 0, None
        free = np.ones(N, bool) if held is None else ~held
        for epoch in range(o["epochs"]):
            order = shuffled(self.round, self.number, epoch, len(self.x), self.n)
            for i in range(0, self.n, o["batch"]):
                rows = order[i:i + o["batch"]]
                x, label = self.x[rows], self.label[rows]
                if "blend" in o:
                    v, a = o["blend"]
                    g, _ = gradient(a * v + (1 - a) * w, x, label)
                    o["blend"][1] = min(max(a - self.own["rate"] * ((v - w) @ g), 0), 1)
                    v -= o["lr"] * a * clipped(g, o["clip"])
                g, loss = gradient(w, x, label)
                g = (g + drift) * free
                if self.fed.name == "deltasgd":
                    last = self.paced(last, w.copy(), g, o["lr"])
                    o["lr"] = last[2]
                g = g + o["mu"] * (w - anchor) * free
                g = clipped(g, o["clip"]) + o["weight_decay"] * w
                velocity = o["momentum"] * velocity + g
                w -= o["lr"] * velocity * free
                self.steps += len(rows)
                if losses:
                    self.train_loss += loss
                    self.train_count += len(rows)
        return w

    def paced(self, last, w, g, rate):
        """Weights, gradient, rate and its ratio to the rate before, of this step."""
        if last is None:
            return w, g, rate, 1
        old_w, old_g, old, ratio = last
        rate = math.sqrt(1 + self.own["delta"] * ratio) * old
        if (w != old_w).any() and (g != old_g).any():
            rate = min(rate, self.own["gamma"] * np.linalg.norm(w - old_w) / (2 * np.linalg.norm(g - old_g)))
        return w, g, rate, rate / old

    def answer(self, w, x):
        """Probabilities of the classes with the client's own samples."""
        p, near = probable(w, x), self.own["lambda"]
        if len(self.x) == 0:
            return p
        for row, h in zip(p, hidden(w, x)):
            away = np.sqrt(((hidden(w, self.x) - h) ** 2).sum(axis=1))
            k = np.argsort(away, kind="stable")[:self.own["k"]]
            e = np.exp((away[k].min() - away[k]) / self.own["sigma"])
            row *= 1 - near
            np.add.at(row, self.label[k], near * e / e.sum())
        return p

    def score(self, stage, w, which, cap, most):
        x, label = part(self.number, which)
        n = min(cap, len(x)) if cap else len(x)
        at = [int(i * len(x) / n) for i in range(n)]
        knn = stage == 1 and self.fed.name == "knn"
        p = (self.answer if knn else probable)(w, x[at]) if n else np.zeros((0, C))
        self.loss[stage] = min(losses(p, label[at]), most * n) if n else 0
        wrong = p.argmax(axis=1) != label[at]
        self.wrong[stage], self.weighed[stage] = int(wrong.sum()), self.fed.of_class[label[at]] @ wrong
        self.count = n

    def fail(self, which, cap):
        n = COUNT[self.number][which]
        self.count = min(cap, n) if cap else n
        self.loss[1], self.wrong[1], self.weighed[1] = WORST * self.count, self.count, self.count


# ---- a federation ----

class Federation:
    def __init__(self, text, arms=(None,), update=None):
        self.o, self.axis, section = {s: dict(keys) for s, keys in DEFAULT.items()}, None, None
        for line in text.strip().split("\n"):
            if line[0] == "[":
                section = line[1:-1]
                continue
            key, value = line.split(" = ")
            if " .. " in value:
                self.axis = section, key
            elif section != "mlp" and key != "model":
                self.o[section][key] = type(DEFAULT[section][key])(value) if isinstance(DEFAULT[section][key], str) \
                    else float(value) if "." in value or "e" in value else int(value)
        self.arms, self.update = arms, update
        if self.axis and len(arms) == 1:
            self.o[self.axis[0]][self.axis[1]] = arms[0]
        self.fed, self.name = self.o["fed"], self.o["fed"]["algorithm"]
        self.own = self.o.get(self.name, {})
        self.plain = self.fed["average"] == "plain" or self.name in ("scaffold", "feddyn")
        names = self.own.get("own", self.own.get("generate"))
        self.mask = chosen(names) if names else None
        self.old, self.new = [], []
        for c in range(len(COUNT)):
            fresh = unit(words(COHORT, (1 << 64) - 1, c, 0)[0]) < self.fed["new_clients"]
            (self.new if fresh else self.old).append(c)
        self.x, self.slot = first_weights(), np.zeros(N)
        self.shared = np.zeros(N) if self.name in ("scaffold", "feddyn", "fedhyper") else None
        self.factor = 1
        if self.name == "cpg":
            self.begin_generator()
        self.kept, self.round, self.steps, self.trial, self.rows = {}, 0, 0, None, []
        self.worst = WORST if self.fed["score"] == "loss" else 1
        classes = np.bincount(np.concatenate([part(c, VALID)[1] for c in self.old]), minlength=C)
        self.of_class = classes.sum() / (C * classes)

    # ---- what clients keep, and their models ----

    def begin_generator(self):
        n, size = self.mask.sum(), self.own["size"]
        first = self.x[self.mask]
        spread = math.sqrt(3) * self.own["spread"] * math.sqrt((first ** 2).mean())
        self.shared = np.array([[spread * (2 * unit(words(WEIGHTS, 1 << 32, m, i)[0]) - 1) for i in range(n)]
                                if self.own["bias"] == "yes" else first for m in range(size)])

    def first(self, client):
        if self.name == "cpg":
            size, bias = self.own["size"], self.own["bias"] == "yes"
            z = np.array([normal(words(CLIENT, client.number, 1 << 62, m)) for m in range(size)]) / math.sqrt(size)
            return {"learnt": z if bias else 1 / size + self.own["spread"] * z,
                    "constant": np.full(size, 1 / size),
                    "one_hot": (np.arange(size) == client.number % size) * 1.0}[self.own["embedding"]]
        if self.name in ("fedper", "fedrep"):
            return self.x[self.mask]
        if self.name in ("ditto", "local"):
            return self.x
        return np.append(self.x, client.own["share"]) if self.name == "apfl" else np.zeros(N)

    def model(self, client):
        """The client's, before its turn."""
        w = self.x.copy()
        if self.name in ("fedper", "fedrep"):
            w[self.mask] = client.kept
        elif self.name in ("ditto", "local"):
            w = client.kept.copy()
        elif self.name == "apfl":
            w = client.kept[N] * client.kept[:N] + (1 - client.kept[N]) * w
        elif self.name == "cpg":
            w[self.mask] = (w[self.mask] if self.own["bias"] == "yes" else 0) + client.kept @ self.shared
        return w

    def learn(self, client, which, cap, fresh):
        """The client's turn: returns its model, and sets client.change and what it adds to the server."""
        client.added, own = 0, client.own
        if self.name == "cpg":
            for _ in range(client.client["epochs"] if fresh else 1):
                start, v = self.model(client), client.kept.copy()
                w = client.train(start, start, **({"epochs": 1} if fresh else {}))
                client.change = w - start
                client.added = np.outer(v, client.change[self.mask])
                if self.own["embedding"] == "learnt":
                    client.kept = v + own["lr_embedding"] * self.shared @ client.change[self.mask]
                if self.own["bias"] == "no":
                    client.change[self.mask] = 0
            return self.model(client) if fresh else w
        if self.name in ("fedper", "fedrep"):
            w = start = self.model(client)
            if self.name == "fedrep" and self.mask.any():
                w = client.train(w, start, held=~self.mask, epochs=own["epochs"])
                w = client.train(w, start, held=self.mask)
            else:
                w = client.train(w, start)
            client.kept = w[self.mask]
            client.change = np.where(self.mask, 0, w - self.x)
            return w
        if self.name == "local":
            client.kept = client.train(client.kept, 0, mu=0)
            client.change = np.zeros(N)
            return client.kept
        if self.name == "apfl":
            blend = [client.kept[:N].copy(), client.kept[N]]
            w = client.train(self.x, self.x, blend=blend)
            client.change, client.kept = w - self.x, np.append(*blend)
            return self.model(client)
        if self.name == "ditto":
            w = client.train(self.x, self.x)
            client.change = w - self.x
            client.kept = client.train(client.kept, self.x, mu=own["lambda"], lr=own["lr"] or client.client["lr"],
                                       epochs=own["epochs"] or client.client["epochs"])
            return client.kept
        if self.name == "scaffold":
            w = client.train(self.x, self.x, drift=self.shared - client.kept)
            client.change = w - self.x
            if client.steps_of_course:
                added = -client.change / (client.steps_of_course * client.client["lr"])
                client.kept, client.added = client.kept - self.shared + added, added
            return w
        if self.name == "feddyn":
            w = client.train(self.x, self.x, drift=-client.kept, mu=client.client["mu"] + own["alpha"])
            client.change = w - self.x
            client.kept = client.kept - own["alpha"] * client.change
            return w
        w = client.train(self.x, self.x)
        client.change = w - self.x
        return w

    def keeps(self):
        return self.name not in ("fedavg", "fednova", "fedexp", "fedhyper", "deltasgd", "knn")

    def turn(self, client, which, cap, most, before, train, after, fresh=False):
        if before:
            client.score(0, self.model(client), which, cap, most)
        if train:
            w = self.learn(client, which, cap, fresh)
            sound = np.abs(client.change).max() <= client.client["max_change"]
            if self.keeps():
                sound &= bool((np.abs(client.kept) <= np.finfo(np.float32).max).all())
            client.diverged = int(not sound)
        else:
            w = self.x
        if after and client.diverged:
            client.fail(which, cap)
        elif after:
            client.score(1, self.x if self.name == "knn" else w, which, cap, most)
        client.turns += 1

    # ---- rounds ----

    def pick(self, round_, j):
        u, total = unit(words(PICK, self.trial, round_, j)[0]), 0
        for i, p in enumerate(np.exp(self.logp[:-1])):
            total += p
            if total > u:
                return i
        return len(self.arms) - 1

    def client_of(self, number, round_, j):
        arm = self.pick(round_, j)
        client = Client(self, number, self.arms[arm], round_)
        client.arm = arm
        return client

    def device(self, cohort):
        """Sets who is lost and late; the row's columns of devices."""
        o, n = self.o["device"], N
        if self.name in ("fedper", "fedrep"):
            n -= self.mask.sum()
        down = 4 * (0 if self.name == "local" else 2 * n if self.name == "scaffold" else n)
        up = down + 4 * (self.name == "fedexp")  # the square of its change
        turns = []
        for client in cohort:
            samples = client.n * client.epochs_charged()
            speed = 1
            if o["speed"] == "exponential":
                speed = 1 / -math.log1p(-unit(words(DEVICE, 0, client.number, 0)[0]))
            busy = (samples * o["sample_seconds"] + (samples * FLOPS / o["flops"] if o["flops"] else 0)) / speed
            seconds = busy + 2 * o["latency"] + sum(n / o[way] for n, way in ((up, "up"), (down, "down")) if o[way])
            turn = dict(status="ok", seconds=seconds, bytes=up + down,
                        energy=o["power"] * busy + o["byte_energy"] * (up + down))
            u = [unit(w) for w in words(DEVICE, 1, client.number, self.round)]
            if o["availability"] < 1 and u[0] >= o["availability"]:
                turn = dict(status="away", seconds=0, bytes=0, energy=0)
            elif u[1] < o["dropout"]:
                turn = dict(status="dropped", **{key: turn[key] * u[2] for key in ("seconds", "bytes", "energy")})
            turns.append(turn)
        answers = sorted((turn["seconds"], j) for j, turn in enumerate(turns) if turn["status"] == "ok")
        m, deadline = self.fed["cohort"], o["deadline"] or math.inf
        end = answers[m - 1][0] if len(answers) >= m else max(turn["seconds"] for turn in turns)
        for place, (seconds, j) in enumerate(answers):
            turns[j]["status"] = "late" if seconds > deadline else "surplus" if place >= m else "ok"
        end = min(end, deadline)
        for client, turn in zip(cohort, turns):
            client.lost, client.late = turn["status"] != "ok", turn["status"] == "late"
            share = min(1, end / turn["seconds"]) if turn["seconds"] else 1
            turn["energy"], turn["bytes"] = share * turn["energy"], share * turn["bytes"]
        status = [turn["status"] for turn in turns]
        return dict(dropped=sum(s in ("away", "dropped", "late") for s in status), surplus=status.count("surplus"),
                    seconds=end, bytes=sum(turn["bytes"] for turn in turns),
                    energy=sum(turn["energy"] for turn in turns))

    def stages(self):
        moves = self.update is not None
        both = self.fed["score_both"] == "yes"
        personal = self.fed["score_weights"] == "personal"
        return both or not personal or (moves and self.update[1] > 0), both or personal or moves

    def charge(self, cohort):
        """Late clients: the worst after training, the mean of the others before."""
        count = sum(client.count for client in cohort)
        for key in "loss", "wrong", "weighed":
            mean = sum(getattr(client, key)[0] for client in cohort) / count if count else 0
            for client in (client for client in cohort if client.late):
                client.fail(VALID, self.fed["max_valid"])
                getattr(client, key)[0] = mean * client.count

    def move_server(self, cohort):
        used = [client for client in cohort if not client.lost and not client.diverged and client.weight > 0]
        if not used:
            return
        o, q = self.o["server"], np.array([client.weight for client in used])
        q = q / q.sum()
        if self.name == "fednova":
            tau = []
            for client in used:
                moved = velocity = 0
                for _ in range(client.steps_of_course):  # how often each gradient has arrived
                    velocity = client.client["momentum"] * velocity + 1
                    moved += velocity
                tau.append(moved)
            delta = (q @ tau) * sum(q_ * client.change / t for q_, client, t in zip(q, used, tau))
        else:
            delta = sum(q_ * client.change for q_, client in zip(q, used))
        if self.name == "fedexp":
            squares = sum(q_ * (client.change ** 2).sum() for q_, client in zip(q, used))
            delta = delta * max(1, squares / (2 * ((delta ** 2).sum() + self.own["eps"])))
        if self.name == "scaffold":
            mean = sum(q_ * client.added for q_, client in zip(q, used))
            self.shared = self.shared + len(used) / len(self.old) * (mean - self.shared)
        elif self.name == "cpg":
            self.shared = self.shared + self.own["lr"] * sum(q_ * client.added for q_, client in zip(q, used))
        elif self.name == "fedhyper":
            gamma = self.own["gamma"]
            self.factor = min(max(self.factor + delta @ self.shared, 1 / gamma), gamma)
            self.shared = delta
            delta = self.factor * delta
        elif self.name == "feddyn":
            alpha = self.own["alpha"]
            self.shared = self.shared - alpha * len(used) / len(self.old) * delta
            delta = delta - self.shared / alpha
        if self.name != "local":
            lr = o["lr"] * (1 - o["decay"]) ** self.steps
            self.slot = o["momentum"] * self.slot + delta
            self.x = self.x + lr * (self.slot if o["momentum"] else delta)
        self.steps += 1

    def sum_of(self, client):
        """A client's predictions times its score."""
        if client.diverged or client.late:
            return self.worst * client.count
        return self.scored(client)[int(self.fed["score_weights"] == "personal")]

    def scored(self, client):
        return {"loss": client.loss, "error": client.wrong, "balanced": client.weighed}[self.fed["score"]]

    def sums(self, clients):
        some = [client for client in clients if client.count]
        score = [self.sum_of(client) for client in some]
        answered = [client for client in some if not client.late]
        v = [client.count for client in some]
        return np.array([len(some), sum(v), sum(score), sum(n * n for n in v), sum(s * s / n for s, n in zip(score, v)),
                         sum(client.count for client in answered)]
                        + [sum(client.loss[e] for client in answered) for e in range(2)]
                        + [sum(client.wrong[e] for client in answered) for e in range(2)])

    def move_mix(self, cohort):
        if self.update is None:
            return
        eta, diff = self.update
        some = [client for client in cohort if client.count]
        all_ = sum(client.count for client in some)
        score = [(self.scored(client)[1] - (self.scored(client)[0] if diff else 0)) / client.count for client in some]
        base = self.base / self.mass if self.mass else 0
        grad = np.zeros(len(self.arms))
        for client, s in zip(some, score):
            grad[client.arm] += client.count / all_ * (s - base) / math.exp(self.logp[client.arm])
        self.logp = self.logp - eta * grad
        self.logp -= math.log(np.exp(self.logp).sum())
        self.base += sum(client.count / all_ * s for client, s in zip(some, score))
        self.mass += 1

    def play(self):
        o = self.fed
        started = min(math.ceil(o["cohort"] * self.o["device"]["over"] * (1 - 1e-12)), len(self.old))
        cohort = [self.client_of(c, self.round, j) for j, c in enumerate(drawn(self.old, self.round, started))]
        row = self.device(cohort)
        before, after = self.stages()
        for client in cohort:
            if not client.lost:
                self.turn(client, VALID, o["max_valid"], WORST, before, True, after)
        for client in cohort:
            if self.keeps() and not client.lost and not client.diverged:
                self.kept[client.number] = (client.turns, client.kept)
        self.charge(cohort)
        self.move_server(cohort)
        self.move_mix(cohort)
        kept = [client for client in cohort if not client.lost]
        good = [client for client in kept if not client.diverged]
        seen = self.sums(cohort)
        for client in cohort:
            failed, stage = client.diverged or client.late, int(after)
            self.arm[client.arm] += [WORST * client.count if failed else client.loss[stage],
                                     client.count if failed else client.wrong[stage], client.count,
                                     client.count if failed else client.weighed[stage]]
        loss, count = (sum(getattr(client, key) for client in good) for key in ("train_loss", "train_count"))
        self.trained = self.trained + np.array([loss, count, row["seconds"]])
        self.ring = (self.ring + [seen])[-o["pool"]:]
        if seen[0]:
            self.best = min(self.best, seen[2] / seen[1])
        mean = [seen[i] / seen[5] if seen[5] and (before, after)[i % 2] else math.nan for i in range(6, 10)]
        p = np.exp(self.logp)
        self.rows.append([mean[1], mean[0], loss / count if count else math.nan, mean[3], mean[2], len(good),
                          len(kept) - len(good), row["dropped"], row["surplus"], sum(client.steps for client in kept),
                          row["bytes"], row["seconds"], row["energy"], -(p * self.logp).sum(), math.nan, math.nan])
        self.round += 1

    # ---- evaluations ----

    def evaluate(self, which, m, personal, winner, fresh=False):
        group = self.new if fresh else self.old
        number = drawn(group, EVALUATION, m) if 0 < m < len(group) else group
        clients = [self.client_of(c, EVALUATION, c) for c in number]
        for client in clients:
            if fresh:
                client.client["epochs"] = self.fed["new_epochs"]
                client.steps_of_course = client.client["epochs"] * -(-client.n // client.client["batch"])
            self.turn(client, which, 0, math.inf if winner else WORST, True, personal and self.name != "knn", personal,
                      fresh)
        return clients, self.sums(clients)

    def interval(self, seen, n, square):
        """Mean score and half of its 95 % interval, of all clients' n predictions."""
        m, x, sum_, q, squares = seen[:5]
        if m == 0:
            return math.nan, math.inf
        mean = sum_ / x
        share = (1 / x - 1 / n) ** 2 * q + ((square - q) / n ** 2 if n < math.inf else 0)
        if not share > 0:
            return mean, 0
        around = max(squares - mean * mean * x, 0)
        return mean, math.inf if m < 2 else student.ppf(0.975, m - 1) * math.sqrt(around / (x - q / x) * share)

    def job(self, trial, rounds):
        if trial != self.trial:
            self.trial, self.ring, self.best, self.base, self.mass = trial, [], math.inf, 0, 0
        self.logp = np.full(len(self.arms), -math.log(len(self.arms)))
        self.arm, self.trained, seen, o = np.zeros((len(self.arms), 4)), np.zeros(3), np.zeros(10), self.fed
        for r in range(rounds):
            last = r == rounds - 1
            self.play()
            seen = np.zeros(10)
            if (o["eval_every"] and self.round % o["eval_every"] == 0) or (last and o["eval_clients"] >= 0):
                _, seen = self.evaluate(VALID, o["eval_clients"], last and o["score_weights"] == "personal", False)
                self.rows[-1][14:] = [seen[6] / seen[5], seen[8] / seen[5]]
        pooled = sum(self.ring)
        v = [COUNT[c][VALID] for c in self.old]
        at_end, before = self.interval(seen, sum(v), sum(n * n for n in v)), self.interval(pooled, math.inf, 0)
        loss, half = {"pooled": before, "eval": at_end, "best": (self.best, before[1]),
                      "bound": (min(sum(before), self.worst), before[1]),
                      "last": self.interval(self.ring[-1], math.inf, 0)}[o["select"]]
        known = (True, o["score_weights"] == "personal") if seen[0] else self.stages()
        means = seen if seen[0] else pooled
        metric = [means[i] / means[5] if known[i % 2] else math.nan for i in (6, 8, 7, 9)]
        chosen_ = metric[2:] if o["score_weights"] == "personal" else metric[:2]
        self.arm[:, 3] = self.arm[:, 3] / self.arm[:, 2] if o["score"] == "balanced" else math.nan
        train = self.trained[0] / self.trained[1] if self.trained[1] else math.nan
        return [loss, half if half < math.inf else math.nan, self.trained[2] or rounds] + chosen_ + metric + [train] \
            + list(self.arm.ravel()) + list(self.logp)

    def score(self, which):
        personal = self.fed["score_weights"] == "personal"
        clients, seen = self.evaluate(which, self.fed["test_clients"], personal, True)
        out = [seen[5], seen[6] / seen[5], seen[8] / seen[5]]
        out += [seen[7] / seen[5], seen[9] / seen[5]] if personal else [math.nan] * 2
        if not self.new:
            out += [math.nan] * 4
        else:
            _, fresh = self.evaluate(which, 0, True, True, True)
            out += [fresh[6] / fresh[5], fresh[8] / fresh[5], fresh[7] / fresh[5], fresh[9] / fresh[5]]
        for client in clients:
            if client.count:
                out += [client.number, client.count]
                for e in range(2):
                    out += [client.loss[e] / client.count, client.wrong[e] / client.count] if e == 0 or personal \
                        else [math.nan] * 2
        return out

    def predict(self, which):
        out = []
        for c in range(len(COUNT)):
            client = self.client_of(c, EVALUATION, c)
            out += list(probable(self.model(client), part(c, which)[0]).ravel())
        return out

    def flops(self, rounds):
        before, after = self.stages()
        samples = [COUNT[c][TRAIN] for c in range(len(COUNT))]
        most, cap = self.o["client"]["max_samples"], self.fed["max_valid"]
        mean = np.mean([min(n, most) if most else n for n in samples])
        valid = np.mean([min(n[VALID], cap) if cap else n[VALID] for n in COUNT])
        epochs = np.mean([Client(self, 0, arm, 0).epochs_charged() for arm in self.arms])
        near = (mean * FLOPS / 3 + 2 * HIDDEN * mean * valid) * after if self.name == "knn" else 0
        return rounds * self.fed["cohort"] * ((epochs * mean + (before + after) * valid / 3) * FLOPS + near)


# ---- cases ----

SIX = "cohort = 6\nscore = loss"
NEW = "cohort = 3\nscore = loss\nnew_clients = 0.1\nnew_epochs = 2"
USUAL = "lr = 0.2\nmomentum = 0.5\nbatch = 5\nepochs = 2"
ALL = USUAL + "\nweight_decay = 0.05\nmu = 0.3\nclip = 0.7"
RATES = "lr = 0.05 .. 1.5\nbatch = 5\nmax_change = "


def within(change, options=USUAL):
    return f"{options}\nmax_change = {change}"


def late(deadline):
    return ("[device]\nsample_seconds = 0.5\nlatency = 0.25\nup = 400\ndown = 1600\npower = 2\nbyte_energy = 0.01\n"
            f"deadline = {deadline}")


def case(name, rounds, algorithm="fedavg", fed=SIX, client=USUAL, more="", both="yes", trials=(0, 0), arms=(None,),
         update=None):
    """Jobs of so many rounds; arms: values of the range in the input; update: the step and 1 for differences."""
    text = (f"[fed]\nmodel = mlp\nalgorithm = {algorithm}\nscore_both = {both}\n{fed}\n[mlp]\nhidden = {HIDDEN}\n"
            f"[client]\n{client}\n{more}").strip()
    return name, list(zip(trials, rounds)), text, arms, update


CASES = [
    case("fedavg", (3, 2), fed="cohort = 3\npool = 3\neval_clients = 3\neval_every = 2", client=ALL,
         more="[server]\nlr = 0.7\nmomentum = 0.4\ndecay = 0.1"),
    case("copied", (3, 2), fed="cohort = 3\nselect = best\nmax_valid = 3\nscore_weights = global\nnew_clients = 0.1",
         client="lr = 0.3\nbatch = 4\nmax_samples = 7\nepochs = 3\nmax_change = 0.4",
         more="[server]\nlr = 0.8\nmomentum = 0.6\ndecay = 0.2", trials=(0, 1)),
    case("late", (4,), more=late(16)),
    case("before", (4,), fed=SIX + "\nscore_weights = global", client=within(0.7), more=late(16), both="no"),
    case("balanced", (4,), fed="cohort = 5\nscore = balanced\nnew_clients = 0.05", client=RATES + "0.8", more=late(8),
         both="no", arms=(0.05, 1.5), update=(1, 1)),
    case("weighed", (3,), fed="cohort = 5\nscore = balanced\nscore_weights = global",
         more=late(16) + "\ndropout = 0.1", both="no"),
    case("single", (8,), "feddyn", "cohort = 1", more=late(18)),
    case("server", (4,), fed=NEW, more="[server]\nlr = 0.1 .. 1\nmomentum = 0.3", arms=(0.4,)),
    case("pull", (4,), "feddyn", more="[feddyn]\nalpha = 0.1 .. 1", arms=(0.7,)),
    case("generator", (3,), "cpg", NEW, more="[cpg]\nsize = 2\nlr = 0.1 .. 3", arms=(2,)),
    case("lost", (4,), fed="cohort = 4\nselect = last",
         more=late(20) + "\nspeed = exponential\navailability = 0.9\ndropout = 0.1\nover = 2\nflops = 400"),
    case("diverged", (4,), fed=SIX + "\nselect = bound", client=within(0.5)),
    case("mixture", (4,), client=RATES + "1\nmomentum = 0.5\nepochs = 2", more=late(18), arms=(0.05, 1.5),
         update=(1, 1)),
    case("charged", (3,), fed="cohort = 6", client=RATES + "1\nepochs = 2", more=late(18), arms=(0.05, 1.5),
         update=(1, 1)),
    case("wrong", (3, 1), fed="cohort = 7\nselect = eval\neval_clients = 5\nscore_weights = global",
         client=RATES + "1", arms=(0.05, 1.5), update=(0.5, 0)),
    case("scaffold", (4,), "scaffold", NEW, ALL),
    case("drift", (4,), "scaffold", client=within(0.5), more=late(18)),
    case("rates", (4,), "scaffold", client=RATES + "1", arms=(0.05, 1.5), update=(1, 1)),
    case("feddyn", (4,), "feddyn", NEW + "\neval_clients = 3", ALL, "[feddyn]\nalpha = 0.4"),
    case("fednova", (4,), "fednova", more=late(16)),
    case("momenta", (3,), "fednova", client="lr = 0.2\nbatch = 5\nmomentum = 0 .. 1", arms=(0, 0.8), update=(1, 0)),
    case("nova", (3,), "fednova", NEW + "\ntest_clients = 2", USUAL.replace("0.5", "1") + "\nmax_samples = 9",
         late(18)),
    case("fedexp", (4,), "fedexp", client=ALL, more="[fedexp]\neps = 0"),
    case("further", (3,), "fedexp", fed="cohort = 7\naverage = plain", client=within(0.5),
         more="[server]\nmomentum = 0.4\nlr = 0.8\n[fedexp]\neps = 0 .. 0.3\n" + late(16), arms=(0.02,)),
    case("hyper", (6,), "fedhyper", client="lr = 0.2\nbatch = 5\nepochs = 2", more="[fedhyper]\ngamma = 1.25"),
    case("turned", (3, 2), "fedhyper", fed="cohort = 3", client="lr = 1\nbatch = 2", more="[server]\nlr = 2"),
    case("paces", (4,), "deltasgd", client=ALL),
    case("paced", (3,), "deltasgd", client="lr = 0.2\nbatch = 4\nepochs = 3\nmax_change = 0.7",
         more="[deltasgd]\ngamma = 0.3 .. 4\ndelta = 0.5\n" + late(16), arms=(0.3, 4), update=(1, 0)),
    case("ditto", (3, 2), "ditto", NEW, ALL, "[ditto]\nlambda = 0.8\nlr = 0.1\nepochs = 3"),
    case("epochs", (4,), "ditto", client=USUAL + "\nmu = 0.5", more=late(26)),
    case("pulled", (4,), "ditto", more="[ditto]\nlambda = 0 .. 2\nepochs = 1", arms=(0, 2), update=(1, 0)),
    case("local", (4,), "local", NEW, ALL),
    case("alone", (3,), "local", client=within(0.2), more=late(16)),
    case("fedper", (4,), "fedper", NEW, ALL),
    case("inner", (3,), "fedper", "cohort = 2\nselect = bound",
         more="[fedper]\nown = fc1.bias,fc2.weight\n" + late(16)),
    case("fedrep", (4,), "fedrep", NEW, ALL, "[fedrep]\nepochs = 3"),
    case("holes", (3,), "fedrep", client=ALL, more="[fedrep]\nown = fc1.bias,fc2.weight\nepochs = 1\n" + late(24)),
    case("apfl", (4,), "apfl", NEW, ALL, "[apfl]\nshare = 0.3\nrate = 0.2"),
    case("shares", (3,), "apfl", more="[apfl]\nrate = 3\n" + late(30)),
    case("cpg", (4,), "cpg", NEW.replace("epochs = 2", "epochs = 3"), ALL,
         "[cpg]\nsize = 3\nlr = 0.8\nlr_embedding = 0.6\nspread = 0.7"),
    case("columns", (3,), "cpg", client=within(0.6),
         more="[cpg]\ngenerate = fc1.weight,fc2.bias\nsize = 3\nbias = no\nspread = 0.4"),
    case("one_hot", (3,), "cpg", NEW, more="[cpg]\ngenerate = all\nsize = 3\nbias = no\nembedding = one_hot"),
    case("constant", (2,), "cpg", more="[cpg]\nsize = 3\nembedding = constant"),
    case("knn", (3,), "knn", NEW, more="[knn]\nk = 3\nsigma = 0.5"),
    case("near", (3,), "knn", "cohort = 6\neval_clients = 0", within(0.3), "[knn]\nk = 1 .. 9\nlambda = 0.8",
         arms=(1, 9), update=(9, 1)),
]


def line(what, of, numbers):
    print(what, of, *(f"{float(number):.7g}" for number in numbers))


def main():
    for name, jobs, text, arms, update in CASES:
        fed = Federation(text, arms, update)
        print("case", name)
        print(text + "\n.")
        if fed.axis:
            line("arms", "-", arms)
        if update:
            line("update", "-", update)
        for trial, rounds in jobs:
            fed.rows = []
            result = fed.job(trial, rounds)
            line("job", trial, [rounds])
            for r, row in enumerate(fed.rows):
                line("row", r, row)
            line("result", "-", result)
        line("flops", "-", [fed.flops(jobs[-1][1])])
        line("x", "-", np.concatenate([fed.x] + ([] if fed.shared is None else [fed.shared.ravel()])
             + ([[fed.factor - 1]] if fed.name == "fedhyper" else [])
                                 + ([fed.slot] if fed.o["server"]["momentum"] else [])))
        line("score", "test", fed.score(TESTED))
        line("predict", "train", fed.predict(TRAIN))
        line("score", "valid", fed.score(VALID))
        for c in sorted(fed.kept):
            turns, kept = fed.kept[c]
            line("kept", c, [turns, *kept])


if __name__ == "__main__":
    main()
