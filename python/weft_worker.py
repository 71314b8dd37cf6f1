"""Clients of a federation that a Python program trains for weft.

The program, which the input file names (fed.model = worker, worker.run = python3 clients.py),
calls serve() once. weft starts it on every rank, draws clients and options, and asks for turns:

    import weft

    def turn(t):                        # what client t.client does
        w = {name: array.copy() for name, array in t.weights.items()}
        before = score(w, ...) if t.before else None      # (mean loss, wrong answers, predictions)
        ...                             # train w with t.options.lr, t.options.batch ...
        return t.answer(weights=w, steps=samples_seen, before=before, after=score(w, ...))

    weft.serve(turn, weights={"w": w0}, train=[60, ...], valid=[14, ...], classes=10)

What a turn answers must be a function of the turn alone. What the program prints is in a file of
the run's directory. Needs NumPy; src/worker/README.md of weft has the protocol.
"""
import math
import mmap
import os
import types

import numpy as np

from weft_link import PROTOCOL, Link, number

PARTS = ("train", "valid", "test")
WORDS = ("tensors", "anchor", "drift")


def rank():
    """The number of the rank that started this process, 0 .. ranks - 1."""
    return int(os.environ.get("WEFT_RANK", 0))


def local_rank():
    """Its place among the ranks of its node, by which it may choose a GPU."""
    return int(os.environ.get("WEFT_LOCAL_RANK", 0))


class Memory:
    """The memory that is shared with weft, as bytes; it may become larger, never smaller."""

    def __init__(self, fd):
        self.fd, self.map, self.size = fd, None, 0

    def reach(self, size):
        """Maps at least so many bytes; True: the map is another than before."""
        if size <= self.size:
            return False
        if os.fstat(self.fd).st_size < size:
            os.ftruncate(self.fd, size)
        self.size = os.fstat(self.fd).st_size
        self.map = mmap.mmap(self.fd, self.size)  # arrays on the former map keep it
        return True

    def array(self, at, count, dtype):
        return np.frombuffer(self.map, dtype, count, at)

    def put(self, arrays):
        """Writes arrays one after the other; returns their places."""
        places, end = [], 0
        for array in arrays:
            places.append(end)
            end += -(-array.nbytes // 64) * 64
        self.reach(max(end, 1))
        for at, array in zip(places, arrays):
            self.array(at, array.size, array.dtype)[:] = array.ravel()
        return places


class Tensors:
    """Names and shapes of the weights, and their arrays in the shared memory."""

    def __init__(self, weights):
        self.first = {str(k): np.asarray(v, np.float32) for k, v in weights.items()}
        if not self.first:
            raise ValueError("weights has no array")
        self.size = sum(a.size for a in self.first.values())
        self.views = {}

    def flat(self):
        return np.concatenate([a.ravel() for a in self.first.values()])

    def views_at(self, memory, at, writable):
        """{name: array} of the numbers from byte `at` on."""
        if at not in self.views:
            arrays = {}
            for name, like in self.first.items():
                array = memory.array(at + 4 * sum(a.size for a in arrays.values()),
                                     like.size, np.float32).reshape(like.shape)
                array.flags.writeable = writable
                arrays[name] = array
            self.views[at] = arrays
        return self.views[at]

    def write(self, memory, at, given):
        views = self.views_at(memory, at, True)
        if given is None or given.keys() != views.keys():
            raise ValueError(f"weights: expected the arrays {', '.join(self.first)}; got "
                             f"{', '.join(given) if given else 'none'}")
        for name, to in views.items():
            array = np.asarray(given[name])
            if array.shape != to.shape:
                raise ValueError(f"weights: {name} has shape {array.shape}, expected {to.shape}")
            to[...] = array


class Turn:
    """What a client is asked to do.

    client       its number
    round        of the run; -1: an evaluation
    seed         for what is random in the turn
    train        True: train, and answer weights and steps
    before       True: score the weights received
    after        True: score them after training
    part         that is scored: "train", "valid" or "test"
    samples      training samples of an epoch; all of the client's, unless client.max_samples
    scored       samples to be scored; all of the part's, unless fed.max_valid
    options      of section [client], as the client drew them: options.lr, batch, epochs ...
    parameters   of section [parameters], as the client drew them: parameters["depth"]
    weights      {name: array} received, not to be changed
    and with serve(knows=...) of these words:
    tensors      names of the weights to be trained; the others stay as received
    anchor       {name: array} towards which options.mu pulls, in place of the weights received
    drift        {name: array} to be added to every gradient; None: nothing is
    """

    def __init__(self, server, message):
        self._server = server
        self._message = message
        self.client = message["client"]
        self.round = message["round"]
        self.seed = message["seed"]
        self.train = message["train"]
        self.before = message["before"]
        self.after = message["after"]
        self.part = message["part"]
        self.samples = message["samples"]
        self.scored = message["scored"]
        self.options = types.SimpleNamespace(**message["options"])
        self.parameters = dict(message["parameters"])
        self.weights = self._at("weights", 0)
        trained = message.get("tensors", [1] * len(self.weights))
        self.tensors = [name for name, trains in zip(self.weights, trained) if trains]
        self.anchor = self._at("anchor", message["weights"])
        self.drift = self._at("drift", -1)

    def _at(self, key, missing):
        """{name: array} at the place that the message tells; None: it is -1."""
        at = self._message.get(key, missing)
        return self._server.tensors.views_at(self._server.memory, at, False) if at >= 0 else None

    def order(self, epoch):
        """Indices of the samples of an epoch, in the order that weft's own networks would take;
        needs serve(orders=True)."""
        at = self._message["order"] + 8 * epoch * self.samples
        return self._server.memory.array(at, self.samples, np.int64)

    def batches(self, epoch):
        """The same in batches of options.batch."""
        order = self.order(epoch)
        for i in range(0, self.samples, self.options.batch):
            yield order[i:i + self.options.batch]

    def spread(self, n):
        """Indices of the samples to be scored, evenly spread over the n of the part."""
        return (np.arange(self.scored) * float(n) / max(self.scored, 1)).astype(np.int64)

    def answer(self, weights=None, steps=0, before=None, after=None, train_loss=None,
               change=False, metrics=None):
        """What the turn function returns.

        weights     {name: array} after training, or with change=True what they changed by
        steps       samples that it was trained on, those of all epochs
        before, after  (mean loss, wrong answers, predictions); one that was not asked for may be None
        train_loss  mean loss over the steps of training
        metrics     {name: number} of serve(metrics=names); their means are in /metrics of the run
        """
        out = {"turn": self._message["turn"]}
        if metrics:
            if odd := [name for name in metrics if name not in self._server.metrics]:
                raise ValueError(f"metrics: {odd[0]!r} is none of those that serve was given: serve(metrics={self._server.metrics})")
            out["metrics"] = {str(name): number(float(x)) for name, x in metrics.items()}
        for name, score in (("before", before), ("after", after)):
            if not getattr(self, name):
                continue
            if score is None or len(score) != 3:
                raise ValueError(f"{name}: expected (mean loss, wrong answers, predictions)")
            loss, wrong, count = (float(x) for x in score)
            out[name] = [number(loss * count), number(wrong), number(count)]
        if self.train:
            self._server.tensors.write(self._server.memory, self._message["answer"], weights)
            out.update(weights=self._server.tensors.size, change=bool(change),
                       steps=number(float(steps)))
            if train_loss is not None:
                out["train_loss"] = number(float(train_loss))
        return out


class Turns(Link):
    """Requests whose options are mostly those of the last one, and are read once."""

    def __init__(self, how):
        super().__init__(how)
        self.text, self.options = None, {}

    def decoded(self, text):
        head, mark, options = text.partition(b',"options":')
        if not mark:
            return super().decoded(text)
        if options != self.text:
            self.text, self.options = options, super().decoded(b'{"options":' + options)
        return super().decoded(head + b"}") | self.options


class Server:
    def __init__(self, turn, describe):
        self.link = Turns("fed.model = worker and worker.run")
        self.turn, self.describe = turn, describe
        self.memory = Memory(int(os.environ["WEFT_MEMORY"]))
        self.tensors = None

    def do_describe(self, message):
        told = self.describe(message["seed"])
        self.tensors, self.metrics = Tensors(told["weights"]), told["metrics"]
        counts, names = told["counts"], told["names"]
        text = "".join(str(n) + "\0" for n in names).encode() if names is not None else b""
        arrays = [counts, self.tensors.flat(), np.frombuffer(text, np.uint8)]
        places = self.memory.put(arrays)
        self.tensors.views = {}
        out = {"protocol": PROTOCOL, "clients": len(counts), "counts": places[0],
               "weights": places[1], "worst": told["worst"], "errors": told["errors"],
               "orders": told["orders"], "flops": told["flops"], "metrics": told["metrics"],
               "knows": told["knows"], "ahead": True,
               "tensors": [{"name": k, "shape": list(a.shape)} for k, a in self.tensors.first.items()]}
        if names is not None:
            out.update(names=places[2], names_bytes=len(text))
        return out

    def do_turn(self, message):
        end = message["order"] + 8 * message["samples"] * message["options"]["epochs"]
        if end > self.memory.size and self.memory.reach(min(end, os.fstat(self.memory.fd).st_size)):
            self.tensors.views = {}
        out = self.turn(Turn(self, message))
        if not isinstance(out, dict) or "turn" not in out:
            raise TypeError("the turn function must return t.answer(...)")
        return out

    def answer(self, message):
        return self.do_describe(message) if message["ask"] == "describe" else self.do_turn(message)

    def run(self):
        self.link.serve("clients", self.answer)


def counts_of(train, valid, test):
    parts = [np.asarray(p, np.int64) for p in (train, valid, test if test is not None else 0)]
    if parts[0].ndim != 1 or parts[1].shape != parts[0].shape:
        raise ValueError("train and valid: expected as many numbers each as there are clients")
    return np.stack(np.broadcast_arrays(*parts), axis=1).copy()


def serve(turn, weights, train, valid, test=None, names=None, classes=None, worst=None,
          errors=True, orders=False, flops=0, metrics=(), knows=()):
    """Answers weft's requests until the run ends.

    turn      function of a Turn that returns turn.answer(...)
    weights   {name: array} of initial weights, or a function of the run's seed that gives it
    train, valid, test  numbers of samples of each client; test may be missing
    names     of the clients; None: they have none
    classes   of the answers; a mean loss of 2 ln classes counts as divergence
    worst     another mean loss that does
    errors    False: wrong answers are not counted, as in regression (fed.score = loss)
    orders    True: the turn has the order of samples of each epoch
    metrics   names of at most 8 numbers of your own that turns answer
    flops     operations of a gradient per sample, for estimates and device.flops
    knows     of "tensors", "anchor" and "drift" those of a Turn that turns heed, which
              fed.algorithm = fedrep, ditto, and scaffold or feddyn need
    """
    if worst is None and (classes is None or classes < 2):
        raise ValueError("serve: give classes=, 2 or more, or worst=, a mean loss that counts as divergence")
    counts = counts_of(train, valid, test)
    if isinstance(knows, str) or not set(knows) <= set(WORDS):
        raise ValueError(f"serve: knows={knows!r}: expected a list of {', '.join(WORDS)}")
    if isinstance(metrics, str):
        raise ValueError(f"serve: metrics={metrics!r}: expected a list of names, [{metrics!r}]")
    if names is not None and len(names) != len(counts):
        raise ValueError(f"serve: {len(names)} names of {len(counts)} clients")

    def describe(seed):
        return {"weights": weights(seed) if callable(weights) else weights, "counts": counts,
                "names": names, "worst": float(worst if worst is not None else 2 * math.log(classes)),
                "errors": bool(errors), "orders": bool(orders), "flops": float(flops),
                "metrics": list(metrics), "knows": list(knows)}

    Server(turn, describe).run()
