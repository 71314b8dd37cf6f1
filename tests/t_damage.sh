#!/bin/bash
# A flipped bit in a file is detected: in packed images, documents and federations, stored
# and generated, in a run file and in an exported winner. Prints TAP. FLIPS: bits per file
# (10); SEED: of their positions.
flips=${FLIPS:-10}
seed=${SEED:-1}
. tests/tap.sh

# run NAME ARGUMENT...: a short search, its file NAME.h5.
run()
{
    check "$1: a run to look at" call tune "${@:2}" -o "$tmp/$1.h5"
}

# packed NAME ARGUMENT...: the data set NAME.h5.
packed()
{
    check "$1: is packed" call pack synthetic "${@:2}" -o "$tmp/$1.h5"
}

# found NAME COMMAND ...: each flip of a bit in NAME.h5 is an error of the command, or changes
# nothing of what it prints.
found()
{
    perl tests/flips "$seed" "$flips" "$tmp/$1.h5" "$weft" "${@:2}" >"$tmp/out" 2>"$tmp/log"
    status=$?
    tail -1 "$tmp/out" | sed 's/^/# /'
    result $status "$1: no flipped bit goes unseen by $2"
}

packed images images rows=300
packed documents documents rows=300
packed stored federated=stored clients=20 classes=5
packed generated federated=generated clients=20 classes=5
run images-run inputs/demo-images.ini run.data="$tmp/images.h5" space.configs=2 rff.features=64 \
    run.tuner=random
run documents-run inputs/demo.ini run.data="$tmp/documents.h5" space.configs=2 ngram.bins=2^8 \
    run.tuner=random
run stored-run inputs/demo-federated.ini run.data="$tmp/stored.h5" space.configs=2 run.tuner=random run.mixing=none \
    random.resource=3
run generated-run inputs/demo-federated.ini run.data="$tmp/generated.h5" space.configs=2 \
    run.tuner=random run.mixing=none random.resource=3
for name in images documents stored generated; do
    found $name eval "$tmp/$name-run.h5" "$tmp/$name.h5"
done
check "winner: is exported" call export "$tmp/stored-run.h5" -o "$tmp/winner.h5"
found stored-run report "$tmp/stored-run.h5" --json
found stored-run export "$tmp/stored-run.h5" -o "$tmp/again.h5" --force
found winner eval "$tmp/winner.h5" "$tmp/stored.h5"
found winner info "$tmp/winner.h5"
found images info "$tmp/images.h5"

# Two ranks agree on what one of them has read.
perl -e 'open my $h, "+<:raw", $ARGV[0]; seek $h, 40000, 0; print $h "weft"' "$tmp/images.h5"
mpirun --timeout "$net" -n 2 "$weft" eval "$tmp/images-run.h5" "$tmp/images.h5" >"$tmp/out" 2>"$tmp/log"
[ $? = 3 ] && [ "$(grep -c '^weft: .*images.h5 is damaged' "$tmp/log")" = 1 ]
result $? "two ranks end alike after one line"

# A damaged end is not taken for a file without checksums: its last byte is lost, or the last page
# is empty.
cp "$tmp/stored-run.h5" "$tmp/short.h5"
cp "$tmp/stored-run.h5" "$tmp/empty.h5"
perl -e 'truncate $_, (-s $_) - 1 for @ARGV' "$tmp/short.h5"
perl -e 'open my $h, "+<:raw", $ARGV[0]; seek $h, -4096, 2; print $h "\0" x 4096' "$tmp/empty.h5"
for name in short empty; do
    call report "$tmp/$name.h5"
    [ $? = 3 ] && grep -q "^weft: .*$name.h5 is damaged: the checksums at its end" "$tmp/log"
    result $? "$name: a damaged end is found"
done

# ---- files that options name --------------------------------------------------------------

# named KEY FILE ARGUMENT...: a search that reads FILE by that option is not resumed with another
# FILE, nor made longer with it; with its own again it ends as one that was not stopped.
named()
{
    key=$1 file=$2
    shift 2
    cp "$file" "$tmp/named" && call tune "$@" $key="$tmp/named" -o "$tmp/whole.h5" --force &&
        ! call tune "$@" $key="$tmp/named" -o "$tmp/stopped.h5" --force run.time_limit=1e-9 &&
        [ -d "$tmp/stopped.d" ]
    result $? "$key: a search is stopped"
    echo >>"$tmp/named"
    call resume "$tmp/stopped.h5" run.time_limit=0
    [ $? = 4 ] && grep -q "^weft: $key = .*named is not the file that .*stopped.h5 was begun with; put that back" "$tmp/log"
    result $? "$key: it is not resumed with another file"
    cp "$tmp/whole.h5" "$tmp/more.h5"
    call resume "$tmp/more.h5" space.configs=9
    [ $? = 4 ] && grep -q "^weft: $key = .*named is not the file" "$tmp/log"
    result $? "$key: nor made longer"
    cp "$file" "$tmp/named" && call resume "$tmp/stopped.h5" run.time_limit=0 &&
        [ "$(digest "$tmp/stopped.h5")" = "$(digest "$tmp/whole.h5")" ]
    result $? "$key: it is with its own"
}

federated="inputs/demo-federated.ini run.data=$tmp/stored.h5 run.tuner=random run.mixing=none random.resource=2 fed.cohort=3
    space.configs=4"
awk 'BEGIN { print "client.lr\tclient.batch"; for (i = 1; i < 13; i++) print i / 10 "\t8" }' >"$tmp/list"
awk 'BEGIN { print "1 2"; print "good 0.5 0.25" }' >"$tmp/vectors"
# shellcheck disable=SC2086
{
    named device.file inputs/phones.tsv $federated device.speed=trace
    named space.file "$tmp/list" $federated space.source=list client.momentum=0.5 client.dropout=0 client.epochs=1 \
        server.lr=1 server.momentum=0
    named replay.table inputs/replay.tsv inputs/replay.ini run.tuner=random random.resource=1 space.source=random space.configs=6
    named sgd.vectors "$tmp/vectors" inputs/mr-cnn.ini run.data="$tmp/documents.h5" sgd.folds=0 random.resource=1 space.configs=3 \
        train.lr="0.5 .. 1"
}

# ---- without checksums -----------------------------------------------------------------------

# Without its checksums, as other programs leave it that change it, a data set is refused, a run
# file read with a warning.
perl -e 'for (@ARGV) { open my $h, "<:raw", $_; seek $h, -32, 2; read $h, my $n, 8; truncate $_, unpack "Q<", $n }' \
    "$tmp/documents.h5" "$tmp/stored-run.h5"
call eval "$tmp/documents-run.h5" "$tmp/documents.h5"
[ $? = 4 ] && grep -q '^weft: .*documents.h5 has no checksums.*pack it again' "$tmp/log"
result $? "a data set without checksums is refused"
call report "$tmp/stored-run.h5"
[ $? = 0 ] && grep -q 'stored-run.h5 has no checksums' "$tmp/log"
result $? "a run file without checksums is read with a warning"
echo "1..$count"
