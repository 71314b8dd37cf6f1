/* Rows of a table as they are read. */
#include "dense_cell.h"

#include <math.h>
#include <string.h>

int64_t weft_dense_name_number(weft_dense_rows *rows, weft_dense_column *column,
                               const char *text)
{
    if (!rows->alike) return weft_names_find(&column->name, text);
    weft_arena *tmp = rows->mem;
    column->name.mem = column->meaning.mem = tmp;
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
    rows->label =
        weft_grow(rows->mem, rows->label, sizeof *rows->label, rows->n, &rows->label_room);
    rows->label[rows->n] = 0;
    if (rows->labels.n == WEFT_MAX_CLASSES && rows->answer && rows->answer->numbers > 0 &&
        rows->answer->texts == 0)
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
    column->path = path;
    column->text = weft_arena_text(rows->mem, "%.40s", text);
    column->line = line;
    column->number = column->place;
}

void weft_dense_answer(weft_dense_rows *rows, weft_dense_column *column, const char *path,
                       int64_t line, const char *text, double x)
{
    int missing = weft_cell_missing(text);
    column->numbers += !isnan(x);
    column->missing += missing;
    column->texts += isnan(x) && !missing;
    column->fractions |= x > floor(x);
    if (isnan(x) && !column->text) weft_dense_note(rows, column, path, line, text);
}

weft_status weft_dense_answered(weft_dense_rows *rows, const char *path, int64_t line,
                                const char *label)
{
    double x;
    if (!weft_table_number(label, &x) || !isfinite(x) || weft_number_lost(label)) x = NAN;
    weft_dense_answer(rows, rows->answer, path, line, label, x);
    rows->number = weft_grow(rows->mem, rows->number, sizeof *rows->number, rows->n,
                             &rows->number_room);
    rows->number[rows->n] = x;
    return weft_dense_row(rows, line, label);
}
