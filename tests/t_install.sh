#!/bin/sh
# `make install` installs a working program, and a library that pkg-config finds; `make
# uninstall` removes everything. Prints TAP.
. tests/tap.sh
made() # TARGET VARIABLE=VALUE ...: by the make, and for the variant, of this test
{
    make "$@" >"$tmp/log" 2>&1
}
prefix=$tmp/weft

made install PREFIX="$prefix" DESTDIR=
result $? "it is installed"
"$prefix/bin/weft" --version >"$tmp/log" 2>&1 && grep -q '^weft [0-9]' "$tmp/log"
result $? "the program runs"
sed -n '/^```c$/,/^```$/p' include/weft/README.md | sed '/^```/d' >"$tmp/user.c"
export PKG_CONFIG_PATH="$prefix/lib/pkgconfig:$PKG_CONFIG_PATH"
# shellcheck disable=SC2046
mpicc -std=c11 $(make -s print-OPT) -o "$tmp/user" "$tmp/user.c" \
    $(pkg-config --cflags --libs weft) >"$tmp/log" 2>&1
result $? "a program is compiled with the flags of pkg-config, and linked"
(cd "$tmp" && "$tmp/user") >"$tmp/out" 2>"$tmp/log" &&
    "$prefix/bin/weft" report "$tmp/penalty.h5" 2>>"$tmp/log" | tee "$tmp/out" | grep -q 'winner .*lambda='
result $? "and runs a search of its own"
if python3 -c 'import numpy' 2>"$tmp/log"; then
    PYTHONPATH=$prefix/share/weft python3 -B -c 'import weft, weft_read; weft.read' >"$tmp/out" 2>"$tmp/log"
    result $? "Python finds its modules there"
fi
env -u WEFT PYTHONPATH="$prefix/share/weft" python3 -B -c 'if True:
    import weft, weft_search
    print(weft.minimize(lambda t: t.values["x"], {"x": (0.0, 1.0)}, trials=3).trial, weft_search.program())' \
    >"$tmp/out" 2>"$tmp/log" && grep -q "^[012] $prefix/bin/weft$" "$tmp/out"
result $? "a search from Python finds the program that was installed"
made uninstall PREFIX="$prefix" DESTDIR= && ! find "$prefix" ! -type d | tee -a "$tmp/log" | grep -q . &&
    [ ! -e "$prefix/include/weft" ]
result $? "uninstalled, it leaves nothing"

made install PREFIX=/opt/weft DESTDIR="$tmp/root" && [ -x "$tmp/root/opt/weft/bin/weft" ]
result $? "it is installed below another root"
grep -qx 'prefix=/opt/weft' "$tmp/root/opt/weft/lib/pkgconfig/weft.pc"
result $? "for the place that it will have"
made uninstall PREFIX=/opt/weft DESTDIR="$tmp/root" &&
    ! find "$tmp/root" ! -type d | tee -a "$tmp/log" | grep -q .
result $? "and taken away from there"
echo "1..$count"
