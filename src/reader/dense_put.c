/* Rows of a table, or images, on their way to the packer: how they are divided, by chance,
 * in groups that stay together or within each client, rows of files for a part belonging to
 * it; targets, weights and groups; and the rows themselves. */
#include "dense.h"

#include <math.h>
#include <string.h>

#define BLOCK_BYTES ((int64_t)1 << 22)

/* How rows are divided. */
struct parts {
    weft_parts all;
    int64_t clients;
    const char *const *name; /* [clients] */
};

/* ---- how rows are divided ---- */

/* The column of that kind; -1: there is none. */
static int64_t column_of(const weft_dense_rows *rows, weft_column_kind kind)
{
    for (int64_t j = 0; rows->at && j < rows->d; j++)
        if (rows->at[j].kind == kind) return j;
    return -1;
}

/* Divides the rows by the shares, in groups or within clients if a column is of these.
 * ECONF: both are, or shares have no effect. */
static weft_status split_rows(const weft_split *split, const weft_dense_rows *rows,
                              struct parts *parts, weft_pack *pack)
{
    int64_t group = column_of(rows, WEFT_COLUMN_GROUP),
            client = column_of(rows, WEFT_COLUMN_CLIENT), of = client >= 0 ? client : group;
    int64_t n = rows->end[WEFT_TRAIN], valid = rows->end[WEFT_VALID] - n;
    int64_t *owner = WEFT_NEW(pack->mem, int64_t, of >= 0 ? rows->n : 0);
    weft_source_rows all = {
        .n = rows->n, .source = rows->labels.path, .label = rows->label, .owner = owner};
    memcpy(all.end, rows->end, sizeof all.end);
    if (group >= 0 && client >= 0)
        return weft_fail(WEFT_ECONF,
                         "group and client are both given; rows of a client are divided, "
                         "rows of a group are not: give one of them");
    if (group >= 0 && split->shares > WEFT_BY_CHANCE)
        return weft_fail(WEFT_ECONF, "group and shares are both given; groups are dealt by "
                                     "chance: leave shares out");
    for (int64_t i = 0; i < rows->n && of >= 0; i++)
        owner[i] = (int64_t)*weft_dense_cell(rows, i, of);
    if (of >= 0) all.name = rows->at[of].name.name;
    if (group >= 0) all.groups = rows->at[group].name.n;
    if (client >= 0) all.clients = rows->at[client].name.n;
    *parts = (struct parts){.clients = all.clients, .name = all.name};
    TRY(weft_divide(split, &all, &parts->all, pack));
    if (rows->n > n && client < 0)
        weft_pack_split_add(pack, "%lld valid and %lld test rows of other files",
                            (long long)valid, (long long)(rows->n - n - valid));
    return WEFT_OK;
}

/* ---- targets, weights and groups ---- */

/* value[n] of that column in the order of the rows, at distance `step`. */
static void copy_column(const weft_dense_rows *rows, const int64_t *order, int64_t j,
                        int step, double *value)
{
    for (int64_t i = 0; i < rows->n; i++)
        value[i * step] =
            rows->at ? *weft_dense_cell(rows, order[i], j) : rows->number[order[i]];
}

/* Mean and deviation of target k of the training rows. */
static weft_status standardise(const weft_dense_rows *rows,
                               const weft_pack_numbers *numbers, int k, int64_t train,
                               double *shift, double *scale)
{
    double sum = 0, square = 0;
    int varies = 0;
    for (int64_t i = 0; i < train; i++) sum += numbers->target[i * numbers->n + k];
    shift[k] = sum / (double)train;
    for (int64_t i = 0; i < train; i++) {
        double off = numbers->target[i * numbers->n + k] - shift[k];
        square += off * off;
        varies |= memcmp(&numbers->target[i * numbers->n + k], &numbers->target[k],
                         sizeof off) != 0;
    }
    scale[k] = sqrt(square / (double)train);
    if (varies && scale[k] > 0 && isfinite(scale[k])) return WEFT_OK;
    if (varies)
        return weft_fail(WEFT_EDATA,
                         "%s: the squares of the target '%s', such as %g, are no floats; "
                         "give it in another unit",
                         rows->labels.path, numbers->name[k], numbers->target[k]);
    return weft_fail(WEFT_EDATA,
                     "%s: the target '%s' is %g in all training rows, so that nothing is "
                     "to be predicted; name another label",
                     rows->labels.path, numbers->name[k], numbers->target[k]);
}

static weft_status put_targets(const weft_dense_rows *rows, const int64_t *order,
                               int64_t train, const double *shift, const double *scale,
                               weft_pack *pack)
{
    int m = rows->targets, k = 0;
    const char **name = WEFT_NEW(pack->mem, const char *, m);
    double *target = WEFT_NEW(pack->mem, double, rows->n *m),
           *mean = WEFT_NEW(pack->mem, double, m),
           *deviation = WEFT_NEW(pack->mem, double, m);
    weft_pack_numbers numbers = {.n = m, .name = name, .target = target};
    for (int64_t j = 0; k < m; j++) {
        if (rows->at && rows->at[j].kind != WEFT_COLUMN_TARGET) continue;
        name[k] = rows->at ? weft_dense_name(rows, j) : "label";
        copy_column(rows, order, j, m, target + k);
        if (!scale) TRY(standardise(rows, &numbers, k, train, mean, deviation));
        for (int64_t i = 0; i < rows->n && scale; i++)
            if (isnan(target[i * m + k])) target[i * m + k] = shift[k];
        k++;
    }
    numbers.shift = scale ? shift : mean;
    numbers.scale = scale ? scale : deviation;
    return weft_pack_targets(pack, &numbers);
}

static void put_groups(const weft_dense_rows *rows, const int64_t *order, int64_t j,
                       weft_pack *pack)
{
    int32_t *group = WEFT_NEW(pack->mem, int32_t, rows->n);
    for (int64_t i = 0; i < rows->n; i++)
        group[i] = (int32_t)*weft_dense_cell(rows, order[i], j);
    weft_pack_groups(pack, rows->at[j].name.n, group);
}

/* Tells the packer targets, weights and groups, if any, of the rows in that order, of which
 * the first part[WEFT_TRAIN] are for training. shift, scale: [targets] NULL: mean and
 * deviation of the training rows. EDATA: a target is the same in all of these. */
static weft_status put_numbers(const weft_dense_rows *rows, const int64_t *order,
                               const int64_t *part, const double *shift,
                               const double *scale, weft_pack *pack)
{
    if (rows->targets > 0)
        TRY(put_targets(rows, order, part[WEFT_TRAIN], shift, scale, pack));
    for (int64_t j = 0; rows->at && j < rows->d; j++) {
        weft_column_kind kind = rows->at[j].kind;
        if (kind == WEFT_COLUMN_GROUP) put_groups(rows, order, j, pack);
        if (kind != WEFT_COLUMN_WEIGHT) continue;
        double *weight = WEFT_NEW(pack->mem, double, rows->n);
        copy_column(rows, order, j, 1, weight);
        TRY(weft_pack_weights(pack, weight));
    }
    return WEFT_OK;
}

/* 1: all rows have a label, or all their targets. */
static int all_labelled(const weft_dense_rows *rows)
{
    int all = rows->at || rows->targets == 0 || rows->answer->seen.numbers == rows->n;
    for (int i = 0; i < rows->labels.n && rows->targets == 0; i++)
        all = all && *rows->labels.name[i] != '\0';
    for (int64_t j = 0; rows->at && j < rows->d && rows->targets > 0; j++)
        if (rows->at[j].kind == WEFT_COLUMN_TARGET)
            all = all && rows->at[j].seen.numbers == rows->n;
    return all;
}

/* ---- rows ---- */

/* What is handed over of the rows. */
struct samples {
    const weft_dense_rows *rows;
    const weft_columns *columns; /* NULL: of libsvm, or images */
    int named;                   /* 1: columns have names */
    weft_form form;
    int64_t d;   /* numbers of each */
    int side[3]; /* channels, height, width; 0: no images */
};

/* Bytes of a number. */
static size_t size_of(const struct samples *samples)
{
    return samples->form == WEFT_BYTES ? 1 : sizeof(double);
}

/* A row in full. */
static void copy_row(const struct samples *samples, int64_t row, void *x)
{
    const weft_dense_rows *rows = samples->rows;
    const weft_dense_sparse *sparse = &rows->sparse;
    if (samples->columns) {
        weft_columns_features(samples->columns, weft_dense_cell(rows, row, 0), x);
    } else if (rows->arrays) {
        weft_dense_image(rows, row, samples->form == WEFT_BYTES, x);
    } else {
        double *to = x;
        memset(to, 0, (size_t)rows->d * sizeof *to);
        for (int64_t e = sparse->first[row]; e < sparse->first[row + 1]; e++)
            to[sparse->column[e]] = sparse->value[e];
    }
}

/* Rows order[n] and their labels; memory behind order[n] is read for more rows. */
static void copy_rows(const struct samples *samples, const int64_t *order, int64_t n,
                      char *x, int32_t *label)
{
    enum { AHEAD = 8 }; /* rows are anywhere in memory */
    const weft_dense_rows *rows = samples->rows;
    size_t bytes = (size_t)samples->d * size_of(samples);
    for (int64_t i = 0; i < n; i++, x += bytes) {
        if (rows->value && i + AHEAD < n)
            __builtin_prefetch(rows->value + order[i + AHEAD] * rows->d);
        label[i] = rows->label[order[i]];
        copy_row(samples, order[i], x);
    }
}

static weft_status put_rows(const struct samples *samples, const int64_t *order,
                            weft_pack *pack)
{
    int64_t n = samples->rows->n;
    int64_t block = BLOCK_BYTES / (samples->d * (int64_t)sizeof(double));
    if (block > n) block = n;
    if (block < 1) block = 1;
    char *x = weft_arena_alloc(pack->mem, (size_t)(block * samples->d), size_of(samples));
    int32_t *label = WEFT_NEW(pack->mem, int32_t, block);
    for (int64_t start = 0; start < n; start += block) {
        int64_t count = n - start < block ? n - start : block;
        copy_rows(samples, order + start, count, x, label);
        TRY(weft_pack_rows(pack, count, x, label));
    }
    return WEFT_OK;
}

/* The rows of clients, one after the other. */
static weft_status put_clients(const struct samples *samples, const struct parts *parts,
                               weft_pack *pack)
{
    weft_clients all = {.d = samples->d,
                        .channels = samples->side[0],
                        .height = samples->side[1],
                        .width = samples->side[2],
                        .stride = 1,
                        .named = 1};
    TRY(weft_pack_clients(pack, samples->form, &all));
    if (samples->columns) weft_pack_table(pack, samples->columns, samples->named);
    const int64_t *order = parts->all.order;
    for (int64_t c = 0; c < parts->clients; c++) {
        const int64_t *count = parts->all.count[c];
        int64_t n = count[WEFT_TRAIN] + count[WEFT_VALID] + count[WEFT_TEST];
        weft_arena *tmp = weft_arena_new();
        char *x = weft_arena_alloc(tmp, (size_t)(n * samples->d), size_of(samples));
        int32_t *label = WEFT_NEW(tmp, int32_t, n);
        copy_rows(samples, order, n, x, label);
        order += n;
        weft_status st = weft_pack_client_rows(pack, parts->name[c], count, x, label);
        weft_arena_free(tmp);
        TRY(st);
    }
    return WEFT_OK;
}

/* Hands over all. shift, scale: as put_numbers. */
static weft_status put_all(const struct samples *samples, const struct parts *parts,
                           const double *shift, const double *scale, weft_pack *pack)
{
    const int *side = samples->side;
    const weft_parts *all = &parts->all;
    if (parts->clients > 0) return put_clients(samples, parts, pack);
    TRY(weft_pack_matrix(pack, samples->form, samples->d, all->rows));
    if (samples->columns) weft_pack_table(pack, samples->columns, samples->named);
    TRY(put_numbers(samples->rows, all->order, all->rows, shift, scale, pack));
    if (side[0] > 0) weft_pack_image(pack, side[0], side[1], side[2]);
    return put_rows(samples, all->order, pack);
}

weft_status weft_dense_put(const weft_split *split, const weft_csv *how,
                           weft_dense_rows *rows, const char *shape, weft_pack *pack)
{
    struct parts parts;
    struct samples samples = {
        .rows = rows, .named = rows->head.name != NULL, .form = WEFT_REALS, .d = rows->d};
    weft_csv csv = *how;
    csv.whole = *shape != '\0';
    TRY(split_rows(split, rows, &parts, pack));
    if (rows->at) {
        weft_columns *columns = WEFT_NEW(pack->mem, weft_columns, 1);
        TRY(weft_dense_fit(&csv, rows, parts.all.part, parts.all.rows[WEFT_TRAIN],
                           columns));
        samples.columns = columns;
        samples.d = columns->features;
    }
    weft_dense_tell(&csv, rows, pack);
    if (rows->image[0] > 0) {
        memcpy(samples.side, rows->image, sizeof samples.side);
        if (weft_dense_bytes(rows)) samples.form = WEFT_BYTES;
    } else if (csv.whole) {
        TRY(weft_shape_read(shape, samples.d, samples.side));
    }
    return put_all(&samples, &parts, NULL, NULL, pack);
}

/* ---- rows to be scored ---- */

/* All rows for the test, in the order of the file; those of a federation by client, or of
 * one without a name where no column names them. */
static weft_status scored_parts(int federated, weft_dense_rows *rows, struct parts *parts,
                                weft_pack *pack)
{
    static const char *const none[] = {""};
    const weft_split split = {.shares = WEFT_FROM_END};
    int64_t client = column_of(rows, WEFT_COLUMN_CLIENT);
    if (federated && client >= 0 && rows->at[client].name.n > 0) {
        rows->end[WEFT_TRAIN] = rows->end[WEFT_VALID] = 0;
        return split_rows(&split, rows, parts, pack);
    }
    *parts = (struct parts){.all = {.order = WEFT_NEW(pack->mem, int64_t, rows->n),
                                    .rows = {[WEFT_TEST] = rows->n}},
                            .clients = federated,
                            .name = none};
    parts->all.count = weft_arena_alloc(pack->mem, 1, sizeof *parts->all.count);
    parts->all.count[0][WEFT_TEST] = rows->n;
    for (int64_t i = 0; i < rows->n; i++) parts->all.order[i] = i;
    return WEFT_OK;
}

/* EDATA: the images are none of those that were learnt. */
static weft_status check_images(const weft_dense_like *like, const char *source,
                                const weft_dense_rows *rows)
{
    const int *image = rows->image;
    int same = rows->d == like->d;
    for (int i = 0; i < 3 && like->side[0] > 0; i++) same &= image[i] == like->side[i];
    if (!same)
        return weft_fail(
            WEFT_EDATA,
            "%s has images of %d x %d x %d, which are none of the %lld numbers, or of the "
            "sides, that were learnt; shape = ... says how they are stored",
            source, image[0], image[1], image[2], (long long)like->d);
    if (like->form == WEFT_REALS || weft_dense_bytes(rows)) return WEFT_OK;
    return weft_fail(WEFT_EDATA,
                     "%s has images of other numbers than the bytes that were learnt; (x * "
                     "255).round().astype('uint8') makes those of 0 .. 1 such",
                     source);
}

weft_status weft_dense_put_scored(const weft_dense_like *like, const char *source,
                                  weft_dense_rows *rows, weft_pack *pack)
{
    struct parts parts;
    struct samples samples = {.rows = rows,
                              .columns = like->columns,
                              .named = like->named,
                              .form = like->columns ? WEFT_REALS : like->form};
    TRY(weft_dense_like_end(like, rows));
    weft_pack_classes(pack, like->classes, like->class_name);
    weft_pack_split(pack, "all rows are to be scored");
    weft_pack_scored(pack, all_labelled(rows));
    if (!like->columns) TRY(check_images(like, source, rows));
    samples.d = like->columns ? like->columns->features : rows->d;
    memcpy(samples.side, like->columns ? like->side : rows->image, sizeof samples.side);
    TRY(scored_parts(like->federated, rows, &parts, pack));
    TRY(put_all(&samples, &parts, like->target_shift, like->target_scale, pack));
    if (like->federated && like->columns) weft_pack_order(pack, rows->n, parts.all.order);
    return WEFT_OK;
}
