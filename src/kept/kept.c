/* Versions of a table: opened, shared with a copy, written through. The files of a
 * directory are layer-0, layer-1 ..., which are never written again, and `top`. */
#include "weft/kept.h"
#include "table.h"
#include "weft/tree.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static const char *name_of(const char *dir, int i, weft_arena *mem)
{
    return weft_arena_text(mem, "%s/layer-%d", dir, i);
}

static const char *top_of(const char *dir, weft_arena *mem)
{
    return weft_arena_text(mem, "%s/top", dir);
}

static int is_there(const char *path)
{
    struct stat info;
    return stat(path, &info) == 0;
}

int weft_kept_look(const char *dir, int64_t *n, int64_t *each)
{
    weft_arena *tmp = weft_arena_new();
    int found = kept_layer_look(name_of(dir, 0, tmp), n, each) ||
                kept_layer_look(top_of(dir, tmp), n, each);
    weft_arena_free(tmp);
    return found;
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
    if (place > 0 && kept_layer_of(place) == search->layer &&
        search->turn[kept_row_of(place)] > head->turn)
        return WEFT_OK;
    kept->count += place == 0;
    kept->sum += head->hash - kept->hash[client];
    kept->hash[client] = head->hash;
    kept->place[client] = kept_place(search->layer, row);
    return WEFT_OK;
}

static weft_status add_layer(weft_kept *kept, const char *path, int64_t last)
{
    if (kept->nlayer == KEPT_LAYERS) return kept_damaged(path);
    kept_layer *layer = &kept->layer[kept->nlayer++];
    *layer = (kept_layer){.path = weft_arena_text(kept->mem, "%s", path), .fd = -1};
    weft_status st = kept_layer_open(layer, &kept->shape, 0);
    weft_arena *tmp = weft_arena_new();
    struct search search = {kept, kept->nlayer - 1, last, NULL};
    if (st == WEFT_OK) {
        search.turn = WEFT_NEW(tmp, int64_t, layer->rows);
        st = kept_layer_scan(layer, &kept->shape, enter_row, &search);
    }
    kept_layer_close(layer);
    weft_arena_free(tmp);
    return st;
}

static void count_live(weft_kept *kept)
{
    for (int i = 0; i < kept->nlayer; i++) kept->layer[i].live = 0;
    for (int64_t c = 0; c < kept->shape.n; c++)
        if (kept->place[c] > 0) kept->layer[kept_layer_of(kept->place[c])].live++;
}

/* Finds the version in the files of a directory. */
static weft_status find(weft_kept *kept, const char *dir, const double *mark)
{
    uint64_t sum;
    weft_arena *tmp = weft_arena_new();
    memcpy(&sum, &mark[0], sizeof sum);
    kept_forget(kept);
    kept->turn = (int64_t)mark[1];
    kept_need(kept);
    weft_status st = WEFT_OK;
    for (int i = 0; is_there(name_of(dir, i, tmp)) && st == WEFT_OK; i++)
        st = add_layer(kept, name_of(dir, i, tmp), kept->turn);
    if (st == WEFT_OK && is_there(top_of(dir, tmp))) {
        st = add_layer(kept, top_of(dir, tmp), kept->turn);
        kept->own = 1;
    }
    if (st == WEFT_OK && kept->sum != sum)
        st = weft_fail(WEFT_EFILE,
                       "%s, which has what clients keep, is damaged or of another state",
                       dir);
    if (st == WEFT_OK) count_live(kept);
    weft_arena_free(tmp);
    if (st != WEFT_OK) kept_forget(kept);
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
    kept_rows_add(freeing->kept, &freeing->kept->spare, row);
    if (head->turn <= freeing->kept->turn) return WEFT_OK;
    const kept_head none = {0};
    return kept_layer_write(freeing->top, &freeing->kept->shape, row, &none, sizeof none,
                            freeing->kept->mem);
}

static weft_status free_rows(weft_kept *kept)
{
    weft_arena *tmp = weft_arena_new();
    int l = kept->nlayer - 1;
    kept_layer *top = &kept->layer[l];
    struct freeing freeing = {kept, top, WEFT_NEW(tmp, char, top->rows)};
    for (int64_t c = 0; c < kept->shape.n; c++)
        if (kept->place[c] > 0 && kept_layer_of(kept->place[c]) == l)
            freeing.live[kept_row_of(kept->place[c])] = 1;
    if (top->rows > 0) {
        kept->young = weft_regrow(kept->mem, kept->young, 1, top->rows, &kept->roomyoung);
        memset(kept->young, 0, (size_t)kept->roomyoung);
    }
    weft_status st = kept_layer_need(top, 1);
    if (st == WEFT_OK) st = kept_layer_scan(top, &kept->shape, free_row, &freeing);
    kept_layer_close(top);
    weft_arena_free(tmp);
    return st;
}

weft_status weft_kept_resume(weft_kept *kept, const double *mark)
{
    TRY(find(kept, kept->dir, mark));
    kept->begun = is_there(kept->dir);
    weft_status st = kept->own ? free_rows(kept) : WEFT_OK;
    if (st != WEFT_OK) kept_forget(kept);
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
    if (!known || kept->place[head->client] != kept_place(merging->layer, row))
        return WEFT_OK;
    TRY(kept_layer_read(&kept->layer[merging->layer], &kept->shape, row, merging->row,
                        kept->shape.bytes));
    if (kept_hash(&kept->shape, head->client,
                  (real *)(void *)(merging->row + sizeof *head)) != head->hash)
        return kept_row_damaged(&kept->layer[merging->layer], &kept->shape, row, 1);
    TRY(kept_layer_write(merging->to, &kept->shape, merging->to->rows, merging->row,
                         kept->shape.bytes, kept->mem));
    kept->place[head->client] = kept_place(merging->top, merging->to->rows++);
    return WEFT_OK;
}

/* Makes one layer of the two highest. While that is done, its number is one that no layer
 * has. */
static weft_status merge(weft_kept *kept)
{
    weft_arena *tmp = weft_arena_new();
    int below = kept->nlayer - 2;
    kept_layer *pair = &kept->layer[below];
    kept_layer to = {.path = weft_arena_text(tmp, "%s.new", pair->path), .fd = -1};
    struct merging merging = {kept, below, &to, KEPT_LAYERS,
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
            if (kept_layer_of(kept->place[c]) == KEPT_LAYERS)
                kept->place[c] = kept_place(below, kept_row_of(kept->place[c]));
    }
    weft_arena_free(tmp);
    return st;
}

/* Each layer is to have at least twice as many rows as the next, so that a row is moved
 * a few times only, the logarithm of their number. */
static weft_status merge_all(weft_kept *kept)
{
    while (kept->nlayer > 1 &&
           kept->layer[kept->nlayer - 2].live < 2 * kept->layer[kept->nlayer - 1].live)
        TRY(merge(kept));
    return WEFT_OK;
}

/* ---- sharing ---- */

/* Another name for a file, or a copy where the file system has no links. */
static weft_status share(const char *from, const char *to)
{
    if (link(from, to) == 0) return WEFT_OK;
    if (errno != ENOENT && errno != EEXIST) return weft_tree_copy(from, to);
    return weft_fail(WEFT_EFILE, "cannot link %s to %s: %s; free space there", from, to,
                     strerror(errno));
}

weft_status weft_kept_take(weft_kept *kept, const char *dir, const double *mark)
{
    TRY(find(kept, dir, mark));
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
        const char *path = name_of(to->dir, i, to->mem);
        TRY(share(from->layer[i].path, path));
        to->layer[i] = from->layer[i];
        to->layer[i].path = path;
        to->layer[i].fd = -1;
        to->nlayer++;
    }
    if (from->count > 0) {
        kept_need(to);
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
    weft_arena *tmp = weft_arena_new();
    int64_t *client = WEFT_NEW(tmp, int64_t, most);
    real *x = WEFT_NEW(tmp, real, most * each);
    const real **row = WEFT_NEW(tmp, const real *, most);
    weft_status st = WEFT_OK;
    for (int64_t first = 0, n; st == WEFT_OK; first = client[n - 1] + 1) {
        n = weft_kept_clients(from, first, most, client);
        if (n == 0) break;
        for (int64_t i = 0; i < n; i++) row[i] = x + i * each;
        st = weft_kept_read(from, n, client, x);
        if (st == WEFT_OK) st = kept_put(to, 1, n, client, row);
    }
    weft_arena_free(tmp);
    return st;
}

weft_status weft_kept_copy(weft_kept *to, const weft_kept *from)
{
    weft_check(to->shape.n == from->shape.n && to->shape.each == from->shape.each,
               "a table of %lld numbers a client for one of %lld",
               (long long)from->shape.each, (long long)to->shape.each);
    int files = to->dir && from->nlayer > 0 && from->layer[0].path;
    TRY(kept_begin(to));
    TRY(files ? share_layers(to, from) : copy_rows(to, from));
    to->turn = from->turn;
    return WEFT_OK;
}

void weft_kept_source(weft_kept *kept, int64_t m, const int64_t *client, const double *mark,
                      weft_kept_reader *read, void *of)
{
    kept_forget(kept);
    kept_need(kept);
    for (int64_t i = 0; i < m; i++) {
        if (client[i] < 0 || client[i] >= kept->shape.n) continue;
        kept->count += kept->place[client[i]] == 0;
        kept->place[client[i]] = kept_place(0, i);
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
    if (!kept->begun) TRY(kept_begin(kept));
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
        kept_rows_add(kept, &kept->spare, kept->old.row[i]);
    kept->old.n = 0;
}
