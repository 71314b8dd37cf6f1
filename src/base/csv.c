/* Texts of CSV files. RFC 4180. */
#include "weft/csv.h"

#include <string.h>

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
