#!/bin/bash
# The scripts in analysis/ on runs that they are not for: each says so in one line, and leaves its
# table as it was; pictures of runs of networks and programs. Prints TAP.
. tests/tap.sh
export PYTHONDONTWRITEBYTECODE=1 WEFT=$weft

need_python "h5py, matplotlib"
fork_python "h5py matplotlib.pyplot"

mkdir "$tmp/runs"
run() # NAME TASK TUNER [SECTION.KEY=VALUE ...]
{
    echo >"$tmp/none.ini"
    call tune "$tmp/none.ini" run.task="$2" run.tuner="$3" -o "$tmp/runs/$1.h5" "${@:4}"
}
call pack synthetic images rows=200 -o "$tmp/rows.h5" &&
    call pack synthetic documents rows=120 -o "$tmp/doc.h5" &&
    call pack synthetic federated=generated clients=12 -o "$tmp/clients.h5" &&
    run sgd sgd asha run.data="$tmp/rows.h5" sgd.model=linear sgd.steps=5 train.lr="log 0.01 .. 1" \
        asha.trials=4 asha.max_resource=4 asha.reduction=2 &&
    run fmap fmap random run.data="$tmp/doc.h5" space.configs=2 ngram.order="1 .. 2" fmap.feature=ngram fmap.model=ridge &&
    run fed fed random run.data="$tmp/clients.h5" space.configs=2 random.resource=2 fed.model=linear client.lr="log 0.01 .. 1" &&
    printf '[run]\ntask = command\n[command]\nrun = echo loss=$PARAM_x\n[parameters]\nx = 0.0 .. 1.5\n' >"$tmp/command.ini" &&
    call tune "$tmp/command.ini" run.tuner=asha asha.trials=4 asha.max_resource=4 asha.reduction=2 \
        -o "$tmp/runs/command.h5"
result $? "runs of four tasks are there"

# One line on stderr, at least where the script ends with an error, and no traceback.
told()
{
    case $1 in 0) ! grep -q Traceback "$tmp/log" ;; *) [ "$(wc -l <"$tmp/log")" = 1 ] ;; esac
}
refuses() # STATEMENT NAME ARGUMENT ...: with an error, and what is in $tmp/table stays
{
    rm -rf "$tmp/before" && cp -r "$tmp/table" "$tmp/before"
    "$python" "analysis/$2.py" "${@:3}" >"$tmp/out" 2>"$tmp/log"
    status=$?
    [ "$status" != 0 ] && told "$status" && diff -r "$tmp/before" "$tmp/table" >>"$tmp/out"
    result $? "$1"
}
mkdir "$tmp/table" && cp analysis/*.tsv "$tmp/table"
table=$tmp/table sgd=$tmp/runs/sgd.h5
refuses "equal.py refuses a file in the place of a directory" equal "$sgd" -o "$table/equal"
refuses "equal.py refuses a directory without its runs" equal "$tmp/runs" -o "$table/equal"
refuses "equal.py refuses a sweep that is none before it writes any table" equal "$tmp/runs" --sweep "$tmp/none.ini" -o "$table/equal"
refuses "cnn.py refuses a run that is not named as it should be" cnn "$sgd" -o "$table/cnn.tsv"
refuses "text.py refuses a run that is not named as it should be" text "$sgd" -o "$table/text.tsv"
refuses "trained.py refuses a run that is not named as it should be" trained "$sgd" -o "$table/trained.tsv"
refuses "curves.py refuses a run in which a configuration has several jobs" curves "$sgd" -o "$table/curves.tsv"
refuses "replays.py refuses a file in the place of a directory" replays "$sgd" --table "$table/replays.tsv"
refuses "workers.py refuses a directory without its runs" workers "$tmp/runs" --table "$table/workers.tsv"
refuses "mipego.py refuses a file in the place of a directory" mipego "$sgd" -d "$table"
refuses "compare.py refuses a run of another task" compare "$sgd" -o "$table/quality-imdb.tsv"
refuses "claims.py refuses a run of another task" claims "$sgd" -d "$table"
refuses "budgets.py refuses a run of another task" budgets "$sgd" -d "$table"
refuses "federated.py refuses a run of another task" federated "$sgd" -o "$table/federated"
refuses "axes.py refuses a run of too few results" axes "$sgd" -o "$table/axes.svg"
refuses "and a file that is no run" axes "$tmp/rows.h5" -o "$table/axes.svg"
call tune "$tmp/command.ini" run.tuner=random space.configs=24 parameters.x='log 1e-3 .. 1.5' parameters.word='one | <two>' -o "$tmp/axes.h5" &&
    "$python" analysis/axes.py "$tmp/axes.h5" >"$tmp/out" 2>"$tmp/log" && [ "$(cat "$tmp/out")" = "$tmp/axes-axes.svg" ]
result $? "axes.py draws which axes matter"
"$python" - "$tmp/axes-axes.svg" >"$tmp/out" 2>"$tmp/log" <<'END'
import sys
import xml.etree.ElementTree as tree
text = ["".join(t.itertext()) for t in tree.parse(sys.argv[1]).iter("{http://www.w3.org/2000/svg}text")]
assert [text.count(name) for name in ("x", "word", "with word", "one", "<two>", "0.001")] == [3, 2, 1, 1, 1, 1], text
assert any(t.startswith("24 results at resource 1; a forest explains 0.8") for t in text), text
END
result $? "shares, curves and words are told by name"
mkdir "$tmp/named" && cp "$tmp/runs/fmap.h5" "$tmp/named/random-4-1.h5" && cp "$tmp/runs/command.h5" "$tmp/named/tpe-1.h5"
refuses "cnn.py refuses a run of another task with the right name" cnn "$tmp/named/random-4-1.h5" -o "$table/cnn.tsv"
refuses "mipego.py refuses runs of another task" mipego "$tmp/named" -d "$table"

for task in sgd command fed; do
    "$python" analysis/run.py "$tmp/runs/$task.h5" -o "$tmp/$task.png" >"$tmp/out" 2>"$tmp/log" &&
        [ "$(head -c 4 "$tmp/$task.png" | tail -c 3)" = PNG ]
    result $? "run.py draws a run of task $task"
done
call tune "$tmp/command.ini" command.run=false run.tuner=random space.configs=2 -o "$tmp/none.h5"
! "$python" analysis/run.py "$tmp/none.h5" -o "$tmp/none.png" >"$tmp/out" 2>"$tmp/log" && told 1 &&
    grep -q 'no winner: none of its 2 jobs' "$tmp/log"
result $? "and says that one has no winner"

# Methods of federations: seeds of one are a line with their mean, whatever differs is another.
set --
for seed in 1 2; do
    for how in client.mu=0 client.mu=0.5 server.optimizer=adam fed.algorithm=scaffold; do
        run "$how-$seed" fed random run.data="$tmp/clients.h5" random.resource=4 fed.model=linear run.seed=$seed \
            fed.eval_every=2 fed.eval_clients=0 device.sample_seconds=1 "$how" && set -- "$@" "$tmp/runs/$how-$seed.h5"
    done
done
"$python" analysis/clients.py "$tmp/runs/fed.h5" -o "$tmp/each" --local "$tmp/runs/fed.h5" >"$tmp/out" 2>"$tmp/log" &&
    grep -q '^fedavg *1 seeds  error .* worse than alone 0 %$' "$tmp/out" && [ -s "$tmp/each.png" ] && [ -s "$tmp/each.csv" ]
result $? "clients of a federation are drawn from best served to worst"
runs=$tmp/runs
"$python" analysis/clients.py "$runs"/client.mu=0-[12].h5 "$runs"/fed.algorithm=scaffold-[12].h5 -o "$tmp/pairs" --than fedavg \
    >"$tmp/out" 2>"$tmp/log" && "$python" - "$tmp/pairs.csv" "$runs" >"$tmp/out" 2>"$tmp/log" <<'END'
import csv, sys, h5py
row = {r["method"]: r for r in csv.DictReader(open(sys.argv[1]))}
def error(how, seed):
    with h5py.File(f"{sys.argv[2]}/{how}-{seed}.h5") as f:
        return 100 * f["winner"].attrs["test_personal_error"]
x = [error("fed.algorithm=scaffold", seed) - error("client.mu=0", seed) for seed in (1, 2)]
assert abs(float(row["scaffold"]["less"]) - sum(x) / 2) < 1e-6
assert abs(float(row["scaffold"]["less, half"]) - 12.7062 * abs(x[0] - x[1]) / 2) < 1e-2
assert float(row["fedavg"]["less"]) == 0 and row["scaffold"]["seeds"] == "2"
END
result $? "and methods are compared by pairs of seeds"
"$python" analysis/federated.py "$@" "$tmp/runs/fed.h5" -o "$tmp/methods" >"$tmp/out" 2>"$tmp/log" &&
    grep -q '^9 runs, 5 methods' "$tmp/out" && [ "$(cut -d , -f 1,2 "$tmp/methods.csv" | tr '\n' ';')" = \
    'method,seeds;FedAvg: client.mu=0,2;FedAvg: client.mu=0.5,2;FedAvg: server.optimizer=adam,2;scaffold,2;random search,1;' ]
result $? "federated.py tells methods apart by the options that differ"
"$python" - "$tmp/methods.csv" "$tmp/runs" >"$tmp/out" 2>"$tmp/log" <<'END'
import csv, sys, h5py
row = list(csv.DictReader(open(sys.argv[1])))[1]
f = [h5py.File(f"{sys.argv[2]}/client.mu=0.5-{seed}.h5") for seed in (1, 2)]
x = [100 * (1 - r["winner"].attrs["test_error"]) for r in f]
assert abs(float(row["test_global"]) - sum(x) / 2) < 0.01
assert abs(float(row["test_global_half"]) - 12.7062 * abs(x[0] - x[1]) / 2) < 0.01  # t of one degree
assert abs(float(row["virtual_hours"]) - sum(r["rounds/seconds"][:].sum() for r in f) / 7200) < 0.01
END
result $? "with means, 95 % intervals over seeds and virtual hours"
refuses "but refuses two runs of one method with one seed" federated "$1" "$1" -o "$table/federated"

# The pictures of `make demo`, of small runs.
refuses "demo.py refuses a prefix without the runs of the demo" demo "$tmp/demo"
for data in documents images; do
    run ../demo-$data-sweep-1 fmap random run.data="$tmp/doc.h5" space.configs=4 ngram.order="1 .. 3" fmap.feature=ngram &&
        run ../demo-$data-shared-1 fmap ws_sha run.data="$tmp/doc.h5" space.configs=4 ngram.order="1 .. 3" fmap.feature=ngram ws_sha.switch=1 &&
        cp "$tmp/demo-$data-shared-1.h5" "$tmp/demo-$data-shared-2.h5" && cp "$tmp/demo-$data-sweep-1.h5" "$tmp/demo-$data-sweep-2.h5" || break
done && cp "$tmp/demo-documents-shared-1.h5" "$tmp/demo-documents-rank.h5" &&
    for seed in 1 2; do
        run ../demo-fedex-$seed fed random run.data="$tmp/clients.h5" run.seed=$seed space.configs=2 random.resource=2 space.first= fed.model=linear run.test=yes \
            client.lr="log 0.01 .. 1" || break
        for name in defaults average random one; do cp "$tmp/demo-fedex-$seed.h5" "$tmp/demo-$name-$seed.h5"; done
    done &&
    "$python" analysis/demo.py "$tmp/demo" >"$tmp/out" 2>"$tmp/log" && [ -s "$tmp/demo-maps.png" ] && [ -s "$tmp/demo-federation.png" ]
result $? "demo.py draws the two pictures"
grep -q 'finds its rate first, with momentum and average, has 0.0 +- 0.0 points more (not resolved); beside' "$tmp/out"
result $? "of equal runs it says that nothing is resolved"
check "it prints two digests" [ "$(grep -c 'digest' "$tmp/out")" = 2 ]
cp "$tmp/demo-images-sweep-1.h5" "$tmp/demo-documents-rank.h5"
! "$python" analysis/demo.py "$tmp/demo" >"$tmp/out" 2>"$tmp/log"
result $? "it ends with an error where the digests differ"
check "which it tells" grep -q 'the digests differ' "$tmp/log"

# jobs/one.sh's table: two seeds of which one method has the first twice.
refuses "beside.py refuses a directory without the defaults" beside "$tmp/table"
mkdir "$tmp/ways" && cp "$tmp/demo-fedex-1.h5" "$tmp/ways/defaults-1.h5" && cp "$tmp/demo-fedex-2.h5" "$tmp/ways/defaults-2.h5" &&
    for seed in 1 2; do cp "$tmp/demo-fedex-1.h5" "$tmp/ways/one-$seed.h5" && cp "$tmp/demo-fedex-1.h5" "$tmp/ways/oracle-$seed.h5"; done
"$python" analysis/beside.py "$tmp/ways" >"$tmp/out" 2>"$tmp/log"
result $? "beside.py makes a table of methods"
"$python" - "$tmp/out" "$tmp/ways" <<'END'
import sys, h5py
lines = [[cell.strip() for cell in line.split("|")[1:-1]] for line in open(sys.argv[1]) if "|" in line]
table = {cells[0]: dict(zip(lines[0], cells)) for cells in lines[2:]}
x = [100 * h5py.File(f"{sys.argv[2]}/defaults-{seed}.h5")["winner"].attrs["test_personal_error"] for seed in (1, 2)]
half = 12.7062 * abs(x[0] - x[1]) / 2
one, plain = table["one"], table["defaults"]
assert one["seeds"] == "2" and one["error %"] == f"{x[0]:.2f} +- 0.00", one
assert one["less defaults"] == f"{(x[0] - x[1]) / 2:+.2f} +- {half:.2f}" and plain["less defaults"] == "", one
assert one["worst"] == f"{x[0]:.2f}" and one["behind"] == str(int(x[0] > x[1])), one
assert plain["error %"] == f"{sum(x) / 2:.2f} +- {half:.2f}", plain
assert one.get("of the gap", "") == ("100 %" if x[1] > x[0] else ""), one
assert one["rounds"] == "4" and "epsilon" not in one and "reached" not in one, one
END
result $? "with errors, differences paired by seed, intervals, the share of the gap and rounds"
data=$("$python" -c 'import h5py, sys; print(h5py.File(sys.argv[1]).attrs["data"])' "$tmp/ways/one-1.h5")
"$python" analysis/beside.py --eval "$data" "$tmp/ways" >"$tmp/out" 2>"$tmp/log"
error=$("$weft" eval "$tmp/ways/one-1.h5" "$data" 2>"$tmp/log" | awk '$1 == "test" { printf "%.2f", $4 }')
[ -n "$error" ] && grep -q "^| one | 2 | $error +- 0.00 |" "$tmp/out"
result $? "errors by weft eval, $error"
# Curves that are known: the second run has five times the turns and a fifth of the time, and comes to 40 % a round later.
"$python" - "$tmp" <<'END'
import sys, h5py
for name, clients, seconds, errors in (("sync", 10, 3600, (.9, .4, .3, .2)), ("async", 50, 720, (.9, .9, .4, .2)), ("never", 10, 3600, (.9, .9, .8, .7))):
    with h5py.File(f"{sys.argv[1]}/ways/{name}-1.h5", "w") as f, h5py.File(f"{sys.argv[1]}/ways/defaults-1.h5") as old:
        for k in old: old.copy(k, f)
        f.attrs.update(old.attrs)
        f.attrs["privacy_epsilon"] = 7.5
        scored = f["clients"].attrs["error_column"]
        f["clients"][scored][:] = [i / 20 for i in range(len(f["clients"][scored]))]
        for k, v in {"clients": [clients] * 4, "seconds": [seconds] * 4, "valid_error": errors}.items():
            assert len(f["rounds"][k]) == 4
            f["rounds"][k][:] = v
        for k in ("dropped", "surplus", "diverged"): f["rounds"][k][:] = 0
END
rm "$tmp"/ways/*-2.h5
"$python" analysis/beside.py --baseline sync --target 40 "$tmp/ways" >"$tmp/out" 2>"$tmp/log"
result $? "it takes another baseline and a target"
"$python" - "$tmp/out" "$tmp/ways/sync-1.h5" <<'END'
import sys, h5py
lines = [[cell.strip() for cell in line.split("|")[1:-1]] for line in open(sys.argv[1]) if "|" in line]
table = {cells[0]: dict(zip(lines[0], cells)) for cells in lines[2:]}
sync, other, never = table["sync"], table["async"], table["never"]
n = len(h5py.File(sys.argv[2])["clients/error"])
worst = sorted(i / 20 for i in range(n))[-max(1, n // 10):]
assert sync["worst tenth"] == f"{100 * sum(worst) / len(worst):.2f}" and sync["epsilon"] == "7.50", sync
assert (sync["turns"], sync["hours"]) == ("40", "4") and (other["turns"], other["hours"]) == ("200", "0.8"), table
assert (sync["reached"], sync["turns to it"], sync["hours to it"]) == ("1", "20", "2"), sync
assert (other["turns to it, ratio"], other["hours to it, ratio"]) == ("7.50", "0.30"), other
assert never["reached"] == "0" and never["turns to it"] == "", never
END
result $? "and tells turns and hours to it, the worst tenth of clients, and epsilon"
! "$python" analysis/beside.py -o "$tmp/curves.svg" "$tmp/ways" >"$tmp/out" 2>"$tmp/log" && [ "$(wc -l <"$tmp/log")" = 1 ] && grep -q 'give fed.eval_every' "$tmp/log"
result $? "a curve needs evaluations, which one line says"
rm "$tmp"/ways/[do]*.h5 # those without
"$python" analysis/beside.py --baseline sync -o "$tmp/curves.svg" "$tmp/ways" >"$tmp/out" 2>"$tmp/log" &&
    grep -q '>virtual hours<' "$tmp/curves.svg" && grep -q '>never<' "$tmp/curves.svg"
result $? "errors by turns and virtual hours are drawn"

# Any script with any run: never a traceback.
mkdir "$tmp/own"
bad=
for name in run run:--timeline mixture flow curves cnn text trained compare claims budgets federated figures scaling; do
    script=${name%%:*} && set --
    case $name in
    run | mixture | flow) set -- -o "$tmp/table/x.png" ;;
    run:*) set -- --timeline -o "$tmp/table/x.png" ;;
    claims | budgets) set -- -d "$tmp/own" ;;
    figures) set -- --x bins -o "$tmp/table/x" ;;
    federated | scaling) set -- -o "$tmp/table/x" ;;
    *) set -- -o "$tmp/table/x.tsv" ;;
    esac
    for task in sgd fmap fed command; do
        "$python" "analysis/$script.py" "$tmp/runs/$task.h5" "$@" >"$tmp/out" 2>"$tmp/log"
        status=$?
        told "$status" || { bad+="$name $task: $(tail -n 1 "$tmp/log"); " && cat "$tmp/log" >&2; }
    done
done
echo "$bad" >"$tmp/log"
check "no script ends with a traceback on a run of any task" [ -z "$bad" ]
echo "1..$count"
