#!/bin/sh
# Translation: three made-up languages are learnt by each form of weights, to the same bits on any
# ranks and after a kill; scores by direction; directions that were not trained; what is refused.
# Prints TAP.
. tests/tap.sh
. tests/languages.sh

languages 1200 >"$tmp/toy.tsv"
packed() # NAME DIRECTIONS [key=value ...]
{
    name=$1 directions=$2
    shift 2
    "$weft" pack translations "$tmp/toy.tsv" directions="$directions" vocabulary=60 valid=0.1 test=0.1 \
        "$@" -o "$tmp/$name.h5" >"$tmp/out" 2>"$tmp/log"
}
tune() # NAME RANKS FORM [key=value ...]
{
    name=$1 ranks=$2 form=$3
    shift 3
    timeout "$net" mpirun -n "$ranks" "$weft" tune "$tmp/in.ini" run.data="$tmp/$name.h5" \
        context.form="$form" "$@" -o "$tmp/run.h5" --force >"$tmp/out" 2>"$tmp/log" </dev/null
}
bleu() # PART: of the report in $tmp/out
{
    sed -n "s/^$1 .*BLEU \([0-9]*\)\..*/\1/p" "$tmp/out"
}
cat >"$tmp/in.ini" <<END
[run]
task = sgd
tuner = random
[space]
configs = 1
[sgd]
model = seq2seq
score = loss
[seq2seq]
hidden = 32
embedding = 16
[train]
optimizer = adam
lr = 0.01
batch = 32
END
short='random.resource=2 sgd.steps=9 train.dropout=0.2 seq2seq.smoothing=0.1 seq2seq.beam=3'

packed toy one-two,two-one,one-three,three-one joint=yes && packed own one-two,two-one,one-three,three-one
result $? "languages are packed with one vocabulary, and with one each"

"$weft" tune inputs/translate.ini run.data="$tmp/toy.h5" --plan >"$tmp/out" 2>"$tmp/log"
grep -q 'weights: P M + L M and those of words = .* M = 8 .* L = 3 languages' "$tmp/log" &&
    grep -q 'context.size = 8 is more than the 3 languages' "$tmp/log"
result $? "the plan counts the weights, and warns of embeddings that are longer than needed"

for form in generated pairwise universal per_language; do
    tune toy 2 $form random.resource=20 train.batch=16 && [ "$(bleu test)" -ge 80 ]
    result $? "$form: BLEU of the test is at least 80: $(bleu test)"
done
tune own 2 generated random.resource=12 && [ "$(bleu test)" -ge 80 ]
result $? "vocabularies of each language: BLEU at least 80: $(bleu test)"
tune toy 1 generated random.resource=12 seq2seq.feed=1 context.group=2 && [ "$(bleu test)" -ge 80 ]
result $? "input feeding and groups: BLEU at least 80: $(bleu test)"

find_python h5py
if [ -n "$python" ]; then
    "$python" - "$tmp/run.h5" >"$tmp/out" 2>"$tmp/log" <<'END'
import sys, h5py
with h5py.File(sys.argv[1]) as run:
    group, winner = run["directions"], run["winner"]
    assert [name.decode() for name in group["name"]] == ["one-two", "two-one", "one-three", "three-one"]
    assert group.attrs["part"] == "test"
    assert abs(sum(group["bleu"]) / 4 - winner.attrs["test_bleu"]) < 1e-9
    assert winner["state/embeddings"].shape == (3, 8)
    assert winner["state/encoder.weight_hh_l0"].shape == (2, 64, 16)
END
    result $? "the run file has scores by direction, the generator and the embeddings"
else
    echo "ok $((count += 1)) - the run file has scores by direction # SKIP no h5py"
fi

for form in generated universal pairwise; do
    for ranks in 1 2 3; do
        # shellcheck disable=SC2086
        tune toy $ranks $form $short && digest >>"$tmp/$form"
    done
    [ "$(sort -u "$tmp/$form" | wc -l) $(wc -l <"$tmp/$form")" = "1 3" ]
    result $? "$form: one digest on 1, 2 and 3 ranks"
done

# It is stopped after its first epoch.
rm "$tmp/run.h5"
# shellcheck disable=SC2086
tune toy 1 generated $short run.time_limit=1e-9 run.checkpoint=0
[ ! -e "$tmp/run.h5" ] && "$weft" resume "$tmp/run.h5" run.time_limit=0 >"$tmp/out" 2>"$tmp/log" &&
    [ "$(digest)" = "$(head -1 "$tmp/generated")" ]
result $? "a run that was stopped ends with that digest"
# shellcheck disable=SC2086
tune toy 1 generated ${short#* } random.resource=1 && "$weft" resume "$tmp/run.h5" random.resource=2 >"$tmp/out" 2>"$tmp/log" &&
    [ "$(digest)" = "$(head -1 "$tmp/generated")" ]
result $? "so does one that was given its second epoch after its end"

if [ -n "$python" ]; then
    LAUNCH="mpirun -n 1" PYTHON=$python SEEDS="1 2" FORMS="universal generated" EPOCHS=1 OUTPUT="$tmp/study" \
        bash jobs/translate.sh "$tmp/toy.h5" seq2seq.hidden=8 seq2seq.embedding=8 >"$tmp/out" 2>"$tmp/log" &&
        grep -Eq '^universal - generated	.* [+]- ' "$tmp/out"
    result $? "the study of four forms prints a table, with intervals over seeds"
else
    echo "ok $((count += 1)) - the study of four forms prints a table # SKIP no h5py"
fi

packed other two-three,two-two joint=yes && "$weft" eval "$tmp/run.h5" "$tmp/other.h5" >"$tmp/out" 2>"$tmp/log" &&
    grep -Eq '^test .*[0-9]$' "$tmp/out"
result $? "directions that were not trained are scored"
! "$weft" eval "$tmp/run.h5" "$tmp/own.h5" >"$tmp/out" 2>"$tmp/log" && grep -q 'trained on' "$tmp/log"
result $? "another vocabulary is refused"

refused() # PATTERN STATEMENT [key=value ...]
{
    pattern=$1 statement=$2
    shift 2
    ! tune toy 1 generated "$@" && [ "$(grep -c '^weft: ' "$tmp/log")" = 1 ] && grep -q "$pattern" "$tmp/log"
    result $? "refused: $statement"
}
refused 'take out sgd.folds' "folds, as parts are made by line" sgd.folds=3
refused 'take out sgd.dev' "a development part" sgd.dev=0.1
refused 'is odd' "an odd number of units" seq2seq.hidden=33
refused 'model = mlp' "another network" sgd.model=mlp

echo "1..$count"
