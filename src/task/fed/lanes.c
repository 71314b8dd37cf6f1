/* Training several clients at once, for small models: each vector lane has the weights of
 * one client, and all take their steps together, each with its own batches and options,
 * until the last one has finished. Each lane has the same bits as fed_local.c gives its
 * client. */
#include "lanes.h"
#include "local.h"

#include <math.h>
#include <string.h>

/* Rows of each client that are scored at once, and the memory that weights, gradients and
 * velocities of all lanes may take, so that a core's cache holds most of it; up to
 * FEW_BYTES lanes are worth while even if most of them are empty. */
enum { SCORED_ROWS = 16, MAX_BYTES = 2 << 20, FEW_BYTES = 64 << 10 };

struct fed_lanes {
    int lanes, most;               /* lanes; rows of a batch */
    void *net;                     /* the network's own */
    real *from, *w, *g, *velocity; /* [nweight][lanes] */
    const float **x;               /* [most][lanes] */
    int32_t *label;                /* [most][lanes] */
};

/* A client in training. */
typedef struct lane {
    const fed_participant *p;
    fed_client_result *out;
    weft_samples own, scored;
    int64_t *order; /* [own.n] order of its samples in this epoch */
    int64_t at;     /* index of the next sample in the epoch */
    int epoch;
} lane;

/* The clients that are trained together. */
typedef struct group {
    fed *t;
    fed_lanes *d;
    const fed_turns *q;
    int n; /* lanes in use */
    lane lane[WEFT_MAX_LANES];
    int count[WEFT_MAX_LANES]; /* rows of the batch */
} group;

fed_lanes *fed_lanes_new(const fed *t, int batch, weft_arena *mem)
{
    int lanes = weft_lanes();
    size_t numbers = (size_t)t->nweight * (size_t)lanes;
    if (!t->net->lanes_work || t->env.data->form == WEFT_CHARS) return NULL;
    if (t->nweight > MAX_BYTES || 3 * numbers * sizeof(real) > MAX_BYTES) return NULL;
    fed_lanes *d = WEFT_NEW(mem, fed_lanes, 1);
    *d = (fed_lanes){.lanes = lanes, .most = batch};
    d->net = t->net->lanes_work(t->model, batch, mem);
    if (!d->net) return NULL;
    real **array[] = {&d->from, &d->w, &d->g, &d->velocity};
    for (int i = 0; i < 4; i++) *array[i] = WEFT_NEW(mem, real, numbers);
    d->x = WEFT_NEW(mem, const float *, batch *lanes);
    d->label = WEFT_NEW(mem, int32_t, batch * lanes);
    return d;
}

int fed_lanes_take(const fed *t, const fed_participant *p)
{
    const fed_lanes *d = t->work.lanes;
    return d && p->options.batch <= d->most && !(p->options.dropout > 0);
}

int fed_lanes_pay(const fed *t, int64_t n)
{
    int lanes = t->work.lanes->lanes;
    return 4 * n >= 3 * lanes ||
           3 * t->nweight * lanes * (int64_t)sizeof(real) <= FEW_BYTES;
}

void fed_lanes_begin(const fed *t, const real *from)
{
    const fed_lanes *d = t->work.lanes;
    for (int64_t i = 0; i < t->nweight; i++)
        for (int l = 0; l < d->lanes; l++) d->from[i * d->lanes + l] = from[i];
}

/* ---- batches ---- */

/* Row i of the batch of lane l is sample `at` of s. */
static void put_row(const group *g, int i, int l, const weft_samples *s, int64_t at)
{
    int place = i * g->d->lanes + l;
    g->d->x[place] = s->x + at * g->t->clients->d;
    g->d->label[place] = s->label[at];
}

/* The batch of the rows that were set; lanes with fewer rows have NULL behind them. */
static weft_lane_batch batch_of(const group *g)
{
    const fed_lanes *d = g->d;
    int n = 0;
    for (int l = 0; l < d->lanes; l++) n = g->count[l] > n ? g->count[l] : n;
    for (int l = 0; l < d->lanes; l++)
        for (int i = g->count[l]; i < n; i++) d->x[i * d->lanes + l] = NULL;
    return (weft_lane_batch){.n = n, .count = g->count, .x = d->x, .label = d->label};
}

/* ---- scoring ---- */

static void score(group *g, const real *w, int stage)
{
    int rows = g->d->most < SCORED_ROWS ? g->d->most : SCORED_ROWS;
    weft_score sum[WEFT_MAX_LANES] = {{0}};
    for (int64_t first = 0;; first += rows) {
        for (int l = 0; l < g->n; l++) {
            const lane *a = &g->lane[l];
            int64_t left = a->p->valid - first;
            g->count[l] = left <= 0 ? 0 : left < rows ? (int)left : rows;
            for (int e = 0; e < g->count[l]; e++)
                put_row(g, e, l, &a->scored,
                        fed_spread(first + e, a->p->valid, a->scored.n));
        }
        weft_lane_batch b = batch_of(g);
        if (b.n == 0) break;
        g->t->net->lanes_score(g->t->model, g->d->net, w, &b, sum);
    }
    for (int l = 0; l < g->n; l++)
        fed_settle_score(g->t, sum[l], g->q->turn, stage, g->lane[l].out);
}

/* ---- training ---- */

/* Sets up the next batch of a client. Returns 0 if it has finished training or diverged. */
static int next_batch(group *g, int l)
{
    lane *a = &g->lane[l];
    const fed_client *c = &a->p->options;
    if (a->out->diverged > 0 || a->epoch == c->epochs || a->p->samples == 0) return 0;
    if (a->at == 0)
        fed_shuffle(g->t, g->q->turn, a->p->client, a->epoch, a->own.n, a->p->samples,
                    a->order);
    int64_t left = a->p->samples - a->at;
    int n = left < c->batch ? (int)left : c->batch;
    for (int i = 0; i < n; i++) put_row(g, i, l, &a->own, a->order[a->at + i]);
    a->at += n;
    if (a->at < a->p->samples) return n;
    a->at = 0;
    a->epoch++;
    return n;
}

/* Does a step of every client that has one left; returns 0 if none has. */
static int step(group *g, const weft_sgd *sgd, int first)
{
    const fed *t = g->t;
    fed_lanes *d = g->d;
    weft_score sum[WEFT_MAX_LANES] = {{0}};
    int sound[WEFT_MAX_LANES], clip = 0;
    for (int l = 0; l < g->n; l++) {
        g->count[l] = next_batch(g, l);
        clip |= g->count[l] > 0 && sgd[l].clip > 0;
        sound[l] = 1;
    }
    weft_lane_batch b = batch_of(g);
    if (b.n == 0) return 0;
    weft_lanes_move move = {sgd, g->count, first, d->w, d->velocity, d->from, sound};
    t->net->lanes_grad(t->model, d->net, first ? d->from : d->w, &b, d->g,
                       clip ? NULL : &move, sum);
    if (clip) weft_lanes_step(&move, t->nweight, d->g);
    for (int l = 0; l < g->n; l++) {
        fed_client_result *out = g->lane[l].out;
        if (g->count[l] == 0) continue;
        if (!sound[l] || !isfinite(sum[l].loss)) {
            out->diverged = 1;
            continue;
        }
        out->train_loss += sum[l].loss;
        out->train_count += (double)sum[l].count;
        out->steps += g->count[l];
    }
    return 1;
}

/* Trains all clients from the same weights; d->w are then their weights. WEFT_STOP. */
static weft_status train(group *g)
{
    fed *t = g->t;
    fed_lanes *d = g->d;
    weft_sgd sgd[WEFT_MAX_LANES] = {{0}};
    double most[WEFT_MAX_LANES] = {0};
    int within[WEFT_MAX_LANES];
    for (int l = 0; l < g->n; l++) {
        lane *a = &g->lane[l];
        a->order = WEFT_NEW(t->work.tmp, int64_t, a->own.n);
        sgd[l] = a->p->options.sgd;
        most[l] = a->p->options.max_change;
    }
    int first = 1;
    for (; step(g, sgd, first); first = 0) TRY(fed_look(t));
    if (first) memcpy(d->w, d->from, (size_t)(t->nweight * d->lanes) * sizeof *d->w);
    weft_lanes_within(t->nweight, d->w, d->from, most, within);
    for (int l = 0; l < g->n; l++)
        if (!within[l]) g->lane[l].out->diverged = 1;
    return WEFT_OK;
}

/* Adds the weighted changes of the clients that did not diverge. */
static void add(const group *g)
{
    real weight[WEFT_MAX_LANES] = {0};
    int use[WEFT_MAX_LANES] = {0};
    for (int l = 0; l < g->n; l++) {
        const lane *a = &g->lane[l];
        weight[l] = (real)a->p->weight;
        use[l] = !(a->out->diverged > 0) && a->p->weight > 0;
    }
    weft_lanes_add(g->t->nweight, g->d->w, g->d->from, weight, use, g->q->scale, g->q->sum);
}

/* ---- turns ---- */

static weft_status read_samples(group *g)
{
    weft_clients *f = g->t->clients;
    const fed_turn *turn = g->q->turn;
    weft_arena *tmp = g->t->work.tmp;
    for (int l = 0; l < g->n; l++) {
        lane *a = &g->lane[l];
        if (turn->before || turn->after)
            TRY(weft_client_take(f, &a->p->at, turn->part, &a->scored, tmp));
        if (turn->train) TRY(weft_client_take(f, &a->p->at, WEFT_TRAIN, &a->own, tmp));
    }
    return WEFT_OK;
}

static weft_status visit(group *g)
{
    const fed_turn *turn = g->q->turn;
    TRY(read_samples(g));
    if (turn->before) score(g, g->d->from, FED_BEFORE);
    if (!turn->train) return WEFT_OK;
    TRY(train(g));
    if (g->q->sum) add(g);
    if (!turn->after) return WEFT_OK;
    score(g, g->d->w, FED_AFTER);
    for (int l = 0; l < g->n; l++)
        if (g->lane[l].out->diverged > 0)
            fed_settle_failure(g->t, g->lane[l].p, g->lane[l].out);
    return WEFT_OK;
}

weft_status fed_lanes_visit(fed *t, const fed_turns *q, int n, const int64_t *which)
{
    size_t mark = weft_arena_mark(t->work.tmp);
    group *g = WEFT_NEW(t->work.tmp, group, 1);
    *g = (group){.t = t, .d = t->work.lanes, .q = q, .n = n};
    for (int l = 0; l < n; l++) {
        g->lane[l] = (lane){.p = &q->place[which[l]], .out = &q->told[which[l]]};
        *g->lane[l].out = (fed_client_result){0};
    }
    weft_status st = visit(g);
    weft_arena_reset(t->work.tmp, mark);
    return st;
}
