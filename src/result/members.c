/* The scores of a run's members: of each client that the winner was scored on. */
#include "members.h"
#include "columns.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static int rising(const void *left, const void *right)
{
    double x = *(const double *)left, y = *(const double *)right;
    return (x > y) - (x < y);
}

/* Column of the last error that all members have; -1: none. */
static int error_column(const weft_members *members)
{
    const weft_metric *table = members->table;
    int columns = weft_metrics_count(table);
    for (int i = columns - 1; i >= 0; i--)
        if (weft_metric_is_share(&table[i]) && !isnan(members->score[i])) return i;
    return -1;
}

static weft_status put_spread(weft_h5 *file, const char *group, const weft_members *members)
{
    const weft_metric *table = members->table;
    int columns = weft_metrics_count(table), at = error_column(members);
    int64_t n = members->n, tenth = (n + 9) / 10;
    if (at < 0) return WEFT_OK;
    double *x = WEFT_NEW(file->mem, double, n), sum = 0, worst = 0, best = 0, square = 0;
    for (int64_t i = 0; i < n; i++) x[i] = members->score[i * columns + at];
    qsort(x, (size_t)n, sizeof *x, rising);
    for (int64_t i = 0; i < n; i++) sum += x[i];
    for (int64_t i = 0; i < n; i++)
        square += (x[i] - sum / (double)n) * (x[i] - sum / (double)n);
    for (int64_t i = 0; i < tenth; i++) {
        best += x[i];
        worst += x[n - 1 - i];
    }
    TRY(weft_h5_put_attr(file, group, "error_column", table[at].name));
    TRY(weft_h5_put_num(file, group, "worst_error", worst / (double)tenth));
    TRY(weft_h5_put_num(file, group, "median_error", (x[(n - 1) / 2] + x[n / 2]) / 2));
    TRY(weft_h5_put_num(file, group, "best_error", best / (double)tenth));
    return weft_h5_put_num(file, group, "std_error", sqrt(square / (double)n));
}

weft_status weft_members_put(weft_h5 *file, const char *group,
                             const weft_scores score[WEFT_NPART])
{
    int part = score[WEFT_TEST].members ? WEFT_TEST : WEFT_VALID;
    const weft_members *members = score[part].members;
    if (!members) return WEFT_OK;
    const char *path = weft_arena_text(file->mem, "/%s", group);
    const char *number = weft_arena_text(file->mem, "%s/number", path);
    TRY(weft_h5_put(file, number, WEFT_H5_I64, 1, &members->n, members->number, 0,
                    "among those of the data", "count"));
    if (members->name)
        TRY(weft_h5_put_texts(file, weft_arena_text(file->mem, "%s/name", path),
                              members->name, members->n, "in the data"));
    TRY(weft_h5_put(file, weft_arena_text(file->mem, "%s/count", path), WEFT_H5_F64, 1,
                    &members->n, members->count, 0, "predictions scored", "count"));
    TRY(weft_put_table(file, group, "scores", members->table, members->score, members->n));
    TRY(weft_h5_put_attr(file, path, "part", weft_part_name[part]));
    return put_spread(file, path, members);
}
