/* Clients made from a seed whenever they are asked for. Private to data. */
#ifndef WEFT_DATA_GENERATOR_H
#define WEFT_DATA_GENERATOR_H

#include "reader.h"

#define WEFT_GENERATOR "linear models, lognormal sizes" /* names the method in files */

typedef struct weft_generator {
    int64_t seed, clients;
    int64_t d, classes;
    double samples, spread;  /* mean of a client; standard deviation of log samples */
    double alpha, beta;      /* how clients' models differ, and their inputs */
    double valid, test;      /* shares of a client's samples */
    const double *w;         /* [classes][d + 1] what all models share, bias last */
    const double *deviation; /* [d] of inputs within a client */
} weft_generator;

/* What all clients share, from the numbers before w. Local. Cost O(classes d). */
void weft_generator_start(weft_generator *g, weft_arena *mem);

/* Samples of client c by part; at least five in all. Local. Cost O(1). */
void weft_generator_count(const weft_generator *g, int64_t c, int64_t count[WEFT_NPART]);

/* Samples [first, first + n) of client c: x[n][d], label[n]. Local. Cost O((n + classes)
 * d). */
void weft_generator_make(const weft_generator *g, int64_t c, int64_t first, int64_t n,
                         float *x, int32_t *label, weft_arena *tmp);

/* Tells the packer of a federation that is stored as these numbers alone. */
void weft_pack_generator(weft_pack *p, const weft_generator *g);

#endif
