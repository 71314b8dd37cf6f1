/* CSV tables for the reader `dense`. The file is fed to libcsv line by line, so that
 * messages can name the line. */
#include "dense.h"

#include <csv.h>

#include <math.h>
#include <stdlib.h>
#include <string.h>

typedef struct csv {
    const char *path;
    const weft_csv *how;
    weft_table *table;
    int64_t line;
    const char **field; /* [n] of the row being read, owned by row */
    int64_t n, room;
    int64_t columns; /* of every row, label included; 0 before the first */
    int64_t label;   /* index of the label's column */
    int seen;        /* rows, a header included */
    weft_status st;  /* of the first row that failed */
    weft_arena *row;
} csv;

static void on_field(void *text, size_t n, void *ctx)
{
    csv *c = ctx;
    c->field = weft_grow(c->table->mem, c->field, sizeof *c->field, c->n, &c->room);
    c->field[c->n++] = weft_arena_text(c->row, "%.*s", (int)n, (const char *)text);
}

/* The column of the label, when the number of columns is known. */
static weft_status find_label(csv *c)
{
    const char *label = c->how->label;
    c->columns = c->n;
    c->label = strcmp(label, "first") == 0 ? 0 : c->n - 1;
    if (strcmp(label, "first") != 0 && strcmp(label, "last") != 0) {
        char *end;
        c->label = strtol(label, &end, 10) - 1;
        if (*end != '\0' || c->label < 0 || c->label >= c->n)
            return weft_fail(WEFT_ECONF,
                             "label = %s, where %s has %lld columns; give first, last "
                             "or a number from 1 to %lld",
                             label, c->path, (long long)c->n, (long long)c->n);
    }
    if (c->n < 2)
        return weft_fail(WEFT_EDATA,
                         "%s: line %lld has 1 column where a label and numbers are "
                         "expected; is it a CSV file with commas?",
                         c->path, (long long)c->line);
    return WEFT_OK;
}

static int is_header(const csv *c)
{
    float x;
    if (c->how->header != 0) return c->how->header == 1;
    for (int64_t i = 0; i < c->n; i++)
        if (i != c->label && !weft_table_number(c->field[i], &x)) return 1;
    return 0;
}

static weft_status add_row(csv *c)
{
    if (c->seen++ == 0) {
        TRY(find_label(c));
        if (is_header(c)) return WEFT_OK;
    }
    if (c->n != c->columns)
        return weft_fail(WEFT_EDATA,
                         "%s: line %lld has %lld columns where %lld are expected; mend "
                         "the line",
                         c->path, (long long)c->line, (long long)c->n,
                         (long long)c->columns);
    for (int64_t i = 0; i < c->n; i++) {
        float x;
        if (i == c->label) continue;
        if (!weft_table_number(c->field[i], &x) || !isfinite(x))
            return weft_fail(WEFT_EDATA,
                             "%s: line %lld, column %lld is '%.40s' where a finite "
                             "number is expected; mend or remove the line",
                             c->path, (long long)c->line, (long long)i + 1, c->field[i]);
        weft_table_entry(c->table, i - (i > c->label), x);
    }
    const char *label = weft_table_label(c->field[c->label], c->row);
    if (*label == '\0')
        return weft_fail(WEFT_EDATA, "%s: line %lld, column %lld has no label", c->path,
                         (long long)c->line, (long long)c->label + 1);
    return weft_table_row(c->table, c->line, label);
}

static void on_row(int end, void *ctx)
{
    (void)end;
    csv *c = ctx;
    if (c->st == WEFT_OK) c->st = add_row(c);
    c->n = 0;
    weft_arena_reset(c->row, 0);
}

static weft_status bad_quote(const csv *c)
{
    return weft_fail(WEFT_EDATA, "%s: line %lld has a quotation mark out of place", c->path,
                     (long long)c->line);
}

weft_status weft_read_csv(const char *path, char *text, size_t n, const weft_csv *how,
                          weft_table *t)
{
    csv c = {.path = path, .how = how, .table = t, .row = weft_arena_new()};
    struct csv_parser parser;
    weft_check(csv_init(&parser, CSV_STRICT | CSV_STRICT_FINI) == 0,
               "libcsv does not start");
    for (const char *at = text, *end = text + n; at < end && c.st == WEFT_OK;) {
        const char *stop = memchr(at, '\n', (size_t)(end - at));
        size_t length = stop != NULL ? (size_t)(stop - at) + 1 : (size_t)(end - at);
        c.line++;
        if (csv_parse(&parser, at, length, on_field, on_row, &c) != length &&
            c.st == WEFT_OK)
            c.st = bad_quote(&c);
        at += length;
    }
    if (c.st == WEFT_OK && csv_fini(&parser, on_field, on_row, &c) != 0)
        c.st = bad_quote(&c);
    csv_free(&parser);
    weft_arena_free(c.row);
    return c.st;
}
