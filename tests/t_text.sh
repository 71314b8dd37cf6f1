#!/bin/sh
# Labelled texts as people have them: what is read, what is told, and the one line that refuses
# the rest. Prints TAP.
. tests/tap.sh

# packed STATEMENT ARGUMENT...: of weft pack, which ends well.
packed()
{
    statement=$1
    shift
    "$weft" pack "$@" -o "$tmp/x.h5" --force >"$tmp/out" 2>"$tmp/log" &&
        "$weft" info "$tmp/x.h5" >"$tmp/out" 2>>"$tmp/log"
    result $? "$statement"
}

# classes "A B ..." STATEMENT: those are the classes of what was packed last.
classes()
{
    [ "$(sed -n '/^class /,/^all /s/^\(.*[^ ]\)  *[0-9][0-9]*  *[0-9][0-9]*  *[0-9][0-9]*$/\1/p' "$tmp/out" |
        sed '$d' | tr '\n' ' ')" = "$1 " ]
    result $? "$2"
}

# told PATTERN STATEMENT: one warning, which matches.
told()
{
    [ "$(grep -c "warning: $tmp" "$tmp/log")" = 1 ] && grep -Eq -e "warning: $tmp.*($1)" "$tmp/log"
    result $? "$2"
}

# silent STATEMENT: no warning.
silent()
{
    ! grep -q "warning: $tmp" "$tmp/log"
    result $? "$1"
}

# refused PATTERN STATEMENT ARGUMENT...: of weft pack, by one line.
refused()
{
    pattern=$1 statement=$2
    shift 2
    "$weft" pack "$@" -o "$tmp/r.h5" --force >"$tmp/out" 2>"$tmp/log"
    status=$?
    [ $status -gt 0 ] && [ $status -lt 100 ] && [ "$(grep -c '^weft: ' "$tmp/log")" = 1 ] &&
        grep -Eq -e "^weft: .*($pattern)" "$tmp/log"
    result $? "$statement"
}

# lines A B N: 2 N lines of texts, of the classes A and B in turn.
lines()
{
    awk -v a="$1" -v b="$2" -v n="$3" \
        'BEGIN { for (i = 0; i < n; i++) printf "%s\tpoor film %d\n%s\tgood play %d\n", a, i, b, i }'
}

# ---- files that are no text -------------------------------------------------------------

# kind BYTES PATTERN: for the readers of texts and of numbers.
kind()
{
    # shellcheck disable=SC2059
    printf "$1" >"$tmp/other"
    for reader in text dense; do
        refused "other is .*$2" "$reader is told what kind of file it gets: $2" \
            $reader "$tmp/other"
    done
}
kind '\037\213\010\010' 'gzip .*; unpack it by gunzip'
kind 'BZh91AY&SY\300' 'bzip2 .*; unpack it by bunzip2'
kind '\3757zXZ\000' 'xz .*; unpack it by unxz'
kind '\050\265\057\375' 'zstd .*; unpack it by unzstd'
kind 'PK\003\004\024' 'zip archive .*; unpack it'
kind '\211HDF\r\n\032\n' 'HDF5 .*; .* by run.data'
kind '\223NUMPY\001' 'NumPy .*; .*savetxt'
kind '\200\004\225' 'pickle .*; .*to_csv'
kind 'PAR1\025\004' 'Parquet .*; .*to_csv'
kind '\377\376a\000\t\000' 'UTF-16 .*; .*iconv'
lines 'BZh91' b 20 >"$tmp/word.tsv"
packed "but a text may begin as a compressed file does" text "$tmp/word.tsv"

printf 'a\tx\nb\000\ty\n' >"$tmp/nul.tsv"
refused 'nul.tsv: line 2 has a NUL byte in its label' "a NUL in a label is refused" text "$tmp/nul.tsv"
printf 'a\tx\nb\ty\000z\n' >"$tmp/nul.tsv"
refused 'nul.tsv:2: byte 1 is NUL' "so is one in a text" text "$tmp/nul.tsv" valid=0 test=0

# ---- classes as they are written ----------------------------------------------------------

lines 01 1 30 >"$tmp/c.tsv"
packed "01 and 1" text "$tmp/c.tsv"
classes "01 1" "are two classes"
told ": classes '01' and '1' are kept apart" "which is told"
lines 1E2 100 30 >"$tmp/c.tsv"
packed "1E2 and 100" text "$tmp/c.tsv"
told "classes '100' and '1E2' are kept apart" "are kept apart, too"
{ lines Pos pos 30 && lines 'po s' Neg 30; } >"$tmp/c.tsv"
packed "case and blanks" text "$tmp/c.tsv"
classes "Neg Pos po s pos" "make classes"
told "classes 'Pos' and 'po s' \(and 1 more\) are kept apart" "which is told once"
lines 1 2 30 >"$tmp/c.tsv"
packed "other names" text "$tmp/c.tsv"
silent "are no matter"

echo "1..$count"
