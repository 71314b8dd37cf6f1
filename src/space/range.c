/* Ranges of axes from the texts of entries. */
#include "axis.h"

#include <string.h>

int weft_space_nopt(const weft_kind *const *kinds, int nkind)
{
    int n = 0;
    for (int j = 0; j < nkind; j++)
        for (const weft_opt *opt = kinds[j]->opts; opt->name; opt++) n++;
    return n;
}

/* Parses the text from..to, without the blanks around it, as a value of the option. */
static weft_status parse_end(const weft_entry *entry, const weft_opt *opt, const char *from,
                             const char *to, double *value, weft_arena *mem)
{
    size_t n = (size_t)(to - from);
    from = weft_trim(from, &n);
    if (weft_opt_parse(opt, weft_arena_text(mem, "%.*s", (int)n, from), value) == WEFT_OK)
        return WEFT_OK;
    return weft_entry_fail(entry, "%s", weft_error());
}

/* "a .. b" or "log a .. b" */
static weft_status parse_interval(const weft_entry *entry, const char *from,
                                  weft_axis *axis, weft_arena *mem)
{
    const weft_opt *opt = axis->opt;
    if (opt->type != WEFT_INT && opt->type != WEFT_LONG && opt->type != WEFT_REAL)
        return weft_entry_fail(entry, "\"..\" is for numbers; expected values separated by "
                                      "\"|\"");
    from += strspn(from, " \t");
    if (strncmp(from, "log ", 4) == 0) {
        axis->log = 1;
        from += 4;
    }
    const char *dots = strstr(from, "..");
    if (dots[2] == '.')
        return weft_entry_fail(entry, "expected two dots, and a 0 before a decimal point");
    TRY(parse_end(entry, opt, from, dots, &axis->lo, mem));
    TRY(parse_end(entry, opt, dots + 2, from + strlen(from), &axis->hi, mem));
    if (axis->lo > axis->hi)
        return weft_entry_fail(entry, "expected the lower end first, as in \"1 .. 3\"");
    if (axis->log && axis->lo <= 0)
        return weft_entry_fail(entry, "a log range needs a lower end above 0");
    return WEFT_OK;
}

/* "x | y | z" */
static weft_status parse_values(const weft_entry *entry, const char *from, weft_axis *axis,
                                weft_arena *mem)
{
    int room = (int)(sizeof axis->value / sizeof *axis->value);
    for (const char *bar = from; bar; from += bar ? bar - from + 1 : 0) {
        bar = strchr(from, '|');
        if (axis->nvalue == room)
            return weft_entry_fail(entry, "expected at most %d values", room);
        double *v = &axis->value[axis->nvalue];
        TRY(parse_end(entry, axis->opt, from, bar ? bar : from + strlen(from), v, mem));
        for (int i = 0; i < axis->nvalue; i++)
            if (axis->value[i] == *v) return weft_entry_fail(entry, "the same value twice");
        axis->nvalue++;
    }
    return WEFT_OK;
}

weft_status weft_space_range(const weft_entry *entry, const char *text, weft_axis *axis,
                             weft_arena *mem)
{
    int interval = strstr(text, "..") && !strchr(text, '|');
    return interval ? parse_interval(entry, text, axis, mem)
                    : parse_values(entry, text, axis, mem);
}
