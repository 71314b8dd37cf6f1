/* Sets a run up from its configuration: section [run], the plug-ins that it names, the
 * search space, the data. Whatever the user can mend is found here, before anything is
 * trained. Called by tune.c, plan.c and eval.c. */
#include "run_private.h"

#include <string.h>
#include <unistd.h>

static const weft_opt run_opts[] = {
    {.name = "task",
     .type = WEFT_TEXT,
     .at = offsetof(weft_run_opts, task),
     .def = "fmap",
     .about = "what is tuned; `weft list tasks`"},
    {.name = "tuner",
     .type = WEFT_TEXT,
     .at = offsetof(weft_run_opts, tuner),
     .def = "ws_sha",
     .about = "the method; `weft list tuners`"},
    {.name = "data",
     .type = WEFT_TEXT,
     .at = offsetof(weft_run_opts, data),
     .def = "",
     .about = "packed data set, made by `weft pack`"},
    {.name = "output",
     .type = WEFT_TEXT,
     .at = offsetof(weft_run_opts, output),
     .def = "run.h5",
     .about = "run file; -o on the command line"},
    {.name = "seed",
     .type = WEFT_LONG,
     .at = offsetof(weft_run_opts, seed),
     .def = "1",
     .lo = 0,
     .hi = 9007199254740992.0,
     .about = "of all random numbers"},
    {.name = "memory",
     .type = WEFT_REAL,
     .at = offsetof(weft_run_opts, memory),
     .def = "2",
     .lo = 0.001,
     .hi = 1e6,
     .about = "GB (1e9 bytes) a rank may use for features and states"},
    {.name = "time_limit",
     .type = WEFT_REAL,
     .at = offsetof(weft_run_opts, time_limit),
     .def = "0",
     .lo = 0,
     .hi = 1e9,
     .about = "seconds after which the run stops; `weft resume` goes on; 0: none"},
    {.name = "target",
     .type = WEFT_REAL,
     .at = offsetof(weft_run_opts, target),
     .def = "0",
     .lo = 0,
     .hi = 1e9,
     .about = "a loss (score = loss) or error rate that ends the search once a trial that "
              "may win has it (not a fit that maps share); 0: none"},
    {.name = "checkpoint",
     .type = WEFT_REAL,
     .at = offsetof(weft_run_opts, checkpoint),
     .def = "60",
     .lo = 0,
     .hi = 1e6,
     .about = "seconds of work that a killed run may lose within a job made of rounds"},
    {.name = "teams",
     .type = WEFT_INT,
     .at = offsetof(weft_run_opts, teams),
     .def = "1",
     .lo = 1,
     .hi = 1e6,
     .about = "teams of ranks that do jobs side by side; the result is the same"},
    {.name = "test",
     .type = WEFT_BOOL,
     .at = offsetof(weft_run_opts, test),
     .def = "yes",
     .about = "score the winner on the test part, once, at the end"},
    {0}};

const weft_kind weft_run_kind = {.name = "run",
                                 .about = "a run: what is tuned, how, on what data",
                                 .size = sizeof(weft_run_opts),
                                 .opts = run_opts};

/* ---- sections ----------------------------------------------------------------------- */

/* The kinds that have a section of an input file. */
typedef struct kinds {
    int n;
    int64_t room;
    const weft_kind **kind;
    weft_arena *mem;
} kinds;

/* Tasks may share a part: it is listed once. */
static void push(kinds *k, const weft_kind *kind)
{
    for (int i = 0; i < k->n; i++)
        if (k->kind[i] == kind) return;
    k->kind = weft_grow(k->mem, k->kind, sizeof *k->kind, k->n, &k->room);
    k->kind[k->n++] = kind;
}

static kinds all_kinds(weft_arena *mem)
{
    kinds k = {.mem = mem};
    push(&k, &weft_run_kind);
    push(&k, &weft_space_kind);
    for (int i = 0; weft_tasks[i]; i++) {
        push(&k, &weft_tasks[i]->kind);
        const weft_kind *const *part = weft_tasks[i]->parts;
        for (; part && *part; part++) push(&k, *part);
    }
    for (int i = 0; weft_features[i]; i++) push(&k, &weft_features[i]->kind);
    for (int i = 0; weft_models[i]; i++) push(&k, &weft_models[i]->kind);
    for (int i = 0; weft_nets[i]; i++) push(&k, &weft_nets[i]->kind);
    for (int i = 0; weft_tuners[i]; i++) push(&k, &weft_tuners[i]->kind);
    return k;
}

const char *const *weft_run_sections(weft_arena *mem, int *n)
{
    const kinds k = all_kinds(mem);
    const char **name = WEFT_NEW(mem, const char *, k.n);
    for (int i = 0; i < k.n; i++) name[i] = k.kind[i]->name;
    *n = k.n;
    return name;
}

/* 1 if an option of the plug-in names the kind. */
static int names(const weft_kind *plugin, const void *self, const weft_kind *kind)
{
    for (const weft_opt *o = plugin->opts; o->name; o++) {
        if (o->type != WEFT_TEXT) continue;
        const char *const *text = (const void *)((const char *)self + o->at);
        if (*text && strcmp(*text, kind->name) == 0) return 1;
    }
    return 0;
}

/* 1 if the run uses the plug-in: it is one of the fixed ones, a part of the task, or named
 * by task or tuner. */
static int is_chosen(const weft_run *r, const weft_kind *kind)
{
    if (kind == &weft_run_kind || kind == &weft_space_kind || kind == &r->task->kind ||
        kind == &r->tuner->kind)
        return 1;
    for (const weft_kind *const *part = r->task->parts; part && *part; part++)
        if (*part == kind) return 1;
    return names(&r->task->kind, r->task_self, kind) ||
           names(&r->tuner->kind, r->tuner_self, kind);
}

/* An input file may hold sections of plug-ins that this run does not use, as when another
 * tuner is named on the command line: they must be right, but are not missed. */
static weft_status check_others(weft_run *r)
{
    const kinds k = all_kinds(r->mem);
    for (int i = 0; i < k.n; i++) {
        const weft_kind *kind = k.kind[i];
        if (is_chosen(r, kind)) continue;
        TRY(weft_conf_bind(r->conf, kind, weft_arena_get(r->mem, 1, kind->size)));
        for (int e = 0; e < r->conf->n; e++)
            if (strcmp(r->conf->entry[e].section, kind->name) == 0)
                r->conf->entry[e].used = 1;
    }
    return WEFT_OK;
}

/* ---- binding ------------------------------------------------------------------------ */

static weft_status bind(weft_run *r)
{
    TRY(weft_conf_bind(r->conf, &weft_run_kind, &r->opts));
    TRY(weft_task_find(r->opts.task, &r->task));
    TRY(weft_tuner_find(r->opts.tuner, &r->tuner));
    r->task_self = weft_arena_get(r->mem, 1, r->task->kind.size);
    r->tuner_self = weft_arena_get(r->mem, 1, r->tuner->kind.size);
    TRY(weft_conf_bind(r->conf, &r->task->kind, r->task_self));
    TRY(weft_conf_bind(r->conf, &r->tuner->kind, r->tuner_self));
    const weft_kind *tuned[WEFT_MOST_TUNED];
    int ntuned;
    TRY(r->task->tuned(r->task_self, tuned, &ntuned));
    TRY(weft_space_read(&r->space, r->conf, tuned, ntuned, (uint64_t)r->opts.seed, r->mem));
    TRY(check_others(r));
    if (r->opts.data[0] == '\0')
        return weft_fail(WEFT_ECONF,
                         "no data set is named; give run.data = FILE.h5, made by "
                         "`weft pack`");
    /* Mixtures and results of all configurations, a few copies. */
    const double bytes = 8.0 * (double)r->space.count * (r->space.dim + 8) * 4;
    if (bytes > r->opts.memory * 1e9)
        return weft_fail(WEFT_ELIMIT,
                         "space.configs: %lld configurations take %.3g GB, "
                         "run.memory allows %g GB a rank; search fewer or allow more",
                         (long long)r->space.count, bytes / 1e9, r->opts.memory);
    return WEFT_OK;
}

weft_status weft_run_bind(weft_run *r, weft_conf *conf, weft_team *world, weft_arena *mem)
{
    *r = (weft_run){.world = world, .team = world, .teams = 1, .conf = conf, .mem = mem};
    return weft_agree(bind(r), world);
}

weft_status weft_run_divide(weft_run *r, int fewer)
{
    const int ranks = r->world->size;
    r->teams = r->opts.teams;
    if (r->teams > ranks && !fewer) {
        r->teams = 1;
        return weft_fail(WEFT_ECONF,
                         "run.teams = %d, but there are only %d ranks; ask for at most "
                         "that many teams, or start more ranks",
                         r->opts.teams, ranks);
    }
    if (r->teams > ranks) r->teams = ranks;
    if (r->teams == 1) return WEFT_OK;
    weft_team_split(r->world, r->teams, &r->own);
    r->team = &r->own;
    return WEFT_OK;
}

/* What can be checked only when the task stands. Local. */
static weft_status check_setup(const weft_run *r)
{
    const double bytes = 3.0 * (double)r->task->nstate(r->task_self, 1) * sizeof(real);
    if (bytes > r->opts.memory * 1e9)
        return weft_fail(WEFT_ELIMIT,
                         "the states of the training take %.3g GB, run.memory "
                         "allows %g GB a rank; use fewer features or allow more",
                         bytes / 1e9, r->opts.memory);
    int n;
    const char *const *section = weft_run_sections(r->mem, &n);
    return weft_conf_unused(r->conf, section, n);
}

/* By this rank's team: each has all the data. Collective over team. */
static weft_status open_team(weft_run *r, const char *data)
{
    TRY(weft_data_open(&r->data, data, r->team, r->mem));
    r->opened = 1;
    const weft_env env = {.team = r->team,
                          .conf = r->conf,
                          .data = &r->data,
                          .space = &r->space,
                          .seed = (uint64_t)r->opts.seed,
                          .memory = r->opts.memory * 1e9,
                          .mem = r->mem};
    TRY(weft_agree(r->task->setup(r->task_self, &env), r->team));
    TRY(weft_agree(check_setup(r), r->team));
    return weft_agree(
        r->tuner->setup(r->tuner_self, &r->space, (uint64_t)r->opts.seed, r->mem), r->team);
}

weft_status weft_run_open(weft_run *r, const char *data)
{
    weft_times_move(r->world, r->team);
    const weft_status st = open_team(r, data);
    weft_times_move(r->team, r->world);
    return weft_agree(st, r->world);
}

void weft_run_close(weft_run *r)
{
    if (r->opened) weft_data_close(&r->data);
    r->opened = 0;
    if (r->team == &r->own) weft_team_free(&r->own);
    r->team = r->world;
}
