#!/bin/bash
# Files as other programs write them: separators, standard input, columns
# of texts. Prints TAP.
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

# ---- columns of texts ----------------------------------------------------------------------

# tweets: six columns in quotation marks without names, in Latin-1, as Sentiment140 has them
tweets()
{
    awk 'BEGIN { for (i = 0; i < 240; i++)
        printf "\"%d\",\"%d\",\"Mon Apr 06 2009\",\"NO_QUERY\",\"user%d\",\"%s day, caf\351 \"\"%d\"\" \"\n",
            i % 3 ? 4 : 0, 1467810369 + i, i * 7 % 24, i % 3 ? "glad" : "sad", i }'
}
tweets >"$tmp/s140.csv"
reads "Sentiment140's file, by numbers of columns" "clients 24 .* 0 64 8 8 4 128 16 16 all 192 24 24 tokens" \
    text "$tmp/s140.csv" separator=comma label=1 text=6 client=5
told "which are told" "the label is column 1; the text is column 6; the client is column 5"
told "and what is done with bytes that are not UTF-8, by one line" \
    "warning: .*240 rows are not UTF-8 and are taken as Windows-1252, the first in line 1"
"$python" - "$tmp/t.h5" <<'END' >"$tmp/out" 2>&1
import sys, h5py, numpy as np
with h5py.File(sys.argv[1]) as f:
    user = [n.decode() for n in f["client/name"][:]]
    text = f["vocab/remove/text"][:].tobytes()
    seen = []
    for part, each in (("train", 8), ("valid", 1), ("test", 1)):
        row = [int(n.decode().rsplit(":", 1)[1]) - 1 for n in f[part + "/name"][:]]
        owner = f[part + "/owner"][:]
        assert [user[c] for c in owner] == ["user%d" % (i * 7 % 24) for i in row]
        assert np.all(np.bincount(owner) == each) and len(user) == 24
        label = f[part + "/label"][:]
        assert [[0, 4].index(4 if i % 3 else 0) for i in row] == list(label)
        seen += row
    assert sorted(seen) == list(range(240))
    assert "caf\u00e9".encode() in text and b"NO" not in text and b"user" not in text
END
result $? "each text has its label and its client, each client its shares, and other columns are left out"
"$weft" tune "$tmp/empty.ini" run.data="$tmp/t.h5" run.task=fed fed.model=txtcnn fed.dim=4 fed.cohort=4 client.lr=0.1 \
    run.tuner=random space.configs=1 random.resource=2 txtcnn.groups=1 txtcnn.f1=5 txtcnn.k1=3 -o "$tmp/fed.h5" --force \
    >"$tmp/out" 2>"$tmp/log" &&
    "$python" -c "import h5py, sys; n = h5py.File(sys.argv[1])['clients/name'][:]; assert b'user7' in n, n" "$tmp/fed.h5" >>"$tmp/log" 2>&1
result $? "they are clients of a federation, by name"
refused "a byte is named where UTF-8 is said" "line 1.*UTF-8|s140.csv:[0-9]*: byte 13 .0xe9. is not UTF-8" \
    text "$tmp/s140.csv" separator=comma label=1 text=6 encoding=utf-8
refused "clients of a column are not dealt again" "leave out partition and clients" \
    text "$tmp/s140.csv" separator=comma label=1 text=6 client=5 clients=3
refused "a column beyond the last is told" "text = 7: line 1 of .*s140.csv has 6 columns" \
    text "$tmp/s140.csv" separator=comma label=1 text=7
refused "the label is no text" "text = 1 is the column of the label" text "$tmp/s140.csv" separator=comma label=1 text=1
sed '9s/user[0-9]*//' "$tmp/s140.csv" >"$tmp/bad.csv"
refused "a row without a client is told" "bad.csv: line 9 has no client" \
    text "$tmp/bad.csv" separator=comma label=1 text=6 client=5
refused "columns have separators" "separator = blank does not have" text "$tmp/s140.csv" separator=blank text=6

awk 'BEGIN { print "id,title,body,stars"
    for (i = 0; i < 60; i++) print "n" i ",\"Title, " i "\",a " (i % 2 ? "good" : "poor") " film," i % 2 }' >"$tmp/n.csv"
digest_of text "$tmp/n.csv" separator=comma label=4 text=2,3 header=yes
reads "columns of texts by name" "60 rows" text "$tmp/n.csv" separator=comma label=stars text=title,body
same "are those of these numbers"
told "which are told" "the label is column 4, stars; the text is column 2, title and column 3, body"
reads "a name of one makes the first line names" "60 rows" text "$tmp/n.csv" separator=comma label=4 text=body
refused "the nearest name is told" "text = bodi names no column of .*n.csv; .*'body' is the nearest" \
    text "$tmp/n.csv" separator=comma label=stars text=bodi
sed 's/"//g; s/Title, /Title /' "$tmp/n.csv" | tr , '	' >"$tmp/n.tsv"
reads "columns between tabs" "60 rows .* remove 192 24 24 64 " text "$tmp/n.tsv" label=stars text=body,id
sed -i '7s/a good/a "good/' "$tmp/n.tsv"
reads "where quotation marks are characters" "60 rows" text "$tmp/n.tsv" label=stars text=title,body
sed -i '8s/	a/		a/' "$tmp/n.tsv"
refused "a tab too many is told" "n.tsv: line 8 has 5 columns where the first has 4" text "$tmp/n.tsv" label=stars text=body
packs text "$tmp/n.csv" separator=comma label=stars text=body &&
    "$weft" tune "$tmp/empty.ini" run.data="$tmp/t.h5" run.tuner=random space.configs=1 fmap.feature=ngram -o "$tmp/run.h5" \
        --force >"$tmp/out" 2>"$tmp/log" &&
    sed 's/,stars$//; s/,[01]$//' "$tmp/n.csv" |
    "$weft" predict "$tmp/run.h5" - separator=comma text=body >"$tmp/p.csv" 2>"$tmp/log" &&
    awk -F, 'NR > 1 && $2 != (NR % 2) { exit 1 } END { exit NR != 61 }' "$tmp/p.csv"
result $? "rows of such columns are predicted"

echo "1..$count"
