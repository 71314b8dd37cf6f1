#!/bin/bash
# Labelled texts as people have them: what is read, what is told, and the one line that refuses
# the rest. Prints TAP.
. tests/tap.sh

# packed STATEMENT ARGUMENT...: of weft pack, which ends well.
packed()
{
    call pack "${@:2}" -o "$tmp/x.h5" --force && "$weft" info "$tmp/x.h5" >"$tmp/out" 2>>"$tmp/log"
    result $? "$1"
}

# classes "A B ..." STATEMENT: those are the classes of what was packed last.
classes()
{
    [ "$(sed -n '/^class /,/^all /s/^\(.*[^ ]\)  *[0-9][0-9]*  *[0-9][0-9]*  *[0-9][0-9]*$/\1/p' "$tmp/out" |
        sed '$d' | tr '\n' ' ')" = "$1 " ]
    result $? "$2"
}

# told PATTERN STATEMENT: one warning, which matches.
told()
{
    [ "$(grep -c "warning: $tmp" "$tmp/log")" = 1 ] && grep -Eq -e "warning: $tmp.*($1)" "$tmp/log"
    result $? "$2"
}

# silent STATEMENT: no warning.
silent()
{
    ! grep -q "warning: $tmp" "$tmp/log"
    result $? "$1"
}

# refused PATTERN STATEMENT ARGUMENT...: of weft pack, by one line.
refused()
{
    refuses "[1-9]" "$1" "$2" call pack "${@:3}" -o "$tmp/r.h5" --force
}

# lines A B N: 2 N lines of texts, of the classes A and B in turn.
lines()
{
    awk -v a="$1" -v b="$2" -v n="$3" \
        'BEGIN { for (i = 0; i < n; i++) printf "%s\tpoor film %d\n%s\tgood play %d\n", a, i, b, i }'
}

# ---- files that are no text -------------------------------------------------------------

# kind BYTES PATTERN [DAMAGED]: for the readers of texts and of numbers, which reads the last of
# these, and is told that they are cut short.
kind()
{
    # shellcheck disable=SC2059
    printf "$1" >"$tmp/other"
    refused "other is .*$2" "text is told what kind of file it gets: $2" text "$tmp/other"
    refused "${3:-other is .*$2}" "so is dense: ${3:-$2}" dense "$tmp/other"
}
printf '\037\213\010\010' >"$tmp/other"
for reader in text dense; do
    refused "other cannot be decompressed: it is cut short" "$reader is told of a damaged gzip file" \
        $reader "$tmp/other"
done
kind 'BZh91AY&SY\300' 'bzip2 .*; unpack it by bunzip2'
kind '\3757zXZ\000' 'xz .*; unpack it by unxz'
kind '\050\265\057\375' 'zstd .*; unpack it by unzstd'
kind 'PK\003\004\024' 'zip archive .*; unpack it, or, of NumPy, .*toh5.py F.npz'
kind '\211HDF\r\n\032\n' 'HDF5 .*; .* by run.data' 'cannot open .*other'
kind '\223NUMPY\001' 'NumPy .*; .*toh5.py X.npy'
kind 'FEA1....' 'Feather .*; .*to_csv'
kind '\320\317\021\340\241\261\032\341' 'Excel .*; .*totable.py'
kind '<stata_dta><header>' 'Stata .*; .*totable.py'
kind '$FL2@(#) SPSS' 'SPSS .*; write it as text'
kind 'MATLAB 5.0 MAT-file, ' 'MATLAB .*; write it as text'
kind 'MATLAB 7.3 MAT-file, ' 'MATLAB 7.3 .*; its arrays lie transposed: .*toh5.py X.npy'
kind '\211PNG\r\n\032\n' 'an image .PNG. .*; images are arrays here: .*toh5.py X.npy'
kind '\377\330\377\340' 'an image .JPEG. .*; images are arrays here: .*toh5.py X.npy'
kind '\200\004\225' 'pickle .*; .*to_csv'
kind 'PAR1\025\004' 'Parquet .*; .*to_csv'
kind '\377\376a\000\t\000' 'UTF-16 .*; .*iconv'
lines 'BZh91' b 20 >"$tmp/word.tsv"
packed "but a text may begin as a compressed file does" text "$tmp/word.tsv"

printf 'a\tx\nb\000\ty\n' >"$tmp/nul.tsv"
refused 'nul.tsv: line 2 has a NUL byte in its label' "a NUL in a label is refused" text "$tmp/nul.tsv"
printf 'a\tx\nb\ty\000z\n' >"$tmp/nul.tsv"
refused 'nul.tsv:2: byte 1 is NUL' "so is one in a text" text "$tmp/nul.tsv" valid=0 test=0

# ---- classes as they are written ----------------------------------------------------------

lines 01 1 30 >"$tmp/c.tsv"
packed "01 and 1" text "$tmp/c.tsv"
classes "01 1" "are two classes"
told ": classes '01' and '1' are kept apart" "which is told"
lines 1E2 100 30 >"$tmp/c.tsv"
packed "1E2 and 100" text "$tmp/c.tsv"
told "classes '100' and '1E2' are kept apart" "are kept apart, too"
{ lines Pos pos 30 && lines 'po s' Neg 30; } >"$tmp/c.tsv"
packed "case and blanks" text "$tmp/c.tsv"
classes "Neg Pos po s pos" "make classes"
told "classes 'Pos' and 'po s' \(and 1 more\) are kept apart" "which is told once"
{ echo who,y,say && awk 'BEGIN { for (i = 0; i < 60; i++) print (i % 2 ? "caf\303\251" : "cafe\314\201") "," i % 3 ",word" i % 5 }'; } >"$tmp/c.csv"
packed "accents in two forms" text "$tmp/c.csv" separator=comma label=y text=say client=who
told "clients 'cafe.*' and 'caf.*' are kept apart" "are two clients, which is told"
{ lines pos neg 30 && lines NA pos 8; } >"$tmp/c.tsv"
packed "a label that is missing" text "$tmp/c.tsv"
told "the class 'NA' may be a label that is missing; if so, remove its rows" "may be meant, which is told"
printf '\tno label\n' >>"$tmp/c.tsv"
refused 'c.tsv: line [0-9]* has no label; give one, or remove the line' "a line without a label" text "$tmp/c.tsv"
lines 1 2 30 >"$tmp/c.tsv"
packed "other names" text "$tmp/c.tsv"
silent "are no matter"

# ---- headers ----------------------------------------------------------------------------

{ printf 'label\ttext\n' && lines neg pos 30; } >"$tmp/h.tsv"
packed "a line of names" text "$tmp/h.tsv"
classes "neg pos" "is no class"
told ": its first line is taken as a header, .* 'label'; header = no" "which is told"
{ cat "$tmp/h.tsv" && printf 'neg\tpoor film\n%.0s' 1 2 3 4 5 6; } >"$tmp/more.tsv"
packed "with classes of unlike size" text "$tmp/more.tsv"
check "the others keep their texts" [ "$(awk '$1 == "neg" { print $2 + $3 + $4 }' "$tmp/out")" = 36 ]
packed "by header = yes" text "$tmp/h.tsv" header=yes
silent "without a word"
packed "by header = no" text "$tmp/h.tsv" header=no
classes "label neg pos" "it is one"
packed "files of parts" text "$tmp/h.tsv" valid_file="$tmp/h.tsv" test_file="$tmp/h.tsv"
classes "neg pos" "have headers of their own"
check "each is told" [ "$(grep -c 'warning: .*is taken as a header' "$tmp/log")" = 3 ]
check "each part has its own lines" grep -q '^all  *60  *60  *60$' "$tmp/out"
packed "a file of the test" text "$tmp/h.tsv" test_file="$tmp/h.tsv"
check "leaves validation its share of the other" grep -q '^all  *54  *6  *60$' "$tmp/out"
{ printf 'odd\tgood film\n' && lines neg pos 9 && printf 'ill\tpoor film\nbare\tno film\n'; } >"$tmp/h.tsv"
refused '3 of 5 labels stand in one line only' "a first line is no header where most labels are so" text "$tmp/h.tsv"
lines neg pos 30 >"$tmp/h.tsv"
sed '4s/^/\n/; 9s/^/\n/' "$tmp/h.tsv" >"$tmp/gaps.tsv"
packed "blank lines" text "$tmp/gaps.tsv" valid=0.5 test=0
check "are no texts" grep -q '^all  *30  *30  *0$' "$tmp/out"
{ lines neg pos 30 && printf 'odd\tgood film\n'; } >"$tmp/h.tsv"
packed "a class of one line" text "$tmp/h.tsv" valid=0.05 test=0
classes "neg odd pos" "that is not the first stays"
silent "without a word"
mkdir "$tmp/d"
for class in neg pos posh; do lines a a 15 >"$tmp/d/$class"; done
packed "only some files of classes" folder "$tmp/d" documents=lines valid=0.5 test=0 classes=neg,pos
classes "neg pos" "leave out one whose name begins alike"

# ---- where the label stands ---------------------------------------------------------------

lines neg pos 30 | awk -F'\t' '{ print $2 "\t" $1 }' >"$tmp/last.tsv"
refused "last.tsv: 60 of 60 labels stand in one line only, .*; label = last " \
    "texts before their labels are seen" text "$tmp/last.tsv"
packed "and read" text "$tmp/last.tsv" label=last
classes "neg pos" "by label = last"
{ printf 'id\tgrade\ttext\n' && lines neg pos 30 | awk '{ print NR "\t" $0 }'; } >"$tmp/mid.tsv"
packed "a column by its name" text "$tmp/mid.tsv" label=grade
classes "neg pos" "is the label"
check "which is told" grep -q 'mid.tsv: the label is column 2, grade; the others are the text' "$tmp/log"
packed "so is one by its number" text "$tmp/mid.tsv" label=2
classes "neg pos" "of which the header is none"
refused 'label = grads names no column of .*mid.tsv; give first, last, a number' \
    "another name is refused" text "$tmp/mid.tsv" label=grads
refused 'label = 0 names no column' "there is no column 0" text "$tmp/mid.tsv" label=0
refused 'label = -9223372036854775808 names no column' \
    "and so is the least of all numbers" text "$tmp/mid.tsv" label=-9223372036854775808
refused "text = grade is the column of the label" "a label is no text" text "$tmp/mid.tsv" label=grade text=grade
sed '5s/$/\tmore/' "$tmp/mid.tsv" >"$tmp/bad.tsv"
refused 'bad.tsv: line 5 has 4 columns where the first has 3' "a tab too many is told" text "$tmp/bad.tsv" label=grade text=text
lines neg pos 30 | awk -F'\t' '{ print "one" NR "\t" $1 "\t" $2 }' >"$tmp/between.tsv"
packed "a label between two columns" text "$tmp/between.tsv" label=2
check "leaves both as the text" [ "$(awk '$1 == "remove" { print $2 + $3 + $4 }' "$tmp/out")" = 240 ]
awk -F'\t' 'NR == 1 { print "3\t1\tgrade" } NR > 1 { print $1 "\t" $3 "\t" $2 }' "$tmp/mid.tsv" >"$tmp/named.tsv"
packed "names that are numbers" text "$tmp/named.tsv" label=grade text=1
check "win over places" grep -q 'named.tsv: the label is column 3, grade; the text is column 2, 1$' "$tmp/log"
awk -F'\t' 'NR == 1 { print "who\tgrade\ttext" } NR > 1 { print "who" NR % 4 "\t" $2 "\t" $3 }' "$tmp/mid.tsv" >"$tmp/who.tsv"
packed "texts of clients" text "$tmp/who.tsv" label=grade client=who
check "do not have their names" [ "$(awk '$1 == "remove" { print $2 + $3 + $4 }' "$tmp/out")" = 180 ]
sed '7s/^who[0-9]*//' "$tmp/who.tsv" >"$tmp/bad.tsv"
refused 'bad.tsv: line 7 has no client' "one of nobody is refused" text "$tmp/bad.tsv" label=grade client=who
{ lines neg pos 30 && printf 'gr\374n\tsch\366n\n%.0s' 1 2 3; } >"$tmp/odd.tsv"
packed "a label that is not UTF-8, beside a text" text "$tmp/odd.tsv" valid=0.5 test=0
check "is taken as Windows-1252, too" grep -q "^$(printf 'gr\303\274n')  *[123] " "$tmp/out"
lines __label__neg __label__pos 30 | tr '\t' ' ' >"$tmp/ft.txt"
refused 'ft.txt: line 1 has no TAB .*; files of fastText are read by separator = blank' \
    "a file of fastText is known" text "$tmp/ft.txt"
packed "and read" text "$tmp/ft.txt" separator=blank
classes "__label__neg __label__pos" "label by label"
sed 's/ / __label__b /' "$tmp/ft.txt" >"$tmp/ft2.txt"
refused 'ft2.txt: line 1 has two labels, __label__neg and __label__b' "but not two of a text" \
    text "$tmp/ft2.txt" separator=blank

# ---- CSV ----------------------------------------------------------------------------------

lines 1 2 30 | awk -F'\t' '{ printf "\"%s\",\"Title, %d\",\"%s\nhe said \"\"no\"\"\"\r\n", $1, NR, $2 }' \
    >"$tmp/news.csv"
refused 'news.csv: line 1 has no TAB .*; CSV is read by separator = comma' "CSV is known" \
    text "$tmp/news.csv"
refused 'news.csv: line 1 has the label "1","Title, with an odd .*separator = comma' \
    "whatever separator is tried" text "$tmp/news.csv" separator=blank
refused "news.csv: no column is left to learn from; nearly each row has texts of its own in 'Title, [0-9]*', .*weft pack text" \
    "so as numbers" dense "$tmp/news.csv" label=first
packed "and read" text "$tmp/news.csv" separator=comma
classes "1 2" "the label first"
check "and all other columns as text" grep -q '^remove  *384  *48  *48 ' "$tmp/out"
{ echo 'review,sentiment' && lines neg pos 30 | awk -F'\t' '{ print "\"" $2 ", or not\"," $1 }'; } \
    >"$tmp/imdb.csv"
packed "a label by its name" text "$tmp/imdb.csv" separator=comma label=sentiment
classes "neg pos" "in a column behind"
silent "is read without a warning"
sed '5s/^"/""/' "$tmp/imdb.csv" >"$tmp/bad.csv"
refused 'bad.csv: line 5 has' "a quotation mark too many is found" \
    text "$tmp/bad.csv" separator=comma label=last
sed '7s/"//g' "$tmp/imdb.csv" >"$tmp/bad.csv"
refused 'bad.csv: line 7 has 3 columns where the first has 2; .*quotation marks' \
    "a separator too many, too" text "$tmp/bad.csv" separator=comma label=last
sed '7s/",/,/' "$tmp/imdb.csv" >"$tmp/bad.csv"
refused 'bad.csv: line 7 has a quotation mark' "and one that nothing closes" \
    text "$tmp/bad.csv" separator=comma label=last
refused 'h.tsv: line 1 has 1 column where label = first and a text' "lines without a comma are none" \
    text "$tmp/h.tsv" separator=comma

# ---- vocabularies without words -----------------------------------------------------------

# tuned ARGUMENT...: of weft tune, with what it says in $tmp/log; the status in $status.
tuned()
{
    call tune "$@" -o "$tmp/run.h5" --force
    status=$?
}

# stopped PATTERN STATEMENT: that was one line, which matches.
stopped()
{
    refusal $status 4 "$1" "$2"
}

cat >"$tmp/map.ini" <<END
[run]
tuner = random
seed = 1
[space]
configs = 1
[fmap]
feature = ngram
END
awk 'BEGIN { for (i = 0; i < 60; i++) print i % 2 "\t" (i % 2 ? "the of and" : "is was a") }' >"$tmp/stop.tsv"
packed "stop words alone" text "$tmp/stop.tsv"
mv "$tmp/x.h5" "$tmp/stop.h5"
tuned "$tmp/map.ini" run.data="$tmp/stop.h5" ngram.stop=yes
stopped 'configuration 0 .*no n-gram in any of its 48 training documents .*ngram.stop = yes.*change' \
    "leave no feature without them: refused"
tuned "$tmp/map.ini" run.data="$tmp/stop.h5" ngram.columns=vocabulary ngram.bins=64 ngram.min_count=500
stopped 'no n-gram .*ngram.min_count = 500' "nor does a large min_count"
for tuner in random ws_sha; do
    tuned "$tmp/map.ini" run.data="$tmp/stop.h5" 'ngram.stop=yes|no' space.configs=8 run.tuner=$tuner
    [ $status = 0 ] && grep -q '^winner .*ngram.stop=false' "$tmp/out"
    result $? "$tuner: where some configurations are so another wins"
    [ "$(grep -c 'warning: configuration [0-9]* of feature ngram leaves no n-gram .*ngram.stop = yes' "$tmp/log")" = 1 ]
    result $? "$tuner: one warning tells of them"
done
cat >"$tmp/net.ini" <<END
[run]
tuner = random
seed = 1
[space]
configs = 1
[random]
resource = 2
[txtcnn]
groups = 1
f1 = 5
k1 = 3
END
sgd="run.task=sgd sgd.model=txtcnn sgd.dim=4 train.lr=0.1 train.batch=10"
fed="run.task=fed fed.model=txtcnn fed.dim=4 client.lr=0.1 fed.cohort=2"
awk 'BEGIN { for (i = 0; i < 60; i++) print i % 2 "\t..." }' >"$tmp/dots.tsv"
awk 'BEGIN { for (i = 0; i < 60; i++) print i % 2 "\t" (i % 15 ? "" : "good film") }' >"$tmp/few.tsv"
packed "punctuation alone" text "$tmp/dots.tsv"
mv "$tmp/x.h5" "$tmp/dots.h5"
packed "so for clients" text "$tmp/dots.tsv" clients=4
mv "$tmp/x.h5" "$tmp/dealt.h5"
# shellcheck disable=SC2086
tuned "$tmp/net.ini" run.data="$tmp/dots.h5" $sgd sgd.tokenizer=kim
stopped 'dots.h5: no document has a word by tokenizer = kim' "leaves a network no word: refused"
# shellcheck disable=SC2086
tuned "$tmp/net.ini" run.data="$tmp/dealt.h5" $fed fed.tokenizer=remove
stopped 'dealt.h5: no document has a word by tokenizer = remove' "nor clients"
for channels in static nonstatic multi; do
    packed "few documents with words" text "$tmp/few.tsv"
    # shellcheck disable=SC2086
    tuned "$tmp/net.ini" run.data="$tmp/x.h5" $sgd txtcnn.channels=$channels
    check "$channels: batches of documents without a word are trained on" [ $status = 0 ]
    packed "and so for clients" text "$tmp/few.tsv" clients=4
    # shellcheck disable=SC2086
    tuned "$tmp/net.ini" run.data="$tmp/x.h5" $fed txtcnn.channels=$channels
    check "$channels: and by clients" [ $status = 0 ]
done

echo "1..$count"
