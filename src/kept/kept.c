/* Rows of clients in layers, of which versions are opened, shared with a copy and written
 * through. The files of a directory are layer-0, layer-1 ..., which are never written
 * again, and `top`. A row of the layer that is written is overwritten in place only if the
 * last synced version does not have it; else another row is taken, and the old one is free
 * once that version is not needed. */
#include "weft/kept/kept.h"
#include "layer.h"
#include "weft/base/files.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { LAYERS = 64 }; /* more than there can be: each is twice as long as the next */

/* Rows of the layer that is written. */
typedef struct row_list {
    int64_t *row; /* [n] */
    int64_t n, room;
} row_list;

struct weft_kept {
    kept_shape shape;
    weft_arena *mem;
    const char *dir; /* of the files that it writes; NULL: none */
    int begun;       /* 1: dir was made */
    int own;         /* 1: the highest layer is written */
    int nlayer;
    kept_layer layer[LAYERS]; /* the highest last */
    int64_t *place;           /* [n] 1 + row + layer << SHIFT; 0: none. NULL: none has */
    uint64_t *hash;           /* [n] of its row */
    int64_t count;            /* clients with a row */
    uint64_t sum;             /* of their hashes */
    int64_t turn;             /* number of writes */
    char *young; /* [roomyoung] by row of the layer that is written: 1: written since the
                    last sync */
    int64_t roomyoung;
    int synced;             /* 1: all layers below that one are on disk */
    row_list old;           /* rows that the synced version has, and this one has not */
    row_list spare;         /* that may be written */
    weft_kept_reader *read; /* of a source; else NULL */
    void *of;
};

enum { SHIFT = 48 };
/* The layer and row of a client's place. */
static int layer_of(int64_t place)
{
    return (int)(place >> SHIFT);
}
static int64_t row_of(int64_t place)
{
    return (place & (((int64_t)1 << SHIFT) - 1)) - 1;
}
static int64_t place_at(int layer, int64_t row)
{
    return ((int64_t)layer << SHIFT) + row + 1;
}

weft_kept *weft_kept_new(int64_t n, int64_t each, weft_arena *mem)
{
    weft_kept *kept = WEFT_NEW(mem, weft_kept, 1);
    kept->shape = kept_shape_of(n, each);
    kept->mem = mem;
    return kept;
}

double weft_kept_bytes(int64_t n, int64_t each)
{
    return (double)n * (double)kept_shape_of(n, each).bytes;
}

int64_t weft_kept_n(const weft_kept *kept)
{
    return kept->shape.n;
}

int64_t weft_kept_each(const weft_kept *kept)
{
    return kept->shape.each;
}

void weft_kept_place(weft_kept *kept, const char *dir)
{
    kept->dir = weft_arena_text(kept->mem, "%s", dir);
}

const char *weft_kept_dir(const weft_kept *kept)
{
    return kept->dir;
}

void weft_kept_mark(const weft_kept *kept, double *mark)
{
    memcpy(&mark[0], &kept->sum, sizeof *mark);
    mark[1] = (double)kept->turn;
}

int64_t weft_kept_count(const weft_kept *kept)
{
    return kept->count;
}

int64_t weft_kept_clients(const weft_kept *kept, int64_t first, int64_t most,
                          int64_t *client)
{
    int64_t m = 0;
    for (int64_t c = first; kept->place && c < kept->shape.n && m < most; c++)
        if (kept->place[c] > 0) client[m++] = c;
    return m;
}

/* ---- layers ---- */

static const char *layer_name(const char *dir, int i, weft_arena *mem)
{
    return weft_arena_text(mem, "%s/layer-%d", dir, i);
}

static const char *top_name(const char *dir, weft_arena *mem)
{
    return weft_arena_text(mem, "%s/top", dir);
}

/* Makes room for the places of clients. */
static void need_places(weft_kept *kept)
{
    if (kept->place) return;
    kept->place = WEFT_NEW(kept->mem, int64_t, kept->shape.n);
    kept->hash = WEFT_NEW(kept->mem, uint64_t, kept->shape.n);
}

/* Forgets all rows; files stay. */
static void forget_rows(weft_kept *kept)
{
    if (kept->count > 0) {
        memset(kept->place, 0, (size_t)kept->shape.n * sizeof *kept->place);
        memset(kept->hash, 0, (size_t)kept->shape.n * sizeof *kept->hash);
    }
    kept->own = kept->nlayer = kept->begun = kept->synced = 0;
    kept->count = kept->turn = 0;
    kept->sum = 0;
    kept->old.n = kept->spare.n = 0;
    kept->read = NULL;
    if (kept->young) memset(kept->young, 0, (size_t)kept->roomyoung);
}

/* Removes what is in its directory, and makes it. Nothing without one. EFILE. */
static weft_status begin_dir(weft_kept *kept)
{
    forget_rows(kept);
    if (!kept->dir) return WEFT_OK;
    weft_tree_remove(kept->dir);
    if (mkdir(kept->dir, 0777) != 0)
        return weft_fail(WEFT_EFILE, "cannot make %s: %s; free space there", kept->dir,
                         strerror(errno));
    kept->begun = 1;
    return WEFT_OK;
}

void weft_kept_drop(weft_kept *kept)
{
    if (kept && kept->dir) weft_tree_remove(kept->dir);
}

static void add_to_rows(weft_kept *kept, row_list *list, int64_t row)
{
    list->row = weft_regrow(kept->mem, list->row, sizeof *list->row, list->n, &list->room);
    list->row[list->n++] = row;
}

/* The layer that is written. */
static weft_status own_layer(weft_kept *kept, kept_layer **own)
{
    if (kept->dir && !kept->begun) TRY(begin_dir(kept));
    if (!kept->own) {
        kept_layer *layer = &kept->layer[kept->nlayer];
        weft_check(kept->nlayer < LAYERS && !kept->read, "too many layers");
        *layer = (kept_layer){.fd = -1};
        if (kept->dir) {
            layer->path = top_name(kept->dir, kept->mem);
            TRY(kept_layer_open(layer, &kept->shape, 1));
        }
        kept->nlayer++;
        kept->own = 1;
    }
    *own = &kept->layer[kept->nlayer - 1];
    return kept_layer_need(*own, 1);
}

/* Fetches where the row is of a client that is soon to come. */
static void fetch_place(const weft_kept *kept, int64_t i, int64_t m, const int64_t *client)
{
    enum { AHEAD = 8 };
    if (i + AHEAD >= m) return;
    __builtin_prefetch(&kept->place[client[i + AHEAD]]);
    __builtin_prefetch(&kept->hash[client[i + AHEAD]]);
}

/* ---- reading ---- */

/* The rows of client[m] of a source, of which those that follow each other are read at
 * once. */
static weft_status read_source(const weft_kept *kept, int64_t m, const int64_t *client,
                               real *to)
{
    int64_t each = kept->shape.each;
    for (int64_t i = 0, n; i < m; i += n) {
        int64_t place = kept->place[client[i]];
        for (n = 1; i + n < m && place > 0 && kept->place[client[i + n]] == place + n;) n++;
        if (place > 0)
            TRY(kept->read(kept->of, row_of(place), n, to + i * each));
        else
            memset(to + i * each, 0, (size_t)each * sizeof *to);
    }
    return WEFT_OK;
}

static weft_status read_row(const weft_kept *kept, kept_layer *layer, int64_t client,
                            char *row, real *to)
{
    kept_head head;
    int64_t at = row_of(kept->place[client]);
    size_t bytes = (size_t)kept->shape.each * sizeof *to;
    TRY(kept_layer_need(layer, 0));
    TRY(kept_layer_read(layer, &kept->shape, at, row, sizeof head + bytes));
    memcpy(&head, row, sizeof head);
    memcpy(to, row + sizeof head, bytes);
    int same = head.client == client && head.hash == kept->hash[client] &&
               kept_hash(&kept->shape, client, to) == head.hash;
    weft_check(same || layer->path, "what client %lld keeps has changed in memory",
               (long long)client);
    if (!same) return kept_row_damaged(layer, &kept->shape, at, kept->dir != NULL);
    return WEFT_OK;
}

weft_status weft_kept_read(const weft_kept *kept, int64_t m, const int64_t *client,
                           real *to)
{
    int64_t each = kept->shape.each;
    size_t bytes = (size_t)each * sizeof *to;
    if (kept->count == 0) {
        memset(to, 0, (size_t)m * bytes);
        return WEFT_OK;
    }
    if (kept->read) return read_source(kept, m, client, to);
    WEFT_SCRATCH(tmp);
    char *row = WEFT_NEW(tmp, char, kept->shape.bytes);
    kept_layer layer[LAYERS];
    memcpy(layer, kept->layer, (size_t)kept->nlayer * sizeof *layer);
    weft_status st = WEFT_OK;
    for (int64_t i = 0; i < m && st == WEFT_OK; i++) {
        int64_t place = kept->place[client[i]];
        fetch_place(kept, i, m, client);
        if (place > 0)
            st = read_row(kept, &layer[layer_of(place)], client[i], row, to + i * each);
        else
            memset(to + i * each, 0, bytes);
    }
    for (int l = 0; l < kept->nlayer; l++) kept_layer_close(&layer[l]);
    return st;
}

/* ---- writing ---- */

/* The row that a client's numbers are written to. */
static int64_t row_for(weft_kept *kept, kept_layer *own, int64_t client)
{
    int64_t place = kept->place[client], row = row_of(place);
    int top = kept->nlayer - 1, here = place > 0 && layer_of(place) == top;
    if (here && (!own->path || kept->young[row])) return row;
    if (here) add_to_rows(kept, &kept->old, row);
    if (place > 0) kept->layer[layer_of(place)].live--;
    own->live++;
    row = kept->spare.n > 0 ? kept->spare.row[--kept->spare.n] : own->rows++;
    kept->young = weft_regrow(kept->mem, kept->young, 1, row, &kept->roomyoung);
    kept->young[row] = 1;
    kept->count += place == 0;
    kept->place[client] = place_at(top, row);
    return row;
}

/* Rows that follow each other in the layer that is written, and are written at once. */
struct stretch {
    char *data; /* [most] rows */
    int64_t first, n, most;
};

static weft_status flush_stretch(weft_kept *kept, kept_layer *own, struct stretch *stretch)
{
    size_t bytes = (size_t)stretch->n * kept->shape.bytes;
    stretch->n = 0;
    if (bytes == 0) return WEFT_OK;
    return kept_layer_write(own, &kept->shape, stretch->first, stretch->data, bytes,
                            kept->mem);
}

static weft_status put_row(weft_kept *kept, kept_layer *own, int64_t turn, int64_t client,
                           const real *x, struct stretch *stretch)
{
    kept_head head = {client, turn, kept_hash(&kept->shape, client, x)};
    int64_t row = row_for(kept, own, client);
    if (stretch->n == stretch->most || row != stretch->first + stretch->n)
        TRY(flush_stretch(kept, own, stretch));
    if (stretch->n == 0) stretch->first = row;
    char *to = stretch->data + (size_t)stretch->n++ * kept->shape.bytes;
    memcpy(to, &head, sizeof head);
    memcpy(to + sizeof head, x, (size_t)kept->shape.each * sizeof *x);
    kept->sum += head.hash - kept->hash[client];
    kept->hash[client] = head.hash;
    return WEFT_OK;
}

/* Writes rows as weft_kept_write does, which belong to the write `turn`. EFILE. */
static weft_status put_rows(weft_kept *kept, int64_t turn, int64_t m, const int64_t *client,
                            const real *const *row)
{
    enum { AT_ONCE = 1 << 16 }; /* bytes */
    kept_layer *own;
    need_places(kept);
    TRY(own_layer(kept, &own));
    WEFT_SCRATCH(tmp);
    struct stretch stretch = {.most = AT_ONCE / (int64_t)kept->shape.bytes + 1};
    stretch.data = WEFT_NEW(tmp, char, (size_t)stretch.most * kept->shape.bytes);
    weft_status st = WEFT_OK;
    for (int64_t i = 0; i < m && st == WEFT_OK; i++) {
        fetch_place(kept, i, m, client);
        st = put_row(kept, own, turn, client[i], row[i], &stretch);
    }
    if (st == WEFT_OK) st = flush_stretch(kept, own, &stretch);
    kept_layer_close(own);
    return st;
}

weft_status weft_kept_write(weft_kept *kept, int64_t m, const int64_t *client,
                            const real *const *row)
{
    if (m == 0) return WEFT_OK;
    weft_status st = put_rows(kept, kept->turn + 1, m, client, row);
    kept->turn++;
    return st;
}

static int is_there(const char *path)
{
    struct stat info;
    return stat(path, &info) == 0;
}

/* ---- opening ---- */

/* A version that is looked for in a layer. */
struct search {
    weft_kept *kept;
    int layer;
    int64_t last;  /* its number of writes */
    int64_t *turn; /* [rows] of the layer's rows, 0 where there is none of the version */
};

static weft_status enter_row(void *of, int64_t row, const kept_head *head)
{
    struct search *search = of;
    weft_kept *kept = search->kept;
    int64_t client = head->client;
    if (head->turn < 1 || head->turn > search->last) return WEFT_OK;
    if (client < 0 || client >= kept->shape.n)
        return kept_damaged(kept->layer[search->layer].path);
    int64_t place = kept->place[client];
    search->turn[row] = head->turn;
    if (place > 0 && layer_of(place) == search->layer &&
        search->turn[row_of(place)] > head->turn)
        return WEFT_OK;
    kept->count += place == 0;
    kept->sum += head->hash - kept->hash[client];
    kept->hash[client] = head->hash;
    kept->place[client] = place_at(search->layer, row);
    return WEFT_OK;
}

static weft_status add_layer(weft_kept *kept, const char *path, int64_t last)
{
    if (kept->nlayer == LAYERS) return kept_damaged(path);
    kept_layer *layer = &kept->layer[kept->nlayer++];
    *layer = (kept_layer){.path = weft_arena_text(kept->mem, "%s", path), .fd = -1};
    weft_status st = kept_layer_open(layer, &kept->shape, 0);
    WEFT_SCRATCH(tmp);
    struct search search = {kept, kept->nlayer - 1, last, NULL};
    if (st == WEFT_OK) {
        search.turn = WEFT_NEW(tmp, int64_t, layer->rows);
        st = kept_layer_scan(layer, &kept->shape, enter_row, &search);
    }
    kept_layer_close(layer);
    return st;
}

static void count_live(weft_kept *kept)
{
    for (int i = 0; i < kept->nlayer; i++) kept->layer[i].live = 0;
    for (int64_t c = 0; c < kept->shape.n; c++)
        if (kept->place[c] > 0) kept->layer[layer_of(kept->place[c])].live++;
}

/* Finds the version in the files of a directory. */
static weft_status find_version(weft_kept *kept, const char *dir, const double *mark)
{
    uint64_t sum;
    weft_arena *tmp = weft_arena_new();
    memcpy(&sum, &mark[0], sizeof sum);
    forget_rows(kept);
    kept->turn = (int64_t)mark[1];
    need_places(kept);
    weft_status st = WEFT_OK;
    for (int i = 0; is_there(layer_name(dir, i, tmp)) && st == WEFT_OK; i++)
        st = add_layer(kept, layer_name(dir, i, tmp), kept->turn);
    if (st == WEFT_OK && is_there(top_name(dir, tmp))) {
        st = add_layer(kept, top_name(dir, tmp), kept->turn);
        kept->own = 1;
    }
    if (st == WEFT_OK && kept->sum != sum)
        st = weft_fail(WEFT_EFILE,
                       "%s, which has what clients keep, is damaged or of another state",
                       dir);
    if (st == WEFT_OK) count_live(kept);
    weft_arena_free(tmp);
    if (st != WEFT_OK) forget_rows(kept);
    return st;
}

/* ---- going on ---- */

/* Rows that the version does not have are free. Those of later writes are marked as none,
 * so that a version of as many writes does not find them. */
struct freeing {
    weft_kept *kept;
    kept_layer *top;
    char *live; /* [rows] */
};

static weft_status free_row(void *of, int64_t row, const kept_head *head)
{
    struct freeing *freeing = of;
    if (freeing->live[row]) return WEFT_OK;
    add_to_rows(freeing->kept, &freeing->kept->spare, row);
    if (head->turn <= freeing->kept->turn) return WEFT_OK;
    const kept_head none = {0};
    return kept_layer_write(freeing->top, &freeing->kept->shape, row, &none, sizeof none,
                            freeing->kept->mem);
}

static weft_status free_rows(weft_kept *kept)
{
    WEFT_SCRATCH(tmp);
    int l = kept->nlayer - 1;
    kept_layer *top = &kept->layer[l];
    struct freeing freeing = {kept, top, WEFT_NEW(tmp, char, top->rows)};
    for (int64_t c = 0; c < kept->shape.n; c++)
        if (kept->place[c] > 0 && layer_of(kept->place[c]) == l)
            freeing.live[row_of(kept->place[c])] = 1;
    if (top->rows > 0) {
        kept->young = weft_regrow(kept->mem, kept->young, 1, top->rows, &kept->roomyoung);
        memset(kept->young, 0, (size_t)kept->roomyoung);
    }
    weft_status st = kept_layer_need(top, 1);
    if (st == WEFT_OK) st = kept_layer_scan(top, &kept->shape, free_row, &freeing);
    kept_layer_close(top);
    return st;
}

weft_status weft_kept_resume(weft_kept *kept, const double *mark)
{
    TRY(find_version(kept, kept->dir, mark));
    kept->begun = is_there(kept->dir);
    weft_status st = kept->own ? free_rows(kept) : WEFT_OK;
    if (st != WEFT_OK) forget_rows(kept);
    return st;
}

/* ---- merging ---- */

struct merging {
    weft_kept *kept;
    int layer; /* whose rows are taken */
    kept_layer *to;
    int top; /* its number */
    char *row;
};

static weft_status take_row(void *of, int64_t row, const kept_head *head)
{
    struct merging *merging = of;
    weft_kept *kept = merging->kept;
    int known = head->turn > 0 && head->client >= 0 && head->client < kept->shape.n;
    if (!known || kept->place[head->client] != place_at(merging->layer, row))
        return WEFT_OK;
    TRY(kept_layer_read(&kept->layer[merging->layer], &kept->shape, row, merging->row,
                        kept->shape.bytes));
    if (kept_hash(&kept->shape, head->client,
                  (real *)(void *)(merging->row + sizeof *head)) != head->hash)
        return kept_row_damaged(&kept->layer[merging->layer], &kept->shape, row, 1);
    TRY(kept_layer_write(merging->to, &kept->shape, merging->to->rows, merging->row,
                         kept->shape.bytes, kept->mem));
    kept->place[head->client] = place_at(merging->top, merging->to->rows++);
    return WEFT_OK;
}

/* Makes one layer of the two highest. While that is done, its number is one that no layer
 * has. */
static weft_status merge_two(weft_kept *kept)
{
    WEFT_SCRATCH(tmp);
    int below = kept->nlayer - 2;
    kept_layer *pair = &kept->layer[below];
    kept_layer to = {.path = weft_arena_text(tmp, "%s.new", pair->path), .fd = -1};
    struct merging merging = {kept, below, &to, LAYERS,
                              WEFT_NEW(tmp, char, kept->shape.bytes)};
    weft_status st = kept_layer_open(&to, &kept->shape, 1);
    for (int i = 0; i < 2 && st == WEFT_OK; i++, merging.layer++) {
        st = kept_layer_need(&pair[i], 0);
        if (st == WEFT_OK) st = kept_layer_scan(&pair[i], &kept->shape, take_row, &merging);
        kept_layer_close(&pair[i]);
    }
    kept_layer_close(&to);
    if (st == WEFT_OK && rename(to.path, pair->path) != 0)
        st = weft_fail(WEFT_EFILE, "cannot rename %s: %s; free space there", to.path,
                       strerror(errno));
    if (st == WEFT_OK) {
        unlink(pair[1].path);
        *pair =
            (kept_layer){.path = pair->path, .rows = to.rows, .live = to.rows, .fd = -1};
        kept->nlayer--;
        for (int64_t c = 0; c < kept->shape.n; c++)
            if (layer_of(kept->place[c]) == LAYERS)
                kept->place[c] = place_at(below, row_of(kept->place[c]));
    }
    return st;
}

/* Each layer is to have at least twice as many rows as the next, so that a row is moved
 * a few times only, the logarithm of their number. */
static weft_status merge_all(weft_kept *kept)
{
    while (kept->nlayer > 1 &&
           kept->layer[kept->nlayer - 2].live < 2 * kept->layer[kept->nlayer - 1].live)
        TRY(merge_two(kept));
    return WEFT_OK;
}

/* ---- sharing ---- */

/* Another name for a file, or a copy where the file system has no links. */
static weft_status share_file(const char *from, const char *to)
{
    if (link(from, to) == 0) return WEFT_OK;
    if (errno != ENOENT && errno != EEXIST) return weft_tree_copy(from, to);
    return weft_fail(WEFT_EFILE, "cannot link %s to %s: %s; free space there", from, to,
                     strerror(errno));
}

weft_status weft_kept_take(weft_kept *kept, const char *dir, const double *mark)
{
    TRY(find_version(kept, dir, mark));
    kept->own = 0;
    if (!kept->dir) return WEFT_OK;
    weft_kept from = *kept;
    const weft_kept none = {.shape = kept->shape, .mem = kept->mem, .dir = kept->dir};
    *kept = none;
    return weft_kept_copy(kept, &from);
}

static weft_status share_layers(weft_kept *to, const weft_kept *from)
{
    for (int i = 0; i < from->nlayer; i++) {
        const char *path = layer_name(to->dir, i, to->mem);
        TRY(share_file(from->layer[i].path, path));
        to->layer[i] = from->layer[i];
        to->layer[i].path = path;
        to->layer[i].fd = -1;
        to->nlayer++;
    }
    if (from->count > 0) {
        need_places(to);
        memcpy(to->place, from->place, (size_t)to->shape.n * sizeof *to->place);
        memcpy(to->hash, from->hash, (size_t)to->shape.n * sizeof *to->hash);
    }
    to->count = from->count;
    to->sum = from->sum;
    return merge_all(to);
}

enum { PORTION = 1 << 22 }; /* bytes that are copied at once */

static weft_status copy_rows(weft_kept *to, const weft_kept *from)
{
    int64_t each = to->shape.each, most = PORTION / (int64_t)to->shape.bytes + 1;
    WEFT_SCRATCH(tmp);
    int64_t *client = WEFT_NEW(tmp, int64_t, most);
    real *x = WEFT_NEW(tmp, real, most * each);
    const real **row = WEFT_NEW(tmp, const real *, most);
    weft_status st = WEFT_OK;
    for (int64_t first = 0, n; st == WEFT_OK; first = client[n - 1] + 1) {
        n = weft_kept_clients(from, first, most, client);
        if (n == 0) break;
        for (int64_t i = 0; i < n; i++) row[i] = x + i * each;
        st = weft_kept_read(from, n, client, x);
        if (st == WEFT_OK) st = put_rows(to, 1, n, client, row);
    }
    return st;
}

weft_status weft_kept_copy(weft_kept *to, const weft_kept *from)
{
    weft_check(to->shape.n == from->shape.n && to->shape.each == from->shape.each,
               "a table of %lld numbers a client for one of %lld",
               (long long)from->shape.each, (long long)to->shape.each);
    int files = to->dir && from->nlayer > 0 && from->layer[0].path;
    TRY(begin_dir(to));
    TRY(files ? share_layers(to, from) : copy_rows(to, from));
    to->turn = from->turn;
    return WEFT_OK;
}

void weft_kept_source(weft_kept *kept, int64_t m, const int64_t *client, const double *mark,
                      weft_kept_reader *read, void *of)
{
    forget_rows(kept);
    need_places(kept);
    for (int64_t i = 0; i < m; i++) {
        if (client[i] < 0 || client[i] >= kept->shape.n) continue;
        kept->count += kept->place[client[i]] == 0;
        kept->place[client[i]] = place_at(0, i);
    }
    memcpy(&kept->sum, &mark[0], sizeof *mark);
    kept->turn = (int64_t)mark[1];
    kept->read = read;
    kept->of = of;
}

/* ---- durability ---- */

static weft_status sync_path(const char *path)
{
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    int err = fd < 0 ? errno : fsync(fd) == 0 || errno == EINVAL ? 0 : errno;
    if (fd >= 0) close(fd);
    if (err == 0) return WEFT_OK;
    return weft_fail(WEFT_EFILE, "cannot write %s: %s; free space there", path,
                     strerror(err));
}

int weft_kept_files(const weft_kept *kept, const char ***path, weft_arena *mem)
{
    if (!kept->dir || !kept->begun) return 0;
    int n = 0;
    *path = WEFT_NEW(mem, const char *, kept->nlayer + 1);
    for (int i = 0; i < kept->nlayer; i++) (*path)[n++] = kept->layer[i].path;
    (*path)[n++] = kept->dir;
    return n;
}

weft_status weft_kept_sync(weft_kept *kept)
{
    if (!kept->dir) return WEFT_OK;
    if (!kept->begun) TRY(begin_dir(kept));
    for (int i = kept->synced ? kept->nlayer - 1 : 0; i < kept->nlayer; i++)
        TRY(sync_path(kept->layer[i].path));
    if (!kept->synced) TRY(sync_path(kept->dir));
    kept->synced = kept->own;
    if (kept->young) memset(kept->young, 0, (size_t)kept->roomyoung);
    return WEFT_OK;
}

void weft_kept_saved(weft_kept *kept)
{
    for (int64_t i = 0; i < kept->old.n; i++)
        add_to_rows(kept, &kept->spare, kept->old.row[i]);
    kept->old.n = 0;
}
