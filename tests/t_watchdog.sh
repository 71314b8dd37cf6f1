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

# start NAME RANKS: the process ids of the ranks come to the file pids.
start()
{
    rm -f "$tmp/pids"
    : >"$tmp/log"
    # shellcheck disable=SC2016
    timeout -k 2 120 mpirun -n "$2" sh -c 'echo $OMPI_COMM_WORLD_RANK $$ >>"$0"; exec "$@"' \
        "$tmp/pids" "$weft" tune "$tmp/fed.ini" -o "$tmp/$1.h5" >"$tmp/log" 2>&1 &
    run=$!
    until grep -aqs '^began' "$tmp/$1.d/journal" || ! kill -0 $run 2>/dev/null; do sleep 0.05; done
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
digest()
{
    "$weft" report "$1" | sed -n 's/^digest *//p'
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
    client.epochs=10000 client.lr=1e-6 client.batch=1 fed.cohort=1 run.watchdog=0.4 \
    -o "$tmp/slow.h5" >"$tmp/log" 2>&1 &
run=$!
warned "1 rank waits; rank [01] works on job 0, unit 0, for [0-9]* s on host "
result $? "a rank that computes for long is named, too"
kill -KILL $run
wait $run 2>/dev/null

start dies 3
begin=$(date +%s)
kill -KILL "$(process 1)"
wait $run
status=$?
test $status != 0 && test $status != 124 && test $(($(date +%s) - begin)) -le 10
result $? "a rank that dies ends all at once"
"$weft" resume "$tmp/dies.h5" >"$tmp/log" 2>&1 && test "$(digest "$tmp/dies.h5")" = "$expected"
result $? "and the run is resumed to the same digest"

echo "1..$count"
