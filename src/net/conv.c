/* A convolution of k x k places, and what follows it: ReLU, pooling, normalisation.
 *
 * An image is unfolded into z[row][column][k][c], with the k rows that a row of results
 * needs side by side. The k x k x c numbers of a position are then contiguous, and so are
 * those of the next position, k c further on: the convolution of an image is one product of
 * overlapping rows with W, with 1/k of the memory of a full unfolding. The k - 1 positions
 * at the end of each row, where a row runs into the next, are computed and not used.
 *
 * Pooling is done before bias and ReLU, which are monotonic. */
#include "stack.h"

#include <string.h>

/* Columns of an image with its margin. */
static int stride(const weft_layer *l)
{
    return l->w + 2 * l->pad;
}

/* The positions of an image, without those after the last one. */
static int positions(const weft_layer *l)
{
    return l->oh * stride(l) - (l->k - 1);
}

static int64_t max64(int64_t a, int64_t b)
{
    return a > b ? a : b;
}

/* Number of terms of a sum: forward, and for the gradient with respect to the input. */
static int terms(const weft_layer *l)
{
    return l->k * l->k * l->c;
}

static int terms_back(const weft_layer *l)
{
    return l->k * l->k * l->out;
}

size_t weft_conv_packed(const weft_layer *l)
{
    size_t a = weft_packed_bytes(terms(l), l->out);
    size_t b = weft_packed_bytes(terms_back(l), l->c);
    return a > b ? a : b;
}

size_t weft_conv_unfolded(const weft_layer *l)
{
    return (size_t)(max64((int64_t)l->oh * stride(l) * l->c,
                          (int64_t)l->h * (l->w + l->k - 1) * l->out) *
                    l->k);
}

size_t weft_conv_sums(const weft_layer *l)
{
    return (size_t)l->oh * (size_t)stride(l) * (size_t)l->out;
}

/* An image in memory. */
typedef struct image {
    const real *x;
    int h, w, c;
    int stride; /* places from row to row */
} image;

/* z[h + 2 pad + 1 - k][w + 2 pad][k][c] of an image, zeros around it. */
static void unfold(const image *x, int k, int pad, real *z)
{
    int width = x->w + 2 * pad, rows = x->h + 2 * pad + 1 - k;
    int step = k * x->c;
    size_t one = (size_t)x->c * sizeof *z;
    for (int y = 0; y < rows; y++)
        for (int r = 0; r < k; r++) {
            int from = y + r - pad;
            int inside = from >= 0 && from < x->h;
            const real *row = x->x + (int64_t)(inside ? from : 0) * x->stride * x->c;
            real *to = z + (int64_t)y * width * step + r * x->c;
            for (int i = 0; i < width; i++, to += step) {
                const real *place = row + (int64_t)(i - pad) * x->c;
                if (!inside || i < pad || i >= pad + x->w)
                    memset(to, 0, one);
                else if (x->c > 4)
                    memcpy(to, place, one);
                else
                    for (int e = 0; e < x->c; e++) to[e] = place[e];
            }
        }
}

/* y = max(0, largest of 2 x 2 positions of `sums` + bias), and the index of the largest. */
static void pool(const weft_layer *l, const real *sums, const real *bias, real *y,
                 int32_t *argmax)
{
    int c = l->out, row = stride(l) * c;
    for (int i = 0; i < l->oh / 2; i++)
        for (int j = 0; j < l->ow / 2; j++, y += c, argmax += c) {
            const real *x = sums + (int64_t)2 * i * row + 2 * j * c;
            for (int o = 0; o < c; o++) {
                real top = x[o];
                int32_t at = 0;
                at = x[o + c] > top ? 1 : at;
                top = x[o + c] > top ? x[o + c] : top;
                at = x[o + row] > top ? 2 : at;
                top = x[o + row] > top ? x[o + row] : top;
                at = x[o + row + c] > top ? 3 : at;
                top = x[o + row + c] > top ? x[o + row + c] : top;
                top += bias[o];
                y[o] = top < 0 ? 0 : top;
                argmax[o] = at;
            }
        }
}

static void crop(const weft_layer *l, const real *sums, const real *bias, real *y)
{
    int c = l->out;
    for (int i = 0; i < l->oh; i++)
        for (int j = 0; j < l->ow; j++, y += c) {
            const real *x = sums + ((int64_t)i * stride(l) + j) * c;
            for (int o = 0; o < c; o++) y[o] = x[o] + bias[o] < 0 ? 0 : x[o] + bias[o];
        }
}

/* Numbers of an image before mean-pooling. */
static int64_t whole_size(const weft_layer *l)
{
    return (int64_t)l->oh * l->ow * l->out;
}

/* y[units] of image i of the batch, from `sums`. */
static void activate(const weft_layer *l, const real *sums, const real *bias, int64_t i,
                     real *y, const weft_saved *saved)
{
    int64_t at = i * l->units;
    real *x = l->scale > 0 ? saved->pooled + at : y;
    if (l->pool == 1)
        crop(l, sums, bias, x);
    else if (l->pooling == WEFT_MAX_2X2)
        pool(l, sums, bias, x, saved->argmax + at);
    else if (l->pooling == WEFT_MAX_3X3)
        weft_pool_forward(l, stride(l), sums, bias, x, saved->argmax + at, NULL);
    else
        weft_pool_forward(l, stride(l), sums, bias, x, NULL,
                          saved->activated + i * whole_size(l));
    if (l->scale > 0) weft_norm_forward(l, x, y, saved->factor + at, saved->slope + at);
}

void weft_conv_forward(const weft_layer *l, weft_scratch *t, const real *w, int n,
                       const real *x, real *y, const weft_saved *saved)
{
    int64_t in = (int64_t)l->h * l->w * l->c;
    weft_packed p;
    weft_packed_pack(&p, terms(l), l->out, w + l->weight, (size_t)terms(l), 1, t->packed);
    for (int64_t i = 0; i < n; i++) {
        image one = {x + i * in, l->h, l->w, l->c, l->w};
        unfold(&one, l->k, l->pad, t->unfolded);
        weft_packed_times(positions(l), t->unfolded, (size_t)(l->k * l->c), &p, 0, t->sums,
                          (size_t)l->out);
        activate(l, t->sums, w + l->bias, i, y + i * l->units, saved);
    }
}

/* ---- backward ---- */

/* Gradient with respect to `sums`: dy at the largest position of each window, else 0. */
static void unpool(const weft_layer *l, const real *dy, const int32_t *argmax, real *sums)
{
    int c = l->out, row = stride(l) * c;
    memset(sums, 0, weft_conv_sums(l) * sizeof *sums);
    for (int i = 0; i < l->oh / 2; i++)
        for (int j = 0; j < l->ow / 2; j++, dy += c, argmax += c) {
            real *x = sums + (int64_t)2 * i * row + 2 * j * c;
            for (int o = 0; o < c; o++) {
                x[o] = argmax[o] == 0 ? dy[o] : 0;
                x[o + c] = argmax[o] == 1 ? dy[o] : 0;
                x[o + row] = argmax[o] == 2 ? dy[o] : 0;
                x[o + row + c] = argmax[o] == 3 ? dy[o] : 0;
            }
        }
}

static void uncrop(const weft_layer *l, const real *dy, real *sums)
{
    size_t row = (size_t)l->ow * (size_t)l->out;
    size_t margin = (size_t)(l->k - 1) * (size_t)l->out;
    for (int i = 0; i < l->oh; i++, dy += row, sums += row + margin) {
        memcpy(sums, dy, row * sizeof *sums);
        memset(sums + row, 0, margin * sizeof *sums);
    }
}

/* W for the gradient with respect to the input: transposed[k columns][k rows][out][c],
 * positions in reverse order. */
static void transpose_weights(const weft_layer *l, const real *w, real *transposed)
{
    int kk = l->k * l->k, c = l->c;
    for (int p = 0; p < kk; p++)
        for (int o = 0; o < l->out; o++)
            memcpy(transposed + (int64_t)(p * l->out + o) * c,
                   w + ((int64_t)o * kk + kk - 1 - p) * c, (size_t)c * sizeof *w);
}

/* dx[h][w][c] of an image: the convolution of the gradient in t->sums with transposed
 * weights. */
static void input_gradient(const weft_layer *l, weft_scratch *t, const weft_packed *p,
                           real *dx)
{
    int step = l->k * l->out, width = l->w + l->k - 1;
    image one = {t->sums, l->oh, l->ow, l->out, stride(l)};
    unfold(&one, l->k, l->k - 1 - l->pad, t->unfolded);
    for (int64_t y = 0; y < l->h; y++)
        weft_packed_times(l->w, t->unfolded + y * width * step, (size_t)step, p, 0,
                          dx + y * l->w * l->c, (size_t)l->c);
}

/* t->sums <- gradient with respect to the sums of image i, from dy[units], that with
 * respect to its output. */
static void deactivate(const weft_layer *l, const weft_scratch *t, int64_t i, real *dy,
                       const weft_saved *saved)
{
    int64_t at = i * l->units;
    if (l->scale > 0)
        weft_norm_backward(l, saved->pooled + at, saved->factor + at, saved->slope + at,
                           t->unfolded, dy);
    if (l->pool == 1)
        uncrop(l, dy, t->sums);
    else if (l->pooling == WEFT_MAX_2X2)
        unpool(l, dy, saved->argmax + at, t->sums);
    else if (l->pooling == WEFT_MAX_3X3)
        weft_pool_backward(l, stride(l), dy, saved->argmax + at, NULL, t->sums);
    else
        weft_pool_backward(l, stride(l), dy, NULL, saved->activated + i * whole_size(l),
                           t->sums);
}

/* sum[out] += x[n / out][out], position by position. */
static void add_places(const weft_layer *l, int n, const real *x, real *sum)
{
    for (int j = 0; j < n; j += l->out)
        for (int o = 0; o < l->out; o++) sum[o] += x[j + o];
}

void weft_conv_backward(const weft_layer *l, weft_scratch *t, const real *w, int n,
                        const real *x, const weft_saved *saved, real *dy, real *g, real *dx)
{
    int64_t in = (int64_t)l->h * l->w * l->c;
    real *gw = g + l->weight, *bias = g + l->bias;
    weft_packed p;
    if (dx) {
        transpose_weights(l, w + l->weight, t->transposed);
        weft_packed_pack(&p, terms_back(l), l->c, t->transposed, (size_t)l->c, 0,
                         t->packed);
    }
    real *sum = t->transposed; /* transpose of the gradient: out fills whole vectors */
    memset(sum, 0, (size_t)terms(l) * (size_t)l->out * sizeof *sum);
    memset(bias, 0, (size_t)l->out * sizeof *g);
    for (int64_t i = 0; i < n; i++, dy += l->units) {
        deactivate(l, t, i, dy, saved);
        if (l->pool == 2 && l->pooling == WEFT_MEAN_3X3)
            add_places(l, l->oh * stride(l) * l->out, t->sums, bias);
        else
            add_places(l, l->units, dy, bias);
        image one = {x + i * in, l->h, l->w, l->c, l->w};
        unfold(&one, l->k, l->pad, t->unfolded);
        weft_outer(positions(l), terms(l), t->unfolded, (size_t)(l->k * l->c), l->out,
                   t->sums, (size_t)l->out, 1, sum, (size_t)l->out, t->tmp);
        if (dx) input_gradient(l, t, &p, dx + i * in);
    }
    for (int o = 0; o < l->out; o++)
        for (int j = 0; j < terms(l); j++)
            gw[(int64_t)o * terms(l) + j] = sum[(int64_t)j * l->out + o];
}
