/* Rows of a data set: where they are, in the mapped file or in memory; what is to be said
 * of them, classes or numbers, what each counts, and its group; what every rank knows of
 * all. */
#include "data.h"
#include "weft/data/sample.h"
#include "weft/math/linear.h"

#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

const char *const weft_part_name[WEFT_NPART] = {"train", "valid", "test"};

weft_status data_fail(const weft_data *data, const char *fmt, ...)
{
    char text[512];
    va_list args;
    va_start(args, fmt);
    vsnprintf(text, sizeof text, fmt, args);
    va_end(args);
    return weft_fail(WEFT_EDATA, "%s%s; pack it again", data->path, text);
}

/* ---- reading ---- */

weft_status data_hold_rows(weft_h5 *file, const char *name, weft_h5type type, int64_t width,
                           int64_t first, int64_t n, const void **rows)
{
    int nd;
    int64_t dims[WEFT_H5_DIMS];
    *rows = NULL;
    TRY(weft_h5_shape(file, name, &nd, dims));
    if (nd <= 2 && dims[1] == width)
        TRY(weft_h5_map_part(file, name, type, first, n, rows));
    if (*rows) return WEFT_OK;
    void *own = weft_arena_alloc(file->mem, (size_t)(n * width), weft_h5_size(type));
    *rows = own;
    return weft_h5_read_rows(file, name, type, width, first, n, own);
}

const char *data_name(const weft_data *data, int part, const char *what)
{
    return weft_arena_text(data->mem, "/%s/%s", weft_part_name[part], what);
}

int64_t data_window_first(const weft_data *data, int part)
{
    return part == data->window.part ? data->window.first : 0;
}

int64_t data_window_rows(const weft_data *data, int part, int64_t total)
{
    const weft_window *window = &data->window;
    int64_t left = total - window->first;
    if (window->n == 0) return total;
    return part != window->part ? 0 : left < window->n ? left : window->n;
}

weft_status data_check_reals(const weft_data *data, const char *name, int64_t first,
                             int64_t n, int64_t width, const float *x)
{
    int64_t i = weft_not_finite(x, n * width);
    if (i == n * width) return WEFT_OK;
    return weft_fail(WEFT_EDATA,
                     "%s: row %lld, column %lld of %s is %g where a finite number is "
                     "expected; mend the source and pack it again",
                     data->path, (long long)(first + i / width), (long long)(i % width),
                     name, (double)x[i]);
}

weft_status data_check_classes(const weft_data *data, const char *name, int classes,
                               int64_t first, int64_t n, const int32_t *label)
{
    for (int64_t i = 0; i < n; i++)
        if (label[i] < 0 || label[i] >= classes)
            return data_fail(data, ": row %lld of %s has class %d of %d",
                             (long long)(first + i), name, (int)label[i], classes);
    return WEFT_OK;
}

/* The rows of a part, by the dataset that has one entry of `width` numbers a row. */
static weft_status size_part(weft_data *data, int part, const char *name, int64_t width)
{
    weft_rows *rows = &data->part[part];
    int nd;
    int64_t dims[WEFT_H5_DIMS] = {0};
    TRY(weft_h5_shape(&data->file, name, &nd, dims));
    if (width > 0 && (nd != 2 || dims[1] != width))
        return data_fail(data, ": %s has not %lld numbers a row", name, (long long)width);
    rows->total = data_window_rows(data, part, dims[0]);
    weft_deal(rows->total, data->team->rank, data->team->size, &rows->first, &rows->n);
    return WEFT_OK;
}

static weft_status read_labels(weft_data *data, int part)
{
    weft_rows *rows = &data->part[part];
    const char *name = data_name(data, part, "label");
    TRY(size_part(data, part, name, 0));
    int32_t *label = WEFT_NEW(data->mem, int32_t, rows->n);
    TRY(weft_h5_read_rows(&data->file, name, WEFT_H5_I32, 1,
                          data_window_first(data, part) + rows->first, rows->n, label));
    rows->label = label;
    return data_check_classes(data, name, data->classes, rows->first, rows->n, label);
}

static weft_status read_targets(weft_data *data, int part)
{
    weft_rows *rows = &data->part[part];
    const char *name = data_name(data, part, "target");
    int64_t m = data->classes;
    TRY(size_part(data, part, name, m));
    double *target = WEFT_NEW(data->mem, double, rows->n *m);
    TRY(weft_h5_read_rows(&data->file, name, WEFT_H5_F64, m,
                          data_window_first(data, part) + rows->first, rows->n, target));
    for (int64_t i = 0; i < rows->n * m; i++) {
        if (!isfinite(target[i]))
            return data_fail(data,
                             ": row %lld of %s is %g where a finite number is expected",
                             (long long)(rows->first + i / m), name, target[i]);
        target[i] = (target[i] - data->target_shift[i % m]) / data->target_scale[i % m];
    }
    rows->target = target;
    rows->label = WEFT_NEW(data->mem, int32_t, rows->n);
    return WEFT_OK;
}

static weft_status read_weights(weft_data *data, int part)
{
    weft_rows *rows = &data->part[part];
    const char *name = data_name(data, part, "weight");
    if (!weft_h5_has(&data->file, name)) return WEFT_OK;
    double *weight = WEFT_NEW(data->mem, double, rows->n);
    TRY(weft_h5_read_rows(&data->file, name, WEFT_H5_F64, 1,
                          data_window_first(data, part) + rows->first, rows->n, weight));
    for (int64_t i = 0; i < rows->n; i++)
        if (!isfinite(weight[i]) || weight[i] < 0)
            return data_fail(
                data, ": row %lld of %s is %g where a weight of 0 or more is expected",
                (long long)(rows->first + i), name, weight[i]);
    for (int64_t i = 0; i < rows->n; i++) weight[i] = (double)(real)weight[i];
    rows->weight = weight;
    return WEFT_OK;
}

weft_status data_read_answers(weft_data *data, int part)
{
    if (data->target_scale)
        TRY(read_targets(data, part));
    else
        TRY(read_labels(data, part));
    return read_weights(data, part);
}

weft_status data_read_groups(weft_data *data)
{
    int64_t n = 0;
    if (data->window.n > 0 || !weft_h5_has(&data->file, "/@groups")) return WEFT_OK;
    TRY(weft_h5_read_long(&data->file, "/", "groups", &data->groups));
    for (int p = 0; p < WEFT_NPART; p++) n += data->part[p].total;
    if (data->groups < 1 || data->groups > n)
        return data_fail(data, " has %lld groups of %lld rows", (long long)data->groups,
                         (long long)n);
    for (int p = 0; p < WEFT_NPART; p++) {
        weft_rows *rows = &data->part[p];
        const char *name = data_name(data, p, "group");
        int32_t *group = WEFT_NEW(data->mem, int32_t, rows->n);
        TRY(weft_h5_read_rows(&data->file, name, WEFT_H5_I32, 1, rows->first, rows->n,
                              group));
        for (int64_t i = 0; i < rows->n; i++)
            if (group[i] < 0 || group[i] >= data->groups)
                return data_fail(data, ": row %lld of %s has group %d of %lld",
                                 (long long)(rows->first + i), name, (int)group[i],
                                 (long long)data->groups);
        rows->group = group;
    }
    return WEFT_OK;
}

void data_count_rows(weft_data *data)
{
    for (int p = 0; p < WEFT_NPART; p++) {
        weft_rows *rows = &data->part[p];
        if (!rows->weight || rows->total == 0) continue;
        rows->counts = weft_sum_exact(data->team, rows->weight, rows->n, rows->total);
    }
}

/* ---- rows of all ranks ---- */

int32_t *weft_data_labels(const weft_data *data, weft_part part, weft_arena *mem)
{
    const weft_rows *rows = &data->part[part];
    int32_t *label = WEFT_NEW(mem, int32_t, rows->total);
    memcpy(label + rows->first, rows->label, (size_t)rows->n * sizeof *label);
    weft_sum_i32(data->team, label, (size_t)rows->total);
    return label;
}

/* x[n][wide] of this rank's rows, of all rows. */
static double *join(const weft_data *data, weft_part part, int wide, const double *x,
                    weft_arena *mem)
{
    const weft_rows *rows = &data->part[part];
    if (!x) return NULL;
    double *all = WEFT_NEW(mem, double, rows->total *wide);
    memcpy(all + rows->first * wide, x, (size_t)(rows->n * wide) * sizeof *all);
    weft_join_f64(data->team, all, (size_t)(rows->total * wide));
    return all;
}

double *weft_data_targets(const weft_data *data, weft_part part, weft_arena *mem)
{
    return join(data, part, data->classes, data->part[part].target, mem);
}

double *weft_data_weights(const weft_data *data, weft_part part, weft_arena *mem)
{
    return join(data, part, 1, data->part[part].weight, mem);
}

/* ---- weights of classes ---- */

void weft_class_weights(int classes, const int64_t *count, double *weight)
{
    int64_t n = 0;
    int there = 0;
    for (int c = 0; c < classes; c++) {
        n += count[c];
        there += count[c] > 0;
    }
    for (int c = 0; c < classes; c++)
        weight[c] = count[c] > 0 ? (double)n / ((double)there * (double)count[c]) : 0;
}

int64_t *data_count_classes(const weft_data *data, weft_arena *mem)
{
    const weft_rows *rows = &data->part[WEFT_TRAIN];
    int64_t *count = WEFT_NEW(mem, int64_t, data->classes);
    for (int64_t i = 0; i < rows->n; i++) count[rows->label[i]]++;
    weft_sum_i64(data->team, count, (size_t)data->classes);
    return count;
}

const double *weft_data_balance(const weft_data *data, double *class, weft_arena *mem)
{
    const weft_rows *rows = &data->part[WEFT_TRAIN];
    const int64_t *count = data_count_classes(data, mem);
    double *weight = WEFT_NEW(mem, double, rows->n);
    weft_class_weights(data->classes, count, class);
    for (int64_t i = 0; i < rows->n; i++)
        weight[i] =
            (double)(real)((rows->weight ? rows->weight[i] : 1) * class[rows->label[i]]);
    return weight;
}
