/* Data other than the training data: classes and columns are matched by name, and missing
 * or unknown ones are refused. Columns that are replaced by their ranks among the training
 * rows, as by scikit-learn's QuantileTransformer with all rows and
 * output_distribution="uniform". */
#include "data.h"
#include "weft/base/base.h"
#include "weft/base/conf.h"

#include <math.h>
#include <string.h>

/* ---- names ---- */

/* Index of each of name[n] among other[m], which differ; *lacks is the first that is not
 * there, -1: none. */
static int64_t *places(const char *const *name, int64_t n, const char *const *other,
                       int64_t m, int64_t *lacks, weft_arena *mem)
{
    weft_names names = {.mem = mem};
    int64_t *place = WEFT_NEW(mem, int64_t, n);
    *lacks = -1;
    for (int64_t i = 0; i < m; i++) weft_names_find(&names, other[i]);
    for (int64_t i = n - 1; i >= 0; i--) {
        place[i] = weft_names_index(&names, name[i]);
        if (place[i] < 0) *lacks = i;
    }
    return place;
}

static int is_identity(const int64_t *place, int64_t n)
{
    int64_t i = 0;
    while (i < n && place[i] == i) i++;
    return i == n;
}

/* The first names, for messages. */
static const char *list(const char *const *name, int64_t n, weft_arena *mem)
{
    enum { SHOWN = 8 };
    const char *text = "";
    for (int64_t i = 0; i < n && i < SHOWN; i++)
        text = weft_arena_text(mem, "%s%s%s", text, i ? ", " : "", name[i]);
    return n > SHOWN ? weft_arena_text(mem, "%s ...", text) : text;
}

/* ---- ranks ---- */

/* Number j of a row, which is column `from` of the file, as in the source. */
static double source_of(const weft_data *data, int64_t from, float x)
{
    return (data->shift ? data->shift[from] : 0) +
           (data->scale ? data->scale[from] : 1) * (double)x;
}

/* Column j of all training rows, on every rank. */
static void gather_column(const weft_data *data, int64_t j, double *column)
{
    const weft_rows *rows = &data->part[WEFT_TRAIN];
    memset(column, 0, (size_t)rows->total * sizeof *column);
    for (int64_t i = 0; i < rows->n; i++)
        column[rows->first + i] = source_of(data, j, rows->value[i * rows->d + j]);
    weft_join_f64(data->team, column, (size_t)rows->total);
}

weft_ranks weft_ranks_of(const weft_data *data)
{
    const weft_rows *rows = &data->part[WEFT_TRAIN];
    int64_t d = rows->d, n = rows->total, m = n < WEFT_MOST_RANKS ? n : WEFT_MOST_RANKS;
    if (m < 2) m = 2;
    double *quantile = WEFT_NEW(data->mem, double, d *m);
    WEFT_SCRATCH(tmp);
    double *column = WEFT_NEW(tmp, double, n);
    for (int64_t j = 0; j < d; j++) {
        gather_column(data, j, column);
        if (j % data->team->size != data->team->rank) continue;
        weft_sort_f64(n, column);
        for (int64_t k = 0; k < m; k++) {
            double at = (double)k * (double)(n - 1) / (double)(m - 1), low = floor(at);
            int64_t i = (int64_t)low, next = i + 1 < n ? i + 1 : i;
            quantile[j * m + k] = column[i] + (at - low) * (column[next] - column[i]);
        }
    }
    weft_join_f64(data->team, quantile, (size_t)(d * m));
    return (weft_ranks){m, quantile};
}

/* The number of quantiles below x, or, equal 1, not above it. */
static int64_t count_below(int64_t n, const double *quantile, double x, int equal)
{
    int64_t lo = 0, hi = n;
    while (lo < hi) {
        int64_t mid = lo + (hi - lo) / 2;
        if (quantile[mid] < x || (equal && !(quantile[mid] > x)))
            lo = mid + 1;
        else
            hi = mid;
    }
    return lo;
}

static double rank_of(int64_t n, const double *quantile, double x)
{
    if (!(x > quantile[0])) return 0;
    if (!(x < quantile[n - 1])) return 1;
    int64_t first = count_below(n, quantile, x, 0), end = count_below(n, quantile, x, 1);
    double place = (double)(first + end - 1) / 2; /* the middle of equal ones */
    if (first == end)
        place = (double)(first - 1) +
                (x - quantile[first - 1]) / (quantile[first] - quantile[first - 1]);
    return place / (double)(n - 1);
}

void weft_ranks_take(weft_data *data, const weft_ranks *ranks, const int64_t *column_of)
{
    for (int p = 0; p < WEFT_NPART; p++) {
        weft_rows *rows = &data->part[p];
        int64_t d = rows->d, n = ranks->n;
        if (!rows->value) continue;
        float *to = WEFT_NEW(data->mem, float, rows->n *d);
        for (int64_t i = 0; i < rows->n; i++)
            for (int64_t j = 0; j < d; j++) {
                double x =
                    source_of(data, column_of ? column_of[j] : j, rows->value[i * d + j]);
                to[i * d + j] = (float)rank_of(n, ranks->quantile + j * n, x);
            }
        rows->value = to;
    }
    data->ranks = *ranks;
    data->shift = data->scale = NULL;
}

/* ---- classes and columns ---- */

const int32_t *weft_match_labels(const int32_t *label, int64_t n, const int32_t *class_of,
                                 weft_arena *mem)
{
    int32_t *to = WEFT_NEW(mem, int32_t, n);
    for (int64_t i = 0; i < n; i++) to[i] = class_of[label[i]];
    return to;
}

const float *weft_match_columns(const float *x, int64_t n, int64_t d,
                                const int64_t *column_of, const weft_move *move,
                                weft_arena *mem)
{
    float *to = WEFT_NEW(mem, float, n *d);
    for (int64_t i = 0; i < n; i++)
        for (int64_t j = 0; j < d; j++) {
            float own = x[i * d + (column_of ? column_of[j] : j)];
            to[i * d + j] =
                !move
                    ? own
                    : (float)(((double)own * move[j].scale + move[j].shift) / move[j].over);
        }
    return to;
}

static const uint8_t *match_bytes(const uint8_t *x, int64_t n, int64_t d,
                                  const int64_t *column_of, weft_arena *mem)
{
    uint8_t *to = WEFT_NEW(mem, uint8_t, n * d);
    for (int64_t i = 0; i < n; i++)
        for (int64_t j = 0; j < d; j++) to[i * d + j] = x[i * d + column_of[j]];
    return to;
}

/* The numbers of the classes become those that `like` has for their names. */
static weft_status match_classes(weft_data *data, const weft_likeness *like,
                                 const char *whose)
{
    int64_t lacks;
    const int64_t *place = places(data->class_name, data->classes, like->class_name,
                                  like->classes, &lacks, data->mem);
    if (lacks >= 0)
        return weft_fail(WEFT_EDATA,
                         "%s has the class '%s', which the winner of %s does not know; its "
                         "classes are %s: pack the data with those names",
                         data->path, data->class_name[lacks], whose,
                         list(like->class_name, like->classes, data->mem));
    int32_t *class_of = WEFT_NEW(data->mem, int32_t, data->classes);
    for (int i = 0; i < data->classes; i++) class_of[i] = (int32_t)place[i];
    int same = is_identity(place, data->classes);
    weft_clients *clients = data->clients ? data->clients : data->owners;
    if (clients && !same) {
        clients->own->class_of = class_of;
        clients->own->classes = data->classes;
    }
    for (int p = 0; p < WEFT_NPART && !data->clients && !same; p++)
        data->part[p].label =
            weft_match_labels(data->part[p].label, data->part[p].n, class_of, data->mem);
    data->classes = (int)like->classes;
    data->class_name = like->class_name;
    return WEFT_OK;
}

/* The targets are put in the order of `like`, and measured by its shift and scale. */
static weft_status match_targets(weft_data *data, const weft_likeness *like,
                                 const char *whose)
{
    int64_t lacks, m = like->classes;
    const int64_t *place =
        places(like->class_name, m, data->class_name, data->classes, &lacks, data->mem);
    if (lacks >= 0 || data->classes != m)
        return weft_fail(WEFT_EDATA,
                         "%s has the targets %s, but the winner of %s predicts %s",
                         data->path, list(data->class_name, data->classes, data->mem),
                         whose, list(like->class_name, m, data->mem));
    for (int p = 0; p < WEFT_NPART; p++) {
        weft_rows *rows = &data->part[p];
        double *to = WEFT_NEW(data->mem, double, rows->n *m);
        for (int64_t i = 0; i < rows->n; i++)
            for (int64_t k = 0; k < m; k++) {
                int64_t j = place[k];
                double x = rows->target[i * m + j], shift = data->target_shift[j],
                       scale = data->target_scale[j];
                int same =
                    !(shift < like->target_shift[k] || shift > like->target_shift[k] ||
                      scale < like->target_scale[k] || scale > like->target_scale[k]);
                to[i * m + k] = same ? x
                                     : (shift + scale * x - like->target_shift[k]) /
                                           like->target_scale[k];
            }
        rows->target = to;
    }
    data->class_name = like->class_name;
    data->target_shift = like->target_shift;
    data->target_scale = like->target_scale;
    return WEFT_OK;
}

static weft_status match_answers(weft_data *data, const weft_likeness *like,
                                 const char *whose)
{
    int numbers = data->target_scale != NULL;
    if (numbers != (like->target_scale != NULL))
        return weft_fail(
            WEFT_EDATA,
            "%s has %s to predict, but the winner of %s predicts %s; pack it by "
            "target = %s",
            data->path, numbers ? "numbers" : "classes", whose,
            numbers ? "classes" : "numbers", numbers ? "classes" : "regression");
    return numbers ? match_targets(data, like, whose) : match_classes(data, like, whose);
}

/* What column j, which is column `from` of the file, has to be moved by; 1: it has. */
static int find_move(const weft_data *data, const weft_likeness *like, int64_t from,
                     int64_t j, weft_move *move)
{
    double shift = data->shift ? data->shift[from] : 0,
           to = like->shift ? like->shift[j] : 0;
    *move = (weft_move){data->scale ? data->scale[from] : 1, shift - to,
                        like->scale ? like->scale[j] : 1};
    return shift < to || shift > to || move->scale < move->over || move->scale > move->over;
}

/* Of all columns; NULL where none has to be moved. */
static const weft_move *find_moves(const weft_data *data, const weft_likeness *like,
                                   const int64_t *column_of)
{
    int moves = 0;
    if (!data->shift && !like->shift) return NULL;
    weft_move *move = WEFT_NEW(data->mem, weft_move, like->d);
    for (int64_t j = 0; j < like->d; j++)
        moves |= find_move(data, like, column_of ? column_of[j] : j, j, &move[j]);
    return moves ? move : NULL;
}

/* column_of, move: NULL where columns are in order, and not moved. */
static void change_columns(weft_data *data, const int64_t *column_of, const weft_move *move)
{
    if (!column_of && !move) return;
    if (data->clients) {
        data->clients->own->column_of = column_of;
        data->clients->own->move = move;
    }
    for (int p = 0; p < WEFT_NPART && !data->clients; p++) {
        weft_rows *rows = &data->part[p];
        if (rows->byte)
            rows->byte = match_bytes(rows->byte, rows->n, rows->d, column_of, data->mem);
        if (rows->value)
            rows->value = weft_match_columns(rows->value, rows->n, rows->d, column_of, move,
                                             data->mem);
    }
}

/* *column_of: [like->d] columns of the file, NULL where they are in order. */
static weft_status order_columns(const weft_data *data, const weft_likeness *like,
                                 const char *whose, const int64_t **column_of)
{
    *column_of = NULL;
    if (!data->column_name || !like->column_name) {
        if (data->column_name || like->column_name)
            weft_log(WEFT_WARN, "%s has no names of columns: they are taken in their order",
                     data->column_name ? whose : data->path);
        return WEFT_OK;
    }
    int64_t lacks;
    const int64_t *place =
        places(like->column_name, like->d, data->column_name, like->d, &lacks, data->mem);
    if (lacks >= 0)
        return weft_fail(
            WEFT_EDATA,
            "%s has no column '%s', which the winner of %s was trained on; its "
            "columns are %s",
            data->path, like->column_name[lacks], whose,
            list(data->column_name, like->d, data->mem));
    if (!is_identity(place, like->d)) *column_of = place;
    return WEFT_OK;
}

/* The column of numbers of a table that has that name, which is likely the j-th; NULL:
 * there is none. */
static const weft_column *column_named(const weft_columns *table, const char *name,
                                       int64_t j)
{
    for (int64_t k = 0; k < table->n; k++) {
        const weft_column *column = &table->at[(j + k) % table->n];
        if (column->kind == WEFT_COLUMN_NUMBER && strcmp(column->name, name) == 0)
            return column;
    }
    return NULL;
}

/* EDATA: numbers have another unit than those that were learnt. Warns, once, of gaps that
 * are filled by the numbers of another table than the winner's. */
static weft_status check_numbers(const weft_data *data, const weft_likeness *like,
                                 const char *whose)
{
    int told = data->team->rank > 0;
    for (int64_t j = 0; data->table && like->table && j < data->table->n; j++) {
        const weft_column *own = &data->table->at[j];
        const weft_column *known = column_named(like->table, own->name, j);
        if (own->kind != WEFT_COLUMN_NUMBER || !known) continue;
        const char *is = weft_column_unit(own), *unit = weft_column_unit(known);
        if (*is != '\0' && *unit != '\0' && strcmp(unit, is) != 0)
            return weft_fail(
                WEFT_EDATA,
                "%s: column '%s' has numbers with %s, but the winner of %s was "
                "trained on some with %s; write them in that unit",
                data->path, own->name, is, whose, unit);
        if (told || own->missing == 0 || !(fabs(own->fill - known->fill) > 0)) continue;
        told = 1;
        weft_log(
            WEFT_WARN,
            "%s fills gaps of column '%s' by %g, of its own rows, where %s was trained "
            "with %g; `weft pack dense FILE like=%s` packs rows as in training",
            data->path, own->name, own->fill, whose, known->fill, whose);
    }
    return WEFT_OK;
}

static weft_status match_columns(weft_data *data, const weft_likeness *like,
                                 const char *whose)
{
    const int64_t *column_of;
    TRY(check_numbers(data, like, whose));
    TRY(order_columns(data, like, whose, &column_of));
    if (like->ranks.n > 0) {
        if (data->clients)
            return weft_fail(WEFT_EDATA,
                             "%s is a federation, but the winner of %s takes columns by "
                             "their ranks (run.scale = quantile); pack it without clients",
                             data->path, whose);
        change_columns(data, column_of, NULL);
        weft_ranks_take(data, &like->ranks, column_of);
        return WEFT_OK;
    }
    change_columns(data, column_of, find_moves(data, like, column_of));
    data->shift = like->shift;
    data->scale = like->scale;
    return WEFT_OK;
}

/* ---- the whole ---- */

weft_likeness weft_data_likeness(const weft_data *data)
{
    const weft_clients *clients = data->clients;
    return (weft_likeness){.form = data->form,
                           .d = data->part[WEFT_TRAIN].d,
                           .channels = clients ? clients->channels : data->channels,
                           .height = clients ? clients->height : data->height,
                           .width = clients ? clients->width : data->width,
                           .longest = data->longest,
                           .classes = data->classes,
                           .class_name = data->class_name,
                           .target_shift = data->target_shift,
                           .target_scale = data->target_scale,
                           .column_name = data->column_name,
                           .shift = data->shift,
                           .scale = data->scale,
                           .ranks = data->ranks,
                           .table = data->table,
                           .notation = data->notation,
                           .own = data->own};
}

weft_status data_match_shape(const weft_data *data, const weft_likeness *like,
                             const char *whose)
{
    weft_likeness own = weft_data_likeness(data);
    if (own.d != like->d && own.form == WEFT_CHARS)
        return weft_fail(WEFT_EDATA,
                         "%s has windows of %lld characters, but the winner of %s was "
                         "trained on %lld; pack it with length=%lld",
                         data->path, (long long)own.d, whose, (long long)like->d,
                         (long long)like->d);
    if (own.d != like->d)
        return weft_fail(
            WEFT_EDATA, "%s has %lld columns, but the winner of %s was trained on %lld%s",
            data->path, (long long)own.d, whose, (long long)like->d,
            !own.table || !like->table
                ? ""
                : weft_arena_text(data->mem,
                                  "; `weft pack dense FILE like=%s` packs rows "
                                  "as in training",
                                  whose));
    int images = own.channels > 0 && like->channels > 0;
    if (images && (own.channels != like->channels || own.height != like->height ||
                   own.width != like->width))
        return weft_fail(WEFT_EDATA,
                         "%s has images of %lld x %lld x %lld, but the winner of %s was "
                         "trained on %lld x %lld x %lld",
                         data->path, (long long)own.channels, (long long)own.height,
                         (long long)own.width, whose, (long long)like->channels,
                         (long long)like->height, (long long)like->width);
    return WEFT_OK;
}

/* Symbols are inputs as well as classes: they must have the same numbers. */
weft_status data_match_alphabet(weft_data *data, const weft_likeness *like,
                                const char *whose)
{
    if (data->classes != like->classes)
        return weft_fail(WEFT_EDATA,
                         "%s has an alphabet of %d symbols, but the winner of %s one of "
                         "%lld; pack both by one version of weft",
                         data->path, data->classes, whose, (long long)like->classes);
    for (int i = 0; i < data->classes; i++)
        if (strcmp(data->class_name[i], like->class_name[i]) != 0)
            return weft_fail(WEFT_EDATA,
                             "%s has '%s' for symbol %d of its alphabet, but the winner of "
                             "%s '%s'; pack both by one version of weft",
                             data->path, data->class_name[i], i, whose,
                             like->class_name[i]);
    return WEFT_OK;
}

weft_status data_match_rows(weft_data *data, const weft_likeness *like, const char *whose)
{
    TRY(match_answers(data, like, whose));
    return match_columns(data, like, whose);
}
