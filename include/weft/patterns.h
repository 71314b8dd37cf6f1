/* Distinct bit patterns. */
#ifndef WEFT_PATTERNS_H
#define WEFT_PATTERNS_H

#include "weft/arena.h"

#include <stdint.h>

/* Distinct patterns of 64 bits in a hash table; all zero: none. */
typedef struct weft_patterns {
    uint64_t *key; /* [room] pattern + 1; 0: a free place */
    int64_t n, room;
} weft_patterns;

/* Adds a pattern other than that of all ones. 1: it was not there. Cost O(1). */
int weft_patterns_add(weft_patterns *patterns, uint64_t bits, weft_arena *mem);

#endif
