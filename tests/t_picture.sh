#!/bin/bash
# weft info --plot: a picture of who has which classes, whose numbers are those of the file; the
# most clients and classes it draws; names with any letters; what is refused. Prints TAP.
. tests/tap.sh

packed() # ARGUMENT...: as t.h5, and its picture
{
    call pack "$@" -o "$tmp/t.h5" --force &&
        timeout "$net" "$weft" info "$tmp/t.h5" --plot="$tmp/t.svg" --force >"$tmp/info" 2>"$tmp/log"
}
drawn() # STATEMENT ARGUMENT...: it is packed and drawn, and the picture is sound
{
    packed "${@:2}" && python3 tests/picture.py "$tmp/t.svg" >"$tmp/out" 2>>"$tmp/log"
    result $? "$1"
    ! grep '^differs' "$tmp/out" >&2 && grep -q '^outside 0$' "$tmp/out" && grep -q '^proportions good$' "$tmp/out"
    result $? "cells and bars of a client are of one row, within the picture"
}
has() # PATTERN STATEMENT: a line of what picture.py printed
{
    check "$2" grep -Eq -e "$1" "$tmp/out"
}
totals() # STATEMENT: the classes have as many training samples as info says
{
    sed -n '/^class  /,/^all /{/^class  /d;/^all /d;p}' "$tmp/info" | awk '$2 > 0 {print "class", $1, $2}' | sort >"$tmp/a"
    grep '^class ' "$tmp/out" | sort | cmp -s - "$tmp/a" && [ -s "$tmp/a" ]
    result $? "$1"
}
refused() # STATUS PATTERN STATEMENT ARGUMENT...
{
    refuses "$1" "$2" "$3" call "${@:4}"
}

drawn "a partition by labels is drawn" synthetic images rows=600 clients=30 partition=labels labels=3
has '^text t.h5: 30 clients, 10 classes, 600 training samples$' "its title has the counts"
has '^text dealt to 30 clients: labels, 3 a client, seed 0$' "and the rule"
has '^rows 30$' "a row for each client"
has '^cells 90$' "of three classes each"
totals "with all training samples"
drawn "and one by quantity" synthetic images rows=5000 classes=4 clients=12 partition=quantity alpha=0.4
totals "with all training samples"
least=$(awk '/^train /{print $5}' "$tmp/info") most=$(awk '/^train /{print $9}' "$tmp/info")
has "^samples $least $most\$" "and its bars are the sizes of clients"
drawn "of many clients" synthetic images rows=5000 clients=1000
has '^rows 200$' "200 are drawn"
has '^text .*200 of 1000 clients, evenly spread' "which is said"
has '^text 980$' "from the first to the last"
drawn "of as many as are drawn" synthetic images rows=1000 clients=200
has '^rows 200$' "all are"
! grep -q 'evenly spread' "$tmp/out"
result $? "without a word"
awk 'BEGIN { for (i = 0; i < 2500; i++) print i % 7 ",kind " i % 250 }' >"$tmp/t.csv"
drawn "of many classes" dense "$tmp/t.csv" label=2 clients=10
has '^text .*200 of 250 classes, the first' "200 are drawn, which is said"
drawn "documents of clients" synthetic documents rows=300 clients=8 partition=dirichlet
totals "with all training samples"
drawn "clients that a generator makes" synthetic federated=generated clients=100000
has '^text .*200 of 100000 clients' "some of them"
printf 'site,x,y\n%s\n' "$(for i in 1 2 3 4 5 6 7 8 9 10; do printf 'a & <b>,%s,"<>&"\na & <b>,%s,Öl\nß\001,%s,Öl\nß\001,%s,"<>&"\n' $i $i $i $i; done)" >"$tmp/t.csv"
drawn "clients and classes with names" dense "$tmp/t.csv" label=y client=site valid=0.2 test=0.2
has '^text a & <b>$' "of any letters"
has '^class Öl ' "of other alphabets"
refused 3 't.svg exists.*--force' "a picture is not replaced" info "$tmp/t.h5" --plot="$tmp/t.svg"
echo mine >"$tmp/own.svg"
refused 3 'own.svg.*no picture of weft' "nor is another file, by --force" info "$tmp/t.h5" --plot="$tmp/own.svg" --force
check "which stays as it is" [ "$(cat "$tmp/own.svg")" = mine ]
refused 3 "none/t.svg" "a directory that is missing is named" info "$tmp/t.h5" --plot="$tmp/none/t.svg"
refused 2 '--plot needs a value' "the picture needs a name" info "$tmp/t.h5" --plot
"$weft" pack synthetic images rows=100 -o "$tmp/alone.h5" 2>"$tmp/log"
refused 2 'alone.h5.*clients' "data without clients have no picture" info "$tmp/alone.h5" --plot="$tmp/x.svg"
check "and leave none" [ ! -e "$tmp/x.svg" ]
echo "1..$count"
