#!/bin/bash
# Search spaces as others write them: the run is that of weft's own spelling, to the bit; what
# space.forbid excludes is not tried, on any ranks, whoever is killed. Prints TAP.
. tests/tap.sh
cat >"$tmp/in.ini" <<'END'
[run]
task = flow
tuner = sha
seed = 1
[space]
configs = 20
[sha]
max_resource = 27
[flow]
p = 50
n = 100
method = flow | descent
step = log 1e-3 .. 1.9
lambda = 0.01 | 0.1 | 1
END
tune() # RUN ARGUMENT...
{
    call tune "$tmp/in.ini" -o "$tmp/$1.h5" "${@:2}"
}
refused() # PATTERN STATEMENT ARGUMENT...
{
    tune bad "${@:3}"
    refusal $? 2 "$1" "$2"
    [ ! -e "$tmp/bad.d" ] && [ ! -e "$tmp/bad.h5" ]
    result $? "before anything is made"
}
tune own && tune other 'flow.method=["flow", "descent"]' 'flow.step=loguniform(1e-3, 1.9)' 'flow.lambda=0.01, 0.1, 1'
result $? "ranges as other programs write them"
[ -n "$(digest "$tmp/own.h5")" ] && [ "$(digest "$tmp/own.h5")" = "$(digest "$tmp/other.h5")" ]
result $? "give the same run"
LC_ALL=C grep -aq 'step = log 1e-3 .. 1.9' "$tmp/other.h5" && ! LC_ALL=C grep -aq loguniform "$tmp/other.h5"
result $? "whose input has weft's own"

not='space.forbid=flow.method = flow and flow.lambda = 0.01 | 0.1 or flow.step = 0.5 .. 1.9'
allowed() # RUN: none of its trials is forbidden
{
    call report "$tmp/$1.h5" --trials --csv &&
        awk -F, 'NR > 1 { n++; out += $(NF - 1) >= 0.5 || $(NF - 2) == "\"flow\"" && $NF < 0.5 } END { exit n != 20 || out > 0 }' "$tmp/out"
}
for sampler in space tpe kde forest; do
    check "$sampler: a search with forbidden combinations" tune $sampler "run.sampler=$sampler" "$not"
    check "the log says their share" grep -Eq 'space.forbid excludes [0-9.]+ % of random configurations' "$tmp/log"
    check "none of which is tried" allowed $sampler
    on 2 tune "$tmp/in.ini" -o "$tmp/two.h5" run.sampler=$sampler "$not" run.teams=2 run.time_limit=1e-9 --force
    for _ in $(seq 200); do
        [ -e "$tmp/two.d" ] || break
        call resume "$tmp/two.h5"
        call resume "$tmp/two.h5" run.time_limit=0
    done
    [ "$(digest "$tmp/two.h5")" = "$(digest "$tmp/$sampler.h5")" ]
    result $? "on two ranks, stopped and resumed, it is the same"
done
printf 'method\tlambda\tstep\ndescent\t0.1\t0.01\nflow\t0.1\t0.01\n' >"$tmp/list.tsv"
refused 'list.tsv:3: space.forbid' "a list with a forbidden one is refused with its line" space.source=list "space.file=$tmp/list.tsv" space.configs=0 "$not" flow.lambda=0.1 flow.step=0.01 flow.method=flow
refused 'forbids 100 % of the space' "a space in which all is forbidden" 'space.forbid=flow.step = 0.001 .. 1.9'
refused 'space.forbid = flow.stop = 1: .*did you mean flow.step' "an option that is none" 'space.forbid=flow.stop = 1'
refused 'flow.step = 1 .. 2 step 0.5: ' "a step of real numbers" 'flow.step=1 .. 2 step 0.5'
export PYTHONDONTWRITEBYTECODE=1 PYTHONPATH="$PWD/python" WEFT="$weft"
case $weft in /*) ;; *) WEFT=$PWD/$weft ;; esac
timeout "$net" python3 tests/spaces.py "$tmp/python" >"$tmp/out" 2>"$tmp/log"
result $? "spaces of Optuna, scipy and ConfigSpace, and what they have that weft has not"
words=w0
for i in $(seq 299); do words="$words | w$i"; done
for sampler in tpe kde forest; do
    printf '[run]\ntask = command\ntuner = random\nsampler = %s\n[space]\nconfigs = 20\n[parameters]\nword = %s\n[command]\nrun = printf "loss=0.%%s\\n" "${PARAM_word#w}"\n' "$sampler" "$words" >"$tmp/words.ini"
    check "$sampler: an axis of 300 words" call tune "$tmp/words.ini" -o "$tmp/words.h5" --force
    [ "$("$weft" report "$tmp/words.h5" --trials --csv 2>>"$tmp/log" | grep -c '"w[0-9]*"')" = 20 ]
    result $? "which a report names"
done
echo "1..$count"
