/* Random numbers as functions of what they are for; hashes; orders at random. */
#ifndef LIBWEFT_BASE_RANDOM_H
#define LIBWEFT_BASE_RANDOM_H

#include "weft/base/base.h"

#include <stddef.h>
#include <stdint.h>

/* ---- rng ---- */

/* A random number is a function of (seed, purpose, identity), never of a stream, the rank
 * or the clock. Philox4x64-10 with key (seed, purpose) and counter (a, b, c, 0); Salmon,
 * Moraes, Dror, Shaw, "Parallel random numbers: as easy as 1, 2, 3", SC 2011. */
typedef enum weft_purpose {
    WEFT_RNG_SPACE = 1, /* configurations: (index, axis's key) */
    WEFT_RNG_ASSIGN,    /* configuration that a training row draws: (trial, job's index,
                           row) */
    WEFT_RNG_VALID,     /* the same for a validation row */
    WEFT_RNG_MATRIX,    /* random projections: (feature, block of inputs, kind) */
    WEFT_RNG_OFFSET,    /* random offsets: (feature) */
    WEFT_RNG_HASH,      /* hash seeds: (map) */
    WEFT_RNG_SPLIT,     /* order in which a data set is split: (sample) */
    WEFT_RNG_DATA,      /* built-in data: (sample, position) */
    WEFT_RNG_TUNER,     /* of tuners: (trial) or (hash, index, axis) */
    WEFT_RNG_SOLVE,     /* of solvers */
    WEFT_RNG_WEIGHTS,   /* initial weights: (tensor, index), word vectors: (word, index,
                           1) */
    WEFT_RNG_COHORT,    /* clients of a round: (round, draw), (round, client, 1) */
    WEFT_RNG_BATCH,     /* order of a client's samples: (round, client, epoch and
                           position) */
    WEFT_RNG_PICK,      /* configuration a client draws: (trial, round, index in the
                           cohort) */
    WEFT_RNG_DROPOUT,   /* dropout masks: key from (round, client, epoch and sample), then
                           unit */
    WEFT_RNG_DEVICE,    /* speed, dropping out ... of a device: (quantity, client, round) */
    WEFT_RNG_CLIENT,    /* generated clients, partitions: (client, sample) */
    WEFT_RNG_TEST,
    WEFT_RNG_WORKER,  /* seeds that workers are given: (round, client, trial) */
    WEFT_RNG_NOISE,   /* words that are left out of a sentence: (step, row, word) */
    WEFT_RNG_ATTACK,  /* who attacks: (-1, client); noise: (round, client, weight) */
    WEFT_RNG_PRIVACY, /* noise of releases, clients of their rounds: (trial, kind and round,
                         place) */
    WEFT_RNG_COMPRESS /* rounding of what is sent: (round, client or -1: server, numbers);
                         places in a sketch: (-1, 0, number) */
} weft_purpose;

typedef struct weft_rng4 {
    uint64_t v[4];
} weft_rng4;
/* The 256 random bits of that seed, purpose and identity (a, b, c). */
weft_rng4 weft_rng_at(uint64_t seed, weft_purpose purpose, uint64_t a, uint64_t b,
                      uint64_t c);
double weft_rng_unit(uint64_t word);                     /* 53 bits in [0, 1) */
void weft_rng_normal(const weft_rng4 *rng, double z[4]); /* four N(0,1), Box-Muller */
/* The first two of these, of v[0] and v[1] alone. */
void weft_rng_normal_pair(const weft_rng4 *rng, double z[2]);

/* ---- hash ---- */

/* 64 bits that depend on every bit of the n bytes and of the seed (XXH3). */
uint64_t weft_hash(const void *bytes, size_t n, uint64_t seed);

/* ---- shuffle ---- */

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
