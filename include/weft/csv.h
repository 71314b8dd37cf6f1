/* Texts of CSV files as they are written. All functions are local. */
#ifndef WEFT_CSV_H
#define WEFT_CSV_H

#include <stdio.h>

enum { WEFT_CSV_NUMBER = 32 };
/* The shortest text of 15 digits or more from which strtod reads the same number, whole
 * numbers below 1e17 without an exponent. Returns text[WEFT_CSV_NUMBER]. */
const char *weft_csv_number(double x, char *text);
/* Writes a text in quotation marks, its own doubled. */
void weft_csv_quote(FILE *file, const char *text);
/* The same where it has a comma, a quotation mark or an end of line, else as it is. */
void weft_csv_text(FILE *file, const char *text);

#endif
