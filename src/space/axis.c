/* An axis of a search space: its points, draws, grid points and neighbours; its range,
 * shown and read. The ends of a real axis may be any numbers of a program's parameter:
 * where their ratio or difference overflows, the formulas have another form. */
#include "axes.h"
#include "weft/base/random.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

/* ---- points ---- */

static int is_integer(const weft_axis *axis)
{
    return axis->opt->type != WEFT_REAL;
}

/* lo + t (hi - lo), 0 <= t <= 1. */
static double between(double lo, double hi, double t)
{
    return isfinite(hi - lo) ? lo + t * (hi - lo) : (1 - t) * lo + t * hi;
}

/* lo (hi / lo)^t, 0 <= t <= 1. */
static double between_log(double lo, double hi, double t)
{
    return isfinite(hi / lo) ? lo * pow(hi / lo, t) : pow(lo, 1 - t) * pow(hi, t);
}

/* The point at the fraction t in [0, 1] of the way from lo to hi. */
static double axis_at(const weft_axis *axis, double lo, double hi, double t)
{
    double v = axis->log ? between_log(lo, hi, t) : between(lo, hi, t);
    return fmin(fmax(v, lo), hi);
}

double weft_axis_draw(const weft_axis *axis, double unit)
{
    if (axis->nvalue) return axis->value[(int)(unit * axis->nvalue)];
    if (!is_integer(axis)) return axis_at(axis, axis->lo, axis->hi, unit);
    return fmin(floor(axis_at(axis, axis->lo, axis->hi + 1, unit)), axis->hi);
}

int64_t weft_axis_levels(const weft_axis *axis, int64_t levels)
{
    if (axis->nvalue) return axis->nvalue;
    double n = is_integer(axis)      ? axis->hi - axis->lo + 1
               : axis->hi > axis->lo ? (double)levels
                                     : 1;
    return n < (double)levels ? (int64_t)n : levels;
}

/* Integers: lo + j if that is more than the rounded point, so that no value comes twice; as
 * a geometric sequence is convex, all n points are distinct and the last is hi. */
double weft_axis_point(const weft_axis *axis, int64_t j, int64_t n)
{
    if (axis->nvalue) return axis->value[j];
    double v = axis_at(axis, axis->lo, axis->hi, n > 1 ? (double)j / (double)(n - 1) : 0);
    return is_integer(axis) ? fmax(round(v), axis->lo + (double)j) : v;
}

/* An integer from floor(down) to ceil(up), all with equal probability. */
static double draw_whole(double down, double up, double unit)
{
    double slack = 1e-9; /* 0.07 * 100 is a little above 7 */
    double first = floor(down + slack), last = ceil(up - slack);
    return fmin(first + floor(unit * (last - first + 1)), last);
}

static double near_place(const weft_axis *axis, double centre, double eps, double unit)
{
    int at = 0;
    while (at < axis->nvalue && fabs(axis->value[at] - centre) > 0) at++;
    if (at == axis->nvalue) return centre;
    double reach = eps * (axis->nvalue - 1);
    double to = draw_whole(at - reach, at + reach, unit);
    return axis->value[(int)fmin(fmax(to, 0), axis->nvalue - 1)];
}

/* As weft_axis_near, whose interval overflows: in halves, or in logarithms. */
static double near_wide(const weft_axis *axis, double centre, double eps, double unit)
{
    double way = eps * (2 * unit - 1);
    if (axis->log) return exp(log(centre) + way * (log(axis->hi) - log(axis->lo)));
    return 2 * fmin(fmax(centre / 2 + way * (axis->hi / 2 - axis->lo / 2), axis->lo / 2),
                    axis->hi / 2);
}

double weft_axis_near(const weft_axis *axis, double centre, double eps, double unit)
{
    if (axis->nvalue) return near_place(axis, centre, eps, unit);
    double factor = axis->log ? pow(axis->hi / axis->lo, eps) : 1;
    double reach = axis->log ? 0 : eps * (axis->hi - axis->lo);
    double down = centre / factor - reach, up = centre * factor + reach;
    int wide = !isfinite(axis->log ? up / down : up - down);
    double v;
    if (is_integer(axis))
        v = draw_whole(down, up, unit);
    else if (wide)
        v = near_wide(axis, centre, eps, unit);
    else
        v = axis->log ? down * pow(up / down, unit) : down + unit * (up - down);
    return fmin(fmax(v, axis->lo), axis->hi);
}

/* ---- value and unit ---- */

/* The ends of the interval that weft_axis_unit maps to [0, 1], for an axis without a list;
 * their logarithms if the axis is logarithmic. */
static void measure(const weft_axis *axis, double *lo, double *hi)
{
    double half = is_integer(axis) ? 0.5 : 0;
    *lo = axis->log ? log(axis->lo - half) : axis->lo - half;
    *hi = axis->log ? log(axis->hi + half) : axis->hi + half;
}

int weft_axis_index(const weft_axis *axis, double value)
{
    int at = 0;
    for (int i = 1; i < axis->nvalue; i++)
        if (fabs(axis->value[i] - value) < fabs(axis->value[at] - value)) at = i;
    return at;
}

double weft_axis_unit(const weft_axis *axis, double value)
{
    if (axis->nvalue) return (weft_axis_index(axis, value) + 0.5) / axis->nvalue;
    double lo, hi;
    measure(axis, &lo, &hi);
    if (!(hi > lo)) return 0.5;
    double v = fmin(fmax(value, axis->lo), axis->hi), at = axis->log ? log(v) : v;
    double u =
        isfinite(hi - lo) ? (at - lo) / (hi - lo) : (at / 2 - lo / 2) / (hi / 2 - lo / 2);
    return fmin(fmax(u, 0), 1);
}

double weft_axis_value(const weft_axis *axis, double unit)
{
    if (axis->nvalue) return axis->value[(int)fmin(unit * axis->nvalue, axis->nvalue - 1)];
    double lo, hi;
    measure(axis, &lo, &hi);
    double at = between(lo, hi, unit), v = axis->log ? exp(at) : at;
    return fmin(fmax(is_integer(axis) ? floor(v + 0.5) : v, axis->lo), axis->hi);
}

int weft_range_has(int nvalue, const double *value, double lo, double hi, double x)
{
    for (int i = 0; i < nvalue; i++)
        if (value[i] <= x && value[i] >= x) return 1;
    return nvalue == 0 && x >= lo && x <= hi;
}

int weft_axis_is_ordered(const weft_axis *axis)
{
    weft_type type = axis->opt->type;
    return type != WEFT_CHOICE && type != WEFT_WORDS && type != WEFT_BOOL;
}

double weft_axis_step(const weft_axis *axis, double value, int up)
{
    int sign = up > 0 ? 1 : -1;
    if (axis->nvalue == 0)
        return is_integer(axis) ? fmin(fmax(value + sign, axis->lo), axis->hi) : value;
    double from = sign * value, to = from; /* upwards */
    for (int i = 0; i < axis->nvalue; i++) {
        double v = sign * axis->value[i];
        if (v > from && (!(to > from) || v < to)) to = v;
    }
    return sign * to;
}

void weft_axis_name(const weft_axis *axis, char *text, size_t n)
{
    char name[64];
    weft_opt_name(axis->opt, name, sizeof name);
    snprintf(text, n, "%s.%s", axis->section, name);
}

/* ---- the range as a text ---- */

/* Values or an interval of an option, appended to text[n]. */
static void show_range(const weft_axis *axis, int nvalue, const double *value, double lo,
                       double hi, char *text, size_t n)
{
    char one[64], end[64];
    size_t at = strlen(text);
    for (int i = 0; i < nvalue && at < n; i++) {
        weft_opt_show(axis->opt, value[i], one, sizeof one);
        at += (size_t)snprintf(text + at, n - at, "%s%s", i ? " | " : "", one);
    }
    if (nvalue > 0 || at >= n) return;
    weft_opt_show(axis->opt, lo, one, sizeof one);
    weft_opt_show(axis->opt, hi, end, sizeof end);
    snprintf(text + at, n - at, "%s .. %s", one, end);
}

void weft_axis_show(const weft_space *space, int a, char *text, size_t n)
{
    const weft_axis *axis = &space->axis[a];
    snprintf(text, n, "%s", axis->log ? "log " : "");
    int nvalue = axis->step > 0 ? 0 : axis->nvalue;
    show_range(axis, nvalue, axis->value, axis->lo, axis->hi, text, n);
    size_t end = strlen(text);
    if (axis->step > 0 && end < n) snprintf(text + end, n - end, " step %.0f", axis->step);
    end = strlen(text);
    if (axis->has_near) {
        char near[64];
        weft_opt_show(axis->opt, axis->near, near, sizeof near);
        snprintf(text + end, n - end, " near %s", near);
    }
    for (int i = 0; i < axis->nwhen; i++) {
        const weft_axis_when *when = &axis->when[i];
        char name[128];
        size_t at = strlen(text);
        weft_axis_name(&space->axis[when->axis], name, sizeof name);
        snprintf(text + at, n - at, " %s %s = ", i ? "and" : "when", name);
        show_range(&space->axis[when->axis], when->nvalue, when->value, when->lo, when->hi,
                   text, n);
    }
}

uint64_t weft_axis_key(const weft_axis *axis)
{
    char name[64];
    weft_opt_name(axis->opt, name, sizeof name);
    return weft_hash(name, strlen(name),
                     weft_hash(axis->section, strlen(axis->section), 0));
}

/* ---- reading a range ---- */

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

/* The values of "a .. b step c", whose ends are set. */
static weft_status parse_step(const weft_entry *entry, const char *text, weft_axis *axis,
                              weft_arena *mem)
{
    static const weft_opt whole = {.type = WEFT_LONG, .lo = 1, .hi = 0x1p53};
    TRY(parse_end(entry, &whole, text, text + strlen(text), &axis->step, mem));
    if (!is_integer(axis) || axis->log)
        return weft_entry_fail(entry, "a step is of a range of integers without \"log\"; "
                                      "give others as values, \"0.1 | 0.2 | 0.4\"");
    double steps = floor((axis->hi - axis->lo) / axis->step);
    double last = axis->lo + steps * axis->step;
    if (last < axis->hi)
        return weft_entry_fail(entry, "the last of these steps is %.0f; write that end",
                               last);
    if (steps >= WEFT_MOST_VALUES)
        return weft_entry_fail(entry,
                               "expected at most %d values; take a longer step, or "
                               "none",
                               WEFT_MOST_VALUES);
    axis->nvalue = (int)steps + 1;
    axis->value = WEFT_NEW(mem, double, axis->nvalue);
    for (int i = 0; i < axis->nvalue; i++) axis->value[i] = axis->lo + i * axis->step;
    return WEFT_OK;
}

/* "a .. b", "log a .. b" or "a .. b step c" */
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
    const char *dots = strstr(from, ".."), *step = strstr(dots, " step ");
    if (dots[2] == '.')
        return weft_entry_fail(entry, "expected two dots, and a 0 before a decimal point");
    TRY(parse_end(entry, opt, from, dots, &axis->lo, mem));
    const char *end = step ? step : from + strlen(from);
    TRY(parse_end(entry, opt, dots + 2, end, &axis->hi, mem));
    if (axis->lo > axis->hi)
        return weft_entry_fail(entry, "expected the lower end first, as in \"1 .. 3\"");
    if (axis->log && axis->lo <= 0)
        return weft_entry_fail(entry, "a log range needs a lower end above 0");
    return step ? parse_step(entry, step + strlen(" step "), axis, mem) : WEFT_OK;
}

/* "x | y | z" */
static weft_status parse_values(const weft_entry *entry, const char *from, weft_axis *axis,
                                weft_arena *mem)
{
    int room = 1;
    for (const char *at = from; *at; at++) room += *at == '|';
    if (room > WEFT_MOST_VALUES)
        return weft_entry_fail(entry, "expected at most %d values", WEFT_MOST_VALUES);
    axis->value = WEFT_NEW(mem, double, room);
    for (const char *bar = from; bar; from += bar ? bar - from + 1 : 0) {
        bar = strchr(from, '|');
        double *v = &axis->value[axis->nvalue];
        TRY(parse_end(entry, axis->opt, from, bar ? bar : from + strlen(from), v, mem));
        for (int i = 0; i < axis->nvalue; i++)
            if (axis->value[i] == *v) return weft_entry_fail(entry, "the same value twice");
        axis->nvalue++;
    }
    return WEFT_OK;
}

int weft_space_axis_of(const weft_space *space, const weft_opt *opt)
{
    for (int a = 0; a < space->dim; a++)
        if (space->axis[a].opt == opt) return a;
    return -1;
}

weft_status weft_space_range(const weft_entry *entry, const char *text, weft_axis *axis,
                             weft_arena *mem)
{
    int interval = strstr(text, "..") && !strchr(text, '|');
    return interval ? parse_interval(entry, text, axis, mem)
                    : parse_values(entry, text, axis, mem);
}
