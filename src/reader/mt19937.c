/* MT19937: Matsumoto, Nishimura, "Mersenne twister: a 623-dimensionally equidistributed
 * uniform pseudo-random number generator", ACM TOMACS 8(1), 1998, seeded by Knuth's linear
 * congruence (TAOCP 2, 3rd ed., p. 106). Normal numbers by Marsaglia's polar method, in
 * numpy's order: the second of a pair first. */
#include "mt19937.h"

#include <math.h>

#define MIDDLE 397

void weft_twister_seed(weft_twister *twister, uint32_t seed)
{
    *twister = (weft_twister){.at = WEFT_MT_WORDS};
    twister->word[0] = seed;
    for (uint32_t i = 1; i < WEFT_MT_WORDS; i++)
        twister->word[i] =
            1812433253u * (twister->word[i - 1] ^ twister->word[i - 1] >> 30) + i;
}

static void refill(weft_twister *twister)
{
    uint32_t *w = twister->word;
    for (int i = 0; i < WEFT_MT_WORDS; i++) {
        uint32_t y = (w[i] & 0x80000000u) | (w[(i + 1) % WEFT_MT_WORDS] & 0x7fffffffu);
        w[i] = w[(i + MIDDLE) % WEFT_MT_WORDS] ^ y >> 1 ^ (y & 1 ? 0x9908b0dfu : 0);
    }
    twister->at = 0;
}

uint32_t weft_twister_word(weft_twister *twister)
{
    if (twister->at == WEFT_MT_WORDS) refill(twister);
    uint32_t y = twister->word[twister->at++];
    y ^= y >> 11;
    y ^= y << 7 & 0x9d2c5680u;
    y ^= y << 15 & 0xefc60000u;
    return y ^ y >> 18;
}

double weft_twister_unit(weft_twister *twister)
{
    uint32_t high = weft_twister_word(twister) >> 5, low = weft_twister_word(twister) >> 6;
    return (high * 67108864.0 + low) / 9007199254740992.0;
}

double weft_twister_normal(weft_twister *twister)
{
    if (twister->kept) {
        twister->kept = 0;
        return twister->spare;
    }
    double a, b, r;
    do {
        a = 2 * weft_twister_unit(twister) - 1;
        b = 2 * weft_twister_unit(twister) - 1;
        r = a * a + b * b;
    } while (r >= 1 || r == 0);
    double scale = sqrt(-2 * log(r) / r);
    twister->kept = 1;
    twister->spare = scale * a;
    return scale * b;
}
