# How near is the pick of ws_sha to the sweep's best map, with no option chosen for the data?
# For each packed data set and seed (which draws the 64 maps): the sweep, the search by its
# defaults, and the search as published, with split validation down to one survivor. Then the
# table. Complete runs are skipped and interrupted ones resumed.
# usage: [SEEDS="1 2"] [FEATURES=2000] [OUTPUT=DIR] [TABLE=FILE.tsv] [LAUNCH="mpirun -n 2"] bash jobs/quality.sh DATA.h5 ... [section.key=value ...]
# Documents become bags of n-grams, all else FEATURES random features. A part of labelled
# texts is taken before they are packed:
#   jobs/fraction.py all.txt 16 part.txt && weft pack text part.txt -o data/part-16.h5
. jobs/start.sh
out=${OUTPUT:-outputs/defaults}
mkdir -p "$out"
data=() settings=()
for arg; do
    case $arg in *.h5) data+=("$arg") ;; *) settings+=("$arg") ;; esac
done

# search NAME DATA.h5 SEED section.key=value ...
search()
{
    local run input=inputs/imdb64.ini features=()
    run=$out/$(basename "$2" .h5)-$1-$3.h5
    if ! "$weft" info "$2" | grep -q '^form *tokens'; then
        input=inputs/cifar10.ini features=(rff.features="${FEATURES:-2000}")
    fi
    set -- run.data="$2" run.seed="$3" "${@:4}"
    start "$run" "$input" "${features[@]}" "${settings[@]}" "$@" || exit $?
}

for seed in ${SEEDS:-$(seq 1 8)}; do
    for file in "${data[@]}"; do
        search sweep "$file" "$seed" run.tuner=random
        search auto "$file" "$seed"
        search plain "$file" "$seed" fmap.validation=split ws_sha.switch=1
    done
done
${PYTHON:-python3} analysis/compare.py "$out"/*.h5 -o "${TABLE:-analysis/quality-defaults.tsv}"
