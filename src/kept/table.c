/* Rows of clients in layers: where each is, reading and writing. A row of the layer that is
 * written is overwritten in place only if the last synced version does not have it; else
 * another row is taken, and the old one is free once that version is not needed. */
#include "table.h"
#include "weft/tree.h"

#include <errno.h>
#include <string.h>
#include <sys/stat.h>

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

void kept_need(weft_kept *kept)
{
    if (kept->place) return;
    kept->place = WEFT_NEW(kept->mem, int64_t, kept->shape.n);
    kept->hash = WEFT_NEW(kept->mem, uint64_t, kept->shape.n);
}

void kept_forget(weft_kept *kept)
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

weft_status kept_begin(weft_kept *kept)
{
    kept_forget(kept);
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

void kept_rows_add(weft_kept *kept, kept_rows *list, int64_t row)
{
    list->row = weft_regrow(kept->mem, list->row, sizeof *list->row, list->n, &list->room);
    list->row[list->n++] = row;
}

/* The layer that is written. */
static weft_status own_layer(weft_kept *kept, kept_layer **own)
{
    if (kept->dir && !kept->begun) TRY(kept_begin(kept));
    if (!kept->own) {
        kept_layer *layer = &kept->layer[kept->nlayer];
        weft_check(kept->nlayer < KEPT_LAYERS && !kept->read, "too many layers");
        *layer = (kept_layer){.fd = -1};
        if (kept->dir) {
            layer->path = weft_arena_text(kept->mem, "%s/top", kept->dir);
            TRY(kept_layer_open(layer, &kept->shape, 1));
        }
        kept->nlayer++;
        kept->own = 1;
    }
    *own = &kept->layer[kept->nlayer - 1];
    return kept_layer_need(*own, 1);
}

/* Fetches where the row is of a client that is soon to come. */
static void fetch(const weft_kept *kept, int64_t i, int64_t m, const int64_t *client)
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
            TRY(kept->read(kept->of, kept_row_of(place), n, to + i * each));
        else
            memset(to + i * each, 0, (size_t)each * sizeof *to);
    }
    return WEFT_OK;
}

static weft_status read_row(const weft_kept *kept, kept_layer *layer, int64_t client,
                            char *row, real *to)
{
    kept_head head;
    int64_t at = kept_row_of(kept->place[client]);
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
    weft_arena *tmp = weft_arena_new();
    char *row = WEFT_NEW(tmp, char, kept->shape.bytes);
    kept_layer layer[KEPT_LAYERS];
    memcpy(layer, kept->layer, (size_t)kept->nlayer * sizeof *layer);
    weft_status st = WEFT_OK;
    for (int64_t i = 0; i < m && st == WEFT_OK; i++) {
        int64_t place = kept->place[client[i]];
        fetch(kept, i, m, client);
        if (place > 0)
            st =
                read_row(kept, &layer[kept_layer_of(place)], client[i], row, to + i * each);
        else
            memset(to + i * each, 0, bytes);
    }
    for (int l = 0; l < kept->nlayer; l++) kept_layer_close(&layer[l]);
    weft_arena_free(tmp);
    return st;
}

/* ---- writing ---- */

/* The row that a client's numbers are written to. */
static int64_t row_for(weft_kept *kept, kept_layer *own, int64_t client)
{
    int64_t place = kept->place[client], row = kept_row_of(place);
    int top = kept->nlayer - 1, here = place > 0 && kept_layer_of(place) == top;
    if (here && (!own->path || kept->young[row])) return row;
    if (here) kept_rows_add(kept, &kept->old, row);
    if (place > 0) kept->layer[kept_layer_of(place)].live--;
    own->live++;
    row = kept->spare.n > 0 ? kept->spare.row[--kept->spare.n] : own->rows++;
    kept->young = weft_regrow(kept->mem, kept->young, 1, row, &kept->roomyoung);
    kept->young[row] = 1;
    kept->count += place == 0;
    kept->place[client] = kept_place(top, row);
    return row;
}

/* Rows that follow each other in the layer that is written, and are written at once. */
struct stretch {
    char *data; /* [most] rows */
    int64_t first, n, most;
};

static weft_status flush(weft_kept *kept, kept_layer *own, struct stretch *stretch)
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
        TRY(flush(kept, own, stretch));
    if (stretch->n == 0) stretch->first = row;
    char *to = stretch->data + (size_t)stretch->n++ * kept->shape.bytes;
    memcpy(to, &head, sizeof head);
    memcpy(to + sizeof head, x, (size_t)kept->shape.each * sizeof *x);
    kept->sum += head.hash - kept->hash[client];
    kept->hash[client] = head.hash;
    return WEFT_OK;
}

weft_status kept_put(weft_kept *kept, int64_t turn, int64_t m, const int64_t *client,
                     const real *const *row)
{
    enum { AT_ONCE = 1 << 16 }; /* bytes */
    kept_layer *own;
    kept_need(kept);
    TRY(own_layer(kept, &own));
    weft_arena *tmp = weft_arena_new();
    struct stretch stretch = {.most = AT_ONCE / (int64_t)kept->shape.bytes + 1};
    stretch.data = WEFT_NEW(tmp, char, (size_t)stretch.most * kept->shape.bytes);
    weft_status st = WEFT_OK;
    for (int64_t i = 0; i < m && st == WEFT_OK; i++) {
        fetch(kept, i, m, client);
        st = put_row(kept, own, turn, client[i], row[i], &stretch);
    }
    if (st == WEFT_OK) st = flush(kept, own, &stretch);
    kept_layer_close(own);
    weft_arena_free(tmp);
    return st;
}

weft_status weft_kept_write(weft_kept *kept, int64_t m, const int64_t *client,
                            const real *const *row)
{
    if (m == 0) return WEFT_OK;
    weft_status st = kept_put(kept, kept->turn + 1, m, client, row);
    kept->turn++;
    return st;
}
