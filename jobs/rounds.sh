# Kinds of federated rounds beside plain ones, over seeds. `analysis/beside.py` makes the tables.
# usage: [SEEDS="1 2 3"] [ROUNDS=200] [METHODS="sync buffered"] [LAUNCH="mpirun -n 2"] [OUTPUT=DIR]
#        bash jobs/rounds.sh KIND F.h5 [section.key=value ...]
# KIND is a part of the experiment, whose other settings are those of its input file:
#   async    as many turns of clients in rounds that wait and in rounds that do not (inputs/async.ini)
#   bytes    changes of fewer bytes (inputs/compressed.ini)
#   noisy    a search of five trainings, successive halving and one training that finds its
#            settings, where noise of scores alone is 0 to 10 points (inputs/private.ini)
#   private  what privacy costs the defaults, a search of five trainings, and one training that finds
#            its settings, each at the same epsilon and with as many rounds, and a search whose
#            trainings have all rounds each, `long` (inputs/private.ini)
#   harmful  rules of the server beside harmful clients (inputs/robust.ini)
#   fair     q-FFL (inputs/robust.ini)
# F.h5 is a federation, packed with clients; the settings hold for all methods, so rates that suit one
# of them are given with METHODS. Complete runs are skipped and interrupted ones resumed: other settings
# need another OUTPUT (default outputs/KIND).
case $1 in
async | bytes | private | noisy | harmful | fair) ;;
*) set -- ;;
esac
[ -f "$2" ] || { echo "usage: bash jobs/rounds.sh async|bytes|private|noisy|harmful|fair F.h5 [section.key=value ...]" >&2; exit 2; }
kind=$1
data=$2
shift 2
. jobs/start.sh
out=${OUTPUT:-outputs/$kind}
all=${ROUNDS:-200}
case $kind in
async) input=inputs/async.ini ;;
bytes) input=inputs/compressed.ini ;;
private | noisy) input=inputs/private.ini ;;
*) input=inputs/robust.ini ;;
esac

# method NAME section.key=value ...: of a key that is given twice the last counts, those of the user at the end;
# one without a value is left out.
method()
{
    case " ${METHODS:-$1} " in *" $1 "*) ;; *) return ;; esac
    local run=$out/$1-$seed.h5 setting
    local -A given=()
    shift
    for setting in run.tuner=random space.configs=1 random.resource="$all" "$@" "${settings[@]}"; do
        given[${setting%%=*}]=$setting
        [ "${setting#*=}" ] || unset "given[${setting%%=*}]"
    done
    start "$run" $input run.data="$data" run.seed="$seed" "${given[@]}" || exit $?
}

async() # in all, $all times 10 turns; 39 clients train at once but in the first
{
    method sync fed.aggregation=sync client.lr=0.1 fed.eval_every=10
    method over fed.aggregation=sync client.lr=0.1 fed.cohort=30 device.over=1.3 random.resource=$(((all + 2) / 3)) fed.eval_every=3
    method buffered client.lr=0.1 buffer.concurrency=39 fed.eval_every=10
    method fedasync client.lr=0.1 buffer.concurrency=39 buffer.max_staleness=500 fed.cohort=1 \
            random.resource=$((10 * all)) fed.eval_every=100
}

bytes()
{
    local up=(fed.eval_every=20 compress.server=none)
    method defaults "${up[@]}" compress.client=none
    for bits in 8 4 2; do method "bits$bits" "${up[@]}" compress.bits=$bits; done
    method both "${up[@]}" compress.bits=4 compress.server=quantize
    for share in 0.1 0.01; do method "top$share" "${up[@]}" compress.client=topk compress.share=$share; done
    method sketch "${up[@]}" compress.client=sketch compress.rows=3 compress.columns=5000
}

rates='client.lr=0.1, client.lr=0.01, client.lr=0.03, client.lr=0.3, client.lr=1'
search=(random.resource=$((all / 5)) space.configs=0 space.source=list space.file="$rates")
one=(run.tuner=one space.configs= random.resource= one.resource="$all" one.each=$((all / 20))
    one.parts=1 'client.lr=log 0.001 .. 10')

private()
{
    method plain privacy.clip=0
    for epsilon in 2 4 8; do
        method "defaults-$epsilon" privacy.epsilon=$epsilon
        method "search-$epsilon" privacy.epsilon=$epsilon "${search[@]}"
        method "long-$epsilon" privacy.epsilon=$epsilon space.configs=0 space.source=list space.file="$rates"
        method "one-$epsilon" privacy.epsilon=$epsilon "${one[@]}"
    done
}

noisy() # of 5,000 clients, whose mean has noise of 0.0283 points times privacy.score_noise
{
    local alone=(privacy.clip=1e6 privacy.epsilon=0 privacy.noise=0)
    method defaults privacy.clip=0
    for points in 0 1 3 10; do
        local noise=(privacy.score_noise=$((points > 0 ? points * 35 : 1)))
        method "search-$points" "${alone[@]}" "${noise[@]}" "${search[@]}"
        method "sha-$points" "${alone[@]}" "${noise[@]}" run.tuner=sha random.resource= space.configs=8 \
            sha.rungs=geometric sha.reduction=2 sha.min_resource=$((all / 20)) sha.max_resource=$((all * 2 / 5)) \
            'client.lr=log 0.001 .. 10'
        method "one-$points" "${alone[@]}" "${noise[@]}" "${one[@]}"
    done
}

harmful()
{
    for share in 0 0.1 0.2 0.3; do
        for rule in mean median trimmed krum multikrum geometric; do
            method "$share-$rule" attack.share=$share rule.kind=$rule
        done
    done
}

fair()
{
    for q in 0 0.1 0.5 1 2 5; do
        method "q$q" attack.kind=none rule.kind=mean fed.algorithm=qffl qffl.q=$q
    done
}

settings=("$@")
for seed in ${SEEDS:-1 2 3}; do $kind; done
echo "analysis/beside.py $out  # the table"
