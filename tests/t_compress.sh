#!/bin/bash
# Runs whose clients keep what they have not sent, and whose server keeps what it has not taken or
# sent: stopped after every unit, and killed in a round, they lose nothing of it. Prints TAP.
. tests/tap.sh

call pack synthetic images rows=600 d=16 classes=4 clients=12 partition=dirichlet alpha=0.4 -o "$tmp/fed.h5"
result $? "a federation is packed"
cat >"$tmp/in.ini" <<END
[run]
data = $tmp/fed.h5
task = fed
tuner = pbt
checkpoint = 1e-6
test = yes
[pbt]
population = 3
interval = 2
max_resource = 6
[fed]
model = mlp
cohort = 12
[mlp]
hidden = 8
[client]
lr = log 0.01 .. 0.3
batch = 8
[server]
momentum = 0.5
END
tune() # ARGUMENT...: to r.h5
{
    rm -rf "$tmp"/r.*
    call tune "$tmp/in.ini" -o "$tmp/r.h5" "$@"
}
resume() # RANKS ARGUMENT...
{
    on "$1" resume "$tmp/r.h5" "${@:2}"
}
same() # STATEMENT
{
    check "$1" has_digest "$whole" "$tmp/r.h5"
}

for way in "compress.client=topk compress.share=0.1 fed.cohort=5" \
    "compress.client=sketch compress.rows=3 compress.columns=30 compress.server=topk compress.server_share=0.2"; do
    # shellcheck disable=SC2086
    check "a search to its end: $way" tune $way
    whole=$(digest)
    starts=0
    # shellcheck disable=SC2086
    tune $way run.time_limit=1e-9
    status=$?
    while [ $status = 75 ] && [ $starts -lt 60 ]; do
        starts=$((starts + 1))
        resume 1
        status=$?
    done
    [ $status = 0 ] && [ $starts -ge 12 ]
    result $? "it is stopped after each of $starts units"
    same "and ends the same"
    rm -rf "$tmp"/r.*
    # shellcheck disable=SC2086
    WEFT_HOLD="job 4 of" "$weft" tune "$tmp/in.ini" -o "$tmp/r.h5" $way >"$tmp/out" 2>"$tmp/log" &
    run=$!
    check "it is held after some jobs" held $run
    kill -KILL $run
    wait $run 2>/dev/null
    check "killed there, it is resumed by two ranks" resume 2
    same "and ends the same"
done
call tune "$tmp/in.ini" -o "$tmp/b.h5" compress.bits=4
[ $? = 2 ] && grep -q 'compress.bits = 4: nothing in this run reads it; it is for compress.client = quantize' "$tmp/log"
result $? "an option that nothing reads is refused"
echo "1..$count"
