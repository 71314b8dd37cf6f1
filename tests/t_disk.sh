#!/bin/sh
# A run whose disk becomes full or read-only, or whose directory is used by a second run,
# ends with one line, loses nothing, and resumes to the same digest when there is space.
# Prints TAP. The disk is a small tmpfs, which root may mount.
. tests/tap.sh
disk=$tmp/disk
mkdir "$disk"
if ! mount -t tmpfs -o size=4m none "$disk" 2>"$tmp/log"; then
    echo "ok 1 # SKIP only root may mount a disk to fill"
    echo "1..1"
    exit
fi
trap 'umount "$disk" 2>/dev/null || umount -l "$disk"; rm -rf "$tmp"' EXIT

"$weft" pack synthetic images rows=600 -o "$tmp/img.h5" >"$tmp/out" 2>"$tmp/log"
result $? "few images are packed"
cat >"$tmp/in.ini" <<END
[run]
data = $tmp/img.h5
tuner = random
[space]
configs = 12
[rff]
features = 600
gamma = log 1e-4 .. 1e-2
END
one_line() # STATUS: it failed with one line that has a remedy?
{
    [ "$1" != 0 ] && [ "$1" -lt 100 ] && [ "$(grep -c '^weft: ' "$tmp/log")" = 1 ] &&
        grep -q "^weft: .*$disk.*\(free space\|may write\)" "$tmp/log"
}
tune() # KEY=VALUE ...
{
    timeout "$net" mpirun -n 2 "$weft" tune "$tmp/in.ini" "$@" -o "$disk/r.h5" >"$tmp/out" 2>"$tmp/log"
}
resume() # RANKS
{
    timeout "$net" mpirun -n "$1" "$weft" resume "$disk/r.h5" run.time_limit=0 >"$tmp/out" 2>"$tmp/log"
}

"$weft" tune "$tmp/in.ini" -o "$tmp/alone.h5" >"$tmp/out" 2>"$tmp/log"
result $? "a run is left alone"
expected=$(digest "$tmp/alone.h5")

head -c 3800k /dev/zero >"$disk/other"
tune
one_line $?
result $? "a run is not begun on a disk that is full"
rm -rf "$disk"/*

tune run.time_limit=1e-9
[ $? = 75 ]
result $? "a run is stopped after its first jobs"
cat /dev/zero >"$disk/other" 2>/dev/null
resume 2
status=$?
one_line $status && grep -q 'weft resume' "$tmp/log"
result $? "with the disk full it says how to go on"
[ ! -e "$disk/r.h5" ]
result $? "and leaves no half of a run file"
mount -o remount,ro "$disk"
resume 1
one_line $?
result $? "it is not resumed where nothing may be written"
"$weft" report "$disk/r.h5" >"$tmp/out" 2>"$tmp/log" || grep -q 'no job of it is done yet' "$tmp/log"
result $? "but can be read"
mount -o remount,rw,size=8m "$disk"
rm -f "$disk/other"
resume 3
result $? "with space it goes on"
[ -n "$expected" ] && [ "$(digest "$disk/r.h5")" = "$expected" ]
result $? "to the same digest"
[ ! -e "$disk/r.d" ]
result $? "and leaves nothing beside its file"

# Two processes on one run, of which the first is held up.
rm -f "$disk/r.h5"
WEFT_HOLD="job 1 of" "$weft" tune "$tmp/in.ini" -o "$disk/r.h5" >"$tmp/out" 2>"$tmp/log" &
first=$!
held $first && ! "$weft" resume "$disk/r.h5" >"$tmp/out" 2>"$tmp/second" && grep -q 'in use by another process' "$tmp/second"
result $? "a second process is kept out of a run that is going on"
kill -CONT $first
wait $first
result $? "which ends"
[ "$(digest "$disk/r.h5")" = "$expected" ]
result $? "with the same digest"
echo "1..$count"
