/* Sums of product kernels; see product.h. */
#include "product.h"

#include "normal.h"
#include "parzen.h"

#include <math.h>

weft_product weft_product_new(int dim, int64_t n, weft_arena *mem)
{
    weft_product product = {
        .dim = dim, .n = n, .axis = WEFT_NEW(mem, weft_product_axis, dim)};
    double *all = WEFT_NEW(mem, double, 3 * n);
    product.share = all;
    product.factor = all + n;
    product.power = all + 2 * n;
    for (int a = 0; a < dim; a++) {
        double *of = WEFT_NEW(mem, double, 3 * n);
        product.axis[a] =
            (weft_product_axis){.mu = of, .sigma = of + n, .part = of + 2 * n};
    }
    return product;
}

/* Standard deviation, with divisor n. */
static double deviation(int64_t n, const double *x)
{
    double mean = 0, square = 0;
    for (int64_t j = 0; j < n; j++) mean += x[j] / (double)n;
    for (int64_t j = 0; j < n; j++) square += (x[j] - mean) * (x[j] - mean) / (double)n;
    return sqrt(square);
}

void weft_product_reference(weft_product *product, double least)
{
    double shrink = pow((double)product->n, -1. / (4 + product->dim));
    for (int64_t j = 0; j < product->n; j++) product->share[j] = 1. / (double)product->n;
    for (int a = 0; a < product->dim; a++) {
        weft_product_axis *axis = &product->axis[a];
        double c = axis->levels,
               h = fmax(1.06 * deviation(product->n, axis->mu) * shrink, least);
        double off = c > 0 ? fmin(h, (c - 1) / c) : 0;
        axis->same = 1 - off;
        axis->other = c > 1 ? off / (c - 1) : 0;
        for (int64_t j = 0; j < product->n; j++) {
            axis->sigma[j] = h;
            axis->part[j] = weft_normal_density(0) / h;
        }
    }
}

/* The kernels of weft_product_joint on a category. */
static void join_levels(weft_product_axis *axis, int64_t n)
{
    double more = (double)n;
    axis->same = (more + 1) / (more + axis->levels);
    axis->other = 1 / (more + axis->levels);
    for (int64_t j = 0; j < n; j++)
        if (isnan(axis->mu[j])) axis->mu[j] = -1;
}

/* The same on a number. */
static void join_numbers(weft_product_axis *axis, int64_t n, double width)
{
    for (int64_t j = 0; j < n; j++) {
        int wide = isnan(axis->mu[j]);
        if (wide) axis->mu[j] = 0.5;
        axis->sigma[j] = wide ? 1 : width;
        axis->part[j] = 1 / weft_parzen_inside(axis->mu[j], axis->sigma[j]);
        if (axis->density) axis->part[j] /= axis->sigma[j];
    }
}

void weft_product_joint(weft_product *product)
{
    double magnitude = 0.2; /* width in units of the axis's length, as in Optuna */
    int64_t m = product->n - 1;
    double sum = 1, narrow = pow(fmax((double)m, 1), -1. / (product->dim + 4));
    for (int64_t j = 0; j < m; j++) sum += product->share[j] = weft_parzen_weight(j, m);
    product->share[m] = 1;
    for (int64_t j = 0; j <= m; j++) product->share[j] /= sum;
    for (int a = 0; a < product->dim; a++) {
        weft_product_axis *axis = &product->axis[a];
        axis->mu[m] = NAN;
        if (axis->levels > 0)
            join_levels(axis, product->n);
        else
            join_numbers(axis, product->n, weft_parzen_clip(m, magnitude * narrow));
    }
}

double weft_product_draw(const weft_product_axis *axis, int64_t j, const weft_rng4 *rng)
{
    double unit = weft_rng_unit(rng->v[1]);
    if (axis->levels == 0) return weft_normal_between(axis->mu[j], axis->sigma[j], unit);
    int keeps = weft_rng_unit(rng->v[0]) < axis->same - axis->other;
    return keeps && axis->mu[j] >= 0 ? axis->mu[j] : floor(unit * axis->levels);
}

static void multiply_level(const weft_product *product, const weft_product_axis *axis,
                           double at)
{
    for (int64_t j = 0; j < product->n; j++) {
        double other = axis->mu[j] < 0 ? 1. / axis->levels : axis->other;
        product->factor[j] *= fabs(axis->mu[j] - at) > 0 ? other : axis->same;
    }
}

static void multiply_number(const weft_product *product, const weft_product_axis *axis,
                            const weft_product_point *point)
{
    for (int64_t j = 0; j < product->n; j++) {
        double z = (point->at - axis->mu[j]) / axis->sigma[j];
        product->power[j] -= 0.5 * z * z;
        product->factor[j] *= axis->part[j];
    }
}

/* Neighbouring kernels are often equal, so that a mass is computed once for a run of
 * them. */
static void multiply_cell(const weft_product *product, const weft_product_axis *axis,
                          const weft_product_point *point)
{
    double mass = 0;
    for (int64_t j = 0; j < product->n; j++) {
        double narrow = 1 / axis->sigma[j];
        if (j == 0 || fabs(axis->mu[j] - axis->mu[j - 1]) > 0 ||
            fabs(axis->sigma[j] - axis->sigma[j - 1]) > 0)
            mass = weft_normal_mass((point->lo - axis->mu[j]) * narrow,
                                    (point->hi - axis->mu[j]) * narrow);
        product->factor[j] *= axis->part[j] * mass;
    }
}

double weft_product_log(weft_product *product, const weft_product_point *point)
{
    double least = 1e-300;
    double sum = 0;
    for (int64_t j = 0; j < product->n; j++) {
        product->factor[j] = product->share[j];
        product->power[j] = 0;
    }
    for (int a = 0; a < product->dim; a++) {
        const weft_product_axis *axis = &product->axis[a];
        if (isnan(point[a].at)) continue;
        if (axis->levels > 0)
            multiply_level(product, axis, point[a].at);
        else if (point[a].lo < point[a].hi)
            multiply_cell(product, axis, &point[a]);
        else
            multiply_number(product, axis, &point[a]);
    }
    weft_exp_all(product->n, product->power);
    for (int64_t j = 0; j < product->n; j++) sum += product->factor[j] * product->power[j];
    return log(fmax(sum, least));
}
