# What every job does: start or resume a run, pass the queue's signal on, requeue when stopped.
# usage (from an sbatch script): bash jobs/run.sh INPUT.ini RUN.h5 [section.key=value ...]
# Environment: WEFT, the program (default build/opt/weft).
input=$1 run=$2
shift 2
weft=${WEFT:-build/opt/weft}
export OPENBLAS_NUM_THREADS=1
unset OPENBLAS_CORETYPE OPENBLAS_L2_SIZE   # let OpenBLAS choose for this CPU

if [ -d "${run%.h5}.d" ]; then
    set -- resume "$run"
elif [ -f "$run" ]; then
    echo "$run is complete; remove it to run again"
    exit 0
else
    set -- tune "$input" "$@" -o "$run"
fi
srun --mpi=pmix "$weft" "$@" &
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
