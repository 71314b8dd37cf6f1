/* One round: a cohort is drawn, the behaviour of its devices is computed, each rank does
 * the turns that are assigned to it and sums the changes of the weights, the sums are added
 * over ranks, and every rank applies the same step of the server's optimizer and of the
 * mixture's update rule. McMahan, Moore, Ramage, Hampson, Aguera y Arcas,
 * "Communication-efficient learning of deep networks from decentralized data", AISTATS
 * 2017; Khodak et al., "Federated Hyperparameter Tuning", NeurIPS 2021. */
#include "round.h"
#include "cohort.h"
#include "local.h"
#include "metrics.h"
#include "turns.h"

#include <math.h>
#include <string.h>

typedef struct cohort {
    fed_turn turn;
    int64_t n;
    fed_participant *place;  /* [n] */
    fed_client_result *told; /* [n] */
    int *pick;               /* [n][nblock] entries of the mixture */
    weft_mix mix;
    weft_closing end;
    double weight; /* bound of the sum of weights, which fixes the scale of sums */
    int scale;
} cohort;

int fed_scores(const fed *t, const weft_job *job, int stage)
{
    int moves = job->update.schedule != WEFT_UPDATE_NONE;
    if (t->score_both) return 1;
    if (stage == FED_AFTER) return t->score_weights == FED_PERSONAL || moves;
    return t->score_weights == FED_GLOBAL || (moves && job->update.diff);
}

/* ---- cohort ---- */

/* Determines which devices are averaged. */
static void close_devices(const fed *t, cohort *c, int64_t round, weft_arena *tmp)
{
    double model = (double)sizeof(float) * (double)t->nweight;
    weft_turn *turn = WEFT_NEW(tmp, weft_turn, c->n);
    for (int64_t j = 0; j < c->n; j++) {
        const fed_participant *p = &c->place[j];
        double samples = (double)p->samples * p->options.epochs;
        weft_work work = {.samples = samples,
                          .flops = samples * t->net->flops(t->model),
                          .down = model,
                          .up = model};
        turn[j] = weft_device_turn(&t->device, p->client, round, &work);
    }
    c->end = weft_device_close(&t->device, (int)t->cohort, (int)c->n, turn, tmp);
    for (int64_t j = 0; j < c->n; j++) {
        c->place[j].lost = turn[j].status != WEFT_AVERAGED;
        c->place[j].late = turn[j].status == WEFT_LATE;
    }
}

static cohort cohort_new(const fed *t, const weft_job *job, const fed_trial_state *b,
                         weft_arena *tmp)
{
    int64_t clients = t->clients->n, round = (int64_t)b->head->round;
    cohort c = {.turn = {.round = (uint64_t)round,
                         .before = fed_scores(t, job, FED_BEFORE),
                         .train = 1,
                         .after = fed_scores(t, job, FED_AFTER),
                         .part = WEFT_VALID,
                         .cap = t->max_valid,
                         .most = t->worst},
                .mix = job->mix};
    c.mix.logp = b->res->logp;
    c.n = weft_device_started(&t->device, t->cohort, t->replacement ? INT64_MAX : clients);
    c.place = WEFT_NEW(tmp, fed_participant, c.n);
    c.told = WEFT_NEW(tmp, fed_client_result, c.n);
    c.pick = WEFT_NEW(tmp, int, c.n *c.mix.nblock);
    int64_t *client = WEFT_NEW(tmp, int64_t, c.n);
    fed_draw(t, (uint64_t)round, clients, c.n, t->replacement, client, tmp);
    for (int64_t j = 0; j < c.n; j++) {
        fed_participant *p = &c.place[j];
        p->client = client[j];
        p->options =
            fed_pick(t, &c.mix, job->trial, (uint64_t)round, j, c.pick + j * c.mix.nblock);
        fed_size(t, &c.turn, p);
        p->weight = p->samples == 0 ? 0 : t->average == FED_PLAIN ? 1 : (double)p->samples;
        c.weight += p->weight;
    }
    close_devices(t, &c, round, tmp);
    fed_deal(t, &c.turn, c.n, c.place, tmp);
    c.scale = weft_exact_scale(t->client.max_change * c.weight);
    return c;
}

/* ---- lower bounds of virtual time ---- */

/* The options with the least work that a client can draw from the mixture; for one
 * configuration, its options. */
static fed_client cheapest(const fed *t, const weft_mix *m)
{
    fed_client least = t->client;
    int epochs = 0;
    for (int i = 0; i < m->k; i++) {
        if (!(m->logp[i] > -INFINITY)) continue;
        fed_client c = t->client;
        weft_space_put(t->env.space, m->conf + (size_t)i * m->dim, &fed_client_kind, &c);
        if (epochs == 0 || c.epochs < epochs) epochs = c.epochs;
    }
    least.epochs = epochs;
    return least;
}

static double least_of_round(const fed *t, const fed_client *least, int64_t round,
                             weft_arena *tmp)
{
    int64_t clients = t->clients->n;
    fed_turn turn = {.part = WEFT_VALID};
    cohort c = {.n = weft_device_started(&t->device, t->cohort,
                                         t->replacement ? INT64_MAX : clients)};
    int64_t *client = WEFT_NEW(tmp, int64_t, c.n);
    c.place = WEFT_NEW(tmp, fed_participant, c.n);
    fed_draw(t, (uint64_t)round, clients, c.n, t->replacement, client, tmp);
    for (int64_t j = 0; j < c.n; j++) {
        c.place[j] = (fed_participant){.client = client[j], .options = *least};
        fed_size(t, &turn, &c.place[j]);
    }
    close_devices(t, &c, round, tmp);
    return c.end.seconds;
}

/* 1: devices have speeds or delays; else a round is a virtual second. */
static int is_timed(const weft_device *d)
{
    return d->sample_seconds > 0 || d->flops > 0 || d->up > 0 || d->down > 0 ||
           d->latency > 0 || d->rows > 0;
}

weft_price fed_price(const void *self)
{
    const fed *t = self;
    return is_timed(&t->device) ? WEFT_PRICE_SECONDS : WEFT_PRICE_OPERATIONS;
}

double fed_seconds(const void *self, const weft_job *job, double before)
{
    const fed *t = self;
    if (!is_timed(&t->device) || !(job->resource >= 1)) return job->resource;
    fed_client least = cheapest(t, &job->mix);
    weft_arena *tmp = weft_arena_new();
    double sum = 0;
    for (int64_t u = 0; u < (int64_t)job->resource; u++) {
        size_t mark = weft_arena_mark(tmp);
        sum += least_of_round(t, &least, (int64_t)before + u, tmp);
        weft_arena_reset(tmp, mark);
    }
    weft_arena_free(tmp);
    return sum > 0 || job->mix.k > 1 ? sum : job->resource;
}

/* ---- turns ---- */

static weft_status take_turns(fed *t, cohort *c, const real *w)
{
    double *sum = t->work.sum;
    memset(sum, 0, (size_t)t->nweight * sizeof *sum);
    fed_turns q = {.turn = &c->turn,
                   .from = w,
                   .n = c->n,
                   .place = c->place,
                   .told = c->told,
                   .scale = c->scale,
                   .sum = sum};
    return fed_take_turns(t, &q);
}

/* ---- late clients ---- */

/* With a deadline the score of a configuration is a mean over all available clients that
 * draw it. This includes a client that is late because of its device and the work that its
 * options require: without it each configuration would be scored on the clients that are
 * fast enough for it, that is, on different populations. A late client gets the worst
 * possible score, as does a client that diverged: neither returns weights. Its score before
 * training would be an alternative, but the server has not received it at the deadline, and
 * being late would cost nothing when training improves little. If differences are scored,
 * its score before training is taken as the mean of those that answered.
 *
 * Not counted are clients that are unavailable or drop out, which no option influences, and
 * the surplus of an over-selection, which is only slower than the others. If all clients
 * draw the same configuration, the number of surplus clients does not depend on it. In a
 * mixture a slow configuration has more surplus clients, which does not tell how it would
 * perform if all clients drew it: it then has fewer scores, those of its faster clients. */
static void charge_late(const fed *t, cohort *c)
{
    double loss = 0, wrong = 0, count = 0;
    for (int64_t j = 0; j < c->n; j++) {
        loss += c->told[j].loss[FED_BEFORE];
        wrong += c->told[j].wrong[FED_BEFORE];
        count += c->told[j].count;
    }
    for (int64_t j = 0; j < c->n; j++) {
        if (!c->place[j].late) continue;
        fed_client_result *o = &c->told[j];
        *o = (fed_client_result){.count = fed_predictions(t, c->place[j].valid), .late = 1};
        o->loss[FED_BEFORE] = count > 0 ? loss / count * o->count : 0;
        o->wrong[FED_BEFORE] = count > 0 ? wrong / count * o->count : 0;
        o->loss[FED_AFTER] = t->worst * o->count;
        o->wrong[FED_AFTER] = o->count;
    }
}

/* ---- server ---- */

/* Updates the weights by the mean change of the clients that did not diverge. */
static void move_weights(fed *t, const cohort *c, fed_trial_state *b, const int64_t *sum)
{
    double weight = 0;
    for (int64_t j = 0; j < c->n; j++)
        if (!c->place[j].lost && !(c->told[j].diverged > 0)) weight += c->place[j].weight;
    if (!(weight > 0)) return;
    double unit = ldexp(1, -c->scale) / weight;
    real *delta = t->work.g;
    for (int64_t i = 0; i < t->nweight; i++) delta[i] = (real)((double)sum[i] * unit);
    weft_server server = t->server;
    weft_space_put(t->env.space, c->mix.conf, &fed_server_kind, &server);
    weft_server_step(&server, (int64_t)b->head->steps, t->nweight, b->x, delta,
                     b->x + t->nweight);
    if (t->net->project) t->net->project(t->model, b->x);
    b->head->steps++;
}

/* Updates the mixture by the scores of the clients that answered or were late. */
static void move_mix(const fed *t, const weft_job *job, cohort *c, fed_trial_state *b,
                     weft_arena *tmp)
{
    if (job->update.schedule == WEFT_UPDATE_NONE) return;
    int nblock = c->mix.nblock;
    int *pick = WEFT_NEW(tmp, int, c->n *nblock);
    double *s[2] = {WEFT_NEW(tmp, double, c->n), WEFT_NEW(tmp, double, c->n)};
    double *v = WEFT_NEW(tmp, double, c->n);
    double sum = 0;
    int n = 0;
    for (int64_t j = 0; j < c->n; j++) {
        const fed_client_result *o = &c->told[j];
        if (!(o->count > 0)) continue;
        memcpy(pick + n * nblock, c->pick + j * nblock, (size_t)nblock * sizeof *pick);
        for (int stage = 0; stage < 2; stage++)
            s[stage][n] = (t->score == FED_LOSS ? o->loss : o->wrong)[stage] / o->count;
        v[n++] = o->count;
        sum += o->count;
    }
    for (int e = 0; e < n; e++) v[e] /= sum;
    if (job->update.schedule == WEFT_UPDATE_RACING)
        weft_mix_race_step(&job->update, b->evidence, &c->mix, n, pick, s[FED_BEFORE],
                           s[FED_AFTER], v);
    else
        weft_mix_update_step(&job->update, &b->head->drift, &c->mix, n, pick, s[FED_BEFORE],
                             s[FED_AFTER], v);
}

/* ---- the record ---- */

static void add_arms(const fed *t, const cohort *c, int64_t j, fed_trial_state *b)
{
    const fed_client_result *o = &c->told[j];
    int stage = c->turn.after ? FED_AFTER : FED_BEFORE;
    int failed = o->diverged > 0 || o->late > 0;
    for (int e = 0; e < c->mix.nblock; e++) {
        int i = c->pick[j * c->mix.nblock + e];
        b->res->arm_loss[i] += failed ? t->worst * o->count : o->loss[stage];
        b->res->arm_wrong[i] += failed ? o->count : o->wrong[stage];
        b->res->arm_count[i] += o->count;
    }
}

static void fill_row(const cohort *c, const fed_score_sums *s, double train_loss,
                     double *row)
{
    row[FED_ROW_BEFORE_LOSS] = c->turn.before ? s->loss[FED_BEFORE] / s->answered : NAN;
    row[FED_ROW_BEFORE_ERROR] = c->turn.before ? s->wrong[FED_BEFORE] / s->answered : NAN;
    row[FED_ROW_AFTER_LOSS] = c->turn.after ? s->loss[FED_AFTER] / s->answered : NAN;
    row[FED_ROW_AFTER_ERROR] = c->turn.after ? s->wrong[FED_AFTER] / s->answered : NAN;
    row[FED_ROW_TRAIN_LOSS] = train_loss;
    row[FED_ROW_DROPPED] = c->end.away + c->end.dropped + c->end.late + c->end.surplus;
    row[FED_ROW_SECONDS] = c->end.seconds;
    row[FED_ROW_ENERGY] = c->end.energy;
    row[FED_ROW_BYTES] = c->end.bytes;
    row[FED_ROW_ENTROPY] = weft_mix_entropy(&c->mix);
}

/* Warns, once, that a whole cohort diverged or was late. */
static void warn(fed *t, const cohort *c, const fed_trial_state *b, const double *row)
{
    if (t->warned || row[FED_ROW_CLIENTS] > 0 ||
        (row[FED_ROW_DIVERGED] < 1 && c->end.late == 0))
        return;
    t->warned = 1;
    if (row[FED_ROW_DIVERGED] > 0)
        weft_log(
            WEFT_WARN,
            "all %.0f clients of round %.0f of trial %.0f diverged, so the weights "
            "do not change; client.lr may be too high, or numbers of the data too large",
            row[FED_ROW_DIVERGED], b->head->round, b->head->trial);
    else
        weft_log(
            WEFT_WARN,
            "all %d clients of round %.0f of trial %.0f missed device.deadline = %g "
            "s, so the weights do not change; allow more time, or use fewer client.epochs",
            c->end.late, b->head->round, b->head->trial, t->device.deadline);
}

/* Sums the results of the round, in the order of the cohort. */
static void write_record(fed *t, const cohort *c, fed_trial_state *b, double *row)
{
    fed_score_sums seen = {0};
    double loss = 0, count = 0;
    for (int64_t j = 0; j < c->n; j++) {
        const fed_client_result *o = &c->told[j];
        fed_sums_add(t, &seen, o);
        add_arms(t, c, j, b);
        if (c->place[j].lost) continue;
        row[FED_ROW_SAMPLES] += o->steps;
        row[FED_ROW_DIVERGED] += o->diverged;
        if (o->diverged > 0) continue;
        row[FED_ROW_CLIENTS]++;
        loss += o->train_loss;
        count += o->train_count;
    }
    fed_trial_enter(t, b, &seen);
    b->head->train_loss += loss;
    b->head->train_count += count;
    b->head->seconds += c->end.seconds;
    fill_row(c, &seen, loss / count, row);
    warn(t, c, b, row);
}

/* Converts integers below 2^52 from doubles to int64_t, in the same memory. */
static int64_t *whole(double *sum, int64_t n)
{
    int64_t *wire = (int64_t *)(void *)sum;
    for (int64_t i = 0; i < n; i++) {
        int64_t x = (int64_t)sum[i];
        memcpy(&wire[i], &x, sizeof x);
    }
    return wire;
}

weft_status fed_round(fed *t, const weft_job *job, fed_trial_state *b, double *row,
                      weft_arena *tmp)
{
    t->work.tmp = tmp;
    cohort c = cohort_new(t, job, b, tmp);
    weft_status st = take_turns(t, &c, b->x);
    int64_t *wire = whole(t->work.sum, t->nweight);
    TRY(fed_exchange(t, st, wire, t->nweight, c.n, c.place, c.told));
    charge_late(t, &c);
    move_weights(t, &c, b, wire);
    move_mix(t, job, &c, b, tmp);
    write_record(t, &c, b, row);
    b->head->round++;
    return WEFT_OK;
}
