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
cat >"$tmp/user.c" <<END
#include <stdio.h>
#include <weft/par.h>
#include <weft/registry.h>
#include <weft/tune.h>

int main(int argc, char **argv)
{
    weft_team world;
    if (weft_par_start(&argc, &argv, &world) != WEFT_OK) return 1;
    if (world.rank == 0) printf("%s %d\n", weft_tuners[0]->kind.name, (int)sizeof(real));
    weft_par_end(&world);
    return 0;
}
END
export PKG_CONFIG_PATH="$prefix/lib/pkgconfig:$PKG_CONFIG_PATH"
# shellcheck disable=SC2046
mpicc -std=c11 $(make -s print-OPT) -o "$tmp/user" "$tmp/user.c" \
    $(pkg-config --cflags --libs weft) >"$tmp/log" 2>&1
result $? "a program is compiled with the flags of pkg-config, and linked"
"$tmp/user" >"$tmp/out" 2>"$tmp/log" &&
    grep -q "^random $([ "$(make -s print-REAL)" = double ] && echo 8 || echo 4)\$" "$tmp/out"
result $? "and runs"
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
