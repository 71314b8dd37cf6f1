/* Jobs in flight on simulated workers, in virtual time, or with clock = wall in the order
 * in which they were done, which is that of the tickets drawn by results. In virtual time a
 * job starts when a free worker asks for it and ends at
 *
 *     start + max(cost, seconds) + overhead,
 *
 * where cost is from the result, and seconds is the task's lower bound, known before the
 * job is run. Results are told in the order of (end, job). Jobs in flight are ordered by
 * their end, or by their earliest possible end while the result is not known; the first of
 * them can be told if its result is known. The order is therefore a function of the results
 * only, whichever team runs which job, in whatever order. */
#include "flight.h"

#include <math.h>
#include <string.h>

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

static weft_flight *first(const weft_heap *heap)
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
    return flights->deals.n > 0 ? first(&flights->deals) : NULL;
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
    weft_flight *taken = first(&flights->deals);
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
    if (flights->ends.n == 0 || !first(&flights->ends)->known) return NULL;
    weft_flight *flight = first(&flights->ends);
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
    flights->idle = weft_regrow(flights->mem, flights->idle, sizeof *flights->idle,
                                flights->nidle, &flights->roomidle);
    flights->idle[flights->nidle++] = flight->record.worker;
    flight->next = flights->unused;
    flights->unused = flight;
}
