/* Tiles of a matrix product, written once for all widths: a tile of `rows` by one or two
 * vectors of c stays in registers while k runs. Included by the kernel_*.c after they have
 * defined V, W, LOAD, STORE, ZERO, SET and FMA as for kernel_simd.h, and
 *   TILE_ROWS  most rows of a tile, 6 or 14, as many as registers allow
 *   ADD(a, b)  sum of vectors */
#include "weft/base/base.h"
#include <stddef.h>
#include <stdint.h>

/* c[rows][ldc] = a b, += where add is 1, 0 + a b where it is -1 (no sum is -0); the element
 * (r, e) of a at a[r next_row + e next_k]; b one panel [k][vectors W], or where it is NULL
 * its row e at row[e] + j. Each sum runs in the order of k, from zero, whatever `rows` is.
 */
INLINE void tile(int rows, int vectors, int k, const real *a, size_t next_row,
                 size_t next_k, const real *b, const real *const *row, int64_t j, int add,
                 real *c, size_t ldc)
{
    V sum[TILE_ROWS][2];
    UNROLL_ROWS for (int r = 0; r < rows; r++) UNROLL for (int v = 0; v < vectors; v++)
        sum[r][v] = ZERO;
    for (int e = 0; e < k; e++) {
        const real *from = b ? b : row[e] + j;
        V x[2];
        UNROLL for (int v = 0; v < vectors; v++) x[v] = LOAD(from + v * W);
        UNROLL_ROWS for (int r = 0; r < rows; r++)
        {
            const V y = SET(a[(size_t)r * next_row]);
            UNROLL for (int v = 0; v < vectors; v++) sum[r][v] = FMA(y, x[v], sum[r][v]);
        }
        a += next_k;
        if (b) b += vectors * W;
    }
    UNROLL_ROWS for (int r = 0; r < rows; r++) UNROLL for (int v = 0; v < vectors; v++)
    {
        real *to = c + (size_t)r * ldc + v * W;
        STORE(to, add == 0 ? sum[r][v] : ADD(add > 0 ? LOAD(to) : ZERO, sum[r][v]));
    }
}

#define TILE(rows)                                                                         \
    static void tile_##rows(int vectors, int k, const real *a, size_t lda, const real *b,  \
                            int add, real *c, size_t ldc)                                  \
    {                                                                                      \
        if (vectors == 2)                                                                  \
            tile(rows, 2, k, a, lda, 1, b, NULL, 0, add, c, ldc);                          \
        else                                                                               \
            tile(rows, 1, k, a, lda, 1, b, NULL, 0, add, c, ldc);                          \
    }                                                                                      \
    static void strip_##rows(int vectors, int n, const real *a, size_t lda, const real *b, \
                             int add, real *c, size_t ldc)                                 \
    {                                                                                      \
        if (vectors == 2)                                                                  \
            tile(rows, 2, n, a, 1, lda, b, NULL, 0, add, c, ldc);                          \
        else                                                                               \
            tile(rows, 1, n, a, 1, lda, b, NULL, 0, add, c, ldc);                          \
    }                                                                                      \
    static void row_strip_##rows(int vectors, int n, const real *a, size_t lda,            \
                                 const real *const *b, int64_t j, int add, real *c,        \
                                 size_t ldc)                                               \
    {                                                                                      \
        if (vectors == 2)                                                                  \
            tile(rows, 2, n, a, 1, lda, NULL, b, j, add, c, ldc);                          \
        else                                                                               \
            tile(rows, 1, n, a, 1, lda, NULL, b, j, add, c, ldc);                          \
    }
TILE(1)
TILE(2)
TILE(3)
TILE(4)
TILE(5)
TILE(6)
#if TILE_ROWS == 14
TILE(7)
TILE(8)
TILE(9)
TILE(10)
TILE(11)
TILE(12)
TILE(13)
TILE(14)
#define MORE(kind)                                                                         \
    , kind##_7, kind##_8, kind##_9, kind##_10, kind##_11, kind##_12, kind##_13, kind##_14
#else
#define MORE(kind)
#endif
#define BY_ROWS(kind)                                                                      \
    {                                                                                      \
        kind##_1, kind##_2, kind##_3, kind##_4, kind##_5, kind##_6 MORE(kind)              \
    }

static void tile_rows(int rows, int vectors, int k, const real *a, size_t lda,
                      const real *b, int add, real *c, size_t ldc)
{
    static void (*const by_rows[TILE_ROWS])(int, int, const real *, size_t, const real *,
                                            int, real *, size_t) = BY_ROWS(tile);
    by_rows[rows - 1](vectors, k, a, lda, b, add, c, ldc);
}

static void strip(int rows, int vectors, int n, const real *a, size_t lda, const real *b,
                  int add, real *c, size_t ldc)
{
    static void (*const by_rows[TILE_ROWS])(int, int, const real *, size_t, const real *,
                                            int, real *, size_t) = BY_ROWS(strip);
    by_rows[rows - 1](vectors, n, a, lda, b, add, c, ldc);
}

static void strip_rows(int rows, int vectors, int n, const real *a, size_t lda,
                       const real *const *b, int64_t j, int add, real *c, size_t ldc)
{
    static void (*const by_rows[TILE_ROWS])(int, int, const real *, size_t,
                                            const real *const *, int64_t, int, real *,
                                            size_t) = BY_ROWS(row_strip);
    by_rows[rows - 1](vectors, n, a, lda, b, j, add, c, ldc);
}
