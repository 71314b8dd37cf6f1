/* What the columns of CSV files are, and what the training rows say of them. */
#include "dense_arrays.h"
#include "dense_cell.h"
#include "dense_like.h"
#include "weft/log.h"
#include "weft/patterns.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* ---- kinds ---- */

void weft_dense_probe(const char *path, char *text, size_t n, const weft_csv *how,
                      weft_dense_rows *rows)
{
    enum { FIRST = 1 << 16 }; /* bytes */
    if (n <= FIRST || strcmp(how->categories, "auto") != 0) return;
    size_t end = FIRST;
    int64_t lines = 1;
    while (end > 0 && text[end - 1] != '\n') end--;
    for (size_t i = 0; i < end; i++) lines += text[i] == '\n' || text[i] == '\r';
    weft_arena *tmp = weft_arena_new();
    weft_dense_rows first = {.mem = tmp,
                             .labels = {.mem = tmp, .path = path},
                             .room = lines,
                             .many = how->target == WEFT_TARGET_REGRESSION};
    weft_status st = weft_read_csv(path, text, end, how, &first);
    char *texts = WEFT_NEW(rows->mem, char, first.d);
    for (int64_t j = 0; st == WEFT_OK && j < first.d; j++) {
        const weft_dense_column *column = &first.at[j];
        const char *doubt;
        texts[j] = column->kind == WEFT_COLUMN_NUMBER && column->texts > 0 &&
                   column->numbers == 0 && !weft_cell_remedy(how, column->text, tmp) &&
                   !weft_hints_decide(how, column, WEFT_DATE_DMY, &doubt, tmp) && !doubt;
    }
    if (st == WEFT_OK) rows->texts = texts;
    weft_arena_free(tmp);
}

const char *weft_dense_name(const weft_dense_rows *rows, int64_t j)
{
    const char *name = rows->head.name ? rows->head.name[j] : "";
    return *name ? name : weft_arena_text(rows->mem, "%lld", (long long)j + 1);
}

/* What to do about a cell that is not written as its column; *expected: what it is to be.
 * NULL: numbers are plain. */
static const char *written_remedy(const weft_dense_column *column, const char **expected,
                                  weft_arena *mem)
{
    const weft_written *written = column->written;
    if (!written) return NULL;
    *expected =
        written->order == WEFT_DATE_NONE
            ? weft_arena_text(mem, "number with %s or without", written->unit)
            : weft_arena_text(mem, "date such as %s", weft_date_example[written->order]);
    if (strchr(column->text, ',')) return "mend or remove the line";
    return weft_arena_text(mem, "gaps = %s makes it a missing value; or mend the line",
                           column->text);
}

static weft_status bad_cell(const weft_csv *how, const weft_dense_rows *rows, int64_t j)
{
    const weft_dense_column *column = &rows->at[j];
    const char *name = weft_dense_name(rows, j), *quote = rows->head.name ? ", '" : "";
    const char *expected = "finite number";
    const char *remedy = written_remedy(column, &expected, rows->mem);
    if (!remedy) remedy = weft_cell_remedy(how, column->text, rows->mem);
    if (!remedy && how->unlabelled) remedy = "mend or remove the line";
    if (!remedy)
        remedy = weft_arena_text(rows->mem,
                                 "categories = %s makes a level of each text, drop = %s "
                                 "leaves the column out; or mend or remove the line",
                                 name, name);
    return weft_fail(WEFT_EDATA,
                     "%s: line %lld, column %lld%s%s%s is '%s' where a %s is expected; %s",
                     column->path, (long long)column->line, (long long)column->number + 1,
                     quote, rows->head.name ? name : "", rows->head.name ? "'," : "",
                     column->text, expected, remedy);
}

/* Columns found by themselves in which nearly every row has a text of its own. */
static weft_status check_levels(const weft_dense_rows *rows, int64_t j)
{
    enum { ENOUGH = 20 };
    const weft_dense_column *column = &rows->at[j];
    int64_t levels = column->name.n;
    if (levels <= ENOUGH || 2 * levels <= rows->n) return WEFT_OK;
    const char *name = weft_dense_name(rows, j), *text = column->name.name[0];
    return weft_fail(
        WEFT_EDATA,
        "%s: column '%s' has %lld different texts in %lld rows, such as "
        "'%.40s'; drop = %s leaves it out, %s",
        rows->labels.path, name, (long long)levels, (long long)rows->n, text, name,
        strchr(text, ' ')
            ? "`weft pack text` with separator = ... reads texts"
            : weft_arena_text(rows->mem, "categories = %s makes levels", name));
}

/* 1: fewer cells of a column of levels are numbers than texts, as its first lines show. */
static int is_of_texts(const weft_csv *how, const weft_dense_rows *rows, int64_t j)
{
    const weft_names *name = &rows->at[j].name;
    weft_arena *tmp = weft_arena_new();
    char *number = WEFT_NEW(tmp, char, name->n);
    int some = 0;
    int64_t numbers = 0, all = 0;
    double x;
    for (int64_t k = 0; k < name->n; k++)
        some |= number[k] = (char)weft_cell_number(how, name->name[k], &x, tmp);
    for (int64_t i = 0; i < rows->n && some; i++) {
        x = rows->value[i * rows->d + j];
        all += !isnan(x);
        numbers += !isnan(x) && number[(int64_t)x];
    }
    weft_arena_free(tmp);
    return !some || all - numbers > numbers;
}

/* 1: a column of numbers, or a label, may turn out to be written as dates or with a unit.
 */
static int may_be_written(const weft_csv *how, const weft_dense_column *column)
{
    return !how->unlabelled && !column->written && column->hints &&
           (column->kind == WEFT_COLUMN_NUMBER || column->kind == WEFT_COLUMN_LABEL ||
            column->kind == WEFT_COLUMN_TARGET);
}

/* Tells that a column is no numbers as its units differ. */
static void tell_units(const weft_dense_rows *rows, int64_t j)
{
    const weft_dense_column *column = &rows->at[j];
    const weft_hints *hints = column->hints;
    if (hints->other && 2 * (hints->unit + hints->others) > column->texts)
        weft_log(WEFT_WARN,
                 "%s: column '%s' has numbers with different units, %s and %s: they are "
                 "texts; with one unit they are numbers",
                 column->path, weft_dense_name(rows, j), hints->first, hints->other);
}

/* Finds columns of dates, and of numbers with a unit; *again 1: there are such. EDATA: it
 * cannot be told how they are to be read. */
static weft_status find_written(const weft_csv *how, weft_dense_rows *rows, int *again)
{
    weft_date_order known = WEFT_DATE_NONE;
    const char *doubt, *why = NULL;
    for (int64_t k = 0; k < 2 * rows->d; k++) { /* twice, as one column may tell another */
        int64_t j = k % rows->d;
        weft_dense_column *column = &rows->at[j];
        if (!may_be_written(how, column)) continue;
        column->written = weft_hints_decide(how, column, known, &doubt, rows->mem);
        if (doubt) {
            column->written = NULL;
            why = doubt;
        }
        if (doubt && k >= rows->d)
            return weft_fail(WEFT_EDATA, "%s: column '%s', which is '%s' in line %lld, %s",
                             column->path, weft_dense_name(rows, j), column->text,
                             (long long)column->line, why);
        if (!column->written) {
            if (k >= rows->d) tell_units(rows, j);
            continue;
        }
        int date = column->written->order != WEFT_DATE_NONE;
        if (column->written->order == WEFT_DATE_DMY ||
            column->written->order == WEFT_DATE_MDY)
            known = column->written->order;
        if (date && column->kind == WEFT_COLUMN_NUMBER) column->kind = WEFT_COLUMN_DATE;
        *again = 1;
    }
    return WEFT_OK;
}

weft_status weft_dense_kinds(const weft_csv *how, weft_dense_rows *rows, int *again)
{
    int finds = strcmp(how->categories, "auto") == 0;
    *again = 0;
    TRY(find_written(how, rows, again));
    for (int64_t j = 0; j < rows->d; j++) {
        weft_dense_column *column = &rows->at[j];
        if (column->early && !is_of_texts(how, rows, j)) {
            column->kind = WEFT_COLUMN_NUMBER;
            column->early = 0;
            *again = 1;
            continue;
        }
        if (column->kind == WEFT_COLUMN_CATEGORY && finds) TRY(check_levels(rows, j));
        if ((column->kind != WEFT_COLUMN_NUMBER && column->kind != WEFT_COLUMN_DATE) ||
            column->texts == 0 || (*again && column->written))
            continue;
        if (column->written || !finds || column->texts <= column->numbers ||
            weft_cell_remedy(how, column->text, rows->mem))
            return bad_cell(how, rows, j);
        column->kind = WEFT_COLUMN_CATEGORY;
        *again = 1;
    }
    for (int64_t j = 0; j < rows->d && *again; j++) {
        weft_dense_column *column = &rows->at[j];
        column->numbers = column->texts = column->missing = 0;
        column->hints = NULL;
        column->text = NULL;
    }
    return WEFT_OK;
}

/* ---- levels and gaps ---- */

/* What the rows up to now say of a column of numbers. */
struct seen {
    weft_patterns numbers; /* other than 0, WEFT_COLUMN_MOST at most */
    double low, high, last;
    int falls, zero; /* falls 1: it does not rise from row to row, or is not whole */
};

static void look(struct seen *seen, double x, weft_arena *tmp)
{
    uint64_t bits;
    if (isnan(x)) return;
    seen->low = x < seen->low ? x : seen->low;
    seen->high = x > seen->high ? x : seen->high;
    seen->falls |= x <= seen->last || x > floor(x);
    seen->last = x;
    memcpy(&bits, &x, sizeof bits);
    if (bits << 1 == 0)
        seen->zero = 1; /* or -0 */
    else if (seen->numbers.n < WEFT_COLUMN_MOST)
        weft_patterns_add(&seen->numbers, bits, tmp);
}

static void tell_rising(const weft_dense_rows *rows, int64_t j, const weft_column *column)
{
    enum { ENOUGH = 20 };
    int told = rows->head.name && *rows->head.name[j] == '\0'; /* by weft_csv_tell */
    if (told || column->kind != WEFT_COLUMN_NUMBER || rows->n < ENOUGH ||
        column->missing > 0)
        return;
    weft_log(WEFT_WARN,
             "%s: column '%s' rises from row to row; if it numbers the rows, drop = %s "
             "leaves it out",
             rows->labels.path, column->name, column->name);
}

/* 1: numbers are looked at. */
static int has_numbers(const weft_column *column)
{
    return column->kind == WEFT_COLUMN_NUMBER || column->kind >= WEFT_COLUMN_TARGET;
}

/* Looks at the numbers in columns [first, end) of all rows. */
static void look_at(const weft_dense_rows *rows, int64_t first, int64_t end,
                    weft_column *column)
{
    weft_arena *tmp = weft_arena_new();
    struct seen *seen = weft_arena_alloc(tmp, (size_t)(end - first), sizeof *seen);
    double *room = WEFT_NEW(tmp, double, rows->d);
    for (int64_t j = first; j < end; j++)
        seen[j - first] =
            (struct seen){.low = INFINITY, .high = -INFINITY, .last = -INFINITY};
    for (int64_t i = 0; i < rows->n; i++) {
        const double *x = weft_dense_cells(rows, i, room);
        for (int64_t j = first; j < end; j++)
            if (has_numbers(&column[j])) look(&seen[j - first], x[j], tmp);
    }
    for (int64_t j = first; j < end; j++) {
        const struct seen *own = &seen[j - first];
        if (!has_numbers(&column[j])) continue;
        column[j].low = own->low;
        column[j].high = own->high;
        column[j].distinct = own->numbers.n + own->zero < WEFT_COLUMN_MOST
                                 ? own->numbers.n + own->zero
                                 : WEFT_COLUMN_MOST;
        if (!own->falls) tell_rising(rows, j, &column[j]);
    }
    weft_arena_free(tmp);
}

/* -9, -99, ... or 99, 999, ..., as people write for a number that they do not have. */
static int is_code(double x)
{
    double all = x < 0 ? 9 : 99;
    while (all < fabs(x)) all = 10 * all + 9;
    return !(fabs(fabs(x) - all) > 0) && all < 1e6;
}

/* How often the column has x, and *low .. *high of its other numbers. */
static int64_t count(const weft_dense_rows *rows, int64_t j, double x, double *low,
                     double *high)
{
    int64_t n = 0;
    *low = INFINITY;
    *high = -INFINITY;
    for (int64_t i = 0; i < rows->n; i++) {
        double cell = weft_dense_cell(rows, i, j);
        if (isnan(cell)) continue;
        int same = !(fabs(cell - x) > 0);
        n += same;
        if (!same) *low = fmin(*low, cell);
        if (!same) *high = fmax(*high, cell);
    }
    return n;
}

/* 1: the least or greatest number of a column may stand for a missing value: *code, which
 * it has `times` times, is the only negative one, or at least nearly ten times all others.
 */
static int has_code(const weft_dense_rows *rows, int64_t j, const weft_column *column,
                    double *code, int64_t *times, double *low, double *high)
{
    if (column->kind != WEFT_COLUMN_NUMBER) return 0;
    *code = column->low < 0 ? column->low : column->high;
    if (column->distinct < 3 || !is_code(*code)) return 0;
    *times = count(rows, j, *code, low, high);
    return *times > 1 && *low >= 0 && (*code < 0 || *high <= (*code + 1) / 10);
}

/* Warns of such columns, in one line. */
static void tell_codes(const weft_dense_rows *rows, const weft_column *column)
{
    double code, low, high;
    int64_t times, more = 0;
    const char *first = NULL;
    for (int64_t j = 0; j < rows->d; j++) {
        if (!has_code(rows, j, &column[j], &code, &times, &low, &high)) continue;
        more += first != NULL;
        if (!first)
            first = weft_arena_text(
                rows->mem,
                "column '%s' has %g %lld times and else %g .. %g; if that stands for a "
                "missing value, gaps = %g says so",
                column[j].name, code, (long long)times, low, high, code);
    }
    if (first)
        weft_log(WEFT_WARN, "%s: %s%s", rows->labels.path, first,
                 more ? weft_arena_text(rows->mem, "; %lld more columns have such a number",
                                        (long long)more)
                      : "");
}

static int by_value(const void *a, const void *b)
{
    const double *x = a, *y = b;
    return (*x > *y) - (*x < *y);
}

/* The most frequent of sorted numbers, the least of equally frequent ones. */
static double most_frequent(const double *x, int64_t n)
{
    double best = x[0];
    for (int64_t i = 0, most = 0; i < n;) {
        int64_t end = i;
        while (end < n && !(x[end] > x[i])) end++;
        if (end - i > most) {
            most = end - i;
            best = x[i];
        }
        i = end;
    }
    return best;
}

static weft_status no_value(const weft_dense_rows *rows, const weft_column *column)
{
    return weft_fail(WEFT_EDATA,
                     "%s: column '%s' has no value in the training rows; drop = %s leaves "
                     "it out",
                     rows->labels.path, column->name, column->name);
}

/* Puts the k-th of x[n], from 0, in its place, none greater before it and none less behind
 * it. Hoare, "Algorithm 65: Find", 1961. Cost O(n) on average. */
static double find(double *x, int64_t n, int64_t k)
{
    for (int64_t low = 0, high = n - 1; low < high;) {
        double middle = x[k];
        int64_t i = low, j = high;
        while (i <= j) {
            while (x[i] < middle) i++;
            while (x[j] > middle) j--;
            if (i > j) break;
            double kept = x[i];
            x[i++] = x[j];
            x[j--] = kept;
        }
        if (j < k) low = i;
        if (i > k) high = j;
    }
    return x[k];
}

static double median(double *x, int64_t n)
{
    double upper = find(x, n, n / 2), lower = upper;
    if (n % 2 == 1) return upper;
    lower = x[0];
    for (int64_t i = 1; i < n / 2; i++) lower = x[i] > lower ? x[i] : lower;
    return lower / 2 + upper / 2;
}

/* What stands for numbers that are missing, also where new rows alone lack some: x[n] are
 * those of the training rows. */
static weft_status fit_number(int missing, const weft_dense_rows *rows, double *x,
                              int64_t n, int64_t ntrain, weft_column *to)
{
    if (n == 0) return to->missing > 0 ? no_value(rows, to) : WEFT_OK;
    to->marks = n < ntrain;
    if (missing != WEFT_MISSING_FREQUENT) {
        to->fill = median(x, n);
        return WEFT_OK;
    }
    qsort(x, (size_t)n, sizeof *x, by_value);
    to->fill = most_frequent(x, n);
    return WEFT_OK;
}

/* The same for columns [first, end), which are read at once, row by row. */
static weft_status fit_numbers(int missing, const weft_dense_rows *rows, int64_t first,
                               int64_t end, const int64_t *train, int64_t ntrain,
                               weft_column *column, weft_arena *tmp)
{
    double *x = WEFT_NEW(tmp, double, (end - first) * ntrain),
           *room = WEFT_NEW(tmp, double, rows->d);
    int64_t *n = WEFT_NEW(tmp, int64_t, end - first);
    for (int64_t i = 0; i < ntrain; i++) {
        const double *cell = weft_dense_cells(rows, train[i], room);
        for (int64_t j = first; j < end; j++)
            if (!isnan(cell[j])) x[(j - first) * ntrain + n[j - first]++] = cell[j];
    }
    for (int64_t j = first; j < end; j++)
        if (column[j].kind == WEFT_COLUMN_NUMBER || column[j].kind == WEFT_COLUMN_DATE)
            TRY(fit_number(missing, rows, x + (j - first) * ntrain, n[j - first], ntrain,
                           &column[j]));
    return WEFT_OK;
}

static int by_level(const void *a, const void *b)
{
    const char *const *x = a, *const *y = b;
    return weft_labels_compare(*x, *y);
}

void weft_dense_unknown(const weft_dense_rows *rows, int64_t j, const char *text,
                        int64_t some, int64_t n)
{
    if (some > 0)
        weft_log(WEFT_WARN,
                 "%s: column '%s' has levels that training rows have not, such as '%.40s', "
                 "in %lld of %lld rows; they count as none",
                 rows->labels.path, weft_dense_name(rows, j), text, (long long)some,
                 (long long)n);
}

/* Levels in the training rows; cells become their numbers. */
static weft_status fit_category(weft_dense_rows *rows, int64_t j, const int64_t *train,
                                int64_t ntrain, weft_column *to, weft_arena *tmp)
{
    const weft_names *name = &rows->at[j].name;
    int64_t *number = WEFT_NEW(tmp, int64_t, name->n + 1), n = 0;
    for (int64_t i = 0; i < ntrain; i++) {
        double cell = weft_dense_cell(rows, train[i], j);
        if (isnan(cell))
            to->marks = 1;
        else
            number[(int64_t)cell] = 1;
    }
    to->level = WEFT_NEW(rows->mem, const char *, name->n + 1);
    for (int64_t i = 0; i < name->n; i++)
        if (number[i]) to->level[n++] = name->name[i];
    if (n == 0) return no_value(rows, to);
    qsort(to->level, (size_t)n, sizeof *to->level, by_level);
    for (int64_t i = 0; i < name->n; i++) number[i] = -1;
    for (int64_t i = 0; i < n; i++) number[weft_names_index(name, to->level[i])] = i;
    const char *text = NULL;
    int64_t unknown = 0, first = rows->end[WEFT_TRAIN]; /* of other files */
    for (int64_t i = 0; i < rows->n; i++) {
        double *cell = weft_dense_place(rows, i, j);
        if (isnan(*cell)) continue;
        const char *own = name->name[(int64_t)*cell];
        *cell = (double)number[(int64_t)*cell];
        if (i >= first && *cell < 0 && unknown++ == 0) text = own;
    }
    weft_dense_unknown(rows, j, text, unknown, rows->n - first);
    to->levels = n;
    to->distinct = name->n;
    return WEFT_OK;
}

/* The parts of dates that vary in the training rows. */
static void fit_date(const weft_dense_rows *rows, int64_t j, const int64_t *train,
                     int64_t ntrain, weft_column *to)
{
    const double least = 1e-9; /* sines of equal angles differ by rounding */
    double low[WEFT_DATE_PARTS], high[WEFT_DATE_PARTS], value[WEFT_DATE_PARTS];
    int *part = WEFT_NEW(rows->mem, int, WEFT_DATE_PARTS), zone = weft_column_zone(to);
    int time = rows->at[j].written->order == WEFT_DATE_TIME;
    for (int k = 0; k < WEFT_DATE_PARTS; k++) {
        low[k] = INFINITY;
        high[k] = -INFINITY;
    }
    for (int64_t i = 0; i < ntrain; i++) {
        double cell = weft_dense_cell(rows, train[i], j);
        if (isnan(cell)) continue;
        weft_date_parts(cell, zone, value);
        for (int k = 0; k < WEFT_DATE_PARTS; k++) {
            low[k] = fmin(low[k], value[k]);
            high[k] = fmax(high[k], value[k]);
        }
    }
    to->part = part;
    to->level = WEFT_NEW(rows->mem, const char *, WEFT_DATE_PARTS);
    for (int k = 0; k < WEFT_DATE_PARTS; k++) {
        int hour = k == WEFT_PART_HOUR_SINE || k == WEFT_PART_HOUR_COSINE;
        if (k != WEFT_PART_SECONDS && (!(high[k] - low[k] > least) || (time && !hour)))
            continue;
        part[to->levels] = k;
        to->level[to->levels++] = weft_date_part_name[k];
    }
}

/* Tells how a column is written that is no plain numbers. */
static void tell_written(const weft_csv *how, const weft_dense_rows *rows, int64_t j)
{
    static const char *const groups[] = {[WEFT_MARK_POINT] = ", points between thousands",
                                         [WEFT_MARK_COMMA] = ", commas between thousands",
                                         [WEFT_MARK_NONE] = "",
                                         [WEFT_MARK_BLANK] = ", blanks between thousands"};
    static const char *const other[WEFT_DATE_ORDERS] = {
        [WEFT_DATE_DMY] = "; dates = mdy reads months first",
        [WEFT_DATE_MDY] = "; dates = dmy reads days first"};
    const weft_written *written = rows->at[j].written;
    const char *name = weft_dense_name(rows, j), *path = rows->labels.path;
    if (!written || rows->at[j].kind == WEFT_COLUMN_LABEL) return;
    if (written->order == WEFT_DATE_NONE) {
        weft_log(WEFT_INFO, "%s: column '%s': %s is taken off; a decimal %s%s", path, name,
                 written->unit, written->decimal == WEFT_MARK_COMMA ? "comma" : "point",
                 groups[written->thousands]);
        return;
    }
    const char *why = how->dates == WEFT_DATES_AUTO ? other[written->order] : NULL;
    weft_log(WEFT_INFO, "%s: column '%s' has dates such as %s, which become seconds%s%s",
             path, name, weft_date_example[written->order],
             rows->at[j].kind == WEFT_COLUMN_DATE
                 ? " and what varies of year, month, weekday, hour"
                 : " since 1970",
             why ? why : "");
}

/* The rows train[ntrain] in the order of the file, which are read faster. */
static const int64_t *in_order(int64_t n, const int64_t *train, int64_t ntrain,
                               weft_arena *mem)
{
    char *own = WEFT_NEW(mem, char, n);
    int64_t *sorted = WEFT_NEW(mem, int64_t, ntrain), to = 0;
    for (int64_t i = 0; i < ntrain; i++) own[train[i]] = 1;
    for (int64_t i = 0; i < n; i++)
        if (own[i]) sorted[to++] = i;
    return sorted;
}

weft_status weft_dense_fit(const weft_csv *how, weft_dense_rows *rows, const int64_t *train,
                           int64_t ntrain, weft_columns *columns)
{
    enum {
        AT_ONCE = 1024,
        AT_ONCE_CELLS = 1 << 24
    }; /* columns, so that memory stays small */
    weft_column *at = WEFT_NEW(rows->mem, weft_column, rows->d);
    *columns = (weft_columns){.n = rows->d, .at = at};
    for (int64_t j = 0; j < rows->d; j++) {
        const weft_dense_column *from = &rows->at[j];
        at[j] = (weft_column){.name = weft_dense_name(rows, j),
                              .kind = from->kind,
                              .written = weft_written_text(from->written, rows->mem),
                              .missing = from->missing,
                              .distinct = from->name.n};
        if (from->kind == WEFT_COLUMN_LABEL) at[j].distinct = rows->labels.n;
        tell_written(how, rows, j);
    }
    for (int64_t j = 0; j < rows->d; j += AT_ONCE)
        look_at(rows, j, rows->d - j < AT_ONCE ? rows->d : j + AT_ONCE, at);
    if (!rows->arrays) tell_codes(rows, at);
    const int64_t *sorted = in_order(rows->n, train, ntrain, rows->mem);
    weft_arena *tmp = weft_arena_new();
    weft_status st = WEFT_OK;
    int64_t most = AT_ONCE_CELLS / (ntrain + 1) + 1;
    if (most > AT_ONCE) most = AT_ONCE;
    for (int64_t j = 0; j < rows->d && st == WEFT_OK; j += most) {
        int64_t end = rows->d - j < most ? rows->d : j + most;
        st = fit_numbers(how->missing, rows, j, end, sorted, ntrain, at, tmp);
        weft_arena_reset(tmp, 0);
    }
    for (int64_t j = 0; j < rows->d && st == WEFT_OK; j++) {
        weft_column *to = &at[j];
        to->first = columns->features;
        if (to->kind == WEFT_COLUMN_CATEGORY)
            st = fit_category(rows, j, sorted, ntrain, to, tmp);
        if (to->kind == WEFT_COLUMN_DATE) fit_date(rows, j, sorted, ntrain, to);
        to->features = (to->kind == WEFT_COLUMN_NUMBER) + to->levels + to->marks;
        columns->features += to->features;
        weft_arena_reset(tmp, 0);
    }
    weft_arena_free(tmp);
    return st;
}
