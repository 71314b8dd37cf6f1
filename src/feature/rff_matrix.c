/* Products with a matrix of byte features. Rows are taken in the fixed blocks of the part,
 * the sums of a block are rounded to a common unit and added exactly, so that every result
 * has the same bits on any number of ranks. Blocks whose bytes are not stored are
 * recomputed in each pass. */
#include "rff.h"
#include "weft/math/kernels.h"

#include <math.h>
#include <string.h>

enum {
    LARGEST = 127,                                /* magnitude of a byte less 128 */
    MAX_TERMS = 130000 / WEFT_BLOCK * WEFT_BLOCK, /* products whose sum fits 32 bits */
    LONG = 16384, /* features of which a block of rows does not stay in the cache: then */
    RUN = 1024,   /* so many rows are used together, at most, while the sums */
    TILE = 2048   /* of so many features do */
};

/* ---- passes over the blocks ---- */

struct pass {
    const rff_matrix *matrix;
    int64_t next, made; /* next block; blocks made so far */
    uint8_t *strip;     /* bytes of blocks [from, made) */
    int64_t from;
    weft_arena *mem;
};

static struct pass pass_open(const rff_matrix *matrix)
{
    return (struct pass){.matrix = matrix, .mem = weft_arena_new()};
}

/* The next block, or blocks of up to `most` rows: their bytes, first row and number of
 * rows; 0 at the end. */
static int pass_run(struct pass *pass, int most, const uint8_t **q, int64_t *i, int *n)
{
    const rff_matrix *matrix = pass->matrix;
    if (pass->next == matrix->blocks) {
        weft_arena_free(pass->mem);
        return 0;
    }
    int64_t b = pass->next;
    int stored = rff_start(matrix, b) < matrix->held;
    *i = rff_start(matrix, b);
    if (!stored && b >= pass->made) {
        pass->from = b;
        pass->made =
            b + matrix->strip < matrix->blocks ? b + matrix->strip : matrix->blocks;
        if (!pass->strip)
            pass->strip = weft_arena_alloc(pass->mem, (size_t)(matrix->strip * WEFT_BLOCK),
                                           matrix->ldq);
        rff_make_bytes(matrix, rff_start(matrix, b), rff_start(matrix, pass->made),
                       pass->strip);
    }
    int64_t end = stored ? matrix->held : rff_start(matrix, pass->made);
    do pass->next++;
    while (rff_start(matrix, pass->next) < end &&
           rff_start(matrix, pass->next + 1) - *i <= most);
    *n = (int)(rff_start(matrix, pass->next) - *i);
    *q = stored ? matrix->q + (size_t)*i * matrix->ldq
                : pass->strip + (size_t)(*i - rff_start(matrix, pass->from)) * matrix->ldq;
    return 1;
}

/* The next block. */
static int pass_next(struct pass *pass, const uint8_t **q, int64_t *i, int *n)
{
    return pass_run(pass, WEFT_BLOCK, q, i, n);
}

/* ---- narrow products ---- */

static void times(const weft_matrix *matrix, int c, const real *w, real *z)
{
    const rff_matrix *rff = matrix->self;
    const uint8_t *q;
    int64_t i;
    int n;
    for (struct pass pass = pass_open(rff); pass_next(&pass, &q, &i, &n);)
        weft_u8_times(n, (int)rff->d, q, rff->ldq, c, w, (size_t)rff->d, z + i,
                      (size_t)rff->n);
    for (int64_t e = 0; e < c * rff->n; e++) z[e] = (real)((double)z[e] * rff->unit);
}

/* g[c][d] = unit * the sum over all ranks of sum[c][d], whole numbers in units of 2^-scale;
 * own 1: the own columns of it, sum is in the buffer of parts. NaN where the bound that
 * gave the scale was not finite. Collective. */
static void sum_up(const weft_matrix *matrix, int c, int own, double *sum, int scale,
                   double bound, double unit, double *g)
{
    int64_t d = matrix->d, first = 0, count = d;
    if (own) weft_deal(d, matrix->team->rank, matrix->team->size, &first, &count);
    if (own)
        weft_parts_sum_whole_f64(matrix->team, sum, c, (size_t)d);
    else
        weft_sum_whole_f64(matrix->team, sum, (size_t)(c * d));
    double each = isfinite(bound) ? ldexp(unit, -scale) : NAN;
    for (int j = 0; j < c; j++)
        for (int64_t k = first; k < first + count; k++)
            g[j * d + k] = sum[j * d + k] * each;
}

/* Rows whose products are summed together. */
static int run_of(const rff_matrix *matrix)
{
    return matrix->d < LONG ? WEFT_BLOCK : RUN;
}

/* sum[c][d] += q^T z of n rows q and z[c][ldz], the products of each block rounded to units
 * of 2^-scale. part[c * TILE] is scratch. */
static void add_products(const rff_matrix *matrix, int n, const uint8_t *q, int c,
                         const real *z, size_t ldz, real *part, int scale, double *sum)
{
    for (int64_t k = 0; k < matrix->d; k += TILE) {
        int columns = (int)(matrix->d - k < TILE ? matrix->d - k : TILE);
        for (int r = 0; r < n; r += WEFT_BLOCK) {
            int rows = n - r < WEFT_BLOCK ? n - r : WEFT_BLOCK;
            memset(part, 0, (size_t)(c * columns) * sizeof *part);
            weft_u8_trans(rows, columns, q + (size_t)r * matrix->ldq + k, matrix->ldq, c,
                          z + r, ldz, part, (size_t)columns);
            for (int j = 0; j < c; j++)
                weft_exact_add(columns, part + j * columns, scale, sum + j * matrix->d + k);
        }
    }
}

static void trans(const weft_matrix *matrix, int c, const real *z, double *g)
{
    const rff_matrix *rff = matrix->self;
    size_t n = (size_t)(c * rff->d);
    double bound = LARGEST * weft_largest(matrix->team, z, (size_t)(c * rff->n)) *
                   (double)matrix->total;
    int scale = weft_exact_scale(bound);
    WEFT_SCRATCH(tmp);
    real *part = WEFT_NEW(tmp, real, c * TILE);
    double *sum = WEFT_NEW(tmp, double, n);
    const uint8_t *q;
    int64_t i;
    int rows;
    for (struct pass pass = pass_open(rff); pass_run(&pass, run_of(rff), &q, &i, &rows);)
        add_products(rff, rows, q, c, z + i, (size_t)rff->n, part, scale, sum);
    sum_up(matrix, c, 0, sum, scale, bound, rff->unit, g);
}

/* Sum of |w|, in vectors. */
static double magnitude(int64_t d, const real *w)
{
    enum { LANES = 16 };
    double sum[LANES] = {0}, total = 0;
    for (int64_t k = 0; k < d / LANES * LANES; k += LANES)
        for (int l = 0; l < LANES; l++) sum[l] += fabs((double)w[k + l]);
    for (int64_t k = d / LANES * LANES; k < d; k++) total += fabs((double)w[k]);
    for (int l = 0; l < LANES; l++) total += sum[l];
    return total;
}

/* A bound on the sums of normal: every row's product with w is at most 127 sum |w|. */
static double normal_bound(const weft_matrix *matrix, int c, const real *w, const real *h)
{
    const rff_matrix *rff = matrix->self;
    double weight = h ? weft_largest(matrix->team, h, (size_t)(c * rff->n)) : 1;
    double most = 0;
    for (int j = 0; j < c; j++) {
        double sum = magnitude(rff->d, w + j * rff->d);
        most = sum <= most || isnan(most) ? most : sum;
    }
    return LARGEST * LARGEST * most * weight * (double)matrix->total;
}

static void normal(const weft_matrix *matrix, int c, const real *w, const real *h, int own,
                   double *g)
{
    const rff_matrix *rff = matrix->self;
    size_t n = (size_t)(c * rff->d);
    double bound = normal_bound(matrix, c, w, h);
    int scale = weft_exact_scale(bound);
    WEFT_SCRATCH(tmp);
    real *part = WEFT_NEW(tmp, real, c * TILE), *z = WEFT_NEW(tmp, real, c * RUN);
    double *sum =
        own ? weft_parts_buffer(matrix->team, n * sizeof *sum) : WEFT_NEW(tmp, double, n);
    if (own) memset(sum, 0, n * sizeof *sum);
    const uint8_t *q;
    int64_t i;
    int rows;
    for (struct pass pass = pass_open(rff); pass_run(&pass, run_of(rff), &q, &i, &rows);) {
        weft_u8_times(rows, (int)rff->d, q, rff->ldq, c, w, (size_t)rff->d, z, RUN);
        for (int j = 0; j < c && h; j++)
            for (int r = 0; r < rows; r++) z[j * RUN + r] *= h[j * rff->n + i + r];
        add_products(rff, rows, q, c, z, RUN, part, scale, sum);
    }
    sum_up(matrix, c, own, sum, scale, bound, rff->unit * rff->unit, g);
}

/* ---- sums and Gram matrices ---- */

static void sums(const weft_matrix *matrix, double *sum)
{
    const rff_matrix *rff = matrix->self;
    size_t d = (size_t)rff->d;
    WEFT_SCRATCH(tmp);
    int64_t *total = WEFT_NEW(tmp, int64_t, d);
    int32_t *part = WEFT_NEW(tmp, int32_t, d);
    const uint8_t *q;
    int64_t i;
    int rows;
    for (struct pass pass = pass_open(rff); pass_next(&pass, &q, &i, &rows);) {
        memset(part, 0, d * sizeof *part);
        for (int r = 0; r < rows; r++)
            for (size_t k = 0; k < d; k++) part[k] += q[(size_t)r * rff->ldq + k] - 128;
        for (size_t k = 0; k < d; k++) total[k] += part[k];
    }
    weft_sum_i64(matrix->team, total, d);
    for (size_t k = 0; k < d; k++) sum[k] = (double)total[k] * rff->unit;
}

/* Products of columns r0.. with columns c0.. over this rank's rows, of which as many as 32
 * bits hold are taken at a time: integer sums do not depend on blocks. */
static void gram_columns(const rff_matrix *matrix, int64_t r0, int64_t nr, int64_t c0,
                         int64_t nc, int64_t *total, weft_arena *tmp)
{
    int32_t *part = WEFT_NEW(tmp, int32_t, nr * nc);
    const uint8_t *q;
    int64_t i;
    int rows;
    for (struct pass pass = pass_open(matrix); pass_run(&pass, MAX_TERMS, &q, &i, &rows);) {
        memset(part, 0, (size_t)(nr * nc) * sizeof *part);
        weft_u8_gram(rows, 0, (int)nr, q + r0, matrix->ldq, (int)nc, q + c0, matrix->ldq,
                     part, (size_t)nc, tmp);
        for (int64_t e = 0; e < nr * nc; e++) total[e] += part[e];
    }
}

/* Copies this rank's rows among [r0, r0 + nr) of the team, whose own begin at
 * `first`, to their places in to[nr][ldq]. */
static void copy_rows(const rff_matrix *matrix, int64_t first, int64_t r0, int64_t nr,
                      uint8_t *to)
{
    const uint8_t *q;
    int64_t i;
    int rows;
    for (struct pass pass = pass_open(matrix); pass_next(&pass, &q, &i, &rows);)
        for (int r = 0; r < rows; r++) {
            int64_t at = first + i + r - r0;
            if (at >= 0 && at < nr)
                memcpy(to + (size_t)at * matrix->ldq, q + (size_t)r * matrix->ldq,
                       matrix->ldq);
        }
}

/* Rows [r0, r0 + nr) of the team on every rank, [nr][ldq]; *mine: the first of this rank's
 * among all. Collective. */
static const uint8_t *gather_rows(const weft_matrix *matrix, int64_t r0, int64_t nr,
                                  int64_t *mine, weft_arena *tmp)
{
    const rff_matrix *rff = matrix->self;
    int64_t *first = WEFT_NEW(tmp, int64_t, matrix->team->size + 1);
    first[matrix->team->rank + 1] = rff->n;
    weft_sum_i64(matrix->team, first, (size_t)matrix->team->size + 1);
    for (int r = 0; r < matrix->team->size; r++) first[r + 1] += first[r];
    *mine = first[matrix->team->rank];
    uint8_t *all = WEFT_NEW(tmp, uint8_t, (size_t)nr * rff->ldq);
    copy_rows(rff, *mine, r0, nr, all);
    for (int r = 0; r < matrix->team->size; r++) {
        int64_t from = first[r] > r0 ? first[r] : r0;
        int64_t to = first[r + 1] < r0 + nr ? first[r + 1] : r0 + nr;
        if (from < to)
            weft_bcast(matrix->team, all + (size_t)(from - r0) * rff->ldq,
                       (size_t)(to - from) * rff->ldq, r);
    }
    return all;
}

/* Products of rows r0.. with rows c0.. of the team. Each rank computes those of its own
 * rows among c0..; rows r0.. are sent to all. Collective. */
static void gram_rows(const weft_matrix *matrix, int64_t r0, int64_t nr, int64_t c0,
                      int64_t nc, int64_t *total, weft_arena *tmp)
{
    const rff_matrix *rff = matrix->self;
    int64_t mine;
    const uint8_t *left = gather_rows(matrix, r0, nr, &mine, tmp);
    int32_t *part = WEFT_NEW(tmp, int32_t, nr * WEFT_BLOCK);
    const uint8_t *q;
    int64_t i;
    int rows;
    for (struct pass pass = pass_open(rff); pass_next(&pass, &q, &i, &rows);) {
        int64_t low = c0 > mine + i ? c0 - mine - i : 0;
        int64_t high = c0 + nc < mine + i + rows ? c0 + nc - mine - i : rows;
        for (int64_t k = 0; k < rff->d && low < high; k += MAX_TERMS) {
            int64_t n = rff->d - k < MAX_TERMS ? rff->d - k : MAX_TERMS;
            memset(part, 0, (size_t)nr * WEFT_BLOCK * sizeof *part);
            weft_u8_gram((int)n, 1, (int)nr, left + k, rff->ldq, (int)(high - low),
                         q + (size_t)low * rff->ldq + k, rff->ldq, part, WEFT_BLOCK, tmp);
            for (int64_t r = 0; r < nr; r++)
                for (int64_t c = low; c < high; c++)
                    total[r * nc + mine + i + c - c0] += part[r * WEFT_BLOCK + c - low];
        }
    }
}

static void gram(const weft_matrix *matrix, int dual, int64_t r0, int64_t nr, int64_t c0,
                 int64_t nc, double *a)
{
    const rff_matrix *rff = matrix->self;
    WEFT_SCRATCH(tmp);
    int64_t *total = WEFT_NEW(tmp, int64_t, nr * nc);
    if (dual)
        gram_rows(matrix, r0, nr, c0, nc, total, tmp);
    else
        gram_columns(rff, r0, nr, c0, nc, total, tmp);
    weft_sum_i64(matrix->team, total, (size_t)(nr * nc));
    for (int64_t e = 0; e < nr * nc; e++) a[e] = (double)total[e] * rff->unit * rff->unit;
}

void rff_matrix_vtable(weft_matrix *matrix)
{
    matrix->times = times;
    matrix->trans = trans;
    matrix->normal = normal;
    matrix->sums = sums;
    matrix->gram = gram;
}
