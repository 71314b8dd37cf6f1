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
typedef struct table {
    weft_device *d;
    int64_t clients;
    weft_arena *mem;
    int line;          /* from 1 */
    int columns;       /* of every line; 0: names not read yet */
    int column[NAMES]; /* column of each name; -1: none */
    char separator;
    double *row;  /* [room][WEFT_PROFILE] */
    char *filled; /* [room] where there is a column client */
    int64_t room;
} table;

/* Cuts a line at the separators into field[NAMES]; returns how many there are. */
static int cut(const table *t, char *line, char **field)
{
    int n = 0;
    line[strcspn(line, "\r\n")] = '\0';
    for (char *at = line; at; n++) {
        char *end = strchr(at, t->separator);
        if (end) *end = '\0';
        if (n < NAMES) field[n] = at;
        at = end ? end + 1 : NULL;
    }
    return n;
}

static weft_status read_names(table *t, int n, char *const *field)
{
    for (int k = 0; k < NAMES; k++) t->column[k] = -1;
    for (int i = 0; i < n && i < NAMES; i++) {
        int k = 0;
        while (k < NAMES && strcmp(names[k], field[i]) != 0) k++;
        if (k == NAMES)
            return weft_fail(
                WEFT_EDATA, "%s:%d: there is no column \"%s\"; did you mean \"%s\"?",
                t->d->file, t->line, field[i], weft_nearest(field[i], names, NAMES));
        if (t->column[k] >= 0)
            return weft_fail(WEFT_EDATA, "%s:%d: there are two columns \"%s\"; keep one",
                             t->d->file, t->line, field[i]);
        t->column[k] = i;
    }
    if (n > NAMES)
        return weft_fail(WEFT_EDATA, "%s:%d: %d columns, expected at most %d", t->d->file,
                         t->line, n, NAMES);
    t->columns = n;
    t->d->keyed = t->column[CLIENT] >= 0;
    return WEFT_OK;
}

/* Finds the row of the table that a line belongs to. */
static weft_status find_row(table *t, char *const *field, int64_t *row)
{
    *row = t->d->rows;
    if (!t->d->keyed) return WEFT_OK;
    const char *text = field[t->column[CLIENT]];
    char *end;
    const long long c = strtoll(text, &end, 10);
    if (end == text || *end != '\0' || c < 0 || c >= t->clients)
        return weft_fail(WEFT_EDATA, "%s:%d: client %s, expected 0 .. %lld", t->d->file,
                         t->line, text, (long long)t->clients - 1);
    if (t->filled[c])
        return weft_fail(WEFT_EDATA, "%s:%d: client %lld has a line already; keep one",
                         t->d->file, t->line, c);
    t->filled[c] = 1;
    *row = c;
    return WEFT_OK;
}

/* One number of a column, checked. */
static weft_status read_number(const table *t, int k, const char *text, double *x)
{
    char *end;
    *x = strtod(text, &end);
    int chance = k == WEFT_AVAILABLE || k == WEFT_DROPOUT;
    int fits = k == WEFT_SPEED ? *x > 0 : *x >= 0 && (!chance || *x <= 1);
    if (end != text && *end == '\0' && isfinite(*x) && fits) return WEFT_OK;
    return weft_fail(WEFT_EDATA, "%s:%d: %s is \"%s\", expected %s", t->d->file, t->line,
                     names[k], text,
                     chance            ? "a probability, 0 .. 1"
                     : k == WEFT_SPEED ? "a number above 0; 1 is the section's speed"
                                       : "bytes a second, 0 for any");
}

static weft_status read_row(table *t, int n, char *const *field)
{
    if (n != t->columns)
        return weft_fail(WEFT_EDATA, "%s:%d: %d fields, expected the %d of the first line",
                         t->d->file, t->line, n, t->columns);
    int64_t row;
    TRY(find_row(t, field, &row));
    t->row = weft_grow(t->mem, t->row, WEFT_PROFILE * sizeof *t->row, row, &t->room);
    const weft_device *device = t->d;
    const double same[WEFT_PROFILE] = {1, device->up, device->down, device->available,
                                       device->dropout};
    for (int k = 0; k < WEFT_PROFILE; k++) {
        double x = same[k];
        if (t->column[k] >= 0) TRY(read_number(t, k, field[t->column[k]], &x));
        t->row[row * WEFT_PROFILE + k] = x;
    }
    t->d->rows++;
    return WEFT_OK;
}

static weft_status read_line(table *t, char *line)
{
    char *field[NAMES];
    if (t->columns > 0) {
        int n = cut(t, line, field);
        return n == 1 && field[0][0] == '\0' ? WEFT_OK : read_row(t, n, field);
    }
    t->separator = strchr(line, '\t') ? '\t' : ',';
    int n = cut(t, line, field);
    TRY(read_names(t, n, field));
    if (!t->d->keyed) return WEFT_OK;
    t->room = t->clients;
    t->row = WEFT_NEW(t->mem, double, t->clients *WEFT_PROFILE);
    t->filled = WEFT_NEW(t->mem, char, t->clients);
    return WEFT_OK;
}

/* EDATA if a client has no row. */
static weft_status check_complete(const table *t)
{
    const char *file = t->d->file;
    if (t->d->rows == 0)
        return weft_fail(WEFT_EDATA,
                         "%s: holds no device; expected a line of names, such as speed or "
                         "client, and at least one of numbers",
                         file);
    for (int64_t c = 0; t->d->keyed && c < t->clients; c++)
        if (!t->filled[c])
            return weft_fail(WEFT_EDATA,
                             "%s: client %lld has no line; add it, or leave the column "
                             "client out to give clients lines at random",
                             file, (long long)c);
    return WEFT_OK;
}

weft_status weft_device_trace(weft_device *device, int64_t clients, weft_arena *mem)
{
    table t = {.d = device, .clients = clients, .mem = mem};
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
        t.line++;
        st = read_line(&t, line);
    }
    if (st == WEFT_OK && ferror(in))
        st = weft_fail(WEFT_EFILE, "%s: %s", device->file, strerror(errno));
    free(line);
    fclose(in);
    TRY(st);
    device->row = t.row;
    return check_complete(&t);
}
