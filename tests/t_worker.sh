#!/bin/bash
# Clients whose training a worker does (fed.model = worker): any ranks, teams, kills and resumes
# give one digest; workers that fail are told in one line, and nothing is lost. Prints TAP.
# NP="1 2 3": the rank counts.
. tests/tap.sh

need_python numpy
cp inputs/clients.py "$tmp/clients.py"
call pack synthetic images rows=200 clients=4 -o "$tmp/x.h5"

# tune RANKS FILE ARGUMENT...: the input on so many ranks into FILE.h5, with the worker $command.
command="$python $tmp/clients.py"
tune()
{
    on "$1" tune inputs/worker.ini "worker.run=$command" -o "$tmp/$2.h5" --force "${@:3}"
}
resume() # RANKS FILE ARGUMENT...
{
    on "$1" resume "$tmp/$2.h5" "${@:3}"
}
is_same() # FILE: it has the digest of the first run
{
    [ -n "$one" ] && [ "$(digest "$tmp/$1.h5")" = "$one" ]
}

# ---- the same bits --------------------------------------------------------------------------

for np in ${NP:-1 2 3}; do
    check "$np ranks: a federation of a worker is tuned" tune "$np" r
    : "${one:=$(digest "$tmp/r.h5")}"
    check "$np ranks: with one digest" is_same r
    check "$np ranks: nothing is left beside the run file" [ ! -e "$tmp/r.d" ]
    check "$np ranks: no worker is left" none_left
done
check "two teams of three ranks end" tune 3 r run.teams=2
check "with the same digest" is_same r
few="run.tuner=random space.configs=2 random.resource=4"
# shellcheck disable=SC2086
tune 1 r $few && two=$(digest "$tmp/r.h5") && tune 2 r $few run.time_limit=1e-9
status=$?
for _ in $(seq 20); do
    [ $status = 75 ] || break
    resume 2 r run.time_limit=1e-9
    status=$?
done
check "a run that is stopped after every unit ends" [ $status = 0 ]
check "with the digest of one that is not" has_digest "$two" "$tmp/r.h5"

# Every worker ends itself at its 30th turn.
cat >"$tmp/dies.py" <<END
import os, sys
sys.argv = ["$tmp/clients.py"]
turns = 0
import weft
first = weft.Server.do_turn
def do_turn(self, message):
    global turns
    turns += 1
    if turns == 30: os.kill(os.getpid(), 9)
    return first(self, message)
weft.Server.do_turn = do_turn
exec(open("$tmp/clients.py").read())
END
command="$python $tmp/dies.py" tune 2 r
result $? "a run whose workers are killed ends"
check "with the same digest" is_same r
check "their kills are told" grep -q 'was ended by signal 9.*; the turn is repeated' "$tmp/log"
command="$python $tmp/dies.py" tune 1 r worker.retries=0
[ $? = 75 ] && grep -q '^weft: .*was ended by signal 9' "$tmp/log"
result $? "without retries it stops with status 75"
check "it keeps what it has" [ -d "$tmp/r.d" ]
check "no worker is left" none_left
for _ in $(seq 40); do
    resume 1 r && break
done
check "resumed again and again with a worker that dies at each 30th turn it ends" [ -e "$tmp/r.h5" ]
check "with the same digest" is_same r
! grep -q 'is missing' "$tmp/log"
result $? "without a job that is repeated"
command="$python $tmp/dies.py" tune 1 r worker.retries=0
check "resumed with a worker that lives it ends" resume 1 r worker.run="$command"
check "with the same digest" is_same r

# A rank is killed.
launch 2 0 'job 3 of' "$weft" tune inputs/worker.ini "worker.run=$command" -o "$tmp/r.h5" --force
held "$(rank 0)" && programs >/dev/null && kill -9 "$(rank 0)"
result $? "a rank is killed"
wait $run
check "its worker dies with it" none_left
check "the run is resumed" resume 3 r
check "to the same digest" is_same r

# Every turn prints 1 MB, and the 31st, the last, 5 and, after a while, 5 more.
cat >"$tmp/prints.py" <<END
import os, sys, time
turns = 0
import weft
first = weft.Turn.answer
def answer(self, **more):
    global turns
    turns += 1
    for i in range(10 ** 5 if turns == 31 else 10 ** 4):
        print("line %5d of turn %2d " % (i, turns) + 78 * "x")
        if i == 5 * 10 ** 4: sys.stdout.flush(); time.sleep(1)
    if turns == 31:
        sys.stdout.flush()
        open("$tmp/size", "w").write(str(os.fstat(1).st_size))
        sys.exit(3)
    return first(self, **more)
weft.Turn.answer = answer
exec(open("$tmp/clients.py").read())
END
command="$python $tmp/prints.py" tune 1 p worker.retries=0
[ $? = 75 ] && grep -q 'ended with status 3.*line 99999 of turn 31' "$tmp/log"
result $? "a worker prints 40 MB, and ends"
size=$(stat -c %s "$tmp/p.d/worker-0") && [ "$size" -gt 2000000 ] && [ "$size" -le 4194304 ] &&
    tail -n 1 "$tmp/p.d/worker-0" | grep -q '^line 99999 of turn 31 '
result $? "of which the last 2 to 4 MB are kept"
! grep -vq '^line [0-9 ]* of turn [0-9 ]* x\{78\}$' "$tmp/p.d/worker-0"
result $? "in whole lines"
check "none is cut while it prints" [ "$(cat "$tmp/size")" -gt 10000000 ]
rm -rf "$tmp/p.d"

# ---- functions of the turn ------------------------------------------------------------------

doctor() # on two ranks
{
    on 2 doctor inputs/worker.ini "worker.run=$command"
}
doctor && grep -q '^workers   3 turns, each done twice on 2 ranks: the same bits$' "$tmp/out"
result $? "weft doctor finds that turns are repeated to the same bits"
check "it leaves no worker" none_left
cat >"$tmp/counts.py" <<END
import weft
import numpy as np
turns = 0
first = weft.Turn.answer
def answer(self, weights=None, **more):
    global turns
    turns += self.train
    if self.train: weights["bias"][0] += np.float32(turns * 1e-3)
    return first(self, weights=weights, **more)
weft.Turn.answer = answer
exec(open("$tmp/clients.py").read())
END
command="$python $tmp/counts.py" doctor && grep -q '^workers   3 turns, .*: OTHER BITS in 3' "$tmp/out"
result $? "and that of a worker which counts its turns they are not"
command="$python $tmp/counts.py" tune 1 n && grep -q 'warning: a turn that workers repeated had other bits' "$tmp/log"
result $? "so that its run warns that the digest is its own"
! grep -q 'other bits' "$tmp/log" || tune 1 n && ! grep -q 'other bits' "$tmp/log"
result $? "which others do not"
call doctor inputs/flow.ini
[ $? = 2 ] && grep -q '^weft: no programs but weft do this run' "$tmp/log"
result $? "a run without workers has nothing to try"

# ---- the protocol ---------------------------------------------------------------------------

conforms() # CHECKS COMMAND STATEMENT
{
    "$python" tests/conforms.py "$2" >"$tmp/out" 2>"$tmp/log" && ! grep -q '^not ok' "$tmp/out" &&
        [ "$(grep -c '^ok' "$tmp/out")" = "$1" ]
    result $? "$3"
}
conforms 24 "$python $tmp/clients.py" "the Python module conforms to the protocol"
sed 's/^import weft$/import weft; told = weft.Server.do_describe; weft.Server.do_describe = lambda *x: told(*x) | {"ahead": False}/' \
    "$tmp/clients.py" >"$tmp/single.py"
conforms 23 "$python $tmp/single.py" "and where it gets one turn at a time"
command="$python $tmp/single.py" tune 2 r
result $? "its run ends"
check "with the same digest" is_same r
${CC:-cc} -std=c99 -O2 -Wall -Wextra -Werror -D_POSIX_C_SOURCE=200809L -Iinclude -o "$tmp/clients" inputs/clients.c -lm \
    >"$tmp/out" 2>"$tmp/log"
result $? "a worker in C needs only the header"
conforms 28 "$tmp/clients 10" "and conforms, too"
! "$python" tests/conforms.py "$python $tmp/counts.py" >"$tmp/out" 2>"$tmp/log" &&
    grep -q '^not ok .*has the same bits' "$tmp/out"
result $? "a worker that counts its turns does not"
command="$tmp/clients 1000" tune 1 n fed.score=loss && two=$(digest "$tmp/n.h5") &&
    command="$tmp/clients 1000" tune 3 n fed.score=loss run.teams=2
result $? "a federation of it is tuned"
check "with one digest" has_digest "$two" "$tmp/n.h5"
for algorithm in "fedrep fedrep.own=high" ditto scaffold; do
    # shellcheck disable=SC2086
    set -- fed.score=loss fed.algorithm=$algorithm
    command="$tmp/clients 10" tune 1 n "$@" && two=$(digest "$tmp/n.h5") && command="$tmp/clients 10" tune 2 n "$@"
    result $? "so it is with $algorithm"
    check "with one digest" has_digest "$two" "$tmp/n.h5"
done
sed 's/, knows=.*/)/; s/in t.tensors/in w/' "$tmp/clients.py" >"$tmp/no.py"
sed 's/in t.tensors/in w/' "$tmp/clients.py" >"$tmp/unsound.py"
conforms 22 "$python $tmp/no.py" "a worker may know no words"
! "$python" tests/conforms.py "$python $tmp/unsound.py" >"$tmp/out" 2>"$tmp/log" &&
    grep -q '^not ok .*leaves tensors that are not to be trained' "$tmp/out"
result $? "but does not conform if it does not heed one that it knows"

# ---- what is kept ---------------------------------------------------------------------------

find_python "numpy, h5py"
command="$python $tmp/tested.py"
sed 's/^           train=.*/           train=[40] * CLIENTS, valid=[10] * CLIENTS, test=[10] * CLIENTS, names=[f"phone {i}" for i in range(CLIENTS)], classes=4)/' \
    "$tmp/clients.py" >"$tmp/tested.py"
if [ -z "$python" ]; then
    result 0 "# SKIP there is no h5py"
else
    tune 2 w run.test=yes fed.new_clients=0.2 device.availability=0.9 fed.test_clients=10 && grep -q '^test ' "$tmp/out"
    result $? "a test part is scored, with clients that are new, and devices that are away"
    call export "$tmp/w.h5" -o "$tmp/winner.h5" && "$python" -c "
import h5py
run, winner = h5py.File('$tmp/w.h5'), h5py.File('$tmp/winner.h5')
state = winner['winner/state']
assert state['weight'].shape == (4, 8) and state['bias'].shape == (4,), dict(state)
assert abs(state['weight'][:]).max() > 0
assert run['clients/name'][0].startswith(b'phone '), run['clients/name'][0]
" >"$tmp/out" 2>"$tmp/log"
    result $? "the winner's weights are exported under the tensors' names, scores of clients under theirs"
    call eval "$tmp/w.h5" "$tmp/x.h5"
    [ $? = 2 ] && grep -q '^weft: fed.model = worker: workers have the data' "$tmp/log"
    result $? "a winner is not scored on data that workers do not have"
fi
sed -e 's/after=after)/after=after, metrics={"norm": float(np.square(w["weight"]).sum()), "client": t.client, "one": 1})/' \
    -e 's/classes=CLASSES,/classes=CLASSES, metrics=["norm", "client", "one"],/' "$tmp/clients.py" >"$tmp/own.py"
if [ -z "$python" ]; then
    result 0 "# SKIP there is no h5py"
else
    own="$python $tmp/own.py"
    command=$own tune 1 n && command=$own tune 3 r run.teams=2
    result $? "a worker has metrics of its own"
    check "which leave the digest as it is" is_same n
    "$python" -c "
import h5py
one, three = (h5py.File('$tmp/%s.h5' % name)['metrics'] for name in 'nr')
for name in ('norm', 'client'):
    assert len(one[name]) == 7 and list(one[name][:]) == list(three[name][:]), name
assert all(x > 0 for x in one['norm'][:]) and all(0 < x < 19 for x in one['client'][:])
" >"$tmp/out" 2>"$tmp/log"
    result $? "they are in the run file, the same on any ranks"
    command=$own tune 2 n device.dropout=0.5 && "$python" -c "
import h5py
run = h5py.File('$tmp/n.h5')
assert sum(run['rounds/dropped'][:]) > 9 and list(run['metrics/one'][:]) == [1] * 7
" >"$tmp/out" 2>"$tmp/log"
    result $? "they are means over the clients that came back"
fi
find_python torch
if [ -z "$python" ]; then
    result 0 "# SKIP there is no PyTorch"
else
    command="$python inputs/clients-torch.py"
    tune 1 n && two=$(digest "$tmp/n.h5") && tune 3 n run.teams=2
    result $? "a network of PyTorch is tuned"
    check "with one digest" has_digest "$two" "$tmp/n.h5"
fi
cat >"$tmp/many.py" <<END
import numpy as np
import weft
n = 10 ** 6
def turn(t):
    return t.answer(weights=t.weights, steps=1, before=(1, 0, 1) if t.before else None, after=(1, 0, 1) if t.after else None)
weft.serve(turn, weights={"w": np.zeros(3)}, train=np.ones(n), valid=np.ones(n), names=range(n), worst=9)
END
find_python numpy
command="$python $tmp/many.py" tune 2 n run.tuner=random run.mixing=none space.configs=1 random.resource=2 fed.eval_clients=10
result $? "a worker has a million clients"

# ---- workers that fail ----------------------------------------------------------------------

# What a mode changes in the worker.
cat >"$tmp/bad.py" <<END
import json, os, sys, time
mode = sys.argv[1]
import numpy as np
import weft
answer, send, describe = weft.Turn.answer, None, weft.Server.do_describe

class Socket:
    "A socket that sends what the mode says."
    def __init__(self, own): self.own = own
    def recv(self, n): return self.own.recv(n)
    def set_inheritable(self, x): pass
    def sendall(self, line):
        if b'"clients"' in line:
            return self.own.sendall(line)
        if mode == "nan": line = line.replace(b'"steps": ', b'"steps": NaN, "old": ')
        if mode == "few": line = line.replace(b'"weights": 36', b'"weights": 35')
        if mode == "other": line = line.replace(b'"turn": ', b'"turn": 1')
        if mode == "twice": line = line + line
        if mode == "half":
            self.own.sendall(line[:len(line) // 2])
            os._exit(3)
        if mode == "stuck":
            self.own.sendall(line[:len(line) // 2])
            time.sleep(1e6)
        self.own.sendall(line)

start = weft.Server.__init__
def init(self, *x):
    start(self, *x)
    self.link.socket = Socket(self.link.socket)
weft.Server.__init__ = init

def bad(self, weights=None, **more):
    if mode == "stdout": print("hello from the worker")
    if mode == "parts" and more["after"]: x, k, n = more["after"]; more["after"] = x, k + 0.9 * (k < n), n
    if mode == "shape": weights["bias"] = np.zeros(3)
    if mode == "lacks": del weights["bias"]
    if mode == "nanweights": weights["bias"][0] = np.nan
    if mode == "nanloss": more["after"] = (float("nan"), 1, 10)
    if mode == "raises": raise KeyError("no such client")
    if mode == "score": more["after"] = (0.1, 11, 10)
    if mode == "none": more["after"] = None
    if mode == "unknown": more["metrics"] = {"norm": 1}
    if mode == "hangs": time.sleep(1e6)
    if mode == "quits": print("memory is short\nso I leave"); sys.stdout.flush(); os._exit(9)
    if mode == "forks" and os.fork() == 0: time.sleep(1e6)
    if mode == "forks": os._exit(0)
    return answer(self, weights=weights, **more)
weft.Turn.answer = bad
if mode == "differs": time.sleep(0.2)
exec(open("$tmp/clients.py").read().replace("[40] * CLIENTS, v", "[41 if mode == 'differs' and weft.rank() else 40] * CLIENTS, v"))
END

# bad MODE STATUS PATTERN STATEMENT ARGUMENT...: on two ranks; ends with one clear line.
bad()
{
    [ $# -gt 4 ] || set -- "$@" worker.retries=1
    command="$python $tmp/bad.py $1" tune 2 r "${@:5}"
    [ $? = "$2" ] && [ "$(grep -c '^weft: ' "$tmp/log")" = 1 ] &&
        grep -Eq "^weft: the worker of rank [01], .*($3)" "$tmp/log"
    result $? "$4"
    check "no worker is left" none_left
}
command="$python $tmp/bad.py stdout" tune 2 r
result $? "a worker may print"
check "which does not change the digest" is_same r
command="$python $tmp/bad.py parts" tune 2 r
result $? "counts of wrong answers may have a fraction"
check "of which the whole part counts" is_same r
command="$python $tmp/bad.py nanweights" tune 2 r && grep -q 'warning: all 5 clients of round 0 .* diverged' "$tmp/log"
result $? "weights that are not finite are of a client that diverged"
command="$python $tmp/bad.py nanloss" tune 2 r && grep -q 'warning: all 5 clients of round 0 .* diverged' "$tmp/log"
result $? "so is a loss that is no number"
bad quits 75 'ended with status 9; its last lines in [^ ]*r.d/worker-[01]: .*memory is short [|] so I leave' "a worker's last lines are told"
check "and kept" [ -s "$tmp/r.d/worker-0" ]
bad nan 4 'not JSON: .*NaN' "NaN in a message"
bad few 4 '35 weights where 36 are expected' "too few weights"
bad shape 4 'ValueError: weights: bias has shape \(3,\), expected \(4,\)' "a wrong shape"
bad lacks 4 'expected the arrays weight, bias; got weight ' "a tensor that is missing"
bad other 4 'number of another turn' "an answer to another turn"
bad twice 4 'line that nobody asked for' "an answer that comes twice"
bad score 4 'counts of wrong answers' "more wrong answers than predictions"
bad unknown 4 "ValueError: metrics: 'norm' is none of those that serve was given: serve.metrics=" "a metric that was not named before"
bad none 4 'ValueError: after: expected \(mean loss, wrong answers, predictions\)' "a score that is missing"
bad half 75 'ended with status 3 in the middle of a message' "half a message"
bad stuck 75 'did not answer within worker.time_limit = 15 s, but with half a message' "half a message of one that hangs" worker.time_limit=15 worker.retries=0
bad hangs 75 'did not answer within worker.time_limit = 15 s' "a worker that hangs" worker.time_limit=15 worker.retries=0
bad forks 75 'ended with status 0' "a worker that forks"
bad raises 4 "has a bug in the turn of client [0-9]*: KeyError: 'no such client' \(bad.py:" "an exception is the worker's bug"
command="$python $tmp/clients.py"
check "a run is resumed with a worker that was mended" resume 2 r worker.run="$command"
check "to the same digest" is_same r
bad differs 4 'describes other clients or weights than that of rank 0' "workers of two ranks that differ"

sed 's/\[40\] \* CLIENTS, valid/[39] * CLIENTS, valid/' "$tmp/clients.py" >"$tmp/changed.py"
tune 1 r run.time_limit=1e-9
resume 1 r worker.run="$python $tmp/changed.py"
[ $? = 4 ] && grep -q '^weft: worker.run = .* is not the data set that .* was begun with' "$tmp/log"
result $? "but not with one that has other clients"

# refused PATTERN STATEMENT COMMAND ARGUMENT...: before the first job.
refused()
{
    command=$3
    tune 2 n "${@:4}"
    refusal $? 2 "$1" "$2"
    [ ! -e "$tmp/n.d" ] && none_left
    result $? "which leaves nothing"
}
refused 'ended with status 0; it printed nothing' "a program that is no worker" true
refused 'ended with status 127, as of a program that is not found; its last lines: .*nosuchprogram' "no program" nosuchprogram
refused 'did not answer within worker.time_limit = 1 s; it printed nothing' "a program that says nothing" 'sleep 1000000' worker.time_limit=1 worker.retries=0
refused 'names no program' "no command line" ''
command="$python $tmp/clients.py"
refused 'fed.cohort = 21, but worker.run = .* has 20 clients' "more clients than there are" "$command" fed.cohort=21
refused 'run.data out' "data of weft's" "$command" run.data="$tmp/x.h5"
cat >"$tmp/given.py" <<END
import json
import weft
first = weft.Turn.answer
def answer(self, **more):
    print("given", json.dumps([self.round, self.client, self.parameters, vars(self.options)], sort_keys=True))
    return first(self, **more)
weft.Turn.answer = answer
exec(open("$tmp/clients.py").read())
END
# given EXPRESSION STATEMENT: of the turns of rounds, as [round, client, parameters, options].
given()
{
    "$python" -c "
import json, sys
turns = [json.loads(line[6:]) for line in open('$tmp/given.txt') if line.startswith('given ')]
turns = [t for t in turns if t[0] >= 0]
sys.exit(not (len(turns) == 10 and ($1)))" 2>"$tmp/log"
    result $? "$2"
}
command="sh -c '$python $tmp/given.py >$tmp/given.txt'" tune 1 n run.tuner=random random.resource=2 space.configs=1 \
    fedex.k=27 parameters.depth='1 .. 3' parameters.kind='a | b per trial' parameters.fixed='"x y"'
result $? "workers are given parameters"
given 'len({t[2]["depth"] for t in turns}) > 1 and {t[2]["depth"] for t in turns} <= {1, 2, 3}' "of which each client has its own"
given 'len({t[2]["kind"] for t in turns}) == 1 and turns[0][2]["kind"] in "ab"' "unless they are said to be per trial"
given '{t[2]["fixed"] for t in turns} == {"x y"}' "and texts"
given 'len({t[3]["lr"] for t in turns}) > 1 and {t[3]["batch"] for t in turns} <= {5, 10, 20} and turns[0][3]["epochs"] == 2' "options are the client's, too"
refused 'parameters.depth.*section|fed.model' "parameters of weft's own networks" "$command" fed.model=linear parameters.depth=3
command="$python $tmp/clients.py"
call tune inputs/worker.ini "worker.run=$command" --plan && grep -q '^rounds *28$' "$tmp/out"
result $? "a plan needs no run"
check "it leaves no worker" none_left

echo "1..$count"
