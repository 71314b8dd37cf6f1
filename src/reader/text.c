/* Labelled texts: a file of lines LABEL TAB TEXT, or LABEL BLANK TEXT, or of CSV with a
 * column of labels, with any two or more labels. Validation and test parts are shares of
 * it, or files of their own. */
#include "documents.h"
#include "text_csv.h"
#include "weft/log.h"

#include <stdlib.h>
#include <string.h>

enum { TAB, BLANK, COMMA, SEMICOLON };
static const char separators[] = {'\t', ' ', ',', ';'};
static const char *const names[] = {"TAB", "blank", "comma", "semicolon"};

enum { AUTO, YES, NO };
enum { LAST = -1, NONE = -2 }; /* a column's place */

struct labelled {
    int separator, header;
    const char *label;
    weft_split split;
    const char *valid_file, *test_file, *like;
};

static const weft_opt options[] = {
    WEFT_CHOICE_OPT(
        "separator", struct labelled, separator, "tab", "tab|blank|comma|semicolon",
        "what stands between label and text of a line: its first occurrence. comma, "
        "semicolon: columns of CSV, in quotation marks where they contain it"),
    WEFT_TEXT_OPT("label", struct labelled, label, "first",
                  "column of the label: first, last, its number from 1, or its name; the "
                  "others are the text. none: there is none, in texts to be scored"),
    WEFT_CHOICE_OPT(
        "header", struct labelled, header, "auto", "auto|yes|no",
        "names in the first line of a file; auto: where no other line has its label"),
    WEFT_REAL_OPT("valid", struct labelled, split.valid, "0.1", 0, 0.9,
                  "share of the lines for validation"),
    WEFT_REAL_OPT("test", struct labelled, split.test, "0.1", 0, 0.9,
                  "share of the lines for the test"),
    WEFT_SHARES_OPT(struct labelled, split.shares),
    WEFT_LONG_OPT("seed", struct labelled, split.seed, "0", 0, 9e15,
                  "seed of the shuffle that divides the lines"),
    WEFT_TEXT_OPT("valid_file", struct labelled, valid_file, "",
                  "file of the validation part, instead of a share"),
    WEFT_TEXT_OPT("test_file", struct labelled, test_file, "",
                  "file of the test part, instead of a share"),
    WEFT_TEXT_OPT("like", struct labelled, like, "",
                  "packed file or run: the texts are to be scored by a winner that was "
                  "trained on such texts; all are one part"),
    {0},
};

/* A file that is being read. */
struct reading {
    const struct labelled *how;
    const char *path;
    int64_t column; /* of the label, from 0, LAST or NONE */
    int seen;       /* the first line was */
    weft_documents *docs;
    weft_pack *pack;
};

static int is_unlabelled(const struct labelled *labelled)
{
    return strcmp(labelled->label, "none") == 0;
}

/* ---- the column of the label ---- */

/* 1 and the place, if the option says it without a name. */
static int by_place(const char *label, int64_t *column)
{
    char *end;
    long long number = strtoll(label, &end, 10);
    *column = strcmp(label, "last") == 0 ? LAST : strcmp(label, "none") == 0 ? NONE : 0;
    if (*column != 0 || strcmp(label, "first") == 0) return 1;
    if (number >= 1) *column = number - 1;
    return end > label && *end == '\0' && number >= 1;
}

/* Reads the names of the first line; *header 1: it is one. A name counts before a number.
 */
static weft_status read_names(struct reading *reading, const char *const *name, int64_t n,
                              int *header)
{
    const char *label = reading->how->label;
    int placed = by_place(label, &reading->column), found = 0;
    *header = reading->how->header == YES || !placed;
    for (int64_t i = n - 1; i >= 0 && *header; i--)
        if (strcmp(name[i], label) == 0) {
            reading->column = i;
            found++;
        }
    if (found > 1)
        return weft_fail(WEFT_EDATA, "%s: line 1 has the name %s %d times; rename one",
                         reading->path, label, found);
    if (!placed && (found == 0 || reading->how->header == NO))
        return weft_fail(WEFT_ECONF,
                         "label = %s names no column of %s%s; give first, last, a number "
                         "from 1, or a name in its first line",
                         label, reading->path,
                         reading->how->header == NO ? " with header = no" : "");
    if (found > 0 && n > 1)
        weft_log(WEFT_INFO, "%s: the label is column %lld, %s; the other%s the text",
                 reading->path, (long long)reading->column + 1, label,
                 n > 2 ? "s are" : " is");
    return WEFT_OK;
}

/* ---- lines ---- */

/* How a line that lacks the separator is read, as it looks. */
static const char *way_to_read(const char *line)
{
    if (strstr(line, "__label__") != NULL)
        return "files of fastText are read by separator = blank";
    if (*line == '{') return "write JSON as CSV, as pandas' to_csv does";
    if (strchr(line, '\t') != NULL) return "separator = tab reads lines LABEL TAB TEXT";
    if (*line == '"' || strchr(line, ',') != NULL)
        return "CSV is read by separator = comma, label = COLUMN";
    return "separator = blank reads lines LABEL BLANK TEXT, comma or semicolon CSV";
}

static weft_status add(struct reading *reading, int64_t line, const char *label,
                       size_t n_label, const char *text, size_t n)
{
    static const char mark[] = "__label__"; /* fastText's */
    size_t length = strlen(mark);
    if (n_label == 0 && reading->column != NONE)
        return weft_fail(WEFT_EDATA, "%s: line %lld has no label", reading->path,
                         (long long)line);
    int quotes = 0;
    for (size_t i = 0; i < n_label; i++) quotes += label[i] == '"';
    if (quotes & 1)
        return weft_fail(WEFT_EDATA,
                         "%s: line %lld has the label %.*s with an odd quotation mark; CSV "
                         "is read by separator = comma",
                         reading->path, (long long)line, (int)n_label, label);
    if (n_label > length && n > length && memcmp(label, mark, length) == 0 &&
        memcmp(text, mark, length) == 0)
        return weft_fail(WEFT_EDATA,
                         "%s: line %lld has two labels, %.*s and %.*s; a text has one here",
                         reading->path, (long long)line, (int)n_label, label,
                         (int)strcspn(text, " \t"), text);
    const char *name = weft_arena_text(reading->pack->mem, "%s:%lld",
                                       weft_basename(reading->path), (long long)line);
    return weft_documents_add(reading->docs, (weft_document){name, text, n}, line, label,
                              n_label, reading->pack->mem);
}

/* Where the label stands in line[n]: line[*from .. *to); 0: there are fewer columns. */
static int find_label(const char *line, size_t n, char separator, int64_t column,
                      size_t *from, size_t *to)
{
    *from = 0;
    *to = n;
    if (column == LAST) {
        for (*from = n; *from > 0 && line[*from - 1] != separator;) --*from;
        return *from > 0;
    }
    for (int64_t i = 0; i <= column; i++) {
        const char *stop = memchr(line + *from, separator, n - *from);
        if (stop == NULL) return i == column && i > 0;
        *to = (size_t)(stop - line);
        if (i < column) *from = *to + 1;
        if (i < column) *to = n;
    }
    return 1;
}

/* The first line, which may be names. */
static weft_status begin_lines(struct reading *reading, const char *line, int *header)
{
    weft_arena *tmp = reading->pack->scratch;
    size_t mark = weft_arena_mark(tmp);
    const char **name = NULL;
    int64_t n = 0, room = 0;
    char *copy = weft_arena_text(tmp, "%s", line), by = separators[reading->how->separator];
    for (char *at = copy, *stop; at != NULL; at = stop) {
        stop = strchr(at, by);
        if (stop != NULL) *stop++ = '\0';
        name = weft_grow(tmp, name, sizeof *name, n, &room);
        name[n++] = at;
    }
    weft_status st = read_names(reading, name, n, header);
    weft_arena_reset(tmp, mark);
    return st;
}

static weft_status add_line(struct reading *reading, int64_t number, char *line, size_t n)
{
    int by = reading->how->separator, header = 0;
    size_t from, to;
    if (!reading->seen++) TRY(begin_lines(reading, line, &header));
    if (header) return WEFT_OK;
    if (reading->column == NONE) return add(reading, number, "", 0, line, n);
    if (!find_label(line, n, separators[by], reading->column, &from, &to))
        return weft_fail(WEFT_EDATA, "%s: line %lld has no %s beside its label; %s",
                         reading->path, (long long)number, names[by], way_to_read(line));
    if (from == 0) return add(reading, number, line, to, line + to + 1, n - to - 1);
    if (to == n) return add(reading, number, line + from, n - from, line, from - 1);
    const char *label =
        weft_arena_text(reading->pack->mem, "%.*s", (int)(to - from), line + from);
    memmove(line + from, line + to + 1, n - to);
    return add(reading, number, label, to - from, line, n - (to - from) - 1);
}

static weft_status read_lines(struct reading *reading, char *text, size_t n)
{
    char *line, *at = text, *end = text + n;
    int all = is_unlabelled(reading->how); /* each line has its prediction */
    for (int64_t number = 1; (line = weft_line(&at, end, &n)) != NULL; number++)
        if (n > 0 || all) TRY(add_line(reading, number, line, n));
    return WEFT_OK;
}

/* ---- CSV ---- */

static weft_status add_csv_row(void *ctx, const weft_csv_row *row)
{
    struct reading *reading = ctx;
    int header = 0;
    if (!reading->seen++) {
        TRY(read_names(reading, row->field, row->n, &header));
        if (reading->column != NONE && (row->n < 2 || reading->column >= row->n))
            return weft_fail(WEFT_EDATA,
                             "%s: line %lld has %lld column%s where label = %s and a text "
                             "are expected; separator = ... says what stands between "
                             "columns",
                             reading->path, (long long)row->line, (long long)row->n,
                             row->n == 1 ? "" : "s", reading->how->label);
        if (reading->column == LAST) reading->column = row->n - 1;
    }
    if (header) return WEFT_OK;
    size_t n = 0, length;
    for (int64_t i = 0; i < row->n; i++)
        if (i != reading->column) n += strlen(row->field[i]) + 1;
    char *text = WEFT_NEW(reading->pack->mem, char, n), *to = text;
    for (int64_t i = 0; i < row->n; i++) {
        if (i == reading->column || *row->field[i] == '\0') continue;
        if (to > text) *to++ = ' ';
        length = strlen(row->field[i]);
        memcpy(to, row->field[i], length);
        to += length;
    }
    const char *label = reading->column == NONE ? "" : row->field[reading->column];
    return add(reading, row->line, label, strlen(label), text, (size_t)(to - text));
}

/* ---- the reader ---- */

/* ECONF where lines are to be texts but the name of the file says that it has columns. */
static weft_status check_lines(const struct labelled *labelled, const char *path)
{
    const char *end = strrchr(path, '.');
    int columns = labelled->separator == COMMA || labelled->separator == SEMICOLON;
    if (!is_unlabelled(labelled) || columns || !end || strcmp(end, ".csv") != 0)
        return WEFT_OK;
    return weft_fail(
        WEFT_ECONF,
        "%s: its lines would be texts as they are; separator = comma reads the "
        "columns of a CSV, and label = COLUMN leaves that one out",
        path);
}

/* Adds the texts of a file. */
static weft_status read_file(const struct labelled *labelled, const char *path,
                             weft_documents *documents, weft_pack *pack)
{
    struct reading reading = {
        .how = labelled, .path = path, .docs = documents, .pack = pack};
    char *text;
    size_t n;
    TRY(check_lines(labelled, path));
    TRY(weft_read_text(path, pack->mem, &text, &n));
    documents->labels.path = path;
    if (labelled->separator == COMMA || labelled->separator == SEMICOLON)
        TRY(weft_csv_rows(path, text, n, separators[labelled->separator], add_csv_row,
                          &reading));
    else
        TRY(read_lines(&reading, text, n));
    return weft_pack_source(pack, path);
}

/* Classes that only one text has. */
static int count_single(const int64_t *of, int classes)
{
    int single = 0;
    for (int c = 0; c < classes; c++) single += of[c] == 1;
    return single;
}

/* Takes out the first lines of files whose labels no other line has: headers, unless half
 * of the classes are so. */
static void drop_headers(weft_documents *documents, const int64_t first[WEFT_NPART],
                         const char *const file[WEFT_NPART])
{
    int64_t of[WEFT_MAX_CLASSES] = {0}, heads[WEFT_MAX_CLASSES] = {0};
    int drop[WEFT_NPART];
    for (int64_t i = 0; i < documents->n; i++) of[documents->label[i]]++;
    for (int i = 0; i < WEFT_NPART; i++)
        if (documents->end[i] - first[i] > 1) heads[documents->label[first[i]]]++;
    int many = 2 * (count_single(of, documents->labels.n) - 1) >= documents->labels.n - 1;
    for (int i = 0; i < WEFT_NPART; i++)
        drop[i] = !many && documents->end[i] - first[i] > 1 &&
                  of[documents->label[first[i]]] == heads[documents->label[first[i]]];
    for (int i = WEFT_NPART - 1; i >= 0; i--) {
        if (!drop[i]) continue;
        weft_log(WEFT_WARN,
                 "%s: its first line is taken as a header, as no other line has its label, "
                 "'%s'; header = no reads it, header = yes says so",
                 file[i], documents->labels.name[documents->label[first[i]]]);
        weft_documents_drop(documents, first[i]);
    }
}

/* EDATA where labels look like texts: most classes have a single one. */
static weft_status check_classes(const struct labelled *labelled,
                                 const weft_documents *documents, const char *source)
{
    int64_t of[WEFT_MAX_CLASSES] = {0};
    for (int64_t i = 0; i < documents->n; i++) of[documents->label[i]]++;
    int single = count_single(of, documents->labels.n), c = 0;
    if (documents->labels.n <= 2 || 2 * single <= documents->labels.n) return WEFT_OK;
    while (of[c] != 1) c++;
    return weft_fail(WEFT_EDATA,
                     "%s: %d of %d labels stand in one line only, such as '%.40s'; label = "
                     "%s reads texts before their labels, separator = ... other columns",
                     source, single, documents->labels.n, documents->labels.name[c],
                     strcmp(labelled->label, "last") == 0 ? "first" : "last");
}

static weft_status check_like(const struct labelled *labelled)
{
    int like = *labelled->like != '\0';
    if (is_unlabelled(labelled) && !like)
        return weft_fail(WEFT_ECONF,
                         "label = none is for texts to be scored: like = RUN.h5");
    if (like && (*labelled->valid_file != '\0' || *labelled->test_file != '\0'))
        return weft_fail(WEFT_ECONF,
                         "texts to be scored are one file: leave valid_file and "
                         "test_file out");
    return WEFT_OK;
}

static weft_status text_read(const void *self, const char *source, weft_pack *pack)
{
    const struct labelled *labelled = self;
    const char *const file[WEFT_NPART] = {source, labelled->valid_file,
                                          labelled->test_file};
    int64_t first[WEFT_NPART];
    weft_documents documents = {.labels = {.mem = pack->mem}};
    TRY(check_like(labelled));
    for (int i = 0; i < WEFT_NPART; i++) {
        first[i] = documents.n;
        if (*file[i] != '\0') TRY(read_file(labelled, file[i], &documents, pack));
        documents.end[i] = documents.n;
        documents.own[i] = *file[i] != '\0' ? file[i] : NULL;
    }
    if (*labelled->like != '\0')
        return weft_documents_score(&documents, labelled->like, !is_unlabelled(labelled),
                                    pack);
    if (labelled->header == AUTO) drop_headers(&documents, first, file);
    TRY(check_classes(labelled, &documents, source));
    return weft_documents_pack(&documents, source, labelled->split, pack);
}

extern const weft_reader weft_reader_text;
const weft_reader weft_reader_text = {
    .kind = {.name = "text",
             .about = "labelled texts: a line LABEL TAB TEXT (TREC, SST, fastText), or CSV",
             .size = sizeof(struct labelled),
             .opts = options},
    .read = text_read,
};
