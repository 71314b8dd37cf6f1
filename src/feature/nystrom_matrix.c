/* Products with Nystrom features. Sums over rows are of blocks of rows, rounded to a common
 * unit and added exactly. */
#include "nystrom.h"
#include "weft/exact.h"
#include "weft/gemm.h"

#include <math.h>
#include <string.h>

/* w[c][ldw], m numbers each, for weft_deep_times. */
static void *pack(int64_t m, int c, const real *w, size_t ldw, weft_arena *tmp)
{
    void *packed = weft_arena_alloc(tmp, 1, weft_packed_bytes((int)m, c));
    nystrom_pack((int)m, c, w, ldw, packed);
    return packed;
}

/* Features of rows [i, i + n) that are not all 0; as many as `unit` times a number, or all.
 */
static int64_t features_of(const nystrom_matrix *nystrom, int64_t i, int n, int unit)
{
    int64_t need = (nystrom->lower + i + n + unit - 1) / unit * unit;
    return need < nystrom->basis.m ? need : nystrom->basis.m;
}

/* z <- a[n][ld] w^T by the first m numbers of each row, for the packed w; out[n][c]. */
static void multiply(const nystrom_basis *basis, int n, const real *a, int64_t m, int c,
                     const void *packed, int64_t apart, real *z, real *out)
{
    weft_deep_times(n, a, basis->ld, (int)m, c, packed, out, (size_t)c);
    for (int r = 0; r < n; r++)
        for (int j = 0; j < c; j++) z[j * apart + r] = out[r * c + j];
}

/* Blocks of rows by w[c][d]: the features of training rows, the kernel of others. */
static void times(const weft_matrix *matrix, int c, const real *w, real *z)
{
    const nystrom_matrix *nystrom = matrix->self;
    const nystrom_basis *basis = &nystrom->basis;
    weft_arena *tmp = weft_arena_new();
    void *packed = pack(basis->m, c, w, (size_t)matrix->d, tmp);
    real *x = WEFT_NEW(tmp, real, WEFT_BLOCK * (int64_t)basis->d),
         *k = WEFT_NEW(tmp, real, nystrom->f ? 0 : WEFT_BLOCK * basis->ld),
         *out = WEFT_NEW(tmp, real, WEFT_BLOCK * c);
    for (int64_t i = 0; i < matrix->n; i += WEFT_BLOCK) {
        int n = matrix->n - i < WEFT_BLOCK ? (int)(matrix->n - i) : WEFT_BLOCK;
        if (!nystrom->f) {
            nystrom_rows(basis, nystrom->rows, i, n, x);
            nystrom_kernel(nystrom->map, basis, n, x, -1, k, basis->ld, tmp);
        }
        const real *f = nystrom->f ? nystrom->f + (size_t)i * basis->ld : k;
        int64_t m = nystrom->f ? features_of(nystrom, i, n, WEFT_DEEP) : basis->m;
        multiply(basis, n, f, m, c, packed, matrix->n, z + i, out);
    }
    weft_arena_free(tmp);
}

/* Coefficients of the kernel's rows: L^-T w. */
static void finish(const weft_matrix *matrix, int c, real *w)
{
    const nystrom_matrix *nystrom = matrix->self;
    weft_arena *tmp = weft_arena_new();
    for (int j = 0; j < c; j++)
        nystrom_solve(&nystrom->basis, w + j * matrix->d, w + j * matrix->d, tmp);
    weft_arena_free(tmp);
}

static void trans(const weft_matrix *matrix, int c, const real *z, double *g)
{
    const nystrom_matrix *nystrom = matrix->self;
    int64_t m = nystrom->basis.m, n = matrix->n;
    size_t ld = nystrom->basis.ld;
    double bound = nystrom->largest * (double)matrix->total *
                   weft_largest(matrix->team, z, (size_t)(c * n));
    int scale = weft_exact_scale(bound);
    weft_arena *tmp = weft_arena_new();
    real *part = WEFT_NEW(tmp, real, c * m), *own = WEFT_NEW(tmp, real, WEFT_BLOCK * c);
    double *sum = WEFT_NEW(tmp, double, c *m);
    for (int64_t i = 0; i < n; i += WEFT_BLOCK) {
        int rows = n - i < WEFT_BLOCK ? (int)(n - i) : WEFT_BLOCK;
        for (int r = 0; r < rows; r++)
            for (int j = 0; j < c; j++) own[r * c + j] = z[j * n + i + r];
        int64_t some = features_of(nystrom, i, rows, 1);
        weft_outer(rows, c, own, (size_t)c, (int)some, nystrom->f + (size_t)i * ld, ld, 0,
                   part, (size_t)m, tmp);
        for (int j = 0; j < c; j++) weft_exact_add(some, part + j * m, scale, sum + j * m);
    }
    weft_sum_whole_f64(matrix->team, sum, (size_t)(c * m));
    double unit = isfinite(bound) ? ldexp(1, -scale) : NAN;
    memset(g, 0, (size_t)(c * matrix->d) * sizeof *g);
    for (int j = 0; j < c; j++)
        for (int64_t k = 0; k < m; k++) g[j * matrix->d + k] = sum[j * m + k] * unit;
    weft_arena_free(tmp);
}

void nystrom_matrix_vtable(weft_matrix *matrix)
{
    const nystrom_matrix *nystrom = matrix->self;
    matrix->times = times;
    if (!nystrom->f) return;
    matrix->trans = trans;
    matrix->normal = weft_matrix_normal;
    matrix->sums = weft_matrix_sums;
    matrix->finish = finish;
}
