/* Tables of the run file: arrays of structs in memory, one dataset per column in the file.
 * Private to run. */
#ifndef WEFT_COLUMNS_H
#define WEFT_COLUMNS_H

#include "weft/gemm.h"
#include "weft/h5.h"
#include "weft/job.h"

/* A column of a table whose rows are structs of 8-byte numbers. */
typedef struct weft_field {
    const char *name, *about, *unit;
    size_t at;
    int whole; /* 1: int64_t, 0: double */
} weft_field;

#define WEFT_WHOLE(type, m, about, unit)                                                   \
    {                                                                                      \
#m, about, unit, offsetof(type, m), 1                                              \
    }
#define WEFT_NUMBER(type, m, about, unit)                                                  \
    {                                                                                      \
#m, about, unit, offsetof(type, m), 0                                              \
    }
#define WEFT_COUNT(a) (int)(sizeof(a) / sizeof *(a))

/* Writes the columns of rows[n], each `bytes` long, into a group. */
WEFT_CHECKED weft_status weft_put_columns(weft_h5 *file, const char *group,
                                          const weft_field *column, int nc,
                                          const void *rows, size_t bytes, int64_t n);
/* Writes x[n][columns of the table] into a group that exists, and the table as its
 * attribute `key`. */
WEFT_CHECKED weft_status weft_put_table(weft_h5 *file, const char *group, const char *key,
                                        const weft_metric *table, const double *x,
                                        int64_t n);
/* Time as text, "2026-01-31T12:00:00Z", from seconds since 1970. Owned by mem. */
const char *weft_time_text(int64_t seconds, weft_arena *mem);

#endif
