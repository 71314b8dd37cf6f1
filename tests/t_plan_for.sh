#!/bin/bash
# The plan for data: of each kind of data, what is printed is an input file, which as a file of its own
# gives the digest of `weft tune --data`, and a winner that predicts. Prints TAP.
. tests/tap.sh

awk 'BEGIN {
    srand(3); print "a,b,c,site,sick,dose,counts"
    for (i = 0; i < 240; i++) {
        a = rand(); b = rand(); sick = a * b > 0.2 ? "yes" : "no"; colour = i % 3 ? "red" : "blue"
        printf "%.4f,%.4f,%s,s%d,%s,%.4f,%d\n", a, b, colour, i % 6, sick, a + b * b, 1 + i % 3
    }
}' >"$tmp/table.csv"
awk 'BEGIN {
    split("bad poor dull good fine great", word, " ")
    for (i = 0; i < 120; i++) print i % 2 "\tthe film " i % 7 " was " word[i % 2 * 3 + i % 3 + 1] " " i % 5
}' >"$tmp/texts.txt"
dense()
{
    call pack dense "$tmp/table.csv" "${@:2}" -o "$tmp/$1.h5"
}
synthetic()
{
    call pack synthetic "${@:2}" -o "$tmp/$1.h5"
}
dense classes label=sick drop=site,dose,counts &&
    dense numbers label=dose drop=site,sick,counts &&
    dense several label=dose,a drop=site,sick,counts target=regression &&
    dense weights label=sick weight=counts drop=site,dose &&
    dense groups label=sick group=site drop=dose,counts valid=0.2 test=0.2 &&
    dense sites label=sick client=site drop=dose,counts &&
    call pack text "$tmp/texts.txt" -o "$tmp/texts.h5" &&
    synthetic images images rows=300 && synthetic clients images rows=300 clients=6 &&
    synthetic owned documents rows=300 clients=6 partition=dirichlet
result $? "data of each kind are packed"

# planned KIND HEAD CHECK SETTING...: the title has HEAD, a line of the plan has CHECK
planned()
{
    kind=$1 head=$2 pattern=$3
    shift 3
    "$weft" list --plan-for "$tmp/$kind.h5" >"$tmp/$kind.ini" 2>"$tmp/log" &&
        head -1 "$tmp/$kind.ini" | grep -q "^; The plan for .*$kind.h5: $head"
    result $? "$kind: the plan is printed"
    check "$kind: it fits" grep -qE "$pattern" "$tmp/$kind.ini"
    rm -rf "$tmp"/run.* "$tmp"/own.*
    "$weft" tune --data "$tmp/$kind.h5" "$@" -o "$tmp/run.h5" >"$tmp/out" 2>"$tmp/log" </dev/null
    result $? "$kind: the search by the plan ends"
    sed '/^run  /,$d' "$tmp/out" | diff - <(cat "$tmp/$kind.ini" && echo) >>"$tmp/log"
    result $? "$kind: it shows the plan"
    mpirun -n 2 "$weft" tune "$tmp/$kind.ini" "$@" -o "$tmp/own.h5" >"$tmp/out" 2>"$tmp/log" </dev/null
    result $? "$kind: so does one by the plan as an input file, on two ranks"
    [ -n "$(digest "$tmp/run.h5")" ] && [ "$(digest "$tmp/run.h5")" = "$(digest "$tmp/own.h5")" ]
    result $? "$kind: to the same digest"
    rm -f "$tmp/said.csv"
    call predict "$tmp/run.h5" "$tmp/$kind.h5" -o "$tmp/said.csv" && [ -s "$tmp/said.csv" ]
    result $? "$kind: the winner predicts"
}
map="space.configs=5 nystrom.landmarks=64"
round="one.resource=12 one.explore=0.5 one.parts=2"
# shellcheck disable=SC2086
{
    planned classes "a table with classes" "^folds = 10 .*216 rows" $map
    planned numbers "a table with numbers" "^model = ridge" $map
    planned several "a table with numbers" "^model = ridge" $map
    planned weights "a table with classes" "^model = logistic" $map
    planned groups "a table with classes" "^folds = [2-5] .*its group is not fitted to" $map
    planned images images "^tuner = ws_sha" space.configs=4 rff.features=64
    planned texts texts "^bins = 2.22" space.configs=6 ngram.bins=2^12
    planned sites "a federation" "^algorithm = fedper .*6 clients" asha.trials=3 asha.min_resource=2 asha.max_resource=6
    planned clients "a federation" "^model = cnn" $round
    planned owned "a federation" "^model = txtcnn" $round fed.dim=8 txtcnn.f1=4 txtcnn.f2=4 txtcnn.f3=4
}
while read -r rows fits; do
    yes '1,no
2,yes' | head -n "$rows" >"$tmp/r.csv"
    call pack dense "$tmp/r.csv" test=0 -o "$tmp/r.h5" --force &&
        "$weft" list --plan-for "$tmp/r.h5" >"$tmp/out" 2>>"$tmp/log" &&
        [ "$(sed -En 's/^(feature|folds) = ([a-z0-9]*).*/\2/p' "$tmp/out" | xargs)" = "$fits" ]
    result $? "the plan for $rows rows: $fits"
done <<'EOF'
300 nystrom 10
301 nystrom 5
2000 nystrom 5
2001 nystrom 3
5000 nystrom 3
5001 nystrom 0
8000 nystrom 0
8001 rff 0
EOF
. tests/plays.sh
plays >"$tmp/plays.txt" && call pack shakespeare "$tmp/plays.txt" length=20 stride=5 -o "$tmp/plays.h5" &&
    "$weft" list --plan-for "$tmp/plays.h5" >"$tmp/plays.ini" 2>>"$tmp/log" && grep -q '^model = lstm ' "$tmp/plays.ini" &&
    grep -q '^target = all ' "$tmp/plays.ini"
result $? "running text has a plan"
check "whose first candidate has a rate of its own" grep -q "^first = client.lr=2 " "$tmp/plays.ini"
cat "$tmp"/*.ini >"$tmp/out"
! grep -n '[{}]\|^[a-z]*?' "$tmp/out" >"$tmp/log"
result $? "no plan has what stands for something else"
# as_input INPUT COLUMNS LABEL: the settings of that input are those of the plan for so many columns
settings()
{
    sed 's/ *;.*//; /^$/d; /^data = /d; /^output = /d' "$1"
}
as_input()
{
    awk -v columns="$2" -v label="$3" 'BEGIN {
        srand(5)
        for (i = 0; i < 1000; i++) {
            for (k = sum = 0; k < columns; k++) { printf "%.4f,", x = rand(); sum += x * x }
            print (label != "class" ? sum : sum > columns / 3 ? "yes" : "no")
        }
    }' >"$tmp/wide.csv"
    call pack dense "$tmp/wide.csv" -o "$tmp/wide.h5" --force &&
        "$weft" list --plan-for "$tmp/wide.h5" >"$tmp/wide.ini" 2>>"$tmp/log" &&
        [ "$(settings "$tmp/wide.ini" | wc -l)" -gt 15 ] &&
        diff <(settings "$1") <(settings "$tmp/wide.ini") >>"$tmp/log"
    result $? "$1 has the settings of a plan"
}
grep '^; *run.tuner=' "$tmp/clients.ini" >"$tmp/log"
# shellcheck disable=SC2046
"$weft" tune "$tmp/clients.ini" $(sed 's/;//; s/=400/=2/' "$tmp/log") -o "$tmp/run.h5" --force >"$tmp/out" 2>>"$tmp/log" &&
    "$weft" report "$tmp/run.h5" >"$tmp/out" 2>>"$tmp/log" && grep -q '1 configurations, 1 jobs' "$tmp/out"
result $? "the defaults beside the plan of a federation run as it says"
as_input inputs/table.ini 30 class
as_input inputs/regression.ini 10 number
cd "$tmp" || exit 1
case $weft in /*) ;; *) weft=$OLDPWD/$weft ;; esac
"$weft" tune run.data=classes.h5 space.configs=2 nystrom.landmarks=16 >out 2>log
result $? "run.data without an input file is --data"
[ -s classes-run.h5 ] && "$weft" report classes-run.h5 >out 2>>log && grep -q "2 configurations" out
result $? "the run is named after the data"
"$weft" tune --data classes.h5 space.configs=2 --plan >out 2>log && grep -q "^model = logistic" out && grep -qi "jobs" out
result $? "what the search takes is told without it"
awk 'BEGIN { print "one\ttwo"; for (i = 0; i < 200; i++) printf "%d a %d\t%d b %d\n", i % 7, i % 31, i % 31, i % 7 }' >pairs.tsv
"$weft" pack translations pairs.tsv vocabulary=30 -o pairs.h5 >out 2>log &&
    "$weft" tune --data pairs.h5 --plan seq2seq.hidden=8 seq2seq.embedding=4 >out 2>log && grep -q '^model = seq2seq' out &&
    ! grep -q 'learns nothing' log
result $? "sentences have a plan whose sampler is of use"

refused() # STATEMENT STATUS PATTERN ARGUMENT...
{
    statement=$1 status=$2 pattern=$3
    shift 3
    "$weft" "$@" >out 2>log
    [ $? = "$status" ] && [ "$(grep -c '^weft: ' log)" = 1 ] && grep -Eq "^weft: .*$pattern" log
    result $? "$statement"
    check "then there is no plan" [ ! -s out ]
}
: >empty.ini
refused "no input at all" 2 "usage: weft tune INPUT.ini, or --data FILE.h5" tune
refused "data without a name" 2 "tune: --data needs a value, the packed file" tune --data
refused "an input file and data" 2 "empty.ini and --data: .*leave one of them out" tune empty.ini --data classes.h5
refused "a file that is not there" 3 "cannot open none.h5" tune --data none.h5
refused "a table that is not packed" 4 "table.csv is not packed; .weft pack dense table.csv -o FILE.h5." tune --data table.csv
refused "a run" 4 "classes-run.h5 is no packed data set but .weft run 2.; name the file that weft pack made" \
    tune --data classes-run.h5
refused "a run, of which the plan is asked" 4 "classes-run.h5 is no packed data set" list --plan-for classes-run.h5
"$weft" pack dense table.csv like=classes.h5 -o rows.h5 >out 2>log
"$weft" tune --data classes.h5 fmap.model=svm >out 2>log
[ $? = 2 ] && grep -q '^weft: .*column "svm.C" is no axis .*; or begin without known configurations, by space.first=' log
result $? "known configurations of another model name the way without them"
refused "rows to be scored" 4 "rows.h5 holds rows to be scored.*pack rows to train on" tune --data rows.h5
refused "a plan beside another list" 2 "takes nothing else; leave rff out" list rff --plan-for classes.h5
refused "a plan for data by another command" 2 "option --data is unknown" serve --data classes.h5
echo "1..$count"
