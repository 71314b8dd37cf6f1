/* Seconds to join what each rank made a share of: ranks,bytes,seconds. Every byte is
 * checked; ends with status 1 if one is wrong. jobs/forecast.sh runs it on simulated nodes.
 * usage: b_join [BYTES [JOINS]]; by default 100,000,000, twice
 * RUN: np=2 */
#include "weft/par.h"

#include <stdlib.h>

/* A byte that each rank would make alike. */
static char byte_of(size_t i)
{
    return (char)(i * 31 + i / 4093);
}

int main(int argc, char **argv)
{
    weft_team t;
    if (weft_par_start(&argc, &argv, &t) != WEFT_OK) return 1;
    size_t all = argc > 1 ? strtoull(argv[1], NULL, 10) : 100000000;
    int joins = argc > 2 ? atoi(argv[2]) : 2, wrong = 0;
    weft_arena *mem = weft_arena_new();
    size_t *count = WEFT_NEW(mem, size_t, t.size), own = 0;
    for (int r = 0; r < t.size; r++) { /* of unequal size */
        count[r] =
            all * (size_t)(r + 1) / (size_t)t.size - all * (size_t)r / (size_t)t.size;
        count[r] += r % 2 ? 0 : 7;
        if (r < t.rank) own += count[r];
    }
    all += 7 * (size_t)((t.size + 1) / 2);
    char *x = WEFT_NEW(mem, char, all);
    double begin = 0, none = 0;
    for (int k = 0; k < joins; k++) {
        for (size_t i = 0; i < all; i++) x[i] = 0;
        for (size_t i = own; i < own + count[t.rank]; i++) x[i] = byte_of(i);
        weft_sum_f64(&t, &none, 1, 0);
        begin = weft_now();
        weft_join_bytes(&t, x, count);
        weft_sum_f64(&t, &none, 1, 0);
        begin = weft_now() - begin;
        for (size_t i = 0; i < all; i++) wrong |= x[i] != byte_of(i);
    }
    double bad = wrong;
    weft_sum_f64(&t, &bad, 1, 1);
    if (t.rank == 0) printf("ranks,bytes,seconds\n%d,%zu,%.4g\n", t.size, all, begin);
    if (t.rank == 0 && bad > 0) fprintf(stderr, "bytes are wrong on %.0f ranks\n", bad);
    weft_arena_free(mem);
    weft_par_end(&t);
    return bad > 0;
}
