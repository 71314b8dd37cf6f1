#!/bin/bash
# A run of one job, stopped or complete, is given more rounds: it ends as one that had them
# from the beginning. Prints TAP.
. tests/tap.sh

check "clients are packed" call pack synthetic images rows=600 clients=12 partition=shards -o "$tmp/img.h5"
cat >"$tmp/in.ini" <<END
[run]
data = $tmp/img.h5
task = fed
tuner = random
[fed]
model = mlp
cohort = 4
eval_clients = 0
eval_every = 4
[mlp]
hidden = 6
[device]
sample_seconds = 0.1
[random]
resource = 11
END

# does RANKS STATUS COMMAND ARGUMENT...
does()
{
    on "$1" "${@:3}"
    [ $? = "$2" ]
}
# refused PATTERN STATEMENT ARGUMENT...
refused()
{
    does 1 2 resume "${@:3}" && grep -Eq "^weft: .*($1)" "$tmp/log"
    result $? "$2"
}
same() # STATEMENT: more.h5 is whole.h5, in scores, rounds and virtual time
{
    for run in whole more; do
        "$weft" report "$tmp/$run.h5" | grep -E '^(winner|valid|test|1 |in these)' | sed 's/ [0-9.]*  *\([01]\.[0-9][0-9][0-9]\)  / \1  /' >"$tmp/$run"
    done && diff "$tmp/whole" "$tmp/more" >"$tmp/out"
    result $? "$1"
    [ -n "$(digest "$tmp/whole.h5")" ] && [ "$(digest "$tmp/more.h5")" = "$(digest "$tmp/whole.h5")" ]
    result $? "with its digest"
    check "its directory is gone" [ ! -e "$tmp/more.d" ]
}
for how in server.optimizer=sgd server.momentum=0.9 server.optimizer=yogi client.mu=0.1 run.mixing=fedex \
    fed.algorithm=scaffold fed.algorithm=ditto; do
    axis=
    [ $how != run.mixing=fedex ] || axis="client.lr=0.01|0.1|0.5 space.configs=1 fedex.k=3"
    # shellcheck disable=SC2086
    does 1 0 tune "$tmp/in.ini" $how $axis -o "$tmp/whole.h5" --force &&
        does 1 0 tune "$tmp/in.ini" $how $axis random.resource=5 -o "$tmp/more.h5" --force &&
        does 2 0 resume "$tmp/more.h5" random.resource=11 && grep -q 'complete and is given more: its 5 rounds stay' "$tmp/log"
    result $? "a complete run with $how is given more on other ranks"
    same "and ends as one that had so many from the beginning"
done
printf '[run]\ntask = sgd\ndata = %s\ntuner = random\n[sgd]\nmodel = mlp\n[mlp]\nhidden = 6\n' "$tmp/rows.h5" >"$tmp/sgd.ini"
call pack synthetic images rows=100 -o "$tmp/rows.h5" &&
    call pack synthetic documents rows=90 words=20 -o "$tmp/texts.h5"
result $? "rows and texts are packed"
for how in "train.momentum=0.9 train.schedule=cosine train.horizon=9" "train.optimizer=adam train.dropout=0.3 sgd.keep=last" \
    "sgd.folds=3 sgd.fold=1 sgd.patience=3 train.lr=0.5" "train.optimizer=adadelta train.lr=1 sgd.steps=3" \
    "run.data=$tmp/texts.h5 sgd.model=txtcnn sgd.dim=6 txtcnn.f1=4 txtcnn.f2=4 txtcnn.f3=4 train.optimizer=adam"; do
    # shellcheck disable=SC2086
    does 1 0 tune "$tmp/sgd.ini" $how random.resource=8 -o "$tmp/whole.h5" --force &&
        does 1 0 tune "$tmp/sgd.ini" $how random.resource=4 -o "$tmp/more.h5" --force &&
        does 2 0 resume "$tmp/more.h5" random.resource=8 && grep -q 'complete and is given more: its 4 rounds stay' "$tmp/log"
    result $? "a network with $how is given more epochs on other ranks"
    same "and ends as one that had so many from the beginning"
done
does 1 0 tune "$tmp/in.ini" random.resource=11 -o "$tmp/more.h5" --force
refused 'the run has 11; a resume may give it more' "a run is not given less" "$tmp/more.h5" random.resource=10
does 1 0 resume "$tmp/more.h5" random.resource=11 && grep -q ' is complete, and has that resource already' "$tmp/log"
result $? "one that has as much is complete"
refused 'client.lr = 0.2: only run.data, .* may be changed' "and nothing else is changed" "$tmp/more.h5" \
    random.resource=12 client.lr=0.2
check "after which the run is there as before" call report "$tmp/more.h5"
check "without a directory" [ ! -e "$tmp/more.d" ]

# Stopped with fewer rounds, given more while it is stopped, and twice; killed after that.
rm "$tmp/more.h5"
does 1 0 tune "$tmp/in.ini" random.resource=14 -o "$tmp/whole.h5" --force &&
    does 1 75 tune "$tmp/in.ini" random.resource=6 run.time_limit=1e-9 -o "$tmp/more.h5" --force &&
    does 1 75 resume "$tmp/more.h5" random.resource=9 && "$weft" report "$tmp/more.h5" | grep -q 'after 2 of 9 rounds'
result $? "a stopped run is given more"
does 1 75 resume "$tmp/more.h5" && "$weft" report "$tmp/more.h5" | grep -q 'after 3 of 9 rounds'
result $? "which holds for the next starts, too"
does 1 0 resume "$tmp/more.h5" run.time_limit=0 && does 1 75 resume "$tmp/more.h5" random.resource=14 run.time_limit=1e-9 &&
    [ -e "$tmp/more.h5" ] && "$weft" report "$tmp/more.h5" | grep -q '^rounds  *9 in'
result $? "a complete run that is stopped again is there as it was"
does 2 0 resume "$tmp/more.h5" run.time_limit=0
same "and ends"
does 1 0 tune "$tmp/in.ini" random.resource=6 -o "$tmp/more.h5" --force
WEFT_HOLD='its 6 rounds stay' "$weft" resume "$tmp/more.h5" random.resource=14 >"$tmp/out" 2>"$tmp/log" &
pid=$!
held $pid && kill -KILL $pid
wait $pid 2>"$tmp/log"
[ -e "$tmp/more.d/journal" ] && does 1 0 resume "$tmp/more.h5" random.resource=14
same "so does one that was killed when it was given more"

# Where it cannot be.
does 1 0 tune "$tmp/in.ini" client.lr="log 0.01 .. 1" space.configs=2 -o "$tmp/two.h5"
refused 'cannot be given more: it is of several jobs' "a search of several jobs is not given more" "$tmp/two.h5" random.resource=12
does 1 75 tune "$tmp/in.ini" client.lr="log 0.01 .. 1" space.configs=2 run.time_limit=1e-9 -o "$tmp/two.h5" --force
refused 'cannot be given more: it is of several jobs' "nor one that was stopped" "$tmp/two.h5" random.resource=12
does 1 0 tune "$tmp/sgd.ini" sgd.folds=3 random.resource=2 -o "$tmp/sgd.h5"
refused 'whose units depend on its length, as folds do' "nor a job whose folds are trained one after the other" "$tmp/sgd.h5" random.resource=4
does 1 0 tune "$tmp/sgd.ini" run.refit=yes random.resource=2 -o "$tmp/sgd.h5" --force
refused 'its winner was trained once more by run.refit' "nor one whose winner was trained once more" "$tmp/sgd.h5" random.resource=4
does 1 75 tune "$tmp/sgd.ini" run.refit=yes random.resource=4 run.time_limit=1e-9 -o "$tmp/sgd.h5" --force &&
    does 1 0 resume "$tmp/sgd.h5" random.resource=8 run.time_limit=0
result $? "which is given more before that"
does 1 0 tune "$tmp/sgd.ini" run.refit=yes random.resource=8 -o "$tmp/whole.h5" --force &&
    [ -n "$(digest "$tmp/whole.h5")" ] && [ "$(digest "$tmp/sgd.h5")" = "$(digest "$tmp/whole.h5")" ]
result $? "to the digest of one that had so many from the beginning"
call list random && grep -q 'weft resume. may raise it' "$tmp/out"
result $? "what a resume may raise is listed"
echo "1..$count"
