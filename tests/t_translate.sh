#!/bin/bash
# Translation: three made-up languages are learnt by each form of weights, to the same bits on any
# ranks and after a kill; scores by direction; directions that were not trained; what is refused.
# Prints TAP.
. tests/tap.sh
. tests/languages.sh

languages 1200 >"$tmp/toy.tsv"
packed() # NAME DIRECTIONS [key=value ...]
{
    call pack translations "$tmp/toy.tsv" directions="$2" vocabulary=60 valid=0.1 test=0.1 "${@:3}" -o "$tmp/$1.h5"
}
tune() # NAME RANKS FORM [key=value ...]
{
    on "$2" tune "$tmp/in.ini" run.data="$tmp/$1.h5" context.form="$3" "${@:4}" -o "$tmp/run.h5" --force
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

check "languages are packed with one vocabulary" packed toy one-two,two-one,one-three,three-one joint=yes
check "or with one each" packed own one-two,two-one,one-three,three-one

call tune inputs/translate.ini run.data="$tmp/toy.h5" --plan
grep -q 'weights: P M + L M and those not generated = .* M = 8 .* L = 3 languages' "$tmp/log"
result $? "the plan counts the weights"
grep -q 'context.size = 8 is more than the 3 languages' "$tmp/log"
result $? "it warns of embeddings that are longer than needed"

for form in generated pairwise universal per_language; do
    tune toy 2 $form random.resource=20 train.batch=16 && [ "$(bleu test)" -ge 80 ]
    result $? "$form: BLEU of the test is at least 80: $(bleu test)"
done
tune own 2 generated random.resource=12 && [ "$(bleu test)" -ge 80 ]
result $? "vocabularies of each language: BLEU at least 80: $(bleu test)"
tune toy 1 generated random.resource=12 seq2seq.feed=1 && [ "$(bleu test)" -ge 80 ]
result $? "input feeding: BLEU at least 80: $(bleu test)"

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
    assert winner["state/encoder.weight_hh_l0"].shape == (8, 64, 16)
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
[ ! -e "$tmp/run.h5" ] && call resume "$tmp/run.h5" run.time_limit=0
result $? "a run that was stopped ends"
check "with that digest" [ "$(digest)" = "$(head -1 "$tmp/generated")" ]
# shellcheck disable=SC2086
tune toy 1 generated ${short#* } random.resource=1 && call resume "$tmp/run.h5" random.resource=2
result $? "a second epoch is given to one after its end"
check "with that digest" [ "$(digest)" = "$(head -1 "$tmp/generated")" ]

if [ -n "$python" ]; then
    LAUNCH="mpirun -n 1" PYTHON=$python SEEDS="1 2" FORMS="universal generated" EPOCHS=1 OUTPUT="$tmp/study" \
        bash jobs/translate.sh "$tmp/toy.h5" seq2seq.hidden=8 seq2seq.embedding=8 >"$tmp/out" 2>"$tmp/log" &&
        grep -Eq '^universal - generated	.* [+]- ' "$tmp/out"
    result $? "the study of four forms prints a table, with intervals over seeds"
else
    echo "ok $((count += 1)) - the study of four forms prints a table # SKIP no h5py"
fi

packed other two-three,two-two joint=yes && call eval "$tmp/run.h5" "$tmp/other.h5" &&
    grep -Eq '^test .*[0-9]$' "$tmp/out"
result $? "directions that were not trained are scored"
! call eval "$tmp/run.h5" "$tmp/own.h5" && grep -q 'trained on' "$tmp/log"
result $? "another vocabulary is refused"

# Languages to themselves, of sentences without translations, too: they are trained, not scored.
languages 1500 | awk 'BEGIN { FS = OFS = "\t" } NR <= 1201 || $3 != "" { print (NR > 1201 ? "\t\t" $3 : $0) }' >"$tmp/semi.tsv"
call pack translations "$tmp/semi.tsv" directions=one-two,two-one,one-three,three-one,two-two,three-three \
    vocabulary="$tmp/toy.h5" valid=0.1 test=0.1 -o "$tmp/semi.h5" &&
    grep -Eq '^two-two  *[0-9]+  *0  *0  *0$' "$tmp/out"
result $? "languages to themselves are packed, in the training part alone"
awk '{ n[$1] = $2 } END { exit !(n["three-three"] > n["one-three"] + 150) }' "$tmp/out"
result $? "with lines that have one language"
for ranks in 1 3; do
    # shellcheck disable=SC2086
    tune semi $ranks generated $short && digest >>"$tmp/semi"
done
[ "$(sort -u "$tmp/semi" | wc -l) $(wc -l <"$tmp/semi")" = "1 2" ]
result $? "they are trained, to one digest on 1 and 3 ranks"
tune semi 2 generated random.resource=12 && [ "$(bleu test)" -ge 80 ] && mv "$tmp/run.h5" "$tmp/semi-run.h5" &&
    "$weft" eval "$tmp/semi-run.h5" "$tmp/semi.h5" >"$tmp/told" 2>"$tmp/log" &&
    awk '/^test / { mean = $5 } on { sum += $3; n++; same += $1 !~ /^(one-two|two-one|one-three|three-one)$/ } /^direction/ { on = 1 }
        END { exit !(n == 4 && !same && sum / n - mean < 1e-5 && mean - sum / n < 1e-5) }' "$tmp/told"
result $? "the score is the mean BLEU of the other directions: $(bleu test)"
cut -f2 "$tmp/toy.tsv" | sed -n 2,20p >"$tmp/lines" && call predict "$tmp/semi-run.h5" "$tmp/lines" columns=two &&
    [ "$(sed 1d "$tmp/out" | cut -f2 | sort | uniq -c | tr -d ' ')" = 19two-one ]
result $? "a text is translated into other languages"
call predict "$tmp/semi-run.h5" "$tmp/lines" columns=two directions=two-two &&
    [ "$(sed 1d "$tmp/out" | cut -f2 | uniq -c | tr -d ' ')" = 19two-two ]
result $? "or into its own if that is asked for"
call pack translations "$tmp/toy.tsv" like="$tmp/semi-run.h5" directions=two-two -o "$tmp/own-two.h5" &&
    call eval "$tmp/semi-run.h5" "$tmp/own-two.h5" && grep -Eq '^two-two  *1200 ' "$tmp/out"
result $? "a language to itself is scored where there is no other direction"
copied() # NOISE: BLEU of the second language to itself
{
    tune semi 2 generated random.resource=6 train.noise="$1" && [ "$(bleu test)" -ge 80 ] &&
        "$weft" eval "$tmp/run.h5" "$tmp/own-two.h5" 2>"$tmp/log" | sed -n 's/^two-two  *1200  *\([0-9]*\)\..*/\1/p'
}
all=$(copied 0) && [ "$all" -ge 80 ]
result $? "a language to itself is copied: BLEU $all"
some=$(copied 0.9) && [ "$some" -le $((all / 2)) ]
result $? "no longer where words are left out: BLEU $some"

# A new language, whose words are those of the second, by its embedding alone.
awk 'BEGIN { FS = OFS = "\t" } { print $1, NR == 1 ? "four" : $2 }' "$tmp/toy.tsv" >"$tmp/four.tsv"
adds() # RANKS [key=value ...]: to "$tmp/first.h5"
{
    tune four "$1" generated context.size=3 context.train=embeddings run.start="$tmp/first.h5" \
        random.resource=4 "${@:2}"
}
tune toy 2 generated context.size=3 random.resource=12 && mv "$tmp/run.h5" "$tmp/first.h5" &&
    call pack translations "$tmp/four.tsv" vocabulary="$tmp/first.h5" valid=0.1 test=0.1 -o "$tmp/four.h5" &&
        grep -q '^three  *0  *0  *0 ' "$tmp/out" && adds 1 && [ "$(bleu test)" -ge 80 ]
result $? "a language that was kept out is added by its embedding alone: BLEU $(bleu test)"
digest >"$tmp/added"
if [ -n "$python" ]; then
    "$python" - "$tmp/first.h5" "$tmp/run.h5" >"$tmp/out" 2>"$tmp/log" <<'END'
import sys, h5py
with h5py.File(sys.argv[1]) as first, h5py.File(sys.argv[2]) as run:
    was, state = first["winner/state"], run["winner/state"]
    for name in was:
        corner = state[name][tuple(slice(n) for n in was[name].shape)]
        assert (corner == was[name][:]).all(), name
        grown = [a - b for a, b in zip(state[name].shape, was[name].shape)]
        assert sum(grown) == (name in ("embeddings", "source.weight")), name
END
    result $? "every bit of the other weights is as it was"
else
    echo "ok $((count += 1)) - every bit of the other weights is as it was # SKIP no h5py"
fi
call pack translations "$tmp/toy.tsv" vocabulary="$tmp/run.h5" directions=one-two,two-one,one-three,three-one \
    valid=0.1 test=0.1 -o "$tmp/again.h5" &&
    "$weft" eval "$tmp/run.h5" "$tmp/again.h5" | tail -3 >"$tmp/after" &&
    "$weft" eval "$tmp/first.h5" "$tmp/toy.h5" | tail -3 >"$tmp/before" && cmp "$tmp/before" "$tmp/after"
result $? "the other languages have the scores that they had"
check "3 ranks add it" adds 3
digest >>"$tmp/added"
check "to the same digest" [ "$(sort -u "$tmp/added" | wc -l) $(wc -l <"$tmp/added")" = "1 2" ]
call pack translations "$tmp/four.tsv" vocabulary="$tmp/own.h5" valid=0.1 test=0.1 -o "$tmp/fourth.h5" &&
    tune own 2 generated random.resource=12 context.size=3 && mv "$tmp/run.h5" "$tmp/other-first.h5" &&
    tune fourth 2 generated context.size=3 context.train=embeddings run.start="$tmp/other-first.h5" random.resource=12 &&
    [ "$(bleu test)" -ge 50 ]
result $? "and with its words where each language has a vocabulary: BLEU $(bleu test)"
starts() # PATTERN STATEMENT NAME [key=value ...]
{
    refuses "[1-9]" "$1" "refused: $2" tune "$3" 2 generated context.size=3 context.train=embeddings "${@:4}"
}
starts 'context.train = embeddings trains those of languages that run.start lacks' "embeddings alone without a start" toy
starts 'toy.h5 has none: set' "without a new language" toy run.start="$tmp/first.h5"
starts 'tensors of other sizes' "with another network" four run.start="$tmp/first.h5" seq2seq.hidden=16
starts "other pieces, .* pack it with vocabulary = .*other-first.h5" "with other pieces" four run.start="$tmp/other-first.h5"
call pack translations "$tmp/toy.tsv" languages=one,two joint=yes vocabulary=60 valid=0.1 -o "$tmp/alone.h5"
starts "has none for language 3, .* 'three'" "with fewer languages" alone run.start="$tmp/first.h5"

if [ -n "$python" ]; then
    paste "$tmp/toy.tsv" "$tmp/four.tsv" | cut -f1-3,5 >"$tmp/all.tsv"
    LAUNCH="mpirun -n 1" PYTHON=$python SEEDS="1 2" FROM="$tmp/study" BETWEEN="two three" OVER=one NEW=four COUNTS="100 all" \
        EPOCHS=1 STEPS=3 OUTPUT="$tmp/zero" bash jobs/zeroshot.sh "$tmp/all.tsv" "$tmp/toy.h5" "valid=0.1 test=0.1" \
        seq2seq.hidden=8 seq2seq.embedding=8 >"$tmp/out" 2>"$tmp/log" &&
        [ "$(grep -c '^pivot-universal	.* [+]- ' "$tmp/out")" = 2 ] && [ "$(grep -Ec '^four-(100|all)	.* [+]- ' "$tmp/out")" = 4 ]
    result $? "the study of other directions and a new language prints tables"
    "$python" analysis/translate.py --picture "$tmp/far.png" "$tmp"/study/generated-*.h5 >"$tmp/out" 2>"$tmp/log" &&
        [ "$(grep -c nearest "$tmp/out")" = 3 ]
    result $? "how far embeddings are apart is printed"
    check "it is drawn, too" [ -s "$tmp/far.png" ]
    printf 'one-two %15d %12s %12s\n' 12 3.5567e-18 0.25 >"$tmp/direct-1.txt"
    "$python" analysis/translate.py "$tmp/direct-1.txt" >"$tmp/out" 2>"$tmp/log" && grep -q '^direct	0.00	' "$tmp/out"
    result $? "scores next to 0 are read, too"
    mkdir "$tmp/more" && sed 's/3.5567e-18/2/' "$tmp/direct-1.txt" >"$tmp/more/direct-1.txt" &&
        "$python" analysis/translate.py "$tmp/direct-1.txt" "$tmp/more/direct-1.txt" >"$tmp/out" 2>"$tmp/log" &&
        grep -q '^more/direct - .*/direct	2.00	' "$tmp/out"
    result $? "those of two directories are compared"
else
    echo "ok $((count += 1)) - the study of other directions and a new language prints tables # SKIP no h5py"
fi

# What a winner says: as texts.
says() # RUN FILE RANKS [key=value ...]
{
    on "$3" predict "$tmp/$1.h5" "$2" "${@:4}"
}
tune toy 2 generated random.resource=4 seq2seq.beam=3 && mv "$tmp/run.h5" "$tmp/said.h5" &&
    says said "$tmp/toy.h5" 1 -o "$tmp/one.tsv" && says said "$tmp/toy.h5" 3 -o "$tmp/three.tsv" &&
    cmp "$tmp/one.tsv" "$tmp/three.tsv"
result $? "translations are written, the same on 3 ranks"
if [ -n "$python" ]; then
    "$python" - "$tmp/said.h5" "$tmp/one.tsv" >"$tmp/out" 2>"$tmp/log" <<'END'
import collections, csv, math, sys, h5py

def bleu(pairs):
    match, total, said, given = [0] * 4, [0] * 4, 0, 0
    for hypothesis, reference in pairs:
        h, r = hypothesis.split(), reference.split()
        said, given = said + len(h), given + len(r)
        for n in range(4):
            grams = [collections.Counter(tuple(x[i:i + n + 1]) for i in range(len(x) - n)) for x in (h, r)]
            match[n] += sum((grams[0] & grams[1]).values())
            total[n] += max(len(h) - n, 0)
    return 100 * math.exp(min(0, 1 - given / said) + sum(math.log(m / t) for m, t in zip(match, total)) / 4)

pairs = collections.defaultdict(list)
for row in csv.DictReader(open(sys.argv[2], encoding="utf-8"), delimiter="\t", quoting=csv.QUOTE_NONE):
    if row["part"] == "test":
        pairs[row["direction"]].append((row["translation"], row["reference"]))
with h5py.File(sys.argv[1]) as run:
    told = dict(zip((name.decode() for name in run["directions/name"]), run["directions/bleu"]))
print({d: (bleu(p), told[d]) for d, p in pairs.items()})
assert len(told) == 4 and all(abs(bleu(pairs[d]) - told[d]) < 1e-9 for d in told)
assert 5 < min(told.values()) < 99
END
    result $? "their BLEU is that in the run file"
else
    echo "ok $((count += 1)) - their BLEU is that in the run file # SKIP no h5py"
fi
cut -f1 "$tmp/toy.tsv" | sed 1d >"$tmp/lines" && "$weft" predict "$tmp/said.h5" - columns=one directions=one-two \
    <"$tmp/lines" >"$tmp/plain" 2>"$tmp/log" && [ "$(head -1 "$tmp/plain" | cut -f1-4)" = "line	direction	translation	source" ] &&
    sed 1d "$tmp/plain" | cut -f3,4 | sort >"$tmp/a" && awk -F '\t' '$3 == "one-two" { print $4 "\t" $5 }' "$tmp/one.tsv" | sort >"$tmp/b" &&
    cmp "$tmp/a" "$tmp/b"
result $? "lines of standard input are translated as those of the packed file"
for i in 1 2 3 4 5 6; do cat "$tmp/lines"; done >"$tmp/many"
says said "$tmp/many" 2 columns=one directions=one-two -o "$tmp/many.tsv" && for i in 1 2 3 4 5 6; do sed 1d "$tmp/plain" | cut -f3; done >"$tmp/a" &&
    sed 1d "$tmp/many.tsv" | cut -f3 >"$tmp/b" && cmp "$tmp/a" "$tmp/b"
result $? "so are many of them, window by window"
awk 'NR < 3 { two = two $0 "\n" } END { for (i = 0; i < 60; i++) printf "%s", two }' "$tmp/lines" >"$tmp/few"
says said "$tmp/few" 1 columns=one directions=one-two && sed 1d "$tmp/out" | cut -f4 | cmp - "$tmp/few"
result $? "and few again and again"
says first "$tmp/toy.tsv" 1 directions=two-three && grep -q '^2	two-three	' "$tmp/out"
result $? "a direction that was not trained is spoken"
check "sentences without a reference are translated" [ "$(wc -l <"$tmp/out")" = 1201 ]
call pack translations "$tmp/toy.tsv" like="$tmp/first.h5" directions=two-three -o "$tmp/like.h5" &&
    call eval "$tmp/first.h5" "$tmp/like.h5" && grep -Eq '^two-three  *960 ' "$tmp/out"
result $? "sentences with references are scored by direction"
denied() # PATTERN STATEMENT RUN FILE [key=value ...]
{
    refuses "[1-9]" "$1" "refused: $2" says "$3" "$4" 2 "${@:5}"
}
denied "'one-six' is no SOURCE-TARGET" "an unknown language" first "$tmp/toy.tsv" directions=one-six
(echo six && sed 1d "$tmp/lines") >"$tmp/six.tsv"
denied "six.tsv: none of its columns is one, two, three, which the winner of .*first.h5 knows; its first line names them" "a column that is another language" first "$tmp/six.tsv"
denied "has no column 'three', of three-two" "a direction without its source" first "$tmp/four.tsv" directions=three-two
denied 'choose a name that does not end with .h5' "translations as HDF5" first "$tmp/toy.tsv" -o "$tmp/x.h5"
denied 'one.tsv is there already; --force' "an older file" said "$tmp/toy.h5" -o "$tmp/one.tsv"
tune toy 1 pairwise random.resource=1 sgd.steps=1
denied 'was not trained on two-three, .* \(context.form = pairwise\)' "a direction without weights" run "$tmp/toy.tsv" directions=two-three

refused() # PATTERN STATEMENT [key=value ...]
{
    refuses "[1-9]" "$1" "refused: $2" tune toy 1 generated "${@:3}"
}
refused 'take out sgd.folds' "folds, as parts are made by line" sgd.folds=3
refused 'take out sgd.dev' "a development part" sgd.dev=0.1
refused 'is odd' "an odd number of units" seq2seq.hidden=33
refused 'train.noise = 0.1.*toy.h5 has no translations of a language to itself' "words left out where all are translated" train.noise=0.1
refused 'model = mlp' "another network" sgd.model=mlp

echo "1..$count"
