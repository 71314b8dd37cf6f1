/* A set whose rows know their number, dealt to clients, and what these have of it. */
#ifndef WEFT_TEST_COUNTED_H
#define WEFT_TEST_COUNTED_H

#include "packing.h"

enum { D = 6, MOST = 100 };

/* Rows are (row, part, class, 0, ...): row i of a part has class i % kinds, or, where
 * uneven, class k of ten in proportion to k + 1. */
struct counted {
    int64_t rows, valid, test;
    int kinds, groups, uneven;
};

static const weft_opt options[] = {
    WEFT_LONG_OPT("rows", struct counted, rows, "20000", 1, 1e9, "training rows"),
    WEFT_LONG_OPT("valid", struct counted, valid, "500", 1, 1e9, "for validation"),
    WEFT_LONG_OPT("test", struct counted, test, "700", 1, 1e9, "for the test"),
    WEFT_INT_OPT("kinds", struct counted, kinds, "10", 1, MOST, "classes"),
    WEFT_INT_OPT("groups", struct counted, groups, "0", 0, MOST,
                 "class k is of group k mod so many; 0: no groups"),
    WEFT_BOOL_OPT("uneven", struct counted, uneven, "no", "classes"),
    {0},
};

static inline int32_t class_of(const struct counted *counted, int64_t i)
{
    if (!counted->uneven) return (int32_t)(i % counted->kinds);
    int32_t k = 0;
    for (int64_t at = i % 55; at > k; k++) at -= k + 1;
    return k;
}

static weft_status counted_read(const void *self, const char *source, weft_pack *pack)
{
    const struct counted *counted = self;
    const int64_t rows[WEFT_NPART] = {counted->rows, counted->valid, counted->test};
    (void)source;
    weft_pack_numbered(pack, counted->kinds);
    int *group = WEFT_NEW(pack->mem, int, MOST);
    for (int k = 0; k < MOST && counted->groups > 0; k++) group[k] = k % counted->groups;
    if (counted->groups > 0) weft_pack_class_groups(pack, counted->groups, group);
    weft_pack_split(pack, "as counted");
    TRY(weft_pack_matrix(pack, WEFT_REALS, D, rows));
    weft_pack_image(pack, 1, 2, 3);
    for (int part = 0; part < WEFT_NPART; part++)
        for (int64_t i = 0; i < rows[part]; i++) {
            int32_t label = class_of(counted, i);
            double x[D] = {(double)i, part, label};
            TRY(weft_pack_rows(pack, 1, x, &label));
        }
    return WEFT_OK;
}

static const weft_reader reader = {
    .kind = WEFT_KIND("counted", struct counted, options, "rows that know their number"),
    .read = counted_read};

static inline int made(const char *words)
{
    return packed(&reader, "nowhere", words);
}

/* Which must succeed. */
static inline void make(const char *words)
{
    weft_check(made(words), "%s", weft_error());
}

static inline const char *digest_of(const char *words)
{
    make(words);
    return data.digest;
}

static inline void same_again(const char *rule)
{
    const char *words = printed("clients=17 groups=5 partition=%s", rule);
    const char *a = digest_of(words), *b = digest_of(words),
               *c = digest_of(printed("%s seed=1", words));
    ok(strcmp(a, b) == 0, "%s: the same at every packing", rule);
    ok(strcmp(a, c) != 0, "%s: another by another seed", rule);
}

/* What clients have of a part. */
struct found {
    int64_t wrong;                 /* rows that are lost, doubled or changed */
    int64_t (*count)[MOST], *size; /* [clients] rows of each class, of all */
    int64_t least, most;           /* rows of a client */
    int64_t all[MOST];             /* rows of each class over clients */
    int sorted;                    /* 1: some client's rows are in the source's order */
};

static inline struct found look(weft_part part)
{
    weft_clients *clients = data.clients;
    int64_t rows = clients->size[part].total;
    uint8_t *seen = WEFT_NEW(mem, uint8_t, rows);
    struct found found = {.least = INT64_MAX, .size = WEFT_NEW(mem, int64_t, clients->n)};
    found.count = weft_arena_alloc(mem, (size_t)clients->n, sizeof *found.count);
    for (int64_t c = 0; c < clients->n; c++) {
        weft_samples own = samples(c, part);
        int rising = own.n > 2;
        for (int64_t i = 0; i < own.n; i++) {
            const float *x = own.x + i * D;
            int64_t row = (int64_t)x[0];
            int good = row >= 0 && row < rows && !seen[row] && x[1] == (float)part &&
                       x[2] == (float)own.label[i];
            found.wrong += !good;
            if (good) seen[row] = 1;
            rising &= i == 0 || x[0] > x[-D];
            found.count[c][own.label[i]]++;
            found.all[own.label[i]]++;
        }
        found.size[c] = own.n;
        found.sorted |= rising;
        found.least = own.n < found.least ? own.n : found.least;
        found.most = own.n > found.most ? own.n : found.most;
    }
    for (int64_t i = 0; i < rows; i++) found.wrong += !seen[i];
    return found;
}

static inline int classes_of(const int64_t *count)
{
    int n = 0;
    for (int k = 0; k < MOST; k++) n += count[k] > 0;
    return n;
}

#endif
