# Translation by four forms of weights: a network for each direction (pairwise), one for all
# (universal), encoders and decoders for each language (per_language), generated from embeddings of
# the languages (generated), with equal settings and epochs. A run for each form and seed; those
# that are there are not repeated, those that were begun are resumed. Then analysis/translate.py
# prints BLEU and chrF by direction.
# usage: [SEEDS="1 2 3"] [FORMS="generated pairwise"] [EPOCHS=10] [SIZE=8] [OUTPUT=DIR] [LAUNCH="mpirun -n 2"]
#        bash jobs/translate.sh F.h5 [seq2seq.hidden=256 ...]
# F.h5: weft pack translations F.tsv joint=yes languages=en,de,fr,cs,vi,th directions=en-*,*-en -o F.h5
# (languages to themselves are trained, too, with ",en-en,de-de,..."). SIZE: numbers of an embedding.
. jobs/start.sh
data=${1:?usage: bash jobs/translate.sh F.h5} out=${OUTPUT:-outputs/translate}
shift

for seed in ${SEEDS:-1 2 3}; do
    for form in ${FORMS:-pairwise universal per_language generated}; do
        size=
        [ "$form" != generated ] || size=${SIZE:-4}
        start "$out/$form-$seed.h5" inputs/translate.ini run.data="$data" run.seed="$seed" \
            run.tuner=random run.sampler=space space.configs=1 random.resource="${EPOCHS:-10}" \
            context.form="$form" ${size:+"context.size=$size"} train.lr=0.004 train.dropout=0.1 "$@" || exit $?
    done
done
${PYTHON:-python3} analysis/translate.py "$out"/*.h5
