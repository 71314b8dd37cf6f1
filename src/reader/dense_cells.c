/* Rows of tables and images in arrays: what is no number is read at once, numbers are read
 * where they are as rows are packed. */
#include "dense_arrays.h"
#include "dense_cell.h"

#include <math.h>
#include <string.h>

/* ---- cells of any table ---- */

/* The pair of arrays that row i is in. */
static int pair_of(const weft_dense_arrays *arrays, int64_t i)
{
    int k = 0;
    while (i >= arrays->first[k + 1]) k++;
    return k;
}

/* Column c, of x or behind these of y, of row i. */
static double number_at(const weft_dense_arrays *arrays, int64_t i, int64_t c)
{
    int k = pair_of(arrays, i), of_y = c >= arrays->d;
    const weft_array *array = of_y ? &arrays->y[k] : &arrays->x[k];
    int64_t width = of_y ? weft_array_width(array) : arrays->d;
    double x;
    weft_array_numbers(array, (i - arrays->first[k]) * width + c - (of_y ? arrays->d : 0),
                       1, 1, &x);
    return x;
}

double *weft_dense_place(const weft_dense_rows *rows, int64_t i, int64_t j)
{
    return rows->at[j].cell ? &rows->at[j].cell[i] : &rows->value[i * rows->d + j];
}

double weft_dense_cell(const weft_dense_rows *rows, int64_t i, int64_t j)
{
    if (!rows->arrays || rows->at[j].cell) return *weft_dense_place(rows, i, j);
    return number_at(rows->arrays, i, rows->arrays->from[j]);
}

const double *weft_dense_cells(const weft_dense_rows *rows, int64_t i, double *room)
{
    const weft_dense_arrays *arrays = rows->arrays;
    if (!arrays) return rows->value + i * rows->d;
    int k = pair_of(arrays, i);
    weft_array_numbers(&arrays->x[k], (i - arrays->first[k]) * arrays->d, 1, arrays->d,
                       arrays->row);
    for (int64_t j = 0; j < rows->d; j++) {
        int64_t from = arrays->from[j];
        room[j] = rows->at[j].cell                ? rows->at[j].cell[i]
                  : from >= 0 && from < arrays->d ? arrays->row[from]
                                                  : NAN;
    }
    return room;
}

int weft_dense_bytes(const weft_dense_rows *rows)
{
    for (int i = 0; i < rows->arrays->n; i++)
        if (rows->arrays->x[i].type != WEFT_EL_U8) return 0;
    return 1;
}

void weft_dense_image(const weft_dense_rows *rows, int64_t i, int bytes, void *x)
{
    const weft_dense_arrays *arrays = rows->arrays;
    int k = pair_of(arrays, i);
    const weft_array *array = &arrays->x[k];
    int64_t first = (i - arrays->first[k]) * arrays->d, *place = arrays->place;
    if (bytes) {
        const unsigned char *from = array->at + first;
        unsigned char *to = x;
        if (!place) memcpy(to, from, (size_t)arrays->d);
        for (int64_t c = 0; place && c < arrays->d; c++) to[c] = from[place[c]];
        return;
    }
    double *to = x;
    weft_array_numbers(array, first, 1, arrays->d, place ? arrays->row : to);
    for (int64_t c = 0; place && c < arrays->d; c++) to[c] = arrays->row[place[c]];
}

/* ---- numbers that are none ---- */

static weft_status bad_number(const weft_array *x, int64_t row, int64_t column,
                              double value, weft_arena *mem)
{
    int whole = isfinite((float)value), missing = isnan(value);
    const char *what = whole ? "a number of so many digits that doubles do not hold it; "
                               "is it an identifier? leave the column out"
                       : missing
                           ? "where a number is expected; missing = median fills gaps "
                             "of tables, images have none"
                           : "where a finite number is expected; mend the row";
    return weft_fail(WEFT_EDATA, "%s: row %lld, column %lld is %g, %s",
                     weft_array_where(x, mem), (long long)row + 1, (long long)column + 1,
                     value, what);
}

/* 1: a number of that type may be NaN, beyond floats, or be rounded. */
static int has_doubts(const weft_array *x)
{
    return x->type >= WEFT_EL_U64;
}

/* Counts the gaps of each column of x, [d]. EDATA: a number is infinite, or NaN where there
 * are no gaps. */
static weft_status check_x(const weft_dense_arrays *arrays, const weft_array *x, int gaps,
                           const char *read, int64_t *missing, weft_arena *mem)
{
    double most = x->type < WEFT_EL_F32 ? 0x1p53 : INFINITY;
    for (int64_t i = 0; has_doubts(x) && i < x->dims[0]; i++) {
        weft_array_numbers(x, i * arrays->d, 1, arrays->d, arrays->row);
        for (int64_t c = 0; c < arrays->d; c++) {
            double value = arrays->row[c];
            if (isfinite((float)value) && fabs(value) < most) continue;
            if (!read[c]) continue;
            if (!isnan(value) || !gaps) return bad_number(x, i, c, value, mem);
            missing[c]++;
        }
    }
    return WEFT_OK;
}

/* ---- what is no number ---- */

static weft_status bad_cell(const weft_array *array, int64_t row, int64_t column,
                            const char *kind, const char *text, weft_arena *mem)
{
    return weft_fail(WEFT_EDATA,
                     "%s: row %lld, column %lld is '%.40s' where a %s is expected; give "
                     "one, or remove the row",
                     weft_array_where(array, mem), (long long)row + 1,
                     (long long)column + 1, text, kind);
}

/* A column of the table that is read at once. */
struct special {
    const weft_array *array;
    int64_t width, column; /* of the array; column of it */
    const weft_csv *how;
    weft_dense_column *to;
    weft_dense_rows *rows;
    weft_arena *tmp;
};

/* Its cell in row i of the array. */
static weft_status read_cell(const struct special *special, int64_t i, double *cell)
{
    const weft_array *array = special->array;
    weft_column_kind kind = special->to->kind;
    int64_t at = i * special->width + special->column;
    int named = kind == WEFT_COLUMN_CATEGORY || kind == WEFT_COLUMN_GROUP ||
                kind == WEFT_COLUMN_CLIENT;
    const char *text = "0";
    double x = NAN;
    if (named || weft_array_texts(array)) text = weft_array_text(array, at, special->tmp);
    if (!weft_array_texts(array))
        weft_array_numbers(array, at, 1, 1, &x);
    else if (!weft_cell_number(special->how, text, &x, special->tmp))
        x = NAN;
    int missing = weft_array_texts(array) ? weft_cell_missing(text) : isnan(x);
    int answer = kind == WEFT_COLUMN_LABEL || kind == WEFT_COLUMN_TARGET;
    if (answer && array->type < WEFT_EL_F32 && fabs(x) > 0x1p53) {
        text = weft_array_text(array, at, special->tmp);
        if (weft_number_lost(text)) x = NAN;
    }
    const char *shown =
        weft_array_texts(array) ? text : weft_arena_text(special->tmp, "%g", x);
    int owner = kind == WEFT_COLUMN_GROUP || kind == WEFT_COLUMN_CLIENT;
    int fails = missing && (owner || !special->how->unlabelled);
    if (kind == WEFT_COLUMN_CATEGORY)
        fails = missing && special->how->missing == WEFT_MISSING_REFUSE;
    if (kind == WEFT_COLUMN_WEIGHT) fails = !(x >= 0 && isfinite(x));
    if (fails)
        return bad_cell(array, i, special->column, weft_column_kind_name[kind], shown,
                        special->rows->mem);
    if (answer)
        weft_dense_answer(special->rows, special->to, array->path, i + 1,
                          missing ? "" : text, x);
    special->to->missing += missing && kind == WEFT_COLUMN_CATEGORY;
    *cell = !named    ? x
            : missing ? NAN
                      : (double)weft_dense_name_number(special->rows, special->to, text);
    return WEFT_OK;
}

/* Reads column j, which is no number, of a pair of arrays. */
static weft_status read_special(weft_dense_rows *rows, const weft_csv *how, int k,
                                int64_t j)
{
    const weft_dense_arrays *arrays = rows->arrays;
    int64_t from = arrays->from[j], n = arrays->first[k + 1] - arrays->first[k];
    int of_y = from >= arrays->d;
    struct special special = {.array = of_y ? &arrays->y[k] : &arrays->x[k],
                              .column = of_y ? from - arrays->d : from,
                              .how = how,
                              .to = &rows->at[j],
                              .rows = rows,
                              .tmp = weft_arena_new()};
    special.to->place = from;
    special.width = weft_array_width(special.array);
    double *cell = rows->at[j].cell + arrays->first[k];
    weft_status st = WEFT_OK;
    for (int64_t i = 0; i < n && st == WEFT_OK; i++) {
        cell[i] = NAN;
        if (from >= 0) st = read_cell(&special, i, &cell[i]);
        weft_arena_reset(special.tmp, 0);
    }
    weft_arena_free(special.tmp);
    return st;
}

/* The label of row i of a pair; "": it has none. */
static const char *label_of(const weft_dense_arrays *arrays, int k, int64_t from, int64_t i,
                            weft_arena *mem)
{
    int of_y = from >= arrays->d;
    const weft_array *array = of_y ? &arrays->y[k] : &arrays->x[k];
    if (from < 0) return "";
    int64_t at =
        of_y ? i * weft_array_width(array) + from - arrays->d : i * arrays->d + from;
    double x = 0;
    if (!weft_array_texts(array)) weft_array_numbers(array, at, 1, 1, &x);
    return isnan(x) ? "" : weft_array_text(array, at, mem);
}

/* ---- rows ---- */

/* Where the columns of a table whose rows are scored come from. EDATA. */
static weft_status place_like(const weft_dense_like *like, weft_dense_arrays *arrays,
                              int64_t n, weft_arena *mem)
{
    int64_t lacks = 0, c = 0, label = 0;
    for (int64_t j = 0; j < n; j++)
        lacks += like->columns->at[j].kind == WEFT_COLUMN_LABEL ||
                 like->columns->at[j].kind == WEFT_COLUMN_TARGET;
    int whole = arrays->d == n && !arrays->labelled;
    if (!whole && arrays->d != n - lacks)
        return weft_fail(
            WEFT_EDATA,
            "%s has %lld columns where %lld are expected, as in the table that "
            "was learnt without its label",
            weft_array_where(&arrays->x[0], mem), (long long)arrays->d,
            (long long)(n - lacks));
    for (int64_t j = 0; j < n; j++) {
        weft_column_kind kind = like->columns->at[j].kind;
        int answer = kind == WEFT_COLUMN_LABEL || kind == WEFT_COLUMN_TARGET;
        arrays->from[j] = whole || !answer   ? c++
                          : arrays->labelled ? arrays->d + label++
                                             : -1;
    }
    return WEFT_OK;
}

/* The columns of x, and behind them those of y. ECONF. */
static weft_status set_columns(weft_dense_arrays *arrays, const weft_csv *how,
                               weft_dense_rows *rows)
{
    const char *path = weft_array_where(&arrays->x[0], rows->mem);
    int64_t k = arrays->labelled ? weft_array_width(&arrays->y[0]) : 0, n = arrays->d + k;
    weft_csv named = *how;
    int last = strcmp(how->label, "last") == 0;
    if (last != (k > 0))
        return weft_fail(WEFT_ECONF,
                         last ? "%s has no labels beside it: y = NAME says which array, or "
                                "file, has them, label = NUMBER which of its own columns"
                              : "%s has labels by y, so that label = %s has no effect; "
                                "leave one of them out",
                         path, how->label);
    if (k > 0) named.label = weft_arena_text(rows->mem, "%lld", (long long)arrays->d + 1);
    for (int64_t i = 1; i < k; i++)
        named.label = weft_arena_text(rows->mem, "%s,%lld", named.label,
                                      (long long)(arrays->d + 1 + i));
    const char **none = WEFT_NEW(rows->mem, const char *, n);
    for (int64_t j = 0; j < n; j++) none[j] = "0";
    named.header = WEFT_HEADER_NO;
    rows->head = (weft_csv_head){.columns = n, .line = 1};
    TRY(weft_csv_begin(path, &named, none, NULL, &rows->head, rows->mem));
    rows->d = n;
    rows->at = WEFT_NEW(rows->mem, weft_dense_column, n);
    for (int64_t j = 0; j < n; j++) rows->at[j].name.mem = rows->mem;
    TRY(weft_csv_kinds(path, &named, &rows->head, rows->at, rows->mem));
    rows->answer = &rows->at[rows->head.label];
    rows->many = rows->answer->kind == WEFT_COLUMN_TARGET;
    return WEFT_OK;
}

/* Prepares the columns of a table. */
static weft_status begin(weft_dense_arrays *arrays, const weft_csv *how,
                         const weft_dense_like *like, weft_dense_rows *rows)
{
    if (!like->columns) TRY(set_columns(arrays, how, rows));
    arrays->from = WEFT_NEW(rows->mem, int64_t, rows->d);
    for (int64_t j = 0; j < rows->d; j++) arrays->from[j] = j;
    if (like->columns) TRY(place_like(like, arrays, rows->d, rows->mem));
    for (int64_t j = 0; j < rows->d; j++)
        if (rows->at[j].kind != WEFT_COLUMN_NUMBER &&
            rows->at[j].kind != WEFT_COLUMN_DROPPED)
            rows->at[j].cell = WEFT_NEW(rows->mem, double, arrays->first[arrays->n]);
    return WEFT_OK;
}

/* Numbers of a pair, and its columns that are none. */
static weft_status read_table(const weft_csv *how, weft_dense_rows *rows, int k,
                              weft_arena *tmp)
{
    const weft_dense_arrays *arrays = rows->arrays;
    int64_t *missing = WEFT_NEW(tmp, int64_t, arrays->d);
    char *read = WEFT_NEW(tmp, char, arrays->d);
    for (int64_t j = 0; j < rows->d; j++)
        if (rows->at[j].kind == WEFT_COLUMN_NUMBER && arrays->from[j] < arrays->d)
            read[arrays->from[j]] = 1;
    TRY(check_x(arrays, &arrays->x[k], how->missing != WEFT_MISSING_REFUSE, read, missing,
                tmp));
    for (int64_t j = 0; j < rows->d; j++) {
        if (rows->at[j].kind == WEFT_COLUMN_NUMBER && arrays->from[j] < arrays->d)
            rows->at[j].missing += missing[arrays->from[j]];
        if (rows->at[j].cell) TRY(read_special(rows, how, k, j));
    }
    return WEFT_OK;
}

/* Labels of a pair, and the ends of its rows. */
static weft_status read_labels(const weft_csv *how, weft_dense_rows *rows, int k,
                               weft_arena *tmp)
{
    const weft_dense_arrays *arrays = rows->arrays;
    const char *where =
        weft_array_where(arrays->labelled ? &arrays->y[k] : &arrays->x[k], rows->mem);
    int64_t from = rows->at           ? arrays->from[rows->head.label]
                   : arrays->labelled ? arrays->d
                                      : -1;
    rows->labels.path = where;
    for (int64_t i = 0; i < arrays->first[k + 1] - arrays->first[k]; i++) {
        size_t mark = weft_arena_mark(tmp);
        const char *label = label_of(arrays, k, from, i, tmp);
        if (*label == '\0' && !how->unlabelled)
            return weft_fail(WEFT_EDATA,
                             "%s: row %lld has no label, or NaN; give one, or remove the "
                             "row",
                             where, (long long)i + 1);
        TRY(rows->at ? weft_dense_row(rows, i + 1, label)
                     : weft_dense_answered(rows, where, i + 1, label));
        weft_arena_reset(tmp, mark);
    }
    return WEFT_OK;
}

/* Images have one label, and no gaps. */
static weft_status check_images(const weft_dense_arrays *arrays, const weft_csv *how,
                                weft_dense_rows *rows, weft_arena *tmp)
{
    char *read = WEFT_NEW(tmp, char, arrays->d);
    memset(read, 1, (size_t)arrays->d);
    if (!rows->answer) rows->answer = WEFT_NEW(rows->mem, weft_dense_column, 1);
    if (!how->unlabelled && !arrays->labelled)
        return weft_fail(WEFT_ECONF,
                         "%s has no labels beside it: y = NAME says which array, or file, "
                         "has them",
                         weft_array_where(&arrays->x[0], rows->mem));
    if (arrays->labelled && weft_array_width(&arrays->y[0]) != 1)
        return weft_fail(WEFT_EDATA,
                         "%s has the shape %s where one label an image is "
                         "expected; of rows of 0 and 1, y.argmax(1) is it",
                         weft_array_where(&arrays->y[0], rows->mem),
                         weft_array_shape(&arrays->y[0], rows->mem));
    for (int k = 0; k < arrays->n; k++)
        TRY(check_x(arrays, &arrays->x[k], 0, read, NULL, rows->mem));
    return WEFT_OK;
}

weft_status weft_read_arrays(weft_dense_arrays *arrays, const weft_csv *how,
                             const weft_dense_like *like, weft_dense_rows *rows)
{
    int images = arrays->image[0] > 0;
    weft_arena *tmp = weft_arena_new();
    rows->arrays = arrays;
    weft_status st =
        images ? check_images(arrays, how, rows, tmp) : begin(arrays, how, like, rows);
    if (images) rows->d = arrays->d;
    for (int k = 0; k < arrays->n && st == WEFT_OK; k++) {
        if (!images) st = read_table(how, rows, k, tmp);
        if (st == WEFT_OK) st = read_labels(how, rows, k, tmp);
        weft_arena_reset(tmp, 0);
        for (int p = (int)arrays->part[k]; p < WEFT_NPART; p++) rows->end[p] = rows->n;
    }
    weft_arena_free(tmp);
    return st;
}
