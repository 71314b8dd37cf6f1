/* Binary heaps by rank. No two ranks are equal, so that the order in which they are removed
 * does not depend on the order in which they were added. */
#include "heap.h"

/* 1: a must be above b in the heap. */
static int above(const weft_heap *h, weft_rank a, weft_rank b)
{
    return h->worst_first ? weft_rank_before(b, a) : weft_rank_before(a, b);
}

void weft_heap_push(weft_heap *h, weft_rank x, weft_arena *mem)
{
    h->at = weft_regrow(mem, h->at, sizeof *h->at, h->n, &h->room);
    int64_t i = h->n++;
    for (; i > 0 && above(h, x, h->at[(i - 1) / 2]); i = (i - 1) / 2)
        h->at[i] = h->at[(i - 1) / 2];
    h->at[i] = x;
}

weft_rank weft_heap_pop(weft_heap *h)
{
    weft_check(h->n > 0, "nothing in the heap");
    weft_rank first = h->at[0], x = h->at[--h->n];
    int64_t i = 0;
    for (int64_t below = 1; below < h->n; below = 2 * i + 1) {
        if (below + 1 < h->n && above(h, h->at[below + 1], h->at[below])) below++;
        if (!above(h, h->at[below], x)) break;
        h->at[i] = h->at[below];
        i = below;
    }
    h->at[i] = x;
    return first;
}
