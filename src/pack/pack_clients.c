/* Packing a federation: clients come one after the other and are written in large pieces,
 * so that memory does not grow with their number. The layout is that of federation.c. */
#include "pack.h"
#include "weft/log.h"

#include <string.h>

#define PIECE_BYTES (1 << 20)

/* A dataset that grows, and its rows that are not in the file yet. */
struct column {
    const char *name;
    weft_h5type type;
    size_t row;            /* bytes */
    int64_t n, room, most; /* rows waiting, how many there is room for, and how many may */
    char *waiting;         /* [room] rows */
};

struct weft_pack_federation {
    weft_clients all; /* n: clients so far */
    int64_t first;    /* rows or symbols so far */
    struct column firsts, counts, names, x, label;
    const int64_t *row; /* [nrow] of weft_pack_order; NULL: none */
    int64_t nrow;
    weft_arena *text;             /* of the names that wait */
    int64_t *classes[WEFT_NPART]; /* [class_room] samples of each class */
    int64_t class_room;
};

/* ---- columns ---- */

static weft_status column_make(weft_pack *pack, struct column *column, const char *name,
                               weft_h5type type, int64_t width, const char *about,
                               const char *unit)
{
    size_t row = weft_h5_size(type) * (size_t)(width > 0 ? width : 1);
    int64_t most = (int64_t)(PIECE_BYTES / row);
    if (most < 1) most = 1;
    *column = (struct column){.name = name, .type = type, .row = row, .most = most};
    return weft_h5_grow(&pack->own->file, name, type, width, about, unit);
}

static weft_status column_flush(weft_pack *pack, struct column *column)
{
    int64_t n = column->n;
    column->n = 0;
    return weft_h5_append(&pack->own->file, column->name, column->type, n, column->waiting);
}

/* Makes room for n rows, at most column->most. */
static void column_room(weft_pack *pack, struct column *column, int64_t n)
{
    if (n <= column->room) return;
    column->room = 2 * n < column->most ? 2 * n : column->most;
    char *more = weft_arena_alloc(pack->mem, (size_t)column->room, column->row);
    if (column->n > 0) memcpy(more, column->waiting, (size_t)column->n * column->row);
    column->waiting = more;
}

static weft_status column_add(weft_pack *pack, struct column *column, int64_t count,
                              const void *data)
{
    const char *from = data;
    while (count > 0) {
        int64_t take = count < column->most - column->n ? count : column->most - column->n;
        column_room(pack, column, column->n + take);
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
    pack->own->form = (int)form;
    pack->own->d = all->d;
    pack->own->federation = federation;
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
    weft_check(label >= 0 && (pack->own->classes == 0 || label < pack->own->classes),
               "a reader gives label %d of %d classes", label, pack->own->classes);
    int64_t room = federation->class_room;
    for (int i = 0; i < WEFT_NPART && label >= federation->class_room; i++) {
        room = federation->class_room;
        federation->classes[i] =
            weft_grow(pack->mem, federation->classes[i], sizeof(int64_t), label, &room);
    }
    federation->class_room = room;
    federation->classes[part][label]++;
}

weft_status weft_pack_client_stored(weft_pack *pack, const char *name, const int64_t *count,
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
    int64_t n = count[0] + count[1] + count[2], d = pack->own->d, bad;
    size_t mark = weft_arena_mark(pack->scratch);
    const void *rows = weft_pack_floats(pack, n, x, &bad);
    weft_status st =
        bad == n * d
            ? weft_pack_client_stored(pack, name, count, rows, label)
            : weft_fail(WEFT_EDATA,
                        "client %lld%s%s: row %lld, column %lld is %g where a finite "
                        "number is expected; mend or remove the row",
                        (long long)pack->own->federation->all.n, name != NULL ? ", " : "",
                        name != NULL ? name : "", (long long)(bad / d + 1),
                        (long long)(bad % d + 1), ((const double *)x)[bad]);
    weft_arena_reset(pack->scratch, mark);
    return st;
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

int weft_pack_clients_image(const weft_pack_federation *federation)
{
    return federation->all.channels > 0;
}

/* ---- the end ---- */

weft_status weft_pack_clients_numbers(weft_pack *pack, const weft_clients *all)
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
    enum { MANY = 10 };
    int64_t *const *has = pack->own->federation->classes;
    double train = (double)pack->own->part[WEFT_TRAIN].n;
    for (int i = WEFT_VALID; i < WEFT_NPART && pack->own->form != WEFT_CHARS; i++) {
        int lacking = 0, first = 0;
        for (int k = pack->own->classes - 1; k >= 0; k--) {
            double rows = (double)has[WEFT_TRAIN][k] * (double)pack->own->part[i].n / train;
            if (has[i][k] > 0 || rows < MANY) continue;
            first = k;
            lacking++;
        }
        if (lacking > 0)
            weft_log(WEFT_WARN,
                     "%s: the %s part has no row of %d of %d classes, the first is %s with "
                     "%lld training rows: was it cut from sorted rows?",
                     pack->own->from, weft_part_name[i], lacking, pack->own->classes,
                     pack->own->class_name[first], (long long)has[WEFT_TRAIN][first]);
    }
}

weft_status weft_pack_clients_close(weft_pack *pack)
{
    weft_pack_federation *federation = pack->own->federation;
    if (pack->own->part[WEFT_TRAIN].n == 0 && !pack->own->scored)
        return weft_fail(WEFT_EDATA,
                         "no client has training samples; check the source and the options "
                         "of the split");
    TRY(flush_all(pack));
    for (int i = 0; i < WEFT_NPART; i++) {
        if (pack->own->classes > federation->class_room) {
            int64_t room = federation->class_room;
            federation->classes[i] =
                weft_grow(pack->mem, federation->classes[i], sizeof(int64_t),
                          pack->own->classes - 1, &room);
        }
        TRY(weft_pack_put(pack, weft_arena_text(pack->mem, "/%s/count", weft_part_name[i]),
                          WEFT_H5_I64, pack->own->classes, federation->classes[i],
                          "rows of each class", "rows"));
    }
    if (!pack->own->scored) tell_lacking(pack);
    if (federation->row)
        TRY(weft_pack_put(pack, "/test/row", WEFT_H5_I64, federation->nrow, federation->row,
                          "number in the source of each sample, client after client",
                          "rows from 0"));
    return weft_pack_clients_numbers(pack, &federation->all);
}

void weft_pack_clients_drop(weft_pack *pack)
{
    if (pack->own->federation != NULL) weft_arena_free(pack->own->federation->text);
}
