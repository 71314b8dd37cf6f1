/* Sparse rows turned into columns, without those that cannot have a weight under an L1
 * penalty: most columns of n-grams occur in a few rows only. Equal columns become one: the
 * longer n-grams that only one document has all have the same value in it, and often they
 * are nine in ten of all columns. How a weight is divided among equal columns does not
 * change the objective, as long as no sign differs; they have equal shares. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "l1.h"
#include "weft/hash.h"

/* New numbers of the columns that remain, [d]; -1 for the others. */
static int64_t *number_columns(const margin_problem *problem, const weft_sparse *sparse,
                               int64_t d, l1_columns *columns, weft_arena *mem)
{
    double *sum = WEFT_NEW(mem, double, d);
    int64_t *number = WEFT_NEW(mem, int64_t, d);
    for (int64_t i = 0; i < sparse->n; i++)
        for (int64_t e = sparse->first[i]; e < sparse->first[i + 1]; e++)
            sum[sparse->column[e]] += columns->weight[i] * fabs((double)sparse->value[e]);
    for (int64_t j = 0; j < d; j++) number[j] = problem->c * sum[j] > 1 ? columns->d++ : -1;
    columns->name = WEFT_NEW(mem, int64_t, columns->d);
    for (int64_t j = 0; j < d; j++)
        if (number[j] >= 0) columns->name[number[j]] = j;
    return number;
}

/* ---- equal columns ---- */

struct hashed {
    uint64_t hash;
    int64_t at;
};

static int by_hash(const void *left, const void *right)
{
    const struct hashed *a = left, *b = right;
    if (a->hash != b->hash) return a->hash < b->hash ? -1 : 1;
    return (a->at > b->at) - (a->at < b->at);
}

static int64_t entries(const l1_columns *columns, int64_t j)
{
    return columns->start[j + 1] - columns->start[j];
}

static int are_equal(const l1_columns *columns, int64_t i, int64_t j)
{
    size_t n = (size_t)entries(columns, i);
    return entries(columns, i) == entries(columns, j) &&
           memcmp(columns->row + columns->start[i], columns->row + columns->start[j],
                  n * sizeof *columns->row) == 0 &&
           memcmp(columns->value + columns->start[i], columns->value + columns->start[j],
                  n * sizeof *columns->value) == 0;
}

/* leader[j] <- the first column that is equal to column j. */
static int64_t *find_leaders(const l1_columns *columns, weft_arena *mem)
{
    int64_t *leader = WEFT_NEW(mem, int64_t, columns->d);
    struct hashed *order = WEFT_NEW(mem, struct hashed, columns->d);
    for (int64_t j = 0; j < columns->d; j++) {
        size_t n = (size_t)entries(columns, j);
        uint64_t hash =
            weft_hash(columns->row + columns->start[j], n * sizeof *columns->row, 0);
        hash =
            weft_hash(columns->value + columns->start[j], n * sizeof *columns->value, hash);
        order[j] = (struct hashed){hash, j};
    }
    qsort(order, (size_t)columns->d, sizeof *order, by_hash);
    for (int64_t k = 0, led = 0; k < columns->d; k++) {
        int64_t first = order[led].at, at = order[k].at;
        if (order[k].hash != order[led].hash || !are_equal(columns, first, at))
            first = order[led = k].at;
        leader[at] = first;
    }
    return leader;
}

/* Keeps the first of equal columns, with the names of all. */
static void merge(l1_columns *columns, weft_arena *mem)
{
    int64_t all = columns->d, m = 0, to = 0, *name = columns->name;
    columns->first = WEFT_NEW(mem, int64_t, all + 1);
    columns->name = WEFT_NEW(mem, int64_t, all);
    size_t mark = weft_arena_mark(mem);
    const int64_t *leader = find_leaders(columns, mem);
    int64_t *number = WEFT_NEW(mem, int64_t, all), *at = WEFT_NEW(mem, int64_t, all);
    for (int64_t j = 0; j < all; j++) {
        number[j] = leader[j] == j ? m++ : number[leader[j]];
        columns->first[number[j] + 1]++;
    }
    for (int64_t g = 0; g < m; g++) columns->first[g + 1] += at[g] = columns->first[g];
    for (int64_t j = 0; j < all; j++) columns->name[at[number[j]]++] = name[j];
    for (int64_t j = 0; j < all; j++) {
        int64_t g = number[j], from = columns->start[j], n = entries(columns, j);
        if (leader[j] != j) continue;
        memmove(columns->row + to, columns->row + from, (size_t)n * sizeof *columns->row);
        memmove(columns->value + to, columns->value + from,
                (size_t)n * sizeof *columns->value);
        columns->square[g] = columns->square[j];
        columns->start[g] = to;
        to += n;
    }
    columns->d = m;
    columns->start[m] = to;
    weft_arena_reset(mem, mark);
}

static void take_weights(const dual_rows *rows, l1_columns *columns, weft_arena *mem)
{
    columns->weight = WEFT_NEW(mem, double, columns->n);
    for (int64_t i = 0; i < columns->n; i++) {
        columns->weight[i] = rows->weight ? rows->weight[i] : 1;
        columns->most = fmax(columns->most, columns->weight[i]);
    }
}

l1_columns *l1_columns_of(const margin_problem *problem, const dual_rows *rows, int64_t d,
                          weft_arena *mem)
{
    const weft_sparse *sparse = &rows->x;
    l1_columns *columns = WEFT_NEW(mem, l1_columns, 1);
    columns->n = sparse->n;
    take_weights(rows, columns, mem);
    const int64_t *number = number_columns(problem, sparse, d, columns, mem);
    columns->start = WEFT_NEW(mem, int64_t, columns->d + 1);
    for (int64_t e = 0; e < sparse->first[sparse->n]; e++)
        if (number[sparse->column[e]] >= 0) columns->start[number[sparse->column[e]] + 1]++;
    for (int64_t j = 0; j < columns->d; j++) columns->start[j + 1] += columns->start[j];
    int64_t *at = WEFT_NEW(mem, int64_t, columns->d);
    for (int64_t j = 0; j < columns->d; j++) at[j] = columns->start[j];
    columns->row = WEFT_NEW(mem, uint32_t, columns->start[columns->d]);
    columns->value = WEFT_NEW(mem, float, columns->start[columns->d]);
    columns->square = WEFT_NEW(mem, double, columns->d);
    for (int64_t i = 0; i < sparse->n; i++) {
        for (int64_t e = sparse->first[i]; e < sparse->first[i + 1]; e++) {
            int64_t j = number[sparse->column[e]];
            if (j < 0) continue;
            columns->row[at[j]] = (uint32_t)i;
            columns->value[at[j]++] = sparse->value[e];
            columns->square[j] += (double)sparse->value[e] * (double)sparse->value[e];
        }
    }
    merge(columns, mem);
    return columns;
}
