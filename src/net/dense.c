/* A dense layer, y = x W^T + b. With few samples x is packed and W is read only once;
 * otherwise W is packed, in blocks that fit a core's cache. Called by stack.c. */
#include "stack.h"

#include <string.h>

/* Sizes of blocks. Packed blocks of W fit the cache and are long in the direction of its
 * rows, which are contiguous in memory. */
enum {
    BLOCK_LONG = 1024, /* numbers of a row */
    BLOCK_SHORT = 64,  /* rows in the forward pass, where they are columns of the packed
                          matrix */
    BLOCK_FEW = 16,    /* rows in the backward pass */
    GRADIENT_ROWS = 56 /* rows of the gradient at a time: with 3000 numbers each they fit
                          the cache */
};

static int min(int a, int b)
{
    return a < b ? a : b;
}

size_t weft_dense_packed(const weft_layer *l, int most)
{
    size_t w = weft_packed_bytes(BLOCK_LONG, BLOCK_SHORT),
           v = weft_packed_bytes(BLOCK_FEW, BLOCK_LONG);
    size_t x = weft_packed_bytes(l->c, min(most, l->out));
    return x > w ? x > v ? x : v : w > v ? w : v;
}

/* ---- forward ------------------------------------------------------------------------ */

/* y[n][out] = (W x^T)^T for packed x. */
static void times_packed_x(const weft_layer *l, weft_scratch *t, const real *w, int n,
                           const real *x, real *y)
{
    int m = l->out;
    weft_packed p;
    weft_packed_pack(&p, l->c, n, x, (size_t)l->c, 1, t->packed);
    weft_packed_times(m, w, (size_t)l->c, &p, 0, t->transposed, (size_t)n);
    for (int j = 0; j < m; j++)
        for (int i = 0; i < n; i++)
            y[(int64_t)i * m + j] = t->transposed[(int64_t)j * n + i];
}

/* y[n][out] = x W^T for packed W. */
static void times_packed_w(const weft_layer *l, weft_scratch *t, const real *w, int n,
                           const real *x, real *y)
{
    int k = l->c, m = l->out;
    for (int j = 0; j < m; j += BLOCK_SHORT)
        for (int i = 0; i < k; i += BLOCK_LONG) {
            weft_packed p;
            weft_packed_pack(&p, min(BLOCK_LONG, k - i), min(BLOCK_SHORT, m - j),
                             w + (int64_t)j * k + i, (size_t)k, 1, t->packed);
            weft_packed_times(n, x + i, (size_t)k, &p, i > 0, y + j, (size_t)m);
        }
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

void weft_dense_forward(const weft_layer *l, weft_scratch *t, const real *w, int n,
                        const real *x, real *y)
{
    int m = l->out;
    const real *bias = w + l->bias;
    if (n < m)
        times_packed_x(l, t, w + l->weight, n, x, y);
    else
        times_packed_w(l, t, w + l->weight, n, x, y);
    for (int i = 0; i < n; i++, y += m) {
        for (int j = 0; j < m; j++) y[j] += bias[j];
        for (int j = 0; l->relu && j < m; j++) y[j] = y[j] < 0 ? 0 : y[j];
    }
}

/* ---- backward ----------------------------------------------------------------------- */

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
                         const real *x, const real *dy, real *g, real *dx)
{
    int k = l->c, m = l->out;
    real *bias = g + l->bias;
    memset(bias, 0, (size_t)m * sizeof *g);
    for (int i = 0; i < n; i++)
        for (int j = 0; j < m; j++) bias[j] += dy[(int64_t)i * m + j];
    for (int j = 0; j < m; j += GRADIENT_ROWS) { /* cleared just before they are added to */
        real *part = g + l->weight + (int64_t)j * k;
        int rows = min(GRADIENT_ROWS, m - j);
        memset(part, 0, (size_t)rows * (size_t)k * sizeof *g);
        weft_outer(n, rows, dy + j, (size_t)m, k, x, (size_t)k, part, (size_t)k, t->tmp);
    }
    if (dx) input_gradient(l, t, w + l->weight, n, dy, dx);
}
