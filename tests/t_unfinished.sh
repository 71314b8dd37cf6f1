#!/bin/sh
# A stopped or running search is reported from its journals, without task and data, and
# reports do not change its result. Prints TAP.
. tests/tap.sh

"$weft" pack synthetic images rows=1500 -o "$tmp/img.h5" >"$tmp/log" 2>&1
result $? "few images are packed"
cat >"$tmp/in.ini" <<END
[run]
data = $tmp/img.h5
tuner = random
[space]
configs = 40
[rff]
features = 3000
kernel = gaussian | laplacian
gamma = log 1e-4 .. 1e-2
END

"$weft" tune "$tmp/in.ini" -o "$tmp/whole.h5" >"$tmp/whole" 2>"$tmp/log"
result $? "a search to its end"

# Killed once the journal has some jobs, which a thread writes about once a second.
"$weft" tune "$tmp/in.ini" -o "$tmp/r.h5" >"$tmp/out" 2>"$tmp/log" &
pid=$!
tries=0
until "$weft" report "$tmp/r.h5" 2>&1 | grep -q '^unfinished: [1-9]' || [ -f "$tmp/r.h5" ] || [ $tries = 600 ]; do
    tries=$((tries + 1))
    sleep 0.05
done
"$weft" report "$tmp/r.h5" >"$tmp/going" 2>>"$tmp/log"
[ $? = 0 ] || [ -f "$tmp/r.h5" ]
result $? "a run that is going on is reported"
kill -KILL $pid
wait $pid 2>/dev/null
mv "$tmp/img.h5" "$tmp/gone.h5"
"$weft" report "$tmp/r.h5" >"$tmp/out" 2>>"$tmp/log"
result $? "and one that was killed, without its data"
grep -q '^unfinished: [1-9][0-9]* jobs are done, the best so far is job [0-9]*' "$tmp/out" &&
    grep -q "no process is working on it; .weft resume $tmp/r.h5. continues it" "$tmp/out"
result $? "that says where it stands, and how it goes on"
grep -q 'rff.kernel=[gl]a[a-z]* rff.gamma=0.0' "$tmp/out"
result $? "with configurations as people write them"
"$weft" report --json "$tmp/r.h5" 2>>"$tmp/log" | grep -q '"valid_error": 0'
result $? "and what the task measured, as JSON too"
jobs=$(sed -n 's/^unfinished: \([0-9]*\) jobs.*/\1/p' "$tmp/out")
"$weft" report "$tmp/r.h5" -o "$tmp/now.h5" 2>>"$tmp/log" && "$weft" report "$tmp/now.h5" >"$tmp/now" 2>>"$tmp/log" &&
    grep -q "^unfinished: $jobs jobs are done" "$tmp/now"
result $? "it is written as a run file, which is reported alike"
"$weft" report "$tmp/r.h5" -o "$tmp/now.h5" 2>"$tmp/out"
[ $? != 0 ] && grep -q "now.h5 exists" "$tmp/out"
result $? "that replaces no other"
"$weft" report "$tmp/r.h5" "$tmp/whole.h5" 2>>"$tmp/log" | grep -q "^$tmp/r.h5"
result $? "beside a run that is complete"
"$weft" report "$tmp/whole.h5" -o "$tmp/no.h5" 2>"$tmp/out"
[ $? = 2 ] && grep -q 'no unfinished run' "$tmp/out"
result $? "of which -o makes nothing"

mv "$tmp/gone.h5" "$tmp/img.h5"
"$weft" resume "$tmp/r.h5" >"$tmp/out" 2>>"$tmp/log" &&
    [ "$(sed -n 's/^digest *//p' "$tmp/out")" = "$(sed -n 's/^digest *//p' "$tmp/whole")" ]
result $? "resumed, it ends with the digest of the whole"
echo "1..$count"
