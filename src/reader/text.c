/* Labelled texts: a file of lines LABEL TAB TEXT, or LABEL BLANK TEXT, or of columns, CSV
 * or between tabs, with one of labels, any two or more, and perhaps one of clients.
 * Validation and test parts are shares of it, or files of their own. */
#include "reader.h"
#include "weft/base/base.h"

#include <stdlib.h>
#include <string.h>

/* Columns as the options name them: by name, by number from 1, first or last. */
struct text_named {
    const char *label;  /* or none */
    const char *text;   /* with commas between them; "": all others */
    const char *client; /* "": none */
    int header;         /* NAMES_... */
};
enum { NAMES_AUTO, NAMES_YES, NAMES_NO };

/* Where they are, from 0. */
struct text_columns {
    int64_t label; /* LAST, NONE */
    int64_t client;
    int64_t *text, n; /* [n] of the text; 0: all others */
    int header;       /* 1: the first line has names */
};
enum { LAST = -1, NONE = -2 };

enum { TAB, BLANK, COMMA, SEMICOLON };
static const char separators[] = {'\t', ' ', ',', ';'};
static const char *const names[] = {"TAB", "blank", "comma", "semicolon"};

struct labelled {
    int separator, encoding;
    struct text_named named;
    weft_split split;
    const char *valid_file, *test_file, *like;
};

static const weft_opt options[] = {
    WEFT_CHOICE_OPT(
        "separator", struct labelled, separator, "tab", "tab|blank|comma|semicolon",
        "what stands between label and text of a line: its first occurrence; with text or "
        "client between columns. comma, semicolon: columns of CSV, in quotation marks "
        "where they contain it"),
    WEFT_TEXT_OPT(
        "label", struct labelled, named.label, "first",
        "column of the label: first, last, its number from 1, or its name; the "
        "others are the text. none: there is none, in texts to be scored. Labels, and "
        "clients, are apart as they are written: a warning names those that differ only "
        "in case, white space, the form of a number or that of Unicode, which are one "
        "where the file has them alike"),
    WEFT_TEXT_OPT("text", struct labelled, named.text, "",
                  "columns of the text, names or numbers with commas between them; others "
                  "are left out"),
    WEFT_TEXT_OPT("client", struct labelled, named.client, "",
                  "column that tells whose texts they are: a federation"),
    WEFT_CHOICE_OPT("header", struct labelled, named.header, "auto", "auto|yes|no",
                    "names in the first line of a file; auto: where columns are told by "
                    "name, or no other line has its label"),
    WEFT_CHOICE_OPT("encoding", struct labelled, encoding, "auto", WEFT_ENCODING_WORDS,
                    "encoding of the file; auto: what is not UTF-8 is taken as "
                    "Windows-1252, row by row"),
    WEFT_SPLIT_OPTS(struct labelled, split, "lines", "", ""),
    WEFT_TEXT_OPT("valid_file", struct labelled, valid_file, "",
                  "file of the validation part, instead of a share"),
    WEFT_TEXT_OPT("test_file", struct labelled, test_file, "",
                  "file of the test part, instead of a share"),
    WEFT_TEXT_OPT("like", struct labelled, like, "",
                  "packed file or run: the texts are to be scored by a winner that was "
                  "trained on such texts; all are one part"),
    {0},
};

/* ---- columns ---- */

/* The first line while columns are looked for. */
struct head {
    const char *path;
    const struct text_named *how;
    const char *const *field; /* [n] */
    int64_t n;
    int named;  /* 1: it has names */
    int scored; /* 1: of texts to be scored */
    weft_arena *mem;
};

/* 1 and the place, if the option says it without a name. */
static int by_place(const char *text, int64_t *column)
{
    char *end;
    long long number = strtoll(text, &end, 10);
    *column = strcmp(text, "last") == 0 ? LAST : strcmp(text, "none") == 0 ? NONE : 0;
    if (*column != 0 || strcmp(text, "first") == 0) return 1;
    if (number >= 1) *column = number - 1;
    return end > text && *end == '\0' && number >= 1;
}

/* 1: the label is told by its name. */
static int is_label_named(const struct text_named *how)
{
    int64_t column;
    return !by_place(how->label, &column);
}

/* 1: the option names a column that texts to be scored need not have, and these have not.
 */
static int may_lack(const struct head *head, const char *text)
{
    int64_t column, found = 0;
    for (int64_t i = 0; i < head->n; i++) found += strcmp(head->field[i], text) == 0;
    return head->scored && found == 0 && !by_place(text, &column);
}

static weft_status unknown_column(const struct head *head, const char *option,
                                  const char *text)
{
    int few = head->n > 1 && head->how->header != NAMES_NO;
    return weft_fail(
        WEFT_ECONF,
        "%s = %s names no column of %s%s; give first, last, a number from 1, or a name in "
        "its first line%s%s",
        option, text, head->path, head->how->header == NAMES_NO ? " with header = no" : "",
        few ? weft_arena_text(head->mem, ", of which '%.40s' is the nearest",
                              weft_nearest(text, head->field, (int)head->n))
            : "",
        head->scored ? "; text= client= separator=tab reads lines as they are" : "");
}

/* The column that an option names; a name counts before a number. */
static weft_status find_column(const struct head *head, const char *option,
                               const char *text, int64_t *column)
{
    int placed = by_place(text, column), found = 0;
    for (int64_t i = head->n - 1; i >= 0 && head->named; i--)
        if (strcmp(head->field[i], text) == 0) {
            *column = i;
            found++;
        }
    if (found > 1)
        return weft_fail(WEFT_EDATA, "%s: line 1 has the name %s %d times; rename one",
                         head->path, text, found);
    if (!placed && (found == 0 || head->how->header == NAMES_NO))
        return unknown_column(head, option, text);
    return WEFT_OK;
}

/* The same of a column that is no label: it is there. */
static weft_status find_other(const struct head *head, const char *option, const char *text,
                              int64_t label, int64_t *column)
{
    TRY(find_column(head, option, text, column));
    if (*column == LAST) *column = head->n - 1;
    if (*column == NONE || *column >= head->n)
        return weft_fail(WEFT_ECONF, "%s = %s: line 1 of %s has %lld columns", option, text,
                         head->path, (long long)head->n);
    if (*column != label) return WEFT_OK;
    return weft_fail(WEFT_ECONF, "%s = %s is the column of the label; name another one",
                     option, text);
}

/* 1: one of the columns in a list, with commas, is told by name. */
static int has_name(const char *list, weft_arena *mem)
{
    char *rest, *copy = weft_arena_text(mem, "%s", list);
    int64_t column;
    for (char *one = strtok_r(copy, ",", &rest); one; one = strtok_r(NULL, ",", &rest))
        if (!by_place(one, &column)) return 1;
    return 0;
}

/* "column 2, grade" */
static const char *shown_column(const struct head *head, int64_t column)
{
    long long number = (long long)column + 1;
    if (!head->named) return weft_arena_text(head->mem, "column %lld", number);
    return weft_arena_text(head->mem, "column %lld, %s", number, head->field[column]);
}

static void tell_columns(const struct head *head, const struct text_columns *columns)
{
    const char *text = head->n - (columns->client >= 0) > 2 ? "the others are the text"
                                                            : "the other is the text";
    const char *label = "there is no label", *client = "";
    if (columns->label >= 0)
        label = weft_arena_text(head->mem, "the label is %s",
                                shown_column(head, columns->label));
    for (int64_t i = 0; i < columns->n; i++)
        text = weft_arena_text(head->mem, "%s%s", i ? text : "the text is ",
                               weft_arena_text(head->mem, "%s%s", i ? " and " : "",
                                               shown_column(head, columns->text[i])));
    if (columns->client >= 0)
        client = weft_arena_text(head->mem, "; the client is %s",
                                 shown_column(head, columns->client));
    weft_log(WEFT_INFO, "%s: %s; %s%s", head->path, label, text, client);
}

/* Finds the columns by the fields of the first line; a name counts before a number. The
 * label may be beyond them; of texts to be scored label and client that are told by name
 * need not be there. Tells where they are. ECONF: there is no such column; EDATA: a name
 * occurs twice. */
static weft_status find_columns(struct head *head, struct text_columns *columns)
{
    const struct text_named *how = head->how;
    const char *label = may_lack(head, how->label) ? "none" : how->label;
    const char *client = may_lack(head, how->client) ? "" : how->client;
    int label_named = !by_place(label, &columns->label);
    int64_t room = 0;
    head->named = how->header == NAMES_YES || label_named ||
                  has_name(how->text, head->mem) || has_name(client, head->mem);
    *columns = (struct text_columns){.client = NONE, .header = head->named};
    TRY(find_column(head, "label", label, &columns->label));
    int64_t place = columns->label == LAST ? head->n - 1 : columns->label;
    char *rest, *copy = weft_arena_text(head->mem, "%s", how->text);
    for (char *one = strtok_r(copy, ",", &rest); one; one = strtok_r(NULL, ",", &rest)) {
        columns->text =
            weft_grow(head->mem, columns->text, sizeof *columns->text, columns->n, &room);
        TRY(find_other(head, "text", one, place, &columns->text[columns->n++]));
    }
    if (*client != '\0') TRY(find_other(head, "client", client, place, &columns->client));
    int given = columns->n > 0 || columns->client >= 0;
    if (given) columns->label = place;
    if (place < head->n && (given || (label_named && head->n > 1)))
        tell_columns(head, columns);
    return WEFT_OK;
}

/* The column that is piece k of the text; -1: none is, as it is empty or of another use. */
static int64_t piece_of(const struct text_columns *columns, const char *const *field,
                        int64_t k)
{
    int64_t i = columns->n > 0 ? columns->text[k] : k;
    int other = i == columns->label || i == columns->client || *field[i] == '\0';
    return other ? -1 : i;
}

/* The text of a row of n fields, *length bytes in mem: its columns, with blanks between
 * them. */
static char *join_text(const struct text_columns *columns, const char *const *field,
                       int64_t n, size_t *length, weft_arena *mem)
{
    size_t room = 1;
    int64_t all = columns->n > 0 ? columns->n : n;
    for (int64_t k = 0; k < all; k++) {
        int64_t i = piece_of(columns, field, k);
        if (i >= 0) room += strlen(field[i]) + 1;
    }
    char *text = WEFT_NEW(mem, char, room), *to = text;
    for (int64_t k = 0; k < all; k++) {
        int64_t i = piece_of(columns, field, k);
        if (i < 0) continue;
        if (to > text) *to++ = ' ';
        size_t bytes = strlen(field[i]);
        memcpy(to, field[i], bytes);
        to += bytes;
    }
    *length = (size_t)(to - text);
    return text;
}

/* A file that is being read. */
struct reading {
    const struct labelled *how;
    const char *path;
    struct text_columns columns;
    int64_t width; /* columns of the first line; 0: not seen yet */
    int skipped;   /* 1: a first line that names the separator was */
    weft_documents *docs;
    int64_t recoded, first; /* rows that were not UTF-8, and the line of the first */
    int64_t blank;          /* blank lines that are rows */
    weft_csv_source source; /* of CSV */
    weft_pack *pack;
};

static int is_unlabelled(const struct labelled *labelled)
{
    return strcmp(labelled->named.label, "none") == 0;
}

static int is_csv(const struct labelled *labelled)
{
    return labelled->separator == COMMA || labelled->separator == SEMICOLON;
}

/* 1: lines are divided into columns, not at the first separator alone. */
static int has_columns(const struct labelled *labelled)
{
    return is_csv(labelled) || *labelled->named.text != '\0' ||
           *labelled->named.client != '\0';
}

/* ---- texts ---- */

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

/* *text as UTF-8; returns 1 where it was not. */
static int decode(const struct reading *reading, const char **text, size_t *n)
{
    weft_encoding encoding = (weft_encoding)reading->how->encoding;
    if (*text == NULL || encoding == WEFT_ENC_UTF8) return 0;
    if (encoding == WEFT_ENC_AUTO && weft_utf8_check(*text, *n) == *n) return 0;
    char *made = WEFT_NEW(reading->pack->mem, char, *n + 1);
    memcpy(made, *text, *n);
    int odd = weft_text_decode(encoding, &made, n, reading->pack->mem);
    *text = made;
    return odd;
}

/* Adds a text with its label and its client, NULL where there is none. */
static weft_status add_text(struct reading *reading, int64_t line, const char *label,
                            size_t n_label, const char *text, size_t n, const char *client)
{
    static const char mark[] = "__label__"; /* fastText's */
    size_t length = strlen(mark);
    if (n_label == 0 && reading->columns.label != NONE)
        return weft_fail(WEFT_EDATA,
                         "%s: line %lld has no label; give one, or remove the line",
                         reading->path, (long long)line);
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
    size_t n_client = client ? strlen(client) : 0;
    int odd = decode(reading, &text, &n) | decode(reading, &label, &n_label) |
              decode(reading, &client, &n_client);
    if (odd && reading->recoded++ == 0) reading->first = line;
    return weft_documents_add(reading->docs, (weft_document){name, text, n, client}, line,
                              label, n_label, reading->pack->mem);
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

/* The fields of a line, *n in mem; their ends become NUL. */
static const char **divide_line(char *line, char separator, int64_t *n, weft_arena *mem)
{
    const char **field = NULL;
    int64_t room = 0;
    *n = 0;
    for (char *at = line, *stop; at != NULL; at = stop) {
        stop = strchr(at, separator);
        if (stop != NULL) *stop++ = '\0';
        field = weft_grow(mem, field, sizeof *field, *n, &room);
        field[(*n)++] = at;
    }
    return field;
}

/* The first line, which may be names. */
static weft_status begin_file(struct reading *reading, const char *const *field, int64_t n)
{
    struct head head = {.path = reading->path,
                        .how = &reading->how->named,
                        .field = field,
                        .n = n,
                        .scored = *reading->how->like != '\0',
                        .mem = reading->pack->mem};
    reading->width = n;
    return find_columns(&head, &reading->columns);
}

static weft_status begin_lines(struct reading *reading, const char *line)
{
    weft_arena *mem = reading->pack->mem;
    int64_t n;
    char *copy = weft_arena_text(mem, "%s", line);
    const char **field = divide_line(copy, separators[reading->how->separator], &n, mem);
    return begin_file(reading, field, n);
}

/* ---- rows of columns ---- */

static weft_status add_row(void *ctx, const weft_csv_row *row)
{
    struct reading *reading = ctx;
    struct text_columns *columns = &reading->columns;
    if (reading->width > 0 && row->n != reading->width)
        return weft_fail(WEFT_EDATA,
                         "%s: line %lld has %lld columns where the first has %lld; %s",
                         reading->path, (long long)row->line, (long long)row->n,
                         (long long)reading->width,
                         is_csv(reading->how)
                             ? "put texts that have the separator in quotation marks"
                             : "mend the line, or take out the separators in its texts");
    if (reading->width == 0) {
        TRY(begin_file(reading, row->field, row->n));
        if (columns->label != NONE && (row->n < 2 || columns->label >= row->n))
            return weft_fail(WEFT_EDATA,
                             "%s: line %lld has %lld column%s where label = %s and a text "
                             "are expected; separator = ... says what stands between "
                             "columns",
                             reading->path, (long long)row->line, (long long)row->n,
                             row->n == 1 ? "" : "s", reading->how->named.label);
        if (columns->label == NONE && !columns->header &&
            reading->how->named.header == NAMES_AUTO)
            return weft_fail(WEFT_ECONF,
                             "%s: line %lld may have names of columns or be a row: header "
                             "= yes or no says which, or text = NAME",
                             reading->path, (long long)row->line);
        if (columns->label == LAST) columns->label = row->n - 1;
        if (columns->header) return WEFT_OK;
    }
    weft_arena *mem = reading->pack->mem;
    const char *label = "", *client = NULL;
    size_t n;
    if (columns->label >= 0) label = weft_arena_text(mem, "%s", row->field[columns->label]);
    if (columns->client >= 0)
        client = weft_arena_text(mem, "%s", row->field[columns->client]);
    if (client && *client == '\0' && *reading->how->like == '\0')
        return weft_fail(WEFT_EDATA, "%s: line %lld has no client; give one, or remove it",
                         reading->path, (long long)row->line);
    char *text = join_text(columns, row->field, row->n, &n, mem);
    return add_text(reading, row->line, label, strlen(label), text, n, client);
}

/* ---- lines ---- */

/* A line of columns between tabs, which no quotation marks hold together. */
static weft_status add_divided(struct reading *reading, int64_t number, char *line)
{
    weft_csv_row row = {.line = number};
    weft_arena *tmp = reading->pack->scratch;
    WEFT_REWIND(tmp);
    row.field = divide_line(line, separators[reading->how->separator], &row.n, tmp);
    return add_row(reading, &row);
}

static weft_status add_line(struct reading *reading, int64_t number, char *line, size_t n)
{
    int by = reading->how->separator, seen = reading->width > 0;
    size_t from, to;
    if (has_columns(reading->how)) return add_divided(reading, number, line);
    if (!seen) TRY(begin_lines(reading, line));
    if (!seen && reading->columns.header) return WEFT_OK;
    if (reading->columns.label == NONE)
        return add_text(reading, number, "", 0, line, n, NULL);
    if (!find_label(line, n, separators[by], reading->columns.label, &from, &to))
        return weft_fail(WEFT_EDATA, "%s: line %lld has no %s beside its label; %s",
                         reading->path, (long long)number, names[by], way_to_read(line));
    const char *label =
        weft_arena_text(reading->pack->mem, "%.*s", (int)(to - from), line + from);
    if (to < n)
        memmove(line + from, line + to + 1, n - to);
    else
        line[from - 1] = '\0';
    return add_text(reading, number, label, to - from, line, n - (to - from) - 1, NULL);
}

static weft_status read_lines(struct reading *reading, char *text, size_t n)
{
    char *line, *at = text, *end = text + n;
    int all = is_unlabelled(reading->how); /* each line has its prediction */
    for (int64_t number = 1 + reading->skipped; (line = weft_line(&at, end, &n)) != NULL;
         number++)
        if (n > 0 || all || reading->width == 1) TRY(add_line(reading, number, line, n));
    return WEFT_OK;
}

/* ---- CSV ---- */

/* A blank line is a row without a text, where there is one column. */
static weft_status look_at(void *ctx, const char *at, size_t n, weft_csv_line *what)
{
    struct reading *reading = ctx;
    const weft_csv_source *source = &reading->source;
    size_t blank = 0;
    if (memchr(at, '\0', n) != NULL)
        return weft_fail(WEFT_EDATA, "%s: line %lld has a NUL byte; is this text in UTF-8?",
                         reading->path, (long long)source->line);
    while (blank < n && strchr(" \t\r\n", at[blank])) blank++;
    if (blank < n || source->opened > 0 || reading->width != 1) return WEFT_OK;
    *what = WEFT_CSV_EMPTY;
    reading->blank++;
    return WEFT_OK;
}

static weft_status read_csv(struct reading *reading, const char *text, size_t n)
{
    reading->source = (weft_csv_source){.path = reading->path,
                                        .line = reading->skipped,
                                        .separator = separators[reading->how->separator],
                                        .unclosed = "double one that is part of a text",
                                        .row = weft_arena_new(),
                                        .ctx = reading,
                                        .look = look_at,
                                        .take = add_row};
    weft_status st = weft_csv_read(&reading->source, text, n);
    if (reading->blank > 0 && st == WEFT_OK)
        weft_log(WEFT_INFO,
                 "%s: blank lines, %lld of them, are rows without a text, as there is one "
                 "column",
                 reading->path, (long long)reading->blank);
    weft_arena_free(reading->source.row);
    return st;
}

/* ---- the reader ---- */

/* ECONF where lines are to be texts but the name of the file says that it has columns. */
static weft_status check_lines(const struct labelled *labelled, const char *path)
{
    const char *end = strrchr(path, '.');
    if (has_columns(labelled) && labelled->separator == BLANK)
        return weft_fail(WEFT_ECONF,
                         "text and client are columns, which separator = blank does not "
                         "have; name comma, semicolon or tab");
    if (!is_unlabelled(labelled) || has_columns(labelled) || !end ||
        strcmp(end, ".csv") != 0)
        return WEFT_OK;
    return weft_fail(
        WEFT_ECONF,
        "%s: its lines would be texts as they are; separator = comma reads the "
        "columns of a CSV, and label = COLUMN leaves that one out",
        path);
}

/* Takes out a first line that names the separator. EDATA: it is another. */
static weft_status skip_separator(struct reading *reading, char **text, size_t *n)
{
    const struct labelled *labelled = reading->how;
    if (is_unlabelled(labelled) && !has_columns(labelled)) return WEFT_OK;
    char named = weft_separator_skip(text, n);
    reading->skipped = named != 0;
    if (!named || named == separators[labelled->separator]) return WEFT_OK;
    return weft_fail(WEFT_EDATA,
                     "%s: by its first line '%c' is between columns, by separator = ... "
                     "a %s; let both name one",
                     reading->path, named, names[labelled->separator]);
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
    TRY(skip_separator(&reading, &text, &n));
    documents->labels.path = path;
    TRY(is_csv(labelled) ? read_csv(&reading, text, n) : read_lines(&reading, text, n));
    if (reading.recoded > 0)
        weft_log(WEFT_WARN,
                 "%s: %lld rows are not UTF-8 and are taken as Windows-1252, the first in "
                 "line %lld; encoding = ... says otherwise",
                 path, (long long)reading.recoded, (long long)reading.first);
    return weft_pack_source(pack, path);
}

/* The texts of each class, in of[]; how many classes have a single one. */
static int count_classes(const weft_documents *documents, int64_t of[WEFT_MAX_CLASSES])
{
    int single = 0;
    memset(of, 0, WEFT_MAX_CLASSES * sizeof *of);
    for (int64_t i = 0; i < documents->n; i++) of[documents->label[i]]++;
    for (int c = 0; c < documents->labels.n; c++) single += of[c] == 1;
    return single;
}

/* Takes out the first lines of files whose labels no other line has: headers, unless half
 * of the classes are so. */
static void drop_headers(weft_documents *documents, const int64_t first[WEFT_NPART],
                         const char *const file[WEFT_NPART])
{
    int64_t of[WEFT_MAX_CLASSES], heads[WEFT_MAX_CLASSES] = {0};
    int drop[WEFT_NPART], single = count_classes(documents, of);
    if (2 * (single - 1) >= documents->labels.n - 1) return;
    for (int i = 0; i < WEFT_NPART; i++) {
        drop[i] = documents->end[i] - first[i] > 1;
        if (drop[i]) heads[documents->label[first[i]]]++;
    }
    for (int i = 0; i < WEFT_NPART; i++) {
        int32_t label = drop[i] ? documents->label[first[i]] : 0;
        drop[i] = drop[i] && of[label] == heads[label];
    }
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
    int64_t of[WEFT_MAX_CLASSES];
    int single = count_classes(documents, of), c = 0;
    if (documents->labels.n <= 2 || 2 * single <= documents->labels.n) return WEFT_OK;
    while (of[c] != 1) c++;
    return weft_fail(WEFT_EDATA,
                     "%s: %d of %d labels stand in one line only, such as '%.40s'; label = "
                     "%s reads texts before their labels, separator = ... other columns",
                     source, single, documents->labels.n, documents->labels.name[c],
                     strcmp(labelled->named.label, "last") == 0 ? "first" : "last");
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
    /* A label by its place is not where new texts have none. */
    static const char *const kept[] = {"label",  "separator", "text", "client",
                                       "header", "encoding",  NULL};
    const struct labelled *labelled = self;
    const char *file[WEFT_NPART] = {source, labelled->valid_file, labelled->test_file};
    int64_t first[WEFT_NPART];
    weft_documents documents = {.labels = {.mem = pack->mem}};
    TRY(check_like(labelled));
    TRY(weft_pack_files(pack, file));
    weft_pack_notation(pack, labelled, kept + !is_label_named(&labelled->named));
    for (int i = 0; i < WEFT_NPART; i++) {
        first[i] = documents.n;
        if (*file[i] != '\0') TRY(read_file(labelled, file[i], &documents, pack));
        if (*file[i] != '\0' && documents.n == first[i])
            return weft_fail(WEFT_EDATA, "%s has no texts; name another file", file[i]);
        documents.end[i] = documents.n;
        documents.own[i] = *file[i] != '\0' ? file[i] : NULL;
    }
    if (*labelled->like != '\0')
        return weft_documents_score(&documents, labelled->like, pack);
    if (labelled->named.header == NAMES_AUTO) drop_headers(&documents, first, file);
    TRY(check_classes(labelled, &documents, source));
    return weft_documents_pack(&documents, source, &labelled->split, pack);
}

WEFT_PLUGIN(reader, text) = {
    .kind = WEFT_KIND(
        "text", struct labelled, options,
        "labelled texts: a line LABEL TAB TEXT (TREC, SST, fastText), or columns"),
    .read = text_read,
};
