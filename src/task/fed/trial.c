/* The state of a trial: everything that later rounds need in addition to weights and
 * optimizer is in its doubles, so that a job can be stopped after any round. The scores of
 * the last rounds are pooled here to the score that a tuner minimises. */
#include "trial.h"
#include "metrics.h"
#include "round.h"

#include <math.h>
#include <string.h>

/* ---- state ---- */

enum { HEAD = sizeof(fed_trial_head) / sizeof(double) };
enum { SUMS = sizeof(fed_score_sums) / sizeof(double) };

int64_t fed_trial_size(const fed *t, int k)
{
    return HEAD + t->pool * SUMS + (k > 1 ? 2 * (int64_t)k : 0);
}

void fed_trial_start(weft_state *state)
{
    fed_trial_head none = {.trial = -1};
    memcpy(state->aux, &none, sizeof none);
}

fed_trial_state fed_trial_open(const fed *t, const weft_job *job, int64_t unit,
                               weft_state *state, weft_result *res)
{
    double *ring = state->aux + HEAD, *evidence = ring + t->pool * SUMS;
    size_t nevidence = (size_t)(state->aux + state->naux - evidence);
    fed_trial_state b = {.x = state->x,
                         .head = (fed_trial_head *)state->aux,
                         .ring = (fed_score_sums *)ring,
                         .evidence = evidence,
                         .res = res};
    if (unit > 0) return b;
    if (fabs(b.head->trial - (double)job->trial) > 0) { /* the state is new, or of another
                                                           trial */
        *b.head = (fed_trial_head){.trial = (double)job->trial,
                                   .round = b.head->round,
                                   .steps = b.head->steps,
                                   .best = INFINITY};
        memset(b.ring, 0, (size_t)t->pool * sizeof *b.ring);
        memset(b.evidence, 0, nevidence * sizeof *b.evidence);
    }
    b.head->train_loss = b.head->train_count = b.head->seconds = 0;
    return b;
}

/* ---- scores ---- */

/* Each round draws from all clients, so that a client may occur several times: no finite
 * population correction. */
static const weft_population unlimited = {INFINITY, 0};

double fed_worst_score(const fed *t)
{
    return t->score == FED_LOSS ? t->worst : 1;
}

/* Number of predictions of a client times its score. */
static double sum_of(const fed *t, const fed_client_result *told)
{
    if (told->diverged > 0 || told->late > 0) return fed_worst_score(t) * told->count;
    int stage = t->score_weights == FED_GLOBAL ? FED_BEFORE : FED_AFTER;
    return t->score == FED_LOSS ? told->loss[stage] : told->wrong[stage];
}

static void merge(fed_score_sums *to, const fed_score_sums *s)
{
    to->n += s->n;
    to->v += s->v;
    to->vs += s->vs;
    to->vv += s->vv;
    to->vss += s->vss;
    to->answered += s->answered;
    for (int i = 0; i < 2; i++) {
        to->loss[i] += s->loss[i];
        to->wrong[i] += s->wrong[i];
    }
}

void fed_sums_add(const fed *t, fed_score_sums *to, const fed_client_result *told)
{
    double v = told->count;
    if (!(v > 0)) return;
    fed_score_sums one = {.n = 1, .v = v, .vs = sum_of(t, told), .vv = v * v};
    one.vss = one.vs * one.vs / v;
    if (!(told->late > 0)) {
        one.answered = v;
        memcpy(one.loss, told->loss, sizeof one.loss);
        memcpy(one.wrong, told->wrong, sizeof one.wrong);
    }
    merge(to, &one);
}

weft_interval fed_sums_score(const fed_score_sums *s, weft_population all)
{
    if (!(s->n > 0)) return (weft_interval){NAN, INFINITY};
    double mean = s->vs / s->v;
    double around = fmax(s->vss - mean * mean * s->v, 0);
    return weft_interval_of((int)s->n, s->v, s->vv, mean, around, all);
}

void fed_trial_enter(const fed *t, fed_trial_state *b, const fed_score_sums *seen)
{
    double score = seen->n > 0 ? seen->vs / seen->v : (double)NAN;
    b->ring[(int64_t)b->head->rounds % t->pool] = *seen;
    b->head->rounds++;
    if (score < b->head->best) b->head->best = score;
}

/* ---- result ---- */

/* The score that the tuner is told. The worst score is used as the bound if an interval
 * cannot be estimated, as from a single client. */
static double selected(const fed *t, const fed_trial_state *b, weft_interval pooled,
                       weft_interval eval)
{
    int64_t rounds = (int64_t)b->head->rounds;
    switch (t->select) {
    case FED_BOUND:
        return isnan(pooled.score) ? NAN
                                   : fmin(pooled.score + pooled.half, fed_worst_score(t));
    case FED_LAST:
        if (rounds == 0) return NAN;
        return fed_sums_score(&b->ring[(rounds - 1) % t->pool], unlimited).score;
    case FED_BEST: return b->head->best;
    case FED_EVAL: return eval.score;
    default: return pooled.score;
    }
}

/* Means before and after training: of the evaluation, if there was one, else pooled. */
static void fill_means(const fed *t, const fed_score_sums *s, int before, int after,
                       weft_result *res)
{
    double *m = res->metric;
    if (before) {
        m[FED_GLOBAL_LOSS] = s->loss[FED_BEFORE] / s->answered;
        m[FED_GLOBAL_ERROR] = s->wrong[FED_BEFORE] / s->answered;
    }
    if (after) {
        m[FED_PERSONAL_LOSS] = s->loss[FED_AFTER] / s->answered;
        m[FED_PERSONAL_ERROR] = s->wrong[FED_AFTER] / s->answered;
    }
    int personal = t->score_weights == FED_PERSONAL;
    m[FED_VALID_LOSS] = m[personal ? FED_PERSONAL_LOSS : FED_GLOBAL_LOSS];
    m[FED_VALID_ERROR] = m[personal ? FED_PERSONAL_ERROR : FED_GLOBAL_ERROR];
}

void fed_trial_result(const fed *t, const weft_job *job, const fed_trial_state *b,
                      const fed_score_sums *eval)
{
    fed_score_sums sum = {0};
    weft_result *res = b->res;
    for (int64_t i = 0; i < t->pool; i++) merge(&sum, &b->ring[i]);
    weft_interval pooled = fed_sums_score(&sum, unlimited),
                  last = fed_sums_score(eval, t->all);
    int evaluated = eval->n > 0;
    double half = (evaluated ? last : pooled).half;
    res->by_error = t->score == FED_ERROR;
    res->loss = selected(t, b, pooled, last);
    res->bound = isfinite(half) ? half : (double)NAN;
    if (evaluated)
        fill_means(t, eval, 1, t->score_weights == FED_PERSONAL, res);
    else
        fill_means(t, &sum, fed_scores(t, job, FED_BEFORE), fed_scores(t, job, FED_AFTER),
                   res);
    res->metric[FED_TRAIN_LOSS] = b->head->train_loss / b->head->train_count;
    res->cost = b->head->seconds > 0 ? b->head->seconds : job->resource;
}
