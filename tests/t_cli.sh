#!/bin/bash
# The program from outside: every command, and every kind of invalid input, which must end
# on all ranks with the right exit status after one clear line. Prints TAP.
. tests/tap.sh
export WEFT_HOLD= # no text: nothing holds

# runs STATEMENT ARGUMENT...: one rank, ends well.
runs()
{
    check "$1" call "${@:2}"
}

# shows PATTERN STATEMENT: the output of the last command has such a line.
shows()
{
    check "$2" grep -Eq -e "$1" "$tmp/out"
}

# refused STATUS PATTERN STATEMENT ARGUMENT...: on two ranks, both end with that status, and the
# only line of weft's on stderr is an error that matches; with Open MPI 4, whose mpirun prints many
# lines of its own on stderr, it is on stdout, too.
mpirun --version | grep -q 'Open MPI) 4' && twice=1 || twice=
refused()
{
    status=$1 pattern=$2 statement=$3
    shift 3
    # shellcheck disable=SC2016
    timeout "$net" mpirun -n 2 sh -c '"$0" "$@"; echo "status $?"' "$weft" "$@" \
        >"$tmp/out" 2>"$tmp/log"
    [ "$(grep -c "^status $status\$" "$tmp/out")" = 2 ] &&
        [ "$(grep -c '^weft: ' "$tmp/log")" = 1 ] && grep -Eq -e "^weft: .*($pattern)" "$tmp/log" &&
        { [ ! "$twice" ] || grep -qxF -e "$(grep '^weft: ' "$tmp/log")" "$tmp/out"; } &&
        ! grep -q 'Assertion\|Segmentation\|rank 1:' "$tmp/log"
    result $? "$statement"
}

# ---- help and lists ---------------------------------------------------------------------

runs "the version is told" --version
shows '^weft [0-9]' "by number"
runs "help is given" --help
commands=$(sed -n 's/^  \([a-z]*\)  *[a-z].*/\1/p' "$tmp/out" | grep -v '^weft$')
cp "$tmp/out" "$tmp/helps"
for command in $commands; do
    call "$command" --help && grep -q "^usage: weft $command" "$tmp/out" &&
        "$weft" help "$command" 2>>"$tmp/log" | cmp -s - "$tmp/out"
    result $? "$command has help"
    cat "$tmp/out" >>"$tmp/helps"
done
runs "all plug-ins are listed" list
names=$(grep '^#define WEFT_[A-Z]*(X)\|^    X(' include/weft/registry.h | grep -o ' X([a-z0-9_]*)' | tr -d ' X()')
for name in $names; do
    grep -q "^  $name  *[^ ]" "$tmp/out" && "$weft" list "$name" 2>>"$tmp/log" | grep -q "^$name: [^ ]" ||
        echo "not listed: $name" >>"$tmp/log"
done
grep -q '^  partition ' "$tmp/out" && grep -q '^  worker ' "$tmp/out" && ! grep -q '^not listed' "$tmp/log"
result $? "each with what it is"
[ $(($(echo "$names" | wc -l) + 4)) = "$(grep -c '^  [a-z]' "$tmp/out")" ]
result $? "no other is"
[ "$("$weft" list fed | tail -n 1)" = "  by default: run.tuner = sha, a job of resource 100" ]
result $? "a task with its schedule and resource"
lists="$(grep '^[a-z]' "$tmp/out") run space partition"
: >"$tmp/log"
for command in $commands; do
    grep -qx "\.B $command" src/cli/weft.1 || echo "not in weft.1: $command" >>"$tmp/log"
done
for word in $commands $(grep -o -e ' --[a-z]*' "$tmp/helps" | sort -u) $lists; do
    sed 's/\\-/-/g' src/cli/weft.1 | grep -Eq -e "(^|[^a-z-])$word([^a-z]|\$)" ||
        echo "not in weft.1: $word" >>"$tmp/log"
    grep -Eq -e "words=.*(^|[^a-z-])$word([^a-z]|\$)" src/cli/weft.bash ||
        echo "not in weft.bash: $word" >>"$tmp/log"
done
! grep -q '^not in' "$tmp/log"
result $? "the manual page and the completion have all commands, options and lists"
: >"$tmp/log"
for command in $commands; do # each takes the options of its usage, in all three places
    options=$(sed -n "s/^usage: weft $command //p" "$tmp/helps" | grep -o -e '--*[a-z-]*' | sort -u)
    sed -n "/^.B.*weft $command\$/,/^.br/p" src/cli/weft.1 | sed 's/\\-/-/g' >"$tmp/synopsis"
    mkdir -p "$tmp/x.best" "$tmp/x.d" # of a run
    for option in $options; do
        grep -q -e "$option" "$tmp/synopsis" || echo "not in the synopsis of $command: $option" >>"$tmp/log"
        bash -c '. src/cli/weft.bash; COMP_WORDS=(weft "$1" a "$2") COMP_CWORD=3; _weft; printf "%s\n" "${COMPREPLY[@]}"' - \
            "$command" - | grep -qx -e "$option" || echo "not completed after $command: $option" >>"$tmp/log"
    done
done
check "and for every command the options of its usage" [ ! -s "$tmp/log" ]
[ "$(bash -c '. src/cli/weft.bash; COMP_WORDS=(weft resume "$1") COMP_CWORD=2; _weft; echo "${COMPREPLY[@]}"' - "$tmp/x")" = "$tmp/x.h5" ]
result $? "a run to resume is completed, and no directory of a winner's files"
runs "one kind is listed" list tuners
check "with its members" [ "$(grep -c '^  ' "$tmp/out")" -ge 3 ]
runs "the options of a plug-in are listed" list ws_sha
shows '0.01 .. 0.99; default 0.5' "with bounds and defaults"
OMPI_MCA_orte_execute_quiet=1 mpirun -n 2 "$weft" tun >"$tmp/out" 2>"$tmp/log"
if [ "$twice" ]; then
    tail -n 1 "$tmp/log" | grep -q '^weft: there is no command'
    result $? "which is the last line of a quiet mpirun"
else
    echo "ok $((count += 1)) # SKIP this mpirun tells of the exit status all the same"
fi
refused 2 'there is no command "tun".*weft tune' "an unknown command is answered with the nearest" tun
refused 2 'did you mean --force' "an unknown option, too" tune --forse x.ini
refused 2 'usage: weft tune INPUT' "a missing argument is answered with the usage" tune
refused 2 'pack: -o needs a value' "-o without a value" pack folder "$tmp" -o
refused 2 'tune: -o needs a value.* not the option --force$' "an option in the place of its value" tune x.ini -o --force
refused 2 'info: option -o is unknown' "-o of a command that writes nothing" info x.h5 -o
refused 2 'did you mean "tuners"' "an unknown list, too" list tunes

# ---- data -------------------------------------------------------------------------------

runs "the built-in documents are packed" pack synthetic documents rows=600 -o "$tmp/doc.h5"
runs "the built-in images are packed" pack synthetic images rows=600 -o "$tmp/img.h5"
runs "a packed file is described" info "$tmp/doc.h5"
shows '^all +600 +150 +150' "with its sizes"
shows '^split +[0-9]{5} +[0-9]{5} +[0-9]{5} +[0-9]{4}$' "and those of its texts, in tokens"
runs "a built-in federation is packed" pack synthetic federated=stored -o "$tmp/leaf.h5"
runs "and described" info "$tmp/leaf.h5"
shows '^all +61115 +61.12 +100.13 +5 ' "with the sizes of its clients"
mkdir "$tmp/idx"
for name in train t10k; do # 20 images of 2 x 2 and their labels
    { printf '\0\0\010\003\0\0\0\024\0\0\0\002\0\0\0\002' && printf '%80s' "$name"; } >"$tmp/idx/digits-$name-images-idx3-ubyte"
    { printf '\0\0\010\001\0\0\0\024' && printf '\001\002%.0s' 1 2 3 4 5 6 7 8 9 && { [ "$name" = train ] && printf '\001\002' || printf '\002\001'; }; } >"$tmp/idx/digits-$name-labels-idx1-ubyte"
done
runs "a test beside training images of its name is packed" pack idx "$tmp/idx" -o "$tmp/idx.h5"
[ "$(grep -c warning "$tmp/log")" = "$(grep -c 'OpenBLAS' "$tmp/log")" ] && "$weft" info "$tmp/idx.h5" | grep -q '^all .* 20$'
result $? "and used"
mv "$tmp/idx/digits-t10k-images-idx3-ubyte" "$tmp/idx/t10k-images-idx3-ubyte"
runs "one of another name is left" pack idx "$tmp/idx" -o "$tmp/idx.h5" --force
grep -q 'warning: t10k-images-idx3-ubyte beside .*digits-train-images-idx3-ubyte is not used, for its name is not digits-t10k-images-idx3-ubyte; .*name both alike$' "$tmp/log"
result $? "and told"
rm "$tmp/idx/t10k-images-idx3-ubyte"
runs "and none" pack idx "$tmp/idx" -o "$tmp/idx.h5" --force
grep -q 'warning: .*has no test beside it; its rows are divided$' "$tmp/log"
result $? "is told, too"
mkdir -p "$tmp/cut/train" "$tmp/cut/test"
rows() # FROM TO: a file of LEAF's with a user of such rows, which are of 10 classes, sorted
{
    awk -v a="$1" -v b="$2" 'BEGIN {
        for (i = a; i < b; i++) { x = x s "[" i "]"; y = y s int(i / 40); s = "," }
        printf "{\"users\": [\"u\"], \"num_samples\": [%d], \"user_data\": ", b - a
        printf "{\"u\": {\"x\": [%s], \"y\": [%s]}}}\n", x, y }'
}
rows 0 400 >"$tmp/cut/train/a.json"
rows 280 400 >"$tmp/cut/test/a.json"
runs "parts that were cut from sorted rows are packed" pack leaf "$tmp/cut" -o "$tmp/cut.h5"
[ "$(grep -c 'warning: .*the test part has no row of 7 of 10 classes, the first is 0 with [0-9]*' "$tmp/log")" = 1 ]
result $? "and told"
rows 0 400 >"$tmp/sorted.json"
runs "sorted rows that are divided here" pack leaf "$tmp/sorted.json" -o "$tmp/cut.h5" --force
! grep -q 'warning: .*has no row of' "$tmp/log"
result $? "have all classes in all parts"
runs "rows are split over clients" pack synthetic images rows=600 clients=20 partition=shards \
    shards=1 -o "$tmp/shards.h5"
runs "and described" info "$tmp/shards.h5"
shows '^sample +image of 1 x 16 x 16, 10 classes' "with the shape of an image"
shows '^distance +0.900 between the classes of a client and all, .*; 1.0 classes a client: ' \
    "and how far clients' classes are from those of all"
runs "a million clients are registered" pack synthetic federated=generated clients=1000000 \
    -o "$tmp/many.h5"
runs "and described" info "$tmp/many.h5"
shows '^clients +1000000$' "all of them"
runs "the options of a partition are listed" list partition
shows 'iid . dirichlet . shards' "with its rules"
refused 2 'clients = N' "a partition over nobody" pack synthetic images partition=iid -o "$tmp/x.h5"
refused 3 'exists.*--force' "a file that exists is not replaced" pack synthetic images -o "$tmp/img.h5"
runs "but by --force it is" pack synthetic images rows=600 -o "$tmp/img.h5" --force
refused 2 'needs the name.*-o' "packing needs a name" pack synthetic images
refused 2 'did you mean "cifar"' "an unknown reader is answered with the nearest" \
    pack cifra x -o "$tmp/x.h5"
refused 2 'did you mean "dense"' "a word for what is read with its reader" pack Table x.csv -o "$tmp/x.h5"
refused 2 'did you mean "dense"' "and so is a file in its place" pack rows.csv -o "$tmp/x.h5"
refused 2 'pack dense needs what it reads' "and a reader alone" pack dense -o "$tmp/x.h5"
refused 2 'rowz.*did you mean rows' "a reader's unknown key, too" \
    pack synthetic images rowz=1 -o "$tmp/x.h5"

# ---- a run, from the input file to the report --------------------------------------------

cat >"$tmp/in.ini" <<END
[run]
data = $tmp/doc.h5
tuner = ws_sha
[ws_sha]
switch = 1
[space]
configs = 8
[fmap]
feature = ngram
model = ridge
[ngram]
bins = 2^10
order = 1 .. 3
binary = no | yes
alpha = log 1e-5 .. 100
[ridge]
alpha = 0.5
END
runs "a plan is made" tune "$tmp/in.ini" -o "$tmp/run.h5" --plan
shows '^configurations +8, 3 axes' "with the number of configurations"
shows '^jobs +4, of which 1' "and of jobs"
shows '^tried +[0-9]+ fits of [1-4] jobs? in' "what was tried"
shows '^expected time +[0-9]' "and the time"
[ ! -e "$tmp/run.h5" ] && [ ! -e "$tmp/run.d" ]
result $? "a plan leaves no files"
check "a run ends well" on 2 tune "$tmp/in.ini" -o "$tmp/run.h5"
check "with one line a job in the log" [ "$(grep -c ' job [0-9]* of ' "$tmp/log")" = 4 ]
[ -e "$tmp/run.h5" ] && [ ! -e "$tmp/run.d" ]
result $? "and leaves the run file alone"
runs "the sweep ends well" tune "$tmp/in.ini" run.tuner=random -o "$tmp/sweep.h5"
check "and by two teams of ranks" on 3 tune "$tmp/in.ini" run.tuner=random run.teams=2 -o "$tmp/teams.h5"
[ "$("$weft" report "$tmp/teams.h5" | grep ^digest)" = "$("$weft" report "$tmp/sweep.h5" | grep ^digest)" ]
result $? "with the same digest"
runs "a run is reported" report "$tmp/run.h5"
shows '^winner +[0-7]: .*order=' "with its winner"
shows '^valid +loss [0-9.]+ +error [0-9.]+ %' "its validation"
shows '^test +loss [0-9.]+ +error [0-9.]+ %' "its test"
shows '^compute +[0-9.]+ +[0-9.]+ +[0-9.]+' "and where the time went"
score=$(sed -n 's/^test .* error *\([0-9.]*\) .*/\1/p' "$tmp/out")
runs "runs are compared" report "$tmp/run.h5" "$tmp/sweep.h5"
[ "$(grep -c '^[^ ]*h5 ' "$tmp/out")" = 2 ] && [ "$(grep -n '^$' "$tmp/out")" = 4: ]
result $? "line by line"
shows '^ +2 +1 .*[0-9] +run.tuner=random' "and method by method"
runs "reported as CSV" report "$tmp/run.h5" "$tmp/sweep.h5" --csv
awk -F, 'NR == 1 { n = NF } NF != n { bad = 1 } END { exit bad || NR != 3 }' "$tmp/out"
result $? "with equal columns"
runs "reported as JSON" report "$tmp/run.h5" --json
shows '"winner": ".*order=' "with its winner"
runs "a run file is described" info "$tmp/run.h5"
runs "a winner is exported" export "$tmp/run.h5"
runs "and described" info "$tmp/run-winner.h5"
shows '^tensors +statistics .[0-9]+.$' "with its tensors"
shows '^ +weights .[0-9]+ x [0-9]+.$' "and their shapes"
refused 3 'exists.*--force' "not twice" export "$tmp/run.h5"
for file in run run-winner; do
    runs "the winner in $file.h5 is scored" eval "$tmp/$file.h5" "$tmp/doc.h5"
    check "as in the run" [ "$(awk '$1 == "test" { print $4 }' "$tmp/out")" = "$score" ]
done
runs "a complete run is resumed to its end" resume "$tmp/run.h5"
check "it is told that it is" grep -q 'run.h5 is complete$' "$tmp/log"
runs "also with a setting" resume "$tmp/run.h5" run.teams=1
grep -q 'run.h5 is complete, so that run.teams=1 has no effect$' "$tmp/log"
result $? "which has no effect, as is told"
refused 2 "command line: '$tmp/doc.h5' is not section.key=value" "but not with what is none" resume "$tmp/run.h5" "$tmp/doc.h5"
refused 4 'run.h5 was not packed from a table with columns, nor trained on one, which .like. and .weft predict. need$' \
    "a table like no table" pack dense "$tmp/in.ini" like="$tmp/run.h5" -o "$tmp/none.h5"
refused 3 'the name of the file to open is empty; give one' "a file without a name" info ""
refused 2 'tune: --data is given twice' "data twice" tune --data "$tmp/doc.h5" --data "$tmp/doc.h5"
mkdir "$tmp/run.d"
runs "also beside an empty directory" resume "$tmp/run.h5"
check "which is removed" [ ! -e "$tmp/run.d" ]
refused 3 'exists.*--force' "a run file is not replaced" tune "$tmp/in.ini" -o "$tmp/run.h5"
runs "but by --force it is" tune "$tmp/in.ini" -o "$tmp/run.h5" --force
runs "a target ends the search" tune "$tmp/in.ini" run.target=1 run.tuner=random -o "$tmp/t.h5"
shows '8 configurations, 1 jobs' "at the first job that meets it"
refused 75 'time_limit.*weft resume' "a time limit stops a run" \
    tune "$tmp/in.ini" run.time_limit=1e-9 -o "$tmp/limit.h5"
refused 3 'unfinished.*weft resume' "which is not overwritten" tune "$tmp/in.ini" -o "$tmp/limit.h5"
refused 3 'limit.h5 is unfinished; go on with it by' "nor predicted by" predict "$tmp/limit.h5" "$tmp/in.ini"
runs "but shown as far as it came" report "$tmp/limit.h5"
shows 'unfinished: 1 jobs are done' "which is said"
refused 75 'time_limit' "and resumed under the same limit stops again" resume "$tmp/limit.h5"
chain() # starts until the search is done, at most 20
{
    call tune inputs/flow-workers.ini run.tuner=random space.configs=8 run.time_limit=1e-9 \
        -o "$tmp/chain.h5"
    status=$?
    for starts in {2..20}; do
        [ $status = 75 ] || return $status
        call resume "$tmp/chain.h5"
        status=$?
    done
    return $status
}
check "a start does something, however little time it has: a chain of starts ends" chain
mv "$tmp/doc.h5" "$tmp/own.h5"
runs "other documents take their name" pack synthetic documents rows=500 -o "$tmp/doc.h5"
refused 4 'doc.h5 is not the data set that .*limit.h5 was begun with' \
    "a run is not resumed on other data" resume "$tmp/limit.h5"
mv "$tmp/own.h5" "$tmp/doc.h5"
runs "all options as an input file" list --ini
! grep -q '^.\{97\}' "$tmp/out" && grep -q '^\[cpg\]' "$tmp/out"
result $? "in even lines, those of algorithms, too"
cp "$tmp/out" "$tmp/all.ini"
runs "are an input file" tune "$tmp/all.ini" run.data="$tmp/img.h5" rff.features=64 --plan

# ---- federations ------------------------------------------------------------------------

runs "a small federation is packed" pack synthetic federated=stored clients=30 classes=5 -o "$tmp/fed.h5"
fed() # ARGUMENT...: a search by weight-sharing
{
    "$@" inputs/demo-federated.ini run.data="$tmp/fed.h5" client.lr="log 0.01 .. 0.3" fed.eval_clients=9 fed.test_clients=9 \
        space.configs=4 client.epochs=1 -o "$tmp/fed-run.h5" "${more[@]}"
}
more=(run.tuner=ws_sha run.mixing=none)
fed refused 2 'server.lr has a range' "clients of a mixture have one server" tune
for tuner in ws_sha ws_eg; do
    more=(run.tuner=$tuner run.mixing=none $tuner.resource=2 server.lr=1 --force)
    fed runs "$tuner tunes a federation" tune
    shows '^winner +trial 1, configuration [0-3]: client.lr=[0-9.]+ ' "and trains the winner on"
    shows '^in these +[0-9]+ clients averaged, 0 diverged' "with none lost"
done
runs "the winner of a federation is scored" eval "$tmp/fed-run.h5" "$tmp/fed.h5"
shows '^test +[0-9]+ +[0-9.]+ ' "on the clients drawn"
grep '^[a-z]* *[0-9]' "$tmp/out" >"$tmp/scores"
runs "a network that won is exported" export "$tmp/fed-run.h5"
runs "and scored" eval "$tmp/fed-run-winner.h5" "$tmp/fed.h5"
grep '^[a-z]* *[0-9]' "$tmp/out" | cmp -s - "$tmp/scores" && [ -s "$tmp/scores" ]
result $? "as in the run"
runs "and described" info "$tmp/fed-run-winner.h5"
[ "$(sed -n '/^tensors/,/^$/p' "$tmp/out" | sed 's/^tensors//; s/^ *//' | tr '\n' ' ')" = \
    "fc1.weight (64 x 60) fc1.bias (64) fc2.weight (5 x 64) fc2.bias (5)  " ]
result $? "with its tensors under PyTorch's names, in their shapes"

# ---- bad input files --------------------------------------------------------------------

bad() # STATUS PATTERN STATEMENT ARGUMENT...: the input file above, with arguments
{
    refused "$1" "$2" "$3" tune "$tmp/in.ini" "${@:4}" -o "$tmp/bad.h5"
}
bad 2 'tuner.*did you mean "?ws_sha' "a wrong tuner" run.tuner=ws_sah
bad 2 'feature.*did you mean "?ngram' "a wrong feature map" fmap.feature=ngrams
bad 2 'model.*did you mean "?ridge' "a wrong model" fmap.model=rigde
bad 2 'ngram.oder.* no such key; did you mean order' "a wrong key" ngram.oder=2
bad 2 'ngrm.* no such section; did you mean .ngram.' "a wrong section" ngrm.order=2
bad 2 'ngram.order.* 9 is out of bounds.* 1 to 3$' "a value out of bounds" ngram.order=9
{ echo "site,x,label"; for i in 1 2 3 4; do echo "s$i,$i,c$i"; done; } >"$tmp/sites.csv"
refused 2 "command line: partition.clients = site: it is how many; client = site names the column" "a column in place of the number of clients" \
    pack dense "$tmp/sites.csv" clients=site -o "$tmp/sites.h5"
bad 2 "ngram.bins.* 'many' is not an integer" "a value of the wrong type" ngram.bins=many
bad 2 'order = 3 .. 1: expected the lower end first' "a range upside down" "ngram.order=3 .. 1"
bad 2 'ridge.alpha has a range, but .*give it one value, or use another run.tuner$' "a range where none may be" "ridge.alpha=1 .. 2"
bad 2 'ngram.normalize.* .l3. is none of none, l2, average' "a wrong choice" ngram.normalize=l3
bad 2 'run.seed.* -3 is out of bounds.* 0 to 9007199254740992$' "a negative seed" run.seed=-3
bad 2 'space.configs.* 1e12 is out of bounds.* 0 to 1000000$' "more configurations than there may be" space.configs=1e12
bad 5 'space.configs.*run.memory' "more configurations than fit" space.configs=1000000 \
    run.memory=0.1
bad 5 'bins.*GB' "more features than fit" ngram.bins=2^24 run.memory=0.01
refused 5 'ridge.solver = cholesky.*run.memory.*ridge.solver = cg' "a factor that does not fit" \
    tune "$tmp/all.ini" run.data="$tmp/img.h5" rff.features=1000 ridge.solver=cholesky \
    run.memory=0.005 --plan
bad 2 'ridge.solver = cholesky needs the Gram matrices of fmap.feature = rff; use' "a solver that the map has nothing for" ridge.solver=cholesky
bad 2 'list needs space.file' "a list without a file" space.source=list
bad 3 'nothing.tsv: No such file' "a list that is missing" space.source=list space.file="$tmp/nothing.tsv"
bad 2 'order=2.* is not section.key=value' "an assignment without a section" order=2
bad 2 'no data set is named; give run.data' "no data" run.data=
bad 2 'run.teams = 3.*2 ranks' "more teams than ranks" run.teams=3
sed 's/^order/oder/' "$tmp/in.ini" >"$tmp/typo.ini"
refused 2 'typo.ini:13:.*oder.*order' "a typing error is named with file and line" \
    tune "$tmp/typo.ini" -o "$tmp/bad.h5"
refused 2 'run.task=fed: INPUT.ini is expected first' "an assignment in place of an input file" tune run.task=fed
refused 2 'run.teams=2: RUN.h5 is expected first' "and of a run" resume run.teams=2 run.workers=2
refused 3 'all.ini is not an HDF5 file' "a file that is no run is not called complete" resume "$tmp/all.ini"
refused 3 'missing.ini: No such file' "a missing input file" tune "$tmp/missing.ini"
refused 2 'rff.features.* 0 is out of bounds' "no features at all" tune "$tmp/all.ini" \
    run.data="$tmp/img.h5" rff.features=0 -o "$tmp/bad.h5"
[ ! -e "$tmp/bad.h5" ] && [ ! -e "$tmp/bad.d" ]
result $? "a refused run leaves no files"

# ---- bad data files ---------------------------------------------------------------------

bad 3 'nothing.h5: No such file' "a data file that is missing" run.data="$tmp/nothing.h5"
bad 3 'not an HDF5 file' "a data file that is no HDF5" run.data="$tmp/in.ini"
bad 4 'run.h5 is no packed data set' "a data file that is no packed one" run.data="$tmp/run.h5"
head -c 60000 "$tmp/doc.h5" >"$tmp/torn.h5"
bad 3 'torn.h5: truncated file' "a data file that is truncated" run.data="$tmp/torn.h5"
bad 2 'needs documents, but .*img.h5 holds numbers' "data of another form" run.data="$tmp/img.h5"
refused 3 'doc.h5.*not a run' "a report of no run" report "$tmp/doc.h5"
refused 3 'doc.h5 is not a run file or an exported winner .*weft info' "a winner of no run" eval "$tmp/doc.h5" "$tmp/doc.h5"
refused 4 'img.h5 holds bytes, but .* trained on documents' "a winner on data of another form" eval "$tmp/run.h5" "$tmp/img.h5"
refused 3 'there is no run .*never.h5' "to resume what never was" resume "$tmp/never.h5"
refused 3 'is not an HDF5 file' "information on no HDF5 file" info "$tmp/in.ini"

# ---- bad sources ------------------------------------------------------------------------

source_refused() # STATUS PATTERN STATEMENT READER SOURCE [key=value ...]
{
    refused "$1" "$2" "$3" pack "${@:4}" -o "$tmp/bad.h5"
}
mkdir "$tmp/cifar" "$tmp/empty"
for i in 1 2 3 4 5; do head -c 30730 /dev/zero >"$tmp/cifar/data_batch_$i.bin"; done
cp "$tmp/cifar/data_batch_1.bin" "$tmp/cifar/test_batch.bin"
seq 10 >"$tmp/cifar/batches.meta.txt"
source_refused 3 'empty/batches.meta.txt: No such file' "an archive that is missing" cifar "$tmp/empty"
source_refused 4 'data_batch_1.bin has 30730 bytes where 30730000' "an archive that is truncated" cifar "$tmp/cifar"
source_refused 3 'directory .*empty.*give the directory aclImdb' "a directory without reviews" imdb "$tmp/empty"
source_refused 3 'nothing: No such file' "a source that is missing" text "$tmp/nothing"
i=0
while [ $i -lt 40 ]; do
    i=$((i + 1))
    printf '%d\tsome words %d\n' $((i % 2)) $i
done >"$tmp/good.tsv"
{ cat "$tmp/good.tsv"; printf '1\tbad \377 byte\n'; } >"$tmp/utf8.tsv"
source_refused 4 'utf8.tsv:41: .*is not UTF-8' "invalid UTF-8" text "$tmp/utf8.tsv" encoding=utf-8
sed 's/^1/0/' "$tmp/good.tsv" >"$tmp/one.tsv"
source_refused 4 'one.tsv has 1 class, ' "one class only" text "$tmp/one.tsv"
awk 'BEGIN { for (i = 0; i < 40; i++) print i "," (i == 7 ? "inf" : 1) "," i % 2 }' >"$tmp/nan.csv"
source_refused 4 "line 8, column 2 is 'inf'" "a number that is none" dense "$tmp/nan.csv"
{
    cat "$tmp/good.tsv"
    printf '1\t\n0\t'
    yes 'long review' | head -c 10000000 | tr '\n' ' '
    echo
} >"$tmp/sizes.tsv"
runs "a review of 0 bytes and one of 10 MB are packed" pack text "$tmp/sizes.tsv" -o "$tmp/sizes.h5"
runs "and searched" tune "$tmp/in.ini" run.data="$tmp/sizes.h5" -o "$tmp/sizes-run.h5"
[ ! -e "$tmp/bad.h5" ] && [ -z "$(ls "$tmp" | grep tmp)" ]
result $? "a refused source leaves no files"

# ---- bad places to write ----------------------------------------------------------------

refused 3 'nowhere/bad.h5: No such file' "an output directory that is missing" \
    tune "$tmp/in.ini" -o "$tmp/nowhere/bad.h5"
refused 3 'in.ini/bad.h5: Not a directory' "an output directory that is a file" tune "$tmp/in.ini" -o "$tmp/in.ini/bad.h5"
for command in "list" "info $tmp/doc.h5" "report $tmp/run.h5 --csv"; do
    # shellcheck disable=SC2086
    timeout "$net" "$weft" $command >/dev/full 2>"$tmp/log"
    [ $? = 3 ] && [ "$(grep -c '^weft: cannot write' "$tmp/log")" = 1 ]
    result $? "a full disk for the output of ${command%% *} is told"
done
awk 'BEGIN { print "x,y"; for (i = 0; i < 40; i++) print i / 7 "," i % 2 }' >"$tmp/closed.csv"
"$weft" pack dense "$tmp/closed.csv" label=y -o "$tmp/closed.h5" <&- >&- 2>&-
check "streams that are closed stay so, and are no files that are written" [ $? = 3 ]

# With this setting MPI cannot start.
for command in "" --help --version list "list fed" "tune --help" "report $tmp/no.h5" "info $tmp/no.h5"; do
    # shellcheck disable=SC2086
    OMPI_MCA_btl=none "$weft" $command >"$tmp/out" 2>"$tmp/log"
    status=$?
    case $command in
    *no.h5) [ $status = 3 ] && [ "$(grep -c . "$tmp/log")" = 1 ] ;;
    *) [ $status = 0 ] && [ ! -s "$tmp/log" ] && [ -s "$tmp/out" ] ;;
    esac
    result $? "\`weft $command\` does without MPI"
done
mkdir "$tmp/mnt"
if unshare -rm mount -t tmpfs tmpfs "$tmp/mnt" 2>/dev/null; then
    program=$weft
    weft=$tmp/mounted
    for mode in ro size=200k; do
        printf '#!/bin/sh\nexec unshare -rm sh -c "mount -t tmpfs -o %s tmpfs %s && exec %s \\"\\$@\\"" weft "$@"\n' \
            $mode "$tmp/mnt" "$(realpath "$program")" >"$weft"
        chmod +x "$weft"
        refused 3 'mnt.*(Read-only|No space)' "an output directory mounted $mode" \
            tune "$tmp/in.ini" -o "$tmp/mnt/bad.h5"
        refused 3 'mnt.*(Read-only|No space)' "packing into it" \
            pack synthetic images rows=2000 -o "$tmp/mnt/bad.h5"
    done
    weft=$program
else
    for i in 1 2 3 4; do
        count=$((count + 1))
        echo "ok $count # SKIP no file system can be mounted here"
    done
fi
echo "1..$count"
