/* Results of jobs, and the tables of what tasks measure. */
#include "weft/job.h"
#include "weft/scores.h"

#include <math.h>
#include <string.h>

double weft_result_score(const weft_result *res, int i)
{
    if (!(res->arm_count[i] > 0)) return NAN;
    if (!isnan(res->arm_score[i])) return res->arm_score[i];
    return (res->by_error ? res->arm_wrong : res->arm_loss)[i] / res->arm_count[i];
}

double weft_result_tie(const weft_result *res)
{
    return res->nmetric > 0 ? res->metric[0] : (double)NAN;
}

weft_rank weft_result_rank(const weft_result *res)
{
    return weft_rank_of(res->loss, weft_result_tie(res), res->trial);
}

weft_rank weft_result_rank_of(const weft_result *res, int i)
{
    return weft_rank_of(weft_result_score(res, i), res->arm_loss[i] / res->arm_count[i], i);
}

int weft_result_guesses(const weft_result *res, double guess)
{
    const double most = 0.02; /* few samples tell little: that is no guess */
    double n = 0;
    if (!res->by_error || !(guess > 0)) return 0;
    for (int i = 0; i < res->k; i++) n += res->arm_count[i];
    double chance = 1.96 * sqrt(guess * (1 - guess) / n);
    return res->loss > guess - fmin(chance, most);
}

weft_result weft_result_new(int k, int nmetric, weft_arena *mem)
{
    weft_result res = weft_result_in(k, WEFT_NEW(mem, double, WEFT_ARM_COLUMNS *(size_t)k));
    res.nmetric = nmetric;
    res.metric = WEFT_NEW(mem, double, nmetric);
    for (int i = 0; i < nmetric; i++) res.metric[i] = NAN;
    return res;
}

weft_result weft_result_in(int k, double *arm)
{
    double *score = arm + 3 * (size_t)k;
    for (int i = 0; i < k; i++) score[i] = NAN;
    return (weft_result){.k = k,
                         .metric = arm,
                         .arm_loss = arm,
                         .arm_wrong = arm + k,
                         .arm_count = arm + 2 * (size_t)k,
                         .arm_score = score,
                         .logp = score + k};
}

void weft_result_begin(weft_result *res, const weft_job *job)
{
    size_t k = (size_t)res->k;
    memset(res->arm_loss, 0, k * sizeof(double));
    memset(res->arm_wrong, 0, k * sizeof(double));
    memset(res->arm_count, 0, k * sizeof(double));
    for (size_t i = 0; i < k; i++) res->arm_score[i] = NAN;
    memcpy(res->logp, job->mix.logp, k * sizeof(double));
    res->failure = WEFT_SUCCEEDED;
    res->why = NULL;
}

weft_scores weft_scores_none(void)
{
    weft_scores scores = {.count = 0};
    for (int i = 0; i < WEFT_MAX_SCORES; i++) scores.metric[i] = NAN;
    return scores;
}
