/* Tables whose rows are to be scored: their columns are those of a table that was packed
 * before, for which a winner was trained. */
#include "dense_arrays.h"
#include "dense_cell.h"
#include "weft/data.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* The sides of images, attributes of a group. */
static weft_status read_sides(weft_h5 *file, const char *group, weft_dense_like *like)
{
    static const char *const name[] = {"channels", "height", "width"};
    if (!weft_h5_has(file, weft_arena_text(file->mem, "%s@channels", group)))
        return WEFT_OK;
    for (int i = 0; i < 3; i++) {
        int64_t side;
        TRY(weft_h5_read_long(file, group, name[i], &side));
        like->side[i] = (int)side;
    }
    return WEFT_OK;
}

/* The form and the numbers of images. */
static weft_status read_image(weft_h5 *file, const char *group, weft_dense_like *like)
{
    const char *form;
    int k = 0, table = weft_h5_has(file, weft_arena_text(file->mem, "%s/table", group));
    if (*group == '\0') group = "/";
    TRY(weft_h5_read_attr(file, group, "form", &form));
    TRY(weft_h5_read_long(file, group, "columns", &like->d));
    while (k < WEFT_NFORM && strcmp(form, weft_form_name[k]) != 0) k++;
    like->form = (weft_form)k;
    if (!table && (like->form == WEFT_BYTES || like->form == WEFT_REALS)) return WEFT_OK;
    return weft_fail(WEFT_EDATA, "like = %s is of no images, as its rows are", file->path);
}

static weft_status read_from(weft_h5 *file, int images, weft_dense_like *like)
{
    const char *group = weft_h5_has(file, "/winner") ? "/winner" : "";
    int64_t n;
    if (images)
        TRY(read_image(file, group, like));
    else
        TRY(weft_columns_read(file, group, &like->columns));
    if (!like->columns && !images)
        return weft_fail(WEFT_EDATA,
                         "like = %s was not packed from a table with columns, nor trained "
                         "on one",
                         file->path);
    TRY(weft_h5_read_texts(file, weft_arena_text(file->mem, "%s/class", group),
                           &like->class_name, &n));
    like->classes = (int)n;
    TRY(weft_like_federated(file, &like->federated));
    TRY(read_sides(file, *group ? group : "/", like));
    TRY(weft_shifts_read(file, weft_arena_text(file->mem, "%s/target", group), n,
                         &like->target_shift, &like->target_scale));
    like->label = -1;
    for (int64_t j = 0; like->columns && j < like->columns->n; j++) {
        const weft_column *column = &like->columns->at[j];
        if (like->label < 0 &&
            (column->kind == WEFT_COLUMN_LABEL || column->kind == WEFT_COLUMN_TARGET))
            like->label = j;
        like->named |= strtol(column->name, NULL, 10) != j + 1;
    }
    return WEFT_OK;
}

weft_status weft_dense_like_read(const char *path, int images, weft_dense_like *like,
                                 weft_arena *mem)
{
    weft_h5 file;
    *like = (weft_dense_like){0};
    TRY(weft_h5_open(&file, path, mem));
    weft_status st = read_from(&file, images, like);
    weft_h5_close(&file);
    return st;
}

void weft_dense_like_begin(const weft_dense_like *like, weft_csv *how,
                           weft_dense_rows *rows)
{
    int64_t n = like->columns->n;
    const char **name = WEFT_NEW(rows->mem, const char *, n);
    how->label = like->named ? like->columns->at[like->label].name : "last";
    if (!like->named)
        how->label = weft_arena_text(rows->mem, "%lld", (long long)like->label + 1);
    how->unlabelled = n;
    how->categories = how->weight = how->numbers = "";
    how->target = like->target_scale ? WEFT_TARGET_REGRESSION : WEFT_TARGET_CLASSES;
    rows->d = n;
    rows->head = (weft_csv_head){
        .columns = n, .label = like->label, .name = like->named ? name : NULL};
    rows->at = WEFT_NEW(rows->mem, weft_dense_column, n);
    rows->value = WEFT_NEW(rows->mem, double, rows->room *n);
    rows->answer = &rows->at[like->label];
    rows->many = rows->targets = like->target_scale ? like->classes : 0;
    for (int64_t j = 0; j < n; j++) {
        const weft_column *column = &like->columns->at[j];
        name[j] = column->name;
        rows->at[j] =
            (weft_dense_column){.kind = column->kind,
                                .fixed = 1,
                                .name = {.mem = rows->mem},
                                .written = weft_written_of(column->written, rows->mem)};
        if (column->features == 0 && column->kind != WEFT_COLUMN_LABEL &&
            column->kind != WEFT_COLUMN_TARGET && column->kind != WEFT_COLUMN_CLIENT &&
            column->kind != WEFT_COLUMN_WEIGHT)
            rows->at[j].kind = WEFT_COLUMN_DROPPED;
        for (int64_t i = 0; i < column->levels; i++)
            weft_dense_name_number(rows, &rows->at[j], column->level[i]);
    }
    for (int c = 0; c < like->classes && rows->alike; c++)
        weft_dense_name_number(rows, rows->answer, like->class_name[c]);
}

/* Labels that are missing, and no classes that were learnt, are none. */
static void forget_gaps(const weft_dense_like *like, weft_labels *labels)
{
    for (int i = 0; i < labels->n; i++) {
        int k = 0;
        while (k < like->classes && strcmp(like->class_name[k], labels->name[i]) != 0) k++;
        if (k == like->classes && weft_label_missing(labels->name[i])) labels->name[i] = "";
    }
}

weft_status weft_dense_like_end(const weft_dense_like *like, weft_dense_rows *rows)
{
    for (int64_t j = 0; like->columns && j < rows->d; j++) {
        const weft_column *column = &like->columns->at[j];
        const char *text = NULL;
        int64_t unknown = 0;
        for (int64_t i = 0; i < rows->n && column->kind == WEFT_COLUMN_CATEGORY; i++) {
            double *cell = weft_dense_place(rows, i, j);
            if (!(*cell >= (double)column->levels)) continue;
            if (unknown++ == 0) text = rows->at[j].name.name[(int64_t)*cell];
            *cell = -1;
        }
        weft_dense_unknown(rows, j, text, unknown, rows->n);
    }
    if (rows->targets > 0) return WEFT_OK;
    forget_gaps(like, &rows->labels);
    return weft_labels_match(&rows->labels, like->classes, like->class_name, rows->label,
                             rows->n);
}
