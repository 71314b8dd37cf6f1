/* LEAF's JSON (Caldas et al., "LEAF: A benchmark for federated settings", 2018):
 *     {"users": [name ...], "num_samples": [n ...],
 *      "user_data": {name: {"x": [sample ...], "y": [label ...]} ...}}
 * in any order, other keys being skipped. A sample is a list of numbers, or one with a text
 * in it, with a number from 0 or a word as its label; or a text with the character that
 * follows. Files are read in pieces that
 * end with a brace, so that each piece ends one user at most, and only that user is in
 * memory. */
#include "leaf_json.h"
#include "reader.h"
#include "weft/magic.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define PIECE    (1 << 16)
#define MAX_WORD 512 /* characters of a number */
#define SHOWN    40  /* bytes of a text in a message */

/* ---- callbacks of the parser ---- */

/* 1 if the next value is to be skipped. */
static int skipped(const weft_leaf *leaf)
{
    if (leaf->in == LEAF_SKIP) return 1;
    if (leaf->in == LEAF_TOP)
        return strcmp(leaf->key, "users") != 0 && strcmp(leaf->key, "num_samples") != 0 &&
               strcmp(leaf->key, "user_data") != 0;
    return leaf->in == LEAF_USER && strcmp(leaf->key, "x") != 0 &&
           strcmp(leaf->key, "y") != 0;
}

static int descend(weft_leaf *leaf)
{
    if (leaf->in != LEAF_SKIP) {
        leaf->back = leaf->in;
        leaf->depth = 0;
    }
    leaf->in = LEAF_SKIP;
    leaf->depth++;
    return 1;
}

static int ascend(weft_leaf *leaf)
{
    if (--leaf->depth == 0) leaf->in = leaf->back;
    return 1;
}

static int on_null(void *ctx)
{
    weft_leaf *leaf = ctx;
    return skipped(leaf) || weft_leaf_unexpected(leaf, "null");
}

static int on_boolean(void *ctx, int value)
{
    weft_leaf *leaf = ctx;
    return skipped(leaf) || weft_leaf_unexpected(leaf, value ? "true" : "false");
}

static int on_number(void *ctx, const char *text, size_t n)
{
    weft_leaf *leaf = ctx;
    char word[MAX_WORD];
    if (skipped(leaf)) return 1;
    if (n >= sizeof word) n = sizeof word - 1; /* digits beyond these change nothing */
    memcpy(word, text, n);
    word[n] = '\0';
    double value = strtod(word, NULL);
    if (leaf->in == LEAF_ROW && weft_number_lost(word))
        return weft_leaf_unexpected(leaf, "a number of so many digits that none holds it");
    if (leaf->in == LEAF_ROW) return weft_leaf_value(leaf, value);
    if (leaf->in == LEAF_Y) return weft_leaf_label(leaf, value);
    if (leaf->in != LEAF_NUMBERS) return weft_leaf_unexpected(leaf, "a number");
    return weft_leaf_number(leaf, value);
}

static int on_string(void *ctx, const unsigned char *bytes, size_t n)
{
    weft_leaf *leaf = ctx;
    const char *text = (const char *)bytes;
    if (skipped(leaf)) return 1;
    if (leaf->in == LEAF_X) return weft_leaf_window(leaf, text, n);
    if (leaf->in == LEAF_Y) return weft_leaf_follows(leaf, text, n);
    if (leaf->in == LEAF_ROW) return weft_leaf_word(leaf, text, n);
    if (leaf->in != LEAF_USERS)
        return weft_leaf_unexpected(leaf,
                                    weft_arena_text(leaf->own, "the text '%.*s'",
                                                    (int)(n < SHOWN ? n : SHOWN), text));
    return weft_leaf_list(leaf, weft_arena_text(leaf->own, "%.*s", (int)n, text));
}

static int on_key(void *ctx, const unsigned char *bytes, size_t n)
{
    weft_leaf *leaf = ctx;
    if (leaf->in == LEAF_SKIP) return 1;
    if (leaf->in == LEAF_DATA)
        return weft_leaf_begin(
            leaf, weft_arena_text(leaf->own, "%.*s", (int)n, (const char *)bytes));
    snprintf(leaf->key, sizeof leaf->key, "%.*s", (int)(n < sizeof leaf->key ? n : 0),
             (const char *)bytes);
    return 1;
}

static int on_object(void *ctx)
{
    weft_leaf *leaf = ctx;
    if (leaf->in == LEAF_START)
        leaf->in = LEAF_TOP;
    else if (leaf->in == LEAF_TOP && strcmp(leaf->key, "user_data") == 0)
        leaf->in = LEAF_DATA;
    else if (leaf->in == LEAF_DATA)
        leaf->in = LEAF_USER;
    else
        return skipped(leaf) ? descend(leaf) : weft_leaf_unexpected(leaf, "an object");
    return 1;
}

static int on_object_end(void *ctx)
{
    weft_leaf *leaf = ctx;
    if (leaf->in == LEAF_SKIP) return ascend(leaf);
    if (leaf->in == LEAF_USER && !weft_leaf_end(leaf)) return 0;
    leaf->in = leaf->in == LEAF_USER   ? LEAF_DATA
               : leaf->in == LEAF_DATA ? LEAF_TOP
                                       : LEAF_END;
    return 1;
}

static int on_list(void *ctx)
{
    weft_leaf *leaf = ctx;
    if (skipped(leaf)) return descend(leaf);
    if (leaf->in == LEAF_TOP && strcmp(leaf->key, "user_data") != 0)
        leaf->in = strcmp(leaf->key, "users") == 0 ? LEAF_USERS : LEAF_NUMBERS;
    else if (leaf->in == LEAF_USER)
        leaf->in = strcmp(leaf->key, "x") == 0 ? LEAF_X : LEAF_Y;
    else if (leaf->in == LEAF_X)
        leaf->in = LEAF_ROW;
    else
        return weft_leaf_unexpected(leaf, "a list");
    return 1;
}

static int on_list_end(void *ctx)
{
    weft_leaf *leaf = ctx;
    if (leaf->in == LEAF_SKIP) return ascend(leaf);
    if (leaf->in == LEAF_ROW && !weft_leaf_row(leaf)) return 0;
    if (leaf->in == LEAF_ROW)
        leaf->in = LEAF_X;
    else
        leaf->in = leaf->in == LEAF_X || leaf->in == LEAF_Y ? LEAF_USER : LEAF_TOP;
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
    weft_leaf *leaf = WEFT_NEW(mem, weft_leaf, 1);
    *leaf = (weft_leaf){.path = path,
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
    return leaf;
}

static void close_file(weft_leaf *leaf)
{
    if (leaf->json != NULL) yajl_free(leaf->json);
    if (leaf->file != NULL) fclose(leaf->file);
    leaf->json = NULL;
    leaf->file = NULL;
}

void weft_leaf_close(weft_leaf *leaf)
{
    close_file(leaf);
    weft_arena_free(leaf->own);
    leaf->own = NULL;
}

void weft_leaf_sources(const weft_leaf *leaf, weft_pack *pack)
{
    for (int64_t i = 0; i < leaf->n; i++)
        weft_pack_source_sum(pack, leaf->path[i], leaf->sum[i], leaf->bytes[i]);
}

static weft_status open_file(weft_leaf *leaf)
{
    leaf->at++;
    leaf->file = fopen(leaf->path[leaf->at], "rb");
    if (leaf->file == NULL) return weft_unreadable(leaf->path[leaf->at]);
    leaf->sum[leaf->at] = weft_digest_new(leaf->mem);
    leaf->json = yajl_alloc(&callbacks, NULL, leaf);
    weft_check(leaf->json != NULL, "out of memory");
    leaf->in = LEAF_START;
    leaf->have = leaf->used = 0;
    leaf->parsed = 0;
    leaf->users = leaf->numbers = 0;
    leaf->older = leaf->names.n;
    return WEFT_OK;
}

/* What the parser says of text that is no JSON, on one line. */
static weft_status no_json(weft_leaf *leaf, yajl_status status)
{
    if (status == yajl_status_client_canceled) return leaf->st;
    unsigned char *said = yajl_get_error(leaf->json, 0, NULL, 0);
    const char *what = said != NULL ? (const char *)said : "unknown";
    weft_status st =
        weft_fail(WEFT_EDATA,
                  "%s: no JSON near byte %lld (%.*s); is the file whole, and free of NaN?",
                  weft_leaf_where(leaf),
                  (long long)(leaf->parsed + (int64_t)yajl_get_bytes_consumed(leaf->json)),
                  (int)strcspn(what, "\n"), what);
    yajl_free_error(leaf->json, said);
    return st;
}

/* Parses to the next brace, or what there is; *more is 0 at the end of the file. */
static weft_status feed(weft_leaf *leaf, int *more)
{
    if (leaf->used == leaf->have) {
        leaf->used = 0;
        leaf->have = fread(leaf->piece, 1, PIECE, leaf->file);
        if (ferror(leaf->file)) return weft_unreadable(leaf->path[leaf->at]);
        if (leaf->bytes[leaf->at] == 0)
            TRY(weft_text_only(leaf->path[leaf->at], (const char *)leaf->piece,
                               leaf->have));
        weft_digest_add(leaf->sum[leaf->at], leaf->piece, leaf->have);
        leaf->bytes[leaf->at] += (int64_t)leaf->have;
    }
    *more = leaf->have > 0;
    yajl_status status;
    if (leaf->have > 0) {
        const unsigned char *from = leaf->piece + leaf->used;
        const unsigned char *brace = memchr(from, '}', leaf->have - leaf->used);
        size_t n = brace != NULL ? (size_t)(brace - from) + 1 : leaf->have - leaf->used;
        status = yajl_parse(leaf->json, from, n);
        if (status == yajl_status_ok) leaf->parsed += (int64_t)n;
        leaf->used += n;
    } else {
        status = yajl_complete_parse(leaf->json);
    }
    return status == yajl_status_ok ? WEFT_OK : no_json(leaf, status);
}

weft_status weft_leaf_next(weft_leaf *leaf, const weft_leaf_user **user)
{
    *user = NULL;
    leaf->whole = 0;
    while (*user == NULL) {
        int more = 1;
        if (leaf->file == NULL && leaf->at + 1 == leaf->n) return WEFT_OK;
        if (leaf->file == NULL) TRY(open_file(leaf));
        TRY(feed(leaf, &more));
        if (leaf->whole) *user = &leaf->user;
        leaf->whole = 0;
        if (more) continue;
        TRY(weft_leaf_check(leaf));
        close_file(leaf);
    }
    return WEFT_OK;
}
