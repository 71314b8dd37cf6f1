/* One job on one team: its units one after the other, from the start or from a checkpoint;
 * its progress, on the terminal or in the log; and the reasons to stop a search before its
 * end: a signal, the time limit, or that another team has stopped.
 *
 * At intervals the team polls whether to stop or to write a checkpoint. Its first rank
 * determines from its clock the number of units until the next poll, so that the units in
 * between have no overhead. */
#include "host/host.h"
#include "inner.h"
#include "rundir/rundir.h"
#include "weft/base/base.h"
#include "weft/base/random.h"

#include <math.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#define POLL_SECONDS 0.2 /* approximate seconds between polls */
#define MAX_SPENT    1e9 /* upper bound of the seconds of a unit, summed over ranks */

/* A job while it is run. */
typedef struct job_run {
    weft_sched *sched;
    weft_job_record *record;
    const weft_flight *flight;
    weft_job_begins *begins; /* the state that the job begins with */
    weft_state state;
    int again;              /* 1: the job is repeated to restore the state after it, */
    const weft_state *from; /* from this state; NULL: from a new one */
    weft_arena *mem;        /* of the record */
    int64_t units, done;
    int64_t next;   /* number of units done at which to poll again */
    int64_t each;   /* units between the last two polls */
    int64_t summed; /* number of rows whose times were averaged over ranks */
    double before;  /* seconds in earlier sessions */
    double start, polled, saved;
} job_run;

/* ---- reasons to stop ---- */

static int larger(int a, int b)
{
    return a > b ? a : b;
}

int weft_stop_seen(const weft_sched *sched)
{
    int signal = weft_signals_seen();
    int why = signal > 0 ? WEFT_WHY_SIGNAL + signal : 0;
    if (sched->limits.time_limit > 0 && sched->session.worked &&
        weft_now() - sched->session.begun >= sched->limits.time_limit)
        why = larger(why, WEFT_WHY_LIMIT);
    if (sched->session.broken) why = larger(why, WEFT_WHY_BROKEN);
    if (sched->crew.peers) why = larger(why, weft_peers_left(sched->crew.peers));
    return why;
}

/* "7 jobs" or "7 jobs and 120 of 800 rounds of another" */
static const char *progress_text(const weft_sched *sched, int64_t jobs, weft_arena *mem)
{
    if (sched->session.part == 0) return weft_arena_text(mem, "%lld jobs", (long long)jobs);
    return weft_arena_text(mem, "%lld jobs and %lld of %lld rounds of another",
                           (long long)jobs, (long long)sched->session.part,
                           (long long)sched->session.parts);
}

weft_status weft_stop_tell(const weft_sched *sched, int64_t jobs)
{
    if (sched->session.why == WEFT_WHY_BROKEN)
        return weft_fail(WEFT_STOP, "stopped after %lld jobs: %s", (long long)jobs,
                         sched->session.broken);
    const char *path = sched->rundir ? sched->rundir->path : "RUN.h5";
    WEFT_SCRATCH(tmp);
    const char *reason = "another team";
    if (sched->session.why > WEFT_WHY_SIGNAL)
        reason = weft_arena_text(tmp, "signal %d", sched->session.why - WEFT_WHY_SIGNAL);
    else if (sched->session.why == WEFT_WHY_LEFT)
        reason = "the end of the program that does the jobs";
    else if (sched->session.why == WEFT_WHY_LIMIT)
        reason = weft_arena_text(tmp, "time_limit = %g s", sched->limits.time_limit);
    weft_status st = weft_fail(WEFT_STOP, "stopped by %s after %s; go on with `weft %s %s`",
                               reason, progress_text(sched, jobs, tmp),
                               sched->task->remote.trade ? "serve" : "resume", path);
    return st;
}

weft_status weft_stop_now(weft_sched *sched, int why, int64_t done, int64_t units)
{
    sched->session.why = why;
    sched->session.part = done;
    sched->session.parts = units;
    return weft_stop_tell(sched, sched->queue.known);
}

/* ---- progress ---- */

#define REDRAW 0.2  /* seconds between updates of the line on a terminal */
#define RELOG  10.0 /* seconds between log lines about rounds */

/* On a terminal in place of the line before. */
static void show_text(const char *text)
{
    if (isatty(STDERR_FILENO))
        weft_progress("%s", text);
    else
        weft_log(WEFT_INFO, "%s", text);
}

/* "after_loss 2.81": the first number of the row that was measured. */
static const char *first_of(const weft_metric *table, const double *row, weft_arena *tmp)
{
    for (int i = 0; table && table[i].name; i++)
        if (!isnan(row[i]))
            return weft_arena_text(tmp, "%s %s,", table[i].name,
                                   weft_loss_show(row[i], 5, tmp));
    return "";
}

/* "error 12.34 %,": the metrics of the job that have a title and were measured. */
static const char *titled(const weft_metric *table, const weft_result *res, weft_arena *tmp)
{
    const char *text = "";
    for (int i = 0; i < res->nmetric && table && table[i].name; i++)
        if (table[i].title && !isnan(res->metric[i]))
            text = weft_arena_text(tmp, "%s %s,", text,
                                   weft_metric_show(&table[i], res->metric[i], tmp));
    return text;
}

/* Show the progress of a job, and of the search: one line that is rewritten on a terminal;
 * in a log one line per job, and one for rounds every 10 s. */
static void show_round(weft_sched *sched, const weft_job_record *record, int64_t done,
                       double seconds)
{
    if (sched->world->rank != 0 || record->nunit < 2 || done == record->nunit) return;
    int terminal = isatty(STDERR_FILENO);
    double now = weft_now();
    if (sched->session.shown <= 0) sched->session.shown = sched->session.begun;
    if (now - sched->session.shown < (terminal ? REDRAW : RELOG)) return;
    sched->session.shown = now;
    double rate = seconds > 0 ? (double)done / seconds : 0;
    WEFT_SCRATCH(tmp);
    const char *text = weft_arena_text(
        tmp, "round %lld of %lld in job %lld: %s %.3g rounds/s, %.0f s left for it",
        (long long)done, (long long)record->nunit, (long long)record->job.id,
        first_of(sched->task->traits.rows, record->row + (done - 1) * record->ncolumn, tmp),
        rate, rate > 0 ? (double)(record->nunit - done) / rate : 0);
    show_text(text);
}

void weft_show_job(weft_sched *sched, const weft_job_record *record)
{
    int64_t all = weft_search_jobs(sched->search);
    double spent = weft_now() - sched->session.begun;
    int64_t left = all > sched->queue.known ? all - sched->queue.known : 0;
    double rate = spent > 0 ? sched->queue.ran / spent : 0;
    char where[32] = "", rounds[32] = "";
    WEFT_SCRATCH(tmp);
    if (sched->teams > 1)
        snprintf(where, sizeof where, " by team %lld", (long long)record->team);
    if (record->nunit > 0)
        snprintf(rounds, sizeof rounds, " %lld %s,", (long long)record->nunit,
                 sched->task->units ? "rounds" : "reports");
    const char *text = weft_arena_text(
        tmp, "job %lld of %lld%s:%s k = %d, score %s,%s %.2f s; %.3g jobs/s, %.0f s left",
        (long long)sched->queue.known,
        (long long)(all > sched->queue.known ? all : sched->queue.known), where, rounds,
        weft_mix_alive(&record->job.mix), weft_loss_show(record->res.loss, 5, tmp),
        titled(sched->task->traits.metrics, &record->res, tmp), record->seconds, rate,
        rate > 0 ? (double)left / rate : 0);
    sched->session.shown = weft_now();
    show_text(text);
}

void weft_show_scored(double share)
{
    static double begun, shown, before = 2; /* of the part that is scored */
    double now = weft_now();
    int terminal = isatty(STDERR_FILENO);
    weft_activity_set("scores the winner", -1, -1);
    weft_hold("scores the winner");
    if (share < before) begun = shown = now;
    before = share;
    if (now - shown < (terminal ? REDRAW : RELOG)) return;
    shown = now;
    char text[80];
    snprintf(text, sizeof text, "scores of the winner: %.0f %%, %.0f s left", 100 * share,
             share > 0 ? (now - begun) * (1 / share - 1) : INFINITY);
    show_text(text);
}

/* ---- states of jobs ---- */

static weft_status start_kept(const weft_sched *sched, weft_state *state)
{
    weft_status st = WEFT_OK;
    if (sched->team->rank == 0) {
        st = weft_kept_copy(state->kept, sched->given.kept);
        weft_kept_mark(state->kept, state->aux);
    }
    weft_bcast(sched->team, state->aux, WEFT_KEPT_MARK * sizeof *state->aux, 0);
    return weft_agree(st, sched->team);
}

weft_status weft_trial_start(const weft_sched *sched, const weft_job *job,
                             weft_state *state)
{
    if (sched->task->start) sched->task->start(sched->task_self, job, state);
    if (sched->given.x)
        memcpy(state->x, sched->given.x, (size_t)sched->given.n * sizeof *state->x);
    return sched->given.kept && state->kept ? start_kept(sched, state) : WEFT_OK;
}

static double seconds_of(const job_run *run)
{
    return run->before + weft_now() - run->start;
}

void weft_job_place(const weft_sched *sched, int64_t trial, int64_t job, int aside,
                    weft_state *state)
{
    if (!state->kept || !sched->rundir || sched->team->rank > 0) return;
    WEFT_SCRATCH(tmp);
    int number = aside > 0 ? 2 * sched->crew.group + aside : 0;
    weft_kept_place(state->kept, weft_rundir_kept(sched->rundir, trial, job, number, tmp));
}

void weft_own_drop(weft_own_state *own)
{
    if (own->mem) weft_kept_drop(own->state.kept);
    weft_arena_free(own->mem);
    *own = (weft_own_state){0};
}

/* ---- times ---- */

/* Replaces the times of this rank by means over the team, in the rows that have none yet.
 * Collective over team. */
static void average_times(job_run *run)
{
    int64_t first = run->summed, n = run->done - first;
    weft_team *team = run->sched->team;
    run->summed = run->done;
    if (run->record->nunit == 0 || n == 0) return;
    WEFT_SCRATCH(tmp);
    double *t = WEFT_NEW(tmp, double, 4 * n);
    const weft_spent *own = run->record->spent + first;
    for (int64_t i = 0; i < n; i++) {
        const double spent[4] = {own[i].wall, own[i].compute, own[i].wait, own[i].comm};
        memcpy(t + 4 * i, spent, sizeof spent);
    }
    weft_sum_f64(team, t, 4 * (size_t)n, MAX_SPENT);
    for (int64_t i = 0; i < 4 * n; i++) t[i] /= team->size;
    for (int64_t i = 0; i < n; i++)
        run->record->spent[first + i] =
            (weft_spent){t[4 * i], t[4 * i + 1], t[4 * i + 2], t[4 * i + 3]};
}

/* ---- stopping ---- */

/* Writes a checkpoint. Collective over team. */
static weft_status save_checkpoint(job_run *run)
{
    average_times(run);
    run->record->done = run->done;
    run->record->seconds = seconds_of(run);
    run->saved = weft_now();
    double lasted = run->sched->session.before + run->saved - run->sched->session.begun;
    weft_times_close(run->sched->team);
    int root = run->sched->team->rank == 0;
    weft_status st =
        root ? weft_checkpoint_write(run->sched->rundir, run->record, &run->state)
             : WEFT_OK;
    if (root && st == WEFT_OK) st = weft_rundir_lasted(run->sched->rundir, lasted);
    weft_times_io(run->sched->team);
    return weft_agree(st, run->sched->team);
}

/* Number of units before the next poll: as many as take about POLL_SECONDS, at most twice
 * as many as the last time. */
static double next_poll(const job_run *run, double now)
{
    double wait = fmin(POLL_SECONDS, run->sched->limits.checkpoint);
    double took = fmax(now - run->polled, 1e-9);
    return fmax(1, fmin(2.0 * (double)run->each, floor((double)run->each * wait / took)));
}

/* Checks whether to stop, and whether to write a checkpoint. Collective over team.
 * WEFT_STOP. */
static weft_status poll_team(job_run *run)
{
    weft_sched *sched = run->sched;
    double now = weft_now();
    int root = sched->team->rank == 0;
    double v[3] = {weft_stop_seen(sched),
                   root && now - run->saved >= sched->limits.checkpoint,
                   root ? next_poll(run, now) : 0};
    weft_max_f64(sched->team, v, 3);
    run->polled = now;
    run->each = (int64_t)v[2];
    run->next = run->done + run->each;
    int why = (int)v[0], saves = why != WEFT_WHY_OVER && (why > 0 || v[1] > 0);
    if (sched->rundir && saves) TRY(save_checkpoint(run));
    return why > 0 ? weft_stop_now(sched, why, run->done, run->units) : WEFT_OK;
}

/* Copies the record of rank 0 to all ranks. Collective over team. */
static void share_record(weft_team *team, weft_job_record *record, weft_arena *mem)
{
    if (team->size == 1) return;
    WEFT_SCRATCH(tmp);
    size_t bytes = 0;
    void *packed = team->rank == 0 ? weft_job_record_pack(record, &bytes, tmp) : NULL;
    weft_bcast(team, &bytes, sizeof bytes, 0);
    if (!packed) packed = WEFT_NEW(tmp, char, bytes);
    weft_bcast(team, packed, bytes, 0);
    weft_check(team->rank == 0 || weft_job_record_unpack(record, packed, mem),
               "job %lld is not the same on all ranks", (long long)record->job.id);
}

/* ---- rounds ---- */

/* Does one unit; the row's times are those of this rank. */
static weft_status do_unit(job_run *run)
{
    weft_sched *sched = run->sched;
    weft_job_record *record = run->record;
    if (record->nunit == 0)
        return sched->task->step(sched->task_self, &record->job, 0, &run->state, NULL,
                                 &record->res);
    size_t k = (size_t)record->job.mix.k;
    double *row = record->row + run->done * record->ncolumn;
    double start = weft_now(); /* first, so that the wall time has all of the others */
    weft_times_close(sched->team);
    weft_times times = sched->team->times;
    TRY(sched->task->step(sched->task_self, &record->job, run->done, &run->state, row,
                          &record->res));
    weft_times_close(sched->team);
    record->spent[run->done] =
        (weft_spent){.wall = weft_now() - start,
                     .compute = sched->team->times.compute - times.compute,
                     .wait = sched->team->times.wait - times.wait,
                     .comm = sched->team->times.comm - times.comm};
    memcpy(record->logp + (size_t)run->done * k, record->res.logp,
           k * sizeof *record->logp);
    return WEFT_OK;
}

/* The state that a repeated job begins with. EFILE: it was to have a checkpoint, and that
 * cannot be used. Collective over team. */
static weft_status begin_again(job_run *run)
{
    const weft_job *job = &run->record->job;
    if (run->from)
        return weft_agree(weft_state_copy(&run->state, run->from), run->sched->team);
    if (run->record->parent < 0) return weft_trial_start(run->sched, job, &run->state);
    return weft_fail(WEFT_EFILE, "job %lld cannot be repeated from its checkpoint",
                     (long long)job->id);
}

/* Sets the state and rows to continue from: those of a checkpoint, else of the job's start.
 * Collective over team. */
static weft_status begin_job(job_run *run)
{
    weft_sched *sched = run->sched;
    weft_job_record *record = run->record;
    weft_job_record_room(record, weft_metrics_count(sched->task->traits.metrics),
                         sched->task->units ? run->units : 0,
                         weft_metrics_count(sched->task->traits.rows), run->mem);
    weft_result_begin(&record->res, &record->job);
    if (sched->rundir && run->units > 1) {
        if (sched->team->rank == 0)
            weft_checkpoint_read(sched->rundir, record, &run->state, run->again, run->mem);
        run->done = record->done;
        weft_bcast(sched->team, &run->done, sizeof run->done, 0);
    }
    if (run->done == 0 && run->again) return begin_again(run);
    if (run->done == 0)
        return run->begins(sched, &record->job, run->flight->parent, &run->state);
    weft_state_bcast(sched->team, &run->state);
    share_record(sched->team, record, run->mem);
    run->before = record->seconds;
    run->summed = run->done;
    return WEFT_OK;
}

enum { SHOWN = 64 }; /* largest number of jobs that are announced to a task at once */

/* Inserts a job into the announced ones job[1 .. n-1], which are sorted by id; returns
 * their number. */
static int insert_by_id(const weft_job *next, const weft_job **job, int n)
{
    int at = n;
    while (at > 1 && job[at - 1]->id > next->id) at--;
    if (at == SHOWN) return n;
    n += n < SHOWN;
    memmove(job + at + 1, job + at, (size_t)(n - at - 1) * sizeof *job);
    job[at] = next;
    return n;
}

/* Announces the queued jobs to the task. With one team all ranks have the same queue; with
 * several, any team may do any of the jobs. Collective over team. */
static void announce_jobs(const weft_sched *sched, const weft_job_record *record)
{
    const weft_heap *line = &sched->queue.flights.deals;
    weft_flight *const *queued = line->at;
    const weft_job *job[SHOWN] = {&record->job};
    int n = 1;
    if (!sched->task->ahead || sched->teams > 1) return;
    for (int64_t i = 0; i < line->n; i++) n = insert_by_id(&queued[i]->record.job, job, n);
    sched->task->ahead(sched->task_self, n, job);
}

/* Handles a unit that was stopped before its end. Collective over team. WEFT_STOP. */
static weft_status stop_unit(const job_run *run)
{
    double why = weft_stop_seen(run->sched);
    weft_max_f64(run->sched->team, &why, 1);
    return weft_stop_now(run->sched, why > 0 ? (int)why : WEFT_WHY_LIMIT, run->done,
                         run->units);
}

static weft_status run_units(job_run *run)
{
    if (run->units == 1) announce_jobs(run->sched, run->record);
    TRY(begin_job(run));
    run->each = 1;
    run->next = run->done + 1;
    while (run->done < run->units) {
        weft_activity_set("works", run->record->job.id, run->done);
        weft_status st = do_unit(run);
        if (st == WEFT_STOP) return stop_unit(run);
        TRY(st);
        run->done++;
        run->sched->session.worked = 1;
        show_round(run->sched, run->record, run->done, seconds_of(run));
        if (run->done >= run->next && run->done < run->units) TRY(poll_team(run));
    }
    average_times(run);
    return WEFT_OK;
}

/* ---- the result ---- */

/* Hash of the state's tensors, without other numbers that the task stores behind them, and
 * of what is kept; of a state without tensors, which names a directory, the hash of its
 * doubles. */
static uint64_t weights_hash(const job_run *run)
{
    const weft_sched *sched = run->sched;
    weft_tensor tensor[WEFT_MAX_TENSORS];
    int n = weft_task_tensors(sched->task, sched->task_self, &run->record->job, tensor);
    if (n == 0) return weft_state_hash(&run->state);
    int64_t size = weft_tensors_size(n, tensor);
    uint64_t hash = weft_hash(run->state.x, (size_t)size * sizeof *run->state.x, 0);
    if (!run->state.kept) return hash;
    return weft_hash(run->state.aux, WEFT_KEPT_MARK * sizeof *run->state.aux, hash);
}

/* The rows of a job without units are those that its task measured. By the first rank, from
 * which the others get the record. */
static void take_rows(job_run *run)
{
    weft_job_record *record = run->record;
    const weft_result *res = &record->res;
    int ncolumn = weft_metrics_count(run->sched->task->traits.rows);
    if (run->sched->team->rank > 0 || res->nrow == 0) return;
    size_t k = (size_t)record->job.mix.k;
    weft_job_record_room(record, res->nmetric, res->nrow, ncolumn, run->mem);
    memcpy(record->row, res->row, (size_t)(res->nrow * ncolumn) * sizeof *record->row);
    memcpy(record->spent, res->spent, (size_t)res->nrow * sizeof *record->spent);
    for (int64_t i = 0; i < res->nrow; i++)
        memcpy(record->logp + (size_t)i * k, res->logp, k * sizeof *record->logp);
}

/* What privacy the jobs that led to a state have cost; NAN: nothing is protected. */
static double epsilon_of(const job_run *run)
{
    const weft_sched *sched = run->sched;
    const weft_queue *queue = &sched->queue;
    int64_t n = 1;
    for (int64_t id = run->record->parent; id >= 0; n++)
        id = queue->record[queue->row[id]].parent;
    WEFT_SCRATCH(tmp);
    weft_job *job = WEFT_NEW(tmp, weft_job, n);
    const weft_job_record *record = run->record;
    for (int64_t i = n - 1; i >= 0; i--) {
        job[i] = record->job;
        if (i > 0) record = &queue->record[queue->row[record->parent]];
    }
    weft_ledger ledger;
    int paid = sched->task->ledger(sched->task_self, n, job, 0, &ledger);
    return paid ? ledger.epsilon : (double)NAN;
}

static weft_after look_after(const job_run *run)
{
    const weft_sched *sched = run->sched;
    weft_after after = {NAN, NAN};
    weft_tensor tensor[WEFT_MAX_TENSORS];
    if (weft_goals_ask(sched->goals, WEFT_GOAL_EPSILON)) after.epsilon = epsilon_of(run);
    if (!weft_goals_ask(sched->goals, WEFT_GOAL_MODEL)) return after;
    int n = weft_task_tensors(sched->task, sched->task_self, &run->record->job, tensor);
    if (n > 0) after.model_bytes = (double)weft_tensors_size(n, tensor) * sizeof(real);
    return after;
}

/* Sets what the search minimises and limits. A program that does not tell a number of it
 * has failed; ECONF: a task did not measure it. On the first rank. */
static weft_status measure_goals(job_run *run)
{
    const weft_sched *sched = run->sched;
    weft_job_record *record = run->record;
    const weft_job_record *parent = NULL;
    if (!sched->goals || sched->goals->n == 0) return WEFT_OK;
    if (record->parent >= 0)
        parent = &sched->queue.record[sched->queue.row[record->parent]];
    const weft_after after = look_after(run);
    const char *lacks = weft_goals_measure(sched->goals, record, parent, &after, run->mem);
    if (!lacks) return WEFT_OK;
    const char *why = weft_arena_text(
        run->mem, "it told no %s, which run.objectives or run.limits names%s", lacks,
        strcmp(lacks, "seconds") == 0 ? "; real ones count with run.clock = wall" : "");
    if (!sched->task->remote.probe && !sched->task->remote.trade)
        return weft_fail(WEFT_ECONF, "job %lld: %s; take it out", (long long)record->job.id,
                         why);
    record->res.loss = INFINITY;
    record->res.failure = WEFT_CRASHED;
    record->res.why = why;
    weft_goals_measure(sched->goals, record, parent, &after, run->mem);
    return WEFT_OK;
}

static weft_status finish_job(job_run *run)
{
    weft_job_record *record = run->record;
    take_rows(run);
    record->seconds = seconds_of(run);
    record->began = run->sched->session.before + weft_now() - run->sched->session.begun -
                    record->seconds;
    record->res.job = record->job.id;
    record->res.trial = record->job.trial;
    record->res.resource = (run->flight ? run->flight->before : 0) + record->job.resource;
    if (isnan(record->res.loss)) record->res.loss = INFINITY; /* see weft_result */
    record->done = record->nunit;
    TRY(weft_agree(run->sched->team->rank == 0 ? measure_goals(run) : WEFT_OK,
                   run->sched->team));
    share_record(run->sched->team, record, run->sched->mem);
    record->hash = weft_state_hash(&run->state);
    record->weights = weights_hash(run);
    return WEFT_OK;
}

/* The job_run of a record, with memory for the state *out; again: as in job_run. */
static job_run run_of(weft_sched *sched, weft_job_record *record, int again,
                      weft_arena *mem, weft_own_state *out)
{
    weft_arena *own = weft_arena_new();
    *out = (weft_own_state){
        weft_state_new(sched->task, sched->task_self, &record->job, own), own};
    weft_job_place(sched, record->job.trial, record->job.id, again, &out->state);
    double now = weft_now();
    job_run run = {.sched = sched,
                   .record = record,
                   .state = out->state,
                   .again = again,
                   .mem = mem,
                   .units = sched->task->units
                                ? sched->task->units(sched->task_self, &record->job)
                                : 1,
                   .each = 1,
                   .start = now,
                   .polled = now,
                   .saved = now};
    weft_check(run.units > 0, "job %lld of no units", (long long)record->job.id);
    return run;
}

weft_status weft_job_run(weft_sched *sched, weft_flight *flight, weft_job_begins *begins,
                         weft_own_state *out)
{
    job_run run = run_of(sched, &flight->record, 0, sched->mem, out);
    run.flight = flight;
    run.begins = begins;
    if (flight->given > 0) run.start = flight->given;
    weft_status st = run_units(&run);
    if (st == WEFT_OK) st = finish_job(&run);
    if (st != WEFT_OK) weft_arena_free(out->mem);
    return st;
}

int weft_job_is_begun(const weft_sched *sched, const weft_job_record *told)
{
    WEFT_SCRATCH(tmp);
    weft_job_record part;
    int begun = sched->team->rank == 0 &&
                weft_checkpoint_peek(weft_checkpoint_name(sched->rundir, told->stored, tmp),
                                     sched->rundir->id, &part, tmp);
    weft_bcast(sched->team, &begun, sizeof begun, 0);
    return begun;
}

weft_status weft_job_again(weft_sched *sched, const weft_job_record *told,
                           const weft_state *from, weft_own_state *out)
{
    WEFT_SCRATCH(tmp);
    weft_job_record record = weft_job_record_new(&told->job, tmp);
    record.job.id = told->stored; /* which the state may name */
    record.parent = told->parent;
    job_run run = run_of(sched, &record, 1, tmp, out);
    run.from = from;
    record.res.loss = told->res.loss;
    weft_status st = run_units(&run);
    if (st == WEFT_OK && weft_state_hash(&out->state) != told->hash)
        st = weft_fail(
            WEFT_EFILE,
            "job %lld was repeated to restore the state after it, with another "
            "result, loss %.9g after %.9g: this program or machine is not the one "
            "that did it; resume with that one, or start again by `weft tune "
            "--force`",
            (long long)told->job.id, record.res.loss, told->res.loss);
    if (st == WEFT_OK && record.res.loss != told->res.loss && sched->team->rank == 0)
        weft_log(WEFT_WARN,
                 "job %lld was repeated with another loss, %.9g after %.9g: it is no "
                 "function of its seed, so that the digest of this run is its own",
                 (long long)told->job.id, record.res.loss, told->res.loss);
    if (st == WEFT_OK && sched->team->rank == 0)
        weft_checkpoint_drop(sched->rundir, &record);
    if (st == WEFT_STOP)
        weft_arena_free(out->mem); /* its checkpoint needs what is kept */
    else if (st != WEFT_OK)
        weft_own_drop(out);
    return st;
}

weft_status weft_job_alone(weft_sched *sched, const weft_job *job, weft_own_state *out,
                           double *loss)
{
    weft_job_record record = weft_job_record_new(job, sched->mem);
    record.parent = -1;
    job_run run = run_of(sched, &record, 1, sched->mem, out);
    weft_status st = run_units(&run);
    *loss = record.res.loss;
    if (st != WEFT_OK) weft_own_drop(out);
    return st;
}
