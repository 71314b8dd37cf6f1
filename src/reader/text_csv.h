/* Columns of files of texts, and rows of CSV. Private to the reader `text`. */
#ifndef WEFT_READER_TEXT_CSV_H
#define WEFT_READER_TEXT_CSV_H

#include "reader.h"

/* Columns as the options name them: by name, by number from 1, first or last. */
typedef struct weft_text_named {
    const char *label;  /* or none */
    const char *text;   /* with commas between them; "": all others */
    const char *client; /* "": none */
    int header;         /* WEFT_NAMES_... */
} weft_text_named;
enum { WEFT_NAMES_AUTO, WEFT_NAMES_YES, WEFT_NAMES_NO };

/* Where they are, from 0. */
typedef struct weft_text_columns {
    int64_t label; /* WEFT_TEXT_LAST, WEFT_TEXT_NONE */
    int64_t client;
    int64_t *text, n; /* [n] of the text; 0: all others */
    int header;       /* 1: the first line has names */
} weft_text_columns;
enum { WEFT_TEXT_LAST = -1, WEFT_TEXT_NONE = -2 };

/* 1: the label is told by its name. */
int weft_text_label_named(const weft_text_named *how);
/* Finds the columns by the n fields of the first line; a name counts before a number. The
 * label may be beyond them; scored 1: label and client that are told by name need not be
 * there. Tells where they are. ECONF: there is no such column; EDATA: a
 * name occurs twice. */
WEFT_CHECKED weft_status weft_text_columns_find(const char *path,
                                                const weft_text_named *how, int scored,
                                                const char *const *field, int64_t n,
                                                weft_text_columns *columns,
                                                weft_arena *mem);
/* The text of a row of n fields, *length bytes in mem: its columns, with blanks between
 * them. */
char *weft_text_join(const weft_text_columns *columns, const char *const *field, int64_t n,
                     size_t *length, weft_arena *mem);

typedef struct weft_csv_row {
    int64_t line;             /* where it ends */
    const char *const *field; /* [n] without their quotation marks */
    int64_t n;
} weft_csv_row;

/* Calls take(ctx, row) for each row of text[n] of file `path`, until it fails; a row lasts
 * until take returns. Empty lines are
 * skipped, but where there is one column; columns may be quoted, and then hold
 * separators and ends of lines (RFC 4180). EDATA naming the line: a quotation mark out of
 * place, a NUL, or the number of columns is not that of the first row; what take returns.
 * Cost O(n). */
WEFT_CHECKED weft_status
weft_csv_rows(const char *path, const char *text, size_t n, char separator,
              weft_status (*take)(void *ctx, const weft_csv_row *row), void *ctx);

#endif
