/* Products with sparse rows for tests of models: f->self is a weft_sparse of this rank's
 * rows. Sums over rows are exact. */
#ifndef ROWS_H
#define ROWS_H

#include "weft/feature/feature.h"
#include "weft/math/linear.h"

#include "tap.h"

static void rows_times(const weft_matrix *matrix, int c, const real *w, real *z)
{
    for (int k = 0; k < c; k++)
        for (int64_t i = 0; i < matrix->n; i++)
            z[k * matrix->n + i] =
                (real)weft_sparse_dot(matrix->self, i, w + k * matrix->d);
}

static void rows_trans(const weft_matrix *matrix, int c, const real *z, double *g)
{
    const weft_sparse *x = matrix->self;
    weft_arena *tmp = weft_arena_new();
    int64_t *sum = WEFT_NEW(tmp, int64_t, c * matrix->d);
    double entry = weft_sparse_largest(x);
    weft_max_f64(matrix->team, &entry, 1);
    double bound = weft_largest(matrix->team, z, (size_t)(c * matrix->n)) * entry *
                   (double)matrix->total;
    int scale = weft_fix_scale(bound);
    for (int k = 0; k < c && isfinite(bound); k++)
        for (int64_t i = 0; i < matrix->n; i++)
            for (int64_t e = x->first[i]; e < x->first[i + 1]; e++)
                sum[k * matrix->d + x->column[e]] +=
                    weft_fix((double)z[k * matrix->n + i] * (double)x->value[e], scale);
    weft_sum_whole(matrix->team, sum, (size_t)(c * matrix->d), scale, bound, g);
    weft_arena_free(tmp);
}

/* x has `total` rows over the team, of d columns. */
static weft_matrix rows_matrix(const weft_sparse *x, int64_t total, int64_t d)
{
    return (weft_matrix){.n = x->n,
                         .total = total,
                         .d = d,
                         .team = &world,
                         .times = rows_times,
                         .trans = rows_trans,
                         .normal = weft_matrix_normal,
                         .sums = weft_matrix_sums,
                         .self = x};
}

#endif
