# Forecast of weft on other clusters: the whole program (make VARIANT=smpi) without HDF5,
# ScaLAPACK, samples and training, on ranks that SimGrid simulates; what a rank
# computes takes the seconds that were measured on this machine.
# usage: [STUDIES="check long short whole async async1s async100ms maps"] [PLATFORMS="hdr gbe"] [RANKS="1 2 4 16 64 256"]
#     [COST="CLIENT SAMPLE SCORE"] [OUTPUT=DIR] bash tests/sim/forecast.sh
#   long   federated rounds, 10 of Shakespeare's roles a rank, at most 2,000 windows of each
#   short  the same with at most 20 windows
#   whole  the same with all windows
#   most   the same with at most 30,000 windows of a role, which three of 962 have more of (not by default)
#   check  8 roles a round, at most 200 windows, on 1 and 2 ranks: what can be run here, too
#   async, async1s, async100ms  ASHA on jobs of 8, 0.8 and 0.08 s on average: one to three rounds of 10 roles, at most 2,000
#          windows of each; a team a rank, four simulated workers and 24 configurations a team
#   maps   a search of 64 maps of 100,000 random features by ws_sha, CIFAR-10's sizes (not by default; 100 MB a rank, 7
#          minutes for 64): tests/b_rff measures what features take, work on block vectors is charged as it is measured
# Platforms: tests/sim/hdr.xml (InfiniBand HDR, 32 ranks a node), tests/sim/gbe.xml (10 GbE, 16 ranks a node).
# COST: seconds of a client, of a window that is trained, of one that is scored, measured on one core of this machine (an LSTM of 2 x 256, 80 characters, batches of 10).
# Needs smpicc (apt-get install libsimgrid-dev). Cost: 5 minutes for federated studies with the default; 1,024 ranks of a
# federated study take about 5 minutes and 2 GB each; asynchronous ones, whose messages grow with the square
# of the ranks, two minutes each with 64.
# Complete runs are skipped, so that other costs need another OUTPUT (outputs/forecast).
command -v smpicc >/dev/null || { echo "there is no smpicc: apt-get install libsimgrid-dev" >&2; exit 1; }
out=${OUTPUT:-outputs/forecast} sim=${BUILD:-build}/smpi
make -s VARIANT=smpi WEFT_DEPS=tried all || exit
mkdir -p "$out" || exit
states=$(mktemp -d -p "$([ -w /dev/shm ] && echo /dev/shm || echo "$out")") || exit   # journals and states
trap 'rm -rf "$states"' EXIT
read -r WEFT_SIM_CLIENT WEFT_SIM_SAMPLE WEFT_SIM_SCORE <<<"${COST:-0 0.0047 0.0016}"
export OPENBLAS_NUM_THREADS=1 WEFT_SIM_CLIENT WEFT_SIM_SAMPLE WEFT_SIM_SCORE
# What every rank does for a client of the cohort, measured with 1,000 of 1,000,000; for the weights.
export WEFT_SIM_PLACE=0.000001 WEFT_SIM_UPDATE=0.0025
export WEFT_SIM_FEATURES=$out/features.csv
export WEFT_SIM_CREATE=0.0005   # to create or rename a file on a parallel file system, assumed
words=817872                    # weights of the model of tests/sim/federated.ini: whose arrays are shared

hosts() # PLATFORM: the node of each rank
{
    case $1 in
    hdr) seq -f n%g 0 127 | awk '{ for (i = 0; i < 32; i++) print }' ;;
    gbe) seq -f n%g 0 255 | awk '{ for (i = 0; i < 16; i++) print }' ;;
    esac
}

# simulate PLATFORM RANKS INPUT OPTION ...: SimGrid's factors of protocols are fitted to Ethernet, and its 0.1 ms
# for a look whether a message is there, longer after each in vain, keep a simulation from spinning; Open MPI takes
# less than 1 us.
simulate()
{
    local platform=$1 n=$2 input=$3 protocol=() preload=() computing=no
    shift 3
    [ "$input" != tests/sim/maps.ini ] || computing=yes
    [ "$platform" = gbe ] || protocol=(--cfg=smpi/lat-factor:0:1 --cfg=smpi/bw-factor:0:0.95
        --cfg=smpi/os:0:3e-7:0 --cfg=smpi/or:0:3e-7:0)
    [ "$n" = 1 ] || [ "$input" != tests/sim/federated.ini ] ||
        preload=(-wrapper "env ALIAS_WORDS=$words LD_PRELOAD=$sim/alias.so")
    hosts "$platform" >"$states/hosts"
    smpirun "${preload[@]}" -np "$n" -platform "tests/sim/$platform.xml" -hostfile "$states/hosts" \
        --cfg=smpi/simulate-computation:$computing --cfg=smpi/host-speed:1Gf --cfg=smpi/coll-selector:ompi \
        --cfg=smpi/iprobe:1e-6 --cfg=smpi/test:1e-6 --cfg=smpi/grow-injected-times:no \
        --log=root.thresh:error "${protocol[@]}" \
        "$sim/weft-sim" "$input" run.output="$states/run.h5" "$@"
}

# asynchronous PLATFORM TEAMS SAMPLE
asynchronous()
{
    WEFT_SIM_SAMPLE=$3 WEFT_SIM_SCORE=0 WEFT_SIM_UPDATE=0 simulate "$1" "$2" tests/sim/async.ini \
        run.teams="$2" run.workers=$((4 * $2)) space.configs=$((24 * $2))
}

# study NAME PLATFORM RANKS
study()
{
    local run=$out/$1-$2-$3.txt rounds="fed.cohort=$((10 * $3))"
    [ ! -s "$run" ] || return 0
    [ "$1" != check ] || [ "$3" -le 2 ] || return 0
    echo "$1, $2, $3 ranks" >&2
    case $1 in
    long) simulate "$2" "$3" tests/sim/federated.ini "$rounds" client.max_samples=2000 ;;
    short) simulate "$2" "$3" tests/sim/federated.ini "$rounds" client.max_samples=20 ;;
    check) simulate "$2" "$3" tests/sim/federated.ini fed.cohort=8 client.max_samples=200 \
        random.resource=3 ;;
    most) simulate "$2" "$3" tests/sim/federated.ini "$rounds" client.max_samples=30000 ;;
    whole) simulate "$2" "$3" tests/sim/federated.ini "$rounds" ;;
    maps) simulate "$2" "$3" tests/sim/maps.ini ;;
    async) asynchronous "$2" "$3" 0.0006 ;;
    async1s) asynchronous "$2" "$3" 0.00006 ;;
    async100ms) asynchronous "$2" "$3" 0.000006 ;;
    esac >"$run.part" 2>"$out/log" && [ -s "$run.part" ] && mv "$run.part" "$run" || { cat "$out/log" >&2; exit 1; }
    rm -rf "$states"/run.*
}

if [[ " ${STUDIES:-} " = *" maps "* && ! -s "$out/features.csv" ]]; then
    bench=${BUILD:-build}/opt/tests/b_rff
    make -s "$bench" && "$bench" >"$out/features.part" && mv "$out/features.part" "$out/features.csv" || exit
fi
for platform in ${PLATFORMS:-hdr gbe}; do
    for name in ${STUDIES:-check long short whole async async1s async100ms}; do
        for n in ${RANKS:-1 2 4 16 64 256}; do study "$name" "$platform" "$n"; done
    done
done
plot=${PLOT-analysis/forecast.py}
[ -z "$plot" ] || $plot "$out"/*.txt -o "$out/forecast"
