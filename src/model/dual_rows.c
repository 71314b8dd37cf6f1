/* Assigns rows of a sparse matrix to partitions, and moves each to the rank that processes
 * its partition. Cost: each rank sends and receives its share of the entries. */
#include <string.h>

#include "dual.h"

/* Header of a row that is sent to another rank; its columns and values are sent
 * separately. */
typedef struct row_header {
    int32_t label, group;
    int64_t entries;
} row_header;

int dual_owner(const weft_team *t, int partitions, int partition)
{
    return t->size < partitions ? partition * t->size / partitions : partition;
}

static int group_of(const weft_matrix *f, int64_t i)
{
    return f->group ? f->group[i] : 0;
}

/* Partition of each group: the largest group first, to the partition with the smallest sum
 * so far. */
static int *assign_groups(const weft_matrix *f, int groups, int partitions, weft_arena *mem)
{
    int *partition = WEFT_NEW(mem, int, groups);
    int64_t *size = WEFT_NEW(mem, int64_t, groups);
    double *cost = WEFT_NEW(mem, double, groups);
    for (int64_t i = 0; i < f->n; i++)
        size[group_of(f, i)] += 1 + f->rows->first[i + 1] - f->rows->first[i];
    weft_sum_i64(f->team, size, (size_t)groups);
    for (int g = 0; g < groups; g++) cost[g] = (double)size[g];
    weft_deal_costs(groups, cost, partitions, NULL, partition);
    return partition;
}

/* Numbers of items that each rank sends to this one, given those that this one sends.
 * Collective. */
static void counts_from(weft_team *t, const size_t *to, size_t *from, weft_arena *tmp)
{
    size_t n = (size_t)t->size;
    int64_t *all = WEFT_NEW(tmp, int64_t, n * n);
    for (size_t r = 0; r < n; r++) all[(size_t)t->rank * n + r] = (int64_t)to[r];
    weft_sum_i64(t, all, n * n);
    for (size_t r = 0; r < n; r++) from[r] = (size_t)all[r * n + (size_t)t->rank];
}

/* Numbers of items of one kind sent to and received from each rank. */
typedef struct exchange {
    size_t *to, *from;    /* [ranks] items */
    size_t *at;           /* [ranks] position of the next item for a rank */
    size_t sent, arrived; /* items in all */
} exchange;

static exchange exchange_new(weft_team *t, weft_arena *mem)
{
    size_t n = (size_t)t->size;
    return (exchange){.to = WEFT_NEW(mem, size_t, n),
                      .from = WEFT_NEW(mem, size_t, n),
                      .at = WEFT_NEW(mem, size_t, n)};
}

/* Fills in the rest when `to` is complete. Collective. */
static void exchange_counts(weft_team *t, exchange *x, weft_arena *mem)
{
    counts_from(t, x->to, x->from, mem);
    for (int r = 0; r < t->size; r++) {
        x->at[r] = x->sent;
        x->sent += x->to[r];
        x->arrived += x->from[r];
    }
}

/* Sends all items, of `size` bytes each; returns those received. Collective. */
static void *move_items(weft_team *t, const exchange *x, size_t size, const void *items,
                        weft_arena *mem)
{
    size_t n = (size_t)t->size;
    size_t *to = WEFT_NEW(mem, size_t, n), *from = WEFT_NEW(mem, size_t, n);
    void *in = weft_arena_alloc(mem, x->arrived, size);
    for (size_t r = 0; r < n; r++) {
        to[r] = x->to[r] * size;
        from[r] = x->from[r] * size;
    }
    weft_exchange(t, items, to, in, from);
    return in;
}

/* Sends every row to owner[group]. The rows that arrive are in the order of the ranks they
 * come from, hence of the data set; returns the group of each. Collective. */
static const int *move_rows(dual_rows *d, const weft_matrix *f, const int32_t *label,
                            const int *owner, weft_arena *mem)
{
    const weft_sparse *x = f->rows;
    exchange rows = exchange_new(f->team, mem), entries = exchange_new(f->team, mem);
    for (int64_t i = 0; i < x->n; i++) {
        rows.to[owner[group_of(f, i)]]++;
        entries.to[owner[group_of(f, i)]] += (size_t)(x->first[i + 1] - x->first[i]);
    }
    exchange_counts(f->team, &rows, mem);
    exchange_counts(f->team, &entries, mem);
    row_header *head = WEFT_NEW(mem, row_header, rows.sent);
    uint32_t *column = WEFT_NEW(mem, uint32_t, entries.sent);
    float *value = WEFT_NEW(mem, float, entries.sent);
    for (int64_t i = 0; i < x->n; i++) {
        int64_t e = x->first[i];
        size_t n = (size_t)(x->first[i + 1] - e);
        int g = group_of(f, i), to = owner[g];
        head[rows.at[to]++] = (row_header){label[i], g, (int64_t)n};
        memcpy(column + entries.at[to], x->column + e, n * sizeof *column);
        memcpy(value + entries.at[to], x->value + e, n * sizeof *value);
        entries.at[to] += n;
    }
    head = move_items(f->team, &rows, sizeof *head, head, mem);
    int64_t n = (int64_t)rows.arrived, *first = WEFT_NEW(mem, int64_t, n + 1);
    int32_t *mine = WEFT_NEW(mem, int32_t, n);
    int *group = WEFT_NEW(mem, int, n);
    for (int64_t i = 0; i < n; i++) {
        mine[i] = head[i].label;
        group[i] = head[i].group;
        first[i + 1] = first[i] + head[i].entries;
    }
    d->label = mine;
    d->x = (weft_sparse){.n = n, .first = first};
    d->x.column = move_items(f->team, &entries, sizeof *column, column, mem);
    d->x.value = move_items(f->team, &entries, sizeof *value, value, mem);
    return group;
}

/* Lists this rank's partitions, their groups and the groups' rows in order. */
static void list_partitions(dual_rows *d, int groups, const int *partition,
                            const int *group, weft_arena *mem)
{
    int64_t *count = WEFT_NEW(mem, int64_t, groups);
    for (int64_t i = 0; i < d->x.n; i++) count[group ? group[i] : 0]++;
    d->segment = WEFT_NEW(mem, int, d->last - d->first + 1);
    d->start = WEFT_NEW(mem, int64_t, groups + 1);
    d->group = WEFT_NEW(mem, int, groups);
    d->order = WEFT_NEW(mem, int64_t, d->x.n);
    int s = 0;
    for (int l = d->first; l < d->last; l++) {
        for (int g = 0; g < groups; g++) {
            if (partition[g] != l) continue;
            d->group[s] = g;
            d->start[s + 1] = d->start[s] + count[g];
            count[g] = d->start[s++]; /* from here on: position of the group's next row */
        }
        d->segment[l - d->first + 1] = s;
    }
    for (int64_t i = 0; i < d->x.n; i++) d->order[count[group ? group[i] : 0]++] = i;
}

dual_rows *dual_rows_of(const margin_problem *p, const weft_matrix *f, const int32_t *label,
                        int outputs, weft_arena *mem)
{
    int groups = f->group ? f->ngroup : 1;
    dual_rows *d = WEFT_NEW(mem, dual_rows, 1);
    d->team = f->team;
    d->d = f->d;
    d->total = f->total;
    d->groups = groups;
    d->partitions = p->partitions < groups ? p->partitions : groups;
    const int *partition = assign_groups(f, groups, d->partitions, mem);
    while (d->first < d->partitions &&
           dual_owner(f->team, d->partitions, d->first) < f->team->rank)
        d->first++;
    for (d->last = d->first; d->last < d->partitions; d->last++)
        if (dual_owner(f->team, d->partitions, d->last) > f->team->rank) break;
    d->x = *f->rows;
    d->label = label;
    const int *group = f->group;
    if (f->team->size > 1) {
        int *owner = WEFT_NEW(mem, int, groups);
        for (int g = 0; g < groups; g++)
            owner[g] = dual_owner(f->team, d->partitions, partition[g]);
        group = move_rows(d, f, label, owner, mem);
    }
    list_partitions(d, groups, partition, group, mem);
    if (outputs > 1) dual_columns(d, f, mem);
    return d;
}
