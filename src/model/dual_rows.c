/* Rows of a sparse matrix for dual ascent. Each is assigned to a partition, and moved to
 * the rank that processes its partition; each rank sends and receives its share of the
 * entries.
 *
 * Fits of many outputs store a vector of weights for each column. A column that occurs in a
 * single row needs none: its weights follow from the row's dual variable, so that only the
 * sum of squares of a row's entries in such columns is needed. Most columns of n-grams are
 * of this kind. The others are numbered by decreasing frequency, so that weights that are
 * read often are adjacent. */
#include "model.h"

#include <math.h>
#include <string.h>

/* ---- rows ---- */

/* Header of a row that is sent to another rank; its columns and values are sent
 * separately. */
typedef struct row_header {
    int32_t label, group;
    int64_t entries;
    double weight;
} row_header;

/* Rank that visits a partition. */
static int owner_of(const weft_team *team, int partitions, int partition)
{
    return team->size < partitions ? partition * team->size / partitions : partition;
}

static int group_of(const weft_matrix *matrix, int64_t i)
{
    return matrix->group ? matrix->group[i] : 0;
}

/* Partition of each group: the largest group first, to the partition with the smallest sum
 * so far. */
static int *assign_groups(const weft_matrix *matrix, int groups, int partitions,
                          weft_arena *mem)
{
    int *partition = WEFT_NEW(mem, int, groups);
    int64_t *size = WEFT_NEW(mem, int64_t, groups);
    double *cost = WEFT_NEW(mem, double, groups);
    for (int64_t i = 0; i < matrix->n; i++)
        size[group_of(matrix, i)] +=
            1 + matrix->rows->first[i + 1] - matrix->rows->first[i];
    weft_sum_i64(matrix->team, size, (size_t)groups);
    for (int g = 0; g < groups; g++) cost[g] = (double)size[g];
    weft_deal_costs(groups, cost, partitions, NULL, partition);
    return partition;
}

/* Where the items for each rank begin among all, given their numbers. */
static int64_t *places_of(const weft_team *team, const int64_t *to, weft_arena *mem)
{
    int64_t *at = WEFT_NEW(mem, int64_t, team->size);
    for (int r = 1; r < team->size; r++) at[r] = at[r - 1] + to[r - 1];
    return at;
}

/* Sends every row to owner[group]. The rows that arrive are in the order of the ranks they
 * come from, hence of the data set; returns the group of each. Collective. */
static const int *move_rows(dual_rows *dual, const weft_matrix *matrix,
                            const int32_t *label, const double *weight, const int *owner,
                            weft_arena *mem)
{
    const weft_sparse *sparse = matrix->rows;
    weft_team *team = matrix->team;
    int64_t *rows = WEFT_NEW(mem, int64_t, team->size),
            *entries = WEFT_NEW(mem, int64_t, team->size), n, all;
    for (int64_t i = 0; i < sparse->n; i++) {
        rows[owner[group_of(matrix, i)]]++;
        entries[owner[group_of(matrix, i)]] += sparse->first[i + 1] - sparse->first[i];
    }
    int64_t *row_at = places_of(team, rows, mem), *at = places_of(team, entries, mem);
    row_header *head = WEFT_NEW(mem, row_header, sparse->n);
    uint32_t *column = WEFT_NEW(mem, uint32_t, sparse->first[sparse->n]);
    float *value = WEFT_NEW(mem, float, sparse->first[sparse->n]);
    for (int64_t i = 0; i < sparse->n; i++) {
        int64_t e = sparse->first[i];
        size_t some = (size_t)(sparse->first[i + 1] - e);
        int g = group_of(matrix, i), to = owner[g];
        head[row_at[to]++] =
            (row_header){label[i], g, (int64_t)some, weight ? weight[i] : 1};
        memcpy(column + at[to], sparse->column + e, some * sizeof *column);
        memcpy(value + at[to], sparse->value + e, some * sizeof *value);
        at[to] += (int64_t)some;
    }
    head = weft_exchange_items(team, head, rows, sizeof *head, &n, mem);
    int64_t *first = WEFT_NEW(mem, int64_t, n + 1);
    int32_t *mine = WEFT_NEW(mem, int32_t, n);
    double *counts = WEFT_NEW(mem, double, n);
    int *group = WEFT_NEW(mem, int, n);
    for (int64_t i = 0; i < n; i++) {
        mine[i] = head[i].label;
        counts[i] = head[i].weight;
        group[i] = head[i].group;
        first[i + 1] = first[i] + head[i].entries;
    }
    dual->label = mine;
    dual->weight = weight ? counts : NULL;
    dual->x = (weft_sparse){.n = n, .first = first};
    dual->x.column = weft_exchange_items(team, column, entries, sizeof *column, &all, mem);
    dual->x.value = weft_exchange_items(team, value, entries, sizeof *value, &all, mem);
    return group;
}

/* Lists this rank's partitions, their groups and the groups' rows in order. */
static void list_partitions(dual_rows *rows, int groups, const int *partition,
                            const int *group, weft_arena *mem)
{
    int64_t *count = WEFT_NEW(mem, int64_t, groups);
    for (int64_t i = 0; i < rows->x.n; i++) count[group ? group[i] : 0]++;
    rows->segment = WEFT_NEW(mem, int, rows->last - rows->first + 1);
    rows->start = WEFT_NEW(mem, int64_t, groups + 1);
    rows->group = WEFT_NEW(mem, int, groups);
    rows->order = WEFT_NEW(mem, int64_t, rows->x.n);
    int s = 0;
    for (int l = rows->first; l < rows->last; l++) {
        for (int g = 0; g < groups; g++) {
            if (partition[g] != l) continue;
            rows->group[s] = g;
            rows->start[s + 1] = rows->start[s] + count[g];
            count[g] =
                rows->start[s++]; /* from here on: position of the group's next row */
        }
        rows->segment[l - rows->first + 1] = s;
    }
    for (int64_t i = 0; i < rows->x.n; i++) rows->order[count[group ? group[i] : 0]++] = i;
}

/* Weights, of which 0 becomes a number that is as good as 0, so that the conjugates of the
 * losses stay finite; NULL: NULL. */
static const double *positive(const double *weight, int64_t n, weft_arena *mem)
{
    const double nothing = 1e-100;
    if (!weight) return NULL;
    double *to = WEFT_NEW(mem, double, n);
    for (int64_t i = 0; i < n; i++) to[i] = weight[i] > nothing ? weight[i] : nothing;
    return to;
}

/* ---- columns ---- */

enum { POWERS = 32, SINGLE = POWERS - 1, EMPTY = POWERS };

/* SINGLE less the binary logarithm of the number of rows in which a column occurs, or
 * EMPTY. */
static int class_of(int32_t rows)
{
    if (rows <= 1) return rows == 1 ? SINGLE : EMPTY;
    return SINGLE - ilogb((double)rows);
}

/* dual->place: the columns that occur in more than one row are numbered, and counted in
 * dual->d; returns how many occur in one. Collective. */
static int64_t number_columns(dual_rows *dual, const weft_matrix *matrix, weft_arena *mem)
{
    int64_t start[POWERS + 2] = {0};
    int32_t *rows = WEFT_NEW(mem, int32_t, matrix->d);
    for (int64_t e = 0; e < matrix->rows->first[matrix->rows->n]; e++)
        rows[matrix->rows->column[e]]++;
    weft_sum_i32(matrix->team, rows, (size_t)matrix->d);
    for (int64_t j = 0; j < matrix->d; j++) start[class_of(rows[j]) + 1]++;
    int64_t singles = start[SINGLE + 1];
    for (int p = 0; p < POWERS; p++) start[p + 1] += start[p];
    dual->d = start[SINGLE];
    dual->place = WEFT_NEW(mem, uint32_t, matrix->d);
    for (int64_t j = 0; j < matrix->d; j++)
        dual->place[j] = rows[j] > 1 ? (uint32_t)start[class_of(rows[j])]++ : DUAL_NONE;
    return singles;
}

/* Separates the columns that only one row has and renumbers the others. Collective. */
static void separate_columns(dual_rows *rows, const weft_matrix *matrix, weft_arena *mem)
{
    weft_sparse sparse = rows->x;
    rows->single = WEFT_NEW(mem, dual_single, number_columns(rows, matrix, mem));
    rows->single_norm2 = WEFT_NEW(mem, double, sparse.n);
    int64_t *first = WEFT_NEW(mem, int64_t, sparse.n + 1), at = 0, singles = 0;
    uint32_t *column = WEFT_NEW(mem, uint32_t, sparse.first[sparse.n]);
    float *value = WEFT_NEW(mem, float, sparse.first[sparse.n]);
    for (int64_t i = 0; i < sparse.n; i++) {
        for (int64_t e = sparse.first[i]; e < sparse.first[i + 1]; e++) {
            uint32_t *place = rows->place + sparse.column[e];
            if (*place == DUAL_NONE) {
                *place = (uint32_t)(rows->d + singles);
                rows->single[singles++] = (dual_single){(uint32_t)i, sparse.value[e]};
                rows->single_norm2[i] += (double)sparse.value[e] * (double)sparse.value[e];
            } else {
                column[at] = *place;
                value[at++] = sparse.value[e];
            }
        }
        first[i + 1] = at;
    }
    rows->x =
        (weft_sparse){.n = sparse.n, .first = first, .column = column, .value = value};
}

/* ---- both ---- */

dual_rows *dual_rows_of(const margin_problem *problem, const weft_matrix *matrix,
                        const weft_answers *answers, int outputs, weft_arena *mem)
{
    int groups = matrix->group ? matrix->ngroup : 1;
    dual_rows *rows = WEFT_NEW(mem, dual_rows, 1);
    rows->team = matrix->team;
    rows->d = matrix->d;
    rows->total = matrix->total;
    rows->groups = groups;
    rows->partitions = problem->partitions < groups ? problem->partitions : groups;
    const int *partition = assign_groups(matrix, groups, rows->partitions, mem);
    while (rows->first < rows->partitions &&
           owner_of(matrix->team, rows->partitions, rows->first) < matrix->team->rank)
        rows->first++;
    for (rows->last = rows->first; rows->last < rows->partitions; rows->last++)
        if (owner_of(matrix->team, rows->partitions, rows->last) > matrix->team->rank)
            break;
    rows->x = *matrix->rows;
    rows->label = answers->label;
    rows->weight = positive(answers->weight, matrix->n, mem);
    const int *group = matrix->group;
    if (matrix->team->size > 1) {
        int *owner = WEFT_NEW(mem, int, groups);
        for (int g = 0; g < groups; g++)
            owner[g] = owner_of(matrix->team, rows->partitions, partition[g]);
        group = move_rows(rows, matrix, rows->label, rows->weight, owner, mem);
    }
    list_partitions(rows, groups, partition, group, mem);
    if (outputs > 1) separate_columns(rows, matrix, mem);
    return rows;
}
