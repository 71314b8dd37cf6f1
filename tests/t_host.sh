# The hosts in a run file: the cores of all ranks, not of one; a core that two wefts are bound to.
. tests/tap.sh
"$weft" pack synthetic images rows=300 d=16 classes=2 -o "$tmp/d.h5" 2>/dev/null

# hosts COMMAND ...: what a run of two ranks, each started by COMMAND, says of its cores.
hosts()
{
    rm -f "$tmp/r.h5"
    timeout "$net" mpirun -n 2 "$@" "$weft" tune inputs/demo-images.ini run.data="$tmp/d.h5" \
        space.configs=2 rff.features=50 -o "$tmp/r.h5" >"$tmp/out" 2>"$tmp/log" &&
        "$weft" report "$tmp/r.h5" --json | sed -n 's/.*"hosts": "[^(]*(cores \([^)]*\)).*/\1/p'
}

cores=$(sed -n 's/^Cpus_allowed_list:\s*//p' /proc/self/status)
check "ranks that may run on all cores have all of them" [ "$(hosts)" = "$cores" ]
if [ "$(nproc)" -lt 2 ] || ! command -v taskset >/dev/null; then
    echo "ok $((count += 1)) # SKIP one core, or no taskset to bind ranks with"
else
    pair=$(taskset -cp $$ | sed 's/.*: *//; s/[-,].*//')
    # shellcheck disable=SC2016
    [ "$(hosts sh -c 'taskset -c $(('"$pair"' + ${OMPI_COMM_WORLD_RANK:-$PMI_RANK})) "$@"' sh)" = "$pair-$((pair + 1))" ]
    result $? "ranks that are bound to a core each have both"
fi

# ---- kernels of OpenBLAS --------------------------------------------------------------------

# Where OpenBLAS does not know the CPU, weft starts once more with a choice that its programs do not see.
cat >"$tmp/says.ini" <<END
[run]
task = command
[space]
configs = 1
[command]
run = echo "core '\${OPENBLAS_CORETYPE-none}' \${WEFT_CORE_CHOSEN-none}" >$tmp/core; echo loss=1
END
on 2 tune "$tmp/says.ini" -o "$tmp/says.h5" --force &&
    ! grep -q 'slower kernels' "$tmp/log"
result $? "OpenBLAS uses kernels as wide as the CPU's"
check "programs of a run inherit no choice of kernels" grep -q "^core 'none' none$" "$tmp/core"
OPENBLAS_CORETYPE=Prescott WEFT_KERNEL=avx2 call doctor
! grep -qs avx2 /proc/cpuinfo || grep -q 'Prescott .*; unset OPENBLAS_CORETYPE=Prescott' "$tmp/log"
result $? "a choice of the user's stays, and is warned of where it is slower"

# ---- two at once --------------------------------------------------------------------------

# Its only job says which rank started it, then waits until it is killed.
cat >"$tmp/wait.ini" <<END
[run]
task = command
tuner = random
[command]
run = echo \$PPID >$tmp/begun; exec sleep 1000000
[parameters]
x = 0 .. 1
[space]
configs = 1
[random]
resource = 1
END
taken() # COMMAND ...: whether the doctor that this starts says that its core is another's
{
    timeout "$net" "$@" "$weft" doctor "$tmp" >"$tmp/out" 2>"$tmp/log" &&
        grep -q 'core [0-9,-]* of .* is in use by another weft.*--bind-to none' "$tmp/log"
}
bound="mpirun --bind-to core -n 1"
if [ "$(nproc)" -lt 2 ] || ! command -v taskset >/dev/null || ! $bound true 2>/dev/null; then
    echo "ok $((count += 1)) # SKIP one core, or no ranks bound to it"
else
    first=$(taskset -cp $$ | sed 's/.*: *//; s/[-,].*//')
    ! taken $bound
    result $? "a core that nobody else uses is not warned of"
    $bound "$weft" tune "$tmp/wait.ini" -o "$tmp/wait.h5" >"$tmp/first" 2>&1 &
    until [ -s "$tmp/begun" ] || ! kill -0 $! 2>/dev/null; do sleep 0.1; done
    check "a rank that mpirun binds to the core of another weft is warned, with the remedy" taken $bound
    ! taken mpirun --bind-to none -n 1
    result $? "not where it is bound to none"
    ! taken taskset -c "$first" $bound
    result $? "nor where its user has chosen the core"
    # A rank of Open MPI 5 outlives its mpirun.
    rank=$(cat "$tmp/begun")
    kill -KILL $! "$rank"
    wait $! 2>/dev/null
    until ! kill -0 "$rank" 2>/dev/null; do sleep 0.1; done
    ! taken $bound
    result $? "nor after the other was killed"
fi
echo "1..$count"
