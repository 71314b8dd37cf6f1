/* Values as CSV and JSON. */
#include "print.h"
#include "weft/csv.h"

#include <math.h>
#include <string.h>

void weft_csv_cell(weft_cell cell)
{
    switch (cell.is) {
    case WEFT_CELL_NONE: return;
    case WEFT_CELL_TEXT: weft_csv_quote(stdout, cell.text); return;
    case WEFT_CELL_WHOLE: printf("%lld", (long long)cell.whole); return;
    case WEFT_CELL_NUMBER: printf("%.17g", cell.number); return;
    default: printf("%s", cell.whole ? "true" : "false");
    }
}

void weft_json_cell(yajl_gen g, weft_cell cell)
{
    switch (cell.is) {
    case WEFT_CELL_NONE: yajl_gen_null(g); return;
    case WEFT_CELL_TEXT: weft_json_text(g, cell.text); return;
    case WEFT_CELL_WHOLE: yajl_gen_integer(g, cell.whole); return;
    case WEFT_CELL_NUMBER: weft_json_number(g, cell.number); return;
    default: yajl_gen_bool(g, cell.whole != 0);
    }
}

void weft_json_text(yajl_gen g, const char *text)
{
    if (text)
        yajl_gen_string(g, (const unsigned char *)text, strlen(text));
    else
        yajl_gen_null(g);
}

void weft_json_number(yajl_gen g, double x)
{
    if (isfinite(x))
        yajl_gen_double(g, x);
    else
        yajl_gen_null(g);
}

static void print(void *ctx, const char *text, size_t n)
{
    (void)ctx;
    fwrite(text, 1, n, stdout);
}

yajl_gen weft_json_begin(void)
{
    yajl_gen g = yajl_gen_alloc(NULL);
    weft_check(g != NULL, "no memory for JSON");
    yajl_gen_config(g, yajl_gen_beautify, 1);
    yajl_gen_config(g, yajl_gen_print_callback, print, NULL);
    yajl_gen_array_open(g);
    return g;
}

void weft_json_end(yajl_gen g)
{
    yajl_gen_array_close(g);
    yajl_gen_free(g);
}
