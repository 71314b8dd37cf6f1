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
#include "weft/gemm.h"

#include <string.h>

/* Columns of an image with its margin. */
static int stride(const weft_layer *layer)
{
    return layer->w + 2 * layer->pad;
}

/* The positions of an image, without those after the last one. */
static int positions(const weft_layer *layer)
{
    return layer->oh * stride(layer) - (layer->k - 1);
}

static int64_t max64(int64_t a, int64_t b)
{
    return a > b ? a : b;
}

/* Number of terms of a sum: forward, and for the gradient with respect to the input. */
static int terms(const weft_layer *layer)
{
    return layer->k * layer->k * layer->c;
}

static int terms_back(const weft_layer *layer)
{
    return layer->k * layer->k * layer->out;
}

size_t weft_conv_packed(const weft_layer *layer)
{
    size_t a = weft_packed_bytes(terms(layer), layer->out);
    size_t b = weft_packed_bytes(terms_back(layer), layer->c);
    return a > b ? a : b;
}

size_t weft_conv_unfolded(const weft_layer *layer)
{
    return (size_t)(max64((int64_t)layer->oh * stride(layer) * layer->c,
                          (int64_t)layer->h * (layer->w + layer->k - 1) * layer->out) *
                    layer->k);
}

size_t weft_conv_sums(const weft_layer *layer)
{
    return (size_t)layer->oh * (size_t)stride(layer) * (size_t)layer->out;
}

/* An image in memory. */
struct image {
    const real *x;
    int h, w, c;
    int stride; /* places from row to row */
};

/* z[h + 2 pad + 1 - k][w + 2 pad][k][c] of an image, zeros around it. */
static void unfold(const struct image *image, int k, int pad, real *z)
{
    int width = image->w + 2 * pad, rows = image->h + 2 * pad + 1 - k;
    int step = k * image->c;
    size_t one = (size_t)image->c * sizeof *z;
    for (int y = 0; y < rows; y++)
        for (int r = 0; r < k; r++) {
            int from = y + r - pad;
            int inside = from >= 0 && from < image->h;
            const real *row =
                image->x + (int64_t)(inside ? from : 0) * image->stride * image->c;
            real *to = z + (int64_t)y * width * step + r * image->c;
            for (int i = 0; i < width; i++, to += step) {
                const real *place = row + (int64_t)(i - pad) * image->c;
                if (!inside || i < pad || i >= pad + image->w)
                    memset(to, 0, one);
                else if (image->c > 4)
                    memcpy(to, place, one);
                else
                    for (int e = 0; e < image->c; e++) to[e] = place[e];
            }
        }
}

/* y = max(0, largest of 2 x 2 positions of `sums` + bias), and the index of the largest. */
static void pool(const weft_layer *layer, const real *sums, const real *bias, real *y,
                 int32_t *argmax)
{
    int c = layer->out, row = stride(layer) * c;
    for (int i = 0; i < layer->oh / 2; i++)
        for (int j = 0; j < layer->ow / 2; j++, y += c, argmax += c) {
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

static void crop(const weft_layer *layer, const real *sums, const real *bias, real *y)
{
    int c = layer->out;
    for (int i = 0; i < layer->oh; i++)
        for (int j = 0; j < layer->ow; j++, y += c) {
            const real *x = sums + ((int64_t)i * stride(layer) + j) * c;
            for (int o = 0; o < c; o++) y[o] = x[o] + bias[o] < 0 ? 0 : x[o] + bias[o];
        }
}

/* Numbers of an image before mean-pooling. */
static int64_t whole_size(const weft_layer *layer)
{
    return (int64_t)layer->oh * layer->ow * layer->out;
}

/* y[units] of image i of the batch, from `sums`. */
static void activate(const weft_layer *layer, const real *sums, const real *bias, int64_t i,
                     real *y, const weft_saved *saved)
{
    int64_t at = i * layer->units;
    real *x = layer->scale > 0 ? saved->pooled + at : y;
    if (layer->pool == 1)
        crop(layer, sums, bias, x);
    else if (layer->pooling == WEFT_MAX_2X2)
        pool(layer, sums, bias, x, saved->argmax + at);
    else if (layer->pooling == WEFT_MAX_3X3)
        weft_pool_forward(layer, stride(layer), sums, bias, x, saved->argmax + at, NULL);
    else
        weft_pool_forward(layer, stride(layer), sums, bias, x, NULL,
                          saved->activated + i * whole_size(layer));
    if (layer->scale > 0)
        weft_norm_forward(layer, x, y, saved->factor + at, saved->slope + at);
}

void weft_conv_forward(const weft_layer *layer, weft_scratch *scratch, const real *w, int n,
                       const real *x, real *y, const weft_saved *saved)
{
    int64_t in = (int64_t)layer->h * layer->w * layer->c;
    weft_packed packed;
    weft_packed_pack(&packed, terms(layer), layer->out, w + layer->weight,
                     (size_t)terms(layer), 1, scratch->packed);
    for (int64_t i = 0; i < n; i++) {
        struct image one = {x + i * in, layer->h, layer->w, layer->c, layer->w};
        unfold(&one, layer->k, layer->pad, scratch->unfolded);
        weft_packed_times(positions(layer), scratch->unfolded,
                          (size_t)(layer->k * layer->c), &packed, 0, scratch->sums,
                          (size_t)layer->out);
        activate(layer, scratch->sums, w + layer->bias, i, y + i * layer->units, saved);
    }
}

/* ---- backward ---- */

/* Gradient with respect to `sums`: dy at the largest position of each window, else 0. */
static void unpool(const weft_layer *layer, const real *dy, const int32_t *argmax,
                   real *sums)
{
    int c = layer->out, row = stride(layer) * c;
    memset(sums, 0, weft_conv_sums(layer) * sizeof *sums);
    for (int i = 0; i < layer->oh / 2; i++)
        for (int j = 0; j < layer->ow / 2; j++, dy += c, argmax += c) {
            real *x = sums + (int64_t)2 * i * row + 2 * j * c;
            for (int o = 0; o < c; o++) {
                x[o] = argmax[o] == 0 ? dy[o] : 0;
                x[o + c] = argmax[o] == 1 ? dy[o] : 0;
                x[o + row] = argmax[o] == 2 ? dy[o] : 0;
                x[o + row + c] = argmax[o] == 3 ? dy[o] : 0;
            }
        }
}

static void uncrop(const weft_layer *layer, const real *dy, real *sums)
{
    size_t row = (size_t)layer->ow * (size_t)layer->out;
    size_t margin = (size_t)(layer->k - 1) * (size_t)layer->out;
    for (int i = 0; i < layer->oh; i++, dy += row, sums += row + margin) {
        memcpy(sums, dy, row * sizeof *sums);
        memset(sums + row, 0, margin * sizeof *sums);
    }
}

/* W for the gradient with respect to the input: transposed[k columns][k rows][out][c],
 * positions in reverse order. */
static void transpose_weights(const weft_layer *layer, const real *w, real *transposed)
{
    int kk = layer->k * layer->k, c = layer->c;
    for (int p = 0; p < kk; p++)
        for (int o = 0; o < layer->out; o++)
            memcpy(transposed + (int64_t)(p * layer->out + o) * c,
                   w + ((int64_t)o * kk + kk - 1 - p) * c, (size_t)c * sizeof *w);
}

/* dx[h][w][c] of an image: the convolution of the gradient in scratch->sums with transposed
 * weights. */
static void input_gradient(const weft_layer *layer, weft_scratch *scratch,
                           const weft_packed *packed, real *dx)
{
    int step = layer->k * layer->out, width = layer->w + layer->k - 1;
    struct image one = {scratch->sums, layer->oh, layer->ow, layer->out, stride(layer)};
    unfold(&one, layer->k, layer->k - 1 - layer->pad, scratch->unfolded);
    for (int64_t y = 0; y < layer->h; y++)
        weft_packed_times(layer->w, scratch->unfolded + y * width * step, (size_t)step,
                          packed, 0, dx + y * layer->w * layer->c, (size_t)layer->c);
}

/* scratch->sums <- gradient with respect to the sums of image i, from dy[units], that with
 * respect to its output. */
static void deactivate(const weft_layer *layer, const weft_scratch *scratch, int64_t i,
                       real *dy, const weft_saved *saved)
{
    int64_t at = i * layer->units;
    if (layer->scale > 0)
        weft_norm_backward(layer, saved->pooled + at, saved->factor + at, saved->slope + at,
                           scratch->unfolded, dy);
    if (layer->pool == 1)
        uncrop(layer, dy, scratch->sums);
    else if (layer->pooling == WEFT_MAX_2X2)
        unpool(layer, dy, saved->argmax + at, scratch->sums);
    else if (layer->pooling == WEFT_MAX_3X3)
        weft_pool_backward(layer, stride(layer), dy, saved->argmax + at, NULL,
                           scratch->sums);
    else
        weft_pool_backward(layer, stride(layer), dy, NULL,
                           saved->activated + i * whole_size(layer), scratch->sums);
}

/* sum[out] += x[n / out][out], position by position. */
static void add_places(const weft_layer *layer, int n, const real *x, real *sum)
{
    for (int j = 0; j < n; j += layer->out)
        for (int o = 0; o < layer->out; o++) sum[o] += x[j + o];
}

void weft_conv_backward(const weft_layer *layer, weft_scratch *scratch, const real *w,
                        int n, const real *x, const weft_saved *saved, real *dy, real *g,
                        real *dx)
{
    int64_t in = (int64_t)layer->h * layer->w * layer->c;
    real *gw = g + layer->weight, *bias = g + layer->bias;
    weft_packed packed;
    if (dx) {
        transpose_weights(layer, w + layer->weight, scratch->transposed);
        weft_packed_pack(&packed, terms_back(layer), layer->c, scratch->transposed,
                         (size_t)layer->c, 0, scratch->packed);
    }
    real *sum =
        scratch->transposed; /* transpose of the gradient: out fills whole vectors */
    memset(sum, 0, (size_t)terms(layer) * (size_t)layer->out * sizeof *sum);
    memset(bias, 0, (size_t)layer->out * sizeof *g);
    for (int64_t i = 0; i < n; i++, dy += layer->units) {
        deactivate(layer, scratch, i, dy, saved);
        if (layer->pool == 2 && layer->pooling == WEFT_MEAN_3X3)
            add_places(layer, layer->oh * stride(layer) * layer->out, scratch->sums, bias);
        else
            add_places(layer, layer->units, dy, bias);
        struct image one = {x + i * in, layer->h, layer->w, layer->c, layer->w};
        unfold(&one, layer->k, layer->pad, scratch->unfolded);
        weft_outer(positions(layer), terms(layer), scratch->unfolded,
                   (size_t)(layer->k * layer->c), layer->out, scratch->sums,
                   (size_t)layer->out, 1, sum, (size_t)layer->out, scratch->tmp);
        if (dx) input_gradient(layer, scratch, &packed, dx + i * in);
    }
    for (int o = 0; o < layer->out; o++)
        for (int j = 0; j < terms(layer); j++)
            gw[(int64_t)o * terms(layer) + j] = sum[(int64_t)j * layer->out + o];
}
