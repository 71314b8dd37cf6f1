/* Schedules: which trial gets how much resource, and when. A schedule is a deterministic
 * state machine that is asked for jobs and told their results, in terms of trials,
 * resources and losses. It has no access to data, models or MPI, and knows no option of a
 * task; after a restart the recorded results are told again. The configuration of a trial
 * comes from a sampler (sampler.h), the mixture that its samples draw from is made by a
 * mixing (mixing.h); search.h combines the three.
 *
 * The contract, kept by all and tested over all (tests/t_tuners.c):
 * - Trials are numbered 0, 1, 2 ... in the order in which they are first asked for. Any
 *   number of configurations >= 1 is allowed.
 * - The `index` of a job is the number of earlier jobs of its trial that train; if each
 *   round of shared weights is a new trial, the number of the round. Its `resource` is the
 *   resource to add; 0, allowed with shared weights only: score without training. Where
 *   extent.resource is known, the total resource of a trial is equal to it after a job
 *   marked `last`, and less after every other job.
 * - A new trial may copy the weights of another, `from`, as they are after that trial's
 *   most recent told job; otherwise `from` is -1. The next job of a trial may be asked for
 *   only after the result of its previous job was told.
 * - Results are losses, lower is better; a diverged job has INFINITY, never NaN. Every
 *   ranking is by weft_result_rank. Results may be told in any order; a schedule with
 * `waits` asks for the same jobs in every order.
 * - `last` marks a job after which no job continues or copies its trial. `ended` returns 1
 *   for a trial for which this becomes known only after its last job was asked for. At the
 *   end of a search one of the two holds for each trial: its state is then removed.
 * - `eligibility` is WEFT_WINS_LAST for jobs whose weights are shared by several
 *   configurations, of which none can be the winner, and for jobs of schedules that copy
 *   weights before the last ones; at least one job of a search has another eligibility.
 * - A search ends for any results that it is told. */
#ifndef LIBWEFT_TUNE_TUNE_H
#define LIBWEFT_TUNE_TUNE_H

#include "weft/space/job.h"
#include "weft/space/space.h"

/* Row of an option table, for schedules whose jobs all have the same resource. The run
 * replaces 0 by the task's default; without a run, as in tests, a schedule treats 0 as
 * 1. */
#define WEFT_RESOURCE_OPT(object, member, about)                                           \
    WEFT_LONG_OPT("resource", object, member, "0", 0, 1e9, WEFT_RESOURCE_ABOUT(about))
#define WEFT_RESOURCE_ABOUT(about)                                                         \
    "resource " about ", in the task's unit; 0: the task's own, `weft list TASK`"

typedef enum weft_asked { WEFT_JOB, WEFT_WAIT, WEFT_DONE } weft_asked;

/* Which configurations the mixture of a job consists of. */
typedef enum weft_shared {
    WEFT_SHARES_NOTHING, /* each trial has a configuration from the sampler, and a mixture
                            that the mixing makes around it */
    WEFT_SHARES_SPACE,   /* each trial is trained on all configurations of the space, and
                            the schedule itself fills job->mix; sampler and mixing are not
                            used */
    WEFT_SHARES_MIXTURE  /* one trial is trained on all configurations of the space, and the
                            mixing changes the mixture; the sampler is not used */
} weft_shared;

/* The size of a search, as far as a schedule knows it after setup. */
typedef struct weft_extent {
    int64_t trials;  /* number of trials that it starts; 0: not known */
    double resource; /* largest total resource of a trial; 0: not known */
    int64_t results; /* most trials that have a result of the same total resource; 0: all */
} weft_extent;

typedef struct weft_tuner {
    weft_kind kind;
    weft_shared shared;
    /* Called once, with the options filled in. `mem` lives as long as the schedule. ECONF,
     * ELIMIT. */
    weft_status (*setup)(void *self, const weft_space *space, uint64_t seed,
                         weft_arena *mem);
    /* Fills *job and returns WEFT_JOB; or returns WEFT_WAIT if it needs a further result
     * first, or WEFT_DONE if there are no more jobs. It does not set id and, except with
     * WEFT_SHARES_SPACE, leaves mix and update zero. A mixture is owned by the schedule. */
    weft_asked (*ask)(void *self, weft_job *job);
    void (*tell)(void *self, const weft_result *res);
    /* Total number of jobs that it will ask for, as far as known; for --plan and
     * progress. */
    int64_t (*jobs)(const void *self);
    /* 1: no later job continues or copies this trial, although none of its jobs was marked
     * `last`. NULL: always 0. */
    int (*ended)(const void *self, int64_t trial);
    /* Changes the configuration conf[dim] that a new trial, which copies none, was given by
     * the list of known ones or the sampler. NULL: it keeps that. */
    void (*place)(void *self, int64_t trial, double *conf);
    /* Computes the configuration conf[dim] of a new trial that copies the weights of a
     * trial with configuration from[dim]. NULL: both are equal. */
    void (*explore)(const void *self, int64_t trial, const double *from, double *conf);
    /* Number c of the configuration of trial 0; trial n has number c + n. NULL: 0. */
    int64_t (*first)(const void *self);
    /* Fills *out. NULL: neither is known. */
    void (*extent)(const void *self, weft_extent *out);
    /* "space.configs asha.jobs": keys that make a search longer and leave its first job as
     * it is. NULL: there is none. */
    const char *grows;
    /* "pbt.population": the options that say how many trials a random space gives, in place
     * of space.configs. NULL: that does. */
    const char *sizes;
    int fronts; /* 1: it ranks trials by several objectives (front.h), or not at all */
    int waits;  /* 1: it returns WEFT_WAIT until it has the results that it needs, and
                   therefore asks for the same jobs for any number of jobs in flight and any
                   order of results */
} weft_tuner;

#endif
