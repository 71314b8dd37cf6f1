/* Shuffles by keyed random numbers: of all numbers below n, a function of length and seed
 * only; and of the first places of a list. */
#include "weft/shuffle.h"

#include <stdlib.h>

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
    size_t mark = weft_arena_mark(tmp);
    struct keyed *keyed = WEFT_NEW(tmp, struct keyed, n);
    for (int64_t i = 0; i < n; i++)
        keyed[i] =
            (struct keyed){weft_rng_at(seed, WEFT_RNG_SPLIT, (uint64_t)i, 0, 0).v[0], i};
    qsort(keyed, (size_t)n, sizeof *keyed, by_key);
    for (int64_t i = 0; i < n; i++) order[i] = keyed[i].row;
    weft_arena_reset(tmp, mark);
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
