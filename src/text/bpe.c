/* Texts as pieces, and back. */
#include "weft/bpe.h"
#include "bpe.h"

struct weft_bpe_index {
    weft_names names; /* texts of the pieces from WEFT_PIECE_BLANK on */
    int64_t *slot;    /* [mask + 1] open hash table: number + 1 of a merge; 0: free */
    uint64_t mask;
};

/* ---- the index ---- */

const uint8_t bpe_given_end[WEFT_PIECE_FIRST] = {3, 3, 3, 4};

/* Where the merge of two pieces is, or would be. */
static int64_t *slot_of(const weft_bpe *bpe, uint32_t left, uint32_t right)
{
    uint64_t at = ((uint64_t)left << 32 | right) * UINT64_C(0x9e3779b97f4a7c15);
    for (at >>= 16;; at++) {
        int64_t *slot = &bpe->own->slot[at & bpe->own->mask];
        if (*slot == 0) return slot;
        const uint32_t *merge = bpe->merge + 3 * (*slot - 1);
        if (merge[0] == left && merge[1] == right) return slot;
    }
}

/* 1: texts of whole characters follow one another, those that are not learnt as BPE_GIVEN
 * says. */
static int is_sound(const weft_bpe *bpe)
{
    const int64_t *offset = bpe->offset;
    int sound = bpe->n >= WEFT_PIECE_FIRST && bpe->n < INT32_MAX && offset[0] == 0;
    for (int64_t i = 0; i < bpe->n && sound; i++)
        sound = i >= WEFT_PIECE_FIRST ? offset[i + 1] > offset[i]
                                      : offset[i + 1] == (int64_t)bpe_given_end[i];
    for (int64_t i = 0; i < bpe->n && sound; i++) {
        size_t bytes = (size_t)(offset[i + 1] - offset[i]);
        sound = weft_utf8_check(bpe->text + offset[i], bytes) == bytes;
    }
    return sound && memcmp(bpe->text, BPE_GIVEN, strlen(BPE_GIVEN)) == 0;
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
    char symbol[BPE_SYMBOL];
    int64_t n = 0;
    while (*unit != '\0') {
        size_t bytes = bpe_symbol(unit, symbol);
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
static int64_t apply(const uint32_t *merge, uint32_t *piece, int64_t n)
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
        n = apply(bpe->merge + 3 * (found - 1), piece, n);
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
