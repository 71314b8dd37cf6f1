/* A dense layer, y = x W^T + b. Samples are packed, some at a time, and W is read where it
 * is. */
#include "stack.h"
#include "weft/gemm.h"

#include <string.h>

/* Sizes of blocks: packed they fit a core's cache. */
enum {
    BLOCK_LONG = 1024, /* inputs whose products are summed at a time */
    BLOCK_ROWS = 64,   /* samples in the forward pass */
    BLOCK_FEW = 16     /* rows of W in the backward pass */
};

static int min(int a, int b)
{
    return a < b ? a : b;
}

size_t weft_dense_packed(const weft_layer *layer, int most)
{
    size_t x = weft_packed_bytes(min(BLOCK_LONG, layer->c), min(most, BLOCK_ROWS)),
           w = weft_packed_bytes(min(BLOCK_FEW, layer->out), min(BLOCK_LONG, layer->c));
    return x > w ? x : w;
}

const real *const *weft_sample_rows(weft_scratch *scratch, int n, int64_t wide,
                                    const real *x)
{
    for (int i = 0; i < n; i++) scratch->row[i] = x + i * wide;
    return scratch->row;
}

weft_layer weft_dense_layer(int in, int out, int relu, int64_t at)
{
    return (weft_layer){.pool = 1,
                        .relu = relu,
                        .h = 1,
                        .w = 1,
                        .c = in,
                        .oh = 1,
                        .ow = 1,
                        .out = out,
                        .units = out,
                        .weight = at,
                        .bias = at + (int64_t)in * out};
}

/* ---- forward ---- */

/* y[n][out] of up to BLOCK_ROWS samples. A row of y depends only on its row of x. */
static void rows_forward(const weft_layer *layer, weft_scratch *scratch, const real *w,
                         int n, const real *const *x, real *y)
{
    int m = layer->out;
    const real *bias = w + layer->bias, *z = scratch->transposed;
    for (int i = 0; i < layer->c; i += BLOCK_LONG) {
        weft_packed packed;
        weft_packed_rows(&packed, min(BLOCK_LONG, layer->c - i), n, x, i, scratch->packed);
        weft_packed_times(m, w + layer->weight + i, (size_t)layer->c, &packed, i > 0,
                          scratch->transposed, (size_t)n);
    }
    for (int i = 0; i < n; i++, y += m) {
        for (int j = 0; j < m; j++) y[j] = z[(int64_t)j * n + i] + bias[j];
        for (int j = 0; layer->relu && j < m; j++) y[j] = y[j] < 0 ? 0 : y[j];
    }
}

void weft_dense_forward(const weft_layer *layer, weft_scratch *scratch, const real *w,
                        int n, const real *const *x, real *y)
{
    for (int i = 0; i < n; i += BLOCK_ROWS)
        rows_forward(layer, scratch, w, min(BLOCK_ROWS, n - i), x + i,
                     y + (int64_t)i * layer->out);
}

/* ---- backward ---- */

/* dx[n][c] = dy W. */
static void input_gradient(const weft_layer *layer, weft_scratch *scratch, const real *w,
                           int n, const real *dy, real *dx)
{
    int k = layer->out, m = layer->c;
    for (int i = 0; i < k; i += BLOCK_FEW)
        for (int j = 0; j < m; j += BLOCK_LONG) {
            weft_packed packed;
            weft_packed_pack(&packed, min(BLOCK_FEW, k - i), min(BLOCK_LONG, m - j),
                             w + (int64_t)i * m + j, (size_t)m, 0, scratch->packed);
            weft_packed_times(n, dy + i, (size_t)k, &packed, i > 0, dx + j, (size_t)m);
        }
}

void weft_dense_backward(const weft_layer *layer, weft_scratch *scratch, const real *w,
                         int n, const real *const *x, const real *dy, real *g, real *dx)
{
    int k = layer->c, m = layer->out;
    real *bias = g + layer->bias;
    memset(bias, 0, (size_t)m * sizeof *g);
    for (int i = 0; i < n; i++)
        for (int j = 0; j < m; j++) bias[j] += dy[(int64_t)i * m + j];
    weft_outer_rows(n, m, dy, (size_t)m, k, x, 0, g + layer->weight, (size_t)k,
                    scratch->tmp);
    if (dx) input_gradient(layer, scratch, w + layer->weight, n, dy, dx);
}
