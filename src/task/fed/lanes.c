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
struct lane {
    const fed_client *client;
    fed_client_result *out;
    weft_samples own, scored;
    int64_t *order; /* [own.n] order of its samples in this epoch */
    int64_t at;     /* index of the next sample in the epoch */
    int epoch;
};

/* The clients that are trained together. */
struct group {
    fed_task *fed;
    fed_lanes *lanes;
    const fed_turns *turns;
    int n; /* lanes in use */
    struct lane lane[WEFT_MAX_LANES];
    int count[WEFT_MAX_LANES]; /* rows of the batch */
};

fed_lanes *fed_lanes_new(const fed_task *fed, int batch, weft_arena *mem)
{
    int width = weft_lanes();
    if (fed->algorithm->turn) return NULL;
    size_t numbers = (size_t)fed->nweight * (size_t)width;
    if (!fed->net->lanes_work || fed->env.data->form == WEFT_CHARS) return NULL;
    if (fed->nweight > MAX_BYTES || 3 * numbers * sizeof(real) > MAX_BYTES) return NULL;
    fed_lanes *lanes = WEFT_NEW(mem, fed_lanes, 1);
    *lanes = (fed_lanes){.lanes = width, .most = batch};
    lanes->net = fed->net->lanes_work(fed->model, batch, mem);
    if (!lanes->net) return NULL;
    real **array[] = {&lanes->from, &lanes->w, &lanes->g, &lanes->velocity};
    for (int i = 0; i < 4; i++) *array[i] = WEFT_NEW(mem, real, numbers);
    lanes->x = WEFT_NEW(mem, const float *, batch *width);
    lanes->label = WEFT_NEW(mem, int32_t, batch * width);
    return lanes;
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
static void put_row(const struct group *group, int i, int l, const weft_samples *samples,
                    int64_t at)
{
    int slot = i * group->lanes->lanes + l;
    group->lanes->x[slot] = samples->x + at * group->fed->clients->d;
    group->lanes->label[slot] = samples->label[at];
}

/* The batch of the rows that were set; lanes with fewer rows have NULL behind them. */
static weft_lane_batch batch_of(const struct group *group)
{
    const fed_lanes *lanes = group->lanes;
    int n = 0;
    for (int l = 0; l < lanes->lanes; l++) n = group->count[l] > n ? group->count[l] : n;
    for (int l = 0; l < lanes->lanes; l++)
        for (int i = group->count[l]; i < n; i++) lanes->x[i * lanes->lanes + l] = NULL;
    return (weft_lane_batch){
        .n = n, .count = group->count, .x = lanes->x, .label = lanes->label};
}

/* ---- scoring ---- */

static void score(struct group *group, const real *w, int stage)
{
    int rows = group->lanes->most < SCORED_ROWS ? group->lanes->most : SCORED_ROWS;
    weft_score sum[WEFT_MAX_LANES] = {{0}};
    for (int64_t first = 0;; first += rows) {
        for (int l = 0; l < group->n; l++) {
            const struct lane *lane = &group->lane[l];
            int64_t left = lane->client->valid - first;
            group->count[l] = left <= 0 ? 0 : left < rows ? (int)left : rows;
            for (int e = 0; e < group->count[l]; e++)
                put_row(group, e, l, &lane->scored,
                        fed_spread(first + e, lane->client->valid, lane->scored.n));
        }
        weft_lane_batch batch = batch_of(group);
        if (batch.n == 0) break;
        group->fed->net->lanes_score(group->fed->model, group->lanes->net, w, &batch, sum);
    }
    for (int l = 0; l < group->n; l++)
        fed_settle_score(group->fed, sum[l], group->turns->turn, stage, group->lane[l].out);
}

/* ---- training ---- */

/* Sets up the next batch of a client. Returns 0 if it has finished training or diverged. */
static int next_batch(struct group *group, int l)
{
    struct lane *lane = &group->lane[l];
    const fed_training *training = &lane->client->options;
    if (lane->out->diverged > 0 || lane->epoch == training->epochs ||
        lane->client->samples == 0)
        return 0;
    if (lane->at == 0)
        fed_shuffle(group->fed, group->turns->turn, lane->client->client, lane->epoch,
                    lane->own.n, lane->client->samples, lane->order);
    int64_t left = lane->client->samples - lane->at;
    int n = left < training->batch ? (int)left : training->batch;
    for (int i = 0; i < n; i++) put_row(group, i, l, &lane->own, lane->order[lane->at + i]);
    lane->at += n;
    if (lane->at < lane->client->samples) return n;
    lane->at = 0;
    lane->epoch++;
    return n;
}

/* Does a step of every client that has one left; returns 0 if none has. */
static int step(struct group *group, const weft_sgd *sgd, int first)
{
    const fed_task *fed = group->fed;
    fed_lanes *lanes = group->lanes;
    weft_score sum[WEFT_MAX_LANES] = {{0}};
    int sound[WEFT_MAX_LANES], clip = 0;
    for (int l = 0; l < group->n; l++) {
        group->count[l] = next_batch(group, l);
        clip |= group->count[l] > 0 && sgd[l].clip > 0;
        sound[l] = 1;
    }
    weft_lane_batch batch = batch_of(group);
    if (batch.n == 0) return 0;
    weft_lanes_move move = {sgd,         group->count, first, lanes->w, lanes->velocity,
                            lanes->from, sound};
    fed->net->lanes_grad(fed->model, lanes->net, first ? lanes->from : lanes->w, &batch,
                         lanes->g, clip ? NULL : &move, sum);
    if (clip) weft_lanes_step(&move, fed->nweight, lanes->g);
    for (int l = 0; l < group->n; l++) {
        fed_client_result *out = group->lane[l].out;
        if (group->count[l] == 0) continue;
        if (!sound[l] || !isfinite(sum[l].loss)) {
            out->diverged = 1;
            continue;
        }
        out->train_loss += sum[l].loss;
        out->train_count += (double)sum[l].count;
        out->steps += group->count[l];
    }
    return 1;
}

/* Trains all clients from the same weights; lanes->w are then their weights. WEFT_STOP. */
static weft_status train(struct group *group)
{
    fed_task *fed = group->fed;
    fed_lanes *lanes = group->lanes;
    weft_sgd sgd[WEFT_MAX_LANES] = {{0}};
    double most[WEFT_MAX_LANES] = {0};
    int within[WEFT_MAX_LANES];
    for (int l = 0; l < group->n; l++) {
        struct lane *lane = &group->lane[l];
        lane->order = WEFT_NEW(fed->work.tmp, int64_t, lane->own.n);
        sgd[l] = lane->client->options.sgd;
        most[l] = lane->client->options.max_change;
    }
    int first = 1;
    for (; step(group, sgd, first); first = 0) TRY(fed_look(fed));
    if (first)
        memcpy(lanes->w, lanes->from,
               (size_t)(fed->nweight * lanes->lanes) * sizeof *lanes->w);
    weft_lanes_within(fed->nweight, lanes->w, lanes->from, most, within);
    for (int l = 0; l < group->n; l++)
        if (!within[l]) group->lane[l].out->diverged = 1;
    return WEFT_OK;
}

/* Adds the weighted changes of the clients that did not diverge. */
static void add(const struct group *group)
{
    real weight[WEFT_MAX_LANES] = {0};
    int use[WEFT_MAX_LANES] = {0};
    for (int l = 0; l < group->n; l++) {
        const struct lane *lane = &group->lane[l];
        weight[l] = (real)(lane->client->weight / fed_divisor(group->fed, lane->client));
        use[l] = !(lane->out->diverged > 0) && lane->client->weight > 0;
    }
    weft_lanes_add(group->fed->nweight, group->lanes->w, group->lanes->from, weight, use,
                   group->turns->scale, group->turns->sum);
}

/* ---- turns ---- */

static weft_status read_samples(struct group *group)
{
    weft_clients *clients = group->fed->clients;
    const fed_turn *turn = group->turns->turn;
    weft_arena *tmp = group->fed->work.tmp;
    for (int l = 0; l < group->n; l++) {
        struct lane *lane = &group->lane[l];
        if (turn->before || turn->after)
            TRY(weft_client_take(clients, &lane->client->at, turn->part, &lane->scored,
                                 tmp));
        if (turn->train)
            TRY(weft_client_take(clients, &lane->client->at, WEFT_TRAIN, &lane->own, tmp));
    }
    return WEFT_OK;
}

static weft_status visit(struct group *group)
{
    const fed_turn *turn = group->turns->turn;
    TRY(read_samples(group));
    if (turn->before) score(group, group->lanes->from, FED_BEFORE);
    if (turn->train) {
        TRY(train(group));
        if (group->turns->sum) add(group);
    }
    if (!turn->after) return WEFT_OK;
    if (!group->fed->algorithm->neighbours) score(group, group->lanes->w, FED_AFTER);
    for (int l = 0; group->fed->algorithm->neighbours && l < group->n; l++)
        TRY(fed_neighbours_score(group->fed, group->turns->from, group->lane[l].client,
                                 turn, group->lane[l].out));
    for (int l = 0; l < group->n; l++)
        if (group->lane[l].out->diverged > 0)
            fed_settle_failure(group->fed, group->lane[l].client, group->lane[l].out);
    return WEFT_OK;
}

weft_status fed_lanes_visit(fed_task *fed, const fed_turns *turns, int n,
                            const int64_t *which)
{
    size_t mark = weft_arena_mark(fed->work.tmp);
    struct group *group = WEFT_NEW(fed->work.tmp, struct group, 1);
    *group = (struct group){.fed = fed, .lanes = fed->work.lanes, .turns = turns, .n = n};
    for (int l = 0; l < n; l++) {
        group->lane[l] = (struct lane){.client = &turns->client[which[l]],
                                       .out = &turns->told[which[l]]};
        *group->lane[l].out = (fed_client_result){0};
    }
    weft_status st = visit(group);
    weft_arena_reset(fed->work.tmp, mark);
    return st;
}
