#!/bin/bash
# Several objectives and limits: a program and a federation, the same bits on any ranks, teams,
# stops and kills; what is refused; what the report and the run file tell.
# RUN: np=1
. tests/tap.sh
set -u

cat >"$tmp/p.sh" <<'P'
awk -v x="$PARAM_x" -v y="$PARAM_y" -v d="$WEFT_TOTAL" \
    'BEGIN { printf "loss=%.12g size=%.12g gain=%.12g\n", x * x + y / d, (x - 2) ^ 2 + y, -y }'
P
cat >"$tmp/p.ini" <<P
[run]
task = command
tuner = asha
sampler = tpe
workers = 3
objectives = loss, size, -gain
limits = size <= 5
[command]
run = sh $tmp/p.sh
[parameters]
x = -1 .. 3.0
y = 0 .. 1.0
[space]
configs = 14
[tpe]
startup = 4
[asha]
max_resource = 4
reduction = 2
P
cat >"$tmp/f.ini" <<P
[run]
task = fed
data = $tmp/f.h5
tuner = sha
workers = 3
objectives = loss, seconds, bytes
limits = valid_loss <= 2.2
[fed]
cohort = 3
select = eval
eval_clients = 0
[client]
lr = log 1e-3 .. 1
epochs = 1 .. 3
[device]
sample_seconds = 0.01
[space]
configs = 6
[sha]
eliminations = 1
reduction = 2
max_resource = 6
P
"$weft" pack synthetic images rows=400 clients=8 partition=dirichlet alpha=1 -o "$tmp/f.h5" 2>"$tmp/log"
cat >"$tmp/g.ini" <<P
[run]
data = $tmp/g.h5
task = sgd
tuner = random
objectives = loss, model_bytes
[random]
resource = 1
[sgd]
model = txtcnn
dim = 4
[txtcnn]
groups = 1
k1 = 3
hidden = 0
f1 = 2 | 5 | 7
[space]
source = grid
P
call pack synthetic documents rows=60 classes=2 words=12 -o "$tmp/g.h5"
tune() # INI RANKS ARGUMENTS: the run r.h5, from its start to its end
{
    rm -rf "$tmp"/r.*
    on "$2" tune "$1" "${@:3}" -o "$tmp/r.h5"
}
front() { # of r.h5: its digest, the front, volumes and limits
    "$weft" report "$tmp/r.h5" 2>>"$tmp/log" | sed -n '/^front /,/^$/p;/^digest/p'
}
for of in p f; do
    tune "$tmp/$of.ini" 1
    front >"$tmp/$of.front"
    grep -q '^digest' "$tmp/$of.front" && [ "$(grep -c '^[0-9]' "$tmp/$of.front")" -gt 1 ]
    result $? "$of: a front of several trials"
    grep -Eq '^volume +[0-9.e+-]+ after [0-9]+, .* trials; up to the worst within the limits, loss [0-9.e+-]+ [a-z]+ [0-9.e+-]+' "$tmp/$of.front"
    result $? "$of: its volume has a corner"
    tune "$tmp/$of.ini" 2
    front | cmp -s - "$tmp/$of.front"
    result $? "$of: the same on two ranks"
    tune "$tmp/$of.ini" 2 run.teams=2
    front | cmp -s - "$tmp/$of.front"
    result $? "$of: and in two teams"
    if [ $of = f ]; then # the limit may end a program before it has ended
        tune "$tmp/$of.ini" 1 run.time_limit=1e-9
        stops=0
        while [ ! -e "$tmp/r.h5" ] && [ $stops -lt 60 ]; do
            call resume "$tmp/r.h5"
            stops=$((stops + 1))
        done
        [ $stops -gt 3 ] && front | cmp -s - "$tmp/$of.front"
        result $? "$of: after $stops stops"
    fi
    rm -rf "$tmp"/r.*
    launch 1 0 "job 5 of" "$weft" tune "$tmp/$of.ini" -o "$tmp/r.h5"
    held "$(rank 0)" && kill -9 "$(rank 0)"
    wait $run 2>/dev/null
    [ ! -e "$tmp/r.h5" ] && "$weft" report "$tmp/r.h5" | grep -q '^front'
    result $? "$of: a killed run has a front"
    call resume "$tmp/r.h5"
    front | cmp -s - "$tmp/$of.front"
    result $? "$of: and goes on to the same"
done

for ranks in 1 2; do
    tune "$tmp/p.ini" $ranks run.sampler=gp gp.design=4
    front >"$tmp/gp.$ranks"
done
[ -s "$tmp/gp.1" ] && cmp -s "$tmp/gp.1" "$tmp/gp.2"
result $? "sampler gp learns from several objectives, the same on 1 and 2 ranks"

for tuner in random sha hyperband; do
    tune "$tmp/p.ini" 1 run.tuner=$tuner run.sampler=space \
        $([ $tuner = hyperband ] || echo space.configs=8) \
        $([ $tuner = random ] || echo $tuner.max_resource=4)
    result $? "tuner $tuner ranks by fronts"
done
tune "$tmp/p.ini" 1 run.tuner=pbt run.objectives= run.sampler=space pbt.population=4 pbt.max_resource=4 \
    pbt.interval=2
grep -q '^limits .* within' <("$weft" report "$tmp/r.h5") && ! grep -q '^front' <("$weft" report "$tmp/r.h5")
result $? "limits alone go with any tuner"
tune "$tmp/p.ini" 1 'run.limits=size <= 0.001' space.configs=4
grep -q '^none: no trial is within' <("$weft" report "$tmp/r.h5") && grep -q '^winner    [0-9]' <("$weft" report "$tmp/r.h5")
result $? "where no trial is within the limits the nearest wins"
tune "$tmp/p.ini" 1 run.clock=wall 'run.objectives=loss, seconds' run.limits= space.configs=3
"$weft" report "$tmp/r.h5" | grep -q '^front.*seconds'
result $? "real seconds count by the wall clock"

# ---- what is known before, and what it is told as ------------------------------------------

plain() { # RUN ARGUMENTS: one trial after the other
    sed '/^\[asha\]/,$d;s/^tuner.*/tuner = random/;s/^workers.*/workers = 1/' "$tmp/p.ini" >"$tmp/plain.ini"
    rm -rf "$tmp/$1".*
    call tune "$tmp/plain.ini" "${@:2}" -o "$tmp/$1.h5"
}
last() { # RUN: the last of its trials, its values and objectives
    "$weft" report "$tmp/$1.h5" --trials --json | grep -E '"(parameters|size|gain|excess)' | tail -n 5
}
plain older space.configs=20 && plain longer space.configs=21 &&
    plain next space.configs=21 random.only=20 space.prior="$tmp/older.h5"
result $? "a search is told of one with the same objectives"
[ "$(last longer | wc -l)" = 5 ] && [ "$(last next)" = "$(last longer)" ]
result $? "and goes on as that would"
plain bare space.configs=20 run.limits= && plain next space.configs=21 random.only=20 space.prior="$tmp/bare.h5" \
    run.limits='size <= 5'
result $? "also of one without the limits"
plain free space.configs=20 run.limits= 'run.objectives=loss, size, -gain' && plain one run.objectives= run.limits='loss <= 1' \
    space.configs=2 space.prior="$tmp/free.h5" && "$weft" report "$tmp/one.h5" --trials --json | grep -m 1 '"excess"' | grep -q ': 0'
result $? "of limits alone a trial within them comes first"
plain without space.configs=6 run.objectives= run.limits=
plain wide space.configs=6 'run.objectives=loss, size' run.limits=

refused() # PATTERN ARGUMENTS...
{
    refuses "[1-9]" "$1" "refused: $1" call tune "${@:2}" -o "$tmp/no.h5"
}
refused 'run.tuner = pbt.*one; use random' "$tmp/p.ini" run.tuner=pbt run.sampler=space
refused 'run.sampler = kde.*one; use' "$tmp/p.ini" run.sampler=kde
refused 'begins with .loss' "$tmp/p.ini" run.objectives=size,loss
refused 'measures no megabytes; expected one of loss, seconds' "$tmp/f.ini" run.objectives=loss,megabytes
refused 'without.h5 has not measured size' "$tmp/plain.ini" space.prior="$tmp/without.h5"
refused 'wide.h5 has not measured gain' "$tmp/plain.ini" space.prior="$tmp/wide.h5"
refused 'a trial does not have them all' "$tmp/plain.ini" 'space.prior=x=1 y=0 loss=1'
refused 'measures no epsilon; expected one of loss' "$tmp/g.ini" run.objectives=loss,epsilon
refused 'nothing is protected here; give privacy.clip' "$tmp/f.ini" run.objectives=loss,epsilon
refused '<= or >=' "$tmp/p.ini" 'run.limits=size < 3'
refused 'job [0-9]*: it told no personal_loss' "$tmp/f.ini" run.objectives=loss,personal_loss \
    fed.score_weights=global
tune "$tmp/p.ini" 1 run.objectives=loss,width space.configs=4
grep -q 'it told no width, which run.objectives' "$tmp/log" && grep -q 'none:' <("$weft" report "$tmp/r.h5")
result $? "a program that does not tell an objective has failed, and it is said"
cat >"$tmp/m.py" <<'P'
import weft


def pair(t):
    return t.values["x"] ** 2, t.values["c"](t.values["x"])


def named(t):
    return {"loss": t.values["x"] ** 2, "gain": -t.values["c"](t.values["x"]), "more": 1}


space = {"x": (-1.0, 3.0), "c": [lambda x: (x - 2) ** 2, lambda x: (x - 2) ** 2 + 3]}
fronts = []
for f, objectives in (pair, ["loss", "size"]), (named, ["loss", "-gain"]):
    for workers in 1, 2:
        best = weft.minimize(f, space, sampler="tpe", trials=20, workers=workers, objectives=objectives,
                             limits=["loss <= 3"])
        name = objectives[1].strip("-")
        front = sorted((one["loss"], abs(one[name]), one["values"]["x"], one["trial"]) for one in best.front)
        assert len(front) > 2 and all(x[0] <= 3 and abs(x[0] - x[2] ** 2) < 1e-12 for x in front), front
        assert all(a[1] > b[1] for a, b in zip(front, front[1:])), front
        assert all(callable(one["values"]["c"]) for one in best.front)
        fronts.append(front)
assert all(f == fronts[0] for f in fronts), fronts
assert best.loss == fronts[0][0][0]
try:
    weft.minimize(lambda t: (1, 2, 3), space, trials=2, objectives=["loss", "size"])
    assert 0
except weft.Error as e:
    assert "returned (1, 2, 3): expected a tuple of loss, size" in str(e), e
try:
    weft.minimize(pair, space, trials=2, objectives=["loss", "size"], sampler="kde")
    assert 0
except weft.Error as e:
    assert "kde" in str(e) and "objectives" in str(e), e
P
PYTHONPATH=python python3 "$tmp/m.py" >"$tmp/out" 2>"$tmp/log"
result $? "weft.minimize has the same front in one process and in two, of tuples and dictionaries"
# ---- privacy and size of models --------------------------------------------------------------

sed -i '/^\[device\]/,/^sample/d;s/^cohort.*/cohort = 8/' "$tmp/f.ini"
cat >>"$tmp/f.ini" <<P
[privacy]
clip = 1
noise = 3
score_noise = 7
delta = 1e-5
sampling = poisson
P
find_python "numpy, h5py"
if [ "$python" ]; then
    tune "$tmp/f.ini" 1 'run.objectives=loss, epsilon, model_bytes' 'run.limits=epsilon <= 3'
    result $? "a search goes by what privacy costs"
    "$python" - "$tmp/r.h5" <<'P' >"$tmp/out" 2>&1
import math, sys
import h5py
f = h5py.File(sys.argv[1])
e, o, won = f["events"], f["objectives"], f["winner"]
tensors = list(won["state"].values())
assert set(o["model_bytes"][:]) == {4.0 * sum(t.size for t in tensors)} and len(tensors) > 1, list(tensors)
cdf = lambda z: math.erfc(-z / math.sqrt(2)) / 2
for i, trial in enumerate(e["trial"][:]):
    # all clients take part: T rounds of noise 3 and j evaluations of noise 7 are one release of noise 1 / mu
    own = (e["trial"][:] == trial) & (e["job"][:] <= e["job"][i])
    mu = math.sqrt(e["resource"][i] / 3 ** 2 + own.sum() / 7 ** 2)
    lo, hi = 0, 50
    while hi - lo > 1e-9:  # delta of epsilon: Balle and Wang, ICML 2018
        x = (lo + hi) / 2
        lo, hi = (x, hi) if cdf(mu / 2 - x / mu) - math.exp(x) * cdf(-mu / 2 - x / mu) > 1e-5 else (lo, x)
    assert abs(o["epsilon"][i] / hi - 1) < 2e-3, (i, o["epsilon"][i], hi)
    assert abs(o["excess"][i] - max(0, o["epsilon"][i] / 3 - 1)) < 1e-12
assert len(set(e["resource"][:])) > 1
P
    result $? "epsilons are those of Gaussian mechanisms, bytes those of the winner's tensors"
else
    result 0 "SKIP there is no Python with NumPy and h5py"
fi
tune "$tmp/g.ini" 1
# of f filters of 3 words of 4 numbers: weights and biases, f weights and a bias of the one output
"$weft" report "$tmp/r.h5" --trials --json | awk -F '[:,]' '/model_bytes/ { has = $2 }
    /txtcnn.f1/ { n++; wrong += has != 4 * ($2 * (12 + 1 + 1) + 1) } END { exit n != 3 || wrong > 0 }'
result $? "a network of more filters is larger, by their weights"

find_python "numpy, h5py, pandas"
if [ "$python" ]; then
    tune "$tmp/p.ini" 1
    PYTHONPATH=python "$python" - "$tmp/r.h5" <<'P' >"$tmp/out" 2>&1
import sys
import weft
run = weft.read(sys.argv[1])
all, front = run.trials, run.front
names = ["loss", "size", "gain"]
x = all[all.excess == 0][names].to_numpy() * [1, 1, -1]
best = [not ((x <= row).all(axis=1) & (x < row).any(axis=1)).any() for row in x]
assert sorted(front.trial) == sorted(all[all.excess == 0].trial[best]), (front, all)
assert (front.loss.diff().dropna() >= 0).all() and len(front) > 1 and (all.excess > 0).any()
P
    result $? "weft.read has the front"
    for format in json csv; do "$weft" report "$tmp/r.h5" "$tmp/without.h5" --trials --$format >"$tmp/$format"; done
    PYTHONPATH=python "$python" - "$tmp/r.h5" "$tmp/json" "$tmp/csv" <<'P' >"$tmp/out" 2>&1
import csv, json, sys
import weft
told, run = json.load(open(sys.argv[2])), weft.read(sys.argv[1]).trials
lines = list(csv.DictReader(open(sys.argv[3], newline="")))
assert len(told) == len(lines) == len(run) + 6
for row, line, (_, have) in zip(told, lines, run.iterrows()):
    assert all(row[name] == have[name] == float(line[name]) for name in ("loss", "size", "gain", "excess")), (row, have)
    assert row["front"] is bool(have["front"]) and line["front"] == str(row["front"]).lower(), (row, line)
assert all(row["front"] is row["excess"] is None and line["front"] == "" for row, line in zip(told[-6:], lines[-6:]))
P
    result $? "and so have CSV and JSON of trials, with empty cells of a run without objectives"
else
    result 0 "SKIP there is no Python with NumPy, h5py and pandas"
fi
echo "1..$count"
