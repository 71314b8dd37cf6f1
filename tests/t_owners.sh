#!/bin/bash
# Documents dealt to clients: they remain what they are for tasks without clients, to the bit;
# task fed trains on them, for one client as task sgd on the same batches; what is refused.
# With WEFT_DATA also on rt-polarity. Prints TAP.
. tests/tap.sh

packed() # NAME READER SOURCE [key=value ...]
{
    call pack "${@:2}" -o "$tmp/$1.h5"
}
tune() # NAME RANKS [key=value ...]: on $tmp/NAME.h5
{
    on "$2" tune "$tmp/one.ini" run.data="$tmp/$1.h5" "${@:3}" -o "$tmp/run.h5" --force
}
refused() # PATTERN STATEMENT COMMAND ...: one line
{
    "${@:3}" >"$tmp/out" 2>"$tmp/log"
    refusal $? "[1-9]" "$1" "refused: $2"
}
valid_loss()
{
    sed -n 's/^valid *loss \([^ ]*\) .*/\1/p' "$tmp/out"
}

cat >"$tmp/one.ini" <<END
[run]
tuner = random
seed = 1
[space]
configs = 1
[random]
resource = 1
END
small='txtcnn.f1=6 txtcnn.f2=6 txtcnn.f3=6'

packed whole synthetic documents rows=300 words=15 &&
    packed dealt synthetic documents rows=300 words=15 clients=12 partition=dirichlet alpha=0.5 &&
    packed single synthetic documents rows=300 words=15 clients=1 &&
    packed shards synthetic documents rows=300 words=15 clients=12 partition=shards
result $? "documents are packed without clients, and dealt to them by each rule"

call info "$tmp/dealt.h5"
grep -q '^clients *12$' "$tmp/out" && grep -q '^partition .*partition=dirichlet alpha=0.5' "$tmp/out" &&
    grep -q 'dealt to 12 clients: dirichlet' "$tmp/out" && grep -q '^kim ' "$tmp/out" &&
    grep -Eq '^train +300 +25.00 ' "$tmp/out" && grep -q '^distance  *0\.[0-9]* ' "$tmp/out"
result $? "weft info has the clients, their sizes and classes, and the tokens"
call info "$tmp/whole.h5"
! grep -q '^clients' "$tmp/out"
result $? "and none of documents without clients"

while read -r case; do
    # shellcheck disable=SC2086
    tune whole 2 $case
    without=$(digest)
    # shellcheck disable=SC2086
    tune dealt 2 $case
    [ -n "$without" ] && [ "$without" = "$(digest)" ]
    result $? "clients do not change $case"
done <<END
run.task=sgd sgd.model=txtcnn sgd.dim=16 $small sgd.folds=3
run.task=fmap fmap.feature=ngram fmap.model=logistic
END

# Batches are drawn by the same keys, and a round with server.lr = 1 replaces the weights by the
# client's, up to the rounding of their change. Dropout masks have other keys.
while read -r channels tokenizer; do
    # shellcheck disable=SC2086
    tune single 1 run.task=sgd sgd.model=txtcnn sgd.tokenizer=$tokenizer sgd.dim=16 $small sgd.parts=1 \
        sgd.keep=last train.lr=0.3 train.batch=7 "txtcnn.channels=$channels" txtcnn.max_norm=0.5
    central=$(valid_loss)
    # shellcheck disable=SC2086
    tune single 1 run.task=fed fed.model=txtcnn fed.tokenizer=$tokenizer fed.dim=16 $small fed.cohort=1 \
        fed.score_weights=global fed.eval_clients=0 client.lr=0.3 client.batch=7 \
        "txtcnn.channels=$channels" txtcnn.max_norm=0.5
    [ -n "$central" ] && awk "BEGIN { d = $central - $(valid_loss); exit !(d < 2e-6 && d > -2e-6) }"
    result $? "$channels: a round of one client with all documents is an epoch of sgd: loss $central, $(valid_loss)"
done <<END
static split
nonstatic kim
multi split
END

fedex="run.task=fed run.tuner=sha run.mixing=fedex space.configs=3 sha.max_resource=3 sha.budget=6
    sha.eliminations=1 fed.model=txtcnn fed.dim=16 $small fed.cohort=5 fed.eval_clients=4
    txtcnn.channels=multi client.dropout=0.2 run.test=no"
cp "$tmp/one.ini" "$tmp/keep.ini"
sed -i '/^configs/d' "$tmp/one.ini"
printf '[client]\nlr = log 0.01 .. 1\nweight_decay = 0 | 0.01\nbatch = 2 | 5\nmu = 0 .. 0.1\n[server]\nlr = 0.5 .. 1\n' \
    >>"$tmp/one.ini"
digests=
for ranks in 1 2 3; do
    # shellcheck disable=SC2086
    tune dealt $ranks $fedex
    digests="$digests $(digest)"
done
# shellcheck disable=SC2086
tune dealt 3 $fedex run.teams=2 run.memory=0.01
# shellcheck disable=SC2086
set -- $digests "$(digest)"
[ -n "$1" ] && [ "$1" = "$2" ] && [ "$1" = "$3" ] && [ "$1" = "$4" ]
result $? "fedex over documents: 1, 2, 3 ranks and 2 teams give the same bits"
check "its winner is scored again" call eval "$tmp/run.h5" "$tmp/dealt.h5"
mv "$tmp/keep.ini" "$tmp/one.ini"

# shellcheck disable=SC2086
tune dealt 1 run.task=fed fed.model=txtcnn fed.dim=16 $small fed.cohort=12 random.resource=30 \
    client.lr=1 client.epochs=3 txtcnn.channels=nonstatic &&
    call eval "$tmp/run.h5" "$tmp/dealt.h5"
awk '$1 == "train" { wrong = $4 } END { exit !(wrong != "" && wrong < 5) }' "$tmp/out"
result $? "rounds learn the training documents"

ask="tune dealt 2 run.task=fed fed.model=txtcnn fed.cohort=5"
refused 'belong to no clients.*weft pack .* clients=N' "documents of no clients" tune whole 2 \
    run.task=fed fed.model=txtcnn
refused 'no-such-file' "vectors that are not there" $ask fed.vectors="$tmp/no-such-file"
printf 'hello\n' >"$tmp/vectors"
refused 'WORDS NUMBERS' "vectors of another kind of file" $ask fed.vectors="$tmp/vectors"
refused 'model = linear.*txtcnn' "documents for a network of rows" tune dealt 2 run.task=fed fed.cohort=5 \
    fed.model=linear
refused 'cohort = 13.*12 clients' "more clients in a round than there are" tune dealt 2 run.task=fed fed.cohort=13 \
    fed.model=txtcnn
refused 'run.memory' "vectors larger than the memory" $ask txtcnn.channels=multi \
    fed.dim=4096 run.memory=0.001
refused 'clients = 400 share 300 training rows' "more clients than documents" \
    "$weft" pack synthetic documents rows=300 clients=400 -o "$tmp/many.h5"
check "and no file is written" [ ! -e "$tmp/many.h5" ]
refused 'clients = N' "a partition without clients" \
    "$weft" pack synthetic documents partition=iid -o "$tmp/many.h5"
echo "1..$count"
