/* Columns for fits of many outputs, which keep a line of weights for each. Those that occur
 * in one row only need none: the row's dual variable says their weights, so that a row's
 * entries in such columns count by the sum of their squares. They are most of the columns
 * of n-grams. The others are numbered by how often they occur: lines that are read often
 * then lie together. Called by dual_rows.c once a fit. */
#include <math.h>

#include "dual.h"

enum { POWERS = 32, LONE = POWERS - 1, NONE = POWERS };

/* Class of each column: LONE less the binary logarithm of the number of rows in which it
 * occurs, or NONE. Collective. */
static int32_t *classes_of(const weft_matrix *f, weft_arena *mem)
{
    int32_t *class = WEFT_NEW(mem, int32_t, f->d);
    for (int64_t e = 0; e < f->rows->first[f->rows->n]; e++) class[f->rows->column[e]]++;
    weft_sum_i32(f->team, class, (size_t)f->d);
    for (int64_t j = 0; j < f->d; j++)
        class[j] = class[j] == 0 ? NONE : LONE - ilogb((double)class[j]);
    return class;
}

/* Names the columns of more than one row; returns the new name of each. Local. */
static uint32_t *rename_columns(dual_rows *d, const int32_t *class, weft_arena *mem)
{
    int64_t start[POWERS + 2] = {0};
    for (int64_t j = 0; j < d->d; j++) start[class[j] + 1]++;
    for (int p = 0; p < POWERS; p++) start[p + 1] += start[p];
    uint32_t *name = WEFT_NEW(mem, uint32_t, d->d);
    int64_t kept = start[LONE];
    d->column = WEFT_NEW(mem, uint32_t, kept);
    for (int64_t j = 0; j < d->d; j++) {
        if (class[j] >= LONE) continue;
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
    int64_t alone = 0, *first, *lone_first;
    for (int64_t e = 0; e < x.first[x.n]; e++) alone += class[x.column[e]] == LONE;
    uint32_t *column, *lone_column;
    float *value, *lone_value;
    d->x = sparse_new(x.n, x.first[x.n] - alone, &first, &column, &value, mem);
    d->lone = sparse_new(x.n, alone, &lone_first, &lone_column, &lone_value, mem);
    d->own = WEFT_NEW(mem, double, x.n);
    int64_t at = 0, lone_at = 0;
    for (int64_t i = 0; i < x.n; i++) {
        for (int64_t e = x.first[i]; e < x.first[i + 1]; e++) {
            uint32_t j = x.column[e];
            if (class[j] == LONE) {
                lone_column[lone_at] = j;
                lone_value[lone_at++] = x.value[e];
            } else {
                column[at] = name[j];
                value[at++] = x.value[e];
            }
        }
        first[i + 1] = at;
        lone_first[i + 1] = lone_at;
        d->own[i] = weft_sparse_norm2(&d->lone, i);
    }
}
