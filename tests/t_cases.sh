#!/bin/bash
# Files of the kinds that people have (cases.py writes them) are read as their author meant them, or
# refused by one line that says where and what to do. Prints TAP.
. tests/tap.sh
export PYTHONDONTWRITEBYTECODE=1

need_python json
"$python" tests/cases.py "$tmp" || exit

# pack READER FILE OPTION...
pack()
{
    call pack "$1" "$tmp/$2" -o "$tmp/d.h5" --force "${@:3}"
}

# tune KEY=VALUE...: a search on what was packed, the winner tested.
tune()
{
    "$weft" tune "$tmp/maps.ini" -o "$tmp/r.h5" --force "$@" >"$tmp/out" 2>>"$tmp/log"
}
cat >"$tmp/maps.ini" <<END
[run]
data = $tmp/d.h5
task = fmap
tuner = random
[fmap]
model = logistic
[logistic]
C = 100
[space]
configs = 4
END

rff="fmap.feature=rff rff.features=200 rff.preprocess=standard rff.gamma=0.1|0.3|1|3"

# knows READER FILE [OPTION...]: packed, and a search tells the classes apart.
knows()
{
    case $1 in
    dense) kind=$rff ;;
    text) kind="fmap.feature=ngram ngram.bins=4096 ngram.order=1|2 ngram.lower=true|false" ;;
    esac
    pack "$@" && tune $kind && grep -Eq '^test .* error 0.000 %' "$tmp/out"
    result $? "$1 reads $2 ${*:3}"
}

# predicts FILE [OPTION...]: a table whose label is taken for numbers, which the log says.
predicts()
{
    pack dense "$@" && grep -q 'numbers are not whole: they are predicted as such' "$tmp/log" &&
        grep -q ' rows, 1 target, packed' "$tmp/log"
    result $? "dense predicts the numbers of $*"
}

# warns READER FILE PATTERN [OPTION...]: read, with a warning that has the pattern.
warns()
{
    pack "$1" "$2" "${@:4}" && grep -Eq "warning: .*$3" "$tmp/log"
    result $? "$1 warns of $2 ${*:4}"
}

# refuses_file READER FILE PATTERN [OPTION...]: by one line that has the pattern.
refuses_file()
{
    rm -f "$tmp/d.h5"
    pack "$1" "$2" "${@:4}"
    [ $? -ge 2 ] && [ "$(grep -c '^weft' "$tmp/log")" = 1 ] && grep -Eq "^weft: .*$3" "$tmp/log"
    result $? "$1 refuses $2 ${*:4}"
    check "$1 writes nothing of $2" [ ! -e "$tmp/d.h5" ]
}

# ---- tables -------------------------------------------------------------------------------

for file in plain cr crlf blank spaces newline constant pipe sep trailing; do
    knows dense $file.csv label=y
done
for file in unix ids stamps; do # numbers that floats of 32 bits would make equal
    knows dense $file.csv label=y
done
knows dense comment.csv label=y comment='#'
knows dense decimal.csv label=y decimal=comma
knows dense thousands.csv label=y thousands=comma
knows dense blanks.csv label=y
for file in minus brackets swiss rownames; do
    knows dense $file.csv label=y
done
knows dense french.csv label=y decimal=comma
knows dense hole.csv label=first
knows dense namibia.csv label=y unlabelled=class
refuses_file dense namibia.csv "40 rows are left out, of 'NA'.*unlabelled = class" label=y
knows dense fortran.csv label=y
refuses_file dense comment.csv "line 1 begins with '#'; comment = #" label=y
refuses_file dense decimal.csv "line 2, column 1, 'a', is '-1,[0-9]*'.*decimal = comma" label=y
refuses_file dense thousands.csv "line 2, column 1, 'a', is '1,[0-9.]*'.*thousands = comma" label=y
for file in qmark missing na null nan; do
    knows dense $file.csv label=y
    refuses_file dense $file.csv "line 43, column 2, 'b', is .*; missing = median fills it in" label=y missing=refuse
done
refuses_file dense text.csv "line 43, column 2, 'b', is 'red'" label=y
for file in day huge inf; do
    refuses_file dense $file.csv "line 43, column 2, 'b', is .*; .*(drop|mend)" label=y
done
knows dense inf.csv label=y gaps=inf
refuses_file dense phones.csv "line 2, column 2, 'b', is .*; .*drop = " label=y
refuses_file dense slashes.csv "line 2 has a quotation mark out of place; double one" label=y
knows dense nolabel.csv label=y
refuses_file dense nolabel.csv "line 43, column 3, 'y', has no label" label=y unlabelled=refuse
refuses_file dense ragged.csv "line 43 has 5 columns where 3" label=y
refuses_file dense utf16.csv "UTF-16.*iconv" label=y
refuses_file dense utf32.csv "UTF-32.*iconv" label=y
refuses_file dense lfs.csv "Git LFS.*git lfs pull" label=y
refuses_file dense page.csv "HTML.*fetch" label=y
refuses_file dense lines.csv "JSON.*to_csv" label=y
while read -r name kind text; do
    printf '\n  %s\n1,2\n' "$text" >"$tmp/$name"
    refuses_file dense "$name" "$kind where a table" label=y
done <<'END'
doctype HTML <!doctype html>
body HTML <html><body>
feed XML <?xml version="1.0"?>
object JSON {"a": 1}
objects JSON [{"a": 1}]
rows JSON [[1, 2], [3, 4]]
weka ARFF @RELATION iris
END
refuses_file dense twice.csv "columns 1 and 3 are both named 'y'" label=y
predicts continuous.csv label=y
refuses_file dense nul.csv "line 43.*NUL" label=y
refuses_file dense news.csv "weft pack text"
warns dense codes.csv "'01'" label=y
warns dense percent.csv "'a' has 79 numbers with % and 1 without" label=y
knows dense numbered.csv label=2

# (0 + 2) / (8 + 4) wrong answers: sqrt(1/6 5/6 / 12) = 0.108
pack dense plain.csv label=y && tune $rff
grep -q 'warning: the winner.s validation error is of 8 samples, with a standard error of 10.8 points' "$tmp/log"
result $? "a validation part that is too small is warned of"
call pack synthetic images rows=4000 -o "$tmp/d.h5" --force && tune $rff &&
    ! grep -q 'standard error of' "$tmp/log"
result $? "and one of a thousand samples is not"

# ---- libsvm -------------------------------------------------------------------------------

for file in plain tabs head signs labels notes unix long longer; do
    knows dense $file.svm
done
knows dense zero.svm zero_based=yes
refuses_file dense zero.svm "line 1 .*zero_based = yes"
refuses_file dense multi.svm "multi-label"
refuses_file dense query.svm "line 1 .*qid"
refuses_file dense index.svm "line 1 has index 2147483648"
refuses_file dense nan.svm "line 1, .*'nan'"
refuses_file dense minus_nan.svm "line 1, .*'-nan'"
refuses_file dense novalue.svm "line 1 has '9'"
predicts real.svm

# ---- texts --------------------------------------------------------------------------------

for file in plain crlf marks quotes; do
    knows text $file.tsv
done
knows text header.tsv header=yes
knows text first.tsv label=last
knows text fast.txt separator=blank
knows text news.csv separator=comma
{ printf 'sep=,\r\n' && cat "$tmp/news.csv"; } >"$tmp/excel.csv"
knows text excel.csv separator=comma
refuses_file text excel.csv "by its first line ',' is between columns, by separator = ... a semicolon" separator=semicolon
warns text header.tsv "first line .*header"
warns text codes.tsv "'01'"
refuses_file text first.tsv "label = last"
refuses_file text fast.txt "separator = blank"
refuses_file text news.csv "separator = comma"
warns text latin.tsv "1 rows are not UTF-8 .* Windows-1252, the first in line 121"
refuses_file text latin.tsv "latin.tsv:121: byte .* UTF-8" encoding=utf-8
refuses_file text nul.tsv "nul.tsv:121: .*NUL"
pack text stop.tsv
tune fmap.feature=ngram ngram.stop=true space.configs=1
refusal $? 4 ngram.stop "a vocabulary that options leave empty is refused"

# ---- a federation of users who keep times --------------------------------------------------

pack leaf unixleaf && tune run.task=fed run.tuner=random fed.model=linear fed.cohort=4 random.resource=40 \
    client.lr=0.1 space.configs=1 && grep -Eq '^test .* error 0.000 %' "$tmp/out"
result $? "a federation tells apart the times of its users"

# ---- words of vectors ---------------------------------------------------------------------

# learns FILE STATUS PATTERN: a network on texts begins with these vectors, or says why not.
learns()
{
    tune run.task=sgd sgd.model=txtcnn sgd.vectors="$tmp/$1" random.resource=1 space.configs=1
    [ $? = "$2" ] && grep -Eq "$3" "$tmp/log"
    result $? "vectors $1 end with status $2"
}
pack text plain.tsv
for file in plain crlf twice blank marks; do
    learns $file.vec 0 'has 3 of 9 words'
done
learns inner.vec 0 '1 of 4 words have blanks'
learns nan.vec 4 "nan"
learns nohead.vec 4 "nohead.vec"
learns few.vec 4 "few.vec"
learns many.vec 4 "many.vec"

# ---- tables of curves and lists -----------------------------------------------------------

printf 'config\tlr\tresource\tloss\tloss\n0\t0.1\t1\t0.5\t9\n1\t0.2\t1\t0.4\t8\n' >"$tmp/curves.tsv"
printf '[run]\ntask = replay\ntuner = random\n[replay]\ntable = %s\nrow = 0 .. 1\n' "$tmp/curves.tsv" >"$tmp/replay.ini"
printf 'parameters.x\tparameters.x\n0.5\t0.1\n' >"$tmp/list.tsv"
cat >"$tmp/program.ini" <<END
[run]
task = command
tuner = random
[command]
run = echo loss=\$PARAM_x
[parameters]
x = 0.0 .. 1.0
END

# stops STATUS PATTERN INPUT KEY=VALUE...: by one line.
stops()
{
    refuses "$1" "$2" "$3 ${*:4} is refused" call tune "$tmp/$3" -o "$tmp/s.h5" --force "${@:4}"
}
stops 4 'columns 4 and 5 are both named "loss"' replay.ini
sed -i 's/loss\tloss/loss\tother/; s/0\.4\t/0,4\t/' "$tmp/curves.tsv"
stops 4 '"0,4"' replay.ini
stops 2 'parameters.x' program.ini space.source=list space.file="$tmp/list.tsv"
stops 2 'parameters.x .*looks like a range of another program' program.ini parameters.x='lognormal(0, 1)'

# ---- what programs print, where they are, and schedules of any length ------------------------

bar='i=0; while [ $i -lt 2000 ]; do i=$((i + 1)); printf "\rEpoch 0: [%s/2000, loss=%s, v=0]" $i $((2000 - i)).5; done'
call tune "$tmp/program.ini" space.configs=1 parameters.x=1 command.run="$bar" -o "$tmp/s.h5" --force &&
    grep -q '^valid .*loss 0.500000' "$tmp/out"
result $? "the last value of a progress bar is the loss"
call tune "$tmp/program.ini" space.configs=1 parameters.x=1 command.run='echo loss=0,25' -o "$tmp/s.h5" --force
[ $? = 6 ] && grep -q 'printed "loss=0,25".*LC_NUMERIC' "$tmp/log"
result $? "a decimal comma is no number"
for most in 9 27 125 243; do
    call tune "$tmp/program.ini" run.tuner=hyperband hyperband.max_resource=$most hyperband.reduction=3 \
        -o "$tmp/s.h5" --force
    st=$?
    "$weft" tune "$tmp/program.ini" run.tuner=hyperband hyperband.max_resource=$most hyperband.reduction=3 \
        --plan >"$tmp/plan" 2>>"$tmp/log"
    [ $st = 0 ] && [ "$(sed -n 's/^task .* \([0-9]*\) configurations.*/\1/p' "$tmp/out")" = \
        "$(sed -n 's/^configurations *\([0-9]*\).*/\1/p' "$tmp/plan")" ]
    result $? "hyperband of $most starts as many configurations as its plan says"
done
mkdir "$tmp/here" "$tmp/there"
echo 'echo loss=$PARAM_x' >"$tmp/here/program.sh"
weft=$(realpath "$weft")
cd "$tmp/here" && call tune ../program.ini space.configs=20 command.run='sh program.sh' -o whole.h5 &&
    ! call tune ../program.ini space.configs=20 command.run='sh program.sh' run.time_limit=1e-9 -o r.h5 &&
    cd "$tmp/there" && call resume ../here/r.h5 run.time_limit=0 &&
    [ "$(digest)" = "$(digest ../here/whole.h5)" ]
result $? "a run that is resumed from another directory has the digest of the undisturbed one"
echo "1..$count"
