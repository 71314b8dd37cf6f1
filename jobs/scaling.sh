# Scaling studies on built-in data: each run on 1, 2, 4, ... ranks, the work fixed (strong) or
# growing with them (weak), several times in turns; then the table and the figures.
# usage: [RANKS="1 2 4"] [KINDS="strong weak"] [STUDIES="maps sweep fit federated async"] [REPEATS=3]
#     [SIZE=1] [FEATURES=4000] [LAUNCH="mpirun --map-by core"] [OUTPUT=DIR] bash jobs/scaling.sh
#   maps       ws_sha: fits that 64 maps of random features share, and of 4 maps; weak: rows
#   sweep      each of 16 maps by itself, a team a rank; weak: maps
#   fit        one map of FEATURES features; weak: rows
#   federated  FedAvg, 64 clients a round; weak: 32 a rank
#   cohort10 ... cohort10000  FedAvg, so many of a million clients a round (any number), 64,000 in all; weak: so many
#              a rank (not by default)
#   async      ASHA on federated trials, a team a rank, 64 simulated workers; weak: jobs
# RANKS is 1, 2, 4, ... up to all cores here, or all tasks of the SLURM job. LAUNCH starts ranks,
# and `-n RANKS` is added. SIZE multiplies rows, maps, clients or jobs. Cost: 2 minutes on 2 cores;
# on a quiet machine SIZE=3, three and a half minutes, has smaller intervals.
# Complete runs are skipped and interrupted ones repeated, so that other sizes need another
# OUTPUT (outputs/scaling). PLOT: what makes table and figures; empty: nothing.
. jobs/start.sh
out=${OUTPUT:-outputs/scaling} size=${SIZE:-1}
max_ranks=${SLURM_NTASKS:-$(nproc)}
ranks=${RANKS:-$(for ((n = 1; n < max_ranks; n *= 2)); do echo $n; done; echo "$max_ranks")}
mkdir -p "$out" || exit

# data NAME OPTION ...: built-in data, packed once.
data()
{
    file=$out/data-$1.h5
    shift
    [ -f "$file" ] || "$weft" pack synthetic "$@" -o "$file" || exit
}

# The work of each study on $n ranks; grow is $size, times $n in weak scaling.
images()
{
    data "images-$grow" images rows=$((grow * 8192)) d=784
    set -- "$@" run.data="$file" rff.kernel=gaussian
    input=inputs/demo-images.ini settings=("$@")
}
maps() { images rff.features=2000 ws_sha.switch=4; }
fit() { images rff.features="${FEATURES:-4000}" run.tuner=random space.configs=1; }
sweep()
{
    local maps=$((grow * 16))
    grow=$size
    images rff.features=1000 run.tuner=random space.configs=$maps run.teams="$n"
}
clients()
{
    data clients federated=stored clients=4000 spread=0 d=784 classes=10
    input=inputs/fedavg-logistic.ini settings=(run.data="$file" "$@")
}
federated() { clients fed.cohort=$((grow * (weak ? 32 : 64))) random.resource=100; }
cohort() # CLIENTS
{
    data generated federated=generated clients=1000000 alpha=1 beta=1
    input=inputs/fedavg-logistic.ini settings=(run.data="$file" fed.cohort=$(($1 * (weak ? n : 1)))
        random.resource=$((size * 64000 / $1)))
}
async()
{
    clients run.tuner=asha run.teams="$n" run.workers=64 'client.lr=log 1e-3 .. 1' fed.cohort=16 \
        space.configs=$((grow * 64)) asha.reduction=4 asha.min_resource=2 asha.max_resource=32
}

# study NAME KIND RANKS REPEAT: one run; repeats have the same seed, and the same result.
study()
{
    local run=$out/$1-$2-$3-$4.h5 n=$3 weak=0 grow=$size input settings file
    [ ! -f "$run" ] || return 0
    [ "$2" = strong ] || weak=1 grow=$((size * n))
    case $1 in
    cohort*) cohort "${1#cohort}" ;;
    *) $1 ;;
    esac
    launch="${LAUNCH:-$launcher} -n $n"
    ranks tune "$input" run.test=no "${settings[@]}" -o "$run" --force || exit
}

for repeat in $(seq 1 "${REPEATS:-3}"); do
    for kind in ${KINDS:-strong weak}; do
        for name in ${STUDIES:-maps sweep fit federated async}; do
            for n in $ranks; do study "$name" "$kind" "$n" "$repeat"; done
        done
    done
done
plot=${PLOT-analysis/scaling.py}
[ -z "$plot" ] || $plot "$out"/*-{strong,weak}-*.h5 -o "$out/scaling"
