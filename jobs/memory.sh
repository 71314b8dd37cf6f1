# How much memory do 1 and 16 ranks of a node take together, each page that they share counted
# once? The greatest sum of their Pss while they train on packed data, and its parts: pages
# of their own, pages of shared memory, pages of files (packed data, libraries). Ranks may be more
# than cores. The run must be long enough that every rank has looked at all of the data.
# usage: [RANKS="1 16"] [INPUT=inputs/fedavg-logistic.ini] [LAUNCH="mpirun --oversubscribe"] [OUTPUT=outputs/memory] bash jobs/memory.sh DATA.h5 [section.key=value ...]
# Cost: a short run of the input file for each number of ranks. Teams: run.teams=4.
set -e
cd "$(dirname "$0")/.."
weft=${WEFT:-build/opt/weft} out=${OUTPUT:-outputs/memory}
test -n "$1" || { echo "usage: bash jobs/memory.sh DATA.h5 [section.key=value ...]" >&2; exit 2; }
mkdir -p "$(dirname "$out")"
export OPENBLAS_NUM_THREADS=1 OMPI_MCA_mpi_yield_when_idle=1
unset OPENBLAS_CORETYPE OPENBLAS_L2_SIZE

echo "ranks   total MB     own  shared   files"
for n in ${RANKS:-1 16}; do
    rm -f "$out.pids"
    # shellcheck disable=SC2016
    ${LAUNCH:-mpirun --oversubscribe} -n "$n" sh -c 'echo $$ >>"$0"; exec "$@"' "$out.pids" \
        "$weft" tune "${INPUT:-inputs/fedavg-logistic.ini}" run.test=no run.data="$1" "${@:2}" -o "$out.h5" --force >"$out.log" 2>&1 &
    most=$(while kill -0 $! 2>/dev/null; do
        { sed 's|.*|/proc/&/smaps_rollup|' "$out.pids" | xargs cat; } 2>/dev/null |
            awk -v n="$n" '{ kb[$1] += $2 } END { printf "%5d %10.0f %7.0f %7.0f %7.0f\n", n, kb["Pss:"] / 1e3,
                kb["Pss_Anon:"] / 1e3, kb["Pss_Shmem:"] / 1e3, kb["Pss_File:"] / 1e3 }' || true
        sleep 0.2
    done | sort -n -k2 | tail -n 1)
    wait $! || { cat "$out.log" >&2; exit 1; }
    echo "$most"
done
