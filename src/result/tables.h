/* What a task measures and what is searched, as a text from which the rows of jobs can be
 * read. */
#ifndef WEFT_RESULT_TABLES_H
#define WEFT_RESULT_TABLES_H

#include "weft/job.h"
#include "weft/space.h"

/* Descriptions of the task's metrics and of the axes: what is needed to read job
 * records. */
typedef struct weft_tables {
    const weft_metric *metrics, *rows, *scores;
    int dim;
    const weft_axis *axis; /* [dim]; if read from a journal, options have only name, type
                              and words */
} weft_tables;

/* The tables as a text, for the head of the journal. Owned by mem. */
const char *weft_tables_text(const weft_tables *tables, weft_arena *mem);

/* Reads such a text. Owned by mem. */
weft_tables weft_tables_parse(const char *text, weft_arena *mem);

#endif
