/* What trained networks say: sums of losses, and answers of single rows. */
#include "sgd.h"

#include <math.h>

/* ---- blocks ---- */

sgd_walk sgd_walk_new(const sgd_task *sgd, const sgd_model *model, const sgd_rows *rows,
                      const real *w, weft_arena *tmp)
{
    return (sgd_walk){.sgd = sgd,
                      .model = model,
                      .w = w,
                      .theta = w,
                      .blocks = sgd_blocks_new(sgd, model, rows, SGD_BLOCK, tmp),
                      .work = sgd_work_new(sgd, model, SGD_BLOCK, tmp),
                      .at = sgd->env.team->rank - sgd->env.team->size,
                      .context = -1};
}

int sgd_walk_next(sgd_walk *walk)
{
    const sgd_task *sgd = walk->sgd;
    const sgd_model *model = walk->model;
    walk->at += sgd->env.team->size;
    if (walk->at >= walk->blocks.n) return 0;
    const int64_t *cut = walk->blocks.cut + walk->at;
    walk->row = walk->blocks.row + cut[0];
    int context = model->contexts ? sgd->source->context_of(sgd, walk->row[0]) : 0;
    walk->batch =
        sgd_batch(sgd, model, &walk->work, (int)(cut[1] - cut[0]), walk->row, NULL);
    walk->batch.again = context == walk->context;
    if (model->contexts && !walk->batch.again) {
        weft_contexts_form(model->contexts, walk->w, sgd->source->context(sgd, context), 0,
                           model->table.at, walk->work.theta);
        walk->theta = walk->work.theta;
    }
    walk->context = context;
    return 1;
}

/* ---- sums of losses ---- */

void sgd_sums_add(sgd_sums *to, const sgd_sums *sums)
{
    to->loss += sums->loss;
    to->wrong += sums->wrong;
    to->count += sums->count;
    to->measured += sums->measured;
}

double sgd_sums_score(const sgd_task *sgd, const sgd_sums *sums)
{
    if (!isfinite(sums->loss)) return INFINITY;
    if (sgd->opts.score == WEFT_BY_LOG_ERROR)
        return log(fmax(sums->wrong, 0.5) / sums->count);
    if (weft_measure_joint((weft_measure)sgd->opts.score))
        return sums->measured / sums->count;
    return (sgd->opts.score == WEFT_BY_LOSS ? sums->loss : sums->wrong) / sums->count;
}

/* Blocks of samples are distributed over ranks; their sums are added in order on all
 * ranks. */
sgd_sums sgd_score_rows(sgd_task *sgd, const sgd_model *model, const sgd_rows *rows,
                        const real *w)
{
    WEFT_SCRATCH(tmp);
    sgd_walk walk = sgd_walk_new(sgd, model, rows, w, tmp);
    int64_t n = walk.blocks.n;
    sgd_sums *told = WEFT_NEW(tmp, sgd_sums, n), all = {0};
    while (sgd_walk_next(&walk)) {
        weft_score score = {0};
        sgd->net->score(model->self, walk.work.net, walk.theta, &walk.batch, &score);
        told[walk.at] =
            (sgd_sums){.loss = score.loss, .wrong = score.wrong, .count = score.count};
    }
    weft_join_f64(sgd->env.team, &told->loss, (size_t)n * sizeof *told / sizeof(double));
    for (int64_t b = 0; b < n; b++) sgd_sums_add(&all, &told[b]);
    all.loss *= sgd->unit;
    return all;
}

/* ---- answers of single rows ---- */

/* Adds the numbers that are predicted of a row. */
static void add_numbers(int targets, const real *z, double *sum)
{
    for (int k = 0; k < targets; k++) sum[k] += (double)z[k];
}

/* Adds the probabilities of a row from its logits. */
static void add_softmax(int classes, const real *z, double *p)
{
    double most = (double)z[0], sum = 0;
    for (int k = 1; k < classes; k++) most = fmax(most, (double)z[k]);
    for (int k = 0; k < classes; k++) sum += exp((double)z[k] - most);
    for (int k = 0; k < classes; k++) p[k] += exp((double)z[k] - most) / sum;
}

/* This rank's blocks, by the weights w. */
static void add_network(const sgd_task *sgd, const sgd_model *model, const sgd_rows *rows,
                        const real *w, double *p)
{
    WEFT_SCRATCH(tmp);
    int classes = sgd->shape.classes;
    sgd_walk walk = sgd_walk_new(sgd, model, rows, w, tmp);
    real *h = WEFT_NEW(tmp, real, (int64_t)SGD_BLOCK * sgd->net->width(model->self)),
         *z = WEFT_NEW(tmp, real, (int64_t)SGD_BLOCK * classes);
    while (sgd_walk_next(&walk)) {
        const int64_t *place = walk.blocks.place + walk.blocks.cut[walk.at];
        sgd->net->represent(model->self, walk.work.net, walk.theta, &walk.batch, h, z);
        for (int i = 0; i < walk.batch.n; i++)
            (sgd->shape.numbers ? add_numbers : add_softmax)(
                classes, z + (int64_t)i * classes, p + place[i] * classes);
    }
}

/* The clients and labels of rows. */
static void add_clients(const sgd_task *sgd, const sgd_rows *rows, weft_predictions *out,
                        weft_arena *mem)
{
    out->client = WEFT_NEW(mem, int64_t, rows->n);
    out->label = WEFT_NEW(mem, int32_t, rows->n);
    for (int64_t i = 0; i < rows->n; i++) {
        out->client[i] = sgd->pool.client[rows->row[i]];
        out->label[i] = sgd->source->label(sgd, rows->row[i]);
    }
}

/* As sgd_predict, where there is an answer a row. */
static weft_predictions predict_rows(const sgd_task *sgd, const sgd_model *model,
                                     const sgd_rows *rows, int nets, const real *x,
                                     weft_arena *mem)
{
    int64_t numbers = rows->n * sgd->shape.classes;
    weft_predictions out = {.n = rows->n,
                            .classes = sgd->shape.classes,
                            .probable = !sgd->shape.numbers,
                            .score = WEFT_NEW(mem, double, numbers)};
    for (int f = 0; f < nets; f++)
        add_network(sgd, model, rows, x + f * model->n, out.score);
    for (int64_t i = 0; i < numbers; i++) out.score[i] /= nets;
    weft_join_f64(sgd->env.team, out.score, (size_t)numbers);
    if (sgd->pool.client) add_clients(sgd, rows, &out, mem);
    return out;
}

weft_status sgd_predict(const sgd_task *sgd, const sgd_model *model, const sgd_rows *rows,
                        int nets, const real *x, weft_predictions *out, weft_arena *mem)
{
    if (!sgd_answers(sgd))
        return weft_fail(WEFT_ECONF,
                         "%s: a network %s on %s answers no single rows; predict is for "
                         "tables, images and documents",
                         sgd->env.data->path, sgd->net->kind.name,
                         weft_forms[sgd->shape.form]->name);
    *out = predict_rows(sgd, model, rows, nets, x, mem);
    return WEFT_OK;
}

double sgd_measure(const sgd_task *sgd, weft_measure measure, const sgd_model *model,
                   const sgd_rows *rows, const real *x)
{
    WEFT_SCRATCH(tmp);
    weft_predictions said = predict_rows(sgd, model, rows, 1, x, tmp);
    weft_truth truth = sgd_truth(sgd, rows, tmp);
    return weft_measure_of(measure, &said, &truth);
}

void sgd_judge(const sgd_task *sgd, const sgd_model *model, const sgd_rows *rows,
               const real *x, weft_scores *out, weft_arena *mem)
{
    if (!sgd_answers(sgd) || !weft_quality_fits(rows->n, sgd->shape.classes)) return;
    WEFT_SCRATCH(tmp);
    weft_predictions said = predict_rows(sgd, model, rows, sgd->nfold, x, tmp);
    weft_truth truth = sgd_truth(sgd, rows, tmp);
    weft_scores_judge(&said, &truth, 2, out, mem);
}
