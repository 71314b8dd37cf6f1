# Completion of weft for bash. Names of readers and of other plug-ins are asked of the program.

# The plug-ins of a kind, or of all kinds.
_weft_names()
{
    weft list "$@" 2>/dev/null | awk '/^  / { print $1 }'
}

# Completes $1 to files with the ending $2, and directories.
_weft_files()
{
    compopt -o filenames 2>/dev/null
    mapfile -t COMPREPLY < <(compgen -f -X "!*$2" -- "$1"; compgen -d -- "$1")
}

# Completes $1 to the names of runs that were begun, RUN.h5 for each RUN.d, and directories that are
# not of a run.
_weft_begun()
{
    compopt -o filenames 2>/dev/null
    mapfile -t COMPREPLY < <(compgen -d -X '*.best' -- "$1" | sed '/\.failed$/d; s/\.d$/.h5/')
}

# Options that a resume may change, as run.KEY=.
_weft_changeable()
{
    weft list run 2>/dev/null | awk '/^  [a-z]/ { key = $1 } /weft resume. may change/ { print "run." key "=" }'
}

_weft()
{
    local cur=${COMP_WORDS[COMP_CWORD]} prev=${COMP_WORDS[COMP_CWORD - 1]}
    local command=${COMP_WORDS[1]} words=
    COMPREPLY=()
    case $COMP_CWORD,$prev,$command,$cur in
    1,*) words='pack tune resume serve eval predict export report info list doctor help --version --help' ;;
    2,*,help,*) words='pack tune resume serve eval predict export report info list doctor' ;;
    *,-o,predict,* | *,--output,predict,*) compopt -o default 2>/dev/null ;;
    *,-o,* | *,--output,*) _weft_files "$cur" .h5 ;;
    *,pack,-* | *,predict,-* | *,export,-*) words='-o --output --force --help' ;;
    *,--data,* | *,--plan-for,*) _weft_files "$cur" .h5 ;;
    *,tune,-*) words='-o --output --data --plan --force --help' ;;
    *,serve,-*) words='-o --output --plan --force --help' ;;
    *,resume,-*) words='--retry-failed --help' ;;
    *,report,-*) words='-o --output --force --csv --json --trials --importance --help' ;;
    *,--plot,*) _weft_files "$cur" .svg ;;
    *,info,-*) words='--plot --force --help' ;;
    *,list,-*) words='--ini --plan-for --help' ;;
    *,-*) words=--help ;;
    2,*,pack,*) words=$(_weft_names readers) ;;
    *,pack,*) _weft_files "$cur" '' ;;
    2,*,predict,*) _weft_files "$cur" .h5 ;;
    *,predict,*) _weft_files "$cur" '' ;;
    *,list,*) words="readers features models nets algorithms tasks tuners samplers mixings others sections run space partition $(_weft_names)" ;;
    2,*,resume,*) _weft_begun "$cur" ;;
    *,resume,*) compopt -o nospace 2>/dev/null; words=$(_weft_changeable) ;;
    *,tune,* | *,serve,*) _weft_files "$cur" .ini ;;
    *,doctor,*) compopt -o filenames 2>/dev/null && mapfile -t COMPREPLY < <(compgen -d -- "$cur") ;;
    *) _weft_files "$cur" .h5 ;;
    esac
    [ -z "$words" ] || mapfile -t COMPREPLY < <(compgen -W "$words" -- "$cur")
}
complete -F _weft weft
