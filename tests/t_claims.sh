#!/bin/bash
# Intervals and paired comparisons of the scripts in analysis/ against values by hand and
# printed tables; then jobs/claims.sh at a small size, and its tables. Prints TAP.
. tests/tap.sh
. tests/plays.sh
export PYTHONDONTWRITEBYTECODE=1

# A Python that can read run files.
find_python "h5py, matplotlib"

# says STATEMENT EXPRESSION ...: each is true, with the names of analysis/stats.py.
says()
{
    local statement=$1 expression
    shift
    : >"$tmp/log"
    for expression; do
        PYTHONPATH=analysis "${python:-python3}" - "$expression" >>"$tmp/log" 2>&1 <<'END' || break
import math, sys
from stats import *
def near(a, b, within): return abs(a - b) <= within
if not eval(sys.argv[1]): sys.exit(f"not true: {sys.argv[1]}")
END
        false
    done
    check "$statement" [ ! -s "$tmp/log" ]
}

says "the quantiles of Student's t are those of printed tables" \
    'near(t_quantile(1), 12.70620, 1e-5)' 'near(t_quantile(2), 4.30265, 1e-5)' \
    'near(t_quantile(3), 3.18245, 1e-5)' 'near(t_quantile(8), 2.30600, 1e-5)' \
    'near(t_quantile(15), 2.13145, 1e-5)' 'near(t_quantile(30), 2.04227, 1e-5)' \
    'near(t_quantile(120), 1.97993, 1e-5)' 'near(t_quantile(5, 0.99), 4.03214, 1e-5)'
# 1, 2, 3, 6: mean 3, squares 4 + 1 + 0 + 9, deviation sqrt(14 / 3), error sqrt(14 / 12).
says "the interval of a mean is t times its error" \
    'by_samples([1, 2, 3, 6]).mean == 3' \
    'near(by_samples([1, 2, 3, 6]).half, 3.18245 * math.sqrt(14 / 12), 1e-4)' \
    'near(by_samples([1, 2, 3, 6]).deviation, math.sqrt(14 / 3), 1e-9)' \
    'by_samples([5]).half == math.inf' 'by_samples([7, 7, 7]).half == 0'
# Clusters {1, 3}, {5, 7}: their means 2 and 6 have deviation sqrt(8), the error is 2.
says "clusters of one size have the interval of their means" \
    'near(by_clusters([1, 3, 5, 7], "aabb").half, 2 * 12.70620, 1e-4)' \
    'by_clusters([1, 3, 5, 7], "aabb").n == 2' \
    'near(by_clusters([1, 3, 5, 7], "abab").half, 12.70620, 1e-4)'
# {0}, {3, 3}: mean 2, sums of residuals -2 and 2, variance 2 / 1 * 8 / 9.
says "clusters of several sizes have the sandwich's interval" \
    'near(by_clusters([0, 3, 3], "abb").half, 12.70620 * 4 / 3, 1e-4)' \
    'by_clusters([0, 3], "aa").half == math.inf'
# t_15 2 / sqrt 16 = 1.066, t_16 2 / sqrt 17 = 1.028, t_17 2 / sqrt 18 = 0.9946.
says "the number of samples that is needed is the least that does" \
    'needed(2) == 18' 'needed(0.05) == 2' 'needed(math.nan) == math.inf' \
    'all(t_quantile(needed(s) - 1) * s <= math.sqrt(needed(s)) for s in (1, 3, 10))' \
    'all(t_quantile(needed(s) - 2) * s > math.sqrt(needed(s) - 1) for s in (1, 3, 10))'
says "a verdict is what the interval excludes" \
    'verdict(Interval(2, 1.5, 1, 9)) == "better"' 'verdict(Interval(-2, 1.5, 1, 9)) == "worse"' \
    'verdict(Interval(0.5, 0.4, 1, 9)) == "better, by at most 1"' \
    'verdict(Interval(0.2, 0.7, 1, 9)) == "within +-1"' \
    'verdict(Interval(-0.6, 0.7, 1, 9)) == "not resolved"' \
    'verdict(Interval(-1.5, 19.8, 8, 3)) == "not resolved"' \
    'wins([1, 0, -2, 3]) == (2, 1, 1)'

if [ -z "$python" ]; then
    echo "ok $((count + 1)) - the tables # SKIP no Python with h5py and matplotlib"
    echo "1..$((count + 1))"
    exit
fi

plays >"$tmp/plays.txt"
check "plays are packed" call pack shakespeare "$tmp/plays.txt" length=20 stride=5 -o "$tmp/plays.h5"
sed -e 's/^configs = .*/configs = 3/; s/^hidden = .*/hidden = 4/; s/^cohort = .*/cohort = 3/' \
    -e 's/^max_resource = .*/max_resource = 2/; s/^budget = .*/budget = 4/; s/^eliminations = .*/eliminations = 1/' \
    inputs/shakespeare-small.ini >"$tmp/small.ini"
claims() # SEEDS TABLES
{
    SEEDS=$1 TABLES=$2 WEFT=$weft LAUNCH=env INPUT=$tmp/small.ini OUTPUT=$tmp/runs ARMS=2 \
        ROUNDS=2 PATH=$tmp/bin:$PATH bash jobs/claims.sh run.data="$tmp/plays.h5" \
        >"$tmp/out" 2>"$tmp/log"
}
mkdir "$tmp/tables" && python_first
check "jobs/claims.sh runs a seed and writes its tables" claims 1 "$tmp/tables"
check "jobs/claims.sh runs another seed, without tables" claims "1 2" ''
check "and does not repeat the first" [ "$(grep -c "^digest" "$tmp/out")" = 7 ]
cp "$tmp/tables/claims-arms.tsv" "$tmp/before.tsv"
"$python" analysis/claims.py "$tmp"/runs/*-2.h5 -d "$tmp/tables" >"$tmp/out" 2>"$tmp/log" &&
    [ "$(wc -l <"$tmp/tables/claims-arms.tsv")" = 17 ] &&
    [ "$(wc -l <"$tmp/tables/claims-methods.tsv")" = 7 ] &&
    [ "$(grep -Fxc -f "$tmp/before.tsv" "$tmp/tables/claims-arms.tsv")" = 9 ]
result $? "runs of another seed are added to the tables"
cp "$tmp/tables/claims-arms.tsv" "$tmp/before.tsv"
"$python" analysis/claims.py "$tmp"/runs/*.h5 -d "$tmp/tables" >"$tmp/out" 2>"$tmp/log" &&
    cmp -s "$tmp/before.tsv" "$tmp/tables/claims-arms.tsv"
result $? "runs that are there are not added twice"
cmp -s "$tmp/out" "$tmp/tables/claims.md" && [ "$(grep -c '^## Paired arms$\|^## Methods$' "$tmp/out")" = 2 ]
result $? "arms and methods are in the report"
mkdir "$tmp/arms" && cp "$tmp/before.tsv" "$tmp/arms/claims-arms.tsv" && "$python" analysis/claims.py -d "$tmp/arms" >"$tmp/out" 2>"$tmp/log" &&
    ! grep -q '^## Methods$' "$tmp/out"
result $? "which has no part for what was not run"
awk -F '\t' -v OFS='\t' 'NR == 1 { while ($++c != "centre"); } $1 == "stay" { $c = $c "1" } 1' "$tmp/before.tsv" >"$tmp/arms/claims-arms.tsv"
! "$python" analysis/claims.py -d "$tmp/arms" >"$tmp/out" 2>"$tmp/log" && grep -q '^seed 1, arm [0-9]*: [a-z0-9]* and [a-z0-9]* have other centres$' "$tmp/log"
result $? "arms with other centres are no pair"

# The gain of arm 1, seed 2, by the adaptive step, from the run files themselves.
"$python" - "$tmp" >"$tmp/out" 2>"$tmp/log" <<'END'
import csv, h5py, sys
tmp, wrong = sys.argv[1], 0
rows = {(r["variant"], r["seed"], r["arm"]): r
        for r in csv.DictReader(open(f"{tmp}/tables/claims-arms.tsv"), delimiter="\t")}
for variant in "eps0", "stay", "adaptive", "aggressive":
    with h5py.File(f"{tmp}/runs/arms-{variant}-2.h5") as f:
        for i, arm in enumerate(f["events/trial"][:]):
            for score in "personal", "global":
                x = 100 * f[f"events/{score}_error"][i]
                wrong += abs(x - float(rows[variant, "2", str(arm)][f"{score}_error"])) > 1e-5
sys.exit(int(wrong))
END
result $? "errors of arms are those of their evaluations in the run files"
call tune inputs/shakespeare-small.ini run.data="$tmp/plays.h5" run.seed=3 lstm.hidden=5 fed.cohort=3 \
    sha.eliminations=0 fed.select=eval fed.eval_clients=100 space.configs=3 sha.max_resource=2 sha.budget=4 \
    -o "$tmp/other.h5"
result $? "arms with other settings run"
"$python" analysis/claims.py "$tmp/other.h5" -d "$tmp/tables" >"$tmp/out" 2>"$tmp/log"
[ $? = 1 ] && grep -q 'differ in data or settings' "$tmp/log" &&
    cmp -s "$tmp/before.tsv" "$tmp/tables/claims-arms.tsv"
result $? "runs with other settings are refused"
echo "1..$count"
