/* Tables of numbers with a class in each row: CSV (dense_csv.c), or the sparse text format
 * of libsvm, LABEL INDEX:VALUE ... with indices from 1, whose missing values are 0. */
#include "dense.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#ifdef WEFT_FUZZ
#define MAX_COLUMNS 10000 /* most inputs would be packed as rows of a million zeros */
#else
#define MAX_COLUMNS 1000000
#endif
#define BLOCK_BYTES ((int64_t)1 << 22)

enum { AUTO, CSV, LIBSVM };

typedef struct dense {
    int format, separator;
    weft_csv csv;
    weft_split split;
    const char *shape; /* "3x32x32"; "": no images */
} dense;

static const weft_opt options[] = {
    {"format", WEFT_CHOICE, offsetof(dense, format), "auto", 0, 0, "auto|csv|libsvm",
     "of the file; auto: csv where the first line has a separator of columns", 0},
    {"separator", WEFT_CHOICE, offsetof(dense, separator), "auto", 0, 0,
     "auto|comma|semicolon|tab",
     "what stands between the columns of a CSV file; auto: what the first line has most of",
     0},
    {"label", WEFT_TEXT, offsetof(dense, csv.label), "last", 0, 0, NULL,
     "column of the class in a CSV file: first, last, its number from 1, or its name", 0},
    {"header", WEFT_CHOICE, offsetof(dense, csv.header), "auto", 0, 0, "auto|yes|no",
     "names in the first line of a CSV file; auto: where it has other than numbers", 0},
    {"valid", WEFT_REAL, offsetof(dense, split.valid), "0.1", 0, 0.9, NULL,
     "share of the rows for validation", 0},
    {"test", WEFT_REAL, offsetof(dense, split.test), "0.1", 0, 0.9, NULL,
     "share of the rows for the test", 0},
    WEFT_SHARES_OPTION(offsetof(dense, split.shares)),
    {"seed", WEFT_LONG, offsetof(dense, split.seed), "0", 0, 9e15, NULL,
     "of the shuffle that divides the rows", 0},
    {"shape", WEFT_TEXT, offsetof(dense, shape), "", 0, 0, NULL,
     "channels x height x width of rows that are images, as in 3x32x32, planes of rows of "
     "pixels",
     0},
    {.name = NULL},
};

/* ---- tables ---------------------------------------------------------------------- */

weft_status weft_dense_row(weft_dense_rows *t, int64_t line, const char *label)
{
    t->label = weft_grow(t->mem, t->label, sizeof *t->label, t->n, &t->label_room);
    return weft_labels_find(&t->labels, line, label, strlen(label), &t->label[t->n++]);
}

int weft_table_number(const char *text, double *x)
{
    char *end;
    *x = strtod(text, &end);
    if (!isfinite((float)*x)) *x = INFINITY; /* no float either */
    while (*end == ' ') end++;
    return end != text && *end == '\0';
}

const char *weft_table_label(const char *text, weft_arena *mem)
{
    char *end;
    double x = strtod(text, &end);
    while (*end == ' ') end++;
    if (end == text || *end != '\0' || !isfinite(x)) return text;
    return weft_arena_text(mem, "%.15g", x + 0.0); /* "-0" is "0" */
}

/* ---- libsvm ---------------------------------------------------------------------- */

static void add_entry(weft_dense_rows *t, int64_t column, double value)
{
    t->value = weft_grow(t->mem, t->value, sizeof *t->value, t->entries, &t->value_room);
    t->column =
        weft_grow(t->mem, t->column, sizeof *t->column, t->entries, &t->column_room);
    t->value[t->entries] = value;
    t->column[t->entries++] = (int32_t)column;
    if (column >= t->d) t->d = column + 1;
}

/* One "INDEX:VALUE"; `last` is the index before it. */
static weft_status read_pair(const char *path, int64_t line, char *pair, long *last,
                             weft_dense_rows *t)
{
    char *colon = strchr(pair, ':'), *end = pair;
    long index = colon != NULL ? strtol(pair, &end, 10) : 0;
    if (colon == NULL || end != colon)
        return weft_fail(WEFT_EDATA,
                         "%s: line %lld has '%.40s' where INDEX:VALUE is expected, or "
                         "commas, semicolons or tabs between columns",
                         path, (long long)line, pair);
    if (index <= *last || index > MAX_COLUMNS)
        return weft_fail(WEFT_EDATA,
                         "%s: line %lld has index %ld after %ld; indices rise from 1 to "
                         "at most %d",
                         path, (long long)line, index, *last, MAX_COLUMNS);
    double x;
    if (!weft_table_number(colon + 1, &x) || !isfinite(x))
        return weft_fail(WEFT_EDATA,
                         "%s: line %lld, column %ld is '%.40s' where a finite number is "
                         "expected",
                         path, (long long)line, index, colon + 1);
    *last = index;
    add_entry(t, index - 1, x);
    return WEFT_OK;
}

weft_status weft_read_libsvm(const char *path, char *text, size_t n, weft_dense_rows *t)
{
    static const char blank[] = " \t";
    char *line, *rest;
    size_t length;
    char *at = text, *end = text + n;
    for (int64_t number = 1; (line = weft_line(&at, end, &length)) != NULL; number++) {
        if (strlen(line) < length)
            return weft_fail(WEFT_EDATA,
                             "%s: line %lld has a NUL byte; is this a text file?", path,
                             (long long)number);
        line[strcspn(line, "#")] = '\0';
        char *word = strtok_r(line, blank, &rest);
        if (word == NULL) continue;
        const char *label = weft_table_label(word, t->mem);
        if (strchr(word, ':') != NULL)
            return weft_fail(WEFT_EDATA,
                             "%s: line %lld has no label; a line is LABEL INDEX:VALUE "
                             "...",
                             path, (long long)number);
        long last = 0;
        while ((word = strtok_r(NULL, blank, &rest)) != NULL)
            TRY(read_pair(path, number, word, &last, t));
        t->first = weft_grow(t->mem, t->first, sizeof *t->first, t->n + 1, &t->first_room);
        t->first[t->n + 1] = t->entries;
        TRY(weft_dense_row(t, number, label));
    }
    return WEFT_OK;
}

/* ---- the reader ------------------------------------------------------------------ */

/* Row i in full. */
static void copy_row(const weft_dense_rows *t, int64_t i, double *x)
{
    size_t bytes = (size_t)t->d * sizeof *x;
    if (t->column == NULL) {
        memcpy(x, t->value + i * t->d, bytes);
        return;
    }
    memset(x, 0, bytes);
    for (int64_t e = t->first[i]; e < t->first[i + 1]; e++) x[t->column[e]] = t->value[e];
}

static weft_status hand_over(const weft_dense_rows *t, const int64_t *order, weft_pack *p)
{
    int64_t block = BLOCK_BYTES / (t->d * (int64_t)sizeof(double));
    if (block > t->n) block = t->n;
    if (block < 1) block = 1;
    double *x = WEFT_NEW(p->mem, double, block * t->d);
    int32_t *label = WEFT_NEW(p->mem, int32_t, block);
    for (int64_t start = 0; start < t->n; start += block) {
        int64_t count = t->n - start < block ? t->n - start : block;
        for (int64_t i = 0; i < count; i++) {
            label[i] = t->label[order[start + i]];
            copy_row(t, order[start + i], x + i * t->d);
        }
        TRY(weft_pack_rows(p, count, x, label));
    }
    return WEFT_OK;
}

/* Says that rows are images, if so. */
static weft_status tell_shape(const char *shape, int64_t d, weft_pack *p)
{
    int side[3];
    if (*shape == '\0') return WEFT_OK;
    TRY(weft_shape_read(shape, d, side));
    weft_pack_image(p, side[0], side[1], side[2]);
    return WEFT_OK;
}

/* What separates the columns; 0: the file is libsvm's. */
static char separator_of(const dense *o, const char *text, size_t n)
{
    enum { CHOICES = 3 };
    static const char choice[CHOICES] = {';', '\t', ','}; /* the first of equally many */
    static const char named[] = {0, ',', ';', '\t'};
    const char *end = memchr(text, '\n', n);
    int count[CHOICES] = {0}, quoted = 0, pairs = 0, best = 0;
    if (o->format == LIBSVM) return 0;
    if (o->separator != 0) return named[o->separator];
    for (const char *at = text; at < (end != NULL ? end : text + n); at++) {
        quoted ^= *at == '"';
        pairs |= *at == ':';
        for (int i = 0; i < CHOICES && !quoted; i++) count[i] += *at == choice[i];
    }
    if (pairs && o->format == AUTO) count[1] = 0; /* libsvm's, with tabs */
    for (int i = 1; i < CHOICES; i++)
        if (count[i] > count[best]) best = i;
    if (count[best] > 0) return choice[best];
    return o->format == CSV ? ',' : 0;
}

static weft_status dense_read(const void *self, const char *source, weft_pack *p)
{
    const dense *o = self;
    weft_dense_rows t = {.mem = p->mem, .labels = {.mem = p->mem, .path = source}};
    char *text;
    size_t n;
    TRY(weft_pack_source(p, source));
    TRY(weft_read_text(source, p->mem, &text, &n));
    weft_csv csv = o->csv;
    csv.separator = separator_of(o, text, n);
    if (csv.separator != 0)
        TRY(weft_read_csv(source, text, n, &csv, &t));
    else
        TRY(weft_read_libsvm(source, text, n, &t));
    TRY(weft_labels_close(&t.labels, source, t.label, t.n, p));

    int64_t rows[WEFT_NPART];
    int64_t *order = WEFT_NEW(p->mem, int64_t, t.n);
    TRY(weft_split_rows(&o->split, t.label, t.n, order, rows, p));
    TRY(weft_pack_matrix(p, WEFT_REALS, t.d, rows));
    if (t.name != NULL) weft_pack_columns(p, t.name);
    TRY(tell_shape(o->shape, t.d, p));
    return hand_over(&t, order, p);
}

extern const weft_reader weft_reader_dense;
const weft_reader weft_reader_dense = {
    .kind = {.name = "dense",
             .about = "rows of numbers with a class, CSV or libsvm",
             .size = sizeof(dense),
             .opts = options},
    .read = dense_read,
};
