/* Sparse rows turned into columns, without those that cannot have a weight under an L1
 * penalty: most columns of n-grams occur in a few rows only. Called by margin.c once for
 * each fit. */
#include <math.h>

#include "l1.h"

/* New numbers of the columns that remain, [d]; -1 for the others. Local. */
static int64_t *number_columns(const margin_problem *p, const weft_sparse *x, int64_t d,
                               l1_columns *c, weft_arena *mem)
{
    double *sum = WEFT_NEW(mem, double, d);
    int64_t *number = WEFT_NEW(mem, int64_t, d);
    for (int64_t e = 0; e < x->first[x->n]; e++)
        sum[x->column[e]] += fabs((double)x->value[e]);
    for (int64_t j = 0; j < d; j++) number[j] = p->c * sum[j] > 1 ? c->d++ : -1;
    c->name = WEFT_NEW(mem, int64_t, c->d);
    for (int64_t j = 0; j < d; j++)
        if (number[j] >= 0) c->name[number[j]] = j;
    return number;
}

l1_columns *l1_columns_of(const margin_problem *p, const weft_sparse *x, int64_t d,
                          weft_arena *mem)
{
    l1_columns *c = WEFT_NEW(mem, l1_columns, 1);
    c->n = x->n;
    const int64_t *number = number_columns(p, x, d, c, mem);
    c->start = WEFT_NEW(mem, int64_t, c->d + 1);
    for (int64_t e = 0; e < x->first[x->n]; e++)
        if (number[x->column[e]] >= 0) c->start[number[x->column[e]] + 1]++;
    for (int64_t j = 0; j < c->d; j++) c->start[j + 1] += c->start[j];
    int64_t *at = WEFT_NEW(mem, int64_t, c->d);
    for (int64_t j = 0; j < c->d; j++) at[j] = c->start[j];
    c->row = WEFT_NEW(mem, uint32_t, c->start[c->d]);
    c->value = WEFT_NEW(mem, float, c->start[c->d]);
    c->square = WEFT_NEW(mem, double, c->d);
    for (int64_t i = 0; i < x->n; i++) {
        for (int64_t e = x->first[i]; e < x->first[i + 1]; e++) {
            int64_t j = number[x->column[e]];
            if (j < 0) continue;
            c->row[at[j]] = (uint32_t)i;
            c->value[at[j]++] = x->value[e];
            c->square[j] += (double)x->value[e] * (double)x->value[e];
        }
    }
    return c;
}
