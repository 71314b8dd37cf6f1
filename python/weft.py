"""weft from Python: `import weft`, with this directory in PYTHONPATH."""


def read(path):
    """The run RUN.h5, finished or not, as pandas frames: trials, jobs, curves, rounds, clients."""
    import weft_read
    return weft_read.read(path)
