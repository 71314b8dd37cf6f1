/* Binary heaps. Where no two items are equal, the order in which they are taken does not
 * depend on the order in which they were added. */
#include "weft/heap.h"
#include "weft/status.h"

#include <string.h>

static void *item_at(const weft_heap *heap, int64_t at)
{
    return (char *)heap->at + (size_t)at * heap->size;
}

static int is_before(const weft_heap *heap, int64_t a, int64_t b)
{
    return heap->before(item_at(heap, a), item_at(heap, b), heap->of);
}

static void tell(const weft_heap *heap, int64_t at)
{
    if (heap->moved) heap->moved(item_at(heap, at), at);
}

static void swap(const weft_heap *heap, int64_t a, int64_t b)
{
    char item[WEFT_HEAP_ITEM];
    memcpy(item, item_at(heap, a), heap->size);
    memcpy(item_at(heap, a), item_at(heap, b), heap->size);
    memcpy(item_at(heap, b), item, heap->size);
    tell(heap, a);
    tell(heap, b);
}

void weft_heap_settle(weft_heap *heap, int64_t at)
{
    for (int64_t child = 2 * at + 1; child < heap->n; at = child, child = 2 * at + 1) {
        if (child + 1 < heap->n && is_before(heap, child + 1, child)) child++;
        if (!is_before(heap, child, at)) break;
        swap(heap, at, child);
    }
    for (; at > 0 && is_before(heap, at, (at - 1) / 2); at = (at - 1) / 2)
        swap(heap, at, (at - 1) / 2);
}

void weft_heap_push(weft_heap *heap, const void *item, weft_arena *mem)
{
    weft_check(heap->size <= WEFT_HEAP_ITEM, "items of %zu bytes", heap->size);
    heap->at = weft_regrow(mem, heap->at, heap->size, heap->n, &heap->room);
    memcpy(item_at(heap, heap->n), item, heap->size);
    tell(heap, heap->n);
    weft_heap_settle(heap, heap->n++);
}

void weft_heap_take(weft_heap *heap, int64_t at, void *item)
{
    weft_check(at < heap->n, "item %lld of %lld", (long long)at, (long long)heap->n);
    memcpy(item, item_at(heap, at), heap->size);
    if (--heap->n == at) return;
    memcpy(item_at(heap, at), item_at(heap, heap->n), heap->size);
    tell(heap, at);
    weft_heap_settle(heap, at);
}
