# Five ways of tuning on small Shakespeare, then their table and curves.
# usage: [SEEDS="1 2 3"] [LAUNCH="mpirun -n 2"] [OUTPUT=DIR] bash jobs/shakespeare-small.sh [section.key=value ...]
# Needs data/shakespeare-small.h5 (the first lines of inputs/shakespeare-small.ini say how it is
# made). Cost: `weft tune --plan inputs/shakespeare-small.ini` for each of the 15 runs; runs that
# are there are not repeated, those that were begun are resumed: other settings need another
# OUTPUT (default outputs/small).
. jobs/start.sh
out=${OUTPUT:-outputs/small}
mkdir -p "$out"

# method NAME SEED section.key=value ...
method()
{
    local run=$out/$1-$2.h5 seed=$2
    shift 2
    start "$run" inputs/shakespeare-small.ini run.seed="$seed" "$@" || exit $?
}

for seed in ${SEEDS:-1 2 3}; do
    method hand "$seed" run.tuner=random run.mixing=none space.source=list space.file=inputs/shakespeare-human.tsv "$@"
    method random "$seed" run.tuner=random run.mixing=none space.configs=4 "$@"
    method fedex-random "$seed" sha.eliminations=0 "$@"
    method sha "$seed" run.mixing=none "$@"
    method fedex-sha "$seed" "$@"
done
${PYTHON:-python3} analysis/federated.py "$out"/*.h5 -o "$out/methods"
${PYTHON:-python3} analysis/mixture.py "$out/fedex-sha-1.h5" -o "$out/mixture.png"
