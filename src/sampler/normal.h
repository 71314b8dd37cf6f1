/* The normal distribution, and sums of many of its bumps. */
#ifndef WEFT_SAMPLER_NORMAL_H
#define WEFT_SAMPLER_NORMAL_H

#include <stdint.h>

double weft_normal_cdf(double z);     /* P(Z < z), as exact in the lower tail */
double weft_normal_density(double z); /* exp(-z^2 / 2) / sqrt(2 pi) */
/* P(lo < Z < hi), exact in both tails. Local. */
double weft_normal_mass(double lo, double hi);
/* z with P(Z < z) = p, 0 < p < 1; relative error about 1e-16. Wichura, "Algorithm AS 241:
 * the percentage points of the normal distribution", Applied Statistics 37, 1988. Local. */
double weft_normal_quantile(double p);
/* The point of N(mu, sigma^2), cut to 0 .. 1 where mu lies, below which is the share unit
 * in [0, 1) of it: one number a draw, whatever is drawn. Local. */
double weft_normal_between(double mu, double sigma, double unit);
/* exp(x) for x <= 0, below -700 exp(-700): arithmetic alone, so the same bits everywhere,
 * and many at a time. Relative error below 4e-16 + 2e-16 |x|. x[n] in, out. Local. */
void weft_exp_all(int64_t n, double *x);
/* sum_j coef[j] exp(-((x - mu[j]) narrow[j])^2 / 2), in a fixed order. Cost about 3 ns a
 * term. Local. */
double weft_bumps(int64_t n, const double *mu, const double *narrow, const double *coef,
                  double x);

#endif
