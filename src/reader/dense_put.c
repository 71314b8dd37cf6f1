/* Rows of a table, or images, on their way to the packer. */
#include "dense_arrays.h"

#include <string.h>

#define BLOCK_BYTES ((int64_t)1 << 22)

/* ---- rows ---- */

/* Row i in full; room[rows->d] is scratch. */
static void copy_row(const weft_dense_rows *rows, const weft_columns *columns, int64_t i,
                     double *room, double *x)
{
    if (rows->column == NULL) {
        weft_columns_features(columns, weft_dense_cells(rows, i, room), x);
        return;
    }
    memset(x, 0, (size_t)rows->d * sizeof *x);
    for (int64_t e = rows->first[i]; e < rows->first[i + 1]; e++)
        x[rows->column[e]] = rows->value[e];
}

static weft_status put_rows(const weft_dense_rows *rows, const weft_columns *columns,
                            const int64_t *order, weft_pack *pack)
{
    int64_t d = columns->features;
    int64_t block = BLOCK_BYTES / (d * (int64_t)sizeof(double));
    if (block > rows->n) block = rows->n;
    if (block < 1) block = 1;
    double *x = WEFT_NEW(pack->mem, double, block *d);
    double *room = WEFT_NEW(pack->mem, double, rows->d);
    int32_t *label = WEFT_NEW(pack->mem, int32_t, block);
    enum { AHEAD = 8 }; /* rows are anywhere in memory */
    for (int64_t start = 0; start < rows->n; start += block) {
        int64_t count = rows->n - start < block ? rows->n - start : block;
        for (int64_t i = 0; i < count; i++) {
            int64_t next = start + i + AHEAD;
            if (rows->value && !rows->column && next < rows->n)
                __builtin_prefetch(rows->value + order[next] * rows->d);
            label[i] = rows->label[order[start + i]];
            copy_row(rows, columns, order[start + i], room, x + i * d);
        }
        TRY(weft_pack_rows(pack, count, x, label));
    }
    return WEFT_OK;
}

/* The clients named in a column, one after the other. */
static weft_status put_clients(const weft_dense_rows *rows, const weft_columns *columns,
                               const weft_dense_parts *parts, weft_pack *pack)
{
    int64_t d = columns->features;
    const int64_t *order = parts->order;
    for (int64_t c = 0; c < parts->clients; c++) {
        const int64_t *count = parts->count[c];
        int64_t n = count[WEFT_TRAIN] + count[WEFT_VALID] + count[WEFT_TEST];
        weft_arena *tmp = weft_arena_new();
        double *x = WEFT_NEW(tmp, double, n *d), *room = WEFT_NEW(tmp, double, rows->d);
        int32_t *label = WEFT_NEW(tmp, int32_t, n);
        for (int64_t i = 0; i < n; i++) {
            label[i] = rows->label[order[i]];
            copy_row(rows, columns, order[i], room, x + i * d);
        }
        order += n;
        weft_status st = weft_pack_client_rows(pack, parts->name[c], count, x, label);
        weft_arena_free(tmp);
        TRY(st);
    }
    return WEFT_OK;
}

/* Hands over images in that order. */
static weft_status put_images(const weft_dense_rows *rows, weft_form form,
                              const int64_t *order, const int64_t *part,
                              const double *shift, const double *scale, weft_pack *pack)
{
    const int *image = rows->arrays->image;
    int64_t d = rows->d, block = BLOCK_BYTES / (d * (int64_t)sizeof(double));
    if (block < 1) block = 1;
    size_t size = form == WEFT_BYTES ? 1 : sizeof(double);
    char *x = weft_arena_alloc(pack->mem, (size_t)(block * d), size);
    int32_t *label = WEFT_NEW(pack->mem, int32_t, block);
    TRY(weft_pack_matrix(pack, form, d, part));
    TRY(weft_dense_numbers(rows, order, part, shift, scale, pack));
    weft_pack_image(pack, image[0], image[1], image[2]);
    for (int64_t start = 0; start < rows->n; start += block) {
        int64_t count = rows->n - start < block ? rows->n - start : block;
        for (int64_t i = 0; i < count; i++) {
            label[i] = rows->label[order[start + i]];
            weft_dense_image(rows, order[start + i], form == WEFT_BYTES,
                             x + (size_t)(i * d) * size);
        }
        TRY(weft_pack_rows(pack, count, x, label));
    }
    return WEFT_OK;
}

/* Clients with names and rows of d numbers, images where they have sides, else 0. */
static weft_clients clients_of(int64_t d, const int side[3])
{
    return (weft_clients){.d = d,
                          .channels = side[0],
                          .height = side[1],
                          .width = side[2],
                          .stride = 1,
                          .named = 1};
}

/* Hands over images to be scored of a federation, as one client without a name. */
static weft_status put_client_images(const weft_dense_rows *rows, weft_form form,
                                     weft_pack *pack)
{
    weft_clients all = clients_of(rows->d, rows->arrays->image);
    size_t size = form == WEFT_BYTES ? 1 : sizeof(double);
    char *x = weft_arena_alloc(pack->mem, (size_t)(rows->n * rows->d), size);
    for (int64_t i = 0; i < rows->n; i++)
        weft_dense_image(rows, i, form == WEFT_BYTES, x + (size_t)(i * rows->d) * size);
    TRY(weft_pack_clients(pack, form, &all));
    return weft_pack_client_rows(pack, "", (const int64_t[]){[WEFT_TEST] = rows->n}, x,
                                 rows->label);
}

/* Hands over the rows of a federation's table; side: of rows that are images, else 0. */
static weft_status put_table_clients(const weft_dense_rows *rows,
                                     const weft_columns *columns, int named,
                                     const int side[3], const weft_dense_parts *parts,
                                     weft_pack *pack)
{
    weft_clients all = clients_of(columns->features, side);
    TRY(weft_pack_clients(pack, WEFT_REALS, &all));
    weft_pack_table(pack, columns, named);
    return put_clients(rows, columns, parts, pack);
}

weft_status weft_dense_put(const weft_dense_rows *rows, const weft_columns *columns,
                           const weft_dense_parts *parts, const char *shape,
                           weft_pack *pack)
{
    int64_t d = columns->features;
    int side[3] = {0};
    if (rows->arrays && !rows->at) {
        weft_form form = weft_dense_bytes(rows) ? WEFT_BYTES : WEFT_REALS;
        return put_images(rows, form, parts->order, parts->rows, NULL, NULL, pack);
    }
    int named = rows->head.name != NULL;
    if (*shape != '\0') TRY(weft_shape_read(shape, d, side));
    if (parts->clients > 0)
        return put_table_clients(rows, columns, named, side, parts, pack);
    TRY(weft_pack_matrix(pack, WEFT_REALS, d, parts->rows));
    if (rows->at) weft_pack_table(pack, columns, named);
    TRY(weft_dense_numbers(rows, parts->order, parts->rows, NULL, NULL, pack));
    if (side[0] > 0) weft_pack_image(pack, side[0], side[1], side[2]);
    return put_rows(rows, columns, parts->order, pack);
}

/* The rows of clients, all to be scored; where no column names them, of one without a name.
 */
static weft_status scored_parts(weft_dense_rows *rows, weft_dense_parts *parts,
                                weft_pack *pack)
{
    static const char *const none[] = {""};
    const weft_split split = {.shares = WEFT_FROM_END};
    for (int64_t j = 0; rows->at && j < rows->d; j++)
        if (rows->at[j].kind == WEFT_COLUMN_CLIENT && rows->at[j].name.n > 0) {
            rows->end[WEFT_TRAIN] = rows->end[WEFT_VALID] = 0;
            return weft_dense_split(&split, rows, parts, pack);
        }
    *parts = (weft_dense_parts){
        .order = WEFT_NEW(pack->mem, int64_t, rows->n), .clients = 1, .name = none};
    parts->count = weft_arena_alloc(pack->mem, 1, sizeof *parts->count);
    for (int p = 0; p < WEFT_NPART; p++) parts->count[0][p] = p == WEFT_TEST ? rows->n : 0;
    for (int64_t i = 0; i < rows->n; i++) parts->order[i] = i;
    return WEFT_OK;
}

/* Rows to be scored of a federation, client after client. */
static weft_status put_scored_clients(const weft_dense_like *like, weft_dense_rows *rows,
                                      weft_pack *pack)
{
    weft_dense_parts parts;
    TRY(scored_parts(rows, &parts, pack));
    TRY(put_table_clients(rows, like->columns, like->named, like->side, &parts, pack));
    weft_pack_order(pack, rows->n, parts.order);
    return WEFT_OK;
}

/* EDATA: the images are none of those that were learnt. */
static weft_status check_images(const weft_dense_like *like, const char *source,
                                const weft_dense_rows *rows)
{
    const int *image = rows->arrays->image;
    int same = rows->d == like->d;
    for (int i = 0; i < 3 && like->side[0] > 0; i++) same &= image[i] == like->side[i];
    if (!same)
        return weft_fail(WEFT_EDATA,
                         "%s has images of %d x %d x %d, which are none of the %lld "
                         "numbers, or of the sides, that were learnt; shape = ... says how "
                         "they are stored",
                         source, image[0], image[1], image[2], (long long)like->d);
    if (like->form == WEFT_REALS || weft_dense_bytes(rows)) return WEFT_OK;
    return weft_fail(WEFT_EDATA,
                     "%s has images of other numbers than the bytes that were learnt; "
                     "(x * 255).round().astype('uint8') makes those of 0 .. 1 such",
                     source);
}

weft_status weft_dense_put_scored(const weft_dense_like *like, const char *source,
                                  weft_dense_rows *rows, weft_pack *pack)
{
    int64_t part[WEFT_NPART] = {[WEFT_TEST] = rows->n};
    int64_t *order = WEFT_NEW(pack->mem, int64_t, rows->n);
    for (int64_t i = 0; i < rows->n; i++) order[i] = i;
    TRY(weft_dense_like_end(like, rows));
    weft_pack_classes(pack, like->classes, like->class_name);
    weft_pack_split(pack, "all rows are to be scored");
    weft_pack_scored(pack, weft_dense_labelled(rows));
    if (!like->columns) {
        TRY(check_images(like, source, rows));
        if (like->federated) return put_client_images(rows, like->form, pack);
        return put_images(rows, like->form, order, part, like->target_shift,
                          like->target_scale, pack);
    }
    if (like->federated) return put_scored_clients(like, rows, pack);
    TRY(weft_pack_matrix(pack, WEFT_REALS, like->columns->features, part));
    weft_pack_table(pack, like->columns, like->named);
    if (like->side[0] > 0)
        weft_pack_image(pack, like->side[0], like->side[1], like->side[2]);
    TRY(weft_dense_numbers(rows, order, part, like->target_shift, like->target_scale,
                           pack));
    return put_rows(rows, like->columns, order, pack);
}
