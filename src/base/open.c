/* Sections whose keys the user chooses: each key is an option, whose type follows from its
 * value. */
#include "weft/conf.h"

#include <float.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#define LETTERS "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"
#define DIGITS  "0123456789"

/* Names of any language: each byte of a character beyond ASCII counts as a letter. Longer
 * names would be cut where they are shown, and two of them taken for one. */
static weft_status check_key(const weft_entry *entry)
{
    enum { LONGEST = 63 };
    size_t n = strlen(entry->key);
    int first = (unsigned char)*entry->key >= 0x80 || strchr(LETTERS "_%", *entry->key);
    for (size_t i = 0; i < n; i++)
        if ((unsigned char)entry->key[i] < 0x80 &&
            !strchr(LETTERS DIGITS "_-.% ", entry->key[i]))
            first = 0;
    if (first && n <= LONGEST) return WEFT_OK;
    return weft_entry_fail(
        entry,
        "expected a name of at most %d bytes, of letters, digits, "
        "blanks, \"_\", \"-\", \".\" and \"%%\", that begins with a letter",
        LONGEST);
}

/* 1 if the n characters are a number; *whole 1: it is written as an integer. */
static int is_number(const char *text, size_t n, int *whole)
{
    static const weft_opt any = {.type = WEFT_REAL, .lo = -DBL_MAX, .hi = DBL_MAX};
    char word[64];
    double x;
    text = weft_trim(text, &n);
    if (n == 0 || n >= sizeof word) return 0;
    snprintf(word, sizeof word, "%.*s", (int)n, text);
    if (weft_opt_parse(&any, word, &x) != WEFT_OK) return 0;
    *whole = strcspn(word, ".eExX") == n && !(fabs(x - floor(x)) > 0);
    return 1;
}

/* "a .. b" where a or b is a number; an error in the other one is reported when the range
 * is read. */
static int is_interval(const char *value, weft_type *type)
{
    const char *from = strncmp(value, "log ", 4) == 0 ? value + 4 : value;
    const char *dots = strstr(from, "..");
    if (!dots) return 0;
    int whole[2] = {1, 1};
    const int number[2] = {is_number(from, (size_t)(dots - from), &whole[0]),
                           is_number(dots + 2, strlen(dots + 2), &whole[1])};
    if (!number[0] && !number[1]) return 0;
    *type = whole[0] && whole[1] ? WEFT_LONG : WEFT_REAL;
    return 1;
}

/* ---- ranges of other programs ---- */

/* The number of pieces that `by` divides a value into; 0 if one of them is empty, has
 * blanks or, where only numbers count, is no number. */
static int pieces(const char *value, const char *by, int numbers)
{
    int count = 0, whole;
    for (const char *at = value, *end; at; at = end ? end + strlen(by) : NULL, count++) {
        end = strstr(at, by);
        size_t n = end ? (size_t)(end - at) : strlen(at);
        const char *from = weft_trim(at, &n);
        if (n == 0 || strcspn(from, " \t") < n || (numbers && !is_number(from, n, &whole)))
            return 0;
    }
    return count;
}

/* 1 for what other programs take as a range or as several values: "[a, b]", "a, b",
 * "uniform(0, 1)", "1:5", "1 to 5", "log 1, 5". */
static int looks_ranged(const char *value)
{
    size_t n = strlen(value), name = strspn(value, LETTERS DIGITS "_.");
    const char *open = strchr("([{", value[name]);
    if (open && *open && n > name + 2 && value[n - 1] == ")]}"[open - "([{"]) {
        size_t inner = n - name - 2;
        const char *from = weft_trim(value + name + 1, &inner);
        return name > 0 || strcspn(from, ",;: \t") < inner;
    }
    return pieces(value, ",", 0) > 1 || pieces(value, ":", 1) > 1 ||
           pieces(value, " to ", 1) > 1 || pieces(value, " - ", 1) > 1 ||
           strncmp(value, "log ", 4) == 0;
}

/* ---- options ---- */

/* The words of "x | y | z" without the blanks between them. */
static weft_status read_words(const weft_entry *entry, const char *value, weft_arena *mem,
                              const char **out)
{
    *out = "";
    for (const char *at = value; at;) {
        size_t n = strcspn(at, "|");
        const char *next = at[n] ? at + n + 1 : NULL;
        at = weft_trim(at, &n);
        if (n == 0)
            return weft_entry_fail(entry, "one of the values is empty; expected "
                                          "\"x | y | z\"");
        *out = weft_arena_text(mem, "%s%s%.*s", *out, **out ? "|" : "", (int)n, at);
        at = next;
    }
    return WEFT_OK;
}

static weft_status make(const weft_entry *entry, weft_opt *opt, weft_arena *mem)
{
    opt->name = entry->key;
    opt->about = "the user's own";
    opt->own = 1;
    opt->type = WEFT_TEXT;
    opt->def = entry->value;
    const char *when = weft_clause(entry->value, "when"), *value = entry->value;
    int per_trial, n = weft_range_length(value, &per_trial);
    if (when || per_trial) value = weft_arena_text(mem, "%.*s", n, value);
    if (!strchr(value, '|') && is_interval(value, &opt->type)) {
        opt->lo = -DBL_MAX;
        opt->hi = DBL_MAX;
        opt->def = "0";
    } else if (when || strchr(value, '|')) {
        opt->type = WEFT_WORDS;
        TRY(read_words(entry, value, mem, &opt->words));
        opt->def = weft_arena_text(mem, "%.*s", (int)strcspn(opt->words, "|"), opt->words);
    } else if (!weft_is_quoted(value) && looks_ranged(value)) {
        return weft_entry_fail(entry,
                               "looks like a range of another program; an axis is "
                               "written \"0.1 | 0.01\", \"1 .. 5\" or \"log 1e-4 .. 1\", "
                               "and a text that is passed on as it stands in quotes");
    }
    opt->role = opt->type == WEFT_TEXT ? WEFT_FIXED
                : per_trial            ? WEFT_PER_TRIAL
                                       : WEFT_PER_SAMPLE;
    return WEFT_OK;
}

weft_status weft_conf_open(const weft_conf *conf, const weft_kind *kind, weft_arena *mem,
                           const weft_kind **out)
{
    size_t slot = sizeof(int64_t); /* the largest member */
    weft_opt *opts = WEFT_NEW(mem, weft_opt, conf->n + 1);
    weft_kind *own = WEFT_NEW(mem, weft_kind, 1);
    int n = 0;
    for (int i = 0; i < conf->n; i++) {
        weft_entry *entry = &conf->entry[i];
        if (strcmp(entry->section, kind->name) != 0) continue;
        TRY(check_key(entry));
        TRY(make(entry, &opts[n], mem));
        opts[n].at = slot * (size_t)n;
        entry->used = 1;
        n++;
    }
    *own = *kind;
    own->opts = opts;
    own->size = slot * (size_t)(n + 1);
    *out = own;
    return WEFT_OK;
}
