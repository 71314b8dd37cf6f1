/* Distribution of rows over ranks, in blocks, and of jobs of known cost: of clients over
 * ranks, of groups of rows over partitions. */
#include <stdlib.h>

#include "weft/heap.h"
#include "weft/team.h"

void weft_deal(int64_t n, int rank, int size, int64_t *first, int64_t *count)
{
    int64_t blocks = (n + WEFT_BLOCK - 1) / WEFT_BLOCK;
    int64_t each = blocks / size, more = blocks % size;
    int64_t begin = rank * each + (rank < more ? rank : more);
    int64_t end = begin + each + (rank < more);
    *first = begin * WEFT_BLOCK < n ? begin * WEFT_BLOCK : n;
    *count = (end * WEFT_BLOCK < n ? end * WEFT_BLOCK : n) - *first;
}

struct item {
    double cost;
    int64_t i;
};

static int larger_first(const void *left, const void *right)
{
    const struct item *a = left, *b = right;
    if (a->cost > b->cost) return -1;
    if (a->cost < b->cost) return 1;
    return a->i < b->i ? -1 : 1;
}

/* 1 if bin a gets the next job rather than b. */
static int is_emptier(const void *left, const void *right, const void *loads)
{
    const int a = *(const int *)left, b = *(const int *)right;
    const double *load = loads;
    if (load[a] < load[b] || load[a] > load[b]) return load[a] < load[b];
    return a < b;
}

void weft_deal_costs(int64_t n, const double *cost, int bins, const double *speed, int *bin)
{
    weft_arena *tmp = weft_arena_new();
    struct item *todo = WEFT_NEW(tmp, struct item, n);
    double *load = WEFT_NEW(tmp, double, bins);
    int *order = WEFT_NEW(tmp, int, bins);
    for (int b = 0; b < bins; b++) order[b] = b;
    weft_heap heap = {
        .n = bins, .size = sizeof *order, .at = order, .before = is_emptier, .of = load};
    for (int64_t i = 0; i < n; i++) todo[i] = (struct item){cost[i], i};
    qsort(todo, (size_t)n, sizeof *todo, larger_first);
    for (int64_t e = 0; e < n; e++) {
        int least = order[0];
        load[least] += speed ? todo[e].cost / speed[least] : todo[e].cost;
        bin[todo[e].i] = least;
        weft_heap_settle(&heap, 0);
    }
    weft_arena_free(tmp);
}
