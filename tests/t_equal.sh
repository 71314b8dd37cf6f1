#!/bin/bash
# jobs/equal.py at a small size; the table that analysis/equal.py makes of its runs, against the
# run files, and the tables that it prints, against values by hand. Prints TAP.
. tests/tap.sh
export PYTHONDONTWRITEBYTECODE=1

need_python "h5py, matplotlib"

check "documents are packed" call pack synthetic documents rows=200 -o "$tmp/doc.h5"
# A program that notes each of its calls.
printf '#!/bin/sh\necho >>"%s/calls"\nexec "%s" "$@"\n' "$tmp" "$(realpath "$weft")" >"$tmp/weft"
chmod +x "$tmp/weft"
sed 's/^configs = .*/configs = 2/' inputs/imdb64.ini >"$tmp/few.ini" # fewer than there are trials
equal() # ARGUMENT ...: the number of runs that it starts
{
    : >"$tmp/calls"
    "$python" jobs/equal.py "$tmp/doc.h5" "$tmp/runs" --seeds 2 --maps 2 4 --trials 5 \
        --weft "$tmp/weft" --input "$tmp/few.ini" --set ngram.bins=4096 "$@" >"$tmp/out" 2>"$tmp/log" && wc -l <"$tmp/calls"
}
first=$(equal)
[ "$first" = $((10 + $(ls "$tmp"/runs/alone/*.h5 | wc -l))) ]
result $? "five searches of each seed, and what lowered an error is fitted once more"
rm "$tmp/runs/tpe-5-2.seconds"
check "a run without its time is repeated" [ "$(equal)" = 1 ]
check "no other is" [ "$(equal)" = 0 ]
"$weft" tune inputs/imdb64.ini run.data="$tmp/doc.h5" ngram.bins=4096 space.configs=1 run.seed=9 logistic.C=1e-6 --force \
    -o "$tmp/runs/alone/kde-5-1-0.h5" >"$tmp/out" 2>&1
! equal >"$tmp/calls" && grep -q 'kde-5-1-0.h5: validation error .*, in the search it was' "$tmp/log"
result $? "a fit with another error than in its search is refused"
rm "$tmp"/runs/alone/kde-5-1-0.* && equal >"$tmp/calls" &&
    "$python" analysis/equal.py "$tmp/runs" -o "$tmp/equal" --maps 4 >"$tmp/out" 2>"$tmp/log" && [ "$(grep -c '^| less ws_sha' "$tmp/out")" = 6 ]
result $? "analysis/equal.py makes a table"
check "it makes a figure" [ "$(head -c 4 "$tmp/equal.png" | tail -c 3)" = PNG ]
[ "$(equal --method rows --maps 4)" = 2 ] && "$weft" info "$tmp/runs/rows-4-1.h5" | grep -q 'tuner sha'
result $? "halving over rows is a search of each seed"
"$python" analysis/equal.py "$tmp/runs" -o "$tmp/equal" --maps 4 >"$tmp/out" 2>"$tmp/log" && grep -q '^| 4 | 2 | ' "$tmp/out" &&
    rm "$tmp"/runs/rows-* && "$python" analysis/equal.py "$tmp/runs" -o "$tmp/equal" --maps 4 >"$tmp/out" 2>"$tmp/log"
result $? "beside weight-sharing"
"$python" - "$tmp" >"$tmp/out" 2>"$tmp/log" <<'END'
import csv, h5py, sys
tmp = sys.argv[1]
rows = list(csv.DictReader(open(f"{tmp}/equal.tsv"), delimiter="\t"))
assert len({(r["method"], r["maps"], r["seed"]) for r in rows}) == 10
for r in rows:
    name = f"{r['method']}-{r['maps']}-{r['seed']}"
    f = h5py.File(f"{tmp}/runs/{name}.h5")
    own = float(r["valid_error"]) / 100
    processor, real = map(float, open(f"{tmp}/runs/{name}.seconds").read().split())
    assert abs(float(r["total"]) - f["events/seconds"][:].sum() * processor / real) < 1e-3
    if r["method"] == "ws_sha":
        assert abs(own - f["winner"].attrs["valid_error"]) < 1e-6 and r["cost"] == r["total"]
        continue
    error = f["events/valid_error"][:]
    at = list(f["arms/config"][:]).index(int(r["config"]))
    assert abs(own - error[at]) < 1e-6 and not any(error[:at] <= error[at]), r
    assert float(r["cost"]) <= float(r["total"])
    alone = h5py.File(f"{tmp}/runs/alone/{name}-{r['config']}.h5")["winner"].attrs
    assert abs(float(r["test_error"]) / 100 - alone["test_error"]) < 1e-6
    assert abs(alone["valid_error"] - own) < 1e-6
END
result $? "the table has every trial that lowered an error, with the errors of the run files"

# Two seeds: random at twice the time 12 and 10 where ws_sha has 10 and 10; 12.7062 sd / sqrt 2.
line() # METHOD MAPS SEED COST TOTAL VALID TEST
{
    printf '%s\t%s\t%s\t%s\t%s\t%s\t%s\t0\n' "$@"
}
{
    head -n 1 "$tmp/equal.tsv"
    line ws_sha 64 1 5 5 10 11
    line ws_sha 64 2 6 6 10 11
    line rows 32 1 10 10 12 10
    line rows 32 2 6 6 10 13
    line random 9 1 1 40 9 9 # of a shorter search: not used
    line random 90 1 2 45 20 21
    line random 90 1 8 45 12 13
    line random 90 1 15 45 9 10
    line random 90 2 3 40 30 31
    line random 90 2 12 40 10 11
} >"$tmp/hand.tsv"
{ # least of two of 1, 2, 3, 4: (3 x 1 + 2 x 2 + 3) / 6; of twice these numbers: 20 / 6
    printf 'seed\tmap\tvalid_error\n'
    printf '1\t%s\t%s\n' 0 4 1 2 2 1 3 3
    printf '2\t%s\t%s\n' 0 8 1 4 2 2 3 6
} >"$tmp/hand-sweeps.tsv"
"$python" analysis/equal.py -o "$tmp/hand" >"$tmp/out" 2>"$tmp/log" &&
    grep -Fxq '| 2 | 2.50 +- 10.59 | -7.50 +- 10.59 |' "$tmp/out" && grep -Fxq '| 4 | 1.50 +- 6.35 | -8.50 +- 6.35 |' "$tmp/out" &&
    grep -Fxq '| random, validation | 25.00 +- 63.53 | 25.00 +- 63.53 | 11.00 +- 12.71 | 9.50 +- 6.35 | 9.00 (1) |  |' "$tmp/out" &&
    grep -Fxq '| less ws_sha | 15.00 +- 63.53 | 15.00 +- 63.53 | 1.00 +- 12.71 | -0.50 +- 6.35 | -1.00 (1) |  |' "$tmp/out" &&
    grep -Fxq '| random, test | 26.00 +- 63.53 | 26.00 +- 63.53 | 12.00 +- 12.71 | 10.50 +- 6.35 | 10.00 (1) |  |' "$tmp/out" &&
    grep -Fxq '| 32 | 2 | 1.50 +- 6.35 | 11.00 +- 12.71 | 1.00 +- 12.71 | 11.50 +- 19.06 | 0.50 +- 19.06 |' "$tmp/out" &&
    grep -q '^random is as good on validation after 2.5 times .* (2 to 3; searches end after 6.67 or more)' "$tmp/out" &&
    grep -q '^| 64 | 2 | 5.50 +- 6.35 | 10.00 +- 0.00 | 11.00 +- 0.00 | 15.00 +- 63.53 | ' "$tmp/out"
result $? "errors at multiples of the time, differences and intervals are those by hand"
awk -F '|' '/^[|]/ { if (n && NF != n) exit 1; n = NF } !/^[|]/ { n = 0 }' "$tmp/out"
result $? "all lines of a table have as many cells"
echo "1..$count"
