/* Memory that is freed together: arenas, and arrays in them that grow. */
#ifndef WEFT_ARENA_H
#define WEFT_ARENA_H

#include "weft/compiler.h"

#include <stddef.h>
#include <stdint.h>

/* An arena allocates zeroed memory, aligned to 64 bytes, all of which is freed together
 * with the arena. Allocation never returns NULL: out of memory ends the process. */
typedef struct weft_arena weft_arena;
/* An empty arena. To be freed by weft_arena_free. */
weft_arena *weft_arena_new(void);
/* The same, which is freed with `outer`, and not by itself: weft_arena_reset empties it. */
weft_arena *weft_arena_within(weft_arena *outer);
/* Frees the arena and all memory allocated from it. NULL allowed. */
void weft_arena_free(weft_arena *arena);
/* `count` elements of `size` bytes, zeroed; count 0 allowed. Cost O(count size). */
void *weft_arena_alloc(weft_arena *arena, size_t count, size_t size);
/* The text that the format prints, owned by the arena. */
char *weft_arena_text(weft_arena *arena, const char *fmt, ...) WEFT_PRINTF(2, 3);
/* Returns the array, or a zero-padded copy of it at least twice as large, with room for
 * more than n elements of `size` bytes. *room is the number of elements that there is room
 * for, in and out; 0 for a NULL array. Old copies are freed with the arena. */
void *weft_grow(weft_arena *arena, void *array, size_t size, int64_t n, int64_t *room);
/* The same for an array that grows to a large size: its old copy is freed at once if it is
 * long, so no pointer into it may be kept. Cost O(blocks of the arena) to grow. */
void *weft_regrow(weft_arena *arena, void *array, size_t size, int64_t n, int64_t *room);
size_t weft_arena_mark(
    const weft_arena *arena); /* the bytes in use, for weft_arena_reset */
/* Releases all that was allocated since the mark. */
void weft_arena_reset(weft_arena *arena, size_t mark);
size_t weft_arena_held(const weft_arena *arena); /* bytes that it has from calloc */
#define WEFT_NEW(a, type, n) ((type *)weft_arena_alloc((a), (size_t)(n), sizeof(type)))

#endif
