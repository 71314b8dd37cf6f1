"""weft.minimize: a search by a function, in this process or in several."""
import contextlib
import multiprocessing
import multiprocessing.connection
import os
import re
import reprlib
import signal
import time
import traceback
import warnings
from numbers import Real

from weft_search import Error, Search, Space, Trial, keys_of, number, real
from weft_space import configspace

ARGUMENTS = {"run.tuner": "tuner", "run.sampler": "sampler", "run.seed": "seed", "space.prior": "prior", "space.configs": "trials"}
SHORT = 0.02  # seconds of a trial, below which a process is given the next one before its end, and a few are told together


def minimize(f, space, tuner=None, sampler=None, trials=None, workers=1, seed=None, output=None,
             settings=None, force=False, prior=None, objectives=None, limits=None):
    """Searches for the values that minimise f, and returns the Best.

    f         of a Trial t, returns its loss, or {"loss": ..., "error": ..., other numbers by name}; one that is
              not finite is of a trial that failed, which is warned of. What it raises ends the search, which can go on. Trials shorter
              than 0.02 s are told a few together, at most 8, which a kill loses
    space     {name: range}: (1, 9) of whole numbers, (0.0, 1.0), (1e-4, 1.0, "log"), or a list, of which f is given
              one: a number, a text, None, a tuple, a function, any object; or a text as in an input file:
              "log 1e-4 .. 1 when kind = a"; or a distribution of Optuna, or a frozen one of scipy.stats. In place
              of the dict a ConfigurationSpace of ConfigSpace 1, or the name of its JSON, with conditions and forbidden
              clauses, whose orders and defaults are not read; or the run file of a search that is to go on. Objects
              that Python does not print as it reads them, such as functions, are not in that file: give the space
              again, and output
    tuner, sampler  of `weft list tuners` and `weft list samplers`: random, space; trials: their number, of the
              tuners that do not make as many as their own options say, as hyperband and pbt do
    objectives  ["loss", "seconds", "-accuracy"]: what is minimised together, the loss first, -NAME where it is to be
              large; f returns a tuple in this order, or a dict. The Best has .front, a list of dicts of these, of
              the values, and of trial and total: trials that no other is better than in all of them
    limits    ["seconds <= 2"]: trials beyond come behind all others
    workers   processes in which f is called; 1: it is called here
    prior     a run file, or several, or a table of trials, which tell the sampler (tpe, say) what is known
    seed      of all that is random: 1; output, settings, force: as of Search
    """
    prior = " ".join(map(str, prior)) if isinstance(prior, (list, tuple)) else prior
    given = dict(zip(ARGUMENTS, (tuner, sampler, seed, prior and str(prior))))
    given = {key: value for key, value in given.items() if value is not None}
    objectives, limits = ([x] if isinstance(x, str) else x for x in (objectives, limits))
    given |= {f"run.{key}": ", ".join(map(str, x)) for key, x in (("objectives", objectives), ("limits", limits)) if x}
    for name, number_of in (("trials", trials), ("workers", workers)):
        if (number_of is not None or name == "workers") and not (isinstance(number_of, Real) and number_of >= 1 and number_of == int(number_of)):
            raise Error(f"{name} = {number_of!r}: expected a whole number of 1 at least")
    if trials is not None:
        given["space.configs"] = int(trials)
    named = {key: ARGUMENTS.get(key, key[4:]) for key in given if key not in (settings or {})}
    settings = {} if settings is None else settings
    keys_of("settings", settings, '{"run.tuner": "asha"}')
    for key in settings.keys() & given.keys():
        if str(settings[key]) != str(given[key]):
            raise Error(f"{ARGUMENTS.get(key, key[4:])} = {given[key]!r}, and settings has {key} = {settings[key]!r}; give one of them")
    given |= settings
    search, known = space, Space()
    if not isinstance(space, (str, os.PathLike)) or configspace(space):
        known = Space(space)
        search = {"parameters": known}
        given = {"run.tuner": "random", "run.sampler": "space", "run.seed": 1} | given
        if workers > 8:
            given.setdefault("run.workers", workers)  # so many trials at once
    soon = isinstance(search, dict) and given.get("run.clock") != "wall"  # then the order of what is told counts
    with Pool(f, int(workers), known, objectives) as pool, begun(named, search, given, output, force) as s:
        while True:
            while pool.has_room() and (t := s.ask()):
                pool.start(t)
            if not pool.works():
                return s.best
            for t, result in pool.finished():
                if isinstance(result, Error):
                    raise result
                report(s, t, result, soon and pool.short)


def begun(named, *arguments):
    """A Search; what it refuses of minimize's own arguments is named as these are."""
    try:
        return Search(*arguments)
    except Error as e:
        text = re.sub(r"^command line: (\S+) = ", lambda key: named.get(key[1], key[0][:-3]) + " = ", str(e))
        raise Error(text, e.status) from None


def outcome(f, t, objectives=None):
    """What f returns, as {"loss": number, ...}."""
    returned = numbers = f(t)
    try:
        if not isinstance(numbers, dict):
            numbers = dict(zip([name.strip(" -") for name in objectives or ["loss"]], numbers if objectives else [numbers], strict=True))
        if not all(isinstance(name, str) for name in numbers):
            raise TypeError
        return {"loss": numbers["loss"]} | {name: None if x is None else real(x) for name, x in numbers.items()}
    except (KeyError, OverflowError, TypeError, ValueError):
        expected = f"a tuple of {', '.join(objectives)}" if objectives else "a number, the loss"
        raise Error(f"{t!r}: f returned {reprlib.repr(returned)}: expected {expected}, or a dict of numbers with 'loss'") from None


def report(s, t, result, soon):
    """Tells an outcome, or the text why there is none."""
    if not isinstance(result, str) and number(result["loss"]) is None:
        result = f"its loss is {result['loss']}"
    if isinstance(result, str):
        warnings.warn(f"{t!r} failed: {result}", RuntimeWarning, stacklevel=3)
        s.fail(t, result)
    else:
        s.tell(t, result.pop("loss"), result.pop("error", None), result, soon)


class Pool:
    """Processes that call f; none where one is enough: then f is called here. Each has one trial, and
    while trials are short a second one, so that it need not wait for this process."""

    def __init__(self, f, workers, space, objectives=None):
        self.f = lambda t: outcome(f, t, objectives)
        self.space, self.alone, self.short = space, workers < 2, False
        self.trials = {None: []} if self.alone else {}  # by processes' ends of pipes
        self.process = {}
        if not self.alone and multiprocessing.current_process().daemon:
            raise Error(f"workers = {workers}: a process of multiprocessing.Pool may have none of its own; take workers=1 there, or "
                        "concurrent.futures.ProcessPoolExecutor in its place")
        for _ in range(0 if self.alone else workers):
            self.add()

    def add(self):
        fork = multiprocessing.get_context("fork")
        end, other = fork.Pipe()
        # No daemon: f may have processes of its own. The end of this one ends it by its pipe.
        process = fork.Process(target=work, args=(self.f, self.space, other, [end, *self.process]), daemon=False)
        process.start()
        other.close()
        self.process[end], self.trials[end] = process, []

    def has_room(self):
        most = 2 if self.short and not self.alone else 1
        return any(len(given) < most for given in self.trials.values())

    def works(self):
        return any(self.trials.values())

    def start(self, t):
        end = min(self.trials, key=lambda end: len(self.trials[end]))
        self.trials[end].append(t)
        if end:
            with contextlib.suppress(OSError):  # of a process that has ended: finished() sees it
                end.send(t.told)  # objects may not be sent

    def finished(self):
        """(trial, its outcome) of those that are done; waits for one."""
        if self.alone:
            t = self.trials[None].pop()
            begun = time.perf_counter()
            result = self.f(t)
            self.short = time.perf_counter() - begun < SHORT
            yield t, result
            return
        for end in multiprocessing.connection.wait([end for end, given in self.trials.items() if given]):
            t = self.trials[end].pop(0)
            try:
                result, seconds = end.recv()
                self.short = seconds < SHORT
            except (EOFError, ConnectionResetError):
                result = self.replace(end)
            yield t, result

    def replace(self, end):
        """Another process for one that has ended; returns how it did."""
        process, waiting = self.process.pop(end), self.trials.pop(end)
        process.join()
        self.add()
        for t in waiting:
            self.start(t)
        return f"its process ended with {process.exitcode}"

    def __enter__(self):
        return self

    def __exit__(self, *exception):
        for end, process in self.process.items():
            process.terminate()
            process.join()
            end.close()


def work(f, space, pipe, others):
    """A process: calls f for what comes over the pipe, until its other end is closed."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    for end in others:
        end.close()
    while True:
        try:
            t = Trial(pipe.recv(), space)
        except (EOFError, OSError):
            return
        begun = time.perf_counter()
        try:
            result = f(t)
        except Error as e:
            result = e
        except BaseException:  # sys.exit() among them
            result = Error(f"job {t.job}, {t!r}:\n{traceback.format_exc()}")
        pipe.send((result, time.perf_counter() - begun))
