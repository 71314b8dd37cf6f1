/* What a point promises of which a model says a mean and a deviation. */
#ifndef WEFT_SAMPLER_GAIN_H
#define WEFT_SAMPLER_GAIN_H

typedef enum weft_gain { WEFT_GAIN_EI, WEFT_GAIN_PI, WEFT_GAIN_MGFI } weft_gain;

/* Logarithm of what a point of N(mean, sd^2) is expected to bring below the best value,
 * with u = (best - mean) / sd: PI    Phi(u), the probability of any improvement EI    (best
 * - mean) Phi(u) + sd phi(u), its mean MGFI  Phi((best - mean + sd^2 t) / sd) exp((best -
 * mean - 1) t + sd^2 t^2 / 2), the moment-generating function of it; the larger t, 0 < t <=
 * 22, the more a high sd counts -INFINITY where sd < 1e-10. Local. Jones, Schonlau, Welch,
 * "Efficient global optimization of expensive black-box functions", 1998; Wang, van Stein,
 * Emmerich, Back, "A new acquisition function for Bayesian optimization based on the
 * moment-generating function", SMC 2017. */
double weft_gain_log(weft_gain what, double mean, double sd, double best, double t);

/* The temperature t of MGFI after i of T steps, from t0 to tf:
 *     exponential t0 (tf / t0)^(i / T);  linear t0 - (t0 - tf) i / T;
 *     logarithmic tf ln(T + 1) / ln(i + 2);  fixed t0. i beyond T counts as T. Local. */
typedef enum weft_cooling {
    WEFT_COOLS_NOT,
    WEFT_COOLS_EXPONENTIALLY,
    WEFT_COOLS_LINEARLY,
    WEFT_COOLS_LOGARITHMICALLY
} weft_cooling;
double weft_gain_cooled(weft_cooling how, double t0, double tf, double i, double steps);

#endif
