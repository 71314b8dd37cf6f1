/* Preprocessing of rff: statistics of the training rows, exact and equal on any number of
 * ranks, and the affine views of the inputs that they give. */
#include "rff.h"

#include <math.h>
#include <string.h>

enum { MEAN, DEVIATION, MIN, MAX, STATS };

/* Largest ratio of the columns' scales for which the random matrix is rounded to integers:
 * with larger ones the entries of the smallest scale would round to zero. */
static const double max_scale_ratio = 8;

/* Rounding changes the Laplacian kernel of d inputs by about 1/(10 d); with fewer inputs
 * than this floats are used. */
enum { MIN_INPUTS = 64 };

/* ---- statistics ---- */

/* Bytes: sums[2][d] of numbers and squares are integers; range[2][d] = (-min, max). */
static void sum_bytes(const weft_rows *rows, int d, int64_t *sum, double *range,
                      weft_arena *tmp)
{
    uint32_t *part = WEFT_NEW(tmp, uint32_t, 2 * d);
    uint8_t *min = WEFT_NEW(tmp, uint8_t, d), *max = WEFT_NEW(tmp, uint8_t, d);
    memset(min, 255, (size_t)d);
    for (int64_t at = 0; at < rows->n; at += WEFT_BLOCK) { /* 256 squares fit 32 bits */
        memset(part, 0, 2 * (size_t)d * sizeof *part);
        for (int64_t i = at; i < rows->n && i < at + WEFT_BLOCK; i++) {
            const uint8_t *x = rows->byte + i * d;
            for (int k = 0; k < d; k++) {
                part[k] += x[k];
                part[d + k] += (uint32_t)(x[k] * x[k]);
                min[k] = x[k] < min[k] ? x[k] : min[k];
                max[k] = x[k] > max[k] ? x[k] : max[k];
            }
        }
        for (int k = 0; k < 2 * d; k++) sum[k] += part[k];
    }
    for (int k = 0; k < d && rows->n; k++) {
        range[k] = -min[k];
        range[d + k] = max[k];
    }
}

static void range_reals(const weft_rows *rows, int d, double *range)
{
    for (int64_t i = 0; i < rows->n; i++)
        for (int k = 0; k < d; k++) {
            double x = (double)rows->value[i * d + k];
            range[k] = fmax(range[k], -x);
            range[d + k] = fmax(range[d + k], x);
        }
}

/* Mean of (x - about)^power over all ranks' rows, column by column, exact for the bounds
 * largest[d] on |x - about|^power. Collective. */
static void mean_reals(const weft_rows *rows, int d, const double *about, int power,
                       const double *largest, int64_t total, weft_team *team, double *mean,
                       weft_arena *tmp)
{
    int *scale = WEFT_NEW(tmp, int, d);
    int64_t *sum = WEFT_NEW(tmp, int64_t, d);
    for (int k = 0; k < d; k++) scale[k] = weft_fix_scale(largest[k] * (double)total);
    for (int64_t i = 0; i < rows->n; i++)
        for (int k = 0; k < d; k++) {
            double x = (double)rows->value[i * d + k] - about[k];
            sum[k] += weft_fix(power == 2 ? x * x : x, scale[k]);
        }
    weft_sum_i64(team, sum, (size_t)d);
    for (int k = 0; k < d; k++) mean[k] = weft_unfix(sum[k], scale[k]) / (double)total;
}

/* The deviation of a column by which it is scaled. A column of 0 and 1 alone, whose
 * variance is the largest of its mean and range, has that of even numbers of both:
 * otherwise rows of a level that few have would be far from all others, by 1/sqrt(their
 * share). */
static double spread(double mean, double variance, double min, double max)
{
    double largest = mean * (1 - mean);
    if (min == 0 && max == 1 && variance >= largest * (1 - 1e-6)) return 0.5;
    return sqrt(fmax(variance, 0));
}

void rff_fit(const rff_shared *shared, weft_part part, real *stat, weft_arena *tmp)
{
    int d = shared->d;
    WEFT_REWIND(tmp);
    weft_team *team = shared->data->team;
    const weft_rows *rows = &shared->data->part[part];
    int bytes = shared->data->form == WEFT_BYTES;
    double *range = WEFT_NEW(tmp, double, 2 * d), *mean = WEFT_NEW(tmp, double, d);
    double *variance = WEFT_NEW(tmp, double, d), *zero = WEFT_NEW(tmp, double, d);
    int64_t *sum = WEFT_NEW(tmp, int64_t, 2 * d);
    int64_t total = rows->total;
    memset(stat, 0, STATS * (size_t)d * sizeof *stat);
    if (total == 0) return;
    for (int k = 0; k < 2 * d; k++) range[k] = -INFINITY;
    if (bytes) sum_bytes(rows, d, sum, range, tmp);
    if (!bytes) range_reals(rows, d, range);
    weft_max_f64(team, range, 2 * (size_t)d);
    if (bytes) {
        weft_sum_i64(team, sum, 2 * (size_t)d);
        for (int k = 0; k < d; k++) {
            mean[k] = (double)sum[k] / (double)total;
            variance[k] = (double)sum[d + k] / (double)total - mean[k] * mean[k];
        }
    } else {
        double *largest = WEFT_NEW(tmp, double, d);
        for (int k = 0; k < d; k++) largest[k] = fmax(fabs(range[k]), fabs(range[d + k]));
        mean_reals(rows, d, zero, 1, largest, total, team, mean, tmp);
        for (int k = 0; k < d; k++) largest[k] *= 4 * largest[k];
        mean_reals(rows, d, mean, 2, largest, total, team, variance, tmp);
    }
    for (int k = 0; k < d; k++) {
        stat[MEAN * d + k] = (real)mean[k];
        stat[DEVIATION * d + k] =
            (real)spread(mean[k], variance[k], -range[k], range[d + k]);
        stat[MIN * d + k] = (real)-range[k];
        stat[MAX * d + k] = (real)range[d + k];
    }
}

/* ---- views ---- */

/* x' = (x - shift) scale; a constant column keeps its raw scale. */
static void view_set(const rff_shared *shared, rff_view *view, const real *shift,
                     const real *width)
{
    double raw = shared->data->form == WEFT_BYTES ? 1.0 / 255 : 1;
    double min = INFINITY;
    view->largest = 0;
    for (int k = 0; k < shared->d; k++) {
        double w = width ? (double)width[k] : 0;
        double scale = w > 0 ? 1 / w : raw;
        view->shift[k] = shift ? (float)shift[k] : 0;
        view->scale[k] = (float)scale;
        min = fmin(min, scale);
        view->largest = fmax(view->largest, scale);
    }
    view->exact = shared->data->form == WEFT_BYTES && shared->d >= MIN_INPUTS &&
                  view->largest <= max_scale_ratio * min;
}

/* The shift of columns of numbers that are far from 0 for their spread: a product with them
 * would not hold the digits of the others. A kernel does not depend on it. */
static void find_far(rff_shared *shared, real *shift)
{
    enum { FAR = 256, LARGE = 1024 };
    int d = shared->d;
    shared->far = 0;
    for (int k = 0; k < d; k++) {
        double min = (double)shared->stat[MIN * d + k];
        double max = (double)shared->stat[MAX * d + k];
        double most = fmax(fabs(min), fabs(max)), half = (max - min) / 2;
        int far = shared->data->form != WEFT_BYTES && most >= LARGE && most >= FAR * half;
        shift[k] = far ? (real)(min + half) : 0;
        shared->far |= far;
    }
}

/* Sets the view's reach. */
static void find_reach(const rff_shared *shared, rff_view *view)
{
    int d = shared->d;
    view->reach = 0;
    for (int k = 0; k < d; k++) {
        double shift = (double)view->shift[k],
               min = (double)shared->stat[MIN * d + k] - shift;
        double max = (double)shared->stat[MAX * d + k] - shift;
        view->reach =
            fmax(view->reach, fmax(fabs(min), fabs(max)) * (double)view->scale[k]);
    }
}

void rff_set_stat(rff_shared *shared, const real *stat)
{
    int d = shared->d;
    size_t bytes = STATS * (size_t)d * sizeof *stat;
    if (shared->stat && memcmp(shared->stat, stat, bytes) == 0) return;
    if (!shared->stat) {
        shared->stat = WEFT_NEW(shared->mem, real, STATS * d);
        for (int v = 0; v < RFF_VIEWS; v++) {
            shared->view[v].shift = WEFT_NEW(shared->mem, float, d);
            shared->view[v].scale = WEFT_NEW(shared->mem, float, d);
        }
    }
    memcpy(shared->stat, stat, bytes);
    rff_cache_clear(shared);
    WEFT_SCRATCH(tmp);
    real *range = WEFT_NEW(tmp, real, d);
    for (int k = 0; k < d; k++) range[k] = stat[MAX * d + k] - stat[MIN * d + k];
    view_set(shared, &shared->view[RFF_RAW], NULL, NULL);
    view_set(shared, &shared->view[RFF_RANGE], stat + MIN * d, range);
    view_set(shared, &shared->view[RFF_DEVIATION], stat + MEAN * d, stat + DEVIATION * d);
    find_far(shared, range);
    view_set(shared, &shared->view[RFF_SHIFTED], range, NULL);
    for (int v = 0; v < RFF_VIEWS; v++) find_reach(shared, &shared->view[v]);
}

/* ---- lengths ---- */

static double length(const rff_shared *shared, const weft_rows *rows, int64_t i)
{
    double sum = 0;
    for (int k = 0; k < shared->d; k++) {
        double x = rows->byte ? (double)rows->byte[i * shared->d + k]
                              : (double)rows->value[i * shared->d + k];
        sum += x * x;
    }
    return sqrt(sum);
}

void rff_lengths(rff_shared *shared)
{
    for (int part = 0; part < WEFT_NPART; part++) {
        const weft_rows *rows = &shared->data->part[part];
        shared->length[part] = WEFT_NEW(shared->mem, double, rows->n);
        for (int64_t i = 0; i < rows->n; i++)
            shared->length[part][i] = length(shared, rows, i);
    }
}
