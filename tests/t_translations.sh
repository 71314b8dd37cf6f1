#!/bin/bash
# Sentences in several languages on the command line: what is printed, once more by h5py; what
# becomes of other forms of the file, and of tasks that are given it. Prints TAP.
. tests/tap.sh
find_python h5py

packs() # NAME SOURCE [key=value ...]
{
    rm -f "$tmp/$1.h5"
    call pack translations "$2" -o "$tmp/$1.h5" "${@:3}"
}
same() # A B: digests
{
    [ -n "$(digest_of "$1")" ] && [ "$(digest_of "$1")" = "$(digest_of "$2")" ]
}
digest_of() # NAME
{
    "$weft" info "$tmp/$1.h5" 2>>"$tmp/log" | sed -n 's/^digest *//p'
}

# Five languages, with gaps, of sentences that mean nothing.
python3 - >"$tmp/all.tsv" <<'END'
import sys

sys.path.insert(0, "tests/gold")
from phrases import WORDS, sentences

languages = list(WORDS)
print("program", *languages, sep="\t")
columns = [sentences(language, 500) for language in languages]
for i, row in enumerate(zip(*columns)):
    print(f"p{i % 4}", *("" if (i + c) % (c + 3) == 1 else text for c, text in enumerate(row)), sep="\t")
END
options="drop=program valid=0.2 test=0.2 vocabulary=300"
# shellcheck disable=SC2086
check "five languages are packed" packs all "$tmp/all.tsv" $options
cp "$tmp/out" "$tmp/told"
[ "$(grep -c '^..-.. ' "$tmp/told")" = 20 ] && grep -q '^language  *train ' "$tmp/told" &&
    grep -q 'all.h5: 5 languages, 20 directions, packed' "$tmp/log"
result $? "what they have is printed: twenty directions"
call info "$tmp/all.h5" && grep -Fxv -f "$tmp/told" "$tmp/out" >"$tmp/more"
[ "$(grep -Fxc -f "$tmp/told" "$tmp/out")" = "$(wc -l <"$tmp/told")" ]
result $? "info prints the same"
check "it says where that is from" grep -q '^reader  *translations' "$tmp/more"

# shellcheck disable=SC2086
check "they are packed again" packs again "$tmp/all.tsv" $options
check "with the same digest" same all again
gzip -k "$tmp/all.tsv"
# shellcheck disable=SC2086
check "they are packed from a file compressed by gzip" packs gz "$tmp/all.tsv.gz" $options
check "with the same digest, too" same all gz
sed 's/\t*$//' "$tmp/all.tsv" >"$tmp/bare.tsv" && sed -i 's/$/\r/' "$tmp/bare.tsv"
# shellcheck disable=SC2086
packs bare "$tmp/bare.tsv" $options
result $? "they are packed from lines of another system, without the TABs at their ends"
check "with the same digest, too" same all bare
# shellcheck disable=SC2086
check "they are packed by another seed" packs seed "$tmp/all.tsv" $options seed=1
! same all seed
result $? "which makes other parts"
# shellcheck disable=SC2086
packs whole "$tmp/all.tsv" $options && cp "$tmp/out" "$tmp/whole" && packs half "$tmp/all.tsv" $options train=0.5 &&
    echo "$(grep '^lines' "$tmp/whole" "$tmp/out" -h)" | awk '{ train[NR] = $2; held[NR] = $4 " " $6 }
        END { exit !(train[2] > 0.4 * train[1] && train[2] < 0.6 * train[1] && held[1] == held[2]) }'
result $? "a share of the training lines leaves the other parts as they are"
# shellcheck disable=SC2086
packs few "$tmp/all.tsv" $options "directions=de-*,*-de" languages=de,vi,th joint=yes longest=30 &&
    [ "$(sed -n 's/^\(..-..\) .*/\1/p' "$tmp/out" | tr '\n' ' ')" = "de-vi de-th vi-de th-de " ]
result $? "directions by a star are packed with one vocabulary"
grep -q 'training sentences in th have more than longest = 30 pieces and are left out' "$tmp/log"
result $? "long sentences that are left out are told"
# shellcheck disable=SC2086
packs unasked "$tmp/all.tsv" ${options#drop=program} "directions=de-*,*-de" languages=de,vi,th joint=yes longest=30
result $? "a column that is no language, nor asked for, needs no drop"
check "with the digest of those without it" same few unasked
packs large "$tmp/all.tsv" drop=program valid=0.2 vocabulary=100000 &&
    grep -q 'vocabulary de has [0-9]* pieces, not 100000: no other pair occurs twice' "$tmp/log"
result $? "a vocabulary that cannot be so large is told"
if [ -n "$python" ]; then
    "$python" tests/info.py "$weft" "$tmp/all.h5" "$tmp/few.h5" "$tmp/seed.h5" >"$tmp/out" 2>"$tmp/log"
    result $? "every number that info prints is h5py's"
fi

printf '[run]\ndata = %s\ntask = sgd\ntuner = random\n[sgd]\nmodel = lstm\n' "$tmp/all.h5" >"$tmp/run.ini"
on 2 tune "$tmp/run.ini" -o "$tmp/run.h5"
[ $? = 2 ] && [ "$(grep -c 'all.h5: sgd.model = lstm reads text, .* several languages; use sgd.model = seq2seq' "$tmp/log")" = 1 ]
result $? "a task refuses them by one line, on all ranks"
! packs none "$tmp/all.tsv" vocabulary=4k && grep -q 'vocabulary = 4k, but 5 to 1000000 pieces are expected, or a file' "$tmp/log"
result $? "a vocabulary that is neither a number nor a file"
call pack translations "$tmp/all.tsv" -o "$tmp/all.tsv" drop=program
[ $? = 3 ] && [ "$(wc -l <"$tmp/all.tsv")" = 501 ]
result $? "the source is not replaced"

if [ -f "${WEFT_DATA:-/nowhere}/translations/translations.tsv" ]; then
    packs real "$WEFT_DATA/translations/translations.tsv" drop=source longest=0
    [ "$(awk '/^language/ { on = 1; next } /^direction/ { on = 0 } on { print $1, $2 + $3 + $4 }' "$tmp/out" | tr '\n' ' ')" = \
        "en 39373 de 36190 fr 37779 cs 26883 nl 31673 it 30030 ro 19660 vi 22754 th 10421 " ]
    result $? "39,373 strings of programs in eight other languages"
fi
echo "1..$count"
