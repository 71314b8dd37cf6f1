/* Dealing of jobs of known cost: ranks to clients, teams to jobs, lanes to groups of rows.
 * Called by model, task and run. */
#include <stdlib.h>

#include "weft/par.h"

typedef struct item {
    double cost;
    int64_t i;
} item;

static int larger_first(const void *left, const void *right)
{
    const item *a = left, *b = right;
    if (a->cost > b->cost) return -1;
    if (a->cost < b->cost) return 1;
    return a->i < b->i ? -1 : 1;
}

void weft_deal_costs(int64_t n, const double *cost, int bins, const double *speed, int *bin)
{
    weft_arena *tmp = weft_arena_new();
    item *todo = WEFT_NEW(tmp, item, n);
    double *load = WEFT_NEW(tmp, double, bins);
    for (int64_t i = 0; i < n; i++) todo[i] = (item){cost[i], i};
    qsort(todo, (size_t)n, sizeof *todo, larger_first);
    for (int64_t e = 0; e < n; e++) {
        int least = 0;
        for (int b = 1; b < bins; b++)
            if (load[b] < load[least]) least = b;
        load[least] += speed ? todo[e].cost / speed[least] : todo[e].cost;
        bin[todo[e].i] = least;
    }
    weft_arena_free(tmp);
}
