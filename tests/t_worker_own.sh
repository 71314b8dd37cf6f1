#!/bin/bash
# Algorithms with clients whose training a worker does: a worker with the
# arithmetic of weft's linear model gives what weft does, and its winner is scored and exported.
# Prints TAP. NP="1 2 3": the rank counts.
. tests/tap.sh

need_python "numpy, h5py"
call pack synthetic federated=stored clients=30 d=20 classes=5 -o "$tmp/fed.h5"
sed '/^\[worker\]/,/^\[client\]/{/^run/d;/^\[worker\]/d}' inputs/worker.ini >"$tmp/own.ini"
run="$python tests/linear.py $tmp/fed.h5 tensors anchor drift"

# tune RANKS FILE ARGUMENT...: by the worker, into FILE.h5; own: by weft.
tune()
{
    on "$1" tune inputs/worker.ini "worker.run=$run" -o "$tmp/$2.h5" --force "${@:3}"
}
own()
{
    on "$1" tune "$tmp/own.ini" run.data="$tmp/fed.h5" fed.model=linear -o "$tmp/$2.h5" --force "${@:3}"
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
for name in ('before_error', 'after_error', 'clients', 'samples', 'bytes', 'diverged'):
    assert len(a[name]) == 20 and np.array_equal(a[name][:], b[name][:]), (name, a[name][:], b[name][:])
for name in ('before_loss', 'after_loss', 'train_loss'):
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
for algorithm in fedavg "fedavg fed.share=bias" fednova local "fedper fedper.own=fc1.bias" "fedper fedper.own=fc1.weight" "cpg cpg.generate=fc1.bias cpg.size=3" \
    "fedrep fedrep.own=fc1.bias fedrep.epochs=3" "fedrep fedrep.own=fc1.weight" "ditto ditto.lambda=0.5 ditto.epochs=3" \
    "ditto client.max_change=0.3" scaffold "feddyn feddyn.alpha=0.3"; do
    # shellcheck disable=SC2086
    set -- $one fed.algorithm=$algorithm fed.new_clients=0.2 fed.new_epochs=3 run.test=yes
    check "$algorithm: a worker does the arithmetic of the linear model" tune 2 w "$@"
    check "$algorithm: so does weft" own 2 o "$@"
    compare "$algorithm: with the same errors in each of 20 rounds, of old and new clients, and what these keep"
done

# refused ALGORITHM PATTERN STATEMENT: before anything is trained.
refused()
{
    # shellcheck disable=SC2086
    tune 2 w $one fed.algorithm="$1"
    refusal $? 2 "$2.* choose fedavg" "$3"
}
for algorithm in apfl deltasgd knn; do
    refused $algorithm "fed.algorithm = $algorithm needs (two gradients|a rate for each step|representations)" "$algorithm is refused, with one line"
done
for word in tensors:fedrep anchor:ditto drift:scaffold drift:feddyn; do
    algorithm=${word#*:} word=${word%:*}
    run="$python tests/linear.py $tmp/fed.h5 $(echo tensors anchor drift | sed "s/$word//")" refused "$algorithm" \
        "the worker of rank [01], .*does not know the word \"$word\" of a turn, which fed.algorithm = $algorithm needs" \
        "so is $algorithm by a worker that does not know the word $word"
done
sed 's/for k in t.tensors:/for k in w:/' tests/linear.py >"$tmp/all.py"
# shellcheck disable=SC2086
run="$python $tmp/all.py $tmp/fed.h5 tensors" tune 2 w $one fed.algorithm=fedrep
[ $? = 4 ] && [ "$(grep -c '^weft: ' "$tmp/log")" = 1 ] &&
    grep -q '^weft: the worker of rank [01], .*answered the turn of client [0-9]* with other numbers of tensor fc1.weight' "$tmp/log"
result $? "one that knows the word, and trains all tensors, ends the run"
sed 's/knows=sys.argv.*/knows="tensor")/' tests/linear.py >"$tmp/misspelt.py"
# shellcheck disable=SC2086
run="$python $tmp/misspelt.py $tmp/fed.h5" tune 1 w $one worker.retries=0
[ $? = 2 ] && grep -q "^weft: .*ValueError: serve: knows='tensor': expected a list of tensors, anchor, drift" "$tmp/log"
result $? "a word that is none is told"

# ---- the same bits --------------------------------------------------------------------------

more="run.tuner=asha run.mixing=none space.configs=4 asha.max_resource=8 asha.reduction=2"
more="$more fed.score_weights=personal fed.select=pooled run.test=yes"
for algorithm in "fedrep fedrep.own=fc1.bias" "fedper fedper.own=fc1.bias"; do
    first=
    for np in ${NP:-1 2 3}; do
        # shellcheck disable=SC2086
        tune "$np" r $more fed.algorithm=$algorithm
        result $? "$np ranks: $algorithm: clients with weights of their own are tuned"
        : "${first:=$(digest "$tmp/r.h5")}"
        check "$np ranks: with one digest" has_digest "$first" "$tmp/r.h5"
    done
    # shellcheck disable=SC2086
    tune 3 r $more fed.algorithm=$algorithm run.teams=2
    result $? "$algorithm: so they are by two teams of three ranks"
    check "with this digest, too" has_digest "$first" "$tmp/r.h5"
done
# shellcheck disable=SC2086
tune 2 r $more fed.algorithm=$algorithm run.time_limit=1e-9
status=$?
for _ in $(seq 60); do
    [ $status = 75 ] || break
    on 2 resume "$tmp/r.h5" run.time_limit=1e-9
    status=$?
done
check "a run that is stopped after every unit ends" [ $status = 0 ]
check "with this digest" has_digest "$first" "$tmp/r.h5"

# ---- the winner -----------------------------------------------------------------------------

scores() # of the parts that were scored, as the run or weft eval prints them
{
    sed -n 's/^\(valid\|test\)  *\([0-9]\)/\1 \2/p' "$tmp/out"
}
for algorithm in fedavg "fedper fedper.own=fc1.bias" "fedrep fedrep.own=fc1.bias"; do
    # shellcheck disable=SC2086
    tune 2 w $one fed.algorithm=$algorithm run.test=yes
    for file in w w-winner; do
        [ $file = w ] || call export "$tmp/w.h5" -o "$tmp/w-winner.h5"
        on 3 eval "$tmp/$file.h5" && "$python" -c "
import h5py
told = h5py.File('$tmp/w.h5')['winner'].attrs
names, *rows = [line.split() for line in open('$tmp/out').read().splitlines()[2:]]
assert [row[0] for row in rows] == ['train', 'valid', 'test'], rows
for row in rows[1:]:
    for stage, error, loss in (('', 3, 2), ('personal_', 5, 4)):
        for what, x, unit in (('loss', loss, 1), ('error', error, 100)):
            known = float(told['%s_%s%s' % (row[0], stage, what)]) * unit
            assert abs(float(row[x]) - known) < 1e-3, (row, stage, what, known)
" >>"$tmp/out" 2>>"$tmp/log"
        result $? "$algorithm: weft eval $file.h5 has the worker score it as in the run"
    done
    rm -f "$tmp/w-winner.h5"
done
sed 's/np.zeros((classes/np.ones((classes/' tests/linear.py >"$tmp/other.py"
timeout "$net" "$weft" eval "$tmp/w.h5" worker.run="$python $tmp/other.py $tmp/fed.h5 tensors" >"$tmp/other" 2>"$tmp/log" &&
    call eval "$tmp/w.h5" && sed 1,2d "$tmp/out" >"$tmp/own" &&
    sed 1,2d "$tmp/other" | cmp -s - "$tmp/own" && [ -s "$tmp/own" ]
result $? "another worker with these tensors does so, too, whatever it would begin with"
call eval "$tmp/o.h5"
[ $? = 2 ] && grep -q '^weft: .*o.h5 was trained on .*fed.h5; name a packed file behind it' "$tmp/log"
result $? "a run on packed data needs a packed file"
call eval "$tmp/w.h5" client.lr=1
[ $? = 2 ] && grep -q '^weft: .*client.lr = 1: only .*worker.run.* may be changed' "$tmp/log"
result $? "what a result depends on is not changed"

find_python "torch, h5py"
if [ -z "$python" ]; then
    result 0 "# SKIP there is no PyTorch"
else
    run="$python inputs/clients-torch.py" tune 1 t fed.algorithm=fedavg run.tuner=random run.mixing=none space.configs=1 \
        random.resource=3 && call export "$tmp/t.h5" -o "$tmp/t-winner.h5"
    result $? "a network of PyTorch is exported"
    { echo "import h5py, sys, torch
model = torch.nn.Sequential(torch.nn.Linear(8, 16), torch.nn.ReLU(), torch.nn.Linear(16, 4))"
        # shellcheck disable=SC2016
        sed -n '/^```python$/,/^```$/p' outputs/README.md | sed '/^```/d'
        echo "state = h5py.File('NAME-winner.h5')['winner/state']
assert len(state) == 4 and all((state[k][:].astype('f') == p.numpy()).all() for k, p in model.state_dict().items())"
    } | sed "s|NAME-winner|$tmp/t-winner|" >"$tmp/load.py"
    [ "$(grep -c . "$tmp/load.py")" = 7 ] && "$python" "$tmp/load.py" >"$tmp/out" 2>"$tmp/log"
    result $? "and loaded by the three lines of the documentation"
fi

echo "1..$count"
