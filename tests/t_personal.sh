#!/bin/bash
# Searches whose clients keep numbers from turn to turn: the same digest on any ranks and teams,
# after kills and with few states on disk; scores client by client. Prints TAP.
. tests/tap.sh
export OMPI_MCA_rmaps_base_oversubscribe=1 PRTE_MCA_rmaps_default_mapping_policy=:oversubscribe

"$weft" pack synthetic images rows=900 d=16 classes=4 clients=24 partition=dirichlet alpha=0.4 \
    -o "$tmp/fed.h5" >"$tmp/log" 2>&1
result $? "a federation of unlike clients is packed"
cat >"$tmp/in.ini" <<END
[run]
data = $tmp/fed.h5
task = fed
tuner = asha
mixing = fedex
workers = 3
test = yes
[space]
configs = 6
[asha]
reduction = 2
max_resource = 8
[fedex]
k = 3
[fed]
model = linear
algorithm = ditto
cohort = 6
[client]
lr = log 0.01 .. 0.3
batch = 8
END
run() # RANKS ARGUMENT...
{
    local ranks=$1
    shift
    rm -rf "$tmp"/r.*
    timeout "$net" mpirun -n "$ranks" "$weft" tune "$tmp/in.ini" -o "$tmp/r.h5" "$@" >"$tmp/out" 2>"$tmp/log"
}
same() # STATEMENT
{
    [ -n "$whole" ] && [ "$(digest "$tmp/r.h5")" = "$whole" ]
    result $? "$1"
}
ditto="fed.algorithm=ditto ditto.lambda=0.01..10"
for setting in "$ditto" "fed.algorithm=cpg cpg.size=3 cpg.lr=0.1..3" \
    "fed.algorithm=scaffold run.tuner=pbt pbt.population=4 pbt.interval=2 pbt.max_resource=6"; do
    # shellcheck disable=SC2086
    "$weft" tune "$tmp/in.ini" -o "$tmp/whole.h5" --force $setting >"$tmp/out" 2>"$tmp/log"
    result $? "$setting: a search to its end"
    whole=$(digest)
    # shellcheck disable=SC2086
    run 3 $setting
    same "by three ranks"
    # shellcheck disable=SC2086
    run 3 $setting run.teams=3 run.disk=2e-5
    same "by three teams with room for few states"
    rm -rf "$tmp"/r.*
    # shellcheck disable=SC2086
    WEFT_HOLD="job 4 of" "$weft" tune "$tmp/in.ini" -o "$tmp/r.h5" run.checkpoint=1e-6 $setting >"$tmp/out" 2>"$tmp/log" &
    run=$!
    held $run
    kill -KILL $run
    wait $run 2>/dev/null
    "$weft" resume "$tmp/r.h5" >"$tmp/out" 2>"$tmp/log"
    same "killed and resumed"
done

# ---- scores of clients ----------------------------------------------------------------------

# shellcheck disable=SC2086
"$weft" tune "$tmp/in.ini" -o "$tmp/r.h5" --force $ditto >"$tmp/out" 2>"$tmp/log"
grep -Eq '^clients   error of the best tenth [0-9.]+ %, median [0-9.]+ %, worst tenth [0-9.]+ %' "$tmp/out"
result $? "the report says how unequal clients are"
find_python "h5py, numpy"
if [ -z "$python" ]; then
    echo "ok $((count += 1)) # SKIP no h5py"
else
    "$python" - "$tmp/r.h5" >"$tmp/out" 2>"$tmp/log" <<'END'
import sys
import h5py
import numpy
with h5py.File(sys.argv[1]) as f:
    clients, winner = f["clients"], f["winner"].attrs
    count = clients["count"][:]
    for name in "loss", "error", "personal_loss", "personal_error":
        mean = numpy.average(clients[name][:], weights=count)
        assert abs(mean - winner["test_" + name]) < 1e-9, name
    error = numpy.sort(clients["personal_error"][:])
    tenth = -(-len(error) // 10)
    shown = clients.attrs
    assert abs(shown["worst_error"] - error[-tenth:].mean()) < 1e-12
    assert abs(shown["best_error"] - error[:tenth].mean()) < 1e-12
    assert abs(shown["median_error"] - numpy.median(error)) < 1e-12
    assert abs(shown["std_error"] - error.std()) < 1e-12
    assert shown["error_column"] == "personal_error" and shown["part"] == "test"
    assert len(set(clients["number"][:])) == len(error)
END
    result $? "their scores are those of the whole, and its quantiles"
fi
"$weft" eval "$tmp/r.h5" "$tmp/fed.h5" >"$tmp/eval" 2>"$tmp/log" &&
    shown=$(sed -n 's/^test .* personal error \([0-9.]*\) %.*/\1/p' <("$weft" report "$tmp/r.h5")) &&
    cp "$tmp/eval" "$tmp/out" && [ -n "$shown" ] && grep -q "^test .* $shown *$" "$tmp/eval"
result $? "eval finds what clients keep: the same scores"
"$weft" pack synthetic images rows=900 d=16 classes=4 clients=9 partition=iid -o "$tmp/other.h5" >"$tmp/log" 2>&1
"$weft" eval "$tmp/r.h5" "$tmp/other.h5" >"$tmp/out" 2>"$tmp/log"
[ $? = 4 ] && [ "$(grep -c '^weft: .*or the clients, or the words' "$tmp/log")" = 1 ]
result $? "other clients are refused by a line"

# ---- what travels -----------------------------------------------------------------------------

bytes() # SETTING: of a federation of three rounds
{
    "$weft" tune "$tmp/in.ini" -o "$tmp/b.h5" --force run.tuner=random run.mixing=none space.configs=1 \
        random.resource=3 client.lr=0.1 fed.algorithm="$1" 2>"$tmp/log" >"$tmp/out" &&
        sed -n 's/^in these .* surplus,* *\([0-9.e-]*\).*/\1/p' "$tmp/out"
}
avg=$(bytes fedavg)
twice=$(bytes scaffold)
[ "$(awk -v a="$avg" -v b="$twice" 'BEGIN { printf "%.2f", b / a }')" = 2.00 ] && [ "$(bytes ditto)" = "$avg" ] &&
    [ "$(bytes cpg)" = "$avg" ] && [ "$(bytes local)" = "" ] && [ "$(bytes fedper)" = "" ]
result $? "the bytes of a round are of what travels"
echo "1..$count"
