/* Products with sparse rows of hashed n-grams; columns are bins. Called by ngram.c; the
 * products are used by models that do not work on the rows themselves. */
#include <math.h>
#include <string.h>

#include "ngram.h"

static void times(const weft_matrix *f, int c, const real *w, real *z)
{
    for (int k = 0; k < c; k++) {
        for (int64_t i = 0; i < f->n; i++)
            z[k * f->n + i] = (real)weft_sparse_dot(f->rows, i, w + k * f->d);
    }
}

/* g[d] = sum over all ranks' rows of z[i] times the entries. Every column has at most one
 * entry a row, which bounds its sum. NaN where that is not finite. Collective. */
static void sum_rows(const weft_matrix *f, const real *z, double *g)
{
    const weft_sparse *x = f->rows;
    double entry = *(const double *)f->self; /* largest magnitude */
    weft_arena *tmp = weft_arena_new();
    int64_t *sum = WEFT_NEW(tmp, int64_t, f->d);
    double most = weft_largest(f->team, z, (size_t)f->n);
    double bound = most * entry * (double)f->total;
    int scale = weft_fix_scale(bound);
    double unit = ldexp(1, scale);
    for (int64_t i = 0; i < f->n && isfinite(bound); i++) {
        double zi = (double)z[i] * unit;
        for (int64_t e = x->first[i]; e < x->first[i + 1]; e++)
            sum[x->column[e]] += (int64_t)(zi * (double)x->value[e]);
    }
    weft_sum_whole(f->team, sum, (size_t)f->d, scale, bound, g);
    weft_arena_free(tmp);
}

static void trans(const weft_matrix *f, int c, const real *z, double *g)
{
    for (int k = 0; k < c; k++) sum_rows(f, z + k * f->n, g + k * f->d);
}

static void normal(const weft_matrix *f, int c, const real *w, const real *h, int own,
                   double *g)
{
    (void)own; /* all columns, on all ranks */
    weft_arena *tmp = weft_arena_new();
    real *z = WEFT_NEW(tmp, real, c * f->n);
    times(f, c, w, z);
    for (int64_t i = 0; h && i < c * f->n; i++) z[i] *= h[i];
    trans(f, c, z, g);
    weft_arena_free(tmp);
}

static void sums(const weft_matrix *f, double *sum)
{
    weft_arena *tmp = weft_arena_new();
    real *one = WEFT_NEW(tmp, real, f->n);
    for (int64_t i = 0; i < f->n; i++) one[i] = 1;
    sum_rows(f, one, sum);
    weft_arena_free(tmp);
}

void ngram_matrix(const weft_request *q, const ngram_rows *x, weft_matrix *f,
                  weft_arena *tmp)
{
    weft_sparse *rows = WEFT_NEW(tmp, weft_sparse, 1);
    double *bound = WEFT_NEW(tmp, double, 1);
    *rows =
        (weft_sparse){.n = x->n, .first = x->first, .column = x->bin, .value = x->value};
    *bound = weft_sparse_largest(rows);
    weft_max_f64(f->team, bound, 1);
    f->d = x->bins;
    f->rows = rows;
    const ngram *any = q->arms[0];
    f->group = any->hash == NGRAM_PER_MAP ? q->arm : NULL; /* else maps share their bins */
    f->ngroup = q->narm;
    f->self = bound;
    f->times = times;
    f->trans = trans;
    f->normal = normal;
    f->sums = sums;
    f->gather = ngram_gather;
}
