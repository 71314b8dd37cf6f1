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

/* Open hash tables of pairs of numbers. */
struct slot {
    uint64_t pair;
    void *at; /* NULL: free */
};

struct slots {
    int64_t n;         /* taken */
    uint64_t mask;     /* slots - 1 */
    struct slot *slot; /* [mask + 1] */
};

/* Where a pair is, or would be. */
static struct slot *find_slot(const struct slots *slots, uint64_t left, uint64_t right)
{
    uint64_t pair = left << 32 | right, at = (pair * UINT64_C(0x9e3779b97f4a7c15)) >> 16;
    while (slots->slot[at & slots->mask].at && slots->slot[at & slots->mask].pair != pair)
        at++;
    return &slots->slot[at & slots->mask];
}

static void put_slot(struct slots *slots, uint64_t left, uint64_t right, void *at)
{
    *find_slot(slots, left, right) = (struct slot){left << 32 | right, at};
    slots->n++;
}

/* Room for n pairs in all, of which half as many slots are free. */
static void widen_slots(struct slots *slots, int64_t n, weft_arena *mem)
{
    struct slots old = *slots;
    if (old.slot && 2 * (uint64_t)n <= old.mask + 1) return;
    *slots = (struct slots){.mask = 1};
    while (slots->mask < 2 * (uint64_t)n) slots->mask *= 2;
    slots->slot = WEFT_NEW(mem, struct slot, slots->mask--);
    for (uint64_t i = 0; old.slot && i <= old.mask; i++)
        if (old.slot[i].at)
            put_slot(slots, old.slot[i].pair >> 32, (uint32_t)old.slot[i].pair,
                     old.slot[i].at);
}

struct weft_bpe_index {
    weft_names names; /* texts of the pieces from WEFT_PIECE_BLANK on */
    struct slots merges;
};

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
    widen_slots(&own->merges, bpe->merges, mem);
    int sound = is_sound(bpe);
    for (int64_t i = WEFT_PIECE_BLANK; i < bpe->n && sound; i++) {
        const char *text = weft_arena_text(mem, "%.*s", (int)length_of(bpe, (uint32_t)i),
                                           bpe->text + bpe->offset[i]);
        sound = weft_names_find(&own->names, text) == i - WEFT_PIECE_BLANK;
    }
    for (int64_t i = 0; i < bpe->merges && sound; i++) {
        const uint32_t *merge = bpe->merge + 3 * i;
        sound = is_merge(bpe, merge);
        if (sound && !find_slot(&own->merges, merge[0], merge[1])->at)
            put_slot(&own->merges, merge[0], merge[1], (void *)(uintptr_t)merge);
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

/* The earliest merge of two pieces that stand side by side; NULL: there is none. */
static const uint32_t *first_merge(const weft_bpe *bpe, const uint32_t *piece, int64_t n)
{
    const uint32_t *first = NULL;
    for (int64_t i = 0; i + 1 < n; i++) {
        const uint32_t *found = find_slot(&bpe->own->merges, piece[i], piece[i + 1])->at;
        if (found && (!first || found < first)) first = found;
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
    for (const uint32_t *merge; (merge = first_merge(bpe, piece, n)) != NULL;)
        n = apply_merge(merge, piece, n);
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

/* All different units are rows of symbols. A merge visits the units in which its pair
 * stands, and changes the counts of the pairs beside it; a heap has the most frequent pair
 * in front. */

struct unit {
    int64_t *symbol;   /* [n] */
    int64_t n, weight; /* occurrences of the unit */
};

/* A unit in which a pair stands, or stood. */
struct stand {
    struct unit *unit;
    struct stand *next;
};

/* Two symbols that stand side by side. */
struct pair {
    int64_t left, right;
    int64_t count; /* occurrences in all texts */
    int64_t at;    /* in the heap */
    struct stand *stand;
};

struct learner {
    weft_names symbols; /* texts */
    int64_t *occurs;    /* [characters] of each */
    int64_t characters, room;
    weft_heap heap; /* of pairs */
    struct slots pairs;
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

static struct pair *find_pair(struct learner *learner, int64_t left, int64_t right)
{
    uint64_t a = (uint64_t)left, b = (uint64_t)right;
    struct pair *pair = find_slot(&learner->pairs, a, b)->at;
    if (pair) return pair;
    pair = WEFT_NEW(learner->mem, struct pair, 1);
    *pair = (struct pair){.left = left, .right = right};
    widen_slots(&learner->pairs, learner->pairs.n + 1, learner->mem);
    put_slot(&learner->pairs, a, b, pair);
    weft_heap_push(&learner->heap, &pair, learner->mem);
    return pair;
}

/* Counts the pair that begins at place i of a unit, if one does, once more or less in each
 * of the unit's occurrences. */
static void count_pair(struct learner *learner, struct unit *unit, int64_t i, int more)
{
    if (i < 0 || i + 1 >= unit->n) return;
    struct pair *pair = find_pair(learner, unit->symbol[i], unit->symbol[i + 1]);
    pair->count += more ? unit->weight : -unit->weight;
    if (more) {
        struct stand *stand = WEFT_NEW(learner->mem, struct stand, 1);
        *stand = (struct stand){unit, pair->stand};
        pair->stand = stand;
    }
    weft_heap_settle(&learner->heap, pair->at);
}

static void add_unit_of(struct learner *learner, const char *text, struct unit *unit)
{
    char symbol[SYMBOL];
    unit->symbol = WEFT_NEW(learner->mem, int64_t, strlen(text));
    while (*text != '\0') {
        text += copy_symbol(text, symbol);
        int64_t number = weft_names_find(&learner->symbols, symbol);
        learner->occurs =
            weft_grow(learner->mem, learner->occurs, sizeof number, number, &learner->room);
        learner->occurs[number] += unit->weight;
        unit->symbol[unit->n++] = number;
    }
}

static void begin_learning(struct learner *learner, const weft_unit_counts *counts)
{
    struct unit *unit = WEFT_NEW(learner->mem, struct unit, counts->units.n);
    for (int64_t u = 0; u < counts->units.n; u++) {
        unit[u].weight = counts->count[u];
        add_unit_of(learner, counts->units.name[u], &unit[u]);
    }
    learner->characters = learner->symbols.n;
    for (int64_t u = 0; u < counts->units.n; u++)
        for (int64_t i = 0; i + 1 < unit[u].n; i++) count_pair(learner, &unit[u], i, 1);
}

static void merge_unit(struct learner *learner, struct unit *unit, const struct pair *pair,
                       int64_t symbol)
{
    int64_t *at = unit->symbol;
    for (int64_t i = 0; i + 1 < unit->n; i++) {
        if (at[i] != pair->left || at[i + 1] != pair->right) continue;
        for (int64_t k = i - 1; k <= i + 1; k++) count_pair(learner, unit, k, 0);
        at[i] = symbol;
        unit->n--;
        memmove(at + i + 1, at + i + 2, (size_t)(unit->n - i - 1) * sizeof *at);
        for (int64_t k = i - 1; k <= i; k++) count_pair(learner, unit, k, 1);
    }
}

/* Merges a pair wherever it stands, from left to right, which counts where its two symbols
 * are the same; returns the symbol that it becomes. */
static int64_t merge_pair(struct learner *learner, struct pair *pair)
{
    const char *const *text = learner->symbols.name;
    int64_t symbol = weft_names_find(
        &learner->symbols,
        weft_arena_text(learner->mem, "%s%s", text[pair->left], text[pair->right]));
    for (struct stand *stand = pair->stand; stand; stand = stand->next)
        merge_unit(learner, stand->unit, pair, symbol);
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
    widen_slots(&learner.pairs, 1, tmp);
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
