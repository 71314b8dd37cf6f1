#!/bin/bash
# A task and a network are added to a copy of the tree by a new file and a word of the registry
# each: no other file of weft knows a task or a network by name. Prints TAP.
. tests/tap.sh

build=$(dirname "$weft")
case $build in
    /*) copy=build/$(basename "$build") ;;
    *) copy=$build ;;
esac
tree=$tmp/tree
mkdir -p "$tree/$copy"
cp -Rp Makefile include src "$tree"
cp -Rp config.mk "$tree" 2>/dev/null
# What is built is not built again.
[ "$copy" != "$build" ] || cp -Rp "$build/obj" "$build/flags" "$tree/$copy"

mkdir "$tree/src/task/bowl"
cat >"$tree/src/task/bowl/bowl.c" <<'END'
/* Task bowl: the bottom of a parabola, and the size of a network. */
#include "weft/base/base.h"
#include "weft/net/net.h"
#include "weft/registry.h"
#include "weft/task/task.h"

#include <math.h>

typedef struct bowl {
    const char *net_name;
    double x;
    weft_env env;
} bowl;

static const weft_opt bowl_opts[] = {
    WEFT_TEXT_OPT("net", bowl, net_name, "linear", "network; `weft list nets`"),
    WEFT_REAL_OPT("x", bowl, x, "0", -1, 1, "where", .role = WEFT_PER_TRIAL),
    {0},
};

static const weft_choice bowl_choices[] = {{"net", weft_net_kinds}, {0}};

static const weft_metric bowl_metrics[] = {{"valid_loss", "(x - 0.25)^2", "loss", NULL},
                                           {0}};

static const char *bowl_single(const void *self)
{
    (void)self;
    return "run.task = bowl";
}

static int64_t bowl_resource(const void *self)
{
    (void)self;
    return 7;
}

static weft_status bowl_tuned(void *self, const weft_kind *kind[WEFT_MAX_TUNED], int *n)
{
    const bowl *t = self;
    const weft_net *net;
    TRY(weft_net_find(t->net_name, &net));
    kind[0] = &weft_task_bowl.kind;
    kind[1] = &net->kind;
    *n = 2;
    return WEFT_OK;
}

static weft_status bowl_setup(void *self, const weft_env *env)
{
    bowl *t = self;
    const weft_net *net;
    const weft_shape rows = {.form = WEFT_REALS, .d = 3, .classes = 2};
    t->env = *env;
    TRY(weft_net_find(t->net_name, &net));
    void *made = weft_arena_alloc(env->mem, 1, net->kind.size);
    TRY(weft_conf_bind(env->conf, &net->kind, made));
    TRY(net->setup(made, &rows));
    weft_log(WEFT_INFO, "%lld weights", (long long)net->nweight(made));
    return WEFT_OK;
}

static void bowl_nstate(const void *self, const weft_job *job, weft_state *size)
{
    (void)self;
    (void)job;
    size->nx = 1;
}

static void bowl_cost(const void *self, const weft_job *job, weft_cost *out)
{
    (void)self;
    *out = (weft_cost){.flops = job ? job->resource : 1};
}

static weft_status bowl_step(void *self, const weft_job *job, int64_t unit,
                             weft_state *state, double *row, weft_result *res)
{
    bowl t = *(const bowl *)self;
    (void)unit;
    (void)row;
    weft_space_put(t.env.space, job->mix.conf, &weft_task_bowl.kind, &t);
    state->x[0] = (real)t.x;
    res->loss = res->metric[0] = (t.x - 0.25) * (t.x - 0.25);
    res->cost = job->resource;
    res->arm_count[0] = 1;
    res->arm_loss[0] = res->loss;
    res->arm_wrong[0] = NAN;
    return WEFT_OK;
}

const weft_task weft_task_bowl = {.kind = {"bowl", "the bottom of a parabola", sizeof(bowl), bowl_opts, NULL},
.choices = bowl_choices,
.tuner = "asha",
.plan = {.resource = bowl_resource, .single = bowl_single},
.traits = {.data = WEFT_DATA_NONE, .metrics = bowl_metrics, .lost = "the bowl"},
.tuned = bowl_tuned,
.setup = bowl_setup,
.nstate = bowl_nstate,
.cost = bowl_cost,
.step = bowl_step,
};
END
# A network with another name, options and section, which tells how many weights it has.
# It gives no representations.
members='.nweight = weft_stack_nweight, .tensors = weft_stack_tensors, .flops = weft_stack_flops, .work = weft_stack_work'
members="$members, .grad = weft_stack_grad, .score = weft_stack_score"
sed "s/mlp/wide/g; s/WEFT_STACK_MEMBERS/$members/" src/net/mlp.c >"$tree/src/net/wide.c"
sed -i 's/^#define WEFT_TASKS(X) */&X(bowl) /; s/^#define WEFT_NETS(X) */&X(wide) /' \
    "$tree/include/weft/registry.h"
[ "$(diff -rq include "$tree/include" | wc -l)" = 1 ] && [ "$(diff -rq src "$tree/src" | grep -vc '^Only in ')" = 0 ]
result $? "two files are added"
[ "$(diff include/weft/registry.h "$tree/include/weft/registry.h" | grep -c '^>')" = 2 ]
result $? "two lines are changed"

(cd "$tree" && make -j2 BUILD="$(dirname "$copy")") >"$tmp/log" 2>&1 && ! grep -q '\[-W' "$tmp/log"
result $? "they are compiled without a warning"
new=$tree/$copy/weft
cd "$tmp" || exit 1

shown() # PATTERN STATEMENT ARGUMENT...: weft ends well and prints it
{
    weft=$new call "${@:3}" && grep -q "$1" "$tmp/out" "$tmp/log"
    result $? "$2"
}
refused() # PATTERN STATEMENT ARGUMENT...
{
    ! weft=$new call "${@:3}" && grep -q "$1" "$tmp/log"
    result $? "$2"
}
shown 'run.tuner = asha, a job of resource 7' "the task is listed with its schedule and resource" list bowl
shown '^\[wide\]' "the network has a section of the input file" list --ini
printf '[run]\ntask = bowl\n[space]\nconfigs = 8\n[bowl]\nx = -1.0 .. 1.0\n' >"$tmp/bowl.ini"
shown 'asha' "its schedule is the default" tune "$tmp/bowl.ini" --plan
shown ' 8 weights' "the task searches, with a network of the registry" tune "$tmp/bowl.ini" run.tuner=random -o "$tmp/bowl.h5"
shown '^winner .*bowl.x=0.' "its run is reported" report "$tmp/bowl.h5"
refused 'bowl.net is linear.*bowl.net = wide' "options of a network that it does not choose are refused" \
    tune "$tmp/bowl.ini" run.tuner=random wide.hidden=3 -o "$tmp/wide.h5"
shown ' 20 weights' "and read of the one that it chooses" \
    tune "$tmp/bowl.ini" run.tuner=random bowl.net=wide wide.hidden=3 -o "$tmp/wide.h5"
"$new" pack synthetic images rows=200 -o "$tmp/rows.h5" >"$tmp/out" 2>"$tmp/log" &&
    printf '[run]\ntask = sgd\ndata = %s\ntuner = random\n[random]\nresource = 1\n' "$tmp/rows.h5" >"$tmp/sgd.ini"
shown '^loss\|^test' "an old task trains the new network" tune "$tmp/sgd.ini" sgd.model=wide wide.hidden=4 -o "$tmp/sgd.h5"
"$new" pack synthetic images rows=200 clients=4 -o "$tmp/clients.h5" >"$tmp/out" 2>"$tmp/log"
refused 'knn compares .* fed.model = wide does not give; use another' "answers by neighbours are refused to it" \
    tune "$tmp/sgd.ini" run.task=fed run.data="$tmp/clients.h5" fed.algorithm=knn fed.model=wide wide.hidden=4 fed.cohort=2 -o "$tmp/knn.h5"
mpirun -n 2 "$new" tune "$tmp/sgd.ini" sgd.model=mlp mlp.hidden=4 -o "$tmp/same.h5" >"$tmp/out" 2>"$tmp/log"
result $? "two ranks train the network that it was copied from"
weft=$new
[ -n "$(digest "$tmp/same.h5")" ] && [ "$(digest "$tmp/sgd.h5")" = "$(digest "$tmp/same.h5")" ]
result $? "to the same digest"
echo "1..$count"
