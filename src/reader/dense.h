/* Tables as they are read: CSV, libsvm, arrays. Private to the reader `dense`. */
#ifndef WEFT_READER_DENSE_H
#define WEFT_READER_DENSE_H

#include "reader.h"
#include "weft/base/conf.h"
#include "weft/data/table.h"

/* What the first line tells. */
typedef struct weft_csv_head {
    int64_t line, columns; /* its number; columns of all lines. in */
    int64_t label;         /* column of the label, from 0; -1: none, where it need not be */
    int64_t sought;        /* where rows are scored, columns that are looked for. in */
    const char *const *known; /* [sought] their names; NULL */
    const char *more;         /* columns of further targets, with commas between them; "" */
    const char **name; /* [columns] "column 3" of one that has none; NULL: the line is a
                          row */
} weft_csv_head;

/* 1: a column of labels or of numbers to predict. */
static inline int weft_is_answer(weft_column_kind kind)
{
    return kind == WEFT_COLUMN_LABEL || kind == WEFT_COLUMN_TARGET;
}

/* 1: cells are numbers, or dates, which become such. */
static inline int weft_is_number(weft_column_kind kind)
{
    return kind == WEFT_COLUMN_NUMBER || kind == WEFT_COLUMN_DATE;
}

/* What was decided of a column. */
typedef enum weft_dense_choice {
    WEFT_DENSE_AS_READ,
    WEFT_DENSE_MIXED, /* numbers and texts are levels */
    WEFT_DENSE_CODES, /* so are numbers with leading zeros */
    WEFT_DENSE_TEXTS, /* left out: nearly each row has a text of its own, */
    WEFT_DENSE_IDS,   /* numbers and such with letters tell many apart, */
    WEFT_DENSE_INDEX, /* the column numbers the rows, */
    WEFT_DENSE_EMPTY, /* training rows have no value */
    WEFT_DENSE_SAME   /* or the same one */
} weft_dense_choice;

/* What the cells of a column are, by the last reading of the files. */
typedef struct weft_dense_seen {
    int64_t numbers, texts, missing; /* cells */
    int64_t gaps;                    /* of these the texts that usually mean a gap */
    int64_t zeros, width;            /* cells with leading zeros; digits of all cells, 0
                                        without any cell, -1 where they differ */
    const char *gap, *zero;          /* the first of each; NULL */
    int64_t bare;                    /* numbers without the unit of the column */
    int fractions;                   /* 1: a label or target is not whole */
    struct weft_hints *hints;        /* NULL: no text was seen */
} weft_dense_seen;

/* The first cell that is a text, or a missing label, and where it is. */
typedef struct weft_dense_odd {
    const char *path, *text;
    int64_t line, column; /* of its file, from 0 */
} weft_dense_odd;

/* A column of a table while it is read. */
typedef struct weft_dense_column {
    /* what it is */
    weft_column_kind kind;
    weft_dense_choice choice;
    int fixed;                          /* 1: an option says what it is */
    int early;                          /* 1: a category by its first lines, which all are
                                           to confirm */
    const struct weft_written *written; /* NULL: numbers are plain */
    /* its cells */
    int64_t place; /* column of the cell that is read */
    weft_dense_seen seen;
    weft_dense_odd odd;
    weft_names name;    /* levels, groups or clients: cells are their numbers */
    weft_names meaning; /* [name.n] of these, or of labels, where alike ones are one */
} weft_dense_column;

/* Rows without their zeros: entries first[i] .. first[i+1] are those of row i. */
typedef struct weft_dense_sparse {
    int64_t *first;  /* [rows+1] */
    int32_t *column; /* [n] from 0; NULL: rows are in full */
    double *value;   /* [n] */
    int64_t n, room; /* entries */
} weft_dense_sparse;

/* Rows of numbers. */
typedef struct weft_dense_rows {
    /* how many there are */
    int64_t n, d;            /* rows; columns, of a CSV file with the label's */
    int64_t room;            /* rows that there is room for */
    int64_t end[WEFT_NPART]; /* rows up to the end of the file of each part */
    weft_arena *mem;
    /* columns of CSV files, or of arrays that are a table */
    weft_csv_head head;    /* of the first CSV file */
    weft_dense_column *at; /* [d]; NULL: libsvm, or images */
    int alike;             /* 1: names that mean the same are one */
    /* cells, one of these */
    double *value;                    /* [n][d] of tables with columns */
    weft_dense_sparse sparse;         /* of libsvm */
    struct weft_dense_arrays *arrays; /* NULL: rows of text files */
    int image[3]; /* channels, height, width of rows that are images; 0: a table */
    /* labels, or numbers to predict */
    weft_labels labels;
    int32_t *label;            /* [n] */
    double *number;            /* [n] without columns the labels, NAN where they are none */
    weft_dense_column *answer; /* what the labels, or first targets, are; NULL: not read */
    int targets;               /* numbers to predict of each row; 0: classes */
    int many;     /* 1: labels are not told apart: they are targets, or too many numbers */
    int64_t left; /* rows that are left out, as they have no label */
    const char *lacking;  /* what stands there in the first of these */
    int64_t strays;       /* rows that are left out, as they have no client */
    const char *decision; /* on the label, in words; NULL */
} weft_dense_rows;

/* Cell j of row i of a table with columns. */
static inline double *weft_dense_cell(const weft_dense_rows *rows, int64_t i, int64_t j)
{
    return rows->value + i * rows->d + j;
}

/* ---- rows as they are read ---- */

/* Room for rows of n columns, of numbers so far. */
void weft_dense_begin(weft_dense_rows *rows, int64_t n);
/* Takes note of the first cell that is not as it should be. */
void weft_dense_note(weft_dense_rows *rows, weft_dense_column *column, const char *path,
                     int64_t line, const char *text);
/* Takes note of a label or target that is `text` there, and of x, its number, NAN if it has
 * none. */
void weft_dense_answer(weft_dense_rows *rows, weft_dense_column *column, const char *path,
                       int64_t line, const char *text, double x);
/* Ends the row of that line, whose numbers were just written. EDATA as weft_labels_find. */
WEFT_CHECKED weft_status weft_dense_row(weft_dense_rows *rows, int64_t line,
                                        const char *label);
/* The same of a table without columns, and ends its row. */
WEFT_CHECKED weft_status weft_dense_answered(weft_dense_rows *rows, const char *path,
                                             int64_t line, const char *label);

/* "column 2" or "column 2, 'b',", counted from 0. */
const char *weft_column_place(int64_t column, const char *name, weft_arena *mem);

/* The number of a level, group or client of that text; of a label its class's name, as it
 * was first written. */
int64_t weft_dense_name_number(weft_dense_rows *rows, weft_dense_column *column,
                               const char *text);

/* A number from text; canonical spelling ("+1" and "1.0" are "1") of a label, itself where
 * it is no number. */
int weft_table_number(const char *text, double *x);
const char *weft_table_label(const char *text, weft_arena *mem);
/* Takes note of the digits of a cell that is a number: of leading zeros, and whether all
 * cells have as many digits and nothing else. */
void weft_dense_digits(weft_dense_column *column, const char *text, weft_arena *mem);
/* Before decimals, or between groups of three digits. */
enum { WEFT_MARK_POINT, WEFT_MARK_COMMA, WEFT_MARK_NONE, WEFT_MARK_BLANK, WEFT_MARK_QUOTE };
typedef struct weft_marks {
    int decimal, thousands;
} weft_marks;
enum { WEFT_HEADER_AUTO, WEFT_HEADER_YES, WEFT_HEADER_NO };
/* What the label is. */
enum { WEFT_TARGET_AUTO, WEFT_TARGET_CLASSES, WEFT_TARGET_REGRESSION };
/* Whether days or months come first in dates that begin with neither a year. */
enum { WEFT_DATES_AUTO, WEFT_DATES_DMY, WEFT_DATES_MDY };
/* What a value that is missing becomes. */
enum { WEFT_MISSING_MEDIAN, WEFT_MISSING_REFUSE };
/* What a row without a label is. */
enum { WEFT_UNLABELLED_DROP, WEFT_UNLABELLED_CLASS, WEFT_UNLABELLED_REFUSE };

#define WEFT_COMMENT '\f' /* lines of comments are filled with it */
/* How a CSV file is laid out. Columns are given by name or by number from 1. */
typedef struct weft_csv {
    const char *label;      /* or "first" or "last"; targets, with commas between them */
    int target;             /* WEFT_TARGET_... */
    const char *drop;       /* columns that are left out, with commas between them */
    const char *categories; /* such that are no numbers; "auto" finds them */
    const char *numbers;    /* such that are numbers, whatever they look like */
    int without_label;      /* WEFT_UNLABELLED_... */
    int whole;              /* 1: all columns stay, as pixels do */
    const char *group;      /* column of what stays in one part; "" none */
    const char *client;     /* column of whose rows they are; "" none */
    const char *weight;     /* column of what rows count; "" none */
    int missing;            /* WEFT_MISSING_... */
    const char *gaps;       /* cells that are missing, too, with commas between */
    char separator;         /* between the columns */
    int header;             /* WEFT_HEADER_... */
    int64_t unlabelled;     /* columns of a table with the label, which need not be there;
                               0: it must */
    weft_marks marks;
    int dates;         /* WEFT_DATES_... */
    int64_t line;      /* of the file, before the first of the text */
    const char *texts; /* [columns] 1: one is of texts in its first lines; NULL: not
                          known */
} weft_csv;

/* What separates the columns of text[n]; ' ': blanks, 0: libsvm's. comma 0: no commas. */
char weft_table_separator(const char *text, size_t n, int comma, weft_arena *tmp);
/* One blank for several, and none at the ends of lines: text[*n], *n in and out. */
void weft_blanks_merge(char *text, size_t *n);

/* Finds names and label by the fields of the first line and those of the second, NULL where
 * it has none or another number. A name wins over a number that is the same. ECONF: there
 * is no such column; EDATA: only one column, or the label's name occurs twice. */
WEFT_CHECKED weft_status weft_csv_begin(const char *path, const weft_csv *how,
                                        const char *const *field, const char *const *second,
                                        weft_csv_head *head, weft_arena *mem);
/* Makes the columns of rows->head, of which the options say what each is. ECONF: there is
 * no such column, or there are two of the name, or it is used twice. */
WEFT_CHECKED weft_status weft_csv_kinds(const char *path, const weft_csv *how,
                                        weft_dense_rows *rows);
/* Logs which column is the label, and what the first line was taken for. */
void weft_csv_tell(const char *path, const weft_csv *how, const weft_csv_head *head,
                   weft_pack *pack);

/* A decimal number without exponent, of 15 digits at most: they and a power of ten are
 * exact doubles, whose quotient has the bits that strtod gives, some ten times as fast; 0:
 * it is none. Clinger, "How to read floating point numbers accurately", PLDI 1990. */
int weft_number_read(const char *text, char decimal, double *x);

/* Reads the rows of a file. Those of a further file are added: its columns are found by
 * their names, or by place where files have none. EDATA naming file, line and column:
 * ragged rows, rows without label, columns that another file has. */
WEFT_CHECKED weft_status weft_read_csv(const char *path, const char *text, size_t n,
                                       const weft_csv *how, weft_dense_rows *rows);
/* The name of column j, its number from 1 where it has none. */
const char *weft_dense_name(const weft_dense_rows *rows, int64_t j);
/* from: 0 or 1, the index of the first column. */
WEFT_CHECKED weft_status weft_read_libsvm(const char *path, char *text, size_t n, int from,
                                          weft_dense_rows *rows);

/* ---- cells ---- */

/* The number in a cell, 1; or 0: there is none that is finite. */
int weft_cell_number(const weft_marks *marks, const char *text, double *x, weft_arena *mem);
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
    weft_date_order order; /* WEFT_DATE_NONE: they are no dates */
    int zone;              /* of the clock that dates without a zone are by, in minutes */
    const char *unit;      /* NULL: they have none */
    weft_marks marks;
} weft_written;

/* What the texts of a column up to now may be. */
enum { WEFT_SPELLINGS = 7 };
typedef struct weft_hints {
    int64_t date[WEFT_DATE_ORDERS]; /* texts that are dates of each order, */
    int64_t points, spans;          /* of these with days or years first by their marks;
                                       years such as 2011-12 */
    int zone, zoned;                /* of the first that has one, in minutes */
    int other_zone, zones;          /* zones 1: another one has that */
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

/* ---- what columns and labels are ---- */

/* Reads the first lines of a large file to find columns that are of texts alone there, as
 * categories are read only once then: how->texts, in mem. */
void weft_dense_probe(const char *path, const char *text, size_t n, weft_csv *how,
                      weft_arena *mem);
/* After all were read: columns of texts become categories, or are left out where nearly all
 * differ; *again 1: the files are to be read once more. EDATA naming file, line and column
 * of a text among many numbers. */
WEFT_CHECKED weft_status weft_dense_kinds(const weft_csv *how, weft_dense_rows *rows,
                                          int *again);
/* Whether the labels are numbers to predict: rows->targets; *again 1: the files are to be
 * read once more, without texts among these. EDATA: a target is no number, or nearly each
 * row has a class of its own; ECONF: several labels are to be classes. */
WEFT_CHECKED weft_status weft_dense_decide(const weft_csv *how, const char *source,
                                           weft_dense_rows *rows, int *again);
/* Tells the packer what was decided of rows and columns. */
void weft_dense_tell(const weft_csv *how, const weft_dense_rows *rows, weft_pack *pack);
/* EDATA: no column is left. */
WEFT_CHECKED weft_status weft_dense_nothing(const weft_dense_rows *rows);

/* Levels and what fills gaps, from the ntrain rows that part[] says are for training; warns
 * of columns that look odd. Columns that are empty or the same there are left out. Cells of
 * categories become numbers of levels in order. EDATA: no column is left. */
WEFT_CHECKED weft_status weft_dense_fit(const weft_csv *how, weft_dense_rows *rows,
                                        const uint8_t *part, int64_t ntrain,
                                        weft_columns *columns);

/* ---- columns of a winner ---- */

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
/* After it was read: cells and labels become those of `like`. EDATA: a class is not known.
 */
WEFT_CHECKED weft_status weft_dense_like_end(const weft_dense_like *like,
                                             weft_dense_rows *rows);

/* ---- arrays ---- */

/* Arrays as the options name them. */
typedef struct weft_dense_named {
    const char *x, *y; /* names in the file, or files, of the rows and of their labels, with
                          commas between those of the parts; "": found */
    const char *shape; /* "3x32x32"; "": as the array says */
} weft_dense_named;
typedef struct weft_dense_arrays weft_dense_arrays;
/* Opens the arrays of the parts' files, path[] "" where a part has none; tells which they
 * are: rows->arrays and image. EFILE; EDATA; ECONF: there is no such array, or shapes do
 * not agree. */
WEFT_CHECKED weft_status weft_dense_arrays_open(const weft_dense_named *named,
                                                const char *const path[WEFT_NPART],
                                                int scored, weft_dense_rows *rows,
                                                weft_pack *pack);
/* The file of the training rows. */
const char *weft_dense_arrays_path(const weft_dense_arrays *arrays);
void weft_dense_arrays_close(weft_dense_arrays *arrays);
/* Reads the labels, and all cells of a table, of the arrays that are open. EDATA naming
 * array, row and column. */
WEFT_CHECKED weft_status weft_read_arrays(const weft_csv *how, const weft_dense_like *like,
                                          weft_dense_rows *rows);

/* The d numbers of an image, as bytes, which it must have, or doubles. */
void weft_dense_image(const weft_dense_rows *rows, int64_t i, int bytes, void *x);
/* 1: images are of bytes. */
int weft_dense_bytes(const weft_dense_rows *rows);

/* ---- on their way to the packer ---- */

/* Divides the rows of a table or images, by chance or within groups or clients, if a column
 * is of these; those of other files are the valid and the test part. Learns the columns
 * from the training rows, tells what was decided, and hands over all. shape: of rows of a
 * table that are images. ECONF: shares, or group and client together; EDATA: too few
 * groups. */
WEFT_CHECKED weft_status weft_dense_put(const weft_split *split, const weft_csv *how,
                                        weft_dense_rows *rows, const char *shape,
                                        weft_pack *pack);
/* Hands over rows to be scored, in the order of the file. EDATA: they are none of those
 * that were learnt. */
WEFT_CHECKED weft_status weft_dense_put_scored(const weft_dense_like *like,
                                               const char *source, weft_dense_rows *rows,
                                               weft_pack *pack);

#endif
