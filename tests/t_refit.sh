#!/bin/bash
# run.refit: the winner is trained once more on the train and valid parts together. Its weights are
# those of a run on a file whose train part has the rows of both; they do not depend on ranks,
# teams, stops and resumes, and are what eval, predict and export use. Prints TAP.
. tests/tap.sh
find_python h5py

trained() # RANKS NAME DATA [section.key=value ...]: into NAME.h5
{
    rm -rf "$tmp/$2.h5" "$tmp/$2.d"
    on "$1" tune "$tmp/empty.ini" "run.data=$tmp/$3.h5" "${@:4}" -o "$tmp/$2.h5"
}
weights() # RUN: a hash of its winner's tensors
{
    "$python" - "$1" <<'END' 2>>"$tmp/log"
import hashlib, sys
import h5py
with h5py.File(sys.argv[1]) as f:
    state = f["winner/state"]
    sums = [name + str(state[name].shape) + hashlib.sha1(state[name][:].tobytes()).hexdigest() for name in sorted(state)]
print(" ".join(sums))
END
}
same() # STATEMENT A B: the winners of two runs have the same tensors
{
    [ -n "$(weights "$tmp/$2.h5")" ] && [ "$(weights "$tmp/$2.h5")" = "$(weights "$tmp/$3.h5")" ]
    result $? "$1"
}
refused() # STATUS STATEMENT PATTERN DATA [section.key=value ...]: by one line, on two ranks
{
    refuses "$1" "$3" "$2" trained 2 bad "${@:4}"
}

# ---- data: parts.h5, and whole.h5 with the rows of both parts for training ---------------

: >"$tmp/empty.ini"
"$python" - "$tmp/rows.csv" <<'END' >"$tmp/out" 2>&1
import sys
import numpy as np
draw = np.random.default_rng(3)
x = draw.normal(size=(700, 6)) * [1, 1, 2, 30, 1, 0.1]
score = np.sin(2 * x[:, 0]) + x[:, 1] * x[:, 2] / 3 + draw.normal(size=700) / 3
with open(sys.argv[1], "w") as out:
    print("a,b,c,d,e,f,w,y", file=out)
    for i in range(700):
        print(*(f"{v:.5f}" for v in x[i]), 1 + i % 3, "low" if score[i] < -0.4 else "mid" if score[i] < 0.5 else "high", sep=",", file=out)
END
check "a table is packed" call pack dense "$tmp/rows.csv" weight=w valid=0.3 test=0.2 -o "$tmp/parts.h5"
# The packer mixes the rows of a part, by their number alone: they are written once more in an order
# from which it makes that of the two parts.
cat >"$tmp/join.py" <<'END'
import os, sys
import h5py
import numpy as np
def rows(path, *parts):
    with h5py.File(path) as f:
        names = np.array([n.decode() for n in f["class"][:]])
        return [(*x, names[y]) for p in parts for x, y in zip(f[p]["x"][:].tolist(), f[p]["label"][:])]
def write(name, rows):
    with open(f"{sys.argv[1]}/{name}.csv", "w") as out:
        print("a,b,c,d,e,f,y", file=out)
        for row in rows:
            print(*(f"{v:.9g}" for v in row[:-1]), row[-1], sep=",", file=out)
both = rows(sys.argv[1] + "/plain.h5", "train", "valid")
if os.path.exists(sys.argv[1] + "/whole.h5"):
    place = {row: i for i, row in enumerate(both)}
    wanted, both = both, both[:]
    for want, got in zip(wanted, rows(sys.argv[1] + "/whole.h5", "train")):
        both[place[got]] = want
write("both", both)
write("valid", rows(sys.argv[1] + "/plain.h5", "valid"))
write("test", rows(sys.argv[1] + "/plain.h5", "test"))
END
call pack dense "$tmp/rows.csv" drop=w valid=0.3 test=0.2 -o "$tmp/plain.h5"
for _ in 1 2; do
    "$python" "$tmp/join.py" "$tmp" >"$tmp/out" 2>"$tmp/log"
    rm -f "$tmp/whole.h5"
    call pack dense "$tmp/both.csv" valid_file="$tmp/valid.csv" test_file="$tmp/test.csv" -o "$tmp/whole.h5"
done
result $? "and once more with both parts for training"

# ---- as a run that was trained on both ----------------------------------------------------

maps="rff.features=200 rff.preprocess=standard rff.gamma=0.05"
for model in ridge logistic svm; do
    # shellcheck disable=SC2086
    trained 2 refit plain $maps fmap.model=$model fmap.folds=4 run.refit=yes && trained 1 once whole $maps fmap.model=$model
    same "$model: the weights are those of a fit to the rows of both parts" refit once
done
trained 1 refit plain rff.features=200 run.scale=standard rff.gamma=0.05 run.refit=yes &&
    trained 1 once whole rff.features=200 run.scale=standard rff.gamma=0.05
same "columns are scaled by the rows of both parts" refit once
mlp="run.task=sgd sgd.model=mlp mlp.hidden=8 train.lr=0.2 train.batch=16"
# shellcheck disable=SC2086
trained 3 refit plain $mlp random.resource=12 sgd.folds=3 run.refit=yes
call report "$tmp/refit.h5"
best=$("$python" -c 'import sys, h5py; print(int(h5py.File(sys.argv[1])["events/best_epoch"][0] + 0.5))' "$tmp/refit.h5" 2>>"$tmp/log")
# shellcheck disable=SC2086
trained 1 once whole $mlp random.resource="$best" sgd.keep=last
same "a network is trained as many epochs as were best in the folds, $best of 12" refit once
# shellcheck disable=SC2086
trained 1 refit plain $mlp random.resource=5 sgd.keep=last run.refit=yes &&
    trained 1 once whole $mlp random.resource=5 sgd.keep=last
same "or all of them, if the last is kept" refit once
# shellcheck disable=SC2086
trained 1 begin plain $mlp random.resource=2 run.seed=9 && trained 1 refit plain $mlp random.resource=3 sgd.keep=last run.refit=yes \
    run.start="$tmp/begin.h5" && trained 1 once whole $mlp random.resource=3 sgd.keep=last run.start="$tmp/begin.h5"
same "it begins with the weights of run.start" refit once

# A row of the valid part by which a training cannot go.
awk 'BEGIN { print "a,y"; for (i = 0; i < 40; i++) print (i % 7) - 3 + i % 2 "," i % 2 }' >"$tmp/small.csv"
printf 'a,y\n1,0\n1e30,1\n-1,1\n' >"$tmp/huge.csv"
call pack dense "$tmp/small.csv" valid_file="$tmp/huge.csv" -o "$tmp/huge.h5"
trained 1 refit huge run.task=sgd sgd.model=linear run.scale=none random.resource=3 sgd.keep=last run.refit=yes
grep -q 'warning: that training diverged; run.refit = no keeps the winner as the search has left it' "$tmp/log"
result $? "where it diverges the log says so"

# ---- on any ranks, stopped, longer --------------------------------------------------------

tune() # RANKS NAME [section.key=value ...]
{
    trained "$1" "$2" parts rff.features=150 rff.preprocess=standard "rff.gamma=log 0.001 .. 1" fmap.model=ridge \
        run.tuner=random fmap.folds=3 run.refit=yes space.configs="$configs" "${@:3}"
}
configs=5
tune 1 one && grep -q 'the winner was trained once more, on the 560 rows of train and valid' "$tmp/log"
result $? "the log tells of it"
! grep -q diverged "$tmp/log"
result $? "nothing is said to have diverged"
for score in loss log_error balanced; do
    trained 1 scored parts rff.features=50 fmap.model=logistic fmap.folds=3 fmap.score=$score run.refit=yes &&
        grep -q 'the winner was trained once more' "$tmp/log" && ! grep -q diverged "$tmp/log"
    result $? "nor in a search by fmap.score = $score"
done
tune 3 three run.teams=2
same "the weights are the same on 3 ranks in 2 teams" one three
tune 2 less run.memory=0.01
same "and with less memory" one less
rm -rf "$tmp"/stopped.*
WEFT_HOLD="job 5 of 5" "$weft" tune "$tmp/empty.ini" run.data="$tmp/parts.h5" rff.features=150 rff.preprocess=standard \
    "rff.gamma=log 0.001 .. 1" fmap.model=ridge run.tuner=random fmap.folds=3 run.refit=yes space.configs=5 \
    -o "$tmp/stopped.h5" >"$tmp/out" 2>"$tmp/log" </dev/null &
held $! && kill -TERM $! && kill -CONT $!
wait $!
[ $? = 75 ] && mpirun --oversubscribe -n 2 "$weft" resume "$tmp/stopped.h5" >"$tmp/out" 2>"$tmp/log" </dev/null
result $? "a run that was stopped after its last job is resumed"
same "with the same weights" one stopped
# A network's goes on in the middle: each start ends after one epoch.
epochs() # NAME [section.key=value ...]
{
    trained 2 "$1" parts run.task=sgd sgd.model=mlp mlp.hidden=8 train.lr="log 0.1 .. 0.3" run.tuner=random space.configs=$configs random.resource=3 sgd.keep=last run.refit=yes "${@:2}"
}
configs=2
epochs steady && ! grep -q diverged "$tmp/log"
result $? "of a network neither"
epochs stopped run.checkpoint=0 run.time_limit=1e-9
starts=1
while [ -e "$tmp/stopped.d" ] && [ "$starts" -lt 20 ]; do
    cat "$tmp/log" >>"$tmp/logs"
    mpirun --oversubscribe -n $((starts % 2 + 1)) "$weft" resume "$tmp/stopped.h5" >"$tmp/out" 2>"$tmp/log" </dev/null
    starts=$((starts + 1))
done
grep -q '^weft: stopped by time_limit = 1e-09 s after 2 jobs and 2 of 3 rounds of another; go on with' "$tmp/logs"
result $? "a training once more stops at the time limit between its epochs"
[ "$starts" = 8 ] # of 9 epochs, of which two are in the start that ends the search
result $? "each start goes on where the last one has stopped"
same "to the same weights" steady stopped
# Its checkpoint has the number that a longer search gives to another job.
epochs longer run.checkpoint=0 run.time_limit=1e-9
for starts in $(seq 20); do
    ! grep -q 'after 2 jobs and 2 of 3 rounds of another' "$tmp/log" || break
    "$weft" resume "$tmp/longer.h5" >"$tmp/out" 2>"$tmp/log" </dev/null
done
"$weft" resume "$tmp/longer.h5" space.configs=3 run.time_limit=0 >"$tmp/out" 2>"$tmp/log" </dev/null &&
    grep -q 'resumed: 2 jobs are done already' "$tmp/log" && ! grep -q 'damaged' "$tmp/log"
result $? "a search that was stopped in it is made longer, without a word on damage"
configs=3
epochs three
same "to the weights of one that was so long" three longer
configs=9
tune 1 long && cp "$tmp/one.h5" "$tmp/more.h5" &&
    call resume "$tmp/more.h5" space.configs=9
result $? "a search is made longer"
[ -n "$(digest "$tmp/long.h5")" ] && [ "$(digest "$tmp/more.h5")" = "$(digest "$tmp/long.h5")" ]
result $? "to the digest of one that was so long"
same "with its winner" long more

# ---- uses --------------------------------------------------------------------------------

call report "$tmp/one.h5" && grep -q '^refit .*on the 560 rows of train and valid$' "$tmp/out"
result $? "the report tells of it"
told=$(sed -n 's/^test .*error *\([0-9.]*\) %.*/\1/p' "$tmp/out")
call eval "$tmp/one.h5" "$tmp/parts.h5" && [ -n "$told" ] && [ "$(awk '$1 == "test" {print $4; exit}' "$tmp/out")" = "$told" ]
result $? "eval has its score"
check "it warns of the valid part" grep -q 'was trained on the valid part' "$tmp/log"
call export "$tmp/one.h5" -o "$tmp/exported.h5" &&
    call predict "$tmp/one.h5" "$tmp/test.csv" -o "$tmp/a.csv" &&
    call predict "$tmp/exported.h5" "$tmp/test.csv" -o "$tmp/b.csv" && cmp -s "$tmp/a.csv" "$tmp/b.csv"
result $? "predictions are those of the exported winner"
call tune "$tmp/empty.ini" run.data="$tmp/parts.h5" rff.features=150 run.refit=yes --plan &&
    grep -q 'of the winner once more on train and valid' "$tmp/out"
result $? "a plan has its operations"

trained 1 folds parts rff.features=20 fmap.folds=3 && ! grep -q 'was packed with' "$tmp/log"
result $? "folds of rows without groups are not warned of"

# ---- bad input ---------------------------------------------------------------------------

call pack synthetic federated=generated clients=10 -o "$tmp/clients.h5"
refused 2 "a federation is refused" "run.refit = yes: task fed trains no winner once more" clients run.task=fed run.refit=yes
refused 2 "so are folds of columns that run.scale scales" "fmap.folds = 3 and run.scale" parts fmap.folds=3 run.scale=standard
refused 4 "folds of a federation" "is a federation" clients fmap.folds=3
refused 2 "and a single fold" "fmap.folds = 1 with 560 samples" parts fmap.folds=1
echo "1..$count"
