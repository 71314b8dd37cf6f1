#!/bin/bash
# jobs/budgets.sh at a small size, and the table of analysis/budgets.py: five schedules with
# and without FedEx. Prints TAP.
. tests/tap.sh
. tests/plays.sh
export PYTHONDONTWRITEBYTECODE=1

need_python "h5py, matplotlib"
plays >"$tmp/plays.txt"
check "plays are packed" call pack shakespeare "$tmp/plays.txt" length=20 stride=5 -o "$tmp/plays.h5"
mkdir "$tmp/tables" && python_first
budgets() # SEEDS
{
    SEEDS=$1 TABLES=$tmp/tables WEFT=$weft LAUNCH=env OUTPUT=$tmp/runs ROUNDS=9 \
        PATH=$tmp/bin:$PATH bash jobs/budgets.sh run.data="$tmp/plays.h5" lstm.layers=1 \
        lstm.hidden=4 fed.cohort=2 fed.test_clients=2 client.max_samples=4 >"$tmp/out" 2>"$tmp/log"
}
check "jobs/budgets.sh runs two seeds and writes its table" budgets "1 2"
[ "$(wc -l <"$tmp/tables/budgets.tsv")" = 21 ]
result $? "of a line for each schedule, mixing and seed"
awk -F '\t' 'NR > 1 && ($4 < 60 || $4 > 72 || !($5 > 0) || !($6 > 0) || !($7 > 0)) { bad = 1 }
    END { exit bad }' "$tmp/tables/budgets.tsv"
result $? "all have about 72 rounds, bytes, device time and a makespan"
grep -q '^| hyperband, fedex | hyperband | test, personal | 2 |' "$tmp/tables/budgets.md"
result $? "and are compared in pairs"
"$python" - "$tmp" >"$tmp/out" 2>"$tmp/log" <<'END'
import csv, h5py, sys
tmp = sys.argv[1]
for r in csv.DictReader(open(f"{tmp}/tables/budgets.tsv"), delimiter="\t"):
    with h5py.File(f"{tmp}/runs/{r['schedule']}-{r['mixing']}-{r['seed']}.h5") as f:
        hours = f["rounds/energy"][:].sum() / 3600  # at 1 W
        error = 100 * f["winner"].attrs["test_personal_error"]
        assert abs(float(r["device_hours"]) / hours - 1) < 1e-5, r
        assert abs(float(r["test_personal"]) - error) < 1e-4, r
        assert r["digest"] == f.attrs["digest"], r
END
result $? "its numbers are those of the run files"
cp "$tmp/tables/budgets.tsv" "$tmp/before.tsv"
budgets "1 2" && cmp -s "$tmp/before.tsv" "$tmp/tables/budgets.tsv" && [ ! -s "$tmp/log" ]
result $? "runs that are there are not repeated"
echo "1..$count"
