#!/bin/bash
# What proposals cost, in processor time: searches over 15 axes of all kinds whose trials cost
# nothing, stored losses of 100 configurations, by the leaders of as many teams as there are
# workers, each of which computes every proposal. Prints a table.
#
#   jobs/proposals.sh [WORKERS:RANKS:TRIALS ...]    default: 2:2:200 64:64:200 1000:1:1200
#
# A row is user and system time of all ranks, by trial and rank, in ms: of the whole run, and
# what is more than with `space`, whose proposals are draws, by proposal that was learnt:
# those after the first ten results, before which 1,000 workers ask for 1,009 trials.
# A single rank that simulates 1,000 workers computes what each of 1,000 leaders does.
# SAMPLERS: names ("space tpe forest"); WEFT: the program (build/opt/weft); MPIRUN.
set -eu
export LC_ALL=C
weft=${WEFT:-build/opt/weft}
mpirun=${MPIRUN:-mpirun --oversubscribe}
samplers=${SAMPLERS:-space tpe forest}
[ $# -gt 0 ] || set -- 2:2:200 64:64:200 1000:1:1200
tmp=$(mktemp -d)
trap 'rm -rf "$tmp"' EXIT

awk 'BEGIN {
    srand(1)
    printf "config\tresource\tloss\tseconds"
    for (a = 1; a <= 15; a++) printf "\tx%d", a
    for (i = 0; i < 100; i++) {
        loss = 0; line = ""
        for (a = 1; a <= 15; a++) {
            u = rand()
            loss += (u - a / 20) ^ 2
            if (a <= 8) line = line sprintf("\t%.4f", u)
            else if (a <= 11) line = line sprintf("\t%d", 1 + int(99 * u))
            else line = line "\t" substr("pqr", 1 + int(3 * u), 1)
        }
        printf "\n%d\t1\t%.5f\t%.4f%s", i, loss, exp(2 * rand()), line
    }
    print ""
}' >"$tmp/curves.tsv"
{
    printf '[run]\ntask = replay\ntuner = random\ntest = no\n[replay]\ntable = %s\n[columns]\n' "$tmp/curves.tsv"
    for a in 1 2 3 4 5 6 7 8; do echo "x$a = 0.0 .. 1.0"; done
    for a in 9 10 11; do echo "x$a = 1 .. 99"; done
    for a in 12 13 14 15; do echo "x$a = p | q | r"; done
} >"$tmp/in.ini"

TIMEFORMAT='%U %S'
echo "| workers | ranks | trials | sampler | processor time, s | by trial and rank, ms | by proposal that was learnt and rank, ms |"
echo "|---|---|---|---|---|---|---|"
for size in "$@"; do
    IFS=: read -r workers ranks trials <<<"$size"
    base=
    for sampler in $samplers; do
        { time $mpirun -n "$ranks" "$weft" tune "$tmp/in.ini" run.teams="$ranks" run.workers="$workers" \
            run.sampler="$sampler" space.configs="$trials" -o "$tmp/run.h5" --force >"$tmp/out" 2>"$tmp/log"; } \
            2>"$tmp/time" || { cat "$tmp/log" >&2; exit 1; }
        seconds=$(awk '{ print $1 + $2 }' "$tmp/time")
        [ "$sampler" = space ] && base=$seconds
        awk -v w="$workers" -v r="$ranks" -v n="$trials" -v s="$sampler" -v t="$seconds" -v base="$base" 'BEGIN {
            learnt = n - w - 9
            printf "| %d | %d | %d | `%s` | %.1f | %.2f | %s |\n", w, r, n, s, t, 1000 * t / n / r,
                base == "" || s == "space" ? "" : sprintf("%.2f", 1000 * (t - base) / learnt / r)
        }'
    done
done
