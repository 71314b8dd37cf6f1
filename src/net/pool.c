/* Layers after a convolution of cuda-convnet: overlapping pooling, with smaller windows at
 * the lower and right edges, and local response normalisation within a map. Bias and ReLU
 * come before pooling; for max-pooling this makes no difference. Krizhevsky,
 * "cuda-convnet", 2011. */
#include "stack.h"

#include <string.h>

#ifdef WEFT_DOUBLE
#include <math.h>
#endif

enum { SIDE = 3, STEP = 2, AREA = SIDE * SIDE };

static int min(int a, int b)
{
    return a < b ? a : b;
}

/* ---- pooling ---- */

/* The window of output (i, j): its rows and columns that are in the image. */
struct window {
    int rows, columns;
    int64_t at; /* index of its first position */
};

static struct window window_of(const weft_layer *layer, int stride, int i, int j)
{
    return (struct window){min(SIDE, layer->oh - STEP * i), min(SIDE, layer->ow - STEP * j),
                           (int64_t)STEP * i * stride + STEP * j};
}

static void max_forward(const weft_layer *layer, int stride, const real *restrict z,
                        const real *restrict bias, real *restrict y,
                        int32_t *restrict argmax)
{
    int c = layer->out;
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

/* whole[oh][ow][out] = max(0, z + bias). */
static void activate(const weft_layer *layer, int stride, const real *restrict z,
                     const real *restrict bias, real *restrict activated)
{
    int c = layer->out;
    for (int i = 0; i < layer->oh; i++, z += (int64_t)stride * c)
        for (int j = 0; j < layer->ow; j++, activated += c)
            for (int o = 0; o < c; o++) {
                real x = z[j * c + o] + bias[o];
                activated[o] = x < 0 ? 0 : x;
            }
}

static void mean_forward(const weft_layer *layer, const real *restrict activated,
                         real *restrict y)
{
    int c = layer->out;
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

void weft_pool_forward(const weft_layer *layer, int stride, const real *z, const real *bias,
                       real *y, int32_t *argmax, real *activated)
{
    if (layer->pooling == WEFT_MAX_3X3) {
        max_forward(layer, stride, z, bias, y, argmax);
        return;
    }
    activate(layer, stride, z, bias, activated);
    mean_forward(layer, activated, y);
}

static void max_backward(const weft_layer *layer, int stride, const real *restrict dy,
                         const int32_t *restrict argmax, real *restrict z)
{
    int c = layer->out;
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

static void mean_backward(const weft_layer *layer, int stride, const real *restrict dy,
                          const real *restrict activated, real *restrict z)
{
    int c = layer->out;
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

void weft_pool_backward(const weft_layer *layer, int stride, const real *dy,
                        const int32_t *argmax, const real *activated, real *z)
{
    memset(z, 0, (size_t)layer->oh * (size_t)stride * (size_t)layer->out * sizeof *z);
    if (layer->pooling == WEFT_MAX_3X3)
        max_backward(layer, stride, dy, argmax, z);
    else
        mean_backward(layer, stride, dy, activated, z);
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

void weft_norm_forward(const weft_layer *layer, const real *x, real *y, real *factor,
                       real *slope)
{
    int row = layer->ow / STEP * layer->out;
    for (int i = 0; i < layer->oh / STEP; i++) {
        sum_neighbours(layer, i, x, x, factor + i * row);
        normalise(layer, row, x + i * row, y + i * row, factor + i * row, slope + i * row);
    }
}

/* dx = dy factor - 2 power scale / 9 x (sum of dy slope around x). */
void weft_norm_backward(const weft_layer *layer, const real *x, const real *factor,
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
