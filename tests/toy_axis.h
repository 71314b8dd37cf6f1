/* For toy tasks of the scheduler with one axis, gamma: their options, and the digest of a
 * run. */
#ifndef WEFT_TEST_TOY_AXIS_H
#define WEFT_TEST_TOY_AXIS_H

#include "sched/cache.h"
#include "weft/task.h"

/* gamma is the first member of the instance. */
static const weft_opt toy_opts[] = {{.name = "gamma",
                                     .type = WEFT_REAL,
                                     .at = 0,
                                     .def = "1",
                                     .lo = 0,
                                     .hi = 100,
                                     .about = "best is 3",
                                     .role = WEFT_PER_SAMPLE},
                                    {0}};

/* Digest of the jobs and of the winner's state; 0 if that is lost. */
static inline uint64_t sched_digest(weft_sched *s)
{
    const weft_state *state;
    if (weft_cache_winner(s, &state) != WEFT_OK) return 0;
    return weft_state_hash(state) ^ weft_job_record_digest(s->event, s->n);
}

#endif
