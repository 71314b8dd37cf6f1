/* Packing: takes rows or documents from a reader and writes the packed file, which appears
 * under its name only when it is whole. */
#include "pack.h"
#include "weft/base/base.h"
#include "weft/data/data.h"

#include <string.h>
#include <unistd.h>

/* ---- targets, weights and groups ---- */

/* ECONF: rows are dealt to clients, which have classes and equal weights. */
static weft_status refuse_clients(const weft_pack *pack, const char *what, const char *also)
{
    if (pack->own->over.clients == 0) return WEFT_OK;
    return weft_fail(
        WEFT_ECONF,
        "%s: clients = %lld makes a federation, whose rows have %s; leave clients out%s",
        pack->own->from, (long long)pack->own->over.clients, what, also);
}

weft_status weft_pack_targets(weft_pack *pack, const weft_pack_numbers *numbers)
{
    TRY(refuse_clients(pack, "classes, not numbers to predict", ""));
    pack->own->beside.numbers = *numbers;
    weft_pack_classes(pack, numbers->n, numbers->name);
    return pack->own->told.scored
               ? WEFT_OK
               : weft_pack_check_valid(pack, pack->own->layout.rows[WEFT_VALID]);
}

weft_status weft_pack_weights(weft_pack *pack, const double *weight)
{
    TRY(refuse_clients(pack, "equal weights", ", or weight"));
    double sum = 0;
    int64_t train = pack->own->layout.rows[WEFT_TRAIN], n = 0;
    if (pack->own->told.scored) train = pack->own->layout.rows[WEFT_TEST];
    for (int64_t i = 0; i < train; i++) sum += weight[i];
    for (int p = 0; p < WEFT_NPART; p++) {
        int64_t from = n;
        double own = 0;
        for (n += pack->own->layout.rows[p]; from < n; from++) own += weight[from];
        if (pack->own->layout.rows[p] > 0 && !(own > 0))
            return weft_fail(WEFT_EDATA,
                             "%s: all %s rows have weight 0; give some a weight above it",
                             pack->own->from, weft_part_name[p]);
    }
    double *to = WEFT_NEW(pack->mem, double, n);
    for (int64_t i = 0; i < n; i++) to[i] = weight[i] / (sum / (double)train);
    pack->own->beside.weight = to;
    return WEFT_OK;
}

static int64_t first_of(const weft_pack *pack, weft_part part)
{
    int64_t first = 0;
    for (int p = 0; p < (int)part; p++) first += pack->own->layout.rows[p];
    return first;
}

/* Writes the targets of a part, and what they are shifted and scaled by. */
static weft_status put_targets(weft_pack *pack, weft_part part)
{
    static const char about[] = "mean and deviation of the targets in the training rows; a "
                                "run sees (target - shift) / scale";
    const weft_pack_numbers *numbers = &pack->own->beside.numbers;
    int64_t n = numbers->n, rows = pack->own->layout.rows[part];
    const double *target = numbers->target + first_of(pack, part) * n;
    if (part == WEFT_TRAIN) {
        TRY(weft_pack_put(pack, "/target/shift", WEFT_H5_F64, n, numbers->shift, about,
                          "as the target"));
        TRY(weft_pack_put(pack, "/target/scale", WEFT_H5_F64, n, numbers->scale, about,
                          "as the target"));
    }
    weft_digest_add(pack->own->digest, target, (size_t)(rows * n) * sizeof *target);
    return weft_h5_put(&pack->own->file, weft_pack_path(pack, part, "target"), WEFT_H5_F64,
                       2, (const int64_t[]){rows, n}, target, 0,
                       "numbers to predict of each row [n][targets]", "as in the source");
}

void weft_pack_groups(weft_pack *pack, int64_t n, const int32_t *group)
{
    pack->own->beside.groups = n;
    pack->own->beside.group = group;
}

static weft_status put_beside(weft_pack *pack, weft_part part)
{
    weft_packing *own = pack->own;
    const weft_pack_beside *beside = &own->beside;
    int64_t n = own->layout.rows[part], first = first_of(pack, part);
    if (beside->weight != NULL)
        TRY(weft_pack_put(pack, weft_pack_path(pack, part, "weight"), WEFT_H5_F64, n,
                          beside->weight + first, "what each row counts in fits and scores",
                          "1, the mean over the training rows"));
    if (beside->group == NULL) return WEFT_OK;
    if (part == WEFT_TRAIN)
        TRY(weft_h5_put_long(&own->file, "/", "groups", beside->groups));
    return weft_pack_put(
        pack, weft_pack_path(pack, part, "group"), WEFT_H5_I32, n, beside->group + first,
        "group of each row, whose rows are in one part or fold", "number, below /@groups");
}

/* ---- rows ---- */

weft_status weft_pack_matrix(weft_pack *pack, weft_form form, int64_t d,
                             const int64_t *rows)
{
    weft_packing *own = pack->own;
    if (d < 1)
        return weft_fail(
            WEFT_EDATA,
            "%s: rows have %lld features where one or more are expected; check the source",
            own->from, (long long)d);
    own->layout.form = (int)form;
    own->layout.d = d;
    weft_h5type type = form == WEFT_BYTES ? WEFT_H5_U8 : WEFT_H5_F32;
    own->layout.row = (size_t)d * weft_h5_size(type);
    memcpy(own->layout.rows, rows, sizeof own->layout.rows);
    weft_pack_scaled(pack);
    if (own->over.clients > 0) return weft_pack_hold(pack);
    for (int i = 0; i < WEFT_NPART; i++) {
        TRY(weft_h5_make(&own->file, weft_pack_path(pack, i, "x"), type, 2,
                         (const int64_t[]){rows[i], d}, "rows [n][d], one a sample",
                         form == WEFT_BYTES ? "intensity 0..255" : "as in the source"));
    }
    return WEFT_OK;
}

/* Writes rows that belong to one part. */
static weft_status put_rows(weft_pack *pack, weft_part part, int64_t count, const void *x,
                            const int32_t *label)
{
    weft_packing *own = pack->own;
    weft_pack_part *to = &own->part[part];
    weft_h5type type = own->layout.form == WEFT_BYTES ? WEFT_H5_U8 : WEFT_H5_F32;
    if (own->held != NULL) {
        weft_pack_hold_rows(pack, part, count, x);
    } else {
        TRY(weft_h5_put_rows(&own->file, weft_pack_path(pack, part, "x"), type, to->n,
                             count, x));
        weft_digest_add(own->digest, x, (size_t)count * own->layout.row);
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
        int64_t room = pack->own->layout.rows[i] - pack->own->part[i].n;
        int64_t take = count < room ? count : room;
        if (take == 0) continue;
        TRY(put_rows(pack, (weft_part)i, take, from, label));
        from += (size_t)take * pack->own->layout.row;
        label += take;
        count -= take;
    }
    weft_check(count == 0, "a reader hands over more rows than it announced");
    return WEFT_OK;
}

weft_status weft_pack_rows(weft_pack *pack, int64_t count, const void *x,
                           const int32_t *label)
{
    weft_packing *own = pack->own;
    int64_t done = own->part[0].n + own->part[1].n + own->part[2].n, bad;
    WEFT_REWIND(pack->scratch);
    const void *rows = weft_pack_floats(pack, count, x, &bad);
    return bad == count * own->layout.d
               ? put_parts(pack, count, rows, label)
               : weft_fail(WEFT_EDATA,
                           "row %lld, column %lld is %g where a finite number is expected; "
                           "mend or remove the row",
                           (long long)(done + bad / own->layout.d + 1),
                           (long long)(bad % own->layout.d + 1), ((const double *)x)[bad]);
}

void weft_pack_image(weft_pack *pack, int channels, int height, int width)
{
    weft_check((int64_t)channels * height * width == pack->own->layout.d,
               "an image of %d x %d x %d", channels, height, width);
    pack->own->layout.image[0] = channels;
    pack->own->layout.image[1] = height;
    pack->own->layout.image[2] = width;
}

/* ---- the end ---- */

/* Labels and the number of rows of each class. */
static weft_status put_labels(weft_pack *pack, weft_part part)
{
    const weft_pack_part *from = &pack->own->part[part];
    int64_t *count;
    TRY(weft_pack_count(pack, part, &count));
    TRY(weft_pack_put(pack, weft_pack_path(pack, part, "label"), WEFT_H5_I32, from->n,
                      from->label, "class of each row", "index into /class"));
    return weft_pack_put(pack, weft_pack_path(pack, part, "count"), WEFT_H5_I64,
                         pack->own->told.classes, count, "rows of each class", "rows");
}

/* "seed=0 valid=0.1": the options of the reader. */
static const char *options_text(const weft_kind *kind, const void *self, weft_arena *mem)
{
    const char *text = "";
    for (const weft_opt *opt = kind->opts; opt->name != NULL; opt++) {
        char name[64];
        weft_opt_name(opt, name, sizeof name);
        text = weft_arena_text(mem, "%s%s%s=%s", text, *text != '\0' ? " " : "", name,
                               weft_opt_told(opt, self, mem));
    }
    return text;
}

/* 1: documents that belong to clients, or are dealt to them. */
static int is_owned(const weft_pack *pack)
{
    return pack->own->layout.form == WEFT_TOKENS &&
           (pack->own->over.clients > 0 || pack->own->owner.n > 0);
}

static weft_status put_about(weft_pack *pack, const void *self, const char *source)
{
    weft_packing *own = pack->own;
    static const char *const side[] = {"channels", "height", "width"};
    const weft_kind *kind = &own->reader->kind;
    weft_hex digest;
    weft_digest_show(own->digest, digest);
    weft_h5 *file = &own->file;
    if (own->told.classes > 0)
        TRY(weft_h5_put_texts(file, "/class", own->told.class_name, own->told.classes,
                              own->beside.numbers.n > 0 ? "names of the targets"
                                                        : "names of the classes"));
    if (own->told.column != NULL)
        TRY(weft_h5_put_texts(file, "/column", own->told.column, own->layout.d,
                              "names of the columns"));
    if (own->told.table != NULL) TRY(weft_columns_put(file, "", own->told.table));
    TRY(weft_h5_put_texts(file, "/source", own->told.source, own->told.nsource,
                          "XXH3-128, bytes and name of each source"));
    TRY(weft_h5_put_attr(file, "/", "format", WEFT_DATA_FORMAT));
    TRY(weft_h5_put_attr(file, "/", "weft_version", WEFT_VERSION));
    TRY(weft_h5_put_attr(file, "/", "form", weft_forms[own->layout.form]->name));
    TRY(weft_h5_put_attr(file, "/", "reader", kind->name));
    TRY(weft_h5_put_attr(file, "/", "source", source));
    TRY(weft_h5_put_attr(file, "/", "options", options_text(kind, self, pack->mem)));
    if (own->held != NULL || (is_owned(pack) && own->over.clients > 0))
        TRY(weft_h5_put_attr(file, "/", "partition",
                             options_text(&weft_partition_kind, &own->over, pack->mem)));
    if (own->told.notation)
        TRY(weft_h5_put_attr(file, "/", "notation", own->told.notation));
    if (own->told.decided) TRY(weft_h5_put_attr(file, "/", "decided", own->told.decided));
    TRY(weft_h5_put_attr(file, "/", "split", own->told.split));
    if (own->told.scored) TRY(weft_h5_put_long(file, "/", "scored", 1));
    if (own->told.unlabelled) TRY(weft_h5_put_long(file, "/", "unlabelled", 1));
    for (int i = 0; i < 3 && own->layout.image[0] > 0 && own->federation == NULL; i++)
        TRY(weft_h5_put_long(file, "/", side[i], own->layout.image[i]));
    TRY(weft_h5_put_attr(file, "/", "digest", digest));
    TRY(weft_h5_put_long(file, "/", "columns", own->layout.d));
    return weft_h5_put_long(file, "/", "classes", own->told.classes);
}

/* Everything that is known only after the last row. */
static weft_status finish(weft_pack *pack, const void *self, const char *source)
{
    weft_packing *own = pack->own;
    const weft_kind *kind = &own->reader->kind;
    const weft_pack_ends *ends = &own->ends;
    weft_check(own->layout.form >= 0 && (own->told.classes > 0 || ends->corpus) &&
                   own->told.split != NULL,
               "reader %s ends too early", kind->name);
    int clients = own->held != NULL || own->federation != NULL || own->generator != NULL;
    for (int i = 0; i < WEFT_NPART; i++) {
        weft_check(own->layout.d == 0 || (clients && own->held == NULL) ||
                       own->part[i].n == own->layout.rows[i],
                   "reader %s hands over fewer rows than it announced", kind->name);
        if (clients || ends->corpus) continue;
        TRY(own->beside.numbers.n > 0 ? put_targets(pack, (weft_part)i)
                                      : put_labels(pack, (weft_part)i));
        TRY(put_beside(pack, (weft_part)i));
    }
    if (own->held != NULL) TRY(weft_pack_deal(pack));
    if (is_owned(pack)) TRY(weft_pack_own(pack));
    if (own->generator != NULL) TRY(weft_pack_generator_close(pack));
    if (own->layout.form == WEFT_TOKENS) TRY(weft_pack_text_close(pack));
    if (ends->corpus) TRY(ends->close(pack));
    if (own->federation != NULL) TRY(weft_pack_clients_close(pack));
    TRY(weft_scaling_put(pack));
    for (int i = 0; i < own->told.classes; i++)
        weft_digest_add(own->digest, own->told.class_name[i],
                        strlen(own->told.class_name[i]) + 1);
    return put_about(pack, self, source);
}

static void report(const weft_pack *pack, const char *out, double seconds)
{
    weft_packing *own = pack->own;
    static const char *const answers[] = {"classes", "target", "targets"};
    const char *clients = "";
    if (own->federation != NULL || is_owned(pack))
        clients = weft_arena_text(
            pack->mem, " of %lld clients",
            (long long)(is_owned(pack) ? own->owner.n : weft_pack_clients_count(pack)));
    weft_log(WEFT_INFO,
             "%s: %lld train, %lld valid, %lld test rows%s, %d %s, packed in %.2f s", out,
             (long long)own->part[WEFT_TRAIN].n, (long long)own->part[WEFT_VALID].n,
             (long long)own->part[WEFT_TEST].n, clients, own->told.classes,
             answers[(own->beside.numbers.n > 0) + (own->beside.numbers.n > 1)], seconds);
    if (own->scaling != NULL) weft_scaling_tell(pack, out);
    if (own->told.table != NULL && !own->told.scored) weft_columns_print(own->told.table);
    for (int t = 0; t < WEFT_NTOK && own->layout.form == WEFT_TOKENS; t++) {
        int64_t n = 0;
        int only = own->over.tokenizer;
        if (only != 0 && only != t + 1) continue;
        for (int i = 0; i < WEFT_NPART; i++) n += own->part[i].ntoken[t];
        weft_log(WEFT_INFO, "%s: tokenizer %s gives %lld tokens", out, weft_tok_name[t],
                 (long long)n);
    }
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
    /* pixels of an image have one unit, so that none is shifted for itself */
    if (st == WEFT_OK && own.scaling != NULL && own.layout.image[0] == 0)
        *scaling = weft_scaling_next(own.scaling, kept);
    int whole = st == WEFT_OK && *scaling == NULL;
    if (whole) st = finish(&pack, self, own.from);
    if (whole && st == WEFT_OK)
        st = weft_h5_commit(&own.file);
    else
        weft_h5_close(&own.file);
    if (whole && st == WEFT_OK && own.ends.corpus && level >= WEFT_INFO)
        st = own.ends.report(out, own.told.scored, weft_now() - own.began);
    else if (whole && st == WEFT_OK && !own.ends.corpus)
        report(&pack, out, weft_now() - own.began);
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
        .from = source, .layout = {.form = -1}, .reader = reader, .began = weft_now()};
    weft_scaling *scaling = NULL;
    WEFT_SCRATCH(kept);
    if (over != NULL) start.over = *over;
    weft_status st;
    do {
        st = pack_once(start, self, out, &scaling, kept, mem);
        weft_arena_reset(mem, mark);
    } while (st == WEFT_OK && scaling != NULL);
    return st;
}
