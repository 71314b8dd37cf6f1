/* Packing a federation: clients come one after the other and are written in large pieces,
 * so that memory does not grow with their number. The layout is that of federation.c. */
#include "pack.h"

#include <string.h>

#define PIECE_BYTES (1 << 20)

/* A dataset that grows, and its rows that are not in the file yet. */
typedef struct column {
    const char *name;
    weft_h5type type;
    size_t row;            /* bytes */
    int64_t n, room, most; /* rows waiting, how many there is room for, and how many may */
    char *waiting;         /* [room] rows */
} column;

struct weft_pack_federation {
    weft_clients all; /* n: clients so far */
    int64_t first;    /* rows or symbols so far */
    column firsts, counts, names, x, label;
    weft_arena *text;             /* of the names that wait */
    int64_t *classes[WEFT_NPART]; /* [class_room] samples of each class */
    int64_t class_room;
};

/* ---- columns ---- */

static weft_status column_make(weft_pack *p, column *c, const char *name, weft_h5type type,
                               int64_t width, const char *about, const char *unit)
{
    size_t row = weft_h5_size(type) * (size_t)(width > 0 ? width : 1);
    int64_t most = (int64_t)(PIECE_BYTES / row);
    if (most < 1) most = 1;
    *c = (column){.name = name, .type = type, .row = row, .most = most};
    return weft_h5_grow(&p->own->file, name, type, width, about, unit);
}

static weft_status column_flush(weft_pack *p, column *c)
{
    int64_t n = c->n;
    c->n = 0;
    return weft_h5_append(&p->own->file, c->name, c->type, n, c->waiting);
}

/* Makes room for n rows, at most c->most. */
static void column_room(weft_pack *p, column *c, int64_t n)
{
    if (n <= c->room) return;
    c->room = 2 * n < c->most ? 2 * n : c->most;
    char *more = weft_arena_alloc(p->mem, (size_t)c->room, c->row);
    if (c->n > 0) memcpy(more, c->waiting, (size_t)c->n * c->row);
    c->waiting = more;
}

static weft_status column_add(weft_pack *p, column *c, int64_t count, const void *data)
{
    const char *from = data;
    while (count > 0) {
        int64_t take = count < c->most - c->n ? count : c->most - c->n;
        column_room(p, c, c->n + take);
        memcpy(c->waiting + (size_t)c->n * c->row, from, (size_t)take * c->row);
        from += (size_t)take * c->row;
        c->n += take;
        count -= take;
        if (c->n == c->most) TRY(column_flush(p, c));
    }
    return WEFT_OK;
}

/* ---- clients ---- */

weft_status weft_pack_clients(weft_pack *p, weft_form form, const weft_clients *all)
{
    TRY(weft_partition_refuse(p));
    weft_pack_federation *f = WEFT_NEW(p->mem, weft_pack_federation, 1);
    p->own->form = (int)form;
    p->own->d = all->d;
    p->own->federation = f;
    weft_pack_scaled(p);
    f->all = *all;
    f->all.n = 0;
    f->text = weft_arena_new();
    TRY(column_make(p, &f->firsts, "/client/first", WEFT_H5_I64, 0,
                    "where each client begins, and where the last one ends",
                    form == WEFT_CHARS ? "characters" : "rows"));
    TRY(column_make(p, &f->counts, "/client/count", WEFT_H5_I32, WEFT_NPART,
                    "train, valid and test samples of each client", "samples"));
    if (all->named)
        TRY(column_make(p, &f->names, "/client/name", WEFT_H5_TEXT, 0,
                        "name of each client", "text"));
    if (form == WEFT_CHARS)
        return column_make(p, &f->x, "/text", WEFT_H5_U8, 0,
                           "what the clients wrote, one after the other",
                           "index into /class");
    TRY(column_make(p, &f->x, "/x", form == WEFT_BYTES ? WEFT_H5_U8 : WEFT_H5_F32, all->d,
                    "rows [n][d], one a sample",
                    form == WEFT_BYTES ? "intensity 0..255" : "as in the source"));
    return column_make(p, &f->label, "/label", WEFT_H5_I32, 0, "class of each row",
                       "index into /class");
}

/* What a client has, but for its samples. */
static weft_status add_client(weft_pack *p, const char *name, const int64_t *count)
{
    weft_pack_federation *f = p->own->federation;
    int32_t part[WEFT_NPART];
    int64_t sum = 0;
    for (int i = 0; i < WEFT_NPART; i++) {
        weft_check(count[i] >= 0 && sum <= INT32_MAX - count[i], "a client of %lld samples",
                   (long long)count[i]);
        sum += count[i];
        part[i] = (int32_t)count[i];
        p->own->part[i].n += count[i];
    }
    weft_check((name != NULL) == (f->all.named != 0), "some clients have no name");
    f->all.n++;
    weft_digest_add(p->own->digest, part, sizeof part);
    TRY(column_add(p, &f->firsts, 1, &f->first));
    TRY(column_add(p, &f->counts, 1, part));
    if (name == NULL) return WEFT_OK;
    const char *copy = weft_arena_text(f->text, "%s", name);
    weft_digest_add(p->own->digest, copy, strlen(copy) + 1);
    TRY(column_add(p, &f->names, 1, &copy));
    if (f->names.n == 0) weft_arena_reset(f->text, 0);
    return WEFT_OK;
}

/* Counts a sample of a class. */
static void tally(weft_pack *p, int part, int label)
{
    weft_pack_federation *f = p->own->federation;
    weft_check(label >= 0 && (p->own->classes == 0 || label < p->own->classes),
               "a reader gives label %d of %d classes", label, p->own->classes);
    int64_t room = f->class_room;
    for (int i = 0; i < WEFT_NPART && label >= f->class_room; i++) {
        room = f->class_room;
        f->classes[i] = weft_grow(p->mem, f->classes[i], sizeof(int64_t), label, &room);
    }
    f->class_room = room;
    f->classes[part][label]++;
}

weft_status weft_pack_client_stored(weft_pack *p, const char *name, const int64_t *count,
                                    const void *x, const int32_t *label)
{
    weft_pack_federation *f = p->own->federation;
    int64_t n = count[0] + count[1] + count[2];
    TRY(add_client(p, name, count));
    for (int i = 0, s = 0; i < WEFT_NPART; i++)
        for (int64_t end = s + count[i]; s < end; s++) tally(p, i, label[s]);
    f->first += n;
    weft_digest_add(p->own->digest, x, (size_t)n * f->x.row);
    weft_digest_add(p->own->digest, label, (size_t)n * sizeof *label);
    TRY(column_add(p, &f->x, n, x));
    return column_add(p, &f->label, n, label);
}

weft_status weft_pack_client_rows(weft_pack *p, const char *name, const int64_t *count,
                                  const void *x, const int32_t *label)
{
    int64_t n = count[0] + count[1] + count[2], d = p->own->d, bad;
    size_t mark = weft_arena_mark(p->scratch);
    const void *rows = weft_pack_floats(p, n, x, &bad);
    weft_status st =
        bad == n * d
            ? weft_pack_client_stored(p, name, count, rows, label)
            : weft_fail(WEFT_EDATA,
                        "client %lld%s%s: row %lld, column %lld is %g where a finite "
                        "number is expected; mend or remove the row",
                        (long long)p->own->federation->all.n, name != NULL ? ", " : "",
                        name != NULL ? name : "", (long long)(bad / d + 1),
                        (long long)(bad % d + 1), ((const double *)x)[bad]);
    weft_arena_reset(p->scratch, mark);
    return st;
}

weft_status weft_pack_client_text(weft_pack *p, const char *name, const int64_t *count,
                                  const uint8_t *text, int64_t n)
{
    weft_pack_federation *f = p->own->federation;
    int64_t span = weft_client_place(count, WEFT_NPART, f->all.gap);
    weft_check(span == 0 || (span - 1) * f->all.stride + f->all.d + 1 <= n,
               "%lld windows in %lld characters", (long long)span, (long long)n);
    TRY(add_client(p, name, count));
    for (int i = 0; i < WEFT_NPART; i++) {
        int64_t at = weft_client_place(count, i, f->all.gap);
        for (int64_t w = at; w < at + count[i]; w++)
            tally(p, i, text[w * f->all.stride + f->all.d]);
    }
    f->first += n;
    weft_digest_add(p->own->digest, text, (size_t)n);
    return column_add(p, &f->x, n, text);
}

int64_t weft_pack_clients_count(const weft_pack *p)
{
    return p->own->federation->all.n;
}

int weft_pack_clients_image(const weft_pack_federation *f)
{
    return f->all.channels > 0;
}

/* ---- the end ---- */

weft_status weft_pack_clients_numbers(weft_pack *p, const weft_clients *all)
{
    weft_h5 *f = &p->own->file;
    TRY(weft_h5_put_long(f, "/", "clients", all->n));
    TRY(weft_h5_put_long(f, "/", "channels", all->channels));
    TRY(weft_h5_put_long(f, "/", "height", all->height));
    TRY(weft_h5_put_long(f, "/", "width", all->width));
    TRY(weft_h5_put_long(f, "/", "stride", all->stride));
    TRY(weft_h5_put_long(f, "/", "gap", all->gap));
    TRY(weft_h5_put_long(f, "/", "symbols", all->symbols));
    return weft_h5_put_long(f, "/", "named", all->named);
}

static weft_status flush_all(weft_pack *p)
{
    weft_pack_federation *f = p->own->federation;
    column *all[] = {&f->firsts, &f->counts, &f->names, &f->x, &f->label};
    TRY(column_add(p, &f->firsts, 1, &f->first));
    for (size_t i = 0; i < sizeof all / sizeof *all; i++)
        if (all[i]->n > 0) TRY(column_flush(p, all[i]));
    return WEFT_OK;
}

/* Warns of classes that a part lacks although, by their training rows, it would have MANY:
 * a part drawn by chance lacks one with probability e^-MANY, one cut from sorted rows does.
 */
static void tell_lacking(const weft_pack *p)
{
    enum { MANY = 10 };
    int64_t *const *has = p->own->federation->classes;
    double train = (double)p->own->part[WEFT_TRAIN].n;
    for (int i = WEFT_VALID; i < WEFT_NPART && p->own->form != WEFT_CHARS; i++) {
        int lacking = 0, first = 0;
        for (int k = p->own->classes - 1; k >= 0; k--) {
            double rows = (double)has[WEFT_TRAIN][k] * (double)p->own->part[i].n / train;
            if (has[i][k] > 0 || rows < MANY) continue;
            first = k;
            lacking++;
        }
        if (lacking > 0)
            weft_log(WEFT_WARN,
                     "%s: the %s part has no row of %d of %d classes, the first is %s with "
                     "%lld training rows: was it cut from sorted rows?",
                     p->own->from, weft_part_name[i], lacking, p->own->classes,
                     p->own->class_name[first], (long long)has[WEFT_TRAIN][first]);
    }
}

weft_status weft_pack_clients_close(weft_pack *p)
{
    weft_pack_federation *f = p->own->federation;
    if (p->own->part[WEFT_TRAIN].n == 0)
        return weft_fail(WEFT_EDATA,
                         "no client has training samples; check the source and the options "
                         "of the split");
    TRY(flush_all(p));
    for (int i = 0; i < WEFT_NPART; i++) {
        if (p->own->classes > f->class_room) {
            int64_t room = f->class_room;
            f->classes[i] = weft_grow(p->mem, f->classes[i], sizeof(int64_t),
                                      p->own->classes - 1, &room);
        }
        TRY(weft_pack_put(p, weft_arena_text(p->mem, "/%s/count", weft_part_name[i]),
                          WEFT_H5_I64, p->own->classes, f->classes[i], "rows of each class",
                          "rows"));
    }
    tell_lacking(p);
    return weft_pack_clients_numbers(p, &f->all);
}

void weft_pack_clients_drop(weft_pack *p)
{
    if (p->own->federation != NULL) weft_arena_free(p->own->federation->text);
}
