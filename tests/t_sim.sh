#!/bin/bash
# The program of tests/sim/forecast.sh is compiled, linked with what stands in for HDF5, ScaLAPACK and
# data, and simulates a search whose results do not depend on the ranks. Prints TAP.
. tests/tap.sh

case $(command -v smpicc):${weft%/weft} in
:*) reason="there is no smpicc (libsimgrid-dev)" ;;
*/opt) reason= ;;
*) reason="the simulated program has no variants" ;;
esac
[ -e tests/sim/smpi.mk ] || reason="tests/sim is left out"
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
# Seconds that tests/sim/work.c and files.c charge.
export WEFT_SIM_CLIENT=0 WEFT_SIM_SAMPLE=0.0006 WEFT_SIM_SCORE=0 WEFT_SIM_PLACE=0.000001 WEFT_SIM_UPDATE=0
export WEFT_SIM_CREATE=0.0005 OPENBLAS_NUM_THREADS=1
# What features take: tests/sim/features.c.
export WEFT_SIM_FEATURES="$tmp/features.csv"
for what in column_gaussian,1e-5 pack_gaussian,1e-6 group_gaussian,1e-3 row_gaussian,1e-3 column_laplacian,1e-5 \
    pack_laplacian,1e-6 group_laplacian,1e-3 row_laplacian,1e-3 cosine,1e-4 times,1e-5 normal,1e-5 trans,1e-5 sums,1e-5
do
    echo "$what"
done >"$WEFT_SIM_FEATURES"
echo "rows 784 10 1536 768 768" >"$tmp/rows"

# simulated NAME INPUT OPTION ...: the search is simulated on 1 and 3 ranks, which find the same winner, three sooner
simulated()
{
    name=$1 input=$2
    shift 2
    : >"$tmp/seconds"
    for ranks in 1 3; do
        seq $ranks | sed "s|.*|n0|" >"$tmp/hosts"
        timeout "$net" smpirun -np $ranks -platform tests/sim/hdr.xml -hostfile "$tmp/hosts" \
            --cfg=smpi/simulate-computation:no --cfg=smpi/host-speed:1Gf --cfg=smpi/coll-selector:ompi \
            --cfg=smpi/iprobe:1e-6 --cfg=smpi/test:1e-6 --log=root.thresh:error "$sim/weft-sim" "$input" \
            run.output="$tmp/$name$ranks.h5" run.teams="${teams:-$ranks}" "$@" >"$tmp/out" 2>"$tmp/log"
        result $? "$name: a search is simulated on ranks: $ranks"
        grep '^/winner@' "$tmp/out" >"$tmp/winner$ranks"
        awk '$1 == "/@search_seconds" { print $2 }' "$tmp/out" >>"$tmp/seconds"
    done
    [ -s "$tmp/winner1" ] && cmp -s "$tmp/winner1" "$tmp/winner3"
    result $? "$name: with the same winner"
    awk '{ s[NR] = $1 } END { exit !(NR == 2 && s[2] > s[1] / 3.01 && s[2] < 0.7 * s[1]) }' "$tmp/seconds"
    result $? "$name: which three ranks find sooner"
}

simulated async tests/sim/async.ini run.workers=8 space.configs=12
teams=1 simulated maps tests/sim/maps.ini run.data="$tmp/rows" run.memory=1 rff.features=2000 space.configs=8 \
    ridge.iterations=3
echo "1..$count"
