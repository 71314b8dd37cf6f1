#!/bin/bash
# jobs/proposals.sh, the processor time of proposals: a table with a row for each size of a
# search and each sampler. Prints TAP.
. tests/tap.sh

WEFT=$weft SAMPLERS="space forest" bash jobs/proposals.sh 2:2:40 30:1:60 >"$tmp/out" 2>"$tmp/log" </dev/null
result $? "searches by two ranks, and by one for 30 workers"
row='| [0-9]* | [0-9]* | [0-9]* | `[a-z]*` | [0-9.]* | [0-9.]* |'
[ "$(wc -l <"$tmp/out")" = 6 ] && [ "$(grep -c "^$row  |\$" "$tmp/out")" = 2 ] &&
    [ "$(grep -c "^$row [0-9.][0-9.]* |\$" "$tmp/out")" = 2 ]
result $? "have a row each, and what is more than without learning"
awk '$8 == "`forest`" { n++; cheap += !($14 > 1 && $14 < 1000) } END { exit !(n == 2 && cheap == 0) }' "$tmp/out"
result $? "a proposal of a forest takes milliseconds"
WEFT=false bash jobs/proposals.sh 2:1:20 >"$tmp/out" 2>"$tmp/log" </dev/null
[ $? = 1 ] && [ "$(wc -l <"$tmp/out")" = 2 ]
result $? "a search that fails ends it"
echo "1..$count"
