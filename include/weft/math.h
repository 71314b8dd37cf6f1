/* Local numerical kernels, chosen by CPU at run time behind one small interface. No MPI.
 * Vectors and matrices are flat; shapes stand in comments, row-major. */
#ifndef WEFT_MATH_H
#define WEFT_MATH_H

#include "weft/base.h"

/* Rows are dealt to ranks and summed in fixed blocks of this many, whatever the rank count.
 */
#define WEFT_BLOCK 256

/* ---- exact sums --------------------------------------------------------------------- */

/* Sums that do not depend on their order: numbers are added as 64-bit integers in units of
 * 2^-scale, where `bound` is at least the sum of all magnitudes over all ranks. */
int weft_fix_scale(double bound);      /* 62 - ceil(log2 bound); bound 0: 0 */
int64_t weft_fix(double x, int scale); /* nearest integer to x 2^scale */
double weft_unfix(int64_t x, int scale);

/* The same for long vectors, faster: sum[i] += nearest whole number to x[i] 2^scale, exact
 * while the bound of weft_exact_scale holds. (int64_t)sum[i] is then the integer to be
 * summed over ranks. */
int weft_exact_scale(double bound); /* 51 - ceil(log2 bound) */
void weft_exact_add(int64_t n, const real *x, int scale, double *sum);

/* ---- the machine -------------------------------------------------------------------- */

const char *weft_cpu_kernel(void);      /* "avx512vnni", "avx2", "plain": what was chosen */
double weft_cpu_sgemm(double seconds);  /* measured GFLOP/s of OpenBLAS sgemm, 1 thread */
double weft_cpu_stream(double seconds); /* measured GB/s of a read of 64 MB */
/* Prints "name,size,seconds,rate,share" of every kernel below: best time of a call, 1e9
 * operations (cosines; bytes) a second, and how much that is of sgemm's rate in the same
 * run. About 7 seconds, one thread. */
void weft_math_bench(FILE *out);

/* ---- dense kernels for random features ---------------------------------------------- */

/* Integers of a packed matrix are at most this: four products of pairs with bytes then fit
 * 16 bits, which makes the product three times as fast as one of floats. */
#define WEFT_S8_MAX 16

/* Matrix b[k][m] of small integers packed for weft_u8s8, and a first term of each column.
 */
typedef struct weft_s8 {
    int k, m;
    const int8_t *packed; /* the kernel's own layout */
    const int32_t *start; /* [m] */
} weft_s8;
size_t weft_s8_bytes(int k, int m);
/* Packs b, given by columns b[m][ldb], values up to WEFT_S8_MAX either sign, with start[m]
 * (NULL: zeros) into mem (weft_s8_bytes(k, m), 64-byte aligned), which p then borrows. */
void weft_s8_pack(weft_s8 *p, int k, int m, const int8_t *b, size_t ldb,
                  const int32_t *start, void *mem);
/* c[n][ldc] = start + a[n][k] b[k][m], exact in 32 bits for k <= 500000. a unsigned bytes,
 * row stride lda. Cost 2 n k m integer operations. */
void weft_u8s8(int n, const uint8_t *a, int lda, const weft_s8 *b, int32_t *c, int ldc);

/* A random feature is kept as one byte: q = 128 + round(127 cos t), cos t ~ (q - 128)/127.
 * q[i] for t = 2 pi (scale x[i] + offset[i]), i < n: in turns. Error of cos below 2e-6
 * before rounding where |scale x| < 1e4; the products are reduced with the bits of a
 * double. */
void weft_cos_u8_i32(int n, const int32_t *x, double scale, const float *offset,
                     uint8_t *q);
void weft_cos_u8_f32(int n, const float *x, double scale, const float *offset, uint8_t *q);

/* Narrow products with byte features q[n][ldq] (d columns), c classes:
 *   times: z[j][i] = sum_k (q[i][k] - 128) w[j][k],      w[c][ldw], z[c][ldz]
 *   trans: g[j][k] += sum_i (q[i][k] - 128) z[j][i],     g[c][ldg]
 * Result for a row of times depends on that row alone; trans adds in row order. */
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

/* x[n] <- H x, the Walsh-Hadamard transform, not normalised; n a power of two. */
void weft_fwht(int n, float *x);

/* Sixteen rows at once: sum[16] += the sum of value[e] x[at[e]][16] over e < n, x[][16]. */
void weft_gather16(int n, const uint32_t *at, const float *value, const float *x,
                   float *sum);

/* ---- BLAS where BLAS is best -------------------------------------------------------- */

/* c[n][ldc] = a[n][lda] b[m][ldb]^T over k columns, floats. */
void weft_sgemm(int n, int m, int k, const float *a, int lda, const float *b, int ldb,
                float *c, int ldc);

/* ---- products with weights that are used many times
 * -------------------------------------- */

/* Matrix b[k][m] packed in panels of columns for weft_panels_times. */
typedef struct weft_panels {
    int k, m;
    const real *packed; /* the kernel's own layout */
} weft_panels;
size_t weft_panels_bytes(int k, int m);
/* Packs b[k][ldb] (trans 0), or the transpose of b[m][ldb] (trans 1), into mem
 * (weft_panels_bytes(k, m), 64-byte aligned), which p then borrows. */
void weft_panels_pack(weft_panels *p, int k, int m, const real *b, size_t ldb, int trans,
                      void *mem);
/* c[n][ldc] = a[n][lda] b (add 0), or += (add 1). A row of c depends on that row of a
 * alone. Cost 2 n k m. */
void weft_panels_times(int n, const real *a, size_t lda, const weft_panels *b, int add,
                       real *c, size_t ldc);
/* g[k][ldg] += a^T b, a[n][lda] (k columns), b[n][ldb] (m columns). Cost 2 n k m. */
void weft_outer(int n, int k, const real *a, size_t lda, int m, const real *b, size_t ldb,
                real *g, size_t ldg, weft_arena *tmp);

/* ---- sparse rows -------------------------------------------------------------------- */

/* Sparse rows: entry e of row i, first[i] <= e < first[i+1], is value[e] at column[e]. */
typedef struct weft_sparse {
    int64_t n;            /* rows */
    const int64_t *first; /* [n+1] */
    const uint32_t *column;
    const float *value;
} weft_sparse;
/* Dot product of row i with w, in entry order (four partial sums). */
double weft_sparse_dot(const weft_sparse *x, int64_t i, const real *w);
/* w += scale * row i. */
void weft_sparse_add(const weft_sparse *x, int64_t i, real scale, real *w);
/* Asks for row i ahead of its use: its beginning, after which the hardware sees the stream.
 */
void weft_sparse_fetch(const weft_sparse *x, int64_t i);
/* |row i|^2. */
double weft_sparse_norm2(const weft_sparse *x, int64_t i);
/* Largest magnitude of any value. */
double weft_sparse_largest(const weft_sparse *x);

#endif
