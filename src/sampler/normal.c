/* Normal distribution: tails, quantiles, truncated draws, sums of Gaussian kernels; see
 * normal.h. */
#include "normal.h"

#include <math.h>
#include <string.h>

#define SQRT_HALF 0.70710678118654752440

double weft_normal_cdf(double z)
{
    return 0.5 * erfc(-z * SQRT_HALF);
}

double weft_normal_density(double z)
{
    return exp(-0.5 * z * z) / WEFT_SQRT_2PI;
}

double weft_normal_mass(double lo, double hi)
{
    if (lo > 0) return weft_normal_cdf(-lo) - weft_normal_cdf(-hi);
    return weft_normal_cdf(hi) - weft_normal_cdf(lo);
}

static double ratio(const double a[8], const double b[8], double r)
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
    if (fabs(q) <= 0.425) return q * ratio(mid[0], mid[1], 0.180625 - q * q);
    double r = sqrt(-log(q < 0 ? p : 1 - p));
    double z = r <= 5 ? ratio(near[0], near[1], r - 1.6) : ratio(far[0], far[1], r - 5);
    return q < 0 ? -z : z;
}

double weft_normal_between(double mu, double sigma, double unit)
{
    double below = -mu / sigma, above = (1 - mu) / sigma;
    double all = weft_normal_mass(below, above);
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

double weft_bumps(int64_t n, const double *mu, const double *narrow, const double *coef,
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
