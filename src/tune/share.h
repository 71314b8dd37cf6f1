/* What the weight-sharing schedules have in common: rounds, in which one weight vector is
 * trained for a mixture of all configurations, then final jobs, each for one
 * configuration. */
#ifndef WEFT_TUNE_SHARE_H
#define WEFT_TUNE_SHARE_H

#include "weft/tune.h"

typedef struct weft_share {
    int64_t resource; /* of every job; an option of the schedule, which weft_share_setup
                         does not change */
    weft_mix mix;     /* all configurations of the space */
    weft_mix one;     /* of a final job */
    weft_rank *rank;  /* [k] of the last round told, set by weft_share_ranks */
    int warm;         /* 1: all rounds continue trial 0; 0: each round is a new trial */
    int round;        /* rounds told so far */
    int open;         /* 1: a round is asked and not told yet */
    int next;         /* configurations before this one have had their final job */
    int untold;       /* final jobs asked and not told yet */
    int64_t trials;   /* started so far */
    double size;      /* of the last round asked for */
} weft_share;

/* All configurations of the space with equal probabilities, into *out. ELIMIT: too many.
 * ECONF: they differ in an option that holds for a whole trial. */
WEFT_CHECKED weft_status weft_share_mix(const weft_space *space, weft_arena *mem,
                                        weft_mix *out);
/* Sets up with that mixture. ELIMIT, ECONF. */
WEFT_CHECKED weft_status weft_share_setup(weft_share *share, const weft_space *space,
                                          int warm, weft_arena *mem);
/* Fills the job of the next round, with the fraction `size` of the features. */
weft_asked weft_share_round(weft_share *share, double size, weft_job *job);
/* Fills the final job of the next configuration that is not eliminated; WEFT_DONE after the
 * last one. `refit` 1: the configuration is fitted alone in a new trial, which copies the
 * shared weights if `warm`; 0: the shared weights are scored without training. If there
 * were no rounds, it is fitted in any case. */
weft_asked weft_share_final(weft_share *share, int refit, weft_job *job);
/* 1: no pending job and no later one continues or copies the trial. */
int weft_share_ended(const weft_share *share, int64_t trial);
/* Eliminates all configurations but i. */
void weft_share_only(weft_share *share, int i);
/* Ends the round and writes the ranks of its configurations to share->rank, all with a loss
 * of INFINITY if the fit diverged. A configuration without scored samples gets the means
 * over the mixture as its best estimate, so that it is neither preferred nor eliminated
 * only because no sample drew it. Returns 0 if the fit diverged. */
int weft_share_ranks(weft_share *share, const weft_result *res);

#endif
