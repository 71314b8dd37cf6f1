/* For toy tasks of the scheduler with one axis, gamma: their options, and the digest of a
 * run. */
#ifndef WEFT_TEST_TOY_AXIS_H
#define WEFT_TEST_TOY_AXIS_H

#include "sched/sched.h"

/* What the instance of a toy begins with. */
typedef struct toy_axis {
    double gamma;
} toy_axis;

static const weft_opt toy_opts[] = {
    WEFT_REAL_OPT("gamma", toy_axis, gamma, "1", 0, 100, "best is 3",
                  .role = WEFT_PER_SAMPLE),
    {0},
};

/* Digest of the jobs and of the winner's state; 0 if that is lost. */
static inline uint64_t sched_digest(weft_sched *sched)
{
    const weft_state *state;
    if (weft_cache_winner(sched, &state) != WEFT_OK) return 0;
    return weft_state_hash(state) ^
           weft_job_record_digest(sched->queue.record, sched->queue.n);
}

#endif
