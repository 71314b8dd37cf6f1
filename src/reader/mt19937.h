/* Mersenne Twister and normal numbers as in numpy's RandomState, for data sets that are
 * defined by its stream, and LEAF's generator of one. Everything else draws keyed numbers
 * (weft_rng_at). Private to reader.
 */
#ifndef WEFT_READER_MT19937_H
#define WEFT_READER_MT19937_H

#include "weft/base/base.h"

#include <stdint.h>

#define WEFT_MT_WORDS 624

typedef struct weft_twister {
    uint32_t word[WEFT_MT_WORDS];
    int at;       /* words used of this batch */
    int kept;     /* 1: `spare` is the next normal number */
    double spare; /* the first of a pair, of which the second was returned */
} weft_twister;

/* numpy.random.seed(seed) */
void weft_twister_seed(weft_twister *twister, uint32_t seed);
uint32_t weft_twister_word(weft_twister *twister);
/* numpy.random.random_sample(): 53 bits in [0, 1). */
double weft_twister_unit(weft_twister *twister);
/* numpy.random.standard_normal(); the bits are those of numpy if log rounds as there. */
double weft_twister_normal(weft_twister *twister);

/* LEAF's generator: how many samples its clients have (numpy's seed), then client by
 * client, in that order, their samples x[n][d] and label[n]. */
typedef struct weft_leafgen weft_leafgen;
void weft_leafgen_sizes(uint32_t seed, int64_t clients, int64_t *size);
weft_leafgen *weft_leafgen_new(uint32_t seed, int d, int classes, int clusters,
                               weft_arena *mem);
void weft_leafgen_client(weft_leafgen *leafgen, int64_t n, double *x, int32_t *label);

#endif
