/* Packing a federation: clients come one after the other and are written in large pieces,
 * so that memory does not grow with their number; the layout is that of federation.c. Of
 * one that a generator makes a file holds only its numbers. Rows of a labelled set are kept
 * until the last one has been read, dealt to clients by partition.c and passed on client by
 * client; documents stay in their order, and the client of each is written beside them. */
#include "pack.h"
#include "weft/base/base.h"
#include "weft/base/random.h"

#include <math.h>
#include <string.h>

#define PIECE_BYTES (1 << 20)

/* A dataset that grows, and its rows that are not in the file yet. */
struct column {
    const char *name;
    weft_h5type type;
    size_t row;      /* bytes */
    int64_t n, most; /* rows waiting, how many may */
    char *waiting;   /* [most] rows */
};

struct weft_pack_federation {
    weft_clients all; /* n: clients so far */
    int64_t first;    /* rows or symbols so far */
    struct column firsts, counts, names, x, label;
    const int64_t *row; /* [nrow] of weft_pack_order; NULL: none */
    int64_t nrow;
    weft_arena *text;               /* of the names that wait */
    int64_t (*classes)[WEFT_NPART]; /* [class_room] samples of each class */
    int64_t class_room;
};

/* ---- skew ---- */

/* Images that differ by client, when they are dealt.
 *
 * noise      client c of N, from 0, gets normal noise of mean 0 and variance noise (c + 1)
 * / N on each pixel. Li, Diao, Chen, He, "Federated learning on non-IID data silos: an
 * experimental study", ICDE 2022 (NIID-Bench; their program takes noise c / (N
 *            - 1) as the deviation, and draws anew in each epoch).
 * rotations  client c is turned counterclockwise by c mod R of R equal turns. Ghosh, Chung,
 *            Yin, Ramchandran, "An efficient framework for clustered federated learning",
 *            NeurIPS 2020: R = 4 of MNIST, R = 2 of CIFAR-10.
 *
 * Both are of all parts: a client is tested on what its device sees. Noise is a function of
 * seed, part and row, and comes after the turn. */

/* First counter of WEFT_RNG_CLIENT: (NOISE, part and row, block of four pixels). */
#define NOISE ((uint64_t)-3)

enum { WHITE = 255 };

/* ECONF: noise or rotations are asked for, and the samples are no images, or not square. */
static weft_status check_skew(const weft_pack *pack)
{
    const weft_packing *own = pack->own;
    const int *image = own->layout.image;
    int ways = weft_partition_ways(&own->over);
    if (own->over.noise > 0 && image[0] == 0)
        return weft_fail(WEFT_ECONF,
                         "noise = %g is of images, which %s has not; leave it out",
                         own->over.noise, own->from);
    if (ways > 1 && image[0] == 0)
        return weft_fail(WEFT_ECONF,
                         "rotations = %d is of images, which %s has not; leave it out",
                         ways, own->from);
    if (ways < 4 || image[1] == image[2]) return WEFT_OK;
    return weft_fail(WEFT_ECONF,
                     "rotations = %d is of square images, and those of %s are %d x %d; "
                     "give rotations=2, or leave it out",
                     ways, own->from, image[1], image[2]);
}

/* The pixel that comes to place (y, x) when an image, by an odd number of quarters a square
 * one, is turned by so many quarters. */
static int64_t turned_from(int quarters, int64_t height, int64_t width, int64_t y,
                           int64_t x)
{
    if (quarters == 1) return x * height + height - 1 - y;
    if (quarters == 2) return (height - 1 - y) * width + width - 1 - x;
    if (quarters == 3) return (width - 1 - x) * height + y;
    return y * width + x;
}

static void turn(const weft_pack_layout *layout, int quarters, const char *from, char *to)
{
    const int *image = layout->image;
    int64_t pixels = (int64_t)image[1] * image[2], each = (int64_t)layout->row / layout->d;
    for (int64_t plane = 0; plane < image[0]; plane++)
        for (int64_t i = 0; i < pixels; i++) {
            int64_t at =
                turned_from(quarters, image[1], image[2], i / image[2], i % image[2]);
            memcpy(to + (plane * pixels + i) * each, from + (plane * pixels + at) * each,
                   (size_t)each);
        }
}

static void add_noise(const weft_packing *own, double deviation, uint64_t row, void *x)
{
    uint8_t *byte = x;
    float *number = x;
    double z[4];
    for (int64_t i = 0; i < own->layout.d; i++) {
        if (i % 4 == 0) {
            weft_rng4 rng = weft_rng_at((uint64_t)own->over.seed, WEFT_RNG_CLIENT, NOISE,
                                        row, (uint64_t)(i / 4));
            weft_rng_normal(&rng, z);
        }
        double more = deviation * z[i % 4];
        if (own->layout.form == WEFT_BYTES)
            byte[i] = (uint8_t)fmin(fmax(rint(byte[i] + WHITE * more), 0), WHITE);
        else
            number[i] = (float)((double)number[i] + more);
    }
}

/* Copies a row of client c, number `row` of its part, with its turn and noise; from, to:
 * [d] of the form announced. Bytes with noise are rounded, within 0 .. 255. Cost O(d), with
 * noise about 22 ns a pixel. */
static void skew_row(const weft_pack *pack, int64_t c, weft_part part, int64_t row,
                     const void *from, void *to)
{
    const weft_packing *own = pack->own;
    int ways = weft_partition_ways(&own->over), quarters = (int)(c % ways) * (4 / ways);
    if (quarters == 0)
        memcpy(to, from, own->layout.row);
    else
        turn(&own->layout, quarters, from, to);
    if (own->over.noise > 0)
        add_noise(own, sqrt(own->over.noise * (double)(c + 1) / (double)own->over.clients),
                  (uint64_t)part << 60 | (uint64_t)row, to);
}

/* ---- columns ---- */

static weft_status column_make(weft_pack *pack, struct column *column, const char *name,
                               weft_h5type type, int64_t width, const char *about,
                               const char *unit)
{
    size_t row = weft_h5_size(type) * (size_t)(width > 0 ? width : 1);
    int64_t most = (int64_t)(PIECE_BYTES / row);
    if (most < 1) most = 1;
    *column = (struct column){.name = name,
                              .type = type,
                              .row = row,
                              .most = most,
                              .waiting = weft_arena_alloc(pack->mem, (size_t)most, row)};
    return weft_h5_grow(&pack->own->file, name, type, width, about, unit);
}

static weft_status column_flush(weft_pack *pack, struct column *column)
{
    int64_t n = column->n;
    column->n = 0;
    return weft_h5_append(&pack->own->file, column->name, column->type, n, column->waiting);
}

static weft_status column_add(weft_pack *pack, struct column *column, int64_t count,
                              const void *data)
{
    const char *from = data;
    while (count > 0) {
        int64_t take = count < column->most - column->n ? count : column->most - column->n;
        memcpy(column->waiting + (size_t)column->n * column->row, from,
               (size_t)take * column->row);
        from += (size_t)take * column->row;
        column->n += take;
        count -= take;
        if (column->n == column->most) TRY(column_flush(pack, column));
    }
    return WEFT_OK;
}

/* ---- clients ---- */

weft_status weft_pack_clients(weft_pack *pack, weft_form form, const weft_clients *all)
{
    TRY(weft_partition_refuse(pack));
    weft_pack_federation *federation = WEFT_NEW(pack->mem, weft_pack_federation, 1);
    pack->own->layout.form = (int)form;
    pack->own->layout.d = all->d;
    pack->own->federation = federation;
    memcpy(pack->own->layout.image, (const int[]){all->channels, all->height, all->width},
           sizeof pack->own->layout.image);
    weft_pack_scaled(pack);
    federation->all = *all;
    federation->all.n = 0;
    federation->text = weft_arena_new();
    TRY(column_make(pack, &federation->firsts, "/client/first", WEFT_H5_I64, 0,
                    "where each client begins, and where the last one ends",
                    form == WEFT_CHARS ? "characters" : "rows"));
    TRY(column_make(pack, &federation->counts, "/client/count", WEFT_H5_I32, WEFT_NPART,
                    "train, valid and test samples of each client", "samples"));
    if (all->named)
        TRY(column_make(pack, &federation->names, "/client/name", WEFT_H5_TEXT, 0,
                        "name of each client", "text"));
    if (form == WEFT_CHARS)
        return column_make(pack, &federation->x, "/text", WEFT_H5_U8, 0,
                           "what the clients wrote, one after the other",
                           "index into /class");
    TRY(column_make(pack, &federation->x, "/x",
                    form == WEFT_BYTES ? WEFT_H5_U8 : WEFT_H5_F32, all->d,
                    "rows [n][d], one a sample",
                    form == WEFT_BYTES ? "intensity 0..255" : "as in the source"));
    return column_make(pack, &federation->label, "/label", WEFT_H5_I32, 0,
                       "class of each row", "index into /class");
}

/* What a client has, but for its samples. */
static weft_status add_client(weft_pack *pack, const char *name, const int64_t *count)
{
    weft_pack_federation *federation = pack->own->federation;
    int32_t part[WEFT_NPART];
    int64_t sum = 0;
    for (int i = 0; i < WEFT_NPART; i++) {
        weft_check(count[i] >= 0 && sum <= INT32_MAX - count[i], "a client of %lld samples",
                   (long long)count[i]);
        sum += count[i];
        part[i] = (int32_t)count[i];
        pack->own->part[i].n += count[i];
    }
    weft_check((name != NULL) == (federation->all.named != 0), "some clients have no name");
    federation->all.n++;
    weft_digest_add(pack->own->digest, part, sizeof part);
    TRY(column_add(pack, &federation->firsts, 1, &federation->first));
    TRY(column_add(pack, &federation->counts, 1, part));
    if (name == NULL) return WEFT_OK;
    const char *copy = weft_arena_text(federation->text, "%s", name);
    weft_digest_add(pack->own->digest, copy, strlen(copy) + 1);
    TRY(column_add(pack, &federation->names, 1, &copy));
    if (federation->names.n == 0) weft_arena_reset(federation->text, 0);
    return WEFT_OK;
}

/* Counts a sample of a class. */
static void tally(weft_pack *pack, int part, int label)
{
    weft_pack_federation *federation = pack->own->federation;
    weft_check(label >= 0 &&
                   (pack->own->told.classes == 0 || label < pack->own->told.classes),
               "a reader gives label %d of %d classes", label, pack->own->told.classes);
    federation->classes =
        weft_grow(pack->mem, federation->classes, sizeof *federation->classes, label,
                  &federation->class_room);
    federation->classes[label][part]++;
}

/* A client whose rows are bytes or floats already; as weft_pack_client_rows. */
static weft_status add_stored(weft_pack *pack, const char *name, const int64_t *count,
                              const void *x, const int32_t *label)
{
    weft_pack_federation *federation = pack->own->federation;
    int64_t n = count[0] + count[1] + count[2];
    TRY(add_client(pack, name, count));
    for (int i = 0, s = 0; i < WEFT_NPART; i++)
        for (int64_t end = s + count[i]; s < end; s++) tally(pack, i, label[s]);
    federation->first += n;
    weft_digest_add(pack->own->digest, x, (size_t)n * federation->x.row);
    weft_digest_add(pack->own->digest, label, (size_t)n * sizeof *label);
    TRY(column_add(pack, &federation->x, n, x));
    return column_add(pack, &federation->label, n, label);
}

weft_status weft_pack_client_rows(weft_pack *pack, const char *name, const int64_t *count,
                                  const void *x, const int32_t *label)
{
    int64_t n = count[0] + count[1] + count[2], d = pack->own->layout.d, bad;
    WEFT_REWIND(pack->scratch);
    const void *rows = weft_pack_floats(pack, n, x, &bad);
    return bad == n * d
               ? add_stored(pack, name, count, rows, label)
               : weft_fail(WEFT_EDATA,
                           "client %lld%s%s: row %lld, column %lld is %g where a finite "
                           "number is expected; mend or remove the row",
                           (long long)pack->own->federation->all.n,
                           name != NULL ? ", " : "", name != NULL ? name : "",
                           (long long)(bad / d + 1), (long long)(bad % d + 1),
                           ((const double *)x)[bad]);
}

weft_status weft_pack_client_text(weft_pack *pack, const char *name, const int64_t *count,
                                  const uint8_t *text, int64_t n)
{
    weft_pack_federation *federation = pack->own->federation;
    int64_t span = weft_client_place(count, WEFT_NPART, federation->all.gap);
    weft_check(span == 0 ||
                   (span - 1) * federation->all.stride + federation->all.d + 1 <= n,
               "%lld windows in %lld characters", (long long)span, (long long)n);
    TRY(add_client(pack, name, count));
    for (int i = 0; i < WEFT_NPART; i++) {
        int64_t at = weft_client_place(count, i, federation->all.gap);
        for (int64_t w = at; w < at + count[i]; w++)
            tally(pack, i, text[w * federation->all.stride + federation->all.d]);
    }
    federation->first += n;
    weft_digest_add(pack->own->digest, text, (size_t)n);
    return column_add(pack, &federation->x, n, text);
}

void weft_pack_order(weft_pack *pack, int64_t n, const int64_t *row)
{
    pack->own->federation->row = row;
    pack->own->federation->nrow = n;
}

int64_t weft_pack_clients_count(const weft_pack *pack)
{
    return pack->own->federation->all.n;
}

/* ---- the end ---- */

/* Writes the numbers of a federation that are attributes of the file. */
static weft_status put_numbers(weft_pack *pack, const weft_clients *all)
{
    weft_h5 *file = &pack->own->file;
    TRY(weft_h5_put_long(file, "/", "clients", all->n));
    TRY(weft_h5_put_long(file, "/", "channels", all->channels));
    TRY(weft_h5_put_long(file, "/", "height", all->height));
    TRY(weft_h5_put_long(file, "/", "width", all->width));
    TRY(weft_h5_put_long(file, "/", "stride", all->stride));
    TRY(weft_h5_put_long(file, "/", "gap", all->gap));
    TRY(weft_h5_put_long(file, "/", "symbols", all->symbols));
    return weft_h5_put_long(file, "/", "named", all->named);
}

static weft_status flush_all(weft_pack *pack)
{
    weft_pack_federation *federation = pack->own->federation;
    struct column *all[] = {&federation->firsts, &federation->counts, &federation->names,
                            &federation->x, &federation->label};
    TRY(column_add(pack, &federation->firsts, 1, &federation->first));
    for (size_t i = 0; i < sizeof all / sizeof *all; i++)
        if (all[i]->n > 0) TRY(column_flush(pack, all[i]));
    return WEFT_OK;
}

/* Warns of classes that a part lacks although, by their training rows, it would have MANY:
 * a part drawn by chance lacks one with probability e^-MANY, one cut from sorted rows does.
 */
static void tell_lacking(const weft_pack *pack)
{
    weft_packing *own = pack->own;
    enum { MANY = 10 };
    int64_t(*has)[WEFT_NPART] = own->federation->classes;
    double train = (double)own->part[WEFT_TRAIN].n;
    for (int i = WEFT_VALID; i < WEFT_NPART && own->layout.form != WEFT_CHARS; i++) {
        int lacking = 0, first = 0;
        for (int k = own->told.classes - 1; k >= 0; k--) {
            double rows = (double)has[k][WEFT_TRAIN] * (double)own->part[i].n / train;
            if (has[k][i] > 0 || rows < MANY) continue;
            first = k;
            lacking++;
        }
        if (lacking > 0)
            weft_log(WEFT_WARN,
                     "%s: the %s part has no row of %d of %d classes, the first is %s with "
                     "%lld training rows: was it cut from sorted rows?",
                     own->from, weft_part_name[i], lacking, own->told.classes,
                     own->told.class_name[first], (long long)has[first][WEFT_TRAIN]);
    }
}

weft_status weft_pack_clients_close(weft_pack *pack)
{
    weft_packing *own = pack->own;
    weft_pack_federation *federation = own->federation;
    if (own->part[WEFT_TRAIN].n == 0 && !own->told.scored)
        return weft_fail(WEFT_EDATA, "no client has training samples; check the source and "
                                     "the options of the split");
    TRY(flush_all(pack));
    int classes = own->told.classes;
    federation->classes =
        weft_grow(pack->mem, federation->classes, sizeof *federation->classes, classes,
                  &federation->class_room);
    int64_t *count = WEFT_NEW(pack->mem, int64_t, classes);
    for (int i = 0; i < WEFT_NPART; i++) {
        for (int k = 0; k < classes; k++) count[k] = federation->classes[k][i];
        TRY(weft_pack_put(pack, weft_pack_path(pack, i, "count"), WEFT_H5_I64, classes,
                          count, "rows of each class", "rows"));
    }
    if (!own->told.scored) tell_lacking(pack);
    if (federation->row)
        TRY(weft_pack_put(pack, "/test/row", WEFT_H5_I64, federation->nrow, federation->row,
                          "number in the source of each sample, client after client",
                          "rows from 0"));
    return put_numbers(pack, &federation->all);
}

void weft_pack_clients_drop(weft_pack *pack)
{
    if (pack->own->federation != NULL) weft_arena_free(pack->own->federation->text);
}

/* ---- a generator's ---- */

void weft_pack_generator(weft_pack *pack, const weft_generator *generator)
{
    weft_packing *own = pack->own;
    weft_generator *copy = WEFT_NEW(pack->mem, weft_generator, 1);
    *copy = *generator;
    own->generator = copy;
    own->layout.form = WEFT_REALS;
    own->layout.d = generator->d;
    weft_generator_sizes(generator, own->size);
    for (int i = 0; i < WEFT_NPART; i++) own->part[i].n = own->size[i].total;
}

static weft_status put_sizes(weft_pack *pack, int part)
{
    weft_h5 *file = &pack->own->file;
    const weft_sizes *sizes = &pack->own->size[part];
    const char *name = weft_part_name[part];
    TRY(weft_h5_put_long(file, "/", weft_arena_text(pack->mem, "%s_samples", name),
                         sizes->total));
    TRY(weft_h5_put_long(file, "/", weft_arena_text(pack->mem, "%s_most", name),
                         sizes->most));
    return weft_h5_put_num(file, "/", weft_arena_text(pack->mem, "%s_squares", name),
                           sizes->square);
}

weft_status weft_pack_generator_close(weft_pack *pack)
{
    weft_packing *own = pack->own;
    const weft_generator *generator = own->generator;
    weft_clients all = {.n = generator->clients, .d = generator->d, .stride = 1};
    const double number[] = {generator->samples, generator->spread, generator->alpha,
                             generator->beta,    generator->valid,  generator->test};
    static const char *const name[] = {"samples", "spread", "alpha",
                                       "beta",    "valid",  "test"};
    weft_h5 *file = &own->file;
    weft_digest_add(own->digest, number, sizeof number);
    weft_digest_add(own->digest, &generator->seed, sizeof generator->seed);
    weft_digest_add(own->digest, &generator->clients, sizeof generator->clients);
    TRY(put_numbers(pack, &all));
    TRY(weft_h5_put_attr(file, "/", "generator", WEFT_GENERATOR));
    TRY(weft_h5_put_long(file, "/", "seed", generator->seed));
    for (size_t i = 0; i < sizeof number / sizeof *number; i++)
        TRY(weft_h5_put_num(file, "/", name[i], number[i]));
    for (int i = 0; i < WEFT_NPART; i++) TRY(put_sizes(pack, i));
    return WEFT_OK;
}

/* ---- rows that are dealt ---- */

struct weft_pack_held {
    char *x[WEFT_NPART];              /* [n] rows of each part */
    const int32_t *label[WEFT_NPART]; /* [n] of each part */
    int64_t *order[WEFT_NPART];       /* [n] rows, client after client */
    int64_t *count[WEFT_NPART];       /* [clients] of them */
    int64_t client;                   /* the next one to be passed on, */
    int64_t next[WEFT_NPART];         /* and its first place in order */
};

/* ---- rows ---- */

weft_status weft_pack_hold(weft_pack *pack)
{
    weft_packing *own = pack->own;
    TRY(weft_partition_check(&own->over, own->layout.rows[WEFT_TRAIN]));
    weft_pack_held *held = own->held = WEFT_NEW(pack->mem, weft_pack_held, 1);
    for (int i = 0; i < WEFT_NPART; i++)
        held->x[i] =
            weft_arena_alloc(pack->mem, (size_t)own->layout.rows[i], own->layout.row);
    return WEFT_OK;
}

void weft_pack_hold_rows(weft_pack *pack, weft_part part, int64_t count, const void *x)
{
    weft_pack_held *held = pack->own->held;
    memcpy(held->x[part] + (size_t)pack->own->part[part].n * pack->own->layout.row, x,
           (size_t)count * pack->own->layout.row);
}

/* The next client: its rows of each part, gathered. */
static weft_status put_client(weft_pack *pack)
{
    weft_packing *own = pack->own;
    weft_pack_held *held = own->held;
    int64_t count[WEFT_NPART], n = 0;
    for (int i = 0; i < WEFT_NPART; i++) n += count[i] = held->count[i][held->client];
    WEFT_REWIND(pack->scratch);
    char *x = weft_arena_alloc(pack->scratch, (size_t)n, own->layout.row);
    int32_t *label = WEFT_NEW(pack->scratch, int32_t, n);
    for (int i = 0, to = 0; i < WEFT_NPART; i++)
        for (int64_t end = held->next[i] + count[i]; held->next[i] < end;
             held->next[i]++, to++) {
            int64_t row = held->order[i][held->next[i]];
            skew_row(pack, held->client, (weft_part)i, row,
                     held->x[i] + (size_t)row * own->layout.row,
                     x + (size_t)to * own->layout.row);
            label[to] = held->label[i][row];
        }
    held->client++;
    return add_stored(pack, NULL, count, x, label);
}

/* Deals the rows of every part: order[part][n], count[part][clients] as
 * weft_partition_deal; adds the rule to that of the split. */
static weft_status deal_parts(weft_pack *pack, int64_t *order[WEFT_NPART],
                              int64_t *count[WEFT_NPART])
{
    weft_packing *own = pack->own;
    double *share = WEFT_NEW(pack->mem, double, own->told.classes);
    for (int i = 0; i < WEFT_NPART; i++) {
        int64_t n = own->part[i].n, *rows;
        TRY(weft_pack_count(pack, (weft_part)i, &rows));
        for (int k = 0; k < own->told.classes && i == WEFT_TRAIN; k++)
            share[k] = (double)rows[k] / (double)n;
        weft_labelled labelled = {.part = (weft_part)i,
                                  .n = n,
                                  .label = own->part[i].label,
                                  .classes = own->told.classes,
                                  .share = share,
                                  .group = own->told.group,
                                  .groups = own->told.groups};
        order[i] = WEFT_NEW(pack->mem, int64_t, n);
        count[i] = WEFT_NEW(pack->mem, int64_t, own->over.clients);
        TRY(weft_partition_deal(&own->over, &labelled, order[i], count[i], pack->scratch));
    }
    weft_pack_split_add(pack, "%s", weft_partition_text(&own->over, pack->mem));
    return WEFT_OK;
}

weft_status weft_pack_deal(weft_pack *pack)
{
    weft_packing *own = pack->own;
    weft_pack_held *held = own->held;
    TRY(check_skew(pack));
    TRY(deal_parts(pack, held->order, held->count));
    for (int i = 0; i < WEFT_NPART; i++) {
        held->label[i] = own->part[i].label;
        own->part[i].n = 0; /* to be counted again, client by client */
    }
    weft_clients all = {.d = own->layout.d,
                        .channels = own->layout.image[0],
                        .height = own->layout.image[1],
                        .width = own->layout.image[2],
                        .stride = 1};
    TRY(weft_pack_clients(pack, (weft_form)own->layout.form, &all));
    for (int64_t c = 0; c < own->over.clients; c++) TRY(put_client(pack));
    return WEFT_OK;
}

weft_status weft_pack_owners(weft_pack *pack, int64_t n, const char *const *name,
                             int64_t *const owner[WEFT_NPART])
{
    TRY(weft_partition_refuse(pack));
    pack->own->owner.n = n;
    pack->own->owner.name = name;
    for (int p = 0; p < WEFT_NPART; p++) pack->own->owner.of[p] = owner[p];
    return WEFT_OK;
}

/* Deals the documents to clients. */
static weft_status deal_documents(weft_pack *pack)
{
    weft_packing *own = pack->own;
    int64_t *order[WEFT_NPART], *count[WEFT_NPART];
    TRY(check_skew(pack));
    TRY(weft_partition_check(&own->over, own->part[WEFT_TRAIN].n));
    TRY(deal_parts(pack, order, count));
    own->owner.n = own->over.clients;
    for (int i = 0; i < WEFT_NPART; i++) {
        int64_t next = 0, *owner = WEFT_NEW(pack->mem, int64_t, own->part[i].n);
        for (int64_t c = 0; c < own->owner.n; c++)
            for (int64_t end = next + count[i][c]; next < end; next++)
                owner[order[i][next]] = c;
        own->owner.of[i] = owner;
    }
    return WEFT_OK;
}

weft_status weft_pack_own(weft_pack *pack)
{
    const weft_packing *own = pack->own;
    if (own->owner.name == NULL) TRY(deal_documents(pack));
    for (int i = 0; i < WEFT_NPART; i++)
        TRY(weft_pack_put(pack, weft_pack_path(pack, i, "owner"), WEFT_H5_I64,
                          own->part[i].n, own->owner.of[i],
                          "client that each document belongs to", "0 .. owners - 1"));
    for (int64_t c = 0; c < own->owner.n && own->owner.name; c++)
        weft_digest_add(own->digest, own->owner.name[c], strlen(own->owner.name[c]) + 1);
    if (own->owner.name)
        TRY(weft_h5_put_texts(&pack->own->file, "/client/name", own->owner.name,
                              own->owner.n, "name of each client"));
    return weft_h5_put_long(&pack->own->file, "/", "owners", own->owner.n);
}
