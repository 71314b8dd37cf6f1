/* LEAF's JSON (Caldas et al., "LEAF: A benchmark for federated settings", 2018):
 *     {"users": [name ...], "num_samples": [n ...],
 *      "user_data": {name: {"x": [sample ...], "y": [label ...]} ...}}
 * in any order, other keys being skipped. A sample is a list of numbers with a number from
 * 0 as its label, or a text with the character that follows. Files are read in pieces that
 * end with a brace, so that each piece ends one user at most, and only that user is in
 * memory. */
#include "leaf_json.h"
#include "reader.h"

#include <stdlib.h>
#include <string.h>

#define PIECE    (1 << 16)
#define MAX_WORD 512 /* characters of a number */
#define SHOWN    40  /* bytes of a text in a message */

/* ---- callbacks of the parser ---- */

/* 1 if the next value is to be skipped. */
static int skipped(const weft_leaf *l)
{
    if (l->in == LEAF_SKIP) return 1;
    if (l->in == LEAF_TOP)
        return strcmp(l->key, "users") != 0 && strcmp(l->key, "num_samples") != 0 &&
               strcmp(l->key, "user_data") != 0;
    return l->in == LEAF_USER && strcmp(l->key, "x") != 0 && strcmp(l->key, "y") != 0;
}

static int descend(weft_leaf *l)
{
    if (l->in != LEAF_SKIP) {
        l->back = l->in;
        l->depth = 0;
    }
    l->in = LEAF_SKIP;
    l->depth++;
    return 1;
}

static int ascend(weft_leaf *l)
{
    if (--l->depth == 0) l->in = l->back;
    return 1;
}

static int on_null(void *ctx)
{
    weft_leaf *l = ctx;
    return skipped(l) || weft_leaf_unexpected(l, "null");
}

static int on_boolean(void *ctx, int value)
{
    weft_leaf *l = ctx;
    return skipped(l) || weft_leaf_unexpected(l, value ? "true" : "false");
}

static int on_number(void *ctx, const char *text, size_t n)
{
    weft_leaf *l = ctx;
    char word[MAX_WORD];
    if (skipped(l)) return 1;
    if (n >= sizeof word) n = sizeof word - 1; /* digits beyond these change nothing */
    memcpy(word, text, n);
    word[n] = '\0';
    double value = strtod(word, NULL);
    if (l->in == LEAF_ROW) return weft_leaf_value(l, value);
    if (l->in == LEAF_Y) return weft_leaf_label(l, value);
    if (l->in != LEAF_NUMBERS) return weft_leaf_unexpected(l, "a number");
    return weft_leaf_number(l, value);
}

static int on_string(void *ctx, const unsigned char *bytes, size_t n)
{
    weft_leaf *l = ctx;
    const char *text = (const char *)bytes;
    if (skipped(l)) return 1;
    if (l->in == LEAF_X) return weft_leaf_window(l, text, n);
    if (l->in == LEAF_Y) return weft_leaf_follows(l, text, n);
    if (l->in != LEAF_USERS)
        return weft_leaf_unexpected(l, weft_arena_text(l->own, "the text '%.*s'",
                                                       (int)(n < SHOWN ? n : SHOWN), text));
    return weft_leaf_list(l, weft_arena_text(l->own, "%.*s", (int)n, text));
}

static int on_key(void *ctx, const unsigned char *bytes, size_t n)
{
    weft_leaf *l = ctx;
    if (l->in == LEAF_SKIP) return 1;
    if (l->in == LEAF_DATA)
        return weft_leaf_begin(
            l, weft_arena_text(l->own, "%.*s", (int)n, (const char *)bytes));
    snprintf(l->key, sizeof l->key, "%.*s", (int)(n < sizeof l->key ? n : 0),
             (const char *)bytes);
    return 1;
}

static int on_object(void *ctx)
{
    weft_leaf *l = ctx;
    if (l->in == LEAF_START)
        l->in = LEAF_TOP;
    else if (l->in == LEAF_TOP && strcmp(l->key, "user_data") == 0)
        l->in = LEAF_DATA;
    else if (l->in == LEAF_DATA)
        l->in = LEAF_USER;
    else
        return skipped(l) ? descend(l) : weft_leaf_unexpected(l, "an object");
    return 1;
}

static int on_object_end(void *ctx)
{
    weft_leaf *l = ctx;
    if (l->in == LEAF_SKIP) return ascend(l);
    if (l->in == LEAF_USER && !weft_leaf_end(l)) return 0;
    l->in = l->in == LEAF_USER ? LEAF_DATA : l->in == LEAF_DATA ? LEAF_TOP : LEAF_END;
    return 1;
}

static int on_list(void *ctx)
{
    weft_leaf *l = ctx;
    if (skipped(l)) return descend(l);
    if (l->in == LEAF_TOP && strcmp(l->key, "user_data") != 0)
        l->in = strcmp(l->key, "users") == 0 ? LEAF_USERS : LEAF_NUMBERS;
    else if (l->in == LEAF_USER)
        l->in = strcmp(l->key, "x") == 0 ? LEAF_X : LEAF_Y;
    else if (l->in == LEAF_X)
        l->in = LEAF_ROW;
    else
        return weft_leaf_unexpected(l, "a list");
    return 1;
}

static int on_list_end(void *ctx)
{
    weft_leaf *l = ctx;
    if (l->in == LEAF_SKIP) return ascend(l);
    if (l->in == LEAF_ROW && !weft_leaf_row(l)) return 0;
    if (l->in == LEAF_ROW)
        l->in = LEAF_X;
    else
        l->in = l->in == LEAF_X || l->in == LEAF_Y ? LEAF_USER : LEAF_TOP;
    return 1;
}

static const yajl_callbacks callbacks = {.yajl_null = on_null,
                                         .yajl_boolean = on_boolean,
                                         .yajl_number = on_number,
                                         .yajl_string = on_string,
                                         .yajl_start_map = on_object,
                                         .yajl_map_key = on_key,
                                         .yajl_end_map = on_object_end,
                                         .yajl_start_array = on_list,
                                         .yajl_end_array = on_list_end};

/* ---- files ---- */

weft_leaf *weft_leaf_open(const char *const *path, int64_t n, int gapped,
                          weft_leaf_form *form, weft_arena *mem)
{
    weft_leaf *l = WEFT_NEW(mem, weft_leaf, 1);
    *l = (weft_leaf){.path = path,
                     .n = n,
                     .at = -1,
                     .gapped = gapped,
                     .form = form,
                     .mem = mem,
                     .own = weft_arena_new(),
                     .piece = WEFT_NEW(mem, unsigned char, PIECE),
                     .sum = WEFT_NEW(mem, weft_digest *, n),
                     .bytes = WEFT_NEW(mem, int64_t, n),
                     .names = {.mem = mem}};
    return l;
}

static void close_file(weft_leaf *l)
{
    if (l->json != NULL) yajl_free(l->json);
    if (l->file != NULL) fclose(l->file);
    l->json = NULL;
    l->file = NULL;
}

void weft_leaf_close(weft_leaf *l)
{
    close_file(l);
    weft_arena_free(l->own);
    l->own = NULL;
}

void weft_leaf_sources(const weft_leaf *l, weft_pack *p)
{
    for (int64_t i = 0; i < l->n; i++)
        weft_pack_source_sum(p, l->path[i], l->sum[i], l->bytes[i]);
}

static weft_status open_file(weft_leaf *l)
{
    l->at++;
    l->file = fopen(l->path[l->at], "rb");
    if (l->file == NULL) return weft_unreadable(l->path[l->at]);
    l->sum[l->at] = weft_digest_new(l->mem);
    l->json = yajl_alloc(&callbacks, NULL, l);
    weft_check(l->json != NULL, "out of memory");
    l->in = LEAF_START;
    l->have = l->used = 0;
    l->parsed = 0;
    l->users = l->numbers = 0;
    l->older = l->names.n;
    return WEFT_OK;
}

/* What the parser says of text that is no JSON, on one line. */
static weft_status no_json(weft_leaf *l, yajl_status status)
{
    if (status == yajl_status_client_canceled) return l->st;
    unsigned char *said = yajl_get_error(l->json, 0, NULL, 0);
    const char *what = said != NULL ? (const char *)said : "unknown";
    weft_status st =
        weft_fail(WEFT_EDATA,
                  "%s: no JSON near byte %lld (%.*s); is the file whole, and free of NaN?",
                  weft_leaf_where(l),
                  (long long)(l->parsed + (int64_t)yajl_get_bytes_consumed(l->json)),
                  (int)strcspn(what, "\n"), what);
    yajl_free_error(l->json, said);
    return st;
}

/* Parses to the next brace, or what there is; *more is 0 at the end of the file. */
static weft_status feed(weft_leaf *l, int *more)
{
    if (l->used == l->have) {
        l->used = 0;
        l->have = fread(l->piece, 1, PIECE, l->file);
        if (ferror(l->file)) return weft_unreadable(l->path[l->at]);
        if (l->bytes[l->at] == 0)
            TRY(weft_text_only(l->path[l->at], (const char *)l->piece, l->have));
        weft_digest_add(l->sum[l->at], l->piece, l->have);
        l->bytes[l->at] += (int64_t)l->have;
    }
    *more = l->have > 0;
    yajl_status status;
    if (l->have > 0) {
        const unsigned char *from = l->piece + l->used;
        const unsigned char *brace = memchr(from, '}', l->have - l->used);
        size_t n = brace != NULL ? (size_t)(brace - from) + 1 : l->have - l->used;
        status = yajl_parse(l->json, from, n);
        if (status == yajl_status_ok) l->parsed += (int64_t)n;
        l->used += n;
    } else {
        status = yajl_complete_parse(l->json);
    }
    return status == yajl_status_ok ? WEFT_OK : no_json(l, status);
}

weft_status weft_leaf_next(weft_leaf *l, const weft_leaf_user **user)
{
    *user = NULL;
    l->whole = 0;
    while (*user == NULL) {
        int more = 1;
        if (l->file == NULL && l->at + 1 == l->n) return WEFT_OK;
        if (l->file == NULL) TRY(open_file(l));
        TRY(feed(l, &more));
        if (l->whole) *user = &l->user;
        l->whole = 0;
        if (more) continue;
        TRY(weft_leaf_check(l));
        close_file(l);
    }
    return WEFT_OK;
}
