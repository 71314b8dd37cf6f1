/* Tables of devices, read line by line so that every message names its line. */
#include "device.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { CLIENT = WEFT_PROFILE, NAMES };

static const char *const names[NAMES] = {"speed",        "up",      "down",
                                         "availability", "dropout", "client"};

/* A table being read. */
struct table {
    weft_device *device;
    int64_t clients;
    weft_arena *mem;
    int line;          /* from 1 */
    int columns;       /* of every line; 0: names not read yet */
    int column[NAMES]; /* column of each name; -1: none */
    char separator;
    double *row;  /* [room][WEFT_PROFILE] */
    char *filled; /* [room] where there is a column client */
    int64_t room;
};

/* Cuts a line at the separators into field[NAMES]; returns how many there are. */
static int cut(const struct table *table, char *line, char **field)
{
    int n = 0;
    line[strcspn(line, "\r\n")] = '\0';
    for (char *at = line; at; n++) {
        char *end = strchr(at, table->separator);
        if (end) *end = '\0';
        if (n < NAMES) field[n] = at;
        at = end ? end + 1 : NULL;
    }
    return n;
}

static weft_status read_names(struct table *table, int n, char *const *field)
{
    for (int k = 0; k < NAMES; k++) table->column[k] = -1;
    for (int i = 0; i < n && i < NAMES; i++) {
        int k = 0;
        while (k < NAMES && strcmp(names[k], field[i]) != 0) k++;
        if (k == NAMES)
            return weft_fail(WEFT_EDATA,
                             "%s:%d: there is no column \"%s\"; did you mean \"%s\"?",
                             table->device->file, table->line, field[i],
                             weft_nearest(field[i], names, NAMES));
        if (table->column[k] >= 0)
            return weft_fail(WEFT_EDATA, "%s:%d: there are two columns \"%s\"; keep one",
                             table->device->file, table->line, field[i]);
        table->column[k] = i;
    }
    if (n > NAMES)
        return weft_fail(WEFT_EDATA, "%s:%d: %d columns, expected at most %d",
                         table->device->file, table->line, n, NAMES);
    table->columns = n;
    table->device->keyed = table->column[CLIENT] >= 0;
    return WEFT_OK;
}

/* Finds the row of the table that a line belongs to. */
static weft_status find_row(struct table *table, char *const *field, int64_t *row)
{
    *row = table->device->rows;
    if (!table->device->keyed) return WEFT_OK;
    const char *text = field[table->column[CLIENT]];
    char *end;
    const long long c = strtoll(text, &end, 10);
    if (end == text || *end != '\0' || c < 0 || c >= table->clients)
        return weft_fail(WEFT_EDATA, "%s:%d: client %s, expected 0 .. %lld",
                         table->device->file, table->line, text,
                         (long long)table->clients - 1);
    if (table->filled[c])
        return weft_fail(WEFT_EDATA, "%s:%d: client %lld has a line already; keep one",
                         table->device->file, table->line, c);
    table->filled[c] = 1;
    *row = c;
    return WEFT_OK;
}

/* One number of a column, checked. */
static weft_status read_number(const struct table *table, int k, const char *text,
                               double *x)
{
    char *end;
    *x = strtod(text, &end);
    int chance = k == WEFT_AVAILABLE || k == WEFT_DROPOUT;
    int fits = k == WEFT_SPEED ? *x > 0 : *x >= 0 && (!chance || *x <= 1);
    if (end != text && *end == '\0' && isfinite(*x) && fits) return WEFT_OK;
    return weft_fail(WEFT_EDATA, "%s:%d: %s is \"%s\", expected %s", table->device->file,
                     table->line, names[k], text,
                     chance            ? "a probability, 0 .. 1"
                     : k == WEFT_SPEED ? "a number above 0; 1 is the section's speed"
                                       : "bytes a second, 0 for any");
}

static weft_status read_row(struct table *table, int n, char *const *field)
{
    if (n != table->columns)
        return weft_fail(WEFT_EDATA, "%s:%d: %d fields, expected the %d of the first line",
                         table->device->file, table->line, n, table->columns);
    int64_t row;
    TRY(find_row(table, field, &row));
    table->row = weft_grow(table->mem, table->row, WEFT_PROFILE * sizeof *table->row, row,
                           &table->room);
    const weft_device *device = table->device;
    const double same[WEFT_PROFILE] = {1, device->up, device->down, device->available,
                                       device->dropout};
    for (int k = 0; k < WEFT_PROFILE; k++) {
        double x = same[k];
        if (table->column[k] >= 0) TRY(read_number(table, k, field[table->column[k]], &x));
        table->row[row * WEFT_PROFILE + k] = x;
    }
    table->device->rows++;
    return WEFT_OK;
}

static weft_status read_line(struct table *table, char *line)
{
    char *field[NAMES];
    if (table->columns > 0) {
        int n = cut(table, line, field);
        return n == 1 && field[0][0] == '\0' ? WEFT_OK : read_row(table, n, field);
    }
    table->separator = strchr(line, '\t') ? '\t' : ',';
    int n = cut(table, line, field);
    TRY(read_names(table, n, field));
    if (!table->device->keyed) return WEFT_OK;
    table->room = table->clients;
    table->row = WEFT_NEW(table->mem, double, table->clients *WEFT_PROFILE);
    table->filled = WEFT_NEW(table->mem, char, table->clients);
    return WEFT_OK;
}

/* EDATA if a client has no row. */
static weft_status check_complete(const struct table *table)
{
    const char *file = table->device->file;
    if (table->device->rows == 0)
        return weft_fail(WEFT_EDATA,
                         "%s: holds no device; expected a line of names, such as speed or "
                         "client, and at least one of numbers",
                         file);
    for (int64_t c = 0; table->device->keyed && c < table->clients; c++)
        if (!table->filled[c])
            return weft_fail(WEFT_EDATA,
                             "%s: client %lld has no line; add it, or leave the column "
                             "client out to give clients lines at random",
                             file, (long long)c);
    return WEFT_OK;
}

weft_status weft_device_trace(weft_device *device, int64_t clients, weft_arena *mem)
{
    struct table table = {.device = device, .clients = clients, .mem = mem};
    FILE *in = fopen(device->file, "r");
    if (!in)
        return weft_fail(WEFT_EFILE,
                         "%s: %s; expected the table of devices that device.file names",
                         device->file, strerror(errno));
    char *line = NULL;
    size_t room = 0;
    weft_status st = WEFT_OK;
    errno = 0;
    while (st == WEFT_OK && getline(&line, &room, in) > 0) {
        table.line++;
        st = read_line(&table, line);
    }
    if (st == WEFT_OK && ferror(in))
        st = weft_fail(WEFT_EFILE, "%s: %s", device->file, strerror(errno));
    free(line);
    fclose(in);
    TRY(st);
    device->row = table.row;
    return check_complete(&table);
}
