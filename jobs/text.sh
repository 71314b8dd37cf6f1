# Representation and penalty of documents chosen together, in 30 trials: does tpe find better ones
# than random search? Four tasks of 20 Newsgroups, with its parts by date and, by every seed anew,
# shuffled; two of SST; IMDB. Beside them, one fit with the settings that the authors of the space
# report for the task. Complete runs are skipped and interrupted ones resumed. Then the table.
# usage: [SEEDS="1 2"] [OUTPUT=DIR] [TABLE=FILE.tsv] [TASKS="graphics binary"] [SAMPLERS="tpe space published"] [LAUNCH="mpirun -n 2"] bash jobs/text.sh DIR
# DIR has the unpacked archives 20news-bydate, sst, aclImdb, as far as TASKS asks for them.
. jobs/start.sh
dir=${1:?usage: bash jobs/text.sh DIR} out=${OUTPUT:-outputs/text} data=${OUTPUT:-outputs/text}/data
samplers=${SAMPLERS:-tpe space published}
mkdir -p "$data"

# pack NAME READER SOURCE key=value ...
pack()
{
    [ -f "$data/$1.h5" ] || "$weft" pack "$2" "$3" "${@:4}" -o "$data/$1.h5" || exit $?
}

# news NAME CLASSES SEED: both splits; every document's headers are removed, signatures stay
news()
{
    complete "$1-bydate" "$3" && complete "$1-shuffled" "$3" && return
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

# published NAME: the configuration, if one is known
published()
{
    case $1 in
    religion-*) set -- 1-2 yes binary l1 41 ;;
    graphics-*) set -- 1-1 yes binary l2 91 ;;
    science-*) set -- 1-2 no binary l2 142 ;;
    all-*) set -- 1-2 no binary l2 16 ;;
    sst-binary) set -- 1-2 no tfidf l2 10 ;;
    imdb) set -- 1-2 no binary l2 147 ;;
    *) return 1 ;;
    esac
    echo "ngram.grams=$1 ngram.stop=$2 ngram.weights=$3 logistic.penalty=$4 logistic.C=$5 logistic.tol=3e-4"
}

# complete NAME SEED: whether all searches have ended
complete()
{
    local sampler
    for sampler in $samplers; do [ -f "$out/$1-$sampler-$2.h5" ] || return; done
}

# search NAME DATA SEED
search()
{
    local sampler how
    for sampler in $samplers; do
        how="run.sampler=$sampler"
        if [ "$sampler" = published ]; then
            how=$(published "$1") || continue
            how="run.sampler=space space.configs=1 $how"
        fi
        # shellcheck disable=SC2086
        start "$out/$1-$sampler-$3.h5" inputs/text.ini run.data="$data/$2.h5" run.seed="$3" \
            ngram.bins="${BINS:-2^20}" $how || exit $?
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
        imdb)
            pack imdb folder "$dir/aclImdb" classes=neg,pos valid=0.2
            search imdb imdb "$seed"
            ;;
        *) echo "no task $task: religion graphics science all binary fine imdb" >&2 && exit 2 ;;
        esac
    done
done
analysis/text.py "$out"/*.h5 -o "${TABLE:-analysis/text.tsv}"
