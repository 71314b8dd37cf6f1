/* Acquisition functions; see gain.h. */
#include "gain.h"

#include "normal.h"

#include <math.h>

/* log Phi(z); for very negative z by the first terms of its asymptotic series. */
static double log_cdf(double z)
{
    double far = -30, log_sqrt_2pi = 0.91893853320467274178;
    if (z > far) return log(weft_normal_cdf(z));
    return -0.5 * z * z - log(-z) - log_sqrt_2pi + log1p(-1 / (z * z));
}

double weft_gain_log(weft_gain what, double mean, double sd, double best, double t)
{
    double least = 1e-10, below = best - mean;
    if (!(sd >= least)) return -INFINITY;
    if (what == WEFT_GAIN_PI) return log_cdf(below / sd);
    if (what == WEFT_GAIN_EI)
        return log(fmax(
            below * weft_normal_cdf(below / sd) + sd * weft_normal_density(below / sd), 0));
    return log_cdf((below + sd * sd * t) / sd) + (below - 1) * t + sd * sd * t * t / 2;
}

double weft_gain_cooled(weft_cooling how, double t0, double tf, double i, double steps)
{
    double at = steps > 0 ? fmin(i, steps) : 0;
    if (how == WEFT_COOLS_NONE || !(steps > 0)) return t0;
    if (how == WEFT_COOLS_EXPONENTIALLY) return t0 * pow(tf / t0, at / steps);
    if (how == WEFT_COOLS_LINEARLY) return t0 - (t0 - tf) * at / steps;
    return tf * log(steps + 1) / log(at + 2);
}

double weft_gain_spread(double t, double spread, const weft_rng4 *rng)
{
    double most = 22.36; /* exp(t^2 / 2) is finite */
    double z[2];
    weft_rng_normal_pair(rng, z);
    return fmin(t * exp(spread * z[0]), most);
}
