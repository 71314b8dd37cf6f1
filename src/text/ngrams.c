/* N-grams that two sequences have in common: those of both are sorted, and merged. */
#include "ngrams.h"

#include <stdlib.h>

struct gram {
    const int32_t *at; /* [order] */
    int order;
};

static int compare(const void *a, const void *b)
{
    const struct gram *x = a, *y = b;
    for (int i = 0; i < x->order; i++)
        if (x->at[i] != y->at[i]) return x->at[i] < y->at[i] ? -1 : 1;
    return 0;
}

static struct gram *sort_grams(weft_symbols symbols, int order, weft_arena *tmp)
{
    int64_t n = weft_ngrams_count(symbols, order);
    struct gram *gram = WEFT_NEW(tmp, struct gram, n);
    for (int64_t i = 0; i < n; i++) gram[i] = (struct gram){symbols.at + i, order};
    if (n > 0) qsort(gram, (size_t)n, sizeof *gram, compare);
    return gram;
}

int64_t weft_ngrams_common(weft_symbols a, weft_symbols b, int order, weft_arena *tmp)
{
    size_t mark = weft_arena_mark(tmp);
    int64_t i = 0, j = 0, common = 0;
    const struct gram *x = sort_grams(a, order, tmp), *y = sort_grams(b, order, tmp);
    while (i < weft_ngrams_count(a, order) && j < weft_ngrams_count(b, order)) {
        int way = compare(&x[i], &y[j]);
        common += way == 0;
        i += way <= 0;
        j += way >= 0;
    }
    weft_arena_reset(tmp, mark);
    return common;
}
