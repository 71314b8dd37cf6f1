/* Columns of tables, and dates in them. */
#ifndef LIBWEFT_DATA_TABLE_H
#define LIBWEFT_DATA_TABLE_H

#include "weft/store/h5.h"

#include <stdint.h>

/* ---- date ---- */

/* In which order a text has the numbers of a date: 2024-12-31, 31.12.2024, 12/31/2024,
 * 2024-12, whose day is the first; names of months, 31 Dec 2024 or December 31, 2024; a
 * time of day alone, 23:59; days and a time of day that pass, 1 days 02:03:04, of which the
 * days alone may be negative, as pandas and Python write them. */
typedef enum weft_date_order {
    WEFT_DATE_NONE,
    WEFT_DATE_YMD,
    WEFT_DATE_DMY,
    WEFT_DATE_MDY,
    WEFT_DATE_YM,
    WEFT_DATE_NAMED,
    WEFT_DATE_TIME,
    WEFT_DATE_SPAN,
    WEFT_DATE_ORDERS
} weft_date_order;
extern const char *const weft_date_order_name[WEFT_DATE_ORDERS];
extern const char *const weft_date_example[WEFT_DATE_ORDERS]; /* a text of each */

/* A date that was read. */
typedef struct weft_date {
    double seconds; /* since 1970 began, or midnight, by its own clock; of a span all */
    int zone;       /* minutes that its clock is ahead of Greenwich's */
    int zoned;      /* 1: it says so; 0: it has no zone, and `zone` is 0 */
} weft_date;
/* Reads a date of that order, or, but for WEFT_DATE_YM, with the year first, a time behind
 * it where there is one, after T or a blank, with fractions of a second, AM or PM, and a
 * zone; 0: it is none, or there is no such day. Years have four digits; of two, where days
 * or months come first, 69 is 1969 and 68 is 2068. The calendar is Gregory's. */
int weft_date_read(const char *text, weft_date_order order, weft_date *date);

/* What models are told of a date, each a feature: the seconds since 1970 began by the clock
 * of Greenwich; the year; month and hour by sine and cosine of their angle, so that the
 * last is beside the first; the weekday by 0 and 1 for each, as any may be special. The
 * last but the seconds are by the clock that is `zone` minutes ahead. */
enum {
    WEFT_PART_SECONDS,
    WEFT_PART_YEAR,
    WEFT_PART_MONTH_SINE,
    WEFT_PART_MONTH_COSINE,
    WEFT_PART_MONDAY,
    WEFT_PART_HOUR_SINE = WEFT_PART_MONDAY + 7,
    WEFT_PART_HOUR_COSINE,
    WEFT_DATE_PARTS
};
extern const char *const weft_date_part_name[WEFT_DATE_PARTS];
/* value[WEFT_DATE_PARTS] of that moment. */
void weft_date_parts(double seconds, int zone, double *value);

/* Writes the day, or the time of day, or the seconds of a span, to text[room]. */
const char *weft_date_text(double seconds, int zone, weft_date_order order, char *text,
                           int room);

/* ---- table ---- */

typedef enum weft_column_kind {
    WEFT_COLUMN_NUMBER,
    WEFT_COLUMN_CATEGORY,
    WEFT_COLUMN_LABEL,
    WEFT_COLUMN_GROUP,  /* rows that stay in one part */
    WEFT_COLUMN_CLIENT, /* whose rows they are */
    WEFT_COLUMN_DROPPED,
    WEFT_COLUMN_TARGET, /* a number to predict */
    WEFT_COLUMN_WEIGHT, /* of the row in fits and scores */
    WEFT_COLUMN_DATE,   /* or time: seconds since 1970, since midnight, or of a span */
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

/* A number of the column as text; that of a date is a date. */
const char *weft_column_show(const weft_column *column, double x, weft_arena *mem);

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
