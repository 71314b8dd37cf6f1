/* The state of a trial: everything that later rounds need in addition to weights and
 * optimizer is in its doubles, so that a job can be stopped after any round. The scores of
 * the last rounds are pooled here to the score that a tuner minimises. */
#include "buffer.h"
#include "choice.h"
#include "privacy.h"

#include <math.h>
#include <stddef.h>
#include <string.h>

/* ---- state ---- */

enum { HEAD = sizeof(fed_trial_head) / sizeof(double) };
enum { SUMS = sizeof(fed_score_sums) / sizeof(double) };

/* Number of doubles before the head. */
static int64_t mark_of(const fed_task *fed)
{
    return fed->at.each > 0 ? WEFT_KEPT_MARK : 0;
}

/* Of these behind the ring: the clip, where it moves. */
static int64_t clip_of(const fed_task *fed)
{
    return fed->modes.privacy && fed->modes.privacy->quantile > 0;
}

int64_t fed_trial_size(const fed_task *fed, int k)
{
    return mark_of(fed) + HEAD + fed->options.pool * SUMS + clip_of(fed) +
           fed_choice_remembered(fed) + fed_buffer_doubles(fed) +
           (k > 1 ? 2 * (int64_t)k : 0);
}

void fed_trial_start(const fed_task *fed, weft_state *state)
{
    fed_trial_head none = {.trial = -1};
    memcpy(state->aux + mark_of(fed), &none, sizeof none);
    fed_choice_begin(fed, state->aux + mark_of(fed) + HEAD + fed->options.pool * SUMS);
}

fed_trial_state fed_trial_open(const fed_task *fed, const weft_job *job, int64_t unit,
                               weft_state *state, weft_result *res)
{
    double *head = state->aux + mark_of(fed), *ring = head + HEAD,
           *clip = ring + fed->options.pool * SUMS, *memory = clip + clip_of(fed),
           *flights = memory + fed_choice_remembered(fed),
           *evidence = flights + fed_buffer_doubles(fed);
    size_t nevidence = (size_t)(state->aux + state->naux - evidence);
    fed_trial_state trial = {.x = state->x,
                             .kept = state->kept,
                             .mark = state->aux,
                             .head = (fed_trial_head *)head,
                             .clip = clip_of(fed) ? clip : NULL,
                             .ring = (fed_score_sums *)ring,
                             .memory = memory,
                             .flights = flights,
                             .evidence = evidence,
                             .res = res};
    if (unit > 0) return trial;
    if (fabs(trial.head->trial - (double)job->trial) > 0) { /* the state is new, or of
                                                           another trial */
        *trial.head = (fed_trial_head){.trial = (double)job->trial,
                                       .round = trial.head->round,
                                       .steps = trial.head->steps,
                                       .best = INFINITY};
        memset(trial.ring, 0, (size_t)fed->options.pool * sizeof *trial.ring);
        memset(trial.evidence, 0, nevidence * sizeof *trial.evidence);
    }
    trial.head->train_loss = trial.head->train_count = trial.head->seconds = 0;
    return trial;
}

/* ---- scores ---- */

/* Each round draws from all clients, so that a client may occur several times: no finite
 * population correction. */
static const weft_population unlimited = {INFINITY, 0};

int fed_scores(const fed_task *fed, const weft_job *job, int stage)
{
    int moves = job->update.schedule != WEFT_UPDATE_NONE;
    if (fed->options.score_both) return 1;
    if (fed->modes.privacy && !fed_rounds_scored(fed)) return 0;
    if (stage == FED_AFTER) return fed->options.score_weights == FED_PERSONAL || moves;
    return fed->options.score_weights == FED_GLOBAL || (moves && job->update.diff);
}

/* The worst possible score: error 1, or loss fed.worst. */
static double worst_score(const fed_task *fed)
{
    return fed->options.score == FED_LOSS ? fed->balance.worst : 1;
}

double fed_sum_of(const fed_task *fed, const fed_client_result *told, int stage)
{
    if (fed->options.score == FED_BALANCED) return told->weighed[stage];
    return fed->options.score == FED_LOSS ? told->loss[stage] : told->wrong[stage];
}

/* Number of predictions of a client times its score. */
static double sum_of(const fed_task *fed, const fed_client_result *told)
{
    if (told->diverged > 0 || told->late > 0) return worst_score(fed) * told->count;
    return fed_sum_of(fed, told,
                      fed->options.score_weights == FED_GLOBAL ? FED_BEFORE : FED_AFTER);
}

static void merge(fed_score_sums *to, const fed_score_sums *sums)
{
    double *sum = (double *)(void *)to;
    const double *more = (const double *)(const void *)sums;
    for (int i = 0; i < SUMS; i++) sum[i] += more[i];
}

void fed_sums_add(const fed_task *fed, fed_score_sums *to, const fed_client_result *told)
{
    double v = told->count;
    if (!(v > 0)) return;
    fed_score_sums one = {.n = 1, .v = v, .vs = sum_of(fed, told), .vv = v * v};
    one.vss = one.vs * one.vs / v;
    if (!(told->late > 0)) {
        one.answered = v;
        memcpy(one.loss, told->loss, sizeof one.loss);
        memcpy(one.wrong, told->wrong, sizeof one.wrong);
    }
    merge(to, &one);
}

void fed_sums_worst(const fed_task *fed, fed_score_sums *sums, int64_t n,
                    const fed_client_result *told, weft_arena *tmp)
{
    if (fed->options.score != FED_WORST) return;
    WEFT_REWIND(tmp);
    weft_placed *order = WEFT_NEW(tmp, weft_placed, n);
    fed_score_sums worst = {0};
    int64_t m = 0;
    for (int64_t j = 0; j < n; j++)
        if (told[j].count > 0)
            order[m++] = (weft_placed){sum_of(fed, &told[j]) / told[j].count, j};
    weft_sort_falling(m, order);
    for (int64_t i = 0; i < (m + 9) / 10; i++)
        fed_sums_add(fed, &worst, &told[order[i].at]);
    memcpy(sums, &worst, offsetof(fed_score_sums, answered));
}

weft_interval fed_sums_score(const fed_score_sums *sums, weft_population all)
{
    if (!(sums->n > 0)) return (weft_interval){NAN, INFINITY};
    double mean = sums->vs / sums->v;
    double around = fmax(sums->vss - mean * mean * sums->v, 0);
    return weft_interval_of((int)sums->n, sums->v, sums->vv, mean, around, all);
}

void fed_sums_means(const fed_score_sums *sums, int stage, double *metric)
{
    metric[0] = sums->loss[stage] / sums->answered;
    metric[1] = sums->wrong[stage] / sums->answered;
}

void fed_trial_enter(const fed_task *fed, fed_trial_state *trial,
                     const fed_score_sums *seen)
{
    double score = seen->n > 0 ? seen->vs / seen->v : (double)NAN;
    trial->ring[(int64_t)trial->head->rounds % fed->options.pool] = *seen;
    trial->head->rounds++;
    if (score < trial->head->best) trial->head->best = score;
}

/* ---- result ---- */

/* The score that the tuner is told, and its interval. The worst score is used as the bound
 * if an interval cannot be estimated, as from a single client. */
static weft_interval selected(const fed_task *fed, const fed_trial_state *trial,
                              weft_interval pooled, weft_interval eval)
{
    int64_t rounds = (int64_t)trial->head->rounds;
    switch (fed->options.select) {
    case FED_BOUND:
        if (!isnan(pooled.score))
            pooled.score = fmin(pooled.score + pooled.half, worst_score(fed));
        return pooled;
    case FED_LAST:
        if (rounds == 0) return (weft_interval){NAN, NAN};
        return fed_sums_score(&trial->ring[(rounds - 1) % fed->options.pool], unlimited);
    case FED_BEST: return (weft_interval){trial->head->best, pooled.half};
    case FED_EVAL: return eval;
    default: return pooled;
    }
}

/* Means before and after training: of the evaluation, if there was one, else pooled. */
static void fill_means(const fed_task *fed, const fed_score_sums *sums, int before,
                       int after, weft_result *res)
{
    double *m = res->metric;
    if (before) fed_sums_means(sums, FED_BEFORE, m + FED_GLOBAL_LOSS);
    if (after) fed_sums_means(sums, FED_AFTER, m + FED_PERSONAL_LOSS);
    int personal = fed->options.score_weights == FED_PERSONAL;
    m[FED_VALID_LOSS] = m[personal ? FED_PERSONAL_LOSS : FED_GLOBAL_LOSS];
    m[FED_VALID_ERROR] = m[personal ? FED_PERSONAL_ERROR : FED_GLOBAL_ERROR];
}

/* The bound of a score with noise: of the evaluation where that is told, or of the last
 * rounds together. */
static void bound_noise(const fed_task *fed, const weft_job *job,
                        const fed_score_sums *rounds, const fed_score_sums *eval,
                        weft_result *res)
{
    const int personal = fed->options.score_weights == FED_PERSONAL;
    const int stages = fed_scores(fed, job, FED_BEFORE) + fed_scores(fed, job, FED_AFTER);
    double cohort = (double)fed->options.cohort;
    res->noised = 1;
    res->bound = fed->options.select == FED_EVAL
                     ? fed_privacy_half(fed, eval->n, 1, 1 + personal)
                     : fed_privacy_half(fed, rounds->n, rounds->n / cohort, stages);
}

void fed_trial_result(const fed_task *fed, const weft_job *job,
                      const fed_trial_state *trial, const fed_score_sums *eval)
{
    fed_score_sums sum = {0};
    weft_result *res = trial->res;
    for (int64_t i = 0; i < fed->options.pool; i++) merge(&sum, &trial->ring[i]);
    weft_interval pooled = fed_sums_score(&sum, unlimited),
                  last = fed_sums_score(eval, fed->size.all);
    weft_interval told = selected(fed, trial, pooled, last);
    double half = fed->options.score == FED_WORST ? INFINITY : told.half;
    int evaluated = eval->n > 0;
    res->by_error = fed->options.score != FED_LOSS;
    for (int i = 0; i < res->k; i++) res->arm_score[i] /= res->arm_count[i];
    res->note = fed_worker_note(fed);
    res->loss = told.score;
    res->bound = isfinite(half) ? half : (double)NAN;
    if (fed_privacy_covers(fed)) bound_noise(fed, job, &sum, eval, res);
    if (evaluated)
        fill_means(fed, eval, 1, fed->options.score_weights == FED_PERSONAL, res);
    else
        fill_means(fed, &sum, fed_scores(fed, job, FED_BEFORE),
                   fed_scores(fed, job, FED_AFTER), res);
    res->metric[FED_TRAIN_LOSS] = trial->head->train_loss / trial->head->train_count;
    res->cost = trial->head->seconds > 0 ? trial->head->seconds : job->resource;
}
