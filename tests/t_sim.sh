#!/bin/sh
# The program of jobs/forecast.sh is compiled, linked with what stands in for HDF5, ScaLAPACK and
# data, and simulates a search whose results do not depend on the ranks. Prints TAP.
. tests/tap.sh

case $(command -v smpicc):${weft%/weft} in
:*) reason="there is no smpicc (libsimgrid-dev)" ;;
*/opt) reason= ;;
*) reason="the simulated program has no variants" ;;
esac
if [ "$reason" ]; then
    echo "ok 1 # SKIP $reason"
    echo "1..1"
    exit
fi
# Without optimisation, and kept for the next time.
build=${weft%/weft}/sim
sim=$build/smpi
(
    unset MAKEFLAGS MFLAGS MAKELEVEL MAKEOVERRIDES
    make -s -j"$(nproc)" VARIANT=smpi CFLAGS=-O0 BUILD="$build" WEFT_DEPS=tried all
) >"$tmp/log" 2>&1
result $? "it is built"
# Seconds that jobs/sim/work.c and files.c charge.
export WEFT_SIM_CLIENT=0 WEFT_SIM_SAMPLE=0.0006 WEFT_SIM_SCORE=0 WEFT_SIM_PLACE=0.000001 WEFT_SIM_UPDATE=0
export WEFT_SIM_CREATE=0.0005 OPENBLAS_NUM_THREADS=1
for ranks in 1 3; do
    seq $ranks | sed "s|.*|n0|" >"$tmp/hosts"
    timeout 300 smpirun -np $ranks -platform jobs/sim/hdr.xml -hostfile "$tmp/hosts" \
        --cfg=smpi/simulate-computation:no --cfg=smpi/host-speed:1Gf --cfg=smpi/coll-selector:ompi \
        --cfg=smpi/iprobe:1e-6 --cfg=smpi/test:1e-6 --log=root.thresh:error "$sim/weft-sim" jobs/sim/async.ini \
        run.output="$tmp/run$ranks.h5" run.teams=$ranks run.workers=8 space.configs=12 >"$tmp/out" 2>"$tmp/log"
    result $? "a search is simulated on ranks: $ranks"
    grep '^/winner@' "$tmp/out" >"$tmp/winner$ranks"
    awk '$1 == "/@search_seconds" { print $2 }' "$tmp/out" >>"$tmp/seconds"
done
[ -s "$tmp/winner1" ] && cmp -s "$tmp/winner1" "$tmp/winner3"
result $? "with the same winner"
awk '{ s[NR] = $1 } END { exit !(NR == 2 && s[2] > s[1] / 3.01 && s[2] < 0.7 * s[1]) }' "$tmp/seconds"
result $? "which three ranks find sooner"
echo "1..$count"
