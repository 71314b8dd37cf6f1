"""weft from Python: `import weft`, with this directory in PYTHONPATH.

weft.serve and what is beside it, for programs that train the clients of a federation, are in
weft_worker.py; they need NumPy."""


def read(path):
    """The run RUN.h5, finished or not, as pandas frames: trials, jobs, curves, rounds, clients."""
    import weft_read
    return weft_read.read(path)


def __getattr__(name):
    if name.startswith("__"):
        raise AttributeError(name)
    import weft_worker
    return getattr(weft_worker, name)
