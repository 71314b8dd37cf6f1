/* Gaussian processes on configurations, and log expected improvement; see gauss.h. Points
 * are added row by row, and each sum is of the same terms in the same order as if the
 * factor were made anew. */
#include "gauss.h"
#include "learn.h"

#include <math.h>
#include <string.h>

/* ---- sums, rows, covariances ---- */

enum { SUMS = 8 }; /* of every eighth term, which vectors of any CPU hold */

double weft_gauss_dot(int64_t n, const double *a, const double *b)
{
    double sum[SUMS] = {0}, rest = 0;
    int64_t i = 0;
    for (; i + SUMS <= n; i += SUMS)
        for (int s = 0; s < SUMS; s++) sum[s] += a[i + s] * b[i + s];
    for (; i < n; i++) rest += a[i] * b[i];
    double left = (sum[0] + sum[4]) + (sum[1] + sum[5]);
    double right = (sum[2] + sum[6]) + (sum[3] + sum[7]);
    return (left + right) + rest;
}

void weft_gauss_root(double *root, int64_t i)
{
    double least = 1e-12; /* of the variance: points may be equal, and noise small */
    double *own = weft_gauss_row(root, i), variance = own[i];
    for (int64_t j = 0; j < i; j++) {
        const double *row = weft_gauss_row(root, j);
        own[j] = (own[j] - weft_gauss_dot(j, own, row)) / row[j];
    }
    own[i] = sqrt(fmax(variance - weft_gauss_dot(i, own, own), least * variance));
}

void weft_gauss_gaps(int levels, int64_t n, const double *x, int64_t stride, double at,
                     double *gap)
{
    double beside = 0.75, middle = 0.5;
    if (levels > 0) {
        for (int64_t i = 0; i < n; i++) {
            double other = x[i * stride];
            gap[i] = isnan(other) || isnan(at) ? isnan(other) != isnan(at)
                                               : fabs(other - at) > 0;
        }
        return;
    }
    for (int64_t i = 0; i < n; i++) {
        double other = x[i * stride], lacks = isnan(other) != isnan(at) ? beside : 0;
        double apart = (isnan(other) ? middle : other) - (isnan(at) ? middle : at);
        gap[i] = apart * apart + lacks;
    }
}

void weft_gauss_matern(int64_t n, const double *square, double *k, double *fall)
{
    for (int64_t i = 0; i < n; i++) fall[i] = -sqrt(5 * square[i]);
    memcpy(k, fall, (size_t)n * sizeof *k);
    weft_exp_all(n, k);
    for (int64_t i = 0; i < n; i++) {
        double u = -fall[i], e = k[i];
        k[i] = (1 + u + u * u / 3) * e;
        fall[i] = (1 + u) * e;
    }
}

/* ---- learning curves ---- */

static double kappa(const double *theta, double u)
{
    return exp(-exp(theta[0]) * log1p(u / exp(theta[1])));
}

void weft_gauss_share(const double *theta, double one, double two, double *factor,
                      double *common)
{
    double both = kappa(theta, one + two), tie = theta[4];
    *factor = 1 - tie * (kappa(theta, one) + kappa(theta, two)) +
              (tie * tie + exp(theta[2])) * both;
    *common = exp(theta[3]) * both;
}

int weft_gauss_kind(double resource, int *n, double *kind)
{
    int k = 0;
    while (k < *n && fabs(kind[k] - resource) > 0) k++;
    if (k == *n) kind[(*n)++] = resource;
    return k;
}

/* ---- log expected improvement ---- */

double weft_gauss_gain(double z, double *slope)
{
    enum { TERMS = 40 };
    const double log_sqrt_2pi = 0.91893853320467274178, far = -4;
    if (z > far) {
        double below = weft_normal_cdf(z), density = exp(-z * z / 2) / WEFT_SQRT_2PI;
        double gain = density + z * below;
        *slope = below / gain;
        return log(gain);
    }
    /* r_k = J_k / J_(k - 1), J_-1 = phi, J_k the integral of J_(k - 1) from t on:
     *     r_k = 1 / (t + (k + 1) r_(k + 1)) */
    double t = -z, r = 0;
    for (int k = TERMS; k >= 1; k--) r = 1 / (t + (k + 1) * r);
    *slope = 1 / r;
    return -t * t / 2 - log_sqrt_2pi + log(r / (t + r));
}

/* ---- points ---- */

void weft_gauss_setup(weft_gauss *gauss, int dim, int curves, const int *levels,
                      weft_arena *mem)
{
    *gauss = (weft_gauss){.dim = dim,
                          .curves = curves,
                          .width = dim + curves,
                          .levels = levels,
                          .theta = WEFT_NEW(mem, double, weft_gauss_size(dim, curves)),
                          .narrow = WEFT_NEW(mem, double, dim),
                          .mem = mem};
}

void weft_gauss_set(weft_gauss *gauss, const double *theta)
{
    memcpy(gauss->theta, theta,
           (size_t)weft_gauss_size(gauss->dim, gauss->curves) * sizeof *theta);
    for (int a = 0; a < gauss->dim; a++) gauss->narrow[a] = exp(-2 * theta[a]);
    gauss->n = gauss->nkind = 0;
}

void weft_gauss_keep(weft_gauss *gauss, int64_t n)
{
    if (n >= gauss->n) return;
    gauss->n = n;
    gauss->nkind = 0;
    for (int64_t i = 0; i < n && gauss->curves; i++)
        if (gauss->of[i] == gauss->nkind) gauss->nkind++;
}

static double signal_of(const weft_gauss *gauss)
{
    return exp(gauss->theta[gauss->dim]);
}

/* The variance at a point, without noise. */
static double own_variance(const weft_gauss *gauss, const double *x)
{
    double factor, common, signal = signal_of(gauss);
    if (!gauss->curves) return signal;
    weft_gauss_share(gauss->theta + gauss->dim + 2, x[gauss->dim], x[gauss->dim], &factor,
                     &common);
    return signal * factor + common;
}

/* Has covariances of a point at that resource be those of learning curves. tmp: 2 n
 * numbers. */
static void share(const weft_gauss *gauss, double resource, double *k, double *fall,
                  double *tmp)
{
    double *factor = tmp, *common = tmp + gauss->n;
    for (int i = 0; i < gauss->nkind; i++)
        weft_gauss_share(gauss->theta + gauss->dim + 2, gauss->kind[i], resource,
                         factor + i, common + i);
    for (int64_t i = 0; i < gauss->n; i++) {
        k[i] = k[i] * factor[gauss->of[i]] + common[gauss->of[i]];
        fall[i] *= factor[gauss->of[i]];
    }
}

/* Covariances k[n], and their fall, of x[width] with all points. tmp: 2 n numbers. */
static void cover(const weft_gauss *gauss, const double *x, double *k, double *fall,
                  double *tmp)
{
    int64_t n = gauss->n;
    double *square = tmp, *gap = tmp + n, signal = signal_of(gauss);
    for (int64_t i = 0; i < n; i++) square[i] = 0;
    for (int a = 0; a < gauss->dim; a++) {
        weft_gauss_gaps(gauss->levels[a], n, gauss->x + a, gauss->width, x[a], gap);
        for (int64_t i = 0; i < n; i++) square[i] += gauss->narrow[a] * gap[i];
    }
    weft_gauss_matern(n, square, k, fall);
    for (int64_t i = 0; i < n; i++) k[i] *= signal;
    for (int64_t i = 0; i < n; i++) fall[i] *= signal;
    if (gauss->curves) share(gauss, x[gauss->dim], k, fall, tmp);
}

/* Appends the resource of the point that comes. */
static void add_kind(weft_gauss *gauss, const double *x)
{
    int64_t n = gauss->n;
    if (!gauss->curves) return;
    WEFT_REGROW(gauss->mem, gauss->of, n, &gauss->roomof);
    WEFT_REGROW(gauss->mem, gauss->kind, gauss->nkind, &gauss->roomkind);
    gauss->of[n] = weft_gauss_kind(x[gauss->dim], &gauss->nkind, gauss->kind);
}

void weft_gauss_add(weft_gauss *gauss, const double *x)
{
    int64_t n = gauss->n, width = gauss->width;
    size_t row = (size_t)width * sizeof *x;
    gauss->x = weft_regrow(gauss->mem, gauss->x, row, n, &gauss->room);
    int64_t all = (n + 1) * (n + 2) / 2;
    while (gauss->rootroom < all)
        WEFT_REGROW(gauss->mem, gauss->root, gauss->rootroom > 0 ? gauss->rootroom : all,
                    &gauss->rootroom);
    WEFT_SCRATCH(tmp);
    double *own = weft_gauss_row(gauss->root, n), *fall = WEFT_NEW(tmp, double, 3 * n);
    cover(gauss, x, own, fall, fall + n);
    own[n] = own_variance(gauss, x) + exp(gauss->theta[gauss->dim + 1]);
    weft_gauss_root(gauss->root, n);
    memcpy(gauss->x + n * width, x, row);
    add_kind(gauss, x);
    gauss->n++;
}

/* ---- values ---- */

/* v[n] <- root'^-1 v */
static void solve_back(const weft_gauss *gauss, double *v)
{
    for (int64_t i = gauss->n - 1; i >= 0; i--) {
        const double *row = weft_gauss_row(gauss->root, i);
        double at = v[i] /= row[i];
        for (int64_t j = 0; j < i; j++) v[j] -= at * row[j];
    }
}

void weft_gauss_learn(weft_gauss *gauss, int64_t known, double *y, weft_arena *tmp)
{
    int64_t n = gauss->n;
    gauss->weight = WEFT_NEW(tmp, double, n);
    for (int64_t i = 0; i < n; i++) {
        const double *row = weft_gauss_row(gauss->root, i);
        double seen = weft_gauss_dot(i, row, gauss->weight);
        if (i >= known) y[i] = seen;
        gauss->weight[i] = i < known ? (y[i] - seen) / row[i] : 0;
    }
    solve_back(gauss, gauss->weight);
}

/* ---- predictions ---- */

static double floored(const weft_gauss *gauss, double variance)
{
    double least = 1e-12;
    return fmax(variance, least * signal_of(gauss));
}

/* v[n][WEFT_GAUSS_BATCH] <- root^-1 v, and sums of squares of the columns. */
static void solve_batch(const weft_gauss *gauss, double *v, double *squares)
{
    enum { B = WEFT_GAUSS_BATCH };
    for (int b = 0; b < B; b++) squares[b] = 0;
    for (int64_t i = 0; i < gauss->n; i++) {
        const double *row = weft_gauss_row(gauss->root, i);
        double sum[B] = {0}, own[B];
        for (int64_t j = 0; j < i; j++)
            for (int b = 0; b < B; b++) sum[b] += row[j] * v[j * B + b];
        for (int b = 0; b < B; b++) own[b] = (v[i * B + b] - sum[b]) / row[i];
        for (int b = 0; b < B; b++) squares[b] += own[b] * own[b];
        memcpy(v + i * B, own, sizeof own);
    }
}

void weft_gauss_ask(const weft_gauss *gauss, int m, const double *x, double *mean,
                    double *variance, weft_arena *tmp)
{
    enum { B = WEFT_GAUSS_BATCH };
    int64_t n = gauss->n;
    WEFT_REWIND(tmp);
    double *v = WEFT_NEW(tmp, double, B *n), *k = WEFT_NEW(tmp, double, 4 * n), squares[B];
    for (int b = 0; b < m; b++) {
        cover(gauss, x + b * gauss->width, k, k + n, k + 2 * n);
        mean[b] = weft_gauss_dot(n, k, gauss->weight);
        for (int64_t i = 0; i < n; i++) v[i * B + b] = k[i];
    }
    solve_batch(gauss, v, squares);
    for (int b = 0; b < m; b++)
        variance[b] =
            floored(gauss, own_variance(gauss, x + b * gauss->width) - squares[b]);
}

/* v[n] <- root^-1 v; the sum of squares. */
static double solve(const weft_gauss *gauss, double *v)
{
    for (int64_t i = 0; i < gauss->n; i++) {
        const double *row = weft_gauss_row(gauss->root, i);
        v[i] = (v[i] - weft_gauss_dot(i, row, v)) / row[i];
    }
    return weft_gauss_dot(gauss->n, v, v);
}

void weft_gauss_slopes(const weft_gauss *gauss, const double *x, double *mean,
                       double *variance, double *slopes, weft_arena *tmp)
{
    int64_t n = gauss->n;
    int dim = gauss->dim;
    WEFT_REWIND(tmp);
    double *k = WEFT_NEW(tmp, double, 4 * n), *fall = k + n, *turn = k + 2 * n;
    cover(gauss, x, k, fall, turn);
    *mean = weft_gauss_dot(n, k, gauss->weight);
    *variance = floored(gauss, own_variance(gauss, x) - solve(gauss, k));
    solve_back(gauss, k);
    for (int a = 0; a < dim; a++) {
        slopes[a] = slopes[dim + a] = 0;
        if (gauss->levels[a] > 0 || isnan(x[a])) continue;
        for (int64_t i = 0; i < n; i++) {
            double other = gauss->x[i * gauss->width + a];
            turn[i] = fall[i] * (x[a] - (isnan(other) ? 0.5 : other));
        }
        double by = -5. / 3 * gauss->narrow[a];
        slopes[a] = by * weft_gauss_dot(n, turn, gauss->weight);
        slopes[dim + a] = -2 * by * weft_gauss_dot(n, turn, k);
    }
}
