/* The columns of sparse rows that occur, as a matrix of its own: Newton's vectors over 2^21
 * bins would be mostly zeros where 2^14 occur. Products take several vectors side by side,
 * so that an entry is read once for all of them. Sums over rows are exact: whole numbers in
 * units of 2^-scale (weft_fix_scale), each term cut to one, and columns keep their order,
 * so that the bits of sums over columns are those of a matrix with all of them. */
#include "model.h"

#include <math.h>

/* Private to the matrix. */
struct compact {
    weft_sparse x;  /* rows by the numbers of the columns that occur */
    double largest; /* magnitude of an entry, over all ranks */
    /* scratch, kept because new memory would cost as much as a product */
    real *side;   /* [d][outputs, rounded up] */
    int64_t *sum; /* [d][4] */
    int64_t *one; /* [d] */
};

/* Vectors side by side, those that fill up included. */
static int wide_of(int c)
{
    return (c + 3) / 4 * 4;
}

static void times_some(const weft_matrix *matrix, int c, const real *w, real *z)
{
    const struct compact *compact = matrix->self;
    int wide = wide_of(c);
    double sum[WEFT_SPARSE_WIDE];
    for (int64_t j = 0; j < matrix->d; j++)
        for (int k = 0; k < wide; k++)
            compact->side[j * wide + k] = k < c ? w[k * matrix->d + j] : 0;
    for (int64_t i = 0; i < matrix->n; i++) {
        weft_sparse_dots(matrix->rows, i, wide, compact->side, sum);
        for (int k = 0; k < c; k++) z[k * matrix->n + i] = (real)sum[k];
    }
}

/* z = F w; one or two vectors one after the other. */
static void times(const weft_matrix *matrix, int c, const real *w, real *z)
{
    int64_t n = matrix->n, d = matrix->d;
    if (c > 2) {
        times_some(matrix, c, w, z);
        return;
    }
    for (int k = 0; k < c; k++)
        for (int64_t i = 0; i < n; i++)
            z[k * n + i] = (real)weft_sparse_dot(matrix->rows, i, w + k * d);
}

/* sum[d][4] += four vectors z[4][n], each times its unit, times the entries or their
 * squares. */
static void add_four(const weft_matrix *matrix, int square, const real *const *z,
                     const double *unit, int64_t *sum)
{
    const weft_sparse *x = matrix->rows;
    for (int64_t i = 0; i < x->n; i++) {
        double by[4];
        for (int k = 0; k < 4; k++) by[k] = unit[k] > 0 ? (double)z[k][i] * unit[k] : 0;
        for (int64_t e = x->first[i]; e < x->first[i + 1]; e++) {
            double value = (double)x->value[e] * (square ? (double)x->value[e] : 1);
            int64_t *at = sum + 4 * (int64_t)x->column[e];
            for (int k = 0; k < 4; k++) at[k] += (int64_t)(by[k] * value);
        }
    }
}

static void add_one(const weft_matrix *matrix, int square, const real *z, double unit,
                    int64_t *sum)
{
    const weft_sparse *x = matrix->rows;
    for (int64_t i = 0; i < x->n && unit > 0; i++) {
        double by = (double)z[i] * unit;
        for (int64_t e = x->first[i]; e < x->first[i + 1]; e++) {
            double value = (double)x->value[e] * (square ? (double)x->value[e] : 1);
            sum[x->column[e]] += (int64_t)(by * value);
        }
    }
}

/* g[c][d] = F^T z of c <= 4 vectors over all ranks' rows, or of F's squares. A column has
 * at most one entry a row, which bounds its sum; NaN where that is not finite. Collective.
 */
static void trans_some(const weft_matrix *matrix, int square, int c, const real *z,
                       double *g)
{
    const struct compact *compact = matrix->self;
    int64_t *sum = compact->sum, *one = compact->one;
    int64_t n = matrix->n, d = matrix->d;
    const real *vector[4];
    double bound[4], unit[4] = {0};
    int scale[4], wide = c == 1 ? 1 : 4;
    for (int k = 0; k < 4; k++) {
        vector[k] = z + (k < c ? k : 0) * n;
        if (k >= c) continue;
        double most = weft_largest(matrix->team, vector[k], (size_t)n);
        bound[k] = most * compact->largest * (double)matrix->total;
        if (square) bound[k] *= compact->largest;
        scale[k] = weft_fix_scale(bound[k]);
        if (isfinite(bound[k])) unit[k] = ldexp(1, scale[k]);
    }
    for (int64_t j = 0; j < d * wide; j++) sum[j] = 0;
    if (wide == 1)
        add_one(matrix, square, z, unit[0], sum);
    else
        add_four(matrix, square, vector, unit, sum);
    for (int k = 0; k < c; k++) {
        for (int64_t j = 0; j < d; j++) one[j] = sum[j * wide + k];
        weft_sum_whole(matrix->team, one, (size_t)d, scale[k], bound[k], g + k * d);
    }
}

static void sums_of(const weft_matrix *matrix, int square, int c, const real *z, double *g)
{
    for (int k = 0; k < c; k += 4)
        trans_some(matrix, square, c - k < 4 ? c - k : 4, z + k * matrix->n,
                   g + k * matrix->d);
}

static void trans(const weft_matrix *matrix, int c, const real *z, double *g)
{
    sums_of(matrix, 0, c, z, g);
}

void compact_squares(const weft_matrix *matrix, int c, const real *z, double *g)
{
    sums_of(matrix, 1, c, z, g);
}

weft_matrix compact_new(const weft_matrix *matrix, int outputs, uint32_t **column,
                        weft_arena *mem)
{
    const weft_sparse *sparse = matrix->rows;
    int64_t entries = sparse->first[sparse->n], n = 0;
    int32_t *of = WEFT_NEW(mem, int32_t, matrix->d);
    for (int64_t e = 0; e < entries; e++) of[sparse->column[e]] = 1;
    weft_sum_i32(matrix->team, of, (size_t)matrix->d);
    for (int64_t j = 0; j < matrix->d; j++) n += of[j] > 0;
    uint32_t *name = *column = WEFT_NEW(mem, uint32_t, n),
             *number = WEFT_NEW(mem, uint32_t, entries);
    n = 0;
    for (int64_t j = 0; j < matrix->d; j++) {
        if (of[j] == 0) continue;
        name[n] = (uint32_t)j;
        of[j] = (int32_t)n++;
    }
    for (int64_t e = 0; e < entries; e++) number[e] = (uint32_t)of[sparse->column[e]];
    struct compact *compact = WEFT_NEW(mem, struct compact, 1);
    compact->x = *sparse;
    compact->x.column = number;
    compact->largest = weft_sparse_largest(sparse);
    weft_max_f64(matrix->team, &compact->largest, 1);
    compact->side = WEFT_NEW(mem, real, n * wide_of(outputs));
    compact->sum = WEFT_NEW(mem, int64_t, 4 * n);
    compact->one = WEFT_NEW(mem, int64_t, n);
    return (weft_matrix){.n = matrix->n,
                         .total = matrix->total,
                         .d = n,
                         .team = matrix->team,
                         .times = times,
                         .trans = trans,
                         .normal = weft_matrix_normal,
                         .sums = weft_matrix_sums,
                         .rows = &compact->x,
                         .self = compact};
}
