/* Clients generated from a seed on demand. */
#ifndef WEFT_GENERATOR_H
#define WEFT_GENERATOR_H

#include "weft/clients.h"

#include <stdint.h>

#define WEFT_GENERATOR "linear models, lognormal sizes" /* name of the method in files */

typedef struct weft_generator {
    int64_t seed, clients;
    int64_t d, classes;
    double samples, spread;  /* mean number per client; standard deviation of its
                                logarithm */
    double alpha, beta;      /* how much the models of clients differ, and their inputs */
    double valid, test;      /* shares of a client's samples */
    const double *w;         /* [classes][d + 1] common part of all models, bias last */
    const double *deviation; /* [d] standard deviation of inputs within a client */
} weft_generator;

/* Sets w and deviation, which are common to all clients, from the other members. Cost
 * O(classes d). */
void weft_generator_start(weft_generator *generator, weft_arena *mem);

/* Number of samples of client c in each part; at least five in total. Cost O(1). */
void weft_generator_count(const weft_generator *generator, int64_t c,
                          int64_t count[WEFT_NPART]);

/* The samples of all clients by part. Cost O(clients); O(1) where spread is 0. */
void weft_generator_sizes(const weft_generator *generator, weft_sizes size[WEFT_NPART]);

/* Samples [first, first + n) of client c: x[n][d], label[n]. Cost O((n + classes) d). */
void weft_generator_make(const weft_generator *generator, int64_t c, int64_t first,
                         int64_t n, float *x, int32_t *label, weft_arena *tmp);

#endif
