/* Federations in packed files: sizes and rows of clients are used in the mapped file;
 * running text is read as a whole. Layout: /client/first, /client/count, /client/name;
 * /x and /label, or /text. */
#include "federation.h"
#include "match.h"

/* Bound, so that places of samples do not overflow: (3 INT32_MAX + 2 MOST) MOST < 2^63. */
#define MOST        ((int64_t)1 << 28) /* numbers of a sample, its stride, gap, sides */
#define MAX_CLIENTS ((int64_t)1 << 40)

int64_t weft_client_place(const int64_t *count, int part, int64_t gap)
{
    int64_t place = 0;
    int before = 0; /* parts with samples */
    for (int i = 0; i < part; i++) {
        if (count[i] == 0) continue;
        place += count[i] + (before++ > 0 ? gap : 0);
    }
    return place + (before > 0 && part < WEFT_NPART ? gap : 0);
}

void weft_sizes_add(weft_sizes *s, int64_t n)
{
    s->total += n;
    s->square += (double)n * (double)n;
    if (n > s->most) s->most = n;
}

/* ---- samples ---- */

static int64_t first_of(const weft_clients *f, int64_t c)
{
    return *(const int64_t *)weft_h5_map_row(&f->own->first, c);
}

static const int32_t *counts_of(const weft_clients *f, int64_t c)
{
    return weft_h5_map_row(&f->own->part, c);
}

static weft_client file_find(const weft_clients *f, int64_t c)
{
    const int32_t *own = counts_of(f, c);
    weft_client at = {.c = c, .first = first_of(f, c)};
    for (int i = 0; i < WEFT_NPART; i++) at.count[i] = own[i];
    return at;
}

/* Reals must be numbers. */
static weft_status check_x(const void *self, int64_t first, int64_t n, const void *x)
{
    const weft_data *d = self;
    const float *number = x;
    int64_t width = d->clients->d, i = weft_not_finite(number, n * width);
    if (i == n * width) return WEFT_OK;
    return weft_fail(WEFT_EDATA,
                     "%s: row %lld, column %lld of /x is %g where a finite number "
                     "is expected; mend the source and pack it again",
                     d->path, (long long)(first + i / width), (long long)(i % width),
                     (double)number[i]);
}

weft_status weft_labels_check(const void *self, int64_t first, int64_t n, const void *label)
{
    const weft_data *d = self;
    const weft_federation *own = (d->clients ? d->clients : d->owners)->own;
    int classes = own->class_of ? own->classes : d->classes;
    const int32_t *class = label;
    for (int64_t i = 0; i < n; i++)
        if (class[i] < 0 || class[i] >= classes)
            return weft_fail(WEFT_EDATA,
                             "%s: row %lld of /label has class %d of %d; pack it again",
                             d->path, (long long)(first + i), (int)class[i], classes);
    return WEFT_OK;
}

/* Bytes become intensities in 0..1. */
static weft_status take_x(const weft_clients *f, int64_t row, int64_t n, const float **out,
                          weft_arena *mem)
{
    const void *rows;
    TRY(weft_h5_map_rows(&f->own->x, row, n, &rows, mem));
    *out = rows;
    if (f->own->data->form != WEFT_BYTES) return WEFT_OK;
    const uint8_t *byte = rows;
    float *x = WEFT_NEW(mem, float, n * f->d);
    for (int64_t i = 0; i < n * f->d; i++) x[i] = (float)byte[i] / 255;
    *out = x;
    return WEFT_OK;
}

static weft_status file_take(const weft_clients *f, const weft_client *at, weft_part part,
                             weft_samples *out, weft_arena *mem)
{
    const weft_federation *own = f->own;
    int64_t n = at->count[part], skip = weft_client_place(at->count, (int)part, f->gap);
    *out = (weft_samples){.n = n};
    if (own->text != NULL) {
        out->text = own->text + at->first + skip * f->stride;
        return WEFT_OK;
    }
    const void *label;
    TRY(take_x(f, at->first + skip, n, &out->x, mem));
    TRY(weft_h5_map_rows(&own->label, at->first + skip, n, &label, mem));
    out->label = label;
    return WEFT_OK;
}

weft_client weft_client_find(const weft_clients *f, int64_t c)
{
    return f->own->find(f, c);
}

int64_t weft_client_count(const weft_clients *f, int64_t c, weft_part part)
{
    return f->own->find(f, c).count[part];
}

weft_status weft_client_take(const weft_clients *f, const weft_client *at, weft_part part,
                             weft_samples *out, weft_arena *mem)
{
    TRY(f->own->take(f, at, part, out, mem));
    if (out->label && f->own->class_of)
        out->label = weft_match_labels(out->label, out->n, f->own->class_of, mem);
    if (out->x && (f->own->column_of || f->own->move))
        out->x =
            weft_match_columns(out->x, out->n, f->d, f->own->column_of, f->own->move, mem);
    return WEFT_OK;
}

weft_status weft_client_read(const weft_clients *f, int64_t c, weft_part part,
                             weft_samples *out, weft_arena *mem)
{
    weft_check(c >= 0 && c < f->n, "client %lld of %lld", (long long)c, (long long)f->n);
    weft_client at = f->own->find(f, c);
    return weft_client_take(f, &at, part, out, mem);
}

void weft_client_fetch(const weft_clients *f, int64_t n, const int64_t *client)
{
    for (int64_t i = 0; i < n && f->own->find == file_find; i++) {
        __builtin_prefetch(weft_h5_map_row(&f->own->first, client[i]));
        __builtin_prefetch(weft_h5_map_row(&f->own->part, client[i]));
    }
}

void weft_client_fetch_rows(const weft_clients *f, const weft_client *at)
{
    enum { LINE = 64, MAX_LINES = 16 }; /* the hardware prefetches the rest */
    const weft_federation *own = f->own;
    if (own->generator || own->text) return;
    int64_t n = at->count[WEFT_TRAIN] + at->count[WEFT_VALID], row = at->first;
    if (n == 0 || !own->x.at[weft_h5_map_piece(&own->x, row)] ||
        !own->label.at[weft_h5_map_piece(&own->label, row)])
        return;
    const char *x = weft_h5_map_row(&own->x, row);
    size_t bytes = (size_t)n * own->x.row;
    for (size_t i = 0; i < bytes && i < MAX_LINES * LINE; i += LINE)
        __builtin_prefetch(x + i);
    __builtin_prefetch(weft_h5_map_row(&own->label, row));
}

weft_status weft_client_sound(const weft_clients *f)
{
    return weft_h5_sound(&f->own->data->file);
}

weft_status weft_client_name(const weft_clients *f, int64_t c, const char **name,
                             weft_arena *mem)
{
    if (f->named) return weft_h5_set_text(&f->own->name, c, name, mem);
    *name = weft_arena_text(mem, "%lld", (long long)c);
    return WEFT_OK;
}

/* ---- opening ---- */

int weft_federation_is(weft_data *d)
{
    return weft_h5_has(&d->file, "/@clients");
}

static weft_status check_shape(const weft_data *d, const weft_h5set *set, int64_t rows,
                               int64_t width)
{
    if (set->nd == (width > 0 ? 2 : 1) && set->dims[0] == rows &&
        (width == 0 || set->dims[1] == width))
        return WEFT_OK;
    return weft_fail(WEFT_EDATA,
                     "%s: %s is %lld x %lld where %lld x %lld is expected; pack it again",
                     d->path, set->name, (long long)set->dims[0], (long long)set->dims[1],
                     (long long)rows, (long long)(width > 0 ? width : 1));
}

static weft_status open_set(weft_data *d, const char *name, int64_t rows, int64_t width,
                            weft_h5set *set)
{
    TRY(weft_h5_set_open(set, &d->file, name));
    weft_status st = check_shape(d, set, rows, width);
    if (st != WEFT_OK) weft_h5_set_close(set);
    return st;
}

static weft_status open_map(weft_data *d, const char *name, weft_h5type type, int64_t rows,
                            int64_t width, weft_h5_check check, weft_h5map *map)
{
    TRY(weft_h5_map_open(map, &d->file, name, type, check, d));
    return check_shape(d, &map->set, rows, width);
}

static weft_status read_head(weft_data *d, weft_clients *f)
{
    int64_t image[3], symbols, named;
    TRY(weft_h5_read_long(&d->file, "/", "clients", &f->n));
    TRY(weft_h5_read_long(&d->file, "/", "columns", &f->d));
    TRY(weft_h5_read_long(&d->file, "/", "channels", &image[0]));
    TRY(weft_h5_read_long(&d->file, "/", "height", &image[1]));
    TRY(weft_h5_read_long(&d->file, "/", "width", &image[2]));
    TRY(weft_h5_read_long(&d->file, "/", "stride", &f->stride));
    TRY(weft_h5_read_long(&d->file, "/", "gap", &f->gap));
    TRY(weft_h5_read_long(&d->file, "/", "symbols", &symbols));
    TRY(weft_h5_read_long(&d->file, "/", "named", &named));
    f->channels = (int)image[0];
    f->height = (int)image[1];
    f->width = (int)image[2];
    f->symbols = (int)symbols;
    f->named = named != 0;
    const int64_t number[] = {f->d,     f->stride, f->gap, image[0],
                              image[1], image[2],  symbols};
    int fits = f->n >= 1 && f->n <= MAX_CLIENTS && f->d >= 1 && f->stride >= 1;
    for (size_t i = 0; i < sizeof number / sizeof *number; i++)
        fits = fits && number[i] >= 0 && number[i] <= MOST;
    int64_t pixels = fits ? image[0] * image[1] * image[2] : -1;
    int text = d->form == WEFT_CHARS;
    if (!fits || (pixels != 0 && pixels != f->d) || symbols != (text ? d->classes : 0))
        return weft_fail(
            WEFT_EDATA,
            "%s speaks of %lld clients with samples of %lld numbers, images of "
            "%lld, %lld symbols and stride %lld, which do not fit together; "
            "pack it again",
            d->path, (long long)f->n, (long long)f->d, (long long)pixels,
            (long long)symbols, (long long)f->stride);
    return WEFT_OK;
}

/* Each client's samples must lie within its rows or its text; adds them to the sizes. */
static weft_status check_client(weft_data *d, int64_t c)
{
    const weft_clients *f = d->clients;
    int64_t begin = first_of(f, c), end = first_of(f, c + 1);
    const int32_t *own = counts_of(f, c);
    int64_t count[WEFT_NPART];
    int good = begin >= 0 && end >= begin;
    int64_t room = good ? end - begin : 0;
    for (int i = 0; i < WEFT_NPART; i++) {
        count[i] = own[i];
        good = good && count[i] >= 0;
    }
    int64_t span = good ? weft_client_place(count, WEFT_NPART, f->gap) : 0;
    if (d->form == WEFT_CHARS && span > 0) span = (span - 1) * f->stride + f->d + 1;
    if (good && (d->form == WEFT_CHARS ? span <= room : span == room)) {
        for (int i = 0; i < WEFT_NPART; i++) weft_sizes_add(&d->clients->size[i], count[i]);
        return WEFT_OK;
    }
    return weft_fail(
        WEFT_EDATA,
        "%s: client %lld has %lld, %lld and %lld samples, which do not fit its "
        "%lld %s; pack it again",
        d->path, (long long)c, (long long)count[0], (long long)count[1],
        (long long)count[2], (long long)room,
        d->form == WEFT_CHARS ? "characters" : "rows");
}

/* All rows of a table, so that weft_h5_map_row has each of them. */
static weft_status see_all(const weft_h5map *m, weft_arena *mem)
{
    const void *row;
    for (int64_t i = 0; i < m->set.dims[0]; i += m->per)
        TRY(weft_h5_map_rows(m, i, 1, &row, mem));
    return WEFT_OK;
}

static weft_status read_counts(weft_data *d)
{
    weft_clients *f = d->clients;
    weft_federation *own = f->own;
    TRY(open_map(d, "/client/first", WEFT_H5_I64, f->n + 1, 0, NULL, &own->first));
    TRY(open_map(d, "/client/count", WEFT_H5_I32, f->n, WEFT_NPART, NULL, &own->part));
    TRY(see_all(&own->first, d->mem));
    TRY(see_all(&own->part, d->mem));
    for (int64_t c = 0; c < f->n; c++) TRY(check_client(d, c));
    return WEFT_OK;
}

static weft_status read_text(weft_data *d)
{
    const weft_clients *f = d->clients;
    int64_t n = first_of(f, f->n);
    weft_h5set set;
    TRY(open_set(d, "/text", n, 0, &set));
    weft_h5_set_close(&set);
    uint8_t *text = WEFT_NEW(d->mem, uint8_t, n);
    TRY(weft_h5_read_rows(&d->file, "/text", WEFT_H5_U8, 1, 0, n, text));
    for (int64_t i = 0; i < n; i++)
        if (text[i] >= f->symbols)
            return weft_fail(
                WEFT_EDATA, "%s: character %lld of /text is symbol %d of %d; pack it again",
                d->path, (long long)i, (int)text[i], f->symbols);
    f->own->text = text;
    return WEFT_OK;
}

weft_status weft_federation_open(weft_data *d)
{
    weft_clients *f = WEFT_NEW(d->mem, weft_clients, 1);
    f->own = WEFT_NEW(d->mem, weft_federation, 1);
    *f->own = (weft_federation){.find = file_find, .take = file_take, .data = d};
    weft_h5set none = {.set = -1, .space = -1};
    f->own->name = f->own->first.set = f->own->part.set = none;
    f->own->x.set = f->own->label.set = none;
    d->clients = f;
    TRY(read_head(d, f));
    for (int i = 0; i < WEFT_NPART; i++) d->part[i].d = f->d;
    int generated = weft_h5_has(&d->file, "/@generator");
    TRY(generated ? weft_generator_open(d) : read_counts(d));
    for (int i = 0; i < WEFT_NPART; i++) d->part[i].total = f->size[i].total;
    if (generated) return WEFT_OK;
    if (d->part[WEFT_TRAIN].total == 0)
        return weft_fail(WEFT_EDATA,
                         "%s: no client has training samples; check the source and the "
                         "split",
                         d->path);
    if (f->named) TRY(open_set(d, "/client/name", f->n, 0, &f->own->name));
    if (d->form == WEFT_CHARS) return read_text(d);
    int64_t rows = first_of(f, f->n);
    int bytes = d->form == WEFT_BYTES;
    TRY(open_map(d, "/x", bytes ? WEFT_H5_U8 : WEFT_H5_F32, rows, f->d,
                 bytes ? NULL : check_x, &f->own->x));
    return open_map(d, "/label", WEFT_H5_I32, rows, 0, weft_labels_check, &f->own->label);
}

void weft_federation_close(weft_data *d)
{
    if (d->clients == NULL) return;
    weft_federation *own = d->clients->own;
    weft_h5_map_close(&own->first);
    weft_h5_map_close(&own->part);
    weft_h5_map_close(&own->x);
    weft_h5_map_close(&own->label);
    weft_h5_set_close(&own->name);
}
