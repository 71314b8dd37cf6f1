/* For tests of models that are computed together in vector lanes. */
#ifndef WEFT_TEST_VECTOR_LANES_H
#define WEFT_TEST_VECTOR_LANES_H

#include "scratch.h"
#include "weft/math/optim.h"

enum { MAX_L = WEFT_MAX_LANES };

static real random_at(uint64_t i, uint64_t j)
{
    return (real)(2 * uniform_of(9, i, j) - 1);
}

static real *randoms(uint64_t key, int64_t n)
{
    real *x = WEFT_NEW(mem, real, n);
    for (int64_t i = 0; i < n; i++) x[i] = random_at(key, (uint64_t)i);
    return x;
}

static int same(const real *a, const real *b, int64_t n)
{
    return memcmp(a, b, (size_t)n * sizeof *a) == 0;
}

/* Options that differ between lanes. */
static weft_sgd options_of(int l, int clip)
{
    return (weft_sgd){.lr = 0.1 * (l + 1),
                      .momentum = l % 3 == 1 ? 0.9 : 0,
                      .weight_decay = l % 4 == 2 ? 0.01 : 0,
                      .mu = l % 2 ? 0.3 : 0,
                      .clip = clip && l % 3 ? 5.0 * (l + 1) : 0};
}

/* Lane l of x[n][lanes]. */
static void lane_of(const real *x, int64_t n, int lanes, int l, real *to)
{
    for (int64_t i = 0; i < n; i++) to[i] = x[i * lanes + l];
}

#endif
