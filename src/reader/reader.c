/* What the readers share: files, also compressed by gzip, lines, rows of CSV; class labels.
 */
#include "reader.h"
#include "weft/base/base.h"
#include "weft/base/conf.h"
#include "weft/base/files.h"

#include <csv.h>
#include <utf8proc.h>
#include <zlib.h>

#include <ctype.h>
#include <dirent.h>
#include <errno.h>
#include <limits.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/stat.h>

/* ---- gzip ---- */

#define GZIP_WINDOW (15 + 16) /* zlib's largest window, with gzip's head */

/* 1: bytes[n] begin as a file compressed by gzip does. */
static int is_gzip(const char *bytes, size_t n)
{
    return n > 2 && memcmp(bytes, "\x1f\x8b", 2) == 0;
}

/* Room for at least one more byte in text[room], of which all are used. */
static char *widen(char *text, size_t *room, weft_arena *mem)
{
    char *more = WEFT_NEW(mem, char, 2 * *room + 1);
    memcpy(more, text, *room);
    *room *= 2;
    return more;
}

/* 1: all of them are 0, as tapes and block devices fill files up. */
static int are_zeros(const Bytef *byte, size_t n)
{
    while (n > 0 && byte[n - 1] == 0) n--;
    return n == 0;
}

/* The next piece of the stream, behind whose input `left` bytes follow and whose output
 * goes on behind text[*n]. zlib's code. */
static int inflate_some(z_stream *stream, size_t left, char **text, size_t *n, size_t *room,
                        weft_arena *mem)
{
    if (*n == *room) *text = widen(*text, room, mem);
    size_t free = *room - *n;
    stream->next_out = (Bytef *)*text + *n;
    stream->avail_out = free > INT_MAX ? INT_MAX : (uInt)free;
    uInt before = stream->avail_out;
    int code = inflate(stream, Z_NO_FLUSH);
    *n += before - stream->avail_out;
    /* Files may be concatenated. */
    if (code == Z_STREAM_END && !are_zeros(stream->next_in, stream->avail_in + left))
        code = inflateReset(stream);
    return code;
}

/* Expands text[*n] that is compressed by gzip, with a NUL after it. EDATA: it is damaged.
 */
static weft_status expand_gzip(const char *path, weft_arena *mem, char **text, size_t *n)
{
    z_stream stream = {.next_in = (Bytef *)*text, .avail_in = 0};
    size_t left = *n, room = 4 * *n, done = 0;
    char *out = WEFT_NEW(mem, char, room + 1);
    weft_check(inflateInit2(&stream, GZIP_WINDOW) == Z_OK, "zlib does not start");
    int code = Z_OK;
    while (code == Z_OK && (left > 0 || stream.avail_in > 0 || done == room)) {
        uInt more = left > INT_MAX ? INT_MAX : (uInt)left;
        if (stream.avail_in == 0) {
            stream.avail_in = more;
            left -= more;
        }
        code = inflate_some(&stream, left, &out, &done, &room, mem);
    }
    inflateEnd(&stream);
    if (code != Z_STREAM_END)
        return weft_fail(WEFT_EDATA, "%s cannot be decompressed: %s; fetch it again", path,
                         stream.msg ? stream.msg : "it is cut short");
    *text = out;
    *n = done;
    return WEFT_OK;
}

/* ---- files and lines ---- */

weft_status weft_read_all(const char *path, weft_arena *mem, char **text, size_t *n)
{
    FILE *file = fopen(path, "rb");
    struct stat info;
    if (file == NULL || fstat(fileno(file), &info) != 0 || S_ISDIR(info.st_mode)) {
        int err = file == NULL || !S_ISDIR(info.st_mode) ? errno : EISDIR;
        if (file != NULL) fclose(file);
        errno = err;
        return weft_unreadable(path);
    }
    *n = (size_t)info.st_size;
    *text = WEFT_NEW(mem, char, *n + 1);
    size_t got = fread(*text, 1, *n, file);
    fclose(file);
    if (got != *n)
        return weft_fail(WEFT_EFILE,
                         "read %zu of the %zu bytes of %s; check the file system", got, *n,
                         path);
    return WEFT_OK;
}

weft_status weft_read_bytes(const char *path, weft_arena *mem, char **text, size_t *n)
{
    TRY(weft_read_all(path, mem, text, n));
    return is_gzip(*text, *n) ? expand_gzip(path, mem, text, n) : WEFT_OK;
}

weft_status weft_read_text(const char *path, weft_arena *mem, char **text, size_t *n)
{
    TRY(weft_read_bytes(path, mem, text, n));
    TRY(weft_text_only(path, *text, *n));
    weft_mark_skip(text, n);
    if (memchr(*text, '\n', *n) == NULL) /* what ended lines before OS X */
        for (size_t i = 0; i < *n; i++)
            if ((*text)[i] == '\r') (*text)[i] = '\n';
    return WEFT_OK;
}

int64_t weft_dir_list(const char *path, const char ***name, weft_arena *mem)
{
    struct dirent **entry;
    int n = scandir(path, &entry, NULL, alphasort);
    if (n < 0) return -1;
    *name = WEFT_NEW(mem, const char *, n);
    for (int i = 0; i < n; i++) {
        (*name)[i] = weft_arena_text(mem, "%s", entry[i]->d_name);
        free(entry[i]);
    }
    free(entry);
    return n;
}

weft_status weft_like_federated(weft_h5 *file, int *federated)
{
    const char *config;
    weft_conf conf;
    *federated = weft_h5_has(file, "/client/first") || weft_h5_has(file, "/@owners");
    if (!weft_h5_has(file, "/winner")) return WEFT_OK;
    weft_conf_init(&conf, file->mem);
    TRY(weft_h5_read_attr(file, "/winner", "config", &config));
    TRY(weft_conf_text(&conf, file->path, config));
    const weft_entry *task = weft_conf_find(&conf, "run", "task");
    *federated =
        weft_h5_has(file, "/winner/client") || (task && strcmp(task->value, "fed") == 0);
    return WEFT_OK;
}

char *weft_line(char **at, char *end, size_t *n)
{
    char *line = *at;
    if (line >= end) return NULL;
    char *stop = memchr(line, '\n', (size_t)(end - line));
    if (stop == NULL) stop = end;
    *at = stop + 1;
    if (stop > line && stop[-1] == '\r') stop--;
    *stop = '\0';
    *n = (size_t)(stop - line);
    return line;
}

void weft_mark_skip(char **text, size_t *n)
{
    static const char mark[] = {'\xef', '\xbb', '\xbf'};
    if (*n < sizeof mark || memcmp(*text, mark, sizeof mark) != 0) return;
    *text += sizeof mark;
    *n -= sizeof mark;
}

char weft_separator_skip(char **text, size_t *n)
{
    static const char key[] = "\"sep=";
    int quoted = **text == '"';
    size_t length = strlen(key) - !quoted, end = length + 1;
    if (*n < length + 2 || strncmp(*text, key + !quoted, length) != 0) return 0;
    char separator = (*text)[length];
    if (quoted && (*text)[end++] != '"') return 0;
    end += (*text)[end] == '\r';
    if (end >= *n || (*text)[end] != '\n') return 0;
    *text += end + 1;
    *n -= end + 1;
    return separator;
}

const char *weft_basename(const char *path)
{
    const char *slash = strrchr(path, '/');
    return slash != NULL ? slash + 1 : path;
}

weft_status weft_shape_read(const char *text, int64_t d, int side[3])
{
    char more;
    int sides = sscanf(text, "%6dx%6dx%6d%c", &side[0], &side[1], &side[2], &more);
    if (sides != 3 || side[0] < 1 || side[1] < 1 || side[2] < 1)
        return weft_fail(WEFT_ECONF,
                         "shape = %s is no CHANNELSxHEIGHTxWIDTH, such as 3x32x32", text);
    int64_t numbers = (int64_t)side[0] * side[1] * side[2];
    if (numbers == d) return WEFT_OK;
    return weft_fail(WEFT_ECONF, "shape = %s has %lld numbers where samples have %lld",
                     text, (long long)numbers, (long long)d);
}

/* ---- rows of CSV ---- */

/* What libcsv tells of a file. */
struct parsing {
    weft_csv_source *source;
    const char **field; /* [n] of the row being read */
    int64_t n, room;
    weft_status st; /* of the first row that failed */
    weft_arena *mem;
};

static void on_field(void *text, size_t n, void *ctx)
{
    struct parsing *parsing = ctx;
    const weft_csv_source *source = parsing->source;
    parsing->field = weft_grow(parsing->mem, parsing->field, sizeof *parsing->field,
                               parsing->n, &parsing->room);
    if (n > 0 && memchr(text, '\0', n) != NULL && parsing->st == WEFT_OK)
        parsing->st =
            weft_fail(WEFT_EDATA, "%s: line %lld has a NUL byte; is this a text file?",
                      source->path, (long long)source->line);
    char *copy = WEFT_NEW(source->row, char, n + 1);
    if (n > 0) memcpy(copy, text, n);
    parsing->field[parsing->n++] = copy;
}

static void on_row(int end, void *ctx)
{
    struct parsing *parsing = ctx;
    weft_csv_source *source = parsing->source;
    const weft_csv_row row = {source->line, parsing->field, parsing->n};
    (void)end;
    if (parsing->st == WEFT_OK) parsing->st = source->take(source->ctx, &row);
    parsing->n = 0;
    weft_arena_reset(source->row, 0);
}

/* What libcsv has refused: a quotation mark, or a field for which there is no memory. */
static weft_status bad_line(const weft_csv_source *source, struct csv_parser *parser)
{
    if (source->opened > 0)
        return weft_fail(WEFT_EDATA,
                         "%s: line %lld has a quotation mark that nothing closes; %s",
                         source->path, (long long)source->opened, source->unclosed);
    if (csv_error(parser) != CSV_EPARSE)
        return weft_fail(WEFT_EDATA, "%s: line %lld: %s; is it a table?", source->path,
                         (long long)source->line, csv_strerror(csv_error(parser)));
    return weft_fail(WEFT_EDATA,
                     "%s: line %lld has a quotation mark out of place; double one that is "
                     "part of a text",
                     source->path, (long long)source->line);
}

static void count_quotes(weft_csv_source *source, const char *at, size_t n)
{
    int quotes = 0;
    for (size_t i = 0; i < n; i++) quotes += at[i] == '"';
    source->quotes = quotes > 0;
    source->odd = quotes & 1;
}

/* A line, the end of it included. */
static void read_csv_line(struct parsing *parsing, struct csv_parser *parser,
                          const char *at, size_t n)
{
    weft_csv_source *source = parsing->source;
    weft_csv_line what = WEFT_CSV_PARSED;
    int within = source->opened > 0;
    if (!within && source->odd) source->opened = source->line;
    parsing->st = source->look(source->ctx, at, n, &what);
    if (parsing->st != WEFT_OK) return;
    if (what == WEFT_CSV_EMPTY) {
        on_field(NULL, 0, parsing);
        on_row('\n', parsing);
    } else if (what == WEFT_CSV_PARSED &&
               csv_parse(parser, at, n, on_field, on_row, parsing) != n &&
               parsing->st == WEFT_OK) {
        parsing->st = bad_line(source, parser);
    }
    if (within && source->odd) source->opened = 0;
}

weft_status weft_csv_read(weft_csv_source *source, const char *text, size_t n)
{
    struct parsing parsing = {.source = source, .mem = weft_arena_new()};
    int quoted = memchr(text, '"', n) != NULL;
    struct csv_parser parser;
    weft_check(csv_init(&parser, CSV_STRICT | CSV_STRICT_FINI) == 0,
               "libcsv does not start");
    csv_set_delim(&parser, (unsigned char)source->separator);
    for (const char *at = text, *end = text + n; at < end && parsing.st == WEFT_OK;) {
        const char *stop = memchr(at, '\n', (size_t)(end - at));
        size_t length = stop != NULL ? (size_t)(stop - at) + 1 : (size_t)(end - at);
        source->line++;
        if (quoted) count_quotes(source, at, length);
        read_csv_line(&parsing, &parser, at, length);
        at += length;
    }
    if (parsing.st == WEFT_OK && csv_fini(&parser, on_field, on_row, &parsing) != 0)
        parsing.st = bad_line(source, &parser);
    csv_free(&parser);
    weft_arena_free(parsing.mem);
    return parsing.st;
}

/* ---- labels ---- */

/* The class of that name, or the next one where it is new. */
static int find_label(const weft_labels *labels, const char *text, size_t n)
{
    for (int i = -1; i < labels->n; i++) {
        int c = i < 0 ? labels->last : i;
        if (c < labels->n && strlen(labels->name[c]) == n &&
            memcmp(labels->name[c], text, n) == 0)
            return c;
    }
    return labels->n;
}

/* "FILE: line 7", or "FILE" where the line is 0. */
static const char *place_of(const weft_labels *labels, int64_t line)
{
    if (line == 0) return labels->path;
    return weft_arena_text(labels->mem, "%s: line %lld", labels->path, (long long)line);
}

weft_status weft_labels_find(weft_labels *labels, int64_t line, const char *text, size_t n,
                             int32_t *number)
{
    *number = labels->last = find_label(labels, text, n);
    if (*number < labels->n) return WEFT_OK;
    size_t good = weft_utf8_check(text, n);
    if (good < n)
        return weft_fail(WEFT_EDATA, "%s, byte %zu of the label is not UTF-8; convert it",
                         place_of(labels, line), good);
    if (memchr(text, '\0', n) != NULL)
        return weft_fail(WEFT_EDATA,
                         "%s has a NUL byte in its label; is this text in UTF-8?",
                         place_of(labels, line));
    if (labels->n == WEFT_MAX_CLASSES)
        return weft_fail(
            WEFT_EDATA,
            "%s brings more than %d classes, the last '%.*s'; check where the label "
            "stands, "
            "which the option label says, and that it is one and not continuous",
            place_of(labels, line), WEFT_MAX_CLASSES, n < 40 ? (int)n : 40, text);
    labels->name = weft_grow(labels->mem, labels->name, sizeof *labels->name, labels->n,
                             &labels->room);
    labels->name[labels->n++] = weft_arena_text(labels->mem, "%.*s", (int)n, text);
    return WEFT_OK;
}

int weft_number_lost(const char *text)
{
    enum { SURE = 15, ROOM = 400 };
    char whole[ROOM];
    text += strspn(text, " +-0");
    size_t n = strspn(text, "0123456789");
    if (n <= SURE || n >= ROOM || text[n + strspn(text + n, " ")] != '\0') return 0;
    snprintf(whole, sizeof whole, "%.0f", strtod(text, NULL));
    return strncmp(whole, text, n) != 0;
}

typedef struct class_rank {
    const char *name;
    int id;
} class_rank;

int weft_labels_compare(const char *a, const char *b)
{
    char *aend, *bend;
    double u = strtod(a, &aend), v = strtod(b, &bend);
    int anum = *aend == '\0' && isfinite(u), bnum = *bend == '\0' && isfinite(v);
    if (anum != bnum) return bnum - anum;
    if (anum && u < v) return -1;
    if (anum && u > v) return 1;
    return strcmp(a, b);
}

static int by_name(const void *a, const void *b)
{
    const class_rank *x = a, *y = b;
    return weft_labels_compare(x->name, y->name);
}

/* Labels nearly all of which differ, all numbers, are none of classes: n of them. */
static weft_status check_continuous(const weft_labels *labels, const char *source,
                                    int64_t n)
{
    enum { WHOLE = 20, FRACTIONS = 10 }; /* classes that a label may have in any case */
    const char *fraction = NULL;
    for (int i = 0; i < labels->n; i++) {
        char *end;
        double x = strtod(labels->name[i], &end);
        if (end == labels->name[i] || *end != '\0' || !isfinite(x)) return WEFT_OK;
        if (x > floor(x)) fraction = labels->name[i];
    }
    if (fraction ? labels->n <= FRACTIONS || 5 * labels->n <= n
                 : labels->n <= WHOLE || 2 * labels->n <= n)
        return WEFT_OK;
    return weft_fail(WEFT_EDATA,
                     "%s: the labels of %lld rows are %d different numbers, such as %s: a "
                     "label that is continuous is not learnt; name another one, or cut it "
                     "into classes",
                     source, (long long)n, labels->n,
                     fraction ? fraction : labels->name[0]);
}

/* ---- names that are alike ---- */

/* A name and what it means. */
typedef struct name_meaning {
    const char *name, *text;
} name_meaning;

static int by_meaning(const void *a, const void *b)
{
    const name_meaning *x = a, *y = b;
    int order = strcmp(x->text, y->text);
    return order != 0 ? order : strcmp(x->name, y->name);
}

const char *weft_name_meaning(const char *name, weft_arena *mem)
{
    char *end;
    double number = strtod(name, &end);
    if (end > name && *end == '\0' && isfinite(number) && !weft_number_lost(name))
        return weft_arena_text(mem, "%.17g", number + 0.0); /* "-0" is "0" */
    utf8proc_uint8_t *form = NULL;
    utf8proc_map((const utf8proc_uint8_t *)name, 0, &form,
                 UTF8PROC_NULLTERM | UTF8PROC_STABLE | UTF8PROC_COMPOSE | UTF8PROC_IGNORE |
                     UTF8PROC_LUMP);
    if (!form) return weft_arena_text(mem, "%s", name); /* it is not UTF-8 */
    const char *from = (const char *)form;
    size_t room = 2 * strlen(from), to = 0;
    char *text = WEFT_NEW(mem, char, room + 1);
    size_t n = weft_lower(from, strlen(from), text, room);
    for (size_t i = 0; i < n; i++)
        if (!isspace((unsigned char)text[i])) text[to++] = text[i];
    text[to] = '\0';
    free(form);
    return text;
}

void weft_names_alike(int64_t n, const char *const *name, const char *what,
                      const char *source, const char *remedy)
{
    WEFT_SCRATCH(tmp);
    name_meaning *meaning = WEFT_NEW(tmp, name_meaning, n);
    for (int64_t i = 0; i < n; i++)
        meaning[i] = (name_meaning){name[i], weft_name_meaning(name[i], tmp)};
    if (n > 0) qsort(meaning, (size_t)n, sizeof *meaning, by_meaning);
    int64_t pairs = 0, first = 0;
    for (int64_t i = n - 1; i > 0; i--)
        if (strcmp(meaning[i].text, meaning[i - 1].text) == 0) {
            pairs++;
            first = i;
        }
    if (pairs > 0)
        weft_log(
            WEFT_WARN,
            "%s: %s '%s' and '%s'%s are kept apart, as they are written; are they one? "
            "then %s",
            source, what, meaning[first - 1].name, meaning[first].name,
            pairs > 1 ? weft_arena_text(tmp, " (and %lld more)", (long long)pairs - 1) : "",
            remedy ? remedy : "write them alike");
}

/* ---- what stands for no value ---- */

int weft_cell_missing(const char *text)
{
    static const char *const word[] = {"",     "?",    "NA",   "N/A", "#N/A",
                                       "nan",  "null", "none", "-",   ".",
                                       "-nan", "nil",  "NaT",  "\\N", "<NA>"};
    enum { LONGEST = 4 };
    if (strchr("?nN#-.\\<", *text) == NULL) return 0; /* "" has what ends this one */
    if (strnlen(text, LONGEST + 1) > LONGEST) return 0;
    for (size_t i = 0; i < sizeof word / sizeof *word; i++)
        if (((*text ^ *word[i]) & ~0x20) == 0 && strcasecmp(text, word[i]) == 0) return 1;
    return 0;
}

/* 1: the name of a class may stand for a label that is missing, as -99 does, too. */
static int may_be_missing(const char *name)
{
    enum { NINES = 2 };
    size_t nines = *name == '-' ? strspn(name + 1, "9") : 0;
    return weft_cell_missing(name) || (nines >= NINES && name[nines + 1] == '\0');
}

/* ---- the end of labels ---- */

weft_status weft_labels_close(weft_labels *labels, const char *source, int32_t *label,
                              int64_t n, weft_pack *pack)
{
    if (labels->n < 2)
        return weft_fail(WEFT_EDATA,
                         "%s has %d class%s%s%s where two or more are needed; check "
                         "file and options",
                         source, labels->n, labels->n == 1 ? ", '" : "es",
                         labels->n == 1 ? labels->name[0] : "", labels->n == 1 ? "'," : "");
    if (!labels->any) TRY(check_continuous(labels, source, n));
    weft_names_alike(labels->n, labels->name, "classes", source, labels->remedy);
    class_rank *rank = WEFT_NEW(labels->mem, class_rank, labels->n);
    for (int i = 0; i < labels->n; i++) rank[i] = (class_rank){labels->name[i], i};
    qsort(rank, (size_t)labels->n, sizeof *rank, by_name);
    int32_t *to = WEFT_NEW(labels->mem, int32_t, labels->n);
    for (int i = 0; i < labels->n; i++) {
        to[rank[i].id] = i;
        labels->name[i] = rank[i].name;
    }
    for (int64_t i = 0; i < n; i++) label[i] = to[label[i]];
    for (int i = 0; i < labels->n; i++)
        if (may_be_missing(labels->name[i]))
            weft_log(
                WEFT_WARN,
                "%s: the class '%s' may be a label that is missing; if so, remove its rows",
                source, labels->name[i]);
    weft_pack_classes(pack, labels->n, labels->name);
    return WEFT_OK;
}

weft_status weft_labels_match(const weft_labels *labels, int classes,
                              const char *const *class_name, int32_t *label, int64_t n)
{
    int32_t *to = WEFT_NEW(labels->mem, int32_t, labels->n + 1);
    for (int i = 0; i < labels->n; i++) {
        const char *name = labels->name[i];
        while (to[i] < classes && strcmp(class_name[to[i]], name) != 0) to[i]++;
        if (to[i] == classes && *name != '\0')
            return weft_fail(WEFT_EDATA,
                             "%s has the class '%s', which is not among those that were "
                             "learnt; mend it, or leave the column out",
                             labels->path, name);
        if (*name == '\0') to[i] = 0;
    }
    for (int64_t i = 0; i < n; i++) label[i] = to[label[i]];
    return WEFT_OK;
}
