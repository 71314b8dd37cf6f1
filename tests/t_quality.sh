#!/bin/bash
# One map of a sweep fitted alone gives the same fit as in the sweep; jobs/figures.sh at a
# small size, and the table of analysis/compare.py against its run files and values by hand.
# Prints TAP.
. tests/tap.sh
export PYTHONDONTWRITEBYTECODE=1

find_python "h5py, matplotlib"

check "documents are packed" call pack synthetic documents rows=600 -o "$tmp/doc.h5"
call tune inputs/figure-imdb.ini run.data="$tmp/doc.h5" space.configs=6 random.only=6 \
    run.tuner=random -o "$tmp/r.h5"
[ $? = 2 ] && grep -q 'random.only = 6, but the space has 6 configurations' "$tmp/log"
result $? "a map beyond the space is refused"
check "before a run is begun" [ ! -e "$tmp/r.h5" ]

figures()
{
    SEEDS="1 2" FEATURES='' TABLE_FEATURES='' BINS=4096 TABLE_BINS=4096 WEFT=$weft \
        LAUNCH=env OUTPUT=$tmp bash jobs/figures.sh run.data="$tmp/doc.h5" space.configs=12 \
        >"$tmp/out" 2>"$tmp/log"
}
check "jobs/figures.sh runs the searches, sweeps and picks of two seeds" figures
figures && [ ! -s "$tmp/out" ]
result $? "and does none of them twice"

if [ -z "$python" ]; then
    echo "ok $((count + 1)) - the table # SKIP no Python with h5py and matplotlib"
    echo "1..$((count + 1))"
    exit
fi

"$python" analysis/compare.py "$tmp"/figures/*.h5 "$tmp"/quality/*.h5 -o "$tmp/table.tsv" \
    >"$tmp/out" 2>"$tmp/log" && [ ! -s "$tmp/log" ] && [ "$(wc -l <"$tmp/table.tsv")" = 13 ] &&
    [ "$(grep -c '^| ws_' "$tmp/out")" = 6 ]
result $? "the table has six kinds of search with two seeds each"
"$python" - "$tmp" >"$tmp/out" 2>"$tmp/log" <<'END'
import csv, glob, h5py, sys
tmp = sys.argv[1]
rows = list(csv.DictReader(open(f"{tmp}/table.tsv"), delimiter="\t"))
assert all(r["picked_test"] for r in rows), "a test accuracy is missing"
assert all((float(r["gap"]) == 0) == (r["rank"] == "1") for r in rows)
assert all(float(r["gap"]) >= 0 for r in rows)
for path in glob.glob(f"{tmp}/quality/imdb-4096-map-*.h5"):
    map, seed = map_seed = path[:-3].split("-")[-2:]
    with h5py.File(path) as one, h5py.File(f"{tmp}/figures/imdb-4096-random-{seed}.h5") as sweep:
        at = list(sweep["arms/config"]).index(int(map))
        assert list(one["arms/config"]) == [int(map)]
        assert one["arms/loss"][0] == sweep["arms/loss"][at], map_seed
        assert one["arms/error"][0] == sweep["arms/error"][at], map_seed
        hits = [r for r in rows if r["seed"] == seed and
                abs(float(r["picked"]) - 100 * (1 - sweep["arms/error"][at])) < 1e-3 and
                abs(float(r["picked_test"]) - 100 * (1 - one["winner"].attrs["test_error"])) < 1e-3]
        assert hits, map_seed
END
result $? "picks have the sweep's fit, to the bit, and the test accuracy of that map alone"
"$python" analysis/compare.py "$tmp/table.tsv" "$tmp"/*/*-2.h5 -o "$tmp/again.tsv" \
    >"$tmp/out" 2>"$tmp/log" && cut -f1-16 "$tmp/table.tsv" | cmp -s - <(cut -f1-16 "$tmp/again.tsv")
result $? "runs are added to a table in the place of their lines"

python_first
for i in 1 2 3 4 5 6 7 8 9; do echo "$((i % 2))	text $i"; done >"$tmp/texts.txt"
PATH=$tmp/bin:$PATH jobs/fraction.py "$tmp/texts.txt" 2 "$tmp/part.txt" &&
    [ "$(sort "$tmp/part.txt" | cut -f1 | tr -d '\n')" = 0011 ] &&
    [ -z "$(sort "$tmp/part.txt" | comm -23 - <(sort "$tmp/texts.txt"))" ]
result $? "jobs/fraction.py takes as large a share of every class"
call pack synthetic images rows=400 -o "$tmp/image.h5"
SEEDS=1 FEATURES=50 WEFT=$weft LAUNCH=env OUTPUT=$tmp/defaults TABLE=$tmp/defaults.tsv \
    PATH=$tmp/bin:$PATH bash jobs/quality.sh "$tmp/doc.h5" "$tmp/image.h5" space.configs=4 \
    >"$tmp/out" 2>"$tmp/log" &&
    [ "$(cut -f1,5,6 "$tmp/defaults.tsv" | tr '\t\n' ' ;')" = \
        'data validation switch;doc auto auto;doc split 1;image auto auto;image split 1;' ] &&
    grep -q '^| doc: ws_sha, auto, switch auto | 1 | 0.00 ' "$tmp/out"
result $? "jobs/quality.sh compares searches by default and as published on two data sets"

# Gaps 0, 1, 2: 1 +- 4.30265 / sqrt 3. Ranks 1, 2, 6 of 64: 3 +- 4.30265 sqrt(7 / 3).
row() # SEED PICKED GAP RANK PICKED_TEST TEST_GAP
{
    printf 'doc\tnatural\tws_eg\tsplit\t1\t%s\t64\t90.0\t89.0\t%s\t%s\t%s\t%s\t%s\t90.0\t89.0\t9.0\n' \
        "$1" "$2" "$5" "$3" "$6" "$4"
}
{ head -n 1 "$tmp/table.tsv" && row 1 90 0 1 89 0 && row 2 89 1 2 '' '' && row 3 88 2 6 88 1; } \
    >"$tmp/hand.tsv"
"$python" analysis/compare.py "$tmp/hand.tsv" >"$tmp/out" 2>"$tmp/log"
grep -Fxq '| ws_eg, split, switch 1 | 3 | 1.00 +- 2.48 | 2.00 | 3.0 +- 6.6 of 64 | not resolved | 88.50 +- 6.35 (of 2) | 0.50 +- 6.35 (of 2) | 89.00 +- 0.00 | 9.0 +- 0.0 |' "$tmp/out"
result $? "means have their intervals and the number of their seeds"
echo "1..$count"
