/* Texts of CSV files. RFC 4180. */
#include "weft/csv.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

const char *weft_csv_number(double x, char *text)
{
    enum { SURE = 15, ENOUGH = 17 }; /* digits that a double keeps, and that tell it */
    if (isnan(x)) x = NAN;           /* without a sign */
    int whole = fabs(x) < 1e17 && floor(x) >= x;
    snprintf(text, WEFT_CSV_NUMBER, "%.*g", whole ? ENOUGH : SURE, x);
    for (int n = SURE + 1; n <= ENOUGH && fabs(strtod(text, NULL) - x) > 0; n++)
        snprintf(text, WEFT_CSV_NUMBER, "%.*g", n, x);
    return text;
}

void weft_csv_quote(FILE *file, const char *text)
{
    putc('"', file);
    for (; *text; text++) {
        if (*text == '"') putc('"', file);
        putc(*text, file);
    }
    putc('"', file);
}

void weft_csv_text(FILE *file, const char *text)
{
    if (strpbrk(text, ",\"\r\n"))
        weft_csv_quote(file, text);
    else
        fputs(text, file);
}
