/* Schedules: which trial gets how much resource, and when. A schedule is a deterministic
 * state machine that is asked for jobs and told their results, in terms of trials,
 * resources and losses. It has no access to data, models or MPI, and knows no option of a
 * task; after a restart the recorded results are told again. The configuration of a trial
 * comes from a sampler (sampler.h), the mixture that its samples draw from is made by a
 * mixing (mixing.h); search.h combines the three.
 *
 * The contract, kept by all and tested over all (tests/t_tuners.c):
 * - Trials are numbered 0, 1, 2 ... in the order in which they are first asked for. Any
 *   number of configurations from 1 on is allowed.
 * - The `index` of a job is the number of jobs of its trial before it that train (where
 *   each round of shared weights is a new trial: the number of the round). Its `resource`
 *   is what to add; 0, with shared weights only: score without training. The resource of a
 *   trial in all is at most extent.resource, and equal to it after a job marked `last`.
 * - A new trial may copy the weights of another, `from`, as they are after that trial's
 *   most recent told job; otherwise from is -1. The next job of a trial may be asked for
 *   only after the result of the one before was told.
 * - Results are losses, lower is better; a diverged job has INFINITY, never NaN. Every
 *   ranking is by (loss, trial). Results may be told in any order; a schedule with `waits`
 *   asks for the same jobs in every order.
 * - `last` marks a job after which no job continues or copies its trial; `ended` reports a
 *   trial for which this became known only after its last job was asked for. At the end of
 *   a search each trial is closed by one of the two: its state is then removed.
 * - `eligibility` is WEFT_WINS_LAST for jobs whose weights serve several configurations,
 *   none of which can be the winner, and for jobs of a population before its end; at least
 *   one job of a search may win.
 * - A search ends, whatever results it is told. */
#ifndef WEFT_TUNE_H
#define WEFT_TUNE_H

#include "weft/space.h"

/* The option of a schedule that trains every job alike, for its table. The run puts the
 * task's default in place of 0; without a run, in tests, a schedule takes 0 as 1. */
#define WEFT_RESOURCE_OPT(type, at, about)                                                 \
    {                                                                                      \
        "resource", WEFT_LONG, offsetof(type, at), "0", 0, 1e9, NULL,                      \
            about ", in the task's unit; 0: fmap 1 fit or 40 iterations, fed 100 rounds, " \
                  "sgd 25 "                                                                \
                  "epochs, flow 100",                                                      \
            0                                                                              \
    }

typedef enum weft_asked { WEFT_JOB, WEFT_WAIT, WEFT_DONE } weft_asked;

/* Whose configurations a job's mixture is of. */
typedef enum weft_shared {
    WEFT_SHARES_NOTHING, /* a trial has a configuration, of the sampler, and the mixture
                            that the mixing makes around it */
    WEFT_SHARES_SPACE,   /* a trial is shared by the whole space, and the schedule itself
                            fills job->mix; no sampler, no mixing */
    WEFT_SHARES_MIXTURE  /* one trial is shared by the whole space, and the mixing moves the
                            mixture; no sampler */
} weft_shared;

/* What a schedule is going to do, as far as it knows once it is set up. */
typedef struct weft_extent {
    int64_t trials;  /* that it begins; 0: not known */
    double resource; /* of a trial at most; 0: not known */
} weft_extent;

typedef struct weft_tuner {
    weft_kind kind;
    weft_shared shared;
    /* Its options are filled already. `mem` lives as long as the schedule. ECONF, ELIMIT.
     */
    weft_status (*setup)(void *self, const weft_space *sp, uint64_t seed, weft_arena *mem);
    /* Fills job (all members but id and, but for WEFT_SHARES_SPACE, mix and update, which
     * it leaves zero) or says WAIT (tell me first) or DONE. A mixture is owned by the
     * schedule.
     */
    weft_asked (*ask)(void *self, weft_job *job);
    void (*tell)(void *self, const weft_result *res);
    /* Number of jobs that will be asked in all, as far as known; for plans and progress. */
    int64_t (*jobs)(const void *self);
    /* 1: no later job continues or copies this trial, though none of its jobs was marked
     * `last`. NULL: always 0. */
    int (*ended)(const void *self, int64_t trial);
    /* The setting, "sha.winner = best", by which a job may win against one of more
     * resource, so that the scores of both must be equally certain; NULL: it is not set.
     * Depends on the options only, before setup. NULL: there is no such option. */
    const char *(*early)(const void *self);
    /* The configuration of a new trial that copies another's weights: from[dim], that of
     * the other, into conf[dim]. NULL: both are the same. */
    void (*explore)(const void *self, int64_t trial, const double *from, double *conf);
    /* Number of the configuration of trial 0; trial n has the n-th after it. NULL: 0. */
    int64_t (*first)(const void *self);
    /* NULL: nothing is known. */
    void (*extent)(const void *self, weft_extent *out);
    int waits; /* 1: it waits by itself for the results it needs: however many jobs are in
                  flight, and in whatever order they are told, it asks for the same jobs */
} weft_tuner;

/* The schedule of that name in the registry; ECONF with the nearest name. Local. */
WEFT_CHECKED weft_status weft_tuner_find(const char *name, const weft_tuner **out);

#endif
