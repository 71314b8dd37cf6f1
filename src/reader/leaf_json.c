/* LEAF's JSON (Caldas et al., "LEAF: A benchmark for federated settings", 2018):
 *     {"users": [name ...], "num_samples": [n ...],
 *      "user_data": {name: {"x": [sample ...], "y": [label ...]} ...}}
 * in any order, other keys being skipped. A sample is a list of numbers, or one with a text
 * in it, with a number from 0 or a word as its label; or a text with the character that
 * follows. Files are read in pieces that end with a brace, so that each piece ends one user
 * at most, and only that user is in memory. */
#include "reader.h"
#include "weft/base/conf.h"
#include "weft/base/files.h"

#include <yajl/yajl_parse.h>

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Where in the file the parser is. */
typedef enum weft_leaf_place {
    LEAF_START,
    LEAF_TOP,
    LEAF_USERS,
    LEAF_NUMBERS,
    LEAF_DATA,
    LEAF_USER,
    LEAF_X,
    LEAF_ROW,
    LEAF_Y,
    LEAF_SKIP,
    LEAF_END
} weft_leaf_place;

/* What is known of a user; -1 where not seen. */
typedef struct weft_leaf_known {
    int64_t listed, found; /* place in "users" of its file, samples in user_data */
    const char *file;
} weft_leaf_known;

struct weft_leaf {
    const char *const *path; /* [n] */
    int64_t n, at;           /* at: the open file */
    int gapped;
    weft_leaf_form *form;
    weft_arena *mem, *own; /* own: the samples of the user */

    FILE *file;
    yajl_handle json;
    unsigned char *piece; /* of the file */
    size_t have, used;    /* bytes in it, of these already parsed */
    int64_t parsed;       /* bytes of the file */
    weft_digest **sum;    /* [n] of the bytes of each file that were read, */
    int64_t *bytes;       /* [n] and how many */

    weft_leaf_place in, back; /* back: after what is skipped */
    int64_t depth;            /* of what is skipped */
    char key[16];             /* of TOP or USER, shortened */

    weft_names names;
    weft_leaf_known *known;    /* [names.n] */
    int64_t known_room, older; /* older: names of the files before the open one */
    int64_t *order;            /* [users] of the open file: number of the name */
    int64_t users, order_room;
    int64_t *number; /* [numbers] of the open file: num_samples */
    int64_t numbers, number_room;

    weft_leaf_user user;
    int64_t who; /* number of the name of the user */
    double *x;
    int32_t *label;
    const char **document, *piece_text; /* [nx]; the text of the sample, or NULL */
    int64_t cells, document_room;       /* elements of the sample up to now */
    int wordy;                          /* 1: one of them is a text */
    uint8_t *text, *next;
    int64_t nx, nlabel, values, row; /* samples, labels, numbers or symbols, start of row */
    int64_t x_room, label_room, text_room, next_room;
    int texts_y, whole; /* whole: the user is complete */
    weft_status st;
};

/* ---- errors ---- */

/* "FILE: user 'NAME', x[3]" or the part of it that is known. */
static const char *where_is(const weft_leaf *leaf)
{
    const char *file = leaf->path[leaf->at], *text = file;
    if (leaf->in == LEAF_USERS || leaf->in == LEAF_NUMBERS)
        return weft_arena_text(
            leaf->mem, "%s: %s[%lld]", file,
            leaf->in == LEAF_USERS ? "users" : "num_samples",
            (long long)(leaf->in == LEAF_USERS ? leaf->users : leaf->numbers));
    if (leaf->in >= LEAF_USER && leaf->in <= LEAF_Y)
        text =
            weft_arena_text(leaf->mem, "%s: user '%s'", file, leaf->names.name[leaf->who]);
    if (leaf->in == LEAF_X || leaf->in == LEAF_ROW || leaf->in == LEAF_Y)
        text =
            weft_arena_text(leaf->mem, "%s, %s[%lld]", text, leaf->in == LEAF_Y ? "y" : "x",
                            (long long)(leaf->in == LEAF_Y ? leaf->nlabel : leaf->nx));
    return text;
}

/* Ends the parsing: what a callback returns. */
static int stop_parsing(weft_leaf *leaf, weft_status st)
{
    leaf->st = st;
    return 0;
}

/* What callbacks return: 1, or 0 after an error, which is in leaf->st. */
static int is_unexpected(weft_leaf *leaf, const char *what)
{
    static const char *const wanted[] = {
        [LEAF_START] = "an object with users, num_samples and user_data",
        [LEAF_TOP] = "lists users and num_samples and an object user_data",
        [LEAF_USERS] = "a name",
        [LEAF_NUMBERS] = "a number of samples",
        [LEAF_DATA] = "an object with x and y",
        [LEAF_USER] = "lists x and y",
        [LEAF_X] = "a list of numbers or a text",
        [LEAF_ROW] = "a number or a text",
        [LEAF_Y] = "a number or a character",
        [LEAF_SKIP] = "anything",
        [LEAF_END] = "the end of the file"};
    return stop_parsing(
        leaf, weft_fail(WEFT_EDATA, "%s is %s where %s is expected; is this LEAF's JSON?",
                        where_is(leaf), what, wanted[leaf->in]));
}

/* ---- users ---- */

static int64_t find_user(weft_leaf *leaf, const char *name)
{
    int64_t who = weft_names_find(&leaf->names, name);
    leaf->known =
        weft_grow(leaf->mem, leaf->known, sizeof *leaf->known, who, &leaf->known_room);
    weft_leaf_known *known = &leaf->known[who];
    if (known->file == NULL) *known = (weft_leaf_known){-1, -1, leaf->path[leaf->at]};
    return who;
}

static int is_twice(weft_leaf *leaf, int64_t who)
{
    return stop_parsing(leaf,
                        weft_fail(WEFT_EDATA,
                                  "%s: user '%s' stands twice, first in %s; make the users "
                                  "distinct",
                                  leaf->path[leaf->at], leaf->names.name[who],
                                  leaf->known[who].file));
}

static int list_user(weft_leaf *leaf, const char *name)
{
    int64_t who = find_user(leaf, name);
    if (leaf->known[who].listed >= 0) return is_twice(leaf, who);
    leaf->known[who].listed = leaf->users;
    leaf->order = weft_grow(leaf->mem, leaf->order, sizeof *leaf->order, leaf->users,
                            &leaf->order_room);
    leaf->order[leaf->users++] = who;
    return 1;
}

static int add_number(weft_leaf *leaf, double samples)
{
    double most = 0x1p53; /* doubles beyond are not all whole numbers */
    if (!(samples >= 0 && samples <= most && floor(samples) >= samples))
        return stop_parsing(
            leaf, weft_fail(WEFT_EDATA,
                            "%s: num_samples[%lld] is %g where a number of samples is "
                            "expected",
                            leaf->path[leaf->at], (long long)leaf->numbers, samples));
    leaf->number = weft_grow(leaf->mem, leaf->number, sizeof *leaf->number, leaf->numbers,
                             &leaf->number_room);
    leaf->number[leaf->numbers++] = (int64_t)samples;
    return 1;
}

static int begin_user(weft_leaf *leaf, const char *name)
{
    leaf->who = find_user(leaf, name);
    weft_leaf_known *known = &leaf->known[leaf->who];
    if (known->found >= 0 || known->file != leaf->path[leaf->at])
        return is_twice(leaf, leaf->who);
    weft_arena_reset(leaf->own, 0);
    leaf->x = NULL;
    leaf->label = NULL;
    leaf->text = leaf->next = NULL;
    leaf->x_room = leaf->label_room = leaf->text_room = leaf->next_room = 0;
    leaf->document = NULL;
    leaf->piece_text = NULL;
    leaf->document_room = leaf->cells = 0;
    leaf->wordy = 0;
    leaf->nx = leaf->nlabel = leaf->values = leaf->row = 0;
    return 1;
}

static int end_user(weft_leaf *leaf)
{
    if (leaf->nx != leaf->nlabel)
        return stop_parsing(
            leaf, weft_fail(WEFT_EDATA,
                            "%s has %lld samples in x and %lld in y; they must be as "
                            "many",
                            where_is(leaf), (long long)leaf->nx, (long long)leaf->nlabel));
    if (leaf->nx > 0 && leaf->texts_y != leaf->form->text)
        return stop_parsing(
            leaf, weft_fail(WEFT_EDATA,
                            "%s has %s in x and %s in y, where numbers go with numbers, "
                            "and a text with the character that follows",
                            where_is(leaf), leaf->form->text ? "texts" : "numbers",
                            leaf->texts_y ? "texts" : "numbers"));
    leaf->known[leaf->who].found = leaf->nx;
    leaf->user = (weft_leaf_user){.name = leaf->names.name[leaf->who],
                                  .file = leaf->path[leaf->at],
                                  .n = leaf->nx,
                                  .x = leaf->x,
                                  .document = leaf->document,
                                  .label = leaf->label,
                                  .text = leaf->text,
                                  .next = leaf->next};
    leaf->whole = 1;
    return 1;
}

/* The lists of the file and its users must agree. */
static weft_status check_lists(weft_leaf *leaf)
{
    const char *file = leaf->path[leaf->at];
    if (leaf->numbers != leaf->users)
        return weft_fail(WEFT_EDATA,
                         "%s lists %lld users and %lld num_samples; they must be as many",
                         file, (long long)leaf->users, (long long)leaf->numbers);
    for (int64_t i = 0; i < leaf->users; i++) {
        const weft_leaf_known *known = &leaf->known[leaf->order[i]];
        const char *name = leaf->names.name[leaf->order[i]];
        int64_t slip = leaf->gapped && leaf->form->text ? leaf->form->d - 1 : 0;
        if (known->found < 0)
            return weft_fail(WEFT_EDATA, "%s: users[%lld], '%s', is not in user_data", file,
                             (long long)i, name);
        if (leaf->number[i] != known->found && leaf->number[i] - known->found != slip)
            return weft_fail(
                WEFT_EDATA,
                "%s: users[%lld], '%s', has %lld samples where num_samples says "
                "%lld",
                file, (long long)i, name, (long long)known->found,
                (long long)leaf->number[i]);
    }
    for (int64_t who = leaf->older; who < leaf->names.n; who++)
        if (leaf->known[who].listed < 0 && leaf->known[who].found > 0)
            return weft_fail(WEFT_EDATA, "%s: user '%s' of user_data is not in users", file,
                             leaf->names.name[who]);
    return WEFT_OK;
}

/* ---- samples ---- */

/* The first sample of all says what samples are. */
static int check_sample(weft_leaf *leaf, int text, int64_t d)
{
    weft_leaf_form *form = leaf->form;
    if (form->d == 0 && d > 0) {
        form->d = d;
        form->text = text;
    }
    if (d == form->d && text == form->text && d > 0) return 1;
    return stop_parsing(
        leaf, weft_fail(WEFT_EDATA, "%s has %lld %s where %lld %s are expected",
                        where_is(leaf), (long long)d, text ? "characters" : "numbers",
                        (long long)(form->d > 0 ? form->d : 1),
                        form->text ? "characters" : "numbers"));
}

static int add_value(weft_leaf *leaf, double value)
{
    leaf->cells++;
    if (!isfinite((float)value))
        return stop_parsing(
            leaf, weft_fail(WEFT_EDATA, "%s[%lld] is %g where a finite number is expected",
                            where_is(leaf), (long long)(leaf->values - leaf->row), value));
    leaf->x = weft_grow(leaf->own, leaf->x, sizeof *leaf->x, leaf->values, &leaf->x_room);
    leaf->x[leaf->values++] = value;
    return 1;
}

static int add_word(weft_leaf *leaf, const char *text, size_t bytes)
{
    leaf->wordy = 1;
    if (leaf->cells++ == leaf->form->column)
        leaf->piece_text = weft_arena_text(leaf->own, "%.*s", (int)bytes, text);
    return 1;
}

/* Ends a sample that is a list with texts. */
static int end_document(weft_leaf *leaf)
{
    weft_leaf_form *form = leaf->form;
    if (form->d > 0 && (!form->documents || !leaf->wordy))
        return stop_parsing(leaf,
                            weft_fail(WEFT_EDATA, "%s has %s where %s are expected",
                                      where_is(leaf), leaf->wordy ? "texts" : "numbers",
                                      form->documents ? "texts" : "numbers"));
    if (!leaf->piece_text)
        return stop_parsing(leaf,
                            weft_fail(WEFT_EDATA,
                                      "%s has no text as element %lld of its %lld; text = "
                                      "NUMBER says which it is",
                                      where_is(leaf), (long long)form->column + 1,
                                      (long long)leaf->cells));
    form->documents = 1;
    form->d = 1;
    leaf->document = weft_grow(leaf->own, leaf->document, sizeof *leaf->document, leaf->nx,
                               &leaf->document_room);
    leaf->document[leaf->nx++] = leaf->piece_text;
    leaf->values = leaf->row;
    return 1;
}

static int end_row(weft_leaf *leaf)
{
    int document = leaf->wordy || leaf->form->documents;
    if (document ? !end_document(leaf) : !check_sample(leaf, 0, leaf->values - leaf->row))
        return 0;
    leaf->piece_text = NULL;
    leaf->cells = 0;
    leaf->wordy = 0;
    leaf->row = leaf->values;
    leaf->nx += !document;
    return 1;
}

/* Symbols of a text to the end of *to, of *n. Returns how many, -1 after an error. */
static int64_t add_text(weft_leaf *leaf, const char *text, size_t bytes, uint8_t **to,
                        int64_t n, int64_t *room)
{
    size_t bad;
    *to = weft_grow(leaf->own, *to, 1, n + (int64_t)bytes, room);
    int64_t count = weft_alphabet_map(&leaf->form->alphabet, text, bytes, *to + n, &bad);
    if (bad == bytes) return count;
    const char *rest = weft_arena_text(leaf->own, "%.*s", (int)(bytes - bad), text + bad);
    const char *place =
        weft_arena_text(leaf->own, "%s, character %lld,", where_is(leaf), (long long)count);
    leaf->st = weft_alphabet_fail(place, rest);
    return -1;
}

static int add_window(weft_leaf *leaf, const char *text, size_t bytes)
{
    int64_t d = add_text(leaf, text, bytes, &leaf->text, leaf->values, &leaf->text_room);
    if (d < 0 || !check_sample(leaf, 1, d)) return 0;
    leaf->values += d;
    leaf->nx++;
    return 1;
}

/* Adds a label, which is a number, or that of a word. */
static int add_label(weft_leaf *leaf, int32_t label, int labelled)
{
    if (leaf->form->labelled != WEFT_LEAF_OPEN && (int)leaf->form->labelled != labelled)
        return stop_parsing(
            leaf, weft_fail(WEFT_EDATA,
                            "%s is a %s, where labels before it are %s; write all "
                            "alike",
                            where_is(leaf), labelled == WEFT_LEAF_WORDS ? "word" : "number",
                            labelled == WEFT_LEAF_WORDS ? "numbers" : "words"));
    leaf->form->labelled = labelled;
    leaf->label = weft_grow(leaf->own, leaf->label, sizeof *leaf->label, leaf->nlabel,
                            &leaf->label_room);
    leaf->label[leaf->nlabel++] = label;
    leaf->texts_y = 0;
    return 1;
}

static int add_number_label(weft_leaf *leaf, double value)
{
    if (!(value >= 0 && value < WEFT_MAX_CLASSES && value == floor(value)))
        return stop_parsing(
            leaf, weft_fail(WEFT_EDATA, "%s is %g where a class 0, 1 ... %d is expected",
                            where_is(leaf), value, WEFT_MAX_CLASSES - 1));
    return add_label(leaf, (int32_t)value, WEFT_LEAF_NUMBERS);
}

/* A label that is a word, of rows or documents. */
static int add_word_label(weft_leaf *leaf, const char *text, size_t bytes)
{
    int32_t label;
    leaf->form->labels.path = where_is(leaf);
    leaf->st = weft_labels_find(&leaf->form->labels, 0, text, bytes, &label);
    return leaf->st == WEFT_OK ? add_label(leaf, label, WEFT_LEAF_WORDS) : 0;
}

static int add_follower(weft_leaf *leaf, const char *text, size_t bytes)
{
    if (leaf->form->d > 0 && !leaf->form->text) return add_word_label(leaf, text, bytes);
    int64_t n = add_text(leaf, text, bytes, &leaf->next, leaf->nlabel, &leaf->next_room);
    if (n < 0) return 0;
    if (n != 1)
        return stop_parsing(
            leaf, weft_fail(WEFT_EDATA,
                            "%s has %lld characters where the one that follows is "
                            "expected; words are labels where x stands before y",
                            where_is(leaf), (long long)n));
    leaf->nlabel++;
    leaf->texts_y = 1;
    return 1;
}

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
    return skipped(leaf) || is_unexpected(leaf, "null");
}

static int on_boolean(void *ctx, int value)
{
    weft_leaf *leaf = ctx;
    return skipped(leaf) || is_unexpected(leaf, value ? "true" : "false");
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
        return is_unexpected(leaf, "a number of so many digits that none holds it");
    if (leaf->in == LEAF_ROW) return add_value(leaf, value);
    if (leaf->in == LEAF_Y) return add_number_label(leaf, value);
    if (leaf->in != LEAF_NUMBERS) return is_unexpected(leaf, "a number");
    return add_number(leaf, value);
}

static int on_string(void *ctx, const unsigned char *bytes, size_t n)
{
    weft_leaf *leaf = ctx;
    const char *text = (const char *)bytes;
    if (skipped(leaf)) return 1;
    if (leaf->in == LEAF_X) return add_window(leaf, text, n);
    if (leaf->in == LEAF_Y) return add_follower(leaf, text, n);
    if (leaf->in == LEAF_ROW) return add_word(leaf, text, n);
    if (leaf->in != LEAF_USERS)
        return is_unexpected(leaf, weft_arena_text(leaf->own, "the text '%.*s'",
                                                   (int)(n < SHOWN ? n : SHOWN), text));
    return list_user(leaf, weft_arena_text(leaf->own, "%.*s", (int)n, text));
}

static int on_key(void *ctx, const unsigned char *bytes, size_t n)
{
    weft_leaf *leaf = ctx;
    if (leaf->in == LEAF_SKIP) return 1;
    if (leaf->in == LEAF_DATA)
        return begin_user(leaf,
                          weft_arena_text(leaf->own, "%.*s", (int)n, (const char *)bytes));
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
        return skipped(leaf) ? descend(leaf) : is_unexpected(leaf, "an object");
    return 1;
}

static int on_object_end(void *ctx)
{
    weft_leaf *leaf = ctx;
    if (leaf->in == LEAF_SKIP) return ascend(leaf);
    if (leaf->in == LEAF_USER && !end_user(leaf)) return 0;
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
        return is_unexpected(leaf, "a list");
    return 1;
}

static int on_list_end(void *ctx)
{
    weft_leaf *leaf = ctx;
    if (leaf->in == LEAF_SKIP) return ascend(leaf);
    if (leaf->in == LEAF_ROW && !end_row(leaf)) return 0;
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
                  where_is(leaf),
                  (long long)(leaf->parsed + (int64_t)yajl_get_bytes_consumed(leaf->json)),
                  (int)strcspn(what, "\n"), what);
    yajl_free_error(leaf->json, said);
    return st;
}

/* Parses to the next brace, or what there is; *more is 0 at the end of the file. */
static weft_status parse_piece(weft_leaf *leaf, int *more)
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
        TRY(parse_piece(leaf, &more));
        if (leaf->whole) *user = &leaf->user;
        leaf->whole = 0;
        if (more) continue;
        TRY(check_lists(leaf));
        close_file(leaf);
    }
    return WEFT_OK;
}
