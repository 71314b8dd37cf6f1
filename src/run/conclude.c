/* The end of a run: the winner is scored, and the run file is written. */
#include "conclude.h"
#include "eval.h"
#include "host/signals.h"
#include "rundir/place.h"
#include "sched/cache.h"
#include "sched/choice.h"
#include "setup.h"

#include <math.h>
#include <string.h>
#include <sys/resource.h>

weft_tables weft_run_tables(const weft_run *r)
{
    return (weft_tables){.metrics = r->task->metrics,
                         .rows = r->task->rows,
                         .scores = r->task->scores,
                         .dim = r->space.dim,
                         .axis = r->space.axis};
}

/* Seconds of the winner's own fit if that followed a search over mixtures, else 0. */
static double refit_seconds(const weft_sched *s)
{
    int64_t single = 0;
    for (int64_t i = 0; i < s->queue.n; i++) single += s->queue.record[i].job.mix.k == 1;
    return single == 1 && s->queue.n > 1 ? s->queue.winner.seconds : 0;
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
    for (int64_t i = 0; i < s->queue.n; i++)
        most = fmax(most, s->queue.record[i].res.resource);
    return s->task->optimum(s->task_self, most);
}

static weft_history history_of(const weft_run *r, const weft_sched *s, const weft_rundir *t)
{
    weft_history h = {.tables = weft_run_tables(r),
                      .n = s->queue.n,
                      .record = s->queue.record,
                      .optimum = optimum(s),
                      .workers = s->workers > 0 ? s->workers : s->queue.flights.workers,
                      .overhead = s->queue.flights.overhead,
                      .makespan = s->queue.flights.now,
                      .seconds = s->seconds};
    h.starts = weft_starts_sum(t->time, t->ntime, &h);
    return h;
}

static weft_status write_outcome(const weft_run *r, const weft_sched *s,
                                 const weft_rundir *t, const weft_outcome *o)
{
    weft_status st = WEFT_OK;
    if (r->task->files && !o->none)
        st = weft_place_keep(t->path, s->queue.winner.job.trial, s->queue.winner.job.id);
    else
        weft_place_drop(t->path);
    if (st == WEFT_OK) st = weft_run_write(t->path, o);
    return weft_rundir_stuck(t, st);
}

weft_status weft_run_conclude(const weft_run *r, weft_sched *s, const weft_rundir *t,
                              weft_outcome *o)
{
    o->opts = &r->opts;
    o->space = &r->space;
    o->data_digest = r->data.digest;
    o->like = weft_data_likeness(&r->data);
    o->ranks = r->world->size;
    o->teams = r->teams;
    o->configs = weft_search_configs(&r->search);
    o->vocab = weft_word_weights_of(r, &s->queue.winner.job).vocab;
    o->by_resource = r->task->units || weft_run_resource(r) > 1;
    o->winner = &s->queue.winner;
    if (!isfinite(s->queue.winner.res.loss))
        o->none = s->queue.n == 1
                      ? "its only job has no finite loss"
                      : weft_arena_text(r->mem, "none of its %lld jobs has a finite loss",
                                        (long long)s->queue.n);
    o->ntensor = weft_task_tensors(r->task, r->task_self, &s->queue.winner.job, o->tensor);
    o->began = t->began;
    o->directory = t->directory;
    o->search = s->seconds;
    o->refit = refit_seconds(s);
    TRY(score(r, s, o));
    warn_uncertain(r, o);
    o->digest = weft_job_record_digest(s->queue.record, s->queue.n);
    o->history = history_of(r, s, t);
    o->setup = o->history.starts.setup;
    collect_times(r, o);
    weft_activity_set("writes the run file", -1, -1);
    TRY(look(r->world, t->path, "before the run file was written"));
    weft_status st = r->world->rank == 0 ? write_outcome(r, s, t, o) : WEFT_OK;
    TRY(weft_agree(st, r->world));
    if (!o->none) return WEFT_OK;
    return weft_fail(WEFT_ENONE,
                     "%s: there is no winner: %s; see %s, then begin anew by `weft tune "
                     "--force`%s",
                     t->path, o->none, r->task->lost,
                     r->task->probe ? ", or repeat them by `weft resume --retry-failed`"
                                    : "");
}
