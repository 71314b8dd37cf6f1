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
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Where in the file the parser is. */
typedef enum leaf_place {
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
} leaf_place;

/* Which objects and lists lead where; others under a key are skipped. */
static const struct step {
    leaf_place from;
    const char *key; /* NULL: any, or none */
    int list;
    leaf_place to;
} steps[] = {
    {LEAF_START, NULL, 0, LEAF_TOP},
    {LEAF_TOP, "users", 1, LEAF_USERS},
    {LEAF_TOP, "num_samples", 1, LEAF_NUMBERS},
    {LEAF_TOP, "user_data", 0, LEAF_DATA},
    {LEAF_DATA, NULL, 0, LEAF_USER},
    {LEAF_USER, "x", 1, LEAF_X},
    {LEAF_USER, "y", 1, LEAF_Y},
    {LEAF_X, NULL, 1, LEAF_ROW},
};
enum { STEPS = sizeof steps / sizeof *steps };

/* What is known of a user; -1 where not seen. */
typedef struct leaf_known {
    int64_t listed, found; /* place in "users" of its file, samples in user_data */
    const char *file;
} leaf_known;

/* The samples of a user, as far as they are read. */
struct reading {
    weft_leaf_user user;
    int64_t labels, values;   /* labels; numbers or symbols of samples */
    int texts;                /* 1: the last label is a text that follows */
    struct {                  /* the sample that is a list */
        int64_t first, cells; /* its first value; elements up to now */
        int wordy;            /* 1: one of them is a text */
        const char *text;     /* the one that is its text, or NULL */
    } row;
    int64_t x_room, label_room, text_room, next_room, document_room;
};

struct weft_leaf {
    const char *const *path; /* [n] */
    int64_t n, at;           /* at: the open file */
    int gapped;
    weft_leaf_form *form;
    weft_arena *mem, *own; /* own: the samples of the user */
    struct {
        FILE *file;
        yajl_handle json;
        unsigned char *piece; /* of the file */
        size_t have, used;    /* bytes in it, of these already parsed */
        int64_t parsed;       /* bytes of the file */
    } in;
    leaf_place place, back; /* back: after what is skipped */
    int64_t depth;          /* of what is skipped */
    char key[16];           /* of TOP or USER, shortened */
    struct {
        weft_names name;
        leaf_known *known;   /* [name.n] */
        int64_t room, older; /* older: names of the files before the open one */
        int64_t listed;      /* by the open file */
        int64_t *number;     /* [numbers] of the open file: num_samples */
        int64_t numbers, number_room;
    } users;
    int64_t who; /* number of the name of the user */
    int whole;   /* the user is complete */
    struct reading read;
    weft_status st;
};

/* ---- errors ---- */

/* "FILE: user 'NAME', x[3]" or the part of it that is known. */
static const char *where_is(const weft_leaf *leaf)
{
    static const char *const list[] = {
        [LEAF_USERS] = "users", [LEAF_NUMBERS] = "num_samples",
        [LEAF_X] = "x",         [LEAF_ROW] = "x",
        [LEAF_Y] = "y",         [LEAF_END] = NULL};
    const int64_t place[] = {[LEAF_USERS] = leaf->users.listed,
                             [LEAF_NUMBERS] = leaf->users.numbers,
                             [LEAF_X] = leaf->read.user.n,
                             [LEAF_ROW] = leaf->read.user.n,
                             [LEAF_Y] = leaf->read.labels};
    const char *file = leaf->path[leaf->at], *user = "";
    if (leaf->place >= LEAF_USER && leaf->place <= LEAF_Y)
        user = weft_arena_text(leaf->mem, " user '%s'", leaf->users.name.name[leaf->who]);
    if (!list[leaf->place])
        return weft_arena_text(leaf->mem, "%s%s%s", file, *user ? ":" : "", user);
    return weft_arena_text(leaf->mem, "%s:%s%s %s[%lld]", file, user, *user ? "," : "",
                           list[leaf->place], (long long)place[leaf->place]);
}

/* Ends the parsing by the EDATA "<where><text>": what a callback returns. */
static int WEFT_PRINTF(2, 3) refuse(weft_leaf *leaf, const char *fmt, ...)
{
    char text[512];
    va_list args;
    va_start(args, fmt);
    vsnprintf(text, sizeof text, fmt, args);
    va_end(args);
    leaf->st = weft_fail(WEFT_EDATA, "%s%s", where_is(leaf), text);
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
        [LEAF_Y] = "a number or a character"};
    return refuse(leaf, " is %s where %s is expected; is this LEAF's JSON?", what,
                  wanted[leaf->place]);
}

/* ---- users ---- */

static int64_t find_user(weft_leaf *leaf, const char *name)
{
    int64_t who = weft_names_find(&leaf->users.name, name);
    leaf->users.known = weft_grow(leaf->mem, leaf->users.known, sizeof *leaf->users.known,
                                  who, &leaf->users.room);
    leaf_known *known = &leaf->users.known[who];
    if (known->file == NULL) *known = (leaf_known){-1, -1, leaf->path[leaf->at]};
    return who;
}

static int is_twice(weft_leaf *leaf, int64_t who)
{
    leaf->st = weft_fail(
        WEFT_EDATA, "%s: user '%s' stands twice, first in %s; make the users distinct",
        leaf->path[leaf->at], leaf->users.name.name[who], leaf->users.known[who].file);
    return 0;
}

static int list_user(weft_leaf *leaf, const char *name)
{
    int64_t who = find_user(leaf, name);
    if (leaf->users.known[who].listed >= 0) return is_twice(leaf, who);
    leaf->users.known[who].listed = leaf->users.listed++;
    return 1;
}

static int add_number(weft_leaf *leaf, double samples)
{
    double most = 0x1p53; /* doubles beyond are not all whole numbers */
    if (!(samples >= 0 && samples <= most && floor(samples) >= samples))
        return refuse(leaf, " is %g where a number of samples is expected", samples);
    leaf->users.number = weft_grow(leaf->mem, leaf->users.number, sizeof(int64_t),
                                   leaf->users.numbers, &leaf->users.number_room);
    leaf->users.number[leaf->users.numbers++] = (int64_t)samples;
    return 1;
}

static int begin_user(weft_leaf *leaf, const char *name)
{
    leaf->who = find_user(leaf, name);
    const leaf_known *known = &leaf->users.known[leaf->who];
    if (known->found >= 0 || known->file != leaf->path[leaf->at])
        return is_twice(leaf, leaf->who);
    weft_arena_reset(leaf->own, 0);
    leaf->read = (struct reading){
        .user = {.name = leaf->users.name.name[leaf->who], .file = leaf->path[leaf->at]}};
    return 1;
}

static int end_user(weft_leaf *leaf)
{
    const struct reading *read = &leaf->read;
    int64_t n = read->user.n;
    if (n != read->labels)
        return refuse(leaf, " has %lld samples in x and %lld in y; they must be as many",
                      (long long)n, (long long)read->labels);
    if (n > 0 && read->texts != leaf->form->text)
        return refuse(leaf,
                      " has %s in x and %s in y, where numbers go with numbers, and a text "
                      "with the character that follows",
                      leaf->form->text ? "texts" : "numbers",
                      read->texts ? "texts" : "numbers");
    leaf->users.known[leaf->who].found = n;
    leaf->whole = 1;
    return 1;
}

/* What is listed of a user must agree with its samples. */
static weft_status check_user(const weft_leaf *leaf, int64_t who)
{
    const leaf_known *known = &leaf->users.known[who];
    const char *file = known->file, *name = leaf->users.name.name[who];
    int64_t slip = leaf->gapped && leaf->form->text ? leaf->form->d - 1 : 0;
    if (known->listed < 0)
        return known->found <= 0
                   ? WEFT_OK
                   : weft_fail(WEFT_EDATA, "%s: user '%s' of user_data is not in users",
                               file, name);
    if (known->found < 0)
        return weft_fail(WEFT_EDATA, "%s: users[%lld], '%s', is not in user_data", file,
                         (long long)known->listed, name);
    int64_t more = leaf->users.number[known->listed] - known->found;
    if (more == 0 || more == slip) return WEFT_OK;
    return weft_fail(WEFT_EDATA,
                     "%s: users[%lld], '%s', has %lld samples where num_samples says %lld",
                     file, (long long)known->listed, name, (long long)known->found,
                     (long long)(known->found + more));
}

/* The lists of the file and its users must agree. */
static weft_status check_lists(const weft_leaf *leaf)
{
    if (leaf->users.numbers != leaf->users.listed)
        return weft_fail(WEFT_EDATA,
                         "%s lists %lld users and %lld num_samples; they must be as many",
                         leaf->path[leaf->at], (long long)leaf->users.listed,
                         (long long)leaf->users.numbers);
    for (int64_t who = leaf->users.older; who < leaf->users.name.n; who++)
        TRY(check_user(leaf, who));
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
    return refuse(leaf, " has %lld %s where %lld %s are expected", (long long)d,
                  text ? "characters" : "numbers", (long long)(form->d > 0 ? form->d : 1),
                  form->text ? "characters" : "numbers");
}

static int add_value(weft_leaf *leaf, double value)
{
    struct reading *read = &leaf->read;
    read->row.cells++;
    if (!isfinite((float)value))
        return refuse(leaf, "[%lld] is %g where a finite number is expected",
                      (long long)(read->values - read->row.first), value);
    read->user.x =
        weft_grow(leaf->own, read->user.x, sizeof value, read->values, &read->x_room);
    read->user.x[read->values++] = value;
    return 1;
}

static int add_word(weft_leaf *leaf, const char *text, size_t bytes)
{
    leaf->read.row.wordy = 1;
    if (leaf->read.row.cells++ == leaf->form->column)
        leaf->read.row.text = weft_arena_text(leaf->own, "%.*s", (int)bytes, text);
    return 1;
}

/* Ends a sample that is a list with texts. */
static int end_document(weft_leaf *leaf)
{
    weft_leaf_form *form = leaf->form;
    struct reading *read = &leaf->read;
    if (form->d > 0 && (!form->documents || !read->row.wordy))
        return refuse(leaf, " has %s where %s are expected",
                      read->row.wordy ? "texts" : "numbers",
                      form->documents ? "texts" : "numbers");
    if (!read->row.text)
        return refuse(
            leaf,
            " has no text as element %lld of its %lld; text = NUMBER says which it is",
            (long long)form->column + 1, (long long)read->row.cells);
    form->documents = 1;
    form->d = 1;
    read->user.document = weft_grow(leaf->own, read->user.document, sizeof(char *),
                                    read->user.n, &read->document_room);
    read->user.document[read->user.n] = read->row.text;
    read->values = read->row.first;
    return 1;
}

static int end_row(weft_leaf *leaf)
{
    struct reading *read = &leaf->read;
    int document = read->row.wordy || leaf->form->documents;
    if (document ? !end_document(leaf)
                 : !check_sample(leaf, 0, read->values - read->row.first))
        return 0;
    memset(&read->row, 0, sizeof read->row);
    read->row.first = read->values;
    read->user.n++;
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
    struct reading *read = &leaf->read;
    int64_t d =
        add_text(leaf, text, bytes, &read->user.text, read->values, &read->text_room);
    if (d < 0 || !check_sample(leaf, 1, d)) return 0;
    read->values += d;
    read->user.n++;
    return 1;
}

/* Adds a label, which is a number, or that of a word. */
static int add_label(weft_leaf *leaf, int32_t label, int labelled)
{
    struct reading *read = &leaf->read;
    if (leaf->form->labelled != WEFT_LEAF_OPEN && (int)leaf->form->labelled != labelled)
        return refuse(leaf, " is a %s, where labels before it are %s; write all alike",
                      labelled == WEFT_LEAF_WORDS ? "word" : "number",
                      labelled == WEFT_LEAF_WORDS ? "numbers" : "words");
    leaf->form->labelled = labelled;
    read->user.label = weft_grow(leaf->own, read->user.label, sizeof label, read->labels,
                                 &read->label_room);
    read->user.label[read->labels++] = label;
    read->texts = 0;
    return 1;
}

static int add_number_label(weft_leaf *leaf, double value)
{
    if (!(value >= 0 && value < WEFT_MAX_CLASSES && value == floor(value)))
        return refuse(leaf, " is %g where a class 0, 1 ... %d is expected", value,
                      WEFT_MAX_CLASSES - 1);
    return add_label(leaf, (int32_t)value, WEFT_LEAF_NUMBERS);
}

/* A label that is a word, of rows or documents; or the character that follows a window. */
static int add_text_label(weft_leaf *leaf, const char *text, size_t bytes)
{
    struct reading *read = &leaf->read;
    int32_t label;
    if (leaf->form->d > 0 && !leaf->form->text) {
        leaf->form->labels.path = where_is(leaf);
        leaf->st = weft_labels_find(&leaf->form->labels, 0, text, bytes, &label);
        return leaf->st == WEFT_OK ? add_label(leaf, label, WEFT_LEAF_WORDS) : 0;
    }
    int64_t n =
        add_text(leaf, text, bytes, &read->user.next, read->labels, &read->next_room);
    if (n < 0) return 0;
    if (n != 1)
        return refuse(leaf,
                      " has %lld characters where the one that follows is expected; words "
                      "are labels where x stands before y",
                      (long long)n);
    read->labels++;
    read->texts = 1;
    return 1;
}

#define PIECE    (1 << 16)
#define MAX_WORD 512 /* characters of a number */
#define SHOWN    40  /* bytes of a text in a message */

/* ---- callbacks of the parser ---- */

/* 1 if the next value is to be skipped: it is under another key. */
static int skipped(const weft_leaf *leaf)
{
    int keyed = 0;
    if (leaf->place == LEAF_SKIP) return 1;
    for (int i = 0; i < STEPS; i++) {
        if (steps[i].from != leaf->place || !steps[i].key) continue;
        if (strcmp(steps[i].key, leaf->key) == 0) return 0;
        keyed = 1;
    }
    return keyed;
}

/* An object or a list begins. */
static int enter(weft_leaf *leaf, int list)
{
    if (skipped(leaf)) {
        if (leaf->place != LEAF_SKIP) leaf->back = leaf->place;
        leaf->place = LEAF_SKIP;
        leaf->depth++;
        return 1;
    }
    for (int i = 0; i < STEPS; i++) {
        const struct step *step = &steps[i];
        if (step->from != leaf->place || step->list != list) continue;
        if (step->key && strcmp(step->key, leaf->key) != 0) continue;
        leaf->place = step->to;
        return 1;
    }
    return is_unexpected(leaf, list ? "a list" : "an object");
}

/* It ends. */
static int leave(void *ctx)
{
    weft_leaf *leaf = ctx;
    if (leaf->place == LEAF_SKIP) {
        if (--leaf->depth == 0) leaf->place = leaf->back;
        return 1;
    }
    if (leaf->place == LEAF_ROW && !end_row(leaf)) return 0;
    if (leaf->place == LEAF_USER && !end_user(leaf)) return 0;
    int i = 0;
    while (steps[i].to != leaf->place) i++;
    leaf->place = i > 0 ? steps[i].from : LEAF_END;
    return 1;
}

static int on_object(void *ctx)
{
    return enter(ctx, 0);
}

static int on_list(void *ctx)
{
    return enter(ctx, 1);
}

static int on_null(void *ctx)
{
    return skipped(ctx) || is_unexpected(ctx, "null");
}

static int on_boolean(void *ctx, int value)
{
    return skipped(ctx) || is_unexpected(ctx, value ? "true" : "false");
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
    switch (leaf->place) {
    case LEAF_ROW:
        if (!weft_number_lost(word)) return add_value(leaf, value);
        return is_unexpected(leaf, "a number of so many digits that none holds it");
    case LEAF_Y: return add_number_label(leaf, value);
    case LEAF_NUMBERS: return add_number(leaf, value);
    default: return is_unexpected(leaf, "a number");
    }
}

static int on_string(void *ctx, const unsigned char *bytes, size_t n)
{
    weft_leaf *leaf = ctx;
    const char *text = (const char *)bytes;
    if (skipped(leaf)) return 1;
    switch (leaf->place) {
    case LEAF_X: return add_window(leaf, text, n);
    case LEAF_Y: return add_text_label(leaf, text, n);
    case LEAF_ROW: return add_word(leaf, text, n);
    case LEAF_USERS:
        return list_user(leaf, weft_arena_text(leaf->own, "%.*s", (int)n, text));
    default:
        return is_unexpected(leaf, weft_arena_text(leaf->own, "the text '%.*s'",
                                                   (int)(n < SHOWN ? n : SHOWN), text));
    }
}

static int on_key(void *ctx, const unsigned char *bytes, size_t n)
{
    weft_leaf *leaf = ctx;
    const char *text = (const char *)bytes;
    if (leaf->place == LEAF_SKIP) return 1;
    if (leaf->place == LEAF_DATA)
        return begin_user(leaf, weft_arena_text(leaf->own, "%.*s", (int)n, text));
    snprintf(leaf->key, sizeof leaf->key, "%.*s", (int)(n < sizeof leaf->key ? n : 0),
             text);
    return 1;
}

static const yajl_callbacks callbacks = {.yajl_null = on_null,
                                         .yajl_boolean = on_boolean,
                                         .yajl_number = on_number,
                                         .yajl_string = on_string,
                                         .yajl_start_map = on_object,
                                         .yajl_map_key = on_key,
                                         .yajl_end_map = leave,
                                         .yajl_start_array = on_list,
                                         .yajl_end_array = leave};

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
                        .in.piece = WEFT_NEW(mem, unsigned char, PIECE),
                        .users.name.mem = mem};
    return leaf;
}

static void close_file(weft_leaf *leaf)
{
    if (leaf->in.json != NULL) yajl_free(leaf->in.json);
    if (leaf->in.file != NULL) fclose(leaf->in.file);
    leaf->in.json = NULL;
    leaf->in.file = NULL;
}

void weft_leaf_close(weft_leaf *leaf)
{
    close_file(leaf);
    weft_arena_free(leaf->own);
    leaf->own = NULL;
}

static weft_status open_file(weft_leaf *leaf)
{
    leaf->at++;
    leaf->in.file = fopen(leaf->path[leaf->at], "rb");
    if (leaf->in.file == NULL) return weft_unreadable(leaf->path[leaf->at]);
    leaf->in.json = yajl_alloc(&callbacks, NULL, leaf);
    weft_check(leaf->in.json != NULL, "out of memory");
    leaf->place = LEAF_START;
    leaf->in.have = leaf->in.used = 0;
    leaf->in.parsed = 0;
    leaf->users.listed = leaf->users.numbers = 0;
    leaf->users.older = leaf->users.name.n;
    return WEFT_OK;
}

/* What the parser says of text that is no JSON, on one line. */
static weft_status no_json(weft_leaf *leaf, yajl_status status)
{
    if (status == yajl_status_client_canceled) return leaf->st;
    yajl_handle json = leaf->in.json;
    unsigned char *said = yajl_get_error(json, 0, NULL, 0);
    const char *what = said != NULL ? (const char *)said : "unknown";
    weft_status st =
        weft_fail(WEFT_EDATA,
                  "%s: no JSON near byte %lld (%.*s); is the file whole, and free of NaN?",
                  where_is(leaf),
                  (long long)(leaf->in.parsed + (int64_t)yajl_get_bytes_consumed(json)),
                  (int)strcspn(what, "\n"), what);
    yajl_free_error(json, said);
    return st;
}

/* Parses to the next brace, or what there is; *more is 0 at the end of the file. */
static weft_status parse_piece(weft_leaf *leaf, int *more)
{
    const char *path = leaf->path[leaf->at];
    if (leaf->in.used == leaf->in.have) {
        leaf->in.used = 0;
        leaf->in.have = fread(leaf->in.piece, 1, PIECE, leaf->in.file);
        if (ferror(leaf->in.file)) return weft_unreadable(path);
        if (leaf->in.parsed == 0)
            TRY(weft_text_only(path, (const char *)leaf->in.piece, leaf->in.have));
    }
    *more = leaf->in.have > 0;
    yajl_status status;
    if (*more) {
        const unsigned char *from = leaf->in.piece + leaf->in.used;
        size_t left = leaf->in.have - leaf->in.used;
        const unsigned char *brace = memchr(from, '}', left);
        size_t n = brace != NULL ? (size_t)(brace - from) + 1 : left;
        status = yajl_parse(leaf->in.json, from, n);
        if (status == yajl_status_ok) leaf->in.parsed += (int64_t)n;
        leaf->in.used += n;
    } else {
        status = yajl_complete_parse(leaf->in.json);
    }
    return status == yajl_status_ok ? WEFT_OK : no_json(leaf, status);
}

weft_status weft_leaf_next(weft_leaf *leaf, const weft_leaf_user **user)
{
    *user = NULL;
    leaf->whole = 0;
    while (!leaf->whole) {
        int more = 1;
        if (leaf->in.file == NULL && leaf->at + 1 == leaf->n) return WEFT_OK;
        if (leaf->in.file == NULL) TRY(open_file(leaf));
        TRY(parse_piece(leaf, &more));
        if (more) continue;
        TRY(check_lists(leaf));
        close_file(leaf);
    }
    *user = &leaf->read.user;
    return WEFT_OK;
}
