/* Tables of the run file, one dataset per column. */
#include "columns.h"

#include <string.h>
#include <time.h>

weft_status weft_put_columns(weft_h5 *file, const char *group, const weft_field *column,
                             int nc, const void *rows, size_t bytes, int64_t n)
{
    int64_t *buffer = WEFT_NEW(file->mem, int64_t, n);
    for (int i = 0; i < nc; i++) {
        for (int64_t r = 0; r < n; r++)
            memcpy(&buffer[r], (const char *)rows + (size_t)r * bytes + column[i].at,
                   sizeof *buffer);
        const char *name = weft_arena_text(file->mem, "/%s/%s", group, column[i].name);
        TRY(weft_h5_put(file, name, column[i].whole ? WEFT_H5_I64 : WEFT_H5_F64, 1, &n,
                        buffer, 0, column[i].about, column[i].unit));
    }
    return WEFT_OK;
}

weft_status weft_put_table(weft_h5 *file, const char *group, const char *key,
                           const weft_metric *table, const double *x, int64_t n)
{
    int columns = weft_metrics_count(table);
    double *buffer = WEFT_NEW(file->mem, double, n);
    for (int i = 0; i < columns; i++) {
        for (int64_t r = 0; r < n; r++) buffer[r] = x[r * columns + i];
        TRY(weft_h5_put(file, weft_arena_text(file->mem, "/%s/%s", group, table[i].name),
                        WEFT_H5_F64, 1, &n, buffer, 0, table[i].about, table[i].unit));
    }
    return weft_h5_put_attr(file, weft_arena_text(file->mem, "/%s", group), key,
                            weft_metrics_text(table, file->mem));
}

const char *weft_time_text(int64_t seconds, weft_arena *mem)
{
    time_t t = (time_t)seconds;
    struct tm utc;
    char text[32] = "";
    if (gmtime_r(&t, &utc)) strftime(text, sizeof text, "%Y-%m-%dT%H:%M:%SZ", &utc);
    return weft_arena_text(mem, "%s", text);
}
