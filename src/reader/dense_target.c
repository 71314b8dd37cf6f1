/* Labels that are numbers to predict, and weights of rows. */
#include "dense_arrays.h"
#include "dense_cell.h"
#include "dense_kinds.h"

#include <math.h>
#include <string.h>

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
    int n = rows->labels.n, codes = answer->zeros > 0 && answer->width > 0;
    if (answer->numbers == 0 || SHARE * answer->texts > answer->numbers || codes) return 0;
    if (rows->many) return 1;
    return answer->fractions ? n > FRACTIONS : n > WHOLE && SHARE * (int64_t)n > rows->n;
}

/* Takes note that labels which are numbers are predicted as such, or not. */
static void note_decision(weft_dense_rows *rows, int numbers)
{
    enum { WHOLE = 20 };
    const weft_dense_column *answer = rows->answer;
    const char *many =
        weft_arena_text(rows->mem, "%s%d", rows->many ? "at least " : "", rows->labels.n);
    if (numbers && answer->fractions)
        rows->decision = "the label's numbers are not whole: they are predicted as such "
                         "(target = regression); target = classes makes classes of them";
    else if (numbers)
        rows->decision = weft_arena_text(
            rows->mem,
            "the labels of %lld rows are %s different whole numbers: they are predicted as "
            "such (target = regression); target = classes makes classes of them",
            (long long)rows->n, many);
    else if (answer->texts == 0 && answer->numbers > 0 && rows->labels.n > WHOLE)
        rows->decision = weft_arena_text(
            rows->mem,
            "the labels of %lld rows are %s different numbers: they are classes; target = "
            "regression predicts them as numbers",
            (long long)rows->n, many);
}

/* Takes note of numbers to predict that may be classes: all are 0 or 1. */
static void note_flags(weft_dense_rows *rows, int several)
{
    for (int64_t j = 0; j < rows->d; j++)
        for (int64_t i = 0; rows->at[j].kind == WEFT_COLUMN_TARGET && i < rows->n; i++) {
            double number = weft_dense_cell(rows, i, j);
            if (number != 0 && number != 1) return;
        }
    rows->decision = weft_arena_text(
        rows->mem,
        "the labels are %d columns of 0 and 1: they are %d numbers to predict (target = "
        "regression); where each row has one class, give that as one column, as "
        "y.argmax(1) does",
        several, several);
}

/* EDATA: nearly each row has a class of its own. */
static weft_status check_classes(const char *source, const weft_dense_rows *rows)
{
    enum { ENOUGH = 20 };
    const weft_labels *labels = &rows->labels;
    if (labels->n <= ENOUGH || 2 * labels->n <= rows->n) return WEFT_OK;
    return weft_fail(WEFT_EDATA,
                     "%s: the labels of %lld rows are %d different texts, such as '%.40s', "
                     "which cannot be learnt; label = NAME names another column, `weft "
                     "pack text` reads texts",
                     source, (long long)rows->n, labels->n, labels->name[0]);
}

/* A target that is missing, or no number. */
static weft_status check_target(const weft_csv *how, const weft_dense_rows *rows, int64_t j,
                                const weft_dense_column *column)
{
    if (column->texts == 0 && (column->missing == 0 || how->unlabelled)) return WEFT_OK;
    int missing = weft_cell_missing(column->text);
    const char *remedy = missing ? NULL : weft_cell_remedy(how, column->text, rows->mem);
    const char *place =
        rows->head.name ? weft_arena_text(rows->mem, ", '%s',", rows->head.name[j]) : "";
    if (missing) remedy = "give one, or remove the line";
    if (!remedy) remedy = "mend or remove the line; target = classes learns classes";
    return weft_fail(WEFT_EDATA,
                     "%s: line %lld, column %lld%s is '%s' where a number to predict is "
                     "expected; %s",
                     column->path, (long long)column->line, (long long)column->number + 1,
                     place, column->text, remedy);
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
                 rows->answer->texts + rows->answer->missing > 0;
    }
    if (count_kind(rows, WEFT_COLUMN_CLIENT) > 0 && (numbers || *how->weight != '\0'))
        return weft_fail(WEFT_ECONF,
                         "client = %s makes a federation, whose rows have %s; group = %s "
                         "keeps the rows of each in one part instead",
                         how->client,
                         numbers ? "classes, not numbers to predict" : "equal weights",
                         how->client);
    if (!numbers && (how->unlabelled || how->target != WEFT_TARGET_AUTO)) return WEFT_OK;
    if (!numbers) return check_classes(source, rows);
    rows->targets = several > 0 ? several : 1;
    if (rows->at) rows->answer->kind = WEFT_COLUMN_TARGET;
    if (*again) {
        weft_dense_forget(rows);
        return WEFT_OK;
    }
    memset(rows->label, 0, (size_t)rows->n * sizeof *rows->label);
    return check_targets(how, rows);
}

/* ---- in the packed file ---- */

/* value[n] of that column in the order of the rows, at distance `step`. */
static void take(const weft_dense_rows *rows, const int64_t *order, int64_t j, int step,
                 double *value)
{
    for (int64_t i = 0; i < rows->n; i++)
        value[i * step] =
            rows->at ? weft_dense_cell(rows, order[i], j) : rows->number[order[i]];
}

/* Mean and deviation of target k of the training rows. */
static weft_status standardise(const weft_dense_rows *rows,
                               const weft_pack_numbers *numbers, int k, int64_t train,
                               double *shift, double *scale)
{
    double sum = 0, square = 0;
    int varies = 0;
    for (int64_t i = 0; i < train; i++) sum += numbers->target[i * numbers->n + k];
    shift[k] = sum / (double)train;
    for (int64_t i = 0; i < train; i++) {
        double off = numbers->target[i * numbers->n + k] - shift[k];
        square += off * off;
        varies |= memcmp(&numbers->target[i * numbers->n + k], &numbers->target[k],
                         sizeof off) != 0;
    }
    scale[k] = sqrt(square / (double)train);
    if (varies && scale[k] > 0 && isfinite(scale[k])) return WEFT_OK;
    if (varies)
        return weft_fail(WEFT_EDATA,
                         "%s: the squares of the target '%s', such as %g, are no floats; "
                         "give it in another unit",
                         rows->labels.path, numbers->name[k], numbers->target[k]);
    return weft_fail(WEFT_EDATA,
                     "%s: the target '%s' is %g in all training rows, so that nothing is "
                     "to be predicted; name another label",
                     rows->labels.path, numbers->name[k], numbers->target[k]);
}

static weft_status put_targets(const weft_dense_rows *rows, const int64_t *order,
                               int64_t train, const double *shift, const double *scale,
                               weft_pack *pack)
{
    int m = rows->targets, k = 0;
    const char **name = WEFT_NEW(pack->mem, const char *, m);
    double *target = WEFT_NEW(pack->mem, double, rows->n *m),
           *mean = WEFT_NEW(pack->mem, double, m),
           *deviation = WEFT_NEW(pack->mem, double, m);
    weft_pack_numbers numbers = {.n = m, .name = name, .target = target};
    for (int64_t j = 0; k < m; j++) {
        if (rows->at && rows->at[j].kind != WEFT_COLUMN_TARGET) continue;
        name[k] = rows->at ? weft_dense_name(rows, j) : "label";
        take(rows, order, j, m, target + k);
        if (!scale) TRY(standardise(rows, &numbers, k, train, mean, deviation));
        for (int64_t i = 0; i < rows->n && scale; i++)
            if (isnan(target[i * m + k])) target[i * m + k] = shift[k];
        k++;
    }
    numbers.shift = scale ? shift : mean;
    numbers.scale = scale ? scale : deviation;
    return weft_pack_targets(pack, &numbers);
}

static void put_groups(const weft_dense_rows *rows, const int64_t *order, int64_t j,
                       weft_pack *pack)
{
    int32_t *group = WEFT_NEW(pack->mem, int32_t, rows->n);
    for (int64_t i = 0; i < rows->n; i++)
        group[i] = (int32_t)weft_dense_cell(rows, order[i], j);
    weft_pack_groups(pack, rows->at[j].name.n, group);
}

weft_status weft_dense_numbers(const weft_dense_rows *rows, const int64_t *order,
                               const int64_t *part, const double *shift,
                               const double *scale, weft_pack *pack)
{
    if (rows->targets > 0)
        TRY(put_targets(rows, order, part[WEFT_TRAIN], shift, scale, pack));
    for (int64_t j = 0; rows->at && j < rows->d; j++) {
        weft_column_kind kind = rows->at[j].kind;
        if (kind == WEFT_COLUMN_GROUP) put_groups(rows, order, j, pack);
        if (kind != WEFT_COLUMN_WEIGHT) continue;
        double *weight = WEFT_NEW(pack->mem, double, rows->n);
        take(rows, order, j, 1, weight);
        TRY(weft_pack_weights(pack, weight));
    }
    return WEFT_OK;
}

int weft_dense_labelled(const weft_dense_rows *rows)
{
    int all = 1;
    for (int i = 0; i < rows->labels.n && rows->targets == 0; i++)
        all = all && *rows->labels.name[i] != '\0';
    for (int64_t j = 0; j < rows->d && rows->targets > 0; j++)
        if (rows->at[j].kind == WEFT_COLUMN_TARGET)
            all = all && rows->at[j].numbers == rows->n;
    return all;
}
