/* What a task measures and what is searched, as a text in the head of the journal, so that
 * neither task nor data are needed to read its jobs. */
#include "tables.h"

#include <stdlib.h>
#include <string.h>

enum { METRICS, ROWS, SCORES, AXES, NPART };
static const char *const part_name[NPART] = {"[metrics]\n", "[rows]\n", "[scores]\n",
                                             "[axes]\n"};

/* One line for each axis: section, name, type, lower bound and words of its option. */
static const char *axes_text(const weft_tables *tables, weft_arena *mem)
{
    const char *text = "";
    for (int i = 0; i < tables->dim; i++) {
        const weft_opt *opt = tables->axis[i].opt;
        text = weft_arena_text(mem, "%s%s\t%s\t%d\t%.17g\t%s\n", text,
                               tables->axis[i].section, opt->name, (int)opt->type, opt->lo,
                               opt->words ? opt->words : "");
    }
    return text;
}

const char *weft_tables_text(const weft_tables *tables, weft_arena *mem)
{
    return weft_arena_text(mem, "%s%s%s%s%s%s%s%s", part_name[METRICS],
                           weft_metrics_text(tables->metrics, mem), part_name[ROWS],
                           weft_metrics_text(tables->rows, mem), part_name[SCORES],
                           weft_metrics_text(tables->scores, mem), part_name[AXES],
                           axes_text(tables, mem));
}

static void parse_axes(const char *text, weft_tables *tables, weft_arena *mem)
{
    for (const char *c = text; *c; c++) tables->dim += *c == '\n';
    weft_axis *axis = WEFT_NEW(mem, weft_axis, tables->dim);
    tables->axis = axis;
    for (int i = 0; i < tables->dim; i++) {
        weft_opt *opt = WEFT_NEW(mem, weft_opt, 1);
        axis[i] = (weft_axis){.section = weft_field_next(&text, mem), .opt = opt};
        opt->name = weft_field_next(&text, mem);
        opt->type = (weft_type)strtol(weft_field_next(&text, mem), NULL, 10);
        opt->lo = strtod(weft_field_next(&text, mem), NULL);
        opt->words = weft_field_next(&text, mem);
        if (!*opt->words) opt->words = NULL;
        weft_line_skip(&text);
    }
}

/* The lines between the title of a part and the next title; "": none. */
static const char *part_of(const char *text, int part, weft_arena *mem)
{
    const char *from = strstr(text, part_name[part]);
    if (!from) return "";
    from += strlen(part_name[part]);
    const char *end = part + 1 < NPART ? strstr(from, part_name[part + 1]) : NULL;
    size_t n = end ? (size_t)(end - from) : strlen(from);
    return weft_arena_text(mem, "%.*s", (int)n, from);
}

weft_tables weft_tables_parse(const char *text, weft_arena *mem)
{
    weft_tables tables = {
        .metrics = weft_metrics_parse(part_of(text, METRICS, mem), mem),
        .rows = weft_metrics_parse(part_of(text, ROWS, mem), mem),
        .scores = weft_metrics_parse(part_of(text, SCORES, mem), mem),
    };
    parse_axes(part_of(text, AXES, mem), &tables, mem);
    return tables;
}
