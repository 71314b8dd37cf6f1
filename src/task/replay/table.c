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

struct reader {
    replay_table *out;
    weft_arena *mem;
    int line;                  /* number, from 1 */
    const char **field;        /* [ncolumn] of the line */
    int config;                /* column of the labels */
    int column[NUMBERS];       /* -1: there is none */
    const char *name[NUMBERS]; /* of them */
    weft_names labels;
    int64_t npoint, point_room, first_room, value_room;
};

/* ---- lines ---- */

static int count_fields(const char *line)
{
    int n = 1;
    for (; *line; line++) n += *line == '\t';
    return n;
}

/* Divides a line at its TABs into field[ncolumn]. EDATA: there are more or fewer. */
static weft_status divide(struct reader *reader, char *line)
{
    const replay_table *table = reader->out;
    int n = count_fields(line);
    if (n != table->ncolumn)
        return weft_fail(WEFT_EDATA, "%s:%d: %d fields; expected %d, separated by TAB",
                         table->path, reader->line, n, table->ncolumn);
    for (int i = 0; i < n; i++) {
        reader->field[i] = line;
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

static weft_status read_names(struct reader *reader, const char *line)
{
    replay_table *table = reader->out;
    table->ncolumn = count_fields(line);
    table->name = WEFT_NEW(reader->mem, const char *, table->ncolumn);
    reader->field = WEFT_NEW(reader->mem, const char *, table->ncolumn);
    TRY(divide(reader, weft_arena_text(reader->mem, "%s", line)));
    memcpy(table->name, reader->field, (size_t)table->ncolumn * sizeof *table->name);
    TRY(need(table, "config", "the label of a configuration", &reader->config));
    TRY(need(table, "resource", "how far the training is", &reader->column[RESOURCE]));
    TRY(need(table, reader->name[LOSS], "which replay.loss names", &reader->column[LOSS]));
    TRY(replay_find(table, reader->name[SECONDS], &reader->column[SECONDS]));
    int may_lack = !*reader->name[SECONDS] || strcmp(reader->name[SECONDS], "seconds") == 0;
    if (!may_lack)
        TRY(need(table, reader->name[SECONDS], "which replay.time names",
                 &reader->column[SECONDS]));
    reader->column[TEST] = -1;
    if (!*reader->name[TEST]) return WEFT_OK;
    return need(table, reader->name[TEST], "which replay.test names",
                &reader->column[TEST]);
}

/* The number of a column; NAN is none, and only a loss may be infinite. */
static weft_status number(const struct reader *reader, int which, double *out)
{
    *out = NAN;
    if (reader->column[which] < 0) return WEFT_OK;
    const char *text = reader->field[reader->column[which]];
    char *end;
    *out = strtod(text, &end);
    int loss = which == LOSS || which == TEST;
    if (end != text && *end == '\0' && (isfinite(*out) || (loss && *out > 0)))
        return WEFT_OK;
    return weft_fail(WEFT_EDATA, "%s:%d: %s is \"%s\"; expected a number%s",
                     reader->out->path, reader->line, reader->name[which], text,
                     loss ? ", or inf for a training that diverged" : "");
}

/* ---- points ---- */

/* Begins a configuration unless the line goes on with the last one. */
static weft_status begin(struct reader *reader)
{
    replay_table *table = reader->out;
    int64_t i = weft_names_find(&reader->labels, reader->field[reader->config]);
    if (i == table->n - 1) return WEFT_OK;
    if (i < table->n)
        return weft_fail(
            WEFT_EDATA,
            "%s:%d: configuration %s has lines above others'; sort the table by "
            "config, then by resource",
            table->path, reader->line, reader->field[reader->config]);
    table->first = weft_grow(reader->mem, table->first, sizeof *table->first, table->n + 1,
                             &reader->first_room);
    table->first[table->n] = reader->npoint;
    table->value =
        weft_grow(reader->mem, table->value, (size_t)table->ncolumn * sizeof *table->value,
                  table->n, &reader->value_room);
    for (int c = 0; c < table->ncolumn; c++)
        table->value[table->n * table->ncolumn + c] =
            weft_arena_text(reader->mem, "%s", reader->field[c]);
    table->n++;
    return WEFT_OK;
}

/* EDATA: the point does not follow the one before it. */
static weft_status check_order(const struct reader *reader, const replay_point *point)
{
    const replay_table *table = reader->out;
    const replay_point *before =
        reader->npoint > table->first[table->n - 1] ? point - 1 : NULL;
    double resource = before ? before->resource : 0;
    double seconds = before ? before->seconds : 0;
    if (point->resource <= resource)
        return weft_fail(WEFT_EDATA,
                         "%s:%d: resource %g of configuration %s does not follow %g; sort "
                         "the lines of a configuration by it, from above 0",
                         table->path, reader->line, point->resource,
                         reader->field[reader->config], resource);
    if (point->seconds < seconds)
        return weft_fail(WEFT_EDATA,
                         "%s:%d: %s %g of configuration %s come after %g; they count from "
                         "the start of its training",
                         table->path, reader->line, reader->name[SECONDS], point->seconds,
                         reader->field[reader->config], seconds);
    return WEFT_OK;
}

static weft_status read_point(struct reader *reader, char *line)
{
    replay_table *table = reader->out;
    TRY(divide(reader, line));
    TRY(begin(reader));
    table->point = weft_grow(reader->mem, table->point, sizeof *table->point,
                             reader->npoint, &reader->point_room);
    replay_point *point = &table->point[reader->npoint];
    TRY(number(reader, RESOURCE, &point->resource));
    TRY(number(reader, LOSS, &point->loss));
    TRY(number(reader, SECONDS, &point->seconds));
    TRY(number(reader, TEST, &point->test));
    TRY(check_order(reader, point));
    table->most = fmax(table->most, point->resource);
    reader->npoint++;
    return WEFT_OK;
}

static weft_status read_lines(struct reader *reader, FILE *in)
{
    char *line = NULL;
    size_t room = 0;
    weft_status st = WEFT_OK;
    while (st == WEFT_OK && getline(&line, &room, in) >= 0) {
        reader->line++;
        line[strcspn(line, "\r\n")] = '\0';
        if (*line == '\0') continue;
        st = reader->out->ncolumn > 0 ? read_point(reader, line) : read_names(reader, line);
    }
    free(line);
    return st;
}

weft_status replay_read(const char *path, const replay_names *names, replay_table *out,
                        weft_arena *mem)
{
    struct reader reader = {.out = out,
                            .mem = mem,
                            .name = {"resource", names->loss, names->seconds, names->test},
                            .labels = {.mem = mem}};
    *out = (replay_table){.path = path};
    FILE *in = fopen(path, "r");
    if (!in) return weft_unreadable(path);
    weft_status st = read_lines(&reader, in);
    int broken = ferror(in);
    fclose(in);
    TRY(st);
    if (broken) return weft_unreadable(path);
    if (out->n == 0)
        return weft_fail(WEFT_EDATA,
                         "%s has no line of numbers; expected a line of names, config, "
                         "resource, %s and others, and one for each point of a curve",
                         path, names->loss);
    out->first =
        weft_grow(mem, out->first, sizeof *out->first, out->n + 1, &reader.first_room);
    out->first[out->n] = reader.npoint;
    return WEFT_OK;
}
