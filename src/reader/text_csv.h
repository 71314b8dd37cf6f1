/* Rows of CSV files whose columns are texts. Private to the reader `text`. */
#ifndef WEFT_READER_TEXT_CSV_H
#define WEFT_READER_TEXT_CSV_H

#include "reader.h"

typedef struct weft_csv_row {
    int64_t line;             /* where it ends */
    const char *const *field; /* [n] UTF-8, without their quotation marks */
    int64_t n;
} weft_csv_row;

/* Calls take(ctx, row) for each row of text[n] of file `path`, until it fails; a row lasts
 * until take returns. Empty lines are skipped; columns may be quoted, and then hold
 * separators and ends of lines (RFC 4180). EDATA naming the line: a quotation mark out of
 * place, a NUL, or the number of columns is not that of the first row; what take returns.
 * Cost O(n). */
WEFT_CHECKED weft_status
weft_csv_rows(const char *path, const char *text, size_t n, char separator,
              weft_status (*take)(void *ctx, const weft_csv_row *row), void *ctx);

#endif
