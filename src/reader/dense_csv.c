/* CSV tables for the reader `dense`. Lines whose quotation marks, if any, stand around
 * whole fields without separators are read here, all others by libcsv. */
#include "dense.h"
#include "weft/base/base.h"

#include <math.h>
#include <string.h>
#include <strings.h>

/* A file while it is read. */
struct csv {
    weft_csv_source source;
    const weft_csv *how;
    weft_dense_rows *table;
    weft_csv_head head; /* of this file */
    int64_t *place;     /* [head.columns] column of the table, -1: none; NULL: not begun */
    const char **first; /* [nfirst] of the first line, until the second is there */
    int64_t nfirst;
    weft_gaps gaps;
    int64_t line;           /* of the row that is added */
    int drops;              /* 1: rows without a label are left out, */
    int strays;             /* 1: and those without a client */
    int64_t blank, skipped; /* blank lines that are rows; that are none, */
    int64_t before;         /* of these those before a row */
    int ends;               /* 1: lines end in a separator, which begins no column */
    weft_status st;         /* of a cell of the row */
};

/* ---- columns ---- */

/* 1: one of the fields of the first line is a text. */
static int has_text(const struct csv *csv)
{
    double x;
    for (int64_t i = 0; i < csv->nfirst; i++)
        if (*csv->first[i] != '\0' &&
            !weft_cell_number(&csv->how->marks, csv->first[i], &x, csv->source.row))
            return 1;
    return 0;
}

/* The columns of the table are those of the first file. */
static weft_status set_columns(const struct csv *csv)
{
    weft_dense_rows *rows = csv->table;
    rows->head = csv->head;
    TRY(weft_csv_kinds(csv->source.path, csv->how, rows));
    for (int64_t i = 0; i < rows->d && csv->how->texts; i++) {
        weft_dense_column *column = &rows->at[i];
        column->early =
            csv->how->texts[i] && column->kind == WEFT_COLUMN_NUMBER && !column->fixed;
        if (column->early) column->kind = WEFT_COLUMN_CATEGORY;
    }
    return WEFT_OK;
}

/* 1: the files have the same columns in the same order. */
static int is_alike(const weft_csv_head *a, const weft_csv_head *b)
{
    if (a->columns != b->columns || a->label != b->label) return 0;
    for (int64_t i = 0; a->name && b->name && i < a->columns; i++)
        if (strcmp(a->name[i], b->name[i]) != 0) return 0;
    return 1;
}

/* The column of this file that has the name of column j of the table, of several the one
 * that has as many before it there as here; -1: none. */
static int64_t named(const struct csv *csv, int64_t j)
{
    const char *const *own = csv->table->head.name;
    int64_t before = 0;
    for (int64_t i = 0; i < j; i++) before += strcmp(own[i], own[j]) == 0;
    for (int64_t i = 0; csv->head.name && i < csv->head.columns; i++)
        if (strcmp(csv->head.name[i], own[j]) == 0 && before-- == 0) return i;
    return -1;
}

/* 1: column j of the table is a label, target or client, or a weight by name, which rows to
 * be scored may lack. */
static int may_lack(const struct csv *csv, int64_t j)
{
    weft_column_kind kind = csv->table->at[j].kind;
    int named = kind == WEFT_COLUMN_WEIGHT && csv->table->head.name;
    return csv->how->unlabelled &&
           (weft_is_answer(kind) || named || kind == WEFT_COLUMN_CLIENT);
}

/* EDATA: a column without a place has the name of one that is used. */
static weft_status check_once(const struct csv *csv)
{
    const char *const *name = csv->head.name;
    for (int64_t i = 0; i < csv->head.columns; i++)
        for (int64_t k = 0; k < i && csv->place[i] < 0; k++)
            if (csv->place[k] >= 0 && strcmp(name[i], name[k]) == 0 &&
                csv->table->at[csv->place[k]].kind != WEFT_COLUMN_DROPPED)
                return weft_fail(WEFT_EDATA,
                                 "%s: columns %lld and %lld are both named '%s', where one "
                                 "is expected; remove the other",
                                 csv->source.path, (long long)k + 1, (long long)i + 1,
                                 name[i]);
    return WEFT_OK;
}

/* What to do where that column lacks: the name that is it but for case and blanks. */
static const char *lack_remedy(const struct csv *csv, const char *lacks, int scored)
{
    const char *const *own = csv->head.name;
    weft_arena *mem = csv->source.row;
    size_t n = strlen(lacks);
    lacks = weft_trim(lacks, &n);
    for (int64_t i = 0; i < csv->head.columns; i++) {
        size_t length = strlen(own[i]);
        const char *name = weft_trim(own[i], &length);
        if (length == n && strncasecmp(name, lacks, n) == 0)
            return weft_arena_text(mem, "name column '%s' so, if it is this one", own[i]);
    }
    if (scored) return "add it, empty where values are not known";
    return weft_arena_text(mem, "add it, or drop = %s", lacks);
}

/* Where the fields of this file go. */
static weft_status find_places(struct csv *csv)
{
    const weft_csv_head *head = &csv->table->head;
    csv->place = WEFT_NEW(csv->table->mem, int64_t, csv->head.columns);
    int alike = is_alike(&csv->head, head), scored = csv->how->unlabelled > 0;
    int64_t lacks = 0;
    for (int64_t j = 0; j < head->columns; j++) lacks += may_lack(csv, j);
    int without = !head->name && !csv->head.name && csv->head.label < 0 &&
                  csv->head.columns == head->columns - lacks;
    for (int64_t i = 0, j = 0; i < csv->head.columns; i++, j++) {
        while (without && may_lack(csv, j)) j++;
        csv->place[i] = alike ? i : without ? j : -1;
    }
    if (without) return WEFT_OK;
    if (!alike && (!head->name || !csv->head.name))
        return weft_fail(
            WEFT_EDATA, "%s has %lld columns%s where %lld%s are expected, as %s",
            csv->source.path, (long long)csv->head.columns,
            csv->head.name ? " with names" : " without names", (long long)head->columns,
            head->name ? " with names in the first line" : "",
            scored ? "the winner was trained with" : "in the first file");
    for (int64_t j = 0; j < head->columns && !alike; j++) {
        int64_t i = named(csv, j);
        if (i >= 0)
            csv->place[i] = j;
        else if (csv->table->at[j].kind != WEFT_COLUMN_DROPPED && !may_lack(csv, j))
            return weft_fail(WEFT_EDATA, "%s has no column '%s', which the %s; %s",
                             csv->source.path, head->name[j],
                             scored ? "winner was trained with" : "first file has",
                             lack_remedy(csv, head->name[j], scored));
        else if (csv->table->at[j].kind == WEFT_COLUMN_WEIGHT)
            csv->table->at[j].kind = WEFT_COLUMN_DROPPED;
    }
    return check_once(csv);
}

/* Puts a column without name before those of a first line of names that is one shorter than
 * the second: R leaves out the name of the names of rows. */
static void add_nameless(struct csv *csv, const weft_csv_row *second)
{
    double x;
    if (csv->how->header == WEFT_HEADER_NO || second->n != csv->nfirst + 1 ||
        *second->field[second->n - 1] == '\0')
        return;
    const char **name = WEFT_NEW(csv->table->mem, const char *, second->n);
    name[0] = "";
    for (int64_t i = 0; i < csv->nfirst; i++) {
        name[i + 1] = csv->first[i];
        if (*name[i + 1] == '\0' ||
            weft_cell_number(&csv->how->marks, name[i + 1], &x, csv->source.row))
            return;
    }
    csv->first = name;
    csv->nfirst = second->n;
}

/* The first line is there, and the second, if it is not NULL. */
static weft_status begin(struct csv *csv, const weft_csv_row *second)
{
    if (second) add_nameless(csv, second);
    if (*csv->first[0] == '#' && csv->nfirst == 1)
        return weft_fail(WEFT_EDATA,
                         "%s: line %lld begins with '#'; comment = # skips such lines",
                         csv->source.path, (long long)csv->head.line);
    int filled = second && second->n == csv->nfirst && *second->field[second->n - 1];
    csv->ends = has_text(csv) && *csv->first[csv->nfirst - 1] == '\0' && !filled;
    csv->head.columns = csv->nfirst - csv->ends;
    if (csv->how->unlabelled) {
        csv->head.sought = csv->table->head.columns;
        csv->head.known = csv->table->head.name;
    }
    int even = second && (second->n == csv->nfirst || second->n == csv->head.columns);
    TRY(weft_csv_begin(csv->source.path, csv->how, csv->first, even ? second->field : NULL,
                       &csv->head, csv->table->mem));
    if (!csv->table->at) TRY(set_columns(csv));
    return find_places(csv);
}

/* ---- rows ---- */

/* How a message names column i. */
static const char *column_text(const struct csv *csv, int64_t i)
{
    return weft_column_place(i, csv->head.name ? csv->head.name[i] : NULL, csv->source.row);
}

static weft_status bad_width(const struct csv *csv, const char *const *field, int64_t n)
{
    int comment = *field[0] == '#' || (csv->head.name && *csv->head.name[0] == '#');
    return weft_fail(
        WEFT_EDATA, "%s: line %lld has %lld columns where %lld are expected; %s",
        csv->source.path, (long long)csv->line, (long long)n, (long long)csv->head.columns,
        comment ? "comment = # skips lines that begin with it"
                : "mend the line, or put texts that have the separator in quotation marks");
}

/* A value that is missing where one must be. */
static double refuse(struct csv *csv, int64_t i, const char *text, const char *remedy)
{
    if (csv->st == WEFT_OK)
        csv->st =
            weft_fail(WEFT_EDATA, "%s: line %lld, %s is '%s' where a %s is expected; %s",
                      csv->source.path, (long long)csv->line, column_text(csv, i), text,
                      weft_column_kind_name[csv->table->at[csv->place[i]].kind], remedy);
    return NAN;
}

/* The number in a cell as its column is written; 0: there is none. */
static int read_number(const struct csv *csv, const weft_dense_column *column,
                       const char *text, double *x)
{
    if (*text == '\0') return 0;
    if (column->written)
        return weft_written_number(column->written, text, x, csv->source.row);
    return weft_cell_number(&csv->how->marks, text, x, csv->source.row);
}

/* The number in a cell; NAN: it is missing, or a text. */
static double number_of(struct csv *csv, weft_dense_column *column, const char *text)
{
    double x = NAN;
    if (read_number(csv, column, text, &x)) {
        column->seen.numbers++;
        if (!column->written) weft_dense_digits(column, text, csv->table->mem);
        if (column->written && column->written->unit)
            column->seen.bare += strstr(text, column->written->unit) == NULL;
        return x;
    }
    int gap = weft_cell_gap(text);
    if (gap && column->seen.gaps++ == 0)
        column->seen.gap = weft_arena_text(csv->table->mem, "%s", text);
    if (gap || weft_cell_missing(text)) {
        column->seen.missing++;
        if (csv->how->missing != WEFT_MISSING_REFUSE) return NAN;
    } else if (!column->written) {
        weft_hints_add(csv->how, column, text, csv->source.row);
    }
    if (column->seen.texts++ == 0)
        weft_dense_note(csv->table, column, csv->source.path, csv->line, text);
    return NAN;
}

/* The number of a label or target; NAN: it is none. */
static double answer_of(struct csv *csv, weft_dense_column *column, const char *text)
{
    double x = NAN;
    if (column->kind == WEFT_COLUMN_LABEL && csv->how->target == WEFT_TARGET_CLASSES)
        return 0;
    if (!read_number(csv, column, text, &x)) x = NAN;
    if (isnan(x) && !column->written && !weft_cell_missing(text))
        weft_hints_add(csv->how, column, text, csv->source.row);
    if (!isnan(x)) weft_dense_digits(column, text, csv->table->mem);
    weft_dense_answer(csv->table, column, csv->source.path, csv->line, text, x);
    return x;
}

static double weight_of(struct csv *csv, int64_t i, const char *text)
{
    double x;
    if (*text != '\0' && weft_cell_number(&csv->how->marks, text, &x, csv->source.row) &&
        x >= 0)
        return x;
    return refuse(csv, i, text, "give a number of 0 or more, or remove the line");
}

static int may_have_gaps(const weft_dense_column *column)
{
    return column->kind == WEFT_COLUMN_NUMBER || column->kind == WEFT_COLUMN_CATEGORY ||
           column->kind == WEFT_COLUMN_DATE || weft_is_answer(column->kind);
}

/* 1: the cell stands for a missing value, as an option says. */
static int is_gap(const struct csv *csv, const weft_dense_column *column, const char *text)
{
    double x;
    if (!read_number(csv, column, text, &x)) x = NAN;
    return weft_gaps_have(&csv->gaps, text, x);
}

/* 1: the text of column i is no label, target or client, where rows without these are left
 * out. */
static int is_lacking(struct csv *csv, int64_t i, const char *text)
{
    const weft_dense_column *column = &csv->table->at[csv->place[i]];
    int target = column->kind == WEFT_COLUMN_TARGET,
        client = column->kind == WEFT_COLUMN_CLIENT,
        answer = csv->drops && (target || column->kind == WEFT_COLUMN_LABEL);
    if (!client && !answer) return 0;
    int lacks = client   ? weft_cell_missing(text)
                : target ? weft_cell_missing(text) || weft_cell_gap(text)
                         : weft_label_missing(text);
    if (!lacks && (csv->gaps.n == 0 || !is_gap(csv, column, text))) return 0;
    if (client)
        csv->table->strays++;
    else if (csv->table->left++ == 0)
        csv->table->lacking = weft_arena_text(csv->table->mem, "%s", text);
    return 1;
}

/* What stands for a cell of column i of the file: a number, or that of a level, group or
 * client. */
static double cell_of(struct csv *csv, int64_t i, const char *text)
{
    weft_dense_column *column = &csv->table->at[csv->place[i]];
    column->place = i;
    if (csv->gaps.n > 0 && may_have_gaps(column) && is_gap(csv, column, text)) text = "";
    if (weft_is_number(column->kind)) return number_of(csv, column, text);
    int missing = weft_cell_missing(text);
    switch (column->kind) {
    case WEFT_COLUMN_CATEGORY:
        column->seen.missing += missing;
        if (missing && csv->how->missing == WEFT_MISSING_REFUSE)
            return refuse(csv, i, text, "missing = median gives it a feature");
        return missing ? NAN : (double)weft_dense_name_number(csv->table, column, text);
    case WEFT_COLUMN_GROUP:
    case WEFT_COLUMN_CLIENT:
        if (missing && !csv->how->unlabelled)
            return refuse(csv, i, text, "give one, or remove the line");
        return (double)weft_dense_name_number(csv->table, column, missing ? "" : text);
    case WEFT_COLUMN_LABEL:
    case WEFT_COLUMN_TARGET: return answer_of(csv, column, text);
    case WEFT_COLUMN_WEIGHT: return weight_of(csv, i, text);
    default: return 0;
    }
}

/* Ends the row, whose cells were just written. */
static weft_status end_row(struct csv *csv, const char *label)
{
    TRY(csv->st);
    if (*label == '\0' && !csv->how->unlabelled)
        return weft_fail(
            WEFT_EDATA, "%s: line %lld, %s has no label; give one, or remove the line",
            csv->source.path, (long long)csv->line, column_text(csv, csv->head.label));
    return weft_dense_row(csv->table, csv->line, label);
}

static weft_status add_row(struct csv *csv, const char *const *field, int64_t n,
                           int64_t line)
{
    csv->line = line;
    weft_dense_rows *rows = csv->table;
    if (csv->ends && n == csv->head.columns + 1 && *field[n - 1] == '\0') n--;
    if (n != csv->head.columns) return bad_width(csv, field, n);
    double *x = rows->value + rows->n * rows->d;
    for (int64_t i = 0; i < n && csv->strays; i++)
        if (csv->place[i] >= 0 && is_lacking(csv, i, field[i])) return WEFT_OK;
    for (int64_t i = 0; i < n; i++)
        if (csv->place[i] >= 0) x[csv->place[i]] = cell_of(csv, i, field[i]);
    return end_row(csv, csv->head.label >= 0 ? field[csv->head.label] : "");
}

/* Keeps the first line until the second tells whether it has names. */
static void hold_first(struct csv *csv, const weft_csv_row *row)
{
    weft_arena *mem = csv->table->mem;
    csv->nfirst = row->n;
    csv->first = WEFT_NEW(mem, const char *, row->n);
    csv->head.line = row->line;
    for (int64_t i = 0; i < row->n; i++)
        csv->first[i] = weft_arena_text(mem, "%s", row->field[i]);
}

/* Begins, where that was not done, and adds the first line where it is a row. */
static weft_status add_first(struct csv *csv, const weft_csv_row *second)
{
    if (csv->place) return WEFT_OK;
    TRY(begin(csv, second));
    return csv->head.name ? WEFT_OK : add_row(csv, csv->first, csv->nfirst, csv->head.line);
}

static weft_status take_row(void *ctx, const weft_csv_row *row)
{
    struct csv *csv = ctx;
    if (!csv->first) {
        hold_first(csv, row);
        return WEFT_OK;
    }
    TRY(add_first(csv, row));
    return add_row(csv, row->field, row->n, row->line);
}

/* ---- plain lines ---- */

/* A field at .. end, where a NUL may be written, without blanks or quotation marks around
 * it; NULL: it has other marks, and so maybe separators. */
static const char *trimmed(char *at, char *end, int quotes)
{
    int quoted = at + 1 < end && *at == '"' && end[-1] == '"';
    at += quoted;
    end -= quoted;
    if (quotes && memchr(at, '"', (size_t)(end - at))) return NULL;
    while (!quoted && at < end && (*at == ' ' || *at == '\t')) at++;
    while (!quoted && at < end && (end[-1] == ' ' || end[-1] == '\t')) end--;
    *end = '\0';
    return at;
}

/* Adds the row of a line, if it is plain; else *what is left as it is: libcsv has to read
 * it. */
static weft_status add_plain(struct csv *csv, const char *at, size_t n, weft_csv_line *what)
{
    weft_arena *row = csv->source.row;
    char separator = csv->how->separator;
    if (n > 0 && at[n - 1] == '\n') n--;
    if (n > 0 && at[n - 1] == '\r') n--;
    if (!csv->place || memchr(at, '\r', n) || memchr(at, '\0', n)) return WEFT_OK;
    int64_t fields = 1, i = 0;
    for (size_t k = 0; k < n; k++) fields += at[k] == separator;
    const char **field = WEFT_NEW(row, const char *, fields);
    char *copy = weft_arena_alloc(row, n + 1, 1), *end = copy + n;
    memcpy(copy, at, n);
    for (char *stop; i < fields; copy = stop + 1) {
        stop = memchr(copy, separator, (size_t)(end - copy));
        if (!stop) stop = end;
        field[i] = trimmed(copy, stop, csv->source.quotes);
        if (!field[i++]) return WEFT_OK;
    }
    *what = WEFT_CSV_DONE;
    weft_status st = add_row(csv, field, fields, csv->source.line);
    weft_arena_reset(row, 0);
    return st;
}

/* ---- blank lines ---- */

/* 1: the line has nothing but blanks, or, c, what fills comments. */
static int is_filled(const char *at, const char *end, char separator, char c)
{
    for (; at < end; at++)
        if (*at != c && *at != '\r' && *at != '\n' &&
            (*at != '\t' || c != ' ' || separator == '\t'))
            return 0;
    return 1;
}

/* Columns of the file; 0: not known before its first line. */
static int64_t width_of(const struct csv *csv)
{
    int64_t lacks = 0;
    if (csv->first) return csv->nfirst;
    if (!csv->how->unlabelled || csv->table->head.name) return 0;
    for (int64_t j = 0; j < csv->table->d; j++) lacks += may_lack(csv, j);
    return csv->table->d - lacks;
}

/* Logs what blank lines were taken for. */
static void tell_blank(const struct csv *csv)
{
    if (csv->blank > 0)
        weft_log(WEFT_INFO,
                 "%s: blank lines, %lld of them, are rows whose value is missing, as there "
                 "is one column",
                 csv->source.path, (long long)csv->blank);
    if (csv->before > 0 && csv->how->unlabelled)
        weft_log(
            WEFT_INFO,
            "%s: blank lines, %lld of them, are no rows, which are numbered without them",
            csv->source.path, (long long)csv->before);
}

/* ---- the file ---- */

/* A blank line is a row whose value is missing, where there is one column; else none. */
static weft_status look_at(void *ctx, const char *at, size_t n, weft_csv_line *what)
{
    struct csv *csv = ctx;
    const weft_csv_source *source = &csv->source;
    if (source->opened > 0 && source->opened < source->line) return WEFT_OK;
    if (is_filled(at, at + n, source->separator, ' ')) {
        *what = width_of(csv) == 1 ? WEFT_CSV_EMPTY : WEFT_CSV_DONE;
        csv->blank += *what == WEFT_CSV_EMPTY;
        csv->skipped += *what == WEFT_CSV_DONE;
        return WEFT_OK;
    }
    if (is_filled(at, at + n, 0, WEFT_COMMENT)) {
        *what = WEFT_CSV_DONE;
        return WEFT_OK;
    }
    csv->before = csv->skipped;
    return source->odd ? WEFT_OK : add_plain(csv, at, n, what);
}

weft_status weft_read_csv(const char *path, const char *text, size_t n, const weft_csv *how,
                          weft_dense_rows *rows)
{
    struct csv csv = {
        .source = {.path = path,
                   .separator = how->separator,
                   .line = how->line,
                   .unclosed = "double one that is part of a text, or remove it",
                   .row = weft_arena_new(),
                   .ctx = &csv,
                   .look = look_at,
                   .take = take_row},
        .how = how,
        .table = rows,
        .gaps = weft_gaps_of(how, rows->mem),
        .drops = !how->unlabelled && how->without_label == WEFT_UNLABELLED_DROP,
        .strays = !how->unlabelled && how->without_label != WEFT_UNLABELLED_REFUSE};
    rows->labels.path = path;
    weft_status st = weft_csv_read(&csv.source, text, n);
    if (st == WEFT_OK && csv.first) st = add_first(&csv, NULL);
    if (st == WEFT_OK) tell_blank(&csv);
    weft_arena_free(csv.source.row);
    return st;
}
