#!/bin/bash
# Trials begin with the weights of another run. Prints TAP.
. tests/tap.sh

call pack synthetic images rows=600 clients=12 partition=shards -o "$tmp/img.h5" &&
    call pack synthetic images rows=600 -o "$tmp/rows.h5" &&
    call pack synthetic federated=stored clients=12 classes=5 -o "$tmp/few.h5"
result $? "clients are packed"
cat >"$tmp/in.ini" <<END
[run]
data = $tmp/img.h5
task = fed
tuner = random
[fed]
model = mlp
score_weights = global
[mlp]
hidden = 6
[random]
resource = 4
END

tunes() # NAME ARGUMENT...
{
    on 2 tune "$tmp/in.ini" "${@:2}" -o "$tmp/$1.h5" --force
}
refused() # STATUS PATTERN STATEMENT COMMAND ARGUMENT...
{
    refuses "$1" "$2" "$3" call "${@:4}"
}
tunes first && call export "$tmp/first.h5" -o "$tmp/exported.h5"
result $? "a run has weights"
tunes still run.start="$tmp/exported.h5" client.lr=0 && [ "$(grep '^test' "$tmp/out")" = "$("$weft" report "$tmp/first.h5" | grep '^test')" ]
result $? "with which another begins: without steps its scores are the same"
tunes other run.start="$tmp/exported.h5" run.seed=2 && tunes same run.start="$tmp/first.h5" run.seed=2 && tunes none run.seed=2
result $? "others begin with the run file, the exported winner, none"
one=$(digest "$tmp/other.h5")
check "the run file or the exported winner have one digest" has_digest "$one" "$tmp/same.h5"
check "none has another" [ "$(digest "$tmp/none.h5")" != "$one" ]
tunes own fed.algorithm=ditto fed.cohort=4 && call export "$tmp/own.h5" -o "$tmp/own-exported.h5" &&
    tunes still fed.algorithm=ditto fed.cohort=4 run.start="$tmp/own-exported.h5" client.lr=0 &&
    [ "$(grep '^test' "$tmp/out")" = "$("$weft" report "$tmp/own.h5" | grep '^test')" ]
result $? "so do clients, with what they kept"
! tunes still fed.algorithm=ditto fed.cohort=4 run.start="$tmp/own.h5" run.time_limit=1e-9 random.resource=9 &&
    call resume "$tmp/still.h5" run.time_limit=0
result $? "also after a stop"
one=$(digest)
check "and without one" tunes still fed.algorithm=ditto fed.cohort=4 run.start="$tmp/own.h5" random.resource=9
check "to one digest" has_digest "$one"
one=$(digest "$tmp/other.h5")
check "a plan is made" call tune "$tmp/in.ini" run.start="$tmp/exported.h5" run.seed=2 --plan
rm -f "$tmp/stopped.h5"
tunes longer run.start="$tmp/exported.h5" client.lr="0.01 .. 1" space.configs=2 && ! tunes stopped run.start="$tmp/exported.h5" run.seed=2 run.time_limit=1e-9 &&
    call report "$tmp/stopped.h5" && grep -q '^data .*img.h5 ([0-9a-f]*)$' "$tmp/out" &&
    cp "$tmp/exported.h5" "$tmp/kept.h5" && call export "$tmp/none.h5" -o "$tmp/exported.h5" --force
result $? "a run that was stopped"
refused 4 'run.start = .*is not the file that .*stopped.h5 was begun with' "needs these weights" \
    resume "$tmp/stopped.h5" run.time_limit=0
refused 4 'run.start = .*is not the file that .*longer.h5 was begun with' "so does one that is made longer" \
    resume "$tmp/longer.h5" space.configs=3
cp "$tmp/kept.h5" "$tmp/exported.h5" && call resume "$tmp/stopped.h5" run.time_limit=0 &&
    [ "$(digest "$tmp/stopped.h5")" = "$one" ]
result $? "and ends as one that was not"
tunes search run.start="$tmp/exported.h5" run.tuner=sha run.mixing=fedex client.lr="log 0.01 .. 1" space.configs=4 \
    sha.max_resource=4 sha.budget=12 sha.eliminations=1
result $? "all trials of a search begin with them"
refused 4 'has [0-9]* weights and statistics, .* needs [0-9]*' "another size of the network is refused" \
    tune "$tmp/in.ini" mlp.hidden=7 run.start="$tmp/exported.h5" -o "$tmp/x.h5"
refused 4 'has other tensors than the network here' "so is another network" \
    tune "$tmp/in.ini" fed.model=linear run.start="$tmp/exported.h5" -o "$tmp/x.h5"
refused 4 'few.h5' "and data of other columns" \
    tune "$tmp/in.ini" run.data="$tmp/few.h5" run.start="$tmp/exported.h5" -o "$tmp/x.h5"
refused 3 'nothing.h5: No such file' "a file that is not there" tune "$tmp/in.ini" run.start="$tmp/nothing.h5" -o "$tmp/x.h5"
refused 2 'run.start = .*task fmap trains no weights that are given to it' "and a task without a start" \
    tune "$tmp/in.ini" run.task=fmap run.data="$tmp/rows.h5" run.start="$tmp/exported.h5" -o "$tmp/x.h5"
echo "1..$count"
