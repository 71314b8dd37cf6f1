/* Results of jobs, and the tables of what tasks measure. */
#include "weft/space.h"

#include <math.h>
#include <string.h>

double weft_result_score(const weft_result *r, int i)
{
    if (!(r->arm_count[i] > 0)) return NAN;
    return (r->by_error ? r->arm_wrong : r->arm_loss)[i] / r->arm_count[i];
}

double weft_result_tie(const weft_result *r)
{
    return r->nmetric > 0 ? r->metric[0] : (double)NAN;
}

weft_rank weft_result_rank(const weft_result *r)
{
    return weft_rank_of(r->loss, weft_result_tie(r), r->trial);
}

weft_rank weft_result_rank_of(const weft_result *r, int i)
{
    return weft_rank_of(weft_result_score(r, i), r->arm_loss[i] / r->arm_count[i], i);
}

weft_result weft_result_new(int k, int nmetric, weft_arena *mem)
{
    weft_result r = weft_result_in(k, WEFT_NEW(mem, double, WEFT_ARM_COLUMNS *(size_t)k));
    r.nmetric = nmetric;
    r.metric = WEFT_NEW(mem, double, nmetric);
    for (int i = 0; i < nmetric; i++) r.metric[i] = NAN;
    return r;
}

weft_result weft_result_in(int k, double *arm)
{
    return (weft_result){.k = k,
                         .metric = arm,
                         .arm_loss = arm,
                         .arm_wrong = arm + k,
                         .arm_count = arm + 2 * (size_t)k,
                         .logp = arm + 3 * (size_t)k};
}

void weft_result_begin(weft_result *r, const weft_job *job)
{
    size_t k = (size_t)r->k;
    memset(r->arm_loss, 0, k * sizeof(double));
    memset(r->arm_wrong, 0, k * sizeof(double));
    memset(r->arm_count, 0, k * sizeof(double));
    memcpy(r->logp, job->mix.logp, k * sizeof(double));
    r->failure = WEFT_SUCCEEDED;
    r->why = NULL;
}

weft_scores weft_scores_none(void)
{
    weft_scores s = {.count = 0};
    for (int i = 0; i < WEFT_MAX_SCORES; i++) s.metric[i] = NAN;
    return s;
}
