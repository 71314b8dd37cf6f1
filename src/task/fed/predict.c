/* What the models of clients say of single rows: the model of a client is the one that it
 * has before a turn, from what it keeps; one that was never trained begins with the
 * server's weights. Clients are taken in portions, as in evaluations, so that a rank holds
 * the rows of what a portion keeps. */
#include "predict.h"
#include "cohort.h"
#include "keep.h"
#include "score.h"
#include "visit.h"
#include "weft/logistic.h"
#include "weft/measure.h"
#include "worker.h"

#include <math.h>

enum {
    PORTION = 2048,  /* clients at a time, at most; fewer where they keep more */
    KEPT = 1 << 22,  /* bytes than this */
    JUDGED = 1 << 20 /* samples of a part, at most, for measures of all together */
};

struct predicting {
    fed_task *fed;
    fed_turn turn;
    const weft_state *state;
    int each, last;    /* predictions of a sample; the one that counts */
    real *h, *z;       /* [most][each] of a batch: representations, logits */
    real *e;           /* [classes] */
    int64_t *at;       /* [most] */
    int64_t untrained; /* samples of clients that were never trained */
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

/* The samples of a client, the first of which is number `first`, by the weights w. */
static void add_client(const struct predicting *predicting, const weft_samples *samples,
                       const real *w, int64_t first)
{
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
            int64_t row = first + i + j;
            add_softmax(predicting,
                        predicting->z +
                            (j * predicting->each + predicting->last) * out->classes,
                        out->score + row * out->classes);
            out->label[row] = batch.text ? batch.text[j][fed->clients->d] : batch.label[j];
        }
    }
}

/* One client of this rank. */
static weft_status take(struct predicting *predicting, const fed_turns *turns, int64_t j,
                        int64_t first)
{
    fed_task *fed = predicting->fed;
    const fed_client *client = &turns->client[j];
    weft_arena *tmp = fed->work.tmp;
    size_t mark = weft_arena_mark(tmp);
    weft_samples samples = {0};
    const real *w = turns->from;
    TRY(weft_client_take(fed->clients, &client->at, predicting->turn.part, &samples, tmp));
    if (fed->algorithm->courses && fed->algorithm->own) {
        weft_visit visit = fed_visit_new(fed, turns, j);
        fed_visit_begin(fed, turns, j, &visit);
        fed->algorithm->own(&visit);
        w = visit.w;
    }
    add_client(predicting, &samples, w, first);
    weft_arena_reset(tmp, mark);
    return WEFT_OK;
}

static void count_untrained(struct predicting *predicting, const fed_keep *keep,
                            const fed_client *client)
{
    const fed_task *fed = predicting->fed;
    for (int64_t i = 0; keep->all && i < keep->n; i++)
        if (!(keep->all[i * fed->at.each] > 0))
            predicting->untrained += client[keep->of[i]].valid;
}

/* Clients [from, from + n), the first of whose samples is number *row. */
static weft_status take_portion(struct predicting *predicting, const weft_job *job,
                                int64_t from, int64_t n, fed_client *client, int *pick,
                                fed_keep *keep, int64_t *row)
{
    fed_task *fed = predicting->fed;
    int rank = fed->env.team->rank;
    for (int64_t j = 0; j < n; j++) {
        client[j] = (fed_client){
            .client = from + j, .special = client[j].special, .conf = client[j].conf};
        fed_pick(fed, &job->mix, job->trial, FED_EVALUATION, from + j, pick, &client[j]);
        fed_size(fed, &predicting->turn, &client[j]);
    }
    fed_deal(fed, &predicting->turn, n, client, fed->work.tmp);
    TRY(fed_keep_read(fed, predicting->state->kept, keep, n, client));
    count_untrained(predicting, keep, client);
    fed_keep_send(fed, keep);
    fed_turns turns = {.turn = &predicting->turn,
                       .from = predicting->state->x,
                       .row = keep->row,
                       .n = n,
                       .client = client};
    weft_status st = WEFT_OK;
    for (int64_t j = 0; j < n; j++) {
        int64_t end = *row + client[j].valid;
        if (client[j].rank == rank && st == WEFT_OK && end > *row)
            st = take(predicting, &turns, j, *row);
        for (; *row < end; ++*row) predicting->out->client[*row] = from + j;
    }
    return weft_agree(st, fed->env.team);
}

static int answers(const fed_task *fed)
{
    return !fed_worker_trains(fed) && fed->net->width;
}

static weft_status check(const fed_task *fed)
{
    if (answers(fed)) return WEFT_OK;
    return weft_fail(WEFT_ECONF,
                     "%s: fed.model = %s answers no single rows; `weft eval` scores them",
                     fed->env.data->path, fed->net_name);
}

/* Whose weights were taken. */
static const char *note_of(const struct predicting *predicting, weft_arena *mem)
{
    const fed_task *fed = predicting->fed;
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
                           (long long)predicting->untrained, (long long)predicting->out->n);
}

static struct predicting predicting_new(fed_task *fed, const weft_state *state,
                                        weft_part part, weft_predictions *out,
                                        weft_arena *mem)
{
    const weft_data *data = fed->env.data;
    int64_t n = fed->clients->size[part].total, most = fed->work.most;
    int classes = data->form == WEFT_CHARS ? fed->clients->symbols : data->classes;
    int each = (int)fed_predictions(fed, 1);
    *out = (weft_predictions){.n = n,
                              .classes = classes,
                              .probable = 1,
                              .score = WEFT_NEW(mem, double, n *classes),
                              .label = WEFT_NEW(mem, int32_t, n),
                              .client = WEFT_NEW(mem, int64_t, n)};
    return (struct predicting){
        .fed = fed,
        .turn = {.round = FED_EVALUATION, .before = 1, .part = part, .most = fed->worst},
        .state = state,
        .each = each,
        .last = each - 1,
        .h = WEFT_NEW(fed->work.tmp, real, most * each * fed->net->width(fed->model)),
        .z = WEFT_NEW(fed->work.tmp, real, most * each * classes),
        .e = WEFT_NEW(fed->work.tmp, real, classes),
        .at = WEFT_NEW(fed->work.tmp, int64_t, most),
        .out = out};
}

weft_status fed_predict(void *self, const weft_job *job, const weft_state *state,
                        weft_part part, weft_predictions *out, weft_arena *mem)
{
    fed_task *fed = self;
    TRY(check(fed));
    weft_arena *tmp = weft_arena_new();
    fed->work.tmp = tmp;
    struct predicting predicting = predicting_new(fed, state, part, out, mem);
    int64_t row = 0, clients = fed->clients->n;
    int64_t most = (int64_t)fmin(PORTION, fmax(KEPT / fmax(fed_keep_bytes(fed, 1), 1), 1));
    fed_client *client = fed_clients_new(fed, most, tmp);
    int *pick = WEFT_NEW(tmp, int, job->mix.nblock);
    fed_keep keep = fed_keep_new(fed, most, tmp);
    weft_status st = WEFT_OK;
    for (int64_t c = 0; c < clients && st == WEFT_OK; c += most)
        st = take_portion(&predicting, job, c, clients - c < most ? clients - c : most,
                          client, pick, &keep, &row);
    if (st == WEFT_OK) {
        weft_join_f64(fed->env.team, out->score, (size_t)(out->n * out->classes));
        weft_sum_i32(fed->env.team, out->label, (size_t)out->n);
        out->note = note_of(&predicting, mem);
        st = weft_agree(weft_client_sound(fed->clients), fed->env.team);
    }
    weft_arena_free(tmp);
    return st;
}

weft_status fed_judge(fed_task *fed, const weft_job *job, const weft_state *state,
                      weft_part part, double *metric, const double **confusion)
{
    int64_t rows = fed->clients->size[part].total;
    int some = fed->test_clients > 0 || fed->max_valid > 0 || fed->fresh.n > 0;
    if (some || !answers(fed) || fed->env.data->form == WEFT_CHARS || rows > JUDGED ||
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
