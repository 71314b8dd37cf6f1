# weft's samplers beside Optuna, hyperopt, HpBandSter, SMAC and MiP-EGO on functions whose least value is
# known: 100 trials, 20 seeds, 1 and 10 at a time; analysis/samplers.md is written from the table.
# Runs that the table has are not repeated, so that an interrupted job goes on; a version of weft
# with other samplers needs another TABLE. By the milliseconds in the table two hours of a core,
# of which SMAC has 90 minutes and weft 5. Environment:
#   PEERS      what tests/gold/venv.sh made; default V; empty: weft's part alone
#   PAIRS      which comparisons; default "tpe hyperopt forest kde", also mipego; gp, which is
#              "gp/optuna-gp gp/smac-gp gp/hebo gp/botorch", days of a core; curves, alone and with
#              a TABLE of its own: samplers under asha on learning curves, beside DEHB and Syne
#              Tune's MOBSTER, and their paired differences
#   WORKERS    trials at a time; default "1 10", with gp 1, with curves 4
#   FUNCTIONS  which of tests/functions.h; default those of the table; "more": the others, those of
#              tests/functions_more.h, for a TABLE and an OUTPUT of their own
#   SEEDS      how many; default 20
#   FIRST      the first one; default as in the table: 5000, with kde 6000 on all but branin
#   TABLE      default analysis/samplers.tsv; OUTPUT, default analysis/samplers.md
# usage: make build/opt/tests/b_regret; bash tests/gold/venv.sh V; bash jobs/samplers.sh
peers=${PEERS-V} table=${TABLE:-analysis/samplers.tsv} seeds=${SEEDS:-20}
regret=${REGRET:-build/opt/tests/b_regret}
[ -x "$regret" ] || { echo "no program $regret: make $regret" >&2 && exit 1; }
[ -z "$peers" ] || [ -d "$peers" ] || { echo "no $peers: bash tests/gold/venv.sh V, or PEERS= for weft alone" >&2 && exit 1; }
touch "$table" || exit 1

# own NAME OPTIONS WORKERS FUNCTION FIRST: weft's runs, those that are missing
own()
{
    local seed
    for ((seed = $5; seed < $5 + seeds; seed++)); do
        awk -F'\t' -v key="$1 $4 $3 $seed" '$1 " " $3 " " $4 " " $5 == key { found = 1 } END { exit !found }' "$table" ||
            FIRST=$seed SEEDS=1 "$regret" "$1" "$2" "$3" "$4" >>"$table" || exit $?
    done
}

# pair NAME OTHER OPTIONS "WORKERS" "FUNCTIONS"
pair()
{
    local workers function first python=$peers/bin/python
    [ ! -d "$peers/$2" ] || python=$peers/$2/bin/python
    for workers in ${WORKERS:-$4}; do
        for function in ${FUNCTIONS:-$5}; do
            first=5000
            [ "$2-$function" = bohb-branin ] || [ "$2" != bohb ] || first=6000
            first=${FIRST:-$first}
            own "$1" "$3" "$workers" "$function" "$first"
            [ -z "$peers" ] || FILE=$table "$python" tests/gold/samplers.py "$2" "$workers" "$function" \
                "$seeds" "$first" >>"$table" || exit $?
        done
    done
}

more="rastrigin6 griewank8 michalewicz5 camel6 goldprice schwefel4 sphere20 ridge6 cat6 int5 diverge4 tree3
steps5 corner5 heavy4 net6 arms16 forrester1"
[ "${FUNCTIONS:-}" != more ] || FUNCTIONS=$more
every="branin hartmann3 hartmann6 ackley5 rosenbrock4 text tree noisy mixed8 levy5 styblinski4"
gp=$'[run]\nsampler = gp'
for which in ${PAIRS:-tpe hyperopt forest kde}; do
    case $which in
    tpe) pair weft-tpe optuna $'[run]\nsampler = tpe' "1 10" "$every" ;;
    hyperopt) pair weft-hyperopt hyperopt $'[run]\nsampler = tpe\n[tpe]\nform = hyperopt' "1 10" "$every" ;;
    forest) pair weft-forest smac $'[run]\nsampler = forest' "1 10" "$every" ;;
    gp) for other in optuna-gp smac-gp hebo botorch; do pair weft-gp $other "$gp" 1 "$every"; done ;;
    gp/*) pair weft-gp "${which#gp/}" "$gp" 1 "$every" ;;
    mipego) pair weft-forest mipego $'[run]\nsampler = forest' "1 10" "branin hartmann3 rosenbrock4" ;;
    kde) pair weft-kde bohb $'[run]\nsampler = kde' "1 10" "$every" ;;
    curves)
        for function in ${FUNCTIONS:-mfh3 mfh6 power3 slow3}; do
            for sampler in space tpe kde forest gp mobster; do
                own "asha-$sampler" $'[run]\ntuner = asha\nsampler = '"$sampler" "${WORKERS:-4}" "$function" "${FIRST:-5000}"
            done
            for other in dehb mobster; do
                [ ! -d "$peers/$other" ] || FILE=$table "$peers/$other/bin/python" tests/gold/samplers.py "$other" \
                    "${WORKERS:-4}" "$function" "$seeds" "${FIRST:-5000}" >>"$table" || exit $?
            done
        done
        ;;
    *) echo "no comparison $which: tpe hyperopt forest kde gp mipego curves" >&2 && exit 2 ;;
    esac
done
[ "${PAIRS:-}" != curves ] || exec "${PYTHON:-python3}" analysis/samplers.py --curves "$table"
[ ! -s "$table" ] || [ -z "$peers" ] || ${PYTHON:-python3} analysis/samplers.py "$table" >"${OUTPUT:-analysis/samplers.md}"
