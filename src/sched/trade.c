/* Jobs that are done elsewhere: the search hands them over one by one, to as many as ask,
 * and goes on with whichever comes back. All else, the order in which results are told,
 * journal, states and resume, is as with jobs that are done here; a job that was handed
 * over and has not come back is one that was not done. */
#include "trade.h"
#include "cached.h"
#include "rundir/rundir.h"
#include "stop.h"
#include "weft/clock.h"

static weft_offer offer_of(const weft_sched *sched, const weft_flight *next)
{
    weft_offer offer = {.parent = -1,
                        .best = sched->queue.n > 0 ? &sched->queue.winner : NULL};
    if (!next) return offer;
    offer.job = &next->record.job;
    offer.before = next->before;
    if (next->parent) offer.parent = next->parent->id.trial;
    return offer;
}

weft_status weft_trade(weft_sched *sched, weft_flight **flight)
{
    *flight = NULL;
    int why = weft_stop_seen(sched);
    if (why > 0) return weft_stop_now(sched, why, 0, 0);
    weft_flight *next = weft_flights_first(&sched->queue.flights);
    weft_offer offer = offer_of(sched, next);
    int64_t job = -1;
    weft_activity_set("waits for those who do the jobs", -1, -1);
    weft_times_close(sched->team);
    weft_status st = sched->task->trade(sched->task_self, &offer, &job);
    weft_times_wait(sched->team);
    if (st == WEFT_STOP) return weft_stop_now(sched, WEFT_WHY_LEFT, 0, 0);
    TRY(st);
    if (next && job == next->record.job.id) {
        weft_flights_took(&sched->queue.flights, next);
        next->given = weft_now();
    } else {
        *flight = weft_queue_flight(&sched->queue, job);
    }
    return WEFT_OK;
}

weft_status weft_trade_over(weft_sched *sched)
{
    if (!sched->task->trade) return WEFT_OK;
    weft_offer offer = offer_of(sched, NULL);
    int64_t job;
    offer.over = 1;
    return sched->task->trade(sched->task_self, &offer, &job);
}
