/* Products of matrices that are too small for BLAS to be fast: c is cut into tiles that the
 * loops of this CPU keep in registers (kernel_gemm.h). b is packed beforehand in panels of
 * two vectors of columns, [panel][k][columns], the last panel of one vector where that is
 * enough. Called by the networks, and by random features also where BLAS would be as fast,
 * because rows of a BLAS product depend on how many rows are multiplied at once; rows here
 * do not. */
#include "kernel.h"

#include <string.h>

enum {
    BAND = 8,      /* tiles of rows for all panels, whose part of a stays in cache */
    DEEP = 192,    /* rows packed at a time by weft_outer */
    MAX_TILE = 512 /* numbers of the largest tile */
};

/* Vectors of the panel that begins at column j of m. */
static int vectors_at(const weft_kernel *kernel, int j, int m)
{
    return m - j > kernel->lanes ? 2 : 1;
}

/* ---- packing ------------------------------------------------------------------------ */

size_t weft_packed_bytes(int k, int m)
{
    return (size_t)k * round_up(m, weft_kernel_best()->lanes) * sizeof(real);
}

/* Columns of b without transposition: to[k][wide], zeros beyond m. */
static void copy_panel(int k, int m, int wide, const real *b, size_t ldb, real *to)
{
    for (int e = 0; e < k; e++, to += wide) {
        const real *from = b + (size_t)e * ldb;
        for (int j = 0; j < m; j++) to[j] = from[j];
        for (int j = m; j < wide; j++) to[j] = 0;
    }
}

/* Rows of b become columns: to[k][wide], zeros beyond m. */
static void turn_panel(int k, int m, int wide, const real *b, size_t ldb, real *to)
{
    if (m < wide) memset(to, 0, (size_t)k * wide * sizeof *to);
    weft_transpose(k, m, b, ldb, to, (size_t)wide);
}

void weft_gemm_pack(const weft_kernel *kernel, weft_packed *p, const real *b, size_t ldb,
                    int trans, real *to)
{
    p->packed = to;
    for (int j = 0; j < p->m;) {
        int wide = vectors_at(kernel, j, p->m) * kernel->lanes;
        int m = least(wide, p->m - j);
        if (trans)
            turn_panel(p->k, m, wide, b + (size_t)j * ldb, ldb, to);
        else
            copy_panel(p->k, m, wide, b + j, ldb, to);
        to += (size_t)p->k * wide;
        j += wide;
    }
}

void weft_packed_pack(weft_packed *p, int k, int m, const real *b, size_t ldb, int trans,
                      void *mem)
{
    p->k = k;
    p->m = m;
    weft_gemm_pack(weft_kernel_best(), p, b, ldb, trans, mem);
}

/* ---- products ----------------------------------------------------------------------- */

/* Computes a tile of which only a part is within c. */
static void put(int rows, int columns, const real *tile, int wide, int add, real *c,
                size_t ldc)
{
    for (int r = 0; r < rows; r++)
        for (int j = 0; j < columns; j++) {
            real *to = c + (size_t)r * ldc + j;
            *to = add ? *to + tile[r * wide + j] : tile[r * wide + j];
        }
}

/* Rows in tiles of nearly equal size by one panel. */
static void by_panel(const weft_kernel *kernel, int n, const real *a, size_t lda, int k,
                     const real *b, int vectors, int m, int add, real *c, size_t ldc)
{
    _Alignas(64) real part[MAX_TILE];
    int wide = vectors * kernel->lanes, tiles = round_up(n, kernel->rows) / kernel->rows;
    for (int t = 0, i = 0, rows; t < tiles; t++, i += rows) {
        rows = (n - i) / (tiles - t);
        const real *ai = a + (size_t)i * lda;
        real *ci = c + (size_t)i * ldc;
        if (m == wide) {
            kernel->tile(rows, vectors, k, ai, lda, b, add, ci, ldc);
            continue;
        }
        kernel->tile(rows, vectors, k, ai, lda, b, 0, part, (size_t)wide);
        put(rows, m, part, wide, add, ci, ldc);
    }
}

void weft_gemm_times(const weft_kernel *kernel, int n, const real *a, size_t lda,
                     const weft_packed *p, int add, real *c, size_t ldc)
{
    int band = BAND * kernel->rows;
    for (int i = 0, rows; i < n; i += rows) {
        rows = n - i < 2 * band ? n - i : band;
        const real *b = p->packed;
        for (int j = 0; j < p->m;) {
            int vectors = vectors_at(kernel, j, p->m), wide = vectors * kernel->lanes;
            by_panel(kernel, rows, a + (size_t)i * lda, lda, p->k, b, vectors,
                     least(wide, p->m - j), add, c + (size_t)i * ldc + j, ldc);
            b += (size_t)p->k * wide;
            j += wide;
        }
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
        weft_packed p;
        weft_packed_pack(&p, deep, n, b + k0, ldb, 1,
                         (real *)mem + piece_at(k0, m) + (size_t)deep * (size_t)j);
    }
}

void weft_deep_times(int n, const real *a, size_t lda, int k, int m, const void *mem,
                     real *c, size_t ldc)
{
    for (int k0 = 0; k0 < k; k0 += WEFT_DEEP) {
        weft_packed p = {.k = least(WEFT_DEEP, k - k0),
                         .m = m,
                         .packed = (const real *)mem + piece_at(k0, m)};
        weft_packed_times(n, a + k0, lda, &p, k0 > 0, c, ldc);
    }
}

/* g[rows][ldg] += a^T b for up to a tile's rows, a[n][lda], all panels of b. */
static void outer_strip(const weft_kernel *kernel, int rows, const real *a, size_t lda,
                        const weft_packed *p, real *g, size_t ldg)
{
    _Alignas(64) real part[MAX_TILE];
    const real *b = p->packed;
    for (int j = 0; j < p->m;) {
        int vectors = vectors_at(kernel, j, p->m), wide = vectors * kernel->lanes;
        int columns = least(wide, p->m - j);
        if (rows == kernel->rows && columns == wide) {
            kernel->strip(vectors, p->k, a, lda, b, 1, g + j, ldg);
        } else {
            kernel->strip(vectors, p->k, a, lda, b, 0, part, (size_t)wide);
            put(rows, columns, part, wide, 1, g + j, ldg);
        }
        b += (size_t)p->k * wide;
        j += wide;
    }
}

void weft_gemm_outer(const weft_kernel *kernel, int n, int k, const real *a, size_t lda,
                     int m, const real *b, size_t ldb, real *g, size_t ldg, weft_arena *tmp)
{
    size_t mark = weft_arena_mark(tmp);
    int most = kernel->rows, even = k / most * most;
    real *edge = WEFT_NEW(tmp, real, (size_t)least(n, DEEP) * most);
    real *panels = WEFT_NEW(tmp, real, (size_t)least(n, DEEP) * round_up(m, kernel->lanes));
    for (int i = 0; i < n; i += DEEP, a += DEEP * lda, b += DEEP * ldb) {
        weft_packed p = {.k = least(n - i, DEEP), .m = m};
        weft_gemm_pack(kernel, &p, b, ldb, 0, panels);
        for (int j = 0; j < even; j += most)
            outer_strip(kernel, most, a + j, lda, &p, g + (size_t)j * ldg, ldg);
        if (even == k) continue;
        copy_panel(p.k, k - even, most, a + even, lda, edge);
        outer_strip(kernel, k - even, edge, (size_t)most, &p, g + (size_t)even * ldg, ldg);
    }
    weft_arena_reset(tmp, mark);
}

void weft_outer(int n, int k, const real *a, size_t lda, int m, const real *b, size_t ldb,
                real *g, size_t ldg, weft_arena *tmp)
{
    weft_gemm_outer(weft_kernel_best(), n, k, a, lda, m, b, ldb, g, ldg, tmp);
}
