/* The parts of a search by a Gaussian process: the process, its acquisition function, and a
 * minimiser in a box. All functions are local, and every sum is in a fixed order. */
#ifndef WEFT_SAMPLER_GAUSS_H
#define WEFT_SAMPLER_GAUSS_H

#include "weft/base/base.h"

#include <stdint.h>

/* ---- a minimiser in a box ---- */

typedef struct weft_box {
    int dim;
    const double *lo, *hi; /* [dim] lo <= hi */
    /* The function at x[dim], and its derivatives into slope[dim]. INFINITY: not there. */
    double (*value)(void *own, const double *x, double *slope);
    void *own;
    int most;     /* steps */
    double least; /* ends where a step lowers the function by less, or moves all of x by
                     less */
} weft_box;

/* Goes from x[dim], which is moved into the box, down to a local minimum, and returns the
 * value there; never more than at the start. Projected BFGS: steps of the inverse Hessian
 * that the derivatives tell, of the variables that no bound holds, cut at the bounds, and
 * made shorter until the value falls enough (Armijo). Bertsekas, "Projected Newton methods
 * for optimization problems with simple constraints", SIAM J. Control Optim. 20, 1982.
 * Cost O(dim^2) a step and one to 20 values. */
double weft_box_lower(const weft_box *box, double *x, weft_arena *tmp);

/* ---- log expected improvement ---- */

/* log E max(z - Z, 0) for Z of N(0, 1), log(phi(z) + z Phi(z)), for any finite z; relative
 * error of the expectation below 1e-13. *slope: its derivative. For z < -4 by the continued
 * fraction of the ratios of repeated integrals of the tail. Ament, Daulton, Eriksson,
 * Balandat, Bakshy, "Unexpected improvements to expected improvement for Bayesian
 * optimization", NeurIPS 2023, who take erfcx instead. */
double weft_gauss_gain(double z, double *slope);

/* ---- the process ---- */

enum { WEFT_GAUSS_BATCH = 8 };

/* A process of mean 0 on points of `dim` axes, with noise. A number is its position in
 * 0 .. 1, a category its level, an axis that a point lacks NAN. The covariance of points x
 * and x' is Matern's of smoothness 5/2,
 *     signal (1 + u + u^2 / 3) exp(-u),  u^2 = 5 sum_a gap_a(x, x') / length_a^2,
 * and gap_a is (x_a - x'_a)^2 for numbers; 0 or 1 for categories, equal or not, of which
 * NAN is one more level; for a number and NAN (x_a - 1/2)^2 + 3/4: NAN is a point beside
 * the middle of the axis, at most 1 away from all of it. With learning curves a point has a
 * resource r >= 0, too, after its axes, and the loss of a configuration x is
 *     y(x, r) = f(x) + (g(x) + h - tie f(x)) exp(-rate r),
 * f the loss that its curve tends to, g(x) what is its own of the way there, and h what is
 * common to all; f, g and h are independent processes of the variances signal, own signal
 * (with Matern's M as above) and common, and the rate has the Gamma distribution of that
 * shape and 1 / scale. So
 *     cov = signal M(x, x') (1 - tie (kappa(r) + kappa(r')) + (tie^2 + own) kappa(r + r'))
 *           + common kappa(r + r'),  kappa(u) = E exp(-rate u) = (1 + u / scale)^-shape,
 * kappa(r + r') being the kernel of exponential decay of Swersky, Snoek, Adams,
 * "Freeze-thaw Bayesian optimization", arXiv 1406.3896, 2014. The joint process of
 * configurations and resources is that of Klein, Tiao, Lienart, Archambeau, Seeger, arXiv
 * 2003.10865, 2020, who have a constant for h and no g. */
typedef struct weft_gauss {
    int dim, curves;   /* curves 1: points have resources */
    int width;         /* dim + curves */
    const int *levels; /* [dim] above 0: a category; 0: a number. Borrowed */
    double *theta;     /* [weft_gauss_size] logarithms of the lengths, of the signal's
                          variance, of the noise's variance; with curves of the shape, the
                          scale, own, common; and tie */
    double *narrow;    /* [dim] 1 / length^2 */
    int64_t n;         /* points */
    int64_t room, rootroom;
    double *x; /* [room][width] */
    int nkind;
    int64_t roomkind, roomof;
    double *kind;   /* [nkind] resources, each once */
    int *of;        /* [roomof] which of them a point has */
    double *root;   /* n (n + 1) / 2 numbers: the rows of the Cholesky factor of the
                       covariances with noise, one after the other */
    double *weight; /* [n] inverse of the covariances times values */
    weft_arena *mem;
} weft_gauss;

/* The number of elements of theta. */
static inline int weft_gauss_size(int dim, int curves)
{
    return dim + 2 + 5 * curves;
}
/* A process without points; theta is all 0. What comes is owned by mem, which has no other
 * user that resets it. levels is borrowed. */
void weft_gauss_setup(weft_gauss *gauss, int dim, int curves, const int *levels,
                      weft_arena *mem);
/* Sets theta[weft_gauss_size], and removes all points. */
void weft_gauss_set(weft_gauss *gauss, const double *theta);
/* Keeps the first n points. */
void weft_gauss_keep(weft_gauss *gauss, int64_t n);
/* Adds a point x[width]; the factor has the bits of one that is made anew. Cost O(n^2 + n
 * dim). */
void weft_gauss_add(weft_gauss *gauss, const double *x);
/* Values y[n]. The first `known` are given. For the others the process believes what it
 * predicts from these, which changes no mean, and is written into y (kriging believer:
 * Ginsbourger, Le Riche, Carraro, 2010). Cost O(n^2). */
void weft_gauss_learn(weft_gauss *gauss, int64_t known, double *y, weft_arena *tmp);
/* Mean and variance, without noise, at m <= WEFT_GAUSS_BATCH points x[m][width]. The
 * variance is at least 1e-12 of the signal's. Cost O(m n^2). */
void weft_gauss_ask(const weft_gauss *gauss, int m, const double *x, double *mean,
                    double *variance, weft_arena *tmp);
/* The same at one point, with the derivatives by the positions of its numbers, 0 for
 * categories and axes that it lacks: slopes[2][dim], of the mean and of the variance. */
void weft_gauss_slopes(const weft_gauss *gauss, const double *x, double *mean,
                       double *variance, double *slopes, weft_arena *tmp);

/* ---- what both files need ---- */

/* sum_i a[i] b[i], by eight sums of every eighth term. */
double weft_gauss_dot(int64_t n, const double *a, const double *b);
/* Row i of n (n + 1) / 2 numbers: its i + 1 numbers. */
static inline double *weft_gauss_row(double *packed, int64_t i)
{
    return packed + i * (i + 1) / 2;
}
/* Row i of a factor, in place of the covariances with the points before and of its own
 * variance. Cost O(i^2). */
void weft_gauss_root(double *root, int64_t i);
/* gap[n] of values x[0], x[stride] ... of one axis to the value `at`. */
void weft_gauss_gaps(int levels, int64_t n, const double *x, int64_t stride, double at,
                     double *gap);
/* What two resources have in common, by theta[5] of curves (shape, scale, own, common,
 * tie): the factor of the covariance, and what is added to it. */
void weft_gauss_share(const double *theta, double one, double two, double *factor,
                      double *common);
/* The number of a resource in kind[*n], where it is appended unless it is there. */
int weft_gauss_kind(double resource, int *n, double *kind);
/* From square[n] = sum_a gap_a / length_a^2: covariances k[n] of a process of signal 1, and
 * (1 + u) exp(-u), minus 6 / 5 times their derivative by the square, into fall[n]. */
void weft_gauss_matern(int64_t n, const double *square, double *k, double *fall);

/* ---- lengths and noise ---- */

/* Values y[n] at points x[n][dim + curves]; all borrowed. */
typedef struct weft_gauss_data {
    int dim, curves;
    const int *levels; /* [dim] as in weft_gauss */
    int64_t n;
    const double *x, *y;
} weft_gauss_data;

/* -log p(y | theta) - log p(theta), without the prior's constant, and its derivatives into
 * slope[weft_gauss_size]. Independent priors, normal ones of the logarithms:
 *     length     N(-0.7, 1): about half an axis. With BoTorch's, N(sqrt 2 + log(dim) / 2,
 *                3) of Hvarfner, Hellsten, Nardi, ICML 2024, searches converged too early
 *     signal     N(0, 2.25), of the variance, for values of variance 1
 *     noise      N(-9, 9), of the variance
 *     shape      N(0, 1); scale N(-2.3, 2.25), the largest resource being 1; own N(-1.4,
 *                2.25); common N(0, 2.25); tie, itself, N(0, 0.25)
 * Cost O(n^3 + n^2 dim). */
double weft_gauss_evidence(const weft_gauss_data *data, const double *theta, double *slope,
                           weft_arena *tmp);
/* theta[weft_gauss_size] that is the best of the local minima of weft_gauss_evidence
 * reached from the means of the priors and, for up to 100 points, from a draw by the seed
 * around that. Logarithms of lengths, of the signal and of curves are within -4 .. 6, of
 * the noise within -25 .. 0: with more noise a search that is near a minimum stays there
 * for nothing; tie is within -1 .. 1. Cost of up to 100 steps, each one value of the
 * evidence or a few. */
void weft_gauss_fit(const weft_gauss_data *data, uint64_t seed, double *theta,
                    weft_arena *tmp);

#endif
