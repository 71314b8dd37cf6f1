#!/bin/bash
# An exported winner has all that predictions need: analysis/predict.py, which reads it by h5py and
# NumPy alone, tells the same of rows and texts as weft predict, to 1e-5. Prints TAP.
. tests/tap.sh
need_python "h5py, numpy"
export PYTHONDONTWRITEBYTECODE=1
: >"$tmp/empty.ini"

# same ROWS: predictions of $tmp/r.h5, all but the labels, and those of the exported winner are the same
same()
{
    call export "$tmp/r.h5" -o "$tmp/w.h5" --force &&
        "$weft" predict "$tmp/r.h5" "$1" >"$tmp/weft.csv" 2>>"$tmp/log" &&
        "$python" analysis/predict.py "$tmp/w.h5" "$1" >"$tmp/python.csv" 2>>"$tmp/log" &&
        "$python" - "$tmp/weft.csv" "$tmp/python.csv" >"$tmp/out" 2>&1 <<'EOF'
import csv, sys
a, b = (list(csv.DictReader(open(path))) for path in sys.argv[1:])
assert len(a) == len(b) > 0 and set(b[0]) | {"client", "label"} >= set(a[0]), (a[:1], b[:1])
for x, y in zip(a, b):
    for key in y:
        if key.split(" ")[0] in ("p", "score", "value"):
            assert abs(float(x[key]) - float(y[key])) <= 1e-5 * max(1, abs(float(x[key]))), (key, x, y)
        else:
            assert x[key] == y[key], (key, x, y)
EOF
}
tune() # DATA [section.key=value ...]
{
    call tune "$tmp/empty.ini" run.data="$tmp/$1.h5" run.tuner=random space.configs=1 -o "$tmp/r.h5" --force "${@:2}"
}

# table N FIRST: an identifier, numbers of which some are missing, or -77 for that, and others far away,
# categories
table()
{
    awk -v n="$1" -v first="$2" 'BEGIN {
        split("red,green,blue,", colour, ",")
        print "id,age,colour,size,far"
        for (i = first; i < first + n; i++)
            print i "," (i % 20 == 3 ? "NA" : i % 20 == 13 ? "-77.0" : i * 37 % 60) "," colour[i % 4 + 1] "," i * 53 % 100 / 10 "," 90000 + i * 17 % 29 / 8
    }'
}
labelled() # CLASS: awk's expression, of the columns age, size, far
{
    table 240 0 | awk -F, -v OFS=, 'NR == 1 { print $0, "y" } NR > 1 { age = $2; size = $4; far = $5; print $0, ('"$1"') }'
}
labelled 'age + 9 * size > 70 ? "yes" : size > 5 ? "no" : "maybe"' >"$tmp/three.csv"
labelled 'age + 9 * size > 70' >"$tmp/two.csv"
labelled '2 * age - size * size + far / 100 + 0.01' >"$tmp/number.csv"
table 60 500 | sed '1s/,/ /; s/^[0-9]*,//; 1s/^id //; 5s/red\|green/pink/' >"$tmp/new.csv"
for name in three two number; do
    call pack dense "$tmp/$name.csv" drop=id label=y gaps=-77 -o "$tmp/$name.h5"
done
while read -r data options; do
    # shellcheck disable=SC2086
    tune $data $options && same "$tmp/new.csv"
    result $? "$data: $options"
done <<'EOF'
three rff.features=200 rff.gamma=0.05 rff.preprocess=standard fmap.model=logistic
three rff.features=120 rff.gamma=0.3 rff.preprocess=minmax fmap.model=svm
two rff.features=120 rff.gamma=1e-8 rff.preprocess=l2 fmap.model=logistic run.seed=9
two rff.features=64 rff.gamma=0.001 fmap.model=ridge
three rff.features=1500 rff.kernel=laplacian rff.gamma=0.05 rff.preprocess=standard fmap.model=logistic
number rff.features=150 rff.gamma=0.1 rff.preprocess=standard fmap.model=ridge
three rff.features=70 rff.gamma=0.1 rff.preprocess=standard fmap.model=logistic fmap.folds=3
three fmap.feature=nystrom nystrom.landmarks=200 nystrom.gamma=0.1 nystrom.linear=yes fmap.model=logistic
three fmap.feature=nystrom nystrom.landmarks=300 nystrom.kernel=laplacian nystrom.gamma=0.3 fmap.model=svm fmap.folds=3
number fmap.feature=nystrom nystrom.landmarks=50 nystrom.gamma=0.2 fmap.model=ridge run.refit=yes
three run.task=sgd sgd.model=linear random.resource=3
two run.task=sgd sgd.model=mlp mlp.hidden=20,10 sgd.folds=3 random.resource=3
three run.task=sgd sgd.model=mlp run.scale=minmax random.resource=2
number run.task=sgd sgd.model=mlp mlp.hidden=8 random.resource=3
two run.task=sgd sgd.model=linear run.scale=quantile random.resource=3
EOF
awk -F, -v OFS=, 'NR > 1 { $NF = sprintf("%.1f", 1700000000 + $NF) } 1' "$tmp/number.csv" >"$tmp/when.csv"
call pack dense "$tmp/when.csv" drop=id label=y gaps=-77 -o "$tmp/when.h5" &&
    tune when rff.features=150 rff.gamma=0.1 rff.preprocess=standard fmap.model=ridge && same "$tmp/new.csv" &&
    paste -d, "$tmp/weft.csv" "$tmp/python.csv" | awk -F, 'NR > 1 { d = $2 - $4; worst = d * d > worst ? d * d : worst } END { print worst; exit !(worst < 1e-4) }' >"$tmp/out"
result $? "values that differ late in their digits"
sed '2s/red/pink/' "$tmp/new.csv" >"$tmp/pink.csv" && "$python" analysis/predict.py "$tmp/w.h5" "$tmp/pink.csv" >"$tmp/out" 2>"$tmp/log" &&
    grep -q "pink.csv: column 'colour' has levels that training rows have not, such as 'pink', in 1 of 60 rows; they count as none" "$tmp/log"
result $? "a level that training rows have not is told"
sed 's/blue/" blue "/; s/red/ red /' "$tmp/three.csv" >"$tmp/blanks.csv" && call pack dense "$tmp/blanks.csv" drop=id label=y gaps=-77 -o "$tmp/blanks.h5" &&
    tune blanks run.task=sgd sgd.model=linear random.resource=3 && sed '3s/red/ red/; 4,$s/blue/" blue "/' "$tmp/new.csv" >"$tmp/quoted.csv" && same "$tmp/quoted.csv"
result $? "blanks in quotation marks belong to a level"
for file in none.h5 pink.csv w.h5; do
    ! "$python" analysis/predict.py "$tmp/$file" "$tmp/none.csv" >"$tmp/out" 2>"$tmp/log" && [ "$(wc -l <"$tmp/log")" = 1 ] && grep -Eq "^$tmp/(none\.(h5|csv): No such file|pink.csv: no HDF5)" "$tmp/log"
    result $? "$file and no rows are one line"
done
sed '2s/red/r\xe9d/; 3s/red/r\xc3\xa9d/' "$tmp/new.csv" >"$tmp/latin.csv" && same "$tmp/latin.csv" && grep -q '[0-9] lines are not UTF-8' "$tmp/log"
result $? "lines that are not UTF-8 are Windows-1252"
# A linear part goes on beyond the rows that were learnt from.
awk 'BEGIN { print "age,size,price"; for (i = 0; i < 121; i++) { x = i % 11; y = int(i / 11); print x "," y "," 2 * x + y } }' >"$tmp/grid.csv"
printf 'age,size\n5,5\n30,5\n-5,-10\n10.5,5\n' >"$tmp/far.csv"
printf 'age,size\n0,10\n10,0\n10.5,5\n' >"$tmp/near.csv"
call pack dense "$tmp/grid.csv" target=regression valid=0.05 test=0 -o "$tmp/grid.h5"
tune grid fmap.feature=nystrom nystrom.landmarks=121 nystrom.linear=yes run.refit=yes && same "$tmp/far.csv"
result $? "rows outside the range of the training rows"
lines='[0-9]* of [0-9]* rows lie outside .*'
check "are told" [ "$(grep -c 'far.csv: 2 of 4 rows lie outside' "$tmp/log")" = 1 ]
[ "$(grep -o "$lines" "$tmp/log" | wc -l)" = 2 ] && [ "$(grep -o "$lines" "$tmp/log" | sort -u | wc -l)" = 1 ]
result $? "in the words of weft predict"
same "$tmp/near.csv" && ! grep -q "lie outside" "$tmp/log"
result $? "rows within a tenth of the range are not"
awk 'BEGIN { print "x,y"; for (i = 0; i < 60; i++) print i % 17 "," (i % 17 > 8 ? "high" : "low") }' >"$tmp/one.csv"
printf '\n"x"\n1\n\n0x9\n1d1\r\n""\n \n16\n\n' >"$tmp/lone.csv"
call pack dense "$tmp/one.csv" label=y -o "$tmp/one.h5" && tune one rff.features=50 && same "$tmp/lone.csv"
result $? "a table of one column with blank lines"
[ "$(wc -l <"$tmp/weft.csv")" = 9 ] && [ "$(cut -d, -f2 "$tmp/weft.csv" | tr '\n' ' ')" = "class low low high high low low high low " ]
result $? "whose blank lines are rows"
check "which is told" grep -q 'lone.csv: blank lines, 3 of them, are rows whose value is missing' "$tmp/log"
printf 'y,x\n\n,1\n\n,16\n\n' >"$tmp/two.csv" && call predict "$tmp/r.h5" "$tmp/two.csv" &&
    [ "$(wc -l <"$tmp/out")" = 3 ]
result $? "in other tables they are none"
check "which is told, too" grep -q 'two.csv: blank lines, 2 of them, are no rows' "$tmp/log"
labelled 'age + 9 * size > 70' >"$tmp/two.csv"
tune three rff.features=20 rff.preprocess=standard && call export "$tmp/r.h5" -o "$tmp/w.h5" --force &&
    "$python" - "$tmp/three.h5" "$tmp/w.h5" >"$tmp/out" 2>&1 <<'EOF'
import h5py, numpy as np, sys
data, winner = map(h5py.File, sys.argv[1:])
x = data["train/x"][:].astype(float)
mean, deviation, *_ = winner["winner/state/statistics"][:].reshape(4, -1)
level = ((x == 0) | (x == 1)).all(0)
assert level.sum() > 3 and x[:, level].std(0).min() < 0.45 and (~level).sum() > 2, level
assert np.allclose(mean, x.mean(0), 1e-5, 1e-5)
assert np.allclose(deviation, np.where(level, 0.5, x.std(0)), 1e-4, 1e-5), (deviation, x.std(0))
EOF
result $? "columns of levels are not scaled up by how few rows have one"
awk 'BEGIN {
    print "day,at,born,cost,share,fee,on,month,y"
    for (i = 0; i < 200; i++)
        printf "%s,%d:%02d,%s,\"%s1,%03d.5\",%s,EUR %d,%d %s 2024,2023-%02d,%d\n",
            i % 9 == 4 ? "" : sprintf("2024-%02d-%02dT%02d:30:00.5+02:00", i % 12 + 1, i % 28 + 1, i % 24), i % 24, i % 60,
            i % 11 == 6 ? "" : sprintf("%d/%d/%d", i % 12 + 1, i % 28 + 1, 1930 + i % 90), i % 3 ? "$" : "-$", i * 37 % 1000,
            i % 8 == 5 ? "NA" : i % 50 " %", i % 37, i % 28 + 1, i % 2 ? "May" : "December", i % 12 + 1, (i % 28) % 7 < 3
}' >"$tmp/written.csv"
call pack dense "$tmp/written.csv" label=y -o "$tmp/written.h5" && tune written rff.features=64 rff.preprocess=standard
cp "$tmp/w.h5" "$tmp/dates.h5"
cp "$tmp/r.h5" "$tmp/dates-run.h5"
awk 'BEGIN {
    print "wait,x,y"
    for (i = 0; i < 200; i++)
        printf "%d days %s%02d:%02d:%02d%s,%d,%s\n", i % 9 - 3, i % 9 < 3 ? "+" : "", i % 24, i * 7 % 60, i * 11 % 60,
            i % 2 ? "" : ".250000", i % 7, (i % 9 > 4 ? "long" : "short")
}' >"$tmp/spans.csv"
call pack dense "$tmp/spans.csv" -o "$tmp/spans.h5" && tune spans rff.features=64 rff.preprocess=standard
{
    head -20 "$tmp/spans.csv"
    printf '%s\n' '"1 day, 2:03:04",1,long' '"-1 day, 23:59:59.5",2,short' "106 days,3,long" "NA,3,long" "90:15.25,1,long" '"-9:05,5",2,short'
} >"$tmp/more.csv"
check "time spans, as pandas and Python write them" same "$tmp/more.csv"
for bad in "1 days 24:00:00" "1 hours 02:03:04" 93784; do
    printf 'wait,x\n%s,1\n' "$bad" >"$tmp/bad.csv"
    ! "$python" analysis/predict.py "$tmp/w.h5" "$tmp/bad.csv" >"$tmp/out" 2>"$tmp/log" && grep -q "row 1, column 'wait' is '$bad' where a number is expected, written as" "$tmp/log"
    result $? "not: $bad"
    ! call predict "$tmp/r.h5" "$tmp/bad.csv" && grep -q "line 2, column .* where a time span such as 1 days 02:03:04 is expected" "$tmp/log"
    result $? "nor by weft predict: $bad"
done
mv "$tmp/dates.h5" "$tmp/w.h5"
mv "$tmp/dates-run.h5" "$tmp/r.h5"
{
    head -90 "$tmp/written.csv"
    cat <<'EOF'
2024-02-29,0:00,2/29/1904,7,3,5,2024-05-06,2023-02,1
20240229T2330Z,23:59,12/31/99,"(1,000 $)",50,EUR 5.5,Dec. 3 2023,2023-12,0
2025-01-01T11:00-0530,12:00,1/1/2100,$ 5,NA,NA,"May 31, 2024",NA,1
2024-02-29T23:59:60+14:00,12:30 PM,2/3/68,$-1500,5NB%,5 EUR,3-may-2024,2023-05,1
2024-02-29 24:00,12:30 am,2/3/69,MINUS5 $,5NB%,7,03DEC2024,2024-05,0
20241231.0,1:05:06.5pm,1999-02-03,-$5,-5 %,-7,NA,,0
EOF
} | sed "s/NB/$(printf '\302\240')/; s/MINUS/$(printf '\342\210\222')/" >"$tmp/more.csv"
check "dates, times of day, numbers with units" same "$tmp/more.csv"
sed '3s/[01]$/NA/; 5s/[01]$//' "$tmp/more.csv" >"$tmp/lacks.csv"
check "rows some of which lack a label" same "$tmp/lacks.csv"
while read -r bad; do
    printf 'day,at,born,cost,share,fee,on,month\n%s\n' "$bad" >"$tmp/bad.csv"
    ! "$python" analysis/predict.py "$tmp/w.h5" "$tmp/bad.csv" >"$tmp/out" 2>"$tmp/log" && grep -q "row 1, column .* where a number is expected, written as" "$tmp/log"
    result $? "not: $bad"
    ! call predict "$tmp/r.h5" "$tmp/bad.csv" && grep -q "line 2, column .* where a .* is expected" "$tmp/log"
    result $? "nor by weft predict: $bad"
done <<'EOF'
2023-02-29,1:00,2/2/1999,5,5,5,NA,NA
2024-02-03T17:00+19:00,1:00,2/2/1999,5,5,5,NA,NA
2024-02-03,24:30,2/2/1999,5,5,5,NA,NA
2024-02-03,24:00:00.5,2/2/1999,5,5,5,NA,NA
2024-02-03,23:59:61,2/2/1999,5,5,5,NA,NA
2024-02-03,0:30 PM,2/2/1999,5,5,5,NA,NA
2024-02-03,1:00,13/2/1999,5,5,5,NA,NA
2024-02-03,1:00,2/2/1999,5 EUR,5,5,NA,NA
2024-02-03,1:00,2/2/1999,5,$5,5,NA,NA
2024-02-03,1:00,2/2/1999,5,5 %%,5,NA,NA
2024-02-03,1:00,2/2/1999,5,5,EUR5,NA,NA
2024-02-03,1:00,2/2/1999,5,5,5,3 Decem 2024,NA
2024-02-03,1:00,2/2/1999,5,5,5,NA,2023-05-01
EOF
call pack dense "$tmp/three.csv" drop=id label=y clients=12 -o "$tmp/dealt.h5"
tune dealt run.task=fed run.mixing=none fed.model=mlp mlp.hidden=8 random.resource=3 && same "$tmp/new.csv"
result $? "the server's weights of a federation"
cp "$tmp/python.csv" "$tmp/one.csv"
tr , ';' <"$tmp/new.csv" >"$tmp/semi.csv"
"$python" analysis/predict.py "$tmp/w.h5" "$tmp/semi.csv" >"$tmp/python.csv" 2>"$tmp/log" && cmp "$tmp/python.csv" "$tmp/one.csv"
result $? "columns between semicolons"
{ printf '\357\273\277' && cat "$tmp/new.csv"; } >"$tmp/mark.csv"
"$python" analysis/predict.py "$tmp/w.h5" "$tmp/mark.csv" >"$tmp/python.csv" 2>"$tmp/log" && cmp "$tmp/python.csv" "$tmp/one.csv"
result $? "a byte-order mark is no part of a name"
{ echo '"sep=;"' && cat "$tmp/semi.csv"; } >"$tmp/mark.csv"
"$python" analysis/predict.py "$tmp/w.h5" "$tmp/mark.csv" >"$tmp/python.csv" 2>"$tmp/log" && cmp "$tmp/python.csv" "$tmp/one.csv"
result $? "nor is Excel's line on the separator a row"
iconv -f UTF-8 -t UTF-16 "$tmp/new.csv" >"$tmp/mark.csv"
! "$python" analysis/predict.py "$tmp/w.h5" "$tmp/mark.csv" >"$tmp/python.csv" 2>"$tmp/log" && grep -q "mark.csv is text in UTF-16 .*; convert it by iconv" "$tmp/log"
result $? "text in UTF-16 is told as such"
sed '1s/,/, /g' "$tmp/new.csv" >"$tmp/wide.csv"
"$python" analysis/predict.py "$tmp/w.h5" "$tmp/wide.csv" >"$tmp/python.csv" 2>"$tmp/log" && cmp "$tmp/python.csv" "$tmp/one.csv"
result $? "blanks around names"
sed 's/,,/,NA,/g; s/,$/,NA/; s/,/  /g' "$tmp/new.csv" >"$tmp/blank.csv"
"$python" analysis/predict.py "$tmp/w.h5" "$tmp/blank.csv" >"$tmp/python.csv" 2>"$tmp/log" && cmp "$tmp/python.csv" "$tmp/one.csv"
result $? "columns between blanks"
while IFS='|' read -r edit pattern statement; do
    sed "$edit" "$tmp/new.csv" >"$tmp/bad.csv"
    "$python" analysis/predict.py "$tmp/w.h5" "$tmp/bad.csv" >"$tmp/out" 2>"$tmp/log"
    [ $? = 1 ] && [ "$(wc -l <"$tmp/log")" = 1 ] && grep -q "bad.csv$pattern" "$tmp/log"
    result $? "$statement is told in one line"
done <<'EOF'
1s/size/length/| has no column 'size' in its first line|a column that is not there
1!d| has no rows|a table without rows
3s/,/,,/|: row 2 has 5 columns where 4 are expected|a row of more columns
3s/,[^,]*$//|: row 2 has 3 columns where 4 are expected|a row of fewer
1s/$/,size/; 1!s/$/,7/|: several columns are named 'size'|a column that is there twice
3s/[0-9.]*,\([0-9.]*\)$/inf,\1/|: row 2, column 'size' is 'inf' where a number is expected|a number that is not finite
3s/[0-9.]*,\([0-9.]*\)$/1e39,\1/|: row 2, column 'size' is '1e39' where a number is expected|a number that is no float
3s/[0-9.]*,\([0-9.]*\)$/1_0,\1/|: row 2, column 'size' is '1_0' where a number is expected|a number as Python writes it
3s/[0-9.]*,\([0-9.]*\)$/big,\1/|: row 2, column 'size' is 'big' where a number is expected|a text among numbers
EOF

# spelt: the same table with commas in numbers, points in thousands, bars in a name and a comment
spelt()
{
    awk -F, -v OFS=';' 'function german(x) { sub("[.]", ",", x); return x }
        NR == 1 { sub("age", "|age|in|days|"); gsub(",", ";"); print "% from Ulm\n" $0; next }
        { $(NF - 4 + n) = $(NF - 4 + n) + 0 > 0 ? "1." sprintf("%03d", $(NF - 4 + n)) ",5" : "keine"; for (i = NF - 2 + n; i < NF + n; i++) $i = german($i); print }' n="$1"
}
spelt 0 <"$tmp/three.csv" >"$tmp/spelt.csv"
spelt 1 <"$tmp/new.csv" >"$tmp/newspelt.csv"
call pack dense "$tmp/spelt.csv" drop=id label=y separator=semicolon decimal=comma thousands=point comment=% gaps=keine -o "$tmp/spelt.h5" &&
    grep -q 'days| *number *53 *28 *1002[.]5 ' "$tmp/out" && tune spelt rff.features=120 rff.preprocess=standard && same "$tmp/newspelt.csv"
result $? "numbers, gaps, comments and columns are read as those that were learnt from"
sed '3i\  % and a note' "$tmp/newspelt.csv" >"$tmp/noted.csv"
check "a comment may begin with blanks" same "$tmp/noted.csv"
for cell in 0.250 1.5 1.234.5 1,234,5; do
    awk -F ';' -v OFS=';' -v cell="$cell" 'NR == 3 { $(NF - 1) = cell } { print }' "$tmp/newspelt.csv" >"$tmp/bad.csv"
    ! "$python" analysis/predict.py "$tmp/w.h5" "$tmp/bad.csv" >"$tmp/out" 2>"$tmp/log" && grep -q "is '$cell' where a number is expected, with a decimal comma" "$tmp/log"
    result $? "not with a decimal comma: $cell"
    ! call predict "$tmp/r.h5" "$tmp/bad.csv" && grep -q "is '$cell' where a finite number is expected" "$tmp/log"
    result $? "nor by weft predict: $cell"
done
tail -n +2 "$tmp/three.csv" | cut -d, -f2- | awk -F, -v OFS=, '{ print $5, $2, $1, $3 }' >"$tmp/bare.csv"
call pack dense "$tmp/bare.csv" label=first header=no gaps=-77 -o "$tmp/bare.h5" &&
    tune bare rff.features=120 rff.preprocess=standard && same "$tmp/bare.csv" && cp "$tmp/python.csv" "$tmp/want.csv"
result $? "so are rows below no names"
cut -d, -f2- "$tmp/bare.csv" >"$tmp/less.csv" && same "$tmp/less.csv" && cmp "$tmp/python.csv" "$tmp/want.csv"
result $? "they need no labels"

awk 'BEGIN { for (i = 0; i < 90; i++) printf "%d,%02d;%d,%d;%d,5;%d,%03d\n", i % 13, i % 97, i % 7, i % 10, i % 5, i % 11, i * 7 }' >"$tmp/commas.csv"
call pack dense "$tmp/commas.csv" label=first decimal=comma -o "$tmp/commas.h5" && tune commas rff.features=60 &&
    cut -d ';' -f2- "$tmp/commas.csv" >"$tmp/less.csv" && same "$tmp/less.csv"
result $? "so are numbers with decimal commas, whose separator is found"
# Every word for a gap, in a column of numbers and as a level; a wide column.
"$python" - "$tmp/words.csv" "$tmp/word.csv" <<'EOF'
import sys
words = ["", "?", "NA", "n/a", "#N/A", "NaN", "null", "None", "-", ".", "-nan", "nil", "NaT", "\\N", "missing", "Unknown", "unk", "n.a.", "n.a",
         "n/d", "ND", "n.d.", "no data", "nodata", "not available", "not known", "unbekannt", "not applicable", "k.A.", "<NA>", "(null)",
         "undefined", "--", "---", "..", "...", "*", "**", ":", "??", "#VALUE!", "#DIV/0!", "#REF!", "#NUM!", "#NAME?", "#WERT!", "#NV", ".a", ".Z", "._", 5]
with open(sys.argv[1], "w") as learn, open(sys.argv[2], "w") as new:
    print("a,k,wide,y", file=learn)
    print("a,k,wide", file=new)
    for i in range(120):
        print("" if i % 7 == 3 else i * 37 % 60, ("unknown", "red", "", "missing")[i % 4], i * 10, int(i * 37 % 60 > 30), sep=",", file=learn)
    for i, word in enumerate(words):
        print(word, word, i * 10, sep=",", file=new)
EOF
call pack dense "$tmp/words.csv" label=y -o "$tmp/words.h5" && tune words rff.features=64 rff.gamma=1e-6 rff.preprocess=none && same "$tmp/word.csv"
result $? "the same words stand for gaps among numbers, and among levels"
sed 's/$/,/' "$tmp/word.csv" >"$tmp/ends.csv" && cp "$tmp/python.csv" "$tmp/want.csv" && same "$tmp/ends.csv" && cmp "$tmp/python.csv" "$tmp/want.csv"
result $? "lines may end in a separator"
call pack dense "$tmp/words.csv" label=y alike=one -o "$tmp/words.h5" --force && tune words rff.features=64 && call export "$tmp/r.h5" -o "$tmp/w.h5" --force &&
    ! "$python" analysis/predict.py "$tmp/w.h5" "$tmp/word.csv" >"$tmp/out" 2>"$tmp/log" && grep -q "word.csv: column 'k' has '.*', which may be a level in another spelling (alike = one)" "$tmp/log"
result $? "a level that may be another's spelling is refused where such are one"

awk 'BEGIN { print "share,y"; for (i = 0; i < 90; i++) print i * 37 % 101 "%," int(i * 37 % 101 > 50) }' >"$tmp/signs.csv"
awk 'BEGIN { print "share"; print "50%"; print 0.5; print "none"; print 0.75 }' >"$tmp/sign.csv"
"$weft" pack dense "$tmp/signs.csv" label=y -o "$tmp/signs.h5" >"$tmp/out" 2>"$tmp/log" && tune signs rff.features=60 &&
    "$weft" predict "$tmp/r.h5" "$tmp/sign.csv" >"$tmp/out" 2>"$tmp/told" && same "$tmp/sign.csv" &&
    grep -q "'share' has 2 numbers without the % that it has in training; they count as hundredths" "$tmp/told" &&
    "$python" analysis/predict.py "$tmp/w.h5" "$tmp/sign.csv" 2>&1 >"$tmp/out" | grep -q "'share' has 2 numbers without the %"
result $? "numbers that lack the percent sign of the training are warned of"

awk -F, -v OFS=, '{ print $2, $4, $5, $6 }' "$tmp/three.csv" | sed 1s/far/size/ >"$tmp/twice.csv"
call pack dense "$tmp/twice.csv" label=y gaps=-77 -o "$tmp/twice.h5" &&
    tune twice rff.features=120 rff.preprocess=standard && same "$tmp/twice.csv"
result $? "two columns of a name are told apart by their order"

# pixels N: images of two channels
pixels()
{
    awk -v n="$1" 'BEGIN {
        srand(n)
        for (j = 0; j < 200; j++) printf "p%d,", j
        print "y"
        for (i = 0; i < n; i++) {
            for (j = 0; j < 200; j++) printf "%.3f,", rand() + (j % 10 < 5) * (i % 2)
            print i % 2 ? "left" : "none"
        }
    }'
}
pixels 80 >"$tmp/pixels.csv"
pixels 9 >"$tmp/more.csv"
call pack dense "$tmp/pixels.csv" label=y shape=2x10x10 -o "$tmp/pixels.h5"
for arch in leaf femnist cifar; do
    tune pixels run.task=sgd sgd.model=cnn cnn.arch=$arch random.resource=1 && same "$tmp/more.csv"
    result $? "a convolutional network: $arch"
done

# texts N FIRST: lines of a class and a text, with long words and other alphabets
texts()
{
    awk -v n="$1" -v first="$2" 'BEGIN { for (i = first; i < first + n; i++) {
        long = ""
        for (j = 0; j < i * 7 % 60; j++) long = long "abcd"
        printf "%s\t%s Film, Film number%d, by N%d... (it%ss) \303\204rger %s\n", i % 2 ? "good" : "bad", i % 3 ? (i % 2 ? "nice" : "poor") : "long", i % 7, i % 5, "\047", long
    } }'
}
texts 200 0 >"$tmp/learn.tsv"
# Also with a byte-order mark, and what ends a line elsewhere.
(printf '\357\273\277' && texts 50 300 | cut -f 2 && printf 'nice\342\200\250Film poor\n\n\nnumber1\fFilm\n\nnice\rpoor\r\nFilm') >"$tmp/say.txt"
awk -F '\t' -v OFS='\t' '{ $1 = $1 NR % 3; print }' "$tmp/learn.tsv" >"$tmp/six.tsv"
for name in learn six; do
    call pack text "$tmp/$name.tsv" -o "$tmp/$name.h5"
done
while read -r data options; do
    # shellcheck disable=SC2086
    tune $data fmap.feature=ngram ngram.bins=2048 $options && same "$tmp/say.txt"
    result $? "$data: $options"
done <<'EOF'
learn fmap.model=logistic
learn fmap.model=svm ngram.tokenizer=remove ngram.lower=false ngram.order=3 ngram.hash=shared run.seed=3
six fmap.model=logistic ngram.tokenizer=kim ngram.weights=sif ngram.alpha=0.01 ngram.normalize=l2 ngram.binary=no
six fmap.model=ridge ngram.weights=tfidf ngram.normalize=average ngram.grams=2-3
six fmap.model=ridge ngram.normalize=average ngram.binary=no
six fmap.model=logistic ngram.columns=vocabulary ngram.min_count=2
six fmap.model=logistic fmap.folds=2
EOF
awk -F '\t' 'BEGIN { print "id,review,grade,place" } { printf "%d,\"%s, or so\",%s,%s\n", NR, $2, $1, NR % 3 ? "Ulm" : "" }' "$tmp/learn.tsv" >"$tmp/columns.csv"
call pack text "$tmp/columns.csv" separator=comma label=grade text=review,place -o "$tmp/columns.h5" &&
    tune columns fmap.feature=ngram ngram.bins=2048 fmap.model=logistic &&
    awk -F '\t' 'BEGIN { print "place,review" } { printf "Ulm,\"%s, too\"\n", $2 }' "$tmp/learn.tsv" >"$tmp/new.csv" &&
    same "$tmp/new.csv"
result $? "texts in columns, as those were that were learnt from"
call pack text "$tmp/columns.csv" separator=comma label=grade text=review -o "$tmp/columns.h5" --force &&
    tune columns fmap.feature=ngram ngram.bins=2048 fmap.model=logistic && printf 'review\nnice\n\n"poor, so"\n"in two\n\nparts"\n\n' >"$tmp/new.csv" &&
    same "$tmp/new.csv"
result $? "texts of one column with blank lines"
check "each of which is a text" [ "$(wc -l <"$tmp/weft.csv")" = 6 ]
awk -F '\t' 'BEGIN { print "grade\treview" } { printf "%s\t\"the %s\n", $1, $2 }' "$tmp/learn.tsv" >"$tmp/tabs.tsv"
call pack text "$tmp/tabs.tsv" label=grade text=review -o "$tmp/tabs.h5" && tune tabs fmap.feature=ngram ngram.bins=2048 fmap.model=logistic &&
    same "$tmp/tabs.tsv"
result $? "quotation marks between tabs are signs of the text"
tune learn fmap.feature=ngram ngram.bins=512 ngram.stop=yes && call export "$tmp/r.h5" -o "$tmp/w.h5" --force
"$python" analysis/predict.py "$tmp/w.h5" "$tmp/say.txt" >"$tmp/out" 2>"$tmp/log"
[ $? = 1 ] && grep -qx 'ngram.stop = true is not done here; `weft predict` does it' "$tmp/log"
result $? "what is not done there is told"
echo "1..$count"
