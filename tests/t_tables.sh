#!/bin/bash
# Tables of other people: what stands in the first line, which column is the label, classes as they
# are written, spellings of numbers, and cells that are none. Prints TAP.
. tests/tap.sh
find_python h5py

# rows HEAD FORMAT [COUNT]: a table of a first line, none for "", and rows by awk's format of a
# number and its class, yes or no; K stands for another number
rows()
{
    [ -z "$1" ] || printf '%s\n' "$1"
    awk -v format="$2" -v n="${3:-40}" 'BEGIN {
        for (i = 0; i < n; i++) {
            line = format
            gsub("K", i % 7 + 1, line)
            printf line "\n", i + 0.5, i % 2 ? "yes" : "no"
        }
    }'
}
packs() # FILE [key=value ...]
{
    rm -f "$tmp/t.h5"
    call pack dense "$tmp/$1" -o "$tmp/t.h5" "${@:2}"
}
reads() # STATEMENT FILE TEXT [key=value ...]: packed, and weft info has the text
{
    statement=$1 text=$3
    set -- "$2" "${@:4}"
    packs "$@" && "$weft" info "$tmp/t.h5" 2>&1 | tr -s ' \n' ' ' >"$tmp/out" && grep -Eq -e "$text" "$tmp/out"
    result $? "$statement"
}
told() # STATEMENT PATTERN: by the last pack
{
    check "$1" grep -Eq -e "$2" "$tmp/log"
}
refused() # STATEMENT FILE PATTERN [key=value ...]: by one line
{
    refuses 4 "$3" "$1" packs "$2" "${@:4}"
}

# ---- the first line -----------------------------------------------------------------------

rows a,b,y '%g,K,%s' >"$tmp/t.csv"
reads "a table with names" t.csv "40 rows .* no 16"
told "its label and its names are told" "t.csv: column 3, 'y', is the label; line 1 has the names"
rows "" '%g,K,%s' >"$tmp/t.csv"
reads "one without" t.csv "40 rows"
told "whose first line is told to be a row" "column 3 is the label; line 1 is the first row"
awk 'BEGIN { print "0,1,2,3,4"; for (i = 0; i < 40; i++) print i + 0.5 ",1,2," i % 3 "," i % 2 }' >"$tmp/t.csv"
reads "names that pandas numbers are no row, and a name wins over a number" t.csv "40 rows .* test 0 16 .* 1 16 " label=4
told "which is told" "column 5, '4', is the label"
told "as the names are" "line 1 has numbers that are names of columns: it is no row .*header = no makes it one"
awk 'BEGIN { print ",0,1,2,3"; for (i = 0; i < 40; i++) print i "," i % 7 / 4 "," i % 5 "," i % 3 "," i % 2 }' >"$tmp/i.csv"
reads "behind a first column without a name, too" i.csv "40 rows .* column 1 dropped .* 3 label 2 0" label=3
awk 'BEGIN { for (i = 0; i < 40; i++) print i % 7 "," (i + 1) % 2 }' >"$tmp/i.csv"
reads "two numbers are too few to count up" i.csv "40 rows"
awk 'BEGIN { print "1,2,3,4"; for (i = 0; i < 40; i++) print i % 7 / 4 "," i % 5 "," i % 3 "," i % 2 }' >"$tmp/i.csv"
reads "and names that count from 1" i.csv "40 rows .* 4 label 2 0" label=4
awk 'BEGIN { print "0,1,2,y"; for (i = 0; i < 40; i++) print i + 0.5 ",1," i % 3 "," 3.7 * i }' >"$tmp/i.csv"
reads "and numbers beside the label's name" i.csv "40 rows .* y target .* test files "
told "which is told, too" "line 1 has numbers that are names of columns"
awk 'BEGIN { print ",0,1,y"; for (i = 0; i < 40; i++) print i "," i % 5 + 0.5 "," i % 3 "," (i % 2 ? "K" : "L") }' >"$tmp/i.csv"
reads "few of them, where the label is asked for, behind an index" i.csv "40 rows .* column 1 dropped .* y label 2 0" label=y
awk 'BEGIN { print "1,2,K"; for (i = 0; i < 39; i++) print i % 5 "," i % 3 "," (i % 2 ? "K" : "L") }' >"$tmp/i.csv"
reads "few without that are a row" i.csv "40 rows"
awk 'BEGIN { for (i = 1; i < 40; i++) print i "," i + 1 "," i + 2 "," i % 2 }' >"$tmp/j.csv"
reads "numbers of a row that do not count up are one" j.csv "39 rows"
awk 'BEGIN { for (i = 1; i < 40; i++) print i "," i + 1 "," i + 2 }' >"$tmp/j.csv"
refused "rows that all count up are asked about" j.csv "line 1, 1,2,3, may be names of columns or a row: header = yes or header = no"
awk 'BEGIN { print "2019,2020,2021"; for (i = 0; i < 40; i++) print i % 7 / 4 "," i % 5 "," i % 2 }' >"$tmp/j.csv"
refused "so are years" j.csv "line 1, 2019,2020,2021, may be names of columns or a row"
reads "which are names if it is said" j.csv "40 rows .* 2021 label 2 0" header=yes
reads "unless it is said to be one" t.csv "41 rows" header=no label=5
reads "then a number is a place" t.csv "41 rows" header=no label=4
told "which is told, too" "column 4 is the label"
awk 'BEGIN { print "2019,2020,2021"; for (i = 0; i < 40; i++) print i + 0.5 ",1," i % 2 }' >"$tmp/t.csv"
reads "a number that only a name can be makes the first line names" t.csv "40 rows" label=2021
rows 2019,2020,grade '%g,K,%s' >"$tmp/t.csv"
refused "a class of the first line alone is asked about" t.csv "only the first line has the class 'grade'.*header = yes"
reads "and read as a name if it is one" t.csv "40 rows" header=yes
rows y,b,y '%g,K,%s' >"$tmp/t.csv"
refused "a label's name that another column has is refused, by place" t.csv "columns 1 and 3 are both named 'y'"
refused "and by name" t.csv "columns 1 and 3 are both named 'y'" label=y
rows ,a,y '%g,K,%s' >"$tmp/t.csv"
reads "a column without name is read" t.csv "column 1 number 40 0 "
rows ,a,y '%g,K,%s' | sed 's/\.5,/,/' >"$tmp/t.csv"
reads "unless it numbers the rows" t.csv "sample 1 numbers"
told "which is told" "the first column numbers the rows, so left out: 'column 1'; numbers = NAME keeps it"
reads "and overruled" t.csv "sample 2 numbers" numbers=1
{ head -1 "$tmp/t.csv" && sed 1d "$tmp/t.csv" | sort -R --random-source=/bin/ls; } >"$tmp/u.csv"
reads "in any order" u.csv "sample 1 numbers"
{ cat "$tmp/u.csv" && sed 1d "$tmp/t.csv"; } >"$tmp/v.csv"
reads "of rows that come twice, too" v.csv "80 rows .* sample 1 numbers"
sed '1s/^,/Index,/' "$tmp/u.csv" >"$tmp/v.csv"
reads "and under the name of an index" v.csv "sample 1 numbers"
sed '2,$s/^\(.*\),/\1,/; 2,$s/^[0-9]*/3/' "$tmp/u.csv" >"$tmp/v.csv"
reads "a few numbers without a name are read" v.csv "column 1 "
rows X,a,y '%g,K,%s' | sed 's/\.5,/,/' >"$tmp/t.csv"
reads "one that programs name counts from 0 or 1" t.csv "sample 1 numbers"
{ head -1 "$tmp/t.csv" && sed 1d "$tmp/t.csv" | tac; } >"$tmp/u.csv"
reads "and is read if it does not" u.csv "sample 2 numbers"
rows dose,a,y '%g,K,%s' | sed 's/\.5,/,/' >"$tmp/t.csv"
reads "one of another name is read" t.csv "sample 2 numbers"
rows "a,b,y," '%g,K,%s,' >"$tmp/t.csv"
reads "a separator that ends the lines begins no column" t.csv "40 rows .* sample 2 numbers"
rows "sep=;
a;b;y" '%g;K;%s' >"$tmp/t.csv"
reads "Excel's line on the separator is followed" t.csv "40 rows .* sample 2 numbers"
rows '"sep=|"
a|b|y' '%g|K|%s' >"$tmp/t.csv"
reads "in quotation marks, too" t.csv "40 rows .* sample 2 numbers"
rows "a|b|y" '%g|K|%s' >"$tmp/t.csv"
reads "bars separate columns" t.csv "40 rows .* sample 2 numbers"
rows "a b  y" ' %g  K	%s ' >"$tmp/t.csv"
reads "so do blanks" t.csv "40 rows .* sample 2 numbers"
rows "# made by x
a,b,y" '%g,K,%s' >"$tmp/t.csv"
refused "a comment is told" t.csv "line 1 begins with '#'; comment = # skips"
reads "and skipped if asked for" t.csv "40 rows .* sample 2 numbers" comment='#'
{ rows a,b,y '%g,K,%s' && echo '% end'; } >"$tmp/t.csv"
reads "wherever it stands" t.csv "40 rows" comment=%

# ---- classes ------------------------------------------------------------------------------

awk 'BEGIN { split("01 1 1E2 100 0 0.0", c, " "); print "a,code"; for (i = 0; i < 120; i++) print i ".5," c[i % 6 + 1] }' >"$tmp/t.csv"
reads "classes are as they are written" t.csv " 0 1[0-9] .* 0.0 1[0-9] .* 01 1[0-9] .* 1 1[0-9] .* 100 1[0-9] .* 1E2 1[0-9] "
{ rows a,y '%g,%s' && printf '1,NA\n2,\n3,?\n'; } >"$tmp/t.csv"
reads "rows without a label are left out" t.csv "40 rows .* no [0-9]+ [0-9]+ [0-9]+ yes "
told "which is told" "rows without a label .3 of 'NA' or the like. are left out; unlabelled = class"
"$weft" info "$tmp/t.h5" >"$tmp/out" && grep -q "^decided  *rows without a label (3 of 'NA'" "$tmp/out"
result $? "and kept for weft info"
refused "unless these are refused" t.csv "line 43, column 2, 'y', has no label" unlabelled=refuse
{ rows a,y '%g,%s' && printf '1,NA\n2,NA\n3,NA\n'; } >"$tmp/t.csv"
reads "or a class" t.csv " NA [123] " unlabelled=class
told "which is warned of" "the class 'NA' may be a label that is missing"
{ rows a,y '%g,%s' && printf '1,none\n2,none\n3,-\n4,-\n'; } >"$tmp/t.csv"
reads "a class may be called none" t.csv " none [12] "
awk 'BEGIN { print "a,y"; for (i = 0; i < 400; i++) print i / 4 "," (i < 2 ? "rare" : i < 9 ? "once" i : i % 2 ? "yes" : "no") }' >"$tmp/t.csv"
reads "a class of one row is in the training part" t.csv " once2 1 0 0 "
told "as rows are divided by class" "rows are divided class by class, 8 with one or two rows in the training part alone"
packs t.csv shares=chance
[ $? = 4 ] && grep -q "class 'once[0-9]' has no training rows; shares = class" "$tmp/log"
result $? "unless chance is asked for"
awk 'BEGIN { for (i = 0; i < 40; i++) print i ".5," i / 7 + 0.01 }' >"$tmp/t.csv"
reads "a label that is not whole is a number to predict" t.csv "40 rows .* 2 target 40 0 "
told "which is told" "the label's numbers are not whole: they are predicted as such .target = regression.; target = classes"
reads "unless it is said to be classes" t.csv "40 rows .* 5.58143 1 " target=classes valid_file="$tmp/t.csv" test=0
awk 'BEGIN { for (i = 0; i < 600; i++) print i * 7 % 11 "," i % 11 + 0.5 }' >"$tmp/t.csv"
reads "also if each of them has many rows" t.csv "600 rows .* 2 target 11 0 0.5 .. 10.5 a number to predict"
awk 'BEGIN { for (i = 0; i < 600; i++) print i * 7 % 11 "," i % 10 + 0.5 }' >"$tmp/t.csv"
reads "ten are classes" t.csv "600 rows .* 9.5 [0-9]+"
awk 'BEGIN { for (i = 0; i < 900; i++) print i * 7 % 11 "," i % 90 }' >"$tmp/t.csv"
reads "so are whole numbers that come again" t.csv "900 rows .* 89 [0-9]+"
told "which is told" "the labels of 900 rows are 90 different numbers: they are classes; target = regression"
awk 'BEGIN { for (i = 0; i < 900; i++) print i * 7 % 11 "," i % 91 }' >"$tmp/t.csv"
reads "more than a tenth as many as rows are predicted" t.csv "2 target 91 0 0 .. 90 a number to predict"
told "which is told, too" "the labels of 900 rows are 91 different whole numbers: they are predicted as such"
awk 'BEGIN { for (i = 0; i < 40; i++) print i % 7 "," i % 20 }' >"$tmp/t.csv"
reads "but twenty are classes" t.csv " 19 [0-9]+ "
awk 'BEGIN { for (i = 0; i < 120; i++) printf "%d,%03d\n", i % 7, i % 40 }' >"$tmp/t.csv"
reads "so are codes with leading zeros, however many" t.csv " 000 [0-9]+ .* 039 [0-9]+ "
{ awk 'BEGIN { for (i = 0; i < 900; i++) print i * 7 % 11 "," i }' && printf '3,missing\n4,-\n'; } >"$tmp/t.csv"
reads "texts that mean a gap among these are rows without a label" t.csv "900 rows .* 2 target 900 0 "
awk 'BEGIN { for (i = 0; i < 60; i++) print i % 7 ",name" i }' >"$tmp/t.csv"
refused "texts that all differ are no classes" t.csv "labels of 60 rows are 60 different texts, such as 'name0'.*label = NAME"
awk 'BEGIN { for (i = 0; i < 40; i++) print (i % 2 ? "0,1" : 1) " 1:" i }' >"$tmp/t.svm"
refused "several labels are told" t.svm "line 2 has the labels '0,1': multi-label data"
sed -i 1d "$tmp/t.svm"
packs t.svm client=1
[ $? = 2 ] && grep -q "^weft: client = 1 has no effect: .*t.svm is a libsvm file, without columns; leave it out" "$tmp/log"
result $? "and columns that it has not"
refused "in the first line, too" t.svm "line 1 has the labels '0,1': multi-label data"
printf 'a,y\n1,b\000c\n2,c\n' >"$tmp/t.csv"
refused "a NUL in a label is refused" t.csv "line 2 has a NUL byte"

# ---- numbers ------------------------------------------------------------------------------

rows 'a;b;y' '%.3f;K,25;%s' | tr . , >"$tmp/t.csv"
refused "a decimal comma is told" t.csv "line 2, column 1, 'a', is '0,500' .*decimal = comma reads it"
reads "and read" t.csv "sample 2 numbers" decimal=comma
rows '' '%.3f;K,25;%s' | tr . , | sed 's/no$/0/; s/yes$/1/' >"$tmp/t.csv"
reads "also in a first line without names" t.csv "40 rows" decimal=comma
rows a,y '"1,23%g.5",%s' 9 >"$tmp/t.csv"
sed -i 's/\.5\.5/.5/' "$tmp/t.csv"
refused "thousands are told" t.csv "line 2, column 1, 'a', is '1,230.5' .*; thousands = comma reads it"
reads "and read" t.csv "9 rows" thousands=comma
rows a,y '"1,2%g",%s' 9 >"$tmp/t.csv"
refused "but not groups of other lengths" t.csv "line 2, column 1, 'a', is '1,20.5'" thousands=comma
rows 'a;y' '1.234,%g;%s' 9 | tr -d '\n' | sed 's/no/no\n/g; s/yes/yes\n/g; s/;y1/;y\n1/; s/\.5;/5;/g' >"$tmp/t.csv"
reads "points between thousands before a decimal comma" t.csv "9 rows" decimal=comma thousands=point
rows a,y '%gd0,%s' >"$tmp/t.csv"
reads "Fortran's exponents are read" t.csv "40 rows"
awk 'BEGIN { print "id,y"; for (i = 0; i < 40; i++) print "12345678901234567" i + 10 "," i % 2 }' >"$tmp/t.csv"
refused "whole numbers that doubles do not hold are refused by name" t.csv "line 2, column 1, 'id', is '1234567890123456710' .*is it an identifier"
for cell in '' '?' NA nan -nan null 'N/A'; do
    { rows a,b,y '%g,K,%s' && echo "1,$cell,no"; } >"$tmp/t.csv"
    refused "a value that is missing is told by name: '$cell'" t.csv "line 42, column 2, 'b', is '.*missing = median fills" \
        missing=refuse
done
for cell in 2024-01-31 31.1.2024 "2024-01-31 12:30"; do
    { rows a,b,y '%g,K,%s' && echo "1,$cell,no"; } >"$tmp/t.csv"
    refused "a date among numbers is told: $cell" t.csv "line 42, column 2, 'b', is '$cell'"
done
{ rows a,b,y '%g,K,%s' && echo "1,red,no"; } >"$tmp/t.csv"
reads "few numbers and a text are levels" t.csv "b category 8 0 1, 2, 3, 4, 5, 6, 7, red"
told "which is told" "numbers and a few texts are levels in 'b'; gaps = TEXT"
reads "unless they are to be numbers" t.csv "b number 7 1 " gaps=red
{ rows a,b,y '%g,K,%s' && printf '1,missing,no\n2,--,no\n'; } >"$tmp/t.csv"
reads "texts that usually mean a gap are gaps" t.csv "b number 7 2 "
told "which is told, too" "texts among numbers stand for missing values: 'missing' in 2 rows of 'b'; categories"
awk 'BEGIN { print "id,a,y"; for (i = 0; i < 160; i++) print 100 + int(i / 4) (i < 8 ? substr("ab", i / 4 + 1, 1) : "") "," i % 9 / 2 "," i % 2 }' >"$tmp/t.csv"
reads "numbers that have letters where they tell many apart are left out" t.csv "sample 1 numbers .* id dropped 40 "
told "which is told" "numbers, and some with letters, tell many apart, so left out: 'id'; categories = NAME makes levels"
check "letters of theirs are no units" [ "$(grep -c warning "$tmp/log")" = 0 ]
reads "and overruled" t.csv "id category 40 .* 40 levels" categories=id
sed '2s/^100a/1x0/' "$tmp/t.csv" >"$tmp/u.csv"
refused "letters among the digits may be a mistake" u.csv "line 2, column 1, 'id', is '1x0'.*categories = id makes a level.*drop = id"
sed '30s/^[0-9]*/1.5/' "$tmp/t.csv" >"$tmp/u.csv"
refused "nor are fractions such names" u.csv "line 2, column 1, 'id', is '100a'"
{ rows a,b,y '%g,K,%s' && echo "1,100a,no"; } >"$tmp/letter.csv"
reads "nor is a letter behind one number" letter.csv "b category 8 0 1, 2, 3, 4, 5, 6, 7, 100a "
awk 'BEGIN { print "a,y"; for (i = 0; i < 60; i++) print (i % 9 ? i + i % 7 / 9 : i "a") "," i % 2 }' >"$tmp/letter.csv"
refused "or behind a few of many, which are told" letter.csv "'a', is '0a' where a finite number is expected; categories = a"
awk 'BEGIN { print "id,a,y"; for (i = 0; i < 160; i++) print "c16" i % 8 "," i % 9 / 2 "," i % 2 }' | sed '1!s/^c\(16[2-7]\)/\1/' >"$tmp/u.csv"
reads "where they are few they are levels" u.csv "id category 8 0 162, 163"
{ rows a,b,y '%g,1,%s' | awk -F, -v OFS=, 'NR > 1 { $2 = NR } { print }' && echo "1,red,no"; } >"$tmp/t.csv"
refused "a text among many numbers is told" t.csv "line [0-9]+, column 2, 'b', is 'red'.*categories = b makes a level.*drop = b"
{ rows a,b,y '%g,K,%s' && echo "1,no"; } >"$tmp/t.csv"
refused "a short line is told" t.csv "line 42 has 2 columns where 3 are expected"
awk 'BEGIN { split("01234 10001 00060 90210", c, " "); print "zip,mixed,n,y"
    for (i = 0; i < 40; i++) print c[i % 4 + 1] "," (i % 3 ? "0" i % 5 : 100 + i % 5) "," i % 9 "," i % 2 }' >"$tmp/t.csv"
reads "numbers with leading zeros of the same length are levels" t.csv "zip category 4 0 00060, 01234, 10001, 90210"
told "which is told" "numbers with leading zeros, all of the same length, are codes and so levels in 'zip'; numbers = NAME"
told "those of other lengths, too" "column 'mixed' has numbers with leading zeros, such as '01', of different lengths, and stays"
reads "unless they are said to be numbers" t.csv "zip number 4 0 60 .. 90210" numbers=zip

# ---- what columns are ---------------------------------------------------------------------

# table: 60 rows of age (missing in each tenth), colour, site, a number and the class
table()
{
    awk 'BEGIN {
        split("red,green,blue,", colour, ",")
        print "nr1,age,colour,site,score,sick"
        for (i = 0; i < 60; i++)
            print i + 1 "," (i % 10 == 3 ? "" : 20 + i % 7) "," colour[i % 4 + 1] ",S" i % 5 "," i * 37 % 60 / 8 "," (i % 3 ? "yes" : "no")
    }'
}
column() # NAME: its line in weft info
{
    "$weft" info "$tmp/t.h5" | tr -s ' ' | grep "^$1 "
}
says() # STATEMENT NAME PATTERN
{
    column "$2" >"$tmp/out" && grep -Eq -e "$3" "$tmp/out"
    result $? "$1"
}
table >"$tmp/t.csv"
reads "texts and gaps are read" t.csv "60 rows .* sample 13 numbers"
says "a gap is filled, and marked" age "number 7 6 20 .. 26 itself, [0-9.]* where missing, and a mark"
"$python" - "$tmp/t.h5" "$tmp/t.csv" <<'END' >"$tmp/out" 2>&1
import csv, statistics, sys, h5py
with h5py.File(sys.argv[1]) as f:
    names = [n.decode() for n in f["column"][:]]
    part = {p: f[p + "/x"][:] for p in ("train", "valid", "test")}
rows = {float(r["nr1"]): r for r in csv.DictReader(open(sys.argv[2]))}
train = [rows[x[0]] for x in part["train"]]
median = statistics.median(float(r["age"]) for r in train if r["age"])
for x in (x for p in part.values() for x in p):
    row = rows[x[0]]
    for name, number in zip(names, x):
        column, _, level = name.replace(" is missing", "=").partition("=")
        if "=" in name:
            want = row[column] == level
        elif name.endswith(" is missing"):
            want = row[column] == ""
        else:
            want = float(row[column] or median)
        assert number == want, (name, row, number, want)
assert len(names) == 13 and {r["colour"] for r in train} >= {"red", "green", "blue"}
END
result $? "every feature of every row is that of the file, gaps are the median of the training rows"
says "texts are levels, and gaps among them are marked" colour "category 3 15 blue, green, red 3 levels and a mark"
says "levels are in order" site "category 5 0 S0, S1, S2, S3, S4 5 levels"
says "the label is no feature" sick "label 2 0"
told "a column that numbers the rows is warned of" "column 'nr1' rises from row to row.*drop = nr1"
# Quotation marks around fields, some of which have blanks, commas, marks or an end of line; with a
# mark of thousands a parser of CSV reads each line.
awk -F, -v OFS=, '{ site = NR % 9 ? $4 : NR % 2 ? "S,1" : "S\"\"1"
    print $1, NR % 5 ? $2 : "\"" $2 "\"", "\"" (NR % 7 ? "" : " ") $3 (NR == 20 ? "\n" : "") "\"", "\"" site "\"", $5, NR % 4 ? $6 : "\"" $6 "\"" }' "$tmp/t.csv" |
    sed '1s/"//g' >"$tmp/quoted.csv"
shown() { packs quoted.csv "$@" && "$weft" info "$tmp/t.h5" | grep -E '^(digest|[a-z1]+ +(number|category|label)) '; }
shown >"$tmp/mine" && shown thousands=blank >"$tmp/want" && cmp "$tmp/mine" "$tmp/want" && grep -q '^site .*S"1, S,1' "$tmp/mine" && [ "$(wc -l <"$tmp/mine")" = 7 ]
result $? "quotation marks are read as by a parser of CSV"
sed '5s/.*/4,20,"red,S1",1,no/' "$tmp/t.csv" >"$tmp/ragged.csv"
refused "a separator in quotation marks divides no columns" ragged.csv "line 5 has 5 columns where 6 are expected"
reads "and left out if asked for" t.csv "sample 12 numbers" drop=nr1
reads "several are, by number too" t.csv "sample 7 numbers" drop=1,site
refused_option() # STATEMENT PATTERN [key=value ...]
{
    refuses 2 "$2" "$1" packs t.csv "${@:3}"
}
refused_option "a column that is not there is told" "drop = NR1,age: .*t.csv has no column 'NR1'; it has 6 with names, of which 'nr1' is the nearest" drop=NR1,age
refused_option "a label that is not there, too" "label = sich, where .*t.csv has 6 columns; .* a name in the first line, of which 'sick' is the nearest" \
    label=sich
sed '1s/age/site/' "$tmp/t.csv" >"$tmp/t2.csv" && mv "$tmp/t.csv" "$tmp/t1.csv" && mv "$tmp/t2.csv" "$tmp/t.csv"
refused_option "one of two of a name is told" "drop = site: .*t.csv has columns 2 and [0-9] of the name 'site'; give their numbers" drop=site
mv "$tmp/t1.csv" "$tmp/t.csv"
refused_option "a column of two uses is told" "group = sick: column 'sick' is label already" group=sick
refused_option "one column of clients is named, not several" "client = site,nr1 names several columns where one is expected" client=site,nr1
refused_option "so of groups" "group = site,nr1 names several columns" group=site,nr1
refused_option "what a division over clients does not read is told" "alpha = 0.3 has no effect without partition = dirichlet, quantity or pachinko; give" clients=5 alpha=0.3
refused_option "shards, too" "shards = 3 has no effect without partition = shards" clients=5 shards=3
refused_option "and sizes" "deviation = 2 has no effect without sizes = lognormal or power" clients=5 deviation=2
refused_option "groups of clients are told" "group and client are both given" group=site client=nr1
refused_option "groups by class are told" "group and shares are both given; groups are dealt by chance" group=site shares=class
awk 'BEGIN { print "q,income,sex,age,y"
    for (i = 0; i < 60; i++) print (i % 10 == 3 ? "-9.0" : i % 5 + 1) "," (i % 12 == 5 ? 99999 : 800 + i * 37 % 90) "," (i % 4 ? "f" : i % 8 ? "m" : "keine") "," \
        (i % 7 ? i : -9) "," i % 2 }' >"$tmp/codes.csv"
reads "numbers that may stand for missing values" codes.csv "q number 6 0 -9 .. 5 itself"
told "are warned of" "codes.csv: column 'q' has -9 6 times and else 1 .. 5; if that stands for a missing value, gaps = -9 says so; 2 more columns have such a number"
reads "and are gaps if it is said" codes.csv "q number 5 6 1 .. 5 itself, 3 where missing, and a mark income number [0-9]* 5 .* sex category 2 8 f, m" \
    gaps=-9,Keine,99999
! grep -q 'gaps =' "$tmp/log"
result $? "which is not warned of"
awk 'BEGIN { print "a,y"; for (i = 0; i < 60; i++) print i * 7 % 13 "," (i % 9 ? i % 2 : -999) }' >"$tmp/classes.csv"
packs classes.csv
told "so is a class of such a number" "the class '-999' may be a label that is missing; if so, remove its rows"
awk 'BEGIN { print "when,y"; for (i = 0; i < 60; i++) printf "2024-03-%02d %02d:30:00+0%d:00,%d\n", 1 + i % 28, i % 24, 1 + (i > 30), i % 2 }' >"$tmp/zones.csv"
reads "dates whose zones change, as by summer time" zones.csv "when date 60 .* seconds, weekday, hour"
told "of which the clock is told" "column 'when' has dates of several zones, .01:00 and .02:00: seconds are exact, hours, .* by the clock of .01:00"
awk 'BEGIN { print "near,pairs,many,y"
    for (i = 0; i < 2400; i++) print (i % 12 == 5 ? 9999 : 950 + i % 1000) "," int(i / 2) "," i * 7 % 1999 "," i % 2 }' >"$tmp/near.csv"
reads "a thousand different numbers are counted" near.csv "many number 1000[+] 0 0 .. 1998 itself"
! grep -q 'gaps =' "$tmp/log"
result $? "one that is less than ten times all others, and as near as these are to each other, is no gap"
awk 'BEGIN { print "z,cold,far,day,price,y"
    for (i = 0; i < 120; i++) print (i % 9 == 4 ? "-999" : i * 37 % 101 / 20 - 2.5) "," (i % 8 ? i * 17 % 71 - 30 : 999.9) "," \
        (i % 7 ? i * 5 % 61 : 2147483647) "," (i % 6 ? "2021-" 1 + i % 12 "-" 1 + i % 28 : "9999-12-31") "," \
        (i % 5 ? i * 13 % 97 + 0.5 : -99) "," i % 2 }' >"$tmp/far.csv"
reads "codes of gaps beside numbers of both signs, any number far from all others, and days of other centuries" far.csv "z number .* day date" label=y
told "are warned of, too" "far.csv: column 'z' has -999 13 times and else -2.5 .. 2.5; .* gaps = -999 says so; 4 more columns"
packs far.csv label=y drop=z,cold,far,price
told "of a date it is one" "column 'day' has 9999-12-31 20 times and else 2021-.* .. 2021-12-28; .* gaps = 9999-12-31 says so, as the file writes it"
reads "and a gap if it is said" far.csv "day date [0-9]+ 20 2021" label=y gaps=9999-12-31
packs far.csv label=price drop=z,cold,far,day
told "of a number to predict, too" "column 'price' has -99 24 times and else 0.5 .. 96.5; .* gaps = -99 says so"
"$python" - "$tmp" <<'END'
import sys, h5py, numpy
with h5py.File(sys.argv[1] + "/far.h5", "w") as file:
    file["x"] = [[-999 if i % 9 == 4 else i * 37 % 101 / 20] for i in range(60)]
    file["y"] = [i % 2 for i in range(60)]
END
packs far.h5
cp "$tmp/far.h5" "$tmp/scaled.h5"
"$python" - "$tmp" <<'END'
import sys, h5py
with h5py.File(sys.argv[1] + "/far.h5", "a") as file: file["x"].attrs["_FillValue"] = float("nan"); file["x"].attrs["scale_factor"] = [1.0]; file["y"].attrs["missing_value"] = -1
with h5py.File(sys.argv[1] + "/scaled.h5", "a") as file: file["x"].attrs["scale_factor"] = [0.01]
END
packs scaled.h5
refusal $? 4 "x of .*scaled.h5 has scale_factor = 0.01, so that its numbers mean others; write them as" "numbers that an attribute changes are refused"
"$python" - "$tmp" <<'END'
import sys, h5py
with h5py.File(sys.argv[1] + "/scaled.h5", "a") as file: del file["x"].attrs["scale_factor"]; file["x"].attrs["_FillValue"] = [-999.0]
END
packs scaled.h5
refusal $? 4 "x of .*scaled.h5, row 5, has -999, its _FillValue, which stands for a missing value; write NaN" "and numbers that are gaps"
"$python" - "$tmp" <<'END'
import sys, h5py
with h5py.File(sys.argv[1] + "/scaled.h5", "a") as file: del file["x"].attrs["_FillValue"]; file["x"].attrs["missing_value"] = [-99.0, -999.0]
END
packs scaled.h5
refusal $? 4 "x of .*scaled.h5, row 5, has -999, its missing_value, which stands for a missing value; write NaN" "also one of several"
"$python" - "$tmp" <<'END'
import sys, h5py, numpy
with h5py.File(sys.argv[1] + "/scaled.h5", "w") as file:
    file["x"], file["y"] = numpy.float32([[i % 7 if i % 9 else -999.9] for i in range(60)]), [i % 2 for i in range(60)]
    file["x"].attrs["missing_value"] = -999.9
END
packs scaled.h5
refusal $? 4 "x of .*scaled.h5, row 1, has -999.9, its missing_value, which stands" "also where floats round it"
"$python" - "$tmp" <<'END'
import sys, h5py
with h5py.File(sys.argv[1] + "/scaled.h5", "a") as file: file["x"].attrs["missing_value"] = "none"
END
packs scaled.h5
refusal $? 3 "attribute /x@missing_value of .*scaled.h5 is no number; write it as one, or remove it" "a text is no number"
packs far.h5
told "in arrays, too" "far.h5: column '1' has -999 7 times and else 0 .. 5; .* write NaN in its place"
# a first line of more than 64 KiB, and zeros of two signs in one column
awk 'BEGIN { for (j = 0; j < 9000; j++) printf "number%d,", j; print "y"
    for (i = 0; i < 12; i++) { for (j = 0; j < 9000; j++) printf "%s,", i % 4 ? i * j % 7 : i % 8 ? "-0.0" : "0.0"; print i % 2 } }' >"$tmp/wide.csv"
check "a table of many columns" packs wide.csv
! grep -q 'kept apart' "$tmp/log"
result $? "of which none is taken for groups"
(echo a,b,y; awk 'BEGIN { for (i = 0; i < 9000; i++) print i ",none of these," i % 2; for (i = 0; i < 12000; i++) print i "," (i % 2 ? 1 : "1.0") "," i % 2 }') >"$tmp/late.csv"
packs late.csv gaps='none of these'
! grep -q 'kept apart' "$tmp/log"
result $? "nor a column of numbers whose first lines were of texts"
! grep -q 'rises from row to row' "$tmp/log"
result $? "a column with equal neighbours numbers no rows"
reads "columns of texts are levels beside those that are named" t.csv "colour category .* site category" categories=site
# alike.csv: a name, a class in two spellings of each, which the number tells apart
"$python" - "$tmp/alike.csv" <<'END'
import sys
with open(sys.argv[1], "w", encoding="utf-8") as file:
    print("who,town,x,y", file=file)
    for i in range(120):
        who, town = (f"{i % 15}.0" if i % 2 else i % 15), ("Ko\u0308ln", "K\u00f6ln", "Bonn", "bonn ")[i % 4]
        print(who, town, i / 8, ("Caf\u00e9", "tea", "Cafe\u0301", "Tea")[i % 4], sep=",", file=file)
END
same_names() # STATEMENT PATTERN [key=value ...]: a warning of two names
{
    packs alike.csv label=y "${@:3}" && grep -Eq "warning: .*alike.csv: $2 are kept apart, .* alike = one makes them so" "$tmp/log"
    result $? "$1"
}
same_names "groups that are one number are warned of" "groups '0' and '0.0' .and 14 more." group=who drop=town
same_names "so are clients" "clients '0' and '0.0' .and 14 more." client=who drop=town
same_names "classes in two forms of Unicode" "classes '.*' and '.*' .and 1 more." drop=town,who
same_names "and levels" "levels of column 'town', 'Bonn' and 'bonn' .and 1 more." drop=who
reads "they are one by wish" alike.csv "who group 15 .* town category 2 0 Bonn, K.* y label 2 " group=who label=y alike=one
! grep -q 'kept apart' "$tmp/log"
result $? "which is not warned of"
reads "clients, too" alike.csv "clients 15 " client=who label=y drop=town alike=one
refused "gaps are refused by wish" t.csv "line 5, column 2, 'age', is '' .*missing = median" missing=refuse
refused "also among texts" t.csv "line 5, column 3, 'colour', is '' where a category is expected; missing = median" \
    missing=refuse drop=age
awk 'BEGIN { print "a,v,y"; for (i = 0; i < 60; i++) print i % 7 "," (i % 3 ? (i % 2 ? "+" : "pos") : "0") "," i % 2 }' >"$tmp/u.csv"
reads "a sign alone is a level" u.csv "v category 3 0 0, \+, pos 3 levels" label=y
refused "a client without a name is told by wish" t.csv "line 5, column 3, 'colour', is '' where a client is expected; give one" \
    client=colour unlabelled=refuse
reads "its rows are left out" t.csv "decided rows without a client .15. are left out; unlabelled = refuse refuses them" client=colour
{ rows site,a,y 'SK,%g,%s' && printf ',7,yes\nNA,7,no\nkeine,7,yes\n'; } >"$tmp/u.csv"
reads "also where a text stands for none" u.csv "without a client .3. are left out.* clients 7 .* all 40 " client=site label=y gaps=keine unlabelled=class
reads "numbers are levels by wish" t.csv "sample 17 numbers" categories=age,colour,site drop=nr1,score
says "as they are written" age "category 7 6 20, 21, 22, 23, 24, 25, 26 7 levels and a mark"

# apart COLUMN: rows of a part have values of it that no other part has
apart()
{
    "$python" - "$tmp/t.h5" "$1" <<'END' >"$tmp/out" 2>&1
import sys, h5py, numpy
with h5py.File(sys.argv[1]) as f:
    at = [n.decode() for n in f["column"][:]].index(sys.argv[2])
    parts = [set(f[p + "/x"][:, at]) for p in ("train", "valid", "test")]
assert all(parts) and not (parts[0] & parts[1] or parts[0] & parts[2] or parts[1] & parts[2]), parts
END
}
awk 'BEGIN { print "g,copy,y"; for (i = 0; i < 90; i++) print "G" i % 15 "," i % 15 "," i % 2 }' >"$tmp/t.csv"
packs t.csv group=g valid=0.2 test=0.2 && apart copy
result $? "a group is in one part"
awk 'NR == 1 || NR % 5 == 0' "$tmp/t.csv" >"$tmp/same.csv"
refused "a group in files of two parts is told" t.csv "rows of the group 'G[0-9]*' are in the train and in the valid part" \
    group=g valid_file="$tmp/same.csv" test=0
refused "groups that are too few are told" t.csv "2 groups of 90 rows cannot be divided" group=y label=copy
awk 'BEGIN { print "x,who,y"; for (i = 0; i < 200; i++) print i "," (i < 100 ? "ann" : "bob") "," (i % 10 ? i % 10 < 4 ? "b" : "c" : "a") }' >"$tmp/t.csv"
reads "each part has its share of each class" t.csv "class train valid test a 12 4 4 b 36 12 12 c 72 24 24 " shares=class valid=0.2 \
    test=0.2 drop=who
reads "also within clients" t.csv "clients 2 .*a 12 4 4 b 36 12 12 c 72 24 24 " shares=class valid=0.2 test=0.2 client=who
table >"$tmp/t.csv"
reads "the values of a column are clients" t.csv "clients 5 .*" client=site drop=nr1
: >"$tmp/empty.csv"
head -1 "$tmp/t.csv" >"$tmp/head.csv"
mkfifo "$tmp/pipe"
refused "a file for the test without a row is refused" t.csv "empty.csv has no rows; name another" test_file="$tmp/empty.csv"
refused "so is one of names alone" t.csv "head.csv has no rows; name another" valid_file="$tmp/head.csv"
packs t.csv test_file="$tmp/pipe"
[ $? = 3 ] && grep -q "^weft: .*pipe is a pipe, which is read but once; name a file, or - for" "$tmp/log"
result $? "and a pipe"
check "a file is packed as two parts" packs t.csv test_file="$tmp/t.csv"
told "which is warned of" "t.csv has the same bytes as .*t.csv; is one of them meant"
awk 'NR == 1 || NR % 2' "$tmp/t.csv" >"$tmp/tested.csv"
reads "rows of a file for the test stay with their clients" t.csv "clients 5 .* all 55 5 30 " client=site drop=nr1 \
    test_file="$tmp/tested.csv"
awk 'NR == 1 || NR % 4 == 0' "$tmp/t.csv" | awk -F, -v OFS=, '{ print $6, $3, $2, $4, $5, $1 }' >"$tmp/v.csv"
reads "a file of validation rows has its columns in another order" t.csv "60 rows|all 54 15 6 " valid_file="$tmp/v.csv" label=sick
sed -i 's/colour/color/' "$tmp/v.csv"
refused "a column that it lacks is told" t.csv "v.csv has no column 'colour', which the first file has" \
    test_file="$tmp/v.csv" label=sick
table | gzip >"$tmp/t.csv.gz"
reads "a table compressed by gzip" t.csv.gz "60 rows .* sample 13 numbers"
{ table | head -30 | gzip && table | tail -31 | gzip; } >"$tmp/t.csv.gz"
reads "of two files put together" t.csv.gz "60 rows .* sample 13 numbers"
head -c 200 "$tmp/t.csv.gz" >"$tmp/u.csv.gz"
refused "one that is cut short is told" u.csv.gz "u.csv.gz cannot be decompressed: it is cut short"
awk 'BEGIN { print "age,y"; for (i = 0; i < 60; i++) print 10 * (i % 6) "-" 10 * (i % 6) + 9 "," i % 2 }' >"$tmp/t.csv"
reads "ranges are texts" t.csv "age category 6 0 0-9, 10-19, 20-29, 30-39, 40-49, 50-59 6 levels"
printf '5.1,red,a\n4.9,blue,b\n5.3,red,a\n4.7,blue,b\n' >"$tmp/t.csv"
reads "a first row of numbers and texts is a row where the second is like it" t.csv "all [0-9]+ [0-9]+ [0-9]+ " valid=0.25 test=0.25
says "its columns are numbered" 2 "category 2 0 blue, red 2 levels"
awk 'BEGIN { print "n,t,y"; for (i = 0; i < 60; i++) print i % 7 ",text " i "," i % 2 }' >"$tmp/t.csv"
reads "texts that all differ are no levels" t.csv "t dropped 60 0 .*sample|sample 1 numbers"
told "which is told" "nearly each row has a text of its own, so left out: 't'; categories = NAME"
reads "unless they are said to be" t.csv "sample [45][0-9] numbers" categories=t

# wide N MOST: N rows whose column of texts has numbers behind the first lines, MOST different ones
wide()
{
    awk -v n="$1" -v most="$2" 'BEGIN { print "a,kind,y"; for (i = 0; i < n; i++) print i % 97 / 8 "," (i < 9000 || i % 3 == 0 ? "k" i % 5 : i % most) "," i % 2 }'
}
wide 20000 200 >"$tmp/t.csv"
reads "texts of the first lines are levels where most cells are texts" t.csv "kind category 205 0 0, 1, 2, 3"
wide 40000 7 >"$tmp/t.csv"
reads "also where most are numbers, but few" t.csv "kind category 12 0 0, 1, 2, 3, 4, 5, 6, k0, k1, k2"
wide 40000 200 >"$tmp/t.csv"
reads "else they are names of many, and left out" t.csv "kind dropped 205 0"
sed '1!s/,k/,k-/' "$tmp/t.csv" >"$tmp/u.csv"
refused "or texts among numbers" u.csv "line 2, column 2, 'kind', is 'k-0' where a finite number"
awk 'BEGIN { print "e,s,n,y"; for (i = 0; i < 60; i++) print ",7," i % 7 "," i % 2 }' >"$tmp/t.csv"
reads "columns that are empty or do not vary are left out" t.csv "sample 1 numbers"
told "an empty one is told" "training rows have no value, so left out: 'e'"
told "one that does not vary, too" "the same in all training rows, so left out: 's'; numbers = NAME"
reads "and stays if asked for" t.csv "sample 2 numbers" numbers=s
refused "a table of these alone is refused" t.csv "no column is left to learn from" drop=n
awk 'BEGIN { print "X,e,s,u,t,y"; for (i = 0; i < 60; i++) print (i == 7 ? "" : i) "," (i % 3 ? 7 : "") "," (i % 4 ? "k" : "") "," \
    (i % 5 ? "missing" : "unknown") "," (i % 2 ? "text " i : "") "," i % 2 }' >"$tmp/t.csv"
reads "but stay where some of their values are missing" t.csv "e number 1 20 7 .. 7 .*, and a mark .*s category 1 15 k 1 levels and a mark"
says "texts that stand for gaps are levels where there is nothing else" u "category 2 0 missing, unknown"
says "texts that all differ are left out, however many are missing" t "dropped 30"
says "what counts the rows with gaps does not number them" X "number 59 1 0 .. 59"
awk 'BEGIN { print "k,y"; for (i = 0; i < 16; i++) print (i % 9 ? i % 9 : "none of these") "," i % 2 }' >"$tmp/t.csv"
refused "a text among numbers that hardly come again is told" t.csv "line 2, column 1, 'k', is 'none of these'"

awk 'BEGIN { print "a,t,y"; for (i = 0; i < 60; i++) print i % 7 ",\"le\nvel " i % 3 "\"," i % 2 }' >"$tmp/t.csv"
reads "a line break within levels" t.csv "t category 3 0 le[?]vel 0, le[?]vel 1, le[?]vel 2 3 levels"

# ---- libsvm -------------------------------------------------------------------------------

awk 'BEGIN { for (i = 0; i < 40; i++) print i % 2 " 0:" i " 2:1" }' >"$tmp/t.svm"
refused "indices from 0 are told" t.svm "line 1 has index 0 .*zero_based = yes"
reads "and read" t.svm "sample 3 numbers" zero_based=yes
awk 'BEGIN { for (i = 0; i < 40; i++) print i % 2 " qid:1 1:" i }' >"$tmp/t.svm"
refused "ranking data are told" t.svm "line 1 has 'qid:1' .*ranking"
awk 'BEGIN { for (i = 0; i < 40; i++) print i % 2 " 3000000:" i }' >"$tmp/t.svm"
refused "a huge index is told" t.svm "line 1 has index 3000000 .*at most 1000000"
awk 'BEGIN { for (i = 0; i < 40; i++) print (i % 2 ? "+1" : "1.0") " 1:" i; for (i = 0; i < 9; i++) print "-1 1:2" }' >"$tmp/t.svm"
reads "spellings of a number are one class there" t.svm " -1 .* 1 3"

# ---- dates, and numbers with units ----------------------------------------------------------

# dates FORMAT COUNT: a table of days, a number, and whether the day is from Monday to Friday
dates()
{
    "$python" - "$1" "$2" <<'END'
import datetime, sys
print("day;x;y")
for i in range(int(sys.argv[2])):
    day = datetime.datetime(2020, 1, 1) + datetime.timedelta(minutes=i * 7919 % 1500000)
    print(day.strftime(sys.argv[1]), i % 7, int(day.weekday() < 5), sep=";")
END
}
while IFS='|' read -r format example options; do
    dates "$format" 80 >"$tmp/t.csv"
    # shellcheck disable=SC2086
    packs t.csv $options && "$python" - "$tmp/t.h5" "$tmp/t.csv" "$format" <<'END' >"$tmp/out" 2>&1
import calendar, csv, datetime, math, sys, h5py
with h5py.File(sys.argv[1]) as f:
    names = [n.decode() for n in f["column"][:]]
    shift, scale = (f[n][:] if n in f else d for n, d in (("shift", 0), ("scale", 1)))
    rows = [x for p in ("train", "valid", "test") for x in f[p + "/x"][:].astype(float) * scale + shift]
def seconds(day):
    return calendar.timegm(day.timetuple())
days = {seconds(d): d for r in csv.DictReader(open(sys.argv[2]), delimiter=";")
        for d in [datetime.datetime.strptime(r["day"], sys.argv[3])]}
assert len(names) == 13 - 2 * ("%H" not in sys.argv[3]) + 1, names
for x in rows:
    day = days[min(days, key=lambda d: abs(d - x[0]))]
    assert abs(x[0] - seconds(day)) <= 64, (day, x[0])
    for name, number in zip(names[1:-1], x[1:]):
        turn = {"month": (day.month - 1) / 12, "hour": day.hour / 24}.get(name.split()[1], 0) * 2 * math.pi
        want = {"day year": day.year}.get(name, name == "day " + day.strftime("%A"))
        want = math.sin(turn) if name.endswith(" sine") else math.cos(turn) if name.endswith("cosine") else want
        assert abs(number - want) < 1e-6, (day, name, number, want)
END
    result $? "the parts of dates such as $example are those of the calendar"
    told "which are told" "column 'day' has dates such as $example, .* year, month, weekday, hour"
done <<'END'
%Y-%m-%dT%H:%M:%S|2024-12-31|
%Y-%m-%d %H:%M|2024-12-31|
%Y-%m-%dT%H:%MZ|2024-12-31|
%d.%m.%Y|31.12.2024|
%m/%d/%Y %H:%M|12/31/2024|
%m/%d/%y|12/31/2024|dates=mdy
%d-%m-%Y|31.12.2024|dates=dmy
%d %b %Y|31 Dec 2024|
END
dates %d.%m.%Y 80 >"$tmp/t.csv"
check "days are packed" packs t.csv
says "weft info shows them, not seconds" day "day date 80 0 2020-01-01 .. 2021-03-10 seconds, year, month, weekday"
sed '8s/^[^;]*/31.02.2021/' "$tmp/t.csv" >"$tmp/bad.csv"
refused "a day that there is not is told" bad.csv "line 8, column 1, 'day', is '31.02.2021' where a date such as 31.12.2024 is expected"
reads "but may be a gap" bad.csv "day date 79 1 " gaps=31.02.2021
sed '8s/^[^;]*//; 9s/^[^;]*/NA/' "$tmp/t.csv" >"$tmp/gaps.csv"
reads "gaps among dates are counted" gaps.csv "day date 78 2 "
"$python" - "$tmp/t.h5" <<'END' >"$tmp/out" 2>&1
import datetime, statistics, sys, h5py
with h5py.File(sys.argv[1]) as f:
    names = [n.decode() for n in f["column"][:]]
    shift, scale = (f[n][:] if n in f else d for n, d in (("shift", 0), ("scale", 1)))
    train, *others = (list(f[p + "/x"][:].astype(float) * scale + shift) for p in ("train", "valid", "test"))
mark, own = names.index("day is missing"), [i for i, n in enumerate(names) if n.startswith("day")]
middle = statistics.median(x[0] for x in train if x[mark] < 0.5)
gaps = [x for x in train + sum(others, []) if x[mark] > 0.5]
assert len(gaps) == 2, len(gaps)
for x in gaps:
    day = datetime.datetime(1970, 1, 1) + datetime.timedelta(seconds=middle)
    want = {"day seconds": middle, "day year": day.year, "day is missing": 1}
    assert all(abs(x[i] - want.get(names[i], 0)) <= (64 if i == 0 else 1e-6) for i in own), (names, x, want)
END
result $? "they are filled by the middle day and its year alone, and marked"
refused "dates in another order than is said are told" t.csv "'day', is '[0-9.]*' where a date such as 12/31/2024 is expected" dates=mdy
awk 'BEGIN { print "day,y"; for (i = 0; i < 60; i++) print i % 12 + 1 "/" i % 11 + 1 "/2024," i % 2 }' >"$tmp/t.csv"
refused "days that may be months are asked for" t.csv "column 'day', which is '1/1/2024' in line 2, .*dates = dmy or dates = mdy"
awk -F, 'NR == 1 { print $0 ",to" } NR > 1 { printf "%s,2024-12-%02d\n", $0, NR % 30 + 1 }' "$tmp/t.csv" >"$tmp/both.csv"
refused "also beside one that has the year first" both.csv "column 'day', which is '1/1/2024' in line 2, .*dates = dmy or dates = mdy" label=y
awk -F, 'NR == 1 { print $0 ",to" } NR > 1 { print $0 ",12/" NR % 30 + 1 "/2024" }' "$tmp/t.csv" >"$tmp/both.csv"
reads "unless another column tells" both.csv "day date 60 .*to date 30 " label=y
rows a,y '%g,%s' >"$tmp/t.csv"
packs t.csv dates=dmy
[ $? = 2 ] && grep -q "^weft: dates = dmy has no effect: no column of .*t.csv has dates such as 31.12.2024" "$tmp/log"
result $? "an order of dates is refused where there are none"
awk 'BEGIN { print "day,id,y"; for (i = 0; i < 60; i++) printf "2024%02d%02d%s,202413%02d,%d\n", i % 12 + 1, i % 28 + 1, i % 5 ? "" : ".0", i, i % 2 }' >"$tmp/t.csv"
reads "numbers that all are days are dates" t.csv "day date [0-9]* 0 2024-01-01 .. 2024-12-[0-9]* seconds, month, weekday"
says "but no numbers that are not" id "number 60 "
reads "nor those that are said to be numbers" t.csv "day number " numbers=day
awk 'BEGIN { print "at,y"; for (i = 0; i < 60; i++) printf "%02d:%02d,%d\n", i % 24, i, i % 2 }' >"$tmp/t.csv"
reads "times of day are seconds, and the hour" t.csv "at date 60 0 00:00 .. 23:[0-9]* seconds, hour "
awk 'BEGIN { print "season,year,y"; for (i = 0; i < 60; i++) printf "20%02d-%02d,%d,%d\n", i % 9, i % 9 + 1, 1990 + i % 9, i % 2 }' >"$tmp/t.csv"
reads "seasons are no months" t.csv "season category 9 .* year number 9 "
awk 'BEGIN { print "at,y"; for (i = 0; i < 60; i++) printf "2024-03-%02dT23:30:00+02:00,%d\n", i % 28 + 1, i % 28 % 7 == 1 }' >"$tmp/t.csv"
packs t.csv && "$python" - "$tmp/t.h5" <<'END' >"$tmp/out" 2>&1
import h5py, sys
with h5py.File(sys.argv[1]) as f:
    names = [n.decode() for n in f["column"][:]]
    for p in ("train", "valid", "test"):  # 2024-03-02 was a Saturday, by the clock of the file
        assert (f[p + "/x"][:, names.index("at Saturday")] == f[p + "/label"][:]).all()
END
result $? "weekdays are by the clock that dates are written by"
awk 'BEGIN { print "at,i,y"; for (i = 0; i < 300; i++) printf "2024-03-%02dT%02d:%02d:%02dZ,%d,%d\n", i % 28 + 1, i % 24, i % 60, i % 59, i, i % 2 }' >"$tmp/t.csv"
packs t.csv && "$python" - "$tmp/t.h5" <<'END' >"$tmp/out" 2>&1
import calendar, h5py, sys
with h5py.File(sys.argv[1]) as f:
    for p in ("train", "valid", "test"):
        for x in f[p + "/x"][:] * f["scale"][:] + f["shift"][:]:
            i = round(x[-1])
            assert abs(x[0] - calendar.timegm((2024, 3, i % 28 + 1, i % 24, i % 60, i % 59))) < 0.2, (i, x[0])
END
result $? "times of one month are exact to a fifth of a second"
awk 'BEGIN { print "x,when"; for (i = 0; i < 60; i++) printf "%d,%04d-%02d-%02d\n", i, 1900 + 4 * (i % 50), i % 12 + 1, i % 28 + 1 }' >"$tmp/t.csv"
packs t.csv label=when target=regression && "$python" - "$tmp/t.h5" <<'END' >"$tmp/out" 2>&1
import datetime, h5py, sys
with h5py.File(sys.argv[1]) as f:
    for p in ("train", "valid", "test"):
        for (i,), (when,) in zip(f[p + "/x"][:].astype(int), f[p + "/target"][:]):
            day = datetime.datetime(1970, 1, 1) + datetime.timedelta(seconds=when)
            assert day == datetime.datetime(1900 + 4 * (i % 50), i % 12 + 1, i % 28 + 1), (i, day)
END
result $? "dates to predict are seconds since 1970, of any century"
told "which is told" "column 'when' has dates such as 2024-12-31, which become seconds since 1970"

awk 'BEGIN { print "wait,x,y"; for (i = 0; i < 60; i++) printf "%d days %s%02d:00:30,%d,%d\n", i % 9 - 3, i % 9 < 3 ? "+" : "", i % 24, i, i % 2 }' >"$tmp/t.csv"
packs t.csv && "$python" - "$tmp/t.h5" <<'END' >"$tmp/out" 2>&1
import h5py, sys
with h5py.File(sys.argv[1]) as f:
    shift, scale = (f[n][:] if n in f else d for n, d in (("shift", 0), ("scale", 1)))
    assert [n.decode() for n in f["column"][:]] == ["wait seconds", "x"]
    for wait, x in (row for p in ("train", "valid", "test") for row in f[p + "/x"][:].astype(float) * scale + shift):
        i = round(x)
        assert abs(wait - (86400 * (i % 9 - 3) + 3600 * (i % 24) + 30)) < 1, (i, wait)
END
result $? "days and a time that pass are seconds, negative ones too"
told "which is told in one line" "column 'wait' has time spans such as 1 days 02:03:04, which become seconds"

awk 'BEGIN { print "wait,x,y"; for (i = 0; i < 60; i++) printf "%d:%02d:30,%d,%d\n", i, i % 7, i, i % 2 }' >"$tmp/t.csv"
packs t.csv
told "hours beyond a day are time spans" "column 'wait' has time spans such as .*, which become seconds"
awk 'BEGIN { print "lap,x,y"; for (i = 0; i < 60; i++) printf "%d:%02d.%03d,%d,%d\n", i % 20, i * 7 % 60, i * 41, i, i % 2 }' >"$tmp/u.csv"
packs u.csv
told "so are minutes and seconds with a fraction" "column 'lap' has time spans such as .*, which become seconds"
sed '26,$d' "$tmp/t.csv" >"$tmp/u.csv"
packs u.csv
told "and within it times of a day" "column 'wait' has dates such as 23:59"

dates %Y-%m-%dT%H:%M:%S 200 >"$tmp/t.csv"
rm -f "$tmp/r.h5"
packs t.csv && call tune --data "$tmp/t.h5" -o "$tmp/r.h5" && grep -Eq "^test .* error 0.000 %" "$tmp/out"
result $? "the winner of a plan tells weekdays from others"
awk 'NR > 1 { sub(/T.*;/, ";"); split($1, day, "[-;]"); print (NR % 2 ? day[3] "." day[2] "." day[1] : $1) }' FS=';' OFS=';' "$tmp/t.csv" >"$tmp/both.csv"
{ echo "day;y" && paste -d ';' "$tmp/both.csv" <(sed 1d "$tmp/t.csv" | cut -d ';' -f 3); } >"$tmp/mixed.csv"
reads "dates with the year first may stand among others" mixed.csv "day date [0-9]* 0 2020-01-01 .. 20"

# unit BEFORE MARKS BEHIND [key=value ...]: a column of 1000.25, 1001.25, ..., its decimal mark behind that of thousands, is read
unit()
{
    "$python" - "${@:1:3}" >"$tmp/t.csv" <<'END'
import sys
before, (group, decimal), behind = sys.argv[1:]
print("a;y")
for i in range(60):
    number = f"{1000.25 + i:,}".replace(",", "g").replace(".", decimal).replace("g", group.replace("0", ""))
    print(f"{before}{number}{behind};{i % 2}")
END
    packs t.csv "${@:4}" && "$python" - "$tmp/t.h5" "$1" <<'END' >"$tmp/out" 2>&1
import h5py, sys
with h5py.File(sys.argv[1]) as f:
    a = sorted(abs(x) for p in ("train", "valid", "test") for x, in f[p + "/x"][:])
    assert all((x < 0) == ("-" in sys.argv[2] or "(" in sys.argv[2]) for x, in f["train/x"][:])
assert a == [1000.25 + i for i in range(60)], a[:3]
END
}
while IFS='|' read -r before marks behind told options; do
    # shellcheck disable=SC2086
    unit "$before" "$marks" "$behind" $options
    result $? "numbers such as $before 1${marks:0:1}000${marks:1}25 $behind are read"
    told "which is told" "column 'a': $told"
done <<'END'
|0.|%|% is taken off; a decimal point$|
|0,| %|% is taken off; a decimal comma$|
|0.|kg|kg is taken off; a decimal point$|
|,.| sq ft|sq ft is taken off; a decimal point, commas between thousands$|
| ,| kg|kg is taken off; a decimal comma, blanks between thousands$|
| .| m2|m2 is taken off; a decimal point, blanks between thousands$|
$|,.||\$ is taken off; a decimal point, commas between thousands$|
-$|0.||\$ is taken off|
$ -|0.||\$ is taken off|
($|,.|)|\$ is taken off|
EUR |.,||EUR is taken off; a decimal comma, points between thousands$|
US$|0.|/day|US\$ /day is taken off|
|0,| kg|kg is taken off|decimal=comma
END
awk 'BEGIN { print "cost,y"; for (i = 0; i < 60; i++) print "\"$1," 100 + i "\"," i % 2 }' >"$tmp/t.csv"
reads "whole thousands of a currency" t.csv "cost number 60 0 1100 .. 1159 itself without \\$"
awk 'BEGIN { print "cost;y"; for (i = 0; i < 60; i++) print "1," 100 + i " km;" i % 2 }' >"$tmp/t.csv"
refused "thousands that may be fractions are asked for" t.csv "column 'cost', which is '1,100 km' in line 2, .*decimal = comma .*thousands = comma"
reads "and read so" t.csv "cost number 60 0 1100 .. 1159 itself without km" thousands=comma
reads "or so" t.csv "cost number 60 0 1.1 .. 1.159 itself without km" decimal=comma
awk 'BEGIN { print "w,y"; for (i = 0; i < 60; i++) print i % 8 (i % 2 ? " kg" : " lb") "," i % 2 }' >"$tmp/t.csv"
reads "two units in a column are texts" t.csv "w category 8 "
told "which is told" "column 'w' has numbers with different units, lb and kg"
awk 'BEGIN { print "w,y"; for (i = 0; i < 60; i++) print i (i % 4 ? " kg" : "") "," i % 2 }' >"$tmp/t.csv"
reads "numbers without the unit are such" t.csv "w number 60 0 0 .. 59 itself without kg"
awk 'BEGIN { print "w,y"; for (i = 0; i < 60; i++) print i % 8 (i % 4 ? "kg" : "") "," i % 2 }' >"$tmp/close.csv"
reads "but not letters that no blank parts from some numbers" close.csv "w category 8 "
told "which is told, too" "column 'w' has numbers with different units, kg and none"
: >"$tmp/in.ini"
for name in dollars euros; do
    awk -v unit="$([ $name = euros ] && echo EUR)" 'BEGIN { print "cost,y"; for (i = 0; i < 60; i++) print (unit ? unit " " : "$") i "," (i < 30) }' >"$tmp/$name.csv"
    call pack dense "$tmp/$name.csv" -o "$tmp/$name.h5" --force
done
rm -f "$tmp/r.h5"
call tune "$tmp/in.ini" run.data="$tmp/dollars.h5" run.tuner=random space.configs=1 -o "$tmp/r.h5"
call eval "$tmp/r.h5" "$tmp/euros.h5"
[ $? = 4 ] && grep -q "euros.h5: column 'cost' has numbers with EUR, but the winner of .* was trained on some with \$; write them" "$tmp/log"
result $? "other data of another unit are refused"
awk 'BEGIN { print "x,price"; for (i = 0; i < 60; i++) print i ",$" i * i + 0.5 }' >"$tmp/t.csv"
reads "targets may have a unit" t.csv "price target 60 0 0.5 .. 3481.5 a number to predict"

# ---- names that would move the cursor -----------------------------------------------------

awk 'BEGIN {
    split("one\ntwo|a\033[2Jb|x\ty|\302\205n", name, "|")
    print "a,level,y"
    for (i = 0; i < 200; i++) print i % 4 + i % 7 / 9 ",\"l" i % 2 "\n\",\"" name[i % 4 + 1] "\""
}' >"$tmp/t.csv"
lines() # STATEMENT COUNT PATTERN: $tmp/out has so many lines of these, and no character that moves the cursor
{
    [ "$(grep -Ec -e "$3" "$tmp/out")" = "$2" ] && ! grep -q "$(printf '[\001-\011\013-\037\177]\|\302\205')" "$tmp/out"
    result $? "$1"
}
packs t.csv
lines "names of levels stay in their line of the table that pack prints" 1 '^level  *category  *2  *0  l0\?, l1\?  *2 levels'
"$weft" info "$tmp/t.h5" >"$tmp/out" 2>>"$tmp/log"
lines "names of classes in weft info" 4 '^(one\?two|a\?\[2Jb|x\?y|\?n)  *[1-9][0-9]*  *[0-9]+  *[0-9]+$'
rm -f "$tmp/r.h5"
call tune "$tmp/in.ini" run.data="$tmp/t.h5" run.tuner=random space.configs=1 -o "$tmp/r.h5"
"$weft" report "$tmp/r.h5" >"$tmp/out" 2>>"$tmp/log"
lines "and in the confusion matrix of a report" 4 '^(one\?two|a\?\[2Jb|x\?y|\?n)( +[0-9]+){4}$'
awk 'BEGIN { print "a,level,y"; for (i = 0; i < 200; i++) print i % 9 / 2 "," (i % 2 ? "Yes" : "yes") "\t," i % 2 }' >"$tmp/t.csv"
packs t.csv separator=comma
told "levels that mean the same are warned of" "warning: .*t.csv: levels of column 'level', 'Yes.?' and 'yes.?' are kept apart"
cp "$tmp/t.csv" "$tmp/two
lines.csv" && packs "two
lines.csv" separator=comma
[ "$(grep -c '^weft ' "$tmp/log")" = "$(wc -l <"$tmp/log")" ]
result $? "a file's name stays in its line of the log"

# ---- columns of very different sizes in a map ----------------------------------------------

# learns STATEMENT TABLE PREPROCESS GAMMA: a map has the training error of its small column
learns()
{
    rm -f "$tmp/t.h5" "$tmp/r.h5"
    printf '[run]\ndata = %s\n[rff]\nfeatures = 256\npreprocess = %s\ngamma = %s\n' "$tmp/t.h5" "$3" "$4" >"$tmp/in.ini"
    packs "$2" numbers=2 && call tune "$tmp/in.ini" -o "$tmp/r.h5" &&
        "$weft" eval "$tmp/r.h5" "$tmp/t.h5" >"$tmp/out" 2>>"$tmp/log" &&
        awk '$1 == "train" { exit !($4 < 2) }' "$tmp/out"
    result $? "$1"
}
awk 'BEGIN { for (i = 0; i < 200; i++) print (i % 2) + i / 1000 ",1099511627776," i % 2 }' >"$tmp/t.csv"
learns "a constant of 10^12 hides no other column from a map" t.csv none 0.5
learns "nor standardised" t.csv standard 0.5
awk 'BEGIN { for (i = 0; i < 200; i++) print ((i % 2) + i / 1000) / 1000 "," (i % 5) * 1e12 "," i % 2 }' >"$tmp/t.csv"
learns "nor is a small column that has a large one beside it taken for a constant" t.csv standard 0.5
packs t.csv && rm -f "$tmp/r.h5" &&
    call tune "$tmp/in.ini" rff.preprocess=none -o "$tmp/r.h5"
told "numbers too large for gamma are warned of" "inputs of rff reach 4e\+12, .*rff.preprocess = standard"

# ---- files that are no libsvm --------------------------------------------------------------

: >"$tmp/empty.csv"
refused "an empty file has no rows" empty.csv "empty.csv has no rows" label=y
printf '\n \n' >"$tmp/empty.csv"
refused "nor has one of blank lines" empty.csv "empty.csv has no rows" label=y
rows x '%g' >"$tmp/one.csv"
refused "a file of one column has no label" one.csv "one.csv: line 1 has 1 column where a label and numbers are expected"
rows '"a
b",y' '%g,%s' >"$tmp/line.csv"
reads "a name may have an end of line" line.csv "40 rows.* a\?b number .* y label 2 " label=y
rows '' '%g 1:2' | sed '1s/ .*//; 2s/ .*/ # none/' >"$tmp/short.svm"
reads "a libsvm file may begin with rows of zeros" short.svm "40 rows" target=regression
rows 'a,y' '%g,%s' >"$tmp/t.csv"
(gzip -c "$tmp/t.csv" && tail -n +2 "$tmp/t.csv" | gzip -c && head -c 1000 /dev/zero) >"$tmp/t.gz"
reads "zeros may follow what is compressed" t.gz "80 rows" label=y
(gzip -c "$tmp/t.csv" && echo more) >"$tmp/t.gz"
refused "other bytes may not" t.gz "t.gz cannot be decompressed" label=y

# ---- what spreadsheets and pandas export ----------------------------------------------------

while read -r statement cell pattern options; do # a blank in a cell is _
    { echo "a;b;y"; awk -v cell="${cell//_/ }" 'BEGIN { for (i = 0; i < 60; i++) print (i == 7 ? cell : i) ";" i % 9 ";" i % 2 }'; } >"$tmp/t.csv"
    refused "the options are named that read ${statement//_/ }" t.csv "line 9, column 1, 'a', is '.*; ${pattern//_/ } reads it" label=y $options
done <<'END'
German_thousands_with_decimals 2.911,24 decimal_=_comma_thousands_=_point
many_of_them 1.234.567,00 decimal_=_comma_thousands_=_point
French_ones 2_911,24 decimal_=_comma_thousands_=_blank
blanks_alone 2_911 thousands_=_blank
English_ones_with_decimals 2,911.24 thousands_=_comma
a_decimal_point_where_commas_are_said 0.25 decimal_=_point decimal=comma
one_where_points_are_said_too 0.25 decimal_=_point_thousands_=_none decimal=comma thousands=point
END
awk 'BEGIN { print "a;y"; for (i = 0; i < 60; i++) print i % 9 ";" 1000 + i * 7 "," i % 10 }' >"$tmp/t.csv"
refused "nor are labels with decimal commas texts" t.csv "line 2, column 2, 'y', is '1000,0' where a number to predict is expected; decimal = comma reads it" label=y
reads "which are read so" t.csv "y target 60 0 1000 .. 1413.9" label=y decimal=comma
awk 'BEGIN { print "a;y"; for (i = 0; i < 60; i++) print i % 9 ";" (i % 7 == 3 ? "offen" : i * 7.25) }' >"$tmp/t.csv"
refused "a text among labels that are numbers is named, with its remedy" t.csv "line 5, column 2, 'y', is 'offen' where a number to predict is expected; gaps = offen makes it a missing value" label=y
reads "by which they are read" t.csv "y target 51 0" label=y gaps=offen
for error in '#NULL!' '#NAME?' '#WERT!' '#ZAHL!' '#BEZUG!' '#NV' '#NOM?' '#N/A'; do
    awk -v error="$error" 'BEGIN { print "a,y"; for (i = 0; i < 60; i++) print (i % 5 ? i : error) "," i % 2 }' >"$tmp/t.csv"
    reads "$error of a spreadsheet is a gap among numbers" t.csv "a number 48 12 1 .. 59 itself" label=y
done
awk 'BEGIN { print "a,c,y"; for (i = 0; i < 60; i++) print i "," (i % 5 ? i % 3 ? "True" : "False" : "<NA>") "," (i % 4 ? i % 2 : "<NA>") }' >"$tmp/t.csv"
reads "<NA> of pandas is no class and no level" t.csv "45 rows .* c category 2 9 False, True 2 levels and a mark .* y label 2" label=y
told "which is told" "rows without a label \(15 of '<NA>' or the like\) are left out"
printf ',a,a,b\n,x,z,y\n' >"$tmp/t.csv"
awk 'BEGIN { for (i = 0; i < 60; i++) print i "," i % 7 "," i % 9 "," i % 2 }' >>"$tmp/t.csv"
packs t.csv label=c
grep -q "label = c, .*of which '[ab]' is the nearest" "$tmp/log"
result $? "a column without a name is nearest to none"

# ---- bytes that are no UTF-8 ----------------------------------------------------------------

# names, levels, clients and classes
awk 'BEGIN { print "gr\303\266\303\237e,ort,y"; for (i = 1; i <= 60; i++)
    print i ".5," (i % 2 ? "Bonn" : "K\303\266ln") "," (i % 3 ? "gut" : "sch\303\266n") }' >"$tmp/utf8.csv"
iconv -f UTF-8 -t CP1252 "$tmp/utf8.csv" >"$tmp/latin.csv"
for client in "" client=ort; do
    packs utf8.csv label=y $client && want=$("$weft" info "$tmp/t.h5" 2>&1 | sed -n 's/.*digest *//p')
    reads "a table in Windows-1252 is read${client:+, its clients too}" latin.csv "number 60 0 1.5 .. 60.5" label=y $client
    [ "$(grep -c "warning: .*latin.csv: 41 lines are not UTF-8 and are taken as Windows-1252, the first is line 1" "$tmp/log")" = 1 ]
    result $? "which is told, once"
    [ -n "$want" ] && [ "$("$weft" info "$tmp/t.h5" 2>&1 | sed -n 's/.*digest *//p')" = "$want" ]
    result $? "to the digest of the same in UTF-8"
done
for bytes in 'caf\351' '\377' 'a\300\200' '\355\240\200'; do
    rows 'a,y' "x$(printf "$bytes")K%.0f,%s" >"$tmp/bytes.csv"
    timeout 60 "$weft" pack dense "$tmp/bytes.csv" label=y client=a -o "$tmp/b.h5" --force >"$tmp/out" 2>"$tmp/log"
    check "names of clients whose bytes are not UTF-8, $bytes, are compared to an end" [ $? != 124 ]
done
echo "1..$count"
