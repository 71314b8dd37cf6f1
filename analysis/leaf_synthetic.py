#!/usr/bin/env python3
"""Writes LEAF's synthetic federation as LEAF's JSON (Caldas et al., "LEAF: a benchmark for federated
settings", 2018, and its released generator).

usage: analysis/leaf_synthetic.py -o DIR/all.json [--clients 1000] [--classes 5] [--d 60] [--clusters 1]
                                  [--seed 931231]
       weft pack leaf DIR valid=0.1 test=0.1 -o F.h5

Client t has n_t = min(floor(LogNormal(3, 2)) + 5, 1000) samples, x ~ N(v_t, diag(j^-1.2)),
v_t ~ N(B_t, 1)^d, B_t ~ N(0, 1), u_t ~ N(mu_c, 0.1)^K of a cluster c drawn from K, W_t = Q u_t
[d + 1][classes], y_i = argmax_k l_ik - log sum_i exp(l_ik), l = (1, x) W_t + N(0, 0.1). The stream is
NumPy's legacy RandomState, in its order: all sizes; then it is seeded anew, by the same seed, so that Q
is made of the normal numbers that made the sizes; cluster means; then client by client. The sum in the
formula of y runs over the client's samples, not over the classes, as in the released code; it makes the
classes of a client more even.
"""
import argparse
import json
import os
import sys


def federation(numpy, clients, classes, d, clusters, seed):
    """x[n][d] and y[n] of each client."""
    rng = numpy.random.RandomState(seed)
    sizes = numpy.minimum(rng.lognormal(3, 2, clients), 995).astype(int) + 5
    rng.seed(seed)
    q = rng.normal(0, 1, (d + 1, classes, clusters))
    deviation = numpy.sqrt(numpy.arange(1.0, d + 1) ** -1.2)
    means = [rng.normal(rng.normal(0, 1), 1, clusters) for _ in range(clusters)]
    for n in sizes:
        cluster = rng.choice(clusters, p=[1 / clusters] * clusters)
        v = rng.normal(rng.normal(0, 1), 1, d)
        x = v + rng.standard_normal((n, d)) * deviation
        w = q @ rng.normal(means[cluster], 0.1, clusters)
        logit = numpy.hstack([numpy.ones((n, 1)), x]) @ w + rng.normal(0, 0.1, (n, classes))
        logit -= logit.max(axis=0)
        yield x, numpy.argmax(logit - numpy.log(numpy.exp(logit).sum(axis=0)), axis=1)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("-o", dest="output", required=True, metavar="F.json")
    for name, value in (("clients", 1000), ("classes", 5), ("d", 60), ("clusters", 1), ("seed", 931231)):
        parser.add_argument("--" + name, type=int, default=value, metavar="N", help=f"{value} by default")
    options = vars(parser.parse_args())
    path = options.pop("output")
    if min(options["clients"], options["d"], options["clusters"]) < 1 or options["classes"] < 2:
        sys.exit("give at least one client, number and cluster, and two classes")
    if not 0 <= options["seed"] < 1 << 32:
        sys.exit(f"--seed {options['seed']}: NumPy's generator takes 0 to {(1 << 32) - 1}")
    try:
        import numpy
    except ImportError as why:
        sys.exit(f"{os.path.basename(sys.argv[0])}: {why}; pip install numpy")
    sizes = []
    try:
        with open(path, "w") as file:
            file.write('{"user_data": {')
            for i, (x, y) in enumerate(federation(numpy, **options)):
                file.write(f'{", " if i else ""}"{i}": ' + json.dumps({"x": x.tolist(), "y": y.tolist()}))
                sizes.append(len(y))
            users = [str(i) for i in range(len(sizes))]
            file.write(f'}}, "users": {json.dumps(users)}, "num_samples": {sizes}}}\n')
    except OSError as why:
        sys.exit(str(why))


if __name__ == "__main__":
    main()
