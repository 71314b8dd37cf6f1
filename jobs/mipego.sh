# MiP-EGO (forest) beside tpe and random search, on Kim's network over the sentences of
# rt-polarity: the 15 axes of Hader's thesis and the rate, 40 trials, five at a time, the
# development part of one fold as objective. Then each winner, and Kim's configuration, on all
# ten folds. Then the same samplers with 1, 5 and 20 workers and 20 seeds on the table of all
# configurations that the searches trained, without training. Complete runs are skipped and
# interrupted ones resumed. Then the tables and the figure.
# usage: [SEEDS="1 2 3"] [REPLAYS=20] [SAMPLERS="forest tpe space"] [VECTORS=FILE] [OUTPUT=DIR]
#        [TABLES=DIR] [LAUNCH="mpirun -n 2"] bash jobs/mipego.sh data/mr.h5 [section.key=value ...]
# data/mr.h5: weft pack folder rt-polaritydata documents=lines test=0; VECTORS: make vectors, drawn
# ones if it is empty. REPLAYS: seeds on the table, 0: none. TABLES: where tables and figure go.
. jobs/start.sh
data=${1:?usage: bash jobs/mipego.sh data/mr.h5} out=${OUTPUT:-outputs/mipego} tables=${TABLES:-analysis}
shift
common=(run.data="$data" sgd.vectors="${VECTORS-data/vectors.vec}" run.test=no)
samplers=${SAMPLERS:-forest tpe space}
kim="txtcnn.channels=nonstatic txtcnn.activation=relu txtcnn.f1=100 txtcnn.k1=3 txtcnn.f2=100 txtcnn.k2=4
    txtcnn.f3=100 txtcnn.k3=5 txtcnn.bias=yes txtcnn.hidden=0 txtcnn.drop_input=0 txtcnn.drop_pooled=0.5
    txtcnn.drop_hidden=0 txtcnn.max_norm=3 train.optimizer=adadelta train.lr=1 train.balance=no"

# folds NAME SEED "section.key=value ..." ARGUMENT ...: one configuration on all folds; arguments
# that it decides have no effect
folds()
{
    local arg rest=()
    # shellcheck disable=SC2206 # settings are words
    local own=(run.sampler=space space.configs=1 sgd.fold=-1 $3)
    for arg in "${@:4}"; do
        case " ${own[*]}" in *" ${arg%%=*}="*) ;; *) rest+=("$arg") ;; esac
    done
    start "$out/folds/$1-$2.h5" inputs/mr-forest.ini "${common[@]}" run.seed="$2" "${own[@]}" "${rest[@]}" ||
        exit $?
}

# The winner of a run as settings; an option that its network does not have is 0.
winner() # RUN.h5
{
    "$weft" report "$1" | sed -n 's/^winner .*configuration [0-9]*: //p' | sed 's/=-\( \|$\)/=0\1/g'
}

# replay SAMPLER WORKERS SEED
replay()
{
    local design=()
    [ "$1" != forest ] || design=(forest.design=5 forest.scale=linear)
    start "$out/replays/$1-$2-$3.h5" inputs/replay.ini replay.table="$tables/mipego.tsv" replay.time=epochs \
        replay.test=fold_error replay.row=0 run.tuner=random random.resource=1 run.sampler="$1" run.workers="$2" \
        run.seed="$3" space.source=random space.configs=40 "${design[@]}" \
        columns.channels='static | nonstatic | multi' columns.activation='elu | relu | tanh | sigmoid | selu' \
        columns.f1='1 .. 100' columns.k1='1 .. 15' columns.f2='1 .. 100' columns.k2='1 .. 15' \
        columns.f3='1 .. 100' columns.k3='1 .. 15' columns.bias='false | true' columns.hidden='0 .. 100' \
        columns.drop_input='0 .. 0.95' columns.drop_pooled='0 .. 0.95' \
        columns.drop_hidden='0 .. 0.95 when columns.hidden = 1 .. 100' columns.optimizer='adam | adadelta' \
        columns.lr='log 0.001 .. 1' columns.balance='false | true' || exit $?
}

for seed in ${SEEDS:-1 2 3}; do
    for sampler in $samplers; do
        start "$out/$sampler-$seed.h5" inputs/mr-forest.ini "${common[@]}" run.seed="$seed" run.sampler="$sampler" \
            "$@" || exit $?
    done
done
for seed in ${SEEDS:-1 2 3}; do
    folds kim "$seed" "$kim" "$@"
    for sampler in $samplers; do
        folds "$sampler" "$seed" "$(winner "$out/$sampler-$seed.h5")" "$@"
    done
done
${PYTHON:-python3} analysis/mipego.py "$out" -d "$tables" || exit $?
for seed in $(seq 1 "${REPLAYS:-20}"); do
    for sampler in $samplers; do
        for workers in 1 5 20; do replay "$sampler" "$workers" "$seed"; done
    done
done
[ "${REPLAYS:-20}" = 0 ] || ${PYTHON:-python3} analysis/mipego.py "$out" -d "$tables"
