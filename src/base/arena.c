/* Arenas: a chain of blocks that are filled in order and released from the end. The largest
 * block released by a reset is kept, so that scratch memory in a loop is allocated only
 * once. */
#include "weft/base/base.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* An address sanitizer is told which bytes of a block are in use, and one byte or more
 * after each array is not, so that it sees an access beyond the array. */
#ifdef __has_feature
#if __has_feature(address_sanitizer)
#define WATCHED
#endif
#endif
#if defined WATCHED || defined __SANITIZE_ADDRESS__
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

struct block {
    struct block *before;
    char *base;   /* aligned */
    size_t start; /* mark at which it begins: the bytes used in all before */
    size_t room;  /* bytes at base */
    size_t used;
    size_t dirty; /* bytes at base that may not be zero any more */
};

struct weft_arena {
    struct block *last;  /* NULL: empty */
    struct block *spare; /* NULL: none */
    size_t held;
    struct weft_arena *inner; /* the arenas within it, each the `next` of one; NULL: none */
    struct weft_arena *next;
};

/* Memory comes from calloc, which does not write to pages that the system has zeroed. */
static struct block *block_new(size_t room)
{
    weft_check(room <= SIZE_MAX - sizeof(struct block) - ALIGN, "%zu bytes asked for",
               room);
    struct block *block = calloc(1, sizeof *block + ALIGN + room);
    weft_check(block,
               "out of memory: %.0f MB asked for; more for each rank, or fewer ranks on a "
               "node, would help",
               (double)room / 1e6);
    uintptr_t at = (uintptr_t)(block + 1);
    block->base = (char *)(block + 1) + (ALIGN - at % ALIGN) % ALIGN;
    block->room = room;
    HIDE(block->base, room);
    return block;
}

weft_arena *weft_arena_new(void)
{
    weft_arena *arena = calloc(1, sizeof *arena);
    weft_check(arena, "out of memory");
    return arena;
}

weft_arena *weft_arena_within(weft_arena *outer)
{
    weft_arena *arena = weft_arena_new();
    arena->next = outer->inner;
    return outer->inner = arena;
}

/* Releases what a block holds from `used` on. */
static void shrink(struct block *block, size_t used)
{
    HIDE(block->base + used, block->used - used);
    block->used = used;
}

/* Keeps the larger of the block and the spare one, frees the other. */
static void block_drop(weft_arena *arena, struct block *block)
{
    shrink(block, 0);
    struct block *loser = arena->spare;
    arena->spare = block;
    if (loser && loser->room > block->room) {
        arena->spare = loser;
        loser = block;
    }
    if (loser) arena->held -= loser->room;
    free(loser);
}

void weft_arena_free(weft_arena *arena)
{
    if (!arena) return;
    for (weft_arena *inner = arena->inner, *next; inner; inner = next) {
        next = inner->next;
        weft_arena_free(inner);
    }
    weft_arena_reset(arena, 0);
    free(arena->spare);
    free(arena);
}

void weft_arena_leave(weft_arena **arena)
{
    weft_arena_free(*arena);
}

void weft_arena_rewind(const weft_rewind *rewind)
{
    weft_arena_reset(rewind->arena, rewind->mark);
}

/* Puts a block with room for `need` bytes at the end of the chain. */
static void grow(weft_arena *arena, size_t need)
{
    struct block *block = arena->spare;
    if (block && block->room >= need) {
        arena->spare = NULL;
    } else {
        block = block_new(need > SMALLEST ? need : SMALLEST);
        arena->held += block->room;
    }
    block->before = arena->last;
    block->start = weft_arena_mark(arena);
    arena->last = block;
}

/* What an allocation takes of a block. */
static size_t need_of(size_t bytes)
{
    size_t need = (bytes + GUARD + ALIGN - 1) / ALIGN * ALIGN;
    return need > 0 ? need : ALIGN;
}

void *weft_arena_alloc(weft_arena *arena, size_t count, size_t size)
{
    weft_check(size == 0 || count <= (SIZE_MAX - 2 * ALIGN) / size,
               "%zu elements of %zu bytes asked for", count, size);
    size_t bytes = count * size, need = need_of(bytes);
    if (!arena->last || arena->last->room - arena->last->used < need) grow(arena, need);
    struct block *block = arena->last;
    char *p = block->base + block->used;
    SHOW(p, need);
    if (block->dirty > block->used) {
        size_t n = block->dirty - block->used;
        memset(p, 0, n < need ? n : need);
    }
    HIDE(p + bytes, need - bytes);
    block->used += need;
    if (block->dirty < block->used) block->dirty = block->used;
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

/* Frees the block in which these bytes are alone, if that is a large one. Marks stay what
 * they were. */
static void release(weft_arena *arena, const void *memory, size_t bytes)
{
    for (struct block **at = &arena->last; *at; at = &(*at)->before) {
        struct block *block = *at;
        if (block->base != memory) continue;
        if (block->room <= SMALLEST || block->used != need_of(bytes) ||
            block == arena->last)
            return;
        *at = block->before;
        arena->held -= block->room;
        free(block);
        return;
    }
}

void *weft_regrow(weft_arena *arena, void *array, size_t size, int64_t n, int64_t *room)
{
    size_t bytes = (size_t)*room * size;
    void *copy = weft_grow(arena, array, size, n, room);
    if (copy != array && array) release(arena, array, bytes);
    return copy;
}

size_t weft_arena_mark(const weft_arena *arena)
{
    return arena->last ? arena->last->start + arena->last->used : 0;
}

void weft_arena_reset(weft_arena *arena, size_t mark)
{
    while (arena->last && arena->last->start >= mark) {
        struct block *block = arena->last;
        arena->last = block->before;
        block_drop(arena, block);
    }
    if (arena->last) shrink(arena->last, mark - arena->last->start);
}

size_t weft_arena_held(const weft_arena *arena)
{
    return arena->held;
}
