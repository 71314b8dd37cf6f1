/* What columns and labels of a table are, as their cells tell. Private to the reader
 * `dense`.
 */
#ifndef WEFT_READER_DENSE_KINDS_H
#define WEFT_READER_DENSE_KINDS_H

#include "dense.h"

/* Reads the first lines of a large file to find columns that are of texts alone there, as
 * categories are read only once then: rows->texts. */
void weft_dense_probe(const char *path, char *text, size_t n, const weft_csv *how,
                      weft_dense_rows *rows);
/* After all were read: columns of texts become categories, or are left out where nearly all
 * differ; *again 1: the files are to be read once more. EDATA naming file, line and column
 * of a text among many numbers. */
WEFT_CHECKED weft_status weft_dense_kinds(const weft_csv *how, weft_dense_rows *rows,
                                          int *again);
/* Sets the counts of all columns to 0, before the files are read again. */
void weft_dense_forget(weft_dense_rows *rows);
/* Whether the labels are numbers to predict: rows->targets; *again 1: the files are to be
 * read once more, without texts among these. EDATA: a target is no number, or nearly each
 * row has a class of its own; ECONF: several labels are to be classes. */
WEFT_CHECKED weft_status weft_dense_decide(const weft_csv *how, const char *source,
                                           weft_dense_rows *rows, int *again);
/* Tells the packer what was decided of rows and columns. */
void weft_dense_tell(const weft_csv *how, const weft_dense_rows *rows, weft_pack *pack);
/* EDATA: no column is left. */
WEFT_CHECKED weft_status weft_dense_nothing(const weft_dense_rows *rows);

/* Levels and what fills gaps, from the rows train[ntrain]; warns of columns that look odd.
 * Columns that are empty or the same there are left out. Cells of categories become numbers
 * of levels in order. EDATA: no column is left. */
WEFT_CHECKED weft_status weft_dense_fit(const weft_csv *how, weft_dense_rows *rows,
                                        const int64_t *train, int64_t ntrain,
                                        weft_columns *columns);

#endif
