#!/bin/bash
# The example schedule of src/README.md: compiled from there into a program with its line in
# the registry, tested against the contract of schedules, and run on 1 and 2 ranks. Prints
# TAP.
. tests/tap.sh

build=$(dirname "$weft")
flags=$(make -s print-ALL_CFLAGS 2>/dev/null)
libs="$(make -s print-ALL_LDFLAGS 2>/dev/null) $(make -s print-LIB_LIBS 2>/dev/null)"

sed -n '/^```c$/,/^```$/p' src/README.md | sed '/^```/d' >"$tmp/commit.c"
[ "$(grep -vcE '^ *$|^ *(/\*| \*)' "$tmp/commit.c")" -le 60 ]
result $? "the example has at most 60 lines of code"

cp -r include "$tmp/include"
sed -i 's/^#define WEFT_TUNERS(X).*/#define WEFT_TUNERS(X) X(commit) \\/' "$tmp/include/weft/registry.h"
grep -q 'X(commit) \\$' "$tmp/include/weft/registry.h" && grep -q 'X(random)' "$tmp/include/weft/registry.h"
result $? "the registry gets its name"

compile() # PROGRAM FILE...: with the example, its registry, and the library
{
    # shellcheck disable=SC2086
    mpicc -I"$tmp/include" -Itests $flags -Werror -o "$tmp/$1" "${@:2}" "$tmp/commit.c" \
        src/registry.c "$build/libweft.a" $libs >"$tmp/out" 2>"$tmp/log"
}
check "with the example it compiles without a warning" compile weft "$build/obj/cli/main.o"
cp tests/t_tuners.c "$tmp/tuners.c"
check "so does the test of the contract" compile tuners "$tmp/tuners.c"

"$tmp/weft" list commit >"$tmp/out" 2>"$tmp/log" && grep -q "of the best one" "$tmp/out"
result $? "its help is listed"
"$tmp/tuners" commit >"$tmp/out" 2>"$tmp/log"
[ "$(grep -c "^ok" "$tmp/out")" -ge 28 ] && ! grep -q "^not ok" "$tmp/out"
result $? "it keeps the contract"

weft=$tmp/weft
tune() # RANKS OPTION...
{
    rm -rf "$tmp"/r.*
    on "$1" tune inputs/flow.ini run.tuner=commit space.configs=20 commit.more=200 flow.p=10 -o "$tmp/r.h5" "${@:2}"
}
check "it searches" tune 1
whole=$(digest)
tune 2 run.teams=2
check "by two teams to the same digest ($whole)" has_digest "$whole"
echo "1..$count"
