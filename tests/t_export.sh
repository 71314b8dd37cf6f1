#!/bin/bash
# Runs in other programs: as frames of pandas, and as studies, logs and experiments of Optuna,
# TensorBoard and MLflow, which read them back. Where these are not installed they come from pip, to
# a virtual environment outside of the checkout. Prints TAP.
. tests/tap.sh
export PYTHONDONTWRITEBYTECODE=1 WEFT="$weft"

needs="h5py, pandas, optuna, sklearn, tensorboard, mlflow"
find_python "$needs"
if [ -z "$python" ]; then
    venv=${XDG_CACHE_HOME:-$HOME/.cache}/weft/programs
    python=$venv/bin/python
    "$python" -c "import $needs" 2>"$tmp/log" || {
        python3 -m venv "$venv" && timeout 500 "$venv/bin/pip" install -q --retries 1 --timeout 20 h5py pandas \
            optuna scikit-learn tensorboard mlflow-skinny && "$python" -c "import $needs"
    } >"$tmp/log" 2>&1 || {
        echo "1..0 # SKIP no pandas, Optuna, TensorBoard and MLflow, and pip cannot install them: $(tail -n 1 "$tmp/log")"
        exit
    }
fi

cat >"$tmp/fed.ini" <<END
[run]
data = $tmp/clients.h5
task = fed
tuner = asha
mixing = fedex
[space]
configs = 12
[fed]
model = mlp
cohort = 8
[mlp]
hidden = 4
[client]
lr = log 0.01 .. 1
mu = 0 .. 1 when client.batch = 8
batch = 8 | 16
epochs = 1 .. 3
[fedex]
k = 3
[asha]
reduction = 2
max_resource = 4
END
cat >"$tmp/words.ini" <<END
[run]
data = $tmp/documents.h5
tuner = random
[space]
configs = 9
[fmap]
feature = ngram
model = logistic
[ngram]
bins = 1024
tokenizer = remove | split | treebank
binary = no | yes
order = 1 .. 3
alpha = log 1e-5 .. 100 when weights = nb
weights = nb | sif
END
cat >"$tmp/program.ini" <<END
[run]
task = command
tuner = asha
[space]
configs = 12
[command]
run = test \$PARAM_kind != c || exit 1; awk "BEGIN { print \"loss=\" \$PARAM_width + \$PARAM_size; print \"spread=\" \$WEFT_RESOURCE; print \"trial=99 seconds=-3 state=7\" }"
[asha]
reduction = 2
max_resource = 4
[parameters]
width = log 1e-3 .. 1
kind = a | b | c
size = 16 | 32
END
call pack synthetic federated=generated clients=40 classes=5 -o "$tmp/clients.h5" &&
    call pack synthetic documents rows=60 -o "$tmp/documents.h5"
for run in fed words program; do
    call tune "$tmp/$run.ini" -o "$tmp/$run.h5" || break
done
result $? "a federation, a map and a program are tuned"
WEFT_HOLD="job 14 of" "$weft" tune "$tmp/program.ini" -o "$tmp/held.h5" >"$tmp/out" 2>"$tmp/log" &
pid=$!
held $pid && kill -KILL $pid
wait $pid 2>/dev/null
[ -e "$tmp/held.d/journal" ] && "$python" tests/frames.py "$weft" "$tmp/fed.h5" "$tmp/words.h5" "$tmp/program.h5" \
    "$tmp/held.h5:" >"$tmp/out" 2>"$tmp/log"
result $? "weft.read gives every number of a run file, finished or not, in columns of its type"
mkdir -p "$tmp/copy/build/opt" && ln -s "$(realpath "$weft")" "$tmp/copy/build/opt/weft" &&
    ln -s "$PWD/python" "$tmp/copy/python" &&
    (unset WEFT && cd / && PYTHONPATH=$tmp/copy/python "$python" -B -c "import weft, sys; print(weft.read(sys.argv[1]).jobs)" \
        "$tmp/held.h5") >"$tmp/out" 2>"$tmp/log"
result $? "of one that is not finished from any directory, by the program beside the modules"

programs=$python
find_python h5py # export.py needs no more
export_to() # FORM RUN
{
    "${python:-$programs}" analysis/export.py "$tmp/$2.h5" --"$1" "$tmp/$2.$1" >"$tmp/out" 2>"$tmp/log"
}
for run in fed words program held; do
    export_to optuna $run && export_to tensorboard $run && export_to mlflow $run &&
        { [ $run != held ] || grep -q 'held.h5 is unfinished: ' "$tmp/log"; } &&
        "$programs" tests/exported.py "$weft" "$tmp/$run.h5" "$tmp/$run.optuna" "$tmp/$run.tensorboard" \
            "$tmp/$run.mlflow" >"$tmp/out" 2>"$tmp/log"
    result $? "Optuna, TensorBoard and MLflow read the trials of $run"
done
for form in tensorboard mlflow; do
    find "$tmp/words.$form" -type f -exec cksum {} + | sort >"$tmp/before"
    ! export_to $form words && [ "$(wc -l <"$tmp/log")" = 1 ] && grep -q 'another directory\|a new directory' "$tmp/log" &&
        find "$tmp/words.$form" -type f -exec cksum {} + | sort | diff - "$tmp/before" >"$tmp/out"
    result $? "$form: what is there is not written again"
done
"${python:-$programs}" analysis/export.py "$tmp/words.h5" --mlflow "$tmp/fed.mlflow" >"$tmp/out" 2>"$tmp/log" &&
    "$programs" tests/exported.py "$weft" "$tmp/words.h5" "$tmp/words.optuna" "$tmp/words.tensorboard" "$tmp/fed.mlflow" \
        >"$tmp/out" 2>"$tmp/log" &&
    [ "$(find "$tmp/fed.mlflow" -mindepth 1 -maxdepth 1 -name '[0-9]*' | wc -l)" = 2 ]
result $? "an experiment is added to a store"
! "${python:-$programs}" analysis/export.py "$tmp/clients.h5" --optuna "$tmp/no" >"$tmp/out" 2>"$tmp/log" &&
    [ "$(wc -l <"$tmp/log")" = 1 ] && grep -q 'not a run file' "$tmp/log"
result $? "a file that is no run is refused in one line"
check "nothing is written of it" [ ! -e "$tmp/no" ]
timeout "$net" "$programs" jobs/programs.py 1 3 1 2 >"$tmp/out" 2>"$tmp/log" &&
    [ "$(grep -Ec '^ +(weft|optuna), epochs +[1-9][0-9]* ' "$tmp/out")" = 4 ] &&
    [ "$(grep -Ec '^ +weft / optuna +[0-9.]+ ' "$tmp/out")" = 8 ]
result $? "a program of scikit-learn is tuned by one and two processes, and by Optuna beside it"
echo "1..$count"
