#!/bin/bash
# Files as other programs write them: separators, standard input, columns
# of texts, LEAF's documents and synthetic clients, arrays of HDF5 and
# NumPy, frames of pandas.
# Prints TAP.
. tests/tap.sh
find_python "h5py, numpy"

packs() # READER SOURCE [key=value ...]: $tmp/t.h5, with what weft info says of it in $tmp/out
{
    rm -f "$tmp/t.h5"
    call pack "$1" "$2" -o "$tmp/t.h5" "${@:3}" &&
        "$weft" info "$tmp/t.h5" 2>&1 | tr -s ' \n' ' ' >"$tmp/out"
}
reads() # STATEMENT TEXT READER SOURCE [key=value ...]: packed, and weft info has the text
{
    packs "${@:3}" && grep -Eq -e "$2" "$tmp/out"
    result $? "$1"
}
told() # STATEMENT PATTERN: by the last pack
{
    check "$1" grep -Eq -e "$2" "$tmp/log"
}
refused() # STATEMENT PATTERN READER SOURCE [key=value ...]: by one line
{
    refuses "[1-4]" "$2" "$1" packs "${@:3}"
}
same() # STATEMENT: the digest of the last pack is $want
{
    check "$1" [ "$(sed 's/.* digest \([0-9a-f]*\) .*/\1/' "$tmp/out")" = "$want" ]
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

# ---- shares of each class ----------------------------------------------------------------

awk 'BEGIN { print "who,text,y"; for (i = 0; i < 80; i++) print (i < 40 ? "ann" : "bob") ",text " i "," (i % 4 ? "no" : "yes") }' \
    >"$tmp/t.csv"
reads "texts of clients have their share of each class in each part" "clients 2 .* no 36 12 12 yes 12 4 4 " text "$tmp/t.csv" \
    separator=comma label=y text=text client=who valid=0.2 test=0.2 shares=class

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
    call tune "$tmp/empty.ini" run.data="$tmp/t.h5" run.tuner=random space.configs=2 rff.features=32 -o "$tmp/run.h5" &&
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
call tune "$tmp/empty.ini" run.data="$tmp/t.h5" run.task=fed fed.model=txtcnn fed.dim=4 fed.cohort=4 client.lr=0.1 \
    run.tuner=random space.configs=1 random.resource=2 txtcnn.groups=1 txtcnn.f1=5 txtcnn.k1=3 -o "$tmp/fed.h5" --force &&
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
    call tune "$tmp/empty.ini" run.data="$tmp/t.h5" run.tuner=random space.configs=1 fmap.feature=ngram -o "$tmp/run.h5" \
        --force &&
    sed 's/,stars$//; s/,[01]$//' "$tmp/n.csv" |
    "$weft" predict "$tmp/run.h5" - separator=comma text=body >"$tmp/p.csv" 2>"$tmp/log" &&
    awk -F, 'NR > 1 && $2 != (NR % 2) { exit 1 } END { exit NR != 61 }' "$tmp/p.csv"
result $? "rows of such columns are predicted"

"$python" - "$tmp" <<'END' >"$tmp/out" 2>&1
import json, os, sys
users = ["u%d" % i for i in range(12)]
def write(name, sample, label, each, first=0):
    path = os.path.join(sys.argv[1], name)
    os.makedirs(os.path.dirname(path), exist_ok=True)
    data = {u: {"x": [sample(u, i) for i in range(first, first + each)],
                "y": [label(u, i) for i in range(first, first + each)]} for u in users}
    with open(path, "w") as f:
        json.dump({"users": users, "num_samples": [each] * 12, "user_data": data}, f)
def tweet(u, i): return [1467810672 + i, "Mon Apr 06", "NO_QUERY", u, "%s day number %s%d" % ("glad" if i % 3 else "sad", u, i), "training"]
def number(u, i): return int(i % 3 > 0)
def word(u, i): return "yes" if i % 3 else "no"
write("one/a.json", tweet, number, 20)
write("two/train/a.json", tweet, word, 9)
write("two/test/a.json", tweet, word, 4, 9)
write("rows/a.json", lambda u, i: [i, i % 3], word, 9)
END
result $? "JSON of LEAF is written"
reads "lists of texts are documents of clients" "clients 12 .* 0 [0-9]* [0-9]* [0-9]* 1 [0-9]* [0-9]* [0-9]* all 192 24 24 tokens" \
    leaf "$tmp/one"
"$python" - "$tmp/t.h5" <<'END' >"$tmp/out" 2>&1
import sys, h5py
with h5py.File(sys.argv[1]) as f:
    names = [n.decode() for n in f["client/name"][:]]
    word = f["vocab/split/text"][:].tobytes()
    at = f["vocab/split/text_offset"][:]
    words = [word[a:b].decode() for a, b in zip(at, at[1:])]
    for part in ("train", "valid", "test"):
        token, offset = f[part + "/split/token"][:], f[part + "/split/offset"][:]
        for k, (a, b) in enumerate(zip(offset, offset[1:])):
            text = [words[t] for t in token[a:b]]
            user = names[f[part + "/owner"][k]]
            label = f["class"][f[part + "/label"][k]].decode()
            assert text[1:3] == ["day", "number"] and text[3].startswith(user), text
            assert label == ("1" if text[0] == "glad" else "0"), (label, text)
            assert f[part + "/name"][k].decode().startswith(user + ":")
END
result $? "with their own texts and labels"
reads "as LEAF has divided them, with words as labels" "clients 12 .* no [0-9]* [0-9]* [0-9]* yes [0-9]* [0-9]* [0-9]* all 96 12 48 tokens" \
    leaf "$tmp/two"
reads "rows have words as labels, too" "clients 12 sample 2 numbers, 2 classes .* no [0-9]* [0-9]* [0-9]* yes" leaf "$tmp/rows"
reads "another element is the text" "vocab|remove 192 24 24 12 " leaf "$tmp/one" text=4
refused "an element that is none is told" "user 'u0', x.0. has no text as element 1 of its 6; text = NUMBER" leaf "$tmp/one" text=1

# ---- arrays ------------------------------------------------------------------------------

"$python" - "$tmp" <<'END' >"$tmp/out" 2>&1
import sys, h5py, numpy as np
def at(name): return sys.argv[1] + "/" + name
def save(**arrays):
    for name in arrays:
        np.save(at(name + ".npy"), arrays[name], allow_pickle=True)
s = h5py.File(at("s.h5"), "w")
u = h5py.File(at("u.h5"), "w")
r = np.random.default_rng(1)
x = np.round(r.normal(size=(90, 4)), 3)
y = (x[:, 0] + x[:, 1] > 0).astype(int)
rows = np.c_[x, y]
np.savetxt(at("x.csv"), rows, delimiter=",", fmt=["%.3f"] * 4 + ["%d"])
s["x"] = x
s["y"] = y
s["one"] = x[:, 0]
s["column"] = y[:, None].astype(bool)
s["real"] = x @ np.ones(4)
s["reals"] = np.c_[x @ np.ones(4), x[:, 1]]
u["rows"] = rows
save(x=x, y=y, fortran=np.asfortranarray(x), high=x.astype(">f8"), both=np.asfortranarray(x.astype(">f8")),
     words=np.where(y > 0, "y\u00e4", "no"), bytes=np.where(y > 0, b"yes", b"no"), truth=y > 0,
     object=np.array([[1, "a"]], dtype=object), complex=x.astype(complex), record=np.zeros(3, dtype=[("a", int)]),
     time=np.zeros(3, "M8[s]"))
np.savez(at("p.npz"), x, y)
np.savez_compressed(at("c.npz"), labels=y, data=np.asfortranarray(x), other=np.zeros(3), none=np.zeros((0, 4)))
np.savez_compressed(at("keras.npz"), x_train=x[:60], y_train=y[:60], x_test=x[60:], y_test=y[60:])
np.save(at("large.npy"), np.arange(3 << 20, dtype=">i8").reshape(-1, 3), allow_pickle=False)
for name, bad in (("complex", x.astype(complex)), ("text", x.astype("S")), ("scalar", np.array(3.0)), ("five", np.zeros((2,) * 5)),
                  ("empty", np.zeros((0, 4))), ("short_y", y[:89]), ("wide", np.zeros((90, 2, 2), int)),
                  ("nan_y", np.where(np.arange(90) == 6, np.nan, y)), ("infinite", np.where(x > 1.5, np.inf, x)),
                  ("large", np.where(x > 1.5, 1e300, x)), ("turned", x.T), ("row_y", y[None]), ("id", np.arange(90 * 2).reshape(90, 2) + 2 ** 60)):
    s["bad_" + name] = bad
gaps = x.copy()
gaps[::7, 2] = np.nan
s["gaps"] = gaps
np.savetxt(at("gaps.csv"), np.c_[gaps, y], delimiter=",", fmt=["%.3f"] * 4 + ["%d"])
t = np.c_[x[:, 0], np.arange(90) % 4, np.arange(90) % 15, 1 + np.arange(90) % 2, y]
u["uses"] = t
u["light"] = np.where(np.arange(90 * 5).reshape(90, 5) == 8, -0.7, t)
np.savetxt(at("uses.csv"), t, delimiter=",", fmt=["%.3f"] + ["%d"] * 4)
for kind in "u1 i1 u2 i2 u4 i4 u8 i8 f4 f8".split():
    s["t_%s" % kind] = (np.abs(x * 10) % 100).astype(int).astype(kind)
np.savetxt(at("t.csv"), np.c_[(np.abs(x * 10) % 100).astype(int), y], delimiter=",", fmt="%d")
with h5py.File(at("a.h5"), "w") as f:
    f["x"], f["y"] = x, y
with h5py.File(at("b.h5"), "w") as f:
    f.create_dataset("in/features", data=x.astype(">f8"), chunks=(7, 3), compression="gzip", shuffle=True)
    f["in/target"] = np.where(y > 0, "y\u00e4", "no").astype(object)
    f["in/fixed"] = np.where(y > 0, b"yes", b"no")
    f["in/flag"] = y.astype(bool)
    f["in/record"] = np.zeros(90, dtype=[("a", int)])
    f.create_dataset("in/lzf", data=x, compression="lzf")
with h5py.File(at("parts.h5"), "w") as f:
    for part, a, b in (("train", 0, 50), ("val", 50, 60), ("test", 60, 90)):
        f[part + "/images"] = np.arange(90 * 12, dtype="u1").reshape(90, 3, 2, 2)[a:b]
        f[part + "/labels"] = y[a:b]
images = r.integers(0, 256, size=(60, 8, 6, 3), dtype="u1")
classes = np.arange(60) % 3
s["last"] = images
s["first"] = np.ascontiguousarray(images.transpose(0, 3, 1, 2))
s["flat"] = images.transpose(0, 3, 1, 2).reshape(60, -1)
s["grey"] = images[..., 0].astype("f4") / 255
for name in "x one first last flat grey".split():
    u[name] = s[name][()]
s["classes"] = classes
s["onehot"] = np.eye(3)[classes]
s["heights"] = u["heights"] = np.arange(60) / 7
s["several"] = np.where((np.arange(60) == 4)[:, None], [1, 1, 0], np.eye(3)[classes])
save(last=images, classes=classes)
ids = {"u8": [5, 2 ** 63 + 5, 2 ** 63 + 9], "i8": [-5, 2 ** 62 + 1, 2 ** 62 + 2], "f8": [7, 1234567890123456, 1234567890123457],
       "f4": [0.1, 16777216, 16777218], ">f8": [0.1, 0.3, 0.30000000000000004]}
for k, kind in enumerate(ids):
    id = np.array(ids[kind], kind)[np.arange(90) % 3]
    with h5py.File(at("ids%d.h5" % k), "w") as f:
        f["x"], f["y"] = x, id
END
result $? "arrays are written"
digest_of dense "$tmp/x.csv"
digits=$want
for pair in "HDF5 a.h5" "names_in_HDF5 a.h5 x=/x y=y" "booleans_of_two_dimensions s.h5 x=x y=column" \
    "a_label_among_the_columns u.h5 x=rows label=5" "HDF5_in_chunks b.h5 x=in/features y=in/flag"; do
    set -- $pair
    reads "${1//_/ }" "90 rows .* sample 4 numbers" dense "$tmp/$2" "${@:3}"
    same "has the rows of the table"
done
told "which arrays are what is told" "/in/features of .*b.h5: 90 x 4 float64; the label is /in/flag of .*, 90 float32"
reads "arrays come by a pipe" "90 rows .* 1 number 89 0 -2.711 .. 2.548 itself 2 number" dense - < <(cat "$tmp/a.h5")
same "as by their file"
digest_of dense "$tmp/t.csv"
for kind in u1 i1 u2 i2 u4 i4 u8 i8 f4 f8; do
    packs dense "$tmp/s.h5" x=t_$kind y=y
    same "numbers of type $kind"
done
digest_of dense "$tmp/gaps.csv"
reads "gaps are filled and marked" " 3 number [0-9]* 13 .* where missing, and a mark" dense "$tmp/s.h5" x=gaps y=y
same "as those of a table are"
digest_of dense "$tmp/uses.csv" categories=2 group=3 weight=4
reads "columns have other uses, by number" "2 category 4 0 0, 1, 2, 3 4 levels 3 group 15" dense "$tmp/u.h5" x=uses label=5 \
    categories=2 group=3 weight=4
same "as those of a table have"
refused "a weight below 0 is told" "row 2, column 4 is '-0.7' where a weight is expected" dense "$tmp/u.h5" x=light label=5 weight=4
digest_of dense "$tmp/uses.csv" client=3 drop=4
reads "they may be clients" "clients 15 " dense "$tmp/u.h5" x=uses label=5 client=3 drop=4
same "too"
reads "labels may be texts" "class train valid test no [0-9 ]* y[^ ]* [0-9]" dense "$tmp/b.h5" x=in/features y=in/target
reads "of fixed length, too" "class train valid test no [0-9 ]* yes [0-9]" dense "$tmp/b.h5" x=in/features y=in/fixed
reads "a label that is not whole is predicted as a number" "5 target 90 0 .* a number to predict" dense "$tmp/s.h5" x=x y=real
reads "several numbers are, too" "5 target 90 0 .* 6 target" dense "$tmp/s.h5" x=x y=reals
k=0
for names in "5 9223372036854775813 9223372036854775817" "-5 4611686018427387905 4611686018427387906" \
    "7 1234567890123456 1234567890123457" "0.1 16777216 16777218" "0.1 0.3 0.30000000000000004"; do
    classes="class train valid test ${names// / [0-9]* [0-9]* [0-9]* } [0-9]* "
    reads "labels $names are three classes" "$classes" dense "$tmp/ids$k.h5"
    k=$((k + 1))
done
reads "one number a row" "90 rows .* sample 1 numbers" dense "$tmp/s.h5" x=one y=y
reads "parts of files" "all 81 9 90 " dense "$tmp/a.h5" test_file="$tmp/a.h5" valid=0.1
reads "names of parts may be given" "all 50 10 30 " dense "$tmp/parts.h5" x=train/images,val/images,test/images \
    y=train/labels,val/labels,test/labels

reads "images of three parts" "form bytes .* sample image of 3 x 2 x 2 .* all 50 10 30 " dense "$tmp/parts.h5"
digest_of dense "$tmp/s.h5" x=first y=classes
reads "channels may be last" "form bytes .* sample image of 3 x 8 x 6" dense "$tmp/s.h5" x=last y=classes
same "and are put first"
told "which is told" "60 x 8 x 6 x 3 uint8, images of 3 x 8 x 6, whose channels are last"
for option in client group weight drop label; do
    refused "images have no columns: $option" "$option = who has no effect: .*parts.h5 has images, without columns; leave it out" \
        dense "$tmp/parts.h5" $option=who
done
reads "rows may be images" "form bytes .* sample image of 3 x 8 x 6" dense "$tmp/s.h5" x=flat y=classes shape=3x8x6
same "the same"
reads "a shape settles which side is channels'" "sample image of 6 x 3 x 8|sample image of 3 x 8 x 6" dense "$tmp/s.h5" x=last \
    y=classes shape=3x8x6
same "as it is"
reads "images of reals have one channel" "form reals .* sample image of 1 x 8 x 6" dense "$tmp/s.h5" x=grey y=classes
reads "images are dealt to clients" "clients 4 " dense "$tmp/s.h5" x=last y=classes clients=4

for bad in "complex:records or other things than numbers" "text:of texts where rows of numbers.*to_csv" \
    "scalar:" "five:" "empty:nothing in it" "infinite:row [0-9]*, column [1-4] is inf, where a finite number" \
    "large:is 1e.300, where a finite number" "id:row 1, column 1 is 1.15292e.18, a number of so many digits"; do
    refused "refused: ${bad%%:*}" "bad_${bad%%:*} of .*${bad#*:}" dense "$tmp/s.h5" x=bad_${bad%%:*} y=y
done
refused "other numbers of rows are told" "/x of .* has 90 rows and /bad_short_y of .* 89; they must be as many" \
    dense "$tmp/s.h5" x=x y=bad_short_y
"$python" - "$tmp" <<'END'
import sys, h5py
for name, arrays in (("frame.h5", ("df/axis0", "df/block0_values")), ("sparse.h5", ("X/data", "X/indices", "X/indptr"))):
    with h5py.File(sys.argv[1] + "/" + name, "w") as f:
        for array in arrays:
            f[array] = [1.0, 2.0, 3.0]
END
refused_option()
{
    "$weft" pack dense "$tmp/$2" -o "$tmp/t.h5" --force >"$tmp/out" 2>"$tmp/log"
    [ $? = 2 ] && grep -q "$3" "$tmp/log"
    result $? "$1"
}
refused_option "a frame of pandas is told as such" frame.h5 "it has /df/axis0, /df/block0_values; of a frame of pandas, read_hdf(F).to_csv()"
refused_option "so is a sparse matrix" sparse.h5 "it has /X/data, /X/indices, /X/indptr; of a sparse matrix, write X.toarray()"
refused "an array that lies transposed is told" "/bad_turned of .* has 4 rows and /y of .* 90; it lies transposed, .*: write x" \
    dense "$tmp/s.h5" x=bad_turned y=y
refused "so are labels in a row" "/x of .* has 90 rows and /bad_row_y of .* 1; the labels lie in a row: write y" dense "$tmp/s.h5" x=x y=bad_row_y
refused "labels of a cube are told" "bad_wide of .* has the shape 90 x 2 x 2 where a label" dense "$tmp/s.h5" x=x y=bad_wide
refused "a label that is missing is told" "bad_nan_y of .*s.h5: row 7, column 1 is 'nan' where a label is expected" \
    dense "$tmp/s.h5" x=x y=bad_nan_y
refused "a file without labels is told" "/rows of .* has no labels beside it: y = NAME" dense "$tmp/u.h5" x=rows
refused "labels are named once" "label = 2 has no effect" dense "$tmp/s.h5" x=x y=y label=2
refused "gaps are refused by wish" "/gaps of .*s.h5: row 1, column 3 is nan, where a number" dense "$tmp/s.h5" x=gaps y=y missing=refuse
refused "the nearest name is told" "b.h5 has no array 'in/featuers'; did you mean '/in/features'. it has /in/features, /in/fixed" \
    dense "$tmp/b.h5" x=in/featuers y=in/flag
refused "names that are not found are listed" "x = NAME says which array of .*b.h5 has the rows; it has /in/features" dense "$tmp/b.h5"
refused "records of HDF5" "/in/record of .*b.h5 is of records" dense "$tmp/b.h5" x=in/features y=in/record
"$python" -c "import zipfile, sys; zipfile.ZipFile(sys.argv[1], 'w').writestr('a/sheet.xml', '<x/>')" "$tmp/a.xlsx"
packs dense "$tmp/x.csv" && mv "$tmp/t.h5" "$tmp/packed.h5"
refused "what is packed is not packed again" "packed.h5 is packed already .weft data 1.; it is used as it is" dense "$tmp/packed.h5"
refused "npy is written as HDF5 first" "x.npy is an array of NumPy .*'python3 analysis/toh5.py X.npy Y.npy -o F.h5' writes HDF5" \
    dense "$tmp/x.npy"
refused "also where it has labels" "x.npy is an array of NumPy .*'weft pack dense F.h5 x=X y=Y'" dense "$tmp/x.npy" y="$tmp/y.npy"
refused "npz, too" "c.npz is a zip archive .*'python3 analysis/toh5.py F.npz -o F.h5' .*'weft pack dense F.h5 x=NAME y=NAME'" \
    dense "$tmp/c.npz" x=data y=labels
refused "another archive" "a.xlsx is a zip archive .*unpack it, or, .*; of Excel, .*totable.py" dense "$tmp/a.xlsx"
refused "other compression" "/in/lzf of .*b.h5 is compressed by lzf" dense "$tmp/b.h5" x=in/lzf y=in/flag
digest_of dense "$tmp/s.h5" x=last y=classes
reads "a 1 among zeros is a class of images" "class train valid test 0 [0-9 ]* 1 [0-9 ]* 2 " dense "$tmp/s.h5" x=last y=onehot
same "that of its column"
told "which is told" "/onehot of .* has a single 1 in each row: its column, from 0, is the class; target = regression"
reads "also in a table" "class train valid test 0 [0-9 ]* 1 [0-9 ]* 2 " dense "$tmp/s.h5" x=flat y=onehot
reads "numbers by wish" "target 145, .* 146, .* 147, " dense "$tmp/s.h5" x=flat y=onehot target=regression
reads "rows of several ones are numbers" "target 145, .* 146, .* 147, " dense "$tmp/s.h5" x=flat y=several
flags="the labels are 3 columns of 0 and 1: they are 3 numbers to predict .target = regression.; .* y.argmax.1. does"
told "which is told" "$flags"
packs dense "$tmp/s.h5" x=flat y=several target=regression && ! grep -q "$flags" "$tmp/log"
result $? "unless it is by wish"
awk 'BEGIN { print "x,a,b,c"; for (i = 0; i < 60; i++) print i "," i % 2 "," (i % 3 == 0) "," (i % 5 == 0) }' >"$tmp/flags.csv"
reads "so are columns of a CSV" "target a, .* b, .* c, " dense "$tmp/flags.csv" label=a,b,c
told "which is told" "$flags"
sed '5s/0$/2/; 5s/1$/2/' "$tmp/flags.csv" >"$tmp/counts.csv"
packs dense "$tmp/counts.csv" label=a,b,c && ! grep -q "$flags" "$tmp/log"
result $? "a 2 among them is none"
refused "several ones are no label of images" "/several of .*y.argmax.1. is it" dense "$tmp/s.h5" x=last y=several
refused "a table has no arrays" "x and y name arrays .*x.csv is none" dense "$tmp/x.csv" y=y
refused "parts are of one format" "some are arrays and .*x.csv is none" dense "$tmp/a.h5" test_file="$tmp/x.csv"
head -c 2000 "$tmp/a.h5" >"$tmp/cut.h5"
refused "an HDF5 file that is cut short" "cut.h5" dense "$tmp/cut.h5"

# as_table NAME [key=value ...]: predictions of these rows are those of rows.csv
as_table()
{
    "$weft" predict "$tmp/run.h5" "$tmp/$1" "${@:2}" >"$tmp/p.csv" 2>"$tmp/log" && cmp "$tmp/p.csv" "$tmp/want.csv" >"$tmp/out"
    result $? "$1 ${*:2}: predictions are those of the table"
}
packs dense "$tmp/b.h5" x=in/features y=in/target && rm -f "$tmp/run.h5" &&
    call tune "$tmp/empty.ini" run.data="$tmp/t.h5" run.tuner=random space.configs=2 rff.features=32 -o "$tmp/run.h5" &&
    cut -d, -f1-4 "$tmp/x.csv" >"$tmp/rows.csv" &&
    "$weft" predict "$tmp/run.h5" "$tmp/rows.csv" header=no >"$tmp/want.csv" 2>"$tmp/log" && [ "$(wc -l <"$tmp/want.csv")" = 91 ]
result $? "a winner of arrays predicts a table"
as_table u.h5 x=x
as_table b.h5 x=in/features
"$weft" predict "$tmp/run.h5" "$tmp/a.h5" >"$tmp/p.csv" 2>"$tmp/log"
[ $? != 0 ] && grep -q "has the class '[01]', which is not among those" "$tmp/log"
result $? "labels that are no class are told"
"$weft" predict "$tmp/run.h5" "$tmp/u.h5" x=one >"$tmp/p.csv" 2>"$tmp/log"
[ $? = 4 ] && grep -q "/one of .* has 1 columns where 4 are expected" "$tmp/log"
result $? "another number of columns is told"
packs dense "$tmp/s.h5" x=last y=classes && rm -f "$tmp/run.h5" &&
    call tune "$tmp/empty.ini" run.data="$tmp/t.h5" run.task=sgd sgd.model=linear train.lr=0.01 run.tuner=random space.configs=1 \
        random.resource=1 -o "$tmp/run.h5" &&
    "$weft" predict "$tmp/run.h5" "$tmp/u.h5" x=first >"$tmp/want.csv" 2>"$tmp/log" && [ "$(wc -l <"$tmp/want.csv")" = 61 ]
result $? "images are predicted"
as_table u.h5 x=last
as_table u.h5 x=flat shape=3x8x6
"$weft" predict "$tmp/run.h5" "$tmp/u.h5" x=grey >"$tmp/p.csv" 2>"$tmp/log"
[ $? = 4 ] && grep -q "u.h5 has images of 1 x 8 x 6, which are none of the 144 numbers" "$tmp/log"
result $? "other images are told"

reads "numbers of images are predicted" "form bytes .* sample image of 3 x 8 x 6 target label, " dense "$tmp/s.h5" x=last \
    y=heights target=regression
call pack dense "$tmp/u.h5" x=last y=heights like="$tmp/t.h5" -o "$tmp/l.h5" &&
    "$weft" info "$tmp/l.h5" 2>&1 | tr -s ' \n' ' ' >"$tmp/out" && grep -q "0 train, 0 valid, 60 test" "$tmp/out"
result $? "also of new ones"

packs dense "$tmp/s.h5" x=last y=classes clients=4 && rm -f "$tmp/run.h5" &&
    call tune "$tmp/empty.ini" run.data="$tmp/t.h5" run.task=fed fed.model=linear client.lr=0.01 fed.cohort=2 run.tuner=random \
        space.configs=1 random.resource=1 -o "$tmp/run.h5" &&
    "$weft" predict "$tmp/run.h5" "$tmp/u.h5" x=first >"$tmp/p.csv" 2>"$tmp/log" && [ "$(wc -l <"$tmp/p.csv")" = 61 ]
result $? "so are those of a federation"

# ---- arrays of NumPy -----------------------------------------------------------------------

to_h5() # FILE ...: $tmp/to.h5
{
    rm -f "$tmp/to.h5"
    (cd "$tmp" && "$python" "$OLDPWD/analysis/toh5.py" "$@" -o to.h5) >"$tmp/out" 2>"$tmp/log"
}
digest_of dense "$tmp/x.csv"
for case in "x.npy y.npy:x=x y=y" "fortran.npy y.npy:x=fortran y=y" "high.npy truth.npy:x=high y=truth" "both.npy y.npy:x=both y=y" \
    "p.npz:" "c.npz:" "c.npz:x=data y=labels"; do
    to_h5 ${case%%:*} && packs dense "$tmp/to.h5" ${case#*:}
    same "toh5.py ${case%%:*}: the rows of the table"
done
to_h5 keras.npz && reads "parts that names tell" "all 54 6 30 " dense "$tmp/to.h5"
to_h5 x.npy words.npy bytes.npy
reads "texts are labels" "class train valid test no [0-9 ]* y[^ ]* [0-9]" dense "$tmp/to.h5" x=x y=words
reads "bytes, too" "class train valid test no [0-9 ]* yes [0-9]" dense "$tmp/to.h5" x=x y=bytes
digest_of dense "$tmp/s.h5" x=last y=classes
to_h5 last.npy classes.npy && packs dense "$tmp/to.h5" x=last y=classes
same "images are those of HDF5"
to_h5 large.npy &&
    "$python" -c "import h5py, sys; x = h5py.File(sys.argv[1])['large'][:]; assert x.dtype == '<i8' and x.shape == (1 << 20, 3)
assert (x.ravel() == range(3 << 20)).all()" "$tmp/to.h5" >"$tmp/out" 2>"$tmp/log"
result $? "a large array comes by blocks"
head -c 2000 "$tmp/x.npy" >"$tmp/cut.npy"
head -c 2000 "$tmp/c.npz" >"$tmp/cut.npz"
{ head -c 900 "$tmp/c.npz" && printf '%80s' '' && tail -c +981 "$tmp/c.npz"; } >"$tmp/damaged.npz"
"$python" -c "import zipfile, sys; zipfile.ZipFile(sys.argv[1], 'w').writestr('one.npy', 'no')" "$tmp/none.npz"
cp "$tmp/a.xlsx" "$tmp/b.zip"
for bad in "object.npy:is of Python objects" "complex.npy:complex128" "record.npy:give numbers" "time.npy:datetime64" "cut.npy:cut.npy: " \
    "cut.npz:cut short" "damaged.npz:rror\|CRC" "none.npz:one: is no npy" "b.zip:no arrays of NumPy" "x.csv:no npy or npz" \
    "absent.npy:no such file" "x.npy x.npy:two arrays"; do
    to_h5 ${bad%%:*}
    [ $? = 1 ] && [ "$(grep -vc "^[a-z]*: [0-9].* [a-z0-9]*$" "$tmp/log")" = 1 ] && grep -q "${bad#*:}" "$tmp/log" && [ ! -e "$tmp/to.h5" ]
    result $? "refused by one line: ${bad%%:*}"
done

# ---- LEAF's synthetic federation -----------------------------------------------------------

mkdir "$tmp/clients"
"$python" analysis/leaf_synthetic.py -o "$tmp/clients/all.json" >"$tmp/out" 2>"$tmp/log" &&
    "$python" - "$tmp/clients/all.json" tests/gold/synthetic_leaf.tsv <<'END' >"$tmp/out" 2>&1
import json, sys
with open(sys.argv[1]) as f, open(sys.argv[2]) as gold:
    data = json.load(f)
    for i, line in enumerate(gold):
        i = 20 * i + 19
        want, x, y = line.split(), *(data["user_data"][str(i)][k] for k in "xy")
        assert [len(x)] + [y.count(k) for k in range(5)] == list(map(int, want[:6])), i
        assert abs(x[0][0] - float(want[6])) + abs(x[-1][-1] - float(want[7])) < 1e-12 and len(x[0]) == 60, i
        assert data["num_samples"][i] == len(x) == len(y)
    assert i == 999 and data["users"] == [str(c) for c in range(1000)]
END
result $? "leaf_synthetic.py: clients have LEAF's samples and labels"
reads "with the published sizes" "clients 1000 sample 60 numbers, 5 classes .* all 107553 107.55 213.22 5 " leaf "$tmp/clients"
"$python" analysis/leaf_synthetic.py -o "$tmp/clients/all.json" --clients 50 --clusters 3 --classes 4 --d 7 >"$tmp/out" 2>"$tmp/log" &&
    reads "there may be other clients, clusters, classes and numbers" "clients 50 sample 7 numbers, 4 classes" leaf "$tmp/clients"
for bad in "--seed 4294967296:takes 0 to 4294967295" "--classes 1:two classes" "-o $tmp/none/all.json:No such file"; do
    "$python" analysis/leaf_synthetic.py -o "$tmp/clients/all.json" ${bad%%:*} >"$tmp/out" 2>"$tmp/log"
    [ $? = 1 ] && [ "$(wc -l <"$tmp/log")" = 1 ] && grep -q "${bad#*:}" "$tmp/log"
    result $? "refused by one line: ${bad%%:*}"
done

# ---- tables of pandas ----------------------------------------------------------------------

find_python "h5py, pandas"
if [ -z "$python" ]; then
    count=$((count + 1))
    echo "ok $count - tables of pandas # SKIP no Python with pandas"
else
    "$python" - "$tmp" <<'END' >"$tmp/out" 2>&1
import sys, numpy as np, pandas as pd
def at(name): return sys.argv[1] + "/" + name
i = np.arange(60)
table = pd.DataFrame({"age": np.where(i % 9 == 0, np.nan, i * 37 % 41), "colour": pd.Categorical(np.array(["red", "sea, green", "blue"])[i % 3]),
                      "own": i % 2 == 0, "when": pd.date_range("2024-01-01", periods=60, freq="h"),
                      "n": pd.array(np.where(i % 7 == 0, None, i % 5), dtype="Int64"), "sick": np.where(i % 4, "yes", "no")})
table.to_pickle(at("table.pkl"))
table[["age", "n", "own"]].to_pickle(at("numbers.pkl"))
pd.Series(i).to_pickle(at("series.pkl"))
small = table[["n", "sick"]].set_axis(pd.MultiIndex.from_tuples([("of", "n"), ("of", "sick")]), axis=1)
small.to_pickle(at("levels.pkl"))
small[4:].to_pickle(at("numbered.pkl"))
table[["n", "sick"]].set_index(pd.Index([f"P{k}" for k in i], name="patient")).to_pickle(at("named.pkl"))
table[["n", "sick"]].set_index(pd.date_range("2024-01-01", periods=60)).to_pickle(at("days.pkl"))
table[["n", "sick"]].rename_axis("n").to_pickle(at("alike.pkl"))
with open(at("want.csv"), "w") as f:
    f.write("age,colour,own,when,n,sick\n")
    for k, row in enumerate(table.itertuples(index=False)):
        f.write('%s,%s,%d,%d,%s,%s\n' % ("" if k % 9 == 0 else k * 37 % 41, '"sea, green"' if k % 3 == 1 else row.colour, k % 2 == 0,
                                         1704067200 + 3600 * k, "" if k % 7 == 0 else k % 5, row.sick))
try:
    table.to_parquet(at("table.parquet"))
    table.to_feather(at("table.feather"))
except ImportError:
    pass
END
    result $? "frames of pandas are written"
    digest_of dense "$tmp/want.csv" label=sick
    for file in table.pkl table.parquet table.feather; do
        [ -e "$tmp/$file" ] || continue
        "$python" analysis/totable.py "$tmp/$file" --seconds >"$tmp/t.csv" 2>"$tmp/said"
        reads "$file: texts, gaps, truth and times" "60 rows .* colour category 3 0 blue, red, sea, green 3 levels" dense - label=sick \
            < <(cat "$tmp/t.csv")
        same "are those of the frame"
        grep -q "column 4, 'when', is of times: as seconds since 1970" "$tmp/said"
        result $? "and what becomes of times is said"
    done
    "$python" analysis/totable.py "$tmp/table.pkl" 2>/dev/null | grep -q ',2024-01-01T01:00:00,'
    result $? "or they are ISO texts"
    while IFS='@' read -r file lines text; do
        "$python" analysis/totable.py "$tmp/$file.pkl" 2>"$tmp/said" | head -2 | grep -Ec "$lines" | grep -qx 2 && grep -q "$text" "$tmp/said"
        result $? "of $file.pkl the index and the names: $text"
    done <<'END'
named@^(patient|P0),(n,sick|,no)$@the index is written as 'patient'
days@^(index|2024-01-01T00:00:00),(n,sick|,no)$@the index is written as 'index'
levels@^(of_n,of_sick|,no)$@names of several levels are written as one, such as 'of_sick'
numbered@^(of_n,of_sick|4,no)$@56 rows, 2 columns
END
    to_h5 numbers.pkl && reads "numbers alone as HDF5" "60 rows .* 1 number [0-9]* 7 .* 3 label" dense "$tmp/to.h5" label=3
    to_h5 table.pkl
    [ $? = 1 ] && grep -q "table.pkl: give a table of numbers alone" "$tmp/log" && [ ! -e "$tmp/to.h5" ]
    result $? "which texts are not"
    for bad in "series.pkl:holds a Series, no DataFrame" "alike.pkl:the index and a column have one name" "none.parquet:give a file that is there" "want.csv:ends in one of"; do
        "$python" analysis/totable.py "$tmp/${bad%%:*}" >"$tmp/out" 2>"$tmp/log"
        [ $? = 1 ] && [ "$(wc -l <"$tmp/log")" = 1 ] && grep -q "${bad#*:}" "$tmp/log"
        result $? "refused by one line: ${bad%%:*}"
    done
fi

echo "1..$count"
