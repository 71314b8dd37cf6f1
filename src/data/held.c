/* Rows of datasets, in the mapped file or in memory. */
#include "held.h"
#include "weft/h5map.h"

weft_status weft_rows_hold(weft_h5 *file, const char *name, weft_h5type type, int64_t width,
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
