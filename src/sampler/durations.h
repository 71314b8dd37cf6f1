/* Predicted durations, for samplers that prefer configurations which cost less. */
#ifndef WEFT_SAMPLER_DURATIONS_H
#define WEFT_SAMPLER_DURATIONS_H

#include "past.h"

/* A model of the logarithm of the virtual seconds of a configuration: a sum over its axes.
 */
typedef struct weft_durations weft_durations;

/* Writes y[n] = ln(seconds of result i / the least ones) of the n results of one resource;
 * a duration of 0 counts as the least other one. Returns 1 if not all are equal. */
int weft_durations_observed(const weft_past_level *level, double *y);
/* Learns from the results of one resource. On axis a, with y_i as above for
 * the n results that have the axis, and their mean m,
 *     effect_a(v) = sum_i K(v, v_i) (y_i - m) / (1 + sum_i K(v, v_i)),
 * K(v, v_i) = exp(-(u - u_i)^2 / (2 h^2)), u = the position of v in 0 .. 1 and
 * h = n^(-1/5) / 5 for numbers, and 1 for the same and 0 for another level of a category.
 * NULL if all took equally long: there is nothing to predict. Owned by mem. Cost O(n
 * dim). */
weft_durations *weft_durations_new(const weft_past *past, const weft_past_level *level,
                                   weft_arena *mem);
/* effect_a(value); 0 if value is NAN. Cost O(n). */
double weft_durations_effect(const weft_durations *durations, int a, double value);
/* The sum of the effects of conf[dim], the logarithm of the predicted duration relative to
 * the mean. Cost O(n dim). */
double weft_durations_log(const weft_durations *durations, const double *conf);
/* Logarithm of the expected improvement per second, but for a constant:
 *     -ln(good + (1 - good) exp(-ratio)) - cost,
 * where ratio = ln l - ln g compares the densities of good and bad results at a point, good
 * is the share of the good ones and cost the logarithm of its duration. Bergstra et al.,
 * "Algorithms for hyper-parameter optimization", NeurIPS 2011, section 4.1; per second:
 * Snoek, Larochelle, Adams, "Practical Bayesian optimization of machine learning
 * algorithms", NeurIPS 2012, section 3.2. */
double weft_durations_gain(double ratio, double good, double cost);

#endif
