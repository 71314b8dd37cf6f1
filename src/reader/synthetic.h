/* Built-in data. Private to the reader `synthetic`. */
#ifndef WEFT_READER_SYNTHETIC_H
#define WEFT_READER_SYNTHETIC_H

#include "reader.h"
#include "weft/rng.h"

typedef struct weft_synthetic {
    int64_t seed, rows; /* rows for training; a quarter each for validation and test */
    int classes, d, words;
    int64_t clients;
    int clusters;
    double samples, spread, alpha, beta, valid, test;
} weft_synthetic;

/* The random numbers of item `b` of sample `a`; -1 and below: of the data set as a whole.
 */
static inline weft_rng4 synthetic_rng(const weft_synthetic *synthetic, int64_t a, int64_t b)
{
    return weft_rng_at((uint64_t)synthetic->seed, WEFT_RNG_DATA, (uint64_t)a, (uint64_t)b,
                       0);
}

/* Sample `row` as an image x[d] of class `label`. */
void weft_synthetic_image(const weft_synthetic *synthetic, int64_t row, int label,
                          uint8_t *x);

/* Sample `row` as a text of class `label`, in tmp. */
char *weft_synthetic_document(const weft_synthetic *synthetic, int64_t row, int label,
                              size_t *n, weft_arena *tmp);

/* Packs a federation: "leaf", "generated", "stored". */
WEFT_CHECKED weft_status weft_synthetic_clients(const weft_synthetic *synthetic,
                                                const char *what, weft_pack *pack);

/* LEAF's generator: how many samples its clients have (numpy's seed), then client by
 * client, in that order, their samples x[n][d] and label[n]. */
typedef struct weft_leafgen weft_leafgen;
void weft_leafgen_sizes(uint32_t seed, int64_t clients, int64_t *size);
weft_leafgen *weft_leafgen_new(uint32_t seed, int d, int classes, int clusters,
                               weft_arena *mem);
void weft_leafgen_client(weft_leafgen *leafgen, int64_t n, double *x, int32_t *label);

#endif
