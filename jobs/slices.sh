# A long run in slices, where no SLURM puts it back in the queue: ends each start after SLICE
# seconds, as a time limit would, and begins the next one, until the run is complete.
# Cost: that of the run, `weft tune --plan INPUT.ini`; a start and a checkpoint for each slice.
# usage: [SLICE=1200] [OUTPUT=RUN.h5] bash jobs/slices.sh INPUT.ini [section.key=value ...]
# Resume: the same command, also after a kill; a run that was begun keeps its settings.
. jobs/start.sh
input=$1
run=${OUTPUT:-outputs/$(basename "$input" .ini).h5}
shift
slices=0
while
    start "$run" "$input" run.time_limit="${SLICE:-1200}" "$@"
    status=$?
    slices=$((slices + 1))
    [ $status = 75 ] && [ -z "$stopped" ]
do :; done
echo "$run: status $status after $slices starts"
exit $status
