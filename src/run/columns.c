/* Tables of the run file, a dataset a column. Called by output.c and rounds.c. */
#include "columns.h"

#include <string.h>

weft_status weft_put_columns(weft_h5 *f, const char *group, const weft_column *c, int nc,
                             const void *rows, size_t bytes, int64_t n)
{
    int64_t *buffer = WEFT_NEW(f->mem, int64_t, n);
    for (int i = 0; i < nc; i++) {
        for (int64_t r = 0; r < n; r++)
            memcpy(&buffer[r], (const char *)rows + (size_t)r * bytes + c[i].at,
                   sizeof *buffer);
        const char *name = weft_arena_text(f->mem, "/%s/%s", group, c[i].name);
        TRY(weft_h5_put(f, name, c[i].whole ? WEFT_H5_I64 : WEFT_H5_F64, 1, &n, buffer, 0,
                        c[i].about, c[i].unit));
    }
    return WEFT_OK;
}
