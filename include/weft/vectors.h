/* Word vectors, from a file or drawn at random. */
#ifndef WEFT_VECTORS_H
#define WEFT_VECTORS_H

#include "weft/sample.h"

#include <stdint.h>

/* Word vectors, from a file or drawn at random. */
typedef struct weft_vectors {
    int d;
    float *value;  /* [n][d] of the words of a vocabulary */
    int64_t found; /* number of words of the vocabulary that are in the file */
} weft_vectors;
/* Vectors of a vocabulary's words, in mem. path: file of word2vec, in its binary or its
 * text form, which is recognised by its contents; words with blanks in them are counted and
 * not used. A word gets the vector of the same word
 * of the file, or else of the first one that is it when lower-cased. Words that are not in
 * the file, and all words if path is empty, get d random numbers from U(-0.25, 0.25), a
 * function of seed and word. With a path, d is that of the file. EFILE; EDATA: truncated,
 * or another kind of file. Cost: one pass over the file. */
WEFT_CHECKED weft_status weft_vectors_read(const weft_vocab *vocab, const char *path, int d,
                                           uint64_t seed, weft_vectors *out,
                                           weft_arena *mem);

#endif
