/* The jobs of a search: those in flight, by id and in virtual time (flight.c), the results
 * that came too early, and the records of those that were told. */
#include "queue.h"
#include "choice.h"
#include "rundir/journals.h"
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

weft_flight *weft_queue_flight(const weft_queue *q, int64_t job)
{
    return job >= 0 && job < q->asked ? q->job[job] : NULL;
}

weft_flight *weft_queue_start(weft_sched *s, const weft_job *job, double seconds)
{
    weft_queue *q = &s->queue;
    weft_flight *f = weft_flights_start(&q->flights, job, seconds);
    q->job = weft_regrow(s->mem, q->job, sizeof(weft_flight *), q->asked, &q->roomjob);
    q->row = weft_regrow(s->mem, q->row, sizeof *q->row, q->asked, &q->roomrow);
    q->job[q->asked++] = f;
    return f;
}

void weft_queue_setup(weft_sched *s)
{
    weft_flights *flights = &s->queue.flights;
    weft_flights_setup(flights, s->workers, s->overhead, s->mem);
    flights->wall = s->wall;
    if (s->wall && s->rundir)
        flights->npast = weft_rundir_tickets(s->rundir, &flights->past, s->mem);
    weft_flights_due(flights);
}

/* ---- results of other teams ---- */

/* In the memory of one that was taken. */
void weft_queue_keep(weft_sched *s, int64_t job, const void *record, size_t bytes)
{
    weft_queue *q = &s->queue;
    weft_early *e = q->spare;
    if (e)
        q->spare = e->next;
    else
        e = WEFT_NEW(s->mem, weft_early, 1);
    if (e->room < bytes) {
        e->record = WEFT_NEW(s->mem, char, bytes);
        e->room = bytes;
    }
    memcpy(e->record, record, bytes);
    e->job = job;
    e->next = q->early;
    q->early = e;
}

const void *weft_queue_take(weft_sched *s, int64_t job)
{
    for (weft_early **at = &s->queue.early; *at; at = &(*at)->next) {
        weft_early *e = *at;
        if (e->job != job) continue;
        *at = e->next;
        e->next = s->queue.spare;
        s->queue.spare = e;
        return e->record;
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
int weft_queue_needs(const weft_sched *s, const weft_job_record *e)
{
    if (!e->job.last) return 1;
    if (s->target > 0) return s->queue.n == 0 || !rules_out(&s->queue.winner, e);
    return s->queue.known == 0 || !rules_out(&s->queue.best, e);
}

/* The share of a job that was done in this session. */
static double share_done(const weft_sched *s, const weft_job_record *e)
{
    double here = e->began + e->seconds - s->before;
    return e->seconds > here ? fmax(here, 0) / e->seconds : 1;
}

void weft_queue_known(weft_sched *s, weft_flight *f)
{
    weft_queue *q = &s->queue;
    weft_flights_known(&q->flights, f);
    if (q->known == 0 || rules_out(&f->record, &q->best)) q->best = f->record;
    q->known++;
    q->replayed += f->replayed;
    if (!f->replayed) q->ran += share_done(s, &f->record);
}

int weft_queue_told(weft_sched *s, const weft_job_record *e)
{
    weft_queue *q = &s->queue;
    int leads = q->n == 0 || weft_job_record_beats(e, &q->winner);
    if (leads) q->winner = *e;
    q->record = weft_regrow(s->mem, q->record, sizeof *q->record, q->n, &q->room);
    q->row[e->job.id] = q->n;
    q->record[q->n++] = *e;
    return leads;
}

void weft_queue_leave(weft_queue *q, weft_flight *f)
{
    q->job[f->record.job.id] = NULL;
    weft_flights_end(&q->flights, f);
}

void weft_queue_end(weft_queue *q)
{
    if (q->n > 0)
        qsort(q->record, (size_t)q->n, sizeof *q->record, weft_job_record_compare);
}
