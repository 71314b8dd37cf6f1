#!/bin/bash
# A plan states how many jobs can run at the same time and the utilisation of teams: against
# values by hand. Prints TAP.
. tests/tap.sh

plan() # PATTERN STATEMENT SETTING...
{
    call tune "$tmp/in.ini" --plan "${@:3}" && grep -Eq -- "^jobs at once +$1" "$tmp/out"
    result $? "$2"
}
cat >"$tmp/in.ini" <<END
[run]
task = command
[space]
configs = 9
[command]
run = true
[parameters]
rate = 0 .. 1
END
plan '9 at most; at work: 2 teams 90 %, 4 teams 75 %, 8 teams 56 %$' "nine equal jobs: 9 / 10, 9 / 12, 9 / 16" run.tuner=random
# 9 jobs of 1, 3 of 2, 1 of 6: in all 21, by two teams in 5 + 4 + 6, by four in 3 + 2 + 6.
plan '9 at most; at work: 2 teams 70 %, 4 teams 48 %$' "rungs wait for each other: 21 / 30, 21 / 44" \
    run.tuner=sha sha.rungs=geometric sha.max_resource=9
started() # NUMBER STATEMENT SETTING...: the plan, and a run, have so many configurations
{
    call tune "$tmp/in.ini" --plan "${@:3}" && grep -q "^configurations  *$1[, ]" "$tmp/out"
    result $? "$2: the plan says how many configurations start"
    # shellcheck disable=SC2016
    call tune "$tmp/in.ini" 'command.run=echo loss=$PARAM_rate' "${@:3}" -o "$tmp/n.h5" --force &&
        grep -q " $1 configurations, " "$tmp/out"
    result $? "and so does the report of the run"
}
started 9 "a sweep" run.tuner=random
started 1 "one configuration of it" run.tuner=random random.only=3
started 9 "halving" run.tuner=sha sha.rungs=geometric sha.max_resource=9
started 17 "hyperband, brackets of 9, 5 and 3" run.tuner=hyperband hyperband.max_resource=9
started 34 "hyperband, twice" run.tuner=hyperband hyperband.max_resource=9 hyperband.repeats=2
started 5 "asynchronous halving" run.tuner=asha asha.trials=5 asha.reduction=2 asha.max_resource=2
started 4 "a population" run.tuner=pbt pbt.population=4 pbt.max_resource=20
# Brackets of 9, 3, 1; 5, 1; 3 jobs.
plan '8 at most' "hyperband's brackets" run.tuner=hyperband hyperband.max_resource=9 run.workers=8 && grep -q '^jobs  *22,' "$tmp/out"
result $? "have 22 jobs"
plan '8 at most' "three times over" run.tuner=hyperband hyperband.max_resource=9 hyperband.repeats=3 run.workers=8 &&
    grep -q '^jobs  *66,' "$tmp/out" && grep -q '^resource  *207 ' "$tmp/out"
result $? "three times as many, of three times the resource"
plan '3 at most .run.workers = 3.; at work: 2 teams' "workers bound the jobs in flight" \
    run.tuner=asha asha.reduction=2 asha.max_resource=4 run.workers=3
plan '1 at most .run.workers = 1.$' "one worker has one" run.tuner=asha asha.max_resource=4 run.workers=1
grep -q '^  parameters.rate = 0 .. 1, whole$' "$tmp/out" && "$weft" tune "$tmp/in.ini" --plan 'parameters.rate=0.0 .. 1' |
    grep -q '^  parameters.rate = 0 .. 1$'
result $? "axes of whole numbers are marked"
call tune "$tmp/in.ini" run.tuner=random space.configs=2 parameters.rate=1 run.sampler=tpe 'command.run=echo loss=1' \
    -o "$tmp/alike.h5" && [ "$(grep -c 'warning: run.sampler = tpe has nothing to choose' "$tmp/log")" = 1 ]
result $? "a sampler without any range is warned of, once"
# Without promotions, of jobs of 1 by three workers: two teams must have told the first before the
# fourth is asked, so each has work until the ninth job.
plan '3 at most .run.workers = 3.; at work: 2 teams 90 %$' "workers who ask again: 9 / 10" \
    run.tuner=asha asha.max_resource=1 run.workers=3
plan '3 at most .run.workers = 3.; at work: 2 teams 90 %$' "also by the wall clock" \
    run.tuner=asha asha.max_resource=1 run.workers=3 run.clock=wall
on 3 tune "$tmp/in.ini" run.teams=3 run.tuner=asha asha.max_resource=1 run.workers=2 --plan
grep -q '; of run.teams = 3 more than 2 would idle$' "$tmp/out"
result $? "teams that would idle are told"
on 3 tune "$tmp/in.ini" run.teams=3 run.tuner=asha asha.max_resource=1 run.workers=2 \
    'command.run=echo loss=1' -o "$tmp/r.h5"
grep -q 'run.workers = 2: no more jobs than that are in flight, and the other teams idle' "$tmp/log"
result $? "also at the start of a run"
call tune "$tmp/in.ini" run.tuner=asha space.configs=3 'command.run=echo loss=1' -o "$tmp/few.h5" &&
    grep -q 'warning: asha: of 3 trials, fewer than asha.reduction = 4, none is promoted: all but the winner end at 1 of .* 256$' "$tmp/log"
result $? "fewer trials than a promotion needs are told"
[ "$(grep -o 'job [1-4] of [0-9]*:' "$tmp/log" | sort -u | tr '\n' ' ')" = "job 1 of 4: job 2 of 4: job 3 of 4: job 4 of 4: " ]
result $? "there is one job more, of the winner"
call tune "$tmp/in.ini" run.tuner=asha space.configs=4 --plan && ! grep -q 'none is promoted' "$tmp/log"
result $? "as many trials as a promotion needs are not"
# The first eight jobs have a round each, which is too little to measure.
"$weft" pack synthetic federated=stored clients=30 -o "$tmp/clients.h5" >"$tmp/out" 2>&1
cat >"$tmp/fed.ini" <<END
[run]
task = fed
tuner = hyperband
data = $tmp/clients.h5
[client]
lr = log 0.001 .. 1
END
call tune "$tmp/fed.ini" --plan &&
    awk '$1 == "rounds" { all = $2 } $1 == "tried" { n = $2 } END { exit !(n > 8 && n <= all) }' "$tmp/out"
result $? "short jobs are tried for longer than their first rung"
# 5 jobs of 20 rounds of 10 clients: a linear network of 60 numbers and C classes takes 4 x 60 C
# operations a sample that it trains on, a third of it for one that it scores, and sends
# 61 C weights of 8 bytes.
mean() # PART: samples of a client; classes: of all
{
    "$weft" info "$tmp/clients.h5" 2>>"$tmp/log" | awk -v part="$1" '$1 == part { print $3 } part == "classes" && /classes$/ { print $(NF - 1) }'
}
for teams in 1 2; do
    on 2 tune "$tmp/fed.ini" --plan run.teams=$teams run.tuner=random space.configs=5 \
        random.resource=20 &&
        awk -v train="$(mean train)" -v valid="$(mean valid)" -v classes="$(mean classes)" -v teams=$teams '
        function near(x, y, by) { return y * (1 - by) <= x && x <= y * (1 + by) }
        $1 == "jobs" && $2 != "at" { good += $2 + 0 == 5 && $5 == 5 }
        $1 == "rounds" { good += $2 == 100 }
        $1 == "operations" { all = $2; good += near(all, 100 * 10 * 4 * 60 * classes * (train + valid / 3), 0.01) }
        $1 == "communicated" { good += near($2 * 1e9, teams == 1 ? 100 * 8 * 61 * classes * 2 : 0, 0.01) }
        $1 == "tried" {
            rate = 2e9 * $(NF - 3)
            good += near(rate * $(NF - 5), teams * all * $2 / 100, $(NF - 5) > 0.02 ? 0.3 : 1)
        }
        $1 == "expected" { good += near($3 * ($4 == "s" ? 1 : $4 == "minutes" ? 60 : 3600), all / rate, 0.01) }
        END { exit good != 6 }' "$tmp/out"
    result $? "jobs, rounds, operations, bytes, rate and time of a plan are those by hand, teams: $teams"
done
# A column of large numbers, which no rate above the smallest ones can learn.
awk 'BEGIN { for (i = 0; i < 40; i++) print i % 2 * 1e9 "," i % 3 "," i % 2 }' >"$tmp/large.csv"
"$weft" pack dense "$tmp/large.csv" clients=4 -o "$tmp/large.h5" >"$tmp/out" 2>&1
call tune "$tmp/fed.ini" run.data="$tmp/large.h5" run.scale=none fed.cohort=2 run.tuner=random client.lr=0.1 random.resource=1 \
    -o "$tmp/large-run.h5" && grep -q 'numbers of the data too large' "$tmp/log"
result $? "clients that diverge may have data on another scale"
awk 'BEGIN { for (i = 0; i < 200; i++) print i % 7 "," i * 3 % 11 "," i % 2 }' >"$tmp/small.csv"
call pack dense "$tmp/small.csv" -o "$tmp/small.h5"
small="run.data=$tmp/small.h5 run.task=sgd run.tuner=random space.configs=4 random.resource=30 train.batch=2 sgd.parts=2"
: >"$tmp/none.ini"
# shellcheck disable=SC2086
on 2 tune "$tmp/none.ini" $small --plan &&
    grep -Eq '^one rank alone    [0-9.e-]+ s: faster than 2 ranks, of whose time [0-9]+ % is waiting and communication$' "$tmp/out"
result $? "a plan for two ranks says that one is faster, where data are few"
# shellcheck disable=SC2086
call tune "$tmp/none.ini" $small --plan && ! grep -q 'one rank alone' "$tmp/out"
result $? "a plan for one rank does not"
echo "1..$count"
