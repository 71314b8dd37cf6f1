/* Random projections of rows of bytes, of sparse rows, and of rows of numbers. */
#ifndef WEFT_PROJECT_H
#define WEFT_PROJECT_H

#include <stddef.h>
#include <stdint.h>

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

#endif
