/* Products of bytes, exact in 32 bits: with small integers, and with each other. Matrices
 * are cut so that a packed piece of one stays in the first-level cache and a block of the
 * other in the second. */
#include "kernel.h"

#include <string.h>

enum {
    DEEP = 512, /* numbers of the summed index taken at a time, a multiple of WEFT_GROUP */
    BLOCK = 240 /* columns of the left factor taken at a time, a multiple of WEFT_TILE */
};

/* ---- bytes by small integers ---- */

/* Packed: panels of `wide` columns, each [k/4][wide][4], k padded with zeros to whole
 * groups; then the start of every column. */

size_t weft_s8_bytes(int k, int m)
{
    int columns = round_up(m, weft_kernel_best()->wide);
    return (size_t)round_up(k, WEFT_GROUP) * columns + (size_t)columns * sizeof(int32_t);
}

void weft_s8_pack(weft_s8 *packed, int k, int m, const int8_t *b, size_t ldb,
                  const int32_t *start, void *mem)
{
    int wide = weft_kernel_best()->wide, deep = round_up(k, WEFT_GROUP),
        columns = round_up(m, wide);
    int8_t *to = mem;
    memset(to, 0, weft_s8_bytes(k, m));
    for (int j = 0; j < m; j++) {
        int8_t *column = to + (size_t)(j / wide) * deep * wide + j % wide * 4;
        const int8_t *from = b + (size_t)j * ldb;
        int i = 0;
        for (; i + 4 <= k; i += 4) memcpy(column + (size_t)i * wide, from + i, 4);
        if (i < k) memcpy(column + (size_t)i * wide, from + i, (size_t)(k - i));
    }
    int32_t *first = (int32_t *)(void *)(to + (size_t)deep * columns);
    if (start) memcpy(first, start, (size_t)m * sizeof *first);
    *packed = (weft_s8){.k = k, .m = m, .packed = mem, .start = first};
}

/* Adds one tile: `rows` rows, k columns of a. The last group may be short. */
static void add_tile(const weft_kernel *kernel, int rows, int k, const uint8_t *a, int lda,
                     const int8_t *b, int32_t *c, size_t ldc)
{
    const uint8_t *row[WEFT_TILE];
    for (int r = 0; r < WEFT_TILE; r++) {
        row[r] = a + (size_t)(r < rows ? r : rows - 1) * lda;
        __builtin_prefetch(c + (size_t)(r < rows ? r : 0) * ldc, 1);
    }
    int groups = k / WEFT_GROUP, rest = k % WEFT_GROUP;
    if (groups) kernel->u8s8(groups, row, b, c, ldc);
    if (rest == 0) return;
    uint8_t tail[WEFT_TILE][WEFT_GROUP] = {{0}};
    for (int r = 0; r < WEFT_TILE; r++) {
        memcpy(tail[r], row[r] + groups * WEFT_GROUP, (size_t)rest);
        row[r] = tail[r];
    }
    kernel->u8s8(1, row, b + (size_t)groups * WEFT_GROUP * kernel->wide, c, ldc);
}

/* The same at the edge of c, by way of a whole tile. */
static void add_edge(const weft_kernel *kernel, int rows, int columns, int k,
                     const uint8_t *a, int lda, const int8_t *b, int32_t *c, size_t ldc)
{
    int32_t whole[WEFT_TILE * WEFT_WIDE] = {0};
    add_tile(kernel, rows, k, a, lda, b, whole, (size_t)kernel->wide);
    for (int r = 0; r < rows; r++)
        for (int j = 0; j < columns; j++)
            c[(size_t)r * ldc + j] += whole[r * kernel->wide + j];
}

void weft_u8s8(int n, const uint8_t *a, int lda, const weft_s8 *b, int32_t *c, int ldc)
{
    const weft_kernel *kernel = weft_kernel_best();
    int wide = kernel->wide, deep = round_up(b->k, WEFT_GROUP);
    for (int i = 0; i < n; i++)
        memcpy(c + (size_t)i * ldc, b->start, (size_t)b->m * sizeof *c);
    for (int k = 0; k < b->k; k += DEEP) {
        int piece = least(DEEP, b->k - k);
        for (int j = 0; j < b->m; j += wide) {
            const int8_t *panel = b->packed + (size_t)j * deep + (size_t)k * wide;
            int columns = least(wide, b->m - j);
            for (int i = 0; i < n; i += WEFT_TILE) {
                const uint8_t *from = a + (size_t)i * lda + k;
                int32_t *to = c + (size_t)i * ldc + j;
                int rows = least(WEFT_TILE, n - i);
                if (rows == WEFT_TILE && columns == wide)
                    add_tile(kernel, rows, piece, from, lda, panel, to, (size_t)ldc);
                else
                    add_edge(kernel, rows, columns, piece, from, lda, panel, to,
                             (size_t)ldc);
            }
        }
    }
}

/* ---- Gram matrices ---- */

/* Both factors are widened to 16 bits and packed in panels of pairs of the summed index:
 * blocks of the left one stay in the second-level cache, a panel of the right one in the
 * first. */

/* Two numbers of each of `columns` columns, side by side. */
static inline void pack_pairs(int columns, const uint8_t *one, const uint8_t *two,
                              size_t next, int16_t *to)
{
    for (int j = 0; j < columns; j++) {
        to[2 * j] = (int16_t)(one[j * next] - 128);
        to[2 * j + 1] = (int16_t)(two[j * next] - 128);
    }
}

/* to[pairs][wide][2] = the numbers less 128 of `columns` columns, zeros beyond: number i of
 * column j is q[i step + j next]. */
static void pack_panel(int n, int columns, int wide, const uint8_t *q, size_t step,
                       size_t next, int16_t *to)
{
    if (columns < wide || n % 2) memset(to, 0, (size_t)round_up(n, 2) * wide * sizeof *to);
    for (int i = 0; i + 1 < n; i += 2) {
        const uint8_t *one = q + i * step, *two = one + step;
        if (next == 1 && columns == 16)
            pack_pairs(16, one, two, 1, to); /* in vectors */
        else
            pack_pairs(columns, one, two, next, to);
        to += 2 * wide;
    }
    for (int j = 0; j < columns && n % 2; j++)
        to[2 * j] = (int16_t)(q[(n - 1) * step + j * next] - 128);
}

static void pack_panels(int n, int m, int wide, const uint8_t *q, size_t step, size_t next,
                        int16_t *to)
{
    for (int j = 0; j < m; j += wide)
        pack_panel(n, least(wide, m - j), wide, q + j * next, step, next,
                   to + (size_t)j * round_up(n, 2));
}

/* g[m][p] += a^T b of packed panels over n numbers. */
static void add_product(int n, int m, const int16_t *a, int p, const int16_t *b, int32_t *g,
                        size_t ldg)
{
    const weft_kernel *kernel = weft_kernel_best();
    int wide = kernel->wide, even = round_up(n, 2);
    int32_t whole[WEFT_TILE * WEFT_WIDE];
    for (int j = 0; j < p; j += wide)
        for (int i = 0; i < m; i += WEFT_TILE) {
            const int16_t *left = a + (size_t)i * even, *right = b + (size_t)j * even;
            int32_t *to = g + (size_t)i * ldg + j;
            if (m - i >= WEFT_TILE && p - j >= wide) {
                for (int r = 0; r < WEFT_TILE; r++)
                    __builtin_prefetch(to + (size_t)r * ldg, 1);
                kernel->gram(even / 2, left, right, to, ldg);
                continue;
            }
            memset(whole, 0, sizeof whole);
            kernel->gram(even / 2, left, right, whole, (size_t)wide);
            for (int r = 0; r < WEFT_TILE && i + r < m; r++)
                for (int c = 0; c < wide && j + c < p; c++)
                    to[(size_t)r * ldg + c] += whole[r * wide + c];
        }
}

void weft_u8_gram(int n, int along, int m, const uint8_t *a, size_t lda, int p,
                  const uint8_t *b, size_t ldb, int32_t *g, size_t ldg, weft_arena *tmp)
{
    WEFT_REWIND(tmp);
    size_t step_a = along ? 1 : lda, next_a = along ? lda : 1;
    size_t step_b = along ? 1 : ldb, next_b = along ? ldb : 1;
    int16_t *left = WEFT_NEW(tmp, int16_t, (size_t)DEEP * BLOCK);
    int16_t *right =
        WEFT_NEW(tmp, int16_t, (size_t)DEEP * round_up(p, weft_kernel_best()->wide));
    for (int i = 0; i < n; i += DEEP) {
        int deep = least(DEEP, n - i);
        pack_panels(deep, p, weft_kernel_best()->wide, b + i * step_b, step_b, next_b,
                    right);
        for (int j = 0; j < m; j += BLOCK) {
            int block = least(BLOCK, m - j);
            pack_panels(deep, block, WEFT_TILE, a + i * step_a + j * next_a, step_a, next_a,
                        left);
            add_product(deep, block, left, p, right, g + (size_t)j * ldg, ldg);
        }
    }
}
