/* Words of a vocabulary by their hashes. Private to data. */
#ifndef WEFT_DATA_VOCAB_H
#define WEFT_DATA_VOCAB_H

#include "weft/sample.h"

/* Open addressing. */
typedef struct weft_vocab_index {
    const weft_vocab *vocab;
    int64_t *slot; /* [mask + 1] number + 1 of a word; 0: free */
    uint64_t mask;
} weft_vocab_index;

/* The words of v, which the table refers to. Cost O(n). */
weft_vocab_index weft_vocab_index_new(const weft_vocab *vocab, weft_arena *mem);
/* The number of the word of that hash, -1: none. */
int64_t weft_vocab_index_find(const weft_vocab_index *index, uint64_t hash);

#endif
