/* A convolution of k x k places, and what follows it: ReLU, pooling, normalisation.
 *
 * An image is unfolded into z[row][column][k][c], with the k rows that a row of results
 * needs side by side. The k x k x c numbers of a position are then contiguous, and so are
 * those of the next position, k c further on: the convolution of an image is one product of
 * overlapping rows with W, with 1/k of the memory of a full unfolding. The k - 1 positions
 * at the end of each row, where a row runs into the next, are computed and not used.
 *
 * Max-pooling is done before bias and ReLU, which are monotonic. Pooling of 3 x 3 places,
 * every second one, with smaller windows at the lower and right edges, and response
 * normalisation are those of Krizhevsky, "cuda-convnet", 2011. */
#include "net.h"

#include <math.h>
#include <string.h>

/* Columns of an image with its margin. */
static int stride_of(const weft_layer *layer)
{
    return layer->w + 2 * layer->pad;
}

/* The positions of an image, without those after the last one. */
static int positions(const weft_layer *layer)
{
    return layer->oh * stride_of(layer) - (layer->k - 1);
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
    return (size_t)(max64((int64_t)layer->oh * stride_of(layer) * layer->c,
                          (int64_t)layer->h * (layer->w + layer->k - 1) * layer->out) *
                    layer->k);
}

size_t weft_conv_sums(const weft_layer *layer)
{
    return (size_t)layer->oh * (size_t)stride_of(layer) * (size_t)layer->out;
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

/* ---- pooling ---- */

enum { SIDE = 3, STEP = 2, AREA = SIDE * SIDE };

/* y[oh][ow][out] = max(0, sums + bias). */
static void crop(const weft_layer *layer, const real *sums, const real *bias, real *y)
{
    int c = layer->out;
    for (int i = 0; i < layer->oh; i++)
        for (int j = 0; j < layer->ow; j++, y += c) {
            const real *x = sums + ((int64_t)i * stride_of(layer) + j) * c;
            for (int o = 0; o < c; o++) y[o] = x[o] + bias[o] < 0 ? 0 : x[o] + bias[o];
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

/* Numbers of an image before mean-pooling. */
static int64_t whole_size(const weft_layer *layer)
{
    return (int64_t)layer->oh * layer->ow * layer->out;
}

/* y = max(0, largest of 2 x 2 positions of `sums` + bias), and the index of the largest. */
static void max_2x2(const weft_layer *layer, const real *sums, const real *bias, real *y,
                    int32_t *argmax)
{
    int c = layer->out, row = stride_of(layer) * c;
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

/* Gradient with respect to `sums`: dy at the largest position of each window, else 0. */
static void max_2x2_backward(const weft_layer *layer, const real *dy, const int32_t *argmax,
                             real *sums)
{
    int c = layer->out, row = stride_of(layer) * c;
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

/* The window of output (i, j): its rows and columns that are in the image. */
struct window {
    int rows, columns;
    int64_t at; /* index of its first position */
};

static struct window window_of(const weft_layer *layer, int stride, int i, int j)
{
    return (struct window){net_min(SIDE, layer->oh - STEP * i),
                           net_min(SIDE, layer->ow - STEP * j),
                           (int64_t)STEP * i * stride + STEP * j};
}

/* y[oh / 2][ow / 2][out] of `sums` z, ReLU after bias, and the place of the largest in each
 * window. */
static void max_3x3(const weft_layer *layer, const real *restrict z,
                    const real *restrict bias, real *restrict y, int32_t *restrict argmax)
{
    int c = layer->out, stride = stride_of(layer);
    for (int i = 0; i < layer->oh / STEP; i++)
        for (int j = 0; j < layer->ow / STEP; j++, y += c, argmax += c) {
            struct window window = window_of(layer, stride, i, j);
            memcpy(y, z + window.at * c, (size_t)c * sizeof *y);
            memset(argmax, 0, (size_t)c * sizeof *argmax);
            for (int p = 1; p < AREA; p++) {
                if (p / SIDE >= window.rows || p % SIDE >= window.columns) continue;
                const real *x = z + (window.at + p / SIDE * stride + p % SIDE) * c;
                for (int o = 0; o < c; o++) {
                    argmax[o] = x[o] > y[o] ? p : argmax[o];
                    y[o] = x[o] > y[o] ? x[o] : y[o];
                }
            }
            for (int o = 0; o < c; o++) y[o] = y[o] + bias[o] < 0 ? 0 : y[o] + bias[o];
        }
}

/* The same for means; activated[oh][ow][out] are the numbers whose means they are. */
static void mean_3x3(const weft_layer *layer, const real *sums, const real *bias,
                     real *restrict activated, real *restrict y)
{
    int c = layer->out;
    crop(layer, sums, bias, activated);
    for (int i = 0; i < layer->oh / STEP; i++)
        for (int j = 0; j < layer->ow / STEP; j++, y += c) {
            struct window window = window_of(layer, layer->ow, i, j);
            real share = (real)1 / (real)(window.rows * window.columns);
            memset(y, 0, (size_t)c * sizeof *y);
            for (int r = 0; r < window.rows; r++) {
                const real *x = activated + (window.at + (int64_t)r * layer->ow) * c;
                for (int p = 0; p < window.columns; p++, x += c)
                    for (int o = 0; o < c; o++) y[o] += x[o];
            }
            for (int o = 0; o < c; o++) y[o] *= share;
        }
}

/* z <- gradient with respect to the sums, from dy; 0 in columns that are not used. */
static void max_3x3_backward(const weft_layer *layer, const real *restrict dy,
                             const int32_t *restrict argmax, real *restrict z)
{
    int c = layer->out, stride = stride_of(layer);
    memset(z, 0, weft_conv_sums(layer) * sizeof *z);
    for (int i = 0; i < layer->oh / STEP; i++)
        for (int j = 0; j < layer->ow / STEP; j++, dy += c, argmax += c) {
            struct window window = window_of(layer, stride, i, j);
            for (int p = 0; p < AREA; p++) {
                if (p / SIDE >= window.rows || p % SIDE >= window.columns) continue;
                real *x = z + (window.at + p / SIDE * stride + p % SIDE) * c;
                for (int o = 0; o < c; o++) x[o] += argmax[o] == p ? dy[o] : 0;
            }
        }
}

static void mean_3x3_backward(const weft_layer *layer, const real *restrict dy,
                              const real *restrict activated, real *restrict z)
{
    int c = layer->out, stride = stride_of(layer);
    memset(z, 0, weft_conv_sums(layer) * sizeof *z);
    for (int i = 0; i < layer->oh / STEP; i++)
        for (int j = 0; j < layer->ow / STEP; j++, dy += c) {
            struct window window = window_of(layer, stride, i, j);
            real share = (real)1 / (real)(window.rows * window.columns);
            for (int r = 0; r < window.rows; r++) {
                real *x = z + (window.at + (int64_t)r * stride) * c;
                for (int p = 0; p < window.columns; p++, x += c)
                    for (int o = 0; o < c; o++) x[o] += share * dy[o];
            }
        }
    for (int i = 0; i < layer->oh; i++, z += (int64_t)stride * c)
        for (int64_t e = 0; e < (int64_t)layer->ow * c; e++, activated++)
            z[e] = *activated > 0 ? z[e] : 0;
}

/* ---- normalisation ---- */

/* x^-power, 1 <= x. In plain arithmetic, each operation rounded once, so that the bits are
 * the same on all CPUs: x = 2^e m with m around 1, log m = 2 atanh((m - 1) / (m + 1)) and
 * the exponential of the rest as series. In single precision the relative error is below
 * 1e-6 for results above 1e-7; results below 2^-126 are that. */
#ifdef WEFT_DOUBLE
static double power_of(double x, double power)
{
    return pow(x, -power);
}
#else
static float power_of(float x, float power)
{
    uint32_t bits;
    memcpy(&bits, &x, sizeof bits);
    uint32_t e = (bits - 0x3f3504f3) >> 23; /* m from the root of 1/2 to that of 2 */
    bits -= e << 23;
    float m;
    memcpy(&m, &bits, sizeof m);
    float u = (m - 1) / (m + 1), q = u * u;
    float log =
        2.885390082f * u + u * q * (0.961796694f + q * (0.577078016f + q * 0.412198583f));
    float t = -power * ((float)(int32_t)e + log);
    t = t > -126 ? t : -126;
    int32_t activated = (int32_t)(t - 0.5f);
    float r = (t - (float)activated) * 0.693147181f;
    float rest = 0.0416666667f + r * (0.00833333333f + r * 0.00138888889f);
    rest = 1 + r * (1 + r * (0.5f + r * (0.166666667f + r * rest)));
    bits = (uint32_t)(activated + 127) << 23;
    memcpy(&m, &bits, sizeof m);
    return rest * m;
}
#endif

/* sum[w][c] = the sum of a b over the 3 x 3 positions of [h][w][c] around each position of
 * row i, as far as they exist. With `restrict` these loops are vectors, which halves their
 * time. */
static void sum_neighbours(const weft_layer *layer, int i, const real *restrict a,
                           const real *restrict b, real *restrict sum)
{
    int h = layer->oh / STEP, w = layer->ow / STEP, c = layer->out;
    memset(sum, 0, (size_t)w * (size_t)c * sizeof *sum);
    for (int r = i > 0 ? i - 1 : 0; r < h && r <= i + 1; r++)
        for (int p = -1; p <= 1; p++) {
            int from = p < 0 ? 1 : 0, to = p > 0 ? w - 1 : w;
            int64_t at = ((int64_t)r * w + p) * c;
            for (int e = from * c; e < to * c; e++) sum[e] += a[at + e] * b[at + e];
        }
}

/* n numbers of y, factor, slope from x and the sums of squares, which are in factor. */
static void normalise(const weft_layer *layer, int n, const real *restrict x,
                      real *restrict y, real *restrict factor, real *restrict slope)
{
    real scale = (real)(layer->scale / AREA), power = (real)layer->power;
    for (int e = 0; e < n; e++) {
        real d = 1 + scale * factor[e];
        real f = power_of(d, power);
        factor[e] = f;
        y[e] = x[e] * f;
        slope[e] = y[e] / d;
    }
}

/* Local response normalisation within a map:
 *     y = x D^-power, D = 1 + scale / 9 (sum of x^2 over the 3 x 3 positions around x),
 * where positions outside the image count as 0. Krizhevsky, cuda-convnet, layer `rnorm` of
 * size 3. x, y, factor = D^-power and slope = x factor / D are [units]. */
static void norm_forward(const weft_layer *layer, const real *x, real *y, real *factor,
                         real *slope)
{
    int row = layer->ow / STEP * layer->out;
    for (int i = 0; i < layer->oh / STEP; i++) {
        sum_neighbours(layer, i, x, x, factor + i * row);
        normalise(layer, row, x + i * row, y + i * row, factor + i * row, slope + i * row);
    }
}

/* Turns dy[units], the gradient with respect to y, into that with respect to x:
 * dx = dy factor - 2 power scale / 9 x (sum of dy slope around x). tmp[units]. */
static void norm_backward(const weft_layer *layer, const real *x, const real *factor,
                          const real *slope, real *tmp, real *dy)
{
    int row = layer->ow / STEP * layer->out;
    real share = (real)(2 * layer->power * layer->scale / AREA);
    memcpy(tmp, dy, (size_t)layer->units * sizeof *tmp);
    for (int i = 0; i < layer->oh / STEP; i++) {
        sum_neighbours(layer, i, tmp, slope, dy + i * row);
        for (int e = i * row; e < (i + 1) * row; e++)
            dy[e] = tmp[e] * factor[e] - share * x[e] * dy[e];
    }
}

/* ---- forward ---- */

/* y[units] of image i of the batch, from `sums`. */
static void activate(const weft_layer *layer, const real *sums, const real *bias, int64_t i,
                     real *y, const weft_saved *saved)
{
    int64_t at = i * layer->units;
    real *x = layer->scale > 0 ? saved->pooled + at : y;
    if (layer->pool == 1)
        crop(layer, sums, bias, x);
    else if (layer->pooling == WEFT_MAX_2X2)
        max_2x2(layer, sums, bias, x, saved->argmax + at);
    else if (layer->pooling == WEFT_MAX_3X3)
        max_3x3(layer, sums, bias, x, saved->argmax + at);
    else
        mean_3x3(layer, sums, bias, saved->activated + i * whole_size(layer), x);
    if (layer->scale > 0) norm_forward(layer, x, y, saved->factor + at, saved->slope + at);
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
    struct image one = {scratch->sums, layer->oh, layer->ow, layer->out, stride_of(layer)};
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
        norm_backward(layer, saved->pooled + at, saved->factor + at, saved->slope + at,
                      scratch->unfolded, dy);
    if (layer->pool == 1)
        uncrop(layer, dy, scratch->sums);
    else if (layer->pooling == WEFT_MAX_2X2)
        max_2x2_backward(layer, dy, saved->argmax + at, scratch->sums);
    else if (layer->pooling == WEFT_MAX_3X3)
        max_3x3_backward(layer, dy, saved->argmax + at, scratch->sums);
    else
        mean_3x3_backward(layer, dy, saved->activated + i * whole_size(layer),
                          scratch->sums);
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
            add_places(layer, layer->oh * stride_of(layer) * layer->out, scratch->sums,
                       bias);
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
