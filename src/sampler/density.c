/* Densities that samplers learn from trials: the normal distribution and sums of Gaussian
 * kernels, on one axis or as products over all of them; learn.h has formulas and
 * references. */
#include "learn.h"

#include <math.h>
#include <string.h>

/* ---- the normal distribution ---- */

#define SQRT_HALF 0.70710678118654752440

double weft_normal_cdf(double z)
{
    return 0.5 * erfc(-z * SQRT_HALF);
}

static double normal_mass(double lo, double hi)
{
    if (lo > 0) return weft_normal_cdf(-lo) - weft_normal_cdf(-hi);
    return weft_normal_cdf(hi) - weft_normal_cdf(lo);
}

static double quotient(const double a[8], const double b[8], double r)
{
    double p = a[7], q = b[7];
    for (int i = 6; i >= 0; i--) {
        p = p * r + a[i];
        q = q * r + b[i];
    }
    return p / q;
}

double weft_normal_quantile(double p)
{
    static const double mid[2][8] = {
        {3.3871328727963666080, 133.14166789178437745, 1971.5909503065514427,
         13731.693765509461125, 45921.953931549871457, 67265.770927008700853,
         33430.575583588128105, 2509.0809287301226727},
        {1, 42.313330701600911252, 687.18700749205790830, 5394.1960214247511077,
         21213.794301586595867, 39307.895800092710610, 28729.085735721942674,
         5226.4952788528545610}};
    static const double near[2][8] = {
        {1.42343711074968357734, 4.63033784615654529590, 5.76949722146069140550,
         3.64784832476320460504, 1.27045825245236838258, .241780725177450611770,
         .0227238449892691845833, 7.74545014278341407640e-4},
        {1, 2.05319162663775882187, 1.67638483018380384940, .689767334985100004550,
         .148103976427480074590, .0151986665636164571966, 5.47593808499534494600e-4,
         1.05075007164441684324e-9}};
    static const double far[2][8] = {
        {6.65790464350110377720, 5.46378491116411436990, 1.78482653991729133580,
         .296560571828504891230, .0265321895265761230930, .00124266094738807843860,
         2.71155556874348757815e-5, 2.01033439929228813265e-7},
        {1, .599832206555887937690, .136929880922735805310, .0148753612908506148525,
         7.86869131145613259100e-4, 1.84631831751005468180e-5, 1.42151175831644588870e-7,
         2.04426310338993978564e-15}};
    double q = p - 0.5;
    if (fabs(q) <= 0.425) return q * quotient(mid[0], mid[1], 0.180625 - q * q);
    double r = sqrt(-log(q < 0 ? p : 1 - p));
    double z =
        r <= 5 ? quotient(near[0], near[1], r - 1.6) : quotient(far[0], far[1], r - 5);
    return q < 0 ? -z : z;
}

double weft_normal_between(double mu, double sigma, double unit)
{
    double below = -mu / sigma, above = (1 - mu) / sigma;
    double all = normal_mass(below, above);
    double p = weft_normal_cdf(below) + unit * all;
    double q = weft_normal_cdf(-above) + (1 - unit) * all;
    double z = below;
    if (p > 0 && q > 0) z = p <= q ? weft_normal_quantile(p) : -weft_normal_quantile(q);
    return fmin(fmax(mu + sigma * z, 0), 1);
}

/* ---- exponentials ---- */

/* max(x, -700) for x <= 0. Compares the bits as integers, which increase with |x|:
 * compilers assume that a comparison of doubles may trap, and do not vectorise a loop with
 * one. */
static inline double not_below(double x)
{
    double least = -700;
    int64_t bits, most;
    memcpy(&bits, &x, sizeof bits);
    memcpy(&most, &least, sizeof most);
    bits |= INT64_MIN;
    bits = bits > most ? most : bits;
    memcpy(&x, &bits, sizeof x);
    return x;
}

/* 2^k e^r with |r| <= ln(2) / 2, by its series to r^13 / 13!. Adding 1.5 * 2^52 leaves the
 * nearest integer k in the low bits. */
static inline double exp_one(double x)
{
    double shift = 0x1.8p52, log2e = 1.44269504088896340736;
    double ln2_high = 0x1.62e42fefa3800p-1, ln2_low = 0x1.ef35793c76730p-45;
    x = not_below(x);
    double k = x * log2e + shift, whole = k - shift;
    double r = (x - whole * ln2_high) - whole * ln2_low;
    double r2 = r * r, r4 = r2 * r2;
    double a = 1 + r, b = 1. / 2 + r * (1. / 6), c = 1. / 24 + r * (1. / 120),
           d = 1. / 720 + r * (1. / 5040), e = 1. / 40320 + r * (1. / 362880),
           f = 1. / 3628800 + r * (1. / 39916800),
           g = 1. / 479001600 + r * (1. / 6227020800);
    double y = ((a + r2 * b) + r4 * (c + r2 * d)) + r4 * r4 * ((e + r2 * f) + r4 * g);
    uint64_t bits;
    double power;
    memcpy(&bits, &k, sizeof bits);
    bits = (bits + 1023) << 52;
    memcpy(&power, &bits, sizeof power);
    return y * power;
}

void weft_exp_all(int64_t n, double *x)
{
    for (int64_t i = 0; i < n; i++) x[i] = exp_one(x[i]);
}

/* sum_j coef[j] exp(-((x - mu[j]) narrow[j])^2 / 2), in a fixed order. Cost about 3 ns a
 * term. */
static double bumps(int64_t n, const double *mu, const double *narrow, const double *coef,
                    double x)
{
    enum { LANES = 4, MOST = 256 };
    double sum[LANES] = {0}, term[MOST];
    for (int64_t from = 0; from < n; from += MOST) {
        int m = n - from < MOST ? (int)(n - from) : MOST;
        for (int j = 0; j < m; j++) {
            double z = (x - mu[from + j]) * narrow[from + j];
            term[j] = coef[from + j] * exp_one(-0.5 * z * z);
        }
        for (int j = m; j % LANES != 0; j++) term[j] = 0;
        for (int j = 0; j < m; j += LANES)
            for (int l = 0; l < LANES; l++) sum[l] += term[j + l];
    }
    return (sum[0] + sum[1]) + (sum[2] + sum[3]);
}

/* ---- one axis ---- */

int64_t weft_parzen_good(int64_t n, int64_t in_flight, int hyperopt)
{
    double most = 25;
    if (hyperopt)
        return (int64_t)fmin(fmin(ceil(0.25 * sqrt((double)(n + in_flight))), most),
                             (double)n);
    return (int64_t)fmin(ceil(0.1 * (double)n), most);
}

double weft_parzen_weight(int64_t age_rank, int64_t n)
{
    enum { NEWEST = 25 };
    int64_t older = n - NEWEST;
    if (age_rank >= older) return 1;
    if (older == 1) return 1. / (double)n;
    double first = 1. / (double)n;
    return first + (1 - first) * (double)age_rank / (double)(older - 1);
}

/* Inserts the centre of the wide kernel into the values, after those equal to it. Returns
 * its index. */
static int64_t insert_wide(int64_t n, const double *at, double *sorted)
{
    int64_t i = 0, wide;
    for (; i < n && at[i] <= 0.5; i++) sorted[i] = at[i];
    sorted[wide = i] = 0.5;
    for (; i < n; i++) sorted[i + 1] = at[i];
    return wide;
}

static double clip_width(int64_t n, double sigma)
{
    return fmin(fmax(sigma, 1. / (double)(n + 2 < 100 ? n + 2 : 100)), 1);
}

/* sigma[n] of the values: the distances to neighbours in sorted[n + 1]. */
static void set_widths(int64_t n, const double *sorted, int64_t wide, double *sigma)
{
    for (int64_t i = 0, j = 0; i <= n; i++) {
        if (i == wide) continue;
        double left = i > 0 ? sorted[i] - sorted[i - 1] : 0;
        double right = i < n ? sorted[i + 1] - sorted[i] : 0;
        sigma[j++] = clip_width(n, fmax(left, right));
    }
}

static double mass_inside(double mu, double sigma)
{
    double far = 9 * sigma; /* the mass beyond it is below rounding */
    double below = mu > far ? 0 : weft_normal_cdf(-mu / sigma);
    double above = 1 - mu > far ? 0 : weft_normal_cdf((mu - 1) / sigma);
    return 1 - below - above;
}

/* Adds the wide kernel, converts weights to shares and computes the coefficients of the
 * sums. */
static void finish_mixture(weft_parzen *parzen, int hyperopt)
{
    int64_t n = parzen->n++;
    double sum = 0;
    parzen->mu[n] = 0.5;
    parzen->sigma[n] = parzen->share[n] = 1;
    for (int64_t j = 0; j <= n; j++) {
        parzen->part[j] = mass_inside(parzen->mu[j], parzen->sigma[j]);
        parzen->share[j] *= hyperopt ? parzen->part[j] : 1;
        sum += parzen->share[j];
    }
    for (int64_t j = 0; j <= n; j++) {
        parzen->share[j] /= sum;
        parzen->part[j] = parzen->share[j] / parzen->part[j];
        parzen->narrow[j] = 1 / parzen->sigma[j];
        parzen->coef[j] =
            parzen->part[j] * (hyperopt ? parzen->narrow[j] : 1) / WEFT_SQRT_2PI;
    }
}

/* Adds the kernels with sigma = least if `narrow`, else the others; equal ones are
 * merged. */
static void add_kernels(weft_parzen *parzen, int64_t n, const double *at,
                        const double *sigma, const double *weight, double least, int narrow)
{
    int64_t first = parzen->n;
    for (int64_t j = 0; j < n; j++) {
        int64_t last = parzen->n - 1;
        if ((sigma[j] > least) == narrow) continue;
        if (last >= first && !(at[j] > parzen->mu[last]) &&
            !(fabs(sigma[j] - parzen->sigma[last]) > 0)) {
            parzen->share[last] += weight[j];
            continue;
        }
        parzen->mu[parzen->n] = at[j];
        parzen->sigma[parzen->n] = sigma[j];
        parzen->share[parzen->n++] = weight[j];
    }
}

weft_parzen weft_parzen_new(int64_t n, const double *at, const double *weight, int hyperopt,
                            weft_arena *mem)
{
    int64_t m = n + 1;
    double *all = WEFT_NEW(mem, double, 8 * m), *sorted = all + 6 * m, *sigma = sorted + m;
    weft_parzen parzen = {.mu = all,
                          .sigma = all + m,
                          .share = all + 2 * m,
                          .narrow = all + 3 * m,
                          .part = all + 4 * m,
                          .coef = all + 5 * m};
    set_widths(n, sorted, insert_wide(n, at, sorted), sigma);
    if (hyperopt && n == 1) sigma[0] = 0.5;
    double least = 1;
    for (int64_t j = 0; j < n; j++) least = fmin(least, sigma[j]);
    add_kernels(&parzen, n, at, sigma, weight, least, 1);
    parzen.nleast = parzen.n;
    add_kernels(&parzen, n, at, sigma, weight, least, 0);
    finish_mixture(&parzen, hyperopt);
    return parzen;
}

int64_t weft_parzen_pick(int64_t n, const double *share, double unit)
{
    double sum = 0;
    for (int64_t j = 0; j + 1 < n; j++)
        if (unit < (sum += share[j])) return j;
    return n - 1;
}

double weft_parzen_draw(const weft_parzen *parzen, double which, double unit)
{
    int64_t j = weft_parzen_pick(parzen->n, parzen->share, which);
    return weft_normal_between(parzen->mu[j], parzen->sigma[j], unit);
}

/* The kernels of the least sigma that contribute between lo and hi: *first .. *last-1. What
 * the others contribute is less than 1e-13 of the wide kernel. */
static void find_near(const weft_parzen *parzen, double lo, double hi, int64_t *first,
                      int64_t *last)
{
    double reach = parzen->nleast > 0 ? 9 * parzen->sigma[0] : 0;
    const double bound[2] = {lo - reach, hi + reach};
    int64_t at[2];
    for (int e = 0; e < 2; e++) {
        int64_t a = 0, b = parzen->nleast;
        while (a < b) {
            int64_t middle = a + (b - a) / 2;
            if (parzen->mu[middle] < bound[e])
                a = middle + 1;
            else
                b = middle;
        }
        at[e] = a;
    }
    *first = at[0];
    *last = at[1];
}

static double sum_bumps(const weft_parzen *parzen, int64_t first, int64_t last, double x)
{
    return bumps(last - first, parzen->mu + first, parzen->narrow + first,
                 parzen->coef + first, x);
}

double weft_parzen_log(const weft_parzen *parzen, double x)
{
    int64_t first, last;
    find_near(parzen, x, x, &first, &last);
    return log(sum_bumps(parzen, first, last, x) +
               sum_bumps(parzen, parzen->nleast, parzen->n, x));
}

static double sum_masses(const weft_parzen *parzen, int64_t first, int64_t last, double lo,
                         double hi)
{
    double sum = 0;
    for (int64_t j = first; j < last; j++)
        sum += parzen->part[j] * normal_mass((lo - parzen->mu[j]) * parzen->narrow[j],
                                             (hi - parzen->mu[j]) * parzen->narrow[j]);
    return sum;
}

double weft_parzen_log_mass(const weft_parzen *parzen, double lo, double hi)
{
    int64_t first, last;
    find_near(parzen, lo, hi, &first, &last);
    return log(sum_masses(parzen, first, last, lo, hi) +
               sum_masses(parzen, parzen->nleast, parzen->n, lo, hi));
}

void weft_parzen_levels(int64_t n, int levels, const double *sum, int hyperopt, double *p)
{
    double total = 0;
    for (int c = 0; c < levels; c++) total += sum[c];
    double a = 1. / (double)(n + 1), all = 1 + a * levels;
    for (int c = 0; c < levels; c++)
        p[c] = hyperopt ? (sum[c] + 1) / (total + levels)
                        : ((sum[c] + total * a) / all + 1. / levels) / (total + 1);
}

/* ---- all axes ---- */

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
            axis->part[j] = 1 / WEFT_SQRT_2PI / h;
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
        axis->part[j] = 1 / mass_inside(axis->mu[j], axis->sigma[j]);
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
            join_numbers(axis, product->n, clip_width(m, magnitude * narrow));
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
            mass = normal_mass((point->lo - axis->mu[j]) * narrow,
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
