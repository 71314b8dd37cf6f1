/* The turn of one client: its samples are read, and the weights received are scored,
 * trained with the client's configuration, and scored again. The result is a function of
 * weights, samples, options and identities, without communication. */
#include "local.h"
#include "own.h"

#include <math.h>
#include <string.h>

/* ---- batches ---- */

/* A batch of samples at[0 .. n-1], in the workspace's tables; own: of the weights, NULL:
 * all. */
static weft_batch batch_of(const fed *t, const fed_own *own, const weft_samples *s,
                           const int64_t *at, int n)
{
    const fed_workspace *d = &t->work;
    const weft_clients *f = t->clients;
    weft_batch b = {.n = n};
    if (s->text) {
        for (int i = 0; i < n; i++) d->text[i] = s->text + at[i] * f->stride;
        b.text = d->text;
        return b;
    }
    b.label = d->label;
    for (int i = 0; i < n; i++) d->label[i] = s->label[at[i]];
    if (s->word) {
        for (int i = 0; i < n; i++) {
            d->word[i] = s->word[at[i]];
            d->length[i] = s->length[at[i]];
        }
        b.word = d->word;
        b.length = d->length;
        if (!own || !own->some) return b;
        b.place = own->seats.place;
        b.places = own->seats.n;
        b.compact = 1;
        return b;
    }
    for (int i = 0; i < n; i++) d->x[i] = s->x + at[i] * f->d;
    b.x = d->x;
    return b;
}

void fed_shuffle(const fed *t, const fed_turn *turn, int64_t client, int epoch, int64_t n,
                 int64_t take, int64_t *order)
{
    weft_rng_row key = {t->env.seed, WEFT_RNG_BATCH, turn->round, (uint64_t)client,
                        (uint64_t)epoch << 40};
    for (int64_t i = 0; i < n; i++) order[i] = i;
    weft_shuffle_first(take, n, &key, order);
}

/* ---- scoring ---- */

int64_t fed_spread(int64_t i, int64_t count, int64_t n)
{
    return (int64_t)((double)i * (double)n / (double)count);
}

void fed_settle_score(const fed *t, weft_score sum, const fed_turn *turn, int stage,
                      fed_client_result *out)
{
    if (!isfinite(sum.loss)) sum.loss = t->worst * (double)sum.count;
    if (sum.loss > turn->most * (double)sum.count)
        sum.loss = turn->most * (double)sum.count;
    out->loss[stage] = sum.loss;
    out->wrong[stage] = (double)sum.wrong;
    out->count = (double)sum.count;
}

void fed_settle_failure(const fed *t, const fed_participant *p, fed_client_result *out)
{
    out->count = fed_predictions(t, p->valid);
    out->loss[FED_AFTER] = t->worst * out->count;
    out->wrong[FED_AFTER] = out->count;
}

/* Scores p->valid samples, evenly spread over all. */
static void score(const fed *t, const real *w, const fed_own *own, const weft_samples *s,
                  const fed_participant *p, const fed_turn *turn, int stage,
                  fed_client_result *out)
{
    int64_t count = p->valid;
    const fed_workspace *d = &t->work;
    weft_arena *tmp = d->tmp;
    size_t mark = weft_arena_mark(tmp);
    int64_t *at = WEFT_NEW(tmp, int64_t, d->most);
    weft_score sum = {0};
    for (int64_t i = 0; i < count; i += d->most) {
        int n = (int)(count - i < d->most ? count - i : d->most);
        for (int e = 0; e < n; e++) at[e] = fed_spread(i + e, count, s->n);
        weft_batch b = batch_of(t, own, s, at, n);
        t->net->score(t->model, d->net, w, &b, &sum);
    }
    fed_settle_score(t, sum, turn, stage, out);
    weft_arena_reset(tmp, mark);
}

double fed_predictions(const fed *t, int64_t count)
{
    int chars = t->env.data->form == WEFT_CHARS && t->target == FED_ALL_SYMBOLS;
    return (double)(chars ? count * t->clients->d : count);
}

/* ---- training ---- */

/* g[n] = change of the weights; 0 if a coordinate is not finite or beyond `most`. */
static int change_within(const fed_workspace *d, int64_t n, const real *from, real most)
{
    const real *w = d->w;
    real *g = d->g;
    int good = 1;
    for (int64_t i = 0; i < n; i++) {
        g[i] = w[i] - from[i];
        good &= (g[i] <= most) & (g[i] >= -most);
    }
    return good;
}

/* Trains work.w, a copy of anchor[work.own.n]; out->diverged 1 if it diverged. WEFT_STOP.
 */
static weft_status train(fed *t, const real *anchor, const fed_participant *p,
                         const fed_turn *turn, const weft_samples *s,
                         fed_client_result *out)
{
    const fed_workspace *d = &t->work;
    const fed_client *c = &p->options;
    int64_t nw = d->own.n;
    int64_t *order = WEFT_NEW(d->tmp, int64_t, s->n);
    memcpy(d->w, anchor, (size_t)nw * sizeof *anchor);
    for (int epoch = 0; epoch < c->epochs; epoch++) {
        fed_shuffle(t, turn, p->client, epoch, s->n, p->samples, order);
        for (int64_t i = 0; i < p->samples; i += c->batch) {
            int64_t left = p->samples - i;
            int n = left < c->batch ? (int)left : c->batch;
            TRY(fed_look(t));
            weft_batch b = batch_of(t, &d->own, s, order + i, n);
            weft_rng4 r =
                weft_rng_at(t->env.seed, WEFT_RNG_DROPOUT, turn->round, (uint64_t)p->client,
                            (uint64_t)epoch << 40 | (uint64_t)i);
            weft_score sum = {0};
            t->net->grad(t->model, d->net, d->w, &b, c->dropout, r.v[0], d->g, &sum);
            int sound = weft_sgd_step(&c->sgd, nw, epoch == 0 && i == 0, d->w, d->g,
                                      d->velocity, anchor);
            out->diverged = !sound || !isfinite(sum.loss);
            if (out->diverged > 0) return WEFT_OK;
            if (t->net->project) t->net->project(t->model, d->w);
            out->train_loss += sum.loss;
            out->train_count += (double)sum.count;
            out->steps += b.n;
        }
    }
    out->diverged = !change_within(d, nw, anchor, (real)c->max_change);
    return WEFT_OK;
}

weft_status fed_look(fed *t)
{
    if (!halt_is_due(&t->env, &t->asked)) return WEFT_OK;
    return weft_fail(WEFT_STOP, "the run was stopped");
}

static weft_status visit(fed *t, const real *from, const fed_participant *p,
                         const fed_turn *turn, fed_client_result *out)
{
    weft_clients *f = t->clients;
    weft_samples own = {0}, scored = {0};
    *out = (fed_client_result){0};
    if (turn->before || turn->after)
        TRY(weft_client_take(f, &p->at, turn->part, &scored, t->work.tmp));
    if (turn->before) score(t, from, NULL, &scored, p, turn, FED_BEFORE, out);
    if (!turn->train) return WEFT_OK;
    TRY(weft_client_take(f, &p->at, WEFT_TRAIN, &own, t->work.tmp));
    fed_own_choose(t, &p->options, &own, turn->after ? &scored : NULL);
    TRY(train(t, fed_own_take(t, from), p, turn, &own, out));
    if (!turn->after) return WEFT_OK;
    if (out->diverged > 0)
        fed_settle_failure(t, p, out);
    else
        score(t, t->work.w, &t->work.own, &scored, p, turn, FED_AFTER, out);
    return WEFT_OK;
}

weft_status fed_local_update(fed *t, const real *from, const fed_participant *p,
                             const fed_turn *turn, fed_client_result *out)
{
    size_t mark = weft_arena_mark(t->work.tmp);
    weft_status st = visit(t, from, p, turn, out);
    weft_arena_reset(t->work.tmp, mark);
    return st;
}
