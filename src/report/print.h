/* Values as CSV and JSON, on stdout. Private to report. */
#ifndef WEFT_REPORT_PRINT_H
#define WEFT_REPORT_PRINT_H

#include "summary.h"

#include <stdio.h>
#include <yajl/yajl_gen.h>

/* One value of a table: nothing, a text, a whole number, a number, or 0 or 1 for false and
 * true. */
typedef struct weft_cell {
    enum {
        WEFT_CELL_NONE,
        WEFT_CELL_TEXT,
        WEFT_CELL_WHOLE,
        WEFT_CELL_NUMBER,
        WEFT_CELL_TRUTH
    } is;
    const char *text;
    int64_t whole;
    double number;
} weft_cell;

/* Texts in quotes, numbers in full precision; nothing is empty in CSV. */
void weft_csv_cell(weft_cell cell);
/* Nothing is null in JSON, as are NAN and infinity, which it does not have. */
void weft_json_cell(yajl_gen g, weft_cell cell);
/* NULL: null. */
void weft_json_text(yajl_gen g, const char *text);
void weft_json_number(yajl_gen g, double x);
/* Begins and ends an array, which is the whole output. */
yajl_gen weft_json_begin(void);
void weft_json_end(yajl_gen g);

#endif
