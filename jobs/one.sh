# One training that finds its learning rate first (run.tuner = one) beside the same number of rounds
# spent in other ways, the defaults first. `analysis/beside.py DIR` makes the table of means over seeds.
# usage: [SEEDS="1 2 3"] [ROUNDS=500] [METHODS="defaults one"] [SETTINGS=100] [LAUNCH="mpirun -n 2"] [OUTPUT=DIR]
#        bash jobs/one.sh F.h5 [section.key=value ...]
# F.h5 is a federation, packed with clients; the settings hold for all methods. Complete runs are
# skipped and interrupted ones resumed: other settings need another OUTPUT (default outputs/one). METHODS
# takes some of the methods below, by default all.
# `oracle` has all rounds for each of seven rates, seven times as many: a bound, not a method. So is
# `settings`, of SETTINGS random ones (none by default) and the defaults, with the average.
[ -f "$1" ] || { echo "usage: bash jobs/one.sh F.h5 [section.key=value ...]" >&2; exit 2; }
data=$1
shift
. jobs/start.sh
out=${OUTPUT:-outputs/one}
all=${ROUNDS:-500}

# method NAME SEED section.key=value ...
method()
{
    case " ${METHODS:-$1} " in *" $1 "*) ;; *) return ;; esac
    local run=$out/$1-$2.h5 seed=$2
    shift 2
    start "$run" inputs/one.ini run.data="$data" run.seed="$seed" "$@" || exit $?
}
rates() # RATE ...: a list of configurations
{
    local list=
    for rate; do list="$list, client.lr=$rate"; done
    echo "${list#, }"
}

one="one.resource=$all one.each=$((all < 100 ? 1 : all / 50))"
plain="run.tuner=random space.configs=1 client.lr=0.1 random.resource=$all"
last="server.average=none server.momentum=0"
each="run.tuner=random random.resource=$((all / 5))"
halving="run.tuner=sha space.configs=9 sha.eliminations=2 sha.budget=$all sha.max_resource=$((all / 5))"
population="run.tuner=pbt pbt.population=5 pbt.interval=$((all / 50)) pbt.max_resource=$((all / 5))"
wide=("client.lr=log 0.001 .. 10" "client.momentum=0 .. 0.9" "client.epochs=1 | 2" "server.lr=log 0.3 .. 3")
for seed in ${SEEDS:-1 2 3}; do
    # shellcheck disable=SC2086
    {
        method defaults "$seed" "$@" $plain $last
        method average "$seed" "$@" $plain server.momentum=0
        method momentum "$seed" "$@" $plain
        method fedexp "$seed" "$@" $plain server.momentum=0 fed.algorithm=fedexp
        method fedhyper "$seed" "$@" $plain fed.algorithm=fedhyper $last
        method deltasgd "$seed" "$@" $plain fed.algorithm=deltasgd $last
        method rates "$seed" "$@" $each space.source=list space.file="$(rates 0.1 0.01 0.03 0.3 1)" $last
        method random "$seed" "$@" $each space.configs=5 "${wide[@]}" $last
        method sha "$seed" "$@" $halving "${wide[@]}" $last
        method hyperband "$seed" "$@" run.tuner=hyperband hyperband.min_resource=$(((all + 35) / 70)) \
            hyperband.max_resource=$(((all + 35) / 70 * 9)) "${wide[@]}" $last # 69 times the least
        method asha "$seed" "$@" run.tuner=asha asha.trials=0 asha.budget="$all" asha.reduction=3 \
            asha.min_resource=$((all / 45)) asha.max_resource=$((all / 45 * 9)) "${wide[@]}" $last
        method pbt "$seed" "$@" $population "${wide[@]}" $last
        method fedex-sha "$seed" "$@" $halving run.mixing=fedex fedex.k=9 "${wide[@]}" $last
        method fedex-pbt "$seed" "$@" $population run.mixing=fedex fedex.k=9 "${wide[@]}" $last
        method fedpop "$seed" "$@" $population run.mixing=fedpop "${wide[@]}" $last
        method fedex "$seed" "$@" run.tuner=random space.configs=1 random.resource="$all" \
            run.mixing=fedex fedex.k=9 "${wide[@]}" $last
        method one-last "$seed" "$@" $one server.average=none
        method one "$seed" "$@" $one
        method one-fedex "$seed" "$@" $one run.mixing=fedex fedex.k=9 one.parts=1 "client.momentum=0 .. 0.9"
        method oracle "$seed" "$@" run.tuner=random random.resource="$all" space.source=list \
            space.file="$(rates 0.1 0.0125 0.025 0.05 0.2 0.4 0.8)"
        [ -z "${SETTINGS:-}" ] || method settings "$seed" "$@" run.tuner=random random.resource="$all" \
            space.configs="$SETTINGS" "${wide[@]}" "server.momentum=0 .. 0.9"
    }
done
echo "analysis/beside.py $out  # the table"
