#!/usr/bin/env python3
"""Checks that a program is a worker of weft: usage tests/conforms.py COMMAND-LINE
or one that weft tunes and keeps (command.serve): tests/conforms.py COMMAND-LINE '{"rate":0.1, ...}', its parameters.

It is started as weft starts it (src/worker/README.md has the protocol), describes itself, and is
asked for turns. Prints TAP. Needs nothing but Python."""
import json
import math
import mmap
import os
import select
import socket
import struct
import subprocess
import sys
import tempfile

WORDS = ("tensors", "anchor", "drift")  # of a turn, which it may know
WAIT = 60  # seconds for an answer
PLACE = 64
number = failed = 0
OPTIONS = {"lr": 0.1, "momentum": 0, "weight_decay": 0, "mu": 0, "clip": 0, "dropout": 0, "batch": 5,
           "epochs": 2}


def check(good, text):
    global number, failed
    number += 1
    failed += not good
    print("ok" if good else "not ok", number, "-", text)
    return good


class Worker:
    def __init__(self, command):
        here = os.path.dirname(os.path.abspath(__file__))
        self.socket, theirs = socket.socketpair()
        self.memory = os.memfd_create("memory", 0)
        env = dict(os.environ, WEFT_SOCKET=str(theirs.fileno()), WEFT_MEMORY=str(self.memory), WEFT_RANK="0",
                   WEFT_LOCAL_RANK="0", WEFT_LOCAL_RANKS="1",
                   PYTHONPATH=os.path.join(here, "..", "python") + ":" + os.environ.get("PYTHONPATH", ""))
        self.process = subprocess.Popen(["/bin/sh", "-c", command], env=env, stdin=subprocess.DEVNULL,
                                        stdout=sys.stderr, pass_fds=(theirs.fileno(), self.memory))
        theirs.close()

    def ask(self, *requests):
        """The answer to the last, of requests that are sent at once; None: there was not one line of JSON for each."""
        self.socket.sendall(b"".join(json.dumps(one, separators=(",", ":")).encode() + b"\n" for one in requests))
        text = b""
        while text.count(b"\n") < len(requests) or not text.endswith(b"\n"):
            if not select.select([self.socket], [], [], WAIT)[0]:
                return None
            more = self.socket.recv(1 << 16)
            if not more:
                return None
            text += more
        try:
            told = [json.loads(line, parse_constant=lambda name: 1 / 0) for line in text.splitlines()]
            return told[-1] if len(told) == len(requests) else None
        except (ValueError, ZeroDivisionError):
            return None

    def bytes(self, at, n):
        if os.fstat(self.memory).st_size < at + n:
            return None
        with mmap.mmap(self.memory, at + n) as memory:
            return memory[at:at + n]

    def put(self, at, data):
        if os.fstat(self.memory).st_size < at + len(data):
            os.ftruncate(self.memory, at + len(data))
        with mmap.mmap(self.memory, at + len(data)) as memory:
            memory[at:at + len(data)] = data


def described(worker):
    told = worker.ask({"ask": "describe", "protocol": 1, "seed": 1})
    if told is None:
        return None, None
    n = sum(math.prod(t["shape"]) for t in told.get("tensors", []))
    arrays = [worker.bytes(told.get("counts", 0), 24 * told.get("clients", 0)),
              worker.bytes(told.get("weights", 0), 4 * n)]
    if "names" in told:
        arrays.append(worker.bytes(told["names"], told["names_bytes"]))
    return told, arrays


def turn(worker, told, counts, weights, client, identity, train=True, before=True, after=True, mu=0, tensors=None,
         anchor=None, drift=None, other=None):
    """The answer to a turn, and the weights that it wrote; other: a client whose turn is sent with it, before it."""
    size, requests = -(-len(weights) // PLACE) * PLACE, []
    words = {"tensors": tensors or [1] * len(told["tensors"]),
             "anchor": 4 * size if anchor else 0, "drift": 5 * size if drift else -1}
    worker.put(4 * size, anchor or weights)
    worker.put(5 * size, drift or weights)
    for i, c in enumerate([client] if other is None else [client, other]):
        samples, scored, at = counts[c][0], counts[c][1], 2 * i * size
        order = 6 * size + i * 16 * counts[client][0]
        worker.put(at, weights)
        worker.put(at + size, b"\xff" * len(weights))  # NaN: what is not written is seen
        worker.put(order, struct.pack(f"<{2 * samples}q", *list(range(samples)) * 2))
        requests.append({"ask": "turn", "turn": identity - i, "client": c, "round": 0 if train else -1, "seed": 7,
                         "train": train, "before": before, "after": after, "part": "valid", "samples": samples,
                         "scored": scored, "weights": at, "answer": at + size, "order": order,
                         **{word: words[word] for word in told.get("knows", [])}, "options": dict(OPTIONS, mu=mu),
                         "parameters": {}})
    return worker.ask(*requests[::-1]), worker.bytes(size, len(weights))


def job(worker, values, identity, trial, done, more, begins=None, drop=()):
    """The answer to a job, with the reports before it."""
    out = worker.ask({"ask": "job", "job": identity, "trial": trial, "seed": 7, "done": done, "resource": more,
                      "total": done + more, "values": values, "from": begins, "load": None, "drop": drop})
    reports = []
    while isinstance(out, dict) and "report" in out:
        reports.append((out["report"], out["step"], out["loss"]))
        out = worker.ask({"go": True})
    return out, reports


def ends(worker):
    worker.socket.close()
    try:
        worker.process.wait(WAIT)
    except subprocess.TimeoutExpired:
        return False
    return True


def program(command, values):
    worker = Worker(command)
    told = worker.ask({"ask": "describe", "protocol": 1, "role": "programs"})
    if not check(isinstance(told, dict) and told.get("protocol") == 1, f"it speaks protocol 1: {told}"):
        return
    first, reports = job(worker, values, 0, 0, 0, 2)
    if not check(isinstance(first, dict) and first.get("job") == 0, f"it does a job: {first}"):
        return
    check(first.get("loss") is not None and math.isfinite(first["loss"]), "whose loss is finite")
    check(all(r[0] == 0 and r[1] < 2 for r in reports), f"and reports before its end: {reports}")
    job(worker, values, 1, 1, 0, 1)
    begins = [0, 0] if first["held"] else None
    second, _ = job(worker, values, 2, 0, 2, 1, begins, [[1, 1]])
    check(isinstance(second, dict) and second.get("job") == 2, f"it goes on after a job of another trial: {second}")
    job(worker, values, 3, 0, 0, 2, None, [[0, 2]])
    again, _ = job(worker, values, 4, 0, 2, 1, [0, 3] if first["held"] else None)
    check(isinstance(again, dict) and again.get("loss") == second["loss"], "the same jobs once more have the same loss")
    job(worker, values, 5, 0, 0, 1)
    beside, _ = job(worker, values, 6, 0, 3, 1, [0, 4] if first["held"] else None)
    job(worker, values, 7, 0, 0, 3, None, [[0, 5], [0, 6]])
    alone, _ = job(worker, values, 8, 0, 3, 1, [0, 7] if first["held"] else None)
    check(beside.get("loss") == alone.get("loss"), "a state stays as it is where its trial is begun again")
    if again.get("saves"):
        with tempfile.TemporaryDirectory() as place:
            out = worker.ask({"ask": "save", "trial": 0, "job": 8, "directory": place})
            check(out == {"saved": 8} and os.listdir(place), f"it saves a state: {out}")
    check(not select.select([worker.socket], [], [], 0.2)[0], "it says nothing that nobody asked for")
    check(ends(worker), "it ends when the run does")


def is_score(score, scored):
    good = isinstance(score, list) and len(score) == 3
    return good and (score[0] is None or math.isfinite(score[0])) and 0 <= score[1] <= score[2] and \
        (score[2] > 0 or scored == 0)


def knows(worker, told, counts, weights, client):
    """Checks the words of a turn that it knows."""
    def trained(**words):
        return turn(worker, told, counts, weights, client, 9, **words)[1]

    own, numbers = told.get("knows", []), struct.unpack(f"<{len(weights) // 4}f", weights)
    if "tensors" in own:
        last = 4 * math.prod(told["tensors"][-1]["shape"])
        out, got = turn(worker, told, counts, weights, client, 9, tensors=[0] * (len(told["tensors"]) - 1) + [1])
        kept = bytes(len(weights)) if out.get("change") else weights
        check(got[:-last] == kept[:-last], "it leaves tensors that are not to be trained as they are")
        check(got[-last:] != kept[-last:], "and trains the last one")
    if "anchor" in own:
        away = struct.pack(f"<{len(numbers)}f", *[x + 1 for x in numbers])
        check(trained(mu=0.5, anchor=weights) == trained(mu=0.5), "an anchor at the weights received changes nothing")
        check(trained(mu=0.5, anchor=away) != trained(mu=0.5), "and another one does")
    if "drift" in own:
        check(trained(drift=bytes(len(weights))) == trained(), "a drift of zeros changes nothing")
        check(trained(drift=struct.pack("<f", 1) * len(numbers)) != trained(), "and another one does")


def main(command):
    worker = Worker(command)
    told, arrays = described(worker)
    if not check(told is not None, "it describes itself in one line of JSON"):
        return
    if not check("error" not in told, f"without an error: {told.get('error')}"):
        return
    check(told.get("protocol") == 1, "in protocol 1")
    if not check(isinstance(told.get("clients"), int) and told["clients"] > 0 and told.get("tensors"),
                 "it has clients and tensors"):
        return
    if not check(all(a is not None for a in arrays), "with arrays in the memory"):
        return
    counts = list(struct.iter_unpack("<3q", arrays[0]))
    weights = arrays[1]
    n = len(weights) // 4
    check(all(c >= 0 for client in counts for c in client), "numbers of samples are not negative")
    check(all(map(math.isfinite, struct.unpack(f"<{n}f", weights))), "initial weights are finite")
    check(isinstance(told.get("worst"), (int, float)) and told["worst"] > 0, "a loss that is divergence is above 0")
    if not check(set(told.get("knows", [])) <= set(WORDS), f"it knows words of a turn, or none: {told.get('knows')}"):
        return
    check(len(arrays) < 3 or arrays[2].count(b"\0") == len(counts), "every client has a name, or none")
    check(described(worker)[1] == arrays, "asked again, it says the same")
    able = [i for i, client in enumerate(counts) if client[0] > 0] or [0]
    first, second = able[0], able[-1]
    out, changed = turn(worker, told, counts, weights, first, 1)
    if not check(isinstance(out, dict) and "error" not in out, f"it answers a turn: {out}"):
        return
    check(out.get("turn") == 1, "with the turn's number")
    check(out.get("weights") == n, "it writes all weights")
    check(all(map(math.isfinite, struct.unpack(f"<{n}f", changed))), "which are finite")
    check(all(is_score(out.get(k), counts[first][1]) for k in ("before", "after")), "it gives both scores")
    check(isinstance(out.get("steps"), (int, float)) and out["steps"] >= 0, "it counts the samples of its steps")
    turn(worker, told, counts, weights, second, 2)
    again, same = turn(worker, told, counts, weights, first, 3)
    check(again is not None and dict(again, turn=1) == out and same == changed,
          "the same turn, after another client's, has the same bits")
    if told.get("ahead"):
        again, same = turn(worker, told, counts, weights, first, 5, other=second)
        check(again is not None and dict(again, turn=1) == out and same == changed,
              "and the same, sent with another client's while nothing was answered")
    out, _ = turn(worker, told, counts, weights, first, 4, train=False, after=False)
    check(out is not None and is_score(out.get("before"), counts[first][1]), "it scores without training")
    knows(worker, told, counts, weights, first)
    check(not select.select([worker.socket], [], [], 0.2)[0], "it says nothing that nobody asked for")
    check(ends(worker), "it ends when the run does")


if len(sys.argv) not in (2, 3):
    sys.exit(__doc__)
if len(sys.argv) == 2:
    main(sys.argv[1])
else:
    program(sys.argv[1], json.loads(sys.argv[2]))
print(f"1..{number}")
sys.exit(failed > 0)
