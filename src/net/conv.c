/* A convolution of k x k places, and what follows it: ReLU, pooling, normalisation.
 *
 * An image is spread into z[row][column][k][c], the k rows that a row of results needs
 * beside each other. The k x k x c numbers of a place are then contiguous, and so are those
 * of the place next to it, k c further on: the convolution of an image is one product of
 * overlapping rows with W, at a k-th of the memory of unfolding them. The k - 1 places at
 * the end of each row, where a row runs into the next, are computed and not used.
 *
 * Pooling is done before bias and ReLU, which are monotonic. Called by stack.c. */
#include "stack.h"

#include <string.h>

/* Columns of an image with its margin. */
static int stride(const weft_layer *l)
{
    return l->w + 2 * l->pad;
}

/* The places of an image, but for those after the last one. */
static int places(const weft_layer *l)
{
    return l->oh * stride(l) - (l->k - 1);
}

static int64_t most(int64_t a, int64_t b)
{
    return a > b ? a : b;
}

/* Sizes of the sums of a place: forward, and for the gradient with respect to the input. */
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

size_t weft_conv_spread(const weft_layer *l)
{
    return (size_t)(most((int64_t)l->oh * stride(l) * l->c,
                         (int64_t)l->h * (l->w + l->k - 1) * l->out) *
                    l->k);
}

size_t weft_conv_wide(const weft_layer *l)
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
static void spread(const image *x, int k, int pad, real *z)
{
    int wide = x->w + 2 * pad, rows = x->h + 2 * pad + 1 - k;
    int step = k * x->c;
    size_t one = (size_t)x->c * sizeof *z;
    for (int y = 0; y < rows; y++)
        for (int r = 0; r < k; r++) {
            int from = y + r - pad;
            int inside = from >= 0 && from < x->h;
            const real *row = x->x + (int64_t)(inside ? from : 0) * x->stride * x->c;
            real *to = z + (int64_t)y * wide * step + r * x->c;
            for (int i = 0; i < wide; i++, to += step) {
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

/* y = max(0, largest of the places of `wide` + bias), and which was the largest. */
static void pool(const weft_layer *l, const real *wide, const real *bias, real *y,
                 int32_t *pick)
{
    int c = l->out, row = stride(l) * c;
    for (int i = 0; i < l->oh / 2; i++)
        for (int j = 0; j < l->ow / 2; j++, y += c, pick += c) {
            const real *x = wide + (int64_t)2 * i * row + 2 * j * c;
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
                pick[o] = at;
            }
        }
}

static void crop(const weft_layer *l, const real *wide, const real *bias, real *y)
{
    int c = l->out;
    for (int i = 0; i < l->oh; i++)
        for (int j = 0; j < l->ow; j++, y += c) {
            const real *x = wide + ((int64_t)i * stride(l) + j) * c;
            for (int o = 0; o < c; o++) y[o] = x[o] + bias[o] < 0 ? 0 : x[o] + bias[o];
        }
}

/* Numbers of an image before its places are averaged. */
static int64_t whole_size(const weft_layer *l)
{
    return (int64_t)l->oh * l->ow * l->out;
}

/* y[units] of image i of the batch, from `wide`. */
static void activate(const weft_layer *l, const real *wide, const real *bias, int64_t i,
                     real *y, const weft_kept *kept)
{
    int64_t at = i * l->units;
    real *x = l->scale > 0 ? kept->pooled + at : y;
    if (l->pool == 1)
        crop(l, wide, bias, x);
    else if (l->pooling == WEFT_MAX_2X2)
        pool(l, wide, bias, x, kept->pick + at);
    else if (l->pooling == WEFT_MAX_3X3)
        weft_pool_forward(l, stride(l), wide, bias, x, kept->pick + at, NULL);
    else
        weft_pool_forward(l, stride(l), wide, bias, x, NULL,
                          kept->whole + i * whole_size(l));
    if (l->scale > 0) weft_norm_forward(l, x, y, kept->factor + at, kept->slope + at);
}

void weft_conv_forward(const weft_layer *l, weft_scratch *t, const real *w, int n,
                       const real *x, real *y, const weft_kept *kept)
{
    int64_t in = (int64_t)l->h * l->w * l->c;
    weft_packed p;
    weft_packed_pack(&p, terms(l), l->out, w + l->weight, (size_t)terms(l), 1, t->packed);
    for (int64_t i = 0; i < n; i++) {
        image one = {x + i * in, l->h, l->w, l->c, l->w};
        spread(&one, l->k, l->pad, t->spread);
        weft_packed_times(places(l), t->spread, (size_t)(l->k * l->c), &p, 0, t->wide,
                          (size_t)l->out);
        activate(l, t->wide, w + l->bias, i, y + i * l->units, kept);
    }
}

/* ---- backward ----------------------------------------------------------------------- */

/* The places of `wide` that were picked are given dy, all others 0. */
static void unpool(const weft_layer *l, const real *dy, const int32_t *pick, real *wide)
{
    int c = l->out, row = stride(l) * c;
    memset(wide, 0, weft_conv_wide(l) * sizeof *wide);
    for (int i = 0; i < l->oh / 2; i++)
        for (int j = 0; j < l->ow / 2; j++, dy += c, pick += c) {
            real *x = wide + (int64_t)2 * i * row + 2 * j * c;
            for (int o = 0; o < c; o++) {
                x[o] = pick[o] == 0 ? dy[o] : 0;
                x[o + c] = pick[o] == 1 ? dy[o] : 0;
                x[o + row] = pick[o] == 2 ? dy[o] : 0;
                x[o + row + c] = pick[o] == 3 ? dy[o] : 0;
            }
        }
}

static void uncrop(const weft_layer *l, const real *dy, real *wide)
{
    size_t row = (size_t)l->ow * (size_t)l->out;
    size_t margin = (size_t)(l->k - 1) * (size_t)l->out;
    for (int i = 0; i < l->oh; i++, dy += row, wide += row + margin) {
        memcpy(wide, dy, row * sizeof *wide);
        memset(wide + row, 0, margin * sizeof *wide);
    }
}

/* W as the input's gradient needs it: turned[k columns][k rows][out][c], places in reverse
 * order. */
static void turn(const weft_layer *l, const real *w, real *turned)
{
    int kk = l->k * l->k, c = l->c;
    for (int p = 0; p < kk; p++)
        for (int o = 0; o < l->out; o++)
            memcpy(turned + (int64_t)(p * l->out + o) * c,
                   w + ((int64_t)o * kk + kk - 1 - p) * c, (size_t)c * sizeof *w);
}

/* dx[h][w][c] of an image: the convolution of its `wide` with turned weights. */
static void back(const weft_layer *l, weft_scratch *t, const weft_packed *p, real *dx)
{
    int step = l->k * l->out, wide = l->w + l->k - 1;
    image one = {t->wide, l->oh, l->ow, l->out, stride(l)};
    spread(&one, l->k, l->k - 1 - l->pad, t->spread);
    for (int64_t y = 0; y < l->h; y++)
        weft_packed_times(l->w, t->spread + y * wide * step, (size_t)step, p, 0,
                          dx + y * l->w * l->c, (size_t)l->c);
}

/* `wide`: gradient with respect to the sums of image i, from dy[units], that with respect
 * to its output. */
static void deactivate(const weft_layer *l, const weft_scratch *t, int64_t i, real *dy,
                       const weft_kept *kept)
{
    int64_t at = i * l->units;
    if (l->scale > 0)
        weft_norm_backward(l, kept->pooled + at, kept->factor + at, kept->slope + at,
                           t->spread, dy);
    if (l->pool == 1)
        uncrop(l, dy, t->wide);
    else if (l->pooling == WEFT_MAX_2X2)
        unpool(l, dy, kept->pick + at, t->wide);
    else if (l->pooling == WEFT_MAX_3X3)
        weft_pool_backward(l, stride(l), dy, kept->pick + at, NULL, t->wide);
    else
        weft_pool_backward(l, stride(l), dy, NULL, kept->whole + i * whole_size(l),
                           t->wide);
}

/* sum[out] += x[n / out][out], place by place. */
static void add_places(const weft_layer *l, int n, const real *x, real *sum)
{
    for (int j = 0; j < n; j += l->out)
        for (int o = 0; o < l->out; o++) sum[o] += x[j + o];
}

void weft_conv_backward(const weft_layer *l, weft_scratch *t, const real *w, int n,
                        const real *x, const weft_kept *kept, real *dy, real *g, real *dx)
{
    int64_t in = (int64_t)l->h * l->w * l->c;
    real *gw = g + l->weight, *bias = g + l->bias;
    weft_packed p;
    if (dx) {
        turn(l, w + l->weight, t->turned);
        weft_packed_pack(&p, terms_back(l), l->c, t->turned, (size_t)l->c, 0, t->packed);
    }
    real *sum = t->turned; /* transpose of the gradient: out fills whole vectors */
    memset(sum, 0, (size_t)terms(l) * (size_t)l->out * sizeof *sum);
    memset(bias, 0, (size_t)l->out * sizeof *g);
    for (int64_t i = 0; i < n; i++, dy += l->units) {
        deactivate(l, t, i, dy, kept);
        if (l->pool == 2 && l->pooling == WEFT_MEAN_3X3)
            add_places(l, l->oh * stride(l) * l->out, t->wide, bias);
        else
            add_places(l, l->units, dy, bias);
        image one = {x + i * in, l->h, l->w, l->c, l->w};
        spread(&one, l->k, l->pad, t->spread);
        weft_outer(places(l), terms(l), t->spread, (size_t)(l->k * l->c), l->out, t->wide,
                   (size_t)l->out, sum, (size_t)l->out, t->tmp);
        if (dx) back(l, t, &p, dx + i * in);
    }
    for (int o = 0; o < l->out; o++)
        for (int j = 0; j < terms(l); j++)
            gw[(int64_t)o * terms(l) + j] = sum[(int64_t)j * l->out + o];
}
