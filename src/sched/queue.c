/* The jobs of a search: those in flight, by id and in virtual time (flight.c), the results
 * that came too early, and the records of those that were told. */
#include "queue.h"
#include "choice.h"
#include "rundir/rundir.h"
#include "sched.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* A result of another team for a job that this team's tuner has not asked for yet. */
struct weft_early {
    int64_t job;
    char *record; /* [room] packed */
    size_t room;
    weft_early *next;
};

weft_flight *weft_queue_flight(const weft_queue *queue, int64_t job)
{
    return job >= 0 && job < queue->asked ? queue->job[job] : NULL;
}

weft_flight *weft_queue_start(weft_sched *sched, const weft_job *job, double seconds)
{
    weft_queue *queue = &sched->queue;
    weft_flight *flight = weft_flights_start(&queue->flights, job, seconds);
    queue->job = weft_regrow(sched->mem, queue->job, sizeof(weft_flight *), queue->asked,
                             &queue->roomjob);
    queue->row = weft_regrow(sched->mem, queue->row, sizeof *queue->row, queue->asked,
                             &queue->roomrow);
    queue->job[queue->asked++] = flight;
    return flight;
}

void weft_queue_setup(weft_sched *sched)
{
    weft_flights *flights = &sched->queue.flights;
    weft_flights_setup(flights, sched->workers, sched->overhead, sched->mem);
    flights->wall = sched->wall;
    if (sched->wall && sched->rundir)
        flights->npast = weft_rundir_tickets(sched->rundir, &flights->past, sched->mem);
    weft_flights_due(flights);
}

/* ---- results of other teams ---- */

/* In the memory of one that was taken. */
void weft_queue_keep(weft_sched *sched, int64_t job, const void *record, size_t bytes)
{
    weft_queue *queue = &sched->queue;
    weft_early *early = queue->spare;
    if (early)
        queue->spare = early->next;
    else
        early = WEFT_NEW(sched->mem, weft_early, 1);
    if (early->room < bytes) {
        early->record = WEFT_NEW(sched->mem, char, bytes);
        early->room = bytes;
    }
    memcpy(early->record, record, bytes);
    early->job = job;
    early->next = queue->early;
    queue->early = early;
}

const void *weft_queue_take(weft_sched *sched, int64_t job)
{
    for (weft_early **at = &sched->queue.early; *at; at = &(*at)->next) {
        weft_early *early = *at;
        if (early->job != job) continue;
        *at = early->next;
        early->next = sched->queue.spare;
        sched->queue.spare = early;
        return early->record;
    }
    return NULL;
}

/* ---- known and told ---- */

/* 1 if b cannot win the run any more, whatever other results are, once a is told. */
static int rules_out(const weft_job_record *a, const weft_job_record *b)
{
    int alike = a->job.eligibility == b->job.eligibility;
    return (alike || b->job.eligibility == WEFT_WINS_LAST) && weft_job_record_beats(a, b);
}

/* With a target a job whose result is known may never be told, and then cannot rule out
 * others. */
int weft_queue_needs(const weft_sched *sched, const weft_job_record *record)
{
    if (!record->job.last) return 1;
    if (sched->target > 0)
        return sched->queue.n == 0 || !rules_out(&sched->queue.winner, record);
    return sched->queue.known == 0 || !rules_out(&sched->queue.best, record);
}

/* The share of a job that was done in this session. */
static double share_done(const weft_sched *sched, const weft_job_record *record)
{
    double here = record->began + record->seconds - sched->before;
    return record->seconds > here ? fmax(here, 0) / record->seconds : 1;
}

void weft_queue_known(weft_sched *sched, weft_flight *flight)
{
    weft_queue *queue = &sched->queue;
    weft_flights_known(&queue->flights, flight);
    if (queue->known == 0 || rules_out(&flight->record, &queue->best))
        queue->best = flight->record;
    queue->known++;
    queue->replayed += flight->replayed;
    if (!flight->replayed) queue->ran += share_done(sched, &flight->record);
}

int weft_queue_told(weft_sched *sched, const weft_job_record *record)
{
    weft_queue *queue = &sched->queue;
    int leads = queue->n == 0 || weft_job_record_beats(record, &queue->winner);
    if (leads) queue->winner = *record;
    queue->record = weft_regrow(sched->mem, queue->record, sizeof *queue->record, queue->n,
                                &queue->room);
    queue->row[record->job.id] = queue->n;
    queue->record[queue->n++] = *record;
    return leads;
}

void weft_queue_leave(weft_queue *queue, weft_flight *flight)
{
    queue->job[flight->record.job.id] = NULL;
    weft_flights_end(&queue->flights, flight);
}

void weft_queue_end(weft_queue *queue)
{
    if (queue->n > 0)
        qsort(queue->record, (size_t)queue->n, sizeof *queue->record,
              weft_job_record_compare);
    for (int64_t i = 0; i < queue->n; i++) queue->row[queue->record[i].job.id] = i;
}
