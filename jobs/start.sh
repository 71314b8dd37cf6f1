# Sourced by the scripts here: what starts ranks, and how a job outlives its time limit and lost
# nodes. A job that is told to stop passes that on to its ranks, which keep what they have and end
# with status 75. It then puts itself back in the queue, where it resumes, if it was told by the
# signal before its time limit (USR1), or makes room for another (preemption); one that is
# cancelled (TERM) ends, and goes on when it is submitted again. Environment:
#   WEFT     the program; default build/opt/weft, or else the weft in PATH
#   LAUNCH   what starts its ranks; default in a SLURM job srun --mpi=pmix, or mpirun where srun
#            has no PMIx, and mpirun -n 2 elsewhere
#   REQUEUE  no: a job that was stopped does not go back to the queue
#   NEXT_LINK  the job that goes on if this one is stopped (a chain): cancelled with this one, or
#            where this one's run fails
. jobs/site.sh
weft=${WEFT:-build/opt/weft}
[ -n "${WEFT:-}" ] || [ -x "$weft" ] || ! command -v weft >/dev/null || weft=weft
if [ -z "${SLURM_JOB_ID:-}" ]; then
    launcher=mpirun
    launch=${LAUNCH:-mpirun -n 2}
else
    launcher="srun --mpi=pmix"
    srun --mpi=list 2>&1 | grep -qw pmix || launcher=mpirun
    launch=${LAUNCH:-$launcher}
    # srun does not take this from sbatch.
    [ -z "${SLURM_CPUS_PER_TASK:-}" ] || export SRUN_CPUS_PER_TASK=$SLURM_CPUS_PER_TASK
    # Seconds that ranks have to end after the first: those of one that was killed, as for want of
    # memory, would wait for it until the time limit.
    export SLURM_WAIT=${SLURM_WAIT:-30}
fi
export OPENBLAS_NUM_THREADS=1
export OMPI_MCA_orte_execute_quiet=1       # mpirun's lines on the exit status hide weft's
unset OPENBLAS_CORETYPE OPENBLAS_L2_SIZE   # let OpenBLAS choose for this CPU

step=      # the process that started the ranks, while it runs
stopped=   # by which signal the job was told to stop
caught=    # set when a signal came during `wait`
trap 'told USR1' USR1
trap 'told TERM' TERM
trap 'leave $?' EXIT

told() # SIGNAL
{
    [ "$stopped" = TERM ] || stopped=$1
    caught=1
    [ -z "$step" ] || kill -USR1 "$step" 2>/dev/null
    [ "$stopped" != TERM ] || drop_next # at once: SLURM kills this script after KillWait
}

drop_next()
{
    [ -n "${NEXT_LINK:-}" ] || return
    scancel "$NEXT_LINK" && echo "the chain ends here: its next job, $NEXT_LINK, is taken out of the queue" >&2
    NEXT_LINK=
}

# Whether SLURM has given this job some time to make room for another: it has then told the ranks
# only, by TERM, and takes a job that ends by itself for one that has failed.
makes_room()
{
    case $(scontrol show job "$SLURM_JOB_ID") in
    *JobState=RUNNING*PreemptTime=[0-9]*) ;;
    *) return 1 ;;
    esac
}

# What a job does at its end. One whose ranks were killed (scancel of a step, too little memory)
# does not go back to the queue, for it might be killed for ever.
leave() # STATUS
{
    [ "$1" -le 128 ] || echo "the ranks were killed (status $1): submit again, and the run goes on" >&2
    [ "$1" = 75 ] || drop_next
    [ "$1" = 75 ] && [ -n "${SLURM_JOB_ID:-}" ] && [ "${REQUEUE:-yes}" != no ] || return
    if [ "$stopped" = USR1 ] || { [ -z "$stopped" ] && makes_room; }; then
        scontrol requeue "$SLURM_JOB_ID" ||
            echo "jobs may not go back to the queue here: submit again, and the run goes on" >&2
    else
        echo "stopped, but not by the signal before the time limit: submit again, and the run goes on" >&2
    fi
}

# Runs weft on all ranks, in the background, for else bash would see a signal too late.
ranks() # ARGUMENT ...
{
    local status
    [ -z "$stopped" ] || return 75
    $launch "$weft" "$@" &
    step=$!
    while
        caught=
        wait "$step"
        status=$?
        [ -n "$caught" ] # the wait ended with the signal, not with the ranks
    do :; done
    step=
    return $status
}

# Whether a run was begun, complete or not.
begun() # RUN.h5
{
    [ -f "$1" ] || [ -d "${1%.h5}.d" ]
}

# Runs weft on all ranks for a run, up to three times if they end by signal 11 before they opened
# it: MPI_Init of Open MPI 4.1 by srun ends so, about once in 100 starts over TCP, where a rank that
# is ahead sends to one that does not listen yet.
ranks_of() # RUN.h5 ARGUMENT ...
{
    local run=$1 tries=1 status before
    shift
    while
        before=$(ls -l --time-style=full-iso "$run" "${run%.h5}.d" 2>/dev/null)
        ranks "$@"
        status=$?
        [ $status = 139 ] && [ $((tries++)) -lt 3 ] &&
            [ "$before" = "$(ls -l --time-style=full-iso "$run" "${run%.h5}.d" 2>/dev/null)" ]
    do
        echo "a rank ended by signal 11 while MPI started: started again" >&2
    done
    return $status
}

# Begins a run, or resumes it; does nothing if it is complete. One that was killed before its
# journal began cannot be resumed (status 3) and is begun again; `tune` replaces no run that was.
start() # RUN.h5 INPUT.ini [section.key=value ...]
{
    local run=$1 input=$2 status=3
    shift 2
    if [ -s "${run%.h5}.d/journal" ]; then
        ranks_of "$run" resume "$run"
        status=$?
    elif [ -f "$run" ]; then
        return 0
    fi
    [ $status = 3 ] || return $status
    mkdir -p "$(dirname "$run")" && ranks_of "$run" tune "$input" "$@" -o "$run"
}
