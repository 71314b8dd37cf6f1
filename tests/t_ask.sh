#!/bin/bash
# Searches that a Python program drives through `weft serve`: they are those of task command, to the
# bit, whoever is killed, in whatever order results come. Prints TAP.
. tests/tap.sh
export PYTHONDONTWRITEBYTECODE=1 PYTHONPATH="$PWD/python" WEFT="$weft"
case $weft in /*) ;; *) WEFT=$PWD/$weft ;; esac

ask() # ACTION RUN [NUMBER]
{
    timeout "$net" python3 tests/ask.py "$1" "$tmp/$2" ${3:+"$3"} >"$tmp/out" 2>"$tmp/log"
}
# trials RUN: all that is not of a clock; a program has a training loss, too
trials()
{
    case $1 in *-command) fields=2-8,10,11,13- ;; *) fields=2-8,10- ;; esac
    "$weft" report "$tmp/$1.h5" --trials --csv | cut -d, -f$fields
}
same() # STATEMENT RUN OTHER
{
    trials "$3" >"$tmp/other" 2>"$tmp/log" && trials "$2" | diff - "$tmp/other" >"$tmp/out"
    result $? "$1"
    [ -n "$(digest "$tmp/$3.h5")" ] && [ "$(digest "$tmp/$2.h5")" = "$(digest "$tmp/$3.h5")" ]
    result $? "with one digest"
    check "its directory is gone" [ ! -e "$tmp/$2.d" ]
}
input() # NAME SETTING...: NAME.ini
{
    printf '[run]\nseed = 5\nworkers = 5\n' >"$tmp/$1.ini"
    printf '%s\n' "${@:2}" >>"$tmp/$1.ini"
    printf '[parameters]\nx = log 0.01 .. 1\nk = a | b\nn = 1 .. 5 when k = a\n' >>"$tmp/$1.ini"
}
input random 'tuner = random' '[space]' 'configs = 9'
input tpe 'tuner = random' 'sampler = tpe' '[space]' 'configs = 14' '[tpe]' 'startup = 4'
asha=('tuner = asha' 'sampler = tpe' '[space]' 'configs = 12' '[tpe]' 'startup = 4' '[asha]' 'reduction = 2' 'max_resource = 4')
input asha "${asha[@]}"
input bohb 'tuner = hyperband' 'sampler = kde' '[hyperband]' 'reduction = 2' 'max_resource = 4'
input pbt 'tuner = pbt' '[pbt]' 'population = 4' 'interval = 1' 'max_resource = 4'
input whole 'tuner = one' '[one]' 'resource = 40' 'explore = 0.5' 'each = 2' 'finalists = 2' 'parts = 3'

for name in random tpe asha bohb pbt whole; do
    call tune "$tmp/$name.ini" run.task=command "command.run=python3 '$PWD/tests/ask.py' loss" \
        -o "$tmp/$name-command.h5"
    for action in one shuffled killed; do
        ln -sf "$name.ini" "$tmp/$name-$action.ini"
        check "$name, $action: the search comes to its end" ask $action "$name-$action"
        same "with the trials, numbers and digest of task command" "$name-$action" "$name-command"
    done
done
for name in asha bohb pbt; do
    best=$("$weft" report "$tmp/$name-one.h5" | sed -n 's/^winner *\([0-9]*\): .*/\1/p')
    "$weft" report "$tmp/$name-one.h5" --trials --csv | grep -q "^[^,]*,$best,[^,]*,[^,]*,[^,]*,\"finished\",4,"
    result $? "$name: the winner, trial $best, has finished, with max_resource"
done
call report "$tmp/whole-one.h5" --trials --csv
[ "$(awk -F, 'NR > 1 { printf "%s ", $7 }' "$tmp/out")" = "2 2 2 2 2 2 12 22 30 " ] &&
    awk -F, 'NR > 1 && NR < 8 && (best == "" || $8 < loss) { best = $14; loss = $8 } NR > 7 && $14 != best { bad = 1 } END { exit bad }' "$tmp/out"
result $? "one training of a program: six candidates, and what is left for the best of them"
# A result that was told is never asked for again; one in flight is.
[ "$(sort "$tmp/random-one.calls" | uniq | wc -l)" = 9 ] && [ "$(wc -l <"$tmp/random-one.calls")" = 9 ] &&
    [ "$(sort "$tmp/asha-killed.calls" | uniq -d | wc -l)" = 0 ]
result $? "no trial is evaluated twice, whoever was killed"
for name in random tpe asha; do
    for way in 1 3; do
        ln -sf "$name.ini" "$tmp/$name-$way.ini"
        check "$name is minimised by $way processes" ask minimized "$name-$way" $way
        same "with the same trials" "$name-$way" "$name-command"
    done
done
ln -sf asha.ini "$tmp/asha-child.ini"
check "weft is killed again and again: an exception says so" ask child asha-child
same "and the search ends as if it had not been" asha-child asha-command
ln -sf random.ini "$tmp/random-forks.ini"
check "what forks has no part in the search" ask forks random-forks
same "which ends as if it had not been" random-forks random-command

# With clock = wall the order of results is that in which they came.
input wall 'clock = wall' "${asha[@]}"
cp "$tmp/wall.ini" "$tmp/wall-again.ini" && cp "$tmp/wall.ini" "$tmp/wall-one.ini"
ask last wall && ask last wall-again
result $? "clock = wall: results are told in one order, twice"
same "the same order gives the same search" wall wall-again
check "results are told in another order" ask one wall-one
check "which gives another one" [ "$(digest "$tmp/wall.h5")" != "$(digest "$tmp/wall-one.h5")" ]

# Of two that are in flight the later one is told.
sed 's/workers = 5/workers = 2/' "$tmp/wall.ini" >"$tmp/wall-two.ini"
printf '%s\n' '{"ask":true}' '{"ask":true}' '{"tell":1,"loss":0.5}' '{"ask":true}' |
    call serve "$tmp/wall-two.ini" -o "$tmp/wall-two.h5"
check "clock = wall: a result counts at once, whatever is in flight" grep -q '^{"told":1,"best":{"job":1,' "$tmp/out"
tail -n 1 "$tmp/out" | grep -q '^{"job":2,'
result $? "another job takes its place"

many=$(seq -s, -f '"n%.0f":1' 2000)
printf '%s\n' '{"ask":true}' "{\"tell\":0,\"loss\":0.5,\"metrics\":{$many}}" |
    call serve "$tmp/wall-two.ini" -o "$tmp/many.h5"
check "numbers beyond 1,024 names are left out, with a warning" \
    grep -q 'warning: job 0 has numbers of more than 1024 names; further names are left out' "$tmp/log"

# Longer.
for name in random tpe; do
    sed 's/configs = .*/configs = 6/' "$tmp/$name.ini" >"$tmp/$name-more.ini"
    ask one $name-more && most=$(sed -n 's/configs = //p' "$tmp/$name.ini") &&
        ask longer $name-more "$most"
    result $? "$name: a search of 6 trials is given more"
    same "and ends as one that had them from the beginning" $name-more $name-command
    check "nothing of it is evaluated again" [ "$(wc -l <"$tmp/$name-more.calls")" = "$most" ]
done

check "a choice may be any object of Python" ask objects objects
check "the same call goes on with a search that was stopped" ask again again
check "short trials are told together, those before an exception too" ask together together
check "members of enums, dicts within dicts, functions and arrays are the same after a kill" ask kept kept
ln -sf random.ini "$tmp/random-left.ini"
check "the directory of a search that was killed goes with the next search" ask left random-left
ask names names && "$weft" report "$tmp/names.h5" --trials --csv | head -n 1 | grep -q 'parameters.the choice.*parameters.größe'
result $? "names are as they are given"
check "mistakes are one line of weft's each, and the search goes on" ask errors errors
check "a search goes on after what fails, and after what raises was mended" ask failures failures
check "what fails is a trial" [ "$("$weft" report "$tmp/failures.h5" --trials --csv | grep -c ',"failed",')" = 2 ]
"$weft" report "$tmp/failures.h5" | grep -q '^winner'
result $? "the search has a winner"
"$weft" serve "$tmp/random.ini" -o "$tmp/left.h5" </dev/null >"$tmp/out" 2>"$tmp/log"
check "without a program that does the jobs it stops" [ $? = 75 ]
grep -q '^{"weft":".*","protocol":1,"parameters":{.*"x":"log 0.01 .. 1".*}}$' "$tmp/out"
result $? "its first line tells of the parameters"
tail -n 1 "$tmp/log" | grep -q "go on with \`weft serve $tmp/left.h5\`"
result $? "its last says how to go on"
"$weft" serve "$tmp/left.h5" run.seed=3 </dev/null >"$tmp/out" 2>"$tmp/log"
[ $? = 2 ] && grep -q '^weft: .*run.seed' "$tmp/log"
result $? "what a resume may not change is refused"
timeout "$net" mpirun -n 2 "$weft" serve "$tmp/random.ini" -o "$tmp/two.h5" </dev/null >"$tmp/out" 2>"$tmp/log"
[ $? = 2 ] && grep -q '^weft: .*without mpirun' "$tmp/log"
result $? "two ranks are refused"
check "before a directory is made" [ ! -e "$tmp/two.d" ]
printf '%s\n' '{"ask":true}' '{"tell":0,"loss":1e-310}' '{"ask":true}' '{"tell":1,"loss":-5e-324}' |
    call serve "$tmp/random.ini" -o "$tmp/small.h5"
! grep -q error "$tmp/out" && grep -q '"loss":-4.9406564584124654e-324' "$tmp/out"
result $? "a loss may be smaller than floats are at full precision"
yes '{"tell":0,"loss":' | tr -d '\n' | head -c 3000000 |
    call serve "$tmp/random.ini" -o "$tmp/long.h5"
[ $? = 75 ] && [ -e "$tmp/long.d" ]
result $? "a line without end is none"
printf '%s\n' '{"tell":"a"}' '{"tell":7,"loss":1}' '[1]' 'tell' '{"tell":-1,"loss":1}' '{"tell":0,"loss":"1"}' \
    '{"tell":0,"failed":1}' |
    call serve "$tmp/random.ini" -o "$tmp/odd.h5"
[ $? = 75 ] && [ "$(grep -c '^{"error":' "$tmp/out")" = 7 ] && [ "$(wc -l <"$tmp/out")" = 8 ]
result $? "each line that is no request is answered by what is wrong with it"
"$weft" serve "$tmp/random.ini" --plan </dev/null >"$tmp/out" 2>"$tmp/log" && grep -q '^resource *9 in all jobs' "$tmp/out"
result $? "its plan asks for nothing"

timeout "$net" python3 inputs/notebook.py "$tmp/notebook.h5" >"$tmp/out" 2>"$tmp/log" && cp "$tmp/out" "$tmp/first" && grep -q '^loss 0.3' "$tmp/out"
result $? "the example runs with a run file"
"$weft" report "$tmp/notebook.h5" | grep -q '^winner'
result $? "which is one"
timeout "$net" python3 inputs/notebook.py >"$tmp/out" 2>"$tmp/log" && diff "$tmp/first" "$tmp/out"
result $? "without one it says the same"
"$weft" report "$tmp/asha-3.h5" | grep '^workers' >"$tmp/out" &&
    grep -Eq '1 team of ranks, [0-9]+[.][0-9] jobs at once elsewhere$' "$tmp/out"
result $? "the report says how many jobs were in flight at once"
timeout "$net" python3 jobs/notebook.py 1 20 >"$tmp/out" 2>"$tmp/log" && grep -q '^weft, tpe  *[0-9]* trials/s' "$tmp/out" &&
    grep -q '^ask and tell, asha  *[0-9]* us' "$tmp/out"
result $? "the rates of searches from Python are measured"
echo "1..$count"
