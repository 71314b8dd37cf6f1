# The runs of the two figures, and of the tables of how good the maps are that searches pick.
# usage: [SEEDS="1 2"] [FEATURES="1250 5000"] [BINS="16384"] [LAUNCH="mpirun -n 2"] [OUTPUT=DIR] bash jobs/figures.sh [section.key=value ...]
# The tables' further searches are at TABLE_FEATURES and TABLE_BINS; empty: none. Complete runs are
# skipped and interrupted ones resumed, so that other settings need another OUTPUT (outputs).
. jobs/start.sh
out=${OUTPUT:-outputs}
mkdir -p "$out/figures" "$out/quality"

# run FILE SET section.key=value ...: in place of the settings of that input file.
run()
{
    local file=$1 set=$2
    shift 2
    start "$file" "inputs/figure-$set.ini" "$@" || exit $?
}

# alone RUN.h5 NAME SEED SET section.key=value ...: the map that the run picked, by itself.
alone()
{
    local search=$1 name=$2 seed=$3 map
    shift 3
    map=$("$weft" report "$search" | sed -n 's/^winner *\([0-9]*\):.*/\1/p')
    [ -n "$map" ] || { echo "$search: no winner in its report" >&2; exit 1; }
    run "$out/quality/$name-map-$map-$seed.h5" "$@" run.tuner=random random.only="$map"
}

# point SET AXIS VALUE TUNER SEED section.key=value ...: one run of a figure.
point()
{
    local set=$1 axis=$2 value=$3 tuner=$4 seed=$5
    shift 5
    run "$out/figures/$set-$value-$tuner-$seed.h5" "$set" "$@" "$axis=$value" run.tuner="$tuner" \
        run.seed="$seed"
}

# table SET AXIS VALUE SEED section.key=value ...: the searches of a table that are not in its
# figure, and all picks alone.
table()
{
    local set=$1 axis=$2 value=$3 seed=$4 name=$1-$3 search
    shift 4
    set -- "$set" "$@" "$axis=$value" run.seed="$seed"
    local other=$out/quality/$name
    for tuner in ws_sha ws_eg; do
        run "$other-$tuner-split-8-$seed.h5" "$@" run.tuner=$tuner $tuner.switch=8
    done
    run "$other-ws_sha-full-1-$seed.h5" "$@" run.tuner=ws_sha fmap.validation=full
    run "$other-ws_eg-full-8-$seed.h5" "$@" run.tuner=ws_eg fmap.validation=full ws_eg.switch=8
    for search in "$out/figures/$name"-ws_*-"$seed.h5" "$other"-ws_*-"$seed.h5"; do
        [ ! -f "$search" ] || alone "$search" "$name" "$seed" "$@"
    done
}

for seed in ${SEEDS:-$(seq 1 16)}; do
    for tuner in ws_sha ws_eg random; do
        for d in ${FEATURES-1250 2500 5000 10000}; do
            point cifar10 rff.features "$d" $tuner "$seed" "$@"
        done
        for b in ${BINS-16384 65536 262144 1048576 4194304}; do
            point imdb ngram.bins "$b" $tuner "$seed" "$@"
        done
    done
    for d in ${TABLE_FEATURES-5000 10000}; do table cifar10 rff.features "$d" "$seed" "$@"; done
    for b in ${TABLE_BINS-1048576}; do table imdb ngram.bins "$b" "$seed" "$@"; done
done
