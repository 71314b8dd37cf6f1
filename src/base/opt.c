/* One option of a plug-in: its names, its values as text and as numbers, and the member of
 * the instance that holds it. */
#include "weft/base/conf.h"

#include <ctype.h>
#include <errno.h>
#include <float.h>
#include <limits.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

/* Index of `word` in the n characters "a/b/c"; -1 if it is not there. */
static int among(const char *list, size_t n, const char *word, int fold)
{
    size_t length = strlen(word);
    int index = 0;
    for (const char *at = list, *end = list + n; at <= end; index++) {
        const char *stop = memchr(at, '/', (size_t)(end - at));
        if (!stop) stop = end;
        int same = (size_t)(stop - at) == length &&
                   (fold ? strncasecmp(at, word, length) : strncmp(at, word, length)) == 0;
        if (same) return index;
        at = stop + 1;
    }
    return -1;
}

int weft_opt_tunable(const weft_opt *opt)
{
    return opt->role >= WEFT_PER_SAMPLE;
}

int weft_opt_is(const weft_opt *opt, const char *key)
{
    return among(opt->name, strlen(opt->name), key, 0) >= 0;
}

const weft_opt *weft_opt_find(const weft_opt *opts, const char *key)
{
    while (opts->name && !weft_opt_is(opts, key)) opts++;
    return opts->name ? opts : NULL;
}

/* Copies the first word of "a/b|c" into text[room]. */
static void first_word(const char *list, char *text, size_t room)
{
    snprintf(text, room, "%.*s", (int)strcspn(list, "/|"), list);
}

void weft_opt_name(const weft_opt *opt, char *text, size_t n)
{
    first_word(opt->name, text, n);
}

int weft_is_quoted(const char *value)
{
    size_t n = strlen(value);
    return n >= 2 && (*value == '"' || *value == '\'') &&
           strchr(value + 1, *value) == value + n - 1;
}

int weft_is_range(const char *value)
{
    if (weft_is_quoted(value)) return 0;
    return strstr(value, "..") || strchr(value, '|') || weft_clause(value, "when");
}

const char *weft_clause(const char *value, const char *word)
{
    size_t n = strlen(word);
    if (weft_is_quoted(value)) return NULL;
    for (const char *at = strstr(value, word); at; at = strstr(at + 1, word)) {
        if (at == value || !isspace((unsigned char)at[-1])) continue;
        if (!isspace((unsigned char)at[n])) continue;
        const char *key = at + n;
        while (isspace((unsigned char)*key)) key++;
        const char *end = key + strcspn(key, "= \t|");
        if (end > key && end[strspn(end, " \t")] == '=') return at;
    }
    return NULL;
}

const char *weft_range_near(const char *value, int *n)
{
    static const char word[] = " near ", mark[] = " per trial";
    const char *dots = strstr(value, ".."), *at = dots ? strstr(dots, word) : NULL;
    const char *when = weft_clause(value, "when");
    if (!at || weft_is_quoted(value) || strchr(value, '|') || (when && at > when))
        return NULL;
    at += sizeof word - 1;
    const char *trial = strstr(at, mark), *end = when ? when : value + strlen(value);
    size_t length = (size_t)((trial && trial < end ? trial : end) - at);
    while (length > 0 && isspace((unsigned char)at[length - 1])) length--;
    *n = (int)length;
    return at;
}

int weft_range_length(const char *value, int *per_trial)
{
    static const char mark[] = " per trial";
    const char *when = weft_clause(value, "when");
    size_t n = when ? (size_t)(when - value) : strlen(value), m = sizeof mark - 1;
    while (n > 0 && isspace((unsigned char)value[n - 1])) n--;
    *per_trial = n > m && memcmp(value + n - m, mark, m) == 0 && weft_is_range(value);
    int near;
    const char *at = weft_range_near(value, &near);
    if (at) return (int)(at - value) - (int)(sizeof " near " - 1);
    return (int)(*per_trial ? n - m : n);
}

/* Parses "1e6", "0.5", "2^20"; returns 0 if it is none of these, or underflows to 0. */
static int number(const char *text, double *x)
{
    char *end;
    errno = 0;
    *x = strtod(text, &end);
    int lost = errno == ERANGE && fabs(*x) < 1;
    if (end == text) return 0;
    if (*end == '^') {
        const char *power = end + 1;
        double base = *x;
        *x = pow(base, strtod(power, &end));
        lost |= fabs(*x) < DBL_MIN && fabs(base) > 0;
        if (end == power) return 0;
    }
    while (isspace((unsigned char)*end)) end++;
    *x += 0.0; /* "-0" is 0 */
    return *end == '\0' && !isnan(*x) && !lost;
}

static weft_status parse_number(const weft_opt *opt, const char *text, double *value)
{
    if (opt->words && strcasecmp(text, opt->words) == 0) {
        *value = opt->lo;
        return WEFT_OK;
    }
    const char *what = opt->type == WEFT_REAL ? "a number" : "an integer";
    /* a larger number is not exact in a double, or does not fit the member */
    double most = opt->type == WEFT_INT    ? INT_MAX
                  : opt->type == WEFT_LONG ? 0x1p53
                                           : INFINITY;
    double lo = fmax(opt->lo, -most), hi = fmin(opt->hi, most), x;
    int right = number(text, &x) && (opt->type == WEFT_REAL || x == floor(x));
    if (!right) return weft_fail(WEFT_ECONF, "'%s' is not %s", text, what);
    if ((x < lo || x > hi) && opt->type != WEFT_REAL)
        return weft_fail(WEFT_ECONF, "%s is out of bounds: must be %s from %.0f to %.0f",
                         text, what, lo, hi);
    if (x < lo || x > hi)
        return weft_fail(WEFT_ECONF, "%s is out of bounds: must be %s from %.15g to %.15g",
                         text, what, lo, hi);
    *value = x;
    return WEFT_OK;
}

static weft_status parse_bool(const char *text, double *value)
{
    static const char yes[] = "yes/true/on/1", no[] = "no/false/off/0";
    int is_yes = among(yes, sizeof yes - 1, text, 1) >= 0;
    if (!is_yes && among(no, sizeof no - 1, text, 1) < 0)
        return weft_fail(WEFT_ECONF, "'%s' is neither yes nor no", text);
    *value = is_yes;
    return WEFT_OK;
}

static weft_status parse_choice(const weft_opt *opt, const char *text, double *value)
{
    enum { MOST = 64 };
    char word[MOST][32];
    const char *list[MOST];
    int n = 0;
    for (const char *at = opt->words; n < MOST; n++) {
        size_t length = strcspn(at, "|");
        if (among(at, length, text, 1) >= 0) {
            *value = n;
            return WEFT_OK;
        }
        first_word(at, word[n], sizeof word[n]);
        list[n] = word[n];
        at += length;
        if (*at++ == '\0') break;
    }
    n = n < MOST ? n + 1 : MOST;
    char all[512] = "";
    for (int i = 0; i < n; i++) {
        size_t used = strlen(all);
        snprintf(all + used, sizeof all - used, "%s%.31s", i > 0 ? ", " : "", word[i]);
    }
    return weft_fail(WEFT_ECONF, "'%s' is none of %s; did you mean %s?", text, all,
                     weft_nearest(text, list, n));
}

/* Of WEFT_WORDS, "a|b/c|B". */
static weft_status parse_word(const weft_opt *opt, const char *text, double *value)
{
    size_t n = strlen(text);
    int i = 0;
    for (const char *at = opt->words; at; i++) {
        size_t length = strcspn(at, "|");
        if (length == n && strncmp(at, text, n) == 0) {
            *value = i;
            return WEFT_OK;
        }
        at = at[length] ? at + length + 1 : NULL;
    }
    return weft_fail(WEFT_ECONF, "'%s' is none of %s", text, opt->words);
}

weft_status weft_opt_parse(const weft_opt *opt, const char *text, double *value)
{
    switch (opt->type) {
    case WEFT_BOOL: return parse_bool(text, value);
    case WEFT_CHOICE: return parse_choice(opt, text, value);
    case WEFT_WORDS: return parse_word(opt, text, value);
    case WEFT_TEXT: return weft_fail(WEFT_ECONF, "'%s' is a text, not a number", text);
    default: return parse_number(opt, text, value);
    }
}

void weft_opt_set(const weft_opt *opt, void *self, double value)
{
    void *member = (char *)self + opt->at;
    if (opt->type == WEFT_LONG)
        *(int64_t *)member = (int64_t)value;
    else if (opt->type == WEFT_REAL)
        *(double *)member = value;
    else
        *(int *)member = (int)value;
}

double weft_opt_value(const weft_opt *opt, const void *self)
{
    const void *member = (const char *)self + opt->at;
    if (opt->type == WEFT_LONG) return (double)*(const int64_t *)member;
    if (opt->type == WEFT_REAL) return *(const double *)member;
    return *(const int *)member;
}

void weft_opt_show(const weft_opt *opt, double value, char *text, size_t n)
{
    if (opt->type == WEFT_BOOL) {
        snprintf(text, n, "%s", value != 0 ? "true" : "false");
    } else if (opt->type == WEFT_CHOICE || opt->type == WEFT_WORDS) {
        const char *at = opt->words;
        for (int i = (int)value; i > 0 && *at; i--) {
            at += strcspn(at, "|");
            at += *at == '|';
        }
        if (opt->type == WEFT_CHOICE)
            first_word(at, text, n);
        else
            snprintf(text, n, "%.*s", (int)strcspn(at, "|"), at);
    } else if (opt->words && !(value > opt->lo)) {
        snprintf(text, n, "%s", opt->words);
    } else {
        char digits[32];
        for (int precision = 1; precision <= 17;
             precision++) { /* the shortest text that gives the same number */
            snprintf(digits, sizeof digits, "%.*g", precision, value);
            if (strtod(digits, NULL) == value) break;
        }
        int whole = floor(value) == value && fabs(value) < 1e6;
        if (opt->type != WEFT_REAL || whole) snprintf(digits, sizeof digits, "%.0f", value);
        snprintf(text, n, "%s", digits);
    }
}

const char *weft_opt_told(const weft_opt *opt, const void *self, weft_arena *mem)
{
    enum { MOST = 64 };
    const char *text;
    if (opt->type == WEFT_TEXT) {
        memcpy(&text, (const char *)self + opt->at, sizeof text);
        return text ? text : "";
    }
    char *shown = WEFT_NEW(mem, char, MOST);
    weft_opt_show(opt, weft_opt_value(opt, self), shown, MOST);
    return shown;
}

const char *weft_opt_given(const weft_opt *opts, const void *self, const char *name,
                           weft_arena *mem)
{
    const weft_opt *opt = weft_opt_find(opts, name);
    double usual;
    weft_check(opt, "no option %s", name);
    const char *told = weft_opt_told(opt, self, mem);
    if (opt->type == WEFT_TEXT) return strcmp(told, opt->def) == 0 ? NULL : told;
    weft_check(weft_opt_parse(opt, opt->def, &usual) == WEFT_OK, "%s", weft_error());
    return fabs(weft_opt_value(opt, self) - usual) > 0 ? told : NULL;
}
