# Sourced by t_*.sh: a directory for files, and checks that print TAP. What a check wrote to
# $tmp/out and $tmp/log is shown when it fails.
weft=${WEFT:-build/opt/weft}
tmp=$(mktemp -d) && trap 'rm -rf "$tmp"' EXIT
count=0
result() # STATUS STATEMENT
{
    count=$((count + 1))
    if [ "$1" = 0 ]; then echo "ok $count - $2"; else
        echo "not ok $count - $2"
        cat "$tmp/out" "$tmp/log" 2>/dev/null | sed 's/^/# /'
    fi
}
digest() # [RUN.h5]: of that run, or of the one that was last reported in $tmp/out
{
    if [ $# -gt 0 ]; then "$weft" report "$1" 2>>"$tmp/log"; else cat "$tmp/out"; fi |
        sed -n 's/^digest *//p'
}
find_python() # MODULES: $python is one that has them, "h5py, matplotlib"; empty: there is none
{
    for python in ${PYTHON:-} python3 /usr/bin/python3; do
        "$python" -c "import $1" 2>/dev/null && return
    done
    python=
}
