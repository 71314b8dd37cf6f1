/* What networks say of single rows. */
#include "predict.h"
#include "data.h"

#include <math.h>

enum { BLOCK = 64 }; /* rows */

/* Adds the numbers that are predicted of n rows. */
static void add_numbers(int64_t n, int targets, const real *z, double *sum)
{
    for (int64_t i = 0; i < n * targets; i++) sum[i] += (double)z[i];
}

/* Adds the probabilities of n rows from their logits. */
static void add_softmax(int64_t n, int classes, const real *z, double *p)
{
    for (int64_t i = 0; i < n; i++, z += classes, p += classes) {
        double most = (double)z[0], sum = 0;
        for (int k = 1; k < classes; k++) most = fmax(most, (double)z[k]);
        for (int k = 0; k < classes; k++) sum += exp((double)z[k] - most);
        for (int k = 0; k < classes; k++) p[k] += exp((double)z[k] - most) / sum;
    }
}

/* This rank's blocks, by the weights w. */
static void add_network(const sgd_task *sgd, const sgd_model *model, const sgd_rows *rows,
                        const real *w, double *p)
{
    const weft_team *team = sgd->env.team;
    weft_arena *tmp = weft_arena_new();
    int classes = sgd->shape.classes;
    sgd_work work = sgd_work_new(sgd, model, BLOCK, tmp);
    real *h = WEFT_NEW(tmp, real, (int64_t)BLOCK * sgd->net->width(model->self)),
         *z = WEFT_NEW(tmp, real, (int64_t)BLOCK * classes);
    int64_t blocks = (rows->n + BLOCK - 1) / BLOCK,
            first = blocks * team->rank / team->size;
    for (int64_t b = first; b < blocks * (team->rank + 1) / team->size; b++) {
        int64_t left = rows->n - b * BLOCK, n = left < BLOCK ? left : BLOCK;
        weft_batch batch =
            sgd_batch(sgd, model, &work, (int)n, rows->row + b * BLOCK, NULL);
        batch.again = b > first;
        sgd->net->represent(model->self, work.net, w, &batch, h, z);
        (sgd->shape.numbers ? add_numbers : add_softmax)(n, classes, z,
                                                         p + b * BLOCK * classes);
    }
    weft_arena_free(tmp);
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
