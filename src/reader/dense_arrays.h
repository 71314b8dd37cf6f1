/* Tables and images in arrays of other programs, and how cells of any table are read.
 * Private to the reader `dense`. */
#ifndef WEFT_READER_DENSE_ARRAYS_H
#define WEFT_READER_DENSE_ARRAYS_H

#include "array.h"
#include "dense_like.h"

/* Arrays as the options name them. */
typedef struct weft_dense_named {
    const char *x, *y; /* names in the file, or files, of the rows and of their labels, with
                          commas between those of the parts; "": found */
    const char *shape; /* "3x32x32"; "": as the array says */
} weft_dense_named;

/* Rows in arrays, file after file or part after part. */
typedef struct weft_dense_arrays {
    int n;                      /* pairs of arrays */
    weft_part part[WEFT_NPART]; /* of each pair */
    weft_array x[WEFT_NPART], y[WEFT_NPART];
    int labelled;                  /* 1: there are y */
    int64_t first[WEFT_NPART + 1]; /* row of each pair */
    int64_t d;                     /* numbers of a row of x */
    int64_t *from;  /* [rows->d] column of x, or d + column of y, that a column of
                       the table is; -1: none */
    int image[3];   /* channels, height, width; 0: rows of a table */
    int64_t *place; /* [d] of an image's numbers, plane by plane, in a row of x; NULL: as
                       they are */
    double *row;    /* [d] scratch */
} weft_dense_arrays;

/* Opens the arrays of the parts' files, path[] "" where a part has none; tells which they
 * are. EFILE; EDATA; ECONF: there is no such array, or shapes do not agree. */
WEFT_CHECKED weft_status weft_dense_arrays_open(const weft_dense_named *named,
                                                const char *const path[WEFT_NPART],
                                                int scored, weft_dense_arrays **arrays,
                                                weft_pack *pack);
/* Makes classes of labels whose rows have a single 1 among zeros, and tells it. */
void weft_dense_arrays_classes(weft_dense_arrays *arrays, weft_arena *mem);
void weft_dense_arrays_close(weft_dense_arrays *arrays);
/* Reads labels and columns that are no numbers into rows, which then have the arrays.
 * EDATA naming array, row and column. */
WEFT_CHECKED weft_status weft_read_arrays(weft_dense_arrays *arrays, const weft_csv *how,
                                          const weft_dense_like *like,
                                          weft_dense_rows *rows);

/* Cell j of row i of any table that was read, and its place where it is in memory. */
double weft_dense_cell(const weft_dense_rows *rows, int64_t i, int64_t j);
double *weft_dense_place(const weft_dense_rows *rows, int64_t i, int64_t j);
/* The d cells of row i, in room[d] or where they are. */
const double *weft_dense_cells(const weft_dense_rows *rows, int64_t i, double *room);
/* The d numbers of an image, as bytes, which it must have, or doubles. */
void weft_dense_image(const weft_dense_rows *rows, int64_t i, int bytes, void *x);
/* 1: images are of bytes. */
int weft_dense_bytes(const weft_dense_rows *rows);

/* Hands over the rows of a table or images to be trained on; shape: of rows of a table that
 * are images. ECONF; EDATA. */
WEFT_CHECKED weft_status weft_dense_put(const weft_dense_rows *rows,
                                        const weft_columns *columns,
                                        const weft_dense_parts *parts, const char *shape,
                                        weft_pack *pack);
/* Hands over rows to be scored, in the order of the file. EDATA: they are none of those
 * that were learnt. */
WEFT_CHECKED weft_status weft_dense_put_scored(const weft_dense_like *like,
                                               const char *source, weft_dense_rows *rows,
                                               weft_pack *pack);

#endif
