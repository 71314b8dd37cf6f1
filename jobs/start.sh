# Sourced by the scripts here. Environment: WEFT, the program (default build/opt/weft); LAUNCH,
# what starts its ranks (default mpirun -n 2).
weft=${WEFT:-build/opt/weft}
launch=${LAUNCH:-mpirun -n 2}
export OPENBLAS_NUM_THREADS=1
unset OPENBLAS_CORETYPE OPENBLAS_L2_SIZE   # let OpenBLAS choose for this CPU

# Whether a run was begun, complete or not.
begun() # RUN.h5
{
    [ -f "$1" ] || [ -d "${1%.h5}.d" ]
}

# Begins a run, or resumes it; does nothing if it is complete. One that was killed before its
# journal began cannot be resumed (status 3) and is begun again; `tune` replaces no run that was.
start() # RUN.h5 INPUT.ini [section.key=value ...]
{
    local run=$1 input=$2 status=3
    shift 2
    if [ -s "${run%.h5}.d/journal" ]; then
        $launch "$weft" resume "$run"
        status=$?
    elif [ -f "$run" ]; then
        return 0
    fi
    [ $status = 3 ] || return $status
    $launch "$weft" tune "$input" "$@" -o "$run"
}
