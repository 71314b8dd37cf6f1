/* Binary heaps. */
#ifndef WEFT_HEAP_H
#define WEFT_HEAP_H

#include "weft/arena.h"

#include <stddef.h>
#include <stdint.h>

/* A binary heap of items of `size` bytes, the first of which is before all others. */
typedef struct weft_heap {
    int64_t n, room;
    size_t size; /* at most WEFT_HEAP_ITEM */
    void *at;    /* [n] items */
    int (*before)(const void *a, const void *b, const void *of); /* 1: a is before b */
    const void *of;                        /* third argument of `before`; borrowed */
    void (*moved)(void *item, int64_t at); /* told the new index of an item; NULL */
} weft_heap;
#define WEFT_HEAP_ITEM 64

/* Adds an item; a full heap is copied to larger memory from mem. Cost O(log n), as of all
 * functions of heaps. */
void weft_heap_push(weft_heap *heap, const void *item, weft_arena *mem);
/* Removes the item at an index, 0: the first, and copies it to *item. */
void weft_heap_take(weft_heap *heap, int64_t at, void *item);
/* Puts the item at an index to its place after it has changed. */
void weft_heap_settle(weft_heap *heap, int64_t at);

#endif
