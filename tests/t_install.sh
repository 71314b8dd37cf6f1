#!/bin/bash
# `make install` installs a working program, a library that pkg-config finds, a modulefile and a bill of materials;
# `make uninstall` removes everything. Prints TAP.
. tests/tap.sh
made() # TARGET VARIABLE=VALUE ...: by the make, and for the variant, of this test
{
    make "$@" >"$tmp/log" 2>&1
}
prefix=$tmp/weft

check "it is installed" made install PREFIX="$prefix" DESTDIR=
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
version=$(make -s print-VERSION)
if command -v tclsh >"$tmp/log"; then
    # The commands of a modulefile, as Environment Modules and Lmod have them, of which only loading does something here.
    printf '%s\n' 'foreach name {module-whatis conflict} { proc $name args {} }' \
        'proc prepend-path {name path} { puts "export $name=$path:\$$name" }' "source $prefix/share/modulefiles/weft/$version" \
        >"$tmp/load.tcl"
    tclsh "$tmp/load.tcl" >"$tmp/out" 2>"$tmp/log" && head -1 "$prefix/share/modulefiles/weft/$version" | grep -q '^#%Module' &&
        (cd "$tmp" && eval "$(cat "$tmp/out")" && [ "$(command -v weft)" = "$prefix/bin/weft" ] && pkg-config --exists "weft = $version" &&
            [ "$(python3 -B -c 'import weft; print(weft.__file__)')" = "$prefix/share/weft/weft.py" ]) 2>>"$tmp/log"
    result $? "the modulefile finds program, modules and library"
fi
blas=$(pkg-config --modversion openblas)
python3 - "$prefix/share/weft/weft.cdx.json" "$version" "$blas" >"$tmp/out" 2>"$tmp/log" <<'END'
import json, sys
bill = json.load(open(sys.argv[1]))
here = {c["name"]: c for c in bill["components"]}
assert bill["bomFormat"] == "CycloneDX" and bill["metadata"]["component"]["version"] == sys.argv[2]
assert here["openblas"]["version"] == sys.argv[3] and here["libcsv"]["version"][0] == "3", here
assert all(c["licenses"][0]["license"]["id"] for c in here.values())
assert {"scalapack", "hdf5", "inih", "utf8proc", "xxhash", "yajl", "zlib", "random123"} < set(here), here
assert {"openmpi", "mpich"} & set(here), here
END
result $? "the bill of materials has versions and licences of all libraries"
made uninstall PREFIX="$prefix" DESTDIR= && ! find "$prefix" ! -type d | tee -a "$tmp/log" | grep -q . &&
    [ ! -e "$prefix/include/weft" ]
result $? "uninstalled, it leaves nothing"

made install PREFIX=/opt/weft DESTDIR="$tmp/root" && [ -x "$tmp/root/opt/weft/bin/weft" ]
result $? "it is installed below another root"
check "for the place that it will have" grep -qx 'prefix=/opt/weft' "$tmp/root/opt/weft/lib/pkgconfig/weft.pc"
made uninstall PREFIX=/opt/weft DESTDIR="$tmp/root" &&
    ! find "$tmp/root" ! -type d | tee -a "$tmp/log" | grep -q .
result $? "and taken away from there"
echo "1..$count"
