# The runs of the two figures, and of the tables of how good the maps are that searches pick.
# usage: [SEEDS="1 2"] [FEATURES="1250 5000"] [BINS="16384"] [LAUNCH="mpirun -n 2"] bash jobs/figures.sh
# The tables' further searches are at TABLE_FEATURES and TABLE_BINS; empty: none.
. jobs/start.sh
mkdir -p outputs/figures outputs/quality

# point SET AXIS VALUE TUNER SEED: one run of a figure.
point()
{
    start "outputs/figures/$1-$3-$4-$5.h5" "inputs/figure-$1.ini" "$2=$3" "run.tuner=$4" \
        "run.seed=$5" || exit $?
}

# table SET AXIS VALUE SEED: the searches of a table that are not in its figure.
table()
{
    local run=outputs/quality/$1-$3 settings="$2=$3 run.seed=$4" tuner
    for tuner in ws_sha ws_eg; do
        # shellcheck disable=SC2086
        start "$run-$tuner-split-8-$4.h5" "inputs/figure-$1.ini" $settings run.tuner=$tuner \
            $tuner.switch=8 || exit $?
    done
    # shellcheck disable=SC2086
    start "$run-ws_sha-full-1-$4.h5" "inputs/figure-$1.ini" $settings run.tuner=ws_sha \
        fmap.validation=full || exit $?
    # shellcheck disable=SC2086
    start "$run-ws_eg-full-8-$4.h5" "inputs/figure-$1.ini" $settings run.tuner=ws_eg \
        fmap.validation=full ws_eg.switch=8 || exit $?
}

for seed in ${SEEDS:-$(seq 1 16)}; do
    for tuner in ws_sha ws_eg random; do
        for d in ${FEATURES-1250 2500 5000 10000}; do point cifar10 rff.features "$d" $tuner "$seed"; done
        for b in ${BINS-16384 65536 262144 1048576 4194304}; do point imdb ngram.bins "$b" $tuner "$seed"; done
    done
    for d in ${TABLE_FEATURES-5000 10000}; do table cifar10 rff.features "$d" "$seed"; done
    for b in ${TABLE_BINS-1048576}; do table imdb ngram.bins "$b" "$seed"; done
done
