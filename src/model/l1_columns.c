/* Sparse rows turned into columns, without those that cannot have a weight under an L1
 * penalty: most columns of n-grams occur in a few rows only. Equal columns become one: the
 * longer n-grams that only one document has all have the same value in it, and often they
 * are nine in ten of all columns. How a weight is divided among equal columns does not
 * change the objective, as long as no sign differs; they have equal shares. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "l1.h"

/* New numbers of the columns that remain, [d]; -1 for the others. */
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

/* ---- equal columns ---- */

typedef struct hashed {
    uint64_t hash;
    int64_t at;
} hashed;

static int by_hash(const void *left, const void *right)
{
    const hashed *a = left, *b = right;
    if (a->hash != b->hash) return a->hash < b->hash ? -1 : 1;
    return (a->at > b->at) - (a->at < b->at);
}

static int64_t entries(const l1_columns *c, int64_t j)
{
    return c->start[j + 1] - c->start[j];
}

static int are_equal(const l1_columns *c, int64_t i, int64_t j)
{
    size_t n = (size_t)entries(c, i);
    return entries(c, i) == entries(c, j) &&
           memcmp(c->row + c->start[i], c->row + c->start[j], n * sizeof *c->row) == 0 &&
           memcmp(c->value + c->start[i], c->value + c->start[j], n * sizeof *c->value) ==
               0;
}

/* leader[j] <- the first column that is equal to column j. */
static int64_t *find_leaders(const l1_columns *c, weft_arena *mem)
{
    int64_t *leader = WEFT_NEW(mem, int64_t, c->d);
    hashed *order = WEFT_NEW(mem, hashed, c->d);
    for (int64_t j = 0; j < c->d; j++) {
        size_t n = (size_t)entries(c, j);
        uint64_t hash = weft_hash(c->row + c->start[j], n * sizeof *c->row, 0);
        hash = weft_hash(c->value + c->start[j], n * sizeof *c->value, hash);
        order[j] = (hashed){hash, j};
    }
    qsort(order, (size_t)c->d, sizeof *order, by_hash);
    for (int64_t k = 0, led = 0; k < c->d; k++) {
        int64_t first = order[led].at, at = order[k].at;
        if (order[k].hash != order[led].hash || !are_equal(c, first, at))
            first = order[led = k].at;
        leader[at] = first;
    }
    return leader;
}

/* Keeps the first of equal columns, with the names of all. */
static void merge(l1_columns *c, weft_arena *mem)
{
    int64_t all = c->d, m = 0, to = 0, *name = c->name;
    c->first = WEFT_NEW(mem, int64_t, all + 1);
    c->name = WEFT_NEW(mem, int64_t, all);
    size_t mark = weft_arena_mark(mem);
    const int64_t *leader = find_leaders(c, mem);
    int64_t *number = WEFT_NEW(mem, int64_t, all), *at = WEFT_NEW(mem, int64_t, all);
    for (int64_t j = 0; j < all; j++) {
        number[j] = leader[j] == j ? m++ : number[leader[j]];
        c->first[number[j] + 1]++;
    }
    for (int64_t g = 0; g < m; g++) c->first[g + 1] += at[g] = c->first[g];
    for (int64_t j = 0; j < all; j++) c->name[at[number[j]]++] = name[j];
    for (int64_t j = 0; j < all; j++) {
        int64_t g = number[j], from = c->start[j], n = entries(c, j);
        if (leader[j] != j) continue;
        memmove(c->row + to, c->row + from, (size_t)n * sizeof *c->row);
        memmove(c->value + to, c->value + from, (size_t)n * sizeof *c->value);
        c->square[g] = c->square[j];
        c->start[g] = to;
        to += n;
    }
    c->d = m;
    c->start[m] = to;
    weft_arena_reset(mem, mark);
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
    merge(c, mem);
    return c;
}
