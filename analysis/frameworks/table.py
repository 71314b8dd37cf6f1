"""Times the programs of a row in turn, each in processes of its own; called by ../frameworks.py.

A program trains the same network on the same clients on two cores. The first two rounds are left out of the median
second of a round and of the processor seconds of all processes. Memory is the highest sum of PSS, seen every half
second in one run more, which gives the test error, too.
"""
import json
import os
import statistics
import subprocess
import sys
import tempfile
import threading
import time

import on_weft
from processes import below

HERE = os.path.dirname(os.path.abspath(__file__))
PARTS = {"fedavg": ("weft", "bare", "pfl", "flower", "flute", "fedscale"),
         "fedbuff": ("weft", "bare", "fedscale"),
         "dp": ("weft", "bare", "pfl", "flower", "flute")}
ROUNDS = {"cnn": {"fedavg": 22, "fedbuff": 22, "dp": 8}, "mlp": {"fedavg": 62, "fedbuff": 62, "dp": 22}}
TIMED = {"fedscale": 12}  # fewer rounds are timed, as it waits for seconds in each
RATE = {"cnn": 0.1, "mlp": 0.03}
SETTING = dict(batch=20, momentum=0.9, sigma=1.5, concurrency=20, max_staleness=50, clip=0.5, noise=0.3,
               delta=1e-4)


HEADER = "\t".join(("part", "network", "program", "seconds", "least", "most", "core_seconds", "least", "most", "memory_mb",
                    "test_error", "epsilon", "date"))


def pss():
    """MB of all processes below this one."""
    total = 0
    for pid in below(os.getpid()):
        try:
            with open(f"/proc/{pid}/smaps_rollup") as f:
                total += sum(int(line.split()[1]) for line in f if line.startswith("Pss:"))
        except OSError:
            pass
    return total / 1024


class Peak(threading.Thread):
    def __init__(self):
        super().__init__(daemon=True)
        self.most, self.on = 0.0, True

    def run(self):
        while self.on:
            self.most = max(self.most, pss())
            time.sleep(0.5)


def once(program, spec, end_orphans, memory=False):
    """What the program told; memory: with its test error and most memory."""
    with tempfile.TemporaryDirectory() as tmp:
        told, log = os.path.join(tmp, "told"), os.path.join(tmp, "log")
        spec = dict(spec, test=memory, tmp=tmp)
        env = dict(os.environ, SPEC=json.dumps(spec), TOLD=told, OMP_NUM_THREADS="1", MEASURED_BY=str(os.getpid()),
                   CUDA_VISIBLE_DEVICES="", RAY_USAGE_STATS_ENABLED="0", FLWR_TELEMETRY_ENABLED="0")
        python = os.environ.get(program.upper() + "_PYTHON", sys.executable)
        command = on_weft.command(spec) if program == "weft" else [python, os.path.join(HERE, f"on_{program}.py")]
        peak = Peak()
        if memory:
            peak.start()
        with open(log, "w") as out:
            done = subprocess.run(command, stdout=out, stderr=subprocess.STDOUT, env=env, cwd=tmp, timeout=300)
        end_orphans()
        peak.on = False
        if done.returncode or program != "weft" and not os.path.exists(told):
            sys.exit(f"{program}:\n{open(log, errors='replace').read()[-4000:]}")
        result = on_weft.told(spec) if program == "weft" else json.load(open(told))
        result["memory"] = peak.most
        return result


def arrays(packed, to):
    """The packed clients as npy files, which Python reads without copies."""
    import h5py
    import numpy as np
    with h5py.File(packed) as f:
        for name, path, kind in (("x", "x", np.uint8), ("label", "y", np.int64), ("client/first", "first", int),
                                 ("client/count", "count", int)):
            np.save(f"{to}/{path}.npy", f[name][:].astype(kind))


def spread(values):
    return "\t".join(f"{v:.4g}" for v in (statistics.median(values), min(values), max(values)))


def measure(part, net, packed, repeats, programs, out, end_orphans):
    programs = programs or list(PARTS[part])
    with tempfile.TemporaryDirectory() as data:
        arrays(packed, data)
        spec = dict(SETTING, part=part, net=net, rate=RATE[net], rounds=ROUNDS[net][part],
                    cohort=50 if part == "dp" else 10, packed=os.path.abspath(packed), data=data)
        last = {p: once(p, spec, end_orphans, memory=True) for p in programs}
        seconds, used = ({p: [] for p in programs} for _ in range(2))
        for i in range(repeats):
            for p in programs:
                result = once(p, dict(spec, rounds=TIMED.get(p, spec["rounds"])), end_orphans)
                seconds[p].append(statistics.median(result["seconds"][1:]))
                used[p].append(result["used"])
                print(f"# {part} {net} {i} {p}: {seconds[p][-1]:.4f} s a round, {used[p][-1]:.4f} s of cores", flush=True)
    for p in programs:
        row = [part, net, p, spread(seconds[p]), spread(used[p]), f"{last[p]['memory']:.0f}", f"{last[p]['error']:.1f}",
               f"{last[p].get('epsilon', '')}", time.strftime("%Y-%m-%d")]
        print("\t".join(row))
        with open(out, "a") as f:
            print("\t".join(row) if f.tell() else HEADER + "\n" + "\t".join(row), file=f)
