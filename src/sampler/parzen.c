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
static void finish(weft_parzen *p, const weft_parzen_rule *rule)
{
    int64_t n = p->n++;
    double sum = 0;
    p->mu[n] = 0.5;
    p->sigma[n] = p->share[n] = 1;
    for (int64_t j = 0; j <= n; j++) {
        p->part[j] = weft_parzen_inside(p->mu[j], p->sigma[j]);
        p->share[j] *= rule->whole ? p->part[j] : 1;
        sum += p->share[j];
    }
    for (int64_t j = 0; j <= n; j++) {
        p->share[j] /= sum;
        p->part[j] = p->share[j] / p->part[j];
        p->narrow[j] = 1 / p->sigma[j];
        p->coef[j] = p->part[j] * (rule->normal ? p->narrow[j] : 1) / WEFT_SQRT_2PI;
    }
}

/* Adds the kernels with sigma = least if `narrow`, else the others; equal ones are
 * merged. */
static void add(weft_parzen *p, int64_t n, const double *at, const double *sigma,
                const double *weight, double least, int narrow)
{
    int64_t first = p->n;
    for (int64_t j = 0; j < n; j++) {
        int64_t last = p->n - 1;
        if ((sigma[j] > least) == narrow) continue;
        if (last >= first && !(at[j] > p->mu[last]) &&
            !(fabs(sigma[j] - p->sigma[last]) > 0)) {
            p->share[last] += weight[j];
            continue;
        }
        p->mu[p->n] = at[j];
        p->sigma[p->n] = sigma[j];
        p->share[p->n++] = weight[j];
    }
}

weft_parzen weft_parzen_new(int64_t n, const double *at, const double *weight,
                            const weft_parzen_rule *rule, weft_arena *mem)
{
    int64_t m = n + 1;
    double *all = WEFT_NEW(mem, double, 8 * m), *sorted = all + 6 * m, *sigma = sorted + m;
    weft_parzen p = {.mu = all,
                     .sigma = all + m,
                     .share = all + 2 * m,
                     .narrow = all + 3 * m,
                     .part = all + 4 * m,
                     .coef = all + 5 * m};
    spread(n, sorted, merge(n, at, sorted), rule->endpoints, sigma);
    if (rule->whole && n == 1) sigma[0] = 0.5;
    double least = 1;
    for (int64_t j = 0; j < n; j++) least = fmin(least, sigma[j]);
    add(&p, n, at, sigma, weight, least, 1);
    p.nleast = p.n;
    add(&p, n, at, sigma, weight, least, 0);
    finish(&p, rule);
    return p;
}

int64_t weft_parzen_pick(int64_t n, const double *share, double unit)
{
    double sum = 0;
    for (int64_t j = 0; j + 1 < n; j++)
        if (unit < (sum += share[j])) return j;
    return n - 1;
}

double weft_parzen_draw(const weft_parzen *p, double which, double unit)
{
    int64_t j = weft_parzen_pick(p->n, p->share, which);
    return weft_normal_between(p->mu[j], p->sigma[j], unit);
}

/* The kernels of the least sigma that contribute between lo and hi: *first .. *last-1. What
 * the others contribute is less than 1e-13 of the wide kernel. */
static void find_near(const weft_parzen *p, double lo, double hi, int64_t *first,
                      int64_t *last)
{
    double reach = p->nleast > 0 ? 9 * p->sigma[0] : 0;
    const double bound[2] = {lo - reach, hi + reach};
    int64_t at[2];
    for (int e = 0; e < 2; e++) {
        int64_t a = 0, b = p->nleast;
        while (a < b) {
            int64_t middle = a + (b - a) / 2;
            if (p->mu[middle] < bound[e])
                a = middle + 1;
            else
                b = middle;
        }
        at[e] = a;
    }
    *first = at[0];
    *last = at[1];
}

static double bumps(const weft_parzen *p, int64_t first, int64_t last, double x)
{
    return weft_bumps(last - first, p->mu + first, p->narrow + first, p->coef + first, x);
}

double weft_parzen_log(const weft_parzen *p, double x)
{
    int64_t first, last;
    find_near(p, x, x, &first, &last);
    return log(bumps(p, first, last, x) + bumps(p, p->nleast, p->n, x));
}

static double masses(const weft_parzen *p, int64_t first, int64_t last, double lo,
                     double hi)
{
    double sum = 0;
    for (int64_t j = first; j < last; j++)
        sum += p->part[j] * weft_normal_mass((lo - p->mu[j]) * p->narrow[j],
                                             (hi - p->mu[j]) * p->narrow[j]);
    return sum;
}

double weft_parzen_log_mass(const weft_parzen *p, double lo, double hi)
{
    int64_t first, last;
    find_near(p, lo, hi, &first, &last);
    return log(masses(p, first, last, lo, hi) + masses(p, p->nleast, p->n, lo, hi));
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
