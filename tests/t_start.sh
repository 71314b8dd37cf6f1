#!/bin/sh
# Trials begin with the weights of another run. Prints TAP.
. tests/tap.sh

"$weft" pack synthetic images rows=600 clients=12 partition=shards -o "$tmp/img.h5" >"$tmp/log" 2>&1 &&
    "$weft" pack synthetic images rows=600 -o "$tmp/rows.h5" >"$tmp/log" 2>&1 &&
    "$weft" pack synthetic federated=stored clients=12 classes=5 -o "$tmp/few.h5" >"$tmp/log" 2>&1
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
    name=$1
    shift
    timeout "$net" mpirun -n 2 "$weft" tune "$tmp/in.ini" "$@" -o "$tmp/$name.h5" --force >"$tmp/out" 2>"$tmp/log"
}
refused() # STATUS PATTERN STATEMENT COMMAND ARGUMENT...
{
    status=$1 pattern=$2 statement=$3
    shift 3
    timeout "$net" "$weft" "$@" >"$tmp/out" 2>"$tmp/log"
    [ $? = "$status" ] && [ "$(grep -c '^weft: ' "$tmp/log")" = 1 ] && grep -Eq "^weft: .*($pattern)" "$tmp/log"
    result $? "$statement"
}
tunes first && "$weft" export "$tmp/first.h5" -o "$tmp/exported.h5" >"$tmp/out" 2>"$tmp/log"
result $? "a run has weights"
tunes still run.start="$tmp/exported.h5" client.lr=0 && [ "$(grep '^test' "$tmp/out")" = "$("$weft" report "$tmp/first.h5" | grep '^test')" ]
result $? "with which another begins: without steps its scores are the same"
tunes other run.start="$tmp/exported.h5" run.seed=2 && tunes same run.start="$tmp/first.h5" run.seed=2 && tunes none run.seed=2
result $? "others begin with the run file, the exported winner, none"
one=$(digest "$tmp/other.h5")
[ -n "$one" ] && [ "$(digest "$tmp/same.h5")" = "$one" ]
result $? "the run file or the exported winner have one digest"
[ "$(digest "$tmp/none.h5")" != "$one" ]
result $? "none has another"
tunes own fed.algorithm=ditto fed.cohort=4 && "$weft" export "$tmp/own.h5" -o "$tmp/own-exported.h5" >"$tmp/out" 2>"$tmp/log" &&
    tunes still fed.algorithm=ditto fed.cohort=4 run.start="$tmp/own-exported.h5" client.lr=0 &&
    [ "$(grep '^test' "$tmp/out")" = "$("$weft" report "$tmp/own.h5" | grep '^test')" ]
result $? "so do clients, with what they kept"
! tunes still fed.algorithm=ditto fed.cohort=4 run.start="$tmp/own.h5" run.time_limit=1e-9 random.resource=9 &&
    "$weft" resume "$tmp/still.h5" run.time_limit=0 >"$tmp/out" 2>"$tmp/log"
result $? "also after a stop"
one=$(digest)
tunes still fed.algorithm=ditto fed.cohort=4 run.start="$tmp/own.h5" random.resource=9
result $? "and without one"
[ -n "$one" ] && [ "$(digest)" = "$one" ]
result $? "to one digest"
one=$(digest "$tmp/other.h5")
timeout "$net" "$weft" tune "$tmp/in.ini" run.start="$tmp/exported.h5" run.seed=2 --plan >"$tmp/out" 2>"$tmp/log"
result $? "a plan is made"
rm -f "$tmp/stopped.h5"
tunes longer run.start="$tmp/exported.h5" client.lr="0.01 .. 1" space.configs=2 && ! tunes stopped run.start="$tmp/exported.h5" run.seed=2 run.time_limit=1e-9 &&
    "$weft" report "$tmp/stopped.h5" >"$tmp/out" 2>"$tmp/log" && grep -q '^data .*img.h5 ([0-9a-f]*)$' "$tmp/out" &&
    cp "$tmp/exported.h5" "$tmp/kept.h5" && "$weft" export "$tmp/none.h5" -o "$tmp/exported.h5" --force >"$tmp/out" 2>"$tmp/log"
result $? "a run that was stopped"
refused 4 'run.start = .*is not the file that .*stopped.h5 was begun with' "needs these weights" \
    resume "$tmp/stopped.h5" run.time_limit=0
refused 4 'run.start = .*is not the file that .*longer.h5 was begun with' "so does one that is made longer" \
    resume "$tmp/longer.h5" space.configs=3
cp "$tmp/kept.h5" "$tmp/exported.h5" && "$weft" resume "$tmp/stopped.h5" run.time_limit=0 >"$tmp/out" 2>"$tmp/log" &&
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
