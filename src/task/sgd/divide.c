/* How task sgd divides its samples: folds, and a part for development, which rows of a
 * group are in together. */
#include "divide.h"
#include "data.h"
#include "weft/folds.h"
#include "weft/shuffle.h"

#include <math.h>

/* The rows that are divided: in random order, where they are, and their groups. */
struct rows {
    int64_t n, *order;
    const int32_t *group; /* by the numbers in `order`; NULL: there are none */
};

/* Takes the first rows for development, or whole groups, the rest for training. */
static void take_dev(const sgd_task *sgd, double share, const struct rows *rows,
                     sgd_fold *fold)
{
    int64_t n = rows->n, dev = llround(share * (double)n);
    if (dev < 1) dev = 1;
    if (rows->group)
        dev = weft_folds_share(n, rows->order, rows->group, share, sgd->env.seed);
    fold->dev = (sgd_rows){dev, rows->order};
    fold->train = (sgd_rows){n - dev, rows->order + dev};
}

/* Fold number f: rows of its own are held out. */
static void hold_out(const sgd_task *sgd, int64_t f, const struct rows *rows,
                     const int64_t *held_by, sgd_fold *out)
{
    weft_arena *mem = sgd->env.mem;
    int64_t *held = WEFT_NEW(mem, int64_t, rows->n), nheld = 0;
    struct rows rest = {.order = WEFT_NEW(mem, int64_t, rows->n), .group = rows->group};
    for (int64_t i = 0; i < rows->n; i++) {
        int64_t row = rows->order[i];
        if (held_by[row] == f)
            held[nheld++] = row;
        else
            rest.order[rest.n++] = row;
    }
    out->held = (sgd_rows){nheld, held};
    if (sgd->literal) {
        out->dev = out->held;
        out->train = (sgd_rows){rest.n, rest.order};
    } else {
        take_dev(sgd, sgd->dev > 0 ? sgd->dev : 0.1, &rest, out);
    }
}

/* The weights of classes, if a configuration asks for them. */
static weft_status weigh_classes(const sgd_task *sgd, sgd_fold *fold)
{
    int classes = sgd->shape.classes;
    if (!sgd_balances(sgd)) return WEFT_OK;
    int64_t *count = WEFT_NEW(sgd->env.mem, int64_t, classes);
    fold->weight = WEFT_NEW(sgd->env.mem, double, classes);
    for (int64_t i = 0; i < fold->train.n; i++)
        count[sgd_label_of(sgd, fold->train.row[i])]++;
    for (int c = 0; c < classes; c++)
        if (count[c] == 0 && !sgd->env.data->clients)
            return weft_fail(WEFT_EDATA,
                             "class '%s' has no sample in the training part of a fold; "
                             "take fewer sgd.folds or a smaller sgd.dev, or leave %s out",
                             sgd->env.data->class_name[c], sgd_balance_key(sgd));
    weft_class_weights(classes, count, fold->weight);
    return WEFT_OK;
}

static weft_status divide_by_folds(sgd_task *sgd, const struct rows *rows)
{
    int64_t most = weft_folds_most(rows->n, rows->group);
    if (sgd->folds < 2 || sgd->folds > most || sgd->fold >= sgd->folds)
        return weft_fail(WEFT_ECONF,
                         "sgd.folds = %lld and sgd.fold = %lld with %lld %s; expected "
                         "2 folds to one a %s, and one of them or -1",
                         (long long)sgd->folds, (long long)sgd->fold, (long long)most,
                         rows->group ? "groups of samples" : "samples",
                         rows->group ? "group" : "sample");
    const int64_t *held_by =
        weft_folds_deal(rows->n, rows->group, sgd->folds, sgd->env.seed, sgd->env.mem);
    sgd->at = WEFT_NEW(sgd->env.mem, sgd_fold, sgd->nfold);
    for (int f = 0; f < sgd->nfold; f++)
        hold_out(sgd, sgd->fold < 0 ? f : sgd->fold, rows, held_by, &sgd->at[f]);
    return WEFT_OK;
}

/* ECONF, EDATA: the score that is asked for has no meaning for the data. */
static weft_status check_score(const sgd_task *sgd)
{
    weft_measure measure = (weft_measure)sgd->score;
    const weft_data *data = sgd->env.data;
    weft_arena *tmp = weft_arena_new();
    int64_t *count = WEFT_NEW(tmp, int64_t, sgd->shape.classes);
    weft_status st = WEFT_OK;
    for (int f = 0; f < sgd->nfold && weft_measure_joint(measure); f++) {
        const sgd_rows *dev = &sgd->at[f].dev;
        if (!sgd_answers(sgd)) break;
        for (int64_t i = 0; i < dev->n; i++) count[sgd_label_of(sgd, dev->row[i])]++;
    }
    if (weft_measure_joint(measure) && !sgd_answers(sgd))
        st = weft_fail(WEFT_ECONF,
                       "%s: a network %s on %s answers no single rows, of which sgd.score "
                       "would be a measure; choose accuracy, loss or log_error",
                       data->path, sgd->net->kind.name, weft_form_name[sgd->shape.form]);
    else
        st = weft_measure_check(measure, "sgd.score", data->path, sgd->shape.classes,
                                sgd->shape.numbers ? NULL : count, data->class_name);
    weft_arena_free(tmp);
    return st;
}

weft_status sgd_divide(sgd_task *sgd)
{
    sgd->nfold = sgd->folds > 0 && sgd->fold < 0 ? (int)sgd->folds : 1;
    if (sgd->env.scoring) return WEFT_OK;
    weft_arena *mem = sgd->env.mem;
    const int64_t *first = sgd->first;
    int both = sgd->folds > 0 || sgd->env.whole;
    int64_t n = both ? first[WEFT_TEST] : first[WEFT_VALID];
    int64_t *order = WEFT_NEW(mem, int64_t, first[WEFT_TEST]);
    struct rows rows = {.n = n, .order = order};
    int chosen = sgd->folds > 0 || sgd->dev > 0;
    if (chosen && sgd->opened) TRY(weft_folds_groups(&sgd->own, &rows.group, mem));
    if (chosen)
        weft_shuffle(n, sgd->env.seed, order, mem);
    else
        for (int64_t i = 0; i < first[WEFT_TEST]; i++) order[i] = i;
    if (sgd->folds > 0) {
        TRY(divide_by_folds(sgd, &rows));
    } else {
        sgd->at = WEFT_NEW(mem, sgd_fold, 1);
        if (sgd->dev > 0)
            take_dev(sgd, sgd->dev, &rows, sgd->at);
        else
            *sgd->at =
                (sgd_fold){.train = {n, order}, .dev = {first[WEFT_TEST] - n, order + n}};
    }
    for (int f = 0; f < sgd->nfold; f++) {
        if (sgd->at[f].train.n < 1)
            return weft_fail(
                WEFT_ECONF,
                "sgd.folds = %lld and sgd.dev = %g leave no sample to train on "
                "in fold %d%s; have fewer folds, or a smaller dev",
                (long long)sgd->folds, sgd->dev, f + 1,
                sgd->env.data->groups > 0
                    ? weft_arena_text(mem,
                                      ", as the rows of each of the %lld "
                                      "groups stay together",
                                      (long long)sgd->env.data->groups)
                    : "");
        TRY(weigh_classes(sgd, &sgd->at[f]));
    }
    return check_score(sgd);
}
