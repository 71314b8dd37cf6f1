/* Products with packed matrices by the loops of this CPU. */
#include "kernel.h"

size_t weft_packed_bytes(int k, int m)
{
    return (size_t)k * round_up(m, weft_kernel_best()->lanes) * sizeof(real);
}

void weft_packed_pack(weft_packed *packed, int k, int m, const real *b, size_t ldb,
                      int trans, void *mem)
{
    packed->k = k;
    packed->m = m;
    weft_gemm_pack(weft_kernel_best(), packed, b, ldb, trans, mem);
}

void weft_packed_rows(weft_packed *packed, int k, int m, const real *const *row, int64_t at,
                      void *mem)
{
    const weft_kernel *kernel = weft_kernel_best();
    real *to = mem;
    *packed = (weft_packed){k, m, to};
    for (int j = 0, some; j < m; j += some) {
        int wide = vectors_at(kernel, j, m) * kernel->lanes;
        some = least(wide, m - j);
        weft_transpose(k, some, row + j, at, to, wide);
        to += (size_t)k * wide;
    }
}

void weft_packed_times(int n, const real *a, size_t lda, const weft_packed *b, int add,
                       real *c, size_t ldc)
{
    weft_gemm_times(weft_kernel_best(), n, a, lda, b, add, c, ldc);
}

/* Where the piece of rows k0.. of a packed matrix [k][m] begins. */
static size_t piece_at(int k0, int m)
{
    return weft_packed_bytes(k0, m) / sizeof(real);
}

void weft_deep_pack(int k, int m, int j, int n, const real *b, size_t ldb, void *mem)
{
    for (int k0 = 0; k0 < k; k0 += WEFT_DEEP) {
        int deep = least(WEFT_DEEP, k - k0);
        weft_packed packed;
        weft_packed_pack(&packed, deep, n, b + k0, ldb, 1,
                         (real *)mem + piece_at(k0, m) + (size_t)deep * (size_t)j);
    }
}

void weft_deep_times(int n, const real *a, size_t lda, int k, int m, const void *mem,
                     real *c, size_t ldc)
{
    for (int k0 = 0; k0 < k; k0 += WEFT_DEEP) {
        weft_packed packed = {.k = least(WEFT_DEEP, k - k0),
                              .m = m,
                              .packed = (const real *)mem + piece_at(k0, m)};
        weft_packed_times(n, a + k0, lda, &packed, k0 > 0, c, ldc);
    }
}

void weft_outer_rows(int n, int k, const real *a, size_t lda, int m, const real *const *b,
                     int add, real *g, size_t ldg, weft_arena *tmp)
{
    weft_gemm_outer(weft_kernel_best(), n, k, a, lda, m, b, add, g, ldg, tmp);
}

void weft_outer(int n, int k, const real *a, size_t lda, int m, const real *b, size_t ldb,
                int add, real *g, size_t ldg, weft_arena *tmp)
{
    size_t mark = weft_arena_mark(tmp);
    const real **row = WEFT_NEW(tmp, const real *, n);
    for (int i = 0; i < n; i++) row[i] = b + (size_t)i * ldb;
    weft_outer_rows(n, k, a, lda, m, row, add, g, ldg, tmp);
    weft_arena_reset(tmp, mark);
}
