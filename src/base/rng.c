/* Functions of keys: the hash of all digests, XXH3; random numbers as a function of their
 * purpose and identity, by Random123's Philox4x64-10; shuffles by them, of all numbers
 * below n and of the first places of a list. */
#include "weft/base/random.h"

#include <Random123/philox.h>
#include <math.h>
#include <stdlib.h>
#include <xxhash.h>

uint64_t weft_hash(const void *bytes, size_t n, uint64_t seed)
{
    return XXH3_64bits_withSeed(bytes, n, seed);
}

/* ---- random numbers ---- */

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

/* ---- shuffles ---- */

struct keyed {
    uint64_t key;
    int64_t row;
};

static int by_key(const void *a, const void *b)
{
    const struct keyed *x = a, *y = b;
    if (x->key != y->key) return x->key < y->key ? -1 : 1;
    return x->row < y->row ? -1 : x->row > y->row;
}

void weft_shuffle(int64_t n, uint64_t seed, int64_t *order, weft_arena *tmp)
{
    WEFT_REWIND(tmp);
    struct keyed *keyed = WEFT_NEW(tmp, struct keyed, n);
    for (int64_t i = 0; i < n; i++)
        keyed[i] =
            (struct keyed){weft_rng_at(seed, WEFT_RNG_SPLIT, (uint64_t)i, 0, 0).v[0], i};
    qsort(keyed, (size_t)n, sizeof *keyed, by_key);
    for (int64_t i = 0; i < n; i++) order[i] = keyed[i].row;
}

void weft_shuffle_first(int64_t take, int64_t n, const weft_rng_row *key, int64_t *order)
{
    weft_rng4 rng = {{0}};
    for (int64_t i = 0; i < take; i++) {
        if (i % 4 == 0)
            rng = weft_rng_at(key->seed, key->purpose, key->a, key->b,
                              key->c + (uint64_t)(i / 4));
        int64_t j = i + (int64_t)(weft_rng_unit(rng.v[i % 4]) * (double)(n - i));
        int64_t kept = order[i];
        order[i] = order[j];
        order[j] = kept;
    }
}
