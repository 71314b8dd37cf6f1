#!/bin/bash
# The archive of `make dist` builds without git and runs; the version is the same in all
# files that state it. Prints TAP.
. tests/tap.sh
version=$(make -s print-VERSION)

grep -qx "version: $version" CITATION.cff && [ -f "jobs/packages/weft-$version-foss-2025a.eb" ] &&
    grep -qx "version = '$version'" "jobs/packages/weft-$version-foss-2025a.eb" &&
    grep -q "weft-$version.tar.gz" jobs/packages/weft.def &&
    grep -q "Version $version\$" jobs/packages/weft.def &&
    grep -qx "    version(\"$version\")" jobs/packages/spack/packages/weft/package.py &&
    grep -qx "  version: \"$version\"" jobs/packages/recipe.yaml &&
    grep -q "build/weft-$version.tar.gz" jobs/packages/guix.scm && grep -qx "  (version \"$version\")" jobs/packages/guix.scm
result $? "citation, container and packages have the version of the Makefile"
: >"$tmp/log"
make -n deps 2>&1 | tr 'A-Z' 'a-z' >"$tmp/deps"
for package in $(sed -n 's/^    depends_on("\([a-z0-9]*\)[a-z0-9+-]*").*/\1/p' jobs/packages/spack/packages/weft/package.py); do
    # MPI, what gives a compiler, and another name for zlib are no libraries of that name.
    case $package in mpi | zlib) continue ;; esac
    grep -q "$package" "$tmp/deps" || echo "not in make deps: $package" >>"$tmp/log"
done
check "the recipe for Spack and make deps name the same libraries" [ ! -s "$tmp/log" ]

if ! git rev-parse --git-dir >/dev/null 2>&1; then
    for what in "a tarball is made" "the same bytes" "with a bill" "for pip, too" "it builds without git" "no tarball" "and runs"; do
        echo "ok $((count += 1)) - $what # SKIP this is no checkout of git"
    done
    echo "1..$count" && exit
fi
make dist BUILD="$tmp" >"$tmp/out" 2>"$tmp/log" && tar -xzf "$tmp/weft-$version.tar.gz" -C "$tmp" &&
    [ -d "$tmp/weft-$version/jobs/packages" ] && [ ! -e "$tmp/weft-$version/.git" ]
result $? "a tarball is made"
mkdir "$tmp/again" && (umask 077 && TZ=Asia/Tokyo make dist BUILD="$tmp/again") >"$tmp/out" 2>"$tmp/log" &&
    cmp "$tmp/weft-$version.tar.gz" "$tmp/again/weft-$version.tar.gz" >"$tmp/log" 2>&1
result $? "made again elsewhere, it is the same bytes"
grep -q '"name": "openblas", "licenses": .."license": ."id": "BSD-3-Clause"' "$tmp/weft-$version/weft.cdx.json" &&
    ! jobs/packages/sbom.sh 1 unheard >"$tmp/out" 2>"$tmp/log" && grep -q 'licence of unheard' "$tmp/log"
result $? "with a bill of materials, which needs a licence for each library"
PYTHONPATH=jobs/packages python3 -B -c 'import sys, weft_wheel; print(weft_wheel.build_sdist(sys.argv[1]))' "$tmp/again" \
    >"$tmp/out" 2>"$tmp/log" && tar -xzf "$tmp/again/weft-$version.tar.gz" -C "$tmp/again" &&
    grep -qx "Version: $version" "$tmp/again/weft-$version/PKG-INFO" && rm "$tmp/again/weft-$version/PKG-INFO" &&
    diff -r "$tmp/weft-$version" "$tmp/again/weft-$version" >"$tmp/log" 2>&1
result $? "for pip it is the same and a description"
mkdir "$tmp/bin" && printf '#!/bin/sh\nexit 1\n' >"$tmp/bin/git" && chmod +x "$tmp/bin/git"
# What is built from the same files is not built again: but from a file that is missing or differs.
variant=$(basename "$(dirname "$weft")")
built=$tmp/weft-$version/build/$variant
mkdir -p "$built" && git diff --quiet HEAD -- Makefile src include && cp -R "$(dirname "$weft")/obj" "$(dirname "$weft")/flags" "$built"
PATH=$tmp/bin:$PATH make -C "$tmp/weft-$version" -j2 VARIANT="${variant%-double}" BUILD=build all >"$tmp/out" 2>"$tmp/log"
result $? "it builds without git"
! PATH=$tmp/bin:$PATH make -C "$tmp/weft-$version" dist >"$tmp/out" 2>"$tmp/log" && grep -q '^make dist .* none here$' "$tmp/log"
result $? "and makes no tarball of its own"
(cd "$tmp/weft-$version" && "$built/weft" pack synthetic documents rows=200 -o d.h5 &&
    "$built/weft" tune inputs/demo.ini run.data=d.h5 space.configs=2 -o r.h5) >"$tmp/out" 2>"$tmp/log" &&
    grep -q '^digest' "$tmp/out"
result $? "and runs"
echo "1..$count"
