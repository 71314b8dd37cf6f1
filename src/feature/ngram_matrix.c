/* Products with sparse rows of hashed n-grams, whose columns are bins, and all rows on one
 * rank; products that any matrix can have by its others. */
#include "ngram.h"
#include "weft/math/linear.h"

#include <math.h>
#include <string.h>

/* ---- products of any matrix ---- */

void weft_matrix_normal(const weft_matrix *matrix, int c, const real *w, const real *h,
                        int own, double *g)
{
    (void)own; /* all columns, on all ranks */
    WEFT_SCRATCH(tmp);
    real *z = WEFT_NEW(tmp, real, c * matrix->n);
    matrix->times(matrix, c, w, z);
    for (int64_t i = 0; h && i < c * matrix->n; i++) z[i] *= h[i];
    matrix->trans(matrix, c, z, g);
}

void weft_matrix_sums(const weft_matrix *matrix, double *sum)
{
    WEFT_SCRATCH(tmp);
    real *one = WEFT_NEW(tmp, real, matrix->n);
    for (int64_t i = 0; i < matrix->n; i++) one[i] = 1;
    matrix->trans(matrix, 1, one, sum);
}

/* ---- sparse rows ---- */

/* The columns that occur in rows, numbered by their first occurrence. */
struct occurring {
    weft_sparse x; /* the rows, with these numbers as columns */
    uint32_t *of;  /* [d] number of a column, counted from 1; 0: does not occur */
    int64_t n;
};

static struct occurring occurring_new(const weft_matrix *matrix, weft_arena *mem)
{
    const weft_sparse *sparse = matrix->rows;
    uint32_t *column = WEFT_NEW(mem, uint32_t, sparse->first[sparse->n]);
    struct occurring occurring = {.x = *sparse, .of = WEFT_NEW(mem, uint32_t, matrix->d)};
    occurring.x.column = column;
    for (int64_t e = 0; e < sparse->first[sparse->n]; e++) {
        uint32_t *of = occurring.of + sparse->column[e];
        if (*of == 0) *of = (uint32_t)++occurring.n;
        column[e] = *of - 1;
    }
    return occurring;
}

/* side[occurring->n][wide] <- c vectors w[c][d] side by side, those of a block of columns
 * together: vectors that are a power of two apart would displace each other from cache. */
static void put_side_by_side(const struct occurring *occurring, int64_t d, int c,
                             const real *w, int wide, real *side)
{
    enum { BLOCK = 128 };
    uint32_t column[BLOCK];
    for (int64_t j = 0; j < d;) {
        int n = 0;
        for (; j < d && n < BLOCK; j++) {
            column[n] = (uint32_t)j;
            n += occurring->of[j] != 0;
        }
        for (int k = 0; k < c; k++)
            for (int i = 0; i < n; i++)
                side[(int64_t)(occurring->of[column[i]] - 1) * wide + k] =
                    w[k * d + column[i]];
    }
}

/* Several vectors: an entry then reads adjacent weights of all of them. */
static void times_many(const weft_matrix *matrix, int c, const real *w, real *z)
{
    WEFT_SCRATCH(tmp);
    const struct occurring occurring = occurring_new(matrix, tmp);
    int most = (c + 3) / 4 * 4, wide = most < WEFT_SPARSE_WIDE ? most : WEFT_SPARSE_WIDE;
    real *side = WEFT_NEW(tmp, real, occurring.n * wide);
    double sum[WEFT_SPARSE_WIDE];
    for (int from = 0; from < c; from += wide) {
        int k = c - from < wide ? c - from : wide;
        put_side_by_side(&occurring, matrix->d, k, w + from * matrix->d, wide, side);
        for (int64_t i = 0; i < matrix->n; i++) {
            weft_sparse_dots(&occurring.x, i, wide, side, sum);
            for (int j = 0; j < k; j++) z[(from + j) * matrix->n + i] = (real)sum[j];
        }
    }
}

static void times(const weft_matrix *matrix, int c, const real *w, real *z)
{
    if (c > 2) {
        times_many(matrix, c, w, z);
        return;
    }
    for (int k = 0; k < c; k++) {
        for (int64_t i = 0; i < matrix->n; i++)
            z[k * matrix->n + i] =
                (real)weft_sparse_dot(matrix->rows, i, w + k * matrix->d);
    }
}

/* g[d] = sum over all ranks' rows of z[i] times the entries. Every column has at most one
 * entry a row, which bounds its sum. NaN where that is not finite. Collective. */
static void sum_rows(const weft_matrix *matrix, const real *z, double *g)
{
    const weft_sparse *sparse = matrix->rows;
    double entry = *(const double *)matrix->self; /* largest magnitude */
    WEFT_SCRATCH(tmp);
    int64_t *sum = WEFT_NEW(tmp, int64_t, matrix->d);
    double most = weft_largest(matrix->team, z, (size_t)matrix->n);
    double bound = most * entry * (double)matrix->total;
    int scale = weft_fix_scale(bound);
    double unit = ldexp(1, scale);
    for (int64_t i = 0; i < matrix->n && isfinite(bound); i++) {
        double zi = (double)z[i] * unit;
        for (int64_t e = sparse->first[i]; e < sparse->first[i + 1]; e++)
            sum[sparse->column[e]] += (int64_t)(zi * (double)sparse->value[e]);
    }
    weft_sum_whole(matrix->team, sum, (size_t)matrix->d, scale, bound, g);
}

static void trans(const weft_matrix *matrix, int c, const real *z, double *g)
{
    for (int k = 0; k < c; k++) sum_rows(matrix, z + k * matrix->n, g + k * matrix->d);
}

/* ---- on one rank ---- */

/* All ranks' items of `size` bytes, n of this rank's, on rank owner in the order of ranks.
 * Collective. */
static void *collect(weft_team *team, int owner, const void *items, int64_t n, size_t size,
                     weft_arena *mem)
{
    int64_t *to = WEFT_NEW(mem, int64_t, team->size), all;
    to[owner] = n;
    return weft_exchange_items(team, items, to, size, &all, mem);
}

/* As weft_matrix.gather: all rows on one rank, for fits that run on a single rank; several
 * ranks then do one fit each at the same time. */
static const int32_t *gather(const weft_matrix *matrix, const int32_t *label, int owner,
                             weft_team *alone, weft_matrix *whole, weft_arena *mem)
{
    weft_team *team = matrix->team;
    const weft_sparse *x = matrix->rows;
    int64_t entries = x->first[x->n], *length = WEFT_NEW(mem, int64_t, x->n);
    for (int64_t i = 0; i < x->n; i++) length[i] = x->first[i + 1] - x->first[i];
    const int64_t *all = collect(team, owner, length, x->n, sizeof *all, mem);
    int64_t n = team->rank == owner ? matrix->total : 0;
    int64_t *first = WEFT_NEW(mem, int64_t, n + 1);
    for (int64_t i = 0; i < n; i++) first[i + 1] = first[i] + all[i];
    weft_sparse *y = WEFT_NEW(mem, weft_sparse, 1);
    *y = (weft_sparse){.n = n, .first = first};
    y->column = collect(team, owner, x->column, entries, sizeof *x->column, mem);
    y->value = collect(team, owner, x->value, entries, sizeof *x->value, mem);
    double *bound = WEFT_NEW(mem, double, 1); /* as in ngram_matrix */
    memcpy(bound, matrix->self, sizeof *bound);
    *whole = *matrix;
    whole->n = whole->total = n;
    whole->team = alone;
    whole->rows = y;
    whole->group = NULL;
    whole->self = bound;
    return collect(team, owner, label, x->n, sizeof *label, mem);
}

/* ---- the matrix ---- */

void ngram_matrix(const weft_request *request, const ngram_rows *counts,
                  weft_matrix *matrix, weft_arena *tmp)
{
    weft_sparse *rows = WEFT_NEW(tmp, weft_sparse, 1);
    double *bound = WEFT_NEW(tmp, double, 1);
    *rows = (weft_sparse){.n = counts->n,
                          .first = counts->first,
                          .column = counts->bin,
                          .value = counts->value};
    *bound = weft_sparse_largest(rows);
    weft_max_f64(matrix->team, bound, 1);
    matrix->d = counts->bins;
    matrix->rows = rows;
    const ngram_map *any = request->arms[0];
    matrix->group =
        any->hash == NGRAM_PER_MAP ? request->arm : NULL; /* else maps share their bins */
    matrix->ngroup = request->narm;
    matrix->self = bound;
    matrix->times = times;
    matrix->trans = trans;
    matrix->normal = weft_matrix_normal;
    matrix->sums = weft_matrix_sums;
    matrix->gather = gather;
}
