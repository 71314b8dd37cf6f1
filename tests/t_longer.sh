#!/bin/bash
# A search, complete or stopped, is made longer: it ends as one that was so long from the
# beginning, and does again nothing that it has. Prints TAP.
. tests/tap.sh

call pack synthetic federated=generated clients=12 -o "$tmp/clients.h5" &&
    call pack synthetic documents rows=120 -o "$tmp/documents.h5" &&
    call pack synthetic images rows=200 -o "$tmp/images.h5"
result $? "data are packed"
cat >"$tmp/fed.ini" <<END
[run]
data = $tmp/clients.h5
task = fed
workers = 3
[fed]
model = mlp
cohort = 4
[mlp]
hidden = 4
[client]
lr = log 0.01 .. 1
batch = 4 | 8 | 16
[device]
speed = exponential
sample_seconds = 0.1
[asha]
reduction = 2
max_resource = 8
[sha]
reduction = 2
max_resource = 8
rungs = geometric
[hyperband]
max_resource = 4
reduction = 2
[random]
resource = 3
[tpe]
startup = 4
[kde]
points = 4
END
cat >"$tmp/fmap.ini" <<END
[run]
data = $tmp/documents.h5
task = fmap
tuner = random
workers = 2
[fmap]
feature = ngram
model = ridge
[ngram]
bins = 512
order = 1 .. 3
binary = no | yes
weights = nb | sif
alpha = log 1e-5 .. 100
[forest]
design = 4
[tpe]
startup = 4
END
cat >"$tmp/program.ini" <<END
[run]
task = command
workers = 2
[space]
configs = 6
[command]
run = echo x >>$tmp/calls; test \$PARAM_kind != c || exit 1; n=\$(cat \$WEFT_DIR/steps 2>/dev/null || echo 0); n=\$((n + WEFT_RESOURCE)); echo \$n >\$WEFT_DIR/steps; echo loss=\$(awk "BEGIN { print \$PARAM_width / \$n }")
[parameters]
width = log 1e-3 .. 1
kind = a | b | c
[asha]
reduction = 2
max_resource = 4
END

# does RANKS STATUS COMMAND ARGUMENT...
does()
{
    on "$1" "${@:3}"
    [ $? = "$2" ]
}
# same STATEMENT: more.h5 is whole.h5, trial by trial
same()
{
    "$weft" report "$tmp/whole.h5" --trials --csv | cut -d, -f2-8,10- >"$tmp/whole" 2>"$tmp/log" &&
        "$weft" report "$tmp/more.h5" --trials --csv | cut -d, -f2-8,10- >"$tmp/more" 2>"$tmp/log" &&
        diff "$tmp/whole" "$tmp/more" >"$tmp/out"
    result $? "$1"
    [ -n "$(digest "$tmp/whole.h5")" ] && [ "$(digest "$tmp/more.h5")" = "$(digest "$tmp/whole.h5")" ]
    result $? "with its digest"
    "$weft" report "$tmp/whole.h5" | grep -E '^(winner|valid|test)' >"$tmp/whole" &&
        "$weft" report "$tmp/more.h5" | grep -E '^(winner|valid|test)' | diff "$tmp/whole" - >"$tmp/out"
    result $? "with its winner"
    check "its directory is gone" [ ! -e "$tmp/more.d" ]
}
# longer INPUT SHORT LONG SETTING...: searched short and then longer, and long from the beginning
longer()
{
    input=$1 short=$2 long=$3
    shift 3
    does 1 0 tune "$tmp/$input.ini" "$long" "$@" -o "$tmp/whole.h5" --force &&
        does 2 0 tune "$tmp/$input.ini" "$short" "$@" -o "$tmp/more.h5" --force &&
        does "${ranks:-1}" 0 resume "$tmp/more.h5" "$long" run.teams="${teams:-1}" &&
        grep -q 'the run is complete and goes on: [0-9]* jobs are done already' "$tmp/log"
    result $? "$input $* is searched with $short, then $long, ${ranks:-1} ranks, ${teams:-1} teams"
    same "and ends as one that had $long from the beginning"
}
longer fed space.configs=5 space.configs=11 run.tuner=random
ranks=2 longer fed space.configs=9 space.configs=16 run.tuner=random run.sampler=tpe
ranks=2 longer fed space.configs=9 space.configs=16 run.tuner=random run.sampler=kde run.mixing=fedex fedex.k=2
longer fed space.configs=8 space.configs=14 run.tuner=asha
ranks=2 teams=2 longer fed space.configs=8 space.configs=14 run.tuner=asha run.sampler=tpe
ranks=2 teams=2 longer fed space.configs=8 space.configs=14 run.tuner=asha fed.algorithm=ditto
longer fed asha.trials=8 asha.trials=14 run.tuner=asha asha.variant=stopping
longer fed asha.jobs=9 asha.jobs=17 run.tuner=asha
longer fed space.configs=8 space.configs=12 run.tuner=sha
longer fed hyperband.repeats=1 hyperband.repeats=2 run.tuner=hyperband run.sampler=kde
cp inputs/flow.ini "$tmp/flow.ini"
longer flow space.configs=6 space.configs=13 run.tuner=asha asha.reduction=2 asha.max_resource=8 flow.p=10
longer fmap space.configs=6 space.configs=11
ranks=2 longer fmap space.configs=8 space.configs=14 run.sampler=tpe
longer fmap space.configs=8 space.configs=12 run.sampler=forest

# What is done is not done again.
does 1 0 tune "$tmp/fed.ini" run.tuner=random space.configs=5 -o "$tmp/more.h5" --force &&
    does 1 0 resume "$tmp/more.h5" space.configs=8 && [ "$(grep -c ' job [0-9]* of ' "$tmp/log")" = 3 ]
result $? "three trials more are three jobs more"
does 1 0 tune "$tmp/fed.ini" run.tuner=sha run.seed=2 space.configs=8 -o "$tmp/more.h5" --force &&
    does 1 0 resume "$tmp/more.h5" space.configs=20 &&
    grep -q 'the longer search asked for 14 of the 15 jobs that were done' "$tmp/log" &&
    [ "$(grep -c ' job [0-9]* of ' "$tmp/log")" = \
        "$("$weft" report "$tmp/more.h5" --trials --csv | awk -F, 'NR > 1 { n += $4 } END { print n - 14 }')" ]
result $? "of halving it is told how many jobs of the shorter search the longer one has"

does 1 0 tune "$tmp/fed.ini" run.tuner=asha run.sampler=tpe space.configs=8 -o "$tmp/more.h5" --force &&
    won=$(sed -n 's/^winner *trial \([0-9]*\),.*/\1/p' "$tmp/out") && does 1 0 resume "$tmp/more.h5" space.configs=14 &&
    grep -q 'state-.* is missing' "$tmp/log"
result $? "weights that paused are made again"
check "the winner stays, whose job has another number now" grep -q "^winner *trial $won," "$tmp/out"
! grep -q "state-$won-[0-9]* is missing" "$tmp/log"
result $? "its weights are not made again"

# Stopped, killed in the extension, and twice.
does 1 0 tune "$tmp/fed.ini" run.tuner=asha run.sampler=tpe space.configs=20 run.workers=2 -o "$tmp/whole.h5" --force
does 1 75 tune "$tmp/fed.ini" run.tuner=asha run.sampler=tpe space.configs=8 run.time_limit=1e-9 run.workers=2 -o "$tmp/more.h5" --force &&
    does 1 75 resume "$tmp/more.h5" space.configs=10 && does 2 0 resume "$tmp/more.h5" run.time_limit=0 &&
    ! grep -q 'is missing' "$tmp/log"
result $? "a stopped search is made longer, with the weights that are on disk"
WEFT_HOLD='job 32 of' "$weft" resume "$tmp/more.h5" space.configs=20 run.time_limit=0 >"$tmp/out" 2>"$tmp/log" &
pid=$!
held $pid && kill -KILL $pid
wait $pid 2>"$tmp/log"
[ -e "$tmp/more.d/journal" ] && "$weft" report "$tmp/more.h5" | grep -q '10 configurations'
result $? "killed, the complete run is there as it was"
check "and it is resumed" does 2 0 resume "$tmp/more.h5" run.time_limit=0
same "to the end of one that had so many from the beginning"

# Programs, some of which failed; states that are paused are made again.
does 1 0 tune "$tmp/program.ini" run.tuner=asha space.configs=14 -o "$tmp/whole.h5" --force &&
    does 1 0 tune "$tmp/program.ini" run.tuner=asha -o "$tmp/more.h5" --force && [ -d "$tmp/more.failed" ] && [ -d "$tmp/more.best" ] &&
    echo 9 >"$tmp/more.best/steps" && does 2 0 resume "$tmp/more.h5" space.configs=14
result $? "a search over programs is made longer"
same "and ends as one that was so long"
diff -r "$tmp/whole.best" "$tmp/more.best" >"$tmp/out"
result $? "with its winner's directory, though that was changed"
does 1 0 tune "$tmp/program.ini" run.tuner=random parameters.kind="a | b" -o "$tmp/more.h5" --force && : >"$tmp/calls" &&
    does 1 0 resume "$tmp/more.h5" space.configs=9 && [ "$(wc -l <"$tmp/calls")" = 3 ] && [ -d "$tmp/more.best" ]
result $? "no program is run twice"

does 1 0 tune "$tmp/program.ini" run.tuner=random space.configs=9 -o "$tmp/whole.h5" --force &&
    does 1 6 tune "$tmp/program.ini" run.tuner=random space.configs=4 -o "$tmp/more.h5" --force &&
    does 1 0 resume "$tmp/more.h5" space.configs=9
result $? "one of which all programs failed is made longer"
same "to the winner of one that was so long"

# Where it cannot be.
refused() # PATTERN STATEMENT RUN ARGUMENT...
{
    cksum "$tmp/$3" >"$tmp/sum"
    ! does 1 0 resume "$tmp/$3" "${@:4}" && [ "$(grep -c '^weft: ' "$tmp/log")" = 1 ] && grep -Eq "^weft: .*($1)" "$tmp/log" &&
        cksum "$tmp/$3" | diff - "$tmp/sum"
    result $? "$2"
    [ ! -e "$tmp/${3%.h5}.d" ] && [ -z "$(find "$tmp" -name '*.tmp.*')" ]
    result $? "which leaves no file"
}
refused 'the run has 9; a resume may give it more' "a search is not made shorter" more.h5 space.configs=8
cksum "$tmp/more.h5" >"$tmp/sum"
does 1 0 resume "$tmp/more.h5" space.configs=9 && grep -q ' is complete, and has so many already' "$tmp/log"
result $? "one that is so long is complete"
cksum "$tmp/more.h5" | diff - "$tmp/sum" >>"$tmp/log"
result $? "its file stays as it is"
does 1 0 tune "$tmp/program.ini" run.tuner=random -o "$tmp/failed.h5" && ls -R "$tmp/failed.best" "$tmp/failed.failed" >"$tmp/before"
does 1 0 tune "$tmp/program.ini" run.tuner=random parameters.kind=a parameters.width=1 -o "$tmp/one.h5"
refused 'would have no more jobs than its 1, for no option has a range' "one trial is no search" one.h5 space.configs=9
refused 'would have no more jobs' "nor by what does not count" failed.h5 hyperband.repeats=7
ls -R "$tmp/failed.best" "$tmp/failed.failed" | diff - "$tmp/before" >"$tmp/out"
result $? "and what is beside it stays"
refused 'given more resource or more trials, one after the other' "more rounds are another matter" more.h5 space.configs=12 random.resource=9
for tuner in ws_sha ws_eg; do
    does 1 0 tune "$tmp/fmap.ini" run.tuner=$tuner space.configs=4 -o "$tmp/shared.h5" --force
    refused "search cannot be made longer: .*start another run" "nor is $tuner, which shares weights" shared.h5 space.configs=8
done
does 1 75 tune "$tmp/fmap.ini" run.tuner=ws_sha space.configs=4 run.time_limit=1e-9 -o "$tmp/stopped.h5" --force
does 1 2 resume "$tmp/stopped.h5" space.configs=8 && grep -q 'run.tuner = ws_sha trains all configurations of .space. together' "$tmp/log" &&
    [ -e "$tmp/stopped.d/journal" ] && does 1 0 resume "$tmp/stopped.h5" run.time_limit=0
result $? "nor one that was stopped, which stays"
does 1 0 tune "$tmp/fed.ini" run.tuner=pbt pbt.population=4 pbt.interval=1 pbt.max_resource=2 -o "$tmp/pbt.h5"
refused 'search cannot be made longer: .*start another run' "nor a population" pbt.h5 space.configs=80
does 1 0 tune "$tmp/fed.ini" run.tuner=hyperband -o "$tmp/hyperband.h5"
refused 'makes it longer by hyperband.repeats=N' "hyperband is longer by repeats" hyperband.h5 space.configs=80
does 1 0 tune "$tmp/fed.ini" run.tuner=asha asha.trials=4 -o "$tmp/asha.h5"
refused 'would have no more jobs than its .*by space.configs=N or asha.trials=N' "trials that are set decide" asha.h5 space.configs=50
does 1 0 tune "$tmp/fed.ini" run.tuner=sha sha.rungs=fedex sha.budget=24 space.configs=4 sha.eliminations=1 -o "$tmp/sha.h5"
refused 'with more trials the first job of run.tuner = sha is another' "nor a search whose first job is another" sha.h5 space.configs=5
for section in space hyperband asha; do
    call list $section && grep -q 'weft resume. may raise it' "$tmp/out" || break
done
result $? "what makes a search longer is listed"
echo "1..$count"
