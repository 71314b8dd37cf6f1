/* Numbers in the cells of a CSV table, in the spelling that the options name, and what is
 * said of a cell that is none. */
#include "dense_cell.h"

#include <ctype.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

static const char mark_of[] = {[WEFT_MARK_POINT] = '.',
                               [WEFT_MARK_COMMA] = ',',
                               [WEFT_MARK_NONE] = '\0',
                               [WEFT_MARK_BLANK] = ' '};

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
static const char *plain_of(const weft_csv *how, const char *text, weft_arena *mem)
{
    char thousands = mark_of[how->thousands], decimal = mark_of[how->decimal];
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

int weft_cell_number(const weft_csv *how, const char *text, double *x, weft_arena *mem)
{
    const char *plain = plain_of(how, text, mem);
    return plain != NULL && weft_table_number(plain, x) && isfinite(*x) &&
           !weft_number_lost(plain);
}

/* ---- what else it is ---- */

int weft_cell_missing(const char *text)
{
    static const char *const word[] = {"",     "?", "NA", "N/A",  "#N/A", "nan", "null",
                                       "none", "-", ".",  "-nan", "nil",  "NaT", "\\N"};
    enum { LONGEST = 4 };
    if (strchr("?nN#-.\\", *text) == NULL) return 0; /* "" has what ends this one */
    if (strnlen(text, LONGEST + 1) > LONGEST) return 0;
    for (size_t i = 0; i < sizeof word / sizeof *word; i++)
        if (((*text ^ *word[i]) & ~0x20) == 0 && strcasecmp(text, word[i]) == 0) return 1;
    return 0;
}

int weft_cell_gap(const char *text)
{
    static const char *const word[] = {"missing",
                                       "unknown",
                                       "unk",
                                       "n.a.",
                                       "n.a",
                                       "n/d",
                                       "nd",
                                       "n.d.",
                                       "no data",
                                       "nodata",
                                       "not available",
                                       "not known",
                                       "unbekannt",
                                       "not applicable",
                                       "k.A.",
                                       "<NA>",
                                       "(null)",
                                       "undefined",
                                       "--",
                                       "---",
                                       "..",
                                       "...",
                                       "*",
                                       "**",
                                       ":",
                                       "??",
                                       "#VALUE!",
                                       "#DIV/0!",
                                       "#REF!",
                                       "#NUM!"};
    enum { LONGEST = 14 };
    if (strnlen(text, LONGEST + 1) > LONGEST) return 0;
    for (size_t i = 0; i < sizeof word / sizeof *word; i++)
        if (strcasecmp(text, word[i]) == 0) return 1;
    return 0;
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
    const weft_csv points = {.decimal = WEFT_MARK_COMMA, .thousands = WEFT_MARK_POINT};
    const char *first = strchr(text, '.');
    return first && strchr(first + 1, '.') && strspn(text, "0123456789.") == strlen(text) &&
           !weft_cell_number(&points, text, &x, mem);
}

const char *weft_cell_remedy(const weft_csv *how, const char *text, weft_arena *mem)
{
    double x;
    weft_csv comma = {.decimal = WEFT_MARK_COMMA, .thousands = WEFT_MARK_NONE};
    weft_csv groups = *how;
    groups.thousands = how->decimal == WEFT_MARK_POINT ? WEFT_MARK_COMMA : WEFT_MARK_POINT;
    int by_comma =
        how->decimal == WEFT_MARK_POINT && weft_cell_number(&comma, text, &x, mem);
    int by_groups =
        how->thousands == WEFT_MARK_NONE && weft_cell_number(&groups, text, &x, mem);
    const char *mark = groups.thousands == WEFT_MARK_COMMA ? "comma" : "point";
    if (weft_cell_missing(text)) return "missing = median fills it in";
    if (by_comma && by_groups)
        return "decimal = comma reads it as a fraction, thousands = comma as a whole "
               "number";
    if (by_comma) return "decimal = comma reads it";
    if (by_groups) return weft_arena_text(mem, "thousands = %s reads it", mark);
    if (weft_number_lost(text))
        return "no number holds so many digits; is it an identifier? drop = ... leaves the "
               "column out";
    if (weft_table_number(text, &x))
        return "floats of 32 bits end at 3.4e38: mend or remove the line";
    const char *digits = text + (*text == '-' || *text == '+');
    if (strspn(digits, "0123456789., ") == strlen(digits) && !is_outline(digits, mem))
        return "its digits are no number in this spelling: mend or remove the line";
    return NULL;
}
