/* Schedules: which trial gets how much resource, and when. Deterministic state machines
 * that ask for jobs and are told results, in terms of trials, resources and losses; they
 * see neither data nor models nor MPI, know no option of a task, and a restart replays
 * their tells. What a trial's configuration is says a sampler (sampler.h), what its samples
 * draw from a mixing (mixing.h); search.h puts the three together.
 *
 * The contract, kept by all and tested over all (tests/t_tuners.c):
 * - Trials are numbered 0, 1, 2 ... in the order in which they are first asked for. There
 * may be any number of configurations from 1 on.
 * - A job's `index` counts the jobs of its trial that train, from 0 (where each round of
 * shared weights is a new trial, from the number of the round). Its `resource` is what to
 * add, 0: only score, in shared weights. The resource of a trial is at most what `extent`
 * says, and that where a job is called its last.
 * - A new trial may copy the weights of another, `from`, as they are after that one's last
 *   told job; else from is -1. The next job of a trial is asked when the one before is
 * told.
 * - Told are losses, lower is better; one that diverged is INFINITY, never NaN. Every
 * ranking is by (loss, trial). Results may come in any order; a schedule that `waits` asks
 * the same jobs in all of them.
 * - `last` says that no later job continues or copies a trial, `ended` that this turned out
 *   after its last job was asked. When a search is done, all its trials are closed by one
 * of them: their states are let go by it.
 * - `eligibility` is WEFT_WINS_LAST for jobs whose weights serve several configurations in
 *   turn, of which nobody is the winner, and for those of a population before its end; at
 *   least one job of a search may win.
 * - A search ends, whatever it is told. */
#ifndef WEFT_TUNE_H
#define WEFT_TUNE_H

#include "weft/space.h"

/* The option of a schedule that trains every job alike, for its table. The run puts the
 * task's own number in place of 0; alone a schedule takes 0 as 1. */
#define WEFT_RESOURCE_OPT(type, at, about)                                                 \
    {                                                                                      \
        "resource", WEFT_LONG, offsetof(type, at), "0", 0, 1e9, NULL,                      \
            about ", in the task's unit; 0: fmap 1 fit, fed 100 rounds", 0                 \
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
    /* 1: no later job continues or copies this trial, though none was called its last.
     * NULL: there are none such. */
    int (*ended)(const void *self, int64_t trial);
    /* The option, "sha.winner = best", by which a job may win against one of more resource,
     * so that the scores of both must be as sure; NULL: it is not set. Of the options
     * alone, before setup. NULL: there is none such. */
    const char *(*early)(const void *self);
    /* The configuration of a new trial that copies another's weights, from that one's:
     * from[dim] into conf[dim]. NULL: the same. */
    void (*explore)(const void *self, int64_t trial, const double *from, double *conf);
    /* Number of the configuration of trial 0; those of the others follow. NULL: 0. */
    int64_t (*first)(const void *self);
    /* NULL: nothing is known. */
    void (*extent)(const void *self, weft_extent *out);
    int waits; /* 1: it waits by itself: however many jobs are in flight, and in whatever
                  order they are told, it asks the same jobs */
} weft_tuner;

/* The schedule of that name in the registry; ECONF with the nearest name. Local. */
WEFT_CHECKED weft_status weft_tuner_find(const char *name, const weft_tuner **out);

#endif
