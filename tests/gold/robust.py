#!/usr/bin/env python3
"""Makes robust.txt: rounds with robust rules, attackers and q-FedAvg by NumPy in double precision, written from the
papers that src/task/fed/rule.h and src/algorithm/qffl.c cite and from the options' help, for tests/t_fed_rounds.c.
Samples, clients and the form of a case are those of rounds.py. Run in the top directory; needs numpy and scipy."""
import math
import os
import sys

import numpy as np

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
import rounds  # noqa: E402
from rounds import COUNT, EVALUATION, N, SIX, TESTED, TRAIN, USUAL, VALID, WORST, Client, Federation, case  # noqa: E402

ATTACK = 21
rounds.DEFAULT.update(rule=dict(kind="mean", harmful=0.1, iterations=8),
                      attack=dict(kind="none", share=0.1, strength=1), qffl=dict(q=1))


def weighted_median(v, w):
    order = np.argsort(v, kind="stable")
    at = np.cumsum(w[order])
    i = int(np.argmax(2 * at >= at[-1]))
    return (v[order[i]] + v[order[i + 1]]) / 2 if 2 * at[i] == at[-1] else v[order[i]]


def trimmed(v, w, f):
    kept = np.argsort(v, kind="stable")[f:len(v) - f]
    return w[kept] @ v[kept] / w[kept].sum()


def krum_order(v, f):
    square = ((v[:, None] - v[None]) ** 2).sum(axis=2)
    near = max(1, len(v) - f - 2)
    score = [np.sort(np.delete(row, i))[:near].sum() for i, row in enumerate(square)]
    return np.argsort(score, kind="stable")


def aggregate(o, v, w):
    """What a rule makes of changes v[n][N] of clients of weights w[n]."""
    n, kind = len(v), o["kind"]
    f = math.ceil(o["harmful"] * n - 1e-9)
    if kind == "mean":
        return w @ v / w.sum()
    if kind == "median":
        return np.array([weighted_median(column, w) for column in v.T])
    if kind == "trimmed":
        return np.array([trimmed(column, w, min(f, (n - 1) // 2)) for column in v.T])
    if kind in ("krum", "multikrum"):
        f = max(0, min(f, (n - 3) // 2))
        best = krum_order(v, f)[:1 if kind == "krum" else n - f]
        return w[best] @ v[best] / w[best].sum()
    z = w @ v / w.sum()
    for _ in range(o["iterations"]):
        b = w / np.maximum(1e-6, np.linalg.norm(v - z, axis=1))
        z = b @ v / b.sum()
    return z


class Attacker(Client):
    """In a round."""

    def score(self, stage, w, which, cap, most):
        pass

    def fail(self, which, cap):
        pass


class Robust(Federation):
    def __init__(self, text, arms=(None,), update=None):
        super().__init__(text, arms, update)
        o = self.o["attack"]
        order = sorted(self.old, key=lambda c: rounds.words(ATTACK, (1 << 64) - 1, c, 0)[0])
        self.attackers = order[:int(o["share"] * len(order) + 0.5)] if o["kind"] != "none" else []
        if self.name == "qffl":
            self.shared = np.array([1.0])

    def client_of(self, number, round_, j):
        attacks = number in self.attackers and round_ != EVALUATION
        if not attacks:
            client = super().client_of(number, round_, j)
        else:
            arm = self.pick(round_, j)
            client = Attacker(self, number, self.arms[arm], round_)
            client.arm = arm
            if self.o["attack"]["kind"] == "labels":
                client.label = rounds.C - 1 - client.label
        client.attacks = attacks
        return client

    def device(self, cohort):
        row = super().device(cohort)
        if self.name == "qffl":
            row["bytes"] += 4 * 3 * len(cohort)
        return row

    def keeps(self):
        return self.name != "qffl" and super().keeps()

    def learn(self, client, which, cap, fresh):
        w = super().learn(client, which, cap, fresh)
        if self.name == "qffl":
            self.weigh(client)
        client.sent = self.attacked(client) if client.attacks else client.change
        return w

    def weigh(self, client):
        """Of q-FedAvg, divided by L r^q."""
        q, d, r = self.own["q"], client.change, self.shared[0]
        loss = rounds.losses(rounds.probable(self.x, client.x), client.label) / max(len(client.x), 1)
        loss = max(min(loss, WORST) / r, 2 ** -10)
        power = min(max(loss ** q, 2 ** -20), 1024)
        if np.abs(d).max() > client.client["max_change"]:
            return
        if np.abs(d).max() * power > client.client["max_change"]:
            power = client.client["max_change"] / np.abs(d).max()
        client.power = power
        client.h = power + min(q * power / loss * (d @ d) / (r * client.client["lr"]), 2 ** 14)
        client.change = power * d

    def attacked(self, client):
        o, d, most = self.o["attack"], client.change, client.client["max_change"]
        if o["kind"] == "sign":
            d = -o["strength"] * d
        elif o["kind"] == "scale":
            d = o["strength"] * d
        elif o["kind"] == "noise":
            z = []
            for i in range(0, N, 4):
                u = [rounds.unit(w) for w in rounds.words(ATTACK, client.round, client.number, i // 4)]
                for e in (0, 2):
                    far = math.sqrt(-2 * math.log(1 - u[e]))
                    z += [far * math.cos(2 * math.pi * u[e + 1]), far * math.sin(2 * math.pi * u[e + 1])]
            d = o["strength"] * math.sqrt((d ** 2).mean()) * np.array(z[:N])
        return np.clip(d, -most, most)

    def move_server(self, cohort):
        used = [client for client in cohort if not client.lost and not client.diverged and client.weight > 0]
        if not used:
            return
        o, w = self.o["server"], np.array([client.weight for client in used], float)
        steps = [max(client.steps_of_course, 1) if self.name == "fednova" else 1 for client in used]
        delta = aggregate(self.o["rule"], np.array([client.sent / s for client, s in zip(used, steps)]), w)
        delta = delta * (w @ steps) / w.sum()
        if self.name == "scaffold":
            mean = w @ np.array([client.added for client in used]) / w.sum()
            self.shared = self.shared + len(used) / len(self.old) * (mean - self.shared)
        if self.name == "qffl" and self.own["q"] > 0:
            delta = delta / (w @ [client.h for client in used] / w.sum())
            self.shared = self.shared * (w @ [client.power for client in used] / w.sum()) ** (1 / self.own["q"])
        self.slot = o["momentum"] * self.slot + delta
        self.x = self.x + o["lr"] * (self.slot if o["momentum"] else delta)
        self.steps += 1


# ---- cases ----

EIGHT = "cohort = 8\nscore = loss"
SEVEN = "cohort = 7\nscore = loss\neval_clients = 0"
PLAIN = "\naverage = plain"


def rule(kind, more=""):
    return f"[rule]\nkind = {kind}\n{more}".strip()


def attack(kind, share, more=""):
    return f"[attack]\nkind = {kind}\nshare = {share}\n{more}".strip()


CASES = [
    case("median", (3,), fed=EIGHT, more=rule("median")),
    case("plain_median", (3,), fed=EIGHT + PLAIN, more=rule("median") + "\n[server]\nmomentum = 0.3"),
    case("odd_median", (4,), fed=SIX + PLAIN, more=rule("median")),
    case("trimmed", (3,), fed=EIGHT, more=rule("trimmed")),
    case("far_trimmed", (3,), fed=SEVEN + PLAIN, more=rule("trimmed", "harmful = 0.3")),
    case("krum", (5,), fed=SEVEN, more=rule("krum")),
    case("multikrum", (4,), fed=SEVEN, more=rule("multikrum", "harmful = 0.2")),
    case("geometric", (3,), fed=EIGHT, more=rule("geometric")),
    case("short_geometric", (3,), fed=SEVEN + PLAIN, more=rule("geometric", "iterations = 2")),
    case("lost_median", (6,), fed=SIX, more=rule("median") + "\n[device]\ndropout = 0.4"),
    case("lost_krum", (8,), fed=SIX, more=rule("krum") + "\n[device]\ndropout = 0.6"),
    case("diverged_trimmed", (4,), fed=SEVEN, client=USUAL + "\nmax_change = 0.5", more=rule("trimmed")),
    case("nova_median", (3,), "fednova", EIGHT, "lr = 0.2\nbatch = 5\nepochs = 2", rule("median")),
    case("scaffold_median", (3,), "scaffold", EIGHT, "lr = 0.2\nbatch = 5", rule("median")),
    case("labels", (3,), fed=SIX, more=attack("labels", 0.4)),
    case("sign", (3,), fed=SIX, more=attack("sign", 0.3, "strength = 2"), both="no"),
    case("scale", (3,), fed=SIX, client=USUAL + "\nmax_change = 1", more=attack("scale", 0.3, "strength = 5.5")),
    case("noise", (3,), fed="cohort = 4\nnew_clients = 0.1\neval_clients = 0", more=attack("noise", 0.5)),
    case("late_attack", (4,), fed=SIX, more=attack("noise", 0.5) + "\n" + rounds.late(16)),
    case("resisted", (4,), fed=EIGHT, more=attack("sign", 0.3, "strength = 4") + "\n" + rule("geometric")),
    case("turned_krum", (4,), fed=EIGHT, more=attack("labels", 0.2) + "\n" + rule("multikrum", "harmful = 0.2")),
    case("qffl", (4,), "qffl", EIGHT, more="[qffl]\nq = 1"),
    case("steep_qffl", (5,), "qffl", SIX, more="[qffl]\nq = 5"),
    case("flat_qffl", (2,), "qffl", SIX, more="[qffl]\nq = 0"),
    case("low_qffl", (3,), "qffl", SEVEN + PLAIN, more="[qffl]\nq = 0.3"),
    case("cut_qffl", (3,), "qffl", SIX, client="lr = 0.4\nbatch = 5\nmax_change = 0.6", more="[qffl]\nq = 3"),
    case("drawn_qffl", (3,), "qffl", EIGHT, more="[qffl]\nq = 0.1 .. 5\n[server]\nmomentum = 0.2", arms=(2.5,)),
    case("attacked_qffl", (3,), "qffl", SIX, more=attack("labels", 0.3) + "\n" + rule("trimmed", "harmful = 0.2")),
]


def main():
    for name, jobs, text, arms, update in CASES:
        fed = Robust(text, arms, update)
        print("case", name)
        print(text + "\n.")
        if fed.axis:
            rounds.line("arms", "-", arms)
        for trial, count in jobs:
            fed.rows = []
            result = fed.job(trial, count)
            rounds.line("job", trial, [count])
            for r, row in enumerate(fed.rows):
                rounds.line("row", r, row)
            rounds.line("result", "-", result)
        rounds.line("x", "-", np.concatenate([fed.x] + ([] if fed.shared is None else [fed.shared.ravel()])
                                             + ([fed.slot] if fed.o["server"]["momentum"] else [])))
        rounds.line("score", "test", fed.score(TESTED))
        rounds.line("score", "valid", fed.score(VALID))


if __name__ == "__main__":
    main()
