/* Block vectors dealt to ranks by columns: products, combinations, orthonormal bases. */
#include "ridge_block.h"

#include "ridge.h"

#include <math.h>
#include <string.h>

/* Of fewer blocks of columns each rank computes all. */
enum { DEALT = 64 };

/* A vector whose length after orthogonalisation is less than this share is rounding error,
 * since products are rounded to `real`. */
static const double min_length = 1e-6;

/* Vectors are orthogonal to about 1e-15 over the square of the least such share; below this
 * square they are orthonormalised once more. */
static const double enough = 1e-6;

static int64_t blocks_of(int64_t d)
{
    return (d + WEFT_BLOCK - 1) / WEFT_BLOCK;
}

block_space block_space_new(weft_team *team, int64_t d, weft_arena *tmp)
{
    block_space space = {.d = d, .end = d, .team = team, .tmp = tmp};
    space.dealt = team->size > 1 && blocks_of(d) >= DEALT;
    if (!space.dealt) return space;
    int64_t count;
    weft_deal(d, team->rank, team->size, &space.first, &count);
    space.end = space.first + count;
    return space;
}

/* Columns of the own block that begins at k. */
static int64_t width(const block_space *space, int64_t k)
{
    return space->end - k < WEFT_BLOCK ? space->end - k : WEFT_BLOCK;
}

/* ---- sums over columns ---- */

block_sums block_sums_new(const block_space *space, int n)
{
    return (block_sums){.n = n,
                        .of = WEFT_NEW(space->tmp, double, blocks_of(space->d) * n)};
}

void block_inner(const block_space *space, block_sums *sums, int at, int p, const double *a,
                 int c, const double *b)
{
    for (int64_t k = space->first; k < space->end; k += WEFT_BLOCK) {
        double *sum = sums->of + k / WEFT_BLOCK * sums->n + at;
        for (int i = 0; i < p; i++)
            for (int j = 0; j < c; j++)
                sum[i * c + j] =
                    ridge_dot(width(space, k), a + i * space->d + k, b + j * space->d + k);
    }
}

void block_classes(const block_space *space, block_sums *sums, int at, int c,
                   const double *a, const double *b)
{
    double x[WEFT_BLOCK], y[WEFT_BLOCK];
    for (int64_t k = space->first; k < space->end; k += WEFT_BLOCK) {
        double *sum = sums->of + k / WEFT_BLOCK * sums->n + at;
        memset(x, 0, sizeof x);
        memset(y, 0, sizeof y);
        for (int j = 0; j < c; j++) {
            const double *aj = a + j * space->d + k, *bj = b + j * space->d + k;
            sum[j] = ridge_dot(width(space, k), aj, bj);
            for (int64_t i = 0; i < width(space, k); i++) {
                x[i] += aj[i];
                y[i] += bj[i];
            }
        }
        sum[c] = ridge_dot(width(space, k), x, y);
    }
}

/* All ranks get all of x, of which each has `n` numbers for each of its columns, or for
 * each of its blocks of them. */
static void join(const block_space *space, int blocks, int64_t n, double *x)
{
    size_t mark = weft_arena_mark(space->tmp);
    size_t *bytes = WEFT_NEW(space->tmp, size_t, space->team->size);
    for (int r = 0; r < space->team->size; r++) {
        int64_t first, count;
        weft_deal(space->d, r, space->team->size, &first, &count);
        bytes[r] = (size_t)((blocks ? blocks_of(count) : count) * n) * sizeof *x;
    }
    weft_join_bytes(space->team, x, bytes);
    weft_arena_reset(space->tmp, mark);
}

void block_total(const block_space *space, const block_sums *sums, double *total)
{
    int64_t blocks = blocks_of(space->d), n = sums->n;
    if (space->dealt) join(space, 1, n, sums->of);
    memset(total, 0, (size_t)n * sizeof *total);
    for (int64_t k = 0; k < blocks; k++)
        for (int64_t i = 0; i < n; i++) total[i] += sums->of[k * n + i];
}

/* ---- combinations ---- */

void block_combine(const block_space *space, int p, double sign, const double *g,
                   const double *x, int c, double *y)
{
    for (int64_t k = space->first; k < space->end; k += WEFT_BLOCK)
        for (int j = 0; j < c; j++)
            for (int i = 0; i < p; i++) {
                double scale = sign * g[i * c + j], *to = y + j * space->d + k;
                if (scale == 0) continue;
                const double *from = x + i * space->d + k;
                for (int64_t l = 0; l < width(space, k); l++) to[l] += scale * from[l];
            }
}

void block_share(const block_space *space, int c, double *x)
{
    for (int j = 0; space->dealt && j < c; j++) join(space, 0, 1, x + j * space->d);
}

/* ---- orthonormal bases ---- */

/* Pivoted Cholesky factorization of the Gram matrix g[c][c] of vectors z, scaled to length
 * 1. Rows of t[c][c], as many as returned: t z is orthonormal. *least: the smallest squared
 * share of its length that a vector kept. */
static int factor(int c, const double *g, double *t, double *least, weft_arena *tmp)
{
    size_t mark = weft_arena_mark(tmp);
    double *scale = WEFT_NEW(tmp, double, c), *rest = WEFT_NEW(tmp, double, c);
    double *l = WEFT_NEW(tmp, double, c *c);
    for (int i = 0; i < c; i++) {
        double square = g[i * c + i];
        rest[i] = square > 0 && isfinite(square);
        scale[i] = rest[i] > 0 ? 1 / sqrt(square) : 0;
    }
    *least = 1;
    int n = 0;
    for (; n < c; n++) {
        int i = 0;
        for (int j = 1; j < c; j++)
            if (rest[j] > rest[i]) i = j;
        if (!(rest[i] > min_length * min_length)) break;
        *least = fmin(*least, rest[i]);
        double root = sqrt(rest[i]), *row = t + n * c;
        memset(row, 0, (size_t)c * sizeof *row);
        row[i] = scale[i] / root;
        for (int k = 0; k < n; k++)
            for (int j = 0; j < c; j++) row[j] -= l[i * c + k] / root * t[k * c + j];
        rest[i] = 0;
        for (int j = 0; j < c; j++) {
            if (!(rest[j] > 0)) continue;
            double sum = scale[i] * g[i * c + j] * scale[j];
            for (int k = 0; k < n; k++) sum -= l[i * c + k] * l[j * c + k];
            l[j * c + n] = sum / root;
            rest[j] -= l[j * c + n] * l[j * c + n];
        }
    }
    weft_arena_reset(tmp, mark);
    return n;
}

/* p <- n orthonormal vectors that span z[c][d]; returns n. Collective. */
static int orthonormalise(const block_space *space, int c, const double *z, double *p,
                          double *least)
{
    size_t mark = weft_arena_mark(space->tmp);
    double *g = WEFT_NEW(space->tmp, double, c *c), *t = WEFT_NEW(space->tmp, double, c *c);
    block_sums sums = block_sums_new(space, c * c);
    block_inner(space, &sums, 0, c, z, c, z);
    block_total(space, &sums, g);
    int n = factor(c, g, t, least, space->tmp);
    for (int i = 0; i < c; i++) /* transposed, for block_combine */
        for (int k = 0; k < n; k++) g[i * n + k] = t[k * c + i];
    for (int k = 0; k < n; k++)
        memset(p + k * space->d + space->first, 0,
               (size_t)(space->end - space->first) * sizeof *p);
    block_combine(space, c, 1, g, z, n, p);
    weft_arena_reset(space->tmp, mark);
    return n;
}

/* Cholesky QR of the Gram matrix, repeated where vectors nearly depend on each other. */
int block_basis(const block_space *space, int c, double *z, double *p, real *rounded)
{
    double least;
    size_t own = (size_t)(space->end - space->first);
    int n = orthonormalise(space, c, z, p, &least);
    if (least < enough) {
        for (int k = 0; k < n; k++)
            memcpy(z + k * space->d + space->first, p + k * space->d + space->first,
                   own * sizeof *z);
        n = orthonormalise(space, n, z, p, &least);
    }
    for (int j = 0; j < n; j++)
        for (int64_t k = j * space->d + space->first; k < j * space->d + space->end; k++) {
            rounded[k] = (real)p[k];
            p[k] = (double)rounded[k];
        }
    if (!space->dealt || n == 0) return n;
    weft_parts_buffer(space->team, (size_t)(n * space->d) * sizeof *rounded);
    weft_parts_join(space->team, rounded, n, (size_t)space->d);
    return n;
}
