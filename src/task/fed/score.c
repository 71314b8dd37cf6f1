/* The samples of a client in batches, and the scores of a model on them. */
#include "score.h"
#include "weft/translations.h"

#include <math.h>

weft_status fed_look(fed_task *fed)
{
    if (!halt_is_due(&fed->env, &fed->asked)) return WEFT_OK;
    return weft_fail(WEFT_STOP, "the run was stopped");
}

weft_batch fed_batch_of(const fed_task *fed, const fed_own *own,
                        const weft_samples *samples, const int64_t *at, int n)
{
    const fed_workspace *work = &fed->work;
    const weft_clients *clients = fed->clients;
    weft_batch batch = {.n = n};
    if (samples->text) {
        for (int i = 0; i < n; i++) work->text[i] = samples->text + at[i] * clients->stride;
        batch.text = work->text;
        return batch;
    }
    batch.label = work->label;
    for (int i = 0; i < n && samples->label; i++) work->label[i] = samples->label[at[i]];
    for (int i = 0; i < n && samples->translation; i++) {
        work->translation[i] = samples->translation[at[i]];
        work->translated[i] = samples->translated[at[i]];
    }
    batch.translation = work->translation;
    batch.translated = work->translated;
    if (samples->word) {
        for (int i = 0; i < n; i++) {
            work->word[i] = samples->word[at[i]];
            work->length[i] = samples->length[at[i]];
        }
        batch.word = work->word;
        batch.length = work->length;
        if (!own || !own->some) return batch;
        batch.place = own->seats.place;
        batch.places = own->seats.n;
        batch.compact = 1;
        return batch;
    }
    for (int i = 0; i < n; i++) work->x[i] = samples->x + at[i] * clients->d;
    batch.x = work->x;
    return batch;
}

int64_t fed_spread(int64_t i, int64_t count, int64_t n)
{
    return (int64_t)((double)i * (double)n / (double)count);
}

void fed_settle_score(weft_score sum, const fed_turn *turn, int stage,
                      fed_client_result *out)
{
    double most = sum.count > 0 ? turn->most * sum.count : 0;
    if (!(sum.loss <= most)) sum.loss = most;
    out->loss[stage] = sum.loss;
    out->wrong[stage] = sum.wrong;
    out->count = sum.count;
}

void fed_settle_failure(const fed_task *fed, const fed_client *client, const fed_turn *turn,
                        fed_client_result *out)
{
    if (!turn->before) out->count = fed_predictions(fed, client, turn->part);
    out->loss[FED_AFTER] = fed->worst * out->count;
    out->wrong[FED_AFTER] = out->weighed[FED_AFTER] = out->count;
}

const double *fed_class_weights(const fed_task *fed, const double *weight,
                                const weft_batch *batch)
{
    double *own = fed->work.weight;
    for (int i = 0; i < batch->n; i++) own[i] = weight[batch->label[i]];
    return own;
}

void fed_score_model(const fed_task *fed, const real *w, const fed_own *own,
                     const weft_samples *samples, const fed_client *client,
                     const fed_turn *turn, int stage, fed_client_result *out)
{
    int64_t count = client->valid;
    const fed_workspace *work = &fed->work;
    weft_arena *tmp = work->tmp;
    size_t mark = weft_arena_mark(tmp);
    int64_t *at = WEFT_NEW(tmp, int64_t, work->most);
    weft_score sum = {0}, weighed = {0};
    for (int64_t i = 0; i < count; i += work->most) {
        int n = (int)(count - i < work->most ? count - i : work->most);
        for (int e = 0; e < n; e++) at[e] = fed_spread(i + e, count, samples->n);
        weft_batch batch = fed_batch_of(fed, own, samples, at, n);
        fed->net->score(fed->model, work->net, w, &batch, &sum);
        if (!fed->valid_class) continue;
        batch.weight = fed_class_weights(fed, fed->valid_class, &batch);
        fed->net->score(fed->model, work->net, w, &batch, &weighed);
    }
    fed_settle_score(sum, turn, stage, out);
    out->weighed[stage] = weighed.wrong;
    weft_arena_reset(tmp, mark);
}

int fed_each(const fed_task *fed)
{
    int chars = fed->env.data->form == WEFT_CHARS && fed->target == FED_ALL_SYMBOLS;
    return chars ? (int)fed->clients->d : 1;
}

/* Of some of a client's sentences: their share of the words of all. */
double fed_predictions(const fed_task *fed, const fed_client *client, weft_part part)
{
    const weft_pair_rows *pairs = fed->env.data->pairs;
    if (!pairs || client->valid == 0) return (double)client->valid * fed_each(fed);
    int64_t words = weft_pair_rows_words(pairs, part, client->client),
            all = weft_client_count(fed->clients, client->client, part);
    return (double)words * (double)client->valid / (double)all;
}
