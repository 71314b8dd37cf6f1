"""weft from Python: `import weft`, with this directory in PYTHONPATH.

weft.Search and weft.minimize, by which a program drives a search, are in weft_search.py and
weft_minimize.py, and what they read of spaces of other programs in weft_space.py; weft.program and weft.report, for programs that weft starts and tunes, in
weft_program.py; weft.serve and what is beside it, for programs that train the clients of a
federation, in weft_worker.py, which alone needs NumPy."""

MODULES = {"Search": "weft_search", "Error": "weft_search", "minimize": "weft_minimize",
           "program": "weft_program", "report": "weft_program", "Stopped": "weft_program"}


def read(path):
    """The run RUN.h5, finished or not, as pandas frames: trials, jobs, curves, rounds, clients."""
    import weft_read
    return weft_read.read(path)


def __getattr__(name):
    if name.startswith("__"):
        raise AttributeError(name)
    import importlib
    return getattr(importlib.import_module(MODULES.get(name, "weft_worker")), name)
