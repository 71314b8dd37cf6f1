/* Packed data sets: every rank opens the file and has the rows dealt to it, in the mapped
 * file, which is once in the memory of a node, whatever its teams have. */
#include "data.h"

#include <limits.h>
#include <math.h>
#include <string.h>

#define MAX_NUMBERS ((int64_t)1 << 56) /* of a part, as far as can be counted */

/* ---- opening ---- */

weft_status weft_form_read(weft_h5 *file, const char **group, weft_form *form)
{
    const char *text = "";
    *group = weft_h5_has(file, "/winner") ? "/winner" : "";
    TRY(weft_h5_find_attr(file, **group ? *group : "/", "form", &text));
    *form = weft_form_find(text);
    return WEFT_OK;
}

static weft_status check_format(weft_data *data)
{
    const char *format = "";
    TRY(weft_h5_find_attr(&data->file, "/", "format", &format));
    if (strcmp(format, WEFT_DATA_FORMAT) == 0) {
        if (weft_h5_sealed(&data->file) == WEFT_OK) return WEFT_OK;
        return data_fail(data, " has no checksums: another program changed it");
    }
    if (strncmp(format, "weft data", strlen("weft data")) == 0)
        return weft_fail(WEFT_EDATA,
                         "%s is in the format '%s' where '%s' is expected; pack it "
                         "again with this weft",
                         data->path, format, WEFT_DATA_FORMAT);
    if (*format)
        return weft_fail(WEFT_EDATA,
                         "%s is no packed data set but '%s'; name the file that weft pack "
                         "made",
                         data->path, format);
    return weft_fail(WEFT_EDATA, "%s is no packed data set; make one with weft pack",
                     data->path);
}

static weft_status read_column_names(weft_data *data)
{
    const char **name;
    int64_t listed, columns;
    if (!weft_h5_has(&data->file, "/column")) return WEFT_OK;
    TRY(weft_h5_read_long(&data->file, "/", "columns", &columns));
    TRY(weft_h5_read_texts(&data->file, "/column", &name, &listed));
    if (columns != listed)
        return data_fail(data, " has %lld columns and names %lld of them",
                         (long long)columns, (long long)listed);
    data->column_name = name;
    return WEFT_OK;
}

/* The sides of an image, if the packed file has them. */
static weft_status read_image(weft_data *data)
{
    int64_t side[3] = {0};
    static const char *const name[] = {"channels", "height", "width"};
    if (!weft_h5_has(&data->file, "/@channels")) return WEFT_OK;
    for (int i = 0; i < 3; i++) {
        TRY(weft_h5_read_long(&data->file, "/", name[i], &side[i]));
        if (side[i] < 1 || side[i] > INT_MAX)
            return data_fail(data, ": images of %s %lld", name[i], (long long)side[i]);
    }
    data->channels = (int)side[0];
    data->height = (int)side[1];
    data->width = (int)side[2];
    return WEFT_OK;
}

static weft_status read_head(weft_data *data)
{
    const char *text;
    int64_t classes, listed;
    const char **name;
    TRY(check_format(data));
    TRY(weft_h5_read_attr(&data->file, "/", "form", &text));
    weft_form f = weft_form_find(text);
    if (f == WEFT_NFORM || (f == WEFT_CHARS && !weft_federation_is(data)))
        return data_fail(
            data, " holds '%s' where bytes, reals, tokens or clients' chars are expected",
            text);
    data->form = f;
    TRY(weft_h5_read_attr(&data->file, "/", "digest", &data->digest));
    if (weft_forms[f]->open) return WEFT_OK;
    TRY(weft_h5_read_long(&data->file, "/", "classes", &classes));
    TRY(weft_h5_read_texts(&data->file, "/class", &name, &listed));
    int least = weft_h5_has(&data->file, "/target/shift") ? 1 : 2;
    if (classes < least || classes != listed || classes > INT_MAX)
        return data_fail(
            data, " speaks of %lld classes and names %lld, where two or more are needed",
            (long long)classes, (long long)listed);
    data->classes = (int)classes;
    data->class_name = name;
    TRY(weft_shifts_read(&data->file, "/target", classes, &data->target_shift,
                         &data->target_scale));
    return read_column_names(data);
}

static weft_status read_matrix(weft_data *data, int part)
{
    weft_rows *rows = &data->part[part];
    const char *name = data_name(data, part, "x");
    int nd;
    int64_t dims[4];
    TRY(weft_h5_shape(&data->file, name, &nd, dims));
    rows->d = dims[1];
    int whole = data->window.n > 0 || dims[0] == rows->total;
    if (nd != 2 || !whole || rows->d < 1 || rows->d != data->part[0].d ||
        rows->total > MAX_NUMBERS / rows->d)
        return data_fail(data, ": %s is %lld x %lld where %lld x %lld is expected", name,
                         (long long)dims[0], (long long)dims[1], (long long)rows->total,
                         (long long)data->part[0].d);
    const void *x;
    weft_h5type type = data->form == WEFT_BYTES ? WEFT_H5_U8 : WEFT_H5_F32;
    TRY(data_hold_rows(&data->file, name, type, rows->d,
                       data_window_first(data, part) + rows->first, rows->n, &x));
    if (data->form == WEFT_BYTES) {
        rows->byte = x;
        return WEFT_OK;
    }
    rows->value = x;
    return data_check_reals(data, name, rows->first, rows->n, rows->d, rows->value);
}

weft_status weft_shifts_read(weft_h5 *file, const char *group, int64_t d,
                             const double **shift, const double **scale)
{
    const double **to[] = {shift, scale};
    static const char *const key[] = {"shift", "scale"};
    *shift = *scale = NULL;
    if (!weft_h5_has(file, weft_arena_text(file->mem, "%s/shift", group))) return WEFT_OK;
    for (int k = 0; k < 2; k++) {
        const char *name = weft_arena_text(file->mem, "%s/%s", group, key[k]);
        int nd;
        int64_t dims[WEFT_H5_DIMS];
        double *value = WEFT_NEW(file->mem, double, d);
        TRY(weft_h5_shape(file, name, &nd, dims));
        int good = nd == 1 && dims[0] == d;
        if (good) TRY(weft_h5_read_rows(file, name, WEFT_H5_F64, 1, 0, d, value));
        for (int64_t j = 0; j < d && good; j++)
            good = isfinite(value[j]) && (k == 0 || value[j] > 0);
        if (!good)
            return weft_fail(WEFT_EDATA, "%s: %s is no %s of %lld columns; make it again",
                             file->path, name, key[k], (long long)d);
        *to[k] = value;
    }
    return WEFT_OK;
}

static weft_status read_source_rows(weft_data *data)
{
    int64_t n = data->part[WEFT_TEST].total;
    if (!weft_h5_has(&data->file, "/test/row")) return WEFT_OK;
    int64_t *row = WEFT_NEW(data->mem, int64_t, n);
    TRY(weft_h5_read_rows(&data->file, "/test/row", WEFT_H5_I64, 1, 0, n, row));
    for (int64_t i = 0; i < n; i++)
        if (row[i] < 0 || row[i] >= n)
            return data_fail(data, ": /test/row has %lld of %lld", (long long)row[i],
                             (long long)n);
    data->row = row;
    return WEFT_OK;
}

static weft_status open_own(weft_data *data)
{
    TRY(weft_h5_open(&data->file, data->path, data->mem));
    TRY(read_head(data));
    data->scored = weft_h5_has(&data->file, "/@scored");
    data->unlabelled = weft_h5_has(&data->file, "/@unlabelled");
    data->notation = "";
    TRY(weft_h5_find_attr(&data->file, "/", "notation", &data->notation));
    if (weft_forms[data->form]->open) return weft_h5_sound(&data->file);
    TRY(weft_columns_read(&data->file, "", &data->table));
    if (weft_federation_is(data)) {
        TRY(weft_federation_open(data));
        TRY(weft_shifts_read(&data->file, "", data->part[0].d, &data->shift, &data->scale));
        TRY(read_source_rows(data));
        return weft_h5_sound(&data->file);
    }
    for (int i = 0; i < WEFT_NPART; i++) {
        TRY(data_read_answers(data, i));
        if (data->form != WEFT_TOKENS) TRY(read_matrix(data, i));
    }
    TRY(data_read_groups(data));
    TRY(weft_shifts_read(&data->file, "", data->part[0].d, &data->shift, &data->scale));
    TRY(read_image(data));
    if (data->channels > 0 &&
        (double)data->channels * data->height * data->width != (double)data->part[0].d)
        return data_fail(data, ": images of %d x %d x %d in rows of %lld", data->channels,
                         data->height, data->width, (long long)data->part[0].d);
    if (weft_owners_are(data)) TRY(weft_owners_open(data));
    return weft_h5_sound(&data->file);
}

/* EDATA if a class has no training rows, or there are no validation rows. Collective. */
static weft_status check_classes(weft_data *data)
{
    if (data->scored || data->window.n > 0) return WEFT_OK;
    const int64_t *count = data_count_classes(data, data->mem);
    for (int i = 0; i < data->classes && !data->target_scale; i++)
        if (count[i] == 0)
            return weft_fail(WEFT_EDATA,
                             "%s: class '%s' has no training rows; check the source "
                             "and the split",
                             data->path, data->class_name[i]);
    if (data->part[WEFT_VALID].total == 0)
        return weft_fail(WEFT_EDATA,
                         "%s has no validation rows; pack it with valid = SHARE",
                         data->path);
    return WEFT_OK;
}

weft_status weft_data_sizes(const char *path, int64_t rows[WEFT_NPART], int64_t *classes,
                            weft_arena *mem)
{
    weft_data data = {.path = path, .mem = mem};
    weft_status st = weft_h5_open(&data.file, path, mem);
    if (st == WEFT_OK) st = check_format(&data);
    if (st == WEFT_OK) st = weft_h5_read_long(&data.file, "/", "classes", classes);
    int lines = st == WEFT_OK && weft_h5_has(&data.file, "/line");
    for (int p = 0; p < WEFT_NPART; p++) {
        rows[p] = 0;
        const char *name = data_name(&data, p, "label");
        if (lines) name = weft_arena_text(mem, "/line/%s", weft_part_name[p]);
        if (st == WEFT_OK && !weft_h5_has(&data.file, name))
            name = data_name(&data, p, "target");
        if (st == WEFT_OK && !weft_h5_has(&data.file, "/client") &&
            !weft_h5_has(&data.file, "/@owners") && weft_h5_has(&data.file, name))
            st = weft_h5_length(&data.file, name, &rows[p]);
    }
    weft_h5_close(&data.file);
    return st;
}

weft_status weft_data_open(weft_data *data, const char *path, weft_team *team,
                           weft_arena *mem)
{
    return weft_data_open_some(data, path, &(weft_window){0}, team, mem);
}

weft_status weft_data_open_some(weft_data *data, const char *path,
                                const weft_window *window, weft_team *team, weft_arena *mem)
{
    *data = (weft_data){.mem = mem,
                        .team = team,
                        .path = weft_arena_text(mem, "%s", path),
                        .window = *window};
    weft_status st = weft_agree(open_own(data), team);
    if (st == WEFT_OK && weft_forms[data->form]->open)
        st = weft_forms[data->form]->open(data);
    else if (st == WEFT_OK && data->clients == NULL)
        st = check_classes(data);
    if (st == WEFT_OK) data_count_rows(data);
    if (st != WEFT_OK) weft_data_close(data);
    return st;
}

weft_status weft_data_sound(const weft_data *data)
{
    return weft_h5_sound(&data->file);
}

void weft_data_bind(weft_data *data, weft_data *more)
{
    more->bound = data->bound;
    data->bound = more;
}

void weft_data_close(weft_data *data)
{
    weft_data *more = data->bound;
    data->bound = NULL;
    if (more) weft_data_close(more);
    weft_federation_close(data);
    weft_owners_close(data);
    weft_h5_close(&data->file);
}

/* ---- documents ---- */

static weft_status read_tokens(weft_data *data, int part, weft_tokenizer tok)
{
    weft_rows *rows = &data->part[part];
    const char *name = weft_token_name(data, weft_part_name[part], tok, "offset");
    int64_t *offset = WEFT_NEW(data->mem, int64_t, rows->n + 1);
    TRY(weft_h5_read_rows(&data->file, name, WEFT_H5_I64, 1,
                          data_window_first(data, part) + rows->first, rows->n + 1,
                          offset));
    int64_t start = offset[0];
    int rising = start >= 0;
    for (int64_t i = 1; i <= rows->n && rising; i++) rising = offset[i] >= offset[i - 1];
    for (int64_t i = 0; i <= rows->n && rising; i++) offset[i] -= start;
    if (!rising) return data_fail(data, ": %s does not rise", name);
    name = weft_token_name(data, weft_part_name[part], tok, "token");
    int64_t all, n = offset[rows->n];
    TRY(weft_h5_length(&data->file, name, &all));
    if (n > all - start)
        return data_fail(data, ": %s has %lld tokens where %lld are expected", name,
                         (long long)all, (long long)(start + n));
    const void *tokens;
    TRY(data_hold_rows(&data->file, name, WEFT_H5_U32, 1, start, n, &tokens));
    const uint32_t *token = tokens;
    uint32_t largest = 0;
    for (int64_t i = 0; i < n; i++) largest = token[i] > largest ? token[i] : largest;
    if (n > 0 && largest >= data->vocab[tok].n)
        return data_fail(data, ": %s has token %u of %lld", name, (unsigned)largest,
                         (long long)data->vocab[tok].n);
    rows->offset[tok] = offset;
    rows->end[tok] = offset + 1;
    rows->token[tok] = token;
    return WEFT_OK;
}

static weft_status tokens_own(weft_data *data, weft_tokenizer tok)
{
    if (data->form != WEFT_TOKENS)
        return weft_fail(WEFT_EDATA,
                         "%s holds rows of numbers where documents are needed; give "
                         "another data set or feature map",
                         data->path);
    TRY(weft_data_vocab(data, tok));
    for (int i = 0; i < WEFT_NPART; i++) TRY(read_tokens(data, i, tok));
    return WEFT_OK;
}

weft_status weft_data_tokens(weft_data *data, weft_tokenizer tok)
{
    if (data->part[WEFT_TRAIN].offset[tok] != NULL) return WEFT_OK;
    return weft_agree(tokens_own(data, tok), data->team);
}

static weft_status load_tokens(void *of, weft_tokenizer tok)
{
    return weft_data_tokens(of, tok);
}

weft_source weft_data_source(weft_data *data)
{
    return (weft_source){.form = data->form,
                         .classes = data->classes,
                         .part = data->part,
                         .vocab = data->vocab,
                         .path = data->path,
                         .team = data->team,
                         .tokens = load_tokens,
                         .of = data};
}
