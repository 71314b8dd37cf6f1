/* Reader of tables of learning curves. */
#include "table.h"
#include "weft/names.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/types.h>

/* The columns that are numbers. */
enum { RESOURCE, LOSS, SECONDS, TEST, NUMBERS };

typedef struct reader {
    replay_table *out;
    weft_arena *mem;
    int line;                  /* number, from 1 */
    const char **field;        /* [ncolumn] of the line */
    int config;                /* column of the labels */
    int column[NUMBERS];       /* -1: there is none */
    const char *name[NUMBERS]; /* of them */
    weft_names labels;
    int64_t npoint, point_room, first_room, value_room;
} reader;

/* ---- lines ---- */

static int count_fields(const char *line)
{
    int n = 1;
    for (; *line; line++) n += *line == '\t';
    return n;
}

/* Divides a line at its TABs into field[ncolumn]. EDATA: there are more or fewer. */
static weft_status divide(reader *r, char *line)
{
    const replay_table *table = r->out;
    int n = count_fields(line);
    if (n != table->ncolumn)
        return weft_fail(WEFT_EDATA, "%s:%d: %d fields; expected %d, separated by TAB",
                         table->path, r->line, n, table->ncolumn);
    for (int i = 0; i < n; i++) {
        r->field[i] = line;
        line += strcspn(line, "\t");
        *line++ = '\0';
    }
    return WEFT_OK;
}

weft_status replay_find(const replay_table *table, const char *name, int *at)
{
    *at = -1;
    for (int i = 0; i < table->ncolumn; i++) {
        if (strcmp(table->name[i], name) != 0) continue;
        if (*at >= 0)
            return weft_fail(
                WEFT_EDATA,
                "%s: columns %d and %d are both named \"%s\"; rename or remove "
                "one",
                table->path, *at + 1, i + 1, name);
        *at = i;
    }
    return WEFT_OK;
}

static weft_status need(const replay_table *table, const char *name, const char *what,
                        int *at)
{
    TRY(replay_find(table, name, at));
    if (*at >= 0) return WEFT_OK;
    return weft_fail(WEFT_EDATA,
                     "%s has no column \"%s\", %s; the nearest name in its first line is "
                     "\"%s\"",
                     table->path, name, what,
                     weft_nearest(name, table->name, table->ncolumn));
}

static weft_status read_names(reader *r, const char *line)
{
    replay_table *table = r->out;
    table->ncolumn = count_fields(line);
    table->name = WEFT_NEW(r->mem, const char *, table->ncolumn);
    r->field = WEFT_NEW(r->mem, const char *, table->ncolumn);
    TRY(divide(r, weft_arena_text(r->mem, "%s", line)));
    memcpy(table->name, r->field, (size_t)table->ncolumn * sizeof *table->name);
    TRY(need(table, "config", "the label of a configuration", &r->config));
    TRY(need(table, "resource", "how far the training is", &r->column[RESOURCE]));
    TRY(need(table, r->name[LOSS], "which replay.loss names", &r->column[LOSS]));
    TRY(replay_find(table, r->name[SECONDS], &r->column[SECONDS]));
    r->column[TEST] = -1;
    if (!*r->name[TEST]) return WEFT_OK;
    return need(table, r->name[TEST], "which replay.test names", &r->column[TEST]);
}

/* The number of a column; NAN is none, and only a loss may be infinite. */
static weft_status number(const reader *r, int which, double *out)
{
    *out = NAN;
    if (r->column[which] < 0) return WEFT_OK;
    const char *text = r->field[r->column[which]];
    char *end;
    *out = strtod(text, &end);
    int loss = which == LOSS || which == TEST;
    if (end != text && *end == '\0' && (isfinite(*out) || (loss && *out > 0)))
        return WEFT_OK;
    return weft_fail(WEFT_EDATA, "%s:%d: %s is \"%s\"; expected a number%s", r->out->path,
                     r->line, r->name[which], text,
                     loss ? ", or inf for a training that diverged" : "");
}

/* ---- points ---- */

/* Begins a configuration unless the line goes on with the last one. */
static weft_status begin(reader *r)
{
    replay_table *table = r->out;
    int64_t i = weft_names_find(&r->labels, r->field[r->config]);
    if (i == table->n - 1) return WEFT_OK;
    if (i < table->n)
        return weft_fail(
            WEFT_EDATA,
            "%s:%d: configuration %s has lines above others'; sort the table by "
            "config, then by resource",
            table->path, r->line, r->field[r->config]);
    table->first =
        weft_grow(r->mem, table->first, sizeof *table->first, table->n + 1, &r->first_room);
    table->first[table->n] = r->npoint;
    table->value =
        weft_grow(r->mem, table->value, (size_t)table->ncolumn * sizeof *table->value,
                  table->n, &r->value_room);
    for (int c = 0; c < table->ncolumn; c++)
        table->value[table->n * table->ncolumn + c] =
            weft_arena_text(r->mem, "%s", r->field[c]);
    table->n++;
    return WEFT_OK;
}

/* EDATA: the point does not follow the one before it. */
static weft_status check_order(const reader *r, const replay_point *point)
{
    const replay_table *table = r->out;
    const replay_point *before = r->npoint > table->first[table->n - 1] ? point - 1 : NULL;
    double resource = before ? before->resource : 0;
    double seconds = before ? before->seconds : 0;
    if (point->resource <= resource)
        return weft_fail(WEFT_EDATA,
                         "%s:%d: resource %g of configuration %s does not follow %g; sort "
                         "the lines of a configuration by it, from above 0",
                         table->path, r->line, point->resource, r->field[r->config],
                         resource);
    if (point->seconds < seconds)
        return weft_fail(WEFT_EDATA,
                         "%s:%d: %s %g of configuration %s come after %g; they count from "
                         "the start of its training",
                         table->path, r->line, r->name[SECONDS], point->seconds,
                         r->field[r->config], seconds);
    return WEFT_OK;
}

static weft_status read_point(reader *r, char *line)
{
    replay_table *table = r->out;
    TRY(divide(r, line));
    TRY(begin(r));
    table->point =
        weft_grow(r->mem, table->point, sizeof *table->point, r->npoint, &r->point_room);
    replay_point *point = &table->point[r->npoint];
    TRY(number(r, RESOURCE, &point->resource));
    TRY(number(r, LOSS, &point->loss));
    TRY(number(r, SECONDS, &point->seconds));
    TRY(number(r, TEST, &point->test));
    TRY(check_order(r, point));
    table->most = fmax(table->most, point->resource);
    r->npoint++;
    return WEFT_OK;
}

static weft_status read_lines(reader *r, FILE *in)
{
    char *line = NULL;
    size_t room = 0;
    weft_status st = WEFT_OK;
    while (st == WEFT_OK && getline(&line, &room, in) >= 0) {
        r->line++;
        line[strcspn(line, "\r\n")] = '\0';
        if (*line == '\0') continue;
        st = r->out->ncolumn > 0 ? read_point(r, line) : read_names(r, line);
    }
    free(line);
    return st;
}

weft_status replay_read(const char *path, const replay_names *names, replay_table *out,
                        weft_arena *mem)
{
    reader r = {.out = out,
                .mem = mem,
                .name = {"resource", names->loss, names->seconds, names->test},
                .labels = {.mem = mem}};
    *out = (replay_table){.path = path};
    FILE *in = fopen(path, "r");
    if (!in) return weft_unreadable(path);
    weft_status st = read_lines(&r, in);
    int broken = ferror(in);
    fclose(in);
    TRY(st);
    if (broken) return weft_unreadable(path);
    if (out->n == 0)
        return weft_fail(WEFT_EDATA,
                         "%s has no line of numbers; expected a line of names, config, "
                         "resource, %s and others, and one for each point of a curve",
                         path, names->loss);
    out->first = weft_grow(mem, out->first, sizeof *out->first, out->n + 1, &r.first_room);
    out->first[out->n] = r.npoint;
    return WEFT_OK;
}
