/* Vectors and matrices: exact sums, named arrays, sparse rows, projections, eigenvalues. */
#ifndef LIBWEFT_MATH_LINEAR_H
#define LIBWEFT_MATH_LINEAR_H

#include "weft/base/base.h"

#include <stddef.h>
#include <stdint.h>

/* ---- finite ---- */

/* Index of the first of x[n] that is not finite, or n. Cost O(n). */
int64_t weft_not_finite(const float *x, int64_t n);

/* ---- student ---- */

/* t with P(|T| < t) = 0.95, Student's distribution of `degrees` >= 1. Cost O(degrees). */
double weft_student(int degrees);

/* ---- exact ---- */

/* Sums that do not depend on the order of their terms: numbers are added as 64-bit integers
 * in units of 2^-scale. `bound` must be at least the sum of all magnitudes over all ranks.
 */
int weft_fix_scale(double bound);      /* 62 - ceil(log2 bound); bound 0: 0 */
int64_t weft_fix(double x, int scale); /* nearest integer to x 2^scale */
double weft_unfix(int64_t x, int scale);

/* The same for long vectors, faster: sum[i] += nearest integer to x[i] 2^scale, which is
 * exact as long as `bound` is at least the sum of magnitudes. (int64_t)sum[i] is then the
 * integer to be summed over ranks. */
int weft_exact_scale(double bound); /* 51 - ceil(log2 bound) */
void weft_exact_add(int64_t n, const real *x, int scale, double *sum);

/* ---- tensor ---- */

/* A tensor in the flat weight vector, row-major. */
typedef struct weft_tensor {
    char name[64]; /* "lstm1.weight_hh" */
    int64_t at;    /* offset */
    int nd;
    int64_t dims[4];
} weft_tensor;
#define WEFT_MAX_TENSORS 256

/* Weights of which a batch reads and changes only a few rows, such as the vectors of words:
 * w + at is [rows][d], and the last of the weights. Row i + 1 belongs to word i, row 0 to
 * no word. */
typedef struct weft_table {
    int64_t at, rows;
    int d;
} weft_table;

/* Numbers of n tensors in all. */
int64_t weft_tensors_size(int n, const weft_tensor *tensor);

/* Sets part[ntensor] to 1 for the tensors that `names` lists with commas between them:
 * "last" (those of the last layer, whose names begin like the last tensor's), "all",
 * "none", or names; *n: their numbers in all. ECONF names section and key. */
WEFT_CHECKED weft_status weft_tensors_choose(const char *section, const char *key,
                                             const char *names, int ntensor,
                                             const weft_tensor *tensor,
                                             char part[WEFT_MAX_TENSORS], int64_t *n);
/* Copy the numbers of the tensors chosen from w[n] to packed, and back. */
void weft_tensors_take(const char *part, int ntensor, const weft_tensor *tensor,
                       const real *w, real *packed);
void weft_tensors_put(const char *part, int ntensor, const weft_tensor *tensor,
                      const real *packed, real *w);

/* ---- sparse ---- */

/* Sparse rows: entry e of row i, first[i] <= e < first[i+1], is value[e] at column[e]. */
typedef struct weft_sparse {
    int64_t n;            /* rows */
    const int64_t *first; /* [n+1] */
    const uint32_t *column;
    const float *value;
} weft_sparse;
/* Dot product of row i with w, in entry order (four partial sums). */
double weft_sparse_dot(const weft_sparse *sparse, int64_t i, const real *w);
/* The same for vectors side by side, w[columns][wide], wide = 1 or a multiple of 4 up to
 * WEFT_SPARSE_WIDE: z[wide] <- dot products, each in entry order (wide = 1: as
 * weft_sparse_dot); w += scale[wide] * row i. */
enum { WEFT_SPARSE_WIDE = 32 };
void weft_sparse_dots(const weft_sparse *sparse, int64_t i, int wide, const real *w,
                      double *z);
void weft_sparse_adds(const weft_sparse *sparse, int64_t i, int wide, const real *scale,
                      real *w);
/* Prefetches the beginning of row i; the hardware prefetches the rest.
 */
void weft_sparse_fetch(const weft_sparse *sparse, int64_t i);
/* |row i|^2. */
double weft_sparse_norm2(const weft_sparse *sparse, int64_t i);
/* Largest magnitude of any value. */
double weft_sparse_largest(const weft_sparse *sparse);

/* sum[d] += the sum of value[e] x[at[e]][ldx] over e < n, each number in the order of e,
 * with one rounding per term. Cost 2 n d. */
void weft_add_rows(int n, const uint32_t *at, const real *value, int d, const real *x,
                   size_t ldx, real *sum);

/* ---- project ---- */

/* Largest magnitude of the integers of a packed matrix: four sums of two products with
 * bytes then fit in 16 bits, which makes the product three times as fast as one of
 * floats. */
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
void weft_s8_pack(weft_s8 *packed, int k, int m, const int8_t *b, size_t ldb,
                  const int32_t *start, void *mem);
/* c[n][ldc] = start + a[n][k] b[k][m], exact in 32 bits for k <= 500000. a unsigned bytes,
 * row stride lda. Cost 2 n k m integer operations. */
void weft_u8s8(int n, const uint8_t *a, int lda, const weft_s8 *b, int32_t *c, int ldc);

/* x[n] <- H x, the Walsh-Hadamard transform, not normalised; n a power of two. */
void weft_fwht(int n, float *x);

/* Sixteen rows at once: sum[16] += the sum of value[e] x[at[e]][16] over e < n, x[][16]. */
void weft_gather16(int n, const uint32_t *at, const float *value, const float *x,
                   float *sum);

/* ---- eigen ---- */

/* All eigenvalues value[n], increasing, of the symmetric matrix a[n][n], of which the lower
 * triangle is read; row i of a becomes the eigenvector of value[i], of length 1. Cost
 * about 9 n^3 flops. */
void weft_eigen(int n, double *a, double *value, weft_arena *tmp);
double weft_eigen_bytes(int n); /* bytes of scratch that weft_eigen takes */

#endif
