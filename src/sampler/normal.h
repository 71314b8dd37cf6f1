/* The normal distribution, and sums of Gaussian kernels. */
#ifndef WEFT_SAMPLER_NORMAL_H
#define WEFT_SAMPLER_NORMAL_H

#include <stdint.h>

#define WEFT_SQRT_2PI 2.50662827463100050242

double weft_normal_cdf(double z);     /* P(Z < z), with full relative precision in the lower
                                         tail */
double weft_normal_density(double z); /* exp(-z^2 / 2) / sqrt(2 pi) */
/* P(lo < Z < hi), with full relative precision in both tails. */
double weft_normal_mass(double lo, double hi);
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
/* sum_j coef[j] exp(-((x - mu[j]) narrow[j])^2 / 2), in a fixed order. Cost about 3 ns a
 * term. */
double weft_bumps(int64_t n, const double *mu, const double *narrow, const double *coef,
                  double x);

#endif
