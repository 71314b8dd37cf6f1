/* Inner loops by CPU: products of matrices, of bytes, recurrent cells. */
#ifndef LIBWEFT_MATH_KERNELS_H
#define LIBWEFT_MATH_KERNELS_H

#include "weft/base/base.h"

#include <stddef.h>
#include <stdint.h>

/* ---- cpu ---- */

/* "avx512" or "avx2", on 64-bit ARM "dotprod" or "neon", or "plain": the kernels in use,
 * the widest that this CPU supports, or those that WEFT_KERNEL in the environment names.
 * All give the same bits. */
const char *weft_cpu_kernel(void);
double weft_cpu_sgemm(double seconds);  /* measured GFLOP/s of OpenBLAS sgemm, 1 thread */
double weft_cpu_stream(double seconds); /* measured GB/s of a read of 64 MB */

/* The variable by which a process tells itself, started once more, that it has chosen
 * kernels of OpenBLAS by the other: both are for it alone. */
#define WEFT_CORE        "OPENBLAS_CORETYPE"
#define WEFT_CORE_CHOSEN "WEFT_CORE_CHOSEN"

/* ---- gemm ---- */

/* Matrix b[k][m] packed in panels of columns for weft_packed_times. */
typedef struct weft_packed {
    int k, m;
    const real *packed; /* the kernel's own layout */
} weft_packed;
size_t weft_packed_bytes(int k, int m);
/* Packs b[k][ldb] (trans 0), or the transpose of b[m][ldb] (trans 1), into mem
 * (weft_packed_bytes(k, m), 64-byte aligned), which p then borrows. */
void weft_packed_pack(weft_packed *packed, int k, int m, const real *b, size_t ldb,
                      int trans, void *mem);
/* Packs the transpose of m rows of k numbers, row j at row[j] + at, into mem as above. */
void weft_packed_rows(weft_packed *packed, int k, int m, const real *const *row, int64_t at,
                      void *mem);
/* c[n][ldc] = a[n][lda] b (add 0), or += (add 1). A row of c depends only on that row of a
 * and on b. Cost 2 n k m. */
void weft_packed_times(int n, const real *a, size_t lda, const weft_packed *packed, int add,
                       real *c, size_t ldc);
/* Matrix b[k][m] for weft_deep_times, packed in pieces of WEFT_DEEP rows, so that a column
 * of a piece stays in cache: for k much larger than WEFT_DEEP. */
enum { WEFT_DEEP = 512, WEFT_WHOLE = 32 };
/* Packs columns [j, j + n) of it, given as b[n][ldb] (k numbers each), into mem
 * (weft_packed_bytes(k, m), 64-byte aligned). j a multiple of WEFT_WHOLE, n WEFT_WHOLE or
 * what is left. */
void weft_deep_pack(int k, int m, int j, int n, const real *b, size_t ldb, void *mem);
/* c[n][ldc] = a[n][lda] b. An element of c depends only on its row of a and its column of
 * b: sums over pieces of k, then their sum. k may be a multiple of WEFT_DEEP that is less
 * than that of b, of which the first rows are taken. Fastest where lda is an odd multiple
 * of 64 bytes. Cost 2 n k m. */
void weft_deep_times(int n, const real *a, size_t lda, int k, int m, const void *mem,
                     real *c, size_t ldc);
/* g[k][ldg] = 0 + a^T b (add 0), or += (add 1), a[n][lda] (k columns), b[n][ldb] (m
 * columns), in fixed blocks of rows. n > 0. Cost 2 n k m. */
void weft_outer(int n, int k, const real *a, size_t lda, int m, const real *b, size_t ldb,
                int add, real *g, size_t ldg, weft_arena *tmp);
/* The same, row i of b at b[i]; with few columns of a they are read where they are. */
void weft_outer_rows(int n, int k, const real *a, size_t lda, int m, const real *const *b,
                     int add, real *g, size_t ldg, weft_arena *tmp);

/* ---- bytes ---- */

/* A random feature is stored as one byte: q = 128 + round(127 cos t), cos t ~ (q -
 * 128)/127. q[i] for t = 2 pi (scale x[i] + offset[i]), i < n: in turns. Error of cos below
 * 2e-6 before rounding where |scale x| < 1e4; the products are reduced with the bits of a
 * double. */
void weft_cos_u8_i32(int n, const int32_t *x, double scale, const float *offset,
                     uint8_t *q);
void weft_cos_u8_f32(int n, const float *x, double scale, const float *offset, uint8_t *q);

/* Narrow products with byte features q[n][ldq] (d columns), c classes:
 *   times: z[j][i] = sum_k (q[i][k] - 128) w[j][k],      w[c][ldw], z[c][ldz]
 *   trans: g[j][k] += sum_i (q[i][k] - 128) z[j][i],     g[c][ldg]
 * In times, the result for a row depends only on that row and w; trans adds in the order of
 * rows. */
void weft_u8_times(int n, int d, const uint8_t *q, size_t ldq, int c, const real *w,
                   size_t ldw, real *z, size_t ldz);
void weft_u8_trans(int n, int d, const uint8_t *q, size_t ldq, int c, const real *z,
                   size_t ldz, real *g, size_t ldg);
/* Gram matrices of bytes less 128, exact in 32 bits for n <= 130000:
 *   along 0: g[m][ldg] += a^T b, a[n][lda] (m columns), b[n][ldb] (p columns)
 *   along 1: g[m][ldg] += a b^T, a[m][lda], b[p][ldb] (n columns both)
 * Cost 2 n m p integer operations. */
void weft_u8_gram(int n, int along, int m, const uint8_t *a, size_t lda, int p,
                  const uint8_t *b, size_t ldb, int32_t *g, size_t ldg, weft_arena *tmp);

/* ---- cells ---- */

/* n samples at one step of time, h units. */
typedef struct weft_cells {
    int n, h;
    real *z; /* [n][ldz] gates, blocks of h columns: input, forget, update, output */
    size_t ldz;
    const real *before; /* [n][ld] cells of the step before; NULL: zeros */
    real *c, *y;        /* [n][ld] cells and outputs */
    size_t ld;
} weft_cells;
/* To row i of z adds plus[i][4h], then
 *     z <- sigmoid, sigmoid, tanh, sigmoid of its blocks i, f, g, o;
 *     c = f before + i g;  y = o tanh(c).
 * Relative error of a function below 4e-7. Hochreiter, Schmidhuber 1997; Gers et al. 2000.
 */
void weft_cells_forward(const weft_cells *cells, const real *const *plus);
/* Backward pass. dy[n][ld] is the gradient with respect to y; dc[n][ld] that with respect
 * to c, on return that with respect to `before`. z is as weft_cells_forward left it, on
 * return the gradient with respect to the sums before sigmoid and tanh. Row i of it is also
 * added to into[i][4h]. y is not read. */
void weft_cells_backward(const weft_cells *cells, const real *dy, real *dc,
                         real *const *into);
/* x[n] <- tanh(x). Relative error below 4e-7. */
void weft_tanh_of(int n, real *x);

#endif
