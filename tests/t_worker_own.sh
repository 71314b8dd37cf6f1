#!/bin/bash
# Algorithms that need only weights, with clients whose training a worker does: a worker with the
# arithmetic of weft's linear model gives what weft does, and its winner is scored and exported.
# Prints TAP. NP="1 2 3": the rank counts.
. tests/tap.sh

find_python "numpy, h5py"
if [ -z "$python" ]; then
    result 0 "# SKIP there is no h5py"
    echo 1..1
    exit
fi
"$weft" pack synthetic federated=stored clients=30 d=20 classes=5 -o "$tmp/fed.h5" >"$tmp/out" 2>"$tmp/log"
sed '/^\[worker\]/,/^\[client\]/{/^run/d;/^\[worker\]/d}' inputs/worker.ini >"$tmp/own.ini"
run="$python tests/linear.py $tmp/fed.h5"

# tune RANKS FILE ARGUMENT...: by the worker, into FILE.h5; own: by weft.
tune()
{
    ranks=$1 file=$tmp/$2.h5
    shift 2
    timeout "$net" mpirun -n "$ranks" "$weft" tune inputs/worker.ini "worker.run=$run" -o "$file" --force "$@" \
        >"$tmp/out" 2>"$tmp/log"
}
own()
{
    ranks=$1 file=$tmp/$2.h5
    shift 2
    timeout "$net" mpirun -n "$ranks" "$weft" tune "$tmp/own.ini" run.data="$tmp/fed.h5" fed.model=linear -o "$file" \
        --force "$@" >"$tmp/out" 2>"$tmp/log"
}
one="run.tuner=random run.mixing=none space.configs=1 random.resource=20 client.lr=0.1 client.batch=10 client.epochs=2 client.mu=0.3
    fed.score_both=yes fed.cohort=8"

# ---- the same as by weft --------------------------------------------------------------------

compare() # STATEMENT: of the runs w and o
{
    "$python" -c "
import h5py, numpy as np
w, o = (h5py.File('$tmp/%s.h5' % name) for name in 'wo')
a, b = w['rounds'], o['rounds']
for name in ('before_error', 'after_error', 'clients', 'samples', 'bytes'):
    assert len(a[name]) == 20 and np.array_equal(a[name][:], b[name][:]), (name, a[name][:], b[name][:])
for name in ('before_loss', 'after_loss'):
    assert np.allclose(a[name][:], b[name][:], rtol=1e-5), name
assert len(set(a['after_error'][:])) > 5
a, b = w['winner'], o['winner']
assert sorted(a['state']) == sorted(b['state'])
for name in b['state']:
    assert np.allclose(a['state'][name][:], b['state'][name][:], rtol=1e-4, atol=1e-6), name
assert ('kept' in a) == ('kept' in b)
if 'kept' in b:
    assert np.array_equal(a['kept/client'][:], b['kept/client'][:])
    assert np.allclose(a['kept/row'][:], b['kept/row'][:], rtol=1e-4, atol=1e-6)
    assert len(b['kept/client']) > 20 and len(set(b['kept/row'][:, 0])) > 2
scores = [k for k in b.attrs if k.startswith(('valid_', 'test_'))]
assert len(scores) >= 4 and all(abs(a.attrs[k] - b.attrs[k]) < 1e-5 for k in scores if np.isfinite(b.attrs[k])), scores
" >"$tmp/out" 2>"$tmp/log"
    result $? "$1"
}
for algorithm in fedavg fednova local "fedper fedper.own=fc1.bias" "fedper fedper.own=fc1.weight" "cpg cpg.generate=fc1.bias cpg.size=3"; do
    # shellcheck disable=SC2086
    set -- $one fed.algorithm=$algorithm fed.new_clients=0.2 fed.new_epochs=3 run.test=yes
    tune 2 w "$@"
    result $? "$algorithm: a worker does the arithmetic of the linear model"
    own 2 o "$@"
    result $? "$algorithm: so does weft"
    compare "$algorithm: with the same errors in each of 20 rounds, of old and new clients, and what these keep"
done
for algorithm in ditto apfl fedrep scaffold feddyn knn; do
    # shellcheck disable=SC2086
    tune 2 w $one fed.algorithm=$algorithm
    [ $? = 2 ] && [ "$(grep -c '^weft: ' "$tmp/log")" = 1 ] &&
        grep -Eq "^weft: fed.algorithm = $algorithm (changes the steps|needs representations) .* choose fedavg" "$tmp/log"
    result $? "$algorithm is refused, with one line"
done

# ---- the same bits --------------------------------------------------------------------------

more="fed.algorithm=fedper fedper.own=fc1.bias run.tuner=asha run.mixing=none space.configs=4 asha.max_resource=8 asha.reduction=2"
more="$more fed.score_weights=personal fed.select=pooled run.test=yes"
first=
for np in ${NP:-1 2 3}; do
    # shellcheck disable=SC2086
    tune "$np" r $more && : "${first:=$(digest "$tmp/r.h5")}" && [ -n "$first" ] && [ "$(digest "$tmp/r.h5")" = "$first" ]
    result $? "$np ranks: clients with layers of their own have one digest"
done
# shellcheck disable=SC2086
tune 3 r $more run.teams=2 && [ "$(digest "$tmp/r.h5")" = "$first" ]
result $? "two teams of three ranks have it, too"
# shellcheck disable=SC2086
tune 2 r $more run.time_limit=1e-9
status=$?
for _ in $(seq 60); do
    [ $status = 75 ] || break
    timeout "$net" mpirun -n 2 "$weft" resume "$tmp/r.h5" run.time_limit=1e-9 >"$tmp/out" 2>"$tmp/log"
    status=$?
done
[ $status = 0 ] && [ "$(digest "$tmp/r.h5")" = "$first" ]
result $? "so has a run that is stopped after every unit"

echo "1..$count"
