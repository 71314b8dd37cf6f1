"""The link of a Python program to weft, which started it: lines of JSON over a socket."""
import ast
import json
import math
import os
import socket
import sys
import traceback

PROTOCOL = 1


def number(x):
    """As JSON has it: null for what is not finite."""
    return x if math.isfinite(x) else None


ENCODE = json.JSONEncoder(allow_nan=False).encode
DECODE = json.JSONDecoder().raw_decode


def encoded(message):
    return ENCODE(message).encode() + b"\n"


def described(error):
    """An exception in one line, with the place where it was raised, or where weft was called; its traceback goes to
    the log."""
    traceback.print_exception(type(error), error, error.__traceback__)
    frames, here = traceback.extract_tb(error.__traceback__), os.path.dirname(os.path.abspath(__file__))
    where = ([one for one in frames if not one.filename.startswith(here + os.sep)] or frames)[-1]
    return f"{type(error).__name__}: {error} ({os.path.basename(where.filename)}:{where.lineno})"


def literal(word):
    """The value that a word of an input file is in Python: that of None, (50,), [1, 2], {"a": 1} and of texts in
    quotes; any other word is a text."""
    if isinstance(word, str) and (word == "None" or word[:1] in tuple("([{'\"")):
        try:
            return ast.literal_eval(word)
        except (SyntaxError, ValueError):
            pass
    return word


class Error(RuntimeError):
    """What weft says; `status` is its exit status where it has ended, 75 of one that can go on."""

    def __init__(self, text, status=None):
        super().__init__(text)
        self.status = status


class Link:
    def __init__(self, how):
        if "WEFT_SOCKET" not in os.environ:
            raise RuntimeError(f"weft starts this program: `weft tune` with {how} = python3 "
                               + os.path.basename(sys.argv[0]))
        self.socket = socket.socket(fileno=int(os.environ["WEFT_SOCKET"]))
        self.socket.set_inheritable(False)
        self.rest = b""  # what was received behind the last message

    def line(self):
        """The next message; None at the end of the run."""
        text = self.rest
        while (end := text.find(b"\n")) < 0:
            more = self.socket.recv(65536)
            if not more:
                return None
            text += more
        self.rest = text[end + 1:]
        return self.decoded(text[:end])

    def decoded(self, text):
        return DECODE(text.decode())[0]

    def say(self, message):
        self.socket.sendall(encoded(message))

    def ask(self, message):
        """Sends a message of the program's own, and returns what weft answers."""
        self.say(message)
        return self.line()

    def serve(self, role, answer):
        """Answers requests by answer(message) until the run ends; an exception is answered as an error."""
        while (message := self.line()) is not None:
            try:
                if message["ask"] == "describe" and message.get("role", role) != role:
                    raise RuntimeError(f"this program serves {role}, but weft asks for {message['role']}")
                out = encoded(answer(message))
            except Exception as error:
                out = encoded({"error": described(error)})
            self.socket.sendall(out)
