/* Products of matrices that are too small for BLAS to be fast: c is cut into tiles that the
 * loops of this CPU keep in registers (kernel_gemm.h). b is packed beforehand in panels of
 * two vectors of columns, [panel][k][columns], the last panel of one vector where that is
 * enough. Called by the networks. */
#include "kernel.h"

#include <string.h>

enum {
    BAND = 8,   /* tiles of rows that meet all panels while their part of a is in cache */
    DEEP = 384, /* rows packed at a time by weft_outer */
    MOST_TILE = 512 /* numbers of the largest tile */
};

static int up(int n, int unit)
{
    return (n + unit - 1) / unit * unit;
}

static int least(int a, int b)
{
    return a < b ? a : b;
}

/* Vectors of the panel that begins at column j of m. */
static int vectors_at(const weft_kernel *kernel, int j, int m)
{
    return m - j > kernel->lanes ? 2 : 1;
}

/* ---- packing ------------------------------------------------------------------------ */

size_t weft_panels_bytes(int k, int m)
{
    return (size_t)k * up(m, weft_kernel_best()->lanes) * sizeof(real);
}

/* Columns of b as they stand: to[k][wide], zeros beyond m. */
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
    for (int e = 0; e < k; e++, to += wide) {
        for (int j = 0; j < m; j++) to[j] = b[(size_t)j * ldb + e];
        for (int j = m; j < wide; j++) to[j] = 0;
    }
}

void weft_gemm_pack(const weft_kernel *kernel, weft_panels *p, const real *b, size_t ldb,
                    int trans, real *to)
{
    p->packed = to;
    for (int j = 0; j < p->m;) {
        const int wide = vectors_at(kernel, j, p->m) * kernel->lanes;
        const int m = least(wide, p->m - j);
        if (trans)
            turn_panel(p->k, m, wide, b + (size_t)j * ldb, ldb, to);
        else
            copy_panel(p->k, m, wide, b + j, ldb, to);
        to += (size_t)p->k * wide;
        j += wide;
    }
}

void weft_panels_pack(weft_panels *p, int k, int m, const real *b, size_t ldb, int trans,
                      void *mem)
{
    p->k = k;
    p->m = m;
    weft_gemm_pack(weft_kernel_best(), p, b, ldb, trans, mem);
}

/* ---- products ----------------------------------------------------------------------- */

/* The part of a tile that is within c. */
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
    _Alignas(64) real part[MOST_TILE];
    const int wide = vectors * kernel->lanes, tiles = up(n, kernel->rows) / kernel->rows;
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
                     const weft_panels *p, int add, real *c, size_t ldc)
{
    const int band = BAND * kernel->rows;
    for (int i = 0, rows; i < n; i += rows) {
        rows = n - i < 2 * band ? n - i : band;
        const real *b = p->packed;
        for (int j = 0; j < p->m;) {
            const int vectors = vectors_at(kernel, j, p->m), wide = vectors * kernel->lanes;
            by_panel(kernel, rows, a + (size_t)i * lda, lda, p->k, b, vectors,
                     least(wide, p->m - j), add, c + (size_t)i * ldc + j, ldc);
            b += (size_t)p->k * wide;
            j += wide;
        }
    }
}

void weft_panels_times(int n, const real *a, size_t lda, const weft_panels *b, int add,
                       real *c, size_t ldc)
{
    weft_gemm_times(weft_kernel_best(), n, a, lda, b, add, c, ldc);
}

/* Columns of a in strips [strip][n][rows], zeros beyond k. */
static void pack_strips(int n, int k, int rows, const real *a, size_t lda, real *to)
{
    for (int j = 0; j < k; j += rows) {
        const int m = least(rows, k - j);
        for (int i = 0; i < n; i++, to += rows) {
            const real *from = a + (size_t)i * lda + j;
            for (int r = 0; r < m; r++) to[r] = from[r];
            for (int r = m; r < rows; r++) to[r] = 0;
        }
    }
}

/* g[k][ldg] += what the packed rows of strips and panels make. */
static void outer_block(const weft_kernel *kernel, int k, const real *strips,
                        const weft_panels *p, real *g, size_t ldg)
{
    _Alignas(64) real part[MOST_TILE];
    const real *b = p->packed;
    for (int j = 0; j < p->m;) {
        const int vectors = vectors_at(kernel, j, p->m), wide = vectors * kernel->lanes;
        const int columns = least(wide, p->m - j);
        for (int i = 0; i < k; i += kernel->rows) {
            const int rows = least(kernel->rows, k - i);
            const real *a = strips + (size_t)i * p->k;
            real *to = g + (size_t)i * ldg + j;
            if (rows == kernel->rows && columns == wide) {
                kernel->strip(vectors, p->k, a, b, 1, to, ldg);
                continue;
            }
            kernel->strip(vectors, p->k, a, b, 0, part, (size_t)wide);
            put(rows, columns, part, wide, 1, to, ldg);
        }
        b += (size_t)p->k * wide;
        j += wide;
    }
}

void weft_gemm_outer(const weft_kernel *kernel, int n, int k, const real *a, size_t lda,
                     int m, const real *b, size_t ldb, real *g, size_t ldg, weft_arena *tmp)
{
    const size_t mark = weft_arena_mark(tmp);
    const int deep = least(n, DEEP), group = BAND * kernel->rows;
    /* one piece, as an arena keeps one block for the next call */
    real *panels = WEFT_NEW(tmp, real, (size_t)deep * (up(m, kernel->lanes) + group));
    real *strips = panels + (size_t)deep * up(m, kernel->lanes);
    for (int i = 0; i < n; i += DEEP) {
        weft_panels p = {.k = least(n - i, DEEP), .m = m};
        weft_gemm_pack(kernel, &p, b + (size_t)i * ldb, ldb, 0, panels);
        for (int j = 0; j < k; j += group) {
            const int columns = least(group, k - j);
            pack_strips(p.k, columns, kernel->rows, a + (size_t)i * lda + j, lda, strips);
            outer_block(kernel, columns, strips, &p, g + (size_t)j * ldg, ldg);
        }
    }
    weft_arena_reset(tmp, mark);
}

void weft_outer(int n, int k, const real *a, size_t lda, int m, const real *b, size_t ldb,
                real *g, size_t ldg, weft_arena *tmp)
{
    weft_gemm_outer(weft_kernel_best(), n, k, a, lda, m, b, ldb, g, ldg, tmp);
}
