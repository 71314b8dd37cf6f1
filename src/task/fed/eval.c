/* Weights on all clients, or on some that are drawn by the seed only: their scores before
 * and after local training, what the models of clients say of single rows, and what
 * they write. Clients are taken in portions, each distributed over ranks, so that memory
 * does not grow with their number, and a rank holds the rows of what a portion keeps. */
#include "privacy.h"
#include "task/parts.h"
#include "weft/space/scores.h"

#include <math.h>
#include <string.h>

enum {
    PORTION = 2048,   /* clients at a time, at most; fewer where they keep more */
    KEPT = 1 << 22,   /* bytes than this, and than the cohort of a round */
    JUDGED = 1 << 20, /* samples of a part, at most, for measures of all together */
    TEXTS = 64        /* written at once, as many as a batch has room for */
};

/* ---- portions ---- */

/* The most clients of a portion. */
static int64_t most_of(const fed_task *fed)
{
    double few = fmax(KEPT / fmax(fed_keep_bytes(fed, 1), 1), (double)fed->options.cohort);
    return (int64_t)fmin(few, PORTION);
}

/* Takes n clients, as fed_cohort_fill does, with what they keep in a state. EFILE.
 * Collective. */
static weft_status fill_portion(fed_task *fed, fed_cohort *cohort, const weft_state *state,
                                int64_t n, const int64_t *number, int64_t first)
{
    fed_cohort_fill(fed, cohort, n, number, first);
    fed_deal(fed, cohort);
    TRY(fed_keep_read(fed, state->kept, cohort));
    fed_keep_send(fed, &cohort->keep);
    return WEFT_OK;
}

/* ---- scores ---- */

static weft_members *members_new(fed_task *fed, weft_members *members, int64_t n)
{
    weft_arena *mem = fed->env.mem;
    if (!members || fed->env.team->rank > 0) return NULL;
    const weft_metric *table = fed->net->write ? fed_writing_table : fed_client_table;
    int columns = weft_metrics_count(table);
    *members =
        (weft_members){.table = table,
                       .number = WEFT_NEW(mem, int64_t, n),
                       .name = fed->clients->named ? WEFT_NEW(mem, const char *, n) : NULL,
                       .count = WEFT_NEW(mem, double, n),
                       .score = WEFT_NEW(mem, double, n *columns)};
    return members;
}

/* Adds the scores of a client that answered. EFILE. */
static weft_status member_add(const fed_task *fed, weft_members *members, int64_t client,
                              const fed_client_result *told, int personal)
{
    if (!members || !(told->count > 0)) return WEFT_OK;
    int columns = weft_metrics_count(members->table);
    int64_t i = members->n++;
    members->number[i] = client;
    members->count[i] = told->count;
    for (int k = 2 * (FED_AFTER + 1); k < columns; k++)
        members->score[i * columns + k] = (double)NAN;
    for (int stage = FED_BEFORE; stage <= FED_AFTER; stage++) {
        double *score = members->score + i * columns + 2 * stage;
        int known = personal || stage == FED_BEFORE;
        score[0] = known ? told->loss[stage] / told->count : (double)NAN;
        score[1] = known ? told->wrong[stage] / told->count : (double)NAN;
    }
    if (!members->name) return WEFT_OK;
    return weft_client_name(fed->clients, client, &members->name[i], fed->env.mem);
}

/* The clients that are scored: all, or some that are drawn. */
static fed_group evaluated_of(const fed_task *fed, const fed_evaluation *evaluation)
{
    const fed_group *all = evaluation->fresh ? &fed->fresh : &fed->old;
    if (evaluation->clients <= 0 || evaluation->clients >= all->n) return *all;
    weft_arena *tmp = fed->work.tmp;
    fed_group some = {evaluation->clients, WEFT_NEW(tmp, int64_t, evaluation->clients)};
    fed_draw(fed, all, FED_EVALUATION, some.n, 0, some.client, tmp);
    return some;
}

/* Adds the scores of the clients of a portion. EFILE. */
static weft_status add_portion(const fed_task *fed, const fed_evaluation *evaluation,
                               const fed_cohort *cohort, weft_members *members,
                               fed_score_sums *out)
{
    for (int64_t j = 0; j < cohort->n; j++) {
        fed_sums_add(fed, out, &cohort->told[j]);
        TRY(member_add(fed, members, cohort->client[j].client, &cohort->told[j],
                       evaluation->personal));
    }
    return WEFT_OK;
}

weft_status fed_evaluate(fed_task *fed, const fed_evaluation *evaluation, int64_t trial,
                         const weft_mix *mix, const weft_state *state, fed_score_sums *out)
{
    WEFT_SCRATCH(tmp);
    fed->work.tmp = tmp;
    int worst = fed->options.score == FED_WORST, noised = fed_privacy_covers(fed);
    double sum[2][2] = {{0}};
    const fed_group group = evaluated_of(fed, evaluation);
    const int64_t m = group.n;
    const fed_turn turn = {.round = FED_EVALUATION,
                           .before = 1,
                           .train = evaluation->personal && !fed->algorithm->neighbours,
                           .after = evaluation->personal,
                           .part = evaluation->part,
                           .fresh = evaluation->fresh,
                           .most = evaluation->winner ? INFINITY : fed->balance.worst};
    const int64_t most = most_of(fed);
    fed_cohort cohort = fed_cohort_new(fed, &turn, trial, mix, most, tmp);
    int64_t *wire = WEFT_NEW(tmp, int64_t, fed_room(fed, most));
    weft_members *members = members_new(fed, evaluation->members, m);
    weft_status st = WEFT_OK;
    fed_client_result *all = WEFT_NEW(tmp, fed_client_result, worst ? m : 0);
    *out = (fed_score_sums){0};
    for (int64_t i = 0; i < m && st == WEFT_OK; i += most) {
        int64_t n = m - i < most ? m - i : most;
        st = fill_portion(fed, &cohort, state, n, group.client, i);
        if (st != WEFT_OK) break;
        fed_turns turns = fed_turns_of(&cohort, state->x);
        turns.stops = evaluation->winner;
        turns.first = (double)i / (double)m;
        turns.share = (double)n / (double)m;
        st = fed_exchange(fed, fed_take_turns(fed, &turns), wire, 0, &cohort);
        if (st == WEFT_OK) st = add_portion(fed, evaluation, &cohort, members, out);
        if (worst && st == WEFT_OK) memcpy(all + i, cohort.told, (size_t)n * sizeof *all);
        if (noised && st == WEFT_OK) fed_privacy_add(fed, n, cohort.told, sum);
    }
    if (noised)
        fed_privacy_evaluated(fed, &turn, m, trial, evaluation->round, sum, out);
    else if (st == WEFT_OK)
        fed_sums_worst(fed, out, worst ? m : 0, all, tmp);
    return st;
}

/* ---- the models of clients ---- */

/* What is done with the model w[nweight] that client c has before its turn, and its samples
 * of a part, of which there are some. */
typedef void fed_use(void *of, int64_t c, const weft_samples *samples, const real *w);

/* Calls `use` with client j of the turns. */
static weft_status use_model(fed_task *fed, const fed_turns *turns, int64_t j, fed_use *use,
                             void *of)
{
    WEFT_REWIND(fed->work.tmp);
    fed_visiting visiting = fed_visiting_new(fed, turns, j);
    TRY(fed_visiting_read(&visiting));
    use(of, visiting.client->client, &visiting.scored, fed_visiting_model(&visiting));
    return WEFT_OK;
}

static int64_t count_untrained(const fed_task *fed, const fed_cohort *cohort)
{
    int64_t untrained = 0;
    const fed_keep *keep = &cohort->keep;
    for (int64_t i = 0; keep->all && i < keep->n; i++)
        if (!(keep->all[i * fed->at.each] > 0))
            untrained += cohort->client[keep->of[i]].valid;
    return untrained;
}

/* Calls `use` for all clients of this rank with samples of the part: the model of a client
 * is made from what it keeps; one that was never trained begins with the server's weights.
 * *untrained: the samples of these, known to the first rank. EFILE, EDATA. Collective. */
static weft_status use_models(fed_task *fed, const weft_job *job, const weft_state *state,
                              weft_part part, fed_use *use, void *of, int64_t *untrained)
{
    const fed_turn turn = {
        .round = FED_EVALUATION, .before = 1, .part = part, .most = fed->balance.worst};
    int64_t clients = fed->clients->n, most = most_of(fed);
    fed_cohort cohort =
        fed_cohort_new(fed, &turn, job->trial, &job->mix, most, fed->work.tmp);
    *untrained = 0;
    for (int64_t c = 0; c < clients; c += most) {
        int64_t n = clients - c < most ? clients - c : most;
        TRY(fill_portion(fed, &cohort, state, n, NULL, c));
        *untrained += count_untrained(fed, &cohort);
        fed_turns turns = fed_turns_of(&cohort, state->x);
        weft_status st = WEFT_OK;
        for (int64_t j = 0; j < n && st == WEFT_OK; j++)
            if (cohort.client[j].rank == fed->env.team->rank && cohort.client[j].valid > 0)
                st = use_model(fed, &turns, j, use, of);
        TRY(weft_agree(st, fed->env.team));
    }
    return weft_agree(weft_client_sound(fed->clients), fed->env.team);
}

/* ---- predictions ---- */

struct predicting {
    fed_task *fed;
    int each, last; /* predictions of a sample; the one that counts */
    real *h, *z;    /* [most][each] of a batch: representations, logits */
    real *e;        /* [classes] */
    int64_t *first; /* [clients + 1] of the samples of each */
    weft_predictions *out;
};

/* The samples of client c, by the weights w. */
static void predict_client(void *of, int64_t c, const weft_samples *samples, const real *w)
{
    const struct predicting *predicting = of;
    const fed_task *fed = predicting->fed;
    weft_predictions *out = predicting->out;
    for (int64_t i = 0; i < samples->n; i += fed->work.most) {
        weft_batch batch = fed_batch_from(fed, NULL, samples, i, samples->n, samples->n);
        fed->net->represent(fed->model, fed->work.net, w, &batch, predicting->h,
                            predicting->z);
        for (int j = 0; j < batch.n; j++) {
            int64_t row = predicting->first[c] + i + j;
            fed_softmax(out->classes,
                        predicting->z +
                            (j * predicting->each + predicting->last) * out->classes,
                        predicting->e, out->score + row * out->classes);
            out->label[row] = batch.text ? batch.text[j][fed->clients->d] : batch.label[j];
        }
    }
}

int fed_answers(const fed_task *fed)
{
    return !fed_worker_trains(fed) && fed->net->width;
}

static weft_status check_answers(const fed_task *fed)
{
    if (fed_answers(fed)) return WEFT_OK;
    return weft_fail(WEFT_ECONF,
                     "%s: fed.model = %s answers no single rows; `weft eval` scores them",
                     fed->env.data->path, fed->options.net_name);
}

/* Whose weights were taken. */
static const char *note_of(const fed_task *fed, int64_t untrained, int64_t n,
                           weft_arena *mem)
{
    if (fed->algorithm->neighbours)
        return weft_arena_text(mem,
                               "by the server's weights alone: the samples that "
                               "fed.algorithm = %s compares with are not looked at",
                               fed->options.algorithm_name);
    if (fed->at.each == 0 || !fed->algorithm->own)
        return weft_arena_text(mem,
                               "by the server's weights for all clients: with "
                               "fed.algorithm = %s they have no model of their own",
                               fed->options.algorithm_name);
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
    TRY(check_answers(fed));
    WEFT_SCRATCH(tmp);
    fed->work.tmp = tmp;
    int64_t untrained;
    struct predicting predicting = predicting_new(fed, part, out, mem);
    TRY(use_models(fed, job, state, part, predict_client, &predicting, &untrained));
    weft_join_f64(fed->env.team, out->score, (size_t)(out->n * out->classes));
    weft_sum_i32(fed->env.team, out->label, (size_t)out->n);
    out->note = note_of(fed, untrained, out->n, mem);
    return WEFT_OK;
}

weft_status fed_judge(fed_task *fed, const weft_job *job, const weft_state *state,
                      weft_part part, weft_scores *out)
{
    int64_t rows = fed->clients->size[part].total;
    int some =
        fed->options.test_clients > 0 || fed->options.max_valid > 0 || fed->fresh.n > 0;
    if (some || !fed_answers(fed) || fed->env.data->form == WEFT_CHARS || rows > JUDGED ||
        !weft_quality_fits(rows, fed->env.data->classes))
        return WEFT_OK;
    WEFT_SCRATCH(tmp);
    weft_predictions said;
    TRY(fed_predict(fed, job, state, part, &said, tmp));
    weft_truth truth = {.label = said.label};
    weft_scores_judge(&said, &truth, FED_QUALITY_SCORES, out, fed->env.mem);
    return WEFT_OK;
}

int fed_is_joint(const fed_task *fed)
{
    return fed->options.score == FED_F1 || fed->options.score == FED_AUC;
}

weft_status fed_judge_all(fed_task *fed, const weft_job *job, const weft_state *state,
                          weft_result *res)
{
    if (!fed_is_joint(fed)) return WEFT_OK;
    WEFT_SCRATCH(tmp);
    weft_predictions said;
    weft_job own = *job;
    own.mix.logp = res->logp;
    TRY(fed_predict(fed, &own, state, WEFT_VALID, &said, tmp));
    weft_truth truth = {.label = said.label};
    weft_measure measure = fed->options.score == FED_F1 ? WEFT_BY_F1 : WEFT_BY_AUC;
    res->loss = weft_measure_of(measure, &said, &truth);
    res->bound = NAN;
    return WEFT_OK;
}

/* ---- texts: each client's by the rank that has its model ---- */

struct writing {
    const fed_task *fed;
    weft_part part;
    uint32_t **word;   /* [TEXTS][longest] */
    weft_texts *texts; /* [clients] */
};

/* Samples of similar lengths are taken together, as a block takes as many steps as its
 * longest text. */
static void write_client(void *of, int64_t c, const weft_samples *samples, const real *w)
{
    const struct writing *writing = of;
    const fed_task *fed = writing->fed;
    weft_length *order = WEFT_NEW(fed->work.tmp, weft_length, samples->n);
    for (int i = 0; i < samples->n; i++)
        order[i] = (weft_length){i, samples->length[i] + samples->replies[i], i};
    weft_lengths_sort(samples->n, order);
    for (int64_t i = 0; i < samples->n; i += TEXTS) {
        int64_t at[TEXTS];
        int length[TEXTS], n = samples->n - i < TEXTS ? (int)(samples->n - i) : TEXTS;
        for (int e = 0; e < n; e++) at[e] = order[i + e].at;
        weft_batch batch = fed_batch_of(fed, NULL, samples, at, n);
        fed->net->write(fed->model, w, &batch, writing->word, length);
        for (int e = 0; e < n; e++)
            weft_texts_add(writing->texts, fed->env.data, writing->part, c, at[e],
                           length[e], writing->word[e]);
    }
}

weft_status fed_write(fed_task *fed, const weft_job *job, const weft_state *state,
                      weft_part part, weft_members *members, double *score)
{
    if (!fed->net->write || part == WEFT_TRAIN) return WEFT_OK;
    WEFT_SCRATCH(tmp);
    fed->work.tmp = tmp;
    weft_shape shape;
    weft_forms[fed->env.data->form]->shape(fed->env.data, &shape);
    int64_t n = fed->clients->n, untrained;
    struct writing writing = {.fed = fed,
                              .part = part,
                              .word = WEFT_NEW(tmp, uint32_t *, TEXTS),
                              .texts = weft_texts_new(n, tmp)};
    for (int i = 0; i < TEXTS; i++)
        writing.word[i] = WEFT_NEW(tmp, uint32_t, shape.longest);
    TRY(use_models(fed, job, state, part, write_client, &writing, &untrained));
    weft_texts_join(fed->env.team, n, writing.texts);
    weft_texts_mean(writing.texts, n, score);
    int columns = weft_metrics_count(fed_writing_table);
    for (int64_t i = 0; i < members->n; i++)
        weft_texts_score(writing.texts, members->number[i],
                         members->score + (i + 1) * columns - 2);
    return WEFT_OK;
}
