#!/bin/bash
# weft predict: the classes of rows by a winner, of packed files and of tables with and without
# labels, beside weft eval and beside a program that reads the weights. Prints TAP.
. tests/tap.sh
find_python h5py

# table N FIRST: rows of age (missing in each tenth), colour, size and a class that follows from them
table()
{
    awk -v n="$1" -v first="$2" 'BEGIN {
        split("red,green,blue,", colour, ",")
        print "id,age,colour,size,sick"
        for (i = first; i < first + n; i++) {
            age = i * 37 % 60
            print i "," (i % 10 == 3 ? "" : age) "," colour[i % 4 + 1] "," i * 53 % 100 / 10 "," (age + 20 * (i % 4 == 1) > 40 ? "yes" : i % 5 == 0 ? "\"may,be\"" : "no")
        }
    }'
}
table 200 0 >"$tmp/old.csv"
table 40 500 | sed 's/^500,\(.*\),red,0,/500,\1,red,,/' >"$tmp/new.csv" # a gap in a column that had none
call pack dense "$tmp/old.csv" drop=id -o "$tmp/old.h5"
run="run.data=$tmp/old.h5 run.tuner=random space.configs=3"
# trained NAME [section.key=value ...]
trained()
{
    : >"$tmp/empty.ini"
    call tune "$tmp/empty.ini" $run -o "$tmp/$1.h5" "${@:2}"
}
check "a winner of a map" trained rff rff.features=64 fmap.model=logistic 'rff.gamma=log 0.001 .. 1'
check "of a map with another model" trained ridge rff.features=64 'rff.gamma=log 0.001 .. 1'
trained linear run.task=sgd sgd.model=linear 'train.lr=log 0.001 .. 0.1' random.resource=4
result $? "of a linear network"
trained mlp run.task=sgd sgd.model=mlp sgd.folds=3 'train.lr=log 0.01 .. 0.1' random.resource=2
result $? "of networks of folds"

predict() # RUN ROWS [ARGUMENT ...]: standard output in $tmp/p.csv
{
    "$weft" predict "$tmp/$1.h5" "${@:2}" >"$tmp/p.csv" 2>"$tmp/log"
}
# errors: percent of the rows of each part whose class is not the label, as weft eval prints them
errors()
{
    awk -F, -v OFS=' ' 'NR > 1 { gsub(/"may,be"/, "may"); n[$1]++; wrong[$1] += $3 != $4 }
        END { for (p in n) printf "%s %d %.3f\n", p, n[p], 100 * wrong[p] / n[p] }' | sort
}
for name in rff ridge linear; do
    predict $name "$tmp/old.h5" && sed 's/"may,be"/may/g' "$tmp/p.csv" | errors >"$tmp/mine" &&
        "$weft" eval "$tmp/$name.h5" "$tmp/old.h5" 2>>"$tmp/log" | awk '$1 ~ /^(train|valid|test)$/ { print $1, $2, $4 }' | sort >"$tmp/out" &&
        [ "$(wc -l <"$tmp/mine")" = 3 ] && cmp "$tmp/mine" "$tmp/out"
    result $? "$name: the share of wrong classes in each part is that of weft eval"
    predict $name "$tmp/new.csv" && cp "$tmp/p.csv" "$tmp/one.csv" && [ "$(wc -l <"$tmp/one.csv")" = 41 ]
    result $? "$name: each row of a table has a prediction"
    mpirun --oversubscribe -n 3 "$weft" predict "$tmp/$name.h5" "$tmp/new.csv" >"$tmp/p.csv" 2>>"$tmp/log" &&
        cmp "$tmp/p.csv" "$tmp/one.csv"
    result $? "$name: by three ranks it has the bytes of one"
done
predict mlp "$tmp/new.csv" &&
    awk -F, 'NR > 1 { gsub(/"may,be"/, "may"); d = $4 + $5 + $6 - 1; if (d > 1e-6 || d < -1e-6) exit 1 }' "$tmp/p.csv"
result $? "the mean of folds' networks is probabilities"
head -1 "$tmp/p.csv" >"$tmp/out"
check "names with commas are quoted" [ "$(cat "$tmp/out")" = 'row,label,class,"p may,be",p no,p yes' ]

cat >"$tmp/scaled.py" <<'END'
import sys
import h5py
with h5py.File(sys.argv[1]) as f:
    shift, scale = f["winner/shift"][:], f["winner/scale"][:]
with h5py.File(sys.argv[2]) as f:
    train = f["train/x"][:].astype(float)
assert abs(shift - train.mean(0)).max() < 1e-6 * abs(train).max(), (shift, train.mean(0))
assert abs(scale - train.std(0)).max() < 1e-6 * abs(train).max(), (scale, train.std(0))
END
"$python" "$tmp/scaled.py" "$tmp/linear.h5" "$tmp/old.h5" >"$tmp/out" 2>&1
result $? "columns are scaled by the training rows"
predict linear "$tmp/new.csv" && cp "$tmp/p.csv" "$tmp/said.csv" && cat >"$tmp/check.py" <<'END'
import csv, math, statistics, sys
import h5py
with h5py.File(sys.argv[1]) as f:
    winner = f["winner"]
    columns = [c.decode() for c in winner["column"][:]]
    weights = {k: w[:] for k, w in winner["state"].items()}
    kinds = winner["table/whole"][:]
    names = [n.decode() for n in winner["table/name"][:]]
    fill = dict(zip(names, winner["table/real"][:, 0]))
    shift, scale = winner["shift"][:], winner["scale"][:]
with h5py.File(sys.argv[4]) as f:
    train = f["train/x"][:].astype(float)
matrix = [w for w in weights.values() if hasattr(w, "ndim") and w.ndim == 2 and w.shape[1] == len(columns)]
bias = [w for w in weights.values() if hasattr(w, "ndim") and w.ndim == 1 and w.shape == (3,)]
assert len(matrix) == 1 and len(bias) == 1, {k: getattr(w, "shape", None) for k, w in weights.items()}
said = list(csv.DictReader(open(sys.argv[3])))
names = [k for k in said[0] if k.startswith("p ")]
score, best = [[float(row[k]) for k in names] for row in said], [names.index("p " + row["class"]) for row in said]
rows = list(csv.DictReader(open(sys.argv[2])))
assert len(rows) == len(score) and [row["size"] for row in rows].count("") == 1
assert abs(fill["size"] - statistics.median(train[:, columns.index("size")])) < 1e-6, fill
for row, p, k in zip(rows, score, best):
    x = []
    for c in columns:
        if "=" in c:
            x.append(float(row[c.split("=")[0]] == c.split("=")[1]))
        elif c.endswith(" is missing"):
            x.append(float(row[c[:-11]] == ""))
        else:
            x.append(float(row[c] or fill[c]))
    x = [(number - s) / by for number, s, by in zip(x, shift, scale)]
    z = [sum(float(a) * b for a, b in zip(w, x)) + float(b0) for w, b0 in zip(matrix[0], bias[0])]
    e = [math.exp(v - max(z)) for v in z]
    want = [v / sum(e) for v in e]
    assert all(abs(a - b) < 1e-5 for a, b in zip(want, p)), (row, want, p)
    assert k == max(range(3), key=lambda i: p[i])
END
"$python" "$tmp/check.py" "$tmp/linear.h5" "$tmp/new.csv" "$tmp/said.csv" "$tmp/old.h5" >"$tmp/out" 2>&1
result $? "probabilities are those that the weights in the run file give, to 1e-5"

awk 'BEGIN { for (i = 0; i < 200; i++) printf "%s\t%s film %d\n", i % 2 ? "good" : "bad", i % 2 ? "nice" : "poor", i % 7 }' >"$tmp/t.tsv"
call pack text "$tmp/t.tsv" -o "$tmp/t.h5"

# ---- what weft eval says of them ----------------------------------------------------------

cat >"$tmp/judge.py" <<'END'
import collections, csv, sys
rows = list(csv.DictReader(open(sys.argv[1])))
names = sorted({r["label"] for r in rows} | {r["class"] for r in rows})
for part in ("train", "valid", "test"):
    own = [r for r in rows if r["part"] == part]
    there = sorted({r["label"] for r in own})
    wrong, f1, auc = [], [], []
    for c in names:
        of = [r for r in own if r["label"] == c]
        tp = sum(r["class"] == c for r in of)
        said = sum(r["class"] == c for r in own)
        if of:
            wrong.append(1 - tp / len(of))
        if of or said:
            f1.append(2 * tp / (len(of) + said))
        s = next(k for k in own[0] if k.endswith(" " + c))
        rest = [float(r[s]) for r in own if r["label"] != c]
        pairs = [(float(r[s]) > x) + (float(r[s]) == x) / 2 for r in of for x in rest]
        if pairs:
            auc.append(sum(pairs) / len(pairs))
    mean = lambda x: sum(x) / len(x)
    print(part, f"{100 * mean(wrong):.3f} {mean(f1):.6f} {mean(auc):.6f}")
count = collections.Counter((r["label"], r["class"]) for r in rows if r["part"] == "test")
for c in names:
    print(c, *(count[c, d] for d in names))
END
for name in rff linear; do
    predict $name "$tmp/old.h5" && "$python" "$tmp/judge.py" "$tmp/p.csv" >"$tmp/mine" 2>>"$tmp/log" &&
        "$weft" eval "$tmp/$name.h5" "$tmp/old.h5" 2>>"$tmp/log" | awk '
            $2 ~ /^[0-9]+$/ && NF == 7 { print $1, $5, $6, $7 }
            NF == 4 && $2 ~ /^[0-9]+$/ { print $1, $2, $3, $4 }' >"$tmp/out" && [ "$(wc -l <"$tmp/mine")" = 6 ]
    result $? "$name: predictions are judged by their labels"
    diff <(head -3 "$tmp/mine") <(head -3 "$tmp/out") >>"$tmp/log"
    result $? "$name: weft eval says their balanced error, F1 and AUC"
    diff <(tail -3 "$tmp/mine") <(tail -n +4 "$tmp/out") >>"$tmp/log"
    result $? "$name: so it does their confusion matrix"
done

# ---- scaled columns -----------------------------------------------------------------------

# scaled RANKS NAME [section.key=value ...]: the digest
scaled()
{
    on "$1" tune "$tmp/empty.ini" run.tuner=random "${@:3}" -o "$tmp/$2.h5" --force &&
        digest
}
call pack dense "$tmp/old.csv" drop=id clients=10 -o "$tmp/sites.h5"
fed="run.task=fed run.data=$tmp/sites.h5 run.mixing=none space.configs=1 fed.model=linear client.lr=0.1 random.resource=9"
one=$(scaled 1 sites1 $fed) && [ -n "$one" ] && grep -q 'columns are scaled to mean 0 and deviation 1, since' "$tmp/log"
result $? "clients' columns are scaled"
check "three ranks have the digest of one" [ "$(scaled 3 sites3 $fed)" = "$one" ]
grep '^test' "$tmp/out" | grep -o 'error [0-9.]*' | head -1 >"$tmp/mine"
call eval "$tmp/sites3.h5" "$tmp/sites.h5" && grep '^test' "$tmp/out" | grep -qF " $(sed 's/error //' "$tmp/mine") "
result $? "their winner is scored alike on the same data"
network="run.task=sgd run.data=$tmp/old.h5 sgd.model=linear space.configs=1 train.lr=0.05 random.resource=3"
all=$(scaled 1 net $network) && [ -n "$all" ] && [ "$(scaled 1 net3 $network run.scale=standard)" = "$all" ]
result $? "so are those of a network, as run.scale = standard says"
check "by two ranks alike" [ "$(scaled 2 net2 $network)" = "$all" ]
none=$(scaled 1 net4 $network run.scale=none) && [ -n "$none" ] && [ "$none" != "$all" ]
result $? "run.scale = none makes another winner"
most=$(scaled 1 net5 $network run.scale=minmax) && [ -n "$most" ] && [ "$most" != "$all" ]
result $? "run.scale = minmax, too"
check "which is told" grep -q 'scaled to 0 .. 1' "$tmp/log"
call tune "$tmp/empty.ini" run.data="$tmp/t.h5" fmap.feature=ngram run.scale=standard -o "$tmp/no.h5"
[ $? = 2 ] && grep -q 'run.scale is for columns of numbers, and .*t.h5 has none' "$tmp/log"
result $? "texts have no columns to scale"

# ---- rows as they come --------------------------------------------------------------------

predict rff "$tmp/new.csv" && awk -F, '{ print $NF }' "$tmp/p.csv" >"$tmp/want"
awk -F, -v OFS=, '{ print $4, $3, $2 }' "$tmp/new.csv" >"$tmp/bare.csv"
predict rff "$tmp/bare.csv" && cut -d, -f2- "$tmp/p.csv" >"$tmp/got" && awk -F, '{ print $NF }' "$tmp/got" | cmp - "$tmp/want" &&
    grep -q '^class,"p may,be"' "$tmp/got"
result $? "no label, no id, columns in another order: the same probabilities"
printf 'size,colour,age\n0.5,pink,\n' >"$tmp/row.csv"
predict rff "$tmp/row.csv" && [ "$(wc -l <"$tmp/p.csv")" = 2 ]
result $? "one row, with a new level and a gap, is enough"
awk 'BEGIN { print "a,a,b,y,b"; for (i = 0; i < 90; i++) print i % 7 "," i % 11 "," i % 5 "," (i % 11 > 4 ? "yes" : "no") "," i % 3 }' >"$tmp/twice.csv"
call pack dense "$tmp/twice.csv" label=y -o "$tmp/twice.h5" &&
    grep -q "names of columns are not kept: 'a' occurs twice; such columns are told apart by their order" "$tmp/log"
result $? "columns of one name are told"
call tune "$tmp/empty.ini" run.data="$tmp/twice.h5" run.tuner=random space.configs=1 rff.features=64 -o "$tmp/twice-run.h5" &&
    predict twice-run "$tmp/twice.csv" && cut -d, -f4- "$tmp/p.csv" >"$tmp/want.csv" &&
    cut -d, -f1-3,5 "$tmp/twice.csv" | awk -F, -v OFS=, '{ print $3, $1, $2, $4 }' >"$tmp/less.csv" &&
    predict twice-run "$tmp/less.csv" && cut -d, -f3- "$tmp/p.csv" | cmp - "$tmp/want.csv"
result $? "they are found in their order, also without the label"
sed '2,$s/^\([^,]*\),,/\1,-9,/' "$tmp/old.csv" >"$tmp/coded.csv"
awk -F, -v OFS=, 'NR > 1 && $1 == "" { $1 = NR % 20 < 10 ? "-9.0" : "nix" } { print }' <<<"$(cut -d, -f2- "$tmp/new.csv")" >"$tmp/newcoded.csv"
call pack dense "$tmp/coded.csv" drop=id gaps=-9,nix -o "$tmp/coded.h5" &&
    call tune "$tmp/empty.ini" run.data="$tmp/coded.h5" run.tuner=random space.configs=3 rff.features=64 fmap.model=logistic 'rff.gamma=log 0.001 .. 1' \
        -o "$tmp/coded-run.h5" && predict coded-run "$tmp/newcoded.csv" && grep -q -e -9.0 "$tmp/newcoded.csv" &&
    grep -q nix "$tmp/newcoded.csv" && awk -F, '{ print $NF }' "$tmp/p.csv" | cmp - "$tmp/want"
result $? "what stood for gaps in training does so in new rows"
table 40 500 >"$tmp/filled.csv"
call pack dense "$tmp/filled.csv" drop=id -o "$tmp/filled.h5" && predict rff "$tmp/filled.h5" &&
    grep -q "filled.h5 fills gaps of column 'age' by [0-9.]*, of its own rows, where .*rff.h5 was trained with [0-9.]*; .weft pack dense FILE like=.*rff.h5" "$tmp/log"
result $? "gaps that a table fills by its own rows are told"
sed 's/,green,/,purple,/' "$tmp/new.csv" >"$tmp/purple.csv"
predict rff "$tmp/purple.csv" && grep -q "purple.csv: column 'colour' has levels that training rows have not, such as 'purple', in 10 of 40 rows; they count as none" "$tmp/log"
result $? "levels that were not learnt are told"
predict rff "$tmp/new.csv" && grep -q "new.csv: column 'size' is missing in 1 of 40 rows, in training rows never; their median stands for it" "$tmp/log"
result $? "and a value that training rows always had"
call pack dense "$tmp/old.csv" drop=id test_file="$tmp/purple.csv" -o "$tmp/purple.h5" && grep -q "such as 'purple', in 10 of 40 rows" "$tmp/log"
result $? "also in a file for the test"
gzip -k "$tmp/bare.csv" && predict rff "$tmp/bare.csv.gz" && cut -d, -f2- "$tmp/p.csv" | cmp - "$tmp/got"
result $? "so is a compressed table"
sed 's/,/;/g' "$tmp/bare.csv" >"$tmp/semi.csv"
predict rff "$tmp/semi.csv" separator=semicolon && cut -d, -f2- "$tmp/p.csv" | cmp - "$tmp/got"
result $? "options of the reader are taken"
# spelt: of a table age in thousands, colour, size and sick as Germans write them, with a comment and bars in a name
spelt()
{
    awk -F, -v OFS=';' 'function german(x) { sub("[.]", ",", x); return x }
        NR == 1 { print "% from Ulm\n|age|in|days|", "colour", "size", "sick"; next }
        { print $(NF - 3) == "" ? "keine" : "1." sprintf("%03d", $(NF - 3)) ",50", $(NF - 2), german($(NF - 1)), $NF }'
}
sed 's/"may,be"/maybe/' "$tmp/old.csv" | tee "$tmp/old2.csv" | spelt >"$tmp/spelt.csv"
sed 's/"may,be"/maybe/' "$tmp/new.csv" | tee "$tmp/new2.csv" | spelt >"$tmp/newspelt.csv"
spelling="separator=semicolon decimal=comma thousands=point comment=% gaps=keine"
call pack dense "$tmp/spelt.csv" $spelling -o "$tmp/spelt.h5" &&
    run="run.data=$tmp/spelt.h5 run.tuner=random space.configs=1" && trained spelt-run rff.features=64 fmap.model=logistic &&
    "$weft" predict "$tmp/spelt-run.h5" "$tmp/newspelt.csv" $spelling >"$tmp/want.csv" 2>"$tmp/log" && [ "$(wc -l <"$tmp/want.csv")" = 41 ]
result $? "new rows are read in a notation that is given"
predict spelt-run "$tmp/newspelt.csv" && cmp "$tmp/p.csv" "$tmp/want.csv"
result $? "or in that of those that were learnt from"
call pack dense "$tmp/newspelt.csv" like="$tmp/spelt.h5" -o "$tmp/newspelt.h5" && predict spelt-run "$tmp/newspelt.h5" &&
    cmp "$tmp/p.csv" "$tmp/want.csv"
result $? "also when they are packed like them"
awk -F, -v OFS=, 'NR == 1 { $2 = "|age|in|days|" } NR > 1 && $2 != "" { $2 += 1000.5 } { print }' "$tmp/new2.csv" >"$tmp/plain.csv"
predict spelt-run "$tmp/plain.csv" separator=comma decimal=point thousands=none && cmp "$tmp/p.csv" "$tmp/want.csv"
result $? "but for what is said of them"
awk -F, 'NR > 1 && $3 != "" { print $3 "," $5 }' "$tmp/old2.csv" >"$tmp/words.csv"
call pack dense "$tmp/words.csv" header=no -o "$tmp/words.h5" &&
    run="run.data=$tmp/words.h5 run.tuner=random space.configs=1" && trained words-run rff.features=64 && head -20 "$tmp/words.csv" >"$tmp/few.csv" &&
    predict words-run "$tmp/few.csv" && [ "$(wc -l <"$tmp/p.csv")" = 21 ]
result $? "a first line that had no names has none in new rows"
ls "$tmp"/*.rows* >"$tmp/out" 2>/dev/null
check "nothing is left beside the predictions" [ ! -s "$tmp/out" ]
# Of another prediction by that winner, which packs other rows.
echo theirs >"$tmp/rff.h5.rows.h5"
predict rff "$tmp/bare.csv" && cut -d, -f2- "$tmp/p.csv" | cmp - "$tmp/got"
result $? "a file of another prediction changes none"
check "it stays as it is" [ "$(cat "$tmp"/rff.h5.rows*)" = theirs ]
for i in 1 2 3 4; do
    sed "1!s/[^,]*$/$((12 * i))/" "$tmp/bare.csv" >"$tmp/bare-$i.csv"
    "$weft" predict "$tmp/rff.h5" "$tmp/bare-$i.csv" >"$tmp/alone-$i.csv" 2>"$tmp/log"
done
for i in 1 2 3 4; do "$weft" predict "$tmp/rff.h5" "$tmp/bare-$i.csv" >"$tmp/beside-$i.csv" 2>"$tmp/log-$i" & done
wait
for i in 1 2 3 4; do cmp "$tmp/alone-$i.csv" "$tmp/beside-$i.csv" || break; done && [ "$(cat "$tmp"/alone-?.csv | sort -u | wc -l)" -gt 50 ]
result $? "predictions at the same time are of their own rows"
predict rff "$tmp/bare.csv" -o "$tmp/c.csv" && cut -d, -f2- "$tmp/c.csv" | cmp - "$tmp/got"
result $? "-o names a file"
check "nothing is printed then" [ ! -s "$tmp/p.csv" ]
call tune "$tmp/empty.ini" run.data="$tmp/t.h5" fmap.feature=ngram fmap.model=svm 'ngram.order=1 | 2' space.configs=2 -o "$tmp/text.h5" &&
    predict text "$tmp/t.h5" && [ "$(wc -l <"$tmp/p.csv")" = 201 ] &&
    awk -F, 'NR > 1 && $3 != $4 { exit 1 }' "$tmp/p.csv"
result $? "texts are predicted from their packed file"

# A file of more rows than are held at once, 34952 of 30 classes: each has the scores that it has
# among few.
awk 'BEGIN { for (i = 0; i < 600; i++) print i % 30 + i % 7 / 8 "," i * 17 % 101 "," i % 30 }' >"$tmp/few.csv"
for i in {1..67}; do cat "$tmp/few.csv"; done >"$tmp/many.csv"
call pack dense "$tmp/few.csv" target=classes -o "$tmp/few.h5" &&
    call tune "$tmp/empty.ini" run.data="$tmp/few.h5" run.task=sgd sgd.model=linear run.tuner=random random.resource=2 space.configs=1 \
        -o "$tmp/thirty.h5" &&
    call pack dense "$tmp/many.csv" like="$tmp/thirty.h5" -o "$tmp/many.h5" &&
    predict thirty "$tmp/few.csv" && on 2 predict "$tmp/thirty.h5" "$tmp/many.h5" -o "$tmp/many-p.csv" &&
    sed 1d "$tmp/p.csv" | cut -d, -f2- >"$tmp/few-p.csv" && for i in {1..67}; do cat "$tmp/few-p.csv"; done >"$tmp/want.csv" &&
    sed 1d "$tmp/many-p.csv" | cut -d, -f2- | cmp - "$tmp/want.csv" >"$tmp/out" 2>&1
result $? "a file of more rows than are held at once is predicted as few rows are, by two ranks"

"$weft" predict "$tmp/thirty.h5" "$tmp/many.csv" 2>"$tmp/log" | head -1 >"$tmp/out"
[ "${PIPESTATUS[0]}" = 3 ] && grep -q "^weft: cannot write the predictions: Broken pipe" "$tmp/log" && [ -s "$tmp/out" ]
result $? "a reader that ends first is told"
check "nothing is left behind then" [ "$(ls -d "$tmp"/*.rows*)" = "$tmp/rff.h5.rows.h5" ]

awk 'BEGIN { print "x,y"; for (i = 0; i < 60; i++) print i % 2 + i / 100 "," (i % 2 ? "NA" : "b") }' >"$tmp/gap.csv"
call pack dense "$tmp/gap.csv" unlabelled=class -o "$tmp/gap.h5"
run="run.data=$tmp/gap.h5 run.tuner=random space.configs=1 rff.features=20 rff.gamma=0.1 fmap.model=logistic"
trained gap-run && printf 'x,y\n0.1,b\n1.2,NA\n' >"$tmp/gap.csv" && predict gap-run "$tmp/gap.csv" &&
    [ "$(cut -d , -f 1-3 "$tmp/p.csv" | tr '\n' ' ')" = "row,label,class 1,b,b 2,NA,NA " ]
result $? "a label that stands for a gap is one where it was learnt"
# ---- what is refused ----------------------------------------------------------------------

refused() # STATUS STATEMENT PATTERN RUN ROWS [ARGUMENT ...]
{
    refuses "$1" "$3" "$2" predict "${@:4}"
}
for option in drop=colour weight=size valid_file="$tmp/old.csv"; do
    refused 2 "what the winner says already is refused: ${option%=*}" "${option%=*} = .* has no effect: like = ... says what columns are; leave it out" rff "$tmp/new.csv" "$option"
done
refused 3 "a file that is there is kept" "c.csv is there already; --force" rff "$tmp/bare.csv" -o "$tmp/c.csv"
refused 3 "one that holds no predictions always" "new.csv is there already, and holds no predictions" rff "$tmp/bare.csv" -o "$tmp/new.csv" --force
cut -d, -f1,2 "$tmp/bare.csv" >"$tmp/few.csv"
refused 4 "a column that is not there is told" "few.csv has no column 'age', which the winner was trained with; add it, empty where" rff "$tmp/few.csv"
for name in Age ' age ' AGE; do
    sed "1s/age/\"$name\"/" "$tmp/bare.csv" >"$tmp/other.csv"
    refused 4 "a column of nearly that name is told: '$name'" "other.csv has no column 'age', which the winner was trained with; name column ' *$name *' so, if it is this one" rff "$tmp/other.csv"
done
sed 1d "$tmp/new.csv" >"$tmp/nameless.csv"
refused 4 "rows without names are told" "nameless.csv has 5 columns without names where 5 with names in the first line are expected, as the winner was trained with" \
    rff "$tmp/nameless.csv"
sed '3s/^[^,]*/big/' "$tmp/bare.csv" >"$tmp/bad.csv"
refused 4 "a text among numbers is told" "bad.csv: line 3, column 1, 'size', is 'big' where a finite number is expected; mend or remove the line" rff "$tmp/bad.csv"
sed '1s/$/,size/; 1!s/$/,7/' "$tmp/bare.csv" >"$tmp/twice.csv"
refused 4 "a column that is there twice is told" "twice.csv: columns 1 and 4 are both named 'size', where one is expected; remove the other" \
    rff "$tmp/twice.csv"
sed '3s/.*/9,10,red,1,perhaps/' "$tmp/new.csv" >"$tmp/class.csv"
refused 4 "a label that was not learnt is told" "class.csv has the class 'perhaps'" rff "$tmp/class.csv"
refused 2 "options of a packed file have no effect" "old.h5 is packed, so that separator=semicolon" rff "$tmp/old.h5" separator=semicolon
refused 2 "a table for texts is told" "bare.csv: its lines would be texts as they are; separator = comma" text "$tmp/bare.csv"
call pack dense "$tmp/bare.csv" like="$tmp/rff.h5" -o "$tmp/bare.h5" && predict rff "$tmp/bare.h5" &&
    cut -d, -f2- "$tmp/p.csv" | cmp - "$tmp/got"
result $? "a table can be packed like those of a run"
call eval "$tmp/rff.h5" "$tmp/bare.h5"
[ $? = 4 ] && grep -q "bare.h5 has no labels" "$tmp/log"
result $? "but not scored without labels"
call tune "$tmp/empty.ini" run.data="$tmp/bare.h5" -o "$tmp/no.h5"
[ $? = 4 ] && grep -q "bare.h5 holds rows to be scored" "$tmp/log"
result $? "nor trained on"
# ---- texts --------------------------------------------------------------------------------

# texts N FIRST: lines of a class and a text
texts()
{
    awk -v n="$1" -v first="$2" 'BEGIN { for (i = first; i < first + n; i++)
        printf "%s\t%s film %d, by %d\n", i % 2 ? "good" : "bad", i % 3 ? (i % 2 ? "nice" : "poor") : "long", i % 7, i % 5 }'
}
texts 200 0 >"$tmp/learn.tsv"
texts 30 500 >"$tmp/say.tsv"
cut -f 2 "$tmp/say.tsv" >"$tmp/say.txt"
call pack text "$tmp/learn.tsv" -o "$tmp/learn.h5" &&
    call pack text "$tmp/learn.tsv" test_file="$tmp/say.tsv" -o "$tmp/say.h5" &&
    run="run.data=$tmp/learn.h5 run.tuner=random space.configs=2" && trained texts fmap.feature=ngram ngram.bins=4096 fmap.model=logistic 'ngram.order=1 .. 2'
result $? "a winner of texts"
# Packed beside the texts that were learnt from, they have the same scores.
predict texts "$tmp/say.h5" && sed -n 's/^test,//p' "$tmp/p.csv" >"$tmp/want" &&
    predict texts "$tmp/say.tsv" label=first && sed 1d "$tmp/p.csv" | cmp - "$tmp/want" && [ "$(wc -l <"$tmp/want")" = 30 ]
result $? "lines of label and text have the predictions that they have when packed"
cut -d , -f 1,3- "$tmp/want" >"$tmp/bare"
predict texts "$tmp/say.txt" && sed 1d "$tmp/p.csv" | cmp - "$tmp/bare" && cp "$tmp/p.csv" "$tmp/one.csv"
result $? "texts without labels, too"
mpirun --oversubscribe -n 3 "$weft" predict "$tmp/texts.h5" "$tmp/say.txt" >"$tmp/p.csv" 2>>"$tmp/log" &&
    cmp "$tmp/p.csv" "$tmp/one.csv"
result $? "by three ranks alike"
printf 'nice film\n\npoor film\n' >"$tmp/few.txt"
predict texts "$tmp/few.txt" && [ "$(cut -d , -f 1,2 "$tmp/p.csv" | sed '1d;3d' | tr '\n' ' ')" = "1,good 3,bad " ]
result $? "an empty line is a row, so that rows are lines"
for first in '' 'nice\tfilm'; do
    printf "$first\n\nnice film\n" >"$tmp/few2.txt"
    predict texts "$tmp/few2.txt" && [ "$(sed -n '4s/,[0-9].*//p' "$tmp/p.csv")" = 3,good ]
    result $? "so it is behind '$first'"
done
printf 'id,text\n7,"nice, film"\n8,poor film\n' >"$tmp/few.csv"
predict texts "$tmp/few.csv" separator=comma header=yes &&
    [ "$(cut -d , -f 1,2 "$tmp/p.csv" | sed 1d | tr '\n' ' ')" = "1,good 2,bad " ]
result $? "and the columns of a CSV are texts"
for options in "" "text=2"; do
    # shellcheck disable=SC2086
    refused 2 "a first line that may have names is asked about: $options" "few.csv: line 1 may have names of columns or be a row: header = yes or no" \
        texts "$tmp/few.csv" separator=comma $options
done
sed 1d "$tmp/few.csv" >"$tmp/headless.csv"
predict texts "$tmp/few.csv" separator=comma text=text && cp "$tmp/p.csv" "$tmp/got" && [ "$(wc -l <"$tmp/got")" = 3 ]
result $? "a name of a column says it"
predict texts "$tmp/headless.csv" separator=comma text=2 header=no && cmp "$tmp/p.csv" "$tmp/got"
result $? "header = no, too"
printf 'odd\tnice film\n' >"$tmp/odd.tsv"
refused 4 "a class that was not learnt is refused" "odd.tsv has the class 'odd', which is not among those" texts "$tmp/odd.tsv" label=first
# A winner reads new texts as those were read that it was trained on.
awk -F '\t' 'BEGIN { print "id,review,grade" } { sub(",", "", $2); printf "%d,\"%s\",%s\n", NR, $2, $1 }' "$tmp/learn.tsv" >"$tmp/learn.csv"
awk -F '\t' 'BEGIN { print "id,review,grade" } { sub(",", "", $2); printf "%d,\"%s\",%s\n", NR, $2, $1 }' "$tmp/say.tsv" >"$tmp/say.csv"
call pack text "$tmp/learn.csv" separator=comma label=grade text=review -o "$tmp/graded.h5" &&
    run="run.data=$tmp/graded.h5 run.tuner=random space.configs=1" && trained own fmap.feature=ngram ngram.bins=4096 fmap.model=logistic &&
    predict own "$tmp/say.csv" separator=comma text=review label=grade && cp "$tmp/p.csv" "$tmp/want" && head -1 "$tmp/want" | grep -q label
result $? "new texts are read by options"
predict own "$tmp/say.csv" && cmp "$tmp/p.csv" "$tmp/want"
result $? "or as those were that were learnt from"
cut -d, -f1,3- "$tmp/want" >"$tmp/blank"
cut -d, -f 1,2 "$tmp/say.csv" >"$tmp/new.csv" && predict own "$tmp/new.csv" && cmp "$tmp/p.csv" "$tmp/blank"
result $? "so they are without their label"
cut -d, -f 2 "$tmp/say.csv" >"$tmp/new.csv" && predict own "$tmp/new.csv" && cmp "$tmp/p.csv" "$tmp/blank"
result $? "and with no other column"
printf 'review\nnice film\n\npoor film\n' >"$tmp/lone.tsv" && predict own "$tmp/lone.tsv" separator=tab &&
    [ "$(cut -d , -f 1,2 "$tmp/p.csv" | sed -n '2p;4p' | tr '\n' ' ')" = "1,good 3,bad " ]
result $? "an empty line of a single column between tabs is a row, too"
tr -d , <"$tmp/say.txt" >"$tmp/new.txt" && predict own "$tmp/new.txt" text= separator=tab && cmp "$tmp/p.csv" "$tmp/blank"
result $? "lines as they are have the same predictions"
refused 2 "lines without the column of the texts are refused, with the remedy" \
    "text = review names no column of .*say.txt; .*; text= client= separator=tab reads lines as they are" own "$tmp/say.txt"
predict texts "$tmp/say.tsv" && grep -q "30 of 30 texts begin or end with the name of a class" "$tmp/log"
result $? "labels that are read as text are told"
predict texts "$tmp/say.txt" && ! grep -q "name of a class" "$tmp/log"
result $? "texts without labels are not"
: >"$tmp/empty.txt"
refused 4 "a file without texts is told" "empty.txt has no texts" texts "$tmp/empty.txt"
call pack text "$tmp/say.txt" label=none like="$tmp/learn.h5" -o "$tmp/scored.h5" &&
    predict texts "$tmp/scored.h5" && sed 1d "$tmp/p.csv" | cmp - "$tmp/bare"
result $? "texts packed like those that were learnt from have the same predictions"
call pack text "$tmp/few.txt" label=none like="$tmp/rff.h5" -o "$tmp/no.h5"
[ $? = 4 ] && grep -q 'like = .*rff.h5 is not of texts' "$tmp/log"
result $? "texts are not packed like a table"
call pack text "$tmp/few.txt" label=none -o "$tmp/no.h5"
[ $? = 2 ] && grep -q 'label = none is for texts to be scored: like = RUN.h5' "$tmp/log"
result $? "nor without labels to learn from"
# A linear part goes on beyond the rows that were learnt from.
awk 'BEGIN { print "age,size,price"; for (i = 0; i < 121; i++) { x = i % 11; y = int(i / 11); print x "," y "," 2 * x + y } }' >"$tmp/grid.csv"
printf 'age,size\n5,5\n30,5\n-5,-10\n10.5,5\n' >"$tmp/far.csv"
printf 'age,size\n0,10\n10,0\n10.5,5\n' >"$tmp/near.csv"
call pack dense "$tmp/grid.csv" target=regression valid=0.05 test=0 -o "$tmp/grid.h5"
run="run.data=$tmp/grid.h5 run.tuner=random space.configs=1 fmap.feature=nystrom nystrom.landmarks=121 run.refit=yes"
trained line nystrom.linear=yes && predict line "$tmp/far.csv" &&
    grep -q '2 of 4 rows lie outside the range of the training rows, the farthest by 2 times its width, in column age: ' "$tmp/log"
result $? "rows outside the range of the training rows are told"
[ "$(awk -F, 'NR == 3 { print ($2 > 40) }' "$tmp/p.csv")" = 1 ]
result $? "what is said of them is beyond what was learnt from"
mpirun --oversubscribe -n 3 "$weft" predict "$tmp/line.h5" "$tmp/far.csv" >"$tmp/p.csv" 2>"$tmp/log" &&
    grep -q '2 of 4 rows lie outside .* by 2 times its width, in column age: ' "$tmp/log"
result $? "three ranks tell the same rows"
predict line "$tmp/near.csv" && ! grep -q "lie outside" "$tmp/log"
result $? "rows within a tenth of the range are not told"
trained curve && predict curve "$tmp/far.csv" && ! grep -q "lie outside" "$tmp/log"
result $? "a kernel that levels off tells none"
# ---- a disk that is full --------------------------------------------------------------------

# MPICH's shared memory is a file, too, unless UCX takes that of System V.
(ulimit -f 300 && UCX_TLS=^posix "$weft" predict "$tmp/thirty.h5" "$tmp/many.h5" -o "$tmp/full.csv" >"$tmp/out" 2>"$tmp/log")
check "predictions that a disk has no room for fail" [ $? = 3 ]
check "with one line" [ "$(grep -c '^weft: cannot write .*full.csv: ' "$tmp/log")" = 1 ]
check "a part of them is not left" [ -z "$(ls "$tmp" | grep '^full')" ]

echo "1..$count"
