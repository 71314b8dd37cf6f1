/* What columns and labels of a table are, as their cells tell; what is decided of them, and
 * what is told of that. */
#include "dense.h"
#include "weft/base/base.h"

#include <math.h>
#include <string.h>
#include <strings.h>

/* ---- kinds ---- */

void weft_dense_probe(const char *path, const char *text, size_t n, weft_csv *how,
                      weft_arena *mem)
{
    enum { FIRST = 1 << 16 }; /* bytes */
    if (n <= FIRST || *how->categories == '\0') return;
    size_t end = FIRST;
    int64_t lines = 1;
    while (end > 0 && text[end - 1] != '\n') end--;
    for (size_t i = 0; i < end; i++) lines += text[i] == '\n' || text[i] == '\r';
    WEFT_SCRATCH(tmp);
    weft_dense_rows first = {.mem = tmp,
                             .labels = {.mem = tmp, .path = path},
                             .room = lines,
                             .many = how->target == WEFT_TARGET_REGRESSION};
    weft_status st = weft_read_csv(path, text, end, how, &first);
    char *texts = WEFT_NEW(mem, char, first.d);
    for (int64_t j = 0; st == WEFT_OK && j < first.d; j++) {
        const weft_dense_column *column = &first.at[j];
        const char *doubt;
        texts[j] = column->kind == WEFT_COLUMN_NUMBER && column->seen.texts > 0 &&
                   column->seen.numbers == 0 &&
                   !weft_cell_remedy(how, column->odd.text, tmp) &&
                   !weft_hints_decide(how, column, WEFT_DATE_DMY, &doubt, tmp) && !doubt;
    }
    if (st == WEFT_OK && first.n > 0) how->texts = texts;
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
            ? weft_arena_text(mem, "number%s%s%s", *written->unit ? " with " : "",
                              written->unit, *written->unit ? " or without" : "")
            : weft_arena_text(mem, "%s such as %s",
                              written->order == WEFT_DATE_SPAN ? "time span" : "date",
                              weft_date_example[written->order]);
    if (strchr(column->odd.text, ',')) return "mend or remove the line";
    return weft_arena_text(mem, "gaps = %s makes it a missing value; or mend the line",
                           column->odd.text);
}

/* EDATA: the odd cell of column j is none of what is expected. */
static weft_status refuse(const weft_dense_rows *rows, int64_t j, const weft_dense_odd *odd,
                          const char *expected, const char *remedy)
{
    const char *name = rows->head.name ? rows->head.name[j] : NULL;
    return weft_fail(WEFT_EDATA, "%s: line %lld, %s is '%s' where a %s is expected; %s",
                     odd->path, (long long)odd->line,
                     weft_column_place(odd->column, name, rows->mem), odd->text, expected,
                     remedy);
}

static weft_status bad_cell(const weft_csv *how, const weft_dense_rows *rows, int64_t j)
{
    const weft_dense_column *column = &rows->at[j];
    const char *name = weft_dense_name(rows, j), *expected = "finite number";
    const char *remedy = written_remedy(column, &expected, rows->mem);
    if (!remedy) remedy = weft_cell_remedy(how, column->odd.text, rows->mem);
    if (!remedy && how->unlabelled) remedy = "mend or remove the line";
    if (!remedy)
        remedy = weft_arena_text(rows->mem,
                                 "categories = %s makes a level of each text, drop = %s "
                                 "leaves the column out; or mend or remove the line",
                                 name, name);
    return refuse(rows, j, &column->odd, expected, remedy);
}

/* 1: nearly every row has a text of its own. */
static int all_differ(const weft_dense_rows *rows, int64_t j)
{
    enum { ENOUGH = 20, FEWEST = 10 };
    const weft_dense_column *column = &rows->at[j];
    int64_t levels = column->name.n, present = rows->n - column->seen.missing;
    return levels > ENOUGH ? 2 * levels > present : levels >= FEWEST && levels == present;
}

/* 1: levels made of numbers and texts are few. */
static int are_few(const weft_dense_rows *rows, int64_t j)
{
    enum { FEW = 20 };
    const weft_dense_column *column = &rows->at[j];
    return column->name.n <= FEW && 2 * column->name.n <= rows->n;
}

/* 1: levels made of numbers and texts tell apart what they stand for: each is whole, and
 * two texts or more are such a number with a letter or two before or behind it, as 207a is.
 */
static int are_ids(const weft_dense_rows *rows, int64_t j)
{
    enum { LETTERS = 2 };
    static const char digit[] = "0123456789",
                      letter[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ";
    const weft_names *name = &rows->at[j].name;
    int64_t lettered = 0;
    for (int64_t k = 0; k < name->n; k++) {
        const char *at = name->name[k];
        size_t before = strspn(at, letter), n = strspn(at + before, digit);
        size_t behind = strspn(at + before + n, letter);
        if (n == 0 || at[before + n + behind] != '\0' || before + behind > LETTERS)
            return 0;
        lettered += before + behind > 0;
    }
    return lettered >= 2;
}

/* 1: fewer cells of a column of levels are numbers than texts, as its first lines show. */
static int is_of_texts(const weft_csv *how, const weft_dense_rows *rows, int64_t j)
{
    const weft_names *name = &rows->at[j].name;
    WEFT_SCRATCH(tmp);
    char *number = WEFT_NEW(tmp, char, name->n);
    int some = 0;
    int64_t numbers = 0, all = 0;
    double x;
    for (int64_t k = 0; k < name->n; k++)
        some |= number[k] = (char)weft_cell_number(&how->marks, name->name[k], &x, tmp);
    for (int64_t i = 0; i < rows->n && some; i++) {
        x = rows->value[i * rows->d + j];
        all += !isnan(x);
        numbers += !isnan(x) && number[(int64_t)x];
    }
    return !some || all - numbers > numbers;
}

/* 1: a column of numbers, or a label, may turn out to be written as dates or with a unit.
 */
static int may_be_written(const weft_csv *how, const weft_dense_column *column)
{
    return !how->unlabelled && !column->written && column->seen.hints &&
           (column->kind == WEFT_COLUMN_NUMBER || weft_is_answer(column->kind));
}

/* 1: a column of numbers is one of days without marks. */
static int is_of_days(const weft_dense_rows *rows, int64_t j)
{
    const weft_dense_column *column = &rows->at[j];
    return column->kind == WEFT_COLUMN_NUMBER && column->seen.texts == 0 &&
           !column->fixed && !column->written && !rows->arrays &&
           weft_written_days(rows, j);
}

/* Tells that a column is no numbers as its units differ. */
static void tell_units(const weft_dense_rows *rows, int64_t j)
{
    const weft_dense_column *column = &rows->at[j];
    const weft_hints *hints = column->seen.hints;
    const char *other = hints->other               ? hints->other
                        : weft_hints_mixed(column) ? "none"
                                                   : NULL;
    if (other && column->seen.texts > column->seen.numbers &&
        2 * (hints->unit + hints->others) > column->seen.texts)
        weft_log(WEFT_WARN,
                 "%s: column '%s' has numbers with different units, %s and %s: they are "
                 "texts; with one unit they are numbers",
                 column->odd.path, weft_dense_name(rows, j), hints->first, other);
}

/* Warns of a column of numbers of which only some have a percent sign. */
static void tell_percent(const weft_dense_rows *rows, int64_t j)
{
    const weft_dense_column *column = &rows->at[j];
    if (*column->written->unit == '%' && column->seen.numbers > 0)
        weft_log(WEFT_WARN,
                 "%s: column '%s' has %lld numbers with %% and %lld without; all count as "
                 "hundredths",
                 column->odd.path, weft_dense_name(rows, j), (long long)column->seen.texts,
                 (long long)column->seen.numbers);
}

/* "+01:00" of minutes. */
static const char *zone_text(int zone, weft_arena *mem)
{
    enum { HOUR = 60 };
    int minutes = zone < 0 ? -zone : zone;
    return weft_arena_text(mem, "%c%02d:%02d", zone < 0 ? '-' : '+', minutes / HOUR,
                           minutes % HOUR);
}

/* Tells by which clock the hours of dates of several zones are. */
static void tell_zones(const weft_dense_rows *rows, int64_t j)
{
    const weft_hints *hints = rows->at[j].seen.hints;
    const char *first = zone_text(hints->zone, rows->mem);
    if (hints->zones)
        weft_log(
            WEFT_INFO,
            "%s: column '%s' has dates of several zones, %s and %s: seconds are exact, "
            "hours, weekdays and months are by the clock of %s, that of the first",
            rows->at[j].odd.path, weft_dense_name(rows, j), first,
            zone_text(hints->other_zone, rows->mem), first);
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
        if (is_of_days(rows, j)) {
            column->written = weft_written_of("ymd 0", rows->mem);
            column->kind = WEFT_COLUMN_DATE;
            *again = 1;
        }
        if (!may_be_written(how, column)) continue;
        column->written = weft_hints_decide(how, column, known, &doubt, rows->mem);
        if (doubt) {
            column->written = NULL;
            why = doubt;
        }
        if (doubt && k >= rows->d)
            return weft_fail(WEFT_EDATA, "%s: column '%s', which is '%s' in line %lld, %s",
                             column->odd.path, weft_dense_name(rows, j), column->odd.text,
                             (long long)column->odd.line, why);
        if (!column->written) {
            if (k >= rows->d) tell_units(rows, j);
            continue;
        }
        int date = column->written->order != WEFT_DATE_NONE;
        if (!date) tell_percent(rows, j);
        if (date) tell_zones(rows, j);
        if (column->written->order == WEFT_DATE_DMY ||
            column->written->order == WEFT_DATE_MDY)
            known = column->written->order;
        if (date && column->kind == WEFT_COLUMN_NUMBER) column->kind = WEFT_COLUMN_DATE;
        *again = 1;
    }
    return WEFT_OK;
}

/* 1: whole numbers of which so many differ, as in an index of rows, some of which may have
 * been drawn more than once. */
static int are_many(int64_t rows, int64_t different)
{
    enum { ENOUGH = 20, SHARE = 10 };
    return different == rows || (different > ENOUGH && SHARE * different > rows);
}

/* 1: column j is the first one, and it numbers the rows: it has no name, and many whole
 * numbers; or the name of an index, and they all differ; or another name that programs
 * give to such a column, or the table no names, and it counts up from 0 or 1. */
static int is_index(const weft_dense_rows *rows, int64_t j)
{
    static const char *const usual[] = {"rownames", "row.names", "row_names", "rowname",
                                        "index",    "id",        "obs",       "row",
                                        "no",       "nr",        "case"};
    enum { FEWEST = 10, INDICES = 6 };
    const char *name = rows->head.name ? rows->head.name[j] : "";
    size_t at = 0;
    while (at < sizeof usual / sizeof *usual && strcasecmp(name, usual[at]) != 0) at++;
    int known =
            !rows->head.name || strcmp(name, "X") == 0 || at < sizeof usual / sizeof *usual,
        nameless = strcmp(name, "column 1") == 0 ||
                   strncmp(name, "Unnamed: 0", strlen("Unnamed: 0")) == 0;
    if (j > 0 || rows->arrays || rows->at[j].seen.missing > 0) return 0;
    if (!nameless && !known) return 0;
    int counts = 1;
    double start = rows->value[0];
    WEFT_SCRATCH(tmp);
    weft_patterns different = {0};
    int64_t whole = 0;
    for (int64_t i = 0; i < rows->n; i++) {
        double x = rows->value[i * rows->d];
        uint64_t bits;
        memcpy(&bits, &x, sizeof bits);
        counts &= !(fabs(x - start - (double)i) > 0);
        whole += !(x > floor(x)) && x >= 0;
        if (nameless || at < INDICES) weft_patterns_add(&different, bits, tmp);
    }
    if (nameless) return whole == rows->n && are_many(rows->n, different.n);
    if (rows->n < FEWEST) return 0;
    return (counts && (start == 0 || start == 1)) ||
           (at < INDICES && whole == rows->n && different.n == rows->n);
}

/* Warns of numbers to be scored without the percent sign of the training rows. */
static void tell_bare(const weft_dense_rows *rows, int64_t j)
{
    const weft_dense_column *column = &rows->at[j];
    if (column->seen.bare > 0 && *column->written->unit == '%')
        weft_log(WEFT_WARN,
                 "%s: column '%s' has %lld numbers without the %% that it has in training; "
                 "they count as hundredths, too",
                 rows->labels.path, weft_dense_name(rows, j), (long long)column->seen.bare);
}

/* EDATA: a number of a row to be scored is a text. */
static weft_status check_scored(const weft_csv *how, const weft_dense_rows *rows)
{
    for (int64_t j = 0; j < rows->d; j++) {
        if (!weft_is_number(rows->at[j].kind)) continue;
        if (rows->at[j].seen.texts > 0) return bad_cell(how, rows, j);
        tell_bare(rows, j);
    }
    return WEFT_OK;
}

/* Sets the counts of all columns to 0, before the files are read again. */
static void forget_counts(weft_dense_rows *rows)
{
    for (int64_t j = 0; j < rows->d; j++) {
        weft_dense_column *column = &rows->at[j];
        column->seen = (weft_dense_seen){0};
        if (column->choice != WEFT_DENSE_MIXED) column->odd.text = NULL;
    }
}

/* 1: dates stand among its numbers. */
static int has_dates(const weft_dense_column *column)
{
    int64_t n = 0;
    for (int k = 0; column->seen.hints && k < WEFT_DATE_ORDERS; k++)
        n += column->seen.hints->date[k];
    return n > 0 && column->seen.numbers > 0;
}

/* Column j of texts among numbers becomes levels, or is refused: EDATA. */
static weft_status make_levels(const weft_csv *how, weft_dense_rows *rows, int64_t j)
{
    weft_dense_column *column = &rows->at[j];
    if (column->fixed || column->written || has_dates(column) ||
        weft_cell_remedy(how, column->odd.text, rows->mem))
        return bad_cell(how, rows, j);
    if (column->seen.texts <= column->seen.numbers) column->choice = WEFT_DENSE_MIXED;
    column->kind = WEFT_COLUMN_CATEGORY;
    return WEFT_OK;
}

/* What column j of numbers becomes. */
static weft_status settle_numbers(const weft_csv *how, weft_dense_rows *rows, int64_t j)
{
    weft_dense_column *column = &rows->at[j];
    if (column->seen.numbers == 0 && !column->fixed && !rows->arrays)
        column->seen.texts += column->seen.gaps;
    if (column->seen.texts > 0) {
        if (!column->odd.text) column->odd.text = column->seen.gap;
        return make_levels(how, rows, j);
    }
    if (column->fixed || column->written) return WEFT_OK;
    if (column->seen.zeros > 0 && column->seen.width > 0) {
        column->choice = WEFT_DENSE_CODES;
        column->kind = WEFT_COLUMN_CATEGORY;
    } else if (is_index(rows, j)) {
        column->choice = WEFT_DENSE_INDEX;
        column->kind = WEFT_COLUMN_DROPPED;
    }
    return WEFT_OK;
}

/* What column j of levels becomes. */
static weft_status settle_levels(const weft_csv *how, weft_dense_rows *rows, int64_t j)
{
    weft_dense_column *column = &rows->at[j];
    if (column->early && !is_of_texts(how, rows, j)) {
        column->kind = WEFT_COLUMN_NUMBER;
        column->early = 0;
    } else if (column->choice == WEFT_DENSE_MIXED && !are_few(rows, j)) {
        if (!are_ids(rows, j)) return bad_cell(how, rows, j);
        column->choice = WEFT_DENSE_IDS;
        column->kind = WEFT_COLUMN_DROPPED;
    } else if (!column->fixed && all_differ(rows, j)) {
        column->choice = WEFT_DENSE_TEXTS;
        column->kind = WEFT_COLUMN_DROPPED;
    }
    return WEFT_OK;
}

/* ECONF: no column has dates of which days or months come first. */
static weft_status check_dates(const weft_csv *how, const weft_dense_rows *rows)
{
    if (how->dates == WEFT_DATES_AUTO) return WEFT_OK;
    for (int64_t j = 0; j < rows->d; j++) {
        const weft_written *written = rows->at[j].written;
        if (written && (written->order == WEFT_DATE_DMY || written->order == WEFT_DATE_MDY))
            return WEFT_OK;
    }
    return weft_fail(
        WEFT_ECONF,
        "dates = %s has no effect: no column of %s has dates such as %s; leave it out",
        how->dates == WEFT_DATES_DMY ? "dmy" : "mdy", rows->labels.path,
        weft_date_example[how->dates == WEFT_DATES_DMY ? WEFT_DATE_DMY : WEFT_DATE_MDY]);
}

weft_status weft_dense_kinds(const weft_csv *how, weft_dense_rows *rows, int *again)
{
    *again = 0;
    if (how->unlabelled) return check_scored(how, rows);
    TRY(find_written(how, rows, again));
    int written = *again;
    for (int64_t j = 0; j < rows->d; j++) {
        weft_column_kind before = rows->at[j].kind;
        if (written && rows->at[j].written) continue; /* read once more */
        if (weft_is_number(rows->at[j].kind)) TRY(settle_numbers(how, rows, j));
        if (before == WEFT_COLUMN_CATEGORY) TRY(settle_levels(how, rows, j));
        weft_column_kind now = rows->at[j].kind;
        *again |= now != before && now != WEFT_COLUMN_DROPPED;
    }
    if (!*again) return check_dates(how, rows);
    forget_counts(rows);
    return WEFT_OK;
}

/* ---- classes or numbers ---- */

/* Columns of that kind. */
static int count_kind(const weft_dense_rows *rows, weft_column_kind kind)
{
    int n = 0;
    for (int64_t j = 0; rows->at && j < rows->d; j++) n += rows->at[j].kind == kind;
    return n;
}

/* 1: the labels are numbers, more than ten of which are not whole, or so many of which are
 * whole that classes have few rows. */
static int is_continuous(const weft_dense_rows *rows)
{
    enum { WHOLE = 20, FRACTIONS = 10, SHARE = 10 };
    const weft_dense_column *answer = rows->answer;
    int n = rows->labels.n, codes = answer->seen.zeros > 0 && answer->seen.width > 0;
    if (answer->seen.numbers == 0 || SHARE * answer->seen.texts > answer->seen.numbers ||
        codes)
        return 0;
    if (rows->many) return 1;
    return answer->seen.fractions ? n > FRACTIONS
                                  : n > WHOLE && SHARE * (int64_t)n > rows->n;
}

/* Takes note that labels which are numbers are predicted as such, or not. */
static void note_decision(weft_dense_rows *rows, int numbers)
{
    enum { WHOLE = 20 };
    const weft_dense_column *answer = rows->answer;
    const char *many =
        weft_arena_text(rows->mem, "%s%d", rows->many ? "at least " : "", rows->labels.n);
    if (numbers && answer->seen.fractions)
        rows->decision = "the label's numbers are not whole: they are predicted as such "
                         "(target = regression); target = classes makes classes of them";
    else if (numbers)
        rows->decision = weft_arena_text(
            rows->mem,
            "the labels of %lld rows are %s different whole numbers: they are predicted as "
            "such (target = regression); target = classes makes classes of them",
            (long long)rows->n, many);
    else if (answer->seen.texts == 0 && answer->seen.numbers > 0 && rows->labels.n > WHOLE)
        rows->decision =
            weft_arena_text(rows->mem,
                            "the labels of %lld rows are %s different numbers: they are "
                            "classes; target = regression predicts them as numbers",
                            (long long)rows->n, many);
}

/* Takes note of numbers to predict that may be classes: all are 0 or 1. */
static void note_flags(weft_dense_rows *rows, int several)
{
    for (int64_t j = 0; j < rows->d; j++)
        for (int64_t i = 0; rows->at[j].kind == WEFT_COLUMN_TARGET && i < rows->n; i++) {
            double number = *weft_dense_cell(rows, i, j);
            if (number != 0 && number != 1) return;
        }
    rows->decision =
        weft_arena_text(rows->mem,
                        "the labels are %d columns of 0 and 1: they are %d numbers to "
                        "predict (target = regression); where each row has one class, give "
                        "that as one column, as y.argmax(1) does",
                        several, several);
}

/* EDATA: nearly each row has a class of its own. */
static weft_status check_classes(const weft_csv *how, const char *source,
                                 const weft_dense_rows *rows)
{
    enum { ENOUGH = 20 };
    const weft_labels *labels = &rows->labels;
    const weft_dense_column *answer = rows->answer;
    const char *remedy = NULL, *odd = rows->arrays ? NULL : answer->odd.text;
    if (labels->n <= ENOUGH || 2 * labels->n <= rows->n) return WEFT_OK;
    if (odd && !weft_cell_missing(odd)) remedy = weft_cell_remedy(how, odd, rows->mem);
    if (!remedy && odd && answer->seen.numbers > answer->seen.texts)
        remedy = weft_arena_text(rows->mem,
                                 "gaps = %s makes it a missing value; or mend or "
                                 "remove the line",
                                 odd);
    if (remedy)
        return refuse(rows, rows->at ? answer - rows->at : 0, &answer->odd,
                      "number to predict", remedy);
    return weft_fail(
        WEFT_EDATA,
        "%s: the labels of %lld rows are %d different texts, such as '%.40s', which cannot "
        "be learnt; label = NAME names another column, `weft pack text` reads texts",
        source, (long long)rows->n, labels->n, labels->name[0]);
}

/* A target that is missing, or no number. */
static weft_status check_target(const weft_csv *how, const weft_dense_rows *rows, int64_t j,
                                const weft_dense_column *column)
{
    if (column->seen.texts == 0 && (column->seen.missing == 0 || how->unlabelled))
        return WEFT_OK;
    const char *remedy = "give one, or remove the line";
    if (!weft_cell_missing(column->odd.text))
        remedy = weft_cell_remedy(how, column->odd.text, rows->mem);
    if (!remedy) remedy = "mend or remove the line; target = classes learns classes";
    return refuse(rows, j, &column->odd, "number to predict", remedy);
}

static weft_status check_targets(const weft_csv *how, const weft_dense_rows *rows)
{
    if (!rows->at) return check_target(how, rows, 0, rows->answer);
    for (int64_t j = 0; j < rows->d; j++)
        if (rows->at[j].kind == WEFT_COLUMN_TARGET)
            TRY(check_target(how, rows, j, &rows->at[j]));
    return WEFT_OK;
}

weft_status weft_dense_decide(const weft_csv *how, const char *source,
                              weft_dense_rows *rows, int *again)
{
    int several = count_kind(rows, WEFT_COLUMN_TARGET);
    int numbers = several > 0 || how->target == WEFT_TARGET_REGRESSION;
    if (several > 0 && how->target == WEFT_TARGET_CLASSES)
        return weft_fail(WEFT_ECONF,
                         "label = %s names several columns, which target = regression "
                         "predicts; target = classes has one label",
                         how->label);
    if (!rows->answer) return WEFT_OK;
    if (several > 1 && how->target == WEFT_TARGET_AUTO && !how->unlabelled)
        note_flags(rows, several);
    if (!numbers && how->target == WEFT_TARGET_AUTO) {
        numbers = is_continuous(rows);
        note_decision(rows, numbers);
        *again = numbers && rows->at && !rows->arrays &&
                 rows->answer->seen.texts + rows->answer->seen.missing > 0;
    }
    if (count_kind(rows, WEFT_COLUMN_CLIENT) > 0 && (numbers || *how->weight != '\0'))
        return weft_fail(WEFT_ECONF,
                         "client = %s makes a federation, whose rows have %s; group = %s "
                         "keeps the rows of each in one part instead",
                         how->client,
                         numbers ? "classes, not numbers to predict" : "equal weights",
                         how->client);
    if (!numbers && (how->unlabelled || how->target != WEFT_TARGET_AUTO)) return WEFT_OK;
    if (!numbers) return check_classes(how, source, rows);
    rows->targets = several > 0 ? several : 1;
    if (rows->at) rows->answer->kind = WEFT_COLUMN_TARGET;
    if (*again) {
        forget_counts(rows);
        return WEFT_OK;
    }
    memset(rows->label, 0, (size_t)rows->n * sizeof *rows->label);
    return check_targets(how, rows);
}

/* ---- what is told ---- */

/* The columns of that choice by name, with commas between them; NULL: there is none. */
static const char *names_of(const weft_dense_rows *rows, weft_dense_choice choice)
{
    enum { MOST = 40 };
    const char *list = NULL;
    int64_t n = 0;
    for (int64_t j = 0; j < rows->d; j++) {
        if (rows->at[j].choice != choice || n++ >= MOST) continue;
        const char *name = weft_dense_name(rows, j);
        list = list ? weft_arena_text(rows->mem, "%s, '%.40s'", list, name)
                    : weft_arena_text(rows->mem, "'%.40s'", name);
    }
    if (n <= MOST) return list;
    return weft_arena_text(rows->mem, "%s and %lld more", list, (long long)(n - MOST));
}

weft_status weft_dense_nothing(const weft_dense_rows *rows)
{
    const char *texts = names_of(rows, WEFT_DENSE_TEXTS);
    const char *why =
        texts ? weft_arena_text(
                    rows->mem,
                    "nearly each row has texts of its own in %s: `weft pack text` with "
                    "separator = ... reads texts, categories = NAME makes levels",
                    texts)
              : "all are empty, the same in all training rows, or number the rows";
    return weft_fail(WEFT_EDATA, "%s: no column is left to learn from; %s",
                     rows->labels.path, why);
}

/* Tells of columns of numbers what texts among them are. */
static void tell_texts(const weft_dense_rows *rows, weft_pack *pack)
{
    const char *list = NULL;
    for (int64_t j = 0; j < rows->d; j++) {
        const weft_dense_column *column = &rows->at[j];
        if (column->kind != WEFT_COLUMN_NUMBER || column->seen.gaps == 0) continue;
        list = weft_arena_text(pack->mem, "%s%s'%s' in %lld rows of '%s'", list ? list : "",
                               list ? ", " : "", column->seen.gap,
                               (long long)column->seen.gaps, weft_dense_name(rows, j));
    }
    if (list)
        weft_pack_decided(pack,
                          "texts among numbers stand for missing values: %s; categories = "
                          "NAME makes levels",
                          list);
    for (int64_t j = 0; j < rows->d; j++) {
        const weft_dense_column *column = &rows->at[j];
        if (column->kind == WEFT_COLUMN_NUMBER && column->seen.zeros > 0 &&
            !column->fixed && !column->written)
            weft_pack_decided(
                pack,
                "column '%s' has numbers with leading zeros, such as '%s', of different "
                "lengths, and stays one of numbers; categories = %s keeps them as written",
                weft_dense_name(rows, j), column->seen.zero, weft_dense_name(rows, j));
    }
}

/* Tells how a column is written that is no plain numbers. */
static void tell_written(const weft_csv *how, const weft_dense_rows *rows, int64_t j,
                         weft_pack *pack)
{
    static const char *const groups[] = {[WEFT_MARK_POINT] = ", points between thousands",
                                         [WEFT_MARK_COMMA] = ", commas between thousands",
                                         [WEFT_MARK_NONE] = "",
                                         [WEFT_MARK_BLANK] = ", blanks between thousands",
                                         [WEFT_MARK_QUOTE] =
                                             ", apostrophes between thousands"};
    static const char *const other[WEFT_DATE_ORDERS] = {
        [WEFT_DATE_DMY] = "; dates = mdy reads months first",
        [WEFT_DATE_MDY] = "; dates = dmy reads days first"};
    const weft_written *written = rows->at[j].written;
    const char *name = weft_dense_name(rows, j);
    if (!written || rows->at[j].kind == WEFT_COLUMN_LABEL) return;
    if (written->order == WEFT_DATE_NONE) {
        weft_pack_decided(pack, "column '%s': %s%s; a decimal %s%s", name, written->unit,
                          *written->unit ? " is taken off"
                                         : "typographic marks are read, and (1) as -1",
                          written->marks.decimal == WEFT_MARK_COMMA ? "comma" : "point",
                          groups[written->marks.thousands]);
        return;
    }
    if (written->order == WEFT_DATE_SPAN) {
        weft_pack_decided(pack,
                          "column '%s' has time spans such as %s, which become seconds",
                          name, weft_date_example[written->order]);
        return;
    }
    const char *why = how->dates == WEFT_DATES_AUTO ? other[written->order] : NULL;
    weft_pack_decided(pack, "column '%s' has dates such as %s, which become seconds%s%s",
                      name, weft_date_example[written->order],
                      rows->at[j].kind == WEFT_COLUMN_DATE
                          ? " and what varies of year, month, weekday, hour"
                          : " since 1970",
                      why ? why : "");
}

void weft_dense_tell(const weft_csv *how, const weft_dense_rows *rows, weft_pack *pack)
{
    static const char *const line[] = {
        [WEFT_DENSE_MIXED] = "numbers and a few texts are levels in %s; gaps = TEXT says "
                             "that a text stands for a missing value",
        [WEFT_DENSE_CODES] = "numbers with leading zeros, all of the same length, are "
                             "codes and so levels in %s; numbers = NAME reads numbers",
        [WEFT_DENSE_TEXTS] = "nearly each row has a text of its own, so left out: %s; "
                             "categories = NAME makes levels, `weft pack text` reads texts",
        [WEFT_DENSE_IDS] = "numbers, and some with letters, tell many apart, so left out: "
                           "%s; categories = NAME makes levels",
        [WEFT_DENSE_INDEX] =
            "the first column numbers the rows, so left out: %s; numbers = NAME keeps it",
        [WEFT_DENSE_EMPTY] = "training rows have no value, so left out: %s",
        [WEFT_DENSE_SAME] = "the same in all training rows, so left out: %s; numbers = "
                            "NAME or categories = NAME keeps it"};
    if (rows->left > 0)
        weft_pack_decided(pack,
                          "rows without a label (%lld of '%s' or the like) are left out; "
                          "unlabelled = class makes a class of these, refuse refuses them",
                          (long long)rows->left, rows->lacking);
    if (rows->strays > 0)
        weft_pack_decided(pack,
                          "rows without a client (%lld) are left out; unlabelled = refuse "
                          "refuses them",
                          (long long)rows->strays);
    if (rows->decision) weft_pack_decided(pack, "%s", rows->decision);
    if (!rows->at) return;
    tell_texts(rows, pack);
    for (int64_t j = 0; j < rows->d; j++) tell_written(how, rows, j, pack);
    for (int k = WEFT_DENSE_MIXED; k <= WEFT_DENSE_SAME; k++) {
        const char *list = names_of(rows, (weft_dense_choice)k);
        if (!list) continue;
        const char *at = strstr(line[k], "%s");
        weft_pack_decided(pack, "%.*s%s%s", (int)(at - line[k]), line[k], list, at + 2);
    }
}
