"""Programs that weft tunes and keeps for the whole run (command.serve = yes).

    import weft

    def train(trial):                                  # a trial: a choice of parameters
        model = trial.state or Model(trial["rate"])    # state: what was saved of it, if anything was
        for epoch in range(trial.done, 100):
            model.fit(...)
            weft.report(model.loss(), epoch + 1, state=model)

    weft.program(train)

report() returns where weft goes on with the trial, at once or after other trials, for which the
call of train waits in memory; where weft does not go on, it raises Stopped. A function that reports
nothing returns its loss, or a dict of loss and other numbers, of training trial.total from the
start. What is reported must be a function of the trial alone: the generators of `random`, NumPy
and PyTorch, if imported before, are seeded and kept for each trial. What is printed is in a file of
the run's directory. src/worker/README.md of weft has the protocol. Needs nothing but Python.
"""
import os
import pickle
import random
import re
import sys
import threading

from weft_link import PROTOCOL, Link, described, literal, number

server = None  # of this program
NAME = re.compile(r"[A-Za-z_][A-Za-z0-9_./-]*")


class Stopped(BaseException):
    """Raised by report() where weft does not go on with the trial; not to be caught for good."""


class Trial:
    """What train is given.

    values   {name: value} of section [parameters], of "(50,) | None" a tuple or None; trial["rate"] is one of them
    trial    its number
    seed     for what is random in it
    total    resource that it has at the end of its present job
    done     that it had been trained for when train was called: 0, or that of `state`
    state    what was given to report(state=) then; None: train from the start
    """

    def __init__(self, message):
        self.trial, self.seed = message["trial"], message["seed"]
        self.values = {name: literal(value) for name, value in message["values"].items()}
        self.state, self.done, self.skip = None, 0, -1  # reports up to `skip` are not told
        self.kept, self.random, self.step = None, None, 0  # state, generators, resource at its last report
        self.waits, self.wake, self.dropped = False, threading.Semaphore(0), None  # within report()
        self.over = False  # weft does not go on with it, whatever its function makes of Stopped
        self.thread = self.wrong = None  # in which train is called; what was wrong in another

    def __getitem__(self, name):
        return self.values[name]

    def anew(self):
        """train is to be called, with the state that was kept, or from the start."""
        self.state = self.kept
        self.done = self.step = 0 if self.kept is None else self.step
        self.skip = -1 if self.kept is not None else self.job["done"] or -1


# ---- random generators ---------------------------------------------------------------------

def torch():
    return sys.modules.get("torch")


def numpy():
    return sys.modules.get("numpy")


def seed(number):
    random.seed(number)
    if numpy():
        numpy().random.seed(number)
    if torch():
        torch().manual_seed(number)


def generators():
    """The states of all generators; put() sets them."""
    cuda = torch() and torch().cuda.is_available()
    return (random.getstate(), numpy() and numpy().random.get_state(), torch() and torch().get_rng_state(),
            torch().cuda.get_rng_state_all() if cuda else None)


def put(states):
    random.setstate(states[0])
    if states[1] is not None and numpy():
        numpy().random.set_state(states[1])
    if states[2] is not None and torch():
        torch().set_rng_state(states[2])
    if states[3] is not None and torch():
        torch().cuda.set_rng_state_all(states[3])


# ---- the server ----------------------------------------------------------------------------

class Left(BaseException):
    """Another thread serves from here on."""


class Program:
    """One thread at a time serves weft's requests and trains. Where a trial is to wait, its thread does so within
    report(), and a new one serves; that one ends when it is asked to go on with the trial."""

    def __init__(self, train):
        self.train, self.link = train, Link("command.serve = yes and command.run")
        self.waiting = {}  # trials by the name of their state, (trial, job)
        self.running = self.owner = None  # trial; that whose generators are in place
        self.over = threading.Event()  # the run

    def serve(self):
        try:
            self.link.serve("programs", self.answer)
            for state in list(self.waiting):
                self.drop(state)
        except Left:
            return
        self.over.set()

    def place(self, trial):
        """Its random generators."""
        self.running = trial
        if self.owner is not trial:
            put(trial.random) if trial.random else seed(trial.seed)
            self.owner = trial

    def call(self, trial):
        """Calls train: how it ended, and what it returned."""
        self.place(trial)
        trial.over, trial.thread, trial.wrong = False, threading.get_ident(), None
        try:
            how = "returned", self.train(trial)
        except Stopped:
            how = "stopped", None
        except BaseException as error:
            how = "raised", described(error)
        if trial.dropped:
            trial.dropped.set()
            raise Left
        return ("stopped", None) if trial.over else ("raised", trial.wrong) if trial.wrong else how

    def report(self, loss, step, state, metrics):
        trial = self.running
        if trial.over:
            raise Stopped
        if threading.get_ident() != trial.thread:
            trial.wrong = "weft.report() is for the thread in which train was called, and another one called it"
        if trial.wrong:
            raise RuntimeError(trial.wrong)
        named(metrics)
        trial.step = trial.step + 1 if step is None else step if type(step) is int else float(step)  # NumPy's, too
        trial.kept = state
        if trial.step <= trial.skip:
            return
        trial.last = dict(metrics, loss=loss)
        if trial.step < trial.total:
            answer = self.link.ask({"report": trial.job["job"], "step": trial.step, "loss": number(float(loss))})
            if not answer["go"]:
                trial.over = True
                raise Stopped
            return
        trial.waits = True
        self.link.say(self.answered(trial))
        threading.Thread(target=self.serve, daemon=True).start()
        trial.wake.acquire()
        trial.waits = False
        if trial.dropped:
            trial.over = True
            raise Stopped

    def drop(self, state):
        trial = self.waiting.pop(tuple(state), None)
        if trial and trial.waits:
            trial.dropped = threading.Event()
            self.running = trial
            trial.wake.release()
            trial.dropped.wait()

    def begin(self, message):
        """The trial of a job, which goes on where it waits, or from what was saved, or from the start."""
        for state in message["drop"]:
            self.drop(state)
        state = message["from"] and tuple(message["from"])
        old, copies = self.waiting.get(state), state and state[0] != message["trial"]
        if old and not copies:
            return self.waiting.pop(state)
        trial = Trial(message)
        if old or message["load"]:
            if old and old.kept is None:
                raise ValueError(f"trial {trial.trial} copies trial {old.trial}, which reports no state: "
                                 "expected weft.report(loss, step, state=...)")
            text = saved(old) if old else open(os.path.join(message["load"], "state.pickle"), "rb").read()
            more = at_end(old) if old else open(os.path.join(message["load"], "weft.pickle"), "rb").read()
            trial.state = trial.kept = pickle.loads(text)
            trial.step, trial.random = pickle.loads(more)
            trial.done = trial.step
            if copies:
                trial.random = None  # it has a seed of its own
        else:
            trial.skip = message["done"] or -1
        return trial

    def do_job(self, message):
        trial = self.begin(message)
        trial.job, trial.total, trial.last = message, message["total"], None
        if trial.waits:
            self.place(trial)
            trial.wake.release()
            raise Left
        how, value = self.call(trial)
        if how == "returned" and value is None and trial.last is None:
            trial.anew()
            how, value = self.call(trial)
        if how == "stopped":
            return {"stopped": trial.job["job"]}
        if how == "raised":
            return {"error": value}
        if value is not None:
            trial.last = named(dict(value)) if isinstance(value, dict) else {"loss": value}
        if trial.last is None or trial.last.get("loss") is None:
            raise ValueError("train returned no loss, and reported none")
        trial.state, trial.done = trial.kept, trial.step
        return self.answered(trial)

    def answered(self, trial):
        """What weft is told at the end of a job; the trial waits, if there is something to go on from."""
        metrics = {str(k): None if x is None else number(float(x)) for k, x in trial.last.items()}
        held = trial.waits or trial.kept is not None
        if held:
            trial.random = generators()
            self.waiting[trial.trial, trial.job["job"]] = trial
        return {"job": trial.job["job"], "step": trial.step or trial.total, "loss": metrics.pop("loss"),
                "metrics": metrics, "held": held, "saves": trial.kept is not None}

    def do_save(self, message):
        trial = self.waiting[message["trial"], message["job"]]
        for name, text in (("state.pickle", saved(trial)), ("weft.pickle", at_end(trial))):
            with open(os.path.join(message["directory"], name), "wb") as out:
                out.write(text)
        return {"saved": message["job"]}

    def answer(self, message):
        if message["ask"] == "describe":
            return {"protocol": PROTOCOL}
        return self.do_job(message) if message["ask"] == "job" else self.do_save(message)


def named(metrics):
    for name, x in metrics.items():
        if not NAME.fullmatch(str(name)):
            raise ValueError(f"{name!r} is no name of a metric: a letter or _, then letters, digits, _ . - /")
        try:
            x is None or float(x)
        except (TypeError, ValueError):
            raise ValueError(f"{name} is {x!r}: expected a number") from None
    return metrics


def saved(trial):
    return pickle.dumps(trial.kept)


def at_end(trial):
    return pickle.dumps((trial.step, trial.random))


# ---- public --------------------------------------------------------------------------------

def report(loss, step=None, state=None, **metrics):
    """Tells the loss of the running trial once it has been trained for `step` units of resource in
    all, one more than at the last report unless it is given.

    state    what the trial can go on from, anything that pickle takes: of another process, after a
             stop, or as a copy; None: it goes on in memory, or is trained from the start again
    metrics  further numbers by name; error, a share of wrong answers, and train_loss are shown
    """
    if server is None or server.running is None:
        raise RuntimeError("weft.report is for functions that weft.program(train) calls")
    server.report(loss, step, state, metrics)


def program(train):
    """Trains trials for weft by train(trial) until the run ends."""
    global server
    server = Program(train)
    server.serve()
    server.over.wait()
