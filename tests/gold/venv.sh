# Makes the virtual environments with the programs that tests/gold/samplers.py runs beside weft, in
# the versions that analysis/samplers.md is from, and prints what is in them: DIR has Optuna,
# hyperopt and SMAC, DIR/bohb HpBandSter, DIR/mipego the package that followed MIP-EGO's own
# (2 GB, with PyTorch), since they need different versions of ConfigSpace, NumPy and scikit-learn;
# DIR/optuna-gp, DIR/hebo and DIR/botorch have PyTorch, 3 GB each; DIR/dehb DEHB, DIR/mobster Syne Tune.
# usage: [PYTHON=python3] bash tests/gold/venv.sh DIR [all | main | bohb | mipego | optuna-gp | hebo |
#     botorch | dehb | mobster ...]
# default main bohb. hpbandster is built with setuptools, SMAC's forest with swig.
set -e
dir=${1:?usage: bash tests/gold/venv.sh DIR [all | main | bohb | mipego | optuna-gp | dehb | mobster ...]}
shift
[ $# -gt 0 ] || set -- main bohb
[ "$*" != all ] || set -- main bohb mipego optuna-gp hebo botorch dehb mobster

make() # DIR PACKAGE ...
{
    "${PYTHON:-python3}" -m venv "$1"
    "$1/bin/pip" install -q "setuptools<81" wheel
    "$1/bin/pip" install -q "${@:2}"
}

for which; do
    case $which in
    main)
        make "$dir" swig numpy scipy
        "$dir/bin/pip" install -q optuna==5.0.0 hyperopt==0.3.0 smac==2.4.1
        ;;
    bohb)
        make "$dir/bohb" numpy==1.26.4 scipy statsmodels ConfigSpace==0.7.1
        "$dir/bohb/bin/pip" install -q --no-build-isolation hpbandster==0.7.4
        ;;
    mipego) make "$dir/mipego" bayes-optim==0.3.0 pyDOE==0.3.8 scikit-learn==1.3.2 numpy==1.26.4 scipy==1.11.4 ;;
    dehb) make "$dir/dehb" dehb==0.1.2 ;;
    mobster) # the last version that has it; it is enough without what only its services need
        make "$dir/mobster" "numpy<2" scipy pandas autograd dill tqdm pyyaml typing_extensions sortedcontainers ujson
        "$dir/mobster/bin/pip" install -q --no-deps syne-tune==0.13.0
        ;;
    optuna-gp) make "$dir/optuna-gp" optuna==5.0.0 torch==2.15.0 numpy scipy ;;
    hebo) make "$dir/hebo" hebo==0.3.6 ;;
    botorch) make "$dir/botorch" botorch==0.18.1 ;;
    *) echo "no environment $which: all main bohb mipego optuna-gp hebo botorch dehb mobster" >&2 && exit 2 ;;
    esac
done
for python in "$dir"/bin/python "$dir"/*/bin/python; do
    [ ! -x "$python" ] || { echo "# $python" && "$python" -m pip freeze; }
done
