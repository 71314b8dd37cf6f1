#!/bin/bash
# FedEx in asynchronous halving of a convolutional network by PyTorch: one digest on any ranks and
# teams, and after kills of ranks, of mpirun and of workers at random moments. Prints TAP.
# KILLS: how many (3); SEED: of the moments; PACKED: images that clients have, in place of built-in
# ones; NP="1 2 3": the rank counts. The whole study: CIFAR-10 over 100 clients, KILLS=20.
. tests/tap.sh
kills=${KILLS:-3} seed=${SEED:-$(date +%s)}
need_python "torch, h5py"
echo "# SEED=$seed"
RANDOM=$seed
export OMPI_MCA_rmaps_base_oversubscribe=1 PRTE_MCA_rmaps_default_mapping_policy=:oversubscribe
cp tests/cnn.py "$tmp/cnn.py"
packed=${PACKED:-$tmp/images.h5}
call pack synthetic images rows=600 clients=20 -o "$tmp/images.h5"
set -- inputs/worker.ini worker.run="$python $tmp/cnn.py $packed" worker.retries=9 run.tuner=asha run.mixing=fedex \
    run.checkpoint=0.5 space.configs=6 asha.reduction=2 asha.min_resource=2 asha.max_resource=8 client.lr="log 1e-3 .. 0.5" \
    client.momentum="0 .. 0.9" client.max_samples=20 fed.max_valid=5 fed.eval_clients=8 fed.select=pooled run.test=no

# ---- ranks and teams ------------------------------------------------------------------------

one=
for np in ${NP:-1 2 3}; do
    teams=$(((np + 1) / 2))
    begin=$(date +%s)
    check "$np ranks, teams: $teams: the search ends" on "$np" tune "$@" run.teams=$teams -o "$tmp/u.h5" --force
    : "${one:=$(digest "$tmp/u.h5")}"
    check "$np ranks, teams: $teams: one digest" has_digest "$one" "$tmp/u.h5"
    took=$(($(date +%s) - begin))
done

# ---- kills ----------------------------------------------------------------------------------

alive() { kill -0 $run 2>/dev/null; }
workers() # prints those that run
{
    for process in /proc/[0-9]*; do
        tr '\0' ' ' <"$process/cmdline" | grep -q "^$python $tmp/cnn.py" && echo "${process#/proc/}"
    done 2>/dev/null
}
began() { grep -aqs '^began' "$tmp/r.d/journal"; }
start() # RANKS TEAMS ARGUMENT...: begins the run, or goes on with it
{
    ranks=$1 teams=$2
    shift 2
    if began; then set -- resume "$tmp/r.h5"; else set -- tune "$@" -o "$tmp/r.h5" --force; fi
    launch "$ranks" 0 "no such event" "$weft" "$@" run.teams="$teams"
}
# strike: kills ranks, mpirun or a worker, in turn; fails if there is none.
strike()
{
    kind=$((killed % 3))
    case $kind in
    0) what=rank victims=$(rank $((RANDOM % ranks))) ;;
    1) what=worker victims=$(workers | head -n 1) ;;
    2) what=mpirun victims=$(cat /proc/$run/task/$run/children) ;;
    esac
    # shellcheck disable=SC2086
    [ -n "$victims" ] && kill -KILL $victims 2>/dev/null || return 1
    killed=$((killed + 1))
    echo "# kill $killed: $what of $ranks ranks in $teams teams, $(grep -c ' job [0-9]* of ' "$tmp/log") jobs were told"
}
settled()
{
    runs=$((runs + 1))
    ended=$(digest "$tmp/r.h5")
    if [ "$ended" = "$one" ]; then
        equal=$((equal + 1))
    else
        tail -n 8 "$tmp/log" | sed 's/^/# /'
        put_aside "run $runs has digest '$ended' where $one is expected, after $killed kills"
    fi
    rm -rf "$tmp"/r.*
}
gone() # no process of the run is left
{
    for _ in $(seq 600); do
        # shellcheck disable=SC2046
        kill -0 $(cut -d' ' -f2 "$tmp/pids") 2>/dev/null || workers | grep -q . || return 0
        sleep 0.1
    done
    return 1
}

killed=0 runs=0 equal=0 starts=0 left=0 resumed=0
while [ $killed -lt "$kills" ] && [ $starts -lt $((4 * kills + 4)) ]; do
    start $((starts % 3 + 1)) $((starts % 3 > 0 ? starts % 2 + 1 : 1)) "$@"
    starts=$((starts + 1))
    until [ "$(grep -c . "$tmp/pids" 2>/dev/null)" = "$ranks" ] || ! alive; do sleep 0.05; done
    until [ $((starts % 4)) = 0 ] || began || ! alive; do sleep 0.05; done
    while alive && [ $killed -lt "$kills" ]; do
        sleep "$(awk -v r="$RANDOM" -v took="$took" 'BEGIN { print took * r / 32768 }')"
        alive && strike && [ "$what" != worker ] && break
    done
    wait $run 2>/dev/null
    gone || left=$((left + 1))
    grep -q 'resumed: [1-9]' "$tmp/log" && resumed=$((resumed + 1))
    if [ -e "$tmp/r.h5" ] && [ ! -d "$tmp/r.d" ]; then settled; fi
done
if [ -d "$tmp/r.d" ]; then
    start 2 2 "$@"
    check "killed $killed times, the run goes to its end" wait $run
    grep -q 'resumed: [1-9]' "$tmp/log" && resumed=$((resumed + 1))
    settled
fi
check "it was killed $killed times" [ $killed -ge "$kills" ]
check "$runs runs came to their end" [ $runs -ge 1 ]
check "$equal of $runs digests are that of an undisturbed run" [ $equal = $runs ]
check "no process outlives its run" [ $left = 0 ]
echo "# $starts starts, $resumed of them with jobs that were done"
echo "1..$count"
