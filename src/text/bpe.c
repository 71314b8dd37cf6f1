/* Byte-pair encoding: units of texts, texts as pieces and back, and learning of the merges.
 * Sennrich, Haddow, Birch, "Neural machine translation of rare words with subword units",
 * ACL 2016. */
#include "char.h"
#include "weft/base/base.h"
#include "weft/text/text.h"

#include <stdlib.h>
#include <string.h>
#include <utf8proc.h>

/* ---- units ---- */

enum { BYTES = 4 }; /* of a character at most */

enum { LETTER, SIGN, SPACE };

/* The kind of the character that starts at p; its bytes in *n. */
static int kind_of(const uint8_t *p, size_t *n)
{
    unsigned classes = char_class(p, n);
    if ((classes & CHAR_SPACE) || *p == '\0') return SPACE;
    if (!(classes & CHAR_PUNCT)) return LETTER;
    utf8proc_category_t category = utf8proc_category(weft_char_code(p, n));
    return category >= UTF8PROC_CATEGORY_PC && category <= UTF8PROC_CATEGORY_SO ? SIGN
                                                                                : LETTER;
}

void weft_units(const char *text, size_t n, weft_token_fn fn, void *ctx)
{
    char unit[BYTES * WEFT_UNIT + 2];
    const uint8_t *at = (const uint8_t *)text, *end = at + n;
    size_t bytes = 0, step;
    int characters = 0, last = SPACE;
    for (; at < end; at += step) {
        int kind = kind_of(at, &step);
        if (characters > 0 && (kind != last || characters == WEFT_UNIT)) {
            if (kind == SPACE) unit[bytes++] = ' ';
            unit[bytes] = '\0';
            fn(ctx, unit, bytes);
            bytes = 0;
            characters = 0;
        }
        last = kind;
        if (kind == SPACE) continue;
        memcpy(unit + bytes, at, step);
        bytes += step;
        characters++;
    }
    if (characters == 0) return;
    unit[bytes++] = ' ';
    unit[bytes] = '\0';
    fn(ctx, unit, bytes);
}

void weft_unit_add(weft_unit_counts *counts, const char *unit, int64_t times)
{
    weft_arena *mem = counts->units.mem;
    int64_t i = weft_names_find(&counts->units, unit);
    counts->count = weft_grow(mem, counts->count, sizeof *counts->count, i, &counts->room);
    counts->count[i] += times;
}

static void add_one(void *ctx, const char *unit, size_t n)
{
    (void)n;
    weft_unit_add(ctx, unit, 1);
}

void weft_units_add(weft_unit_counts *counts, const char *text, size_t n)
{
    weft_units(text, n, add_one, counts);
}

/* ---- pieces and merges ---- */

/* The texts of the pieces that are not learnt, one after another, and where each ends. */
#define GIVEN "\xef\xbf\xbd "
static const uint8_t given_end[WEFT_PIECE_FIRST] = {3, 3, 3, 4};

enum { SYMBOL = 6 }; /* bytes of a character with a blank and a NUL */

/* The bytes of the symbol that starts at p, in a unit that ends with NUL: a character, with
 * the blank behind it. It is copied to symbol, with a NUL. */
static size_t copy_symbol(const char *p, char symbol[SYMBOL])
{
    size_t n;
    char_class((const uint8_t *)p, &n);
    n += p[n] == ' ';
    memcpy(symbol, p, n);
    symbol[n] = '\0';
    return n;
}

struct weft_bpe_index {
    weft_names names; /* texts of the pieces from WEFT_PIECE_BLANK on */
    int64_t *slot;    /* [mask + 1] open hash table: number + 1 of a merge; 0: free */
    uint64_t mask;
};

/* Where the search for a pair begins in a hash table. */
static uint64_t hash_pair(uint64_t left, uint64_t right)
{
    return ((left << 32 | right) * UINT64_C(0x9e3779b97f4a7c15)) >> 16;
}

/* Where the merge of two pieces is, or would be. */
static int64_t *slot_of(const weft_bpe *bpe, uint32_t left, uint32_t right)
{
    for (uint64_t at = hash_pair(left, right);; at++) {
        int64_t *slot = &bpe->own->slot[at & bpe->own->mask];
        if (*slot == 0) return slot;
        const uint32_t *merge = bpe->merge + 3 * (*slot - 1);
        if (merge[0] == left && merge[1] == right) return slot;
    }
}

/* 1: texts of whole characters follow one another, those that are not learnt as GIVEN
 * says. */
static int is_sound(const weft_bpe *bpe)
{
    const int64_t *offset = bpe->offset;
    int sound = bpe->n >= WEFT_PIECE_FIRST && bpe->n < INT32_MAX && offset[0] == 0;
    for (int64_t i = 0; i < bpe->n && sound; i++)
        sound = i >= WEFT_PIECE_FIRST ? offset[i + 1] > offset[i]
                                      : offset[i + 1] == (int64_t)given_end[i];
    for (int64_t i = 0; i < bpe->n && sound; i++) {
        size_t bytes = (size_t)(offset[i + 1] - offset[i]);
        sound = weft_utf8_check(bpe->text + offset[i], bytes) == bytes;
    }
    return sound && memcmp(bpe->text, GIVEN, strlen(GIVEN)) == 0;
}

static int64_t length_of(const weft_bpe *bpe, uint32_t piece)
{
    return bpe->offset[piece + 1] - bpe->offset[piece];
}

/* 1: both pieces can be in a text, and make the third. */
static int is_merge(const weft_bpe *bpe, const uint32_t *merge)
{
    for (int i = 0; i < 3; i++)
        if (merge[i] < WEFT_PIECE_FIRST || merge[i] >= bpe->n) return 0;
    const char *left = bpe->text + bpe->offset[merge[0]],
               *right = bpe->text + bpe->offset[merge[1]],
               *made = bpe->text + bpe->offset[merge[2]];
    size_t n = (size_t)length_of(bpe, merge[0]), m = (size_t)length_of(bpe, merge[1]);
    return (size_t)length_of(bpe, merge[2]) == n + m && memcmp(made, left, n) == 0 &&
           memcmp(made + n, right, m) == 0;
}

weft_status weft_bpe_open(weft_bpe *bpe, const char *whose, weft_arena *mem)
{
    struct weft_bpe_index *own = bpe->own = WEFT_NEW(mem, struct weft_bpe_index, 1);
    own->names.mem = mem;
    own->mask = 1;
    while (own->mask < 2 * (uint64_t)bpe->merges) own->mask *= 2;
    own->slot = WEFT_NEW(mem, int64_t, own->mask--);
    int sound = is_sound(bpe);
    for (int64_t i = WEFT_PIECE_BLANK; i < bpe->n && sound; i++) {
        const char *text = weft_arena_text(mem, "%.*s", (int)length_of(bpe, (uint32_t)i),
                                           bpe->text + bpe->offset[i]);
        sound = weft_names_find(&own->names, text) == i - WEFT_PIECE_BLANK;
    }
    for (int64_t i = 0; i < bpe->merges && sound; i++) {
        const uint32_t *merge = bpe->merge + 3 * i;
        sound = is_merge(bpe, merge);
        int64_t *slot = slot_of(bpe, merge[0], merge[1]);
        if (sound && *slot == 0) *slot = i + 1;
    }
    if (sound) return WEFT_OK;
    return weft_fail(WEFT_EDATA, "%s: its pieces and merges do not go together", whose);
}

/* ---- texts to pieces ---- */

struct encoding {
    const weft_bpe *bpe;
    uint32_t *piece; /* [n] so far */
    int64_t n;
};

/* The characters of a unit, each with its blank where there is such a piece; returns how
 * many pieces they are. */
static int64_t put_symbols(const weft_bpe *bpe, const char *unit, uint32_t *piece)
{
    char symbol[SYMBOL];
    int64_t n = 0;
    while (*unit != '\0') {
        size_t bytes = copy_symbol(unit, symbol);
        int64_t found = weft_names_index(&bpe->own->names, symbol);
        unit += bytes;
        if (found < 0 && bytes > 1 && symbol[bytes - 1] == ' ') {
            symbol[--bytes] = '\0';
            found = weft_names_index(&bpe->own->names, symbol);
            unit--;
        }
        piece[n++] = found < 0 ? WEFT_PIECE_UNKNOWN : (uint32_t)(WEFT_PIECE_BLANK + found);
    }
    return n;
}

/* The earliest merge of two pieces that stand side by side, from 1; 0: there is none. */
static int64_t first_merge(const weft_bpe *bpe, const uint32_t *piece, int64_t n)
{
    int64_t first = 0;
    for (int64_t i = 0; i + 1 < n; i++) {
        int64_t found = *slot_of(bpe, piece[i], piece[i + 1]);
        if (found > 0 && (first == 0 || found < first)) first = found;
    }
    return first;
}

/* Makes a merge wherever it can be, from left to right; returns the pieces that are left.
 */
static int64_t apply_merge(const uint32_t *merge, uint32_t *piece, int64_t n)
{
    int64_t to = 0;
    for (int64_t i = 0; i < n; to++) {
        int pair = i + 1 < n && piece[i] == merge[0] && piece[i + 1] == merge[1];
        piece[to] = pair ? merge[2] : piece[i];
        i += 1 + pair;
    }
    return to;
}

int64_t weft_bpe_encode_unit(const weft_bpe *bpe, const char *unit, uint32_t *piece)
{
    int64_t n = put_symbols(bpe, unit, piece);
    for (int64_t found; (found = first_merge(bpe, piece, n)) > 0;)
        n = apply_merge(bpe->merge + 3 * (found - 1), piece, n);
    return n;
}

static void add_unit(void *ctx, const char *unit, size_t bytes)
{
    struct encoding *encoding = ctx;
    uint32_t *piece = encoding->piece + encoding->n;
    (void)bytes;
    encoding->n += weft_bpe_encode_unit(encoding->bpe, unit, piece);
}

int64_t weft_bpe_encode(const weft_bpe *bpe, const char *text, size_t n, uint32_t *piece)
{
    struct encoding encoding = {.bpe = bpe, .piece = piece};
    weft_units(text, n, add_unit, &encoding);
    return encoding.n;
}

/* ---- pieces to texts ---- */

const char *weft_bpe_decode(const weft_bpe *bpe, const uint32_t *piece, int64_t n,
                            weft_arena *mem)
{
    int64_t bytes = 0, to = 0;
    for (int64_t i = 0; i < n; i++) bytes += length_of(bpe, piece[i]);
    char *text = WEFT_NEW(mem, char, bytes + 1);
    for (int64_t i = 0; i < n; i++) {
        int64_t length = length_of(bpe, piece[i]);
        memcpy(text + to, bpe->text + bpe->offset[piece[i]], (size_t)length);
        to += length;
    }
    while (to > 0 && text[to - 1] == ' ') text[--to] = '\0';
    while (*text == ' ') text++;
    return text;
}

/* ---- learning ---- */

/* All different units stand in one array of places, each with
 * a symbol and links to its neighbours. A place belongs to the pair that it begins, so that
 * a merge visits just the places of its pair, and changes the counts of the pairs beside
 * them; a heap has the most frequent pair in front. */

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

static void moved_pair(void *item, int64_t at)
{
    (*(struct pair **)item)->at = at;
}

static struct pair **slot_of_pair(const struct learner *learner, int64_t left,
                                  int64_t right)
{
    for (uint64_t at = hash_pair((uint64_t)left, (uint64_t)right);; at++) {
        struct pair **slot = &learner->slot[at & (uint64_t)(learner->slots - 1)];
        if (*slot == NULL || ((*slot)->left == left && (*slot)->right == right))
            return slot;
    }
}

static void widen_slots(struct learner *learner)
{
    enum { FIRST_SLOTS = 1 << 12 };
    struct pair **old = learner->slot;
    int64_t n = learner->slots;
    learner->slots = n > 0 ? 2 * n : FIRST_SLOTS;
    learner->slot = WEFT_NEW(learner->mem, struct pair *, learner->slots);
    for (int64_t i = 0; i < n; i++)
        if (old[i] != NULL) *slot_of_pair(learner, old[i]->left, old[i]->right) = old[i];
}

static struct pair *find_pair(struct learner *learner, int64_t left, int64_t right)
{
    if (2 * learner->pairs >= learner->slots) widen_slots(learner);
    struct pair **slot = slot_of_pair(learner, left, right);
    if (*slot != NULL) return *slot;
    struct pair *pair = *slot = WEFT_NEW(learner->mem, struct pair, 1);
    *pair = (struct pair){.left = left, .right = right, .first = -1};
    learner->pairs++;
    weft_heap_push(&learner->heap, &pair, learner->mem);
    return pair;
}

/* Makes place i one of the pair that it begins. */
static void join_pair(struct learner *learner, int64_t i)
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

static void leave_pair(struct learner *learner, int64_t i)
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

static int64_t count_places(const weft_unit_counts *counts)
{
    char symbol[SYMBOL];
    int64_t n = 0;
    for (int64_t i = 0; i < counts->units.n; i++)
        for (const char *p = counts->units.name[i]; *p != '\0'; p += copy_symbol(p, symbol))
            n++;
    return n;
}

static void add_places(struct learner *learner, const char *unit, int64_t weight)
{
    char text[SYMBOL];
    int64_t first = learner->places, n = first;
    for (const char *p = unit; *p != '\0'; n++) {
        p += copy_symbol(p, text);
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

static void begin_learning(struct learner *learner, const weft_unit_counts *counts)
{
    learner->place = WEFT_NEW(learner->mem, struct place, count_places(counts));
    for (int64_t i = 0; i < counts->units.n; i++)
        add_places(learner, counts->units.name[i], counts->count[i]);
    learner->characters = learner->symbols.n;
    for (int64_t i = 0; i < learner->places; i++) join_pair(learner, i);
}

static int by_place(const void *a, const void *b)
{
    int64_t x = *(const int64_t *)a, y = *(const int64_t *)b;
    return x < y ? -1 : x > y;
}

static void merge_place(struct learner *learner, int64_t i, int64_t symbol)
{
    struct place *place = &learner->place[i];
    int64_t right = place->after, after = learner->place[right].after;
    if (place->before >= 0) leave_pair(learner, place->before);
    leave_pair(learner, i);
    leave_pair(learner, right);
    learner->place[right].symbol = -1;
    place->symbol = symbol;
    place->after = after;
    if (after >= 0) learner->place[after].before = i;
    if (place->before >= 0) join_pair(learner, place->before);
    join_pair(learner, i);
}

/* Merges a pair wherever it stands, from left to right, which counts where its two symbols
 * are the same; returns the symbol that it becomes. */
static int64_t merge_pair(struct learner *learner, struct pair *pair)
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
    for (i = 0; i < WEFT_PIECE_FIRST; i++) offset[i + 1] = given_end[i];
    for (; i < bpe->n; i++) offset[i + 1] = offset[i] + (int64_t)strlen(text[i]);
    char *all = WEFT_NEW(mem, char, offset[bpe->n]);
    memcpy(all, GIVEN, strlen(GIVEN));
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
    learner.heap = (weft_heap){.size = sizeof(struct pair *),
                               .before = is_before,
                               .of = &learner,
                               .moved = moved_pair};
    begin_learning(&learner, counts);
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
        to[2] = (uint32_t)merge_pair(&learner, pair);
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
