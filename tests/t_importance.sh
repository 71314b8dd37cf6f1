#!/bin/sh
# The report of the axis that matters: of programs whose loss is known, with axes that are
# logarithmic, whole, words or conditional, jobs that fail, several resources, lists and
# mixtures; the same text for any ranks and teams; refusals. Prints TAP.
. tests/tap.sh

cat >"$tmp/f.sh" <<'END'
awk -v l="$PARAM_lr" -v d="$PARAM_depth" -v a="$PARAM_act" -v m="$PARAM_mom" 'BEGIN {
    x = log(l) / log(10) + 2
    print (l > .6 ? "loss=nan" : "loss=" x * x + .1 * d + (a == "tanh" ? 1 + m : 0)) }'
END
cat >"$tmp/c.ini" <<END
[run]
task = command
tuner = random
[space]
configs = 64
[command]
run = sh $tmp/f.sh
[parameters]
lr = log 1e-4 .. 1
depth = 1 .. 8
act = relu | tanh | gelu
mom = 0 .. 1 when act = tanh
END
tune() # NAME ARGUMENT...
{
    name=$1
    shift
    timeout "$net" "$@" -o "$tmp/$name.h5" >"$tmp/out" 2>"$tmp/log"
}
importance() # NAME [ARGUMENT...]
{
    name=$1
    shift
    "$weft" report "$tmp/$name.h5" --importance "$@" >"$tmp/out" 2>"$tmp/log"
}
share() # AXIS [OTHER]: the share of that row of the CSV, in hundredths
{
    awk -F, -v a="\"$1\"" -v b="${2:+\"$2\"}" '$2 == a && $3 == b { printf "%d", 100 * $4 }' "$tmp/csv"
}

tune one "$weft" tune "$tmp/c.ini" && importance one --csv && cp "$tmp/out" "$tmp/csv"
result $? "a search is reported by axes"
[ "$(share parameters.lr)" -ge 60 ] && [ "$(share parameters.lr)" -le 85 ] &&
    [ "$(share parameters.act)" -ge 6 ] && [ "$(share parameters.act)" -le 20 ] &&
    [ "$(share parameters.depth)" -le 3 ] && [ "$(share parameters.mom)" -le 4 ]
result $? "the learning rate has most of the variance, the activation some"
[ "$(awk -F, 'NR > 1 && $3 == ""' "$tmp/csv" | wc -l)" = 4 ] && [ "$(wc -l <"$tmp/csv")" = 11 ]
result $? "four axes, six pairs"
[ "$(awk -F, '$3 == "" && NR > 1 { sum += $7 } END { printf "%.6f", sum }' "$tmp/csv")" = 1.000000 ]
result $? "shares among the best sum to 1"
importance one && grep -q '^results   64 results at resource 1, 3 failed and count as the worst other$' "$tmp/out" &&
    grep -q '^matters   0\.[67][0-9] of the variance of the loss is parameters\.lr (0\..* to 0\..* over trees; 64 results at resource 1)$' "$tmp/out"
result $? "people read how many failed, and what matters"
matters=$(grep ^matters "$tmp/out")
[ "$("$weft" report "$tmp/one.h5" | grep ^matters)" = "$matters" ]
result $? "the report of the run has that line"
grep -v '^run' "$tmp/out" >"$tmp/text"
tune two mpirun -n 2 "$weft" tune "$tmp/c.ini" run.teams=2 && importance two &&
    grep -v '^run' "$tmp/out" | cmp -s - "$tmp/text"
result $? "the text of two teams is that of one"
tune few "$weft" tune "$tmp/c.ini" space.configs=9 && importance few &&
    grep -q '^matters   not resolved: 9 results at resource 1, fewer than 10$' "$tmp/out"
result $? "nine results resolve nothing"
tune lone "$weft" tune "$tmp/c.ini" space.configs=9 parameters.lr=.1 parameters.depth=1 parameters.act=relu \
    parameters.mom=0 && importance lone && grep -q '^matters   nothing: the run is no search$' "$tmp/out" &&
    ! "$weft" report "$tmp/lone.h5" | grep -q ^matters
result $? "what is no search has no line"
tune equal "$weft" tune "$tmp/c.ini" space.configs=12 command.run='echo loss=1' && importance equal &&
    grep -q '^matters   not resolved: 12 results at resource 1, all equal$' "$tmp/out"
result $? "nor have equal losses a winner among axes"
tune failed "$weft" tune "$tmp/c.ini" space.configs=12 \
    command.run='test $WEFT_TRIAL = 0 && echo loss=1' && importance failed &&
    grep -q 'not resolved: 12 results at resource 1, all equal' "$tmp/out"
result $? "failed ones count as the worst other, here the only one"
tune noise "$weft" tune "$tmp/c.ini" \
    command.run='awk "BEGIN { print \"loss=\" $WEFT_TRIAL * 617 % 64 }"' && importance noise &&
    grep -q '^matters   not resolved: ' "$tmp/out"
result $? "noise is not resolved"
tune rungs "$weft" tune "$tmp/c.ini" run.tuner=sha sha.max_resource=27 sha.eliminations=3 sha.reduction=3 space.configs=108 &&
    importance rungs && grep -q '^results   36 results at' "$tmp/out"
result $? "of several resources the largest counts that 30 results have"
tune rungs "$weft" tune "$tmp/c.ini" run.tuner=sha sha.max_resource=27 sha.eliminations=3 sha.reduction=3 space.configs=27 --force &&
    importance rungs && grep -q '^results   27 results at' "$tmp/out"
result $? "where none has, the one that most have"
# in the grid's points the variances are 2.81 by lr, 0.25 by act, 0.08 by depth
tune grid "$weft" tune "$tmp/c.ini" space.source=grid space.levels=3 space.configs=0 \
    parameters.mom=0 parameters.act='relu | tanh' parameters.lr='log 1e-4 .. 0.5' && importance grid --csv &&
    cp "$tmp/out" "$tmp/csv" && [ "$(share parameters.lr)" -ge 80 ] && [ "$(share parameters.lr)" -le 94 ] &&
    [ "$(share parameters.act)" -ge 3 ] && [ "$(share parameters.act)" -le 12 ]
result $? "a grid has its points as values"
refused() # STATEMENT WORDS ARGUMENT...
{
    statement=$1 words=$2
    shift 2
    "$weft" report "$tmp/one.h5" "$@" >"$tmp/out" 2>"$tmp/log"
    [ $? = 2 ] && grep -q -e "$words" "$tmp/log" && [ ! -s "$tmp/out" ]
    result $? "$statement"
}
refused "it is no JSON" 'take out --json' --importance --json
refused "nor of trials" 'take out --trials' --importance --trials --csv
refused "nor a run file" 'neither CSV nor JSON' --importance -o "$tmp/now.h5"
"$weft" report "$tmp/none.h5" --importance >"$tmp/out" 2>"$tmp/log"
[ $? = 3 ]
result $? "a run that is not there is an error"
echo "1..$count"
