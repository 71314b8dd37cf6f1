# The runs behind analysis/claims.md, each seed by itself: successive halving and FedEx in it;
# FedEx in it in the published box of rates (inputs/shakespeare.ini) with the same arms and
# rounds; and paired arms, FedEx in random search with four ways to move the mixture. Then the
# tables.
# usage: [SEEDS="1 2 3"] [RUNS="halving boxes arms"] [LAUNCH="mpirun -n 2"] [OUTPUT=DIR] bash jobs/claims.sh [section.key=value ...]
# Needs data/shakespeare-small.h5 (the first lines of inputs/shakespeare-small.ini say how it is
# made). Cost of a seed: 25 minutes on one core, seven runs of 3 to 4. Complete runs are skipped
# and interrupted ones resumed, so that other settings need another OUTPUT (default
# outputs/claims). INPUT: another input file (inputs/shakespeare-small.ini). TABLES: where the
# tables are that runs are added to (analysis); empty: none. ARMS (9), ROUNDS (40): the paired
# arms of a run, and the rounds of each.
. jobs/start.sh
out=${OUTPUT:-outputs/claims}
mkdir -p "$out"

# run NAME SEED section.key=value ...
run()
{
    local run=$out/$1-$2.h5 seed=$2
    shift 2
    start "$run" "${INPUT:-inputs/shakespeare-small.ini}" run.seed="$seed" "$@" || exit $?
}

halving()
{
    run sha "$@" run.mixing=none
    run fedex-sha "$@"
}

boxes()
{
    run fedex-sha-published "$@" 'server.lr=log 0.1 .. 10' 'client.lr=log 1e-4 .. 1' \
        'client.momentum=0 .. 1' 'client.weight_decay=log 1e-5 .. 0.1' \
        'client.batch=8 | 16 | 32 | 64 | 128' 'client.mu=log 1e-5 .. 1' 'client.dropout=0 .. 0.5'
}

arms()
{
    local rounds=${ROUNDS:-40}
    set -- "$@" sha.eliminations=0 sha.max_resource="$rounds" \
        sha.budget=$((rounds * ${ARMS:-9})) fed.select=eval fed.eval_clients=100 run.test=no
    run arms-eps0 "$@" fedex.eps=0
    run arms-stay "$@" fedex.sched=constant fedex.eta=1e-9
    run arms-adaptive "$@" fedex.sched=adaptive
    run arms-aggressive "$@"
}

for seed in ${SEEDS:-$(seq 1 20)}; do
    for runs in ${RUNS:-halving boxes arms}; do $runs "$seed" "$@"; done
done
tables=${TABLES-analysis}
[ -z "$tables" ] || analysis/claims.py "$out"/*.h5 -d "$tables"
