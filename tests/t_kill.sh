#!/bin/bash
# A run whose processes are killed repeatedly at random moments, or that is stopped by a
# signal, and that is resumed each time with another number of ranks and teams, ends with
# the digest of an undisturbed run: fits of feature maps, rounds of a federation, of one whose
# clients keep numbers, asynchronous halving, training of a network, of those of all folds and
# of one that translates, a user's program, one that fails for some configurations and, whatever
# they are, on the second rank.
# Prints TAP, and a table at the end. KILLS: kills of each of the ten studies (2), which
# are repeated as often as needed; SEED: of the moments; ONLY: names of the studies to run
# ("fed-asha sgd-sha"), which may also be fed-hyperband, fed-pbt and kept-pbt.
studies="in-ws_sha in-random mixed-sha fed-asha kept-asha sgd-sha folds-asha pairs-asha command-sha broken-sha"
more="fed-hyperband fed-pbt kept-pbt"
for name in $ONLY; do
    case " $studies $more " in *" $name "*) ;; *)
        echo "Bail out! ONLY names no study '$name'; there are: $studies $more"
        exit 1
        ;;
    esac
done
kills=${KILLS:-2}
seed=${SEED:-$(date +%s)}
echo "# SEED=$seed"
. tests/tap.sh
net=600 # killed while its ranks are still starting, mpirun may wait for them for ever
export OMPI_MCA_rmaps_base_oversubscribe=1 PRTE_MCA_rmaps_default_mapping_policy=:oversubscribe # three ranks on two cores
if [ -z "$ONLY" ]; then
    ! ONLY="fed-asha asha" sh "$0" >"$tmp/out" 2>"$tmp/log" && [ "$(wc -l <"$tmp/out")" = 1 ] &&
        grep -q "^Bail out! .*'asha'; there are: .* fed-asha " "$tmp/out"
    result $? "a study that is not there is refused by one line, which names those that are"
fi

# start RANKS TEAMS INPUT TUNER [EVENT]: begins the run r.h5, or resumes it, in the background as
# $run, whose first rank holds at the event.
start()
{
    ranks=$1 teams=$2 event=${5:-no such event}
    if began; then
        set -- resume "$tmp/r.h5" run.teams="$teams" ${checkpoint:+run.checkpoint=$checkpoint}
    else
        set -- tune "$tmp/$3.ini" run.tuner="$4" run.teams="$teams" -o "$tmp/r.h5"
    fi
    # shellcheck disable=SC2016
    launch "$ranks" 0 "$event" sh -c '[ "${OMPI_COMM_WORLD_RANK:-$PMI_RANK}" != 1 ] || export BAD=1; exec "$@"' - "$weft" "$@"
}

jobs_done() # lines of the log that tell of a job
{
    grep -c ' job [0-9]* of ' "$tmp/log"
}

# until_true COMMAND ...: waits for that, or for the run to end.
until_true()
{
    until "$@" || ! kill -0 $run 2>/dev/null; do sleep 0.01; done
}
began() { grep -aqs '^began' "$tmp/r.d/journal"; }
ranks_run() { [ "$(cat "$tmp/pids" 2>/dev/null | wc -l)" = "$ranks" ]; }
processes() { cut -d' ' -f2 "$tmp/pids"; }

# random MOST: sets $drawn to a number from 0 up to that, another one each time.
draws=0
random()
{
    draws=$((draws + 1))
    drawn=$(awk -v seed="$seed" -v n=$draws -v most="$1" \
        'BEGIN { srand(seed); while (n--) u = rand(); printf "%.3f", most * u }')
}

# some_ranks: sets $victims to process ids, of one rank or more.
some_ranks()
{
    random "$ranks"
    victims=$(processes | tail -n +$((${drawn%.*} + 1)) | head -n $((starts % 2 + 1)))
}

cat >"$tmp/in.ini" <<END
[run]
data = $tmp/doc.h5
[space]
configs = 12
[fmap]
feature = ngram
model = ridge
[ngram]
bins = 2^14
order = 1 .. 3
alpha = log 1e-5 .. 100
END
check "the built-in documents are packed" call pack synthetic documents rows=2000 -o "$tmp/doc.h5"

cat >"$tmp/fed.ini" <<END
[run]
data = $tmp/fed.h5
task = fed
checkpoint = 0.3
[space]
configs = 6
[fed]
model = linear
cohort = 10
score_both = yes
eval_clients = 20
[client]
lr = log 1e-4 .. 1
momentum = 0 .. 0.9
[sha]
reduction = 2
eliminations = 1
max_resource = 200
budget = 700
[asha]
reduction = 3
max_resource = 81
trials = 20
[hyperband]
reduction = 3
max_resource = 81
[pbt]
population = 8
interval = 15
max_resource = 120
[fedex]
k = 5
END
sed 's/^task = fed/&\nmixing = fedex/' "$tmp/fed.ini" >"$tmp/mixed.ini"
sed -e 's/^model = linear/&\nalgorithm = ditto/' -e 's/^checkpoint.*/checkpoint = 0.02/' "$tmp/fed.ini" >"$tmp/kept.ini"
check "a built-in federation is packed" call pack synthetic federated=generated clients=100 -o "$tmp/fed.h5"

sed -e "s|^data.*|data = $tmp/images.h5|" -e 's/^task = fed/task = sgd/' -e '/^\[fed\]/,/^momentum/d' \
    "$tmp/fed.ini" >"$tmp/sgd.ini"
cat >>"$tmp/sgd.ini" <<END
[sgd]
model = linear
[train]
batch = 5
lr = log 1e-4 .. 1
END
sed -i -e 's/^max_resource = 200/max_resource = 40/' -e 's/^budget.*/budget = 200/' "$tmp/sgd.ini"
sed -e 's/^model = linear/&\nfolds = 3\npatience = 9/' "$tmp/sgd.ini" >"$tmp/folds.ini"
check "built-in images are packed" call pack synthetic images rows=300 -o "$tmp/images.h5"
awk 'BEGIN {
    srand(1)
    print "one\ttwo"
    for (i = 0; i < 300; i++) {
        a = b = ""
        for (n = int(rand() * 4); n >= 0; n--) {
            w = 1 + int(rand() * 9)
            a = a " " substr("abcdefghi", w, 1)
            b = " " substr("jklmnopqr", w, 1) b
        }
        print substr(a, 2) "\t" substr(b, 2)
    }
}' >"$tmp/pairs.tsv"
cat >"$tmp/pairs.ini" <<END
[run]
data = $tmp/pairs.h5
task = sgd
checkpoint = 0.1
[space]
configs = 9
[sgd]
model = seq2seq
[seq2seq]
hidden = 8
embedding = 8
[context]
form = generated
size = 2
[train]
optimizer = adam
lr = log 1e-3 .. 1e-1
dropout = 0.1
batch = 16
[asha]
reduction = 3
max_resource = 9
trials = 9
END
call pack translations "$tmp/pairs.tsv" directions=one-two,two-one vocabulary=40 joint=yes valid=0.1 \
    test=0.1 -o "$tmp/pairs.h5"
result $? "sentences in two languages are packed"
sed -e 's/^configs = 27/configs = 9/' -e 's/^eliminations = 3/eliminations = 2/' -e '/^output/d' \
    inputs/command.ini >"$tmp/command.ini"
# shellcheck disable=SC2016
sed 's/^run = /&[ "$BAD" ] \&\& exit 1; [ $PARAM_degree -ge 4 ] \&\& exit 2; /' "$tmp/command.ini" >"$tmp/broken.ini"

# killed_once INPUT TUNER: starts the run, or goes on with it, and kills ranks of it: for the first
# time after some job, then at any moment, of which some come too late.
killed_once()
{
    random 3
    job=$((${drawn%.*} + 1))
    random $((starts % 3 + 1))
    start $((starts % 3 + 1)) $((${drawn%.*} + 1)) "$1" "$2" "$([ $killed -gt 0 ] || echo "job $job of")"
    until_true ranks_run
    after=0
    if [ $killed = 0 ]; then held "$(rank 0)"; else
        [ $((starts % 2)) = 1 ] || until_true began
        random "$took"
        after=$drawn
        sleep "$after"
    fi
    some_ranks
    # shellcheck disable=SC2086
    if [ ! -e "$tmp/r.h5" ] && kill -KILL $victims 2>/dev/null; then
        killed=$((killed + 1))
        echo "# $what: of $ranks ranks in $teams teams" $victims "killed $after s later," \
            "$(jobs_done) jobs were told"
    fi
    wait $run
    # shellcheck disable=SC2046
    kill -KILL $(processes) 2>/dev/null
    grep -q 'resumed: [1-9]' "$tmp/log" && resumed=1
    starts=$((starts + 1))
}

# settled: the run that ended is compared, and removed.
settled()
{
    runs=$((runs + 1))
    ended=$(digest "$tmp/r.h5")
    left=$(cd "$tmp" && ls -d r.* | grep -vxE 'r\.(h5|best|failed)')
    [ "$ended" = "$expected" ] && equal=$((equal + 1))
    [ -z "$left" ] && clean=$((clean + 1))
    if [ "$ended" != "$expected" ]; then
        put_aside "$what: a run with digest '$ended' where $expected is expected"
    elif [ "$left" ]; then
        put_aside "$what: a run that left $left"
    fi
    rm -rf "$tmp"/r.*
}

# survives INPUT TUNER: killed again and again.
survives()
{
    what=$1-$2
    begin=$(date +%s%N)
    check "$what: a run is left alone" call tune "$tmp/$1.ini" run.tuner="$2" -o "$tmp/$what.h5"
    took=$(echo "$begin $(date +%s%N)" | awk '{ print ($2 - $1) / 1e9 }')
    expected=$(digest "$tmp/$what.h5")
    killed=0 starts=0 resumed=0 runs=0 equal=0 clean=0
    while [ $killed -lt "$kills" ] && [ $starts -lt $((3 * kills + 3)) ]; do
        killed_once "$1" "$2"
        if [ -e "$tmp/r.h5" ] && [ ! -d "$tmp/r.d" ]; then settled; fi
    done
    status=0
    if began || [ -d "$tmp/r.d" ]; then
        start 2 2 "$1" "$2"
        wait $run
        status=$?
        grep -q 'resumed: [1-9]' "$tmp/log" && resumed=1
        settled
    fi
    result $status "$what: killed $killed times, it runs to its end"
    check "$what: it was killed" [ $killed -ge 1 ]
    check "$what: it was resumed with jobs that were done" [ $resumed = 1 ]
    [ -n "$expected" ] && [ $runs -ge 1 ] && [ $equal = $runs ]
    result $? "$what: with the same digest"
    check "$what: it leaves nothing beside its file" [ $clean = $runs ]
    table="$table# $(printf '%-16s %5d %5d %5d' "$what" $runs $killed $equal)
"
}

for study in ${ONLY:-$studies}; do survives "${study%%-*}" "${study#*-}"; done
echo "# study             runs kills equal digests"
printf '%s' "$table"
if [ "$ONLY" ]; then
    echo "1..$count"
    exit
fi

start 2 1 sgd sha "job 8 of"
held "$(rank 0)"
# shellcheck disable=SC2046
kill -KILL $(processes)
wait $run
rm "$tmp"/r.d/state-*
checkpoint=1e-6 # due after each epoch, in jobs that both teams repeat when the search is over, too
start 2 2 sgd sha
wait $run
result $? "a run whose states are gone, the winner's too, goes to its end by two teams"
check "it tells that jobs are repeated" grep -q 'is missing, .*are repeated' "$tmp/log"
checkpoint=
check "it has the same digest" [ "$(digest "$tmp/r.h5")" = "$(digest "$tmp/sgd-sha.h5")" ]
check "it leaves nothing beside its file" [ ! -e "$tmp/r.d" ]
rm -rf "$tmp"/r.*

for signal in USR1 TERM INT; do
    start 2 1 in random "job 2 of"
    held "$(rank 0)"
    # shellcheck disable=SC2046
    kill -$signal $(processes)
    kill -CONT "$(rank 0)"
    wait $run
    check "SIG$signal: a run ends with status 75" [ $? = 75 ]
    check "SIG$signal: it says how to go on" [ "$(grep -c '^weft: .*weft resume' "$tmp/log")" = 1 ]
    before=$(jobs_done)
    start 3 2 in random
    wait $run
    result $? "SIG$signal: it is resumed"
    check "SIG$signal: without doing a job twice" [ $((before + $(jobs_done))) = 12 ]
    [ "$(digest "$tmp/r.h5")" = "$(digest "$tmp/in-random.h5")" ]
    result $? "SIG$signal: it ends with the same digest"
    rm -rf "$tmp"/r.*
done
echo "1..$count"
