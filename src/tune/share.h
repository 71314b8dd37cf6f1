/* What schedules by weight-sharing have in common: rounds, in which one weight vector
 * serves a mixture of all configurations, then final jobs, each for one configuration. */
#ifndef WEFT_TUNE_SHARE_H
#define WEFT_TUNE_SHARE_H

#include "weft/tune.h"

typedef struct weft_share {
    int64_t
        resource;   /* of every job; an option of the schedule, kept by weft_share_setup */
    weft_mix mix;   /* all configurations of the space */
    weft_mix one;   /* of a final job */
    double *score;  /* [k] of the round told last, set by weft_share_scores */
    int warm;       /* 1: rounds go on with trial 0; 0: each is a new trial */
    int round;      /* rounds told so far */
    int open;       /* 1: a round is asked and not told yet */
    int next;       /* configurations before it have had their final job */
    int untold;     /* final jobs asked and not told yet */
    int64_t trials; /* begun so far */
    double size;    /* of the round asked last */
} weft_share;

/* All configurations of the space with equal probabilities, into *out. ELIMIT: too many.
 * ECONF: they differ in an option that holds for a whole trial. Local. */
WEFT_CHECKED weft_status weft_share_mix(const weft_space *sp, weft_arena *mem,
                                        weft_mix *out);
/* Sets up with that mixture. ELIMIT, ECONF. Local. */
WEFT_CHECKED weft_status weft_share_setup(weft_share *s, const weft_space *sp, int warm,
                                          weft_arena *mem);
/* Fills the job of the next round, with the share `size` of the features. Local. */
weft_asked weft_share_round(weft_share *s, double size, weft_job *job);
/* Fills the final job of the next configuration that is not eliminated; WEFT_DONE after the
 * last one. `refit` 1: a fit of its own in a new trial, which copies the shared weights if
 * these are warm; 0: the shared weights are scored as they are. Without rounds there is a
 * fit always. Local. */
weft_asked weft_share_final(weft_share *s, int refit, weft_job *job);
/* 1: no job that is not told yet, and no later one, continues or copies the trial. Local.
 */
int weft_share_ended(const weft_share *s, int64_t trial);
/* Eliminates all configurations but i. Local. */
void weft_share_only(weft_share *s, int i);
/* Closes the round and writes its scores to s->score: INFINITY where NaN, and everywhere
 * when the fit diverged. A configuration that no sample was scored by gets the mean over
 * the mixture, its best estimate: it is neither preferred nor eliminated because no sample
 * was drawn for it. Returns 0 when the fit diverged. Local. */
int weft_share_scores(weft_share *s, const weft_result *res);

#endif
