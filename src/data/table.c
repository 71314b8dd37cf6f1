/* Columns of a table, and their features. */
#include "weft/data/table.h"
#include "weft/base/base.h"
#include "weft/base/files.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

const char *const weft_column_kind_name[WEFT_COLUMN_KINDS] = {
    "number",  "category", "label",  "group", "client",
    "dropped", "target",   "weight", "date"};

/* ---- features ---- */

int weft_column_zone(const weft_column *column)
{
    return atoi(column->written + strcspn(column->written, " "));
}

const char *weft_column_unit(const weft_column *column)
{
    const char *at = column->kind == WEFT_COLUMN_DATE ? NULL : strchr(column->written, ' ');
    if (at) at = strchr(at + 1, ' ');
    return at ? at + 1 : "";
}

/* Parts of a date; of one that is missing those of the fill that have an order. */
static void put_date(const weft_column *column, double cell, double *own)
{
    double value[WEFT_DATE_PARTS];
    int missing = isnan(cell);
    weft_date_parts(missing ? column->fill : cell, weft_column_zone(column), value);
    for (int64_t i = 0; i < column->levels; i++)
        if (!missing || column->part[i] <= WEFT_PART_YEAR) own[i] = value[column->part[i]];
}

void weft_columns_features(const weft_columns *columns, const double *cell, double *x)
{
    memset(x, 0, (size_t)columns->features * sizeof *x);
    for (int64_t j = 0; j < columns->n; j++) {
        const weft_column *column = &columns->at[j];
        if (column->features == 0) continue;
        double *own = x + column->first;
        if (column->kind == WEFT_COLUMN_DATE) put_date(column, cell[j], own);
        if (isnan(cell[j])) {
            if (column->kind == WEFT_COLUMN_NUMBER) own[0] = column->fill;
            if (column->marks) own[column->features - 1] = 1;
        } else if (column->kind == WEFT_COLUMN_NUMBER) {
            own[0] = cell[j];
        } else if (column->kind == WEFT_COLUMN_CATEGORY && cell[j] >= 0) {
            own[(int64_t)cell[j]] = 1;
        }
    }
}

const char **weft_columns_names(const weft_columns *columns, weft_arena *mem)
{
    const char **name = WEFT_NEW(mem, const char *, columns->features);
    for (int64_t j = 0; j < columns->n; j++) {
        const weft_column *column = &columns->at[j];
        const char **own = name + column->first;
        if (column->kind == WEFT_COLUMN_NUMBER) *own++ = column->name;
        for (int64_t i = 0; i < column->levels; i++)
            *own++ = weft_arena_text(mem, "%s%c%s", column->name,
                                     column->kind == WEFT_COLUMN_DATE ? ' ' : '=',
                                     column->level[i]);
        if (column->marks) *own = weft_arena_text(mem, "%s is missing", column->name);
    }
    return name;
}

/* ---- in a file ---- */

enum { FILL, LOW, HIGH, REALS };
enum { KIND, DISTINCT, MISSING, MARKS, LEVELS, WHOLES };

static const char *in(weft_h5 *file, const char *group, const char *name)
{
    return weft_arena_text(file->mem, "%s/table/%s", group, name);
}

/* The numbers of a column: reals[REALS], wholes[WHOLES]. */
static void numbers_of(const weft_column *column, double *reals, int64_t *wholes)
{
    reals[FILL] = column->fill;
    reals[LOW] = column->low;
    reals[HIGH] = column->high;
    wholes[KIND] = column->kind;
    wholes[DISTINCT] = column->distinct;
    wholes[MISSING] = column->missing;
    wholes[MARKS] = column->marks;
    wholes[LEVELS] = column->levels;
}

weft_status weft_columns_put(weft_h5 *file, const char *group, const weft_columns *columns)
{
    int64_t n = columns->n, levels = 0;
    for (int64_t j = 0; j < n; j++) levels += columns->at[j].levels;
    const char **name = WEFT_NEW(file->mem, const char *, n),
               **level = WEFT_NEW(file->mem, const char *, levels + 1);
    double *scales = WEFT_NEW(file->mem, double, REALS *n);
    int64_t *whole = WEFT_NEW(file->mem, int64_t, WHOLES * n);
    const char **written = WEFT_NEW(file->mem, const char *, n);
    int some = 0;
    levels = 0;
    for (int64_t j = 0; j < n; j++) {
        const weft_column *column = &columns->at[j];
        name[j] = column->name;
        written[j] = column->written;
        some |= *column->written != '\0';
        numbers_of(column, scales + REALS * j, whole + WHOLES * j);
        for (int64_t i = 0; i < column->levels; i++) level[levels++] = column->level[i];
    }
    TRY(weft_h5_put_texts(file, in(file, group, "name"), name, n,
                          "names of the source's columns"));
    TRY(weft_h5_put_texts(file, in(file, group, "level"), level, levels,
                          "levels of categories in the training rows, column by column"));
    if (some)
        TRY(weft_h5_put_texts(file, in(file, group, "written"), written, n,
                              "how numbers are written: plainly, ORDER ZONE of dates, or "
                              "DECIMAL THOUSANDS UNIT"));
    TRY(weft_h5_put(
        file, in(file, group, "real"), WEFT_H5_F64, 2, (const int64_t[]){n, REALS}, scales,
        0, "in place of a missing number; least and largest number", "as the column"));
    return weft_h5_put(
        file, in(file, group, "whole"), WEFT_H5_I64, 2, (const int64_t[]){n, WHOLES}, whole,
        0,
        "kind (0 number, 1 category, 2 label, 3 group, 4 client, 5 dropped, 6 target, 7 "
        "weight, 8 date); distinct values; rows where it is missing; 1: a feature marks "
        "these; levels",
        "1");
}

/* The parts that a date's levels name; 0: they name others. */
static int name_parts(weft_column *column, weft_arena *mem)
{
    int *part = WEFT_NEW(mem, int, column->levels + 1), known = 1;
    for (int64_t i = 0; i < column->levels; i++) {
        while (part[i] < WEFT_DATE_PARTS &&
               strcmp(column->level[i], weft_date_part_name[part[i]]) != 0)
            part[i]++;
        known &= part[i] < WEFT_DATE_PARTS;
    }
    column->part = part;
    return known;
}

/* Sets the column from the numbers in a file; *levels, of `all`, is where its own begin.
 * 0: they do not agree. */
static int restore(weft_column *column, const double *scales, const int64_t *whole,
                   const char **level, int64_t all, int64_t *levels)
{
    if (whole[KIND] < 0 || whole[KIND] >= WEFT_COLUMN_KINDS) return 0;
    if (whole[LEVELS] < 0 || whole[LEVELS] > all - *levels) return 0;
    *column = (weft_column){.name = column->name,
                            .written = column->written,
                            .kind = (weft_column_kind)whole[KIND],
                            .distinct = whole[DISTINCT],
                            .missing = whole[MISSING],
                            .low = scales[LOW],
                            .high = scales[HIGH],
                            .fill = scales[FILL],
                            .marks = whole[MARKS] != 0,
                            .levels = whole[LEVELS],
                            .level = level + *levels};
    int number = column->kind == WEFT_COLUMN_NUMBER;
    column->features = number + column->levels + column->marks;
    *levels += column->levels;
    return 1;
}

weft_status weft_columns_read(weft_h5 *file, const char *group, const weft_columns **out)
{
    const char **name, **level, **written = NULL;
    int64_t n, all, rows = 0, levels = 0;
    *out = NULL;
    if (!weft_h5_has(file, in(file, group, "name"))) return WEFT_OK;
    TRY(weft_h5_read_texts(file, in(file, group, "name"), &name, &n));
    if (weft_h5_has(file, in(file, group, "written")))
        TRY(weft_h5_read_texts(file, in(file, group, "written"), &written, &rows));
    if (rows != n) written = NULL;
    TRY(weft_h5_read_texts(file, in(file, group, "level"), &level, &all));
    double *scales = WEFT_NEW(file->mem, double, REALS *n);
    int64_t *whole = WEFT_NEW(file->mem, int64_t, WHOLES * n);
    TRY(weft_h5_read_rows(file, in(file, group, "real"), WEFT_H5_F64, REALS, 0, n, scales));
    TRY(weft_h5_read_rows(file, in(file, group, "whole"), WEFT_H5_I64, WHOLES, 0, n,
                          whole));
    weft_columns *columns = WEFT_NEW(file->mem, weft_columns, 1);
    *columns = (weft_columns){.n = n, .at = WEFT_NEW(file->mem, weft_column, n)};
    for (int64_t j = 0; j < n; j++) {
        weft_column *column = &columns->at[j];
        column->name = name[j];
        column->written = written ? written[j] : "";
        if (!restore(column, scales + REALS * j, whole + WHOLES * j, level, all, &levels) ||
            (column->kind == WEFT_COLUMN_DATE && !name_parts(column, file->mem)))
            return weft_fail(WEFT_EFILE, "%s/table of %s is damaged; pack the data again",
                             group, file->path);
        column->first = columns->features;
        columns->features += column->features;
    }
    *out = columns;
    return WEFT_OK;
}

/* ---- shown ---- */

/* "red, green, blue, ...", short. */
static char *levels_text(const weft_column *column, weft_arena *tmp)
{
    enum { ROOM = 40 };
    char *text = weft_arena_text(tmp, "%s", "");
    for (int64_t i = 0; i < column->levels && strlen(text) < ROOM; i++) {
        int fits = strlen(column->level[i]) + strlen(text) < ROOM;
        text = weft_arena_text(tmp, "%s%s%s", text, i > 0 ? ", " : "",
                               fits ? column->level[i] : "...");
        if (!fits) break;
    }
    return text;
}

/* What a number becomes. */
static const char *number_text(const weft_column *column, weft_arena *tmp)
{
    const char *unit = weft_column_unit(column);
    const char *text = weft_arena_text(tmp, "itself%s%s", *unit ? " without " : "", unit);
    if (column->missing + column->marks == 0) return text;
    return weft_arena_text(tmp, "%s, %.6g where missing%s", text, column->fill,
                           column->marks ? ", and a mark" : "");
}

/* What a date becomes. */
static const char *date_text(const weft_column *column, weft_arena *tmp)
{
    const char *text = "";
    int weekdays = 0;
    for (int64_t i = 0; i < column->levels; i++) {
        int part = column->part[i];
        int weekday = part >= WEFT_PART_MONDAY && part < WEFT_PART_HOUR_SINE;
        if (weekday && weekdays++ > 0) continue;
        if (part == WEFT_PART_MONTH_COSINE || part == WEFT_PART_HOUR_COSINE) continue;
        const char *name = weekday ? "weekday" : weft_date_part_name[part];
        text = weft_arena_text(tmp, "%s%s%.*s", text, i > 0 ? ", " : "",
                               (int)strcspn(name, " "), name);
    }
    return weft_arena_text(tmp, "%s%s", text, column->marks ? ", a mark" : "");
}

const char *weft_column_show(const weft_column *column, double x, weft_arena *mem)
{
    char *text = WEFT_NEW(mem, char, WEFT_CSV_NUMBER);
    if (column->kind != WEFT_COLUMN_DATE) return weft_csv_number(x, text);
    weft_date_order order = strncmp(column->written, "time", 4) == 0   ? WEFT_DATE_TIME
                            : strncmp(column->written, "span", 4) == 0 ? WEFT_DATE_SPAN
                                                                       : WEFT_DATE_YMD;
    return weft_date_text(x, weft_column_zone(column), order, text, WEFT_CSV_NUMBER);
}

static void print_column(const weft_column *column, weft_arena *tmp)
{
    char *range = weft_arena_text(tmp, "%.6g .. %.6g", column->low, column->high);
    const char *becomes = "";
    switch (column->kind) {
    case WEFT_COLUMN_NUMBER: becomes = number_text(column, tmp); break;
    case WEFT_COLUMN_TARGET: becomes = "a number to predict"; break;
    case WEFT_COLUMN_WEIGHT: becomes = "what the row counts"; break;
    case WEFT_COLUMN_DATE:
        range = weft_arena_text(tmp, "%s .. %s", weft_column_show(column, column->low, tmp),
                                weft_column_show(column, column->high, tmp));
        becomes = date_text(column, tmp);
        break;
    case WEFT_COLUMN_CATEGORY:
        range = levels_text(column, tmp);
        becomes = weft_arena_text(tmp, "%lld levels%s", (long long)column->levels,
                                  column->marks ? " and a mark where missing" : "");
        break;
    default: *range = '\0';
    }
    printf("%-20s %-8s %7lld%s %8lld  %-30s %s\n",
           weft_one_line(weft_arena_text(tmp, "%s", column->name)),
           weft_column_kind_name[column->kind], (long long)column->distinct,
           column->distinct < WEFT_COLUMN_MOST ? " " : "+", (long long)column->missing,
           weft_one_line(range), becomes);
}

void weft_columns_print(const weft_columns *columns)
{
    enum { MOST = 24 };
    weft_arena *tmp = weft_arena_new();
    printf("%-20s %-8s %8s %8s  %-30s %s\n", "column", "kind", "distinct", "missing",
           "range", "becomes");
    for (int64_t j = 0; j < columns->n && j < MOST; j++) print_column(&columns->at[j], tmp);
    weft_arena_free(tmp);
    if (columns->n > MOST) printf("... %lld more\n", (long long)(columns->n - MOST));
}
