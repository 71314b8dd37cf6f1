#!/bin/bash
# Directions of translation as clients of task fed: one client is task sgd; what is learnt; the
# same bits on any ranks and after a kill; winners on other files; what is refused. Prints TAP.
. tests/tap.sh
. tests/languages.sh

packed() # NAME DIRECTIONS
{
    call pack translations "$tmp/toy.tsv" languages=one,two,three directions="$2" joint=yes vocabulary=60 \
        valid=0.1 test=0.1 -o "$tmp/$1.h5"
}
tune() # NAME RANKS [key=value ...]
{
    on "$2" tune "$tmp/in.ini" run.data="$tmp/$1.h5" "${@:3}" -o "$tmp/run.h5" --force
}
cat >"$tmp/in.ini" <<END
[run]
task = fed
tuner = random
[space]
configs = 1
[fed]
model = seq2seq
cohort = 4
score = loss
score_weights = global
select = eval
eval_clients = 0
[seq2seq]
hidden = 32
embedding = 16
layers = 1
[client]
lr = 0.5
batch = 32
clip = 5
END
cpg='fed.algorithm=cpg cpg.generate=encoder,decoder,attention,combine'

languages 1200 >"$tmp/toy.tsv"
packed toy one-two,two-one,one-three,three-one && packed single one-two && packed some three-one,one-two
result $? "languages are packed"

find_python h5py
# A client alone, whose round is one step of all its pairs, is stochastic gradient descent.
step='seq2seq.smoothing=0.1 run.test=yes'
# shellcheck disable=SC2086
tune single 1 $step fed.cohort=1 client.batch=60000 client.clip=0 random.resource=3 && mv "$tmp/run.h5" "$tmp/fed.h5"
result $? "one client is trained by task fed"
# shellcheck disable=SC2086
sed 's/^task = fed/task = sgd/; /^\[fed\]/,/^eval_clients/d; /^\[client\]/,$d' "$tmp/in.ini" >"$tmp/sgd.ini" &&
    call tune "$tmp/sgd.ini" run.data="$tmp/single.h5" sgd.model=seq2seq sgd.score=loss sgd.keep=last sgd.parts=1 \
        context.form=universal train.lr=0.5 train.batch=60000 $step random.resource=3 -o "$tmp/sgd.h5" --force
result $? "the same pairs are trained by task sgd"
if [ -n "$python" ]; then
    "$python" - "$tmp/fed.h5" "$tmp/sgd.h5" >"$tmp/out" 2>"$tmp/log" <<'END'
import sys, h5py
with h5py.File(sys.argv[1]) as fed, h5py.File(sys.argv[2]) as sgd:
    a, b = fed["winner/state"], sgd["winner/state"]
    assert list(a) == list(b) and len(a) > 10
    assert max(abs(a[name][()] - b[name][()]).max() for name in a) < 1e-6
    for score in "loss", "error", "bleu", "chrf":
        off = abs(fed["winner"].attrs["test_" + score] - sgd["winner"].attrs["test_" + score])
        assert off < 1e-5, (score, off)
END
    result $? "both have the same weights, losses, BLEU and chrF"
else
    echo "ok $((count += 1)) - both have the same weights and scores # SKIP no h5py"
fi

learn='fed.max_valid=1 server.optimizer=adam server.lr=0.01 client.max_samples=64'
# shellcheck disable=SC2086
tune toy 2 $learn random.resource=400 && [ "$(bleu test)" -ge 60 ]
result $? "fedavg learns four directions: BLEU of the test $(bleu test)"
# shellcheck disable=SC2086
tune toy 2 $learn $cpg random.resource=150 && [ "$(bleu test)" -ge 60 ]
result $? "cpg learns them: BLEU of the test $(bleu test)"

if [ -n "$python" ]; then
    "$python" - "$tmp/run.h5" >"$tmp/shown" 2>"$tmp/log" <<'END'
import sys, h5py
with h5py.File(sys.argv[1]) as run:
    clients, winner = run["clients"], run["winner"]
    assert [name.decode() for name in clients["name"]] == ["one-two", "two-one", "one-three", "three-one"]
    assert abs(sum(clients["bleu"]) / 4 - winner.attrs["test_bleu"]) < 1e-9
    assert all(0 <= x < 0.5 for x in clients["error"]) and all(0 < x < 2 for x in clients["loss"])
    assert winner["kept/row"].shape == (4, 9)
    print("%.6f" % ((clients["bleu"][0] + clients["bleu"][3]) / 2))
END
    result $? "the run file has loss, error, BLEU and chrF by direction, and the embeddings"
    call eval "$tmp/run.h5" "$tmp/some.h5" &&
        [ "$(sed -n 's/^test  *[0-9]*  *[0-9.]*  *[0-9.]*  *\([0-9.]*\) .*/\1/p' "$tmp/out")" = "$(cat "$tmp/shown")" ] &&
        grep -Eq '^one-two  *[0-9]+  *[0-9.]+  *[0-9]+\.[0-9]{3}  *-  *-  *[0-9.]+  *[0-9.]+$' "$tmp/out"
    result $? "clients of another file are found by their directions, whatever their order"
else
    echo "ok $((count += 1)) - the run file has scores by direction # SKIP no h5py"
    echo "ok $((count += 1)) - clients of another file are found # SKIP no h5py"
fi
! call predict "$tmp/run.h5" "$tmp/toy.h5" -o "$tmp/p.csv" &&
    [ "$(grep -c '^weft: ' "$tmp/log")" = 1 ]
result $? "predictions of rows are refused in one line"

# It is stopped in its first job, killed after it, and resumed.
short='space.configs=2 client.lr=0.2..0.6 random.resource=3 client.dropout=0.2 client.max_samples=100'
for setting in "fed.algorithm=fedavg client.mu=0.1" "$cpg fed.score_weights=personal" "fed.algorithm=fedrep"; do
    : >"$tmp/digests"
    for ranks in 1 2 3; do
        # shellcheck disable=SC2086
        tune toy $ranks $short $setting && digest >>"$tmp/digests"
    done
    [ "$(sort -u "$tmp/digests" | wc -l) $(wc -l <"$tmp/digests")" = "1 3" ]
    result $? "$setting: one digest on 1, 2 and 3 ranks"
    rm -rf "$tmp"/run.*
    # shellcheck disable=SC2086
    tune toy 1 $short $setting run.time_limit=1e-9 run.checkpoint=0
    WEFT_HOLD="job 1 of" "$weft" resume "$tmp/run.h5" run.time_limit=0 >"$tmp/out" 2>"$tmp/log" &
    run=$!
    held $run && kill -KILL $run
    wait $run 2>/dev/null
    [ ! -e "$tmp/run.h5" ] && call resume "$tmp/run.h5" run.time_limit=0
    result $? "stopped in a job, resumed, killed, resumed, it ends"
    check "with the same digest" [ "$(digest)" = "$(head -1 "$tmp/digests")" ]
done
for algorithm in scaffold feddyn fednova ditto fedper apfl local; do
    tune toy 1 random.resource=1 client.max_samples=40 fed.algorithm=$algorithm &&
        grep -Eq '^test .*loss [0-9.]+ .*chrF [0-9]' "$tmp/out"
    result $? "$algorithm trains them, too"
done

refused() # PATTERN STATEMENT NAME [key=value ...]
{
    refuses "[1-9]" "$1" "refused: $2" tune "$3" 2 "${@:4}"
}
sed '/^\[seq2seq\]/,/^layers/d' "$tmp/in.ini" >"$tmp/other.ini" && mv "$tmp/in.ini" "$tmp/seq2seq.ini"
mv "$tmp/other.ini" "$tmp/in.ini"
refused 'cnn takes rows of numbers.*model = seq2seq' "cnn on sentences" toy fed.model=cnn
call pack synthetic images rows=200 clients=4 -o "$tmp/images.h5"
refused 'seq2seq translates.*rows of numbers' "seq2seq on images" images
refused 'knn compares samples' "an algorithm that compares samples" toy fed.algorithm=knn
refused 'sentences have none' "classes that count alike" toy fed.score=balanced

echo "1..$count"
