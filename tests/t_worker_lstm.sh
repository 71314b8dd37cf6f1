#!/bin/bash
# A character LSTM by PyTorch beside weft's own: from the same initial weights, with the same
# clients and batches, rounds have the same shares of wrong answers. Prints TAP.
# By hand on Shakespeare's roles, with 20 equal rounds:
# PACKED=data/roles.h5 HIDDEN=256 MOST=100 MOMENTUM=0.9 bash tests/t_worker_lstm.sh
. tests/tap.sh
. tests/plays.sh

need_python "torch, h5py"
packed=${PACKED:-$tmp/plays.h5} hidden=${HIDDEN:-16}
plays >"$tmp/plays.txt"
call pack shakespeare "$tmp/plays.txt" stride=5 length=20 -o "$tmp/plays.h5"
sed '/^\[worker\]/,/^\[client\]/{/^run/d;/^\[worker\]/d}' inputs/worker.ini >"$tmp/own.ini"
set -- run.tuner=random run.mixing=none space.configs=1 random.resource=20 client.lr=2 client.momentum="${MOMENTUM:-0}" \
    client.batch=10 client.epochs=1 client.max_samples="${MOST:-200}" fed.cohort=3 fed.score_both=yes fed.max_valid=16 \
    fed.eval_clients=-1 fed.select=pooled fed.test_clients=1
call tune "$tmp/own.ini" run.data="$packed" fed.model=lstm lstm.hidden="$hidden" fed.target=all \
    -o "$tmp/o.h5" "$@"
result $? "weft trains its LSTM"
call tune inputs/worker.ini worker.run="$python tests/lstm.py $packed $hidden" -o "$tmp/w.h5" "$@"
result $? "PyTorch trains it"
# Rounding may turn a prediction whose two largest probabilities are equal.
"$python" -c "
import h5py, numpy as np
a, b = (h5py.File('$tmp/%s.h5' % name)['rounds'] for name in 'wo')
for name in ('before_error', 'after_error'):
    own, other = b[name][:], a[name][:]
    same = int((own == other).sum())
    print(name, '%:', *np.round(100 * own, 2), 'equal in', same, 'of', len(own), 'rounds')
    assert len(own) == 20 and same >= 18 and abs(own - other).max() < 3e-3, other - own
    assert own[-1] < 0.8 * own[0]
for name in ('before_loss', 'after_loss'):
    apart = abs(a[name][:] / b[name][:] - 1).max()
    print(name, 'apart by at most', apart)
    assert apart < 1e-4
" >"$tmp/out" 2>"$tmp/log"
result $? "with the same shares of wrong answers in the rounds"
sed 's/^/# /' "$tmp/out"
echo "1..$count"
