/* What schedules have in common: one job for each trial; rungs, the resources at which
 * trials are compared; rounds of shared weights. */
#ifndef WEFT_TUNE_SCHEDULE_H
#define WEFT_TUNE_SCHEDULE_H

#include "weft/space/goals.h"
#include "weft/tune/tune.h"

#define WEFT_MAX_RUNGS 31

/* Rows of an option table, of members of these names. */
#define WEFT_RUNG_OPTS(object, usual_reduction, usual_max)                                 \
    WEFT_INT_OPT("reduction", object, reduction, usual_reduction, 2, 1000,                 \
                 "one in this many trials goes on to the next rung"),                      \
        WEFT_LONG_OPT(                                                                     \
            "min_resource", object, min_resource, "1", 1, 1e9,                             \
            "resource of a trial in the first rung, in the task's unit: rounds"),          \
        WEFT_LONG_OPT("max_resource", object, max_resource, usual_max, 1, 1e9,             \
                      "most resource of a trial; each rung has `reduction` times that of " \
                      "the one before")

/* The largest k with low eta^k <= high, for 1 <= low <= high and eta >= 2. Computed in
 * integers, because floor(log(high / low) / log(eta)) is one too small for 3^5 and 10^3. */
int weft_rungs_top(int64_t low, int64_t high, int64_t eta);

/* ECONF if the space has fewer configurations; a random space always has enough. */
WEFT_CHECKED weft_status weft_trials_fit(const weft_space *space, const char *schedule,
                                         int64_t trials);

/* ECONF if min_resource is more than max_resource. */
WEFT_CHECKED weft_status weft_resources_fit(const char *schedule, int64_t low,
                                            int64_t high);

/* ---- one job for each trial, without waiting ---- */

/* The first member of a schedule, whose functions the following are. */
typedef struct weft_sweep {
    int64_t resource;
    int64_t n, next; /* number of jobs; number asked for */
} weft_sweep;

weft_asked weft_sweep_ask(void *self, weft_job *job);
void weft_sweep_tell(void *self, const weft_result *res);
int64_t weft_sweep_jobs(const void *self);
void weft_sweep_extent(const void *self, weft_extent *out);

/* ---- synchronous brackets of successive halving ---- */

/* A trial of a bracket. */
typedef struct weft_rung_trial {
    int64_t done;     /* resource asked for so far */
    weft_rank rank;   /* of its latest result, with its number in the bracket as id */
    weft_point point; /* the same, of several objectives */
    int jobs;         /* asked for so far */
    int out;          /* 1: eliminated */
    int guesses;      /* 1: its latest result is no better than guesses */
    int open;         /* 1: a job is asked and not told yet */
} weft_rung_trial;

/* A bracket: its trials wait for each other at the end of every rung; the best continue.
 * Where it is the first member of a schedule, the functions of `self` fit its vtable. */
typedef struct weft_rungs {
    /* the plan: set before weft_rungs_begin */
    int count;                      /* rungs */
    int64_t trials[WEFT_MAX_RUNGS]; /* number in each rung, not increasing */
    int64_t until[WEFT_MAX_RUNGS];  /* total resource of a trial at the end of each rung,
                                        increasing */
    int64_t first;                  /* number of the first trial; the others follow */
    double guess;                   /* error rate of guesses; 0: not known */
    int objectives;                 /* as weft_space.objectives */
    /* the state */
    int rung;
    int64_t unasked,
        untold;   /* trials of the rung whose last job in it was not asked for, not told */
    int64_t next; /* trials before this one need no job now: open, eliminated or at the end
                     of the rung */
    weft_rung_trial *trial; /* [trials[0]] */
} weft_rungs;

/* Fills the plan with rungs k = 0 .. s of n_k = floor(n / eta^k) trials with resource
 * floor(most / eta^(s-k)), up to the last rung with n_k > 0. Jamieson, Talwalkar,
 * "Non-stochastic best arm identification and hyperparameter optimization", AISTATS 2016.
 */
void weft_rungs_plan(weft_rungs *rungs, int64_t n, int s, int64_t eta, int64_t most);
/* Starts the first rung. */
void weft_rungs_begin(weft_rungs *rungs, weft_arena *mem);
/* Fills the next job except its mixture; WEFT_WAIT while a rung is incomplete and all its
 * jobs are asked for; WEFT_DONE after the last rung. Cost O(1), and O(trials) a rung. */
weft_asked weft_rungs_ask(void *self, weft_job *job);
/* Stores a loss. After the last result of a rung the best trials by rank continue, as many
 * as are planned, or fewer: a trial that diverged never continues, and one that is no
 * better than guesses does not beside one that is. With several objectives they are ranked
 * by weft_front_order. */
void weft_rungs_tell(void *self, const weft_result *res);
/* 1: the trial is eliminated. */
int weft_rungs_ended(const void *self, int64_t trial);
/* Total number of jobs, as far as known. */
int64_t weft_rungs_jobs(const void *self);

/* ---- shared weights: rounds in which one weight vector is trained for a mixture of all
 * configurations, then final jobs, each for one configuration ---- */

/* The first member of a schedule, whose `ended` is weft_share_ended. */
typedef struct weft_share {
    int64_t resource; /* of every job; an option of the schedule, which weft_share_setup
                         does not change */
    weft_mix mix;     /* all configurations of the space */
    weft_mix one;     /* of a final job */
    weft_rank *rank;  /* [k] of the last round told, set by weft_share_ranks */
    int round;        /* rounds told so far */
    int open;         /* 1: a round is asked and not told yet */
    int next;         /* configurations before this one have had their final job */
    int untold;       /* final jobs asked and not told yet */
    int64_t trials;   /* started so far */
} weft_share;

/* All configurations of the space with equal probabilities, into *out. ELIMIT: too many.
 * ECONF: they differ in an option that holds for a whole trial. */
WEFT_CHECKED weft_status weft_share_mix(const weft_space *space, weft_arena *mem,
                                        weft_mix *out);
/* Sets up with that mixture. ELIMIT, ECONF. */
WEFT_CHECKED weft_status weft_share_setup(weft_share *share, const weft_space *space,
                                          weft_arena *mem);
/* Fills the job of the next round, which continues trial 0; if there are no more, the final
 * job of the next configuration that is not eliminated, WEFT_DONE after the last one. It is
 * fitted alone in a new trial, which copies the shared weights. WEFT_WAIT while a round is
 * open. */
weft_asked weft_share_ask(weft_share *share, int no_more, weft_job *job);
/* 1: no pending job and no later one continues or copies the trial. */
int weft_share_ended(const void *self, int64_t trial);
/* Returns 0 for the result of a final job. Else it ends the round and writes the ranks of
 * its configurations to share->rank, all with a loss of INFINITY if the fit diverged. A
 * configuration without scored samples gets the means over the mixture as its best
 * estimate, so that it is neither preferred nor eliminated only because no sample drew
 * it. */
int weft_share_tell(weft_share *share, const weft_result *res);

#endif
