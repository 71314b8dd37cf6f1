/* Learning of byte-pair merges. All different units stand in one array of places, each with
 * a symbol and links to its neighbours. A place belongs to the pair that it begins, so that
 * a merge visits just the places of its pair, and changes the counts of the pairs beside
 * them; a heap has the most frequent pair in front. */
#include "bpe.h"
#include "weft/bpe.h"
#include "weft/heap.h"

#include <stdlib.h>

/* Two symbols that stand side by side. */
struct pair {
    int64_t left, right;
    int64_t count; /* occurrences in all texts */
    int64_t first; /* of the places that begin it; -1: none */
    int64_t at;    /* in the heap */
};

struct place {
    int64_t symbol;         /* -1: it became part of the one before it */
    int64_t before, after;  /* neighbours in the unit, -1: none */
    int64_t weight;         /* occurrences of the unit */
    struct pair *pair;      /* with the symbol after it; NULL: there is none */
    int64_t earlier, later; /* of the places of that pair; -1: none */
};

struct learner {
    weft_names symbols; /* texts */
    int64_t *occurs;    /* [characters] of each */
    int64_t characters, room;
    struct place *place; /* [places] */
    int64_t places;
    weft_heap heap;     /* of pairs */
    struct pair **slot; /* [slots] open hash table; NULL: free */
    int64_t slots, pairs;
    weft_arena *mem;
};

/* ---- pairs ---- */

/* As strcmp, for texts of symbols: the blank at the end of a unit is "</w>". */
static int compare_texts(const char *a, const char *b)
{
    size_t i = 0;
    while (a[i] == b[i] && a[i] != '\0') i++;
    int order = strcmp(a[i] == ' ' ? "</w>" : a + i, b[i] == ' ' ? "</w>" : b + i);
    return order != 0 ? order : strcmp(a, b);
}

static int is_before(const void *a, const void *b, const void *of)
{
    const struct pair *x = *(struct pair *const *)a, *y = *(struct pair *const *)b;
    const struct learner *learner = of;
    const char *const *text = learner->symbols.name;
    if (x->count != y->count) return x->count > y->count;
    int order = compare_texts(text[x->left], text[y->left]);
    return (order != 0 ? order : compare_texts(text[x->right], text[y->right])) > 0;
}

static void moved(void *item, int64_t at)
{
    (*(struct pair **)item)->at = at;
}

static struct pair **slot_of(const struct learner *learner, int64_t left, int64_t right)
{
    uint64_t at = ((uint64_t)left << 32 ^ (uint64_t)right) * UINT64_C(0x9e3779b97f4a7c15);
    for (at >>= 16;; at++) {
        struct pair **slot = &learner->slot[at & (uint64_t)(learner->slots - 1)];
        if (*slot == NULL || ((*slot)->left == left && (*slot)->right == right))
            return slot;
    }
}

static void widen(struct learner *learner)
{
    enum { FIRST_SLOTS = 1 << 12 };
    struct pair **old = learner->slot;
    int64_t n = learner->slots;
    learner->slots = n > 0 ? 2 * n : FIRST_SLOTS;
    learner->slot = WEFT_NEW(learner->mem, struct pair *, learner->slots);
    for (int64_t i = 0; i < n; i++)
        if (old[i] != NULL) *slot_of(learner, old[i]->left, old[i]->right) = old[i];
}

static struct pair *find_pair(struct learner *learner, int64_t left, int64_t right)
{
    if (2 * learner->pairs >= learner->slots) widen(learner);
    struct pair **slot = slot_of(learner, left, right);
    if (*slot != NULL) return *slot;
    struct pair *pair = *slot = WEFT_NEW(learner->mem, struct pair, 1);
    *pair = (struct pair){.left = left, .right = right, .first = -1};
    learner->pairs++;
    weft_heap_push(&learner->heap, &pair, learner->mem);
    return pair;
}

/* Makes place i one of the pair that it begins. */
static void join(struct learner *learner, int64_t i)
{
    struct place *place = &learner->place[i];
    if (place->after < 0) return;
    struct pair *pair =
        find_pair(learner, place->symbol, learner->place[place->after].symbol);
    place->pair = pair;
    place->earlier = -1;
    place->later = pair->first;
    if (pair->first >= 0) learner->place[pair->first].earlier = i;
    pair->first = i;
    pair->count += place->weight;
    weft_heap_settle(&learner->heap, pair->at);
}

static void leave(struct learner *learner, int64_t i)
{
    struct place *place = &learner->place[i];
    struct pair *pair = place->pair;
    if (pair == NULL) return;
    if (place->earlier >= 0)
        learner->place[place->earlier].later = place->later;
    else
        pair->first = place->later;
    if (place->later >= 0) learner->place[place->later].earlier = place->earlier;
    place->pair = NULL;
    pair->count -= place->weight;
    weft_heap_settle(&learner->heap, pair->at);
}

/* ---- the first symbols ---- */

static int64_t count_places(const weft_unit_counts *counts)
{
    char symbol[BPE_SYMBOL];
    int64_t n = 0;
    for (int64_t i = 0; i < counts->units.n; i++)
        for (const char *p = counts->units.name[i]; *p != '\0'; p += bpe_symbol(p, symbol))
            n++;
    return n;
}

static void add_unit(struct learner *learner, const char *unit, int64_t weight)
{
    char text[BPE_SYMBOL];
    int64_t first = learner->places, n = first;
    for (const char *p = unit; *p != '\0'; n++) {
        p += bpe_symbol(p, text);
        int64_t symbol = weft_names_find(&learner->symbols, text);
        learner->occurs =
            weft_grow(learner->mem, learner->occurs, sizeof weight, symbol, &learner->room);
        learner->occurs[symbol] += weight;
        learner->place[n] = (struct place){.symbol = symbol,
                                           .before = n > first ? n - 1 : -1,
                                           .after = -1,
                                           .weight = weight};
        if (n > first) learner->place[n - 1].after = n;
    }
    learner->places = n;
}

static void begin(struct learner *learner, const weft_unit_counts *counts)
{
    learner->place = WEFT_NEW(learner->mem, struct place, count_places(counts));
    for (int64_t i = 0; i < counts->units.n; i++)
        add_unit(learner, counts->units.name[i], counts->count[i]);
    learner->characters = learner->symbols.n;
    for (int64_t i = 0; i < learner->places; i++) join(learner, i);
}

/* ---- merges ---- */

static int by_place(const void *a, const void *b)
{
    int64_t x = *(const int64_t *)a, y = *(const int64_t *)b;
    return x < y ? -1 : x > y;
}

static void merge_place(struct learner *learner, int64_t i, int64_t symbol)
{
    struct place *place = &learner->place[i];
    int64_t right = place->after, after = learner->place[right].after;
    if (place->before >= 0) leave(learner, place->before);
    leave(learner, i);
    leave(learner, right);
    learner->place[right].symbol = -1;
    place->symbol = symbol;
    place->after = after;
    if (after >= 0) learner->place[after].before = i;
    if (place->before >= 0) join(learner, place->before);
    join(learner, i);
}

/* Merges a pair wherever it stands, from left to right, which counts where its two symbols
 * are the same; returns the symbol that it becomes. */
static int64_t merge(struct learner *learner, struct pair *pair)
{
    weft_arena *tmp = weft_arena_new();
    int64_t *at = NULL, n = 0, room = 0;
    const char *const *text = learner->symbols.name;
    int64_t symbol =
        weft_names_find(&learner->symbols,
                        weft_arena_text(tmp, "%s%s", text[pair->left], text[pair->right]));
    for (int64_t i = pair->first; i >= 0; i = learner->place[i].later) {
        at = weft_grow(tmp, at, sizeof *at, n, &room);
        at[n++] = i;
    }
    qsort(at, (size_t)n, sizeof *at, by_place);
    for (int64_t k = 0; k < n; k++)
        if (learner->place[at[k]].pair == pair) merge_place(learner, at[k], symbol);
    weft_arena_free(tmp);
    return symbol;
}

/* ---- the pieces ---- */

struct rank {
    int64_t symbol, count;
    const char *text;
};

static int by_count(const void *a, const void *b)
{
    const struct rank *x = a, *y = b;
    if (x->count != y->count) return x->count > y->count ? -1 : 1;
    return strcmp(x->text, y->text);
}

/* The piece that each symbol becomes: characters by falling counts. */
static uint32_t *order_symbols(const struct learner *learner, weft_arena *mem)
{
    uint32_t *piece = WEFT_NEW(mem, uint32_t, learner->symbols.n);
    struct rank *rank = WEFT_NEW(mem, struct rank, learner->characters);
    for (int64_t i = 0; i < learner->characters; i++)
        rank[i] = (struct rank){i, learner->occurs[i], learner->symbols.name[i]};
    if (learner->characters > 0)
        qsort(rank, (size_t)learner->characters, sizeof *rank, by_count);
    for (int64_t i = 0; i < learner->symbols.n; i++)
        piece[i < learner->characters ? rank[i].symbol : i] =
            (uint32_t)(WEFT_PIECE_FIRST + i);
    return piece;
}

/* Texts and merges, renumbered. */
static void put_pieces(const struct learner *learner, const uint32_t *merges, weft_bpe *bpe,
                       weft_arena *mem)
{
    const uint32_t *piece = order_symbols(learner, learner->mem);
    const char **text = WEFT_NEW(learner->mem, const char *, bpe->n);
    int64_t *offset = WEFT_NEW(mem, int64_t, bpe->n + 1), i;
    uint32_t *merge = WEFT_NEW(mem, uint32_t, 3 * bpe->merges);
    for (i = 0; i < learner->symbols.n; i++) text[piece[i]] = learner->symbols.name[i];
    for (i = 0; i < WEFT_PIECE_FIRST; i++) offset[i + 1] = bpe_given_end[i];
    for (; i < bpe->n; i++) offset[i + 1] = offset[i] + (int64_t)strlen(text[i]);
    char *all = WEFT_NEW(mem, char, offset[bpe->n]);
    memcpy(all, BPE_GIVEN, strlen(BPE_GIVEN));
    for (i = WEFT_PIECE_FIRST; i < bpe->n; i++)
        memcpy(all + offset[i], text[i], strlen(text[i]));
    for (i = 0; i < 3 * bpe->merges; i++) merge[i] = piece[merges[i]];
    bpe->text = all;
    bpe->offset = offset;
    bpe->merge = merge;
}

weft_status weft_bpe_learn(const weft_unit_counts *counts, int64_t pieces,
                           const char *whose, weft_bpe *bpe, weft_arena *mem)
{
    enum { LEAST = 2 }; /* occurrences of a pair that is merged */
    weft_arena *tmp = weft_arena_new();
    struct learner learner = {.symbols = {.mem = tmp}, .mem = tmp};
    learner.heap = (weft_heap){
        .size = sizeof(struct pair *), .before = is_before, .of = &learner, .moved = moved};
    begin(&learner, counts);
    int64_t most = pieces - WEFT_PIECE_FIRST, characters = learner.characters, room = 0;
    uint32_t *merges = NULL;
    weft_check(pieces <= INT32_MAX, "%lld pieces", (long long)pieces);
    *bpe = (weft_bpe){.n = 0};
    while (learner.symbols.n < most && learner.heap.n > 0) {
        struct pair *pair = *(struct pair **)learner.heap.at;
        if (pair->count < LEAST) break;
        merges = weft_grow(tmp, merges, 3 * sizeof *merges, bpe->merges, &room);
        uint32_t *to = merges + 3 * bpe->merges++;
        to[0] = (uint32_t)pair->left;
        to[1] = (uint32_t)pair->right;
        to[2] = (uint32_t)merge(&learner, pair);
    }
    bpe->n = WEFT_PIECE_FIRST + learner.symbols.n;
    if (bpe->n <= pieces) put_pieces(&learner, merges, bpe, mem);
    weft_arena_free(tmp);
    if (bpe->n <= pieces) return weft_bpe_open(bpe, whose, mem);
    return weft_fail(
        WEFT_ECONF,
        "%s: %lld pieces are too few for its %lld characters; give %lld or more", whose,
        (long long)pieces, (long long)characters,
        (long long)(characters + WEFT_PIECE_FIRST));
}
