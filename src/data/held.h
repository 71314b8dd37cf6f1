/* Rows of datasets, in the mapped file or in memory. Private to data. */
#ifndef WEFT_DATA_HELD_H
#define WEFT_DATA_HELD_H

#include "weft/h5.h"

/* *rows: rows [first, first + n) of a dataset, in the mapped file where that can be, or
 * read into file->mem. EFILE, also for rows of another width. */
WEFT_CHECKED weft_status weft_rows_hold(weft_h5 *file, const char *name, weft_h5type type,
                                        int64_t width, int64_t first, int64_t n,
                                        const void **rows);

#endif
