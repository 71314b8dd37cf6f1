# The hosts in a run file: the cores of all ranks, not of one.
. tests/tap.sh
"$weft" pack synthetic images rows=300 d=16 classes=2 -o "$tmp/d.h5" 2>/dev/null

# hosts COMMAND ...: what a run of two ranks, each started by COMMAND, says of its cores.
hosts()
{
    rm -f "$tmp/r.h5"
    timeout 60 mpirun -n 2 "$@" "$weft" tune inputs/demo-images.ini run.data="$tmp/d.h5" \
        space.configs=2 rff.features=50 -o "$tmp/r.h5" >"$tmp/out" 2>"$tmp/log" &&
        "$weft" report "$tmp/r.h5" --json | sed -n 's/.*"hosts": "[^(]*(cores \([^)]*\)).*/\1/p'
}

cores=$(sed -n 's/^Cpus_allowed_list:\s*//p' /proc/self/status)
[ "$(hosts)" = "$cores" ]
result $? "ranks that may run on all cores have all of them"
if [ "$(nproc)" -lt 2 ] || ! command -v taskset >/dev/null; then
    echo "ok $((count += 1)) # SKIP one core, or no taskset to bind ranks with"
else
    pair=$(taskset -cp $$ | sed 's/.*: *//; s/[-,].*//')
    # shellcheck disable=SC2016
    [ "$(hosts sh -c 'taskset -c $(('"$pair"' + ${OMPI_COMM_WORLD_RANK:-$PMI_RANK})) "$@"' sh)" = "$pair-$((pair + 1))" ]
    result $? "ranks that are bound to a core each have both"
fi
echo "1..$count"
