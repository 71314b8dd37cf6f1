/* Clients of a federation: their sizes, and where their samples come from.
 *
 * In packed files sizes and rows of clients are used in the mapped file; running text is
 * read as a whole. Layout: /client/first, /client/count, /client/name; /x and /label, or
 * /text. Other clients are generated, are made by the form of the samples, or have samples
 * that somebody else holds, such as a worker. */
#include "data.h"
#include "weft/base/random.h"

#include <math.h>
#include <string.h>

/* Bounds, so that places of samples do not overflow: (3 INT32_MAX + 2 MOST) MOST < 2^63. */
#define MOST        ((int64_t)1 << 28) /* numbers of a sample, its stride, gap, sides */
#define MAX_CLIENTS ((int64_t)1 << 40)

/* ---- sizes ---- */

void weft_sizes_add(weft_sizes *sizes, int64_t n)
{
    sizes->total += n;
    sizes->square += (double)n * (double)n;
    if (n > sizes->most) sizes->most = n;
}

void weft_client_divide(double valid_share, double test_share, int64_t n,
                        int64_t count[WEFT_NPART])
{
    int64_t valid = llround((double)n * valid_share),
            test = llround((double)n * test_share);
    count[WEFT_VALID] = valid < n ? valid : n - 1;
    int64_t rest = n - 1 - count[WEFT_VALID];
    count[WEFT_TEST] = test < rest ? test : rest;
    count[WEFT_TRAIN] = n - count[WEFT_VALID] - count[WEFT_TEST];
}

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

weft_clients *data_clients_new(const weft_federation *own, weft_arena *mem)
{
    static const weft_h5set none = {.set = -1, .space = -1};
    weft_clients *clients = WEFT_NEW(mem, weft_clients, 1);
    *clients = (weft_clients){.stride = 1, .own = WEFT_NEW(mem, weft_federation, 1)};
    *clients->own = *own;
    clients->own->name = clients->own->first.set = clients->own->part.set = none;
    clients->own->x.set = clients->own->label.set = none;
    return clients;
}

/* ---- generated samples ---- */

/* A federation without storage, near Synthetic(alpha, beta) of Li et al., "Federated
 * optimization in heterogeneous networks", MLSys 2020 (FedProx), section 5.1. Client c has
 *     n_c = samples exp(spread z_c - spread^2 / 2), z_c ~ N(0, 1), rounded, 5 at least,
 *     x ~ N(v_c, diag(j^-1.2)),  v_c ~ N(B_c, 1)^d,  B_c ~ N(0, beta),
 *     y = argmax (W_c x + b_c),  (W_c, b_c) = (W, b) + alpha N(0, 1)^{classes x (d + 1)},
 * where (W, b) ~ N(0, 1) is common to all clients and alpha and beta are standard
 * deviations. There, (W_c, b_c) ~ N(u_c, 1), u_c ~ N(0, alpha), has nothing in common with
 * that of other clients, and u_c, which adds the same to every class, moves no label: no
 * model serves all clients, whatever alpha. Here alpha = 0 is one model for all, and a
 * large alpha comes near the paper's.
 *
 * Every number is a function of (seed, client, its place), so a client is made whole or in
 * part on any rank, with the same bits. */

#define LEAST_SAMPLES 5
#define MOST_SAMPLES  100 /* times the mean */

/* Second counter of WEFT_RNG_CLIENT: what is drawn; samples count up from SAMPLE. */
enum { SIZE, SHIFT, CENTRE, MODEL, SAMPLE };
#define COMMON ((uint64_t)-1) /* in place of a client: of all of them */

/* z[n] standard normal numbers of (a, b). */
static void normals(const weft_generator *generator, uint64_t a, uint64_t b, int64_t n,
                    double *z)
{
    for (int64_t i = 0; i < n; i += 4) {
        double four[4];
        weft_rng4 rng =
            weft_rng_at((uint64_t)generator->seed, WEFT_RNG_CLIENT, a, b, (uint64_t)i);
        weft_rng_normal(&rng, four);
        for (int64_t j = i; j < n && j < i + 4; j++) z[j] = four[j - i];
    }
}

void weft_generator_start(weft_generator *generator, weft_arena *mem)
{
    double *w = WEFT_NEW(mem, double, generator->classes *(generator->d + 1));
    double *deviation = WEFT_NEW(mem, double, generator->d);
    normals(generator, COMMON, MODEL, generator->classes * (generator->d + 1), w);
    for (int64_t j = 0; j < generator->d; j++) deviation[j] = pow((double)(j + 1), -0.6);
    generator->w = w;
    generator->deviation = deviation;
}

void weft_generator_count(const weft_generator *generator, int64_t c,
                          int64_t count[WEFT_NPART])
{
    double z = 0;
    if (generator->spread > 0) normals(generator, (uint64_t)c, SIZE, 1, &z);
    double size = generator->samples * exp(generator->spread * (z - generator->spread / 2));
    int64_t n = llround(fmin(fmax(size, LEAST_SAMPLES), MOST_SAMPLES * generator->samples));
    weft_client_divide(generator->valid, generator->test, n, count);
}

void weft_generator_sizes(const weft_generator *generator, weft_sizes size[WEFT_NPART])
{
    int alike = !(generator->spread > 0);
    for (int i = 0; i < WEFT_NPART; i++) size[i] = (weft_sizes){0};
    for (int64_t c = 0; c < (alike ? 1 : generator->clients); c++) {
        int64_t count[WEFT_NPART];
        weft_generator_count(generator, c, count);
        for (int i = 0; i < WEFT_NPART; i++) weft_sizes_add(&size[i], count[i]);
    }
    for (int i = 0; alike && i < WEFT_NPART; i++) {
        size[i].total *= generator->clients;
        size[i].square *= (double)generator->clients;
    }
}

void weft_generator_make(const weft_generator *generator, int64_t c, int64_t first,
                         int64_t n, float *x, int32_t *label, weft_arena *tmp)
{
    WEFT_REWIND(tmp);
    int64_t d = generator->d, nw = generator->classes * (d + 1);
    double shift, *v = WEFT_NEW(tmp, double, d), *z = WEFT_NEW(tmp, double, d),
                  *w = WEFT_NEW(tmp, double, nw);
    normals(generator, (uint64_t)c, SHIFT, 1, &shift);
    normals(generator, (uint64_t)c, CENTRE, d, v);
    if (generator->alpha > 0) normals(generator, (uint64_t)c, MODEL, nw, w);
    for (int64_t i = 0; i < nw; i++) w[i] = generator->w[i] + generator->alpha * w[i];
    for (int64_t j = 0; j < d; j++) v[j] += generator->beta * shift;
    for (int64_t i = 0; i < n; i++, x += d) {
        normals(generator, (uint64_t)c, (uint64_t)(SAMPLE + first + i), d, z);
        for (int64_t j = 0; j < d; j++)
            x[j] = (float)(v[j] + generator->deviation[j] * z[j]);
        double best = -INFINITY;
        for (int64_t k = 0; k < generator->classes; k++) {
            const double *wk = w + k * (d + 1);
            double sum = wk[d];
            for (int64_t j = 0; j < d; j++) sum += wk[j] * (double)x[j];
            if (sum > best) label[i] = (int32_t)k;
            best = fmax(best, sum);
        }
    }
}

/* The samples of a part, from attributes. */
static weft_status read_generated_sizes(weft_data *data, int part)
{
    weft_sizes *sizes = &data->clients->size[part];
    const char *name = weft_part_name[part];
    TRY(weft_h5_read_long(&data->file, "/", weft_arena_text(data->mem, "%s_samples", name),
                          &sizes->total));
    TRY(weft_h5_read_long(&data->file, "/", weft_arena_text(data->mem, "%s_most", name),
                          &sizes->most));
    return weft_h5_read_num(&data->file, "/",
                            weft_arena_text(data->mem, "%s_squares", name), &sizes->square);
}

static weft_client generated_find(const weft_clients *clients, int64_t c)
{
    weft_client client = {.c = c};
    weft_generator_count(clients->own->generator, c, client.count);
    return client;
}

static weft_status generated_take(const weft_clients *clients, const weft_client *client,
                                  weft_part part, weft_samples *out, weft_arena *mem)
{
    int64_t n = client->count[part];
    int64_t first = 0;
    for (int i = 0; i < (int)part; i++) first += client->count[i];
    float *x = WEFT_NEW(mem, float, n * clients->d);
    int32_t *label = WEFT_NEW(mem, int32_t, n);
    weft_generator_make(clients->own->generator, client->c, first, n, x, label, mem);
    *out = (weft_samples){.n = n, .x = x, .label = label};
    return WEFT_OK;
}

static weft_status open_generator(weft_data *data)
{
    const char *method;
    weft_h5 *file = &data->file;
    weft_federation *own = data->clients->own;
    weft_generator *generator = WEFT_NEW(data->mem, weft_generator, 1);
    generator->clients = data->clients->n;
    generator->d = data->clients->d;
    generator->classes = data->classes;
    TRY(weft_h5_read_attr(file, "/", "generator", &method));
    if (strcmp(method, WEFT_GENERATOR) != 0)
        return weft_fail(WEFT_EDATA,
                         "%s is generated by '%s' where '%s' is known; pack it again with "
                         "this weft",
                         data->path, method, WEFT_GENERATOR);
    TRY(weft_h5_read_long(file, "/", "seed", &generator->seed));
    TRY(weft_h5_read_num(file, "/", "samples", &generator->samples));
    TRY(weft_h5_read_num(file, "/", "spread", &generator->spread));
    TRY(weft_h5_read_num(file, "/", "alpha", &generator->alpha));
    TRY(weft_h5_read_num(file, "/", "beta", &generator->beta));
    TRY(weft_h5_read_num(file, "/", "valid", &generator->valid));
    TRY(weft_h5_read_num(file, "/", "test", &generator->test));
    for (int i = 0; i < WEFT_NPART; i++) TRY(read_generated_sizes(data, i));
    weft_generator_start(generator, data->mem);
    own->generator = generator;
    own->find = generated_find;
    own->take = generated_take;
    return WEFT_OK;
}

int weft_data_generated(const weft_data *data)
{
    return data->clients && data->clients->own->generator;
}

/* ---- samples that are elsewhere ---- */

static weft_client told_find(const weft_clients *clients, int64_t c)
{
    weft_client client = {.c = c};
    memcpy(client.count, clients->own->count + c * WEFT_NPART, sizeof client.count);
    return client;
}

static weft_status told_take(const weft_clients *clients, const weft_client *client,
                             weft_part part, weft_samples *out, weft_arena *mem)
{
    (void)part;
    (void)out;
    (void)mem;
    weft_die("samples of client %lld of %lld, which are elsewhere", (long long)client->c,
             (long long)clients->n);
}

void weft_data_tell(weft_data *data, const char *path, int64_t n, const int64_t *count,
                    const char *names, weft_arena *mem)
{
    const char **name = names ? WEFT_NEW(mem, const char *, n) : NULL;
    weft_clients *clients = data_clients_new(&(weft_federation){.find = told_find,
                                                                .take = told_take,
                                                                .data = data,
                                                                .count = count,
                                                                .names = name},
                                             mem);
    for (int64_t c = 0; names && c < n; c++) {
        name[c] = names;
        names += strlen(names) + 1;
    }
    clients->n = n;
    clients->named = names != NULL;
    *data = (weft_data){.form = WEFT_REALS,
                        .digest = "",
                        .clients = clients,
                        .path = path,
                        .mem = mem,
                        .file = {.file = -1, .view = -1}};
    for (int64_t c = 0; c < n; c++)
        for (int part = 0; part < WEFT_NPART; part++)
            weft_sizes_add(&clients->size[part], count[c * WEFT_NPART + part]);
    for (int part = 0; part < WEFT_NPART; part++)
        data->part[part].total = clients->size[part].total;
}

/* ---- samples in packed files ---- */

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
    return data_check_reals(data, "/x", first, n, data->clients->d, x);
}

weft_status weft_labels_check(const void *self, int64_t first, int64_t n, const void *label)
{
    const weft_data *data = self;
    const weft_federation *own = (data->clients ? data->clients : data->owners)->own;
    int classes = own->class_of ? own->classes : data->classes;
    return data_check_classes(data, "/label", classes, first, n, label);
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
    if (n == 0 || !own->x.at[row / own->x.per] || !own->label.at[row / own->label.per])
        return;
    const char *x = weft_h5_map_row(&own->x, row);
    size_t bytes = (size_t)n * own->x.row;
    for (size_t i = 0; i < bytes && i < MAX_LINES * LINE; i += LINE)
        __builtin_prefetch(x + i);
    __builtin_prefetch(weft_h5_map_row(&own->label, row));
}

weft_status weft_client_sound(const weft_clients *clients)
{
    return weft_h5_sound(&clients->own->data->file);
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
    return data_fail(data, ": %s is %lld x %lld where %lld x %lld is expected", set->name,
                     (long long)set->dims[0], (long long)set->dims[1], (long long)rows,
                     (long long)(width > 0 ? width : 1));
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

static weft_status read_shape(weft_data *data, weft_clients *clients)
{
    enum { CLIENTS, COLUMNS, CHANNELS, HEIGHT, WIDTH, STRIDE, GAP, SYMBOLS, NAMED, KEYS };
    static const char *const key[KEYS] = {"clients", "columns", "channels",
                                          "height",  "width",   "stride",
                                          "gap",     "symbols", "named"};
    int64_t at[KEYS];
    for (int k = 0; k < KEYS; k++) TRY(weft_h5_read_long(&data->file, "/", key[k], &at[k]));
    int fits = at[CLIENTS] >= 1 && at[CLIENTS] <= MAX_CLIENTS && at[COLUMNS] >= 1 &&
               at[STRIDE] >= 1;
    for (int k = COLUMNS; k < NAMED; k++) fits = fits && at[k] >= 0 && at[k] <= MOST;
    int64_t pixels = fits ? at[CHANNELS] * at[HEIGHT] * at[WIDTH] : -1;
    if (!fits || (pixels != 0 && pixels != at[COLUMNS]) ||
        at[SYMBOLS] != (data->form == WEFT_CHARS ? data->classes : 0))
        return data_fail(data,
                         " speaks of %lld clients with samples of %lld numbers, images of "
                         "%lld, %lld symbols and stride %lld, which do not fit together",
                         (long long)at[CLIENTS], (long long)at[COLUMNS], (long long)pixels,
                         (long long)at[SYMBOLS], (long long)at[STRIDE]);
    clients->n = at[CLIENTS];
    clients->d = at[COLUMNS];
    clients->stride = at[STRIDE];
    clients->gap = at[GAP];
    clients->channels = (int)at[CHANNELS];
    clients->height = (int)at[HEIGHT];
    clients->width = (int)at[WIDTH];
    clients->symbols = (int)at[SYMBOLS];
    clients->named = at[NAMED] != 0;
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
    return data_fail(
        data, ": client %lld has %lld, %lld and %lld samples, which do not fit its %lld %s",
        (long long)c, (long long)count[0], (long long)count[1], (long long)count[2],
        (long long)room, data->form == WEFT_CHARS ? "characters" : "rows");
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
            return data_fail(data, ": character %lld of /text is symbol %d of %d",
                             (long long)i, (int)text[i], clients->symbols);
    clients->own->text = text;
    return WEFT_OK;
}

weft_status weft_federation_open(weft_data *data)
{
    weft_clients *clients = data_clients_new(
        &(weft_federation){.find = file_find, .take = file_take, .data = data}, data->mem);
    data->clients = clients;
    TRY(read_shape(data, clients));
    for (int i = 0; i < WEFT_NPART; i++) data->part[i].d = clients->d;
    int generated = weft_h5_has(&data->file, "/@generator");
    TRY(generated ? open_generator(data) : read_counts(data));
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
