#!/bin/bash
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

check "few images are packed" call pack synthetic images rows=600 -o "$tmp/img.h5"
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
    on 2 tune "$tmp/in.ini" "$@" -o "$disk/r.h5"
}
resume() # RANKS
{
    on "$1" resume "$disk/r.h5" run.time_limit=0
}

check "a run is left alone" call tune "$tmp/in.ini" -o "$tmp/alone.h5"
expected=$(digest "$tmp/alone.h5")

head -c 3800k /dev/zero >"$disk/other"
tune
check "a run is not begun on a disk that is full" one_line $?
rm -rf "$disk"/*

tune run.time_limit=1e-9
check "a run is stopped after its first jobs" [ $? = 75 ]
cat /dev/zero >"$disk/other" 2>/dev/null
resume 2
status=$?
one_line $status && grep -q 'weft resume' "$tmp/log"
result $? "with the disk full it says how to go on"
check "and leaves no half of a run file" [ ! -e "$disk/r.h5" ]
mount -o remount,ro "$disk"
resume 1
check "it is not resumed where nothing may be written" one_line $?
call report "$disk/r.h5" || grep -q 'no job of it is done yet' "$tmp/log"
result $? "but can be read"
mount -o remount,rw,size=8m "$disk"
rm -f "$disk/other"
check "with space it goes on" resume 3
check "to the same digest" has_digest "$expected" "$disk/r.h5"
check "and leaves nothing beside its file" [ ! -e "$disk/r.d" ]

# Two processes on one run, of which the first is held up.
rm -f "$disk/r.h5"
WEFT_HOLD="job 1 of" "$weft" tune "$tmp/in.ini" -o "$disk/r.h5" >"$tmp/out" 2>"$tmp/log" &
first=$!
held $first && ! "$weft" resume "$disk/r.h5" >"$tmp/out" 2>"$tmp/second" && grep -q 'in use by another process' "$tmp/second"
result $? "a second process is kept out of a run that is going on"
kill -CONT $first
wait $first
result $? "which ends"
check "with the same digest" [ "$(digest "$disk/r.h5")" = "$expected" ]
echo "1..$count"
