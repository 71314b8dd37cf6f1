/* What the winner's clients keep: rows of those that were ever trained, with their numbers,
 * written and read in portions. */
#include "stored.h"

#include <string.h>

#define REAL_TYPE (sizeof(real) == 8 ? WEFT_H5_F64 : WEFT_H5_F32)

static const char group[] = "/winner/kept", client_path[] = "/winner/kept/client",
                  row_path[] = "/winner/kept/row";

enum { PORTION = 1 << 22 }; /* bytes in memory */

/* ---- writing ---- */

static weft_status put_rows(const weft_kept *kept, int64_t m, const int64_t *client,
                            weft_h5 *file)
{
    int64_t each = weft_kept_each(kept),
            most = PORTION / (each * (int64_t)sizeof(real)) + 1;
    int64_t dims[] = {m, each};
    TRY(weft_h5_make(file, row_path, REAL_TYPE, 2, dims,
                     "the turns that a client has finished, then what it keeps", "1"));
    weft_arena *tmp = weft_arena_new();
    real *x = WEFT_NEW(tmp, real, (most < m ? most : m) * each);
    weft_status st = WEFT_OK;
    for (int64_t i = 0, n; i < m && st == WEFT_OK; i += n) {
        n = m - i < most ? m - i : most;
        st = weft_kept_read(kept, n, client + i, x);
        if (st == WEFT_OK) st = weft_h5_put_rows(file, row_path, REAL_TYPE, i, n, x);
    }
    weft_arena_free(tmp);
    return st;
}

weft_status weft_stored_put(const weft_kept *kept, weft_h5 *file)
{
    if (!kept) return WEFT_OK;
    double mark[WEFT_KEPT_MARK];
    int64_t m = weft_kept_count(kept), sum;
    weft_kept_mark(kept, mark);
    memcpy(&sum, &mark[0], sizeof sum);
    weft_arena *tmp = weft_arena_new();
    int64_t *client = WEFT_NEW(tmp, int64_t, m);
    weft_kept_clients(kept, 0, m, client);
    weft_status st = weft_h5_put(file, client_path, WEFT_H5_I64, 1, &m, client, 1,
                                 "clients that were ever trained, by number", "1");
    if (st == WEFT_OK) st = weft_h5_put_long(file, group, "clients", weft_kept_n(kept));
    if (st == WEFT_OK) st = weft_h5_put_long(file, group, "numbers", weft_kept_each(kept));
    if (st == WEFT_OK) st = weft_h5_put_long(file, group, "rows", m);
    if (st == WEFT_OK)
        st =
            weft_h5_put_num(file, group, "bytes", weft_kept_bytes(m, weft_kept_each(kept)));
    if (st == WEFT_OK) st = weft_h5_put_long(file, group, "hash", sum);
    if (st == WEFT_OK) st = weft_h5_put_long(file, group, "turns", (int64_t)mark[1]);
    if (st == WEFT_OK && m > 0) st = put_rows(kept, m, client, file);
    weft_arena_free(tmp);
    return st;
}

/* ---- reading ---- */

static weft_status damaged(const char *path)
{
    return weft_fail(WEFT_EFILE,
                     "%s: what clients keep has not the rows that it should have; make the "
                     "file again",
                     path);
}

static weft_status read_clients(weft_stored *rows)
{
    int nd;
    int64_t dims[WEFT_H5_DIMS], sum, turn;
    weft_h5 *file = &rows->file;
    TRY(weft_h5_read_long(file, group, "clients", &rows->n));
    TRY(weft_h5_read_long(file, group, "numbers", &rows->each));
    TRY(weft_h5_read_long(file, group, "hash", &sum));
    TRY(weft_h5_read_long(file, group, "turns", &turn));
    memcpy(&rows->mark[0], &sum, sizeof sum);
    rows->mark[1] = (double)turn;
    TRY(weft_h5_shape(file, client_path, &nd, dims));
    rows->m = dims[0];
    if (nd != 1 || rows->m < 0 || rows->m > rows->n || rows->each < 1)
        return damaged(file->path);
    int64_t *client = WEFT_NEW(file->mem, int64_t, rows->m);
    TRY(weft_h5_read_rows(file, client_path, WEFT_H5_I64, 1, 0, rows->m, client));
    for (int64_t i = 0; i < rows->m; i++)
        if (client[i] < (i > 0 ? client[i - 1] + 1 : 0) || client[i] >= rows->n)
            return damaged(file->path);
    rows->client = client;
    if (rows->m == 0) return WEFT_OK;
    TRY(weft_h5_set_open(&rows->set, file, row_path));
    if (rows->set.nd == 2 && rows->set.dims[0] == rows->m &&
        rows->set.dims[1] == rows->each)
        return WEFT_OK;
    weft_h5_set_close(&rows->set);
    return damaged(file->path);
}

weft_status weft_stored_open(weft_stored **rows, const char *path, weft_arena *mem)
{
    weft_stored *own = WEFT_NEW(mem, weft_stored, 1);
    *rows = NULL;
    TRY(weft_h5_open(&own->file, path, mem));
    weft_status st = weft_h5_has(&own->file, client_path) ? read_clients(own)
                                                          : weft_h5_sound(&own->file);
    if (st == WEFT_OK && own->client) {
        *rows = own;
        return WEFT_OK;
    }
    weft_h5_close(&own->file);
    return st;
}

static weft_status read_rows(void *self, int64_t first, int64_t count, real *to)
{
    weft_stored *rows = self;
    return weft_h5_set_rows(&rows->set, REAL_TYPE, first, count, to);
}

void weft_stored_give(weft_stored *rows, const int64_t *client, weft_kept *kept)
{
    weft_kept_source(kept, rows->m, client ? client : rows->client, rows->mark, read_rows,
                     rows);
}

weft_kept *weft_stored_table(weft_stored *rows, weft_arena *mem)
{
    if (!rows) return NULL;
    weft_kept *kept = weft_kept_new(rows->n, rows->each, mem);
    weft_stored_give(rows, NULL, kept);
    return kept;
}

void weft_stored_close(weft_stored *rows)
{
    if (!rows || !rows->client) return;
    if (rows->m > 0) weft_h5_set_close(&rows->set);
    weft_h5_close(&rows->file);
    rows->client = NULL;
}
