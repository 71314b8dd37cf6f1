# What every job does: start or resume a run, pass the queue's signal on, requeue when stopped.
# usage (from an sbatch script): bash jobs/run.sh INPUT.ini RUN.h5 [section.key=value ...]
LAUNCH='exec srun --mpi=pmix' . jobs/start.sh   # srun takes the place of the background shell
input=$1 run=$2
shift 2

# A job that was requeued has the arguments that it began with.
if [ $# -gt 0 ] && [ "${SLURM_RESTART_COUNT:-0}" = 0 ] && begun "$run"; then
    echo "$run is there, and its settings stay: leave out $*, or name another run by OUTPUT=RUN.h5" >&2
    exit 2
fi
if [ -f "$run" ] && [ ! -d "${run%.h5}.d" ]; then
    echo "$run is complete; remove it to run again, or name another by OUTPUT=RUN.h5"
    exit 0
fi
start "$run" "$input" "$@" &
step=$!
trap 'kill -USR1 $step' USR1 TERM        # srun passes it on to all ranks
wait $step
status=$?
while kill -0 $step 2>/dev/null; do      # the first wait ends with the signal, not with srun
    wait $step
    status=$?
done
[ $status = 75 ] && scontrol requeue "$SLURM_JOB_ID"
exit $status
