/* Sums of product kernels; see product.h. */
#include "product.h"

#include "normal.h"
#include "parzen.h"

#include <math.h>

weft_product weft_product_new(int dim, int64_t n, weft_arena *mem)
{
    weft_product p = {.dim = dim, .n = n, .axis = WEFT_NEW(mem, weft_product_axis, dim)};
    double *all = WEFT_NEW(mem, double, 3 * n);
    p.share = all;
    p.factor = all + n;
    p.power = all + 2 * n;
    for (int a = 0; a < dim; a++) {
        double *of = WEFT_NEW(mem, double, 3 * n);
        p.axis[a] = (weft_product_axis){.mu = of, .sigma = of + n, .part = of + 2 * n};
    }
    return p;
}

/* Standard deviation, with divisor n. */
static double deviation(int64_t n, const double *x)
{
    double mean = 0, square = 0;
    for (int64_t j = 0; j < n; j++) mean += x[j] / (double)n;
    for (int64_t j = 0; j < n; j++) square += (x[j] - mean) * (x[j] - mean) / (double)n;
    return sqrt(square);
}

void weft_product_reference(weft_product *p, double least)
{
    double shrink = pow((double)p->n, -1. / (4 + p->dim));
    for (int64_t j = 0; j < p->n; j++) p->share[j] = 1. / (double)p->n;
    for (int a = 0; a < p->dim; a++) {
        weft_product_axis *k = &p->axis[a];
        double c = k->levels, h = fmax(1.06 * deviation(p->n, k->mu) * shrink, least);
        double off = c > 0 ? fmin(h, (c - 1) / c) : 0;
        k->same = 1 - off;
        k->other = c > 1 ? off / (c - 1) : 0;
        for (int64_t j = 0; j < p->n; j++) {
            k->sigma[j] = h;
            k->part[j] = weft_normal_density(0) / h;
        }
    }
}

/* The kernels of weft_product_joint on a category. */
static void join_levels(weft_product_axis *k, int64_t n)
{
    double more = (double)n;
    k->same = (more + 1) / (more + k->levels);
    k->other = 1 / (more + k->levels);
    for (int64_t j = 0; j < n; j++)
        if (isnan(k->mu[j])) k->mu[j] = -1;
}

/* The same on a number. */
static void join_numbers(weft_product_axis *k, int64_t n, double width)
{
    for (int64_t j = 0; j < n; j++) {
        int wide = isnan(k->mu[j]);
        if (wide) k->mu[j] = 0.5;
        k->sigma[j] = wide ? 1 : width;
        k->part[j] = 1 / weft_parzen_inside(k->mu[j], k->sigma[j]);
        if (k->density) k->part[j] /= k->sigma[j];
    }
}

void weft_product_joint(weft_product *p)
{
    double magnitude = 0.2; /* width in units of the axis's length, as in Optuna */
    int64_t m = p->n - 1;
    double sum = 1, narrow = pow(fmax((double)m, 1), -1. / (p->dim + 4));
    for (int64_t j = 0; j < m; j++) sum += p->share[j] = weft_parzen_weight(j, m);
    p->share[m] = 1;
    for (int64_t j = 0; j <= m; j++) p->share[j] /= sum;
    for (int a = 0; a < p->dim; a++) {
        weft_product_axis *k = &p->axis[a];
        k->mu[m] = NAN;
        if (k->levels > 0)
            join_levels(k, p->n);
        else
            join_numbers(k, p->n, weft_parzen_clip(m, magnitude * narrow));
    }
}

double weft_product_draw(const weft_product_axis *k, int64_t j, const weft_rng4 *r)
{
    double unit = weft_rng_unit(r->v[1]);
    if (k->levels == 0) return weft_normal_between(k->mu[j], k->sigma[j], unit);
    int keeps = weft_rng_unit(r->v[0]) < k->same - k->other;
    return keeps && k->mu[j] >= 0 ? k->mu[j] : floor(unit * k->levels);
}

static void multiply_level(const weft_product *p, const weft_product_axis *k, double at)
{
    for (int64_t j = 0; j < p->n; j++) {
        double other = k->mu[j] < 0 ? 1. / k->levels : k->other;
        p->factor[j] *= fabs(k->mu[j] - at) > 0 ? other : k->same;
    }
}

static void multiply_number(const weft_product *p, const weft_product_axis *k,
                            const weft_product_point *x)
{
    for (int64_t j = 0; j < p->n; j++) {
        double z = (x->at - k->mu[j]) / k->sigma[j];
        p->power[j] -= 0.5 * z * z;
        p->factor[j] *= k->part[j];
    }
}

/* Neighbouring kernels are often equal, so that a mass is computed once for a run of
 * them. */
static void multiply_cell(const weft_product *p, const weft_product_axis *k,
                          const weft_product_point *x)
{
    double mass = 0;
    for (int64_t j = 0; j < p->n; j++) {
        double narrow = 1 / k->sigma[j];
        if (j == 0 || fabs(k->mu[j] - k->mu[j - 1]) > 0 ||
            fabs(k->sigma[j] - k->sigma[j - 1]) > 0)
            mass =
                weft_normal_mass((x->lo - k->mu[j]) * narrow, (x->hi - k->mu[j]) * narrow);
        p->factor[j] *= k->part[j] * mass;
    }
}

double weft_product_log(weft_product *p, const weft_product_point *x)
{
    double least = 1e-300;
    double sum = 0;
    for (int64_t j = 0; j < p->n; j++) {
        p->factor[j] = p->share[j];
        p->power[j] = 0;
    }
    for (int a = 0; a < p->dim; a++) {
        const weft_product_axis *k = &p->axis[a];
        if (isnan(x[a].at)) continue;
        if (k->levels > 0)
            multiply_level(p, k, x[a].at);
        else if (x[a].lo < x[a].hi)
            multiply_cell(p, k, &x[a]);
        else
            multiply_number(p, k, &x[a]);
    }
    weft_exp_all(p->n, p->power);
    for (int64_t j = 0; j < p->n; j++) sum += p->factor[j] * p->power[j];
    return log(fmax(sum, least));
}
