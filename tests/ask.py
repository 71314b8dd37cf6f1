"""What t_ask.sh drives searches by. Prints nothing, or what is wrong, with status 1.

usage: ask.py ACTION RUN [NUMBER]     RUN.h5, whose input file is RUN.ini if it is not there
       ask.py loss                    as the program of task command
"""
import contextlib
import enum
import fcntl
import itertools
import json
import math
import multiprocessing
import os
import random
import reprlib
import signal
import sys
import tempfile
import time
import warnings
from unittest import mock

import weft


def measure(values, total, done, seed):
    """A function of the trial alone, by which searches are compared."""
    loss = (values["x"] - 0.3) ** 2 + values.get("n", 3) / 50 + (values["k"] == "b") * 0.125 + 1 / total
    return {"loss": loss, "error": abs(math.sin(9 * values["x"])), "seed": seed, "done": done}


def evaluate(t):
    with open(sys.argv[2] + ".calls", "a") as f:
        f.write(f"{t.trial} {t.total:g}\n")
    return measure(t.values, t.total, t.done, t.seed)


def told(s, t):
    numbers = evaluate(t)
    s.tell(t, numbers.pop("loss"), numbers.pop("error"), numbers)


def begin(run):
    """The search of RUN.ini, or what there is of it."""
    return weft.Search(run + ".h5") if os.path.exists(run + ".d") else weft.Search(run + ".ini", output=run + ".h5")


def loss():
    e = os.environ
    total, done, seed = float(e["WEFT_TOTAL"]), int(e["WEFT_DONE"]), int(e["WEFT_SEED"])
    numbers = measure(json.loads(e["WEFT_PARAMETERS"]), total, done, seed)
    print(*(f"{name}={x!r}" for name, x in numbers.items()))


def order(run, held, pick, most=None):
    """Holds so many trials, and tells one of them; is killed after so many."""
    s, had, n = begin(run), [], 0
    with s:
        while n != most:
            while len(had) < held and (t := s.ask()):
                had.append(t)
            if not had:
                return s.best
            told(s, had.pop(pick(len(had))))
            n += 1
        os.kill(os.getpid(), signal.SIGKILL)


def one(run):
    """One after the other."""
    best = order(run, 1, lambda n: 0)
    assert best.loss == measure(best.values, best.total, 0, 0)["loss"], best


def shuffled(run):
    """Many at once, told in any order."""
    draw = random.Random(3)
    order(run, 5, draw.randrange)


def last(run, most=None):
    """Three at once, of which the last is told first."""
    order(run, 3, lambda n: n - 1, most)


def killed(run):
    """The same, by a parent that is killed after every third result, and then goes on."""
    while not os.path.exists(run + ".h5") or os.path.exists(run + ".d"):
        pid = os.fork()
        if pid == 0:
            last(run, 3)
            os._exit(0)
        assert os.waitpid(pid, 0)[1] in (0, signal.SIGKILL)
        wait(run)


def wait(run):
    """Until nobody has the run: weft ends by itself."""
    with contextlib.suppress(FileNotFoundError):
        while True:
            with open(run + ".d/journal", "r+") as f, contextlib.suppress(BlockingIOError):
                fcntl.lockf(f, fcntl.LOCK_EX | fcntl.LOCK_NB)
                return
            time.sleep(0.01)


def child(run):
    """By a child that is killed, or asked to stop, after every fourth result."""
    for number in itertools.cycle((signal.SIGKILL, signal.SIGTERM)):
        s = begin(run)
        with s, contextlib.suppress(weft.Error):
            for n in range(4):
                if not (t := s.ask()):
                    return
                told(s, t)
            t = s.ask()
            s._child.send_signal(number)
            s._child.wait()
            try:
                s.tell(t, 1.0)
            except weft.Error as e:
                killed = number == signal.SIGKILL
                assert ("ended by signal 9" if killed else "stopped by signal 15 after") in str(e), e
                assert e.status == (-9 if killed else 75) and "\n" not in str(e), e
                raise
            sys.exit("the end of weft was not seen")


def minimized(run):
    """By weft.minimize, of the same search."""
    ini = {}
    for line in open(run + ".ini"):
        if line.startswith("["):
            section = ini.setdefault(line.strip()[1:-1], {})
        else:
            section.update([line.strip().split(" = ", 1)])
    given = {f"{a}.{b}": x for a in ini if a != "parameters" for b, x in ini[a].items()}
    space = run + ".h5" if os.path.exists(run + ".d") else ini["parameters"]
    if isinstance(space, str):
        given = {}
    best = weft.minimize(evaluate, space, workers=int(sys.argv[3]), output=run + ".h5", settings=given)
    assert best.loss == measure(best.values, best.total, 0, 0)["loss"], best


def longer(run):
    """A complete search is given as many trials."""
    weft.minimize(evaluate, run + ".h5", trials=int(sys.argv[3]))


# ---- what is refused ---------------------------------------------------------------------


def refused(what, text, status=None):
    """Returns what is said."""
    try:
        what()
    except weft.Error as e:
        assert text in str(e) and "\n" not in str(e) and e.status == status, (str(e), e.status)
        return str(e)
    raise AssertionError("not refused: " + text)


def begins(what, text, status):
    """Refused by a line that begins so."""
    assert refused(what, text, status).startswith(text)


def errors(run):
    """Mistakes, each one line, and none of them ends the search."""
    space = {"x": (0.0, 1.0)}
    refused(lambda: weft.Search(run + "-none.ini"), "none.ini", 3)
    refused(lambda: weft.Search({"parameters": {"x": "0 .. a"}}), "parameters.x", 2)
    for value in {}, None, [], (), (1, 2, 3), ("a", "b"), (0, 1, "lin"), "a\nb", lambda t: 0:
        refused(lambda: weft.Search({"parameters": {"x": value}}), "parameters.x: ")
    for value in (3, 1), (0, 1.0, "log"), [1, 1], [[1], [1]], [evaluate, evaluate], (0, 10**30), (0.0, math.inf):
        refused(lambda: weft.Search({"parameters": {"x": value}}), "parameters.x = ", 2)
    for value in range(4097), range(2**62), list(range(5000)):
        begins(lambda: weft.Search({"parameters": {"x": value}}), f"parameters.x: {reprlib.repr(value)}: expected at most 4096 choices", None)
    with weft.Search({"parameters": {"x": range(4096)}}, {"space.configs": 1}) as s:
        assert s.ask().values["x"] in range(4096)
    refused(lambda: weft.Search({"parameters": {2: (0, 1)}}), "2 is no name")
    refused(lambda: weft.minimize(evaluate, space, trials=0), "trials = 0: expected")
    refused(lambda: weft.minimize(evaluate, space, workers=0), "workers = 0: expected")
    for tuner in "pbt", "hyperband":
        begins(lambda: weft.minimize(evaluate, space, tuner, trials=3), f"trials = 3: run.tuner = {tuner} ", 2)
        begins(lambda: weft.minimize(evaluate, space, tuner, settings={"space.configs": 3}), "command line: space.configs = 3: ", 2)
    refused(lambda: weft.Search({"run": {"task": "command"}, "parameters": space}), "run.task", 2)
    refused(lambda: weft.minimize(evaluate, space, sampler="tpo"), 'did you mean "tpe"', 2)
    with weft.Search({"parameters": space}, {"space.configs": 3}, output=run + ".h5") as s:
        a, b = s.ask(), s.ask()
        refused(lambda: s.tell(a, math.nan), "no finite number")
        refused(lambda: s.tell(a, 1.0, math.inf, {"no name": 1}), "no name")
        s.tell(a, 0.5)
        refused(lambda: s.tell(a, 0.5), "was told before")
        c = s.ask()
        assert s.ask() is None and not s.over and s.best.job == a.job
        s.fail(b, "so it is")
        s.tell(c, 0.25)
        assert s.over and s.ask() is None and s.best.loss == 0.25 and s.best.values == c.values
        refused(lambda: s.tell(c, 0.25), "was told before")
    refused(lambda: weft.Search(run + ".h5"), "is complete", 0)
    begins(lambda: weft.Search({"parameters": space}, output=run + ".h5"),
           f"{run}.h5 exists; choose another output, or replace it by force=True; a search that has ended goes on by its run file", 3)
    arguments(run, space)
    with weft.Search({"parameters": space}, output=run + ".h5", force=True) as s:
        pass
    refused(s.ask, "is closed")
    with warnings.catch_warnings(record=True) as told_of:
        warnings.simplefilter("always")
        begins(lambda: weft.minimize(lambda t: math.nan, space, trials=3), "the search: there is no winner: none of its 3 "
               "jobs has a finite loss; job 0, trial 0 failed: its loss is nan; begin anew by force=True", 6)
    assert [str(one.message).split(" failed: ")[1] for one in told_of] == ["its loss is nan"] * 3, told_of
    for value in "wide", [0.5], {"error": 1}, {"loss": 1, "name": "a"}, 10**400, {"loss": 1, None: 2}, {"loss": 1, 2: 2}, 1j:
        refused(lambda: weft.minimize(lambda t: value, space, trials=3), f"f returned {reprlib.repr(value)}: expected ")
    refused(lambda: weft.minimize(lambda t: (1, 2, 3), space, objectives=["loss", "b"]), "expected a tuple of loss, b")
    refused(lambda: weft.minimize(evaluate, space, trials="3"), "trials = '3': expected")
    with weft.Search({"parameters": space}, {"space.configs": 2, "run.target": 0.5}) as s:
        a, b = s.ask(), s.ask()
        s.tell(a, 0.25)
        s.tell(b, 0.125)  # no longer needed
        assert s.over and s.best.loss == 0.25


def arguments(run, space):
    """Arguments of a wrong kind, before anything begins."""
    here = set(os.listdir(os.path.dirname(run)))
    for value in None, [1], 3:
        refused(lambda: weft.minimize(evaluate, value), f"parameters: {value!r}: expected a dict of ranges")
    refused(lambda: weft.Search({"parameters": None}), "parameters: None: expected a dict of ranges")
    refused(lambda: weft.Search(space), "section x = (0.0, 1.0): expected a dict such as")
    refused(lambda: weft.minimize(evaluate, {"a\ud800": (0, 1)}), "is no name: expected a text")
    begins(lambda: weft.minimize(evaluate, {"n" * 500: (0, 1)}), "a name has at most 63 bytes, and \"nnnnnnnnnnnnnnnn...\" 500", 2)
    for value in (3, 1), (0.0, math.inf), (0.0, 1.0, "log"):
        begins(lambda: weft.minimize(evaluate, {"x": value}), "parameters.x = ", 2)
    with mock.patch.dict(os.environ, WEFT="/none/weft"):
        refused(lambda: weft.minimize(evaluate, space), "WEFT = /none/weft: there is no such program")
    refused(lambda: weft.minimize(evaluate, space, workers=None), "workers = None: expected")
    refused(lambda: weft.minimize(evaluate, space, limits=[3]), "run.limits = 3: expected", 2)
    for value in "run.workers=3", {"workers": 3}, {3: 4}, ["run.workers"]:
        for call in weft.minimize, lambda f, *more, **of: weft.Search({"parameters": space}, **of):
            refused(lambda: call(evaluate, space, settings=value), f"settings = {reprlib.repr(value)}: expected a dict such as ")
    refused(lambda: weft.minimize(evaluate, space, seed=5, settings={"run.seed": 4}), "seed = 5, and settings has run.seed = 4")
    for workers in 1, 2:
        refused(lambda: weft.minimize(evaluate, space, output=run + ".h5", force="no", workers=workers), "force = 'no': expected True")
    assert set(os.listdir(os.path.dirname(run))) == here


class Printed:
    """As a user's class prints itself: alike, whatever it is, and with what an input file has a meaning for."""

    def __repr__(self):
        return "Printed | when a = 1 ; #\n.."


SPACES = [
    [(50,), (100, 50)], [[1, 2], [3]], [(1, 9), (1, 9, "log")], [None, 1], [None, "None", "sqrt"], [{"a": 1}, {"b": [2]}],
    ["1", "2"], ["true", True], [1, 2.5, "auto", True], [1, 1.0, True], [math.nan, math.inf, "inf"], [-0.5, 1e300, 10**40],
    [lambda: 0, lambda: 1, max, Printed], [Printed(), Printed(), Printed()], [{1, 2}, frozenset({"a", "b"})],
    ["a | b", "a ;b", " a", "it's \"b\" | c", "a\nb", "x when y = 1", "1 per trial", "log 1", "", "\\x7c", "größe 1"],
    [b"1", 1j, ..., range(3)], ["x" * 3000, "x" * 2999 + "y"], [None], ["a b, c"], [(1, "it's", '"')], [5], [max], [""],
    range(3), [[], {}, ()], list(range(40)),
]


def of_space(choices, output, **more):
    """What f was given, in two searches: in this process, and in another."""
    seen = []
    for workers in 1, 2:
        path = f"{output}-{workers}.h5"
        best = weft.minimize(lambda t: {"loss": index(choices, t.values["x"])}, {"x": choices}, trials=4 * len(choices),
                             workers=workers, output=path, force=True, **more)
        seen.append(best.values["x"])
    return seen


def index(choices, value):
    """The place of the very object, or of one that is equal and of the same type."""
    found = [i for i, one in enumerate(choices) if one is value]
    return (found or [i for i, one in enumerate(choices) if type(one) is type(value) and repr(one) == repr(value)])[0]


def objects(run):
    for choices in SPACES:
        for value in of_space(choices, run):
            assert index(choices, value) == 0, (choices, value)
    reals(run)
    with contextlib.suppress(ImportError):
        arrays(run)


def reals(run):
    """A whole number of a real axis is no int."""
    for given in (1.0, 1.0), "0.5 .. 1.0 near 1", (2.0, 2.0, "log"):
        seen = []
        best = weft.minimize(lambda t: seen.append(t.values["x"]) or 1.0, {"x": given, "n": (3, 3)}, trials=2)
        assert all(type(x) is float and x == int(x) for x in seen[:1]) and best.values["n"] == 3 and type(best.values["n"]) is int, seen


def arrays(run):
    import numpy as np
    for choices in [np.array([1, 2]), np.arange(3.0)]:
        assert of_space(choices.tolist(), run) and weft.minimize(lambda t: t.values["x"], {"x": choices}).loss == choices[0]
    choices = [np.zeros(3), np.ones((2, 2)), np.float32(0.1), np.int64(3)]
    for value in of_space(choices, run):
        assert index(choices, value) == 0, value
    with contextlib.suppress(weft.Error):
        weft.minimize(lambda t: math.nan, {"x": (np.int64(1), np.float32(2)), "n": [np.int64(1), np.bool_(True)]}, trials=2)


def stopped(space, path, calls, **more):
    """A search that ends in its third trial."""
    def f(t):
        calls.append((t.trial, t.values))
        if len(calls) == 3:
            raise KeyboardInterrupt
        return t.values["x"]
    with contextlib.suppress(KeyboardInterrupt):
        weft.minimize(f, space, output=path, **more)


def together(run):
    """What short trials have is told together, and before an exception ends the search."""
    space, calls, trips, more = {"x": (0.0, 1.0)}, [], [], {"trials": 12, "seed": 3}
    say = weft.Search._say
    weft.Search._say = lambda *of: trips.append(of) or say(*of)
    stopped(space, run + ".h5", calls, **more)
    weft.minimize(lambda t: calls.append((t.trial, t.values)) or t.values["x"], space, output=run + ".h5", **more)
    weft.Search._say = say
    trials = [trial for trial, values in calls]
    assert sorted(trials[:2] + trials[3:]) == list(range(12)), trials
    assert len(trips) < 12, len(trips)


def again(run):
    path, act = run + ".h5", [math.sin, lambda: 0, (1, None)]
    space = {"x": (0.0, 1.0), "act": act, "the size": ["1", "2"]}
    calls, more = [], {"trials": 6, "tuner": "asha", "seed": 3}
    stopped(space, path, calls, **more)
    for key, other in {"act": act[:2], "the size": ["1", "3"], "x": (0, 1), "new": [1, 2]}.items():
        refused(lambda: weft.minimize(evaluate, space | {key: other}, output=path, **more), f"parameters.{key}: the run has ")
    refused(lambda: weft.minimize(evaluate, {"x": (0.0, 1.0), "act": act}, output=path, **more), "parameters.the size: ")
    for key, other in {"seed": 4, "tuner": "sha", "sampler": "tpe"}.items():
        begins(lambda: weft.minimize(evaluate, space, output=path, **(more | {key: other})), f"{key} = {other}: ", 2)
        begins(lambda: weft.minimize(evaluate, path, **{key: other}), f"{key} = {other}: ", 2)
    refused(lambda: weft.minimize(evaluate, path, output=run + "-2.h5"), "output and force are for a new one")
    refused(lambda: weft.minimize(lambda t: 0, path), "give the space again")
    weft.minimize(lambda t: calls.append((t.trial, t.values)) or t.values["x"], space, output=path, **more)
    trials = [trial for trial, values in calls]
    assert sorted(set(trials)) == list(range(6)), trials
    assert all(any(values["act"] is one for one in act) and values["the size"] in ("1", "2") for _, values in calls), calls
    texts = {"x": (0.0, 1.0), "k": [None, (1, 2), "None", "1", "a | b"]}
    calls.clear()
    stopped(texts, run + "-3.h5", calls, trials=20)
    weft.minimize(lambda t: calls.append((t.trial, t.values)) or t.values["x"], run + "-3.h5")
    assert {repr(values["k"]) for _, values in calls} == set(map(repr, texts["k"])), calls


class Kernel(enum.Enum):
    RBF = 1
    LINEAR = "linear"


def kinds():
    """Choices of one kind each, of which none is equal to another by chance."""
    yield list(Kernel)
    yield [{"a": {"b": [1, 2]}}, {"a": {"b": [1, 3]}}]
    yield [math.sin, measure, lambda: 0, lambda: 1]
    with contextlib.suppress(ImportError):
        import numpy as np
        yield [np.zeros(3), np.ones((2, 2)), np.arange(5000), np.arange(5000) + 1]


def kept(run):
    """After a kill f is given the very objects of the space that is given again; another one is refused."""
    for number, choices in enumerate(kinds()):
        path, calls = f"{run}-{number}.h5", []

        def f(t):
            calls.append(t.trial)
            if len(calls) == 3 and t.trial == 2:
                os.kill(os.getpid(), signal.SIGKILL)
            return [one is t.values["x"] for one in choices].index(True)
        child = os.fork()
        if child == 0:
            weft.minimize(f, {"x": choices}, trials=8, output=path)
        assert os.waitpid(child, 0)[1] == signal.SIGKILL
        wait(f"{run}-{number}")
        for other in choices[::-1], choices[1:]:
            refused(lambda: weft.minimize(f, {"x": other}, trials=8, output=path), "parameters.x: the run has ")
        best = weft.minimize(f, {"x": choices}, trials=8, output=path)
        assert set(range(2, 8)) <= set(calls) <= set(range(8)) and best.loss == 0 and best.values["x"] is choices[0], calls


def names(run):
    odd = ["the choice", "größe", "a.b", "a-b", "a/b", "x=1", "a:b", "[0]", "#", "1st", " a ", "%41", "a|b", "π", "when"]
    space = {name: (0.0, 1.0) for name in odd}
    best = weft.minimize(lambda t: t.values["the choice"] if set(t.values) == set(odd) else math.nan, space, trials=4,
                         output=run + ".h5")
    assert list(best.values) == odd, best
    refused(lambda: weft.Search({"parameters": {"n" * 64: (0, 1)}}), "at most 63 bytes", 2)


def failing(t):
    if t.trial == 1:
        os.kill(os.getpid(), signal.SIGKILL)
    if t.trial == 2 and not os.path.exists(sys.argv[2] + ".mended"):
        raise SystemExit("a bug")
    return {"loss": math.inf if t.trial == 3 else t.values["x"]}


def failures(run):
    """A process that ends and a loss that is none are a trial's, an exception is the function's, and
    the search goes on."""
    space, path = {"x": (0.0, 1.0)}, run + ".h5"
    try:
        weft.minimize(failing, space, trials=8, workers=2, output=path)
        sys.exit("an exception was not told")
    except weft.Error as e:
        assert "SystemExit: a bug" in str(e), e
    open(run + ".mended", "w").close()
    best = weft.minimize(failing, path, workers=2)
    with open(run + ".best", "w") as f:
        f.write(repr(best.loss))


def square(x):
    return x * x


def by_processes(t):
    with multiprocessing.get_context("fork").Pool(2) as pool:
        return sum(pool.map(square, [t.values["x"], t.values["x"]]))


def in_pool(workers):
    refused(lambda: weft.minimize(evaluate, {"x": (0.0, 1.0)}, workers=workers),
            "workers = 2: a process of multiprocessing.Pool may have none of its own; take workers=1")


def forks(run):
    """A search ends with its process, though one that was forked goes on; f may have processes of its own."""
    best = weft.minimize(by_processes, {"x": (0.0, 1.0)}, trials=4, workers=2)
    assert best.loss == 2 * square(best.values["x"]), best
    with multiprocessing.get_context("fork").Pool(1) as pool:
        pool.map(in_pool, [2])
    s = begin(run)
    told(s, s.ask())
    pid = os.fork()
    if pid == 0:
        time.sleep(3600)
    s.close()
    assert s._child.returncode == 75
    os.kill(pid, signal.SIGKILL)
    one(run)


def left(run):
    """The directory of a search that is killed goes with the next; that of one at work stays."""
    os.environ["TMPDIR"] = tempfile.tempdir = run + ".place"
    os.mkdir(tempfile.tempdir)
    with begin(run):
        (mine,) = os.listdir(tempfile.tempdir)
        child = os.fork()
        if child == 0:
            weft.Search({"parameters": {"x": (0.0, 1.0)}})
            os.kill(os.getpid(), signal.SIGKILL)
        assert os.waitpid(child, 0)[1] == signal.SIGKILL
        assert len(os.listdir(tempfile.tempdir)) == 2
        with weft.Search({"parameters": {"x": (0.0, 1.0)}}):
            now = os.listdir(tempfile.tempdir)
            assert mine in now and len(now) == 2, now
    assert not os.listdir(tempfile.tempdir)


if __name__ == "__main__":
    if sys.argv[1] == "loss":
        loss()
    else:
        globals()[sys.argv[1]](sys.argv[2])
