/* For tests of the scheduler: a toy task's jobs of very different durations and costs. */
#ifndef WEFT_TEST_DURATIONS_H
#define WEFT_TEST_DURATIONS_H

#include "sched_runs.h"

/* What a task knows of durations before a job is run. */
enum { EXACT, HALF, NOTHING, NBOUND };

static double uniform(int64_t a, int64_t b, int word)
{
    return weft_rng_unit(
        weft_rng_at(5, WEFT_RNG_TEST, (uint64_t)a, (uint64_t)b, 0).v[word]);
}

static int64_t toy_affinity(const void *self, const weft_job *job)
{
    (void)self;
    return job->trial % 3;
}

static void toy_cost(const void *self, const weft_job *job, weft_cost *out)
{
    (void)self;
    *out = (weft_cost){.flops = 100 * uniform(job->trial, job->index, 1)};
}

/* From e^-3 to e^3 seconds. */
static double duration(const weft_job *job)
{
    return exp(6 * uniform(job->trial, job->index, 0) - 3);
}

/* What is known of it before. */
static double known_duration(const weft_job *job, int bound)
{
    static const double share[NBOUND] = {1, 0.5, 0};
    return share[bound] * duration(job);
}

/* Of jobs, states, and `order`, in which results were told. */
static uint64_t run_digest(weft_sched *sched, uint64_t order)
{
    const weft_state *state;
    if (weft_cache_winner(sched, &state) != WEFT_OK) return 0;
    uint64_t h = weft_state_hash(state) ^ order;
    for (int64_t i = 0; i < sched->queue.n; i++)
        h = weft_hash(&sched->queue.record[i].hash, sizeof h, h);
    return h ^ weft_job_record_digest(sched->queue.record, sched->queue.n);
}

#endif
