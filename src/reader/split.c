/* How rows are divided into parts: by chance, the last ones of each class, as many of each
 * class, in groups that stay together, or within each client; and consecutive samples, by
 * shares or LEAF's rule. A rule says the part of each row, and a sequence of all rows in
 * whose order those of a part come. */
#include "reader.h"
#include "weft/base/base.h"
#include "weft/base/random.h"
#include "weft/data/data.h"

#include <math.h>
#include <string.h>

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

/* ---- the rows of one source ---- */

/* A division while it is made. */
struct division {
    const weft_split *split;
    weft_split shares; /* of the rows of the first source */
    const weft_source_rows *rows;
    int64_t n;         /* rows of the first source */
    int64_t *sequence; /* [rows->n] */
    uint8_t *part;     /* [rows->n] */
    weft_pack *pack;
};

/* The last rows of each class. */
static void from_end(const struct division *division)
{
    const weft_split *shares = &division->shares;
    const int32_t *label = division->rows->label;
    int64_t left[WEFT_MAX_CLASSES] = {0}, test[WEFT_MAX_CLASSES], valid[WEFT_MAX_CLASSES];
    int64_t rows[WEFT_NPART] = {0};
    for (int64_t i = 0; i < division->n; i++) left[label[i]]++;
    for (int c = 0; c < WEFT_MAX_CLASSES; c++) {
        test[c] = llround((double)left[c] * shares->test);
        valid[c] = llround((double)left[c] * shares->valid);
    }
    for (int64_t i = 0; i < division->n; i++) {
        int c = label[i];
        int64_t behind = left[c]--; /* rows of the class from this one on */
        division->part[i] = behind <= test[c]              ? WEFT_TEST
                            : behind <= test[c] + valid[c] ? WEFT_VALID
                                                           : WEFT_TRAIN;
        rows[division->part[i]]++;
    }
    weft_pack_split(
        division->pack,
        "of each class the last rows of the source: %lld train, %lld valid, %lld test",
        (long long)rows[WEFT_TRAIN], (long long)rows[WEFT_VALID],
        (long long)rows[WEFT_TEST]);
}

/* The sequence is divided class by class. */
static void by_class_order(const struct division *division)
{
    weft_pack *pack = division->pack;
    const int32_t *label = division->rows->label;
    weft_split_classes(division->n, division->sequence, NULL, label, pack->mem);
    int rare = rare_first(label, division->n, division->sequence, pack->mem);
    const char *those =
        rare > 0
            ? weft_arena_text(pack->mem,
                              ", %d with one or two rows in the training part alone", rare)
            : "";
    if (division->split->shares == WEFT_BY_AUTO)
        weft_pack_decided(pack,
                          "rows are divided class by class%s, as by chance a class would "
                          "have no training row (shares = chance)",
                          those);
    weft_pack_split_add(pack, "of each class about the same shares%s", those);
}

/* Shuffles rows 0..n-1, and tells of parts of these sizes, whose sum n is. */
static void shuffle_sizes(const struct division *division, const int64_t *rows)
{
    weft_pack *pack = division->pack;
    int64_t n = rows[WEFT_TRAIN] + rows[WEFT_VALID] + rows[WEFT_TEST],
            seed = division->split->seed;
    weft_shuffle(n, (uint64_t)seed, division->sequence, pack->mem);
    weft_pack_split(pack,
                    "%lld rows shuffled with seed %lld: the first %lld train, the next "
                    "%lld valid, the last %lld test",
                    (long long)n, (long long)seed, (long long)rows[WEFT_TRAIN],
                    (long long)rows[WEFT_VALID], (long long)rows[WEFT_TEST]);
}

/* The sequence is cut into parts of these sizes. */
static void cut(const struct division *division, const int64_t *rows)
{
    for (int64_t p = 0, i = 0, end = 0; p < WEFT_NPART; p++)
        for (end += rows[p]; i < end; i++)
            division->part[division->sequence[i]] = (uint8_t)p;
}

/* By chance, or class by class. */
static void by_chance(const struct division *division)
{
    const weft_split *shares = &division->shares;
    int64_t n = division->n,
            rows[WEFT_NPART] = {[WEFT_VALID] = llround((double)n * shares->valid),
                                [WEFT_TEST] = llround((double)n * shares->test)};
    rows[WEFT_TRAIN] = n - rows[WEFT_VALID] - rows[WEFT_TEST];
    shuffle_sizes(division, rows);
    if (shares->shares == WEFT_BY_CLASS ||
        (shares->shares == WEFT_BY_AUTO &&
         lacks_class(division->rows->label, n, division->sequence, rows[WEFT_TRAIN])))
        by_class_order(division);
    cut(division, rows);
}

/* Test and valid get groups in random order as long as they come nearer to their shares. */
static weft_status by_group(const struct division *division)
{
    const weft_split *shares = &division->shares;
    const weft_source_rows *rows = division->rows;
    weft_pack *pack = division->pack;
    int64_t n = division->n, groups = rows->groups, dealt[WEFT_NPART] = {0};
    int64_t *size = WEFT_NEW(pack->mem, int64_t, groups),
            *order = WEFT_NEW(pack->mem, int64_t, groups);
    uint8_t *part = WEFT_NEW(pack->mem, uint8_t, groups);
    double share[WEFT_NPART] = {1, shares->valid, shares->test},
           left[WEFT_NPART] = {0, shares->valid * (double)n, shares->test * (double)n};
    for (int64_t i = 0; i < n; i++) size[rows->owner[i]]++;
    weft_shuffle(groups, (uint64_t)shares->seed, order, pack->mem);
    for (int64_t i = 0; i < groups; i++) {
        double half = (double)size[order[i]] / 2;
        weft_part to = left[WEFT_TEST] > half    ? WEFT_TEST
                       : left[WEFT_VALID] > half ? WEFT_VALID
                                                 : WEFT_TRAIN;
        part[order[i]] = (uint8_t)to;
        dealt[to] += size[order[i]];
        left[to] -= 2 * half;
    }
    for (int64_t i = 0; i < n; i++) division->part[i] = part[rows->owner[i]];
    for (int p = 0; p < WEFT_NPART; p++)
        if (share[p] > 0 && dealt[p] == 0)
            return weft_fail(WEFT_EDATA,
                             "%s: %lld groups of %lld rows cannot be divided by the shares "
                             "valid = %g and test = %g: the %s part has none",
                             rows->source, (long long)groups, (long long)n, shares->valid,
                             shares->test, weft_part_name[p]);
    weft_pack_split(pack, "%lld groups shuffled with seed %lld, each in one part",
                    (long long)groups, (long long)shares->seed);
    return WEFT_OK;
}

/* EDATA: a group has rows in files of two parts. */
static weft_status check_groups(const weft_source_rows *rows, const weft_parts *parts,
                                weft_arena *mem)
{
    int *part = WEFT_NEW(mem, int, rows->groups);
    for (int64_t i = 0; i < rows->n; i++) {
        int64_t g = rows->owner[parts->order[i]];
        int p = parts->part[parts->order[i]];
        if (part[g] > 0 && part[g] != p + 1)
            return weft_fail(WEFT_EDATA,
                             "%s: rows of the group '%s' are in the %s and in the %s part: "
                             "files of parts divide no group; remove them from one",
                             rows->source, rows->name[g], weft_part_name[part[g] - 1],
                             weft_part_name[p]);
        part[g] = p + 1;
    }
    return WEFT_OK;
}

/* ---- clients ---- */

/* A row of the first file, in the order of the shuffle or of the file, goes to the first
 * part of its client that has room. */
static void by_client(const struct division *division)
{
    const weft_split *shares = &division->shares;
    const weft_source_rows *rows = division->rows;
    weft_arena *mem = division->pack->mem;
    int64_t *own = WEFT_NEW(mem, int64_t, rows->clients);
    int64_t(*room)[WEFT_NPART] = weft_arena_alloc(mem, (size_t)rows->clients, sizeof *room);
    for (int64_t i = 0; i < division->n; i++) own[rows->owner[i]]++;
    for (int64_t c = 0; c < rows->clients; c++)
        if (own[c] > 0) weft_client_divide(shares->valid, shares->test, own[c], room[c]);
    if (shares->shares != WEFT_FROM_END)
        weft_shuffle(rows->n, (uint64_t)shares->seed, division->sequence, mem);
    if (shares->shares == WEFT_BY_CLASS)
        weft_split_classes(rows->n, division->sequence, rows->owner, rows->label, mem);
    for (int64_t i = 0; i < rows->n; i++) {
        int64_t row = division->sequence[i], c = rows->owner[row];
        int p = WEFT_TRAIN;
        if (row >= division->n) continue;
        while (room[c][p] == 0) p++;
        room[c][p]--;
        division->part[row] = (uint8_t)p;
    }
}

static void tell_clients(const struct division *division, const weft_parts *parts)
{
    const weft_split *shares = &division->shares;
    weft_pack *pack = division->pack;
    const char *how = "in the source's order";
    if (shares->shares != WEFT_FROM_END)
        how =
            weft_arena_text(pack->mem, "shuffled with seed %lld%s", (long long)shares->seed,
                            shares->shares == WEFT_BY_CLASS ? ", class by class" : "");
    weft_pack_split(
        pack, "%lld clients, the rows of each %s: %lld train, %lld valid, %lld test",
        (long long)division->rows->clients, how, (long long)parts->rows[WEFT_TRAIN],
        (long long)parts->rows[WEFT_VALID], (long long)parts->rows[WEFT_TEST]);
}

/* ---- all of them ---- */

/* The rows of the sequence client after client, if there are any, and part after part. */
static void gather(const struct division *division, weft_parts *parts)
{
    const weft_source_rows *rows = division->rows;
    weft_arena *mem = division->pack->mem;
    int64_t clients = rows->clients > 0 ? rows->clients : 1;
    int64_t(*count)[WEFT_NPART] = weft_arena_alloc(mem, (size_t)clients, sizeof *count);
    int64_t(*next)[WEFT_NPART] = weft_arena_alloc(mem, (size_t)clients, sizeof *next);
    *parts = (weft_parts){
        .order = WEFT_NEW(mem, int64_t, rows->n), .part = division->part, .count = count};
    for (int64_t i = 0; i < rows->n; i++) {
        count[rows->clients > 0 ? rows->owner[i] : 0][division->part[i]]++;
        parts->rows[division->part[i]]++;
    }
    for (int64_t c = 0, at = 0; c < clients; c++)
        for (int p = 0; p < WEFT_NPART; at += count[c][p++]) next[c][p] = at;
    for (int64_t i = 0; i < rows->n; i++) {
        int64_t row = division->sequence[i];
        int64_t c = rows->clients > 0 ? rows->owner[row] : 0;
        parts->order[next[c][division->part[row]]++] = row;
    }
}

static weft_status check_shares(const weft_split *shares)
{
    if (shares->valid + shares->test < 1) return WEFT_OK;
    return weft_fail(
        WEFT_ECONF,
        "valid = %g and test = %g leave no rows for training; their sum must be below 1",
        shares->valid, shares->test);
}

/* All rows in their order, those of other sources in their part; a part with a source of
 * its own gets no share of the first. */
static struct division begin(const weft_split *split, const weft_source_rows *rows,
                             weft_pack *pack)
{
    const int64_t *end = rows->end;
    struct division division = {.split = split,
                                .shares = *split,
                                .rows = rows,
                                .n = end[WEFT_TRAIN],
                                .sequence = WEFT_NEW(pack->mem, int64_t, rows->n),
                                .part = WEFT_NEW(pack->mem, uint8_t, rows->n),
                                .pack = pack};
    if (rows->own[WEFT_VALID] || end[WEFT_VALID] > end[WEFT_TRAIN])
        division.shares.valid = 0;
    if (rows->own[WEFT_TEST] || end[WEFT_TEST] > end[WEFT_VALID]) division.shares.test = 0;
    for (int64_t i = 0; i < rows->n; i++) {
        division.sequence[i] = i;
        division.part[i] = (uint8_t)((i >= end[WEFT_TRAIN]) + (i >= end[WEFT_VALID]));
    }
    return division;
}

weft_status weft_divide(const weft_split *split, const weft_source_rows *rows,
                        weft_parts *parts, weft_pack *pack)
{
    struct division division = begin(split, rows, pack);
    TRY(check_shares(&division.shares));
    if (rows->clients > 0) {
        by_client(&division);
        gather(&division, parts);
        tell_clients(&division, parts);
        return WEFT_OK;
    }
    if (rows->groups > 0) TRY(by_group(&division));
    if (rows->groups > 0 || split->shares == WEFT_FROM_END)
        weft_shuffle(division.n, (uint64_t)split->seed, division.sequence, pack->mem);
    if (rows->groups == 0 && split->shares == WEFT_FROM_END)
        from_end(&division);
    else if (rows->groups == 0)
        by_chance(&division);
    gather(&division, parts);
    if (split->shuffled) {
        shuffle_sizes(&division, parts->rows);
        cut(&division, parts->rows);
        gather(&division, parts);
        return WEFT_OK;
    }
    for (int p = 1; p < WEFT_NPART; p++)
        if (rows->own[p])
            weft_pack_split_add(pack, "%s is all of %s", weft_part_name[p], rows->own[p]);
    return rows->groups > 0 ? check_groups(rows, parts, pack->mem) : WEFT_OK;
}

/* ---- consecutive samples ---- */

weft_status weft_shares_check(const weft_shares *shares)
{
    double valid = shares->rule == WEFT_RULE_LEAF ? 0 : shares->valid;
    if (valid + shares->test < 1) return WEFT_OK;
    return weft_fail(
        WEFT_ECONF,
        "valid = %g and test = %g leave nothing for training; their sum must be below 1",
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
