/* Packing documents: each is tokenized once by every tokenizer; a token becomes the number
 * of a word in an open-addressing table keyed by its 64-bit hash. At the end words are
 * renumbered by falling frequency, the same numbers in all parts. */
#include "pack.h"
#include "weft/base/random.h"

#include <stdlib.h>
#include <string.h>

#define FIRST_SLOTS ((int64_t)1 << 8)
#define LOWER_GROWTH                                                                       \
    2 /* bound on the bytes of a text in lower case: 1.5 occurs, 2 to 3 bytes */
#define HEAD 32

/* One cache line, since the time of a token is that of the lines it touches. */
struct word {
    uint64_t hash;
    int64_t count; /* occurrences in all parts; 0: an empty slot */
    int64_t at;    /* its text is text[at .. at + n) */
    uint32_t n;
    uint32_t id;     /* number by first occurrence */
    char head[HEAD]; /* the first bytes of its text */
};

struct weft_words {
    struct word *slot; /* [nslot] at most half are full */
    int64_t nslot;     /* a power of two */
    int64_t n;         /* words */
    char *text;
    int64_t ntext, text_room;
    weft_arena *mem;
};

/* ---- the table of words ---- */

static void double_slots(weft_words *words)
{
    const struct word *old = words->slot;
    int64_t n = words->nslot;
    words->nslot = n > 0 ? 2 * n : FIRST_SLOTS;
    words->slot = WEFT_NEW(words->mem, struct word, words->nslot);
    uint64_t mask = (uint64_t)words->nslot - 1;
    for (int64_t i = 0; i < n; i++) {
        if (old[i].count == 0) continue;
        uint64_t s = old[i].hash & mask;
        while (words->slot[s].count != 0) s = (s + 1) & mask;
        words->slot[s] = old[i];
    }
}

static struct word new_word(weft_words *words, uint64_t hash, const char *token, size_t n)
{
    weft_check(words->n < UINT32_MAX && n <= UINT32_MAX, "more than 2^32 words");
    struct word new = {
        .hash = hash, .at = words->ntext, .n = (uint32_t)n, .id = (uint32_t)words->n++};
    words->text = weft_regrow(words->mem, words->text, 1, words->ntext + (int64_t)n,
                              &words->text_room);
    memcpy(words->text + words->ntext, token, n);
    memcpy(new.head, token, n < HEAD ? n : HEAD);
    words->ntext += (int64_t)n;
    return new;
}

/* The number of the word, counted once more. */
static uint32_t find_word(weft_words *words, const char *token, size_t n)
{
    if (2 * (words->n + 1) > words->nslot) double_slots(words);
    uint64_t hash = weft_hash(token, n, 0), mask = (uint64_t)words->nslot - 1,
             s = hash & mask;
    for (; words->slot[s].count != 0; s = (s + 1) & mask) {
        const struct word *word = &words->slot[s];
        if (word->hash != hash || word->n != n) continue;
        if (memcmp(n <= HEAD ? word->head : words->text + word->at, token, n) == 0) break;
    }
    if (words->slot[s].count == 0) words->slot[s] = new_word(words, hash, token, n);
    words->slot[s].count++;
    return words->slot[s].id;
}

/* ---- documents ---- */

struct stream {
    weft_words *words;
    weft_pack_part *part;
    int tok;
    weft_arena *mem;
};

static void add_token(void *ctx, const char *token, size_t n)
{
    struct stream *stream = ctx;
    weft_pack_part *part = stream->part;
    int t = stream->tok;
    part->token[t] = weft_regrow(stream->mem, part->token[t], sizeof **part->token,
                                 part->ntoken[t], &part->token_room[t]);
    part->token[t][part->ntoken[t]++] = find_word(stream->words, token, n);
}

weft_status weft_pack_document(weft_pack *pack, weft_part part, const char *name,
                               const char *text, size_t n, int32_t label)
{
    weft_packing *own = pack->own;
    size_t good = weft_utf8_check(text, n);
    if (good < n)
        return weft_fail(
            WEFT_EDATA,
            "%s: byte %zu (0x%02x) is not UTF-8; convert the text or remove the byte", name,
            good, (unsigned)(unsigned char)text[good]);
    const char *nul = memchr(text, '\0', n);
    if (nul != NULL)
        return weft_fail(WEFT_EDATA, "%s: byte %zu is NUL; is this text in UTF-8?", name,
                         (size_t)(nul - text));
    own->layout.form = WEFT_TOKENS;
    weft_pack_part *to = &own->part[part];
    to->label = weft_regrow(pack->mem, to->label, sizeof label, to->n, &to->label_room);
    to->name = weft_regrow(pack->mem, to->name, sizeof name, to->n, &to->name_room);
    to->label[to->n] = label;
    to->name[to->n] = weft_arena_text(pack->mem, "%s", name);
    to->n++;
    for (int t = 0; t < WEFT_NTOK; t++) {
        if (own->words[t] == NULL) {
            own->words[t] = WEFT_NEW(pack->mem, weft_words, 1);
            own->words[t]->mem = pack->mem;
        }
        int only = own->over.tokenizer;
        WEFT_REWIND(pack->scratch);
        struct stream stream = {
            .words = own->words[t], .part = to, .tok = t, .mem = pack->mem};
        if (only == 0 || only == t + 1)
            weft_tokenize((weft_tokenizer)t, text, n, add_token, &stream, pack->scratch);
        to->offset[t] = weft_regrow(pack->mem, to->offset[t], sizeof **to->offset, to->n,
                                    &to->offset_room[t]);
        to->offset[t][to->n] = to->ntoken[t];
    }
    return WEFT_OK;
}

/* ---- the end ---- */

static int by_count(const void *a, const void *b)
{
    const struct word *x = a, *y = b;
    if (x->count != y->count) return x->count > y->count ? -1 : 1;
    return x->id < y->id ? -1 : x->id > y->id;
}

/* Sorts the words by falling count, the earlier first among equals, to the front of the
 * slots, which then are no hash table any more. to[old number] is the new. */
static uint32_t *sort_words(weft_words *words)
{
    uint32_t *to = WEFT_NEW(words->mem, uint32_t, words->n);
    int64_t n = 0;
    for (int64_t s = 0; s < words->nslot; s++)
        if (words->slot[s].count != 0) words->slot[n++] = words->slot[s];
    if (n > 0) qsort(words->slot, (size_t)n, sizeof *words->slot, by_count);
    for (int64_t i = 0; i < n; i++) to[words->slot[i].id] = (uint32_t)i;
    return to;
}

static const char *path(weft_pack *pack, const char *group, int tok, const char *what)
{
    return weft_arena_text(pack->mem, "/%s/%s/%s", group, weft_tok_name[tok], what);
}

static weft_status put_vocab(weft_pack *pack, const weft_words *words, int t)
{
    weft_arena *mem = pack->mem;
    uint64_t *hash = WEFT_NEW(mem, uint64_t, words->n),
             *lower = WEFT_NEW(mem, uint64_t, words->n);
    uint8_t *stop = WEFT_NEW(mem, uint8_t, words->n);
    int64_t *count = WEFT_NEW(mem, int64_t, words->n),
            *offset = WEFT_NEW(mem, int64_t, words->n + 1);
    char *text = WEFT_NEW(mem, char, words->ntext);
    for (int64_t i = 0; i < words->n; i++) {
        const struct word *from = &words->slot[i];
        const char *token = words->text + from->at;
        WEFT_REWIND(pack->scratch);
        size_t room = LOWER_GROWTH * from->n;
        char *low = WEFT_NEW(pack->scratch, char, room);
        size_t n = weft_lower(token, from->n, low, room);
        weft_check(n <= room, "lower case of %u bytes has %zu", (unsigned)from->n, n);
        lower[i] = weft_hash(low, n, 0);
        hash[i] = from->hash;
        stop[i] = weft_is_stop(token, from->n) != 0;
        count[i] = from->count;
        memcpy(text + offset[i], token, from->n);
        offset[i + 1] = offset[i] + from->n;
    }
    TRY(weft_pack_put(pack, path(pack, "vocab", t, "hash"), WEFT_H5_U64, words->n, hash,
                      "XXH3-64 of each token", "hash"));
    TRY(weft_pack_put(pack, path(pack, "vocab", t, "lower"), WEFT_H5_U64, words->n, lower,
                      "XXH3-64 of each token in lower case", "hash"));
    TRY(weft_pack_put(pack, path(pack, "vocab", t, "stop"), WEFT_H5_U8, words->n, stop,
                      "1: on the English stop list", "0 or 1"));
    TRY(weft_pack_put(pack, path(pack, "vocab", t, "count"), WEFT_H5_I64, words->n, count,
                      "occurrences in all parts", "tokens"));
    TRY(weft_pack_put(pack, path(pack, "vocab", t, "text"), WEFT_H5_U8, words->ntext, text,
                      "all tokens, one after another", "UTF-8 bytes"));
    return weft_pack_put(pack, path(pack, "vocab", t, "text_offset"), WEFT_H5_I64,
                         words->n + 1, offset, "token i is text[offset[i] .. offset[i+1])",
                         "bytes");
}

static weft_status put_tokens(weft_pack *pack, weft_part part, int t, const uint32_t *to)
{
    weft_pack_part *from = &pack->own->part[part];
    const char *group = weft_part_name[part];
    static const int64_t none[1] = {0};
    const int64_t *offset = from->offset[t] != NULL ? from->offset[t] : none;
    for (int64_t i = 0; i < from->ntoken[t]; i++) from->token[t][i] = to[from->token[t][i]];
    TRY(weft_pack_put(pack, path(pack, group, t, "offset"), WEFT_H5_I64, from->n + 1,
                      offset, "document i is token[offset[i] .. offset[i+1])", "tokens"));
    return weft_pack_put(pack, path(pack, group, t, "token"), WEFT_H5_U32, from->ntoken[t],
                         from->token[t], "numbers of the tokens by falling frequency",
                         "index into the vocabulary");
}

weft_status weft_pack_text_close(weft_pack *pack)
{
    weft_packing *own = pack->own;
    for (int t = 0; t < WEFT_NTOK; t++) {
        const uint32_t *to = sort_words(own->words[t]);
        TRY(put_vocab(pack, own->words[t], t));
        for (int i = 0; i < WEFT_NPART; i++) TRY(put_tokens(pack, (weft_part)i, t, to));
    }
    for (int i = 0; i < WEFT_NPART; i++)
        TRY(weft_h5_put_texts(&own->file, weft_pack_path(pack, i, "name"),
                              own->part[i].name, own->part[i].n,
                              "where each document comes from"));
    return WEFT_OK;
}
