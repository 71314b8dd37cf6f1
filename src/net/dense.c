/* A dense layer, y = x W^T + b. Samples are packed, some at a time, and W is read where it
 * is. */
#include "stack.h"

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

size_t weft_dense_packed(const weft_layer *l, int most)
{
    size_t x = weft_packed_bytes(min(BLOCK_LONG, l->c), min(most, BLOCK_ROWS)),
           w = weft_packed_bytes(min(BLOCK_FEW, l->out), min(BLOCK_LONG, l->c));
    return x > w ? x : w;
}

const real *const *weft_sample_rows(weft_scratch *t, int n, int64_t wide, const real *x)
{
    for (int i = 0; i < n; i++) t->row[i] = x + i * wide;
    return t->row;
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
static void rows_forward(const weft_layer *l, weft_scratch *t, const real *w, int n,
                         const real *const *x, real *y)
{
    int m = l->out;
    const real *bias = w + l->bias, *z = t->transposed;
    for (int i = 0; i < l->c; i += BLOCK_LONG) {
        weft_packed p;
        weft_packed_rows(&p, min(BLOCK_LONG, l->c - i), n, x, i, t->packed);
        weft_packed_times(m, w + l->weight + i, (size_t)l->c, &p, i > 0, t->transposed,
                          (size_t)n);
    }
    for (int i = 0; i < n; i++, y += m) {
        for (int j = 0; j < m; j++) y[j] = z[(int64_t)j * n + i] + bias[j];
        for (int j = 0; l->relu && j < m; j++) y[j] = y[j] < 0 ? 0 : y[j];
    }
}

void weft_dense_forward(const weft_layer *l, weft_scratch *t, const real *w, int n,
                        const real *const *x, real *y)
{
    for (int i = 0; i < n; i += BLOCK_ROWS)
        rows_forward(l, t, w, min(BLOCK_ROWS, n - i), x + i, y + (int64_t)i * l->out);
}

/* ---- backward ---- */

/* dx[n][c] = dy W. */
static void input_gradient(const weft_layer *l, weft_scratch *t, const real *w, int n,
                           const real *dy, real *dx)
{
    int k = l->out, m = l->c;
    for (int i = 0; i < k; i += BLOCK_FEW)
        for (int j = 0; j < m; j += BLOCK_LONG) {
            weft_packed p;
            weft_packed_pack(&p, min(BLOCK_FEW, k - i), min(BLOCK_LONG, m - j),
                             w + (int64_t)i * m + j, (size_t)m, 0, t->packed);
            weft_packed_times(n, dy + i, (size_t)k, &p, i > 0, dx + j, (size_t)m);
        }
}

void weft_dense_backward(const weft_layer *l, weft_scratch *t, const real *w, int n,
                         const real *const *x, const real *dy, real *g, real *dx)
{
    int k = l->c, m = l->out;
    real *bias = g + l->bias;
    memset(bias, 0, (size_t)m * sizeof *g);
    for (int i = 0; i < n; i++)
        for (int j = 0; j < m; j++) bias[j] += dy[(int64_t)i * m + j];
    weft_outer_rows(n, m, dy, (size_t)m, k, x, 0, g + l->weight, (size_t)k, t->tmp);
    if (dx) input_gradient(l, t, w + l->weight, n, dy, dx);
}
