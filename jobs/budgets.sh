# Five schedules, each with and without FedEx, on equal budgets of rounds: random search,
# successive halving, asynchronous successive halving, Hyperband and population based training.
# Devices differ and take time, so that a table can have rounds, bytes and device-seconds side
# by side. Then the tables.
# usage: [SEEDS="1 2 3 4 5"] [ROUNDS=54] [LAUNCH="mpirun -n 2"] [OUTPUT=DIR] [TABLES=DIR] bash jobs/budgets.sh [section.key=value ...]
# Needs data/shakespeare-small.h5 (the first lines of inputs/shakespeare-small.ini say how it is
# made). ROUNDS: of a trial at most, a multiple of 9; all trials of a run together take 8 times as many
# (Hyperband: what its brackets sum up to, 7.7 times). Cost of a seed: 10 runs. Complete runs are
# skipped and interrupted ones resumed, so that other settings need another OUTPUT
# (default outputs/budgets). TABLES: where the tables are that runs are added to (analysis);
# empty: none.
. jobs/start.sh
out=${OUTPUT:-outputs/budgets}
mkdir -p "$out"
max_resource=${ROUNDS:-54}
min_resource=$((max_resource / 9))
budget=$((max_resource * 8))

# both NAME SEED section.key=value ...
both()
{
    local name=$1 seed=$2 mixing
    shift 2
    for mixing in "none" "fedex fedex.k=9"; do
        # shellcheck disable=SC2086 # two words
        start "$out/$name-${mixing%% *}-$seed.h5" "${INPUT:-inputs/shakespeare-small.ini}" \
            run.seed="$seed" run.tuner="$name" run.mixing=$mixing \
            device.speed=lognormal device.flops=1e9 device.up=1e6 device.down=4e6 \
            device.latency=0.1 device.power=1 "$@" || exit $?
    done
}

for seed in ${SEEDS:-1 2 3 4 5}; do
    both random "$seed" space.configs=8 random.resource="$max_resource" "$@"
    both sha "$seed" space.configs=27 sha.reduction=3 sha.eliminations=3 \
        sha.max_resource="$max_resource" sha.budget="$budget" "$@"
    both asha "$seed" asha.trials=0 asha.reduction=3 asha.min_resource="$min_resource" \
        asha.max_resource="$max_resource" asha.budget="$budget" "$@"
    both hyperband "$seed" hyperband.reduction=3 hyperband.min_resource="$min_resource" \
        hyperband.max_resource="$max_resource" "$@"
    both pbt "$seed" pbt.population=8 pbt.interval="$min_resource" pbt.max_resource="$max_resource" "$@"
    [ -z "${TABLES-analysis}" ] || analysis/budgets.py "$out"/*.h5 -d "${TABLES-analysis}"
done
