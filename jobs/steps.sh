# What does a step of a network cost? Kim's text network with fixed vectors, trained ones and both,
# and the CIFAR-10 network of cuda-convnet, on one rank and on two, in turns, beside PyTorch on the
# same core. weft's milliseconds are the difference of two lengths of a run, PyTorch's its processor
# time. Nothing else should run. With three turns ten minutes. Then a table of means with
# 95 % intervals.
# usage: [TURNS=8] [STEPS=80] [RANKS="1 2"] [KINDS="static nonstatic multi images"] [IMAGES=data/cifar10.h5]
#        [SENTENCES=rt-polaritydata] [LAUNCH=mpirun] [OUTPUT=DIR] [TABLE=FILE.tsv] [TORCH=python3]
#        bash jobs/steps.sh data/mr.h5 [section.key=value ...]
# data/mr.h5: weft pack folder rt-polaritydata documents=lines test=0; IMAGES: weft pack cifar.
# STEPS: of the shorter run, 80 or of images 8; the longer one has eleven times as many.
# TORCH: a Python with torch, which is run on one core; empty, the default: weft alone.
set -e
cd "$(dirname "$0")/.."
data=${1:?usage: bash jobs/steps.sh data/mr.h5} weft=${WEFT:-build/opt/weft} out=${OUTPUT:-outputs/steps}
table=${TABLE:-analysis/steps.tsv} ranks=${RANKS:-1 2} kinds=${KINDS:-static nonstatic multi}
rest=("${@:2}")
mkdir -p "$out"
export OPENBLAS_NUM_THREADS=1
unset OPENBLAS_CORETYPE OPENBLAS_L2_SIZE

# seconds KIND RANKS STEPS: of the search, which is one epoch of so many steps
seconds()
{
    local how=(inputs/mr-cnn.ini run.data="$data" sgd.folds=0 txtcnn.channels="$1")
    [ "$1" != images ] || how=(inputs/cifar10-convnet.ini run.data="${IMAGES:-data/cifar10.h5}" run.tuner=random
        run.sampler=space space.configs=1 train.lr=1e-4 train.batch=128 sgd.parts=4 run.teams=1)
    ${LAUNCH:-mpirun} -n "$2" "$weft" tune "${how[@]}" run.test=no random.resource=1 sgd.steps="$3" "${rest[@]}" \
        -o "$out/run.h5" --force >"$out/out" 2>"$out/log" ||
        { cat "$out/log" >&2 && exit 1; }
    "$weft" report "$out/run.h5" --csv | awk -F, 'NR == 1 { for (i = 1; i <= NF; i++) if ($i == "search_seconds") at = i }
        NR == 2 { gsub(/"[^"]*"/, "x"); print $at }'
}

for turn in $(seq "${TURNS:-3}"); do
    for kind in $kinds; do
        size=50 steps=${STEPS:-80}
        [ "$kind" != images ] || size=128 steps=${STEPS:-8}
        for n in $ranks; do
            few=$(seconds "$kind" "$n" $steps) more=$(seconds "$kind" "$n" $((11 * steps)))
            awk -v a="$few" -v b="$more" -v steps=$((10 * steps)) -v what="$kind $n $turn $size" \
                'BEGIN { print what, 1e3 * (b - a) / steps }'
        done
        [ -z "${TORCH:-}" ] || [ "$kind" = images ] ||
            "$TORCH" tests/gold/txtcnn_speed.py "$kind" ${SENTENCES:+--dir "$SENTENCES"} |
            sed "s/^\([a-z]*\): \([0-9.]*\) .*/\1 torch $turn $size \2/"
    done
done | tee "$table" >&2
${PYTHON:-python3} analysis/steps.py "$table"
