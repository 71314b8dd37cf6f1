/* CSV tables for the reader `dense`. Lines of plain numbers are read here, all others are
 * fed to libcsv, which knows quotation marks; line by line, so that messages can name the
 * line. Lines with another separator than a comma are all libcsv's. */
#include "dense.h"

#include <csv.h>

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* A file while it is read. */
typedef struct csv {
    const char *path;
    const weft_csv *how;
    weft_dense_rows *table;
    weft_csv_head head; /* of this file */
    int64_t *place;     /* [head.columns] column of the table, -1: none; NULL: not begun */
    int64_t line;
    int64_t opened;     /* line of the quotation mark that is open; 0: none is */
    const char **field; /* [n] of the row being read, owned by row */
    int64_t n, room;
    const char **first; /* [nfirst] of the first line, until the second is there */
    int64_t nfirst;
    int ends;       /* 1: lines end in a separator, which begins no column */
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

/* ---- columns ---- */

/* 1: one of the fields of the first line is a text. */
static int has_text(const csv *c)
{
    double x;
    for (int64_t i = 0; i < c->nfirst; i++)
        if (*c->first[i] != '\0' && !weft_cell_number(c->how, c->first[i], &x, c->row))
            return 1;
    return 0;
}

/* The columns of the table are those of the first file. */
static weft_status set_columns(csv *c)
{
    weft_dense_rows *rows = c->table;
    weft_arena *tmp = weft_arena_new();
    int64_t n = c->head.columns;
    weft_column_kind *kind = WEFT_NEW(tmp, weft_column_kind, n);
    weft_status st = weft_csv_kinds(c->path, c->how, &c->head, kind, tmp);
    rows->head = c->head;
    rows->d = n;
    rows->at = WEFT_NEW(rows->mem, weft_dense_column, n);
    rows->value = WEFT_NEW(rows->mem, double, rows->room *n);
    for (int64_t i = 0; i < n; i++)
        rows->at[i] = (weft_dense_column){.kind = kind[i], .name = {.mem = rows->mem}};
    weft_arena_free(tmp);
    return st;
}

/* 1: the files have the same columns in the same order. */
static int is_alike(const weft_csv_head *a, const weft_csv_head *b)
{
    if (a->columns != b->columns || a->label != b->label) return 0;
    for (int64_t i = 0; a->name && b->name && i < a->columns; i++)
        if (strcmp(a->name[i], b->name[i]) != 0) return 0;
    return 1;
}

/* The column of this file that has the name of column j of the table; -1: none. */
static int64_t named(const csv *c, int64_t j)
{
    for (int64_t i = 0; c->head.name && i < c->head.columns; i++)
        if (strcmp(c->head.name[i], c->table->head.name[j]) == 0) return i;
    return -1;
}

/* Where the fields of this file go. */
static weft_status find_places(csv *c)
{
    const weft_csv_head *head = &c->table->head;
    c->place = WEFT_NEW(c->table->mem, int64_t, c->head.columns);
    int alike = is_alike(&c->head, head);
    int without = !head->name && !c->head.name && c->head.label < 0 &&
                  c->head.columns == head->columns - 1;
    for (int64_t i = 0; i < c->head.columns; i++)
        c->place[i] = alike ? i : without ? i + (i >= head->label) : -1;
    if (without) return WEFT_OK;
    if (!alike && (!head->name || !c->head.name))
        return weft_fail(WEFT_EDATA,
                         "%s has %lld columns%s where %lld%s are expected, as in the first "
                         "file",
                         c->path, (long long)c->head.columns,
                         c->head.name ? " with names" : "", (long long)head->columns,
                         head->name ? " with names" : "");
    for (int64_t j = 0; j < head->columns && !alike; j++) {
        int64_t i = named(c, j);
        if (i >= 0)
            c->place[i] = j;
        else if (c->table->at[j].kind != WEFT_COLUMN_DROPPED &&
                 !(c->how->unlabelled && j == head->label))
            return weft_fail(WEFT_EDATA,
                             "%s has no column '%s', which the first file has; add it, or "
                             "drop = %s",
                             c->path, head->name[j], head->name[j]);
    }
    return WEFT_OK;
}

/* The first line is there, and the second, if any. */
static weft_status begin(csv *c)
{
    if (*c->first[0] == '#' && c->nfirst == 1)
        return weft_fail(WEFT_EDATA,
                         "%s: line %lld begins with '#'; comment = # skips such lines",
                         c->path, (long long)c->head.line);
    c->ends = has_text(c) && *c->first[c->nfirst - 1] == '\0';
    c->head.columns = c->nfirst - c->ends;
    int even = c->n == c->nfirst || c->n == c->head.columns;
    TRY(weft_csv_begin(c->path, c->how, c->first, even ? c->field : NULL, &c->head,
                       c->table->mem));
    if (!c->table->at) TRY(set_columns(c));
    return find_places(c);
}

/* ---- rows ---- */

/* "column 2" or "column 2, 'b',", from 0. */
static const char *column_text(const csv *c, int64_t i)
{
    long long number = (long long)i + 1;
    const char *name = c->head.name != NULL ? c->head.name[i] : "";
    if (*name == '\0') return weft_arena_text(c->row, "column %lld", number);
    return weft_arena_text(c->row, "column %lld, '%s',", number, name);
}

static weft_status bad_width(const csv *c, const char *const *field, int64_t n,
                             int64_t line)
{
    int comment = *field[0] == '#' || (c->head.name && *c->head.name[0] == '#');
    return weft_fail(WEFT_EDATA,
                     "%s: line %lld has %lld columns where %lld are expected; %s", c->path,
                     (long long)line, (long long)n, (long long)c->head.columns,
                     comment ? "comment = # skips lines that begin with it"
                             : "mend the line, or put texts that have the separator in "
                               "quotation marks");
}

/* A value that is missing where one must be. */
static double refuse(csv *c, int64_t i, const char *text, int64_t line, const char *remedy)
{
    if (c->st == WEFT_OK)
        c->st =
            weft_fail(WEFT_EDATA, "%s: line %lld, %s is '%s' where a %s is expected; %s",
                      c->path, (long long)line, column_text(c, i), text,
                      weft_column_kind_name[c->table->at[c->place[i]].kind], remedy);
    return NAN;
}

/* The number in a cell; NAN: it is missing, or a text. */
static double number_of(csv *c, weft_dense_column *column, const char *text, int64_t line)
{
    double x = NAN;
    if (*text != '\0' && weft_cell_number(c->how, text, &x, c->row)) {
        column->numbers++;
        return x;
    }
    if (weft_cell_missing(text)) {
        column->missing++;
        if (c->how->missing != WEFT_MISSING_REFUSE) return NAN;
    }
    if (column->texts++ == 0) {
        column->path = c->path;
        column->text = weft_arena_text(c->table->mem, "%.40s", text);
        column->line = line;
    }
    return NAN;
}

/* What stands for a cell of column i of the file: a number, or that of a level, group or
 * client. */
static double cell_of(csv *c, int64_t i, const char *text, int64_t line)
{
    weft_dense_column *column = &c->table->at[c->place[i]];
    int missing = weft_cell_missing(text);
    switch (column->kind) {
    case WEFT_COLUMN_NUMBER: return number_of(c, column, text, line);
    case WEFT_COLUMN_CATEGORY:
        column->missing += missing;
        if (missing && c->how->missing == WEFT_MISSING_REFUSE)
            return refuse(c, i, text, line, "missing = median gives it a feature");
        return missing ? NAN : (double)weft_names_find(&column->name, text);
    case WEFT_COLUMN_GROUP:
    case WEFT_COLUMN_CLIENT:
        if (missing) return refuse(c, i, text, line, "give one, or remove the line");
        return (double)weft_names_find(&column->name, text);
    default: return 0;
    }
}

/* Ends the row of that line, whose cells were just written. */
static weft_status end_row(csv *c, const char *label, int64_t line)
{
    TRY(c->st);
    if (*label == '\0' && !c->how->unlabelled)
        return weft_fail(WEFT_EDATA,
                         "%s: line %lld, %s has no label; give one, or remove "
                         "the line",
                         c->path, (long long)line, column_text(c, c->head.label));
    return weft_dense_row(c->table, line, label);
}

static weft_status add_row(csv *c, const char *const *field, int64_t n, int64_t line)
{
    weft_dense_rows *rows = c->table;
    if (c->ends && n == c->head.columns + 1 && *field[n - 1] == '\0') n--;
    if (n != c->head.columns) return bad_width(c, field, n, line);
    double *x = rows->value + rows->n * rows->d;
    for (int64_t i = 0; i < n; i++)
        if (c->place[i] >= 0) x[c->place[i]] = cell_of(c, i, field[i], line);
    return end_row(c, c->head.label >= 0 ? field[c->head.label] : "", line);
}

/* Keeps the first line until the second tells whether it has names. */
static void hold_first(csv *c)
{
    weft_arena *mem = c->table->mem;
    c->nfirst = c->n;
    c->first = WEFT_NEW(mem, const char *, c->n);
    c->head.line = c->line;
    for (int64_t i = 0; i < c->n; i++)
        c->first[i] = weft_arena_text(mem, "%s", c->field[i]);
}

/* Begins, where that was not done, and adds the first line where it is a row. */
static weft_status add_first(csv *c)
{
    if (c->place) return WEFT_OK;
    TRY(begin(c));
    return c->head.name ? WEFT_OK : add_row(c, c->first, c->nfirst, c->head.line);
}

static void on_row(int end, void *ctx)
{
    (void)end;
    csv *c = ctx;
    if (!c->first) {
        hold_first(c);
    } else if (c->st == WEFT_OK) {
        c->st = add_first(c);
        if (c->st == WEFT_OK) c->st = add_row(c, c->field, c->n, c->line);
    }
    c->n = 0;
    weft_arena_reset(c->row, 0);
}

/* ---- lines without quotation marks ---- */

/* The text between two separators without blanks around it. */
static const char *plain_text(const char *at, const char *end, weft_arena *mem)
{
    while (at < end && (*at == ' ' || *at == '\t')) at++;
    while (at < end && (end[-1] == ' ' || end[-1] == '\t')) end--;
    char *text = WEFT_NEW(mem, char, end - at + 1);
    memcpy(text, at, (size_t)(end - at));
    return text;
}

/* 1: the line has as many fields as columns, and nothing that libcsv has to read. */
static int is_plain(const csv *c, const char *at, const char *end)
{
    int64_t commas = 0;
    int odd = 0, some = 0;
    for (; at < end; at++) {
        commas += *at == ',';
        odd |= (*at == '\r') | (*at == '\0');
        some |= (*at != ' ') & (*at != '\t');
    }
    return !odd && some && commas + 1 == c->head.columns;
}

/* The cells of column i from `at` on; *label where it is that one's. Returns the end. */
static const char *add_cell(csv *c, int64_t i, const char *at, const char *end,
                            const char **label)
{
    weft_dense_rows *rows = c->table;
    int64_t j = c->place[i];
    double *x = rows->value + rows->n * rows->d + (j >= 0 ? j : 0), number;
    if (j >= 0 && rows->at[j].kind == WEFT_COLUMN_NUMBER) {
        const char *stop = weft_number_read(at, end, &number);
        if (stop && (stop == end || *stop == ',')) {
            *x = number;
            rows->at[j].numbers++;
            return stop;
        }
    }
    const char *stop = memchr(at, ',', (size_t)(end - at));
    if (!stop) stop = end;
    const char *text = plain_text(at, stop, c->row);
    if (i == c->head.label) *label = text;
    if (j >= 0) *x = cell_of(c, i, text, c->line);
    return stop;
}

/* Adds the row of a line without quotation marks; 0: it is not plain, libcsv has to read
 * it. */
static int add_plain(csv *c, const char *at, const char *end)
{
    const char *label = "";
    if (!c->place || c->how->separator != ',' || c->how->thousands != WEFT_MARK_NONE)
        return 0;
    if (end > at && end[-1] == '\n') end--;
    if (end > at && end[-1] == '\r') end--;
    if (!is_plain(c, at, end)) return 0;
    for (int64_t i = 0; i < c->head.columns; i++)
        at = add_cell(c, i, i > 0 ? at + 1 : at, end, &label);
    c->st = end_row(c, label, c->line);
    weft_arena_reset(c->row, 0);
    return 1;
}

/* ---- the file ---- */

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
             .row = weft_arena_new()};
    int none;
    struct csv_parser parser;
    weft_check(csv_init(&parser, CSV_STRICT | CSV_STRICT_FINI) == 0,
               "libcsv does not start");
    rows->labels.path = path;
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
    if (c.st == WEFT_OK && c.first) c.st = add_first(&c);
    csv_free(&parser);
    weft_arena_free(c.row);
    return c.st;
}
