/* Cholesky's factor of a kernel, in blocks of columns whose products do not depend on the
 * CPU; and solutions with it. */
#include "nystrom.h"
#include "weft/gemm.h"

#include <math.h>
#include <string.h>

enum { WIDE = 64 }; /* columns of a block, a multiple of WEFT_WHOLE */

/* The factor t[n][WIDE] of a block on the diagonal, and its inverse. 0: it is not positive
 * definite. */
static int factor_block(int n, double (*t)[WIDE], double (*inverse)[WIDE])
{
    for (int j = 0; j < n; j++) {
        for (int k = 0; k < j; k++) t[j][j] -= t[j][k] * t[j][k];
        if (!(t[j][j] > 0)) return 0;
        t[j][j] = sqrt(t[j][j]);
        for (int i = j + 1; i < n; i++) {
            for (int k = 0; k < j; k++) t[i][j] -= t[i][k] * t[j][k];
            t[i][j] /= t[j][j];
        }
    }
    memset(inverse, 0, WIDE * sizeof *inverse);
    for (int j = 0; j < n; j++)
        for (int i = j; i < n; i++) {
            double sum = i == j;
            for (int k = j; k < i; k++) sum -= t[i][k] * inverse[k][j];
            inverse[i][j] = sum / t[i][i];
        }
    return 1;
}

/* a[rows][n] at column k -= what the columns before it explain: their products with the
 * rows k .. k + n of the factor, the first of a. */
static void reduce(int64_t rows, int n, int64_t k, real *a, size_t ld, void *packed,
                   real *c)
{
    nystrom_pack((int)k, n, a, ld, packed);
    weft_deep_times((int)rows, a, ld, (int)k, n, packed, c, WIDE);
    for (int64_t i = 0; i < rows; i++)
        for (int j = 0; j < n; j++) a[(size_t)i * ld + (size_t)(k + j)] -= c[i * WIDE + j];
}

/* a[rows][n] at column k <- itself times the transpose of the inverse. */
static void divide(int64_t rows, int n, int64_t k, double (*inverse)[WIDE], real *a,
                   size_t ld, void *packed, real *c)
{
    real own[WIDE * WIDE];
    weft_packed times;
    for (int i = 0; i < n; i++)
        for (int j = 0; j < n; j++) own[i * WIDE + j] = (real)inverse[i][j];
    weft_packed_pack(&times, n, n, own, WIDE, 1, packed);
    weft_packed_times((int)rows, a + k, ld, &times, 0, c, WIDE);
    for (int64_t i = 0; i < rows; i++)
        memcpy(a + (size_t)i * ld + k, c + i * WIDE, (size_t)n * sizeof *a);
}

int nystrom_factor(int64_t m, int64_t more, real *a, size_t ld, weft_arena *tmp)
{
    size_t mark = weft_arena_mark(tmp);
    void *packed = weft_arena_alloc(tmp, 1, weft_packed_bytes((int)m, WIDE) + 4096);
    real *c = WEFT_NEW(tmp, real, (m + more) * WIDE);
    double(*t)[WIDE] = weft_arena_alloc(tmp, WIDE, sizeof *t),
    (*inverse)[WIDE] = weft_arena_alloc(tmp, WIDE, sizeof *inverse);
    int definite = 1;
    for (int64_t k = 0; k < m && definite; k += WIDE) {
        int n = m - k < WIDE ? (int)(m - k) : WIDE;
        real *at = a + (size_t)k * ld;
        if (k > 0) reduce(m + more - k, n, k, at, ld, packed, c);
        for (int i = 0; i < n; i++)
            for (int j = 0; j < n; j++)
                t[i][j] = j <= i ? (double)at[(size_t)i * ld + (size_t)(k + j)] : 0;
        definite = factor_block(n, t, inverse);
        for (int i = 0; i < n; i++)
            for (int j = 0; j < n; j++)
                at[(size_t)i * ld + (size_t)(k + j)] = (real)t[i][j];
        for (int i = 0; i < n; i++)
            memset(at + (size_t)i * ld + (size_t)(k + n), 0,
                   (ld - (size_t)(k + n)) * sizeof *at);
        if (definite && m + more > k + n)
            divide(m + more - k - n, n, k, inverse, at + (size_t)n * ld, ld, packed, c);
    }
    weft_arena_reset(tmp, mark);
    return definite;
}

void nystrom_solve(const nystrom_basis *basis, const real *w, real *a, weft_arena *tmp)
{
    size_t mark = weft_arena_mark(tmp);
    double *rest = WEFT_NEW(tmp, double, basis->m);
    for (int64_t i = 0; i < basis->m; i++) rest[i] = (double)w[i];
    for (int64_t i = basis->m - 1; i >= 0; i--) {
        const real *row = basis->factor + (size_t)i * basis->ld;
        double own = rest[i] / (double)row[i];
        a[i] = (real)own;
        for (int64_t j = 0; j < i; j++) rest[j] -= own * (double)row[j];
    }
    weft_arena_reset(tmp, mark);
}
