"""Searches that a Python program drives: it asks for trials, evaluates them, and tells their losses.

    import weft

    def loss(t):
        return train(rate=t.values["rate"], depth=t.values["depth"], epochs=t.resource)

    best = weft.minimize(loss, {"rate": "log 1e-4 .. 1", "depth": (1, 9)}, tuner="asha", trials=50, workers=2)

or step by step:

    with weft.Search("search.ini", output="run.h5") as s:
        while t := s.ask():
            s.tell(t, loss(t))
    print(s.best.values, s.best.loss)

`weft serve` is its child, over a pipe: no launcher, no server. A search is a run as any other, with
a run file, which weft.read reads; after a kill weft.Search("run.h5") goes on. What is searched depends
on the losses alone, not on when, in which order or by how many workers they are told, and has the digest
of the same search by task command; with run.clock = wall it depends on that order. Needs the standard
library only; minimize is in weft_minimize.py.
"""
import configparser
import contextlib
import json
import math
import os
import re
import shutil
import subprocess
import tempfile
import threading
import weakref

LAUNCHERS = ("OMPI_", "PMIX_", "PMI_", "SLURM_")  # begin variables of a launcher, which weft is not to join
SEARCHES = weakref.WeakSet()  # whose weft has begun


def forked():
    """A process that is forked has no part in them: weft would not see the end of this one."""
    for search in SEARCHES:
        search._child.stdin.raw.close()


os.register_at_fork(after_in_child=forked)


class Error(RuntimeError):
    """What weft says; `status` is its exit status where it has ended, 75 of one that can go on."""

    def __init__(self, text, status=None):
        super().__init__(text)
        self.status = status


def program():
    """$WEFT, or the weft that these modules came with, or the one in PATH."""
    above = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
    for path in (os.environ.get("WEFT"), os.path.join(above, "build/opt/weft"),
                 os.path.join(os.path.dirname(above), "bin/weft"), shutil.which("weft")):
        if path and os.path.exists(path):
            return path
    raise Error("the program weft was not found: set WEFT to its path")


def choice(value):
    """One of several, as an input file has it. A text that would be read as another value is refused."""
    if isinstance(value, str):
        number = re.fullmatch(r"\s*[-+]?(\d+\.?\d*|\.\d+)(e[-+]?\d+)?\s*|true|false", value, re.I)
        if number or value != value.strip() or not value or re.search(r"[|;#\n]|\.\.|\bwhen\b|^log ", value):
            raise Error(f"{value!r} in a list would be read as another value: give a number or a bool as such, or a text "
                        "without |, ;, #, .., 'when' and blanks at its ends, by which your function finds it")
    return setting(value)


def setting(value):
    """As an input file has it. A tuple is a range: (1, 9) of whole numbers, (0.0, 1.0), (1e-4, 1.0, "log");
    a list is a choice; a text is taken as it is: "log 1e-4 .. 1", "a | b"."""
    value = value.item() if hasattr(value, "item") else value  # of NumPy
    if isinstance(value, tuple) and len(value) in (2, 3) and value[2:] in ((), ("log",)):
        return "log " * len(value[2:]) + f"{setting(value[0])} .. {setting(value[1])}"
    if isinstance(value, list) and value:
        return " | ".join(choice(one) for one in value)
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, (int, float)):
        return repr(value)
    if isinstance(value, str) and "\n" not in value:
        return value
    raise Error(f"{value!r}: expected a number, a text, a tuple (low, high) or (low, high, \"log\"), or a list")


class Trial:
    """What is to be evaluated.

    values    {name: value} of section [parameters]
    resource  to train for, in the unit of the schedule: epochs, trees; 1 where it has none
    done      that the trial has already been trained for; total: done + resource
    parent    the trial whose state after `done` it goes on from: itself, or one that it copies; None: a new one
    seed      for what is random in the trial
    trial, job  their numbers
    """

    def __init__(self, message):
        self.__dict__.update(message)

    def __repr__(self):
        return f"Trial {self.trial}, job {self.job}: {self.values}, {self.done:g} + {self.resource:g}"


class Best:
    """The best job so far: its trial, job, values, loss, and total resource."""

    def __init__(self, message):
        self.__dict__.update(message)

    def __repr__(self):
        return f"Best loss {self.loss:g}: {self.values}, trial {self.trial}, total {self.total:g}"


class Search:
    """A search that is asked for trials and told their losses, in any order; by several threads, if so.

    search    an input file as of `weft tune`; or {"parameters": {...}, "run": {"tuner": "asha"}, ...}, its
              sections; or the run file RUN.h5 of a search that is to go on
    settings  {"space.configs": 80, ...} in place of what search says
    output    the run file. A dictionary without it leaves none; an input file has run.output, or NAME-run.h5
    force     True: it is replaced if it exists

    best      the best job so far, or None; over: True at the end; path: of the run file
    """

    def __init__(self, search, settings=None, output=None, force=False):
        self.best, self.over, self.path = None, False, output
        self._lock, self._given, self._next = threading.Lock(), set(), None
        self._place = tempfile.mkdtemp(prefix="weft-")
        self._log = tempfile.TemporaryFile()
        self._child = None
        try:
            command = [program(), "serve", self._input(search)]
            command += [f"{key}={setting(value)}" for key, value in (settings or {}).items()]
            if not command[2].endswith(".h5"):
                command += ["-o", os.fspath(self.path)] + ["--force"] * force
            own = {k: v for k, v in os.environ.items() if not k.startswith(LAUNCHERS)}
            self._child = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                                           stderr=self._log, env=own, start_new_session=True)
            SEARCHES.add(self)
            self._hear()
        except BaseException:
            self._leave()
            raise

    def _input(self, search):
        """The path of the input or run file; sets self.path."""
        if not isinstance(search, dict):
            search = os.fspath(search)
            if search.endswith(".h5"):
                self.path = search
            elif self.path is None:
                ini = configparser.ConfigParser(interpolation=None, strict=False, inline_comment_prefixes=(";", "#"))
                ini.read(search)
                stem = os.path.splitext(os.path.basename(search))[0]
                self.path = ini.get("run", "output", fallback=stem + "-run.h5")
            return search
        search = {section: dict(keys) for section, keys in search.items()}
        if self.path is None:
            self.path = search.get("run", {}).pop("output", os.path.join(self._place, "search.h5"))
        path = os.path.join(self._place, "search.ini")
        with open(path, "w") as f:
            for section, keys in search.items():
                f.write(f"[{section}]\n" + "".join(f"{key} = {setting(value)}\n" for key, value in keys.items()))
        return path

    # ---- lines ----

    def _hear(self):
        line = self._child.stdout.readline()
        if not line.endswith(b"\n"):
            raise self._ended()
        answer = json.loads(line)
        if "best" in answer:
            self.best = Best(answer["best"])
        if answer.get("over"):
            self.over = True
            self._child.stdin.close()
            if self._child.wait():
                raise self._ended()
        return answer

    def _say(self, *requests):
        """The answers; fewer where the search is over before."""
        if self._child.stdin.closed:
            raise Error(f'the search is closed; weft.Search("{self.path}") goes on with it')
        try:
            self._child.stdin.write("".join(json.dumps(one) + "\n" for one in requests).encode())
            self._child.stdin.flush()
            return [self._hear() for _ in requests if not self.over]
        except BaseException as e:  # an answer that was not read would be taken for the next
            ended = self._ended() if isinstance(e, OSError) else e
            self._leave()
            raise ended from None

    def _ended(self):
        """Why the child has ended: the last line that it printed."""
        status = self._child.wait()
        if status < 0:
            return Error(f'weft was ended by signal {-status}; weft.Search("{self.path}") goes on', status)
        self._log.seek(0)
        lines = self._log.read().decode(errors="replace").splitlines()
        said = [line[6:] for line in lines if line.startswith("weft: ")] or lines or ["weft printed nothing"]
        return Error(said[-1], status)

    def _leave(self):
        if self._log.closed:
            return
        if self._child:
            with contextlib.suppress(OSError):
                self._child.stdin.close()
            self._child.wait()
            self._child.stdout.close()
        self._log.close()
        shutil.rmtree(self._place, ignore_errors=True)

    # ---- what it is for ----

    def ask(self):
        """The next Trial; None: there is none, at the end, or until one that was given is told."""
        with self._lock:
            if self.over:
                return None
            trial, self._next = self._next or self._say({"ask": True})[0], None
            if "job" not in trial:
                return None
            self._given.add(trial["job"])
            return Trial(trial)

    def tell(self, trial, loss, error=None, metrics=None):
        """Tells the loss of a trial, a finite number, to be minimised. Beside it an error rate, and numbers by
        name. When it returns the result is recorded. One that is no longer needed, since the search is over,
        is left out."""
        numbers = {"loss": number(loss), "error": number(error)}
        self._tell(trial, numbers | {"metrics": {k: number(v) for k, v in (metrics or {}).items()}})

    def fail(self, trial, why="it has no loss"):
        """Tells that a trial has no loss: it diverged, or ended before."""
        self._tell(trial, {"failed": str(why)})

    def _tell(self, trial, what):
        with self._lock:
            if self.over and trial.job in self._given:
                self._given.discard(trial.job)
                return
            if self.over:
                raise Error(f"job {trial.job} was told before, and the search is over")
            answer, *more = self._say({"tell": trial.job} | what, *[{"ask": True}] * (not self._next))
            if more and "job" in more[0]:
                self._next = more[0]  # what ask will be answered, without another trip
            if "error" in answer:
                raise Error(f"job {trial.job}, trial {trial.trial}: {answer['error']}")
            self._given.discard(trial.job)

    def close(self):
        """Ends it; before its end so that weft.Search(path) can go on."""
        with self._lock:
            self._leave()

    def __enter__(self):
        return self

    def __exit__(self, *exception):
        self.close()


def number(x):
    """As JSON has it: null for what is not finite."""
    x = None if x is None else float(x)
    return x if x is not None and math.isfinite(x) else None
