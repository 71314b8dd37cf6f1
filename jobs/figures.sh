# The runs of the two figures. usage: [SEEDS="1 2"] [FEATURES="1250 5000"] [BINS="16384"] [LAUNCH="mpirun -n 2"] bash jobs/figures.sh
weft=${WEFT:-build/opt/weft}
launch=${LAUNCH:-mpirun -n 2}
export OPENBLAS_NUM_THREADS=1
unset OPENBLAS_CORETYPE OPENBLAS_L2_SIZE
mkdir -p outputs/figures

# point SET AXIS VALUE TUNER SEED: one run, unless it is there; resumed if it was begun.
point()
{
    run=outputs/figures/$1-$3-$4-$5.h5
    [ -f "$run" ] && return
    if [ -d "${run%.h5}.d" ]; then
        $launch "$weft" resume "$run"
    else
        $launch "$weft" tune inputs/figure-$1.ini $2=$3 run.tuner=$4 run.seed=$5 -o "$run"
    fi || exit $?
}

for seed in ${SEEDS:-$(seq 1 16)}; do
    for tuner in ws_sha ws_eg random; do
        for d in ${FEATURES-1250 2500 5000 10000}; do point cifar10 rff.features $d $tuner $seed; done
        for b in ${BINS-16384 65536 262144 1048576 4194304}; do point imdb ngram.bins $b $tuner $seed; done
    done
done
