/* Tables of numbers as read from CSV or libsvm files. Private to the reader `dense`. */
#ifndef WEFT_READER_DENSE_H
#define WEFT_READER_DENSE_H

#include "reader.h"

/* Rows of numbers, each in full (column NULL), or without their zeros: then entries
 * first[i] .. first[i+1] are those of row i. */
typedef struct weft_dense_rows {
    int64_t n, d;    /* rows, columns */
    int32_t *label;  /* [n] */
    double *value;   /* [n][d], or [entries] */
    int32_t *column; /* [entries] from 0 */
    int64_t *first;  /* [n+1] */
    int64_t entries, label_room, first_room, value_room, column_room;
    weft_labels labels;
    const char **name; /* [d] of the columns, of a header; NULL: there is none */
    weft_arena *mem;
} weft_dense_rows;

/* Ends the row of that line, whose numbers were just written. EDATA as weft_labels_find. */
WEFT_CHECKED weft_status weft_dense_row(weft_dense_rows *t, int64_t line,
                                        const char *label);

/* A number from text; canonical spelling ("+1" and "1.0" are "1") of a label, itself where
 * it is no number. */
int weft_table_number(const char *text, double *x);
const char *weft_table_label(const char *text, weft_arena *mem);

/* How a CSV file is laid out. */
typedef struct weft_csv {
    const char *label; /* column: "first", "last", a number from 1, or its name */
    char separator;    /* between the columns */
    int header; /* 0 auto: the first line where it has a column that is no number; 1 yes, 2
                   no */
} weft_csv;

/* A number at `at`, which ends before `end`, and the blanks around it: the bits that strtod
 * gives. Returns what follows, NULL for what is not plain decimal or is beyond floats. */
const char *weft_number_read(const char *at, const char *end, double *x);

/* EDATA naming file, line and column: ragged rows, non-numbers, NaN or infinity. */
WEFT_CHECKED weft_status weft_read_csv(const char *path, char *text, size_t n,
                                       const weft_csv *how, weft_dense_rows *t);
WEFT_CHECKED weft_status weft_read_libsvm(const char *path, char *text, size_t n,
                                          weft_dense_rows *t);

#endif
