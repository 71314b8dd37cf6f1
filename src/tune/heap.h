/* Heaps of results, by which schedules find the best and the worst of many in O(log n). */
#ifndef WEFT_TUNE_HEAP_H
#define WEFT_TUNE_HEAP_H

#include "weft/base.h"

/* A result in a ranking. */
typedef struct weft_ranked {
    double loss; /* never NaN */
    int64_t trial;
} weft_ranked;

typedef struct weft_heap {
    int64_t n, room;
    int worst_first;
    weft_ranked *at; /* [n] the first is the best, or with worst_first the worst */
} weft_heap;

/* 1: a has the lower loss, or the same and the lower trial. Local. */
int weft_ranks_before(weft_ranked a, weft_ranked b);
/* The same for qsort: -1, 0 or 1 by (loss, trial). Local. */
int weft_ranked_compare(const void *a, const void *b);
/* Adds a result; a full heap is copied to larger memory from mem. Local. Cost O(log n). */
void weft_heap_push(weft_heap *h, weft_ranked x, weft_arena *mem);
/* Removes and returns the first of n > 0. Local. Cost O(log n). */
weft_ranked weft_heap_pop(weft_heap *h);

#endif
