/* The scheduler: simulated workers ask the tuner for jobs as long as it has any, teams of
 * ranks do them (teams.c), and results are told in the order of virtual time (flight.c);
 * after each result the free workers ask again. Every rank does this with its own copy of
 * the tuner and gets the same jobs, not necessarily at the same real time: what a team's
 * tuner is told does not depend on the progress of other teams. A job with a record in a
 * journal is not run again, so that a resumed run continues exactly where it stopped.
 * Nothing that a task or tuner can observe depends on teams or journals. */
#include "sched.h"
#include "cache.h"
#include "choice.h"
#include "rundir/journals.h"
#include "teams.h"
#include "trust.h"

#include <math.h>
#include <stdlib.h>

/* ---- known results ---- */

/* 1 if b cannot win the run any more, whatever other results are, once a is told. */
static int rules_out(const weft_job_record *a, const weft_job_record *b)
{
    int alike = a->job.eligibility == b->job.eligibility;
    return (alike || b->job.eligibility == WEFT_WINS_LAST) && weft_job_record_beats(a, b);
}

/* With a target a job whose result is known may never be told, and then cannot rule out
 * others. */
int weft_sched_needs(const weft_sched *s, const weft_job_record *e)
{
    if (!e->job.last) return 1;
    if (s->target > 0) return s->n == 0 || !rules_out(&s->winner, e);
    return s->known == 0 || !rules_out(&s->best, e);
}

/* 1 if a job meets the target. Shared fits do not count, because their loss is a mean over
 * many maps, and their trials cannot win. */
static int is_target(const weft_sched *s, const weft_job_record *e)
{
    return s->target > 0 && e->job.eligibility != WEFT_WINS_LAST &&
           e->res.loss <= s->target;
}

/* The share of a job that was done in this session. */
static double share_done(const weft_sched *s, const weft_job_record *e)
{
    double here = e->began + e->seconds - s->before;
    return e->seconds > here ? fmax(here, 0) / e->seconds : 1;
}

void weft_sched_enter(weft_sched *s, weft_flight *f)
{
    weft_flights_known(&s->flights, f);
    weft_cache_known(s, f);
    weft_trust_known(s, &f->event);
    if (s->claims) weft_claim_drawn(s->claims, f->event.ticket);
    if (s->known == 0 || rules_out(&f->event, &s->best)) s->best = f->event;
    s->known++;
    s->replayed += f->replayed;
    if (!f->replayed) s->ran += share_done(s, &f->event);
}

/* ---- asking ---- */

/* Lower bound of the virtual seconds of a job. */
static double least_seconds(const weft_sched *s, const weft_job *job,
                            const weft_cached *parent)
{
    if (!s->task->seconds) return fmax(job->resource, 0);
    return fmax(s->task->seconds(s->task_self, job, weft_cache_resource(parent)), 0);
}

/* The result of another team that arrived before the job was asked for here, good until the
 * next message; NULL: none. */
static const void *early_result(weft_sched *s, int64_t job)
{
    for (weft_early **at = &s->early; *at; at = &(*at)->next) {
        weft_early *e = *at;
        if (e->job != job) continue;
        *at = e->next;
        e->next = s->taken;
        s->taken = e;
        return e->record;
    }
    return NULL;
}

/* Uses the known result of a job that was done already, if there is one. */
static weft_status find(weft_sched *s, weft_flight *f)
{
    if (s->trace) TRY(weft_trace_find(s->trace, &f->event, &f->replayed, s->mem));
    const void *record = early_result(s, f->event.job.id);
    if (!f->replayed && !record) return WEFT_OK;
    weft_check(f->replayed || weft_job_record_unpack(&f->event, record, s->mem),
               "the teams' tuners ask for different jobs (%lld)",
               (long long)f->event.job.id);
    weft_sched_enter(s, f);
    return WEFT_OK;
}

/* Queues a job to be done. If the number of workers or a target bounds the jobs in flight,
 * jobs are done about in the order in which they were asked for, which is that in which
 * they are told; else the expensive ones first. */
static void queue_job(weft_sched *s, weft_flight *f)
{
    weft_cost cost = {.flops = 1};
    if (s->target <= 0 && s->workers == 0)
        s->task->cost(s->task_self, &f->event.job, &cost);
    f->flops = cost.flops;
    if (f->event.job.id < s->nturn) {
        const weft_claimed *turn = &s->turn[f->event.job.id];
        if (turn->taken || turn->hops > 0) return;
    }
    if (s->task->affinity) f->affinity = s->task->affinity(s->task_self, &f->event.job);
    weft_flights_queue(&s->flights, f);
}

/* A free worker starts a job, whose result may be known already. */
static weft_status start(weft_sched *s, const weft_job *job)
{
    weft_cached *parent = weft_cache_pin(s, job);
    weft_flight *f = weft_flights_start(&s->flights, job, least_seconds(s, job, parent));
    f->parent = parent;
    f->event.parent = weft_cache_job(parent);
    s->job = weft_regrow(s->mem, s->job, sizeof(weft_flight *), s->asked, &s->roomjob);
    s->row = weft_regrow(s->mem, s->row, sizeof *s->row, s->asked, &s->roomrow);
    s->job[s->asked++] = f;
    TRY(find(s, f));
    if (!f->known) queue_job(s, f);
    return WEFT_OK;
}

/* Free workers ask for jobs until the tuner has to be told a result first. */
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

/* ---- telling ---- */

/* Stores the event of a job and tells the tuner its result. */
static void tell(weft_sched *s, weft_flight *f)
{
    const weft_job_record *e = &f->event;
    int leads = s->n == 0 || weft_job_record_beats(e, &s->winner);
    if (leads) s->winner = *e;
    s->event = weft_regrow(s->mem, s->event, sizeof *s->event, s->n, &s->room);
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
        TRY(weft_teams_work(s, &next));
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
    TRY(weft_teams_begin(s));
    weft_status st = weft_teams_end(s, search(s));
    weft_progress("%s", "");
    s->seconds = s->before + weft_now() - s->begun;
    if (s->n > 0) qsort(s->event, (size_t)s->n, sizeof *s->event, weft_job_record_compare);
    return st;
}
