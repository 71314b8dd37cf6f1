#!/bin/bash
# Runs whose clients keep numbers: these are in files of the run, which hold more than a rank may,
# cost a checkpoint what has changed, follow their states, and are removed with them. Prints TAP.
. tests/tap.sh

call pack synthetic images rows=900 d=16 classes=4 clients=24 partition=dirichlet alpha=0.4 \
    -o "$tmp/fed.h5" &&
    "$weft" pack synthetic federated=generated clients=3000 samples=5 spread=0 d=40 -o "$tmp/many.h5" >>"$tmp/log" 2>&1
result $? "federations are packed"
cat >"$tmp/in.ini" <<END
[run]
data = $tmp/fed.h5
task = fed
tuner = pbt
mixing = fedex
workers = 3
checkpoint = 1e-6
test = yes
[pbt]
population = 4
interval = 3
max_resource = 12
[fedex]
k = 3
[fed]
model = linear
algorithm = ditto
cohort = 6
[ditto]
lambda = 0.01 .. 10
[client]
lr = log 0.01 .. 0.3
batch = 8
END
tune() # ARGUMENT...: to r.h5
{
    rm -rf "$tmp"/r.*
    call tune "$tmp/in.ini" -o "$tmp/r.h5" "$@"
}
resume() # ARGUMENT...
{
    call resume "$tmp/r.h5" "$@"
}
same() # STATEMENT
{
    check "$1" has_digest "$whole" "$tmp/r.h5"
    check "its directory is gone" [ ! -e "$tmp/r.d" ]
}
check "a search to its end" tune
whole=$(digest)

# ---- files and states -------------------------------------------------------------------------

# Each directory of what is kept has its state or its checkpoint, and few layers.
accounted()
{
    local dir name
    for dir in "$tmp"/r.d/files-*; do
        name=${dir##*/files-}
        if [ ! -e "$tmp/r.d/state-$name" ] && [ ! -e "$tmp/r.d/checkpoint-${name#*-}" ]; then return 1; fi
        [ "$(find "$dir" -type f | wc -l)" -le 6 ] || return 1
    done
}
starts=0 wrong=0 most=0
tune run.time_limit=1e-9
status=$?
while [ $status = 75 ] && [ $starts -lt 200 ]; do
    if ! accounted; then
        wrong=$((wrong + 1))
        ls -R "$tmp/r.d"
    fi
    now=$(find "$tmp/r.d" -name 'files-*' | wc -l)
    [ "$now" -le $most ] || most=$now
    starts=$((starts + 1))
    resume
    status=$?
done >"$tmp/wrong"
cat "$tmp/wrong" >>"$tmp/log"
[ $status = 0 ] && [ $starts -ge 40 ]
result $? "a search is stopped after each of $starts units"
check "what is kept belongs to a state" [ $wrong = 0 ]
same "and the run ends the same"
check "$most directories at once, for 4 trials and what they copy" [ $most -le 9 ]
WEFT_HOLD="job 9 of" "$weft" tune "$tmp/in.ini" -o "$tmp/r.h5" --force >"$tmp/out" 2>"$tmp/log" &
run=$!
held $run && kill -KILL $run
wait $run 2>/dev/null
cp -r "$tmp/r.d" "$tmp/killed.d"
resume
same "killed and resumed"
again() # from where it was killed
{
    rm -rf "$tmp"/r.*
    cp -r "$tmp/killed.d" "$tmp/r.d"
}
again
rm -r "$tmp"/r.d/files-*
resume && grep -q 'damaged.*are repeated' "$tmp/log"
result $? "what was kept but is lost is made again"
same "with the same bits"
again
spoil() # BYTE: of each of these files
{
    for file in "$tmp"/r.d/files-*/*; do printf 'x' | dd of="$file" bs=1 seek="$1" conv=notrunc 2>"$tmp/log"; done
}
spoil 60
resume && grep -q 'damaged.*are repeated' "$tmp/log"
result $? "so is what is damaged"
same "likewise"
again
spoil 100
starts=0
until resume || [ $starts = 9 ]; do
    starts=$((starts + 1))
    cat "$tmp/log" >>"$tmp/logs"
done
grep -q ', is damaged: .weft resume. does again' "$tmp/log" "$tmp/logs"
result $? "a damaged number is found when it is read"
same "and made again by a resume"
# ---- memory and disk ----------------------------------------------------------------------------

cat >"$tmp/large.ini" <<END
[run]
data = $tmp/many.h5
task = fed
tuner = random
test = no
memory = 0.006
checkpoint = 1e-6
[fed]
model = mlp
algorithm = ditto
cohort = 10
eval_clients = 20
[mlp]
hidden = 60
[client]
lr = 0.01
batch = 3
[random]
resource = 400
END
large() # ARGUMENT...: to l.h5; a sanitizer is not to keep what is freed
{
    local ASAN_OPTIONS=${ASAN_OPTIONS:-}:quarantine_size_mb=0:thread_local_quarantine_size_kb=0
    export ASAN_OPTIONS
    rm -rf "$tmp"/l.*
    call tune "$tmp/large.ini" -o "$tmp/l.h5" "$@"
}
check "clients keep 37 MB where a rank may use 6 MB" large
whole=$(digest)
peak() { awk '/^memory  / { print 1000 * $4 }' "$tmp/out"; } # MB of a rank
kept=$(peak)
large fed.algorithm=fedavg && none=$(peak) && awk -v kept="$kept" -v none="$none" 'BEGIN { exit !(none > 0 && kept < none + 12) }'
result $? "and takes $kept MB of memory, $none MB if none is kept"
large fed.cohort=600
[ $? = 5 ] && grep -q '^weft: fed.algorithm = ditto keeps .* of memory; run.memory allows .* fed.cohort smaller' "$tmp/log"
result $? "a cohort that does not fit is refused by a line"
large run.time_limit=1e-9
[ $? = 75 ] && before=$(du -sk "$tmp/l.d" | cut -f1) && [ "$before" -lt 1000 ]
result $? "after a round its files have the rows of that round, in $before kB"
check "with which it goes on" call resume "$tmp/l.h5" run.time_limit=0
check "to the same digest" [ "$(digest)" = "$whole" ]
check "its winner is scored within the same memory" call eval "$tmp/l.h5" "$tmp/many.h5"
echo "1..$count"
