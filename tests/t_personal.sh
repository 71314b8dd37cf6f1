#!/bin/bash
# Searches whose clients keep numbers from turn to turn: the same digest on any ranks and teams,
# after kills and with few states on disk; scores client by client. Prints TAP.
. tests/tap.sh
export OMPI_MCA_rmaps_base_oversubscribe=1 PRTE_MCA_rmaps_default_mapping_policy=:oversubscribe

call pack synthetic images rows=900 d=16 classes=4 clients=24 partition=dirichlet alpha=0.4 \
    -o "$tmp/fed.h5"
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
    rm -rf "$tmp"/r.*
    on "$1" tune "$tmp/in.ini" -o "$tmp/r.h5" "${@:2}"
}
same() # STATEMENT
{
    check "$1" has_digest "$whole" "$tmp/r.h5"
}
ditto="fed.algorithm=ditto ditto.lambda=0.01..10"
for setting in "$ditto" "fed.algorithm=cpg cpg.size=3 cpg.lr=0.1..3" \
    "fed.algorithm=knn knn.k=1..9 knn.lambda=0..1" \
    "fed.algorithm=scaffold run.tuner=pbt pbt.population=4 pbt.interval=2 pbt.max_resource=6"; do
    # shellcheck disable=SC2086
    check "$setting: a search to its end" call tune "$tmp/in.ini" -o "$tmp/whole.h5" --force $setting
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
    call resume "$tmp/r.h5"
    same "killed and resumed"
done
# Where a state is removed the jobs that led to it are repeated: a stop keeps what of that is done.
set -- run.tuner=sha sha.reduction=2 sha.eliminations=2 sha.max_resource=9 space.configs=4
call tune "$tmp/in.ini" -o "$tmp/whole.h5" --force "$@"
whole=$(digest)
run 1 "$@" run.disk=1e-7 run.checkpoint=1e-6
! grep -q 'is damaged' "$tmp/log"
result $? "a job that is repeated does not call its checkpoint of the first time damaged"
run 1 "$@" run.disk=1e-7 run.time_limit=1e-9
status=$?
for _ in $(seq 60); do
    [ $status = 75 ] || break
    call resume "$tmp/r.h5"
    status=$?
done
check "a run with room for no state, stopped after every unit, ends" [ $status = 0 ]
same "as one that is not stopped"

"$weft" tune "$tmp/in.ini" fed.algorithm=ditto --plan 2>"$tmp/log" >"$tmp/out" &&
    grep -q ' each of 24 clients keeps 69 numbers: a state takes at most 0.00[0-9]* MB on disk, and a round 0.00' "$tmp/log"
result $? "the plan says what clients keep"

lines() # SETTING ...: of the plan, about an average that has no effect
{
    "$weft" tune "$tmp/in.ini" "$@" --plan 2>"$tmp/log" >"$tmp/out"
    grep -c 'fed.average = weighted has no effect: fed.algorithm = [a-z]* gives clients equal weights' "$tmp/log"
}
[ "$(lines fed.algorithm=scaffold fed.average=weighted)" = 1 ] && [ "$(lines fed.algorithm=feddyn fed.average=weighted)" = 1 ] &&
    [ "$(lines fed.algorithm=scaffold)" = 0 ] && [ "$(lines fed.algorithm=scaffold fed.average=plain)" = 0 ] &&
    [ "$(lines fed.algorithm=ditto fed.average=weighted)" = 0 ]
result $? "an average that has no effect is named"

# ---- scores of clients ----------------------------------------------------------------------

# shellcheck disable=SC2086
call tune "$tmp/in.ini" -o "$tmp/r.h5" --force $ditto
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
again() # FILE: eval of it gives the personal errors that the report of the run has
{
    "$weft" eval "$1" "$tmp/fed.h5" >"$tmp/eval" 2>"$tmp/log" &&
        shown=$(sed -n 's/^test .* personal error \([0-9.]*\) %.*/\1/p' <("$weft" report "$tmp/r.h5")) &&
        cp "$tmp/eval" "$tmp/out" && [ -n "$shown" ] && grep -q "^test .* $shown " "$tmp/eval"
}
check "eval finds what clients keep: the same scores" again "$tmp/r.h5"
told() # lines of the log, by three ranks, that clients are told by their numbers alone
{
    on 3 "$@" &&
        grep -c "warning: clients are told by their numbers alone: those of .*, which is other data, begin with what the clients of $tmp/r.h5 keep" "$tmp/log"
}
call pack synthetic images rows=800 d=16 classes=4 clients=24 partition=iid -o "$tmp/as_many.h5"
[ "$(told eval "$tmp/r.h5" "$tmp/as_many.h5")" = 1 ] && [ "$(told eval "$tmp/r.h5" "$tmp/fed.h5")" = 0 ]
result $? "as many others without names are taken for the same, with a warning"
begun="run.start=$tmp/r.h5 run.tuner=random run.mixing=none space.configs=1 random.resource=2 client.lr=0.1 ditto.lambda=1 -o $tmp/begun.h5 --force"
# shellcheck disable=SC2086
[ "$(told tune "$tmp/in.ini" run.data="$tmp/as_many.h5" $begun)" = 1 ] && [ "$(told tune "$tmp/in.ini" $begun)" = 0 ]
result $? "so it is where a run begins with them"
call pack synthetic images rows=900 d=16 classes=4 clients=9 partition=iid -o "$tmp/other.h5"
call eval "$tmp/r.h5" "$tmp/other.h5"
[ $? = 4 ] && [ "$(grep -c '^weft: .*or the clients, or the words' "$tmp/log")" = 1 ]
result $? "other clients are refused by a line"

call tune "$tmp/in.ini" -o "$tmp/r.h5" --force run.tuner=random run.mixing=none space.configs=1 random.resource=3 \
    client.lr=0.1 fed.algorithm=knn knn.k=3 knn.lambda=0.8 &&
    call export "$tmp/r.h5" -o "$tmp/k.h5" && again "$tmp/r.h5" && again "$tmp/k.h5"
result $? "answers by neighbours are those of the run in eval, of an exported winner, too"

# ---- clients by name --------------------------------------------------------------------------

json() # NAME ...: clients with names, each with samples of its own, as LEAF has them
{
    printf '%s\n' "$@" | awk '{ user[NR] = $1; of = substr($1, 2) }
        { rows = labels = ""
          for (i = 0; i < 20; i++) {
              x = sin(of * 7 + i * 3); y = cos(of * 5 + i)
              rows = rows (i ? "," : "") "[" x "," y "]"; labels = labels (i ? "," : "") (of % 2 ? x > y : x < y)
          }
          data[NR] = "\"" $1 "\":{\"x\":[" rows "],\"y\":[" labels "]}" }
        END { printf "{\"users\":["
              for (i = 1; i <= NR; i++) printf "%s\"%s\"", (i > 1 ? "," : ""), user[i]
              printf "],\"num_samples\":["
              for (i = 1; i <= NR; i++) printf "%s20", (i > 1 ? "," : "")
              printf "],\"user_data\":{"
              for (i = 1; i <= NR; i++) printf "%s%s", (i > 1 ? "," : ""), data[i]
              print "}}" }'
}
packed() # FILE NAME ...
{
    mkdir -p "$tmp/$1.d" && json "${@:2}" >"$tmp/$1.d/all.json" &&
        call pack leaf "$tmp/$1.d" valid=0.2 test=0.2 -o "$tmp/$1"
}
packed first.h5 c1 c2 c3 c4 c5 c6 && packed mixed.h5 c4 c2 c6 c1 c5 c3 && packed more.h5 c9 c2 c4 c8 c6 &&
    packed some.h5 c2 c4 c6
result $? "clients with names are packed"
call tune "$tmp/in.ini" -o "$tmp/n.h5" --force run.data="$tmp/first.h5" run.tuner=random run.mixing=none \
    space.configs=1 random.resource=30 client.lr=0.3 fed.algorithm=local fed.score_weights=global
scores() # FILE: test loss and error of that run's winner on it
{
    "$weft" eval "$tmp/n.h5" "$tmp/$1" 2>"$tmp/log" | sed -n 's/^test *//p' | tee "$tmp/out"
}
[ -n "$(scores first.h5)" ] && [ "$(scores first.h5)" = "$(scores mixed.h5)" ]
result $? "eval finds clients by their names, in any order"
call export "$tmp/n.h5" -o "$tmp/w.h5" && mv "$tmp/w.h5" "$tmp/n.h5" &&
    [ "$(scores first.h5)" = "$(scores mixed.h5)" ]
result $? "so it does in an exported winner"
error() { scores "$1" | awk '{ print $1 * $3 }'; } # wrong answers, times 100
awk -v some="$(error some.h5)" -v more="$(error more.h5)" 'BEGIN { exit !(some != "" && more > some) }'
result $? "others begin like clients that were never drawn"

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
