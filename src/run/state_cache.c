/* The states of trials that a later job or the winner needs: in memory, and where the run
 * has a trace also in a file, from which they are read when memory was given up or the run
 * is resumed. Called by sched.c and job.c. */
#include "run_private.h"

#include <string.h>

/* The state of a trial after a job. */
struct weft_cached {
    const weft_job_record *of; /* a copy: events move as they grow */
    int newest;                /* 1: the trial's last so far, and a later job may need it */
    weft_state state;          /* x NULL: in the file only */
};

static weft_cached *newest_of(const weft_sched *s, int64_t trial)
{
    for (int i = 0; i < s->nheld; i++)
        if (s->held[i].newest && s->held[i].of->job.trial == trial) return &s->held[i];
    return NULL;
}

static weft_cached *parent_of(const weft_sched *s, const weft_job *job)
{
    weft_cached *own = newest_of(s, job->trial);
    return own || job->from < 0 ? own : newest_of(s, job->from);
}

static void forget(weft_cached *h)
{
    weft_arena_free(h->state.mem);
    h->state.mem = NULL;
    h->state.x = NULL;
}

/* Gives up the memory of the oldest states, which lie in files, beyond what is allowed; the
 * last one stays. */
static void make_room(weft_sched *s)
{
    if (!s->trace || !(s->memory > 0)) return;
    double bytes = 0;
    for (int i = s->nheld - 1; i >= 0; i--) {
        weft_cached *h = &s->held[i];
        if (!h->state.x) continue;
        bytes += (double)h->state.n * sizeof *h->state.x;
        if (bytes > s->memory && i < s->nheld - 1) forget(h);
    }
}

/* Reads a state that lies in the file only. */
static weft_status fetch(weft_sched *s, weft_cached *h)
{
    if (h->state.x) return WEFT_OK;
    const int64_t n = s->task->nstate(s->task_self, h->of->job.mix.k);
    weft_arena *mem = weft_arena_new();
    h->state = (weft_state){.n = n, .x = WEFT_NEW(mem, real, n), .mem = mem};
    const weft_status st = weft_trace_load(s->trace, s->team, h->of, h->state.x, n);
    if (st != WEFT_OK) forget(h);
    return st;
}

weft_status weft_cache_begin(weft_sched *s, const weft_job *job, real *x)
{
    weft_cached *parent = parent_of(s, job);
    if (!parent) {
        s->task->start(s->task_self, job, x);
        return WEFT_OK;
    }
    TRY(fetch(s, parent));
    const int64_t n = s->task->nstate(s->task_self, job->mix.k), before = parent->state.n;
    memcpy(x, parent->state.x, (size_t)(n < before ? n : before) * sizeof *x);
    return WEFT_OK;
}

double weft_cache_resource(const weft_sched *s, const weft_job *job)
{
    const weft_cached *parent = parent_of(s, job);
    return parent ? parent->of->res.resource : 0;
}

static void push(weft_sched *s, weft_cached h)
{
    s->held = weft_grow(s->mem, s->held, sizeof *s->held, s->nheld, &s->roomheld);
    s->held[s->nheld++] = h;
}

static int is_winner(const weft_sched *s, const weft_job_record *e)
{
    return e->job.id == s->winner.job.id;
}

/* Of states that no later job and no winner needs. */
static void let_go(weft_sched *s)
{
    int kept = 0;
    for (int i = 0; i < s->nheld; i++) {
        weft_cached *h = &s->held[i];
        if (h->newest || is_winner(s, h->of)) {
            s->held[kept++] = *h;
            continue;
        }
        if (s->trace) weft_trace_drop(s->trace, h->of);
        forget(h);
    }
    s->nheld = kept;
}

void weft_cache_add(weft_sched *s, const weft_job_record *e, const weft_state *state)
{
    weft_cached *before = newest_of(s, e->job.trial);
    if (before) before->newest = 0;
    if (!e->job.last || is_winner(s, e)) {
        weft_job_record *own = WEFT_NEW(s->mem, weft_job_record, 1);
        *own = *e;
        push(s, (weft_cached){.of = own, .newest = !e->job.last});
        if (state) s->held[s->nheld - 1].state = *state;
    } else {
        if (state) weft_arena_free(state->mem);
        if (s->trace && s->task->files) weft_trace_drop(s->trace, e);
    }
    let_go(s);
    make_room(s);
}

void weft_cache_ended(weft_sched *s)
{
    if (!s->tuner->ended) return;
    for (int i = 0; i < s->nheld; i++)
        if (s->tuner->ended(s->tuner_self, s->held[i].of->job.trial)) s->held[i].newest = 0;
    let_go(s);
}

void weft_cache_free(weft_sched *s)
{
    for (int i = 0; i < s->nheld; i++) forget(&s->held[i]);
    s->nheld = 0;
}

weft_status weft_cache_winner(weft_sched *s, const real **state)
{
    for (int i = 0; i < s->nheld; i++) {
        if (!is_winner(s, s->held[i].of)) continue;
        TRY(fetch(s, &s->held[i]));
        *state = s->held[i].state.x;
        return WEFT_OK;
    }
    weft_die("the state of the best job %lld was not kept", (long long)s->winner.job.id);
}
