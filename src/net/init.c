/* Initial weights by keyed random numbers. */
#include "init.h"
#include "weft/rng.h"

void weft_init_uniform(uint64_t seed, int tensor, double bound, int64_t n, real *w)
{
    for (int64_t i = 0; i < n; i += 4) {
        weft_rng4 rng =
            weft_rng_at(seed, WEFT_RNG_WEIGHTS, (uint64_t)tensor, (uint64_t)i / 4, 0);
        for (int64_t e = 0; e < 4 && i + e < n; e++)
            w[i + e] = (real)(bound * (2 * weft_rng_unit(rng.v[e]) - 1));
    }
}
