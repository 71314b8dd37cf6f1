/* Tables of numbers as read from CSV or libsvm files. Private to the reader `dense`. */
#ifndef WEFT_READER_DENSE_H
#define WEFT_READER_DENSE_H

#include "reader.h"

/* What the first line tells. */
typedef struct weft_csv_head {
    int64_t line, columns; /* its number; columns of all lines. in */
    int64_t label;         /* column of the label, from 0 */
    const char **name;     /* [columns]; NULL: the line is a row */
} weft_csv_head;

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
    weft_csv_head head; /* of a CSV file */
    const char **name;  /* [d] of the columns, of a header; NULL: there is none */
    weft_arena *mem;
} weft_dense_rows;

/* Ends the row of that line, whose numbers were just written. EDATA as weft_labels_find. */
WEFT_CHECKED weft_status weft_dense_row(weft_dense_rows *rows, int64_t line,
                                        const char *label);

/* A number from text; canonical spelling ("+1" and "1.0" are "1") of a label, itself where
 * it is no number. */
int weft_table_number(const char *text, double *x);
const char *weft_table_label(const char *text, weft_arena *mem);

/* 1: a whole number of so many digits that a double does not hold it. */
int weft_number_lost(const char *text);

/* What stands before decimals, or between groups of three digits. */
enum { WEFT_MARK_POINT, WEFT_MARK_COMMA, WEFT_MARK_NONE, WEFT_MARK_BLANK };
enum { WEFT_HEADER_AUTO, WEFT_HEADER_YES, WEFT_HEADER_NO };

/* How a CSV file is laid out. */
typedef struct weft_csv {
    const char *label;      /* column: its name, a number from 1, "first" or "last" */
    char separator;         /* between the columns */
    int header;             /* WEFT_HEADER_... */
    int decimal, thousands; /* WEFT_MARK_... */
    int64_t line;           /* of the file, before the first of the text */
} weft_csv;

/* What separates the columns of text[n]; ' ': blanks, 0: it is libsvm's. Commas are none
 * where comma is 0. */
char weft_table_separator(const char *text, size_t n, int comma, weft_arena *tmp);
/* One blank for several, and none at the ends of lines: text[*n], *n in and out. */
void weft_blanks_merge(char *text, size_t *n);

/* Finds names and label by the fields of the first line. A name wins over a number that is
 * the same. ECONF: there is no such column; EDATA: only one column, or the
 * label's name occurs twice. */
WEFT_CHECKED weft_status weft_csv_begin(const char *path, const weft_csv *how,
                                        const char *const *field, weft_csv_head *head,
                                        weft_arena *mem);

/* Logs which column is the label, and what the first line was taken for. */
void weft_csv_tell(const char *path, const weft_csv *how, const weft_csv_head *head);

/* The number in a cell, 1; or 0: there is none that is finite. */
int weft_cell_number(const weft_csv *how, const char *text, double *x, weft_arena *mem);
/* 1: it stands for a value that is missing, as "", NA, ? do. */
int weft_cell_missing(const char *text);
/* What to do about a cell that is none. */
const char *weft_cell_remedy(const weft_csv *how, const char *text, weft_arena *mem);

/* A number at `at`, which ends before `end`, and the blanks around it: the bits that strtod
 * gives. Returns what follows, NULL for what is not plain decimal or is beyond floats. */
const char *weft_number_read(const char *at, const char *end, double *x);

/* EDATA naming file, line and column: ragged rows, non-numbers, NaN or infinity. */
WEFT_CHECKED weft_status weft_read_csv(const char *path, char *text, size_t n,
                                       const weft_csv *how, weft_dense_rows *rows);
/* from: 0 or 1, the index of the first column. */
WEFT_CHECKED weft_status weft_read_libsvm(const char *path, char *text, size_t n, int from,
                                          weft_dense_rows *rows);

#endif
