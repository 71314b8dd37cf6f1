# Sourced by t_*.sh: a directory for files, and checks that print TAP. What a check wrote to
# $tmp/out and $tmp/log is shown when it fails, and the directory stays then, as is told.
weft=${WEFT:-build/opt/weft}
tmp=$(mktemp -d) && trap '[ -z "$forking" ] || kill "$forking"; [ "$failed" ] || rm -rf "$tmp"' EXIT
count=0 failed= forking=
result() # STATUS STATEMENT
{
    count=$((count + 1))
    if [ "$1" = 0 ]; then echo "ok $count - $2"; else
        echo "not ok $count - $2"
        cat "$tmp/out" "$tmp/log" 2>/dev/null | sed 's/^/# /'
        [ "$failed" ] || echo "# its files are kept in $tmp"
        failed=$count
    fi
}
check() # STATEMENT COMMAND...: that this succeeds
{
    "${@:2}"
    result $? "$1"
}
digest() # [RUN.h5]: of that run, or of the one that was last reported in $tmp/out
{
    if [ $# -gt 0 ]; then "$weft" report "$1" 2>>"$tmp/log"; else cat "$tmp/out"; fi |
        sed -n 's/^digest *//p'
}
has_digest() # DIGEST [RUN.h5]: `digest` prints this one, which is not empty
{
    [ -n "$1" ] && [ "$(digest "${@:2}")" = "$1" ]
}
put_aside() # moves the run r.h5 and what is beside it to a directory of its own, and names it
{
    aside=$tmp/aside-$((asides = ${asides:-0} + 1))
    mkdir "$aside"
    cp "$tmp/log" "$aside" 2>/dev/null
    mv "$tmp"/r.* "$aside"
    echo "# $1: kept in $aside"
}
find_python() # MODULES: $python is one that has them, "h5py, matplotlib"; empty: there is none
{
    for python in ${PYTHON:-} python3 /usr/bin/python3; do
        "$python" -c "import $1" 2>/dev/null && return
    done
    python=
}
need_python() # MODULES: the same; without one the test is left out
{
    find_python "$1"
    [ -n "$python" ] || { echo "1..0 # SKIP no Python with $1" && exit; }
}
fork_python() # MODULES: from now on $python has them already; its output goes to files of its own, or pipes
{
    [ "$python" ] && mkdir "$tmp/forked" || return
    # shellcheck disable=SC2086
    "$python" tests/forked.py "$tmp/forked" $1 &
    forking=$!
    until [ -x "$tmp/forked/python" ]; do kill -0 $forking 2>/dev/null && sleep 0.02 || return; done
    python=$tmp/forked/python
}
python_first() # $python is the python3 in $tmp/bin; a link would not have the modules of a virtual environment
{
    mkdir "$tmp/bin" && printf '#!/bin/sh\nexec "%s" "$@"\n' "$(command -v "$python")" >"$tmp/bin/python3" &&
        chmod +x "$tmp/bin/python3"
}
programs() # prints the processes that run a program in Python of this test's directory
{
    grep -la "$tmp/[a-z]*\.py" /proc/[0-9]*/cmdline 2>/dev/null | grep .
}
none_left() # none of these outlives its run
{
    for _ in $(seq 100); do
        programs >/dev/null || return 0
        sleep 0.1
    done
    return 1
}
# A command that takes this many seconds hangs: far more than any needs on a machine that is busy
# with ten times as much.
net=1800
call() # ARGUMENT...: weft with these, with what it prints in $tmp/out and $tmp/log
{
    timeout "$net" "$weft" "$@" >"$tmp/out" 2>"$tmp/log"
}
on() # RANKS ARGUMENT...: the same by so many ranks
{
    timeout "$net" mpirun -n "$1" "$weft" "${@:2}" >"$tmp/out" 2>"$tmp/log" </dev/null
}
# refusal STATUS WANTED PATTERN STATEMENT: a check that a command which ended with that status was
# refused before any job: the status is one wanted, [1-9], and one line of weft matches.
refusal()
{
    # shellcheck disable=SC2053
    [[ $1 = $2 ]] && [ "$(grep -c '^weft: ' "$tmp/log")" = 1 ] && grep -Eq "^weft: .*($3)" "$tmp/log" &&
        ! grep -q ' job [0-9]* of ' "$tmp/log"
    result $? "$4"
}
refuses() # STATUS PATTERN STATEMENT COMMAND...: a check that this command is refused so
{
    "${@:4}"
    refusal $? "$1" "$2" "$3"
}
# With WEFT_HOLD=TEXT a run stops itself at the line of its log with TEXT, until it gets SIGCONT.
held() # PROCESS: waits until it has; fails if it ends before
{
    while :; do
        case $(sed -n 's/^State:[[:space:]]*//p' "/proc/$1/status" 2>/dev/null) in
        T*) return 0 ;;
        Z* | X* | '') return 1 ;;
        esac
        sleep 0.02
    done
}
# launch RANKS RANK EVENT COMMAND...: begins it by mpirun, as $run; that rank holds at the event.
launch()
{
    rm -f "$tmp/pids"
    ranks=$1
    shift
    # shellcheck disable=SC2016
    timeout -k 10 $net mpirun -n "$ranks" sh -c 'r=${OMPI_COMM_WORLD_RANK:-$PMI_RANK}; echo "$r $$" >>"$0"
        [ "$r" != "$1" ] || export WEFT_HOLD="$2"
        shift 2 && exec "$@"' "$tmp/pids" "$@" >"$tmp/out" 2>"$tmp/log" &
    run=$!
}
rank() # RANK: prints its process once it has begun
{
    until sed -n "s/^$1 //p" "$tmp/pids" 2>/dev/null | grep . || ! kill -0 $run; do sleep 0.02; done
}
