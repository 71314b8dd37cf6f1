/* Rows of a table as they are read. */
#include "dense.h"

#include <string.h>

weft_status weft_dense_row(weft_dense_rows *rows, int64_t line, const char *label)
{
    rows->label =
        weft_grow(rows->mem, rows->label, sizeof *rows->label, rows->n, &rows->label_room);
    return weft_labels_find(&rows->labels, line, label, strlen(label),
                            &rows->label[rows->n++]);
}
