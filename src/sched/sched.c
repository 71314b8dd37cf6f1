/* The scheduler: simulated workers ask the tuner for jobs as long as it has any, teams of
 * ranks do them (teams.c), and results are told in the order of virtual time (flight.c);
 * after each result the free workers ask again. Every rank does this with its own copy of
 * the tuner and gets the same jobs, not necessarily at the same real time: what a team's
 * tuner is told does not depend on the progress of other teams. A job with a record in a
 * journal is not run again, so that a resumed run continues exactly where it stopped.
 * Nothing that a task or tuner can observe depends on teams or journals. */
#include "sched.h"
#include "cache.h"
#include "rundir/journals.h"
#include "teams.h"
#include "trust.h"

#include <math.h>

/* 1 if a job meets the target. Shared fits do not count, because their loss is a mean over
 * many maps, and their trials cannot win. */
static int is_target(const weft_sched *s, const weft_job_record *e)
{
    return s->target > 0 && e->job.eligibility != WEFT_WINS_LAST &&
           e->res.loss <= s->target;
}

/* ---- asking ---- */

/* Lower bound of the virtual seconds of a job. */
static double least_seconds(const weft_sched *s, const weft_job *job,
                            const weft_cached *parent)
{
    if (!s->task->seconds) return fmax(job->resource, 0);
    return fmax(s->task->seconds(s->task_self, job, weft_cache_resource(parent)), 0);
}

/* Uses the known result of a job that was done already, if there is one. */
static weft_status find(weft_sched *s, weft_flight *f)
{
    if (s->rundir) TRY(weft_rundir_find(s->rundir, &f->record, &f->replayed, s->mem));
    const void *record = weft_queue_take(s, f->record.job.id);
    if (!f->replayed && !record) return WEFT_OK;
    weft_check(f->replayed || weft_job_record_unpack(&f->record, record, s->mem),
               "the teams' tuners ask for different jobs (%lld)",
               (long long)f->record.job.id);
    weft_teams_enter(s, f);
    return WEFT_OK;
}

/* Queues a job to be done. If the number of workers or a target bounds the jobs in flight,
 * jobs are done about in the order in which they were asked for, which is that in which
 * they are told; else the expensive ones first. */
static void queue_job(weft_sched *s, weft_flight *f)
{
    weft_cost cost = {.flops = 1};
    if (s->target <= 0 && s->workers == 0)
        s->task->cost(s->task_self, &f->record.job, &cost);
    f->flops = cost.flops;
    const weft_claimed *turn = weft_trust_turn(s, f->record.job.id);
    if (turn->taken || turn->hops > 0) return;
    if (s->task->affinity) f->affinity = s->task->affinity(s->task_self, &f->record.job);
    weft_flights_queue(&s->queue.flights, f);
}

/* A free worker starts a job, whose result may be known already. */
static weft_status start(weft_sched *s, const weft_job *job)
{
    weft_cached *parent = weft_cache_pin(s, job);
    weft_flight *f = weft_queue_start(s, job, least_seconds(s, job, parent));
    f->parent = parent;
    f->before = weft_cache_resource(parent);
    f->record.parent = weft_cache_job(parent);
    TRY(find(s, f));
    if (!f->known) queue_job(s, f);
    return WEFT_OK;
}

/* Free workers ask for jobs until the tuner has to be told a result first. */
static weft_status ask(weft_sched *s, weft_asked *answer)
{
    while (*answer != WEFT_DONE && weft_flights_idle(&s->queue.flights)) {
        weft_job job = weft_job_new(0, 0, NULL);
        *answer = weft_search_ask(s->search, &job);
        if (*answer != WEFT_JOB) break;
        job.id = s->queue.asked;
        TRY(start(s, &job));
    }
    weft_check(*answer != WEFT_WAIT || s->queue.flights.ends.n > 0,
               "tuner %s waits for no job", s->search->tuner->kind.name);
    return WEFT_OK;
}

/* ---- telling ---- */

/* Stores the record of a job and tells the tuner its result. */
static void tell(weft_sched *s, weft_flight *f)
{
    const weft_job_record *e = &f->record;
    weft_cache_told(s, f, weft_queue_told(s, e));
    weft_search_tell(s->search, &e->res);
    weft_cache_ended(s);
    weft_queue_leave(&s->queue, f);
}

static weft_status search(weft_sched *s)
{
    weft_asked answer = WEFT_JOB;
    for (int reached = 0; !reached;) {
        TRY(ask(s, &answer));
        weft_cache_bound(s);
        if (s->queue.flights.ends.n == 0) break;
        weft_flight *next = NULL;
        TRY(weft_teams_work(s, &next));
        reached = is_target(s, &next->record);
        tell(s, next);
        if (reached) weft_log(WEFT_INFO, "the target %g is reached", s->target);
    }
    return WEFT_OK;
}

weft_status weft_sched_run(weft_sched *s)
{
    weft_check(s->rundir || s->teams == 1, "teams without a run directory");
    s->begun = weft_now();
    s->before = s->rundir ? weft_rundir_ended(s->rundir) : 0;
    weft_queue_setup(s);
    weft_cache_setup(s);
    TRY(weft_teams_begin(s));
    weft_status st = weft_teams_end(s, search(s));
    weft_progress("%s", "");
    s->seconds = s->before + weft_now() - s->begun;
    weft_queue_end(&s->queue);
    return st;
}
