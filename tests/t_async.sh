#!/bin/bash
# Runs of asynchronous rounds (inputs/async.ini) end with one digest on any ranks and teams, by
# stops after every step, kills, and when they are made longer; what does not fit is refused by
# one line. Prints TAP.
. tests/tap.sh

check "clients are packed" call pack synthetic federated=generated clients=20 -o "$tmp/clients.h5"

tune() # RANKS OPTION...: a new run r.h5, in which clients draw from a mixture
{
    rm -rf "$tmp"/r.*
    on "$1" tune inputs/async.ini run.data="$tmp/clients.h5" \
        run.tuner=asha run.mixing=fedex fedex.k=3 asha.trials=5 asha.reduction=2 asha.max_resource=6 \
        fed.cohort=3 buffer.concurrency=8 run.workers=2 client.epochs='1 | 2' fed.algorithm=scaffold \
        device.dropout=0.1 "${@:2}" -o "$tmp/r.h5"
}
again() # RANKS OPTION...: resumes it
{
    on "$1" resume "$tmp/r.h5" "${@:2}"
}
same() # STATUS STATEMENT
{
    result "$1" "$2"
    check "$2: with the digest of the first" has_digest "$expected" "$tmp/r.h5"
}

check "a search on one rank" tune 1
expected=$(digest "$tmp/r.h5")
tune 3
same $? "on three ranks"
tune 4 run.teams=2
same $? "by two teams of two"
tune 2 run.disk=0
same $? "without room for states on disk"

tune 1 run.time_limit=1e-9
status=$? stops=0
while [ $status = 75 ] && [ $stops -lt 200 ]; do
    stops=$((stops + 1))
    again $((stops % 3 + 1)) run.time_limit=1e-9 run.teams=$((stops % 2 + 1 > stops % 3 + 1 ? 1 : stops % 2 + 1))
    status=$?
done
same $status "stopped after each unit, $stops times"
check "which is often" [ $stops -gt 7 ]

tune 2 run.checkpoint=0.001 run.time_limit=1e-9
kills=0
while [ ! -e "$tmp/r.h5" ] && [ $kills -lt 60 ]; do
    kills=$((kills + 1))
    launch $((kills % 2 + 1)) 0 "job $kills of" "$weft" resume "$tmp/r.h5" run.time_limit=0 run.checkpoint=0.001
    process=$(rank 0)
    [ -n "$process" ] && held "$process" && kill -KILL "$process"
    wait $run
done
same 0 "killed after every job, $kills times"

rm -rf "$tmp"/r.*
call tune inputs/async.ini run.data="$tmp/clients.h5" fed.cohort=3 buffer.concurrency=8 \
    space.configs=1 random.resource=12 -o "$tmp/r.h5"
result $? "a search of twelve steps"
expected=$(digest "$tmp/r.h5")
rm -rf "$tmp"/r.*
call tune inputs/async.ini run.data="$tmp/clients.h5" fed.cohort=3 buffer.concurrency=8 \
    space.configs=1 random.resource=5 -o "$tmp/r.h5"
result $? "one of five"
again 2 random.resource=12
same $? "given seven more"

refused() # PATTERN STATEMENT OPTION...: on two ranks, by one line
{
    refuses "[1-9]" "$1" "$2" on 2 tune "$tmp/in.ini" --plan "${@:3}"
}
sed "s|^data = .*|data = $tmp/clients.h5|; s/^cohort = 10/cohort = 3/; s/^concurrency = 40/concurrency = 8/" \
    inputs/async.ini >"$tmp/in.ini"
refused 'buffer.size = 9 .*buffer.concurrency = 8 ' "more updates than clients in flight" fed.cohort=9
refused 'buffer.concurrency = 21.* 20 clients' "more in flight than there are" buffer.concurrency=21
refused 'fed.cohort = 3: .*buffer.size = 4' "two sizes" buffer.size=4
refused 'buffer.a = 0.7: .*polynomial.hinge' "a number that the function has not" buffer.staleness=constant buffer.a=0.7
refused 'buffer.b = 3: .*hinge' "nor this one" buffer.b=3
refused 'device.over = 2 .*buffer.concurrency' "over-selection" device.over=2
refused 'device.sample_seconds.*sync' "devices that take no time" device.sample_seconds=0 device.latency=0
refused 'buffer.size = 3: .*fed.aggregation = buffered' "options of another mode" fed.aggregation=sync buffer.size=3
refused 'run.memory' "versions that do not fit" run.memory=0.0005
call tune "$tmp/in.ini" --plan fed.aggregation=sync
result $? "those of the file may stay where the command line has made rounds synchronous"
! call tune "$tmp/in.ini" --plan fed.aggregation=buffered buffer.versions=3
result $? "an option that is none"
sed -i '/^aggregation/d' "$tmp/in.ini"
refused 'in.ini:[0-9]*: buffer.concurrency = 8: .*fed.aggregation = buffered' "a section that nothing reads"
echo "1..$count"
