#!/bin/bash
# The winner of a run on other data: classes and columns are matched by name, and data that
# do not match are refused. Prints TAP.
. tests/tap.sh

# table CLASSES COLUMNS: a CSV file of 300 rows. The class is a function of columns a and b; b is
# large, so that columns cannot change places unseen.
table()
{
    awk -v classes="$1" -v columns="$2" 'BEGIN {
        k = split(classes, name, " "); d = split(columns, column, " ")
        for (j = 1; j <= d; j++) printf "%s,", column[j]
        print "class"
        srand(7)
        for (i = 0; i < 300; i++) {
            c = i % 3
            x["a"] = (c == 1) + 0.2 * rand(); x["b"] = 10 * (c == 2) + rand()
            x["c"] = rand(); x["d"] = rand()
            for (j = 1; j <= d; j++) printf "%.4f,", x[column[j]]
            print name[c + 1]
        }
    }'
}
make() # NAME CLASSES COLUMNS [key=value ...]: packed as NAME.h5
{
    table "$2" "$3" >"$tmp/$1.csv"
    "$weft" pack dense "$tmp/$1.csv" -o "$tmp/$1.h5" "${@:4}" 2>>"$tmp/log"
}
scores() # STATEMENT DATA [RUN]: as on the run's own data
{
    call eval "$tmp/${3:-run}.h5" "$tmp/$2.h5" &&
        grep '^[tv][a-z]* *[0-9]' "$tmp/out" | cmp -s - "$tmp/own"
    result $? "$1"
}
refused() # PATTERN STATEMENT DATA [RUN]: with one line, on two ranks
{
    refuses 4 "$1" "$2" on 2 eval "$tmp/${4:-run}.h5" "$tmp/$3.h5"
}
own() # [RUN]: what the run has on its own data
{
    call eval "$tmp/${1:-run}.h5" "$tmp/own.h5"
    grep '^[tv][a-z]* *[0-9]' "$tmp/out" >"$tmp/own"
}

# ---- rows -------------------------------------------------------------------------------

make own "cat dog eel" "a b c"
printf '[run]\ndata = %s\n[rff]\nfeatures = 128\ngamma = 0.5\npreprocess = minmax\n' "$tmp/own.h5" >"$tmp/in.ini"
"$weft" tune "$tmp/in.ini" -o "$tmp/run.h5" >"$tmp/out" 2>>"$tmp/log"
result $? "a map of rows is fitted"
"$weft" export "$tmp/run.h5" >>"$tmp/out" 2>>"$tmp/log"
result $? "its winner is exported"
own
check "which it has learnt" awk '$1 == "test" { exit !($4 < 5) }' "$tmp/own"
scores "an exported winner has the same scores" own run-winner
sed 's/cat/zebra/' "$tmp/own.csv" >"$tmp/zebra.csv"
"$weft" pack dense "$tmp/zebra.csv" -o "$tmp/zebra.h5" 2>"$tmp/log"
refused "has the class 'zebra', which .*run.h5 does not know; its classes are cat, dog, eel" \
    "a class that is not known, and would move all others" zebra
refused "has the class 'zebra'" "nor to the exported winner" zebra run-winner
for c in c,b,a b,a,c; do
    make swapped "cat dog eel" "$(echo $c | tr , ' ')"
    scores "columns in the order $c" swapped
done
make lacks "cat dog eel" "a b d"
refused "has no column 'c', which .*run.h5 was trained on; its columns are a, b, d" "a column of another name" lacks
make more "cat dog eel" "a b c d"
refused 'has 4 columns, but .*run.h5 was trained on 3' "a column more" more
make fewer "cat dog eel" "a b"
refused 'has 2 columns' "a column less" fewer
sed 1d "$tmp/own.csv" >"$tmp/bare.csv"
"$weft" pack dense "$tmp/bare.csv" -o "$tmp/bare.h5" 2>"$tmp/log"
scores "columns without names are taken in their order" bare
check "with a warning" grep -q 'bare.h5 has no names of columns' "$tmp/log"
grep -v ',cat$' "$tmp/own.csv" >"$tmp/subset.csv"
"$weft" pack dense "$tmp/subset.csv" -o "$tmp/subset.h5" 2>"$tmp/log"
call eval "$tmp/run.h5" "$tmp/subset.h5" &&
    awk '$1 == "train" { n = $2; e = $4 } END { exit !(n == 160 && e < 5) }' "$tmp/out"
result $? "some of the classes are told by their names"
sed 's/a,b,c,class/a,b,a,class/' "$tmp/own.csv" >"$tmp/twice.csv"
call pack dense "$tmp/twice.csv" -o "$tmp/twice.h5" &&
    grep -q "names of columns are not kept: 'a' occurs twice" "$tmp/log"
result $? "names that occur twice are not kept"
# Times, of which floats of 32 bits hold none of these: class 1 from 1700000150 on.
times() # FILE TIME ...
{
    file=$1
    shift
    echo "t,y" >"$tmp/$file.csv"
    for t; do echo "$t,$((t >= 1700000150))"; done >>"$tmp/$file.csv"
    call pack dense "$tmp/$file.csv" -o "$tmp/$file.h5"
}
times stamps $(seq 1700000000 1700000299)
check "a column of times is stored shifted, and told" grep -q "column 't' is stored as (x - 17000001" "$tmp/log"
"$weft" info "$tmp/stamps.h5" >"$tmp/out" 2>>"$tmp/log" && grep -q "column t is 17000001[0-9.]* + 256 x" "$tmp/out"
result $? "by weft info, too"
printf '[run]\ndata = %s\n[rff]\nfeatures = 128\ngamma = 0.3 .. 3\npreprocess = none\n[space]\nconfigs = 4\n' \
    "$tmp/stamps.h5" >"$tmp/in.ini"
call tune "$tmp/in.ini" -o "$tmp/stamped.h5" &&
    "$weft" export "$tmp/stamped.h5" >>"$tmp/out" 2>>"$tmp/log" &&
    "$weft" eval "$tmp/stamped.h5" "$tmp/stamps.h5" >"$tmp/out" 2>>"$tmp/log" &&
    awk '$1 == "train" { exit !($4 < 2) }' "$tmp/out"
result $? "times learnt as they are tell classes apart"
times moments 1700000100 1700000100 1700000100 1700000100 1700000100 1700000200 1700000200 1700000200 1700000200 1700000200
for run in stamped stamped-winner; do
    call eval "$tmp/$run.h5" "$tmp/moments.h5" &&
        awk '$1 == "train" { n = 1; exit !($4 == 0) } END { exit !n }' "$tmp/out"
    result $? "also those of a file of two times (${run%.*})"
done
times gaps 0 $(seq 1700000000 1700000299)
grep -q "29[0-9] of the first 301 different numbers in column 't' become equal" "$tmp/log"
result $? "times among zeros, which no shift tells apart, are warned of"
"$weft" pack synthetic images rows=600 -o "$tmp/bytes.h5" 2>"$tmp/log"
refused 'holds bytes, but .* trained on rows of numbers' "bytes for numbers" bytes
"$weft" pack synthetic documents rows=600 -o "$tmp/doc.h5" 2>"$tmp/log"
refused 'holds documents, but .* trained on rows of numbers' "documents for numbers" doc

# ---- documents --------------------------------------------------------------------------

awk 'BEGIN {
    for (i = 0; i < 300; i++) {
        c = i % 3
        print (c == 0 ? "bad" : c == 1 ? "good" : "so-so") "\t" (c == 0 ? "poor" : c == 1 ? "fine" : "fair") " word" i % 7
    }
}' >"$tmp/own.tsv"
rm "$tmp/own.h5"
"$weft" pack text "$tmp/own.tsv" -o "$tmp/own.h5" 2>"$tmp/log"
printf '[run]\ndata = %s\n[fmap]\nfeature = ngram\n[ngram]\nbins = 1024\n' "$tmp/own.h5" >"$tmp/in.ini"
"$weft" tune "$tmp/in.ini" -o "$tmp/text.h5" >"$tmp/out" 2>>"$tmp/log"
result $? "a map of documents is fitted"
{ seq 1 400 | sed 's/^/good	rather fine new/'; grep good "$tmp/own.tsv"; grep so-so "$tmp/own.tsv"; } >"$tmp/words.tsv"
"$weft" pack text "$tmp/words.tsv" -o "$tmp/words.h5" 2>"$tmp/log"
call eval "$tmp/text.h5" "$tmp/words.h5" &&
    awk '$1 == "train" { exit !($4 < 1) }' "$tmp/out"
result $? "other words and fewer classes: tokens and classes are told by what they are"
company() # NAME TRAINING: the documents of words.tsv are the test part beside other training ones
{
    "$weft" pack text "$tmp/$2.tsv" valid_file="$tmp/own.tsv" test_file="$tmp/words.tsv" -o "$tmp/$1.h5" 2>>"$tmp/log"
}
sed 's/fine/the very best/; s/ / and was not /2' "$tmp/own.tsv" | tail -30 >"$tmp/few.tsv"
company full own
company scanty few
for columns in bins vocabulary; do
    call tune "$tmp/in.ini" run.data="$tmp/full.h5" ngram.columns=$columns ngram.stop=yes ngram.weights=tfidf ngram.order=2 -o "$tmp/$columns.h5"
    for data in full scanty; do
        "$weft" eval "$tmp/$columns.h5" "$tmp/$data.h5" 2>>"$tmp/log" | grep '^test' >"$tmp/$data"
    done
    grep -q ' 600 ' "$tmp/full" && cmp -s "$tmp/full" "$tmp/scanty"
    result $? "documents have the same scores beside other ones: columns = $columns"
done
sed 's/^bad/awful/' "$tmp/own.tsv" >"$tmp/awful.tsv"
"$weft" pack text "$tmp/awful.tsv" -o "$tmp/awful.h5" 2>"$tmp/log"
refused "has the class 'awful'.* bad, good, so-so" "a class that is not known" awful text

# ---- federations ------------------------------------------------------------------------

rm "$tmp"/own.*
make own "cat dog eel" "a b c" clients=10
printf '[run]\ntask = fed\ndata = %s\n[client]\nlr = 0.1\n' "$tmp/own.h5" >"$tmp/in.ini"
"$weft" tune "$tmp/in.ini" -o "$tmp/fed.h5" random.resource=20 >"$tmp/out" 2>>"$tmp/log"
result $? "a network is trained on clients"
own fed
make moved "cat dog eel" "b c a" clients=10
scores "columns in another order" moved fed
make animals "aal cat eel" "a b c" clients=10
refused "has the class 'aal'" "a class that is not known" animals fed
awk -F, -v OFS=, 'NR == 1 || $4 != "cat"' "$tmp/own.csv" >"$tmp/part.csv"
"$weft" pack dense "$tmp/part.csv" -o "$tmp/part.h5" clients=10 2>"$tmp/log"
call eval "$tmp/fed.h5" "$tmp/part.h5" &&
    awk '$1 == "train" { exit !($4 < 30) }' "$tmp/out"
result $? "some of the classes are told by their names"
for shape in 1x4x4 4x2x2; do
    awk -v OFS=, 'BEGIN { srand(3); for (i = 0; i < 200; i++) { for (j = 0; j < 16; j++) printf "%.3f,", rand(); print i % 2 } }' >"$tmp/pixels.csv"
    "$weft" pack dense "$tmp/pixels.csv" -o "$tmp/$shape.h5" clients=10 shape=$shape 2>"$tmp/log"
done
call tune "$tmp/in.ini" run.data="$tmp/1x4x4.h5" -o "$tmp/image.h5" random.resource=2
refused 'has images of 4 x 2 x 2, but .* 1 x 4 x 4' "images of another shape" 4x2x2 image
plays() # NAME LINE OPTIONS: six roles speak LINE
{
    awk -v line="$2" 'BEGIN { print "Contents\n\nTHE SONNETS\n\nby William Shakespeare\n\n\n\n\n\n\n1599\n\nTHE PLAY\n\nby William Shakespeare\n"
        for (i = 0; i < 240; i++) print (i % 8 ? "    " : "  ROLE " substr("ABCDEF", i / 8 % 6 + 1, 1) ". ") line
        print "*** END OF THIS PROJECT GUTENBERG EBOOK ***" }' >"$tmp/plays.txt"
    name=$1
    shift 2
    "$weft" pack shakespeare "$tmp/plays.txt" stride=5 "$@" -o "$tmp/$name.h5" 2>>"$tmp/log"
}
rain="the rain it raineth every day with hey ho."
rm "$tmp"/own.*
plays own "$rain" length=20
plays few "hey ho, hey ho; a rat!" length=20
plays longer "$rain" length=30
call tune "$tmp/in.ini" fed.model=lstm lstm.hidden=8 fed.cohort=3 -o "$tmp/chars.h5" random.resource=2 &&
    "$weft" export "$tmp/chars.h5" >"$tmp/out" 2>>"$tmp/log"
result $? "a network is trained on text"
own chars
scores "an exported winner has the same scores" own chars-winner
call eval "$tmp/chars.h5" "$tmp/few.h5" &&
    awk '$1 == "test" { n = $2; e = $4 } END { exit !(n > 0 && e > 0) }' "$tmp/out"
result $? "text of other and fewer characters has the same alphabet"
refused 'longer.h5 has windows of 30 characters, but .* 20; pack it with length=20' "windows of another length" longer chars

# ---- networks that learn vectors of words --------------------------------------------------

documents() # N SEED STEM [STEM]: lines of eight words; a tenth of them are of the second stem
{
    awk -v n="$1" -v seed="$2" -v stem="$3" -v odd="${4:-$3}" 'BEGIN { srand(seed); for (i = 0; i < n; i++) { printf "%d", i % 2
        for (k = 0; k < 8; k++) printf " %s%d", (rand() < 0.1 ? odd : stem), int(20 * rand()) + 20 * (i % 2); print "" } }'
}
words() # NAME TEST: packed as NAME.h5, with the test part TEST.txt
{
    "$weft" pack text "$tmp/train.txt" separator=blank valid_file="$tmp/valid.txt" test_file="$tmp/$2.txt" clients=5 -o "$tmp/$1.h5" 2>>"$tmp/log"
}
unknown() # PATTERN STATEMENT RUN DATA: what eval says of words, the same on three ranks
{
    call eval "$tmp/$3.h5" "$tmp/$4.h5" &&
        timeout "$net" mpirun -n 3 "$weft" eval "$tmp/$3.h5" "$tmp/$4.h5" 2>>"$tmp/log" | cmp -s - "$tmp/out" &&
        [ "$(grep unknown "$tmp/out" | grep -cEx "$1, are unknown to the winner: they have initial vectors, from the file of vectors or drawn")" = 1 ]
    result $? "$2"
}
rm "$tmp"/own.*
documents 200 1 alpha >"$tmp/train.txt"
documents 40 2 alpha >"$tmp/valid.txt"
documents 40 3 alpha >"$tmp/plain.txt"
documents 40 4 alpha odd >"$tmp/odd.txt"
documents 200 5 beta >"$tmp/beta.txt"
words own plain
words whole odd
"$weft" pack text "$tmp/beta.txt" separator=blank test_file="$tmp/odd.txt" clients=5 -o "$tmp/others.h5" 2>>"$tmp/log"
small="txtcnn.f1=3 txtcnn.f2=3 txtcnn.f3=3"
printf '[run]\ndata = %s\ntuner = random\n[random]\nresource = 2\n' "$tmp/own.h5" >"$tmp/in.ini"
for more in "run.task=sgd sgd.model=txtcnn sgd.dim=8" "run.task=fed fed.model=txtcnn fed.dim=8 fed.cohort=3"; do
    # shellcheck disable=SC2086
    call tune "$tmp/in.ini" $more $small txtcnn.channels=nonstatic -o "$tmp/vectors.h5" --force &&
        "$weft" export "$tmp/vectors.h5" --force >"$tmp/out" 2>>"$tmp/log"
    result $? "vectors of words are trained: $more"
    own vectors
    scores "an exported winner has the same scores" own vectors-winner
    unknown "[0-9]+ of [0-9]+ words, [1-9][0-9.]* % of the tokens" "strange words are counted" vectors others
    awk '/^test/ { print $2, $3, $4 }' "$tmp/out" >"$tmp/strange"
    unknown "[0-9]+ of [0-9]+ words, 1\.[0-9] % of the tokens" "and among few documents that have some" vectors-winner whole
    awk '/^test/ { print $2, $3, $4 }' "$tmp/out" | cmp -s - "$tmp/strange"
    result $? "where the same documents have the same scores"
    # shellcheck disable=SC2086
    call tune "$tmp/in.ini" $more $small txtcnn.channels=static -o "$tmp/still.h5" --force &&
        "$weft" eval "$tmp/still.h5" "$tmp/others.h5" >"$tmp/out" 2>>"$tmp/log" &&
        ! grep -q unknown "$tmp/out"
    result $? "vectors that are not trained are those of any words"
done
# Words of the test part alone are not trained: whether the winner has them makes no difference.
for data in whole own; do
    # shellcheck disable=SC2086
    call tune "$tmp/in.ini" run.data="$tmp/$data.h5" run.task=sgd sgd.model=txtcnn sgd.dim=8 $small txtcnn.channels=nonstatic -o "$tmp/$data-run.h5"
    result $? "a network is trained on $data"
done
"$weft" eval "$tmp/whole-run.h5" "$tmp/whole.h5" 2>"$tmp/log" | grep '^[tv][a-z]* *[0-9]' >"$tmp/own"
scores "words that the winner does not know are as ones that its training did not meet" whole own-run
echo "1..$count"
