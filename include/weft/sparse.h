/* Sparse rows, and their products with dense vectors and matrices. */
#ifndef WEFT_SPARSE_H
#define WEFT_SPARSE_H

#include "weft/real.h"

#include <stddef.h>
#include <stdint.h>

/* Sparse rows: entry e of row i, first[i] <= e < first[i+1], is value[e] at column[e]. */
typedef struct weft_sparse {
    int64_t n;            /* rows */
    const int64_t *first; /* [n+1] */
    const uint32_t *column;
    const float *value;
} weft_sparse;
/* Dot product of row i with w, in entry order (four partial sums). */
double weft_sparse_dot(const weft_sparse *sparse, int64_t i, const real *w);
/* w += scale * row i. */
void weft_sparse_add(const weft_sparse *sparse, int64_t i, real scale, real *w);
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

#endif
