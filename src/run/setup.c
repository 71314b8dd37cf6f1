/* Sets up a run from its configuration: section [run], the plug-ins that it names, the
 * search space, the data. All errors that the user can correct are found here, before
 * training starts. */
#include "setup.h"
#include "host/signals.h"
#include "keys.h"
#include "price.h"
#include "sched/progress.h"
#include "weft/registry.h"

#include <string.h>
#include <unistd.h>

/* ---- binding ---- */

/* Replaces `auto` by the task's default, so that the run file has all values. */
static void set_default(weft_run *r, const char *section, const char *key,
                        const char *value)
{
    weft_conf_default(r->conf, section, key, value);
    r->defaults = weft_arena_text(r->mem, "%s%s%s.%s = %s", r->defaults,
                                  *r->defaults ? ", " : "", section, key, value);
}

/* Binds the options of a part of the search; a part without options has no section. */
static weft_status bind_part(weft_run *r, const weft_kind *kind, void **self)
{
    *self = weft_arena_alloc(r->mem, 1, kind->size);
    return kind->opts->name ? weft_conf_bind(r->conf, kind, *self) : WEFT_OK;
}

/* Binds the sampler and the mixing. */
static weft_status bind_parts(weft_run *r)
{
    weft_search *s = &r->search;
    TRY(weft_sampler_find(r->opts.sampler, &s->sampler));
    TRY(bind_part(r, &s->sampler->kind, &s->sampler_self));
    TRY(weft_mixing_find(r->opts.mixing, &s->mixing));
    TRY(bind_part(r, &s->mixing->kind, &s->mixing_self));
    if (!s->mixing->moves || r->task->moves) return WEFT_OK;
    return weft_fail(
        WEFT_ECONF,
        "run.mixing = %s with run.task = %s, whose jobs do not update a mixture; "
        "use run.mixing = none",
        r->opts.mixing, r->opts.task);
}

/* The setting because of which the task's jobs train one configuration each; NULL: they may
 * train mixtures. */
static const char *single(const weft_run *r)
{
    return r->task->single ? r->task->single(r->task_self) : NULL;
}

/* The tuner that run.tuner = auto selects. */
static const char *default_tuner(const weft_run *r)
{
    const weft_tuner *own;
    if (r->space.dim == 0) return "random";
    int shares = weft_tuner_find(r->task->tuner, &own) == WEFT_OK && own->shared;
    return shares && single(r) ? weft_tuner_sha.kind.name : r->task->tuner;
}

static weft_status check_single(const weft_run *r)
{
    if (!r->search.tuner->shared || !single(r) || r->space.count == 1) return WEFT_OK;
    return weft_fail(WEFT_ECONF,
                     "run.tuner = %s trains a mixture of configurations, and %s trains one "
                     "at a time; use run.tuner = random, sha, asha, hyperband or pbt",
                     r->opts.tuner, single(r));
}

/* Binds the tuner, and sets the resource of its jobs to the task's default if it is not
 * given. */
static weft_status bind_tuner(weft_run *r)
{
    if (strcmp(r->opts.tuner, "auto") == 0) {
        r->opts.tuner = default_tuner(r);
        set_default(r, "run", "tuner", r->opts.tuner);
    }
    weft_search *s = &r->search;
    TRY(weft_tuner_find(r->opts.tuner, &s->tuner));
    TRY(check_single(r));
    const weft_kind *kind = &s->tuner->kind;
    TRY(bind_part(r, kind, &s->tuner_self));
    for (const weft_opt *o = kind->opts; o->name; o++) {
        if (strcmp(o->name, "resource") != 0 || weft_opt_value(o, s->tuner_self) > 0)
            continue;
        weft_opt_set(o, s->tuner_self, (double)weft_run_resource(r));
        set_default(r, kind->name, o->name,
                    weft_arena_text(r->mem, "%lld", (long long)weft_run_resource(r)));
    }
    return bind_parts(r);
}

/* Jobs of different resource may compete only if their scores are equally precise. */
static weft_status check_early(const weft_run *r)
{
    const weft_search *s = &r->search;
    const char *early = s->tuner->early ? s->tuner->early(s->tuner_self) : NULL;
    const char *unsure = r->task->unsure ? r->task->unsure(r->task_self) : NULL;
    if (!early || !unsure) return WEFT_OK;
    return weft_fail(WEFT_ECONF,
                     "%s lets a short job win by the scores of a few clients; set %s, "
                     "or let the winner be one of the last survivors (last)",
                     early, unsure);
}

/* Warns if the space has fewer configurations than space.configs: no error, because one
 * file may be used with several lists and ranges. */
static void warn_fewer(const weft_space *sp)
{
    if (sp->configs <= sp->count) return;
    weft_log(WEFT_WARN, "space.configs = %lld, but %s%lld configuration%s",
             (long long)sp->configs,
             sp->dim == 0 ? "no option has a range: " : "the list or grid has ",
             (long long)sp->count, sp->count == 1 ? "" : "s");
}

/* Refuses spaces so large that a few copies of mixtures and results exceed the memory. */
static weft_status check_memory(const weft_run *r)
{
    double bytes = 8.0 * (double)r->space.count * (r->space.dim + 8) * 4;
    if (bytes <= r->opts.memory * 1e9) return WEFT_OK;
    return weft_fail(WEFT_ELIMIT,
                     "space.configs: %lld configurations take %.3g GB, "
                     "run.memory allows %g GB a rank; search fewer or allow more",
                     (long long)r->space.count, bytes / 1e9, r->opts.memory);
}

/* Checks that data are named if the task needs them, and not otherwise. */
static weft_status check_data(const weft_run *r)
{
    int named = r->opts.data[0] != '\0';
    if (!named && r->task->data == WEFT_DATA_NEEDED)
        return weft_fail(WEFT_ECONF,
                         "no data set is named; give run.data = FILE.h5, made by "
                         "`weft pack`");
    if (named && r->task->data == WEFT_DATA_NONE)
        return weft_fail(WEFT_ECONF, "run.data = %s: task %s reads no data; take it out",
                         r->opts.data, r->task->kind.name);
    return WEFT_OK;
}

static weft_status bind(weft_run *r, int fresh)
{
    TRY(weft_conf_bind(r->conf, &weft_run_kind, &r->opts));
    TRY(weft_task_find(r->opts.task, &r->task));
    r->task_self = weft_arena_alloc(r->mem, 1, r->task->kind.size);
    TRY(weft_conf_bind(r->conf, &r->task->kind, r->task_self));
    const weft_kind *tuned[WEFT_MAX_TUNED];
    int ntuned;
    TRY(r->task->tuned(r->task_self, tuned, &ntuned));
    TRY(weft_space_read(&r->space, r->conf, tuned, ntuned, (uint64_t)r->opts.seed, r->mem));
    TRY(bind_tuner(r));
    TRY(weft_run_keys(r, fresh));
    if (fresh) {
        TRY(check_early(r));
        warn_fewer(&r->space);
    }
    TRY(check_data(r));
    return check_memory(r);
}

weft_status weft_run_bind(weft_run *r, weft_conf *conf, int fresh, weft_team *world,
                          weft_arena *mem)
{
    *r = (weft_run){.world = world,
                    .team = world,
                    .teams = 1,
                    .conf = conf,
                    .fresh = fresh,
                    .defaults = "",
                    .unread = "",
                    .mem = mem};
    return weft_agree(bind(r, fresh), world);
}

const char *weft_run_method(const weft_run *r)
{
    int own = strcmp(r->opts.sampler, "space") != 0;
    int moves = r->search.mixing->moves;
    return weft_arena_text(
        r->mem, "%s%s%s%s%s%s", r->opts.tuner, own || moves ? " with " : "",
        own ? "sampler " : "", own ? r->opts.sampler : "",
        moves ? own ? ", mixing " : "mixing " : "", moves ? r->opts.mixing : "");
}

weft_status weft_run_divide(weft_run *r, int fewer)
{
    int ranks = r->world->size;
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

int64_t weft_run_resource(const weft_run *r)
{
    return r->task->resource ? r->task->resource(r->task_self) : 1;
}

double weft_run_state_bytes(const weft_run *r)
{
    weft_state size = {0};
    r->task->nstate(r->task_self, NULL, &size);
    return weft_state_bytes(&size);
}

/* Checks that need the task after its setup. */
static weft_status check_setup(const weft_run *r)
{
    double bytes = 3 * weft_run_state_bytes(r);
    if (bytes > r->opts.memory * 1e9)
        return weft_fail(WEFT_ELIMIT,
                         "the states of the training take %.3g GB, run.memory "
                         "allows %g GB a rank; use fewer features or allow more",
                         bytes / 1e9, r->opts.memory);
    int n;
    const char *const *section = weft_run_sections(r->mem, &n);
    return weft_conf_unused(r->conf, section, n);
}

/* Opens the data; each team has all of them. Collective over team. */
static weft_status open_data(weft_run *r, const char *data)
{
    r->data = (weft_data){.digest = "", .path = ""};
    if (*data == '\0') return WEFT_OK;
    TRY(weft_data_open(&r->data, data, r->team, r->mem));
    r->opened = 1;
    if (!r->like) return WEFT_OK;
    return weft_agree(weft_data_match(&r->data, r->like, r->like_of), r->team);
}

static weft_status open_team(weft_run *r, const char *data)
{
    TRY(open_data(r, data));
    weft_env env = {.team = r->team,
                    .conf = r->conf,
                    .data = r->opened ? &r->data : NULL,
                    .space = &r->space,
                    .seed = (uint64_t)r->opts.seed,
                    .memory = r->opts.memory * 1e9,
                    .mem = r->mem,
                    .dir = r->dir,
                    .failed = r->failed,
                    .stopped = weft_signals_seen,
                    .scored = weft_show_scored,
                    .deadline = r->deadline,
                    .scoring = r->like != NULL};
    TRY(weft_agree(r->task->setup(r->task_self, &env), r->team));
    TRY(weft_agree(check_setup(r), r->team));
    if (!r->like) TRY(weft_agree(weft_run_price(r), r->team));
    r->space.samples = r->task->units ? 0 : r->data.part[WEFT_TRAIN].total;
    return weft_agree(
        weft_search_setup(&r->search, &r->space, (uint64_t)r->opts.seed, r->mem), r->team);
}

weft_status weft_run_open(weft_run *r, const char *data)
{
    weft_times_move(r->world, r->team);
    weft_status st = open_team(r, data);
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
