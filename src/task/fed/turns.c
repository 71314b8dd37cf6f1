/* The turns that a rank does in a round or a portion of an evaluation: small models in
 * vector lanes if there are enough of them, those with about equally many steps together,
 * the others one after the other. The sums of their changes are of integers, so that the
 * order does not matter. */
#include "round.h"

#include <stdlib.h>

/* Samples of the turns that this rank has done, and of all that it does. */
struct progress {
    double done, all;
};

static double samples_of(const fed_turns *turns, int64_t j)
{
    if (!turns->stops) return 0; /* nobody is told */
    const fed_client *client = &turns->client[j];
    double trained =
        turns->turn->train ? (double)client->samples * client->options.epochs : 0;
    return trained + (double)client->valid + 1;
}

/* Between two turns. */
static weft_status look_between(fed_task *fed, const fed_turns *turns,
                                const struct progress *progress)
{
    if (!turns->stops) return fed_look(fed);
    if (fed->env.scored)
        fed->env.scored(turns->first + turns->share * progress->done / progress->all);
    if (fed->env.stopped && fed->env.stopped())
        return weft_fail(WEFT_STOP, "the run was stopped");
    return WEFT_OK;
}

struct item {
    int64_t steps, rows, j;
};

static int longer_first(const void *left, const void *right)
{
    const struct item *a = left, *b = right;
    if (a->steps != b->steps) return a->steps > b->steps ? -1 : 1;
    if (a->rows != b->rows) return a->rows > b->rows ? -1 : 1;
    return a->j < b->j ? -1 : 1;
}

static struct item item_of(const fed_turns *turns, int64_t j)
{
    const fed_client *client = &turns->client[j];
    return (struct item){.steps = turns->turn->train ? fed_steps(client) : 0,
                         .rows = turns->turn->train ? client->samples : client->valid,
                         .j = j};
}

/* Groups of at most as many clients as there are lanes. */
static int64_t groups_of(int64_t n)
{
    return (n + weft_lanes() - 1) / weft_lanes();
}

/* Writes to which[] the clients to train in lanes, the longest first; returns their
 * number, 0 where groups would be too small. progress->all: of all of this rank. */
static int64_t beside(const fed_task *fed, const fed_turns *turns, int64_t *which,
                      struct progress *progress)
{
    struct item *todo = WEFT_NEW(fed->work.tmp, struct item, turns->n);
    int64_t n = 0;
    int sorted = 1;
    for (int64_t j = 0; j < turns->n; j++) {
        const fed_client *client = &turns->client[j];
        if (client->lost || client->rank != fed->env.team->rank) continue;
        progress->all += samples_of(turns, j);
        if (!fed_lanes_take(fed, turns->turn, client)) continue;
        todo[n] = item_of(turns, j);
        if (n > 0) sorted &= longer_first(&todo[n - 1], &todo[n]) < 0;
        n++;
    }
    if (!sorted) qsort(todo, (size_t)n, sizeof *todo, longer_first);
    for (int64_t i = 0; i < n; i++) which[i] = todo[i].j;
    return n > 0 && fed_lanes_pay(fed, n / groups_of(n)) ? n : 0;
}

/* Does the turns of n clients in groups of equal size, up to the number of lanes; the
 * samples of the next group are prefetched while a group is trained. */
static weft_status take_groups(fed_task *fed, const fed_turns *turns, int64_t n,
                               const int64_t *which, struct progress *progress)
{
    int64_t groups = groups_of(n);
    if (n > 0) fed_lanes_begin(fed, turns->from);
    for (int64_t i = 0, left = groups, some; i < n; i += some, left--) {
        TRY(look_between(fed, turns, progress));
        some = (n - i + left - 1) / left;
        int64_t next = i + some, end = n - next < some ? n : next + some;
        for (int64_t j = next; j < end; j++)
            weft_client_fetch_rows(fed->clients, &turns->client[which[j]].at);
        TRY(fed_lanes_visit(fed, turns, (int)some, which + i));
        for (int64_t j = i; j < next; j++) progress->done += samples_of(turns, which[j]);
    }
    return WEFT_OK;
}

/* The next of this rank's turns after j that is not done in lanes; -1: there is none. */
static int64_t following(const fed_task *fed, const fed_turns *turns, int lanes, int64_t j)
{
    for (j++; j < turns->n; j++) {
        const fed_client *client = &turns->client[j];
        int own = !client->lost && client->rank == fed->env.team->rank;
        if (own && !(lanes && fed_lanes_take(fed, turns->turn, client))) return j;
    }
    return -1;
}

weft_status fed_take_turns(fed_task *fed, const fed_turns *turns)
{
    WEFT_REWIND(fed->work.tmp);
    int64_t *which = WEFT_NEW(fed->work.tmp, int64_t, turns->n);
    struct progress progress = {0};
    int64_t n = beside(fed, turns, which, &progress);
    weft_status st = take_groups(fed, turns, n, which, &progress);
    int64_t j = following(fed, turns, n > 0, -1), next;
    for (; j >= 0 && st == WEFT_OK; j = next) {
        next = following(fed, turns, n > 0, j);
        st = look_between(fed, turns, &progress);
        if (st == WEFT_OK) st = fed_visit_take(fed, turns, j, next);
        progress.done += samples_of(turns, j);
    }
    if (st == WEFT_OK) return weft_client_sound(fed->clients);
    if (fed_worker_trains(fed)) fed_worker_drop(fed); /* it may have the next turn */
    return st;
}
