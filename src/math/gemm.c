/* Products of matrices that are too small for BLAS to be fast: c is cut into tiles that the
 * loops of this CPU keep in registers (kernel_gemm.h). b is packed beforehand in panels of
 * two vectors of columns, [panel][k][columns], the last panel of one vector where that is
 * enough. */
#include "kernel.h"

#include <string.h>

enum {
    BAND = 8,      /* tiles of rows for all panels, whose part of a stays in cache */
    DEEP = 192,    /* rows packed at a time by weft_outer */
    ROWS = 32,     /* rows packed at a time by weft_gemm_pack: those of the widest panel */
    MAX_TILE = 512 /* numbers of the largest tile */
};

/* ---- transposes ---- */

/* By squares of kernel.h, since memory bounds the speed. */

enum {
    LINE = 64 / sizeof(real), /* of a cache */
    AHEAD = 6 * LINE          /* how far in a row is prefetched */
};

/* to[WEFT_SIDE][wide] = the numbers of up to WEFT_SIDE rows from `at` on, 0 of those that
 * are none.
 */
INLINE void turn(int rows, const real *const *row, int64_t at, real *to, int wide)
{
    quad v[WEFT_SIDE];
    UNROLL for (int r = 0; r < WEFT_SIDE; r++)
    {
        if (r < rows)
            memcpy(&v[r], row[r] + at, sizeof *v);
        else
            v[r] = (quad){0};
    }
    turn_square(v);
    UNROLL for (int r = 0; r < WEFT_SIDE; r++) memcpy(to + r * wide, &v[r], sizeof *v);
}

/* Rows that are read for the first time come from memory. */
INLINE void fetch_rows(int m, const real *const *row, int64_t at)
{
    for (int r = 0; r < m; r++) __builtin_prefetch(row[r] + at);
}

/* to[k][wide] = the transpose of m rows, of which row j has its k numbers at row[j] + at,
 * zeros beyond m; wide >= m, a multiple of 16 bytes. They do not overlap. */
static void transpose(int k, int m, const real *const *row, int64_t at, real *to, int wide)
{
    int i = 0, even = m / WEFT_SIDE * WEFT_SIDE;
    for (; i + WEFT_SIDE <= k; i += WEFT_SIDE, to += WEFT_SIDE * wide) {
        int j = 0;
        if (i % LINE == 0) fetch_rows(m, row, at + i + AHEAD);
        for (; j < even; j += WEFT_SIDE) turn(WEFT_SIDE, row + j, at + i, to + j, wide);
        for (; j < wide; j += WEFT_SIDE) turn(m - j, row + j, at + i, to + j, wide);
    }
    for (; i < k; i++, to += wide)
        for (int j = 0; j < wide; j++) to[j] = j < m ? row[j][at + i] : 0;
}

/* ---- packing ---- */

/* Numbers [at, at + m) of k rows without transposition: to[k][wide], zeros beyond m. */
static void copy_panel(int k, int m, int wide, const real *const *row, int64_t at, real *to)
{
    for (int e = 0; e < k; e++, to += wide) {
        const real *from = row[e] + at;
        for (int j = 0; j < m; j++) to[j] = from[j];
        for (int j = m; j < wide; j++) to[j] = 0;
    }
}

/* Pointers to n rows of b[n][ldb]. */
static const real *const *rows_of(int n, const real *b, size_t ldb, const real **row)
{
    for (int i = 0; i < n; i++) row[i] = b + (size_t)i * ldb;
    return row;
}

void weft_gemm_pack(const weft_kernel *kernel, weft_packed *packed, const real *b,
                    size_t ldb, int trans, real *to)
{
    const real *row[ROWS];
    packed->packed = to;
    for (int j = 0, m; j < packed->m; j += m) {
        int wide = vectors_at(kernel, j, packed->m) * kernel->lanes;
        m = least(wide, packed->m - j);
        if (trans)
            transpose(packed->k, m, rows_of(m, b + (size_t)j * ldb, ldb, row), 0, to, wide);
        for (int e = 0; !trans && e < packed->k; e += ROWS) {
            int n = least(ROWS, packed->k - e);
            copy_panel(n, m, wide, rows_of(n, b + (size_t)e * ldb, ldb, row), j,
                       to + (size_t)e * wide);
        }
        to += (size_t)packed->k * wide;
    }
}

void weft_gemm_pack_rows(const weft_kernel *kernel, weft_packed *packed,
                         const real *const *row, int64_t at, real *to)
{
    int k = packed->k, m = packed->m;
    packed->packed = to;
    for (int j = 0, some; j < m; j += some) {
        int wide = vectors_at(kernel, j, m) * kernel->lanes;
        some = least(wide, m - j);
        transpose(k, some, row + j, at, to, wide);
        to += (size_t)k * wide;
    }
}

/* ---- products ---- */

/* Stores the part of a tile that is within c. */
static void store_part(int rows, int columns, const real *tile, int wide, int add, real *c,
                       size_t ldc)
{
    for (int r = 0; r < rows; r++)
        for (int j = 0; j < columns; j++) {
            real *to = c + (size_t)r * ldc + j;
            real sum = tile[r * wide + j];
            *to = add == 0 ? sum : (add > 0 ? *to : 0) + sum;
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
            kernel->tile_rows(rows, vectors, k, ai, lda, b, add, ci, ldc);
            continue;
        }
        kernel->tile_rows(rows, vectors, k, ai, lda, b, 0, part, (size_t)wide);
        store_part(rows, m, part, wide, add, ci, ldc);
    }
}

void weft_gemm_times(const weft_kernel *kernel, int n, const real *a, size_t lda,
                     const weft_packed *packed, int add, real *c, size_t ldc)
{
    int band = BAND * kernel->rows;
    for (int i = 0, rows; i < n; i += rows) {
        rows = n - i < 2 * band ? n - i : band;
        const real *b = packed->packed;
        for (int j = 0; j < packed->m;) {
            int vectors = vectors_at(kernel, j, packed->m), wide = vectors * kernel->lanes;
            by_panel(kernel, rows, a + (size_t)i * lda, lda, packed->k, b, vectors,
                     least(wide, packed->m - j), add, c + (size_t)i * ldc + j, ldc);
            b += (size_t)packed->k * wide;
            j += wide;
        }
    }
}

/* The right side of weft_outer: packed if it is read by more than one strip of rows, else
 * where it is, but for last columns that fill no vector. */
struct right {
    int n, m;
    const real *const *row;
    const real *packed;
    int in_place;
};

/* Packs panels from column j on. */
static void pack_panels(const weft_kernel *kernel, const struct right *right, int j,
                        real *to)
{
    for (; j < right->m;) {
        int wide = vectors_at(kernel, j, right->m) * kernel->lanes;
        copy_panel(right->n, least(wide, right->m - j), wide, right->row, j, to);
        to += (size_t)right->n * wide;
        j += wide;
    }
}

/* Columns that fill panels. */
static int full_columns(const weft_kernel *kernel, int m)
{
    int odd = m % (2 * kernel->lanes);
    return odd == kernel->lanes ? m : m - odd;
}

/* g[rows][ldg] = or += a^T b for up to a tile's rows, a[n][lda], all panels of b. */
static void outer_strip(const weft_kernel *kernel, int rows, const real *a, size_t lda,
                        const struct right *right, int add, real *g, size_t ldg)
{
    _Alignas(64) real part[MAX_TILE];
    const real *b = right->packed;
    for (int j = 0, columns; j < right->m; j += columns) {
        int vectors = vectors_at(kernel, j, right->m), wide = vectors * kernel->lanes;
        columns = least(wide, right->m - j);
        if (columns < wide) {
            kernel->strip(rows, vectors, right->n, a, lda, b, 0, part, (size_t)wide);
            store_part(rows, columns, part, wide, add, g + j, ldg);
        } else if (right->in_place) {
            kernel->strip_rows(rows, vectors, right->n, a, lda, right->row, j, add, g + j,
                               ldg);
        } else {
            kernel->strip(rows, vectors, right->n, a, lda, b, add, g + j, ldg);
            b += (size_t)right->n * wide;
        }
    }
}

void weft_gemm_outer(const weft_kernel *kernel, int n, int k, const real *a, size_t lda,
                     int m, const real *const *b, int add, real *g, size_t ldg,
                     weft_arena *tmp)
{
    WEFT_REWIND(tmp);
    int most = kernel->rows, in_place = k <= most;
    int first = in_place ? full_columns(kernel, m) : 0;
    size_t wide = (size_t)round_up(m - first, kernel->lanes);
    real *panels = WEFT_NEW(tmp, real, (size_t)least(n, DEEP) * wide);
    for (int i = 0; i < n; i += DEEP, a += DEEP * lda) {
        struct right right = {least(n - i, DEEP), m, b + i, panels, in_place};
        pack_panels(kernel, &right, first, panels);
        for (int j = 0; j < k; j += most)
            outer_strip(kernel, least(most, k - j), a + j, lda, &right,
                        add || i > 0 ? 1 : -1, g + (size_t)j * ldg, ldg);
    }
}
