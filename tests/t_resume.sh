#!/bin/bash
# A run resumes with other limits, teams and paths, which do not change results, to the same
# digest; a change of any setting that results depend on is refused by name. Prints TAP.
. tests/tap.sh

start() # STATUS PATTERN STATEMENT RANKS ARGUMENT...: ends with the status, and says the pattern
{
    if [ "$4" = 1 ]; then call "${@:5}"; else on "${@:4}"; fi
    [ $? = "$1" ] && grep -Eq -- "$2" "$tmp/out" "$tmp/log"
    result $? "$3"
}
check "images are packed" call pack synthetic images rows=400 -o "$tmp/img.h5"
cat >"$tmp/in.ini" <<END
[run]
data = $tmp/img.h5
tuner = asha
workers = 3
[asha]
reduction = 2
max_resource = 4
[space]
configs = 6
[fmap]
resource = iterations
model = ridge
[rff]
features = 200
gamma = log 1e-4 .. 1e-2
END
start 0 '^digest' "a search to its end" 1 tune "$tmp/in.ini" -o "$tmp/whole.h5"
whole=$(digest)
start 75 'time_limit.*weft resume' "the same is stopped" 1 tune "$tmp/in.ini" run.time_limit=1e-9 -o "$tmp/r.h5"

# ---- what is refused ----------------------------------------------------------------------

refused() # PATTERN STATEMENT ASSIGNMENT...
{
    start 2 "$1" "$2" 1 resume "$tmp/r.h5" "${@:3}"
}
for key in run.seed=2 run.workers=4 run.tuner=sha run.target=0.1 run.output=x.h5 run.clock=wall run.overhead=1 \
    rff.features=300 asha.reduction=3 rff.gamma=0.1 fmap.score=loss; do
    refused "^weft: command line: ${key%=*} = .*: only run.data, run.memory, .* may be changed, .*leave this out, or start another run" \
        "$key is refused" $key
done
refused 'run.tiem_limit = 9: only run.data, .* may be changed' "and so is what there is not" run.tiem_limit=9
refused "order=2.* is not section.key=value" "and what is no assignment" order=2
refused 'run.teams = none: ' "a value must be one" run.teams=none
refused 'run.memory = 0: 0 is out of bounds' "within its bounds" run.memory=0
refused 'run.memory.* is given twice' "given once" run.memory=1 run.memory=2
refused 'run.teams = 2, but there are only 1 rank' "teams that are asked for must be there" run.teams=2
call pack synthetic images rows=300 -o "$tmp/other.h5"
start 4 'other.h5 is not the data set that' "and the data the same" 1 resume "$tmp/r.h5" run.data="$tmp/other.h5"

# ---- what is taken ------------------------------------------------------------------------

mv "$tmp/img.h5" "$tmp/moved.h5"
start 3 'img.h5' "data that were moved are missed" 1 resume "$tmp/r.h5"
moved=run.data=$tmp/moved.h5
start 75 'time_limit = 1e-08' "but found where they are, under another limit of time" 1 resume "$tmp/r.h5" $moved \
    run.time_limit=1e-8
start 75 'time_limit = 1e-09' "which held for that start alone" 2 resume "$tmp/r.h5" $moved run.teams=2 run.memory=0.3
start 75 '0.5 GB a rank allowed' "memory is what is asked for" 2 resume "$tmp/r.h5" $moved run.memory=0.5 run.disk=1e-6
start 0 '^digest' "on two ranks in two teams, under other limits, it comes to its end" 2 resume "$tmp/r.h5" $moved \
    run.time_limit=0 run.teams=2 run.memory=0.4 run.disk=1e-6 run.checkpoint=1 run.watchdog=60
check "with the digest of the whole" has_digest "$whole"
grep -aq '^time_limit = 1e-9' "$tmp/r.h5" && ! grep -aq '^checkpoint = 1' "$tmp/r.h5"
result $? "its configuration is what the run was begun with"

# ---- from where ---------------------------------------------------------------------------

weft=$(realpath "$weft")
from() # DIRECTORY ...: start, in that directory
{
    cd "$1" && start "${@:2}"
    cd - >/dev/null || exit
}
mkdir "$tmp/a" "$tmp/b" "$tmp/a/out"
mv "$tmp/moved.h5" "$tmp/a/img.h5"
sed 's|^data = .*|data = img.h5|' "$tmp/in.ini" >"$tmp/a/in.ini"
for name in r s t; do
    from "$tmp/a" 75 'time_limit' "a run on data that are named from where it begins is stopped" 1 tune in.ini run.time_limit=1e-9 \
        -o out/$name.h5
done
from "$tmp/b" 0 '^digest' "and goes on from another directory" 2 resume ../a/out/r.h5 run.time_limit=0
check "to the same digest" has_digest "$whole"
[ "$("$weft" report "$tmp/a/out/r.h5" | sed -n 's/^digest *//p')" = "$whole" ]
result $? "which its file has, too"
mv "$tmp/a/img.h5" "$tmp/b/data.h5"
from "$tmp/b" 0 '^digest' "where a path that is typed begins" 1 resume ../a/out/s.h5 run.data=data.h5 run.time_limit=0
check "with the same digest" [ "$(digest)" = "$whole" ]
cp "$tmp/b/data.h5" "$tmp/a/img.h5"
mv "$tmp/a" "$tmp/c"
from "$tmp" 0 'where the run was begun, is missing: it goes on in .*/c$' "a directory that was moved as a whole is found" 1 \
    resume c/out/t.h5 run.time_limit=0
check "and its run has the same digest" [ "$(digest)" = "$whole" ]
mkdir "$tmp/a"
cd "$tmp/a" && call tune ../c/in.ini run.data=../c/img.h5 run.time_limit=1e-9 -o "$tmp/u.h5"
cd - >/dev/null || exit
rmdir "$tmp/a"
start 3 '^weft: .*u.h5: cannot enter .*/a on .*, where the run was begun .*; put that directory back' \
    "a directory that is gone is missed, in one line" 2 resume "$tmp/u.h5"
mkdir "$tmp/a"
start 0 '^digest' "and put back the run goes on" 1 resume "$tmp/u.h5" run.time_limit=0

# ---- what is told -------------------------------------------------------------------------

marked=$("$weft" list run | awk '/^  [a-z]/ { key = $1 } /weft resume. may change/ { printf "%s ", key }')
check "the list of options marks them" [ "$marked" = "data memory disk time_limit checkpoint watchdog teams " ]
complete=$(PATH=$(dirname "$(realpath "$weft")"):$PATH bash -c '. src/cli/weft.bash
    COMP_WORDS=(weft resume r.h5 run.t) COMP_CWORD=3; _weft; echo ${COMPREPLY[*]}')
check "and so does completion" [ "$complete" = "run.time_limit= run.teams=" ]
echo "1..$count"
