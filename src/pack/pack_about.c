/* What a packed file says of its data: classes, columns, the rule of the split, sources,
 * and the digest of what was written; and the options of `weft pack`. */
#include "pack.h"
#include "weft/base/base.h"
#include "weft/base/conf.h"
#include "weft/store/file.h"

#include <ctype.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

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

const char *weft_pack_path(const weft_pack *pack, int part, const char *what)
{
    return weft_arena_text(pack->mem, "/%s/%s", weft_part_name[part], what);
}

weft_status weft_pack_put(weft_pack *pack, const char *name, weft_h5type type, int64_t n,
                          const void *data, const char *about, const char *unit)
{
    weft_digest_add(pack->own->digest, data, (size_t)n * weft_h5_size(type));
    return weft_h5_put(&pack->own->file, name, type, 1, &n, data, 0, about, unit);
}

/* ---- what is told of the data ---- */

void weft_pack_classes(weft_pack *pack, int n, const char *const *name)
{
    const char **copy = WEFT_NEW(pack->mem, const char *, n);
    for (int i = 0; i < n; i++) copy[i] = weft_arena_text(pack->mem, "%s", name[i]);
    pack->own->told.classes = n;
    pack->own->told.class_name = copy;
}

void weft_pack_numbered(weft_pack *pack, int n)
{
    const char **name = WEFT_NEW(pack->mem, const char *, n);
    for (int i = 0; i < n; i++) name[i] = weft_arena_text(pack->mem, "%d", i);
    weft_pack_classes(pack, n, name);
}

static int by_text(const void *a, const void *b)
{
    return strcmp(*(const char *const *)a, *(const char *const *)b);
}

/* The columns of the matrix have names, [d]; ones that are empty or occur twice are not
 * kept, with a warning. */
static void name_columns(weft_pack *pack, const char *const *name)
{
    weft_packing *own = pack->own;
    const char **copy = WEFT_NEW(pack->mem, const char *, own->layout.d),
               **order = WEFT_NEW(pack->mem, const char *, own->layout.d);
    for (int64_t i = 0; i < own->layout.d; i++)
        order[i] = copy[i] = weft_arena_text(pack->mem, "%s", name[i]);
    qsort(order, (size_t)own->layout.d, sizeof *order, by_text);
    int64_t bad = 0;
    while (bad < own->layout.d && *order[bad] != '\0' &&
           (bad == 0 || strcmp(order[bad], order[bad - 1]) != 0))
        bad++;
    own->told.column = bad == own->layout.d ? copy : NULL;
    if (own->told.column == NULL)
        weft_log(WEFT_WARN, "the names of columns are not kept: '%s' %s", order[bad],
                 *order[bad] == '\0'
                     ? "is none"
                     : "occurs twice; such columns are told apart by their order");
}

void weft_pack_scored(weft_pack *pack, int labelled)
{
    pack->own->told.scored = 1;
    pack->own->told.unlabelled = !labelled;
}

void weft_pack_table(weft_pack *pack, const weft_columns *columns, int named)
{
    pack->own->told.table = columns;
    int plain = 1;
    for (int64_t j = 0; j < columns->n; j++) plain &= columns->at[j].features <= 1;
    if (named || !plain) name_columns(pack, weft_columns_names(columns, pack->mem));
}

void weft_pack_notation(weft_pack *pack, const void *self, const char *const *kept)
{
    const weft_opt *opts = pack->own->reader->kind.opts;
    for (; *kept; kept++) {
        const char *value = weft_opt_given(opts, self, *kept, pack->mem),
                   *before = pack->own->told.notation ? pack->own->told.notation : "";
        if (value)
            pack->own->told.notation =
                weft_arena_text(pack->mem, "%s%s=%s\n", before, *kept, value);
    }
}

/* The text of a format. */
WEFT_PRINTF(2, 0)
static char *text_of(const weft_pack *pack, const char *format, va_list args)
{
    va_list again;
    va_copy(again, args);
    size_t room = (size_t)vsnprintf(NULL, 0, format, again) + 1;
    va_end(again);
    char *text = WEFT_NEW(pack->mem, char, room);
    vsnprintf(text, room, format, args);
    return text;
}

void weft_pack_decided(weft_pack *pack, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    char *line = text_of(pack, format, args);
    va_end(args);
    const char *before = pack->own->told.decided;
    weft_log(WEFT_INFO, "%s: %s", pack->own->from, line);
    weft_one_line(line);
    pack->own->told.decided =
        before ? weft_arena_text(pack->mem, "%s\n%s", before, line) : line;
}

void weft_pack_split(weft_pack *pack, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    pack->own->told.split = text_of(pack, format, args);
    va_end(args);
}

void weft_pack_split_add(weft_pack *pack, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    pack->own->told.split = weft_arena_text(pack->mem, "%s; %s", pack->own->told.split,
                                            text_of(pack, format, args));
    va_end(args);
}

void weft_pack_source_sum(weft_pack *pack, const char *name, const weft_digest *digest,
                          int64_t bytes)
{
    weft_packing *own = pack->own;
    weft_hex hex;
    weft_digest_show(digest, hex);
    for (int64_t i = 0; i < own->told.nsource && bytes > 0; i++)
        if (strncmp(own->told.source[i], hex, strlen(hex)) == 0)
            weft_log(
                WEFT_WARN,
                "%s has the same bytes as %s; is one of them meant to be another file?",
                name, strstr(own->told.source[i] + strlen(hex) + 2, "  ") + 2);
    own->told.source = weft_grow(pack->mem, own->told.source, sizeof *own->told.source,
                                 own->told.nsource, &own->told.source_room);
    own->told.source[own->told.nsource++] =
        weft_arena_text(pack->mem, "%s  %lld  %s", hex, (long long)bytes, name);
}

weft_status weft_pack_apart(const weft_pack *pack, const char *path)
{
    if (!pack->own->replaces || !weft_file_same(pack->own->file.path, path)) return WEFT_OK;
    return weft_fail(
        WEFT_ECONF,
        "%s would replace %s, which it is packed from; choose another name by -o",
        pack->own->file.path, path);
}

weft_status weft_pack_files(const weft_pack *pack, const char *file[WEFT_NPART])
{
    static const char standard[] = "/dev/stdin";
    int n = 0;
    for (int p = 0; p < WEFT_NPART; p++)
        n += strcmp(file[p], "-") == 0 || strcmp(file[p], standard) == 0;
    if (n > 1)
        return weft_fail(WEFT_ECONF,
                         "standard input, -, is read for %d parts, and has one; name a "
                         "file of each other part",
                         n);
    for (int p = 0; p < WEFT_NPART; p++)
        TRY(weft_file_source(&file[p], pack->own->file.path));
    return WEFT_OK;
}

weft_status weft_pack_scratch(const weft_pack *pack, int *fd)
{
    return weft_file_scratch(pack->own->file.path, fd);
}

weft_status weft_pack_source(weft_pack *pack, const char *path)
{
    TRY(weft_pack_apart(pack, path));
    FILE *file = fopen(path, "rb");
    if (file == NULL) return weft_unreadable(path);
    char block[1 << 15];
    WEFT_REWIND(pack->scratch);
    size_t n;
    weft_digest *sum = weft_digest_new(pack->scratch);
    int64_t bytes = 0;
    while ((n = fread(block, 1, sizeof block, file)) > 0) {
        weft_digest_add(sum, block, n);
        bytes += (int64_t)n;
    }
    weft_status st = ferror(file) ? weft_unreadable(path) : WEFT_OK;
    fclose(file);
    if (st == WEFT_OK) weft_pack_source_sum(pack, path, sum, bytes);
    return st;
}

/* ---- matrices ---- */

weft_status weft_pack_check_valid(const weft_pack *pack, int64_t rows)
{
    if (rows > 0) return WEFT_OK;
    return weft_fail(
        WEFT_EDATA,
        "%s: there are no validation rows; give more rows or a larger valid = SHARE",
        pack->own->from);
}

weft_status weft_pack_count(weft_pack *pack, weft_part part, int64_t **out)
{
    weft_packing *own = pack->own;
    const weft_pack_part *from = &own->part[part];
    int64_t *count = *out = WEFT_NEW(pack->mem, int64_t, own->told.classes);
    for (int64_t i = 0; i < from->n; i++) {
        weft_check(from->label[i] >= 0 && from->label[i] < own->told.classes,
                   "a reader gives label %d of %d classes", (int)from->label[i],
                   own->told.classes);
        count[from->label[i]]++;
    }
    if (own->told.scored) return WEFT_OK;
    for (int i = 0; i < own->told.classes && part == WEFT_TRAIN; i++)
        if (count[i] == 0)
            return weft_fail(WEFT_EDATA,
                             "%s: class '%s' has no training rows; shares = class divides "
                             "the rows of each class, or remove its rows",
                             own->from, own->told.class_name[i]);
    return part == WEFT_VALID ? weft_pack_check_valid(pack, from->n) : WEFT_OK;
}

/* ---- options on the command line ---- */

static int has_option(const weft_kind *kind, const char *key)
{
    for (const weft_opt *opt = kind->opts; opt->name != NULL; opt++)
        if (weft_opt_is(opt, key)) return 1;
    return 0;
}

/* The option of either whose name is nearest to a key that neither has. */
static const char *nearest_option(const weft_kind *const kind[2], const char *key,
                                  weft_arena *mem)
{
    const char **name = NULL;
    int64_t n = 0, room = 0;
    for (int i = 0; i < 2; i++)
        for (const weft_opt *opt = kind[i]->opts; opt->name != NULL; opt++) {
            char *text = WEFT_NEW(mem, char, strlen(opt->name) + 1);
            weft_opt_name(opt, text, strlen(opt->name) + 1);
            name = weft_grow(mem, name, sizeof *name, n, &room);
            name[n++] = text;
        }
    return weft_nearest(key, name, (int)n);
}

/* Gives a word to the options that have its key; *own is that key if only the partition has
 * it. */
static weft_status sort_word(weft_conf *conf, const weft_kind *const kind[2],
                             const char *word, const char **own, weft_arena *mem)
{
    const char *key = weft_arena_text(mem, "%.*s", (int)strcspn(word, "="), word);
    int mine = has_option(kind[0], key), shared = has_option(kind[1], key);
    if (!mine && !shared) {
        const char *near = nearest_option(kind, key, mem);
        mine = has_option(kind[0], near);
        shared = !mine;
    } else if (!mine) {
        *own = key;
    }
    if (mine) TRY(weft_conf_set(conf, weft_arena_text(mem, "%s.%s", kind[0]->name, word)));
    if (shared)
        TRY(weft_conf_set(conf, weft_arena_text(mem, "%s.%s", kind[1]->name, word)));
    return WEFT_OK;
}

/* Sets the options by which the source was read that this one is to be like, see
 * weft_pack_notation. */
static weft_status set_known(weft_conf *conf, const weft_kind *kind, const char *like,
                             weft_arena *mem)
{
    weft_h5 file;
    const char *notation = "";
    TRY(weft_h5_open(&file, like, mem));
    weft_status st = weft_h5_find_attr(
        &file, weft_h5_has(&file, "/winner") ? "/winner" : "/", "notation", &notation);
    weft_h5_close(&file);
    TRY(st);
    return weft_conf_text(conf, like,
                          weft_arena_text(mem, "[%s]\n%s", kind->name, notation));
}

weft_status weft_pack_options(const weft_reader *reader, int n, const char *const *word,
                              void **self, weft_partition *over, weft_arena *mem)
{
    const weft_kind *const kind[2] = {&reader->kind, &weft_partition_kind};
    static const char like[] = "like=";
    const char *own = NULL;
    weft_conf conf;
    weft_conf_init(&conf, mem);
    for (int i = 0; i < n; i++)
        if (strncmp(word[i], like, strlen(like)) == 0 && has_option(kind[0], "like"))
            TRY(set_known(&conf, kind[0], word[i] + strlen(like), mem));
    for (int i = 0; i < n; i++) TRY(sort_word(&conf, kind, word[i], &own, mem));
    *self = weft_arena_alloc(mem, 1, reader->kind.size);
    TRY(weft_conf_bind(&conf, &reader->kind, *self));
    *over = (weft_partition){0};
    weft_status st = weft_conf_bind(&conf, &weft_partition_kind, over);
    const weft_entry *clients = weft_conf_find(&conf, weft_partition_kind.name, "clients");
    if (st != WEFT_OK && clients && isalpha((unsigned char)*clients->value) &&
        has_option(&reader->kind, "client"))
        return weft_entry_fail(clients,
                               "it is how many; client = %s names the column with "
                               "the client of each row",
                               clients->value);
    TRY(st);
    if (own != NULL && over->clients == 0)
        return weft_fail(
            WEFT_ECONF,
            "%s says how rows are split over clients: give clients = N, 1 or more, too",
            own);
    return WEFT_OK;
}

void weft_pack_class_groups(weft_pack *pack, int n, const int *group)
{
    pack->own->told.groups = n;
    pack->own->told.group = group;
}

weft_status weft_partition_refuse(const weft_pack *pack)
{
    if (pack->own->held != NULL) return WEFT_OK; /* they are these clients */
    const char *name = pack->own->reader->kind.name;
    int own = has_option(&pack->own->reader->kind, "clients");
    if (pack->own->over.rule == WEFT_PART_NONE && (pack->own->over.clients == 0 || own))
        return WEFT_OK;
    return weft_fail(WEFT_ECONF,
                     "%s gives samples to clients of its own: leave out partition%s", name,
                     own ? "" : " and clients");
}
