/* What is to be said of rows that belong to no client: classes, or numbers; and what each
 * row counts. */
#include "answers.h"
#include "weft/exact.h"

#include <math.h>

static const char *name_of(const weft_data *data, int part, const char *what)
{
    return weft_arena_text(data->mem, "/%s/%s", weft_part_name[part], what);
}

int64_t weft_window_first(const weft_data *data, int part)
{
    return part == data->window.part ? data->window.first : 0;
}

/* The rows of a part, by the dataset that has one entry of `width` numbers a row. */
static weft_status size_part(weft_data *data, int part, const char *name, int64_t width)
{
    weft_rows *rows = &data->part[part];
    int nd;
    int64_t dims[WEFT_H5_DIMS] = {0};
    TRY(weft_h5_shape(&data->file, name, &nd, dims));
    if (width > 0 && (nd != 2 || dims[1] != width))
        return weft_fail(WEFT_EDATA, "%s: %s has not %lld numbers a row; pack it again",
                         data->path, name, (long long)width);
    const weft_window *window = &data->window;
    int64_t left = dims[0] - window->first;
    rows->total = window->n == 0         ? dims[0]
                  : part != window->part ? 0
                  : left < window->n     ? left
                                         : window->n;
    weft_deal(rows->total, data->team->rank, data->team->size, &rows->first, &rows->n);
    return WEFT_OK;
}

static weft_status read_labels(weft_data *data, int part)
{
    weft_rows *rows = &data->part[part];
    const char *name = name_of(data, part, "label");
    TRY(size_part(data, part, name, 0));
    int32_t *label = WEFT_NEW(data->mem, int32_t, rows->n);
    TRY(weft_h5_read_rows(&data->file, name, WEFT_H5_I32, 1,
                          weft_window_first(data, part) + rows->first, rows->n, label));
    for (int64_t i = 0; i < rows->n; i++)
        if (label[i] < 0 || label[i] >= data->classes)
            return weft_fail(WEFT_EDATA,
                             "%s: row %lld of %s has class %d of %d; pack it again",
                             data->path, (long long)(rows->first + i), name, (int)label[i],
                             data->classes);
    rows->label = label;
    return WEFT_OK;
}

static weft_status read_targets(weft_data *data, int part)
{
    weft_rows *rows = &data->part[part];
    const char *name = name_of(data, part, "target");
    int64_t m = data->classes;
    TRY(size_part(data, part, name, m));
    double *target = WEFT_NEW(data->mem, double, rows->n *m);
    TRY(weft_h5_read_rows(&data->file, name, WEFT_H5_F64, m,
                          weft_window_first(data, part) + rows->first, rows->n, target));
    for (int64_t i = 0; i < rows->n * m; i++) {
        if (!isfinite(target[i]))
            return weft_fail(WEFT_EDATA,
                             "%s: row %lld of %s is %g where a finite number is expected; "
                             "pack it again",
                             data->path, (long long)(rows->first + i / m), name, target[i]);
        target[i] = (target[i] - data->target_shift[i % m]) / data->target_scale[i % m];
    }
    rows->target = target;
    rows->label = WEFT_NEW(data->mem, int32_t, rows->n);
    return WEFT_OK;
}

static weft_status read_weights(weft_data *data, int part)
{
    weft_rows *rows = &data->part[part];
    const char *name = name_of(data, part, "weight");
    if (!weft_h5_has(&data->file, name)) return WEFT_OK;
    double *weight = WEFT_NEW(data->mem, double, rows->n);
    TRY(weft_h5_read_rows(&data->file, name, WEFT_H5_F64, 1,
                          weft_window_first(data, part) + rows->first, rows->n, weight));
    for (int64_t i = 0; i < rows->n; i++)
        if (!isfinite(weight[i]) || weight[i] < 0)
            return weft_fail(WEFT_EDATA,
                             "%s: row %lld of %s is %g where a weight of 0 or more is "
                             "expected; pack it again",
                             data->path, (long long)(rows->first + i), name, weight[i]);
    for (int64_t i = 0; i < rows->n; i++) weight[i] = (double)(real)weight[i];
    rows->weight = weight;
    return WEFT_OK;
}

weft_status weft_answers_read(weft_data *data, int part)
{
    if (data->target_scale)
        TRY(read_targets(data, part));
    else
        TRY(read_labels(data, part));
    return read_weights(data, part);
}

weft_status weft_answers_groups(weft_data *data)
{
    int64_t n = 0;
    if (data->window.n > 0 || !weft_h5_has(&data->file, "/@groups")) return WEFT_OK;
    TRY(weft_h5_read_long(&data->file, "/", "groups", &data->groups));
    for (int p = 0; p < WEFT_NPART; p++) n += data->part[p].total;
    if (data->groups < 1 || data->groups > n)
        return weft_fail(WEFT_EDATA, "%s has %lld groups of %lld rows; pack it again",
                         data->path, (long long)data->groups, (long long)n);
    for (int p = 0; p < WEFT_NPART; p++) {
        weft_rows *rows = &data->part[p];
        const char *name = name_of(data, p, "group");
        int32_t *group = WEFT_NEW(data->mem, int32_t, rows->n);
        TRY(weft_h5_read_rows(&data->file, name, WEFT_H5_I32, 1, rows->first, rows->n,
                              group));
        for (int64_t i = 0; i < rows->n; i++)
            if (group[i] < 0 || group[i] >= data->groups)
                return weft_fail(WEFT_EDATA,
                                 "%s: row %lld of %s has group %d of %lld; pack it again",
                                 data->path, (long long)(rows->first + i), name,
                                 (int)group[i], (long long)data->groups);
        rows->group = group;
    }
    return WEFT_OK;
}

void weft_answers_count(weft_data *data)
{
    for (int p = 0; p < WEFT_NPART; p++) {
        weft_rows *rows = &data->part[p];
        if (!rows->weight || rows->total == 0) continue;
        double most = weft_largest_f64(data->team, rows->weight, (size_t)rows->n);
        int scale = weft_fix_scale(most * (double)rows->total);
        int64_t sum = 0;
        for (int64_t i = 0; i < rows->n; i++) sum += weft_fix(rows->weight[i], scale);
        weft_sum_i64(data->team, &sum, 1);
        rows->counts = weft_unfix(sum, scale);
    }
}
