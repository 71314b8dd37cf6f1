/* Distinct bit patterns in a hash table with open addressing. */
#include "weft/patterns.h"

enum { FIRST_ROOM = 8 };

static uint64_t *place(const weft_patterns *patterns, uint64_t key)
{
    /* Whole numbers, as doubles, differ in their upper bits alone. */
    uint64_t at = ((key ^ key >> 32) * 0x9e3779b97f4a7c15u) >> 32;
    uint64_t last = (uint64_t)patterns->room - 1;
    while (patterns->key[at & last] != 0 && patterns->key[at & last] != key) at++;
    return &patterns->key[at & last];
}

int weft_patterns_add(weft_patterns *patterns, uint64_t bits, weft_arena *mem)
{
    if (2 * patterns->n >= patterns->room) {
        weft_patterns more = {.n = patterns->n,
                              .room = patterns->room > 0 ? 2 * patterns->room : FIRST_ROOM};
        more.key = WEFT_NEW(mem, uint64_t, more.room);
        for (int64_t i = 0; i < patterns->room; i++)
            if (patterns->key[i] != 0) *place(&more, patterns->key[i]) = patterns->key[i];
        *patterns = more;
    }
    uint64_t *at = place(patterns, bits + 1);
    if (*at != 0) return 0;
    *at = bits + 1;
    patterns->n++;
    return 1;
}
