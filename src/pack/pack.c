/* Packing: takes rows or documents from a reader and writes the packed file, which appears
 * under its name only when it is whole. */
#include "pack.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* ---- digests ---- */

struct weft_digest {
    XXH3_state_t state; /* aligned to 64 bytes, as an arena's memory is */
};

weft_digest *weft_digest_new(weft_arena *mem)
{
    weft_digest *d = WEFT_NEW(mem, weft_digest, 1);
    XXH3_INITSTATE(&d->state);
    XXH3_128bits_reset(&d->state);
    return d;
}

void weft_digest_add(weft_digest *d, const void *bytes, size_t n)
{
    if (n > 0) XXH3_128bits_update(&d->state, bytes, n);
}

void weft_digest_show(const weft_digest *d, weft_hex text)
{
    XXH128_canonical_t sum;
    XXH128_canonicalFromHash(&sum, XXH3_128bits_digest(&d->state));
    for (size_t i = 0; i < sizeof sum.digest; i++)
        snprintf(text + 2 * i, 3, "%02x", (unsigned)sum.digest[i]);
}

/* ---- calls of readers ---- */

void weft_pack_classes(weft_pack *p, int n, const char *const *name)
{
    const char **copy = WEFT_NEW(p->mem, const char *, n);
    for (int i = 0; i < n; i++) copy[i] = weft_arena_text(p->mem, "%s", name[i]);
    p->own->classes = n;
    p->own->class_name = copy;
}

void weft_pack_numbered(weft_pack *p, int n)
{
    const char **name = WEFT_NEW(p->mem, const char *, n);
    for (int i = 0; i < n; i++) name[i] = weft_arena_text(p->mem, "%d", i);
    p->own->classes = n;
    p->own->class_name = name;
}

static int by_text(const void *a, const void *b)
{
    return strcmp(*(const char *const *)a, *(const char *const *)b);
}

void weft_pack_columns(weft_pack *p, const char *const *name)
{
    const char **copy = WEFT_NEW(p->mem, const char *, p->own->d),
               **order = WEFT_NEW(p->mem, const char *, p->own->d);
    for (int64_t i = 0; i < p->own->d; i++)
        order[i] = copy[i] = weft_arena_text(p->mem, "%s", name[i]);
    qsort(order, (size_t)p->own->d, sizeof *order, by_text);
    int64_t bad = 0;
    while (bad < p->own->d && *order[bad] != '\0' &&
           (bad == 0 || strcmp(order[bad], order[bad - 1]) != 0))
        bad++;
    p->own->column = bad == p->own->d ? copy : NULL;
    if (p->own->column == NULL)
        weft_log(WEFT_WARN, "the names of columns are not kept: '%s' %s", order[bad],
                 *order[bad] == '\0' ? "is none" : "occurs twice");
}

void weft_pack_split(weft_pack *p, const char *rule)
{
    p->own->split = weft_arena_text(p->mem, "%s", rule);
}

void weft_pack_split_add(weft_pack *p, const char *rest)
{
    p->own->split = weft_arena_text(p->mem, "%s; %s", p->own->split, rest);
}

void weft_pack_source_sum(weft_pack *p, const char *name, const weft_digest *d,
                          int64_t bytes)
{
    weft_hex hex;
    weft_digest_show(d, hex);
    p->own->source = weft_grow(p->mem, p->own->source, sizeof *p->own->source,
                               p->own->nsource, &p->own->source_room);
    p->own->source[p->own->nsource++] =
        weft_arena_text(p->mem, "%s  %lld  %s", hex, (long long)bytes, name);
}

weft_status weft_pack_apart(const weft_pack *p, const char *path)
{
    if (!p->own->replaces || !weft_file_same(p->own->file.path, path)) return WEFT_OK;
    return weft_fail(WEFT_ECONF,
                     "%s would replace %s, which it is packed from; choose another name by "
                     "-o",
                     p->own->file.path, path);
}

weft_status weft_pack_source(weft_pack *p, const char *path)
{
    TRY(weft_pack_apart(p, path));
    FILE *f = fopen(path, "rb");
    if (f == NULL) return weft_unreadable(path);
    char block[1 << 15];
    size_t mark = weft_arena_mark(p->scratch), n;
    weft_digest *sum = weft_digest_new(p->scratch);
    int64_t bytes = 0;
    while ((n = fread(block, 1, sizeof block, f)) > 0) {
        weft_digest_add(sum, block, n);
        bytes += (int64_t)n;
    }
    weft_status st = ferror(f) ? weft_unreadable(path) : WEFT_OK;
    fclose(f);
    if (st == WEFT_OK) weft_pack_source_sum(p, path, sum, bytes);
    weft_arena_reset(p->scratch, mark);
    return st;
}

/* ---- matrices ---- */

static const char *part_name(weft_pack *p, weft_part part, const char *what)
{
    return weft_arena_text(p->mem, "/%s/%s", weft_part_name[part], what);
}

weft_status weft_pack_matrix(weft_pack *p, weft_form form, int64_t d, const int64_t *rows)
{
    if (d < 1)
        return weft_fail(WEFT_EDATA,
                         "%s: rows have %lld features where one or more are "
                         "expected; check the source",
                         p->own->from, (long long)d);
    p->own->form = (int)form;
    p->own->d = d;
    weft_h5type type = form == WEFT_BYTES ? WEFT_H5_U8 : WEFT_H5_F32;
    p->own->row = (size_t)d * weft_h5_size(type);
    memcpy(p->own->rows, rows, sizeof p->own->rows);
    weft_pack_scaled(p);
    if (p->own->over.clients > 0) return weft_pack_hold(p);
    for (int i = 0; i < WEFT_NPART; i++) {
        TRY(weft_h5_make(&p->own->file, part_name(p, (weft_part)i, "x"), type, 2,
                         (const int64_t[]){rows[i], d}, "rows [n][d], one a sample",
                         form == WEFT_BYTES ? "intensity 0..255" : "as in the source"));
    }
    return WEFT_OK;
}

void weft_pack_scaled(weft_pack *p)
{
    if (p->own->form == WEFT_REALS && p->own->scaling == NULL)
        p->own->scaling = weft_scaling_new(p->own->d, p->mem);
}

const void *weft_pack_floats(weft_pack *p, int64_t n, const void *x, int64_t *bad)
{
    *bad = n * p->own->d;
    if (p->own->form != WEFT_REALS) return x;
    float *y = WEFT_NEW(p->scratch, float, *bad);
    weft_scaling_rows(p->own->scaling, n, x, y);
    *bad = weft_not_finite(y, *bad);
    return y;
}

/* Writes rows that belong to one part. */
static weft_status put_rows(weft_pack *p, weft_part part, int64_t count, const void *x,
                            const int32_t *label)
{
    weft_pack_part *to = &p->own->part[part];
    weft_h5type type = p->own->form == WEFT_BYTES ? WEFT_H5_U8 : WEFT_H5_F32;
    if (p->own->held != NULL) {
        weft_pack_hold_rows(p, part, count, x);
    } else {
        TRY(weft_h5_put_rows(&p->own->file, part_name(p, part, "x"), type, to->n, count,
                             x));
        weft_digest_add(p->own->digest, x, (size_t)count * p->own->row);
    }
    for (int64_t i = 0; i < count; i++) {
        to->label = weft_grow(p->mem, to->label, sizeof *label, to->n, &to->label_room);
        to->label[to->n++] = label[i];
    }
    return WEFT_OK;
}

static weft_status put_parts(weft_pack *p, int64_t count, const void *x,
                             const int32_t *label)
{
    const char *from = x;
    for (int i = 0; i < WEFT_NPART && count > 0; i++) {
        int64_t room = p->own->rows[i] - p->own->part[i].n;
        int64_t take = count < room ? count : room;
        if (take == 0) continue;
        TRY(put_rows(p, (weft_part)i, take, from, label));
        from += (size_t)take * p->own->row;
        label += take;
        count -= take;
    }
    weft_check(count == 0, "a reader hands over more rows than it announced");
    return WEFT_OK;
}

weft_status weft_pack_rows(weft_pack *p, int64_t count, const void *x, const int32_t *label)
{
    int64_t done = p->own->part[0].n + p->own->part[1].n + p->own->part[2].n, bad;
    size_t mark = weft_arena_mark(p->scratch);
    const void *rows = weft_pack_floats(p, count, x, &bad);
    weft_status st =
        bad == count * p->own->d
            ? put_parts(p, count, rows, label)
            : weft_fail(WEFT_EDATA,
                        "row %lld, column %lld is %g where a finite number is expected; "
                        "mend or remove the row",
                        (long long)(done + bad / p->own->d + 1),
                        (long long)(bad % p->own->d + 1), ((const double *)x)[bad]);
    weft_arena_reset(p->scratch, mark);
    return st;
}

void weft_pack_image(weft_pack *p, int channels, int height, int width)
{
    weft_check((int64_t)channels * height * width == p->own->d, "an image of %d x %d x %d",
               channels, height, width);
    p->own->image[0] = channels;
    p->own->image[1] = height;
    p->own->image[2] = width;
}

/* ---- the end ---- */

weft_status weft_pack_put(weft_pack *p, const char *name, weft_h5type type, int64_t n,
                          const void *data, const char *about, const char *unit)
{
    weft_digest_add(p->own->digest, data, (size_t)n * weft_h5_size(type));
    return weft_h5_put(&p->own->file, name, type, 1, &n, data, 0, about, unit);
}

weft_status weft_pack_count(weft_pack *p, weft_part part, int64_t **out)
{
    const weft_pack_part *from = &p->own->part[part];
    int64_t *count = *out = WEFT_NEW(p->mem, int64_t, p->own->classes);
    for (int64_t i = 0; i < from->n; i++) {
        weft_check(from->label[i] >= 0 && from->label[i] < p->own->classes,
                   "a reader gives label %d of %d classes", (int)from->label[i],
                   p->own->classes);
        count[from->label[i]]++;
    }
    for (int i = 0; i < p->own->classes && part == WEFT_TRAIN; i++)
        if (count[i] == 0)
            return weft_fail(WEFT_EDATA,
                             "%s: class '%s' has no training rows; check the source and "
                             "the split",
                             p->own->from, p->own->class_name[i]);
    if (from->n == 0 && part == WEFT_VALID)
        return weft_fail(WEFT_EDATA,
                         "%s: there are no validation rows; give more rows or a larger "
                         "valid = SHARE",
                         p->own->from);
    return WEFT_OK;
}

/* Labels and the number of rows of each class. */
static weft_status put_labels(weft_pack *p, weft_part part)
{
    const weft_pack_part *from = &p->own->part[part];
    int64_t *count;
    TRY(weft_pack_count(p, part, &count));
    TRY(weft_pack_put(p, part_name(p, part, "label"), WEFT_H5_I32, from->n, from->label,
                      "class of each row", "index into /class"));
    return weft_pack_put(p, part_name(p, part, "count"), WEFT_H5_I64, p->own->classes,
                         count, "rows of each class", "rows");
}

/* "seed=0 valid=0.1": the options of the reader. */
static const char *options_text(const weft_kind *kind, const void *self, weft_arena *mem)
{
    const char *text = "";
    for (const weft_opt *o = kind->opts; o->name != NULL; o++) {
        char name[64], value[64];
        weft_opt_name(o, name, sizeof name);
        const char *shown = value;
        if (o->type == WEFT_TEXT) {
            memcpy(&shown, (const char *)self + o->at, sizeof shown);
            if (shown == NULL) shown = "";
        } else {
            weft_opt_show(o, weft_opt_value(o, self), value, sizeof value);
        }
        text =
            weft_arena_text(mem, "%s%s%s=%s", text, *text != '\0' ? " " : "", name, shown);
    }
    return text;
}

/* 1: documents that are dealt to clients. */
static int owned(const weft_pack *p)
{
    return p->own->form == WEFT_TOKENS && p->own->over.clients > 0;
}

static weft_status put_about(weft_pack *p, const void *self, const char *source)
{
    static const char *const side[] = {"channels", "height", "width"};
    const weft_kind *kind = &p->own->reader->kind;
    weft_hex digest;
    weft_digest_show(p->own->digest, digest);
    weft_h5 *f = &p->own->file;
    TRY(weft_h5_put_texts(f, "/class", p->own->class_name, p->own->classes,
                          "names of the classes"));
    if (p->own->column != NULL)
        TRY(weft_h5_put_texts(f, "/column", p->own->column, p->own->d,
                              "names of the columns"));
    TRY(weft_h5_put_texts(f, "/source", p->own->source, p->own->nsource,
                          "XXH3-128, bytes and name of each source"));
    TRY(weft_h5_put_attr(f, "/", "format", WEFT_DATA_FORMAT));
    TRY(weft_h5_put_attr(f, "/", "weft_version", WEFT_VERSION));
    TRY(weft_h5_put_attr(f, "/", "form", weft_form_name[p->own->form]));
    TRY(weft_h5_put_attr(f, "/", "reader", kind->name));
    TRY(weft_h5_put_attr(f, "/", "source", source));
    TRY(weft_h5_put_attr(f, "/", "options", options_text(kind, self, p->mem)));
    if (p->own->held != NULL || owned(p))
        TRY(weft_h5_put_attr(f, "/", "partition",
                             options_text(&weft_partition_kind, &p->own->over, p->mem)));
    TRY(weft_h5_put_attr(f, "/", "split", p->own->split));
    for (int i = 0; i < 3 && p->own->image[0] > 0 && p->own->federation == NULL; i++)
        TRY(weft_h5_put_long(f, "/", side[i], p->own->image[i]));
    TRY(weft_h5_put_attr(f, "/", "digest", digest));
    TRY(weft_h5_put_long(f, "/", "columns", p->own->d));
    return weft_h5_put_long(f, "/", "classes", p->own->classes);
}

/* Everything that is known only after the last row. */
static weft_status finish(weft_pack *p, const void *self, const char *source)
{
    const weft_kind *kind = &p->own->reader->kind;
    weft_check(p->own->form >= 0 && p->own->classes > 0 && p->own->split != NULL,
               "reader %s ends too early", kind->name);
    int clients =
        p->own->held != NULL || p->own->federation != NULL || p->own->generator != NULL;
    for (int i = 0; i < WEFT_NPART; i++) {
        weft_check(p->own->d == 0 || (clients && p->own->held == NULL) ||
                       p->own->part[i].n == p->own->rows[i],
                   "reader %s hands over fewer rows than it announced", kind->name);
        if (!clients) TRY(put_labels(p, (weft_part)i));
    }
    if (p->own->held != NULL) TRY(weft_pack_deal(p));
    if (owned(p)) TRY(weft_pack_own(p));
    if (p->own->generator != NULL) TRY(weft_pack_generator_close(p));
    if (p->own->form == WEFT_TOKENS) TRY(weft_pack_text_close(p));
    if (p->own->federation != NULL) TRY(weft_pack_clients_close(p));
    TRY(weft_scaling_put(p));
    for (int i = 0; i < p->own->classes; i++)
        weft_digest_add(p->own->digest, p->own->class_name[i],
                        strlen(p->own->class_name[i]) + 1);
    return put_about(p, self, source);
}

static void report(const weft_pack *p, const char *out, double seconds)
{
    const char *clients = "";
    if (p->own->federation != NULL || owned(p))
        clients = weft_arena_text(
            p->mem, " of %lld clients",
            (long long)(owned(p) ? p->own->over.clients : weft_pack_clients_count(p)));
    weft_log(WEFT_INFO,
             "%s: %lld train, %lld valid, %lld test rows%s, %d classes, packed in %.2f s",
             out, (long long)p->own->part[WEFT_TRAIN].n,
             (long long)p->own->part[WEFT_VALID].n, (long long)p->own->part[WEFT_TEST].n,
             clients, p->own->classes, seconds);
    if (p->own->scaling != NULL) weft_scaling_tell(p, out);
    for (int t = 0; t < WEFT_NTOK && p->own->form == WEFT_TOKENS; t++) {
        int64_t n = 0;
        for (int i = 0; i < WEFT_NPART; i++) n += p->own->part[i].ntoken[t];
        weft_log(WEFT_INFO, "%s: tokenizer %s gives %lld tokens", out, weft_tok_name[t],
                 (long long)n);
    }
}

/* Pixels of an image have one unit, so that none is shifted for itself. */
static int has_image(const weft_packing *own)
{
    return own->image[0] > 0 ||
           (own->federation != NULL && weft_pack_clients_image(own->federation));
}

/* Reads the source into a new file. *scaling: of the columns, NULL at first; out: that with
 * which the source has to be read once more, in kept; NULL: the file is written. */
static weft_status pack_once(weft_packing own, const void *self, const char *out,
                             weft_scaling **scaling, weft_arena *kept, weft_arena *mem)
{
    weft_pack p = {.mem = mem, .scratch = weft_arena_new(), .own = &own};
    own.digest = weft_digest_new(mem);
    own.scaling = *scaling;
    *scaling = NULL;
    weft_status st = weft_h5_create(&own.file, out, mem);
    own.replaces = access(out, F_OK) == 0;
    weft_level level = weft_log_level();
    if (own.scaling != NULL)
        weft_log_set(WEFT_ERROR, 0); /* all was told when it was read */
    if (st == WEFT_OK) st = own.reader->read(self, own.from, &p);
    weft_log_set(level, 0);
    if (st == WEFT_OK && own.scaling != NULL && !has_image(&own))
        *scaling = weft_scaling_next(own.scaling, kept);
    int whole = st == WEFT_OK && *scaling == NULL;
    if (whole) st = finish(&p, self, own.from);
    if (whole && st == WEFT_OK)
        st = weft_h5_commit(&own.file);
    else
        weft_h5_close(&own.file);
    if (whole && st == WEFT_OK) report(&p, out, weft_now() - own.began);
    weft_pack_clients_drop(&p);
    weft_arena_free(p.scratch);
    return st;
}

weft_status weft_pack_file(const weft_reader *reader, const void *self,
                           const weft_partition *over, const char *source, const char *out,
                           weft_arena *mem)
{
    size_t mark = weft_arena_mark(mem);
    weft_packing start = {
        .from = source, .form = -1, .reader = reader, .began = weft_now()};
    weft_scaling *scaling = NULL;
    weft_arena *kept = weft_arena_new();
    if (over != NULL) start.over = *over;
    weft_status st;
    do {
        st = pack_once(start, self, out, &scaling, kept, mem);
        weft_arena_reset(mem, mark);
    } while (st == WEFT_OK && scaling != NULL);
    weft_arena_free(kept);
    return st;
}
