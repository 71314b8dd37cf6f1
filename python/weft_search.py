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
import ast
import configparser
import contextlib
import errno
import hashlib
import json
import math
import os
import pprint
import re
import reprlib
import shutil
import subprocess
import tempfile
import threading
import urllib.parse
import weakref
import zlib
from numbers import Complex, Real

import weft_space
from weft_link import DECODE, ENCODE, Error, literal
from weft_space import of_numpy

LAUNCHERS = ("OMPI_", "PMIX_", "PMI_", "MPI_LOCAL", "HYDI_", "PALS_", "SLURM_")  # begin variables of a launcher, which weft is not to join
SEARCHES = weakref.WeakSet()  # whose weft has begun


def forked():
    """A process that is forked has no part in them: weft would not see the end of this one."""
    for search in SEARCHES:
        search._child.stdin.raw.close()


os.register_at_fork(after_in_child=forked)


def program():
    """$WEFT, or the weft that these modules came with, or the one in PATH."""
    here = os.path.dirname(os.path.abspath(__file__))
    # In the source, after make install, after pip install, and that with --target.
    beside = (os.path.normpath(os.path.join(here, place, "weft"))
              for place in ("../build/opt", "../../bin", "../../../bin", "bin"))
    own = os.environ.get("WEFT")
    for path in (own,) if own else (*beside, shutil.which("weft")):
        if path and os.path.isfile(path) and os.access(path, os.X_OK):
            return path
    raise Error(f"WEFT = {own}: there is no such program" if own else "the program weft was not found: set WEFT to its path")


def gone(process):
    try:
        os.kill(process, 0)
    except OSError as e:
        return e.errno == errno.ESRCH
    return False


def temporary():
    """What a temporary directory of this process begins with, WEFT_PYTHON_NAME of include/weft/base/files.h;
    those of processes of this host that are gone are removed."""
    host, place = os.uname().nodename, tempfile.gettempdir()
    with contextlib.suppress(OSError):
        host += os.readlink("/proc/self/ns/pid")  # containers number their processes anew
    begin = f"weft-python.tmp.{zlib.crc32(host.encode()):08x}."
    with contextlib.suppress(OSError):  # a directory that cannot be listed
        for name in os.listdir(place):
            found = re.fullmatch(re.escape(begin) + r"(\d{7,10})[.]\w+", name)
            if found and gone(int(found[1])):
                shutil.rmtree(os.path.join(place, name), ignore_errors=True)
    return f"{begin}{os.getpid():07d}."


# ---- values as an input file has them --------------------------------------------------------

PLAIN = (bool, int, float, str)  # what an input file has words for
LONGEST = 900  # characters of a word
MOST = 4096  # choices of a parameter, WEFT_MOST_VALUES of the program
AHEAD = 8  # trials whose requests go together, at most
OF_RUN = {}  # the parameters of a run file


def setting(value):
    """A text is taken as it is: "log 1e-4 .. 1", "a | b". A tuple is a range: (1, 9) of whole numbers, (0.0, 1.0),
    (1e-4, 1.0, "log"); a list, a range() and an array are choices, each any value of Python."""
    value = of_numpy(value)
    if type(value) is tuple:
        return interval(value)
    if isinstance(value, (list, range)):
        if value[MOST:MOST + 1]:
            raise Error(f"{reprlib.repr(value)}: expected at most {MOST} choices; whole numbers from low to high are a "
                        "tuple, (low, high), with a step a text, \"low .. high step 2\"")
        return " | ".join(words(value)) if len(value) > 1 else alone(words(value)[0])
    if type(value) not in PLAIN or isinstance(value, str) and re.search(r"[\n\r\0]", value):
        raise Error(f"{value!r}: expected a range, (low, high) or (low, high, \"log\"), a list of choices, a number or a "
                    "text; what is one object whatever the trial is a list of one, [None]")
    return value if isinstance(value, str) else plain(value)


def interval(value):
    ends = tuple(map(of_numpy, value[:2]))
    if len(value) not in (2, 3) or value[2:] not in ((), ("log",)) or not all(type(end) in (int, float) for end in ends):
        raise Error(f"{value!r}: a tuple is a range of numbers, (low, high) or (low, high, \"log\"); choices are a list, "
                    f"{list(value)!r}, and a tuple as one of them stands in it, [{value!r}, ...]")
    return "log " * len(value[2:]) + f"{ends[0]!r} .. {ends[1]!r}"


def plain(value):
    return {True: "true", False: "false"}[value] if isinstance(value, bool) else repr(value)


def words(choices):
    """A word for each choice, no two of them alike: of numbers, bools and texts what an input file has, of others
    what Python prints."""
    found = [word(of_numpy(one) if getattr(one, "ndim", 1) == 0 else one) for one in choices]
    if not found:
        raise Error("[]: expected at least one choice")
    for i, one in enumerate(found):
        if one.startswith("<") and one in found[:i] and not any(x is choices[i] for x in choices[:i]):
            found[i] = f"{one[:-1]} {i + 1}>"  # another object that is printed alike
    return found


def word(value):
    if type(value) is str and not is_odd(value):
        return value
    if type(value) in PLAIN and value != math.inf and value != -math.inf and value == value and type(value) is not str:
        return plain(value)
    text = pprint.pformat(value, width=1 << 30, sort_dicts=False)
    if is_literal(value, text) and len(masked(text)) < LONGEST:
        return masked(text)
    text = re.sub(r" at 0x[0-9a-fA-F]+", "", re.sub(r"[\s\0]+", " ", text))
    if len(text) > LONGEST:
        text = text[:LONGEST // 2] + " " + hashlib.sha256(text.encode("utf-8", "replace")).hexdigest()[:12]
    return masked(text if re.fullmatch(r"<.*>", text) else f"<{text}>")


def is_odd(text):
    """Whether it would be read as another value."""
    return bool(re.fullmatch(r"\s*[-+]?(\d+\.?\d*|\.\d+)(e[-+]?\d+)?\s*|true|false|None", text, re.I)
                or text != text.strip() or not text or not text.isprintable() or len(text) >= LONGEST
                or text[0] in "([{<'\"" or re.search(r"[|;#\\\ud800-\udfff]|\.\.|\bwhen\b|^log | per trial$", text))


def is_literal(value, text):
    """Whether what Python prints gives the value back."""
    try:
        again = ast.literal_eval(text)
        return pprint.pformat(again, width=1 << 30, sort_dicts=False) == text and type(again) is type(value)
    except (SyntaxError, ValueError, MemoryError, RecursionError):
        return False


def masked(text):
    """Without what has a meaning in an input file; within quotes it stays the same for Python."""
    text = re.sub(r"[|;#\x7f-\x9f\ud800-\udfff]", lambda c: ("\\x%02x" if ord(c[0]) < 256 else "\\u%04x") % ord(c[0]), text)
    return re.sub(r"\bwhen\b", r"w\\x68en", text)


def alone(text):
    """A word that is the only one."""
    if re.fullmatch(r"[\w.+\-]+", text):
        return text
    if "'" not in text or '"' not in text:
        return f"'{text}'" if "'" not in text else f'"{text}"'
    return '"' + text.replace('"', "`") + '"'


class Space:
    """Section [parameters], and what is forbidden: what an input file has of them, and the values behind that; or
    what a run file has."""

    def __init__(self, parameters=OF_RUN):
        self.given, self.text, self.objects, self.choices = parameters is not OF_RUN, {}, {}, {}
        self.names = {}  # by keys
        told = weft_space.configspace(parameters)
        if not told and not isinstance(parameters, dict):
            raise Error(f"parameters: {parameters!r}: expected a dict of ranges, a ConfigurationSpace, or its NAME.json")
        parameters, when, forbidden = weft_space.read(told) if told else (parameters, {}, [])
        for name, value in parameters.items():
            self.add(name, value, name in when)
        for name, parts in when.items():
            text = self.all_of(parts, when)
            self.text[self.key(name)] += text and f" when {text}"
        self.forbid = " or ".join(self.all_of(parts, when, "parameters.") for parts in forbidden)

    def all_of(self, parts, when, section=""):
        """Conditions joined by "and", without those on what is always the same, which are met."""
        found = [(len(self.choices.get(self.key(name), [[0, 0]])[0]) > 1 or name in when, self.condition(name, values))
                 for name, values in parts]
        return " and ".join(section + text for varies, text in found if varies)

    def add(self, name, value, conditional):
        """A parameter; the word of one that is always the same, and may be lacking, is not quoted."""
        key = self.key(name)
        value = of_numpy(weft_space.labelled(f"parameters.{key}", weft_space.native, value))
        self.text[key] = named("parameters", name, value)
        if isinstance(value, str) and re.match(r"\[.*,|(log)?uniform\(|[-+.\de\s]+,", value):
            raise Error(f"parameters.{name}: {value!r}: in Python choices are a list, [16, 32], and a range is a tuple, "
                        "(1e-4, 1.0, \"log\")")
        if not isinstance(value, (list, range)):
            return
        self.choices[key] = list(value), words(value)
        if conditional and len(value) == 1:
            self.text[key] = words(value)[0] if words(value)[0][0] != "[" else f"<{words(value)[0]}>"
        by_word = {told(one): of for one, of in zip(words(value), value)}
        self.objects[key] = by_word if len(value) > 1 else Only(value[0])

    def condition(self, name, values):
        """"key = x | y" of a parameter that has one of these values."""
        key = self.key(name)
        if re.search(r"\s", key):
            raise Error(f"parameters.{name}: a name in a condition has no blanks; choose another")
        if key not in self.choices:
            return f"{key} = " + " | ".join(map(plain, map(of_numpy, values)))
        choices, known = self.choices[key]
        if missing := [one for one in values if one not in choices]:
            raise Error(f"parameters.{name}: a condition has the value {missing[0]!r}, which is none of {choices!r}")
        return f"{key} = " + " | ".join(known[choices.index(one)] for one in values)

    def key(self, name):
        """The name, with what a key cannot have as %3D."""
        if not isinstance(name, str) or not re.fullmatch("[^\ud800-\udfff]+", name):
            raise Error(f"parameters: {name!r} is no name: expected a text")
        return re.sub(r"^[\d.\- ]|[\x00-\x1f!-,/:-@\[-^`{-\x7f]| $", lambda c: "%%%02X" % ord(c[0]), name)

    def values(self, told_values):
        """What the function is given for what weft told."""
        for key in told_values.keys() - self.names.keys():
            self.names[key] = urllib.parse.unquote(key)
        return {self.names[key]: self.value(key, value) for key, value in told_values.items()}

    def value(self, key, value):
        if key in self.objects:
            return self.objects[key].get((type(value), value), value)
        if not isinstance(value, str):
            return value
        value = literal(value)
        if isinstance(value, str) and re.fullmatch("<.*>", value):
            raise Error(f"parameters.{urllib.parse.unquote(key)}: {value} is an object of Python, which a run file does "
                        "not hold; give the space again: weft.minimize(f, space, output=\"run.h5\")")
        return value

    def compare(self, has):
        """Raises Error for a space that is not that of a run, which has these texts by key."""
        for key in has | self.text:
            one, other = has.get(key), self.text.get(key)
            if one != other:
                raise Error(f"parameters.{urllib.parse.unquote(key)}: the run has {one or 'no such name'}, and the space "
                            f"that is given {other or 'none'}; give the same one, or begin anew by force=True")


def named(section, key, value):
    """The value as an input file has it; what is wrong is told with its name."""
    try:
        return setting(value)
    except Error as e:
        raise Error(f"{section}.{key}: {e}") from None


def keys_of(name, keys, example):
    """Refuses what is no dict with texts as keys, like the example."""
    if not isinstance(keys, dict) or not all(isinstance(key, str) and key.count(".") >= example.count(".") for key in keys):
        raise Error(f"{name} = {reprlib.repr(keys)}: expected a dict such as {example}")


class Only:
    """A single choice, whatever weft tells of it."""

    def __init__(self, value):
        self.one = value

    def get(self, told_value, otherwise):
        return self.one


def told(text):
    """A word as weft tells it, with its type: a number and a bool as such."""
    if re.match("-?[0-9]|true$|false$", text):
        with contextlib.suppress(ValueError):
            text = json.loads(text)
    return type(text), text


class Trial:
    """What is to be evaluated.

    values    {name: value} of section [parameters]
    resource  to train for, in the unit of the schedule: epochs, trees; 1 where it has none
    done      that the trial has already been trained for; total: done + resource
    parent    the trial whose state after `done` it goes on from: itself, or one that it copies; None: a new one
    seed      for what is random in the trial
    trial, job  their numbers
    """

    def __init__(self, message, space):
        self.told = message
        self.__dict__.update(message)
        self.values = space.values(self.values)

    def __repr__(self):
        return f"Trial {self.trial}, job {self.job}: {self.values}, {self.done:g} + {self.resource:g}"


class Best:
    """The best job so far: its trial, job, values, loss, and total resource; at the end of a search with
    run.objectives also front, a list of {"trial": ..., "total": ..., "values": {...}, "loss": ..., other objectives}:
    the trials that no other dominates."""

    def __init__(self, message, space):
        self.front = []
        self.__dict__.update(message)
        self.values = space.values(self.values)

    def __repr__(self):
        return f"Best loss {self.loss:g}: {self.values}, trial {self.trial}, total {self.total:g}"


class Search:
    """A search that is asked for trials and told their losses, in any order; by several threads, if so.

    search    an input file as of `weft tune`; or {"parameters": SPACE, "run": {"tuner": "asha"}, ...}, its
              sections, with a space as of weft.minimize; or the run file RUN.h5 of a search that is to go on
    settings  {"space.configs": 80, ...} in place of what search says
    output    the run file. A dictionary without it leaves none; with that of a search that was stopped it goes on,
              if it is the same; an input file has run.output, or NAME-run.h5
    force     True: it is replaced if it exists

    best      the best job so far, or None; over: True at the end; path: of the run file
    """

    def __init__(self, search, settings=None, output=None, force=False):
        self.best, self.over, self.path = None, False, output if output is None else os.fsdecode(output)
        self._lock, self._given = threading.Lock(), set()
        self._next, self._late = [], []  # trials that ask will be answered; what is still to be told, as (trial, numbers)
        self._place = tempfile.mkdtemp(prefix=temporary())
        self._log = tempfile.TemporaryFile()
        self._child = None
        try:
            self._start(search, {} if settings is None else settings, force)
        except BaseException:
            self._leave()
            raise

    def _start(self, search, settings, force):
        keys_of("settings", settings, '{"run.tuner": "asha"}')
        if force not in (True, False):
            raise Error(f"force = {force!r}: expected True or False")
        if not isinstance(search, dict):
            self._space = Space()
            source, path = self._file(os.fspath(search))
            if source.endswith(".h5") and (force or self.path not in (None, path)):
                raise Error(f"{source} is a run to go on with: output and force are for a new one")
            self.path = self.path or path
            self._begin(source, settings, force)
            return
        parameters = search.get("parameters", {})
        self._space = parameters if isinstance(parameters, Space) else Space(parameters)
        search = {section: keys for section, keys in search.items() if section != "parameters"}
        for section, keys in search.items():
            keys_of(f"section {section}", keys, '{"parameters": {"x": (0, 1)}, "run": {"tuner": "asha"}}')
            search[section] = dict(keys)
        if self._space.forbid:
            own = search.setdefault("space", {})
            if "space.forbid" in settings or own.setdefault("forbid", self._space.forbid) != self._space.forbid:
                raise Error("space.forbid: the ConfigurationSpace has forbidden clauses; add these there")
        if self.path is None:
            self.path = search.get("run", {}).pop("output", os.path.join(self._place, "search.h5"))
        path = self.path = os.fsdecode(self.path)
        goes_on = not force and os.path.exists(re.sub(r"[.]h5$", "", path) + ".d/journal")
        if goes_on:
            given = {f"{section}.{key}": value for section, keys in search.items() for key, value in keys.items()}
            try:
                self._begin(path, given | settings)
            except Error as e:
                goes_on = "was stopped before it started" not in str(e)
                if goes_on:
                    raise
        if not goes_on:
            self._begin(self._written(search), settings, force)

    def _file(self, search):
        """The input or run file, and the run file."""
        if search.endswith(".h5"):
            return search, search
        ini = configparser.ConfigParser(interpolation=None, strict=False, inline_comment_prefixes=(";", "#"))
        if self.path is None:
            ini.read(search)
        stem = os.path.splitext(os.path.basename(search))[0]
        return search, ini.get("run", "output", fallback=stem + "-run.h5")

    def _written(self, search):
        """The path of an input file with these sections, and the space."""
        path = os.path.join(self._place, "search.ini")
        with open(path, "w", encoding="utf-8") as f:
            for section, keys in search.items():
                f.write(f"[{section}]\n" + "".join(f"{key} = {named(section, key, value)}\n" for key, value in keys.items()))
            f.write("[parameters]\n" + "".join(f"{key} = {text}\n" for key, text in self._space.text.items()))
        return path

    def _begin(self, source, settings, force=False):
        """Starts weft, and hears what it begins with."""
        command = [program(), "serve", source]
        command += [f"{key}={named(*key.split('.', 1), value)}" for key, value in settings.items()]
        if not source.endswith(".h5"):
            command += ["-o", self.path] + ["--force"] * bool(force)
        own = {k: v for k, v in os.environ.items() if not k.startswith(LAUNCHERS)}
        self._child = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                                       stderr=self._log, env=own, start_new_session=True)
        SEARCHES.add(self)
        begun = self._hear()
        if self._space.given:
            self._space.compare(begun.get("parameters", {}))

    # ---- lines ----

    def _hear(self):
        line = self._child.stdout.readline()
        if not line.endswith(b"\n"):
            raise self._ended()
        answer = DECODE(line.decode())[0]
        if "best" in answer:
            self.best = Best(answer["best"], self._space)
        for one in answer.get("front", ()):
            self.best.front.append(one | {"values": self._space.values(one["values"])})
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
            self._child.stdin.write("".join(ENCODE(one) + "\n" for one in requests).encode())
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
        # "weft: what is wrong", or "weft 12:34:56 what it did"
        said = [line[6:] for line in lines if line.startswith("weft: ")] or [line[14:] for line in lines] or ["weft printed nothing"]
        failed = [text[0] for text in map(re.compile(r"job \d+, trial \d+ failed: .*").search, lines) if text]
        return Error(self._in_python(said[-1], failed), status)

    def _in_python(self, text, failed):
        """What weft said, without the names of its temporary files, and with arguments of Python in place of its options."""
        for told_as, of in ((re.escape(self._place) + r"/search[.]ini:\d+: ", ""), (re.escape(self._place) + "/search[.]h5", "the search"),
                            ("another (name|output) by -o", "another output"), ("(?<=, or replace it )by --force", "by force=True; a search that has ended goes on by its run file in place of the space, and more trials"),
                            ("by --force", "by force=True"),
                            ("see why the jobs were told as failed, .*", "; ".join(failed[:1]) + "; begin anew by force=True")):
            text = re.sub(told_as, lambda _, of=of: of, text)
        return text

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
            if not self._next:
                self._trade(AHEAD if self._late else 1)
            if not self._next:
                return None
            trial = self._next.pop(0)
            self._given.add(trial["job"])
            return Trial(trial, self._space)

    def tell(self, trial, loss, error=None, metrics=None, soon=False):
        """Tells the loss of a trial, a finite number, to be minimised. Beside it an error rate, and numbers by
        name. When it returns the result is recorded; soon: with those of the next few trials, whose requests go
        together. One that is no longer needed, since the search is over, is left out."""
        numbers = {"loss": number(loss)}
        if error is not None:
            numbers["error"] = number(error)
        if metrics:
            numbers["metrics"] = {k: number(v) for k, v in metrics.items()}
        self._tell(trial, numbers, soon)

    def fail(self, trial, why="it has no loss"):
        """Tells that a trial has no loss: it diverged, or ended before."""
        self._tell(trial, {"failed": str(why)})

    def _tell(self, trial, what, soon=False):
        with self._lock:
            if self.over and trial.job in self._given:
                self._given.discard(trial.job)
                return
            if self.over:
                raise Error(f"job {trial.job} was told before, and the search is over")
            self._late.append((trial, {"tell": trial.job} | what))
            if not soon or len(self._late) >= AHEAD:
                self._trade(0 if self._next else AHEAD if soon else 1)

    def _trade(self, asks):
        """Tells what is still to be told, and asks for so many trials, in one trip."""
        late, self._late = self._late, []
        answers = self._say(*(what for _, what in late), *[{"ask": True}] * asks)
        self._next += [one for one in answers[len(late):] if "job" in one]
        for (trial, _), answer in zip(late, answers):
            if "error" in answer:
                raise Error(f"job {trial.job}, trial {trial.trial}: {answer['error']}")
        self._given.difference_update(trial.job for trial, _ in late)

    def close(self):
        """Ends it; before its end so that weft.Search(path) can go on."""
        with self._lock:
            if self._late and not self._log.closed:
                self._trade(0)
            self._leave()

    def __enter__(self):
        return self

    def __exit__(self, *exception):
        self.close()


def number(x):
    """As JSON has it: null for what is not finite."""
    x = None if x is None else real(x)
    return x if x is not None and math.isfinite(x) else None


def real(x):
    """A float; of a complex number numpy would make one of its real part."""
    if isinstance(x, Complex) and not isinstance(x, Real):
        raise TypeError(f"{x!r} is complex")
    return float(x)
