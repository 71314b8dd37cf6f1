/* Tables of what a task measures, and their text form: one line per metric, of name, unit,
 * title and about, separated by TABs. */
#include "weft/job.h"

#include <math.h>
#include <string.h>

/* Numbers from MIN_PLAIN to MAX_PLAIN are shown without an exponent. */
#define MIN_PLAIN 1e-3
#define MAX_PLAIN 1e6

enum { FIELDS = 4 };

int weft_metrics_count(const weft_metric *table)
{
    int n = 0;
    while (table && table[n].name) n++;
    return n;
}

int weft_metrics_find(const weft_metric *table, const char *name)
{
    for (int i = 0; table && table[i].name; i++)
        if (strcmp(table[i].name, name) == 0) return i;
    return -1;
}

const char *weft_metrics_text(const weft_metric *table, weft_arena *mem)
{
    const char *text = "";
    for (int i = 0; table && table[i].name; i++)
        text =
            weft_arena_text(mem, "%s%s\t%s\t%s\t%s\n", text, table[i].name, table[i].unit,
                            table[i].title ? table[i].title : "", table[i].about);
    return text;
}

const char *weft_field_next(const char **at, weft_arena *mem)
{
    size_t n = strcspn(*at, "\t\n");
    const char *text = weft_arena_text(mem, "%.*s", (int)n, *at);
    *at += n + ((*at)[n] == '\t');
    return text;
}

void weft_line_skip(const char **at)
{
    *at += strcspn(*at, "\n");
    *at += **at == '\n';
}

const weft_metric *weft_metrics_parse(const char *text, weft_arena *mem)
{
    weft_metric *table = WEFT_NEW(mem, weft_metric, WEFT_MAX_METRICS + 1);
    for (int i = 0; i < WEFT_MAX_METRICS && *text; i++) {
        const char *field[FIELDS];
        for (int f = 0; f < FIELDS; f++) field[f] = weft_field_next(&text, mem);
        weft_line_skip(&text);
        table[i] = (weft_metric){.name = field[0],
                                 .about = field[3],
                                 .unit = field[1],
                                 .title = *field[2] ? field[2] : NULL};
    }
    return table;
}

int weft_metric_is_share(const weft_metric *metric)
{
    size_t n = metric->title ? strlen(metric->title) : 0;
    return n > 0 && metric->title[n - 1] == '%';
}

const char *weft_loss_show(double x, int decimals, weft_arena *mem)
{
    double size = fabs(x);
    if (isnan(x)) return "-";
    if (!(size > 0) || (size >= MIN_PLAIN && size < MAX_PLAIN))
        return weft_arena_text(mem, "%.*f", decimals, x);
    return weft_arena_text(mem, "%.*g", decimals - 1, x);
}

const char *weft_metric_show(const weft_metric *metric, double x, weft_arena *mem)
{
    if (!weft_metric_is_share(metric))
        return weft_arena_text(mem, "%s %s", metric->title, weft_loss_show(x, 6, mem));
    int n = (int)strlen(metric->title) - 1;
    return weft_arena_text(mem, "%.*s%.3f %%", n, metric->title, 100 * x);
}
