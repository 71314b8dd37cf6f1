#!/bin/bash
# Runs with axes that exist only for certain values of others: every kind of schedule ends,
# is reported, resumed, and exported as an input that trains the winner alone. Prints TAP.
. tests/tap.sh

tune() # OPTION...
{
    rm -rf "$tmp"/r.*
    call tune "$@" -o "$tmp/r.h5"
}

cat >"$tmp/flow.ini" <<END
[run]
task = flow
[space]
configs = 12
[flow]
method = descent | ridge
step = log 1e-3 .. 1.9 when method = descent
lambda = log 1e-3 .. 10 when method = ridge
features = 1 .. 40 when step = 0.5 .. 1.9 and method = descent
END

for tuner in random sha asha hyperband pbt; do
    small= && [ $tuner = asha ] && small=asha.trials=12
    [ $tuner = pbt ] && small="pbt.population=4 pbt.interval=3"
    # shellcheck disable=SC2086
    check "$tuner searches a space with conditions" tune "$tmp/flow.ini" run.tuner=$tuner $small
    call report "$tmp/r.h5"
    grep -q "flow.method=ridge flow.step=- flow.lambda=0" "$tmp/out" ||
        grep -q "flow.method=descent flow.step=[0-9.e-]* flow.lambda=- " "$tmp/out"
    result $? "and shows what a configuration does not have as a dash"
done

check "a search is run" tune "$tmp/flow.ini" run.tuner=sha
whole=$(digest "$tmp/r.h5")
"$weft" export "$tmp/r.h5" -o "$tmp/w.h5" >"$tmp/out" 2>&1 &&
    "$weft" info "$tmp/w.h5" 2>"$tmp/log" | sed -n "s/^config *//; /^\[/,\$p" >"$tmp/winner.ini"
result $? "its winner is an input file"
winner=$(sed -n 's/^winner.*: flow/flow/p' "$tmp/out" | head -1)
! grep -q when "$tmp/winner.ini" && tune "$tmp/winner.ini"
result $? "without conditions, which runs ($winner)"

rm -rf "$tmp"/r.*
WEFT_HOLD="job 6 of" "$weft" tune "$tmp/flow.ini" run.tuner=sha -o "$tmp/r.h5" >"$tmp/out" 2>"$tmp/log" </dev/null &
held $! && kill -TERM $! && kill -CONT $!
wait $!
[ $? = 75 ] && call resume "$tmp/r.h5"
result $? "a search that was stopped is resumed"
check "to the same digest" has_digest "$whole" "$tmp/r.h5"

tune "$tmp/flow.ini" run.tuner=sha --plan
grep -q "flow.features = 1 .. 40 when flow.step = 0.5 .. 1.9 and flow.method = descent" "$tmp/out"
result $? "a plan shows the conditions"

tune "$tmp/flow.ini" flow.method=ridge --plan && grep -q "flow.step has no range in this run, as method is not descent" "$tmp/log"
result $? "a range that no configuration has is told"

cat >"$tmp/run.sh" <<'END'
echo "$WEFT_PARAMETERS" >>"$LOG"
echo "loss=0.$WEFT_TRIAL"
END
cat >"$tmp/command.ini" <<END
[run]
task = command
tuner = random
[space]
configs = 6
[command]
run = sh $tmp/run.sh
[parameters]
mode = sgd | adam
momentum = 0.1 .. 0.9 when mode = sgd
beta = 0.999 when mode = adam
END
LOG=$tmp/said tune "$tmp/command.ini"
result $? "a program is tuned"
grep -q '^{"mode":"sgd","momentum":0.[0-9]*}$' "$tmp/said" &&
    grep -q '^{"mode":"adam","beta":"*0.999"*}$' "$tmp/said"
result $? "and is not told parameters that a configuration does not have"

# Of the configurations that a report shows, each has filters of the groups that it has.
check "documents are packed" call pack synthetic documents rows=400 -o "$tmp/documents.h5"
for few in forest.design=4 tpe.startup=4 kde.points=3; do
    sampler=${few%.*}
    tune inputs/mr-groups.ini run.data="$tmp/documents.h5" run.sampler=$sampler space.configs=12 $few \
        random.resource=1 sgd.steps=3 sgd.dim=4 sgd.folds=3 &&
        "$weft" report "$tmp/r.h5" | grep -o 'txtcnn.groups=.*' | tr ' ' '\n' >"$tmp/out" &&
        awk -F '[.=]' '$2 == "groups" { groups = $3; seen[groups]; shown++ }
            $2 ~ /^[fk][2-5]$/ { wrong += ($3 == "-") != (substr($2, 2) > groups); other++ }
            END { exit !(shown > 4 && length(seen) > 1 && other == 8 * shown && !wrong) }' "$tmp/out"
    result $? "$sampler: a network has the filters of as many groups as it has"
done

# ---- known configurations first -----------------------------------------------------------

printf 'method\tlambda\tstep\nridge\t0.25\t-\ndescent\t-\t0.5\n' >"$tmp/first.tsv"
first() # the first two trials' method, step and lambda
{
    "$weft" report "$tmp/r.h5" --trials --csv 2>"$tmp/log" | awk -F, '{ gsub(/"/, "") }
        NR == 1 { for (i = 1; i <= NF; i++) at[$i] = i }
        NR > 1 && $at["trial"] < 2 { print $at["flow.method"] "," $at["flow.step"] "," $at["flow.lambda"] }' |
        sort | tr '\n' ' '
}
for parts in "random space" "random tpe tpe.startup=4" "sha kde kde.points=3" \
    "hyperband forest forest.design=4" "pbt space pbt.population=4 pbt.interval=3"; do
    read -r tuner sampler more <<END
$parts
END
    # shellcheck disable=SC2086
    tune "$tmp/flow.ini" run.tuner="$tuner" run.sampler="$sampler" $more space.first="$tmp/first.tsv"
    [ $? = 0 ] && [ "$(first)" = "descent,0.5, ridge,,0.25 " ]
    result $? "$tuner and $sampler begin with the configurations of space.first"
done
refused() # PATTERN STATEMENT OPTION...
{
    refuses 2 "$1" "$2" tune "$tmp/flow.ini" space.first="$tmp/first.tsv" "${@:3}"
}
refused 'space.first = .*nothing in this run reads it; it is for space.source = random' "a grid does not begin with any" space.source=grid space.configs=0
refused 'column "flow.lambda" is no axis of this search; delete it' "a column of a fixed option is refused" \
    flow.lambda=1
refused 'configuration 1 has flow.step = 0.5, which is not in log 0.001 .. 0.4 when' "and a value beyond its range" \
    'flow.step=log 1e-3 .. 0.4 when method = descent' flow.features=5
tune "$tmp/flow.ini" 'space.first=method=ridge flow.lambda=0.25, flow.step=0.5  method=descent' &&
    [ "$(first)" = "descent,0.5, ridge,,0.25 " ]
result $? "the input itself may have them"
worst='tokenizer=remove stop=yes lower=no order=1 binary=no weights=sif alpha=1e-5 normalize=average'
tune inputs/demo.ini run.data="$tmp/documents.h5" ngram.bins=4096 run.test=no space.configs=16 ws_sha.switch=3 \
    space.first="$worst"
[ $? = 0 ] && "$weft" report "$tmp/r.h5" 2>>"$tmp/log" | awk '/^best/ { n = 1 } n && $2 == "0" { f = 1 } END { exit !f }'
result $? "a map of them that is bad in shared fits is still fitted alone"
while IFS='|' read -r statement list pattern; do
    tune "$tmp/flow.ini" space.first="$list"
    refusal $? 2 "[[]space[]]$pattern" "$statement"
done <<'END'
a word among them is refused|method=ridge, ridge|: 'ridge' where section.key=value is expected
so is a key without value|method=, method=ridge|: 'method=' where section.key=value
a key that comes again|method=ridge method=descent|: a configuration has method twice
and a value that is none|method=ridge, method=ridg|:3: method: 'ridg' is none of
END
printf 'method\tlambda\nridge\t0.25\ndescent\t2\n' >"$tmp/first.tsv"
refused 'configuration 1 has flow.lambda = 2, .*condition is not met; write "-"' "and one without a meaning"
printf 'method\tlambda\nridge\t0.25\ndescent\n' >"$tmp/first.tsv"
refused 'first.tsv:3: 1 fields' "and a short line"
rm "$tmp/first.tsv"
tune "$tmp/flow.ini" space.first="$tmp/first.tsv"
[ $? = 3 ] && grep -q '^weft: .*first.tsv: No such file.*space.first' "$tmp/log"
result $? "a missing list is named"

cat >"$tmp/fed.ini" <<END
[run]
task = fed
tuner = sha
mixing = fedex
[space]
configs = 3
[sha]
max_resource = 2
budget = 4
eliminations = 1
[fed]
model = linear
cohort = 4
[client]
momentum = 0 | 0.9
lr = log 0.01 .. 1 when momentum = 0
epochs = 1 .. 3 when momentum = 0.9
END
call pack synthetic federated=generated clients=20 -o "$tmp/fed.h5"
tune "$tmp/fed.ini" run.data="$tmp/fed.h5" fedex.k=4
result $? "clients draw from mixtures of configurations that have different axes"
tune "$tmp/fed.ini" run.data="$tmp/fed.h5" fedex.levels=2
check "but not from a product of grids" grep -q "use fedex.k" "$tmp/log"

# What the first trial of a federation is.
begins() # STATEMENT SETTINGS...: "momentum,lr,epochs" of the first trial are $wanted
{
    tune "$tmp/fed.ini" run.data="$tmp/fed.h5" run.mixing=none "${@:2}"
    found=$("$weft" report "$tmp/r.h5" --trials --csv 2>"$tmp/log" | awk -F, '{ gsub(/"/, "") }
        NR == 1 { for (i = 1; i <= NF; i++) at[$i] = i }
        NR > 1 && $at["trial"] == 0 { print $at["client.momentum"] + 0 "," $at["client.lr"] + 0 "," $at["client.epochs"] + 0 }')
    [ "$found" = "$wanted" ] || { echo "$found" >"$tmp/log" && false; }
    result $? "$1"
}
wanted=0,0.1,0
for tuner in sha random hyperband asha pbt; do
    case $tuner in hyperband | asha) least=$tuner.min_resource=1\ $tuner.max_resource=3 ;; *) least= ;; esac
    # shellcheck disable=SC2086
    begins "$tuner begins with the defaults of a federation" run.tuner=$tuner $least
done
wanted=0.9,0,3
begins "or with what is given" "space.first=client.momentum=0.9 client.epochs=3"
tune "$tmp/fed.ini" run.data="$tmp/fed.h5" run.mixing=none space.first=defaults && cp "$tmp/r.h5" "$tmp/same.h5" &&
    tune "$tmp/fed.ini" run.data="$tmp/fed.h5" run.mixing=none &&
    [ "$("$weft" report "$tmp/same.h5" | grep digest)" = "$("$weft" report "$tmp/r.h5" | grep digest)" ]
result $? "which is space.first = defaults"
tune "$tmp/fed.ini" run.data="$tmp/fed.h5" run.mixing=none space.first= &&
    [ "$("$weft" report "$tmp/same.h5" | grep digest)" != "$("$weft" report "$tmp/r.h5" | grep digest)" ]
result $? "without which all are drawn"
# One training has the average as its result.
whole() # SETTINGS...: digest of one training
{
    tune "$tmp/fed.ini" run.data="$tmp/fed.h5" run.mixing=none run.tuner=one one.resource=20 one.parts=2 fed.eval_clients=0 "$@" \
        client.momentum=0 client.epochs=1 'client.lr=log 0.01 .. 1' && digest "$tmp/r.h5"
}
unsaid=$(whole fed.select=eval) && [ -n "$unsaid" ] && [ "$unsaid" = "$(whole fed.select=eval server.average=tail)" ]
result $? "one training has the average of its tail as result"
check "if no other is given" [ "$unsaid" != "$(whole fed.select=eval server.average=none)" ]
[ "$(whole fed.select=pooled)" = "$(whole fed.select=pooled server.average=none)" ]
result $? "and nothing that rounds do not score"
echo "1..$count"
