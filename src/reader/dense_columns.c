/* The columns of a table as they are learnt: what the training rows say of them; or, of
 * rows that are to be scored, what the winner was trained on. */
#include "dense.h"
#include "weft/base/base.h"
#include "weft/base/files.h"
#include "weft/data/data.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* ---- levels and gaps ---- */

/* The greatest number of a column, or the least with the other sign, how often it comes,
 * and the next one. */
struct tip {
    double x, next; /* -INFINITY: none */
    int64_t times;
};

/* What the rows up to now say of a column of numbers. */
struct seen {
    weft_patterns numbers; /* other than 0, WEFT_COLUMN_MOST at most */
    struct tip low, high;
    double last;
    int falls, zero; /* falls 1: it does not rise from row to row, or is not whole */
};

static void note_tip(struct tip *tip, double x)
{
    if (x > tip->x) {
        tip->next = tip->x;
        tip->x = x;
        tip->times = 1;
    } else if (x < tip->x) {
        tip->next = x > tip->next ? x : tip->next;
    } else {
        tip->times++;
    }
}

static void note_number(struct seen *seen, double x, weft_arena *tmp)
{
    uint64_t bits;
    if (isnan(x)) return;
    note_tip(&seen->low, -x);
    note_tip(&seen->high, x);
    seen->falls |= x <= seen->last || x > floor(x);
    seen->last = x;
    memcpy(&bits, &x, sizeof bits);
    if (bits << 1 == 0)
        seen->zero = 1; /* or -0 */
    else if (seen->numbers.n < WEFT_COLUMN_MOST)
        weft_patterns_add(&seen->numbers, bits, tmp);
}

/* The file, also where the labels are an array of it. */
static const char *source_of(const weft_dense_rows *rows)
{
    return rows->arrays ? weft_dense_arrays_path(rows->arrays) : rows->labels.path;
}

static void tell_rising(const weft_dense_rows *rows, const weft_column *column)
{
    enum { ENOUGH = 20 };
    if (column->kind != WEFT_COLUMN_NUMBER || rows->n < ENOUGH || column->missing > 0)
        return;
    weft_log(WEFT_WARN,
             "%s: column '%s' rises from row to row; if it numbers the rows, drop = %s "
             "leaves it out",
             source_of(rows), column->name, column->name);
}

/* 1: numbers are looked at. */
static int has_numbers(const weft_column *column)
{
    return column->kind == WEFT_COLUMN_NUMBER || column->kind >= WEFT_COLUMN_TARGET;
}

/* -9, -99, ... or 99, 999, 99.9, ..., as people write for a number that they do not have.
 */
static int is_code(double x)
{
    char text[WEFT_CSV_NUMBER];
    weft_csv_number(x, text);
    return (x < 0 ? x <= -9 : x >= 99) && fabs(x) < 1e6 &&
           strspn(text, "-9.") == strlen(text);
}

/* A number that may stand for a missing value: the first of such columns, and how many. */
struct code {
    int64_t column, columns, times; /* times that the column has it */
    double number, low, high;       /* low, high of its other numbers */
};

/* 1: the number of this tip may be such; far: it need not look like one. */
static int may_be_code(const struct tip *tip, const struct tip *other, double number,
                       int64_t distinct, int far)
{
    enum { SOME = 10 };
    double most = fmax(fabs(tip->next), fabs(other->x)), width = tip->next + other->x;
    int alone = number < 0 && tip->next <= 0; /* no other is negative */
    if (tip->times > 1 && distinct > 2 && is_code(number) && !far &&
        (alone || most <= (fabs(number) + 1) / SOME))
        return 1;
    return tip->times > 2 && distinct > SOME && width > 0 &&
           tip->x - tip->next > SOME * width;
}

/* Takes note of a number of column j that may stand for a missing value: the only negative
 * one, or one that is nearly ten times all others, if it looks like that, else ten times as
 * far from them as they are from each other. */
static void note_code(const struct seen *seen, int64_t j, const weft_column *column,
                      struct code *code)
{
    int far = column->kind == WEFT_COLUMN_DATE;
    int low = may_be_code(&seen->low, &seen->high, -seen->low.x, column->distinct, far);
    if (!low && !may_be_code(&seen->high, &seen->low, seen->high.x, column->distinct, far))
        return;
    if (column->kind == WEFT_COLUMN_WEIGHT || code->columns++ > 0) return;
    code->column = j;
    code->times = low ? seen->low.times : seen->high.times;
    code->number = low ? -seen->low.x : seen->high.x;
    code->low = low ? -seen->low.next : -seen->low.x;
    code->high = low ? seen->high.x : seen->high.next;
}

/* Looks at the numbers in columns [first, end) of all rows. */
static void look_at(const weft_dense_rows *rows, int64_t first, int64_t end,
                    weft_column *column, struct code *code)
{
    WEFT_SCRATCH(tmp);
    struct seen *seen = weft_arena_alloc(tmp, (size_t)(end - first), sizeof *seen);
    const struct tip none = {-INFINITY, -INFINITY, 0};
    for (int64_t j = first; j < end; j++)
        seen[j - first] = (struct seen){.low = none, .high = none, .last = -INFINITY};
    for (int64_t i = 0; i < rows->n; i++) {
        const double *x = weft_dense_cell(rows, i, 0);
        for (int64_t j = first; j < end; j++)
            if (has_numbers(&column[j])) note_number(&seen[j - first], x[j], tmp);
    }
    for (int64_t j = first; j < end; j++) {
        const struct seen *own = &seen[j - first];
        if (!has_numbers(&column[j])) continue;
        column[j].low = -own->low.x;
        column[j].high = own->high.x;
        column[j].distinct = own->numbers.n + own->zero < WEFT_COLUMN_MOST
                                 ? own->numbers.n + own->zero
                                 : WEFT_COLUMN_MOST;
        if (!own->falls) tell_rising(rows, &column[j]);
        note_code(own, j, &column[j], code);
    }
}

/* The least and the greatest other number of the column. */
static const char *others_text(const weft_column *column, const struct code *code,
                               weft_arena *mem)
{
    if (column->kind != WEFT_COLUMN_DATE)
        return weft_arena_text(mem, "%g .. %g", code->low, code->high);
    const char *low = weft_column_show(column, code->low, mem);
    return weft_arena_text(mem, "%s .. %s", low, weft_column_show(column, code->high, mem));
}

/* Warns of columns with numbers that may stand for missing values, in one line. */
static void tell_codes(const weft_dense_rows *rows, const weft_column *column,
                       const struct code *code)
{
    if (code->columns == 0) return;
    weft_arena *mem = rows->mem;
    const weft_column *own = &column[code->column];
    const char *number = weft_column_show(own, code->number, mem);
    int date = own->kind == WEFT_COLUMN_DATE;
    weft_log(WEFT_WARN,
             "%s: column '%s' has %s %lld times and else %s; if that stands for a "
             "missing value, %s%s",
             source_of(rows), own->name, number, (long long)code->times,
             others_text(own, code, mem),
             rows->arrays ? "write NaN in its place"
                          : weft_arena_text(mem, "gaps = %s says so%s", number,
                                            date ? ", as the file writes it" : ""),
             code->columns > 1
                 ? weft_arena_text(mem, "; %lld more columns have such a number",
                                   (long long)code->columns - 1)
                 : "");
}

/* Puts the k-th of x[n], from 0, in its place, none greater before it and none less behind
 * it. Hoare, "Algorithm 65: Find", 1961. Cost O(n) on average. */
static double select_kth(double *x, int64_t n, int64_t k)
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
    double upper = select_kth(x, n, n / 2), lower = upper;
    if (n % 2 == 1) return upper;
    lower = x[0];
    for (int64_t i = 1; i < n / 2; i++) lower = x[i] > lower ? x[i] : lower;
    return lower / 2 + upper / 2;
}

/* 1: numbers differ. */
static int vary(const double *x, int64_t n)
{
    for (int64_t i = 1; i < n; i++)
        if (x[i] > x[0] || x[i] < x[0]) return 1;
    return 0;
}

/* Leaves the column out. */
static void leave_out(weft_dense_choice why, weft_dense_column *from, weft_column *to)
{
    from->choice = why;
    from->kind = to->kind = WEFT_COLUMN_DROPPED;
    to->marks = 0;
    to->levels = 0;
}

/* Columns while they are learnt. */
struct fitting {
    const weft_csv *how;
    weft_dense_rows *rows;
    const int64_t *train; /* [ntrain] rows for training */
    int64_t ntrain;
    weft_column *at; /* [rows->d] */
    weft_arena *tmp;
};

/* What stands for numbers that are missing, also where new rows alone lack some: x[n] are
 * those of column j in the training rows. */
static void fit_number(const struct fitting *fitting, int64_t j, double *x, int64_t n)
{
    weft_dense_column *from = &fitting->rows->at[j];
    weft_column *to = &fitting->at[j];
    int stays = from->fixed || fitting->how->whole;
    to->marks = n < fitting->ntrain;
    if (n == 0 || (!to->marks && !stays && !vary(x, n)))
        leave_out(n == 0 ? WEFT_DENSE_EMPTY : WEFT_DENSE_SAME, from, to);
    else
        to->fill = median(x, n);
}

/* The same for columns [first, end), which are read at once, row by row. */
static void fit_numbers(const struct fitting *fitting, int64_t first, int64_t end)
{
    int64_t ntrain = fitting->ntrain, *n = WEFT_NEW(fitting->tmp, int64_t, end - first);
    double *x = WEFT_NEW(fitting->tmp, double, (end - first) * ntrain);
    for (int64_t i = 0; i < ntrain; i++) {
        const double *cell = weft_dense_cell(fitting->rows, fitting->train[i], 0);
        for (int64_t j = first; j < end; j++)
            if (!isnan(cell[j])) x[(j - first) * ntrain + n[j - first]++] = cell[j];
    }
    for (int64_t j = first; j < end; j++)
        if (weft_is_number(fitting->at[j].kind))
            fit_number(fitting, j, x + (j - first) * ntrain, n[j - first]);
}

static int by_level(const void *a, const void *b)
{
    const char *const *x = a, *const *y = b;
    return weft_labels_compare(*x, *y);
}

/* Warns that some of n rows, if any, have a level of column j, such as `text`, that
 * training rows have not. */
static void tell_unknown(const weft_dense_rows *rows, int64_t j, const char *text,
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
static void fit_category(const struct fitting *fitting, int64_t j)
{
    weft_dense_rows *rows = fitting->rows;
    weft_column *to = &fitting->at[j];
    const weft_names *name = &rows->at[j].name;
    int64_t *number = WEFT_NEW(fitting->tmp, int64_t, name->n + 1), n = 0;
    for (int64_t i = 0; i < fitting->ntrain; i++) {
        double cell = *weft_dense_cell(rows, fitting->train[i], j);
        if (isnan(cell))
            to->marks = 1;
        else
            number[(int64_t)cell] = 1;
    }
    to->level = WEFT_NEW(rows->mem, const char *, name->n + 1);
    for (int64_t i = 0; i < name->n; i++)
        if (number[i]) to->level[n++] = name->name[i];
    to->distinct = name->n;
    if (n == 0 || (n == 1 && !to->marks && !rows->at[j].fixed)) {
        leave_out(n == 0 ? WEFT_DENSE_EMPTY : WEFT_DENSE_SAME, &rows->at[j], to);
        return;
    }
    qsort(to->level, (size_t)n, sizeof *to->level, by_level);
    for (int64_t i = 0; i < name->n; i++) number[i] = -1;
    for (int64_t i = 0; i < n; i++) number[weft_names_index(name, to->level[i])] = i;
    const char *text = NULL;
    int64_t unknown = 0, first = rows->end[WEFT_TRAIN]; /* of other files */
    for (int64_t i = 0; i < rows->n; i++) {
        double *cell = weft_dense_cell(rows, i, j);
        if (isnan(*cell)) continue;
        const char *own = name->name[(int64_t)*cell];
        *cell = (double)number[(int64_t)*cell];
        if (i >= first && *cell < 0 && unknown++ == 0) text = own;
    }
    tell_unknown(rows, j, text, unknown, rows->n - first);
    to->levels = n;
}

/* The parts of dates that vary in the training rows. */
static void fit_date(const struct fitting *fitting, int64_t j)
{
    const weft_dense_rows *rows = fitting->rows;
    weft_column *to = &fitting->at[j];
    const double least = 1e-9; /* sines of equal angles differ by rounding */
    double low[WEFT_DATE_PARTS], high[WEFT_DATE_PARTS], value[WEFT_DATE_PARTS];
    int *part = WEFT_NEW(rows->mem, int, WEFT_DATE_PARTS), zone = weft_column_zone(to);
    weft_date_order order = rows->at[j].written->order;
    int time = order == WEFT_DATE_TIME, span = order == WEFT_DATE_SPAN;
    for (int k = 0; k < WEFT_DATE_PARTS; k++) {
        low[k] = INFINITY;
        high[k] = -INFINITY;
    }
    for (int64_t i = 0; i < fitting->ntrain; i++) {
        double cell = *weft_dense_cell(rows, fitting->train[i], j);
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
        if (k != WEFT_PART_SECONDS &&
            (!(high[k] - low[k] > least) || (time && !hour) || span))
            continue;
        part[to->levels] = k;
        to->level[to->levels++] = weft_date_part_name[k];
    }
}

/* What is known of column j before it is learnt. */
static weft_column begin_column(const weft_dense_rows *rows, int64_t j)
{
    const weft_dense_column *from = &rows->at[j];
    int label = from->kind == WEFT_COLUMN_LABEL;
    return (weft_column){.name = weft_dense_name(rows, j),
                         .kind = from->kind,
                         .written = weft_written_text(from->written, rows->mem),
                         .missing = from->seen.missing,
                         .distinct = label ? rows->labels.n : from->name.n};
}

weft_status weft_dense_fit(const weft_csv *how, weft_dense_rows *rows, const uint8_t *part,
                           int64_t ntrain, weft_columns *columns)
{
    enum { AT_ONCE = 1024, CELLS = 1 << 24 }; /* so that memory stays small */
    int64_t d = rows->d, *train = WEFT_NEW(rows->mem, int64_t, ntrain);
    weft_column *at = WEFT_NEW(rows->mem, weft_column, d);
    struct code code = {0};
    *columns = (weft_columns){.n = d, .at = at};
    for (int64_t i = 0, to = 0; i < rows->n; i++)
        if (part[i] == WEFT_TRAIN) train[to++] = i;
    for (int64_t j = 0; j < d; j++) at[j] = begin_column(rows, j);
    for (int64_t j = 0; j < d; j += AT_ONCE)
        look_at(rows, j, d - j < AT_ONCE ? d : j + AT_ONCE, at, &code);
    tell_codes(rows, at, &code);
    struct fitting fitting = {how, rows, train, ntrain, at, weft_arena_new()};
    int64_t most = CELLS / (ntrain + 1) + 1;
    if (most > AT_ONCE) most = AT_ONCE;
    for (int64_t j = 0; j < d; j += most) {
        fit_numbers(&fitting, j, d - j < most ? d : j + most);
        weft_arena_reset(fitting.tmp, 0);
    }
    for (int64_t j = 0; j < d; j++) {
        at[j].first = columns->features;
        if (at[j].kind == WEFT_COLUMN_CATEGORY) fit_category(&fitting, j);
        if (at[j].kind == WEFT_COLUMN_DATE) fit_date(&fitting, j);
        at[j].features = (at[j].kind == WEFT_COLUMN_NUMBER) + at[j].levels + at[j].marks;
        columns->features += at[j].features;
        weft_arena_reset(fitting.tmp, 0);
    }
    weft_arena_free(fitting.tmp);
    return columns->features > 0 ? WEFT_OK : weft_dense_nothing(rows);
}

/* ---- columns of a winner ---- */

/* The sides of images, attributes of a group. */
static weft_status read_sides(weft_h5 *file, const char *group, weft_dense_like *like)
{
    static const char *const name[] = {"channels", "height", "width"};
    if (!weft_h5_has(file, weft_arena_text(file->mem, "%s@channels", group)))
        return WEFT_OK;
    for (int i = 0; i < 3; i++) {
        int64_t side;
        TRY(weft_h5_read_long(file, group, name[i], &side));
        like->side[i] = (int)side;
    }
    return WEFT_OK;
}

/* The form and the numbers of images. */
static weft_status read_image(weft_h5 *file, const char *group, weft_dense_like *like)
{
    const char *form;
    int table = weft_h5_has(file, weft_arena_text(file->mem, "%s/table", group));
    if (*group == '\0') group = "/";
    TRY(weft_h5_read_attr(file, group, "form", &form));
    TRY(weft_h5_read_long(file, group, "columns", &like->d));
    like->form = weft_form_find(form);
    if (!table && (like->form == WEFT_BYTES || like->form == WEFT_REALS)) return WEFT_OK;
    return weft_fail(WEFT_EDATA, "like = %s is of no images, as its rows are", file->path);
}

static weft_status read_from(weft_h5 *file, int images, weft_dense_like *like)
{
    const char *group = weft_h5_has(file, "/winner") ? "/winner" : "";
    int64_t n;
    if (images)
        TRY(read_image(file, group, like));
    else
        TRY(weft_columns_read(file, group, &like->columns));
    if (!like->columns && !images)
        return weft_fail(
            WEFT_EDATA,
            "%s was not packed from a table with columns, nor trained on one, which `like` "
            "and `weft predict` need",
            file->path);
    TRY(weft_h5_read_texts(file, weft_arena_text(file->mem, "%s/class", group),
                           &like->class_name, &n));
    like->classes = (int)n;
    TRY(weft_like_federated(file, &like->federated));
    TRY(read_sides(file, *group ? group : "/", like));
    TRY(weft_shifts_read(file, weft_arena_text(file->mem, "%s/target", group), n,
                         &like->target_shift, &like->target_scale));
    like->label = -1;
    for (int64_t j = 0; like->columns && j < like->columns->n; j++) {
        const weft_column *column = &like->columns->at[j];
        if (like->label < 0 && weft_is_answer(column->kind)) like->label = j;
        like->named |= strtol(column->name, NULL, 10) != j + 1;
    }
    return WEFT_OK;
}

weft_status weft_dense_like_read(const char *path, int images, weft_dense_like *like,
                                 weft_arena *mem)
{
    weft_h5 file;
    *like = (weft_dense_like){0};
    TRY(weft_h5_open(&file, path, mem));
    weft_status st = read_from(&file, images, like);
    weft_h5_close(&file);
    return st;
}

void weft_dense_like_begin(const weft_dense_like *like, weft_csv *how,
                           weft_dense_rows *rows)
{
    int64_t n = like->columns->n;
    const char **name = WEFT_NEW(rows->mem, const char *, n);
    how->label = like->named ? like->columns->at[like->label].name : "last";
    if (!like->named)
        how->label = weft_arena_text(rows->mem, "%lld", (long long)like->label + 1);
    how->unlabelled = n;
    how->categories = how->weight = how->numbers = "";
    how->target = like->target_scale ? WEFT_TARGET_REGRESSION : WEFT_TARGET_CLASSES;
    weft_dense_begin(rows, n);
    rows->head = (weft_csv_head){
        .columns = n, .label = like->label, .name = like->named ? name : NULL};
    rows->answer = &rows->at[like->label];
    rows->many = rows->targets = like->target_scale ? like->classes : 0;
    for (int64_t j = 0; j < n; j++) {
        const weft_column *column = &like->columns->at[j];
        name[j] = column->name;
        rows->at[j].kind = column->kind;
        rows->at[j].fixed = 1;
        rows->at[j].written = weft_written_of(column->written, rows->mem);
        if (column->features == 0 && !weft_is_answer(column->kind) &&
            column->kind != WEFT_COLUMN_CLIENT && column->kind != WEFT_COLUMN_WEIGHT)
            rows->at[j].kind = WEFT_COLUMN_DROPPED;
        for (int64_t i = 0; i < column->levels; i++)
            weft_dense_name_number(rows, &rows->at[j], column->level[i]);
    }
    for (int c = 0; c < like->classes && rows->alike; c++)
        weft_dense_name_number(rows, rows->answer, like->class_name[c]);
}

/* Labels that are missing, and no classes that were learnt, are none. */
static void forget_gaps(const weft_dense_like *like, weft_labels *labels)
{
    for (int i = 0; i < labels->n; i++) {
        int k = 0;
        while (k < like->classes && strcmp(like->class_name[k], labels->name[i]) != 0) k++;
        if (k == like->classes && weft_label_missing(labels->name[i])) labels->name[i] = "";
    }
}

/* Warns that some rows lack the value of column j, which all training rows had. */
static void tell_gaps(const weft_dense_rows *rows, int64_t j, const weft_column *column)
{
    int64_t gaps = 0;
    if (column->marks || column->features == 0) return;
    for (int64_t i = 0; i < rows->n; i++) gaps += isnan(*weft_dense_cell(rows, i, j));
    if (gaps > 0)
        weft_log(
            WEFT_WARN,
            "%s: column '%s' is missing in %lld of %lld rows, in training rows never; %s",
            rows->labels.path, weft_dense_name(rows, j), (long long)gaps,
            (long long)rows->n,
            column->kind == WEFT_COLUMN_CATEGORY ? "they count as none of its levels"
                                                 : "their median stands for it");
}

weft_status weft_dense_like_end(const weft_dense_like *like, weft_dense_rows *rows)
{
    for (int64_t j = 0; like->columns && j < rows->d; j++) {
        const weft_column *column = &like->columns->at[j];
        const char *text = NULL;
        int64_t unknown = 0;
        for (int64_t i = 0; i < rows->n && column->kind == WEFT_COLUMN_CATEGORY; i++) {
            double *cell = weft_dense_cell(rows, i, j);
            if (!(*cell >= (double)column->levels)) continue;
            if (unknown++ == 0) text = rows->at[j].name.name[(int64_t)*cell];
            *cell = -1;
        }
        tell_unknown(rows, j, text, unknown, rows->n);
        if (column->kind == WEFT_COLUMN_CATEGORY || weft_is_number(column->kind))
            tell_gaps(rows, j, column);
    }
    if (rows->targets > 0) return WEFT_OK;
    forget_gaps(like, &rows->labels);
    return weft_labels_match(&rows->labels, like->classes, like->class_name, rows->label,
                             rows->n);
}
