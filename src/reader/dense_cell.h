/* Cells of a CSV table: numbers, plain ones, dates, or with a unit, and gaps. Private to
 * the reader `dense`. */
#ifndef WEFT_READER_DENSE_CELL_H
#define WEFT_READER_DENSE_CELL_H

#include "dense.h"
#include "weft/date.h"

/* The number in a cell, 1; or 0: there is none that is finite. */
int weft_cell_number(const weft_csv *how, const char *text, double *x, weft_arena *mem);
/* 1: it stands for a value that is missing, as "", NA, ? do. */
int weft_cell_missing(const char *text);
/* 1: it does where a number is expected, as missing, unknown, -- do. */
int weft_cell_gap(const char *text);
/* 1: it does where a class is expected, which none and - may be. */
int weft_label_missing(const char *text);
/* Cells that stand for a missing value as options say. */
typedef struct weft_gaps {
    int64_t n;
    const char **text; /* [n] */
    double *number;    /* [n] NAN where it is none */
} weft_gaps;
weft_gaps weft_gaps_of(const weft_csv *how, weft_arena *mem);
/* 1: one of them is this text, in any case, or this number, NAN where it is none. */
int weft_gaps_have(const weft_gaps *gaps, const char *text, double x);
/* What to do about a cell that is none; NULL: it is a text. */
const char *weft_cell_remedy(const weft_csv *how, const char *text, weft_arena *mem);

/* How the numbers of a column are written that are no plain ones: as dates, or with a unit
 * before or behind them, by marks of their own. */
typedef struct weft_written {
    weft_date_order order;  /* WEFT_DATE_NONE: they are no dates */
    int zone;               /* of the clock that dates without a zone are by, in minutes */
    const char *unit;       /* NULL: they have none */
    int decimal, thousands; /* WEFT_MARK_... */
} weft_written;

/* What the texts of a column up to now may be. */
enum { WEFT_SPELLINGS = 6 };
typedef struct weft_hints {
    int64_t date[WEFT_DATE_ORDERS]; /* texts that are dates of each order, */
    int64_t points, spans;          /* of these with days or years first by their marks;
                                       years such as 2011-12 */
    int zone, zoned;                /* of the first that has one */
    int64_t unit, spelling[WEFT_SPELLINGS]; /* texts with the first unit; that are numbers
                                               then in each spelling */
    int64_t close;             /* of these with letters right behind the number */
    int64_t others;            /* texts with another unit, */
    const char *first, *other; /* that unit; another one, or NULL */
} weft_hints;

/* The number in a cell of such a column, 1: seconds of dates, numbers without their unit;
 * or 0: it is not so written. */
int weft_written_number(const weft_written *written, const char *text, double *x,
                        weft_arena *mem);
/* Takes note of a text of the column that is no plain number. */
void weft_hints_add(const weft_csv *how, weft_dense_column *column, const char *text,
                    weft_arena *mem);
/* How the column is written, if most of its texts agree, else NULL; `order` is that of
 * dates in another column, for one of which it cannot be told. *doubt: what has to be said.
 */
const weft_written *weft_hints_decide(const weft_csv *how, const weft_dense_column *column,
                                      weft_date_order order, const char **doubt,
                                      weft_arena *mem);
/* 1: some numbers have a unit of letters without a blank, as 5k has, and others have none,
 * so that it may be none. */
int weft_hints_mixed(const weft_dense_column *column);
/* 1: all numbers of column j, ten or more, are days as 20241231. */
int weft_written_days(const weft_dense_rows *rows, int64_t j);
/* In a packed file, and back: "" and NULL are those of plain numbers. */
const char *weft_written_text(const weft_written *written, weft_arena *mem);
const weft_written *weft_written_of(const char *text, weft_arena *mem);

/* The number of a level, group or client of that text; of a label its class's name, as it
 * was first written. */
int64_t weft_dense_name_number(weft_dense_rows *rows, weft_dense_column *column,
                               const char *text);

#endif
