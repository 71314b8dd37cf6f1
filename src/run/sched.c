/* The scheduler: asks the tuner for jobs as long as it gives any, runs them by the task,
 * tells the results in the order the jobs were asked, and so on to the end. All ranks form
 * one team that does each job together. Jobs that were asked together run grouped by the
 * task's affinity, a trial's own in their order. A job that the journal knows is told, not
 * run: so a run goes on after a restart exactly where it was. Called by tune.c. */
#include "run_private.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define BATCH 4096 /* jobs that are asked ahead at most */

/* The state of a trial after a job; it may lie in the file only. */
struct weft_held {
    const weft_event *of; /* a copy: events move as they grow */
    int newest;           /* 1: the trial's last so far, and a later job may need it */
    real *state;          /* NULL: in the file */
    weft_arena *mem;      /* holds state */
    int filed;
};

/* A job that was asked and waits to be run. */
typedef struct slot {
    weft_event event;
    int64_t wave; /* jobs of a wave do not depend on each other */
    int64_t affinity;
} slot;

/* ---- winner ------------------------------------------------------------------------- */

static int compare(double a, double b)
{
    return (a > b) - (a < b);
}

/* Positive when a is the better candidate. */
static int better(const weft_event *a, const weft_event *b)
{
    const int one_a = a->job.wins > 0, one_b = b->job.wins > 0;
    if (one_a != one_b) return one_a - one_b;
    if (!one_a) return compare((double)a->job.id, (double)b->job.id);
    const int fine_a = isfinite(a->res.loss), fine_b = isfinite(b->res.loss);
    if (fine_a != fine_b) return fine_a - fine_b;
    int c = compare(a->job.size, b->job.size);
    if (c == 0) c = compare(a->res.resource, b->res.resource);
    if (c == 0) c = compare(b->res.loss, a->res.loss);
    if (c == 0) c = compare((double)b->job.id, (double)a->job.id);
    return c;
}

int weft_winner_arm(const weft_event *e)
{
    const weft_mix *m = &e->job.mix;
    int best = weft_mix_mode(m);
    for (int i = 0; i < m->k; i++)
        if (!(m->z[i] < m->z[best]) &&
            weft_result_score(&e->res, i) < weft_result_score(&e->res, best))
            best = i;
    return best;
}

/* ---- states ------------------------------------------------------------------------- */

static weft_held *held_of(const weft_sched *s, int64_t trial)
{
    for (int i = 0; i < s->nheld; i++)
        if (s->held[i].newest && s->held[i].of->job.trial == trial) return &s->held[i];
    return NULL;
}

static void hold(weft_sched *s, const weft_event *e, real *state, weft_arena *mem,
                 int filed)
{
    if (s->nheld == s->roomheld) {
        s->roomheld = 2 * s->roomheld + 16;
        weft_held *more = WEFT_NEW(s->mem, weft_held, s->roomheld);
        if (s->nheld > 0) memcpy(more, s->held, (size_t)s->nheld * sizeof *more);
        s->held = more;
    }
    weft_event *own = WEFT_NEW(s->mem, weft_event, 1);
    *own = *e;
    s->held[s->nheld++] = (weft_held){
        .of = own, .newest = !e->job.last, .state = state, .mem = mem, .filed = filed};
}

/* Lets go of the states that no later job and no winner needs. */
static void release(weft_sched *s)
{
    int kept = 0;
    for (int i = 0; i < s->nheld; i++) {
        weft_held *h = &s->held[i];
        if (h->newest || h->of->job.id == s->winner.job.id) {
            s->held[kept++] = *h;
            continue;
        }
        if (h->filed) weft_trace_drop(s->trace, h->of);
        weft_arena_free(h->mem);
    }
    s->nheld = kept;
}

/* Reads a state that lies in the file only. */
static weft_status fetch(weft_sched *s, weft_held *h)
{
    if (h->state) return WEFT_OK;
    const int64_t n = s->task->nstate(s->task_self, h->of->job.mix.k);
    h->mem = weft_arena_new();
    h->state = WEFT_NEW(h->mem, real, n);
    return weft_trace_load(s->trace, h->of, h->state, n);
}

weft_status weft_sched_state(weft_sched *s, const real **state)
{
    for (int i = 0; i < s->nheld; i++) {
        if (s->held[i].of->job.id != s->winner.job.id) continue;
        TRY(fetch(s, &s->held[i]));
        *state = s->held[i].state;
        return WEFT_OK;
    }
    weft_die("the state of the best job %lld was not kept", (long long)s->winner.job.id);
}

/* ---- one job ------------------------------------------------------------------------ */

static weft_held *parent_of(const weft_sched *s, const weft_job *job)
{
    weft_held *own = held_of(s, job->trial);
    return own || job->from < 0 ? own : held_of(s, job->from);
}

/* The state that a job begins with, in memory of its own. */
static weft_status begin_state(weft_sched *s, const weft_job *job, real *state)
{
    weft_held *parent = parent_of(s, job);
    if (!parent) {
        s->task->start(s->task_self, job, state);
        return WEFT_OK;
    }
    TRY(fetch(s, parent));
    memcpy(state, parent->state,
           (size_t)s->task->nstate(s->task_self, job->mix.k) * sizeof *state);
    return WEFT_OK;
}

/* Makes sure that all ranks have the same result: that of rank 0. Collective. */
static void share_result(const weft_sched *s, weft_result *res)
{
    weft_arena *tmp = weft_arena_new();
    const size_t bytes = weft_result_bytes(res->k);
    char *packed = WEFT_NEW(tmp, char, bytes);
    weft_result_pack(res, packed);
    weft_bcast(s->team, packed, bytes, 0);
    weft_result_unpack(res, packed);
    weft_arena_free(tmp);
}

static void finish_result(const weft_sched *s, weft_event *e)
{
    weft_held *parent = parent_of(s, &e->job);
    weft_result *r = &e->res;
    r->job = e->job.id;
    r->trial = e->job.trial;
    r->resource = (parent ? parent->of->res.resource : 0) + e->job.resource;
    if (isnan(r->loss)) r->loss = INFINITY;
    share_result(s, r);
}

/* Takes an event that is complete into the books. `mem` holds its state, NULL: in the file.
 */
static const weft_event *enter(weft_sched *s, const weft_event *e, real *state,
                               weft_arena *mem)
{
    if (s->n == s->room) {
        s->room = 2 * s->room + 64;
        weft_event *more = WEFT_NEW(s->mem, weft_event, s->room);
        if (s->n > 0) memcpy(more, s->event, (size_t)s->n * sizeof *more);
        s->event = more;
    }
    weft_event *own = &s->event[s->n++];
    *own = *e;
    weft_held *before = held_of(s, e->job.trial);
    if (before) before->newest = 0;
    const int won = s->n == 1 || better(own, &s->winner) > 0;
    if (won) s->winner = *own;
    if (!own->job.last || won)
        hold(s, own, state, mem, s->trace != NULL);
    else
        weft_arena_free(mem);
    return own;
}

static weft_status run_job(weft_sched *s, weft_event *e)
{
    const int64_t n = s->task->nstate(s->task_self, e->job.mix.k);
    weft_arena *mem = weft_arena_new();
    real *state = WEFT_NEW(mem, real, n);
    weft_status st = begin_state(s, &e->job, state);
    if (st != WEFT_OK) {
        weft_arena_free(mem);
        return st;
    }
    const double start = weft_now();
    TRY(s->task->step(s->task_self, &e->job, 0, state, NULL, NULL, &e->res));
    e->seconds = weft_now() - start;
    finish_result(s, e);
    e->hash = weft_hash(state, (size_t)n * sizeof *state, 0);
    const weft_event *own = enter(s, e, state, mem);
    const int kept = s->nheld > 0 && s->held[s->nheld - 1].of->job.id == own->job.id;
    if (s->trace) TRY(weft_trace_add(s->trace, own, kept ? state : NULL, n));
    release(s);
    return WEFT_OK;
}

/* ---- stopping ----------------------------------------------------------------------- */

/* Before each job: do the ranks ask for the same one, and is there a reason to stop?
 * Collective. */
static weft_status go_on(weft_sched *s, const weft_job *job)
{
    weft_arena *tmp = weft_arena_new();
    size_t bytes;
    const void *packed = weft_job_pack(job, &bytes, tmp);
    const double mark = (double)(weft_hash(packed, bytes, 0) >> 12);
    weft_arena_free(tmp);
    double v[4] = {mark, -mark, weft_signals_seen(),
                   s->time_limit > 0 && weft_now() - s->begun >= s->time_limit};
    weft_max_f64(s->team, v, 4);
    weft_check(v[0] + v[1] >= 0 && v[0] + v[1] <= 0,
               "the ranks' tuners ask for different jobs (%lld)", (long long)job->id);
    const char *path = s->trace ? s->trace->path : "RUN.h5";
    if (v[2] > 0)
        return weft_fail(WEFT_STOP,
                         "stopped by signal %d after %lld jobs; go on with `weft "
                         "resume %s`",
                         (int)v[2], (long long)s->n, path);
    if (v[3] > 0)
        return weft_fail(WEFT_STOP,
                         "stopped by time_limit = %g s after %lld jobs; go on with "
                         "`weft resume %s`",
                         s->time_limit, (long long)s->n, path);
    return WEFT_OK;
}

static void show_progress(const weft_sched *s, const weft_event *e)
{
    const int64_t all = s->tuner->jobs(s->tuner_self);
    const double spent = weft_now() - s->begun;
    const int64_t ran = s->n - s->replayed, left = all > s->n ? all - s->n : 0;
    const double rate = spent > 0 ? (double)ran / spent : 0;
    char text[160];
    snprintf(text, sizeof text,
             "job %lld of %lld: k = %d, loss %.5f, error %.2f %%, %.2f s; %.2f jobs/s, "
             "%.0f s left",
             (long long)s->n, (long long)(all > s->n ? all : s->n),
             weft_mix_alive(&e->job.mix), e->res.loss, 100 * e->res.valid_error, e->seconds,
             rate, rate > 0 ? (double)left / rate : 0);
    if (isatty(STDERR_FILENO))
        weft_progress("%s", text);
    else
        weft_log(WEFT_INFO, "%s", text);
}

/* ---- batches ------------------------------------------------------------------------ */

static int touches(const weft_job *a, const weft_job *b)
{
    return a->trial == b->trial || a->from == b->trial || b->from == a->trial;
}

/* Asks for jobs until the tuner wants to be told. */
static weft_asked ask(weft_sched *s, slot *batch, int *n)
{
    weft_asked answer = WEFT_JOB;
    for (*n = 0; *n < BATCH; (*n)++) {
        weft_job job = {.from = -1, .size = 1};
        answer = s->tuner->ask(s->tuner_self, &job);
        if (answer != WEFT_JOB) break;
        job.id = s->asked++;
        weft_event *e = &batch[*n].event;
        *e = (weft_event){.job = job, .res = weft_result_new(job.mix.k, s->mem)};
        e->job.mix = weft_mix_new(job.mix.k, job.mix.dim, s->mem);
        weft_mix_copy(&e->job.mix, &job.mix);
        batch[*n].affinity = s->task->affinity(s->task_self, &e->job);
        batch[*n].wave = 0;
        for (int i = 0; i < *n; i++)
            if (touches(&batch[i].event.job, &e->job) && batch[*n].wave <= batch[i].wave)
                batch[*n].wave = batch[i].wave + 1;
    }
    weft_check(*n > 0 || answer != WEFT_WAIT, "tuner %s waits for no job",
               s->tuner->kind.name);
    return answer;
}

static int by_affinity(const void *pa, const void *pb)
{
    const slot *a = pa, *b = pb;
    if (a->wave != b->wave) return a->wave < b->wave ? -1 : 1;
    if (a->affinity != b->affinity) return a->affinity < b->affinity ? -1 : 1;
    return a->event.job.id < b->event.job.id ? -1 : 1;
}

static int by_job(const void *pa, const void *pb)
{
    const weft_event *a = pa, *b = pb;
    return a->job.id < b->job.id ? -1 : 1;
}

static int slot_by_job(const void *pa, const void *pb)
{
    const slot *a = pa, *b = pb;
    return by_job(&a->event, &b->event);
}

/* Runs a batch, or takes its results from the journal. *reached: the target is met. */
static weft_status run_batch(weft_sched *s, slot *batch, int n, int *reached)
{
    qsort(batch, (size_t)n, sizeof *batch, by_affinity);
    for (int i = 0; i < n && !*reached; i++) {
        weft_event *e = &batch[i].event;
        int found = 0;
        if (s->trace) TRY(weft_trace_find(s->trace, e, &found));
        if (found) {
            enter(s, e, NULL, NULL);
            release(s);
            s->replayed++;
            s->seconds += e->seconds;
        } else {
            TRY(go_on(s, &e->job));
            TRY(run_job(s, e));
            show_progress(s, e);
        }
        *reached = s->target > 0 && e->res.loss <= s->target;
    }
    return WEFT_OK;
}

static weft_status search(weft_sched *s, slot *batch)
{
    int reached = 0;
    for (weft_asked answer = WEFT_WAIT; answer != WEFT_DONE && !reached;) {
        int n;
        answer = ask(s, batch, &n);
        TRY(run_batch(s, batch, n, &reached));
        if (reached) weft_log(WEFT_INFO, "the target %g is reached", s->target);
        qsort(batch, (size_t)n, sizeof *batch, slot_by_job);
        for (int i = 0; i < n && !reached; i++)
            s->tuner->tell(s->tuner_self, &batch[i].event.res);
    }
    return WEFT_OK;
}

weft_status weft_sched_run(weft_sched *s)
{
    s->begun = weft_now();
    weft_arena *tmp = weft_arena_new();
    const weft_status st = search(s, WEFT_NEW(tmp, slot, BATCH));
    weft_arena_free(tmp);
    weft_progress("%s", "");
    s->seconds += weft_now() - s->begun;
    if (s->n > 0) qsort(s->event, (size_t)s->n, sizeof *s->event, by_job);
    return st;
}
