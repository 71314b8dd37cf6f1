# Representation and penalty of documents chosen together, in 30 trials: does tpe find better ones
# than random search? Four tasks of 20 Newsgroups, with its parts by date and, by every seed anew,
# shuffled; two of SST; IMDB. Complete runs are skipped and interrupted ones resumed. Then the
# table.
# usage: [SEEDS="1 2"] [OUTPUT=DIR] [TABLE=FILE.tsv] [TASKS="graphics sst"] [LAUNCH="mpirun -n 2"] bash jobs/text.sh DIR
# DIR has the unpacked archives 20news-bydate, sst, aclImdb, as far as TASKS asks for them.
. jobs/start.sh
dir=${1:?usage: bash jobs/text.sh DIR} out=${OUTPUT:-outputs/text} data=${OUTPUT:-outputs/text}/data
mkdir -p "$data"

# pack NAME READER SOURCE key=value ...
pack()
{
    [ -f "$data/$1.h5" ] || "$weft" pack "$2" "$3" "${@:4}" -o "$data/$1.h5" || exit $?
}

# news NAME CLASSES SEED: both splits; every document's headers are removed, signatures stay
news()
{
    [ ! -f "$out/$1-shuffled-space-$3.h5" ] || return 0
    pack "$1-bydate" folder "$dir/20news-bydate" remove=headers valid=0.2 classes="$2"
    pack "$1-shuffled-$3" folder "$dir/20news-bydate" remove=headers valid=0.2 classes="$2" split=shuffled seed="$3"
    search "$1-bydate" "$1-bydate" "$3"
    search "$1-shuffled" "$1-shuffled-$3" "$3"
    rm "$data/$1-shuffled-$3.h5"
}

# sst NAME SEED
sst()
{
    local from=$dir/sst/stsa.$1
    pack "sst-$1" text "$from.train" separator=blank valid_file="$from.dev" test_file="$from.test"
    search "sst-$1" "sst-$1" "$2"
}

# search NAME DATA SEED
search()
{
    local sampler
    for sampler in tpe space; do
        start "$out/$1-$sampler-$3.h5" inputs/text.ini run.data="$data/$2.h5" run.sampler=$sampler run.seed="$3" \
            ngram.bins="${BINS:-2^20}" ||
            exit $?
    done
}

for seed in ${SEEDS:-$(seq 1 20)}; do
    for task in ${TASKS:-religion graphics science binary fine all imdb}; do
        case $task in
        religion) news religion alt.atheism,talk.religion.misc "$seed" ;;
        graphics) news graphics comp.graphics,comp.windows.x "$seed" ;;
        science) news science sci.crypt,sci.electronics,sci.med,sci.space "$seed" ;;
        all) news all "" "$seed" ;;
        binary | fine) sst $task "$seed" ;;
        imdb) pack imdb imdb "$dir/aclImdb" && search imdb imdb "$seed" ;;
        *) echo "no task $task: religion graphics science all binary fine imdb" >&2 && exit 2 ;;
        esac
    done
done
analysis/text.py "$out"/*.h5 -o "${TABLE:-analysis/text.tsv}"
