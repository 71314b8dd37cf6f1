/* What the models of clients say of single rows. */
#include "predict.h"
#include "models.h"
#include "score.h"
#include "weft/logistic.h"
#include "weft/measure.h"
#include "worker.h"

#include <math.h>

enum { JUDGED = 1 << 20 }; /* samples of a part, at most, for measures of all together */

struct predicting {
    fed_task *fed;
    int each, last; /* predictions of a sample; the one that counts */
    real *h, *z;    /* [most][each] of a batch: representations, logits */
    real *e;        /* [classes] */
    int64_t *at;    /* [most] */
    int64_t *first; /* [clients + 1] of the samples of each */
    weft_predictions *out;
};

/* The probabilities of the classes from their logits. */
static void add_softmax(const struct predicting *predicting, const real *z, double *p)
{
    int classes = predicting->out->classes, top = 0;
    double sum;
    for (int k = 1; k < classes; k++) top = z[k] > z[top] ? k : top;
    weft_softmax_terms(classes, z, (double)z[top], predicting->e, &sum);
    for (int k = 0; k < classes; k++) p[k] = (double)predicting->e[k] / sum;
}

/* The samples of a client, by the weights w. */
static void add_client(void *of, int64_t c, const weft_samples *samples, const real *w)
{
    const struct predicting *predicting = of;
    const fed_task *fed = predicting->fed;
    weft_predictions *out = predicting->out;
    for (int64_t i = 0; i < samples->n; i += fed->work.most) {
        int64_t left = samples->n - i;
        int n = (int)(left < fed->work.most ? left : fed->work.most);
        for (int j = 0; j < n; j++) predicting->at[j] = i + j;
        weft_batch batch = fed_batch_of(fed, NULL, samples, predicting->at, n);
        fed->net->represent(fed->model, fed->work.net, w, &batch, predicting->h,
                            predicting->z);
        for (int j = 0; j < n; j++) {
            int64_t row = predicting->first[c] + i + j;
            add_softmax(predicting,
                        predicting->z +
                            (j * predicting->each + predicting->last) * out->classes,
                        out->score + row * out->classes);
            out->label[row] = batch.text ? batch.text[j][fed->clients->d] : batch.label[j];
        }
    }
}

int fed_answers(const fed_task *fed)
{
    return !fed_worker_trains(fed) && fed->net->width;
}

static weft_status check(const fed_task *fed)
{
    if (fed_answers(fed)) return WEFT_OK;
    return weft_fail(WEFT_ECONF,
                     "%s: fed.model = %s answers no single rows; `weft eval` scores them",
                     fed->env.data->path, fed->net_name);
}

/* Whose weights were taken. */
static const char *note_of(const fed_task *fed, int64_t untrained, int64_t n,
                           weft_arena *mem)
{
    if (fed->algorithm->neighbours)
        return weft_arena_text(mem,
                               "by the server's weights alone: the samples that "
                               "fed.algorithm = %s compares with are not looked at",
                               fed->algorithm_name);
    if (fed->at.each == 0 || !fed->algorithm->own)
        return weft_arena_text(mem,
                               "by the server's weights for all clients: with "
                               "fed.algorithm = %s they have no model of their own",
                               fed->algorithm_name);
    return weft_arena_text(mem,
                           "%lld of %lld rows are of clients that were never trained, or "
                           "of none: their model begins with the server's weights",
                           (long long)untrained, (long long)n);
}

static struct predicting predicting_new(fed_task *fed, weft_part part,
                                        weft_predictions *out, weft_arena *mem)
{
    const weft_data *data = fed->env.data;
    weft_arena *tmp = fed->work.tmp;
    int64_t n = fed->clients->size[part].total, most = fed->work.most;
    int classes = data->form == WEFT_CHARS ? fed->clients->symbols : data->classes;
    int each = fed_each(fed);
    *out = (weft_predictions){.n = n,
                              .classes = classes,
                              .probable = 1,
                              .score = WEFT_NEW(mem, double, n *classes),
                              .label = WEFT_NEW(mem, int32_t, n),
                              .client = WEFT_NEW(mem, int64_t, n)};
    struct predicting predicting = {
        .fed = fed,
        .each = each,
        .last = each - 1,
        .h = WEFT_NEW(tmp, real, most * each * fed->net->width(fed->model)),
        .z = WEFT_NEW(tmp, real, most * each * classes),
        .e = WEFT_NEW(tmp, real, classes),
        .at = WEFT_NEW(tmp, int64_t, most),
        .first = WEFT_NEW(tmp, int64_t, fed->clients->n + 1),
        .out = out};
    for (int64_t c = 0, row = 0; c < fed->clients->n; c++) {
        int64_t end = row + weft_client_count(fed->clients, c, part);
        for (; row < end; row++) out->client[row] = c;
        predicting.first[c + 1] = end;
    }
    return predicting;
}

weft_status fed_predict(void *self, const weft_job *job, const weft_state *state,
                        weft_part part, weft_predictions *out, weft_arena *mem)
{
    fed_task *fed = self;
    TRY(check(fed));
    weft_arena *tmp = weft_arena_new();
    fed->work.tmp = tmp;
    int64_t untrained;
    struct predicting predicting = predicting_new(fed, part, out, mem);
    weft_status st =
        fed_models_use(fed, job, state, part, add_client, &predicting, &untrained);
    if (st == WEFT_OK) {
        weft_join_f64(fed->env.team, out->score, (size_t)(out->n * out->classes));
        weft_sum_i32(fed->env.team, out->label, (size_t)out->n);
        out->note = note_of(fed, untrained, out->n, mem);
    }
    weft_arena_free(tmp);
    return st;
}

weft_status fed_judge(fed_task *fed, const weft_job *job, const weft_state *state,
                      weft_part part, double *metric, const double **confusion)
{
    int64_t rows = fed->clients->size[part].total;
    int some = fed->test_clients > 0 || fed->max_valid > 0 || fed->fresh.n > 0;
    if (some || !fed_answers(fed) || fed->env.data->form == WEFT_CHARS || rows > JUDGED ||
        !weft_quality_fits(rows, fed->env.data->classes))
        return WEFT_OK;
    weft_arena *tmp = weft_arena_new();
    weft_predictions said;
    weft_status st = fed_predict(fed, job, state, part, &said, tmp);
    if (st == WEFT_OK) {
        weft_truth truth = {.label = said.label};
        weft_quality quality = weft_quality_of(&said, &truth, fed->env.mem);
        weft_quality_put(&quality, metric);
        *confusion = quality.confusion;
    }
    weft_arena_free(tmp);
    return st;
}

int fed_is_joint(const fed_task *fed)
{
    return fed->score == FED_F1 || fed->score == FED_AUC;
}

weft_status fed_judge_all(fed_task *fed, const weft_job *job, const weft_state *state,
                          weft_result *res)
{
    if (!fed_is_joint(fed)) return WEFT_OK;
    weft_arena *tmp = weft_arena_new();
    weft_predictions said;
    weft_job own = *job;
    own.mix.logp = res->logp;
    weft_status st = fed_predict(fed, &own, state, WEFT_VALID, &said, tmp);
    if (st == WEFT_OK) {
        weft_truth truth = {.label = said.label};
        weft_measure measure = fed->score == FED_F1 ? WEFT_BY_F1 : WEFT_BY_AUC;
        res->loss = weft_measure_of(measure, &said, &truth);
        res->bound = NAN;
    }
    weft_arena_free(tmp);
    return st;
}
