/* How rows are divided into parts: by chance, the last ones of each class, as many of each
 * class, in groups that stay together, or within each client; and consecutive samples, by
 * shares or LEAF's rule. */
#include "reader.h"
#include "weft/base/base.h"
#include "weft/base/random.h"
#include "weft/data/data.h"

#include <math.h>
#include <string.h>

static void split_from_end(const weft_split *split, const int32_t *label, int64_t n,
                           int64_t *order, int64_t *rows, weft_pack *pack)
{
    int64_t left[WEFT_MAX_CLASSES] = {0}, share[WEFT_NPART][WEFT_MAX_CLASSES];
    int64_t at[WEFT_NPART] = {0}, *shuffled = WEFT_NEW(pack->mem, int64_t, n);
    uint8_t *part = WEFT_NEW(pack->mem, uint8_t, n);
    for (int64_t i = 0; i < n; i++) left[label[i]]++;
    for (int c = 0; c < WEFT_MAX_CLASSES; c++) {
        share[WEFT_TEST][c] = llround((double)left[c] * split->test);
        share[WEFT_VALID][c] = llround((double)left[c] * split->valid);
    }
    for (int i = 0; i < WEFT_NPART; i++) rows[i] = 0;
    for (int64_t i = 0; i < n; i++) {
        int c = label[i];
        int64_t behind = left[c]--; /* rows of the class from this one on */
        part[i] = behind <= share[WEFT_TEST][c]                          ? WEFT_TEST
                  : behind <= share[WEFT_TEST][c] + share[WEFT_VALID][c] ? WEFT_VALID
                                                                         : WEFT_TRAIN;
        rows[part[i]]++;
    }
    for (int i = 1; i < WEFT_NPART; i++) at[i] = at[i - 1] + rows[i - 1];
    weft_shuffle(n, (uint64_t)split->seed, shuffled, pack->mem);
    for (int64_t i = 0; i < n; i++) order[at[part[shuffled[i]]]++] = shuffled[i];
    weft_pack_split(pack, weft_arena_text(pack->mem,
                                          "of each class the last rows of the source: %lld "
                                          "train, %lld valid, %lld test",
                                          (long long)rows[WEFT_TRAIN],
                                          (long long)rows[WEFT_VALID],
                                          (long long)rows[WEFT_TEST]));
}

/* ---- by class ---- */

/* 1: a class has rows, but none of the first ntrain. */
static int lacks_class(const int32_t *label, int64_t n, const int64_t *order,
                       int64_t ntrain)
{
    int8_t has[WEFT_MAX_CLASSES] = {0}, trained[WEFT_MAX_CLASSES] = {0};
    for (int64_t i = 0; i < n; i++) has[label[i]] = 1;
    for (int64_t i = 0; i < ntrain; i++) trained[label[order[i]]] = 1;
    return memcmp(has, trained, sizeof has) != 0;
}

/* Puts rows of classes that have fewer rows than there are parts first; how many classes
 * these are. */
static int rare_first(const int32_t *label, int64_t n, int64_t *order, weft_arena *tmp)
{
    int64_t count[WEFT_MAX_CLASSES] = {0}, *other = WEFT_NEW(tmp, int64_t, n), to = 0,
            others = 0;
    int rare = 0;
    for (int64_t i = 0; i < n; i++) count[label[i]]++;
    for (int c = 0; c < WEFT_MAX_CLASSES; c++)
        rare += count[c] > 0 && count[c] < WEFT_NPART;
    for (int64_t i = 0; i < n; i++)
        if (count[label[order[i]]] < WEFT_NPART)
            order[to++] = order[i];
        else
            other[others++] = order[i];
    memcpy(order + to, other, (size_t)others * sizeof *order);
    return rare;
}

/* Shuffled rows order[n] are divided class by class. */
static void split_by_class(const weft_split *split, const int32_t *label, int64_t n,
                           int64_t *order, weft_pack *pack)
{
    weft_split_classes(n, order, NULL, label, pack->mem);
    int rare = rare_first(label, n, order, pack->mem);
    const char *those = weft_arena_text(
        pack->mem, ", %d with one or two rows in the training part alone", rare);
    if (split->shares == WEFT_BY_AUTO)
        weft_pack_decided(
            pack, weft_arena_text(pack->mem,
                                  "rows are divided class by class%s, as by chance a class "
                                  "would have no training row (shares = chance)",
                                  rare > 0 ? those : ""));
    weft_pack_split_add(pack,
                        weft_arena_text(pack->mem, "of each class about the same shares%s",
                                        rare > 0 ? those : ""));
}

/* Shuffles rows 0..n-1 into parts of these sizes, whose sum n is. */
static void split_sizes(int64_t seed, const int64_t *rows, int64_t *order, weft_pack *pack)
{
    int64_t n = rows[WEFT_TRAIN] + rows[WEFT_VALID] + rows[WEFT_TEST];
    weft_shuffle(n, (uint64_t)seed, order, pack->mem);
    weft_pack_split(
        pack, weft_arena_text(pack->mem,
                              "%lld rows shuffled with seed %lld: the first %lld "
                              "train, the next %lld valid, the last %lld test",
                              (long long)n, (long long)seed, (long long)rows[WEFT_TRAIN],
                              (long long)rows[WEFT_VALID], (long long)rows[WEFT_TEST]));
}

/* Order and sizes of the parts of n rows. */
static void split_rows(const weft_split *split, const int32_t *label, int64_t n,
                       int64_t *order, int64_t *rows, weft_pack *pack)
{
    if (split->shares == WEFT_FROM_END) {
        split_from_end(split, label, n, order, rows, pack);
        return;
    }
    rows[WEFT_VALID] = llround((double)n * split->valid);
    rows[WEFT_TEST] = llround((double)n * split->test);
    rows[WEFT_TRAIN] = n - rows[WEFT_VALID] - rows[WEFT_TEST];
    split_sizes(split->seed, rows, order, pack);
    if (split->shares == WEFT_BY_CLASS ||
        (split->shares == WEFT_BY_AUTO && lacks_class(label, n, order, rows[WEFT_TRAIN])))
        split_by_class(split, label, n, order, pack);
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

static weft_status split_groups(const weft_split *shares, const weft_source_rows *rows,
                                weft_parts *parts, weft_pack *pack)
{
    int64_t n = rows->end[WEFT_TRAIN], groups = rows->groups, at = 0;
    int64_t *size = WEFT_NEW(pack->mem, int64_t, groups),
            *shuffled = WEFT_NEW(pack->mem, int64_t, n);
    for (int64_t i = 0; i < n; i++) size[rows->owner[i]]++;
    const weft_part *part = deal_groups(shares, n, size, groups, pack->mem);
    weft_shuffle(n, (uint64_t)shares->seed, shuffled, pack->mem);
    for (int p = 0; p < WEFT_NPART; p++) {
        double share = p == WEFT_VALID ? shares->valid : p == WEFT_TEST ? shares->test : 1;
        int64_t before = at;
        for (int64_t i = 0; i < n; i++)
            if ((int)part[rows->owner[shuffled[i]]] == p) parts->order[at++] = shuffled[i];
        parts->rows[p] = at - before;
        if (share > 0 && at == before)
            return weft_fail(WEFT_EDATA,
                             "%s: %lld groups of %lld rows cannot be divided by the shares "
                             "valid = %g and test = %g: the %s part has none",
                             rows->source, (long long)groups, (long long)n, shares->valid,
                             shares->test, weft_part_name[p]);
    }
    weft_pack_split(pack,
                    weft_arena_text(pack->mem,
                                    "%lld groups shuffled with seed %lld, each in one part",
                                    (long long)groups, (long long)shares->seed));
    return WEFT_OK;
}

/* EDATA: a group has rows in files of two parts. */
static weft_status check_groups(const weft_source_rows *rows, const weft_parts *parts,
                                weft_arena *mem)
{
    int *part = WEFT_NEW(mem, int, rows->groups);
    for (int64_t i = 0, p = 0, end = parts->rows[0]; i < rows->n; i++) {
        while (i >= end) end += parts->rows[++p];
        int64_t g = rows->owner[parts->order[i]];
        if (part[g] > 0 && part[g] != p + 1)
            return weft_fail(WEFT_EDATA,
                             "%s: rows of the group '%s' are in the %s and in the %s part: "
                             "files of parts divide no group; remove them from one",
                             rows->source, rows->name[g], weft_part_name[part[g] - 1],
                             weft_part_name[p]);
        part[g] = (int)p + 1;
    }
    return WEFT_OK;
}

/* ---- clients ---- */

/* The part of the source that row i is of. */
static int file_of(const weft_source_rows *rows, int64_t i)
{
    return i < rows->end[WEFT_TRAIN]   ? WEFT_TRAIN
           : i < rows->end[WEFT_VALID] ? WEFT_VALID
                                       : WEFT_TEST;
}

typedef int64_t by_part[WEFT_NPART];

static by_part *new_counts(int64_t clients, weft_arena *mem)
{
    by_part *count = weft_arena_alloc(mem, (size_t)clients, sizeof *count);
    memset(count, 0, (size_t)clients * sizeof *count);
    return count;
}

/* Rows of each client in each part: those of the first file by the shares. */
static by_part *count_clients(const weft_split *shares, const weft_source_rows *rows,
                              weft_arena *mem)
{
    int64_t clients = rows->clients, *own = WEFT_NEW(mem, int64_t, clients);
    by_part *count = new_counts(clients, mem);
    for (int64_t i = 0; i < rows->end[WEFT_TRAIN]; i++) own[rows->owner[i]]++;
    for (int64_t c = 0; c < clients; c++)
        if (own[c] > 0) weft_client_divide(shares->valid, shares->test, own[c], count[c]);
    for (int64_t i = rows->end[WEFT_TRAIN]; i < rows->n; i++)
        count[rows->owner[i]][file_of(rows, i)]++;
    return count;
}

/* Where the rows of each client and part begin. */
static by_part *first_places(by_part *count, int64_t clients, weft_arena *mem)
{
    by_part *at = new_counts(clients, mem);
    for (int64_t c = 0, next = 0; c < clients; c++)
        for (int p = 0; p < WEFT_NPART; p++) {
            at[c][p] = next;
            next += count[c][p];
        }
    return at;
}

/* Rows client after client and, of each, part after part. A row of the first file, in the
 * order of the shuffle or of the file, goes to the first part of its client that has room.
 */
static void place_rows(const weft_split *shares, const weft_source_rows *rows,
                       weft_parts *parts, weft_arena *mem)
{
    int64_t n = rows->n, *shuffled = WEFT_NEW(mem, int64_t, n);
    by_part *left = count_clients(shares, rows, mem),
            *at = first_places(parts->count, rows->clients, mem);
    for (int64_t i = rows->end[WEFT_TRAIN]; i < n; i++)
        left[rows->owner[i]][file_of(rows, i)]--;
    weft_shuffle(n, (uint64_t)shares->seed, shuffled, mem);
    if (shares->shares == WEFT_BY_CLASS)
        weft_split_classes(n, shuffled, rows->owner, rows->label, mem);
    for (int64_t i = 0; i < n; i++) {
        int64_t row = shares->shares == WEFT_FROM_END ? i : shuffled[i];
        int64_t c = rows->owner[row];
        int p = file_of(rows, row);
        if (p == WEFT_TRAIN) {
            while (left[c][p] == 0) p++;
            left[c][p]--;
        }
        parts->order[at[c][p]++] = row;
    }
}

static void split_clients(const weft_split *shares, const weft_source_rows *rows,
                          weft_parts *parts, weft_pack *pack)
{
    parts->count = count_clients(shares, rows, pack->mem);
    for (int64_t c = 0; c < rows->clients; c++)
        for (int p = 0; p < WEFT_NPART; p++) parts->rows[p] += parts->count[c][p];
    place_rows(shares, rows, parts, pack->mem);
    const char *how = "in the source's order";
    if (shares->shares != WEFT_FROM_END)
        how =
            weft_arena_text(pack->mem, "shuffled with seed %lld%s", (long long)shares->seed,
                            shares->shares == WEFT_BY_CLASS ? ", class by class" : "");
    weft_pack_split(pack, weft_arena_text(pack->mem,
                                          "%lld clients, the rows of each %s: %lld "
                                          "train, %lld valid, %lld test",
                                          (long long)rows->clients, how,
                                          (long long)parts->rows[WEFT_TRAIN],
                                          (long long)parts->rows[WEFT_VALID],
                                          (long long)parts->rows[WEFT_TEST]));
}

/* ---- all of them ---- */

/* Shares of the rows of the first source: a part with a source of its own gets none. */
static weft_split shares_of(const weft_split *split, const weft_source_rows *rows)
{
    const int64_t *end = rows->end;
    weft_split shares = *split;
    if (rows->own[WEFT_VALID] || end[WEFT_VALID] > end[WEFT_TRAIN]) shares.valid = 0;
    if (rows->own[WEFT_TEST] || end[WEFT_TEST] > end[WEFT_VALID]) shares.test = 0;
    return shares;
}

weft_status weft_split_check(const weft_split *split, const weft_source_rows *rows)
{
    weft_split shares = shares_of(split, rows);
    if (shares.valid + shares.test < 1) return WEFT_OK;
    return weft_fail(WEFT_ECONF,
                     "valid = %g and test = %g leave no rows for training; their sum must "
                     "be below 1",
                     shares.valid, shares.test);
}

/* Rows of other sources come behind those of the first in their part. */
static void add_sources(const weft_source_rows *rows, weft_parts *parts, weft_pack *pack)
{
    const int64_t *own = parts->order;
    int64_t at = 0, from = 0;
    parts->order = WEFT_NEW(pack->mem, int64_t, rows->n);
    for (int p = 0; p < WEFT_NPART; p++) {
        for (int64_t end = from + parts->rows[p]; from < end; from++)
            parts->order[at++] = own[from];
        for (int64_t i = p > 0 ? rows->end[p - 1] : rows->n; i < rows->end[p]; i++) {
            parts->order[at++] = i;
            parts->rows[p]++;
        }
        if (p > 0 && rows->own[p])
            weft_pack_split_add(pack, weft_arena_text(pack->mem, "%s is all of %s",
                                                      weft_part_name[p], rows->own[p]));
    }
}

weft_status weft_divide(const weft_split *split, const weft_source_rows *rows,
                        weft_parts *parts, weft_pack *pack)
{
    weft_split shares = shares_of(split, rows);
    *parts = (weft_parts){.order = WEFT_NEW(pack->mem, int64_t, rows->n)};
    if (rows->clients > 0) {
        split_clients(&shares, rows, parts, pack);
        return WEFT_OK;
    }
    TRY(weft_split_check(split, rows));
    if (rows->groups > 0)
        TRY(split_groups(&shares, rows, parts, pack));
    else
        split_rows(&shares, rows->label, rows->end[WEFT_TRAIN], parts->order, parts->rows,
                   pack);
    if (split->shuffled) {
        for (int p = 1; p < WEFT_NPART; p++)
            parts->rows[p] += rows->end[p] - rows->end[p - 1];
        split_sizes(split->seed, parts->rows, parts->order, pack);
        return WEFT_OK;
    }
    add_sources(rows, parts, pack);
    return rows->groups > 0 ? check_groups(rows, parts, pack->mem) : WEFT_OK;
}

/* ---- consecutive samples ---- */

weft_status weft_shares_check(const weft_shares *shares)
{
    double valid = shares->rule == WEFT_RULE_LEAF ? 0 : shares->valid;
    if (valid + shares->test < 1) return WEFT_OK;
    return weft_fail(WEFT_ECONF,
                     "valid = %g and test = %g leave nothing for training; their sum must "
                     "be below 1",
                     valid, shares->test);
}

/* LEAF's data/utils/split_data.py, with its gap for text. */
static int by_leaf(double test, int64_t n, int64_t gap, int64_t *count)
{
    int64_t train = (int64_t)floor((1 - test) * (double)n);
    if (train < 1 || n == 2) train = 1;
    if (n < 2 || n - train <= gap) return 0;
    count[WEFT_TRAIN] = train;
    count[WEFT_TEST] = n - train - gap;
    return 1;
}

int weft_shares_count(const weft_shares *shares, int64_t n, int64_t gap, int64_t *count)
{
    for (int i = 0; i < WEFT_NPART; i++) count[i] = 0;
    if (shares->rule == WEFT_RULE_LEAF) return by_leaf(shares->test, n, gap, count);
    int64_t rest = n - gap * ((shares->valid > 0) + (shares->test > 0));
    if (rest < 1) return 0;
    count[WEFT_VALID] = llround((double)rest * shares->valid);
    count[WEFT_TEST] = llround((double)rest * shares->test);
    count[WEFT_TRAIN] = rest - count[WEFT_VALID] - count[WEFT_TEST];
    return count[WEFT_TRAIN] > 0 && (shares->valid <= 0 || count[WEFT_VALID] > 0) &&
           (shares->test <= 0 || count[WEFT_TEST] > 0);
}

void weft_shares_log(int64_t left, int64_t gap)
{
    if (left > 0)
        weft_log(WEFT_INFO,
                 "%lld users are left out, for one of their parts would be empty (%lld "
                 "samples lie between two parts)",
                 (long long)left, (long long)gap);
}
