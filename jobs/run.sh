# What every job of one run does: begins or resumes it, and is requeued when it was stopped.
# usage: [OUTPUT=RUN.h5] [RESUME=yes] bash jobs/run.sh INPUT.ini [section.key=value ...]
# The run file is outputs/INPUT.h5 unless OUTPUT says else. A run that was begun keeps its
# settings: to give some again is refused, unless RESUME=yes says that they are the same.
. jobs/start.sh
input=$1
run=${OUTPUT:-outputs/$(basename "$input" .ini).h5}
shift

# A job that was requeued has the arguments that it began with.
if [ $# -gt 0 ] && [ "${SLURM_RESTART_COUNT:-0}" = 0 ] && [ "${RESUME:-no}" = no ] && begun "$run"; then
    echo "$run is there, and its settings stay: leave out $*, or name another run by OUTPUT=RUN.h5" >&2
    exit 2
fi
if [ -f "$run" ] && [ ! -d "${run%.h5}.d" ]; then
    echo "$run is complete; remove it to run again, or name another by OUTPUT=RUN.h5"
    exit 0
fi
# The data, unless the run is there, which knows them.
data=$({ printf '%s\n' "$@" | sed -n 's/^run\.data=//p'; sed -n 's/^data *= *\([^ ;]*\).*/\1/p' "$input"; } | head -n 1)
if [ -n "$data" ] && [ ! -e "$data" ] && ! begun "$run"; then
    echo "$data is not there: \`make data\` packs CIFAR-10, IMDB and Shakespeare, \`weft pack\` what is yours;" \
        "jobs/README.md begins with an example on built-in data" >&2
    exit 3
fi
start "$run" "$input" "$@"
