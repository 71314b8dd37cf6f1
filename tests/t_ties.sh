#!/bin/bash
# Of jobs of equal score, of which few validation samples make many, that of the lowest mean
# validation loss wins, whatever its number, with any ranks and teams. Prints TAP.
. tests/tap.sh
need_python h5py

# lowest FILE: its winner is the job of the lowest (score, loss) of those of the most
# resource, and there are others of its score and a higher loss.
lowest()
{
    "$python" - "$@" >>"$tmp/log" 2>&1 <<'END'
import h5py, sys
f = h5py.File(sys.argv[1], "r")
e = f["events"]
may = [i for i in range(len(e["job"])) if e["wins"][i] > 0]
most = max(e["resource"][i] for i in may)
of = {e["job"][i]: (e["loss"][i], e["valid_loss"][i]) for i in may if e["resource"][i] == most}
won = of[f["winner"].attrs["job"]]
print(len(of), "jobs, won:", won)
ties = [x for x in of.values() if x[0] == won[0] and x[1] > won[1]]
sys.exit(won != min(of.values()) or not ties)
END
}

decided() # STATEMENT ARGUMENT...: a search in which several jobs have the winner's score
{
    rm -rf "$tmp"/run.*
    call tune "$tmp/in.ini" "${@:2}" -o "$tmp/run.h5" && lowest "$tmp/run.h5"
    result $? "$1: the lowest loss wins among equal scores"
    whole=$(digest "$tmp/run.h5")
    for teams in 1 2; do
        rm -rf "$tmp"/run.*
        on 2 tune "$tmp/in.ini" "${@:2}" run.teams=$teams -o "$tmp/run.h5" && lowest "$tmp/run.h5"
        result $? "so it does with two ranks, $teams team"
        check "with the same digest" has_digest "$whole" "$tmp/run.h5"
    done
}

call pack synthetic images rows=200 -o "$tmp/img.h5" &&
    "$weft" pack synthetic federated=generated clients=12 -o "$tmp/fed.h5" >>"$tmp/log" 2>&1
result $? "few images and few clients are packed"
cat >"$tmp/in.ini" <<END
[run]
data = $tmp/img.h5
[space]
configs = 30
[rff]
features = 64
gamma = log 1e-4 .. 1e-2
END
decided "a sweep" run.tuner=random run.seed=2
cat >"$tmp/in.ini" <<END
[run]
task = sgd
data = $tmp/img.h5
tuner = asha
[space]
configs = 16
[asha]
reduction = 2
max_resource = 4
[sgd]
model = linear
[train]
lr = log 1e-3 .. 1
END
decided "networks"
cat >"$tmp/in.ini" <<END
[run]
task = fed
data = $tmp/fed.h5
tuner = sha
[space]
configs = 12
[sha]
eliminations = 1
max_resource = 4
[fed]
cohort = 3
max_valid = 4
[client]
lr = log 1e-4 .. 1e-2
END
decided "a federation" run.seed=2
echo "1..$count"
