/* Columns that are replaced by their ranks among the training rows, as by scikit-learn's
 * QuantileTransformer with all rows and output_distribution="uniform". */
#include "ranks.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* Number j of a row, which is column `from` of the file, as in the source. */
static double source(const weft_data *data, int64_t from, float x)
{
    return (data->shift ? data->shift[from] : 0) +
           (data->scale ? data->scale[from] : 1) * (double)x;
}

/* ---- quantiles ---- */

static int by_size(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

/* Column j of all training rows, on every rank. */
static void gather(const weft_data *data, int64_t j, double *column)
{
    const weft_rows *rows = &data->part[WEFT_TRAIN];
    memset(column, 0, (size_t)rows->total * sizeof *column);
    for (int64_t i = 0; i < rows->n; i++)
        column[rows->first + i] = source(data, j, rows->value[i * rows->d + j]);
    weft_join_f64(data->team, column, (size_t)rows->total);
}

weft_ranks weft_ranks_of(const weft_data *data)
{
    const weft_rows *rows = &data->part[WEFT_TRAIN];
    int64_t d = rows->d, n = rows->total, m = n < WEFT_MOST_RANKS ? n : WEFT_MOST_RANKS;
    if (m < 2) m = 2;
    double *quantile = WEFT_NEW(data->mem, double, d *m);
    weft_arena *tmp = weft_arena_new();
    double *column = WEFT_NEW(tmp, double, n);
    for (int64_t j = 0; j < d; j++) {
        gather(data, j, column);
        if (j % data->team->size != data->team->rank) continue;
        qsort(column, (size_t)n, sizeof *column, by_size);
        for (int64_t k = 0; k < m; k++) {
            double at = (double)k * (double)(n - 1) / (double)(m - 1), low = floor(at);
            int64_t i = (int64_t)low, next = i + 1 < n ? i + 1 : i;
            quantile[j * m + k] = column[i] + (at - low) * (column[next] - column[i]);
        }
    }
    weft_join_f64(data->team, quantile, (size_t)(d * m));
    weft_arena_free(tmp);
    return (weft_ranks){m, quantile};
}

/* ---- ranks ---- */

/* The number of quantiles below x, or, equal 1, not above it. */
static int64_t below(int64_t n, const double *quantile, double x, int equal)
{
    int64_t lo = 0, hi = n;
    while (lo < hi) {
        int64_t mid = lo + (hi - lo) / 2;
        if (quantile[mid] < x || (equal && !(quantile[mid] > x)))
            lo = mid + 1;
        else
            hi = mid;
    }
    return lo;
}

static double rank_of(int64_t n, const double *quantile, double x)
{
    if (!(x > quantile[0])) return 0;
    if (!(x < quantile[n - 1])) return 1;
    int64_t first = below(n, quantile, x, 0), end = below(n, quantile, x, 1);
    double place = (double)(first + end - 1) / 2; /* the middle of equal ones */
    if (first == end)
        place = (double)(first - 1) +
                (x - quantile[first - 1]) / (quantile[first] - quantile[first - 1]);
    return place / (double)(n - 1);
}

void weft_ranks_take(weft_data *data, const weft_ranks *ranks, const int64_t *column_of)
{
    for (int p = 0; p < WEFT_NPART; p++) {
        weft_rows *rows = &data->part[p];
        int64_t d = rows->d, n = ranks->n;
        if (!rows->value) continue;
        float *to = WEFT_NEW(data->mem, float, rows->n *d);
        for (int64_t i = 0; i < rows->n; i++)
            for (int64_t j = 0; j < d; j++) {
                double x =
                    source(data, column_of ? column_of[j] : j, rows->value[i * d + j]);
                to[i * d + j] = (float)rank_of(n, ranks->quantile + j * n, x);
            }
        rows->value = to;
    }
    data->ranks = *ranks;
    data->shift = data->scale = NULL;
}
