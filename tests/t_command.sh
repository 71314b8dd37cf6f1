#!/bin/bash
# Task command: programs in any language are tuned; a program's failure is a result;
# programs get the promised environment, and no process outlives the run. Prints TAP.
. tests/tap.sh

# tune RANKS ARGUMENT...: the input file on so many ranks.
tune()
{
    rm -rf "$tmp"/r.*
    on "$1" tune "$tmp/in.ini" -o "$tmp/r.h5" "${@:2}"
}

# refused PATTERN STATEMENT ARGUMENT...: before a job is run.
refused()
{
    refuses 2 "$1" "$2" tune 1 "${@:3}"
}

# A program that trains: a line of the file `steps` for every unit of resource. It ends badly
# where it is given another directory, resource or environment than it is promised.
cat >"$tmp/train" <<'END'
#!/bin/sh
steps=$WEFT_DIR/steps
touch "$steps"
[ "$(wc -l <"$steps")" = "$WEFT_DONE" ] || exit 21
[ "$WEFT_TOTAL" = $((WEFT_DONE + WEFT_RESOURCE)) ] || exit 22
[ "$WEFT_DONE" = 0 ] || [ -e "$1/copies" ] || grep -q "^$WEFT_TRIAL " "$steps" || exit 23
! env | grep -q '^OMPI_COMM_\|^OMPI_MCA_orte_hnp\|^OMPI_MCA_ess\|^PMIX_RANK\|^PMI_RANK\|^MPI_LOCALRANKID\|^HYDI_\|^SLURM_PROCID\|^WEFT_SUPERVISOR' || exit 24
[ "$WEFT_PARAMETERS" = "{\"x\":$PARAM_x,\"y-shift\":$PARAM_y_shift,\"fixed\":\"../a b\"}" ] || exit 25
[ "$PARAM_fixed" = '../a b' ] || exit 26
[ "$(ls -l /proc/$$/fd 2>/dev/null | grep -c 'journal\|\.h5')" = 0 ] || exit 27
if [ -e "$1/slow" ]; then
    echo $$ >"$1/pid"
    sh -c 'echo $$ >"$0/pid2"; while :; do echo beat >>"$1/beat"; sleep 0.05; done' "$1" "$WEFT_DIR"
fi
n=$WEFT_RESOURCE
while [ "$n" -gt 0 ]; do
    n=$((n - 1))
    echo "$WEFT_TRIAL $WEFT_JOB $WEFT_SEED" >>"$steps"
    echo "step, loss=99 other=$n"
done
awk "BEGIN { printf \"loss=%.12g error=%g\\n\", ($PARAM_x - 3)^2 + $PARAM_y_shift^2 + 1 / $WEFT_TOTAL, 0.25 }"
END
chmod +x "$tmp/train"
cat >"$tmp/in.ini" <<END
[run]
task = command
[command]
run = $tmp/train $tmp
[parameters]
x = 1 .. 9
y-shift = log 1e-3 .. 10
fixed = ../a b
[space]
configs = 9
[sha]
reduction = 3
eliminations = 2
max_resource = 9
budget = 29
END

# ---- a search -----------------------------------------------------------------------------

check "a shell program is tuned" tune 1 run.tuner=random random.resource=4
! grep -q failed "$tmp/log"
result $? "and is given what it is promised"
best=$(sed -n 's/.* score \([0-9.]*\),.*/\1/p' "$tmp/log" | sort -g | head -1)
sed -n 's/^valid *loss \([0-9.]*\) .*/\1/p' "$tmp/out" |
    awk -v best="$best" '{ exit !($1 - best < 1e-5 && best - $1 < 1e-5) }' && [ -n "$best" ]
result $? "the best wins"
check "with the error rate that it printed" grep -q 'error 25.000 %' "$tmp/out"
check "what it left stands beside the run file" [ "$(wc -l <"$tmp/r.best/steps")" = 4 ]
check "so does its log" grep -q '^step, loss=99' "$tmp/r.best/weft.log"
check "nothing else does" [ ! -e "$tmp/r.d" ]
check "by successive halving" tune 1 run.tuner=sha
one=$(digest "$tmp/r.h5")
! grep -q failed "$tmp/log"
result $? "a trial goes on from its directory"
check "its resource adds" [ "$(wc -l <"$tmp/r.best/steps")" = 9 ]
check "with one seed" [ "$(cut -d' ' -f3 "$tmp/r.best/steps" | sort -u | wc -l)" = 1 ]
grep -aq 'metrics' "$tmp/r.h5" && grep -aq 'last value that the job printed' "$tmp/r.h5"
result $? "other numbers that it printed are in the run file"
check "two teams of three ranks search" tune 3 run.tuner=sha run.teams=2
check "to the same digest" has_digest "$one" "$tmp/r.h5"
printf 'x\ty-shift\n2\t0.5\n3\t2\n' >"$tmp/list.tsv"
tune 1 run.tuner=random space.source=list space.file="$tmp/list.tsv" space.configs=0 &&
    grep -q '^winner *0: parameters.x=2 parameters.y-shift=0.5$' "$tmp/out"
result $? "configurations come from a list"
call tune "$tmp/in.ini" --plan run.tuner=sha && grep -q '^resource *29 in all' "$tmp/out"
result $? "a plan runs no program"

# pbt RANKS TEAMS: trials that copy others; the winner's steps, of 12 units, are listed.
pbt()
{
    touch "$tmp/copies"
    tune "$1" run.teams="$2" run.tuner=pbt pbt.population=6 pbt.interval=3 pbt.max_resource=12 \
        pbt.quantile=0.34
    status=$?
    rm "$tmp/copies"
    return $status
}

pbt 1 1 && ! grep -q failed "$tmp/log"
result $? "a population trains"
check "whose copies begin with what their parents left" [ "$(wc -l <"$tmp/r.best/steps")" = 12 ]
copied=$(digest "$tmp/r.h5")
check "by two teams, too" pbt 3 2
check "to the same digest" has_digest "$copied" "$tmp/r.h5"

# ---- a program that starts ranks of its own -----------------------------------------------

cat >"$tmp/ranks" <<'END'
[ "$T_OWN $SLURM_JOB_NAME $OMPI_MCA_btl_base_verbose" = "mine name 0" ] || exit 31
[ -z "$SLURM_PROCID$SLURM_NTASKS$OMPI_MCA_ess_singleton_isolated" ] || exit 32
n=$(mpirun -n 2 sh -c 'echo "${OMPI_COMM_WORLD_SIZE:-$PMI_SIZE} $T_OWN"' | grep -c '^2 mine$')
echo "loss=$n"
END
for ranks in 0 2; do
    (
        launch=
        export T_OWN=mine OMPI_MCA_btl_base_verbose=0 SLURM_JOB_NAME=name SLURM_PROCID=0 SLURM_NTASKS=1
        rm -rf "$tmp"/r.*
        [ $ranks = 0 ] || launch="mpirun -n $ranks"
        $launch "$weft" tune "$tmp/in.ini" -o "$tmp/r.h5" run.tuner=random space.configs=2 \
            command.run="sh $tmp/ranks" >"$tmp/out" 2>"$tmp/log" && grep -q '^valid *loss 2.000000' "$tmp/out"
    )
    result $? "a program calls mpirun with what its user has set for it, from $ranks ranks below mpirun"
done

# ---- kills --------------------------------------------------------------------------------

# begin RANKS: a run whose program does not end, in the background as $run; its processes are
# $pid and, below it, $pid2.
begin()
{
    rm -rf "$tmp"/r.* "$tmp"/pid*
    touch "$tmp/slow"
    # shellcheck disable=SC2016
    timeout -k 10 "$net" mpirun -n "$1" sh -c 'echo $$ >>"$0"; exec "$@"' "$tmp/pids" "$weft" \
        tune "$tmp/in.ini" run.tuner=sha -o "$tmp/r.h5" >"$tmp/out" 2>"$tmp/log" &
    run=$!
    until [ -s "$tmp/pid2" ] || ! kill -0 $run 2>/dev/null; do sleep 0.05; done
    pid=$(cat "$tmp/pid") pid2=$(cat "$tmp/pid2")
    rm -f "$tmp/slow"
}

ended() # PROCESS ...: waits until they end
{
    for process; do
        while grep -qs '^State:[[:space:]]*[^ZX]' "/proc/$process/status"; do sleep 0.05; done
    done
}

for signal in KILL TERM; do
    begin 2
    # shellcheck disable=SC2046
    kill -$signal $(cat "$tmp/pids")
    wait $run
    status=$?
    check "SIG$signal: the program and what it started end with the run" ended "$pid" "$pid2"
    [ $signal = KILL ] || [ $status = 75 ]
    result $? "SIG$signal: status $status"
    [ $signal = KILL ] && [ ! -e "$tmp/r.d/files-0-0" ] ||
        grep -q '^weft: stopped by signal 15 .*weft resume' "$tmp/log"
    result $? "SIG$signal: what the job has done so far is not taken for done"
    check "SIG$signal: resumed, it ends" on 3 resume "$tmp/r.h5"
    check "SIG$signal: with the same digest" [ "$(digest "$tmp/r.h5")" = "$one" ]
    check "SIG$signal: its directory is gone" [ ! -e "$tmp/r.d" ]
    check "SIG$signal: what the job had begun is gone" [ ! -e "$tmp/r.best/beat" ]
done
begin 2
# The group, as a queue does that signals all processes of a job, ranks or not; these come later.
# shellcheck disable=SC2046
kill -STOP $(cat "$tmp/pids")
kill -USR1 -- "-$(cut -d' ' -f5 "/proc/$pid/stat")"
ended "$pid"
# shellcheck disable=SC2046
kill -USR1 $(cat "$tmp/pids")
# shellcheck disable=SC2046
kill -CONT $(cat "$tmp/pids")
wait $run
[ $? = 75 ] && grep -q '^weft: stopped by signal 10 .*weft resume' "$tmp/log"
result $? "a run whose programs are signalled before its ranks is stopped"
! grep -q ' failed: ' "$tmp/log"
result $? "no job of it has failed"
check "the job is done again" call resume "$tmp/r.h5"
check "to the same digest" [ "$(digest "$tmp/r.h5")" = "$one" ]
for job in 3 9 11; do
    rm -rf "$tmp"/r.*
    WEFT_HOLD="job $job of" "$weft" tune "$tmp/in.ini" run.tuner=sha -o "$tmp/r.h5" >"$tmp/out" 2>"$tmp/log" &
    run=$!
    held $run && kill -KILL $run
    wait $run 2>/dev/null
    if [ $job = 11 ]; then
        cp -r "$tmp/r.d" "$tmp/kept" && rm "$tmp"/r.d/files-*/steps
        on 2 resume "$tmp/r.h5" run.teams=2 && [ ! -e "$tmp/r.d" ] &&
            grep -q '/files-.* is not as it was: .*: the jobs that led to it are repeated' "$tmp/log" && [ "$(digest "$tmp/r.h5")" = "$one" ]
        result $? "a directory that has lost a file is made again, to the same digest"
        rm -f "$tmp/r.h5" && mv "$tmp/kept" "$tmp/r.d"
    fi
    check "killed after job $job, resumed, it ends" call resume "$tmp/r.h5"
    check "killed after job $job: with the same digest" [ "$(digest "$tmp/r.h5")" = "$one" ]
done
# A program that ends when each rank has gone to sleep, and woken, twenty times more.
cat >"$tmp/asleep" <<'END'
sleeps() { sed -n 's/^voluntary_ctxt_switches:[[:space:]]*//p' "/proc/$1/status"; }
for rank in $(cat "$1"); do
    before=$(sleeps "$rank")
    until [ "$(sleeps "$rank")" -ge $((before + 20)) ]; do sleep 0.05; done
done
echo loss=1
END
rm -rf "$tmp"/r.* "$tmp/pids"
# shellcheck disable=SC2016
timeout "$net" mpirun -n 3 sh -c 'echo $$ >>"$0"; exec "$@"' "$tmp/pids" "$weft" tune "$tmp/in.ini" run.tuner=random \
    command.run="sh $tmp/asleep $tmp/pids" space.configs=1 -o "$tmp/r.h5" >"$tmp/out" 2>"$tmp/log" && ! grep -q failed "$tmp/log"
result $? "the ranks of a team sleep while the program works"

# ---- programs that fail -------------------------------------------------------------------

cat >"$tmp/fail" <<'END'
echo "loss=0.5 began"
case $PARAM_how in
good) echo loss=0.75 ;;
status) echo bad luck >&2; exit 3 ;;
crash) kill -SEGV $$ ;;
nan) echo loss=nan ;;
inf) echo loss=-inf ;;
slow) sleep 1000000; echo loss=0 ;;
none) exec >/dev/null; echo loss=0 ;;
esac
END
cat >"$tmp/in.ini" <<END
[run]
task = command
tuner = random
[command]
run = sh $tmp/fail
[parameters]
how = status | crash | nan | inf | good
[space]
source = grid
END
check "programs that fail do not end the run" tune 2
says() # PATTERN STATEMENT
{
    check "$2" grep -Eq "$1" "$tmp/log"
}
! grep -q 'none of the .* jobs' "$tmp/log"
result $? "a search in which some fail goes on as usual"
says 'job 0, trial 0 failed: it ended with status 3; its last line: bad luck; see .*/r.failed/0-0.log$' "a status is told, with the last line"
says 'job 1, trial 1 failed: .*signal 11' "a crash"
says 'job 2, trial 2 failed: its loss is nan' "a loss that is no number"
says 'job 3, trial 3 failed: its loss is -inf' "an infinite one"
[ "$(grep -c 'failed:' "$tmp/log")" = 4 ] && grep -q '^winner.*parameters.how=good$' "$tmp/out" &&
    grep -q '^valid *loss 0.750000' "$tmp/out"
result $? "and the one that works wins, by its last loss"
check "the others have an infinite loss" [ "$(grep -c ' score inf' "$tmp/log")" = 4 ]
tune 1 parameters.how=slow command.time_limit=0.5
says 'job 0, trial 0 failed: it took longer than command.time_limit = 0.5 s' "the time limit"
tune 1 command.run="ln -f '$tmp/r.d/journal' '$tmp/journal'; echo error=0.5"
status=$?
check "so has a program without a loss" grep -q 'it printed no loss=NUMBER' "$tmp/log"
check "a search in which all fail has a status of its own" [ $status = 6 ]
says "^weft: $tmp/r.h5: there is no winner: none of its [0-9]* jobs has a finite loss; see in the warnings" "it has no winner"
! [ -e "$tmp/r.best" ] && ! [ -e "$tmp/r.d" ]
result $? "it leaves nothing beside its file"
grep -q '^winner *none: none of its 5 jobs has a finite loss$' "$tmp/out" &&
    call report "$tmp/r.h5" && grep -q '^winner *none' "$tmp/out" &&
    "$weft" report "$tmp/r.h5" "$tmp/r.h5" | grep -q ' none ' && "$weft" report "$tmp/r.h5" --json | grep -q '"winner_config": null'
result $? "its report says so"
! call export "$tmp/r.h5" -o "$tmp/won.h5" && grep -q 'r.h5 has no winner: none of its 5' "$tmp/log" &&
    ! [ -e "$tmp/won.h5" ]
result $? "its winner is not exported"
! call eval "$tmp/r.h5" "$tmp/r.h5" && grep -q 'r.h5 has no winner' "$tmp/log"
result $? "nor is it scored"
call resume "$tmp/r.h5"
check "a run without a winner is resumed with the status that it ended with" [ $? = 6 ]
says 'r.h5 has no winner: none of its 5' "it has none then, too"
mkdir "$tmp/r.d" && mv "$tmp/journal" "$tmp/r.d/journal"
call resume "$tmp/r.h5"
check "so it is where it was killed while it removed its files" [ $? = 6 ]
says 'r.h5 has no winner: none of its 5' "it has none then, too"
! [ -e "$tmp/r.d" ]
result $? "its files are removed"
# prints OUTPUT REASON STATEMENT: a job that prints this, as of printf, fails for that reason.
prints()
{
    tune 1 parameters.how=good command.run="printf '$1'"
    [ $? = 6 ] && grep -Eq "job 0, trial 0 failed: it printed $2" "$tmp/log"
    result $? "$3"
}
prints 'loss=1 loss=0,25' '"loss=0,25", .*decimal point.*LC_NUMERIC=C' "a decimal comma is told, with the text"
prints 'loss=1,234.5' '"loss=1,234.5", .*decimal point' "so is one of thousands"
prints 'loss=0.5 loss=4s' '"loss=4s", which is not a number as a whole' "a number with a unit is none"
prints 'loss=0.5 loss=NA' '"loss=NA", which is no number' "a text in place of the last loss fails the job"
prints 'loss=1e999' '"loss=1e999", which is beyond' "a number beyond all"
prints 'loss=1 error=5%%' '"error=5%", which is not' "an error rate that is none"
tune 1 parameters.how=good command.run='echo loss=2 >&2'
says 'failed: it printed its loss to standard error; .*loss=2; see ' "a loss on standard error is told"
tune 1 parameters.how=good command.run='exit 255'
says 'failed: it ended with status 255; see ' "a status beyond all signals is of no signal"
tune 1 parameters.how=good command.run='kill -TERM $$' command.time_limit=$net
says 'failed: signal 15 ended it; see ' "a program that was ended by a signal has not met its time limit"
cat >"$tmp/bar" <<'END'
BEGIN { for (i = 1; i <= 2000; i++) printf "\r%3d%%|###| %d/2000 [9.9it/s, loss=%.3f, v=0]", i / 20, i, 1 - 0.9 * i / 2000 }
END
tune 1 parameters.how=good command.run="awk -f $tmp/bar" && grep -q '^valid *loss 0.100000' "$tmp/out"
result $? "a progress bar of one line is read to its end"
tune 1 command.loss=-acc command.run='echo acc=0.$((WEFT_JOB % 4))' && grep -q '^valid *loss -0.3' "$tmp/out"
result $? "a number that is to be large is maximised"
tune 1 parameters.how=good command.retries=1 \
    command.run='test -e '"$tmp"'/again && echo loss=2 || { touch '"$tmp"'/again; exit 1; }' &&
    grep -q 'status 1; see .*; it is tried again' "$tmp/log" && grep -q '^valid *loss 2' "$tmp/out"
result $? "a job that failed is tried again where that is asked for"
tune 1 parameters.how=good command.retries=2 command.run="echo 1 >>$tmp/tries; exit 1"
check "as often as that" [ "$(wc -l <"$tmp/tries")" = 3 ]
tune 1 parameters.how=good command.run='yes | head -c 5000000; echo loss=3' && grep -q '^valid *loss 3' "$tmp/out"
result $? "much output is read to its end"
[ "$(wc -c <"$tmp/r.best/weft.log")" -lt 1100000 ] && grep -q '^... 3951431 bytes are left out' "$tmp/r.best/weft.log" &&
    [ "$(tail -n 1 "$tmp/r.best/weft.log")" = loss=3 ]
result $? "of it the log has the beginning and the end"
tune 1 parameters.how=good command.run='(sleep 1000000; echo late) & echo loss=4' && grep -q '^valid *loss 4' "$tmp/out"
result $? "what a program leaves running is ended"
cat >"$tmp/daemons" <<'END'
#!/bin/sh
# Daemons of Open MPI with the variable that only this run has.
for comm in $(grep -ls '^orted$' /proc/[0-9]*/comm); do
    grep -aqs "T_COMMAND=$1" "${comm%comm}environ" && echo orted
done >"$1/found"
echo loss=1
END
chmod +x "$tmp/daemons"
rm -rf "$tmp"/r.*
T_COMMAND=$tmp call tune "$tmp/in.ini" -o "$tmp/r.h5" command.run="$tmp/daemons $tmp" &&
    [ -e "$tmp/found" ] && [ ! -s "$tmp/found" ]
result $? "one process without a launcher starts no daemon of Open MPI"

# ---- what is refused ------------------------------------------------------------------------

refused 'command.run = nowhere/train.*cannot run it: .*not found' "a program that is not there" command.run=nowhere/train
refused 'command.run names no program' "no program" command.run=
refused 'command.loss = my loss: expected the name' "a name of a loss that no program can print" 'command.loss=my loss'
refused 'run.data = x.h5: task command reads no data' "data" run.data=x.h5
refused 'parameters.a\$ = 1: expected a name of .* letters' "a name that is none" 'parameters.a$=1'
refused 'parameters.a_b = 2: the variable PARAM_a_b' "two names of one variable" parameters.a-b=1 parameters.a_b=2
refused "parameters.a = 1 .. x: 'x' is not a" "a range that ends nowhere" 'parameters.a=1 .. x'
for value in '(1, 2)' '{a, b}' '[1 2]' 'normal(0,1)' 'hp.choice([1])' 'a,b' '1:5' '1 to 5' 'log 1, 5'; do
    call tune "$tmp/in.ini" -o "$tmp/r.h5" "parameters.a=$value"
    [ $? = 2 ] && grep -qF "parameters.a = $value: looks like a range of another program" "$tmp/log" && grep -q '"log 1e-4 .. 1"' "$tmp/log"
    result $? "a range as other programs write it: $value"
done
refused 'parameters.a = x . . y: one of the values is empty' "an empty value" 'parameters.a=x | | y'
refused 'in.ini:7: parameters.how = .*run.task is fmap.*run.task = command' "parameters of another task" run.task=fmap run.data=x.h5
refused 'run.tuner = ws_sha trains a mixture.*run.task = command trains one' "a mixture" run.tuner=ws_sha space.source=random space.configs=8
mkdir "$tmp/s.best" && touch "$tmp/s.best/mine"
call tune "$tmp/in.ini" -o "$tmp/s.h5" --force
[ $? = 3 ] && grep -q 's.best exists and is not of a run' "$tmp/log" && [ -e "$tmp/s.best/mine" ]
result $? "and other people's directories are left alone"

# A new run under a name leaves nothing of the old one, whatever it is and however it ends.
old() # a run of the program, as $tmp/o.h5
{
    call tune "$tmp/in.ini" -o "$tmp/o.h5" --force && [ -e "$tmp/o.best/weft.log" ]
}
old && call tune "$tmp/in.ini" command.run='exit 1' -o "$tmp/o.h5" --force
[ $? != 0 ] && [ -e "$tmp/o.h5" ] && [ ! -e "$tmp/o.best" ]
result $? "a run without a winner leaves no directory of an older one"
"$weft" pack synthetic images rows=60 -o "$tmp/img.h5" 2>>"$tmp/log"
old && cp -r "$tmp/o.best" "$tmp/kept" &&
    call tune inputs/demo-images.ini run.data="$tmp/img.h5" space.configs=2 rff.features=16 -o "$tmp/o.h5" --force &&
        [ -e "$tmp/o.h5" ] && [ ! -e "$tmp/o.best" ]
result $? "nor does a run of another task"
rm "$tmp/o.h5" && mv "$tmp/kept" "$tmp/o.best" &&
    ! call tune inputs/demo-images.ini run.data="$tmp/img.h5" space.configs=2 -o "$tmp/o.h5" &&
    grep -q 'o.best exists; choose another name' "$tmp/log"
result $? "which is not put beside one without a word"
echo "1..$count"
