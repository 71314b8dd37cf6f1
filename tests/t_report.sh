#!/bin/bash
# The report and the scheduler agree on the best configuration, also where several are
# equal: the first line of the table is the winner. Every number of a report is computed from
# the run file a second time, by report.py: of rounds by two teams, of a task that knows its
# optimum, of mixtures; those of info by info.py. Prints TAP.
. tests/tap.sh

agrees() # STATEMENT ARGUMENT...: a search on few images; the table begins with its winner
{
    rm -rf "$tmp"/run.*
    call tune "$tmp/in.ini" "${@:2}" -o "$tmp/run.h5"
    winner=$(sed -n 's/^winner *\([0-9]*\): .*/\1/p' "$tmp/out")
    [ -n "$winner" ] && [ "$(awk '/^best /{ getline; print $2 }' "$tmp/out")" = "$winner" ]
    result $? "$1"
}

call pack synthetic images rows=200 -o "$tmp/img.h5"
result $? "few images are packed, on whose few validation rows many maps are equally good"
cat >"$tmp/in.ini" <<END
[run]
data = $tmp/img.h5
[space]
configs = 12
[rff]
features = 64
gamma = log 1e-4 .. 1e-2
END
for seed in 2 3; do
    agrees "a sweep, seed $seed" run.tuner=random run.seed=$seed
    agrees "a sweep by losses, seed $seed" run.tuner=random run.seed=$seed fmap.score=loss
    agrees "halving, seed $seed" run.tuner=ws_sha run.seed=$seed
    agrees "halving by losses, seed $seed" run.tuner=ws_sha run.seed=$seed fmap.score=loss fmap.validation=full
    agrees "gradients, seed $seed" run.tuner=ws_eg run.seed=$seed
    agrees "gradients and four fits, seed $seed" run.tuner=ws_eg ws_eg.switch=4 run.seed=$seed
done

cat >"$tmp/fed.ini" <<END
[run]
data = $tmp/clients.h5
task = fed
tuner = sha
mixing = fedex
teams = 2
overhead = 0.5
[space]
configs = 6
[fed]
model = mlp
cohort = 8
score_both = yes
pool = 1
[mlp]
hidden = 8
[client]
lr = log 0.01 .. 1
batch = 8 | 16
[device]
speed = exponential
sample_seconds = 0.1
dropout = 0.1
power = 2
[sha]
max_resource = 12
budget = 30
eliminations = 1
[fedex]
k = 3
END
cp inputs/flow.ini "$tmp/flow.ini"
find_python h5py
if [ -z "$python" ]; then
    echo "ok $((count += 1)) # SKIP no Python with h5py"
else
    call pack synthetic federated=generated clients=40 classes=5 -o "$tmp/clients.h5" &&
        on 2 tune "$tmp/fed.ini" -o "$tmp/fed.h5" &&
        call tune "$tmp/fed.ini" fed.algorithm=ditto run.teams=1 sha.max_resource=2 sha.budget=8 \
            -o "$tmp/kept.h5" &&
        call tune "$tmp/flow.ini" space.configs=6 sha.eliminations=1 flow.p=10 -o "$tmp/flow.h5" &&
        call tune "$tmp/in.ini" run.tuner=ws_sha -o "$tmp/mixture.h5"
    result $? "a federation is tuned by two teams, one whose clients keep models, flow and mixtures by one"
    "$python" tests/report.py "$weft" "$tmp/fed.h5" "$tmp/kept.h5" "$tmp/flow.h5" "$tmp/mixture.h5" >"$tmp/out" 2>"$tmp/log"
    result $? "every number of a report is that of the run file: text, CSV and JSON, runs and trials"
    cat >"$tmp/typed.ini" <<END
[run]
data = $tmp/clients.h5
task = fed
tuner = asha
[space]
configs = 12
[fed]
model = mlp
cohort = 8
[mlp]
hidden = 4
[client]
lr = log 0.01 .. 1e6
mu = 0 .. 1 when client.batch = 8
batch = 8 | 16
epochs = 1 .. 3
[device]
sample_seconds = 0.1
[asha]
reduction = 2
max_resource = 4
END
    cat >"$tmp/words.ini" <<END
[run]
data = $tmp/documents.h5
tuner = random
[space]
configs = 6
[fmap]
feature = ngram
model = logistic
[ngram]
bins = 1024
tokenizer = remove | split | treebank
binary = no | yes
order = 1 .. 3
alpha = log 1e-5 .. 100 when weights = nb
weights = nb | sif
END
    cat >"$tmp/program.ini" <<END
[run]
task = command
tuner = random
[space]
configs = 8
[command]
run = test \$PARAM_kind != c || exit 1; echo loss=0.5 spread=\$PARAM_width
[parameters]
width = log 1e-3 .. 1
kind = a | b | c
size = 16 | 32
END
    call pack synthetic documents rows=60 -o "$tmp/documents.h5" &&
        call tune "$tmp/words.ini" -o "$tmp/words.h5" &&
        call tune "$tmp/program.ini" -o "$tmp/program.h5" &&
        call tune "$tmp/typed.ini" -o "$tmp/typed.h5"
    WEFT_HOLD="job 7 of" "$weft" tune "$tmp/typed.ini" -o "$tmp/held.h5" >"$tmp/out" 2>"$tmp/log" &
    pid=$!
    held $pid && kill -KILL $pid
    wait $pid 2>/dev/null
    "$python" tests/report.py "$weft" "$tmp/typed.h5" "$tmp/words.h5" "$tmp/program.h5" "$tmp/held.h5:" >"$tmp/out" 2>"$tmp/log" &&
        "$weft" report "$tmp/typed.h5" "$tmp/words.h5" "$tmp/program.h5" "$tmp/held.h5" --trials --csv >"$tmp/trials" 2>"$tmp/log"
    result $? "trials have columns of reals, integers, truths and words, also of a run that was killed"
    [ "$(cut -d, -f6 "$tmp/trials" | sort -u | tr -d '\n')" = '"failed""finished""running""state""stopped"' ]
    result $? "they are finished, stopped or failed, and running where the run is not complete"
    call report "$tmp/typed.h5" --trials
    [ $? = 2 ] && grep -q 'add --csv or --json' "$tmp/log"
    result $? "a table of trials is for programs"
    cat >"$tmp/one.ini" <<END
[run]
data = $tmp/clients.h5
task = fed
tuner = random
[fed]
model = linear
[device]
sample_seconds = 0.1
[random]
resource = 3
END
    set --
    for seed in 1 2 3; do
        for how in client.mu=0 client.mu=0.5 server.optimizer=adam; do
            set -- "$@" "$tmp/$how-$seed.h5"
            call tune "$tmp/one.ini" run.seed=$seed $how -o "$tmp/$how-$seed.h5" || break
        done
    done
    "$python" tests/report.py "$weft" "$@" "$tmp/client.mu=0.5-3.h5" >"$tmp/out" 2>"$tmp/log"
    result $? "runs that differ in an option are of several methods, with means and intervals over their seeds"
    call tune "$tmp/one.ini" run.seed=4 -o "$tmp/plain.h5" &&
        call report "$@" "$tmp/plain.h5" &&
        grep -q '^ *1 *4 .* client.mu=0 *$' "$tmp/out" && [ "$(grep -c '^ *[0-9] ' "$tmp/out")" = 3 ]
    result $? "of which one is that of runs that do not set it, where it has its default"
    for tuner in sha hyperband random; do
        "$weft" tune inputs/flow.ini run.tuner=$tuner -o "$tmp/$tuner.h5" 2>>"$tmp/log" | grep '^lower'
    done >"$tmp/out"
    [ "$(grep -c 'those trained longest come first$' "$tmp/out")" = 2 ]
    result $? "a trial with a lower score than the winner's is told, with why it did not win"
    check "not where there is none" [ "$(wc -l <"$tmp/out")" = 2 ]
    "$python" tests/report.py "$weft" "$tmp/sha.h5" "$tmp/hyperband.h5" "$tmp/random.h5" >"$tmp/out" 2>"$tmp/log"
    result $? "every number of their reports is that of the run file"
    call pack synthetic documents rows=60 clients=5 -o "$tmp/letters.h5" &&
        call pack synthetic images rows=200 clients=7 partition=dirichlet -o "$tmp/dealt.h5" &&
        awk 'BEGIN { for (i = 0; i < 40; i++) print i % 7 "," (i % 9 ? i % 3 : "") "," (i % 4 ? "b" : "a") "," i % 5 % 2 }' >"$tmp/numbers.csv" &&
        call pack dense "$tmp/numbers.csv" -o "$tmp/numbers.h5" &&
        call export "$tmp/fed.h5" -o "$tmp/winner.h5" &&
        "$python" tests/info.py "$weft" "$tmp/img.h5" "$tmp/letters.h5" "$tmp/dealt.h5" "$tmp/numbers.h5" \
            "$tmp/winner.h5" >"$tmp/out" 2>"$tmp/log"
    result $? "so is every number that info prints of rows, documents, clients and winners"
fi
echo "1..$count"
