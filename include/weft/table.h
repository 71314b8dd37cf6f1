/* Columns of a table as people write it, and the features that each becomes: a number is
 * one, of a category each level is one, and a value that is missing is marked by one. */
#ifndef WEFT_TABLE_H
#define WEFT_TABLE_H

#include "weft/date.h"
#include "weft/h5.h"

typedef enum weft_column_kind {
    WEFT_COLUMN_NUMBER,
    WEFT_COLUMN_CATEGORY,
    WEFT_COLUMN_LABEL,
    WEFT_COLUMN_GROUP,  /* rows that stay in one part */
    WEFT_COLUMN_CLIENT, /* whose rows they are */
    WEFT_COLUMN_DROPPED,
    WEFT_COLUMN_TARGET, /* a number to predict */
    WEFT_COLUMN_WEIGHT, /* of the row in fits and scores */
    WEFT_COLUMN_DATE,   /* or time of day: seconds since 1970, or midnight */
    WEFT_COLUMN_KINDS
} weft_column_kind;
extern const char *const weft_column_kind_name[WEFT_COLUMN_KINDS];

/* A column. Its features are first .. first + features - 1: the number; or for each level 1
 * where the cell has it, else 0; or the parts of a date that vary, which its levels name;
 * behind them, where `marks` is 1, one that is 1 where the value is missing. Levels and
 * fill are those of training rows. */
typedef struct weft_column {
    const char *name; /* or its number from 1 where it has none */
    weft_column_kind kind;
    int64_t distinct; /* values in the rows, WEFT_COLUMN_MOST at most */
    int64_t missing;  /* rows where it is */
    double low, high; /* of numbers, dates, targets and weights */
    double fill;      /* in place of a number that is missing */
    int marks;
    int64_t first, features;
    int64_t levels;
    const char **level;  /* [levels] sorted; of dates names of weft_date_part_name */
    const int *part;     /* [levels] of dates: WEFT_PART_... */
    const char *written; /* "" plainly; ORDER ZONE of dates, ORDER as in
                            weft_date_order_name, the clock ZONE minutes ahead where they
                            have none; DECIMAL THOUSANDS UNIT */
} weft_column;
#define WEFT_COLUMN_MOST 1000

typedef struct weft_columns {
    int64_t n, features;
    weft_column *at; /* [n] */
} weft_columns;

/* The clock that parts of dates are by, in minutes ahead of Greenwich. */
int weft_column_zone(const weft_column *column);

/* The unit that is taken off its numbers; "": none. */
const char *weft_column_unit(const weft_column *column);

/* The features x[features] of a row. A cell is a number; of a category that of its level,
 * from 0, or -1 for one that training rows do not have; NAN where it is missing. Cells of
 * other kinds are not read. Cost O(n + features). */
void weft_columns_features(const weft_columns *columns, const double *cell, double *x);

/* Names of the features, [features]: that of the column, COLUMN=LEVEL, "COLUMN PART" of
 * dates, or "COLUMN is missing". Owned by mem. */
const char **weft_columns_names(const weft_columns *columns, weft_arena *mem);

/* Writes the columns to the group GROUP/table of a file, and reads them from there, owned
 * by file->mem; *columns NULL: there is none. EFILE, also where lengths do not agree. */
WEFT_CHECKED weft_status weft_columns_put(weft_h5 *file, const char *group,
                                          const weft_columns *columns);
WEFT_CHECKED weft_status weft_columns_read(weft_h5 *file, const char *group,
                                           const weft_columns **columns);

/* Prints a line a column: name, kind, distinct, missing, range, what it becomes. */
void weft_columns_print(const weft_columns *columns);

#endif
