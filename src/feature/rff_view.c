/* Preprocessing of rff: statistics of the training rows, exact and equal on any number of
 * ranks, and the affine views of the inputs that they give. */
#include "rff.h"

#include <math.h>
#include <string.h>

enum { MEAN, DEVIATION, LEAST, MOST, STATS };

/* Rounding leaves an entry of unit variance 1/16 between neighbours; where scales differ by
 * more than this, small ones would be rounded away. */
static const double steepest = 8;

/* Rounding changes the Laplacian kernel of d inputs by about 1/(10 d); fewer inputs than
 * this stay floats. */
enum { MANY = 64 };

/* ---- statistics --------------------------------------------------------------------- */

/* Bytes: sums[2][d] of numbers and squares are integers; range[2][d] = (-least, most). */
static void sum_bytes(const weft_rows *p, int d, int64_t *sum, double *range,
                      weft_arena *tmp)
{
    uint32_t *part = WEFT_NEW(tmp, uint32_t, 2 * d);
    uint8_t *least = WEFT_NEW(tmp, uint8_t, d), *most = WEFT_NEW(tmp, uint8_t, d);
    memset(least, 255, (size_t)d);
    for (int64_t at = 0; at < p->n; at += WEFT_BLOCK) { /* 256 squares fit 32 bits */
        memset(part, 0, 2 * (size_t)d * sizeof *part);
        for (int64_t i = at; i < p->n && i < at + WEFT_BLOCK; i++) {
            const uint8_t *x = p->byte + i * d;
            for (int k = 0; k < d; k++) {
                part[k] += x[k];
                part[d + k] += (uint32_t)(x[k] * x[k]);
                least[k] = x[k] < least[k] ? x[k] : least[k];
                most[k] = x[k] > most[k] ? x[k] : most[k];
            }
        }
        for (int k = 0; k < 2 * d; k++) sum[k] += part[k];
    }
    for (int k = 0; k < d && p->n; k++) {
        range[k] = -least[k];
        range[d + k] = most[k];
    }
}

static void range_reals(const weft_rows *p, int d, double *range)
{
    for (int64_t i = 0; i < p->n; i++)
        for (int k = 0; k < d; k++) {
            double x = (double)p->value[i * d + k];
            range[k] = fmax(range[k], -x);
            range[d + k] = fmax(range[d + k], x);
        }
}

/* Mean of (x - about)^power over all ranks' rows, column by column, exact for the bound
 * `largest` on |x - about|^power. Collective. */
static void mean_reals(const weft_rows *p, int d, const double *about, int power,
                       double largest, int64_t total, weft_team *team, double *mean,
                       weft_arena *tmp)
{
    int scale = weft_fix_scale(largest * (double)total);
    int64_t *sum = WEFT_NEW(tmp, int64_t, d);
    for (int64_t i = 0; i < p->n; i++)
        for (int k = 0; k < d; k++) {
            double x = (double)p->value[i * d + k] - about[k];
            sum[k] += weft_fix(power == 2 ? x * x : x, scale);
        }
    weft_sum_i64(team, sum, (size_t)d);
    for (int k = 0; k < d; k++) mean[k] = weft_unfix(sum[k], scale) / (double)total;
}

void rff_fit(const rff_shared *own, weft_part part, real *stat, weft_arena *tmp)
{
    int d = own->d;
    size_t mark = weft_arena_mark(tmp);
    weft_team *team = own->data->team;
    const weft_rows *p = &own->data->part[part];
    int bytes = own->data->form == WEFT_BYTES;
    double *range = WEFT_NEW(tmp, double, 2 * d), *mean = WEFT_NEW(tmp, double, d);
    double *variance = WEFT_NEW(tmp, double, d), *zero = WEFT_NEW(tmp, double, d);
    int64_t *sum = WEFT_NEW(tmp, int64_t, 2 * d);
    int64_t total = p->total;
    memset(stat, 0, STATS * (size_t)d * sizeof *stat);
    if (total == 0) return;
    for (int k = 0; k < 2 * d; k++) range[k] = -INFINITY;
    if (bytes) sum_bytes(p, d, sum, range, tmp);
    if (!bytes) range_reals(p, d, range);
    weft_max_f64(team, range, 2 * (size_t)d);
    if (bytes) {
        weft_sum_i64(team, sum, 2 * (size_t)d);
        for (int k = 0; k < d; k++) {
            mean[k] = (double)sum[k] / (double)total;
            variance[k] = (double)sum[d + k] / (double)total - mean[k] * mean[k];
        }
    } else {
        double largest = 0;
        for (int k = 0; k < 2 * d; k++) largest = fmax(largest, fabs(range[k]));
        mean_reals(p, d, zero, 1, largest, total, team, mean, tmp);
        mean_reals(p, d, mean, 2, 4 * largest * largest, total, team, variance, tmp);
    }
    for (int k = 0; k < d; k++) {
        stat[MEAN * d + k] = (real)mean[k];
        stat[DEVIATION * d + k] = (real)sqrt(fmax(variance[k], 0));
        stat[LEAST * d + k] = (real)-range[k];
        stat[MOST * d + k] = (real)range[d + k];
    }
    weft_arena_reset(tmp, mark);
}

/* ---- views -------------------------------------------------------------------------- */

/* x' = (x - shift) scale, a constant column keeping its raw scale. */
static void view_set(const rff_shared *own, rff_view *v, const real *shift,
                     const real *width)
{
    double raw = own->data->form == WEFT_BYTES ? 1.0 / 255 : 1;
    double least = INFINITY;
    v->largest = 0;
    for (int k = 0; k < own->d; k++) {
        double w = width ? (double)width[k] : 0;
        double scale = w > 0 ? 1 / w : raw;
        v->shift[k] = shift ? (float)shift[k] : 0;
        v->scale[k] = (float)scale;
        least = fmin(least, scale);
        v->largest = fmax(v->largest, scale);
    }
    v->exact =
        own->data->form == WEFT_BYTES && own->d >= MANY && v->largest <= steepest * least;
}

void rff_use(rff_shared *own, const real *stat)
{
    int d = own->d;
    size_t bytes = STATS * (size_t)d * sizeof *stat;
    if (own->stat && memcmp(own->stat, stat, bytes) == 0) return;
    if (!own->stat) {
        own->stat = WEFT_NEW(own->mem, real, STATS * d);
        for (int v = 0; v < RFF_VIEWS; v++) {
            own->view[v].shift = WEFT_NEW(own->mem, float, d);
            own->view[v].scale = WEFT_NEW(own->mem, float, d);
        }
    }
    memcpy(own->stat, stat, bytes);
    rff_forget(own);
    weft_arena *tmp = weft_arena_new();
    real *range = WEFT_NEW(tmp, real, d);
    for (int k = 0; k < d; k++) range[k] = stat[MOST * d + k] - stat[LEAST * d + k];
    view_set(own, &own->view[RFF_RAW], NULL, NULL);
    view_set(own, &own->view[RFF_RANGE], stat + LEAST * d, range);
    view_set(own, &own->view[RFF_SPREAD], stat + MEAN * d, stat + DEVIATION * d);
    weft_arena_free(tmp);
}

/* ---- lengths ------------------------------------------------------------------------ */

static double length(const rff_shared *own, const weft_rows *rows, int64_t i)
{
    double sum = 0;
    for (int k = 0; k < own->d; k++) {
        double x = rows->byte ? (double)rows->byte[i * own->d + k]
                              : (double)rows->value[i * own->d + k];
        sum += x * x;
    }
    return sqrt(sum);
}

void rff_lengths(rff_shared *own)
{
    for (int part = 0; part < WEFT_NPART; part++) {
        const weft_rows *rows = &own->data->part[part];
        own->length[part] = WEFT_NEW(own->mem, double, rows->n);
        for (int64_t i = 0; i < rows->n; i++) own->length[part][i] = length(own, rows, i);
    }
}
