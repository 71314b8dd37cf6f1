#!/bin/bash
# What is divided by time is divided by the time of all starts of a run, and by the teams that
# each had: of jobs that go on in another start, and of starts with other teams. Prints TAP.
. tests/tap.sh

start() # STATUS STATEMENT RANKS ARGUMENT...: adds its seconds to $spent
{
    local status=$1 statement=$2 ranks=$3 began=$EPOCHREALTIME
    shift 3
    if [ "$ranks" = 1 ]; then "$weft" "$@"; else timeout 100 mpirun -n "$ranks" "$weft" "$@"; fi >"$tmp/out" 2>"$tmp/log"
    local found=$?
    spent=$(awk "BEGIN { print ${spent:-0} + $EPOCHREALTIME - $began }")
    [ $found = "$status" ]
    result $? "$statement"
}
number() # RUN NAME: of the report
{
    "$weft" report --json "$1" 2>>"$tmp/log" | sed -n "s/.*\"$2\": \([-+.0-9e]*\).*/\1/p" | head -1
}
within() # LEAST X MOST STATEMENT
{
    awk "BEGIN { exit !(\"$2\" != \"\" && $1 <= $2 + 0 && $2 + 0 <= $3) }"
    result $? "$4: $1 <= $2 <= $3"
}
# ---- a job that takes several starts ---------------------------------------------------------

"$weft" pack synthetic federated=stored clients=50 samples=40 spread=0 d=200 -o "$tmp/c.h5" >"$tmp/log" 2>&1
result $? "clients are packed"
cat >"$tmp/fed.ini" <<END
[run]
data = $tmp/c.h5
task = fed
tuner = random
time_limit = 1
[space]
configs = 1
[fed]
model = linear
cohort = 10
[client]
lr = log 0.01 .. 0.1
[random]
resource = 1000000
END
start 75 "a job is stopped" 1 tune "$tmp/fed.ini" -o "$tmp/first.h5"
rounds=$(sed -n 's/.* and \([0-9]*\) of [0-9]* rounds .*/\1/p' "$tmp/log")
long=$((rounds * 8 / 5)) # rounds of 1.6 starts
spent=0
start 75 "two jobs, the first of which is stopped" 1 tune "$tmp/fed.ini" space.configs=2 random.resource=$long -o "$tmp/f.h5"
start 75 "and the second" 1 resume "$tmp/f.h5" run.time_limit=1.2
grep -q 'after 1 jobs and [0-9]* of' "$tmp/log"
result $? "after the first was done"
rate=$(sed -n 's/.* \([0-9.e+-]*\) jobs\/s, .*/\1/p' "$tmp/log")
within 0.2 "$rate" 1.2 "its rate counts what this start did of it"
busy=$(number "$tmp/f.h5" team_utilisation)
within 0.5 "$busy" 1.0001 "the share of all starts that the team was busy, of an unfinished run"
start 0 "both end" 1 resume "$tmp/f.h5" run.time_limit=0
within 0.5 "$(number "$tmp/f.h5" team_utilisation)" 1.0001 "of a finished run"
within 1.8 "$(number "$tmp/f.h5" search_seconds)" "$spent" "the search took the time of all starts"
within 1.8 "$(number "$tmp/f.h5" seconds)" "$spent" "and so did the run"
grep -q '^where .*over 1 ranks, of the last of 3 starts$' "$tmp/out"
result $? "the table of times is that of the last start, and says so"

# ---- starts with other teams -----------------------------------------------------------------

cat >"$tmp/in.ini" <<END
[run]
task = command
tuner = random
[command]
run = sleep 0.2; echo loss=\$PARAM_x
[parameters]
x = 0 .. 1.5
[space]
configs = 24
END
spent=0
start 75 "four teams are stopped" 4 tune "$tmp/in.ini" run.teams=4 run.time_limit=1 -o "$tmp/t.h5"
start 75 "and one of two ranks" 2 resume "$tmp/t.h5" run.teams=1 run.time_limit=1
within 0.3 "$(number "$tmp/t.h5" team_utilisation)" 1.0001 "their shares, of an unfinished run"
"$weft" report "$tmp/t.h5" 2>>"$tmp/log" | grep -q '; 1 team of ranks, 4 at most, [0-9.]* % busy$'
result $? "which says what teams there were"
start 0 "two teams do the rest" 2 resume "$tmp/t.h5" run.teams=2 run.time_limit=0
within 0.5 "$(number "$tmp/t.h5" team_utilisation)" 1.0001 "of a finished run"
grep -q '; 2 teams of ranks, 4 at most, [0-9.]* % busy$' "$tmp/out"
result $? "which says so, too"
echo "1..$count"
