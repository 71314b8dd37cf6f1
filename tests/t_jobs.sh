#!/bin/bash
# The scripts for clusters, here without one: each states its purpose, cost and how to
# resume; a job that is told to stop keeps its results, is requeued and ends with the digest
# of an undisturbed run; each runs. Their use of SLURM is tested in tests/slurm. Prints TAP.
. tests/tap.sh
weft=$(realpath "$weft")
export WEFT=$weft LAUNCH=env PYTHONDONTWRITEBYTECODE=1
unset SLURM_JOB_ID SLURM_NTASKS SLURM_RESTART_COUNT SLURM_ARRAY_TASK_ID INPUT OUTPUT RESUME REQUEUE

# ---- what they say ------------------------------------------------------------------------

: >"$tmp/out"
for job in jobs/*.sbatch; do
    for words in '# Purpose: ' '# Cost: ' '# Submit from the top of the source: ' '# Resume: ' \
        '#SBATCH --signal=B:USR1@' '#SBATCH --time=' '#SBATCH --ntasks='; do
        grep -q "^$words" "$job" || echo "$job: no line '$words'" >>"$tmp/out"
    done
    grep -q '^#SBATCH --requeue' "$job" && grep -q '^#SBATCH --open-mode=append' "$job" ||
        grep -q '^#SBATCH --no-requeue' "$job" || echo "$job: is it requeued?" >>"$tmp/out"
    head -20 "$job" | grep -q '^# Resume: ' || echo "$job: 'Resume' comes too late" >>"$tmp/out"
    grep -q "\`$(basename "$job" .sbatch)[.\`]" jobs/README.md || echo "$job: not in jobs/README.md" >>"$tmp/out"
    bash -n "$job" 2>>"$tmp/out"
done
check "every job states purpose, cost, how to submit and to resume, and asks for a signal" [ ! -s "$tmp/out" ]
cp "$tmp/out" "$tmp/log"
! grep -ln 'srun\|mpirun\|module \|spack\|scontrol requeue' jobs/*.sbatch jobs/run.sh >"$tmp/out"
result $? "what belongs to a cluster is in site.sh and start.sh alone"

# ---- stopped and resumed ------------------------------------------------------------------

# A queue that notes what it is asked to put back, and has no PMIx.
mkdir "$tmp/bin"
printf '#!/bin/sh\n[ "$1" = show ] || echo "$@" >>"%s/requeued"\n' "$tmp" >"$tmp/bin/scontrol"
printf '#!/bin/sh\necho "$@" >>"%s/cancelled"\n' "$tmp" >"$tmp/bin/scancel"
printf '#!/bin/sh\necho "MPI plugin types are... none"\n' >"$tmp/bin/srun"
chmod +x "$tmp/bin/scontrol" "$tmp/bin/scancel" "$tmp/bin/srun"

# A program that waits in a job, if it is told to, for the signal that ends it.
cat >"$tmp/command.ini" <<END
[run]
task = command
tuner = random
[command]
run = [ ! -e $tmp/waits-\$WEFT_JOB ] || { touch $tmp/begun; sleep 1000000; }; echo loss=\$PARAM_x
[parameters]
x = 0 .. 0.9
[space]
configs = 10
[random]
resource = 1
END
job() # WHERE ARGUMENT ...: the job in a queue, told to stop within that job of the search, if it is not "whole"
{
    local at=$1 pid
    shift
    rm -f "$tmp/begun" "$tmp"/waits-*
    [ "$at" = whole ] || touch "$tmp/waits-$at"
    PATH=$tmp/bin:$PATH SLURM_JOB_ID=7 SLURM_NTASKS=1 bash jobs/command.sbatch "$@" \
        >"$tmp/out" 2>"$tmp/log" &
    pid=$!
    if [ "$at" != whole ]; then
        until [ -e "$tmp/begun" ] || ! kill -0 $pid 2>/dev/null; do sleep 0.1; done
        kill -"${SIGNAL:-USR1}" $pid
    fi
    wait $pid
}
export INPUT=$tmp/command.ini OUTPUT=$tmp/whole.h5
check "a job ends well" job whole
check "and is not requeued" [ ! -e "$tmp/requeued" ]
export OUTPUT=$tmp/parts.h5
job 3
[ $? = 75 ] && [ -d "$tmp/parts.d" ]
result $? "one that is told to stop ends with status 75"
check "it is requeued" [ "$(cat "$tmp/requeued")" = "requeue 7" ]
export SLURM_RESTART_COUNT=1
job 6
[ $? = 75 ] && [ "$(wc -l <"$tmp/requeued")" = 2 ]
result $? "twice"
job whole && [ "$(wc -l <"$tmp/requeued")" = 2 ] && grep -q 'resumed: 6 jobs' "$tmp/log"
result $? "and then ends well"
[ "$(digest "$tmp/parts.h5")" = "$(digest "$tmp/whole.h5")" ]
result $? "with the digest of the run that was not stopped"
job whole && grep -q 'is complete' "$tmp/out"
result $? "a job whose run is complete says so"
unset SLURM_RESTART_COUNT
export OUTPUT=$tmp/other.h5
REQUEUE=no job 3 space.configs=9
[ $? = 75 ] && [ "$(wc -l <"$tmp/requeued")" = 2 ]
result $? "a link of a chain is not requeued"
job whole space.configs=8
[ $? = 2 ] && grep -q 'leave out.*space.configs=8' "$tmp/log"
result $? "settings of a run that was begun are refused"
RESUME=yes job whole space.configs=9
result $? "but not where they are said to be the same"
export OUTPUT=$tmp/cancelled.h5
SIGNAL=TERM NEXT_LINK=8 job 3
[ $? = 75 ] && [ "$(wc -l <"$tmp/requeued")" = 2 ]
result $? "one that is cancelled is not requeued"
check "it says how to go on" grep -q 'submit again, and the run goes on' "$tmp/log"
[ "$(cat "$tmp/cancelled")" = 8 ] && grep -q 'the chain ends here' "$tmp/log"
result $? "it ends its chain"
check "submitted again it ends" job whole
[ -n "$(digest "$tmp/whole.h5")" ] && [ "$(digest "$tmp/cancelled.h5")" = "$(digest "$tmp/whole.h5")" ]
result $? "with the same digest"

# A launcher whose ranks end by signal 11, as they may in MPI_Init: at so many of its starts, before
# weft is there, or behind it.
cat >"$tmp/bin/crashes" <<END
#!/bin/bash
echo start >>"$tmp/starts"
[ "\$CRASH" = before ] || "\$@"
[ "\$(wc -l <"$tmp/starts")" -gt "\$CRASHES" ] || kill -SEGV \$\$
[ "\$CRASH" != before ] || exec "\$@"
END
chmod +x "$tmp/bin/crashes"
crashes() # before|behind COUNT: such a job; its starts are counted
{
    rm -f "$tmp/starts"
    export OUTPUT=$tmp/crashes-$1-$2.h5
    CRASH=$1 CRASHES=$2 LAUNCH=crashes job whole
    status=$?
    starts=$(wc -l <"$tmp/starts")
}
crashes before 2
[ "$status $starts" = "0 3" ] && [ "$(grep -c 'while MPI started' "$tmp/log")" = 2 ]
result $? "ranks that end by signal 11 before they open the run are started again"
check "to the same digest" [ "$(digest "$OUTPUT")" = "$(digest "$tmp/whole.h5")" ]
crashes before 3
[ "$status $starts" = "139 3" ] && grep -q 'status 139.*submit again' "$tmp/log"
result $? "at most three times"
crashes behind 1
check "those that had opened it are not" [ "$status $starts" = "139 1" ]
unset INPUT OUTPUT
here=$PWD
for job in jobs/*.sbatch; do
    (cd "$tmp" && bash "$here/$job") >"$tmp/out" 2>"$tmp/log"
    [ $? = 2 ] && [ "$(cat "$tmp/log")" = "submit from the top of the source: sbatch $job" ]
    result $? "$job is submitted from the top, or says so"
done
INPUT=inputs/imdb64.ini OUTPUT=$tmp/none.h5 bash jobs/maps.sbatch run.data="$tmp/none-data.h5" >"$tmp/out" 2>"$tmp/log"
[ $? = 3 ] && grep -q 'none-data.h5 is not there: `make data`.*built-in data' "$tmp/log"
result $? "data that are missing are named, with what makes them"
check "no run is begun without them" [ ! -e "$tmp/none.d" ]
grep -l -- '^#SBATCH --array' jobs/*.sbatch | xargs grep -L -- '^#SBATCH --output=.*%A.*%a' >"$tmp/out"
check "logs of arrays carry the job's id, so that another array does not append to them" [ ! -s "$tmp/out" ]

# ---- each of them, small ------------------------------------------------------------------

"$weft" pack synthetic images rows=300 d=16 classes=2 -o "$tmp/img.h5" 2>/dev/null &&
    "$weft" pack synthetic federated=stored clients=30 classes=5 -o "$tmp/fed.h5" 2>/dev/null
result $? "data are packed"
INPUT=inputs/demo-images.ini OUTPUT=$tmp/maps.h5 bash jobs/maps.sbatch run.data="$tmp/img.h5" \
    space.configs=4 rff.features=50 >"$tmp/out" 2>"$tmp/log"
result $? "maps.sbatch searches"
INPUT=inputs/demo-federated.ini OUTPUT=$tmp/fed-run.h5 bash jobs/federated.sbatch \
    run.data="$tmp/fed.h5" sha.max_resource=5 sha.budget=9 sha.eliminations=1 space.configs=3 \
    >"$tmp/out" 2>"$tmp/log"
result $? "federated.sbatch searches"
SLICE=0.001 OUTPUT=$tmp/slices.h5 bash jobs/slices.sh inputs/demo-federated.ini \
    run.data="$tmp/fed.h5" sha.max_resource=5 sha.budget=9 sha.eliminations=1 space.configs=3 \
    >"$tmp/out" 2>"$tmp/log" && grep -q 'status 0 after [6-9] starts' "$tmp/out"
result $? "slices.sh does the same in six starts or more"
[ -n "$(digest "$tmp/fed-run.h5")" ] && [ "$(digest "$tmp/slices.h5")" = "$(digest "$tmp/fed-run.h5")" ]
result $? "to the same digest"
sed "s|^data = .*|data = $tmp/fed.h5|; s|^cohort = .*|cohort = 3|; s|^eval_clients = .*|eval_clients = 3|" \
    inputs/demo-federated.ini >"$tmp/small.ini"
INPUT=$tmp/small.ini OUTPUT=$tmp/async.h5 LAUNCH="mpirun -n 2" bash jobs/async.sbatch \
    >"$tmp/out" 2>"$tmp/log" && grep -q '^ranks  *2 .*' "$tmp/out" && grep -q '2 teams of ranks' "$tmp/out"
result $? "async.sbatch searches by teams"
for seed in 1 2; do
    SLURM_ARRAY_TASK_ID=$seed INPUT=inputs/demo-images.ini OUTPUT=$tmp/seeds bash jobs/seeds.sbatch \
        run.data="$tmp/img.h5" space.configs=4 rff.features=50 >"$tmp/out" 2>"$tmp/log" || break
done
[ "$("$weft" report "$tmp"/seeds/demo-images-[12].h5 | grep -c '/demo-images-[12]\.h5')" = 2 ]
result $? "seeds.sbatch has a run for each seed"
[ -n "$(digest "$tmp/maps.h5")" ] && [ "$(digest "$tmp/seeds/demo-images-1.h5")" = "$(digest "$tmp/maps.h5")" ]
result $? "seed 1 has the digest of the run before"
check "seed 2 has another" [ "$(digest "$tmp/seeds/demo-images-2.h5")" != "$(digest "$tmp/maps.h5")" ]

# ---- scaling ------------------------------------------------------------------------------

mkdir "$tmp/scaling"
"$weft" pack synthetic images rows=300 d=16 classes=2 -o "$tmp/scaling/data-images-1.h5" 2>/dev/null
cp "$tmp/scaling/data-images-1.h5" "$tmp/scaling/data-images-2.h5"
"$weft" pack synthetic federated=stored clients=80 d=16 classes=10 -o "$tmp/scaling/data-clients.h5" 2>/dev/null
find_python "h5py, matplotlib"
scaling() # STUDIES REPEATS
{
    RANKS="1 2" STUDIES=$1 REPEATS=$2 OUTPUT=$tmp/scaling LAUNCH=mpirun \
        PLOT="${python:+$python analysis/scaling.py}" bash jobs/scaling.sbatch >"$tmp/out" 2>"$tmp/log"
}
check "scaling.sbatch runs a study twice, strong and weak" scaling sweep 2
[ "$(ls "$tmp"/scaling/*-{strong,weak}-*.h5 | wc -l)" = 8 ]
result $? "with a run for each count of ranks"
[ "$("$weft" report "$tmp"/scaling/sweep-weak-2-1.h5 | grep -c '^task.* 32 configurations')" = 1 ]
result $? "weak scaling has more configurations for more ranks"
[ -n "$(digest "$tmp/scaling/sweep-strong-1-1.h5")" ] && [ "$(digest "$tmp/scaling/sweep-strong-1-1.h5")" = "$(digest "$tmp/scaling/sweep-strong-2-2.h5")" ]
result $? "strong scaling has one digest"
[ -z "$python" ] || { "$python" jobs/unequal.py "$tmp/scaling/data-clients.h5" 4 10 2 >"$tmp/out" 2>"$tmp/log" &&
    [ "$(grep -c 'us a client' "$tmp/out")" = 5 ]; }
result $? "unequal.py trains the same weights client by client and in groups"
if [ -z "$python" ]; then
    echo "ok $((count += 1)) - the table # SKIP no Python with h5py and matplotlib"
else
    # b T_b / (P T_P) by hand from the run files, here paired by repeats.
    "$python" - "$tmp/scaling" >"$tmp/out" 2>"$tmp/log" <<'END'
import csv, h5py, math, os, sys
here = sys.argv[1]
rows = {(r["study"], r["kind"], r["ranks"]): r
        for r in csv.DictReader(open(f"{here}/scaling.tsv"), delimiter="\t")}
assert len(rows) == 4 and os.path.getsize(f"{here}/scaling.png") > 5000
for kind, work in (("strong", 2), ("weak", 1)):
    t = {(p, r): h5py.File(f"{here}/sweep-{kind}-{p}-{r}.h5").attrs["search_seconds"]
         for p in (1, 2) for r in (1, 2)}
    log = [math.log(t[1, r] / (work * t[2, r])) for r in (1, 2)]
    mean, half = sum(log) / 2, 12.7062 * abs(log[0] - log[1]) / 2
    row = rows["sweep", kind, "2"]
    for name, value in (("efficiency", mean), ("efficiency_low", mean - half),
                        ("efficiency_high", mean + half)):
        assert math.isclose(float(row[name]), math.exp(value), rel_tol=2e-3), (kind, name)
    assert float(rows["sweep", kind, "1"]["efficiency"]) == 1
END
    result $? "and a table of efficiencies with their intervals"
fi
check "and the other studies" scaling "maps fit federated async" 1

# ---- folds ----------------------------------------------------------------------------------

"$weft" pack synthetic documents rows=200 -o "$tmp/documents.h5" 2>"$tmp/log"
folds() # the folds that are not there, of two seeds
{
    SEEDS="1 2" FOLDS="0 3" KINDS=rand OUTPUT=$tmp/folds TABLE=$tmp/folds.tsv PYTHON=${python:-true} \
        bash jobs/cnn.sh "$tmp/documents.h5" sgd.dim=8 txtcnn.f1=2 txtcnn.f2=2 txtcnn.f3=2 random.resource=1 \
        >"$tmp/out" 2>"$tmp/log"
}
folds && [ "$(ls "$tmp"/folds/rand-[12]-[03].h5 | wc -l)" = 4 ]
result $? "each fold of a cross-validation is trained"
rm "$tmp/folds/rand-2-3.h5" && folds && [ -f "$tmp/folds/rand-2-3.h5" ]
result $? "one that is missing is trained again"
check "others are not" [ "$(grep -c ' task sgd on' "$tmp/log")" = 1 ]
[ -z "$python" ] || { [ "$(wc -l <"$tmp/folds.tsv")" = 5 ] && grep -q '^| rand | 2 | 4 | [0-9.]* +- ' "$tmp/out"; }
result $? "and are in a table"
# ---- steps ----------------------------------------------------------------------------------

"$weft" pack synthetic images rows=120 -o "$tmp/images.h5" 2>"$tmp/log"
RANKS="1 2" TURNS=2 STEPS=2 KINDS="static images" IMAGES=$tmp/images.h5 OUTPUT=$tmp/steps TABLE=$tmp/steps.tsv LAUNCH=mpirun \
    PYTHON=${python:-true} bash jobs/steps.sh "$tmp/documents.h5" >"$tmp/out" 2>"$tmp/log" &&
    [ "$(cut -d ' ' -f 1-3 "$tmp/steps.tsv" | tr '\n' ',')" = \
        "static 1 1,static 2 1,images 1 1,images 2 1,static 1 2,static 2 2,images 1 2,images 2 2," ]
result $? "steps of networks are measured in turns"
[ -z "$python" ] || grep -q '^| images | 2 ranks | [-+0-9.e]* +- .* | .*, .* | .* +- ' "$tmp/out"
result $? "and are in a table"
# ---- searches that are trained in earnest ----------------------------------------------------

trained() # four tuners, two seeds; what is there is not run again
{
    SEEDS="1 2" EPOCHS=18 OUTPUT=$tmp/trained TABLE=$tmp/trained.tsv PYTHON=${python:-true} LAUNCH="mpirun -n 1" \
        bash jobs/trained.sh "$tmp/images.h5" >"$tmp/out" 2>"$tmp/log"
}
trained && [ "$(ls "$tmp"/trained/*.h5 | wc -l)" = 8 ]
result $? "searches by four tuners"
rm "$tmp/trained/pbt-2.h5" && trained && [ "$(grep -c ' task sgd on' "$tmp/log")" = 1 ]
result $? "what is there is not done again"
[ -z "$python" ] || [ "$(cut -f 3 "$tmp/trained.tsv" | sort -u | tr '\n' ' ')" = "18 epochs " ]
result $? "with equal numbers of epochs"
[ -z "$python" ] || [ "$(grep -c '^| .* | 2 | [0-9.]* +- [0-9.]* |' "$tmp/out")" = 4 ]
result $? "they are in a table"
# ---- representations of documents -----------------------------------------------------------

for part in train test; do
    for class in alt.atheism talk.religion.misc neg pos; do
        case $class in neg | pos) to=$tmp/texts/aclImdb/$part/$class ;;
        *) to=$tmp/texts/20news-bydate/20news-bydate-$part/$class ;; esac
        mkdir -p "$to"
        for ((i = 0; i < 120; i++)); do
            printf 'Subject: head\n\n%s is the word %d of %s\n' $class $i $part >"$to/$i.txt"
        done
    done
done
mkdir "$tmp/texts/sst"
for part in train dev test; do
    for ((i = 0; i < 10; i++)); do printf '%d words of class %d\n' $((i % 2)) $((i % 2)); done \
        >"$tmp/texts/sst/stsa.binary.$part"
done
texts() # SAMPLERS [SEEDS TASKS OUTPUT]
{
    SEEDS=${2:-1 2} SAMPLERS=$1 TASKS=${3:-religion binary imdb} BINS=4096 OUTPUT=${4:-$tmp/text} TABLE=$tmp/text.tsv \
        PATH=${python:+$(dirname "$(command -v "$python")"):}$PATH bash jobs/text.sh "$tmp/texts" \
        >"$tmp/out" 2>"$tmp/log"
}
texts published || [ -z "$python" ]
[ "$(ls "$tmp"/text/{religion-bydate,religion-shuffled,sst-binary,imdb}-published-[12].h5 | wc -l)" = 8 ]
result $? "text.sh fits the published settings of every task and seed"
texts "published space space_all" || [ -z "$python" ]
check "it searches" [ "$(ls "$tmp"/text/*-space-[12].h5 | wc -l)" = 8 ]
check "without fitting these again" [ "$(grep -c ' task fmap on' "$tmp/log")" = 14 ]
! ls "$tmp"/text/data/*shuffled* 2>/dev/null
result $? "data that were shuffled for one search are removed"
[ "$(ls "$tmp"/text/*-space_all-[12].h5 | wc -l)" = 6 ] &&
    [ "$("$weft" info "$tmp/text/imdb-space_all-2.h5" | sed -n 's/^winner *[0-9]*://p')" = \
        "$("$weft" info "$tmp/text/imdb-space-2.h5" | sed -n 's/^winner *[0-9]*://p')" ]
result $? "winners are fitted again to all training documents where validation took some of them"
[ -z "$python" ] || { [ "$(wc -l <"$tmp/text.tsv")" = 23 ] &&
    grep -q '^| religion-shuffled |  |  \(| [0-9.]* +- [0-9.]* (2) \)\{3\}| 86.3 |' "$tmp/out"; }
result $? "and all are in a table, beside what was reported"
SPACE=script OPTIONS=space.configs=7 texts space 1 binary "$tmp/script" || [ -z "$python" ]
"$weft" info "$tmp/script/sst-binary-space-1.h5" >"$tmp/out"
grep -q 'ngram.binary=true ngram.weights=tfidf' "$tmp/out" && grep -q 'ngram.binary=false' "$tmp/out"
result $? "the authors' script's space has ones with idf"
check "searches take options" grep -q ', 7 configurations,' "$tmp/out"
SPACE=scripts texts space 1 binary "$tmp/scripts"
[ $? -eq 2 ] && grep -q '^SPACE=scripts: ' "$tmp/log"
result $? "and there are no others"
# ---- one training ---------------------------------------------------------------------------

call pack synthetic federated=stored clients=12 classes=3 -o "$tmp/twelve.h5"
ways() # ARGUMENT...
{
    SEEDS=1 ROUNDS=50 OUTPUT=$tmp/ways bash jobs/one.sh "$tmp/twelve.h5" fed.model=linear fed.cohort=3 "$@" >"$tmp/out" 2>"$tmp/log"
}
METHODS="defaults one" ways && [ "$(ls "$tmp/ways" | tr '\n' ' ')" = "defaults-1.h5 one-1.h5 " ]
result $? "one.sh takes some methods"
SETTINGS=4 ways && [ "$(ls "$tmp/ways" | wc -l)" = 21 ] && [ "$(grep -c ' task fed on' "$tmp/log")" = 19 ]
result $? "or all that are not there yet"

# ---- kinds of rounds ------------------------------------------------------------------------

rounds() # METHODS KIND ARGUMENT...
{
    METHODS=$1 SEEDS=1 ROUNDS=20 OUTPUT=$tmp/$2 bash jobs/rounds.sh "$2" "$tmp/twelve.h5" fed.model=linear "${@:3}" >"$tmp/out" 2>"$tmp/log"
}
rounds "sync over" async fed.eval_clients=4 fed.cohort=3 device.over=1.3 &&
    rounds "buffered fedasync" async fed.eval_clients=4 fed.cohort=3 buffer.concurrency=4 && [ "$(ls "$tmp/async" | wc -l)" = 4 ]
result $? "rounds.sh: rounds that wait and rounds that do not"
rounds "plain search-8 one-8" private fed.cohort=4 run.scale=none && [ "$(ls "$tmp/private" | tr '\n' ' ')" = "one-8-1.h5 plain-1.h5 search-8-1.h5 " ]
result $? "a search and one training at the same epsilon, and neither"
[ "$("$weft" report "$tmp/private/one-8-1.h5" | grep -c '^privacy   epsilon [78]')" = 1 ] && ! "$weft" report "$tmp/private/plain-1.h5" | grep -q '^privacy'
result $? "which the search keeps"
rounds "bits4 both top0.1" bytes fed.cohort=3 && [ "$(ls "$tmp/bytes" | wc -l)" = 3 ] &&
    rounds "0.3-krum 0-mean" harmful fed.cohort=8 rule.harmful=0.2 && [ "$(ls "$tmp/harmful" | wc -l)" = 2 ] && rounds "" fair fed.cohort=3 && [ "$(ls "$tmp/fair" | wc -l)" = 6 ]
result $? "fewer bytes, rules, and all of q-FFL"
! rounds "" other 2>/dev/null && grep -q '^usage: bash jobs/rounds.sh async' "$tmp/log"
result $? "there is no other kind"

# ---- samplers -------------------------------------------------------------------------------

samplers() # MiP-EGO and random search, a seed; what is there is not run again
{
    SEEDS=1 SAMPLERS="forest space" REPLAYS=1 VECTORS='' OUTPUT=$tmp/samplers TABLES=$tmp/samplers \
        PYTHON=$python bash jobs/mipego.sh "$tmp/documents.h5" space.configs=6 random.resource=1 \
        sgd.dim=8 txtcnn.f1=2..4 txtcnn.f2=2..4 txtcnn.f3=2..4 >"$tmp/out" 2>"$tmp/log"
}
if [ -z "$python" ]; then
    echo "ok $((count += 1)) - searches by two samplers # SKIP no Python with h5py and matplotlib"
else
    check "searches by two samplers, their winners on all folds, and replays" samplers
    rm "$tmp/samplers/folds/kim-1.h5" && samplers && [ "$(grep -c ' task sgd on' "$tmp/log")" = 1 ]
    result $? "what is there is not done again"
    [ "$(ls "$tmp"/samplers/*.h5 "$tmp"/samplers/folds/*.h5 "$tmp"/samplers/replays/*.h5 | wc -l)" = 11 ]
    result $? "there are eleven runs"
    [ "$(wc -l <"$tmp/samplers/mipego.tsv")" = 13 ] && [ "$(wc -l <"$tmp/samplers/mipego-folds.tsv")" = 4 ]
    result $? "they are in tables"
    check "they are in a figure" [ -s "$tmp/samplers/mipego.png" ]
    grep -q "^| Kim's | 1 | [0-9.]* |" "$tmp/out" && [ "$(grep '^| random search | [1250]* | 1 | ' "$tmp/out" | sort -u | wc -l)" = 4 ]
    result $? "their means are printed"
fi
echo "1..$count"
