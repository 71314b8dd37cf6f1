#!/bin/bash
# A stopped or running search is reported from its journals, without task and data, and
# reports do not change its result. Prints TAP.
. tests/tap.sh

check "few images are packed" call pack synthetic images rows=1500 -o "$tmp/img.h5"
cat >"$tmp/in.ini" <<END
[run]
data = $tmp/img.h5
tuner = random
[space]
configs = 12
[rff]
features = 3000
kernel = gaussian | laplacian
gamma = log 1e-4 .. 1e-2
END

"$weft" tune "$tmp/in.ini" -o "$tmp/whole.h5" >"$tmp/whole" 2>"$tmp/log"
result $? "a search to its end"

# Killed after some jobs.
WEFT_HOLD="job 5 of" "$weft" tune "$tmp/in.ini" -o "$tmp/r.h5" >"$tmp/out" 2>"$tmp/log" &
pid=$!
held $pid && "$weft" report "$tmp/r.h5" 2>>"$tmp/log" | grep -q '^unfinished: 5 jobs'
result $? "a run that is going on is reported"
kill -KILL $pid
wait $pid 2>/dev/null
mv "$tmp/img.h5" "$tmp/gone.h5"
"$weft" report "$tmp/r.h5" >"$tmp/out" 2>>"$tmp/log"
result $? "and one that was killed, without its data"
grep -q '^unfinished: [1-9][0-9]* jobs are done, the best so far is job [0-9]*' "$tmp/out"
result $? "that says where it stands"
check "it says how it goes on" grep -q "no process is working on it; .weft resume $tmp/r.h5. continues it" "$tmp/out"
check "with configurations as people write them" grep -q 'rff.kernel=[gl]a[a-z]* rff.gamma=0.0' "$tmp/out"
"$weft" report --json "$tmp/r.h5" 2>>"$tmp/log" | grep -q '"valid_error": 0'
result $? "and what the task measured, as JSON too"
jobs=$(sed -n 's/^unfinished: \([0-9]*\) jobs.*/\1/p' "$tmp/out")
"$weft" report "$tmp/r.h5" -o "$tmp/now.h5" 2>>"$tmp/log" && "$weft" report "$tmp/now.h5" >"$tmp/now" 2>>"$tmp/log" &&
    grep -q "^unfinished: $jobs jobs are done" "$tmp/now"
result $? "it is written as a run file, which is reported alike"

# h5 FILE ORDERS PYTHON: f is the file, by h5py; whole the complete run.
h5()
{
    [ -n "$python" ] || { echo "ok $((count += 1)) - $2 # SKIP no Python with h5py" && return; }
    "$python" -c "
import h5py, numpy, sys
f, whole = h5py.File('$1', 'r'), h5py.File('$tmp/whole.h5', 'r')
$3" >"$tmp/out" 2>&1
    result $? "$2"
}
find_python "h5py, numpy"
h5 "$tmp/now.h5" "h5py reads its events, and that it has no winner" "
assert len(f['events/job']) == f.attrs['jobs'] == $jobs, dict(f.attrs)
assert 'winner' not in f and f.attrs['best_job'] in f['events/job'], dict(f.attrs)"
"$weft" eval "$tmp/now.h5" "$tmp/whole.h5" >"$tmp/out" 2>&1
[ $? = 3 ] && grep -q 'is a report of an unfinished run, whose winner is not known yet.*weft resume' "$tmp/out"
result $? "so that nothing is scored"
"$weft" report "$tmp/r.h5" -o "$tmp/now.h5" 2>"$tmp/out"
[ $? != 0 ] && grep -q "now.h5 exists" "$tmp/out"
result $? "that replaces no other"
"$weft" report "$tmp/r.h5" "$tmp/whole.h5" 2>>"$tmp/log" | grep -q "^$tmp/r.h5"
result $? "beside a run that is complete"
"$weft" report "$tmp/whole.h5" -o "$tmp/no.h5" 2>"$tmp/out"
[ $? = 2 ] && grep -q 'no unfinished run' "$tmp/out"
result $? "of which -o makes nothing"

mv "$tmp/gone.h5" "$tmp/img.h5"
"$weft" resume "$tmp/r.h5" >"$tmp/out" 2>>"$tmp/log" &&
    [ "$(sed -n 's/^digest *//p' "$tmp/out")" = "$(sed -n 's/^digest *//p' "$tmp/whole")" ]
result $? "resumed, it ends with the digest of the whole"

WEFT_HOLD="job 4 of" "$weft" tune "$tmp/in.ini" run.tuner=sha -o "$tmp/k.h5" >"$tmp/out" 2>"$tmp/log" &
pid=$!
held $pid && kill -KILL $pid
wait $pid 2>/dev/null
# What a killed report leaves ends with numbers of host and process, as a copy of standard input does.
mkfifo "$tmp/pipe" && mkdir "$tmp/own"
"$weft" pack dense - -o "$tmp/rows.h5" <"$tmp/pipe" >"$tmp/out" 2>"$tmp/log" &
pid=$!
exec 9>"$tmp/pipe"
left=
until [ "$left" ] || ! kill -0 $pid 2>/dev/null; do
    left=$(readlink /proc/$pid/fd/* 2>/dev/null | sed -n 's/.*[.]scratch\([.][0-9a-f.]*\).*/\1/p')
done
kill -KILL $pid
wait $pid 2>/dev/null
exec 9>&-
: >"$tmp/own/weft-report.tmp$left"
TMPDIR=$tmp/own call report "$tmp/k.h5"
result $? "a report of an unfinished run needs a file for a while"
[ "$left" ] && [ -z "$(ls "$tmp/own")" ]
result $? "that of a report which was killed goes with it"
# A job whose time is up while the winner is scored must end within the minute that it is told before.
check "clients are packed" call pack synthetic federated=generated clients=2000 alpha=1 beta=1 -o "$tmp/fed.h5"
scored="run.tuner=random run.mixing=none space.configs=1 random.resource=1 fed.eval_clients=-1 fed.select=pooled fed.test_clients=0 fed.score_weights=personal"
# shellcheck disable=SC2086
launch 2 0 "scores the winner" "$weft" tune inputs/fedavg-logistic.ini run.data="$tmp/fed.h5" $scored run.test=yes -o "$tmp/scored.h5"
held "$(rank 0)" && kill -USR1 "$(rank 0)" && kill -CONT "$(rank 0)"
wait $run
[ $? = 75 ] && grep -q "stopped by signal 10 after the search, while the winner was scored; go on with .weft resume $tmp/scored.h5." "$tmp/log"
result $? "it stops between two clients, with status 75"
call resume "$tmp/scored.h5" && scores=$(grep '^test' "$tmp/out") && [ -n "$scores" ]
result $? "and is resumed"
# shellcheck disable=SC2086
call tune inputs/fedavg-logistic.ini run.data="$tmp/fed.h5" $scored run.test=yes -o "$tmp/at-once.h5" &&
    [ "$(grep '^test' "$tmp/out")" = "$scores" ]
result $? "to the scores of one that was not stopped"
[ -n "$(digest "$tmp/at-once.h5")" ] && [ "$(digest "$tmp/at-once.h5")" = "$(digest "$tmp/scored.h5")" ]
result $? "to its digest"

# Stopped in its only job: what there is of that is shown.
one="run.data=$tmp/fed.h5 run.tuner=random space.configs=1 random.resource=5 run.test=no run.mixing=none fed.eval_clients=0 fed.eval_every=1"
# shellcheck disable=SC2086
call tune inputs/fedavg-logistic.ini $one -o "$tmp/whole.h5" --force &&
    ! call tune inputs/fedavg-logistic.ini $one run.time_limit=1e-9 -o "$tmp/one.h5" &&
    ! call resume "$tmp/one.h5" && call report "$tmp/one.h5" &&
    grep -q '^unfinished: no job is done yet; job 0 is checkpointed after 2 of 5 rounds' "$tmp/out" &&
    grep -q '^last .*train_loss [0-9.]*, .*valid_error [0-9.]*$' "$tmp/out" && grep -q '^rounds  *2 in' "$tmp/out"
result $? "a run that was stopped in its only job is reported, with its last round"
two=${one/configs=1 random.resource=5/configs=2 random.resource=4}
until_after() # TEXT: goes on by single rounds, until that was done; reports
{
    for _ in $(seq 10); do
        call resume "$tmp/two.h5"
        grep -q "$1" "$tmp/log" && break
    done
    "$weft" report "$tmp/two.h5" >"$tmp/out" 2>>"$tmp/log" && grep -q '^last .*train_loss [0-9.]*' "$tmp/out"
}
# shellcheck disable=SC2086
! call tune inputs/fedavg-logistic.ini ${two/every=1/every=2} client.lr="log 0.01 .. 0.1" \
    run.time_limit=1e-9 -o "$tmp/two.h5" && call report "$tmp/two.h5" &&
    grep -q 'job 0 is checkpointed after 1 of 4 rounds' "$tmp/out" && grep -q '^last .*train_loss [0-9.]*' "$tmp/out"
result $? "a single round is the last one, too"
until_after 'after 0 jobs and 3 of 4 rounds' && grep -q '^last .*valid_error' "$tmp/out"
result $? "what was measured a round before is the last of its kind"
until_after 'after 1 jobs and 1 of 4 rounds' && ! grep -q '^last .*valid_error' "$tmp/out"
result $? "what only an earlier job measured is not the last of the one that goes on"
"$weft" report "$tmp/one.h5" -o "$tmp/part.h5" 2>"$tmp/out" && "$weft" report "$tmp/part.h5" "$tmp/whole.h5" >"$tmp/out" 2>&1
result $? "and written"
h5 "$tmp/part.h5" "with the rounds of the whole run" "
r, w = f['rounds'], whole['rounds']
own = set(r) - {'wall', 'compute', 'wait', 'comm'}
assert len(r['unit']) == 2 and len(f['events/job']) == 0 and f.attrs['jobs'] == 0, list(r['unit'])
assert all(numpy.array_equal(r[k][:], w[k][:2], equal_nan=True) for k in own)
assert len(f['configs/id']) == 1"
if [ -n "$python" ] && "$python" -c 'import matplotlib' 2>/dev/null; then
    "$python" analysis/run.py "$tmp/one.h5" -o "$tmp/one.png" >"$tmp/out" 2>"$tmp/log" && [ -s "$tmp/one.png" ] &&
        "$python" analysis/federated.py "$tmp/part.h5" -o "$tmp/part" >"$tmp/out" 2>"$tmp/log" && [ -s "$tmp/part.png" ] &&
        ! "$python" analysis/run.py "$tmp/one.h5" --timeline >"$tmp/out" 2>"$tmp/log" && grep -q 'no job is done yet$' "$tmp/log"
    result $? "and drawn"
else
    echo "ok $((count += 1)) - and drawn # SKIP no Python with h5py and matplotlib"
fi
check "it ends" call resume "$tmp/one.h5" run.time_limit=0
[ -n "$(digest "$tmp/whole.h5")" ] && [ "$(digest "$tmp/one.h5")" = "$(digest "$tmp/whole.h5")" ]
result $? "with the digest of the whole one"

# All clients between two exchanges of ranks.
scored="$scored run.data=$tmp/fed.h5 run.test=yes fed.cohort=2"
if python3 -c 'import os; os.openpty()' 2>"$tmp/log"; then
    # shellcheck disable=SC2086
    python3 -c 'import os, pty, sys; sys.exit(os.WEXITSTATUS(pty.spawn(sys.argv[1:])))' \
        "$weft" tune inputs/fedavg-logistic.ini $scored client.epochs=150 -o "$tmp/shown.h5" >"$tmp/out" 2>&1 </dev/null
    grep -q '^test' "$tmp/out" && grep -q 'scores of the winner: [1-9][0-9]* %, [0-9]* s left' "$tmp/out"
    result $? "progress is shown while a winner is scored"
else
    echo "ok $((count += 1)) - progress is shown while a winner is scored # SKIP no terminal can be opened"
fi
echo "1..$count"
