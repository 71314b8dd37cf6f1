/* Arenas: a chain of blocks that are filled in order and released from the end. The largest
 * block released by a reset is kept, so that scratch memory in a loop is allocated only
 * once. */
#include "weft/arena.h"
#include "weft/status.h"

#include <stdarg.h>
#include <stdio.h>
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
    weft_arena *arena = calloc(1, sizeof *arena);
    weft_check(arena, "out of memory");
    return arena;
}

/* Releases what b holds from `used` on. */
static void shrink(block *b, size_t used)
{
    HIDE(b->base + used, b->used - used);
    b->used = used;
}

/* Keeps the larger of b and the spare one, frees the other. */
static void block_drop(weft_arena *arena, block *b)
{
    shrink(b, 0);
    block *loser = arena->spare;
    arena->spare = b;
    if (loser && loser->room > b->room) {
        arena->spare = loser;
        loser = b;
    }
    if (loser) arena->held -= loser->room;
    free(loser);
}

void weft_arena_free(weft_arena *arena)
{
    if (!arena) return;
    weft_arena_reset(arena, 0);
    free(arena->spare);
    free(arena);
}

/* Puts a block with room for `need` bytes at the end of the chain. */
static void grow(weft_arena *arena, size_t need)
{
    block *b = arena->spare;
    if (b && b->room >= need) {
        arena->spare = NULL;
    } else {
        b = block_new(need > SMALLEST ? need : SMALLEST);
        arena->held += b->room;
    }
    b->before = arena->last;
    b->start = weft_arena_mark(arena);
    arena->last = b;
}

void *weft_arena_alloc(weft_arena *arena, size_t count, size_t size)
{
    weft_check(size == 0 || count <= (SIZE_MAX - 2 * ALIGN) / size,
               "%zu elements of %zu bytes asked for", count, size);
    size_t bytes = count * size, need = (bytes + GUARD + ALIGN - 1) / ALIGN * ALIGN;
    if (need == 0) need = ALIGN;
    if (!arena->last || arena->last->room - arena->last->used < need) grow(arena, need);
    block *b = arena->last;
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

char *weft_arena_text(weft_arena *arena, const char *fmt, ...)
{
    va_list args, again;
    va_start(args, fmt);
    va_copy(again, args);
    int n = vsnprintf(NULL, 0, fmt, args);
    va_end(args);
    weft_check(n >= 0, "cannot format '%s'", fmt);
    char *text = weft_arena_alloc(arena, (size_t)n + 1, 1);
    vsnprintf(text, (size_t)n + 1, fmt, again);
    va_end(again);
    return text;
}

void *weft_grow(weft_arena *arena, void *array, size_t size, int64_t n, int64_t *room)
{
    if (n < *room) return array;
    int64_t more = *room > 0 ? *room : FIRST_ROOM;
    while (more <= n) more *= 2;
    char *copy = weft_arena_alloc(arena, (size_t)more, size);
    if (*room > 0) memcpy(copy, array, (size_t)*room * size);
    *room = more;
    return copy;
}

/* Frees the block that this memory fills alone, if it does. Marks stay what they were. */
static void release(weft_arena *arena, const void *memory)
{
    for (block **at = &arena->last; *at; at = &(*at)->before) {
        block *b = *at;
        if (b->base != memory) continue;
        if (b->room <= SMALLEST || b->used < b->room || b == arena->last) return;
        *at = b->before;
        arena->held -= b->room;
        free(b);
        return;
    }
}

void *weft_regrow(weft_arena *arena, void *array, size_t size, int64_t n, int64_t *room)
{
    void *copy = weft_grow(arena, array, size, n, room);
    if (copy != array && array) release(arena, array);
    return copy;
}

size_t weft_arena_mark(const weft_arena *arena)
{
    return arena->last ? arena->last->start + arena->last->used : 0;
}

void weft_arena_reset(weft_arena *arena, size_t mark)
{
    while (arena->last && arena->last->start >= mark) {
        block *b = arena->last;
        arena->last = b->before;
        block_drop(arena, b);
    }
    if (arena->last) shrink(arena->last, mark - arena->last->start);
}

size_t weft_arena_held(const weft_arena *arena)
{
    return arena->held;
}
