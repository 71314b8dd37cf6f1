/* A small dense matrix for tests of models; every rank has its rows of the products. */
#ifndef WEFT_TEST_DENSE_H
#define WEFT_TEST_DENSE_H

#include "weft/math/linear.h"
#include "weft/model/model.h"

#include "tap.h"

struct dense {
    int64_t first; /* this rank's rows of x */
    double *x;     /* [total][d] */
    double most;   /* largest magnitude in x */
};

static void dense_times(const weft_matrix *matrix, int c, const real *w, real *z)
{
    const struct dense *dense = matrix->self;
    for (int64_t i = 0; i < matrix->n; i++)
        for (int j = 0; j < c; j++) {
            double sum = 0;
            for (int64_t k = 0; k < matrix->d; k++)
                sum += dense->x[(dense->first + i) * matrix->d + k] *
                       (double)w[j * matrix->d + k];
            z[j * matrix->n + i] = (real)sum;
        }
}

/* Blocks of rows are summed in double, blocks exactly. */
static void dense_trans(const weft_matrix *matrix, int c, const real *z, double *g)
{
    const struct dense *dense = matrix->self;
    size_t mark = weft_arena_mark(mem);
    double bound = weft_largest(matrix->team, z, (size_t)(c * matrix->n)) * dense->most *
                   (double)matrix->total;
    int scale = weft_fix_scale(bound);
    int64_t *sum = WEFT_NEW(mem, int64_t, c * matrix->d);
    for (int j = 0; j < c && isfinite(bound); j++)
        for (int64_t k = 0; k < matrix->d; k++)
            for (int64_t b = 0; b < matrix->n; b += WEFT_BLOCK) {
                double block = 0;
                for (int64_t i = b; i < matrix->n && i < b + WEFT_BLOCK; i++)
                    block += dense->x[(dense->first + i) * matrix->d + k] *
                             (double)z[j * matrix->n + i];
                sum[j * matrix->d + k] += weft_fix(block, scale);
            }
    weft_sum_whole(matrix->team, sum, (size_t)(c * matrix->d), scale, bound, g);
    weft_arena_reset(mem, mark);
}

/* Columns of others are not there, so that a model that reads them is found. */
static void dense_normal(const weft_matrix *matrix, int c, const real *w, const real *h,
                         int own, double *g)
{
    size_t mark = weft_arena_mark(mem);
    real *z = WEFT_NEW(mem, real, c * matrix->n);
    dense_times(matrix, c, w, z);
    for (int64_t i = 0; h && i < c * matrix->n; i++) z[i] *= h[i];
    dense_trans(matrix, c, z, g);
    int64_t first = 0, count = matrix->d;
    if (own) weft_deal(matrix->d, matrix->team->rank, matrix->team->size, &first, &count);
    for (int64_t k = 0; k < c * matrix->d; k++)
        if (k % matrix->d < first || k % matrix->d >= first + count) g[k] = NAN;
    weft_arena_reset(mem, mark);
}

static void dense_sums(const weft_matrix *matrix, double *sum)
{
    const struct dense *dense = matrix->self;
    for (int64_t k = 0; k < matrix->d; k++) {
        sum[k] = 0;
        for (int64_t i = 0; i < matrix->total; i++) sum[k] += dense->x[i * matrix->d + k];
    }
}

static void dense_gram(const weft_matrix *matrix, int dual, int64_t r0, int64_t nr,
                       int64_t c0, int64_t nc, double *a)
{
    const struct dense *dense = matrix->self;
    int64_t terms = dual ? matrix->d : matrix->total, along = dual ? 1 : matrix->d,
            across = dual ? matrix->d : 1;
    for (int64_t i = 0; i < nr; i++)
        for (int64_t j = 0; j < nc; j++) {
            double sum = 0;
            for (int64_t k = 0; k < terms; k++)
                sum += dense->x[(r0 + i) * across + k * along] *
                       dense->x[(c0 + j) * across + k * along];
            a[i * nc + j] = sum;
        }
}

static weft_matrix dense_new(struct dense *dense, int64_t total, int64_t d)
{
    weft_matrix matrix = {.total = total,
                          .d = d,
                          .team = &world,
                          .times = dense_times,
                          .trans = dense_trans,
                          .normal = dense_normal,
                          .sums = dense_sums,
                          .gram = dense_gram,
                          .self = dense};
    weft_deal(total, world.rank, world.size, &dense->first, &matrix.n);
    dense->x = WEFT_NEW(mem, double, total *d);
    return matrix;
}

#endif
