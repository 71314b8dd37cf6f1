# What does a client of a small model cost? Processor time of one core a client, beside a Python
# user's own program; a million clients of 3 samples, 1,000 of 60, and 2,000 of 70, equal and
# unequal. 900 MB of data are packed first. A minute.
# usage: [PYTHON=python3] [REPEATS=3] [DATA=data] bash jobs/small.sh [PEER.py]
# PEER.py is called with FILE CLIENTS SAMPLES TRAIN BATCH COHORT ROUNDS: FedAvg of softmax
# regression, rate 0.03, one epoch, plain mean, on the first TRAIN of the SAMPLES rows that each
# client has in datasets x and label of FILE; it prints what it measured. It scores nothing; weft
# scores one row of each client, which is how it knows how a round went.
set -e
cd "$(dirname "$0")/.."
weft=${WEFT:-build/opt/weft} data=${DATA:-data} out=${OUTPUT:-outputs/small} peer=$1
mkdir -p "$data" "$(dirname "$out")"
export OPENBLAS_NUM_THREADS=1
unset OPENBLAS_CORETYPE OPENBLAS_L2_SIZE

# pack NAME KEY=VALUE ...: a federation that is stored
pack()
{
    test -e "$data/$1.h5" || "$weft" pack synthetic federated=stored "${@:2}" -o "$data/$1.h5"
}

# seconds NAME ROUNDS COHORT BATCH: processor time of a run
seconds()
{
    local TIMEFORMAT='%U %S'
    { time "$weft" tune inputs/fedavg-logistic.ini run.data="$data/$1.h5" run.test=no \
        fed.cohort="$3" client.batch="$4" fed.average=plain fed.eval_clients=-1 \
        fed.select=pooled fed.max_valid=1 random.resource="$2" -o "$out-$1.h5" --force >"$out.out" 2>"$out.log"; } 2>&1 |
        awk '{ print $1 + $2 }'
}

# cost NAME ROUNDS COHORT BATCH: of a client, by the rounds between two lengths of the run, all
# data having been looked at before
cost()
{
    local few more
    few=$(seconds "$1" "$2" "$3" "$4")
    more=$(seconds "$1" $((3 * $2)) "$3" "$4")
    awk -v a="$few" -v b="$more" -v n=$((2 * $2 * $3)) -v name="$1" \
        'BEGIN { printf "weft, %s: %.2f us a client\n", name, 1e6 * (b - a) / n }'
}

# beside NAME CLIENTS SAMPLES TRAIN BATCH COHORT ROUNDS
beside()
{
    test -z "$peer" || "${PYTHON:-python3}" "$peer" "$data/$1.h5" "${@:2}"
}

pack million clients=1000000 samples=5 spread=0 d=20
pack logistic clients=1000 samples=74 spread=0 d=784
pack equal clients=2000 samples=88 spread=0 d=60 alpha=1 beta=1
pack unequal clients=2000 samples=88 spread=1 d=60 alpha=1 beta=1
for i in $(seq "${REPEATS:-3}"); do
    cost million 250 1000 3
    beside million 1000000 5 3 3 1000 200
    cost logistic 500 10 10
    beside logistic 1000 74 60 10 10 100
    cost equal 100 100 10
    beside equal 2000 88 70 10 100 200
    cost unequal 100 100 10
    test -z "$peer" || "${PYTHON:-python3}" jobs/unequal.py "$data/unequal.h5" 10 100 20
done
