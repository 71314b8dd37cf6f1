/* The turn of one client: its samples are read, and the weights received are scored,
 * trained with the client's configuration, and scored again. The result is a function of
 * weights, samples, options and identities, without communication. */
#include "local.h"
#include "neighbours.h"
#include "own.h"
#include "score.h"
#include "weft/shuffle.h"

#include <math.h>
#include <string.h>

void fed_shuffle(const fed_task *fed, const fed_turn *turn, int64_t client, int epoch,
                 int64_t n, int64_t take, int64_t *order)
{
    weft_rng_row key = {fed->env.seed, WEFT_RNG_BATCH, turn->round, (uint64_t)client,
                        (uint64_t)epoch << 40};
    for (int64_t i = 0; i < n; i++) order[i] = i;
    weft_shuffle_first(take, n, &key, order);
}

/* g[n] = change of the weights; 0 if a coordinate is not finite or beyond `most`. */
static int change_within(const fed_workspace *work, int64_t n, const real *from, real most)
{
    const real *w = work->w;
    real *g = work->g;
    int good = 1;
    for (int64_t i = 0; i < n; i++) {
        g[i] = w[i] - from[i];
        good &= (g[i] <= most) & (g[i] >= -most);
    }
    return good;
}

/* The gradient of a batch at w, into work.g; adds to *sum. */
static void gradient(const fed_task *fed, const fed_training *training, const real *w,
                     const weft_batch *batch, uint64_t key, weft_score *sum)
{
    const fed_workspace *work = &fed->work;
    fed->net->grad(fed->model, work->net, w, batch, training->dropout, key, work->g, sum);
}

/* The step of APFL's own weights, and of their share. Returns 0 if it diverged. */
static int blend(const fed_task *fed, const fed_training *training,
                 const weft_course *course, const weft_batch *batch, uint64_t key)
{
    weft_blend *blend = course->blend;
    const real *g = fed->work.g;
    int64_t n = fed->nweight;
    real share = (real)blend->share;
    double slope = 0;
    weft_score unused = {0};
    for (int64_t i = 0; i < n; i++)
        blend->at[i] = share * blend->own[i] + (1 - share) * course->w[i];
    gradient(fed, training, blend->at, batch, key, &unused);
    for (int64_t i = 0; i < n; i++)
        slope += ((double)blend->own[i] - (double)course->w[i]) * (double)g[i];
    weft_sgd sgd = {.lr = course->sgd.lr * blend->share, .clip = course->sgd.clip};
    blend->share = fmin(fmax(blend->share - blend->rate * slope, 0), 1);
    return weft_sgd_step(&sgd, n, 1, blend->own, fed->work.g, NULL, NULL) &&
           isfinite(slope);
}

/* The numbers of fixed tensors: their gradients become 0, or they are set back to those of
 * `from`. */
static void hold(const fed_task *fed, const weft_course *course, const real *from, real *to)
{
    for (int i = 0; i < fed->ntensor; i++) {
        if (!course->fixed[i]) continue;
        size_t n = (size_t)weft_tensors_size(1, &fed->tensor[i]);
        int64_t at = fed->tensor[i].at;
        if (from)
            memcpy(to + at, from + at, n * sizeof *to);
        else
            memset(to + at, 0, n * sizeof *to);
    }
}

/* The rate of the next step on the gradient work.g, which takes the place of the last. */
static double paced(const fed_task *fed, const weft_course *course)
{
    weft_pace *pace = course->pace;
    int64_t n = fed->work.own.n;
    const real *w = course->w, *g = fed->work.g;
    double rate = course->sgd.lr, ratio = 1, moved = 0, turned = 0;
    if (pace->rate > 0) {
        for (int64_t i = 0; i < n; i++) {
            double dw = (double)w[i] - (double)pace->w[i],
                   dg = (double)g[i] - (double)pace->g[i];
            moved += dw * dw;
            turned += dg * dg;
        }
        rate = sqrt(1 + pace->growth * pace->ratio) * pace->rate;
        if (moved > 0 && turned > 0) rate = fmin(rate, pace->amount * sqrt(moved / turned));
        ratio = rate / pace->rate;
    }
    pace->rate = rate;
    pace->ratio = ratio;
    memcpy(pace->w, w, (size_t)n * sizeof *w);
    memcpy(pace->g, g, (size_t)n * sizeof *g);
    return rate;
}

/* A step of course->w on a batch. held: the weights that it began with, where tensors
 * within the span are fixed. Returns 0 if it diverged. */
static int descend(const fed_task *fed, const fed_training *training,
                   const weft_course *course, const fed_span *span, const real *held,
                   int first, const weft_batch *batch, uint64_t key, weft_score *sum)
{
    const fed_workspace *work = &fed->work;
    int64_t n = work->own.n, at = span->from;
    const real *anchor = held && course->anchor ? held : course->anchor;
    int sound = !course->blend || blend(fed, training, course, batch, key);
    gradient(fed, training, course->w, batch, key, sum);
    for (int64_t i = 0; course->drift && i < n; i++) work->g[i] += course->drift[i];
    if (held) hold(fed, course, NULL, work->g);
    weft_sgd sgd = course->sgd;
    if (course->pace) sgd.lr = paced(fed, course);
    sound &= weft_sgd_step(&sgd, span->end - at, first, course->w + at, work->g + at,
                           work->velocity + at, anchor ? anchor + at : NULL);
    if (held) hold(fed, course, held, course->w);
    return sound && isfinite(sum->loss);
}

/* The representations of all samples by w, if a course trains the last layer alone, and
 * each is used: stored[samples->n][width]; else NULL. Of a sample it has the same bits in
 * any batch. */
static const real *represent(const fed_task *fed, const weft_course *course,
                             const fed_span *span, const fed_client *client,
                             const weft_samples *samples)
{
    enum { MOST = 4 << 20 }; /* bytes */
    const fed_workspace *work = &fed->work;
    int64_t n = samples->n;
    if (!fed->net->resumes || client->options.dropout > 0 || span->frozen == 0 ||
        span->frozen < fed->ntensor - 2 || client->samples * course->epochs < n)
        return NULL;
    int64_t wide = fed->net->width(fed->model);
    if (n * wide * (int64_t)sizeof(real) > MOST) return NULL;
    real *stored = WEFT_NEW(work->tmp, real, n * wide);
    int64_t *at = WEFT_NEW(work->tmp, int64_t, work->most);
    for (int64_t i = 0; i < n; i += work->most) {
        int some = (int)(n - i < work->most ? n - i : work->most);
        for (int e = 0; e < some; e++) at[e] = i + e;
        weft_batch batch = fed_batch_of(fed, &work->own, samples, at, some);
        fed->net->represent(fed->model, work->net, course->w, &batch, stored + i * wide,
                            NULL);
    }
    return stored;
}

weft_status fed_train(fed_task *fed, const weft_course *course, const fed_client *client,
                      const fed_turn *turn, const weft_samples *samples,
                      fed_client_result *out)
{
    const fed_workspace *work = &fed->work;
    const fed_training *training = &client->options;
    int first_course = !(out->train_count > 0);
    int64_t *order = WEFT_NEW(work->tmp, int64_t, samples->n);
    fed_span span = fed_span_of(fed, course->fixed);
    real *held = span.holes ? WEFT_NEW(work->tmp, real, fed->nweight) : NULL;
    const real *stored = represent(fed, course, &span, client, samples);
    int64_t wide = stored ? fed->net->width(fed->model) : 0;
    const real **row = WEFT_NEW(work->tmp, const real *, training->batch);
    if (held) memcpy(held, course->w, (size_t)fed->nweight * sizeof *held);
    for (int epoch = 0; epoch < course->epochs; epoch++) {
        fed_shuffle(fed, turn, client->client, epoch, samples->n, client->samples, order);
        for (int64_t i = 0; i < client->samples; i += training->batch) {
            int64_t left = client->samples - i;
            int n = left < training->batch ? (int)left : training->batch;
            TRY(fed_look(fed));
            weft_batch batch = fed_batch_of(fed, &work->own, samples, order + i, n);
            batch.frozen = span.frozen;
            if (fed->train_class)
                batch.weight = fed_class_weights(fed, fed->train_class, &batch);
            for (int e = 0; stored && e < n; e++) row[e] = stored + order[i + e] * wide;
            if (stored) batch.stored = row;
            weft_rng4 rng =
                weft_rng_at(fed->env.seed, WEFT_RNG_DROPOUT, turn->round,
                            (uint64_t)client->client, (uint64_t)epoch << 40 | (uint64_t)i);
            weft_score sum = {0};
            int sound = descend(fed, training, course, &span, held, epoch == 0 && i == 0,
                                &batch, rng.v[0], &sum);
            if (!sound) out->diverged = 1;
            if (out->diverged > 0) return WEFT_OK;
            if (fed->net->project) fed->net->project(fed->model, course->w);
            out->steps += batch.n;
            if (!first_course) continue;
            out->train_loss += sum.loss;
            out->train_count += sum.count;
        }
    }
    return WEFT_OK;
}

/* Trains work.w from anchor[work.own.n]; work.g becomes its change. WEFT_STOP. */
static weft_status train(fed_task *fed, const real *anchor, const fed_client *client,
                         const fed_turn *turn, const weft_samples *samples,
                         fed_client_result *out)
{
    const fed_workspace *work = &fed->work;
    memcpy(work->w, anchor, (size_t)work->own.n * sizeof *anchor);
    weft_course course = {.w = work->w,
                          .anchor = anchor,
                          .sgd = client->options.sgd,
                          .epochs = client->options.epochs};
    TRY(fed_train(fed, &course, client, turn, samples, out));
    if (!(out->diverged > 0))
        out->diverged =
            !change_within(work, work->own.n, anchor, (real)client->options.max_change);
    return WEFT_OK;
}

/* ---- turns ---- */

static weft_status visit(fed_task *fed, const real *from, const fed_client *client,
                         const fed_turn *turn, fed_client_result *out)
{
    weft_clients *clients = fed->clients;
    weft_samples own = {0}, scored = {0};
    *out = (fed_client_result){0};
    if (turn->before || turn->after)
        TRY(weft_client_take(clients, &client->at, turn->part, &scored, fed->work.tmp));
    if (turn->before)
        fed_score_model(fed, from, NULL, &scored, client, turn, FED_BEFORE, out);
    if (turn->train) {
        TRY(weft_client_take(clients, &client->at, WEFT_TRAIN, &own, fed->work.tmp));
        fed_own_choose(fed, &client->options, &own, turn->after ? &scored : NULL);
        TRY(train(fed, fed_own_take(fed, from), client, turn, &own, out));
    }
    if (!turn->after) return WEFT_OK;
    if (out->diverged > 0)
        fed_settle_failure(fed, client, turn, out);
    else if (fed->algorithm->neighbours)
        return fed_neighbours_score(fed, from, client, turn, out);
    else
        fed_score_model(fed, fed->work.w, &fed->work.own, &scored, client, turn, FED_AFTER,
                        out);
    return WEFT_OK;
}

weft_status fed_local_update(fed_task *fed, const real *from, const fed_client *client,
                             const fed_turn *turn, fed_client_result *out)
{
    size_t mark = weft_arena_mark(fed->work.tmp);
    weft_status st = visit(fed, from, client, turn, out);
    weft_arena_reset(fed->work.tmp, mark);
    return st;
}
