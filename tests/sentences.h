/* Sentences by the rule of tests/gold/seq2seq.py, and networks that translate them. */
#ifndef WEFT_TEST_SENTENCES_H
#define WEFT_TEST_SENTENCES_H

#include "nets.h"

enum { LONGEST = 6 };

static inline weft_shape translating(int sources, int targets)
{
    return (weft_shape){.form = WEFT_SENTENCES,
                        .d = LONGEST,
                        .longest = LONGEST,
                        .words = sources,
                        .classes = targets,
                        .length = 3,
                        .replies = 4};
}

/* Sentence i of that many words. */
static inline const uint32_t *sentence(int i, int words, int factor, int *n)
{
    uint32_t *word = WEFT_NEW(mem, uint32_t, LONGEST);
    *n = 1 + (i * 5 + factor) % 6;
    for (int t = 0; t < *n; t++)
        word[t] = (uint32_t)(1 + (i * 3 + t * t * factor + t) % (words - 1));
    return word;
}

static inline weft_batch sentences_by_rule(int sources, int targets, int n)
{
    const uint32_t **source = WEFT_NEW(mem, const uint32_t *, n),
                   **target = WEFT_NEW(mem, const uint32_t *, n);
    int *from = WEFT_NEW(mem, int, n), *to = WEFT_NEW(mem, int, n);
    for (int i = 0; i < n; i++) {
        source[i] = sentence(i, sources, 2, &from[i]);
        target[i] = sentence(i, targets, 3, &to[i]);
    }
    return (weft_batch){
        .n = n, .word = source, .length = from, .reply = target, .replies = to};
}

#endif
