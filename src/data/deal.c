/* Which fold holds a row out: rows by chance, or whole groups of rows; and in which order
 * rows are taken where only some are. */
#include "weft/folds.h"
#include "weft/log.h"
#include "weft/shuffle.h"

#include <stdlib.h>
#include <string.h>

/* A group: its rows, and its place in a random order. */
struct group {
    int64_t number, rows, place;
};

static int by_size(const void *a, const void *b)
{
    const struct group *x = a, *y = b;
    if (x->rows != y->rows) return x->rows < y->rows ? 1 : -1;
    return (x->place > y->place) - (x->place < y->place);
}

/* One more than the largest number of a group. */
static int64_t bound(int64_t n, const int32_t *group)
{
    int64_t groups = 0;
    for (int64_t i = 0; i < n; i++)
        if (group[i] >= groups) groups = (int64_t)group[i] + 1;
    return groups;
}

int64_t weft_folds_most(int64_t n, const int32_t *group)
{
    if (!group) return n;
    weft_arena *tmp = weft_arena_new();
    char *seen = WEFT_NEW(tmp, char, bound(n, group));
    int64_t most = 0;
    for (int64_t i = 0; i < n; i++) {
        most += !seen[group[i]];
        seen[group[i]] = 1;
    }
    weft_arena_free(tmp);
    return most;
}

/* held_by[n] of rows in groups. */
static void deal_groups(int64_t n, const int32_t *group, int64_t folds, uint64_t seed,
                        int64_t *held_by)
{
    weft_arena *tmp = weft_arena_new();
    int64_t groups = bound(n, group);
    int64_t *order = WEFT_NEW(tmp, int64_t, groups), *fold = WEFT_NEW(tmp, int64_t, groups),
            *rows = WEFT_NEW(tmp, int64_t, folds);
    struct group *list = WEFT_NEW(tmp, struct group, groups);
    weft_shuffle(groups, seed, order, tmp);
    for (int64_t i = 0; i < groups; i++)
        list[order[i]] = (struct group){.number = order[i], .place = i};
    for (int64_t i = 0; i < n; i++) list[group[i]].rows++;
    qsort(list, (size_t)groups, sizeof *list, by_size);
    for (int64_t g = 0; g < groups; g++) {
        int64_t least = 0;
        for (int64_t f = 1; f < folds; f++)
            if (rows[f] < rows[least]) least = f;
        rows[least] += list[g].rows;
        fold[list[g].number] = least;
    }
    for (int64_t i = 0; i < n; i++) held_by[i] = fold[group[i]];
    weft_arena_free(tmp);
}

const int64_t *weft_folds_deal(int64_t n, const int32_t *group, int64_t folds,
                               uint64_t seed, weft_arena *mem)
{
    int64_t *held_by = WEFT_NEW(mem, int64_t, n);
    if (group) {
        deal_groups(n, group, folds, seed, held_by);
        return held_by;
    }
    int64_t *order = WEFT_NEW(mem, int64_t, n);
    weft_shuffle(n, seed, order, mem);
    for (int64_t i = 0; i < n; i++) held_by[order[i]] = i % folds;
    return held_by;
}

/* Which of groups of size[] come nearer to `left` rows, in random order; the smallest where
 * none does. */
static char *take_groups(int64_t groups, const int64_t *size, double left, uint64_t seed,
                         weft_arena *tmp)
{
    int64_t *order = WEFT_NEW(tmp, int64_t, groups), smallest = -1, n = 0;
    char *taken = WEFT_NEW(tmp, char, groups);
    weft_shuffle(groups, seed, order, tmp);
    for (int64_t i = 0; i < groups; i++) {
        int64_t g = order[i];
        if (size[g] == 0) continue;
        if (smallest < 0 || size[g] < size[smallest]) smallest = g;
        if (left <= (double)size[g] / 2) continue;
        taken[g] = 1;
        left -= (double)size[g];
        n++;
    }
    if (n == 0 && smallest >= 0) taken[smallest] = 1;
    return taken;
}

/* A row of a class that has N: as number r in a random order of these it stands at
 * (r + 1/2) / N. */
struct seat {
    double at;
    int64_t place, row; /* place in a random order of all */
};

static int by_seat(const void *a, const void *b)
{
    const struct seat *x = a, *y = b;
    if (x->at < y->at || x->at > y->at) return x->at < y->at ? -1 : 1;
    return (x->place > y->place) - (x->place < y->place);
}

const int64_t *weft_folds_order(int64_t n, const int32_t *label, int classes, uint64_t seed,
                                weft_arena *mem)
{
    int64_t *order = WEFT_NEW(mem, int64_t, n);
    weft_arena *tmp = weft_arena_new();
    int64_t *count = WEFT_NEW(tmp, int64_t, classes),
            *seen = WEFT_NEW(tmp, int64_t, classes);
    struct seat *seat = WEFT_NEW(tmp, struct seat, n);
    weft_shuffle(n, seed, order, tmp);
    for (int64_t i = 0; i < n; i++) count[label[i]]++;
    for (int64_t i = 0; i < n; i++) {
        int32_t c = label[order[i]];
        double at = ((double)seen[c]++ + 0.5) / (double)count[c];
        seat[i] = (struct seat){.at = at, .place = i, .row = order[i]};
    }
    qsort(seat, (size_t)n, sizeof *seat, by_seat);
    for (int64_t i = 0; i < n; i++) order[i] = seat[i].row;
    weft_arena_free(tmp);
    return order;
}

int64_t weft_folds_share(int64_t n, int64_t *row, const int32_t *group, double share,
                         uint64_t seed)
{
    weft_arena *tmp = weft_arena_new();
    int64_t groups = 0, first = 0, *order = WEFT_NEW(tmp, int64_t, n);
    for (int64_t i = 0; i < n; i++)
        if (group[row[i]] >= groups) groups = (int64_t)group[row[i]] + 1;
    int64_t *size = WEFT_NEW(tmp, int64_t, groups);
    for (int64_t i = 0; i < n; i++) size[group[row[i]]]++;
    const char *taken = take_groups(groups, size, share * (double)n, seed, tmp);
    for (int of = 1, at = 0; of >= 0; of--)
        for (int64_t i = 0; i < n; i++) {
            if (taken[group[row[i]]] != of) continue;
            order[at++] = row[i];
            first += of;
        }
    memcpy(row, order, (size_t)n * sizeof *row);
    weft_arena_free(tmp);
    return first;
}

/* Warns of rows that were packed in groups, of which an older file keeps only the parts. */
static weft_status warn(weft_data *data)
{
    const char *options = "", *group;
    TRY(weft_h5_find_attr(&data->file, "/", "options", &options));
    group = strstr(options, " group=");
    if (!group || strchr(" ", group[strlen(" group=")])) return WEFT_OK;
    weft_log(WEFT_WARN,
             "%s was packed with%.*s by an older weft, and folds divide the rows of a "
             "group: scores are too good; pack it again",
             data->path, (int)(1 + strcspn(group + 1, " ")), group);
    return WEFT_OK;
}

weft_status weft_folds_groups(weft_data *all, const int32_t **group, weft_arena *mem)
{
    const weft_rows *train = &all->part[WEFT_TRAIN], *valid = &all->part[WEFT_VALID];
    *group = NULL;
    if (!train->group) return warn(all);
    int32_t *both = WEFT_NEW(mem, int32_t, train->n + valid->n);
    memcpy(both, train->group, (size_t)train->n * sizeof *both);
    memcpy(both + train->n, valid->group, (size_t)valid->n * sizeof *both);
    *group = both;
    return WEFT_OK;
}
