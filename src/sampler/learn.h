/* What the samplers that learn have in common: trials and results, densities. */
#ifndef WEFT_SAMPLER_LEARN_H
#define WEFT_SAMPLER_LEARN_H

#include "weft/base/random.h"
#include "weft/sampler/sampler.h"
#include "weft/space/goals.h"

/* ---- axes as samplers treat them ---- */

typedef enum weft_axis_type {
    WEFT_AXIS_REAL,     /* a real number, its position in 0 .. 1 on the axis */
    WEFT_AXIS_DISCRETE, /* a discrete number, each value with its own interval of 0 .. 1:
                        integers, and lists that increase or decrease */
    WEFT_AXIS_CATEGORY  /* a value without an order */
} weft_axis_type;

/* The interval lo .. hi of 0 .. 1 of a value of a WEFT_AXIS_DISCRETE axis. */
void weft_axis_cell(const weft_axis *axis, double value, double *lo, double *hi);
/* Sets conf[dim] to NAN for the axes that the configuration does not have. */
void weft_past_prune(const weft_space *space, double *conf);

/* ---- trials and results ---- */

/* The trials of a sampler, and their results by resource. Losses of different resources are
 * not comparable, so a sampler learns from the results of a single one, the largest that
 * has enough results. */

typedef struct weft_past_trial {
    double *conf;  /* [dim] NAN for axes that it does not have */
    int in_flight; /* 1: in flight: a job is asked for and not told */
    int other;     /* weft_observation.other of its results */
} weft_past_trial;

/* The results of one resource. Those of several data are merged by their ranks among those
 * of the same data (Salinas, Shen, Perrone, "A quantile-based approach for hyperparameter
 * transfer learning", ICML 2020): the loss of the i-th best of m, i = 0 .. m - 1, is then
 * (i + 1/2) / m, or INFINITY if it diverged. */
typedef struct weft_past_level {
    double resource;
    int64_t n, room;
    weft_rank *result; /* [n] the best first, with the index in weft_past.trial as id */
    weft_rank *told; /* [n] by data, then the best first; `result` where they are of one */
    int64_t roompoint;
    weft_point *point; /* [n] in the order told, with the same ids; NULL: not told */
} weft_past_level;

/* The first member of a sampler's state. */
typedef struct weft_past {
    const weft_space *space;
    weft_axis_type *type; /* [dim] integers with very many values count as reals */
    weft_arena *mem;
    int64_t n, room;
    weft_past_trial *trial; /* [n] in the order of their numbers */
    int64_t first;          /* number of trial[0] */
    int64_t flying;         /* trials in flight */
    int64_t nlevel, roomlevel;
    weft_past_level *level; /* [nlevel] by increasing resource */
} weft_past;

/* No trials, no results. space and mem are borrowed; what comes is owned by mem. */
void weft_past_setup(weft_past *past, const weft_space *space, weft_arena *mem);
/* `pending` and `told` of a sampler, which begins with its weft_past: a new trial is
 * trial[n - 1]. Cost O(results of its level). */
void weft_past_pending(void *self, int64_t number, const double *conf, double resource);
void weft_past_told(void *self, int64_t number, const weft_observation *observed);
/* The results of the largest resource with at least `enough` results; NULL: no resource has
 * so many. */
const weft_past_level *weft_past_highest(const weft_past *past, int64_t enough);

/* How many proposals one choice of results serves: 1 with fewer than WEFT_CROWD trials in
 * flight, else one for each 32 of these, at most WEFT_MOST_TURNS. The results of that many
 * more are missing anyway, and as many workers wait for proposals. */
enum { WEFT_CROWD = 512, WEFT_MOST_TURNS = 64 };
int64_t weft_past_turns(const weft_past *past);

/* The losses of one resource scaled to 0 .. 1, y[n], in the order of its results; those of
 * diverged trials and of those beyond limits count as the worst other. 0 where all are
 * equal. */
void weft_past_scaled(const weft_past_level *level, double *y);
/* The same for their ranks; those of equal losses are the mean of theirs. */
void weft_past_ranked(const weft_past_level *level, double *y);

/* The position of a value on axis a: the level of a category, or a number in 0 .. 1; and
 * the value of a position. */
double weft_past_place(const weft_past *past, int a, double value);
double weft_past_value(const weft_past *past, int a, double at);

/* Point `at` of a Latin hypercube of `points`: each axis is divided into as many equal
 * intervals as there are points, and each interval has one; the levels of a category occur
 * equally often, as far as possible. Cost O(dim points log points). */
void weft_past_design(const weft_past *past, uint64_t seed, int64_t at, int64_t points,
                      double *conf);
/* 1: a trial has this configuration. Cost O(trials). */
int weft_past_knows(const weft_past *past, const double *conf);

/* ---- the normal distribution, and sums of Gaussian kernels ---- */

#define WEFT_SQRT_2PI 2.50662827463100050242

double weft_normal_cdf(double z); /* P(Z < z), with full relative precision in the lower
                                     tail */
/* z with P(Z < z) = p, 0 < p < 1; relative error about 1e-16. Wichura, "Algorithm AS 241:
 * the percentage points of the normal distribution", Applied Statistics 37, 1988. */
double weft_normal_quantile(double p);
/* A draw from N(mu, sigma^2) truncated to 0 .. 1, with mu in 0 .. 1, by inversion of its
 * distribution function at unit in [0, 1). */
double weft_normal_between(double mu, double sigma, double unit);
/* x[i] <- exp(max(x[i], -700)) for x[i] <= 0. Uses only basic arithmetic, so that it is
 * vectorised and has the same bits on all CPUs. Relative error below 4e-16 + 2e-16 |x|.
 * x[n] in, out. */
void weft_exp_all(int64_t n, double *x);

/* ---- densities of one axis ---- */

/* Densities of one axis, on [0, 1], from the values of some trials: a kernel on each and a
 * wide one for regions without observations. Bergstra, Bardenet, Bengio, Kegl, "Algorithms
 * for hyper-parameter optimization", NeurIPS 2011, section 4; the details are Optuna's: all
 * kernels on numbers have the height of one with sigma 1, so that wide ones have more mass
 * than their share. Or, with `hyperopt`, they are that program's: densities; the mixture as
 * a whole is truncated to the axis, not each kernel; a single value has a kernel of half
 * the axis. */

/* A mixture of n normal distributions truncated to [0, 1]: first those of the least sigma,
 * by increasing mu, of which only those near a point need be evaluated there; the last one
 * is the wide kernel. */
typedef struct weft_parzen {
    int64_t n, nleast;
    double *mu, *sigma;
    double *share;  /* weight in the mixture; sum 1 */
    double *narrow; /* 1 / sigma */
    double *part;   /* share divided by the mass of the kernel in [0, 1] */
    double *coef;   /* part / (sigma sqrt(2 pi)), or without sigma */
} weft_parzen;

/* The number of good ones of n > 0 results: n / 10, rounded up, at most 25. hyperopt:
 * sqrt(n + in_flight) / 4, rounded up, at most 25 and at most n. */
int64_t weft_parzen_good(int64_t n, int64_t in_flight, int hyperopt);
/* The weight of the value of that rank by age among n, 0 the oldest: 1 for the 25 newest;
 * for those before them it increases linearly from 1 / n to 1. */
double weft_parzen_weight(int64_t age_rank, int64_t n);
/* The mixture of kernels at at[n], increasing, with weight[n], and of N(1/2, 1) with weight
 *     1. sigma_j = the larger distance to a neighbour, N(1/2, 1) among them, of the two
 *               extreme ones to the one that they have; at least 1 / min(100, n + 2), at
 *               most 1.
 * Equal values with the same sigma are merged. Arrays are owned by mem. Cost O(n). */
weft_parzen weft_parzen_new(int64_t n, const double *at, const double *weight, int hyperopt,
                            weft_arena *mem);
/* A draw from the mixture by two random numbers in [0, 1): `which` selects the component.
 */
double weft_parzen_draw(const weft_parzen *parzen, double which, double unit);
/* Logarithm of the density at x (without `hyperopt` of a sum of kernels that are none). */
double weft_parzen_log(const weft_parzen *parzen, double x);
/* Logarithm of the probability of the interval lo .. hi. */
double weft_parzen_log_mass(const weft_parzen *parzen, double lo, double hi);
/* The component drawn by unit in [0, 1), with probabilities share[n]. */
int64_t weft_parzen_pick(int64_t n, const double *share, double unit);

/* Probabilities p[levels] of a category from n values with sums of weight sum[levels]:
 * each value adds, by its weight, (1 + a) / (1 + a levels) to its own level and a / (1 + a
 * levels) to the others, a = 1 / (n + 1); one more value of weight 1 adds the same to all
 * levels. hyperopt: (sum + 1) / (total + levels). */
void weft_parzen_levels(int64_t n, int levels, const double *sum, int hyperopt, double *p);

/* ---- densities of configurations: sums of kernels, each a product over axes ---- */

/* Factors of n kernels on one axis. */
typedef struct weft_product_axis {
    int levels; /* of a category; 0: a number on [0, 1] */
    double *mu; /* [n] centre, or level; level -1: the same probability for all levels */
    /* numbers */
    double *sigma; /* [n] */
    double *part;  /* [n] factor of exp(-z^2 / 2), or of the probability of an interval */
    /* categories */
    double same, other; /* probability of a kernel's own level, and of each other level */
} weft_product_axis;

typedef struct weft_product {
    int dim;
    int64_t n;
    double *share;           /* [n] [n] weights of the kernels; sum 1 */
    weft_product_axis *axis; /* [dim] */
    double *factor, *power;  /* [n] scratch */
} weft_product;

/* One coordinate of the point at which a density is evaluated. */
typedef struct weft_product_point {
    double at;     /* position in [0, 1], or level; NAN: the axis does not exist and is left
                      out */
    double lo, hi; /* if lo < hi: the probability of this interval of a number is taken
                      instead */
} weft_product_point;

/* A density with all numbers 0, to be filled in; arrays are owned by mem. */
weft_product weft_product_new(int dim, int64_t n, weft_arena *mem);
/* Fills in shares and widths; mu and levels must be set. Shares are equal. Widths follow
 * the normal reference rule, h = 1.06 sd n^(-1 / (4 + dim)), at least `least`; the kernel
 * of a category is that of Aitchison and Aitken: 1 - h for its own level, the rest divided
 * equally among the others. As KDEMultivariate of statsmodels. */
void weft_product_reference(weft_product *product, double least);
/* Fills in shares and widths of kernels on m = n - 1 trials, the oldest first, and of the
 * wide kernel, which is the last; levels and mu[m] must be set, mu NAN where a
 * trial lacks the axis: it has the wide kernel there, N(1/2, 1) or equal probabilities of
 * levels. The others have sigma = 0.2 m^(-1 / (4 + dim)), at least 1 / min(100, m + 2);
 * numbers are truncated to [0, 1]. Shares are by age, as those of weft_parzen_weight. A
 * density is sqrt(2 pi) times as large for every number without an interval, which ratios
 * of densities do not show. As Optuna's multivariate estimator. */
void weft_product_joint(weft_product *product);
/* A draw from kernel j of weft_product_joint on one axis: a position, or a level. */
double weft_product_draw(const weft_product_axis *axis, int64_t j, const weft_rng4 *rng);
/* Logarithm of the density at x[dim]; at least log(1e-300). Cost O(n dim). */
double weft_product_log(weft_product *product, const weft_product_point *point);

#endif
