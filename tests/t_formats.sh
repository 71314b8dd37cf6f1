#!/bin/bash
# Files as other programs write them: separators, standard input. Prints TAP.
. tests/tap.sh
find_python "h5py, numpy"

packs() # READER SOURCE [key=value ...]: $tmp/t.h5, with what weft info says of it in $tmp/out
{
    rm -f "$tmp/t.h5"
    "$weft" pack "$1" "$2" -o "$tmp/t.h5" "${@:3}" >"$tmp/out" 2>"$tmp/log" &&
        "$weft" info "$tmp/t.h5" 2>&1 | tr -s ' \n' ' ' >"$tmp/out"
}
reads() # STATEMENT TEXT READER SOURCE [key=value ...]: packed, and weft info has the text
{
    packs "${@:3}" && grep -Eq -e "$2" "$tmp/out"
    result $? "$1"
}
told() # STATEMENT PATTERN: by the last pack
{
    grep -Eq -e "$2" "$tmp/log"
    result $? "$1"
}
refused() # STATEMENT PATTERN READER SOURCE [key=value ...]: by one line
{
    packs "${@:3}"
    status=$?
    [ $status -gt 0 ] && [ $status -lt 5 ] && [ "$(grep -c "^weft: " "$tmp/log")" = 1 ] &&
        grep -Eq -e "^weft: .*$2" "$tmp/log"
    result $? "$1"
}
same() # STATEMENT: the digest of the last pack is $want
{
    [ "$(sed 's/.* digest \([0-9a-f]*\) .*/\1/' "$tmp/out")" = "$want" ]
    result $? "$1"
}
digest_of() # READER SOURCE [key=value ...]: of what it packs, to $want
{
    packs "$@" && want=$(sed 's/.* digest \([0-9a-f]*\) .*/\1/' "$tmp/out")
}

# ---- separators --------------------------------------------------------------------------

awk 'BEGIN { for (i = 0; i < 90; i++) print i / 8 ", " i * 1e-3 "," (i % 4 ? "red" : "") ",-" i "e2," (i % 3 ? "y 1" : "no") }' \
    >"$tmp/t.csv"
digest_of dense "$tmp/t.csv"
for separator in ';' '	' '|'; do
    tr , "$separator" <"$tmp/t.csv" >"$tmp/s.csv"
    reads "columns between '$separator'" "90 rows" dense "$tmp/s.csv"
    same "have the numbers of those between commas"
done
tr , ';' <"$tmp/t.csv" | tr . , >"$tmp/s.csv"
reads "decimal commas" "90 rows" dense "$tmp/s.csv" decimal=comma
same "are the numbers of points"

awk 'BEGIN { for (i = 0; i < 60; i++) print i / 8 " 1:" i " 3:" i % 5 }' >"$tmp/t.svm"
reads "libsvm's numbers to predict are shown" \
    "sample 3 numbers target label, [0-9.]+ \+- [0-9.]+ in the training rows rows 48 train, 6 valid, 6 test" \
    dense "$tmp/t.svm"

# ---- standard input -----------------------------------------------------------------------

awk 'BEGIN { print "a,b,y"; for (i = 0; i < 60; i++) print 1e9 + i / 8 "," i % 7 "," (i % 3 ? "yes" : "no") }' \
    CONVFMT=%.17g OFMT=%.17g >"$tmp/t.csv"
digest_of dense "$tmp/t.csv"
told "a table that is read twice" "column 'a' is stored as"
reads "comes by standard input, too" "source /dev/stdin .* 60 rows" dense - < <(cat "$tmp/t.csv")
same "a pipe has the rows of the file"
reads "a pipe may be compressed" "60 rows" dense - < <(gzip <"$tmp/t.csv")
same "to the same rows"
reads "standard input may be a file" "60 rows" dense - <"$tmp/t.csv"
same "with its rows, whatever was read of it"
awk 'BEGIN { for (i = 0; i < 60; i++) print i % 2 "\t" "film " i }' >"$tmp/t.tsv"
digest_of text "$tmp/t.tsv"
reads "texts come by a pipe" "60 rows" text - < <(cat "$tmp/t.tsv")
same "as by their file"
for reader in dense text; do
    refused "$reader: an empty pipe is told" "standard input is empty; check the command" $reader - < <(:)
done
refused "a line of a pipe is named" "/dev/stdin: line 62 has 1 columns" dense - < <(cat "$tmp/t.csv" && echo no)
ls "$tmp" >"$tmp/out"
! grep -q tmp "$tmp/out"
result $? "nothing is left of what was read"

awk 'BEGIN { print "a,b,y"; for (i = 0; i < 90; i++) print i / 8 "," i % 7 "," (i % 7 > 3 ? "yes" : "no") }' >"$tmp/t.csv"
: >"$tmp/empty.ini"
packs dense "$tmp/t.csv" && rm -f "$tmp/run.h5" &&
    "$weft" tune "$tmp/empty.ini" run.data="$tmp/t.h5" run.tuner=random space.configs=2 rff.features=32 -o "$tmp/run.h5" \
        >"$tmp/out" 2>"$tmp/log" &&
    "$weft" predict "$tmp/run.h5" "$tmp/t.csv" >"$tmp/file.csv" 2>"$tmp/log" &&
    "$weft" predict "$tmp/run.h5" - < <(gzip <"$tmp/t.csv") >"$tmp/pipe.csv" 2>"$tmp/log" &&
    cmp "$tmp/file.csv" "$tmp/pipe.csv" && [ "$(wc -l <"$tmp/pipe.csv")" = 91 ]
result $? "rows to be predicted come by a pipe"
cut -d, -f1,2 "$tmp/t.csv" >"$tmp/rows.csv"
mpirun --oversubscribe -n 2 "$weft" predict "$tmp/run.h5" - < <(cat "$tmp/rows.csv") >"$tmp/two.csv" 2>"$tmp/log" &&
    cut -d, -f1,3- "$tmp/file.csv" | cmp - "$tmp/two.csv"
result $? "also to two ranks, without labels"

echo "1..$count"
