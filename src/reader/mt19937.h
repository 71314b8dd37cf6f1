/* Mersenne Twister and normal numbers as in numpy's RandomState, for data sets that are
 * defined by its stream. Everything else draws keyed numbers (weft_rng_at). Private to
 * reader.
 */
#ifndef WEFT_READER_MT19937_H
#define WEFT_READER_MT19937_H

#include <stdint.h>

#define WEFT_MT_WORDS 624

typedef struct weft_mt {
    uint32_t word[WEFT_MT_WORDS];
    int at;       /* words used of this batch */
    int kept;     /* 1: `spare` is the next normal number */
    double spare; /* the first of a pair, of which the second was returned */
} weft_mt;

/* numpy.random.seed(seed) */
void weft_mt_seed(weft_mt *m, uint32_t seed);
uint32_t weft_mt_word(weft_mt *m);
/* numpy.random.random_sample(): 53 bits in [0, 1). */
double weft_mt_unit(weft_mt *m);
/* numpy.random.standard_normal(); the bits are those of numpy if log rounds as there. */
double weft_mt_normal(weft_mt *m);

#endif
