/* Cells of a table: numbers from text, gaps, and numbers that are written as dates, or with
 * a unit: 31.12.2024, 14%, $1,234, 1 234,5 kg. A column has one order of dates, or one unit
 * and one spelling, which its texts tell. */
#include "dense.h"
#include "weft/base/files.h"

#include <ctype.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

/* ---- plain numbers ---- */

static int is_digit(char c)
{
    return c >= '0' && c <= '9';
}

int weft_number_read(const char *text, char decimal, double *x)
{
    enum { MOST = 15 };
    static const double ten[MOST + 1] = {1e0, 1e1, 1e2,  1e3,  1e4,  1e5,  1e6,  1e7,
                                         1e8, 1e9, 1e10, 1e11, 1e12, 1e13, 1e14, 1e15};
    const char *at = text + (*text == '-' || *text == '+');
    int64_t digits = 0;
    int n = 0, after = 0, point = 0;
    for (; is_digit(*at) || (*at == decimal && !point); at++) {
        if (*at == decimal) {
            point = 1;
            continue;
        }
        if (++n > MOST) return 0;
        digits = 10 * digits + (*at - '0');
        after += point;
    }
    if (n == 0 || *at != '\0') return 0;
    *x = (double)digits / ten[after];
    if (*text == '-') *x = -*x;
    return 1;
}

void weft_dense_digits(weft_dense_column *column, const char *text, weft_arena *mem)
{
    if (text[0] == '0' && is_digit(text[1]) && column->seen.zeros++ == 0)
        column->seen.zero = weft_arena_text(mem, "%s", text);
    if (column->seen.width < 0) return;
    int64_t n = (int64_t)strspn(text, "0123456789");
    int same = text[n] == '\0' && (column->seen.width == 0 || column->seen.width == n);
    column->seen.width = same ? n : -1;
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

/* ---- marks ---- */

static const char mark_of[] = {[WEFT_MARK_POINT] = '.',
                               [WEFT_MARK_COMMA] = ',',
                               [WEFT_MARK_NONE] = '\0',
                               [WEFT_MARK_BLANK] = ' ',
                               [WEFT_MARK_QUOTE] = '\''};

static const char *const mark_name[] = {[WEFT_MARK_POINT] = "point",
                                        [WEFT_MARK_COMMA] = "comma",
                                        [WEFT_MARK_NONE] = "none",
                                        [WEFT_MARK_BLANK] = "blank",
                                        [WEFT_MARK_QUOTE] = "quote"};

static const weft_marks spelling[WEFT_SPELLINGS] = {
    {WEFT_MARK_POINT, WEFT_MARK_NONE},  {WEFT_MARK_POINT, WEFT_MARK_COMMA},
    {WEFT_MARK_POINT, WEFT_MARK_BLANK}, {WEFT_MARK_COMMA, WEFT_MARK_NONE},
    {WEFT_MARK_COMMA, WEFT_MARK_POINT}, {WEFT_MARK_COMMA, WEFT_MARK_BLANK},
    {WEFT_MARK_POINT, WEFT_MARK_QUOTE}};
enum { GROUPS_BY_COMMA = 1, DECIMAL_COMMA = 3, SPELLING_QUOTE = WEFT_SPELLINGS - 1 };

/* Digits in groups of three after the first, as in 1,234,567.8; 0: they are not. */
static int grouped(const char *text, char mark)
{
    text += *text == '-' || *text == '+';
    size_t n = strspn(text, "0123456789");
    int groups = 0;
    if (n < 1 || n > 3 || *text == '0') return 0;
    for (text += n; *text == mark; text += 4, groups++)
        if (strspn(text + 1, "0123456789") < 3) return 0;
    return groups > 0 && !isdigit((unsigned char)*text);
}

/* The text without marks of thousands, with a decimal point; NULL: it cannot be a number.
 */
static const char *plain_of(const weft_marks *marks, const char *text, weft_arena *mem)
{
    char thousands = mark_of[marks->thousands], decimal = mark_of[marks->decimal];
    if (thousands == '\0' && decimal == '.') return text;
    char *plain = weft_arena_text(mem, "%s", text), *to = plain;
    int groups = thousands != '\0' && grouped(text, thousands);
    for (const char *at = text; *at != '\0'; at++) {
        if (groups && *at == thousands) continue;
        if (*at == '.' && decimal != '.') return NULL;
        *to++ = *at;
        if (*at == decimal) to[-1] = '.';
    }
    *to = '\0';
    return plain;
}

int weft_cell_number(const weft_marks *marks, const char *text, double *x, weft_arena *mem)
{
    if (weft_number_read(text, mark_of[marks->decimal], x)) return 1;
    const char *plain = plain_of(marks, text, mem);
    return plain != NULL && weft_table_number(plain, x) && isfinite(*x) &&
           !weft_number_lost(plain);
}

/* ---- what else it is ---- */

/* 1: an error of a spreadsheet, in whatever language: #DIV/0!, #NAME?, #WERT!. */
static int is_error(const char *text)
{
    size_t n = *text == '#' ? strspn(text + 1, "ABCDEFGHIJKLMNOPQRSTUVWXYZ/0") : 0;
    return n > 0 && (text[n + 1] == '!' || text[n + 1] == '?') && text[n + 2] == '\0';
}

int weft_cell_gap(const char *text)
{
    static const char words[] =
        "missing\0unknown\0unk\0n.a.\0n.a\0n/d\0nd\0n.d.\0no data\0nodata\0not available\0"
        "not known\0unbekannt\0not applicable\0k.A.\0(null)\0undefined\0--\0---\0..\0"
        "...\0*\0**\0:\0??\0#NV\0";
    enum { LONGEST = 14 };
    if (strnlen(text, LONGEST + 1) > LONGEST) return 0;
    if (*text == '.' && (isalpha((unsigned char)text[1]) || text[1] == '_'))
        return text[2] == '\0'; /* .a to .z of Stata and SAS */
    for (const char *word = words; *word != '\0'; word += strlen(word) + 1)
        if (strcasecmp(text, word) == 0) return 1;
    return is_error(text);
}

int weft_label_missing(const char *text)
{
    return weft_cell_missing(text) && strcasecmp(text, "none") != 0 &&
           strcasecmp(text, "nil") != 0 && strcmp(text, "-") != 0;
}

weft_gaps weft_gaps_of(const weft_csv *how, weft_arena *mem)
{
    weft_gaps gaps = {0};
    const char *list = how->gaps ? how->gaps : "";
    int64_t most = (int64_t)strlen(list) + 1;
    char *rest, *copy = weft_arena_text(mem, "%s", list);
    gaps.text = WEFT_NEW(mem, const char *, most);
    gaps.number = WEFT_NEW(mem, double, most);
    for (char *one = strtok_r(copy, ",", &rest); one; one = strtok_r(NULL, ",", &rest)) {
        double *x = &gaps.number[gaps.n];
        gaps.text[gaps.n++] = one;
        if (!weft_table_number(one, x)) *x = NAN;
    }
    return gaps;
}

int weft_gaps_have(const weft_gaps *gaps, const char *text, double x)
{
    for (int64_t i = 0; i < gaps->n; i++)
        if (!(fabs(gaps->number[i] - x) > 0 || isnan(x) || isnan(gaps->number[i])) ||
            strcasecmp(gaps->text[i], text) == 0)
            return 1;
    return 0;
}

/* 1: 1.2.3, as versions and addresses are, no number in any spelling. */
static int is_outline(const char *text, weft_arena *mem)
{
    double x;
    const weft_marks points = {WEFT_MARK_COMMA, WEFT_MARK_POINT};
    const char *first = strchr(text, '.');
    return first && strchr(first + 1, '.') && strspn(text, "0123456789.") == strlen(text) &&
           !weft_cell_number(&points, text, &x, mem);
}

/* The spelling that reads a text, if there is one with the same decimal mark such; NULL:
 * none does. That by apostrophes is no option. */
static const weft_marks *marks_of(const weft_marks *marks, const char *text,
                                  weft_arena *mem)
{
    double x;
    for (int other = 0; other < 2; other++)
        for (int k = 0; k < SPELLING_QUOTE; k++)
            if ((spelling[k].decimal != marks->decimal) == other &&
                weft_cell_number(&spelling[k], text, &x, mem))
                return &spelling[k];
    return NULL;
}

/* What is to be said so that numbers are read by these marks. */
static const char *options_of(const weft_marks *by, const weft_marks *marks,
                              weft_arena *mem)
{
    const char *decimal = "", *thousands = "";
    if (by->decimal != marks->decimal)
        decimal = weft_arena_text(mem, "decimal = %s ", mark_name[by->decimal]);
    if (by->thousands != marks->thousands)
        thousands = weft_arena_text(mem, "thousands = %s ", mark_name[by->thousands]);
    return weft_arena_text(mem, "%s%sreads it", decimal, thousands);
}

const char *weft_cell_remedy(const weft_csv *how, const char *text, weft_arena *mem)
{
    double x;
    const weft_marks *comma = &spelling[DECIMAL_COMMA], *marks = &how->marks;
    if (weft_cell_missing(text)) return "missing = median fills it in";
    const weft_marks *by = marks_of(marks, text, mem);
    if (by == &spelling[GROUPS_BY_COMMA] && weft_cell_number(comma, text, &x, mem))
        return "decimal = comma reads it as a fraction, thousands = comma as a whole "
               "number";
    if (by) return options_of(by, marks, mem);
    if (weft_number_lost(text))
        return "no number holds so many digits; is it an identifier? drop = ... leaves the "
               "column out, categories = ... makes levels of it";
    if (weft_table_number(text, &x))
        return weft_arena_text(mem,
                               "floats of 32 bits end at 3.4e38: gaps = %s makes it a "
                               "missing value; or mend or remove the line",
                               text);
    const char *digits = text + (*text == '-' || *text == '+');
    if (strpbrk(digits, "0123456789") && !is_outline(digits, mem) &&
        strspn(digits, "0123456789., ") == strlen(digits))
        return "its digits are no number in this spelling: drop = ... leaves the column "
               "out; or mend or remove the line";
    return NULL;
}

/* ---- units ---- */

/* A number, and what stands before or behind it. */
struct parts {
    const char *number, *unit;
    int close; /* 1: the unit is letters right behind the number, as in 100a */
};

/* Blanks that are no ASCII become such; the minus and the apostrophe of typography, too. */
static char *plain_blanks(const char *text, weft_arena *mem)
{
    enum { ODD = 5 };
    static const char *const odd[ODD] = {"\xc2\xa0", "\xe2\x80\xaf", "\xe2\x80\x89",
                                         "\xe2\x88\x92", "\xe2\x80\x99"};
    char *copy = weft_arena_text(mem, "%s", text), *to = copy;
    for (const char *at = text; *at != '\0';) {
        int k = 0;
        while (k < ODD && strncmp(at, odd[k], strlen(odd[k])) != 0) k++;
        *to++ = k < ODD ? "   -'"[k] : *at;
        at += k < ODD ? strlen(odd[k]) : 1;
    }
    *to = '\0';
    return copy;
}

/* The bytes of the number that text begins with, its groups and exponent in it. */
static size_t length_of(const char *text)
{
    size_t n = 0;
    while (is_digit(text[n]) ||
           (strchr(".,' ", text[n]) && text[n] && is_digit(text[n + 1])))
        n++;
    size_t sign = n + 1 + (text[n] != '\0' && (text[n + 1] == '-' || text[n + 1] == '+'));
    if (n > 0 && (text[n] == 'e' || text[n] == 'E') && is_digit(text[sign]))
        for (n = sign; is_digit(text[n]);) n++;
    return n;
}

/* 1: $, US$, a sign of Unicode, or a usual code with a blank behind it. */
static int is_currency(const char *text, size_t n, int blank)
{
    static const char *const code[] = {"USD", "EUR", "GBP", "CHF", "JPY", "CNY", "INR",
                                       "AUD", "CAD", "SEK", "NOK", "DKK", "PLN"};
    size_t letters = 0;
    while (letters < n && isupper((unsigned char)text[letters])) letters++;
    if (letters == 3 && n == 3 && blank)
        for (size_t i = 0; i < sizeof code / sizeof *code; i++)
            if (strncmp(text, code[i], 3) == 0) return 1;
    if (letters < 3 && n == letters + 1 && text[letters] == '$') return 1;
    if (n == 2)
        return strncmp(text, "\xc2\xa3", 2) == 0 || strncmp(text, "\xc2\xa5", 2) == 0;
    return n == 3 &&
           (strncmp(text, "\xe2\x82", 2) == 0 || strncmp(text, "\xe2\x83", 2) == 0);
}

/* 1: it may stand behind a number. */
static int is_unit(const char *text)
{
    enum { MOST = 24 };
    unsigned char first = (unsigned char)*text;
    return (isalpha(first) || first >= 0x80 || strchr("%$\"'", *text)) &&
           strlen(text) <= MOST;
}

/* Takes a text apart; 0: it is no number with a unit before or behind it, nor one in
 * brackets, or with marks of typography or an apostrophe, whose unit is "". */
static int take_apart(const char *text, struct parts *parts, weft_arena *mem)
{
    char *at = plain_blanks(text, mem), *end = at + strlen(at);
    int minus = *at == '(' && end > at && end[-1] == ')'; /* as accounts have them */
    int odd = minus || strcmp(at, text) != 0 || strchr(text, '\'') != NULL;
    if (minus) *--end = '\0';
    at += minus;
    if (!minus && (*at == '-' || *at == '+')) minus = *at++ == '-';
    at += strspn(at, " ");
    const char *before = at;
    while (*at != '\0' && !is_digit(*at) && !strchr("+-., ", *at)) at++;
    size_t n = (size_t)(at - before);
    int blank = *at == ' ';
    at += strspn(at, " ");
    if (n > 0 && !is_currency(before, n, blank)) return 0;
    if (n > 0 && *at == '-' && !minus) minus = *at++ == '-';
    size_t digits = length_of(at);
    const char *behind = at + digits + strspn(at + digits, " ");
    if (digits == 0 || (n == 0 && *behind == '\0' && !odd)) return 0;
    if (*behind != '\0' && !is_unit(behind) && *behind != '/') return 0;
    parts->close = n == 0 && behind == at + digits && isalpha((unsigned char)*behind);
    parts->number = weft_arena_text(mem, "%s%.*s", minus ? "-" : "", (int)digits, at);
    parts->unit = weft_arena_text(mem, "%.*s%s%s", (int)n, before,
                                  n > 0 && *behind ? " " : "", behind);
    return 1;
}

/* ---- spellings ---- */

/* 1: the options leave that spelling open. */
static int is_open(const weft_marks *marks, int k)
{
    int none = marks->thousands == WEFT_MARK_NONE;
    if (!none && spelling[k].thousands != marks->thousands) return 0;
    return spelling[k].decimal == marks->decimal ||
           (marks->decimal == WEFT_MARK_POINT && none);
}

/* ---- one cell ---- */

static int date_number(const weft_written *written, const char *text, double *x)
{
    enum { MINUTE = 60 };
    weft_date date;
    if (!weft_date_read(text, written->order, &date)) return 0;
    *x = date.seconds - MINUTE * (date.zoned ? date.zone : written->zone);
    return 1;
}

int weft_written_number(const weft_written *written, const char *text, double *x,
                        weft_arena *mem)
{
    struct parts parts;
    if (written->order != WEFT_DATE_NONE) return date_number(written, text, x);
    if (take_apart(text, &parts, mem)) {
        if (*parts.unit && strcmp(parts.unit, written->unit) != 0) return 0;
        text = parts.number;
    }
    return weft_cell_number(&written->marks, text, x, mem);
}

/* ---- what a column is ---- */

static int add_date(weft_hints *hints, const char *text)
{
    weft_date date;
    int some = 0;
    int64_t first = hints->date[WEFT_DATE_YMD];
    for (int k = WEFT_DATE_NONE + 1; k < WEFT_DATE_ORDERS; k++) {
        if (!weft_date_read(text, (weft_date_order)k, &date)) continue;
        if (k == WEFT_DATE_SPAN && !strchr(text, ':')) continue; /* a number with a unit */
        hints->date[k]++;
        hints->points += k == WEFT_DATE_DMY && (text[strspn(text, "0123456789")] == '.' ||
                                                hints->date[WEFT_DATE_YMD] > first);
        hints->spans +=
            k == WEFT_DATE_YM && (atoi(text) + 1 - atoi(text + strlen("2024-"))) % 100 == 0;
        if (date.zoned && !hints->zoned) hints->zone = date.zone;
        if (date.zoned && date.zone != hints->zone) {
            hints->other_zone = date.zone;
            hints->zones = 1;
        }
        hints->zoned |= date.zoned;
        some = 1;
    }
    return some;
}

void weft_hints_add(const weft_csv *how, weft_dense_column *column, const char *text,
                    weft_arena *mem)
{
    struct parts parts;
    double x;
    weft_arena *kept = column->name.mem;
    if (!column->seen.hints) column->seen.hints = WEFT_NEW(kept, weft_hints, 1);
    weft_hints *hints = column->seen.hints;
    if (add_date(hints, text) || !take_apart(text, &parts, mem)) return;
    if (!hints->first || !*hints->first)
        hints->first = weft_arena_text(kept, "%s", parts.unit);
    if (*parts.unit && strcmp(parts.unit, hints->first) != 0) {
        if (!hints->other) hints->other = weft_arena_text(kept, "%s", parts.unit);
        hints->others++;
        return;
    }
    hints->unit++;
    hints->close += parts.close;
    for (int k = 0; k < WEFT_SPELLINGS; k++)
        hints->spelling[k] += is_open(&how->marks, k) &&
                              weft_cell_number(&spelling[k], parts.number, &x, mem);
}

/* The order of most of the texts; of two that fit equally, days or months first, `known`.
 */
static weft_date_order order_of(const weft_csv *how, const weft_dense_column *column,
                                weft_date_order known, const char **doubt)
{
    static const weft_date_order asked[] = {
        [WEFT_DATES_DMY] = WEFT_DATE_DMY, [WEFT_DATES_MDY] = WEFT_DATE_MDY};
    const int64_t *date = column->seen.hints->date;
    int best = WEFT_DATE_NONE;
    for (int k = 1; k < WEFT_DATE_ORDERS; k++)
        if (date[k] > date[best]) best = k;
    if (best == WEFT_DATE_NONE ||
        2 * date[best] <= column->seen.texts + column->seen.numbers)
        return WEFT_DATE_NONE;
    if ((best == WEFT_DATE_YM || best == WEFT_DATE_TIME) &&
        (date[best] < column->seen.texts ||
         column->seen.hints->spans == column->seen.texts))
        return WEFT_DATE_NONE;
    if (best != WEFT_DATE_DMY && best != WEFT_DATE_MDY) return (weft_date_order)best;
    if (how->dates != WEFT_DATES_AUTO) return asked[how->dates];
    if (date[WEFT_DATE_DMY] != date[WEFT_DATE_MDY]) return (weft_date_order)best;
    if (column->seen.hints->points == date[WEFT_DATE_DMY]) return WEFT_DATE_DMY;
    if (known == WEFT_DATE_NONE)
        *doubt = "may have days or months first: dates = dmy or dates = mdy says which";
    return known;
}

int weft_hints_mixed(const weft_dense_column *column)
{
    const weft_hints *hints = column->seen.hints;
    return hints->close > 0 && hints->close == hints->unit && column->seen.numbers > 0;
}

/* The spelling of all the numbers with a unit; -1: there is none. */
static int spelling_of(const weft_csv *how, const weft_dense_column *column,
                       const char **doubt)
{
    const weft_hints *hints = column->seen.hints;
    const int64_t *n = hints->spelling;
    int best = 0;
    if (hints->unit < column->seen.texts || weft_hints_mixed(column)) return -1;
    while (best < WEFT_SPELLINGS && n[best] < column->seen.texts) best++;
    if (best == WEFT_SPELLINGS) return -1;
    size_t length = strcspn(hints->first, " ");
    int before = is_currency(hints->first, length, 1);
    if (best == GROUPS_BY_COMMA && n[DECIMAL_COMMA] == n[best] && how->separator != ',' &&
        !before)
        *doubt = "has numbers that decimal = comma reads as fractions, thousands = comma "
                 "as whole ones";
    return best;
}

const weft_written *weft_hints_decide(const weft_csv *how, const weft_dense_column *column,
                                      weft_date_order order, const char **doubt,
                                      weft_arena *mem)
{
    *doubt = NULL;
    if (!column->seen.hints) return NULL;
    weft_written written = {.order = order_of(how, column, order, doubt)};
    int k = 0;
    if (written.order != WEFT_DATE_NONE) {
        written.zone = column->seen.hints->zone;
    } else {
        if (*doubt || (k = spelling_of(how, column, doubt)) < 0) return NULL;
        written.unit = column->seen.hints->first;
    }
    written.marks = spelling[k];
    weft_written *to = WEFT_NEW(mem, weft_written, 1);
    *to = written;
    return to;
}

int weft_written_days(const weft_dense_rows *rows, int64_t j)
{
    enum { FEWEST = 10, FIRST = 19000101, LAST = 21001231 };
    int64_t n = 0;
    for (int64_t i = 0; i < rows->n; i++) {
        double x = rows->value[i * rows->d + j];
        char text[16];
        weft_date date;
        if (isnan(x)) continue;
        if (!(x >= FIRST && x <= LAST) || x > floor(x)) return 0;
        snprintf(text, sizeof text, "%.0f", x);
        if (!weft_date_read(text, WEFT_DATE_YMD, &date)) return 0;
        n++;
    }
    return n >= FEWEST;
}

/* ---- in a packed file ---- */

const char *weft_written_text(const weft_written *written, weft_arena *mem)
{
    if (!written) return "";
    if (written->order != WEFT_DATE_NONE)
        return weft_arena_text(mem, "%s %d", weft_date_order_name[written->order],
                               written->zone);
    return weft_arena_text(mem, "%s %s %s", mark_name[written->marks.decimal],
                           mark_name[written->marks.thousands], written->unit);
}

/* The number of that name among n; -1: there is none. */
static int place_of(const char *const *name, int n, const char *text)
{
    int k = 0;
    while (k < n && strcmp(name[k], text) != 0) k++;
    return k < n ? k : -1;
}

const weft_written *weft_written_of(const char *text, weft_arena *mem)
{
    if (*text == '\0') return NULL;
    char *rest, *copy = weft_arena_text(mem, "%s", text);
    const char *first = strtok_r(copy, " ", &rest), *second = strtok_r(NULL, " ", &rest);
    if (!second) return NULL;
    weft_written *written = WEFT_NEW(mem, weft_written, 1);
    int order = place_of(weft_date_order_name, WEFT_DATE_ORDERS, first);
    if (order > 0) {
        written->order = (weft_date_order)order;
        written->zone = atoi(second);
        return written;
    }
    int marks = (int)(sizeof mark_name / sizeof *mark_name);
    written->marks.decimal = place_of(mark_name, marks, first);
    written->marks.thousands = place_of(mark_name, marks, second);
    written->unit = rest;
    return written->marks.decimal < 0 || written->marks.thousands < 0 ? NULL : written;
}
