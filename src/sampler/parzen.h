/* Densities of one axis, on [0, 1], from the values of some trials: a kernel on each and a
 * wide one for regions without observations. Bergstra, Bardenet, Bengio, Kegl, "Algorithms
 * for hyper-parameter optimization", NeurIPS 2011, section 4; the details are Optuna's. */
#ifndef WEFT_SAMPLER_PARZEN_H
#define WEFT_SAMPLER_PARZEN_H

#include "weft/base.h"

/* How kernels are made. */
typedef struct weft_parzen_rule {
    int endpoints; /* 1: the ends of the axis count as neighbours of the extreme values */
    int whole;  /* 1: the mixture is cut to the axis as a whole, not each kernel; one value
                   has a kernel of half the axis: hyperopt's */
    int normal; /* 1: kernels on numbers are densities; 0: all are as high as one of sigma
                   1, so that wide ones count for more than their share */
    double width; /* of all kernels; 0: each by the distance to its neighbours */
} weft_parzen_rule;

/* A mixture of n normal distributions cut to [0, 1]: those of the least sigma first, by
 * rising mu, as only what is near a point counts there; the last is the wide one. */
typedef struct weft_parzen {
    int64_t n, nleast;
    double *mu, *sigma;
    double *share;  /* of the mixture; sum 1 */
    double *narrow; /* 1 / sigma */
    double *part;   /* share over the part of the kernel that lies in [0, 1] */
    double *coef;   /* part / (sigma sqrt(2 pi)), or without sigma */
} weft_parzen;

/* Weights of n values from the oldest: 1 for the 25 newest, before them rising from 1 / n
 * to 1 evenly. Local. */
double weft_parzen_weight(int64_t age_rank, int64_t n);
/* A width brought within what n values allow: 1 / min(100, n + 2) to 1. Local. */
double weft_parzen_clip(int64_t n, double sigma);
/* The share of N(mu, sigma^2) in [0, 1], 0 <= mu <= 1. Local. */
double weft_parzen_inside(double mu, double sigma);
/* The mixture of kernels on at[n], rising, with weight[n], and of N(1/2, 1) with weight 1.
 *     sigma_j = the larger distance to a neighbour, N(1/2, 1) among them, of the two
 *               extreme ones to the one that they have; at least 1 / min(100, n + 2), at
 *               most 1.
 * Values that are equal, with the same sigma, become one. Arrays are of mem. Cost O(n).
 * Local. */
weft_parzen weft_parzen_new(int64_t n, const double *at, const double *weight,
                            const weft_parzen_rule *rule, weft_arena *mem);
/* A draw by two numbers in [0, 1). Local. */
double weft_parzen_draw(const weft_parzen *p, double which, double unit);
/* Log of the density at x, where kernels are densities. Local. */
double weft_parzen_log(const weft_parzen *p, double x);
/* Log of the probability of an interval. Local. */
double weft_parzen_log_mass(const weft_parzen *p, double lo, double hi);
/* The component that a number in [0, 1) draws, by share[n]. Local. */
int64_t weft_parzen_pick(int64_t n, const double *share, double unit);

/* Probabilities p[levels] of a category from n values with sums of weight sum[levels]:
 * each value gives its own level (1 + a) / (1 + a levels) and the others a / (1 + a
 * levels), a = 1 / (n + 1), and all together get a value of weight 1 that gives all levels
 * the same. whole: hyperopt's, (sum + 1) / (total + levels). Local. */
void weft_parzen_levels(int64_t n, int levels, const double *sum, int whole, double *p);

#endif
