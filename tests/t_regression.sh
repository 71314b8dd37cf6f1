#!/bin/bash
# Numbers to predict, and rows of different weights, from a table to predictions: maps with ridge,
# networks, what is told of them, and what is refused. Prints TAP.
. tests/tap.sh
find_python h5py
: >"$tmp/empty.ini"

packs() # FILE [key=value ...]
{
    rm -f "$tmp/t.h5"
    call pack dense "$tmp/$1" -o "$tmp/t.h5" "${@:2}"
}
refused() # STATUS STATEMENT FILE PATTERN [key=value ...]: by one line
{
    refuses "$1" "$4" "$2" packs "$3" "${@:5}"
}
trained() # RANKS NAME DATA [section.key=value ...]
{
    on "$1" tune "$tmp/empty.ini" "run.data=$tmp/$3.h5" "${@:4}" -o "$tmp/$2.h5" --force
}

# ---- what is packed -----------------------------------------------------------------------

# table.csv: a, b, c uniform; y a curved function of them and noise; z a linear one; n how often a
# row counts; k a class; i a whole number, nearly all of which differ
"$python" - "$tmp/table.csv" <<'END' >"$tmp/out" 2>&1
import sys
import numpy as np
draw = np.random.default_rng(7)
n = 500
x = draw.uniform(size=(n, 3))
y = 40 + 8 * np.sin(6 * x[:, 0]) + 9 * (x[:, 1] - 0.5) ** 2 + 3 * x[:, 2] + draw.normal(size=n) / 2
z = -1000 + 20 * x[:, 0] - 7 * x[:, 2] + draw.normal(size=n)
with open(sys.argv[1], "w") as out:
    print("a,b,c,y,z,n,k,i", file=out)
    for i in range(n):
        print(*(f"{v:.6f}" for v in x[i]), f"{y[i]:.4f},{z[i]:.3f},{i % 4},{'no' if i % 3 else 'yes'},{1000 + i * 37 % 499}",
              sep=",", file=out)
END
cp "$tmp/table.csv" "$tmp/t.csv"
packs t.csv label=y drop=z,n,k,i && cp "$tmp/t.h5" "$tmp/one.h5" && grep -q "the label's numbers are not whole.*target = classes" "$tmp/log" &&
    grep -Eq '^y +target +[0-9]+ +0 +[0-9.]+ \.\. ' "$tmp/out" && grep -q '1 target, ' "$tmp/log"
result $? "a label that is not whole is a number to predict, which is told"
packs t.csv label=y,z drop=k,i weight=n && cp "$tmp/t.h5" "$tmp/two.h5" && grep -q '2 targets, ' "$tmp/log"
result $? "several labels are numbers to predict"
packs t.csv label=k weight=n drop=y,z,i && cp "$tmp/t.h5" "$tmp/class.h5" && grep -q '2 classes, ' "$tmp/log"
result $? "rows of classes have weights, too"
packs t.csv label=i target=regression drop=k && cp "$tmp/t.h5" "$tmp/whole.h5"
result $? "so is a whole number, if it is said"
cat >"$tmp/check.py" <<'END'
import csv, sys
import h5py
import numpy as np
rows = {(float(r["a"]), float(r["b"])): r for r in csv.DictReader(open(sys.argv[2]))}
names = sys.argv[3].split(",")
with h5py.File(sys.argv[1]) as f:
    assert [n.decode() for n in f["class"][:]] == names
    for part in "train", "valid", "test":
        own = [rows[round(float(x[0]), 6), round(float(x[1]), 6)] for x in f[part + "/x"][:]]
        target = np.array([[float(r[n]) for n in names] for r in own])
        assert (f[part + "/target"][:] == target).all(), part
        if part == "train":
            train, weight = target, np.array([float(r["n"]) for r in own])
        if "weight" in f[part]:
            want = np.array([float(r["n"]) for r in own]) / weight.mean()
            assert abs(f[part + "/weight"][:] - want).max() < 1e-12
    assert ("weight" in f["train"]) == (len(names) == 2)
    assert np.allclose(f["target/shift"][:], train.mean(0), rtol=1e-12)
    assert np.allclose(f["target/scale"][:], train.std(0), rtol=1e-12)
END
"$python" "$tmp/check.py" "$tmp/one.h5" "$tmp/t.csv" y >"$tmp/out" 2>&1 &&
    "$python" "$tmp/check.py" "$tmp/two.h5" "$tmp/t.csv" y,z >"$tmp/out" 2>&1
result $? "targets are those of the rows, with mean and deviation of the training rows; weights have the mean 1"
packs t.csv label=i target=classes drop=z,n,k 'valid_file='"$tmp/t.csv" test=0 valid=0
[ $? = 0 ] && grep -q '499 classes' "$tmp/log"
result $? "target = classes makes classes of any numbers"
awk -F, 'NR > 1 { print $4, "1:" $1, "2:" $2, "3:" $3 }' "$tmp/table.csv" >"$tmp/t.svm"
packs t.svm && grep -q '1 target, ' "$tmp/log" && cp "$tmp/t.h5" "$tmp/svm.h5"
result $? "labels of a libsvm file are found to be numbers, too"

# ---- fits ---------------------------------------------------------------------------------

rff='rff.features=300'
network='run.task=sgd run.scale=standard train.schedule=cosine'
trained 1 ridge one $rff ridge.alpha=0.01 run.tuner=random 'rff.gamma=log 0.1 .. 10' space.configs=6 &&
    trained 1 linear one $network run.tuner=random sgd.model=linear train.lr=0.05 train.horizon=60 random.resource=60 sgd.keep=last space.configs=1 &&
    trained 1 mlp one $network run.tuner=random sgd.model=mlp mlp.hidden=50 'train.lr=0.05 | 0.1' train.horizon=60 random.resource=60 train.batch=20 space.configs=2 &&
    trained 1 both two $network run.tuner=random sgd.model=linear train.lr=0.02 train.horizon=60 random.resource=60 sgd.keep=last space.configs=1 &&
    trained 1 weighted two $rff ridge.alpha=0.01 run.tuner=random rff.gamma=1 space.configs=1
result $? "winners of a map and of networks"
call report "$tmp/ridge.h5" && grep -q '^measure   loss: mean squared error of y; error: 1 - R2$' "$tmp/out"
result $? "a report names what loss and error are"

# what is said: predictions of packed rows by PART, and what weft eval prints of them
cat >"$tmp/judge.py" <<'END'
import csv, re, sys
import h5py
import numpy as np
rows, said, data = list(csv.DictReader(open(sys.argv[1]))), open(sys.argv[2]).read(), h5py.File(sys.argv[3])
names = [n.decode() for n in data["class"][:]]
scale = data["target/scale"][:]
for part in "train", "valid", "test":
    own = [r for r in rows if r.get("part", "test") == part]
    if not own:
        continue
    y = np.array([[float(r["label " + n]) for n in names] for r in own])
    f = np.array([[float(r["value " + n]) for n in names] for r in own])
    assert (y == data[part + "/target"][:]).all()
    w = data[part + "/weight"][:] if "weight" in data[part] else np.ones(len(y))
    mse = np.average((y - f) ** 2, axis=0, weights=w)
    r2 = 1 - mse / np.average((y - np.average(y, axis=0, weights=w)) ** 2, axis=0, weights=w)
    for k, name in enumerate(names):
        line = re.search(rf"^{part} +{name} +(\S+) +(\S+) +(\S+)$", said, re.M)
        got = [float(x) for x in line.groups()]
        assert np.allclose(got, [mse[k], mse[k] ** 0.5, r2[k]], rtol=1e-4, atol=1e-6), (got, mse, r2)
    line = re.search(rf"^{part} +(\d+) +(\S+) +([0-9.]+) +(\S+)$", said, re.M)
    assert np.isclose(float(line[4]), np.mean(r2), atol=1e-5), (line[0], r2)
    error = np.mean(mse / scale ** 2)
    loss = mse[0] if len(names) == 1 else error
    assert int(line[1]) == len(y) and np.isclose(float(line[2]), loss, rtol=1e-4), (line[0], loss)
    assert np.isclose(float(line[3]) / 100, error, atol=2e-5), (line[0], error)
END
for run in "ridge one" "linear one" "mlp one" "both two" "weighted two"; do
    set -- $run
    "$weft" predict "$tmp/$1.h5" "$tmp/$2.h5" >"$tmp/p.csv" 2>"$tmp/log" && "$weft" eval "$tmp/$1.h5" "$tmp/$2.h5" >"$tmp/said" 2>>"$tmp/log" &&
        "$python" "$tmp/judge.py" "$tmp/p.csv" "$tmp/said" "$tmp/$2.h5" >"$tmp/out" 2>&1
    result $? "$1: loss, error, MSE, RMSE and R2 are those of the predictions, by the weights of rows"
    mpirun --oversubscribe -n 3 "$weft" predict "$tmp/$1.h5" "$tmp/$2.h5" 2>"$tmp/log" | cmp - "$tmp/p.csv" >"$tmp/out" 2>&1
    result $? "$1: three ranks predict the same bytes"
done
# scored: the first 200 rows, packed like those of the winner that is weighted
scored()
{
    rm -f "$tmp/like.h5"
    call pack dense "$tmp/u.csv" like="$tmp/weighted.h5" -o "$tmp/like.h5" && "$weft" eval "$tmp/weighted.h5" "$tmp/like.h5" >"$tmp/said" 2>>"$tmp/log" &&
        "$weft" predict "$tmp/weighted.h5" "$tmp/like.h5" >"$tmp/p.csv" 2>>"$tmp/log" && "$python" "$tmp/judge.py" "$tmp/p.csv" "$tmp/said" "$tmp/like.h5" >>"$tmp/out" 2>&1
}
head -201 "$tmp/table.csv" >"$tmp/u.csv" && scored && "$weft" info "$tmp/like.h5" | grep -q '^n  *weight' && mv "$tmp/said" "$tmp/first" &&
    head -201 "$tmp/table.csv" | cut -d, -f 1-5,7,8 >"$tmp/u.csv" && scored && ! cmp -s "$tmp/said" "$tmp/first"
result $? "so are those of rows packed like them, where they have weights"
r2() # RUN DATA PART TARGET
{
    "$weft" eval "$tmp/$1.h5" "$tmp/$2.h5" 2>>"$tmp/log" | awk -v part="$3" -v target="$4" '$1 == part && $2 == target { print $5 }'
}
least='import sys, h5py, numpy as np
with h5py.File(sys.argv[1]) as f:
    x, y = f["train/x"][:].astype(float), f["train/target"][:, int(sys.argv[2])]
    w = f["train/weight"][:] if "weight" in f["train"] else np.ones(len(y))
x = np.hstack([x, np.ones((len(x), 1))])
b = np.linalg.solve(x.T @ (w[:, None] * x), x.T @ (w * y))
mean = np.average(y, weights=w)
best = 1 - np.average((y - x @ b) ** 2, weights=w) / np.average((y - mean) ** 2, weights=w)
assert -2e-6 < best - float(sys.argv[3]) < 2e-4, (best, sys.argv[3])'
"$python" -c "$least" "$tmp/one.h5" 0 "$(r2 linear one train y)" >"$tmp/out" 2>&1
result $? "a linear network reaches the least squares of the training rows"
"$python" -c "$least" "$tmp/two.h5" 1 "$(r2 both two train z)" >"$tmp/out" 2>&1
result $? "of each target, by the weights of rows"
for run in ridge mlp; do
    r2 $run one test y >"$tmp/mine" && r2 linear one test y >"$tmp/out" &&
        awk -v a="$(cat "$tmp/mine")" -v b="$(cat "$tmp/out")" 'BEGIN { exit !(a > 0.9 && a > b + 0.1) }'
    result $? "$run learns a curved function better than a linear network: R2 $(cat "$tmp/mine") and $(cat "$tmp/out") on new rows"
done

cat >"$tmp/read.py" <<'END'
import csv, sys
import h5py
import numpy as np
with h5py.File(sys.argv[1]) as f:
    winner = f["winner"]
    weights = {k: np.array(w[:], float) for k, w in winner["state"].items()}
    columns = [c.decode() for c in winner["column"][:]]
    shift, scale = winner["shift"][:], winner["scale"][:]
    mean, deviation = winner["target/shift"][:], winner["target/scale"][:]
    names = [n.decode() for n in winner["class"][:]]
rows, said = list(csv.DictReader(open(sys.argv[2]))), list(csv.DictReader(open(sys.argv[3])))
x = (np.array([[float(r[c]) for c in columns] for r in rows]) - shift) / scale
layer = 1
while f"fc{layer}.weight" in weights:
    x = (np.maximum(x, 0) if layer > 1 else x) @ weights[f"fc{layer}.weight"].T + weights[f"fc{layer}.bias"]
    layer += 1
want = mean + deviation * x
got = np.array([[float(r["value " + n]) for n in names] for r in said])
assert layer > 1 and len(said) == len(rows) and abs(got - want).max() < 1e-5 * abs(want).max(), abs(got - want).max()
END
cut -d, -f1-3 "$tmp/table.csv" >"$tmp/bare.csv"
for run in linear mlp; do
    "$weft" predict "$tmp/$run.h5" "$tmp/bare.csv" >"$tmp/p.csv" 2>"$tmp/log" && [ "$(head -1 "$tmp/p.csv")" = "row,value y" ] &&
        "$python" "$tmp/read.py" "$tmp/$run.h5" "$tmp/bare.csv" "$tmp/p.csv" >"$tmp/out" 2>&1
    result $? "$run: rows without label have the values that the weights in the run file give, to 1e-5"
done
head -4 "$tmp/table.csv" | cut -d, -f1-5 | sed '3s/[^,]*$//' >"$tmp/some.csv"
"$weft" predict "$tmp/both.h5" "$tmp/some.csv" >"$tmp/p.csv" 2>"$tmp/log" && [ "$(head -1 "$tmp/p.csv")" = "row,value y,value z" ]
result $? "a target that is missing leaves out the known ones"
"$weft" predict "$tmp/both.h5" "$tmp/table.csv" >"$tmp/p.csv" 2>"$tmp/log" && "$python" - "$tmp/p.csv" "$tmp/table.csv" <<'END' >"$tmp/out" 2>&1
import csv, sys
said, rows = (list(csv.DictReader(open(name))) for name in sys.argv[1:])
assert len(said) == len(rows) == 500 and {"value y", "value z"} <= said[0].keys()
assert all(float(s["label " + k]) == float(r[k]) for s, r in zip(said, rows) for k in "yz")
END
result $? "predictions have targets and values"
call export "$tmp/mlp.h5" -o "$tmp/w.h5" && "$weft" predict "$tmp/w.h5" "$tmp/bare.csv" >"$tmp/q.csv" 2>>"$tmp/log" &&
    "$weft" predict "$tmp/mlp.h5" "$tmp/bare.csv" 2>>"$tmp/log" | cmp - "$tmp/q.csv"
result $? "an exported winner predicts the same"
# units RUN TARGETS: the mean squared errors of t.h5's test rows are those of the predictions, in the units of the source
units()
{
    "$weft" eval "$tmp/$1.h5" "$tmp/t.h5" >"$tmp/said" 2>"$tmp/log" && "$weft" predict "$tmp/$1.h5" "$tmp/t.h5" >"$tmp/p.csv" 2>>"$tmp/log" &&
        "$python" - "$tmp" "$2" <<'END' >"$tmp/out" 2>&1
import csv, re, sys
import h5py
import numpy as np
tmp, names = sys.argv[1], sys.argv[2].split(",")
rows, said = [r for r in csv.DictReader(open(f"{tmp}/p.csv")) if r["part"] == "test"], open(f"{tmp}/said").read()
with h5py.File(f"{tmp}/t.h5") as file:
    target = dict(zip(file["class"].asstr()[:], file["test/target"][:].T))
for name in names:
    y, f = (np.array([float(r[f"{k} {name}"]) for r in rows]) for k in ("label", "value"))
    assert (y == target[name]).all(), (name, y, target)
    got = float(re.search(rf"^test +{name} +(\S+)", said, re.M)[1])
    assert np.isclose(got, np.mean((y - f) ** 2), rtol=1e-4) and len(target) == len(names), (name, got)
END
}
awk -F, 'NR == 1 || $1 < 0.5' "$tmp/table.csv" >"$tmp/t.csv" && packs t.csv label=y drop=z,n,k,i && units mlp y
result $? "other rows, with another mean and deviation, are scored in the same units"
awk -F, -v OFS=, 'NR == 1 || $1 < 0.5 { print $5, $2, $1, $4, $3 }' "$tmp/table.csv" >"$tmp/t.csv" && packs t.csv label=y,z && units both y,z
result $? "so are targets in another order"

# ---- the same bits ------------------------------------------------------------------------

same() # NAME DATA [section.key=value ...]
{
    name=$1
    trained 1 s "${@:2}" && digest >"$tmp/want" && [ -s "$tmp/want" ]
    result $? "$name: a rank has a digest"
    for ranks in 2 3 "2 run.teams=2"; do
        trained "${ranks%% *}" s "${@:2}" ${ranks:2}
        result $? "$name: it is trained by ranks: $ranks"
        digest | cmp - "$tmp/want"
        result $? "$name: to this digest"
    done
    rm -f "$tmp/s.h5"
    trained 2 s "${@:2}" run.time_limit=1e-9
    [ $? = 75 ] && call resume "$tmp/s.h5"
    [ $? = 75 ] && on 3 resume "$tmp/s.h5" run.time_limit=0
    result $? "$name: stopped after each of two units, it is resumed to its end"
    digest | cmp - "$tmp/want"
    result $? "$name: to this digest, too"
}
same ridge two $rff ridge.alpha=0.01 run.tuner=random 'rff.gamma=log 0.1 .. 10' space.configs=4
same "a shared map" two $rff ridge.alpha=0.01 'rff.gamma=log 0.1 .. 10' space.configs=4 run.tuner=ws_sha
same "ridge in pieces" one $rff ridge.alpha=0.01 'rff.gamma=log 0.1 .. 10' space.configs=4 run.tuner=sha fmap.resource=iterations
same logistic class $rff run.tuner=random fmap.model=logistic 'rff.gamma=log 0.1 .. 10' space.configs=3
same mlp two run.task=sgd run.tuner=random sgd.model=mlp mlp.hidden=20 'train.lr=log 0.01 .. 0.1' train.dropout=0.1 random.resource=3 space.configs=3
same folds one run.task=sgd run.tuner=random sgd.model=mlp mlp.hidden=20 'train.lr=log 0.01 .. 0.1' sgd.folds=3 random.resource=2 space.configs=2

# ---- weights of classes' rows ---------------------------------------------------------------

trained 1 c class $rff run.tuner=random fmap.model=logistic rff.gamma=1 space.configs=1 && trained 1 d class run.task=sgd run.tuner=random sgd.model=linear train.lr=0.05 random.resource=5 space.configs=1
for run in c d; do
    "$weft" predict "$tmp/$run.h5" "$tmp/class.h5" >"$tmp/p.csv" 2>"$tmp/log" && "$weft" eval "$tmp/$run.h5" "$tmp/class.h5" >"$tmp/said" 2>>"$tmp/log" &&
        "$python" - "$tmp/p.csv" "$tmp/said" "$tmp/class.h5" <<'END' >"$tmp/out" 2>&1
import csv, re, sys
import h5py
import numpy as np
rows, said, data = list(csv.DictReader(open(sys.argv[1]))), open(sys.argv[2]).read(), h5py.File(sys.argv[3])
for part in "train", "valid", "test":
    wrong = [r["label"] != r["class"] for r in rows if r["part"] == part]
    weight = data[part + "/weight"][:]
    line = re.search(rf"^{part} +(\d+) +\S+ +([0-9.]+)", said, re.M)
    assert int(line[1]) == len(wrong) and abs(float(line[2]) - 100 * np.average(wrong, weights=weight)) < 1e-3, (part, line[0])
    assert len(set(weight)) == 4
END
    result $? "the error of classes is by the weights of rows ($run)"
done

# ---- what is refused ----------------------------------------------------------------------

edit() # SED'S COMMAND: of the table, into u.csv
{
    sed "$1" "$tmp/table.csv" >"$tmp/u.csv"
}
edit '7s/[^,]*,\([^,]*,[^,]*,[^,]*,[^,]*\)$/few,\1/'
refused 4 "a text among targets is told" u.csv "u.csv: line 7, column 4, 'y', is 'few' where a number to predict is expected; mend" \
    label=y drop=z,n,k,i
refused 4 "also if it is said to be regression" u.csv "line 7, column 4, 'y', is 'few'.*target = classes learns classes" \
    label=y drop=z,n,k,i target=regression
edit '9s/[^,]*,\([^,]*,[^,]*,[^,]*,[^,]*\)$/NA,\1/'
refused 4 "so is a gap" u.csv "line 9, column 4, 'y', is 'NA' where a number to predict is expected; give one, or remove the line" \
    label=y drop=z,n,k,i unlabelled=refuse
edit '9s/[^,]*,\([^,]*,[^,]*,[^,]*\)$/,\1/'
refused 4 "and one in another target" u.csv "line 9, column 5, 'z', is '' where a number to predict is expected; give one" label=y,z drop=n,k,i \
    unlabelled=refuse
edit '9s/[^,]*,\([^,]*,[^,]*,[^,]*,[^,]*\)$/,\1/'
refused 4 "an empty label is told" u.csv "line 9, column 4, 'y', has no label" label=y drop=z,n,k,i unlabelled=refuse
refused 4 "words are no numbers to predict" table.csv "line 2, column 7, 'k', is 'yes' where a number to predict" label=k target=regression
edit 's/[^,]*,\([^,]*,[^,]*,[^,]*,[^,]*\)$/3.5,\1/; 1s/3.5/y/'
refused 4 "a target that is constant is told" u.csv "u.csv: the target 'y' is 3.5 in all training rows" label=y target=regression drop=k
edit '5s/[^,]*,\([^,]*,[^,]*\)$/-1,\1/'
refused 4 "a negative weight is told" u.csv "u.csv: line 5, column 6, 'n', is '-1' where a weight is expected; give a number of 0 or more" \
    label=y weight=n drop=k
edit '5s/[^,]*,\([^,]*,[^,]*\)$/,\1/'
refused 4 "so is one that is missing" u.csv "line 5, column 6, 'n', is '' where a weight is expected" label=y weight=n drop=k
edit '2,$s/[^,]*,\([^,]*,[^,]*\)$/0,\1/'
refused 4 "weights that are all 0 are told" u.csv "all train rows have weight 0" label=y weight=n drop=k
refused 2 "several classes are refused" table.csv "label = y,z names several columns" label=y,z target=classes drop=k
refused 2 "a label that is not there is told" table.csv "label = x: .*has no column 'x'" label=y,x drop=k
refused 2 "a column of two uses is told" table.csv "weight = z: column 'z' is target already" label=y,z weight=z drop=k
refused 2 "clients have no numbers to predict" table.csv "client = n makes a federation, .*group = n" label=y client=n drop=k
refused 2 "nor weights" table.csv "client = k makes a federation, whose rows have equal weights" label=n client=k weight=i drop=z
refused 2 "nor rows that are dealt to clients" table.csv "clients = 5 makes a federation, whose rows have classes" label=y clients=5 drop=k

stops() # STATUS STATEMENT PATTERN [section.key=value ...]
{
    refuses "$1" "$3" "$2" call tune "$tmp/empty.ini" "${@:4}" -o "$tmp/no.h5"
}
one="run.data=$tmp/one.h5"
for model in logistic svm; do
    stops 2 "$model refuses numbers" "one.h5 has numbers to predict, and fmap.model = $model learns classes; choose fmap.model = ridge" \
        "$one" fmap.model=$model
done
for model in cnn lstm txtcnn; do
    stops 2 "$model refuses numbers" "has numbers to predict, which sgd.model = $model does not learn by; choose sgd.model = linear or mlp" \
        "$one" run.task=sgd sgd.model=$model
done
for task in fed flow; do
    stops 2 "task $task refuses numbers" "has numbers to predict, which task $task does not learn by; use task fmap" "$one" run.task=$task
done
stops 2 "the log of an error rate is of classes" "sgd.score = log_error is of classes" "$one" run.task=sgd sgd.score=log_error
stops 2 "so are balanced samples" "train.balance = yes is of classes" "$one" run.task=sgd train.balance=yes
stops 2 "a factorization takes no weights" "ridge.solver = cholesky takes no weights of rows" "run.data=$tmp/two.h5" ridge.solver=cholesky
call eval "$tmp/c.h5" "$tmp/one.h5"
[ $? = 4 ] && grep -q "one.h5 has numbers to predict, but the winner of .*c.h5 predicts classes" "$tmp/log"
result $? "a winner of classes is not scored on numbers"
call eval "$tmp/ridge.h5" "$tmp/two.h5"
[ $? = 4 ] && grep -q "two.h5 has the targets y, z, but the winner of .*ridge.h5 predicts y" "$tmp/log"
result $? "nor one of a target on others"
printf 'a,b,c,y\n0.1,0.2,0.3,much\n' >"$tmp/row.csv"
call predict "$tmp/ridge.h5" "$tmp/row.csv"
[ $? = 4 ] && grep -q "row.csv: line 2, column 4, 'y', is 'much' where a number to predict" "$tmp/log"
result $? "a target of new rows that is a text is told"
echo "1..$count"
