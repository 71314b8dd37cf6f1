#!/bin/bash
# Every inputs/*.ini runs to its end on the built-in data that it names ("stand-in:"; none
# where it needs none), reduced by the overrides of its lines "test:", once for each. The
# digests of losses, log-probabilities and weights equal those of tests/gold/arithmetic.tsv.
# To record intended changes: RECORD=NEW.tsv tests/run tests/t_inputs.sh. Prints TAP.
. tests/tap.sh
. tests/languages.sh
. tests/plays.sh

stand_in() # KIND, packed into $tmp/KIND.h5
{
    case $1 in
    plays) plays >"$tmp/plays.txt" && set -- plays shakespeare "$tmp/plays.txt" length=20 stride=5 ;;
    clients) set -- clients synthetic federated=generated clients=20 ;;
    owned) set -- owned synthetic documents rows=600 clients=20 partition=dirichlet ;;
    numbers)
        awk 'BEGIN {
            for (i = 0; i < 600; i++) {
                a = i * 37 % 600 / 600; b = i * i % 601 / 600
                printf "%.4f,%.4f,%d,%.4f\n", a, b, i % 4, 4 * a * (1 - a) + b * b + i % 4 / 8 + i * 13 % 17 / 100
            }
        }' >"$tmp/numbers.csv"
        set -- numbers dense "$tmp/numbers.csv" weight=3
        ;;
    sites)
        awk 'BEGIN {
            print "age,site,colour,sick"
            for (i = 0; i < 480; i++) {
                age = i * 37 % 61; s = i % 8
                print (i % 13 ? age : "") ",site " s "," (int(i / 7) % 3 ? "red" : "blue") "," ((age > 30) != s % 2 ? "yes" : "no")
            }
        }' >"$tmp/sites.csv"
        set -- sites dense "$tmp/sites.csv" client=site
        ;;
    languages)
        languages 300 >"$tmp/languages.tsv"
        set -- languages translations "$tmp/languages.tsv" directions=one-two,two-one,one-three,three-one joint=yes vocabulary=60
        ;;
    dealt) set -- dealt synthetic images rows=600 clients=20 ;;
    *) set -- "$1" synthetic "$1" rows=600 ;;
    esac
    name=$1 && shift
    call pack "$@" -o "$tmp/$name.h5"
}

for kind in $(sed -n 's/^; stand-in: *//p' inputs/*.ini | sort -u); do
    check "the stand-in $kind is packed" stand_in "$kind"
done
for ini in inputs/*.ini; do
    ! grep -q '^; tested by:' "$ini" || continue
    kind=$(sed -n 's/^; stand-in: *//p' "$ini")
    while read -r small; do
        rm -rf "$tmp"/run.*
        # shellcheck disable=SC2086
        timeout "$net" mpirun -n 2 "$weft" tune "$ini" ${kind:+run.data=$tmp/$kind.h5} $small \
            -o "$tmp/run.h5" >"$tmp/log" 2>&1 </dev/null
        result $? "$ini runs on ${kind:-no data}: $small"
        check "and is reported" call report "$tmp/run.h5"
        line=$(printf '%s\t%s\t%s' "$ini" "$small" "$(digest)")
        [ -z "${RECORD:-}" ] || echo "$line" >>"$RECORD"
        check "with the arithmetic that is recorded: $line" grep -qxF "$line" tests/gold/arithmetic.tsv
    done <<END
$(sed -n 's/^; test: *//p' "$ini")
END
done
echo "1..$count"
