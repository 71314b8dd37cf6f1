# Kim's network over sentences on rt-polarity in tenfold cross-validation, several seeds: word
# vectors drawn at random and trained (rand); those of a file fixed (static), trained (nonstatic),
# in two channels (multi). A run for each fold; those that are there are not repeated, those that
# were begun are resumed. Then the table.
# usage: [SEEDS="1 2 3"] [FOLDS="0 1 2"] [KINDS="rand static"] [VECTORS=FILE] [OUTPUT=DIR]
#        [TABLE=FILE.tsv] [LAUNCH="mpirun -n 2"] bash jobs/cnn.sh data/mr.h5 [section.key=value ...]
# data/mr.h5: weft pack folder rt-polaritydata documents=lines test=0; VECTORS: make vectors.
. jobs/start.sh
data=${1:?usage: bash jobs/cnn.sh data/mr.h5} out=${OUTPUT:-outputs/cnn} vectors=${VECTORS:-data/vectors.vec}
shift

for seed in ${SEEDS:-1 2 3}; do
    for kind in ${KINDS:-rand static nonstatic multi}; do
        case $kind in
        rand) options=(txtcnn.channels=nonstatic) ;;
        static | nonstatic | multi) options=(txtcnn.channels="$kind" sgd.vectors="$vectors") ;;
        *) echo "no kind $kind: rand static nonstatic multi" >&2 && exit 2 ;;
        esac
        for fold in ${FOLDS:-$(seq 0 9)}; do
            start "$out/$kind-$seed-$fold.h5" inputs/mr-cnn.ini run.data="$data" run.seed="$seed" sgd.fold="$fold" \
                "${options[@]}" "$@" || exit $?
        done
    done
done
${PYTHON:-python3} analysis/cnn.py "$out"/*.h5 -o "${TABLE:-analysis/cnn.tsv}"
