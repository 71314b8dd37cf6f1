/* Rows of a table as they are read, and the sparse text format of libsvm. */
#include "dense.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

void weft_dense_begin(weft_dense_rows *rows, int64_t n)
{
    rows->d = n;
    rows->at = WEFT_NEW(rows->mem, weft_dense_column, n);
    rows->value = WEFT_NEW(rows->mem, double, rows->room *n);
    for (int64_t j = 0; j < n; j++) {
        rows->at[j].kind = WEFT_COLUMN_NUMBER;
        rows->at[j].name.mem = rows->mem;
    }
}

const char *weft_column_place(int64_t column, const char *name, weft_arena *mem)
{
    long long number = (long long)column + 1;
    return name ? weft_arena_text(mem, "column %lld, '%s',", number, name)
                : weft_arena_text(mem, "column %lld", number);
}

int64_t weft_dense_name_number(weft_dense_rows *rows, weft_dense_column *column,
                               const char *text)
{
    if (!rows->alike) return weft_names_find(&column->name, text);
    weft_arena *tmp = column->name.mem = column->meaning.mem = rows->mem;
    size_t mark = weft_arena_mark(tmp);
    int64_t number = weft_names_index(&column->meaning, weft_name_meaning(text, tmp));
    weft_arena_reset(tmp, mark);
    if (number >= 0) return number;
    weft_names_find(&column->meaning, weft_name_meaning(text, tmp));
    return weft_names_find(&column->name, text);
}

weft_status weft_dense_row(weft_dense_rows *rows, int64_t line, const char *label)
{
    if (rows->alike && *label != '\0' && !rows->many) {
        int64_t number = weft_dense_name_number(rows, rows->answer, label);
        label = rows->answer->name.name[number];
    }
    if (!rows->label) rows->label = WEFT_NEW(rows->mem, int32_t, rows->room);
    rows->label[rows->n] = 0;
    if (rows->labels.n == WEFT_MAX_CLASSES && rows->answer &&
        rows->answer->seen.numbers > 0 && rows->answer->seen.texts == 0)
        rows->many = 1;
    if (rows->many) {
        rows->n++;
        return WEFT_OK;
    }
    return weft_labels_find(&rows->labels, line, label, strlen(label),
                            &rows->label[rows->n++]);
}

void weft_dense_note(weft_dense_rows *rows, weft_dense_column *column, const char *path,
                     int64_t line, const char *text)
{
    column->odd = (weft_dense_odd){.path = path,
                                   .text = weft_arena_text(rows->mem, "%.40s", text),
                                   .line = line,
                                   .column = column->place};
}

void weft_dense_answer(weft_dense_rows *rows, weft_dense_column *column, const char *path,
                       int64_t line, const char *text, double x)
{
    int missing = weft_cell_missing(text);
    column->seen.numbers += !isnan(x);
    column->seen.missing += missing;
    column->seen.texts += isnan(x) && !missing;
    column->seen.fractions |= x > floor(x);
    if (isnan(x) && !column->odd.text) weft_dense_note(rows, column, path, line, text);
}

weft_status weft_dense_answered(weft_dense_rows *rows, const char *path, int64_t line,
                                const char *label)
{
    double x;
    if (!weft_table_number(label, &x) || !isfinite(x) || weft_number_lost(label)) x = NAN;
    weft_dense_answer(rows, rows->answer, path, line, label, x);
    if (!rows->number) rows->number = WEFT_NEW(rows->mem, double, rows->room);
    rows->number[rows->n] = x;
    return weft_dense_row(rows, line, label);
}

/* ---- libsvm ---- */

#ifdef WEFT_FUZZ
#define MAX_COLUMNS 10000 /* most inputs would be packed as rows of a million zeros */
#else
#define MAX_COLUMNS 1000000
#endif

static void add_entry(weft_dense_rows *rows, int64_t column, double value)
{
    weft_dense_sparse *sparse = &rows->sparse;
    int64_t room = sparse->room;
    sparse->value =
        weft_grow(rows->mem, sparse->value, sizeof *sparse->value, sparse->n, &room);
    sparse->column = weft_grow(rows->mem, sparse->column, sizeof *sparse->column, sparse->n,
                               &sparse->room);
    sparse->value[sparse->n] = value;
    sparse->column[sparse->n++] = (int32_t)column;
    if (column >= rows->d) rows->d = column + 1;
}

/* What INDEX:VALUE is not. */
static weft_status bad_pair(const char *path, int64_t line, const char *pair)
{
    return weft_fail(
        WEFT_EDATA, "%s: line %lld has '%.40s' where INDEX:VALUE is expected%s", path,
        (long long)line, pair,
        strncmp(pair, "qid:", 4) == 0
            ? ", of a class; queries of ranking data are not learnt: remove them"
            : ", or a separator between columns");
}

static weft_status bad_index(const char *path, int64_t line, long index, long last,
                             int from)
{
    const char *remedy = "sort them, or give the columns smaller numbers";
    if (index == 0 && from == 1) remedy = "zero_based = yes reads indices from 0";
    return weft_fail(
        WEFT_EDATA,
        "%s: line %lld has index %ld after %ld; indices rise from %d to at most %d: %s",
        path, (long long)line, index, last, from, MAX_COLUMNS + from - 1, remedy);
}

/* One "INDEX:VALUE"; `last` is the index before it. */
static weft_status read_pair(const char *path, int64_t line, char *pair, int from,
                             long *last, weft_dense_rows *rows)
{
    char *colon = strchr(pair, ':'), *end = pair;
    long index = colon != NULL ? strtol(pair, &end, 10) : 0;
    if (colon == NULL || end != colon) return bad_pair(path, line, pair);
    if (index <= *last || index - from >= MAX_COLUMNS)
        return bad_index(path, line, index, *last, from);
    double x;
    if (!weft_table_number(colon + 1, &x) || !isfinite(x))
        return weft_fail(WEFT_EDATA,
                         "%s: line %lld, column %ld is '%.40s' where a finite number is "
                         "expected; mend or remove the line",
                         path, (long long)line, index, colon + 1);
    *last = index;
    add_entry(rows, index - from, x);
    return WEFT_OK;
}

weft_status weft_read_libsvm(const char *path, char *text, size_t n, int from,
                             weft_dense_rows *rows)
{
    static const char blank[] = {' ', '\t', WEFT_COMMENT, '\0'};
    char *line, *rest;
    size_t length;
    char *at = text, *end = text + n;
    if (!rows->answer) rows->answer = WEFT_NEW(rows->mem, weft_dense_column, 1);
    if (!rows->sparse.first)
        rows->sparse.first = WEFT_NEW(rows->mem, int64_t, rows->room + 1);
    for (int64_t number = 1; (line = weft_line(&at, end, &length)) != NULL; number++) {
        if (strlen(line) < length)
            return weft_fail(WEFT_EDATA,
                             "%s: line %lld has a NUL byte; is this a text file?", path,
                             (long long)number);
        line[strcspn(line, "#")] = '\0';
        char *word = strtok_r(line, blank, &rest);
        if (word == NULL) continue;
        if (strchr(word, ',') != NULL)
            return weft_fail(WEFT_EDATA,
                             "%s: line %lld has the labels '%.40s': multi-label data are "
                             "not learnt; give each row one class",
                             path, (long long)number, word);
        const char *label = weft_table_label(word, rows->mem);
        if (strchr(word, ':') != NULL)
            return weft_fail(WEFT_EDATA,
                             "%s: line %lld has no label; a line is LABEL INDEX:VALUE ...",
                             path, (long long)number);
        long last = from - 1;
        while ((word = strtok_r(NULL, blank, &rest)) != NULL)
            TRY(read_pair(path, number, word, from, &last, rows));
        rows->sparse.first[rows->n + 1] = rows->sparse.n;
        TRY(weft_dense_answered(rows, path, number, label));
    }
    return WEFT_OK;
}
