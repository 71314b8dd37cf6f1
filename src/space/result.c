/* Results of jobs, and the tables of what tasks measure. Called by tuners, tasks and run.
 */
#include "weft/space.h"

#include <math.h>
#include <string.h>

#define ARM_COLUMNS 4 /* arm_loss, arm_wrong, arm_count, logp, one after the other */

double weft_result_score(const weft_result *r, int i)
{
    if (!(r->arm_count[i] > 0)) return NAN;
    return (r->by_error ? r->arm_wrong : r->arm_loss)[i] / r->arm_count[i];
}

weft_result weft_result_new(int k, int nmetric, weft_arena *mem)
{
    double *arm = WEFT_NEW(mem, double, ARM_COLUMNS *(size_t)k);
    double *metric = WEFT_NEW(mem, double, nmetric);
    for (int i = 0; i < nmetric; i++) metric[i] = NAN;
    return (weft_result){.k = k,
                         .nmetric = nmetric,
                         .metric = metric,
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
}

weft_scores weft_scores_none(void)
{
    weft_scores s = {.count = 0};
    for (int i = 0; i < WEFT_MAX_SCORES; i++) s.metric[i] = NAN;
    return s;
}
