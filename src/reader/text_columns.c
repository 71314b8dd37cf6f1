/* Columns of files of texts: which is the label, which are the text, which the client. */
#include "text_csv.h"
#include "weft/log.h"

#include <stdlib.h>
#include <string.h>

/* The first line while columns are looked for. */
struct head {
    const char *path;
    const weft_text_named *how;
    const char *const *field; /* [n] */
    int64_t n;
    int named;  /* 1: it has names */
    int scored; /* 1: of texts to be scored */
    weft_arena *mem;
};

/* 1 and the place, if the option says it without a name. */
static int by_place(const char *text, int64_t *column)
{
    char *end;
    long long number = strtoll(text, &end, 10);
    *column = strcmp(text, "last") == 0   ? WEFT_TEXT_LAST
              : strcmp(text, "none") == 0 ? WEFT_TEXT_NONE
                                          : 0;
    if (*column != 0 || strcmp(text, "first") == 0) return 1;
    if (number >= 1) *column = number - 1;
    return end > text && *end == '\0' && number >= 1;
}

int weft_text_label_named(const weft_text_named *how)
{
    int64_t column;
    return !by_place(how->label, &column);
}

/* 1: the option names a column that texts to be scored need not have, and these have not.
 */
static int may_lack(const struct head *head, const char *text)
{
    int64_t column, found = 0;
    for (int64_t i = 0; i < head->n; i++) found += strcmp(head->field[i], text) == 0;
    return head->scored && found == 0 && !by_place(text, &column);
}

static weft_status unknown(const struct head *head, const char *option, const char *text)
{
    int few = head->n > 1 && head->how->header != WEFT_NAMES_NO;
    return weft_fail(
        WEFT_ECONF,
        "%s = %s names no column of %s%s; give first, last, a number from 1, or a name in "
        "its first line%s%s",
        option, text, head->path,
        head->how->header == WEFT_NAMES_NO ? " with header = no" : "",
        few ? weft_arena_text(head->mem, ", of which '%.40s' is the nearest",
                              weft_nearest(text, head->field, (int)head->n))
            : "",
        head->scored ? "; text= client= separator=tab reads lines as they are" : "");
}

/* The column that an option names; a name counts before a number. */
static weft_status find(const struct head *head, const char *option, const char *text,
                        int64_t *column)
{
    int placed = by_place(text, column), found = 0;
    for (int64_t i = head->n - 1; i >= 0 && head->named; i--)
        if (strcmp(head->field[i], text) == 0) {
            *column = i;
            found++;
        }
    if (found > 1)
        return weft_fail(WEFT_EDATA, "%s: line 1 has the name %s %d times; rename one",
                         head->path, text, found);
    if (!placed && (found == 0 || head->how->header == WEFT_NAMES_NO))
        return unknown(head, option, text);
    return WEFT_OK;
}

/* The same of a column that is no label: it is there. */
static weft_status find_other(const struct head *head, const char *option, const char *text,
                              int64_t label, int64_t *column)
{
    TRY(find(head, option, text, column));
    if (*column == WEFT_TEXT_LAST) *column = head->n - 1;
    if (*column == WEFT_TEXT_NONE || *column >= head->n)
        return weft_fail(WEFT_ECONF, "%s = %s: line 1 of %s has %lld columns", option, text,
                         head->path, (long long)head->n);
    if (*column != label) return WEFT_OK;
    return weft_fail(WEFT_ECONF, "%s = %s is the column of the label; name another one",
                     option, text);
}

/* 1: one of the columns in a list, with commas, is told by name. */
static int has_name(const char *list, weft_arena *mem)
{
    char *rest, *copy = weft_arena_text(mem, "%s", list);
    int64_t column;
    for (char *one = strtok_r(copy, ",", &rest); one; one = strtok_r(NULL, ",", &rest))
        if (!by_place(one, &column)) return 1;
    return 0;
}

/* "column 2, grade" */
static const char *shown(const struct head *head, int64_t column)
{
    long long number = (long long)column + 1;
    if (!head->named) return weft_arena_text(head->mem, "column %lld", number);
    return weft_arena_text(head->mem, "column %lld, %s", number, head->field[column]);
}

static void tell(const struct head *head, const weft_text_columns *columns)
{
    const char *text = head->n - (columns->client >= 0) > 2 ? "the others are the text"
                                                            : "the other is the text";
    const char *label = "there is no label", *client = "";
    if (columns->label >= 0)
        label = weft_arena_text(head->mem, "the label is %s", shown(head, columns->label));
    for (int64_t i = 0; i < columns->n; i++)
        text = weft_arena_text(head->mem, "%s%s", i ? text : "the text is ",
                               weft_arena_text(head->mem, "%s%s", i ? " and " : "",
                                               shown(head, columns->text[i])));
    if (columns->client >= 0)
        client =
            weft_arena_text(head->mem, "; the client is %s", shown(head, columns->client));
    weft_log(WEFT_INFO, "%s: %s; %s%s", head->path, label, text, client);
}

weft_status weft_text_columns_find(const char *path, const weft_text_named *how, int scored,
                                   const char *const *field, int64_t n,
                                   weft_text_columns *columns, weft_arena *mem)
{
    int64_t room = 0;
    struct head head = {
        .path = path, .how = how, .field = field, .n = n, .scored = scored, .mem = mem};
    const char *named = may_lack(&head, how->label) ? "none" : how->label;
    const char *client = may_lack(&head, how->client) ? "" : how->client;
    int label_named = !by_place(named, &columns->label);
    head.named = how->header == WEFT_NAMES_YES || label_named || has_name(how->text, mem) ||
                 has_name(client, mem);
    *columns = (weft_text_columns){.client = WEFT_TEXT_NONE, .header = head.named};
    TRY(find(&head, "label", named, &columns->label));
    int64_t label = columns->label == WEFT_TEXT_LAST ? n - 1 : columns->label;
    char *rest, *copy = weft_arena_text(mem, "%s", how->text);
    for (char *one = strtok_r(copy, ",", &rest); one; one = strtok_r(NULL, ",", &rest)) {
        columns->text =
            weft_grow(mem, columns->text, sizeof *columns->text, columns->n, &room);
        TRY(find_other(&head, "text", one, label, &columns->text[columns->n++]));
    }
    if (*client != '\0') TRY(find_other(&head, "client", client, label, &columns->client));
    int given = columns->n > 0 || columns->client >= 0;
    if (given) columns->label = label;
    if (label < n && (given || (label_named && n > 1))) tell(&head, columns);
    return WEFT_OK;
}

/* The column that is piece k of the text; -1: none is, as it is empty or of another use. */
static int64_t piece(const weft_text_columns *columns, const char *const *field, int64_t k)
{
    int64_t i = columns->n > 0 ? columns->text[k] : k;
    int other = i == columns->label || i == columns->client || *field[i] == '\0';
    return other ? -1 : i;
}

char *weft_text_join(const weft_text_columns *columns, const char *const *field, int64_t n,
                     size_t *length, weft_arena *mem)
{
    size_t room = 1;
    int64_t all = columns->n > 0 ? columns->n : n;
    for (int64_t k = 0; k < all; k++) {
        int64_t i = piece(columns, field, k);
        if (i >= 0) room += strlen(field[i]) + 1;
    }
    char *text = WEFT_NEW(mem, char, room), *to = text;
    for (int64_t k = 0; k < all; k++) {
        int64_t i = piece(columns, field, k);
        if (i < 0) continue;
        if (to > text) *to++ = ' ';
        size_t bytes = strlen(field[i]);
        memcpy(to, field[i], bytes);
        to += bytes;
    }
    *length = (size_t)(to - text);
    return text;
}
