/* Tables of numbers with a class in each row: CSV (dense_csv.c), or the sparse text format
 * of libsvm, LABEL INDEX:VALUE ... with indices from 1, whose missing values are 0. */
#include "dense.h"
#include "weft/log.h"

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
    int format, separator, zero_based;
    weft_csv csv;
    const char *comment;
    weft_split split;
    const char *shape; /* "3x32x32"; "": no images */
} dense;

static const weft_opt options[] = {
    WEFT_CHOICE_OPT(
        "format", dense, format, "auto", "auto|csv|libsvm",
        "format of the file; auto: csv where the first line has a separator of columns"),
    WEFT_CHOICE_OPT("separator", dense, separator, "auto",
                    "auto|comma|semicolon|tab|pipe|blank",
                    "what stands between the columns of a CSV file; auto: what the first "
                    "line has most of"),
    WEFT_TEXT_OPT(
        "label", dense, csv.label, "last",
        "column of the class in a CSV file: its name, its number from 1, first or last"),
    WEFT_CHOICE_OPT(
        "header", dense, csv.header, "auto", "auto|yes|no",
        "names in the first line of a CSV file; auto: where it has other than numbers"),
    WEFT_CHOICE_OPT("decimal", dense, csv.decimal, "point", "point|comma",
                    "what stands before the decimals of a CSV file"),
    WEFT_CHOICE_OPT("thousands", dense, csv.thousands, "none", "point|comma|none|blank",
                    "what stands between groups of three digits there"),
    WEFT_TEXT_OPT("comment", dense, comment, "",
                  "lines of a CSV file that begin with this text are skipped, as those "
                  "with # of libsvm are"),
    WEFT_BOOL_OPT("zero_based", dense, zero_based, "no",
                  "indices of a libsvm file begin at 0"),
    WEFT_REAL_OPT("valid", dense, split.valid, "0.1", 0, 0.9,
                  "share of the rows for validation"),
    WEFT_REAL_OPT("test", dense, split.test, "0.1", 0, 0.9,
                  "share of the rows for the test"),
    WEFT_SHARES_OPT(dense, split.shares),
    WEFT_LONG_OPT("seed", dense, split.seed, "0", 0, 9e15,
                  "seed of the shuffle that divides the rows"),
    WEFT_TEXT_OPT("shape", dense, shape, "",
                  "channels x height x width of rows that are images, as in 3x32x32, "
                  "planes of rows of pixels"),
    {0},
};

/* ---- libsvm ---- */

static void add_entry(weft_dense_rows *rows, int64_t column, double value)
{
    rows->value = weft_grow(rows->mem, rows->value, sizeof *rows->value, rows->entries,
                            &rows->value_room);
    rows->column = weft_grow(rows->mem, rows->column, sizeof *rows->column, rows->entries,
                             &rows->column_room);
    rows->value[rows->entries] = value;
    rows->column[rows->entries++] = (int32_t)column;
    if (column >= rows->d) rows->d = column + 1;
}

/* What INDEX:VALUE is not. */
static weft_status bad_pair(const char *path, int64_t line, const char *pair)
{
    return weft_fail(
        WEFT_EDATA, "%s: line %lld has '%.40s' where INDEX:VALUE is expected%s", path,
        (long long)line, pair,
        strncmp(pair, "qid:", 4) == 0
            ? ", of a class; queries of ranking data are not learnt: remove them"
            : ", or a separator between columns");
}

static weft_status bad_index(const char *path, int64_t line, long index, long last,
                             int from)
{
    const char *remedy = "sort them, or give the columns smaller numbers";
    if (index == 0 && from == 1) remedy = "zero_based = yes reads indices from 0";
    return weft_fail(
        WEFT_EDATA,
        "%s: line %lld has index %ld after %ld; indices rise from %d to at most %d: %s",
        path, (long long)line, index, last, from, MAX_COLUMNS + from - 1, remedy);
}

/* One "INDEX:VALUE"; `last` is the index before it. */
static weft_status read_pair(const char *path, int64_t line, char *pair, int from,
                             long *last, weft_dense_rows *rows)
{
    char *colon = strchr(pair, ':'), *end = pair;
    long index = colon != NULL ? strtol(pair, &end, 10) : 0;
    if (colon == NULL || end != colon) return bad_pair(path, line, pair);
    if (index <= *last || index - from >= MAX_COLUMNS)
        return bad_index(path, line, index, *last, from);
    double x;
    if (!weft_table_number(colon + 1, &x) || !isfinite(x))
        return weft_fail(WEFT_EDATA,
                         "%s: line %lld, column %ld is '%.40s' where a finite number is "
                         "expected; mend or remove the line",
                         path, (long long)line, index, colon + 1);
    *last = index;
    add_entry(rows, index - from, x);
    return WEFT_OK;
}

weft_status weft_read_libsvm(const char *path, char *text, size_t n, int from,
                             weft_dense_rows *rows)
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
        if (strchr(word, ',') != NULL)
            return weft_fail(WEFT_EDATA,
                             "%s: line %lld has the labels '%.40s': multi-label data are "
                             "not learnt; give each row one class",
                             path, (long long)number, word);
        const char *label = weft_table_label(word, rows->mem);
        if (strchr(word, ':') != NULL)
            return weft_fail(WEFT_EDATA,
                             "%s: line %lld has no label; a line is LABEL INDEX:VALUE "
                             "...",
                             path, (long long)number);
        long last = from - 1;
        while ((word = strtok_r(NULL, blank, &rest)) != NULL)
            TRY(read_pair(path, number, word, from, &last, rows));
        rows->first = weft_grow(rows->mem, rows->first, sizeof *rows->first, rows->n + 1,
                                &rows->first_room);
        rows->first[rows->n + 1] = rows->entries;
        TRY(weft_dense_row(rows, number, label));
    }
    return WEFT_OK;
}

/* ---- the reader ---- */

/* Row i in full. */
static void copy_row(const weft_dense_rows *rows, int64_t i, double *x)
{
    size_t bytes = (size_t)rows->d * sizeof *x;
    if (rows->column == NULL) {
        memcpy(x, rows->value + i * rows->d, bytes);
        return;
    }
    memset(x, 0, bytes);
    for (int64_t e = rows->first[i]; e < rows->first[i + 1]; e++)
        x[rows->column[e]] = rows->value[e];
}

static weft_status hand_over(const weft_dense_rows *rows, const int64_t *order,
                             weft_pack *pack)
{
    int64_t block = BLOCK_BYTES / (rows->d * (int64_t)sizeof(double));
    if (block > rows->n) block = rows->n;
    if (block < 1) block = 1;
    double *x = WEFT_NEW(pack->mem, double, block * rows->d);
    int32_t *label = WEFT_NEW(pack->mem, int32_t, block);
    for (int64_t start = 0; start < rows->n; start += block) {
        int64_t count = rows->n - start < block ? rows->n - start : block;
        for (int64_t i = 0; i < count; i++) {
            label[i] = rows->label[order[start + i]];
            copy_row(rows, order[start + i], x + i * rows->d);
        }
        TRY(weft_pack_rows(pack, count, x, label));
    }
    return WEFT_OK;
}

/* Says that rows are images, if so. */
static weft_status tell_shape(const char *shape, int64_t d, weft_pack *pack)
{
    int side[3];
    if (*shape == '\0') return WEFT_OK;
    TRY(weft_shape_read(shape, d, side));
    weft_pack_image(pack, side[0], side[1], side[2]);
    return WEFT_OK;
}

/* Excel's first line, "sep=;", names the separator. */
static char take_sep_line(char **text, size_t *n, int64_t *line)
{
    static const char key[] = "sep=";
    size_t length = strlen(key);
    if (*n < length + 2 || strncmp(*text, key, length) != 0) return 0;
    char separator = (*text)[length];
    size_t end = length + 1 + ((*text)[length + 1] == '\r');
    if (end >= *n || (*text)[end] != '\n') return 0;
    *text += end + 1;
    *n -= end + 1;
    ++*line;
    return separator;
}

/* Lines that begin with a comment become blank. */
static void blank_comments(const char *comment, char *text, size_t n)
{
    size_t length = strlen(comment);
    for (char *at = text, *end = text + n; at < end && length > 0;) {
        char *stop = memchr(at, '\n', (size_t)(end - at));
        if (stop == NULL) stop = end;
        if (strncmp(at + strspn(at, " \t"), comment, length) == 0)
            memset(at, ' ', (size_t)(stop - at));
        at = stop + 1;
    }
}

/* What separates the columns; 0: the file is libsvm's. */
static char separator_of(const dense *o, char named, const char *text, size_t n,
                         weft_arena *tmp)
{
    static const char separator[] = {0, ',', ';', '\t', '|', ' '};
    if (o->format == LIBSVM) return 0;
    if (o->separator != 0) return separator[o->separator];
    if (named != 0) return named;
    char found = weft_table_separator(text, n, o->csv.decimal != WEFT_MARK_COMMA, tmp);
    return found == 0 && o->format == CSV ? ',' : found;
}

static weft_status read_table(const dense *o, const char *source, weft_dense_rows *rows)
{
    char *text;
    size_t n;
    weft_csv csv = o->csv;
    TRY(weft_read_text(source, rows->mem, &text, &n));
    if (csv.decimal == csv.thousands)
        return weft_fail(WEFT_ECONF,
                         "decimal and thousands are the same mark; they differ");
    char named = take_sep_line(&text, &n, &csv.line);
    blank_comments(o->comment, text, n);
    csv.separator = separator_of(o, named, text, n, rows->mem);
    if (csv.separator == 0) return weft_read_libsvm(source, text, n, !o->zero_based, rows);
    if (csv.separator == ' ') weft_blanks_merge(text, &n);
    return weft_read_csv(source, text, n, &csv, rows);
}

/* A text that is the class of the first row alone may be the label's name, where the names
 * of features are numbers. */
static weft_status check_first(const dense *o, const char *source,
                               const weft_dense_rows *rows)
{
    double x;
    int64_t same = 0;
    if (o->csv.header != WEFT_HEADER_AUTO || rows->name != NULL || rows->head.columns == 0)
        return WEFT_OK;
    for (int64_t i = 0; i < rows->n; i++) same += rows->label[i] == rows->label[0];
    if (same != 1 || rows->labels.n < 3 ||
        weft_table_number(rows->labels.name[rows->label[0]], &x))
        return WEFT_OK;
    return weft_fail(
        WEFT_EDATA,
        "%s: only the first line has the class '%s'; are these names of columns? "
        "header = yes reads them as such, header = no as a row",
        source, rows->labels.name[rows->label[0]]);
}

static weft_status dense_read(const void *self, const char *source, weft_pack *pack)
{
    const dense *o = self;
    weft_dense_rows t = {.mem = pack->mem, .labels = {.mem = pack->mem, .path = source}};
    TRY(weft_pack_source(pack, source));
    TRY(read_table(o, source, &t));
    TRY(check_first(o, source, &t));
    TRY(weft_labels_close(&t.labels, source, t.label, t.n, pack));
    if (t.head.columns > 0) weft_csv_tell(source, &o->csv, &t.head);
    for (int i = 0; i < t.labels.n; i++)
        if (weft_cell_missing(t.labels.name[i]))
            weft_log(WEFT_WARN,
                     "%s: the class '%s' may be a label that is missing; if so, remove its "
                     "rows",
                     source, t.labels.name[i]);

    int64_t rows[WEFT_NPART];
    int64_t *order = WEFT_NEW(pack->mem, int64_t, t.n);
    TRY(weft_split_rows(&o->split, t.label, t.n, order, rows, pack));
    TRY(weft_pack_matrix(pack, WEFT_REALS, t.d, rows));
    if (t.name != NULL) weft_pack_columns(pack, t.name);
    TRY(tell_shape(o->shape, t.d, pack));
    return hand_over(&t, order, pack);
}

extern const weft_reader weft_reader_dense;
const weft_reader weft_reader_dense = {
    .kind = {.name = "dense",
             .about = "rows of numbers with a class, CSV or libsvm",
             .size = sizeof(dense),
             .opts = options},
    .read = dense_read,
};
