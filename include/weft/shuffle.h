/* Random orders. */
#ifndef WEFT_SHUFFLE_H
#define WEFT_SHUFFLE_H

#include "weft/arena.h"
#include "weft/rng.h"

#include <stdint.h>

/* Numbers 0 .. n-1 into order[n], in the order of their keyed random numbers
 * (WEFT_RNG_SPLIT). Cost O(n log n). */
void weft_shuffle(int64_t n, uint64_t seed, int64_t *order, weft_arena *tmp);

/* Identity of a row of random numbers: word i is word i % 4 of (a, b, c + i / 4). */
typedef struct weft_rng_row {
    uint64_t seed;
    weft_purpose purpose;
    uint64_t a, b, c;
} weft_rng_row;
/* Shuffles the first `take` places of order[n], by Fisher and Yates: place i gets one of
 * those from i on, drawn by word i. Cost O(take). */
void weft_shuffle_first(int64_t take, int64_t n, const weft_rng_row *key, int64_t *order);

#endif
