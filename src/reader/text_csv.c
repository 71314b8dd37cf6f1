/* CSV files whose columns are texts: libcsv divides them, line by line, so that messages
 * can name the line. */
#include "text_csv.h"

#include <csv.h>

#include <string.h>

typedef struct parsing {
    const char *path;
    weft_status (*take)(void *ctx, const weft_csv_row *row);
    void *ctx;
    int64_t line, opened; /* opened: line of the quotation mark that is open; 0: none is */
    const char **field;   /* [n] of the row being read */
    int64_t n, room, columns; /* columns: of the first row; 0 before it */
    weft_status st;           /* of the first row that failed */
    weft_arena *row, *mem;    /* of the texts of a row; of the list of its fields */
} parsing;

static void on_field(void *text, size_t n, void *ctx)
{
    parsing *c = ctx;
    c->field = weft_grow(c->mem, c->field, sizeof *c->field, c->n, &c->room);
    c->field[c->n++] = weft_arena_text(c->row, "%.*s", (int)n, (const char *)text);
}

static void on_row(int end, void *ctx)
{
    parsing *c = ctx;
    (void)end;
    if (c->columns == 0) c->columns = c->n;
    if (c->st == WEFT_OK && c->n != c->columns)
        c->st =
            weft_fail(WEFT_EDATA,
                      "%s: line %lld has %lld columns where the first has %lld; put "
                      "texts that have the separator in quotation marks",
                      c->path, (long long)c->line, (long long)c->n, (long long)c->columns);
    if (c->st == WEFT_OK) c->st = c->take(c->ctx, &(weft_csv_row){c->line, c->field, c->n});
    c->n = 0;
    weft_arena_reset(c->row, 0);
}

static weft_status bad_quote(const parsing *c)
{
    if (c->opened > 0)
        return weft_fail(WEFT_EDATA,
                         "%s: line %lld has a quotation mark that nothing closes; double "
                         "one that is part of a text",
                         c->path, (long long)c->opened);
    return weft_fail(WEFT_EDATA,
                     "%s: line %lld has a quotation mark out of place; double one that is "
                     "part of a text",
                     c->path, (long long)c->line);
}

/* Gives a line to the parser, the end of its line included. */
static void parse_line(parsing *c, struct csv_parser *parser, const char *text, size_t n)
{
    int quotes = 0;
    c->line++;
    for (size_t i = 0; i < n; i++) quotes += text[i] == '"';
    int within = c->opened > 0, odd = quotes & 1;
    if (!within && odd) c->opened = c->line;
    if (memchr(text, '\0', n) != NULL)
        c->st =
            weft_fail(WEFT_EDATA, "%s: line %lld has a NUL byte; is this text in UTF-8?",
                      c->path, (long long)c->line);
    else if (csv_parse(parser, text, n, on_field, on_row, c) != n && c->st == WEFT_OK)
        c->st = bad_quote(c);
    if (within && odd) c->opened = 0;
}

weft_status weft_csv_rows(const char *path, const char *text, size_t n, char separator,
                          weft_status (*take)(void *ctx, const weft_csv_row *row),
                          void *ctx)
{
    parsing c = {.path = path,
                 .take = take,
                 .ctx = ctx,
                 .row = weft_arena_new(),
                 .mem = weft_arena_new()};
    struct csv_parser parser;
    weft_check(csv_init(&parser, CSV_STRICT | CSV_STRICT_FINI) == 0,
               "libcsv does not start");
    csv_set_delim(&parser, (unsigned char)separator);
    for (const char *at = text, *end = text + n; at < end && c.st == WEFT_OK;) {
        const char *stop = memchr(at, '\n', (size_t)(end - at));
        size_t length = stop != NULL ? (size_t)(stop - at) + 1 : (size_t)(end - at);
        parse_line(&c, &parser, at, length);
        at += length;
    }
    if (csv_fini(&parser, on_field, on_row, &c) != 0 && c.st == WEFT_OK)
        c.st = bad_quote(&c);
    csv_free(&parser);
    weft_arena_free(c.row);
    weft_arena_free(c.mem);
    return c.st;
}
