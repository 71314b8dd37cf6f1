/* CSV files whose columns are texts: libcsv divides them, line by line, so that messages
 * can name the line. */
#include "reader.h"
#include "weft/log.h"

#include <csv.h>

#include <string.h>

struct parsing {
    const char *path;
    weft_status (*take)(void *ctx, const weft_csv_row *row);
    void *ctx;
    int64_t line, opened; /* opened: line of the quotation mark that is open; 0: none is */
    const char **field;   /* [n] of the row being read */
    int64_t n, room, columns; /* columns: of the first row; 0 before it */
    int64_t blank;            /* blank lines that are rows */
    weft_status st;           /* of the first row that failed */
    weft_arena *row, *mem;    /* of the texts of a row; of the list of its fields */
};

static void on_field(void *text, size_t n, void *ctx)
{
    struct parsing *parsing = ctx;
    parsing->field = weft_grow(parsing->mem, parsing->field, sizeof *parsing->field,
                               parsing->n, &parsing->room);
    char *copy = WEFT_NEW(parsing->row, char, n + 1);
    if (n > 0) memcpy(copy, text, n);
    parsing->field[parsing->n++] = copy;
}

static void on_row(int end, void *ctx)
{
    struct parsing *parsing = ctx;
    (void)end;
    if (parsing->columns == 0) parsing->columns = parsing->n;
    if (parsing->st == WEFT_OK && parsing->n != parsing->columns)
        parsing->st =
            weft_fail(WEFT_EDATA,
                      "%s: line %lld has %lld columns where the first has %lld; put "
                      "texts that have the separator in quotation marks",
                      parsing->path, (long long)parsing->line, (long long)parsing->n,
                      (long long)parsing->columns);
    if (parsing->st == WEFT_OK)
        parsing->st = parsing->take(
            parsing->ctx, &(weft_csv_row){parsing->line, parsing->field, parsing->n});
    parsing->n = 0;
    weft_arena_reset(parsing->row, 0);
}

static weft_status bad_quote(const struct parsing *parsing)
{
    if (parsing->opened > 0)
        return weft_fail(WEFT_EDATA,
                         "%s: line %lld has a quotation mark that nothing closes; double "
                         "one that is part of a text",
                         parsing->path, (long long)parsing->opened);
    return weft_fail(WEFT_EDATA,
                     "%s: line %lld has a quotation mark out of place; double one that is "
                     "part of a text",
                     parsing->path, (long long)parsing->line);
}

/* Gives a line to the parser, the end of its line included. */
static void parse_line(struct parsing *parsing, struct csv_parser *parser, const char *text,
                       size_t n)
{
    int quotes = 0, blank = 1;
    parsing->line++;
    for (size_t i = 0; i < n; i++) {
        quotes += text[i] == '"';
        blank &= strchr(" \t\r\n", text[i]) != NULL && text[i] != '\0';
    }
    int within = parsing->opened > 0, odd = quotes & 1;
    if (blank && !within && parsing->columns == 1) {
        on_field(NULL, 0, parsing);
        on_row('\n', parsing);
        parsing->blank++;
        return;
    }
    if (!within && odd) parsing->opened = parsing->line;
    if (memchr(text, '\0', n) != NULL)
        parsing->st =
            weft_fail(WEFT_EDATA, "%s: line %lld has a NUL byte; is this text in UTF-8?",
                      parsing->path, (long long)parsing->line);
    else if (csv_parse(parser, text, n, on_field, on_row, parsing) != n &&
             parsing->st == WEFT_OK)
        parsing->st = bad_quote(parsing);
    if (within && odd) parsing->opened = 0;
}

weft_status weft_csv_rows(const char *path, const char *text, size_t n, char separator,
                          weft_status (*take)(void *ctx, const weft_csv_row *row),
                          void *ctx)
{
    struct parsing parsing = {.path = path,
                              .take = take,
                              .ctx = ctx,
                              .row = weft_arena_new(),
                              .mem = weft_arena_new()};
    struct csv_parser parser;
    weft_check(csv_init(&parser, CSV_STRICT | CSV_STRICT_FINI) == 0,
               "libcsv does not start");
    csv_set_delim(&parser, (unsigned char)separator);
    for (const char *at = text, *end = text + n; at < end && parsing.st == WEFT_OK;) {
        const char *stop = memchr(at, '\n', (size_t)(end - at));
        size_t length = stop != NULL ? (size_t)(stop - at) + 1 : (size_t)(end - at);
        parse_line(&parsing, &parser, at, length);
        at += length;
    }
    if (csv_fini(&parser, on_field, on_row, &parsing) != 0 && parsing.st == WEFT_OK)
        parsing.st = bad_quote(&parsing);
    if (parsing.blank > 0 && parsing.st == WEFT_OK)
        weft_log(WEFT_INFO,
                 "%s: blank lines, %lld of them, are rows without a text, as there is one "
                 "column",
                 path, (long long)parsing.blank);
    csv_free(&parser);
    weft_arena_free(parsing.row);
    weft_arena_free(parsing.mem);
    return parsing.st;
}
