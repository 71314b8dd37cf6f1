/* One job on one team: its units one after the other, from the start or from a checkpoint.
 * At intervals the team polls whether to stop or to write a checkpoint. Its first rank
 * determines from its clock the number of units until the next poll, so that the units in
 * between have no overhead. */
#include "job.h"
#include "progress.h"
#include "rundir/checkpoint.h"
#include "rundir/times.h"
#include "stop.h"

#include <math.h>
#include <string.h>

#define POLL_SECONDS 0.2 /* approximate seconds between polls */
#define MAX_SPENT    1e9 /* upper bound of the seconds of a unit, summed over ranks */

/* A job while it is run. */
typedef struct job_run {
    weft_sched *s;
    weft_job_record *e;
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

static double seconds_of(const job_run *f)
{
    return f->before + weft_now() - f->start;
}

/* ---- times ---- */

/* Replaces the times of this rank by means over the team, in the rows that have none yet.
 * Collective over team. */
static void average_times(job_run *f)
{
    int64_t first = f->summed, n = f->done - first;
    weft_team *team = f->s->team;
    f->summed = f->done;
    if (f->e->nunit == 0 || n == 0) return;
    weft_arena *tmp = weft_arena_new();
    double *t = WEFT_NEW(tmp, double, 4 * n);
    const weft_spent *own = f->e->spent + first;
    for (int64_t i = 0; i < n; i++) {
        const double spent[4] = {own[i].wall, own[i].compute, own[i].wait, own[i].comm};
        memcpy(t + 4 * i, spent, sizeof spent);
    }
    weft_sum_f64(team, t, 4 * (size_t)n, MAX_SPENT);
    for (int64_t i = 0; i < 4 * n; i++) t[i] /= team->size;
    for (int64_t i = 0; i < n; i++)
        f->e->spent[first + i] =
            (weft_spent){t[4 * i], t[4 * i + 1], t[4 * i + 2], t[4 * i + 3]};
    weft_arena_free(tmp);
}

/* ---- stopping ---- */

/* Writes a checkpoint. Collective over team. */
static weft_status save(job_run *f)
{
    average_times(f);
    f->e->done = f->done;
    f->e->seconds = seconds_of(f);
    f->saved = weft_now();
    double lasted = f->s->before + f->saved - f->s->begun;
    weft_times_close(f->s->team);
    int root = f->s->team->rank == 0;
    weft_status st = root ? weft_checkpoint_write(f->s->rundir, f->e, &f->state) : WEFT_OK;
    if (root && st == WEFT_OK) st = weft_rundir_lasted(f->s->rundir, lasted);
    weft_times_io(f->s->team);
    return weft_agree(st, f->s->team);
}

/* Number of units before the next poll: as many as take about POLL_SECONDS, at most twice
 * as many as the last time. */
static double next_poll(const job_run *f, double now)
{
    double wait = fmin(POLL_SECONDS, f->s->checkpoint);
    double took = fmax(now - f->polled, 1e-9);
    return fmax(1, fmin(2.0 * (double)f->each, floor((double)f->each * wait / took)));
}

/* Checks whether to stop, and whether to write a checkpoint. Collective over team.
 * WEFT_STOP. */
static weft_status poll(job_run *f)
{
    weft_sched *s = f->s;
    double now = weft_now();
    int root = s->team->rank == 0;
    double v[3] = {weft_stop_seen(s), root && now - f->saved >= s->checkpoint,
                   root ? next_poll(f, now) : 0};
    weft_max_f64(s->team, v, 3);
    f->polled = now;
    f->each = (int64_t)v[2];
    f->next = f->done + f->each;
    int why = (int)v[0], saves = why != WEFT_WHY_OVER && (why > 0 || v[1] > 0);
    if (s->rundir && saves && !f->again) TRY(save(f));
    return why > 0 ? weft_stop_now(s, why, f->done, f->units) : WEFT_OK;
}

/* Copies the record of rank 0 to all ranks. Collective over team. */
static void share_record(weft_team *team, weft_job_record *e, weft_arena *mem)
{
    if (team->size == 1) return;
    weft_arena *tmp = weft_arena_new();
    size_t bytes = 0;
    void *packed = team->rank == 0 ? weft_job_record_pack(e, &bytes, tmp) : NULL;
    weft_bcast(team, &bytes, sizeof bytes, 0);
    if (!packed) packed = WEFT_NEW(tmp, char, bytes);
    weft_bcast(team, packed, bytes, 0);
    weft_check(team->rank == 0 || weft_job_record_unpack(e, packed, mem),
               "job %lld is not the same on all ranks", (long long)e->job.id);
    weft_arena_free(tmp);
}

/* ---- rounds ---- */

/* Does one unit; the row's times are those of this rank. */
static weft_status do_unit(job_run *f)
{
    weft_sched *s = f->s;
    weft_job_record *e = f->e;
    if (e->nunit == 0)
        return s->task->step(s->task_self, &e->job, 0, &f->state, NULL, &e->res);
    size_t k = (size_t)e->job.mix.k;
    double *row = e->row + f->done * e->ncolumn;
    weft_times_close(s->team);
    weft_times t = s->team->times;
    double start = weft_now();
    TRY(s->task->step(s->task_self, &e->job, f->done, &f->state, row, &e->res));
    weft_times_close(s->team);
    e->spent[f->done] = (weft_spent){.wall = weft_now() - start,
                                     .compute = s->team->times.compute - t.compute,
                                     .wait = s->team->times.wait - t.wait,
                                     .comm = s->team->times.comm - t.comm};
    memcpy(e->logp + (size_t)f->done * k, e->res.logp, k * sizeof *e->logp);
    return WEFT_OK;
}

/* Sets the state and rows to continue from: those of a checkpoint, else of the job's start.
 * Collective over team. */
static weft_status begin(job_run *f)
{
    weft_sched *s = f->s;
    weft_job_record *e = f->e;
    weft_job_record_room(e, weft_metrics_count(s->task->metrics),
                         s->task->units ? f->units : 0, weft_metrics_count(s->task->rows),
                         f->mem);
    weft_result_begin(&e->res, &e->job);
    if (f->again) {
        if (f->from)
            weft_state_copy(&f->state, f->from);
        else if (s->task->start)
            s->task->start(s->task_self, &e->job, &f->state);
        return WEFT_OK;
    }
    if (s->rundir && f->units > 1) {
        if (s->team->rank == 0) weft_checkpoint_read(s->rundir, e, &f->state, s->mem);
        f->done = e->done;
        weft_bcast(s->team, &f->done, sizeof f->done, 0);
    }
    if (f->done == 0) return f->begins(s, &e->job, f->flight->parent, &f->state);
    weft_state_bcast(s->team, &f->state);
    share_record(s->team, e, s->mem);
    f->before = e->seconds;
    f->summed = f->done;
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
static void announce_jobs(const weft_sched *s, const weft_job_record *e)
{
    const weft_flight_heap *line = &s->queue.flights.deals;
    const weft_job *job[SHOWN] = {&e->job};
    int n = 1;
    if (!s->task->ahead || s->teams > 1) return;
    for (int64_t i = 0; i < line->n; i++)
        n = insert_by_id(&line->item[i]->record.job, job, n);
    s->task->ahead(s->task_self, n, job);
}

/* Handles a unit that was stopped before its end. Collective over team. WEFT_STOP. */
static weft_status stop(const job_run *f)
{
    double why = weft_stop_seen(f->s);
    weft_max_f64(f->s->team, &why, 1);
    return weft_stop_now(f->s, why > 0 ? (int)why : WEFT_WHY_LIMIT, f->done, f->units);
}

static weft_status run_units(job_run *f)
{
    if (f->units == 1) announce_jobs(f->s, f->e);
    TRY(begin(f));
    f->each = 1;
    f->next = f->done + 1;
    while (f->done < f->units) {
        weft_activity_set("works", f->e->job.id, f->done);
        weft_status st = do_unit(f);
        if (st == WEFT_STOP) return stop(f);
        TRY(st);
        f->done++;
        f->s->worked = 1;
        weft_show_round(f->s, f->e, f->done, seconds_of(f));
        if (f->done >= f->next && f->done < f->units) TRY(poll(f));
    }
    average_times(f);
    return WEFT_OK;
}

/* ---- the result ---- */

/* Hash of the state's tensors, without other numbers that the task stores behind them; of a
 * state without tensors, which names a directory, the hash of its doubles. */
static uint64_t weights_hash(const job_run *f)
{
    const weft_sched *s = f->s;
    weft_tensor tensor[WEFT_MAX_TENSORS];
    int n = weft_task_tensors(s->task, s->task_self, &f->e->job, tensor);
    if (n == 0) return weft_state_hash(&f->state);
    int64_t size = weft_tensors_size(n, tensor);
    return weft_hash(f->state.x, (size_t)size * sizeof *f->state.x, 0);
}

static void finish(job_run *f)
{
    weft_job_record *e = f->e;
    e->seconds = seconds_of(f);
    e->began = f->s->before + weft_now() - f->s->begun - e->seconds;
    e->res.job = e->job.id;
    e->res.trial = e->job.trial;
    e->res.resource = (f->flight ? f->flight->before : 0) + e->job.resource;
    if (isnan(e->res.loss)) e->res.loss = INFINITY; /* see weft_result */
    e->done = e->nunit;
    share_record(f->s->team, e, f->s->mem);
    e->hash = weft_state_hash(&f->state);
    e->weights = weights_hash(f);
}

/* The job_run of a record, with memory for the state *out. */
static job_run run_of(weft_sched *s, weft_job_record *e, weft_arena *mem,
                      weft_own_state *out)
{
    weft_arena *own = weft_arena_new();
    *out = (weft_own_state){weft_state_new(s->task, s->task_self, &e->job, own), own};
    double now = weft_now();
    job_run f = {.s = s,
                 .e = e,
                 .state = out->state,
                 .mem = mem,
                 .units = s->task->units ? s->task->units(s->task_self, &e->job) : 1,
                 .each = 1,
                 .start = now,
                 .polled = now,
                 .saved = now};
    weft_check(f.units > 0, "job %lld of no units", (long long)e->job.id);
    return f;
}

weft_status weft_job_run(weft_sched *s, weft_flight *flight, weft_job_begins *begins,
                         weft_own_state *out)
{
    job_run f = run_of(s, &flight->record, s->mem, out);
    f.flight = flight;
    f.begins = begins;
    weft_status st = run_units(&f);
    if (st == WEFT_OK)
        finish(&f);
    else
        weft_arena_free(out->mem);
    return st;
}

weft_status weft_job_again(weft_sched *s, const weft_job_record *told,
                           const weft_state *from, weft_own_state *out)
{
    weft_arena *tmp = weft_arena_new();
    weft_job_record e = weft_job_record_new(&told->job, tmp);
    job_run f = run_of(s, &e, tmp, out);
    f.again = 1;
    f.from = from;
    weft_status st = run_units(&f);
    if (st == WEFT_OK && weft_state_hash(&out->state) != told->hash)
        st = weft_fail(WEFT_EFILE,
                       "job %lld was repeated to restore the state after it, with another "
                       "result: this program or machine is not the one that did it; resume "
                       "with that one, or start again by `weft tune --force`",
                       (long long)told->job.id);
    if (st != WEFT_OK) weft_arena_free(out->mem);
    weft_arena_free(tmp);
    return st;
}
