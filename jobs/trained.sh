# PBT, ASHA, ASHA with BOHB's sampler and random search on the CIFAR-10 network of
# inputs/cifar10-convnet.ini, trained in earnest: five simulated workers, 378 epochs a search. A run
# for each seed; those that are there are not repeated, those that were begun are resumed. Then
# the table. A search takes one to two minutes of a core.
# usage: [SEEDS="1 2 3"] [TUNERS="asha pbt"] [EPOCHS=378] [OUTPUT=DIR] [TABLE=FILE.tsv]
#        [LAUNCH="mpirun -n 1"] bash jobs/trained.sh data/cifar10-small.h5 [run.teams=2 ...]
# data/cifar10-small.h5: python3 jobs/curves.py cifar-10-batches-bin data/cifar10-small.h5
. jobs/start.sh
data=${1:?usage: bash jobs/trained.sh data/cifar10-small.h5} out=${OUTPUT:-outputs/trained}
epochs=${EPOCHS:-378} # of a search; 9 of a network
shift

for seed in ${SEEDS:-1 2 3 4 5 6 7 8 9 10}; do
    for tuner in ${TUNERS:-random asha kde pbt}; do
        asha=(run.tuner=asha asha.trials=0 asha.budget="$epochs")
        case $tuner in
        random) options=(run.tuner=random space.configs=$((epochs / 9))) ;;
        asha) options=("${asha[@]}") ;;
        kde) options=("${asha[@]}" run.sampler=kde) ;;
        pbt) options=(run.tuner=pbt pbt.population=$((epochs / 9)) pbt.interval=1 pbt.max_resource=9
            pbt.winner=best) ;;
        *) echo "no tuner $tuner: random asha kde pbt" >&2 && exit 2 ;;
        esac
        start "$out/$tuner-$seed.h5" inputs/cifar10-convnet.ini run.data="$data" run.seed="$seed" \
            run.workers=5 "${options[@]}" "$@" || exit $?
    done
done
${PYTHON:-python3} analysis/trained.py "$out"/*.h5 -o "${TABLE:-analysis/trained.tsv}"
