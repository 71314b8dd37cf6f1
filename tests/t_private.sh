#!/bin/bash
# Runs with section [privacy]: one digest and one ledger on any ranks, teams, stops and kills;
# what the plan says, the run file holds and the report prints; searches of several trainings,
# one that explores first, one that is given more; what has no entry is refused. Prints TAP.
. tests/tap.sh

check "a federation is packed" call pack synthetic federated=stored clients=60 classes=4 -o "$tmp/fed.h5"
cat >"$tmp/in.ini" <<END
[run]
data = $tmp/fed.h5
task = fed
tuner = random
scale = none
test = yes
[space]
configs = 3
[random]
resource = 3
[fed]
cohort = 10
[client]
lr = log 0.01 .. 1
[privacy]
clip = 0.5
noise = 2
score_noise = 8
END
fact() # NAME [RUN.h5]: of a run
{
    "$weft" report "${2:-$tmp/r.h5}" --json 2>>"$tmp/log" | tr '{},' '\n' | sed -n "s/^ *\"$1\": *\"\{0,1\}\([^\"]*\)\"\{0,1\}.*/\1/p" | head -1
}
tune() # RANKS ARGUMENT...
{
    rm -rf "$tmp"/r.*
    on "$1" tune "$tmp/in.ini" "${@:2}" -o "$tmp/r.h5"
}
ledger() # all of it
{
    for name in epsilon epsilon_weights epsilon_scores delta noise score_noise sampling rounds scored evaluations; do
        fact "privacy_$name"
    done | tr '\n' ' '
}
refused() # PATTERN STATEMENT ARGUMENT...
{
    for ranks in 1 2; do
        tune $ranks "${@:3}"
        refusal $? "[1-9]" "$1" "$2, on $ranks ranks"
    done
}

# ---- the same bits, the same ledger -------------------------------------------------------

for how in "" "privacy.sampling=poisson privacy.quantile=0.5 privacy.noise=0.4" "privacy.mechanism=tree"; do
    # shellcheck disable=SC2086
    check "a search: ${how:-as it is}" tune 1 $how
    one=$(digest "$tmp/r.h5") costs=$(ledger)
    [ -n "$one" ] && [ "$(fact privacy_rounds)" = 9 ] && [ "$(fact privacy_evaluations)" = 2 ]
    result $? "has a ledger of three trainings: $costs"
    epsilon=$(sed -n 's/.*planned; epsilon \([0-9.]*\) .*/\1/p' "$tmp/log")
    [ -n "$epsilon" ] && grep -q "has cost epsilon $epsilon at" "$tmp/log" && grep -q "^privacy   epsilon $epsilon at delta" "$tmp/out"
    result $? "of which the log says at the start and at the end, and the report: epsilon $epsilon"
    for ranks in 2 3; do
        # shellcheck disable=SC2086
        tune $ranks $how run.teams=2
        [ "$(digest "$tmp/r.h5")" = "$one" ] && [ "$(ledger)" = "$costs" ]
        result $? "$ranks ranks in two teams have the same digest and ledger"
    done
    # shellcheck disable=SC2086
    tune 2 $how run.time_limit=1e-9
    starts=1
    while [ ! -f "$tmp/r.h5" ] && [ $starts -lt 60 ]; do
        timeout "$net" mpirun -n $((starts % 3 + 1)) "$weft" resume "$tmp/r.h5" >"$tmp/out" 2>"$tmp/log"
        starts=$((starts + 1))
    done
    [ $starts -gt 5 ] && [ "$(digest "$tmp/r.h5")" = "$one" ] && [ "$(ledger)" = "$costs" ]
    result $? "so has one that was stopped after every round, $starts starts"
done
tune 1
one=$(digest "$tmp/r.h5") costs=$(ledger)
rm -rf "$tmp"/r.*
launch 2 0 "job 1" "$weft" tune "$tmp/in.ini" -o "$tmp/r.h5"
process=$(rank 0)
held "$process" && kill -KILL "$process"
wait $run
on 1 resume "$tmp/r.h5"
[ "$(digest "$tmp/r.h5")" = "$one" ] && [ "$(ledger)" = "$costs" ]
result $? "and one that was killed: what is done again is the same release"
call info "$tmp/r.h5"
! grep -q '/clients' "$tmp/out"
result $? "no scores of single clients are in the run file"
call eval "$tmp/r.h5" "$tmp/fed.h5"
[ $? = 0 ] && grep -q 'warning: these scores have no noise' "$tmp/log"
result $? "weft eval says that its scores have no noise"
find_python h5py
if [ "$python" ]; then
    "$python" -c "import h5py, sys
a = h5py.File(sys.argv[1])['/'].attrs
sys.exit(not (a['privacy_rounds'] == 9 and 0 < a['privacy_epsilon_scores'] < a['privacy_epsilon'] and 0 < a['privacy_epsilon_weights'] < a['privacy_epsilon']))" "$tmp/r.h5" >"$tmp/log" 2>&1
    result $? "h5py reads the ledger"
fi

# ---- searches -----------------------------------------------------------------------------

tune 1 run.tuner=one one.resource=30 one.each=2 one.explore=0.5 one.parts=3 fed.select=eval fed.eval_clients=0
[ "$(fact privacy_rounds)" = 30 ] && [ "$(fact privacy_scored)" = 0 ] &&
    [ "$(fact privacy_evaluations)" = $(($(fact jobs) + 2)) ]
result $? "one training that explores first counts the rounds of all branches, and an evaluation a job"
if [ "$python" ]; then # 1.96 * 8 * sqrt(2 * 2) / 60: before and after local training
    "$python" -c "import h5py, sys
bound = h5py.File(sys.argv[1])['events/bound'][:]
sys.exit(not all(abs(bound - 0.52267) < 1e-5))" "$tmp/r.h5" >"$tmp/log" 2>&1
    result $? "the bound of each job is that of the noise of an evaluation"
fi
tune 1 privacy.noise=0 privacy.epsilon=6 privacy.score_noise=20
awk -v epsilon="$(fact privacy_epsilon)" 'BEGIN { exit !(epsilon <= 6 && epsilon > 5.9) }'
result $? "a target for the whole search is met: $(fact privacy_epsilon)"
noise=$(fact privacy_noise)
one=$(digest "$tmp/r.h5")
tune 1 privacy.noise="$noise" privacy.score_noise=20
check "with the bits of the noise that was solved for, $noise" [ "$(digest "$tmp/r.h5")" = "$one" ]
tune 1 space.configs=1 client.lr=0.1 random.resource=9
one=$(digest "$tmp/r.h5") costs=$(ledger)
tune 1 space.configs=1 client.lr=0.1
call resume "$tmp/r.h5" random.resource=9
[ "$(digest "$tmp/r.h5")" = "$one" ] && [ "$(ledger)" = "$costs" ]
result $? "a run that is given more is as one that was so long, and costs as much"
tune 1 space.configs=1 client.lr=0.1 privacy.noise=0 privacy.epsilon=6
call resume "$tmp/r.h5" random.resource=9
[ $? != 0 ] && grep -q '^weft: .*given more; give privacy.noise' "$tmp/log"
result $? "not where its noise was solved for what was planned"
tune 1 privacy.clip=0 && grep -q 'warning: privacy.clip = 0: the run has no privacy' "$tmp/log" && ! grep -q "^privacy" "$tmp/out"
result $? "without a clip there is no privacy, and the log says so"
call tune "$tmp/in.ini" --plan && grep -q 'privacy: 9 rounds of all trainings' "$tmp/log"
result $? "--plan says what it costs"
tune 1 fed.average=weighted && grep -q 'warning: fed.average = weighted has no effect' "$tmp/log"
result $? "weights of clients are said to have no effect"

# ---- what has no entry --------------------------------------------------------------------

refused 'run.scale = none' "columns scaled by all clients" run.scale=auto
refused 'run.mixing = none' "a mixture" run.mixing=fedex
refused 'run.tuner' "shared weights" run.tuner=ws_one
refused 'class_weights' "weights of classes" run.class_weights=balanced
refused 'fedavg' "further sums" fed.algorithm=scaffold
refused 'fed.new_clients' "clients kept out" fed.new_clients=0.2
refused 'fed.replacement' "clients drawn twice" fed.replacement=yes
refused 'device.over' "over-selection" device.over=1.3
refused 'run.memory|privacy.score_noise' "a target that scores exceed" privacy.noise=0 privacy.epsilon=0.1 privacy.score_noise=1
echo "1..$count"
