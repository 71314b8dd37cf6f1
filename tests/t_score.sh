#!/bin/bash
# What a search minimises (fmap.score, sgd.score): the same on any ranks, after a stop, and beside
# what weft predict says; the winner's measures and confusion matrix in reports. Prints TAP.
. tests/tap.sh
find_python h5py

# table N SEED: rows of three classes, 70, 22 and 8 % of them, told apart by three numbers in part
table()
{
    awk -v n="$1" -v seed="$2" 'BEGIN {
        srand(seed)
        print "a,b,c,y,z"
        for (i = 0; i < n; i++) {
            r = rand()
            k = r < 0.7 ? 0 : r < 0.92 ? 1 : 2
            a = rand() + 0.35 * k
            b = rand() * (1 + 0.5 * (k == 2))
            printf "%.4f,%.4f,%.4f,%s,%.4f\n", a, b, rand(), substr("pqr", k + 1, 1), a * b + rand() / 2
        }
    }'
}
table 600 4 >"$tmp/t.csv"
call pack dense "$tmp/t.csv" label=y drop=z -o "$tmp/class.h5" &&
    call pack dense "$tmp/t.csv" label=z drop=y target=regression -o "$tmp/number.h5"
result $? "tables are packed"
: >"$tmp/empty.ini"

# tuned RANKS NAME DATA [section.key=value ...]: prints the digest
tuned()
{
    on "$1" tune "$tmp/empty.ini" run.data="$tmp/$3.h5" -o "$tmp/$2.h5" --force "${@:4}" && digest
}
maps="rff.features=40 space.configs=6 fmap.validation=split"
shared="run.tuner=ws_sha run.seed=3"
network="run.task=sgd sgd.model=mlp mlp.hidden=6 space.configs=4 random.resource=4 run.tuner=random"
same() # NAME DATA [section.key=value ...]
{
    one=$(tuned 1 "$1" "$2" "${@:3}") && [ -n "$one" ] && [ "$(tuned 2 two "$2" "${@:3}")" = "$one" ] && [ "$(tuned 3 three "$2" "${@:3}")" = "$one" ]
    result $? "$1: one digest on 1, 2 and 3 ranks"
}
for score in balanced f1 auc; do
    same "maps-$score" class $maps $shared 'rff.gamma=log 0.01 .. 10' fmap.score=$score
    same "nets-$score" class $network 'train.lr=log 0.01 .. 1' sgd.score=$score
done
same maps-folds class $maps fmap.folds=4 'rff.gamma=log 0.01 .. 10' fmap.score=auc
same maps-r2 number $maps 'rff.gamma=log 0.01 .. 10' fmap.score=r2
same nets-r2 number $network 'train.lr=log 0.001 .. 0.1' sgd.score=r2 sgd.folds=3

# The score that the search was told of its winner, from the predictions of the validation rows; or,
# for SCORE = test, what the run file has of the test part from those of its rows; for SCORE = folds that of
# numbers, by the mean over folds, and what the search was told of rows held out, from their squared error.
cat >"$tmp/check.py" <<'END'
import csv, h5py, sys
run, rows, score = sys.argv[1:]
every = list(csv.DictReader(open(rows)))
rows = [r for r in every if r["part"] == ("test" if score in ("test", "folds") else "valid")]
names = {r["label"] for r in rows if "label" in r}
mean = lambda x: sum(x) / len(x)
def own(c): return sum(r["label"] == c for r in rows)
def said(c): return sum(r["class"] == c for r in rows)
def right(c): return sum(r["label"] == c == r["class"] for r in rows)
def balanced(): return mean([1 - right(c) / own(c) for c in names])
def f1(): return mean([2 * right(c) / (own(c) + said(c)) for c in names | {r["class"] for r in rows}])
def auc():
    of = []
    for c in names:
        s = next(k for k in rows[0] if k.endswith(" " + c))
        ours = [float(r[s]) for r in rows if r["label"] == c]
        rest = [float(r[s]) for r in rows if r["label"] != c]
        of.append(mean([(x > o) + (x == o) / 2 for x in ours for o in rest]))
    return mean(of)
def r2():
    y, p = ([float(r[k]) for r in rows] for k in ("label z", "value z"))
    return 1 - sum((a - b) ** 2 for a, b in zip(y, p)) / sum((a - mean(y)) ** 2 for a in y)
def check(of, told):
    got = of()
    assert abs(got - told) < (1e-5 if of == auc else 1e-7), (of.__name__, got, told)
with h5py.File(run) as f:
    if score == "test":
        assert names == {"p", "q"} and "r" in {r["class"] for r in rows}, names
        for of in balanced, f1, auc:
            check(of, f["winner"].attrs["test_" + of.__name__])
        sys.exit()
    told = f["events/loss"][list(f["events/job"]).index(f["winner"].attrs["job"])]
    if score == "folds":
        check(r2, f["winner"].attrs["test_r2"])
        y = [float(r["label z"]) for r in every if r["part"] != "test"]
        variance = mean([(a - mean(y)) ** 2 for a in y])
        assert abs(told * variance / f["winner"].attrs["valid_loss"] - 1) < 1e-5, (told, variance)
    else:
        check(globals()[score], told if score == "balanced" else 1 - told)
END
for run in maps-balanced maps-f1 maps-auc maps-r2 nets-balanced nets-f1 nets-auc; do
    data=class
    [ "${run#*-}" != r2 ] || data=number
    "$weft" predict "$tmp/$run.h5" "$tmp/$data.h5" >"$tmp/p.csv" 2>"$tmp/log" &&
        "$python" "$tmp/check.py" "$tmp/$run.h5" "$tmp/p.csv" "${run#*-}" >"$tmp/out" 2>&1
    result $? "$run: what the search was told of the winner follows from its predictions"
done
awk -F, 'NR == 1 || $4 != "r"' "$tmp/t.csv" >"$tmp/pq.csv"
call pack dense "$tmp/t.csv" label=y drop=z test_file="$tmp/pq.csv" -o "$tmp/rare.h5"
usual="$maps rff.gamma=2 rff.preprocess=standard"
for options in "$usual" "fmap.folds=3 $usual" "${network%random.resource*}train.lr=0.3 random.resource=60 run.tuner=random"; do
    tuned 2 less rare $options >"$tmp/out" && "$weft" predict "$tmp/less.h5" "$tmp/rare.h5" >"$tmp/p.csv" 2>"$tmp/log" &&
        "$python" "$tmp/check.py" "$tmp/less.h5" "$tmp/p.csv" test >"$tmp/out" 2>&1
    result $? "measures of a test part without one of the classes follow from its predictions: ${options%% *}"
done
tuned 2 folds number $maps fmap.folds=3 fmap.score=r2 'rff.gamma=log 0.01 .. 10' >"$tmp/out" && "$weft" predict "$tmp/folds.h5" "$tmp/number.h5" >"$tmp/p.csv" 2>"$tmp/log" &&
    "$python" "$tmp/check.py" "$tmp/folds.h5" "$tmp/p.csv" folds >"$tmp/out" 2>&1
result $? "R2 of rows held out, and of the mean over folds"
[ "$("$weft" report --csv "$tmp/maps-f1.h5" "$tmp/maps-auc.h5" | awk -F, 'NR > 1 { print $0 }' | wc -l)" = 2 ]
result $? "runs by different scores are reported together"

# ---- in reports ---------------------------------------------------------------------------

"$weft" report "$tmp/maps-f1.h5" >"$tmp/report" 2>"$tmp/log" && "$weft" eval "$tmp/maps-f1.h5" "$tmp/class.h5" >"$tmp/eval" 2>>"$tmp/log"
grep '^test' "$tmp/report" | grep -o ' [0-9][0-9.]*' | tr -d ' ' >"$tmp/mine"
awk '$1 == "test" { for (i = 3; i <= NF; i++) print $i }' "$tmp/eval" >"$tmp/out"
[ "$(wc -l <"$tmp/mine")" = 5 ] && cmp "$tmp/mine" "$tmp/out"
result $? "loss, error, balanced error, F1 and AUC of the test part are those of weft eval"
matrix() { sed -n '/^class .* predicted/,/^$/p' "$1" | grep .; }
[ "$(matrix "$tmp/report" | wc -l)" = 5 ] && cmp <(matrix "$tmp/report") <(matrix "$tmp/eval")
result $? "so is the confusion matrix"
grep -q '^best  config .* score  configuration' "$tmp/report"
result $? "configurations are listed with the score that they were compared by"
if [ -n "$python" ]; then
    call export "$tmp/maps-f1.h5" -o "$tmp/export.h5" &&
        "$weft" report --json "$tmp/maps-f1.h5" >"$tmp/json" && "$weft" report --csv "$tmp/maps-f1.h5" >"$tmp/csv" &&
        "$python" - "$tmp" >"$tmp/out" 2>&1 <<'END'
import csv, h5py, json, sys
tmp = sys.argv[1]
said, = json.load(open(f"{tmp}/json"))
row, = csv.DictReader(open(f"{tmp}/csv"))
with h5py.File(f"{tmp}/maps-f1.h5") as run, h5py.File(f"{tmp}/export.h5") as export:
    want = run["winner/confusion"][:].tolist()
    assert want == export["winner/confusion"][:].tolist() == said["confusion"]
    assert [[float(x) for x in r.split()] for r in row["confusion"].split(";")] == want
    assert said["classes"] == ["p", "q", "r"] and sum(map(sum, want)) == 60
    for name in "balanced", "f1", "auc":
        key = f"test_{name}"
        assert run["winner"].attrs[key] == export["winner"].attrs[key] == said[key] == float(row[key])
END
    result $? "JSON, CSV and an exported winner have them, too"
fi

# of a federation, from what weft predict says of its clients' samples
call pack dense "$tmp/t.csv" label=y drop=z clients=12 -o "$tmp/sites.h5"
fed="run.task=fed run.mixing=none space.configs=1 fed.model=mlp mlp.hidden=5 fed.cohort=6 client.lr=0.3 random.resource=4"
tuned 1 fed sites $fed >/dev/null && cp "$tmp/out" "$tmp/report" && "$weft" predict "$tmp/fed.h5" "$tmp/sites.h5" >"$tmp/p.csv" 2>"$tmp/log" &&
    awk -F, '$1 == "test" { n[$4 " " $5]++ } END { for (a in n) print a, n[a] }' "$tmp/p.csv" | sort >"$tmp/want" &&
    matrix "$tmp/report" | awk 'NR == 2 { for (i = 1; i <= NF; i++) name[i] = $i } NR > 2 { for (i = 2; i <= NF; i++) if ($i > 0) print $1, name[i - 1], $i }' |
    sort >"$tmp/out" && [ -s "$tmp/want" ] && cmp "$tmp/want" "$tmp/out"
result $? "a federation's confusion matrix is that of its predictions"
one=$(grep '^test' "$tmp/report") && echo "$one" | grep -q 'error .* balanced .* F1 .* AUC '
result $? "its measures are told"
tuned 3 three sites $fed >/dev/null && [ "$(grep '^test' "$tmp/out")" = "$one" ]
result $? "the same by three ranks"

# ---- stops --------------------------------------------------------------------------------

# one unit a start, the measure being part of the state between epochs
whole=$(tuned 1 whole class $network 'train.lr=log 0.01 .. 1' sgd.score=auc sgd.patience=2)
rm -rf "$tmp/cut.h5" "$tmp/cut.h5.d" "$tmp"/cut*
call tune "$tmp/empty.ini" run.data="$tmp/class.h5" $network 'train.lr=log 0.01 .. 1' sgd.score=auc sgd.patience=2 run.time_limit=1e-9 -o "$tmp/cut.h5"
starts=1
while [ ! -e "$tmp/cut.h5" ] && [ $starts -lt 100 ]; do
    call resume "$tmp/cut.h5"
    starts=$((starts + 1))
done
[ -e "$tmp/cut.h5" ] && [ $starts -gt 3 ]
result $? "a search by AUC that is stopped after every unit ends"
check "with the same digest" has_digest "$whole" "$tmp/cut.h5"

# ---- what has no meaning ------------------------------------------------------------------

refused() # PATTERN STATEMENT DATA [section.key=value ...]
{
    tuned 2 no "${@:3}"
    refusal $? "[1-9]" "$1" "$2 is refused in one line"
    check "no run is written then" [ ! -e "$tmp/no.h5" ]
}
refused 'fmap.score = r2 is of numbers; choose accuracy' "R2 of classes" class fmap.score=r2
refused 'fmap.score = auc is of classes; choose r2' "AUC of numbers" number fmap.score=auc
refused 'sgd.score = f1 is of classes; choose r2' "F1 of numbers" number run.task=sgd sgd.model=linear sgd.score=f1
awk -F, 'NR == 1 || $4 == "p" || NR < 60' "$tmp/t.csv" >"$tmp/few.csv"
awk -F, 'NR == 1 || $4 == "p"' "$tmp/t.csv" >"$tmp/one.csv"
call pack dense "$tmp/few.csv" label=y drop=z valid_file="$tmp/one.csv" -o "$tmp/one.h5"
refused 'has validation rows of 1 of 3 classes; pack more rows as valid' "a validation part of one class" one fmap.score=auc
call pack dense "$tmp/t.csv" label=y drop=z valid_file="$tmp/pq.csv" -o "$tmp/pq.h5"
tuned 1 less pq $maps fmap.score=balanced >/dev/null && grep -q "no validation rows of 1 of 3 classes, such as 'r': fmap.score = balanced is the mean over the others" "$tmp/log"
result $? "a class without validation rows is left out, and warned of"
echo "1..$count"
