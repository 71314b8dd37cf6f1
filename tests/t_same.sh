#!/bin/bash
# What results must not depend on: each search below is repeated on other numbers of ranks
# and teams, with less memory, with stops and resumes, and with the kernels for other CPUs,
# and has the same digest. Prints TAP.
. tests/tap.sh
. tests/plays.sh

packed() # NAME READER SOURCE ...
{
    name=$1
    shift
    check "$name are packed" call pack "$@" -o "$tmp/$name.h5"
}

tune() # RANKS OPTION...: the search $search with these, into r.h5; 75: stopped
{
    rm -rf "$tmp"/r.*
    # shellcheck disable=SC2086
    on "$1" tune $search "${@:2}" -o "$tmp/r.h5"
}

same() # STATUS STATEMENT: the run had this status, and ended with the digest of the first
{
    result "$1" "$name: $2"
    check "$name: its digest is that of the first" has_digest "$expected" "$tmp/r.h5"
}

# Stopped after its first unit it goes on on another number of ranks, is stopped after half of its
# jobs, at most 60, so that proposals follow where many are in flight, and so on.
stopped() # OPTION...
{
    half=$(sed -n 's/^task .* \([0-9]*\) jobs$/\1/p' "$tmp/first")
    half=$((half < 120 ? half / 2 : 60))
    tune 2 "$@" run.time_limit=1e-9
    check "$name: stopped after a unit" [ $? = 75 ]
    WEFT_HOLD="job $half of" "$weft" resume "$tmp/r.h5" run.time_limit=0 >"$tmp/out" 2>"$tmp/log" </dev/null &
    held $! && kill -TERM $! && kill -CONT $!
    wait $!
    check "$name: stopped after $half jobs" [ $? = 75 ]
    timeout "$net" mpirun -n 3 "$weft" resume "$tmp/r.h5" run.time_limit=0 >"$tmp/out" 2>"$tmp/log" </dev/null
    same $? "resumed after that"
}

kernels='plain avx2 avx512'
[ "$(uname -m)" != aarch64 ] || kernels='plain neon dotprod'
by_kernel() # KERNEL: the loops for other CPUs, where this one has them
{
    [ "$1" != "$own" ] || return
    WEFT_KERNEL=$1 tune 1
    status=$?
    if grep -q 'no such loops' "$tmp/log"; then
        count=$((count + 1))
        echo "ok $count - $name: $1 # skip this CPU has no such loops"
        return
    fi
    grep -q "kernel $1\$" "$tmp/log" || status=1
    same $status "by the loops for $1"
}

# ---- data -------------------------------------------------------------------------------

awk 'BEGIN {
    srand(1)
    for (i = 0; i < 900; i++) {
        for (j = 0; j < 40; j++) printf "%.4f,", (i % 3) * cos(j) + 3 * rand()
        print i % 3
    }
}' >"$tmp/rows.csv"
awk 'BEGIN {
    srand(2)
    for (i = 0; i < 900; i++) {
        sum = 0
        for (j = 0; j < 20; j++) {
            x = rand()
            sum += x * x * (j % 3)
            printf "%.4f,", x
        }
        printf "%d,%.4f\n", i % 4, sum + rand()
    }
}' >"$tmp/numbers.csv"
plays >"$tmp/plays.txt"
packed floats dense "$tmp/rows.csv"
packed numbers dense "$tmp/numbers.csv" weight=21
packed images synthetic images rows=600
packed documents synthetic documents rows=400
packed clients synthetic federated=generated clients=40
packed dealt synthetic images rows=60 clients=6 d=64
packed owned synthetic documents rows=200 words=15 clients=8 partition=dirichlet
packed plays shakespeare "$tmp/plays.txt" length=20 stride=5

# ---- searches ---------------------------------------------------------------------------

# With so many trials in flight one choice of results serves several proposals.
crowd='inputs/flow-workers.ini flow.p=10 flow.features=1|2|5|10 space.configs=760 run.workers=600'

# NAME|DATA|GB OF MEMORY: FOR A PART OF WHAT IS KEPT, FOR NOTHING|SEARCH; without memory by other
# loops only. 1,094 features leave 70 for a second block, whose rows BLAS would tell apart by
# their company.
while IFS='|' read -r name data some least search; do
    search="$search${data:+ run.data=$tmp/$data.h5} run.test=no"
    check "$name: on one rank" tune 1
    expected=$(digest "$tmp/r.h5")
    "$weft" report "$tmp/r.h5" >"$tmp/first" 2>>"$tmp/log"
    own=$(sed -n 's/.*; kernel //p' "$tmp/log")
    if [ -n "$some" ]; then
        tune 2 "run.memory=$some"
        same $? "on 2 ranks in $some GB"
        tune 3 run.teams=2
        same $? "on 3 ranks in 2 teams"
        tune 4 "run.memory=$least"
        same $? "on 4 ranks in $least GB"
        WEFT_NODE_RANKS=2 tune 4
        same $? "on 4 ranks, as if on two nodes"
        stopped "run.memory=$some"
    fi
    for kernel in $kernels; do by_kernel $kernel; done
done <<END
floats|floats|0.004|0.002|inputs/demo-images.ini rff.features=1094 space.configs=6
structured|floats|0.004|0.002|inputs/demo-images.ini fmap.model=logistic rff.features=300 space.configs=4 rff.kernel=gaussian rff.projection=structured
numbers|numbers|0.004|0.002|inputs/demo-images.ini rff.features=300 space.configs=6
folds|numbers|0.01|0.004|inputs/demo-images.ini fmap.folds=3 rff.features=300 space.configs=4
rows|floats|0.006|0.004|inputs/demo-images.ini run.tuner=hyperband fmap.resource=rows rff.features=300 hyperband.min_resource=180
fewer|documents|0.01|0.006|inputs/demo.ini run.tuner=asha fmap.resource=rows space.configs=8 run.workers=3
texts|documents|0.01|0.008|inputs/demo.ini fmap.folds=3 fmap.model=svm space.configs=4
squares|numbers|1|0.5|inputs/table-network.ini sgd.folds=2 asha.trials=3 asha.max_resource=8 mlp.hidden=16
bytes|images|0.003|0.002|inputs/demo-images.ini rff.features=500 space.configs=6
documents|documents|0.004|0.0025|inputs/demo.ini space.configs=6
clients|clients|0.01|0.001|inputs/demo-federated.ini fed.eval_clients=5 space.configs=3 sha.max_resource=3 sha.budget=6 sha.eliminations=1
cnn|dealt|||inputs/cifar10-federated.ini space.configs=3 sha.max_resource=3 sha.budget=6 sha.eliminations=1 fed.cohort=2 fed.eval_clients=2
lstm|plays|||inputs/shakespeare-small.ini space.configs=3 sha.max_resource=3 sha.budget=6 sha.eliminations=1 lstm.hidden=10 client.max_samples=8 fed.cohort=2 fed.eval_clients=2
words|owned|0.01|0.008|inputs/mr-federated.ini space.configs=3 sha.max_resource=3 sha.budget=6 sha.eliminations=1 fed.cohort=3 fed.eval_clients=2 fed.dim=10 txtcnn.f1=6 txtcnn.f2=6 txtcnn.f3=6
tpe||1|0.5|inputs/flow-workers.ini flow.p=10 run.sampler=tpe run.tuner=asha asha.max_resource=16 space.configs=60 run.workers=6 tpe.startup=5 flow.features=1|2|5|10
joint||1|0.5|inputs/flow-workers.ini flow.p=10 flow.features=1..10 run.sampler=tpe tpe.form=joint space.configs=40 run.workers=6
kde||1|0.5|inputs/flow-workers.ini flow.p=10 flow.features=1..10 run.sampler=kde run.tuner=hyperband hyperband.max_resource=27 run.workers=6
forest|documents|0.004|0.0025|inputs/demo.ini run.tuner=random run.sampler=forest forest.design=3 forest.trees=5 forest.generations=5 space.configs=6 run.workers=2
crowd-forest||1|0.5|$crowd run.sampler=forest forest.trees=10 forest.generations=400
crowd-gp||1|0.5|$crowd run.sampler=gp
crowd-mobster||1|0.5|$crowd run.sampler=mobster run.tuner=asha asha.max_resource=4
END
echo "1..$count"
