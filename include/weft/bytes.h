/* Random features stored as bytes: their cosines, and products with them. */
#ifndef WEFT_BYTES_H
#define WEFT_BYTES_H

#include "weft/arena.h"
#include "weft/real.h"

#include <stddef.h>
#include <stdint.h>

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

#endif
