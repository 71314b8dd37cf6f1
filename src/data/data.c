/* Packed data sets: every rank opens the file and has the rows dealt to it, in the mapped
 * file, which is once in the memory of a node, whatever its teams have. */
#include "federation.h"

#include <limits.h>
#include <math.h>
#include <string.h>

#define MAX_NUMBERS ((int64_t)1 << 56) /* of a part, as far as can be counted */

const char *const weft_part_name[WEFT_NPART] = {"train", "valid", "test"};
const char *const weft_form_name[WEFT_NFORM] = {"bytes", "reals", "tokens", "chars"};

static const char *name_of(weft_data *d, int part, const char *what)
{
    return weft_arena_text(d->mem, "/%s/%s", weft_part_name[part], what);
}

static const char *token_name(weft_data *d, const char *group, int tok, const char *what)
{
    return weft_arena_text(d->mem, "/%s/%s/%s", group, weft_tok_name[tok], what);
}

/* ---- opening ---- */

static weft_status check_format(weft_data *d)
{
    const char *format = "";
    if (weft_h5_has(&d->file, "/@format"))
        TRY(weft_h5_read_attr(&d->file, "/", "format", &format));
    if (strcmp(format, WEFT_DATA_FORMAT) == 0) {
        if (weft_h5_sealed(&d->file) == WEFT_OK) return WEFT_OK;
        return weft_fail(WEFT_EDATA,
                         "%s has no checksums: another program changed it; pack it again",
                         d->path);
    }
    if (strncmp(format, "weft data", strlen("weft data")) == 0)
        return weft_fail(WEFT_EDATA,
                         "%s is in the format '%s' where '%s' is expected; pack it "
                         "again with this weft",
                         d->path, format, WEFT_DATA_FORMAT);
    return weft_fail(WEFT_EDATA, "%s is no packed data set; make one with weft pack",
                     d->path);
}

static weft_status read_column_names(weft_data *d)
{
    const char **name;
    int64_t listed, columns;
    if (!weft_h5_has(&d->file, "/column")) return WEFT_OK;
    TRY(weft_h5_read_long(&d->file, "/", "columns", &columns));
    TRY(weft_h5_read_texts(&d->file, "/column", &name, &listed));
    if (columns != listed)
        return weft_fail(WEFT_EDATA,
                         "%s has %lld columns and names %lld of them; pack it again",
                         d->path, (long long)columns, (long long)listed);
    d->column_name = name;
    return WEFT_OK;
}

/* The sides of an image, if the packed file has them. */
static weft_status read_image(weft_data *d)
{
    int64_t side[3] = {0};
    static const char *const name[] = {"channels", "height", "width"};
    if (!weft_h5_has(&d->file, "/@channels")) return WEFT_OK;
    for (int i = 0; i < 3; i++) {
        TRY(weft_h5_read_long(&d->file, "/", name[i], &side[i]));
        if (side[i] < 1 || side[i] > INT_MAX)
            return weft_fail(WEFT_EDATA, "%s: images of %s %lld; pack it again", d->path,
                             name[i], (long long)side[i]);
    }
    d->channels = (int)side[0];
    d->height = (int)side[1];
    d->width = (int)side[2];
    return WEFT_OK;
}

static weft_status read_head(weft_data *d)
{
    const char *text;
    int64_t classes, listed;
    const char **name;
    TRY(check_format(d));
    TRY(weft_h5_read_attr(&d->file, "/", "form", &text));
    int f = 0;
    while (f < WEFT_NFORM && strcmp(text, weft_form_name[f]) != 0) f++;
    if (f == WEFT_NFORM || (f == WEFT_CHARS && !weft_federation_is(d)))
        return weft_fail(WEFT_EDATA,
                         "%s holds '%s' where bytes, reals, tokens or clients' chars are "
                         "expected; "
                         "pack it again",
                         d->path, text);
    d->form = (weft_form)f;
    TRY(weft_h5_read_attr(&d->file, "/", "digest", &d->digest));
    TRY(weft_h5_read_long(&d->file, "/", "classes", &classes));
    TRY(weft_h5_read_texts(&d->file, "/class", &name, &listed));
    if (classes < 2 || classes != listed || classes > INT_MAX)
        return weft_fail(WEFT_EDATA,
                         "%s speaks of %lld classes and names %lld, where two or more "
                         "are needed; pack it again",
                         d->path, (long long)classes, (long long)listed);
    d->classes = (int)classes;
    d->class_name = name;
    return read_column_names(d);
}

static weft_status read_labels(weft_data *d, int part)
{
    weft_rows *r = &d->part[part];
    const char *name = name_of(d, part, "label");
    int nd;
    int64_t dims[4];
    TRY(weft_h5_shape(&d->file, name, &nd, dims));
    r->total = dims[0];
    weft_deal(r->total, d->team->rank, d->team->size, &r->first, &r->n);
    int32_t *label = WEFT_NEW(d->mem, int32_t, r->n);
    TRY(weft_h5_read_rows(&d->file, name, WEFT_H5_I32, 1, r->first, r->n, label));
    for (int64_t i = 0; i < r->n; i++)
        if (label[i] < 0 || label[i] >= d->classes)
            return weft_fail(
                WEFT_EDATA, "%s: row %lld of %s has class %d of %d; pack it again", d->path,
                (long long)(r->first + i), name, (int)label[i], d->classes);
    r->label = label;
    return WEFT_OK;
}

static weft_status check_reals(const weft_data *d, int part, const float *x)
{
    const weft_rows *r = &d->part[part];
    int64_t i = weft_not_finite(x, r->n * r->d);
    if (i == r->n * r->d) return WEFT_OK;
    return weft_fail(WEFT_EDATA,
                     "%s: row %lld, column %lld of /%s/x is %g where a finite "
                     "number is expected; mend the source and pack it again",
                     d->path, (long long)(r->first + i / r->d), (long long)(i % r->d),
                     weft_part_name[part], (double)x[i]);
}

/* Rows of a dataset, in the mapped file or read, which refuses those of another width. */
static weft_status have_rows(weft_data *d, const char *name, weft_h5type type,
                             int64_t width, int64_t first, int64_t n, const void **rows)
{
    int nd;
    int64_t dims[WEFT_H5_DIMS];
    *rows = NULL;
    TRY(weft_h5_shape(&d->file, name, &nd, dims));
    if (nd <= 2 && dims[1] == width)
        TRY(weft_h5_map_part(&d->file, name, type, first, n, rows));
    if (*rows) return WEFT_OK;
    void *own = weft_arena_alloc(d->mem, (size_t)(n * width), weft_h5_size(type));
    *rows = own;
    return weft_h5_read_rows(&d->file, name, type, width, first, n, own);
}

static weft_status read_matrix(weft_data *d, int part)
{
    weft_rows *r = &d->part[part];
    const char *name = name_of(d, part, "x");
    int nd;
    int64_t dims[4];
    TRY(weft_h5_shape(&d->file, name, &nd, dims));
    r->d = dims[1];
    if (nd != 2 || dims[0] != r->total || r->d < 1 || r->d != d->part[0].d ||
        r->total > MAX_NUMBERS / r->d)
        return weft_fail(WEFT_EDATA,
                         "%s: %s is %lld x %lld where %lld x %lld is expected; pack "
                         "it again",
                         d->path, name, (long long)dims[0], (long long)dims[1],
                         (long long)r->total, (long long)d->part[0].d);
    const void *x;
    weft_h5type type = d->form == WEFT_BYTES ? WEFT_H5_U8 : WEFT_H5_F32;
    TRY(have_rows(d, name, type, r->d, r->first, r->n, &x));
    if (d->form == WEFT_BYTES) {
        r->byte = x;
        return WEFT_OK;
    }
    r->value = x;
    return check_reals(d, part, r->value);
}

weft_status weft_shifts_read(weft_h5 *f, const char *group, int64_t d, const double **shift,
                             const double **scale)
{
    const double **to[] = {shift, scale};
    static const char *const key[] = {"shift", "scale"};
    *shift = *scale = NULL;
    if (!weft_h5_has(f, weft_arena_text(f->mem, "%s/shift", group))) return WEFT_OK;
    for (int k = 0; k < 2; k++) {
        const char *name = weft_arena_text(f->mem, "%s/%s", group, key[k]);
        int nd;
        int64_t dims[WEFT_H5_DIMS];
        double *value = WEFT_NEW(f->mem, double, d);
        TRY(weft_h5_shape(f, name, &nd, dims));
        int good = nd == 1 && dims[0] == d;
        if (good) TRY(weft_h5_read_rows(f, name, WEFT_H5_F64, 1, 0, d, value));
        for (int64_t j = 0; j < d && good; j++)
            good = isfinite(value[j]) && (k == 0 || value[j] > 0);
        if (!good)
            return weft_fail(WEFT_EDATA, "%s: %s is no %s of %lld columns; make it again",
                             f->path, name, key[k], (long long)d);
        *to[k] = value;
    }
    return WEFT_OK;
}

static weft_status open_own(weft_data *d)
{
    TRY(weft_h5_open(&d->file, d->path, d->mem));
    TRY(read_head(d));
    if (weft_federation_is(d)) {
        TRY(weft_federation_open(d));
        TRY(weft_shifts_read(&d->file, "", d->part[0].d, &d->shift, &d->scale));
        return weft_h5_sound(&d->file);
    }
    for (int i = 0; i < WEFT_NPART; i++) {
        TRY(read_labels(d, i));
        if (d->form != WEFT_TOKENS) TRY(read_matrix(d, i));
    }
    TRY(weft_shifts_read(&d->file, "", d->part[0].d, &d->shift, &d->scale));
    TRY(read_image(d));
    if (d->channels > 0 &&
        (double)d->channels * d->height * d->width != (double)d->part[0].d)
        return weft_fail(
            WEFT_EDATA, "%s: images of %d x %d x %d in rows of %lld; pack it again",
            d->path, d->channels, d->height, d->width, (long long)d->part[0].d);
    if (weft_owners_are(d)) TRY(weft_owners_open(d));
    return weft_h5_sound(&d->file);
}

/* EDATA if a class has no training rows, or there are no validation rows. Collective. */
static weft_status check_classes(weft_data *d)
{
    const weft_rows *r = &d->part[WEFT_TRAIN];
    int64_t *count = WEFT_NEW(d->mem, int64_t, d->classes);
    for (int64_t i = 0; i < r->n; i++) count[r->label[i]]++;
    weft_sum_i64(d->team, count, (size_t)d->classes);
    for (int i = 0; i < d->classes; i++)
        if (count[i] == 0)
            return weft_fail(WEFT_EDATA,
                             "%s: class '%s' has no training rows; check the source "
                             "and the split",
                             d->path, d->class_name[i]);
    if (d->part[WEFT_VALID].total == 0)
        return weft_fail(WEFT_EDATA,
                         "%s has no validation rows; pack it with valid = SHARE", d->path);
    return WEFT_OK;
}

weft_status weft_data_open(weft_data *d, const char *path, weft_team *t, weft_arena *mem)
{
    *d = (weft_data){.mem = mem, .team = t, .path = weft_arena_text(mem, "%s", path)};
    weft_status st = weft_agree(open_own(d), t);
    if (st == WEFT_OK && d->clients == NULL) st = check_classes(d);
    if (st != WEFT_OK) weft_data_close(d);
    return st;
}

weft_status weft_data_sound(const weft_data *d)
{
    return weft_h5_sound(&d->file);
}

void weft_data_bind(weft_data *d, weft_data *more)
{
    more->bound = d->bound;
    d->bound = more;
}

void weft_data_close(weft_data *d)
{
    weft_data *more = d->bound;
    d->bound = NULL;
    if (more) weft_data_close(more);
    weft_federation_close(d);
    weft_owners_close(d);
    weft_h5_close(&d->file);
}

/* ---- documents ---- */

weft_status weft_data_vocab(weft_data *d, weft_tokenizer tok)
{
    const char *name = token_name(d, "vocab", tok, "hash");
    int nd;
    int64_t dims[4];
    TRY(weft_h5_shape(&d->file, name, &nd, dims));
    int64_t n = dims[0];
    uint64_t *hash = WEFT_NEW(d->mem, uint64_t, n), *lower = WEFT_NEW(d->mem, uint64_t, n);
    uint8_t *stop = WEFT_NEW(d->mem, uint8_t, n);
    TRY(weft_h5_read_rows(&d->file, name, WEFT_H5_U64, 1, 0, n, hash));
    TRY(weft_h5_read_rows(&d->file, token_name(d, "vocab", tok, "lower"), WEFT_H5_U64, 1, 0,
                          n, lower));
    TRY(weft_h5_read_rows(&d->file, token_name(d, "vocab", tok, "stop"), WEFT_H5_U8, 1, 0,
                          n, stop));
    d->vocab[tok] = (weft_vocab){.n = n, .hash = hash, .lower = lower, .stop = stop};
    return WEFT_OK;
}

weft_status weft_data_words(weft_data *d, weft_tokenizer tok)
{
    weft_vocab *v = &d->vocab[tok];
    int64_t *count = WEFT_NEW(d->mem, int64_t, v->n);
    TRY(weft_vocab_words(v, &d->file,
                         weft_arena_text(d->mem, "/vocab/%s", weft_tok_name[tok])));
    TRY(weft_h5_read_rows(&d->file, token_name(d, "vocab", tok, "count"), WEFT_H5_I64, 1, 0,
                          v->n, count));
    v->count = count;
    return WEFT_OK;
}

static weft_status read_tokens(weft_data *d, int part, weft_tokenizer tok)
{
    weft_rows *r = &d->part[part];
    const char *name = token_name(d, weft_part_name[part], tok, "offset");
    int64_t *offset = WEFT_NEW(d->mem, int64_t, r->n + 1);
    TRY(weft_h5_read_rows(&d->file, name, WEFT_H5_I64, 1, r->first, r->n + 1, offset));
    int64_t start = offset[0];
    int rising = start >= 0;
    for (int64_t i = 1; i <= r->n && rising; i++) rising = offset[i] >= offset[i - 1];
    for (int64_t i = 0; i <= r->n && rising; i++) offset[i] -= start;
    if (!rising)
        return weft_fail(WEFT_EDATA, "%s: %s does not rise; pack it again", d->path, name);
    name = token_name(d, weft_part_name[part], tok, "token");
    int nd;
    int64_t dims[4], n = offset[r->n];
    TRY(weft_h5_shape(&d->file, name, &nd, dims));
    if (n > dims[0] - start)
        return weft_fail(WEFT_EDATA,
                         "%s: %s has %lld tokens where %lld are expected; pack it "
                         "again",
                         d->path, name, (long long)dims[0], (long long)(start + n));
    const void *rows;
    TRY(have_rows(d, name, WEFT_H5_U32, 1, start, n, &rows));
    const uint32_t *token = rows;
    uint32_t largest = 0;
    for (int64_t i = 0; i < n; i++) largest = token[i] > largest ? token[i] : largest;
    if (n > 0 && largest >= d->vocab[tok].n)
        return weft_fail(WEFT_EDATA, "%s: %s has token %u of %lld; pack it again", d->path,
                         name, (unsigned)largest, (long long)d->vocab[tok].n);
    r->offset[tok] = offset;
    r->token[tok] = token;
    return WEFT_OK;
}

static weft_status tokens_own(weft_data *d, weft_tokenizer tok)
{
    if (d->form != WEFT_TOKENS)
        return weft_fail(WEFT_EDATA,
                         "%s holds rows of numbers where documents are needed; give "
                         "another data set or feature map",
                         d->path);
    TRY(weft_data_vocab(d, tok));
    for (int i = 0; i < WEFT_NPART; i++) TRY(read_tokens(d, i, tok));
    return WEFT_OK;
}

weft_status weft_data_tokens(weft_data *d, weft_tokenizer tok)
{
    if (d->part[WEFT_TRAIN].offset[tok] != NULL) return WEFT_OK;
    return weft_agree(tokens_own(d, tok), d->team);
}

void weft_client_divide(double valid_share, double test_share, int64_t n,
                        int64_t count[WEFT_NPART])
{
    int64_t valid = llround((double)n * valid_share),
            test = llround((double)n * test_share);
    count[WEFT_VALID] = valid < n ? valid : n - 1;
    int64_t rest = n - 1 - count[WEFT_VALID];
    count[WEFT_TEST] = test < rest ? test : rest;
    count[WEFT_TRAIN] = n - count[WEFT_VALID] - count[WEFT_TEST];
}
