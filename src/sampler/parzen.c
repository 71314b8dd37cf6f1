/* Parzen estimators of one axis; see parzen.h. */
#include "parzen.h"

#include "normal.h"

#include <math.h>

int64_t weft_parzen_good(int64_t n, int64_t in_flight, double gamma, int hyperopt)
{
    double most = 25, rounding = 1e-9; /* 0.07 of 100 is 7, though 0.07 * 100 > 7 */
    if (gamma > 0) return (int64_t)fmax(ceil(gamma * (double)n - rounding), 1);
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
static int64_t merge(int64_t n, const double *at, double *sorted)
{
    int64_t i = 0, wide;
    for (; i < n && at[i] <= 0.5; i++) sorted[i] = at[i];
    sorted[wide = i] = 0.5;
    for (; i < n; i++) sorted[i + 1] = at[i];
    return wide;
}

double weft_parzen_clip(int64_t n, double sigma)
{
    return fmin(fmax(sigma, 1. / (double)(n + 2 < 100 ? n + 2 : 100)), 1);
}

/* sigma[n] of the values: the distances to neighbours in sorted[n + 1]. */
static void spread(int64_t n, const double *sorted, int64_t wide, int endpoints,
                   double *sigma)
{
    for (int64_t i = 0, j = 0; i <= n; i++) {
        if (i == wide) continue;
        double left = i > 0 ? sorted[i] - sorted[i - 1] : endpoints ? sorted[i] : 0;
        double right = i < n ? sorted[i + 1] - sorted[i] : endpoints ? 1 - sorted[i] : 0;
        sigma[j++] = weft_parzen_clip(n, fmax(left, right));
    }
}

double weft_parzen_inside(double mu, double sigma)
{
    double far = 9 * sigma; /* the mass beyond it is below rounding */
    double below = mu > far ? 0 : weft_normal_cdf(-mu / sigma);
    double above = 1 - mu > far ? 0 : weft_normal_cdf((mu - 1) / sigma);
    return 1 - below - above;
}

/* Adds the wide kernel, converts weights to shares and computes the coefficients of the
 * sums. */
static void finish(weft_parzen *parzen, const weft_parzen_rule *rule)
{
    int64_t n = parzen->n++;
    double sum = 0;
    parzen->mu[n] = 0.5;
    parzen->sigma[n] = parzen->share[n] = 1;
    for (int64_t j = 0; j <= n; j++) {
        parzen->part[j] = weft_parzen_inside(parzen->mu[j], parzen->sigma[j]);
        parzen->share[j] *= rule->whole ? parzen->part[j] : 1;
        sum += parzen->share[j];
    }
    for (int64_t j = 0; j <= n; j++) {
        parzen->share[j] /= sum;
        parzen->part[j] = parzen->share[j] / parzen->part[j];
        parzen->narrow[j] = 1 / parzen->sigma[j];
        parzen->coef[j] =
            parzen->part[j] * (rule->normal ? parzen->narrow[j] : 1) / WEFT_SQRT_2PI;
    }
}

/* Adds the kernels with sigma = least if `narrow`, else the others; equal ones are
 * merged. */
static void add(weft_parzen *parzen, int64_t n, const double *at, const double *sigma,
                const double *weight, double least, int narrow)
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

weft_parzen weft_parzen_new(int64_t n, const double *at, const double *weight,
                            const weft_parzen_rule *rule, weft_arena *mem)
{
    int64_t m = n + 1;
    double *all = WEFT_NEW(mem, double, 8 * m), *sorted = all + 6 * m, *sigma = sorted + m;
    weft_parzen parzen = {.mu = all,
                          .sigma = all + m,
                          .share = all + 2 * m,
                          .narrow = all + 3 * m,
                          .part = all + 4 * m,
                          .coef = all + 5 * m};
    spread(n, sorted, merge(n, at, sorted), rule->endpoints, sigma);
    if (rule->whole && n == 1) sigma[0] = 0.5;
    double least = 1;
    for (int64_t j = 0; j < n; j++) least = fmin(least, sigma[j]);
    add(&parzen, n, at, sigma, weight, least, 1);
    parzen.nleast = parzen.n;
    add(&parzen, n, at, sigma, weight, least, 0);
    finish(&parzen, rule);
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

static double bumps(const weft_parzen *parzen, int64_t first, int64_t last, double x)
{
    return weft_bumps(last - first, parzen->mu + first, parzen->narrow + first,
                      parzen->coef + first, x);
}

double weft_parzen_log(const weft_parzen *parzen, double x)
{
    int64_t first, last;
    find_near(parzen, x, x, &first, &last);
    return log(bumps(parzen, first, last, x) + bumps(parzen, parzen->nleast, parzen->n, x));
}

static double masses(const weft_parzen *parzen, int64_t first, int64_t last, double lo,
                     double hi)
{
    double sum = 0;
    for (int64_t j = first; j < last; j++)
        sum += parzen->part[j] * weft_normal_mass((lo - parzen->mu[j]) * parzen->narrow[j],
                                                  (hi - parzen->mu[j]) * parzen->narrow[j]);
    return sum;
}

double weft_parzen_log_mass(const weft_parzen *parzen, double lo, double hi)
{
    int64_t first, last;
    find_near(parzen, lo, hi, &first, &last);
    return log(masses(parzen, first, last, lo, hi) +
               masses(parzen, parzen->nleast, parzen->n, lo, hi));
}

void weft_parzen_levels(int64_t n, int levels, const double *sum, int whole, double *p)
{
    double total = 0;
    for (int c = 0; c < levels; c++) total += sum[c];
    double a = 1. / (double)(n + 1), all = 1 + a * levels;
    for (int c = 0; c < levels; c++)
        p[c] = whole ? (sum[c] + 1) / (total + levels)
                     : ((sum[c] + total * a) / all + 1. / levels) / (total + 1);
}
