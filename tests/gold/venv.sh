# Makes a virtual environment with the programs that tests/gold/samplers.py runs beside weft, in
# the versions that analysis/samplers.md is from, and prints what is in it.
# usage: [PYTHON=python3] bash tests/gold/venv.sh DIR [PACKAGE ...]
# PACKAGE: others in place of these. hpbandster is built with setuptools, SMAC's forest with swig.
set -e
dir=${1:?usage: bash tests/gold/venv.sh DIR [PACKAGE ...]}
shift
[ $# -gt 0 ] || set -- optuna==5.0.0 hyperopt==0.3.0 hpbandster==0.7.4 statsmodels smac==2.4.1
"${PYTHON:-python3}" -m venv "$dir"
"$dir/bin/pip" install -q "setuptools<81" wheel swig numpy scipy
"$dir/bin/pip" install -q "$@"
"$dir/bin/pip" freeze
