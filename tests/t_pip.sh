#!/bin/bash
# `pip install .` without a network: the command and the modules in a virtual environment. Prints TAP.
. tests/tap.sh
unset PYTHONPATH PIP_TARGET
python=
for try in python3 /usr/bin/python3; do
    "$try" -m venv "$tmp/venv" >"$tmp/log" 2>&1 && python=$tmp/venv/bin/python && break
done
if [ -z "$python" ]; then
    echo "1..0 # SKIP no Python here makes virtual environments" && exit
fi
install() # ARGUMENT ...
{
    "$python" -m pip --disable-pip-version-check --no-cache-dir install --no-index "$@" . >"$tmp/out" 2>"$tmp/log"
}
# Prints the modules' program and the number of a trial that it ran; of no other weft.
search()
{
    (cd "$tmp" && env -u WEFT PATH=/usr/bin:/bin "$@" "$python" -B -c 'if True:
        import weft, weft_search
        print(weft_search.program(), weft.minimize(lambda t: t.values["x"], {"x": (0.0, 1.0)}, trials=3).trial)') \
        >"$tmp/out" 2>"$tmp/log"
}

! MPICC=no-mpicc install && grep -q '^ *weft: missing: no-mpicc.*make deps' "$tmp/log" && ! grep -q Traceback "$tmp/log"
result $? "what is missing is a line with the remedy"
install -C REAL=neither
[ $? != 0 ] && grep -q 'REAL=neither: must be' "$tmp/log"
result $? "settings of the Makefile reach it, and its refusals are shown"
check "it is installed" install --no-compile
[ "$("$tmp/venv/bin/weft" --version 2>"$tmp/log" | head -1)" = "weft $(make -s print-VERSION)" ] &&
    "$python" -m pip list --format=freeze 2>>"$tmp/log" | tee "$tmp/out" | grep -qx "weft==$(make -s print-VERSION)"
result $? "the command is there, of the version that pip shows"
search && grep -q "^$tmp/venv/bin/weft [012]$" "$tmp/out"
result $? "weft.minimize runs the program of its own environment"
[ -f "$tmp/venv/share/man/man1/weft.1" ] && "$python" -m json.tool "$tmp/venv/share/weft/weft.cdx.json" >"$tmp/out" 2>"$tmp/log"
result $? "the manual and the bill of materials are there"
"$python" -m pip uninstall -y weft >"$tmp/out" 2>"$tmp/log" &&
    ! find "$tmp/venv" -name '*weft*' ! -type d | tee -a "$tmp/log" | grep -q .
result $? "uninstalled, it leaves nothing"
echo "1..$count"
