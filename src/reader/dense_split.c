/* How the rows of a table are divided: by chance, in groups that stay together, within each
 * client; rows of files for a part belong to it. */
#include "dense_arrays.h"
#include "weft/shuffle.h"

#include <string.h>

/* The column of that kind; -1: there is none. */
static int64_t column_of(const weft_dense_rows *rows, weft_column_kind kind)
{
    for (int64_t j = 0; rows->at && j < rows->d; j++)
        if (rows->at[j].kind == kind) return j;
    return -1;
}

static int64_t cell(const weft_dense_rows *rows, int64_t i, int64_t j)
{
    return (int64_t)weft_dense_cell(rows, i, j);
}

/* Shares of the rows of the first file. ECONF. */
static weft_status shares_of(const weft_split *split, const weft_dense_rows *rows,
                             weft_split *shares)
{
    *shares = *split;
    if (rows->end[WEFT_VALID] > rows->end[WEFT_TRAIN]) shares->valid = 0;
    if (rows->end[WEFT_TEST] > rows->end[WEFT_VALID]) shares->test = 0;
    if (shares->valid + shares->test < 1) return WEFT_OK;
    return weft_fail(WEFT_ECONF,
                     "valid = %g and test = %g leave no rows for training; their sum must "
                     "be below 1",
                     shares->valid, shares->test);
}

/* The part of the file that row i is of. */
static weft_part file_of(const weft_dense_rows *rows, int64_t i)
{
    return i < rows->end[WEFT_TRAIN]   ? WEFT_TRAIN
           : i < rows->end[WEFT_VALID] ? WEFT_VALID
                                       : WEFT_TEST;
}

/* Rows of other files come behind those of the first in their part. */
static void add_files(const weft_dense_rows *rows, weft_dense_parts *parts, weft_pack *pack)
{
    int64_t n = rows->end[WEFT_TRAIN], valid = rows->end[WEFT_VALID] - n,
            *own = parts->order, at = 0;
    if (rows->n == n) return;
    parts->order = WEFT_NEW(pack->mem, int64_t, rows->n);
    int64_t from = 0;
    for (int p = 0; p < WEFT_NPART; p++) {
        for (int64_t end = from + parts->rows[p]; from < end; from++)
            parts->order[at++] = own[from];
        for (int64_t i = n; i < rows->n; i++)
            if ((int)file_of(rows, i) == p) {
                parts->order[at++] = i;
                parts->rows[p]++;
            }
    }
    weft_pack_split_add(
        pack, weft_arena_text(pack->mem, "%lld valid and %lld test rows of other files",
                              (long long)valid, (long long)(rows->n - n - valid)));
}

/* ---- groups ---- */

/* The part of each group, in mem: test and valid get groups in random order as long as they
 * come nearer to their shares. */
static weft_part *deal_groups(const weft_split *shares, int64_t n, const int64_t *size,
                              int64_t groups, weft_arena *mem)
{
    weft_part *part = WEFT_NEW(mem, weft_part, groups);
    int64_t *order = WEFT_NEW(mem, int64_t, groups);
    weft_shuffle(groups, (uint64_t)shares->seed, order, mem);
    double left[WEFT_NPART] = {
        [WEFT_VALID] = shares->valid * (double)n, [WEFT_TEST] = shares->test * (double)n};
    for (int64_t i = 0; i < groups; i++) {
        double half = (double)size[order[i]] / 2;
        weft_part to = left[WEFT_TEST] > half    ? WEFT_TEST
                       : left[WEFT_VALID] > half ? WEFT_VALID
                                                 : WEFT_TRAIN;
        part[order[i]] = to;
        left[to] -= 2 * half;
    }
    return part;
}

static weft_status split_groups(const weft_split *shares, const weft_dense_rows *rows,
                                int64_t column, weft_dense_parts *parts, weft_pack *pack)
{
    int64_t n = rows->end[WEFT_TRAIN], groups = rows->at[column].name.n, at = 0;
    int64_t *size = WEFT_NEW(pack->mem, int64_t, groups),
            *shuffled = WEFT_NEW(pack->mem, int64_t, n);
    for (int64_t i = 0; i < n; i++) size[cell(rows, i, column)]++;
    const weft_part *part = deal_groups(shares, n, size, groups, pack->mem);
    weft_shuffle(n, (uint64_t)shares->seed, shuffled, pack->mem);
    for (int p = 0; p < WEFT_NPART; p++) {
        double share = p == WEFT_VALID ? shares->valid : p == WEFT_TEST ? shares->test : 1;
        int64_t before = at;
        for (int64_t i = 0; i < n; i++)
            if ((int)part[cell(rows, shuffled[i], column)] == p)
                parts->order[at++] = shuffled[i];
        parts->rows[p] = at - before;
        if (share > 0 && at == before)
            return weft_fail(WEFT_EDATA,
                             "%s: %lld groups of %lld rows cannot be divided by the shares "
                             "valid = %g and test = %g: the %s part has none",
                             rows->labels.path, (long long)groups, (long long)n,
                             shares->valid, shares->test, weft_part_name[p]);
    }
    weft_pack_split(pack,
                    weft_arena_text(pack->mem,
                                    "%lld groups shuffled with seed %lld, each in one part",
                                    (long long)groups, (long long)shares->seed));
    return WEFT_OK;
}

/* EDATA: a group has rows in files of two parts. */
static weft_status check_groups(const weft_dense_rows *rows, int64_t column,
                                const weft_dense_parts *parts, weft_arena *mem)
{
    int *part = WEFT_NEW(mem, int, rows->at[column].name.n);
    for (int64_t i = 0, p = 0, end = parts->rows[0]; i < rows->n; i++) {
        while (i >= end) end += parts->rows[++p];
        int64_t g = cell(rows, parts->order[i], column);
        if (part[g] > 0 && part[g] != p + 1)
            return weft_fail(WEFT_EDATA,
                             "%s: rows of the group '%s' are in the %s and in the %s part: "
                             "files of parts divide no group; remove them from one",
                             rows->labels.path, rows->at[column].name.name[g],
                             weft_part_name[part[g] - 1], weft_part_name[p]);
        part[g] = (int)p + 1;
    }
    return WEFT_OK;
}

/* ---- clients ---- */

/* parts->train from the order. */
static void list_train(weft_dense_parts *parts, weft_arena *mem)
{
    int64_t to = 0;
    parts->train = WEFT_NEW(mem, int64_t, parts->rows[WEFT_TRAIN]);
    for (int64_t c = 0, next = 0; c < parts->clients; c++)
        for (int p = 0; p < WEFT_NPART; p++)
            for (int64_t i = 0; i < parts->count[c][p]; i++, next++)
                if (p == WEFT_TRAIN) parts->train[to++] = parts->order[next];
}

static void split_clients(const weft_split *shares, const weft_dense_rows *rows,
                          int64_t column, weft_dense_parts *parts, weft_pack *pack)
{
    int64_t *owner = WEFT_NEW(pack->mem, int64_t, rows->n);
    weft_owned_rows owned = {.n = rows->n,
                             .clients = rows->at[column].name.n,
                             .owner = owner,
                             .label = rows->label};
    weft_client_rows divided;
    memcpy(owned.end, rows->end, sizeof owned.end);
    for (int64_t i = 0; i < rows->n; i++) owner[i] = cell(rows, i, column);
    weft_split_clients(shares, &owned, &divided, pack);
    *parts = (weft_dense_parts){.order = divided.order,
                                .clients = divided.clients,
                                .count = divided.count,
                                .name = rows->at[column].name.name};
    memcpy(parts->rows, divided.rows, sizeof parts->rows);
    list_train(parts, pack->mem);
}

weft_status weft_dense_split(const weft_split *split, const weft_dense_rows *rows,
                             weft_dense_parts *parts, weft_pack *pack)
{
    int64_t group = column_of(rows, WEFT_COLUMN_GROUP),
            client = column_of(rows, WEFT_COLUMN_CLIENT);
    weft_split shares;
    TRY(shares_of(split, rows, &shares));
    *parts = (weft_dense_parts){.order = WEFT_NEW(pack->mem, int64_t, rows->n)};
    if (group >= 0 && client >= 0)
        return weft_fail(WEFT_ECONF,
                         "group and client are both given; rows of a client are divided, "
                         "rows of a group are not: give one of them");
    if (group >= 0 && shares.shares > WEFT_BY_CHANCE)
        return weft_fail(WEFT_ECONF,
                         "group and shares are both given; groups are dealt by chance: "
                         "leave shares out");
    if (client >= 0) {
        split_clients(&shares, rows, client, parts, pack);
        return WEFT_OK;
    }
    if (group >= 0)
        TRY(split_groups(&shares, rows, group, parts, pack));
    else
        TRY(weft_split_rows(&shares, rows->label, rows->end[WEFT_TRAIN], parts->order,
                            parts->rows, pack));
    add_files(rows, parts, pack);
    if (group >= 0) TRY(check_groups(rows, group, parts, pack->mem));
    parts->train = parts->order;
    return WEFT_OK;
}
