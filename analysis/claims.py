#!/usr/bin/env python3
"""What FedEx is worth, and what the box of rates, with 95 % intervals.

usage: analysis/claims.py [RUN.h5 ...] [-d DIR]

Adds the runs (of jobs/claims.sh or jobs/shakespeare-small.sh) to two tables in DIR (analysis),
in place of earlier ones of the same name and seed, and writes DIR/claims.md from the tables:

    claims-arms.tsv     paired arms: FedEx in random search with fed.select=eval, one line for
                        each variant of FedEx, seed and arm. The errors and losses are those of
                        the arm's own evaluation at its end (/events of the run file), on
                        clients that the seed alone draws, under the arm's mixture.
    claims-methods.tsv  any other run: one line for each method, rates that its clients draw
                        from, and seed. Errors of the winner, each by its own configuration.

Errors are in percent, guess_loss is that of guessing all classes alike; `settings` is a hash
of what runs must share to be compared, `centre` of an arm's own configuration, `digest` the
run's. Gains are differences of accuracy in points: above 0, the first is better.
"""

import argparse
import csv
import hashlib
import math
import os
import sys

import runs
import stats
import tables

ARM_KEY = ["variant", "seed", "arm"]
ARM_COLUMNS = ARM_KEY + ["personal_error", "global_error", "personal_loss", "global_loss",
                         "guess_loss", "centre", "settings", "digest"]
METHOD_KEY = ["method", "rates", "seed"]
SCORES = ["valid_global", "valid_personal", "test_global", "test_personal"]
METHOD_COLUMNS = METHOD_KEY + ["rounds"] + SCORES + ["settings", "digest"]

VARIANTS = {"aggressive": "moves, aggressive step (default)", "adaptive": "moves, adaptive step",
            "stay": "stays uniform", "eps0": "none"}
REFERENCES = ["eps0", "stay"]  # each is compared with all variants but those before it here
VARIED = {("fedex", "eps"), ("fedex", "sched"), ("fedex", "eta")}  # between variants
PAIRS = [("fedex-sha", "sha"), ("fedex-random", "random"), ("sha", "random"),
         ("fedex-sha", "list"), ("sha", "list"), ("fedex-random", "list"), ("random", "list")]


# ---- from run files to lines of the tables ----------------------------------------------


def short_hash(*what):
    return hashlib.sha256(repr(what).encode()).hexdigest()[:8]


def settings_of(run, left_out):
    """Hash of the data and of all options but those of sections or pairs left out."""
    return short_hash(run.attr["data_digest"], sorted(
        (s, k, v) for s in run.ini.sections() for k, v in run.ini.items(s)
        if s not in left_out and (s, k) not in left_out))


def variant_of(run):
    """What FedEx does to the mixture of an arm."""
    if run.setting("fedex", "eps") == 0:
        return "eps0"
    sched = run.ini.get("fedex", "sched", fallback="aggressive")
    eta = run.setting("fedex", "eta")
    if sched == "constant" and eta < 1e-6:
        return "stay"
    return sched if math.isnan(eta) or eta == 0 else f"{sched}-eta-{eta:g}"


def guess_loss(run):
    """ln of the number of classes: the numbers of the network's last tensor, its bias."""
    return math.log(run.classes)


def arm_rows(run):
    """One line an arm: its last job's own evaluation."""
    last = {int(trial): i for i, trial in enumerate(run.event["trial"])}
    shared = {"variant": variant_of(run), "seed": run.seed,
              "guess_loss": f"{guess_loss(run):.6f}",
              "settings": settings_of(run, VARIED | {"run", "random"}),
              "digest": run.attr["digest"]}
    rows = []
    for arm, i in sorted(last.items()):
        centre = run.config[int(run.mix["config"][i][0])]
        row = {"arm": arm, "centre": short_hash(centre), **shared}
        for which in ("personal", "global"):
            row[f"{which}_error"] = f"{100 * run.event[f'{which}_error'][i]:.5f}"
            row[f"{which}_loss"] = f"{run.event[f'{which}_loss'][i]:.6f}"
        rows.append(row)
    return rows


def method_row(run):
    method = run.method()
    rates = run.ini.get("client", "lr", fallback="") if method != "list" else "by hand"
    row = {"method": method, "rates": rates, "seed": run.seed,
           "rounds": int(sum(run.event["rounds"])), "digest": run.attr["digest"],
           "settings": settings_of(run, {"run", "space", "server", "client", "fedex", "sha",
                                         "random"})}
    for score in SCORES:
        part, stage = score.split("_")
        error = run.winner.get(f"{part}_{'personal_' if stage == 'personal' else ''}error",
                               math.nan)
        row[score] = f"{100 * float(error):.5f}"
    return row


def is_paired(run):
    return (run.method() == "fedex-random"
            and run.ini.get("fed", "select", fallback="") == "eval")


# ---- the tables -------------------------------------------------------------------------


def read(path):
    if not os.path.exists(path):
        return []
    with open(path, newline="") as f:
        return list(csv.DictReader(f, delimiter="\t"))


def by_key(row, key):
    return tuple(int(row[k]) if k in ("seed", "arm") else row[k] for k in key)


def merged(path, key, new):
    """The table's lines with new ones added or put in their place."""
    table = {by_key(row, key): row for row in read(path)}
    for row in new:
        old = table.get(by_key(row, key))
        if old and old["digest"] and old["digest"] != row["digest"]:
            print(f"{path}: {' '.join(map(str, by_key(row, key)))} had digest {old['digest']}, "
                  f"now {row['digest']}", file=sys.stderr)
        table[by_key(row, key)] = {k: str(v) for k, v in row.items()}
    known = {row["settings"] for row in table.values() if row["settings"]}
    if len(known) > 1:
        sys.exit(f"{path}: its runs and the new ones differ in data or settings "
                 f"({', '.join(sorted(known))}); name another directory by -d")
    return [table[k] for k in sorted(table)]


def write(path, columns, rows):
    with tables.replace(path, newline="") as f:
        out = csv.DictWriter(f, columns, delimiter="\t", lineterminator="\n")
        out.writeheader()
        out.writerows(rows)


def merge(path, key, columns, new):
    """What merged() makes, written if any lines are new."""
    rows = merged(path, key, new)
    if new:
        write(path, columns, rows)
    return rows


# ---- paired arms ------------------------------------------------------------------------


def pairs_of(rows, variant, reference, score):
    """[(seed, arm, gain, whose score is no better than guessing)] of arms that both have."""
    of = {v: {(int(r["seed"]), int(r["arm"])): r for r in rows if r["variant"] == v}
          for v in (variant, reference)}
    pairs = []
    for at in sorted(of[variant].keys() & of[reference].keys()):
        here, there = of[variant][at], of[reference][at]
        if here["centre"] != there["centre"]:
            sys.exit(f"seed {at[0]}, arm {at[1]}: {variant} and {reference} have other centres")
        lost = [v for v, r in ((variant, here), (reference, there))
                if not float(r[f"{score}_loss"]) < float(r["guess_loss"])]
        gain = float(there[f"{score}_error"]) - float(here[f"{score}_error"])
        pairs.append((*at, gain, lost))
    return pairs


def half(interval):
    return f"{interval.half:.2f}" if math.isfinite(interval.half) else "-"


def better_worse_equal(gains):
    return " / ".join(map(str, stats.wins(gains)))


def arms_line(name, score, pairs):
    gains, seeds = [p[2] for p in pairs], [p[0] for p in pairs]
    arms, clusters = stats.by_samples(gains), stats.by_clusters(gains, seeds)
    says = stats.verdict(max(arms, clusters, key=lambda i: i.half))
    if says == "not resolved":
        each = len(gains) / max(1, clusters.n)
        seeds_needed = max(stats.needed(clusters.deviation),
                           math.ceil(stats.needed(arms.deviation) / each)
                           if math.isfinite(arms.deviation) else math.inf)
        if math.isfinite(seeds_needed):
            says += (f"; +-{stats.MARGIN:g} takes about {seeds_needed} seeds "
                     f"({math.ceil(seeds_needed * each)} arms)")
    return (f"| {name} | {score} | {clusters.n} | {len(gains)} | {arms.mean:+.2f} | {half(arms)} "
            f"| {half(clusters)} | {better_worse_equal(gains)} | {says} |")


def arms_report(rows):
    lines = ["| mixture | against | score | seeds | arms | mean gain | +- by arms | +- by seeds "
             "| better / worse / equal | verdict |", "|---|---|---|---|---|---|---|---|---|---|"]
    lost = []
    known = list(VARIANTS) + sorted({r["variant"] for r in rows} - set(VARIANTS))
    for i, reference in enumerate(REFERENCES):
        for variant in [v for v in known if v not in REFERENCES[:i + 1]]:
            name = f"{VARIANTS.get(variant, variant)} | {VARIANTS[reference]}"
            for score in ("personal", "global"):
                pairs = pairs_of(rows, variant, reference, score)
                if not pairs:
                    continue
                lines.append(arms_line(name, score, pairs))
                fine = [p for p in pairs if not p[3]]
                if len(fine) < len(pairs):
                    lines.append(arms_line(name, f"{score}, without the diverged", fine))
                lost += [f"- {score}: seed {p[0]}, arm {p[1]}, {variant} against {reference} "
                         f"(diverged: {' and '.join(p[3])}; gain {p[2]:+.2f})"
                         for p in pairs if p[3]]
    return lines, lost


# ---- methods ----------------------------------------------------------------------------


def accuracy_of(rows, kind, score):
    """{seed: accuracy} of a method with its rates."""
    return {int(r["seed"]): 100 - float(r[score]) for r in rows
            if (r["method"], r["rates"]) == kind and not math.isnan(float(r[score]))}


def kinds_of(rows):
    """(method, rates), in the order of runs.METHODS; the rates with most seeds first."""
    count = {}
    for r in rows:
        count[r["method"], r["rates"]] = count.get((r["method"], r["rates"]), 0) + 1
    known = list(runs.METHODS)
    return sorted(count, key=lambda k: (known.index(k[0]) if k[0] in known else len(known),
                                        -count[k], k))


def means_report(rows):
    lines = ["| method | client.lr | seeds | " + " | ".join(s.replace("_", ", ") for s in SCORES)
             + " |", "|---" * (3 + len(SCORES)) + "|"]
    for kind in kinds_of(rows):
        cells = []
        for score in SCORES:
            x = list(accuracy_of(rows, kind, score).values())
            cells.append(f"{stats.mean_of(x):.1f}" if x else "-")
            if len(x) > 1:
                cells[-1] += f" +- {half(stats.by_samples(x))}"
        n = sum((r["method"], r["rates"]) == kind for r in rows)
        lines.append(f"| {runs.method_of(kind[0])[0]} | {kind[1]} | {n} | {' | '.join(cells)} |")
    return lines


def pair_lines(rows, first, second, names):
    lines = []
    for score in SCORES:
        a, b = accuracy_of(rows, first, score), accuracy_of(rows, second, score)
        gains = [a[s] - b[s] for s in sorted(a.keys() & b.keys())]
        if not gains:
            continue
        gain = stats.by_samples(gains)
        says = stats.verdict(gain)
        if says == "not resolved" and math.isfinite(gain.deviation):
            says += f"; +-{stats.MARGIN:g} takes about {stats.needed(gain.deviation)} seeds"
        lines.append(f"| {names} | {score.replace('_', ', ')} | {gain.n} | {gain.mean:+.2f} "
                     f"| {half(gain)} | {better_worse_equal(gains)} | {says} |")
    return lines


HEAD = ["| first against second | score | seeds | mean gain | +- "
        "| better / worse / equal | verdict |", "|---|---|---|---|---|---|---|"]


def pairs_report(rows):
    """Methods in the box of rates that has most seeds (others with what both share)."""
    kinds, lines = kinds_of(rows), list(HEAD)
    main = {}
    for method, rates in kinds:
        main.setdefault(method, (method, rates))
    for a, b in PAIRS:
        if a in main and b in main:
            name = f"{runs.method_of(a)[0]} against {runs.method_of(b)[0]}"
            lines += pair_lines(rows, main[a], main[b], name)
    return lines


def boxes_report(rows):
    """One method, two boxes of rates."""
    kinds, lines = kinds_of(rows), list(HEAD)
    for i, first in enumerate(kinds):
        for second in kinds[i + 1:]:
            if first[0] == second[0]:
                name = (f"{runs.method_of(first[0])[0]}, client.lr = {first[1]} "
                        f"against {second[1]}")
                lines += pair_lines(rows, first, second, name)
    return lines


# ---- the report -------------------------------------------------------------------------

INTRODUCTION = """# What FedEx is worth, and what the box of rates

Written by `analysis/claims.py` from [claims-arms.tsv](claims-arms.tsv) and
[claims-methods.tsv](claims-methods.tsv); the runs are those of `jobs/claims.sh`.
Accuracy in percent, gains in points of accuracy: above 0, the first of a pair is better.
"+-" is half a 95 % interval of the mean, by Student's t; each interval stands for itself, so of twenty one is expected to miss.
They hold for a number of seeds that was chosen beforehand, not for adding seeds until one excludes 0.
*Better* and *worse*: the interval excludes 0; *within +-1*: it lies within a point of 0; else *not resolved*, with the number of seeds that would make it +-1 at the deviation seen."""

ARMS = """
## Paired arms

FedEx in random search, 9 arms of 40 rounds a seed, each scored at its end on the same 100 clients.
Pairs are the same arm (server settings, centre of the client settings, cohorts) with another mixture: against *none*, `fedex.eps = 0`, all clients of an arm have the centre's settings; against *stays uniform* each draws its own around it, and nothing is learned from their scores.
Arms of a seed share cohorts and the scored clients, so the interval is given as if all arms were independent and clustered by seed; the wider one is judged."""

LOST = """
Diverged, that is, with a loss no less than that of guessing all classes alike:
"""

METHODS = """
## Methods

400 rounds of all arms together, paired by seed; errors of the winner on 100 clients.
The four settings by hand were picked from short trials, whose rounds count in the budget of "by hand" and are not in these 400: how many there were was not recorded.
The searches' box of rates was moved by hand before these runs, too, after trials that were not recorded either.
Lines of the table with one decimal are of runs whose files were not kept.
"""


def report(arms, methods):
    text = [INTRODUCTION]
    if arms:
        lines, lost = arms_report(arms)
        text += [ARMS, "", *lines]
        if lost:
            text += [LOST, *lost]
    if methods:
        text += [METHODS, *means_report(methods)]
        for title, lines in (("Against each other", pairs_report(methods)),
                             ("Boxes of rates", boxes_report(methods))):
            if len(lines) > len(HEAD):
                text += [f"\n### {title}\n", *lines]
    return "\n".join(text) + "\n"


def main():
    args = argparse.ArgumentParser(description=__doc__,
                                   formatter_class=argparse.RawDescriptionHelpFormatter)
    args.add_argument("run", nargs="*", metavar="RUN.h5")
    args.add_argument("-d", metavar="DIR", default="analysis", help="of the tables (analysis)")
    args = args.parse_args()
    new = runs.of_task(runs.load(args.run), "fed")
    kinds = [("claims-arms.tsv", ARM_KEY, ARM_COLUMNS,
              [row for r in new if is_paired(r) for row in arm_rows(r)]),
             ("claims-methods.tsv", METHOD_KEY, METHOD_COLUMNS,
              [method_row(r) for r in new if not is_paired(r)])]
    paths = [os.path.join(args.d, name) for name, *_ in kinds]
    arms, methods = (merged(path, key, rows) for path, (_, key, _, rows) in zip(paths, kinds))
    for path, (_, _, columns, rows), lines in zip(paths, kinds, (arms, methods)):
        if rows:
            write(path, columns, lines)
    if not arms and not methods:
        sys.exit(f"no runs given, and no tables in {args.d}")
    text = report(arms, methods)
    with tables.replace(os.path.join(args.d, "claims.md")) as f:
        f.write(text)
    print(text, end="")


if __name__ == "__main__":
    main()
