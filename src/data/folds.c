/* Folds: which fold holds a row out, by chance or whole groups of rows, and in which order
 * rows are taken where only some are. Every rank reads all rows, and takes those that are
 * dealt to it of each fold's. So the rows of a fold and their order do not depend on the
 * number of ranks. */
#include "data.h"
#include "weft/base/base.h"
#include "weft/base/random.h"
#include "weft/par/par.h"

#include <stddef.h>
#include <stdlib.h>
#include <string.h>

/* ---- dealing ---- */

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

/* One more than the largest number of a group of row[n], or of all n where it is NULL. */
static int64_t groups_bound(int64_t n, const int64_t *row, const int32_t *group)
{
    int64_t groups = 0;
    for (int64_t i = 0; i < n; i++) {
        int32_t own = group[row ? row[i] : i];
        if (own >= groups) groups = (int64_t)own + 1;
    }
    return groups;
}

int64_t weft_folds_most(int64_t n, const int32_t *group)
{
    if (!group) return n;
    WEFT_SCRATCH(tmp);
    char *seen = WEFT_NEW(tmp, char, groups_bound(n, NULL, group));
    int64_t most = 0;
    for (int64_t i = 0; i < n; i++) {
        most += !seen[group[i]];
        seen[group[i]] = 1;
    }
    return most;
}

/* held_by[n] of rows in groups. */
static void deal_groups(int64_t n, const int32_t *group, int64_t folds, uint64_t seed,
                        int64_t *held_by)
{
    WEFT_SCRATCH(tmp);
    int64_t groups = groups_bound(n, NULL, group);
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

struct spread {
    int64_t row, owner, place;
    int32_t label;
    double way; /* of the rows of its owner and class, 0 .. 1 */
};

static int by_class(const void *a, const void *b)
{
    const struct spread *x = a, *y = b;
    if (x->owner != y->owner) return x->owner < y->owner ? -1 : 1;
    if (x->label != y->label) return x->label < y->label ? -1 : 1;
    return (x->place > y->place) - (x->place < y->place);
}

static int by_way(const void *a, const void *b)
{
    const struct spread *x = a, *y = b;
    if (x->way < y->way || x->way > y->way) return x->way < y->way ? -1 : 1;
    return (x->place > y->place) - (x->place < y->place);
}

void weft_split_classes(int64_t n, int64_t *order, const int64_t *owner,
                        const int32_t *label, weft_arena *tmp)
{
    struct spread *list = WEFT_NEW(tmp, struct spread, n);
    for (int64_t i = 0; i < n; i++)
        list[i] = (struct spread){.row = order[i],
                                  .owner = owner ? owner[order[i]] : 0,
                                  .place = i,
                                  .label = label[order[i]]};
    qsort(list, (size_t)n, sizeof *list, by_class);
    for (int64_t i = 0, end; i < n; i = end) {
        for (end = i; end < n && list[end].owner == list[i].owner &&
                      list[end].label == list[i].label;)
            end++;
        for (int64_t k = i; k < end; k++)
            list[k].way = ((double)(k - i) + 0.5) / (double)(end - i);
    }
    qsort(list, (size_t)n, sizeof *list, by_way);
    for (int64_t i = 0; i < n; i++) order[i] = list[i].row;
}

const int64_t *weft_folds_order(int64_t n, const int32_t *label, uint64_t seed,
                                weft_arena *mem)
{
    int64_t *order = WEFT_NEW(mem, int64_t, n);
    WEFT_SCRATCH(tmp);
    weft_shuffle(n, seed, order, tmp);
    weft_split_classes(n, order, NULL, label, tmp);
    return order;
}

int64_t weft_folds_share(int64_t n, int64_t *row, const int32_t *group, double share,
                         uint64_t seed)
{
    WEFT_SCRATCH(tmp);
    int64_t groups = groups_bound(n, row, group), first = 0,
            *order = WEFT_NEW(tmp, int64_t, n);
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
    return first;
}

const int32_t *weft_folds_groups(const weft_data *all, weft_arena *mem)
{
    const weft_rows *train = &all->part[WEFT_TRAIN], *valid = &all->part[WEFT_VALID];
    if (!train->group) return NULL;
    int32_t *both = WEFT_NEW(mem, int32_t, train->n + valid->n);
    memcpy(both, train->group, (size_t)train->n * sizeof *both);
    memcpy(both + train->n, valid->group, (size_t)valid->n * sizeof *both);
    return both;
}

/* The part that row *i of both parts is in; *i becomes its place there. */
static const weft_rows *part_of(const weft_folds *folds, int64_t *i)
{
    const weft_rows *part = folds->all.part;
    if (*i < part[WEFT_TRAIN].n) return &part[WEFT_TRAIN];
    *i -= part[WEFT_TRAIN].n;
    return &part[WEFT_VALID];
}

/* ---- opening ---- */

/* The tokens of both parts, one after the other. */
static void join_tokens(weft_folds *folds, weft_tokenizer tok, weft_arena *mem)
{
    const weft_rows *part = folds->all.part;
    int64_t *offset = WEFT_NEW(mem, int64_t, folds->n + 1);
    for (int64_t i = 0; i < folds->n; i++) {
        int64_t at = i;
        const weft_rows *rows = part_of(folds, &at);
        offset[i + 1] = offset[i] + rows->end[tok][at] - rows->offset[tok][at];
    }
    uint32_t *token = WEFT_NEW(mem, uint32_t, offset[folds->n]), *to = token;
    for (int p = WEFT_TRAIN; p <= WEFT_VALID; p++) {
        int64_t n = part[p].offset[tok][part[p].n];
        if (n > 0) memcpy(to, part[p].token[tok], (size_t)n * sizeof *to);
        to += n;
    }
    folds->offset[tok] = offset;
    folds->token[tok] = token;
}

static weft_status open_all(weft_folds *folds, weft_arena *mem)
{
    weft_data *base = folds->base, *all = &folds->all;
    weft_likeness like = weft_data_likeness(base);
    TRY(weft_data_open(all, base->path, &folds->alone, mem));
    weft_data_bind(base, all);
    TRY(weft_data_match(all, &like, "the run"));
    folds->n = all->part[WEFT_TRAIN].n + all->part[WEFT_VALID].n;
    for (int tok = 0; tok < WEFT_NTOK && base->form == WEFT_TOKENS; tok++) {
        TRY(weft_data_tokens(all, (weft_tokenizer)tok));
        join_tokens(folds, (weft_tokenizer)tok, mem);
    }
    return weft_data_sound(all);
}

weft_status weft_folds_open(weft_folds *folds, weft_data *base, weft_arena *mem)
{
    *folds = (weft_folds){.base = base};
    folds->alone = weft_team_alone();
    folds->team = base->team;
    TRY(weft_agree(open_all(folds, mem), base->team));
    for (int tok = 0; tok < WEFT_NTOK && base->form == WEFT_TOKENS; tok++)
        TRY(weft_data_tokens(base, (weft_tokenizer)tok));
    return WEFT_OK;
}

double weft_folds_bytes(const weft_folds *folds)
{
    const weft_rows *rows = &folds->all.part[WEFT_TRAIN];
    double row = rows->byte    ? (double)rows->d
                 : rows->value ? (double)rows->d * sizeof(float)
                               : 2.0 * WEFT_NTOK * sizeof(int64_t);
    if (rows->target) row += folds->all.classes * sizeof(double);
    return (row + sizeof(double)) * (double)folds->n / folds->team->size;
}

/* ---- the rows of a part ---- */

static const char *pointer_at(const weft_rows *rows, size_t member)
{
    const char *x;
    memcpy(&x, (const char *)rows + member, sizeof x);
    return x;
}

/* The entries of the rows row[n], of `bytes` each, of the member of weft_rows at offset
 * `member`; NULL where rows have none. */
static const void *take_member(const weft_folds *folds, size_t member, size_t bytes,
                               int64_t n, const int64_t *row, weft_arena *mem)
{
    if (!pointer_at(&folds->all.part[WEFT_TRAIN], member)) return NULL;
    char *copy = weft_arena_alloc(mem, (size_t)n, bytes);
    for (int64_t i = 0; i < n; i++) {
        int64_t at = row[i];
        const weft_rows *from = part_of(folds, &at);
        memcpy(copy + (size_t)i * bytes, pointer_at(from, member) + (size_t)at * bytes,
               bytes);
    }
    return copy;
}

static void take_tokens(const weft_folds *folds, const int64_t *row, weft_rows *to,
                        weft_arena *mem)
{
    for (int tok = 0; tok < WEFT_NTOK; tok++) {
        if (!folds->offset[tok]) continue;
        int64_t *offset = WEFT_NEW(mem, int64_t, to->n),
                *end = WEFT_NEW(mem, int64_t, to->n);
        for (int64_t i = 0; i < to->n; i++) {
            offset[i] = folds->offset[tok][row[i]];
            end[i] = folds->offset[tok][row[i] + 1];
        }
        to->offset[tok] = offset;
        to->end[tok] = end;
        to->token[tok] = folds->token[tok];
    }
}

/* This rank's of the `total` rows all[]. */
static weft_rows take_rows(const weft_folds *folds, int64_t total, const int64_t *all,
                           weft_arena *mem)
{
    const weft_team *team = folds->team;
    size_t d = (size_t)folds->all.part[WEFT_TRAIN].d, targets = (size_t)folds->all.classes;
    weft_rows to = {.total = total, .d = (int64_t)d};
    weft_deal(total, team->rank, team->size, &to.first, &to.n);
    const int64_t *row = all + to.first;
#define TAKE(name, width)                                                                  \
    to.name = take_member(folds, offsetof(weft_rows, name), (width) * sizeof *to.name,     \
                          to.n, row, mem)
    TAKE(label, 1);
    TAKE(target, targets);
    TAKE(weight, 1);
    TAKE(byte, d);
    TAKE(value, d);
#undef TAKE
    take_tokens(folds, row, &to, mem);
    return to;
}

void weft_folds_take(const weft_folds *folds, int64_t fold, weft_data *data,
                     weft_arena *mem)
{
    WEFT_SCRATCH(tmp);
    int64_t *row[2], n[2] = {0};
    for (int p = WEFT_TRAIN; p <= WEFT_VALID; p++)
        row[p] = WEFT_NEW(tmp, int64_t, folds->n);
    for (int64_t i = 0; i < folds->n; i++) {
        int p = fold >= 0 && folds->held_by[i] == fold ? WEFT_VALID : WEFT_TRAIN;
        row[p][n[p]++] = i;
    }
    *data = *folds->base;
    data->team = folds->team;
    for (int p = WEFT_TRAIN; p <= WEFT_VALID; p++)
        data->part[p] = take_rows(folds, n[p], row[p], mem);
    data_count_rows(data);
}

void weft_folds_sample(const weft_folds *folds, int64_t n, const int64_t *row,
                       weft_data *data, weft_arena *mem)
{
    data->part[WEFT_TRAIN] = take_rows(folds, n, row, mem);
    data_count_rows(data);
}
