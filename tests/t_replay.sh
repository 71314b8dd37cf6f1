#!/bin/bash
# Task replay: traces and ends of ASHA on stored curves that were computed by hand; jobs in
# parts; times of the table; the nearest configuration; no dependence on ranks and teams; what
# is wrong with a table is said. Prints TAP.
. tests/tap.sh

tune() # [key=value ...]
{
    call tune "$tmp/in.ini" "$@" -o "$tmp/run.h5" --force
}
refused() # PATTERN STATEMENT [key=value ...]
{
    refuses "[1-9]" "$1" "refused: $2" tune "${@:3}"
}
ends() # SECONDS LOSS STATEMENT [key=value ...]: virtual end of the run, score of the winner
{
    tune "${@:4}" && tail -5 "$tmp/out" | grep -q " for $1 virtual seconds" && grep -q "^valid  *loss $2" "$tmp/out"
    result $? "$3: $1 virtual seconds, $2"
}

sed "s|^output.*||" inputs/replay.ini >"$tmp/in.ini"
for case in 1:81 3:44 10:31 27:27; do # the curves cross; worked out by hand
    ends "${case#*:}" 1.296 "asha, ${case%:*} workers" run.workers="${case%:*}"
done
ends 27 1.296 "sha, all jobs of a rung at once" run.tuner=sha sha.rungs=geometric sha.reduction=3 sha.max_resource=27

tune run.workers=3
first=$(digest)
on 3 tune "$tmp/in.ini" run.teams=3 run.workers=3 -o "$tmp/run.h5" --force
[ -n "$first" ] && [ "$first" = "$(digest)" ]
result $? "three teams give the same bits"

# two configurations; the second ends early, and takes longer at first
printf 'config\tx\tk\tresource\tloss\tt\tlate\n' >"$tmp/small.tsv"
printf '%s\n' 'a 1 u 1 .9 10 .8' 'a 1 u 4 .5 40 .4' 'b 100 v 1 .7 30 .6' 'b 100 v 2 inf 35 inf' |
    tr ' ' '\t' >>"$tmp/small.tsv"
cat >"$tmp/in.ini" <<END
[run]
task = replay
tuner = random
seed = 1
workers = 1
[space]
configs = 1
[random]
resource = 4
[replay]
table = $tmp/small.tsv
time = t
test = late
END
ends 40 0.5 "a curve to its end"
ends 20 0.9 "between points: time in proportion, the loss before" random.resource=2
ends 30 0.7 "the second curve" random.resource=1 replay.row=1
ends 4 0.5 "a second per unit, where no column has them" replay.time=
ends 40 0.5 "a curve beside one that diverged" replay.row=0..1 space.source=grid space.configs=0
check "one that ended as diverged stays so" grep -q "score inf" "$tmp/log"
for range in "log 60 .. 100:0.7" "1 .. 3:0.9" "log 1 .. 100:0.[79]"; do
    tune random.resource=1 columns.x="${range%:*}" && grep -q "^valid  *loss ${range#*:}" "$tmp/out"
    result $? "the nearest to ${range%:*} has ${range#*:}"
done
tune random.resource=1 columns.k="v | v2" space.configs=6 && grep -q "^valid  *loss 0.7" "$tmp/out"
result $? "a configuration outside of a range is not taken"
optimum() # LOSS STATEMENT [key=value ...]: what the run file has of it; LOSS none
{
    tune "${@:3}"
    status=$?
    [ $status = 0 ] || [ $status = 6 ] && if [ "$1" = none ]; then
        ! grep -q "^optimum" "$tmp/out"
    else
        grep -q "^optimum  *$1 in the space" "$tmp/out"
    fi
    result $? "optimum $1: $2"
}
printf '%s\n' 'e 8 v 1 .95 30 .6' 'f 3 v 1 .1 30 .6' | tr ' ' '\t' | cat "$tmp/small.tsv" - >"$tmp/near.tsv"
optimum 0.5 "the least loss up to the resource"
optimum 0.7 "of the configuration that is fixed, not of the table" replay.row=1
optimum 0.7 "of a range of rows" random.resource=1 replay.row=0..1
optimum 0.9 "of another" random.resource=1 replay.row=0..0
optimum 0.9 "of a grid of rows" random.resource=1 replay.row=0..0 space.source=grid space.configs=0
optimum 0.9 "of the rows within the ranges of columns" random.resource=1 "columns.x=1 .. 3"
optimum 0.7 "of other rows" random.resource=1 "columns.x=log 60 .. 100"
optimum 0.7 "of choices" random.resource=1 "columns.k=v | v2"
optimum 0.9 "of the nearest to the points of a grid" random.resource=1 "columns.x=log 1 .. 9" \
    replay.table="$tmp/near.tsv" space.source=grid space.levels=2 space.configs=0
printf 'x\n1\n2\n' >"$tmp/list.tsv"
optimum 0.9 "of the nearest to a list" random.resource=1 "columns.x=1 .. 100" space.source=list space.file="$tmp/list.tsv" \
    space.configs=0
printf '%s\n' 'c - w 1 .1 10 .1' 'd 100 v 1 .2 30 .6' | tr ' ' '\t' | cat "$tmp/small.tsv" - >"$tmp/more.tsv"
optimum 0.7 "not of a row that has the values of an earlier" random.resource=1 \
    replay.table="$tmp/more.tsv" "columns.x=1 .. 100" "columns.k=u | v"
optimum none "where a row without a value of a column may be nearest" random.resource=1 \
    replay.table="$tmp/more.tsv" "columns.x=1 .. 100" "columns.k=u | v | w"
optimum 0.1 "where configurations have no value there, either" random.resource=1 \
    replay.table="$tmp/more.tsv" "columns.x=1 .. 100 when k = u | v" "columns.k=u | v | w"
refused 'resource 5 is asked.*from 1 to 4' "more than the table has" random.resource=5
refused 'goes up to 2; .* has 2 configurations' "a number that is none" replay.row=2
refused 'goes up to 7' "an axis beyond the table" replay.row=0..7
refused 'both have ranges' "two ways to choose" replay.row=0..1 columns.x=1..9
refused 'no such column; did you mean "x"' "a column that is none" columns.xx=1..9
refused 'k of configuration 0 .*"u".*range of numbers' "a text on an axis of numbers" columns.k=1..9
refused 'within the ranges' "ranges without a configuration" columns.x=2..9
refused 'no column "los".*"loss"' "a loss that is none" replay.loss=los
refused 'no column "secs", which replay.time names' "a time that is none" replay.time=secs
refused 'replay.table is missing' "no table" replay.table=
refused 'cannot.*no-such' "a table that is not there" replay.table=no-such
! tune run.tuner=pbt replay.row=0..1 pbt.population=4 pbt.interval=1 pbt.max_resource=4 &&
    [ "$(grep -c '^weft: .*with the options of another' "$tmp/log")" = 1 ]
result $? "refused: options that change on the way"
refused 'run.data' "data" run.data="$tmp/small.tsv"
wrong() # PATTERN STATEMENT LINES...: of a table
{
    head -1 "$tmp/small.tsv" >"$tmp/wrong.tsv"
    printf '%s\n' "${@:3}" | tr ' ' '\t' >>"$tmp/wrong.tsv"
    refused "$1" "$2" replay.table="$tmp/wrong.tsv" random.resource=1
}
wrong 'tsv:3: loss is "nan"; expected a number, or inf' "NaN" 'a 1 u 1 .9 1 1' 'a 1 u 2 nan 2 1'
wrong 'tsv:3: loss is "-nan"; expected a number, or inf' "NaN with a sign" 'a 1 u 1 .9 1 1' 'a 1 u 2 -nan 2 1'
wrong 'tsv:2: loss is ""' "a number that is missing" 'a 1 u 1  1 1'
wrong 'tsv:2: resource is "inf"' "an infinite resource" 'a 1 u inf 1 1 1'
wrong 'tsv:3: resource 1 of configuration a does not follow 2' "a table not sorted" \
    'a 1 u 2 .9 1 1' 'a 1 u 1 .8 2 1'
wrong 'tsv:2: resource 0 .* above 0' "a resource of 0" 'a 1 u 0 .9 1 1'
wrong 'tsv:3: t 1 of configuration a come after 5' "times that go back" 'a 1 u 1 .9 5 1' 'a 1 u 2 .8 1 1'
wrong 'tsv:4: configuration a has lines above' "lines that are not together" \
    'a 1 u 1 .9 1 1' 'b 1 u 1 .8 1 1' 'a 1 u 2 .7 2 1'
wrong 'tsv:2: 3 fields, expected the 7' "a line that is short" 'a 1 u'
wrong 'tsv:2: loss is "0,9"' "a decimal comma" 'a 1 u 1 0,9 1 1'
twice() # COLUMN: small.tsv with that column again at its end, and what asks for it
{
    awk -v c="$1" 'BEGIN { FS = OFS = "\t" }
        NR == 1 { for (i = 1; i <= NF; i++) if ($i == c) at = i } { print $0, $at }' "$tmp/small.tsv" \
        >"$tmp/twice.tsv"
    refused "twice.tsv: columns [0-9]* and 8 are both named \"$1\"" "two columns $1" \
        replay.table="$tmp/twice.tsv" random.resource=1 "${@:2}"
}
twice loss
twice config
twice resource
twice x columns.x=1..9
: >"$tmp/empty.tsv"
refused 'no line of numbers' "an empty table" replay.table="$tmp/empty.tsv"
find_python h5py
# a search on stored curves is the search that trains: the curves of 6 configurations
cat >"$tmp/sgd.ini" <<END
[run]
data = $tmp/images.h5
task = sgd
tuner = random
seed = 1
[space]
configs = 6
[random]
resource = 3
[asha]
reduction = 3
max_resource = 3
[sgd]
model = linear
keep = last
score = loss
[train]
batch = 20
lr = log 0.001 .. 10
END
if [ -n "$python" ]; then
    {
        "$weft" pack synthetic images rows=300 -o "$tmp/images.h5" &&
            "$weft" tune "$tmp/sgd.ini" -o "$tmp/all.h5" &&
            "$weft" tune "$tmp/sgd.ini" run.tuner=asha run.workers=2 -o "$tmp/trained.h5" &&
            "$python" analysis/curves.py "$tmp/all.h5" -o "$tmp/stored.tsv"
    } >"$tmp/out" 2>"$tmp/log" &&
        tune replay.table="$tmp/stored.tsv" replay.time= replay.test= replay.row=0..5 \
            space.source=grid space.levels=6 space.configs=0 run.tuner=asha asha.reduction=3 \
            asha.max_resource=3 run.workers=2 &&
        "$python" - "$tmp/trained.h5" "$tmp/run.h5" >>"$tmp/out" 2>>"$tmp/log" <<'END'
import sys, h5py
a, b = (h5py.File(p, "r") for p in sys.argv[1:])
print(a["events/loss"][:], b["events/loss"][:])
for name in "events/trial", "events/loss", "timeline/start", "timeline/end":
    assert len(a[name]) == 8 and abs(a[name][:] - b[name][:]).max() < 1e-6, name
END
    result $? "a search on stored curves is the one that trains, job by job"
else
    echo "# skipped, as python3 has no h5py: a search on stored curves is the one that trains"
fi
echo "1..$count"
