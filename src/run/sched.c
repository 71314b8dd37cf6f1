/* The scheduler: simulated workers ask the tuner for jobs as long as it gives any, teams of
 * ranks do them (crew.c), results are told in the order of virtual time (flight.c), after
 * each of which the free workers ask again, and so on to the end. Every rank does so, with
 * a tuner of its own, to the same jobs, each at its own time: what a team is told does not
 * depend on how far the others are. A job that a journal knows is not run again: so a run
 * goes on after a restart exactly where it was. Nothing that a task or tuner sees depends
 * on teams or journals. Called by tune.c. */
#include "run_private.h"

#include <math.h>
#include <stdlib.h>

/* ---- what is known ------------------------------------------------------------------ */

/* 1 if b cannot win the run, whatever else is told, once a is told. */
static int outdoes(const weft_job_record *a, const weft_job_record *b)
{
    int alike = a->job.eligibility == b->job.eligibility;
    return (alike || b->job.eligibility == WEFT_WINS_LAST) && weft_job_record_beats(a, b);
}

/* With a target, what is known need not come to be told. */
int weft_sched_needs(const weft_sched *s, const weft_job_record *e)
{
    if (!e->job.last) return 1;
    if (s->target > 0) return s->n == 0 || !outdoes(&s->winner, e);
    return s->known == 0 || !outdoes(&s->best, e);
}

/* Shared fits, whose trials cannot win, do not count: the mean of many maps is the loss of
 * none of them. */
static int is_target(const weft_sched *s, const weft_job_record *e)
{
    return s->target > 0 && e->job.eligibility != WEFT_WINS_LAST &&
           e->res.loss <= s->target;
}

void weft_sched_enter(weft_sched *s, weft_flight *f)
{
    weft_flights_known(&s->flights, f);
    weft_cache_known(s, f);
    if (s->known == 0 || outdoes(&f->event, &s->best)) s->best = f->event;
    s->known++;
    s->replayed += f->replayed;
}

/* ---- asking ------------------------------------------------------------------------- */

/* Virtual seconds that a job takes at least. */
static double least_seconds(const weft_sched *s, const weft_job *job,
                            const weft_cached *parent)
{
    if (!s->task->seconds) return fmax(job->resource, 0);
    return fmax(s->task->seconds(s->task_self, job, weft_cache_resource(parent)), 0);
}

/* The result of another team that came before the job was asked here, or NULL. */
static const void *early(weft_sched *s, int64_t job)
{
    for (weft_early **at = &s->early; *at; at = &(*at)->next) {
        if ((*at)->job != job) continue;
        const void *record = (*at)->record;
        *at = (*at)->next;
        return record;
    }
    return NULL;
}

/* Takes the result of a job that is done already, if it is. */
static weft_status find(weft_sched *s, weft_flight *f)
{
    if (s->trace) TRY(weft_trace_find(s->trace, &f->event, &f->replayed, s->mem));
    const void *record = early(s, f->event.job.id);
    if (!f->replayed && !record) return WEFT_OK;
    weft_check(f->replayed || weft_job_record_unpack(&f->event, record, s->mem),
               "the teams' tuners ask for different jobs (%lld)",
               (long long)f->event.job.id);
    weft_sched_enter(s, f);
    return WEFT_OK;
}

/* Lines a job up to be done. Where workers or a target set bounds to what is in flight, the
 * jobs asked first are told first, about, and so are done first; else the costly ones. */
static void line_up(weft_sched *s, weft_flight *f)
{
    weft_cost cost = {.flops = 1};
    if (s->target <= 0 && s->workers == 0)
        s->task->cost(s->task_self, &f->event.job, &cost);
    f->flops = cost.flops;
    f->affinity = s->task->affinity(s->task_self, &f->event.job);
    weft_flights_queue(&s->flights, f);
}

/* A worker starts a job, whose result may be known. */
static weft_status start(weft_sched *s, const weft_job *job)
{
    weft_cached *parent = weft_cache_pin(s, job);
    weft_flight *f = weft_flights_start(&s->flights, job, least_seconds(s, job, parent));
    f->parent = parent;
    f->event.parent = weft_cache_job(parent);
    s->job = weft_grow(s->mem, s->job, sizeof(weft_flight *), s->asked, &s->roomjob);
    s->row = weft_grow(s->mem, s->row, sizeof *s->row, s->asked, &s->roomrow);
    s->job[s->asked++] = f;
    TRY(find(s, f));
    if (!f->known) line_up(s, f);
    return WEFT_OK;
}

/* Free workers ask, until the tuner wants to be told. */
static weft_status ask(weft_sched *s, weft_asked *answer)
{
    while (*answer != WEFT_DONE && weft_flights_idle(&s->flights)) {
        weft_job job = weft_job_new(0, 0, NULL);
        *answer = weft_search_ask(s->search, &job);
        if (*answer != WEFT_JOB) break;
        job.id = s->asked;
        TRY(start(s, &job));
    }
    weft_check(*answer != WEFT_WAIT || s->flights.ends.n > 0, "tuner %s waits for no job",
               s->search->tuner->kind.name);
    return WEFT_OK;
}

/* ---- telling ------------------------------------------------------------------------ */

/* Enters an event into the books and tells the tuner. */
static void tell(weft_sched *s, weft_flight *f)
{
    const weft_job_record *e = &f->event;
    int leads = s->n == 0 || weft_job_record_beats(e, &s->winner);
    if (leads) s->winner = *e;
    s->event = weft_grow(s->mem, s->event, sizeof *s->event, s->n, &s->room);
    s->row[e->job.id] = s->n;
    s->event[s->n++] = *e;
    weft_cache_told(s, f, leads);
    weft_search_tell(s->search, &e->res);
    weft_cache_ended(s);
    s->job[e->job.id] = NULL;
    weft_flights_end(&s->flights, f);
}

static weft_status search(weft_sched *s)
{
    weft_asked answer = WEFT_JOB;
    for (int reached = 0; !reached;) {
        TRY(ask(s, &answer));
        weft_cache_bound(s);
        if (s->flights.ends.n == 0) break;
        weft_flight *next = NULL;
        TRY(weft_crew_work(s, &next));
        reached = is_target(s, &next->event);
        tell(s, next);
        if (reached) weft_log(WEFT_INFO, "the target %g is reached", s->target);
    }
    return WEFT_OK;
}

weft_status weft_sched_run(weft_sched *s)
{
    weft_check(s->trace || s->teams == 1, "teams without a trace");
    s->begun = weft_now();
    s->before = s->trace ? weft_trace_ended(s->trace) : 0;
    weft_flights_setup(&s->flights, s->workers, s->overhead, s->mem);
    s->flights.wall = s->wall;
    if (s->wall && s->trace)
        s->flights.npast = weft_trace_tickets(s->trace, &s->flights.past, s->mem);
    weft_flights_due(&s->flights);
    TRY(weft_crew_begin(s));
    weft_status st = weft_crew_end(s, search(s));
    weft_progress("%s", "");
    s->seconds = s->before + weft_now() - s->begun;
    if (s->n > 0) qsort(s->event, (size_t)s->n, sizeof *s->event, weft_job_record_compare);
    return st;
}
