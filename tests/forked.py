"""Python that is started once: python3 forked.py DIRECTORY MODULE ... imports these, makes the
command DIRECTORY/python, and runs what that is called with in forks, as a start of Python would: its output is appended."""
import atexit
import importlib
import os
import runpy
import select
import signal
import sys

here, modules, test = sys.argv[1], sys.argv[2:], os.getppid()
for name in modules:
    importlib.import_module(name)


def words(path):
    return open(path, "rb").read().decode().split("\0")[:-1]


def become(caller):
    """What the process of the command has: directory, environment, files and arguments."""
    os.chdir(f"/proc/{caller}/cwd")
    os.environ.clear()
    os.environ.update(w.split("=", 1) for w in words(f"/proc/{caller}/environ"))
    for fd in range(3):
        path = f"/proc/{caller}/fd/{fd}"
        flags = os.O_RDONLY if fd == 0 else os.O_WRONLY | os.O_APPEND
        os.dup2(os.open(path, flags), fd)
    sys.stdin, sys.stdout, sys.stderr = open(0, closefd=False), open(1, "w", closefd=False), open(2, "w", 1, closefd=False)
    arguments = words(f"/proc/{caller}/cmdline")[2:]
    while arguments[0] in ("-B", "-u"):
        arguments.pop(0)
    return arguments


def run(arguments):
    if arguments[0] not in ("-", "-c"):
        sys.argv, sys.path[0] = arguments, os.path.dirname(os.path.abspath(arguments[0]))
        runpy.run_path(arguments[0], run_name="__main__")
        return
    text = sys.stdin.read() if arguments[0] == "-" else arguments.pop(1)
    sys.argv, sys.path[0] = arguments, ""
    exec(compile(text, "<string>", "exec"), {"__name__": "__main__"})


def child(caller, reply):
    status = 1
    try:
        run(become(caller))
        status = 0
    except SystemExit as end:
        status = end.code if isinstance(end.code, int) else int(end.code is not None)
        if end.code is not None and not isinstance(end.code, int):
            print(end.code, file=sys.stderr)
    except BaseException:
        sys.excepthook(*sys.exc_info())
    try:
        sys.stdout.flush()
        atexit._run_exitfuncs()
    finally:
        with open(reply, "w") as f:
            f.write(f"{status}\n")
        os._exit(status)


signal.signal(signal.SIGCHLD, signal.SIG_IGN)
os.mkfifo(f"{here}/calls")
with open(f"{here}/python.new", "w") as f:
    # In a subshell, so that this process has its own output all the time.
    f.write(f"""#!/bin/sh
mkfifo "{here}/$$" && (echo $$ >"{here}/calls") && read -r status <"{here}/$$"
rm -f "{here}/$$"
exit "$status"
""")
os.chmod(f.name, 0o755)
os.rename(f.name, f"{here}/python")
# Both ends are open here, so that no call is lost between two readings.
calls = os.open(f"{here}/calls", os.O_RDWR)
while os.getppid() == test:
    if select.select([calls], [], [], 1)[0]:
        for caller in os.read(calls, 4096).decode().split():
            if os.fork() == 0:
                child(caller, f"{here}/{caller}")
