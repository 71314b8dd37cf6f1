# Five ways of tuning on small Shakespeare, then their table and curves.
# usage: [SEEDS="1 2 3"] [LAUNCH="mpirun -n 2"] bash jobs/shakespeare-small.sh [section.key=value ...]
# Needs data/shakespeare-small.h5 (the first lines of inputs/shakespeare-small.ini say how it is
# made). Cost: `weft tune --plan inputs/shakespeare-small.ini` for each of the 15 runs; runs that
# are there are not repeated, those that were begun are resumed.
weft=${WEFT:-build/opt/weft}
launch=${LAUNCH:-mpirun -n 2}
export OPENBLAS_NUM_THREADS=1
unset OPENBLAS_CORETYPE OPENBLAS_L2_SIZE
mkdir -p outputs/small

# method NAME SEED section.key=value ...
method()
{
    run=outputs/small/$1-$2.h5 seed=$2
    shift 2
    [ -f "$run" ] && return
    if [ -d "${run%.h5}.d" ]; then
        $launch "$weft" resume "$run"
    else
        $launch "$weft" tune inputs/shakespeare-small.ini run.seed="$seed" "$@" -o "$run"
    fi || exit $?
}

for seed in ${SEEDS:-1 2 3}; do
    method hand "$seed" run.tuner=random space.source=list space.file=inputs/shakespeare-human.tsv "$@"
    method random "$seed" run.tuner=random space.configs=4 "$@"
    method fedex-random "$seed" fedex.wrap=random "$@"
    method sha "$seed" run.tuner=sha "$@"
    method fedex-sha "$seed" "$@"
done
analysis/federated.py outputs/small/*.h5 -o outputs/small/methods
analysis/mixture.py outputs/small/fedex-sha-1.h5 -o outputs/small/mixture.png
