/* Heaps of ranks, by which schedules find the best and the worst of many in O(log n). */
#ifndef WEFT_TUNE_HEAP_H
#define WEFT_TUNE_HEAP_H

#include "weft/space.h"

typedef struct weft_heap {
    int64_t n, room;
    int worst_first;
    weft_rank *at; /* [n] the first is the best, or with worst_first the worst */
} weft_heap;

/* Adds a rank; a full heap is copied to larger memory from mem. Cost O(log n). */
void weft_heap_push(weft_heap *h, weft_rank x, weft_arena *mem);
/* Removes and returns the first of n > 0. Cost O(log n). */
weft_rank weft_heap_pop(weft_heap *h);

#endif
