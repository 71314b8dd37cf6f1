/* Deals rows of a sparse matrix to lanes, and moves each to the rank that visits its lane.
 * Called by margin.c once a fit. Cost: each rank sends and receives its share of the
 * entries. */
#include <math.h>
#include <string.h>

#include "dual.h"

/* A row on its way: `entries` columns follow, then as many values. */
typedef struct parcel {
    int32_t label, group;
    int64_t entries;
} parcel;

int dual_owner(const weft_team *t, int lanes, int lane)
{
    return t->size < lanes ? lane * t->size / lanes : lane;
}

static int group_of(const weft_matrix *f, int64_t i)
{
    return f->group ? f->group[i] : 0;
}

/* Lane of each group: largest group first, to the lane with least so far. */
static int *deal_groups(const weft_matrix *f, int groups, int lanes, weft_arena *mem)
{
    int *lane = WEFT_NEW(mem, int, groups);
    int64_t *size = WEFT_NEW(mem, int64_t, groups);
    int64_t *load = WEFT_NEW(mem, int64_t, lanes);
    for (int64_t i = 0; i < f->n; i++)
        size[group_of(f, i)] += 1 + f->rows->first[i + 1] - f->rows->first[i];
    weft_sum_i64(f->team, size, (size_t)groups);
    for (int n = 0; n < groups; n++) {
        int most = 0, least = 0;
        for (int g = 1; g < groups; g++)
            if (size[g] > size[most]) most = g;
        for (int l = 1; l < lanes; l++)
            if (load[l] < load[least]) least = l;
        lane[most] = least;
        load[least] += size[most];
        size[most] = -1;
    }
    return lane;
}

/* Bytes that each rank gets from each, from[size] for this one. Collective. */
static void agree_sizes(weft_team *t, const size_t *to, size_t *from, weft_arena *tmp)
{
    size_t n = (size_t)t->size;
    int64_t *all = WEFT_NEW(tmp, int64_t, n * n);
    for (size_t r = 0; r < n; r++) all[(size_t)t->rank * n + r] = (int64_t)to[r];
    weft_sum_i64(t, all, n * n);
    for (size_t r = 0; r < n; r++) from[r] = (size_t)all[r * n + (size_t)t->rank];
}

/* Sends every row to the rank owner[group]; returns the bytes received, *n of them, rows in
 * the order of the ranks they come from, hence of the data set. Collective. */
static const char *send_rows(const weft_matrix *f, const int32_t *label, const int *owner,
                             size_t *n, weft_arena *mem)
{
    const weft_sparse *x = f->rows;
    size_t ranks = (size_t)f->team->size, bytes = 0;
    size_t *to = WEFT_NEW(mem, size_t, ranks), *from = WEFT_NEW(mem, size_t, ranks);
    size_t *at = WEFT_NEW(mem, size_t, ranks);
    for (int64_t i = 0; i < x->n; i++)
        to[owner[group_of(f, i)]] +=
            sizeof(parcel) + 8 * (size_t)(x->first[i + 1] - x->first[i]);
    for (size_t r = 0; r < ranks; bytes += to[r++]) at[r] = bytes;
    char *out = weft_arena_get(mem, bytes, 1);
    for (int64_t i = 0; i < x->n; i++) {
        int64_t e = x->first[i];
        parcel p = {label[i], group_of(f, i), x->first[i + 1] - e};
        size_t half = 4 * (size_t)p.entries;
        char *put = out + at[owner[p.group]];
        at[owner[p.group]] += sizeof p + 2 * half;
        memcpy(put, &p, sizeof p);
        memcpy(put + sizeof p, x->column + e, half);
        memcpy(put + sizeof p + half, x->value + e, half);
    }
    agree_sizes(f->team, to, from, mem);
    *n = 0;
    for (size_t r = 0; r < ranks; r++) *n += from[r];
    char *in = weft_arena_get(mem, *n, 1);
    weft_exchange(f->team, out, to, in, from);
    return in;
}

/* Rows of the bytes received, and the group of each. */
static void unpack(dual_rows *d, const char *in, size_t bytes, int **group, weft_arena *mem)
{
    int64_t n = 0, entries = 0;
    parcel p;
    for (size_t at = 0; at < bytes; at += sizeof p + 8 * (size_t)p.entries) {
        memcpy(&p, in + at, sizeof p);
        n++;
        entries += p.entries;
    }
    int64_t *first = WEFT_NEW(mem, int64_t, n + 1);
    uint32_t *column = WEFT_NEW(mem, uint32_t, entries);
    float *value = WEFT_NEW(mem, float, entries);
    int32_t *label = WEFT_NEW(mem, int32_t, n);
    *group = WEFT_NEW(mem, int, n);
    n = 0;
    for (size_t at = 0; at < bytes; n++) {
        memcpy(&p, in + at, sizeof p);
        size_t half = 4 * (size_t)p.entries;
        label[n] = p.label;
        (*group)[n] = p.group;
        memcpy(column + first[n], in + at + sizeof p, half);
        memcpy(value + first[n], in + at + sizeof p + half, half);
        first[n + 1] = first[n] + p.entries;
        at += sizeof p + 2 * half;
    }
    d->x = (weft_sparse){.n = n, .first = first, .column = column, .value = value};
    d->label = label;
}

/* Lists this rank's lanes, their groups and the groups' rows in order. */
static void list_lanes(dual_rows *d, int groups, const int *lane, const int *group,
                       weft_arena *mem)
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
            if (lane[g] != l) continue;
            d->group[s] = g;
            d->start[s + 1] = d->start[s] + count[g];
            count[g] = d->start[s++]; /* from here on, where the group's next row goes */
        }
        d->segment[l - d->first + 1] = s;
    }
    for (int64_t i = 0; i < d->x.n; i++) d->order[count[group ? group[i] : 0]++] = i;
}

dual_rows *dual_rows_of(const margin_problem *p, const weft_matrix *f, const int32_t *label,
                        weft_arena *mem)
{
    int groups = f->group ? f->ngroup : 1;
    dual_rows *d = WEFT_NEW(mem, dual_rows, 1);
    d->team = f->team;
    d->d = f->d;
    d->total = f->total;
    d->groups = groups;
    d->lanes = p->lanes < groups ? p->lanes : groups;
    const int *lane = deal_groups(f, groups, d->lanes, mem);
    while (d->first < d->lanes && dual_owner(f->team, d->lanes, d->first) < f->team->rank)
        d->first++;
    for (d->last = d->first; d->last < d->lanes; d->last++)
        if (dual_owner(f->team, d->lanes, d->last) > f->team->rank) break;
    d->x = *f->rows;
    d->label = label;
    const int *group = f->group;
    if (f->team->size > 1) {
        int *owner = WEFT_NEW(mem, int, groups), *come;
        for (int g = 0; g < groups; g++) owner[g] = dual_owner(f->team, d->lanes, lane[g]);
        size_t bytes;
        const char *in = send_rows(f, label, owner, &bytes, mem);
        unpack(d, in, bytes, &come, mem);
        group = come;
    }
    list_lanes(d, groups, lane, group, mem);
    d->largest = weft_sparse_largest(&d->x);
    weft_max_f64(d->team, &d->largest, 1);
    return d;
}
