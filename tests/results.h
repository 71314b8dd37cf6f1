/* Copies and hashes of results, for tests that compare or repeat jobs. */
#ifndef WEFT_TEST_RESULTS_H
#define WEFT_TEST_RESULTS_H

#include "weft/base/base.h"
#include "weft/base/random.h"
#include "weft/space/job.h"

#include <string.h>

/* *to = *from in the memory of *to, which has room for as many metrics and configurations.
 */
static inline void result_copy(weft_result *to, const weft_result *from)
{
    double *const own[] = {to->metric,    to->arm_loss,  to->arm_wrong,
                           to->arm_count, to->arm_score, to->logp};
    weft_check(to->k == from->k && to->nmetric == from->nmetric, "results of other sizes");
    size_t arms = (size_t)from->k * sizeof(double);
    *to = *from;
    to->metric = memcpy(own[0], from->metric, (size_t)from->nmetric * sizeof(double));
    to->arm_loss = memcpy(own[1], from->arm_loss, arms);
    to->arm_wrong = memcpy(own[2], from->arm_wrong, arms);
    to->arm_count = memcpy(own[3], from->arm_count, arms);
    to->arm_score = memcpy(own[4], from->arm_score, arms);
    to->logp = memcpy(own[5], from->logp, arms);
}

/* Hash of all numbers of a result. */
static inline uint64_t result_hash(const weft_result *res, uint64_t h)
{
    const double number[] = {(double)res->job, (double)res->trial, res->resource, res->loss,
                             res->bound,       res->cost,          res->by_error};
    size_t arms = (size_t)res->k * sizeof(double);
    h = weft_hash(number, sizeof number, h);
    h = weft_hash(res->metric, (size_t)res->nmetric * sizeof *res->metric, h);
    h = weft_hash(res->arm_loss, arms, h);
    h = weft_hash(res->arm_wrong, arms, h);
    h = weft_hash(res->arm_count, arms, h);
    h = weft_hash(res->arm_score, arms, h);
    return weft_hash(res->logp, arms, h);
}

#endif
