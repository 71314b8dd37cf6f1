#!/bin/bash
# Programs that are started once (command.serve = yes): any ranks, teams, kills and resumes give one
# digest; trials stay in memory and are saved only when that is needed; a program that fails is told
# in one line, and nothing is lost. Prints TAP. NP="1 2 3": the rank counts.
. tests/tap.sh
export MALLOC_PERTURB_=165 # memory that was freed is not read again: it has other bytes

need_python json
# The example, which lists its starts, and the trials that are saved; where the file `mode` names one
# of these, trial 3 misbehaves at its second report: a process for each rank.
cat >"$tmp/train.py" <<END
import fractions, glob, os, shutil, sys, threading, time
import weft, weft_program
place, source = "$tmp/", open("inputs/train.py").read()
def note(name, text):
    with open(place + name, "a") as f: f.write(f"{text}\n")
note("starts", os.getpid())
once = ["dies", "killed"]
def mode():
    try: return open(place + "mode").read().strip()
    except OSError: return ""
class State(tuple):
    def __reduce__(self):
        note("saves", os.getpid())
        return State, (tuple(self),)
first, again = weft.report, set()
do_job, do_save = weft_program.Program.do_job, weft_program.Program.do_save
def noted(self, message):
    for trial, job in message["drop"]: note("drops", job)
    note("jobs", message["job"])
    while message["job"] == 8 and os.path.exists(place + "removed") and glob.glob(place + "r.d/*-1-1"): time.sleep(0.02)
    if message["load"]: note("loads", tuple(message["from"]) in self.waiting)
    if message["load"] and mode() == f"vanishes {message['job']}": shutil.rmtree(message["load"])
    return do_job(self, message)
def saved(self, message):
    note("saved", message["job"])
    return do_save(self, message)
weft_program.Program.do_job, weft_program.Program.do_save = noted, saved
def raw(line): weft_program.server.link.socket.sendall(line)
def report(loss, step=None, state=None, **more):
    trial = weft_program.server.running
    name = mode()
    if name.startswith("slow"):
        time.sleep(float(name.split()[1]) * (4 if trial.trial == 1 else 1))
        loss += trial.trial == 1
    if name == "nan" and trial.trial == step == 3: loss = float("nan")
    if trial.trial == 3 and step == 2:
        if name == "stdout": print("hello=1 loss=7", flush=True)
        if name == "raises": raise KeyError("no such rate")
        if name == "word": loss = "small"
        if name == "names": more["my loss"] = 1
        if name == "metric": first(loss, step, error="small")
        if name == "thread":
            other = threading.Thread(target=lambda: first(loss, step)); other.start(); other.join()
        if name == "quits": print("memory is short\nso I leave", flush=True); os._exit(9)
        if name == "exits": sys.exit("that is all")
        if name == "dies" or (name == "once" and not os.path.exists(place + "once")):
            note("once", 1)
            os.kill(os.getpid(), 9)
        if name == "half": raw(b'{"report":'); os._exit(3)
        if name == "hangs": time.sleep(1e6)
        if name == "json": raw(b"loss=0.5\n"); time.sleep(1e6)
        if name == "other": raw(b'{"report":9999,"step":2,"loss":1}\n'); time.sleep(1e6)
        if name == "text": raw(b'{"report":3,"step":2,"loss":"small"}\n'); time.sleep(1e6)
        if name == "label": raw(b'{"report":3,"step":2,"loss":1,"metrics":{"f1 score":1}}\n'); time.sleep(1e6)
        if name == "true": raw(b'{"report":3,"step":2,"loss":1,"metrics":{"f1":true}}\n'); time.sleep(1e6)
        if name == "forks": os._exit(0) if os.fork() else time.sleep(1e6)
    if name == "stateless": state = None
    if name == "typed": step = fractions.Fraction(step)
    try: first(loss, step, State(state) if state else None, **more)
    except weft.Stopped:
        if name == "catches": raise ValueError("while it cleaned up")
        raise
weft.report = report
exec(source)
END
{
    sed -e 's/^tuner = .*/tuner = sha/' -e '/^sampler = /d' -e 's/^configs = .*/configs = 9/' \
        -e "s|^run = .*|run = $python $tmp/train.py|" -e 's/^max_resource = .*/max_resource = 9/' \
        -e '/^time_limit = /d' inputs/serve.ini
    printf '[sha]\nreduction = 3\neliminations = 2\nmax_resource = 9\n'
} >"$tmp/in.ini"

# tune RANKS FILE ARGUMENT...: the example's input on so many ranks into FILE.h5.
tune()
{
    rm -f "$tmp/starts" "$tmp/saves" "$tmp/once" "$tmp/drops" "$tmp/saved"
    on "$1" tune "$tmp/in.ini" -o "$tmp/$2.h5" --force "${@:3}"
}
resume() # RANKS FILE ARGUMENT...
{
    rm -f "$tmp/starts" "$tmp/saves" "$tmp/jobs"
    on "$1" resume "$tmp/$2.h5" "${@:3}"
}
is_same() # FILE: it has the digest of the first run
{
    [ -n "$one" ] && [ "$(digest "$tmp/$1.h5")" = "$one" ]
}
lines() # FILE NUMBER: of lines that it has
{
    [ "$(cat "$tmp/$1" 2>/dev/null | wc -l)" = "$2" ]
}
as() # MODE COMMAND...: with trial 3 in that mode
{
    echo "$1" >"$tmp/mode"
    "${@:2}"
    status=$?
    rm "$tmp/mode"
    return $status
}

# ---- the same bits --------------------------------------------------------------------------

for np in ${NP:-1 2 3}; do
    check "$np ranks: a program is started once" tune "$np" r
    : "${one:=$(digest "$tmp/r.h5")}"
    check "$np ranks: there is one digest" is_same r
    lines starts 1 && lines saves 1
    result $? "$np ranks: it keeps its trials in memory, of which only the winner is saved"
    [ -s "$tmp/r.best/state.pickle" ] && [ -e "$tmp/r.best/weft.log" ]
    result $? "$np ranks: the winner's state is left beside the run file"
    check "$np ranks: nothing else is" [ ! -e "$tmp/r.d" ]
    check "$np ranks: no program is left" none_left
done
tune 3 r run.teams=2 && lines starts 2
result $? "two teams of three ranks have two programs"
check "with the same digest" is_same r
check "of three each keeps one state" tune 3 r run.teams=3 command.keep=1
check "with the same digest, too" is_same r
tune 1 r command.keep=1 && ! lines saves 1
result $? "of more states than are kept the worst are saved"
! grep -q repeated "$tmp/log"
result $? "they go on from there"
check "to the same digest" is_same r
"$weft" report "$tmp/r.h5" --json 2>"$tmp/log" | "$python" -c '
import json, sys
jobs = sorted(json.load(sys.stdin)[0]["jobs_done"][:9], key=lambda job: job["loss"])
saved = [int(job) for job in open(sys.argv[1])]
assert jobs[0]["job"] not in saved and jobs[-1]["job"] in saved, (jobs, saved)' "$tmp/saved" >"$tmp/out" 2>>"$tmp/log"
result $? "the best of them stays in memory"
tune 1 r command.keep=1 command.state=none && grep -q 'are repeated' "$tmp/log"
result $? "or are trained again, where none is to be saved"
lines saves 0 && [ ! -e "$tmp/r.best" ]
result $? "none is"
check "the digest is the same" is_same r
as stateless tune 1 r command.keep=1 && lines saves 0
result $? "none is where the program gives no states"
check "with the same digest" is_same r
for slow in 0.3 2 10; do # on a busy machine trials take longer
    as "slow $slow" tune 2 r run.teams=2 sha.eliminations=1 sha.max_resource=3 space.configs=4 sha.reduction=2 &&
        ! lines saves 1 && ! grep -q repeated "$tmp/log" && break
done
result $? "a team that has nothing to do takes over a trial of another, which saves it"
as "slow $slow" tune 2 n run.teams=2 sha.eliminations=1 sha.max_resource=3 space.configs=4 sha.reduction=2 command.state=none
result $? "or repeats its jobs"
[ -n "$(digest "$tmp/r.h5")" ] && [ "$(digest "$tmp/n.h5")" = "$(digest "$tmp/r.h5")" ]
result $? "to the same digest"
pbt="pbt pbt.population=4 pbt.interval=2 pbt.max_resource=8 pbt.quantile=0.5"
for tuner in "asha asha.variant=stopping" "asha asha.variant=promotion" \
    "hyperband hyperband.max_resource=9" "random random.resource=3" "$pbt"; do
    # shellcheck disable=SC2086
    tune 1 n run.tuner=$tuner && two=$(digest "$tmp/n.h5") && tune 3 n run.teams=2 run.tuner=$tuner
    result $? "teams search by ${tuner%% *}, ${tuner##*=}"
    check "with the same digest" has_digest "$two" "$tmp/n.h5"
done
check "a state is loaded where the program does not have it" [ "$(sort -u "$tmp/loads")" = False ]
tune 1 n run.sampler=tpe run.tuner=asha space.configs=30 && two=$(digest "$tmp/n.h5")
tune 1 n run.sampler=tpe run.tuner=asha && resume 2 n run.teams=2 space.configs=30
result $? "a search is made longer after its end"
check "to the digest of a longer one" has_digest "$two" "$tmp/n.h5"

# A function that keeps nothing, and the same as a program that is started for each job.
cat >"$tmp/plain.py" <<END
import json, os, sys
def loss(values, total): return (values["rate"] - 0.3) ** 2 + values["momentum"] + 1 / total
if sys.argv[1:]:
    print("loss=%r" % loss(json.loads(os.environ["WEFT_PARAMETERS"]), float(os.environ["WEFT_TOTAL"])))
else:
    import weft
    def train(trial):
        assert not os.get_inheritable(int(os.environ["WEFT_SOCKET"]))  # a child that it left would hold it open
        more = {f"n{i}": i for i in range(1100)} | {"none": None, "error": None}
        return {"loss": loss(trial.values, trial.total), "own": 3, **more}
    weft.program(train)
END
tune 1 n command.serve=no command.run="$python $tmp/plain.py 1" && two=$(digest "$tmp/n.h5") &&
    tune 2 n run.teams=2 command.run="$python $tmp/plain.py" && ! grep -q repeated "$tmp/log"
result $? "a function without reports is tuned"
grep -q 'warning: job 0 has numbers of more than 1024 names; further names are left out' "$tmp/log"
result $? "numbers of its own beyond 1,024 names are left out, and None is none"
check "numbers of its own are in the run file" grep -aq 'last value that the job printed' "$tmp/n.h5"
check "with the digest of a program that is started for each job" has_digest "$two" "$tmp/n.h5"

# ---- stops and kills --------------------------------------------------------------------------

command=tune good=0 repeated=0 left=0
for job in 3 7 10 12; do
    if [ $command = tune ]; then set -- tune "$tmp/in.ini" -o "$tmp/r.h5" --force; else set -- resume "$tmp/r.h5"; fi
    launch 1 0 "job $job of" "$weft" "$@"
    held "$(rank 0)" && kill -TERM "$(rank 0)" && kill -CONT "$(rank 0)"
    wait $run
    [ $? = 75 ] && [ -s "$tmp/saves" ] && good=$((good + 1))
    none_left || left=$((left + 1))
    grep -q 'are repeated' "$tmp/log" && repeated=1
    command=resume
done
check "a run that is stopped four times saves its states" [ $good = 4 ]
check "no program is left then" [ $left = 0 ]
check "it goes to its end" resume 2 r
[ $repeated = 0 ] && ! grep -q 'are repeated' "$tmp/log"
result $? "no job is repeated"
check "the digest is the same" is_same r
launch 1 0 'job 5 of' "$weft" tune "$tmp/in.ini" -o "$tmp/r.h5" --force
held "$(rank 0)"
echo "slow 1" >"$tmp/mode"
kill -TERM "$(rank 0)" && kill -CONT "$(rank 0)"
wait $run
stopped=$?
rm "$tmp/mode"
check "a program that is asked in the middle of a job to stop leaves it" [ $stopped = 75 ]
check "it ends" none_left
check "the run goes on to its end" resume 1 r
! grep -q 'are repeated' "$tmp/log"
result $? "the other jobs were saved"
check "the digest is the same" is_same r
as once tune 1 r command.retries=1 && lines starts 2 &&
    grep -q 'warning: job 3, trial 3 failed: .*was ended by signal 9; .*; it is tried again' "$tmp/log"
result $? "a program that is killed is started again"
check "to the same digest" is_same r
launch 1 0 'job 9 of' "$weft" tune "$tmp/in.ini" -o "$tmp/r.h5" --force
held "$(rank 0)" && program=$(tail -1 "$tmp/starts") && kill -9 "$program"
while grep -qs '^State:[[:space:]]*[^ZX]' "/proc/$program/status"; do sleep 0.05; done
kill -CONT "$(rank 0)"
wait $run && grep -q 'are repeated' "$tmp/log"
result $? "one that is killed between two jobs is started again"
! grep -q 'failed' "$tmp/log"
result $? "no job fails"
check "the digest is the same" is_same r
launch 2 0 'job 11 of' "$weft" tune "$tmp/in.ini" -o "$tmp/r.h5" --force
held "$(rank 0)" && programs >/dev/null && kill -9 "$(rank 0)"
result $? "a rank is killed"
wait $run
check "its program dies with it" none_left
check "the run is resumed" resume 3 r
check "trials that were in memory are trained again" grep -q 'the jobs that led to it are repeated' "$tmp/log"
check "the digest is the same" is_same r
launch 2 0 'job 10 of' "$weft" tune "$tmp/in.ini" -o "$tmp/r.h5" --force
held "$(rank 0)" && kill -9 $run && pkill -9 -P $run
wait $run 2>/dev/null
kill -9 "$(rank 0)" "$(rank 1)" 2>/dev/null
check "no program outlives its launcher and ranks" none_left
check "the run is resumed from there, too" resume 1 r
check "to the same digest" is_same r
# While the file `removed` is there, job 8 waits until the state after job 1 has been removed, in the
# background, so that one that is put back later stays.
# shellcheck disable=SC2086
tune 1 n run.tuner=$pbt && two=$(digest "$tmp/n.h5")
for teams in 1 2; do
    if [ $teams = 1 ]; then touch "$tmp/removed"; else rm "$tmp/removed"; fi
    # shellcheck disable=SC2086
    launch 1 0 'job 6 of' "$weft" tune "$tmp/in.ini" -o "$tmp/r.h5" --force run.tuner=$pbt
    held "$(rank 0)" && kill -TERM "$(rank 0)" && kill -CONT "$(rank 0)"
    wait $run
    mkdir "$tmp/d$teams" && mv "$tmp"/r.d/*-1-[15] "$tmp/d$teams" && rm -f "$tmp/jobs" && cp -r "$tmp/d$teams"/*-1-1 "$tmp/r.d"
    launch $teams 0 'are repeated' "$weft" resume "$tmp/r.h5" run.teams=$teams
    held "$(rank 0)" && cp -r "$tmp/d$teams"/*-1-1 "$tmp/r.d" && kill -CONT "$(rank 0)"
    check "the state after job 5 is lost, and that after job 1 is there; teams: $teams" wait $run
    grep -qx 5 "$tmp/jobs" && { [ $teams = 2 ] || ! grep -qx 1 "$tmp/jobs"; }
    result $? "job 5 is repeated, which one team does alone"
    check "to the same digest" has_digest "$two" "$tmp/r.h5"
done
# shellcheck disable=SC2086
launch 1 0 'job 6 of' "$weft" tune "$tmp/in.ini" -o "$tmp/r.h5" --force run.tuner=$pbt
held "$(rank 0)" && kill -TERM "$(rank 0)" && kill -CONT "$(rank 0)"
wait $run
cp -r "$tmp/r.d" "$tmp/stopped"
saved() # WAY: what is there of the state after job 5 of the stopped run
{
    rm -rf "$tmp"/r.* && cp -r "$tmp/stopped" "$tmp/r.d"
    case $1 in
    cut) : >"$tmp/r.d/files-1-5/state.pickle" ;;
    partly) rm "$tmp/r.d/files-1-5/state.pickle" ;;
    missing) rm -r "$tmp/r.d/files-1-5" ;;
    extended) echo x >>"$tmp/r.d/files-1-5/weft.pickle" ;;
    esac
}
for way in cut partly missing extended; do
    saved $way
    resume 1 r && grep -q 'files-1-5, which job 5 left .* the jobs that led to it are repeated' "$tmp/log" &&
        [ "$(digest "$tmp/r.h5")" = "$two" ]
    result $? "a saved state that is $way is made again, to the same digest"
done
saved missing
echo 'vanishes 5' >"$tmp/mode" && touch "$tmp/removed" && rm -f "$tmp/jobs"
launch 1 0 'are repeated' "$weft" resume "$tmp/r.h5"
held "$(rank 0)" && cp -r "$tmp"/stopped/*-1-1 "$tmp/r.d" && kill -CONT "$(rank 0)"
wait $run
rm "$tmp/mode" "$tmp/removed"
[ "$(head -6 "$tmp/jobs" | tr '\n' ' ')" = '6 7 8 5 1 5 ' ] && [ "$(digest "$tmp/r.h5")" = "$two" ]
result $? "as is one whose repetition fails from an earlier state, which has just been removed"

# ---- reports ----------------------------------------------------------------------------------

tune 1 r && call report "$tmp/r.h5" &&
    grep -q '^reports   39; of trial 1: 0.4651 after 1, .*, [0-9.]* after 7, [0-9.]* after 9$' "$tmp/out"
result $? "the report of a run shows what was reported of the winner"
find_python h5py
if [ -z "$python" ]; then
    result 0 "# SKIP there is no h5py"
else
    "$python" -c "
import h5py
f = h5py.File('$tmp/r.h5')
rounds, events = f['rounds'], f['events']
job, step, loss = (rounds[k][:].tolist() for k in ('job', 'step', 'loss'))
for e, (resource, last) in enumerate(zip(events['resource'][:], events['loss'][:])):
    mine = [i for i, j in enumerate(job) if j == events['job'][e]]
    steps = [step[i] for i in mine]
    assert steps == list(range(int(steps[0]), int(resource) + 1)), (e, steps)
    assert loss[mine[-1]] == last, (e, loss[mine[-1]], last)
" >"$tmp/out" 2>"$tmp/log"
    result $? "the run file has every report, the last of a job being its loss"
fi
find_python "h5py, pandas"
if [ -z "$python" ]; then
    result 0 "# SKIP there is no pandas"
else
    "$python" tests/frames.py "$weft" "$tmp/r.h5" >"$tmp/out" 2>"$tmp/log"
    result $? "and weft.read has them as curves"
fi
find_python h5py
few="run.tuner=random run.sampler=space space.configs=1 random.resource=1"
# shellcheck disable=SC2086
${CC:-cc} -O2 -D_POSIX_C_SOURCE=200809L -o "$tmp/often" tests/often.c >"$tmp/out" 2>"$tmp/log" &&
    tune 1 n $few command.run="$tmp/often"
result $? "a program reports more than 10^6 times in a job"
[ "$(grep -c 'warning: job 0, trial 0: the program reported more than 1000000 times; of what follows the first 999999 reports' \
    "$tmp/log")" = 1 ]
result $? "the log says once that not all is kept"
call report "$tmp/n.h5" &&
    grep -q '^of these  of each of 1 jobs that reported 1000000 times or more the first 999999, and the last$' "$tmp/out"
result $? "so does the report"
if [ -z "$python" ]; then
    result 0 "# SKIP there is no h5py"
else
    "$python" -c "
import h5py
f = h5py.File('$tmp/n.h5')
loss, wall, all = f['rounds/loss'][:], f['rounds/wall'][:], f['events/seconds'][0]
assert len(loss) == 10 ** 6 and list(loss[:-1]) == list(range(1, 10 ** 6)) and loss[-1] == 0 == f['events/loss'][0]
assert 0.95 * all < wall.sum() <= all, (wall.sum(), all)
" >"$tmp/out" 2>"$tmp/log"
    result $? "the last row is the loss of the job, and no time is lost"
fi
find_python json

# ---- what goes wrong ----------------------------------------------------------------------

check "a program may print" as stdout tune 1 r
check "which does not change the digest" is_same r
check "steps may be numbers of other types, as NumPy's are" as typed tune 1 r
check "which are the same" is_same r
check "what a program raises after it is stopped is no failure" as catches tune 1 r
check "nor does it change the digest" is_same r
for catch in "" "except BaseException: pass"; do
    cat >"$tmp/loop.py" <<END
import weft
def train(trial):
    for epoch in range(trial.done, 30):
        try: weft.report((trial["rate"] - 0.3) ** 2 + 1 / (epoch + 1), epoch + 1)
        ${catch:-finally: pass}
    return 0.0
weft.program(train)
END
    tune 1 "loop${catch:+2}" "command.run=$python $tmp/loop.py" && none_left
    result $? "a program${catch:+ that catches all} is stopped at rungs"
done
[ -n "$(digest "$tmp/loop.h5")" ] && [ "$(digest "$tmp/loop.h5")" = "$(digest "$tmp/loop2.h5")" ]
result $? "both have the same losses"
# bad MODE PATTERN STATEMENT ARGUMENT...: of trial 3; one line says it, and the others go on.
bad()
{
    as "$1" tune 2 n run.teams=2 "${@:4}"
    [ $? = 0 ] && [ "$(grep -c 'warning: job\|^weft:' "$tmp/log")" = 1 ] &&
        grep -Eq "warning: job 3, trial 3 failed: ($2)" "$tmp/log"
    result $? "$3"
    check "no other trial fails" [ "$(grep -c 'score inf' "$tmp/log")" = 1 ]
    check "no program is left" none_left
}
bad nan 'its loss is not finite; see .*n.failed/3-3.log' "a loss that is NaN"
check "whose state the program is told to forget" grep -qx 3 "$tmp/drops"
bad raises "KeyError: 'no such rate' \(<string>:[0-9]*\); see .*n.failed/3-3.log|KeyError: 'no such rate' \(train.py:[0-9]*\); see .*n.failed/3-3.log" "an exception"
grep -q '^Traceback' "$tmp/n.failed/3-3.log" && grep -q "no such rate" "$tmp/n.failed/3-3.log"
result $? "whose traceback is kept"
check "once the program is mended, the failed trial is done again" resume 1 n --retry-failed
check "to the same digest" is_same n
bad word "ValueError: could not convert string to float: 'small' \(train.py:[0-9]*\)" "a loss that is a text is told with the line that reported it"
bad names "ValueError: 'my loss' is no name of a metric: a letter or _, .* \(train.py:[0-9]*\)" "so is a name that is none"
bad metric "ValueError: error is 'small': expected a number \(train.py:[0-9]*\)" "and a metric that is a text"
bad thread 'weft.report\(\) is for the thread in which train was called' "a report from another thread"
bad exits 'SystemExit: that is all' "a program that calls exit"
bad quits 'the program of rank [01], .*, ended with status 9; its last lines in .*/program-[01]: .*memory is short \| so I leave' "one that ends"
bad dies 'the program of rank [01], .*, was ended by signal 9' "one that is killed each time"
bad half 'the program of rank [01], .*, ended with status 3 in the middle of a message' "half a message"
bad hangs 'the program of rank [01], .*, did not answer within command.time_limit = 20 s' "one that hangs" command.time_limit=20
bad json 'the program of rank [01], .*, sent a line that is no object of JSON: loss=0.5' "a line that is not JSON"
bad other 'the program of rank [01], .*, sent a line that is no answer to what it was asked: ..report.:9999' "the report of another job"
bad text 'the program of rank [01], .*, sent a line that is no answer' "a loss that is a text"
bad label 'the program of rank [01], .*, sent a metric "f1 score", which is no name: a letter or _, ' "a line of JSON with a metric whose name is none"
bad true 'the program of rank [01], .*, sent a metric f1 that is no number' "or with one that is no number"
bad forks 'the program of rank [01], .*, ended with status 0' "a program that forks"

# refused PROGRAM PATTERN STATEMENT ARGUMENT...: before the first job.
refused()
{
    rm -rf "$tmp"/n.*
    on 2 tune inputs/serve.ini "command.run=$1" -o "$tmp/n.h5" "${@:4}"
    refusal $? 2 "$2" "$3"
}
refused nosuchprogram 'ended with status 127, as of a program that is not found; its last lines: .*nosuchprogram' "no program"
refused true 'the program of rank 0, .true., ended with status 0; it printed nothing' "a program that serves nothing"
refused 'sleep 1000000' 'did not answer within command.time_limit = 1 s; it printed nothing' "one that says nothing" command.time_limit=1
find_python numpy
if [ -z "$python" ]; then
    result 0 "# SKIP there is no NumPy"
else
    refused "$python inputs/clients.py" 'RuntimeError: this program serves clients, but weft asks for programs' "a worker of a federation"
    rm -rf "$tmp"/n.*
    call tune inputs/worker.ini "worker.run=$python inputs/train.py" worker.retries=0 -o "$tmp/n.h5"
    [ $? = 4 ] && grep -q '^weft: .*this program serves programs, but weft asks for clients' "$tmp/log"
    result $? "and the other way round"
fi
find_python json
"$python" tests/conforms.py "$python inputs/train.py" '{"rate":0.1,"momentum":0.5,"decay":0}' >"$tmp/out" 2>"$tmp/log" &&
    ! grep -q '^not ok' "$tmp/out" && [ "$(grep -c '^ok' "$tmp/out")" = 10 ]
result $? "the Python module conforms to the protocol"
sed -n '/^```c$/,/^```$/p' src/worker/README.md | sed '1d; $d' >"$tmp/program.c"
${CC:-cc} -O2 -Wall -Wextra -Iinclude -o "$tmp/program" "$tmp/program.c" -lm >"$tmp/out" 2>"$tmp/log" && [ ! -s "$tmp/log" ]
result $? "the program in C of the protocol's page is one"
"$python" tests/conforms.py "$tmp/program" '{"rate":0.1}' >"$tmp/out" 2>"$tmp/log" &&
    ! grep -q '^not ok' "$tmp/out" && [ "$(grep -c '^ok' "$tmp/out")" = 9 ]
result $? "and conforms, too"
for tuner in sha "asha asha.variant=stopping" "$pbt"; do
    # shellcheck disable=SC2086
    tune 1 n command.run="$tmp/program" run.tuner=$tuner && two=$(digest "$tmp/n.h5") &&
        tune 3 n command.run="$tmp/program" run.teams=2 run.tuner=$tuner
    result $? "it is tuned by teams with ${tuner%% *}"
    check "to the same digest" has_digest "$two" "$tmp/n.h5"
done

# ---- functions of the trial -------------------------------------------------------------------

mkdir "$tmp/place"
doctor() # RANKS ARGUMENT...
{
    rm -f "$tmp/starts"
    TMPDIR=$tmp/place on "$1" doctor "$tmp/in.ini" "${@:2}"
}
doctor 2 && grep -q '^programs  a job of 1, done 3 times, by 2 programs: the same loss, 0[.][0-9]*$' "$tmp/out" &&
    grep -q '^times     a job takes [0-9.e-]* s, the first one of a program [0-9.e-]* s with its start$' "$tmp/out" &&
    lines starts 2
result $? "weft doctor finds that a program repeats its loss"
check "it leaves no program" none_left
! ls -A "$tmp/place" | grep -v '^ompi'
result $? "it leaves no file"
cat >"$tmp/count.py" <<END
import weft
jobs = 0
def train(trial):
    global jobs
    jobs += 1
    return jobs
weft.program(train)
END
doctor 1 command.run="$python $tmp/count.py" && grep -q '^programs .*: OTHER LOSSES, 1, 2, 1; a digest is that of one run only$' "$tmp/out"
result $? "and that one which counts its jobs does not"
doctor 1 command.serve=no command.loss=-acc command.run='echo acc=$PARAM_rate' &&
    grep -q '^programs  a job of 1, done twice: the same loss, 0[.][0-9]*$' "$tmp/out" &&
    grep -q '^times     a job takes [0-9.e-]* s, with the start of its program$' "$tmp/out"
result $? "a program that is started for each job is started twice"
for serve in yes no; do
    doctor 2 command.serve=$serve command.run='echo memory is short >&2; exit 3'
    [ $? = 2 ] && grep -q '^weft: a job of the program failed: .*ended with status 3; its last line.*: memory is short' "$tmp/log" &&
        [ "$(grep -c '^weft: ' "$tmp/log")" = 1 ]
    result $? "one that fails is told of, kept: $serve"
done
rm -rf "$tmp/place"/*
waits() # NAME: a doctor whose program waits for the file go
{
    TMPDIR=$tmp/place "$weft" doctor "$tmp/in.ini" command.serve=no \
        command.run="touch $tmp/$1; until [ -e $tmp/go ]; do sleep 0.1; done; echo loss=1" >"$tmp/$1.out" 2>&1 &
    until [ -e "$tmp/$1" ]; do sleep 0.1; done
}
waits killed
kill -9 $!
wait $! 2>/dev/null
waits alive
alive=$!
doctor 1 command.serve=no command.run='echo loss=1'
check "the directory of a doctor stays while it is at work" [ -d "$(echo "$tmp"/place/weft-doctor.*"$alive")" ]
check "that of one that was killed goes with the next" [ "$(find "$tmp/place" -maxdepth 1 -name 'weft*' | wc -l)" = 1 ]
touch "$tmp/go"
check "the first doctor ends well" wait "$alive"

rm -f "$tmp/out"
"$python" inputs/train.py 2>"$tmp/log"
PYTHONPATH=python "$python" inputs/train.py 2>"$tmp/log"
[ $? != 0 ] && grep -q 'weft starts this program: .*command.serve = yes' "$tmp/log"
result $? "a program that weft did not start says so"
echo "1..$count"
