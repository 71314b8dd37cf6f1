/* Tiles of a matrix product, written once for all widths: a tile of `rows` by one or two
 * vectors of c stays in registers while k runs. By the macros of kernel_simd.h. */
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

/* A tile of any number of rows; `rows` and `vectors` are constants in each. */
#if TILE_ROWS == 14
#define MORE_ROWS(DO) DO(7) DO(8) DO(9) DO(10) DO(11) DO(12) DO(13) DO(14)
#else
#define MORE_ROWS(DO)
#endif
#define EACH_ROWS(DO) DO(1) DO(2) DO(3) DO(4) DO(5) DO(6) MORE_ROWS(DO)

static void tile_rows(int rows, int vectors, int k, const real *a, size_t lda,
                      const real *b, int add, real *c, size_t ldc)
{
#define TILE(n)                                                                            \
    case n: tile(n, 1, k, a, lda, 1, b, NULL, 0, add, c, ldc); return;                     \
    case n + TILE_ROWS: tile(n, 2, k, a, lda, 1, b, NULL, 0, add, c, ldc); return;
    switch (rows + (vectors - 1) * TILE_ROWS) {
        EACH_ROWS(TILE)
    }
}

static void strip(int rows, int vectors, int n, const real *a, size_t lda, const real *b,
                  int add, real *c, size_t ldc)
{
#define STRIP_TILE(m)                                                                      \
    case m: tile(m, 1, n, a, 1, lda, b, NULL, 0, add, c, ldc); return;                     \
    case m + TILE_ROWS: tile(m, 2, n, a, 1, lda, b, NULL, 0, add, c, ldc); return;
    switch (rows + (vectors - 1) * TILE_ROWS) {
        EACH_ROWS(STRIP_TILE)
    }
}

static void strip_rows(int rows, int vectors, int n, const real *a, size_t lda,
                       const real *const *b, int64_t j, int add, real *c, size_t ldc)
{
#define ROWS_TILE(m)                                                                       \
    case m: tile(m, 1, n, a, 1, lda, NULL, b, j, add, c, ldc); return;                     \
    case m + TILE_ROWS: tile(m, 2, n, a, 1, lda, NULL, b, j, add, c, ldc); return;
    switch (rows + (vectors - 1) * TILE_ROWS) {
        EACH_ROWS(ROWS_TILE)
    }
}
