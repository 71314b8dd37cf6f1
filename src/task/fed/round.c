/* One round: a cohort is drawn, the behaviour of its devices is computed, each rank does
 * the turns that are assigned to it and sums the changes of the weights, the sums are added
 * over ranks, and every rank applies the same step of the server's optimizer and of the
 * mixture's update rule. McMahan, Moore, Ramage, Hampson, Aguera y Arcas,
 * "Communication-efficient learning of deep networks from decentralized data", AISTATS
 * 2017; Khodak et al., "Federated Hyperparameter Tuning", NeurIPS 2021. */
#include "buffer.h"
#include "choice.h"
#include "compress.h"
#include "privacy.h"
#include "rule.h"
#include "weft/base/base.h"
#include "weft/math/linear.h"

#include <math.h>
#include <string.h>

struct round {
    fed_cohort cohort;
    weft_closing end;
    int scale, scale_more; /* of sums, as in fed_turns */
    const real *from; /* the state that clients receive; that of each is in the queue, */
    fed_queue *queue; /* of fed.aggregation = buffered */
};

/* ---- cohort ---- */

/* Draws as many clients as devices are started; returns their number. memory: of clients;
 * NULL where it is not needed. */
static int64_t draw_clients(const fed_task *fed, int64_t round, const double *memory,
                            int64_t **client, weft_arena *tmp)
{
    int64_t n = fed_started(fed);
    *client = WEFT_NEW(tmp, int64_t, n);
    if (fed->modes.choice) return fed_choice_draw(fed, round, memory, n, *client, tmp);
    fed_draw(fed, &fed->old, (uint64_t)round, n, fed->options.replacement, *client, tmp);
    return n;
}

/* Determines which devices are averaged. */
static weft_closing close_devices(const fed_task *fed, int64_t round, int64_t n,
                                  fed_client *of, weft_arena *tmp)
{
    weft_turn *turn = WEFT_NEW(tmp, weft_turn, n);
    for (int64_t j = 0; j < n; j++) {
        weft_work work = fed_work_of(fed, &of[j]);
        turn[j] = weft_device_turn(&fed->device, of[j].client, round, &work);
    }
    int64_t most = fed->options.cohort; /* of answers */
    if (fed->modes.privacy) most = n > 0 ? n : 1;
    weft_closing end = weft_device_close(&fed->device, (int)most, (int)n, turn, tmp);
    for (int64_t j = 0; j < n; j++) {
        of[j].lost = turn[j].status != WEFT_AVERAGED;
        of[j].late = turn[j].status == WEFT_LATE;
        of[j].seconds = turn[j].seconds;
    }
    return end;
}

/* The weight of a client's change in the average. */
static double weight_of(const fed_task *fed, const fed_client *client)
{
    if (fed->modes.choice && fed_choice_weighs(fed)) return fed_choice_weight(fed, client);
    int plain =
        fed->options.average == FED_PLAIN || fed->algorithm->plain || fed->modes.privacy;
    return client->samples == 0 ? 0 : plain ? 1 : (double)client->samples;
}

static struct round round_new(fed_task *fed, const weft_job *job,
                              const fed_trial_state *trial, weft_arena *tmp)
{
    int64_t round = (int64_t)trial->head->round;
    fed_turn turn = {.round = (uint64_t)round,
                     .before = fed_scores(fed, job, FED_BEFORE),
                     .train = 1,
                     .after = fed_scores(fed, job, FED_AFTER),
                     .part = WEFT_VALID,
                     .cap = fed->options.max_valid,
                     .most = fed->balance.worst};
    weft_mix mix = job->mix;
    mix.logp = trial->res->logp;
    struct round own = {0};
    if (fed->modes.buffer) {
        own.queue = fed_buffer_advance(fed, trial, &mix, tmp);
        own.cohort = fed_buffer_cohort(own.queue, &turn, tmp);
        own.end = fed_buffer_end(own.queue);
    } else {
        int64_t *number, n = fed->modes.privacy
                                 ? fed_privacy_draw(fed, job->trial, round, &number, tmp)
                                 : draw_clients(fed, round, trial->memory, &number, tmp);
        own.cohort = fed_cohort_new(fed, &turn, job->trial, &mix, n > 0 ? n : 1, tmp);
        fed_cohort_fill(fed, &own.cohort, n, number, 0);
        own.end = close_devices(fed, round, n, own.cohort.client, tmp);
    }
    double weight = 0; /* bound of their sum, which fixes the scale of sums */
    for (int64_t j = 0; j < own.cohort.n; j++) {
        fed_client *client = &own.cohort.client[j];
        weight += client->weight = weight_of(fed, client);
    }
    fed_deal(fed, &own.cohort);
    if (fed->modes.rule) fed_rule_begin(fed, &own.cohort);
    own.scale = fed->modes.privacy ? fed_privacy_begin(fed, trial)
                                   : weft_exact_scale(fed->client.max_change * weight);
    return own;
}

/* ---- lower bounds of virtual time ---- */

/* The options with the least work that a client can draw from the mixture; for one
 * configuration, its options. */
static fed_training cheapest(const fed_task *fed, const weft_mix *mix)
{
    fed_training least = fed->client;
    int epochs = 0;
    for (int i = 0; i < mix->k; i++) {
        if (!(mix->logp[i] > -INFINITY)) continue;
        fed_training training = fed->client;
        weft_space_put(fed->env.space, mix->conf + (size_t)i * mix->dim, &fed_training_kind,
                       &training);
        if (epochs == 0 || training.epochs < epochs) epochs = training.epochs;
    }
    least.epochs = epochs;
    return least;
}

static double least_of_round(const fed_task *fed, const fed_training *least, int64_t round,
                             weft_arena *tmp)
{
    int64_t *number, n = draw_clients(fed, round, NULL, &number, tmp);
    fed_turn turn = {.part = WEFT_VALID};
    fed_client *client = WEFT_NEW(tmp, fed_client, n);
    for (int64_t j = 0; j < n; j++) {
        client[j] =
            (fed_client){.client = number[j], .options = *least, .special = fed->special};
        fed_size(fed, &turn, &client[j]);
    }
    return close_devices(fed, round, n, client, tmp).seconds;
}

double fed_seconds(const void *self, const weft_job *job, double before)
{
    const fed_task *fed = self;
    if (!weft_device_timed(&fed->device) || !(job->resource >= 1)) return job->resource;
    if (fed->modes.buffer) return fed_buffer_seconds(fed, job, before);
    if (fed_choice_remembered(fed) > 0) return 0; /* who is asked is not known before */
    fed_training least = cheapest(fed, &job->mix);
    WEFT_SCRATCH(tmp);
    double sum = 0;
    for (int64_t u = 0; u < (int64_t)job->resource; u++) {
        WEFT_REWIND(tmp);
        sum += least_of_round(fed, &least, (int64_t)before + u, tmp);
    }
    return sum > 0 || job->mix.k > 1 ? sum : job->resource;
}

/* ---- turns ---- */

static weft_status take_turns(fed_task *fed, const struct round *round,
                              const fed_trial_state *trial)
{
    double *sum = fed->work.sum;
    memset(sum, 0, (size_t)fed->at.summed * sizeof *sum);
    fed_turns turns = fed_turns_of(&round->cohort, round->from);
    turns.scale = round->scale;
    turns.scale_more = round->scale_more;
    turns.sum = sum;
    turns.begun = fed->algorithm->bound != NULL;
    return round->queue ? fed_buffer_turns(fed, trial, &turns)
                        : fed_take_turns(fed, &turns);
}

/* ---- late clients ---- */

/* With a deadline the score of a configuration is a mean over all available clients that
 * draw it, late ones too: without these each configuration would be scored on the clients
 * that are fast enough for it, on different populations. A late client gets the worst
 * possible score, as does one that diverged: neither returns weights. Its score before
 * training, taken as the mean of those that answered where differences are scored, would
 * make being late cost nothing when training improves little.
 *
 * Not counted are clients that are unavailable or drop out, which no option influences, and
 * the surplus of an over-selection. In a mixture a slow configuration has more of these,
 * and so fewer scores, those of its faster clients, which does not tell how it would
 * perform if all clients drew it. */
static void charge_late(const fed_task *fed, const fed_cohort *cohort)
{
    double loss = 0, wrong = 0, weighed = 0, count = 0;
    for (int64_t j = 0; j < cohort->n; j++) {
        loss += cohort->told[j].loss[FED_BEFORE];
        wrong += cohort->told[j].wrong[FED_BEFORE];
        weighed += cohort->told[j].weighed[FED_BEFORE];
        count += cohort->told[j].count;
    }
    for (int64_t j = 0; j < cohort->n; j++) {
        if (!cohort->client[j].late) continue;
        fed_client_result *result = &cohort->told[j];
        *result = (fed_client_result){
            .count = fed_predictions(fed, &cohort->client[j], WEFT_VALID), .late = 1};
        result->loss[FED_BEFORE] = count > 0 ? loss / count * result->count : 0;
        result->wrong[FED_BEFORE] = count > 0 ? wrong / count * result->count : 0;
        result->loss[FED_AFTER] = fed->balance.worst * result->count;
        result->weighed[FED_BEFORE] = count > 0 ? weighed / count * result->count : 0;
        result->wrong[FED_AFTER] = result->weighed[FED_AFTER] = result->count;
    }
}

/* ---- server ---- */

/* The mean change of the weights, of sums over clients of this weight in all, or what
 * rule.kind makes of the changes; the further sums become means, in place. */
static real *mean_change(fed_task *fed, const struct round *round, double weight,
                         int64_t *wire)
{
    double unit = ldexp(1, -round->scale) / weight,
           unit_more = ldexp(1, -round->scale_more) / weight;
    real *delta = fed->work.g;
    if (fed->modes.rule)
        fed_rule_change(fed, &round->cohort, fed->work.sum, delta);
    else
        for (int64_t i = 0; i < fed->nweight; i++)
            delta[i] = (real)((double)wire[i] * unit);
    for (int64_t i = fed->nweight; i < fed->at.summed; i++) {
        double mean = (double)wire[i] * unit_more;
        memcpy(&wire[i], &mean, sizeof mean);
    }
    return delta;
}

/* The same as the server has it: by sketches, with noise. */
static real *change_received(fed_task *fed, const struct round *round,
                             fed_trial_state *trial, double weight, int64_t *wire)
{
    real *delta = mean_change(fed, round, weight, wire);
    if (fed->modes.compress) fed_compress_mean(fed, trial->x, delta);
    if (fed->modes.privacy) fed_privacy_mean(fed, trial, round->scale, wire, delta);
    return delta;
}

/* Updates the server by the clients that did not diverge; wire[summed]: sums over them. */
static void move_server(fed_task *fed, const struct round *round, fed_trial_state *trial,
                        int64_t *wire)
{
    const fed_layout *layout = &fed->at;
    const fed_cohort *cohort = &round->cohort;
    double weight = 0, divisor = 0;
    int64_t averaged = 0;
    for (int64_t j = 0; j < cohort->n; j++) {
        const fed_client *client = &cohort->client[j];
        if (client->lost || cohort->told[j].diverged > 0 || !(client->weight > 0)) continue;
        weight += client->weight;
        divisor += client->weight * fed_divisor(fed, client);
        averaged++;
    }
    if (fed->modes.privacy) weight = divisor = (double)(averaged = fed->options.cohort);
    if (averaged == 0) return;
    real *delta = change_received(fed, round, trial, weight, wire);
    weft_server server = fed->server;
    weft_space_put(fed->env.space, cohort->mix.conf, &weft_server_kind, &server);
    void *special = cohort->client[0].special; /* it is not needed any more */
    memcpy(special, fed->special, fed->algorithm->kind.size);
    weft_space_put(fed->env.space, cohort->mix.conf, &fed->algorithm->kind, special);
    weft_aggregate aggregate = {.n = fed->nweight,
                                .options = special,
                                .x = trial->x,
                                .shared = trial->x + layout->shared,
                                .delta = delta,
                                .sums = (const double *)(const void *)(wire + fed->nweight),
                                .averaged = (double)averaged,
                                .divisor = divisor / weight,
                                .clients = (double)fed->old.n,
                                .server = &server,
                                .round = (int64_t)trial->head->steps,
                                .slots = trial->x + layout->slots};
    if (fed->algorithm->server)
        fed->algorithm->server(&aggregate);
    else
        weft_aggregate_step(&aggregate);
    if (fed->net->project) fed->net->project(fed->model, trial->x);
    weft_server_average(&server, (int64_t)trial->head->steps, fed->at.nlive, trial->x,
                        trial->x + layout->live);
    trial->head->steps++;
}

/* Updates the mixture by the scores of the clients that answered or were late. */
static void move_mix(const fed_task *fed, const weft_job *job, fed_cohort *cohort,
                     fed_trial_state *trial, weft_arena *tmp)
{
    if (job->update.schedule == WEFT_UPDATE_NONE) return;
    int nblock = cohort->mix.nblock;
    int *pick = WEFT_NEW(tmp, int, cohort->n *nblock);
    double *s[2] = {WEFT_NEW(tmp, double, cohort->n), WEFT_NEW(tmp, double, cohort->n)};
    double *v = WEFT_NEW(tmp, double, cohort->n);
    double sum = 0;
    int n = 0;
    for (int64_t j = 0; j < cohort->n; j++) {
        const fed_client_result *result = &cohort->told[j];
        if (!(result->count > 0) || cohort->pick[j * nblock] < 0) continue;
        memcpy(pick + n * nblock, cohort->pick + j * nblock, (size_t)nblock * sizeof *pick);
        for (int stage = 0; stage < 2; stage++)
            s[stage][n] = fed_sum_of(fed, result, stage) / result->count;
        v[n] = result->count * cohort->client[j].aged;
        sum += v[n++];
    }
    for (int e = 0; e < n; e++) v[e] /= sum;
    if (job->update.schedule == WEFT_UPDATE_RACING)
        weft_mix_race_step(&job->update, trial->evidence, &cohort->mix, n, pick,
                           s[FED_BEFORE], s[FED_AFTER], v);
    else
        weft_mix_update_step(&job->update, &trial->head->drift, &cohort->mix, n, pick,
                             s[FED_BEFORE], s[FED_AFTER], v);
}

/* ---- the record ---- */

static void add_arms(const fed_task *fed, const fed_cohort *cohort, int64_t j,
                     fed_trial_state *trial)
{
    const fed_client_result *result = &cohort->told[j];
    int stage = cohort->turn.after ? FED_AFTER : FED_BEFORE;
    int failed = result->diverged > 0 || result->late > 0;
    for (int e = 0; e < cohort->mix.nblock; e++) {
        int i = cohort->pick[j * cohort->mix.nblock + e];
        if (i < 0) continue;
        trial->res->arm_loss[i] +=
            failed ? fed->balance.worst * result->count : result->loss[stage];
        trial->res->arm_wrong[i] += failed ? result->count : result->wrong[stage];
        trial->res->arm_count[i] += result->count;
        if (fed->options.score != FED_BALANCED) continue;
        double *score = &trial->res->arm_score[i]; /* a sum, until the job ends */
        if (isnan(*score)) *score = 0;
        *score += failed ? result->count : result->weighed[stage];
    }
}

static void fill_row(const struct round *round, const fed_score_sums *sums,
                     double train_loss, double *row)
{
    const fed_cohort *cohort = &round->cohort;
    const weft_closing *end = &round->end;
    double before[2] = {NAN, NAN}, after[2] = {NAN, NAN};
    if (cohort->turn.before) fed_sums_means(sums, FED_BEFORE, before);
    if (cohort->turn.after) fed_sums_means(sums, FED_AFTER, after);
    row[FED_ROW_BEFORE_LOSS] = before[0];
    row[FED_ROW_BEFORE_ERROR] = before[1];
    row[FED_ROW_AFTER_LOSS] = after[0];
    row[FED_ROW_AFTER_ERROR] = after[1];
    row[FED_ROW_TRAIN_LOSS] = train_loss;
    row[FED_ROW_DROPPED] = end->away + end->dropped + end->late;
    row[FED_ROW_SURPLUS] = end->surplus;
    row[FED_ROW_SECONDS] = end->seconds;
    row[FED_ROW_ENERGY] = end->energy;
    row[FED_ROW_BYTES] = end->bytes;
    row[FED_ROW_ENTROPY] = weft_mix_entropy(&cohort->mix);
}

/* Warns, once, that a whole cohort diverged or was late. */
static void warn(fed_task *fed, int late, const fed_trial_state *trial, const double *row)
{
    if (fed->told.warned || row[FED_ROW_CLIENTS] > 0 ||
        (row[FED_ROW_DIVERGED] < 1 && late == 0))
        return;
    fed->told.warned = 1;
    if (row[FED_ROW_DIVERGED] > 0)
        weft_log(
            WEFT_WARN,
            "all %.0f clients of round %.0f of trial %.0f diverged, so the weights "
            "do not change; client.lr may be too high, or numbers of the data too large",
            row[FED_ROW_DIVERGED], trial->head->round, trial->head->trial);
    else
        weft_log(
            WEFT_WARN,
            "all %d clients of round %.0f of trial %.0f missed device.deadline = %g "
            "s, so the weights do not change; allow more time, or use fewer client.epochs",
            late, trial->head->round, trial->head->trial, fed->device.deadline);
}

/* Means of the workers' own metrics over the clients that have them. */
static void average_own(fed_task *fed, const fed_cohort *cohort)
{
    for (int i = 0; i < fed->told.n; i++) {
        double sum = 0, n = 0;
        for (int64_t j = 0; j < cohort->n; j++) {
            if (cohort->client[j].lost || !isfinite(cohort->told[j].own[i])) continue;
            sum += cohort->told[j].own[i];
            n++;
        }
        fed->told.mean[i] = sum / n;
    }
}

/* The same of sums with noise; what has none is left out. */
static void write_noised(const fed_task *fed, const struct round *round,
                         fed_trial_state *trial, double *row)
{
    fed_score_sums seen = fed_privacy_scores(fed, &round->cohort, trial);
    int stage = round->cohort.turn.after ? FED_AFTER : FED_BEFORE;
    if (seen.n > 0) {
        trial->res->arm_loss[0] += seen.loss[stage];
        trial->res->arm_wrong[0] += seen.wrong[stage];
        trial->res->arm_count[0] += seen.v;
    }
    fed_privacy_adapt(fed, &round->cohort, trial);
    fed_trial_enter(fed, trial, &seen);
    fill_row(round, &seen, NAN, row);
    fed_privacy_hide(fed, row);
}

/* Sums the results of the round, in the order of the cohort. */
static void write_record(fed_task *fed, const struct round *round, fed_trial_state *trial,
                         double *row)
{
    const fed_cohort *cohort = &round->cohort;
    fed_score_sums seen = {0};
    double loss = 0, count = 0;
    for (int64_t j = 0; j < cohort->n; j++) {
        const fed_client_result *result = &cohort->told[j];
        fed_sums_add(fed, &seen, result);
        add_arms(fed, cohort, j, trial);
        if (cohort->client[j].lost) continue;
        row[FED_ROW_SAMPLES] += result->steps;
        row[FED_ROW_DIVERGED] += result->diverged;
        if (result->diverged > 0) continue;
        row[FED_ROW_CLIENTS]++;
        loss += result->train_loss;
        count += result->train_count;
    }
    fed_sums_worst(fed, &seen, cohort->n, cohort->told, fed->work.tmp);
    fed_trial_enter(fed, trial, &seen);
    trial->head->train_loss += loss;
    trial->head->train_count += count;
    trial->head->seconds += round->end.seconds;
    fill_row(round, &seen, loss / count, row);
    average_own(fed, cohort);
    warn(fed, round->end.late, trial, row);
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

/* The scale of further sums, which clients bound: the first rank computes the bounds, for
 * which rows of clients in their first turn begin. Collective. */
static int scale_more(fed_task *fed, const struct round *round,
                      const fed_trial_state *trial, weft_arena *tmp)
{
    const fed_cohort *cohort = &round->cohort;
    double more = 0, *bound = WEFT_NEW(tmp, double, cohort->n);
    int root = fed->env.team->rank == 0;
    for (int64_t i = 0; i < cohort->n && root; i++) {
        int64_t j = cohort->keep.of ? cohort->keep.of[i] : i;
        real *row = cohort->keep.of ? cohort->keep.all + i * fed->at.each : NULL;
        const fed_client *client = &cohort->client[j];
        const real *x = round->queue ? fed_buffer_from(fed, trial, client) : round->from;
        bound[j] = fed_bound(fed, client, x, row);
    }
    weft_bcast(fed->env.team, bound, (size_t)cohort->n * sizeof *bound, 0);
    for (int64_t j = 0; j < cohort->n; j++) more += cohort->client[j].weight * bound[j];
    return weft_exact_scale(more);
}

static weft_status train(fed_task *fed, const weft_job *job, fed_trial_state *trial,
                         double *row, weft_arena *tmp)
{
    TRY(fed_privacy_check(fed, job));
    TRY(fed_worker_try(fed));
    fed->work.tmp = tmp;
    struct round round = round_new(fed, job, trial, tmp);
    fed_cohort *cohort = &round.cohort;
    round.from = trial->x;
    if (fed->modes.compress)
        round.from = fed_compress_view(fed, (int64_t)trial->head->round, trial->x, tmp);
    TRY(fed_keep_read(fed, trial->kept, cohort));
    if (fed->algorithm->bound) round.scale_more = scale_more(fed, &round, trial, tmp);
    fed_keep_send(fed, &cohort->keep);
    weft_status st = take_turns(fed, &round, trial);
    int64_t *wire = whole(fed->work.sum, fed->at.summed);
    int64_t apart = fed->modes.rule ? fed->nweight : 0; /* a rule needs no sum of changes */
    TRY(fed_exchange(fed, st, wire + apart, fed->at.summed - apart, cohort));
    TRY(fed_keep_write(fed, trial->kept, trial->mark, cohort));
    fed_choice_learn(fed, cohort, trial->memory);
    if (round.queue) {
        fed_buffer_commit(round.queue, trial);
        fed_buffer_charge(round.queue, cohort);
        fed_buffer_record(cohort, (int64_t)trial->head->round, row);
    }
    charge_late(fed, cohort);
    move_server(fed, &round, trial, wire);
    if (fed->modes.compress) fed_compress_end(fed, trial->x, round.from);
    move_mix(fed, job, cohort, trial, tmp);
    if (fed->modes.privacy)
        write_noised(fed, &round, trial, row);
    else
        write_record(fed, &round, trial, row);
    trial->head->round++;
    return WEFT_OK;
}

/* Swaps the weights at the beginning of x, an average, with those that are trained. */
static void swap_live(const fed_layout *layout, real *x)
{
    real *live = x + layout->live;
    for (int64_t i = 0; i < layout->nlive; i++) {
        real average = x[i];
        x[i] = live[i];
        live[i] = average;
    }
}

weft_status fed_round(fed_task *fed, const weft_job *job, fed_trial_state *trial,
                      double *row, weft_arena *tmp)
{
    swap_live(&fed->at, trial->x);
    weft_status st = train(fed, job, trial, row, tmp);
    swap_live(&fed->at, trial->x);
    return st;
}
