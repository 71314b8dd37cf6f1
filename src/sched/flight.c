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

enum { BY_END, BY_DEAL }; /* orders of a heap */

/* ---- heaps ---- */

static int ends_before(const weft_flight *a, const weft_flight *b)
{
    if (a->record.end < b->record.end || a->record.end > b->record.end)
        return a->record.end < b->record.end;
    return a->record.job.id < b->record.job.id;
}

/* Jobs of equal affinity are done one after the other, the expensive ones first, then by
 * id. Affinities are taken in increasing order, again and again, so that each gets its
 * turn. */
static int is_dealt_before(const weft_flight *a, const weft_flight *b)
{
    if (a->sweep != b->sweep) return a->sweep < b->sweep;
    if (a->affinity != b->affinity) return a->affinity < b->affinity;
    if (a->flops < b->flops || a->flops > b->flops) return a->flops > b->flops;
    return a->record.job.id < b->record.job.id;
}

/* Order with clock = wall: jobs with known results by their tickets, then the others by
 * id. */
static int is_told_before(const weft_flight *a, const weft_flight *b)
{
    if (a->known != b->known) return a->known;
    if (a->known && a->record.ticket != b->record.ticket)
        return a->record.ticket < b->record.ticket;
    return a->record.job.id < b->record.job.id;
}

static int is_before(const weft_flight_heap *heap, const weft_flight *a,
                     const weft_flight *b)
{
    if (heap->order == BY_DEAL) return is_dealt_before(a, b);
    return heap->wall ? is_told_before(a, b) : ends_before(a, b);
}

static void put_at(weft_flight_heap *heap, int64_t at, weft_flight *flight)
{
    heap->item[at] = flight;
    flight->place[heap->order] = at;
}

/* Moves an item up while it belongs before its parent. */
static void rise(weft_flight_heap *heap, int64_t at)
{
    weft_flight *flight = heap->item[at];
    while (at > 0 && is_before(heap, flight, heap->item[(at - 1) / 2])) {
        put_at(heap, at, heap->item[(at - 1) / 2]);
        at = (at - 1) / 2;
    }
    put_at(heap, at, flight);
}

/* Moves an item down while a child belongs before it. */
static void sink(weft_flight_heap *heap, int64_t at)
{
    weft_flight *flight = heap->item[at];
    for (;;) {
        int64_t child = 2 * at + 1;
        if (child >= heap->n) break;
        if (child + 1 < heap->n &&
            is_before(heap, heap->item[child + 1], heap->item[child]))
            child++;
        if (!is_before(heap, heap->item[child], flight)) break;
        put_at(heap, at, heap->item[child]);
        at = child;
    }
    put_at(heap, at, flight);
}

static void push(weft_flight_heap *heap, weft_flight *flight, weft_arena *mem)
{
    heap->item = weft_regrow(mem, heap->item, sizeof *heap->item, heap->n, &heap->room);
    put_at(heap, heap->n, flight);
    rise(heap, heap->n++);
}

static weft_flight *take_out(weft_flight_heap *heap, int64_t at)
{
    weft_flight *flight = heap->item[at];
    if (--heap->n > at) {
        weft_flight *moved = heap->item[heap->n];
        put_at(heap, at, moved);
        sink(heap, at);
        rise(heap, moved->place[heap->order]);
    }
    flight->place[heap->order] = -1;
    return flight;
}

/* ---- workers ---- */

void weft_flights_setup(weft_flights *flights, int64_t workers, double overhead,
                        weft_arena *mem)
{
    *flights = (weft_flights){.mem = mem,
                              .most = workers > 0 ? workers : INT64_MAX,
                              .overhead = overhead,
                              .ends = {.order = BY_END},
                              .deals = {.order = BY_DEAL}};
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
    push(&flights->ends, flight, flights->mem);
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
    sink(&flights->ends, flight->place[BY_END]);
    rise(&flights->ends, flight->place[BY_END]);
    weft_flights_leave(flights, flight);
}

void weft_flights_queue(weft_flights *flights, weft_flight *flight)
{
    flight->sweep = flights->sweep + (flight->affinity < flights->affinity);
    push(&flights->deals, flight, flights->mem);
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
    weft_flight *taken = flights->deals.item[0];
    weft_flights_took(flights, taken);
    for (; skipped; skipped = skipped->next) push(&flights->deals, skipped, flights->mem);
    return taken;
}

void weft_flights_leave(weft_flights *flights, weft_flight *flight)
{
    if (flight->place[BY_DEAL] >= 0) take_out(&flights->deals, flight->place[BY_DEAL]);
}

void weft_flights_took(weft_flights *flights, weft_flight *flight)
{
    weft_flights_leave(flights, flight);
    flights->sweep = flight->sweep;
    flights->affinity = flight->affinity;
}

void weft_flights_due(weft_flights *flights)
{
    flights->ends.wall = flights->wall;
    while (flights->spent < flights->npast &&
           flights->past[flights->spent] < flights->ticket)
        flights->spent++;
    if (flights->spent < flights->npast) flights->ticket = flights->past[flights->spent];
}

weft_flight *weft_flights_next(weft_flights *flights)
{
    if (flights->ends.n == 0 || !flights->ends.item[0]->known) return NULL;
    weft_flight *flight = flights->ends.item[0];
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
