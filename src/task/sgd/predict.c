/* What networks say of single rows. */
#include "predict.h"
#include "contexts.h"
#include "data.h"

#include <math.h>

enum { BLOCK = 64 }; /* rows */

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
    const weft_team *team = sgd->env.team;
    weft_arena *tmp = weft_arena_new();
    int classes = sgd->shape.classes, last = -1;
    const real *theta = w;
    sgd_blocks blocks = sgd_blocks_new(sgd, model, rows, BLOCK, tmp);
    sgd_work work = sgd_work_new(sgd, model, BLOCK, tmp);
    real *h = WEFT_NEW(tmp, real, (int64_t)BLOCK * sgd->net->width(model->self)),
         *z = WEFT_NEW(tmp, real, (int64_t)BLOCK * classes);
    int64_t first = blocks.n * team->rank / team->size;
    for (int64_t b = first; b < blocks.n * (team->rank + 1) / team->size; b++) {
        int64_t from = blocks.cut[b], n = blocks.cut[b + 1] - from;
        int context = model->contexts ? sgd_context_of(sgd, blocks.row[from]) : 0;
        weft_batch batch = sgd_batch(sgd, model, &work, (int)n, blocks.row + from, NULL);
        batch.again = context == last;
        if (!batch.again) theta = sgd_theta(sgd, model, w, context, work.theta);
        last = context;
        sgd->net->represent(model->self, work.net, theta, &batch, h, z);
        for (int64_t i = 0; i < n; i++)
            (sgd->shape.numbers ? add_numbers : add_softmax)(
                classes, z + i * classes, p + blocks.place[from + i] * classes);
    }
    weft_arena_free(tmp);
}

/* The clients and labels of rows. */
static void add_clients(const sgd_task *sgd, const sgd_rows *rows, weft_predictions *out,
                        weft_arena *mem)
{
    out->client = WEFT_NEW(mem, int64_t, rows->n);
    out->label = WEFT_NEW(mem, int32_t, rows->n);
    for (int64_t i = 0; i < rows->n; i++) {
        out->client[i] = sgd->pool.client[rows->row[i]];
        out->label[i] = sgd_label_of(sgd, rows->row[i]);
    }
}

/* As sgd_predict, where there is an answer a row. */
static weft_predictions predict(const sgd_task *sgd, const sgd_model *model,
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
                         weft_form_name[sgd->shape.form]);
    *out = predict(sgd, model, rows, nets, x, mem);
    return WEFT_OK;
}

double sgd_measure(const sgd_task *sgd, weft_measure measure, const sgd_model *model,
                   const sgd_rows *rows, const real *x)
{
    weft_arena *tmp = weft_arena_new();
    weft_predictions said = predict(sgd, model, rows, 1, x, tmp);
    weft_truth truth = sgd_truth(sgd, rows, tmp);
    double measured = weft_measure_of(measure, &said, &truth);
    weft_arena_free(tmp);
    return measured;
}

void sgd_judge(const sgd_task *sgd, const sgd_model *model, const sgd_rows *rows,
               const real *x, weft_scores *out, weft_arena *mem)
{
    if (!sgd_answers(sgd) || !weft_quality_fits(rows->n, sgd->shape.classes)) return;
    weft_arena *tmp = weft_arena_new();
    weft_predictions said = predict(sgd, model, rows, sgd->nfold, x, tmp);
    weft_truth truth = sgd_truth(sgd, rows, tmp);
    weft_quality quality = weft_quality_of(&said, &truth, mem);
    weft_quality_put(&quality, out->metric + 2);
    out->confusion = quality.confusion;
    out->fit = quality.fit;
    weft_arena_free(tmp);
}
