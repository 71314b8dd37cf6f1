/* MT19937: Matsumoto, Nishimura, "Mersenne twister: a 623-dimensionally equidistributed
 * uniform pseudo-random number generator", ACM TOMACS 8(1), 1998, seeded by Knuth's linear
 * congruence (TAOCP 2, 3rd ed., p. 106). Normal numbers by Marsaglia's polar method, in
 * numpy's order: the second of a pair first. */
#include "mt19937.h"

#include <math.h>

#define MIDDLE 397

void weft_mt_seed(weft_mt *m, uint32_t seed)
{
    *m = (weft_mt){.at = WEFT_MT_WORDS};
    m->word[0] = seed;
    for (uint32_t i = 1; i < WEFT_MT_WORDS; i++)
        m->word[i] = 1812433253u * (m->word[i - 1] ^ m->word[i - 1] >> 30) + i;
}

static void refill(weft_mt *m)
{
    uint32_t *w = m->word;
    for (int i = 0; i < WEFT_MT_WORDS; i++) {
        uint32_t y = (w[i] & 0x80000000u) | (w[(i + 1) % WEFT_MT_WORDS] & 0x7fffffffu);
        w[i] = w[(i + MIDDLE) % WEFT_MT_WORDS] ^ y >> 1 ^ (y & 1 ? 0x9908b0dfu : 0);
    }
    m->at = 0;
}

uint32_t weft_mt_word(weft_mt *m)
{
    if (m->at == WEFT_MT_WORDS) refill(m);
    uint32_t y = m->word[m->at++];
    y ^= y >> 11;
    y ^= y << 7 & 0x9d2c5680u;
    y ^= y << 15 & 0xefc60000u;
    return y ^ y >> 18;
}

double weft_mt_unit(weft_mt *m)
{
    uint32_t high = weft_mt_word(m) >> 5, low = weft_mt_word(m) >> 6;
    return (high * 67108864.0 + low) / 9007199254740992.0;
}

double weft_mt_normal(weft_mt *m)
{
    if (m->kept) {
        m->kept = 0;
        return m->spare;
    }
    double a, b, r;
    do {
        a = 2 * weft_mt_unit(m) - 1;
        b = 2 * weft_mt_unit(m) - 1;
        r = a * a + b * b;
    } while (r >= 1 || r == 0);
    double scale = sqrt(-2 * log(r) / r);
    m->kept = 1;
    m->spare = scale * a;
    return scale * b;
}
