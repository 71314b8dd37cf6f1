#!/bin/bash
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
    timeout "$net" "${@:2}" -o "$tmp/$1.h5" >"$tmp/out" 2>"$tmp/log"
}
importance() # NAME [ARGUMENT...]
{
    call report "$tmp/$1.h5" --importance "${@:2}"
}
share() # AXIS [OTHER]: the share of that row of the CSV, in hundredths
{
    awk -F, -v a="\"$1\"" -v b="${2:+\"$2\"}" '$2 == a && $3 == b && $12 == "" { printf "%d", 100 * $4 }' "$tmp/csv"
}
curve() # AXIS: values and the mean losses there
{
    awk -F, -v a="\"$1\"" '$2 == a && $12 != "" { print $12, $13, $14, $15 }' "$tmp/csv"
}

tune one "$weft" tune "$tmp/c.ini" && importance one --csv && cp "$tmp/out" "$tmp/csv"
result $? "a search is reported by axes"
[ "$(share parameters.lr)" -ge 60 ] && [ "$(share parameters.lr)" -le 85 ] &&
    [ "$(share parameters.act)" -ge 6 ] && [ "$(share parameters.act)" -le 20 ] &&
    [ "$(share parameters.depth)" -le 3 ] && [ "$(share parameters.mom)" -le 4 ]
result $? "the learning rate has most of the variance, the activation some"
[ "$(awk -F, 'NR > 1 && $12 == "" && $3 == ""' "$tmp/csv" | wc -l)" = 4 ] && [ "$(awk -F, 'NR > 1 && $12 == ""' "$tmp/csv" | wc -l)" = 10 ]
result $? "four axes, six pairs"
# over the others the mean is x^2 + 0.95, failed ones being 5.9: the depths' is 0.45, the activations' 0.5
curve parameters.lr | awk 'NR == 1 { good = $1 == 1e-4 } $1 < .004 || ($1 > .025 && $1 < .4) { x = log($1) / log(10) + 2; off = $2 - x * x - .95
    good = good && off > -.9 && off < .9 && $3 <= $2 && $2 <= $4 } END { exit !(good && NR == 50 && $1 == 1) }'
result $? "with its curve over the others, from end to end"
[ "$(curve parameters.act | awk '{ printf "%s ", $1 }')" = '"relu" "tanh" "gelu" ' ] &&
    curve parameters.act | awk '{ y[NR] = $2 } END { exit !(y[2] - y[1] > 1 && y[2] - y[1] < 2 && y[2] - y[3] > 1) }'
result $? "words are told by name"
[ "$(curve parameters.depth | awk '{ printf "%s ", $1 }')" = '1 2 3 4 5 6 7 8 ' ]
result $? "whole numbers are whole"
[ "$(awk -F, '$3 == "" && $12 == "" && NR > 1 { sum += $7 } END { printf "%.6f", sum }' "$tmp/csv")" = 1.000000 ]
result $? "shares among the best sum to 1"
importance one && grep -q '^results   64 results at resource 1, 3 failed and count as the worst other$' "$tmp/out" &&
    grep -q '^matters   0\.[67][0-9] of the variance of the loss is parameters\.lr (0\..* to 0\..* over trees; 64 results at resource 1)$' "$tmp/out"
result $? "people read how many failed, and what matters"
grep -Eq '^ 0\.[0-9]{3}   0\.[0-9]{3}  0\.[0-9]{3}         -  parameters\.[a-z]+, parameters\.[a-z]+$' "$tmp/out"
result $? "pairs have no share of the best"
matters=$(grep ^matters "$tmp/out")
[ "$("$weft" report "$tmp/one.h5" | grep ^matters)" = "$matters" ]
result $? "the report of the run has that line"
grep -v '^run' "$tmp/out" >"$tmp/text"
tune two mpirun -n 2 "$weft" tune "$tmp/c.ini" run.teams=2 && importance two &&
    grep -v '^run' "$tmp/out" | cmp -s - "$tmp/text"
result $? "the text of two teams is that of one"
"$weft" report "$tmp/one.h5" --csv >"$tmp/text" && "$weft" report "$tmp/one.h5" --json >>"$tmp/text" &&
    ! grep -q matters "$tmp/text"
result $? "but its CSV and JSON have not"
tune lone "$weft" tune "$tmp/c.ini" space.configs=20 parameters.lr=.1 parameters.depth=1 parameters.act=relu \
    parameters.mom=0 && importance lone && grep -q '^matters   nothing: the run is no search$' "$tmp/out" &&
    ! "$weft" report "$tmp/lone.h5" | grep -q ^matters
result $? "what is no search has no line"
tune equal "$weft" tune "$tmp/c.ini" space.configs=20 command.run='echo loss=0.1' && importance equal &&
    grep -q '^matters   not resolved: 20 results at resource 1, all equal$' "$tmp/out"
result $? "nor have equal losses a winner among axes"
tune failed "$weft" tune "$tmp/c.ini" space.configs=20 \
    command.run='test $WEFT_TRIAL = 0 && echo loss=1' && importance failed &&
    grep -q 'not resolved: 20 results at resource 1, all equal' "$tmp/out"
result $? "failed ones count as the worst other, here the only one"
tune noise "$weft" tune "$tmp/c.ini" \
    command.run='awk "BEGIN { print \"loss=\" $WEFT_TRIAL * 617 % 64 }"' && importance noise &&
    grep -q '^matters   not resolved: .* explains 0\.0' "$tmp/out" && ! "$weft" report "$tmp/noise.h5" | grep -q ^matters
result $? "noise is not resolved, and the report of the run has no line of it"
tune rungs "$weft" tune "$tmp/c.ini" run.tuner=sha sha.max_resource=27 sha.eliminations=3 sha.reduction=3 space.configs=108 &&
    importance rungs && grep -q '^results   36 results at resource 2$' "$tmp/out"
result $? "of several resources the largest counts that 30 results have"
tune rungs "$weft" tune "$tmp/c.ini" run.tuner=sha sha.max_resource=27 sha.eliminations=3 sha.reduction=3 space.configs=27 --force &&
    importance rungs && grep -q '^results   27 results at resource 3, 2 failed' "$tmp/out"
result $? "where none has, the one that most have"
# in the grid's points the variances are 2.5 by lr, 0.25 by act, 0.07 by depth
tune grid "$weft" tune "$tmp/c.ini" space.source=grid space.levels=4 space.configs=0 \
    parameters.mom=0 parameters.act='relu | tanh' parameters.lr='log 1e-4 .. 0.5' && importance grid --csv &&
    cp "$tmp/out" "$tmp/csv" && [ "$(share parameters.lr)" -ge 87 ] && [ "$(share parameters.lr)" -le 94 ] &&
    [ "$(share parameters.act)" -ge 3 ] && [ "$(share parameters.act)" -le 12 ]
result $? "a grid has its points as values"
[ "$(curve parameters.lr | awk '{ printf "%.3g ", $1 }') $(curve parameters.act | awk '{ printf "%s ", $1 }')" = \
    '0.0001 0.00171 0.0292 0.5  "relu" "tanh" ' ]
result $? "of which its curves are"

# of stored losses, as many as there are: of 16 words, of two axes alike, of numbers whose squares overflow
awk 'BEGIN { OFS = "\t"; print "config", "u", "v", "word", "resource", "word_loss", "sum", "plain", "large"
    for (u = 0; u < 8; u++) for (v = 0; v < 8; v++) for (w = 0; w < 16; w++)
        print n++, u, v, "w" w, 1, w * 7 % 16, u + v, 10 * u + v, 10 * u + v "e290" }' >"$tmp/t.tsv"
cat >"$tmp/t.ini" <<END
[run]
task = replay
tuner = random
[space]
configs = 160
[replay]
table = $tmp/t.tsv
loss = plain
[columns]
u = 0 .. 7
v = 0 .. 7
word = $(awk 'BEGIN { for (w = 0; w < 16; w++) printf "%sw%d", w ? " | " : "", w }')
END
stored() # NAME ARGUMENT...: its search, and the text on its axes
{
    tune "$1" "$weft" tune "$tmp/t.ini" "${@:2}" && importance "$1"
}
stored words replay.loss=word_loss && grep -q '^matters   1\.00 of the variance of the loss is columns\.word' "$tmp/out"
result $? "one of 16 words decides"
importance words --csv && [ "$(awk -F, 'NR > 1 && $12 != "" { print $2; exit }' "$tmp/out")" = '"columns.word"' ]
result $? "whose curve is the first"
stored alike replay.loss=sum && grep -q '^matters   columns\.[uv] has 0\.[45].*, columns\.[uv] has 0\.[45]' "$tmp/out"
result $? "of two axes alike both are named"
stored plain && sed 1d "$tmp/out" >"$tmp/text" && importance plain --csv && cp "$tmp/out" "$tmp/csv" &&
    curve columns.u | awk '{ u = $2 - 10 * $1 - 3.5; good += u * u < .5 } END { exit !(good == 8 && NR == 8) }'
result $? "a curve is in the units of the losses"
stored large replay.loss=large && sed 1d "$tmp/out" | cmp -s - "$tmp/text"
result $? "shares do not depend on the size of the losses"
stored few space.configs=19 && grep -q '^matters   not resolved: 19 results at resource 1, fewer than 20$' "$tmp/out" &&
    ! "$weft" report "$tmp/few.h5" | grep -q ^matters
result $? "19 results resolve nothing"
stored enough space.configs=20 && "$weft" report "$tmp/enough.h5" | grep -q '^matters   0.* is columns\.u (.*; 20 results at resource 1)$'
result $? "20 do"
stored single columns.v=0 columns.word=w3 && grep -q '^ 1\.000   1\.000  1\.000     1\.000  columns\.u$' "$tmp/out" &&
    ! "$weft" report "$tmp/single.h5" | grep -q ^matters
result $? "a single axis has all of it, of which the report of the run has no line"
stored trial space.configs=1 && grep -q '^matters   nothing: the run is no search$' "$tmp/out"
result $? "one trial is no search"
WEFT_HOLD="job 30 of" "$weft" tune "$tmp/t.ini" -o "$tmp/held.h5" >"$tmp/out" 2>"$tmp/log" &
pid=$!
held $pid && kill -KILL $pid
wait $pid 2>/dev/null
importance held && grep -q '^matters   0.* is columns\.u (.*; [23][0-9] results at resource 1)$' "$tmp/out"
result $? "a run that was killed is reported as far as it came"
stored most space.configs=10000 && grep -q '^results   10000 results at resource 1, 2048 of them taken$' "$tmp/out" &&
    [ "$(sed -n 's/^ 0.\([0-9]*\) .* columns\.u$/\1/p' "$tmp/out")" -ge 980 ]
result $? "of 10,000 results every fifth decides"

# of a grid by its order: in the first half u counts for nothing
awk 'BEGIN { OFS = "\t"; print "config", "u", "v", "word", "resource", "half"
    for (u = 0; u < 16; u++) for (v = 0; v < 16; v++) for (w = 0; w < 16; w++)
        print n++, u, v, "w" w, 1, (u > 7) * 10 + v / 4 }' >"$tmp/half.tsv"
stored half replay.table="$tmp/half.tsv" replay.loss=half columns.u='0 .. 15' columns.v='0 .. 15' space.source=grid \
    space.levels=16 space.configs=0 && grep -q '^results   4096 results at resource 1, 2048 of them taken$' "$tmp/out" &&
    grep -q '^matters   0\.9[0-9] of the variance of the loss is columns\.u ' "$tmp/out"
result $? "those that decide are from the whole search"

# of mixtures each configuration that was scored is a result, with its score
call pack synthetic federated=stored clients=40 classes=3 samples=20 -o "$tmp/fed.h5"
cat >"$tmp/fed.ini" <<END
[run]
task = fed
data = $tmp/fed.h5
tuner = random
mixing = mw
[random]
resource = 2
[space]
configs = 12
[fed]
cohort = 3
eval_clients = -1
[client]
lr = log 1e-3 .. 1
momentum = 0 .. 0.9
END
tune mixture "$weft" tune "$tmp/fed.ini" && importance mixture && "$weft" report "$tmp/mixture.h5" --json >"$tmp/json"
find_python h5py
if [ "$python" ]; then
    "$python" - "$tmp/mixture.h5" "$tmp/out" <<'END' >"$tmp/text" 2>&1
import re, sys, h5py
a = h5py.File(sys.argv[1])["arms"]
p, count = a["p"][:], a["count"][:]
first = [i for i in range(len(p)) if i == 0 or a["job"][i] != a["job"][i - 1]]
scored = int(((p > 0) & (count > 0)).sum())
found = int(re.search(r"(\d+) results at resource", open(sys.argv[2]).read())[1])
assert len(first) < len(p) and any(not count[i] > 0 for i in first), (len(first), len(p))
assert found == scored, (found, scored)
END
    result $? "of mixtures each configuration that was scored is a result"
else
    result 0 "SKIP there is no Python with h5py"
fi

refused() # STATEMENT WORDS ARGUMENT...
{
    call report "$tmp/one.h5" "${@:3}"
    [ $? = 2 ] && grep -q -e "$2" "$tmp/log" && [ ! -s "$tmp/out" ]
    result $? "$1"
}
refused "it is no JSON" 'take out --json' --importance --json
refused "nor of trials" 'take out --trials' --importance --trials --csv
refused "nor a run file" 'neither CSV nor JSON' --importance -o "$tmp/now.h5"
call report "$tmp/none.h5" --importance
check "a run that is not there is an error" [ $? = 3 ]
echo "1..$count"
