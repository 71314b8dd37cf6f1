/* Vocabularies of n-grams: the documents that each occurs in are counted exactly, over all
 * ranks, and the most frequent n-grams get a column each. An n-gram is identified by a
 * hash of 64 bits: two of 10^7 n-grams are equal with a probability of 3e-6. Keys that are
 * hashes are uniform, so that they are sorted, found and distributed over ranks by their
 * upper bits. */
#include "ngram.h"

#include <string.h>

enum { FREQUENT = 65535 }; /* document counts above this are treated as equal */

/* Documents that each key occurs in: open addressing, count 0 where a slot is free. */
struct counter {
    uint64_t *key, mask;
    uint32_t *count, *last; /* last: number of the document that was counted last */
    int64_t n;
};

/* A key and the documents that it occurs in. */
struct counted {
    uint64_t key, count;
};

/* ---- counting ---- */

static struct counter counter_new(uint64_t slots, weft_arena *mem)
{
    return (struct counter){.key = WEFT_NEW(mem, uint64_t, slots),
                            .count = WEFT_NEW(mem, uint32_t, slots),
                            .last = WEFT_NEW(mem, uint32_t, slots),
                            .mask = slots - 1};
}

static uint64_t slot_of(const struct counter *counter, uint64_t key)
{
    uint64_t at = key & counter->mask;
    while (counter->count[at] != 0 && counter->key[at] != key)
        at = (at + 1) & counter->mask;
    return at;
}

/* Adds `by` documents to a key's count, unless document `last` was counted last. */
static void add(struct counter *counter, uint64_t key, uint32_t by, uint32_t last)
{
    uint64_t at = slot_of(counter, key);
    if (counter->count[at] != 0 && counter->last[at] == last) return;
    counter->n += counter->count[at] == 0;
    counter->key[at] = key;
    counter->count[at] += by;
    counter->last[at] = last;
}

/* Doubles the number of slots, in a new arena that replaces *own. */
static void grow(struct counter *counter, weft_arena **own)
{
    weft_arena *next = weft_arena_new();
    struct counter more = counter_new(2 * (counter->mask + 1), next);
    for (uint64_t i = 0; i <= counter->mask; i++)
        if (counter->count[i] != 0)
            add(&more, counter->key[i], counter->count[i], counter->last[i]);
    weft_arena_free(*own);
    *counter = more;
    *own = next;
}

/* All keys of this rank's rows of nq requests. *n how many. */
static struct counted *count_rows(const ngram_map *self, const weft_request *request,
                                  int nq, int64_t *n, weft_arena *mem)
{
    enum { FIRST = 1 << 16 };
    weft_arena *own = weft_arena_new(), *tmp = weft_arena_new();
    struct counter counter = counter_new(FIRST, own);
    uint32_t document = 0;
    for (int j = 0; j < nq; j++) {
        ngram_reader reader = ngram_reader_new(self, &request[j], tmp);
        for (int64_t i = 0; i < request[j].n; i++) {
            int64_t m = ngram_row_keys(&reader, i);
            while ((uint64_t)(counter.n + m) > counter.mask / 3 * 2) grow(&counter, &own);
            document++;
            for (int64_t k = 0; k < m; k++) add(&counter, reader.key[k], 1, document);
        }
    }
    struct counted *all = WEFT_NEW(mem, struct counted, counter.n);
    *n = 0;
    for (uint64_t i = 0; i <= counter.mask; i++)
        if (counter.count[i] != 0)
            all[(*n)++] = (struct counted){counter.key[i], counter.count[i]};
    weft_arena_free(tmp);
    weft_arena_free(own);
    return all;
}

/* ---- order ---- */

/* Sorts n keys; (*at)[2^bits + 1] where those of the same upper bits begin; returns bits.
 * Cost O(n): the keys are uniform. */
static int sort_keys(int64_t n, struct counted *all, uint32_t **at, weft_arena *mem)
{
    int bits = 1;
    while (((int64_t)1 << bits) < n) bits++;
    uint64_t buckets = (uint64_t)1 << bits;
    uint32_t *first = *at = WEFT_NEW(mem, uint32_t, buckets + 1);
    size_t mark = weft_arena_mark(mem);
    struct counted *sorted = WEFT_NEW(mem, struct counted, n);
    for (int64_t i = 0; i < n; i++) first[(all[i].key >> (64 - bits)) + 1]++;
    for (uint64_t b = 0; b < buckets; b++) first[b + 1] += first[b];
    for (int64_t i = n; i-- > 0;) sorted[--first[(all[i].key >> (64 - bits)) + 1]] = all[i];
    /* now first[b + 1] is where bucket b begins */
    memmove(first, first + 1, buckets * sizeof *first);
    first[buckets] = (uint32_t)n;
    for (int64_t i = 1; i < n; i++) {
        struct counted counted = sorted[i];
        int64_t j = i;
        for (; j > 0 && sorted[j - 1].key > counted.key; j--) sorted[j] = sorted[j - 1];
        sorted[j] = counted;
    }
    if (n > 0) memcpy(all, sorted, (size_t)n * sizeof *all);
    weft_arena_reset(mem, mark);
    return bits;
}

/* ---- exchange between ranks ---- */

/* Distributes the keys over the ranks by range and sums the counts of equal keys.
 * Collective. */
static struct counted *distribute_keys(weft_team *team, struct counted *all, int64_t *n,
                                       weft_arena *mem)
{
    if (team->size == 1) return all;
    size_t size = (size_t)team->size, me = (size_t)team->rank, arrived = 0;
    int64_t *sent = WEFT_NEW(mem, int64_t, size * size);
    size_t *to = WEFT_NEW(mem, size_t, size), *from = WEFT_NEW(mem, size_t, size);
    uint32_t *at;
    sort_keys(*n, all, &at, mem);
    for (int64_t i = 0; i < *n; i++) sent[me * size + ((all[i].key >> 32) * size >> 32)]++;
    weft_sum_i64(team, sent, size * size);
    for (size_t r = 0; r < size; r++) {
        to[r] = (size_t)sent[me * size + r] * sizeof *all;
        from[r] = (size_t)sent[r * size + me] * sizeof *all;
        arrived += (size_t)sent[r * size + me];
    }
    struct counted *mine = WEFT_NEW(mem, struct counted, arrived);
    weft_exchange(team, all, to, mine, from);
    sort_keys((int64_t)arrived, mine, &at, mem);
    *n = 0;
    for (size_t i = 0; i < arrived; i++) {
        if (*n > 0 && mine[*n - 1].key == mine[i].key)
            mine[*n - 1].count += mine[i].count;
        else
            mine[(*n)++] = mine[i];
    }
    return mine;
}

static uint64_t frequency(const struct counted *counted)
{
    return counted->count < FREQUENT ? counted->count : FREQUENT;
}

/* Keeps the keys that occur in at least min_count documents, at most max_size over
 * all ranks, whose ranges of keys rise with the rank. Returns how many are left on this
 * rank. Collective. */
static int64_t select_keys(weft_team *team, int64_t n, struct counted *all,
                           int64_t min_count, int64_t max_size, weft_arena *mem)
{
    int64_t *of = WEFT_NEW(mem, int64_t, FREQUENT + 1), total = 0, cut = FREQUENT + 1;
    for (int64_t i = 0; i < n; i++) of[frequency(&all[i])]++;
    int64_t *ties = WEFT_NEW(mem, int64_t, team->size),
            *own = WEFT_NEW(mem, int64_t, FREQUENT);
    memcpy(own, of, FREQUENT * sizeof *own);
    int64_t top = of[FREQUENT];
    weft_sum_i64(team, of, FREQUENT + 1);
    if (min_count > FREQUENT) min_count = FREQUENT;
    while (cut > min_count && total + of[cut - 1] <= max_size) total += of[--cut];
    /* Keys of at least `cut` documents stay; of those with one fewer, the first `room`.
     */
    int64_t room = cut > min_count ? max_size - total : 0;
    ties[team->rank] = cut > FREQUENT ? top : own[cut - 1];
    weft_sum_i64(team, ties, (size_t)team->size);
    for (int r = 0; r < team->rank; r++) room -= ties[r];
    int64_t left = 0;
    for (int64_t i = 0; i < n; i++) {
        int64_t f = (int64_t)frequency(&all[i]);
        if (f < cut - 1 || (f == cut - 1 && room-- <= 0)) continue;
        all[left++] = all[i];
    }
    return left;
}

/* The keys of all ranks, on all ranks. *n how many, in and out. Collective. */
static struct counted *gather_keys(weft_team *team, struct counted *mine, int64_t *n,
                                   weft_arena *mem)
{
    if (team->size == 1) return mine;
    int64_t *has = WEFT_NEW(mem, int64_t, team->size), all = 0, at = 0;
    has[team->rank] = *n;
    weft_sum_i64(team, has, (size_t)team->size);
    for (int r = 0; r < team->size; r++) all += has[r];
    struct counted *whole = WEFT_NEW(mem, struct counted, all);
    for (int r = 0; r < team->size; at += has[r++]) {
        if (r == team->rank && *n > 0) memcpy(whole + at, mine, (size_t)*n * sizeof *mine);
        weft_bcast(team, whole + at, (size_t)has[r] * sizeof *whole, r);
    }
    *n = all;
    return whole;
}

static ngram_vocabulary vocabulary_new(int64_t n, struct counted *all, weft_arena *mem)
{
    uint32_t *at;
    ngram_vocabulary vocabulary = {.n = n, .bits = sort_keys(n, all, &at, mem)};
    uint64_t *key = WEFT_NEW(mem, uint64_t, n);
    for (int64_t i = 0; i < n; i++) key[i] = all[i].key;
    vocabulary.key = key;
    vocabulary.at = at;
    return vocabulary;
}

ngram_vocabulary ngram_vocabulary_new(const ngram_map *self, const weft_request *request,
                                      int nq, int64_t max_size, weft_arena *mem)
{
    weft_team *team = self->data->team;
    weft_arena *tmp = weft_arena_new();
    const ngram_map *any = request->arms[0];
    int64_t n;
    uint32_t *at;
    struct counted *all = count_rows(self, request, nq, &n, tmp);
    all = distribute_keys(team, all, &n, tmp);
    if (team->size == 1) sort_keys(n, all, &at, tmp);
    n = select_keys(team, n, all, any->min_count, max_size, tmp);
    all = gather_keys(team, all, &n, tmp);
    ngram_vocabulary vocabulary = vocabulary_new(n, all, mem);
    weft_arena_free(tmp);
    return vocabulary;
}

/* ---- among the statistics ---- */

enum { PIECES = 4, PIECE = 16 }; /* of a key, in bits, which a float holds exactly */

static void split(uint64_t word, real *to)
{
    for (int p = 0; p < PIECES; p++) to[p] = (real)(word >> (PIECE * p) & UINT16_MAX);
}

static uint64_t join(const real *from)
{
    uint64_t word = 0;
    for (int p = 0; p < PIECES; p++) word |= (uint64_t)from[p] << (PIECE * p);
    return word;
}

int64_t ngram_vocabulary_reals(int64_t max_size)
{
    return PIECES * (1 + max_size);
}

void ngram_vocabulary_write(const ngram_vocabulary *vocabulary, real *stat)
{
    split((uint64_t)vocabulary->n, stat);
    for (int64_t j = 0; j < vocabulary->n; j++)
        split(vocabulary->key[j], stat + PIECES * (1 + j));
}

ngram_vocabulary ngram_vocabulary_read(const real *stat, weft_arena *mem)
{
    weft_arena *tmp = weft_arena_new();
    int64_t n = (int64_t)join(stat);
    struct counted *all = WEFT_NEW(tmp, struct counted, n);
    for (int64_t j = 0; j < n; j++) all[j].key = join(stat + PIECES * (1 + j));
    ngram_vocabulary vocabulary = vocabulary_new(n, all, mem);
    weft_arena_free(tmp);
    return vocabulary;
}
