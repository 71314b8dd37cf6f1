/* Rungs: the resources at which trials are compared, and a bracket of successive halving
 * that waits at each. Used by schedules that eliminate trials. */
#ifndef WEFT_TUNE_RUNGS_H
#define WEFT_TUNE_RUNGS_H

#include "weft/tune.h"

#define WEFT_MOST_RUNGS 31

/* The largest k with low eta^k <= high, by integers alone, for 1 <= low <= high and
 * eta >= 2: floor(log(high / low) / log(eta)) is one less for 3^5 and 10^3. Local. */
int weft_rungs_top(int64_t low, int64_t high, int64_t eta);

/* ECONF unless the space has that many configurations: a random one always has. Local. */
WEFT_CHECKED weft_status weft_trials_fit(const weft_space *sp, const char *schedule,
                                         int64_t trials);

/* A trial of a bracket. */
typedef struct weft_rung_trial {
    int64_t done; /* resource asked for so far */
    double loss;  /* told last */
    int jobs;     /* asked so far */
    int out;      /* 1: eliminated */
    int open;     /* 1: a job is asked and not told yet */
} weft_rung_trial;

/* Trials that wait for each other at the end of every rung, from which the best go on. */
typedef struct weft_rungs {
    /* the plan: set before weft_rungs_begin */
    int count;                       /* rungs */
    int64_t trials[WEFT_MOST_RUNGS]; /* of each rung, not rising */
    int64_t until[WEFT_MOST_RUNGS];  /* resource of a trial at the end of each, rising */
    int64_t every;                   /* resource of a job at most; 0: up to the next rung */
    int64_t first;                   /* number of the first trial; the others follow */
    int best;                        /* 1: a job may win against one of more resource */
    /* the state */
    int rung;
    int64_t unasked,
        untold;   /* trials of the rung whose last job in it was not asked, told */
    int64_t next; /* those before it are open, out or at the end of the rung */
    weft_rung_trial *trial; /* [trials[0]] */
} weft_rungs;

/* Fills the plan with rungs k = 0 .. s of n_k = floor(n / eta^k) trials of the resource
 * floor(most / eta^(s-k)), up to the last where n_k > 0. Jamieson, Talwalkar,
 * "Non-stochastic best arm identification and hyperparameter optimization", AISTATS 2016.
 * Local. */
void weft_rungs_plan(weft_rungs *r, int64_t n, int s, int64_t eta, int64_t most);
/* Opens the first rung. Local. */
void weft_rungs_begin(weft_rungs *r, weft_arena *mem);
/* Fills the next job but for its mixture; WAIT until a rung is complete. Local. Cost O(1),
 * and O(trials) a rung. */
weft_asked weft_rungs_ask(weft_rungs *r, weft_job *job);
/* Enters a loss. After the last of a rung the best by (loss, trial) go on, as many as are
 * planned; one that diverged never does, so that they may be fewer, or none. Local. */
void weft_rungs_tell(weft_rungs *r, const weft_result *res);
/* 1: the trial is eliminated. Local. */
int weft_rungs_ended(const weft_rungs *r, int64_t trial);
/* Jobs in all, as far as known. Local. */
int64_t weft_rungs_jobs(const weft_rungs *r);

#endif
