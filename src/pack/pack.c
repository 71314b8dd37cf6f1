/* Packing: takes rows or documents from a reader and writes the packed file, which appears
 * under its name only when it is whole. */
#include "pack.h"
#include "weft/clock.h"
#include "weft/data.h"
#include "weft/file.h"
#include "weft/finite.h"
#include "weft/log.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* ---- digests ---- */

struct weft_digest {
    XXH3_state_t state; /* aligned to 64 bytes, as an arena's memory is */
};

weft_digest *weft_digest_new(weft_arena *mem)
{
    weft_digest *digest = WEFT_NEW(mem, weft_digest, 1);
    XXH3_INITSTATE(&digest->state);
    XXH3_128bits_reset(&digest->state);
    return digest;
}

void weft_digest_add(weft_digest *digest, const void *bytes, size_t n)
{
    if (n > 0) XXH3_128bits_update(&digest->state, bytes, n);
}

void weft_digest_show(const weft_digest *digest, weft_hex text)
{
    XXH128_canonical_t sum;
    XXH128_canonicalFromHash(&sum, XXH3_128bits_digest(&digest->state));
    for (size_t i = 0; i < sizeof sum.digest; i++)
        snprintf(text + 2 * i, 3, "%02x", (unsigned)sum.digest[i]);
}

/* ---- calls of readers ---- */

void weft_pack_classes(weft_pack *pack, int n, const char *const *name)
{
    const char **copy = WEFT_NEW(pack->mem, const char *, n);
    for (int i = 0; i < n; i++) copy[i] = weft_arena_text(pack->mem, "%s", name[i]);
    pack->own->classes = n;
    pack->own->class_name = copy;
}

void weft_pack_numbered(weft_pack *pack, int n)
{
    const char **name = WEFT_NEW(pack->mem, const char *, n);
    for (int i = 0; i < n; i++) name[i] = weft_arena_text(pack->mem, "%d", i);
    pack->own->classes = n;
    pack->own->class_name = name;
}

static int by_text(const void *a, const void *b)
{
    return strcmp(*(const char *const *)a, *(const char *const *)b);
}

void weft_pack_columns(weft_pack *pack, const char *const *name)
{
    const char **copy = WEFT_NEW(pack->mem, const char *, pack->own->d),
               **order = WEFT_NEW(pack->mem, const char *, pack->own->d);
    for (int64_t i = 0; i < pack->own->d; i++)
        order[i] = copy[i] = weft_arena_text(pack->mem, "%s", name[i]);
    qsort(order, (size_t)pack->own->d, sizeof *order, by_text);
    int64_t bad = 0;
    while (bad < pack->own->d && *order[bad] != '\0' &&
           (bad == 0 || strcmp(order[bad], order[bad - 1]) != 0))
        bad++;
    pack->own->column = bad == pack->own->d ? copy : NULL;
    if (pack->own->column == NULL)
        weft_log(WEFT_WARN, "the names of columns are not kept: '%s' %s", order[bad],
                 *order[bad] == '\0' ? "is none" : "occurs twice");
}

void weft_pack_split(weft_pack *pack, const char *rule)
{
    pack->own->split = weft_arena_text(pack->mem, "%s", rule);
}

void weft_pack_split_add(weft_pack *pack, const char *rest)
{
    pack->own->split = weft_arena_text(pack->mem, "%s; %s", pack->own->split, rest);
}

void weft_pack_source_sum(weft_pack *pack, const char *name, const weft_digest *digest,
                          int64_t bytes)
{
    weft_hex hex;
    weft_digest_show(digest, hex);
    pack->own->source = weft_grow(pack->mem, pack->own->source, sizeof *pack->own->source,
                                  pack->own->nsource, &pack->own->source_room);
    pack->own->source[pack->own->nsource++] =
        weft_arena_text(pack->mem, "%s  %lld  %s", hex, (long long)bytes, name);
}

weft_status weft_pack_apart(const weft_pack *pack, const char *path)
{
    if (!pack->own->replaces || !weft_file_same(pack->own->file.path, path)) return WEFT_OK;
    return weft_fail(WEFT_ECONF,
                     "%s would replace %s, which it is packed from; choose another name by "
                     "-o",
                     pack->own->file.path, path);
}

weft_status weft_pack_source(weft_pack *pack, const char *path)
{
    TRY(weft_pack_apart(pack, path));
    FILE *f = fopen(path, "rb");
    if (f == NULL) return weft_unreadable(path);
    char block[1 << 15];
    size_t mark = weft_arena_mark(pack->scratch), n;
    weft_digest *sum = weft_digest_new(pack->scratch);
    int64_t bytes = 0;
    while ((n = fread(block, 1, sizeof block, f)) > 0) {
        weft_digest_add(sum, block, n);
        bytes += (int64_t)n;
    }
    weft_status st = ferror(f) ? weft_unreadable(path) : WEFT_OK;
    fclose(f);
    if (st == WEFT_OK) weft_pack_source_sum(pack, path, sum, bytes);
    weft_arena_reset(pack->scratch, mark);
    return st;
}

/* ---- matrices ---- */

static const char *part_name(weft_pack *pack, weft_part part, const char *what)
{
    return weft_arena_text(pack->mem, "/%s/%s", weft_part_name[part], what);
}

weft_status weft_pack_matrix(weft_pack *pack, weft_form form, int64_t d,
                             const int64_t *rows)
{
    if (d < 1)
        return weft_fail(WEFT_EDATA,
                         "%s: rows have %lld features where one or more are "
                         "expected; check the source",
                         pack->own->from, (long long)d);
    pack->own->form = (int)form;
    pack->own->d = d;
    weft_h5type type = form == WEFT_BYTES ? WEFT_H5_U8 : WEFT_H5_F32;
    pack->own->row = (size_t)d * weft_h5_size(type);
    memcpy(pack->own->rows, rows, sizeof pack->own->rows);
    weft_pack_scaled(pack);
    if (pack->own->over.clients > 0) return weft_pack_hold(pack);
    for (int i = 0; i < WEFT_NPART; i++) {
        TRY(weft_h5_make(&pack->own->file, part_name(pack, (weft_part)i, "x"), type, 2,
                         (const int64_t[]){rows[i], d}, "rows [n][d], one a sample",
                         form == WEFT_BYTES ? "intensity 0..255" : "as in the source"));
    }
    return WEFT_OK;
}

void weft_pack_scaled(weft_pack *pack)
{
    if (pack->own->form == WEFT_REALS && pack->own->scaling == NULL)
        pack->own->scaling = weft_scaling_new(pack->own->d, pack->mem);
}

const void *weft_pack_floats(weft_pack *pack, int64_t n, const void *x, int64_t *bad)
{
    *bad = n * pack->own->d;
    if (pack->own->form != WEFT_REALS) return x;
    float *y = WEFT_NEW(pack->scratch, float, *bad);
    weft_scaling_rows(pack->own->scaling, n, x, y);
    *bad = weft_not_finite(y, *bad);
    return y;
}

/* Writes rows that belong to one part. */
static weft_status put_rows(weft_pack *pack, weft_part part, int64_t count, const void *x,
                            const int32_t *label)
{
    weft_pack_part *to = &pack->own->part[part];
    weft_h5type type = pack->own->form == WEFT_BYTES ? WEFT_H5_U8 : WEFT_H5_F32;
    if (pack->own->held != NULL) {
        weft_pack_hold_rows(pack, part, count, x);
    } else {
        TRY(weft_h5_put_rows(&pack->own->file, part_name(pack, part, "x"), type, to->n,
                             count, x));
        weft_digest_add(pack->own->digest, x, (size_t)count * pack->own->row);
    }
    for (int64_t i = 0; i < count; i++) {
        to->label = weft_grow(pack->mem, to->label, sizeof *label, to->n, &to->label_room);
        to->label[to->n++] = label[i];
    }
    return WEFT_OK;
}

static weft_status put_parts(weft_pack *pack, int64_t count, const void *x,
                             const int32_t *label)
{
    const char *from = x;
    for (int i = 0; i < WEFT_NPART && count > 0; i++) {
        int64_t room = pack->own->rows[i] - pack->own->part[i].n;
        int64_t take = count < room ? count : room;
        if (take == 0) continue;
        TRY(put_rows(pack, (weft_part)i, take, from, label));
        from += (size_t)take * pack->own->row;
        label += take;
        count -= take;
    }
    weft_check(count == 0, "a reader hands over more rows than it announced");
    return WEFT_OK;
}

weft_status weft_pack_rows(weft_pack *pack, int64_t count, const void *x,
                           const int32_t *label)
{
    int64_t done = pack->own->part[0].n + pack->own->part[1].n + pack->own->part[2].n, bad;
    size_t mark = weft_arena_mark(pack->scratch);
    const void *rows = weft_pack_floats(pack, count, x, &bad);
    weft_status st =
        bad == count * pack->own->d
            ? put_parts(pack, count, rows, label)
            : weft_fail(WEFT_EDATA,
                        "row %lld, column %lld is %g where a finite number is expected; "
                        "mend or remove the row",
                        (long long)(done + bad / pack->own->d + 1),
                        (long long)(bad % pack->own->d + 1), ((const double *)x)[bad]);
    weft_arena_reset(pack->scratch, mark);
    return st;
}

void weft_pack_image(weft_pack *pack, int channels, int height, int width)
{
    weft_check((int64_t)channels * height * width == pack->own->d,
               "an image of %d x %d x %d", channels, height, width);
    pack->own->image[0] = channels;
    pack->own->image[1] = height;
    pack->own->image[2] = width;
}

/* ---- the end ---- */

weft_status weft_pack_put(weft_pack *pack, const char *name, weft_h5type type, int64_t n,
                          const void *data, const char *about, const char *unit)
{
    weft_digest_add(pack->own->digest, data, (size_t)n * weft_h5_size(type));
    return weft_h5_put(&pack->own->file, name, type, 1, &n, data, 0, about, unit);
}

weft_status weft_pack_count(weft_pack *pack, weft_part part, int64_t **out)
{
    const weft_pack_part *from = &pack->own->part[part];
    int64_t *count = *out = WEFT_NEW(pack->mem, int64_t, pack->own->classes);
    for (int64_t i = 0; i < from->n; i++) {
        weft_check(from->label[i] >= 0 && from->label[i] < pack->own->classes,
                   "a reader gives label %d of %d classes", (int)from->label[i],
                   pack->own->classes);
        count[from->label[i]]++;
    }
    for (int i = 0; i < pack->own->classes && part == WEFT_TRAIN; i++)
        if (count[i] == 0)
            return weft_fail(WEFT_EDATA,
                             "%s: class '%s' has no training rows; check the source and "
                             "the split",
                             pack->own->from, pack->own->class_name[i]);
    if (from->n == 0 && part == WEFT_VALID)
        return weft_fail(WEFT_EDATA,
                         "%s: there are no validation rows; give more rows or a larger "
                         "valid = SHARE",
                         pack->own->from);
    return WEFT_OK;
}

/* Labels and the number of rows of each class. */
static weft_status put_labels(weft_pack *pack, weft_part part)
{
    const weft_pack_part *from = &pack->own->part[part];
    int64_t *count;
    TRY(weft_pack_count(pack, part, &count));
    TRY(weft_pack_put(pack, part_name(pack, part, "label"), WEFT_H5_I32, from->n,
                      from->label, "class of each row", "index into /class"));
    return weft_pack_put(pack, part_name(pack, part, "count"), WEFT_H5_I64,
                         pack->own->classes, count, "rows of each class", "rows");
}

/* "seed=0 valid=0.1": the options of the reader. */
static const char *options_text(const weft_kind *kind, const void *self, weft_arena *mem)
{
    const char *text = "";
    for (const weft_opt *opt = kind->opts; opt->name != NULL; opt++) {
        char name[64], value[64];
        weft_opt_name(opt, name, sizeof name);
        const char *shown = value;
        if (opt->type == WEFT_TEXT) {
            memcpy(&shown, (const char *)self + opt->at, sizeof shown);
            if (shown == NULL) shown = "";
        } else {
            weft_opt_show(opt, weft_opt_value(opt, self), value, sizeof value);
        }
        text =
            weft_arena_text(mem, "%s%s%s=%s", text, *text != '\0' ? " " : "", name, shown);
    }
    return text;
}

/* 1: documents that are dealt to clients. */
static int owned(const weft_pack *pack)
{
    return pack->own->form == WEFT_TOKENS && pack->own->over.clients > 0;
}

static weft_status put_about(weft_pack *pack, const void *self, const char *source)
{
    static const char *const side[] = {"channels", "height", "width"};
    const weft_kind *kind = &pack->own->reader->kind;
    weft_hex digest;
    weft_digest_show(pack->own->digest, digest);
    weft_h5 *file = &pack->own->file;
    TRY(weft_h5_put_texts(file, "/class", pack->own->class_name, pack->own->classes,
                          "names of the classes"));
    if (pack->own->column != NULL)
        TRY(weft_h5_put_texts(file, "/column", pack->own->column, pack->own->d,
                              "names of the columns"));
    TRY(weft_h5_put_texts(file, "/source", pack->own->source, pack->own->nsource,
                          "XXH3-128, bytes and name of each source"));
    TRY(weft_h5_put_attr(file, "/", "format", WEFT_DATA_FORMAT));
    TRY(weft_h5_put_attr(file, "/", "weft_version", WEFT_VERSION));
    TRY(weft_h5_put_attr(file, "/", "form", weft_form_name[pack->own->form]));
    TRY(weft_h5_put_attr(file, "/", "reader", kind->name));
    TRY(weft_h5_put_attr(file, "/", "source", source));
    TRY(weft_h5_put_attr(file, "/", "options", options_text(kind, self, pack->mem)));
    if (pack->own->held != NULL || owned(pack))
        TRY(weft_h5_put_attr(
            file, "/", "partition",
            options_text(&weft_partition_kind, &pack->own->over, pack->mem)));
    TRY(weft_h5_put_attr(file, "/", "split", pack->own->split));
    for (int i = 0; i < 3 && pack->own->image[0] > 0 && pack->own->federation == NULL; i++)
        TRY(weft_h5_put_long(file, "/", side[i], pack->own->image[i]));
    TRY(weft_h5_put_attr(file, "/", "digest", digest));
    TRY(weft_h5_put_long(file, "/", "columns", pack->own->d));
    return weft_h5_put_long(file, "/", "classes", pack->own->classes);
}

/* Everything that is known only after the last row. */
static weft_status finish(weft_pack *pack, const void *self, const char *source)
{
    const weft_kind *kind = &pack->own->reader->kind;
    weft_check(pack->own->form >= 0 && pack->own->classes > 0 && pack->own->split != NULL,
               "reader %s ends too early", kind->name);
    int clients = pack->own->held != NULL || pack->own->federation != NULL ||
                  pack->own->generator != NULL;
    for (int i = 0; i < WEFT_NPART; i++) {
        weft_check(pack->own->d == 0 || (clients && pack->own->held == NULL) ||
                       pack->own->part[i].n == pack->own->rows[i],
                   "reader %s hands over fewer rows than it announced", kind->name);
        if (!clients) TRY(put_labels(pack, (weft_part)i));
    }
    if (pack->own->held != NULL) TRY(weft_pack_deal(pack));
    if (owned(pack)) TRY(weft_pack_own(pack));
    if (pack->own->generator != NULL) TRY(weft_pack_generator_close(pack));
    if (pack->own->form == WEFT_TOKENS) TRY(weft_pack_text_close(pack));
    if (pack->own->federation != NULL) TRY(weft_pack_clients_close(pack));
    TRY(weft_scaling_put(pack));
    for (int i = 0; i < pack->own->classes; i++)
        weft_digest_add(pack->own->digest, pack->own->class_name[i],
                        strlen(pack->own->class_name[i]) + 1);
    return put_about(pack, self, source);
}

static void report(const weft_pack *pack, const char *out, double seconds)
{
    const char *clients = "";
    if (pack->own->federation != NULL || owned(pack))
        clients = weft_arena_text(pack->mem, " of %lld clients",
                                  (long long)(owned(pack) ? pack->own->over.clients
                                                          : weft_pack_clients_count(pack)));
    weft_log(WEFT_INFO,
             "%s: %lld train, %lld valid, %lld test rows%s, %d classes, packed in %.2f s",
             out, (long long)pack->own->part[WEFT_TRAIN].n,
             (long long)pack->own->part[WEFT_VALID].n,
             (long long)pack->own->part[WEFT_TEST].n, clients, pack->own->classes, seconds);
    if (pack->own->scaling != NULL) weft_scaling_tell(pack, out);
    for (int t = 0; t < WEFT_NTOK && pack->own->form == WEFT_TOKENS; t++) {
        int64_t n = 0;
        for (int i = 0; i < WEFT_NPART; i++) n += pack->own->part[i].ntoken[t];
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
    weft_pack pack = {.mem = mem, .scratch = weft_arena_new(), .own = &own};
    own.digest = weft_digest_new(mem);
    own.scaling = *scaling;
    *scaling = NULL;
    weft_status st = weft_h5_create(&own.file, out, mem);
    own.replaces = access(out, F_OK) == 0;
    weft_level level = weft_log_level();
    if (own.scaling != NULL)
        weft_log_set(WEFT_ERROR, 0); /* all was told when it was read */
    if (st == WEFT_OK) st = own.reader->read(self, own.from, &pack);
    weft_log_set(level, 0);
    if (st == WEFT_OK && own.scaling != NULL && !has_image(&own))
        *scaling = weft_scaling_next(own.scaling, kept);
    int whole = st == WEFT_OK && *scaling == NULL;
    if (whole) st = finish(&pack, self, own.from);
    if (whole && st == WEFT_OK)
        st = weft_h5_commit(&own.file);
    else
        weft_h5_close(&own.file);
    if (whole && st == WEFT_OK) report(&pack, out, weft_now() - own.began);
    weft_pack_clients_drop(&pack);
    weft_arena_free(pack.scratch);
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
