/* The turns that a rank does in a round or a portion of an evaluation: small models in
 * vector lanes if there are enough of them, those with about equally many steps together,
 * the others one after the other; and the sum of the clients' changes. Sums are of
 * integers, so that the order does not matter. */
#include "turns.h"
#include "lanes.h"
#include "local.h"
#include "own.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* Samples of the turns that this rank has done, and of all that it does. */
typedef struct progress {
    double done, all;
} progress;

static double samples_of(const fed_turns *q, int64_t j)
{
    if (!q->stops) return 0; /* nobody is told */
    const fed_participant *p = &q->place[j];
    double trained = q->turn->train ? (double)p->samples * p->options.epochs : 0;
    return trained + (double)p->valid + 1;
}

/* Between two turns. */
static weft_status look(fed *t, const fed_turns *q, const progress *at)
{
    if (!q->stops) return fed_look(t);
    if (t->env.scored) t->env.scored(q->first + q->share * at->done / at->all);
    if (t->env.stopped && t->env.stopped())
        return weft_fail(WEFT_STOP, "the run was stopped");
    return WEFT_OK;
}

/* The turn of a single client. */
static weft_status take_one(fed *t, const fed_turns *q, int64_t j)
{
    const fed_participant *p = &q->place[j];
    fed_workspace *d = &t->work;
    TRY(fed_local_update(t, q->from, p, q->turn, &q->told[j]));
    if (!q->sum || q->told[j].diverged > 0 || !(p->weight > 0)) return WEFT_OK;
    real weight = (real)p->weight;
    for (int64_t i = 0; i < d->own.n; i++) d->g[i] *= weight;
    fed_own_add(&d->own, d->g, q->scale, q->sum);
    return WEFT_OK;
}

typedef struct item {
    int64_t steps, rows, j;
} item;

static int longer_first(const void *left, const void *right)
{
    const item *a = left, *b = right;
    if (a->steps != b->steps) return a->steps > b->steps ? -1 : 1;
    if (a->rows != b->rows) return a->rows > b->rows ? -1 : 1;
    return a->j < b->j ? -1 : 1;
}

static item item_of(const fed_turns *q, int64_t j)
{
    const fed_participant *p = &q->place[j];
    int64_t batches = (p->samples + p->options.batch - 1) / p->options.batch;
    return (item){.steps = q->turn->train ? batches * p->options.epochs : 0,
                  .rows = q->turn->train ? p->samples : p->valid,
                  .j = j};
}

/* Groups of at most as many clients as there are lanes. */
static int64_t groups_of(int64_t n)
{
    return (n + weft_lanes() - 1) / weft_lanes();
}

/* Writes to which[] the participants to train in lanes, the longest first; returns their
 * number, 0 where groups would be too small. at->all: of all of this rank. */
static int64_t beside(const fed *t, const fed_turns *q, int64_t *which, progress *at)
{
    item *todo = WEFT_NEW(t->work.tmp, item, q->n);
    int64_t n = 0;
    int sorted = 1;
    for (int64_t j = 0; j < q->n; j++) {
        const fed_participant *p = &q->place[j];
        if (p->lost || p->rank != t->env.team->rank) continue;
        at->all += samples_of(q, j);
        if (!fed_lanes_take(t, p)) continue;
        todo[n] = item_of(q, j);
        if (n > 0) sorted &= longer_first(&todo[n - 1], &todo[n]) < 0;
        n++;
    }
    if (!sorted) qsort(todo, (size_t)n, sizeof *todo, longer_first);
    for (int64_t i = 0; i < n; i++) which[i] = todo[i].j;
    return n > 0 && fed_lanes_pay(t, n / groups_of(n)) ? n : 0;
}

/* Does the turns of n clients in groups of equal size, up to the number of lanes; the
 * samples of the next group are prefetched while a group is trained. */
static weft_status take_groups(fed *t, const fed_turns *q, int64_t n, const int64_t *which,
                               progress *at)
{
    int64_t groups = groups_of(n);
    if (n > 0) fed_lanes_begin(t, q->from);
    for (int64_t i = 0, left = groups, some; i < n; i += some, left--) {
        TRY(look(t, q, at));
        some = (n - i + left - 1) / left;
        int64_t next = i + some, end = n - next < some ? n : next + some;
        for (int64_t j = next; j < end; j++)
            weft_client_fetch_rows(t->clients, &q->place[which[j]].at);
        TRY(fed_lanes_visit(t, q, (int)some, which + i));
        for (int64_t j = i; j < next; j++) at->done += samples_of(q, which[j]);
    }
    return WEFT_OK;
}

weft_status fed_take_turns(fed *t, const fed_turns *q)
{
    size_t mark = weft_arena_mark(t->work.tmp);
    int64_t *which = WEFT_NEW(t->work.tmp, int64_t, q->n);
    progress at = {0};
    int64_t n = beside(t, q, which, &at);
    weft_status st = take_groups(t, q, n, which, &at);
    for (int64_t j = 0; j < q->n && st == WEFT_OK; j++) {
        const fed_participant *p = &q->place[j];
        if (p->lost || p->rank != t->env.team->rank) continue;
        if (n > 0 && fed_lanes_take(t, p)) continue; /* done */
        st = look(t, q, &at);
        if (st == WEFT_OK) st = take_one(t, q, j);
        at.done += samples_of(q, j);
    }
    weft_arena_reset(t->work.tmp, mark);
    if (st == WEFT_OK) st = weft_client_sound(t->clients);
    return st;
}

/* ---- results ---- */

int64_t fed_room(int64_t n)
{
    return n * FED_CLIENT_NUMBERS + 1;
}

/* One rank contributes the bits of a double as an integer, the others 0: the sum is these
 * bits. */
weft_status fed_exchange(fed *t, weft_status st, int64_t *wire, int64_t head, int64_t n,
                         const fed_participant *place, fed_client_result *told)
{
    int64_t *bits = wire + head, *failed = bits + n * FED_CLIENT_NUMBERS;
    memset(bits, 0, (size_t)fed_room(n) * sizeof *bits);
    for (int64_t j = 0; j < n; j++)
        if (place[j].rank == t->env.team->rank)
            memcpy(bits + j * FED_CLIENT_NUMBERS, &told[j], sizeof *told);
    *failed = st != WEFT_OK;
    weft_sum_i64(t->env.team, wire, (size_t)(head + fed_room(n)));
    if (*failed > 0) return weft_agree(st, t->env.team);
    memcpy(told, bits, (size_t)n * sizeof *told);
    return WEFT_OK;
}
