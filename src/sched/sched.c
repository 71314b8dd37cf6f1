/* The scheduler: simulated workers ask the tuner for jobs as long as it has any, teams of
 * ranks do them (teams.c), and results are told in the order of virtual time (flight.c);
 * after each result the free workers ask again. Every rank does this with its own copy of
 * the tuner and gets the same jobs, not necessarily at the same real time: what a team's
 * tuner is told does not depend on the progress of other teams. A job with a record in a
 * journal is not run again, so that a resumed run continues exactly where it stopped.
 * Nothing that a task or tuner can observe depends on teams or journals. */
#include "sched.h"
#include "cache.h"
#include "lend.h"
#include "rundir/rundir.h"
#include "teams.h"
#include "trade.h"
#include "trust.h"
#include "weft/clock.h"
#include "weft/log.h"

#include <math.h>

/* 1 if a job meets the target. Shared fits do not count, because their loss is a mean over
 * many maps, and their trials cannot win. */
static int is_target(const weft_sched *sched, const weft_job_record *record)
{
    return sched->target > 0 && record->job.eligibility != WEFT_WINS_LAST &&
           record->res.loss <= sched->target;
}

/* ---- asking ---- */

/* Lower bound of the virtual seconds of a job. */
static double least_seconds(const weft_sched *sched, const weft_job *job,
                            const weft_cached *parent)
{
    if (!sched->task->seconds) return fmax(job->resource, 0);
    return fmax(sched->task->seconds(sched->task_self, job, weft_cache_resource(parent)),
                0);
}

/* Uses the known result of a job that was done already, if there is one. */
static weft_status find(weft_sched *sched, weft_flight *flight)
{
    if (sched->rundir)
        TRY(weft_rundir_find(sched->rundir, &flight->record, &flight->replayed,
                             sched->mem));
    const void *record = weft_queue_take(sched, flight->record.job.id);
    if (!flight->replayed && !record) return WEFT_OK;
    weft_check(flight->replayed ||
                   weft_job_record_unpack(&flight->record, record, sched->mem),
               "the teams' tuners ask for different jobs (%lld)",
               (long long)flight->record.job.id);
    weft_teams_enter(sched, flight);
    return WEFT_OK;
}

/* Queues a job to be done. If the number of workers or a target bounds the jobs in flight,
 * jobs are done about in the order in which they were asked for, which is that in which
 * they are told; else the expensive ones first. */
static void queue_job(weft_sched *sched, weft_flight *flight)
{
    weft_cost cost = {.flops = 1};
    if (sched->target <= 0 && sched->workers == 0)
        sched->task->cost(sched->task_self, &flight->record.job, &cost);
    flight->flops = cost.flops;
    const weft_claimed *turn = weft_trust_turn(sched, flight->record.job.id);
    if (turn->taken || turn->hops > 0) return;
    flight->near = weft_lend_near(sched, flight->parent);
    if (sched->task->affinity)
        flight->affinity = sched->task->affinity(sched->task_self, &flight->record.job);
    weft_flights_queue(&sched->queue.flights, flight);
}

/* A free worker starts a job, whose result may be known already. */
static weft_status start(weft_sched *sched, const weft_job *job)
{
    weft_cached *parent = weft_cache_pin(sched, job);
    weft_flight *flight = weft_queue_start(sched, job, least_seconds(sched, job, parent));
    flight->parent = parent;
    flight->before = weft_cache_resource(parent);
    flight->record.parent = weft_cache_job(parent);
    TRY(find(sched, flight));
    if (!flight->known) queue_job(sched, flight);
    return WEFT_OK;
}

/* Free workers ask for jobs until the tuner has to be told a result first. */
static weft_status ask(weft_sched *sched, weft_asked *answer)
{
    while (*answer != WEFT_DONE && weft_flights_idle(&sched->queue.flights)) {
        weft_job job = weft_job_new(0, 0, NULL);
        *answer = weft_search_ask(sched->search, &job);
        if (*answer != WEFT_JOB) break;
        job.id = sched->queue.asked;
        TRY(start(sched, &job));
    }
    weft_check(*answer != WEFT_WAIT || sched->queue.flights.ends.n > 0,
               "tuner %s waits for no job", sched->search->tuner->kind.name);
    return WEFT_OK;
}

/* ---- telling ---- */

/* Stores the record of a job and tells the tuner its result. */
static void tell(weft_sched *sched, weft_flight *flight)
{
    const weft_job_record *record = &flight->record;
    weft_cache_told(sched, flight, weft_queue_told(sched, record));
    weft_search_tell(sched->search, &record->res);
    weft_cache_ended(sched);
    weft_queue_leave(&sched->queue, flight);
}

static weft_status search(weft_sched *sched)
{
    weft_asked answer = WEFT_JOB;
    for (int reached = 0; !reached;) {
        TRY(ask(sched, &answer));
        weft_cache_bound(sched);
        if (sched->queue.flights.ends.n == 0) break;
        weft_flight *next = NULL;
        TRY(weft_teams_work(sched, &next));
        reached = is_target(sched, &next->record);
        tell(sched, next);
        if (reached) weft_log(WEFT_INFO, "the target %g is reached", sched->target);
    }
    return weft_trade_over(sched);
}

weft_status weft_sched_run(weft_sched *sched)
{
    weft_check(sched->rundir || sched->teams == 1, "teams without a run directory");
    sched->begun = weft_now();
    sched->before = sched->rundir ? weft_rundir_ended(sched->rundir) : 0;
    weft_queue_setup(sched);
    weft_cache_setup(sched);
    TRY(weft_teams_begin(sched));
    weft_status st = weft_teams_end(sched, search(sched));
    weft_progress("%s", "");
    sched->seconds = sched->before + weft_now() - sched->begun;
    weft_queue_end(&sched->queue);
    return st;
}
