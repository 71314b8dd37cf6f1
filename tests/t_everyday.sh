#!/bin/bash
# Everyday jobs, as a user types them in a directory of one's own: from a file to predictions on new
# rows, whose right answers are known. Prints TAP.
. tests/tap.sh
case $weft in */*) PATH=$(cd "$(dirname "$weft")" && pwd):$PATH ;; esac
analysis=$PWD/analysis
cd "$tmp" || exit

# patients N FIRST: a number, two categories, a number; sick above 42 of "age" plus 20 where red, no
# one being near that
patients()
{
    awk -v n="$1" -v first="$2" 'BEGIN {
        split("red,green,blue", colour, ",")
        print "id,age,colour,sick,town,weight"
        for (i = first; n > 0; i++) {
            age = i * 37 % 83; c = i * 5 % 3 + 1
            at = age + 20 * (c == 1) - 42
            if (at * at < 16) continue
            print "p" i "," age "," colour[c] "," (at > 0 ? "yes" : "no") "," (i % 4 ? "Ulm" : "\"Bonn, am Rhein\"") "," 40 + i * 7 % 53
            n--
        }
    }'
}
# job STATEMENT COMMAND...: each a line of the shell; what they print is shown where one fails
job()
{
    local statement=$1 line st=0
    shift
    : >out
    : >log
    for line in "$@"; do
        [ $st != 0 ] || eval "$line" >>out 2>>log || {
            st=1
            echo "failed: $line" >>log
        }
    done
    result $st "$statement"
}
# right PREDICTIONS TRUTH COLUMN LEAST: of the rows of predictions at least so many have the class
# that the column of the CSV file TRUTH says
right()
{
    paste -d, <(awk -F, 'NR == 1 { for (i = 1; i <= NF; i++) if ($i == "class") c = i } NR > 1 { print $c }' "$1") \
        <(sed 's/"[^"]*"/town/g' "$2" | awk -F, -v name="$3" 'NR == 1 { for (i = 1; i <= NF; i++) if ($i == name) c = i } NR > 1 { print $c }') |
        awk -F, -v least="$4" '{ right += $1 == $2 } END { print right " of " NR " are right"; exit !(NR > 0 && right >= least) }'
}
# near PREDICTIONS COLUMN TRUTH COLUMN OFF: values that differ by less than that, on average
near()
{
    paste -d, <(sed 1d "$1" | cut -d, -f "$2") <(sed 1d "$3" | cut -d, -f "$4") |
        awk -F, -v most="$5" '{ d = $1 - $2; off += d < 0 ? -d : d } END { print off / NR " off"; exit !(NR > 0 && off / NR < most) }'
}

patients 400 0 >patients.csv
patients 60 1000 >new.csv
job "a label in the middle, told by its name; texts become levels, identifiers are dropped" \
    'weft pack dense patients.csv label=sick drop=id -o table.h5' \
    'weft tune --data table.h5 -o run.h5' \
    'weft predict run.h5 new.csv -o classes.csv' \
    'right classes.csv new.csv sick 58' \
    'grep -q "^town  *category  *2 .* 2 levels" out'
job "an identifier by the name of an index is left out, one by another name warned of" \
    'sed "s/^p//" patients.csv >numbered.csv' \
    'weft pack dense numbered.csv label=sick -o indexed.h5' \
    "grep -q \"left out: 'id'\" log" \
    'sed "1 s/^id,/case,/" numbered.csv >cases.csv' \
    'weft pack dense cases.csv label=sick -o warned.h5' \
    "grep -q \"warning: .*'case'.*drop = case\" log"
job "one new row without label, its columns in another order" \
    'printf "weight,town,colour,age\n60,Ulm,green,75\n" >one.csv' \
    'weft predict run.h5 one.csv >one.txt' \
    'grep -q "^1,yes," one.txt'
job "rows from standard input" \
    'weft predict run.h5 - <new.csv >piped.csv' \
    'cmp piped.csv classes.csv'
job "rows that are compressed" \
    'gzip -c new.csv >new.csv.gz' \
    'weft predict run.h5 new.csv.gz >zipped.csv' \
    'cmp zipped.csv classes.csv'
job "a table that is compressed" \
    'gzip -c patients.csv >patients.csv.gz' \
    'weft pack dense patients.csv.gz label=sick drop=id -o zipped.h5' \
    'weft eval run.h5 zipped.h5 | awk "\$1 == \"test\" { exit !(\$4 < 6) }"'
job "a part's rows from standard input" \
    'patients 80 3000 >held.csv' \
    'cat held.csv | weft pack dense patients.csv label=sick drop=id valid_file=- -o piped.h5' \
    'weft pack dense patients.csv label=sick drop=id valid_file=held.csv -o named.h5' \
    'diff <(weft info piped.h5 | grep digest) <(weft info named.h5 | grep digest)'
job "a part's texts from standard input" \
    'cut -d, -f4,3 patients.csv >said.csv' \
    'cut -d, -f4,3 held.csv >held_said.csv' \
    'cat held_said.csv | weft pack text said.csv separator=comma label=sick text=colour test_file=- -o piped_text.h5' \
    'weft pack text said.csv separator=comma label=sick text=colour test_file=held_said.csv -o named_text.h5' \
    'diff <(weft info piped_text.h5 | grep digest) <(weft info named_text.h5 | grep digest)'
job "standard input is not of two parts" \
    '! weft pack dense - label=sick drop=id valid_file=- -o two.h5 <patients.csv' \
    '! weft pack text said.csv valid_file=- test_file=- -o two.h5 <said.csv' \
    '[ "$(grep -c "^weft: standard input, -, is read for 2 parts" log)" = 2 ]'
job "which writes no file" \
    '[ ! -e two.h5 ]'
job "values are missing, in two spellings, and it tells something that they are" \
    'gaps() { grep -v Bonn "$1" | awk -F, -v OFS=, "NR > 1 && NR % 5 == 0 { \$6 = NR % 2 ? \"NA\" : \"\"; \$4 = \"yes\" } 1"; }' \
    'gaps patients.csv >gaps.csv; gaps new.csv >newgaps.csv' \
    'weft pack dense gaps.csv label=sick drop=id -o gaps.h5' \
    'weft tune --data gaps.h5 -o gaps-run.h5' \
    'weft predict gaps-run.h5 newgaps.csv -o gaps-classes.csv' \
    'right gaps-classes.csv newgaps.csv sick 43'
job "files of one's own for validation and test" \
    'patients 100 500 >valid.csv; patients 100 700 >test.csv' \
    'weft pack dense patients.csv label=sick drop=id valid_file=valid.csv test_file=test.csv -o parts.h5' \
    'grep -q "400 train, 100 valid, 100 test rows" log' \
    'weft tune --data parts.h5 -o parts-run.h5' \
    'weft predict parts-run.h5 parts.h5 -o parts.csv' \
    'grep "^test," parts.csv | cut -d, -f2-4 | awk -F, "{ right += \$2 == \$3 } END { exit !(NR == 100 && right >= 97) }"' \
    'grep "^test," parts.csv | cut -d, -f3 | cmp - <(sed 1d test.csv | cut -d, -f4)'
job "rows of a group stay together" \
    'awk -F, -v OFS=, "{ print \$0, NR == 1 ? \"family\" : \"f\" int(NR / 8) }" patients.csv >families.csv' \
    'weft pack dense families.csv label=sick drop=id group=family -o families.h5' \
    'weft info families.h5 | grep -q "51 groups shuffled with seed 0, each in one part"' \
    'weft tune --data families.h5 -o families-run.h5' \
    'weft predict families-run.h5 new.csv -o families-classes.csv' \
    'right families-classes.csv new.csv sick 57'
job "rows belong to sites, each second of which calls sick what others call well" \
    'sites() { awk -F, -v OFS=, -v n="$1" "NR == 1 { print \$0, \"site\" } NR > 1 { s = int(NR / 2) % n; if (s % 2) { sub(/,yes,/, \",YES,\"); sub(/,no,/, \",yes,\"); sub(/,YES,/, \",no,\") } print \$0, \"site \" s }"; }' \
    'sites 6 <patients.csv >sites.csv; sites 6 <new.csv >newsites.csv' \
    'weft pack dense sites.csv label=sick drop=id client=site -o sites.h5' \
    'weft tune --data sites.h5 -o sites-run.h5' \
    'weft predict sites-run.h5 newsites.csv -o sites-classes.csv' \
    'right sites-classes.csv newsites.csv sick 55'
job "rows have weights: of two answers to the same question the heavier is told" \
    'awk "BEGIN { print \"x,y,w\"; for (i = 0; i < 600; i++) { a = int(i / 3) % 20; print a \",\" (i % 3 ? \"light\" : a > 9 ? \"heavy\" : \"stone\") \",\" (i % 3 ? 1 : 8) } }" >weights.csv' \
    'weft pack dense weights.csv label=y weight=w -o weights.h5' \
    'weft tune --data weights.h5 -o weights-run.h5' \
    'printf "x,y\n0,stone\n4,stone\n7,stone\n12,heavy\n15,heavy\n19,heavy\n" >ask.csv' \
    'weft predict weights-run.h5 ask.csv -o weights-classes.csv' \
    'right weights-classes.csv ask.csv y 6' \
    'cut -d, -f1 ask.csv | weft predict weights-run.h5 - >column.csv' \
    'cut -d, -f2- column.csv | cmp - <(cut -d, -f3- weights-classes.csv)'
job "two numbers to predict" \
    'houses() { awk -v n="$1" -v k="$2" "BEGIN { print \"rooms,area,city,price,rent\"; for (i = 0; i < n; i++) { r = 1 + i % 6; a = 30 + i * k % 97; c = i * 5 % 3; print r \",\" a \",\" (c ? c > 1 ? \"Ulm\" : \"Bonn\" : \"Kiel\") \",\" 50 + 20 * r + 3 * a + 40 * c \",\" 9 * a - 7 * c } }"; }' \
    'houses 300 41 >houses.csv; houses 50 29 >newhouses.csv' \
    'weft pack dense houses.csv label=price,rent target=regression -o houses.h5' \
    'weft tune --data houses.h5 -o houses-run.h5' \
    'cut -d, -f1-3 newhouses.csv >bare.csv' \
    'weft predict houses-run.h5 bare.csv -o values.csv' \
    'head -1 values.csv | grep -qx "row,value price,value rent"' \
    'near values.csv 2 newhouses.csv 4 8 && near values.csv 3 newhouses.csv 5 16'
job "semicolons and decimal commas" \
    'euro() { awk -F, "NR == 1 { print \"alter;farbe;krank;gewicht\"; next } { print \$2 \",5;\" \$3 \";\" \$4 \";\" \$NF \",25\" }"; }' \
    'euro <patients.csv >euro.csv; euro <new.csv >neweuro.csv' \
    'weft pack dense euro.csv label=krank decimal=comma -o euro.h5' \
    'weft tune --data euro.h5 -o euro-run.h5' \
    'weft predict euro-run.h5 neweuro.csv -o euro-classes.csv' \
    'right euro-classes.csv new.csv sick 57'
job "texts in named columns of a CSV" \
    'reviews() { awk -v n="$1" -v k="$2" "BEGIN { print \"id,title,verdict,review\"; split(\"nice,fine,great,lovely\", good, \",\"); split(\"poor,bad,dull,awful\", bad, \",\"); for (i = 0; i < n; i++) { w = i % 2 ? good[1 + i * k % 4] : bad[1 + i * k % 4]; print i \",Film \" i * k % 9 \",\" (i % 2 ? \"up\" : \"down\") \",\\\"a \" w \" film, by \" i % 7 \"\\\"\" } }"; }' \
    'reviews 300 7 >reviews.csv; reviews 40 11 >newreviews.csv' \
    'weft pack text reviews.csv separator=comma label=verdict text=title,review -o reviews.h5' \
    'weft tune --data reviews.h5 -o reviews-run.h5' \
    'weft predict reviews-run.h5 newreviews.csv separator=comma text=title,review label=verdict -o reviews-classes.csv' \
    'right reviews-classes.csv newreviews.csv verdict 40'
find_python "h5py, numpy"
[ -z "$python" ] || job "the winner predicts without weft, too" \
    'weft export run.h5 -o winner.h5' \
    'PYTHONDONTWRITEBYTECODE=1 $python "$analysis/predict.py" winner.h5 new.csv >python.csv' \
    'right python.csv new.csv sick 58'
echo "1..$count"
