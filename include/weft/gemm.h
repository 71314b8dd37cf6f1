/* Products with packed matrices, whose rows do not depend on the other rows. */
#ifndef WEFT_GEMM_H
#define WEFT_GEMM_H

#include "weft/arena.h"
#include "weft/real.h"

#include <stddef.h>
#include <stdint.h>

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

#endif
