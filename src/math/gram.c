/* Gram matrices of byte features, exact in 32 bits. Both factors are widened to 16 bits and
 * packed in panels of pairs of the summed index: blocks of the left one stay in the second-
 * level cache, a panel of the right one in the first. */
#include "kernel.h"
#include "weft/bytes.h"

#include <string.h>

enum {
    DEEP = 512, /* numbers of the summed index taken at a time, even */
    BLOCK = 240 /* columns of the left factor taken at a time, a multiple of WEFT_TILE */
};

/* Two numbers of each of `columns` columns, side by side. */
static inline void pair(int columns, const uint8_t *one, const uint8_t *two, size_t next,
                        int16_t *to)
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
            pair(16, one, two, 1, to); /* in vectors */
        else
            pair(columns, one, two, next, to);
        to += 2 * wide;
    }
    for (int j = 0; j < columns && n % 2; j++)
        to[2 * j] = (int16_t)(q[(n - 1) * step + j * next] - 128);
}

static void pack(int n, int m, int wide, const uint8_t *q, size_t step, size_t next,
                 int16_t *to)
{
    for (int j = 0; j < m; j += wide)
        pack_panel(n, least(wide, m - j), wide, q + j * next, step, next,
                   to + (size_t)j * round_up(n, 2));
}

/* g[m][p] += a^T b of packed panels over n numbers. */
static void product(int n, int m, const int16_t *a, int p, const int16_t *b, int32_t *g,
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
    size_t mark = weft_arena_mark(tmp);
    size_t step_a = along ? 1 : lda, next_a = along ? lda : 1;
    size_t step_b = along ? 1 : ldb, next_b = along ? ldb : 1;
    int16_t *left = WEFT_NEW(tmp, int16_t, (size_t)DEEP * BLOCK);
    int16_t *right =
        WEFT_NEW(tmp, int16_t, (size_t)DEEP * round_up(p, weft_kernel_best()->wide));
    for (int i = 0; i < n; i += DEEP) {
        int deep = least(DEEP, n - i);
        pack(deep, p, weft_kernel_best()->wide, b + i * step_b, step_b, next_b, right);
        for (int j = 0; j < m; j += BLOCK) {
            int block = least(BLOCK, m - j);
            pack(deep, block, WEFT_TILE, a + i * step_a + j * next_a, step_a, next_a, left);
            product(deep, block, left, p, right, g + (size_t)j * ldg, ldg);
        }
    }
    weft_arena_reset(tmp, mark);
}
