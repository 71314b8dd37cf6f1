/* Products of bytes with small integers, exact in 32 bits: blocked so that a piece of the
 * packed matrix stays in the first-level cache and a block of rows in the second. Packed:
 * panels of `wide` columns, each [k/4][wide][4], k padded with zeros to whole groups; then
 * the start of every column. */
#include "kernel.h"
#include "weft/project.h"

#include <string.h>

enum { DEEP = 512 }; /* k of a piece, a multiple of WEFT_GROUP */

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

/* One tile: `rows` rows, k columns of a. The last group may be short. */
static void tile(const weft_kernel *kernel, int rows, int k, const uint8_t *a, int lda,
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

/* A tile at the edge of c, by way of a whole one. */
static void edge(const weft_kernel *kernel, int rows, int columns, int k, const uint8_t *a,
                 int lda, const int8_t *b, int32_t *c, size_t ldc)
{
    int32_t whole[WEFT_TILE * WEFT_WIDE] = {0};
    tile(kernel, rows, k, a, lda, b, whole, (size_t)kernel->wide);
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
                    tile(kernel, rows, piece, from, lda, panel, to, (size_t)ldc);
                else
                    edge(kernel, rows, columns, piece, from, lda, panel, to, (size_t)ldc);
            }
        }
    }
}
