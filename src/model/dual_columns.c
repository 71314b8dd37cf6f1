/* Columns for fits of many outputs, which store a vector of weights for each column. A
 * column that occurs in a single row needs none: its weights follow from the row's dual
 * variable, so that only the sum of squares of a row's entries in such columns is needed.
 * Most columns of n-grams are of this kind. The others are numbered by decreasing
 * frequency, so that weights that are read often are adjacent. Called by dual_rows.c once
 * for each fit. */
#include <math.h>

#include "dual.h"

enum { POWERS = 32, SINGLE = POWERS - 1, EMPTY = POWERS };

/* Class of each column: SINGLE less the binary logarithm of the number of rows in which it
 * occurs, or EMPTY. Collective. */
static int32_t *classes_of(const weft_matrix *f, weft_arena *mem)
{
    int32_t *class = WEFT_NEW(mem, int32_t, f->d);
    for (int64_t e = 0; e < f->rows->first[f->rows->n]; e++) class[f->rows->column[e]]++;
    weft_sum_i32(f->team, class, (size_t)f->d);
    for (int64_t j = 0; j < f->d; j++)
        class[j] = class[j] == 0 ? EMPTY : SINGLE - ilogb((double)class[j]);
    return class;
}

/* Renumbers the columns that occur in more than one row; returns the new numbers. Local. */
static uint32_t *rename_columns(dual_rows *d, const int32_t *class, weft_arena *mem)
{
    int64_t start[POWERS + 2] = {0};
    for (int64_t j = 0; j < d->d; j++) start[class[j] + 1]++;
    for (int p = 0; p < POWERS; p++) start[p + 1] += start[p];
    uint32_t *name = WEFT_NEW(mem, uint32_t, d->d);
    int64_t kept = start[SINGLE];
    d->column = WEFT_NEW(mem, uint32_t, kept);
    for (int64_t j = 0; j < d->d; j++) {
        if (class[j] >= SINGLE) continue;
        name[j] = (uint32_t)start[class[j]]++;
        d->column[name[j]] = (uint32_t)j;
    }
    d->d = kept;
    return name;
}

static weft_sparse sparse_new(int64_t n, int64_t entries, int64_t **first,
                              uint32_t **column, float **value, weft_arena *mem)
{
    *first = WEFT_NEW(mem, int64_t, n + 1);
    *column = WEFT_NEW(mem, uint32_t, entries);
    *value = WEFT_NEW(mem, float, entries);
    return (weft_sparse){.n = n, .first = *first, .column = *column, .value = *value};
}

void dual_columns(dual_rows *d, const weft_matrix *f, weft_arena *mem)
{
    const int32_t *class = classes_of(f, mem);
    const uint32_t *name = rename_columns(d, class, mem);
    weft_sparse x = d->x;
    int64_t singles = 0, *first, *single_first;
    for (int64_t e = 0; e < x.first[x.n]; e++) singles += class[x.column[e]] == SINGLE;
    uint32_t *column, *single_column;
    float *value, *single_value;
    d->x = sparse_new(x.n, x.first[x.n] - singles, &first, &column, &value, mem);
    d->single = sparse_new(x.n, singles, &single_first, &single_column, &single_value, mem);
    d->single_norm2 = WEFT_NEW(mem, double, x.n);
    int64_t at = 0, single_at = 0;
    for (int64_t i = 0; i < x.n; i++) {
        for (int64_t e = x.first[i]; e < x.first[i + 1]; e++) {
            uint32_t j = x.column[e];
            if (class[j] == SINGLE) {
                single_column[single_at] = j;
                single_value[single_at++] = x.value[e];
            } else {
                column[at] = name[j];
                value[at++] = x.value[e];
            }
        }
        first[i + 1] = at;
        single_first[i + 1] = single_at;
        d->single_norm2[i] = weft_sparse_norm2(&d->single, i);
    }
}
