/* Numbers of a table from text, the bits that strtod gives, some ten times as fast: up to
 * 15 digits and a small power of ten are a product or quotient of exact doubles; others are
 * left to strtod. Clinger, "How to read floating point numbers accurately", PLDI 1990. */
#include "dense.h"
#include "weft/csv.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { MAX_DIGITS = 15, MAX_POWER = 22, MAX_EXPONENT = 9999 };

static const double ten[MAX_POWER + 1] = {1e0,  1e1,  1e2,  1e3,  1e4,  1e5,  1e6,  1e7,
                                          1e8,  1e9,  1e10, 1e11, 1e12, 1e13, 1e14, 1e15,
                                          1e16, 1e17, 1e18, 1e19, 1e20, 1e21, 1e22};

static int is_digit(char c)
{
    return c >= '0' && c <= '9';
}

/* digits x 10^power, correctly rounded; 0: strtod has to. */
static int make(uint64_t digits, int power, double *x)
{
    int small = power >= -MAX_POWER && power <= MAX_POWER;
    if (digits == 0)
        *x = 0;
    else if (small)
        *x = power < 0 ? (double)digits / ten[-power] : (double)digits * ten[power];
    return digits == 0 || small;
}

/* The exponent at `at`, after its e; returns what follows, NULL where there is none. */
static const char *read_exponent(const char *at, const char *end, int *power)
{
    int e = 0;
    int minus = at < end && *at == '-';
    at += at < end && (*at == '-' || *at == '+');
    if (at == end || !is_digit(*at)) return NULL;
    for (; at < end && is_digit(*at); at++)
        if (e < MAX_EXPONENT) e = 10 * e + (*at - '0');
    *power += minus ? -e : e;
    return at;
}

/* Reads what is not a short integer: fractions, exponents, many digits. `at` is past the
 * sign. */
static const char *read_decimal(const char *at, const char *end, char mark, double *x)
{
    const char *start = at;
    uint64_t digits = 0;
    int n = 0, seen = 0, power = 0, point = 0; /* n digits from the first that is not 0 */
    for (; at < end && (is_digit(*at) || (*at == mark && !point)); at++) {
        if (*at == mark) {
            point = 1;
            continue;
        }
        seen = 1;
        power -= point;
        n += n > 0 || *at != '0';
        if (n <= MAX_DIGITS) digits = 10 * digits + (uint64_t)(*at - '0');
    }
    if (!seen) return NULL;
    if (at < end && (*at == 'e' || *at == 'E'))
        if ((at = read_exponent(at + 1, end, &power)) == NULL) return NULL;
    if (n > MAX_DIGITS && at - start == n) return NULL; /* see weft_number_lost */
    if (n > MAX_DIGITS || !make(digits, power, x)) {
        char *stop;
        if (mark != '.') return NULL;
        *x = strtod(start, &stop);
        if (stop != at) return NULL;
    }
    return at;
}

void weft_dense_digits(weft_dense_column *column, const char *at, const char *end,
                       weft_arena *mem)
{
    while (at < end && (*at == ' ' || *at == '\t')) at++;
    while (at < end && (end[-1] == ' ' || end[-1] == '\t')) end--;
    if (end - at > 1 && at[0] == '0' && is_digit(at[1]) && column->zeros++ == 0)
        column->zero = weft_arena_text(mem, "%.*s", (int)(end - at), at);
    if (column->width < 0) return;
    int64_t n = 0;
    while (at + n < end && is_digit(at[n])) n++;
    int same = at + n == end && (column->width == 0 || column->width == n);
    column->width = same ? n : -1;
}

/* 1: a blank that does not separate columns. */
static int is_blank(char c, char separator)
{
    return (c == ' ' || c == '\t') && c != separator;
}

const char *weft_number_read(const char *at, const char *end, char separator, char decimal,
                             double *x)
{
    enum { AT_ONCE = 15 }; /* digits of an integer that a double holds */
    while (at < end && is_blank(*at, separator)) at++;
    int minus = at < end && *at == '-';
    at += at < end && (*at == '-' || *at == '+');
    const char *start = at;
    int64_t value = 0;
    while (at < end && is_digit(*at) && at - start <= AT_ONCE)
        value = 10 * value + (*at++ - '0');
    if (at > start && at - start <= AT_ONCE &&
        (at == end || *at == separator || is_blank(*at, separator)))
        *x = (double)value;
    else
        at = read_decimal(start, end, decimal, x);
    if (at == NULL || !isfinite((float)*x)) return NULL;
    if (minus) *x = -*x;
    while (at < end && is_blank(*at, separator)) at++;
    return at;
}

int weft_table_number(const char *text, double *x)
{
    char *end, copy[64];
    *x = strtod(text, &end);
    size_t n = (size_t)(end - text);
    if (n > 0 && (*end == 'd' || *end == 'D') && strlen(text) < sizeof copy) {
        snprintf(copy, sizeof copy, "%s", text); /* Fortran's exponent */
        copy[n] = 'e';
        text = copy;
        *x = strtod(text, &end);
    }
    if (!isfinite((float)*x)) *x = INFINITY; /* no float either */
    while (*end == ' ') end++;
    return end != text && *end == '\0';
}

const char *weft_table_label(const char *text, weft_arena *mem)
{
    char *end;
    double x = strtod(text, &end);
    while (*end == ' ') end++;
    if (end == text || *end != '\0' || !isfinite(x)) return text;
    if (weft_number_lost(text)) return text + strspn(text, "+");
    return weft_csv_number(x + 0.0, WEFT_NEW(mem, char, WEFT_CSV_NUMBER)); /* "-0" is "0" */
}
