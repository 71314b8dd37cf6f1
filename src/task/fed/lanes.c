/* Training several clients at once, for small models: each vector lane has the weights of
 * one client, and all take their steps together, each with its own batches and options,
 * until the last one has finished. Each lane has the same bits as local.c gives its
 * client. */
#include "lanes.h"
#include "local.h"
#include "neighbours.h"
#include "score.h"
#include "visit.h"

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
    const fed_client *p;
    fed_client_result *out;
    weft_samples own, scored;
    int64_t *order; /* [own.n] order of its samples in this epoch */
    int64_t at;     /* index of the next sample in the epoch */
    int epoch;
} lane;

/* The clients that are trained together. */
typedef struct group {
    fed_task *t;
    fed_lanes *d;
    const fed_turns *q;
    int n; /* lanes in use */
    lane lane[WEFT_MAX_LANES];
    int count[WEFT_MAX_LANES]; /* rows of the batch */
} group;

fed_lanes *fed_lanes_new(const fed_task *fed, int batch, weft_arena *mem)
{
    int lanes = weft_lanes();
    if (fed->algorithm->turn) return NULL;
    size_t numbers = (size_t)fed->nweight * (size_t)lanes;
    if (!fed->net->lanes_work || fed->env.data->form == WEFT_CHARS) return NULL;
    if (fed->nweight > MAX_BYTES || 3 * numbers * sizeof(real) > MAX_BYTES) return NULL;
    fed_lanes *d = WEFT_NEW(mem, fed_lanes, 1);
    *d = (fed_lanes){.lanes = lanes, .most = batch};
    d->net = fed->net->lanes_work(fed->model, batch, mem);
    if (!d->net) return NULL;
    real **array[] = {&d->from, &d->w, &d->g, &d->velocity};
    for (int i = 0; i < 4; i++) *array[i] = WEFT_NEW(mem, real, numbers);
    d->x = WEFT_NEW(mem, const float *, batch *lanes);
    d->label = WEFT_NEW(mem, int32_t, batch * lanes);
    return d;
}

int fed_lanes_take(const fed_task *fed, const fed_client *client)
{
    const fed_lanes *lanes = fed->work.lanes;
    return lanes && client->options.batch <= lanes->most && !(client->options.dropout > 0);
}

int fed_lanes_pay(const fed_task *fed, int64_t n)
{
    int lanes = fed->work.lanes->lanes;
    return 4 * n >= 3 * lanes ||
           3 * fed->nweight * lanes * (int64_t)sizeof(real) <= FEW_BYTES;
}

void fed_lanes_begin(const fed_task *fed, const real *from)
{
    const fed_lanes *lanes = fed->work.lanes;
    for (int64_t i = 0; i < fed->nweight; i++)
        for (int l = 0; l < lanes->lanes; l++) lanes->from[i * lanes->lanes + l] = from[i];
}

/* ---- batches ---- */

/* Row i of the batch of lane l is sample `at` of s. */
static void put_row(const group *g, int i, int l, const weft_samples *samples, int64_t at)
{
    int client = i * g->d->lanes + l;
    g->d->x[client] = samples->x + at * g->t->clients->d;
    g->d->label[client] = samples->label[at];
}

/* The batch of the rows that were set; lanes with fewer rows have NULL behind them. */
static weft_lane_batch batch_of(const group *g)
{
    const fed_lanes *lanes = g->d;
    int n = 0;
    for (int l = 0; l < lanes->lanes; l++) n = g->count[l] > n ? g->count[l] : n;
    for (int l = 0; l < lanes->lanes; l++)
        for (int i = g->count[l]; i < n; i++) lanes->x[i * lanes->lanes + l] = NULL;
    return (weft_lane_batch){
        .n = n, .count = g->count, .x = lanes->x, .label = lanes->label};
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
        weft_lane_batch batch = batch_of(g);
        if (batch.n == 0) break;
        g->t->net->lanes_score(g->t->model, g->d->net, w, &batch, sum);
    }
    for (int l = 0; l < g->n; l++)
        fed_settle_score(g->t, sum[l], g->q->turn, stage, g->lane[l].out);
}

/* ---- training ---- */

/* Sets up the next batch of a client. Returns 0 if it has finished training or diverged. */
static int next_batch(group *g, int l)
{
    lane *a = &g->lane[l];
    const fed_training *training = &a->p->options;
    if (a->out->diverged > 0 || a->epoch == training->epochs || a->p->samples == 0)
        return 0;
    if (a->at == 0)
        fed_shuffle(g->t, g->q->turn, a->p->client, a->epoch, a->own.n, a->p->samples,
                    a->order);
    int64_t left = a->p->samples - a->at;
    int n = left < training->batch ? (int)left : training->batch;
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
    const fed_task *fed = g->t;
    fed_lanes *lanes = g->d;
    weft_score sum[WEFT_MAX_LANES] = {{0}};
    int sound[WEFT_MAX_LANES], clip = 0;
    for (int l = 0; l < g->n; l++) {
        g->count[l] = next_batch(g, l);
        clip |= g->count[l] > 0 && sgd[l].clip > 0;
        sound[l] = 1;
    }
    weft_lane_batch batch = batch_of(g);
    if (batch.n == 0) return 0;
    weft_lanes_move move = {sgd,         g->count, first, lanes->w, lanes->velocity,
                            lanes->from, sound};
    fed->net->lanes_grad(fed->model, lanes->net, first ? lanes->from : lanes->w, &batch,
                         lanes->g, clip ? NULL : &move, sum);
    if (clip) weft_lanes_step(&move, fed->nweight, lanes->g);
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

/* Trains all clients from the same weights; lanes->w are then their weights. WEFT_STOP. */
static weft_status train(group *g)
{
    fed_task *fed = g->t;
    fed_lanes *lanes = g->d;
    weft_sgd sgd[WEFT_MAX_LANES] = {{0}};
    double most[WEFT_MAX_LANES] = {0};
    int within[WEFT_MAX_LANES];
    for (int l = 0; l < g->n; l++) {
        lane *a = &g->lane[l];
        a->order = WEFT_NEW(fed->work.tmp, int64_t, a->own.n);
        sgd[l] = a->p->options.sgd;
        most[l] = a->p->options.max_change;
    }
    int first = 1;
    for (; step(g, sgd, first); first = 0) TRY(fed_look(fed));
    if (first)
        memcpy(lanes->w, lanes->from,
               (size_t)(fed->nweight * lanes->lanes) * sizeof *lanes->w);
    weft_lanes_within(fed->nweight, lanes->w, lanes->from, most, within);
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
        weight[l] = (real)(a->p->weight / fed_divisor(g->t, a->p));
        use[l] = !(a->out->diverged > 0) && a->p->weight > 0;
    }
    weft_lanes_add(g->t->nweight, g->d->w, g->d->from, weight, use, g->q->scale, g->q->sum);
}

/* ---- turns ---- */

static weft_status read_samples(group *g)
{
    weft_clients *clients = g->t->clients;
    const fed_turn *turn = g->q->turn;
    weft_arena *tmp = g->t->work.tmp;
    for (int l = 0; l < g->n; l++) {
        lane *a = &g->lane[l];
        if (turn->before || turn->after)
            TRY(weft_client_take(clients, &a->p->at, turn->part, &a->scored, tmp));
        if (turn->train)
            TRY(weft_client_take(clients, &a->p->at, WEFT_TRAIN, &a->own, tmp));
    }
    return WEFT_OK;
}

static weft_status visit(group *g)
{
    const fed_turn *turn = g->q->turn;
    TRY(read_samples(g));
    if (turn->before) score(g, g->d->from, FED_BEFORE);
    if (turn->train) {
        TRY(train(g));
        if (g->q->sum) add(g);
    }
    if (!turn->after) return WEFT_OK;
    if (!g->t->algorithm->neighbours) score(g, g->d->w, FED_AFTER);
    for (int l = 0; g->t->algorithm->neighbours && l < g->n; l++)
        TRY(fed_neighbours_score(g->t, g->q->from, g->lane[l].p, turn, g->lane[l].out));
    for (int l = 0; l < g->n; l++)
        if (g->lane[l].out->diverged > 0)
            fed_settle_failure(g->t, g->lane[l].p, g->lane[l].out);
    return WEFT_OK;
}

weft_status fed_lanes_visit(fed_task *fed, const fed_turns *turns, int n,
                            const int64_t *which)
{
    size_t mark = weft_arena_mark(fed->work.tmp);
    group *g = WEFT_NEW(fed->work.tmp, group, 1);
    *g = (group){.t = fed, .d = fed->work.lanes, .q = turns, .n = n};
    for (int l = 0; l < n; l++) {
        g->lane[l] = (lane){.p = &turns->client[which[l]], .out = &turns->told[which[l]]};
        *g->lane[l].out = (fed_client_result){0};
    }
    weft_status st = visit(g);
    weft_arena_reset(fed->work.tmp, mark);
    return st;
}
