/* Tables with a class, or numbers to predict, in each row: CSV, whose columns are numbers
 * and categories (dense_csv.c, dense_columns.c), or the sparse text format of libsvm, LABEL
 * INDEX:VALUE
 * ... with indices from 1, whose missing values are 0 (dense_libsvm.c). */
#include "dense.h"
#include "weft/log.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define BLOCK_BYTES ((int64_t)1 << 22)

enum { AUTO, CSV, LIBSVM };

struct dense {
    int format, separator, zero_based;
    weft_csv csv;
    const char *comment;
    const char *file[WEFT_NPART]; /* of the valid and the test part; "" none */
    const char *like;             /* file of the same columns; "": none */
    weft_split split;
    const char *shape; /* "3x32x32"; "": no images */
};

static const weft_opt options[] = {
    WEFT_CHOICE_OPT(
        "format", struct dense, format, "auto", "auto|csv|libsvm",
        "format of the file; auto: csv where the first line has a separator of columns"),
    WEFT_CHOICE_OPT("separator", struct dense, separator, "auto",
                    "auto|comma|semicolon|tab|pipe|blank",
                    "what stands between the columns of a CSV file; auto: what the first "
                    "line has most of"),
    WEFT_TEXT_OPT(
        "label", struct dense, csv.label, "last",
        "column of the class in a CSV file: its name, its number from 1, first or last; "
        "several with commas between them are numbers to predict"),
    WEFT_CHOICE_OPT(
        "target", struct dense, csv.target, "auto", "auto|classes|regression",
        "what the label is: classes, or a number to predict (regression); auto: "
        "a number where labels are not whole and more than ten"),
    WEFT_CHOICE_OPT(
        "header", struct dense, csv.header, "auto", "auto|yes|no",
        "names in the first line of a CSV file; auto: where it has other than numbers"),
    WEFT_CHOICE_OPT("decimal", struct dense, csv.decimal, "point", "point|comma",
                    "what stands before the decimals of a CSV file"),
    WEFT_CHOICE_OPT("thousands", struct dense, csv.thousands, "none",
                    "point|comma|none|blank",
                    "what stands between groups of three digits there"),
    WEFT_TEXT_OPT("comment", struct dense, comment, "",
                  "lines of a CSV file that begin with this text are skipped, as those "
                  "with # of libsvm are"),
    WEFT_TEXT_OPT("drop", struct dense, csv.drop, "",
                  "columns of a CSV file to leave out: names or numbers, with commas "
                  "between them"),
    WEFT_TEXT_OPT("categories", struct dense, csv.categories, "auto",
                  "columns whose texts or numbers are levels, each a feature of 0 and 1; "
                  "auto: those with more texts than numbers"),
    WEFT_CHOICE_OPT("missing", struct dense, csv.missing, "median",
                    "median|frequent|refuse",
                    "what fills a missing number, beside a feature that marks it: median "
                    "or most frequent value of the training rows"),
    WEFT_TEXT_OPT("group", struct dense, csv.group, "",
                  "column of a CSV file whose equal rows stay in one part"),
    WEFT_TEXT_OPT("client", struct dense, csv.client, "",
                  "column of a CSV file that tells whose rows they are: a federation"),
    WEFT_TEXT_OPT(
        "weight", struct dense, csv.weight, "",
        "column of a CSV file that says how much a row counts in fits and scores"),
    WEFT_TEXT_OPT("valid_file", struct dense, file[WEFT_VALID], "",
                  "file of the rows for validation, in place of the share valid"),
    WEFT_TEXT_OPT("test_file", struct dense, file[WEFT_TEST], "",
                  "file of the rows for the test, in place of the share test"),
    WEFT_TEXT_OPT("like", struct dense, like, "",
                  "packed file or run: the rows are to be scored by a winner that was "
                  "trained on such columns; a label is not needed"),
    WEFT_BOOL_OPT("zero_based", struct dense, zero_based, "no",
                  "indices of a libsvm file begin at 0"),
    WEFT_REAL_OPT("valid", struct dense, split.valid, "0.1", 0, 0.9,
                  "share of the rows for validation"),
    WEFT_REAL_OPT("test", struct dense, split.test, "0.1", 0, 0.9,
                  "share of the rows for the test"),
    WEFT_SHARES_OPT(struct dense, split.shares),
    WEFT_LONG_OPT("seed", struct dense, split.seed, "0", 0, 9e15,
                  "seed of the shuffle that divides the rows"),
    WEFT_TEXT_OPT("shape", struct dense, shape, "",
                  "channels x height x width of rows that are images, as in 3x32x32, "
                  "planes of rows of pixels"),
    {0},
};

/* ---- rows ---- */

/* Row i in full. */
static void copy_row(const weft_dense_rows *rows, const weft_columns *columns, int64_t i,
                     double *x)
{
    if (rows->column == NULL) {
        weft_columns_features(columns, rows->value + i * rows->d, x);
        return;
    }
    memset(x, 0, (size_t)rows->d * sizeof *x);
    for (int64_t e = rows->first[i]; e < rows->first[i + 1]; e++)
        x[rows->column[e]] = rows->value[e];
}

static weft_status put_rows(const weft_dense_rows *rows, const weft_columns *columns,
                            const int64_t *order, weft_pack *pack)
{
    int64_t d = columns->features;
    int64_t block = BLOCK_BYTES / (d * (int64_t)sizeof(double));
    if (block > rows->n) block = rows->n;
    if (block < 1) block = 1;
    double *x = WEFT_NEW(pack->mem, double, block *d);
    int32_t *label = WEFT_NEW(pack->mem, int32_t, block);
    for (int64_t start = 0; start < rows->n; start += block) {
        int64_t count = rows->n - start < block ? rows->n - start : block;
        for (int64_t i = 0; i < count; i++) {
            label[i] = rows->label[order[start + i]];
            copy_row(rows, columns, order[start + i], x + i * d);
        }
        TRY(weft_pack_rows(pack, count, x, label));
    }
    return WEFT_OK;
}

/* The clients named in a column, one after the other. */
static weft_status put_clients(const weft_dense_rows *rows, const weft_columns *columns,
                               const weft_dense_parts *parts, weft_pack *pack)
{
    int64_t d = columns->features;
    const int64_t *order = parts->order;
    for (int64_t c = 0; c < parts->clients; c++) {
        const int64_t *count = parts->count[c];
        int64_t n = count[WEFT_TRAIN] + count[WEFT_VALID] + count[WEFT_TEST];
        weft_arena *tmp = weft_arena_new();
        double *x = WEFT_NEW(tmp, double, n *d);
        int32_t *label = WEFT_NEW(tmp, int32_t, n);
        for (int64_t i = 0; i < n; i++) {
            label[i] = rows->label[order[i]];
            copy_row(rows, columns, order[i], x + i * d);
        }
        order += n;
        weft_status st = weft_pack_client_rows(pack, parts->name[c], count, x, label);
        weft_arena_free(tmp);
        TRY(st);
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

/* As those of the rows that were learnt from. */
static void tell_sides(const weft_dense_like *like, weft_pack *pack)
{
    const int64_t *side = like->side;
    if (side[0] > 0) weft_pack_image(pack, (int)side[0], (int)side[1], (int)side[2]);
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
static char separator_of(const struct dense *dense, char named, const char *text, size_t n,
                         weft_arena *tmp)
{
    static const char separator[] = {0, ',', ';', '\t', '|', ' '};
    if (dense->format == LIBSVM) return 0;
    if (dense->separator != 0) return separator[dense->separator];
    if (named != 0) return named;
    char found = weft_table_separator(text, n, dense->csv.decimal != WEFT_MARK_COMMA, tmp);
    return found == 0 && dense->format == CSV ? ',' : found;
}

/* A file's text. */
typedef struct table_file {
    const char *path;
    char *text;
    size_t n;
    int64_t line; /* of the file, before the first of the text */
} table_file;

/* Lines, which end in "\n", "\r\n" or "\r"; text[n] is NUL. */
static int64_t count_lines(const char *text, size_t n)
{
    int64_t lines = 1;
    for (size_t i = 0; i < n; i++)
        lines += (text[i] == '\n') | ((text[i] == '\r') & (text[i + 1] != '\n'));
    return lines;
}

/* Reads the text of a file. *separator: what stands between its columns, 0 libsvm's. */
static weft_status open_file(const struct dense *dense, const char *path,
                             weft_dense_rows *rows, table_file *file, char *separator)
{
    *file = (table_file){.path = path};
    TRY(weft_read_text(path, rows->mem, &file->text, &file->n));
    char named = take_sep_line(&file->text, &file->n, &file->line);
    blank_comments(dense->comment, file->text, file->n);
    *separator = separator_of(dense, named, file->text, file->n, rows->mem);
    if (*separator == ' ') weft_blanks_merge(file->text, &file->n);
    rows->room += count_lines(file->text, file->n);
    return WEFT_OK;
}

/* Reads the files of the parts, or that of all rows; CSV's once more where columns have
 * turned out to be categories. */
static weft_status read_files(const struct dense *dense, const char *source,
                              const weft_dense_like *like, weft_dense_rows *rows)
{
    table_file file[WEFT_NPART] = {0};
    char separator[WEFT_NPART];
    weft_csv csv = dense->csv;
    int again = 0;
    for (int p = 0; p < WEFT_NPART; p++) {
        const char *path = p == WEFT_TRAIN ? source : dense->file[p];
        if (*path != '\0') TRY(open_file(dense, path, rows, &file[p], &separator[p]));
    }
    if (like->columns) weft_dense_like_begin(like, &csv, rows);
    do {
        rows->n = rows->labels.n = 0;
        rows->many = rows->answer ? rows->answer->kind == WEFT_COLUMN_TARGET
                                  : csv.target == WEFT_TARGET_REGRESSION;
        for (int p = 0; p < WEFT_NPART; p++) {
            csv.line = file[p].line;
            csv.separator = separator[p];
            weft_status st = WEFT_OK;
            if (file[p].path && separator[p] == 0)
                st = weft_read_libsvm(file[p].path, file[p].text, file[p].n,
                                      !dense->zero_based, rows);
            else if (file[p].path)
                st = weft_read_csv(file[p].path, file[p].text, file[p].n, &csv, rows);
            TRY(st);
            rows->end[p] = rows->n;
        }
        if (rows->at) TRY(weft_dense_kinds(&csv, rows, &again));
    } while (again);
    return weft_dense_decide(&csv, source, rows);
}

static weft_status read_table(const struct dense *dense, const char *source,
                              const weft_dense_like *like, weft_dense_rows *rows)
{
    if (dense->csv.decimal == dense->csv.thousands)
        return weft_fail(WEFT_ECONF,
                         "decimal and thousands are the same mark; they differ");
    TRY(read_files(dense, source, like, rows));
    if (rows->at && rows->column)
        return weft_fail(WEFT_EDATA,
                         "%s: of the files of a table some are CSV and some "
                         "libsvm; give all the same format",
                         source);
    return WEFT_OK;
}

/* A text that is the class of the first row alone may be the label's name, where the names
 * of features are numbers. */
static weft_status check_first(const struct dense *dense, const char *source,
                               const weft_dense_rows *rows)
{
    double x;
    int64_t same = 0;
    if (dense->csv.header != WEFT_HEADER_AUTO || rows->head.name != NULL ||
        rows->at == NULL)
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

/* What is said of a table that was read. */
static void tell(const struct dense *dense, const char *source, const weft_dense_rows *rows)
{
    if (rows->at) weft_csv_tell(source, &dense->csv, &rows->head);
    for (int i = 0; i < rows->labels.n && rows->targets == 0; i++)
        if (weft_cell_missing(rows->labels.name[i]))
            weft_log(WEFT_WARN,
                     "%s: the class '%s' may be a label that is missing; if so, remove its "
                     "rows",
                     source, rows->labels.name[i]);
}

/* Hands over the rows of a federation's table. */
static weft_status put_table_clients(const weft_dense_rows *rows,
                                     const weft_columns *columns, int named,
                                     const weft_dense_parts *parts, weft_pack *pack)
{
    weft_clients all = {.d = columns->features, .stride = 1, .named = 1};
    TRY(weft_pack_clients(pack, WEFT_REALS, &all));
    weft_pack_table(pack, columns, named);
    return put_clients(rows, columns, parts, pack);
}

/* Hands over the rows of a table. */
static weft_status put_table(const struct dense *dense, const weft_dense_rows *rows,
                             const weft_columns *columns, const weft_dense_parts *parts,
                             weft_pack *pack)
{
    int64_t d = columns->features;
    int named = rows->head.name != NULL;
    if (parts->clients > 0) return put_table_clients(rows, columns, named, parts, pack);
    TRY(weft_pack_matrix(pack, WEFT_REALS, d, parts->rows));
    if (rows->at) weft_pack_table(pack, columns, named);
    TRY(weft_dense_numbers(rows, parts->order, parts->rows, NULL, NULL, pack));
    TRY(tell_shape(dense->shape, d, pack));
    return put_rows(rows, columns, parts->order, pack);
}

/* The rows of clients, all to be scored; where no column names them, of one without a name.
 */
static weft_status scored_parts(weft_dense_rows *rows, weft_dense_parts *parts,
                                weft_pack *pack)
{
    static const char *const none[] = {""};
    const weft_split split = {.shares = WEFT_FROM_END};
    for (int64_t j = 0; j < rows->d; j++)
        if (rows->at[j].kind == WEFT_COLUMN_CLIENT && rows->at[j].name.n > 0) {
            rows->end[WEFT_TRAIN] = rows->end[WEFT_VALID] = 0;
            return weft_dense_split(&split, rows, parts, pack);
        }
    *parts = (weft_dense_parts){
        .order = WEFT_NEW(pack->mem, int64_t, rows->n), .clients = 1, .name = none};
    parts->count = weft_arena_alloc(pack->mem, 1, sizeof *parts->count);
    for (int p = 0; p < WEFT_NPART; p++) parts->count[0][p] = p == WEFT_TEST ? rows->n : 0;
    for (int64_t i = 0; i < rows->n; i++) parts->order[i] = i;
    return WEFT_OK;
}

/* Rows to be scored of a federation, client after client. */
static weft_status put_scored_clients(const weft_dense_like *like, weft_dense_rows *rows,
                                      weft_pack *pack)
{
    weft_dense_parts parts;
    TRY(scored_parts(rows, &parts, pack));
    TRY(put_table_clients(rows, like->columns, like->named, &parts, pack));
    weft_pack_order(pack, rows->n, parts.order);
    return WEFT_OK;
}

/* Rows to be scored, in the order of the file. */
static weft_status put_scored(const weft_dense_like *like, const char *source,
                              weft_dense_rows *rows, weft_pack *pack)
{
    int64_t part[WEFT_NPART] = {[WEFT_TEST] = rows->n};
    int64_t *order = WEFT_NEW(pack->mem, int64_t, rows->n);
    for (int64_t i = 0; i < rows->n; i++) order[i] = i;
    if (rows->n == 0) return weft_fail(WEFT_EDATA, "%s has no rows", source);
    TRY(weft_dense_like_end(like, rows));
    weft_pack_classes(pack, like->classes, like->class_name);
    weft_pack_split(pack, "all rows are to be scored");
    weft_pack_scored(pack, weft_dense_labelled(rows));
    if (like->federated) return put_scored_clients(like, rows, pack);
    TRY(weft_pack_matrix(pack, WEFT_REALS, like->columns->features, part));
    weft_pack_table(pack, like->columns, like->named);
    tell_sides(like, pack);
    TRY(weft_dense_numbers(rows, order, part, like->target_shift, like->target_scale,
                           pack));
    return put_rows(rows, like->columns, order, pack);
}

static weft_status dense_read(const void *self, const char *source, weft_pack *pack)
{
    const struct dense *dense = self;
    weft_dense_rows rows = {.mem = pack->mem, .labels = {.mem = pack->mem, .path = source}};
    weft_dense_like like = {0};
    weft_dense_parts parts;
    TRY(weft_pack_source(pack, source));
    for (int p = WEFT_VALID; p < WEFT_NPART; p++)
        if (*dense->file[p] != '\0') TRY(weft_pack_source(pack, dense->file[p]));
    if (*dense->like != '\0') TRY(weft_dense_like_read(dense->like, &like, pack->mem));
    TRY(read_table(dense, source, &like, &rows));
    if (like.columns) return put_scored(&like, source, &rows, pack);
    if (rows.targets == 0) {
        TRY(check_first(dense, source, &rows));
        rows.labels.any = 1;
        TRY(weft_labels_close(&rows.labels, source, rows.label, rows.n, pack));
    }
    tell(dense, source, &rows);
    TRY(weft_dense_split(&dense->split, &rows, &parts, pack));
    weft_columns *columns = WEFT_NEW(pack->mem, weft_columns, 1);
    columns->features = rows.d;
    if (rows.at)
        TRY(weft_dense_fit(&dense->csv, &rows, parts.train, parts.rows[WEFT_TRAIN],
                           columns));
    return put_table(dense, &rows, columns, &parts, pack);
}

extern const weft_reader weft_reader_dense;
const weft_reader weft_reader_dense = {
    .kind = {.name = "dense",
             .about =
                 "tables with a class or a number to predict in each row, CSV or libsvm",
             .size = sizeof(struct dense),
             .opts = options},
    .read = dense_read,
};
