# Directions that no network was trained on, and a language that was kept out, with the runs of
# translate.sh for a packed file of other directions and languages. For each form and seed BLEU
# between two languages: at once, and by two translations, over a third. Then the language is
# added to the generated weights by its embedding alone, from 100, 1,000 and all sentences: an
# epoch is $STEPS steps for all of them. What is there is not repeated, what was begun is resumed.
# analysis/translate.py prints the tables.
# usage: [FROM=DIR] [SEEDS="1 2 3"] [FORMS="generated universal"] [BETWEEN="de fr"] [OVER=en] [NEW=ro]
#        [COUNTS="100 1000 all"] [EPOCHS=10] [STEPS=200] [OUTPUT=DIR] [LAUNCH="mpirun -n 2"]
#        bash jobs/zeroshot.sh F.tsv F.h5 "PACK" [key=value ...]
# F.h5: what the runs in FROM were trained on, packed from F.tsv; PACK: the options that made its
# parts ("drop=source valid=0.02 test=0.03"); key=value: those of translate.sh, and train.lr.
. jobs/start.sh
usage="bash jobs/zeroshot.sh F.tsv F.h5 PACK"
text=${1:?usage: $usage} data=${2:?usage: $usage} parts=${3:?usage: $usage}
from=${FROM:-outputs/translate} out=${OUTPUT:-outputs/zeroshot} new=${NEW:-ro} over=${OVER:-en}
read -r a b <<<"${BETWEEN:-de fr}"
shift 3
mkdir -p "$out"

packs() # FILE.h5 [option ...]
{
    local file=$1
    shift
    # shellcheck disable=SC2086
    [ -f "$file" ] || "$weft" pack translations "$text" vocabulary="$data" $parts "$@" -o "$file"
}

# Scores FROM-TO over English: sources and references of the direct translations in TSV.
pivots() # RUN.h5 FROM TO DIRECT.tsv NAME
{
    local run=$1 source=$2 target=$3 direct=$4 name=$5
    awk -F '\t' -v way="$source-$target" '$1 == "test" && $3 == way { print $5 "\t" $6 }' "$direct" >"$name.tsv"
    "$weft" pack translations "$name.tsv" columns="$source,$target" like="$data" directions="$source-$over" \
        -o "$name-$over.h5" --force && "$weft" predict "$run" "$name-$over.h5" -o "$name-$over.tsv" --force || return
    # An empty translation is still one.
    awk -F '\t' 'FNR > 1 { print $3 == "" ? "?" : $3 }' "$name-$over.tsv" |
        paste - "$name.tsv" | cut -f1,3 >"$name-next.tsv"
    "$weft" pack translations "$name-next.tsv" columns="$over,$target" like="$data" directions="$over-$target" \
        -o "$name.h5" --force && "$weft" eval "$run" "$name.h5" | sed "s/^$over-$target /$source-$target /"
}

packs "$out/zero.h5" languages="$a,$b" directions="$a-$b,$b-$a" train=0.01 || exit $?
for seed in ${SEEDS:-1 2 3}; do
    for form in ${FORMS:-generated universal}; do
        run=$from/$form-$seed.h5 direct=$out/direct-$form-$seed pivot=$out/pivot-$form-$seed
        [ -f "$direct.txt" ] || { "$weft" eval "$run" "$out/zero.h5" >"$direct.part" && mv "$direct.part" "$direct.txt"; } || exit $?
        [ ! -f "$pivot.txt" ] || continue
        "$weft" predict "$run" "$out/zero.h5" -o "$direct.tsv" --force || exit $?
        { pivots "$run" "$a" "$b" "$direct.tsv" "$out/over-$form-$seed" &&
            pivots "$run" "$b" "$a" "$direct.tsv" "$out/over-$form-$seed"; } >"$pivot.part" || exit $?
        mv "$pivot.part" "$pivot.txt"
    done
done

packs "$out/$new-all.h5" languages="$over,$new" directions="$over-$new,$new-$over" || exit $?
pairs=$("$weft" info "$out/$new-all.h5" | awk -v way="$over-$new" '$1 == way { print $2 }')
for count in ${COUNTS:-100 1000 all}; do
    [ "$count" = all ] || packs "$out/$new-$count.h5" languages="$over,$new" \
        directions="$over-$new,$new-$over" train="$(awk "BEGIN { print $count / $pairs }")" || exit $?
    for seed in ${SEEDS:-1 2 3}; do
        start "$out/$new-$count-$seed.h5" inputs/translate.ini run.data="$out/$new-$count.h5" \
            run.start="$from/generated-$seed.h5" context.train=embeddings run.seed="$seed" run.tuner=random \
            run.sampler=space space.configs=1 random.resource="${EPOCHS:-10}" sgd.steps="${STEPS:-200}" \
            context.size=4 train.lr=0.01 train.dropout=0 "$@" || exit $?
    done
done
${PYTHON:-python3} analysis/translate.py "$out"/direct-*.txt "$out"/pivot-*.txt "$out/$new"-*-[0-9]*.h5
