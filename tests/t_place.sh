#!/bin/bash
# The files of a run: it does not use files of another run, removes no other files,
# overwrites none of its inputs; an output that cannot be written is reported before the
# search; damage to its journal costs a job, not the run; signals stop it until its end.
# Prints TAP.
. tests/tap.sh
flips=${FLIPS:-10}
seed=${SEED:-1}

# ends STATUS PATTERN STATEMENT ARGUMENT...: with that status, after one line that matches.
ends()
{
    refuses "$1" "$2" "$3" call "${@:4}"
}

"$weft" pack synthetic documents rows=300 -o "$tmp/doc.h5" 2>"$tmp/log" &&
    "$weft" pack synthetic federated=generated clients=300 classes=5 -o "$tmp/fed.h5" 2>"$tmp/log"
result $? "data are packed"
cat >"$tmp/fed.ini" <<END
[run]
data = $tmp/fed.h5
task = fed
tuner = random
checkpoint = 0
test = no
[space]
configs = 2
[fed]
model = linear
cohort = 10
eval_clients = 20
[client]
lr = log 1e-3 .. 0.1
[random]
resource = 200
END
tune() # ARGUMENT...: the federation, to r.h5
{
    call tune "$tmp/fed.ini" -o "$tmp/r.h5" "$@"
}
again() # to go on with it
{
    call resume "$tmp/r.h5" run.time_limit=0
}
# stop EVENT ARGUMENT...: the same, begun by $start, is sent $signal at the event; its status is that of the run.
stop()
{
    event=$1
    shift
    WEFT_HOLD=$event ${start:+"$start"} "$weft" tune "$tmp/fed.ini" -o "$tmp/r.h5" "$@" >"$tmp/out" 2>"$tmp/log" &
    held $! && kill -"${signal:-TERM}" $! && kill -CONT $!
    wait $!
}

# ---- checkpoints of another run -----------------------------------------------------------

check "a run in an empty directory" tune fed.cohort=5
expected=$(digest "$tmp/r.h5")
tune run.time_limit=1e-9 --force # stops after a round
[ $? = 75 ] && cp "$tmp/r.d/checkpoint-0" "$tmp/unit"
result $? "another one is stopped within its first job"
rm -f "$tmp/r.h5"
: >"$tmp/r.d/journal"
tune fed.cohort=5
check "a run that is begun anew does not find what another one left" [ "$(digest "$tmp/r.h5")" = "$expected" ]
tune run.time_limit=1e-9 fed.cohort=5 --force
[ $? = 75 ] && cp "$tmp/unit" "$tmp/r.d/checkpoint-0" && rm -f "$tmp/r.h5" && again &&
    grep -q 'checkpoint-0 is damaged, of another run, .*: job 0 starts again' "$tmp/log" &&
    [ "$(digest "$tmp/r.h5")" = "$expected" ]
result $? "nor does one that goes on believe it"
check "and nothing is left" [ ! -e "$tmp/r.d" ]

# ---- other people's files -----------------------------------------------------------------

others="space checkpoint-tests.txt state-of-nation checkpoint-1.txt state-1 journal.txt"
mkdir "$tmp/r.d"
for file in $others; do echo mine >"$tmp/r.d/$file"; done
ends 3 "r.d exists and is not of a run" "a directory without a journal of weft's is refused" \
    tune "$tmp/fed.ini" -o "$tmp/r.h5" --force
rm -f "$tmp/r.h5"
mkdir "$tmp/s.d" && mv "$tmp"/r.d/* "$tmp/s.d" && rmdir "$tmp/r.d"
tune run.time_limit=1e-9 fed.cohort=5
cp "$tmp"/s.d/* "$tmp/r.d"
check "a run beside whose files others lie ends" again
grep -q "r.d is not removed, because it contains .*, a file that is not weft" "$tmp/log"
result $? "it tells that they stay"
diff -r "$tmp/r.d" "$tmp/s.d" >>"$tmp/log"
result $? "only these stay"
check "the digest is the same" [ "$(digest "$tmp/r.h5")" = "$expected" ]
rm -rf "$tmp"/[rs].*

# ---- what a run reads ---------------------------------------------------------------------

ln "$tmp/doc.h5" "$tmp/hard.h5"
ln -s doc.h5 "$tmp/soft.h5"
printf 'order\n1\n2\n' >"$tmp/list.tsv"
sed "s|@|$tmp|" >"$tmp/in.ini" <<END
[run]
data = @/doc.h5
tuner = random
[space]
configs = 2
[fmap]
feature = ngram
model = ridge
[ngram]
bins = 2^8
END
sum=$(cat "$tmp/doc.h5" "$tmp/in.ini" "$tmp/list.tsv" | cksum)
for file in doc.h5 hard.h5 soft.h5; do
    ends 2 "$file would replace what the run reads: run.data" "a run file in place of its data, $file" \
        tune "$tmp/in.ini" -o "$tmp/$file" --force
done
ends 2 'would replace the input file' "or of its input file" tune "$tmp/in.ini" -o "$tmp/in.ini" --force
ends 2 'would replace what the run reads: space.file' "or of its list" tune "$tmp/in.ini" \
    space.source=list space.file="$tmp/list.tsv" -o "$tmp/list.tsv" --force
call tune "$tmp/in.ini" -o "$tmp/i.h5"
ends 3 'of format "weft run' "a winner in place of its run" export "$tmp/i.h5" -o "$tmp/i.h5" --force
awk 'BEGIN { for (i = 0; i < 40; i++) print i "," i % 2 }' >"$tmp/t.csv"
mkdir -p "$tmp/folder/a" "$tmp/folder/b"
for i in 1 2 3 4 5 6 7 8 9; do echo "some words" | tee "$tmp/folder/a/$i" >"$tmp/folder/b/$i"; done
for pair in "dense t.csv t.csv" "folder folder folder/a/3"; do
    # shellcheck disable=SC2086
    set -- $pair
    ends 3 'no whole file of weft' "a packed file in place of its source, by reader $1" \
        pack "$1" "$tmp/$2" -o "$tmp/$3" --force
done

# What weft did not write, or wrote as another kind of file, is replaced by nothing.
call pack synthetic images rows=60 -o "$tmp/other.h5"
call export "$tmp/i.h5" -o "$tmp/won.h5"
echo "notes" >"$tmp/notes"
: >"$tmp/void"
head -c 3000 "$tmp/i.h5" >"$tmp/part.h5"
mkfifo "$tmp/fifo"
ln -s nowhere "$tmp/dangling"
[ "$(id -u)" != 0 ] || mknod "$tmp/null" c 1 3
before=$(ls -l "$tmp" | grep -v '^total\| \(out\|log\)$')
call export "$tmp/i.h5" -o "$tmp/held.h5" && ln -s held.h5 "$tmp/led.h5"
place=$(stat -c %i "$tmp/held.h5")
call export "$tmp/i.h5" -o "$tmp/led.h5" --force && [ -L "$tmp/led.h5" ] && [ "$place" != "$(stat -c %i "$tmp/held.h5")" ] && call info "$tmp/led.h5"
result $? "the file that a symbolic link leads to is replaced, not the link"
rm "$tmp"/held.h5 "$tmp"/led.h5
replaces() # MESSAGE FILE COMMAND ...
{
    call "${@:3}" -o "$tmp/$2" --force
    refusal $? 3 "$2 exists and is not replaced.*$1" "$3 replaces no $2"
}
for file in notes void part.h5 fifo dangling null; do
    [ -e "$tmp/$file" ] || [ -h "$tmp/$file" ] || continue
    replaces 'being no whole file of weft' $file tune "$tmp/in.ini"
    replaces 'being no whole file of weft' $file pack synthetic images
    replaces 'being no whole file of weft' $file export "$tmp/i.h5"
done
replaces 'of format "weft data' other.h5 tune "$tmp/in.ini"
replaces 'of format "weft winner' won.h5 tune "$tmp/in.ini"
replaces 'of format "weft run' i.h5 pack synthetic images
replaces 'of format "weft data' other.h5 export "$tmp/i.h5"
[ "$before" = "$(ls -l "$tmp" | grep -v '^total\| \(out\|log\)$')" ] && [ "$sum" = "$(cat "$tmp/doc.h5" "$tmp/in.ini" "$tmp/list.tsv" | cksum)" ]
result $? "all of them are as they were"
rm "$tmp/fifo"
check "a winner replaces a winner" call export "$tmp/i.h5" -o "$tmp/won.h5" --force

# ---- what cannot be written ---------------------------------------------------------------

long=$(printf '%0250d' 1)
mkdir "$tmp/directory"
for output in "$tmp/directory" "" "$tmp/$long.h5" "$tmp/nowhere/r.h5"; do
    what="an output that cannot be, '$(echo "$output" | sed "s|$tmp/||" | cut -c 1-20)'"
    ends 3 'directory|empty|too long|No such file' "$what, is found before the search" \
        tune "$tmp/in.ini" -o "$output" --force
    ends 3 'directory|empty|too long|No such file' "before packing" \
        pack synthetic images -o "$output" --force
    ends 3 'directory|empty|too long|No such file' "and told by export" \
        export "$tmp/i.h5" -o "$output" --force
done
if [ "$(id -u)" = 0 ]; then
    count=$((count + 1))
    echo "ok $count # SKIP root may write anywhere"
else
    chmod 500 "$tmp/directory"
    ends 3 'Permission denied' "nor where one may not write" tune "$tmp/in.ini" -o "$tmp/directory/r.h5"
fi
check "no file is left of that" [ -z "$(find "$tmp" -name '*.tmp.*' -o -name '*.d')" ]
(ulimit -f 20000 && ends 3 'File too large; free space' "a limit on the size of files is told" \
    pack synthetic images rows=100000 -o "$tmp/f.h5")
count=$((count + 1))
# OpenBLAS 0.3.29 needs 200 MB before main begins; where it has less its thread asks for them without end.
(ulimit -v 200000 && ends 5 'ulimit -v allows 205 MB' "a limit of address space within which it would wait at exit is told" \
    tune "$tmp/in.ini" -o "$tmp/f.h5")
count=$((count + 1))
(ulimit -v 300000 && ends 5 'ulimit -v allows 307 MB' "a limit of address space that OpenBLAS cannot bear is told" \
    tune "$tmp/in.ini" -o "$tmp/f.h5")
count=$((count + 1))
(ulimit -n 8 && ends 5 'ulimit -n allows 8 open files' "so is one of open files with which MPI cannot start" \
    tune "$tmp/in.ini" -o "$tmp/f.h5")
count=$((count + 1))
(ulimit -d 150000 && ends 5 'ulimit -d allows 154 MB of data, and OpenBLAS takes' "so is one of data, where it would wait at exit" \
    pack synthetic images rows=100 -o "$tmp/f.h5")
count=$((count + 1))
mkdir "$tmp/#"
cp "$tmp/doc.h5" "$tmp/#/#d.h5"
sed 's|^data.*|data=#d.h5|' "$tmp/in.ini" >"$tmp/#/in.ini"
program=$(realpath "$weft")
(cd "$tmp/#" && "$program" tune in.ini "ngram.order=1 .. 3" space.configs=3 run.time_limit=1e-9 -o r.h5) >"$tmp/out" 2>"$tmp/log"
[ $? = 75 ] && (cd "$tmp/#" && "$program" resume r.h5) >"$tmp/out" 2>"$tmp/log"
[ $? = 75 ] && grep -q 'time_limit' "$tmp/log"
result $? "a run on #d.h5 is resumed"

# ---- a damaged journal --------------------------------------------------------------------

sed 's/^configs.*/configs = 4/' "$tmp/in.ini" >"$tmp/four.ini"
call tune "$tmp/four.ini" -o "$tmp/r.h5" "ngram.alpha=log 1e-5 .. 100"
expected=$(digest "$tmp/r.h5")
cat >"$tmp/resume" <<END
rm -rf "$tmp"/r.*
cp -r "$tmp/t.d" "$tmp/r.d"
"$weft" resume "$tmp/r.h5" >/dev/null || exit
"$weft" report "$tmp/r.h5" | grep ^digest
END
rm "$tmp/r.h5"
WEFT_HOLD="job 2 of" "$weft" tune "$tmp/four.ini" -o "$tmp/r.h5" "ngram.alpha=log 1e-5 .. 100" >"$tmp/out" 2>"$tmp/log" &
held $! && kill -TERM $! && kill -CONT $!
wait $!
mv "$tmp/r.d" "$tmp/t.d"
sh "$tmp/resume" >"$tmp/out" 2>"$tmp/log"
check "a run of four jobs is stopped and resumed" grep -q "^digest *$expected" "$tmp/out"
perl tests/flips "$seed" "$flips" "$tmp/t.d/journal" sh "$tmp/resume" >"$tmp/out" 2>"$tmp/log"
status=$?
tail -1 "$tmp/out" | sed 's/^/# /'
result $status "with any bit of its journal flipped it ends the same, or is refused"
# From the first job's record on, behind that of the start: bytes of the head, then of what it holds.
first=$(perl -0777 -ne '$n = 8; for my $i (1 .. 6) { $n += 32 + unpack("Q", substr($_, $n + 16, 8)) } print $n' "$tmp/t.d/journal")
for byte in $first $((first + 40)); do
    cp -r "$tmp/t.d" "$tmp/u.d"
    perl -e 'open my $h, "+<:raw", $ARGV[0]; seek $h, $ARGV[1], 0; print $h "\377"' "$tmp/u.d/journal" "$byte"
    call resume "$tmp/u.h5"
    [ "$(grep -c 'its record of ' "$tmp/log")" = 1 ] && grep -Eq 'its record of (one of the jobs|job) 0 is lost' "$tmp/log"
    result $? "byte $byte: the job whose record is lost is named, and no other"
    check "byte $byte: it is done again, to the same digest" [ "$(digest "$tmp/u.h5")" = "$expected" ]
    rm -rf "$tmp"/u.*
done
rm -rf "$tmp"/[rt].*

# ---- signals to the very end --------------------------------------------------------------

all="random.resource=2 space.configs=1 run.test=yes fed.test_clients=100"
# shellcheck disable=SC2086
check "a run is scored" tune $all
expected=$(digest "$tmp/r.h5")
rm "$tmp/r.h5"
# shellcheck disable=SC2086
stop "scores the winner" $all
[ $? = 75 ] && grep -q '^weft: stopped by signal 15 after the search.*weft resume' "$tmp/log"
result $? "is stopped in it with status 75"
check "without a run file" [ ! -e "$tmp/r.h5" ]
check "is resumed" again
check "to the same digest" [ "$(digest "$tmp/r.h5")" = "$expected" ]
rm -f "$tmp/r.h5"
# shellcheck disable=SC2086
stop "task fed on" $all
check "is stopped while it starts" [ $? = 75 ]
check "is resumed from there" again
check "to the same digest, too" [ "$(digest "$tmp/r.h5")" = "$expected" ]
rm -f "$tmp/r.h5"
# shellcheck disable=SC2086
signal=HUP stop "scores the winner" $all
[ $? = 75 ] && grep -q '^weft: stopped by signal 1 after the search.*weft resume' "$tmp/log"
result $? "the end of its terminal stops it, too"
again
check "to be resumed to the same digest" [ "$(digest "$tmp/r.h5")" = "$expected" ]
# shellcheck disable=SC2086
signal=HUP start=nohup stop "scores the winner" $all --force
result $? "but not what nohup has begun"
check "which ends as ever" [ "$(digest "$tmp/r.h5")" = "$expected" ]
echo "1..$count"
