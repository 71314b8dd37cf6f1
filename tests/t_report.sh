#!/bin/sh
# The report and the scheduler agree on the best configuration, also where several are
# equal: the first line of the table is the winner. Prints TAP.
. tests/tap.sh

agrees() # STATEMENT ARGUMENT...: a search on few images; the table begins with its winner
{
    statement=$1
    shift
    rm -rf "$tmp"/run.*
    timeout 100 "$weft" tune "$tmp/in.ini" "$@" -o "$tmp/run.h5" >"$tmp/out" 2>"$tmp/log"
    winner=$(sed -n 's/^winner *\([0-9]*\): .*/\1/p' "$tmp/out")
    [ -n "$winner" ] && [ "$(awk '/^best /{ getline; print $2 }' "$tmp/out")" = "$winner" ]
    result $? "$statement"
}

"$weft" pack synthetic images rows=200 -o "$tmp/img.h5" >"$tmp/log" 2>&1
result $? "few images are packed, on whose few validation rows many maps are equally good"
cat >"$tmp/in.ini" <<END
[run]
data = $tmp/img.h5
[space]
configs = 12
[rff]
features = 64
gamma = log 1e-4 .. 1e-2
END
for seed in 2 3; do
    agrees "a sweep, seed $seed" run.tuner=random run.seed=$seed
    agrees "a sweep by losses, seed $seed" run.tuner=random run.seed=$seed fmap.score=loss
    agrees "halving, seed $seed" run.tuner=ws_sha run.seed=$seed
    agrees "halving by losses, seed $seed" run.tuner=ws_sha run.seed=$seed fmap.score=loss fmap.validation=full
    agrees "gradients, seed $seed" run.tuner=ws_eg run.seed=$seed
    agrees "gradients and four fits, seed $seed" run.tuner=ws_eg ws_eg.switch=4 run.seed=$seed
done
echo "1..$count"
