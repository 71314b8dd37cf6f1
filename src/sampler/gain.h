/* Acquisition functions of a point for which a model predicts mean and standard
 * deviation. */
#ifndef WEFT_SAMPLER_GAIN_H
#define WEFT_SAMPLER_GAIN_H

#include "weft/rng.h"

typedef enum weft_gain { WEFT_GAIN_EI, WEFT_GAIN_PI, WEFT_GAIN_MGFI } weft_gain;

/* Logarithm of an acquisition function of a point with prediction N(mean, sd^2), to be
 * minimised below the best value so far, with u = (best - mean) / sd:
 *     PI    Phi(u), the probability of improvement,
 *     EI    (best - mean) Phi(u) + sd phi(u), the expected improvement,
 *     MGFI  Phi((best - mean + sd^2 t) / sd) exp((best - mean - 1) t + sd^2 t^2 / 2), the
 *           moment-generating function of the improvement, 0 < t <= 22.36; a larger t
 *           gives more weight to a high sd.
 * -INFINITY if sd < 1e-10. Jones, Schonlau, Welch, "Efficient global optimization of
 * expensive black-box functions", 1998; Wang, van Stein, Emmerich, Back, "A new
 * acquisition function for Bayesian optimization based on the moment-generating
 * function", SMC 2017. */
double weft_gain_log(weft_gain what, double mean, double sd, double best, double t);

typedef enum weft_cooling {
    WEFT_COOLS_NONE,
    WEFT_COOLS_EXPONENTIALLY,
    WEFT_COOLS_LINEARLY,
    WEFT_COOLS_LOGARITHMICALLY
} weft_cooling;
/* The temperature t of MGFI after i of T = steps steps, from t0 to tf:
 *     exponential  t0 (tf / t0)^(i / T)
 *     linear       t0 - (t0 - tf) i / T
 *     logarithmic  tf ln(T + 1) / ln(i + 2)
 *     none         t0
 * i > T counts as T. */
double weft_gain_cooled(weft_cooling how, double t0, double tf, double i, double steps);
/* The temperature of one of several proposals at a time: t exp(spread z), z ~ N(0, 1) by
 * the random numbers r, at most 22.36. van Stein, Wang, Back, 2018. */
double weft_gain_spread(double t, double spread, const weft_rng4 *rng);

#endif
