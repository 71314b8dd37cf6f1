/* Sets up a run from its configuration: section [run], the plug-ins that it names, the
 * search space, the data. All errors that the user can correct are found here, before
 * training starts. */
#include "host/host.h"
#include "run.h"
#include "weft/base/base.h"
#include "weft/data/data.h"
#include "weft/registry.h"
#include "weft/store/file.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

/* ---- binding ---- */

/* Replaces `auto` by the task's default, so that the run file has all values. */
static void set_default(weft_run *run, const char *section, const char *key,
                        const char *value)
{
    weft_conf_default(run->conf, section, key, value);
    run->told.defaults =
        weft_arena_text(run->mem, "%s%s%s.%s = %s", run->told.defaults,
                        *run->told.defaults ? ", " : "", section, key, value);
}

/* Binds the options of a part of the search; a part without options has no section. */
static weft_status bind_part(weft_run *run, const weft_kind *kind, void **self)
{
    *self = weft_arena_alloc(run->mem, 1, kind->size);
    return kind->opts->name ? weft_conf_bind(run->conf, kind, *self) : WEFT_OK;
}

static weft_status bind_parts(weft_run *run)
{
    weft_search *search = &run->search;
    TRY(weft_sampler_find(run->opts.sampler, &search->sampler));
    TRY(bind_part(run, &search->sampler->kind, &search->sampler_self));
    TRY(weft_mixing_find(run->opts.mixing, &search->mixing));
    TRY(bind_part(run, &search->mixing->kind, &search->mixing_self));
    if (!search->mixing->moves || run->task->traits.moves) return WEFT_OK;
    return weft_fail(
        WEFT_ECONF,
        "run.mixing = %s with run.task = %s, whose jobs do not update a mixture; "
        "use run.mixing = none",
        run->opts.mixing, run->opts.task);
}

/* The setting because of which the task's jobs train one configuration each; NULL: they may
 * train mixtures. */
static const char *single(const weft_run *run)
{
    return run->task->plan.single ? run->task->plan.single(run->task_self) : NULL;
}

/* The tuner that run.tuner = auto selects. */
static const char *default_tuner(const weft_run *run)
{
    const weft_tuner *own;
    if (run->space.dim == 0) return "random";
    int shares = weft_tuner_find(run->task->tuner, &own) == WEFT_OK && own->shared;
    return shares && single(run) ? weft_tuner_sha.kind.name : run->task->tuner;
}

static weft_status check_single(const weft_run *run)
{
    if (!run->search.tuner->shared || !single(run) || run->space.count == 1) return WEFT_OK;
    return weft_fail(WEFT_ECONF,
                     "run.tuner = %s trains a mixture of configurations, and %s trains one "
                     "at a time; use run.tuner = random, sha, asha, hyperband or pbt",
                     run->opts.tuner, single(run));
}

static void set_resource(weft_run *run, const weft_opt *opt, int64_t value)
{
    weft_search *search = &run->search;
    weft_opt_set(opt, search->tuner_self, (double)value);
    set_default(run, search->tuner->kind.name, opt->name,
                weft_arena_text(run->mem, "%lld", (long long)value));
}

/* Where the task has a largest resource: ECONF, if the tuner has more for one trial. What
 * is not given of max_resource becomes that; of min_resource, a share that leaves three
 * eliminations; of interval, a tenth. */
static weft_status bound_resource(weft_run *run, int64_t most)
{
    void *self = run->search.tuner_self;
    const weft_kind *kind = &run->search.tuner->kind;
    int64_t least = most;
    for (const weft_opt *opt = kind->opts; opt->name; opt++) {
        const weft_entry *entry = weft_conf_find(run->conf, kind->name, opt->name);
        int given = entry && !weft_conf_is_default(entry);
        int max = strcmp(opt->name, "max_resource") == 0;
        double value = weft_opt_value(opt, self);
        int one = strcmp(opt->name, "resource") == 0 && run->search.tuner->extent;
        if ((max || one) && given && value > (double)most)
            return weft_entry_fail(
                entry, "%s has %lld rows for training; expected at most as many",
                run->opts.data, (long long)most);
        for (int k = 0; k < 3 && strcmp(opt->name, "reduction") == 0; k++)
            least /= (int64_t)value;
        if (max && !given) set_resource(run, opt, most);
        if (strcmp(opt->name, "interval") == 0 && !given)
            set_resource(run, opt, most < 10 ? 1 : most / 10);
        if (strcmp(opt->name, "min_resource") == 0 && !given &&
            weft_run_reads(kind, self, opt->name))
            set_resource(run, opt, least < 1 ? 1 : least);
    }
    return WEFT_OK;
}

/* Binds the tuner, and sets the resource of its jobs to the task's default if it is not
 * given. */
static weft_status bind_tuner(weft_run *run)
{
    if (strcmp(run->opts.tuner, "auto") == 0) {
        run->opts.tuner = default_tuner(run);
        set_default(run, "run", "tuner", run->opts.tuner);
    }
    weft_search *search = &run->search;
    TRY(weft_tuner_find(run->opts.tuner, &search->tuner));
    TRY(check_single(run));
    const weft_kind *kind = &search->tuner->kind;
    TRY(bind_part(run, kind, &search->tuner_self));
    int64_t most =
        run->task->plan.most ? run->task->plan.most(run->task_self, run->opts.data) : 0;
    if (most > 0) TRY(bound_resource(run, most));
    for (const weft_opt *opt = kind->opts; opt->name; opt++)
        if (strcmp(opt->name, "resource") == 0 &&
            !(weft_opt_value(opt, search->tuner_self) > 0))
            set_resource(run, opt, most > 0 ? most : weft_run_resource(run));
    return bind_parts(run);
}

/* Warns if the space has fewer configurations than space.configs: no error, because one
 * file may be used with several lists and ranges. */
static void warn_fewer(const weft_space *space)
{
    if (space->configs <= space->count) return;
    weft_log(WEFT_WARN, "space.configs = %lld, but %s%lld configuration%s",
             (long long)space->configs,
             space->dim == 0 ? "no option has a range: " : "the list or grid has ",
             (long long)space->count, space->count == 1 ? "" : "s");
}

/* Refuses spaces so large that a few copies of mixtures and results exceed the memory. */
static weft_status check_memory(const weft_run *run)
{
    double bytes = 8.0 * (double)run->space.count * (run->space.dim + 8) * 4;
    if (bytes <= run->opts.limits.memory * 1e9) return WEFT_OK;
    return weft_fail(WEFT_ELIMIT,
                     "space.configs: %lld configurations take %.3g GB, "
                     "run.memory allows %g GB a rank; search fewer or allow more",
                     (long long)run->space.count, bytes / 1e9, run->opts.limits.memory);
}

/* Checks that data are named if the task needs them, and not otherwise. */
static weft_status check_data(const weft_run *run)
{
    int named = run->opts.data[0] != '\0';
    if (!named && run->task->traits.data == WEFT_DATA_NEEDED)
        return weft_fail(WEFT_ECONF,
                         "no data set is named; give run.data = FILE.h5, made by "
                         "`weft pack`");
    if (named && run->task->traits.data == WEFT_DATA_NONE)
        return weft_fail(WEFT_ECONF, "run.data = %s: task %s reads no data; take it out",
                         run->opts.data, run->task->kind.name);
    if (run->opts.balanced && !run->task->traits.balances)
        return weft_fail(WEFT_ECONF,
                         "run.class_weights = balanced: task %s trains on no classes that "
                         "weft knows; take it out",
                         run->task->kind.name);
    return WEFT_OK;
}

static weft_status check_refit(const weft_run *run)
{
    if (!run->opts.refit || run->task->winner.refit) return WEFT_OK;
    return weft_fail(WEFT_ECONF,
                     "run.refit = yes: task %s trains no winner once more on all rows, as "
                     "fmap and sgd do; take it out",
                     run->opts.task);
}

/* Reads what is minimised and limited. ECONF. */
static weft_status read_goals(weft_run *run)
{
    const weft_task *task = run->task;
    const weft_measured measured = {.name = task->kind.name,
                                    .metrics = task->traits.metrics,
                                    .rows = task->traits.rows,
                                    .tells = task->remote.probe || task->remote.trade,
                                    .timed = task->timing.seconds != NULL,
                                    .wall = run->opts.clock,
                                    .keeps = task->winner.tensors != NULL,
                                    .pays = task->ledger != NULL};
    TRY(weft_goals_read(&run->goals, run->opts.objectives, run->opts.within, run->mem));
    run->space.objectives = run->goals.objectives;
    return weft_goals_find(&run->goals, &measured);
}

/* The first configuration of a new search is that of the defaults, if nothing else is asked
 * for; the run file says so. */
static void begin_with_defaults(weft_run *run)
{
    const weft_entry *source = weft_conf_find(run->conf, "space", "source");
    int random = !source || strcmp(source->value, "random") == 0;
    if (run->task->traits.defaults && random &&
        !weft_conf_find(run->conf, "space", "first") &&
        !weft_conf_find(run->conf, "space", "prior"))
        weft_conf_default(run->conf, "space", "first", "defaults");
}

static weft_status bind(weft_run *run, int fresh)
{
    TRY(weft_conf_bind(run->conf, &weft_run_kind, &run->opts));
    TRY(weft_task_find(run->opts.task, &run->task));
    run->task_self = weft_arena_alloc(run->mem, 1, run->task->kind.size);
    TRY(weft_conf_bind(run->conf, &run->task->kind, run->task_self));
    const weft_kind *tuned[WEFT_MAX_TUNED];
    int ntuned;
    TRY(run->task->tuned(run->task_self, tuned, &ntuned));
    if (fresh) begin_with_defaults(run);
    TRY(read_goals(run));
    if (fresh) TRY(weft_run_prior(run, tuned, ntuned));
    TRY(weft_space_read(&run->space, run->conf, tuned, ntuned, (uint64_t)run->opts.seed,
                        run->mem));
    TRY(bind_tuner(run));
    TRY(weft_run_keys(run, fresh));
    if (fresh) {
        warn_fewer(&run->space);
    }
    TRY(check_data(run));
    TRY(check_refit(run));
    return check_memory(run);
}

weft_status weft_run_bind(weft_run *run, weft_conf *conf, int fresh, weft_team *world,
                          weft_arena *mem)
{
    *run = (weft_run){.world = world,
                      .team = world,
                      .teams = 1,
                      .conf = conf,
                      .begun.fresh = fresh,
                      .told = {.defaults = "", .unread = ""},
                      .mem = mem};
    return weft_agree(bind(run, fresh), world);
}

const char *weft_run_method(const weft_run *run)
{
    int own = strcmp(run->opts.sampler, "space") != 0;
    int moves = run->search.mixing->moves;
    return weft_arena_text(
        run->mem, "%s%s%s%s%s%s", run->opts.tuner, own || moves ? " with " : "",
        own ? "sampler " : "", own ? run->opts.sampler : "",
        moves ? own ? ", mixing " : "mixing " : "", moves ? run->opts.mixing : "");
}

weft_status weft_run_divide(weft_run *run, int fewer)
{
    int ranks = run->world->size;
    run->teams = run->opts.teams;
    if (run->teams > ranks && !fewer) {
        run->teams = 1;
        return weft_fail(WEFT_ECONF,
                         "run.teams = %d, but there are only %d ranks; ask for at most "
                         "that many teams, or start more ranks",
                         run->opts.teams, ranks);
    }
    if (run->teams > ranks) run->teams = ranks;
    if (run->teams == 1) return WEFT_OK;
    weft_team_split(run->world, run->teams, &run->own);
    run->team = &run->own;
    return WEFT_OK;
}

int64_t weft_run_resource(const weft_run *run)
{
    return run->task->plan.resource ? run->task->plan.resource(run->task_self) : 1;
}

int weft_run_may_grow(const weft_run *run)
{
    int grows = run->task->plan.grows && run->task->plan.grows(run->task_self);
    int may = 0;
    for (const weft_opt *opt = run->search.tuner->kind.opts; opt->name; opt++)
        may |= opt->role == WEFT_GROWS && strcmp(opt->name, "resource") == 0;
    return grows && may && weft_search_jobs(&run->search) == 1;
}

double weft_run_used(const weft_run *run, const weft_job *job, double seconds)
{
    int more = run->task->timing.repeats && job->resource > 0;
    return more ? fmax(seconds / job->resource, 1) : 1;
}

/* ---- data ---- */

static weft_scale scale_of(const weft_run *run)
{
    weft_scale scale = (weft_scale)run->opts.scale;
    return scale == WEFT_SCALE_AUTO && !run->task->traits.scaled ? WEFT_SCALE_NONE : scale;
}

/* The rows of the train and valid parts become one part. Collective over team. */
static weft_status join_parts(weft_run *run)
{
    weft_folds *folds = WEFT_NEW(run->mem, weft_folds, 1);
    weft_data whole;
    TRY(weft_folds_open(folds, &run->data, run->mem));
    weft_folds_take(folds, -1, &whole, run->mem);
    memcpy(run->data.part, whole.part, sizeof whole.part);
    return WEFT_OK;
}

/* EFILE: there is no such file, and a comment of the input file has the command that makes
 * it. */
static weft_status check_made(const weft_run *run, const char *data)
{
    const weft_entry *entry = weft_conf_find(run->conf, "run", "data");
    if (!entry || entry->line <= 0 || weft_file_is(data)) return WEFT_OK;
    FILE *in = fopen(entry->file, "r");
    char line[512];
    const char *pack = NULL;
    while (in && !pack && fgets(line, sizeof line, in)) {
        pack = *line == ';' ? strstr(line, "weft pack ") : NULL;
        if (pack && !strstr(pack, data)) pack = NULL;
    }
    if (in) fclose(in);
    if (!pack) return WEFT_OK;
    return weft_fail(WEFT_EFILE, "there is no %s; %s says how it is made: %.*s", data,
                     entry->file, (int)strcspn(pack, "\n"), pack);
}

weft_status weft_run_check_rows(const weft_data *data)
{
    if (!data->scored) return WEFT_OK;
    return weft_fail(WEFT_EDATA,
                     "%s holds rows to be scored by `weft predict` or `weft eval`; "
                     "pack rows to train on without like = ...",
                     data->path);
}

static weft_status check_fits(const weft_run *run)
{
    const weft_data *data = &run->data;
    if (!run->on.like) TRY(weft_run_check_rows(data));
    if ((data->target_scale || data->part[WEFT_TRAIN].weight) && !run->task->traits.numbers)
        return weft_fail(WEFT_ECONF,
                         "%s has %s, which task %s does not learn by; use task fmap with "
                         "fmap.model = ridge, or task sgd with sgd.model = linear or mlp",
                         data->path,
                         data->target_scale ? "numbers to predict" : "weights of rows",
                         run->task->kind.name);
    if (data->target_scale && run->opts.balanced)
        return weft_fail(
            WEFT_ECONF,
            "%s has numbers to predict, and run.class_weights = balanced is of "
            "classes; leave it out",
            data->path);
    if (run->opts.refit && weft_forms[data->form]->whole)
        return weft_fail(
            WEFT_ECONF,
            "%s holds %s, whose parts are made by weft pack; take out run.refit",
            data->path, weft_forms[data->form]->hold);
    return WEFT_OK;
}

/* Opens the data; each team has all of them. Collective over team. */
static weft_status open_data(weft_run *run, const char *data)
{
    run->data = (weft_data){.digest = "", .path = ""};
    if (*data == '\0') return WEFT_OK;
    TRY(weft_agree(check_made(run, data), run->team));
    TRY(weft_data_open_some(&run->data, data, &run->on.window, run->team, run->mem));
    run->opened = 1;
    TRY(check_fits(run));
    const weft_likeness *like = weft_run_starts(run) ? &run->start.like : run->on.like;
    const char *of = weft_run_starts(run) ? run->opts.start : run->on.like_of;
    if (run->on.whole && !run->data.clients) TRY(join_parts(run));
    if (like) return weft_agree(weft_data_match(&run->data, like, of), run->team);
    return weft_data_scale(&run->data, scale_of(run));
}

static weft_status check_setup(const weft_run *run)
{
    const weft_state size = weft_run_state(run);
    double bytes = 3 * weft_state_bytes(&size);
    if (bytes > run->opts.limits.memory * 1e9)
        return weft_fail(WEFT_ELIMIT,
                         "the states of the training take %.3g GB, run.memory "
                         "allows %g GB a rank; use fewer features or allow more",
                         bytes / 1e9, run->opts.limits.memory);
    weft_ledger ledger;
    if (weft_goals_ask(&run->goals, WEFT_GOAL_EPSILON) &&
        !run->task->ledger(run->task_self, 0, NULL, 0, &ledger))
        return weft_fail(WEFT_ECONF,
                         "run.objectives or run.limits: epsilon is what privacy costs, and "
                         "nothing is protected here; give privacy.clip, or take it out");
    int n;
    const char *const *section = weft_run_sections(run->mem, &n);
    return weft_conf_unused(run->conf, section, n);
}

/* ---- the jobs to come ---- */

/* A search of its own with the options of the run's. */
static weft_status rehearsal(const weft_run *run, weft_search *search, weft_arena *mem)
{
    const weft_search *own = &run->search;
    *search =
        (weft_search){.tuner = own->tuner, .sampler = own->sampler, .mixing = own->mixing};
    const struct {
        const weft_kind *kind;
        const void *from;
        void **to;
    } part[] = {{&own->tuner->kind, own->tuner_self, &search->tuner_self},
                {&own->sampler->kind, own->sampler_self, &search->sampler_self},
                {&own->mixing->kind, own->mixing_self, &search->mixing_self}};
    for (int i = 0; i < 3; i++) {
        *part[i].to = weft_arena_alloc(mem, 1, part[i].kind->size);
        memcpy(*part[i].to, part[i].from, part[i].kind->size);
    }
    return weft_search_setup(search, &run->space, (uint64_t)run->opts.seed, mem);
}

void weft_run_invent(const weft_job *job, weft_result *res)
{
    weft_result_begin(res, job);
    res->job = job->id;
    res->trial = job->trial;
    res->resource = job->resource;
    res->loss = 0.5;
    for (int i = 0; i < res->k; i++) {
        res->arm_count[i] = 2;
        res->arm_loss[i] = res->arm_wrong[i] = 1;
    }
}

/* Tells the search that all configurations of the job are alike. */
static void tell_alike(const weft_run *run, weft_search *search, const weft_job *job)
{
    WEFT_SCRATCH(tmp);
    weft_result res =
        weft_result_new(job->mix.k, weft_metrics_count(run->task->traits.metrics), tmp);
    weft_run_invent(job, &res);
    weft_search_tell(search, &res);
}

/* weft_env.planned: the search is rehearsed, one job after the other. */
static const weft_planned *planned(void *planner)
{
    weft_run *run = planner;
    weft_planned *plan = &run->plan;
    weft_search search;
    if (plan->job) return plan;
    WEFT_SCRATCH(tmp);
    weft_job *all = NULL;
    int64_t room = 0;
    const weft_level level = weft_log_level();
    weft_log_set(WEFT_ERROR, run->world->rank);
    weft_job job = weft_job_new(0, 0, NULL);
    int works = rehearsal(run, &search, tmp) == WEFT_OK;
    while (works && weft_search_ask(&search, &job) == WEFT_JOB) {
        job.id = plan->n;
        tell_alike(run, &search, &job);
        WEFT_GROW(run->mem, all, plan->n, &room);
        all[plan->n] = job;
        all[plan->n++].mix = (weft_mix){.k = job.mix.k};
    }
    weft_log_set(level, run->world->rank);
    plan->job = all;
    return plan;
}

static weft_status open_team(weft_run *run, const char *data)
{
    TRY(weft_agree(weft_run_start_read(run), run->team));
    TRY(open_data(run, data));
    run->work = weft_arena_new();
    weft_env env = {.team = run->team,
                    .conf = run->conf,
                    .data = run->opened ? &run->data : NULL,
                    .own = run->opened ? NULL : &run->data,
                    .space = &run->space,
                    .seed = (uint64_t)run->opts.seed,
                    .memory = run->opts.limits.memory * 1e9,
                    .mem = run->work,
                    .dir = run->place.dir,
                    .failed = run->place.failed,
                    .stopped = weft_signals_seen,
                    .scored = weft_show_scored,
                    .deadline = run->begun.deadline,
                    .planned = planned,
                    .planner = run,
                    .grown = run->begun.growth != WEFT_STAYS,
                    .whole = run->on.like ? run->opts.refit : run->on.whole,
                    .scaled = scale_of(run) != WEFT_SCALE_NONE,
                    .balanced = run->opts.balanced,
                    .scoring = run->on.like != NULL};
    TRY(weft_agree(run->task->setup(run->task_self, &env), run->team));
    TRY(weft_agree(check_setup(run), run->team));
    TRY(weft_agree(weft_run_start_from(run), run->team));
    run->space.samples = run->task->units ? 0 : run->data.part[WEFT_TRAIN].total;
    run->space.scored = run->data.part[WEFT_VALID].total;
    run->space.guess = run->data.classes > 1 ? 1 - 1. / run->data.classes : 0;
    return weft_agree(
        weft_search_setup(&run->search, &run->space, (uint64_t)run->opts.seed, run->mem),
        run->team);
}

weft_status weft_run_open(weft_run *run, const char *data)
{
    weft_times_move(run->world, run->team);
    weft_status st = open_team(run, data);
    weft_times_move(run->team, run->world);
    return weft_agree(st, run->world);
}

void weft_run_release(weft_run *run)
{
    if (run->opened) weft_data_close(&run->data);
    run->opened = 0;
    weft_arena_free(run->work);
    run->work = NULL;
}

void weft_run_close(weft_run *run)
{
    weft_run_release(run);
    weft_winner_close(&run->start);
    if (run->team == &run->own) weft_team_free(&run->own);
    run->team = run->world;
}
