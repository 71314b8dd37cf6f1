#!/bin/bash
# What is known before a search: trials of older runs and lists of trials tell its sampler
# (space.prior), as if it had lived them. Prints TAP.
. tests/tap.sh

tune() # RUN OPTION...
{
    rm -rf "$tmp/$1".h5 "$tmp/$1".d
    call tune "$tmp/flow.ini" "${@:2}" -o "$tmp/$1.h5"
}
configs() # RUN: the configurations of its trials, one a line
{
    "$weft" report "$tmp/$1.h5" --trials --csv 2>>"$tmp/log" | awk -F, '{ gsub(/"/, "") }
        NR == 1 { for (i = 1; i <= NF; i++) { at[$i] = i; if ($i ~ /^flow\./) name[++n] = $i } }
        NR > 1 && !($at["trial"] in text) {
            for (i = 1; i <= n; i++) text[$at["trial"]] = text[$at["trial"]] (i > 1 ? " " : "") name[i] "=" $at[name[i]]
            if ($at["trial"] > last) last = $at["trial"]
        }
        END { for (t = 0; t <= last; t++) if (t in text) print text[t] }'
}
refused() # PATTERN STATEMENT OPTION...
{
    refuses "[23]" "$1" "$2" tune refused "${@:3}"
}

cat >"$tmp/flow.ini" <<END
[run]
task = flow
tuner = random
sampler = tpe
workers = 1
[random]
resource = 20
[space]
configs = 20
[tpe]
startup = 5
[flow]
p = 5
step = log 1e-3 .. 1.9
lambda = log 1e-3 .. 10
END

# ---- as if it had lived them --------------------------------------------------------------

for sampler in tpe kde forest; do
    few= && [ $sampler != tpe ] && few="$sampler.points=4" && [ $sampler = forest ] && few=forest.design=5
    # shellcheck disable=SC2086
    tune older run.sampler=$sampler $few && tune longer run.sampler=$sampler $few space.configs=21
    result $? "$sampler: a search of 20 trials, and the same of 21"
    # shellcheck disable=SC2086
    tune next run.sampler=$sampler $few space.configs=21 random.only=20 space.prior="$tmp/older.h5"
    result $? "a search is told of the shorter one"
    [ -n "$(configs next)" ] && [ "$(configs next)" = "$(configs longer | tail -1)" ]
    result $? "it proposes as the 21st what the longer one does"
done

cat >"$tmp/rungs.ini" <<END
run.tuner=sha space.configs=27 sha.reduction=3 sha.max_resource=27
END
# shellcheck disable=SC2046
tune rungs $(cat "$tmp/rungs.ini") && tune after space.prior="$tmp/rungs.h5" space.configs=6 random.resource=27
result $? "a search by halving tells of all its rungs"
check "as the log says" grep -q 'space.prior: 27 trials with 40 results are told' "$tmp/log"

# ---- the best comes first, and what was read is kept ----------------------------------------

tune older && best=$("$weft" report "$tmp/older.h5" | sed -n 's/^winner.*: flow/flow/p')
check "a search with a prior" tune new space.prior="$tmp/older.h5" space.configs=8
[ -n "$best" ] && "$weft" report "$tmp/new.h5" | grep -q "^winner *0: $best$"
result $? "begins with the best configuration of the older one"
check "whose trials are none of its own" [ "$(configs new | wc -l)" = 8 ]
whole=$(digest "$tmp/new.h5")
tune given space.prior="$tmp/older.h5" space.configs=3 space.first="flow.step=0.5 flow.lambda=1"
configs given | head -1 | grep -q '^flow.step=0.5 flow.lambda=1$'
result $? "space.first comes in its place"

cp "$tmp/older.h5" "$tmp/kept.h5"
rm -rf "$tmp"/new.*
WEFT_HOLD="job 4 of" "$weft" tune "$tmp/flow.ini" space.prior="$tmp/older.h5" space.configs=8 -o "$tmp/new.h5" \
    >"$tmp/out" 2>"$tmp/log" </dev/null &
held $! && rm "$tmp/older.h5" && kill -KILL $!
wait $! 2>/dev/null
check "killed, it is resumed without the older run's file" call resume "$tmp/new.h5"
check "to the same digest" has_digest "$whole" "$tmp/new.h5"
call resume "$tmp/new.h5" space.configs=10 && [ "$(configs new | wc -l)" = 10 ]
result $? "and made longer"
cp "$tmp/kept.h5" "$tmp/older.h5"
tune two space.prior="$tmp/older.h5 $tmp/rungs.h5" space.configs=3 && grep -q 'space.prior: 47 trials with 60 results are told' "$tmp/log"
result $? "two runs are told one after the other"

# ---- a list of trials -----------------------------------------------------------------------

find_python h5py
if [ "$python" ]; then
    "$python" - "$tmp/older.h5" "$tmp/trials.csv" <<'END' >"$tmp/log" 2>&1
import csv, sys, h5py
with h5py.File(sys.argv[1]) as f, open(sys.argv[2], "w", newline="") as out:
    w = csv.writer(out)
    w.writerow(["flow.step", "lambda", "resource", "loss"])
    for row, resource, loss in zip(f["configs/value"][:], f["events/resource"][:], f["events/loss"][:]):
        w.writerow([repr(float(x)) for x in (*row, resource, loss)])
END
    tune next space.configs=21 random.only=20 space.prior="$tmp/older.h5" && one=$(configs next) &&
        tune next space.configs=21 random.only=20 space.prior="$tmp/trials.csv"
    result $? "the same trials as a table of a user's"
    [ -n "$one" ] && [ "$(configs next)" = "$one" ]
    result $? "tell the same"
    cut -d, -f 1,2,4 "$tmp/trials.csv" >"$tmp/bare.csv"
    tune next space.configs=21 random.only=20 space.prior="$tmp/bare.csv" && [ "$(configs next)" = "$one" ]
    result $? "also without a resource, which is then the search's own"
fi
tune hand space.configs=2 space.prior="flow.step=0.1 flow.lambda=0.2 loss=0.9, flow.step=0.5 flow.lambda=1 loss=0.8, flow.step=1 flow.lambda=1"
result $? "trials stand in the input, one without a loss diverged"
configs hand | head -1 | grep -q '^flow.step=0.5 flow.lambda=1$'
result $? "and their best comes first"

# ---- other spaces ---------------------------------------------------------------------------

tune narrow space.prior="$tmp/older.h5" space.configs=3 "flow.step=log 1e-2 .. 1"
n=$(configs older | awk -F '[= ]' '$2 >= 0.01 && $2 <= 1' | wc -l)
grep -q "space.prior: $n trials with $n results are told, $((20 - n)) results are not, .*, the first by flow.step = log 0.01 .. 1$" "$tmp/log"
result $? "trials outside of narrower ranges are left out ($n are not)"
! grep -q ' had flow' "$tmp/log"
result $? "and other ranges are no other values"
tune wide space.prior="$tmp/older.h5" space.configs=3 "flow.method=flow | descent" &&
    grep -q 'space.prior: 20 trials with 20 results are told' "$tmp/log" && configs wide | head -1 | grep -q '^flow.method=descent '
result $? "an axis that the older run lacks has the value that it had there"
tune fixed space.prior="$tmp/older.h5" space.configs=3 flow.lambda=1
grep -q 'older.h5: 20 trials are left out.*flow.lambda' "$tmp/log"
result $? "trials with another value of what is an axis no longer are left out"
# shellcheck disable=SC2046
tune rungs $(cat "$tmp/rungs.ini") && tune fixed space.prior="$tmp/rungs.h5" space.configs=3 flow.lambda=1
check "trials, not their results" grep -q 'rungs.h5: 27 trials are left out.*flow.lambda' "$tmp/log"
tune other space.prior="$tmp/older.h5" space.configs=3 flow.method=flow && grep -q 'older.h5 had flow.method = descent, here flow' "$tmp/log"
result $? "another value of an option that is no axis is told"

# ---- axes of some trials, equal losses, tables with gaps ------------------------------------

cat >"$tmp/some.ini" <<END
[run]
task = command
tuner = random
sampler = tpe
workers = 1
seed = 3
[space]
configs = 12
[command]
run = echo loss=0.5
[parameters]
x = 0 .. 1.0 when a = q
y = 0 .. 1.0
a = p | q
END
some() # RUN OPTION...
{
    rm -rf "$tmp/$1".*
    call tune "$tmp/some.ini" "${@:2}" -o "$tmp/$1.h5"
}
some all
n=$("$weft" report "$tmp/all.h5" --trials --csv | grep -c '"p"$')
some told space.configs=2 space.prior="$tmp/all.h5" parameters.x=0.5
[ "$n" -gt 0 ] && [ "$n" -lt 12 ] && grep -q "space.prior: $n trials with $n results are told" "$tmp/log" &&
    grep -q "all.h5: $((12 - n)) trials are left out.*parameters.x" "$tmp/log"
result $? "what an axis of some trials decides leaves out these alone ($n are not)"
printf 'parameters.y,a,x,loss\n0.1,q,0.2,\n0.3,q,0.4,0.8\n0.6,p,,0.9\n' >"$tmp/gaps.csv"
some told space.configs=2 space.prior="$tmp/gaps.csv" && grep -q 'space.prior: 3 trials with 3 results are told$' "$tmp/log" &&
    "$weft" report "$tmp/told.h5" | grep -q '^winner *0: parameters.x=0.4 parameters.y=0.3 parameters.a=q$'
result $? "an empty cell is no value, and as a loss of a trial that diverged"
printf ',loss,x,parameters.y,a\n0,nan,0.2,0.1,q\n1,0.8,0.4,0.3,q\n2,inf,0.6,0.5,p\n' >"$tmp/of pandas.csv"
some told space.configs=2 space.prior="$tmp/of pandas.csv" && grep -q 'space.prior: 3 trials with 3 results are told$' "$tmp/log" &&
    "$weft" report "$tmp/told.h5" | grep -q '^winner *0: parameters.x=0.4 parameters.y=0.3 parameters.a=q$'
result $? "a table as pandas writes it: numbered rows, losses that are nan or inf, and a name with a blank"

# ---- other data, and several configurations a job -------------------------------------------

for seed in 1 2; do call pack synthetic images rows=60 classes=2 d=16 seed=$seed -o "$tmp/d$seed.h5"; done
cat >"$tmp/maps.ini" <<END
[run]
tuner = random
sampler = tpe
workers = 1
[space]
configs = 5
[tpe]
startup = 3
[fmap]
feature = rff
model = ridge
[rff]
features = 8
gamma = log 1e-4 .. 1e4
END
maps() # RUN DATA OPTION...
{
    rm -rf "$tmp/$1".*
    call tune "$tmp/maps.ini" run.data="$tmp/$2.h5" "${@:3}" -o "$tmp/$1.h5"
}
maps one d1 && maps two d2 && cp "$tmp/one.h5" "$tmp/again.h5" && maps same d1 space.prior="$tmp/one.h5"
! grep -q 'is of other data' "$tmp/log" && grep -a -q 'known\.tie=' "$tmp/same.h5" && ! grep -a -q 'known\.other' "$tmp/same.h5"
result $? "losses of the same data are compared, equal ones by their ties"
maps others d2 space.prior="$tmp/one.h5 $tmp/two.h5 $tmp/again.h5" && [ "$(grep -c 'is of other data' "$tmp/log")" = 2 ] &&
    grep -a -q 'known\.other=1 ' "$tmp/others.h5" && grep -a -q 'known\.other=2 ' "$tmp/others.h5"
result $? "those of other data among themselves, file by file"
maps shared d1 run.tuner=ws_eg run.sampler=space
maps mixed d1 space.prior="$tmp/shared.h5"
grep -q 'shared.h5: 5 jobs of several configurations are left out' "$tmp/log" && grep -q 'space.prior: 1 trials with 1 results are told' "$tmp/log"
result $? "of mixtures only the job of the one that was left is told"

# ---- refused --------------------------------------------------------------------------------

refused 'older.h5.*flow.loss = estimation.*prediction' "another loss" space.prior="$tmp/older.h5" flow.loss=prediction
refused 'run.sampler = space' "a sampler that does not learn" space.prior="$tmp/older.h5" run.sampler=space
refused 'none.h5.*No such file' "a file that is not there" space.prior="$tmp/none.h5"
refused 'space.prior = [^ ]*older.h5: .*space.source' "a grid" space.prior="$tmp/older.h5" run.sampler=space space.source=grid space.configs=0
refused 'no column.*loss' "a list without losses" space.prior="flow.step=0.1 flow.lambda=0.2"
refused 'depth.*names no option' "a column that is none" space.prior="flow.step=0.1 depth=2 loss=1"
refused 'flow.lambda.*no axis' "a column that is no axis" space.prior="flow.step=0.1 flow.lambda=0.2 loss=1" flow.lambda=1
refused 'loss.*wide' "a loss that is none" space.prior="flow.step=0.1 flow.lambda=0.2 loss=wide"
refused 'space.prior: a trial has no resource' "no resource where the schedule has several" space.prior="flow.step=0.1 flow.lambda=0.2 loss=1" run.tuner=pbt pbt.population=4
printf 'x' >"$tmp/text.h5"
refused 'text.h5' "what is no run file" space.prior="$tmp/text.h5"
cat >"$tmp/command.ini" <<END
[run]
task = command
tuner = random
[command]
run = echo loss=0.5
[parameters]
x = 0 .. 1
END
rm -rf "$tmp"/c.*
"$weft" tune "$tmp/command.ini" space.configs=3 -o "$tmp/c.h5" >"$tmp/out" 2>"$tmp/log" </dev/null
refused 'c.h5.*run.task = command' "a run of another task" space.prior="$tmp/c.h5"

echo "1..$count"
