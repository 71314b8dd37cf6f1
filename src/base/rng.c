/* Random numbers as a function of their purpose and identity, by Random123's Philox4x64-10.
 */
#include "weft/rng.h"

#include <Random123/philox.h>
#include <math.h>

weft_rng4 weft_rng_at(uint64_t seed, weft_purpose purpose, uint64_t a, uint64_t b,
                      uint64_t c)
{
    philox4x64_key_t key = {{seed, (uint64_t)purpose}};
    philox4x64_ctr_t counter = {{a, b, c, 0}};
    counter = philox4x64(counter, key);
    return (weft_rng4){{counter.v[0], counter.v[1], counter.v[2], counter.v[3]}};
}

double weft_rng_unit(uint64_t word)
{
    return (double)(word >> 11) * 0x1p-53;
}

/* Two N(0,1) of two words. */
static void box_muller(const uint64_t word[2], double z[2])
{
    double turn = 6.283185307179586; /* 2 pi */
    double radius = sqrt(-2 * log(1 - weft_rng_unit(word[0])));
    double angle = turn * weft_rng_unit(word[1]);
    z[0] = radius * cos(angle);
    z[1] = radius * sin(angle);
}

void weft_rng_normal_pair(const weft_rng4 *rng, double z[2])
{
    box_muller(rng->v, z);
}

void weft_rng_normal(const weft_rng4 *rng, double z[4])
{
    box_muller(rng->v, z);
    box_muller(rng->v + 2, z + 2);
}
