/* CSV tables for the reader `dense`. Lines of plain numbers are read here, all others are
 * fed to libcsv, which knows quotation marks; line by line, so that messages can name the
 * line. Lines with another separator than a comma are all libcsv's. */
#include "dense.h"

#include <csv.h>

#include <math.h>
#include <stdlib.h>
#include <string.h>

typedef struct csv {
    const char *path;
    const weft_csv *how;
    weft_dense_rows *table;
    int64_t line;
    int64_t opened;     /* line of the quotation mark that is open; 0: none is */
    const char **field; /* [n] of the row being read, owned by row */
    int64_t n, room;
    int64_t columns; /* of every row, label included; 0 before the first */
    int64_t label;   /* index of the label's column */
    int64_t most;    /* rows that the file can have */
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

/* The first line has names of columns. */
static int is_header(const csv *c)
{
    double x;
    if (c->how->header != 0) return c->how->header == 1;
    for (int64_t i = 0; i < c->n; i++)
        if (i != c->label && !weft_table_number(c->field[i], &x)) return 1;
    return 0;
}

/* The column of the label, by place or by name; -1: there is none. */
static int64_t label_column(const csv *c)
{
    const char *label = c->how->label;
    char *end;
    long number = strtol(label, &end, 10);
    if (strcmp(label, "first") == 0) return 0;
    if (strcmp(label, "last") == 0) return c->n - 1;
    if (*end == '\0') return number >= 1 && number <= c->n ? number - 1 : -1;
    for (int64_t i = 0; i < c->n; i++)
        if (strcmp(c->field[i], label) == 0) return i;
    return -1;
}

/* The column of the label, and room for the others, when the number of columns is known. */
static weft_status find_label(csv *c)
{
    const char *label = c->how->label;
    c->columns = c->n;
    c->label = label_column(c);
    int named = c->label >= 0 && strcmp(c->field[c->label], label) == 0;
    if (c->label < 0 || (named && !is_header(c)))
        return weft_fail(WEFT_ECONF,
                         "label = %s, where %s has %lld columns%s; give first, last, a "
                         "number from 1 to %lld, or a name in the first line",
                         label, c->path, (long long)c->n, named ? " without names" : "",
                         (long long)c->n);
    if (c->n < 2)
        return weft_fail(WEFT_EDATA,
                         "%s: line %lld has 1 column where a label and numbers are "
                         "expected; is it a CSV file? separator = ... says what stands "
                         "between columns",
                         c->path, (long long)c->line);
    c->table->d = c->n - 1;
    c->table->value = WEFT_NEW(c->table->mem, double, c->most *(c->n - 1));
    return WEFT_OK;
}

/* Names of all columns but the label's. */
static void keep_names(const csv *c)
{
    weft_dense_rows *t = c->table;
    t->name = WEFT_NEW(t->mem, const char *, c->n - 1);
    for (int64_t i = 0; i < c->n; i++)
        if (i != c->label)
            t->name[i - (i > c->label)] = weft_arena_text(t->mem, "%s", c->field[i]);
}

static weft_status add_row(csv *c)
{
    if (c->seen++ == 0) {
        TRY(find_label(c));
        if (is_header(c)) {
            keep_names(c);
            return WEFT_OK;
        }
    }
    if (c->n != c->columns)
        return weft_fail(WEFT_EDATA,
                         "%s: line %lld has %lld columns where %lld are expected; mend "
                         "the line",
                         c->path, (long long)c->line, (long long)c->n,
                         (long long)c->columns);
    weft_dense_rows *t = c->table;
    for (int64_t i = 0; i < c->n; i++) {
        double x;
        if (i == c->label) continue;
        if (!weft_table_number(c->field[i], &x) || !isfinite(x))
            return weft_fail(WEFT_EDATA,
                             "%s: line %lld, column %lld is '%.40s' where a finite "
                             "number is expected; %s",
                             c->path, (long long)c->line, (long long)i + 1, c->field[i],
                             strchr(c->field[i], ' ') != NULL
                                 ? "texts are read by `weft pack text`, separator = comma"
                                 : "mend or remove the line");
        t->value[t->n * t->d + i - (i > c->label)] = x;
    }
    const char *label = weft_table_label(c->field[c->label], c->row);
    if (*label == '\0')
        return weft_fail(WEFT_EDATA, "%s: line %lld, column %lld has no label", c->path,
                         (long long)c->line, (long long)c->label + 1);
    return weft_dense_row(t, c->line, label);
}

static void on_row(int end, void *ctx)
{
    (void)end;
    csv *c = ctx;
    if (c->st == WEFT_OK) c->st = add_row(c);
    c->n = 0;
    weft_arena_reset(c->row, 0);
}

/* ---- lines of plain numbers ------------------------------------------------------ */

/* The label in text[n]; NULL: libcsv has to read the line. */
static const char *plain_label(const char *text, size_t n, weft_arena *mem)
{
    const char *end = text + n;
    while (text < end && (*text == ' ' || *text == '\t')) text++;
    while (text < end && (end[-1] == ' ' || end[-1] == '\t')) end--;
    n = (size_t)(end - text);
    if (n == 0 || memchr(text, '\r', n) != NULL || memchr(text, '\0', n) != NULL)
        return NULL;
    return weft_table_label(weft_arena_text(mem, "%.*s", (int)n, text), mem);
}

/* Adds the row of a line without quotation marks; 0: it is not plain, libcsv has to read
 * it. */
static int add_plain(csv *c, const char *at, const char *end)
{
    weft_dense_rows *t = c->table;
    const char *label = NULL;
    if (c->seen == 0 || c->how->separator != ',') return 0;
    double *x = t->value + t->n * t->d;
    if (end > at && end[-1] == '\n') end--;
    if (end > at && end[-1] == '\r') end--;
    for (int64_t i = 0; i < c->columns; i++) {
        if (i == c->label) {
            const char *stop = memchr(at, ',', (size_t)(end - at));
            if (stop == NULL) stop = end;
            label = plain_label(at, (size_t)(stop - at), c->row);
            at = stop;
        } else {
            at = weft_number_read(at, end, x++);
        }
        if (at == NULL || (i == c->label && label == NULL)) return 0;
        if (i + 1 < c->columns && (at == end || *at++ != ',')) return 0;
    }
    if (at != end) return 0;
    c->st = weft_dense_row(t, c->line, label);
    weft_arena_reset(c->row, 0);
    return 1;
}

/* ---- the file -------------------------------------------------------------------- */

/* Lines, which end in "\n", "\r\n" or "\r"; text[n] is NUL. */
static int64_t count_lines(const char *text, size_t n)
{
    int64_t lines = 1;
    for (size_t i = 0; i < n; i++)
        lines += (text[i] == '\n') | ((text[i] == '\r') & (text[i + 1] != '\n'));
    return lines;
}

/* 1 if the line has an odd number of quotation marks; *none: 1 if it has none. */
static int odd_quotes(const char *at, size_t n, int *none)
{
    int quotes = 0;
    for (size_t i = 0; i < n; i++) quotes += at[i] == '"';
    *none = quotes == 0;
    return quotes & 1;
}

static weft_status bad_quote(const csv *c)
{
    if (c->opened > 0)
        return weft_fail(WEFT_EDATA,
                         "%s: line %lld has a quotation mark that nothing closes; double "
                         "one that is part of a text, or remove it",
                         c->path, (long long)c->opened);
    return weft_fail(WEFT_EDATA, "%s: line %lld has a quotation mark out of place", c->path,
                     (long long)c->line);
}

static void feed(csv *c, struct csv_parser *parser, const char *text, size_t n)
{
    if (csv_parse(parser, text, n, on_field, on_row, c) != n && c->st == WEFT_OK)
        c->st = bad_quote(c);
}

weft_status weft_read_csv(const char *path, char *text, size_t n, const weft_csv *how,
                          weft_dense_rows *t)
{
    csv c = {.path = path,
             .how = how,
             .table = t,
             .most = count_lines(text, n),
             .row = weft_arena_new()};
    int none;
    struct csv_parser parser;
    weft_check(csv_init(&parser, CSV_STRICT | CSV_STRICT_FINI) == 0,
               "libcsv does not start");
    csv_set_delim(&parser, (unsigned char)how->separator);
    for (const char *at = text, *end = text + n; at < end && c.st == WEFT_OK;) {
        const char *stop = memchr(at, '\n', (size_t)(end - at));
        size_t length = stop != NULL ? (size_t)(stop - at) + 1 : (size_t)(end - at);
        c.line++;
        int within = c.opened > 0, odd = odd_quotes(at, length, &none);
        if (!within && odd) c.opened = c.line;
        if (within || !none || !add_plain(&c, at, at + length))
            feed(&c, &parser, at, length);
        if (within && odd) c.opened = 0;
        at += length;
    }
    if (c.st == WEFT_OK && csv_fini(&parser, on_field, on_row, &c) != 0)
        c.st = bad_quote(&c);
    csv_free(&parser);
    weft_arena_free(c.row);
    return c.st;
}
