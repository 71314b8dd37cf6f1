/* How a table is laid out, as its first lines tell: libsvm or CSV, what separates the
 * columns, whether the first line has their names, and which is the label. */
#include "dense.h"
#include "weft/base/base.h"

#include <stdlib.h>
#include <string.h>

/* ---- separators ---- */

/* The first line that neither is blank nor a comment. */
static const char *first_line(const char *text, size_t n, size_t *length)
{
    for (const char *at = text, *end = text + n; at < end;) {
        size_t all = (size_t)(end - at);
        const char *stop = memchr(at, '\n', all), *old = memchr(at, '\r', all);
        if (stop == NULL || (old != NULL && old < stop)) stop = old;
        *length = stop != NULL ? (size_t)(stop - at) : all;
        if (*at != '#' && strspn(at, " \t\f") < *length) return at;
        at += *length + 1;
    }
    *length = 0;
    return text;
}

/* 1: a label, and after blanks INDEX:VALUE, or qid:NUMBER; -1: a label alone. */
static int is_libsvm(const char *line, size_t n, weft_arena *tmp)
{
    char *rest, *copy = weft_arena_text(tmp, "%.*s", (int)n, line), *end;
    const char *label = strtok_r(copy, " \t\r", &rest),
               *pair = strtok_r(NULL, " \t\r", &rest);
    double x;
    if (label == NULL) return 0;
    if (strchr(label, ':') != NULL) pair = label;
    if (pair == NULL || *pair == '#') return strpbrk(label, ",;|\"") == NULL ? -1 : 0;
    if (strncmp(pair, "qid:", 4) == 0) return 1;
    strtol(pair, &end, 10);
    return end > pair && *end == ':' && weft_table_number(end + 1, &x);
}

/* 1: the first of its lines that is not a label alone is libsvm's. */
static int has_pairs(const char *text, size_t n, weft_arena *tmp)
{
    int found = -1;
    for (const char *at = text, *end = text + n; found < 0 && at < end;) {
        size_t length;
        const char *line = first_line(at, (size_t)(end - at), &length);
        if (length == 0) break;
        WEFT_REWIND(tmp);
        found = is_libsvm(line, length, tmp);
        at = line + length + 1;
    }
    return found == 1;
}

char weft_table_separator(const char *text, size_t n, int comma, weft_arena *tmp)
{
    enum { CHOICES = 4, COMMA = 3 };
    static const char choice[CHOICES] = {';', '\t', '|', ','}; /* first of equally many */
    size_t length;
    int count[CHOICES] = {0}, quoted = 0, best = 0, blanks = 0;
    const char *line = first_line(text, n, &length);
    if (has_pairs(text, n, tmp)) return 0;
    for (; line < text + n && (quoted || (*line != '\n' && *line != '\r')); line++) {
        quoted ^= *line == '"';
        blanks += *line == ' ' && !quoted;
        for (int i = 0; i < CHOICES && !quoted; i++) count[i] += *line == choice[i];
    }
    /* Of decimal commas there is one at most between two semicolons. */
    if (!comma || (count[0] > 0 && count[COMMA] <= count[0] + 1)) count[COMMA] = 0;
    for (int i = 1; i < CHOICES; i++)
        if (count[i] > count[best]) best = i;
    if (count[best] == 0 && blanks > 0) return ' ';
    return count[best] > 0 || !comma ? choice[best] : ',';
}

void weft_blanks_merge(char *text, size_t *n)
{
    size_t to = 0;
    for (size_t i = 0; i < *n; i++) {
        char c = text[i] == '\t' ? ' ' : text[i];
        int edge = to == 0 || strchr(" \n\r", text[to - 1]) != NULL;
        if (c == ' ' && edge) continue;
        if ((c == '\n' || c == '\r') && to > 0 && text[to - 1] == ' ') to--;
        text[to++] = c;
    }
    text[to] = '\0';
    *n = to;
}

/* ---- names of columns ---- */

/* 1: whole numbers, each by one greater than that before; *from: the first. */
static int counts_up(int64_t n, const char *const *field, long *from)
{
    for (int64_t i = 0; i < n; i++) {
        char *end;
        long number = strtol(field[i], &end, 10);
        if (i == 0) *from = number;
        if (number != *from + i || *end != '\0' || end == field[i]) return 0;
    }
    return 1;
}

/* 1: whole numbers that all differ, as names do. */
static int may_be_names(int64_t n, const char *const *field)
{
    for (int64_t i = 0; i < n; i++) {
        if (*field[i] == '\0' || strspn(field[i], "0123456789") != strlen(field[i]))
            return 0;
        for (int64_t k = 0; k < i; k++)
            if (strcmp(field[i], field[k]) == 0) return 0;
    }
    return n > 0;
}

static int64_t by_name(int64_t n, const char *const *field, const char *name)
{
    for (int64_t i = 0; i < n; i++)
        if (strcmp(field[i], name) == 0) return i;
    return -1;
}

/* The columns after the first of a list of labels; "": there is one label. */
static const char *rest_of(int64_t n, const char *const *field, const char *label)
{
    const char *comma = strchr(label, ',');
    return comma && by_name(n, field, label) < 0 ? comma + 1 : "";
}

/* The column of that number, from 1; -1: none. */
static int64_t by_number(int64_t n, const char *text)
{
    char *end;
    long number = strtol(text, &end, 10);
    return *end == '\0' && number >= 1 && number <= n ? number - 1 : -1;
}

/* The column that `label` means by its place; -1: none. */
static int64_t by_place(int64_t n, const char *label)
{
    if (strcmp(label, "first") == 0) return 0;
    return strcmp(label, "last") == 0 ? n - 1 : by_number(n, label);
}

/* What the second line tells of the first, whose fields are not all numbers: names, where a
 * number stands below a text, or where no number stands in both. Columns of texts may be
 * categories. */
static int is_named(const weft_csv *how, const weft_csv_head *head,
                    const char *const *field, const char *const *second, int64_t label,
                    weft_arena *tmp)
{
    int numbers = 0;
    double x;
    for (int64_t i = 0; second && i < head->columns; i++) {
        int above = weft_cell_number(&how->marks, field[i], &x, tmp);
        int below = weft_cell_number(&how->marks, second[i], &x, tmp);
        if (i != label && !above && below && !weft_cell_missing(field[i])) return 1;
        numbers += i != label && above && below;
    }
    return numbers == 0;
}

/* What a first line of whole numbers is; ASK: names or a row. */
enum { ROW, NAMES, ASK };
enum { FEW_COUNTED = 3 }; /* so many that count up are hardly a row's */
static int of_numbers(const weft_csv_head *head, const char *const *field,
                      const char *const *second)
{
    long from, next;
    int64_t n = head->columns;
    if (*field[0] == '\0' && second && *second[0] != '\0' && may_be_names(n - 1, field + 1))
        return NAMES;
    if (n < FEW_COUNTED || !counts_up(n, field, &from)) return ROW;
    int same = second && counts_up(n, second, &next);
    return !same && (from == 0 || from == 1) ? NAMES : ASK;
}

/* The same of a first line that counts from 0 or 1 beside a text, the label: names, as
 * pandas gives them. One column is enough if it is asked for by that text; the name of an
 * index may lack. */
static int of_features(const weft_csv_head *head, const char *const *field,
                       const char *const *second, int64_t label, int asked, weft_arena *tmp)
{
    const char **first = WEFT_NEW(tmp, const char *, head->columns),
               **next = WEFT_NEW(tmp, const char *, head->columns);
    int64_t n = 0;
    long from, other;
    for (int64_t i = 0; i < head->columns; i++) {
        int index = i == 0 && *field[i] == '\0' && second && *second[i] != '\0';
        if (i == label || index) continue;
        first[n] = field[i];
        next[n++] = second ? second[i] : "";
    }
    if (n < (asked ? 1 : FEW_COUNTED) || !counts_up(n, first, &from)) return ROW;
    return (from == 0 || from == 1) && !counts_up(n, next, &other) ? NAMES : ROW;
}

/* 1: all fields are names of columns that are looked for, or none, and they differ. */
static int are_known(const weft_csv_head *head, const char *const *field)
{
    for (int64_t i = 0; i < head->columns; i++)
        if ((*field[i] != '\0' && by_name(head->sought, head->known, field[i]) < 0) ||
            by_name(i, field, field[i]) >= 0)
            return 0;
    return 1;
}

/* The first line has names, where its features are no numbers, count up from 0 or 1, or the
 * label is a number that only a name can be. */
static int is_header(const weft_csv *how, const weft_csv_head *head,
                     const char *const *field, const char *const *second, int64_t named,
                     weft_arena *tmp)
{
    double x;
    int64_t placed = by_place(head->columns, how->label);
    int64_t label = named >= 0 ? named : placed;
    if (how->header != WEFT_HEADER_AUTO) return how->header == WEFT_HEADER_YES;
    if (head->columns == 1 && weft_cell_missing(field[0])) return ROW;
    if (head->known && are_known(head, field)) return NAMES;
    if (named >= 0 && placed < 0 && weft_table_number(how->label, &x)) return NAMES;
    int numbers = of_numbers(head, field, second);
    if (numbers != ROW) return how->unlabelled ? (head->known ? NAMES : ROW) : numbers;
    if (label >= 0 && !weft_cell_number(&how->marks, field[label], &x, tmp) &&
        of_features(head, field, second, label, named >= 0 && placed < 0, tmp) == NAMES)
        return NAMES;
    for (int64_t i = 0; i < head->columns; i++)
        if (i != label && !weft_cell_number(&how->marks, field[i], &x, tmp))
            return is_named(how, head, field, second, label, tmp);
    return 0;
}

/* What a message says of the names of columns, NULL where there are none. */
static const char *nearest(int64_t n, const char *const *name, const char *text,
                           weft_arena *mem)
{
    if (!name) return "";
    return weft_arena_text(mem, ", of which '%.40s' is the nearest",
                           weft_nearest(text, name, (int)n));
}

/* The label's name must be one column's: another one would tell it. */
static weft_status check_twice(const char *path, const weft_csv_head *head)
{
    const char *name = head->name[head->label];
    for (int64_t i = 0; i < head->columns; i++)
        if (i != head->label && strcmp(head->name[i], name) == 0)
            return weft_fail(WEFT_EDATA,
                             "%s: columns %lld and %lld are both named '%s', the label's "
                             "name; rename or remove the one that is not the label",
                             path, (long long)(i < head->label ? i : head->label) + 1,
                             (long long)(i < head->label ? head->label : i) + 1, name);
    return WEFT_OK;
}

weft_status weft_csv_begin(const char *path, const weft_csv *how, const char *const *field,
                           const char *const *second, weft_csv_head *head, weft_arena *mem)
{
    int64_t n = head->columns;
    if (n < 2 && !how->unlabelled)
        return weft_fail(
            WEFT_EDATA,
            "%s: line %lld has 1 column where a label and numbers are expected; is it a "
            "CSV file? separator = ... says what stands between columns",
            path, (long long)head->line);
    head->more = rest_of(n, field, how->label);
    weft_csv one = *how;
    if (*head->more != '\0')
        one.label = weft_arena_text(mem, "%.*s", (int)strcspn(how->label, ","), how->label);
    const char *label = one.label;
    int64_t named = by_name(n, field, label);
    if (strcmp(label, "first") == 0 || strcmp(label, "last") == 0) named = -1;
    size_t mark = weft_arena_mark(mem);
    int header = is_header(&one, head, field, second, named, mem);
    weft_arena_reset(mem, mark);
    if (header == ASK)
        return weft_fail(WEFT_EDATA,
                         "%s: line %lld, %s,%s,%s%s, may be names of columns or a row: "
                         "header = yes or header = no says which",
                         path, (long long)head->line, field[0], field[1], field[2],
                         n > 3 ? ",..." : "");
    head->label = header && named >= 0 ? named : by_place(n, label);
    if (how->unlabelled && (header ? named < 0 : n < how->unlabelled)) head->label = -1;
    if (head->label < 0 && !how->unlabelled)
        return weft_fail(WEFT_ECONF,
                         "label = %s, where %s has %lld columns%s; give first, last, a "
                         "number from 1 to %lld, or a name in the first line%s",
                         label, path, (long long)n, header ? "" : " without names",
                         (long long)n, nearest(n, header ? field : NULL, label, mem));
    if (header) {
        head->name = WEFT_NEW(mem, const char *, n);
        for (int64_t i = 0; i < n; i++)
            head->name[i] = *field[i] != '\0'
                                ? weft_arena_text(mem, "%s", field[i])
                                : weft_arena_text(mem, "column %lld", (long long)i + 1);
        if (head->label >= 0) TRY(check_twice(path, head));
    }
    return WEFT_OK;
}

void weft_csv_tell(const char *path, const weft_csv *how, const weft_csv_head *head,
                   weft_pack *pack)
{
    long long column = (long long)head->label + 1;
    if (head->name == NULL) {
        weft_log(WEFT_INFO, "%s: column %lld is the label; line %lld is the first row",
                 path, column, (long long)head->line);
        return;
    }
    weft_log(WEFT_INFO, "%s: column %lld, '%s', is the label; line %lld has the names",
             path, column, head->name[head->label], (long long)head->line);
    int64_t numbers = 0;
    for (int64_t i = 0; i < head->columns; i++)
        numbers += i != head->label && may_be_names(1, head->name + i);
    if (how->header == WEFT_HEADER_AUTO && numbers > 0)
        weft_pack_decided(pack,
                          "line %lld has numbers that are names of columns: it is no row "
                          "(header = yes); header = no makes it one",
                          (long long)head->line);
}

/* ---- what columns are for ---- */

/* The column of that name or number, -1: none. */
static int64_t column_of(const weft_csv_head *head, const char *name)
{
    int64_t named = head->name ? by_name(head->columns, head->name, name) : -1;
    return named >= 0 ? named : by_number(head->columns, name);
}

/* The next column behind i that has this name, too; -1: none. */
static int64_t twin_of(const weft_csv_head *head, int64_t i, const char *name)
{
    for (int64_t k = i + 1; head->name && k < head->columns; k++)
        if (strcmp(head->name[i], name) == 0 && strcmp(head->name[k], name) == 0) return k;
    return -1;
}

/* Sets the kind of the columns in a list with commas. */
static weft_status set_kind(const char *path, const char *option, const char *list,
                            weft_column_kind to, weft_dense_rows *rows)
{
    const weft_csv_head *head = &rows->head;
    weft_dense_column *at = rows->at;
    char *rest, *copy = weft_arena_text(rows->mem, "%s", list);
    for (char *name = strtok_r(copy, ",", &rest); name; name = strtok_r(NULL, ",", &rest)) {
        int64_t i = column_of(head, name);
        if (i < 0)
            return weft_fail(WEFT_ECONF, "%s = %s: %s has no column '%s'; it has %lld%s%s",
                             option, list, path, name, (long long)head->columns,
                             head->name ? " with names" : " without names",
                             nearest(head->columns, head->name, name, rows->mem));
        int64_t twin = twin_of(head, i, name);
        if (twin >= 0)
            return weft_fail(WEFT_ECONF,
                             "%s = %s: %s has columns %lld and %lld of the name '%s'; give "
                             "their numbers",
                             option, list, path, (long long)i + 1, (long long)twin + 1,
                             name);
        if (at[i].kind != WEFT_COLUMN_NUMBER)
            return weft_fail(WEFT_ECONF, "%s = %s: column '%s' is %s already", option, list,
                             name, weft_column_kind_name[at[i].kind]);
        at[i].kind = to;
        at[i].fixed = 1;
    }
    return WEFT_OK;
}

weft_status weft_csv_kinds(const char *path, const weft_csv *how, weft_dense_rows *rows)
{
    const struct {
        const char *name, *columns;
        weft_column_kind to;
        int one; /* 1: it is of one column */
    } option[] = {
        {"label", rows->head.more, WEFT_COLUMN_TARGET, 0},
        {"weight", how->weight, WEFT_COLUMN_WEIGHT, 1},
        {"drop", how->drop, WEFT_COLUMN_DROPPED, 0},
        {"group", how->group, WEFT_COLUMN_GROUP, 1},
        {"client", how->client, WEFT_COLUMN_CLIENT, 1},
        {"numbers", how->numbers, WEFT_COLUMN_NUMBER, 0},
        {"categories", strcmp(how->categories, "auto") == 0 ? "" : how->categories,
         WEFT_COLUMN_CATEGORY, 0},
    };
    weft_dense_begin(rows, rows->head.columns);
    rows->answer = &rows->at[rows->head.label];
    rows->many = *rows->head.more != '\0' || how->target == WEFT_TARGET_REGRESSION;
    rows->answer->kind = rows->many ? WEFT_COLUMN_TARGET : WEFT_COLUMN_LABEL;
    for (size_t k = 0; k < sizeof option / sizeof *option; k++) {
        if (option[k].one && strchr(option[k].columns, ','))
            return weft_fail(WEFT_ECONF,
                             "%s = %s names several columns where one is expected; give "
                             "one, or join them into a column in %s",
                             option[k].name, option[k].columns, path);
        TRY(set_kind(path, option[k].name, option[k].columns, option[k].to, rows));
    }
    return WEFT_OK;
}
