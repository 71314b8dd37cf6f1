#!/bin/bash
# Task sgd: the same bits on any number of ranks; every network learns; gradients of pieces
# of a batch add up; the best epoch is kept and patience ends a training; folds; search over
# sizes; resume; what is refused. Prints TAP.
. tests/tap.sh
. tests/plays.sh

tune() # NAME RANKS [key=value ...]
{
    on "$2" tune "$tmp/$1.ini" "${@:3}" -o "$tmp/run.h5" --force
}
value() # LINE WORD: the word after WORD in the line of the report that begins with LINE
{
    "$weft" report "$tmp/run.h5" | sed -n "s/^$1 .*$2 \([^ ,]*\).*/\1/p" | head -1
}
below() # NUMBER BOUND
{
    [ -n "$1" ] && awk "BEGIN { exit !($1 < $2) }"
}
refused() # PATTERN STATEMENT NAME [key=value ...]: one line, on two ranks
{
    refuses "[1-9]" "$1" "refused: $2" tune "$3" 2 "${@:4}"
}

"$weft" pack synthetic images rows=400 -o "$tmp/images.h5" 2>"$tmp/log" &&
    "$weft" pack synthetic documents rows=400 -o "$tmp/documents.h5" 2>>"$tmp/log" &&
    "$weft" pack synthetic documents rows=20 words=10 -o "$tmp/short.h5" 2>>"$tmp/log" &&
    "$weft" pack synthetic images rows=400 clients=10 -o "$tmp/clients.h5" 2>>"$tmp/log" &&
    "$weft" pack synthetic federated=generated clients=1000000 -o "$tmp/million.h5" 2>>"$tmp/log" &&
    plays >"$tmp/plays.txt" &&
    "$weft" pack shakespeare "$tmp/plays.txt" length=10 stride=10 -o "$tmp/plays.h5" 2>>"$tmp/log" &&
    "$weft" pack shakespeare "$tmp/plays.txt" length=10 stride=10 valid=0 -o "$tmp/whole.h5" \
        2>>"$tmp/log"
result $? "data sets are packed"
cat >"$tmp/images.ini" <<END
[run]
data = $tmp/images.h5
task = sgd
tuner = random
seed = 1
[space]
configs = 1
[random]
resource = 6
[sgd]
model = linear
[train]
batch = 20
lr = 0.1
END
sed "s/images/documents/; s/linear/txtcnn/; s/^batch/optimizer = adam\nbatch/; s/^lr.*/lr = 0.01/" \
    "$tmp/images.ini" >"$tmp/documents.ini"
cat >>"$tmp/documents.ini" <<END
[txtcnn]
groups = 2
f1 = 8
f2 = 8
channels = nonstatic
END
sed -i 's/^model.*/&\ndim = 16/' "$tmp/documents.ini"
for name in clients plays; do
    sed "s/images/$name/" "$tmp/images.ini" >"$tmp/$name.ini"
done
sed -i 's/^model.*/model = lstm/; s/^batch.*/batch = 50/' "$tmp/plays.ini"
printf '[lstm]\nhidden = 12\nlayers = 1\n' >>"$tmp/plays.ini"

while read -r ranks case; do
    # shellcheck disable=SC2086
    set -- $case
    name=$1
    shift
    digests=
    for n in 1 $(echo "$ranks" | tr , " "); do
        tune "$name" "$n" "$@"
        digests="$digests $(digest)"
    done
    # shellcheck disable=SC2086
    set -- $digests
    [ -n "$1" ] && [ "$1" = "$2" ] && [ "$1" = "${3:-$1}" ]
    result $? "$case: 1 rank and $ranks give the same bits"
done <<END
2,3 images
3 images sgd.model=mlp mlp.hidden=30 train.dropout=0.3
2 images sgd.model=cnn cnn.arch=leaf random.resource=1
2 images sgd.model=cnn cnn.arch=convnet cnn.scale=2 train.l2_4=0.1 random.resource=1
2,4 documents train.dropout=0.5 txtcnn.drop_input=0.2
3 documents sgd.folds=3 train.balance=yes
2,5 documents train.batch=2 train.optimizer=adadelta txtcnn.channels=multi random.resource=2
2,4 clients train.balance=yes
2,4 plays random.resource=1
2 plays random.resource=1 sgd.target=all sgd.folds=2
END

tune documents 2 random.resource=1
shared=$(digest)
export WEFT_SUMS_BY_MESSAGE=1
tune documents 2 random.resource=1
unset WEFT_SUMS_BY_MESSAGE
[ -n "$shared" ] && [ "$shared" = "$(digest)" ]
result $? "ranks that sum by messages have the bits of those that share memory"

# More steps than a row of the vectors may owe, of few words: each is stepped as often.
for ranks in 1 2; do
    digests=
    for each in 5000 500; do
        tune documents $ranks run.data="$tmp/short.h5" train.batch=1 txtcnn.f1=2 txtcnn.f2=2 train.weight_decay=0.001 sgd.keep=last \
            sgd.steps=$each random.resource=$((5000 / each))
        digests="$digests $(digest)"
    done
    # shellcheck disable=SC2086
    set -- $digests
    [ -n "$1" ] && [ "$1" = "$2" ]
    result $? "5,000 steps of one epoch have the bits of 10 times 500, on $ranks ranks"
done

# Units that would take days.
for case in "documents run.data=$tmp/short.h5 sgd.steps=100000000000" "clients run.task=fed fed.model=linear fed.cohort=5 client.epochs=1000000"; do
    # shellcheck disable=SC2086
    set -- $case
    name=$1
    shift
    [ $name = documents ] || sed '/^\[sgd\]/,$d' "$tmp/clients.ini" >"$tmp/long.ini"
    [ $name = clients ] || cp "$tmp/documents.ini" "$tmp/long.ini"
    rm -rf "$tmp"/run.*
    timeout -s KILL $net "$weft" tune "$tmp/long.ini" "$@" -o "$tmp/run.h5" >"$tmp/out" 2>"$tmp/log" &
    run=$!
    until [ -s "$tmp/run.d/journal" ] || ! kill -0 $run 2>/dev/null; do sleep 0.1; done
    sleep 1
    # shellcheck disable=SC2046
    kill -TERM $(cat /proc/$run/task/$run/children)
    wait $run
    [ $? = 75 ] && [ "$(grep -c '^weft: stopped by signal 15 after 0 jobs; go on with' "$tmp/log")" = 1 ]
    result $? "$name: a unit is left when the run is to stop"
done

for parts in 1 2; do
    idle=$((3 - parts))
    tune images 3 sgd.parts=$parts random.resource=1
    [ "$(grep -c "warning: sgd.parts = $parts, .* 3 ranks, of which $idle compute no" "$tmp/log")" = 1 ]
    result $? "parts=$parts on 3 ranks: a warning of $idle without gradients of their own"
done
tune images 3 sgd.parts=3 random.resource=1 && ! grep -q "sgd.parts" "$tmp/log"
result $? "parts=3 on 3 ranks: no such warning"

learns() # ERROR NAME [key=value ...]: percent of the training part that stay wrong, at most
{
    tune "$2" 1 sgd.keep=last "${@:3}" && call eval "$tmp/run.h5" "$tmp/$2.h5" &&
        below "$(awk '$1 == "train" { print $4 }' "$tmp/out")" "$1"
    result $? "${*:2}: learns its training part"
}
learns 75 images random.resource=20
learns 45 images sgd.model=mlp random.resource=20
learns 80 images sgd.model=cnn cnn.arch=cifar train.optimizer=adam train.lr=0.002
learns 5 documents random.resource=8
learns 60 plays random.resource=20 train.optimizer=adam train.lr=0.02
learns 30 documents random.resource=8 train.optimizer=adadelta train.lr=1

tune images 1 sgd.parts=1 random.resource=2
one=$(value valid loss)
tune images 1 sgd.parts=7 random.resource=2
awk "BEGIN { d = $one - $(value valid loss); exit !(d < 2e-5 && d > -2e-5) }"
result $? "pieces of a batch add up to its gradient: $one"

tune images 1 train.lr=2 random.resource=10 sgd.keep=last
last=$(value valid error)
tune images 1 train.lr=2 random.resource=10 sgd.keep=best
best=$(value valid error)
awk "BEGIN { exit !($best <= $last) }"
result $? "the best epoch is kept: error $best, of the last $last"

tune images 1 train.weight_decay=0.3 random.resource=2
all=$(value valid loss)
tune images 1 train.l2_1=0.3 random.resource=2
first=$(value valid loss)
tune images 1 random.resource=2
[ -n "$first" ] && [ "$first" != "$(value valid loss)" ] &&
    awk "BEGIN { d = $first - $all; exit !(d < 0.03 && d > -0.03) }"
result $? "the decay of the only layer is that of all weights but the biases: $first, $all"
tune images 1 train.schedule=step train.reductions=1 train.horizon=4 random.resource=4 sgd.keep=last
stepped=$(digest)
tune images 1 train.schedule=step train.reductions=0 train.horizon=4 random.resource=4 sgd.keep=last
constant=$(digest)
tune images 1 random.resource=4 sgd.keep=last
[ -n "$stepped" ] && [ "$stepped" != "$constant" ] && [ "$constant" = "$(digest)" ]
result $? "a rate without reductions is constant, with one it is not"

# A search with patience: its virtual time is the longest training, and workers are busy for
# the epochs that were trained.
sed 's/^f1.*/f1 = 2 .. 9/; s/^lr.*/lr = log 0.001 .. 0.1/; s/^configs.*/configs = 9/
s/^model.*/&\nscore = loss\npatience = 2/; s/^resource.*/resource = 30/' "$tmp/documents.ini" >"$tmp/patient.ini"
tune patient 1 && "$weft" report --json "$tmp/run.h5" | tr -d '", ' | awk -F: '
    $1 ~ /^(makespan|workers|utilisation)$/ { of[$1] = $2 }
    $1 == "epochs" { n++; sum += $2; if ($2 > most) most = $2; if (!seen[$2]++) kinds++ }
    END {
        busy = of["utilisation"] * of["workers"] * of["makespan"]
        printf "%d trainings of %d epochs in %g virtual seconds, %g busy\n", n, sum, of["makespan"], busy
        exit !(n == 9 && kinds > 2 && most < 30 && of["makespan"] == most && busy - sum < 1e-6 && sum - busy < 1e-6)
    }' >"$tmp/said"
result $? "trainings that stop cost the epochs that they trained: $(cat "$tmp/said")"
proposals="run.sampler=forest forest.design=3 forest.trees=5 forest.generations=5"
stops() # STATEMENT RANKS [key=value ...]
{
    # shellcheck disable=SC2086
    tune patient "$2" run.workers=3 $proposals "${@:3}"
    [ -n "$first" ] && [ "$first" = "$(digest) $(grep -o 'for [0-9.]* virtual seconds' "$tmp/out")" ]
    result $? "a search with patience on $1: $first"
}
# shellcheck disable=SC2086
tune patient 1 run.workers=3 $proposals
first="$(digest) $(grep -o 'for [0-9.]* virtual seconds' "$tmp/out")"
stops "2 ranks" 2
stops "2 teams" 2 run.teams=2
stops "2 teams of 4 ranks" 4 run.teams=2
rm -f "$tmp/run.h5"
starts=0 st=75
# shellcheck disable=SC2086
tune patient 1 run.workers=3 $proposals sgd.folds=2 random.resource=5 space.configs=5
whole="$(digest) $(grep -o 'for [0-9.]* virtual seconds' "$tmp/out")"
rm -f "$tmp/run.h5"
# shellcheck disable=SC2086
tune patient 1 run.workers=3 $proposals sgd.folds=2 random.resource=5 space.configs=5 run.time_limit=1e-9
while [ $st = 75 ] && [ $starts -lt 1000 ]; do
    starts=$((starts + 1))
    call resume "$tmp/run.h5" run.time_limit=1e-9
    st=$?
done
[ $starts -gt 20 ] && [ $st = 0 ]
result $? "one with folds ends after $starts starts, in the middle of jobs"
[ "$whole" = "$(digest) $(grep -o 'for [0-9.]* virtual seconds' "$tmp/out")" ]
result $? "the same as without stops: $whole"

"$weft" pack synthetic images rows=400 classes=4 d=64 -o "$tmp/four.h5" 2>"$tmp/log"
tune images 1 run.data="$tmp/four.h5" run.tuner=pbt pbt.population=4 pbt.interval=2 pbt.max_resource=40 \
    train.batch=50 train.weight_decay=1 train.lr='log 0.3 .. 30'
infinite=$(grep -c 'score inf' "$tmp/log")
trained=$("$weft" report "$tmp/run.h5" | sed -n 's/^in these *\([0-9]*\) samples.*/\1/p')
grep -q 'trial [0-9]* diverged' "$tmp/log" && [ "$infinite" -gt 0 ] && [ "$infinite" -lt 40 ] &&
    [ "$trained" -ge $((400 * (160 - 2 * infinite))) ]
result $? "pbt: what diverged has the loss infinity and is not copied: $trained samples, $infinite jobs of 80"

tune documents 1 random.resource=30 sgd.patience=2 sgd.score=loss
score=$(value valid loss)
tune documents 1 random.resource=20 sgd.patience=2 sgd.score=loss
[ -n "$score" ] && [ "$score" = "$(value valid loss)" ]
result $? "patience ends a training long before its last epoch: loss $score"

tune documents 1 sgd.folds=3 && grep -aq fold_error "$tmp/run.h5"
result $? "what folds hold out is in the run file"
[ "$(value valid error)" = "$(sed -n 's/.*held out \([0-9.]*\) %.*/\1/p' "$tmp/log" | tail -1)" ]
result $? "and is the error of the winner where all folds were trained on the valid part"
call eval "$tmp/run.h5" "$tmp/documents.h5" &&
    grep -q 'warning: with sgd.folds the winner was trained on the valid part' "$tmp/log"
result $? "weft eval warns of that"

sed 's/^f1.*/f1 = 2 .. 9/; s/^groups.*/groups = 1 .. 3/; s/^channels.*/channels = static | multi/
s/^lr.*/lr = log 0.001 .. 0.1/; s/^configs.*/configs = 9/; s/^tuner.*/tuner = asha/' \
    "$tmp/documents.ini" >"$tmp/space.ini"
tune space 2 asha.max_resource=4 asha.reduction=2 run.workers=3
first=$(digest)
check "asha searches over sizes of networks" [ -n "$first" ]
tune space 1 asha.max_resource=4 asha.reduction=2 run.workers=3
check "with the same bits on one rank" [ "$first" = "$(digest)" ]
check "its winner is scored again" call eval "$tmp/run.h5" "$tmp/documents.h5"
tune space 2 run.tuner=random random.resource=1 train.l2_4=0.001
four=$(digest)
tune space 2 run.tuner=random random.resource=1
[ -n "$four" ] && [ "$four" != "$(digest)" ]
result $? "the decay of a layer that only the largest networks have is theirs alone"

refused 'all clients.*run.memory.*task fed' "a federation larger than the memory" images \
    run.data="$tmp/million.h5"
refused 'train.balance.*characters' "classes of running text" plays train.balance=yes
refused 'train.balance.*characters' "and as an axis" plays train.balance='no | yes'
refused 'model = lstm' "text for a network of documents" plays sgd.model=txtcnn
refused 'holds documents.*task sgd' "clients of documents" documents run.task=fed \
    fed.model=txtcnn
refused 'no valid samples; set sgd.dev' "no development part" plays run.data="$tmp/whole.h5"
refused 'model = txtcnn' "documents for a network of rows" documents sgd.model=mlp
refused 'l2_2 = 0.5.*in 1 layers' "a decay of a layer that there is not" images train.l2_2=0.5
refused 'l2_4 = 0.5.*in 3 layers at most' "one that no configuration has" space train.l2_4=0.5 \
    txtcnn.groups='1 .. 2'
refused 'images.h5: sgd.model = txtcnn .*linear, mlp or cnn' "rows for a network of documents" images sgd.model=txtcnn
refused 'did you mean .*txtcnn' "a network that is none" documents sgd.model=txtcn
refused 'sgd.fold has no effect without sgd.folds' "a fold without folds" images sgd.fold=2
refused 'sgd.literal = yes has no effect without' "selection on folds without folds" images sgd.literal=yes
refused 'sgd.vectors = no.vec, but .*images.h5 has no documents' "word vectors for images" images sgd.vectors=no.vec
refused 'train.noise = 0.1: nothing in this run reads it: .*images.h5 has no translations of a language to itself' \
    "words left out of images" images train.noise=0.1
refused 'train.noise = 0 .. 0.5: nothing in this run reads it' "a range of these" images train.noise='0 .. 0.5'
refused 'one of them or -1' "a fold that is none" images sgd.folds=3 sgd.fold=3
refused 'run.mixing = none' "mixtures of configurations" documents run.tuner=ws_one \
    run.mixing=mw ws_one.resource=2 space.configs=2
refused 'no-such-file' "vectors that are not there" documents sgd.vectors="$tmp/no-such-file"
printf '2 4\nzzqq 1 2 3 4\nzzqx 1 2 3 4\n' >"$tmp/vectors"
tune documents 1 random.resource=1 sgd.vectors="$tmp/vectors" &&
    grep -q 'warning: .*has 0 of [0-9]* words: all vectors are drawn' "$tmp/log"
result $? "vectors of no word of the data are warned of"
printf 'hello\n' >"$tmp/vectors"
refused 'WORDS NUMBERS.*GloVe' "vectors of another kind of file" documents sgd.vectors="$tmp/vectors"
printf '3 4\nthe 1 2 3 4\nof 1 2 3\nand 1 2 3 4\n' >"$tmp/vectors"
refused 'word 2 of 3' "vectors with a line that is short" documents sgd.vectors="$tmp/vectors"
printf '3 4\nthe 1 2 3 4\n' >"$tmp/vectors"
refused 'word 2 of 3: the file ends' "vectors that end early" documents sgd.vectors="$tmp/vectors"
refused 'run.memory' "a network larger than the memory" images sgd.model=mlp mlp.hidden=60000,60000
echo "1..$count"
