#!/bin/bash
# Programs that fail because of the place where they run, not by themselves: a start without
# what they need, a broken node of one team. The search ends as if that had not occurred.
# Prints TAP.
. tests/tap.sh
export OMPI_MCA_rmaps_base_oversubscribe=1 PRTE_MCA_rmaps_default_mapping_policy=:oversubscribe

cat >"$tmp/program" <<'END'
[ -n "$BAD" ] && [ ! -e "$BAD" ] && echo no module && exit 1
awk -v x="$PARAM_x" -v job="$WEFT_JOB" -v dir="$1" 'BEGIN {
    print job >>(dir "/done")
    if (x < 0.4) exit 3
    print "loss=" (x - 0.7) ^ 2 + 1 / ENVIRON["WEFT_TOTAL"]
}'
END
cat >"$tmp/in.ini" <<END
[run]
task = command
tuner = sha
[command]
run = sh $tmp/program $tmp
[parameters]
x = 0.0 .. 1.0
[space]
configs = 18
[sha]
reduction = 3
eliminations = 2
max_resource = 9
budget = 60
[asha]
reduction = 3
max_resource = 9
[pbt]
population = 6
interval = 3
max_resource = 9
END
weft=$(realpath "$weft")

check "a search in which programs fail comes to its end" call tune "$tmp/in.ini" -o "$tmp/whole.h5"
whole=$(digest "$tmp/whole.h5")
jobs=$(grep -c ' job [0-9]* of ' "$tmp/log")
check "four or more of its jobs fail" [ "$(grep -c ' failed: ' "$tmp/log")" -ge 4 ]
[ "$(wc -l <"$tmp/done")" -le $((jobs + 1)) ]
result $? "at most one job is repeated"
[ "$(ls "$tmp/whole.failed" | grep -c "log$")" = "$(grep -c ' failed: .*; see .*/whole.failed/[0-9]*-[0-9]*.log$' "$tmp/log")" ]
result $? "what a failed job printed is kept, and named"

# same STATEMENT: the digest of r.h5 is that of the search that was left alone.
same()
{
    check "$1" has_digest "$whole" "$tmp/r.h5"
}
part() # JOBS: begins r.h5, and is killed when so many are done.
{
    rm -rf "$tmp"/r.*
    WEFT_HOLD="job $1 of" "$weft" tune "$tmp/in.ini" -o "$tmp/r.h5" >"$tmp/out" 2>"$tmp/log" &
    run=$!
    held $run
    kill -KILL $run
    wait $run 2>/dev/null
}

# ---- a start without what programs need -----------------------------------------------------

part 9
BAD=x call resume "$tmp/r.h5"
check "resumed where programs fail, the run stops with status 75" [ $? = 75 ]
check "after one job" [ "$(grep -c ' failed: ' "$tmp/log")" = 1 ]
grep -q '^weft: stopped after [0-9]* jobs: programs fail here, also that of job .*weft resume .*r.h5., for no' "$tmp/log"
result $? "with a line"
[ "$(tail -n 1 "$tmp"/r.failed/*-"$(sed -n 's/.* job \([0-9]*\), trial.* failed: .*/\1/p' "$tmp/log")".log)" = 'no module' ]
result $? "what it printed is kept"
BAD=x on 3 resume "$tmp/r.h5" run.teams=3
[ $? = 75 ] && [ "$(grep -c 'this team is set aside' "$tmp/log")" -ge 1 ] && grep -q '^weft: stopped after' "$tmp/log"
result $? "so does one of three teams"
check "resumed where they work, it comes to its end" call resume "$tmp/r.h5"
same "with the same digest"

# Of eight first jobs the fifth is the shortest; those that go on are shorter, and all but one fail.
# On a busy machine by more.
cat >"$tmp/timed" <<END
echo \$WEFT_JOB >>$tmp/timed.done
[ \$WEFT_DONE != 0 ] || { [ \$WEFT_JOB = 4 ] && sleep 0.5; } || sleep \$LONG
[ \$WEFT_JOB -lt 9 ] || exit 1
echo loss=\$PARAM_x
END
for long in 1.5 8 60; do
    rm -f "$tmp/timed.done"
    LONG=$long call tune "$tmp/in.ini" command.run="sh $tmp/timed" space.configs=8 sha.reduction=2 sha.eliminations=3 sha.budget=20 \
        -o "$tmp/timed.h5" --force
    [ "$(sort "$tmp/timed.done" | uniq -d)" != 4 ] || break
done
[ "$(sort "$tmp/timed.done" | uniq -d)" = 4 ]
result $? "where jobs fail, the shortest first job that has succeeded is repeated"

# The third trial fails, and the place breaks behind five. Four more fail, the last of which makes the run
# repeat a job that succeeded; that the third one goes on, for which nothing runs, is no success among them.
cat >"$tmp/breaks" <<END
[ ! -e $tmp/gone ] && [ \$WEFT_JOB != 2 ] || exit 1
[ \$WEFT_JOB != 4 ] || touch $tmp/gone
echo loss=\$PARAM_x
END
call tune "$tmp/in.ini" command.run="sh $tmp/breaks" run.tuner=pbt pbt.population=5 pbt.interval=1 pbt.max_resource=2 \
    pbt.quantile=0 run.workers=1 -o "$tmp/breaks.h5"
check "a trial that failed before and goes on is no sign that programs work" [ $? = 75 ]

# ---- a broken node --------------------------------------------------------------------------

# nodes COMMAND ...: on three ranks in three teams, of which the second is broken.
nodes()
{
    # shellcheck disable=SC2016
    timeout "$net" mpirun -n 3 sh -c '[ "${OMPI_COMM_WORLD_RANK:-$PMI_RANK}" != 1 ] || export BAD=x; exec "$@"' sh \
        "$weft" "$@" run.teams=3 >"$tmp/out" 2>"$tmp/log"
}
rm -rf "$tmp"/r.*
check "with a broken node the search comes to its end" nodes tune "$tmp/in.ini" -o "$tmp/r.h5"
same "with the same digest"
# shellcheck disable=SC2012
[ "$(grep -c 'team 1 on .*: warning: job .* failed: .*last line: no module' "$tmp/log")" -le 12 ]
result $? "its team fails at a few jobs"
check "it is set aside by a line" grep -q 'team 1 on .*: warning: this team is set aside: job ' "$tmp/log"
! grep -q 'team [02] on .* set aside' "$tmp/log"
result $? "and no other team is"
part 5
nodes resume "$tmp/r.h5"
same "so it does when it is resumed"
rm -rf "$tmp"/r.*
nodes tune "$tmp/in.ini" -o "$tmp/r.h5" command.run="[ \"\$BAD\" ] && exec nowhere/module; sh $tmp/program $tmp"
same "a node where the program is not there has the same digest"
check "and its log says so" grep -q 'the shell cannot run it.*no job has succeeded yet' "$tmp/log"

# ---- retries --------------------------------------------------------------------------------

rm -rf "$tmp"/r.*
timeout "$net" mpirun -n 2 "$weft" tune "$tmp/in.ini" run.teams=2 -o "$tmp/r.h5" command.retries=1 run.tuner=random \
    command.run='test -e '"$tmp"'/again$WEFT_JOB && echo loss=$PARAM_x || { touch '"$tmp"'/again$WEFT_JOB; exit 1; }' \
    >"$tmp/out" 2>"$tmp/log"
[ $? = 0 ] && [ "$(grep -c 'it is tried again' "$tmp/log")" = 18 ] && [ "$(grep -c ' score inf' "$tmp/log")" = 0 ]
result $? "jobs that failed are tried again by the other team"
[ "$(ls "$tmp/r.failed" | wc -l)" = 18 ] && call tune "$tmp/in.ini" --force -o "$tmp/r.h5" command.run='echo loss=1' &&
    ! [ -e "$tmp/r.failed" ]
result $? "what they printed is removed with their run"
call tune "$tmp/in.ini" run.tuner=random space.configs=130 -o "$tmp/s.h5" command.run='exit 1'
[ $? = 6 ] && [ "$(ls "$tmp/s.failed" | grep -c "log$")" = 100 ]
result $? "of many failed jobs that of a hundred is kept"

# ---- failed jobs again ----------------------------------------------------------------------

# Values of x in the file `strict` fail.
cp "$tmp/program" "$tmp/p"
cat - "$tmp/p" >"$tmp/program" <<END
grep -q "^\$PARAM_x " $tmp/strict 2>/dev/null && exit 4
END
# again RANKS ARGUMENT ...: repeats what failed in r.h5.
again()
{
    on "$1" resume "$tmp/r.h5" "${@:2}"
}
for clock in virtual wall; do
    for tuner in sha pbt asha; do
        rm -rf "$tmp"/r.* "$tmp"/u.* "$tmp/strict"
        call tune "$tmp/in.ini" run.tuner=$tuner run.clock=$clock -o "$tmp/u.h5"
        undisturbed=$(digest "$tmp/u.h5")
        sed -n 's/.*parameters.x=\([0-9.]*\).*/\1 /p' "$tmp/out" | head -3 >"$tmp/strict"
        call tune "$tmp/in.ini" run.tuner=$tuner run.clock=$clock -o "$tmp/r.h5"
        disturbed=$(digest "$tmp/r.h5")
        rm "$tmp/strict"
        again 1 --retry-failed run.time_limit=1e-9
        [ $? = 75 ] && [ -d "$tmp/r.d" ] && ! [ -e "$tmp/r.best" ]
        result $? "$tuner, clock $clock: a complete run that repeats its failed jobs is stopped"
        check "$tuner, clock $clock: it goes on to its end" again 2 run.teams=2 run.time_limit=0
        if [ $clock != wall ]; then
            check "$tuner, clock $clock: the failures had changed the digest" [ "$undisturbed" != "$disturbed" ]
            check "$tuner, clock $clock: it is that without failures now" has_digest "$undisturbed" "$tmp/r.h5"
        fi
        check "$tuner, clock $clock: the winner's log is left" [ -e "$tmp/r.best/weft.log" ]
        ! [ -e "$tmp/r.d" ]
        result $? "$tuner, clock $clock: nothing else is"
    done
done
again 1 --retry-failed
[ $? = 0 ] && [ "$(ls "$tmp/r.failed" | grep -c 'log$')" = "$(grep -c ' failed: ' "$tmp/log")" ]
result $? "those that fail again are kept again"
! again 1 --retry-failed run.tiem_limit=1 && again 1 && [ -e "$tmp/r.best/weft.log" ]
result $? "a resume with a wrong option leaves the winner's files to the next"
! [ -e "$tmp/r.d" ]
result $? "its directory is gone"
perl -pi -e 's/.\z/!/s if eof' "$tmp/r.failed/journal"
again 1 --retry-failed
[ $? = 3 ] && grep -q '^weft: .*r.failed/journal is damaged: its end, which names the winner, cannot be read' "$tmp/log"
result $? "a journal whose end is damaged is told"
check "nothing is moved" [ -e "$tmp/r.best/weft.log" ]
call tune "$tmp/in.ini" -o "$tmp/r.h5" --force command.run='echo loss=1' && ! [ -e "$tmp/r.failed" ] &&
    ! again 1 --retry-failed && grep -q '^weft: .*r.h5 is complete, .*there is nothing to repeat' "$tmp/log"
result $? "a run without failed jobs has nothing to repeat"
"$weft" pack synthetic images rows=100 -o "$tmp/i.h5" >"$tmp/out" 2>&1
printf '[run]\ndata = %s\ntuner = random\n[space]\nconfigs = 3\n[rff]\nfeatures = 50\ngamma = log 1e-4 .. 1e-2\n' "$tmp/i.h5" >"$tmp/f.ini"
call tune "$tmp/f.ini" run.time_limit=1e-9 -o "$tmp/f.h5"
call resume "$tmp/f.h5" --retry-failed
[ $? = 2 ] && grep -q '^weft: .*--retry-failed is for programs, and run.task = fmap runs none' "$tmp/log"
result $? "nor has one of another task"

# ---- warnings of teams ----------------------------------------------------------------------

call pack synthetic federated=generated clients=20 -o "$tmp/fed.h5"
printf '[run]\ntask = fed\ndata = %s\ntuner = random\nteams = 2\n[random]\nresource = 20\n[space]\nconfigs = 8\n[fed]\nmodel = mlp
cohort = 5\n[client]\nlr = log 9e5 .. 1e6\n' "$tmp/fed.h5" >"$tmp/fed.ini"
on 2 tune "$tmp/fed.ini" -o "$tmp/d.h5"
grep -q 'team 1 on .*: warning: all 5 clients of round [0-9]* of trial [0-9]* diverged' "$tmp/log"
result $? "of a federation whose clients all diverge every team warns"
echo "1..$count"
