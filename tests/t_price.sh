#!/bin/sh
# Samplers that prefer cheap configurations (per_cost): a task whose virtual time is the
# resource of jobs, or what they used of it, tells their operations instead, and where neither is
# known they are refused. Prints TAP.
. tests/tap.sh

tune() # RANKS NAME [key=value ...]
{
    ranks=$1 name=$2
    shift 2
    timeout "$net" mpirun -n "$ranks" "$weft" tune "$tmp/$name.ini" "$@" -o "$tmp/r.h5" --force \
        >"$tmp/out" 2>"$tmp/log" </dev/null
}
changes() # STATEMENT NAME SAMPLER [key=value ...]: per_cost makes another search
{
    statement=$1 name=$2 sampler=$3
    shift 3
    tune 1 "$name" run.sampler="$sampler" "$@" && first=$(digest) &&
        tune 1 "$name" run.sampler="$sampler" "$sampler.per_cost=yes" "$@"
    result $? "$name: $sampler searches with per_cost"
    [ -n "$first" ] && [ "$first" != "$(digest)" ]
    result $? "$statement"
}
refused() # PATTERN STATEMENT NAME [key=value ...]: by one line
{
    pattern=$1 statement=$2
    shift 2
    tune 2 "$@"
    [ $? = 2 ] && [ "$(grep -c '^weft: ' "$tmp/log")" = 1 ] && grep -Eq "^weft: .*($pattern)" "$tmp/log"
    result $? "refused: $statement"
}

"$weft" pack synthetic documents rows=300 -o "$tmp/documents.h5" 2>"$tmp/log" &&
    "$weft" pack synthetic images rows=300 -o "$tmp/images.h5" 2>>"$tmp/log" &&
    "$weft" pack synthetic federated=generated clients=20 -o "$tmp/fed.h5" 2>>"$tmp/log"
result $? "data are packed"
cat >"$tmp/sgd.ini" <<END
[run]
data = $tmp/documents.h5
task = sgd
tuner = random
workers = 3
[space]
configs = 24
[random]
resource = 1
[sgd]
model = txtcnn
dim = 4
steps = 5
[txtcnn]
groups = 1
f1 = log 2 .. 60
k1 = 1 .. 6
[train]
lr = log 0.001 .. 1
END
cat >"$tmp/fmap.ini" <<END
[run]
data = $tmp/images.h5
tuner = random
workers = 3
[space]
configs = 20
[rff]
features = 60
gamma = log 1e-4 .. 1
kernel = gaussian | laplacian
projection = structured
END
cat >"$tmp/fed.ini" <<END
[run]
data = $tmp/fed.h5
task = fed
tuner = random
workers = 3
[space]
configs = 20
[random]
resource = 1
[fed]
model = linear
cohort = 4
[client]
epochs = log 1 .. 20
lr = log 0.01 .. 1
END
cat >"$tmp/flow.ini" <<END
[run]
task = flow
tuner = random
[space]
configs = 20
[flow]
step = log 0.01 .. 1.9
END
cat >"$tmp/command.ini" <<END
[run]
task = command
tuner = random
[space]
configs = 20
[command]
run = echo loss=\$PARAM_x
[parameters]
x = 0.0 .. 1.0
END
printf 'config\tresource\tloss\tx\n0\t1\t0.1\t1\n1\t1\t0.2\t2\n2\t1\t0.3\t3\n' >"$tmp/curves.tsv"
cat >"$tmp/replay.ini" <<END
[run]
task = replay
tuner = random
[space]
configs = 20
[replay]
table = $tmp/curves.tsv
[columns]
x = 1 .. 3
END

cat >"$tmp/ngram.ini" <<END
[run]
data = $tmp/documents.h5
tuner = random
workers = 3
[space]
configs = 20
[fmap]
feature = ngram
[ngram]
bins = 2^10
order = 1 .. 3
alpha = log 0.01 .. 10
END

for sampler in tpe kde forest; do
    changes "$sampler: task sgd counts the operations of a job" sgd $sampler
done
cost=$(digest)
tune 2 sgd run.teams=2 run.sampler=forest forest.per_cost=yes
[ -n "$cost" ] && [ "$cost" = "$(digest)" ]
result $? "two teams make the same search"
rm -f "$tmp/r.h5"
tune 1 sgd run.sampler=forest forest.per_cost=yes run.time_limit=1e-9
[ $? = 75 ] && timeout "$net" "$weft" resume "$tmp/r.h5" run.time_limit=0 >"$tmp/out" 2>"$tmp/log"
result $? "one that was stopped is resumed"
[ "$cost" = "$(digest)" ]
result $? "and is the same"
tune 1 sgd run.sampler=forest forest.per_cost=yes random.resource=6 sgd.score=loss sgd.patience=1
cost=$(digest)
tune 2 sgd run.sampler=forest forest.per_cost=yes random.resource=6 sgd.score=loss sgd.patience=1 run.teams=2
[ -n "$cost" ] && [ "$cost" = "$(digest)" ]
result $? "also of trainings that stop early, for what they trained"
same() # STATEMENT NAME: as the last run, by two ranks in one team and in two
{
    cost=$(digest)
    tune 2 "$2" run.sampler=tpe tpe.per_cost=yes && one=$(digest) &&
        tune 2 "$2" run.sampler=tpe tpe.per_cost=yes run.teams=2
    result $? "$2: two ranks search, also in two teams"
    [ -n "$cost" ] && [ "$cost" = "$one" ] && [ "$cost" = "$(digest)" ]
    result $? "$1"
}
changes "task fmap, too, for images" fmap tpe
same "on any ranks and teams alike" fmap
changes "and for documents" ngram tpe
same "on any ranks and teams alike" ngram
changes "and task fed without speeds of devices" fed tpe
same "on any ranks and teams alike" fed
changes "but with them their seconds count" fed tpe device.sample_seconds=1
refused 'tpe.per_cost = yes.*task command.*tpe.per_cost = no' "costs of a program, which are not known" \
    command run.sampler=tpe tpe.per_cost=yes
refused 'kde.per_cost = yes.*task flow.*kde.per_cost = no' "exact losses whose jobs all last equally long" \
    flow run.sampler=kde kde.per_cost=yes
tune 1 flow run.sampler=kde kde.per_cost=yes flow.spread=1
result $? "which they do not where a spread is given"
refused 'tpe.per_cost = yes.*task replay.*tpe.per_cost = no' "a table without seconds" \
    replay run.sampler=tpe tpe.per_cost=yes
sed -i 's/^\(config.*\)/\1\tseconds/; s/^[0-2].*/&\t7/' "$tmp/curves.tsv"
tune 1 replay run.sampler=tpe tpe.per_cost=yes
result $? "but one with them is taken"
echo "1..$count"
