/* N-grams that two sequences have in common. Private to text. */
#ifndef WEFT_TEXT_NGRAMS_H
#define WEFT_TEXT_NGRAMS_H

#include "weft/arena.h"

#include <stdint.h>

/* Words or characters as numbers. */
typedef struct weft_symbols {
    int64_t n;
    const int32_t *at; /* [n] */
} weft_symbols;

/* N-grams of a sequence. */
static inline int64_t weft_ngrams_count(weft_symbols symbols, int order)
{
    return symbols.n < order ? 0 : symbols.n - order + 1;
}

/* Adds to common[orders] the n-grams of each order from 1 on that a and b have in common,
 * one that both have several times as often as the one that has it less. Cost O(n log n).
 */
void weft_ngrams_common(weft_symbols a, weft_symbols b, int orders, int64_t *common,
                        weft_arena *tmp);

#endif
