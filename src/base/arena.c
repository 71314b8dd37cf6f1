/* Arenas: a chain of blocks that are filled in order and released from the end. The largest
 * block released by a reset is kept, so that scratch memory in a loop is allocated only
 * once. */
#include "weft/base.h"

#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

/* Under `make fuzz` the address sanitizer is told which bytes of a block are in use, and
 * one byte or more after each array is not, so that it sees an access beyond the array. */
#ifdef WEFT_FUZZ
#define GUARD 1
#include <sanitizer/asan_interface.h>
#define HIDE(p, n) ASAN_POISON_MEMORY_REGION(p, n)
#define SHOW(p, n) ASAN_UNPOISON_MEMORY_REGION(p, n)
#else
#define GUARD      0
#define HIDE(p, n) ((void)0)
#define SHOW(p, n) ((void)0)
#endif

enum { ALIGN = 64, SMALLEST = 1 << 16, FIRST_ROOM = 64 };

typedef struct block {
    struct block *before;
    char *base;   /* aligned */
    size_t start; /* mark at which it begins: the bytes used in all before */
    size_t room;  /* bytes at base */
    size_t used;
    size_t dirty; /* bytes at base that may not be zero any more */
} block;

struct weft_arena {
    block *last;  /* NULL: empty */
    block *spare; /* NULL: none */
    size_t held;
};

/* Memory comes from calloc, which does not write to pages that the system has zeroed. */
static block *block_new(size_t room)
{
    weft_check(room <= SIZE_MAX - sizeof(block) - ALIGN, "%zu bytes asked for", room);
    block *b = calloc(1, sizeof *b + ALIGN + room);
    weft_check(b,
               "out of memory: %.0f MB asked for; more for each rank, or fewer ranks on a "
               "node, would help",
               (double)room / 1e6);
    uintptr_t at = (uintptr_t)(b + 1);
    b->base = (char *)(b + 1) + (ALIGN - at % ALIGN) % ALIGN;
    b->room = room;
    HIDE(b->base, room);
    return b;
}

weft_arena *weft_arena_new(void)
{
    weft_arena *a = calloc(1, sizeof *a);
    weft_check(a, "out of memory");
    return a;
}

/* Releases what b holds from `used` on. */
static void shrink(block *b, size_t used)
{
    HIDE(b->base + used, b->used - used);
    b->used = used;
}

/* Keeps the larger of b and the spare one, frees the other. */
static void block_drop(weft_arena *a, block *b)
{
    shrink(b, 0);
    block *loser = a->spare;
    a->spare = b;
    if (loser && loser->room > b->room) {
        a->spare = loser;
        loser = b;
    }
    if (loser) a->held -= loser->room;
    free(loser);
}

void weft_arena_free(weft_arena *a)
{
    if (!a) return;
    weft_arena_reset(a, 0);
    free(a->spare);
    free(a);
}

/* Puts a block with room for `need` bytes at the end of the chain. */
static void grow(weft_arena *a, size_t need)
{
    block *b = a->spare;
    if (b && b->room >= need) {
        a->spare = NULL;
    } else {
        b = block_new(need > SMALLEST ? need : SMALLEST);
        a->held += b->room;
    }
    b->before = a->last;
    b->start = weft_arena_mark(a);
    a->last = b;
}

void *weft_arena_alloc(weft_arena *a, size_t count, size_t size)
{
    weft_check(size == 0 || count <= (SIZE_MAX - 2 * ALIGN) / size,
               "%zu elements of %zu bytes asked for", count, size);
    size_t bytes = count * size, need = (bytes + GUARD + ALIGN - 1) / ALIGN * ALIGN;
    if (need == 0) need = ALIGN;
    if (!a->last || a->last->room - a->last->used < need) grow(a, need);
    block *b = a->last;
    char *p = b->base + b->used;
    SHOW(p, need);
    if (b->dirty > b->used) {
        size_t n = b->dirty - b->used;
        memset(p, 0, n < need ? n : need);
    }
    HIDE(p + bytes, need - bytes);
    b->used += need;
    if (b->dirty < b->used) b->dirty = b->used;
    return p;
}

char *weft_arena_text(weft_arena *a, const char *fmt, ...)
{
    va_list args, again;
    va_start(args, fmt);
    va_copy(again, args);
    int n = vsnprintf(NULL, 0, fmt, args);
    va_end(args);
    weft_check(n >= 0, "cannot format '%s'", fmt);
    char *text = weft_arena_alloc(a, (size_t)n + 1, 1);
    vsnprintf(text, (size_t)n + 1, fmt, again);
    va_end(again);
    return text;
}

void *weft_grow(weft_arena *a, void *array, size_t size, int64_t n, int64_t *room)
{
    if (n < *room) return array;
    int64_t more = *room > 0 ? *room : FIRST_ROOM;
    while (more <= n) more *= 2;
    char *copy = weft_arena_alloc(a, (size_t)more, size);
    if (*room > 0) memcpy(copy, array, (size_t)*room * size);
    *room = more;
    return copy;
}

/* Frees the block that this memory fills alone, if it does. Marks stay what they were. */
static void release(weft_arena *a, const void *memory)
{
    for (block **at = &a->last; *at; at = &(*at)->before) {
        block *b = *at;
        if (b->base != memory) continue;
        if (b->room <= SMALLEST || b->used < b->room || b == a->last) return;
        *at = b->before;
        a->held -= b->room;
        free(b);
        return;
    }
}

void *weft_regrow(weft_arena *a, void *array, size_t size, int64_t n, int64_t *room)
{
    void *copy = weft_grow(a, array, size, n, room);
    if (copy != array && array) release(a, array);
    return copy;
}

size_t weft_arena_mark(const weft_arena *a)
{
    return a->last ? a->last->start + a->last->used : 0;
}

void weft_arena_reset(weft_arena *a, size_t mark)
{
    while (a->last && a->last->start >= mark) {
        block *b = a->last;
        a->last = b->before;
        block_drop(a, b);
    }
    if (a->last) shrink(a->last, mark - a->last->start);
}

size_t weft_arena_held(const weft_arena *a)
{
    return a->held;
}
