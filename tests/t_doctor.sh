#!/bin/bash
# weft doctor, and the warnings that a run prints at its start: on a sound machine, and with
# each fault that can be simulated here. Prints TAP.
. tests/tap.sh
weft=$(realpath "$weft")
if [ ! -r /proc/self/status ]; then
    echo "1..0 # SKIP /proc, which tells cores and memory, is not mounted"
    exit 0
fi
unset SLURM_JOB_ID SLURM_MEM_PER_NODE SLURM_MEM_PER_CPU SLURM_CPUS_ON_NODE SLURM_STEP_NUM_TASKS

doctor() # RANKS ARGUMENT ...
{
    on "$1" doctor "${@:2}"
}

shows() # PATTERN STATEMENT
{
    check "$2" grep -Eq -e "$1" "$tmp/out"
}

mkdir "$tmp/runs"
check "two ranks are examined" doctor 2 "$tmp/runs"
shows '^weft .*, (Open MPI|MPICH) v[0-9.]+' "the program is told, with its MPI"
shows "^host +$(hostname): 2 ranks on cores [0-9,-]+, .*[0-9.]+ GB of memory, [0-9.]+ GB free" "with hosts, cores and memory"
shows '^blas +OpenBLAS for [A-Za-z0-9]+, 1 thread a rank; kernel (plain|avx2|avx512|neon|dotprod)' "BLAS, its threads"
shows '^rate +sgemm [0-9.e+]+ GFLOP/s .rank [01] on .* to [0-9.e+]+ .rank' "and its rate"
shows '^trip +ranks 0 and 1, on one host: [0-9.e+-]+ us, [0-9.]+ GB/s' "latency and bandwidth"
type=$(stat -f -c %T "$tmp/runs")
shows "^files +$tmp/runs: [a-z0-9.]+, [0-9.]+ GB free; 1 MB written, synced and renamed in [0-9.e+-]+ ms; locks keep other processes out" \
    "the file system ($type)"
shows '^verdict +' "and a verdict"
check "no file is left behind" [ -z "$(ls -A "$tmp/runs")" ]
doctor 1 && grep -q 'needs two ranks: mpirun -n 2 weft doctor' "$tmp/out"
result $? "one rank is told how to measure the connection"
# ---- faults -------------------------------------------------------------------------------

# wrong STATUS PATTERN STATEMENT: the last command ended so, and said so, once.
wrong()
{
    status=$?
    [ $status = "$1" ] && [ "$(grep -Ec -e "$2" "$tmp/log")" = 1 ]
    result $? "$3"
}
doctor 2 "$tmp/none"
wrong 3 '^weft: .*none: No such file.*check the name' "a directory that is not there"
doctor 2 /proc
wrong 3 '^weft: .*/proc.*: .*; c' "or that cannot be written to"
if command -v taskset >/dev/null; then
    core=$(taskset -cp $$ | sed 's/.*: *//; s/[-,].*//')
    taskset -c "$core" timeout "$net" mpirun -n 2 "$weft" doctor "$tmp" >"$tmp/out" 2>"$tmp/log"
    wrong 0 'warning: 2 ranks on .* share 1 core .* start fewer.*--bind-to core' "ranks that share a core"
    shows '^verdict +.*warning' "are in the verdict"
else
    echo "ok $((count += 1)) # SKIP no taskset to bind ranks with"
    echo "ok $((count += 1)) # SKIP no taskset to bind ranks with"
fi
# The second rank has another file system there, as a directory of its own host would be. Not with
# MPICH, which connects ranks by way of /proc.
if unshare -rm true 2>/dev/null && ! "$weft" --version | grep -q '^MPICH'; then
    cat >"$tmp/own" <<END
#!/bin/sh
[ "\${OMPI_COMM_WORLD_RANK:-\${PMIX_RANK:-\$PMI_RANK}}" = 1 ] || exec "$weft" doctor "$tmp/runs"
exec unshare -rm sh -c 'mount -t tmpfs tmpfs "$tmp/runs" && exec "$weft" doctor "$tmp/runs"'
END
    chmod +x "$tmp/own"
    timeout "$net" mpirun -n 2 --mca btl_vader_single_copy_mechanism none "$tmp/own" >"$tmp/out" 2>"$tmp/log"
    wrong 0 'warning: .*/runs is not the same directory on .* file system that all hosts share' \
        "a directory that is not shared"
    timeout "$net" unshare -rm sh -c "mount -t tmpfs tmpfs /proc && exec '$weft' doctor '$tmp'" >"$tmp/out" 2>"$tmp/log"
    shows '^host +.*: 1 rank on cores that /proc does not tell; [0-9.]+ GB of memory, [0-9.]+ GB free' \
        "without /proc, cores are unknown and free memory is not"
else
    echo "ok $((count += 1)) # SKIP no file system can be mounted here"
    echo "ok $((count += 1)) # SKIP no file system can be mounted here"
fi
lone() # RANK
{
    SLURM_STEP_NUM_TASKS=4 SLURM_PROCID=$1 call doctor
}
lone 0
wrong 2 '^weft: 4 processes were started but each finds itself alone.*srun --mpi=pm(ix|i2)' \
    "processes that do not find each other are refused"
lone 1
[ $? = 2 ] && [ ! -s "$tmp/log" ]
result $? "and the first alone says so"

# ---- the start of a run -------------------------------------------------------------------

"$weft" pack synthetic images rows=300 d=16 classes=2 -o "$tmp/d.h5" 2>/dev/null
tune()
{
    "$@" "$weft" tune inputs/demo-images.ini run.data="$tmp/d.h5" space.configs=2 rff.features=50 \
        -o "$tmp/r.h5" --force >"$tmp/out" 2>"$tmp/log"
}
tune timeout "$net" mpirun -n 2 && cp "$tmp/log" "$tmp/out"
shows '2 ranks on .*; OpenBLAS [A-Za-z0-9]+, 1 thread a rank, sgemm [0-9.e+]+ GFLOP/s or more; kernel' \
    "a run tells its ranks, cores, BLAS and rate"
shows 'memory: 2 GB a rank allowed, the host has [0-9.]+ GB, [0-9.]+ GB free, for 2 ranks' "its memory"
kind=$(findmnt -n -o FSTYPE -T "$tmp" 2>/dev/null) # none where the list of mounts lacks it, as in a chroot
shows "files: $tmp is on ${kind:-an unknown file system}, [0-9.]+ GB free" "and where it is kept"
! grep -q 'locks' "$tmp/log"
result $? "locks that work are not spoken of"
[ -z "$(ls "$tmp"/r.d "$tmp"/weft-lock* 2>/dev/null)" ]
result $? "nothing is left of what tried them"
# A file system that grants a lock to everyone, as one does that keeps locks on each host.
cat >"$tmp/locks.c" <<END
#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdlib.h>
#include <sys/syscall.h>
#include <unistd.h>
int fcntl(int fd, int what, ...)
{
    va_list list;
    va_start(list, what);
    long x = va_arg(list, long);
    va_end(list);
    if (what == F_SETLK && getenv("NO_LOCKS")) return errno = ENOLCK, -1;
    return what == F_SETLK ? 0 : (int)syscall(SYS_fcntl, fd, what, x);
}
END
if ${CC:-cc} -shared -fPIC "$tmp/locks.c" -o "$tmp/locks.so" 2>"$tmp/log" && ! ldd "$weft" | grep -q 'lib.san'; then
    tune timeout "$net" mpirun -n 2 env LD_PRELOAD="$tmp/locks.so"
    wrong 0 'warning: locks of files in .*/r.d do not keep other processes out: nothing keeps .*; avoid that, or' \
        "locks that are granted to all are warned of, with the remedy"
    tune timeout "$net" mpirun -n 2 env NO_LOCKS=1 LD_PRELOAD="$tmp/locks.so"
    wrong 0 'warning: .*locks' "and once, that there are none"
else
    echo "ok $((count += 1)) # SKIP no compiler for another fcntl"
    echo "ok $((count += 1)) # SKIP no compiler for another fcntl"
fi
SLURM_MEM_PER_NODE=1500 tune timeout "$net" mpirun -n 2
wrong 0 'warning: run.memory = 2 GB for each of 2 ranks on .*, where 1.57 GB may be used: set it to 0.71 or less' \
    "memory that the queue does not allow is warned of"
cp "$tmp/log" "$tmp/out"
shows 'memory: 2 GB a rank allowed, the host has .*, for 2 ranks in this job.s share of 1.57 GB' "and the job's share told"
SLURM_MEM_PER_CPU=500 SLURM_CPUS_ON_NODE=2 tune timeout "$net" mpirun -n 2
wrong 0 'warning: run.memory = 2 GB for each of 2 ranks on .*, where 1.05 GB may be used' "also where it is given by core"

# A control group of either version, if there may be one here.
limited=
for tree in /sys/fs/cgroup/memory /sys/fs/cgroup; do
    mkdir "$tree/weft-test-$$" 2>/dev/null || continue
    for file in memory.limit_in_bytes memory.max; do
        [ -n "$limited" ] || ! echo 1200000000 2>/dev/null >"$tree/weft-test-$$/$file" || limited=$tree/weft-test-$$
    done
    [ -n "$limited" ] && break
    rmdir "$tree/weft-test-$$"
done
if [ -n "$limited" ] && sh -c "echo \$\$ >'$limited/cgroup.procs'" 2>/dev/null; then
    tune sh -c "echo \$\$ >'$limited/cgroup.procs'; exec timeout $net mpirun -n 2 \"\$@\"" sh
    wrong 0 'warning: run.memory = 2 GB for each of 2 ranks on .*, where 1.2 GB may be used' "and by a control group"
else
    echo "ok $((count += 1)) # SKIP no control group can be made here"
fi
[ -z "$limited" ] || rmdir "$limited"
echo "1..$count"
