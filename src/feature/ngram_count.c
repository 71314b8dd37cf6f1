/* N-grams of token streams hashed into bins, or looked up in a vocabulary, and counted. An
 * n-gram's hash is a chain of integer mixings of its tokens' hashes, begun with the
 * configuration's seed: no text is touched.
 *
 * For a vocabulary the documents that each n-gram occurs in are counted exactly, over all
 * ranks, and the most frequent n-grams get a column each. An n-gram is identified by a hash
 * of 64 bits: two of 10^7 n-grams are equal with a probability of 3e-6. Keys that are
 * hashes are uniform, so that they are sorted, found and distributed over ranks by their
 * upper bits. */
#include "ngram.h"
#include "weft/base/random.h"

#include <string.h>

/* ---- keys ---- */

int ngram_min_order(const ngram_map *ngram)
{
    static const int least[] = {1, 1, 1, 1, 2, 2, 3};
    return least[ngram->grams];
}

int ngram_max_order(const ngram_map *ngram)
{
    static const int most[] = {0, 1, 2, 3, 2, 3, 3};
    return ngram->grams == 0 ? ngram->order : most[ngram->grams];
}

/* A bijection of 64-bit words (xorshift and multiply). */
static inline uint64_t mix(uint64_t h)
{
    h ^= h >> 32;
    h *= 0x9e3779b97f4a7c15u; /* 2^64 / golden ratio, odd */
    h ^= h >> 29;
    h *= 0xbf58476d1ce4e5b9u; /* Steele, Lea, Flood, "Fast splittable generators", 2014 */
    return h;
}

/* Keys of all n-grams of the configuration of the hashes h[m], in order; returns how many.
 */
static int64_t row_keys(const ngram_map *ngram, const uint64_t *h, int64_t m, uint64_t seed,
                        uint64_t *key)
{
    int max_order = ngram_max_order(ngram), min_order = ngram_min_order(ngram);
    int64_t n = 0;
    for (int64_t t = 0; t < m; t++) {
        uint64_t g = seed;
        int64_t last = t + max_order < m ? t + max_order : m;
        for (int64_t u = t; u < last; u++) {
            g = mix(g ^ h[u]);
            if (u - t + 1 >= min_order) key[n++] = g;
        }
    }
    return n;
}

const ngram_map *ngram_arm(const weft_request *request, int64_t i)
{
    return request->arms[request->arm ? request->arm[i] : 0];
}

/* Keys of the n-grams of rows, one row after the other. */
struct reader {
    const ngram_map *self;
    const weft_request *request;
    uint64_t *seed;  /* [narm] of each map's keys */
    uint64_t *token; /* [longest + 1] scratch */
    uint64_t *key;   /* of the row that was read last */
    int64_t longest; /* largest number of keys of a row */
    int64_t room;    /* number of keys of all rows, at most */
};

/* Hashes of the tokens of a document in order, without stop words if so configured. */
static int64_t row_tokens(const ngram_map *ngram, const weft_vocab *vocab,
                          const uint32_t *token, int64_t n, uint64_t *h)
{
    const uint64_t *hash = ngram->lower ? vocab->lower : vocab->hash;
    int64_t m = 0;
    for (int64_t t = 0; t < n; t++) {
        h[m] = hash[token[t]];
        m += !(ngram->stop && vocab->stop[token[t]]);
    }
    return m;
}

/* Tokens of row i of the request, into *token. */
static int64_t row_text(const ngram_map *self, const weft_request *request, int64_t i,
                        const uint32_t **token)
{
    const weft_rows *part = &self->data->part[request->part];
    int tok = ngram_arm(request, i)->tokenizer;
    int64_t first = part->offset[tok][i];
    *token = part->token[tok] + first;
    return part->end[tok][i] - first;
}

static uint64_t hash_seed(const weft_request *request, int arm)
{
    const ngram_map *ngram = request->arms[arm];
    uint64_t id = ngram->hash == NGRAM_SHARED ? UINT64_MAX : (uint64_t)request->id[arm];
    return weft_rng_at(request->seed, WEFT_RNG_HASH, id, 0, 0).v[0];
}

static struct reader reader_new(const ngram_map *self, const weft_request *request,
                                weft_arena *tmp)
{
    const uint32_t *token;
    struct reader reader = {.self = self, .request = request, .longest = 1};
    for (int64_t i = 0; i < request->n; i++) {
        int64_t n =
            row_text(self, request, i, &token) * ngram_max_order(ngram_arm(request, i));
        reader.room += n;
        if (n > reader.longest) reader.longest = n;
    }
    reader.token = WEFT_NEW(tmp, uint64_t, reader.longest + 1);
    reader.key = WEFT_NEW(tmp, uint64_t, reader.longest);
    reader.seed = WEFT_NEW(tmp, uint64_t, request->narm);
    for (int k = 0; k < request->narm; k++) reader.seed[k] = hash_seed(request, k);
    return reader;
}

/* Reads row i into reader->key; returns how many keys it has. */
static int64_t read_row(struct reader *reader, int64_t i)
{
    const ngram_map *ngram = ngram_arm(reader->request, i);
    const uint32_t *token;
    int64_t n = row_text(reader->self, reader->request, i, &token);
    int64_t m = row_tokens(ngram, &reader->self->data->vocab[ngram->tokenizer], token, n,
                           reader->token);
    return row_keys(ngram, reader->token, m,
                    reader->seed[reader->request->arm ? reader->request->arm[i] : 0],
                    reader->key);
}

/* ---- vocabularies ---- */

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
static void add_documents(struct counter *counter, uint64_t key, uint32_t by, uint32_t last)
{
    uint64_t at = slot_of(counter, key);
    if (counter->count[at] != 0 && counter->last[at] == last) return;
    counter->n += counter->count[at] == 0;
    counter->key[at] = key;
    counter->count[at] += by;
    counter->last[at] = last;
}

/* Doubles the number of slots, in a new arena that replaces *own. */
static void grow_counter(struct counter *counter, weft_arena **own)
{
    weft_arena *next = weft_arena_new();
    struct counter more = counter_new(2 * (counter->mask + 1), next);
    for (uint64_t i = 0; i <= counter->mask; i++)
        if (counter->count[i] != 0)
            add_documents(&more, counter->key[i], counter->count[i], counter->last[i]);
    weft_arena_free(*own);
    *counter = more;
    *own = next;
}

/* All keys of this rank's rows. *n how many. */
static struct counted *count_rows(const ngram_map *self, const weft_request *request,
                                  int64_t *n, weft_arena *mem)
{
    enum { FIRST = 1 << 16 };
    weft_arena *own = weft_arena_new(), *tmp = weft_arena_new();
    struct counter counter = counter_new(FIRST, own);
    struct reader reader = reader_new(self, request, tmp);
    for (int64_t i = 0; i < request->n; i++) {
        int64_t m = read_row(&reader, i);
        while ((uint64_t)(counter.n + m) > counter.mask / 3 * 2)
            grow_counter(&counter, &own);
        for (int64_t k = 0; k < m; k++)
            add_documents(&counter, reader.key[k], 1, (uint32_t)i + 1);
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

/* Sorts n keys; (*at)[2^bits + 1] where those of the same upper bits begin; returns bits.
 * Cost O(n): the keys are uniform. */
static int sort_keys(int64_t n, struct counted *all, uint32_t **at, weft_arena *mem)
{
    int bits = 1;
    while (((int64_t)1 << bits) < n) bits++;
    uint64_t buckets = (uint64_t)1 << bits;
    uint32_t *first = *at = WEFT_NEW(mem, uint32_t, buckets + 1);
    WEFT_REWIND(mem);
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
    return bits;
}

/* Distributes the keys over the ranks by range and sums the counts of equal keys.
 * Collective. */
static struct counted *distribute_keys(weft_team *team, struct counted *all, int64_t *n,
                                       weft_arena *mem)
{
    if (team->size == 1) return all;
    int64_t *sent = WEFT_NEW(mem, int64_t, team->size), arrived;
    uint32_t *at;
    sort_keys(*n, all, &at, mem);
    for (int64_t i = 0; i < *n; i++)
        sent[(all[i].key >> 32) * (uint64_t)team->size >> 32]++;
    struct counted *mine = weft_exchange_items(team, all, sent, sizeof *all, &arrived, mem);
    sort_keys(arrived, mine, &at, mem);
    *n = 0;
    for (int64_t i = 0; i < arrived; i++) {
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
                                      int64_t max_size, weft_arena *mem)
{
    weft_team *team = self->data->team;
    WEFT_SCRATCH(tmp);
    const ngram_map *any = request->arms[0];
    int64_t n;
    uint32_t *at;
    struct counted *all = count_rows(self, request, &n, tmp);
    all = distribute_keys(team, all, &n, tmp);
    if (team->size == 1) sort_keys(n, all, &at, tmp);
    n = select_keys(team, n, all, any->min_count, max_size, tmp);
    all = gather_keys(team, all, &n, tmp);
    ngram_vocabulary vocabulary = vocabulary_new(n, all, mem);
    return vocabulary;
}

enum { PIECES = 4, PIECE = 16 }; /* of a key, in bits, which a float holds exactly */

static void split_key(uint64_t word, real *to)
{
    for (int p = 0; p < PIECES; p++) to[p] = (real)(word >> (PIECE * p) & UINT16_MAX);
}

static uint64_t join_key(const real *from)
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
    split_key((uint64_t)vocabulary->n, stat);
    for (int64_t j = 0; j < vocabulary->n; j++)
        split_key(vocabulary->key[j], stat + PIECES * (1 + j));
}

ngram_vocabulary ngram_vocabulary_read(const real *stat, weft_arena *mem)
{
    WEFT_SCRATCH(tmp);
    int64_t n = (int64_t)join_key(stat);
    struct counted *all = WEFT_NEW(tmp, struct counted, n);
    for (int64_t j = 0; j < n; j++) all[j].key = join_key(stat + PIECES * (1 + j));
    ngram_vocabulary vocabulary = vocabulary_new(n, all, mem);
    return vocabulary;
}

/* ---- counts of rows ---- */

/* A set of the bins of one row: open addressing, slot[mask+1] holds position + 1 in the
 * row. */
typedef struct row_set {
    uint32_t *slot, *bin;
    float *count;
    uint32_t mask, n;
} row_set;

static inline void row_add(row_set *set, uint32_t bin)
{
    uint32_t at = bin & set->mask;
    while (set->slot[at] != 0) {
        uint32_t i = set->slot[at] - 1;
        if (set->bin[i] == bin) {
            set->count[i] += 1;
            return;
        }
        at = (at + 1) & set->mask;
    }
    set->bin[set->n] = bin;
    set->count[set->n] = 1;
    set->slot[at] = ++set->n;
}

static uint32_t table_size(int64_t items)
{
    uint32_t size = 64;
    while (size < 2 * items) size *= 2;
    return size;
}

/* Column of a key; -1: none. */
static inline int64_t find_column(const ngram_vocabulary *vocabulary, uint64_t key)
{
    uint64_t bucket = key >> (64 - vocabulary->bits);
    for (uint32_t j = vocabulary->at[bucket]; j < vocabulary->at[bucket + 1]; j++)
        if (vocabulary->key[j] == key) return j;
    return -1;
}

void ngram_count(const ngram_map *self, const weft_request *request,
                 const ngram_vocabulary *vocabulary, ngram_rows *rows, weft_arena *tmp)
{
    rows->first = WEFT_NEW(tmp, int64_t, rows->n + 1);
    size_t mark = weft_arena_mark(tmp);
    int64_t room = reader_new(self, request, tmp).room;
    weft_arena_reset(tmp, mark);
    rows->bin = WEFT_NEW(tmp, uint32_t, room);
    rows->value = WEFT_NEW(tmp, float, room);
    mark = weft_arena_mark(tmp);
    struct reader reader = reader_new(self, request, tmp);
    row_set set = {.slot = WEFT_NEW(tmp, uint32_t, table_size(reader.longest))};
    for (int64_t i = 0; i < rows->n; i++) {
        const ngram_map *ngram = ngram_arm(request, i);
        int64_t n = read_row(&reader, i);
        set.mask = table_size(n) - 1;
        memset(set.slot, 0, (set.mask + 1) * sizeof *set.slot);
        set.bin = rows->bin + rows->first[i];
        set.count = rows->value + rows->first[i];
        set.n = 0;
        for (int64_t k = 0; k < n && !vocabulary; k++)
            row_add(&set, (uint32_t)(((reader.key[k] >> 32) * (uint64_t)rows->bins) >> 32));
        for (int64_t k = 0; k < n && vocabulary; k++) {
            int64_t column = find_column(vocabulary, reader.key[k]);
            if (column >= 0) row_add(&set, (uint32_t)column);
        }
        if (ngram->binary || ngram->weights == NGRAM_BINARY) {
            for (uint32_t e = 0; e < set.n; e++) set.count[e] = 1;
        }
        rows->first[i + 1] = rows->first[i] + set.n;
    }
    weft_arena_reset(tmp, mark);
}
