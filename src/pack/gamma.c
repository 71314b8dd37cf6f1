/* Gamma variates from keyed random numbers, as logarithms, so that a shape of 1e-6, whose
 * variates are below every positive double, still gives proportions: Marsaglia, Tsang, "A
 * simple method for generating gamma variables", ACM TOMS 26(3), 2000, for shape + 1, times
 * U^(1 / shape). An attempt takes one block of keyed numbers; more than one is rare. */
#include "partition.h"
#include "weft/rng.h"

#include <math.h>

double weft_gamma_log(uint64_t seed, uint64_t a, uint64_t b, double shape)
{
    double d = shape + 1 - 1.0 / 3, c = 1 / sqrt(9 * d);
    for (uint64_t attempt = 0;; attempt++) {
        weft_rng4 rng = weft_rng_at(seed, WEFT_RNG_CLIENT, a, b, attempt);
        double z[2], u = 1 - weft_rng_unit(rng.v[2]), power = 1 - weft_rng_unit(rng.v[3]);
        weft_rng_normal_pair(&rng, z);
        double v = 1 + c * z[0];
        if (v <= 0) continue;
        v = v * v * v;
        if (log(u) < z[0] * z[0] / 2 + d * (1 - v + log(v)))
            return log(d * v) + log(power) / shape;
    }
}
