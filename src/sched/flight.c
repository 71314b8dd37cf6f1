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

static int is_before(const weft_flight_heap *h, const weft_flight *a, const weft_flight *b)
{
    if (h->order == BY_DEAL) return is_dealt_before(a, b);
    return h->wall ? is_told_before(a, b) : ends_before(a, b);
}

static void put_at(weft_flight_heap *h, int64_t at, weft_flight *f)
{
    h->item[at] = f;
    f->place[h->order] = at;
}

/* Moves an item up while it belongs before its parent. */
static void rise(weft_flight_heap *h, int64_t at)
{
    weft_flight *f = h->item[at];
    while (at > 0 && is_before(h, f, h->item[(at - 1) / 2])) {
        put_at(h, at, h->item[(at - 1) / 2]);
        at = (at - 1) / 2;
    }
    put_at(h, at, f);
}

/* Moves an item down while a child belongs before it. */
static void sink(weft_flight_heap *h, int64_t at)
{
    weft_flight *f = h->item[at];
    for (;;) {
        int64_t child = 2 * at + 1;
        if (child >= h->n) break;
        if (child + 1 < h->n && is_before(h, h->item[child + 1], h->item[child])) child++;
        if (!is_before(h, h->item[child], f)) break;
        put_at(h, at, h->item[child]);
        at = child;
    }
    put_at(h, at, f);
}

static void push(weft_flight_heap *h, weft_flight *f, weft_arena *mem)
{
    h->item = weft_regrow(mem, h->item, sizeof *h->item, h->n, &h->room);
    put_at(h, h->n, f);
    rise(h, h->n++);
}

static weft_flight *take_out(weft_flight_heap *h, int64_t at)
{
    weft_flight *f = h->item[at];
    if (--h->n > at) {
        weft_flight *moved = h->item[h->n];
        put_at(h, at, moved);
        sink(h, at);
        rise(h, moved->place[h->order]);
    }
    f->place[h->order] = -1;
    return f;
}

/* ---- workers ---- */

void weft_flights_setup(weft_flights *q, int64_t workers, double overhead, weft_arena *mem)
{
    *q = (weft_flights){.mem = mem,
                        .most = workers > 0 ? workers : INT64_MAX,
                        .overhead = overhead,
                        .ends = {.order = BY_END},
                        .deals = {.order = BY_DEAL}};
}

int weft_flights_idle(const weft_flights *q)
{
    return q->nidle > 0 || q->workers < q->most;
}

weft_flight *weft_flights_start(weft_flights *q, const weft_job *job, double seconds)
{
    weft_flight *f = q->unused;
    if (f)
        q->unused = f->next;
    else
        f = WEFT_NEW(q->mem, weft_flight, 1);
    *f = (weft_flight){
        .record = weft_job_record_new(job, q->mem), .seconds = seconds, .place = {-1, -1}};
    f->record.worker = q->nidle > 0 ? q->idle[--q->nidle] : q->workers++;
    f->record.start = q->now;
    f->record.end = q->now + seconds + q->overhead;
    push(&q->ends, f, q->mem);
    return f;
}

void weft_flights_known(weft_flights *q, weft_flight *f)
{
    double cost = f->record.res.cost;
    double seconds = isfinite(cost) ? fmax(cost, f->seconds) : f->seconds;
    f->known = 1;
    f->record.end = f->record.start + seconds + q->overhead;
    if (q->wall) f->record.end = fmax(f->record.start, f->record.began + f->record.seconds);
    sink(&q->ends, f->place[BY_END]);
    rise(&q->ends, f->place[BY_END]);
    weft_flights_leave(q, f);
}

void weft_flights_queue(weft_flights *q, weft_flight *f)
{
    f->sweep = q->sweep + (f->affinity < q->affinity);
    push(&q->deals, f, q->mem);
}

weft_flight *weft_flights_take(weft_flights *q, int64_t skip)
{
    weft_flight *skipped = NULL;
    if (q->deals.n == 0) return NULL;
    for (skip %= q->deals.n; skip > 0; skip--) {
        weft_flight *f = take_out(&q->deals, 0);
        f->next = skipped;
        skipped = f;
    }
    weft_flight *taken = q->deals.item[0];
    weft_flights_took(q, taken);
    for (; skipped; skipped = skipped->next) push(&q->deals, skipped, q->mem);
    return taken;
}

void weft_flights_leave(weft_flights *q, weft_flight *f)
{
    if (f->place[BY_DEAL] >= 0) take_out(&q->deals, f->place[BY_DEAL]);
}

void weft_flights_took(weft_flights *q, weft_flight *f)
{
    weft_flights_leave(q, f);
    q->sweep = f->sweep;
    q->affinity = f->affinity;
}

void weft_flights_due(weft_flights *q)
{
    q->ends.wall = q->wall;
    while (q->spent < q->npast && q->past[q->spent] < q->ticket) q->spent++;
    if (q->spent < q->npast) q->ticket = q->past[q->spent];
}

weft_flight *weft_flights_next(weft_flights *q)
{
    if (q->ends.n == 0 || !q->ends.item[0]->known) return NULL;
    weft_flight *f = q->ends.item[0];
    /* A result of an earlier session is known as soon as its job is asked for. Where failed
     * jobs were repeated, one that is due may be asked for later, or not at all. */
    while (q->wall && q->spent < q->npast && q->ticket < f->record.ticket) {
        q->ticket++;
        weft_flights_due(q);
    }
    return !q->wall || f->record.ticket <= q->ticket ? f : NULL;
}

void weft_flights_end(weft_flights *q, weft_flight *f)
{
    weft_check(take_out(&q->ends, 0) == f, "job %lld is told out of turn",
               (long long)f->record.job.id);
    q->now = fmax(q->now, f->record.end);
    q->ticket += f->record.ticket == q->ticket;
    weft_flights_due(q);
    q->idle = weft_regrow(q->mem, q->idle, sizeof *q->idle, q->nidle, &q->roomidle);
    q->idle[q->nidle++] = f->record.worker;
    f->next = q->unused;
    q->unused = f;
}
