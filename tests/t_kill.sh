#!/bin/sh
# A run whose processes are killed again and again at random moments, or that is stopped by a
# signal, and that is resumed each time on another number of ranks, ends with the digest of one
# that was left alone: fits of feature maps, and rounds of a federation by one team of ranks or
# two. Prints TAP. KILLS: how often each run is killed (5); SEED: of the moments; ONLY: schedules
# of the federation that are run by two teams, and nothing else.
kills=${KILLS:-5}
seed=${SEED:-$(date +%s)}
echo "# SEED=$seed"
. tests/tap.sh

digest() # FILE: of that run
{
    "$weft" report "$1" 2>>"$tmp/log" | sed -n 's/^digest *//p'
}

# start RANKS INPUT TUNER TEAMS: begins the run r.h5, or resumes it, in the background as $run.
# The ranks leave their process ids in the file pids. Killed while its ranks are still starting,
# mpirun may wait for them for ever: timeout ends it.
start()
{
    ranks=$1 teams=$4
    [ "$teams" -le "$ranks" ] || teams=$ranks
    set -- tune "$tmp/$2.ini" run.tuner="$3" run.teams="$teams" -o "$tmp/r.h5"
    if began; then set -- resume "$tmp/r.h5"; fi
    rm -f "$tmp/pids"
    : >"$tmp/log"
    # shellcheck disable=SC2016
    timeout -k 2 60 mpirun -n "$ranks" sh -c 'echo $$ >>"$0"; exec "$@"' "$tmp/pids" "$weft" "$@" \
        >"$tmp/log" 2>&1 &
    run=$!
}

jobs_done() # lines of the log that tell of a job
{
    grep -c ' job [0-9]* of ' "$tmp/log"
}

# until_true COMMAND ...: waits for that, or for the run to end.
until_true()
{
    until "$@" || ! kill -0 $run 2>/dev/null; do sleep 0.01; done
}
began() { grep -aqs '^began' "$tmp/r.d/journal"; }
ranks_run() { [ "$(cat "$tmp/pids" 2>/dev/null | wc -l)" = "$ranks" ]; }
started() { grep -q ', tuner ' "$tmp/log"; }
job_done() { [ "$(jobs_done)" -gt 0 ]; }

# moment SECONDS: waits up to so long, another time each time; sets $after.
moments=0
moment()
{
    moments=$((moments + 1))
    after=$(awk -v seed="$seed" -v n=$moments -v s="$1" \
        'BEGIN { srand(seed); while (n--) u = rand(); printf "%.3f", s * u }')
    sleep "$after"
}

cat >"$tmp/in.ini" <<END
[run]
data = $tmp/doc.h5
[space]
configs = 12
[fmap]
feature = ngram
model = ridge
[ngram]
bins = 2^14
order = 1 .. 3
alpha = log 1e-5 .. 100
END
"$weft" pack synthetic documents rows=2000 -o "$tmp/doc.h5" >"$tmp/log" 2>&1
result $? "the built-in documents are packed"

cat >"$tmp/fed.ini" <<END
[run]
data = $tmp/fed.h5
task = fed
checkpoint = 0.3
[space]
configs = 6
[fed]
model = linear
cohort = 10
score_both = yes
eval_clients = 20
[client]
lr = log 1e-4 .. 1
momentum = 0 .. 0.9
[sha]
reduction = 2
eliminations = 1
max_resource = 400
budget = 1500
[asha]
reduction = 3
max_resource = 81
trials = 30
[hyperband]
reduction = 3
max_resource = 81
[pbt]
population = 8
interval = 15
max_resource = 120
[fedex]
k = 5
END
sed 's/^task = fed/&\nmixing = fedex/' "$tmp/fed.ini" >"$tmp/mixed.ini"
"$weft" pack synthetic federated=generated clients=100 -o "$tmp/fed.h5" >"$tmp/log" 2>&1
result $? "a built-in federation is packed"

# survives INPUT TUNER TEAMS: killed again and again.
survives()
{
    what="$2 on $1 by $3"
    begin=$(date +%s%N)
    "$weft" tune "$tmp/$1.ini" run.tuner="$2" -o "$tmp/$1-$2.h5" >"$tmp/log" 2>&1
    result $? "$what: a run is left alone"
    took=$(echo "$begin $(date +%s%N)" | awk '{ print ($2 - $1) / 1e9 }')
    expected=$(digest "$tmp/$1-$2.h5")
    killed=0 starts=0 resumed=0
    while [ $killed -lt "$kills" ] && [ $starts -lt $((3 * kills)) ] &&
        { [ $killed = 0 ] || [ ! -e "$tmp/r.h5" ]; }
    do
        rm -f "$tmp/r.h5" # of a first run that ended too soon
        start $((starts % 3 + 1)) "$1" "$2" "$3"
        until_true ranks_run
        case $((starts % 3)) in # in the first start a job is done, so that it can be resumed
        0) until_true job_done && part=10 ;;
        1) until_true began && part=2 ;;
        2) part=1 ;;
        esac
        [ ! "$ONLY" ] || { until_true started && part=$kills; }
        moment "$(echo "$took $part" | awk '{ print $1 / $2 }')"
        # shellcheck disable=SC2046
        if [ ! -e "$tmp/r.h5" ] && kill -KILL $(head -n $((starts % 2 + 1)) "$tmp/pids") 2>/dev/null
        then
            killed=$((killed + 1))
            echo "# $what: $ranks ranks killed $after s later, $(jobs_done) jobs were done"
        fi
        wait $run
        # shellcheck disable=SC2046
        kill -KILL $(cat "$tmp/pids") 2>/dev/null
        grep -q 'resumed: [1-9]' "$tmp/log" && resumed=1
        starts=$((starts + 1))
    done
    status=0
    if [ ! -e "$tmp/r.h5" ] || [ -d "$tmp/r.d" ]; then
        start 2 "$1" "$2" "$3"
        wait $run
        status=$?
        grep -q 'resumed: [1-9]' "$tmp/log" && resumed=1
    fi
    result $status "$what: killed $killed times, it runs to its end"
    [ $killed -ge 1 ] && [ $resumed = 1 ]
    result $? "$what: it was killed, and resumed with jobs that were done"
    [ -n "$expected" ] && [ "$(digest "$tmp/r.h5")" = "$expected" ]
    result $? "$what: with the same digest"
    [ ! -e "$tmp/r.d" ]
    result $? "$what: and leaves nothing beside its file"
    rm -rf "$tmp"/r.*
}
if [ "$ONLY" ]; then
    sed 's/^configs = 6/configs = 30/; s/^budget = .*/budget = 6100/' "$tmp/fed.ini" >"$tmp/more.ini"
    for schedule in $ONLY; do survives more "$schedule" 2; done
    echo "1..$count"
    exit
fi
survives in ws_sha 1
survives in random 2
survives mixed sha 1
survives fed asha 2

for signal in USR1 TERM INT; do
    start 2 in random 1
    while [ "$(jobs_done)" -lt 2 ] && kill -0 $run 2>/dev/null; do sleep 0.05; done
    # shellcheck disable=SC2046
    kill -$signal $(cat "$tmp/pids")
    wait $run
    status=$?
    [ $status = 75 ] && [ "$(grep -c '^weft: .*weft resume' "$tmp/log")" = 1 ]
    result $? "SIG$signal: a run ends with status 75 and says how to go on"
    before=$(jobs_done)
    start 3 in random 1
    wait $run
    result $? "SIG$signal: it is resumed"
    [ $((before + $(jobs_done))) = 12 ]
    result $? "SIG$signal: without doing a job twice"
    [ "$(digest "$tmp/r.h5")" = "$(digest "$tmp/in-random.h5")" ]
    result $? "SIG$signal: and ends with the same digest"
    rm -rf "$tmp"/r.*
done
echo "1..$count"
