/* Products of the centred training rows that do not depend on their distribution over
 * ranks: blocks of WEFT_BLOCK rows, or columns where there are fewer rows than columns, are
 * multiplied by BLAS, always in the same shapes, and their products summed as integers. */
#include "gram.h"
#include "data.h"
#include "weft/exact.h"

#include <cblas.h>
#include <math.h>
#include <string.h>

enum { WIDE = 512 }; /* columns of the Gram matrix made at a time */

double flow_value(const flow_data *data, const weft_rows *rows, int64_t i, int64_t j)
{
    size_t at = (size_t)i * (size_t)rows->d + (size_t)j;
    if (rows->byte) return rows->byte[at] / 255.0;
    return (double)rows->value[at] * (data->data->scale ? data->data->scale[j] : 1);
}

int64_t flow_column(const flow_data *data, int64_t j)
{
    return data->response >= 0 && j >= data->response ? j + 1 : j;
}

/* ---- X^T a ---- */

/* [rows first .. first+count)[p], centred where `mean` is not NULL. */
static void row_block(const flow_data *data, int64_t first, int64_t count,
                      const double *mean, double *b)
{
    const weft_rows *rows = &data->data->part[WEFT_TRAIN];
    for (int64_t i = 0; i < count; i++)
        for (int64_t j = 0; j < data->p; j++) {
            int64_t column = flow_column(data, j);
            b[i * data->p + j] =
                flow_value(data, rows, first + i, column) - (mean ? mean[column] : 0);
        }
}

void flow_columns_sum(const flow_data *data, const double *a, double *sum, weft_arena *tmp)
{
    size_t mark = weft_arena_mark(tmp);
    const weft_rows *rows = &data->data->part[WEFT_TRAIN];
    int p = (int)data->p;
    double *b = WEFT_NEW(tmp, double, (size_t)WEFT_BLOCK *(size_t)p);
    double *part = WEFT_NEW(tmp, double, p), *one = WEFT_NEW(tmp, double, WEFT_BLOCK);
    int64_t *whole = WEFT_NEW(tmp, int64_t, p);
    for (int i = 0; i < WEFT_BLOCK; i++) one[i] = 1;
    double size = a ? 0 : 1;
    for (int64_t i = 0; a && i < rows->n; i++) size = fmax(size, fabs(a[i]));
    weft_max_f64(data->team, &size, 1);
    int scale = weft_fix_scale(2 * size * data->largest * (double)data->n);
    for (int64_t at = 0; at < rows->n; at += WEFT_BLOCK) {
        int count = (int)(rows->n - at < WEFT_BLOCK ? rows->n - at : WEFT_BLOCK);
        row_block(data, at, count, a ? data->mean : NULL, b);
        cblas_dgemv(CblasRowMajor, CblasTrans, count, p, 1, b, p, a ? a + at : one, 1, 0,
                    part, 1);
        for (int j = 0; j < p; j++) whole[j] += weft_fix(part[j], scale);
    }
    weft_sum_i64(data->team, whole, (size_t)p);
    for (int j = 0; j < p; j++) sum[j] = weft_unfix(whole[j], scale);
    weft_arena_reset(tmp, mark);
}

/* ---- blocks ---- */

/* Blocks b[count][m] whose sum of b^T b is the Gram matrix: rows of X, or of X^T. */
struct blocks {
    const flow_data *data;
    int m;
    double *b;      /* [256][m] */
    float *send;    /* columns of rows held here */
    float *receive; /* columns of all rows */
    size_t *to, *from;
};

static struct blocks blocks_new(const flow_data *data, int m, weft_arena *tmp)
{
    struct blocks blocks = {.data = data, .m = m};
    blocks.b = WEFT_NEW(tmp, double, (size_t)WEFT_BLOCK *(size_t)m);
    if (!data->dual) return blocks;
    size_t here = (size_t)data->data->part[WEFT_TRAIN].n, ranks = (size_t)data->team->size;
    blocks.send = WEFT_NEW(tmp, float, here *WEFT_BLOCK *ranks);
    blocks.receive = WEFT_NEW(tmp, float, (size_t)data->n *WEFT_BLOCK);
    blocks.to = WEFT_NEW(tmp, size_t, ranks);
    blocks.from = WEFT_NEW(tmp, size_t, ranks);
    return blocks;
}

/* Number of calls of next_block; the same on each rank if it is collective. */
static int64_t rounds_of(const struct blocks *blocks)
{
    int64_t columns = (blocks->data->p + WEFT_BLOCK - 1) / WEFT_BLOCK,
            ranks = blocks->data->team->size;
    if (blocks->data->dual) return (columns + ranks - 1) / ranks;
    return (blocks->data->data->part[WEFT_TRAIN].n + WEFT_BLOCK - 1) / WEFT_BLOCK;
}

static int columns_of(const flow_data *data, int64_t block)
{
    int64_t left = data->p - block * WEFT_BLOCK;
    return (int)(left < 0 ? 0 : left < WEFT_BLOCK ? left : WEFT_BLOCK);
}

/* Each rank gets one block of columns, of all rows. Collective. Returns its columns. */
static int column_block(struct blocks *blocks, int64_t round)
{
    const flow_data *data = blocks->data;
    const weft_rows *rows = &data->data->part[WEFT_TRAIN];
    int ranks = data->team->size, mine = columns_of(data, round * ranks + data->team->rank);
    float *to = blocks->send;
    for (int r = 0; r < ranks; r++) {
        int64_t block = round * ranks + r;
        int columns = columns_of(data, block);
        for (int64_t i = 0; i < rows->n; i++)
            for (int j = 0; j < columns; j++)
                *to++ = (float)flow_value(data, rows, i,
                                          flow_column(data, block * WEFT_BLOCK + j));
        blocks->to[r] = (size_t)rows->n * (size_t)columns * sizeof *to;
        int64_t first, count;
        weft_deal(data->n, r, ranks, &first, &count);
        blocks->from[r] = (size_t)count * (size_t)mine * sizeof *to;
    }
    weft_exchange(data->team, blocks->send, blocks->to, blocks->receive, blocks->from);
    int64_t at = (round * ranks + data->team->rank) * WEFT_BLOCK;
    for (int j = 0; j < mine; j++) {
        double mean = data->mean[flow_column(data, at + j)];
        for (int64_t i = 0; i < data->n; i++)
            blocks->b[j * data->n + i] = (double)blocks->receive[i * mine + j] - mean;
    }
    return mine;
}

/* Block `round` of this rank into blocks->b. Returns its rows. */
static int next_block(struct blocks *blocks, int64_t round)
{
    if (blocks->data->dual) return column_block(blocks, round);
    int64_t at = round * WEFT_BLOCK, n = blocks->data->data->part[WEFT_TRAIN].n;
    int count = (int)(n - at < WEFT_BLOCK ? n - at : WEFT_BLOCK);
    row_block(blocks->data, at, count, blocks->data->mean, blocks->b);
    return count;
}

/* ---- the matrix ---- */

/* Columns c0 .. c0+width-1 of the Gram matrix, rows c0 and on, in units of 2^-scale.
 * Collective. */
static void panel(struct blocks *blocks, int c0, int width, int scale, double *part,
                  int64_t *whole)
{
    int rows = blocks->m - c0;
    size_t cells = (size_t)rows * (size_t)width;
    memset(whole, 0, cells * sizeof *whole);
    for (int64_t e = 0; e < rounds_of(blocks); e++) {
        int count = next_block(blocks, e);
        if (count == 0) continue;
        cblas_dgemm(CblasRowMajor, CblasTrans, CblasNoTrans, rows, width, count, 1,
                    blocks->b + c0, blocks->m, blocks->b + c0, blocks->m, 0, part, width);
        for (size_t i = 0; i < cells; i++) whole[i] += weft_fix(part[i], scale);
    }
    weft_sum_i64(blocks->data->team, whole, cells);
}

void flow_gram(const flow_data *data, int m, double *gram, weft_arena *tmp)
{
    size_t mark = weft_arena_mark(tmp);
    struct blocks blocks = blocks_new(data, m, tmp);
    double entry = 2 * data->largest, terms = (double)(data->dual ? data->p : data->n);
    int scale = weft_fix_scale(terms * entry * entry);
    int most = m < WIDE ? m : WIDE;
    double *part = WEFT_NEW(tmp, double, (size_t)m *(size_t)most);
    int64_t *whole = WEFT_NEW(tmp, int64_t, (size_t)m * (size_t)most);
    for (int c0 = 0; c0 < m; c0 += WIDE) {
        int width = m - c0 < WIDE ? m - c0 : WIDE;
        panel(&blocks, c0, width, scale, part, whole);
        for (int i = 0; gram && i < m - c0; i++)
            for (int j = 0; j < width; j++)
                gram[(size_t)(c0 + i) * (size_t)m + (size_t)(c0 + j)] =
                    weft_unfix(whole[(size_t)i * (size_t)width + (size_t)j], scale);
    }
    weft_arena_reset(tmp, mark);
}
