#!/bin/sh
# A rank that hangs is named, with what the others wait for; a rank that dies ends the run
# at once; a delayed run has the same result. Prints TAP.
. tests/tap.sh

"$weft" pack synthetic federated=generated clients=100 -o "$tmp/fed.h5" >"$tmp/log" 2>&1
cat >"$tmp/fed.ini" <<INI
[run]
data = $tmp/fed.h5
task = fed
tuner = random
watchdog = 1
[space]
configs = 2
[fed]
model = linear
cohort = 10
eval_clients = 20
[client]
lr = log 1e-4 .. 1
[random]
resource = 300
INI

# start NAME RANKS [KEY=VALUE ...]: the process ids of the ranks come to the file pids.
start()
{
    name=$1 ranks=$2
    shift 2
    rm -f "$tmp/pids"
    : >"$tmp/log"
    # shellcheck disable=SC2016
    timeout -k 2 120 mpirun -n "$ranks" sh -c 'echo $OMPI_COMM_WORLD_RANK $$ >>"$0"; exec "$@"' \
        "$tmp/pids" "$weft" tune "$tmp/fed.ini" "$@" -o "$tmp/$name.h5" >"$tmp/log" 2>&1 &
    run=$!
    until grep -aqs '^began' "$tmp/$name.d/journal" || ! kill -0 $run 2>/dev/null; do sleep 0.05; done
}
process() # RANK
{
    sed -n "s/^$1 //p" "$tmp/pids"
}
warned() # TEXT: within 20 s?
{
    for _ in $(seq 200); do
        grep -q "warning: no progress for [0-9]* s[:;] .*$1" "$tmp/log" && return
        sleep 0.1
    done
    return 1
}
mpirun -n 2 "$weft" tune "$tmp/fed.ini" -o "$tmp/alone.h5" >"$tmp/log" 2>&1
result $? "a run is left alone"
test "$(grep -c 'no progress' "$tmp/log")" = 0
result $? "it is not warned of"
expected=$(digest "$tmp/alone.h5")

for rank in 2 0; do
    start held 3
    kill -STOP "$(process $rank)"
    warned "rank $rank says nothing: it is stopped, or its node is lost"
    result $? "rank $rank, which is stopped, is named"
    test "$(grep -c 'no progress' "$tmp/log")" = 1
    result $? "in one warning"
    kill -CONT "$(process $rank)"
    wait $run
    result $? "the run goes on when the rank does"
    test -n "$expected" && test "$(digest "$tmp/held.h5")" = "$expected"
    result $? "to the same digest"
    test ! -e "$tmp/held.d"
    result $? "and leaves no files"
    rm -f "$tmp/held.h5"
done

mpirun -n 2 "$weft" tune "$tmp/fed.ini" random.resource=1 space.configs=1 \
    client.epochs=1000000 client.lr=1e-6 client.batch=1 fed.cohort=1 fed.score_weights=global run.watchdog=0.4 \
    -o "$tmp/slow.h5" >"$tmp/log" 2>&1 &
run=$!
warned "1 rank waits; rank [01] works on job 0, unit 0, for [0-9]* s on host "
result $? "a rank that computes for long is named, too"
kill -KILL $run
wait $run 2>/dev/null

# died RANK: mpirun tells once which rank was killed; the other ranks, which see only that they
# are ended, add nothing but progress, and a warning if it is of that rank.
died()
{
    tail -n "+$((before + 1))" "$tmp/log" | grep '^weft' | grep -v ' job [0-9]* of ' >"$tmp/out"
    [ "$(grep -c "rank $1 .*signal 9" "$tmp/log")" = 1 ] &&
        [ "$(wc -l <"$tmp/out")" -le 1 ] && ! grep -v "no progress .*rank $1 says nothing" "$tmp/out"
}
for rank in 0 1; do
    rm -rf "$tmp/dies.d"
    start dies 3 "run.teams=$((rank == 0 ? 3 : 1))"
    begin=$(date +%s) before=$(wc -l <"$tmp/log")
    kill -KILL "$(process $rank)"
    wait $run
    status=$?
    test $status != 0 && test $status != 124 && test $(($(date +%s) - begin)) -le 10
    result $? "rank $rank dies, and ends all at once"
    died $rank
    result $? "which one line tells"
done
"$weft" resume "$tmp/dies.h5" >"$tmp/log" 2>&1 && test "$(digest "$tmp/dies.h5")" = "$expected"
result $? "and the run is resumed to the same digest"

echo "1..$count"
