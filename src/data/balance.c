/* Weights that let classes count alike. */
#include "weft/data.h"

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

const double *weft_data_balance(const weft_data *data, double *class, weft_arena *mem)
{
    const weft_rows *rows = &data->part[WEFT_TRAIN];
    int64_t *count = WEFT_NEW(mem, int64_t, data->classes);
    double *weight = WEFT_NEW(mem, double, rows->n);
    for (int64_t i = 0; i < rows->n; i++) count[rows->label[i]]++;
    weft_sum_i64(data->team, count, (size_t)data->classes);
    weft_class_weights(data->classes, count, class);
    for (int64_t i = 0; i < rows->n; i++)
        weight[i] =
            (double)(real)((rows->weight ? rows->weight[i] : 1) * class[rows->label[i]]);
    return weight;
}
