/* Densities of one axis, on [0, 1], from the values of some trials: a kernel on each and a
 * wide one for regions without observations. Bergstra, Bardenet, Bengio, Kegl, "Algorithms
 * for hyper-parameter optimization", NeurIPS 2011, section 4; the details are Optuna's. */
#ifndef WEFT_SAMPLER_PARZEN_H
#define WEFT_SAMPLER_PARZEN_H

#include "weft/arena.h"

/* How kernels are made. */
typedef struct weft_parzen_rule {
    int endpoints; /* 1: the ends of the axis count as neighbours of the extreme values */
    int whole;     /* 1: the mixture as a whole is truncated to the axis, not each kernel; a
                      single value has a kernel of half the axis: as in hyperopt */
    int normal; /* 1: kernels on numbers are densities; 0: all have the height of one with
                   sigma 1, so that wide ones have more mass than their share */
} weft_parzen_rule;

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

/* The number of good ones of n > 0 results: gamma n, rounded up; gamma = 0: n / 10, rounded
 * up, at most 25. hyperopt: sqrt(n + in_flight) / 4, rounded up, at most 25 and at most n,
 * where gamma = 0. */
int64_t weft_parzen_good(int64_t n, int64_t in_flight, double gamma, int hyperopt);
/* The weight of the value of that rank by age among n, 0 the oldest: 1 for the 25 newest;
 * for those before them it increases linearly from 1 / n to 1. */
double weft_parzen_weight(int64_t age_rank, int64_t n);
/* sigma clipped to 1 / min(100, n + 2) .. 1. */
double weft_parzen_clip(int64_t n, double sigma);
/* The mass of N(mu, sigma^2) in [0, 1], 0 <= mu <= 1. */
double weft_parzen_inside(double mu, double sigma);
/* The mixture of kernels at at[n], increasing, with weight[n], and of N(1/2, 1) with weight
 *     1. sigma_j = the larger distance to a neighbour, N(1/2, 1) among them, of the two
 *               extreme ones to the one that they have; at least 1 / min(100, n + 2), at
 *               most 1.
 * Equal values with the same sigma are merged. Arrays are owned by mem. Cost O(n). */
weft_parzen weft_parzen_new(int64_t n, const double *at, const double *weight,
                            const weft_parzen_rule *rule, weft_arena *mem);
/* A draw from the mixture by two random numbers in [0, 1): `which` selects the component.
 */
double weft_parzen_draw(const weft_parzen *parzen, double which, double unit);
/* Logarithm of the density at x (of a sum of kernels that are not densities if not
 * `normal`). */
double weft_parzen_log(const weft_parzen *parzen, double x);
/* Logarithm of the probability of the interval lo .. hi. */
double weft_parzen_log_mass(const weft_parzen *parzen, double lo, double hi);
/* The component drawn by unit in [0, 1), with probabilities share[n]. */
int64_t weft_parzen_pick(int64_t n, const double *share, double unit);

/* Probabilities p[levels] of a category from n values with sums of weight sum[levels]:
 * each value adds, by its weight, (1 + a) / (1 + a levels) to its own level and a / (1 + a
 * levels) to the others, a = 1 / (n + 1); one more value of weight 1 adds the same to all
 * levels. whole: as in hyperopt, (sum + 1) / (total + levels). */
void weft_parzen_levels(int64_t n, int levels, const double *sum, int whole, double *p);

#endif
