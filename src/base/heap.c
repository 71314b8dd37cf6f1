/* Binary heaps. Where no two items are equal, the order in which they are taken does not
 * depend on the order in which they were added. */
#include "weft/base.h"

#include <string.h>

static void *item_at(const weft_heap *h, int64_t at)
{
    return (char *)h->at + (size_t)at * h->size;
}

static int is_before(const weft_heap *h, int64_t a, int64_t b)
{
    return h->before(item_at(h, a), item_at(h, b), h->of);
}

static void tell(const weft_heap *h, int64_t at)
{
    if (h->moved) h->moved(item_at(h, at), at);
}

static void swap(const weft_heap *h, int64_t a, int64_t b)
{
    char item[WEFT_HEAP_ITEM];
    memcpy(item, item_at(h, a), h->size);
    memcpy(item_at(h, a), item_at(h, b), h->size);
    memcpy(item_at(h, b), item, h->size);
    tell(h, a);
    tell(h, b);
}

void weft_heap_settle(weft_heap *h, int64_t at)
{
    for (int64_t child = 2 * at + 1; child < h->n; at = child, child = 2 * at + 1) {
        if (child + 1 < h->n && is_before(h, child + 1, child)) child++;
        if (!is_before(h, child, at)) break;
        swap(h, at, child);
    }
    for (; at > 0 && is_before(h, at, (at - 1) / 2); at = (at - 1) / 2)
        swap(h, at, (at - 1) / 2);
}

void weft_heap_push(weft_heap *h, const void *item, weft_arena *mem)
{
    weft_check(h->size <= WEFT_HEAP_ITEM, "items of %zu bytes", h->size);
    h->at = weft_regrow(mem, h->at, h->size, h->n, &h->room);
    memcpy(item_at(h, h->n), item, h->size);
    tell(h, h->n);
    weft_heap_settle(h, h->n++);
}

void weft_heap_take(weft_heap *h, int64_t at, void *item)
{
    weft_check(at < h->n, "item %lld of %lld", (long long)at, (long long)h->n);
    memcpy(item, item_at(h, at), h->size);
    if (--h->n == at) return;
    memcpy(item_at(h, at), item_at(h, h->n), h->size);
    tell(h, at);
    weft_heap_settle(h, at);
}
