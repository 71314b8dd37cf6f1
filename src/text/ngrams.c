/* N-grams that two sequences have in common: the places of both are sorted by what follows
 * them, once, which sorts the n-grams of all orders, and are then merged order by order. */
#include "ngrams.h"

#include <stdlib.h>

/* A place of a sequence. */
struct gram {
    const int32_t *at; /* [n] the symbols from there on, up to the highest order */
    int n;
};

/* By the first `order` symbols, the shorter one first. */
static int compare(const struct gram *x, const struct gram *y, int order)
{
    for (int i = 0; i < order && i < x->n && i < y->n; i++)
        if (x->at[i] != y->at[i]) return x->at[i] < y->at[i] ? -1 : 1;
    return x->n >= order && y->n >= order ? 0 : x->n - y->n;
}

static int by_symbols(const void *a, const void *b)
{
    const struct gram *x = a, *y = b;
    return compare(x, y, x->n > y->n ? x->n : y->n);
}

static struct gram *sort_grams(weft_symbols symbols, int orders, weft_arena *tmp)
{
    struct gram *gram = WEFT_NEW(tmp, struct gram, symbols.n);
    for (int64_t i = 0; i < symbols.n; i++)
        gram[i] = (struct gram){symbols.at + i,
                                symbols.n - i < orders ? (int)(symbols.n - i) : orders};
    if (symbols.n > 0) qsort(gram, (size_t)symbols.n, sizeof *gram, by_symbols);
    return gram;
}

/* The n-grams of one order; places that have none are passed over. */
static int64_t count_common(const struct gram *x, int64_t n, const struct gram *y,
                            int64_t m, int order)
{
    int64_t i = 0, j = 0, common = 0;
    while (i < n && j < m) {
        int way = x[i].n < order ? -1 : y[j].n < order ? 1 : compare(&x[i], &y[j], order);
        common += way == 0;
        i += way <= 0;
        j += way >= 0;
    }
    return common;
}

void weft_ngrams_common(weft_symbols a, weft_symbols b, int orders, int64_t *common,
                        weft_arena *tmp)
{
    size_t mark = weft_arena_mark(tmp);
    const struct gram *x = sort_grams(a, orders, tmp), *y = sort_grams(b, orders, tmp);
    for (int order = 1; order <= orders; order++)
        common[order - 1] += count_common(x, a.n, y, b.n, order);
    weft_arena_reset(tmp, mark);
}
