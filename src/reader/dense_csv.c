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
    int ends;       /* 1: lines end in a separator, which begins no column */
    int64_t most;   /* rows that the file can have */
    int seen;       /* rows, a header included */
    weft_status st; /* of the first row that failed */
    weft_arena *row;
} csv;

static void on_field(void *text, size_t n, void *ctx)
{
    csv *c = ctx;
    c->field = weft_grow(c->table->mem, c->field, sizeof *c->field, c->n, &c->room);
    if (n > 0 && memchr(text, '\0', n) != NULL && c->st == WEFT_OK)
        c->st = weft_fail(WEFT_EDATA, "%s: line %lld has a NUL byte; is this a text file?",
                          c->path, (long long)c->line);
    c->field[c->n++] = weft_arena_text(c->row, "%.*s", (int)n, (const char *)text);
}

/* "column 2" or "column 2, 'b',", from 0. */
static const char *column_text(const csv *c, int64_t i)
{
    long long number = (long long)i + 1;
    const char *name = c->table->head.name != NULL ? c->table->head.name[i] : "";
    if (*name == '\0') return weft_arena_text(c->row, "column %lld", number);
    return weft_arena_text(c->row, "column %lld, '%s',", number, name);
}

/* 1: one of the fields of the first line is a text. */
static int has_text(const csv *c)
{
    double x;
    for (int64_t i = 0; i < c->n; i++)
        if (*c->field[i] != '\0' && !weft_cell_number(c->how, c->field[i], &x, c->row))
            return 1;
    return 0;
}

/* Room for the features and their names, when the first line is there. */
static weft_status begin(csv *c)
{
    weft_dense_rows *rows = c->table;
    if (*c->field[0] == '#' && c->n == 1)
        return weft_fail(WEFT_EDATA,
                         "%s: line %lld begins with '#'; comment = # skips such lines",
                         c->path, (long long)c->line);
    c->ends = has_text(c) && *c->field[c->n - 1] == '\0';
    rows->head.line = c->line;
    rows->head.columns = c->n - c->ends;
    TRY(weft_csv_begin(c->path, c->how, c->field, &rows->head, rows->mem));
    rows->d = rows->head.columns - 1;
    rows->value = WEFT_NEW(rows->mem, double, c->most * rows->d);
    if (rows->head.name == NULL) return WEFT_OK;
    rows->name = WEFT_NEW(rows->mem, const char *, rows->d);
    for (int64_t i = 0; i < rows->head.columns; i++)
        if (i != rows->head.label)
            rows->name[i - (i > rows->head.label)] = rows->head.name[i];
    return WEFT_OK;
}

static weft_status bad_width(const csv *c)
{
    const weft_csv_head *head = &c->table->head;
    int comment = *c->field[0] == '#' || (head->name && *head->name[0] == '#');
    return weft_fail(WEFT_EDATA,
                     "%s: line %lld has %lld columns where %lld are expected; %s", c->path,
                     (long long)c->line, (long long)c->n, (long long)head->columns,
                     comment ? "comment = # skips lines that begin with it"
                             : "mend the line, or put texts that have the separator in "
                               "quotation marks");
}

static weft_status add_row(csv *c)
{
    weft_dense_rows *rows = c->table;
    if (c->seen++ == 0) {
        TRY(begin(c));
        if (rows->head.name != NULL) return WEFT_OK;
    }
    if (c->ends && c->n == rows->head.columns + 1 && *c->field[c->n - 1] == '\0') c->n--;
    if (c->n != rows->head.columns) return bad_width(c);
    for (int64_t i = 0; i < c->n; i++) {
        double x;
        if (i == rows->head.label) continue;
        if (!weft_cell_number(c->how, c->field[i], &x, c->row))
            return weft_fail(WEFT_EDATA,
                             "%s: line %lld, %s is '%.40s' where a finite number is "
                             "expected; %s",
                             c->path, (long long)c->line, column_text(c, i), c->field[i],
                             weft_cell_remedy(c->how, c->field[i], c->row));
        rows->value[rows->n * rows->d + i - (i > rows->head.label)] = x;
    }
    const char *label = c->field[rows->head.label];
    if (*label == '\0')
        return weft_fail(WEFT_EDATA,
                         "%s: line %lld, %s has no label; give one, or remove "
                         "the line",
                         c->path, (long long)c->line, column_text(c, rows->head.label));
    return weft_dense_row(rows, c->line, label);
}

static void on_row(int end, void *ctx)
{
    (void)end;
    csv *c = ctx;
    if (c->st == WEFT_OK) c->st = add_row(c);
    c->n = 0;
    weft_arena_reset(c->row, 0);
}

/* ---- lines of plain numbers ---- */

/* The label in text[n]; NULL: libcsv has to read the line. */
static const char *plain_label(const char *text, size_t n, weft_arena *mem)
{
    const char *end = text + n;
    while (text < end && (*text == ' ' || *text == '\t')) text++;
    while (text < end && (end[-1] == ' ' || end[-1] == '\t')) end--;
    n = (size_t)(end - text);
    if (n == 0 || memchr(text, '\r', n) != NULL || memchr(text, '\0', n) != NULL)
        return NULL;
    return weft_arena_text(mem, "%.*s", (int)n, text);
}

/* Adds the row of a line without quotation marks; 0: it is not plain, libcsv has to read
 * it. */
static int add_plain(csv *c, const char *at, const char *end)
{
    weft_dense_rows *rows = c->table;
    const char *label = NULL;
    if (c->seen == 0 || c->how->separator != ',' || c->how->thousands != WEFT_MARK_NONE)
        return 0;
    double *x = rows->value + rows->n * rows->d;
    if (end > at && end[-1] == '\n') end--;
    if (end > at && end[-1] == '\r') end--;
    for (int64_t i = 0; i < c->table->head.columns; i++) {
        if (i == c->table->head.label) {
            const char *stop = memchr(at, ',', (size_t)(end - at));
            if (stop == NULL) stop = end;
            label = plain_label(at, (size_t)(stop - at), c->row);
            at = stop;
        } else {
            at = weft_number_read(at, end, x++);
        }
        if (at == NULL || (i == c->table->head.label && label == NULL)) return 0;
        if (i + 1 < c->table->head.columns && (at == end || *at++ != ',')) return 0;
    }
    if (at != end) return 0;
    c->st = weft_dense_row(rows, c->line, label);
    weft_arena_reset(c->row, 0);
    return 1;
}

/* ---- the file ---- */

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
                          weft_dense_rows *rows)
{
    csv c = {.path = path,
             .how = how,
             .table = rows,
             .line = how->line,
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
