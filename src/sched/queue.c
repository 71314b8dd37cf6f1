/* The jobs of a search: which of them is better, those in flight, and those that were told.
 *
 * Jobs in flight are on simulated workers, in virtual time, or with clock = wall in the
 * order in which they were done, which is that of the tickets drawn by results. In virtual
 * time a job starts when a free worker asks for it and ends at
 *
 *     start + max(cost, seconds) + overhead,
 *
 * where cost is from the result, and seconds is the task's lower bound, known before the
 * job is run. Results are told in the order of (end, job). Jobs in flight are ordered by
 * their end, or by their earliest possible end while the result is not known; the first of
 * them can be told if its result is known. The order is therefore a function of the results
 * only, whichever team runs which job, in whatever order. */
#include "inner.h"
#include "rundir/rundir.h"
#include "weft/base/base.h"
#include "weft/space/job.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* A result of another team for a job that this team's tuner has not asked for yet. */
struct weft_early {
    int64_t job;
    char *record; /* packed */
    weft_early *next;
};

/* ---- which job wins, and which configuration ---- */

static int compare_numbers(double a, double b)
{
    return (a > b) - (a < b);
}

int weft_merit_compare(const weft_merit *a, const weft_merit *b)
{
    int may_a = a->wins > 0, may_b = b->wins > 0;
    if (may_a != may_b) return may_a - may_b;
    if (!may_a) return compare_numbers((double)a->rank.id, (double)b->rank.id);
    int fine_a = isfinite(a->rank.loss), fine_b = isfinite(b->rank.loss);
    if (fine_a != fine_b) return fine_a - fine_b;
    int c = compare_numbers(b->rank.excess, a->rank.excess);
    if (c == 0 && a->wins == 1 && b->wins == 1) {
        c = compare_numbers(a->resource, b->resource);
    }
    return c != 0 ? c : -weft_rank_compare(&a->rank, &b->rank);
}

static weft_merit merit_of(const weft_job_record *record)
{
    weft_rank rank = weft_result_rank(&record->res);
    rank.id = record->job.id;
    return (weft_merit){record->job.eligibility, record->res.resource, rank};
}

int weft_job_record_beats(const weft_job_record *a, const weft_job_record *b)
{
    weft_merit x = merit_of(a), y = merit_of(b);
    return weft_merit_compare(&x, &y) > 0;
}

int weft_job_record_compare(const void *a, const void *b)
{
    const weft_job_record *x = a, *y = b;
    return (x->job.id > y->job.id) - (x->job.id < y->job.id);
}

static weft_mix mix_after(const weft_job_record *record)
{
    weft_mix mix = record->job.mix;
    mix.logp = record->res.logp;
    return mix;
}

/* The winning entry of each block, into pick[]. */
static void pick_winners(const weft_mix *mix, const weft_result *res, int *pick)
{
    weft_mix_best(mix, pick);
    for (int b = 0; b < mix->nblock; b++)
        for (int i = weft_mix_off(mix, b); i < weft_mix_off(mix, b + 1); i++)
            if (!(mix->logp[i] < mix->logp[pick[b]]) &&
                weft_rank_before(weft_result_rank_of(res, i),
                                 weft_result_rank_of(res, pick[b])))
                pick[b] = i;
}

int weft_winner_arm(const weft_job_record *record)
{
    weft_mix mix = mix_after(record);
    int pick[WEFT_MAX_BLOCKS];
    pick_winners(&mix, &record->res, pick);
    return pick[0];
}

void weft_winner_conf(const weft_job_record *record, double *conf)
{
    weft_mix mix = mix_after(record);
    int pick[WEFT_MAX_BLOCKS];
    pick_winners(&mix, &record->res, pick);
    weft_mix_compose(&mix, pick, conf);
}

/* ---- heaps ---- */

enum { BY_END, BY_DEAL }; /* indices of weft_flight.place */

static int ends_before(const void *left, const void *right, const void *of)
{
    const weft_flight *a = *(weft_flight *const *)left, *b = *(weft_flight *const *)right;
    (void)of;
    if (a->record.end < b->record.end || a->record.end > b->record.end)
        return a->record.end < b->record.end;
    return a->record.job.id < b->record.job.id;
}

/* Jobs of equal affinity are done one after the other, the expensive ones first, then by
 * id. Affinities are taken in increasing order, again and again, so that each gets its
 * turn. */
static int is_dealt_before(const void *left, const void *right, const void *of)
{
    const weft_flight *a = *(weft_flight *const *)left, *b = *(weft_flight *const *)right;
    (void)of;
    if (a->near != b->near) return a->near < b->near;
    if (a->sweep != b->sweep) return a->sweep < b->sweep;
    if (a->affinity != b->affinity) return a->affinity < b->affinity;
    if (a->flops < b->flops || a->flops > b->flops) return a->flops > b->flops;
    return a->record.job.id < b->record.job.id;
}

/* Order with clock = wall: jobs with known results by their tickets, then the others by
 * id. */
static int is_told_before(const void *left, const void *right, const void *of)
{
    const weft_flight *a = *(weft_flight *const *)left, *b = *(weft_flight *const *)right;
    (void)of;
    if (a->known != b->known) return a->known;
    if (a->known && a->record.ticket != b->record.ticket)
        return a->record.ticket < b->record.ticket;
    return a->record.job.id < b->record.job.id;
}

static void end_moved(void *item, int64_t at)
{
    (*(weft_flight **)item)->place[BY_END] = at;
}

static void deal_moved(void *item, int64_t at)
{
    (*(weft_flight **)item)->place[BY_DEAL] = at;
}

static weft_flight *first_flight(const weft_heap *heap)
{
    return *(weft_flight **)heap->at;
}

static weft_flight *take_out(weft_heap *heap, int64_t at)
{
    weft_flight *flight;
    weft_heap_take(heap, at, &flight);
    return flight;
}

/* ---- workers ---- */

void weft_flights_setup(weft_flights *flights, int64_t workers, double overhead,
                        weft_arena *mem)
{
    *flights = (weft_flights){
        .mem = mem,
        .most = workers > 0 ? workers : INT64_MAX,
        .overhead = overhead,
        .ends = {.size = sizeof(weft_flight *), .before = ends_before, .moved = end_moved},
        .deals = {
            .size = sizeof(weft_flight *), .before = is_dealt_before, .moved = deal_moved}};
}

weft_flight *weft_flights_at(const weft_flights *flights, int64_t i)
{
    return ((weft_flight *const *)flights->ends.at)[i];
}

int weft_flights_idle(const weft_flights *flights)
{
    return flights->nidle > 0 || flights->workers < flights->most;
}

weft_flight *weft_flights_start(weft_flights *flights, const weft_job *job, double seconds)
{
    weft_flight *flight = flights->unused;
    if (flight)
        flights->unused = flight->next;
    else
        flight = WEFT_NEW(flights->mem, weft_flight, 1);
    *flight = (weft_flight){.record = weft_job_record_new(job, flights->mem),
                            .seconds = seconds,
                            .place = {-1, -1}};
    flight->record.worker =
        flights->nidle > 0 ? flights->idle[--flights->nidle] : flights->workers++;
    flight->record.start = flights->now;
    flight->record.end = flights->now + seconds + flights->overhead;
    weft_heap_push(&flights->ends, &flight, flights->mem);
    return flight;
}

void weft_flights_known(weft_flights *flights, weft_flight *flight)
{
    double cost = flight->record.res.cost;
    double seconds = isfinite(cost) ? fmax(cost, flight->seconds) : flight->seconds;
    flight->known = 1;
    flight->record.end = flight->record.start + seconds + flights->overhead;
    if (flights->wall)
        flight->record.end =
            fmax(flight->record.start, flight->record.began + flight->record.seconds);
    weft_heap_settle(&flights->ends, flight->place[BY_END]);
    weft_flights_leave(flights, flight);
}

void weft_flights_queue(weft_flights *flights, weft_flight *flight)
{
    flight->sweep = flights->sweep + (flight->affinity < flights->affinity);
    weft_heap_push(&flights->deals, &flight, flights->mem);
}

weft_flight *weft_flights_first(const weft_flights *flights)
{
    return flights->deals.n > 0 ? first_flight(&flights->deals) : NULL;
}

weft_flight *weft_flights_take(weft_flights *flights, int64_t skip)
{
    weft_flight *skipped = NULL;
    if (flights->deals.n == 0) return NULL;
    for (skip %= flights->deals.n; skip > 0; skip--) {
        weft_flight *flight = take_out(&flights->deals, 0);
        flight->next = skipped;
        skipped = flight;
    }
    weft_flight *taken = first_flight(&flights->deals);
    weft_flights_took(flights, taken);
    for (; skipped; skipped = skipped->next)
        weft_heap_push(&flights->deals, &skipped, flights->mem);
    return taken;
}

void weft_flights_leave(weft_flights *flights, weft_flight *flight)
{
    if (flight->place[BY_DEAL] < 0) return;
    take_out(&flights->deals, flight->place[BY_DEAL]);
    flight->place[BY_DEAL] = -1;
}

void weft_flights_took(weft_flights *flights, weft_flight *flight)
{
    weft_flights_leave(flights, flight);
    flights->sweep = flight->sweep;
    flights->affinity = flight->affinity;
}

void weft_flights_due(weft_flights *flights)
{
    if (flights->wall) flights->ends.before = is_told_before;
    while (flights->spent < flights->npast &&
           flights->past[flights->spent] < flights->ticket)
        flights->spent++;
    if (flights->spent < flights->npast) flights->ticket = flights->past[flights->spent];
}

weft_flight *weft_flights_next(weft_flights *flights)
{
    if (flights->ends.n == 0 || !first_flight(&flights->ends)->known) return NULL;
    weft_flight *flight = first_flight(&flights->ends);
    /* A result of an earlier session is known as soon as its job is asked for. Where failed
     * jobs were repeated, one that is due may be asked for later, or not at all. */
    while (flights->wall && flights->spent < flights->npast &&
           flights->ticket < flight->record.ticket) {
        flights->ticket++;
        weft_flights_due(flights);
    }
    return !flights->wall || flight->record.ticket <= flights->ticket ? flight : NULL;
}

void weft_flights_end(weft_flights *flights, weft_flight *flight)
{
    weft_check(take_out(&flights->ends, 0) == flight, "job %lld is told out of turn",
               (long long)flight->record.job.id);
    flights->now = fmax(flights->now, flight->record.end);
    flights->ticket += flight->record.ticket == flights->ticket;
    weft_flights_due(flights);
    WEFT_REGROW(flights->mem, flights->idle, flights->nidle, &flights->roomidle);
    flights->idle[flights->nidle++] = flight->record.worker;
    flight->next = flights->unused;
    flights->unused = flight;
}

/* ---- all jobs ---- */

weft_flight *weft_queue_flight(const weft_queue *queue, int64_t job)
{
    return job >= 0 && job < queue->asked ? queue->job[job] : NULL;
}

weft_flight *weft_queue_start(weft_sched *sched, const weft_job *job, double seconds)
{
    weft_queue *queue = &sched->queue;
    weft_flight *flight = weft_flights_start(&queue->flights, job, seconds);
    WEFT_REGROW(sched->mem, queue->job, queue->asked, &queue->roomjob);
    WEFT_REGROW(sched->mem, queue->row, queue->asked, &queue->roomrow);
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

/* ---- what other teams tell ---- */

void weft_notice_send(const weft_sched *sched, weft_notice notice)
{
    if (sched->crew.peers) weft_peers_send(sched->crew.peers, &notice, sizeof notice);
}

void weft_queue_keep(weft_sched *sched, int64_t job, const void *record, size_t bytes)
{
    weft_early *early = WEFT_NEW(sched->mem, weft_early, 1);
    *early = (weft_early){job, WEFT_NEW(sched->mem, char, bytes), sched->queue.early};
    memcpy(early->record, record, bytes);
    sched->queue.early = early;
}

const void *weft_queue_take(weft_sched *sched, int64_t job)
{
    for (weft_early **at = &sched->queue.early; *at; at = &(*at)->next) {
        const weft_early *early = *at;
        if (early->job != job) continue;
        *at = early->next;
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
    if (sched->limits.target > 0)
        return sched->queue.n == 0 || !rules_out(&sched->queue.winner, record);
    return sched->queue.known == 0 || !rules_out(&sched->queue.best, record);
}

static double share_done(const weft_sched *sched, const weft_job_record *record)
{
    double here = record->began + record->seconds - sched->session.before;
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
    WEFT_REGROW(sched->mem, queue->record, queue->n, &queue->room);
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
