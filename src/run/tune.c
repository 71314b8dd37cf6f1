/* A tuning run from its configuration to its run file, started or resumed. */
#include "run_private.h"

#include <cblas.h>
#include <math.h>
#include <string.h>
#include <sys/resource.h>

#define MEASURE 0.01 /* seconds for measuring the rate that is logged */

/* ---- log lines at the start ---- */

/* Logs the file system of the run file. */
static void tell_disk(const char *output)
{
    weft_arena *tmp = weft_arena_new();
    const char *dir = weft_file_dir(output, tmp);
    weft_disk d;
    if (weft_disk_look(dir, &d) == WEFT_OK)
        weft_log(WEFT_INFO, "files: %s is on %s, %.3g GB free", dir,
                 *d.type ? d.type : "an unknown file system", d.free / 1e9);
    weft_arena_free(tmp);
}

/* Warns if locks do not keep a second process from the run; of locks that the file system
 * does not have at all the journal has warned. Collective. */
static void try_locks(const weft_run *r, const weft_placement *s)
{
    weft_team *t = r->world;
    weft_lock *found = WEFT_NEW(r->mem, weft_lock, t->size);
    if (!r->dir || t->size == 1) return;
    if (weft_locks_try(r->dir, t, found, r->mem) != WEFT_OK) return; /* who writes, tells */
    if (t->rank == 0 && found[0] != WEFT_LOCK_NONE)
        weft_locks_warn(r->dir, found, s, t->size);
}

static void log_placements(const weft_run *r, const weft_placement *s, const char *hosts)
{
    int size = r->world->size;
    double least = s[0].sgemm;
    for (int i = 1; i < size; i++) least = fmin(least, s[i].sgemm);
    weft_log(
        WEFT_INFO,
        "weft %s: %d rank%s on %s; OpenBLAS %s, %d thread%s a rank, sgemm %.3g GFLOP/s%s; "
        "kernel %s",
        WEFT_VERSION, size, size == 1 ? "" : "s", hosts, s[0].blas, s[0].threads,
        s[0].threads == 1 ? "" : "s", least, size > 1 ? " or more" : "", weft_cpu_kernel());
    int ranks = weft_placement_ranks(s, size, 0);
    const char *room = "";
    if (s[0].room < s[0].memory)
        room = weft_arena_text(r->mem, " in this job's share of %.3g GB", s[0].room / 1e9);
    weft_log(WEFT_INFO,
             "memory: %.3g GB a rank allowed, the host has %.3g GB, %.3g GB free, for %d "
             "rank%s%s",
             r->opts.memory, s[0].memory / 1e9, s[0].available / 1e9, ranks,
             ranks == 1 ? "" : "s", room);
    if (r->world->rank > 0) return;
    weft_placements_warn(s, size, r->opts.memory * 1e9);
    tell_disk(r->opts.output);
}

static void greet(const weft_run *r, const weft_placement *s, const char *hosts)
{
    log_placements(r, s, hosts);
    try_locks(r, s);
    if (r->teams > 1) weft_log(WEFT_INFO, "%d teams do jobs side by side", r->teams);
    if (r->teams < r->opts.teams)
        weft_log(WEFT_WARN, "run.teams = %d, but there are %d ranks: %d teams",
                 r->opts.teams, r->world->size, r->teams);
    if (!weft_search_waits(&r->search) && r->teams > r->opts.workers)
        weft_log(WEFT_WARN,
                 "run.workers = %lld: no more jobs than that are in flight, and the other "
                 "teams idle",
                 (long long)r->opts.workers);
    weft_log(WEFT_INFO, "task %s%s%s, tuner %s: about %lld jobs", r->opts.task,
             *r->opts.data ? " on " : "", r->opts.data, weft_run_method(r),
             (long long)weft_search_jobs(&r->search));
    if (r->space.dim == 0 && strcmp(r->opts.sampler, "space") != 0)
        weft_log(WEFT_WARN,
                 "run.sampler = %s has nothing to choose: no option has a range, so that "
                 "all trials are alike",
                 r->opts.sampler);
    if (*r->defaults) weft_log(WEFT_INFO, "defaults of the task: %s", r->defaults);
    if (*r->unread) weft_log(WEFT_INFO, "not read in this run: %s", r->unread);
}

/* ---- results of the run ---- */

/* Seconds of the winner's own fit if that followed a search over mixtures, else 0. */
static double refit_seconds(const weft_sched *s)
{
    int64_t single = 0;
    for (int64_t i = 0; i < s->n; i++) single += s->event[i].job.mix.k == 1;
    return single == 1 && s->n > 1 ? s->winner.seconds : 0;
}

/* The times of the world and of this rank's team, summed. Collective over world. */
static void collect_times(const weft_run *r, weft_outcome *o)
{
    struct rusage use;
    getrusage(RUSAGE_SELF, &use);
    weft_times_close(r->world);
    weft_times t = r->world->times;
    if (r->team != r->world) {
        t.compute += r->team->times.compute;
        t.wait += r->team->times.wait;
        t.comm += r->team->times.comm;
        t.io += r->team->times.io;
        t.bytes += r->team->times.bytes;
    }
    /* Mapped files, which the ranks of a node share, are not counted. ru_maxrss is in
     * kilobytes. */
    double memory = (double)use.ru_maxrss * 1024 - weft_h5_mapped();
    double own[WEFT_NTIME] = {t.compute, t.wait, t.comm, t.io, t.bytes, memory};
    weft_spread(r->world, own, WEFT_NTIME, o->times);
}

/* WEFT_STOP if a signal has asked the run to stop. Collective over team. */
static weft_status look(weft_team *team, const char *path, const char *when)
{
    double signal = weft_signals_seen();
    weft_max_f64(team, &signal, 1);
    if (!(signal > 0)) return WEFT_OK;
    return weft_fail(
        WEFT_STOP,
        "stopped by signal %.0f after the search, %s; go on with `weft resume %s`", signal,
        when, path);
}

/* Scores the winner on a part, with its own configuration or, if the task says so, with the
 * mixture after its job. Collective over team. */
static weft_status score_winner(const weft_run *r, weft_outcome *o, weft_part part)
{
    TRY(look(r->team, r->opts.output, "before the winner was scored"));
    const weft_job_record *e = o->winner;
    weft_job job = e->job;
    if (r->task->mixes && r->task->mixes(r->task_self)) {
        job.mix.logp = e->res.logp;
    } else {
        job.mix = weft_mix_new(1, e->job.mix.dim, r->mem);
        job.mix.id[0] = e->job.mix.id[weft_winner_arm(e)];
        weft_winner_conf(e, job.mix.conf);
    }
    weft_status st = r->task->score(r->task_self, &job, o->state->x, part, &o->score[part]);
    if (st == WEFT_STOP) TRY(look(r->team, r->opts.output, "while the winner was scored"));
    return st;
}

/* Copies the metrics of a job that are scores of the validation part. */
static void known_scores(const weft_run *r, const weft_job_record *e, weft_scores *out)
{
    const weft_metric *score = r->task->scores;
    for (int i = 0; score && score[i].name; i++) {
        char name[128];
        snprintf(name, sizeof name, "valid_%s", score[i].name);
        int m = weft_metrics_find(r->task->metrics, name);
        if (m >= 0) out->metric[i] = e->res.metric[m];
    }
}

/* Scores all parts. A fit of one configuration was scored on all validation samples in its
 * job, which is used; jobs of rounds score only some clients, under a mixture that
 * changes. */
static weft_status score_parts(const weft_run *r, weft_outcome *o)
{
    const weft_job_record *e = o->winner;
    if (e->job.mix.k == 1 && !r->task->units) {
        known_scores(r, e, &o->score[WEFT_VALID]);
    } else if (r->data.part[WEFT_VALID].total > 0) {
        TRY(score_winner(r, o, WEFT_VALID));
    }
    if (r->opts.test && r->data.part[WEFT_TEST].total > 0)
        TRY(score_winner(r, o, WEFT_TEST));
    return WEFT_OK;
}

/* Every team computes all scores, with equal results. Collective over world. */
static weft_status score(const weft_run *r, weft_sched *s, weft_outcome *o)
{
    double start = weft_now();
    for (int p = 0; p < WEFT_NPART; p++) o->score[p] = weft_scores_none();
    if (o->none) return WEFT_OK;
    weft_activity_set("scores the winner", -1, -1);
    weft_times_move(r->world, r->team);
    weft_status st = weft_cache_winner(s, &o->state);
    if (st == WEFT_OK) st = score_parts(r, o);
    weft_progress("%s", "");
    weft_times_move(r->team, r->world);
    o->test = weft_now() - start;
    return weft_agree(st, r->world);
}

/* Warns where so few samples were scored that the winner's error is uncertain by more than
 * two points: its standard error, of the share (wrong + 2) / (n + 4), which is above 0
 * where nothing was wrong, too. Agresti, Coull, "Approximate is better than exact", 1998.
 */
static void warn_uncertain(const weft_run *r, const weft_outcome *o)
{
    const double most = 0.02;
    const weft_scores *score = &o->score[WEFT_VALID];
    int error = weft_metrics_find(r->task->scores, "error");
    double n = score->count > 0 ? score->count : (double)r->data.part[WEFT_VALID].total;
    if (error < 0 || !(n > 0) || isnan(score->metric[error])) return;
    double p = (score->metric[error] * n + 2) / (n + 4), sd = sqrt(p * (1 - p) / (n + 4));
    if (sd > most)
        weft_log(WEFT_WARN,
                 "the winner's validation error is of %.0f samples, with a standard error "
                 "of %.1f points, so that configurations which differ by less are told "
                 "apart by chance; pack more rows as valid, or use folds where the task "
                 "has them",
                 n, 100 * sd);
}

/* The optimum of the space for the largest resource that a trial had; NAN: not known. */
static double optimum(const weft_sched *s)
{
    double most = 0;
    if (!s->task->optimum) return NAN;
    for (int64_t i = 0; i < s->n; i++) most = fmax(most, s->event[i].res.resource);
    return s->task->optimum(s->task_self, most);
}

static weft_tables tables_of(const weft_run *r)
{
    return (weft_tables){.metrics = r->task->metrics,
                         .rows = r->task->rows,
                         .scores = r->task->scores,
                         .dim = r->space.dim,
                         .axis = r->space.axis};
}

static weft_history history_of(const weft_run *r, const weft_sched *s, const weft_trace *t)
{
    weft_history h = {.tables = tables_of(r),
                      .n = s->n,
                      .event = s->event,
                      .optimum = optimum(s),
                      .workers = s->workers > 0 ? s->workers : s->flights.workers,
                      .overhead = s->flights.overhead,
                      .makespan = s->flights.now,
                      .seconds = s->seconds};
    h.starts = weft_starts_sum(t->time, t->ntime, &h);
    return h;
}

static weft_status write_outcome(const weft_sched *s, const weft_trace *t,
                                 const weft_outcome *o)
{
    weft_status st = WEFT_OK;
    if (o->run->task->files && !o->none)
        st = weft_place_keep(t->path, s->winner.job.trial, s->winner.job.id);
    else
        weft_place_drop(t->path);
    if (st == WEFT_OK) st = weft_run_write(t->path, o);
    return weft_trace_stuck(t, st);
}

/* Scores and writes the result; ENONE: it is written, and nothing won. Collective. */
static weft_status conclude(const weft_run *r, weft_sched *s, const weft_trace *t,
                            weft_outcome *o)
{
    o->run = r;
    o->winner = &s->winner;
    if (!isfinite(s->winner.res.loss))
        o->none = s->n == 1
                      ? "its only job has no finite loss"
                      : weft_arena_text(r->mem, "none of its %lld jobs has a finite loss",
                                        (long long)s->n);
    o->ntensor = weft_task_tensors(r->task, r->task_self, &s->winner.job, o->tensor);
    o->began = t->began;
    o->directory = t->directory;
    o->search = s->seconds;
    o->refit = refit_seconds(s);
    TRY(score(r, s, o));
    warn_uncertain(r, o);
    o->digest = weft_job_record_digest(s->event, s->n);
    o->history = history_of(r, s, t);
    o->setup = o->history.starts.setup;
    collect_times(r, o);
    weft_activity_set("writes the run file", -1, -1);
    TRY(look(r->world, t->path, "before the run file was written"));
    weft_status st = r->world->rank == 0 ? write_outcome(s, t, o) : WEFT_OK;
    TRY(weft_agree(st, r->world));
    if (!o->none) return WEFT_OK;
    return weft_fail(WEFT_ENONE,
                     "%s: there is no winner: %s; see %s, then begin anew by `weft tune "
                     "--force`%s",
                     t->path, o->none, r->task->lost,
                     r->task->probe ? ", or repeat them by `weft resume --retry-failed`"
                                    : "");
}

/* ---- runs ---- */

static int teams_are_typed(const weft_run *r)
{
    const weft_entry *e = weft_conf_find(r->conf, "run", "teams");
    return e && weft_conf_is_typed(e);
}

/* Checks that need task and data; a resumed run must have the same data. */
static weft_status check_open(const weft_run *r, const weft_trace *t)
{
    if (r->opts.disk > 0 && r->task->files)
        return weft_fail(WEFT_ECONF,
                         "run.disk = %g: the directories of task %s cannot be recomputed; "
                         "leave it out",
                         r->opts.disk, r->opts.task);
    if (!t->conf || strcmp(t->data, r->data.digest) == 0) return WEFT_OK;
    return weft_fail(WEFT_EDATA,
                     "%s is not the data set that %s was begun with (digest %s, "
                     "expected %s); put that back, or begin anew by `weft tune --force`",
                     r->opts.data, t->path, r->data.digest, t->data);
}

/* Records the start of a run, unless it is resumed. Collective. */
static weft_status begin(const weft_run *r, weft_trace *t, const char *config)
{
    /* Space for three states (of the best trial, of the present one and its successor), the
     * run file, and for each team a checkpoint and its replacement. */
    double state = weft_run_state_bytes(r);
    double space = (4 + (r->task->units ? 2 * r->teams : 0)) * state + 1e6;
    weft_tables tables = tables_of(r);
    t->tables = weft_tables_text(&tables, r->mem);
    return t->conf ? WEFT_OK : weft_trace_begin(t, config, r->data.digest, space);
}

static weft_sched sched_of(weft_run *r, weft_trace *t)
{
    return (weft_sched){.world = r->world,
                        .team = r->team,
                        .teams = r->teams,
                        .task = r->task,
                        .task_self = r->task_self,
                        .search = &r->search,
                        .trace = t,
                        .time_limit = r->opts.time_limit,
                        .target = r->opts.target,
                        .checkpoint = r->opts.checkpoint,
                        .workers = weft_search_waits(&r->search) ? 0 : r->opts.workers,
                        .wall = r->opts.clock,
                        .overhead = r->opts.overhead,
                        .disk = 1e9 * r->opts.disk,
                        .mem = r->mem};
}

/* Has the journals kept if jobs failed. */
static void note_failures(const weft_sched *s, weft_trace *t)
{
    t->won = (weft_won){s->winner.job.trial, s->winner.job.id};
    if (!isfinite(s->winner.res.loss)) t->won = (weft_won){-1, -1};
    for (int64_t i = 0; i < s->n; i++) t->keeps |= !isfinite(s->event[i].res.loss);
}

/* Does a run whose configuration is bound. */
static weft_status do_run(weft_run *r, weft_trace *t, const weft_placement *placement,
                          int *begun)
{
    double start = weft_now();
    TRY(weft_run_divide(r, t->conf && !teams_are_typed(r)));
    weft_outcome o = {.config = t->conf ? t->conf : weft_conf_echo(r->conf, r->mem),
                      .hosts = weft_hosts(placement, r->world->size, r->mem)};
    r->dir = t->dir;
    r->failed = weft_place_failed(t->path, r->mem);
    if (r->opts.time_limit > 0) r->deadline = start + r->opts.time_limit;
    TRY(weft_run_open(r, r->opts.data));
    greet(r, placement, o.hosts);
    TRY(check_open(r, t));
    if (!r->task->files) weft_watchdog_start(r->world, r->opts.watchdog, t->dir);
    TRY(begin(r, t, o.config));
    *begun = 1;
    TRY(weft_trace_start(t, r->teams, weft_now() - start));
    if (t->ndone > 0)
        weft_log(WEFT_INFO, "resumed: %lld jobs are done already", (long long)t->ndone);

    weft_sched s = sched_of(r, t);
    weft_status st = weft_sched_run(&s);
    if (st == WEFT_OK) st = conclude(r, &s, t, &o);
    if (r->task->probe) note_failures(&s, t);
    weft_cache_free(&s);
    return st;
}

/* Does a run; keeps the trace if it was started and did not complete. */
static weft_status do_run_and_close(weft_run *r, weft_trace *t)
{
    int begun = t->conf != NULL;
    const weft_placement *placement = weft_placements(r->world, MEASURE, r->mem);
    weft_status st = do_run(r, t, placement, &begun);
    weft_placements_leave(placement, r->world);
    weft_watchdog_stop();
    weft_trace_close(t, st == WEFT_OK || st == WEFT_ENONE || !begun);
    weft_run_close(r);
    return st;
}

weft_status weft_run_tune(weft_conf *conf, int force, weft_team *world)
{
    weft_arena *mem = weft_arena_new();
    weft_run r;
    weft_trace t;
    const char *directory = NULL;
    weft_signals_catch();
    weft_status st = weft_run_bind(&r, conf, 1, world, mem);
    if (st == WEFT_OK) st = weft_directory_begin(&directory, r.opts.output, world, mem);
    if (st == WEFT_OK) st = weft_agree(weft_place_apart(r.opts.output, conf), world);
    if (st == WEFT_OK)
        st =
            weft_agree(weft_place_best(r.opts.output, force ? 2 : 1, r.task->files), world);
    if (st == WEFT_OK)
        st = weft_trace_open(&t, r.opts.output, force ? WEFT_REPLACE : WEFT_BEGIN, world,
                             mem);
    t.directory = directory;
    if (st == WEFT_OK) st = do_run_and_close(&r, &t);
    weft_signals_free();
    weft_arena_free(mem);
    return st;
}

static weft_status retry(const weft_run *r, weft_trace *t)
{
    if (r->task->probe) return weft_retry_mark(t);
    return weft_fail(WEFT_ECONF,
                     "%s: --retry-failed is for programs, and run.task = %s runs none: a "
                     "training that diverged does so again",
                     t->path, r->opts.task);
}

/* Goes on with a run whose journals were read. Collective over world. */
static weft_status go_on(weft_trace *t, int how, int n, char *const *assignment)
{
    weft_run r;
    weft_conf conf;
    const char *before = NULL;
    weft_conf_init(&conf, t->mem);
    weft_status st =
        weft_conf_text(&conf, weft_arena_text(t->mem, "%s/journal", t->dir), t->conf);
    const weft_entry *output = weft_conf_find(&conf, "run", "output");
    if (st == WEFT_OK) st = weft_directory_resume(t, output ? output->value : "", &before);
    for (int i = 0; st == WEFT_OK && i < n; i++)
        st = weft_run_change(&conf, weft_directory_typed(assignment[i], before, t->mem));
    if (st == WEFT_OK) st = weft_run_bind(&r, &conf, 0, t->world, t->mem);
    if (st == WEFT_OK) st = weft_agree(weft_place_apart(t->path, &conf), t->world);
    if (st == WEFT_OK && how == WEFT_RETRY) st = retry(&r, t);
    if (st == WEFT_OK)
        st = do_run_and_close(&r, t);
    else
        weft_trace_close(t, 0);
    weft_directory_leave(before);
    return st;
}

/* Leaves a complete run, also after a start that was to repeat its failed jobs and ended
 * before that. Collective over world. */
static weft_status leave(weft_trace *t)
{
    weft_status st = WEFT_OK;
    weft_log(WEFT_INFO, "%s is complete; remaining files beside it are removed", t->path);
    if (t->keeps && t->world->rank == 0)
        st = weft_place_keep(t->path, t->won.trial, t->won.job);
    st = weft_agree(st, t->world);
    weft_trace_close(t, st == WEFT_OK);
    if (st == WEFT_OK && t->world->rank == 0) st = weft_winner_find(t->path, t->mem);
    return weft_agree(st, t->world);
}

weft_status weft_run_resume(const char *path, int again, int n, char *const *assignment,
                            weft_team *world)
{
    weft_arena *mem = weft_arena_new();
    weft_trace t;
    weft_signals_catch();
    int how = again ? WEFT_RETRY : WEFT_RESUME;
    weft_status st = weft_trace_open(&t, path, how, world, mem);
    if (st == WEFT_OK) st = t.done ? leave(&t) : go_on(&t, how, n, assignment);
    weft_signals_free();
    weft_arena_free(mem);
    return st;
}
