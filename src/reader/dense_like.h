/* Tables whose rows are to be scored: what the winner was trained on. Private to the reader
 * `dense`. */
#ifndef WEFT_READER_DENSE_LIKE_H
#define WEFT_READER_DENSE_LIKE_H

#include "dense.h"

/* What another file, packed or a run, says of tables whose rows its weights are for. */
typedef struct weft_dense_like {
    const weft_columns *columns; /* NULL: none; images */
    weft_form form;              /* of images, */
    int64_t d;                   /* and their numbers */
    int64_t label;               /* column of the label */
    int named;                   /* 1: columns have names */
    int federated;               /* 1: rows are those of clients */
    int side[3]; /* channels, height, width of rows that are images; else 0 */
    int classes;
    const char **class_name;                   /* [classes], or of the targets */
    const double *target_shift, *target_scale; /* [classes]; NULL: no targets */
} weft_dense_like;
/* Reads it from a file; images 1: the rows are of them. EFILE; EDATA: it was not packed
 * from such. */
WEFT_CHECKED weft_status weft_dense_like_read(const char *path, int images,
                                              weft_dense_like *like, weft_arena *mem);
/* Prepares *rows and *how for reading a table of these columns. */
void weft_dense_like_begin(const weft_dense_like *like, weft_csv *how,
                           weft_dense_rows *rows);
/* Warns that some of n rows, if any, have a level of column j, such as `text`, that
 * training rows have not. */
void weft_dense_unknown(const weft_dense_rows *rows, int64_t j, const char *text,
                        int64_t some, int64_t n);
/* After it was read: cells and labels become those of `like`. EDATA: a class is not known.
 */
WEFT_CHECKED weft_status weft_dense_like_end(const weft_dense_like *like,
                                             weft_dense_rows *rows);

#endif
