#!/bin/bash
# No setting of an input file or command line is silently ignored: it is used, refused, or
# named in the log. The defaults of a task where nothing is set. Prints TAP.
. tests/tap.sh

run() # ARGUMENT...: a plan of the input file
{
    call tune "$tmp/in.ini" --plan "$@"
}
refused() # PATTERN STATEMENT ARGUMENT...
{
    refuses 2 "$1" "$2" run "${@:3}"
}
taken() # PATTERN STATEMENT ARGUMENT...: the plan, or what is said with it, has such a line
{
    run "${@:3}" && grep -Eqh -e "$1" "$tmp/out" "$tmp/log"
    result $? "$2"
}
input() # TEXT: an input file on images, and more
{
    printf '[run]\ndata = %s\n[rff]\nfeatures = 64\ngamma = log 1e-4 .. 1\n%s\n' "$tmp/img.h5" "$1" >"$tmp/in.ini"
}

"$weft" pack synthetic images rows=600 -o "$tmp/img.h5" 2>"$tmp/log" &&
    "$weft" pack synthetic federated=stored clients=30 classes=5 -o "$tmp/fed.h5" 2>"$tmp/log"
result $? "data are packed"

# ---- sections that a run does not use -----------------------------------------------------

input '[ngram]
order = 1 .. 3'
refused 'in.ini:7: ngram.order = 1 .. 3: .*fmap.feature is rff.*fmap.feature = ngram' \
    "a range that would vanish, with what would use it"
refused 'in.ini:7: ngram.order' "whatever the command line chose" fmap.feature=rff
input '[ngram]
bins = 4096'
refused 'in.ini:7: ngram.bins = 4096: .*fmap.feature = ngram' "a value of another feature map"
taken '^not read +.ngram.$' "is named where the command line made it so" fmap.feature=rff
input '[ridge]
alpha = 0.7'
refused 'ridge.alpha = 0.7: .*fmap.model is svm' "a value on the command line, whatever it made so" \
    fmap.model=svm ridge.alpha=0.7
taken '^not read +.ridge.$' "one file serves two models" fmap.model=svm
input '[lstm]
hidden = 9'
refused 'lstm.hidden = 9: .*run.task is fmap.*run.task = fed and fed.model = lstm' \
    "a value of a network where none is trained"
input '[sha]
max_resource = 9
[ws_eg]
eta = 3
[ws_sha]
keep = 0.4'
taken '^not read +(.sha. .ws_eg.|.ws_eg. .sha.)$' "settings of other tuners may stand in a file, and are named"
refused 'ws_eg.eta = 4: .*run.tuner is ws_sha.*run.tuner = ws_eg' "but not on the command line" ws_eg.eta=4
refused 'run.mixing = fedex with run.task = fmap.*run.mixing = none' "nor what the task does not do" run.mixing=fedex
refused 'run.sampler.*did you mean "?space|no sampler .spice.*"space"' "a wrong sampler" run.sampler=spice
{ "$weft" list --ini; } >"$tmp/in.ini" 2>"$tmp/log"
taken '^configurations +1, 0 axes' "an input file of all defaults is taken" run.data="$tmp/img.h5" rff.features=64

# ---- keys of sections in use that are not read --------------------------------------------

input '[space]
file = inputs/cifar64.tsv'
refused 'space.file = .*space.source = list' "a list that is not read"
input '[space]
levels = 3'
refused 'space.levels = 3: .*space.source = grid' "levels without a grid"
taken '^configurations +3, 1 axes' "but with one they count" space.source=grid
taken 'space.configs = 9, but the list or grid has 3 configurations' "and fewer than asked for are told" \
    space.source=grid space.configs=9
input ''
taken 'space.configs = 9, but no option has a range: 1 conf' "so it is where there is nothing to search" \
    space.configs=9 rff.gamma=0.1
refused 'command line: run.seed = 3: is given twice' "a key twice on the command line" run.seed=2 run.seed=3
refused 'run.output.* is given twice' "an output twice" run.output=x.h5 -o y.h5
refused '-o is given twice' "or by two options" -o x.h5 -o y.h5
input '[run]
data = other.h5'
refused 'in.ini:7: run.data.*line 2' "a key twice in a file"

# ---- samplers -----------------------------------------------------------------------------

set -- run.tuner=random space.configs=20
input ''
taken '^task fmap' "a search of 20 trials" "$@" run.sampler=tpe
! grep -q 'learns nothing' "$tmp/log"
result $? "of 20 trials ten are learnt from"
for sampler in tpe.startup kde.points forest.design gp.design mobster.design; do
    input ''
    taken "run.sampler = ${sampler%.*} learns from .* but this search has 3 trials.*; lower $sampler or" \
        "more results than trials to learn from are told of: $sampler" run.tuner=random space.configs=3 run.sampler="${sampler%.*}"
done
input ''
hyperband="run.tuner=hyperband hyperband.max_resource=9 run.sampler=tpe"
# shellcheck disable=SC2086
taken 'tpe learns from 10 results on, of one resource, but this search has 17 trials, at most 9 of one resource' \
    "and than trials of any one resource" $hyperband fmap.resource=iterations
# shellcheck disable=SC2086
taken '^task fmap' "mobster learns from those of all resources" ${hyperband/tpe/mobster} fmap.resource=iterations
! grep -q 'learns nothing' "$tmp/log"
result $? "of which nothing is said"
# shellcheck disable=SC2086
taken '^task fmap' "which nine are enough for" $hyperband fmap.resource=iterations tpe.startup=8
! grep -q 'learns nothing' "$tmp/log"
result $? "and then nothing is said"
# shellcheck disable=SC2086
taken '^task fmap' "as are twice nine" $hyperband fmap.resource=iterations hyperband.repeats=2
! grep -q 'learns nothing' "$tmp/log"
result $? "of which nothing is said, either"
# shellcheck disable=SC2086
taken 'learns from 18 results on, of one resource, but this search has 34 trials, at most 18 of one resource' \
    "but if one more is needed" $hyperband fmap.resource=iterations hyperband.repeats=2 tpe.startup=18

# ---- optimizers and networks --------------------------------------------------------------

printf '[run]\ndata = %s\n' "$tmp/img.h5" >"$tmp/in.ini"
set -- run.task=sgd sgd.model=linear run.tuner=random
refused 'train.momentum = 0.5: .*train.optimizer = sgd' "momentum of an optimizer that has none" "$@" \
    train.optimizer=adam train.momentum=0.5
refused 'train.rho = 0.9: .*train.optimizer = adadelta' "Adadelta's decay with sgd" "$@" train.rho=0.9
refused 'train.reductions = 1..5: .*train.schedule = step' "the steps of a constant rate, as an axis" "$@" \
    train.reductions=1..5
taken '^configurations +1, 0 axes' "which a rate by steps has" "$@" train.schedule=step train.reductions=3
taken '^configurations' "or one of two schedules" "$@" "train.schedule=constant|step" train.reductions=3
refused 'server.tau = 0.1: .*server.optimizer = adam.yogi' "a server's adaptivity with sgd" run.task=fed \
    run.data="$tmp/fed.h5" server.tau=0.1
taken '^task fed' "which yogi has" run.task=fed run.data="$tmp/fed.h5" server.tau=0.1 server.optimizer=yogi
printf 'x\ta b c\ny\tb c d\n%.0s' 1 2 3 4 5 6 7 8 9 >"$tmp/text"
"$weft" pack text "$tmp/text" valid=0.2 -o "$tmp/text.h5" 2>"$tmp/log"
set -- run.task=sgd sgd.model=txtcnn run.tuner=random run.data="$tmp/text.h5" sgd.dim=4 run.test=no
refused 'txtcnn.f2 = 2..9: .*txtcnn.groups = 2.3' "filters of a group that the network lacks" "$@" txtcnn.groups=1 \
    txtcnn.f2=2..9
taken '^configurations' "or that some networks lack" "$@" "txtcnn.groups=1|2" txtcnn.f2=2..9

# ---- what a task does by itself -----------------------------------------------------------

input ''
taken "^task's defaults +run.tuner = ws_sha, ws_sha.resource = 1\$" "task fmap halves by weight-sharing"
taken "^task's defaults +run.tuner = random, random.resource = 1\$" "or fits the one map" rff.gamma=0.1
taken "^task's defaults +run.tuner = sha" "fits that are divided are those of one map: of its own weights" fmap.resource=iterations sha.max_resource=9
refused 'run.tuner = ws_sha .*fmap.resource = iterations trains one' "shared fits are not divided" fmap.resource=iterations run.tuner=ws_sha
refused 'run.mixing = fedex with run.task = fmap' "nor those of mixtures" fmap.resource=iterations run.tuner=sha run.mixing=fedex
taken "^task's defaults +random.resource = 40\$" "fits that are divided have as many iterations as make a whole one" \
    fmap.resource=iterations run.tuner=random
rows='fmap.resource=rows'
refused 'run.tuner = ws_sha .*fmap.resource = rows trains one' "nor are fits shared that are of some rows" $rows run.tuner=ws_sha
refused 'sha.max_resource = 601: .*img.h5 has 600 rows for training; expected at most as many' \
    "more rows than there are" $rows run.tuner=sha sha.max_resource=601
refused 'hyperband.max_resource = 601: .*img.h5 has 600 rows' "under other schedules, too" $rows run.tuner=hyperband \
    hyperband.max_resource=601
refused 'random.resource = 601: .*img.h5 has 600 rows' "or none" $rows run.tuner=random random.resource=601
refused 'sha.max_resource = 501: .*img.h5 has 500 rows' "of which folds hold some out" $rows run.tuner=sha fmap.folds=3 \
    sha.max_resource=501
taken '^task fmap, tuner one' "but candidates and the best of them may have more together" $rows run.tuner=one one.resource=900
taken "^task's defaults +sha.max_resource = 600\$" "by default the last survivors have them all" $rows run.tuner=sha
taken "^task's defaults +hyperband.min_resource = 22, hyperband.max_resource = 600\$" "after three eliminations" $rows \
    run.tuner=hyperband
taken "^task's defaults +random.resource = 600\$" "and so has the map of a random search" $rows run.tuner=random
fits() # SETTING...: the error of the winner, and its settings for training it alone
{
    call tune "$tmp/in.ini" run.tuner=random space.configs=4 rff.features=500 -o "$tmp/fit.h5" --force "$@" &&
        "$weft" export "$tmp/fit.h5" -o "$tmp/won.h5" --force >>"$tmp/out" 2>>"$tmp/log" &&
        "$weft" info "$tmp/won.h5" >"$tmp/won" 2>>"$tmp/log"
    awk '$1 == "valid" { print $5 }' "$tmp/out"
}
whole=$(fits) && parts=$(fits fmap.resource=iterations) && echo "$whole $parts" >>"$tmp/log" &&
    awk -v a="$whole" -v b="$parts" 'BEGIN { exit !(a > 0 && b > 0 && (a - b) ^ 2 < 1.5 ^ 2) }'
result $? "and come to the same error, but for two of 150 samples"
grep -q '^resource = 40' "$tmp/won" && fits fmap.resource=iterations random.resource=7 >/dev/null && grep -q '^resource = 7' "$tmp/won"
result $? "a winner says how many it was trained for"
printf '[run]\ntask = fed\ndata = %s\n' "$tmp/fed.h5" >"$tmp/in.ini"
taken '^rounds +100$' "task fed trains 100 rounds"
taken "^task's defaults +run.tuner = random, random.resource = 100\$" "and says so"
taken '^task fed, tuner sha,' "and halves where an option has a range" 'client.lr=log 0.01 .. 1'
taken '^rounds +3460$' "by a budget that is made for the configurations" 'client.lr=log 0.01 .. 1' space.configs=9
taken '^rounds +700$' "or trains as long in each round of weight-sharing" 'client.lr=log 0.01 .. 1' run.tuner=ws_sha
call tune "$tmp/in.ini" -o "$tmp/run.h5" &&
    grep -q 'defaults of the task: run.tuner = random, random.resource = 100' "$tmp/log" &&
    grep -aq '^resource = 100' "$tmp/run.h5"
result $? "the log names the defaults, the run file has them"
check "and the model has learnt" awk '$1 == "valid" { exit !($5 < 25) }' "$tmp/out"

# ---- mixings ------------------------------------------------------------------------------

taken '^task fed, tuner sha with mixing fedex,' "a plan names the mixing" 'client.lr=log 0.01 .. 1' run.mixing=fedex
refused 'run.tuner = ws_one .*run.mixing = mw or fedex' "one mixture needs a mixing" 'client.lr=log 0.01 .. 1' run.tuner=ws_one
refused 'run.mixing = mw with run.tuner = ws_sha.*run.mixing = none' "and a mixture of its own takes none" \
    'client.lr=log 0.01 .. 1' run.tuner=ws_sha run.mixing=mw
refused 'server.lr has a range, but a trial has one value of it' "one trial has one server" \
    'server.lr=0.1 .. 1' run.tuner=ws_one run.mixing=mw

# ---- every option ----------------------------------------------------------------------------

printf '; weft pack imdb aclImdb -o none/imdb.h5\n[run]\ndata = none/imdb.h5\n' >"$tmp/none.ini"
call tune "$tmp/none.ini"
[ $? = 3 ] && grep -q '^weft: there is no none/imdb.h5; .*none.ini says how it is made: weft pack imdb aclImdb -o' "$tmp/log"
result $? "data that are not there are made by the command in the input file"
: >"$tmp/log"
perl tests/options "$weft" >"$tmp/out"
result $? "each option has a use in an input, a job or a README, and these show no other"
# ---- values of options --------------------------------------------------------------------

# The last line of the help of each option, with its bounds or choices and its default.
for name in $("$weft" list --ini | sed -n 's/^\[\(.*\)\].*/\1/p') $("$weft" list readers | awk '/^  / { print $1 }'); do
    "$weft" list "$name" | awk -v name="$name" '
        function tell() { if (key != "") print name "." key "\t" last }
        /^[^ ]/ { tell(); key = ""; next }
        /^  [^ ]/ { tell(); key = $1 }
        { last = $0; sub(/^ +/, "", last); if (key != "" && $1 == key) sub("^" key " *", "", last) }
        END { tell() }'
done >"$tmp/options"
diff tests/gold/options.tsv "$tmp/options" >"$tmp/log"
result $? "bounds and defaults of $(wc -l <"$tmp/options") options are those that are recorded; a new line of the record is one of CHANGELOG"
echo "1..$count"
