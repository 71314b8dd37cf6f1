/* What is known of all rows of a part, on every rank. */
#include "weft/data.h"

#include <string.h>

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
