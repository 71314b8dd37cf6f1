#!/bin/bash
# What is divided by time is divided by the time of all starts of a run, and by the teams that
# each had: of jobs that go on in another start, and of starts with other teams. Prints TAP.
. tests/tap.sh

start() # STATUS STATEMENT RANKS ARGUMENT...: adds its seconds to $spent
{
    local status=$1 statement=$2 ranks=$3 began=$EPOCHREALTIME
    shift 3
    local launch=(timeout "$net" mpirun -n "$ranks")
    [ "$ranks" -gt 1 ] || launch=()
    rm -f "$tmp/pids"
    # shellcheck disable=SC2016
    "${launch[@]}" sh -c 'echo $$ >>"$0"; exec "$@"' "$tmp/pids" "$weft" "$@" >"$tmp/out" 2>"$tmp/log"
    local found=$?
    spent=$(awk "BEGIN { print ${spent:-0} + $EPOCHREALTIME - $began }")
    check "$statement" [ $found = "$status" ]
}
number() # NAME: of the report in $tmp/json
{
    sed -n "s/.*\"$1\": \([-+.0-9e]*\).*/\1/p" "$tmp/json" | head -1
}
# shares RUN TEAM_SECONDS STATEMENT: jobs took the seconds of all their rounds, those of earlier
# starts too, and the team was busy for these of all the seconds that it had; without them, of
# the search.
shares()
{
    "$weft" report --json "$1" >"$tmp/json" 2>>"$tmp/log"
    awk -v of="${2:-$(number search_seconds)}" -v search="$(number search_seconds)" -v spent="$spent" \
        -v busy="$(number team_utilisation)" -v whole="$(number seconds)" '
        /"jobs_done"/ { job = 1 }
        job && /"seconds"/ { gsub(/[^-+.0-9e]/, "", $2); took += $2 }
        function near(x, y) { return x > 0.999 * y && x < 1.001 * y }
        END {
            printf "%g s of jobs, %g s of teams, %g busy, %g s of %g\n", took, of, busy, search, spent
            exit !(took > 0 && near(busy * of, took) && busy < 1.001 && search < spent &&
                (whole == "" || (whole > search && whole < spent)))
        }' "$tmp/json" >"$tmp/out"
    result $? "$3"
}
# ---- a job that takes several starts ---------------------------------------------------------

check "clients are packed" call pack synthetic federated=stored clients=50 samples=40 spread=0 d=200 -o "$tmp/c.h5"
cat >"$tmp/fed.ini" <<END
[run]
data = $tmp/c.h5
task = fed
tuner = random
time_limit = 1e-9
[space]
configs = 2
[fed]
model = linear
cohort = 10
[client]
lr = log 0.01 .. 0.1
epochs = 50
[random]
resource = 4
END
# Under such a limit each start does one round.
spent=0
start 75 "two jobs of four rounds, of which a start does one" 1 tune "$tmp/fed.ini" -o "$tmp/f.h5"
start 75 "the next another" 1 resume "$tmp/f.h5"
start 75 "and one more" 1 resume "$tmp/f.h5"
check "these are three of the first job" grep -q 'after 0 jobs and 3 of 4 rounds' "$tmp/log"
start 75 "one ends it" 1 resume "$tmp/f.h5"
check "and is stopped before the second" grep -q 'after 1 jobs; go on' "$tmp/log"
cp "$tmp/log" "$tmp/first"
start 75 "the second is begun" 1 resume "$tmp/f.h5"
check "and stopped" grep -q 'after 1 jobs and 1 of 4 rounds' "$tmp/log"
shares "$tmp/f.h5" "" "the share of all starts that the team was busy, of an unfinished run"
rate=$(sed -n 's/.* \([0-9.e+-]*\) jobs\/s, .*/\1/p' "$tmp/first")
# A start that did the share of a job that is its share of the seconds ends one in all its seconds.
awk -v rate="$rate" -v took="$(sed '1,/jobs_done/d' "$tmp/json" | sed -n 's/.*"seconds": \([0-9.e+-]*\).*/\1/p')" \
    'BEGIN { print rate, "jobs/s, of one that took", took, "s"; exit !(rate > 0 && rate * took < 1.006) }' >"$tmp/out"
result $? "the rate of a start counts what it did of a job"
start 0 "both end" 1 resume "$tmp/f.h5" run.time_limit=0
grep -q '^where .*over 1 ranks, of the last of 6 starts$' "$tmp/out"
result $? "the table of times is that of the last start, and says so"
rounds=$(sed -n 's/^rounds *8 in \([0-9.]*\) s: .*/\1/p' "$tmp/out")
shares "$tmp/f.h5" "" "of a finished run, whose search and whole took less than all starts"
awk -v rounds="$rounds" '{ exit !(rounds > 0 && $1 > rounds - 0.01) }' "$tmp/out"
result $? "a job took at least the $rounds s of its rounds in all starts"

# ---- starts with other teams -----------------------------------------------------------------

cat >"$tmp/in.ini" <<END
[run]
task = command
tuner = random
[command]
run = [ \$WEFT_JOB != \$(cat $tmp/last) ] || kill -TERM \$(cat $tmp/pids); sleep 0.2; echo loss=\$PARAM_x
[parameters]
x = 0 .. 1.5
[space]
configs = 12
END
team_seconds() # TEAMS: adds those of the last start to $all; $before is where it began
{
    "$weft" report --json "$tmp/t.h5" >"$tmp/json" 2>>"$tmp/log"
    all=$(awk -v now="$(number search_seconds)" "BEGIN { print ${all:-0} + $1 * (now - ${before:-0}) }")
    before=$(number search_seconds)
}
spent=0
echo 4 >"$tmp/last" # the job that stops the start
start 75 "four teams are stopped" 4 tune "$tmp/in.ini" run.teams=4 -o "$tmp/t.h5"
team_seconds 4
echo 8 >"$tmp/last"
start 75 "and one of two ranks" 2 resume "$tmp/t.h5" run.teams=1
team_seconds 1
shares "$tmp/t.h5" "$all" "their shares, of an unfinished run"
"$weft" report "$tmp/t.h5" 2>>"$tmp/log" | grep -q '; 1 team of ranks, 4 at most, [0-9.]* % busy$'
result $? "which says what teams there were"
echo none >"$tmp/last"
start 0 "two teams do the rest" 2 resume "$tmp/t.h5" run.teams=2
check "it says so, too" grep -q '; 2 teams of ranks, 4 at most, [0-9.]* % busy$' "$tmp/out"
team_seconds 2
shares "$tmp/t.h5" "$all" "of a finished run"

# A stop counts the jobs of all teams, and the next start finds as many.
cat >"$tmp/count.ini" <<END
[run]
task = command
tuner = random
[command]
run = echo loss=\$PARAM_x
[parameters]
x = 0 .. 1
[space]
configs = 4000
[random]
resource = 1
END
told= found= begin="tune $tmp/count.ini -o $tmp/count.h5"
for stop in 1 2 3 4; do
    : >"$tmp/log" # or that of the stop before would be read
    # shellcheck disable=SC2086
    mpirun -n 2 "$weft" $begin run.teams=2 >"$tmp/out" 2>"$tmp/log" &
    until [ "$(grep -c ' job [0-9]* of ' "$tmp/log")" -ge 8 ] || ! kill -0 $! 2>/dev/null; do sleep 0.01; done
    kill -USR1 $!
    wait $!
    [ $stop = 1 ] || found="$found $(sed -n 's/.*resumed: \([0-9]*\) jobs.*/\1/p' "$tmp/log")"
    [ $stop = 4 ] || told="$told $(sed -n 's/^weft: stopped by signal 10 after \([0-9]*\) jobs.*/\1/p' "$tmp/log")"
    begin="resume $tmp/count.h5"
done
echo "told$told, found$found" >>"$tmp/log"
[ "$(echo "$told" | wc -w)" = 3 ] && [ "$told" = "$found" ]
result $? "as many jobs are done already as the stop of two teams said"
echo "1..$count"
