#!/bin/sh
# Algorithms of federated training side by side, each tuned by the same search: a run for each
# algorithm and seed in DIR, then a table. A run that exists is not repeated.
# usage: analysis/personal.sh INPUT.ini DIR "SEED ..." [section.key=value ...]
set -eu
[ $# -ge 3 ] || { sed -n '2,4s/^# //p' "$0" >&2; exit 2; }
input=$1 dir=$2 seeds=$3
shift 3
weft=${WEFT:-build/opt/weft}
mkdir -p "$dir"
unset OPENBLAS_CORETYPE OPENBLAS_L2_SIZE
own() # ALGORITHM: what of it is searched, beside the rate
{
    case $1 in
    feddyn) echo "feddyn.alpha=log 0.01 .. 1" ;;
    ditto) echo "ditto.lambda=log 0.01 .. 10" ;;
    apfl) echo "apfl.share=0.1 .. 0.9" ;;
    cpg) echo "cpg.lr_embedding=log 0.1 .. 10" ;;
    esac
}
for seed in $seeds; do
    for algorithm in fedavg local ditto fedper fedrep apfl scaffold feddyn fednova cpg; do
        axis=$(own $algorithm)
        [ -e "$dir/$algorithm-$seed.h5" ] ||
            "$weft" tune "$input" "fed.algorithm=$algorithm" ${axis:+"$axis"} "run.seed=$seed" "$@" \
                -o "$dir/$algorithm-$seed.h5" --force >"$dir/$algorithm-$seed.txt"
    done
done
"$weft" report "$dir"/*.h5
