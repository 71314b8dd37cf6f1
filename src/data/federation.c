/* Federations in packed files: sizes and rows of clients are used in the mapped file;
 * running text is read as a whole. Layout: /client/first, /client/count, /client/name;
 * /x and /label, or /text. */
#include "federation.h"
#include "match.h"
#include "weft/finite.h"
#include "weft/translations.h"

/* Bound, so that places of samples do not overflow: (3 INT32_MAX + 2 MOST) MOST < 2^63. */
#define MOST        ((int64_t)1 << 28) /* numbers of a sample, its stride, gap, sides */
#define MAX_CLIENTS ((int64_t)1 << 40)

/* ---- samples ---- */

static int64_t first_of(const weft_clients *clients, int64_t c)
{
    return *(const int64_t *)weft_h5_map_row(&clients->own->first, c);
}

static const int32_t *counts_of(const weft_clients *clients, int64_t c)
{
    return weft_h5_map_row(&clients->own->part, c);
}

static weft_client file_find(const weft_clients *clients, int64_t c)
{
    const int32_t *own = counts_of(clients, c);
    weft_client client = {.c = c, .first = first_of(clients, c)};
    for (int i = 0; i < WEFT_NPART; i++) client.count[i] = own[i];
    return client;
}

/* Reals must be numbers. */
static weft_status check_x(const void *self, int64_t first, int64_t n, const void *x)
{
    const weft_data *data = self;
    const float *number = x;
    int64_t width = data->clients->d, i = weft_not_finite(number, n * width);
    if (i == n * width) return WEFT_OK;
    return weft_fail(WEFT_EDATA,
                     "%s: row %lld, column %lld of /x is %g where a finite number "
                     "is expected; mend the source and pack it again",
                     data->path, (long long)(first + i / width), (long long)(i % width),
                     (double)number[i]);
}

weft_status weft_labels_check(const void *self, int64_t first, int64_t n, const void *label)
{
    const weft_data *data = self;
    const weft_federation *own = (data->clients ? data->clients : data->owners)->own;
    int classes = own->class_of ? own->classes : data->classes;
    const int32_t *class = label;
    for (int64_t i = 0; i < n; i++)
        if (class[i] < 0 || class[i] >= classes)
            return weft_fail(WEFT_EDATA,
                             "%s: row %lld of /label has class %d of %d; pack it again",
                             data->path, (long long)(first + i), (int)class[i], classes);
    return WEFT_OK;
}

/* Bytes become intensities in 0..1. */
static weft_status take_x(const weft_clients *clients, int64_t row, int64_t n,
                          const float **out, weft_arena *mem)
{
    const void *rows;
    TRY(weft_h5_map_rows(&clients->own->x, row, n, &rows, mem));
    *out = rows;
    if (clients->own->data->form != WEFT_BYTES) return WEFT_OK;
    const uint8_t *byte = rows;
    float *x = WEFT_NEW(mem, float, n * clients->d);
    for (int64_t i = 0; i < n * clients->d; i++) x[i] = (float)byte[i] / 255;
    *out = x;
    return WEFT_OK;
}

static weft_status file_take(const weft_clients *clients, const weft_client *client,
                             weft_part part, weft_samples *out, weft_arena *mem)
{
    const weft_federation *own = clients->own;
    int64_t n = client->count[part],
            skip = weft_client_place(client->count, (int)part, clients->gap);
    *out = (weft_samples){.n = n};
    if (own->text != NULL) {
        out->text = own->text + client->first + skip * clients->stride;
        return WEFT_OK;
    }
    const void *label;
    TRY(take_x(clients, client->first + skip, n, &out->x, mem));
    TRY(weft_h5_map_rows(&own->label, client->first + skip, n, &label, mem));
    out->label = label;
    return WEFT_OK;
}

weft_client weft_client_find(const weft_clients *clients, int64_t c)
{
    return clients->own->find(clients, c);
}

int64_t weft_client_count(const weft_clients *clients, int64_t c, weft_part part)
{
    return clients->own->find(clients, c).count[part];
}

weft_status weft_client_take(const weft_clients *clients, const weft_client *client,
                             weft_part part, weft_samples *out, weft_arena *mem)
{
    TRY(clients->own->take(clients, client, part, out, mem));
    if (out->label && clients->own->class_of)
        out->label = weft_match_labels(out->label, out->n, clients->own->class_of, mem);
    if (out->x && (clients->own->column_of || clients->own->move))
        out->x = weft_match_columns(out->x, out->n, clients->d, clients->own->column_of,
                                    clients->own->move, mem);
    return WEFT_OK;
}

weft_status weft_client_read(const weft_clients *clients, int64_t c, weft_part part,
                             weft_samples *out, weft_arena *mem)
{
    weft_check(c >= 0 && c < clients->n, "client %lld of %lld", (long long)c,
               (long long)clients->n);
    weft_client client = clients->own->find(clients, c);
    return weft_client_take(clients, &client, part, out, mem);
}

void weft_client_fetch(const weft_clients *clients, int64_t n, const int64_t *client)
{
    for (int64_t i = 0; i < n && clients->own->find == file_find; i++) {
        __builtin_prefetch(weft_h5_map_row(&clients->own->first, client[i]));
        __builtin_prefetch(weft_h5_map_row(&clients->own->part, client[i]));
    }
}

void weft_client_fetch_rows(const weft_clients *clients, const weft_client *client)
{
    enum { LINE = 64, MAX_LINES = 16 }; /* the hardware prefetches the rest */
    const weft_federation *own = clients->own;
    if (own->generator || own->text) return;
    int64_t n = client->count[WEFT_TRAIN] + client->count[WEFT_VALID], row = client->first;
    if (n == 0 || !own->x.at[weft_h5_map_piece(&own->x, row)] ||
        !own->label.at[weft_h5_map_piece(&own->label, row)])
        return;
    const char *x = weft_h5_map_row(&own->x, row);
    size_t bytes = (size_t)n * own->x.row;
    for (size_t i = 0; i < bytes && i < MAX_LINES * LINE; i += LINE)
        __builtin_prefetch(x + i);
    __builtin_prefetch(weft_h5_map_row(&own->label, row));
}

weft_status weft_client_sound(const weft_clients *clients)
{
    const weft_data *data = clients->own->data;
    return data->translations ? weft_translations_sound(data->translations)
                              : weft_h5_sound(&data->file);
}

weft_status weft_client_name(const weft_clients *clients, int64_t c, const char **name,
                             weft_arena *mem)
{
    if (clients->own->names) {
        *name = clients->own->names[c];
        return WEFT_OK;
    }
    if (clients->named) return weft_h5_set_text(&clients->own->name, c, name, mem);
    *name = weft_arena_text(mem, "%lld", (long long)c);
    return WEFT_OK;
}

/* ---- opening ---- */

int weft_federation_is(weft_data *data)
{
    return weft_h5_has(&data->file, "/@clients");
}

static weft_status check_shape(const weft_data *data, const weft_h5set *set, int64_t rows,
                               int64_t width)
{
    if (set->nd == (width > 0 ? 2 : 1) && set->dims[0] == rows &&
        (width == 0 || set->dims[1] == width))
        return WEFT_OK;
    return weft_fail(
        WEFT_EDATA, "%s: %s is %lld x %lld where %lld x %lld is expected; pack it again",
        data->path, set->name, (long long)set->dims[0], (long long)set->dims[1],
        (long long)rows, (long long)(width > 0 ? width : 1));
}

static weft_status open_set(weft_data *data, const char *name, int64_t rows, int64_t width,
                            weft_h5set *set)
{
    TRY(weft_h5_set_open(set, &data->file, name));
    weft_status st = check_shape(data, set, rows, width);
    if (st != WEFT_OK) weft_h5_set_close(set);
    return st;
}

static weft_status open_map(weft_data *data, const char *name, weft_h5type type,
                            int64_t rows, int64_t width, weft_h5_check check,
                            weft_h5map *map)
{
    TRY(weft_h5_map_open(map, &data->file, name, type, check, data));
    return check_shape(data, &map->set, rows, width);
}

static weft_status read_head(weft_data *data, weft_clients *clients)
{
    int64_t image[3], symbols, named;
    TRY(weft_h5_read_long(&data->file, "/", "clients", &clients->n));
    TRY(weft_h5_read_long(&data->file, "/", "columns", &clients->d));
    TRY(weft_h5_read_long(&data->file, "/", "channels", &image[0]));
    TRY(weft_h5_read_long(&data->file, "/", "height", &image[1]));
    TRY(weft_h5_read_long(&data->file, "/", "width", &image[2]));
    TRY(weft_h5_read_long(&data->file, "/", "stride", &clients->stride));
    TRY(weft_h5_read_long(&data->file, "/", "gap", &clients->gap));
    TRY(weft_h5_read_long(&data->file, "/", "symbols", &symbols));
    TRY(weft_h5_read_long(&data->file, "/", "named", &named));
    clients->channels = (int)image[0];
    clients->height = (int)image[1];
    clients->width = (int)image[2];
    clients->symbols = (int)symbols;
    clients->named = named != 0;
    const int64_t number[] = {clients->d, clients->stride, clients->gap, image[0],
                              image[1],   image[2],        symbols};
    int fits = clients->n >= 1 && clients->n <= MAX_CLIENTS && clients->d >= 1 &&
               clients->stride >= 1;
    for (size_t i = 0; i < sizeof number / sizeof *number; i++)
        fits = fits && number[i] >= 0 && number[i] <= MOST;
    int64_t pixels = fits ? image[0] * image[1] * image[2] : -1;
    int text = data->form == WEFT_CHARS;
    if (!fits || (pixels != 0 && pixels != clients->d) ||
        symbols != (text ? data->classes : 0))
        return weft_fail(
            WEFT_EDATA,
            "%s speaks of %lld clients with samples of %lld numbers, images of "
            "%lld, %lld symbols and stride %lld, which do not fit together; "
            "pack it again",
            data->path, (long long)clients->n, (long long)clients->d, (long long)pixels,
            (long long)symbols, (long long)clients->stride);
    return WEFT_OK;
}

/* Each client's samples must lie within its rows or its text; adds them to the sizes. */
static weft_status check_client(weft_data *data, int64_t c)
{
    const weft_clients *clients = data->clients;
    int64_t begin = first_of(clients, c), end = first_of(clients, c + 1);
    const int32_t *own = counts_of(clients, c);
    int64_t count[WEFT_NPART];
    int good = begin >= 0 && end >= begin;
    int64_t room = good ? end - begin : 0;
    for (int i = 0; i < WEFT_NPART; i++) {
        count[i] = own[i];
        good = good && count[i] >= 0;
    }
    int64_t span = good ? weft_client_place(count, WEFT_NPART, clients->gap) : 0;
    if (data->form == WEFT_CHARS && span > 0)
        span = (span - 1) * clients->stride + clients->d + 1;
    if (good && (data->form == WEFT_CHARS ? span <= room : span == room)) {
        for (int i = 0; i < WEFT_NPART; i++)
            weft_sizes_add(&data->clients->size[i], count[i]);
        return WEFT_OK;
    }
    return weft_fail(
        WEFT_EDATA,
        "%s: client %lld has %lld, %lld and %lld samples, which do not fit its "
        "%lld %s; pack it again",
        data->path, (long long)c, (long long)count[0], (long long)count[1],
        (long long)count[2], (long long)room,
        data->form == WEFT_CHARS ? "characters" : "rows");
}

/* All rows of a table, so that weft_h5_map_row has each of them. */
static weft_status see_all(const weft_h5map *map, weft_arena *mem)
{
    const void *row;
    for (int64_t i = 0; i < map->set.dims[0]; i += map->per)
        TRY(weft_h5_map_rows(map, i, 1, &row, mem));
    return WEFT_OK;
}

static weft_status read_counts(weft_data *data)
{
    weft_clients *clients = data->clients;
    weft_federation *own = clients->own;
    TRY(open_map(data, "/client/first", WEFT_H5_I64, clients->n + 1, 0, NULL, &own->first));
    TRY(open_map(data, "/client/count", WEFT_H5_I32, clients->n, WEFT_NPART, NULL,
                 &own->part));
    TRY(see_all(&own->first, data->mem));
    TRY(see_all(&own->part, data->mem));
    for (int64_t c = 0; c < clients->n; c++) TRY(check_client(data, c));
    return WEFT_OK;
}

static weft_status read_text(weft_data *data)
{
    const weft_clients *clients = data->clients;
    int64_t n = first_of(clients, clients->n);
    weft_h5set set;
    TRY(open_set(data, "/text", n, 0, &set));
    weft_h5_set_close(&set);
    uint8_t *text = WEFT_NEW(data->mem, uint8_t, n);
    TRY(weft_h5_read_rows(&data->file, "/text", WEFT_H5_U8, 1, 0, n, text));
    for (int64_t i = 0; i < n; i++)
        if (text[i] >= clients->symbols)
            return weft_fail(
                WEFT_EDATA, "%s: character %lld of /text is symbol %d of %d; pack it again",
                data->path, (long long)i, (int)text[i], clients->symbols);
    clients->own->text = text;
    return WEFT_OK;
}

weft_status weft_federation_open(weft_data *data)
{
    weft_clients *clients = WEFT_NEW(data->mem, weft_clients, 1);
    clients->own = WEFT_NEW(data->mem, weft_federation, 1);
    *clients->own = (weft_federation){.find = file_find, .take = file_take, .data = data};
    weft_h5set none = {.set = -1, .space = -1};
    clients->own->name = clients->own->first.set = clients->own->part.set = none;
    clients->own->x.set = clients->own->label.set = none;
    data->clients = clients;
    TRY(read_head(data, clients));
    for (int i = 0; i < WEFT_NPART; i++) data->part[i].d = clients->d;
    int generated = weft_h5_has(&data->file, "/@generator");
    TRY(generated ? weft_generator_open(data) : read_counts(data));
    for (int i = 0; i < WEFT_NPART; i++) data->part[i].total = clients->size[i].total;
    if (generated) return WEFT_OK;
    if (data->part[WEFT_TRAIN].total == 0 && !data->scored)
        return weft_fail(WEFT_EDATA,
                         "%s: no client has training samples; check the source and the "
                         "split",
                         data->path);
    if (clients->named)
        TRY(open_set(data, "/client/name", clients->n, 0, &clients->own->name));
    if (data->form == WEFT_CHARS) return read_text(data);
    int64_t rows = first_of(clients, clients->n);
    int bytes = data->form == WEFT_BYTES;
    TRY(open_map(data, "/x", bytes ? WEFT_H5_U8 : WEFT_H5_F32, rows, clients->d,
                 bytes ? NULL : check_x, &clients->own->x));
    return open_map(data, "/label", WEFT_H5_I32, rows, 0, weft_labels_check,
                    &clients->own->label);
}

void weft_federation_close(weft_data *data)
{
    if (data->clients == NULL) return;
    weft_federation *own = data->clients->own;
    weft_h5_map_close(&own->first);
    weft_h5_map_close(&own->part);
    weft_h5_map_close(&own->x);
    weft_h5_map_close(&own->label);
    weft_h5_set_close(&own->name);
}
