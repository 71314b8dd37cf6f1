#!/bin/bash
# run.class_weights = balanced: as a file whose rows weigh n / (K n_c), on any ranks; of texts and of
# federations; and fed.score = balanced, f1 and auc. Prints TAP.
. tests/tap.sh
find_python h5py
: >"$tmp/empty.ini"

# Four numbers and two classes: of each 20 rows 4 are of the rare one, which then counts 2.5, the
# other 0.625, exact numbers. The weight is in column w, and 1 where $3 is 1.
table() # ROWS FIRST PLAIN
{
    awk -v n="$1" -v first="$2" -v plain="$3" 'BEGIN {
        print "a,b,c,d,y,w"
        for (i = first; i < first + n; i++) {
            rare = i % 5 == 3
            printf "%d,%d,%d,%d,%s,%s\n", i * 37 % 101 + 30 * rare, i * 53 % 89, i * i % 83 + 9 * rare, i * 29 % 7,
                rare ? "rare" : "common", plain ? 1 : rare ? 2.5 : 0.625
        }
    }'
}
table 400 0 0 >"$tmp/train.csv"
table 100 400 1 >"$tmp/valid.csv"
pack="valid_file=$tmp/valid.csv test_file=$tmp/valid.csv label=y"
call pack dense "$tmp/train.csv" $pack weight=w -o "$tmp/weighted.h5" &&
    call pack dense "$tmp/train.csv" $pack drop=w -o "$tmp/plain.h5"
result $? "a table is packed with weights of rows and without"

tuned() # RANKS NAME DATA [section.key=value ...]: prints the digest
{
    on "$1" tune "$tmp/empty.ini" run.data="$tmp/$3.h5" -o "$tmp/$2.h5" --force "${@:4}" && digest
}
said() # NAME FILE: what the winner says of the rows, to all digits
{
    "$weft" predict "$tmp/$1.h5" "$tmp/plain.h5" >"$tmp/$2" 2>>"$tmp/log" && [ -s "$tmp/$2" ]
}
maps="run.task=fmap rff.features=30 rff.gamma=0.01 space.configs=1 run.tuner=random"
nets="run.task=sgd space.configs=1 run.tuner=random random.resource=4 train.lr=0.05 train.batch=30 sgd.keep=last"
balanced=run.class_weights=balanced

# A winner that guesses: of two classes always the first.
# shellcheck disable=SC2086
tuned 1 guess plain ${nets/train.lr=0.05/train.lr=1e-12} run.test=yes
result $? "a network that learns nothing ends"
grep -q 'warning: the winner has learnt nothing: its balanced error of 50.0 % is not better than that of guesses, 50.0 %$' "$tmp/log"
result $? "with a warning"
"$weft" report "$tmp/guess.h5" | grep -q '^guesses   its balanced error of 50.0 % is not better'
result $? "which the report repeats"
# shellcheck disable=SC2086
check "one that learns ends" tuned 1 learnt plain $nets run.test=yes run.scale=standard $balanced
! grep -q 'guesses' "$tmp/log"
result $? "without that warning"
while read -r name options; do
    # shellcheck disable=SC2086
    one=$(tuned 1 "$name" plain $options $balanced) && said "$name" said &&
        [ -n "$(tuned 1 own weighted $options)" ] && said own want && cmp "$tmp/said" "$tmp/want"
    result $? "$name: weights of classes are weights of rows, to the bit"
    [ -n "$(tuned 1 without plain $options)" ] && said without plain && ! cmp -s "$tmp/said" "$tmp/plain"
    result $? "$name: they change what is said"
    # shellcheck disable=SC2086
    [ -n "$one" ] && [ "$(tuned 2 two plain $options $balanced)" = "$one" ] && [ "$(tuned 3 three plain $options $balanced)" = "$one" ]
    result $? "$name: one digest on 1, 2 and 3 ranks"
done <<END
ridge $maps fmap.model=ridge
logistic $maps fmap.model=logistic
svm $maps fmap.model=svm svm.loss=squared
linear $nets sgd.model=linear
mlp $nets sgd.model=mlp mlp.hidden=5
END
"$weft" eval "$tmp/logistic.h5" "$tmp/plain.h5" >"$tmp/mine" 2>"$tmp/log" && "$weft" eval "$tmp/without.h5" "$tmp/plain.h5" >"$tmp/out" 2>>"$tmp/log" &&
    awk '$1 == "valid" && $2 == 100 { exit !($5 < 100) }' "$tmp/mine"
result $? "scores count rows, not weights"
one=$(tuned 1 folds plain $maps fmap.folds=4 $balanced) && other=$(tuned 1 other plain $maps fmap.folds=4) && [ "$other" != "$one" ]
result $? "folds have weights of their own"
[ -n "$one" ] && [ "$(tuned 3 three plain $maps fmap.folds=4 $balanced)" = "$one" ]
result $? "with one digest on 1 and 3 ranks"
errors() # NAME: error and balanced error of the test part
{
    "$weft" eval "$tmp/$1.h5" "$tmp/plain.h5" 2>>"$tmp/log" | awk '$1 == "test" { print $4, $5 }'
}
tuned 1 without plain $nets sgd.model=mlp mlp.hidden=5 >/dev/null
read -r error other < <(errors without)
read -r more less < <(errors mlp)
echo "$error $other; balanced $more $less" >"$tmp/out"
awk -v other="$other" -v less="$less" 'BEGIN { exit !(less < other - 1) }'
result $? "the mean of the classes' errors is less with them"
for key in train.balance=yes 'train.balance=no | yes'; do
    tuned 2 no plain $nets sgd.model=linear $balanced "$key" >/dev/null
    [ $? != 0 ] && [ "$(grep -c 'balanced weights classes in all configurations, and train.balance in some; leave one of them out' "$tmp/log")" = 1 ]
    result $? "beside $key they are refused"
done
tuned 2 same plain $nets sgd.model=linear train.balance=yes >/dev/null && said same said && said linear want && cmp "$tmp/said" "$tmp/want"
result $? "which has the same effect on a network"
tuned 2 no plain $maps ridge.solver=cholesky $balanced >/dev/null
[ $? != 0 ] && [ "$(grep -c 'ridge.solver = cholesky takes no weights of rows' "$tmp/log")" = 1 ]
result $? "a solver that takes no weights refuses them"
call pack dense "$tmp/train.csv" label=a drop=y,w target=regression -o "$tmp/number.h5"
tuned 2 no number $maps $balanced >/dev/null
[ $? != 0 ] && [ "$(grep -c 'has numbers to predict, and run.class_weights = balanced is of classes; leave it out' "$tmp/log")" = 1 ]
result $? "numbers to predict have none"
call tune inputs/command.ini $balanced -o "$tmp/no.h5"
[ $? = 2 ] && grep -q 'run.class_weights = balanced: task command trains on no classes that weft knows' "$tmp/log"
result $? "so have programs"

# ---- texts --------------------------------------------------------------------------------

awk 'BEGIN {
    split("good fine great superb well nice", good); split("bad poor awful dull weak sad", bad)
    split("film story actor scene music plot end start", both)
    for (i = 0; i < 600; i++) {
        k = i % 6 == 2
        printf "%s\t", k ? "up" : "down"
        for (j = 0; j < 6; j++) printf "%s ", (i * 7 + j * 5) % 3 ? both[(i * 11 + j * 13) % 8 + 1] : ((i + j) % 4 == 1 ? !k : k) ? good[(i + j) % 6 + 1] : bad[(i * j + 1) % 6 + 1]
        print ""
    }
}' >"$tmp/t.tsv"
call pack text "$tmp/t.tsv" -o "$tmp/text.h5"
texts="fmap.feature=ngram ngram.bins=4096 space.configs=4"
while read -r name options; do
    # shellcheck disable=SC2086
    one=$(tuned 1 "$name" text $texts "ngram.order=1 | 2" "$name.C=log 0.01 .. 1" $options $balanced) && [ -n "$one" ] &&
        [ "$(tuned 3 three text $texts "ngram.order=1 | 2" "$name.C=log 0.01 .. 1" $options $balanced)" = "$one" ]
    result $? "texts, $name $options: one digest on 1 and 3 ranks, where fits are done ahead"
    other=$(tuned 1 without text $texts "ngram.order=1 | 2" "$name.C=log 0.01 .. 1" $options) && [ "$other" != "$one" ]
    result $? "texts, $name $options: another one without weights"
done <<END
logistic run.tuner=random fmap.model=logistic
svm run.tuner=random fmap.model=svm
logistic run.tuner=random fmap.model=logistic logistic.penalty=l1
END
shared=$(tuned 1 shared text $texts run.tuner=ws_sha fmap.model=svm 'ngram.order=1 .. 3' $balanced) && [ -n "$shared" ] &&
    [ "$(tuned 2 two text $texts run.tuner=ws_sha fmap.model=svm 'ngram.order=1 .. 3' $balanced)" = "$shared" ]
result $? "and of maps that share a fit"
network="run.task=sgd sgd.model=txtcnn sgd.dim=6 txtcnn.f1=2 txtcnn.f2=2 txtcnn.f3=3 run.tuner=random space.configs=1 random.resource=2"
one=$(tuned 1 txtcnn text $network $balanced) && [ -n "$one" ] && [ "$(tuned 2 two text $network $balanced)" = "$one" ] && [ "$(tuned 1 without text $network)" != "$one" ]
result $? "networks on texts have them, too"

# ---- federations --------------------------------------------------------------------------

call pack dense "$tmp/train.csv" label=y drop=w clients=8 valid=0.25 -o "$tmp/sites.h5"
whole="fed.select=eval fed.eval_clients=0 fed.score_weights=global"
fed="run.task=fed run.mixing=none space.configs=1 fed.cohort=8 client.batch=1000 random.resource=1 run.tuner=random"
if [ -n "$python" ]; then
    tuned 1 begin sites $fed fed.model=linear client.lr=0 >/dev/null && tuned 1 end sites $fed fed.model=linear client.lr=0.1 run.start="$tmp/begin.h5" $balanced >/dev/null &&
        tuned 1 score sites $fed fed.model=linear client.lr=0.1 run.start="$tmp/begin.h5" fed.score=balanced fed.score_weights=global >/dev/null &&
        tuned 1 f1 sites $fed fed.model=linear client.lr=0.1 fed.score=f1 $whole >/dev/null && tuned 1 auc sites $fed fed.model=linear client.lr=0.1 fed.score=auc $whole >/dev/null &&
        "$python" - "$tmp" >"$tmp/out" 2>&1 <<'END'
import sys
import h5py
import numpy as np
tmp = sys.argv[1]
def state(name):
    with h5py.File(f"{tmp}/{name}.h5") as f:
        w = f["winner"]
        return w["state/fc1.weight"][:].astype(float), w["state/fc1.bias"][:].astype(float), w["shift"][:], w["scale"][:]
w, b, shift, scale = state("begin")
v, c, *_ = state("end")
with h5py.File(f"{tmp}/sites.h5") as f:
    count, first, x, y = f["client/count"][:], f["client/first"][:], f["x"][:], f["label"][:]
x = (x - shift) / scale
train = np.concatenate([np.arange(a, a + n[0]) for a, n in zip(first, count)])
valid = np.concatenate([np.arange(a + n[0], a + n[0] + n[1]) for a, n in zip(first, count)])
def weights(rows):
    n = np.bincount(y[rows], minlength=2)
    return (len(rows) / (2 * n))[y[rows]]
z = x[train] @ w.T + b
p = np.exp(z - z.max(1, keepdims=True))
p /= p.sum(1, keepdims=True)
g = weights(train)[:, None] * (p - np.eye(2)[y[train]]) / len(train)
for what, have, want in ("weights", v, w - 0.1 * g.T @ x[train]), ("biases", c, b - 0.1 * g.sum(0)):
    assert abs(have - want).max() < 1e-6, (what, have, want)
wrong = (x[valid] @ w.T + b).argmax(1) != y[valid]
want = np.mean([wrong[y[valid] == k].mean() for k in (0, 1)])
with h5py.File(f"{tmp}/score.h5") as f:
    assert abs(f["events/loss"][0] - want) < 1e-12, (f["events/loss"][0], want)
    assert abs(f["events/valid_error"][0] - wrong.mean()) < 1e-12
    assert abs(f["arms/score"][0] - want) < 1e-12
def near(name, want):
    with h5py.File(f"{tmp}/{name}.h5") as f:
        assert abs(f["events/loss"][0] - want) < 1e-9, (name, f["events/loss"][0], want)
def scores(name):
    w, b, *_ = state(name)
    z = x[valid] @ w.T + b
    return z[:, 1] - z[:, 0], y[valid]
z, truth = scores("f1")
said = (z > 0).astype(int)
near("f1", 1 - np.mean([2 * np.sum((said == k) & (truth == k)) / (np.sum(said == k) + np.sum(truth == k)) for k in (0, 1)]))
z, truth = scores("auc")
pairs = z[truth == 1][:, None] - z[truth == 0]
near("auc", 1 - (pairs > 0).mean() - (pairs == 0).mean() / 2)
END
    result $? "a round is the step by n / (K n_c), counts being those of all clients; scores are the mean of the classes' errors, 1 - F1 and 1 - AUC"
fi
many="run.task=fed space.configs=6 fed.cohort=5 client.batch=8 random.resource=4"
while read -r name options; do
    # shellcheck disable=SC2086
    one=$(tuned 1 "$name" sites $many "client.lr=log 0.01 .. 1" $options) && [ -n "$one" ] &&
        [ "$(tuned 2 two sites $many "client.lr=log 0.01 .. 1" $options)" = "$one" ] && [ "$(tuned 3 three sites $many "client.lr=log 0.01 .. 1" $options)" = "$one" ]
    result $? "federations, $name: one digest on 1, 2 and 3 ranks"
done <<END
weights fed.model=mlp run.tuner=random $balanced
fedrep fed.model=mlp fed.algorithm=fedrep run.tuner=random $balanced
score fed.model=linear run.tuner=random fed.score=balanced
f1 fed.model=mlp run.tuner=random run.mixing=none fed.score=f1 $whole
auc fed.model=mlp fed.algorithm=fedrep run.tuner=random fed.score=auc $whole
fedex fed.model=linear run.tuner=random run.mixing=fedex fedex.k=3 fed.score=balanced $balanced
END
call tune "$tmp/empty.ini" run.data="$tmp/sites.h5" $many 'client.lr=log 0.01 .. 1' fed.model=linear run.tuner=random run.mixing=fedex fedex.k=3 \
    fed.score=balanced $balanced run.time_limit=1e-9 -o "$tmp/cut.h5"
starts=1
while [ ! -e "$tmp/cut.h5" ] && [ $starts -lt 100 ]; do
    call resume "$tmp/cut.h5"
    starts=$((starts + 1))
done
[ -e "$tmp/cut.h5" ] && [ $starts -gt 5 ]
result $? "stopped after every round it ends"
[ -n "$(digest "$tmp/fedex.h5")" ] && [ "$(digest "$tmp/cut.h5")" = "$(digest "$tmp/fedex.h5")" ]
result $? "with the same digest"
refused() # PATTERN STATEMENT [section.key=value ...]
{
    refuses "[1-9]" "$1" "$2 is refused in one line" tuned 2 no sites $fed "${@:3}"
}
refused 'fed.score = balanced is of the answers of a network alone, and fed.algorithm = knn mixes them' "the balanced error of neighbours' answers" fed.model=mlp fed.score=balanced fed.algorithm=knn
refused 'fed.score = f1 is of the samples of all clients by weights before training: give fed.select = eval' "the F1 of some rounds" fed.model=mlp fed.score=f1
refused 'fed.score = auc is of the class that a network says of each sample, which knn does not' "the AUC of neighbours' answers" fed.model=mlp fed.score=auc fed.algorithm=knn $whole
if [ -n "$python" ]; then
    call tune inputs/worker.ini worker.run="$python inputs/clients.py" $balanced -o "$tmp/no.h5"
    [ $? = 2 ] && [ "$(grep -c 'run.class_weights = balanced counts the samples of classes, and those of a worker are not known' "$tmp/log")" = 1 ]
    result $? "weights of a worker's classes are refused"
fi
echo "1..$count"
