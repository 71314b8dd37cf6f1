/* The rows of a layer: a file, or memory. */
#ifndef WEFT_KEPT_LAYER_H
#define WEFT_KEPT_LAYER_H

#include "weft/base/base.h"

/* Precedes the numbers of a row. */
typedef struct kept_head {
    int64_t client, turn; /* turn 0: there is no row */
    uint64_t hash;        /* of client and numbers */
} kept_head;

/* The shape of all rows of a table. */
typedef struct kept_shape {
    int64_t n, each;
    size_t bytes; /* of a row with its head, a multiple of 8 */
} kept_shape;

/* Rows, of which `live` belong to the table. */
typedef struct kept_layer {
    const char *path; /* NULL: in memory */
    char *memory;     /* [room] rows */
    int64_t rows, room, live;
    int fd; /* while it is used; else -1 */
} kept_layer;

kept_shape kept_shape_of(int64_t n, int64_t each);
uint64_t kept_hash(const kept_shape *shape, int64_t client, const real *x);
/* Opens the file of a layer for reading, with `makes` 1 an empty one that replaces any for
 * writing; sets its number of rows. EFILE. */
WEFT_CHECKED weft_status kept_layer_open(kept_layer *layer, const kept_shape *shape,
                                         int makes);
/* Opens it if it is a file and closed, for reading or, with `writes` 1, both. EFILE. */
WEFT_CHECKED weft_status kept_layer_need(kept_layer *layer, int writes);
void kept_layer_close(kept_layer *layer);
/* Reads or writes `bytes` from the beginning of row `row`, of one row or several. Memory
 * grows in mem. EFILE. */
WEFT_CHECKED weft_status kept_layer_read(const kept_layer *layer, const kept_shape *shape,
                                         int64_t row, void *data, size_t bytes);
WEFT_CHECKED weft_status kept_layer_write(kept_layer *layer, const kept_shape *shape,
                                          int64_t row, const void *data, size_t bytes,
                                          weft_arena *mem);
/* Calls `see` with the head of each row, in order. EFILE, or what it returns. */
typedef weft_status kept_see(void *of, int64_t row, const kept_head *head);
WEFT_CHECKED weft_status kept_layer_scan(const kept_layer *layer, const kept_shape *shape,
                                         kept_see *see, void *of);
/* EFILE: the file is damaged. */
WEFT_CHECKED weft_status kept_damaged(const char *path);
/* The same of a row, and what to do. With `spoils` 1 all states that share it are found to
 * be damaged when they are opened, so that what led to them is done again. EFILE. */
WEFT_CHECKED weft_status kept_row_damaged(const kept_layer *layer, const kept_shape *shape,
                                          int64_t row, int spoils);

#endif
