/* Collections: distinct names and distinct bit patterns, in hash tables with open
 * addressing; binary heaps; sorting. */
#include "weft/base/base.h"
#include "weft/base/conf.h"
#include "weft/base/random.h"

#include <stdlib.h>
#include <string.h>

enum { FIRST_SLOTS = 256, FIRST_ROOM = 8 }; /* of names; of bit patterns */

/* ---- names ---- */

static int64_t *slot_of(const weft_names *names, const char *name)
{
    uint64_t at = weft_hash(name, strlen(name), 0);
    for (;; at++) {
        int64_t *slot = &names->slot[at & (uint64_t)(names->slots - 1)];
        if (*slot == 0 || strcmp(names->name[*slot - 1], name) == 0) return slot;
    }
}

/* Doubles the number of slots, so that at least half of them are free. */
static void widen_slots(weft_names *names)
{
    names->slots = names->slots > 0 ? 2 * names->slots : FIRST_SLOTS;
    names->slot = WEFT_NEW(names->mem, int64_t, names->slots);
    for (int64_t i = 0; i < names->n; i++) *slot_of(names, names->name[i]) = i + 1;
}

int64_t weft_names_find(weft_names *names, const char *name)
{
    if (2 * names->n >= names->slots) widen_slots(names);
    int64_t *slot = slot_of(names, name);
    if (*slot > 0) return *slot - 1;
    WEFT_GROW(names->mem, names->name, names->n, &names->room);
    names->name[names->n] = weft_arena_text(names->mem, "%s", name);
    *slot = ++names->n;
    return names->n - 1;
}

int64_t weft_names_index(const weft_names *names, const char *name)
{
    return names->slots > 0 ? *slot_of(names, name) - 1 : -1;
}

/* ---- bit patterns ---- */

static uint64_t *key_place(const weft_patterns *patterns, uint64_t key)
{
    /* Whole numbers, as doubles, differ in their upper bits alone. */
    uint64_t at = ((key ^ key >> 32) * 0x9e3779b97f4a7c15u) >> 32;
    uint64_t last = (uint64_t)patterns->room - 1;
    while (patterns->key[at & last] != 0 && patterns->key[at & last] != key) at++;
    return &patterns->key[at & last];
}

int weft_patterns_add(weft_patterns *patterns, uint64_t bits, weft_arena *mem)
{
    if (2 * patterns->n >= patterns->room) {
        weft_patterns more = {.n = patterns->n,
                              .room = patterns->room > 0 ? 2 * patterns->room : FIRST_ROOM};
        more.key = WEFT_NEW(mem, uint64_t, more.room);
        for (int64_t i = 0; i < patterns->room; i++)
            if (patterns->key[i] != 0)
                *key_place(&more, patterns->key[i]) = patterns->key[i];
        *patterns = more;
    }
    uint64_t *at = key_place(patterns, bits + 1);
    if (*at != 0) return 0;
    *at = bits + 1;
    patterns->n++;
    return 1;
}

/* ---- heaps ---- */

/* Where no two items are equal, the order in which they are taken does not depend on the
 * order in which they were added. */

static void *item_at(const weft_heap *heap, int64_t at)
{
    return (char *)heap->at + (size_t)at * heap->size;
}

static int is_before(const weft_heap *heap, int64_t a, int64_t b)
{
    return heap->before(item_at(heap, a), item_at(heap, b), heap->of);
}

static void tell_moved(const weft_heap *heap, int64_t at)
{
    if (heap->moved) heap->moved(item_at(heap, at), at);
}

static void swap_items(const weft_heap *heap, int64_t a, int64_t b)
{
    char item[WEFT_HEAP_ITEM];
    memcpy(item, item_at(heap, a), heap->size);
    memcpy(item_at(heap, a), item_at(heap, b), heap->size);
    memcpy(item_at(heap, b), item, heap->size);
    tell_moved(heap, a);
    tell_moved(heap, b);
}

void weft_heap_settle(weft_heap *heap, int64_t at)
{
    for (int64_t child = 2 * at + 1; child < heap->n; at = child, child = 2 * at + 1) {
        if (child + 1 < heap->n && is_before(heap, child + 1, child)) child++;
        if (!is_before(heap, child, at)) break;
        swap_items(heap, at, child);
    }
    for (; at > 0 && is_before(heap, at, (at - 1) / 2); at = (at - 1) / 2)
        swap_items(heap, at, (at - 1) / 2);
}

void weft_heap_push(weft_heap *heap, const void *item, weft_arena *mem)
{
    weft_check(heap->size <= WEFT_HEAP_ITEM, "items of %zu bytes", heap->size);
    heap->at = weft_regrow(mem, heap->at, heap->size, heap->n, &heap->room);
    memcpy(item_at(heap, heap->n), item, heap->size);
    tell_moved(heap, heap->n);
    weft_heap_settle(heap, heap->n++);
}

void weft_heap_take(weft_heap *heap, int64_t at, void *item)
{
    weft_check(at < heap->n, "item %lld of %lld", (long long)at, (long long)heap->n);
    memcpy(item, item_at(heap, at), heap->size);
    if (--heap->n == at) return;
    memcpy(item_at(heap, at), item_at(heap, heap->n), heap->size);
    tell_moved(heap, at);
    weft_heap_settle(heap, at);
}

/* ---- order ---- */

static int rising(const void *left, const void *right)
{
    const weft_placed *a = left, *b = right;
    if (a->value < b->value || a->value > b->value) return a->value < b->value ? -1 : 1;
    return (a->at > b->at) - (a->at < b->at);
}

static int falling(const void *left, const void *right)
{
    const weft_placed *a = left, *b = right;
    if (a->value < b->value || a->value > b->value) return a->value > b->value ? -1 : 1;
    return (a->at > b->at) - (a->at < b->at);
}

int weft_rising_f64(const void *left, const void *right)
{
    const double *a = left, *b = right;
    return (*a > *b) - (*a < *b);
}

int weft_rising_i64(const void *left, const void *right)
{
    const int64_t *a = left, *b = right;
    return (*a > *b) - (*a < *b);
}

void weft_sort_rising(int64_t n, weft_placed *list)
{
    if (n > 0) qsort(list, (size_t)n, sizeof *list, rising);
}

void weft_sort_falling(int64_t n, weft_placed *list)
{
    if (n > 0) qsort(list, (size_t)n, sizeof *list, falling);
}

void weft_sort_f64(int64_t n, double *x)
{
    if (n > 0) qsort(x, (size_t)n, sizeof *x, weft_rising_f64);
}

void weft_sort_i64(int64_t n, int64_t *x)
{
    if (n > 0) qsort(x, (size_t)n, sizeof *x, weft_rising_i64);
}
