/* Tables with a class, or numbers to predict, in each row: CSV, whose columns are numbers
 * and categories (dense_csv.c); the sparse text format of libsvm, LABEL
 * INDEX:VALUE ... with indices from 1, whose missing values are 0 (dense_rows.c); arrays
 * of numbers, also images, of HDF5 (dense_arrays.c). */
#include "dense.h"
#include "weft/base/base.h"
#include "weft/text/text.h"

#include <string.h>
#include <strings.h>

struct dense {
    int separator, zero_based, alike;
    weft_csv csv;
    const char *comment;
    const char *file[WEFT_NPART]; /* of the valid and the test part; "" none */
    const char *like;             /* file of the same columns; "": none */
    weft_split split;
    weft_dense_named arrays;
};

static const weft_opt options[] = {
    WEFT_TEXT_OPT(
        "x", struct dense, arrays.x, "",
        "array of the rows in an HDF5 file, by default x, data, features or the like; with "
        "commas between them those of train and test, or of train, valid and test"),
    WEFT_TEXT_OPT("y", struct dense, arrays.y, "",
                  "array of the labels there, by default y, labels, target or the like; "
                  "several as in x"),
    WEFT_CHOICE_OPT("separator", struct dense, separator, "auto",
                    "auto|comma|semicolon|tab|pipe|blank",
                    "what stands between the columns of a CSV file; auto: what the first "
                    "line has most of"),
    WEFT_TEXT_OPT("label", struct dense, csv.label, "last",
                  "column of the class in a CSV file: its name, its number from 1, first "
                  "or last; several with commas between them are numbers to predict"),
    WEFT_CHOICE_OPT("target", struct dense, csv.target, "auto", "auto|classes|regression",
                    "what the label is: classes, or a number to predict (regression); "
                    "auto: a number where more than ten that are not whole, or more than "
                    "20 and a tenth of the rows, differ"),
    WEFT_CHOICE_OPT(
        "header", struct dense, csv.header, "auto", "auto|yes|no",
        "names in the first line of a CSV file; auto: where it has other than numbers"),
    WEFT_CHOICE_OPT("decimal", struct dense, csv.marks.decimal, "point", "point|comma",
                    "what stands before the decimals of a CSV file"),
    WEFT_CHOICE_OPT("thousands", struct dense, csv.marks.thousands, "none",
                    "point|comma|none|blank",
                    "what stands between groups of three digits there"),
    WEFT_CHOICE_OPT("dates", struct dense, csv.dates, "auto", "auto|dmy|mdy",
                    "whether days or months come first in dates such as 1/2/2024; auto: as "
                    "those of a column tell. Their seconds are exact to 0.2 within a "
                    "month, to 64 over years; the hour is told besides"),
    WEFT_TEXT_OPT("comment", struct dense, comment, "",
                  "lines of a CSV file that begin with this text are skipped, as those "
                  "with # of libsvm are"),
    WEFT_TEXT_OPT(
        "drop", struct dense, csv.drop, "",
        "columns of a CSV file to leave out: names or numbers, with commas between them"),
    WEFT_TEXT_OPT("categories", struct dense, csv.categories, "auto",
                  "columns whose texts or numbers are levels, each a feature of 0 and 1, "
                  "beside those with more texts than numbers, or with numbers and few "
                  "texts, or with leading zeros"),
    WEFT_TEXT_OPT("numbers", struct dense, csv.numbers, "",
                  "columns that are numbers, and stay, where they look like codes, number "
                  "the rows or do not vary"),
    WEFT_CHOICE_OPT("alike", struct dense, alike, "apart", "apart|one",
                    "classes, levels, groups and clients whose names differ only in case, "
                    "white space, the form of a number or that of Unicode: apart, with a "
                    "warning, or one, by the name that comes first"),
    WEFT_CHOICE_OPT("missing", struct dense, csv.missing, "median", "median|refuse",
                    "what fills a missing number, beside a feature that marks it: the "
                    "median of the training rows"),
    WEFT_TEXT_OPT("gaps", struct dense, csv.gaps, "",
                  "texts and numbers that stand for missing values of a CSV file, too, "
                  "with commas between them, as in -999,keine; new rows are read so"),
    WEFT_CHOICE_OPT("unlabelled", struct dense, csv.without_label, "drop",
                    "drop|class|refuse",
                    "rows whose label is missing: left out, or of a class that is called "
                    "so (NA); those "
                    "without a client are left out, or refused"),
    WEFT_TEXT_OPT("group", struct dense, csv.group, "",
                  "column of a CSV file whose equal rows stay in one part, or fold"),
    WEFT_TEXT_OPT("client", struct dense, csv.client, "",
                  "column of a CSV file that tells whose rows they are: a federation"),
    WEFT_TEXT_OPT(
        "weight", struct dense, csv.weight, "",
        "column of a CSV file that says how much a row counts in fits and scores"),
    WEFT_TEXT_OPT("valid_file", struct dense, file[WEFT_VALID], "",
                  "file of the rows for validation, in place of the share valid; - is "
                  "standard input"),
    WEFT_TEXT_OPT(
        "test_file", struct dense, file[WEFT_TEST], "",
        "file of the rows for the test, in place of the share test; - is standard input"),
    WEFT_TEXT_OPT("like", struct dense, like, "",
                  "packed file or run: the rows are to be scored by a winner that was "
                  "trained on such columns; a label is not needed"),
    WEFT_BOOL_OPT("zero_based", struct dense, zero_based, "no",
                  "indices of a libsvm file begin at 0"),
    WEFT_SPLIT_OPTS(struct dense, split, "rows", "", ""),
    WEFT_TEXT_OPT("shape", struct dense, arrays.shape, "",
                  "channels x height x width of rows that are images, as in 3x32x32, "
                  "planes of rows of pixels"),
    {0},
};

/* ECONF: one of these options, NULL at the end, is given, and `why` it has no effect. */
static weft_status check_void(const struct dense *dense, const char *const *name,
                              const char *why, weft_arena *mem)
{
    for (; *name; name++) {
        const char *value = weft_opt_given(options, dense, *name, mem);
        if (value)
            return weft_fail(WEFT_ECONF, "%s = %s has no effect: %s; leave it out", *name,
                             value, why);
    }
    return WEFT_OK;
}

/* Fills lines that begin with a comment, but for those within quotation marks. */
static void fill_comments(const char *comment, char *text, size_t n)
{
    size_t length = strlen(comment);
    int within = 0;
    for (char *at = text, *end = text + n; at < end && length > 0;) {
        char *stop = memchr(at, '\n', (size_t)(end - at));
        if (stop == NULL) stop = end;
        if (!within && strncmp(at + strspn(at, " \t"), comment, length) == 0)
            memset(at, WEFT_COMMENT, (size_t)(stop - at));
        for (; at < stop; at++) within ^= *at == '"';
        at = stop + 1;
    }
}

/* What separates the columns; 0: the file is libsvm's. */
static char separator_of(const struct dense *dense, char named, const char *text, size_t n,
                         weft_arena *tmp)
{
    static const char separator[] = {0, ',', ';', '\t', '|', ' '};
    if (dense->separator != 0) return separator[dense->separator];
    if (named != 0) return named;
    return weft_table_separator(text, n, dense->csv.marks.decimal != WEFT_MARK_COMMA, tmp);
}

/* A file's text. */
typedef struct table_file {
    const char *path;
    char *text;
    size_t n;
    int64_t line;   /* of the file, before the first of the text */
    char separator; /* between its columns; 0: libsvm's */
} table_file;

/* Lines, which end in "\n", "\r\n" or "\r"; text[n] is NUL. */
static int64_t count_lines(const char *text, size_t n)
{
    int64_t lines = 1;
    for (size_t i = 0; i < n; i++)
        lines += (text[i] == '\n') | ((text[i] == '\r') & (text[i + 1] != '\n'));
    return lines;
}

/* 1: the first line is the name of the one column that rows to be scored need, which has
 * blanks in it. */
static int is_single(const weft_dense_like *like, const char *text)
{
    const char *name = "";
    size_t n = strcspn(text, "\r\n");
    int needed = 0;
    for (int64_t j = 0; like->columns && j < like->columns->n; j++)
        if (like->columns->at[j].features > 0) {
            name = like->columns->at[j].name;
            needed++;
        }
    return needed == 1 && like->named && n == strlen(name) && memcmp(text, name, n) == 0;
}

/* Makes the text UTF-8: a line that is not is taken as Windows-1252, which is told. */
static void decode_lines(table_file *file, weft_arena *mem)
{
    if (weft_utf8_check(file->text, file->n) == file->n) return;
    size_t high = 0, made = 0;
    for (size_t i = 0; i < file->n; i++) high += (unsigned char)file->text[i] >= 0x80;
    char *out = weft_arena_alloc(mem, file->n + 2 * high + 1, 1); /* 3 bytes at most */
    weft_arena *tmp = weft_arena_new();
    int64_t lines = 0, odd = 0, first = 0;
    for (char *at = file->text, *end = at + file->n; at < end; lines++) {
        char *stop = memchr(at, '\n', (size_t)(end - at)), *line = at;
        size_t length = (size_t)((stop ? stop + 1 : end) - at);
        at += length;
        if (weft_text_decode(WEFT_ENC_AUTO, &line, &length, tmp) && odd++ == 0)
            first = lines + 1;
        memcpy(out + made, line, length);
        made += length;
        weft_arena_reset(tmp, 0);
    }
    weft_arena_free(tmp);
    weft_log(
        WEFT_WARN,
        "%s: %lld lines are not UTF-8 and are taken as Windows-1252, the first is line "
        "%lld",
        file->path, (long long)odd, (long long)first);
    file->text = out;
    file->n = made;
}

/* EDATA: a page or data of a program, where a table is expected. */
static weft_status check_table(const char *path, const char *text)
{
    static const struct {
        const char *first, *kind;
    } other[] = {{"<!doctype", "HTML"}, {"<html", "HTML"}, {"<?xml", "XML"},
                 {"{\"", "JSON"},       {"[{", "JSON"},    {"[[", "JSON"},
                 {"@relation", "ARFF"}};
    text += strspn(text, " \t\r\n");
    for (size_t k = 0; k < sizeof other / sizeof *other; k++)
        if (strncasecmp(text, other[k].first, strlen(other[k].first)) == 0)
            return weft_fail(
                WEFT_EDATA,
                "%s is %s where a table is expected; pandas' to_csv writes one, "
                "or fetch the file itself",
                path, other[k].kind);
    return WEFT_OK;
}

static weft_status open_file(const struct dense *dense, const char *path,
                             const weft_dense_like *like, weft_dense_rows *rows,
                             table_file *file)
{
    *file = (table_file){.path = path};
    TRY(weft_read_text(path, rows->mem, &file->text, &file->n));
    TRY(check_table(path, file->text));
    decode_lines(file, rows->mem);
    char named = weft_separator_skip(&file->text, &file->n);
    file->line = named != 0;
    fill_comments(dense->comment, file->text, file->n);
    file->separator = separator_of(dense, named, file->text, file->n, rows->mem);
    if (file->separator == ' ' && is_single(like, file->text)) file->separator = ';';
    if (file->separator == ' ') weft_blanks_merge(file->text, &file->n);
    rows->room += count_lines(file->text, file->n);
    return WEFT_OK;
}

/* Reads the files of the parts, or that of all rows, once. */
static weft_status read_once(const struct dense *dense, weft_csv *csv,
                             const table_file file[WEFT_NPART], weft_dense_rows *rows)
{
    rows->n = rows->labels.n = 0;
    rows->left = rows->strays = 0;
    rows->many = rows->answer ? rows->answer->kind == WEFT_COLUMN_TARGET
                              : csv->target == WEFT_TARGET_REGRESSION;
    for (int p = 0; p < WEFT_NPART; p++) {
        const table_file *own = &file[p];
        csv->line = own->line;
        csv->separator = own->separator;
        if (own->path)
            TRY(own->separator == 0
                    ? weft_read_libsvm(own->path, own->text, own->n, !dense->zero_based,
                                       rows)
                    : weft_read_csv(own->path, own->text, own->n, csv, rows));
        if (own->path && rows->n == (p > 0 ? rows->end[p - 1] : 0))
            return weft_fail(WEFT_EDATA, "%s has no rows%s; name another file", own->path,
                             rows->strays > 0 ? " with a client"
                             : rows->left > 0 ? " with a label"
                                              : "");
        rows->end[p] = rows->n;
    }
    return WEFT_OK;
}

/* What says something of columns. */
static const char *const of_columns[] = {
    "label", "header", "decimal", "thousands", "drop",    "categories", "gaps",
    "group", "client", "weight",  "dates",     "numbers", NULL};

/* Reads the files; CSV's once more where columns have turned out to be categories. */
static weft_status read_files(const struct dense *dense, const char *const path[WEFT_NPART],
                              const weft_dense_like *like, weft_dense_rows *rows)
{
    table_file file[WEFT_NPART] = {0};
    weft_csv csv = dense->csv;
    int again = 0;
    for (int p = 0; p < WEFT_NPART; p++)
        if (*path[p] != '\0') TRY(open_file(dense, path[p], like, rows, &file[p]));
    csv.line = file[WEFT_TRAIN].line;
    csv.separator = file[WEFT_TRAIN].separator;
    if (csv.separator == 0)
        TRY(check_void(dense, of_columns,
                       weft_arena_text(rows->mem, "%s is a libsvm file, without columns",
                                       path[WEFT_TRAIN]),
                       rows->mem));
    if (like->columns)
        weft_dense_like_begin(like, &csv, rows);
    else if (csv.separator != 0)
        weft_dense_probe(path[WEFT_TRAIN], file[WEFT_TRAIN].text, file[WEFT_TRAIN].n, &csv,
                         rows->mem);
    do {
        TRY(read_once(dense, &csv, file, rows));
        if (rows->at) TRY(weft_dense_kinds(&csv, rows, &again));
        if (!again) TRY(weft_dense_decide(&csv, path[WEFT_TRAIN], rows, &again));
    } while (again);
    return WEFT_OK;
}

/* Reads the arrays that are open. */
static weft_status read_arrays(const struct dense *dense, const char *source,
                               const weft_dense_like *like, weft_dense_rows *rows)
{
    weft_csv csv = dense->csv;
    int again = 0;
    if (*csv.gaps != '\0' && *dense->like == '\0')
        return weft_fail(WEFT_ECONF,
                         "gaps = %s is for CSV files; in arrays, as of %s, NaN stands for "
                         "numbers that are missing",
                         csv.gaps, source);
    if (rows->image[0] > 0)
        TRY(check_void(dense, of_columns,
                       weft_arena_text(rows->mem, "%s has images, without columns", source),
                       rows->mem));
    if (like->columns) weft_dense_like_begin(like, &csv, rows);
    if (!like->columns) {
        rows->many = rows->targets = like->target_scale ? like->classes : 0;
        csv.unlabelled = like->d;
    }
    TRY(weft_read_arrays(&csv, like, rows));
    if (rows->at) TRY(weft_dense_kinds(&csv, rows, &again));
    return weft_dense_decide(&csv, source, rows, &again);
}

static weft_status read_table(const struct dense *dense, const char *const path[WEFT_NPART],
                              const weft_dense_like *like, weft_dense_rows *rows)
{
    if (dense->csv.marks.decimal == dense->csv.marks.thousands)
        return weft_fail(WEFT_ECONF,
                         "decimal and thousands are the same mark; they differ");
    TRY(rows->arrays ? read_arrays(dense, path[WEFT_TRAIN], like, rows)
                     : read_files(dense, path, like, rows));
    if (rows->at && rows->sparse.first)
        return weft_fail(WEFT_EDATA,
                         "%s: of the files of a table some are CSV and some libsvm; give "
                         "all the same format",
                         path[WEFT_TRAIN]);
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
        rows->at == NULL || rows->arrays)
        return WEFT_OK;
    for (int64_t i = 0; i < rows->n; i++) same += rows->label[i] == rows->label[0];
    if (same != 1 || rows->labels.n < 3 ||
        weft_table_number(rows->labels.name[rows->label[0]], &x))
        return WEFT_OK;
    return weft_fail(WEFT_EDATA,
                     "%s: only the first line has the class '%s'; are these names of "
                     "columns? header = yes reads them as such, header = no as a row",
                     source, rows->labels.name[rows->label[0]]);
}

#define ALIKE "write them alike, or alike = one makes them so"

/* Warns of levels, groups and clients that may be meant as one. */
static void tell_alike(const char *source, const weft_dense_rows *rows)
{
    for (int64_t j = 0; rows->at && j < rows->d && !rows->alike; j++) {
        const weft_dense_column *column = &rows->at[j];
        const char *what = NULL;
        if (column->kind == WEFT_COLUMN_CATEGORY)
            what = weft_arena_text(rows->mem, "levels of column '%s',",
                                   weft_dense_name(rows, j));
        if (column->kind == WEFT_COLUMN_GROUP) what = "groups";
        if (column->kind == WEFT_COLUMN_CLIENT) what = "clients";
        if (what) weft_names_alike(column->name.n, column->name.name, what, source, ALIKE);
    }
}

/* What is said of a table that was read. */
static void tell(const struct dense *dense, const char *source, const weft_dense_rows *rows,
                 weft_pack *pack)
{
    if (rows->at && !rows->arrays) weft_csv_tell(source, &dense->csv, &rows->head, pack);
    tell_alike(source, rows);
}

/* x and y are given, and the source has no arrays. */
static weft_status refuse_names(const char *source, weft_arena *mem)
{
    char *text;
    size_t n;
    TRY(weft_read_text(source, mem, &text, &n)); /* NumPy's files are refused as such */
    return weft_fail(WEFT_ECONF,
                     "x and y name arrays of HDF5 files, and %s is none; label = NAME says "
                     "which column is the label",
                     source);
}

/* Opens the arrays, where the source is of these, and what the rows are like. */
static weft_status open_source(const struct dense *dense,
                               const char *const path[WEFT_NPART], weft_dense_like *like,
                               weft_dense_rows *rows, weft_pack *pack)
{
    const char *source = path[WEFT_TRAIN];
    int scored = *dense->like != '\0';
    for (int p = 0; p < WEFT_NPART; p++)
        if (*path[p] != '\0') TRY(weft_pack_source(pack, path[p]));
    if (weft_array_is(source))
        TRY(weft_dense_arrays_open(&dense->arrays, path, scored, rows, pack));
    else if (*dense->arrays.x != '\0' || *dense->arrays.y != '\0')
        return refuse_names(source, pack->mem);
    return scored ? weft_dense_like_read(dense->like, rows->image[0] > 0, like, pack->mem)
                  : WEFT_OK;
}

/* EDATA: rows without a label are left out, and there are not two classes in the others. */
static weft_status check_left(const char *source, const weft_dense_rows *rows)
{
    if (rows->labels.n != 1 || rows->left == 0) return WEFT_OK;
    return weft_fail(
        WEFT_EDATA,
        "%s has 1 class, '%s', where two or more are needed; %lld rows are left "
        "out, of '%s' or the like: unlabelled = class makes a class of these",
        source, rows->labels.name[0], (long long)rows->left, rows->lacking);
}

static weft_status pack_source(const struct dense *dense, const char *source,
                               weft_dense_rows *rows, weft_pack *pack)
{
    static const char *const kept[] = {"separator", "header", "decimal", "thousands",
                                       "comment",   "gaps",   "alike",   NULL};
    static const char *const told[] = {
        "label",   "target",     "drop",      "categories", "missing", "group",
        "client",  "weight",     "valid",     "test",       "shares",  "valid_file",
        "numbers", "unlabelled", "test_file", "dates",      NULL};
    weft_dense_like like = {0};
    const char *path[WEFT_NPART] = {source, dense->file[WEFT_VALID],
                                    dense->file[WEFT_TEST]};
    if (*dense->like != '\0')
        TRY(check_void(dense, told, "like = ... says what columns are", pack->mem));
    TRY(weft_pack_files(pack, path));
    weft_pack_notation(pack, dense, kept);
    TRY(open_source(dense, path, &like, rows, pack));
    TRY(read_table(dense, path, &like, rows));
    if (like.classes > 0) return weft_dense_put_scored(&like, source, rows, pack);
    if (rows->targets == 0) {
        TRY(check_first(dense, source, rows));
        rows->labels.any = 1;
        TRY(check_left(source, rows));
        TRY(weft_labels_close(&rows->labels, source, rows->label, rows->n, pack));
    }
    tell(dense, source, rows, pack);
    return weft_dense_put(&dense->split, &dense->csv, rows, dense->arrays.shape, pack);
}

static weft_status dense_read(const void *self, const char *source, weft_pack *pack)
{
    const struct dense *dense = self;
    weft_dense_rows rows = {.mem = pack->mem,
                            .alike = dense->alike,
                            .labels = {.mem = pack->mem, .path = source, .remedy = ALIKE}};
    weft_status st = pack_source(dense, source, &rows, pack);
    weft_dense_arrays_close(rows.arrays);
    return st;
}

WEFT_PLUGIN(reader, dense) = {
    .kind = WEFT_KIND(
        "dense", struct dense, options,
        "tables with a class or a number to predict in each row, CSV, libsvm or HDF5"),
    .read = dense_read,
};
