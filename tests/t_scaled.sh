#!/bin/bash
# run.scale: columns scaled or ranked, the same on any ranks, for maps, networks and federations; what
# stays with the winner. Prints TAP.
. tests/tap.sh
find_python "h5py, numpy"
: >"$tmp/empty.ini"

table() # ROWS FIRST: a long tail, a few whole numbers, a mark, numbers far from 0, a class that follows from the orders
{
    awk -v n="$1" -v first="$2" 'BEGIN {
        print "tail,few,mark,far,y"
        for (i = first; i < first + n; i++) {
            u = i * 37 % 101
            print exp(u / 9) "," i * 5 % 7 "," (i % 3 == 1 ? 1 : 0) "," 1700000001 + 1000 * (i * 31 % 97) "," (u + 12 * (i * 5 % 7) + 30 * (i % 3 == 1) > 95 ? "yes" : "no")
        }
    }'
}
table 400 0 >"$tmp/old.csv"
table 60 700 >"$tmp/new.csv"
awk -F, -v OFS=, '{ print $3, $1, $4, $2 }' "$tmp/new.csv" >"$tmp/turned.csv"
check "a table is packed" call pack dense "$tmp/old.csv" label=y -o "$tmp/t.h5"
check "its rows are dealt to clients" call pack dense "$tmp/old.csv" label=y clients=9 -o "$tmp/sites.h5"
tuned() # RANKS NAME DATA [section.key=value ...]: prints the digest
{
    on "$1" tune "$tmp/empty.ini" run.data="$tmp/$3.h5" -o "$tmp/$2.h5" --force "${@:4}" && digest
}
maps="rff.features=60 rff.gamma=3 fmap.model=logistic space.configs=1"
nets="run.task=sgd sgd.model=mlp mlp.hidden=6 space.configs=1 random.resource=8 train.lr=0.2"
fed="run.task=fed run.mixing=none space.configs=1 fed.model=linear fed.cohort=9 client.lr=0.1 random.resource=4"
while read -r name data options; do
    # shellcheck disable=SC2086
    one=$(tuned 1 "$name" $data $options) && [ -n "$one" ] && [ "$(tuned 2 two $data $options)" = "$one" ] &&
        [ "$(tuned 3 three $data $options)" = "$one" ]
    result $? "$name: one digest on 1, 2 and 3 ranks"
    other=$(tuned 1 none $data ${options/run.scale=*}run.scale=none) && [ "$other" != "$one" ]
    result $? "$name: unscaled columns have another"
done <<END
maps t $maps run.scale=quantile
nets t $nets run.scale=quantile
standard sites $fed run.scale=standard
minmax sites $fed run.scale=minmax
END
for run in maps nets; do
    "$weft" report "$tmp/$run.h5" 2>"$tmp/log" | grep '^test' | grep -o ' [0-9][0-9.]*' | tr -d ' ' >"$tmp/mine"
    "$weft" eval "$tmp/$run.h5" "$tmp/t.h5" 2>>"$tmp/log" | awk '$1 == "test" { for (i = 3; i <= NF; i++) print $i }' >"$tmp/out"
    [ -s "$tmp/mine" ] && cmp "$tmp/mine" "$tmp/out"
    result $? "$run: the winner has the same scores on its data again"
    "$weft" predict "$tmp/$run.h5" "$tmp/new.csv" 2>"$tmp/log" | cut -d, -f3- >"$tmp/want" && "$weft" predict "$tmp/$run.h5" "$tmp/turned.csv" 2>>"$tmp/log" | cut -d, -f2- >"$tmp/out" &&
        [ "$(wc -l <"$tmp/want")" = 61 ] && cmp "$tmp/want" "$tmp/out"
    result $? "$run: new rows are ranked by the training rows, columns found by name"
    call export "$tmp/$run.h5" --force -o "$tmp/w.h5" && "$weft" predict "$tmp/w.h5" "$tmp/new.csv" 2>>"$tmp/log" | cut -d, -f3- | cmp "$tmp/want" -
    result $? "$run: an exported winner ranks them, too"
    if [ -n "$python" ]; then
        "$python" analysis/predict.py "$tmp/w.h5" "$tmp/new.csv" 2>"$tmp/log" | cut -d, -f2- >"$tmp/out" &&
            "$python" - "$tmp" 2>"$tmp/log" <<'END'
import csv, sys
a, b = ([list(r.values()) for r in csv.DictReader(open(f"{sys.argv[1]}/{name}"))] for name in ("want", "out"))
assert len(a) == len(b) == 60
assert all(x[0] == y[0] and all(abs(float(p) - float(q)) < 1e-5 for p, q in zip(x[1:], y[1:])) for x, y in zip(a, b)), (a[:2], b[:2])
END
        result $? "$run: so does analysis/predict.py"
    fi
done
if [ -n "$python" ]; then
    "$python" - "$tmp" >"$tmp/out" 2>&1 <<'END'
import sys
import h5py
import numpy as np
tmp = sys.argv[1]
with h5py.File(f"{tmp}/t.h5") as f, h5py.File(f"{tmp}/maps.h5") as run, h5py.File(f"{tmp}/minmax.h5") as part, h5py.File(f"{tmp}/sites.h5") as sites:
    x, q = f["train/x"][:].astype(float), run["winner/quantile"][:]
    x = f["shift"][:] + f["scale"][:] * x
    want = np.quantile(x, np.linspace(0, 1, q.shape[1]), axis=0).T
    assert q.shape == (4, 320) and (abs(q - want).max(1) < 1e-9 * np.ptp(want, axis=1)).all(), (q.shape, abs(q - want).max(1))
    assert "shift" not in run["winner"]
    x, count, first = sites["x"][:].astype(float), sites["client/count"][:], sites["client/first"][:]
    x = sites["shift"][:] + sites["scale"][:] * x
    own = np.concatenate([x[a:a + n[0]] for a, n in zip(first, count)])
    def check(part, shift, scale):
        assert (abs(part["winner/shift"][:] - shift) < 1e-6 * scale).all() and np.allclose(part["winner/scale"][:], scale)
    check(part, own.min(0), np.ptp(own, axis=0))
with h5py.File(f"{tmp}/standard.h5") as part:
    check(part, own.mean(0), own.std(0))
END
    result $? "quantiles, and what clients' columns are scaled by, are those of the training rows"
fi
tuned 1 still t ${nets/train.lr=0.2/train.lr=1e-12} run.start="$tmp/nets.h5" >/dev/null &&
    [ "$("$weft" report "$tmp/still.h5" | grep '^test')" = "$("$weft" report "$tmp/nets.h5" | grep '^test')" ]
result $? "a training that begins with the winner has its ranks"
tuned 1 gz t $maps rff.preprocess=none run.scale=minmax >/dev/null && grep -q 'scaled to 0 .. 1' "$tmp/log"
result $? "maps take columns by the same option"
# Two columns of a mean and a deviation each: which networks have scaled by themselves.
while read -r mean deviation other scaled; do
    awk -v m="$mean" -v d="$deviation" -v o="$other" 'BEGIN { for (i = 0; i < 40; i++) print m + d * (-1) ^ i "," o * (-1) ^ int(i / 2) "," int(i / 4) % 2 }' >"$tmp/pair.csv"
    call pack dense "$tmp/pair.csv" header=no shares=end -o "$tmp/pair.h5" --force &&
        tuned 1 scales pair run.task=sgd sgd.model=linear space.configs=1 random.resource=1 >/dev/null &&
        [ "$(grep -c 'columns are scaled to mean 0 and deviation 1' "$tmp/log")" = "$scaled" ]
    result $? "deviations $deviation and $other, a mean of $mean: scaled $scaled"
done <<END
0 3.9 1 0
0 4.1 1 1
0 0.11 0.11 0
0 0.09 0.09 1
0 1 0.0101 0
0 1 0.0099 1
9.9 1 1 0
10.1 1 1 1
END
awk 'BEGIN { for (i = 0; i < 40; i++) print "5," (-1) ^ i "," (-1) ^ int(i / 2) "," int(i / 4) % 2 }' >"$tmp/same.csv"
call pack dense "$tmp/same.csv" header=no numbers=1 shares=end -o "$tmp/same.h5" &&
    tuned 1 scales same run.task=sgd sgd.model=linear space.configs=1 random.resource=1 >/dev/null && ! grep -q 'columns are scaled' "$tmp/log"
result $? "a column that is the same in all rows decides nothing"
refused() # PATTERN STATEMENT DATA [section.key=value ...]
{
    refuses "[1-9]" "$1" "$2 is refused in one line" tuned 2 no "${@:3}"
}
refused 'run.scale = quantile ranks all numbers of a column, and .*sites.h5 has clients, of which only sums are taken; use standard or minmax' \
    "a rank among the numbers of clients" sites $fed run.scale=quantile
call eval "$tmp/nets.h5" "$tmp/sites.h5"
[ $? != 0 ] && [ "$(grep -c 'is a federation, but the winner of .*nets.h5 takes columns by their ranks' "$tmp/log")" = 1 ]
result $? "so is a federation for a winner that ranks columns"
echo "1..$count"
