#!/bin/bash
# A rank that hangs is named, with what the others wait for; a rank that dies ends the run
# at once; a delayed run has the same result. Prints TAP.
. tests/tap.sh

call pack synthetic federated=generated clients=100 -o "$tmp/fed.h5"
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

warned() # TEXT: waits for the warning; fails if the run ends before
{
    until grep -q "warning: no progress for [0-9]* s[:;] .*$1" "$tmp/log"; do
        kill -0 $run 2>/dev/null || return
        sleep 0.1
    done
}
# A machine that is busy may hold up all ranks for as long: once of three times it must not be.
for _ in 1 2 3; do
    rm -f "$tmp/alone.h5"
    on 2 tune "$tmp/fed.ini" -o "$tmp/alone.h5" || break
    ! grep -q 'no progress' "$tmp/log" && break
done
result $? "a run that is left alone is not warned of"
expected=$(digest "$tmp/alone.h5")

for rank in 2 0; do
    launch 3 $rank "job 1 of" "$weft" tune "$tmp/fed.ini" -o "$tmp/held.h5"
    stalled="rank $rank says nothing: it is stopped, or its node is lost"
    check "rank $rank, which is stopped, is named" warned "$stalled"
    warned "$stalled" && kill -CONT "$(rank $rank)"
    wait $run
    result $? "the run goes on when the rank does"
    sed -n "s/.*no progress for \([0-9]*\) s.*$stalled/\1/p" "$tmp/log" |
        awk '$1 < 2 * before - 1 { exit 1 } { before = $1 }'
    result $? "each warning waits twice as long as the one before"
    test -n "$expected" && test "$(digest "$tmp/held.h5")" = "$expected"
    result $? "to the same digest"
    check "and leaves no files" test ! -e "$tmp/held.d"
    rm -f "$tmp/held.h5"
done

launch 2 - "" "$weft" tune "$tmp/fed.ini" random.resource=1 space.configs=1 \
    client.epochs=1000000 client.lr=1e-6 client.batch=1 fed.cohort=1 fed.score_weights=global run.watchdog=0.4 -o "$tmp/slow.h5"
warned "1 rank waits; rank [01] works on job 0, unit 0, for [0-9]* s on host "
result $? "a rank that computes for long is named, too"
kill -KILL "$(rank 0)" "$(rank 1)"
wait $run

# died RANK: mpirun tells once which rank was killed (that of MPICH names the first, as it ends the
# others by the same signal); the other ranks, which see only that they are ended, add nothing but
# progress.
died()
{
    [ "$(cat "$tmp/out" "$tmp/log" | tr '\n' ' ' | grep -Eo "process rank $1 with [^.]* signal 9|PID [0-9]+ RUNNING AT [^.]* EXIT CODE: 9" | wc -l)" = 1 ] &&
        ! tail -n "+$((before + 1))" "$tmp/log" | grep '^weft' | grep -v ' job [0-9]* of '
}
for rank in 0 1; do
    rm -rf "$tmp/dies.d"
    launch 3 $rank "job 1 of" "$weft" tune "$tmp/fed.ini" "run.teams=$((rank == 0 ? 3 : 1))" run.watchdog=0 -o "$tmp/dies.h5"
    held "$(rank $rank)"
    until grep -q ' task fed' "$tmp/log" || ! kill -0 $run; do sleep 0.1; done # the last line of its start
    before=$(wc -l <"$tmp/log")
    kill -KILL "$(rank $rank)"
    wait $run
    status=$?
    test $status != 0 && test $status != 124
    result $? "rank $rank dies, which ends all"
    check "which one line tells" died $rank
done
check "the run is resumed" call resume "$tmp/dies.h5"
check "to the same digest" test "$(digest "$tmp/dies.h5")" = "$expected"

echo "1..$count"
