#!/bin/sh
# Algorithms of federated training side by side, each tuned by the same search: a run for each
# algorithm and seed in DIR, then a table. A run that exists is not repeated. `server` is fedavg,
# tuned and scored by the server's weights in place of each client's after its training, `after` the
# neighbours of knn for its winner, chosen on validation data without more training.
# usage: [ALGORITHMS="NAME ..."] analysis/personal.sh INPUT.ini DIR "SEED ..." [section.key=value ...]
set -eu
[ $# -ge 3 ] || { sed -n '2,6s/^# //p' "$0" >&2; exit 2; }
input=$1 dir=$2 seeds=$3
shift 3
weft=${WEFT:-build/opt/weft}
mkdir -p "$dir"
unset OPENBLAS_CORETYPE OPENBLAS_L2_SIZE
one() # ALGORITHM SEED [section.key=value ...]: what of it is searched, beside the rate
{
    algorithm=$1 seed=$2
    shift 2
    case $algorithm in
    server) set -- fed.algorithm=fedavg fed.score_weights=global "$@" ;;
    feddyn) set -- "feddyn.alpha=log 0.01 .. 1" "$@" ;;
    ditto) set -- "ditto.lambda=log 0.01 .. 10" "$@" ;;
    apfl) set -- "apfl.share=0.1 .. 0.9" "$@" ;;
    cpg) set -- "cpg.lr_embedding=log 0.1 .. 10" "$@" ;;
    knn) set -- "knn.lambda=0.1 .. 0.9" "knn.sigma=log 0.1 .. 10" "$@" ;;
    after)
        set -- fed.algorithm=knn "run.start=$dir/server-$seed.h5" "knn.lambda=0.1 | 0.3 | 0.5 | 0.7" \
            "knn.sigma=0.1 | 0.3 | 1" run.tuner=random space.source=grid space.configs=0 random.resource=1 \
            client.lr=0 fed.cohort=1 fed.select=eval fed.eval_clients=0 "$@"
        ;;
    esac
    [ "$algorithm" = server ] || [ "$algorithm" = after ] || set -- "fed.algorithm=$algorithm" "$@"
    [ -e "$dir/$algorithm-$seed.h5" ] ||
        "$weft" tune "$input" "run.seed=$seed" "$@" -o "$dir/$algorithm-$seed.h5" --force >"$dir/$algorithm-$seed.txt"
}
for seed in $seeds; do
    for algorithm in ${ALGORITHMS:-fedavg local ditto fedper fedrep apfl scaffold feddyn fednova cpg}; do
        one "$algorithm" "$seed" "$@"
    done
done
"$weft" report "$dir"/*.h5
