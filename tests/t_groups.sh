#!/bin/bash
# Rows that were packed in groups: the packed file keeps the groups, and folds, plans and parts for
# development hold out whole ones. Prints TAP.
. tests/tap.sh
find_python h5py

tuned() # RANKS DATA [section.key=value ...]
{
    rm -rf "$tmp/run.h5" "$tmp/run.d"
    on "$1" tune "$tmp/empty.ini" "run.data=$tmp/$2.h5" "${@:3}" -o "$tmp/run.h5"
}
# wrong STATEMENT LEAST MOST RUN_OPTION...: the error of the one configuration, in percent, is between,
# with one digest on one, two and three ranks
wrong()
{
    local least=$2 most=$3 ranks first
    tuned 1 "${@:4}" && sed -n 's/.* job 1 of 1: .* error \([0-9.]*\) %.*/\1/p' "$tmp/log" |
        awk -v least="$least" -v most="$most" '{ good = $1 >= least && $1 <= most } END { exit !good }'
    result $? "$1"
    first=$(digest "$tmp/run.h5")
    for ranks in 2 3; do
        check "so it is tuned by $ranks ranks" tuned $ranks "${@:4}"
        check "to the digest of one" has_digest "$first" "$tmp/run.h5"
    done
}
refused() # STATEMENT PATTERN [section.key=value ...]
{
    refuses 2 "$2" "$1" tuned 2 grouped "${@:3}"
}

: >"$tmp/empty.ini"
# Eight equal rows of each of 40 groups, whose class is by chance: known by rows of the group alone.
awk 'BEGIN {
    srand(2)
    for (g = 0; g < 40; g++) { row[g] = rand() "," rand() "," rand() "," rand() "," (rand() < 0.5 ? "yes" : "no") }
    print "site,a,b,c,d,y"
    for (i = 0; i < 320; i++) print "s" i * 7 % 40 "," row[i * 7 % 40]
}' >"$tmp/rows.csv"
call pack dense "$tmp/rows.csv" group=site test=0.2 -o "$tmp/grouped.h5" &&
    call pack dense "$tmp/rows.csv" drop=site test=0.2 -o "$tmp/rows.h5"
result $? "rows are packed in groups, and without"
call info "$tmp/grouped.h5" && grep -q '^groups    40, each in one part, or fold$' "$tmp/out"
result $? "weft info counts the groups"
"$python" - "$tmp/grouped.h5" "$tmp/rows.csv" <<'END' >"$tmp/out" 2>"$tmp/log"
import sys, h5py
lines = [line.strip().split(",") for line in open(sys.argv[2])][1:]
site = {tuple(f"{float(v):.6g}" for v in line[1:5]): line[0] for line in lines}
with h5py.File(sys.argv[1]) as f:
    number, rows, parts, groups = {}, 0, {}, int(f.attrs["groups"])
    for part in ("train", "valid", "test"):
        for x, group in zip(f[part]["x"][:], f[part]["group"][:]):
            name = site[tuple(f"{v:.6g}" for v in x)]
            assert number.setdefault(name, group) == group and parts.setdefault(group, part) == part
            rows += 1
assert rows == 320 and sorted(number.values()) == list(range(40)) == list(range(groups)), number
END
result $? "the file has the number of each row's group, which is in one part"

map="rff.features=300 logistic.C=1e4 rff.gamma=100 space.configs=1"
net1="run.task=sgd sgd.model=mlp mlp.hidden=32 random.resource=60 train.optimizer=adam train.lr=0.02 train.batch=16 space.configs=1"
# shellcheck disable=SC2086
{
    wrong "folds that divide groups have rows like those that they hold out" 0 5 rows $map fmap.model=logistic fmap.folds=5
    wrong "folds of fmap hold out whole groups" 20 80 grouped $map fmap.model=logistic fmap.folds=5
    wrong "so they do where the winner is trained once more" 20 80 grouped $map fmap.model=logistic fmap.folds=5 run.refit=yes
    wrong "folds of sgd that divide groups have rows like those that they hold out" 0 10 rows $net1 sgd.folds=4 sgd.literal=yes
    wrong "folds of sgd hold out whole groups" 20 80 grouped $net1 sgd.folds=4 sgd.literal=yes
    wrong "as a part for development does" 20 80 grouped $net1 sgd.dev=0.3
}
refused "more folds than groups of fmap" "fmap.folds = 40 with 3[0-9] groups of samples .*one a group" fmap.folds=40
refused "and of sgd" "sgd.folds = 40 .*groups of samples" run.task=sgd sgd.folds=40
call list --plan-for "$tmp/grouped.h5" && grep -q '^folds = 10 .*its group is not fitted to' "$tmp/out"
result $? "the plan has folds of groups"
awk 'NR == 1 || $0 ~ /^s[0-6],/' "$tmp/rows.csv" >"$tmp/few.csv"
call pack dense "$tmp/few.csv" group=site valid=0.2 test=0.2 -o "$tmp/few.h5" &&
    call list --plan-for "$tmp/few.h5" && grep -q '^folds = [56] ' "$tmp/out"
result $? "and at most one a group"
call pack dense "$tmp/rows.csv" group=site clients=5 partition=iid -o "$tmp/dealt.h5" &&
    ! "$weft" info "$tmp/dealt.h5" 2>>"$tmp/log" | grep -q '^groups'
result $? "rows that are dealt to clients keep none"
echo "1..$count"
