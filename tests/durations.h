/* For tests of the scheduler: a toy task's jobs of very different durations and costs, and
 * what runs of it have in common. */
#ifndef WEFT_TEST_DURATIONS_H
#define WEFT_TEST_DURATIONS_H

#include "rundir/rundir.h"
#include "sched/sched.h"
#include "weft/base/random.h"

#include <math.h>

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

/* The team of this rank, of so many of the world; own: where it is put, if there are
 * several. */
static weft_team *team_of(weft_team *world, int teams, weft_team *own)
{
    if (teams > 1) weft_team_split(world, teams, own);
    return teams > 1 ? own : world;
}

/* Opens the trace of a run, if it has a path: fresh 2: replaces what is there; 0: goes on
 * with it. */
static weft_status open_trace(weft_sched *sched, const char *path, int fresh,
                              weft_rundir *trace)
{
    if (!path) return WEFT_OK;
    TRY(weft_rundir_open(trace, path, fresh, sched->world, sched->mem));
    sched->rundir = trace;
    return fresh ? weft_rundir_begin(trace, "[toy]\n", "digest", 1e4) : WEFT_OK;
}

/* Frees what a run had; done 1: to its end. */
static void end_run(weft_sched *sched, int done)
{
    weft_cache_free(sched);
    weft_sleep(sched->world); /* another team may be reading the winner's state */
    if (sched->rundir) weft_rundir_close(sched->rundir, done);
    if (sched->team != sched->world) weft_team_free(sched->team);
    weft_arena_free(sched->mem);
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
