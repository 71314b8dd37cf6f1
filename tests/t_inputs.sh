#!/bin/sh
# Every inputs/*.ini runs to its end on the built-in data that it names ("stand-in:"), made
# small by the overrides of its line "test:". Prints TAP.
weft=${WEFT:-build/opt/weft}
tmp=$(mktemp -d) && trap 'rm -rf "$tmp"' EXIT
count=0
check() # STATUS STATEMENT
{
    count=$((count + 1))
    if [ "$1" = 0 ]; then echo "ok $count - $2"; else
        echo "not ok $count - $2"
        sed 's/^/# /' "$tmp/log"
    fi
}

for kind in images documents; do
    "$weft" pack synthetic $kind -o "$tmp/$kind.h5" rows=600 >"$tmp/log" 2>&1
    check $? "the built-in $kind are packed"
done
for ini in inputs/*.ini; do
    kind=$(sed -n 's/^; stand-in: *//p' "$ini")
    small=$(sed -n 's/^; test: *//p' "$ini")
    # shellcheck disable=SC2086
    timeout 120 mpirun -n 2 "$weft" tune "$ini" run.data="$tmp/$kind.h5" $small \
        -o "$tmp/run.h5" --force >"$tmp/log" 2>&1
    check $? "$ini runs on $kind"
    "$weft" report "$tmp/run.h5" >"$tmp/log" 2>&1
    check $? "$ini is reported"
done
echo "1..$count"
